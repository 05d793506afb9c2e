"""Count the different values of each key, a range of keys at a time where memory is short."""

import numpy as np
import numpy.typing as npt

from pagekin.store import NO_LIMIT, PROCESS_KEY, Array, MemoryBudget, chunks, distinct

_SORTED_BYTES = 50
"""Bytes that a key and its value take while they are counted."""
_SAMPLED_KEYS = 1 << 16


def count_distinct(
    keys: Array, values: Array, memory: MemoryBudget = NO_LIMIT
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return, for every key in order, its number of distinct values and its first place.

    Cost: sorting the distinct keys where keys or values never fall, as links that come page by page, otherwise all of them.
    """
    bounds = _key_bounds(keys, memory)
    if not len(bounds):
        return _count(keys, values)
    counts, firsts = [], []
    for part in range(len(bounds) + 1):
        pieces = (
            start + np.flatnonzero(np.searchsorted(bounds, chunk, side="right") == part)
            for start, chunk in chunks(keys)
        )
        places = np.concatenate(list(pieces))
        count, first = _count(keys[places], values[places])
        counts.append(count)
        firsts.append(places[first])
    return np.concatenate(counts), np.concatenate(firsts)


def _key_bounds(keys: Array, memory: MemoryBudget) -> Array:
    """Return keys that divide all keys into parts that can be counted in memory; none if everything fits."""
    at_once = memory.items(max(len(keys), 1), _SORTED_BYTES)
    if at_once >= len(keys):
        return keys[:0]
    sample = np.sort(keys[:: max(1, len(keys) // _SAMPLED_KEYS)])
    parts = len(keys) // at_once + 1
    return distinct(sample[(np.arange(1, parts) * len(sample)) // parts])


def _count(keys: Array, values: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    if not len(keys):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if not np.any(values[1:] < values[:-1]):
        known, counts, firsts, _is_new = _find_new_pairs(keys, values)
        order = np.argsort(known.view(keys.dtype))
        return counts[order], firsts[order]
    if not np.any(keys[1:] < keys[:-1]):
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        return np.add.reduceat(_find_new_pairs(values, keys)[-1], starts, dtype=np.int64), starts
    return _count_sorted(keys, values)


def _find_new_pairs(
    names: Array, rising: Array
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return (distinct names, how many numbers each has, its first row, which rows have a new pair): see `mark_new_pairs`."""
    from pagekin.bags._kernels.counting import mark_new_pairs

    rows = len(names)
    known, last, counts, firsts = np.empty(rows, np.uint64), *(np.empty(rows, np.int64) for _ in range(3))
    is_new = np.empty(rows, np.bool_)
    columns = (np.require(column, requirements=("C", "W")) for column in (names, rising))
    secret = PROCESS_KEY[-1:].view(np.uint64)[0]
    count = mark_new_pairs(
        next(columns).view(np.uint64), next(columns).view(np.int64), secret, known, last, counts, firsts, is_new
    )
    return known[:count], counts[:count], firsts[:count], is_new


def _count_sorted(keys: Array, values: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    order = np.lexsort((values, keys))
    keys, values = keys[order], values[order]
    new_key = np.append(True, keys[1:] != keys[:-1])
    new_value = new_key | np.append(True, values[1:] != values[:-1])
    starts = np.flatnonzero(new_key)
    return np.add.reduceat(new_value.astype(np.int64), starts), np.minimum.reduceat(order, starts)
