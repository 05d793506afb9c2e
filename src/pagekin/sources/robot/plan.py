"""The plan of a crawl and its limits."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pagekin import __version__
from pagekin.errors import PagekinError
from pagekin.net import Guard
from pagekin.sources.limits import limit

SCOPES = {
    "host": "the root's host",
    "site": "all hosts under the root's registrable domain",
    "prefix": "what lies below the root's folder",
}
PRODUCT = "pagekin"
"""The name of the robot in robots.txt files."""


@dataclass(frozen=True, slots=True)
class CrawlLimits:
    """The limits of a crawl."""

    pages: int = limit(100, "pages to keep", 1)
    depth: int = limit(20, "links to follow from the root")
    requests: int = limit(0, "requests over all runs, failed ones included; 0 means ten per page plus a hundred")
    all_bytes: int = limit(1_000_000_000, "bytes of all bodies together, as the servers send them", 1_000)
    page_bytes: int = limit(
        10_000_000, "bytes of one body as the server sends it; a longer page is cut there", 1_000, 100_000_000
    )
    page_seconds: float = limit(
        30.0, "seconds from sending a request to the last byte of its answer; a slower page is cut", 0.1, 3_600
    )
    delay: float = limit(1.0, "seconds between two requests to the same host", 0, 86_400)
    wait: float = limit(300.0, "longest wait between two requests that a server may ask for, in seconds", 0, 86_400)
    retries: int = limit(2, "times a request is repeated after a temporary failure", 0, 100)
    backoff: float = limit(2.0, "seconds before the first repetition; each further one waits twice as long", 0, 3_600)
    redirects: int = limit(5, "redirects in a row")
    queries: int = limit(50, "addresses that differ only in their query", 1)
    repeats: int = limit(3, "times the same segment may occur in a path", 1)
    segments: int = limit(20, "segments in a path", 1)
    url_bytes: int = limit(2_000, "bytes of an address", 20)
    links: int = limit(10_000, "links read on one page", 1)
    addresses: int = limit(1_000_000, "addresses to remember", 1)
    hosts: int = limit(8, "hosts to ask at the same time, one request each", 1, 256)

    @property
    def most_requests(self) -> int:
        """Return the limit `requests`, or its default for this number of pages."""
        return self.requests or 10 * self.pages + 100


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
    seeds: tuple[str, ...] = ()
    """Further addresses to begin with; those outside the scope are refused like links."""

    @property
    def user_agent(self) -> str:
        """Return the robot's User-Agent header."""
        return f"{PRODUCT}/{__version__}" + (f" (+{self.contact})" if self.contact else "")

    @property
    def state_file(self) -> Path:
        """Return the path of the frontier, which lies beside `out`."""
        return self.out.with_name(self.out.name + ".crawl")

    @property
    def resume_key(self) -> dict[str, Any]:
        """Return the options that must be the same when a crawl is resumed."""
        return {
            "root": self.root,
            "scope": self.scope,
            "include": list(self.include),
            "exclude": list(self.exclude),
            "keep_others": self.keep_others,
        }  # not the seeds: those of a later run are added to what waits


class CrawlError(PagekinError):
    """A crawl that cannot begin or resume; the message says what to do."""
