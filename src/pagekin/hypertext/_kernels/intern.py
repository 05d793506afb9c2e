"""Number byte strings in order of arrival: an open-addressing table over an arena.

Pages choose the strings, so the digests that place them depend on a key, random for each process: nobody can choose strings
that meet in one place. The key (`store.PROCESS_KEY`) travels as data, never as a constant of compiled code, which is kept between
processes. Numbers go by arrival and files by order, so that nothing stored depends on it.
"""

import numpy as np

from pagekin.hypertext._kernels.borrow import borrow, fold, load
from pagekin.hypertext._kernels.slots import NAME_PLACES
from pagekin.store import kernel

_FACTOR = 0x9E3779B97F4A7C15
_MULTIPLIER = np.uint64(_FACTOR)
_HALF = np.uint64(32)
_ONE = np.uint64(1)
_LOW = np.uint64(0xFFFFFFFF)
_NAME_MASK = np.uint64(NAME_PLACES - 1)


def name_digest(name: bytes) -> int:
    """Return the digest of a name for `find_name`, with its length first (a name may end in zeros).

    It needs no key: the table is fixed, and what is looked up in it never enters it.
    """
    digest = 0
    for part in (len(name), *(int.from_bytes(name[i : i + 8], "little") for i in range(0, len(name), 8))):
        digest = ((digest ^ part) * _FACTOR) & 0xFFFFFFFFFFFFFFFF
        digest ^= digest >> 32
    return digest


@kernel
def slot_shift(places):
    """Return how far to shift a digest to the right for its entry in `slots` with that many places."""
    shift = 65
    while places > 1:
        places >>= 1
        shift -= 1
    return shift


@kernel
def mix(digest, eight):
    """Return the digest of a name, given that of what stands before its last eight bytes."""
    digest = (digest ^ eight) * _MULTIPLIER
    return digest ^ (digest >> _HALF)


@kernel
def head(eight, length):
    """Return the first `length` (1 to 8) of eight bytes, zeros after them."""
    spare = np.uint64(64 - 8 * length)
    return (eight << spare) >> spare


@kernel(inline=True)
def digest_short(eight, length, key, at):
    """Return the digest of a string of up to eight bytes, zeros after it; it tells strings of equal length apart.

    The key's four numbers begin at key[at]. Two rounds, each of them one to one: after a single one, strings that differ in their
    last bit would differ in two bits that everybody knows.
    """
    digest = eight ^ (np.uint64(key[at]) + np.uint64(length) * np.uint64(key[at + 1]))
    digest *= np.uint64(key[at + 2])
    digest ^= digest >> _HALF
    return digest * np.uint64(key[at + 3])


@kernel(inline=True)
def start_digest(length, key, at):
    """Return what the digest of a string of more than eight bytes begins with."""
    return np.uint64(key[at]) + np.uint64(length) * np.uint64(key[at + 1])


@kernel(inline=True)
def extend_digest(digest, eight, key, at):
    """Return the digest of a string of more than eight bytes, given that of what stands before its last eight.

    Both halves of a product with a secret number: no difference of one step can be undone by the next without knowing it.
    """
    return fold(digest ^ eight, np.uint64(key[at + 2]))


@kernel
def digest_of(data, start, length, key, at):
    """Return the digest of data[start : start + length] by the key at key[at]; those of up to eight bytes tell strings apart."""
    if length <= 8:
        eight = head(load(data, start), length) if length > 0 else np.uint64(0)
        return digest_short(eight, length, key, at)
    digest = start_digest(length, key, at)
    end = start + length
    while start + 8 <= end:
        digest = extend_digest(digest, load(data, start), key, at)
        start += 8
    if start < end:
        digest = extend_digest(digest, head(load(data, start), end - start), key, at)
    return digest


@kernel
def same(data, start, other, length):
    """Return whether data[start:] and data[other:] begin with the same `length` bytes (more than eight)."""
    i = 0
    while i + 8 < length:
        if load(data, start + i) != load(data, other + i):
            return False
        i += 8
    return load(data, start + length - 8) == load(data, other + length - 8)


@kernel
def intern(length, digest, slots, shift, bounds, arena, count):
    """Return the number of the string that lies at the arena's end; `count`, and it stays there, if it is new.

    `bounds` holds where each string starts, and where the last ends: there the string to look up starts.
    `slots` has two places for each of 1 << (64 - shift) entries, at most half of them taken: digest; number +
    1 | length << 32. A string of up to eight bytes is known by its digest and length: one cache miss; a
    longer one is compared, too.
    """
    last = (_ONE << np.uint64(64 - shift)) - _ONE
    place = digest >> np.uint64(shift)
    fresh = bounds[count]
    while True:
        at = np.int64(place << _ONE)
        entry = slots[at + 1]
        if entry == 0:
            slots[at] = digest
            slots[at + 1] = np.uint64(count + 1) | np.uint64(length) << _HALF
            bounds[count + 1] = fresh + length
            return np.int64(count)
        if slots[at] == digest and np.int64(entry >> _HALF) == length:
            number = np.int64(entry & _LOW) - 1
            if length <= 8 or same(arena, bounds[number], fresh, length):
                return number
        place = (place + _ONE) & last


@kernel
def refill(slots, bounds, arena, count, key):
    """Enter strings 0..count-1 into emptied `slots`, by the `key` that their digests will have."""
    shift = slot_shift(len(slots))
    slots, bounds, arena = borrow(slots), borrow(bounds), borrow(arena)
    for number in range(count):
        length = bounds[number + 1] - bounds[number]
        digest = digest_of(arena, bounds[number], length, key, 0)
        intern(length, digest, slots, shift, bounds, arena, number)


@kernel(inline=True)
def find_name(length, low, high, places):
    """Return the number of a name of 1 to 16 letters, whose eight first are `low`, in a table of `Tables`; 0 if absent."""
    digest = mix(np.uint64(0), np.uint64(length))
    if length <= 8:
        digest = mix(digest, head(low, length))
    else:
        digest = mix(mix(digest, low), head(high, length - 8))
    place = np.int64(digest & _NAME_MASK)
    while places[2 * place] != 0 and places[2 * place] != np.int64(digest):
        place = (place + 1) & (NAME_PLACES - 1)
    return places[2 * place + 1]
