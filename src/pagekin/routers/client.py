"""A lean HTTP/1.1 client for calls between routers: a search makes hundreds, and a general client took a third of its time.

It only posts JSON, follows no redirects, asks for no compression and keeps no cookies. Addresses are resolved and checked by
the guard for each connection. It has no timers: whoever calls ends what takes too long.
"""

import asyncio
import ssl
import time
from functools import cache
from typing import cast

import httptools
from yarl import URL

from pagekin.net import Guard, guarded_socket
from pagekin.routers.bounds import LARGEST_ANSWER

Reply = tuple[int, bytes]
"""The status of an answer, and its body."""
_LARGEST_HEAD = 1 << 16
"""Bytes before the body of an answer, at most."""
_KEPT = 75.0
"""Seconds for which a connection that nobody uses is kept: servers of ours close theirs after 120."""
_MOST_KEPT = 64


class ConnectError(Exception):
    """No connection was made; `os_error` says why."""

    def __init__(self, os_error: OSError) -> None:
        super().__init__(str(os_error))
        self.os_error = os_error


class BrokenError(Exception):
    """A connection that gave no whole answer; the message says what went wrong."""


class TooLargeError(BrokenError):
    """An answer that is larger than it may be."""


class _StaleError(BrokenError):
    """A connection that was kept, and had been closed by the server: no fault of anybody."""


class Client:
    """Calls servers, and keeps the connections to them. It lives in one event loop."""

    def __init__(self, guard: Guard, most: int = LARGEST_ANSWER, tls: ssl.SSLContext | None = None) -> None:
        self._guard, self._most, self._tls = guard, most, tls
        self._peers: dict[str, _Peer] = {}

    async def post(self, url: str, operation: str, body: bytes, most: int | None = None) -> Reply:
        """What the server at `url` answers to JSON that is posted to an operation, in `most` bytes.

        A ConnectError or a BrokenError if it does not. A call that is cancelled closes its connection, and so does an answer
        that is larger: no more of it is read.
        """
        peer = self._peers.get(url)
        if peer is None:
            peer = self._peers[url] = _Peer(URL(url), self._guard, self._tls)
        return await peer.post(operation, body, self._most if most is None else min(most, self._most))

    def close(self) -> None:
        """Close all connections."""
        for peer in self._peers.values():
            peer.close()


class _Peer:
    """One server, and the connections to it."""

    def __init__(self, url: URL, guard: Guard, tls: ssl.SSLContext | None) -> None:
        self._host, self._port = url.raw_host or "", url.port or 80
        self._guard = guard
        self._tls = (tls or _tls()) if url.scheme == "https" else None
        self._path = url.raw_path.rstrip("/")
        self._named = url.host_port_subcomponent
        self._heads: dict[str, bytes] = {}
        self.open: set[_Connection] = set()
        self._idle: list[tuple[float, _Connection]] = []
        """Connections that wait for a call, by the time since when, the latest last."""

    async def post(self, operation: str, body: bytes, most: int) -> Reply:
        request = b"%b%d\r\n\r\n%b" % (self._head(operation), len(body), body)
        if (kept := self._take()) is not None:
            try:
                return await kept.exchange(request, most)
            except _StaleError:
                pass
        return await (await self._connected()).exchange(request, most)

    def _head(self, operation: str) -> bytes:
        """What stands before the length of a body."""
        if operation not in self._heads:
            self._heads[operation] = (
                f"POST {self._path}/{operation} HTTP/1.1\r\nHost: {self._named}\r\nAccept: application/json\r\n"
                "Content-Type: application/json\r\nContent-Length: "
            ).encode("ascii")
        return self._heads[operation]

    async def _connected(self) -> "_Connection":
        loop = asyncio.get_running_loop()
        try:
            made = await guarded_socket(self._guard, self._host, self._port)
            try:
                name = self._host if self._tls else None
                _transport, connection = await loop.create_connection(
                    lambda: _Connection(self), sock=made, ssl=self._tls, server_hostname=name
                )
            except BaseException:
                made.close()
                raise
        except OSError as error:
            raise ConnectError(error) from error
        return connection

    def _take(self) -> "_Connection | None":
        """A connection that was kept, the one that was used last."""
        return self._idle.pop()[1] if self._idle and self._idle[-1][0] > time.monotonic() - _KEPT else None

    def keep(self, connection: "_Connection") -> None:
        """Keep a connection for the next call, and close those that were kept for too long."""
        now = time.monotonic()
        self._idle.append((now, connection))
        while self._idle and (self._idle[0][0] < now - _KEPT or len(self._idle) > _MOST_KEPT):
            self._idle.pop(0)[1].abort()

    def forget(self, connection: "_Connection") -> None:
        """Note that a connection was closed."""
        self.open.discard(connection)
        self._idle = [pair for pair in self._idle if pair[1] is not connection]

    def close(self) -> None:
        for connection in list(self.open):
            connection.abort()


class _Connection(asyncio.Protocol):
    """One connection: a request, its answer, the next request."""

    def __init__(self, peer: _Peer) -> None:
        self._peer = peer
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport
        self._waiting: asyncio.Future[Reply] | None = None
        self._used = False
        self._begin(0)

    def _begin(self, most: int) -> None:
        """Nothing is known of the answer yet, but how many bytes it may have."""
        self._most = most
        self._body: list[bytes] = []
        self._size = self._told = self._head_size = self._trailer_size = self._status = 0
        self._headed = self._bounded = self._whole = self._lasting = self._after = False

    async def exchange(self, request: bytes, most: int) -> Reply:
        """The answer to a request, in `most` bytes."""
        self._begin(most)
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        try:
            return await self._waiting
        except asyncio.CancelledError:
            # What still comes would be taken for the answer to the next request.
            self.abort()
            raise

    def abort(self) -> None:
        """Close the connection at once."""
        self._peer.forget(self)
        self._transport.abort()

    # -- what the event loop tells ----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._peer.open.add(self)

    def data_received(self, data: bytes) -> None:
        waiting = self._waiting
        if waiting is None or waiting.done():
            self.abort()  # nobody asked
            return
        if not self._headed:
            self._head_size += len(data)
        fault = ""
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            fault = f"it answered no HTTP: {str(error)[:200]}"
        if self._size > self._most:
            self._fail(waiting, TooLargeError(f"its answer is larger than {self._most:,} bytes"))
        elif self._whole:
            self._answer(waiting, keep=self._lasting and not self._after and not fault)
        elif fault:
            self._fail(waiting, BrokenError(fault))
        elif (self._trailer_size if self._headed else self._head_size) > _LARGEST_HEAD:
            self._fail(waiting, BrokenError(f"the head of its answer is larger than {_LARGEST_HEAD:,} bytes"))

    def connection_lost(self, error: Exception | None) -> None:
        self._peer.forget(self)
        waiting = self._waiting
        if waiting is None or waiting.done():
            return
        if self._headed and not self._bounded and error is None:
            self._answer(waiting, keep=False)
        elif self._used and not self._head_size:
            waiting.set_exception(_StaleError("the connection was closed"))
        else:
            amid = " amid its answer" if self._headed else ""
            waiting.set_exception(BrokenError(f"the connection was closed{amid}"))

    def _answer(self, waiting: "asyncio.Future[Reply]", keep: bool) -> None:
        body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        waiting.set_result((self._status, body))
        self._body, self._used = [], True
        # A server that answers before it has read all may take the rest for the next request.
        if keep and not self._transport.get_write_buffer_size():
            self._peer.keep(self)
        else:
            self.abort()

    def _fail(self, waiting: "asyncio.Future[Reply]", error: BrokenError) -> None:
        waiting.set_exception(error)
        self.abort()

    # -- what the parser tells --------------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        self._after = self._after or self._whole

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._headed:  # what follows chunks tells nothing
            self._trailer_size += len(name) + len(value)
            return
        lowered = name.lower()
        if lowered == b"content-length":
            self._bounded, self._told = True, int(value)
        elif lowered == b"transfer-encoding":
            self._bounded = value.lower().endswith(b"chunked")

    def on_headers_complete(self) -> None:
        if self._headed:
            return
        self._status = self._parser.get_status_code()
        # 100 Continue and its like come before the answer.
        self._headed = self._status >= 200
        self._size = self._told if self._headed and self._told > self._most else 0
        if not self._headed:
            self._bounded, self._told = False, 0

    def on_body(self, data: bytes) -> None:
        if self._whole:
            return
        self._size += len(data)
        if self._size <= self._most:
            self._body.append(data)

    def on_message_complete(self) -> None:
        if self._headed and not self._whole:
            self._whole, self._lasting = True, self._parser.should_keep_alive()


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()
