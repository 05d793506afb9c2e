"""Links that say nothing of what their target is about: site furniture, navigation, and links of pages that only list."""

from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags.links import anchor_pages, citing_pages, link_batches
from pagekin.bags.strategy import Strategy
from pagekin.bags.words import host_hash
from pagekin.hypertext import Corpus, DecodedPage
from pagekin.store import Array, batch_ranges, is_among

FEWEST = 4
"""Pages of a host that must link to a page before the page can be furniture, however small the host."""
LEAST_LISTED = 32
"""Pages that a page must link to before it can be one that only lists, however small the host."""
INDEX_ENTRIES = 50
"""Links that an alphabetical index has at least, …"""
INDEX_TARGETS = 20
"""… to so many pages; …"""
LINK_WORDS = 0.7
"""… the share of its words that stand in links; …"""
IN_ORDER = 0.7
"""… the share of links that follow the one before in alphabetical order (half of them would by chance); …"""
ONE_LETTER = 0.35
"""… and the share that begins with the same letter, …"""
SAME_TARGET = 3
"""… or so many links for each page linked to: an index of terms has several, a list of members has one."""
_BATCH_WORDS = 1 << 21


class LinkUse(IntEnum):
    """What a link is good for."""

    COUNTS = 0
    FURNITURE = 1
    """It is on page after page: it counts as a citation alone, and its words are not the page's own."""
    LISTED = 2
    """Its page lists a large part of the site: it counts as a citation alone, and its words are the page's own."""


class LinkTexts(NamedTuple):
    """The words of all anchors."""

    texts: npt.NDArray[np.uint64]
    """A hash of each anchor's words; 0 where it has none."""
    first_words: npt.NDArray[np.int64]
    """The term that each begins with; -1 where it has none."""


class JudgedLinks(NamedTuple):
    """What the links of all hosts are good for, and what decided it."""

    uses: npt.NDArray[np.uint8]
    """The `LinkUse` of every anchor."""
    common: npt.NDArray[np.int64]
    """URLs, rising: pages to which the links of their own host are furniture."""
    navigation: npt.NDArray[np.uint64]
    """Hashes, rising, each of a host and the words of its links that are navigation."""
    listing: npt.NDArray[np.int64]
    """URLs, rising: pages that only list others."""


def classify_links(corpus: Corpus, strategy: Strategy) -> npt.NDArray[np.uint8]:
    """Return the `LinkUse` of every anchor."""
    return judge_links(corpus, strategy).uses


def judge_links(corpus: Corpus, strategy: Strategy) -> JudgedLinks:
    """Judge the links of every host.

    `content.furniture` and `anchors.listing` of the strategy say which share of a host's pages is a large one; at 1 they
    leave out nothing. Of several captures of a URL the newest decides. Every choice is made from the links of one host, and
    goes by hashes of words and hosts, so that a web cut by host has the same furniture. Cost: one pass over all words, and
    sorting the anchors, once for an open corpus and all strategies with the same shares. The result is shared: do not change it.
    """
    shares = strategy.content.furniture, strategy.anchors.listing
    return corpus.term_tables(("judged links", *shares), lambda: _judge_links(corpus, strategy))


def _judge_links(corpus: Corpus, strategy: Strategy) -> JudgedLinks:
    uses = np.zeros(int(corpus.pages.anchors[-1]), dtype=np.uint8)
    finds_furniture, finds_lists = strategy.content.furniture < 1, strategy.anchors.listing < 1
    common, listing = np.zeros(0, np.int64), np.zeros(len(corpus), np.bool_)
    navigation = np.zeros(0, np.uint64)
    if len(corpus) and (finds_furniture or finds_lists):
        link_texts = read_link_texts(corpus)
        if finds_furniture:
            to_common = _find_common_targets(corpus, strategy.content.furniture)
            common = np.unique(np.asarray(corpus.anchors.target)[to_common]).astype(np.int64)
            keys, navigation = _find_navigation(corpus, strategy.content.furniture, link_texts.texts)
            uses[to_common | (is_among(keys, navigation) & (link_texts.texts != 0))] = LinkUse.FURNITURE
        if finds_lists:
            counts = uses == LinkUse.COUNTS
            listing = _find_listing_pages(corpus, strategy.anchors.listing, link_texts.first_words, counts)
            uses[counts & listing[anchor_pages(corpus)]] = LinkUse.LISTED
    return JudgedLinks(uses, common, navigation, np.unique(np.asarray(corpus.pages.url, dtype=np.int64)[listing]))


def read_link_texts(corpus: Corpus) -> LinkTexts:
    """Read the words of all anchors."""
    from pagekin.bags._kernels.keep import Anchors
    from pagekin.bags._kernels.texts import hash_strings
    from pagekin.bags._kernels.texts import read_link_texts as read_batch

    hashes = np.empty(len(corpus.terms), np.uint64)
    hash_strings(corpus.terms.data, corpus.terms.offsets, hashes)
    bounds = np.asarray(corpus.pages.anchors, dtype=np.int64)
    found = LinkTexts(np.zeros(int(bounds[-1]), np.uint64), np.full(int(bounds[-1]), -1, np.int64))
    for first, last in batch_ranges(corpus.pages.tokens, _BATCH_WORDS):
        streams = corpus.stream_batch(first, last)
        part = slice(int(bounds[first]), int(bounds[last]))
        anchors = Anchors(
            offsets=bounds[first : last + 1] - part.start,
            starts=np.array(corpus.anchors.start[part], dtype=np.int64),
            lengths=np.array(corpus.anchors.length[part], dtype=np.int64),
            uses=np.zeros(part.stop - part.start, np.uint8),
        )
        read_batch(
            streams, DecodedPage.for_longest(streams), anchors, hashes, found.texts[part], found.first_words[part]
        )
    return found


def host_hashes(corpus: Corpus) -> npt.NDArray[np.uint64]:
    """Return a hash of each host's name: the same in every collection."""
    return np.array([host_hash(name) for name in corpus.hosts], dtype=np.uint64)


def _pages_of_hosts(corpus: Corpus, newest: Array) -> npt.NDArray[np.int64]:
    """Return how many pages each host has."""
    return np.bincount(np.asarray(corpus.pages.host, dtype=np.int64)[newest], minlength=1)


def _find_common_targets(corpus: Corpus, share: float) -> npt.NDArray[np.bool_]:
    """Mark the anchors that lead to a page of their host to which this share of the host's pages link."""
    common_targets = np.zeros(int(corpus.pages.anchors[-1]), dtype=np.bool_)
    page_url, page_host = (np.asarray(column, dtype=np.int64) for column in (corpus.pages.url, corpus.pages.host))
    newest = citing_pages(corpus)
    host_of = np.full(len(corpus.urls), -1, dtype=np.int64)
    host_of[page_url] = page_host
    enough = np.maximum(FEWEST, share * _pages_of_hosts(corpus, newest))
    for links in link_batches(corpus):
        inside = page_host[links.pages] == host_of[links.targets]
        linking = links.count_pages(inside & newest[links.pages] & (page_url[links.pages] != links.targets))
        host = host_of[links.first : links.last]
        common = (host >= 0) & (linking >= enough[np.maximum(host, 0)])
        common_targets[links.anchors[inside & common[links.targets - links.first]]] = True
    return common_targets


def _find_navigation(
    corpus: Corpus, share: float, texts: npt.NDArray[np.uint64]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Return (a hash of every anchor's host and words, the hashes that are navigation).

    These are words that this share of the host's pages use for links, most of them for another target each. So "next" and "up"
    are known in any language.
    """
    pages = anchor_pages(corpus)
    hosts = np.asarray(corpus.pages.host, dtype=np.int64)[pages]
    newest = citing_pages(corpus)
    keys = texts ^ host_hashes(corpus)[hosts]
    some = np.flatnonzero((texts != 0) & newest[pages])
    linking, first = _count_distinct(keys[some], pages[some])
    targets, _first = _count_distinct(keys[some], np.asarray(corpus.anchors.target, dtype=np.int64)[some])
    enough = np.maximum(FEWEST, share * _pages_of_hosts(corpus, newest))[hosts[some[first]]]
    repeated = (linking >= enough) & (targets >= np.maximum(FEWEST, linking / 2))
    return keys, np.unique(keys[some[first[repeated]]])


def _count_distinct(keys: Array, values: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return for every key, in order, how many different values it has, and the place of one of them."""
    if not len(keys):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    order = np.lexsort((values, keys))
    keys, values = keys[order], values[order]
    new_key = np.append(True, keys[1:] != keys[:-1])
    new_value = new_key | np.append(True, values[1:] != values[:-1])
    starts = np.flatnonzero(new_key)
    return np.add.reduceat(new_value.astype(np.int64), starts), order[starts]


def _find_listing_pages(
    corpus: Corpus, share: float, first_words: npt.NDArray[np.int64], counts: Array
) -> npt.NDArray[np.bool_]:
    """Mark the pages that link to this share of their host's pages, and alphabetical indexes.

    `counts` marks the links that are looked at.
    """
    pages, targets = anchor_pages(corpus), np.asarray(corpus.anchors.target, dtype=np.int64)
    page_host = np.asarray(corpus.pages.host, dtype=np.int64)
    host_of = np.full(len(corpus.urls), -1, dtype=np.int64)
    host_of[np.asarray(corpus.pages.url, dtype=np.int64)] = page_host
    inside = np.flatnonzero(counts & (host_of[targets] == page_host[pages]))
    linked = np.zeros(len(corpus), np.int64)
    several, first = _count_distinct(pages[inside], targets[inside])
    linked[pages[inside[first]]] = several
    of_host = _pages_of_hosts(corpus, citing_pages(corpus))[page_host]
    listing: npt.NDArray[np.bool_] = linked >= np.maximum(LEAST_LISTED, share * of_host)
    for page in np.flatnonzero(~listing & (linked >= INDEX_TARGETS)).tolist():
        listing[page] = _is_index(corpus, page, int(linked[page]), first_words, counts)
    return listing


def _is_index(corpus: Corpus, page: int, linked: int, first_words: npt.NDArray[np.int64], counts: Array) -> bool:
    """Return whether a page that links to this many others is an alphabetical or chronological index of terms."""
    part = slice(*np.asarray(corpus.pages.anchors[page : page + 2], dtype=np.int64).tolist())
    looked_at = counts[part] & (first_words[part] >= 0)
    words = first_words[part][looked_at]
    length = int(corpus.pages.tokens[page + 1]) - int(corpus.pages.tokens[page])
    in_links = int(np.sum(corpus.anchors.length[part], dtype=np.int64))
    if len(words) < INDEX_ENTRIES or in_links < LINK_WORDS * length:
        return False
    texts = [corpus.word(int(word)) for word in words.tolist()]
    in_order = sum(one <= two for one, two in pairwise(texts))
    letters = np.unique([text[0] for text in texts], return_counts=True)[1]
    return bool(
        in_order >= IN_ORDER * (len(texts) - 1)
        and (letters.max() >= ONE_LETTER * len(texts) or len(texts) >= SAME_TARGET * linked)
    )


def words_in_furniture(corpus: Corpus, page: int, uses: Array) -> npt.NDArray[np.bool_]:
    """Return which words of a page stand in links that are furniture, given the `LinkUse` of all anchors."""
    found = np.zeros(len(corpus.stream(page).words), dtype=np.bool_)
    for anchor in corpus.anchors_out(page):
        if uses[anchor] == LinkUse.FURNITURE:
            start = int(corpus.anchors.start[anchor])
            found[start : start + int(corpus.anchors.length[anchor])] = True
    return found
