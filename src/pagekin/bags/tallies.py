"""Tallies: counts by key that shards make and that are then summed."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags.ranges import ranges_of
from pagekin.store import Array, is_among


class Tally(NamedTuple):
    """Counts by kind, key and value, sorted and without repetitions."""

    kinds: npt.NDArray[np.uint8]
    keys: npt.NDArray[np.uint64]
    values: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.int64]

    def sums(self, kind: int, keys: Array) -> npt.NDArray[np.int64]:
        """Return the counts of keys of a kind, over all values; 0 for a key that is not there."""
        first, last = self._places(kind, keys)
        ends = np.append(0, np.cumsum(self.counts))
        return np.asarray(ends[last] - ends[first])

    def variety(self, kind: int, keys: Array) -> npt.NDArray[np.int64]:
        """Return how many values each key of a kind has."""
        first, last = self._places(kind, keys)
        return last - first

    def keys_of(self, kind: int) -> npt.NDArray[np.uint64]:
        """Return the keys of a kind, rising."""
        return self.keys[slice(*np.searchsorted(self.kinds, [kind, kind + 1]).tolist())]

    def take(self, rows: Array | slice) -> "Tally":
        """Return some rows."""
        return Tally(self.kinds[rows], self.keys[rows], self.values[rows], self.counts[rows])

    def _places(self, kind: int, keys: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        low = int(np.searchsorted(self.kinds, kind))
        known = self.keys_of(kind)
        return low + np.searchsorted(known, keys), low + np.searchsorted(known, keys, side="right")


def make_tally(kind: int, keys: Array, counts: Array | int = 1, values: Array | int = 0) -> Tally:
    """Return a tally of one kind; repeated entries are added up."""
    rows = len(keys)
    columns = np.full(rows, kind, np.uint8), np.asarray(keys, np.uint64)
    every = (np.broadcast_to(np.asarray(column), rows) for column in (values, counts))
    return sum_tallies([Tally(*columns, next(every).astype(np.uint64), next(every).astype(np.int64))])


def sum_tallies(parts: Iterable[Tally]) -> Tally:
    """Return the sum of tallies; sums can be summed again, in any order."""
    every = list(parts)
    kinds, keys, values, counts = (np.concatenate(column) for column in zip(*every, strict=True))
    order = _order_rows(kinds, keys, values)
    kinds, keys, values = kinds[order], keys[order], values[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (kinds[1:] != kinds[:-1]) | (keys[1:] != keys[:-1]) | (values[1:] != values[:-1])
    starts = np.flatnonzero(is_new)
    sums = np.add.reduceat(counts[order], starts) if len(starts) else counts
    return Tally(kinds[starts], keys[starts], values[starts], sums)


def _order_rows(*columns: Array) -> npt.NDArray[np.int64]:
    """Return the order of rows by columns, the first column first; a column of one number takes no sorting."""
    differ = [column for column in columns if len(column) and np.any(column != column[0])]
    return np.lexsort(differ[::-1]) if differ else np.arange(len(columns[0]))


def divide_tally(tally: Tally, count: int) -> list[Tally]:
    """Divide a tally into ranges of keys that can be summed separately."""
    number = ranges_of(tally.keys, count)
    return [tally.take(number == place) for place in range(count)]


def select_tally(whole: Tally, part: Tally, everywhere: Array) -> Tally:
    """Return the part of a sum that a shard needs: its own keys, and all of the kinds in `everywhere`."""
    known = np.isin(whole.kinds, everywhere)
    for kind in np.unique(part.kinds).tolist():
        rows = slice(*np.searchsorted(whole.kinds, [kind, kind + 1]).tolist())
        known[rows] |= is_among(whole.keys[rows], part.keys_of(kind))
    return whole.take(known)
