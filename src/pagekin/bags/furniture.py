"""Links that say nothing of what their target is about: site furniture, navigation, and links of pages that only list."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags.links import citing_pages
from pagekin.bags.mixing import mix64
from pagekin.bags.strategy import Strategy
from pagekin.bags.words import host_hash
from pagekin.hypertext import Corpus, DecodedPage, host_of
from pagekin.store import Array, batch_ranges, distinct, is_among, row_entries

FEWEST = 4
"""Pages of a host that must link to a page before the page can be furniture, however small the host."""
LEAST_LISTED = 32
"""Pages that a page must link to before it can be one that only lists, however small the host."""
LISTED_WORDS = 0.2
"""The share of its words that stand in links: less is a text that mentions many pages."""
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
MOST_SHEETS = 4
"""Pages on which most links of an index stand, at most: what is on more of them is a sidebar in alphabetical order."""
SHEET_WORDS = 0.5
"""The share of words in links on a further sheet of an index: on a short one, what stands around it takes more room."""
_SHEET = re.compile(r"(.*/[^/?#]+[-_])[^-_/?#]*")
"""The address of one of the sheets that an index is divided into: genindex-A.html, index-12.html, functions_b.html."""
SAME_TARGET = 3
"""… or so many links for each page linked to: an index of terms has several, a list of members has one."""
_BATCH_WORDS = 1 << 21
_BATCH_LINKS = 1 << 22
"""Links that are judged together, unless one host has more: they take some 100 bytes each."""


class LinkUse(IntEnum):
    """What a link is good for."""

    COUNTS = 0
    FURNITURE = 1
    """It is on page after page: it counts as a citation alone, and its words are not the page's own."""
    LISTED = 2
    """Its page lists a large part of the site: it counts as a citation alone, and its words are the page's own."""


class HostLinks(NamedTuple):
    """All links on the pages of some hosts. What a host's links are good for is decided from these alone."""

    anchors: npt.NDArray[np.int64]
    """Their numbers."""
    pages: npt.NDArray[np.int64]
    """The page on which each stands."""
    targets: npt.NDArray[np.int64]
    texts: npt.NDArray[np.uint64]
    """A hash of each one's words; 0 where it has none."""
    first_words: npt.NDArray[np.int64]
    """The term that each begins with; -1 where it has none."""


class _Site(NamedTuple):
    """What is known of all pages and addresses."""

    page_url: npt.NDArray[np.int64]
    page_host: npt.NDArray[np.int64]
    url_host: npt.NDArray[np.int64]
    """The host of each address that has a page, -1 for others."""
    newest: npt.NDArray[np.bool_]
    """Whether each page is the newest capture of its address."""
    host_pages: npt.NDArray[np.int64]
    """How many pages each host has."""
    host_hash: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, corpus: Corpus) -> "_Site":
        page_url, page_host = (np.asarray(column, dtype=np.int64) for column in (corpus.pages.url, corpus.pages.host))
        url_host = np.full(len(corpus.urls), -1, dtype=np.int64)
        url_host[page_url] = page_host
        newest = citing_pages(corpus)
        hosts = len(corpus.hosts)
        host_pages = np.bincount(page_host[newest], minlength=hosts)
        return cls(page_url, page_host, url_host, newest, host_pages, host_hashes(corpus))


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
    common, listing = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    navigation = [np.zeros(0, np.uint64)]
    if len(corpus) and (finds_furniture or finds_lists):
        site = _Site.of(corpus)
        for links in read_host_links(corpus, site.page_host):
            counts = np.ones(len(links.anchors), np.bool_)
            if finds_furniture:
                found = find_common_targets(links, site, strategy.content.furniture)
                keys, said = find_navigation(links, site, strategy.content.furniture)
                inside = site.url_host[links.targets] == site.page_host[links.pages]
                counts = ~((inside & is_among(links.targets, found)) | (is_among(keys, said) & (links.texts != 0)))
                uses[links.anchors[~counts]] = LinkUse.FURNITURE
                common.append(found)
                navigation.append(said)
            if finds_lists:
                lists = find_listing_pages(corpus, links, site, strategy.anchors.listing, counts)
                uses[links.anchors[counts & is_among(links.pages, lists)]] = LinkUse.LISTED
                listing.append(site.page_url[lists])
    rising = (np.unique(np.concatenate(found)) for found in (common, listing))
    return JudgedLinks(uses, next(rising), np.unique(np.concatenate(navigation)), next(rising))


def classify_by_epoch(corpus: Corpus, common: Array, navigation: Array, listing: Array) -> npt.NDArray[np.uint8]:
    """Return the `LinkUse` of every anchor by what was decided before, from all links of every host.

    `common`, `navigation` and `listing` are those of `JudgedLinks`, with the URL numbers of this corpus. So the links of a
    host of which a corpus has some pages only are classified as all of them were.
    """
    uses = np.zeros(int(corpus.pages.anchors[-1]), dtype=np.uint8)
    if not len(corpus):
        return uses
    page_host = np.asarray(corpus.pages.host, dtype=np.int64)
    hashes = host_hashes(corpus)
    common_host = np.array([host_hash(host_of(corpus.url(url)).encode()) for url in common.tolist()], dtype=np.uint64)
    listed = np.isin(corpus.pages.url, listing)
    for links in read_host_links(corpus, page_host):
        own = hashes[page_host[links.pages]]
        place = np.minimum(np.searchsorted(common, links.targets), max(len(common) - 1, 0))
        furniture = is_among(links.texts ^ own, navigation) & (links.texts != 0)
        if len(common):
            furniture |= (common[place] == links.targets) & (common_host[place] == own)
        uses[links.anchors[furniture]] = LinkUse.FURNITURE
        uses[links.anchors[~furniture & listed[links.pages]]] = LinkUse.LISTED
    return uses


def read_host_links(corpus: Corpus, page_host: npt.NDArray[np.int64]) -> Iterator[HostLinks]:
    """Yield the links of all hosts, some hosts at a time: a few million links, or all of one host."""
    from pagekin.bags._kernels.texts import hash_strings

    hashes = np.empty(len(corpus.terms), np.uint64)
    hash_strings(corpus.terms.data, corpus.terms.offsets, hashes)
    bounds = np.asarray(corpus.pages.anchors, dtype=np.int64)
    by_host = np.argsort(page_host, kind="stable")
    pages_until = np.searchsorted(page_host[by_host], np.arange(int(page_host.max()) + 2))
    links_until = np.append(0, np.cumsum(np.diff(bounds)[by_host]))[pages_until]
    for first, last in batch_ranges(links_until, _BATCH_LINKS):
        pages = np.sort(by_host[pages_until[first] : pages_until[last]])
        anchors = row_entries(bounds, pages)
        texts, first_words = _read_link_texts(corpus, pages, bounds, hashes)
        targets = np.asarray(corpus.anchors.target[anchors], dtype=np.int64)
        yield HostLinks(anchors, np.repeat(pages, np.diff(bounds)[pages]), targets, texts, first_words)


def _read_link_texts(
    corpus: Corpus, pages: Array, bounds: Array, hashes: Array
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Return a hash of the words of each link on some pages, rising, and the word that each begins with."""
    from pagekin.bags._kernels.keep import Anchors
    from pagekin.bags._kernels.texts import read_link_texts

    count = int(np.sum(bounds[pages + 1] - bounds[pages]))
    texts, first_words, done = np.zeros(count, np.uint64), np.full(count, -1, np.int64), 0
    for run in np.split(pages, np.flatnonzero(np.diff(pages) != 1) + 1):
        tokens = np.asarray(corpus.pages.tokens[int(run[0]) : int(run[-1]) + 2], dtype=np.int64)
        for begin, end in batch_ranges(tokens, _BATCH_WORDS):
            first, last = int(run[0]) + begin, int(run[0]) + end
            streams = corpus.stream_batch(first, last)
            part = slice(int(bounds[first]), int(bounds[last]))
            anchors = Anchors(
                offsets=bounds[first : last + 1] - part.start,
                starts=np.array(corpus.anchors.start[part], dtype=np.int64),
                lengths=np.array(corpus.anchors.length[part], dtype=np.int64),
                uses=np.zeros(part.stop - part.start, np.uint8),
            )
            here = slice(done, done + part.stop - part.start)
            read_link_texts(streams, DecodedPage.for_longest(streams), anchors, hashes, texts[here], first_words[here])
            done = here.stop
    return texts, first_words


def host_hashes(corpus: Corpus) -> npt.NDArray[np.uint64]:
    """Return a hash of each host's name: the same in every collection."""
    return np.array([host_hash(name) for name in corpus.hosts], dtype=np.uint64)


def find_common_targets(links: HostLinks, site: _Site, share: float) -> npt.NDArray[np.int64]:
    """Return the addresses, rising, to which this share of their own host's pages link."""
    pages, targets = links.pages, links.targets
    inside = site.url_host[targets] == site.page_host[pages]
    some = inside & site.newest[pages] & (site.page_url[pages] != targets)
    linking, first = _count_distinct(targets[some], pages[some])
    found = targets[some][first]
    return np.asarray(found[linking >= np.maximum(FEWEST, share * site.host_pages[site.url_host[found]])])


def find_navigation(
    links: HostLinks, site: _Site, share: float
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Return (a hash of every link's host and words, the hashes that are navigation, rising).

    These are words that this share of the host's pages use for links, most of them for another target each. So "next" and "up"
    are known in any language.
    """
    hosts = site.page_host[links.pages]
    keys = links.texts ^ site.host_hash[hosts]
    some = np.flatnonzero((links.texts != 0) & site.newest[links.pages])
    linking, first = _count_distinct(keys[some], links.pages[some])
    targets, _first = _count_distinct(keys[some], links.targets[some])
    enough = np.maximum(FEWEST, share * site.host_pages)[hosts[some[first]]]
    repeated = (linking >= enough) & (targets >= np.maximum(FEWEST, linking / 2))
    return keys, distinct(keys[some[first[repeated]]])


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


def find_listing_pages(
    corpus: Corpus, links: HostLinks, site: _Site, share: float, counts: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """Return the pages that link to this share of their host's pages, and alphabetical indexes.

    `counts` marks the links that are looked at.
    """
    inside = np.flatnonzero(counts & (site.url_host[links.targets] == site.page_host[links.pages]))
    linked, first = _count_distinct(links.pages[inside], links.targets[inside])
    pages = links.pages[inside[first]]
    listing = linked >= np.maximum(LEAST_LISTED, share * site.host_pages[site.page_host[pages]])
    for place in np.flatnonzero(listing).tolist():  # a long text may link to much of a site, too
        listing[place] = _is_of_links(corpus, int(pages[place]), LISTED_WORDS)
    indexes: list[int] = []
    for place in np.flatnonzero(~listing & (linked >= INDEX_TARGETS)).tolist():
        page = int(pages[place])
        mine = slice(*np.searchsorted(links.pages, [page, page + 1]).tolist())
        listing[place] = _is_index(corpus, page, int(linked[place]), links.first_words[mine], counts[mine])
        if listing[place]:
            indexes.append(page)
    repeated = _with_repeated_links(links, np.array(indexes, np.int64), counts)
    found = np.asarray(pages[listing & ~is_among(pages, repeated)])
    return np.union1d(found, np.array(_other_sheets(corpus, found.tolist()), np.int64))


def _with_repeated_links(links: HostLinks, pages: Array, counts: Array) -> npt.NDArray[np.int64]:
    """Return those of some pages, rising, most of whose links stand on other pages, too: in a sidebar, not in an index."""
    mine = np.flatnonzero(counts & is_among(links.pages, pages))
    keys = links.texts ^ mix64(links.targets.astype(np.uint64))
    some = np.flatnonzero(is_among(keys, keys[mine]))
    on_pages, first = _count_distinct(keys[some], links.pages[some])
    of_mine = on_pages[np.searchsorted(keys[some[first]], keys[mine])]
    places = np.searchsorted(pages, links.pages[mine])
    often = np.bincount(places, of_mine > MOST_SHEETS, len(pages))
    return np.asarray(pages[2 * often > np.bincount(places, minlength=len(pages))])


def _other_sheets(corpus: Corpus, listing: Sequence[int]) -> list[int]:
    """Return further sheets of indexes: `genindex-J` is one if `genindex-A` and most of its kind are, though it is short."""
    known = set(listing)
    prefixes = Counter(prefix for page in listing if (prefix := _sheet_prefix(corpus.page_url(page))))
    found = []
    for prefix, sheets in prefixes.items():
        if sheets >= FEWEST:
            family = [page for page in corpus.pages_under(prefix) if _sheet_prefix(corpus.page_url(page)) == prefix]
            if 2 * sheets >= len(family):
                found += [page for page in family if page not in known and _is_of_links(corpus, page, SHEET_WORDS)]
    return found


def _sheet_prefix(url: str) -> str:
    """Return the beginning of the address of a sheet of an index, up to what tells it from others; '' if there is none."""
    match = _SHEET.fullmatch(url)
    return match[1] if match else ""


def _is_of_links(corpus: Corpus, page: int, share: float = LINK_WORDS) -> bool:
    """Return whether this share of a page's words stand in links."""
    part = slice(*np.asarray(corpus.pages.anchors[page : page + 2], dtype=np.int64).tolist())
    length = int(corpus.pages.tokens[page + 1]) - int(corpus.pages.tokens[page])
    return int(np.sum(corpus.anchors.length[part], dtype=np.int64)) >= share * length


def _is_index(corpus: Corpus, page: int, linked: int, first_words: npt.NDArray[np.int64], counts: Array) -> bool:
    """Return whether a page that links to this many others is an alphabetical or chronological index of terms.

    Of the page's links, `counts` marks those that are looked at.
    """
    words = first_words[counts & (first_words >= 0)]
    if len(words) < INDEX_ENTRIES or not _is_of_links(corpus, page):
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
