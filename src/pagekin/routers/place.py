"""Where a router listens."""

from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Place:
    """Where a router listens."""

    host: str
    port: int
    path: str = "/"

    @classmethod
    def of(cls, url: str) -> "Place":
        """Return the place that an http address names."""
        parts = urlsplit(url)
        return cls(parts.hostname or "127.0.0.1", parts.port or 80, parts.path or "/")

    @property
    def url(self) -> str:
        """Return the address at which this machine itself reaches the place."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}{self.path}"
