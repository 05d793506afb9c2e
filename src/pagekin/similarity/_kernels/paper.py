"""Signatures of integer bags by linear functions, many bags at a time. `similarity.paper` says how and why."""

import numpy as np
from numba import float64, int64, njit, uint64

from pagekin.similarity._kernels.darts import GOLDEN, mix64

_C = 1_000
_P = uint64(2**32 - 5)
_UNIT = float64(2**40)
_LOW = uint64(0xFFFFFFFF)


@njit(cache=True, nogil=True)
def _count(terms, weights, first, last, hashes, counts):
    """Write to `counts` how often each term of the bag [first, last) occurs, by largest-remainder rounding.

    Selection, not sorting: the cost is linear in the terms.
    """
    n = last - first
    total = int64(0)
    for i in range(n):
        counts[i] = int64(np.rint(float64(weights[first + i]) * _UNIT))
        total += counts[i]
    if total == 0:
        return
    remainders = np.empty(n, dtype=np.int64)
    left = _C
    for i in range(n):
        scaled = counts[i] * _C
        counts[i] = scaled // total
        remainders[i] = scaled - counts[i] * total
        left -= counts[i]
    if left == 0:
        return
    least = np.partition(remainders, n - left)[n - left]
    tied = 0
    for i in range(n):
        if remainders[i] > least:
            counts[i] += 1
            left -= 1
        elif remainders[i] == least:
            tied += 1
    ties = np.empty(tied, dtype=np.uint64)
    tied = 0
    for i in range(n):
        if remainders[i] == least:
            ties[tied] = hashes[terms[first + i]]
            tied += 1
    last_hash = np.partition(ties, left - 1)[left - 1]
    for i in range(n):
        if remainders[i] == least and hashes[terms[first + i]] <= last_hash:
            counts[i] += 1


@njit(cache=True, nogil=True)
def _least(elements, a, b, best):
    """Write to `best[j]` the least (a[j] x + b[j]) mod p over all elements x: no division, as 2^32 is 5 mod p."""
    best[:] = uint64(0xFFFFFFFFFFFFFFFF)
    for x in elements:
        for j in range(len(best)):
            value = a[j] * x + b[j]
            value = (value & _LOW) + (value >> uint64(32)) * uint64(5)
            value = (value & _LOW) + (value >> uint64(32)) * uint64(5)
            best[j] = min(best[j], min(value, value - _P))  # below p the difference wraps round and is no less


@njit(cache=True, nogil=True)
def sign_as_in_the_paper(terms, weights, offsets, hashes, a, b, out):
    """Write the signature of each bag i, [offsets[i], offsets[i + 1]), to out[i].

    Cost: 1,000 m linear functions a bag, a quarter of a ns each.
    """
    best = np.empty(out.shape[1], dtype=np.uint64)
    elements = np.empty(_C, dtype=np.uint64)
    most = 0
    for i in range(len(offsets) - 1):
        most = max(most, offsets[i + 1] - offsets[i])
    counts = np.empty(most, dtype=np.int64)
    for i in range(len(offsets) - 1):
        first, last = offsets[i], offsets[i + 1]
        _count(terms, weights, first, last, hashes, counts)
        made = 0
        for t in range(last - first):
            counter = hashes[terms[first + t]]
            for _ in range(counts[t]):
                counter += GOLDEN
                elements[made] = mix64(counter) % _P
                made += 1
        _least(elements[:made], a, b, best)
        for j in range(len(best)):
            out[i, j] = np.uint32(best[j])
