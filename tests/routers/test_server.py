"""The server under services, uvicorn by its public settings: whole answers, heads with an end, callers that go away."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from pagekin.routers.serve import LARGEST_HEAD, server_config


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Gives back what is posted; in chunks, if it is asked to."""
    if scope["type"] != "http":
        return
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body += message.get("body", b"")
        more = message.get("more_body", False)
    length = [] if scope["path"] == "/chunks" else [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    for start in range(0, len(body), 70_000):
        last = start + 70_000 >= len(body)
        await send({"type": "http.response.body", "body": body[start : start + 70_000], "more_body": not last})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server = uvicorn.Server(server_config(app, lifespan="off"))
    made = socket.socket()
    made.bind(("127.0.0.1", 0))
    made.listen(5)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([made])), daemon=True)
    thread.start()
    yield int(made.getsockname()[1])
    server.should_exit = True
    thread.join(10)
    assert not thread.is_alive()


def request(body: bytes, path: str = "/", more: str = "") -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: x\r\n{more}Content-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.parametrize("path", ["/", "/chunks"])
def test_large_answers_and_many_on_one_connection_come_whole(port: int, path: str) -> None:
    import http.client

    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        for size in (1, 1000, 3_000_000, 7):
            body = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
            connection.request("POST", path, body)
            assert connection.getresponse().read() == body


def test_requests_in_a_row_are_answered_in_a_row_and_the_last_before_the_end(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), 20) as made:
        made.sendall(request(b"one") + request(b"two") + request(b"three", more="Connection: close\r\n"))
        raw = b""
        while piece := made.recv(65536):
            raw += piece
    assert [part[-5:] for part in raw.split(b"HTTP/1.1 200 OK")[1:]] == [b"\r\none", b"\r\ntwo", b"three"]


def test_callers_that_go_away_leave_the_server_well(port: int) -> None:
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", port), 20) as made:
            made.sendall(request(b"x" * 2_000_000)[:1_000_000])
    with socket.create_connection(("127.0.0.1", port), 20) as made:
        made.sendall(request(b"still", more="Connection: close\r\n"))
        raw = b""
        while piece := made.recv(65536):
            raw += piece
    assert raw.endswith(b"\r\n\r\nstill")


def answered(port: int, *pieces: bytes) -> bytes:
    """All that comes back on one connection until it is closed."""
    raw = b""
    with socket.create_connection(("127.0.0.1", port), 20) as made, contextlib.suppress(ConnectionError):
        for piece in pieces:
            made.sendall(piece)
        while piece := made.recv(65536):
            raw += piece
    return raw


@pytest.mark.parametrize(
    "pieces",
    [
        [b"GET / HTTP/1.1\r\n", *[b"X-a: b\r\n" * 1000] * 40],
        [b"GET / HTTP/1.1\r\nX-long: ", *[b"y" * 10_000] * 40],
        [b"GET /", *[b"z" * 10_000] * 40],
        [b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", *[b"T: u\r\n" * 1000] * 40],
    ],
    ids=["many headers", "a long header", "a long address", "many headers after the body"],
)
def test_heads_have_an_end(port: int, pieces: list[bytes]) -> None:
    assert sum(map(len, pieces)) > 2 * LARGEST_HEAD
    raw = answered(port, *pieces)
    assert raw == b"" or raw.startswith(b"HTTP/1.1 400")


def test_a_head_of_ordinary_size_in_pieces_after_a_large_body_is_taken(port: int) -> None:
    first, head = request(b"x" * 1_000_000), request(b"two", more=f"Cookie: {'c' * 20_000}\r\nConnection: close\r\n")
    raw = answered(port, first + head[:5_000], head[5_000:15_000], head[15_000:])
    assert raw.count(b"HTTP/1.1 200 OK") == 2 and raw.endswith(b"two")
