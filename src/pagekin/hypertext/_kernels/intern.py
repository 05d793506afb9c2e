"""Byte strings to small numbers, in arrays: an open-addressing table over an arena."""

import numpy as np
from numba import njit

OFFSET_BASIS = np.uint64(0xCBF29CE484222325)
PRIME = np.uint64(0x100000001B3)


@njit(cache=True)
def intern(word, length, digest, slots, digests, offsets, arena, count):
    """(number of word[:length], count of numbers): a new number, `count`, if it was not known. About two cache misses.

    `digest` is FNV-1a of the bytes; `slots` has a power of two of places, fewer than half of them taken.
    """
    mask = np.uint64(len(slots) - 1)
    place = (digest ^ (digest >> np.uint64(29))) & mask
    while True:
        number = slots[place]
        if number < 0:
            slots[place] = count
            digests[count] = digest
            start = offsets[count]
            for i in range(length):
                arena[start + i] = word[i]
            offsets[count + 1] = start + length
            return count, count + 1
        if digests[number] == digest:
            start = offsets[number]
            if offsets[number + 1] - start == length:
                same = True
                for i in range(length):
                    if arena[start + i] != word[i]:
                        same = False
                        break
                if same:
                    return number, count
        place = (place + np.uint64(1)) & mask


@njit(cache=True)
def refill(slots, digests, count):
    """Enter numbers 0..count-1 into an emptied, larger `slots`."""
    mask = np.uint64(len(slots) - 1)
    for number in range(count):
        digest = digests[number]
        place = (digest ^ (digest >> np.uint64(29))) & mask
        while slots[place] >= 0:
            place = (place + np.uint64(1)) & mask
        slots[place] = number
