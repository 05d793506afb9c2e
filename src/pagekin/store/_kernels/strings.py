"""Look up many strings in a sorted table at once, and copy many strings out of a table."""

from pagekin.store.kernels import kernel


@kernel
def _is_before(data, begin, end, other_data, other, other_end):
    """Return whether data[begin:end] comes before other_data[other:other_end] in the order of bytes."""
    while begin < end and other < other_end:
        if data[begin] != other_data[other]:
            return data[begin] < other_data[other]
        begin += 1
        other += 1
    return begin == end and other < other_end


@kernel
def find_strings(data, offsets, order, keys, key_offsets, key_order, places, equal):
    """Write the insertion place of each key among the strings (int64), and whether the string there is equal (bool).

    Strings stand in the order of their bytes, or `order` (int64) lists their numbers so; it is empty where they do. `key_order`
    lists the numbers of the keys likewise. Keys may come in any order; the search for one that does not come before the one
    looked for last begins there, in doubling steps: keys in order cost O(keys log (strings / keys)) comparisons.
    """
    count = len(offsets) - 1
    place, last = 0, -1
    for i in range(len(places)):
        key = key_order[i] if len(key_order) > 0 else i
        begin, end = key_offsets[key], key_offsets[key + 1]
        low, high = 0, count
        if last >= 0 and not _is_before(keys, begin, end, keys, key_offsets[last], key_offsets[last + 1]):
            low, step = place, 1
            while low + step <= count:
                number = order[low + step - 1] if len(order) > 0 else low + step - 1
                if not _is_before(data, offsets[number], offsets[number + 1], keys, begin, end):
                    high = low + step - 1
                    break
                low += step
                step *= 2
        while low < high:
            middle = (low + high) // 2
            number = order[middle] if len(order) > 0 else middle
            if _is_before(data, offsets[number], offsets[number + 1], keys, begin, end):
                low = middle + 1
            else:
                high = middle
        place, last = low, key
        places[key] = place
        equal[key] = False
        if place < count:
            number = order[place] if len(order) > 0 else place
            equal[key] = offsets[number + 1] - offsets[number] == end - begin and not _is_before(
                keys, begin, end, data, offsets[number], offsets[number + 1]
            )


@kernel
def take_strings(data, offsets, places, out):
    """Copy the strings at some places (int64) to `out`, one after another; O(bytes)."""
    at = 0
    for i in range(len(places)):
        for j in range(offsets[places[i]], offsets[places[i] + 1]):
            out[at] = data[j]
            at += 1
