"""Compare one bag with many, by all signals that bags give."""

from typing import Any, NamedTuple

import numpy as np

from pagekin.similarity._kernels.slots import fill_slots, find_slot
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
    pages: Any  # uint32 (terms): how many pages say the term
    mean_length: float  # of a page, in counted words


class QueryRows(NamedTuple):
    """The terms of a query and their values."""

    terms: Any  # uint32 (terms)
    rows: Any  # float32 (terms by 4)
    slots: Any  # int32, a power of two, several times as many as terms: written
    idf: Any  # float32: how rare a term is that so many pages say, from 0 on
    whole: int  # pages of the whole


@kernel
def rarity(query, pages):
    """Return how rare a term is that so many pages say: from the table, or worked out for the few that more say."""
    if pages < len(query.idf):
        return np.float64(query.idf[pages])
    return np.float64(np.float32(1.0 + np.log((1.0 + query.whole) / (1.0 + pages))))


@kernel
def compare_words(query, entries, tf, k1, b, documents, out):
    """Write (cosine, containment, title) of each document to `out` (float64, documents by 3).

    `tf` (float64, 256) is the weight of a count; k1 and b are BM25's. Cost: the documents' terms, one random read each, of how
    many pages say it. IndexError for what a damaged collection might hold: compiled code would read beyond its arrays.
    """
    fill_slots(query.terms, query.slots)
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
            if term >= len(entries.pages):
                raise IndexError("there is no such term")
            here, count = np.float64(entries.weights[i]), entries.counts[i]
            is_title = entries.flags[i] & TITLE
            heaviest = max(heaviest, here)
            own = find_slot(query.slots, query.terms, term)
            if count > 0 or is_title:
                rare = rarity(query, entries.pages[term])
                if count > 0:
                    value = tf[count] * rare
                    norm += value * value
                    if own >= 0:
                        cosine += query.rows[own, COSINE] * value
                        contained += query.rows[own, CONTAINED] * (count / (count + saturation))
                if is_title:
                    title_idf += rare
                    if own >= 0:
                        their_title += rare * query.rows[own, HEAVY]
            if own >= 0:
                our_title += query.rows[own, TITLED] * here
        out[place, 0] = cosine / np.sqrt(norm) if norm > 0 else 0.0
        out[place, 1] = contained
        theirs = their_title / title_idf if title_idf > 0 else 0.0
        out[place, 2] = (theirs + (our_title / heaviest if heaviest > 0 else 0.0)) / 2
