"""Resolve link addresses that are plain paths, which nearly all are; a URL parser takes several times as long."""

import numpy as np
import numpy.typing as npt

from pagekin.hypertext._kernels.borrow import borrow
from pagekin.hypertext._kernels.intern import digest_of, intern, slot_shift
from pagekin.store import kernel

FOLDER, FIXED, NEVER, WHOLE, ORIGIN = range(5)
"""What a link address is relative to: its page's folder, nothing, its page's whole address or origin; NEVER leads to no page."""
NO_PAGE, NOT_PLAIN = -1, -2
"""In place of the number of a URL: the link leads to no page; only a URL parser can tell."""
IN_PATH, IN_QUERY, IN_SCHEME, LETTER = 1, 2, 4, 8
"""Bits of what a byte may be part of: a canonical path, a canonical query, a scheme; and whether it is a letter."""
CASES, URLS = range(2)
"""In the state of a resolver: how many cases and how many URLs it knows."""
_SLASH, _DOT, _COLON, _QUESTION, _HASH, _BACKSLASH, _SPACE = (ord(c) for c in "/.:?#\\ ")


def byte_classes() -> npt.NDArray[np.uint8]:
    """Return (256,) uint8: the bits of each byte."""
    classes = np.zeros(256, np.uint8)
    letters = bytes(range(ord("a"), ord("z") + 1)) + bytes(range(ord("A"), ord("Z") + 1))
    digits = b"0123456789"
    for characters, bits in (
        (letters + digits + b"_-.~!$&()*+,;=:@/", IN_PATH | IN_QUERY),
        (b"%?", IN_QUERY),
        (letters + digits + b"+.-", IN_SCHEME),
        (letters, LETTER),
    ):
        for character in characters:
            classes[character] |= bits
    return classes


@kernel
def _is_web_scheme(data, start, end):
    """Return the length of "http:" or "https:" in any case at the beginning of data[start:end]; 0 if it begins otherwise."""
    if end - start < 5:
        return 0
    if (
        data[start] | 32 != 104
        or data[start + 1] | 32 != 116
        or data[start + 2] | 32 != 116
        or data[start + 3] | 32 != 112
    ):
        return 0
    if data[start + 4] == _COLON:
        return 5
    return 6 if end - start >= 6 and data[start + 4] | 32 == 115 and data[start + 5] == _COLON else 0


@kernel
def kind_of(data, start, end, classes):
    """Return what the link address data[start:end] is relative to."""
    if start == end:
        return WHOLE
    first = data[start]
    if first in (_QUESTION, _HASH, _BACKSLASH) or first <= _SPACE:
        return WHOLE
    if first == _SLASH:
        return WHOLE if end - start > 1 and (data[start + 1] == _SLASH or data[start + 1] == _BACKSLASH) else ORIGIN
    web = _is_web_scheme(data, start, end)
    if web:
        after = start + web
        return FIXED if end - after >= 2 and data[after] == _SLASH and data[after + 1] == _SLASH else WHOLE
    if classes[first] & LETTER:
        at = start + 1
        while at < end and classes[data[at]] & IN_SCHEME:
            at += 1
        if at < end and data[at] == _COLON:
            return NEVER
    return FOLDER


@kernel
def _is_plain(data, start, end, classes):
    """Return whether data[start:end], after a slash, ends a canonical address: no dot begins a part of the path."""
    begins, allowed = True, IN_PATH
    for at in range(start, end):
        byte = data[at]
        if allowed == IN_PATH:
            if byte == _QUESTION:
                allowed = IN_QUERY
                continue
            if begins and byte == _DOT:
                return False
            begins = byte == _SLASH
        if not classes[byte] & allowed:
            return False
    return True


@kernel
def _case_place(case, cases, secret):
    """Return the place of a case in the table, or the empty one where it belongs."""
    places = len(cases) // 2
    at = np.int64((np.uint64(case) * secret) >> np.uint64(slot_shift(len(cases)))) & (places - 1)
    while cases[2 * at + 1] and cases[2 * at] != case:
        at = (at + 1) & (places - 1)
    return at


@kernel
def enter_case(case, number, cases, secret):
    """Enter a case that is not in the table, with the number of its URL."""
    at = _case_place(case, cases, secret)
    cases[2 * at], cases[2 * at + 1] = case, number + 2  # 0 is for empty places


@kernel
def enter_cases(keys, numbers, cases, state, secret):
    """Enter cases that are not in the table, which has room for them."""
    for row in range(len(keys)):
        enter_case(keys[row], numbers[row], cases, secret)
    state[CASES] += len(keys)


@kernel
def move_cases(old, new, secret):
    """Enter all cases of one table into another, which is empty."""
    for at in range(0, len(old), 2):
        if old[at + 1]:
            enter_case(old[at], old[at + 1] - 2, new, secret)


@kernel
def _number(length, slots, shift, bounds, arena, state, key):
    """Return the number of the URL of this length at the arena's end, given a table's arrays, borrowed, and its `slot_shift`."""
    count = state[URLS]
    digest = digest_of(arena, bounds[count], length, key, 0)
    number = intern(length, digest, slots, shift, bounds, arena, count)
    state[URLS] += number == count
    return number


@kernel
def number_urls(data, ends, urls, state, key, numbers):
    """Write the number of each URL, new ones numbered as they come; `urls` has room for all of them.

    URL i ends at ends[i] of `data`, where the next one begins. Cost: reading them.
    """
    shift = slot_shift(len(urls.slots))
    slots, bounds, arena = borrow(urls.slots), borrow(urls.bounds), borrow(urls.arena)
    start = 0
    for row in range(len(ends)):
        fresh = bounds[state[URLS]]
        for at in range(start, ends[row]):
            arena[fresh + at - start] = data[at]
        numbers[row] = _number(ends[row] - start, slots, shift, bounds, arena, state, key)
        start = ends[row]


@kernel
def resolve_links(first, used, pages, own, contexts, bases, roots, classes, hrefs, cases, urls, state, key, numbers):
    """Write the number of each link's URL from link `first` on, NO_PAGE or NOT_PLAIN; return where to go on with more room.

    `used` (int64) are the links' addresses among `hrefs`, (data, bounds); `pages` (int64) their pages; `own` (int64) the
    number of each page's own URL, where an empty address leads, or NOT_PLAIN; `contexts` (pages, 5) the numbers of what the kinds
    of addresses are relative to. `bases` is (data, bounds): the folder of each page, canonical and with
    its last slash; `roots` (int64) how long the folder's origin with its slash is. `cases`
    (int64, 2 x places) has for each pair of address and context the number of the URL; `urls` are a `Strings`, `key` is
    their key, `state` says how full both are. Cost: a look-up for each link, reading the addresses of new cases.
    """
    secret = np.uint64(key[3])
    data, bounds = hrefs
    folders, folder_bounds = bases
    shift = slot_shift(len(urls.slots))
    slots, url_bounds, arena = borrow(urls.slots), borrow(urls.bounds), borrow(urls.arena)
    for row in range(first, len(used)):
        start, end = bounds[used[row]], bounds[used[row] + 1]
        page = pages[row]
        if start == end and own[page] != NOT_PLAIN:
            numbers[row] = own[page]
            continue
        kind = kind_of(data, start, end, classes)
        case = contexts[page, kind] << 32 | used[row]
        at = _case_place(case, cases, secret)
        if cases[2 * at + 1]:
            numbers[row] = cases[2 * at + 1] - 2
            continue
        number = NOT_PLAIN
        if kind == NEVER:
            number = NO_PAGE
        elif kind in (FOLDER, ORIGIN):
            begin = folder_bounds[page]
            root = begin + roots[page]
            if kind == ORIGIN:
                last, start = root, start + 1
            else:
                last = folder_bounds[page + 1]
                while (
                    end - start >= 3 and data[start] == _DOT and data[start + 1] == _DOT and data[start + 2] == _SLASH
                ):
                    if last == root:
                        last = -1  # nothing is above the root
                        break
                    start += 3
                    last -= 1
                    while folders[last - 1] != _SLASH:
                        last -= 1
            if last >= 0 and _is_plain(data, start, end, classes):
                length = last - begin + end - start
                fresh = url_bounds[state[URLS]]
                if 4 * (state[URLS] + 1) > len(urls.slots) or fresh + length + 16 > len(urls.arena):
                    return row
                for i in range(last - begin):
                    arena[fresh + i] = folders[begin + i]
                fresh += last - begin
                for i in range(end - start):
                    arena[fresh + i] = data[start + i]
                number = _number(length, slots, shift, url_bounds, arena, state, key)
        numbers[row] = number
        if number != NOT_PLAIN:
            if 4 * (state[CASES] + 1) > len(cases):
                return row
            enter_case(case, number, cases, secret)
            state[CASES] += 1
    return len(used)
