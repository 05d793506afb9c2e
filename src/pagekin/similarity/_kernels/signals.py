"""Compare one bag with many by all signals that depend on bags."""

from typing import Any, NamedTuple

import numpy as np

from pagekin.similarity._kernels.slots import fill_filter, fill_slots, find_slot, may_hold
from pagekin.store import kernel

TITLE = 4  # of `Origin`
HEAVY, COSINE, CONTAINED, TITLED = range(4)
"""Columns of the rows of a query: `SignalReader.query_values` says what each is."""


class Entries(NamedTuple):
    """The bags of all documents, with the frequencies of their terms."""

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
    weights: Any  # float32 (terms): of the bag
    rows: Any  # float32 (terms by 4)
    slots: Any  # int32, a power of two, several times as many as terms: written
    bits: Any  # uint64, a power of two, as many as terms or more: written
    idf: Any  # float32: how rare a term is that so many pages say, from 0 on
    whole: int  # pages of the whole


class BagPlaces(NamedTuple):
    """Room for places of entries in a bag; each array is as long as the longest bag, and one more."""

    counted: Any  # uint32: of the terms that the page says
    met: Any  # uint32: of the terms that the query may hold


@kernel
def rarity(query, pages):
    """Return the rarity of a term on this many pages: from the table, or computed if the count exceeds the table."""
    if pages < len(query.idf):
        return np.float64(query.idf[pages])
    return np.float64(np.float32(1.0 + np.log((1.0 + query.whole) / (1.0 + pages))))


@kernel
def compare_titles(query, entries, begin, end):
    """Return the share of a title that the query's heaviest terms cover, for the bag between two entries."""
    covered = whole = 0.0
    for i in range(begin, end):
        if entries.flags[i] & TITLE:
            rare = rarity(query, entries.pages[entries.terms[i]])
            whole += rare
            own = find_slot(query.slots, query.terms, entries.terms[i])
            if own >= 0:
                covered += rare * query.rows[own, HEAVY]
    return covered / whole if whole > 0 else 0.0


@kernel
def compare_bags(query, entries, tf, k1, b, documents, places, out):
    """Write (Σ min(query, bag), cosine, containment, title, Σ bag) of each document to `out` (float64, documents by 5).

    `tf` (float64, 256) is the weight of a count; k1 and b are BM25's; `places` are `BagPlaces`, written. Cost: the documents'
    terms, and for each that the page says one random read, of how many pages say it. The first loop over a bag has no branch
    that depends on its entries: which of them count cannot be predicted, and a wrong guess costs more than all else.
    IndexError for what a damaged collection might hold: compiled code would read beyond its arrays.
    """
    fill_slots(query.terms, query.slots)
    fill_filter(query.terms, query.bits)
    for place in range(len(documents)):
        document = documents[place]
        if document < 0 or document + 1 >= len(entries.offsets) or entries.offsets[document + 1] > len(entries.terms):
            raise IndexError("there is no such document")
        begin, end = np.int64(entries.offsets[document]), np.int64(entries.offsets[document + 1])
        if end - begin >= len(places.met):
            raise IndexError("there is no such bag")
        terms, weights = entries.terms[begin:end], entries.weights[begin:end]
        counts, flags = entries.counts[begin:end], entries.flags[begin:end]
        length = counted = met = 0
        last_term, any_flags, total = np.uint32(0), np.uint8(0), 0.0
        for i in range(len(terms)):
            last_term = max(last_term, terms[i])
            any_flags |= flags[i]
            total += weights[i]
            length += counts[i]
            places.counted[counted] = i
            counted += counts[i] > 0
            places.met[met] = i
            met += may_hold(query.bits, terms[i])
        if last_term >= len(entries.pages):
            raise IndexError("there is no such term")
        norm = 0.0
        for j in range(counted):
            i = places.counted[j]
            value = tf[counts[i]] * rarity(query, entries.pages[terms[i]])
            norm += value * value
        saturation = k1 * (1.0 - b + b * length / entries.mean_length)
        cosine = contained = our_title = shared = 0.0
        for j in range(met):
            i = places.met[j]
            own = find_slot(query.slots, query.terms, terms[i])
            if own >= 0:
                count = counts[i]
                shared += min(query.weights[own], weights[i])
                our_title += query.rows[own, TITLED] * np.float64(weights[i])
                if count > 0:
                    cosine += query.rows[own, COSINE] * (tf[count] * rarity(query, entries.pages[terms[i]]))
                    contained += query.rows[own, CONTAINED] * (count / (count + saturation))
        theirs = compare_titles(query, entries, begin, end) if any_flags & TITLE else 0.0
        ours = our_title / np.float64(weights.max()) if our_title > 0 else 0.0
        out[place, 0] = shared
        out[place, 1] = cosine / np.sqrt(norm) if norm > 0 else 0.0
        out[place, 2] = contained
        out[place, 3] = (theirs + ours) / 2
        out[place, 4] = total
