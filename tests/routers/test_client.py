"""The client between routers, against servers on raw sockets that answer in every odd way."""

import asyncio
import json
import shutil
import ssl
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
import uvloop
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.net import Guard, parse_allowed, refusal
from pagekin.routers import client as client_module
from pagekin.routers.client import BrokenError, Client, ConnectError, Reply, TooLargeError, _Connection, _Peer

from .fakes import Behaviour, Call, Fake, reply, says
from .webs import free_ports, wait_for

T = TypeVar("T")
LOOPBACK = Guard(parse_allowed(["loopback"]))
LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}


@pytest.fixture(params=LOOPS)
def run(request: pytest.FixtureRequest) -> Callable[[Awaitable[T]], T]:
    """What runs a coroutine in each of the event loops that servers use."""

    def runs(coroutine: Any) -> Any:
        with asyncio.Runner(loop_factory=LOOPS[request.param]) as runner:
            return runner.run(asyncio.wait_for(coroutine, 20))

    return runs


Run = Callable[[Any], Any]


async def asked(client: Client, fake: Fake, count: int = 1, body: bytes = b"{}") -> list[Reply | Exception]:
    """What some calls in a row give."""
    found: list[Reply | Exception] = []
    for _ in range(count):
        try:
            found.append(await client.post(fake.url, "search", body))
        except (ConnectError, BrokenError) as error:
            found.append(error)
    return found


def once(run: Run, behave: Behaviour, count: int = 1, most: int = 1000) -> tuple[list[Any], Fake]:
    """(what calls in a row give, the server that was asked, stopped)."""
    with Fake(behave) as fake:

        async def whole() -> list[Reply | Exception]:
            client = Client(LOOPBACK, most)
            try:
                return await asked(client, fake, count)
            finally:
                client.close()

        return run(whole()), fake


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

    head = _Peer(URL(url), LOOPBACK, 10, None)._head("show").decode()
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

    peer = _Peer(URL("http://a.example/"), LOOPBACK, most, None)
    connection, wire = _Connection(peer), Wire(unwritten)
    connection.connection_made(wire)
    task = asyncio.create_task(connection.exchange(b"request"))
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


# -- connections that are kept --------------------------------------------------------------------------------------------


async def only_once(call: Call, writer: asyncio.StreamWriter, seen: dict[Any, int]) -> None:
    """Answer the first request of a connection, and close it at the next."""
    seen[writer] = seen.get(writer, 0) + 1
    if seen[writer] > 1:
        raise ConnectionError
    writer.write(reply(call.body))


def test_a_kept_connection_that_the_server_closes_at_the_next_request_is_no_fault(run: Run) -> None:
    seen: dict[Any, int] = {}
    found, fake = once(run, lambda call, writer: only_once(call, writer, seen), 3)
    assert found == [(200, b"{}")] * 3
    assert fake.connections == 3
    assert len(fake.calls) == 5, "the second and the third request were sent twice"


def test_a_request_is_repeated_once_only(run: Run) -> None:
    calls = 0

    async def behave(_call: Call, writer: asyncio.StreamWriter) -> None:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise ConnectionError
        writer.write(reply(b"{}"))

    found, fake = once(run, behave, 2)
    assert found[0] == (200, b"{}") and isinstance(found[1], BrokenError)
    assert (fake.connections, len(fake.calls)) == (2, 3)


def test_a_kept_connection_that_breaks_amid_an_answer_is_not_tried_again(run: Run) -> None:
    async def behave(_call: Call, writer: asyncio.StreamWriter) -> None:
        if len(fakes) and len(fakes[0].calls) > 1:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")
            await writer.drain()
            raise ConnectionError
        writer.write(reply(b"{}"))

    fakes: list[Fake] = []
    with Fake(behave) as fake:
        fakes.append(fake)

        async def whole() -> list[Any]:
            client = Client(LOOPBACK)
            try:
                return await asked(client, fake, 2)
            finally:
                client.close()

        found = run(whole())
    assert isinstance(found[1], BrokenError) and "amid" in str(found[1])
    assert (fake.connections, len(fake.calls)) == (1, 2)


def test_connections_that_a_server_closed_in_between_are_forgotten(run: Run) -> None:
    with Fake(says(reply(b"{}"))) as first:

        async def whole() -> list[Any]:
            client = Client(LOOPBACK)
            before = await asked(client, first)
            peer = next(iter(client._peers.values()))
            assert len(peer._idle) == len(peer.open) == 1
            first.stop()
            while peer._idle:
                await asyncio.sleep(0.005)
            assert not peer.open
            try:
                with Fake(says(reply(b"again")), port=first.port):
                    return before + await asked(client, first)
            finally:
                client.close()

        assert run(whole()) == [(200, b"{}"), (200, b"again")]


def test_connections_are_kept_for_a_while_only(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_KEPT", -1.0)
    found, fake = once(run, says(reply(b"{}")), 3)
    assert found == [(200, b"{}")] * 3 and fake.connections == 3


def test_calls_at_once_have_connections_of_their_own_and_each_its_answer(run: Run) -> None:
    async def behave(call: Call, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.001 * (int(call.body) * 7 % 13))
        writer.write(reply(call.body))

    with Fake(behave) as fake:

        async def whole() -> None:
            client = Client(LOOPBACK)
            for _ in range(3):
                found = await asyncio.gather(*(client.post(fake.url, "search", b"%d" % n) for n in range(30)))
                assert found == [(200, b"%d" % n) for n in range(30)]
            assert fake.connections == 30
            client.close()

        run(whole())
        wait_for(lambda: not fake._open)


def test_no_more_connections_are_kept_than_may_be(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_MOST_KEPT", 3)
    with Fake(says(reply(b"{}"))) as fake:

        async def whole() -> None:
            client = Client(LOOPBACK)
            await asyncio.gather(*(client.post(fake.url, "search", b"{}") for _ in range(20)))
            peer = next(iter(client._peers.values()))
            assert len(peer._idle) == 3
            while len(peer.open) > 3:
                await asyncio.sleep(0.005)
            client.close()

        run(whole())


def test_a_call_that_is_cancelled_closes_its_connection_and_no_other(run: Run) -> None:
    async def behave(call: Call, writer: asyncio.StreamWriter) -> None:
        if call.body == b"slow":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nsl")
            await writer.drain()
            await asyncio.sleep(600)
        writer.write(reply(call.body))

    with Fake(behave) as fake:

        async def whole() -> None:
            client = Client(LOOPBACK)
            assert await client.post(fake.url, "search", b"one") == (200, b"one")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await client.post(fake.url, "search", b"slow")
            assert await client.post(fake.url, "search", b"two") == (200, b"two")
            assert await client.post(fake.url, "search", b"three") == (200, b"three")
            assert fake.connections == 2
            (peer,) = client._peers.values()
            while len(peer.open) > 1:
                await asyncio.sleep(0.005)
            client.close()

        run(whole())


def test_closing_ends_calls_that_wait(run: Run) -> None:
    async def hang(_call: Call, _writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(600)

    with Fake(hang) as fake:

        async def whole() -> None:
            client = Client(LOOPBACK)
            call = asyncio.create_task(client.post(fake.url, "search", b"{}"))
            while not fake.calls:
                await asyncio.sleep(0.005)
            client.close()
            with pytest.raises(BrokenError, match="closed"):
                await call

        run(whole())


# -- whom it calls --------------------------------------------------------------------------------------------------------


def test_nobody_there(run: Run) -> None:
    (port,) = free_ports(1)

    async def whole() -> None:
        with pytest.raises(ConnectError) as caught:
            await Client(LOOPBACK).post(f"http://127.0.0.1:{port}/", "search", b"{}")
        assert caught.value.os_error.errno

    run(whole())


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("127.0.0.1", "loopback"), ("localhost", "loopback"), ("127.1", "loopback"), ("[::1]", "loopback"),
        ("[::ffff:127.0.0.1]", "loopback"), ("169.254.169.254", "link-local"),
    ],
)  # fmt: skip
def test_addresses_that_may_not_be_called_are_not(run: Run, host: str, reason: str) -> None:
    with Fake(says(reply(b"{}"))) as fake:

        async def whole() -> None:
            with pytest.raises(ConnectError) as caught:
                await Client(Guard()).post(f"http://{host}:{fake.port}/", "search", b"{}")
            assert reason in refusal(caught.value)

        run(whole())
        assert fake.connections == 0


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file with a key and a certificate of 127.0.0.1 that nobody has signed."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl to make a certificate")
    path = tmp_path_factory.mktemp("tls") / "own.pem"
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{path}.key", "-out", str(path)]
    more = ["-days", "2", "-subj", "/CN=here", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*command, *more], check=True, capture_output=True)
    yield path


def test_https_is_spoken_with_those_whose_certificate_is_trusted(run: Run, certificate: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                assert head.startswith(b"POST /search")
                await reader.readexactly(2)
                writer.write(reply(b"secret"))
        except (asyncio.IncompleteReadError, OSError):
            writer.close()

    async def whole() -> None:
        own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        own.load_cert_chain(certificate, f"{certificate}.key")
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=own)
        port = server.sockets[0].getsockname()[1]
        trusting = Client(LOOPBACK, tls=ssl.create_default_context(cafile=str(certificate)))
        for _ in range(2):
            assert await trusting.post(f"https://127.0.0.1:{port}/", "search", b"{}") == (200, b"secret")
        (peer,) = trusting._peers.values()
        assert len(peer.open) == 1
        strange = Client(LOOPBACK)
        with pytest.raises(ConnectError) as caught:
            await strange.post(f"https://127.0.0.1:{port}/", "search", b"{}")
        assert isinstance(caught.value.os_error, ssl.SSLError)
        trusting.close()
        await asyncio.sleep(0.05)
        server.close()

    run(whole())
