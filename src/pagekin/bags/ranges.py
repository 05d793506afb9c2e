"""Equal ranges of hashes, so that counts by hash can be summed in several places."""

import numpy as np
import numpy.typing as npt

from pagekin.store import Array

_HASHES = 1 << 64


def range_bounds(count: int) -> npt.NDArray[np.uint64]:
    """Return the start of each of `count` ranges except the first."""
    return np.array([-(-_HASHES * number // count) for number in range(1, count)], np.uint64)


def cut_sorted(hashes: Array, count: int) -> npt.NDArray[np.int64]:
    """Return the places where `count` ranges begin in sorted hashes, and where the last one ends (count + 1)."""
    return np.concatenate([[0], np.searchsorted(hashes, range_bounds(count)), [len(hashes)]])


def ranges_of(hashes: Array, count: int) -> npt.NDArray[np.int64]:
    """Return the range, among `count`, of each hash."""
    return np.searchsorted(range_bounds(count), hashes, side="right")
