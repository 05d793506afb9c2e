"""Bound what comes out of compressed bytes: whatever this room decompresses is measured here.

A gzip member, a body's encoding or a file in a WACZ may grow to a few free bytes, and beyond them by the limit `ratio`. It is
looked at every few MiB while it grows, so that what is refused has cost milliseconds and little memory. Free bytes
add up over many small records, so all records of a unit together are held to the same ratio, whatever is packed in what.
"""

import io
from typing import BinaryIO

FREE = 1 << 20
"""Bytes to which a record or a body may grow from any number of bytes."""
FREE_IN_ALL = 16 << 20
"""Bytes to which all records of a unit may grow from any number of bytes."""
SMALL = 1 << 16
"""Bytes of a record and its page that are not worth a look: with its headers, it cannot be packed much denser than that."""
STEP = 4 << 20
"""Bytes that may come out between two looks."""
PIECE = 1 << 14
"""Bytes that a `MeteredFile` gives at once: what it says to have been taken is off by no more."""


class BombError(ValueError):
    """What is decompressed grows more than it may."""


class Growth:
    """How many bytes came out of how many."""

    def __init__(self, ratio: int, free: int = FREE) -> None:
        self.ratio, self.free = ratio, free
        self.fed = self.grown = 0

    def exceeds(self, grown: int = 0) -> bool:
        """Return whether this is too much already, or would be with `grown` bytes more."""
        return self.grown + grown > max(self.free, self.ratio * self.fed)

    def admit(self, grown: int) -> bool:
        """Add `grown` bytes to what came out, unless that would be too much; return whether it was added."""
        if grown > 0:
            if self.exceeds(grown):
                return False
            self.grown += grown
        return True

    def check(self, fed: int, grown: int) -> None:
        """Note how many bytes went in and came out so far; BombError if these are too many."""
        self.fed, self.grown = fed, grown
        if self.exceeds():
            raise BombError(f"{fed:,} bytes grow to more than {max(self.free, self.ratio * fed):,}, {self.ratio} times")


class MeteredFile(io.RawIOBase):
    """A file that counts what is read of it, for decompressors that do not say how much they took."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.taken = 0

    def readable(self) -> bool:
        """Return True, as the methods of files below do what they always do."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Return some of the next `size` bytes; all that are left for -1."""
        whole = size is None or size < 0
        data = self._file.read(-1 if whole else min(size or 0, PIECE))
        self.taken += len(data)
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a place of the file."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the place in the file."""
        return self._file.tell()
