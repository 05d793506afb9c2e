"""Read ARC files, the format before WARC: we find the records, warcio parses their HTTP headers."""

import io
import re
import zlib
from collections.abc import Iterator
from functools import cache
from typing import Any, BinaryIO, cast

from pagekin.sources.captures import Capture, is_http_url, read_capture
from pagekin.sources.growth import FREE, FREE_IN_ALL, SMALL, BombError, Growth
from pagekin.sources.http import unix_time
from pagekin.sources.items import BOMB, Item, Page, Skip, end_record
from pagekin.sources.limits import Limits
from pagekin.sources.scan import DAMAGED, GZIP_MAGIC, MAX_HEADER, TOO_LARGE, Opening, member_pieces, next_record
from pagekin.sources.warc import READ_ERRORS, report_damage, resumption_text, too_much_in_all

# Version 1 has five fields, version 2 ten: address, IP, date, type, (...), length.
_FIELDS = rb"([a-zA-Z][a-zA-Z0-9+.-]*:[^\r\n]*?) ([\w.:-]+) (\d{4,17}) ([^ \r\n]+)(?: [^ \r\n]+){0,5}? (\d{1,15})"
_LINE = re.compile(_FIELDS + rb"[ \t]*\r?\n?")
ARC = Opening(re.compile(rb"\s{0,4}" + _FIELDS + rb"[ \t]*\r?\n"), re.compile(rb"(?m)^" + _FIELDS + rb"[ \t]*\r?\n"))
_MAX_LINE = 1 << 16


@cache
def _http_parser() -> Any:
    # Imported only for ARC files: it takes a tenth of a second.
    from warcio.statusandheaders import StatusAndHeadersParser

    return StatusAndHeadersParser(["HTTP/1.0", "HTTP/1.1"], verify=False)


class _Member(io.RawIOBase):
    """The decompressed bytes of one gzip member, as a stream."""

    def __init__(self, stream: BinaryIO, start: int, ratio: int, free: int) -> None:
        stream.seek(start)
        self._start, self._pieces, self._piece = start, member_pieces(stream, ratio, free), memoryview(b"")
        self._ratio = ratio
        self.grown = 0
        """Bytes that came out of it so far."""
        self.end = -1
        """The member's end in the file, or -1 while that is unknown."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = cast(memoryview, buffer)
        while not self._piece:
            piece, length = next(self._pieces, (b"", None))
            self._piece = memoryview(piece)
            self.grown += len(piece)
            if length is None:
                return 0
            if length == TOO_LARGE:
                raise BombError(f"a gzip member grows more than {self._ratio} times")
            if length == DAMAGED:
                raise zlib.error("the gzip member cannot be decompressed")
            self.end = self._start + length if length >= 0 else -1
        count = min(len(view), len(self._piece))
        view[:count], self._piece = self._piece[:count], self._piece[count:]
        return count


class _DamageError(Exception):
    """Damage at byte `at`; `held` are the items of the record before it."""

    def __init__(self, what: str, at: int, held: list[Item], inside: range, cut: bool = False) -> None:
        super().__init__(what)
        self.at, self.held, self.inside, self.cut = at, held, inside, cut


def read_arc(stream: BinaryIO, where: str, limits: Limits) -> Iterator[Item]:
    """Yield the items of an ARC file."""
    size = stream.seek(0, 2)
    position = 0
    in_all = Growth(limits.ratio, FREE_IN_ALL)
    while 0 <= position < size:
        stream.seek(position)
        in_all.fed = position
        free = SMALL if in_all.exceeds(FREE) else FREE
        member = _Member(stream, position, limits.ratio, free) if stream.read(3) == GZIP_MAGIC else None
        stream.seek(position)
        file = cast(BinaryIO, io.BufferedReader(member, 1 << 16)) if member else stream
        try:
            for item in _read_records(file, where, position, member, limits):
                page = len(item.html) if isinstance(item, Page) and member else 0
                if page <= SMALL or in_all.admit(page):
                    yield item
                else:
                    yield Skip(BOMB, where, position, item.url, too_much_in_all(limits), html=True)
            if member and member.end < 0:
                raise _DamageError("the file ends inside this record", position, [], range(0), cut=True)
            if member:
                in_all.grown += max(0, member.grown - (member.end - position))
            position = member.end if member else size
            continue
        except BombError as error:
            resume = next_record(stream, position + 1, ARC)
            yield Skip(BOMB, where, position, detail=f"{error}; {resumption_text(resume)}")
            position = resume
            continue
        except _DamageError as error:
            damage = error
        except READ_ERRORS as error:
            damage = _DamageError(str(error), position, [], range(0))
        search = _end_of_member(member, position) if member else damage.inside.start or damage.at + 1
        resume = next_record(stream, search, ARC)
        # In an uncompressed file, a length that is too large includes the records after it.
        polluted = resume in damage.inside and any(isinstance(item, Page) for item in damage.held)
        what = "" if damage.cut and (member or resume < 0) else str(damage)
        yield from report_damage(damage.held, where, damage.at, what, resume, polluted)
        position = resume


def _end_of_member(member: _Member, start: int) -> int:
    """Return where to look for the next record: after a complete gzip member, or just after a damaged one begins."""
    try:
        while member.read(1 << 16):
            pass
    except READ_ERRORS:
        return start + 1
    return max(member.end, start + 1)


def _read_records(file: BinaryIO, where: str, start: int, member: _Member | None, limits: Limits) -> Iterator[Item]:
    """Yield the items of the records in `file`; a record's items are held back until the next record begins."""
    position, last, inside, in_member, records = start, start, range(0), member is not None, 0
    held: list[Item] = []
    while line := file.readline(_MAX_LINE):
        at = start if in_member else position
        position += len(line)
        if not line.strip():
            continue
        match = _LINE.fullmatch(line)
        if not match:
            wrong = bool(inside) and not in_member
            raise _DamageError("no ARC header line where one should be", last if wrong else at, held, inside)
        yield from end_record(held, at)
        records += 1
        length = int(match[5])
        last, inside = at, range(0) if in_member else range(position, position + length)
        position += length
        rest = _RecordRest(file, length)
        held = list(_read_record(match, rest, where, at, limits))
        if not rest.skip():
            raise _DamageError("the file ends inside this record", at, held, inside, cut=True)
    end = member.end if member is not None else position
    yield from end_record(held, end if records == 1 or not in_member else -1)


class _RecordRest:
    """The unread rest of one record."""

    def __init__(self, file: BinaryIO, length: int) -> None:
        self._file = file
        self.left = length

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes, or fewer at the end of the record or the file."""
        data = self._file.read(min(size, self.left))
        self.left -= len(data)
        return data

    def skip(self) -> bool:
        """Skip the rest; return whether the file holds all of it."""
        while self.left and self.read(1 << 20):
            pass
        return self.left == 0


def _read_record(match: re.Match[bytes], rest: _RecordRest, where: str, offset: int, limits: Limits) -> Iterator[Item]:
    url = match[1].decode("utf-8", "replace")
    if url.lower().startswith("filedesc:"):
        yield Skip("record type warcinfo", where, offset, url)
        return
    head = rest.read(MAX_HEADER)
    block = io.BytesIO(head)
    http = _http_parser().parse(block) if head[:5] == b"HTTP/" else None
    if http is None and not is_http_url(url):
        yield Skip("not http", where, offset, url)
        return
    body = head[block.tell() :] if http is not None else head
    status = str(http.get_statuscode() or "") if http is not None else ""

    def read(size: int) -> bytes:
        return body[:size] + (rest.read(size - len(body)) if size > len(body) else b"")

    yield from read_capture(
        Capture(
            url, where, offset, unix_time(match[3].decode()),
            int(status) if status.isdecimal() else None,
            lambda name: (http.get_header(name) or "") if http is not None else "",
            len(body) + rest.left, read,
        ),
        limits,
    )  # fmt: skip
