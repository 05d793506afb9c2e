"""How a crawl went."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(slots=True)
class CrawlReport:
    """What a crawl has brought so far, in this run and those before it."""

    out: str
    pages: int
    requests: int
    bytes: int
    seconds: float
    complete: bool
    """Nothing is left to ask for."""
    stopped: str
    """Why the crawl ended before it was complete."""
    left: int
    """Addresses still in the queue."""
    resumed: bool
    not_kept: dict[str, int]
    """Addresses that were asked for and brought no page, by reason."""
    not_asked: dict[str, int]
    """Addresses that were not asked for, by reason."""
    cut: dict[str, int]
    root: str
    """Why the root brought no page, or an empty string."""

    def as_json(self) -> dict[str, Any]:
        """The report as plain values."""
        return {**asdict(self), "seconds": round(self.seconds, 2)}
