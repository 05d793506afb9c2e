"""From word streams to postings: which forms stand on a page, under which attributes, how often."""

import numpy as np
from numba import njit

RARE = 65_535
ATTRIBUTE_EVENT = 64
MOST = 255


@njit(cache=True, nogil=True)
def count_forms(words, rare, gaps, kinds, tokens, rares, marks, form_of, forms, attributes, counts, ends):
    """Write each page's (form, attributes) pairs, rising, and how often each stands there; give their number.

    `tokens`, `rares` and `marks` are the offsets of the batch's pages in the arrays before them. A pair that stands there
    more than 255 times takes several entries, whose counts add up. Page p's entries end at `ends[p]`; there are at most
    as many as words. Cost: a sort of each page's words.
    """
    n = 0
    for p in range(len(tokens) - 1):
        length = tokens[p + 1] - tokens[p]
        keys = np.empty(length, dtype=np.int64)
        mark, position, under = marks[p], 0, 0
        rank = rares[p]
        for at in range(length):
            while mark < marks[p + 1] and position + gaps[mark] <= at:
                position += gaps[mark]
                if kinds[mark] >= ATTRIBUTE_EVENT:
                    under = kinds[mark] - ATTRIBUTE_EVENT
                mark += 1
            number = np.int64(words[tokens[p] + at])
            if number == RARE:
                number = np.int64(rare[rank])
                rank += 1
            keys[at] = np.int64(form_of[number]) * ATTRIBUTE_EVENT + under
        keys.sort()
        for at in range(length):
            if at and keys[at] == keys[at - 1] and counts[n - 1] < MOST:
                counts[n - 1] += 1
            else:
                forms[n] = keys[at] // ATTRIBUTE_EVENT
                attributes[n] = keys[at] % ATTRIBUTE_EVENT
                counts[n] = 1
                n += 1
        ends[p] = n
    return n


@njit(cache=True, nogil=True)
def place(forms, attributes, counts, pages, first, last, begin, out_pages, out_attributes, out_counts):
    """Put the entries of the forms first to last where they belong: form f's next one at `begin[f - first]`, which moves on.

    Cost: one pass over the entries.
    """
    for i in range(len(forms)):
        if first <= forms[i] < last:
            at = begin[forms[i] - first]
            out_pages[at] = pages[i]
            out_attributes[at] = attributes[i]
            out_counts[at] = counts[i]
            begin[forms[i] - first] = at + 1
