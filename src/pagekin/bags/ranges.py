"""Ranges of hashes: so much of all hashes each, so that what goes by hash can be summed in several places."""

import numpy as np
import numpy.typing as npt

from pagekin.store import Array

_HASHES = 1 << 64


def range_bounds(count: int) -> npt.NDArray[np.uint64]:
    """Return where each of so many ranges but the first begins."""
    return np.array([-(-_HASHES * number // count) for number in range(1, count)], np.uint64)


def cut_sorted(hashes: Array, count: int) -> npt.NDArray[np.int64]:
    """Return (count + 1) where each of so many ranges begins in hashes that rise, and where the last ends."""
    return np.concatenate([[0], np.searchsorted(hashes, range_bounds(count)), [len(hashes)]])


def ranges_of(hashes: Array, count: int) -> npt.NDArray[np.int64]:
    """Return the range, of so many, that each hash is in."""
    return np.searchsorted(range_bounds(count), hashes, side="right")
