"""Shortest paths between pages, the detours where one page is avoided, and what pairs of pages have in common.

All is told for common ancestors. For common descendants, the arrays of links in and out change places.
"""

from typing import Any

import numpy as np
from numba import njit, types, uint64
from numba.extending import intrinsic

FAR = 32
"""The longest path that adds to a similarity; all longer ones would add at most 2^-FAR to each of its three terms."""
NONE = 255
"""In place of a number of steps: there is no path."""


@intrinsic
def _ones(_typing: Any, _word: Any) -> Any:
    """How many bits of a word are set."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@njit(cache=True, nogil=True)
def label_parts(in_offsets, in_sources, out_offsets, out_targets):
    """The part of the graph that each page is in, numbered by their first pages: there are no links between parts."""
    pages = len(in_offsets) - 1
    labels = np.full(pages, -1, dtype=np.int64)
    waiting = np.empty(pages, dtype=np.int64)
    parts = 0
    for first in range(pages):
        if labels[first] >= 0:
            continue
        labels[first] = parts
        waiting[0] = first
        count = 1
        while count > 0:
            count -= 1
            page = waiting[count]
            for offsets, others in ((in_offsets, in_sources), (out_offsets, out_targets)):
                for e in range(offsets[page], offsets[page + 1]):
                    if labels[others[e]] < 0:
                        labels[others[e]] = parts
                        waiting[count] = others[e]
                        count += 1
        parts += 1
    return labels


@njit(cache=True, nogil=True)
def _search(target, in_offsets, in_sources, reach, steps, order):
    """Write the steps from each page to `target` (-1 where it takes more than `reach`) and the pages by steps; count them."""
    steps[:] = -1
    steps[target] = 0
    order[0] = target
    count = 1
    k = 0
    while k < count:
        page = order[k]
        k += 1
        if steps[page] == reach:
            break
        for e in range(in_offsets[page], in_offsets[page + 1]):
            source = in_sources[e]
            if steps[source] < 0:
                steps[source] = steps[page] + 1
                order[count] = source
                count += 1
    return count


@njit(cache=True, nogil=True)
def _dominators(target, out_offsets, out_targets, steps, order, count, above, depth):
    """Write to `above` the first page that all shortest paths from a page to `target` have in common, and its depth.

    That page is the nearest common one of the next pages on these paths, in the tree made so far.
    """
    above[target] = target
    depth[target] = 0
    for k in range(1, count):
        page = order[k]
        found = target
        if steps[page] > 1:
            found = -1
            for e in range(out_offsets[page], out_offsets[page + 1]):
                other = out_targets[e]
                if steps[other] != steps[page] - 1:
                    continue
                if found < 0:
                    found = other
                while found != other:
                    if depth[found] >= depth[other]:
                        found = above[found]
                    else:
                        other = above[other]
                if found == target:
                    break
        above[page] = found
        depth[page] = depth[found] + 1


@njit(cache=True, nogil=True)
def _lay_out(order, count, above, size, place, members, room):
    """Write the pages of the tree `above` to `members`, so that page p and those below it are size[p] from place[p] on."""
    for k in range(count):
        size[order[k]] = 1
    for k in range(count - 1, 0, -1):
        size[above[order[k]]] += size[order[k]]
    place[order[0]] = 0
    members[0] = order[0]
    room[order[0]] = 1
    for k in range(1, count):
        page = order[k]
        place[page] = room[above[page]]
        room[above[page]] += size[page]
        room[page] = place[page] + 1
        members[place[page]] = page


@njit(cache=True, nogil=True)
def _leave(first, last, out_offsets, out_targets, steps, members, reach, detour, seeds, starts):
    """Find a way out of members[first:last] for each but the first: shorten `detour`; list those with one, by its steps.

    Gives their number, or 0 if all have found a way one step longer than before: there can be no better one.
    """
    open_ones = 0
    low, high = reach + 1, 0
    for k in range(first + 1, last):
        page = members[k]
        best = reach + 1
        shortest = steps[page] + 1
        for e in range(out_offsets[page], out_offsets[page + 1]):
            other = out_targets[e]
            if 0 <= steps[other] < best - 1 and detour[other] == 0:
                best = steps[other] + 1
                if best == shortest:
                    break
        detour[page] = best
        open_ones += best > shortest
        if best <= reach:
            low, high = min(low, best), max(high, best)
    if open_ones == 0 or low > reach:
        return 0
    starts[: high - low + 2] = 0
    for k in range(first + 1, last):
        if detour[members[k]] <= reach:
            starts[detour[members[k]] - low + 1] += 1
    for v in range(high - low + 1):
        starts[v + 1] += starts[v]
    count = starts[high - low + 1]
    for k in range(first + 1, last):
        page = members[k]
        if detour[page] <= reach:
            seeds[starts[detour[page] - low]] = page
            starts[detour[page] - low] += 1
    return count


@njit(cache=True, nogil=True)
def _enter(in_offsets, in_sources, steps, order, count, blocker, reach, detour, seeds):
    """Do as `_leave` does, by the links that lead out of the range from their other end: less work if it is most pages."""
    found = 0
    for k in range(count):
        other = order[k]
        if detour[other] > 0 or steps[other] >= reach:
            continue
        for e in range(in_offsets[other], in_offsets[other + 1]):
            page = in_sources[e]
            if detour[page] > reach and page != blocker:
                seeds[found] = page
                found += 1
                detour[page] = steps[other] + 1
    return found


@njit(cache=True, nogil=True)
def _detours(
    first, last, in_offsets, in_sources, out_offsets, out_targets, steps, order, count, members, reach, detour, seeds, queue,
    starts,
):  # fmt: skip
    """Write to `detour` the steps of members[first + 1:last] to the target without members[first]; above `reach`: no path.

    `detour` is 0 for all pages before, and stays so for others. Those keep their steps, so that a detour leaves the range
    at once or leads through another page that does.
    """
    blocker = members[first]
    for k in range(first, last):
        detour[members[k]] = reach + 1
    if 2 * (last - first) > count:
        seeded = _enter(in_offsets, in_sources, steps, order, count, blocker, reach, detour, seeds)
    else:
        seeded = _leave(first, last, out_offsets, out_targets, steps, members, reach, detour, seeds, starts)
    detour[blocker] = 0
    # Two queues, each in order of steps: those that leave at once, and those found on the way.
    a = b = queued = 0
    while a < seeded or b < queued:
        if b == queued or (a < seeded and detour[seeds[a]] <= detour[queue[b]]):
            page = seeds[a]
            a += 1
        else:
            page = queue[b]
            b += 1
        after = detour[page] + 1
        for e in range(in_offsets[page], in_offsets[page + 1]):
            source = in_sources[e]
            if detour[source] > after:
                detour[source] = after
                queue[queued] = source
                queued += 1


@njit(cache=True, nogil=True)
def survey(begin, end, in_offsets, in_sources, out_offsets, out_targets, levels, reach, far):
    """(steps, counts, blockers, at, changes, lost): shortest paths to targets `begin` to `end`, and what avoiding changes.

    `steps[t, x]` is the number of steps from x to target begin + t, `far` + 1 if they are more than `far`, NONE if they
    are more than `reach` or there is no path. The others list in turn, `counts[t]` for each target: if the page
    `blockers` is to be avoided, then the sum over pages x on level `at` of 1 / 2^(steps to target + steps to blocker)
    changes by `changes`, and `lost` of these x no longer reach the target. Only levels up to `levels`, if any.

    Avoiding j lengthens the ways of just those x whose shortest paths to the target i all lead through j: those below j
    in the dominator tree of the shortest paths. The level of such an x is its distance to j, which avoiding i does not
    change. Cost for a target: its ancestors' links, and the links of each x for each page that blocks it.
    """
    pages = len(in_offsets) - 1
    length = np.empty(pages, dtype=np.int32)
    order, above, depth, size, place, members, room, detour, seeds, queue = np.empty((10, pages), dtype=np.int32)
    detour[:] = 0
    starts = np.empty(pages + 2, dtype=np.int32)
    steps = np.full((end - begin, pages), NONE, dtype=np.uint8)
    counts = np.zeros(end - begin, dtype=np.int64)
    blockers, at = np.empty(1024, dtype=np.int32), np.empty(1024, dtype=np.uint8)
    changes, lost = np.empty(1024, dtype=np.float64), np.empty(1024, dtype=np.int32)
    power = np.zeros(max(pages, far) + 2, dtype=np.float64)
    for k in range(far + 1):
        power[k] = 0.5**k
    change, gone = np.zeros(levels + 1, dtype=np.float64), np.zeros(levels + 1, dtype=np.int32)
    reach = min(reach, pages)
    n = 0
    for target in range(begin, end):
        count = _search(target, in_offsets, in_sources, reach, length, order)
        row = steps[target - begin]
        for k in range(count):
            row[order[k]] = min(length[order[k]], far + 1)
        if levels == 0:
            continue
        _dominators(target, out_offsets, out_targets, length, order, count, above, depth)
        _lay_out(order, count, above, size, place, members, room)
        before = n
        for k in range(1, count):
            blocker = order[k]
            if size[blocker] == 1:
                continue
            first, last = place[blocker], place[blocker] + size[blocker]
            _detours(
                first, last, in_offsets, in_sources, out_offsets, out_targets, length, order, count, members, reach, detour,
                seeds, queue, starts,
            )  # fmt: skip
            top = 0
            for m in range(first + 1, last):
                page = members[m]
                level = length[page] - length[blocker]
                if level <= levels:
                    top = max(top, level)
                    now = power[detour[page]] if detour[page] <= reach else 0.0
                    change[level] += power[level] * (now - power[length[page]])
                    gone[level] += detour[page] > reach
                detour[page] = 0
            if n + top > len(at):
                blockers, at = _doubled(blockers), _doubled(at)
                changes, lost = _doubled(changes), _doubled(lost)
            for level in range(1, top + 1):
                if change[level] != 0.0 or gone[level] != 0:
                    blockers[n], at[n], changes[n], lost[n] = blocker, level, change[level], gone[level]
                    n += 1
                change[level] = 0.0
                gone[level] = 0
        counts[target - begin] = n - before
    return steps, counts, blockers[:n].copy(), at[:n].copy(), changes[:n].copy(), lost[:n].copy()


@njit(cache=True, nogil=True)
def _doubled(array):
    longer = np.empty(2 * len(array), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


@njit(cache=True, nogil=True)
def spread(begin, end, steps, bits):
    """Set bit x of bits[i, d - 1] for pages i from `begin` to `end` and x with d steps to i, d from 1 to bits.shape[1]."""
    for i in range(begin, end):
        for x in range(steps.shape[1]):
            d = steps[i, x]
            if d != 0 and d != NONE:
                bits[i, d - 1, x >> 6] |= uint64(1) << uint64(x & 63)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _count_bits(mine, other, top, levels, power, sums, common, shared):
    """Add up, for each level, what its pages contribute and how many there are, by bits; `shared` by the greater distance."""
    for level in range(1, min(levels, top) + 1):
        a, b = mine[level - 1], other[level - 1]
        for far in range(level, top + 1):
            c, d = mine[far - 1], other[far - 1]
            ones = uint64(0)
            for w in range(len(a)):
                ones += _ones((a[w] & d[w]) | (c[w] & b[w]))
            seen = np.int64(ones)
            sums[level] += seen * power[level] * power[far]
            common[level] += seen
            shared[far] += seen


@njit(cache=True, nogil=True)
def _count_listed(pages, mine, other, levels, least, power, sums, common, shared):
    """Add up as `_count_bits` does, by a list of pages: of those on the level, and at least `least` steps from `mine`."""
    for x in pages:
        p, q = mine[x], other[x]
        level, far = min(p, q), max(p, q)
        if level != 0 and far != NONE and level <= levels and p >= least:
            sums[level] += power[level] * power[far]
            common[level] += 1
            shared[far] += 1


@njit(cache=True, nogil=True)
def common_ancestors(
    begin, end, steps, bits, tops, totals, near, levels, far, by_union, offsets, others, at, changes, lost, weight, out
):  # fmt: skip
    """Add weight * S^anc (eq. 3) of pages i from `begin` to `end` and all j > i to out[i, j].

    `steps`, `bits`, `totals` and `near` are those of `survey`, `spread` and `list_nearest`, and tops[i] is the most steps
    to page i. What avoiding changes is listed for page i from offsets[i] to offsets[i + 1], whichever page of the pair
    (i, others) is avoided. All sums are exact until the division, so the way they are made makes no difference. Cost for
    a pair, whichever is least: the ancestors of one, those of both within `levels` steps, or pages / 64 for each level and
    each greater distance.
    """
    pages = len(steps)
    change = np.zeros((end - begin, pages, levels + 1), dtype=np.float64)
    gone = np.zeros((end - begin, pages, levels + 1) if not by_union else (1, 1, 1), dtype=np.int32)
    for i in range(begin, end):
        for e in range(offsets[i], offsets[i + 1]):
            change[i - begin, others[e], at[e]] += changes[e]
            if not by_union:
                gone[i - begin, others[e], at[e]] += lost[e]
    power = np.zeros(far + 2, dtype=np.float64)
    for k in range(far + 1):
        power[k] = 0.5**k
    sums = np.zeros(levels + 1, dtype=np.float64)
    common = np.zeros(levels + 1, dtype=np.int64)
    shared = np.zeros(far + 2, dtype=np.int64)
    room = near.shape[1]
    for j in range(begin + 1, pages):
        for i in range(begin, min(end, j)):
            mine, other = totals[i], totals[j]
            fewest = min(mine[levels + 1], other[levels + 1])
            if fewest == 0:
                continue
            top = max(tops[i], tops[j])
            least = min(levels, top)
            by_bits = least * (2 * top - least + 1) // 2 * bits.shape[2] // 8
            by_near = mine[levels] + other[levels]
            if fewest <= room and fewest <= by_near and fewest <= by_bits:
                one = near[i] if mine[levels + 1] == fewest else near[j]
                _count_listed(one[:fewest], steps[i], steps[j], levels, 0, power, sums, common, shared)
            elif max(mine[levels], other[levels]) <= room and by_near <= by_bits:
                _count_listed(near[i, : mine[levels]], steps[i], steps[j], levels, 0, power, sums, common, shared)
                _count_listed(
                    near[j, : other[levels]], steps[i], steps[j], levels, levels + 1, power, sums, common, shared
                )
            else:
                _count_bits(bits[i], bits[j], top, levels, power, sums, common, shared)
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


@njit(cache=True, nogil=True)
def list_reached(begin, end, steps, starts, pages, lengths):
    """List from starts[x] on, for pages x from `begin` to `end`, the pages with a path from x, the nearest first."""
    places = np.zeros((end - begin, NONE + 1), dtype=np.int64)
    for j in range(len(steps)):
        for x in range(begin, end):
            places[x - begin, steps[j, x]] += 1
    for x in range(begin, end):
        place = starts[x]
        for d in range(1, NONE):
            places[x - begin, d], place = place, place + places[x - begin, d]
    for j in range(len(steps)):
        for x in range(begin, end):
            d = steps[j, x]
            if d != 0 and d != NONE:
                pages[places[x - begin, d]] = j
                lengths[places[x - begin, d]] = d
                places[x - begin, d] += 1


@njit(cache=True, nogil=True)
def halves_of_ancestors(
    begin, end, steps, starts, reached, lengths, totals, levels, far, offsets, targets, at, changes, weight, out
):  # fmt: skip
    """Add to out[i, j], for pages i from `begin` to `end` and all j, the terms of weight * S^anc with i on the near side.

    That is, of common ancestors with fewer steps to i than to j, and half of those with as many. `starts`, `reached` and
    `lengths` are those of `list_reached`; what avoiding i changes on the way to `targets` is listed for page i from
    offsets[i] to offsets[i + 1]. Divides by the union. Cost for a page: what the pages within `levels` steps of it reach.
    """
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
                here[reached[e]] += term[lengths[e]]
                shared[max(a, lengths[e]), reached[e]] += 1
                e += 1
            for f in range(e, starts[x + 1]):
                here[reached[f]] += term[lengths[f]]
        for e in range(offsets[i], offsets[i + 1]):
            sums[at[e], targets[e]] += changes[e]
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


@njit(cache=True, nogil=True)
def direct_paths(begin, end, steps, far, weight, out):
    """Add weight / 2^steps[i, x] to out[i, x] for pages i from `begin` to `end`: one half of S^spl (eq. 2)."""
    for i in range(begin, end):
        for x in range(steps.shape[1]):
            if 0 < steps[i, x] <= far:
                out[i, x] += weight * 0.5 ** steps[i, x]


@njit(cache=True, nogil=True)
def fold(begin, end, out):
    """Make out[i, j] and out[j, i] their sum, for pages i from `begin` to `end` and all j > i; 0 for i = j."""
    for i in range(begin, end):
        out[i, i] = 0.0
        for j in range(i + 1, len(out)):
            both = out[i, j] + out[j, i]
            out[i, j] = both
            out[j, i] = both
