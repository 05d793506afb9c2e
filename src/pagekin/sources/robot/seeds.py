"""Read the addresses to begin a crawl with from files: lists, sitemaps and indexes of sitemaps."""

import gzip
import html
import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import urlsplit

from pagekin.sources.robot.addresses import clean_url, has_credentials
from pagekin.sources.robot.plan import CrawlError

MOST_BYTES = 64 << 20
"""Bytes of a file when it is unpacked; the sitemap protocol allows 50 MB."""
MOST_URLS = 1_000_000
"""Addresses of a file, with all sitemaps that it names."""
_MOST_FILES = 50_000
"""Sitemaps of an index, as the protocol allows."""
# By patterns and not by an XML parser: nothing is expanded or fetched, whatever the file says. No pattern goes back over
# what it has read, so a file takes as long as its bytes are many.
_LOCATION = re.compile(
    r"<(?:(\w++):)?loc\s*+>(?:\s*+<!\[CDATA\[([^\]]{0,8000}+)\]\]>\s*+|([^<]*+))</(?:\w++:)?loc\s*+>", re.IGNORECASE
)
_OF_OTHER_FILES = frozenset({"image", "video", "news", "xhtml"})
"""Prefixes of locations that are no pages: a page's pictures and videos have addresses of their own."""
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_IS_SITEMAP = re.compile(r"<(?:\w++:)?(urlset|sitemapindex)\b", re.IGNORECASE)


class Seeds(NamedTuple):
    """The addresses in a file."""

    urls: tuple[str, ...]
    """Different addresses in their order, as the robot writes them."""
    refused: tuple[str, ...]
    """Lines that are no addresses, and sitemaps of an index that were not read."""


class SeedFile(NamedTuple):
    """A list of addresses, a sitemap, or an index of sitemaps."""

    locations: Iterator[str]
    """What it names, as it is written."""
    is_index: bool
    """Whether these are sitemaps, and not pages."""


def parse_seeds(text: str) -> SeedFile:
    """Return the addresses in a file: a sitemap or sitemap index, by its first bytes, else a list with one per line."""
    kind = _IS_SITEMAP.search(text[:4096])
    if kind is None:
        lines = (line for raw in text.splitlines() if (line := raw.strip()) and not line.startswith("#"))
        return SeedFile(lines, False)
    seeds = (
        html.unescape((match[2] or match[3] or "").strip())
        for match in _LOCATION.finditer(_COMMENT.sub("", text))
        if (match[1] or "").lower() not in _OF_OTHER_FILES
    )
    return SeedFile(seeds, kind[1].lower() == "sitemapindex")


def read_seeds(path: Path) -> Seeds:
    """Read a list of addresses, a sitemap, or a sitemap index whose sitemaps lie beside it; also as `.gz`."""
    refused: list[str] = []
    return collect_seeds(_read_file(path, refused, may_be_index=True), refused, str(path))


def collect_seeds(written: Iterator[str], refused: list[str], where: str) -> Seeds:
    """Return the distinct addresses in the robot's spelling; raise a CrawlError if there are none."""
    urls: dict[str, None] = {}
    for each in written:
        url = clean_url(each)
        if url is None or has_credentials(url) or len(urls) >= MOST_URLS:
            refused.append(each)
        else:
            urls[url] = None
    if not urls:
        raise CrawlError(
            f"{where} names no http(s) address: it is neither a list with one address per line, nor a sitemap."
        )
    return Seeds(tuple(urls), tuple(refused))


def _read_file(path: Path, refused: list[str], may_be_index: bool) -> Iterator[str]:
    """Yield the addresses in a file, as written."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise CrawlError(f"{path} does not exist.") from None
    except OSError as error:
        raise CrawlError(f"{path} cannot be read: {error}.") from error
    file = parse_seeds(unpack_text(raw, str(path)))
    if not file.is_index:
        yield from file.locations
        return
    for number, location in enumerate(file.locations):
        beside = path.parent / PurePosixPath(urlsplit(location).path).name
        if not may_be_index or number >= _MOST_FILES or beside == path or not beside.is_file():
            refused.append(location)
        else:
            yield from _read_file(beside, refused, may_be_index=False)


def unpack_text(raw: bytes, where: str) -> str:
    """Return the text of a file that may be gzipped; raise a CrawlError if it is damaged or too large."""
    try:
        if raw[:2] == b"\x1f\x8b":
            with gzip.GzipFile(fileobj=io.BytesIO(raw)) as stream:
                raw = stream.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise CrawlError(f"{where} cannot be read: {error}.") from error
    if len(raw) > MOST_BYTES:
        raise CrawlError(f"{where} is larger than {MOST_BYTES:,} bytes; divide it.")
    return raw.decode("utf-8-sig", "replace")
