"""Visits: links from pages of one shard to addresses of others, with the words around them, as records to send.

A bag needs the windows of all links to its address, wherever the linking pages lie. What visits a shard are plain arrays:
addresses, hashes and strings, nothing that one shard alone understands.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags.claims import NO_CLAIMS, Claims, join_claims
from pagekin.bags.furniture import hash_names, host_hashes
from pagekin.bags.links import anchor_pages
from pagekin.bags.strategy import Strategy
from pagekin.bags.weights import near_weights
from pagekin.bags.words import Vocabulary
from pagekin.hypertext import Corpus, sites_of_urls
from pagekin.store import Array, RaggedBytes, batch_ranges, pack_strings, rising_order, row_entries, union_strings

if TYPE_CHECKING:
    from pagekin.bags._kernels.keep import KeptWords

BATCH_ANCHORS = 1 << 18
"""Anchors of pages whose visits are made at a time."""


class Visits(NamedTuple):
    """Links to some addresses, sorted by target, citing address and place on the page."""

    targets: npt.NDArray[np.uint8]
    """The addresses that are linked to, in order, as one string, …"""
    target_offsets: npt.NDArray[np.int64]
    """… and where each begins."""
    citations: npt.NDArray[np.int64]
    """(targets): pages that cite each address: exact, though most of their links may be left out."""
    citing: npt.NDArray[np.uint8]
    """The addresses of the pages on which the links stand, in order, …"""
    citing_offsets: npt.NDArray[np.int64]
    """… and where each begins."""
    hosts: npt.NDArray[np.uint64]
    """(citing addresses): the hash of each one's host."""
    hashes: npt.NDArray[np.uint64]
    """The hashes of words around links, rising."""
    strings: npt.NDArray[np.uint8]
    """For each hash a word behind it, for a shard that knows none, …"""
    string_offsets: npt.NDArray[np.int64]
    """… and where each begins."""
    target: npt.NDArray[np.uint32]
    """(links): places among the targets."""
    source: npt.NDArray[np.uint32]
    """(links): places among the citing addresses."""
    place: npt.NDArray[np.uint32]
    """(links): places among the links of the page."""
    key: npt.NDArray[np.uint64]
    """(links): a hash of host and link text; 0 for a link that counts as a citation alone."""
    spans: npt.NDArray[np.int32]
    """(4 × links): start of window and anchor, end of anchor and window, as in `KeptWords`, from the window's first word."""
    words: npt.NDArray[np.uint32]
    """The words of the windows, one link after another: places among the hashes."""
    word_offsets: npt.NDArray[np.int64]
    """(links + 1): where the words of each link begin."""
    sum_target: npt.NDArray[np.uint32] = np.zeros(0, np.uint32)
    """(sums): places among the targets, rising. Sums are what windows that are not here add to the bags of targets …"""
    sum_word: npt.NDArray[np.uint32] = np.zeros(0, np.uint32)
    """(sums): … for a word, by its place among the hashes, rising for each target: …"""
    sums: npt.NDArray[np.int64] = np.zeros(0, np.int64)
    """(sums): … the weights of its occurrences together, as multiples of 2^-24."""


def emit_visits(
    corpus: Corpus, strategy: Strategy, words: Vocabulary, kept: "KeptWords", citing: Array, is_target: Array
) -> Iterator[Visits]:
    """Yield the links of a corpus to the addresses that `is_target` marks, a batch of pages at a time.

    `citing` marks the pages whose links count. What a strategy does not need is left out: see `reduce_visits`.
    """
    from pagekin.bags._kernels.keep import IN_CRUMBS

    bounds = np.asarray(corpus.pages.anchors, dtype=np.int64)
    page_of = anchor_pages(corpus)
    hosts = host_hashes(corpus)[corpus.pages.host]
    sites = None if strategy.anchors.within_site else sites_of_urls(corpus.urls)[0]
    page_url = np.asarray(corpus.pages.url, dtype=np.int64)
    for first, last in batch_ranges(bounds, BATCH_ANCHORS):
        part = slice(int(bounds[first]), int(bounds[last]))
        targets = np.asarray(corpus.anchors.target[part], dtype=np.int64)
        pages = page_of[part].astype(np.int64)
        leads = is_target[targets] & citing[pages] & (kept.spans[part, 1] != IN_CRUMBS)
        some = np.flatnonzero(leads)
        if not len(some):
            continue
        targets, pages, anchors = targets[some], pages[some], part.start + some
        counts = kept.spans[anchors, 1] >= 0
        if sites is not None:
            counts &= sites[targets] != sites[page_url[pages]]
        links = VisitingLinks(targets, page_url[pages], hosts[pages], anchors - bounds[pages], anchors, pages, counts)
        yield reduce_visits([make_visits(corpus, strategy, words, kept, links)], strategy)


class VisitingLinks(NamedTuple):
    """Links to other shards from a batch of pages; pages and anchors are numbered as in `KeptWords`."""

    targets: npt.NDArray[np.int64]
    sources: npt.NDArray[np.int64]
    hosts: npt.NDArray[np.uint64]
    places: npt.NDArray[np.int64]
    anchors: npt.NDArray[np.int64]
    pages: npt.NDArray[np.int64]
    counts: npt.NDArray[np.bool_]

    def take(self, rows: Array) -> "VisitingLinks":
        """Return some of the links, in an order."""
        return VisitingLinks(
            self.targets[rows], self.sources[rows], self.hosts[rows], self.places[rows], self.anchors[rows],
            self.pages[rows], self.counts[rows],
        )  # fmt: skip


class Windows(NamedTuple):
    """Links with the words around them, in the numbers of one corpus, sorted by target, citing address and place."""

    targets: npt.NDArray[np.int64]
    sources: npt.NDArray[np.int64]
    hosts: npt.NDArray[np.uint64]
    places: npt.NDArray[np.int64]
    keys: npt.NDArray[np.uint64]
    spans: npt.NDArray[np.int64]
    """(links, 4)"""
    offsets: npt.NDArray[np.int64]
    """(links + 1): where the words of each link begin."""
    words: npt.NDArray[np.int32]

    def take(self, rows: Array) -> "Windows":
        """Return the given links, in the given order."""
        sizes = np.diff(self.offsets)[rows]
        return Windows(
            self.targets[rows], self.sources[rows], self.hosts[rows], self.places[rows], self.keys[rows],
            self.spans[rows], np.append(0, np.cumsum(sizes)),
            self.words[row_entries(self.offsets, np.asarray(rows, np.int64))],
        )  # fmt: skip


def count_citations(targets: Array, sources: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return (the distinct targets, the number of addresses that cite each) of links sorted by both."""
    first = np.ones(len(targets), np.bool_)
    first[1:] = (np.diff(targets) != 0) | (np.diff(sources) != 0)
    return np.unique(targets[first], return_counts=True)


_NO_LINKS = np.zeros(0, np.int64)
_NO_WINDOWS = Windows(
    _NO_LINKS, _NO_LINKS, np.zeros(0, np.uint64), _NO_LINKS, np.zeros(0, np.uint64), np.zeros((0, 4), np.int64),
    np.zeros(1, np.int64), np.zeros(0, np.int32),
)  # fmt: skip


class WindowsInPieces:
    """Windows of many batches of pages, reduced to those that a strategy needs; a page is in one batch."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self._pieces: list[Windows] = []

    def add(self, words: Vocabulary, kept: "KeptWords", links: VisitingLinks, pages: int) -> None:
        """Add the links of a batch of pages; `pages` is greater than any page number."""
        keys = _hash_links(words, kept, links, pages)
        order = rising_order(links.targets, links.sources, links.places)
        links, keys = links.take(order), keys[order]
        needed = np.flatnonzero(_mark_needed(links.targets, links.sources, keys, self._strategy))
        links = links.take(needed)
        self._pieces.append(_read_windows(self._strategy, kept, links, keys[needed]))

    def visits(self, corpus: Corpus, words: Vocabulary, cited: tuple[Array, Array]) -> Visits:
        """Return all windows as visits, given all cited addresses, sorted, and their numbers of citations."""
        pieces = [_NO_WINDOWS, *self._pieces]
        sizes = np.concatenate([np.diff(piece.offsets) for piece in pieces])
        joined = Windows(
            np.concatenate([piece.targets for piece in pieces]), np.concatenate([piece.sources for piece in pieces]),
            np.concatenate([piece.hosts for piece in pieces]), np.concatenate([piece.places for piece in pieces]),
            np.concatenate([piece.keys for piece in pieces]), np.concatenate([piece.spans for piece in pieces]),
            np.append(0, np.cumsum(sizes)), np.concatenate([piece.words for piece in pieces]),
        )  # fmt: skip
        order = rising_order(joined.targets, joined.sources, joined.places)
        needed = _mark_needed(joined.targets[order], joined.sources[order], joined.keys[order], self._strategy)
        joined = joined.take(order[needed])
        return _pack_windows(corpus, words, joined, cited)


def make_visits(
    corpus: Corpus, strategy: Strategy, words: Vocabulary, kept: "KeptWords", links: VisitingLinks
) -> Visits:
    """Return some links as visits."""
    keys = _hash_links(words, kept, links, len(corpus))
    order = rising_order(links.targets, links.sources, links.places)
    links = links.take(order)
    windows = _read_windows(strategy, kept, links, keys[order])
    return _pack_windows(corpus, words, windows, count_citations(links.targets, links.sources))


def _hash_links(words: Vocabulary, kept: "KeptWords", links: VisitingLinks, pages: int) -> npt.NDArray[np.uint64]:
    """Return a hash of host and words for each link, 0 for citations alone; `pages` is greater than any page number."""
    from pagekin.bags._kernels.merge import hash_links

    keys = np.zeros(len(links.anchors), np.uint64)
    counted = np.flatnonzero(links.counts)
    hashes = np.empty(len(counted), np.uint64)
    hash_links(links.anchors[counted], links.pages[counted], _by_page(links, pages), kept, words.hashes, hashes)
    keys[counted] = hashes
    return keys


def _read_windows(strategy: Strategy, kept: "KeptWords", links: VisitingLinks, keys: npt.NDArray[np.uint64]) -> Windows:
    """Return some links, in their order, with the words around them, given their hashes."""
    from pagekin.bags._kernels.keep import LEFT_OUT

    spans = kept.spans[links.anchors].astype(np.int64)
    spans[~links.counts] = 0
    begins = kept.offsets[links.pages] + spans[:, 0]
    spans -= spans[:, :1].copy()
    if not strategy.anchors.scale:  # windows do not count
        spans[:] = 0
    sizes = spans[:, 3].copy()
    spans[~links.counts, 1] = LEFT_OUT
    ends = np.cumsum(sizes)
    entries = np.repeat(begins - (ends - sizes), sizes) + np.arange(int(sizes.sum()))
    return Windows(
        links.targets, links.sources, links.hosts, links.places, keys, spans, np.append(0, ends), kept.words[entries]
    )


def _pack_windows(corpus: Corpus, words: Vocabulary, windows: Windows, cited: tuple[Array, Array]) -> Visits:
    """Return windows as visits, given all cited addresses and their numbers of citations."""
    is_used = np.zeros(len(words.hashes), np.bool_)
    is_used[windows.words] = True
    in_use = np.flatnonzero(is_used)
    in_use = in_use[np.argsort(words.hashes[in_use])]
    number = np.zeros(len(words.hashes), np.uint32)
    number[in_use] = np.arange(len(in_use))
    sources, first, source = np.unique(windows.sources, return_index=True, return_inverse=True)
    return Visits(
        *_strings(corpus.urls, cited[0]),
        cited[1],
        *_strings(corpus.urls, sources),
        windows.hosts[first],
        words.hashes[in_use],
        *_strings(corpus.terms, words.shown[in_use]),
        np.searchsorted(cited[0], windows.targets).astype(np.uint32),
        source.astype(np.uint32),
        windows.places.astype(np.uint32),
        windows.keys,
        windows.spans.astype(np.int32).reshape(-1),
        number[windows.words],
        windows.offsets,
    )


def _by_page(links: VisitingLinks, pages: int) -> npt.NDArray[np.uint64]:
    """Return the host of each link's page, by page number."""
    hosts = np.zeros(pages, np.uint64)
    hosts[links.pages] = links.hosts
    return hosts


def _strings(names: RaggedBytes, some: Array) -> tuple[Array, Array]:
    return names.take(some)


def reduce_visits(parts: Iterable[Visits], strategy: Strategy) -> Visits:
    """Join the visits of several parts, without links that the strategy does not need; a page is in one part only.

    Where links of one host with the same words count once, of those to an address the one stays whose citing address and place
    come first. Where citing pages are terms, the first link of each page stays, too. A link that is a citation alone is counted.
    Parts may be reduced in any order, and again with others. Cost: sorting links and names of all parts.
    """
    every = list(parts)
    targets, to = union_strings([RaggedBytes(part.targets, part.target_offsets) for part in every])
    sources, of = union_strings([RaggedBytes(part.citing, part.citing_offsets) for part in every])
    target = _concatenate([places[part.target] for part, places in zip(every, to, strict=True)])
    source = _concatenate([places[part.source] for part, places in zip(every, of, strict=True)])
    place, key = (
        _concatenate([part.place for part in every]),
        _concatenate([part.key for part in every]).astype(np.uint64),
    )
    citations = np.zeros(len(targets), np.int64)
    for part, places in zip(every, to, strict=True):
        np.add.at(citations, places, part.citations)
    hosts = np.zeros(len(sources), np.uint64)
    for part, places in zip(every, of, strict=True):
        hosts[places] = part.hosts
    order = rising_order(target, source, place)
    order = order[_mark_needed(target[order], source[order], key[order], strategy)]
    hashes, strings, numbers = _union_words(every)
    sum_target, sum_word, sums = _join_sums(every, to, numbers.of_sums, len(hashes))
    starts = np.cumsum([0, *(len(part.words) for part in every)])
    word_offsets = _concatenate(
        [part.word_offsets[:-1] + start for part, start in zip(every, starts, strict=False)] + [starts[-1:]]
    )
    sizes = np.diff(word_offsets)[order]
    words = numbers.of_words[row_entries(word_offsets, order)]
    spans = _concatenate([part.spans for part in every]).astype(np.int32).reshape(-1, 4)
    cited, in_use = np.unique(source[order], return_inverse=True)
    is_said = np.zeros(len(hashes), np.bool_)
    is_said[words] = is_said[sum_word] = True
    said, number = np.flatnonzero(is_said), (np.cumsum(is_said) - 1).astype(np.uint32)
    return Visits(
        targets.data, targets.offsets, citations,
        *_strings(sources, cited), hosts[cited],
        hashes[said], *pack_strings([strings[number] for number in said.tolist()]),
        target[order].astype(np.uint32), in_use.astype(np.uint32), place[order].astype(np.uint32), key[order],
        spans[order].reshape(-1), number[words], np.cumsum(np.append(0, sizes)), sum_target, number[sum_word], sums,
    )  # fmt: skip


def sum_visits(batches: Iterable[Visits], strategy: Strategy, lost: Claims = NO_CLAIMS) -> Visits:
    """Return visits with the windows of links summed up to partial bags: one for each target, however many links it has.

    They come in batches of pages, in the order of these; the windows of one batch are in memory at a time. Where links of one
    host with the same words count once, the first counts, and none of the `lost` ones, which another shard counts.
    """
    summed, seen = [], lost
    for visits in batches:
        summed.append(_sum_batch(visits, strategy, seen))
        if strategy.anchors.repeat == "once":
            seen = join_claims([seen, Claims(_hash_targets(visits), visits.key)])
    return reduce_visits(summed, strategy)


def _hash_targets(visits: Visits) -> npt.NDArray[np.uint64]:
    """Return the hash of the address that each link leads to."""
    return hash_names(RaggedBytes(visits.targets, visits.target_offsets))[visits.target]


def _sum_batch(visits: Visits, strategy: Strategy, seen: Claims) -> Visits:
    """Return visits with windows summed up, but for those of links that were seen before, if equal links count once.

    Where citing pages are terms, the first link of each page stays without its window.
    """
    from pagekin.bags._kernels.keep import ELSEWHERE

    near, spans = near_weights(strategy), visits.spans.reshape(-1, 4).astype(np.int64)
    may = (visits.key != 0) & bool(len(near))
    said = np.zeros(len(may), np.bool_)
    if strategy.anchors.repeat == "once":
        said = _mark_again(visits.target, visits.key) | seen.mark(_hash_targets(visits), visits.key)
    links, sizes = np.flatnonzero(may & ~said), np.diff(visits.word_offsets)
    entries = row_entries(visits.word_offsets, links)
    link = np.repeat(links, sizes[links])
    place, start, end = entries - visits.word_offsets[link], spans[link, 1], spans[link, 2]
    weights = near[np.where(place < start, start - place, np.where(place < end, 0, place - end + 1))]
    counts = weights > 0
    added = _add_up(
        np.append(visits.sum_target, visits.target[link[counts]]),
        np.append(visits.sum_word, visits.words[entries[counts]]),
        np.append(visits.sums, weights[counts]),
        len(visits.hashes),
    )
    sizes[may] = 0
    spans[may] = (0, 0, ELSEWHERE, 0)
    return reduce_visits(
        [
            visits._replace(
                key=np.where(may, np.uint64(0), visits.key),
                spans=spans.astype(np.int32).reshape(-1),
                words=visits.words[~np.repeat(may, np.diff(visits.word_offsets))],
                word_offsets=np.append(0, np.cumsum(sizes)),
                sum_target=added[0],
                sum_word=added[1],
                sums=added[2],
            )
        ],
        strategy,
    )


def _add_up(target: Array, word: Array, sums: Array, words: int) -> tuple[Array, Array, Array]:
    """Return (targets, words, sums) of all pairs of a target and a word, each pair once, in order."""
    pairs = target.astype(np.int64) * max(words, 1) + word
    order = np.argsort(pairs)
    pairs = pairs[order]
    first = np.flatnonzero(np.append(pairs[:1] >= 0, np.diff(pairs) != 0))
    totals = np.add.reduceat(sums[order], first) if len(first) else sums.astype(np.int64)
    targets, among = np.divmod(pairs[first], max(words, 1))
    return targets.astype(np.uint32), among.astype(np.uint32), totals


def _join_sums(
    every: Sequence[Visits], targets: Sequence[Array], words: Array, count: int
) -> tuple[Array, Array, Array]:
    """Return the sums of several parts together, given the places of each part's targets and of all sums' words."""
    target = _concatenate([places[part.sum_target] for part, places in zip(every, targets, strict=True)])
    return _add_up(target, words, _concatenate([part.sums for part in every]), count)


def _concatenate(arrays: Sequence[Array]) -> Array:
    return np.concatenate([np.zeros(0, np.int64) if not arrays else arrays[0][:0], *arrays])


def _mark_needed(target: Array, source: Array, key: Array, strategy: Strategy) -> npt.NDArray[np.bool_]:
    """Mark the links that a strategy needs; they are sorted by target, citing address and place."""
    needed: npt.NDArray[np.bool_] = (key != 0) & bool(strategy.anchors.scale)
    if strategy.anchors.repeat == "once":
        needed &= ~_mark_again(target, key)
    if strategy.links.scale:
        is_first = np.ones(len(target), np.bool_)
        is_first[1:] = (target[1:] != target[:-1]) | (source[1:] != source[:-1])
        needed |= is_first
    return needed


def _mark_again(target: Array, key: Array) -> npt.NDArray[np.bool_]:
    """Mark links to the same target with the same key as a link before them."""
    order = np.lexsort((key, target))  # stable: of equal links the first stays first
    again = np.zeros(len(order), np.bool_)
    again[order[1:]] = (key[order[1:]] == key[order[:-1]]) & (target[order[1:]] == target[order[:-1]])
    return again


class _WordPlaces(NamedTuple):
    """The places of words among those of several parts."""

    of_words: npt.NDArray[np.int64]
    of_sums: npt.NDArray[np.int64]


def _union_words(every: Sequence[Visits]) -> tuple[npt.NDArray[np.uint64], list[bytes], _WordPlaces]:
    """Return (the sorted hashes of all words; the least word of each; the places of each part's words among them)."""
    hashes, places = np.unique(_concatenate([part.hashes for part in every]).astype(np.uint64), return_inverse=True)
    names = [name for part in every for name in RaggedBytes(part.strings, part.string_offsets)]
    strings: list[bytes] = [b""] * len(hashes)
    for place, name in zip(places.tolist(), names, strict=True):
        strings[place] = min(strings[place] or name, name)
    starts = np.cumsum([0, *(len(part.hashes) for part in every)])
    numbers = [places[start + part.words] for part, start in zip(every, starts, strict=False)]
    in_sums = [places[start + part.sum_word] for part, start in zip(every, starts, strict=False)]
    return hashes, strings, _WordPlaces(*(_concatenate(some).astype(np.int64) for some in (numbers, in_sums)))


def divide_visits(visits: Visits, first_addresses: Sequence[bytes], strategy: Strategy) -> list[Visits]:
    """Divide visits by the shards they lead to, given the first addresses of all shards but the first."""
    targets = RaggedBytes(visits.targets, visits.target_offsets)
    cuts = [0, *map(targets.nearest, first_addresses), len(targets)]
    return [reduce_visits([_select(visits, low, high)], strategy) for low, high in pairwise(cuts)]


def _select(visits: Visits, low: int, high: int) -> Visits:
    """Return the visits to the targets `low` to `high`."""
    links = slice(*np.searchsorted(visits.target, [low, high]).tolist())
    begin, end = visits.target_offsets[[low, high]].tolist()
    words = slice(int(visits.word_offsets[links.start]), int(visits.word_offsets[links.stop]))
    sums = slice(*np.searchsorted(visits.sum_target, [low, high]).tolist())
    return visits._replace(
        targets=visits.targets[begin:end],
        target_offsets=visits.target_offsets[low : high + 1] - begin,
        citations=visits.citations[low:high],
        target=(visits.target[links].astype(np.int64) - low).astype(np.uint32),
        source=visits.source[links],
        place=visits.place[links],
        key=visits.key[links],
        spans=visits.spans[4 * links.start : 4 * links.stop],
        words=visits.words[words],
        word_offsets=visits.word_offsets[links.start : links.stop + 1] - words.start,
        sum_target=(visits.sum_target[sums].astype(np.int64) - low).astype(np.uint32),
        sum_word=visits.sum_word[sums],
        sums=visits.sums[sums],
    )
