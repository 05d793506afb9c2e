"""Find the lists of a signature's values."""

import numpy as np

from pagekin.store import kernel


@kernel
def find_spans(keys, starts, positions, signature, begins, ends):
    """Write where the list of each of the signature's values begins and ends: the same for a value that has none.

    `keys` (uint32), `starts` (keys + 1) and `positions` (m + 1) are those of I. Cost: m binary searches. IndexError for what a
    damaged collection might hold: compiled code would read beyond its arrays.
    """
    if len(starts) != len(keys) + 1 or len(positions) != len(signature) + 1:
        raise IndexError("the lists have other lengths than they say")
    for j in range(len(signature)):
        low, end, value = np.int64(positions[j]), np.int64(positions[j + 1]), signature[j]
        if low < 0 or end > len(keys):
            raise IndexError("there are no such lists")
        high = end
        while low < high:
            middle = (low + high) // 2
            if keys[middle] < value:
                low = middle + 1
            else:
                high = middle
        begins[j] = ends[j] = 0
        if low < end and keys[low] == value:
            begins[j], ends[j] = starts[low], starts[low + 1]
