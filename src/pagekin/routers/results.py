"""Results of several children as one list: merged, copies folded, grouped by sub-cluster."""

import base64
import binascii
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from pagekin.bags.copies import PLACES, are_copies
from pagekin.routers.messages import Found, Group

SEEN = 4
"""Among how many times as many results as are wanted copies are looked for."""


def by_score(one: Found) -> tuple[float, str]:
    """What results are sorted by: the best first, and always in one order."""
    return -one.score, one.url


def merged(results: Iterable[Found], limit: int, copies: bool = True, seen: int = SEEN) -> list[Found]:
    """The best results, at most `limit`; those with the same address, and near-copies, are folded into the best of them.

    Copies are looked for among the first `seen` times `limit`, and only if they are to be.
    """
    found: list[Found] = []
    place: dict[str, int] = {}
    ordered = sorted(results, key=by_score)[: max(seen * limit, limit)]
    sketches = _Sketches()
    for one in ordered:
        if one.url in place:
            found[place[one.url]] = _with_copies(found[place[one.url]], one)
            continue
        row = _row(one.sketch) if copies else None
        if row is not None:
            at = sketches.first_copy(row)
            if at >= 0:
                found[at] = _with_copies(found[at], one, one.url)
                place[one.url] = at
                continue
            sketches.add(row, len(found))
        place[one.url] = len(found)
        found.append(one)
    return found[:limit]


_BANDS = [slice(first, first + 16) for first in range(0, 2 * PLACES, 16)]
"""Eight places of a sketch each, two bytes a place."""


class _Sketches:
    """Sketches in which copies are looked for. Copies differ in 6 of 64 places at most, so they share 2 of 8 bands."""

    def __init__(self) -> None:
        self._rows: list[bytes] = []
        self._at: list[int] = []
        self._bands: list[dict[bytes, list[int]]] = [{} for _ in _BANDS]

    def add(self, row: bytes, at: int) -> None:
        """Add the sketch of the result at a place."""
        for bands, part in zip(self._bands, _BANDS, strict=True):
            bands.setdefault(row[part], []).append(len(self._rows))
        self._rows.append(row)
        self._at.append(at)

    def first_copy(self, row: bytes) -> int:
        """The place of the first result whose copy this is, or -1."""
        likely = {
            number for bands, part in zip(self._bands, _BANDS, strict=True) for number in bands.get(row[part], ())
        }
        if not likely:
            return -1
        known = sorted(likely)
        others = np.stack([np.frombuffer(self._rows[number], "<u2") for number in known])
        alike = np.flatnonzero(are_copies(others, np.frombuffer(row, "<u2")))
        return self._at[known[int(alike[0])]] if len(alike) else -1


def _with_copies(kept: Found, other: Found, *more: str) -> Found:
    copies = dict.fromkeys((*kept.copies, *more, *other.copies))
    copies.pop(kept.url, None)
    return msgspec.structs.replace(kept, copies=tuple(copies)[:100])


def _row(sketch: str) -> bytes | None:
    """The sketch of a result, if it has one that can be read."""
    try:
        row = base64.b64decode(sketch, validate=True)
    except (binascii.Error, ValueError):
        return None
    return row if len(row) == 2 * PLACES else None


def grouped(results: Sequence[Found]) -> tuple[Group, ...]:
    """Results by sub-cluster, in the order of their first results."""
    places: dict[tuple[int, str], list[int]] = {}
    for place, one in enumerate(results):
        places.setdefault((one.cluster, one.cluster_name), []).append(place)
    return tuple(Group(cluster=number, name=name, results=tuple(at)) for (number, name), at in places.items())
