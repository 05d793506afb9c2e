"""HTTP as a router's server speaks it: uvicorn's, within limits, and with head and body of an answer in one piece.

uvicorn takes heads of any length, any number of requests ahead of their answers, and waits forever for the rest of a request.
It writes head and body one after the other, and each piece costs a call of the system here, and one more where it is read.
"""

import asyncio
import time
from collections.abc import Iterable
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 64 << 10
"""Bytes of a request's line and headers, those after a body included."""
MOST_AHEAD = 32
"""Requests on one connection that wait for the answers to those before them."""
PATIENCE = 30.0
"""Seconds in which a request must have come, once the connection is made or it has begun."""


class _UnwelcomeError(Exception):
    """A request beyond the limits; uvicorn answers that it is invalid, and closes."""


class RouterProtocol(HttpToolsProtocol):
    """uvicorn's protocol with limits, over a transport that joins what is written at once."""

    waits_since: float | None = None
    """When the request began that has not come whole yet, or the connection on which none has."""
    _head = _heads = 0
    _in_head = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to speak."""
        self.waits_since = time.monotonic()
        super().connection_made(cast(asyncio.Transport, _Joining(transport, self.loop)))

    def data_received(self, data: bytes) -> None:
        """Take what came; a head that does not end is not waited for."""
        heads, in_head = self._heads, self._in_head
        super().data_received(data)
        if in_head and self._in_head and heads == self._heads:  # all of it was one head, which goes on
            self._head += len(data)
            if self._head > LARGEST_HEAD and not self.transport.is_closing():
                self.send_400_response("Request head is too large.")

    def on_message_begin(self) -> None:
        """A request begins."""
        self._head, self._in_head = 0, True
        self._heads += 1
        self.waits_since = time.monotonic()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """A piece of the address."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, before the body or after it."""
        self._count(len(name) + len(value) + 4)
        super().on_header(name, value)

    def _count(self, size: int) -> None:
        self._head += size
        if self._head > LARGEST_HEAD:
            raise _UnwelcomeError("the head of the request is too large")

    def on_headers_complete(self) -> None:
        """The head ends."""
        self._in_head = False
        if len(self.pipeline) >= MOST_AHEAD:
            raise _UnwelcomeError("too many requests ahead of their answers")
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request ends."""
        self.waits_since = None
        super().on_message_complete()


async def dismiss_idlers(connections: Iterable[Any]) -> None:
    """Close connections on which a request does not come to its end, again and again."""
    while True:
        await asyncio.sleep(PATIENCE / 6)
        oldest = time.monotonic() - PATIENCE
        for one in list(connections):
            if isinstance(one, RouterProtocol) and one.waits_since is not None and one.waits_since < oldest:
                one.transport.close()


class _Joining:
    """A transport that passes on what is written in one turn of the event loop as one piece."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._pieces:
            self._loop.call_soon(self._flush)
        self._pieces.append(data)

    def _flush(self) -> None:
        pieces, self._pieces = self._pieces, []
        if pieces and not self._transport.is_closing():
            self._transport.write(b"".join(pieces))

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
