"""Byte strings to small numbers, in arrays: an open-addressing table over an arena."""

import numpy as np
from numba import njit

OFFSET_BASIS = np.uint64(0xCBF29CE484222325)
PRIME = np.uint64(0x100000001B3)


@njit(cache=True)
def digest_of(data, start, end):
    """FNV-1a of data[start:end]."""
    digest = OFFSET_BASIS
    for i in range(start, end):
        digest = (digest ^ np.uint64(data[i])) * PRIME
    return digest


@njit(cache=True)
def intern(length, digest, slots, entries, arena, count):
    """The number of the string that lies at the arena's end; `count`, and it stays there, if it was not known.

    `entries` holds two places a string, its FNV-1a digest and where it starts; the string to look up starts at
    entries[2 * count + 1]. `slots` has a power of two of places, at most half of them taken. About two cache misses.
    """
    mask = np.uint64(len(slots) - 1)
    place = (digest ^ (digest >> np.uint64(29))) & mask
    wanted = np.int64(digest)
    fresh = entries[2 * count + 1]
    while True:
        number = slots[place]
        if number < 0:
            slots[place] = count
            entries[2 * count] = wanted
            entries[2 * count + 3] = fresh + length
            return np.int64(count)
        if entries[2 * number] == wanted:
            start = entries[2 * number + 1]
            if entries[2 * number + 3] - start == length:
                i = 0
                while i < length and arena[start + i] == arena[fresh + i]:
                    i += 1
                if i == length:
                    return np.int64(number)
        place = (place + np.uint64(1)) & mask


@njit(cache=True)
def refill(slots, entries, count):
    """Enter numbers 0..count-1 into an emptied, larger `slots`."""
    mask = np.uint64(len(slots) - 1)
    for number in range(count):
        digest = np.uint64(entries[2 * number])
        place = (digest ^ (digest >> np.uint64(29))) & mask
        while slots[place] >= 0:
            place = (place + np.uint64(1)) & mask
        slots[place] = number
