"""Phrases that pages show: n-grams of their titles, breadcrumbs, headings and link texts, from which topics are named."""

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
    count: int
    """Number of phrases."""

    @property
    def pages(self) -> npt.NDArray[np.int64]:
        """Return the page of each entry."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def keep(self, kept: Array) -> "Phrases":
        """Return some of the entries; phrases keep their numbers."""
        offsets = np.append(0, np.cumsum(np.bincount(self.pages[kept], minlength=len(self.offsets) - 1)))
        return Phrases(offsets, self.phrases[kept], self.ranks[kept], self.places[kept], self.words[kept], self.count)


def find_phrases(corpus: Corpus, words: Vocabulary, site_words: Array, threads: int = 1) -> Phrases:
    """Find the phrases of all pages; the number of threads changes nothing.

    `site_words` (pages, 2) says how many words at the beginning and at the end of each title are the site's, -1 for a page
    that shows none. Cost: two passes over the words, a sort of each page's phrases, and one of all that stay.
    """
    from pagekin.clusters._kernels import phrases as kernels

    slots = 1 << max(16, (_SLOTS * max(len(corpus), 1) - 1).bit_length())
    anchors = np.asarray(corpus.pages.anchors, np.int64)
    left_out = classify_links(corpus, Strategy()) == LinkUse.FURNITURE
    ends = np.zeros(len(corpus) + 1, np.int64)
    room = kernels.MOST_WORDS * kernels.LONGEST + kernels.MOST_TEXT * kernels.LONGEST_TEXT
    types = (np.uint64, np.uint8, np.int32, np.uint8)

    def find(first: int, last: int, counts: Array, least: int) -> tuple[Array, ...]:
        """Count the phrases of a batch, or with `least` return those that enough pages hold."""
        streams = corpus.stream_batch(first, last)
        longest = int(np.max(np.diff(streams.tokens), initial=0)) + 1
        found = tuple(np.empty(room, kind) for kind in types)
        scratch = np.empty(longest, np.uint8), np.empty(longest, np.bool_), found
        size = 0 if least == 0 else min(2 * kernels.LONGEST * len(streams.words), room * (last - first))
        out = tuple(np.empty(size, kind) for kind in types)
        part = slice(int(anchors[first]), int(anchors[last]))
        starts, lengths = (
            np.asarray(column[part], np.int64) for column in (corpus.anchors.start, corpus.anchors.length)
        )
        of_anchors = anchors[first : last + 1] - anchors[first], starts, lengths, left_out[part]
        written = kernels.find_phrases(
            streams, DecodedPage.for_longest(streams), words.stem_of, site_words[first:last], of_anchors, counts,
            least, scratch, out, ends[first + 1 : last + 1],
        )  # fmt: skip
        return tuple(column[:written].copy() for column in out)

    # Each thread counts for itself; counts end at 255, so their sum does not depend on who counted what.
    tables = [np.zeros(slots, np.uint8) for _ in range(threads)]

    def count(first: int, last: int) -> None:
        mine = tables.pop()
        find(first, last, mine, 0)
        tables.append(mine)

    ranges = batch_ranges(corpus.pages.tokens, _BATCH_WORDS)
    for _batch, _nothing in map_in_order(threads, count, ranges):
        pass
    counts = tables.pop()
    while tables:
        more = tables.pop()
        np.minimum(counts, 255 - more, out=counts)
        counts += more
    batches: list[tuple[Array, ...]] = [tuple(np.empty(0, kind) for kind in types)]
    total = 0
    for (first, last), batch in map_in_order(threads, lambda a, b: find(a, b, counts, LEAST), ranges):
        ends[first + 1 : last + 1] += total
        total += len(batch[0])
        batches.append(batch)
    hashes, ranks, places, lengths_in_words = (np.concatenate(column) for column in zip(*batches, strict=True))
    del batches
    _hashes, number, held = np.unique(hashes, return_inverse=True, return_counts=True)
    # Slots are shared, so some phrases of one page come through, and some that stand in text alone.
    shown = np.bincount(number, ranks % IN_TEXT > 0, len(held))
    enough = shown >= LEAST
    renumbered = np.cumsum(enough) - 1
    every = Phrases(ends, renumbered[number], ranks, places, lengths_in_words, int(enough.sum()))
    return every.keep(enough[number])
