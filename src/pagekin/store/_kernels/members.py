"""Look many numbers up among a few others."""

import numpy as np
from numba import uint64

from pagekin.store.kernels import kernel


@kernel
def mark_members(values, some, secret, bits, mask):
    """Mark in `mask` (bool) which of `values` (uint64) are among `some` (uint64); repeated numbers do no harm.

    The table has 2 ** bits slots, at least twice as many as there are numbers in `some`. `secret` is a random odd number, so that
    nobody can choose numbers that meet in the table. Cost: one look-up for each value.
    """
    slots = np.zeros(1 << bits, np.uint64)
    shift, last = uint64(64 - bits), uint64((1 << bits) - 1)
    has_zero = False  # which stands for an empty slot
    for number in some:
        if number == uint64(0):
            has_zero = True
            continue
        at = (number * secret) >> shift
        while slots[at] and slots[at] != number:
            at = (at + uint64(1)) & last
        slots[at] = number
    for row in range(len(values)):
        value = values[row]
        if value == uint64(0):
            mask[row] = has_zero
            continue
        at = (value * secret) >> shift
        while slots[at] and slots[at] != value:
            at = (at + uint64(1)) & last
        mask[row] = slots[at] == value
