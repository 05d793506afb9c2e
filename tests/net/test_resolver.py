"""Connections under the guard go to the address that was checked, whatever names and redirects say."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

from pagekin.net import (
    AddressRefusedError,
    Guard,
    GuardedResolver,
    guarded_connector,
    parse_allowed,
    parse_names,
    refusal,
)
from tests.sources.robot_server import answer, pages, redirect_to, serve_sites

LOOPBACK = Guard(parse_allowed(["loopback"]))


def lookup(monkeypatch: pytest.MonkeyPatch, answers: Callable[[str], list[str]]) -> list[str]:
    """Resolve names as `answers` says; return the list of names that are looked up."""
    lookups: list[str] = []

    async def getaddrinfo(_loop: Any, host: str, port: int, **_options: Any) -> list[Any]:
        lookups.append(host)
        found = answers(host)
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return [(socket.AF_INET6 if ":" in a else socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, port)) for a in found]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    return lookups


def get(url: str, guard: Guard, names: dict[tuple[str, int], str] | None = None) -> bytes:
    """Fetch `url`, following redirects, and return the body."""

    async def run() -> bytes:
        connector = guarded_connector(guard, names)
        async with aiohttp.ClientSession(connector=connector) as session, session.get(url) as response:
            return await response.read()

    return asyncio.run(run())


def refused(url: str, guard: Guard, names: dict[tuple[str, int], str] | None = None) -> str:
    """Return why a request is refused."""
    with pytest.raises(aiohttp.ClientError) as caught:
        get(url, guard, names)
    return refusal(caught.value)


def test_only_allowed_answers_of_a_name_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    lookup(monkeypatch, lambda _host: ["10.0.0.1", "8.8.8.8", "169.254.169.254", "2606:4700::1111", "::1"])
    found = asyncio.run(GuardedResolver(Guard()).resolve("mixed.example", 80))
    assert [each["host"] for each in found] == ["8.8.8.8", "2606:4700::1111"]
    assert [each["family"] for each in found] == [socket.AF_INET, socket.AF_INET6]


def test_a_name_with_private_addresses_alone_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    lookup(monkeypatch, lambda _host: ["192.168.0.5"])
    with pytest.raises(AddressRefusedError, match=r"inside\.example: 192\.168\.0\.5 is a private address"):
        asyncio.run(GuardedResolver(Guard()).resolve("inside.example", 80))


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "0x7f.1", "2130706433", "127.0.0.1.", "[::ffff:127.0.0.1]", "[::1]"]
)
def test_no_spelling_of_the_loopback_is_connected_to(host: str) -> None:
    with serve_sites({}) as server:
        reason = refused(f"http://{host}:{server.port}/", Guard())
        assert "loopback" in reason or host in ("2130706433", "127.0.0.1.")  # aiohttp itself takes these for no host
        assert server.log == []


def test_a_name_that_changes_its_meaning_gains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS rebinding: the second lookup would give the loopback; there is one lookup per connection, and it is checked."""
    with serve_sites({"rebind.test": pages({"/": answer(b"secret")})}) as server:
        turns = iter(["203.0.113.5", "127.0.0.1", "127.0.0.1"])
        lookups = lookup(monkeypatch, lambda _host: [next(turns)])
        guard = Guard()
        for _ in range(3):
            assert refused(f"http://rebind.test:{server.port}/", guard)
        assert len(lookups) == 3
        assert server.log == []


def test_every_hop_of_a_redirect_is_checked() -> None:
    with serve_sites({}) as server:
        here = server.url("127.0.0.1", "/secret")
        server.sites["open.test"] = pages(
            {"/": redirect_to(here), "/meta": redirect_to("http://169.254.169.254/latest/")}
        )
        only = Guard(parse_allowed(["127.0.0.2"]))
        names = {("open.test", server.port): "127.0.0.1"}
        assert "127.0.0.1 is a loopback" in refused(server.url("open.test"), only, names)
        assert server.log == []
        assert "never allowed" in refused(server.url("open.test", "/meta"), LOOPBACK, names)
        assert [each.path for each in server.log] == ["/meta"]


def test_given_names_are_used_and_checked() -> None:
    with serve_sites({"a.test": pages({"/": answer(b"A")}), "b.test": pages({"/": answer(b"B")})}) as server:
        names = parse_names([f"a.test:{server.port}:127.0.0.1", f"*:{server.port}:127.0.0.1"])
        assert get(server.url("a.test"), LOOPBACK, names) == b"A"
        assert get(server.url("b.test"), LOOPBACK, names) == b"B"
        assert "loopback" in refused(server.url("a.test"), Guard(), names)


@pytest.mark.parametrize("setting", ["", "a.test", "a.test:80", "a.test:x:1.2.3.4", "a.test:80:x", ":80:1.2.3.4", "a:0:1.2.3.4",
                                     "a:70000:1.2.3.4", "a:80:1.2.3", "a:80:"])  # fmt: skip
def test_a_wrong_name_says_what_to_write(setting: str) -> None:
    with pytest.raises(ValueError, match="HOST:PORT:ADDRESS"):
        parse_names([setting])


def test_names_take_ipv6_addresses() -> None:
    assert parse_names(["A.test.:443:[::1]", "b:80:fd00::1"]) == {("a.test", 443): "::1", ("b", 80): "fd00::1"}


def test_an_ordinary_error_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    lookup(monkeypatch, lambda _host: [])
    assert refused("http://nowhere.example/", LOOPBACK) == ""
    assert refusal(None) == ""
