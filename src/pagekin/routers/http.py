"""A router's services over HTTP: JSON by POST, and by GET where an address says it all; described at /schema/openapi.json."""

import asyncio
import gzip
import logging
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import msgspec
from litestar import Litestar, Request, Response, get, post
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.params import Body, Parameter
from litestar.types import Scope

from pagekin import __version__
from pagekin.labels import Budget, ContentLabel, LabelError, to_json
from pagekin.labels.fitting import ROUTER_CLUSTERS
from pagekin.labels.merge import cut_label
from pagekin.labels.parts import etag, parts_of, to_wire
from pagekin.labels.sexpr import to_sexpr
from pagekin.routers.bounds import bound_of, fitting
from pagekin.routers.leaf import Leaf
from pagekin.routers.messages import (
    Answer,
    Bag,
    Counts,
    Filters,
    Health,
    RefineRequest,
    RelatedRequest,
    RouterError,
    SearchRequest,
    SelectRequest,
    ShowRequest,
    SuggestRequest,
    Summary,
    Terms,
    TogetherRequest,
    Travel,
    TreeNode,
    TreeRequest,
    encode,
)
from pagekin.routers.metrics import Metrics
from pagekin.routers.router import Router
from pagekin.text import QueryError

T = TypeVar("T")
Asking = Request[Any, Any, Any]
Query = Annotated[str, Parameter(description="Words, attributes as in title:lock, phrases, OR, NOT.", max_length=2000)]
Limit = Annotated[int, Parameter(ge=0, le=1000, description="Results at most.")]
Count = Annotated[int, Parameter(ge=1, le=100, description="Terms in each list at most.")]
Site = Annotated[str, Parameter(max_length=200, description="Only pages of this host, or of hosts that end so.")]
Language = Annotated[str, Parameter(max_length=200, description="Only pages in this language, such as en.")]
Since = Annotated[int | None, Parameter(ge=0, le=2**53, description="Only pages from then on: seconds since 1970.")]
Until = Annotated[int | None, Parameter(ge=0, le=2**53, description="Only pages until then: seconds since 1970.")]
Page = Annotated[str, Parameter(max_length=2000, description="The address of a page.")]
LARGEST_REQUEST = 4 << 20
SERVED, PREFIX = "pagekin.served", "pagekin.prefix"
"""Where a request's scope tells the router that it is for, and the path below which that is served."""
_MOST_CUT = 16
"""Sizes in which a label is kept for parents that ask for less of it."""
WIRE = "application/vnd.pagekin.label+zstd"
_log = logging.getLogger("pagekin.routers")


class Served:
    """A router as it is served: with its counts, and the parts of its label as they travel."""

    def __init__(self, service: Leaf | Router, one_of_several: bool = False) -> None:
        self.service = service
        self.metrics = Metrics(one_of_several)
        self._packed: dict[tuple[str, int | None], tuple[str, bytes]] = {}
        self._cut: dict[int, tuple[ContentLabel, ContentLabel, dict[str, ContentLabel]]] = {}

    async def label_within(self, max_bytes: int | None) -> tuple[ContentLabel, Mapping[str, ContentLabel]]:
        """(the label, its parts), cut to a size if one is given."""
        whole = self.service.label
        if max_bytes is None:
            return whole, self.service.parts
        if max_bytes not in self._cut or self._cut[max_bytes][0] is not whole:
            try:
                cut = await asyncio.to_thread(cut_label, whole, Budget(clusters=ROUTER_CLUSTERS, bytes=max_bytes))
            except LabelError as error:
                raise RouterError(str(error)) from None
            if len(self._cut) >= _MOST_CUT:
                self._cut.clear()
            self._cut[max_bytes] = whole, cut, parts_of(cut)
        return self._cut[max_bytes][1:]

    def wired(self, part: str, max_bytes: int | None, tag: str, made: ContentLabel) -> bytes:
        """A part of the label as it travels; compressed once."""
        key = part, max_bytes
        if self._packed.get(key, ("",))[0] != tag:
            if len(self._packed) > 4 * _MOST_CUT:
                self._packed.clear()
            self._packed[key] = tag, to_wire(made)
        return self._packed[key][1]

    async def timed(self, operation: str, answer: Coroutine[Any, Any, T]) -> T:
        """What a service answers, counted."""
        started, status = time.perf_counter(), 500
        try:
            found = await answer
            status = 200
        except QueryError:
            status = 400
            raise
        except RouterError as error:
            status = error.status
            raise
        finally:
            self.metrics.note(operation, status, time.perf_counter() - started)
        return found


def served(scope: Any) -> Served:
    """The router that a request is for: whoever takes requests in has put it there."""
    found: Served = scope[SERVED]
    return found


@get("/search")
async def search_by_address(
    scope: Scope, q: Query, limit: Limit = 10, ask: Limit = 0, site: Site = "", language: Language = "",
    since: Since = None, until: Until = None,
) -> Answer:  # fmt: skip
    """Documents that match a query, by address."""
    here = served(scope)
    filters = Filters(site, since, until, language)
    return await here.timed(
        "search", here.service.search(SearchRequest(query=q, limit=limit, ask=ask, filters=filters))
    )


@get("/select")
async def select_by_address(
    scope: Scope, q: Query, limit: Limit = 100, site: Site = "", language: Language = "", since: Since = None,
    until: Until = None,
) -> Answer:  # fmt: skip
    """The children that may match a query; those of a router are not judged by filters."""
    here = served(scope)
    filters = Filters(site, since, until, language)
    return await here.timed("select", here.service.select(SelectRequest(query=q, limit=limit, filters=filters)))


@get("/expand")
async def expand_by_address(
    scope: Scope, q: Query, limit: Limit = 100, site: Site = "", language: Language = "", since: Since = None,
    until: Until = None,
) -> Answer:  # fmt: skip
    """The matching children of the children that match; those of routers are not judged by filters."""
    here = served(scope)
    filters = Filters(site, since, until, language)
    return await here.timed("expand", here.service.expand(SelectRequest(query=q, limit=limit, filters=filters)))


@get("/refine")
async def refine_by_address(scope: Scope, q: Query, count: Count = 8) -> Terms:
    """Collocated, broader and narrower terms, by address."""
    here = served(scope)
    return await here.timed("refine", here.service.refine(RefineRequest(query=q, count=count)))


@get("/related")
async def related_by_address(
    scope: Scope, url: Page, limit: Count = 10, site: Site = "", language: Language = "", since: Since = None,
    until: Until = None,
) -> Answer:  # fmt: skip
    """Pages like a page of the network."""
    here = served(scope)
    filters = Filters(site, since, until, language)
    return await here.timed("related", here.service.related(RelatedRequest(url=url, limit=limit, filters=filters)))


@get("/label")
async def label(
    request: Asking, part: Annotated[str, Parameter(pattern="^(|refinement|routing|browsing)$")] = "",
    form: Annotated[str, Parameter(pattern="^(json|sexpr|wire)$")] = "json",
    max_bytes: Annotated[int | None, Parameter(ge=1, le=32_000_000, description="Of the whole label as JSON.")] = None,
) -> Response[bytes]:  # fmt: skip
    """The content label, whole or what one abstraction function needs; fresh by its ETag.

    With `max_bytes` it is cut to that size, from what the label tells; one parent may ask for less than another.
    """
    here = served(request.scope)
    whole, parts = await here.label_within(max_bytes)
    made = parts[part] if part else whole
    tag = etag(made) if max_bytes or not part else here.service.etags[part]
    headers = {"ETag": f'"{tag}"', "Cache-Control": "no-cache"}
    if f'"{tag}"' in request.headers.get("if-none-match", ""):
        return Response(b"", status_code=304, headers=headers)
    if form == "wire":
        return Response(here.wired(part, max_bytes, tag, made), media_type=WIRE, headers=headers)
    body = to_json(made) if form == "json" else to_sexpr(made).encode()
    if "gzip" in request.headers.get("accept-encoding", ""):
        body, headers["Content-Encoding"] = gzip.compress(body, 5, mtime=0), "gzip"
    return Response(body, media_type="application/json" if form == "json" else "text/plain", headers=headers)


@get("/summary")
async def summary(scope: Scope) -> Summary:
    """What is here, for people."""
    return await served(scope).service.summary()


@get("/health")
async def health(scope: Scope) -> Health:
    """How the router and its children are."""
    return await served(scope).service.health()


@get("/metrics", media_type="text/plain; version=0.0.4")
async def prometheus(scope: Scope) -> str:
    """Counts and times for Prometheus."""
    here = served(scope)
    return here.metrics.text(await here.service.health())


@post("/refresh", status_code=202)
async def refresh(scope: Scope) -> dict[str, str]:
    """Ask the children at once whether their labels changed."""
    service = served(scope).service
    if isinstance(service, Router):
        service.wake()
    return {"detail": "children are being asked" if isinstance(service, Router) else "a leaf has no children"}


@dataclass(frozen=True)
class Posted:
    """A service that is asked by POST."""

    request: type[Travel]
    answer: type[Any]
    about: str

    def route(self, path: str) -> Any:
        """Its route in the application."""

        async def handler(scope: Scope, data: Any) -> Any:
            here = served(scope)
            return await here.timed(path[1:], getattr(here.service, path[1:])(data))

        handler.__name__, handler.__doc__ = path[1:], self.about
        handler.__annotations__ |= {"data": Annotated[self.request, Body()], "return": self.answer}
        return post(path, status_code=200)(handler)


POSTED = {
    "/search": Posted(SearchRequest, Answer, "Documents that match a query, from all leaves below that may hold one."),
    "/show": Posted(ShowRequest, Answer, "Documents with the pieces of their text that show best what a query found."),
    "/select": Posted(
        SelectRequest,
        Answer,
        "Those of the results so far, at first the children, that may match; nobody below is asked, so that filters leave a "
        "router's children in.",
    ),
    "/expand": Posted(
        SelectRequest,
        Answer,
        "The matching children of those results so far that match: one step down. Filters are for documents.",
    ),
    "/refine": Posted(RefineRequest, Terms, "Collocated, broader and narrower terms."),
    "/together": Posted(TogetherRequest, Counts, "How often words go together with a query, on pages."),
    "/suggest": Posted(SuggestRequest, Answer, "Documents like the results so far."),
    "/related": Posted(RelatedRequest, Answer, "Pages like a page."),
    "/bag": Posted(RelatedRequest, Bag, "A page's weighted bag, to be compared elsewhere."),
    "/tree": Posted(TreeRequest, TreeNode, "The routers below this one, and how they are."),
}
"""What routers ask one another, hundreds of times for one query: answered without the application's detours, which describes
them."""
HANDLERS: list[Any] = [
    *(posted.route(path) for path, posted in POSTED.items()),
    search_by_address, select_by_address, expand_by_address, refine_by_address, related_by_address, label, summary, health,
    prometheus, refresh,
]  # fmt: skip
"""The routes of a router."""


async def answer_posted(here: Served, path: str, receive: Any, send: Any) -> None:
    """Answer a request of `POSTED`, as the route of the same path would."""
    status, body = 200, b""
    try:
        data = msgspec.json.decode(await _received(receive), type=POSTED[path].request)
        operation = path[1:]
        answer = await here.timed(operation, getattr(here.service, operation)(data))
        body = encode(answer)
        if isinstance(answer, Answer) and (bound := bound_of(operation, data)).excess(body):
            body = encode(fitting(answer, bound))
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        status, body = 400, _detailed(400, f"this is no request for {path}: {error}")
    except QueryError as error:
        status, body = 400, _detailed(400, str(error))
    except RouterError as error:
        status, body = error.status, _detailed(error.status, str(error))
    except Exception as error:
        _log.exception("POST %s", path)
        status, body = 500, _detailed(500, _whose_fault(here.service, error))
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _received(receive: Any) -> bytes:
    """The body of a request."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RouterError("the request was broken off")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > LARGEST_REQUEST:
            raise RouterError(f"the request is larger than {LARGEST_REQUEST:,} bytes", 413)
        if not message.get("more_body"):
            return b"".join(parts)


def _detailed(status: int, detail: str) -> bytes:
    return msgspec.json.encode({"status_code": status, "detail": detail})


def _told(status: int) -> Callable[[Asking, Exception], Response[dict[str, Any]]]:
    """A handler that answers an error of this kind with its message."""

    def handler(_request: Asking, error: Exception) -> Response[dict[str, Any]]:
        code = getattr(error, "status", status)
        return Response({"status_code": code, "detail": str(error)}, status_code=code)

    return handler


def _refused(_request: Asking, error: HTTPException) -> Response[dict[str, Any]]:
    """Answer a request that breaks the rules of the services with what is wrong."""
    extra = {"extra": error.extra} if error.extra else {}
    return Response({"status_code": error.status_code, "detail": error.detail, **extra}, status_code=error.status_code)


def _our_fault(request: Asking, error: Exception) -> Response[dict[str, Any]]:
    _log.error("%s %s", request.method, request.url.path, exc_info=error)
    found: Served | None = request.scope.get(SERVED)  # type: ignore[assignment]  # a key of our own
    detail = _whose_fault(found.service if found else None, error)
    return Response({"status_code": 500, "detail": detail}, status_code=500)


def _whose_fault(service: Leaf | Router | None, error: Exception) -> str:
    """What is told of an error that nobody expected: it is ours, unless a collection is damaged."""
    return service.suspected(error) if isinstance(service, Leaf) else f"internal error: {type(error).__name__}"


ERRORS: dict[Any, Any] = {
    HTTPException: _refused,
    QueryError: _told(400),
    RouterError: _told(400),
    Exception: _our_fault,
}
"""What is answered when something goes wrong: always JSON with a `detail`."""


def router_app(handlers: Sequence[Any] = (), errors: Mapping[Any, Any] = ERRORS, **more: Any) -> Litestar:
    """The application of any router, with more routes if there are: which one a request is for stands in its scope."""
    return Litestar(
        route_handlers=[*HANDLERS, *handlers],
        openapi_config=OpenAPIConfig(
            title="Pagekin",
            version=__version__,
            render_plugins=[JsonRenderPlugin(path=["/", "/openapi.json"])],
        ),
        exception_handlers=dict(errors),
        request_max_body_size=LARGEST_REQUEST,
        logging_config=None,
        **more,
    )
