"""Children that misbehave: servers on raw sockets, which count who calls and note what was asked."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pagekin.labels import ContentLabel, label_to_wire


@dataclass(frozen=True)
class Call:
    """A request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Behaviour = Callable[[Call, asyncio.StreamWriter], Awaitable[None]]


def reply(body: bytes, status: str = "200 OK", more: str = "", length: int | None = None) -> bytes:
    """A whole HTTP answer."""
    size = len(body) if length is None else length
    return f"HTTP/1.1 {status}\r\nContent-Length: {size}\r\n{more}\r\n".encode() + body


def says(raw: bytes) -> Behaviour:
    """Always the same bytes."""

    async def behave(_call: Call, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)

    return behave


def tells(answer: Any) -> Behaviour:
    """Always the same JSON."""
    return says(reply(json.dumps(answer).encode()))


@dataclass
class Fake:
    """A child of a router. It gives its label, if it has one, and misbehaves at everything else, or at labels too."""

    behave: Behaviour
    parts: Mapping[str, ContentLabel] | None = None
    host: str = "127.0.0.1"
    port: int = 0
    connections: int = 0
    calls: list[Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._open: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self._thread.start()
        assert ready.wait(10)

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/"

    def asked(self, operation: str) -> list[Call]:
        """The calls of an operation so far."""
        return [call for call in self.calls if call.path.partition("?")[0] == f"/{operation}"]

    def _run(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)

        async def start() -> None:
            self._server = await asyncio.start_server(self._met, self.host, self.port)
            self.port = self._server.sockets[0].getsockname()[1]

        self._loop.run_until_complete(start())
        ready.set()
        self._loop.run_forever()

    async def _met(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task
        self._open.add(task)
        try:
            while True:
                call = await _read(reader)
                self.calls.append(call)
                if self.parts is not None and call.path.startswith("/label"):
                    function = call.path.partition("part=")[2].partition("&")[0]
                    writer.write(reply(label_to_wire(self.parts[function])))
                else:
                    await self.behave(call, writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, ValueError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            writer.close()

    def stop(self) -> None:
        """End, and close all connections."""

        async def end() -> None:
            if self._server:
                self._server.close()
            waiting = list(self._open)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(end(), self._loop).result(10)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(10)
            self._loop.close()

    def __enter__(self) -> "Fake":
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()


async def _read(reader: asyncio.StreamReader) -> Call:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip().split("\r\n")
    method, path, _version = first.split(" ")
    headers = {name.lower(): value.strip() for name, _colon, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Call(method, path, headers, body)
