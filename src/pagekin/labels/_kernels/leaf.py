"""Select a page's terms for a label, and sum up those of many pages."""

import numpy as np

from pagekin.hypertext import decode_stream
from pagekin.store import kernel


@kernel
def mark_unnoted(streams, decoded, word_of, attributes, most_first, most_frequent, offsets, terms, counts):
    """Negate the counts of terms, in a batch of pages, that a label does not use.

    Page p of `streams` has terms[offsets[p]:offsets[p + 1]], rising, as `count_terms` numbers them: word * attributes + bit.
    It is taken note of the `most_first` terms that come first on a page, and of the `most_frequent` most frequent after them;
    of equals those that come first, then those of the least number. Cost: for long pages a pass over their words, with a
    search for each, and two sorts of their terms.
    """
    for p in range(len(offsets) - 1):
        start, size = offsets[p], offsets[p + 1] - offsets[p]
        if size <= most_first + most_frequent:
            continue
        length, _boundaries = decode_stream(streams, p, decoded)
        mine = terms[start : start + size]
        first = np.full(size, length, np.int64)
        for at in range(length - 1, -1, -1):
            word, flags = np.int64(word_of[decoded.terms[at]]), decoded.attributes[at]
            if word < 0:
                continue
            for bit in range(attributes):
                if (bit == 0 and flags & 1) or (bit > 0 and not flags & 1 and flags >> bit & 1):
                    first[np.searchsorted(mine, word * attributes + bit)] = at
        by_place = np.argsort(first * size + np.arange(size), kind="mergesort")
        most = counts[start : start + size].max()
        later = by_place[most_first:]
        rank = np.empty(len(later), np.int64)
        for i in range(len(later)):
            rank[i] = (most - counts[start + later[i]]) * size + i
        by_count = np.argsort(rank, kind="mergesort")
        for i in range(most_frequent, len(later)):
            counts[start + later[by_count[i]]] *= -1


@kernel
def sum_terms(pages, offsets, terms, counts, weights, sums, met, seen):
    """Add up tf, df and weights of the noted terms of some pages in `sums`, and write all their terms to `seen`.

    `sums` is (tf int64, df int64, weight float64), one for each term, zero before; so is `met` (bool). Counts of terms that
    are not noted are negative. Return the number of different terms. Cost: the entries of the pages.
    """
    tf, df, weight = sums
    n = 0
    for i in range(len(pages)):
        for entry in range(offsets[pages[i]], offsets[pages[i] + 1]):
            term = np.int64(terms[entry])
            if not met[term]:
                met[term] = True
                seen[n] = term
                n += 1
            if counts[entry] > 0:
                tf[term] += counts[entry]
                df[term] += 1
                weight[term] += weights[entry]
    return n


@kernel
def list_terms(pages, offsets, terms, met, seen):
    """Write the distinct terms of some pages to `seen`, and return their number; `met` (bool per term) must be false."""
    n = 0
    for i in range(len(pages)):
        for entry in range(offsets[pages[i]], offsets[pages[i] + 1]):
            term = np.int64(terms[entry])
            if not met[term]:
                met[term] = True
                seen[n] = term
                n += 1
    return n
