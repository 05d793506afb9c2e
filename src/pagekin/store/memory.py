"""The memory budget of a build, and arrays that may live on disk."""

import contextlib
import ctypes
import mmap
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from pagekin.errors import PagekinError
from pagekin.store.arrays import Array

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?\s*", re.IGNORECASE)
_LARGE = 64
"""An array that takes more than one of so many parts of the memory lies in a file."""
_AT_ONCE = 16
"""What one thread works on at a time takes one of so many parts of the memory."""
_BLOCK = 1 << 20


_MMAP_THRESHOLD, _TRIM_THRESHOLD, _ARENAS = -3, -1, -8
"""Names of settings of the C library's allocator, as mallopt(3) has them."""


class TooLittleMemoryError(PagekinError):
    """Too little memory for what was asked for; the message says how much would do."""

    fault = "usage"


def parse_size(text: str) -> int:
    """Return the bytes of a size as people write it, such as 800M, 1G or 1.5GiB; ValueError if it is none."""
    match = _SIZE.fullmatch(text)
    size = round(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    if size <= 0:
        raise ValueError(f"a size is written 800M, 1G or 1.5G; not '{text}'")
    return size


@dataclass(frozen=True)
class MemoryBudget:
    """The anonymous and shared memory that all processes of a build may take together."""

    limit: int = 0
    """In bytes; 0 for as much as it takes to be fast."""

    def items(self, most: int, item_bytes: int) -> int:
        """Return how many items of this size a thread may process at a time: `most`, or fewer if memory is short."""
        return min(most, max(1, self.limit // _AT_ONCE // item_bytes)) if self.limit else most

    def holds(self, size: int) -> bool:
        """Return whether an array of this size may stay in memory for a whole stage."""
        return not self.limit or size <= self.limit // _LARGE


NO_LIMIT = MemoryBudget()


@dataclass(frozen=True)
class Workspace:
    """Where a stage works: a folder for temporary files, and the memory that it may take."""

    folder: Path
    memory: MemoryBudget = NO_LIMIT

    def empty(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> Array:
        """Return a new array, of zeros or uninitialised: in memory, or in an unnamed mapped file if it is large.

        What is mapped is the system's to move out, and goes with the array. The disk is asked for the room at once: a full one
        is an OSError here, and not the end of the process later.
        """
        kind = np.dtype(dtype)
        size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
        if self.memory.holds(size):
            return np.empty(shape, kind)
        with tempfile.TemporaryFile(prefix="array-", dir=self.folder) as file:
            _reserve(file.fileno(), size)
            return np.frombuffer(mmap.mmap(file.fileno(), size), kind).reshape(shape)

    def full(self, shape: int | tuple[int, ...], value: Any, dtype: npt.DTypeLike) -> Array:
        """Return a new array of one value."""
        array = self.empty(shape, dtype)
        array.fill(value)
        return array

    def growing(self, dtype: npt.DTypeLike) -> "GrowingArray":
        """Return an empty array that can be appended to."""
        return GrowingArray(self, dtype)

    def inside(self, name: str) -> "Workspace":
        """Return a workspace in a new folder inside of this one."""
        folder = self.folder / name
        folder.mkdir(parents=True)
        return Workspace(folder, self.memory)


class GrowingArray:
    """A one-dimensional array that grows: in memory, and from when it is large in an unnamed file."""

    def __init__(self, space: Workspace, dtype: npt.DTypeLike) -> None:
        self.dtype = np.dtype(dtype)
        self.length = 0
        self._space = space
        self._pieces: list[Array] = []
        self._file: IO[bytes] | None = None

    def append(self, values: Array) -> None:
        """Add values at the end."""
        piece = np.ascontiguousarray(values, self.dtype)
        self.length += len(piece)
        if self._file is None and not self._space.memory.holds(self.length * self.dtype.itemsize):
            self._file = tempfile.TemporaryFile(prefix="array-", dir=self._space.folder)  # noqa: SIM115  finish() closes it
            for earlier in self._pieces:
                self._file.write(earlier.view(np.uint8).data)
            self._pieces = []
        if self._file is None:
            self._pieces.append(piece)
        else:
            self._file.write(piece.view(np.uint8).data)

    def finish(self) -> Array:
        """Return what was appended as one array, and forget it."""
        if self._file is None:
            pieces, self._pieces = self._pieces, []
            return np.concatenate([np.zeros(0, self.dtype), *pieces])
        with self._file as file:
            file.flush()
            return np.frombuffer(mmap.mmap(file.fileno(), 0), self.dtype)


IN_MEMORY = Workspace(Path())
"""For work whose arrays all stay in memory."""


def _reserve(handle: int, size: int) -> None:
    """Reserve disk space for a file."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(handle, 0, size)
        return
    for start in range(0, size, _BLOCK):
        os.write(handle, bytes(min(_BLOCK, size - start)))


def give_back_memory() -> None:
    """Return freed memory to the system, if the C library supports it; otherwise it accumulates."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def use_memory_tightly() -> None:
    """Return large arrays to the system as soon as they are freed, if the C library supports it.

    It otherwise learns to keep them: a process that makes and frees arrays of a few MB holds several times what it uses.
    """
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        for name, value in ((_MMAP_THRESHOLD, 4 << 20), (_TRIM_THRESHOLD, 16 << 20), (_ARENAS, 2)):
            library.mallopt(name, value)
