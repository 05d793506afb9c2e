"""Count different values of keys without sorting."""

import numpy as np
from numba import uint64

from pagekin.store import kernel


@kernel
def mark_new_pairs(names, rising, secret, known, last, counts, firsts, is_new):
    """Mark the rows whose pair of name and number stands in no row before; return the number of distinct names.

    `names` (uint64) come in any order, `rising` (int64) never falls: so a pair is new if its name was last seen with another
    number. Of each distinct name, in the order of arrival: `known` is the name, `last` its last number, `counts` (int64) how
    many different ones, `firsts` (int64) its first row. `is_new` (bool) is for each row. `secret` is a random odd number, so
    that nobody can choose names that meet in the table. Cost: one look-up for each row.
    """
    size = 1 << 10
    slots = np.zeros(size, np.int32)  # the places of names among the known, from 1 on
    shift = uint64(64 - 10)
    count = 0
    for row in range(len(names)):
        name = names[row]
        at = (name * secret) >> shift
        while slots[at] and known[slots[at] - 1] != name:
            at = (at + uint64(1)) & uint64(size - 1)
        place = slots[at] - 1
        if place >= 0:
            is_new[row] = last[place] != rising[row]
            counts[place] += is_new[row]
            last[place] = rising[row]
            continue
        known[count], last[count], counts[count], firsts[count], is_new[row] = name, rising[row], 1, row, True
        count += 1
        slots[at] = count
        if 2 * count > size:
            size, shift = 4 * size, shift - uint64(2)
            slots = np.zeros(size, np.int32)
            for other in range(count):
                at = (known[other] * secret) >> shift
                while slots[at]:
                    at = (at + uint64(1)) & uint64(size - 1)
                slots[at] = other + 1
    return count
