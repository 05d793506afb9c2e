"""The leads of pages, from word streams."""

import numpy as np

from pagekin.hypertext import Attribute, decode_stream
from pagekin.store import kernel

LONGEST = 40
"""Words of a lead, at most."""
_SHORTEST = 8
"""Words of a paragraph that may be a lead, at least."""
_NEAR = 12
"""Words at the beginning of a lead among which one of the title stands."""
_TITLE, _HEADER, _TEXT = int(Attribute.TITLE), int(Attribute.HEADER), int(Attribute.TEXT)


@kernel
def find_leads(streams, decoded, form_of, idle, pages, said):
    """Write the page (of the batch) and the form of each word of the pages' leads; return how many there are.

    `idle` marks terms that say nothing. Cost: one pass over the words up to the lead of each page.
    """
    n = 0
    in_title = np.zeros(0, np.int64)
    for p in range(len(streams.tokens) - 1):
        length, boundaries = decode_stream(streams, p, decoded)
        titled = 0
        for at in range(length):
            if decoded.attributes[at] & _TITLE:
                titled += 1
        if titled > len(in_title):
            in_title = np.zeros(2 * titled, np.int64)
        titled = 0
        for at in range(length):
            if decoded.attributes[at] & _TITLE and not idle[decoded.terms[at]]:
                in_title[titled] = form_of[decoded.terms[at]]
                titled += 1
        first = 0
        for i in range(boundaries + 1):
            last = min(np.int64(decoded.boundary_at[i]), length) if i < boundaries else length
            if last - first >= _SHORTEST and _is_lead(decoded, form_of, idle, first, last, in_title[:titled]):
                for at in range(first, min(last, first + LONGEST)):
                    if not idle[decoded.terms[at]]:
                        pages[n], said[n] = p, form_of[decoded.terms[at]]
                        n += 1
                break
            first = max(first, last)
    return n


@kernel
def _is_lead(decoded, form_of, idle, first, last, in_title):
    """Return whether a paragraph is text, and has a word of the title near its beginning."""
    near = False
    for at in range(first, min(last, first + LONGEST)):
        if not decoded.attributes[at] & _TEXT or decoded.attributes[at] & (_TITLE | _HEADER):
            return False
        if at < first + _NEAR and not idle[decoded.terms[at]]:
            for form in in_title:
                if form_of[decoded.terms[at]] == form:
                    near = True
    return near
