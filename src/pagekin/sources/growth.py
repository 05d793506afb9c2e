"""Limit the growth of decompressed data, for every decompressor of this room.

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
    """Decompressed data that grows beyond the limit."""


class Growth:
    """The number of bytes that went into a decompressor, and that came out."""

    def __init__(self, ratio: int, free: int = FREE) -> None:
        self.ratio, self.free = ratio, free
        self.fed = self.grown = 0

    def exceeds(self, grown: int = 0) -> bool:
        """Return whether the limit is exceeded, or would be with `grown` more bytes."""
        return self.grown + grown > max(self.free, self.ratio * self.fed)

    def admit(self, grown: int) -> bool:
        """Count `grown` more bytes unless they would exceed the limit; return whether they were counted."""
        if grown > 0:
            if self.exceeds(grown):
                return False
            self.grown += grown
        return True

    def check(self, fed: int, grown: int) -> None:
        """Note the bytes in and out so far; raise a BombError if there are too many."""
        self.fed, self.grown = fed, grown
        if self.exceeds():
            raise BombError(f"{fed:,} bytes grow to more than {max(self.free, self.ratio * fed):,}, {self.ratio} times")


class MeteredFile(io.RawIOBase):
    """A file that counts the bytes read, for decompressors that do not report their input."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.taken = 0

    def readable(self) -> bool:
        """Return True: the file can be read."""
        return True

    def seekable(self) -> bool:
        """Return True: the file can be positioned."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Return at most `size` bytes, or all that are left for -1."""
        whole = size is None or size < 0
        data = self._file.read(-1 if whole else min(size or 0, PIECE))
        self.taken += len(data)
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move to a position in the file."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the position in the file."""
        return self._file.tell()
