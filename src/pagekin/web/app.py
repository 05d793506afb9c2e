"""The application that serves pages beside a router's services."""

import time
from typing import Any

from litestar import Litestar, Request, Response, get
from litestar.datastructures import MutableScopeHeaders, State
from litestar.exceptions import NotFoundException
from litestar.types import Message, Scope
from msgspec import Struct

from pagekin.routers.http import ERRORS, PREFIX, health, router_app, served
from pagekin.web import addresses
from pagekin.web.pages.about import about
from pagekin.web.pages.cluster import cluster, whole_label
from pagekin.web.pages.compare import compare
from pagekin.web.pages.evaluation import evaluation
from pagekin.web.pages.home import home, start
from pagekin.web.pages.network import network
from pagekin.web.pages.opensearch import complete, opensearch
from pagekin.web.pages.page import page
from pagekin.web.pages.results import find
from pagekin.web.pages.tree import tree
from pagekin.web.shown import HEADERS, rendered, static

Asking = Request[Any, Any, Any]
TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
STATIC = {"style.css", "script.js", "icon.svg"}
PAGES: list[Any] = [
    network,
    about,
    home,
    start,
    tree,
    cluster,
    whole_label,
    page,
    compare,
    find,
    opensearch,
    complete,
    evaluation,
]
"""The routes for people."""
_COUNTED = {route.fn: f"page {route.fn.__name__}" for route in PAGES}
_STARTED = "pagekin.started"


class Failure(Struct, frozen=True):
    """What went wrong."""

    status_code: int
    detail: str


@get("/static/{name:str}", include_in_schema=False)
async def static_file(name: str) -> Response[bytes]:
    """A file that goes with the pages. Its address changes with it."""
    if name not in STATIC:
        raise NotFoundException(f"there is no file {name[:100]}")
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(static(name), media_type=TYPES[name.rpartition(".")[2]], headers=headers)


@get("/favicon.ico", include_in_schema=False)
async def favicon() -> Response[bytes]:
    """The sign of the site, where old programs look for it."""
    return Response(static("icon.svg"), media_type=TYPES["svg"], headers={"Cache-Control": "public, max-age=86400"})


@get("/tree", include_in_schema=False)
async def hierarchies() -> Response[bytes]:
    """Where someone cuts the address of a hierarchy short."""
    return Response(b"", status_code=303, headers={"Location": addresses.tree("clusters")})


def _for_people(told: Any) -> Any:
    """An error as a page where a browser asks, else as programs get it."""

    def handler(request: Asking, error: Any) -> Response[Any]:
        answer: Response[Any] = told(request, error)
        _locate(request)  # what is asked nowhere has not been located
        if request.url.path.endswith(".json") or "text/html" not in request.headers.get("accept", ""):
            return answer
        failure = Failure(answer.status_code or 500, str(answer.content.get("detail", "")))
        page = rendered(request, "error.html", failure)
        later = {"Retry-After": "3"} if failure.status_code == 503 else {}
        return Response(page, media_type="text/html", status_code=failure.status_code, headers=later)

    return handler


async def _guarded(message: Message, scope: Scope) -> None:
    """Every answer tells browsers what it may do; those of pages are counted."""
    if message["type"] == "http.response.start":
        started, handler = scope.get(_STARTED), getattr(scope.get("route_handler"), "fn", None)
        if started is not None and handler in _COUNTED:
            seconds = time.perf_counter() - float(str(started))
            served(scope).metrics.note(_COUNTED[handler], message["status"], seconds)
        headers = MutableScopeHeaders.from_message(message)
        for name, value in HEADERS.items():
            headers.setdefault(name, value)


def _locate(request: Asking) -> None:
    """Let our own addresses begin where the router is served."""
    origin, path = request.app.state.public
    addresses.ORIGIN.set(origin)
    addresses.ROOT.set(f"{path}{request.scope.get(PREFIX, '')}")


async def _placed(request: Asking) -> None:
    """A page is asked for: where we are, and the clock runs."""
    request.scope[_STARTED] = time.perf_counter()  # type: ignore[literal-required]  # a key of our own
    _locate(request)


def web_app(public: str = "") -> Litestar:
    """The application of any router, with pages for people.

    `public` is the address at which browsers reach it, where that is not the one at which it is asked: behind a proxy that
    speaks TLS, or that takes away a path. A PublicAddressError says what is wrong with it.
    """
    return router_app(
        [*PAGES, hierarchies, static_file, favicon, get("/healthz")(health.fn)],
        {kind: _for_people(told) for kind, told in ERRORS.items()},
        before_send=[_guarded],
        before_request=_placed,
        state=State({"public": addresses.public_address(public)}),
    )
