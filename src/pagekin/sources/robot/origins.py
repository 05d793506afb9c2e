"""The state of hosts and origins in a run: when the next request may go out, and what robots.txt says."""

from dataclasses import dataclass

from pagekin.sources.http import BodyError, decode_body
from pagekin.sources.limits import Limits
from pagekin.sources.robot.exchange import Exchange
from pagekin.sources.robot.plan import PRODUCT
from pagekin.sources.robot.robotstxt import MOST_BYTES, RobotRules, parse_robots

ROBOTS_AGE = 86_400.0
"""Seconds for which a robots.txt file may be reused (RFC 9309, section 2.4)."""


@dataclass(slots=True)
class HostState:
    """The time when a host may be asked again."""

    due: float = 0.0
    busy: bool = False


@dataclass(slots=True)
class OriginState:
    """The state of an origin in this run."""

    rules: RobotRules | None = None
    rules_expire: float = 0.0
    """When robots.txt must be fetched again."""
    robots_due: float = 0.0
    """When robots.txt may be fetched again after a failure."""
    robots_tries: int = 0
    queue_due: float = 0.0
    """When the next address in the queue may be fetched, if all of them wait for a retry."""
    failures: int = 0
    """Failures in a row."""
    abandon_reason: str = ""
    """Why this run makes no more requests to the origin."""
    refusal: str = ""
    """Why the address guard forbids the origin."""

    def set_rules(self, status: int, body: bytes, fetched: float) -> None:
        """Set the rules of a robots.txt file; without one (4xx, or endless redirects) everything is allowed."""
        self.rules = parse_robots(body, PRODUCT) if 200 <= status < 300 else RobotRules()
        self.rules_expire = fetched + ROBOTS_AGE
        self.robots_tries = self.failures = 0


def robots_text(exchange: Exchange) -> bytes:
    """Return the text of a robots.txt file, '' if there is none; raise a BodyError if a response leaves that open."""
    if exchange.status >= 500 or exchange.status == 429:
        raise BodyError(f"status {exchange.status}")
    if exchange.status != 200:
        return b""
    if exchange.cut in ("time", "disconnect"):
        raise BodyError("not whole")  # the missing part may forbid something
    return decode_body(exchange.body, "", exchange.header("Content-Encoding"), Limits(page_bytes=MOST_BYTES))[0]
