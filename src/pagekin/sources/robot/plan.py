"""The plan of a crawl and its limits."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from pagekin import __version__
from pagekin.errors import PagekinError
from pagekin.net import Guard

SCOPES = {
    "host": "the root's host",
    "site": "all hosts under the root's registrable domain",
    "prefix": "what lies below the root's folder",
}
PRODUCT = "pagekin"
"""The name of the robot in robots.txt files."""


@dataclass(frozen=True, slots=True)
class CrawlLimits:
    """The limits of a crawl; CRAWL_LIMITS says what each means."""

    pages: int = 100
    depth: int = 20
    requests: int = 0
    all_bytes: int = 1_000_000_000
    page_bytes: int = 10_000_000
    page_seconds: float = 30.0
    delay: float = 1.0
    wait: float = 300.0
    retries: int = 2
    backoff: float = 2.0
    redirects: int = 5
    queries: int = 50
    repeats: int = 3
    segments: int = 20
    url_bytes: int = 2_000
    links: int = 10_000
    addresses: int = 1_000_000
    hosts: int = 8

    @property
    def most_requests(self) -> int:
        """The limit `requests`, or its default for this number of pages."""
        return self.requests or 10 * self.pages + 100


CRAWL_LIMITS: dict[str, str] = {
    "pages": "pages to keep",
    "depth": "links to follow from the root",
    "requests": "requests over all runs, failed ones included; 0 means ten per page plus a hundred",
    "all_bytes": "bytes of all bodies together, as the servers send them",
    "page_bytes": "bytes of one body as the server sends it; a longer page is cut there",
    "page_seconds": "seconds from sending a request to the last byte of its answer; a slower page is cut",
    "delay": "seconds between two requests to the same host",
    "wait": "seconds that a server may make us wait between two requests",
    "retries": "times a request is repeated after a temporary failure",
    "backoff": "seconds before the first repetition; each further one waits twice as long",
    "redirects": "redirects in a row",
    "queries": "addresses that differ only in their query",
    "repeats": "times the same segment may occur in a path",
    "segments": "segments in a path",
    "url_bytes": "bytes of an address",
    "links": "links read on one page",
    "addresses": "addresses to remember",
    "hosts": "hosts to ask at the same time, one request each",
}
"""The meaning of each limit, for error messages and the documentation."""

_LEAST: dict[str, float] = {
    "pages": 1, "page_bytes": 1_000, "all_bytes": 1_000, "page_seconds": 0.1, "url_bytes": 20, "links": 1, "hosts": 1,
    "addresses": 1, "queries": 1, "repeats": 1, "segments": 1,
}  # fmt: skip
_MOST: dict[str, float] = {"page_bytes": 100_000_000, "page_seconds": 3_600, "delay": 86_400, "wait": 86_400,
                           "backoff": 3_600, "retries": 100, "hosts": 256}  # fmt: skip


def parse_crawl_limits(settings: Iterable[str], limits: CrawlLimits | None = None) -> CrawlLimits:
    """Return `limits` with `name=number` settings applied; ValueError says what is allowed."""
    changed: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if name not in CRAWL_LIMITS or not equals:
            table = "\n".join(f"  {f.name:<12} {f.default!s:>11}  {CRAWL_LIMITS[f.name]}" for f in fields(CrawlLimits))
            raise ValueError(f"'{setting}' is not a limit. Write NAME=NUMBER with one of:\n{table}")
        changed[name] = _parse_number(name, value)
    return _check_limits(replace(limits or CrawlLimits(), **changed))


def _parse_number(name: str, value: str) -> float:
    whole = next(f.type for f in fields(CrawlLimits) if f.name == name) is int
    try:
        return int(value.replace(",", "")) if whole else float(value)
    except ValueError:
        raise ValueError(f"the limit {name} takes a {'whole ' if whole else ''}number, not '{value}'") from None


def _check_limits(limits: CrawlLimits) -> CrawlLimits:
    """Return `limits` if each is in its range; otherwise ValueError says what is allowed."""
    for name in CRAWL_LIMITS:
        value, least, most = getattr(limits, name), _LEAST.get(name, 0), _MOST.get(name, 1 << 40)
        if not least <= value <= most:  # nan is in no range
            raise ValueError(f"the limit {name} must be from {least:,} to {most:,}, not {value:,}")
    return limits


@dataclass(frozen=True, slots=True)
class CrawlPlan:
    """A crawl that begins at `root` and writes the WARC file `out`."""

    root: str
    out: Path
    scope: str = "host"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    contact: str = ""
    keep_others: bool = False
    guard: Guard = field(default_factory=Guard)
    names: dict[tuple[str, int], str] = field(default_factory=dict)
    limits: CrawlLimits = field(default_factory=CrawlLimits)

    @property
    def user_agent(self) -> str:
        """The robot's User-Agent header."""
        return f"{PRODUCT}/{__version__}" + (f" (+{self.contact})" if self.contact else "")

    @property
    def state_file(self) -> Path:
        """The file beside `out` with what is done and what is left to do."""
        return self.out.with_name(self.out.name + ".crawl")

    @property
    def resume_key(self) -> dict[str, Any]:
        """The options that must be the same when a crawl is resumed."""
        return {
            "root": self.root,
            "scope": self.scope,
            "include": list(self.include),
            "exclude": list(self.exclude),
            "keep_others": self.keep_others,
        }


class CrawlError(PagekinError):
    """A crawl cannot begin or resume; the message says what to do."""
