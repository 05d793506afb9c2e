"""Shortest paths between pages, and the detours where one page is avoided.

Everything is said of ancestors. For descendants, the arrays of links in and out change places.
"""

import numpy as np
from numba import njit

FAR = 32
"""The longest path that adds to a similarity; all longer ones would add at most 2^-FAR to each of its three terms."""
NONE = 255
"""In place of a number of steps: there is no path."""


@njit(cache=True, nogil=True)
def label_parts(in_offsets, in_sources, out_offsets, out_targets):
    """Return the part of the graph that each page is in, numbered by their first pages; no links lead between parts."""
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
    """Find the shortest paths to targets `begin` to `end`, and what avoiding a page changes.

    Return (steps, counts, blockers, at, changes, lost).

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
                blockers, at = _double(blockers), _double(at)
                changes, lost = _double(changes), _double(lost)
            for level in range(1, top + 1):
                if change[level] != 0.0 or gone[level] != 0:
                    blockers[n], at[n], changes[n], lost[n] = blocker, level, change[level], gone[level]
                    n += 1
                change[level] = 0.0
                gone[level] = 0
        counts[target - begin] = n - before
    return steps, counts, blockers[:n].copy(), at[:n].copy(), changes[:n].copy(), lost[:n].copy()


@njit(cache=True, nogil=True)
def _double(array):
    """Return a copy with twice the room."""
    longer = np.empty(2 * len(array), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
