"""The items that a source yields."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from pagekin.errors import PagekinError

BOMB = "decompression bomb"
TOO_SLOW = "too slow"
DAMAGE_REASONS = frozenset({"damaged record", "truncated record", "undecodable body", BOMB, TOO_SLOW})
"""Reasons for a skip that mean the input is broken, or made to do harm: `--strict` refuses them."""


class SourceError(PagekinError):
    """A source cannot be read at all; the message says what to do."""


class RecordPlace(NamedTuple):
    """Where the record of a page stands: its provenance."""

    archive: str = ""
    """The file's name, as `Unit.where` gives it; '' if the page comes from no archive."""
    offset: int = 0
    """The record's first byte in the file; for a compressed file, that of the record's own gzip member."""
    length: int = 0
    """Bytes from there to the record's end; 0 if the record cannot be read by itself, and `offset` means nothing."""


NO_PLACE = RecordPlace()


@dataclass(frozen=True, slots=True)
class Page:
    """A captured HTML page with status 200; its body is decompressed."""

    url: str
    html: bytes
    content_type: str = ""
    date: int = 0
    """The time of the capture in seconds since 1970; 0 if unknown."""
    cut: bool = False
    """The end of the body is missing: it was over the limit, or its record or compression ends early."""
    place: RecordPlace = NO_PLACE
    noindex: bool = False
    """The header X-Robots-Tag asks not to index it."""


@dataclass(frozen=True, slots=True)
class Redirect:
    """`url` answered with a redirect to `target` (as written, possibly relative)."""

    url: str
    target: str
    date: int = 0


@dataclass(frozen=True, slots=True)
class Revisit:
    """`url` was captured again with the same body as `original`."""

    url: str
    original: str
    date: int = 0


@dataclass(frozen=True, slots=True)
class Gone:
    """`url` answered that there is no such page (any more): status 404 or 410."""

    url: str
    date: int = 0


@dataclass(frozen=True, slots=True)
class Skip:
    """A record that did not become a page, and the reason."""

    reason: str
    where: str = ""
    offset: int = -1
    url: str = ""
    detail: str = ""
    html: bool = False
    """The record was HTML with status 200. These and the pages are all HTML records of the source."""

    def __str__(self) -> str:
        place = f"{self.where} at byte {self.offset:,}" if self.offset >= 0 else self.where
        text = ": ".join(part for part in (place, self.url, self.reason, self.detail) if part)
        # File names may hold bytes that a terminal cannot print.
        return text.encode("utf-8", "backslashreplace").decode()


Item = Page | Redirect | Revisit | Gone | Skip


def end_record(items: Iterable[Item], end: int) -> list[Item]:
    """Return the items of a record that ends at byte `end` of its file; -1 if its place is unknown."""
    return [_end_page(item, end) if isinstance(item, Page) else item for item in items]


def _end_page(page: Page, end: int) -> Page:
    place = page.place
    known = place.offset < end
    return replace(page, place=RecordPlace(place.archive, place.offset * known, (end - place.offset) * known))
