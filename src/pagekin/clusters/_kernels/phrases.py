"""Phrases of titles, breadcrumbs, headings and link texts: runs of a few words, found in one pass over the word streams."""

import numpy as np

from pagekin.bags import mix_number
from pagekin.clusters.phrases import IN_TEXT, MOST_CONTENT
from pagekin.hypertext import decode_stream
from pagekin.store import kernel

LINK, HEADING, CRUMB, TITLE, NAVIGATION = 1, 2, 3, 4, 5
"""Where a phrase stands, the places that tell more last; twice that, and 1 more if it stands alone, is its rank.

What stands in links of navigation is no phrase.
"""
LONGEST = 5
"""Words of a phrase, at most."""
MOST_WORDS = 320
"""Words of a page that phrases are taken from, at most: those of titles, crumbs and headings before those of links."""
MOST_TEXT = 2000
"""Words of running text of a page that are looked at."""
LONGEST_TEXT = 3
OFTEN = 2
"""A page is about a phrase that stands so often in its text."""
_CRUMBS_START, _CRUMBS_END = 9, 10
_TITLE_BIT, _HEADER_BIT = 1, 2


@kernel
def mark_runs(decoded, length, boundaries, starts, lengths, left_out, site_begin, site_end, kinds, breaks):
    """Write the kind of place of each word to `kinds` (0 for running text), and whether it begins a run to `breaks`.

    `starts`, `lengths` and `left_out` are of the page's anchors. The first `site_begin` and the last `site_end` words of the
    title are the site's, not the page's. Cost: one pass over words, boundaries and anchors.
    """
    for at in range(length):
        attributes = decoded.attributes[at]
        kinds[at] = TITLE if attributes & _TITLE_BIT else HEADING if attributes & _HEADER_BIT else 0
        breaks[at] = False
    title, title_end = 0, 0
    for at in range(length):
        if kinds[at] == TITLE:
            title_end = at + 1
            if at == 0 or kinds[at - 1] != TITLE:
                title = at
    for at in range(title, min(title + site_begin, title_end)):
        kinds[at] = 0
    for at in range(max(title_end - site_end, title), title_end):
        kinds[at] = 0
    crumbs = -1
    for i in range(boundaries):
        at = decoded.boundary_at[i]
        if at < length:
            breaks[at] = True
        if decoded.boundary_kind[i] == _CRUMBS_START:
            crumbs = at
        elif decoded.boundary_kind[i] == _CRUMBS_END and crumbs >= 0:
            for word in range(crumbs, min(at, length)):
                kinds[word] = max(kinds[word], CRUMB)
            crumbs = -1
    for i in range(len(starts)):
        first, last = starts[i], min(starts[i] + lengths[i], length)
        if first < last:
            breaks[first] = True
        if last < length:
            breaks[last] = True
        kind = NAVIGATION if left_out[i] else LINK
        for at in range(first, last):
            if kinds[at] <= LINK:
                kinds[at] = kind


@kernel
def add_run(decoded, word_of, first, last, rank, longest, counts, least, found, n):
    """Write the phrases of one run of words to `found` from place n on; return the next free place.

    A phrase begins and ends with words that `word_of` knows. The same stems have the same hash. Phrases with a count less
    than `least` are left out.
    """
    hashes, ranks, places, words = found
    mask = np.uint64(len(counts) - 1)
    while first < last and word_of[decoded.terms[first]] < 0:
        first += 1
    while first < last and word_of[decoded.terms[last - 1]] < 0:
        last -= 1
    for start in range(first, last):
        if word_of[decoded.terms[start]] < 0:
            continue
        value = np.uint64(0x9E3779B97F4A7C15)
        content = 0
        begins = start == first or (rank == 2 * TITLE and word_of[decoded.terms[start - 1]] < 0)
        for stop in range(start, min(start + longest, last)):
            word = np.int64(word_of[decoded.terms[stop]])
            token = word * 2 if word >= 0 else decoded.terms[stop] * 2 + 1
            value = mix_number(value ^ np.uint64(token))
            if word < 0:
                continue
            content += 1
            if content > MOST_CONTENT:
                break
            if counts[value & mask] < least:
                continue
            hashes[n] = value
            # The head of a title stands alone as well, and so does its end: "demographics of benin".
            ends = stop == last - 1 or (rank == 2 * TITLE and word_of[decoded.terms[stop + 1]] < 0)
            ranks[n] = rank + (1 if rank and begins and ends and (start == first or stop == last - 1) else 0)
            places[n] = start
            words[n] = stop - start + 1
            n += 1
    return n


@kernel
def page_phrases(decoded, length, word_of, kinds, breaks, counts, least, found):
    """Write the phrases of one page to `found` (hashes, ranks, places, words), each once, by hash; return their number.

    Words of titles, crumbs and headings go before those of links, and with `least` come those of running text, which count if
    they are there often. Cost: a sort of the phrases.
    """
    hashes, ranks, places, words = found
    n = 0
    left = MOST_WORDS
    for step in range(3 if least else 2):
        if step == 2:
            left = MOST_TEXT
        at = 0
        while at < length and left > 0:
            kind = kinds[at]
            last = at + 1
            in_text = step == 2 and kind < HEADING
            while last < length and not breaks[last] and (kinds[last] == kind or (in_text and kinds[last] < HEADING)):
                last += 1
            if in_text or (step == 1 and kind == LINK) or (step == 0 and HEADING <= kind <= TITLE):
                end = min(last, at + left)
                left -= end - at
                rank = 0 if step == 2 else 2 * kind
                n = add_run(
                    decoded, word_of, at, end, rank, LONGEST if step < 2 else LONGEST_TEXT, counts, least, found, n
                )
            at = last
    order = np.argsort(hashes[:n], kind="mergesort")
    sorted_hashes, sorted_ranks = hashes[:n][order], ranks[:n][order]
    sorted_places, sorted_words = places[:n][order], words[:n][order]
    kept, i = 0, 0
    while i < n:
        best, end, times = i, i, 0
        while end < n and sorted_hashes[end] == sorted_hashes[i]:
            if sorted_ranks[end] > sorted_ranks[best]:
                best = end
            if sorted_ranks[end] == 0:
                times += 1
            end += 1
        if sorted_ranks[best] > 0 or times >= OFTEN:
            hashes[kept], places[kept], words[kept] = sorted_hashes[i], sorted_places[best], sorted_words[best]
            ranks[kept] = sorted_ranks[best] + (IN_TEXT if times >= OFTEN else 0)
            kept += 1
        i = end
    return kept


@kernel
def find_phrases(streams, decoded, word_of, site_words, anchors, counts, least, scratch, out, ends):
    """Count the phrases of a batch of pages, or write those that enough pages hold; return how many were written.

    `site_words` (pages, 2) are the words at the beginning and at the end of each title that are the site's, or -1 for a page
    that shows no phrases. `anchors` are (offsets of the batch's pages, starts, lengths, left_out). `counts` is a table of
    uint8 by the last bits of hashes. With `least` 0, it counts how many pages hold a phrase; else phrases with a count of
    `least` or more are written to `out` (hashes, ranks, places, words), and page p's end at `ends[p]`. `scratch` is (kinds,
    breaks, found).
    """
    offsets, starts, lengths, left_out = anchors
    kinds, breaks, found = scratch
    mask = np.uint64(len(counts) - 1)
    n = 0
    for p in range(len(ends)):
        ends[p] = n
        if site_words[p, 0] < 0:
            continue
        length, boundaries = decode_stream(streams, p, decoded)
        first, last = offsets[p], offsets[p + 1]
        mark_runs(
            decoded, length, boundaries, starts[first:last], lengths[first:last], left_out[first:last],
            site_words[p, 0], site_words[p, 1], kinds, breaks,
        )  # fmt: skip
        count = page_phrases(decoded, length, word_of, kinds, breaks, counts, least, found)
        for i in range(count):
            slot = found[0][i] & mask
            if least == 0:
                if counts[slot] < 255:
                    counts[slot] += 1
            else:
                out[0][n], out[1][n], out[2][n], out[3][n] = found[0][i], found[1][i], found[2][i], found[3][i]
                n += 1
        ends[p] = n
    return n
