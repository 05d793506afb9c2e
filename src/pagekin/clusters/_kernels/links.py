"""Add up what pairs of pages have in common: ancestors, and paths between them, given all shortest paths.

Everything is said of ancestors. For descendants, the arrays of links in and out change places.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import uint64

from pagekin.clusters._kernels.paths import NONE
from pagekin.store import kernel


class Ancestors(NamedTuple):
    """The ancestors of all pages."""

    steps: Any
    """uint8 (pages, pages): from page x to page i at [i, x]; NONE if there is no path."""
    bits: Any
    """uint64 (pages, most steps, words): the pages at each number of steps, as `spread` writes them."""
    tops: Any
    """int64 (pages): the most steps to each page."""
    totals: Any
    """int64 (pages, levels + 2): pages within d steps, and in the last place all with a path; see `list_nearest`."""
    near: Any
    """int32 (pages, room): the nearest ancestors."""


class Changes(NamedTuple):
    """The paths that become longer if a page is avoided; those of page i are offsets[i] to offsets[i + 1]."""

    offsets: Any
    """int64 (pages + 1)"""
    others: Any
    """int32: the other page of the pair."""
    at: Any
    """uint8: the level that changes."""
    changes: Any
    """float64: by how much its sum changes."""
    lost: Any
    """int32: how many of its pages lose their path."""


class Reached(NamedTuple):
    """The pages with a path from page x, from starts[x] to starts[x + 1], the nearest first."""

    starts: Any
    """int64 (pages + 1)"""
    pages: Any
    """int32"""
    lengths: Any
    """uint8: the steps of each path."""


class Sums(NamedTuple):
    """Scratch sums over the common pages of a pair, and powers of 1/2; zero before and after use."""

    sums: Any
    """float64 (levels + 1): what the pages of each level contribute."""
    common: Any
    """int64 (levels + 1): how many they are."""
    shared: Any
    """int64 (far + 2): how many common ancestors there are, by the greater distance."""
    power: Any
    """float64 (far + 2)"""


@kernel(inline=True)
def _ones(word):
    """Count the set bits of a word, in a form that compiles to one instruction."""
    pairs = word - ((word >> uint64(1)) & uint64(0x5555555555555555))
    fours = (pairs & uint64(0x3333333333333333)) + ((pairs >> uint64(2)) & uint64(0x3333333333333333))
    eights = (fours + (fours >> uint64(4))) & uint64(0x0F0F0F0F0F0F0F0F)
    return (eights * uint64(0x0101010101010101)) >> uint64(56)


@kernel
def spread(begin, end, steps, bits):
    """Set bit x of bits[i, d - 1] for pages i from `begin` to `end` and x with d steps to i, d from 1 to bits.shape[1]."""
    for i in range(begin, end):
        for x in range(steps.shape[1]):
            d = steps[i, x]
            if d != 0 and d != NONE:
                bits[i, d - 1, x >> 6] |= uint64(1) << uint64(x & 63)


@kernel
def list_nearest(begin, end, steps, levels, totals, near):
    """Count the pages within d steps of pages i from `begin` to `end` in totals[i, d], and list the nearest in near[i].

    The last of `totals` are all pages with a path to i. Of equally near pages, the first come first.
    """
    starts = np.zeros(NONE + 1, dtype=np.int64)
    for i in range(begin, end):
        starts[:] = 0
        for x in range(steps.shape[1]):
            starts[steps[i, x]] += 1
        count = 0
        for d in range(1, NONE):
            starts[d], count = count, count + starts[d]
            if d <= levels:
                totals[i, d] = count
        totals[i, levels + 1] = count
        for x in range(steps.shape[1]):
            d = steps[i, x]
            if d != 0 and d != NONE:
                if starts[d] < near.shape[1]:
                    near[i, starts[d]] = x
                starts[d] += 1


@kernel
def _count_bits(mine, other, top, levels, pair):
    """Add up the number and the contributions of each level's pages by bits; `shared` goes by the greater distance."""
    power = pair.power
    for level in range(1, min(levels, top) + 1):
        a, b = mine[level - 1], other[level - 1]
        for far in range(level, top + 1):
            c, d = mine[far - 1], other[far - 1]
            ones = uint64(0)
            for w in range(len(a)):
                ones += _ones((a[w] & d[w]) | (c[w] & b[w]))
            seen = np.int64(ones)
            pair.sums[level] += seen * power[level] * power[far]
            pair.common[level] += seen
            pair.shared[far] += seen


@kernel
def _count_listed(pages, mine, other, levels, least, pair):
    """Add up like `_count_bits`, from a list of pages: those on the level and at least `least` steps from `mine`."""
    for x in pages:
        p, q = mine[x], other[x]
        level, far = min(p, q), max(p, q)
        if level != 0 and far != NONE and level <= levels and p >= least:
            pair.sums[level] += pair.power[level] * pair.power[far]
            pair.common[level] += 1
            pair.shared[far] += 1


@kernel
def _count_common(i, j, known, levels, pair):
    """Add up the common pages of i and j in the cheapest way; return the greatest number of steps to either."""
    mine, other, near, steps = known.totals[i], known.totals[j], known.near, known.steps
    room = near.shape[1]
    fewest = min(mine[levels + 1], other[levels + 1])
    top = max(known.tops[i], known.tops[j])
    least = min(levels, top)
    by_bits = least * (2 * top - least + 1) // 2 * known.bits.shape[2] // 8
    by_near = mine[levels] + other[levels]
    if fewest <= room and fewest <= by_near and fewest <= by_bits:
        fewer = near[i] if mine[levels + 1] == fewest else near[j]
        _count_listed(fewer[:fewest], steps[i], steps[j], levels, 0, pair)
    elif max(mine[levels], other[levels]) <= room and by_near <= by_bits:
        _count_listed(near[i, : mine[levels]], steps[i], steps[j], levels, 0, pair)
        _count_listed(near[j, : other[levels]], steps[i], steps[j], levels, levels + 1, pair)
    else:
        _count_bits(known.bits[i], known.bits[j], top, levels, pair)
    return top


@kernel
def common_ancestors(begin, end, known, avoided, levels, far, by_union, weight, out):
    """Add weight * S^anc (eq. 3) of pages i from `begin` to `end` and all j > i to out[i, j] (float32).

    `known` are Ancestors, and `avoided` the Changes of pairs, whichever page of the pair is avoided. All sums are exact
    until the division, so the way they are made makes no difference. Cost for a pair, whichever is least: the ancestors
    of one, those of both within `levels` steps, or pages / 64 for each level and each greater distance.
    """
    steps, totals = known.steps, known.totals
    pages = len(steps)
    change = np.zeros((end - begin, pages, levels + 1), dtype=np.float64)
    gone = np.zeros((end - begin, pages, levels + 1) if not by_union else (1, 1, 1), dtype=np.int32)
    for i in range(begin, end):
        for e in range(avoided.offsets[i], avoided.offsets[i + 1]):
            change[i - begin, avoided.others[e], avoided.at[e]] += avoided.changes[e]
            if not by_union:
                gone[i - begin, avoided.others[e], avoided.at[e]] += avoided.lost[e]
    power = np.append(0.5 ** np.arange(far + 1), 0.0)
    sums, common = np.zeros(levels + 1, dtype=np.float64), np.zeros(levels + 1, dtype=np.int64)
    shared = np.zeros(far + 2, dtype=np.int64)
    pair = Sums(sums, common, shared, power)
    for j in range(begin + 1, pages):
        for i in range(begin, min(end, j)):
            mine, other = totals[i], totals[j]
            if min(mine[levels + 1], other[levels + 1]) == 0:
                continue
            top = _count_common(i, j, known, levels, pair)
            least = min(levels, top)
            total = 0.0
            before = within = 0
            for level in range(1, least + 1):
                within += shared[level]
                either = mine[level] + other[level] - within
                either -= (0 < steps[i, j] <= level) + (0 < steps[j, i] <= level)
                if by_union:
                    peers = either - before
                else:
                    peers = common[level] - gone[i - begin, j, level]
                before = either
                if peers > 0:
                    total += (sums[level] + change[i - begin, j, level]) / peers
            sums[: least + 1] = 0.0
            common[: least + 1] = 0
            shared[: top + 1] = 0
            out[i, j] += weight * total


@kernel
def list_reached(begin, end, steps, reached):
    """List from reached.starts[x] on, for pages x from `begin` to `end`, the pages with a path from x, the nearest first."""
    places = np.zeros((end - begin, NONE + 1), dtype=np.int64)
    for j in range(len(steps)):
        for x in range(begin, end):
            places[x - begin, steps[j, x]] += 1
    for x in range(begin, end):
        place = reached.starts[x]
        for d in range(1, NONE):
            places[x - begin, d], place = place, place + places[x - begin, d]
    for j in range(len(steps)):
        for x in range(begin, end):
            d = steps[j, x]
            if d != 0 and d != NONE:
                reached.pages[places[x - begin, d]] = j
                reached.lengths[places[x - begin, d]] = d
                places[x - begin, d] += 1


@kernel
def halves_of_ancestors(begin, end, steps, totals, reached, avoided, levels, far, weight, out):
    """Add to out[i, j], for pages i from `begin` to `end` and all j, the terms of weight * S^anc with i on the near side.

    That is, of common ancestors with fewer steps to i than to j, and half of those with as many. `steps` and `totals` are
    those of Ancestors, `reached` is Reached, and `avoided` the Changes of avoiding page i on the way to others. Divide by
    the union. Cost for a page: what the pages within `levels` steps of it reach.
    """
    starts, lengths = reached.starts, reached.lengths
    pages = len(steps)
    sums = np.zeros((levels + 1, pages), dtype=np.float64)
    shared = np.zeros((levels + 1, pages), dtype=np.int32)
    terms = np.zeros((levels + 1, far + 1), dtype=np.float64)
    for a in range(1, levels + 1):
        for b in range(a, far + 1):
            terms[a, b] = 0.5 ** (a + b) if b > a else 0.5 ** (a + b + 1)
    for i in range(begin, end):
        for x in range(pages):
            a = steps[i, x]
            if a == 0 or a > levels:
                continue
            here, term = sums[a], terms[a]
            e = starts[x]
            while e < starts[x + 1] and lengths[e] <= levels:
                here[reached.pages[e]] += term[lengths[e]]
                shared[max(a, lengths[e]), reached.pages[e]] += 1
                e += 1
            for f in range(e, starts[x + 1]):
                here[reached.pages[f]] += term[lengths[f]]
        for e in range(avoided.offsets[i], avoided.offsets[i + 1]):
            sums[avoided.at[e], avoided.others[e]] += avoided.changes[e]
        sums[:, i] = 0.0
        for j in range(pages):
            total = 0.0
            within = 0
            for level in range(1, levels + 1):
                within += shared[level, j]
                if sums[level, j] != 0.0:
                    either = totals[i, level] + totals[j, level] - within
                    either -= (0 < steps[i, j] <= level) + (0 < steps[j, i] <= level)
                    before = totals[i, level - 1] + totals[j, level - 1] - (within - shared[level, j])
                    before -= (0 < steps[i, j] < level) + (0 < steps[j, i] < level)
                    total += sums[level, j] / (either - before)
            if total != 0.0:
                out[i, j] += weight * total
        sums[:] = 0.0
        shared[:] = 0


@kernel
def direct_paths(begin, end, steps, far, weight, out):
    """Add weight / 2^steps[i, x] to out[i, x] for pages i from `begin` to `end`: one half of S^spl (eq. 2)."""
    for i in range(begin, end):
        for x in range(steps.shape[1]):
            if 0 < steps[i, x] <= far:
                out[i, x] += weight * 0.5 ** steps[i, x]


@kernel
def fold(begin, end, out):
    """Make out[i, j] and out[j, i] their sum, for pages i from `begin` to `end` and all j > i; 0 for i = j."""
    for i in range(begin, end):
        out[i, i] = 0.0
        for j in range(i + 1, len(out)):
            both = out[i, j] + out[j, i]
            out[i, j] = both
            out[j, i] = both
