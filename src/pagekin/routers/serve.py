"""Running routers: each listens at its own address, all of a process in one event loop."""

import asyncio
import contextlib
import errno
import gc
import re
import signal
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import uvicorn
from litestar import Litestar

from pagekin.routers.http import POSTED, PREFIX, SERVED, Served, answer_posted, router_app
from pagekin.routers.leaf import Leaf
from pagekin.routers.messages import RouterError
from pagekin.routers.place import Place as Place
from pagekin.routers.protocol import RouterProtocol, dismiss_idlers
from pagekin.routers.router import Router

BACKLOG = 512
_HOST = re.compile(rb"(?:[\w.\-~%!$&'()*+,;=]*|\[[0-9a-fA-F:.%\w]+\])(?::(\d{0,6}))?")
MakeApp = Callable[[], Litestar]
"""Makes the application that answers what is not asked between routers: with or without pages for people."""
_COLLECTED = 100_000, 50, 100
"""Objects made, and rounds, after which Python looks for circles among the young, the older and all."""


class _Server(uvicorn.Server):
    """A server that leaves signals to whoever runs it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def free_port(host: str) -> int:
    """A port of an address that nobody listens at."""
    with contextlib.closing(listening(Place(host, 0))) as made:
        return int(made.getsockname()[1])


def listening(place: Place) -> socket.socket:
    """A socket that listens there, or a RouterError that says what is in the way."""
    made = _bound_socket(place)
    made.listen(BACKLOG)
    made.setblocking(False)
    return made


def _bound_socket(place: Place) -> socket.socket:
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    made: socket.socket | None = None
    try:
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((place.host, place.port))
    except OSError as error:
        if made is not None:
            made.close()
        raise RouterError(f"nobody can listen at {place.host}:{place.port}: {error.strerror}. {_hint(error)}") from None
    return made


def _hint(error: OSError) -> str:
    """What may be in the way."""
    if error.errno == errno.EADDRINUSE:
        return "Is something running there already?"
    if error.errno == errno.EMFILE:
        return "Raise the limit of open files (ulimit -n), or let more --processes share the nodes."
    if error.errno == errno.EACCES:
        return "Ports below 1024 are for those with the right to them; choose another, or let a proxy listen there."
    return "Is it an address of this machine? What runs on another is left to that one by --on HOST."


def obstacles(places: Iterable[Place]) -> list[str]:
    """What is in the way of listening at some places: a line for each."""
    found = []
    for host, port in dict.fromkeys((place.host, place.port) for place in places):
        try:
            _bound_socket(Place(host, port)).close()
        except RouterError as error:
            found.append(str(error))
    return found


class Mounted:
    """All routers of a process behind one application, told apart by the address at which they are asked, and by path."""

    def __init__(self, services: Mapping[Place, Leaf | Router], app: Litestar, one_of_several: bool = False) -> None:
        self._app = app
        self._services = list(services.values())
        self._served: dict[tuple[str, int], dict[str, Served]] = {}
        # The longest path first, so that /edu/ does not take /edu/mit/.
        for place, service in sorted(services.items(), key=lambda pair: -len(pair[0].path)):
            self._served.setdefault((place.host, place.port), {})[place.path.rstrip("/")] = Served(
                service, one_of_several
            )

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Hand a request to its router."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        path = scope["path"]
        if not _is_host(scope):
            await _refused(send, 400, b"this host cannot be")
            return
        for prefix, served in self._at(*scope["server"]).items():
            if not prefix or path == prefix or path.startswith(prefix + "/"):
                rest = path[len(prefix) :] or "/"
                if rest in POSTED and scope.get("method") == "POST":
                    await answer_posted(served, rest, receive, send)
                    return
                here: Any = {**scope, SERVED: served, PREFIX: prefix, "path": rest, "raw_path": rest.encode()}
                if scope.get("method") == "HEAD":  # the server leaves the body out
                    here["method"] = "GET"
                await self._app(here, receive, send)
                return
        if scope["type"] == "http":
            await _refused(send, 404, b"no router is here")

    def _at(self, host: str, port: int) -> Mapping[str, Served]:
        """The routers at an address, or at all addresses of the machine."""
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
    """Whether the host that a request names can be one."""
    named = next((value for name, value in scope["headers"] if name == b"host"), b"")
    found = _HOST.fullmatch(named)
    return found is not None and int(found[1] or 0) < 65_536


async def _refused(send: Any, status: int, detail: bytes) -> None:
    """Answer what is for no router."""
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b'{"status_code":%d,"detail":"%b"}' % (status, detail)})


async def serve(
    services: Sequence[tuple[Leaf | Router, Place]],
    ready: Callable[[], None] = lambda: None,
    stop: asyncio.Event | None = None,
    make_app: MakeApp = router_app,
    shared: Sequence[socket.socket] = (),
) -> None:
    """Serve routers until a signal comes or `stop` is set; `ready()` is called once all of them listen.

    At `shared` sockets, if they are given: then other processes listen at the same.
    """
    sockets = list(shared)
    try:
        if not shared:
            for host, port in dict.fromkeys((place.host, place.port) for _service, place in services):
                sockets.append(listening(Place(host, port)))
        mounted = {Place(*_bound(sockets, place), place.path): service for service, place in services}
        config = uvicorn.Config(
            Mounted(mounted, make_app(), bool(shared)), http=RouterProtocol, log_level="warning", lifespan="on", access_log=False,
            timeout_keep_alive=120, timeout_graceful_shutdown=2, server_header=False, date_header=False,
            proxy_headers=False, ws="none",
        )  # fmt: skip
        server = _Server(config)
        stopped = stop or asyncio.Event()
        with contextlib.suppress(ValueError, NotImplementedError, RuntimeError):  # signals are the main thread's
            for name in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(name, stopped.set)
        task = asyncio.create_task(server.serve(sockets))
        watch = asyncio.create_task(dismiss_idlers(server.server_state.connections))
        while not server.started:
            if task.done():
                await task
                raise RouterError("the routers could not start: see the message above")
            await asyncio.sleep(0.02)
        ready()
        await stopped.wait()
        server.should_exit = True
        await task
        watch.cancel()
    finally:
        for at in sockets:
            at.close()


def _bound(sockets: Sequence[socket.socket], place: Place) -> tuple[str, int]:
    """The address at which a place is asked: as its socket names it."""
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
    services: Sequence[tuple[Leaf | Router, Place]],
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
    """uvloop's, where it is installed: it takes half the time of a request away."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
