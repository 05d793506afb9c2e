"""Archives that tests build byte by byte, so that they can be as wrong as real ones."""

import gzip
import io
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from pagekin.sources import Item, Limits, Page, Skip, plan_units, read_unit
from pagekin.sources.warc import read_warc


def http(body: bytes, headers: str = "Content-Type: text/html", status: str = "200 OK") -> bytes:
    """Return an HTTP response."""
    lines = "".join(f"{line}\r\n" for line in headers.splitlines())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode("latin-1") + body


def warc(
    url: str,
    block: bytes,
    kind: str = "response",
    content_type: str = "application/http; msgtype=response",
    headers: str = "",
    length: int | None = None,
    date: str = "2020-01-02T03:04:05Z",
) -> bytes:
    """Return a WARC record; its Content-Length is wrong if `length` is given."""
    lines = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Target-URI: {url}",
        f"WARC-Date: {date}",
        f"Content-Type: {content_type}",
        *headers.splitlines(),
        f"Content-Length: {len(block) if length is None else length}",
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def arc(url: str, block: bytes, date: str = "20050607080910", length: int | None = None) -> bytes:
    """Return a record of an ARC file of version 1."""
    size = len(block) if length is None else length
    return f"{url} 127.0.0.1 {date} text/html {size}\n".encode() + block + b"\n"


def arc_header() -> bytes:
    """Return the first record of an ARC file."""
    block = b"1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n\n"
    return arc("filedesc://made.arc", block)


def html(number: int, size: int = 3_000) -> bytes:
    """Return a page whose bytes compress badly, so that offsets in a gzip file are spread out."""
    return b"<p>page %d %s</p>" % (number, random.Random(number).randbytes(size // 2).hex().encode())


def some_records(count: int = 5, size: int = 3_000) -> list[bytes]:
    """Return records of the pages http://made.test/0, /1 and so on."""
    return [warc(f"http://made.test/{i}", http(html(i, size))) for i in range(count)]


def some_arc_records(count: int = 5) -> list[bytes]:
    """Return the same pages as ARC records."""
    return [arc(f"http://made.test/{i}", http(html(i))) for i in range(count)]


def members(records: Iterable[bytes]) -> list[bytes]:
    """Compress each record into a gzip member of its own."""
    return [gzip.compress(record, mtime=0) for record in records]


def read_bytes(data: bytes, limits: Limits | None = None) -> list[Item]:
    """Read a WARC file that consists of `data`; reading must stop at its end."""
    *items, stop = read_warc(io.BytesIO(data), "made.warc", 0, len(data), limits or Limits())
    assert stop == len(data)
    return [item for item in items if not isinstance(item, int)]


def read_file(path: Path, limits: Limits | None = None) -> list[Item]:
    """Read all units of a file or folder."""
    units = plan_units([str(path)], {})
    items = [item for unit in units for item in read_unit(unit, limits or Limits())]
    return [item for item in items if not isinstance(item, int)]


def one_page(data: bytes, limits: Limits | None = None) -> Page:
    """Return the only page of a WARC file."""
    (page,) = (item for item in read_bytes(data, limits) if isinstance(item, Page))
    return page


def urls(items: Iterable[Item]) -> list[str]:
    """Return the last part of every page's address, in order."""
    return [item.url.rpartition("/")[2] for item in items if isinstance(item, Page)]


def reasons(items: Iterable[Item]) -> Counter[str]:
    """Count the skipped records by reason."""
    return Counter(item.reason for item in items if isinstance(item, Skip))


def html_records(items: Iterable[Item]) -> int:
    """Count the HTML records with status 200, pages or not."""
    return sum(isinstance(item, Page) or (isinstance(item, Skip) and item.html) for item in items)


def damage(items: Iterable[Item]) -> list[tuple[str, int]]:
    """Return (reason, offset) of all reported damage."""
    broken = ("damaged record", "truncated record", "undecodable body")
    return [(i.reason, i.offset) for i in items if isinstance(i, Skip) and i.reason in broken]
