"""Rankings: copies folded under the best of them, deepened as far as a page of hits needs, grouped by sub-cluster."""

import base64
import binascii
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from pagekin.bags import EMPTY_PLACE, SKETCH_PLACES, fold_copies
from pagekin.collection.messages import Hit, HitGroup
from pagekin.text import Hits

MOST_COPIES = 100
"""The most addresses of copies that a hit carries."""
MOST_LOOKED_AT = 10_000
"""The most documents of a ranking that are looked at to fold copies."""
_FIRST_LOOK, _DEEPER = 4, 4
"""How many times as many documents as are wanted are looked at first, since some are copies, and then each time more."""
_NO_SKETCH = np.full(SKETCH_PLACES, EMPTY_PLACE, "<u2").tobytes()


@dataclass(frozen=True)
class RankedPage:
    """A page in a ranking, with the copies that are folded under it."""

    page: int
    score: float
    copies: tuple[int, ...]


@dataclass(frozen=True)
class Ranking:
    """A stretch of the documents that match, copies folded."""

    pages: list[RankedPage]
    total: int
    """All documents that match, each copy counted."""
    distinct: int
    """Documents up to the end of this stretch, copies folded."""
    more: bool
    """Whether there are further documents behind this stretch."""


def rank_pages(
    search: Callable[[int], Hits], fold: Callable[[Sequence[int]], Sequence[int]], first: int, last: int
) -> Ranking:
    """Return the documents from rank `first` to `last`, calling `search` for as many of the best as that needs.

    `fold` gives the head of each page of a list. Where copies take most places, more documents are looked at until there are
    enough others, or 10,000 were.
    """
    depth = _FIRST_LOOK * (last + 1)
    while True:
        hits = search(depth)
        groups = groups_of(fold(hits.pages))
        if len(groups) > last or depth >= min(hits.total, MOST_LOOKED_AT):
            break
        depth = min(_DEEPER * depth, MOST_LOOKED_AT)
    pages = [
        RankedPage(hits.pages[head], hits.scores[head], tuple(hits.pages[copy] for copy in copies))
        for head, *copies in groups[first:last]
    ]
    return Ranking(pages, hits.total, min(len(groups), last), len(groups) > last)


def groups_of(heads: Sequence[int]) -> list[list[int]]:
    """Return the places of each group of copies, the head first, given the head of each place."""
    groups: dict[int, list[int]] = {}
    for place, head in enumerate(heads):
        groups.setdefault(head, []).append(place)
    return list(groups.values())


def by_score(hit: Hit) -> tuple[float, str]:
    """Return the sort key of hits: by score, then by address."""
    return -hit.score, hit.url


def fold_hits(hits: Iterable[Hit], limit: int | None = None) -> list[Hit]:
    """Return at most `limit` hits in order; fold equal addresses and near-copies under the best of them."""
    ordered = sorted(hits, key=by_score)
    heads = fold_copies(_sketches(ordered), [(hit.kind, hit.url) for hit in ordered])
    groups = groups_of(heads)[:limit]
    return [_with_copies([ordered[place] for place in group]) for group in groups]


def merge_hits(hits: Iterable[Hit], limit: int | None = None) -> list[Hit]:
    """Return at most `limit` hits in order; merge those of one address, but keep copies as separate hits."""
    groups: dict[tuple[str, str], list[Hit]] = {}
    for hit in sorted(hits, key=by_score):
        groups.setdefault((hit.kind, hit.url), []).append(hit)
    return [_with_copies(group) for group in list(groups.values())[:limit]]


def group_hits(hits: Sequence[Hit]) -> tuple[HitGroup, ...]:
    """Return hits by sub-cluster, in the order of each one's first hit."""
    places: dict[tuple[int, str], list[int]] = {}
    for place, hit in enumerate(hits):
        places.setdefault((hit.cluster, hit.cluster_name), []).append(place)
    return tuple(HitGroup(cluster=number, name=name, results=tuple(at)) for (number, name), at in places.items())


def _with_copies(group: Sequence[Hit]) -> Hit:
    """Return the first of a group with the addresses of the others."""
    if len(group) == 1:
        return group[0]
    addresses = dict.fromkeys(url for hit in group for url in (hit.url, *hit.copies))
    addresses.pop(group[0].url)
    return msgspec.structs.replace(group[0], copies=tuple(addresses)[:MOST_COPIES])


def encode_sketch(row: bytes) -> str:
    """Return a sketch of 64 little-endian 16-bit places as it travels; an empty text if it is empty."""
    return "" if row == _NO_SKETCH else base64.b64encode(row).decode()


def _sketches(hits: Sequence[Hit]) -> npt.NDArray[np.uint16]:
    """Return the sketches of hits; empty rows for hits that have none or one that cannot be read."""
    raw = b"".join(_decode_sketch(hit.sketch) for hit in hits)
    return np.frombuffer(raw, "<u2").reshape(-1, SKETCH_PLACES)


def _decode_sketch(sketch: str) -> bytes:
    try:
        row = base64.b64decode(sketch, validate=True)
    except (binascii.Error, ValueError):
        return _NO_SKETCH
    return row if len(row) == len(_NO_SKETCH) else _NO_SKETCH
