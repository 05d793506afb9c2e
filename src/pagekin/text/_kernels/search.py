"""Find the pages that hold a word or a phrase, and score them: the compiled twin of `pagekin.text.plain`."""

import numpy as np

from pagekin.hypertext import decode_stream
from pagekin.store import kernel
from pagekin.text._kernels.postings import weigh_page
from pagekin.text.scoring import (
    CALLED,
    K1,
    LONG,
    LONGEST_NAME,
    LONGEST_NARROW,
    OPENING,
    PAGES_OF_RANGE,
    PRESENT,
    SHORT,
    STRONG,
    TITLE,
    B,
)

_ROUNDING = 1.0 + 1e-9
"""Bounds are computed in another order than scores, so the last digits may differ."""


@kernel
def mark_pages(postings, begin, end, flags):
    """Add PRESENT, and above it the attributes of entries `begin` to `end`, to the `flags` (uint8) of their pages."""
    for at in range(begin, end):
        page = postings.page[at]
        if page < len(flags):  # but for damage it is
            flags[page] |= postings.attributes[at] << 1 | PRESENT


@kernel
def _seek(pages, at, end, page):
    """Return the first place from `at` on, before `end`, whose page is not less than `page`; O(log of the distance)."""
    if at >= end or pages[at] >= page:
        return at
    step = 1
    while at + step < end and pages[at + step] < page:
        at += step
        step *= 2
    low, high = at + 1, min(at + step, end)
    while low < high:
        middle = (low + high) // 2
        if pages[middle] < page:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def count_pages(postings, begin, end, bit):
    """Count the pages with entries, from `begin` to `end`, under the attribute `bit` (any if it is 0). Cost: one pass."""
    count, last = 0, -1
    for at in range(begin, end):
        if postings.page[at] != last and (bit == 0 or postings.attributes[at] & bit):
            last = np.int64(postings.page[at])
            count += 1
    return count


@kernel
def pages_with_all(postings, terms, groups):
    """Return the pages of documents that hold all terms, unordered, and the number of these documents.

    `terms` are `Terms`, `groups` are `Groups`: each term may stand on another page of a document. Cost: for each entry of the
    rarest term, and each page of its documents, a short search for the others.
    """
    rarest = np.argmin(terms.end - terms.begin)
    begin = terms.begin.copy()
    pages = np.empty(terms.end[rarest] - begin[rarest] + len(groups.members), np.int64)
    likely = np.zeros(groups.documents, np.bool_)
    n, last = 0, -1
    for i in range(begin[rarest], terms.end[rarest]):
        page = np.int64(postings.page[i])
        if page == last or page >= len(postings.words):
            continue
        last = page
        if groups.documents and groups.of_page[page] >= 0:
            likely[groups.of_page[page]] = True
            continue
        holds = True
        for t in range(len(begin)):
            begin[t] = _seek(postings.page, begin[t], terms.end[t], page)
            if not _holds(postings, begin[t], terms.end[t], terms.bit[t], page):
                holds = False
                break
        if holds:
            pages[n] = page
            n += 1
    documents = n
    # Not within the loop above, which compiled code would then walk five times as slowly.
    for group in np.flatnonzero(likely):
        members = groups.members[groups.begin[group] : groups.begin[group + 1]]
        if _document_holds_all(postings, terms, members):
            documents += 1
            pages[n : n + len(members)] = members
            n += len(members)
    return pages[:n], documents


@kernel
def _document_holds_all(postings, terms, members):
    """Return whether each term occurs on at least one of some pages, given in order."""
    for t in range(len(terms.begin)):
        at, held = terms.begin[t], False
        for page in members:
            at = _seek(postings.page, at, terms.end[t], page)
            if _holds(postings, at, terms.end[t], terms.bit[t], page):
                held = True
                break
        if not held:
            return False
    return True


@kernel
def _holds(postings, at, end, bit, page):
    """Return whether an entry of `page` (they begin at `at`) is under the attribute `bit`, or any attribute if it is 0."""
    while at < end and postings.page[at] == page:
        if bit == 0 or postings.attributes[at] & bit:
            return True
        at += 1
    return False


@kernel
def best_of_groups(pages, scores, groups):
    """Return (pages, scores) with only the best page of each document, the least of equal ones, in the order of `pages`."""
    if groups.documents == 0:
        return pages, scores
    best = np.full(groups.documents, -1, np.int64)
    for i in range(len(pages)):
        group = groups.of_page[pages[i]]
        if group >= 0 and (best[group] < 0 or is_before(pages, scores, i, best[group])):
            best[group] = i
    kept_pages, kept_scores, n = np.empty_like(pages), np.empty_like(scores), 0
    for i in range(len(pages)):
        group = groups.of_page[pages[i]]
        if group < 0 or best[group] == i:
            kept_pages[n], kept_scores[n] = pages[i], scores[i]
            n += 1
    return kept_pages[:n], kept_scores[:n]


@kernel
def is_before(pages, scores, i, j):
    """Return whether hit i comes before hit j."""
    return scores[i] > scores[j] or (scores[i] == scores[j] and pages[i] < pages[j])


@kernel
def called_share(postings, form):
    """Return the start and end of a form's link-text entries; an empty range for form -1."""
    if form < 0:
        return 0, 0
    most = len(postings.called_page)  # which only damage exceeds
    return min(np.int64(postings.called_offsets[form]), most), min(np.int64(postings.called_offsets[form + 1]), most)


@kernel
def opening_share(postings, form):
    """Return the start and end of a form's opening entries; an empty range for form -1."""
    if form < 0:
        return 0, 0
    most = len(postings.opening_page)  # which only damage exceeds
    return min(np.int64(postings.opening_offsets[form]), most), min(np.int64(postings.opening_offsets[form + 1]), most)


@kernel
def score_pages(pages, postings, terms, mean):
    """Return the scores of `pages` (ascending), matching or not: sums over the terms, always in the same order.

    `terms` are `Terms`, `mean` is the mean length of pages in words. Cost: for each term and page a short search.
    """
    scores, by_title, named = np.zeros(len(pages)), np.zeros(len(pages)), np.zeros(len(pages))
    opened, called = np.zeros(len(pages), np.int64), np.zeros(len(pages), np.int64)
    all_named = 0.0
    for t in range(len(terms.begin)):
        at, end, bit, rarity = terms.begin[t], terms.end[t], terms.bit[t], terms.rarity[t]
        link, last_link = called_share(postings, terms.form[t])
        opening, last_opening = opening_share(postings, terms.form[t])
        all_named += rarity
        for i in range(len(pages)):
            page = pages[i]
            at = _seek(postings.page, at, end, page)
            weight = times = 0
            if at < end and postings.page[at] == page:
                at, weight, times = weigh_page(postings, at, end, bit)
            if weight:
                length = K1 * (1.0 - B + B * (postings.words[page] / mean))
                scores[i] += rarity * (weight * (K1 + 1.0) / (weight + length))
            if times:
                by_title[i] += rarity * (TITLE * times / (times + (postings.titles[page] + SHORT) / LONG))
                named[i] += rarity
                called[i] += bit == 0 and postings.titles[page] <= LONGEST_NAME
            elif link < last_link:
                link = _seek(postings.called_page, link, last_link, page)
                if link < last_link and postings.called_page[link] == page:
                    by_title[i] += rarity * (CALLED * postings.called[link] / 255.0)
                    named[i] += rarity
                    called[i] += postings.called[link] >= STRONG
            # Who did not say the terms before at once need not be asked for this one.
            if opened[i] == t and opening < last_opening:
                opening = _seek(postings.opening_page, opening, last_opening, page)
                opened[i] += opening < last_opening and postings.opening_page[opening] == page
    for i in range(len(pages)):
        if named[i] > 0.0:
            share = (named[i] / all_named) * (named[i] / all_named)
            scores[i] += by_title[i] * (share * share * share)
        if len(terms.begin) > 1 and (opened[i] == len(terms.begin) or called[i] == len(terms.begin)):
            scores[i] += OPENING * all_named
    return scores


@kernel
def bound_ranges(postings, terms, mean, bounds, ranges):
    """Return an upper bound of the scores in each range of pages.

    `bounds` are `Bounds`. The entries of a term without a row of them are few, and are looked at here. Cost: the ranges for each
    term with a row, the entries of each other one, and the pages that links call by a term.
    """
    text, by_name = np.zeros(ranges), np.zeros(ranges)
    at_least, per_word = K1 * (1.0 - B), K1 * B / mean
    largest, longest = np.zeros(ranges), np.zeros((len(terms.begin), ranges))
    for t in range(len(terms.begin)):
        rarity = terms.rarity[t]
        largest[:] = 0.0
        if terms.row[t] >= 0:
            first = terms.row[t] * ranges
            for r in range(ranges):
                count = bounds.weight[first + r]
                if count:
                    missing = 0.0 if count == 255 else at_least / count
                    largest[r] = 1.0 / (1.0 + missing + per_word * bounds.words[first + r])
                longest[t, r] = bounds.title[first + r] / 255.0
        else:
            at, end = terms.begin[t], terms.end[t]
            while at < end:
                page = postings.page[at]
                at, weight, times = weigh_page(postings, at, end, 0)
                r = page // PAGES_OF_RANGE
                if r >= ranges:  # only damage brings it about
                    break
                if weight:
                    value = weight / (weight + at_least + per_word * postings.words[page])
                    largest[r] = max(largest[r], value)
                if times:
                    longest[t, r] = max(longest[t, r], times / (times + (postings.titles[page] + SHORT) / LONG))
        for r in range(ranges):
            text[r] += rarity * (K1 + 1.0) * largest[r]
    none = np.zeros(len(terms.begin), np.uint8)
    for r in range(ranges):
        by_name[r] = _name_bound(terms, longest, r, none)
    _bound_called(postings, terms, longest, by_name)
    if len(terms.begin) > 1:
        _bound_openings(postings, terms, by_name)
    return (text + by_name) * _ROUNDING


@kernel
def _bound_called(postings, terms, longest, by_name):
    """Raise the bounds `by_name` of ranges by what pages can gain from link texts. Cost: one pass over the link texts."""
    at, end = np.zeros(len(terms.form), np.int64), np.zeros(len(terms.form), np.int64)
    for t in range(len(at)):
        at[t], end[t] = called_share(postings, terms.form[t])
    called = np.zeros(len(at), np.uint8)
    while True:
        page = np.int64(-1)
        for t in range(len(at)):
            if at[t] < end[t] and (page < 0 or postings.called_page[at[t]] < page):
                page = np.int64(postings.called_page[at[t]])
        if page < 0:
            return
        for t in range(len(at)):
            called[t] = 0
            if at[t] < end[t] and postings.called_page[at[t]] == page:
                called[t] = postings.called[at[t]]
                at[t] += 1
        r = page // PAGES_OF_RANGE
        if r < len(by_name):  # but for damage it is
            by_name[r] = max(by_name[r], _name_bound(terms, longest, r, called))


@kernel
def _name_bound(terms, longest, r, called):
    """Return the most that a page of range r can gain by its title and by links, whose strengths per term are `called`."""
    gained = named = all_named = 0.0
    for t in range(len(called)):
        all_named += terms.rarity[t]
        if longest[t, r] > 0.0 or called[t]:
            gained += terms.rarity[t] * max(TITLE * longest[t, r], CALLED * called[t] / 255.0)
            named += terms.rarity[t]
    share = (named / all_named) * (named / all_named) if named > 0.0 else 0.0
    whole = OPENING * all_named if len(called) > 1 and named >= all_named else 0.0
    return gained * (share * share * share) + whole


@kernel
def _bound_openings(postings, terms, by_name):
    """Raise the bounds `by_name` by what pages gain whose opening has all terms.

    Cost: for each page of the shortest share of openings a short search in the others.
    """
    at, end = np.zeros(len(terms.form), np.int64), np.zeros(len(terms.form), np.int64)
    gained, shortest = 0.0, 0
    for t in range(len(at)):
        at[t], end[t] = opening_share(postings, terms.form[t])
        gained += terms.rarity[t]
        if end[t] - at[t] < end[shortest] - at[shortest]:
            shortest = t
    raised = np.zeros(len(by_name), np.bool_)
    for i in range(at[shortest], end[shortest]):
        page, opened = np.int64(postings.opening_page[i]), True
        r = page // PAGES_OF_RANGE
        if r >= len(by_name) or raised[r]:  # only damage brings the first about
            continue
        for t in range(len(at)):
            at[t] = _seek(postings.opening_page, at[t], end[t], page)
            if at[t] >= end[t] or postings.opening_page[at[t]] != page:
                opened = False
                break
        if opened:
            raised[r] = True
            by_name[r] += OPENING * gained


@kernel
def mark_phrase(postings, places, runs, may, mask):
    """Set `mask` for the pages of `may` that have the phrase among the words under an attribute.

    `places` are the `Places` of the forms, in the order of the phrase, `runs` the `Runs` of words under the attribute: words
    outside of these do not stand between them. Cost: one pass over the forms' entries, and over their places on pages of `may`.
    """
    forms = len(places.begin)
    entry, last = places.begin.copy(), places.first.copy()
    first = last.copy()
    rarest = np.argmin(places.end - places.begin)
    while entry[rarest] < places.end[rarest]:
        page = np.int64(postings.page[entry[rarest]])
        if page >= len(may) or not may[page] or mask[page]:
            last[rarest] += postings.counts[entry[rarest]] * _width(postings, page)
            entry[rarest] += 1
            continue
        width = _width(postings, page)
        for form in range(forms):
            at, end, place = entry[form], places.end[form], last[form]
            while at < end and postings.page[at] < page:
                place += postings.counts[at] * _width(postings, postings.page[at])
                at += 1
            first[form] = place
            while at < end and postings.page[at] == page:
                place += postings.counts[at] * width
                at += 1
            entry[form], last[form] = at, place
        if last.max() <= len(places.where):  # but for damage it is
            bounds = runs.bounds[runs.ends[page - 1] if page else 0 : runs.ends[page]]
            mask[page] = _is_row(places.where, first, last, width, bounds)


@kernel
def _width(postings, page):
    """Return how many numbers a word's position on a page takes."""
    return 2 if postings.words[page] > LONGEST_NARROW else 1


@kernel
def _place(where, at, width):
    """Return the position stored at `at`."""
    return np.int64(where[at]) if width == 1 else np.int64(where[at]) << 16 | where[at + 1]


@kernel
def _is_row(where, first, last, width, bounds):
    """Return whether the forms are consecutive within the runs that `bounds` give.

    The places of form f on the page are those from `first[f]`, which moves on, to `last[f]` of `where`.
    """
    fewest = np.argmin(last - first)
    run = 0
    for at in range(first[fewest], last[fewest], width):
        word = _place(where, at, width)
        while run < len(bounds) and bounds[run + 1] <= word:
            run += 2
        if run == len(bounds):
            return False
        if bounds[run] > word:
            continue
        matched = 0
        while matched < len(first):
            if matched != fewest:
                wanted = _step(bounds, run, word, matched - fewest)
                place, end = first[matched], last[matched]
                while place < end and _place(where, place, width) < wanted:
                    place += width
                first[matched] = place
                if place >= end or _place(where, place, width) != wanted:
                    break
            matched += 1
        if matched == len(first):
            return True
    return False


@kernel
def _step(bounds, run, word, steps):
    """Return the word that is `steps` words after (or before) a word, across runs; -1 if there is none."""
    word += steps
    while word >= bounds[run + 1]:
        if run + 2 == len(bounds):
            return np.int64(-1)
        word += bounds[run + 2] - bounds[run + 1]
        run += 2
    while word < bounds[run]:
        if run == 0:
            return np.int64(-1)
        word -= bounds[run] - bounds[run - 1]
        run -= 2
    return word


@kernel
def mark_phrase_by_streams(streams, decoded, form_of, forms, bit, may, mask):
    """Do the same as `mark_phrase` for an index without positions, by reading all words of the pages."""
    for page in range(len(may)):
        if not may[page] or mask[page]:
            continue
        length, _boundaries = decode_stream(streams, page, decoded)
        under = 0
        for word in range(length):
            if decoded.attributes[word] & bit and decoded.terms[word] < len(form_of):
                decoded.terms[under] = form_of[decoded.terms[word]]
                under += 1
        for first in range(under - len(forms) + 1):
            matched = 0
            while matched < len(forms) and decoded.terms[first + matched] == forms[matched]:
                matched += 1
            if matched == len(forms):
                mask[page] = True
                break
