"""Phrases that pages show: n-grams of their titles, breadcrumbs, headings and link texts, from which topics are named."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pagekin.bags import LinkUse, Strategy, Vocabulary, classify_links
from pagekin.hypertext import Corpus, DecodedPage
from pagekin.store import Array, batch_ranges, map_in_order

LEAST = 2
"""Pages that must show a phrase before it can name anything."""
MOST_CONTENT = 4
"""Words of a phrase that are no stop words, at most."""
IN_TEXT = 16
"""What is added to the rank of a phrase that stands in the text several times."""
_BATCH_WORDS = 1 << 20
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

    @property
    def pages(self) -> npt.NDArray[np.int64]:
        """Return the page of each entry."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def keep(self, kept: Array) -> "Phrases":
        """Return some of the entries; phrases keep their numbers."""
        offsets = np.append(0, np.cumsum(np.bincount(self.pages[kept], minlength=len(self.offsets) - 1)))
        return Phrases(offsets, self.phrases[kept], self.ranks[kept], self.places[kept], self.words[kept], self.hashes)


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


def find_phrases(finder: PhraseFinder) -> Phrases:
    """Find the phrases of all pages.

    Cost: two passes over the words, a sort of each page's phrases, and one of all that stay.
    """
    columns = [tuple(np.empty(0, kind) for kind in (*_TYPES, np.int64)), *finder.batches(finder.count())]
    hashes, ranks, places, words, ends = (np.concatenate(column) for column in zip(*columns, strict=True))
    totals = np.cumsum([len(batch[0]) for batch in columns])
    offsets = np.append(0, ends + np.repeat(np.append(0, totals[:-1]), [len(batch[4]) for batch in columns]))
    del columns
    distinct, number, held = np.unique(hashes, return_inverse=True, return_counts=True)
    # Slots are shared, so some phrases of one page come through, and some that stand in text alone.
    shown = np.bincount(number, ranks % IN_TEXT > 0, len(held))
    enough = shown >= LEAST
    renumbered = np.cumsum(enough) - 1
    every = Phrases(offsets, renumbered[number], ranks, places, words, distinct[enough])
    return every.keep(enough[number])
