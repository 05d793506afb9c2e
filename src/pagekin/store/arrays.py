"""One array on disk: a growing `.npy` file with a checksum."""

import contextlib
import hashlib
import math
import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
HEADER_BYTES = 128  # a .npy header of fixed size, so that it can be filled in when the length is known
_KINDS = "biufSU"
_STEP = 1 << 20
_MOST_KEYS = 1 << 63
_MANY_VALUES = 1 << 16
"""So many numbers are worth loading compiled code for."""


def smallest_uint(largest: int) -> np.dtype[Any]:
    """Return the smallest unsigned type that holds `largest`, so that small collections stay small."""
    for kind in (np.uint8, np.uint16, np.uint32):
        if largest <= np.iinfo(kind).max:
            return np.dtype(kind)
    return np.dtype(np.uint64)


def row_entries(offsets: Array, rows: Array) -> npt.NDArray[np.int64]:
    """Return the places of the entries of some rows, row by row; row r has entries offsets[r] to offsets[r + 1]."""
    begins, ends = (offsets[rows + more].astype(np.int64) for more in (0, 1))
    sizes = ends - begins
    return np.repeat(ends - np.cumsum(sizes), sizes) + np.arange(int(sizes.sum()))


def read_only(values: Array) -> Array:
    """Return a read-only view of an array, since kernels are compiled for read-only arrays of a collection."""
    values.flags.writeable = False
    return values


def distinct(values: Array) -> Array:
    """Return the sorted distinct values of an array; much faster than numpy.unique for tens of millions."""
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def rising_order(*columns: Array) -> npt.NDArray[np.int64]:
    """Return the order of rows by columns of whole numbers, the first column first; equal rows keep their order.

    As numpy.lexsort, which takes several times as long: columns that fit into 63 bits together are sorted as one, and by a sort
    that is not stable where no two rows are equal.
    """
    key = columns[0]
    if len(columns) > 1:
        widths = [int(column.max(initial=0)) + 1 for column in columns]
        if math.prod(widths) > _MOST_KEYS or any(column.min(initial=0) < 0 for column in columns):
            return np.lexsort(columns[::-1])
        key = key.astype(np.int64)
        for column, width in zip(columns[1:], widths[1:], strict=True):
            key = key * width + column.astype(np.int64)
    order = np.argsort(key)
    ordered = key[order]
    return np.argsort(key, kind="stable") if np.any(ordered[1:] == ordered[:-1]) else order


def is_among(values: Array, some: Array) -> npt.NDArray[np.bool_]:
    """Mark the whole numbers that are among a few others; numpy.isin would sort all of them.

    Numbers that lie close together are looked up in a table, which takes no more memory than the answer; hashes are found by
    binary search, and where many are looked for by compiled code.
    """
    if not len(some) or not len(values):
        return np.zeros(len(values), np.bool_)
    first, last = int(some.min()), int(some.max())
    if last - first < len(values) and last < _MOST_KEYS:
        table = np.zeros(last - first + 2, np.bool_)
        table[some.astype(np.int64) - first] = True
        places = (values.astype(np.int64) - first).view(np.uint64)  # what is less than the first is a large number here
        return table[np.minimum(places, last - first + 1)]
    if len(values) >= _MANY_VALUES and values.dtype == some.dtype and values.dtype.itemsize == 8:
        return _mark_members(values, some)
    ordered = np.sort(some)
    return np.asarray(ordered[np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)] == values)


def _mark_members(values: Array, some: Array) -> npt.NDArray[np.bool_]:
    """Mark the 64-bit numbers that are among others, by a hash table of these."""
    from pagekin.store._kernels.members import mark_members
    from pagekin.store.secret import PROCESS_KEY

    mask = np.empty(len(values), np.bool_)
    columns = (np.require(column, requirements=("C", "W")).view(np.uint64) for column in (values, some))
    mark_members(*columns, PROCESS_KEY[-1:].view(np.uint64)[0], (4 * len(some)).bit_length(), mask)
    return mask


@cache
def _largest(dtype: np.dtype[Any]) -> int:
    return int(np.iinfo(dtype).max)


def rank(ordered: Array, value: int) -> int:
    """Return how many numbers of a sorted array are less than `value`.

    In the array's own type: numpy would otherwise convert the whole array for each question.
    """
    if len(ordered) == 0 or value <= 0:
        return 0
    if value > _largest(ordered.dtype):
        return len(ordered)
    return int(ordered.searchsorted(ordered.dtype.type(value)))


def _new_digest() -> hashlib.blake2b:
    return hashlib.blake2b(digest_size=16)


def file_checksum(file: Path, progress: Callable[[int], None]) -> str:
    """Return the checksum that the manifest holds for a file: of the array's bytes, without the .npy header."""
    digest = _new_digest()
    with file.open("rb") as stream:
        stream.seek(HEADER_BYTES)
        while block := stream.read(_STEP):
            digest.update(block)
            progress(len(block))
    return digest.hexdigest()


def npy_header(dtype: np.dtype[Any], length: int) -> bytes:
    """Return the first HEADER_BYTES of the `.npy` file of a one-dimensional array."""
    described = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': ({length},), }}"
    header = b"\x93NUMPY\x01\x00" + (HEADER_BYTES - 10).to_bytes(2, "little")
    return header + described.encode().ljust(HEADER_BYTES - 11) + b"\n"


SMALL = 1 << 15
"""Bytes up to which an array is read at once."""


def load_array(file: Path, entry: Mapping[str, Any]) -> Array:
    """Return the array of one manifest entry, read-only; raise a ValueError if the file holds another one.

    It is memory-mapped unless it is small: a map holds a file open, and a process with hundreds of small collections
    would run out of files.
    """
    # numpy would parse the header; ours is known to the byte, and a damaged one makes that parser raise anything.
    (length,) = entry["shape"]
    try:
        dtype = np.dtype(entry["dtype"])
    except TypeError:
        raise ValueError(f"'{entry['dtype']}' is no type of numbers") from None
    with file.open("rb") as stream:
        if dtype.kind not in _KINDS or stream.read(HEADER_BYTES) != npy_header(dtype, length):
            raise ValueError("it is not the array that the manifest describes")
        if 0 < length * dtype.itemsize <= SMALL:
            data = stream.read(length * dtype.itemsize)
            if len(data) < length * dtype.itemsize:
                raise ValueError("it is shorter than the manifest says")
            return np.frombuffer(data, dtype)
    return _map(file, dtype, length)


def _map(file: Path, dtype: np.dtype[Any], length: int) -> Array:
    """Return an array's file memory-mapped; an empty array if it is empty, since that cannot be mapped."""
    if not length:
        return np.frombuffer(b"", dtype)
    # As a plain array: every slice of a memmap object costs a microsecond more.
    # By name: numpy would look up every folder above a Path, which costs more than the map.
    return np.memmap(str(file), dtype, "r", HEADER_BYTES, (length,)).view(np.ndarray)


class ArrayFile:
    """A one-dimensional `.npy` file that grows by appending, with a running checksum."""

    def __init__(self, path: Path, dtype: npt.DTypeLike, temporary: bool = False) -> None:
        """Begin a file; a temporary one needs no checksum, since it is abandoned at the end."""
        self.path, self._temporary = path, temporary
        # By name, as a type that was turned to "<" is not taken for the machine's own, even where it is.
        self.dtype = np.dtype(np.dtype(dtype).newbyteorder("<").str)
        if self.dtype.kind not in _KINDS:
            raise ValueError(f"arrays of {self.dtype} cannot be stored: only numbers and fixed-length strings")
        self.length = 0
        self._mapped: Array | None = None
        self._digest = _new_digest()
        self._file: IO[bytes] = path.open("wb")
        self._file.write(b"\0" * HEADER_BYTES)

    def append(self, values: Array) -> None:
        """Add `values`, one-dimensional, at the end; ValueError if they do not fit the file's type."""
        array = np.ascontiguousarray(values, dtype=self.dtype)
        if values.ndim != 1:
            raise ValueError(f"an array of {values.ndim} dimensions is appended to {self.path.stem}")
        if not np.can_cast(values.dtype, self.dtype, "safe") and not np.array_equal(array, values):
            raise ValueError(f"values appended to {self.path.stem} do not fit {self.dtype}")
        data = array.view(np.uint8).data
        if not self._temporary:
            self._digest.update(data)
        self._file.write(data)
        self.length += array.size

    def mapped(self) -> Array:
        """Return what was appended so far, memory-mapped."""
        if self._mapped is None or len(self._mapped) != self.length:
            self._file.flush()
            self._mapped = _map(self.path, self.dtype, self.length)
        return self._mapped

    def close(self) -> None:
        """Sync a finished file to disk, and close it."""
        os.fsync(self._file.fileno())
        self._file.close()

    def finish(self) -> dict[str, Any]:
        """Write the header, and return the file's manifest entry."""
        header = npy_header(self.dtype, self.length)
        self._file.seek(0)
        self._file.write(header)
        self._file.flush()
        # The name follows from header and payload: two arrays that differ in type alone never share a file,
        # so that moving a new file into the folder cannot replace one that the old manifest names.
        whole = hashlib.blake2b(header + self._digest.digest(), digest_size=6).hexdigest()
        return {
            "file": f"{self.path.stem}-{whole}.npy",
            "dtype": self.dtype.str,
            "shape": [self.length],
            "bytes": HEADER_BYTES + self.length * self.dtype.itemsize,
            "checksum": self._digest.hexdigest(),
        }

    def abandon(self) -> None:
        """Close without finishing."""
        with contextlib.suppress(OSError):  # on a full disk the last flush fails as well
            self._file.close()
