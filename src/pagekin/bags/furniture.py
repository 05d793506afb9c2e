"""Links that say nothing about their target: site furniture, navigation, and links of mere lists."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags.mixing import mix64
from pagekin.bags.words import host_hash, prefix_hash
from pagekin.hypertext import AnchorFlag, Corpus, DecodedPage, host_of
from pagekin.store import IN_MEMORY, NO_LIMIT, Array, MemoryBudget, RaggedBytes, Workspace, batch_ranges, is_among

_BATCH_WORDS = 1 << 21
_BATCH_LINKS = 1 << 22
"""Links that are judged together, unless one host has more: …"""
_LINK_BYTES, _WORD_BYTES = 132, 32
"""… they take so many bytes each, and a word while links are read."""

LABELS = 4
"""Labels of a link."""
SEQUENCE_LABEL = np.uint64(0x5EC9E4CE)
"""The label of links whose `rel` says next or previous."""


class LinkUse(IntEnum):
    """How a link counts."""

    COUNTS = 0
    FURNITURE = 1
    """It is on page after page: it counts as a citation alone, and its words are not the page's own."""
    LISTED = 2
    """Its page lists a large part of the site: it counts as a citation alone, and its words are the page's own."""


class HostLinks(NamedTuple):
    """All links on the pages of some hosts, which are all that is needed to judge them."""

    anchors: npt.NDArray[np.int64]
    """Their numbers."""
    pages: npt.NDArray[np.int64]
    """The page on which each stands."""
    targets: npt.NDArray[np.int64]
    texts: npt.NDArray[np.uint64]
    """A hash of each one's words; 0 where it has none."""
    first_words: npt.NDArray[np.int64]
    """The term that each begins with; -1 where it has none."""
    labels: npt.NDArray[np.uint64]
    """(links, 4): hashes of what may tell a place in a template: the word before it, the two words before it, its own first word
    if it has several, and the same number for all whose `rel` says next or previous; 0 where there is none."""
    memory: MemoryBudget = NO_LIMIT
    """What counting over them may take."""


def folder_hashes(corpus: Corpus, urls: Array) -> npt.NDArray[np.uint64]:
    """Return a hash of the folder of each of some addresses: what is before the last slash."""
    folders = [url.partition(b"?")[0].rpartition(b"/")[0] for url in corpus.urls.select(urls)]
    hashes = {folder: prefix_hash(folder.decode("utf-8", "replace")) for folder in set(folders)}
    return np.fromiter(map(hashes.__getitem__, folders), np.uint64, len(folders))


def menu_keys(links: HostLinks, page_owner: Array, url_hash: Array) -> npt.NDArray[np.uint64]:
    """Return a hash of every link's words, target and owner, by which repeated links are known: its page's folder or host."""
    return np.asarray(mix64(links.texts ^ mix64(url_hash[links.targets])) ^ page_owner[links.pages])


def are_labelled(labels: Array, hosts: Array, navigation: Array) -> npt.NDArray[np.bool_]:
    """Mark the links with a label that is navigation, given the hashes of their hosts."""
    mask = np.zeros(len(labels), np.bool_)
    for column in labels.T:
        mask |= (column != 0) & is_among(column ^ hosts, navigation)
    return mask


def mark_sequences(labels: npt.NDArray[np.uint64], flags: Array) -> npt.NDArray[np.uint64]:
    """Write the last label of links, derived from their flags."""
    labels[:, -1] = np.where(np.asarray(flags) & AnchorFlag.SEQUENCE != 0, SEQUENCE_LABEL, 0)
    return labels


def classify_by_epoch(corpus: Corpus, common: Array, navigation: Array, listing: Array) -> npt.NDArray[np.uint8]:
    """Return the `LinkUse` of every anchor by an earlier decision about all links of every host.

    `common`, `navigation` and `listing` are those of `JudgedLinks`, with the URL numbers of this corpus. So the links of a
    host of which a corpus has some pages only are classified as all of them were.
    """
    uses = np.zeros(int(corpus.pages.anchors[-1]), dtype=np.uint8)
    if not len(corpus):
        return uses
    page_host = np.asarray(corpus.pages.host, dtype=np.int64)
    judge = EpochJudge(corpus, common, navigation, listing)
    reader = HostLinkReader(corpus, page_host)
    for part in reader.ranges:
        links = reader.read(*part)
        uses[links.anchors] = judge.uses(links)
    return uses


class EpochJudge:
    """Judges the links of a corpus by the decisions of an epoch."""

    def __init__(self, corpus: Corpus, common: Array, navigation: Array, listing: Array) -> None:
        """Take what `JudgedLinks` names, with the URL numbers of the corpus."""
        self._corpus, self._common, self._navigation, self._listing = corpus, common, navigation, listing
        hosts = (host_hash(host_of(corpus.url(url)).encode()) for url in common.tolist())
        self._common_host = np.fromiter(hosts, np.uint64, len(common))
        self._page_host = np.asarray(corpus.pages.host, dtype=np.int64)
        self._hosts, self._urls = host_hashes(corpus), hash_names(corpus.urls)

    def uses(self, links: HostLinks) -> npt.NDArray[np.uint8]:
        """Return the `LinkUse` of each of some links."""
        pages, place_of = np.unique(links.pages, return_inverse=True)
        own = self._hosts[self._page_host[links.pages]]
        by_place, navigation = links._replace(pages=place_of), self._navigation
        furniture = is_among(links.texts ^ own, navigation)
        folders = folder_hashes(self._corpus, np.asarray(self._corpus.pages.url)[pages])
        for owners in (folders, self._hosts[self._page_host[pages]]):
            furniture |= is_among(menu_keys(by_place, owners, self._urls), navigation)
        furniture &= links.texts != 0
        furniture |= are_labelled(links.labels, own, navigation)
        if len(self._common):
            place = np.minimum(np.searchsorted(self._common, links.targets), len(self._common) - 1)
            furniture |= (self._common[place] == links.targets) & (self._common_host[place] == own)
        listed = np.isin(np.asarray(self._corpus.pages.url)[pages], self._listing)[place_of]
        return np.where(furniture, LinkUse.FURNITURE, np.where(listed, LinkUse.LISTED, LinkUse.COUNTS)).astype(np.uint8)


class HostLinkReader:
    """Reads the links of all hosts of a corpus, or of some: a few million links at a time, or all of one host."""

    def __init__(
        self, corpus: Corpus, page_host: npt.NDArray[np.int64], some: npt.NDArray[np.bool_] | None = None,
        room: Workspace = IN_MEMORY, threads: int = 1,
    ) -> None:  # fmt: skip
        """Divide the links into `ranges`, which so many threads may read."""
        self._corpus, self._room = corpus, room
        self._bounds = np.asarray(corpus.pages.anchors, dtype=np.int64)
        self._hashes = hash_names(corpus.terms)
        by_host = np.argsort(page_host, kind="stable")
        if some is not None:
            by_host = by_host[some[page_host[by_host]]]
        self._by_host = by_host
        pages_until = np.searchsorted(page_host[by_host], np.arange(int(page_host.max(initial=-1)) + 2))
        links_until = np.append(0, np.cumsum(np.diff(self._bounds)[by_host]))[pages_until]
        at_once = room.memory.items(max(1, _BATCH_LINKS // threads), _LINK_BYTES)
        ranges = (
            (int(pages_until[first]), int(pages_until[last])) for first, last in batch_ranges(links_until, at_once)
        )
        self.ranges = [(first, last) for first, last in ranges if first < last]

    def read(self, first: int, last: int) -> HostLinks:
        """Return the links of a range of hosts."""
        pages = np.sort(self._by_host[first:last])
        return _read_links(self._corpus, pages, self._bounds, self._hashes, self._room)


def read_links_together(corpus: Corpus, pages: npt.NDArray[np.int64]) -> HostLinks:
    """Return all links on some pages, rising, at once."""
    return _read_links(corpus, pages, np.asarray(corpus.pages.anchors, dtype=np.int64), hash_names(corpus.terms))


def hash_names(names: RaggedBytes) -> npt.NDArray[np.uint64]:
    """Return a hash of every string: the same in every collection."""
    from pagekin.bags._kernels.texts import hash_strings

    hashes = np.empty(len(names), np.uint64)
    hash_strings(names.data, names.offsets, hashes)
    return hashes


def _read_links(corpus: Corpus, pages: Array, bounds: Array, hashes: Array, room: Workspace = IN_MEMORY) -> HostLinks:
    """Return the links on some pages, rising, given the hashes of all terms."""
    from pagekin.bags._kernels.keep import Anchors
    from pagekin.bags._kernels.texts import read_link_texts

    count, done = int(np.sum(bounds[pages + 1] - bounds[pages])), 0
    numbers, of_pages, targets, first_words = (room.empty(count, np.int64) for _ in range(4))
    texts, labels = room.empty(count, np.uint64), room.empty((count, LABELS), np.uint64)
    for run in np.split(pages, np.flatnonzero(np.diff(pages) != 1) + 1) if len(pages) else ():
        tokens = np.asarray(corpus.pages.tokens[int(run[0]) : int(run[-1]) + 2], dtype=np.int64)
        for begin, end in batch_ranges(tokens, room.memory.items(_BATCH_WORDS, _WORD_BYTES)):
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
            numbers[here] = np.arange(part.start, part.stop)
            of_pages[here] = np.repeat(np.arange(first, last), np.diff(bounds[first : last + 1]))
            targets[here] = corpus.anchors.target[part]
            read_link_texts(
                streams, DecodedPage.for_longest(streams), anchors, hashes, texts[here], first_words[here], labels[here]
            )
            mark_sequences(labels[here], corpus.anchors.flags[part])
            done = here.stop
    return HostLinks(numbers, of_pages, targets, texts, first_words, labels, room.memory)


def host_hashes(corpus: Corpus) -> npt.NDArray[np.uint64]:
    """Return a hash of each host's name: the same in every collection."""
    return np.array([host_hash(name) for name in corpus.hosts], dtype=np.uint64)


def words_in_furniture(corpus: Corpus, page: int, uses: Array) -> npt.NDArray[np.bool_]:
    """Mark the words of a page that are in furniture links, given the `LinkUse` of all anchors."""
    mask = np.zeros(len(corpus.stream(page).words), dtype=np.bool_)
    for anchor in corpus.anchors_out(page):
        if uses[anchor] == LinkUse.FURNITURE:
            start = int(corpus.anchors.start[anchor])
            mask[start : start + int(corpus.anchors.length[anchor])] = True
    return mask
