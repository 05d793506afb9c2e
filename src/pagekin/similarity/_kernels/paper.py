"""Sign integer bags by linear functions, many bags at a time; `similarity.paper` explains the method."""

import numpy as np
from numba import float64, int64, uint32, uint64

from pagekin.bags import mix_number
from pagekin.similarity.darts import GOLDEN
from pagekin.similarity.paper import PARTS, P
from pagekin.store import kernel, sort_by_keys, sort_numbers

_P = uint64(P)
_LOW = uint64(0xFFFFFFFF)
_SLACK = uint64(35)
"""What `_may_lower` leaves out of a value, at most: 2^32 is 5 mod p, and a sum of seven numbers wraps round six times at most."""
_FIRST = 64
"""Elements of a term that are not worth a look beforehand: nearly each of them lowers some value."""


@kernel
def _round_bag(weights, hashes, units, counts):
    """Divide the bag's units among its terms by largest-remainder rounding; write them to `counts`."""
    total = int64(0)
    for i in range(len(weights)):
        counts[i] = int64(np.rint(float64(weights[i]) * PARTS))
        total += counts[i]
    if total == 0:
        return
    left = units
    remainders = np.empty(len(weights), dtype=np.int64)
    for i in range(len(weights)):
        scaled = counts[i] * units
        counts[i] = scaled // total
        remainders[i] = scaled - counts[i] * total
        left -= counts[i]
    if left == 0:
        return
    rising = remainders.copy()
    sort_numbers(rising)
    least = rising[len(rising) - left]
    for i in range(len(weights)):
        if remainders[i] > least:
            counts[i] += 1
            left -= 1
    ties = np.flatnonzero(remainders == least)
    tied = hashes[ties]
    sort_by_keys(tied, ties)
    for i in ties[:left]:
        counts[i] += 1


@kernel
def _round_bags(terms, weights, offsets, hashes, units):
    """Return the units of every entry of every bag, int64 (entries)."""
    counts = np.zeros(len(terms), dtype=np.int64)
    for i in range(len(offsets) - 1):
        first, last = offsets[i], offsets[i + 1]
        _round_bag(weights[first:last], hashes[terms[first:last]], units, counts[first:last])
    return counts


@kernel
def _sort_stably(order, keys, bound):
    """Return `order` sorted stably by keys[order], which are below `bound`, in linear time."""
    starts = np.zeros(bound + 1, dtype=np.int64)
    for i in order:
        starts[keys[i] + 1] += 1
    for key in range(bound):
        starts[key + 1] += starts[key]
    out = np.empty_like(order)
    for i in order:
        out[starts[keys[i]]] = i
        starts[keys[i]] += 1
    return out


@kernel(inline=True)
def _lower(best, x, a, b):
    """Lower best[j] to (a[j] x + b[j]) mod p where that is less; needs no division, since 2^32 is 5 mod p."""
    for j in range(len(best)):
        value = (a[j] & _LOW) * (x & _LOW) + b[j]  # which tells the compiler that half of the multiplication is enough
        value = (value & _LOW) + (value >> uint64(32)) * uint64(5)
        value = (value & _LOW) + (value >> uint64(32)) * uint64(5)
        best[j] = min(best[j], min(value, value - _P))  # below p the difference wraps round and is no less


@kernel(inline=True)
def _may_lower(x, short_a, shifted_b, limits):
    """Return whether (a[j] x + b[j]) mod p may be at most limits[j] - _SLACK for some j; never 0 if it is.

    Half as many bits as `_lower` takes, so twice as many numbers at a time: 2^32 is taken for 0 where sums wrap round, so that a
    value comes out too small by up to _SLACK, or wraps round itself. `shifted_b` is b + _SLACK, `limits` are uint32.
    """
    hits = uint32(0)
    for j in range(len(limits)):
        product = uint64(short_a[j]) * uint64(uint32(x))
        value = uint32(uint32(uint32(product) + shifted_b[j]) + uint32(uint32(product >> uint64(32)) * uint32(5)))
        hits = uint32(1) if value <= limits[j] else hits
    return hits


@kernel
def sign_as_in_the_paper(terms, weights, offsets, hashes, units, a, b, out):
    """Write the signature of each bag i, the entries [offsets[i], offsets[i + 1]), to out[i].

    A term's elements are the first so many of one sequence, whatever the bag. So the terms are taken one after the other,
    and a term's sequence is walked once for all bags, those with the fewest of its elements first.

    Cost: m linear functions, a fifth of a ns each, for the greatest number of each term's elements in any bag, and m
    comparisons for each entry.
    """
    short_a, shifted_b = a.astype(np.uint32), (b + _SLACK).astype(np.uint32)
    limits = np.empty(len(a), np.uint32)
    counts = _round_bags(terms, weights, offsets, hashes, units)
    bags = np.empty(len(terms), dtype=np.uint32)
    for i in range(len(offsets) - 1):
        bags[offsets[i] : offsets[i + 1]] = i
    order = _sort_stably(np.flatnonzero(counts), counts, units + 1)
    order = _sort_stably(order, terms, len(hashes))
    out[:] = uint32(0xFFFFFFFF)
    best, least = np.empty(out.shape[1], dtype=np.uint64), np.empty(out.shape[1], dtype=np.uint32)
    before = int64(-1)
    walked = int64(0)
    counter = uint64(0)
    lowered = False
    for entry in order:
        if terms[entry] != before:
            before = terms[entry]
            walked = 0
            counter = hashes[before]
            best[:] = uint64(0xFFFFFFFFFFFFFFFF)
            limits[:] = uint32(0xFFFFFFFF)
        while walked < counts[entry]:
            counter += GOLDEN
            walked += 1
            x = mix_number(counter) % _P
            if walked > _FIRST and not _may_lower(x, short_a, shifted_b, limits):
                continue
            lowered = True
            _lower(best, x, a, b)
            if walked >= _FIRST:
                for j in range(len(best)):
                    limits[j] = uint32(min(best[j] + _SLACK, _LOW))
        if lowered:
            lowered = False
            for j in range(len(best)):
                least[j] = uint32(best[j])
        row = out[bags[entry]]
        for j in range(len(least)):
            row[j] = min(row[j], least[j])
