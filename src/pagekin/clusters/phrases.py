"""Phrases that pages show: n-grams of their titles, breadcrumbs, headings and link texts, from which topics are named."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pagekin.bags import LinkUse, Strategy, Vocabulary, classify_links
from pagekin.hypertext import Corpus, DecodedPage
from pagekin.store import IN_MEMORY, Array, Workspace, batch_ranges, chunks, map_in_order

LEAST = 2
"""Pages that must show a phrase before it can name anything."""
MOST_CONTENT = 4
"""Words of a phrase that are no stop words, at most."""
IN_TEXT = 16
"""What is added to the rank of a phrase that stands in the text several times."""
_BATCH_WORDS = 1 << 20
_ENTRIES = 1 << 19
"""Entries that are looked at together."""
_SLOTS = 64
"""Counters per page in the table that leaves out phrases of one page."""
_TYPES = (np.uint64, np.uint8, np.int32, np.uint8)


@dataclass(frozen=True)
class Phrases:
    """The phrases of each page, from those that several pages show; a phrase stands for all forms with its stems."""

    offsets: npt.NDArray[np.int64]
    """Page p shows entries offsets[p] to offsets[p + 1]."""
    phrases: npt.NDArray[np.int64]
    """The number of each entry's phrase, rising on each page."""
    ranks: npt.NDArray[np.uint8]
    """Where it stands there at best: 2 for links, 4 for headings, 6 for breadcrumbs, 8 for the title; 1 more if it stands alone.

    16 more if it stands in the text several times; 16 if nowhere else.
    """
    places: npt.NDArray[np.int32]
    """The word of the page with which it begins."""
    words: npt.NDArray[np.uint8]
    """How many words it has there."""
    hashes: npt.NDArray[np.uint64]
    """The hash of each phrase, rising: the same in every corpus of the same terms."""

    @property
    def count(self) -> int:
        """Return the number of phrases."""
        return len(self.hashes)

    def parts(self) -> Iterator[tuple[slice, npt.NDArray[np.int64]]]:
        """Yield (some entries, the page of each), a batch of pages at a time."""
        for first, last in batch_ranges(self.offsets, _ENTRIES):
            pages = np.repeat(np.arange(first, last), np.diff(self.offsets[first : last + 1]))
            yield slice(int(self.offsets[first]), int(self.offsets[last])), pages

    def pages_of(self, entries: Array) -> npt.NDArray[np.int64]:
        """Return the pages of some entries."""
        return np.searchsorted(self.offsets, entries, side="right") - 1

    def select(self, is_wanted: Callable[[slice, Array], Array]) -> npt.NDArray[np.int64]:
        """Return the entries that a function marks, given some and their pages."""
        found = [part.start + np.flatnonzero(is_wanted(part, pages)) for part, pages in self.parts()]
        return np.concatenate([np.zeros(0, np.int64), *found])

    def keep(self, are_kept: Callable[[slice, Array], Array], space: Workspace = IN_MEMORY) -> "Phrases":
        """Return the entries that a function marks, given some and their pages; phrases keep their numbers."""
        before: tuple[Array, ...] = self.phrases, self.ranks, self.places, self.words
        columns, sizes = [space.growing(column.dtype) for column in before], np.zeros(len(self.offsets) - 1, np.int64)
        for part, pages in self.parts():
            kept = are_kept(part, pages)
            np.add.at(sizes, pages[kept], 1)
            for column, values in zip(columns, before, strict=True):
                column.append(values[part][kept])
        phrases, ranks, places, words = (column.finish() for column in columns)
        return Phrases(np.append(0, np.cumsum(sizes)), phrases, ranks, places, words, self.hashes)


class PhraseFinder:
    """The search for phrases in the words of pages, one batch of pages after the other.

    `site_words` (pages, 2) says how many words at the beginning and at the end of each title are the site's, -1 for a page
    that shows none.
    """

    def __init__(self, corpus: Corpus, words: Vocabulary, site_words: Array, threads: int = 1) -> None:
        self._corpus, self._words, self._site_words, self._threads = corpus, words, site_words, threads
        self._left_out = classify_links(corpus, Strategy()) == LinkUse.FURNITURE
        self._ranges = list(batch_ranges(corpus.pages.tokens, _BATCH_WORDS))
        self.slots = 1 << max(16, (_SLOTS * max(int(np.count_nonzero(site_words[:, 0] >= 0)), 1) - 1).bit_length())

    def _find(self, first: int, last: int, counts: Array, least: int) -> tuple[Array, ...]:
        """Count the phrases of a batch, or with `least` return those that enough pages hold, and where each page's end."""
        from pagekin.clusters._kernels import phrases as kernels

        corpus, bounds = self._corpus, self._corpus.pages.anchors
        streams = corpus.stream_batch(first, last)
        longest = int(np.max(np.diff(streams.tokens), initial=0)) + 1
        room = kernels.MOST_WORDS * kernels.LONGEST + kernels.MOST_TEXT * kernels.LONGEST_TEXT
        columns = tuple(np.empty(room, kind) for kind in _TYPES)
        scratch = np.empty(longest, np.uint8), np.empty(longest, np.bool_), columns
        size = 0 if least == 0 else min(2 * kernels.LONGEST * len(streams.words), room * (last - first))
        out = tuple(np.empty(size, kind) for kind in _TYPES)
        part = slice(int(bounds[first]), int(bounds[last]))
        starts, lengths = (
            np.asarray(column[part], np.int64) for column in (corpus.anchors.start, corpus.anchors.length)
        )
        offsets = np.asarray(bounds[first : last + 1], np.int64) - int(bounds[first])
        ends = np.zeros(last - first, np.int64)
        written = kernels.find_phrases(
            streams, DecodedPage.for_longest(streams), self._words.stem_of, self._site_words[first:last],
            (offsets, starts, lengths, self._left_out[part]), counts, least, scratch, out, ends,
        )  # fmt: skip
        return *(column[:written].copy() for column in out), ends

    def count(self) -> npt.NDArray[np.uint8]:
        """Count the pages of phrases in hash slots, which phrases may share; the same for any number of threads."""
        # Each thread counts for itself; counts end at 255, so their sum does not depend on who counted what.
        tables = [np.zeros(self.slots, np.uint8) for _ in range(self._threads)]

        def count(first: int, last: int) -> None:
            mine = tables.pop()
            self._find(first, last, mine, 0)
            tables.append(mine)

        for _batch, _nothing in map_in_order(self._threads, count, self._ranges):
            pass
        counts = tables.pop()
        while tables:
            more = tables.pop()
            np.minimum(counts, 255 - more, out=counts)
            counts += more
        return counts

    def batches(self, counts: Array) -> Iterator[tuple[Array, Array, Array, Array, Array]]:
        """Yield (hashes, ranks, places, words, ends of pages) of the phrases in slots with enough pages, batch by batch."""
        for _batch, batch in map_in_order(self._threads, lambda a, b: self._find(a, b, counts, LEAST), self._ranges):
            hashes, ranks, places, words, ends = batch
            yield hashes, ranks, places, words, ends

    def find_known(self, hashes: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Yield (pages, places in `hashes`, ranks) of known phrases, given by their hashes, rising, batch by batch."""
        counts = np.zeros(self.slots, np.uint8)
        counts[(hashes & np.uint64(self.slots - 1)).astype(np.int64)] = LEAST
        for (first, last), (hashes_here, ranks, _places, _words, ends) in zip(
            self._ranges, self.batches(counts), strict=True
        ):
            place = np.minimum(np.searchsorted(hashes, hashes_here), max(len(hashes) - 1, 0))
            same = np.flatnonzero(hashes[place] == hashes_here) if len(hashes) else np.zeros(0, np.int64)
            pages = np.repeat(np.arange(first, last), np.diff(ends, prepend=0))
            yield pages[same], place[same], ranks[same]


def find_phrases(finder: PhraseFinder, space: Workspace = IN_MEMORY) -> Phrases:
    """Find the phrases of all pages; large arrays are files of `space`.

    Cost: two passes over the words, a sort of each page's phrases, and two of all that come through.
    """
    columns, sizes = [space.growing(kind) for kind in _TYPES], [np.zeros(0, np.int64)]
    for *batch, ends in finder.batches(finder.count()):
        for column, values in zip(columns, batch, strict=True):
            column.append(values)
        sizes.append(np.diff(ends, prepend=0))
    hashes, ranks, places, words = (column.finish() for column in columns)
    offsets = np.append(0, np.cumsum(np.concatenate(sizes)))
    different = _sort_distinct(hashes, space)
    number = space.empty(len(hashes), np.int64)
    every = Phrases(offsets, number, ranks, places, words, different)
    # Slots are shared, so some phrases of one page come through, and some that stand in text alone.
    shown = np.zeros(len(different), np.int64)
    for part, _pages in every.parts():
        order = np.argsort(hashes[part])  # neighbours are found faster
        here = np.empty(len(order), np.int64)
        here[order] = np.searchsorted(different, hashes[part][order])
        number[part] = here
        np.add.at(shown, here[ranks[part] % IN_TEXT > 0], 1)
    del hashes
    enough = shown >= LEAST
    renumbered = np.cumsum(enough) - 1
    kept = every.keep(lambda part, _pages: enough[number[part]], space)
    for part, _pages in kept.parts():
        kept.phrases[part] = renumbered[kept.phrases[part]]
    return replace(kept, hashes=different[enough])


def _sort_distinct(hashes: Array, space: Workspace) -> npt.NDArray[np.uint64]:
    """Return the different ones of some hashes, rising; large arrays are files of `space`."""
    ordered = space.empty(len(hashes), np.uint64)
    ordered[:] = hashes
    ordered.sort()
    different = space.growing(np.uint64)
    for start, some in chunks(ordered):
        is_new = np.append(start == 0 or ordered[start - 1] != some[0], some[1:] != some[:-1])
        different.append(some[is_new])
    return different.finish()
