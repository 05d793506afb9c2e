"""Note the anchors of a page and the addresses they lead to."""

import numpy as np

from pagekin.hypertext import batch as b
from pagekin.hypertext._kernels import markup as m
from pagekin.hypertext._kernels import slots as s
from pagekin.hypertext._kernels import tags as t
from pagekin.hypertext._kernels import tree, wide
from pagekin.hypertext._kernels.borrow import load, store
from pagekin.hypertext._kernels.intern import digest_of, intern
from pagekin.hypertext._kernels.references import encode, reference
from pagekin.store import kernel

_A, _AREA, _FRAME, _REFRESH = 0, 1, 2, 4
_CUT_ANCHORS = 16
_NOFOLLOW, _SEQUENCE = 1, 16


@kernel
def start_anchor(tag, lx):
    """Act on <a> and <area>; return the anchor's number, or -1."""
    st, an = lx.state, lx.out.anchors
    if tag == t.A:
        tree.end_formatting(tag, True, st[s.NTOK], st, an, lx.out.events)
    number = -1
    if st[s.HREF] >= 0:
        number = add_anchor(st[s.HREF], st[s.HREF + 1], _A if tag == t.A else _AREA, lx)
        if number >= 0 and st[s.REL] >= 0:
            an[4 * number + b.A_FLAGS] |= _rel_flags(lx.html, st[s.REL], st[s.REL + 1])
    if tag == t.A:
        tree.add_formatting(tag, number, st)
    return number


@kernel
def _rel_flags(html, start, end):
    """Return what the list of words in html[start:end], a link's `rel`, says: the flags of `AnchorFlag`."""
    flags = 0
    if m.has_word(html, start, end, b"nofollow"):
        flags |= _NOFOLLOW
    if (
        m.has_word(html, start, end, b"next")
        or m.has_word(html, start, end, b"prev")
        or m.has_word(html, start, end, b"previous")
    ):
        flags |= _SEQUENCE
    return flags


@kernel
def add_anchor(start, end, kind, lx):
    """Add an anchor for the address in html[start:end], starting at the next word; return its number, or -1."""
    st, an = lx.state, lx.out.anchors
    if st[s.MUTE] != 0 and kind != _REFRESH and kind != _FRAME:
        return -1
    href = add_href(start, end, lx)
    if href < 0:
        st[s.DROPPED] += 1
        return -1
    number = st[s.NAN]
    if number - st[s.AN0] >= st[s.MAX_ANCHORS]:
        st[s.FLAGS] |= _CUT_ANCHORS
        return -1
    row = 4 * number
    an[row + b.A_HREF], an[row + b.A_FLAGS] = href, kind << 1
    an[row + b.A_START] = an[row + b.A_END] = st[s.NTOK]
    st[s.NAN] = number + 1
    return number


@kernel
def add_href(start, end, lx):
    """Return the number of the address in html[start:end], or -1 if it is too long."""
    st = lx.state
    slots, bounds, arena = lx.hrefs
    count = st[s.NHREFS]
    if count == st[s.MAX_HREFS]:
        st[s.FULL] |= s.FULL_HREFS
        return np.int64(-1)
    at = bounds[count]
    length = write_address(start, end, at, lx)
    if length < 0:
        return np.int64(-1)
    href = intern(length, digest_of(arena, at, length, st, s.KEY), slots, st[s.HREF_SHIFT], bounds, arena, count)
    if href == count:
        st[s.NHREFS] = count + 1
    return href


@kernel
def write_address(pos, end, at, lx):
    """Write the address in the value html[pos:end] to the arena of addresses; return its length, or -1 if it is too long.

    References are decoded, the fragment and the white space around the address left out.
    """
    html, out, most = lx.html, lx.hrefs.arena, lx.state[s.MAX_URL]
    while pos < end and (m.is_space(html[pos]) or html[pos] == 0 or html[pos] == 11):
        pos += 1
    while end > pos and (m.is_space(html[end - 1]) or html[end - 1] == 0 or html[end - 1] == 11):
        end -= 1
    n = 0
    while pos < end:
        # Plain characters, eight at a time: what is copied too far is written over.
        while pos < end and n <= most:
            count = wide.find_in_address(html, pos)
            store(out, at + n, load(html, pos))
            count = min(count, end - pos)
            pos += count
            n += count
            if count < 8:
                break
        if n > most:
            return -1
        if pos == end or html[pos] == 35:
            return n
        if html[pos] != 38:
            continue
        first, second, after = reference(html, pos, end, True, lx.tables.references)
        if first == 35:
            return n
        n += encode(first if first >= 0 else 38, out, at + n)
        if second > 0:
            n += encode(second, out, at + n)
        pos = after
        if n > most:
            return -1
    return n
