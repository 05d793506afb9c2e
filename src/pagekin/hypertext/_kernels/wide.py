"""Look at eight or sixteen bytes at a time, by arithmetic on 64-bit numbers.

Each function reads data[at : at + 8] or data[at : at + 16], whatever lies there: the caller sees to it that this is
memory of the array, which is a borrowed one. In a number of eight bytes, a "flag" is the highest bit of a byte; none of
the sums below carries from one byte to the next.
"""

import numpy as np
from numba.cpython.unsafe.numbers import trailing_zeros

from pagekin.hypertext._kernels.borrow import load, store
from pagekin.store import kernel

_U = np.uint64
_FLAGS = _U(0x8080808080808080)
_REST = _U(0x7F7F7F7F7F7F7F7F)
ONES = _U(0x0101010101010101)
_CASE = _U(0x2020202020202020)
_TWO, _THREE = _U(2), _U(3)


def _from(byte: int) -> np.uint64:
    """Return what is added to eight 7-bit bytes, so that those of at least `byte` get a flag."""
    return _U(int(ONES) * (128 - byte))


def eight_times(byte: int) -> np.uint64:
    """Return eight times `byte`."""
    return _U(int(ONES) * byte)


_FROM_0, _AFTER_9, _FROM_A, _AFTER_Z = _from(0x30), _from(0x3A), _from(0x41), _from(0x5B)
_FROM_SMALL_A, _AFTER_SMALL_Z, _FROM_VISIBLE = _from(0x61), _from(0x7B), _from(0x21)
_SLASHES, _EQUALS, _CLOSES = eight_times(0x2F), eight_times(0x3D), eight_times(0x3E)
_AMPERSANDS, _HASHES = eight_times(0x26), eight_times(0x23)


@kernel(inline=True)
def copy(source, at, target, to):
    """Copy source[at : at + 16] to target[to:]."""
    low, high = load(source, at), load(source, at + 8)
    store(target, to, low)
    store(target, to + 8, high)


@kernel(inline=True)
def first_flag(flags):
    """Return the number of the first byte with a flag; 8 if there is none."""
    return np.int64(trailing_zeros(flags) >> _THREE)


@kernel(inline=True)
def to_lower(eight):
    """Return eight bytes in ASCII lower case."""
    rest = eight & _REST
    upper = ((rest + _FROM_A) ^ (rest + _AFTER_Z)) & ~eight & _FLAGS
    return eight | upper >> _TWO


@kernel(inline=True)
def flag_zeros(eight):
    """Flag the bytes that are 0, up to the first of them; flags after it may be wrong."""
    return (eight - ONES) & ~eight & _FLAGS


@kernel(inline=True)
def flag_others(eight):
    """Flag the bytes that are neither ASCII letters nor digits."""
    digits = eight & _REST
    letters = digits | _CASE
    within = ((digits + _FROM_0) ^ (digits + _AFTER_9)) | ((letters + _FROM_SMALL_A) ^ (letters + _AFTER_SMALL_Z))
    return ~(within & ~eight) & _FLAGS


@kernel(inline=True)
def word_run(data, at):
    """Return (number of letters and digits of ASCII, at most 16; bytes 0..7 and 8..15, those in lower case)."""
    low = load(data, at)
    flags = flag_others(low)
    high = load(data, at + 8)
    count = first_flag(flags)
    if flags == 0:
        count += first_flag(flag_others(high))
    return count, low | _CASE, high | _CASE


@kernel(inline=True)
def flag_name_ends(eight):
    """Flag bytes that may end an attribute's name: `/`, `=`, `>`, white space and control characters."""
    hidden = ~((eight & _REST) + _FROM_VISIBLE) & ~eight & _FLAGS
    return hidden | flag_zeros(eight ^ _SLASHES) | flag_zeros(eight ^ _EQUALS) | flag_zeros(eight ^ _CLOSES)


@kernel(inline=True)
def find_in_address(data, at):
    """Return the place of the first `&` or `#` among data[at : at + 8]; 8 if there is none."""
    eight = load(data, at)
    return first_flag(flag_zeros(eight ^ _AMPERSANDS) | flag_zeros(eight ^ _HASHES))


@kernel(inline=True)
def flag_pairs(data, at, first, second):
    """Flag each letter of data[at : at + 8], whatever its case, that is the one eight times in `first` before that in `second`.

    Others may be flagged, too; data[at + 8] is read.
    """
    return flag_zeros((load(data, at) | _CASE) ^ first) & flag_zeros((load(data, at + 1) | _CASE) ^ second)
