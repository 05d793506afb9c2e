"""Code rising positions by their gaps, for many pages at once."""

from pagekin.store import kernel

_LONG = 255


@kernel
def code_gaps(values, shift, ends, gaps, kinds, page_ends):
    """Code the gaps between positions, values >> shift, each page's from zero; return how many bytes, or more than fit.

    `ends` says where each page's values end, and `page_ends` gets where its bytes do. The last byte of a gap goes
    with a kind, the low byte of its value, unless `kinds` is empty; all others with 0. O(values + bytes).
    """
    at = i = 0
    for page in range(len(ends)):
        before = 0
        while i < ends[page]:
            position = values[i] >> shift
            gap = position - before
            before = position
            if at + gap // _LONG >= len(gaps):
                return at + gap // _LONG + 1
            while gap >= _LONG:
                gaps[at] = _LONG
                if len(kinds):
                    kinds[at] = 0
                gap -= _LONG
                at += 1
            gaps[at] = gap
            if len(kinds):
                kinds[at] = values[i] & 255
            at += 1
            i += 1
        page_ends[page] = at
    return at
