"""Read WARC files, and step over damaged records.

fastwarc does the reading. It leaves three things to us. A file that ends inside a record ends without an error. A
damaged record ends the iteration, so we resume at the next record that can be found. A Content-Length that is too large
includes the records after it, so a record's items are held back until the next record has been read.

It would also decompress whatever it steps over. A long record is therefore read to its end in steps, and given up when it
grows more than it may (see `growth`). Reading resumes at the next gzip member that holds a record: nothing else is lost. Only
where all records share one member is there no such place, and the rest of the file is not read.
"""

import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from pagekin.sources.captures import Capture, is_http_url, plain_url, read_capture
from pagekin.sources.growth import FREE, FREE_IN_ALL, PIECE, SMALL, STEP, BombError, Growth, MeteredFile
from pagekin.sources.http import GONE, ROBOTS_HEADER, unix_time
from pagekin.sources.items import BOMB, Gone, Item, Page, Revisit, Skip, end_record
from pagekin.sources.limits import Limits
from pagekin.sources.scan import (
    GZIP_MAGIC,
    MAX_HEADER,
    Extent,
    has_bare_newlines,
    member_pieces,
    next_record,
    record_extent,
)

READ_ERRORS = (OSError, ValueError, EOFError, zlib.error, zipfile.BadZipFile)


def read_warc(
    stream: BinaryIO,
    where: str,
    start: int,
    end: int,
    limits: Limits,
    unpacked: Growth | None = None,
    free: int = FREE_IN_ALL,
) -> Iterator[Item | int]:
    """Yield the items of the records that begin in [start, end) of a WARC file, then the offset where reading stopped.

    That offset (an int) belongs to the first record at or after `end`, or is the file's size. The caller compares it with
    the start of the next unit. `unpacked` says how the file itself was decompressed, if it was: its records may not grow more
    than it has left. `free` bytes may come of any number.
    """
    size = stream.seek(0, 2)
    in_all = unpacked or Growth(limits.ratio, free)
    last_unit = end >= size
    position = start
    while position < end:
        # Only where it is needed: quirks mode skips garbage without an error.
        bare_newlines = has_bare_newlines(stream, position)
        apart = _are_separate(stream, position, size)
        stream.seek(position)
        last, held, failure, reading, bomb = -1, list[Item](), "", False, ""
        file = MeteredFile(stream)
        try:
            for record in ArchiveIterator(file, parse_http=False, max_header_len=MAX_HEADER, quirks_mode=bare_newlines):
                yield from end_record(held, record.stream_pos if apart else -1)
                held = []
                # Offsets inside a gzip member of several records are unreliable, but such a file is one unit.
                if record.stream_pos >= end and not last_unit:
                    yield record.stream_pos
                    return
                last, reading, before = record.stream_pos, True, file.taken
                held = list(read_record(record, where, limits))
                if record.content_length > SMALL or _page_bytes(held) > SMALL:
                    if unpacked is None:
                        in_all.fed = position - start + file.taken
                    _step_over(record, file, max(0, before - PIECE), held, limits, in_all)
                reading = False
        except BombError as error:
            bomb, url = str(error), plain_url(record.headers.get("WARC-Target-URI") or "")
        except READ_ERRORS as error:
            failure = str(error)
        if bomb:
            position = next_record(stream, last + 1)
            html = any(isinstance(item, Page) for item in held)
            yield Skip(BOMB, where, last, url, f"{bomb}; {resumption_text(position)}", html)
            if position < 0:
                yield size
                return
            continue
        extent = record_extent(stream, last, size) if 0 <= last < size else Extent(size, "unknown")
        held = end_record(held, _end_of_record(extent, size) if apart else -1)
        if failure:
            at, resume = _locate_failure(stream, position, last, extent, reading)
            if at >= end and not last_unit:  # the next unit begins with the damage and reports it
                yield from held
                yield at
                return
        else:
            at, resume = _locate_cut(stream, position, last, extent, size)
        polluted = _is_polluted(held, extent, resume)
        detail = failure or ("its length is wrong" if resume >= 0 else "")
        if failure and last < 0 and position == 0 and resume < 0:
            detail = "not a WARC file: no record could be read"
        yield from report_damage(held, where, at, detail, resume, polluted)
        if resume < 0:
            yield size
            return
        position = resume
    yield position


def report_damage(held: list[Item], where: str, at: int, what: str, resume: int, polluted: bool) -> Iterator[Item]:
    """Yield the last record's items unless they are damaged, then the damage at `at`; without `what`, it is a cut."""
    if not polluted:
        yield from held
    if what:
        yield damage_skip(where, at, what, resume, polluted)
    elif at >= 0 and not any(isinstance(item, Skip) and item.reason == "truncated record" for item in held):
        yield Skip("truncated record", where, at, detail="the file ends inside this record")


def damage_skip(where: str, at: int, what: str, resume: int, html: bool = False) -> Skip:
    """Return a skip for damage at byte `at`; reading resumes at byte `resume`, or not at all for -1."""
    return Skip("damaged record", where, at, detail=f"{what}; {resumption_text(resume)}", html=html)


def too_much_in_all(limits: Limits) -> str:
    """Return the reason for refusing a record because all records together grow too much."""
    return f"with all that was read before, it grows more than {limits.ratio} times"


def resumption_text(resume: int) -> str:
    """Return text that says where reading resumes; -1 means nowhere."""
    return f"resumed at byte {resume:,}" if resume >= 0 else "nothing after it can be read"


def _are_separate(stream: BinaryIO, start: int, size: int) -> bool:
    """Return whether each record can be read alone: in a plain file, or in gzip members of their own.

    Judged by the record at `start`. Other compressions are not told apart here, so their records have no places.
    """
    stream.seek(start)
    head = stream.read(16)
    if head[:3] != GZIP_MAGIC and not head.lstrip().startswith(b"WARC/"):
        return False
    return record_extent(stream, start, size).fault != "shared"


def _end_of_record(extent: Extent, size: int) -> int:
    """Return where the last read record ends, or -1."""
    if extent.fault == "cut":
        return size
    return extent.end if extent.fault in ("", "length", "long") else -1


def _page_bytes(held: list[Item]) -> int:
    """Return the size of a record's page, which is its last item; 0 if it has none."""
    return len(held[-1].html) if held and isinstance(held[-1], Page) else 0


def _step_over(
    record: WarcRecord, file: MeteredFile, before: int, held: list[Item], limits: Limits, in_all: Growth
) -> None:
    """Read a record to its end, in steps; raise a BombError if it, or all records together, grow too much.

    `before` is what had been taken of the file when the record began, or a little less.
    """
    read = record.content_length
    if read > FREE:
        own = Growth(limits.ratio)
        read = record.reader.tell()
        own.check(file.taken - before, read)
        while step := record.reader.consume(STEP):
            read += step
            own.check(file.taken - before, read)
    grown = max(read, _page_bytes(held)) - (file.taken - before)
    if not in_all.admit(grown):
        raise BombError(too_much_in_all(limits))


def _locate_failure(stream: BinaryIO, position: int, last: int, extent: Extent, reading: bool) -> tuple[int, int]:
    """Return (offset of the damage, offset to resume at or -1) after an error of fastwarc."""
    if last < 0:
        return position, next_record(stream, position + 1)
    if reading or extent.fault in ("unknown", "shared", "cut", "bomb"):
        return last, next_record(stream, last + 1)
    if extent.fault:  # the record before the damage is the damaged one
        stream.seek(last)
        inside = last + 1 if stream.read(3) != GZIP_MAGIC else extent.end
        return last, next_record(stream, inside)
    return extent.end, next_record(stream, extent.end + 1)


def _locate_cut(stream: BinaryIO, position: int, last: int, extent: Extent, size: int) -> tuple[int, int]:
    """Return (offset of a cut record or -1, offset to resume at or -1) after an end without an error."""
    if last < 0:
        return (position if _has_content(stream, position) else -1), -1
    stream.seek(last if last < size else position)
    gzipped = stream.read(3) == GZIP_MAGIC
    match extent.fault:
        case "":
            return (extent.end if _has_content(stream, extent.end) else -1), -1
        case "cut":
            return last, -1 if gzipped else next_record(stream, last + 1)
        case "long" | "length":
            return last, next_record(stream, extent.end)
        case _:
            return (-1 if _ends_whole(stream, position) else last), -1


def _is_polluted(held: list[Item], extent: Extent, resume: int) -> bool:
    """Return whether the held page includes the records after it, because its Content-Length is too large."""
    too_long = extent.fault == "long" or (extent.fault in ("length", "cut") and resume < extent.end)
    return resume >= 0 and too_long and any(isinstance(item, Page) for item in held)


def _has_content(stream: BinaryIO, start: int) -> bool:
    stream.seek(start)
    return bool(stream.read(1 << 16).strip(b"\r\n"))


def _ends_whole(stream: BinaryIO, start: int) -> bool:
    """Return whether the last gzip member from `start` on is whole; True for other compressions."""
    while True:
        stream.seek(start)
        if stream.read(3) != GZIP_MAGIC:
            return True
        stream.seek(start)
        end = [compressed for _piece, compressed in member_pieces(stream)][-1]
        if end < 0:
            return False
        start += end


def read_record(record: WarcRecord, where: str, limits: Limits) -> Iterator[Item]:
    """Yield the items of one record: a page, a redirect, a revisit, or a skip with its reason."""
    kind = record.record_type
    headers = record.headers
    if not (headers.get("Content-Length") or "").strip().isdecimal():
        # Every record has one. fastwarc reads a missing one as 0, and a damaged header as the end of the record.
        raise ValueError("a header without a Content-Length")
    url = plain_url(headers.get("WARC-Target-URI") or "")
    offset = record.stream_pos
    date = unix_time(headers.get("WARC-Date") or "")
    if kind == WarcRecordType.revisit and is_http_url(url):
        if _repeats_gone(record):
            yield Gone(url, date)
        else:
            yield Revisit(url, plain_url(headers.get("WARC-Refers-To-Target-URI") or "") or url, date)
        yield Skip("revisit", where, offset, url)
        return
    status: int | None = None
    http: Any = None
    if kind == WarcRecordType.resource:
        status, http = 200, {"Content-Type": headers.get("Content-Type")}
    elif kind == WarcRecordType.response and record.is_http:
        # Old servers ended header lines with a bare newline; quirks mode reads those too.
        record.parse_http(quirks_mode=True, max_header_len=MAX_HEADER)
        http = record.http_headers
        status = http.status_code if http is not None else None
    elif kind == WarcRecordType.response:
        yield Skip("no http response" if is_http_url(url) else "not http", where, offset, url)
        return
    else:
        yield Skip("not http" if kind == WarcRecordType.revisit else f"record type {kind}", where, offset, url)
        return

    def header(name: str) -> str:
        if name == ROBOTS_HEADER and kind == WarcRecordType.response and http is not None:
            return "\n".join(value for key, value in http.astuples() if key.lower() == name.lower())
        return (http.get(name) or "") if http is not None else ""

    capture = Capture(url, where, offset, date, status, header, record.content_length, record.reader.read)
    yield from read_capture(capture, limits)


def _repeats_gone(record: WarcRecord) -> bool:
    """Return whether a revisit record repeats an answer that the page is missing."""
    if not record.is_http or not record.content_length:
        return False
    record.parse_http(quirks_mode=True, max_header_len=MAX_HEADER)
    return record.http_headers is not None and record.http_headers.status_code in GONE
