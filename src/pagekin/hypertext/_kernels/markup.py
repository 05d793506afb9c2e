"""Scanning markup: names, attributes, comments, raw text, character references (WHATWG tokenisation)."""

import numpy as np
from numba import njit

from pagekin.hypertext._kernels import slots as s
from pagekin.hypertext._kernels.intern import OFFSET_BASIS, PRIME


def fnv(data: bytes) -> np.uint64:
    """FNV-1a of `data`; the kernels compute the same."""
    digest = int(OFFSET_BASIS)
    for byte in data:
        digest = ((digest ^ byte) * int(PRIME)) & 0xFFFFFFFFFFFFFFFF
    return np.uint64(digest)


_H_HREF, _H_SRC, _H_ALT, _H_REL = fnv(b"href"), fnv(b"src"), fnv(b"alt"), fnv(b"rel")
_H_NAME, _H_CONTENT, _H_EQUIV = fnv(b"name"), fnv(b"content"), fnv(b"http-equiv")
_H_LANG, _H_XMLLANG, _H_TYPE = fnv(b"lang"), fnv(b"xml:lang"), fnv(b"type")
_H_CLASS, _H_LABEL, _H_ITEMTYPE = fnv(b"class"), fnv(b"aria-label"), fnv(b"itemtype")
_CRUMB = np.frombuffer(b"breadcrumb", dtype=np.uint8)
_CRUMBLIST = np.frombuffer(b"breadcrumblist", dtype=np.uint8)


@njit(cache=True)
def is_space(c):
    """HTML white space."""
    return c <= 32 and (c == 32 or c == 10 or c == 9 or c == 13 or c == 12)


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
    for i in range(len(word)):
        if lower(buf[start + i]) != word[i]:
            return False
    return True


@njit(cache=True)
def holds(buf, start, end, word):
    """Whether `word` (in lower case) occurs in buf[start:end], whatever its case."""
    n = len(word)
    first = word[0]
    for i in range(start, end - n + 1):
        if buf[i] | 32 == first and same_word(buf, i, i + n, word):
            return True
    return False


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
        start = pos
        pos += 1
        while pos < end:
            c = buf[pos]
            if c <= 62 and (c == 61 or c == 62 or c == 47 or is_space(c)):
                break
            pos += 1
        name_end = pos
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
                pos += 1
                value = pos
                while pos < end and buf[pos] != quote:
                    pos += 1
                if pos >= end:
                    return -1
                value_end = pos
                pos += 1
            else:
                value = pos
                while pos < end and (buf[pos] > 62 or (buf[pos] != 62 and not is_space(buf[pos]))):
                    pos += 1
                value_end = pos
        length = name_end - start
        if wanted or length == 5 or length == 8 or length == 10:
            digest = OFFSET_BASIS
            for i in range(start, name_end):
                digest = (digest ^ np.uint64(lower(buf[i]))) * PRIME
            slot = -1
            if digest == _H_CLASS or digest == _H_LABEL:
                if value_end - value >= 10 and holds(buf, value, value_end, _CRUMB):
                    st[s.CRUMBS] = 1
            elif digest == _H_ITEMTYPE:
                if holds(buf, value, value_end, _CRUMBLIST):
                    st[s.CRUMBS] = 1
            elif digest == _H_HREF:
                slot = s.HREF
            elif digest == _H_SRC:
                slot = s.SRC
            elif digest == _H_ALT:
                slot = s.ALT
            elif digest == _H_REL:
                slot = s.REL
            elif digest == _H_NAME:
                slot = s.NAME
            elif digest == _H_CONTENT:
                slot = s.CONTENT
            elif digest == _H_EQUIV:
                slot = s.HTTP_EQUIV
            elif digest == _H_LANG or digest == _H_XMLLANG:
                slot = s.LANG
            elif digest == _H_TYPE:
                slot = s.TYPE
            if slot >= 0 and wanted and (st[slot] < 0 or (slot == s.LANG and st[slot] == st[slot + 1])):
                st[slot] = value
                st[slot + 1] = value_end


@njit(cache=True)
def after_comment(buf, pos, end):
    """The position after the markup declaration or comment that opens at buf[pos] == '<'; `end` if it never closes."""
    if pos + 3 < end and buf[pos + 1] == 33 and buf[pos + 2] == 45 and buf[pos + 3] == 45:
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
    """The position after the CDATA section that opens at buf[pos]; it holds no text of the page."""
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
            elif escaped == 0 and pos + 3 < end and buf[pos + 1] == 33 and buf[pos + 2] == 45 and buf[pos + 3] == 45:
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

    First code -1: it is none, and the ampersand stands for itself. `refs` begins with the 32 codes that numeric
    references to C1 controls mean; then come REFERENCES places of three: FNV-1a of a name (with the semicolon where it
    is required; 0 = empty) and its two codes.
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
    """Write the link address in the attribute value buf[pos:end] to out[at:]; its length, or -1 if over `most` bytes.

    References are decoded, the fragment and the white space around the address left out.
    """
    while pos < end and (is_space(buf[pos]) or buf[pos] == 0 or buf[pos] == 11):
        pos += 1
    while end > pos and (is_space(buf[end - 1]) or buf[end - 1] == 0 or buf[end - 1] == 11):
        end -= 1
    n = 0
    while pos < end:
        # Plain characters: find how far they go, then copy them at once.
        start = pos
        while pos < end and (buf[pos] > 38 or (buf[pos] != 38 and buf[pos] != 35)):
            pos += 1
        if n + pos - start > most:
            return -1
        for i in range(pos - start):
            out[at + n + i] = buf[start + i]
        n += pos - start
        if pos == end or buf[pos] == 35:
            return n
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
    digits = pos
    while pos < end and (48 <= buf[pos] <= 57 or buf[pos] == 46):
        pos += 1
    while pos < end and is_space(buf[pos]):
        pos += 1
    if pos < end and (buf[pos] == 59 or buf[pos] == 44):
        pos += 1
    elif pos == end or digits == pos:
        if pos == end:
            return -1, -1
    while pos < end and is_space(buf[pos]):
        pos += 1
    if pos + 3 <= end and lower(buf[pos]) == 117 and lower(buf[pos + 1]) == 114 and lower(buf[pos + 2]) == 108:
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
