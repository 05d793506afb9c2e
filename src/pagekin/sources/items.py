"""What a source yields."""

from dataclasses import dataclass

DAMAGE_REASONS = frozenset({"damaged record", "truncated record", "undecodable body"})
"""Reasons of skipping that mean the input is broken: `--strict` refuses them."""


class SourceError(Exception):
    """A source that cannot be read at all; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Page:
    """One captured HTML page with status 200, its body free of transfer and content encodings."""

    url: str
    html: bytes
    content_type: str = ""
    date: int = 0
    """Seconds since 1970 of the capture; 0 where the source does not tell."""
    cut: bool = False
    """The body's end is missing: it was over the limit, or its record or compression ends early."""


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
class Skipped:
    """A record that did not become a page, and why."""

    reason: str
    where: str = ""
    offset: int = -1
    url: str = ""
    detail: str = ""
    html: bool = False
    """It was an HTML record with status 200: pages and these together are the source's HTML records."""

    def __str__(self) -> str:
        place = f"{self.where} at byte {self.offset:,}" if self.offset >= 0 else self.where
        text = ": ".join(part for part in (place, self.url, self.reason, self.detail) if part)
        return text.encode("utf-8", "backslashreplace").decode()  # file names may hold bytes that no terminal takes


Item = Page | Redirect | Revisit | Skipped
