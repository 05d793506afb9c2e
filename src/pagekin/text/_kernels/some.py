"""Rank pages that hold some words of a question: the compiled twin of what `TextSearch` does with masks."""

import numpy as np

from pagekin.store import kernel
from pagekin.text._kernels.search import best_of_groups, called_share, mark_pages, mark_phrase, score_pages
from pagekin.text.scoring import PRESENT, ROW, TEXT_BIT, TITLE_BIT, Places


@kernel
def rank_some(postings, terms, places, rows, runs, groups, mean, least_named, keep):
    """Return (the number of documents that hold a term, the best page of each, their scores).

    `terms` are `Terms` that are looked for anywhere, `places` their `Places`, `rows` the `Rows` of neighbours among them,
    `runs` the two `Runs` of title and text, `keep` tells which pages may match; empty if all may. Pages that hold all terms,
    or are called all but one and more than `least_named` by inverse frequency, come before others. Cost: one pass over the
    terms' entries and places, and a few over all pages.
    """
    pages = len(postings.words)
    flags = np.zeros((len(terms.begin), pages), np.uint8)
    for t in range(len(flags)):
        mark_pages(postings, terms.begin[t], terms.end[t], flags[t])
    held = _terms_held(flags, groups)
    mask = held > 0
    if len(keep):
        mask &= keep
    matched = np.flatnonzero(mask)
    scores = score_pages(matched, postings, terms, mean)
    gained = _gain_by_rows(postings, places, rows, runs, flags, mask)
    named, words = _names(postings, terms, flags)
    for i in range(len(matched)):
        page = matched[i]
        score = scores[i] + ROW * gained[page]
        called = words[page] >= len(flags) - 1 and named[page] > least_named
        scores[i] = 1.0 + score if called or held[page] == len(flags) else score / (1.0 + score)
    best, best_scores = best_of_groups(matched, scores, groups)
    return len(best), best, best_scores


@kernel
def _terms_held(flags, groups):
    """Return how many terms occur on each page, or on another page of its document."""
    held = np.zeros(flags.shape[1], np.int64)
    of_group = np.zeros(groups.documents, np.bool_)
    for t in range(len(flags)):
        of_group[:] = False
        for page in groups.members:
            if flags[t, page] & PRESENT:
                of_group[groups.of_page[page]] = True
        for page in range(len(held)):
            held[page] += flags[t, page] & PRESENT
        for page in groups.members:
            held[page] += of_group[groups.of_page[page]] and not flags[t, page] & PRESENT
    return held


@kernel
def _gain_by_rows(postings, places, rows, runs, flags, mask):
    """Return, for each page, the weights of neighbouring query words that are consecutive in its title or text."""
    gained = np.zeros(len(mask))
    may, in_row = np.zeros(len(mask), np.bool_), np.zeros(len(mask), np.bool_)
    pair = np.zeros(2, np.int64)
    for r in range(len(rows.weight)):
        pair[0], pair[1] = rows.first[r], rows.second[r]
        both = Places(places.begin[pair], places.end[pair], places.first[pair], places.where)
        in_row[:] = False
        for under in range(2):
            bit = np.uint8((TEXT_BIT if under else TITLE_BIT) << 1)
            some = False
            for page in range(len(mask)):
                may[page] = mask[page] and flags[pair[0], page] & flags[pair[1], page] & bit
                some |= may[page]
            if some:
                mark_phrase(postings, both, runs[under], may, in_row)
        for page in range(len(mask)):
            if in_row[page]:
                gained[page] += rows.weight[r]
    return gained


@kernel
def _names(postings, terms, flags):
    """Return, for each page, the summed inverse frequencies of the terms in its title or link texts, and their number."""
    named, words = np.zeros(flags.shape[1]), np.zeros(flags.shape[1], np.int64)
    by_link = np.zeros(flags.shape[1], np.bool_)
    for t in range(len(flags)):
        begin, end = called_share(postings, terms.form[t])
        by_link[:] = False
        for at in range(begin, end):
            if postings.called_page[at] < len(by_link):  # but for damage it is
                by_link[postings.called_page[at]] = True
        for page in range(len(by_link)):
            if by_link[page] or flags[t, page] & np.uint8(TITLE_BIT << 1):
                named[page] += terms.rarity[t]
                words[page] += 1
    return named, words
