"""Running routers: each listens at its own address, all of a process in one event loop."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import uvicorn

from pagekin.routers.http import router_app
from pagekin.routers.leaf import Leaf
from pagekin.routers.messages import RouterError
from pagekin.routers.router import Router

BACKLOG = 512


@dataclass(frozen=True)
class Place:
    """Where a router listens."""

    host: str
    port: int
    path: str = "/"

    @classmethod
    def of(cls, url: str) -> "Place":
        """The place that an http address names."""
        parts = urlsplit(url)
        return cls(parts.hostname or "127.0.0.1", parts.port or 80, parts.path or "/")


class _Server(uvicorn.Server):
    """One of many servers in a loop: signals are for the process, not for each."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def listening(place: Place) -> socket.socket:
    """A socket that listens there, or a RouterError that says what is in the way."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((place.host, place.port))
    except OSError as error:
        made.close()
        raise RouterError(
            f"nobody can listen at {place.host}:{place.port}: {error.strerror}. Is something running there already?"
        ) from None
    made.listen(BACKLOG)
    made.setblocking(False)
    return made


class Mounted:
    """Several routers behind one port, each below its own path."""

    def __init__(self, apps: Mapping[str, Any]) -> None:
        # The longest path first, so that /edu/ does not take /edu/mit/.
        self._apps = dict(sorted(apps.items(), key=lambda pair: -len(pair[0])))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Hand a request to the router of its path."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        path = scope["path"]
        for prefix, app in self._apps.items():
            if path == prefix.rstrip("/") or path.startswith(prefix.rstrip("/") + "/"):
                await app(scope, receive, send)
                return
        if scope["type"] == "http":
            await send(
                {"type": "http.response.start", "status": 404, "headers": [(b"content-type", b"application/json")]}
            )
            await send(
                {"type": "http.response.body", "body": b'{"status_code":404,"detail":"no router has this path"}'}
            )

    async def _lifespan(self, receive: Any, send: Any) -> None:
        await receive()
        async with contextlib.AsyncExitStack() as stack:
            for app in self._apps.values():
                await stack.enter_async_context(app.lifespan())
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})


async def serve(
    services: Sequence[tuple[Leaf | Router, Place]], ready: Any = None, stop: asyncio.Event | None = None
) -> None:
    """Serve routers until a signal comes or `stop` is set; `ready()` is called once all of them listen."""
    apps: dict[tuple[str, int], dict[str, Any]] = {}
    for service, place in services:
        apps.setdefault((place.host, place.port), {})[place.path] = router_app(service, place.path)
    servers, sockets = [], []
    try:
        for (host, port), mounted in apps.items():
            sockets.append(listening(Place(host, port)))
            app = next(iter(mounted.values())) if list(mounted) == ["/"] else Mounted(mounted)
            config = uvicorn.Config(
                app, log_level="warning", lifespan="on", access_log=False, timeout_keep_alive=120, timeout_graceful_shutdown=2,
                server_header=False, date_header=False,
            )  # fmt: skip
            servers.append(_Server(config))
        stopped = stop or asyncio.Event()
        loop = asyncio.get_running_loop()
        with contextlib.suppress(ValueError, NotImplementedError, RuntimeError):  # signals are the main thread's
            for name in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(name, stopped.set)
        tasks = [asyncio.create_task(one.serve([at])) for one, at in zip(servers, sockets, strict=True)]
        while not all(one.started for one in servers):
            if any(task.done() for task in tasks):
                raise RouterError("a router could not start: see its message above")
            await asyncio.sleep(0.02)
        if ready:
            ready()
        await stopped.wait()
        for one in servers:
            one.should_exit = True
        await asyncio.gather(*tasks)
    finally:
        for at in sockets:
            at.close()


def run(services: Sequence[tuple[Leaf | Router, Place]], ready: Any = None) -> None:
    """Serve routers in this process until it is stopped."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve(services, ready))


def _loop_factory() -> Any:
    """uvloop's, where it is installed: it takes half the time of a request away."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
