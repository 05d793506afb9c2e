"""WARC files: records to items, damage found and stepped over.

fastwarc does the reading. Two things it leaves to us: a file that ends inside a record ends quietly, so lengths are
compared; and a damaged record ends the iteration, so reading resumes at the next record that can be found.
"""

import re
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from pagekin.sources.http import HTML_TYPES, BodyError, decode_body, looks_like_html, media_type, unix_time
from pagekin.sources.items import Item, Page, Redirect, Revisit, Skipped
from pagekin.sources.limits import Limits

GZIP_MAGIC = b"\x1f\x8b\x08"
_BLOCK = 1 << 20
_RAW_START = re.compile(rb"WARC/1\.[01]\r?\n(?=(?:[\w-]+:[^\n]*\n)*?WARC-Type:)", re.IGNORECASE)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


def next_record(stream: BinaryIO, start: int, first_bytes: re.Pattern[bytes] | None = None) -> int:
    """Offset of the first record at or after `start`, or -1: a gzip member that opens a record, or a record itself.

    `first_bytes` matches the decompressed beginning of a member; the default is WARC's.
    """
    opening = first_bytes or re.compile(rb"\s{0,4}WARC/[01]\.")
    stream.seek(0)
    gzipped = stream.read(3) == GZIP_MAGIC
    overlap = b""
    stream.seek(start)
    position = start
    while block := stream.read(_BLOCK):
        data = overlap + block
        base = position - len(overlap)
        if gzipped:
            found = data.find(GZIP_MAGIC)
            while found >= 0:
                stream.seek(base + found)
                try:
                    head = zlib.decompressobj(31).decompress(stream.read(4096), 256)
                except zlib.error:
                    head = b""
                if opening.match(head):
                    return base + found
                found = data.find(GZIP_MAGIC, found + 1)
            keep = 2
        else:
            for match in _RAW_START.finditer(data):
                at = base + match.start()
                if at == 0 or data[max(0, match.start() - 1) : match.start()] in (b"\n", b""):
                    return at
            keep = 2048
        position += len(block)
        overlap = data[-keep:]
        stream.seek(position)
    return -1


def read_warc(stream: BinaryIO, where: str, start: int, end: int, limits: Limits) -> Iterator[Item | int]:
    """The items of the records that begin in [start, end) of a WARC file; the last value is where reading stopped.

    That offset (an int) is the first record's at or after `end`, or the file's size: the caller compares it with
    where the next unit began.
    """
    stream.seek(0, 2)
    size = stream.tell()
    position = start
    while position < end:
        stream.seek(position)
        last = position
        seen_any = False
        try:
            for record in ArchiveIterator(stream, parse_http=True, record_types=WarcRecordType.any_type):
                last = record.stream_pos
                if last >= end:
                    yield last
                    return
                seen_any = True
                yield from record_items(record, where, limits)
        except (OSError, ValueError, EOFError, UnicodeError) as error:
            resume = next_record(stream, last + 1)
            # The record after the last good one is the damaged one; its own start is only known to lie in between.
            detail = f"{error}; " + (f"resumed at byte {resume:,}" if resume >= 0 else "nothing readable after it")
            if not seen_any and position == 0 and resume < 0:
                detail = "not a WARC file: no record could be read"
            yield Skipped("damaged record", where, last, detail=detail)
            if resume < 0:
                yield size
                return
            position = resume
            if position >= end:
                yield position
                return
            continue
        if seen_any and not _is_whole(stream, last, size):
            yield Skipped("truncated record", where, last, detail="the file ends inside this record")
        yield size
        return
    yield position


def _is_whole(stream: BinaryIO, start: int, size: int) -> bool:
    """Whether the file's last record, beginning at `start`, ends before the file does."""
    if start >= size:
        return True  # one gzip member around the whole file: offsets inside it cannot be told
    stream.seek(start)
    head = stream.read(1 << 16)
    if head[:3] == GZIP_MAGIC:
        member = zlib.decompressobj(31)
        try:
            while head and not member.eof:
                member.decompress(head, 1 << 22)
                head = member.unconsumed_tail or stream.read(1 << 16)
        except zlib.error:
            return False
        return member.eof
    length = re.search(rb"(?im)^content-length:\s*(\d+)", head)
    header_end = re.search(rb"\r?\n\r?\n", head)
    if not length or not header_end:
        return False
    return start + header_end.end() + int(length[1]) <= size


def record_items(record: WarcRecord, where: str, limits: Limits) -> Iterator[Item]:
    """What one record becomes: a page, a redirect, a revisit, or a skip with its reason."""
    kind = record.record_type
    headers = record.headers
    url = (headers.get("WARC-Target-URI") or "").strip().removeprefix("<").removesuffix(">")
    offset = record.stream_pos
    if kind not in (WarcRecordType.response, WarcRecordType.resource, WarcRecordType.revisit):
        yield Skipped(f"record type {str(kind)}", where, offset, url)
        return
    if not url.lower().startswith(("http://", "https://")):
        yield Skipped("not http", where, offset, url)
        return
    date = unix_time(headers.get("WARC-Date") or "")
    http = record.http_headers
    if kind == WarcRecordType.revisit:
        original = (headers.get("WARC-Refers-To-Target-URI") or url).strip().removeprefix("<").removesuffix(">")
        yield Revisit(url, original, date)
        yield Skipped("revisit", where, offset, url)
        return
    content_type = transfer = coding = ""
    if kind == WarcRecordType.resource:
        content_type = headers.get("Content-Type") or ""
    elif http is None:
        yield Skipped("no http response", where, offset, url)
        return
    else:
        status = http.status_code
        if status != 200:
            if status in _REDIRECTS and (target := http.get("Location")):
                yield Redirect(url, target, date)
                yield Skipped("redirect", where, offset, url)
            else:
                yield Skipped(f"status {status}" if status else "no http status", where, offset, url)
            return
        content_type = http.get("Content-Type") or ""
        transfer = http.get("Transfer-Encoding") or ""
        coding = http.get("Content-Encoding") or ""
    if content_type and media_type(content_type) not in HTML_TYPES:
        yield Skipped("not html", where, offset, url, media_type(content_type))
        return
    expected = record.content_length
    yield from body_items(
        record.reader.read, expected, url, content_type, transfer, coding, date, Skipped("", where, offset, url), limits
    )


def body_items(
    read: Callable[[int], bytes],
    expected: int,
    url: str,
    content_type: str,
    transfer: str,
    coding: str,
    date: int,
    place: Skipped,
    limits: Limits,
) -> Iterator[Item]:
    """The page of a response whose headers promise HTML, or the reason why there is none."""

    def skipped(reason: str, detail: str = "") -> Skipped:
        return Skipped(reason, place.where, place.offset, place.url, detail)

    # One byte more than the limit tells a cut page from one that just fits.
    raw = read(limits.page_bytes + 1) if expected else b""
    if len(raw) < min(expected, limits.page_bytes + 1):
        yield skipped("truncated record", f"{len(raw):,} of {expected:,} bytes; what came is kept")
    try:
        html, cut = decode_body(raw, transfer, coding, limits)
    except BodyError as error:
        yield skipped(error.reason, str(error))
        return
    if not html.strip():
        yield skipped("empty page")
        return
    if not content_type and not looks_like_html(html):
        yield skipped("not html", "no content type")
        return
    yield Page(url, html, content_type, date, cut)
