"""Sort numbers in kernels, at a cost that does not depend on the order of the input.

Numba's own `sort` and `argsort` are quicksorts by the median of three: whoever chooses the order of a page's words can make
them quadratic. These are merge sorts: n log n comparisons at most, whatever the order.
"""

import numpy as np

from pagekin.store.kernels import kernel

_RUN = 16
"""Numbers that are sorted by insertion, before runs are merged."""


@kernel
def sort_numbers(values):
    """Sort `values` (one-dimensional, contiguous) in place; n log n comparisons at most, and room for a copy."""
    count = len(values)
    for low in range(0, count, _RUN):
        for i in range(low + 1, min(low + _RUN, count)):
            value, at = values[i], i
            while at > low and value < values[at - 1]:
                values[at] = values[at - 1]
                at -= 1
            values[at] = value
    if count <= _RUN:
        return
    source, target = values, np.empty_like(values)
    width, moved = _RUN, False
    while width < count:
        for low in range(0, count, 2 * width):
            middle, high = min(low + width, count), min(low + 2 * width, count)
            i, j = low, middle
            for at in range(low, high):
                if j == high or (i < middle and source[i] <= source[j]):
                    target[at] = source[i]
                    i += 1
                else:
                    target[at] = source[j]
                    j += 1
        source, target = target, source
        width, moved = 2 * width, not moved
    if moved:
        values[:] = source


@kernel
def sort_by_keys(keys, order):
    """Sort `keys` (contiguous) in place and `order`, of the same length, along with them; equal keys stay as they are.

    n log n comparisons at most, and room for a copy of both.
    """
    count = len(keys)
    for low in range(0, count, _RUN):
        for i in range(low + 1, min(low + _RUN, count)):
            key, item, at = keys[i], order[i], i
            while at > low and key < keys[at - 1]:
                keys[at], order[at] = keys[at - 1], order[at - 1]
                at -= 1
            keys[at], order[at] = key, item
    if count <= _RUN:
        return
    source, target = keys, np.empty_like(keys)
    items, moved_items = order, np.empty_like(order)
    width, moved = _RUN, False
    while width < count:
        for low in range(0, count, 2 * width):
            middle, high = min(low + width, count), min(low + 2 * width, count)
            i, j = low, middle
            for at in range(low, high):
                if j == high or (i < middle and source[i] <= source[j]):
                    target[at], moved_items[at] = source[i], items[i]
                    i += 1
                else:
                    target[at], moved_items[at] = source[j], items[j]
                    j += 1
        source, target = target, source
        items, moved_items = moved_items, items
        width, moved = 2 * width, not moved
    if moved:
        keys[:], order[:] = source, items
