"""A batch of pages as arrays: the form in which pages travel from either reader to the corpus."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# An anchor's four places.
A_HREF, A_START, A_END, A_FLAGS = range(4)

# The row that a page leaves behind: where its share of each array ends, and what was said about it as a whole.
(
    R_TOKENS, R_EVENTS, R_ANCHORS, R_TEXT, R_TITLE0, R_TITLE1, R_LANG0, R_LANG1, R_BASE, R_CANONICAL, R_FLAGS, R_BODY,
    R_DROPPED,
) = range(13)  # fmt: skip
ROW_SIZE = 13

ATTRIBUTE_EVENT = 64
"""Events from this kind on say which attributes (kind & 63) words have from here on; lower ones are boundaries."""


@dataclass(frozen=True, slots=True)
class LexedBatch:
    """A batch of pages as arrays; views, valid until the reader's next batch.

    `rows[i]` ends page i's share of each array (`R_*`); words and addresses are numbers of the reader's tables.
    """

    rows: npt.NDArray[np.int64]
    words: npt.NDArray[np.int64]
    """Number of the word | offset in the page's text << 32."""
    events: npt.NDArray[np.int64]
    """Kind of boundary, or ATTRIBUTE_EVENT + attributes, | position << 8."""
    anchors: npt.NDArray[np.int64]
    """Address, start, end, nofollow | kind << 1: one row an anchor."""
    text: npt.NDArray[np.uint8]
