"""Render views as pages from templates, or as JSON at the same address; the filters of the templates."""

import hashlib
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import jinja2
import msgspec
from litestar import Response, get
from litestar.openapi.datastructures import ResponseSpec
from litestar.response import Redirect
from markupsafe import Markup

from pagekin import __version__
from pagekin.collection import name_times
from pagekin.labels import plain_text
from pagekin.routers import HttpRequest, service_of
from pagekin.web import addresses
from pagekin.web.brief import brief
from pagekin.web.languages import language_name
from pagekin.wording import format_measure, plural

HEAVIEST = 100_000
"""The most bytes of a page."""
_TIGHTER = 1, 2, 4, 8
"""How many times shorter texts are cut, try after try, while a page is too heavy."""
_TIGHT: ContextVar[int] = ContextVar("tight", default=1)
_LEAST = 12
"""Characters that are left of a text, however tight a page is."""
_LONGEST_JSON = 8_000
"""The longest address, in characters, for which a page links to its JSON."""
_SNIPPET = 300
"""Characters of a snippet with marked words that are left where a page is tight, divided by how tight."""
_LONGEST_AWAY = 2_000
"""The longest address, in bytes, that a list links to."""
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


def view_route(paths: Sequence[str], view: Any, description: str, **options: Any) -> get:
    """Return the decorator of a route that answers with a view."""
    response = ResponseSpec(view, generate_examples=False, description=description)
    return get(paths, responses={200: response}, **options)


def wants_json(request: HttpRequest) -> bool:
    """Return whether JSON is wanted: by `.json` at the end of the path, or by the Accept header."""
    if request.url.path.endswith(addresses.JSON):
        return True
    try:
        return request.accept.best_match(["text/html", "application/json"]) == "application/json"
    except (ValueError, OverflowError):  # weights that are no numbers
        return False


def redirect(request: HttpRequest, address: str) -> Redirect:
    """Redirect to a page, or to its JSON if that was asked for."""
    path, mark, parameters = address.partition("?")
    return Redirect(f"{path}{addresses.JSON if wants_json(request) else ''}{mark}{parameters}", status_code=303)


def render(request: HttpRequest, template: str, view: msgspec.Struct, status: int = 200) -> Response[bytes]:
    """Return a view as a page or as JSON."""
    headers = {"Vary": "Accept", "Cache-Control": "no-cache"}
    if wants_json(request):
        return Response(msgspec.json.encode(view), media_type="application/json", headers=headers, status_code=status)
    return Response(render_page(request, template, view), media_type="text/html", headers=headers, status_code=status)


def render_page(request: HttpRequest, template: str, view: msgspec.Struct) -> bytes:
    """Return a view as a page, with shorter texts if it would be too large."""
    service, as_json = service_of(request.scope).service, json_address(request)
    context = {
        "view": view,
        "name": plain_text(service.name),
        "leaf": service.leaf,
        "above": [(plain_text(name), url) for name, url in service.above],
        "path": addresses.ROOT.get() + request.url.path,
        "as_json": as_json if len(as_json) <= _LONGEST_JSON else "",
        "asked": str(request.query_params.get("q", ""))[:2000],
    }
    page = b""
    for tight in _TIGHTER:
        token = _TIGHT.set(tight)
        try:
            page = templates().get_template(template).render(context).encode()
        finally:
            _TIGHT.reset(token)
        if len(page) <= HEAVIEST:
            break
    return page


def json_address(request: HttpRequest) -> str:
    """Return the address of the same view as JSON."""
    # A second slash would make the next name a host.
    path = "/" + request.url.path.lstrip("/\\")
    path = "/index" if path == "/" else path
    return f"{addresses.ROOT.get()}{path}{addresses.JSON}" + (f"?{request.url.query}" if request.url.query else "")


@cache
def templates() -> jinja2.Environment:
    """Return our templates, with autoescaping."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pagekin.web", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    writing = size, day, age, plural, percent, language_name
    cutting = short, piece, listing, bare, tail, few, ends, mark
    linking = brief, href, away, host, original
    environment.filters |= {function.__name__: function for function in (*writing, *cutting, *linking)}
    environment.filters["times"] = name_times
    environment.filters["measure"] = lambda value, sign="": "–" if value is None else format_measure(value, sign)
    environment.filters["number"] = "{:,}".format  # 1234567 as 1,234,567
    environment.globals |= {
        "to": addresses,
        "replayed": lambda: bool(addresses.REPLAY.get()),
        "version": __version__,
        "versions": {file: digest(file) for file in ("style.css", "script.js")},
    }
    return environment


@cache
def static(name: str) -> bytes:
    """Return a static file; the stylesheet is joined from several files."""
    folder = files("pagekin.web") / "static"
    if name == "style.css":
        return b"\n".join((folder / f"{part}.css").read_bytes() for part in STYLES)
    return (folder / name).read_bytes()


def digest(name: str) -> str:
    """Return a digest of a static file, so that browsers may cache it."""
    return hashlib.sha256(static(name)).hexdigest()[:12]


# -- filters ------------------------------------------------------------------------------------------------------------


def size(value: float) -> str:
    """Return a number of bytes as text, such as 1.2 MB."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{value:,.0f} {unit}" if unit == "bytes" or value >= 10 else f"{value:.1f} {unit}"


def day(seconds: float) -> str:
    """Return seconds since 1970 as a date; '' for 0."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d") if seconds else ""
    except (ValueError, OverflowError, OSError):
        return ""


def age(seconds: float | None) -> str:
    """Return a number of seconds as text."""
    if seconds is None:
        return "never"
    for length, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def short(text: str, most: int = 120) -> str:
    """Return a text on one line, cut if it is too long."""
    most = max(most // _TIGHT.get(), min(most, _LEAST))
    line = plain_text(" ".join(text[: 4 * most].split()))
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def piece(text: str, most: int) -> str:
    """Cut a piece of a longer text at its end, or at its start for a negative length; keep its spaces."""
    room = max(abs(most) // _TIGHT.get(), _LEAST)
    if len(text) <= room:
        return text
    return f"{text[:room].rstrip()}…" if most > 0 else f"…{text[-room:].lstrip()}"


def few(items: Sequence[Any], most: int) -> Sequence[Any]:
    """Return the first items; fewer on a page that is too large."""
    return items[: max(1, 2 * most // max(2, _TIGHT.get()))]


def listing(texts: Iterable[str], most: int) -> str:
    """Return some texts with commas between them, as many as there is room for, none of them cut."""
    room, shown = max(most // _TIGHT.get(), min(most, _LEAST)), ""
    for text in map(plain_text, texts):
        longer = f"{shown}, {text}" if shown else short(text, room)
        if len(longer) > room:
            break
        shown = longer
    return shown


def bare(url: str) -> str:
    """Return an address as people read it: without the scheme."""
    return url.partition("://")[2] if url.startswith(("http://", "https://")) else url


def tail(url: str, most: int) -> str:
    """Return the end of an address, which distinguishes it from others."""
    text = plain_text(bare(url).rstrip("/"))
    return text if len(text) <= most else f"…{text[-most:]}"


def ends(items: Sequence[Any], first: int = 3, last: int = 4) -> list[Any]:
    """Return both ends of a long list, with None between them."""
    return [*items] if len(items) <= first + last + 1 else [*items[:first], None, *items[-last:]]


def href(url: str, most: int = _LONGEST_AWAY) -> str:
    """Return an address that a page may link to; '' if it is not http(s), or too long."""
    if not url.startswith(("http://", "https://")):
        return ""
    return url if 5 * len(url) <= most or len(Markup.escape(url)) <= most else ""


def away(url: str, most: int = _LONGEST_AWAY) -> str:
    """Return an address for following: as `href`, but '' for reserved names that do not resolve (RFC 2606)."""
    try:
        name = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""
    return "" if name.rpartition(".")[2] in _RESERVED else href(url, most)


def original(url: str, date: float = 0, most: int = _LONGEST_AWAY) -> str:
    """Return where to see a page itself: in the configured web archive, or on the live web."""
    return href(addresses.replay(url, date), most) or away(url, most)


def host(url: str) -> str:
    """Return the host of an address."""
    try:
        return plain_text(urlsplit(url).netloc)
    except ValueError:
        return ""


def mark(text: str, marks: tuple[tuple[int, int], ...]) -> Markup:
    """Return a text as HTML with some spans marked."""
    if _TIGHT.get() > 1:
        text = text[: _SNIPPET // _TIGHT.get()]
    html, at = Markup(), 0
    for first, last in sorted(marks):
        if at <= first < last <= len(text):
            html += Markup.escape(text[at:first]) + Markup("<mark>{}</mark>").format(text[first:last])
            at = last
    return html + Markup.escape(text[at:])


def percent(part: float) -> str:
    """Return a share as a percentage: 12 %, but 1.2 %."""
    return f"{part:.0%}".replace("%", " %") if part >= 0.0995 or not part else f"{part:.1%}".replace("%", " %")
