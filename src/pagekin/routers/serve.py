"""Running routers: each listens at its own address, all of a process in one event loop."""

import asyncio
import contextlib
import errno
import gc
import re
import signal
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal
from urllib.parse import unquote

import uvicorn
from litestar import Litestar

from pagekin.collection import Service, ServiceError
from pagekin.routers.http import PATH_PREFIX, PATHS, SERVED, ServedService, answer_posted, router_app
from pagekin.routers.place import Place as Place

BACKLOG = 512
LARGEST_HEAD = 64 << 10
"""The most bytes of a request's line and headers."""
MOST_CONNECTIONS = 10_000
"""The most connections and requests at once; beyond it the answer is 503."""
_HOST = re.compile(rb"(?:[\w.\-~%!$&'()*+,;=]*|\[[0-9a-fA-F:.%\w]+\])(?::(\d{0,6}))?")
MakeApp = Callable[[], Litestar]
"""Makes the application that answers everything but the requests between routers, with or without web pages."""
_COLLECTED = 100_000, 50, 100
"""Thresholds of Python's garbage collector for its three generations."""


def server_config(app: Any, lifespan: Literal["on", "off"] = "on") -> uvicorn.Config:
    """Return the settings of the server under an application, with uvicorn's own limits.

    h11 reads requests: unlike httptools it refuses heads without end, and answers one request of a connection after
    another. docs/network.md says what a proxy in front adds.
    """
    return uvicorn.Config(
        app, http="h11", h11_max_incomplete_event_size=LARGEST_HEAD, log_level="warning", lifespan=lifespan,
        access_log=False, backlog=BACKLOG, limit_concurrency=MOST_CONNECTIONS, timeout_keep_alive=120,
        timeout_graceful_shutdown=2, server_header=False, date_header=False, proxy_headers=False, ws="none",
    )  # fmt: skip


class _Server(uvicorn.Server):
    """A server that leaves signals to its caller."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def free_port(host: str) -> int:
    """Return a port of a host at which nobody listens."""
    with contextlib.closing(listening_socket(Place(host, 0))) as listener:
        return int(listener.getsockname()[1])


def listening_socket(place: Place) -> socket.socket:
    """Open a socket that listens at a place; raise ServiceError with the reason if that fails."""
    wide = ":" in place.host
    try:
        listener = socket.create_server(
            (place.host, place.port), family=socket.AF_INET6 if wide else socket.AF_INET, backlog=BACKLOG,
            dualstack_ipv6=wide and socket.has_dualstack_ipv6(),
        )  # fmt: skip
    except OSError as error:
        why = str(error.strerror).partition(" (while")[0]
        raise ServiceError(f"cannot listen at {place.host}:{place.port}: {why}. {_hint(error)}") from None
    listener.setblocking(False)
    return listener


def _hint(error: OSError) -> str:
    """Return a hint at the cause."""
    if error.errno == errno.EADDRINUSE:
        return "Is something running there already?"
    if error.errno == errno.EMFILE:
        return "Raise the limit of open files (ulimit -n), or let more --workers share the nodes."
    if error.errno == errno.EACCES:
        return "Ports below 1024 are for those with the right to them; choose another, or let a proxy listen there."
    return "Is it an address of this machine? What runs on another is left to that one by --on HOST."


def obstacles(places: Iterable[Place]) -> list[str]:
    """Return why some places cannot be listened at: a line for each."""
    taken = []
    for host, port in dict.fromkeys((place.host, place.port) for place in places):
        try:
            listening_socket(Place(host, port)).close()
        except ServiceError as error:
            taken.append(str(error))
    return taken


class MountedRouters:
    """All routers of a process behind one application, distinguished by address and path."""

    def __init__(self, services: Mapping[Place, Service], app: Litestar, one_of_several: bool = False) -> None:
        self._app = app
        self._services = list(services.values())
        self._served: dict[tuple[str, int], dict[str, ServedService]] = {}
        # The longest path first, so that /edu/ does not take /edu/mit/.
        for place, service in sorted(services.items(), key=lambda pair: -len(pair[0].path)):
            self._served.setdefault((place.host, place.port), {})[unquote(place.path).rstrip("/")] = ServedService(
                service, one_of_several
            )

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on to its router."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        path = scope["path"]
        if not _is_host(scope):
            await _refuse(send, 400, b"this host cannot be")
            return
        for prefix, served in self._at(*scope["server"]).items():
            if not prefix or path == prefix or path.startswith(prefix + "/"):
                rest = path[len(prefix) :] or "/"
                if rest in PATHS and scope.get("method") == "POST":
                    await answer_posted(served, rest, receive, send)
                    return
                here: Any = {**scope, SERVED: served, PATH_PREFIX: prefix, "path": rest, "raw_path": rest.encode()}
                if scope.get("method") == "HEAD":  # the server leaves the body out
                    here["method"] = "GET"
                await self._app(here, receive, send)
                return
        if scope["type"] == "http":
            await _refuse(send, 404, b"no router is here")

    def _at(self, host: str, port: int) -> Mapping[str, ServedService]:
        """Return the routers at an address, or at all addresses of the machine."""
        for name in (host, "0.0.0.0", "::"):
            if (name, port) in self._served:
                return self._served[name, port]
        return {}

    async def _lifespan(self, receive: Any, send: Any) -> None:
        await receive()
        async with self._app.lifespan():
            for service in self._services:
                await service.start()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await asyncio.gather(*(service.stop() for service in self._services), return_exceptions=True)
        await send({"type": "lifespan.shutdown.complete"})


def _is_host(scope: Any) -> bool:
    """Return whether the Host header of a request can name a host."""
    named = next((value for name, value in scope["headers"] if name == b"host"), b"")
    match = _HOST.fullmatch(named)
    return match is not None and int(match[1] or 0) < 65_536


async def _refuse(send: Any, status: int, detail: bytes) -> None:
    """Answer a request that is for no router."""
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b'{"status_code":%d,"detail":"%b"}' % (status, detail)})


async def serve(
    services: Sequence[tuple[Service, Place]],
    ready: Callable[[], None] = lambda: None,
    stop: asyncio.Event | None = None,
    make_app: MakeApp = router_app,
    shared: Sequence[socket.socket] = (),
) -> None:
    """Serve routers until a signal comes or `stop` is set; `ready()` is called once all of them listen.

    If `shared` sockets are given, listen at these: other processes listen at the same ones.
    """
    sockets = list(shared)
    try:
        if not shared:
            for host, port in dict.fromkeys((place.host, place.port) for _service, place in services):
                sockets.append(listening_socket(Place(host, port)))
        mounted = {Place(*_bound(sockets, place), place.path): service for service, place in services}
        config = server_config(MountedRouters(mounted, make_app(), bool(shared)))
        server = _Server(config)
        stopped = stop or asyncio.Event()
        with contextlib.suppress(ValueError, NotImplementedError, RuntimeError):  # signals are the main thread's
            for name in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(name, stopped.set)
        task = asyncio.create_task(server.serve(sockets))
        while not server.started:
            if task.done():
                await task
                raise ServiceError("the routers could not start: see the message above")
            await asyncio.sleep(0.02)
        ready()
        await stopped.wait()
        server.should_exit = True
        await task
    finally:
        for at in sockets:
            at.close()


def _bound(sockets: Sequence[socket.socket], place: Place) -> tuple[str, int]:
    """Return the address of a place, as its socket names it."""
    for at in sockets:
        host, port = at.getsockname()[:2]
        if port == place.port and host in (place.host, *_addresses(place.host)):
            return str(host), int(port)
    return place.host, place.port


def _addresses(host: str) -> set[str]:
    with contextlib.suppress(OSError):
        return {str(info[4][0]) for info in socket.getaddrinfo(host, None)}
    return set()


def run(
    services: Sequence[tuple[Service, Place]],
    ready: Callable[[], None] = lambda: None,
    make_app: MakeApp = router_app,
    shared: Sequence[socket.socket] = (),
) -> None:
    """Serve routers in this process until it is stopped."""
    # Labels are millions of objects that stay: looking through them for circles took a fifth of the time of a search.
    gc.set_threshold(*_COLLECTED)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve(services, ready, make_app=make_app, shared=shared))


def _loop_factory() -> Any:
    """Return uvloop's loop factory if it is installed, else None: uvloop halves the time of a request."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
