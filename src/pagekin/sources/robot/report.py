"""The report of a crawl."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(slots=True)
class CrawlReport:
    """The results of a crawl so far, over all of its runs."""

    out: str
    pages: int
    requests: int
    bytes: int
    seconds: float
    complete: bool
    """The queue is empty."""
    stopped: str
    """Why the crawl ended before it was complete."""
    left: int
    """Addresses still in the queue."""
    resumed: bool
    not_kept: dict[str, int]
    """Fetched addresses that gave no page, counted by reason."""
    not_asked: dict[str, int]
    """Addresses that were not fetched, counted by reason."""
    cut: dict[str, int]
    """Kept pages whose end is missing, counted by reason."""
    root: str
    """Why the root gave no page, or an empty string."""

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {**asdict(self), "seconds": round(self.seconds, 2)}
