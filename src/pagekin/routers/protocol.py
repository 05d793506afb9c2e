"""HTTP as a router's server speaks it: uvicorn's, but head and body of an answer leave in one piece.

uvicorn writes them one after the other, and each piece costs a call of the system here, and one more where it is read.
"""

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class RouterProtocol(HttpToolsProtocol):
    """uvicorn's protocol over a transport that joins what is written at once."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to speak."""
        super().connection_made(cast(asyncio.Transport, _Joining(transport, self.loop)))


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
        if self._pieces:
            pieces, self._pieces = self._pieces, []
            self._transport.write(b"".join(pieces))

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
