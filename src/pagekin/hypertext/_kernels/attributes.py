"""Read the attributes of a tag (WHATWG tokenisation)."""

import numpy as np

from pagekin.hypertext._kernels import markup as m
from pagekin.hypertext._kernels import slots as s
from pagekin.hypertext._kernels import wide
from pagekin.hypertext._kernels.borrow import load
from pagekin.hypertext._kernels.intern import head
from pagekin.store import kernel


def _packed(name: bytes) -> np.uint64:
    """Return up to eight bytes as a little-endian number."""
    return np.uint64(int.from_bytes(name, "little"))


_HREF, _NAME, _LANG, _TYPE = _packed(b"href"), _packed(b"name"), _packed(b"lang"), _packed(b"type")
_SRC, _ALT, _REL, _CLASS = _packed(b"src"), _packed(b"alt"), _packed(b"rel"), _packed(b"class")
_CONTENT, _XMLLANG, _ITEMTYPE = _packed(b"content"), _packed(b"xml:lang"), _packed(b"itemtype")
_ARIA_LAB, _EL, _HTTP_EQU, _IV = _packed(b"aria-lab"), _packed(b"el"), _packed(b"http-equ"), _packed(b"iv")
_CRUMB = np.frombuffer(b"breadcrumb", dtype=np.uint8)
_CRUMBLIST = np.frombuffer(b"breadcrumblist", dtype=np.uint8)
_URL = np.frombuffer(b"url", dtype=np.uint8)


@kernel
def read_attributes(html, pos, end, wanted, st):
    """Return the position after the tag's `>`, or -1 if the input ends first; values of interest go to `st`."""
    st[s.CRUMBS] = 0
    if wanted:
        for i in range(s.FOUND, s.CRUMBS):
            st[i] = -1
    while True:
        while pos < end and (m.is_space(html[pos]) or html[pos] == 47):
            pos += 1
        if pos >= end:
            return -1
        if html[pos] == 62:
            return pos + 1
        name = pos
        pos = name_end(html, pos, end)
        length = pos - name
        pos = m.after_spaces(html, pos, end)
        if pos >= end:
            return -1
        value, value_end = pos, pos
        if html[pos] == 61:
            value, value_end, pos = read_value(html, pos + 1, end)
            if pos < 0:
                return -1
        note_attribute(html, name, length, value, value_end, wanted, st)


@kernel
def name_end(html, pos, end):
    """Return where the attribute's name that begins at html[pos] ends: its first byte belongs to it, whatever it is."""
    flags = wide.flag_name_ends(load(html, pos))
    after = pos + wide.first_flag(flags)
    if flags == 0:
        after += wide.first_flag(wide.flag_name_ends(load(html, pos + 8)))
    if after == pos or not (html[after] == 61 or m.ends_name(html[after])):
        after = max(after, pos + 1)
        while after < end and html[after] != 61 and not m.ends_name(html[after]):
            after += 1
    return after


@kernel
def read_value(html, pos, end):
    """Return (start, end, position after) of the value that stands after the `=` before html[pos]; after is -1 without end."""
    pos = m.after_spaces(html, pos, end)
    if pos >= end:
        return pos, pos, -1
    quote = html[pos]
    if quote == 34 or quote == 39:
        value = pos + 1
        value_end = m.find_byte(html, value, end, quote)
        return value, value_end, value_end + 1 if value_end < end else -1
    value = pos
    while pos < end and (html[pos] > 62 or (html[pos] != 62 and not m.is_space(html[pos]))):
        pos += 1
    return value, pos, pos


@kernel
def note_attribute(html, name, length, value, value_end, wanted, st):
    """Keep the place html[value:value_end] of an attribute's value in `st`, if it is of interest and the first one."""
    if length > 10:
        return
    low = wide.to_lower(load(html, name))
    if length == 5:
        if head(low, 5) == _CLASS and holds_crumb(html, value, value_end, _CRUMB):
            st[s.CRUMBS] = 1
    elif length == 10:
        high = head(wide.to_lower(load(html, name + 8)), 2)
        if low == _ARIA_LAB and high == _EL:
            if holds_crumb(html, value, value_end, _CRUMB):
                st[s.CRUMBS] = 1
        elif wanted and low == _HTTP_EQU and high == _IV and st[s.HTTP_EQUIV] < 0:
            st[s.HTTP_EQUIV], st[s.HTTP_EQUIV + 1] = value, value_end
    elif length == 8 and low == _ITEMTYPE:
        if holds_crumb(html, value, value_end, _CRUMBLIST):
            st[s.CRUMBS] = 1
    elif wanted and length <= 8:
        slot = slot_of(length, head(low, length))
        if slot >= 0 and (st[slot] < 0 or (slot == s.LANG and st[slot] == st[slot + 1])):
            st[slot], st[slot + 1] = value, value_end


@kernel
def holds_crumb(html, start, end, word):
    """Return whether `word`, which starts with "br", occurs in html[start:end], whatever its case."""
    while start + len(word) <= end:
        flags = wide.flag_br(html, start)
        while flags != 0:
            i = start + wide.first_flag(flags)
            if i + len(word) <= end and m.same_word(html, i, i + len(word), word):
                return True
            flags &= flags - np.uint64(1)
        start += 8
    return False


@kernel
def slot_of(length, low):
    """Return where `st` keeps the attribute whose name has this length and these first eight letters, or -1."""
    if length == 4:
        if low == _HREF:
            return s.HREF
        if low == _NAME:
            return s.NAME
        if low == _TYPE:
            return s.TYPE
        if low == _LANG:
            return s.LANG
    elif length == 3:
        if low == _REL:
            return s.REL
        if low == _SRC:
            return s.SRC
        if low == _ALT:
            return s.ALT
    elif length == 7:
        if low == _CONTENT:
            return s.CONTENT
    elif length == 8 and low == _XMLLANG:
        return s.LANG
    return -1


@kernel
def refresh_target(html, pos, end):
    """Return (start, end) of the address in a refresh declaration's content; start -1 if there is none."""
    while pos < end and m.is_space(html[pos]):
        pos += 1
    while pos < end and (48 <= html[pos] <= 57 or html[pos] == 46):
        pos += 1
    while pos < end and m.is_space(html[pos]):
        pos += 1
    if pos < end and (html[pos] == 59 or html[pos] == 44):
        pos += 1
    elif pos == end:
        return -1, -1
    while pos < end and m.is_space(html[pos]):
        pos += 1
    if pos + 3 <= end and m.same_word(html, pos, pos + 3, _URL):
        i = pos + 3
        while i < end and m.is_space(html[i]):
            i += 1
        if i < end and html[i] == 61:
            pos = i + 1
            while pos < end and m.is_space(html[pos]):
                pos += 1
    if pos < end and (html[pos] == 34 or html[pos] == 39):
        quote = html[pos]
        pos += 1
        i = pos
        while i < end and html[i] != quote:
            i += 1
        end = i
    while end > pos and m.is_space(html[end - 1]):
        end -= 1
    if pos >= end:
        return -1, -1
    return pos, end
