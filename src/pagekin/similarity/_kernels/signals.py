"""Compare one bag with many, by all signals that bags give."""

from typing import Any, NamedTuple

import numpy as np

from pagekin.store import kernel

TITLE = 4  # of `Origin`
HEAVY, COSINE, CONTAINED, TITLED = range(4)
"""Columns of the table of a query: `QueryTable` says what each is."""


class Entries(NamedTuple):
    """The bags of all documents, and what is known of their terms."""

    terms: Any  # uint32 (entries)
    weights: Any  # float32 (entries)
    counts: Any  # uint8 (entries): how often the page says the term
    flags: Any  # uint8 (entries): `Origin`
    offsets: Any  # unsigned (documents + 1)
    idf: Any  # float32 (terms)
    mean_length: float  # of a page, in counted words


@kernel
def compare_words(table, entries, tf, k1, b, documents, out):
    """Write (cosine, containment, title) of each document to `out` (float64, documents by 3).

    `table` (float32, terms by 4) has the query's values of each term, `tf` (float64, 256) the weight of a count; k1 and b are
    BM25's. Cost: the documents' terms, one random read each. IndexError for what a damaged collection might hold:
    compiled code would read beyond its arrays.
    """
    for place in range(len(documents)):
        document = documents[place]
        if document < 0 or document + 1 >= len(entries.offsets) or entries.offsets[document + 1] > len(entries.terms):
            raise IndexError("there is no such document")
        begin, end = np.int64(entries.offsets[document]), np.int64(entries.offsets[document + 1])
        length = 0
        for i in range(begin, end):
            length += entries.counts[i]
        saturation = k1 * (1.0 - b + b * length / entries.mean_length)
        cosine = norm = contained = their_title = title_idf = our_title = heaviest = 0.0
        for i in range(begin, end):
            term = entries.terms[i]
            if term >= len(table):
                raise IndexError("there is no such term")
            here, rare = np.float64(entries.weights[i]), np.float64(entries.idf[term])
            count, own = entries.counts[i], table[term]
            heaviest = max(heaviest, here)
            if count > 0:
                value = tf[count] * rare
                norm += value * value
                cosine += own[COSINE] * value
                contained += own[CONTAINED] * (count / (count + saturation))
            our_title += own[TITLED] * here
            if entries.flags[i] & TITLE:
                title_idf += rare
                their_title += rare * own[HEAVY]
        out[place, 0] = cosine / np.sqrt(norm) if norm > 0 else 0.0
        out[place, 1] = contained
        theirs = their_title / title_idf if title_idf > 0 else 0.0
        out[place, 2] = (theirs + (our_title / heaviest if heaviest > 0 else 0.0)) / 2
