"""Shortest paths between pages, and the detours where one page is avoided.

Everything is said of ancestors. For descendants, the arrays of links in and out change places.
"""

from typing import Any, NamedTuple

import numpy as np

from pagekin.store import kernel

FAR = 32
"""The longest path that adds to a similarity; all longer ones would add at most 2^-FAR to each of its three terms."""
NONE = 255
"""In place of a number of steps: there is no path."""


class Links(NamedTuple):
    """The links between pages, by target and by source."""

    in_offsets: Any
    """int64 (pages + 1)"""
    in_sources: Any
    """int32 (links): the pages that link to each page."""
    out_offsets: Any
    """int64 (pages + 1)"""
    out_targets: Any
    """int32 (links): the pages that each page links to."""


class Tree(NamedTuple):
    """The shortest paths to one target, and the tree of their dominators; int32 (pages) each."""

    steps: Any
    """From each page to the target; -1 where there are more than the search reaches."""
    order: Any
    """The pages with a path, by their steps."""
    above: Any
    """The first page that all shortest paths from a page have in common."""
    depth: Any
    """How many such pages there are one above another."""
    size: Any
    """How many pages are below a page in the tree, itself included."""
    place: Any
    """Where these pages begin in `members`."""
    members: Any
    room: Any
    """Room to work in."""


class Detours(NamedTuple):
    """Scratch arrays for finding detours; int32 (pages) each."""

    steps: Any
    """To the target without the page that is avoided; 0 for all pages before and after."""
    seeds: Any
    queue: Any
    starts: Any
    """(pages + 2)"""


@kernel
def _search(target, links, reach, tree):
    """Write the steps from each page to `target` (-1 where it takes more than `reach`) and the pages by steps; count them."""
    steps, order = tree.steps, tree.order
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
        for e in range(links.in_offsets[page], links.in_offsets[page + 1]):
            source = links.in_sources[e]
            if steps[source] < 0:
                steps[source] = steps[page] + 1
                order[count] = source
                count += 1
    return count


@kernel
def _dominators(target, links, count, tree):
    """Write to `above` the first page that all shortest paths from a page to `target` have in common, and its depth.

    That page is the nearest common one of the next pages on these paths, in the tree made so far.
    """
    steps, order, above, depth = tree.steps, tree.order, tree.above, tree.depth
    above[target] = target
    depth[target] = 0
    for k in range(1, count):
        page = order[k]
        common = target
        if steps[page] > 1:
            common = -1
            for e in range(links.out_offsets[page], links.out_offsets[page + 1]):
                other = links.out_targets[e]
                if steps[other] != steps[page] - 1:
                    continue
                if common < 0:
                    common = other
                while common != other:
                    if depth[common] >= depth[other]:
                        common = above[common]
                    else:
                        other = above[other]
                if common == target:
                    break
        above[page] = common
        depth[page] = depth[common] + 1


@kernel
def _lay_out(count, tree):
    """Write the pages of the tree `above` to `members`, so that page p and those below it are size[p] from place[p] on."""
    order, above, size, place = tree.order, tree.above, tree.size, tree.place
    members, room = tree.members, tree.room
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


@kernel
def _leave(first, last, links, reach, tree, detours):
    """Find a way out of members[first:last] for each but the first: shorten `detour`; list those with one, by its steps.

    Return their number, or 0 if all have found a way one step longer than before: there can be no better one.
    """
    steps, members = tree.steps, tree.members
    detour, seeds, starts = detours.steps, detours.seeds, detours.starts
    open_ones = 0
    low, high = reach + 1, 0
    for k in range(first + 1, last):
        page = members[k]
        best = reach + 1
        shortest = steps[page] + 1
        for e in range(links.out_offsets[page], links.out_offsets[page + 1]):
            other = links.out_targets[e]
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


@kernel
def _enter(blocker, links, count, reach, tree, detours):
    """Do the same as `_leave`, following links from outside the range: less work if the range holds most pages."""
    steps, order = tree.steps, tree.order
    detour, seeds = detours.steps, detours.seeds
    seeded = 0
    for k in range(count):
        other = order[k]
        if detour[other] > 0 or steps[other] >= reach:
            continue
        for e in range(links.in_offsets[other], links.in_offsets[other + 1]):
            page = links.in_sources[e]
            if detour[page] > reach and page != blocker:
                seeds[seeded] = page
                seeded += 1
                detour[page] = steps[other] + 1
    return seeded


@kernel
def _find_detours(first, last, links, count, reach, tree, detours):
    """Write to `detours.steps` the steps of members[first + 1:last] to the target without members[first]; above `reach`: no path.

    They are 0 for all pages before, and stay so for others. Those keep their steps, so that a detour leaves the range
    at once or leads through another page that does.
    """
    members = tree.members
    detour, seeds, queue = detours.steps, detours.seeds, detours.queue
    blocker = members[first]
    for k in range(first, last):
        detour[members[k]] = reach + 1
    if 2 * (last - first) > count:
        seeded = _enter(blocker, links, count, reach, tree, detours)
    else:
        seeded = _leave(first, last, links, reach, tree, detours)
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
        for e in range(links.in_offsets[page], links.in_offsets[page + 1]):
            source = links.in_sources[e]
            if detour[source] > after:
                detour[source] = after
                queue[queued] = source
                queued += 1


@kernel
def survey(begin, end, links, levels, reach, far):
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
    pages = len(links.in_offsets) - 1
    length, order, above, depth, size, place, members, room = np.empty((8, pages), dtype=np.int32)
    tree = Tree(length, order, above, depth, size, place, members, room)
    detour, seeds, queue = np.zeros((3, pages), dtype=np.int32)
    detours = Detours(detour, seeds, queue, np.empty(pages + 2, dtype=np.int32))
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
        count = _search(target, links, reach, tree)
        row = steps[target - begin]
        for k in range(count):
            row[order[k]] = min(length[order[k]], far + 1)
        if levels == 0:
            continue
        _dominators(target, links, count, tree)
        _lay_out(count, tree)
        before = n
        for k in range(1, count):
            blocker = order[k]
            if size[blocker] == 1:
                continue
            first, last = place[blocker], place[blocker] + size[blocker]
            _find_detours(first, last, links, count, reach, tree, detours)
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


@kernel
def _double(array):
    """Return a copy with twice the capacity."""
    longer = np.empty(2 * len(array), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
