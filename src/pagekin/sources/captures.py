"""Turn a capture into items, whatever its archive format."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pagekin.sources.http import (
    GONE,
    HTML_TYPES,
    PDF_TYPE,
    REDIRECTS,
    ROBOTS_HEADER,
    BodyError,
    decode_body,
    forbids_indexing,
    looks_like_html,
    media_type,
)
from pagekin.sources.items import Gone, Item, Page, RecordPlace, Redirect, Skip
from pagekin.sources.limits import Limits

_SCHEMES = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class Capture:
    """A response in an archive: its headers, and a function that reads its body."""

    url: str
    where: str
    offset: int
    date: int
    status: int | None
    """None if the record has no readable status line."""
    header: Callable[[str], str]
    """Returns the value of an HTTP header, or an empty string; of X-Robots-Tag all values, one on each line."""
    length: int
    """Bytes of the body, as the record's header says."""
    read: Callable[[int], bytes]

    def skip(self, reason: str, detail: str = "", html: bool = False) -> Skip:
        """Return a skip of this capture."""
        return Skip(reason, self.where, self.offset, self.url, detail, html)


def plain_url(value: str) -> str:
    """Remove the `<...>` that some crawlers wrote around a target URI."""
    return value.strip().removeprefix("<").removesuffix(">")


def is_http_url(url: str) -> bool:
    """Return whether `url` is an http(s) address."""
    return url.lower().startswith(_SCHEMES)


def read_capture(capture: Capture, limits: Limits) -> Iterator[Item]:
    """Yield a page, a redirect, a missing page, or the reason for a skip."""
    content_type = capture.header("Content-Type")
    kinds = {*HTML_TYPES, PDF_TYPE} if limits.pdf_pages else HTML_TYPES
    html = capture.status == 200 and media_type(content_type) in kinds
    if not is_http_url(capture.url):
        yield capture.skip("not http", html=html)
    elif capture.status is None:
        yield capture.skip("no http status")
    elif capture.status in REDIRECTS and (target := capture.header("Location")):
        yield Redirect(capture.url, target, capture.date)
        yield capture.skip("redirect")
    elif capture.status != 200:
        yield capture.skip(f"status {capture.status}")
        if capture.status in GONE:
            yield Gone(capture.url, capture.date)
    elif content_type and not html:
        yield capture.skip("not html", media_type(content_type))
    else:
        yield from _read_page(capture, content_type, limits)


def _read_page(capture: Capture, content_type: str, limits: Limits) -> Iterator[Item]:
    """Yield the page of a capture whose headers name HTML or no type."""
    html = bool(content_type)
    # One byte more than the limit tells a cut page from one that just fits. Room for as many bytes as are asked for is made
    # beforehand, page by page.
    most = min(capture.length, limits.page_bytes + 1)
    raw = capture.read(most) if most else b""
    if len(raw) < most:
        yield capture.skip("truncated record", f"{len(raw):,} of {capture.length:,} bytes; these are kept")
    try:
        body, cut = decode_body(raw, capture.header("Transfer-Encoding"), capture.header("Content-Encoding"), limits)
    except BodyError as error:
        yield capture.skip(error.reason, str(error), html)
        return
    if not body or body.isspace():
        yield capture.skip("empty page", html=html)
    elif not content_type and not looks_like_html(body):
        yield capture.skip("not html", "no type")
    else:
        place = RecordPlace(capture.where, capture.offset)
        noindex = forbids_indexing(capture.header(ROBOTS_HEADER))
        yield Page(capture.url, body, content_type, capture.date, cut or len(raw) < capture.length, place, noindex)
