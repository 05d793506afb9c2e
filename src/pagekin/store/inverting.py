"""The items of each target, for arrays that hold the target of each item and may be larger than memory."""

from collections.abc import Iterator

import numpy as np

from pagekin.store.arrays import Array, smallest_uint
from pagekin.store.batches import batch_ranges
from pagekin.store.memory import NO_LIMIT, MemoryBudget

_CHUNK = 1 << 20
_AT_ONCE = 1 << 23
"""Items whose places are written at random: they take up to 8 bytes each."""


def chunks(values: Array) -> Iterator[tuple[int, Array]]:
    """Yield (its place, a piece) of a long array, a piece at a time."""
    for start in range(0, len(values), _CHUNK):
        yield start, values[start : start + _CHUNK]


def count_targets(targets: Array, count: int) -> Array:
    """Return how many items each of `count` targets has."""
    counts = np.zeros(count, dtype=np.int64)
    for _start, chunk in chunks(targets):
        np.add.at(counts, chunk, 1)
    return counts


def invert(targets: Array, counts: Array, memory: MemoryBudget = NO_LIMIT) -> Iterator[tuple[int, int, Array]]:
    """Yield (first, last, the numbers of the items of the targets from `first` to before `last`, target after target, rising).

    `counts` says how many items each target has. Cost: `targets` is read once for every range of targets, and a range
    has as many items as memory holds.
    """
    from pagekin.store._kernels.inverting import place_items

    ends = np.cumsum(np.append(0, counts))
    kind = smallest_uint(max(len(targets), 1))
    for first, last in batch_ranges(ends, memory.items(_AT_ONCE, kind.itemsize)):
        out = np.empty(int(ends[last] - ends[first]), dtype=kind)
        places = ends[first:last] - ends[first]
        for start, chunk in chunks(targets):
            place_items(chunk, start, first, places, out)
        yield first, last, out
