"""What a run of a crawl knows of hosts and origins: when they may be asked, and what their robots.txt says."""

from dataclasses import dataclass

from pagekin.sources.http import decode_body
from pagekin.sources.limits import Limits
from pagekin.sources.robot.fetched import Exchange
from pagekin.sources.robot.plan import PRODUCT
from pagekin.sources.robot.robotstxt import MOST_BYTES, Robots, parse_robots

ROBOTS_AGE = 86_400.0
"""Seconds that a robots.txt file stays good, by RFC 9309, section 2.4."""


@dataclass(slots=True)
class Host:
    """When a host may be asked again."""

    due: float = 0.0
    busy: bool = False


@dataclass(slots=True)
class Origin:
    """What is known of an origin in this run."""

    robots: Robots | None = None
    robots_until: float = 0.0
    """When its robots.txt must be asked for again."""
    robots_after: float = 0.0
    """When its robots.txt may be asked for again, after a failure."""
    robots_tries: int = 0
    queue_after: float = 0.0
    """When the next of its addresses may be asked for, after a failure."""
    failures: int = 0
    """Failures in a row."""
    given_up: str = ""
    """Why it is not asked again in this run."""
    refused: str = ""
    """Why it may not be asked at all."""

    def learn(self, status: int, body: bytes, fetched: float) -> None:
        """Take the rules of a robots.txt: none where there is none (4xx) or its redirects do not end (3xx)."""
        self.robots = parse_robots(body, PRODUCT) if 200 <= status < 300 else Robots()
        self.robots_until = fetched + ROBOTS_AGE
        self.robots_tries = self.failures = 0


def robots_fault(exchange: Exchange) -> str:
    """Why an answer does not tell what is allowed, or an empty string."""
    if exchange.status >= 500 or exchange.status == 429:
        return f"status {exchange.status}"
    # What is missing may forbid something.
    return "not whole" if exchange.status == 200 and exchange.cut in ("time", "disconnect") else ""


def robots_text(exchange: Exchange) -> bytes:
    """The text of a robots.txt, unpacked; BodyError if that is impossible."""
    if exchange.status != 200:
        return b""
    return decode_body(exchange.body, "", exchange.header("Content-Encoding"), Limits(page_bytes=MOST_BYTES))[0]
