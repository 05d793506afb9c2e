"""Asking from outside: in time whatever the other does, past proxies, at addresses that may be called."""

import asyncio
import time
from pathlib import Path

import pytest

from pagekin.collection import Answer, Health, SearchRequest, ServiceError
from pagekin.net import Guard, parse_allowed
from pagekin.routers import BlockingService, Network, address_of, ask_health, open_service
from pagekin.routers.network import Node
from pagekin.routers.opening import fetch

from .bad_children import hang
from .fakes import Call, Fake, reply, says, tells
from .webs import SLACK, free_ports

_QUERY = SearchRequest(query="x", deadline=0.05)
_SECONDS = 1.0
_HEALTH = {
    "name": "x", "leaf": True, "level": 0, "ready": True, "version": "1", "documents": 7, "label_bytes": 1,
    "label_age": 0.0, "etags": {}, "uptime": 1.0, "requests": 0,
}  # fmt: skip


def ask(target: str, operation: str, request: SearchRequest) -> Answer:
    """Ask a target, and close it."""
    service = BlockingService(open_service(target))
    try:
        answer: Answer = service.ask(getattr(service.service, operation), request)
    finally:
        service.close()
    return answer


async def drip_body(_call: Call, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    await _drip(writer)


async def drip_head(_call: Call, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    await _drip(writer)


async def drip_error(_call: Call, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 500 No\r\nContent-Length: 1000\r\n\r\n")
    await _drip(writer)


async def _drip(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("behave", [drip_body, drip_head, drip_error, hang], ids=lambda one: one.__name__)
def test_whoever_answers_byte_by_byte_is_not_waited_for(behave: object) -> None:
    with Fake(behave) as slow:  # type: ignore[arg-type]  # one of the above
        began = time.monotonic()
        with pytest.raises(ServiceError, match=r"did not answer within 1\.05 s"):
            ask(slow.url, "search", _QUERY)
        with pytest.raises(ServiceError, match="did not answer within 1 s"):
            fetch(slow.url, "health", Health, _SECONDS)
        assert time.monotonic() - began < 2 * _SECONDS + SLACK


def test_a_proxy_is_not_asked_for_what_is_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    (nobody,) = free_ports(1)
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{nobody}/")
    monkeypatch.delenv("no_proxy", raising=False)
    with Fake(tells({"total": 3})) as router:
        assert ask(router.url, "search", _QUERY).total == 3
        assert ask(router.url.replace("127.0.0.1", "localhost"), "search", _QUERY).total == 3
    with Fake(tells({"total": 4})) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        assert ask("http://elsewhere.example/", "search", _QUERY).total == 4, "others are reached through it"
        assert proxy.calls[0].path == "http://elsewhere.example/search"


def test_redirects_are_told_and_not_followed() -> None:
    with Fake(tells({"total": 3})) as target:
        leads = says(reply(b"", "302 Hit", f"Location: {target.url}search\r\n"))
        with Fake(leads) as moved, pytest.raises(ServiceError, match=f"answered 302: it leads to {target.url}search"):
            ask(moved.url, "search", _QUERY)
        assert target.connections == 0


def test_status_calls_what_routers_may_call_and_nothing_else() -> None:
    with Fake(tells(_HEALTH)) as fake:
        by_name = fake.url.replace("127.0.0.1", "localhost")
        nodes = [
            Node("here", fake.url, True, Path("x.kin"), ("root",)),
            Node("theirs", by_name, True, None, ("root",), here=False),
            Node("clouds", "http://169.254.169.254/", True, None, ("root",), here=False),
            Node("root", "http://127.0.0.1:9/", False),
        ]
        rows = {row["name"]: row for row in ask_health(Network.of("x", nodes), 2.0)}
        assert (rows["here"]["up"], rows["here"]["documents"]) == (True, 7)
        assert "loopback" in rows["theirs"]["error"] and 'allow = ["loopback"]' in rows["theirs"]["error"]
        assert "never allowed" in rows["clouds"]["error"] and "allow =" not in rows["clouds"]["error"]
        assert "refused" in rows["root"]["error"].lower()
        assert len(fake.calls) == 1


def test_the_guard_judges_what_a_name_means() -> None:
    with Fake(tells(_HEALTH)) as fake:
        by_name = fake.url.replace("127.0.0.1", "localhost")
        assert fetch(by_name, "health", Health, guard=Guard(parse_allowed(["loopback"]))).documents == 7
        with pytest.raises(ServiceError, match="loopback"):
            fetch(by_name, "health", Health, guard=Guard())
        assert len(fake.calls) == 1


@pytest.mark.parametrize(
    ("target", "address"),
    [
        ("http://a.example/", "http://a.example/"),
        ("HTTP://a.example:8700", "http://a.example:8700"),
        ("HttpS://a.example/x/", "https://a.example/x/"),
        ("127.0.0.3:22901", "http://127.0.0.3:22901"),
        ("localhost:80/edu/", "http://localhost:80/edu/"),
        ("[::1]:80", "http://[::1]:80"),
        ("site.kin", ""),
        ("folder/site.kin", ""),
        ("C:80", ""),
    ],
)
def test_what_is_an_address(target: str, address: str) -> None:
    assert address_of(target) == address


def test_a_networks_folder_names_its_root(tmp_path: Path) -> None:
    roots = [Node("one", "http://127.0.0.1:8700/", False), Node("two", "http://127.0.0.1:8701/", False)]
    (tmp_path / "network.toml").write_text(Network.of("x", roots[:1]).to_toml())
    assert address_of(str(tmp_path)) == roots[0].url
    assert address_of(str(tmp_path / "network.toml")) == roots[0].url
    (tmp_path / "network.toml").write_text(Network.of("x", roots).to_toml())
    with pytest.raises(ServiceError, match=r"2 roots.*8700/ \(one\).*8701/ \(two\)"):
        address_of(str(tmp_path))
    (tmp_path / "network.toml").write_text("[[router]]\n")
    with pytest.raises(ServiceError, match=r"network\.toml:1"):
        address_of(str(tmp_path))


def test_a_collection_whose_name_looks_like_an_address_is_a_collection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("www.example:8080").mkdir()
    assert address_of("www.example:8080") == ""


def test_an_answer_that_is_none_is_told() -> None:
    with Fake(says(reply(b"[1]"))) as fake, pytest.raises(ServiceError, match="not the answer of a Pagekin service"):
        ask(fake.url, "search", _QUERY)
