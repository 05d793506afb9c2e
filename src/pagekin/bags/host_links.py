"""The links on the pages of some hosts at a time, and counts over them, within the memory that a build may take."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Corpus, DecodedPage
from pagekin.store import IN_MEMORY, Array, MemoryBudget, Workspace, batch_ranges, chunks, distinct

_BATCH_WORDS = 1 << 21
_WORD_BYTES = 32
"""Bytes that a word takes while links are read."""
_SAMPLED_KEYS = 1 << 16
_BATCH_LINKS = 1 << 22
"""Links that are judged together, unless one host has more: …"""
_LINK_BYTES = 100
"""… they take so many bytes each."""


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

    @property
    def size(self) -> int:
        """Return the number of links."""
        return len(self.anchors)

    def part(self, some: slice) -> "HostLinks":
        """Return some of the links."""
        columns: list[Array] = [column[some] for column in self]
        return HostLinks(*columns)

    def pieces(self) -> Iterator[tuple[int, "HostLinks"]]:
        """Yield (its place, a piece) of the links, a piece at a time."""
        for start, chunk in chunks(self.anchors):
            yield start, self.part(slice(start, start + len(chunk)))

    def compute(self, room: Workspace, dtype: npt.DTypeLike, column: Callable[["HostLinks"], Array]) -> Array:
        """Return a column that is computed of some links at a time."""
        made = room.empty(self.size, dtype)
        for start, piece in self.pieces():
            made[start : start + piece.size] = column(piece)
        return made


def read_host_links(
    corpus: Corpus, page_host: npt.NDArray[np.int64], room: Workspace = IN_MEMORY
) -> Iterator[HostLinks]:
    """Yield the links of all hosts, some hosts at a time: a few million links, or all of one host."""
    from pagekin.bags._kernels.texts import hash_strings

    hashes = np.empty(len(corpus.terms), np.uint64)
    hash_strings(corpus.terms.data, corpus.terms.offsets, hashes)
    bounds = np.asarray(corpus.pages.anchors, dtype=np.int64)
    by_host = np.argsort(page_host, kind="stable")
    pages_until = np.searchsorted(page_host[by_host], np.arange(int(page_host.max()) + 2))
    links_until = np.append(0, np.cumsum(np.diff(bounds)[by_host]))[pages_until]
    for first, last in batch_ranges(links_until, room.memory.items(_BATCH_LINKS, _LINK_BYTES)):
        pages = np.sort(by_host[pages_until[first] : pages_until[last]])
        yield _read_links(corpus, pages, bounds, hashes, room)


def _read_links(corpus: Corpus, pages: Array, bounds: Array, hashes: Array, room: Workspace) -> HostLinks:
    """Return the links on some pages, rising, given the hashes of all terms."""
    from pagekin.bags._kernels.keep import Anchors
    from pagekin.bags._kernels.texts import read_link_texts

    count = int(np.sum(bounds[pages + 1] - bounds[pages]))
    links, done = (
        HostLinks(*(room.empty(count, kind) for kind in (np.int64, np.int64, np.int64, np.uint64, np.int64))),
        0,
    )
    for run in np.split(pages, np.flatnonzero(np.diff(pages) != 1) + 1):
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
            some = links.part(slice(done, done + part.stop - part.start))
            some.anchors[:] = np.arange(part.start, part.stop)
            some.pages[:] = np.repeat(np.arange(first, last), np.diff(bounds[first : last + 1]))
            some.targets[:] = corpus.anchors.target[part]
            some.texts.fill(0)
            some.first_words.fill(-1)
            read_link_texts(streams, DecodedPage.for_longest(streams), anchors, hashes, some.texts, some.first_words)
            done += some.size
    return links


def count_distinct(
    keys: Array, values: Array, some: Array, memory: MemoryBudget
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return for every key of the links marked in `some`, in order, how many different values it has, and the place of one.

    Where memory is short, a range of the keys is sorted at a time.
    """
    every, bounds = [(np.zeros(0, np.int64), np.zeros(0, np.int64))], _key_bounds(keys, some, memory)
    for part in range(len(bounds) + 1):
        pieces = [np.zeros(0, np.int64)]
        for start, chunk in chunks(keys):
            mine = some[start : start + len(chunk)]
            if len(bounds):
                mine = mine & (np.searchsorted(bounds, chunk, side="right") == part)
            pieces.append(start + np.flatnonzero(mine))
        places = np.concatenate(pieces)
        if len(places):
            every.append(_count_in_memory(keys[places], values[places], places))
    counts, firsts = zip(*every, strict=True)
    return np.concatenate(counts), np.concatenate(firsts)


def _key_bounds(keys: Array, some: Array, memory: MemoryBudget) -> Array:
    """Return keys that divide those marked in `some` into parts that can be sorted in memory; none if all can be."""
    at_once = memory.items(len(keys), _LINK_BYTES)
    if at_once >= len(keys):
        return keys[:0]
    step = max(1, len(keys) // _SAMPLED_KEYS)
    sample = np.sort(keys[::step][some[::step]])
    parts = len(keys) // at_once + 1
    return distinct(sample[(np.arange(1, parts) * len(sample)) // parts])


def _count_in_memory(keys: Array, values: Array, places: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return what `count_distinct` does of links at some places."""
    order = np.lexsort((values, keys))
    keys, values = keys[order], values[order]
    new_key = np.append(True, keys[1:] != keys[:-1])
    new_value = new_key | np.append(True, values[1:] != values[:-1])
    starts = np.flatnonzero(new_key)
    return np.add.reduceat(new_value.astype(np.int64), starts), places[order[starts]]
