"""Look up the terms of a query in a hash table of the size of the query, not of the vocabulary."""

import numpy as np

from pagekin.store import kernel

SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio


@kernel
def spread(term):
    """Return the hash of a term, 24 bits."""
    return np.int64((np.uint64(term) * SPREAD) >> np.uint64(40))


@kernel
def fill_slots(terms, slots):
    """Put the distinct terms of a query into `slots` (int32; a power of two, several times the number of terms)."""
    slots[:] = -1
    for i in range(len(terms)):
        place = spread(terms[i]) & (len(slots) - 1)
        while slots[place] >= 0:
            place = (place + 1) & (len(slots) - 1)
        slots[place] = i


@kernel
def find_slot(slots, terms, term):
    """Return the place of a term in the query; -1 if the query lacks it."""
    place = spread(term) & (len(slots) - 1)
    while slots[place] >= 0:
        if terms[slots[place]] == term:
            return np.int64(slots[place])
        place = (place + 1) & (len(slots) - 1)
    return np.int64(-1)


@kernel
def fill_filter(terms, bits):
    """Set the bit of each term of a query in `bits` (uint64; a power of two)."""
    bits[:] = 0
    for i in range(len(terms)):
        hashed = spread(terms[i])
        bits[(hashed >> 6) & (len(bits) - 1)] |= np.uint64(1) << np.uint64(hashed & 63)


@kernel
def may_hold(bits, term):
    """Return 1 for a term of the query and for few others, and otherwise 0, without a branch."""
    hashed = spread(term)
    return np.int64((bits[(hashed >> 6) & (len(bits) - 1)] >> np.uint64(hashed & 63)) & np.uint64(1))
