"""The one HTTP client: what counts as an answer, whose connections are closed, and whom it may call."""

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

from pagekin.net import BrokenError, ConnectError, Guard, HttpClient, TooLargeError, parse_allowed
from tests.routers.fakes import Behaviour, Call, Fake, reply, says
from tests.routers.webs import free_ports, wait_for

LOOPBACK = Guard(parse_allowed(["loopback"]))


def call(behave: Behaviour, *bodies: bytes, most: int = 1000) -> tuple[list[Any], Fake]:
    """(what calls in a row give: (status, body) or the error; the server that was asked, stopped)."""
    with Fake(behave) as fake:

        async def whole() -> list[Any]:
            client, found = HttpClient(LOOPBACK), []
            for body in bodies:
                try:
                    got = await client.call(f"{fake.url}search", body, most=most)
                    found.append((got.status, got.body))
                except (ConnectError, BrokenError) as error:
                    found.append(error)
            await client.close()
            return found

        return asyncio.run(whole()), fake


def test_a_call_posts_json_and_keeps_its_connection() -> None:
    async def echo(call: Call, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(call.body))

    found, fake = call(echo, b"one", b"two")
    assert found == [(200, b"one"), (200, b"two")]
    assert fake.connections == 1
    assert fake.calls[0].method == "POST" and fake.calls[0].headers["content-type"] == "application/json"
    assert "accept-encoding" not in fake.calls[0].headers, "answers are not compressed on one machine"


def test_redirects_are_answers_and_not_followed() -> None:
    found, fake = call(says(reply(b"", "302 Found", "Location: http://127.0.0.1:9/\r\n")), b"{}")
    assert found == [(302, b"")] and len(fake.calls) == 1


NO_ANSWER = {
    "no HTTP": (b"SMTP ready\r\n\r\n", BrokenError),
    "too long": (reply(b"a" * 1001), TooLargeError),
    "chunks that are too long": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1f4\r\n%b\r\n" % (b"a" * 500) * 3 + b"0\r\n\r\n",
        TooLargeError,
    ),
    "a cut body": (reply(b"abc", length=10), BrokenError),
    "nothing": (b"", BrokenError),
}


@pytest.mark.parametrize("kind", NO_ANSWER)
def test_what_is_no_whole_answer_breaks_the_call_alone(kind: str) -> None:
    raw, error = NO_ANSWER[kind]

    async def behave(call: Call, writer: asyncio.StreamWriter) -> None:
        if call.body == b"well":
            writer.write(reply(b"well"))
            return
        writer.write(raw)
        await writer.drain()
        if error is BrokenError:
            raise ConnectionError  # the server closes the connection

    found, _fake = call(behave, b"{}", b"well")
    assert isinstance(found[0], error), found
    assert found[1] == (200, b"well")


def test_an_answer_of_just_the_most_is_taken() -> None:
    assert call(says(reply(b"a" * 1000)), b"{}")[0] == [(200, b"a" * 1000)]


def test_an_answer_without_end_is_broken_off() -> None:
    sent = 0

    async def behave(_call: Call, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 10_000)
            await writer.drain()
            sent += 10_000

    found, _fake = call(behave, b"{}")
    assert isinstance(found[0], TooLargeError)
    assert sent < 50_000_000


def test_calls_at_once_have_connections_of_their_own_and_each_its_answer() -> None:
    async def behave(call: Call, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.001 * (int(call.body) * 7 % 13))
        writer.write(reply(call.body))

    with Fake(behave) as fake:

        async def whole() -> None:
            client = HttpClient(LOOPBACK)
            for _ in range(3):
                found = await asyncio.gather(*(client.call(fake.url, b"%d" % n) for n in range(30)))
                assert [one.body for one in found] == [b"%d" % n for n in range(30)]
            await client.close()

        asyncio.run(whole())
        wait_for(lambda: not fake._open)


def test_a_call_that_is_cancelled_closes_its_connection_and_no_other() -> None:
    async def behave(call: Call, writer: asyncio.StreamWriter) -> None:
        if call.body == b"slow":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nsl")
            await writer.drain()
            await asyncio.sleep(600)
        writer.write(reply(call.body))

    with Fake(behave) as fake:

        async def whole() -> None:
            client = HttpClient(LOOPBACK)
            assert (await client.call(fake.url, b"one")).body == b"one"
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await client.call(fake.url, b"slow")
            assert (await client.call(fake.url, b"two")).body == b"two"
            assert (await client.call(fake.url, b"three")).body == b"three"
            assert fake.connections == 2
            await client.close()

        asyncio.run(whole())


# -- whom it calls --------------------------------------------------------------------------------------------------------


def test_nobody_there() -> None:
    (port,) = free_ports(1)

    async def whole() -> None:
        client = HttpClient(LOOPBACK)
        with pytest.raises(ConnectError) as caught:
            await client.call(f"http://127.0.0.1:{port}/search", b"{}")
        assert caught.value.os_error.errno and not caught.value.refused
        await client.close()

    asyncio.run(whole())


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("127.0.0.1", "loopback"), ("localhost", "loopback"), ("[::1]", "loopback"),
        ("[::ffff:127.0.0.1]", "loopback"), ("169.254.169.254", "link-local"),
    ],
)  # fmt: skip
def test_addresses_that_may_not_be_called_are_not(host: str, reason: str) -> None:
    with Fake(says(reply(b"{}"))) as fake:

        async def whole() -> None:
            client = HttpClient(Guard())
            with pytest.raises(ConnectError) as caught:
                await client.call(f"http://{host}:{fake.port}/search", b"{}")
            assert reason in caught.value.refused
            await client.close()

        asyncio.run(whole())
        assert fake.connections == 0


def test_a_host_that_hides_an_address_is_no_address() -> None:
    with Fake(says(reply(b"{}"))) as fake:

        async def whole() -> None:
            client = HttpClient(LOOPBACK)
            with pytest.raises(BrokenError, match="canonical"):
                await client.call(f"http://127.1:{fake.port}/search", b"{}")
            await client.close()

        asyncio.run(whole())
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


def test_https_is_spoken_with_those_whose_certificate_is_trusted(certificate: Path) -> None:
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
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/search"
        trusting = HttpClient(LOOPBACK, tls=ssl.create_default_context(cafile=str(certificate)))
        for _ in range(2):
            assert (await trusting.call(url, b"{}")).body == b"secret"
        strange = HttpClient(LOOPBACK)
        with pytest.raises(ConnectError) as caught:
            await strange.call(url, b"{}")
        assert isinstance(caught.value.os_error, ssl.SSLError) or "certificate" in str(caught.value).lower()
        await trusting.close()
        await strange.close()
        await asyncio.sleep(0.05)
        server.close()

    asyncio.run(whole())
