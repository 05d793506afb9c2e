"""The outcome of one request: an exchange with a server, or the reason why there was none."""

import email.utils
import time
from dataclasses import dataclass

from pagekin.sources.captures import Capture
from pagekin.sources.http import REDIRECTS

NOT_ALLOWED = "address not allowed"
_BUSY = frozenset({429, 503})


class FetchError(Exception):
    """A request without an answer; the report counts `reason`, and `temporary` means that a retry may succeed."""

    def __init__(self, reason: str, detail: str, temporary: bool = False) -> None:
        super().__init__(detail or reason)
        self.reason = reason
        self.temporary = temporary


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its response. The body is as the server sent it, without the chunks of a chunked transfer."""

    url: str
    path: str
    """The path and query of the request line."""
    request_headers: tuple[tuple[str, str], ...]
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
    """Why the end of the body is missing, in the words of WARC-Truncated: length, time or disconnect."""
    unread: bool = False
    """The body was not wanted, so it was not read."""

    def header(self, name: str) -> str:
        """Return the first value of a header as text, or an empty string."""
        return next(iter(self.all_headers(name)), "")

    def all_headers(self, name: str) -> list[str]:
        """Return every value of a header as text; servers write UTF-8 or Latin-1."""
        wanted = name.lower().encode()
        return [_decode(value) for key, value in self.headers if key.lower() == wanted]

    @property
    def capture(self) -> Capture:
        """Return the response as a capture, whose body is not chunked."""

        def header(name: str) -> str:
            return "" if name == "Transfer-Encoding" else self.header(name)

        return Capture(self.url, "", 0, 0, self.status, header, len(self.body), lambda size: self.body[:size])

    @property
    def redirect(self) -> str:
        """Return the target of a redirect, as the server wrote it, or an empty string."""
        return self.header("Location") if self.status in REDIRECTS else ""

    @property
    def retry_after(self) -> float:
        """Return the seconds that a busy server asks us to wait; 0 if it does not say."""
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
    def response_head(self) -> bytes:
        """Return the status line and headers; Transfer-Encoding is renamed because the chunks are gone."""
        lines = [f"{self.version} {self.status} {self.phrase}".rstrip().encode("latin-1", "replace")]
        for name, value in self.headers:
            prefix = b"X-Archive-Orig-" if name.lower() == b"transfer-encoding" else b""
            lines.append(prefix + name + b": " + value)
        return b"\r\n".join([*lines, b"", b""])

    @property
    def request_head(self) -> bytes:
        """Return the request line and the request's headers."""
        lines = [f"GET {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in self.request_headers)]
        return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


def _decode(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
