"""From word streams to counted (attribute, word) pairs, and from weighted ones to the similarities of all pages."""

import math
from typing import Any, NamedTuple

import numpy as np

from pagekin.hypertext import decode_stream
from pagekin.store import kernel, sort_numbers

TITLE = 1
ATTRIBUTES = 6
_BLOCK = 64


class Table(NamedTuple):
    """A sparse matrix by rows and by columns: row d is entries offsets[d] to offsets[d + 1] of the first three."""

    offsets: Any
    """int64 (rows + 1)"""
    terms: Any
    """int64 (entries): the column of each."""
    weights: Any
    """float32 (entries)"""
    documents: Any
    """int32 (entries), column by column: the row of each, rising."""
    values: Any
    """float32 (entries), column by column."""
    ends: Any
    """int64 (columns): where each column ends."""
    places: Any
    """int64 (entries): where the entry of a row stands among the columns."""


@kernel
def count_terms(streams, decoded, word_of, terms, counts, ends):
    """Write each page's sorted (attribute, word) pairs with their counts; return the number of pairs.

    `streams` is a `StreamBatch`, `decoded` the `DecodedPage` for it; `word_of` gives a term's word, or less than 0. A pair's
    number is word * ATTRIBUTES + the attribute's bit. Page p's pairs end at `ends[p]`; `terms` and `counts` have room for all
    attributes of all words. Cost: a sort of each page's pairs.
    """
    n = 0
    for p in range(len(ends)):
        start = n
        length, _boundaries = decode_stream(streams, p, decoded)
        for at in range(length):
            word, attributes = np.int64(word_of[decoded.terms[at]]), decoded.attributes[at]
            if word < 0:
                continue
            if attributes & TITLE:
                terms[n] = word * ATTRIBUTES
                n += 1
                continue
            for bit in range(1, ATTRIBUTES):
                if attributes >> bit & 1:
                    terms[n] = word * ATTRIBUTES + bit
                    n += 1
        found = terms[start:n].copy()
        sort_numbers(found)
        n = start
        for i in range(len(found)):
            if i and found[i] == found[i - 1]:
                counts[n - 1] += 1
            else:
                terms[n] = found[i]
                counts[n] = 1
                n += 1
        ends[p] = n
    return n


@kernel
def weigh(offsets, terms, counts, factors, weights):
    """Write the weights of counted pairs (equations 6 to 8): rows of length 1. `factors` (ATTRIBUTES) are w^at.

    A pair with the factor 0 or a negative count has the weight 0 and does not count as the page's most frequent one. Cost: two
    passes.
    """
    for d in range(len(offsets) - 1):
        most = 0
        for i in range(offsets[d], offsets[d + 1]):
            if factors[terms[i] % ATTRIBUTES] > 0:
                most = max(most, counts[i])
        squares = 0.0
        for i in range(offsets[d], offsets[d + 1]):
            factor = factors[terms[i] % ATTRIBUTES]
            if factor > 0 and counts[i] >= 0:
                squares += (factor * (0.5 + 0.5 * counts[i] / most)) ** 2
        size = 1.0 / math.sqrt(squares) if squares > 0 else 0.0
        for i in range(offsets[d], offsets[d + 1]):
            factor = factors[terms[i] % ATTRIBUTES]
            if factor > 0 and counts[i] >= 0:
                weights[i] = factor * (0.5 + 0.5 * counts[i] / most) * size
            else:
                weights[i] = 0.0


@kernel
def by_column(offsets, terms, weights, width):
    """Return a matrix, given by rows, as a Table with columns, in which documents are ascending."""
    ends = np.zeros(width + 1, dtype=np.int64)
    for i in range(len(terms)):
        ends[terms[i] + 1] += 1
    for t in range(width):
        ends[t + 1] += ends[t]
    documents = np.empty(len(terms), dtype=np.int32)
    values = np.empty(len(terms), dtype=np.float32)
    places = np.empty(len(terms), dtype=np.int64)
    # Each column's start moves on as it is filled, and becomes its end.
    for d in range(len(offsets) - 1):
        for i in range(offsets[d], offsets[d + 1]):
            place = ends[terms[i]]
            documents[place], values[place], places[i] = d, weights[i], place
            ends[terms[i]] += 1
    return Table(offsets, terms, weights, documents, values, ends[:width], places)


@kernel
def similarities_after(first, last, table, sizes, found):
    """Write to `found[d, d:]` the dot products of row d, for first <= d < last, with itself and all rows after it.

    They are divided by the rows' `sizes` (float64), which are 1 but for rounding: so equal rows have the similarity 1. Terms are
    added up in one order, so equal rows are equally similar to a third. Cost: for each term the pairs of its documents.
    """
    row = np.empty(len(sizes), dtype=np.float64)
    for d in range(first, last):
        row[d:] = 0.0
        for i in range(table.offsets[d], table.offsets[d + 1]):
            weight = np.float64(table.weights[i])
            for k in range(table.places[i], table.ends[table.terms[i]]):
                row[table.documents[k]] += weight * np.float64(table.values[k])
        for e in range(d, len(row)):
            found[d, e] = row[e] / (sizes[d] * sizes[e]) if row[e] > 0 else 0.0


@kernel
def mirror(found, first, last):
    """Copy columns first to last of the upper triangle of `found` to the rows of the lower one, a block at a time."""
    for top in range(0, last, _BLOCK):
        for left in range(first, last, _BLOCK):
            for e in range(left, min(left + _BLOCK, last)):
                for d in range(top, min(top + _BLOCK, e)):
                    found[e, d] = found[d, e]
