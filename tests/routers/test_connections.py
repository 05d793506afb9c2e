"""Connections of the client between routers: which are kept, which are closed, and to whom they may be made."""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from pagekin.net import Guard, refusal
from pagekin.routers import client as client_module
from pagekin.routers.client import BrokenError, Client, ConnectError

from .clients import LOOPBACK, Run, asked, once
from .fakes import Call, Fake, reply, says
from .webs import free_ports, wait_for

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
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a key and a certificate of 127.0.0.1 that nobody has signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "here")]), datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "own.pem"
    path.write_bytes(made.public_bytes(Encoding.PEM))
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    Path(f"{path}.key").write_bytes(secret)
    return path


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
