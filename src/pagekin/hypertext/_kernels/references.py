"""Decode character references, and encode characters (WHATWG tokenisation)."""

import numpy as np

from pagekin.hypertext._kernels.markup import is_alnum, lower
from pagekin.store import kernel

OFFSET_BASIS = np.uint64(0xCBF29CE484222325)
PRIME = np.uint64(0x100000001B3)
REFERENCES = 8192
_MASK = np.uint64(REFERENCES - 1)


def fnv(data: bytes) -> np.uint64:
    """Return FNV-1a of `data`; the kernels compute the same."""
    digest = int(OFFSET_BASIS)
    for byte in data:
        digest = ((digest ^ byte) * int(PRIME)) & 0xFFFFFFFFFFFFFFFF
    return np.uint64(digest)


@kernel
def find_reference(digest, references):
    """Return where the reference whose name has this digest stands in `references`, or -1."""
    place = digest & _MASK
    wanted = np.int64(digest)
    while True:
        at = 32 + 3 * np.int64(place)
        if references[at] == wanted:
            return at
        if references[at] == 0:
            return -1
        place = (place + np.uint64(1)) & _MASK


@kernel
def reference(html, pos, end, in_attribute, references):
    """Return (first code, second code or 0, position after) of the character reference at html[pos] == '&'.

    First code -1: it is none, and the ampersand stands for itself. `references` begins with the 32 codes that
    numeric references to C1 controls mean; then come REFERENCES places of three: FNV-1a of a name (with the
    semicolon where it is required; 0 = empty) and its two codes.
    """
    if pos + 1 < end and html[pos + 1] == 35:
        return numeric_reference(html, pos, end, references)
    return named_reference(html, pos, end, in_attribute, references)


@kernel
def numeric_reference(html, pos, end, references):
    """Do as `reference` does for one that begins with "&#"."""
    i = pos + 2
    base = 10
    if i < end and (html[i] == 120 or html[i] == 88):
        base = 16
        i += 1
    start = i
    value = 0
    while i < end:
        c = lower(html[i])
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
    if i < end and html[i] == 59:
        i += 1
    if 0x80 <= value <= 0x9F:
        value = references[value - 0x80]
    elif value == 0 or value > 0x10FFFF or 0xD800 <= value <= 0xDFFF:
        value = 0xFFFD
    return value, 0, i


@kernel
def named_reference(html, pos, end, in_attribute, references):
    """Do as `reference` does for one that has a name."""
    i = pos + 1
    digest = OFFSET_BASIS
    best = -1
    best_end = pos + 1
    while i < end and is_alnum(html[i]) and i - pos <= 32:
        digest = (digest ^ np.uint64(html[i])) * PRIME
        i += 1
        if i - pos <= 7:  # the longest name that may lack its semicolon has six letters
            at = find_reference(digest, references)
            if at >= 0:
                best = at
                best_end = i
    if i < end and html[i] == 59:
        digest = (digest ^ np.uint64(59)) * PRIME
        at = find_reference(digest, references)
        if at >= 0:
            return references[at + 1], references[at + 2], i + 1
    if best < 0:
        return -1, 0, pos + 1
    if in_attribute and best_end < end and (html[best_end] == 61 or is_alnum(html[best_end])):
        return -1, 0, pos + 1
    return references[best + 1], references[best + 2], best_end


@kernel
def encode(code, out, at):
    """Write the UTF-8 of `code` to out[at:]; return the number of bytes."""
    if code < 0x80:
        out[at] = code
        return 1
    count = 2 if code < 0x800 else 3 if code < 0x10000 else 4
    for i in range(count - 1, 0, -1):
        out[at + i] = 0x80 | (code & 63)
        code >>= 6
    out[at] = (0xF00 >> count) & 0xFF | code  # as many ones as there are bytes, a zero, and what is left
    return count
