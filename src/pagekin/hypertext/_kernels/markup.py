"""Scanning markup: names, attributes, comments, raw text, character references (WHATWG tokenisation)."""

import numpy as np
from numba import njit

from pagekin.hypertext._kernels import slots as s
from pagekin.hypertext._kernels import wide
from pagekin.hypertext._kernels.intern import head

OFFSET_BASIS = np.uint64(0xCBF29CE484222325)
PRIME = np.uint64(0x100000001B3)


def fnv(data: bytes) -> np.uint64:
    """FNV-1a of `data`; the kernels compute the same."""
    digest = int(OFFSET_BASIS)
    for byte in data:
        digest = ((digest ^ byte) * int(PRIME)) & 0xFFFFFFFFFFFFFFFF
    return np.uint64(digest)


def _packed(name: bytes) -> np.uint64:
    """Up to eight bytes as a little-endian number."""
    return np.uint64(int.from_bytes(name, "little"))


_HREF, _NAME, _LANG, _TYPE = _packed(b"href"), _packed(b"name"), _packed(b"lang"), _packed(b"type")
_SRC, _ALT, _REL, _CLASS = _packed(b"src"), _packed(b"alt"), _packed(b"rel"), _packed(b"class")
_CONTENT, _XMLLANG, _ITEMTYPE = _packed(b"content"), _packed(b"xml:lang"), _packed(b"itemtype")
_ARIA_LAB, _EL, _HTTP_EQU, _IV = _packed(b"aria-lab"), _packed(b"el"), _packed(b"http-equ"), _packed(b"iv")
_PAST = np.uint64(1 << 16)  # ends a search in sixteen bytes
_NOT_FIRST = np.uint64(0xFFFF_FFFF_FFFF_FFFE)
_URL = np.frombuffer(b"url", dtype=np.uint8)
_CRUMB = np.frombuffer(b"breadcrumb", dtype=np.uint8)
_CRUMBLIST = np.frombuffer(b"breadcrumblist", dtype=np.uint8)


@njit(cache=True)
def is_space(c):
    """HTML white space."""
    return c <= 32 and (c == 32 or c == 10 or c == 9 or c == 13 or c == 12)


@njit(cache=True)
def ends_name(c):
    """Whether `c` ends the name of a tag: white space, `/` or `>`."""
    return c <= 62 and (c == 62 or c == 47 or is_space(c))


@njit(cache=True)
def lower(c):
    """ASCII lower case."""
    if 65 <= c <= 90:
        return c + 32
    return c


@njit(cache=True)
def same_word(buf, start, end, word):
    """Whether buf[start:end] is `word` (in lower case), whatever its case."""
    if end - start != len(word):
        return False
    i = 0
    while i < len(word) and lower(buf[start + i]) == word[i]:
        i += 1
    return i == len(word)


@njit(cache=True)
def holds(buf, start, end, word):
    """Whether `word` (in lower case) occurs in buf[start:end], whatever its case."""
    n = len(word)
    first = word[0]
    i = start
    while i + n <= end and not (buf[i] | 32 == first and same_word(buf, i, i + n, word)):
        i += 1
    return i + n <= end


@njit(cache=True)
def find_byte(buf, pos, end, byte):
    """The position of the first `byte` in buf[pos:end], or `end`."""
    while pos < end:
        found = wide.equal(buf, pos, byte)
        if found != 0:
            return min(pos + wide.first_bit(found), end)
        pos += 16
    return end


@njit(cache=True)
def after_spaces(buf, pos, end):
    """The position of the first byte in buf[pos:end] that is no white space, or `end`."""
    while pos < end:
        others = ~wide.spaces(buf, pos) & np.uint64(0xFFFF)
        if others != 0:
            return min(pos + wide.first_bit(others), end)
        pos += 16
    return end


@njit(cache=True)
def holds_crumb(buf, start, end, word):
    """`holds` for a word that starts with "br"."""
    while start + len(word) <= end:
        found = wide.br_pairs(buf, start)
        while found != 0:
            i = start + wide.first_bit(found)
            if i + len(word) <= end and same_word(buf, i, i + len(word), word):
                return True
            found &= found - np.uint64(1)
        start += 16
    return False


@njit(cache=True)
def slot_of(length, low):
    """Where `st` keeps the attribute whose name has this length and these first eight letters, or -1."""
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


@njit(cache=True)
def read_attributes(buf, pos, end, wanted, st):
    """The position after the tag's `>`, or -1 if the input ends first; values of interest go to `st`."""
    st[s.CRUMBS] = 0
    if wanted:
        for i in range(s.FOUND, s.CRUMBS):
            st[i] = -1
    while True:
        while pos < end and (is_space(buf[pos]) or buf[pos] == 47):
            pos += 1
        if pos >= end:
            return -1
        if buf[pos] == 62:
            return pos + 1
        stops, low, high = wide.attribute_run(buf, pos)
        length = wide.first_bit((stops & _NOT_FIRST) | _PAST)
        pos += length
        if length == 16:
            while pos < end and buf[pos] != 61 and not ends_name(buf[pos]):
                pos += 1
        if pos >= end:
            return -1
        if buf[pos] != 61:
            while pos < end and is_space(buf[pos]):
                pos += 1
        value, value_end = pos, pos
        if pos < end and buf[pos] == 61:
            pos += 1
            while pos < end and is_space(buf[pos]):
                pos += 1
            if pos >= end:
                return -1
            quote = buf[pos]
            if quote == 34 or quote == 39:
                value = pos + 1
                value_end = find_byte(buf, value, end, quote)
                if value_end == end:
                    return -1
                pos = value_end + 1
            else:
                value = pos
                while pos < end and (buf[pos] > 62 or (buf[pos] != 62 and not is_space(buf[pos]))):
                    pos += 1
                value_end = pos
        if length == 5:
            if head(low, 5) == _CLASS and holds_crumb(buf, value, value_end, _CRUMB):
                st[s.CRUMBS] = 1
        elif length == 10:
            high = head(high, 2)
            if low == _ARIA_LAB and high == _EL:
                if holds_crumb(buf, value, value_end, _CRUMB):
                    st[s.CRUMBS] = 1
            elif wanted and low == _HTTP_EQU and high == _IV and st[s.HTTP_EQUIV] < 0:
                st[s.HTTP_EQUIV] = value
                st[s.HTTP_EQUIV + 1] = value_end
        elif length == 8 and low == _ITEMTYPE:
            if holds_crumb(buf, value, value_end, _CRUMBLIST):
                st[s.CRUMBS] = 1
        elif wanted and length <= 8:
            slot = slot_of(length, head(low, length))
            if slot >= 0 and (st[slot] < 0 or (slot == s.LANG and st[slot] == st[slot + 1])):
                st[slot] = value
                st[slot + 1] = value_end


@njit(cache=True)
def opens_comment(buf, pos, end):
    """Whether a comment opens at buf[pos] == '<'."""
    return pos + 3 < end and buf[pos + 1] == 33 and buf[pos + 2] == 45 and buf[pos + 3] == 45


@njit(cache=True)
def after_comment(buf, pos, end):
    """The position after the declaration or comment at buf[pos] == '<'; `end` if it never closes."""
    if opens_comment(buf, pos, end):
        i = pos + 4
        if i < end and buf[i] == 62:
            return i + 1
        if i + 1 < end and buf[i] == 45 and buf[i + 1] == 62:
            return i + 2
        while i + 2 < end:
            if buf[i] == 45 and buf[i + 1] == 45:
                if buf[i + 2] == 62:
                    return i + 3
                if buf[i + 2] == 33 and i + 3 < end and buf[i + 3] == 62:
                    return i + 4
            i += 1
        return end
    i = pos + 1
    while i < end and buf[i] != 62:
        i += 1
    return min(i + 1, end)


@njit(cache=True)
def after_cdata(buf, pos, end):
    """The position after the "]]>" that ends the CDATA section whose content starts at `pos`; or `end`."""
    while pos + 2 < end and not (buf[pos] == 93 and buf[pos + 1] == 93 and buf[pos + 2] == 62):
        pos += 1
    return min(pos + 3, end)


@njit(cache=True)
def ends_raw(buf, pos, end, name):
    """Whether an end tag for `name` opens at buf[pos] == '<'."""
    n = len(name)
    if pos + 2 + n > end or buf[pos + 1] != 47:
        return False
    for i in range(n):
        if lower(buf[pos + 2 + i]) != name[i]:
            return False
    if pos + 2 + n == end:
        return False
    c = buf[pos + 2 + n]
    return c == 62 or c == 47 or is_space(c)


@njit(cache=True)
def raw_end(buf, pos, end, name):
    """Where the raw text that starts at `pos` ends: at its end tag, or at `end`."""
    while pos < end:
        if buf[pos] == 60 and ends_raw(buf, pos, end, name):
            return pos
        pos += 1
    return end


@njit(cache=True)
def opens_name(buf, pos, end, name):
    """Whether a start tag for `name` opens at buf[pos] == '<'."""
    n = len(name)
    if pos + 1 + n >= end:
        return False
    for i in range(n):
        if lower(buf[pos + 1 + i]) != name[i]:
            return False
    c = buf[pos + 1 + n]
    return c == 62 or c == 47 or is_space(c)


@njit(cache=True)
def script_end(buf, pos, end, name):
    """Where a script ends, by the rules for scripts hidden in comments (script data escaped states)."""
    escaped = 0
    while pos < end:
        c = buf[pos]
        if c == 60:
            if escaped < 2 and ends_raw(buf, pos, end, name):
                return pos
            if escaped == 2 and ends_raw(buf, pos, end, name):
                escaped = 1
            elif escaped == 1 and opens_name(buf, pos, end, name):
                escaped = 2
            elif escaped == 0 and opens_comment(buf, pos, end):
                escaped = 1
                pos += 2
                continue
        elif c == 45 and escaped > 0 and pos + 2 < end and buf[pos + 1] == 45 and buf[pos + 2] == 62:
            escaped = 0
            pos += 3
            continue
        pos += 1
    return end


@njit(cache=True)
def template_end(buf, pos, end, template, script, style):
    """The position after the `</template>` that closes the one whose content starts at `pos`."""
    depth = 1
    while pos < end:
        if buf[pos] != 60:
            pos += 1
            continue
        if pos + 1 < end and (buf[pos + 1] == 33 or buf[pos + 1] == 63):
            pos = after_comment(buf, pos, end)
        elif opens_name(buf, pos, end, script):
            pos = script_end(buf, pos + 7, end, script)
        elif opens_name(buf, pos, end, style):
            pos = raw_end(buf, pos + 6, end, style)
        elif opens_name(buf, pos, end, template):
            depth += 1
            pos += 9
        elif ends_raw(buf, pos, end, template):
            depth -= 1
            pos = after_comment(buf, pos, end)  # to the '>'
            if depth == 0:
                return pos
        else:
            pos += 1
    return end


@njit(cache=True)
def is_alnum(c):
    """ASCII letter or digit."""
    return 48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122


REFERENCES = 8192


@njit(cache=True)
def find_reference(digest, mask, refs):
    """Where the reference whose name has this digest stands in `refs`, or -1."""
    place = digest & mask
    wanted = np.int64(digest)
    while True:
        at = 32 + 3 * np.int64(place)
        if refs[at] == wanted:
            return at
        if refs[at] == 0:
            return -1
        place = (place + np.uint64(1)) & mask


@njit(cache=True)
def reference(buf, pos, end, in_attribute, refs):
    """(first code, second code or 0, position after) of the character reference at buf[pos] == '&'.

    First code -1: it is none, and the ampersand stands for itself. `refs` begins with the 32 codes that
    numeric references to C1 controls mean; then come REFERENCES places of three: FNV-1a of a name (with the
    semicolon where it is required; 0 = empty) and its two codes.
    """
    i = pos + 1
    if i >= end:
        return -1, 0, pos + 1
    if buf[i] == 35:
        i += 1
        base = 10
        if i < end and (buf[i] == 120 or buf[i] == 88):
            base = 16
            i += 1
        start = i
        value = 0
        while i < end:
            c = lower(buf[i])
            if 48 <= c <= 57:
                digit = c - 48
            elif base == 16 and 97 <= c <= 102:
                digit = c - 87
            else:
                break
            if value <= 0x10FFFF:
                value = value * base + digit
            i += 1
        if i == start:
            return -1, 0, pos + 1
        if i < end and buf[i] == 59:
            i += 1
        if 0x80 <= value <= 0x9F:
            value = refs[value - 0x80]
        elif value == 0 or value > 0x10FFFF or 0xD800 <= value <= 0xDFFF:
            value = 0xFFFD
        return value, 0, i
    mask = np.uint64(REFERENCES - 1)
    digest = OFFSET_BASIS
    best = -1
    best_end = pos + 1
    while i < end and is_alnum(buf[i]) and i - pos <= 32:
        digest = (digest ^ np.uint64(buf[i])) * PRIME
        i += 1
        if i - pos <= 7:  # the longest name that may lack its semicolon has six letters
            at = find_reference(digest, mask, refs)
            if at >= 0:
                best = at
                best_end = i
    if i < end and buf[i] == 59:
        digest = (digest ^ np.uint64(59)) * PRIME
        at = find_reference(digest, mask, refs)
        if at >= 0:
            return refs[at + 1], refs[at + 2], i + 1
    if best >= 0:
        if in_attribute and best_end < end and (buf[best_end] == 61 or is_alnum(buf[best_end])):
            return -1, 0, pos + 1
        return refs[best + 1], refs[best + 2], best_end
    return -1, 0, pos + 1


@njit(cache=True)
def encode(code, out, at):
    """Write the UTF-8 of `code` to out[at:]; the number of bytes."""
    if code < 0x80:
        out[at] = code
        return 1
    if code < 0x800:
        out[at] = 0xC0 | (code >> 6)
        out[at + 1] = 0x80 | (code & 63)
        return 2
    if code < 0x10000:
        out[at] = 0xE0 | (code >> 12)
        out[at + 1] = 0x80 | ((code >> 6) & 63)
        out[at + 2] = 0x80 | (code & 63)
        return 3
    out[at] = 0xF0 | (code >> 18)
    out[at + 1] = 0x80 | ((code >> 12) & 63)
    out[at + 2] = 0x80 | ((code >> 6) & 63)
    out[at + 3] = 0x80 | (code & 63)
    return 4


@njit(cache=True)
def address(buf, pos, end, most, out, at, refs):
    """Write the link address in the value buf[pos:end] to out[at:]; its length, or -1 if over `most` bytes.

    References are decoded, the fragment and the white space around the address left out.
    """
    while pos < end and (is_space(buf[pos]) or buf[pos] == 0 or buf[pos] == 11):
        pos += 1
    while end > pos and (is_space(buf[end - 1]) or buf[end - 1] == 0 or buf[end - 1] == 11):
        end -= 1
    n = 0
    while pos < end:
        # Plain characters, sixteen at a time: what is copied too far is written over.
        while pos < end and n <= most:
            found = wide.first_bit(wide.special_in_address(buf, pos) | _PAST)
            wide.copy(buf, pos, out, at + n)
            found = min(found, end - pos)
            pos += found
            n += found
            if found < 16:
                break
        if n > most:
            return -1
        if pos == end or buf[pos] == 35:
            return n
        if buf[pos] != 38:
            continue
        first, second, after = reference(buf, pos, end, True, refs)
        if first == 35:
            return n
        n += encode(first if first >= 0 else 38, out, at + n)
        if second > 0:
            n += encode(second, out, at + n)
        pos = after
        if n > most:
            return -1
    return n


@njit(cache=True)
def refresh_target(buf, pos, end):
    """(start, end) of the address in a refresh declaration's content; start -1 if there is none."""
    while pos < end and is_space(buf[pos]):
        pos += 1
    while pos < end and (48 <= buf[pos] <= 57 or buf[pos] == 46):
        pos += 1
    while pos < end and is_space(buf[pos]):
        pos += 1
    if pos < end and (buf[pos] == 59 or buf[pos] == 44):
        pos += 1
    elif pos == end:
        return -1, -1
    while pos < end and is_space(buf[pos]):
        pos += 1
    if pos + 3 <= end and same_word(buf, pos, pos + 3, _URL):
        i = pos + 3
        while i < end and is_space(buf[i]):
            i += 1
        if i < end and buf[i] == 61:
            pos = i + 1
            while pos < end and is_space(buf[pos]):
                pos += 1
    if pos < end and (buf[pos] == 34 or buf[pos] == 39):
        quote = buf[pos]
        pos += 1
        i = pos
        while i < end and buf[i] != quote:
            i += 1
        end = i
    while end > pos and is_space(buf[end - 1]):
        end -= 1
    if pos >= end:
        return -1, -1
    return pos, end
