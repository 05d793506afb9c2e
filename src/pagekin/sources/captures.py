"""What one capture becomes, whatever format it was kept in."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pagekin.sources.http import HTML_TYPES, BodyError, decode_body, looks_like_html, media_type
from pagekin.sources.items import Item, Page, Redirect, Skipped
from pagekin.sources.limits import Limits

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SCHEMES = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class Capture:
    """A response as an archive keeps it: its headers, and a way to read its body."""

    url: str
    where: str
    offset: int
    date: int
    status: int | None
    """None if the record holds no readable status line."""
    header: Callable[[str], str]
    """The value of an HTTP header, or an empty string."""
    length: int
    """Bytes of the body as the record's header promises them."""
    read: Callable[[int], bytes]

    def skipped(self, reason: str, detail: str = "", html: bool = False) -> Skipped:
        """The skip of this capture for `reason`."""
        return Skipped(reason, self.where, self.offset, self.url, detail, html)


def plain_url(value: str) -> str:
    """A target URI without the `<...>` that some crawlers wrote around it."""
    return value.strip().removeprefix("<").removesuffix(">")


def is_http_url(url: str) -> bool:
    """Whether `url` is an address of the web."""
    return url.lower().startswith(_SCHEMES)


def capture_items(capture: Capture, limits: Limits) -> Iterator[Item]:
    """A page, a redirect, or the reason why there is neither."""
    content_type = capture.header("Content-Type")
    html = capture.status == 200 and media_type(content_type) in HTML_TYPES
    if not is_http_url(capture.url):
        yield capture.skipped("not http", html=html)
    elif capture.status is None:
        yield capture.skipped("no http status")
    elif capture.status in _REDIRECTS and (target := capture.header("Location")):
        yield Redirect(capture.url, target, capture.date)
        yield capture.skipped("redirect")
    elif capture.status != 200:
        yield capture.skipped(f"status {capture.status}")
    elif content_type and not html:
        yield capture.skipped("not html", media_type(content_type))
    else:
        yield from _page_items(capture, content_type, limits)


def _page_items(capture: Capture, content_type: str, limits: Limits) -> Iterator[Item]:
    """The page of a capture whose headers promise HTML or do not tell."""
    html = bool(content_type)
    # One byte more than the limit tells a cut page from one that just fits.
    most = limits.page_bytes + 1
    raw = capture.read(most) if capture.length else b""
    if len(raw) < min(capture.length, most):
        yield capture.skipped("truncated record", f"{len(raw):,} of {capture.length:,} bytes; what came is kept")
    try:
        body, cut = decode_body(raw, capture.header("Transfer-Encoding"), capture.header("Content-Encoding"), limits)
    except BodyError as error:
        yield capture.skipped(error.reason, str(error), html)
        return
    if not body or body.isspace():
        yield capture.skipped("empty page", html=html)
    elif not content_type and not looks_like_html(body):
        yield capture.skipped("not html", "no content type")
    else:
        yield Page(capture.url, body, content_type, capture.date, cut or len(raw) < capture.length)
