"""What comes of asking for an address: an exchange, or a failure."""

import email.utils
import time
from dataclasses import dataclass

REDIRECTS = frozenset({301, 302, 303, 307, 308})
NOT_ALLOWED = "address not allowed"
_BUSY = frozenset({429, 503})


class FetchError(Exception):
    """No answer came; `reason` is for the counts, `passing` says that another time may go better."""

    def __init__(self, reason: str, detail: str, passing: bool = False) -> None:
        super().__init__(detail or reason)
        self.reason = reason
        self.passing = passing


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its answer, with the body as it came but for chunks."""

    url: str
    path: str
    """What the request line asked for."""
    asked: tuple[tuple[str, str], ...]
    """The request's headers."""
    address: str
    """The IP address that answered."""
    started: float
    """Seconds since 1970."""
    seconds: float
    version: str
    status: int
    phrase: str
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    cut: str = ""
    """Why the body lacks its end, in the words of WARC-Truncated: length, time, disconnect."""
    unread: bool = False
    """The body was not wanted, and not read."""

    def header(self, name: str) -> str:
        """A header's value as text, or an empty string."""
        return next(iter(self.all_headers(name)), "")

    def all_headers(self, name: str) -> list[str]:
        """The values of all headers of a name; servers write UTF-8 or Latin-1."""
        wanted = name.lower().encode()
        return [_text(value) for key, value in self.headers if key.lower() == wanted]

    @property
    def redirect(self) -> str:
        """Where a redirect leads, as written, or an empty string."""
        return self.header("Location") if self.status in REDIRECTS else ""

    @property
    def asked_wait(self) -> float:
        """Seconds that a busy server asks us to wait, 0 if it does not say."""
        value = self.header("Retry-After").strip()
        if self.status not in _BUSY or not value:
            return 0.0
        if value.isascii() and value.isdecimal():
            return float(value[:12])
        try:
            return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
        except (ValueError, TypeError, OverflowError):
            return 0.0

    @property
    def reply_head(self) -> bytes:
        """The answer's head as it came, but for Transfer-Encoding: the body is no longer in chunks."""
        lines = [f"{self.version} {self.status} {self.phrase}".rstrip().encode("latin-1", "replace")]
        for name, value in self.headers:
            prefix = b"X-Archive-Orig-" if name.lower() == b"transfer-encoding" else b""
            lines.append(prefix + name + b": " + value)
        return b"\r\n".join([*lines, b"", b""])

    @property
    def request_head(self) -> bytes:
        """The request's head."""
        lines = [f"GET {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in self.asked)]
        return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
