"""Sort and gather many byte strings at once, and merge several sorted lists.

Strings are compared eight bytes at a time, so eight bytes after the last one are read, too.
"""

import numpy as np

from pagekin.hypertext._kernels.borrow import array_at, borrow, load
from pagekin.hypertext._kernels.intern import head
from pagekin.store import kernel, sort_by_keys

AHEAD = 8


@kernel
def _key(data, start, length):
    """Return the first eight bytes of a string of `length` as a number that orders as they do; zeros after its end."""
    if length <= 0:
        return np.uint64(0)
    eight = load(data, start)
    if length < 8:
        eight = head(eight, length)
    half = np.uint64(32)
    eight = (eight >> half) | (eight << half)
    low, by = np.uint64(0x0000FFFF0000FFFF), np.uint64(16)
    eight = ((eight >> by) & low) | ((eight & low) << by)
    low, by = np.uint64(0x00FF00FF00FF00FF), np.uint64(8)
    return ((eight >> by) & low) | ((eight & low) << by)


@kernel
def _compare(data, start, length, other_data, other, other_length):
    """Return -1, 0 or 1, as the first string comes before, equals or comes after the second."""
    shorter = min(length, other_length)
    at = 0
    while at + 8 <= shorter:
        if load(data, start + at) != load(other_data, other + at):
            break
        at += 8
    key, other_key = _key(data, start + at, length - at), _key(other_data, other + at, other_length - at)
    if key != other_key:
        return -1 if key < other_key else 1
    return 0 if length == other_length else -1 if length < other_length else 1


@kernel
def sort_strings(data, bounds, order, places):
    """Sort the strings; return how many distinct ones there are.

    `order` becomes the distinct strings' numbers in order, equal ones once, `places` the place of each string
    among them. Radix sort by eight bytes, each level by merge sort: O(bytes + n log n) in any order.
    """
    data, bounds = borrow(data), borrow(bounds)
    count = len(order)
    keys = np.empty(count, dtype=np.uint64)
    for i in range(count):
        order[i] = i
    waiting = [(0, count, 0)]
    while len(waiting) > 0:
        low, high, depth = waiting.pop()
        for i in range(low, high):
            start = bounds[order[i]] + depth
            keys[i] = _key(data, start, bounds[order[i] + 1] - start)
        sort_by_keys(keys[low:high], order[low:high])
        first = low
        while first < high:
            last = first + 1
            while last < high and keys[last] == keys[first]:
                last += 1
            if last - first > 1:
                # Those that end here come first, the shorter before the longer (they differ in zeros at their ends).
                for i in range(first, last):
                    keys[i] = np.uint64(min(bounds[order[i] + 1] - bounds[order[i]] - depth, 9))
                sort_by_keys(keys[first:last], order[first:last])
                longer = first
                while longer < last and keys[longer] <= 8:
                    longer += 1
                if last - longer > 1:
                    waiting.append((longer, last, depth + 8))
            first = last
    distinct = 0
    for i in range(count):
        number = order[i]
        if i > 0:
            before = order[distinct - 1]
            start, other = bounds[number], bounds[before]
            if _compare(data, start, bounds[number + 1] - start, data, other, bounds[before + 1] - other) == 0:
                places[number] = distinct - 1
                continue
        order[distinct] = number
        places[number] = distinct
        distinct += 1
    return distinct


@kernel
def gather_strings(data, bounds, order, out, ends):
    """Copy the strings that `order` names to `out`, one after another, and write where each ends; O(bytes)."""
    at = 0
    for i in range(len(order)):
        for j in range(bounds[order[i]], bounds[order[i] + 1]):
            out[at] = data[j]
            at += 1
        ends[i] = at


@kernel(inline=True)
def _list_at(lists, one):
    """Return (data, bounds) of a list of strings, borrowed."""
    count = lists[one, 3]
    bounds = array_at(lists[one, 1], count + 1, np.int64)
    return array_at(lists[one, 0], bounds[count] + AHEAD, np.uint8), bounds


@kernel
def _compare_heads(lists, cursors, one, other):
    """Return whether the next string of list `one` comes before that of `other`, or equals it."""
    data, bounds = _list_at(lists, one)
    other_data, other_bounds = _list_at(lists, other)
    start, other_start = bounds[cursors[one]], other_bounds[cursors[other]]
    length = bounds[cursors[one] + 1] - start
    other_length = other_bounds[cursors[other] + 1] - other_start
    return _compare(data, start, length, other_data, other_start, other_length) <= 0


@kernel
def _sink(heap, size, place, lists, cursors):
    """Bring the list at heap[place] down to where it belongs."""
    moving = heap[place]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and not _compare_heads(lists, cursors, heap[child], heap[child + 1]):
            child += 1
        if _compare_heads(lists, cursors, moving, heap[child]):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = moving


@kernel
def merge_strings(lists, cursors, heap, state, out, ends):
    """Merge sorted lists of strings, until `out` or `ends` is full; return how many distinct strings were written.

    `lists` holds, for each, the addresses of its data, its bounds and the numbers (four bytes each) that its
    strings are to get, and how many strings there are. `state` is (lists left, distinct strings so far), and
    `heap` has the lists in it; both and `cursors` go on from call to call. O(n log lists) comparisons.
    """
    if state[1] == 0:
        for place in range(state[0] // 2 - 1, -1, -1):
            _sink(heap, state[0], place, lists, cursors)
    written = at = 0
    while state[0] > 0:
        one = heap[0]
        data, bounds = _list_at(lists, one)
        start = bounds[cursors[one]]
        length = bounds[cursors[one] + 1] - start
        fresh = written == 0 or length != at - _start(ends, written)
        if not fresh:
            fresh = _compare(data, start, length, borrow(out), _start(ends, written), length) != 0
        if fresh:
            if written == len(ends) or at + length + AHEAD > len(out):
                break
            for i in range(length):
                out[at + i] = data[start + i]
            at += length
            ends[written] = at
            written += 1
            state[1] += 1
        numbers = array_at(lists[one, 2], lists[one, 3], np.uint32)
        numbers[cursors[one]] = state[1] - 1
        cursors[one] += 1
        if cursors[one] == lists[one, 3]:
            state[0] -= 1
            heap[0] = heap[state[0]]
        _sink(heap, state[0], 0, lists, cursors)
    return written


@kernel
def _start(ends, count):
    """Return where the last of `count` strings starts."""
    return ends[count - 2] if count > 1 else 0
