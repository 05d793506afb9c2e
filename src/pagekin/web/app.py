"""The application that serves pages beside a service's operations."""

import time
from typing import Any

from litestar import Litestar, Response, get
from litestar.datastructures import MutableScopeHeaders, State
from litestar.exceptions import NotFoundException
from litestar.params import FromPath
from litestar.types import Message, Scope
from msgspec import Struct

from pagekin.routers import HTTP_ERRORS, PATH_PREFIX, HttpRequest, health_route, router_app, service_of
from pagekin.web import addresses
from pagekin.web.pages import about, cluster, compare, evaluation, home, network, opensearch, page, results, tree
from pagekin.web.rendering import HEADERS, render_page, static

TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
STATIC = {"style.css", "script.js", "icon.svg"}
PAGES: list[Any] = [
    network.network, about.about, home.home, home.start, tree.tree, cluster.cluster, cluster.whole_label, page.page,
    compare.compare, results.find, opensearch.opensearch, opensearch.complete, evaluation.evaluation,
]  # fmt: skip
"""The routes for people."""
_COUNTED = {route.fn: f"page {route.fn.__name__}" for route in PAGES}
_STARTED = "pagekin.started"


class Failure(Struct, frozen=True):
    """An error, for the error page."""

    status_code: int
    detail: str


@get("/static/{name:str}", include_in_schema=False)
async def static_file(name: FromPath[str]) -> Response[bytes]:
    """Return a static file; its address changes with its content."""
    if name not in STATIC:
        raise NotFoundException(f"there is no file {name[:100]}")
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(static(name), media_type=TYPES[name.rpartition(".")[2]], headers=headers)


@get("/favicon.ico", include_in_schema=False)
async def favicon() -> Response[bytes]:
    """Return the icon at its traditional address."""
    return Response(static("icon.svg"), media_type=TYPES["svg"], headers={"Cache-Control": "public, max-age=86400"})


@get("/tree", include_in_schema=False)
async def hierarchies() -> Response[bytes]:
    """Redirect the truncated address of a hierarchy to the topics."""
    return Response(b"", status_code=303, headers={"Location": addresses.tree("clusters")})


def _page_of_error(answer_error: Any) -> Any:
    """Return an error handler that answers browsers with a page and programs as `answer_error` does."""

    def handler(request: HttpRequest, error: Any) -> Response[Any]:
        answer: Response[Any] = answer_error(request, error)
        _locate(request)  # an address without a route was not located before
        if request.url.path.endswith(".json") or "text/html" not in request.headers.get("accept", ""):
            return answer
        failure = Failure(answer.status_code or 500, str(answer.content.get("detail", "")))
        body = render_page(request, "error.html", failure)
        later = {"Retry-After": "3"} if failure.status_code == 503 else {}
        return Response(body, media_type="text/html", status_code=failure.status_code, headers=later)

    return handler


async def _finish_answer(message: Message, scope: Scope) -> None:
    """Add the security headers to every answer; count answers that are pages."""
    if message["type"] == "http.response.start":
        started, handler = scope.get(_STARTED), getattr(scope.get("route_handler"), "fn", None)
        if started is not None and handler in _COUNTED:
            seconds = time.perf_counter() - float(str(started))
            service_of(scope).metrics.note(_COUNTED[handler], message["status"], seconds)
        headers = MutableScopeHeaders.from_message(message)
        for name, value in HEADERS.items():
            headers.setdefault(name, value)


def _locate(request: HttpRequest) -> None:
    """Set the prefix of our own addresses for this request."""
    origin, path = request.app.state.public
    addresses.ORIGIN.set(origin)
    addresses.REPLAY.set(request.app.state.replay)
    addresses.ROOT.set(f"{path}{request.scope.get(PATH_PREFIX, '')}")


async def _begin_answer(request: HttpRequest) -> None:
    """Note the prefix of our addresses, and when the request came."""
    request.scope[_STARTED] = time.perf_counter()  # type: ignore[literal-required]  # a key of our own
    _locate(request)


def web_app(public: str = "", replay: str = "") -> Litestar:
    """Return the web application of a service, with pages for people.

    `public` is the address at which browsers reach it, where that is not the one at which it is asked: behind a proxy that
    speaks TLS, or that takes away a path. Raise a PublicAddressError if it cannot be one. `replay` is the pattern of the
    addresses at which a web archive shows captures; raise a ReplayPatternError if it cannot be one.
    """
    return router_app(
        [*PAGES, hierarchies, static_file, favicon, get("/healthz")(health_route.fn)],
        {kind: _page_of_error(handler) for kind, handler in HTTP_ERRORS.items()},
        before_send=[_finish_answer],
        before_request=_begin_answer,
        state=State({"public": addresses.public_address(public), "replay": addresses.replay_pattern(replay)}),
    )
