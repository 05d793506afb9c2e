"""Rank the pages that match a query: the compiled twin of what `TextSearch` does with masks and sorting.

All of a question is one call, since a call with this many arrays costs as much as the ten best of a few pages.
"""

import numpy as np

from pagekin.store import kernel, sort_numbers
from pagekin.text._kernels.search import best_of_groups, bound_ranges, is_before, pages_with_all, score_pages
from pagekin.text.scoring import PAGES_OF_RANGE

_WORTH_BOUNDING = 500
"""Matches below which all are scored, unless many are asked for."""
_WORTH_SEEKING = 16
"""How many times as many entries the other terms have as the rarest, so that seeking beats reading all."""
_MOST_LEVELS = 255
"""Terms that a level counts."""


@kernel
def rank_words(postings, terms, bounds, groups, options):
    """Return (the number of documents that match, the best pages, their scores), the best first.

    `postings` are `Postings`, `terms` `Terms`, `bounds` `Bounds`, `groups` `Groups`, and `options` are `RankOptions`. Of equal
    scores the least page comes first. Cost: one pass over the terms' entries, or for each entry of a rare term a short search in
    the others; then that of `rank_marked`.
    """
    if options.every and len(options.keep) == 0 and _is_sparse(postings, terms):
        pages, documents = pages_with_all(postings, terms, groups)
        if len(pages) < _few(options):
            if documents < len(pages):
                sort_numbers(pages)
            pages, scores = _rank_pages(postings, terms, groups, options, pages)
            return documents, pages, scores
        levels = np.zeros(len(postings.words), np.uint8)
        for page in pages:
            levels[page] = 1
        return _rank_level(postings, terms, bounds, groups, options, levels, 1)
    levels = _levels(postings, terms, groups, options.every)
    return _rank_level(postings, terms, bounds, groups, options, levels, len(terms.begin) if options.every else 1)


@kernel
def rank_marked(postings, terms, bounds, groups, options, mask):
    """Return the same for the pages of `mask` (bool, pages).

    Cost: the ranges of pages for each term, and the pages of those ranges whose bounds exceed the last of the best scores.
    """
    return _rank_level(postings, terms, bounds, groups, options, mask.view(np.uint8), 1)


@kernel
def _is_sparse(postings, terms):
    """Return whether seeking the pages of the rarest term costs less than reading the entries of all."""
    if len(terms.begin) > _MOST_LEVELS:
        return True
    entries = terms.end - terms.begin
    return entries.min() * _WORTH_SEEKING * (len(entries) - 1) < entries.sum() + len(postings.words) // 8


@kernel
def _levels(postings, terms, groups, every):
    """Return the level (uint8) of each page: how many terms, from the first on, it holds; or 1 if it holds any.

    A page of a document has the level of the document.
    """
    levels, of_document = np.zeros(len(postings.words), np.uint8), np.zeros(groups.documents, np.uint8)
    for t in range(len(terms.begin)):
        before, bit = np.uint8(t if every else 0), terms.bit[t]
        # Apart, since compiled code walks this loop several times as fast.
        if bit == 0 and groups.documents == 0:
            for at in range(terms.begin[t], terms.end[t]):
                page = postings.page[at]
                if page < len(levels):  # but for damage it is
                    levels[page] += levels[page] == before
            continue
        for at in range(terms.begin[t], terms.end[t]):
            page = postings.page[at]
            if page >= len(levels) or (bit and not postings.attributes[at] & bit):
                continue
            group = groups.of_page[page] if groups.documents else -1
            if group < 0:
                levels[page] += levels[page] == before
            else:
                of_document[group] += of_document[group] == before
    for page in groups.members:
        levels[page] = of_document[groups.of_page[page]]
    return levels


@kernel
def _count_level(levels, level, groups, keep):
    """Return how many pages are of a level, and how many documents they are; first set those that may not match to level 0."""
    for page in range(len(keep)):
        if not keep[page]:
            levels[page] = 0
    pages = 0
    for page in range(len(levels)):
        pages += levels[page] == level
    documents = pages
    if groups.documents:
        matched = np.zeros(groups.documents, np.bool_)
        for page in groups.members:
            if levels[page] == level:
                documents -= matched[groups.of_page[page]]
                matched[groups.of_page[page]] = True
    return pages, documents


@kernel
def _rank_level(postings, terms, bounds, groups, options, levels, level):
    """Return (the number of documents of a level, their best pages, the scores)."""
    count, documents = _count_level(levels, level, groups, options.keep)
    if options.most == 0:
        return documents, np.zeros(0, np.int64), np.zeros(0)
    if documents >= _few(options):
        pages, scores = _rank_by_bounds(postings, terms, bounds, groups, options, levels, level, documents)
        return documents, pages, scores
    picked, n = np.empty(count, np.int64), 0
    for begin in range(0, len(levels), PAGES_OF_RANGE):
        if n < count:
            n = _pick_pages(levels, level, begin, picked, n)
    pages, scores = _rank_pages(postings, terms, groups, options, picked)
    return documents, pages, scores


@kernel
def _few(options):
    """Return the number of matches from which bounds save more than they cost."""
    return max(_WORTH_BOUNDING, 8 * options.most)


@kernel
def _pick_pages(levels, level, begin, pages, n):
    """Write the pages of the range from `begin` on that are of a level to `pages` from place `n` on; return where they end."""
    end = min(begin + PAGES_OF_RANGE, len(levels))
    # Most ranges of a rare match have none: compiled code compares many pages at once.
    some = False
    for page in range(begin, end):
        some |= levels[page] == level
    if some:
        for page in range(begin, end):
            if levels[page] == level:
                pages[n] = page
                n += 1
    return n


@kernel
def _rank_pages(postings, terms, groups, options, pages):
    """Return the best of `pages` (ascending), and their scores."""
    if options.most == 0:
        return pages[:0], np.zeros(0)
    scores = score_pages(pages, postings, terms, options.mean)
    pages, scores = best_of_groups(pages, scores, groups)
    return best_first(pages, scores, options.most)


@kernel
def _rank_by_bounds(postings, terms, bounds, groups, options, levels, level, documents):
    """Return the best pages of a level and their scores; score only ranges of pages whose bounds allow for better ones."""
    ranges = -(-len(levels) // PAGES_OF_RANGE)
    bound = bound_ranges(postings, terms, options.mean, bounds, ranges)
    waiting = np.arange(ranges)
    for root in range(ranges // 2 - 1, -1, -1):
        _sift(bound, waiting, root, ranges)
    # Enough ranges for the best pages to be among them, then more and more of those that may still hold better ones.
    wanted = 1 + (2 * options.most + _WORTH_BOUNDING // 8) * ranges // documents
    pages, scores, least = np.zeros(0, np.int64), np.zeros(0), -np.inf
    while ranges and bound[waiting[0]] >= least:
        taken = np.empty(min(wanted, ranges), np.int64)
        n = 0
        while n < len(taken) and bound[waiting[0]] >= least:
            taken[n] = waiting[0]
            n += 1
            ranges -= 1
            waiting[0] = waiting[ranges]
            _sift(bound, waiting, 0, ranges)
        wanted *= 2
        sort_numbers(taken[:n])
        more = np.empty(n * PAGES_OF_RANGE, np.int64)
        count = 0
        for r in taken[:n]:
            count = _pick_pages(levels, level, r * PAGES_OF_RANGE, more, count)
        gained = score_pages(more[:count], postings, terms, options.mean)
        pages, scores = best_of_groups(_join(pages, more[:count]), _join(scores, gained), groups)
        pages, scores = best_first(pages, scores, options.most)
        if len(pages) == options.most:
            least = scores[-1]
    return pages, scores


@kernel
def _join(one, other):
    """Return two arrays as one; np.concatenate and np.argsort take seconds to compile."""
    joined = np.empty(len(one) + len(other), one.dtype)
    joined[: len(one)] = one
    joined[len(one) :] = other
    return joined


@kernel
def _sift(bound, waiting, root, count):
    """Move the range at `root` down the heap `waiting`, the largest bound first, of which `count` are used."""
    moved = waiting[root]
    while 2 * root + 1 < count:
        child = 2 * root + 1
        if child + 1 < count and bound[waiting[child + 1]] > bound[waiting[child]]:
            child += 1
        if bound[waiting[child]] <= bound[moved]:
            break
        waiting[root] = waiting[child]
        root = child
    if count:
        waiting[root] = moved


@kernel
def best_first(pages, scores, most):
    """Return at most `most` pages with the highest scores, and these; the best first, of equal ones the least page.

    Cost: one pass over the scores, and for those among the best so far a heap's height.
    """
    kept = np.empty(min(most, len(pages)), np.int64)
    n = 0
    for i in range(len(pages) if most else 0):
        if n < len(kept):
            _rise(pages, scores, kept, n, i)
            n += 1
        elif is_before(pages, scores, i, kept[0]):
            kept[0] = i
            _sink(pages, scores, kept, n)
    best_pages, best_scores = np.empty(n, np.int64), np.empty(n)
    while n:
        n -= 1
        best_pages[n], best_scores[n] = pages[kept[0]], scores[kept[0]]
        kept[0] = kept[n]
        _sink(pages, scores, kept, n)
    return best_pages, best_scores


@kernel
def _rise(pages, scores, kept, at, i):
    """Put hit i into the heap `kept`, the last hit first, at its end `at`."""
    while at and is_before(pages, scores, kept[(at - 1) // 2], i):
        kept[at] = kept[(at - 1) // 2]
        at = (at - 1) // 2
    kept[at] = i


@kernel
def _sink(pages, scores, kept, count):
    """Move the first hit of the heap `kept` down, of which `count` are used."""
    moved, at = kept[0], 0
    while 2 * at + 1 < count:
        child = 2 * at + 1
        if child + 1 < count and is_before(pages, scores, kept[child], kept[child + 1]):
            child += 1
        if not is_before(pages, scores, moved, kept[child]):
            break
        kept[at] = kept[child]
        at = child
    kept[at] = moved
