"""What the client between routers asks, and what it takes for an answer, by servers that answer in every odd way."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.routers.client import BrokenError, Client, Reply, TooLargeError, _Connection, _Peer

from .clients import LOOPBACK, Run, once
from .fakes import Call, Fake, reply, says

# -- requests -------------------------------------------------------------------------------------------------------------


def test_a_request_is_what_http_wants(run: Run) -> None:
    body = json.dumps({"query": "é" * 10_000}).encode()
    with Fake(says(reply(b"{}"))) as fake:

        async def whole() -> Reply:
            client = Client(LOOPBACK)
            try:
                return await client.post(f"{fake.url}edu/m%20it/", "search", body)
            finally:
                client.close()

        assert run(whole()) == (200, b"{}")
    (call,) = fake.calls
    assert (call.method, call.path, call.body) == ("POST", "/edu/m%20it/search", body)
    assert call.headers["host"] == f"127.0.0.1:{fake.port}"
    assert call.headers["content-type"] == "application/json"
    assert "accept-encoding" not in call.headers and "cookie" not in call.headers


@pytest.mark.parametrize(
    ("url", "host", "target"),
    [
        ("http://a.example/", "a.example", "/show"),
        ("http://a.example:80/x", "a.example", "/x/show"),
        ("https://a.example:443/", "a.example", "/show"),
        ("https://a.example:8443/x/", "a.example:8443", "/x/show"),
        ("http://[::1]:8700/", "[::1]:8700", "/show"),
        ("http://bücher.example/", "xn--bcher-kva.example", "/show"),
    ],
)
def test_servers_are_called_by_their_names(url: str, host: str, target: str) -> None:
    from yarl import URL

    head = _Peer(URL(url), LOOPBACK, None)._head("show").decode()
    assert head.startswith(f"POST {target} HTTP/1.1\r\nHost: {host}\r\n")


# -- answers, whole and in pieces -----------------------------------------------------------------------------------------


class Wire(asyncio.Transport):
    """A transport to nowhere, which notes what happens to it."""

    def __init__(self, unwritten: int = 0) -> None:
        super().__init__()
        self.aborted, self.unwritten = False, unwritten

    def write(self, data: Any) -> None:
        pass

    def abort(self) -> None:
        self.aborted = True

    def get_write_buffer_size(self) -> int:
        return self.unwritten


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 9\r\n\r\n"
WHOLE: dict[str, tuple[bytes, bool, Reply, bool]] = {
    "with a length": (b"HTTP/1.1 200 OK\r\ncontent-LENGTH:  5 \r\nX: y\r\n\r\nabcde", False, (200, b"abcde"), True),
    "in chunks": (CHUNKED, False, (200, b"abcde"), True),
    "until the end": (b"HTTP/1.1 200 OK\r\n\r\nabcde", True, (200, b"abcde"), False),
    "of 1.0": (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nab", False, (200, b"ab"), False),
    "and close": (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab", False, (200, b"ab"), False),
    "without a body": (b"HTTP/1.1 204 Nothing\r\n\r\n", False, (204, b""), True),
    "after 100": (b"HTTP/1.1 100 Continue\r\n\r\n" + CHUNKED, False, (200, b"abcde"), True),
    "after hints": (b"HTTP/1.1 103 Hints\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\nab", True, (200, b"ab"), False),
    "of an error": (b"HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno", False, (503, b"no"), True),
    "and one more": (reply(b"ab") + reply(b"other", "404 Not"), False, (200, b"ab"), False),
    "and garbage": (reply(b"ab") + b"\0\xff" * 9, False, (200, b"ab"), False),
    "that moves": (reply(b"ab", "302 Found", "Location: http://x/\r\n"), False, (302, b"ab"), True),
}  # fmt: skip


async def fed(pieces: list[bytes], closed: bool, unwritten: int = 0, most: int = 1000) -> tuple[Reply, bool]:
    """(the answer to a request, whether the connection is kept) when the answer comes in these pieces."""
    from yarl import URL

    peer = _Peer(URL("http://a.example/"), LOOPBACK, None)
    connection, wire = _Connection(peer), Wire(unwritten)
    connection.connection_made(wire)
    task = asyncio.create_task(connection.exchange(b"request", most))
    await asyncio.sleep(0)
    for piece in pieces:
        if wire.aborted:
            break
        connection.data_received(piece)
    if closed:
        connection.connection_lost(None)
    found = await asyncio.wait_for(task, 5)
    assert wire.aborted != bool(peer._idle) or closed
    return found, bool(peer._idle)


@pytest.mark.parametrize("kind", WHOLE)
def test_an_answer_is_the_same_wherever_it_is_cut(kind: str) -> None:
    raw, closed, answer, kept = WHOLE[kind]

    async def every() -> None:
        assert await fed([raw], closed) == (answer, kept)
        for cut in range(1, len(raw)):
            found, still = await fed([raw[:cut], raw[cut:]], closed)
            # What comes after the answer is noticed only where it comes with its end, or later.
            assert (found, still) == (answer, kept) or (kind.startswith("and ") and found == answer)
        assert (await fed([raw[at : at + 1] for at in range(len(raw))], closed))[0] == answer

    asyncio.run(every())


@given(st.binary(max_size=300), st.lists(st.integers(1, 40), max_size=20))
@settings(max_examples=300, deadline=None)
def test_no_bytes_do_more_than_break_the_call(raw: bytes, sizes: list[int]) -> None:
    for start in (b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"):
        whole, pieces = start + raw, []
        for size in sizes:
            pieces.append(whole[:size])
            whole = whole[size:]
        try:
            (status, body), _kept = asyncio.run(fed([*filter(None, pieces), whole or b" "], closed=True, most=50))
        except BrokenError:
            continue
        assert 200 <= status < 1000 and len(body) <= 50


def test_a_connection_whose_request_was_not_read_is_not_used_again() -> None:
    refused = reply(b"{}", "413 Too Large")
    assert asyncio.run(fed([refused], False)) == ((413, b"{}"), True)
    assert asyncio.run(fed([refused], False, unwritten=1)) == ((413, b"{}"), False)


@pytest.mark.parametrize("kind", WHOLE)
def test_answers_come_over_sockets_and_only_sound_connections_are_used_again(run: Run, kind: str) -> None:
    raw, closed, answer, kept = WHOLE[kind]

    async def behave(_call: Call, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        if closed:
            await writer.drain()
            raise ConnectionError

    found, fake = once(run, behave, 3)
    assert found == [answer] * 3
    assert fake.connections == (1 if kept else 3)


# -- answers that are none ------------------------------------------------------------------------------------------------

NONE: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "the connection was closed"),
    "half a head": (b"HTTP/1.1 200 OK\r\nContent-Le", "the connection was closed"),
    "a 100 alone": (b"HTTP/1.1 100 Continue\r\n\r\n", "the connection was closed"),
    "half a body": (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", "closed amid its answer"),
    "half a chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", "closed amid its answer"),
    "no last chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "closed amid its answer"),
    "another protocol": (b"SSH-2.0-rubbish\r\n", "no HTTP"),
    "two lengths": (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc", "no HTTP"),
    "a length and chunks": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", "no HTTP",
    ),
    "a negative length": (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "no HTTP"),
    "an upgrade": (b"HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello", "no HTTP"),
    "a long head": (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000, "head of its answer is larger"),
    "many hints": (b"HTTP/1.1 103 Hints\r\n\r\n" * 10_000, "head of its answer is larger"),
    "a large length": (b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", "larger than 1,000 bytes"),
    "a large body": (reply(b"a" * 1001), "larger than 1,000 bytes"),
    "large chunks": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1f4\r\n%b\r\n" % (b"a" * 500) * 3, "larger than 1,000",
    ),
    "a large rest": (b"HTTP/1.1 200 OK\r\n\r\n" + b"a" * 1001, "larger than 1,000 bytes"),
}  # fmt: skip


@pytest.mark.parametrize("kind", NONE)
def test_what_is_no_whole_answer_breaks_the_call_alone(run: Run, kind: str) -> None:
    raw, reason = NONE[kind]
    calls = 0

    async def behave(_call: Call, writer: asyncio.StreamWriter) -> None:
        nonlocal calls
        calls += 1
        writer.write(raw if calls == 1 else reply(b"well"))
        if calls == 1 and "closed" in reason:
            await writer.drain()
            raise ConnectionError

    found, fake = once(run, behave, 2)
    assert isinstance(found[0], BrokenError) and reason in str(found[0])
    assert isinstance(found[0], TooLargeError) == ("larger than 1,000" in reason)
    assert found[1] == (200, b"well")
    assert (fake.connections, len(fake.calls)) == (2, 2), "nothing is repeated where a server broke its word"


def test_an_answer_of_just_the_most_is_taken(run: Run) -> None:
    assert once(run, says(reply(b"a" * 1000)))[0] == [(200, b"a" * 1000)]


def test_an_answer_without_end_is_broken_off(run: Run) -> None:
    sent = 0

    async def behave(_call: Call, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 10_000)
            await writer.drain()
            sent += 10_000

    found, _fake = once(run, behave, most=100_000)
    assert isinstance(found[0], TooLargeError)
    assert sent < 50_000_000
