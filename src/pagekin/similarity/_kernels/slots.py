"""Look up the terms of a query, in a table that is as large as the query and not as the vocabulary."""

import numpy as np

from pagekin.store import kernel

SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio


@kernel
def fill_slots(terms, slots):
    """Put the terms of a query, all different, into `slots` (int32, a power of two, several times as many as terms)."""
    slots[:] = -1
    for i in range(len(terms)):
        place = np.int64((np.uint64(terms[i]) * SPREAD) >> np.uint64(40)) & (len(slots) - 1)
        while slots[place] >= 0:
            place = (place + 1) & (len(slots) - 1)
        slots[place] = i


@kernel
def find_slot(slots, terms, term):
    """Return the place of a term among those of the query; -1 if it is none of them."""
    place = np.int64((np.uint64(term) * SPREAD) >> np.uint64(40)) & (len(slots) - 1)
    while slots[place] >= 0:
        if terms[slots[place]] == term:
            return np.int64(slots[place])
        place = (place + 1) & (len(slots) - 1)
    return np.int64(-1)
