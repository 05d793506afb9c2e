"""Judge links by all links of their host: site furniture, navigation, and pages that only list.

A host may lie in several shards. Then its links are judged in rounds: each shard counts what it has, the counts of all shards are
added up, and every shard goes on from the sums. A collection in one piece goes the same way, with sums of one part.
"""

from collections import Counter
from collections.abc import Generator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags.counting import count_distinct
from pagekin.bags.furniture import (
    HostLinkReader,
    HostLinks,
    LinkUse,
    read_links_together,
)
from pagekin.bags.listing import (
    INDEX_TARGETS,
    LISTED_WORDS,
    MOST_SHEETS,
    SHEET_WORDS,
    is_index,
    is_of_links,
    sheet_prefix,
)
from pagekin.bags.menus import find_menus
from pagekin.bags.mixing import mix64
from pagekin.bags.sequences import find_sequences
from pagekin.bags.site import Site
from pagekin.bags.strategy import Strategy
from pagekin.bags.tallies import Tally, make_tally
from pagekin.bags.words import prefix_hash
from pagekin.hypertext import Corpus
from pagekin.store import IN_MEMORY, Array, Workspace, distinct, is_among, map_in_order

FEWEST = 4
"""Pages of a host that must link to a page before the page can be furniture, however small the host."""
LEAST_LISTED = 32
"""Pages that a page must link to before it can be one that only lists, however small the host."""
_PAGES, _LINKED, _SAID, _TARGETS, _INDEXED, _ON_PAGES, _SHEETS, _FAMILY = range(8)
"""Kinds of counts: pages of a host, pages that link to a target, pages that use words for links, targets of these words, links
of indexes, pages with these links, sheets that list, all of their family."""
ASKED_BY_ALL = np.array([_INDEXED, _SHEETS])
"""Kinds of counts of which a shard looks up keys that it may not have counted itself."""
Rounds = Generator[Tally, Tally, "_HostJudgement"]
"""Yields what one shard counts, and takes the sum over all shards."""


class JudgedLinks(NamedTuple):
    """The judgement of the links of all hosts, and its grounds."""

    uses: npt.NDArray[np.uint8]
    """The `LinkUse` of every anchor."""
    common: npt.NDArray[np.int64]
    """URLs, rising: pages to which the links of their own host are furniture."""
    navigation: npt.NDArray[np.uint64]
    """Hashes, rising, each of a host and the words or a label of its links that are navigation, or of a host or a folder and a
    link that it repeats."""
    listing: npt.NDArray[np.int64]
    """URLs, rising: pages that only list others."""


class _HostJudgement(NamedTuple):
    """The judgement of the links of some hosts."""

    uses: npt.NDArray[np.uint8]
    """The `LinkUse` of each of the links."""
    common: npt.NDArray[np.int64]
    navigation: npt.NDArray[np.uint64]
    pages: npt.NDArray[np.int64]
    """Pages that only list others."""


def classify_links(corpus: Corpus, strategy: Strategy) -> npt.NDArray[np.uint8]:
    """Return the `LinkUse` of every anchor."""
    return judge_links(corpus, strategy).uses


def judge_links(corpus: Corpus, strategy: Strategy, room: Workspace = IN_MEMORY, threads: int = 1) -> JudgedLinks:
    """Judge the links of every host, within the memory of a room, or in several threads where that is not limited.

    `content.furniture` and `anchors.listing` of the strategy say which share of a host's pages is a large one; at 1 they
    leave out nothing. Of several captures of a URL the newest decides. Every choice is made from the links of one host, and
    goes by hashes of words and hosts, so that a web cut by host has the same furniture. Cost: one pass over all words, and
    sorting the anchors, once for an open corpus and all strategies with the same shares. The result is shared: do not change it.
    """
    shares = strategy.content.furniture, strategy.anchors.listing
    return corpus.term_tables(("judged links", *shares), lambda: _judge_links(corpus, strategy, room, threads))


def judge_links_in_rounds(
    corpus: Corpus, strategy: Strategy, captured: Array, cut_hosts: Array, sums: Sequence[Tally]
) -> Tally | JudgedLinks:
    """Judge the links of a shard, given the sums of earlier rounds over all shards; return its counts for the next round.

    `captured` marks the addresses that have a page in any shard, `cut_hosts` are the hashes of the hosts of which other
    shards have pages, too. After the last round the judgement itself is returned: at once by a shard without such hosts, and
    after as many rounds by all others. Of a sum a shard needs the keys that it has counted itself, and all of `ASKED_BY_ALL`.
    """
    site = Site.of(corpus, captured)
    is_cut = is_among(site.host_hash, cut_hosts)
    if not np.any(is_cut):
        return _judge_all(corpus, strategy, site, ~is_cut, [])
    pages = np.flatnonzero(is_cut[site.page_host])
    links = read_links_together(corpus, pages)
    rounds = _judge_hosts(corpus, links, site, strategy, np.flatnonzero(is_cut))
    try:
        counted = next(rounds)
        for total in sums:
            counted = rounds.send(total)
    except StopIteration as last:
        return _judge_all(corpus, strategy, site, ~is_cut, [(links, last.value)])
    return counted


def find_captured(corpus: Corpus, addresses: Sequence[bytes]) -> npt.NDArray[np.bool_]:
    """Mark the addresses that have a page in a corpus; other shards ask for this when they judge links."""
    urls = np.fromiter(map(corpus.urls.find, addresses), np.int64, len(addresses))
    return is_among(urls, np.asarray(corpus.pages.url, dtype=np.int64))


def _judge_links(corpus: Corpus, strategy: Strategy, room: Workspace = IN_MEMORY, threads: int = 1) -> JudgedLinks:
    return _judge_all(corpus, strategy, Site.of(corpus), np.ones(len(corpus.hosts), np.bool_), [], room, threads)


def _judge_all(
    corpus: Corpus, strategy: Strategy, site: Site, whole: Array, judged: list[tuple[HostLinks, _HostJudgement]],
    room: Workspace = IN_MEMORY, threads: int = 1,
) -> JudgedLinks:  # fmt: skip
    """Judge the links of the hosts that are `whole`, some hosts in each thread, and join the result with links judged before."""
    uses = room.full(int(corpus.pages.anchors[-1]), 0, np.uint8)
    parts = [_HostJudgement(uses[:0], np.zeros(0, np.int64), np.zeros(0, np.uint64), np.zeros(0, np.int64))]
    for links, part in judged:
        uses[links.anchors] = part.uses
        parts.append(part)
    if len(corpus) and (strategy.content.furniture < 1 or strategy.anchors.listing < 1):
        if room.memory.limit:  # a host is judged whole, however large: two of them at a time might not fit
            threads = 1
        reader = HostLinkReader(corpus, site.page_host, whole, room, threads)

        def judge(first: int, last: int) -> _HostJudgement:
            links = reader.read(first, last)
            part = _judge_alone(corpus, links, site, strategy)
            uses[links.anchors] = part.uses
            return part._replace(uses=part.uses[:0])

        parts += [part for _range, part in map_in_order(threads, judge, reader.ranges)]
    _uses, common, navigation, pages = (np.concatenate(column) for column in zip(*parts, strict=True))
    return JudgedLinks(uses, np.unique(common), np.unique(navigation), np.unique(site.page_url[pages]))


def _judge_alone(corpus: Corpus, links: HostLinks, site: Site, strategy: Strategy) -> _HostJudgement:
    """Judge the links of hosts that are entirely in this shard."""
    rounds = _judge_hosts(corpus, links, site, strategy, distinct(site.page_host[links.pages]))
    counted = next(rounds)
    while True:
        try:
            counted = rounds.send(counted)
        except StopIteration as last:
            judgement: _HostJudgement = last.value
            return judgement


def _judge_hosts(corpus: Corpus, links: HostLinks, site: Site, strategy: Strategy, hosts: Array) -> Rounds:
    """Judge the links of some hosts."""
    uses = np.zeros(len(links.anchors), np.uint8)
    total = yield make_tally(_PAGES, site.host_hash[hosts], site.host_pages[hosts])
    host_pages = np.zeros(len(site.host_hash), np.int64)
    host_pages[hosts] = total.sums(_PAGES, site.host_hash[hosts])
    common, navigation, listing = np.zeros(0, np.int64), np.zeros(0, np.uint64), np.zeros(0, np.int64)
    counts = np.ones(len(links.anchors), np.bool_)
    if strategy.content.furniture < 1:
        enough = np.maximum(FEWEST, strategy.content.furniture * host_pages)
        common = yield from _find_common_targets(links, site, enough)
        keys, navigation = yield from _find_navigation(links, site, enough)
        inside = site.url_host[links.targets] == site.page_host[links.pages]
        counts = ~((inside & is_among(links.targets, common)) | (is_among(keys, navigation) & (links.texts != 0)))
        in_sequence, sequences = yield from find_sequences(links, site, hosts, ~counts, strategy.content.furniture)
        counts &= ~in_sequence
        navigation = np.concatenate([navigation, sequences])
        in_menu, menus = yield from find_menus(links, site, hosts, host_pages, counts, strategy.content.furniture)
        counts &= ~in_menu
        navigation = np.concatenate([navigation, menus])
        uses[~counts] = LinkUse.FURNITURE
    if strategy.anchors.listing < 1:
        enough = np.maximum(LEAST_LISTED, strategy.anchors.listing * host_pages)
        listing = yield from _find_listing_pages(corpus, links, site, enough, counts)
        uses[counts & is_among(links.pages, listing)] = LinkUse.LISTED
    return _HostJudgement(uses, common, navigation, listing)


def _find_common_targets(links: HostLinks, site: Site, enough: Array) -> Generator[Tally, Tally, npt.NDArray[np.int64]]:
    """Return the addresses, rising, to which enough pages of their own host link."""
    pages, targets = links.pages, links.targets
    inside = site.url_host[targets] == site.page_host[pages]
    some = inside & site.newest[pages] & (site.page_url[pages] != targets)
    linking, first = count_distinct(targets[some], pages[some], links.memory)
    linked = targets[some][first]
    keys = mix64(site.url_hash[linked]) ^ site.host_hash[site.url_host[linked]]
    total = yield make_tally(_LINKED, keys, linking)
    return np.asarray(linked[total.sums(_LINKED, keys) >= enough[site.url_host[linked]]])


def _find_navigation(
    links: HostLinks, site: Site, enough: Array
) -> Generator[Tally, Tally, tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]]:
    """Return (a hash of every link's host and words, the hashes that are navigation, rising).

    These are words that enough of the host's pages use for links, most of them for another target each. So "next" and "up"
    are known in any language.
    """
    hosts = site.page_host[links.pages]
    keys = links.texts ^ site.host_hash[hosts]
    some = np.flatnonzero((links.texts != 0) & site.newest[links.pages])
    linking, first = count_distinct(keys[some], links.pages[some], links.memory)
    said = keys[some[first]]
    total = yield make_tally(_SAID, said, linking)
    linking = total.sums(_SAID, said)
    repeated = linking >= enough[hosts[some[first]]]
    said, linking = said[repeated], linking[repeated]
    some = some[is_among(keys[some], said)]
    total = yield make_tally(_TARGETS, keys[some], values=site.url_hash[links.targets[some]])
    leads_apart = total.variety(_TARGETS, said) >= np.maximum(FEWEST, linking / 2)
    return keys, distinct(said[leads_apart])


def _find_listing_pages(
    corpus: Corpus, links: HostLinks, site: Site, enough: Array, counts: npt.NDArray[np.bool_]
) -> Generator[Tally, Tally, npt.NDArray[np.int64]]:
    """Return the pages that link to enough of their host's pages, and alphabetical indexes.

    `counts` marks the links that are looked at.
    """
    inside = np.flatnonzero(counts & (site.url_host[links.targets] == site.page_host[links.pages]))
    linked, first = count_distinct(links.pages[inside], links.targets[inside], links.memory)
    pages = links.pages[inside[first]]
    listing = linked >= enough[site.page_host[pages]]
    for place in np.flatnonzero(listing).tolist():  # a long text may link to much of a site, too
        listing[place] = is_of_links(corpus, int(pages[place]), LISTED_WORDS)
    indexes: list[int] = []
    for place in np.flatnonzero(~listing & (linked >= INDEX_TARGETS)).tolist():
        page = int(pages[place])
        mine = slice(*np.searchsorted(links.pages, [page, page + 1]).tolist())
        listing[place] = is_index(corpus, page, int(linked[place]), links.first_words[mine], counts[mine])
        if listing[place]:
            indexes.append(page)
    repeated = yield from _find_repeated_links(links, site, np.array(indexes, np.int64), counts)
    lists = np.asarray(pages[listing & ~is_among(pages, repeated)])
    sheets = yield from _find_other_sheets(corpus, links, lists)
    return np.union1d(lists, sheets)


def _find_repeated_links(
    links: HostLinks, site: Site, pages: Array, counts: Array
) -> Generator[Tally, Tally, npt.NDArray[np.int64]]:
    """Return those of some pages most of whose links are also on other pages, as in a sidebar, not an index; ascending."""
    mine = np.flatnonzero(counts & is_among(links.pages, pages))
    keys = links.texts ^ mix64(site.url_hash[links.targets]) ^ site.host_hash[site.page_host[links.pages]]
    indexed = yield make_tally(_INDEXED, keys[mine])
    some = np.flatnonzero(is_among(keys, indexed.keys_of(_INDEXED)))
    on_pages, first = count_distinct(keys[some], links.pages[some], links.memory)
    total = yield make_tally(_ON_PAGES, keys[some[first]], on_pages)
    places = np.searchsorted(pages, links.pages[mine])
    often = np.bincount(places, total.sums(_ON_PAGES, keys[mine]) > MOST_SHEETS, len(pages))
    return np.asarray(pages[2 * often > np.bincount(places, minlength=len(pages))])


def _find_other_sheets(
    corpus: Corpus, links: HostLinks, listing: Array
) -> Generator[Tally, Tally, npt.NDArray[np.int64]]:
    """Return further sheets of indexes: the short `genindex-J` is one if `genindex-A` and most of their siblings are."""
    prefixes = Counter(prefix for page in listing.tolist() if (prefix := sheet_prefix(corpus.page_url(page))))
    hashes = {prefix_hash(prefix): prefix for prefix in prefixes}
    total = yield make_tally(_SHEETS, np.array(list(hashes), np.uint64), np.array(list(prefixes.values()), np.int64))
    known = total.keys_of(_SHEETS)
    known = known[total.sums(_SHEETS, known) >= FEWEST]
    if not all(key in hashes for key in known.tolist()):  # sheets that list lie in other shards
        mine = (sheet_prefix(corpus.page_url(page)) for page in distinct(links.pages).tolist())
        hashes |= {prefix_hash(prefix): prefix for prefix in mine if prefix}
    families = {
        key: [page for page in corpus.pages_under(hashes[key]) if sheet_prefix(corpus.page_url(page)) == hashes[key]]
        for key in known.tolist()
        if key in hashes
    }
    sizes = np.array([len(family) for family in families.values()], np.int64)
    of_all = yield make_tally(_FAMILY, np.array(list(families), np.uint64), sizes)
    sheets = set()
    for key, family in families.items():
        key_alone = np.array([key], np.uint64)
        if 2 * total.sums(_SHEETS, key_alone)[0] >= of_all.sums(_FAMILY, key_alone)[0]:
            sheets |= {page for page in family if is_of_links(corpus, page, SHEET_WORDS)}
    return np.array(sorted(sheets.difference(listing.tolist())), np.int64)
