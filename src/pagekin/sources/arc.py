"""ARC files, the format before WARC, through warcio."""

import re
from collections.abc import Iterator
from typing import BinaryIO

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from pagekin.sources.http import HTML_TYPES, media_type, unix_time
from pagekin.sources.items import Item, Redirect, Skipped
from pagekin.sources.limits import Limits
from pagekin.sources.warc import body_items, next_record

_ARC_LINE = re.compile(rb"\s{0,4}[a-z][a-z0-9+.-]*:\S* [\d.:a-f]+ \d{8,14} \S+ \d+")


def read_arc(stream: BinaryIO, where: str, limits: Limits) -> Iterator[Item]:
    """The items of an ARC file."""
    position, last = 0, -1
    while position >= 0:
        stream.seek(position)
        try:
            iterator = ArchiveIterator(stream, arc2warc=True)
            for record in iterator:
                last = position + iterator.get_record_offset()
                yield from _record_items(record, where, last, limits)
        except (ArchiveLoadFailed, OSError, ValueError, EOFError, KeyError, AttributeError) as error:
            resume = next_record(stream, max(last, position) + 1, _ARC_LINE) if _is_gzip(stream) else -1
            detail = f"{error}; " + (f"resumed at byte {resume:,}" if resume >= 0 else "nothing readable after it")
            yield Skipped("damaged record", where, max(last, position), detail=detail)
            position = resume
            continue
        return


def _is_gzip(stream: BinaryIO) -> bool:
    stream.seek(0)
    return stream.read(2) == b"\x1f\x8b"


def _record_items(record: object, where: str, offset: int, limits: Limits) -> Iterator[Item]:
    headers, http = record.rec_headers, record.http_headers  # type: ignore[attr-defined]  # warcio has no types
    url = (headers.get_header("WARC-Target-URI") or "").strip().removeprefix("<").removesuffix(">")
    kind = record.rec_type  # type: ignore[attr-defined]
    if kind != "response":
        yield Skipped(f"record type {kind}", where, offset, url)
        return
    if not url.lower().startswith(("http://", "https://")):
        yield Skipped("not http", where, offset, url)
        return
    if http is None:
        yield Skipped("no http response", where, offset, url)
        return
    date = unix_time(headers.get_header("WARC-Date") or "")
    status = http.get_statuscode() or ""
    if status != "200":
        target = http.get_header("Location")
        if status in ("301", "302", "303", "307", "308") and target:
            yield Redirect(url, target, date)
            yield Skipped("redirect", where, offset, url)
        else:
            yield Skipped(f"status {status}" if status else "no http status", where, offset, url)
        return
    content_type = http.get_header("Content-Type") or ""
    if content_type and media_type(content_type) not in HTML_TYPES:
        yield Skipped("not html", where, offset, url, media_type(content_type))
        return
    expected = record.length  # type: ignore[attr-defined]
    raw_stream = record.raw_stream  # type: ignore[attr-defined]
    yield from body_items(
        _reader(raw_stream),
        raw_stream.limit if hasattr(raw_stream, "limit") else expected,
        url,
        content_type,
        http.get_header("Transfer-Encoding") or "",
        http.get_header("Content-Encoding") or "",
        date,
        Skipped("", where, offset, url),
        limits,
    )


def _reader(stream: BinaryIO):  # type: ignore[no-untyped-def]
    """A read(n) that gives n bytes when there are n: warcio's readers stop at buffer borders."""

    def read(size: int) -> bytes:
        parts = []
        while size > 0 and (part := stream.read(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    return read
