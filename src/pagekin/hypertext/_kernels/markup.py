"""Scan markup: names, comments, raw text (WHATWG tokenisation)."""

import numpy as np

from pagekin.hypertext._kernels import wide
from pagekin.hypertext._kernels.borrow import load
from pagekin.store import kernel

NO_TAG, START, END, SKIPPED = range(4)
"""What a `<` begins; START and END are the number of characters before the name, too."""


@kernel
def is_space(c):
    """Return whether `c` is HTML white space."""
    return c <= 32 and (c == 32 or c == 10 or c == 9 or c == 13 or c == 12)


@kernel
def ends_name(c):
    """Return whether `c` ends the name of a tag: white space, `/` or `>`."""
    return c <= 62 and (c == 62 or c == 47 or is_space(c))


@kernel
def lower(c):
    """Return `c` in ASCII lower case."""
    if 65 <= c <= 90:
        return c + 32
    return c


@kernel
def same_word(html, start, end, word):
    """Return whether html[start:end] is `word` (in lower case), whatever its case."""
    if end - start != len(word):
        return False
    for i in range(len(word)):
        if lower(html[start + i]) != word[i]:
            return False
    return True


@kernel
def holds(html, start, end, word):
    """Return whether `word` (letters in lower case) occurs in html[start:end], whatever its case."""
    first, second = np.uint64(word[0]) * wide.ONES, np.uint64(word[1]) * wide.ONES
    while start + len(word) <= end:
        flags = wide.flag_pairs(html, start, first, second)
        while flags != 0:
            i = start + wide.first_flag(flags)
            if i + len(word) <= end and same_word(html, i, i + len(word), word):
                return True
            flags &= flags - np.uint64(1)
        start += 8
    return False


@kernel
def find_byte(html, pos, end, byte):
    """Return the position of the first `byte` in html[pos:end], or `end`."""
    eight = np.uint64(byte) * wide.ONES
    while pos < end:
        flags = wide.flag_zeros(load(html, pos) ^ eight)
        if flags != 0:
            return min(pos + wide.first_flag(flags), end)
        pos += 8
    return end


@kernel
def after_spaces(html, pos, end):
    """Return the position of the first byte in html[pos:end] that is no white space, or `end`."""
    while pos < end and is_space(html[pos]):
        pos += 1
    return pos


@kernel
def strip(html, start, end):
    """Return (start, end) of html[start:end] without the white space around it."""
    start = after_spaces(html, start, end)
    while end > start and is_space(html[end - 1]):
        end -= 1
    return start, end


@kernel
def has_word(html, start, end, word):
    """Return whether the space-separated list html[start:end] holds `word` (in lower case), whatever its case."""
    i = start
    while i < end:
        i = after_spaces(html, i, end)
        j = i
        while j < end and not is_space(html[j]):
            j += 1
        if same_word(html, i, j, word):
            return True
        i = j
    return False


@kernel
def is_letter(c):
    """Return whether `c` is an ASCII letter."""
    return 97 <= (c | 32) <= 122


@kernel
def kind_of_markup(html, pos, end):
    """Return what begins at html[pos] == '<': a START or END tag, what is SKIPPED, such as a comment, or NO_TAG."""
    if pos + 1 >= end:
        return NO_TAG
    n = html[pos + 1]
    if is_letter(n):
        return START
    if n == 33 or n == 63:
        return SKIPPED
    if n == 47 and pos + 2 < end:
        return END if is_letter(html[pos + 2]) else SKIPPED
    return NO_TAG


@kernel
def opens_comment(html, pos, end):
    """Return whether a comment opens at html[pos] == '<'."""
    return pos + 3 < end and html[pos + 1] == 33 and html[pos + 2] == 45 and html[pos + 3] == 45


@kernel
def after_comment(html, pos, end):
    """Return the position after the declaration or comment at html[pos] == '<'; `end` if it never closes."""
    if opens_comment(html, pos, end):
        i = pos + 4
        if i < end and html[i] == 62:
            return i + 1
        if i + 1 < end and html[i] == 45 and html[i + 1] == 62:
            return i + 2
        while i + 2 < end:
            if html[i] == 45 and html[i + 1] == 45:
                if html[i + 2] == 62:
                    return i + 3
                if html[i + 2] == 33 and i + 3 < end and html[i + 3] == 62:
                    return i + 4
            i += 1
        return end
    return min(find_byte(html, pos + 1, end, 62) + 1, end)


@kernel
def after_cdata(html, pos, end):
    """Return the position after the "]]>" that ends the CDATA section whose content starts at `pos`; or `end`."""
    while pos + 2 < end and not (html[pos] == 93 and html[pos + 1] == 93 and html[pos + 2] == 62):
        pos += 1
    return min(pos + 3, end)


@kernel
def is_name(html, start, end, name):
    """Return whether a tag's name at html[start] is `name`."""
    after = start + len(name)
    return after < end and same_word(html, start, after, name) and ends_name(html[after])


@kernel
def ends_raw(html, pos, end, name):
    """Return whether an end tag for `name` opens at html[pos] == '<'."""
    return html[pos + 1] == 47 and is_name(html, pos + 2, end, name)


@kernel
def raw_end(html, pos, end, name):
    """Return where the raw text that starts at `pos` ends: at its end tag, or at `end`."""
    pos = find_byte(html, pos, end, 60)
    while pos < end and not ends_raw(html, pos, end, name):
        pos = find_byte(html, pos + 1, end, 60)
    return pos


@kernel
def script_end(html, pos, end):
    """Return where a script ends, by the rules for scripts hidden in comments (script data escaped states)."""
    escaped = 0
    while pos < end:
        c = html[pos]
        if c == 60:
            if ends_raw(html, pos, end, b"script"):
                if escaped < 2:
                    return pos
                escaped = 1
            elif escaped == 1 and is_name(html, pos + 1, end, b"script"):
                escaped = 2
            elif escaped == 0 and opens_comment(html, pos, end):
                escaped = 1
                pos += 2
                continue
        elif c == 45 and escaped > 0 and pos + 2 < end and html[pos + 1] == 45 and html[pos + 2] == 62:
            escaped = 0
            pos += 3
            continue
        pos += 1
    return end


@kernel
def template_end(html, pos, end):
    """Return the position after the `</template>` that closes the one whose content starts at `pos`."""
    depth = 1
    while pos < end:
        if html[pos] != 60:
            pos += 1
        elif pos + 1 < end and (html[pos + 1] == 33 or html[pos + 1] == 63):
            pos = after_comment(html, pos, end)
        elif is_name(html, pos + 1, end, b"script"):
            pos = script_end(html, pos + 7, end)
        elif is_name(html, pos + 1, end, b"style"):
            pos = raw_end(html, pos + 6, end, b"style")
        elif is_name(html, pos + 1, end, b"template"):
            depth += 1
            pos += 9
        elif ends_raw(html, pos, end, b"template"):
            depth -= 1
            pos = after_comment(html, pos, end)  # to the '>'
            if depth == 0:
                return pos
        else:
            pos += 1
    return end


@kernel
def is_alnum(c):
    """Return whether `c` is an ASCII letter or digit."""
    return is_letter(c) or 48 <= c <= 57
