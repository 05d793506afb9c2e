"""Find the openings of pages: the paragraph that begins with the page's name."""

import numpy as np

from pagekin.hypertext import Boundary, decode_stream
from pagekin.store import kernel, sort_numbers
from pagekin.text.scoring import HEADER_BIT, TITLE_BIT

OPENING = 45
"""Words of an opening that count: about two sentences."""
_LEAST = 12
"""Words of a paragraph, at least: shorter ones are captions and entries of tables."""
_SOON, _AT_ONCE = 12, 5
"""Words within which a paragraph says a word of the title: some, or to begin with it (The red dwarf star Proxima Centauri …)."""
_KINDS = 3
_SENTENCE, _CELL, _TABLE_END = int(Boundary.SENTENCE), int(Boundary.CELL), int(Boundary.TABLE_END)


@kernel
def find_openings(streams, decoded, form_of, idle, forms, ends):
    """Write the sorted forms of each page's title and opening; return their number.

    `streams` is a `StreamBatch`, `decoded` the `DecodedPage` for it; `idle` (forms) tells which forms name nothing in a title.
    Page p's forms end at `ends[p]`; there are at most as many as words. Cost: a pass over the words.
    """
    n = 0
    in_title = np.zeros(len(idle), np.bool_)
    for p in range(len(ends)):
        length, boundaries = decode_stream(streams, p, decoded)
        first = n
        for at in range(length):
            if decoded.attributes[at] & TITLE_BIT and n - first < OPENING:
                forms[n] = form_of[decoded.terms[at]]
                in_title[forms[n]] = True
                n += 1
        titled = n
        begin, end = _opening(decoded, length, boundaries, form_of, idle, in_title)
        for at in range(begin, min(end, begin + OPENING)):
            if not decoded.attributes[at] & TITLE_BIT:
                forms[n] = form_of[decoded.terms[at]]
                n += 1
        for at in range(first, titled):
            in_title[forms[at]] = False
        keys = forms[first:n].astype(np.int64)
        sort_numbers(keys)
        n = first
        for i in range(len(keys)):
            if i == 0 or keys[i] != keys[i - 1]:
                forms[n] = keys[i]
                n += 1
        ends[p] = n
    return n


@kernel
def _opening(decoded, length, boundaries, form_of, idle, in_title):
    """Return where a page's opening begins and ends: the first paragraph of the best kind.

    Best are those outside of tables that begin with a word of the title, then those in tables, then those that say it soon.
    Others are none: they may speak of anything.
    """
    begins, finishes = np.zeros(_KINDS, np.int64), np.zeros(_KINDS, np.int64)
    mark, begin = 0, 0
    while begin < length:
        in_cell = after_table = False
        while mark < boundaries and decoded.boundary_at[mark] <= begin:
            if decoded.boundary_at[mark] == begin:
                in_cell |= decoded.boundary_kind[mark] == _CELL
                after_table |= decoded.boundary_kind[mark] == _TABLE_END
            mark += 1
        has_sentence, end = False, length
        while mark < boundaries:
            if decoded.boundary_kind[mark] != _SENTENCE:
                end = decoded.boundary_at[mark]
                break
            has_sentence = True
            mark += 1
        # A sentence that ends where the paragraph does is told before or after the paragraph's own border.
        later = mark
        while not has_sentence and later < boundaries and decoded.boundary_at[later] == end:
            has_sentence = decoded.boundary_kind[later] == _SENTENCE
            later += 1
        if has_sentence and end - begin >= _LEAST and not decoded.attributes[begin] & (TITLE_BIT | HEADER_BIT):
            kind = _KINDS
            for at in range(begin, begin + _SOON):
                form = form_of[decoded.terms[at]]
                if in_title[form] and not idle[form]:
                    kind = 2 if at - begin >= _AT_ONCE else 1 if in_cell and not after_table else 0
                    break
            if kind < _KINDS and finishes[kind] == 0:
                begins[kind], finishes[kind] = begin, end
            if kind == 0:
                break
        begin = end
    for kind in range(_KINDS):
        if finishes[kind]:
            return begins[kind], finishes[kind]
    return np.int64(0), np.int64(0)
