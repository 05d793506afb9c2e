"""Count the different values of each key, a range of keys at a time where memory is short."""

import numpy as np
import numpy.typing as npt

from pagekin.store import NO_LIMIT, Array, MemoryBudget, chunks, distinct

_SORTED_BYTES = 50
"""Bytes that a key and its value take while they are sorted."""
_SAMPLED_KEYS = 1 << 16


def count_distinct(
    keys: Array, values: Array, memory: MemoryBudget = NO_LIMIT
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return, for every key in order, its number of distinct values and the place of one of them."""
    bounds = _key_bounds(keys, memory)
    if not len(bounds):
        return _count_sorted(keys, values)
    counts, firsts = [], []
    for part in range(len(bounds) + 1):
        pieces = (
            start + np.flatnonzero(np.searchsorted(bounds, chunk, side="right") == part)
            for start, chunk in chunks(keys)
        )
        places = np.concatenate(list(pieces))
        count, first = _count_sorted(keys[places], values[places])
        counts.append(count)
        firsts.append(places[first])
    return np.concatenate(counts), np.concatenate(firsts)


def _key_bounds(keys: Array, memory: MemoryBudget) -> Array:
    """Return keys that divide all keys into parts that can be sorted in memory; none if everything fits."""
    at_once = memory.items(max(len(keys), 1), _SORTED_BYTES)
    if at_once >= len(keys):
        return keys[:0]
    sample = np.sort(keys[:: max(1, len(keys) // _SAMPLED_KEYS)])
    parts = len(keys) // at_once + 1
    return distinct(sample[(np.arange(1, parts) * len(sample)) // parts])


def _count_sorted(keys: Array, values: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    if not len(keys):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    order = np.lexsort((values, keys))
    keys, values = keys[order], values[order]
    new_key = np.append(True, keys[1:] != keys[:-1])
    new_value = new_key | np.append(True, values[1:] != values[:-1])
    starts = np.flatnonzero(new_key)
    return np.add.reduceat(new_value.astype(np.int64), starts), order[starts]
