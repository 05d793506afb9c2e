"""Where records begin and end inside an archive file, however damaged it is around them."""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

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
    """How a format's records begin: in a gzip member's first bytes, and on a line of an uncompressed file."""

    member: re.Pattern[bytes]
    line: re.Pattern[bytes]


WARC = Opening(
    re.compile(rb"\s{0,4}WARC/[01]\."),
    re.compile(rb"WARC/[01]\.\d{1,2}\r?\n(?=(?:[\w-]+:[^\n]*\n)*?WARC-Type:)", re.IGNORECASE),
)


def next_record(stream: BinaryIO, start: int, opening: Opening = WARC) -> int:
    """Offset of the first record at or after `start`, or -1: a gzip member that opens one, or its first line.

    A file that begins as neither (its first bytes are damaged) is searched for both.
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
        found = [
            -1 if plain else _member_start(stream, data, base, opening),
            -1 if gzipped else _line_start(data, base, start, opening),
        ]
        if any(at >= 0 for at in found):
            return min(at for at in found if at >= 0)
        position += len(block)
        overlap = data[-2:] if gzipped else data[-_LINE_OVERLAP:]
        stream.seek(position)
    return -1


def _member_start(stream: BinaryIO, data: bytes, base: int, opening: Opening) -> int:
    found = data.find(GZIP_MAGIC)
    while found >= 0:
        stream.seek(base + found)
        try:
            head = zlib.decompressobj(31).decompress(stream.read(4096), 512)
        except zlib.error:
            head = b""
        if opening.member.match(head):
            return base + found
        found = data.find(GZIP_MAGIC, found + 1)
    return -1


def _line_start(data: bytes, base: int, start: int, opening: Opening) -> int:
    for match in opening.line.finditer(data):
        at = match.start()
        if base + at == start or data[at - 1 : at] == b"\n":
            return base + at
    return -1


@dataclass(frozen=True, slots=True)
class Extent:
    """Where a WARC record ends, and what is wrong with it: a fault, or nothing.

    "cut": the file ends inside it. "length": its Content-Length is wrong; "long": that reaches beyond its
    gzip member. "shared": its gzip member holds other records too, which have no offsets. "unknown": no
    record can be read there.
    """

    end: int
    fault: str = ""


def record_extent(stream: BinaryIO, start: int, size: int) -> Extent:
    """The extent of the WARC record at `start` of a file of `size` bytes."""
    stream.seek(start)
    magic = stream.read(3)
    stream.seek(start)
    if magic == GZIP_MAGIC:
        return _member_extent(stream, start)
    head = stream.read(MAX_HEADER)
    if not _NEXT_WARC.match(head):
        return Extent(start, "unknown")
    needed = _needed(head)
    if needed < 0 or start + needed > size:
        return Extent(size, "cut")
    stream.seek(start + needed)
    after = stream.read(64)
    blank = len(after) - len(after.lstrip(b"\r\n"))
    whole = blank == len(after) or _NEXT_WARC.match(after) or after.startswith((b"\r\n\r\n", b"\n\n"))
    return Extent(start + needed + blank, "" if whole else "length")


def _needed(head: bytes) -> int:
    """Bytes of the record that opens `head`, header included, or -1 if its header does not tell."""
    end = _HEADER_END.search(head)
    length = _CONTENT_LENGTH.search(head, 0, end.end()) if end else None
    return end.end() + int(length[1]) if end and length else -1


def _member_extent(stream: BinaryIO, start: int) -> Extent:
    head, after = b"", b""
    needed, total, end = -1, 0, -1
    for piece, compressed in member_pieces(stream):
        if needed < 0 and len(head) < MAX_HEADER:
            head += piece
            needed = _needed(head)
            after = head[needed:][:64] if needed >= 0 else b""
        elif len(after) < 64:
            after += piece[max(0, needed - total) :][:64]
        total += len(piece)
        end = compressed
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


def member_pieces(stream: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """(bytes, end) of the gzip member at the stream's position.

    `end` is the member's compressed length with the last piece, -1 before it and where the file ends inside
    the member, and DAMAGED where it cannot be decompressed.
    """
    member = zlib.decompressobj(31)
    fed = 0
    pending = stream.read(_STEP)
    while pending:
        try:
            piece = member.decompress(pending, 1 << 20)
        except zlib.error:
            yield b"", DAMAGED
            return
        rest = member.unused_data if member.eof else member.unconsumed_tail
        fed += len(pending) - len(rest)
        yield piece, fed if member.eof else -1
        if member.eof:
            return
        pending = rest or stream.read(_STEP)


def stands_alone(stream: BinaryIO, start: int, size: int) -> bool:
    """Whether the record at `start` shares its gzip member with no other."""
    return record_extent(stream, start, size).fault != "shared"


def has_bare_newlines(stream: BinaryIO, start: int) -> bool:
    """Whether the WARC record at `start` ends its header lines with a newline alone, against the standard."""
    stream.seek(start)
    head = stream.read(4096)
    if head[:3] == GZIP_MAGIC:
        try:
            head = zlib.decompressobj(31).decompress(head, 64)
        except zlib.error:
            return False
    return re.match(rb"\s*WARC/[\d.]+\n", head) is not None
