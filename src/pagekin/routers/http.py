"""A service over HTTP: one table of operations, each by POST as JSON, and by GET if a URL can hold the request.

Described at /schema/openapi.json.
"""

import asyncio
import gzip
import logging
import time
from collections.abc import Coroutine, Mapping, Sequence
from typing import Annotated, Any, TypeVar

import msgspec
from litestar import Litestar, Request, Response, get, post
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Operation as OpenApiOperation
from litestar.params import JSONBody, Parameter
from litestar.types import Scope

from pagekin import __version__, labels
from pagekin.collection import Answer, Health, PublishedLabel, Service, ServiceError, Summary, encode
from pagekin.routers.bounds import bound_of, fit_answer
from pagekin.routers.connection import cut_to
from pagekin.routers.metrics import Metrics
from pagekin.routers.operations import OPERATIONS, OTHER_PATHS, Operation
from pagekin.text import QueryError

T = TypeVar("T")
HttpRequest = Request[Any, Any, Any]
LARGEST_REQUEST = 4 << 20
SERVED, PATH_PREFIX = "pagekin.served", "pagekin.prefix"
"""Keys of a request's scope: its service, and the path below which that is served."""
_MOST_CUT = 16
"""How many cut sizes of a label are cached for parents that ask for less."""
WIRE = "application/vnd.pagekin.label+zstd"
_log = logging.getLogger("pagekin.routers")


class ServedService:
    """A service with its metrics, and its label in the sizes that parents ask for."""

    def __init__(self, service: Service, one_of_several: bool = False) -> None:
        self.service = service
        self.metrics = Metrics(one_of_several)
        self._cut: dict[int, tuple[labels.ContentLabel, tuple[labels.ContentLabel, PublishedLabel]]] = {}
        """By size: the whole label, and what it was cut to."""

    async def label_within(self, max_bytes: int | None) -> tuple[labels.ContentLabel, PublishedLabel]:
        """Return the label, whole and in parts, cut to a size if one is given."""
        whole = self.service.label
        if max_bytes is None:
            return whole, self.service.published
        if max_bytes not in self._cut or self._cut[max_bytes][0] is not whole:
            try:
                cut = await asyncio.to_thread(cut_to, whole, max_bytes)
            except labels.LabelError as error:
                raise ServiceError(str(error)) from None
            if len(self._cut) >= _MOST_CUT:
                self._cut.clear()
            self._cut[max_bytes] = whole, cut
        return self._cut[max_bytes][1]

    async def measure(self, operation: str, answer: Coroutine[Any, Any, T]) -> T:
        """Return a service's answer; record its time and status in the metrics."""
        started, status = time.perf_counter(), 500
        try:
            response = await answer
            status = 200
        except (QueryError, ServiceError) as error:
            status = getattr(error, "status", 400)
            raise
        finally:
            self.metrics.note(operation, status, time.perf_counter() - started)
        return response


def service_of(scope: Any) -> ServedService:
    """Return the service that a request is for, which the front application put into its scope."""
    service: ServedService = scope[SERVED]
    return service


@get("/label")
async def label(
    request: HttpRequest, part: Annotated[str, Parameter(pattern="^(|refinement|routing|browsing)$")] = "",
    form: Annotated[str, Parameter(pattern="^(json|sexpr|wire)$")] = "json",
    max_bytes: Annotated[int | None, Parameter(ge=1, le=32_000_000, description="Of the whole label as JSON.")] = None,
) -> Response[bytes]:  # fmt: skip
    """Return the content label, whole or one abstraction function's part, unless the ETag is current.

    With `max_bytes` it is cut to that size, from what the label tells; one parent may ask for less than another.
    """
    here = service_of(request.scope)
    whole, published = await here.label_within(max_bytes)
    label_part = published.parts[part] if part else whole
    tag = published.etags[part] if part else labels.label_etag(whole)
    headers = {"ETag": f'"{tag}"', "Cache-Control": "no-cache"}
    if f'"{tag}"' in request.headers.get("if-none-match", ""):
        return Response(b"", status_code=304, headers=headers)
    if form == "wire":
        return Response(labels.label_to_wire(label_part), media_type=WIRE, headers=headers)
    body = labels.label_to_json(label_part) if form == "json" else labels.label_to_sexpr(label_part).encode()
    if "gzip" in request.headers.get("accept-encoding", ""):
        body, headers["Content-Encoding"] = gzip.compress(body, 5, mtime=0), "gzip"
    return Response(body, media_type="application/json" if form == "json" else "text/plain", headers=headers)


@get("/summary")
async def summary(scope: Scope) -> Summary:
    """Return what is here, for people."""
    return await service_of(scope).service.summary()


@get("/health")
async def health_route(scope: Scope) -> Health:
    """Return the health of the service and its children."""
    return await service_of(scope).service.health()


@get("/metrics", media_type="text/plain; version=0.0.4")
async def prometheus(scope: Scope) -> str:
    """Return counts and times for Prometheus."""
    here = service_of(scope)
    return here.metrics.text(await here.service.health())


@post("/refresh", status_code=202)
async def refresh(scope: Scope) -> dict[str, str]:
    """Fetch changed labels of the children now."""
    woken = service_of(scope).service.wake()
    return {"detail": "children are being asked" if woken else "a leaf has no children"}


def _post_route(path: str, operation: Operation) -> Any:
    """Return the route that takes an operation's request as JSON."""

    async def handler(scope: Scope, data: JSONBody[operation.request]) -> operation.answer:  # type: ignore[name-defined]  # made by the table
        here = service_of(scope)
        return await here.measure(operation.name, getattr(here.service, operation.name)(data))

    handler.__name__, handler.__doc__ = f"post_{path[1:]}", operation.description
    return post(path, status_code=200, operation_id=f"{path[1:]}_by_post")(handler)


def _get_route(operation: Operation) -> Any:
    """Return the route that takes an operation's request from the query of an address."""

    async def handler(request: HttpRequest) -> operation.answer:  # type: ignore[name-defined]  # made by the table
        here = service_of(request.scope)
        asked = operation.request_of(request.query_params)
        return await here.measure(operation.name, getattr(here.service, operation.name)(asked))

    class DescribedOperation(OpenApiOperation):
        def __init__(self, **facts: Any) -> None:
            super().__init__(**facts | {"parameters": operation.describe_parameters()})

    handler.__name__, handler.__doc__ = f"get_{operation.name}", operation.description
    return get(f"/{operation.name}", operation_id=f"{operation.name}_by_address", operation_class=DescribedOperation)(
        handler
    )


PATHS: dict[str, str] = {f"/{name}": name for name in OPERATIONS} | OTHER_PATHS
"""The operation at each path. Routers ask these hundreds of times for one query, so POST is answered here without the
application's detours, which describes them."""
HANDLERS: list[Any] = [
    *(_post_route(path, OPERATIONS[name]) for path, name in PATHS.items()),
    *(_get_route(operation) for operation in OPERATIONS.values() if operation.parameters),
    label, summary, health_route, prometheus, refresh,
]  # fmt: skip
"""The routes of a service."""


async def answer_posted(here: ServedService, path: str, receive: Any, send: Any) -> None:
    """Answer a POST to one of `PATHS`, as the route of the same path would."""
    status, body = 200, b""
    name = PATHS[path]
    try:
        data = msgspec.json.decode(await _receive_body(receive), type=OPERATIONS[name].request)
        answer = await here.measure(name, getattr(here.service, name)(data))
        body = encode(answer)
        if isinstance(answer, Answer) and (bound := bound_of(name, data)).excess(body):
            body = encode(fit_answer(answer, bound))
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        status, body = 400, _error_body(400, f"this is not a valid request for {path}: {error}")
    except Exception as error:
        status, detail = _explain(error, here, f"POST {path}")
        body = _error_body(status, detail)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _receive_body(receive: Any) -> bytes:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ServiceError("the request was cut off")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > LARGEST_REQUEST:
            raise ServiceError(f"the request is larger than {LARGEST_REQUEST:,} bytes", 413)
        if not message.get("more_body"):
            return b"".join(parts)


def _error_body(status: int, detail: str) -> bytes:
    return msgspec.json.encode({"status_code": status, "detail": detail})


def _explain(error: Exception, here: ServedService | None, asked: str) -> tuple[int, str]:
    """Return the status and the reason of an error; an unexpected one is ours, unless a collection is damaged."""
    if isinstance(error, QueryError | ServiceError):
        return getattr(error, "status", 400), str(error)
    _log.error(asked, exc_info=error)
    return 500, here.service.explain_fault(error) if here else f"internal error: {type(error).__name__}"


def _refuse(_request: HttpRequest, error: HTTPException) -> Response[dict[str, Any]]:
    """Answer an invalid request with what is wrong."""
    extra = {"extra": error.extra} if error.extra else {}
    return Response({"status_code": error.status_code, "detail": error.detail, **extra}, status_code=error.status_code)


def _answer_error(request: HttpRequest, error: Exception) -> Response[dict[str, Any]]:
    """Answer a question that cannot be answered, giving the reason."""
    here: ServedService | None = request.scope.get(SERVED)  # type: ignore[assignment]  # a key of our own
    status, detail = _explain(error, here, f"{request.method} {request.url.path}")
    return Response({"status_code": status, "detail": detail}, status_code=status)


HTTP_ERRORS: dict[Any, Any] = {HTTPException: _refuse, Exception: _answer_error}
"""Error answers: always JSON with a `detail`."""


def router_app(handlers: Sequence[Any] = (), errors: Mapping[Any, Any] = HTTP_ERRORS, **more: Any) -> Litestar:
    """Return the application for any service, with additional routes; a request's scope names its service."""
    return Litestar(
        route_handlers=[*HANDLERS, *handlers],
        openapi_config=OpenAPIConfig(
            title="Pagekin", version=__version__, render_plugins=[JsonRenderPlugin(path=["/", "/openapi.json"])]
        ),
        exception_handlers=dict(errors),
        request_max_body_size=LARGEST_REQUEST,
        logging_config=None,
        **more,
    )
