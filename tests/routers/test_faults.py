"""Children that die, hang and answer nonsense: their parent answers in time, with what the living hold, and names the culprit."""

import asyncio
import gzip
import json
import time
from typing import Any

import pytest

from pagekin.collection import MOST_HOPS
from pagekin.net import Guard
from pagekin.routers import Place, Router
from pagekin.routers.child import KEPT, Child

from .bad_children import NOBODY, QUERY, Parts, above, bag, blamed, found, hang, searched
from .fakes import Behaviour, Call, Fake, reply, says, tells
from .webs import DEADLINE, SLACK, Running, Web, ask, eager, free_ports, get, post, request, urls_of, wait_for


async def drip(_call: Call, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 600\r\n\r\n")
    for _second in range(600):
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(1)


async def drip_headers(_call: Call, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    for number in range(600):
        writer.write(b"X-%d: y\r\n" % number)
        await writer.drain()
        await asyncio.sleep(1)


async def endless(_call: Call, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    block = b"%x\r\n%s\r\n" % (1 << 16, b" " * (1 << 16))
    while True:
        writer.write(block)
        await writer.drain()


async def huge(_call: Call, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
    for _block in range(100):
        writer.write(b" " * 1_000_000)
        await writer.drain()


async def hang_up(_call: Call, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")
    await writer.drain()
    raise ConnectionError


DEEP = b"[" * 200_000
FAULTS: dict[str, tuple[Behaviour, str]] = {
    "hangs": (hang, "no answer within"),
    "drips its body": (drip, "no answer within"),
    "drips its headers": (drip_headers, "no answer within"),
    "hangs up": (hang_up, ""),
    "speaks no HTTP": (says(b"\x16\x03\x01\x02\x00SSH-2.0-rubbish\r\n\r\n"), ""),
    "sends no JSON": (says(reply(b"<html>Welcome</html>")), "cannot be understood"),
    "sends bad UTF-8": (says(reply(b'{"query": "\xff\xfe"}')), "cannot be understood"),
    "sends deep JSON": (says(reply(b'{"results": ' + DEEP)), "cannot be understood"),
    "sends wrong types": (tells({"results": "all", "total": -1}), "cannot be understood"),
    "sends a list": (tells([1, 2]), "cannot be understood"),
    "sends results without address": (tells({"results": [{"kind": "document"}]}), "cannot be understood"),
    "sends an unknown kind": (tells({"results": [{"kind": "trojan", "url": "http://x.example/"}]}), "cannot be understood"),
    "sends an infinite score": (says(reply(b'{"results": [{"kind":"document","url":"http://x/","score":1e999}]}')), ""),
    "fails": (says(reply(b"{}", "500 Internal Server Error")), "500"),
    "fails with words": (says(reply(b'{"detail": "my\\u001b[31m disk\\n"}', "503 Busy")), "503: my[31m disk"),
    "refuses": (says(reply(b'{"detail": "no"}', "400 Bad Request")), "400: no"),
    "has no end": (endless, "larger than"),
    "sends 100 MB": (huge, "larger than"),
    "says that it compressed": (
        says(reply(gzip.compress(b" " * 50_000_000), more="Content-Encoding: gzip\r\n")), "cannot be understood",
    ),
    "sends two lengths": (says(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"), ""),
    "sends an endless header": (says(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 1_000_000), ""),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_child_costs_its_own_documents_alone(web: Web, living: set[str], parts: Parts, fault: str) -> None:
    behave, reason = FAULTS[fault]
    with Fake(behave, parts) as bad, above(web, {"bad": bad.url}) as (url, _router):
        answer = searched(url)
        assert urls_of(answer) == living
        assert blamed(answer, reason=reason)
        assert "\x1b" not in answer["partial"][0]
        assert len(bad.asked("search")) == 1
        if behave in (drip, drip_headers):  # as with one that hangs
            return
        with_text = searched(url, raw=False)
        assert urls_of(with_text) == living
        assert any(one.startswith("root/bad: ") for one in with_text["partial"])


def test_a_dead_port_is_named_and_the_rest_is_found(web: Web, living: set[str]) -> None:
    (port,) = free_ports(1)
    with above(web, {"bad": f"http://127.0.0.1:{port}/"}) as (url, _router):
        answer = searched(url)
        assert urls_of(answer) == living
        assert blamed(answer)
        child = {one["name"]: one for one in get(url, "health").json["children"]}["bad"]
        assert not child["up"] and child["failures"] and "reached" in child["error"]


def test_an_address_that_may_not_be_called_is_not_called(web: Web, parts: Parts, living: set[str]) -> None:
    """The metadata address of clouds, even where loopback is allowed; loopback where it is not."""
    with above(web, {"bad": "http://169.254.169.254/latest/"}) as (url, _router):
        answer = searched(url)
        assert urls_of(answer) == living
        assert blamed(answer, reason="link-local")
    (port,) = free_ports(1)
    with Fake(hang, parts) as near:
        router = Router("strict", {"near": near.url}, eager(settle=0.1, guard=Guard()))
        with Running([(router, Place("127.0.0.1", port))]):
            url = f"http://127.0.0.1:{port}/"
            wait_for(lambda: "loopback" in get(url, "health").json["children"][0]["error"])
            reply_ = post(url, "search", query=QUERY)
            assert reply_.status == 503 and "loopback" in reply_.json["detail"]
            assert near.connections == 0


@pytest.mark.parametrize("code", ["302 Hit", "308 Permanent Redirect"])
def test_a_redirect_is_not_followed(web: Web, parts: Parts, living: set[str], code: str) -> None:
    with Fake(tells({"results": [found("http://stolen.example/")]}), parts) as target:
        for where in (target.url + "search", "http://169.254.169.254/"):
            moved = says(reply(b"", code, f"Location: {where}\r\n"))
            with Fake(moved, parts) as bad, above(web, {"bad": bad.url}) as (url, _router):
                answer = searched(url)
                assert urls_of(answer) == living
                assert blamed(answer, reason=code[:3])
        assert target.connections == 0
        with Fake(moved) as bad, above(web, {"bad": bad.url}) as (url, router):
            wait_for(lambda: "302" in router.children["bad"].error or code[:3] in router.children["bad"].error)
        assert target.connections == 0


# -- time -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", ["search", "expand", "related"])
def test_deadlines_and_hops_shrink_on_the_way_down(web: Web, parts: Parts, operation: str) -> None:
    with Fake(tells({"results": []}), parts) as bottom, above(web, {"bad": bottom.url}, name="mid") as (mid, _router):
        (port,) = free_ports(1)
        with Running([(Router("top", {"mid": mid}, eager()), Place("127.0.0.1", port))]):
            top = f"http://127.0.0.1:{port}/"
            wait_for(lambda: get(top, "health").json["ready"])
            asked: dict[str, Any] = {"bag": bag()} if operation == "related" else {"query": QUERY}
            if operation == "expand":  # two steps down need the clusters of the first
                first = ask(top, "expand", query=QUERY)["results"]
                asked["items"] = [{key: one[key] for key in ("kind", "url", "path")} for one in first]
            assert post(top, operation, deadline=3.0, **asked).status == 200
            (call,) = bottom.asked("select" if operation == "expand" else operation)
            assert 0 < call.json["deadline"] <= 3.0 - 2 * KEPT
            assert [mark.partition("/")[0] for mark in call.json["visited"]] == ["top", "mid"]
            assert call.json["hops"] == MOST_HOPS - 2


@pytest.mark.parametrize("operation", ["expand", "suggest", "show", "related"])
def test_no_service_waits_longer_than_its_deadline(web: Web, parts: Parts, operation: str) -> None:
    with Fake(hang, parts) as bad, above(web, {"bad": bad.url}) as (url, _router):
        item = {"kind": "document", "url": "http://x.example/", "path": ["root", "bad"]}
        asked: dict[str, Any] = {
            "expand": {"query": QUERY}, "suggest": {"items": [item]}, "related": {"bag": bag()},
            "show": {"query": QUERY, "items": [item]},
        }[operation]  # fmt: skip
        began = time.monotonic()
        answer = ask(url, operation, deadline=DEADLINE, **asked)
        assert time.monotonic() - began < DEADLINE + SLACK
        assert any(reason.startswith("root/bad: no answer within") for reason in answer["partial"])


def test_hasty_callers_do_not_take_good_children_away(web: Web, living: set[str], parts: Parts) -> None:
    """A tenth of a second is too little for a slow child, and says nothing about it."""

    async def slowly(_call: Call, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.3)
        writer.write(reply(json.dumps({"results": [found("http://slow.example/")]}).encode()))

    with Fake(slowly, parts) as slow, above(web, {"slow": slow.url}) as (url, router):
        for seconds in (0.1, 0.001) * 4:
            hasty = ask(url, "search", query=QUERY, deadline=seconds)
            assert any(reason.startswith("root/slow: ") for reason in hasty["partial"])
        assert len(slow.asked("search")) >= 4
        answer = searched(url, deadline=20.0)
        assert (answer["partial"], urls_of(answer)) == ([], living | {"http://slow.example/"})
        assert all(child.failures == 0 for child in router.children.values())


def test_requests_that_children_refuse_do_not_take_them_away(web: Web, living: set[str]) -> None:
    with above(web, {}) as (url, _router):
        for _ in range(4):
            assert post(url, "search", query=QUERY, filters={"language": "!"}).status == 400
        answer = searched(url)
        assert (answer["partial"], urls_of(answer)) == ([], living)


def test_pages_that_a_child_does_not_know_do_not_take_it_away(web: Web, living: set[str]) -> None:
    with above(web, {}) as (url, _router):
        for _ in range(4):
            assert post(url, "related", url="http://nowhere.example/").status == 404
            assert post(url, "bag", url="http://nowhere.example/").status == 404
            other = ask(url, "related", bag=bag() | {"words": ["bird"]})
            assert "another strategy" in other["partial"][0]
        answer = searched(url)
        assert (answer["partial"], urls_of(answer)) == ([], living)


def test_a_child_is_blamed_for_silence_only_if_it_had_the_time_that_it_usually_takes() -> None:
    unknown = Child("a", "http://a.example/", NOBODY)
    unknown.note_late(0.3)
    assert unknown.failures == 0
    unknown.note_late(0.5)
    assert unknown.failures == 1
    quick = Child("b", "http://b.example/", NOBODY, _usual=0.004)
    quick.note_late(0.09)
    assert quick.failures == 0
    for _ in range(3):
        quick.note_late(0.12)
    assert quick.failures == 3
    assert quick.pause() > 0
    slow = Child("c", "http://c.example/", NOBODY, _usual=0.04)
    slow.note_late(0.3)
    assert slow.failures == 0


# -- failures in a row, and recovery --------------------------------------------------------------------------------------


def test_after_failures_in_a_row_a_child_is_left_alone_though_it_gives_its_label(
    web: Web, living: set[str], parts: Parts
) -> None:
    with Fake(says(reply(b"{}", "500 Oops")), parts) as bad, above(web, {"bad": bad.url}) as (url, router):
        for number in range(1, 4):
            assert blamed(searched(url), reason="500")
            assert len(bad.asked("search")) == number
            if number < 3:
                labels = len(bad.asked("label"))
                assert request(url + "refresh", "POST").status == 202
                wait_for(lambda labels=labels: len(bad.asked("label")) >= labels + 3)
        assert router.children["bad"].pause() > 0
        router.children["bad"]._closed_until += 60
        for _ in range(5):
            answer = searched(url)
            assert urls_of(answer) == living
            assert blamed(answer, reason="tried again in")
        assert len(bad.asked("search")) == 3
        bad.behave = tells({"results": [found("http://well.example/")]})
        router.children["bad"]._closed_until = 0.0
        assert urls_of(searched(url)) == living | {"http://well.example/"}
        assert searched(url)["partial"] == []


def test_pauses_grow(web: Web) -> None:
    from pagekin.routers.child import Child

    child = Child("x", "http://x.example/", NOBODY)
    pauses = []
    for _ in range(14):
        child.note_failure("no")
        pauses.append(child.pause())
    assert pauses[:2] == [0.0, 0.0]
    assert 0.3 < pauses[2] < 0.7
    assert pauses[5] > 2 * pauses[2]
    assert 40 < pauses[-1] <= 72
    child.note_success()
    assert child.pause() == 0.0


def test_a_child_that_died_rejoins_when_it_comes_back(web: Web, living: set[str], parts: Parts) -> None:
    answer = tells({"results": [found("http://back.example/")], "total": 1})
    bad = Fake(answer, parts)
    with above(web, {"bad": bad.url}) as (url, _router):
        assert urls_of(searched(url)) == living | {"http://back.example/"}
        bad.stop()
        for _ in range(3):
            gone = searched(url)
            assert urls_of(gone) == living
            assert blamed(gone)
        with Fake(answer, parts, port=bad.port):
            wait_for(lambda: searched(url)["partial"] == [])
            assert urls_of(searched(url)) == living | {"http://back.example/"}


def test_a_router_that_was_killed_and_started_again_at_its_port_rejoins(web: Web, living: set[str]) -> None:
    top_port, mid_port = free_ports(2)
    mid_url, top = f"http://127.0.0.1:{mid_port}/", f"http://127.0.0.1:{top_port}/"

    def mid() -> Running:
        leaves = {leaf: web.urls[leaf] for leaf in ("birds", "elements")}
        return Running([(Router("mid", leaves, eager()), Place("127.0.0.1", mid_port))])

    first = mid()
    with Running([(Router("top", {"mid": mid_url}, eager()), Place("127.0.0.1", top_port))]):
        wait_for(lambda: get(top, "health").json["ready"])
        assert urls_of(searched(top)) == living
        first.stop()
        gone = searched(top)
        assert gone["results"] == []
        assert blamed(gone, "top/mid")
        with mid():
            wait_for(lambda: searched(top)["partial"] == [])
            assert urls_of(searched(top)) == living


def test_a_leaf_four_levels_down_still_has_most_of_the_time(web: Web, parts: Parts) -> None:
    with Fake(tells({"results": []}), parts) as bottom:
        ports = free_ports(4)
        urls = [f"http://127.0.0.1:{port}/" for port in ports]
        below = [*({f"r{n + 1}": urls[n + 1]} for n in range(3)), {"bottom": bottom.url}]
        routers = [Router(f"r{n}", children, eager()) for n, children in enumerate(below)]
        with Running([(one, Place("127.0.0.1", port)) for one, port in zip(routers, ports, strict=True)]):
            wait_for(lambda: get(urls[0], "health").json["ready"])
            assert post(urls[0], "search", query=QUERY, deadline=60.0).status == 200
            assert post(urls[0], "search", query=QUERY, deadline=0.4).status == 200
        long, short = (call.json["deadline"] for call in bottom.asked("search"))
        assert 60.0 - 0.75 - 4 * KEPT - 5.0 < long <= 60.0 - 4 * KEPT, "a busy machine may have taken some"
        assert short < 0.4 * 0.75**4
