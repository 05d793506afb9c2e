"""The stored forms of a page's stream: words in two bytes, boundaries and offsets as gaps.

A word id below 65,535 takes two bytes; the few rarer ones are marked by 65,535 and stand in a list of their own. Ids
are ranks by frequency, so almost all words are of the first kind. Boundaries and attribute changes are pairs of
bytes, the gap to the one before and the kind; kind 0 means that the gap goes on. Text offsets are gaps in bytes.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
RARE = 65_535
_LONG = 255


def encode_words(ids: Array) -> tuple[Array, Array]:
    """(two-byte words, the rare ids among them)."""
    rare = ids >= RARE
    return np.where(rare, RARE, ids).astype(np.uint16), ids[rare].astype(np.uint32)


def decode_words(words: Array, rare: Array) -> npt.NDArray[np.uint32]:
    """What `encode_words` encoded."""
    ids = words.astype(np.uint32)
    ids[words == RARE] = rare
    return ids


def encode_gaps(gaps: Array) -> tuple[Array, Array]:
    """(bytes, places of the last byte of each gap): a gap of 255 or more takes several bytes, all but the last 255."""
    more = gaps // _LONG
    last = np.cumsum(more + 1) - 1
    coded = np.full(int(last[-1]) + 1 if len(last) else 0, _LONG, dtype=np.uint8)
    coded[last] = gaps % _LONG
    return coded, last


def encode_marks(positions: Array, kinds: Array) -> tuple[Array, Array]:
    """(gaps, kinds) of marks at rising positions, as stored."""
    gaps, last = encode_gaps(np.diff(positions, prepend=0))
    coded = np.zeros(len(gaps), dtype=np.uint8)
    coded[last] = kinds
    return gaps, coded


def decode_marks(gaps: Array, kinds: Array) -> tuple[npt.NDArray[np.int64], Array]:
    """(positions, kinds) that `encode_marks` encoded."""
    real = kinds != 0
    return np.cumsum(gaps, dtype=np.int64)[real], kinds[real]


def decode_gaps(coded: Array) -> npt.NDArray[np.int64]:
    """The rising positions whose gaps `encode_gaps` encoded."""
    positions: npt.NDArray[np.int64] = np.cumsum(coded, dtype=np.int64)[coded != _LONG]
    return positions
