"""How word streams are stored: words in two bytes, boundaries and text offsets as gaps.

A word id below 65,535 takes two bytes; the few rarer ones are marked by 65,535 and stand in a list of their own. Ids
are ranks by frequency, so almost all words are of the first kind. Boundaries and attribute changes are pairs of
bytes, the gap to the one before and the kind; kind 0 means that the gap goes on. Text offsets are gaps in bytes.

Here is the numpy decoder for single pages; `decode_stream` in the room's kernels decodes batches of pages for other kernels.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
RARE = 65_535
"""In place of a word in two bytes: its id is the next of the page's rare ids."""
LONG = 255
"""In place of a gap in one byte: the gap is 255 longer than the next byte says."""


class StreamBatch(NamedTuple):
    """The stored streams of some neighbouring pages, for kernels that call `decode_stream`."""

    words: npt.NDArray[np.uint16]
    rare: npt.NDArray[np.uint32]
    gaps: npt.NDArray[np.uint8]
    """Gap of each mark (boundary or change of attributes), counted in words."""
    kinds: npt.NDArray[np.uint8]
    tokens: npt.NDArray[np.int64]
    """(pages + 1) where the words of each page begin."""
    rares: npt.NDArray[np.int64]
    marks: npt.NDArray[np.int64]


class DecodedPage(NamedTuple):
    """Room for one decoded page, used again for every page of a batch."""

    terms: npt.NDArray[np.int64]
    attributes: npt.NDArray[np.uint8]
    boundary_at: npt.NDArray[np.int64]
    """Boundary i lies before word boundary_at[i]."""
    boundary_kind: npt.NDArray[np.uint8]

    @classmethod
    def for_longest(cls, streams: StreamBatch) -> "DecodedPage":
        """Return room for any page of the batch."""
        words = int(np.max(np.diff(streams.tokens), initial=0)) + 1
        marks = int(np.max(np.diff(streams.marks), initial=0)) + 1
        return cls(
            np.empty(words, np.int64), np.empty(words, np.uint8), np.empty(marks, np.int64), np.empty(marks, np.uint8)
        )


def decode_words(words: Array, rare: Array) -> npt.NDArray[np.uint32]:
    """Return the ids of a page's words, given its two-byte words and its rare ids."""
    ids = words.astype(np.uint32)
    ids[words == RARE] = rare
    return ids


def decode_marks(gaps: Array, kinds: Array) -> tuple[npt.NDArray[np.int64], Array]:
    """Return (positions, kinds) of a page's marks."""
    real = kinds != 0
    return np.cumsum(gaps, dtype=np.int64)[real], kinds[real]


def decode_gaps(coded: Array) -> npt.NDArray[np.int64]:
    """Return the rising positions whose gaps are coded."""
    positions: npt.NDArray[np.int64] = np.cumsum(coded, dtype=np.int64)[coded != LONG]
    return positions
