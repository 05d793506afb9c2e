"""Divide sources by host: count the pages, then write one archive per leaf."""

import gzip
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pagekin.clusters import read_listings
from pagekin.hypertext import canonical_url, host_of_url
from pagekin.sources import Gone, Item, Limits, Page, Redirect, Revisit, Skip, Unit, read_unit
from pagekin.store import Progress

BUFFER = 64 << 20
"""Bytes of records that wait in memory until they are written."""


@dataclass
class Census:
    """The numbers of pages in the sources, counted before they are divided."""

    hosts: dict[str, int] = field(default_factory=dict)
    """Pages of each host. A page that was captured again counts once while its host is a small one."""
    classes: dict[str, dict[tuple[str, ...], int]] = field(default_factory=dict)
    """Listed pages of each host by their class."""
    skipped: dict[str, int] = field(default_factory=dict)


def whole_files(units: Iterable[Unit]) -> list[Unit]:
    """Join the units of each WARC file into one, because only then the start of every record is certain."""
    files: dict[tuple[str, str, int], Unit] = {}
    for unit in units:
        key = (unit.path, unit.member, unit.start if unit.kind == "folder" else 0)
        files[key] = replace(files[key], end=unit.end) if key in files else unit
    return list(files.values())


def _read_items(units: Sequence[Unit], limits: Limits, stage: str, tell: Progress) -> Iterator[Item]:
    total, done = sum(unit.weight for unit in units) or 1, 0
    for unit in units:
        tell(stage, done / total)
        for item in read_unit(unit, limits):
            if not isinstance(item, int):
                yield item
        done += unit.weight
    tell(stage, 1.0)


def count_pages(
    units: Sequence[Unit], min_pages: int, directory: Path | None, limits: Limits, tell: Progress
) -> Census:
    """Count pages by host, and listed pages by host and class."""
    listings: dict[str, tuple[str, ...]] = {}
    if directory is not None:
        for address, path in read_listings(directory):
            listings.setdefault(canonical_url(address) or "", path)
    skipped: Counter[str] = Counter()
    hosts: Counter[str] = Counter()
    classes: defaultdict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    seen: defaultdict[str, set[int]] = defaultdict(set)
    for item in _read_items(units, limits, "counting", tell):
        if isinstance(item, Skip):
            skipped[item.reason] += 1
        if not isinstance(item, Page):
            continue
        url = canonical_url(item.url)
        host = host_of_url(item.url)
        if not url or not host:
            skipped["bad url"] += 1
            continue
        if len(seen[host]) < min_pages:
            number = hash(url)
            if number in seen[host]:
                continue
            seen[host].add(number)
        hosts[host] += 1
        if url in listings:
            classes[host][listings.pop(url)] += 1
    return Census(hosts, dict(classes), skipped)


def divide(units: Sequence[Unit], home: Mapping[str, Path], work: Path, limits: Limits, tell: Progress) -> None:
    """Write the pages of each host to its archive, in the folder `work`.

    One archive is open at a time, and what waits for them is bounded.
    """
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    waiting: defaultdict[Path, list[bytes]] = defaultdict(list)
    size = 0

    def flush() -> None:
        for archive, records in waiting.items():
            with archive.open("ab") as stream:
                stream.writelines(records)
        waiting.clear()

    for item in _read_items(units, limits, "dividing", tell):
        if isinstance(item, Skip):
            continue
        archive, record = _record_for(item, home)
        if archive is None:
            continue
        waiting[archive].append(gzip.compress(record, 1, mtime=0))
        size += len(waiting[archive][-1])
        if size > BUFFER:
            flush()
            size = 0
    flush()


def _record_for(item: Page | Redirect | Revisit | Gone, home: Mapping[str, Path]) -> tuple[Path | None, bytes]:
    """Return (the archive of an item, or None; its record). Redirects and revisits go to the archive of their page."""
    url = page_url = canonical_url(item.url)
    if url and isinstance(item, Redirect | Revisit):
        page_url = canonical_url(item.target if isinstance(item, Redirect) else item.original, url)
    archive = home.get(host_of_url(page_url)) if page_url else None
    if url is None or archive is None:
        return None, b""
    if isinstance(item, Page):
        content_type = " ".join(item.content_type.split()) or "text/html"
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n\r\n".encode("utf-8", "replace")
        return archive, _record("response", url, item.date, head + item.html)
    if isinstance(item, Redirect):
        head = f"HTTP/1.1 301 Moved\r\nLocation: {page_url}\r\n\r\n".encode()
        return archive, _record("response", url, item.date, head)
    if isinstance(item, Gone):
        return archive, _record("response", url, item.date, b"HTTP/1.1 404 Not Found\r\n\r\n")
    return archive, _record("revisit", url, item.date, b"", f"WARC-Refers-To-Target-URI: {page_url}\r\n")


def _record(kind: str, url: str, date: int, block: bytes, more: str = "") -> bytes:
    """Return a WARC record."""
    when = time.strftime("WARC-Date: %Y-%m-%dT%H:%M:%SZ\r\n", time.gmtime(date)) if date else ""
    head = (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\n{when}{more}"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"
