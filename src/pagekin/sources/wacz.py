"""Read WACZ files: zip files that hold WARC files."""

import io
import re
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from pagekin.sources.items import Item, SourceError
from pagekin.sources.limits import Limits
from pagekin.sources.warc import READ_ERRORS, damage_skip, read_warc

_LOCAL_HEADER = struct.Struct("<26xHH")  # its last fields: the lengths of the name and of the extra field


class _Window(io.RawIOBase):
    """A range of a file, readable like a file."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        self._file, self._start, self._size = file, start, size
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = base + offset
        return self._position

    def readinto(self, buffer: object) -> int:
        view = cast(memoryview, buffer)
        self._file.seek(self._start + self._position)
        piece = self._file.read(max(0, min(len(view), self._size - self._position)))
        view[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)


def list_wacz(path: Path, is_warc: re.Pattern[str]) -> list[zipfile.ZipInfo]:
    """List the WARC files in the zip file at `path`, sorted by name."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [m for m in archive.infolist() if is_warc.search(m.filename) and not m.is_dir()]
    except zipfile.BadZipFile as error:
        raise SourceError(f"{path} is not a readable WACZ (zip) file: {error}.") from error
    if not members:
        raise SourceError(f"{path} holds no WARC file; a WACZ keeps them under archive/.")
    if any(m.flag_bits & 1 for m in members):
        raise SourceError(f"{path} is encrypted; unpack it and read the WARC files.")
    return sorted(members, key=lambda m: m.filename)


def read_wacz(path: Path, name: str, where: str, limits: Limits) -> Iterator[Item]:
    """Yield the items of the WARC file `name` in the zip file at `path`."""
    with zipfile.ZipFile(path) as archive, path.open("rb") as file:
        info = archive.getinfo(name)
        if info.compress_type == zipfile.ZIP_STORED:
            # As the format requires. Reading in place needs no check of the whole file first.
            file.seek(info.header_offset)
            extra = sum(_LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size)))
            start = info.header_offset + _LOCAL_HEADER.size + extra
            window = io.BufferedReader(_Window(file, start, info.file_size), 1 << 16)
            yield from _read_items(cast(BinaryIO, window), where, info.file_size, limits)
            return
        with tempfile.TemporaryFile() as copy:
            failure = ""
            try:
                with archive.open(info) as member:
                    shutil.copyfileobj(member, copy, 4096)
            except (*READ_ERRORS, NotImplementedError) as error:
                failure = f"the zip file is damaged: {error}"
            size = copy.tell()
            yield from _read_items(copy, where, size, limits)
            if failure:
                yield damage_skip(where, size, failure, -1)


def _read_items(stream: BinaryIO, where: str, size: int, limits: Limits) -> Iterator[Item]:
    for item in read_warc(stream, where, 0, size, limits):
        if not isinstance(item, int):
            yield item
