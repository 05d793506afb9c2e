"""Ask the operating system to read many places of mapped arrays ahead, before they are used one by one."""

import mmap
import resource
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_QUESTIONS = 32
"""After opening, and after a question that waited for the disk, this many questions ask for their places beforehand."""
_WAITED = 8
"""A question waited for the disk if the system had to read more pages of memory than this from it."""
_OF_THREAD = getattr(resource, "RUSAGE_THREAD", resource.RUSAGE_SELF)


class ReadAhead:
    """Asks the operating system for all places that a question needs, so that the disk reads them in parallel.

    A place that is not in memory takes a millisecond or more to read, and hundreds that are asked for together take little
    longer. Where all is in memory, asking would be a waste: it is done for the first questions, and after one that had to wait.
    """

    def __init__(self) -> None:
        self._left, self._faults = _QUESTIONS, _read_faults()

    def is_due(self) -> bool:
        """Return whether this question should ask; call it once for each."""
        faults = _read_faults()
        if faults - self._faults > _WAITED:
            self._left = _QUESTIONS
        self._faults = faults
        self._left -= 1
        return self._left >= 0

    def ask(self, arrays: Sequence[npt.NDArray[np.generic]], firsts: npt.ArrayLike, lasts: npt.ArrayLike) -> None:
        """Ask for the entries from each of `firsts` to before each of `lasts`, in all of some arrays."""
        begins, ends = np.atleast_1d(np.asarray(firsts, np.int64)), np.atleast_1d(np.asarray(lasts, np.int64))
        for array in arrays:
            if place := _find_mapping(array):
                _ask(*place, begins * array.itemsize, ends * array.itemsize)


def _read_faults() -> int:
    return resource.getrusage(_OF_THREAD).ru_majflt


def _find_mapping(array: npt.NDArray[np.generic]) -> tuple[mmap.mmap, int] | None:
    """Return the mapped file that holds an array, and the byte at which the array begins in it; None if it is in memory."""
    base = array.base
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    mapping = getattr(base, "_mmap", None)
    if not isinstance(base, np.memmap) or not isinstance(mapping, mmap.mmap):
        return None
    return mapping, base.offset % mmap.ALLOCATIONGRANULARITY + array.ctypes.data - base.ctypes.data


def _ask(mapping: mmap.mmap, at: int, begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> None:
    """Ask for some stretches of bytes, each page of memory once."""
    size = mmap.PAGESIZE
    firsts, lasts = np.maximum(at + begins, 0) // size, -(-np.minimum(at + ends, len(mapping)) // size)
    order = np.argsort(firsts, kind="stable")
    firsts, reached = firsts[order], np.maximum.accumulate(lasts[order])
    opens = np.append(True, firsts[1:] > reached[:-1])[: len(firsts)]
    closes = np.append(opens[1:], True)[: len(firsts)]
    for first, last in zip(firsts[opens].tolist(), reached[closes].tolist(), strict=True):
        if last > first:
            mapping.madvise(mmap.MADV_WILLNEED, first * size, (last - first) * size)
