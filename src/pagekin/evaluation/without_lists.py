"""A collection as if its see-also lists had never been written, so that the lists may judge the weights of all signals."""

import copy
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pagekin.bags import Bags, LinkColumns, Origin, bag_forms, link_weights, word_hash
from pagekin.evaluation.author_links import PageLists, SeeAlsoReader
from pagekin.evaluation.halves import draw
from pagekin.evaluation.served import LEAST_SOURCES
from pagekin.similarity import RelatedIndex
from pagekin.store import Array

MOST_LISTS = 0.2
"""A page that a larger share of all lists names stands there by a template: no author recommends it."""
LEAST_NAMED = 5
"""Pages that no more lists than this name are never taken for such."""
_AROUND = 80
"""Words on either side of a list whose windows may reach into it."""
Targets = dict[int, npt.NDArray[np.int64]]
"""By document: some of those that it links to."""
Lists = dict[int, PageLists]
"""By document: its see-also lists."""


def read_lists(index: RelatedIndex, seed: int, more: Callable[[], bool] = lambda: True) -> Lists:
    """Return the see-also lists of all pages, or of as many random ones as time allows."""
    reader = SeeAlsoReader(index.corpus)
    documents = np.flatnonzero(index.are_captured(np.arange(len(index))))
    lists: Lists = {}
    for done, document in enumerate(draw(documents, seed, len(documents)).tolist()):
        if done >= LEAST_SOURCES and not more():
            break
        found = reader.read(int(index.documents.pages(np.array([document]))[0]))
        if found is not None:
            lists[document] = found
    return lists


def listed_documents(index: RelatedIndex, lists: Lists) -> tuple[Targets, npt.NDArray[np.int64]]:
    """Return (the pages that the lists of each document name, pages that a template names).

    Documents without any are left out, and so are addresses that are only linked to: nothing is known of them but the links.
    """
    named: Targets = {}
    for document, each in lists.items():
        targets = _documents(index, each.listed)
        named[document] = targets[index.are_captured(targets) & (targets != document)]
    times = np.bincount(np.concatenate([np.zeros(0, np.int64), *named.values()]), minlength=len(index))
    common = np.flatnonzero(times > max(MOST_LISTS * len(lists), LEAST_NAMED))
    chosen = {document: np.setdiff1d(targets, common) for document, targets in named.items()}
    return {document: targets for document, targets in chosen.items() if len(targets)}, common


def take_out_lists(index: RelatedIndex, links: LinkColumns, lists: Lists) -> tuple[RelatedIndex, LinkColumns]:
    """Return the index and the links as if the lists had never been written.

    Gone are a list's words, and the links for which nothing else on the page stands. In the bags of their targets also go the
    words that only links brought, if they stand in the list or near it. Signatures stay, so that candidates are as they were.
    """
    bags = copy.copy(index.bags)
    bags.weights, bags.counts, bags.flags = np.array(bags.weights), np.array(bags.counts), np.array(bags.flags)
    terms = _terms_of_words(index, lists)
    is_near = np.zeros(len(bags.hashes) + 1, np.bool_)  # the last one for words without a term, which are none of a bag
    hidden: Targets = {}
    for document, each in lists.items():
        targets = _documents(index, each.listed)
        hidden[document] = np.setdiff1d(targets, _documents(index, each.elsewhere))
        inside = terms[each.words[each.inside]]
        _take_words(bags, document, inside[inside >= 0])
        _take_addresses(bags, document, np.setdiff1d(each.listed, each.elsewhere))
        near = terms[each.words[_widen(each.inside)]]
        is_near[near] = True
        for target in targets.tolist():
            _take_anchor_words(bags, target, is_near)
        is_near[near] = False
    return index.with_bags(bags), without_links(links, hidden)


def _terms_of_words(index: RelatedIndex, lists: Lists) -> npt.NDArray[np.int64]:
    """Return the bag's term of each word of the corpus, -1 for words without one and those that are far from all lists."""
    is_used = np.zeros(len(index.corpus.terms), np.bool_)
    for each in lists.values():
        is_used[each.words[_widen(each.inside)]] = True
    used = np.flatnonzero(is_used)
    forms = bag_forms([index.corpus.word(word) for word in used.tolist()], index.strategy)
    terms = np.full(len(is_used), -1, np.int64)
    terms[used] = index.bags.find(np.array([word_hash(form) for form in forms], np.uint64))
    terms[used[[not form for form in forms]]] = -1
    return terms


def _documents(index: RelatedIndex, urls: Array) -> npt.NDArray[np.int64]:
    """Return the distinct documents of some URL numbers."""
    documents = index.bags.documents(urls)
    return np.unique(documents[documents >= 0])


def _widen(inside: Array) -> npt.NDArray[np.bool_]:
    """Mark the words that are marked or stand near one."""
    sums = np.append(0, np.cumsum(inside))
    places = np.arange(len(inside))
    first, last = np.maximum(places - _AROUND, 0), np.minimum(places + _AROUND + 1, len(inside))
    return np.asarray(sums[last] > sums[first])


def _take_words(bags: Bags, document: int, terms: Array) -> None:
    """Take words off a page; those that are nowhere else go."""
    span = bags.span(document)
    gone, times = np.unique(terms, return_counts=True)
    own = np.asarray(bags.terms[span], np.int64)
    order = np.argsort(own, kind="stable")
    place = np.minimum(np.searchsorted(own, gone, sorter=order), len(own) - 1)
    entries = span.start + order[place]
    there = (own[order[place]] == gone) & (bags.counts[entries] > 0)
    entries, times = entries[there], times[there]
    bags.counts[entries] = np.maximum(bags.counts[entries].astype(np.int64) - times, 0)
    ended = entries[bags.counts[entries] == 0]
    bags.flags[ended] &= np.uint8(0xFF & ~Origin.CONTENT)
    bags.weights[ended[bags.flags[ended] == 0]] = 0


def _take_addresses(bags: Bags, document: int, urls: Array) -> None:
    """Take pages that a page links to off its bag."""
    span = bags.span(document)
    entries = span.start + np.flatnonzero(np.asarray(bags.flags[span]) & Origin.OUTLINKS)
    bags.weights[entries[np.isin(bags.linked_urls(bags.terms[entries]), urls)]] = 0


def _take_anchor_words(bags: Bags, document: int, is_near: Array) -> None:
    """Take words off a bag that only links brought, of the terms that are marked."""
    span = bags.span(document)
    flags, terms = np.asarray(bags.flags[span]), np.asarray(bags.terms[span])
    bags.weights[span][(flags == Origin.ANCHORS) & is_near[terms]] = 0


def without_links(links: LinkColumns, hidden: Targets) -> LinkColumns:
    """Return the links without hidden ones, with weights as if these had never been."""
    pages, offsets = len(links.lists), np.asarray(links.out_offsets, np.int64)
    sources = np.repeat(np.arange(pages), offsets[1:] - offsets[:-1])
    targets = np.asarray(links.out, np.int64)
    gone = [source * pages + some for source, some in hidden.items()]
    kept = ~np.isin(sources * pages + targets, np.concatenate(gone))
    sources, targets = sources[kept], targets[kept]
    outlinks, inlinks = (np.bincount(side, minlength=pages) for side in (sources, targets))
    by_target = np.lexsort((sources, targets))
    return replace(
        links,
        out_offsets=np.cumsum(np.append(0, outlinks)),
        out=targets.astype(np.uint32),
        in_offsets=np.cumsum(np.append(0, inlinks)),
        into=sources[by_target].astype(np.uint32),
        out_weight=np.bincount(sources, link_weights(inlinks)[targets], pages).astype(np.float32),
        in_weight=np.bincount(targets, link_weights(outlinks)[sources], pages).astype(np.float32),
    )
