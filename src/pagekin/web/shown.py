"""How a view is shown: as a page through a template, or as JSON at the same address."""

import hashlib
from collections.abc import Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import jinja2
import msgspec
from litestar import Request, Response
from markupsafe import Markup

from pagekin import __version__
from pagekin.labels.model import plain
from pagekin.routers.http import served
from pagekin.web import addresses
from pagekin.web.brief import brief
from pagekin.web.languages import language_name

Asking = Request[Any, Any, Any]
HEAVIEST = 100_000
"""Bytes of a page."""
_TIGHTER = 1, 2, 4, 8
"""How many times shorter texts are cut, from try to try, where a page comes out heavier."""
_TIGHT: ContextVar[int] = ContextVar("tight", default=1)
_LEAST = 12
"""Characters that are left of a text however tight it is."""
_LONGEST_JSON = 8_000
"""Characters of an address up to which a page leads to the same as JSON."""
_SNIPPET = 300
"""Characters of a piece of text in which words are marked, where a page is not as heavy as it may be."""
_LONGEST_AWAY = 2_000
"""Bytes of an address that a list leads to."""
_RESERVED = frozenset({"example", "test", "invalid", "localhost"})
STYLES = ("base", "parts", "home", "results", "page", "tree", "network")
"""The parts of our stylesheet, in their order."""
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""On every answer: nothing from elsewhere, nothing inline."""


def wants_json(request: Asking) -> bool:
    """Whether a program asks: by `.json` behind the address, or by what it accepts."""
    if request.url.path.endswith(addresses.JSON):
        return True
    try:
        return request.accept.best_match(["text/html", "application/json"]) == "application/json"
    except (ValueError, OverflowError):  # weights that are no numbers
        return False


def shown(request: Asking, template: str, view: msgspec.Struct, status: int = 200) -> Response[bytes]:
    """A view as a page or as JSON."""
    headers = {"Vary": "Accept", "Cache-Control": "no-cache"}
    if wants_json(request):
        return Response(msgspec.json.encode(view), media_type="application/json", headers=headers, status_code=status)
    return Response(rendered(request, template, view), media_type="text/html", headers=headers, status_code=status)


def rendered(request: Asking, template: str, view: msgspec.Struct) -> bytes:
    """A view as a page, with its texts cut shorter where it would be too heavy."""
    service, as_json = served(request.scope).service, json_address(request)
    shown = {
        "view": view,
        "name": plain(service.name),
        "leaf": service.leaf,
        "above": [(plain(name), url) for name, url in service.above],
        "path": addresses.ROOT.get() + request.url.path,
        "as_json": as_json if len(as_json) <= _LONGEST_JSON else "",
        "asked": str(request.query_params.get("q", ""))[:2000],
    }
    page = b""
    for tight in _TIGHTER:
        token = _TIGHT.set(tight)
        try:
            page = templates().get_template(template).render(shown).encode()
        finally:
            _TIGHT.reset(token)
        if len(page) <= HEAVIEST:
            break
    return page


def json_address(request: Asking) -> str:
    """Where the same is to be had as JSON."""
    # A second slash would make the next name a host.
    path = "/" + request.url.path.lstrip("/\\")
    path = "/index" if path == "/" else path
    return f"{addresses.ROOT.get()}{path}{addresses.JSON}" + (f"?{request.url.query}" if request.url.query else "")


@cache
def templates() -> jinja2.Environment:
    """Our templates; all that they show is escaped."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("pagekin.web", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "number": number,
        "size": size,
        "day": day,
        "short": short,
        "piece": piece,
        "bare": bare,
        "tail": tail,
        "few": few,
        "ends": ends,
        "brief": brief,
        "href": href,
        "away": away,
        "host": host,
        "marked": marked,
        "age": age,
        "plural": plural,
        "language": language_name,
    }
    made.globals |= {
        "to": addresses,
        "version": __version__,
        "versions": {file: digest(file) for file in ("style.css", "script.js")},
    }
    return made


@cache
def static(name: str) -> bytes:
    """A file that goes with the pages; the stylesheet is one file of several."""
    folder = files("pagekin.web") / "static"
    if name == "style.css":
        return b"\n".join((folder / f"{part}.css").read_bytes() for part in STYLES)
    return (folder / name).read_bytes()


def digest(name: str) -> str:
    """What changes with the file, so that browsers may keep it."""
    return hashlib.sha256(static(name)).hexdigest()[:12]


# -- filters ------------------------------------------------------------------------------------------------------------


def number(value: float) -> str:
    """1234567 as 1,234,567."""
    return f"{value:,}"


def size(value: float) -> str:
    """Bytes for people."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{value:,.0f} {unit}" if unit == "bytes" or value >= 10 else f"{value:.1f} {unit}"


def day(seconds: float) -> str:
    """Seconds since 1970 as a date; nothing for 0."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d") if seconds else ""
    except (ValueError, OverflowError, OSError):
        return ""


def age(seconds: float | None) -> str:
    """Seconds for people."""
    if seconds is None:
        return "never"
    for length, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def short(text: str, most: int = 120) -> str:
    """A text on one line, cut where it is too long to be read."""
    most = max(most // _TIGHT.get(), min(most, _LEAST))
    line = plain(" ".join(text[: 4 * most].split()))
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def piece(text: str, most: int) -> str:
    """A piece amid a text, its spaces kept, cut behind where it is too long, or in front for a negative length."""
    room = max(abs(most) // _TIGHT.get(), _LEAST)
    if len(text) <= room:
        return text
    return f"{text[:room].rstrip()}…" if most > 0 else f"…{text[-room:].lstrip()}"


def few(items: Sequence[Any], most: int) -> Sequence[Any]:
    """The first of some; fewer where a page is tight."""
    return items[: max(1, 2 * most // max(2, _TIGHT.get()))]


def bare(url: str) -> str:
    """An address as people read it: without the scheme."""
    return url.partition("://")[2] if url.startswith(("http://", "https://")) else url


def tail(url: str, most: int) -> str:
    """The end of an address, by which it is told from others."""
    text = plain(bare(url).rstrip("/"))
    return text if len(text) <= most else f"…{text[-most:]}"


def ends(items: Sequence[Any], first: int = 3, last: int = 4) -> list[Any]:
    """The ends of a long row, with None for what is between them."""
    return [*items] if len(items) <= first + last + 1 else [*items[:first], None, *items[-last:]]


def href(url: str, most: int = _LONGEST_AWAY) -> str:
    """An address that a page may lead to: of the web, and not too long; anything else leads nowhere."""
    if not url.startswith(("http://", "https://")):
        return ""
    return url if 5 * len(url) <= most or len(Markup.escape(url)) <= most else ""


def away(url: str, most: int = _LONGEST_AWAY) -> str:
    """An address that someone may want to follow: as `href`, but not to a name that no host on the web can have (RFC 2606)."""
    try:
        name = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""
    return "" if name.rpartition(".")[2] in _RESERVED else href(url, most)


def host(url: str) -> str:
    """The host of an address."""
    try:
        return plain(urlsplit(url).netloc)
    except ValueError:
        return ""


def marked(text: str, marks: tuple[tuple[int, int], ...]) -> Markup:
    """A text in which some places are marked."""
    if _TIGHT.get() > 1:
        text = text[: _SNIPPET // _TIGHT.get()]
    made, at = Markup(), 0
    for first, last in sorted(marks):
        if at <= first < last <= len(text):
            made += Markup.escape(text[at:first]) + Markup("<mark>{}</mark>").format(text[first:last])
            at = last
    return made + Markup.escape(text[at:])


def plural(count: int, one: str, many: str = "") -> str:
    """1 page, 2 pages."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
