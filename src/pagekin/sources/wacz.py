"""Read WACZ files: zip files that hold WARC files."""

import io
import re
import struct
import tempfile
import zipfile
from collections.abc import Iterator
from typing import BinaryIO, cast

from pagekin.sources.growth import FREE_IN_ALL, SMALL, STEP, BombError, Growth, MeteredFile
from pagekin.sources.items import BOMB, Item, Page, Skip, SourceError
from pagekin.sources.limits import Limits
from pagekin.sources.warc import READ_ERRORS, damage_skip, read_warc
from pagekin.store import file_stamp, on_temporary_disk, open_file

_LOCAL_HEADER = struct.Struct("<26xHH")  # its last fields: the lengths of the name and of the extra field


_COPIED = 1 << 12


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


def list_wacz(path: str, is_warc: re.Pattern[str]) -> list[zipfile.ZipInfo]:
    """List the WARC files in the zip file at `path`, sorted by name."""
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as archive:
            members = [m for m in archive.infolist() if is_warc.search(m.filename) and not m.is_dir()]
    except zipfile.BadZipFile as error:
        raise SourceError(f"{path} is not a readable WACZ (zip) file: {error}.") from error
    if not members:
        raise SourceError(f"{path} holds no WARC file; a WACZ keeps them under archive/.")
    if sum(m.compress_size for m in members) > file_stamp(path)[0]:
        raise SourceError(f"{path} is not a readable WACZ (zip) file: files in it overlap, as in a decompression bomb.")
    if any(m.flag_bits & 1 for m in members):
        raise SourceError(f"{path} is encrypted; unpack it and read the WARC files.")
    return sorted(members, key=lambda m: m.filename)


def read_wacz(path: str, name: str, where: str, limits: Limits) -> Iterator[Item | int]:
    """Yield the items of the WARC file `name` in the zip file at `path`, and sometimes -1 while it is unpacked."""
    with open_file(path) as file, zipfile.ZipFile(file) as archive:
        info = archive.getinfo(name)
        if info.compress_type == zipfile.ZIP_STORED:
            # As the format requires. Reading in place needs no check of the whole file first.
            file.seek(info.header_offset)
            extra = sum(_LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size)))
            start = info.header_offset + _LOCAL_HEADER.size + extra
            window = io.BufferedReader(_Window(file, start, info.file_size), 1 << 16)
            for item in read_warc(
                cast(BinaryIO, window), where, 0, info.file_size, limits, None, _free_bytes(path, info)
            ):
                if not isinstance(item, int):
                    yield item
            return
        yield from _read_unpacked(path, info, where, limits)


def _free_bytes(path: str, info: zipfile.ZipInfo) -> int:
    """Return a file's share of the limit for a whole WACZ: many small files get no more than one large file."""
    return max(SMALL, FREE_IN_ALL * info.compress_size // file_stamp(path)[0])


def _read_unpacked(path: str, info: zipfile.ZipInfo, where: str, limits: Limits) -> Iterator[Item | int]:
    """Yield the items of a compressed WARC file, through a copy on the temporary disk.

    If it grows more than it may, what was copied until then is read, but for its last record.
    """
    growth = Growth(limits.ratio, _free_bytes(path, info))
    with on_temporary_disk(), tempfile.TemporaryFile() as copy, open_file(path) as file:
        failure, bomb = "", ""
        metered = MeteredFile(file)
        try:
            with zipfile.ZipFile(cast(BinaryIO, metered)) as archive, archive.open(info) as member:
                before = metered.taken
                # In small pieces: one that is damaged is lost whole.
                while piece := member.read(_COPIED):
                    with on_temporary_disk():  # or it would be taken for damage of the WACZ
                        copy.write(piece)
                    growth.check(metered.taken - before, growth.grown + len(piece))
                    if growth.grown > limits.unpacked_bytes:
                        raise BombError(f"it takes more than {limits.unpacked_bytes:,} bytes of the temporary disk")
                    if growth.grown % STEP < _COPIED:
                        yield -1  # reading goes on
        except BombError as error:
            bomb = str(error)
        except (*READ_ERRORS, NotImplementedError) as error:
            failure = f"the zip file is damaged: {error}"
        copy.flush()
        size = copy.tell()
        items = (i for i in read_warc(copy, where, 0, size, limits, growth) if not isinstance(i, int))
        yield from _drop_last_record(items, where, size, bomb) if bomb else items
        if failure:
            yield damage_skip(where, size, failure, -1)


def _drop_last_record(items: Iterator[Item], where: str, size: int, bomb: str) -> Iterator[Item]:
    """Yield the items of an incomplete copy, without its last record; then the reason."""
    held: Item | None = None
    at, url = size, ""
    for item in items:
        if isinstance(item, Skip) and item.reason == "truncated record":
            at, url = item.offset, item.url
            if not url and isinstance(held, Page):  # the cut was noticed after its page
                url, held = held.url, None
            break
        if held is not None:
            yield held
        held = item
    if held is not None:
        yield held
    yield Skip(BOMB, where, at, url, f"{bomb}; nothing after it can be read", html=bool(url))
