"""Links that count, and how many pages link to each URL."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Corpus
from pagekin.store import IN_MEMORY, Array, Workspace, batch_ranges

_STEP = 1 << 22
_LINK_BYTES = 80
"""Bytes that a link takes while a batch of links is looked at."""


class LinkBatch(NamedTuple):
    """All links to the URLs `first` to `last`, in the order of these and of the pages that link to them."""

    first: int
    last: int
    anchors: npt.NDArray[np.int64]
    pages: npt.NDArray[np.uint32]
    targets: npt.NDArray[np.int64]

    def count_pages(self, counts: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """Return how many pages link to each of the URLs, by the links marked in `counts`."""
        pages, targets = self.pages[counts], self.targets[counts]
        # A page that links twice stands twice in a row.
        is_new = np.ones(len(pages), dtype=np.bool_)
        is_new[1:] = (pages[1:] != pages[:-1]) | (targets[1:] != targets[:-1])
        return np.bincount(targets[is_new] - self.first, minlength=self.last - self.first)


def link_batches(corpus: Corpus, room: Workspace = IN_MEMORY) -> Iterator[LinkBatch]:
    """Yield all links by their targets, in batches of bounded size."""
    offsets = np.asarray(corpus.inlinks.offsets, dtype=np.int64)
    page_of = anchor_pages(corpus, room)
    for first, last in batch_ranges(offsets, room.memory.items(_STEP, _LINK_BYTES)):
        anchors = np.asarray(corpus.inlinks.anchors[offsets[first] : offsets[last]], dtype=np.int64)
        targets = np.repeat(np.arange(first, last), np.diff(offsets[first : last + 1]))
        yield LinkBatch(first, last, anchors, page_of[anchors], targets)


def anchor_pages(corpus: Corpus, room: Workspace = IN_MEMORY) -> npt.NDArray[np.uint32]:
    """Return the page of each anchor, in memory or in a temporary file."""
    offsets = np.asarray(corpus.pages.anchors, dtype=np.int64)
    pages = room.empty(int(offsets[-1]), np.uint32)
    for first, last in batch_ranges(offsets, room.memory.items(_STEP, 4)):
        pages[offsets[first] : offsets[last]] = np.repeat(
            np.arange(first, last, dtype=np.uint32), np.diff(offsets[first : last + 1])
        )
    return pages


def citing_pages(corpus: Corpus, not_citing: Array | None = None) -> npt.NDArray[np.bool_]:
    """Mark the pages whose links count: the newest capture of each URL, without the pages in `not_citing`."""
    citing: npt.NDArray[np.bool_] = np.diff(np.asarray(corpus.pages.url, dtype=np.int64), prepend=-1) != 0
    if not_citing is not None:
        citing[not_citing] = False
    return citing
