"""Resolve link addresses of the common forms to URLs; all others are left to the URL library."""

import numpy as np

from pagekin.hypertext._kernels.borrow import borrow
from pagekin.hypertext._kernels.intern import digest_of, intern, slot_shift
from pagekin.hypertext._kernels.markup import lower
from pagekin.store import kernel

FIXED, ORIGIN, FOLDER, WHOLE, NEVER = range(5)
"""What a link address is relative to: nothing, its page's origin, folder or whole address; NEVER leads to no page."""
NO_PAGE = -1
ODD = -2
"""The answer for an address that only the URL library can resolve."""
KNOWN, URLS = range(2)
"""Places in `state`: how many cases and URLs there are."""

_SPARE = 72  # bytes that `intern` may read beyond a string, and what a scheme and a host may add to it
_PATH, _QUERY, _HOST, _SCHEME = 1, 2, 4, 8


def _classes():
    """Return, for each byte, where it may stand in a canonical URL as it is, and in a scheme as written."""
    letters, digits = b"abcdefghijklmnopqrstuvwxyz", b"0123456789"
    classes = np.zeros(256, dtype=np.uint8)
    classes[list(letters + letters.upper() + digits + b"-._~!$&()*+,;=:@%/")] |= _PATH
    classes[[byte for byte in range(0x21, 0x7F) if byte not in b"\"#<>'"]] |= _QUERY
    classes[list(letters + digits + b"-")] |= _HOST
    classes[list(letters + letters.upper() + digits + b"+.-")] |= _SCHEME
    return classes


_CLASSES = _classes()


@kernel
def _kind(data, start, end):
    """Return what the address data[start:end] is relative to."""
    if start == end:
        return WHOLE
    first = data[start]
    if 97 <= lower(first) <= 122:
        at = start + 1
        while at < end and _CLASSES[data[at]] & _SCHEME:
            at += 1
        if at < end and data[at] == 58:
            http = at - start >= 4
            for i, letter in enumerate((104, 116, 116, 112)):
                http = http and lower(data[start + i]) == letter
            # "http:page.html" is relative to a page of the same scheme; mail, scripts and the like are no pages.
            if not http or (at - start > 4 and lower(data[start + 4]) != 115):
                return NEVER
            slashes = at + 2 < end and data[at + 1] == 47 and data[at + 2] == 47
            return FIXED if slashes and at - start <= 5 else WHOLE
        return FOLDER
    if first == 47:
        return WHOLE if start + 1 < end and (data[start + 1] == 47 or data[start + 1] == 92) else ORIGIN
    return WHOLE if first == 63 or first == 92 or first == 32 or 9 <= first <= 13 else FOLDER


@kernel
def link_kinds(data, bounds, kinds):
    """Write what each of the addresses is relative to; O(bytes)."""
    for i in range(len(kinds)):
        kinds[i] = _kind(data, bounds[i], bounds[i + 1])


@kernel
def _host_end(data, start, end):
    """Return where the host of data[start:end], an absolute address, ends; -1 unless it is in canonical form already."""
    at = start + 4
    if data[start] != 104 or data[start + 1] != 116 or data[start + 2] != 116 or data[start + 3] != 112:
        return -1
    if data[at] == 115:
        at += 1
    at += 3
    label = at
    while at < end and (_CLASSES[data[at]] & _HOST or data[at] == 46):
        if data[at] == 46:
            if at == label:
                return -1
            label = at + 1
        # "xn--" is checked by the library, as any two hyphens in a row are here.
        elif data[at] == 45 and data[at - 1] == 45:
            return -1
        at += 1
    # A last label that begins with a digit may be part of a number: an address of four bytes.
    if at == label or data[label] < 97:
        return -1
    return at if at == end or data[at] == 47 else -1


@kernel
def _append_path(data, at, end, arena, root, fresh):
    """Resolve the path data[at:end] after the folder that arena[:fresh] ends with; return the new end, or ODD.

    `root` is where the path of what is in the arena begins, after its first slash.
    """
    while True:
        segment = at
        while at < end and data[at] != 47 and data[at] != 63:
            if not _CLASSES[data[at]] & _PATH:
                return ODD
            # "%2e" is a dot.
            if data[at] == 37 and at + 2 < end and data[at + 1] == 50 and lower(data[at + 2]) == 101:
                return ODD
            at += 1
        length = at - segment
        last = at == end or data[at] == 63
        if length == 2 and data[segment] == 46 and data[segment + 1] == 46:
            if fresh > root:
                fresh -= 1
                while arena[fresh - 1] != 47:
                    fresh -= 1
        elif not (length == 1 and data[segment] == 46):
            for i in range(segment, at):
                arena[fresh] = data[i]
                fresh += 1
            if not last:
                arena[fresh] = 47
                fresh += 1
        if last:
            break
        at += 1
    for i in range(at, end):
        if not _CLASSES[data[i]] & _QUERY:
            return ODD
        arena[fresh] = data[i]
        fresh += 1
    return fresh


@kernel
def _write_url(kind, data, start, end, names, name, name_end, arena, fresh):
    """Write the URL of an address in a context at arena[fresh:]; return where it ends, or ODD."""
    if kind == WHOLE and start < end:
        return ODD
    if kind == FIXED:
        names, name, name_end = data, start, _host_end(data, start, end)
        if name_end < 0:
            return ODD
        start = min(end, name_end + 1)
    at = fresh
    for i in range(name, name_end):
        arena[at] = names[i]
        at += 1
    if kind == WHOLE:
        return at
    if kind == FIXED:
        arena[at] = 47
        at += 1
    if kind == ORIGIN:
        start += 1
    root = fresh + 8
    while arena[root - 1] != 47 or root - fresh == 8:
        root += 1
    return _append_path(data, start, end, arena, root, at)


@kernel
def resolve_links(cases, first, answers, kinds, hrefs, names, known, urls, state):
    """Write the URL numbers of cases[first:] to `answers`; return how many are done when a table has no room for more.

    A case is the number of an address | that of its context << 32; `hrefs` and `names` are (data, bounds) of both.
    `known` holds two numbers for each entry, case + 1 and its answer; `urls` is a table of strings (see `intern`).
    An answer is NO_PAGE, or ODD for what is left to the caller. About 20 ns for a known case, 200 for another.
    """
    href_data, href_bounds = borrow(hrefs[0]), borrow(hrefs[1])
    name_data, name_bounds = borrow(names[0]), borrow(names[1])
    slots, bounds, arena = borrow(urls[0]), borrow(urls[1]), borrow(urls[2])
    shift = slot_shift(len(urls[0]))
    most_urls, most_bytes = len(urls[1]) - 1, len(urls[2]) - _SPARE
    places = len(known) // 2
    for i in range(first, len(cases)):
        case = cases[i]
        place = _case_place(known, places, case)
        if known[2 * place] == 0:
            href, name = case & 0xFFFFFFFF, case >> 32
            start, end = href_bounds[href], href_bounds[href + 1]
            fresh = bounds[state[URLS]]
            room = fresh + name_bounds[name + 1] - name_bounds[name] + end - start
            if 2 * state[KNOWN] >= places or state[URLS] >= most_urls or room > most_bytes:
                return i
            answer = NO_PAGE
            if kinds[href] != NEVER:
                answer = _write_url(
                    kinds[href], href_data, start, end, name_data, name_bounds[name], name_bounds[name + 1],
                    arena, fresh,
                )  # fmt: skip
                if answer != ODD:
                    length = answer - fresh
                    answer = intern(length, digest_of(arena, fresh, length), slots, shift, bounds, arena, state[URLS])
                    state[URLS] = max(state[URLS], answer + 1)
            known[2 * place], known[2 * place + 1] = case + 1, answer
            state[KNOWN] += 1
        answers[i] = known[2 * place + 1]
    return len(cases)


@kernel
def _case_place(known, places, case):
    """Return where a case stands in `known`, or would."""
    place = np.int64((np.uint64(case) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & (places - 1)
    while known[2 * place] != 0 and known[2 * place] != case + 1:
        place = (place + 1) & (places - 1)
    return place


@kernel
def enter_cases(known, larger):
    """Enter the cases of `known` into the empty table `larger`."""
    for i in range(0, len(known), 2):
        if known[i] != 0:
            place = _case_place(larger, len(larger) // 2, known[i] - 1)
            larger[2 * place], larger[2 * place + 1] = known[i], known[i + 1]


@kernel
def intern_strings(data, string_bounds, first, numbers, urls, state):
    """Write the numbers of the given URLs from `first` on; return how many are done when the table has no room for more."""
    slots, bounds, arena = borrow(urls[0]), borrow(urls[1]), borrow(urls[2])
    shift = slot_shift(len(urls[0]))
    for i in range(first, len(numbers)):
        fresh, start = bounds[state[URLS]], string_bounds[i]
        length = string_bounds[i + 1] - start
        if state[URLS] >= len(urls[1]) - 1 or fresh + length + _SPARE > len(urls[2]):
            return i
        for j in range(length):
            arena[fresh + j] = data[start + j]
        numbers[i] = intern(length, digest_of(arena, fresh, length), slots, shift, bounds, arena, state[URLS])
        state[URLS] = max(state[URLS], numbers[i] + 1)
    return len(numbers)
