"""What a crawl is asked to do, and how far it may go."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from pagekin import __version__
from pagekin.net import Guard

SCOPES = {
    "host": "the root's host",
    "site": "all hosts under the root's registrable domain",
    "prefix": "what lies below the root's folder",
}
PRODUCT = "pagekin"
"""The name that robots.txt files know the robot by."""


@dataclass(frozen=True, slots=True)
class CrawlLimits:
    """How far a crawl goes."""

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
        """Requests in all."""
        return self.requests or 10 * self.pages + 100


CRAWL_LIMITS: dict[str, str] = {
    "pages": "pages to keep",
    "depth": "links to follow from the root",
    "requests": "requests in all, with those that bring no page; 0 means ten per page and a hundred more",
    "all_bytes": "bytes of all bodies as they come",
    "page_bytes": "bytes of a body as it comes; a longer page is cut there",
    "page_seconds": "seconds for one page, from the first byte sent to the last one received; a slower page is cut",
    "delay": "seconds between two requests to a host",
    "wait": "the longest that a server may ask us to wait between two requests, in seconds",
    "retries": "times a request is made again after a failure that may pass",
    "backoff": "seconds before the first of these; each further one waits twice as long",
    "redirects": "redirects in a row",
    "queries": "addresses that differ in nothing but their query",
    "repeats": "times the same segment may stand in a path",
    "segments": "segments of a path",
    "url_bytes": "bytes of an address",
    "links": "links of one page that are looked at",
    "addresses": "addresses that are remembered",
    "hosts": "hosts that are asked at the same time, each one request at a time",
}
"""Every limit's meaning, for error messages and the documentation."""

_LEAST: dict[str, float] = {
    "pages": 1, "page_bytes": 1_000, "all_bytes": 1_000, "page_seconds": 0.1, "url_bytes": 20, "links": 1, "hosts": 1,
    "addresses": 1, "queries": 1, "repeats": 1, "segments": 1,
}  # fmt: skip
_MOST: dict[str, float] = {"page_bytes": 100_000_000, "page_seconds": 3_600, "delay": 86_400, "wait": 86_400,
                           "backoff": 3_600, "retries": 100, "hosts": 256}  # fmt: skip


def parse_crawl_limits(settings: Iterable[str], limits: CrawlLimits | None = None) -> CrawlLimits:
    """`limits` changed by `name=number` settings; ValueError with what is allowed."""
    changed: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if name not in CRAWL_LIMITS or not equals:
            table = "\n".join(f"  {f.name:<12} {f.default!s:>11}  {CRAWL_LIMITS[f.name]}" for f in fields(CrawlLimits))
            raise ValueError(f"'{setting}' is not a limit. Write NAME=NUMBER with one of:\n{table}")
        changed[name] = _number(name, value)
    return checked_limits(replace(limits or CrawlLimits(), **changed))


def _number(name: str, value: str) -> float:
    whole = next(f.type for f in fields(CrawlLimits) if f.name == name) is int
    try:
        return int(value.replace(",", "")) if whole else float(value)
    except ValueError:
        raise ValueError(f"the limit {name} takes a {'whole ' if whole else ''}number, not '{value}'") from None


def checked_limits(limits: CrawlLimits) -> CrawlLimits:
    """`limits`, if each is in its range; else ValueError with what is allowed."""
    for name in CRAWL_LIMITS:
        value, least, most = getattr(limits, name), _LEAST.get(name, 0), _MOST.get(name, 1 << 40)
        if not least <= value <= most:  # nan is in no range
            raise ValueError(f"the limit {name} must be from {least:,} to {most:,}, not {value:,}")
    return limits


@dataclass(frozen=True, slots=True)
class CrawlPlan:
    """A crawl from `root` into the WARC file `out`."""

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
        """How the robot names itself."""
        return f"{PRODUCT}/{__version__}" + (f" (+{self.contact})" if self.contact else "")

    @property
    def state(self) -> Path:
        """The file beside `out` that knows what is done and what is still to do."""
        return self.out.with_name(self.out.name + ".crawl")

    @property
    def question(self) -> dict[str, Any]:
        """What must be the same when a crawl is resumed."""
        return {
            "root": self.root,
            "scope": self.scope,
            "include": list(self.include),
            "exclude": list(self.exclude),
            "keep_others": self.keep_others,
        }


class CrawlError(Exception):
    """A crawl that cannot begin or go on; the message says what to do."""
