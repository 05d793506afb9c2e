"""Copies: pages that say the same, whatever links to them.

Bags hold the words around links, and a mirror has other links than the original. So copies are told by a *sketch* of
the page's own kept words alone: a hash puts each word into one of 64 places, and a place keeps 16 bits of the least
hash in it (one-permutation min-hashing). The share of places in which two sketches agree, of those that either one
fills, estimates the share of words that the pages have in common.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags.words import mix64
from pagekin.store import Kin

Array = npt.NDArray[Any]
SKETCH_PLACES = 64
EMPTY_PLACE = 65_535
NEAR_COPY = 0.9
"""Pages of which this share of words is common are near-duplicates, shown as one."""


def sketch(hashes: Array) -> npt.NDArray[np.uint16]:
    """The sketch of a page, given the hashes of its words."""
    z = mix64(hashes)
    least = np.full(SKETCH_PLACES, np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(least, (z >> np.uint64(58)).astype(np.int64), z)
    values = np.minimum(least & np.uint64(0xFFFF), np.uint64(EMPTY_PLACE - 1)).astype(np.uint16)
    return np.where(least == np.iinfo(np.uint64).max, np.uint16(EMPTY_PLACE), values)


def are_copies(sketches: Array, one: Array, threshold: float = NEAR_COPY) -> npt.NDArray[np.bool_]:
    """Which of the sketches (rows) are of near-duplicates of one; pages without words are nobody's copies."""
    either = (sketches != EMPTY_PLACE) | (one != EMPTY_PLACE)
    agree = (sketches == one) & either
    return np.asarray(np.add.reduce(agree, axis=1) >= np.maximum(threshold * np.add.reduce(either, axis=1), 1))


def common_words(sketches: Array, one: Array) -> npt.NDArray[np.float64]:
    """The estimated share of words that each of the sketches (rows) has in common with one."""
    either = (sketches != EMPTY_PLACE) | (one != EMPTY_PLACE)
    agree = np.add.reduce((sketches == one) & either, axis=1)
    return np.asarray(agree / np.maximum(np.add.reduce(either, axis=1), 1))


def copy_sketches(kin: Kin) -> npt.NDArray[np.uint16]:
    """Return the sketch of each page, (pages, PLACES); KinError if an earlier Pagekin made the collection."""
    return kin["copy.rows"].reshape(-1, SKETCH_PLACES)


def has_sketches(kin: Kin) -> bool:
    """Return whether a collection holds sketches, by which copies are found."""
    return "copy.rows" in kin


EMPTY = EMPTY_PLACE  # old name
PLACES = SKETCH_PLACES  # old name
