"""Find where records begin and end in an archive, even between damaged parts."""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from pagekin.sources.growth import FREE
from pagekin.sources.limits import Limits

GZIP_MAGIC = b"\x1f\x8b\x08"
MAX_HEADER = 1 << 20
_BLOCK = 1 << 20
_STEP = 1 << 16
_LINE_OVERLAP = 1 << 12  # a record's first lines that may straddle two blocks

_CONTENT_LENGTH = re.compile(rb"(?im)^content-length:[ \t]*(\d{1,18})[ \t]*\r?$")
_HEADER_END = re.compile(rb"\r?\n\r?\n")
_NEXT_WARC = re.compile(rb"\s*WARC/")


@dataclass(frozen=True, slots=True)
class Opening:
    """Patterns for the start of a record: the first bytes of a gzip member, and a line of an uncompressed file."""

    member: re.Pattern[bytes]
    line: re.Pattern[bytes]


WARC = Opening(
    re.compile(rb"\s{0,4}WARC/[01]\."),
    re.compile(rb"WARC/[01]\.\d{1,2}\r?\n(?=(?:[\w-]+:[^\n]*\n)*?WARC-Type:)", re.IGNORECASE),
)


def next_record(stream: BinaryIO, start: int, opening: Opening = WARC) -> int:
    """Return the offset of the first record at or after `start`, or -1.

    A record starts with a gzip member or, in an uncompressed file, with its first line. A file whose first bytes are
    damaged is searched for both.
    """
    stream.seek(0)
    head = stream.read(4096)
    gzipped = head[:3] == GZIP_MAGIC
    plain = opening.line.match(head.lstrip()) is not None
    position, overlap = start, b""
    stream.seek(start)
    while block := stream.read(_BLOCK):
        data = overlap + block
        base = position - len(overlap)
        offsets = [
            -1 if plain else _find_member(stream, data, base, opening),
            -1 if gzipped else _find_line(data, base, start, opening),
        ]
        if any(at >= 0 for at in offsets):
            return min(at for at in offsets if at >= 0)
        position += len(block)
        overlap = data[-2:] if gzipped else data[-_LINE_OVERLAP:]
        stream.seek(position)
    return -1


def _find_member(stream: BinaryIO, data: bytes, base: int, opening: Opening) -> int:
    at = data.find(GZIP_MAGIC)
    while at >= 0:
        if opening.member.match(_first_bytes(stream, base + at)):
            return base + at
        at = data.find(GZIP_MAGIC, at + 1)
    return -1


def _first_bytes(stream: BinaryIO, start: int) -> bytes:
    """Return the first bytes at `start`, decompressed if a gzip member begins there; none if it is damaged."""
    stream.seek(start)
    head = stream.read(4096)
    if head[:3] != GZIP_MAGIC:
        return head
    try:
        return zlib.decompressobj(31).decompress(head, 512)
    except zlib.error:
        return b""


def _find_line(data: bytes, base: int, start: int, opening: Opening) -> int:
    for match in opening.line.finditer(data):
        at = match.start()
        if base + at == start or data[at - 1 : at] == b"\n":
            return base + at
    return -1


@dataclass(frozen=True, slots=True)
class Extent:
    """The end of a WARC record, and its fault, if any.

    "cut": the file ends inside the record. "length": its Content-Length is wrong. "long": its Content-Length reaches
    beyond its gzip member. "shared": its gzip member holds other records too, which have no offsets. "bomb": its gzip
    member grows more than it may; its end was not looked for. "unknown": there is no readable record.
    """

    end: int
    fault: str = ""


def record_extent(stream: BinaryIO, start: int, size: int) -> Extent:
    """Return the extent of the WARC record at `start` in a file of `size` bytes."""
    stream.seek(start)
    magic = stream.read(3)
    stream.seek(start)
    if magic == GZIP_MAGIC:
        return _member_extent(stream, start)
    head = stream.read(MAX_HEADER)
    if not _NEXT_WARC.match(head):
        return Extent(start, "unknown")
    needed = _record_length(head)
    if needed < 0 or start + needed > size:
        return Extent(size, "cut")
    stream.seek(start + needed)
    after = stream.read(64)
    blank = len(after) - len(after.lstrip(b"\r\n"))
    whole = blank == len(after) or _NEXT_WARC.match(after) or after.startswith((b"\r\n\r\n", b"\n\n"))
    return Extent(start + needed + blank, "" if whole else "length")


def _record_length(head: bytes) -> int:
    """Return the length of the record at the start of `head`, with its header; -1 if the header has none."""
    end = _HEADER_END.search(head)
    length = _CONTENT_LENGTH.search(head, 0, end.end()) if end else None
    return end.end() + int(length[1]) if end and length else -1


def _member_extent(stream: BinaryIO, start: int) -> Extent:
    head, after = b"", b""
    needed, total, end = -1, 0, -1
    for piece, compressed in member_pieces(stream):
        if needed < 0 and len(head) < MAX_HEADER:
            head += piece
            needed = _record_length(head)
            after = head[needed:][:64] if needed >= 0 else b""
        elif len(after) < 64:
            after += piece[max(0, needed - total) :][:64]
        total += len(piece)
        end = compressed
    if end == TOO_LARGE:
        return Extent(start, "bomb")
    if end == DAMAGED:
        return Extent(start, "unknown")
    if end < 0:
        return Extent(start, "cut")
    if needed < 0 or not _NEXT_WARC.match(head):
        return Extent(start + end, "unknown")
    if total < needed:
        return Extent(start + end, "long")
    if _NEXT_WARC.match(after):
        return Extent(start + end, "shared")
    return Extent(start + end, "length" if after.strip() else "")


DAMAGED = -2
TOO_LARGE = -3
_RATIO = Limits().ratio


def member_pieces(stream: BinaryIO, ratio: int = _RATIO, free: int = FREE) -> Iterator[tuple[bytes, int]]:
    """Decompress the gzip member at the stream's position; yield (bytes, end) pairs.

    `end` is the member's compressed length with the last piece and -1 with earlier ones. If the file ends inside the
    member it stays -1; if the member cannot be decompressed it is DAMAGED, and if it grows beyond `ratio` and `free`
    bytes it is TOO_LARGE.
    """
    member = zlib.decompressobj(31)
    fed = grown = 0
    pending = stream.read(_STEP)
    while pending:
        try:
            piece = member.decompress(pending, 1 << 20)
        except zlib.error:
            yield b"", DAMAGED
            return
        rest = member.unused_data if member.eof else member.unconsumed_tail
        fed += len(pending) - len(rest)
        grown += len(piece)
        if grown > max(free, ratio * fed):
            yield b"", TOO_LARGE
            return
        yield piece, fed if member.eof else -1
        if member.eof:
            return
        pending = rest or stream.read(_STEP)


def has_bare_newlines(stream: BinaryIO, start: int) -> bool:
    """Return whether the header lines of the WARC record at `start` end in a bare newline, against the standard."""
    return re.match(rb"\s*WARC/[\d.]+\n", _first_bytes(stream, start)) is not None
