"""Make postings from word streams: the forms on each page, with attributes and counts."""

import math

import numpy as np

from pagekin.hypertext import decode_stream
from pagekin.store import kernel, sort_numbers
from pagekin.text.scoring import HEADER, HEADER_BIT, LONG, LONGEST_NARROW, PAGES_OF_RANGE, SHORT, TITLE_BIT

_ATTRIBUTE_BITS, _WORD_BITS = 6, 31
"""Bits of a sort key that hold a word's attributes, and its place on the page."""
_ATTRIBUTES = 1 << _ATTRIBUTE_BITS
_MOST = 255


@kernel
def count_forms(streams, decoded, form_of, forms, attributes, counts, where, ends):
    """Write each page's sorted (form, attributes) pairs, with the count and positions of each form; return the number of pairs.

    `streams` is a `StreamBatch` and `decoded` the `DecodedPage` for it. `where` takes the places of words, form after form, as in
    `Places`. A pair that stands there more than 255 times takes several entries, whose counts add up. Page p's entries end at
    `ends[p]`; there are at most as many as words. Cost: a sort of each page's words.
    """
    n = places = 0
    often = np.zeros(_ATTRIBUTES, dtype=np.int64)
    for p in range(len(ends)):
        length, _boundaries = decode_stream(streams, p, decoded)
        keys = np.empty(length, dtype=np.int64)
        for at in range(length):
            form = np.int64(form_of[decoded.terms[at]])
            keys[at] = (form << _WORD_BITS | at) << _ATTRIBUTE_BITS | decoded.attributes[at]
        sort_numbers(keys)
        first = 0
        while first < length:
            form = keys[first] >> (_WORD_BITS + _ATTRIBUTE_BITS)
            most = least = keys[first] & (_ATTRIBUTES - 1)
            while first < length and keys[first] >> (_WORD_BITS + _ATTRIBUTE_BITS) == form:
                under = keys[first] & (_ATTRIBUTES - 1)
                often[under] += 1
                least, most = min(least, under), max(most, under)
                word = keys[first] >> _ATTRIBUTE_BITS & ((1 << _WORD_BITS) - 1)
                if length > LONGEST_NARROW:
                    where[places] = word >> 16
                    places += 1
                where[places] = word & 0xFFFF
                places += 1
                first += 1
            for under in range(least, most + 1):
                while often[under]:
                    forms[n], attributes[n], counts[n] = form, under, min(often[under], _MOST)
                    often[under] -= counts[n]
                    n += 1
        ends[p] = n
    return n


@kernel
def place_entries(entries, pages, lengths, first, last, begin, where_begin, out):
    """Place the entries of forms `first` to `last`: the next one of form f goes to `begin[f - first]`, which then advances.

    `entries` are `Entries` of the `pages`, which have `lengths` words; `out` are `Columns`. `where_begin` is to the places what
    `begin` is to the rest. Cost: one pass over the entries.
    """
    word = 0
    for i in range(len(entries.form)):
        form, size = entries.form[i], np.int64(entries.counts[i])
        if lengths[i] > LONGEST_NARROW:
            size *= 2
        if first <= form < last:
            at = begin[form - first]
            begin[form - first] = at + 1
            out.page[at] = pages[i]
            out.attributes[at] = entries.attributes[i]
            out.counts[at] = entries.counts[i]
            at = where_begin[form - first]
            where_begin[form - first] = at + size
            for k in range(size):
                out.where[at + k] = entries.where[word + k]
        word += size


@kernel
def weigh_page(postings, at, end, bit):
    """Return (the start of the next page's entries, the form's weight outside the title, its count in the title).

    The page is that of entry `at`. Only entries under the attribute `bit` count, or all if it is 0.
    """
    page = postings.page[at]
    weight = times = 0
    while at < end and postings.page[at] == page:
        under = postings.attributes[at]
        if bit == 0 or under & bit:
            if under & TITLE_BIT:
                times += postings.counts[at]
            else:
                weight += (HEADER if under & HEADER_BIT else 1) * postings.counts[at]
        at += 1
    return at, weight, times


@kernel
def bound_form(postings, begin, end, count, words, title):
    """Write the most that a form can add to a score in each range of pages; see `Bounds` for the three arrays.

    `postings` are `Postings`, of which `begin` to `end` are the form's. The arrays have an entry per range. Return the number of
    pages. Cost: one pass over the entries.
    """
    count[:], words[:], title[:] = 0, 65_535, 0
    at, pages = begin, 0
    while at < end:
        page = postings.page[at]
        pages += 1
        at, weight, times = weigh_page(postings, at, end, 0)
        r = page // PAGES_OF_RANGE
        if weight:
            count[r] = max(count[r], min(weight, 255))
            words[r] = min(words[r], postings.words[page] // weight)
        if times:
            share = times / (times + (postings.titles[page] + SHORT) / LONG)
            title[r] = max(title[r], min(math.ceil(255 * share), 255))
    return pages
