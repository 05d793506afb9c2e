"""Addresses to begin a crawl with: lists, sitemaps and indexes of sitemaps, from files."""

import html
import re
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import urlsplit

from pagekin.sources.robot.addresses import clean_url, has_credentials
from pagekin.sources.robot.plan import CrawlError

_MOST_BYTES = 64 << 20
"""Bytes of a file when it is unpacked; the sitemap protocol allows 50 MB."""
_MOST_FILES = 50_000
"""Sitemaps of an index, as the protocol allows."""
# By patterns and not by an XML parser: nothing is expanded or fetched, whatever the file says.
_LOCATION = re.compile(
    r"<(?:\w+:)?loc\s*>\s*(?:<!\[CDATA\[)?\s*([^<\]]*?)\s*(?:\]\]>)?\s*</(?:\w+:)?loc\s*>", re.IGNORECASE
)
_OTHER_LOCATION = re.compile(r"<(image|video|news|xhtml):loc\b", re.IGNORECASE)
_IS_SITEMAP = re.compile(r"<(?:\w+:)?(urlset|sitemapindex)\b", re.IGNORECASE)


class Seeds(NamedTuple):
    """What a file of addresses holds."""

    urls: tuple[str, ...]
    """Different addresses in their order, as the robot writes them."""
    refused: tuple[str, ...]
    """Lines that are no addresses, and sitemaps of an index that do not lie beside it."""


def read_seeds(path: Path) -> Seeds:
    """Read a list of addresses, one on each line, or a sitemap, or an index whose sitemaps lie beside it; also as `.gz`."""
    urls: dict[str, None] = {}
    refused: list[str] = []
    for written in _read_file(path, refused, may_be_index=True):
        url = clean_url(written)
        if url is None or has_credentials(url):
            refused.append(written)
        else:
            urls[url] = None
    if not urls:
        raise CrawlError(f"{path} names no http(s) address: it is neither a list, one on each line, nor a sitemap.")
    return Seeds(tuple(urls), tuple(refused))


def _read_file(path: Path, refused: list[str], may_be_index: bool) -> Iterator[str]:
    """Yield the addresses that a file names, as they are written."""
    text = _read_text(path)
    kind = _IS_SITEMAP.search(text[:4096])
    if kind is None:
        yield from (line for raw in text.splitlines() if (line := raw.strip()) and not line.startswith("#"))
        return
    # Pictures and videos of a page have addresses of their own, which are no pages.
    found = (html.unescape(match[1]) for match in _LOCATION.finditer(text) if not _OTHER_LOCATION.match(match[0]))
    if kind[1].lower() == "urlset":
        yield from found
        return
    for number, location in enumerate(found):
        beside = path.parent / PurePosixPath(urlsplit(location).path).name
        if not may_be_index or number >= _MOST_FILES or beside == path or not beside.is_file():
            refused.append(location)
        else:
            yield from _read_file(beside, refused, may_be_index=False)


def _read_text(path: Path) -> str:
    try:
        raw = path.read_bytes()
        if raw[:2] == b"\x1f\x8b":
            stream = zlib.decompressobj(31)
            raw = stream.decompress(raw, _MOST_BYTES + 1)
    except FileNotFoundError:
        raise CrawlError(f"{path} does not exist.") from None
    except (OSError, zlib.error) as error:
        raise CrawlError(f"{path} cannot be read: {error}.") from error
    if len(raw) > _MOST_BYTES:
        raise CrawlError(f"{path} is larger than {_MOST_BYTES:,} bytes; divide it.")
    return raw.decode("utf-8-sig", "replace")
