"""The answers for all pages, precomputed (the other variant of section 6), and groups of near-duplicates."""

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags.batches import in_order
from pagekin.similarity.related import DEPTH, ENTRIES, NEAR_COPY, RelatedError, RelatedIndex, looked_at

Array = npt.NDArray[Any]
_BATCH = 1_024


@dataclass(frozen=True)
class Neighbour:
    """A related document with its near-duplicates."""

    document: int
    similarity: float
    copies: tuple[int, ...]


@dataclass(frozen=True)
class Neighbours:
    """What `RelatedIndex.answer` gives for one document."""

    document: int
    related: list[Neighbour]
    copies: tuple[int, ...]


def all_neighbours(
    index: RelatedIndex, documents: Array, k: int, fold: bool = True, alpha: float | None = None, threads: int = 1
) -> Iterator[Neighbours]:
    """The answer for each document, in order: the same as one by one, many times faster."""
    from pagekin.similarity._kernels.neighbours import neighbours

    bags, lists = index.bags, index.index.arrays()
    offsets = bags.offsets.astype(np.int64)
    terms, weights = np.array(bags.terms), np.array(bags.weights)
    sums = np.add.reduceat(weights, offsets[:-1], dtype=np.float64)
    captured = index.captured(np.arange(len(index)))
    fold = fold and bool(index.strategy.content.scale)
    needed = math.ceil(NEAR_COPY * index.index.m) if fold else 0
    wanted = looked_at(k) if fold else k
    depth = max(DEPTH, wanted)
    above = index.strategy.signature.alpha if alpha is None else alpha
    room = [(np.zeros(len(index), np.int32), np.zeros(len(bags.hashes), np.float32)) for _ in range(threads)]

    def batch(asked: Array) -> tuple[Array, Array, Array, Array, Array]:
        mine = room.pop()
        width = depth if fold else k
        out = (
            np.zeros((len(asked), width), np.int64), np.zeros((len(asked), width)),
            np.full((len(asked), width), -1, np.int64), np.zeros(len(asked), np.int64),
        )  # fmt: skip
        neighbours(
            asked, *lists, terms, weights, offsets, sums, captured, depth, ENTRIES, above, k, needed, wanted, *mine, *out
        )
        room.append(mine)
        return asked, *out

    parts = [documents[i : i + _BATCH].astype(np.int64) for i in range(0, len(documents), _BATCH)]
    with ThreadPoolExecutor(threads) as pool:
        for asked, docs, similarity, group, count in in_order(
            pool, (lambda p=p: batch(p) for p in parts), threads + 1
        ):
            for q, document in enumerate(asked.tolist()):
                n = int(count[q])
                yield _answer(document, docs[q, :n].tolist(), similarity[q, :n].tolist(), group[q, :n].tolist())


def _answer(document: int, docs: list[int], similarity: list[float], group: list[int]) -> Neighbours:
    heads: dict[int, int] = {}
    copies: dict[int, list[int]] = {}
    for place, number in enumerate(group):
        if number >= 0 and number not in heads:
            heads[number] = place
        elif number >= 0 or number == -2:
            copies.setdefault(number, []).append(docs[place])
    related = [
        Neighbour(docs[place], similarity[place], tuple(copies.get(number, ()))) for number, place in heads.items()
    ]
    return Neighbours(document, related, tuple(copies.get(-2, ())))


@dataclass(frozen=True)
class CopyGroup:
    """Pages that say the same as the first, the one with the most links to it; each one's estimated similarity to it."""

    documents: tuple[int, ...]
    similarity: tuple[float, ...]


def near_duplicates(
    index: RelatedIndex, threshold: float = NEAR_COPY, progress: Callable[[float], None] = lambda _s: None
) -> list[CopyGroup]:
    """Groups of read pages whose signatures agree with their group's first in a share of positions, large groups first.

    Pages are taken by the number of links to them; each joins the first page it agrees with most, or begins a group.
    Signatures are cut into bands, and only pages with an equal band are compared: a pair at the threshold has one
    except once in a million.
    """
    if not index.strategy.content.scale:
        raise RelatedError("the index leaves the pages' own text out (content.scale = 0), so copies cannot be told from it.")
    m = index.index.m
    needed = math.ceil(threshold * m)
    pages = np.flatnonzero(index.captured(np.arange(len(index))))
    inlinks = np.asarray(index.corpus.kin["bag.inlinks"]).astype(np.int64)
    pages = pages[np.lexsort((pages, -inlinks[pages]))]
    rows = index.index.rows
    bands = _bands(rows, pages, _band_width(threshold, m))
    heads_of: list[dict[int, list[int]]] = [{} for _ in range(bands.shape[1])]
    groups: dict[int, list[tuple[int, int]]] = {}
    for place, (page, keys) in enumerate(zip(pages.tolist(), bands.tolist(), strict=True)):
        candidates = {head for band, key in enumerate(keys) if key >= 0 for head in heads_of[band].get(key, ())}
        agreed = 0
        if candidates:
            heads = np.array(sorted(candidates))
            found = index.index.matches(rows[page], heads)
            best = int(np.argmax(found))
            agreed, head = int(found[best]), int(heads[best])
        if agreed >= needed:
            groups[head].append((page, agreed))
        else:
            groups[page] = []
            for band, key in enumerate(keys):
                if key >= 0:
                    heads_of[band].setdefault(key, []).append(page)
        if place % 1024 == 0:
            progress(place / len(pages))
    found_groups = [
        CopyGroup((head, *(page for page, _ in members)), (1.0, *(agreed / m for _, agreed in members)))
        for head, members in groups.items()
        if members
    ]
    return sorted(found_groups, key=lambda group: (-len(group.documents), group.documents))


def _bands(rows: Array, pages: Array, width: int) -> npt.NDArray[np.int64]:
    """For each page and band a number that pages with an equal band share, -1 where no other page has it."""
    count = rows.shape[1] // width
    found = np.empty((len(pages), count), np.int64)
    for band in range(count):
        piece = np.ascontiguousarray(rows[pages, band * width : (band + 1) * width]).view(np.dtype((np.void, 4 * width)))
        _, number, times = np.unique(piece.reshape(-1), return_inverse=True, return_counts=True)
        found[:, band] = np.where(times[number] > 1, number, -1)
    return found


def _band_width(threshold: float, m: int) -> int:
    """The widest band such that a pair at the threshold shares none of the bands at most once in a million."""
    for width in range(16, 1, -1):
        if (1 - threshold**width) ** (m // width) <= 1e-6:
            return width
    return 1
