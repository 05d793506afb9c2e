"""Children that die, hang, lie and attack: their parent answers in time, with what the living hold, and names the culprit."""

import asyncio
import gzip
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import zstandard

from pagekin.labels import ContentLabel
from pagekin.labels.keep import read_parts
from pagekin.labels.membership import Filter
from pagekin.labels.model import without_filters
from pagekin.labels.parts import joined, parts_of
from pagekin.net import Guard
from pagekin.routers.children import Child
from pagekin.routers.keeper import RouterSettings
from pagekin.routers.leaf import Leaf
from pagekin.routers.messages import MOST_HOPS
from pagekin.routers.router import Router
from pagekin.routers.serve import Place
from pagekin.store import open_kin

from .fakes import Behaviour, Call, Fake, reply, says, tells
from .webs import DEADLINE, SLACK, Running, Web, ask, eager, free_ports, get, post, request, urls_of, wait_for

QUERY = "oxygen OR feathers OR bird"
Parts = Mapping[str, ContentLabel]


@pytest.fixture(scope="module")
def label(collections: dict[str, Path]) -> ContentLabel:
    """A label that says of nothing that it is not there, so that its owner is always asked."""
    parts = read_parts(open_kin(collections["planets"]))
    assert parts
    return without_filters(joined(parts))


@pytest.fixture(scope="module")
def parts(label: ContentLabel) -> Parts:
    return parts_of(label)


@pytest.fixture(scope="module")
def living(web: Web) -> set[str]:
    """What the two good children hold."""
    found = urls_of(web.search("birds", QUERY)) | urls_of(web.search("elements", QUERY))
    assert len(found) > 20
    return found


@contextmanager
def above(
    web: Web, children: Mapping[str, str], settings: RouterSettings | None = None, name: str = "root"
) -> Iterator[tuple[str, Router]]:
    """A router above two good leaves and some others, once it is ready."""
    (port,) = free_ports(1)
    good = {leaf: web.urls[leaf] for leaf in ("birds", "elements")}
    router = Router(name, {**good, **children}, settings or eager(settle=0.3, label_seconds=1.0))
    with Running([(router, Place("127.0.0.1", port))]):
        url = f"http://127.0.0.1:{port}/"
        wait_for(lambda: get(url, "health").json["ready"])
        yield url, router


def searched(url: str, **asked: Any) -> Any:
    """The answer, which must come in time."""
    began = time.monotonic()
    answer = ask(url, "search", **{"query": QUERY, "limit": 1000, "snippets": False, "deadline": DEADLINE} | asked)
    assert time.monotonic() - began < DEADLINE + SLACK
    return answer


def blamed(answer: Any, name: str = "root/bad", reason: str = "") -> bool:
    """Whether one child alone is blamed, and why."""
    assert len(answer["partial"]) == 1, answer["partial"]
    assert answer["partial"][0].startswith(f"{name}: "), answer["partial"]
    assert reason in answer["partial"][0], answer["partial"]
    return True


async def hang(_call: Call, _writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(600)


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


def found(url: str, **more: Any) -> dict[str, Any]:
    return {"kind": "document", "url": url, "score": 9.0, **more}


DEEP = b"[" * 200_000
FAULTS: dict[str, tuple[Behaviour, str]] = {
    "hangs": (hang, "no answer within"),
    "drips its body": (drip, "no answer within"),
    "drips its headers": (drip_headers, "no answer within"),
    "hangs up": (hang_up, ""),
    "speaks no HTTP": (says(b"\x16\x03\x01\x02\x00SSH-2.0-rubbish\r\n\r\n"), ""),
    "sends no JSON": (says(reply(b"<html>Welcome</html>")), "nonsense"),
    "sends bad UTF-8": (says(reply(b'{"query": "\xff\xfe"}')), "nonsense"),
    "sends deep JSON": (says(reply(b'{"results": ' + DEEP)), "nonsense"),
    "sends wrong types": (tells({"results": "all", "total": -1}), "nonsense"),
    "sends a list": (tells([1, 2]), "nonsense"),
    "sends results without address": (tells({"results": [{"kind": "document"}]}), "nonsense"),
    "sends an unknown kind": (tells({"results": [{"kind": "trojan", "url": "http://x.example/"}]}), "nonsense"),
    "sends an infinite score": (says(reply(b'{"results": [{"kind":"document","url":"http://x/","score":1e999}]}')), ""),
    "fails": (says(reply(b"{}", "500 Internal Server Error")), "500"),
    "fails with words": (says(reply(b'{"detail": "my\\u001b[31m disk\\n"}', "503 Busy")), "503: my[31m disk"),
    "refuses": (says(reply(b'{"detail": "no"}', "400 Bad Request")), "400: no"),
    "has no end": (endless, "larger than"),
    "sends 100 MB": (huge, "larger than"),
    "says that it compressed": (says(reply(gzip.compress(b" " * 50_000_000), more="Content-Encoding: gzip\r\n")), "nonsense"),
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
        with_text = searched(url, snippets=True)
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


@pytest.mark.parametrize("code", ["302 Found", "308 Permanent Redirect"])
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


# -- labels ---------------------------------------------------------------------------------------------------------------


def _bomb() -> Iterator[bytes]:
    """A few kilobytes that become 1 GB."""
    made = zstandard.ZstdCompressor(level=1).compressobj()
    block = b" " * (1 << 22)
    for _ in range(256):
        yield made.compress(block)
    yield made.flush()


BAD_LABELS: dict[str, tuple[bytes, str]] = {
    "is no zstd": (reply(b"{}"), "refused"),
    "is empty": (reply(b""), "refused"),
    "is a bomb": (reply(b"".join(_bomb())), "refused"),
    "is a gzip bomb": (reply(gzip.compress(b" " * 50_000_000), more="Content-Encoding: gzip\r\n"), "refused"),
    "is no label": (reply(zstandard.ZstdCompressor().compress(b'{"version": 1}')), "refused"),
    "is of another version": (reply(zstandard.ZstdCompressor().compress(b'{"version": 99}')), "version 99"),
    "is 100 MB long": (reply(b"", length=100_000_000), "larger than"),
    "is never modified": (b"HTTP/1.1 304 Not Modified\r\n\r\n", "no part"),
    "is not there": (reply(b'{"detail": "gone"}', "404 Not Found"), "404: gone"),
}


@pytest.mark.parametrize("fault", BAD_LABELS)
def test_a_label_that_cannot_be_taken_is_refused_with_a_reason(web: Web, living: set[str], fault: str) -> None:
    """Its owner may still answer: who has not told what it holds may hold anything."""
    raw, reason = BAD_LABELS[fault]

    async def behave(call: Call, writer: asyncio.StreamWriter) -> None:
        writer.write(raw if call.path.startswith("/label") else reply(b'{"results": []}'))

    with Fake(behave) as bad, above(web, {"bad": bad.url}) as (url, router):
        wait_for(lambda: reason in router.children["bad"].error)
        assert get(url, "health").json["children"][2]["label_bytes"] == 0
        assert urls_of(searched(url)) == living
        assert ask(url, "refine", query="oxygen")["known"]


def test_a_label_that_never_comes_holds_nobody_up(web: Web, living: set[str]) -> None:
    async def behave(call: Call, writer: asyncio.StreamWriter) -> None:
        if call.path.startswith("/label"):
            await hang(call, writer)
        writer.write(reply(json.dumps({"results": [found("http://late.example/")], "total": 1}).encode()))

    with Fake(behave) as bad, above(web, {"bad": bad.url}) as (url, router):
        wait_for(lambda: "no label within" in router.children["bad"].error)
        assert living <= urls_of(searched(url))


def test_a_label_that_denies_what_is_there_loses_its_own_subtree_alone(
    web: Web, living: set[str], label: ContentLabel
) -> None:
    nothing = (Filter.of(np.array([1], np.uint64)),)
    lie = msgspec.structs.replace(
        label, filters=nothing,
        clusters=tuple(msgspec.structs.replace(one, filters=nothing) for one in label.clusters),
    )  # fmt: skip
    with Fake(tells({"results": [found("http://denied.example/")]}), parts_of(lie)) as bad, above(
        web, {"bad": bad.url}
    ) as (url, _router):  # fmt: skip
        answer = searched(url)
        assert urls_of(answer) == living
        assert answer["partial"] == [] and not bad.asked("search")
        assert [one["path"] for one in answer["skipped"] if one["path"][-1] == "bad"] == [["root", "bad"]]
        everyone = searched(url, routing="all")
        assert urls_of(everyone) == living | {"http://denied.example/"}


def test_a_label_with_mad_counts_does_not_spoil_the_router(web: Web, living: set[str], label: ContentLabel) -> None:
    most = 2**53 - 1
    mad = msgspec.structs.replace(label, num_docs=most, size=most, num_words=most, num_terms=most)
    with Fake(tells({"results": []}), parts_of(mad)) as bad, above(web, {"bad": bad.url}) as (url, _router):
        assert urls_of(searched(url)) == living
        (port,) = free_ports(1)
        with Running([(Router("top", {"root": url}, eager(settle=0.3)), Place("127.0.0.1", port))]):
            top = f"http://127.0.0.1:{port}/"
            wait_for(lambda: get(top, "health").json["ready"])
            assert urls_of(searched(top)) == living, "its label is one that those above take"


# -- what answers hold ----------------------------------------------------------------------------------------------------


def test_results_that_are_no_web_addresses_or_drive_a_terminal_are_left_out(
    web: Web, living: set[str], parts: Parts
) -> None:
    esc = "\x1b[2J"
    bad_urls = [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        f"http://x.example/{esc}",
        "http://x\u202e/",
    ]
    good = found(
        "http://good.example/", title=f"a{esc}b", snippet=f"c{esc}d", marks=[[0, 1], [3, 2], [0, 10**6]],
        copies=["javascript:alert(2)", "http://copy.example/", f"http://copy.example/{esc}"], path=["bad", f"x{esc}"],
        language=f"e{esc}", cluster=77, cluster_name=esc, sketch="!!",
    )  # fmt: skip
    lies = {
        "results": [*map(found, bad_urls), good], "total": 6,
        "skipped": [{"path": ["bad", esc], "reason": esc}], "asked": [{"path": ["bad", esc]}],
    }  # fmt: skip
    with Fake(tells(lies), parts) as bad, above(web, {"bad": bad.url}) as (url, _router):
        answer = searched(url)
        assert urls_of(answer) == living | {"http://good.example/", "http://copy.example/"}
        assert blamed(answer, reason="5 results are left out")
        (shown,) = [one for one in answer["results"] if one["url"] == "http://good.example/"]
        assert shown["marks"] == [[0, 1]]
        assert (shown["cluster"], shown["cluster_name"]) == (0, "")
        assert shown["path"][:2] == ["root", "bad"]
        raw = json.dumps(answer)
        assert "\\u001b" not in raw and "\\u202e" not in raw and "javascript" not in raw


def test_too_many_results_are_cut_to_what_was_asked_for(web: Web, parts: Parts) -> None:
    flood = {"results": [found(f"http://flood.example/{n}", score=-1.0) for n in range(5000)], "total": 5000}
    with Fake(tells(flood), parts) as bad, above(web, {"bad": bad.url}) as (url, _router):
        answer = searched(url, limit=10)
        assert len(answer["results"]) == 10
        assert not any("flood" in one["url"] for one in answer["results"])
        assert blamed(answer, reason="4,990 results are left out")


def test_lies_of_one_child_do_not_make_the_answer_of_its_parent_nonsense(
    web: Web, living: set[str], parts: Parts
) -> None:
    """Whatever passes a router's checks must pass those of the router above, also when it is added up."""
    most = 2**53
    lies = {
        "total": most, "partial": ["x" * 100] * 10_000,
        "results": [found("http://lie.example/", title="t" * 2000, date=253_402_300_799, pages=most, copies=["http://c/"] * 100)],
        "asked": [{"path": ["bad", *"n" * 31], "results": most, "bytes": most}] * 20_000,
        "skipped": [{"path": ["bad", *"n" * 31], "reason": "r" * 20}] * 20_000,
    }  # fmt: skip
    with Fake(tells(lies), parts) as bad, above(web, {"bad": bad.url}, name="mid") as (mid, _router):
        (port,) = free_ports(1)
        with Running([(Router("top", {"mid": mid}, eager()), Place("127.0.0.1", port))]):
            top = f"http://127.0.0.1:{port}/"
            wait_for(lambda: get(top, "health").json["ready"])
            answer = ask(top, "search", query=QUERY, limit=1000, snippets=False, deadline=30.0)
            assert urls_of(answer) == living | {"http://lie.example/", "http://c/"}
            assert answer["total"] <= most
            assert not any(reason.startswith("top/mid: it answered") for reason in answer["partial"])


def test_a_child_cannot_put_words_under_the_results_of_another(web: Web, parts: Parts) -> None:
    victim = web.search("birds", QUERY, limit=1)["results"][0]["url"]

    async def behave(call: Call, writer: asyncio.StreamWriter) -> None:
        if call.path == "/show":
            forged = [found(victim, snippet="FORGED"), found("http://own.example/", snippet="own words")]
        else:
            forged = [found("http://own.example/")]
        writer.write(reply(json.dumps({"results": forged}).encode()))

    with Fake(behave, parts) as bad, above(web, {"bad": bad.url}) as (url, _router):
        shown = {one["url"]: one["snippet"] for one in searched(url, snippets=True)["results"]}
        assert shown["http://own.example/"] == "own words"
        assert shown[victim] and "FORGED" not in json.dumps(shown)


# -- time -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", ["search", "expand", "related"])
def test_deadlines_and_hops_shrink_on_the_way_down(web: Web, parts: Parts, operation: str) -> None:
    with Fake(tells({"results": []}), parts) as bottom, above(web, {"bad": bottom.url}, name="mid") as (mid, _router):
        (port,) = free_ports(1)
        with Running([(Router("top", {"mid": mid}, eager()), Place("127.0.0.1", port))]):
            top = f"http://127.0.0.1:{port}/"
            wait_for(lambda: get(top, "health").json["ready"])
            asked: dict[str, Any] = {"bag": _bag()} if operation == "related" else {"query": QUERY}
            if operation == "expand":  # two steps down need the clusters of the first
                first = ask(top, "expand", query=QUERY)["results"]
                asked["items"] = [{key: one[key] for key in ("kind", "url", "path")} for one in first]
            assert post(top, operation, deadline=3.0, **asked).status == 200
            (call,) = bottom.asked("select" if operation == "expand" else operation)
            assert 0 < call.json["deadline"] < 3.0 * 0.9 * 0.9
            assert call.json["visited"] == ["top", "mid"]
            assert call.json["hops"] == MOST_HOPS - 2


def _bag() -> dict[str, Any]:
    return {"strategy": "x", "hashes": [1], "weights": [1.0], "sketch": [1] * 64, "words": [], "url": ""}


@pytest.mark.parametrize("operation", ["expand", "suggest", "show", "related"])
def test_no_service_waits_longer_than_its_deadline(web: Web, parts: Parts, operation: str) -> None:
    with Fake(hang, parts) as bad, above(web, {"bad": bad.url}) as (url, _router):
        item = {"kind": "document", "url": "http://x.example/", "path": ["root", "bad"]}
        asked: dict[str, Any] = {
            "expand": {"query": QUERY}, "suggest": {"items": [item]}, "related": {"bag": _bag()},
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
            other = ask(url, "related", bag=_bag() | {"words": ["bird"]})
            assert "another strategy" in other["partial"][0]
        answer = searched(url)
        assert (answer["partial"], urls_of(answer)) == ([], living)


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
    from pagekin.routers.children import Child

    child = Child("x", "http://x.example/")
    pauses = []
    for _ in range(14):
        child.failed("no")
        pauses.append(child.pause())
    assert pauses[:2] == [0.0, 0.0]
    assert 0.3 < pauses[2] < 0.7
    assert pauses[5] > 2 * pauses[2]
    assert 40 < pauses[-1] <= 72
    child.succeeded()
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


# -- ways that do not end -------------------------------------------------------------------------------------------------


def test_a_router_that_names_its_own_parent_as_its_child(web: Web, living: set[str]) -> None:
    a, b = free_ports(2)
    urls = {"a": f"http://127.0.0.1:{a}/", "b": f"http://127.0.0.1:{b}/"}
    settings = eager(settle=0.3)
    with Running([
        (Router("a", {"b": urls["b"]}, settings), Place("127.0.0.1", a)),
        (Router("b", {"a": urls["a"], "birds": web.urls["birds"], "elements": web.urls["elements"]}, settings),
         Place("127.0.0.1", b)),
    ]):  # fmt: skip
        wait_for(lambda: all(get(url, "health").json["ready"] for url in urls.values()))
        for name, way in (("a", "a > b > a"), ("b", "b > a > b")):
            answer = searched(urls[name])
            assert urls_of(answer) == living
            assert [reason for reason in answer["partial"] if "a loop" in reason and way in reason]
            item = {"kind": "document", "url": "http://x.example/", "path": [name, *"ba", *"ba"]}
            for operation, asked in (("expand", {"query": QUERY}), ("suggest", {"items": [item]})):
                assert post(urls[name], operation, deadline=DEADLINE, **asked).status == 200


def test_a_chain_that_is_longer_than_the_hops_left_ends_with_a_reason(web: Web) -> None:
    ports = free_ports(4)
    urls = [f"http://127.0.0.1:{port}/" for port in ports]
    names = ["r0", "r1", "r2", "r3"]
    below = [{names[n + 1]: urls[n + 1]} for n in range(3)] + [{"birds": web.urls["birds"]}]
    with Running(
        [
            (Router(name, children, eager()), Place("127.0.0.1", port))
            for name, children, port in zip(names, below, ports, strict=True)
        ]
    ):
        wait_for(lambda: get(urls[0], "health").json["ready"])
        whole = searched(urls[0])
        assert whole["partial"] == [] and whole["results"]
        for hops in range(4):
            short = searched(urls[0], hops=hops)
            assert short["results"] == []
            assert len(short["partial"]) == 1
            assert short["partial"][0].startswith(f"r{hops}: too many routers on the way")
        assert searched(urls[0], hops=4)["results"]


def test_two_children_of_one_address_and_a_leaf_that_is_its_own_grandchild_count_once(web: Web) -> None:
    with above(web, {"again": web.urls["birds"]}) as (url, _router):
        answer = searched(url)
        urls = [one["url"] for one in answer["results"]]
        assert len(urls) == len(set(urls))


def test_a_collection_that_is_not_there_says_so(tmp_path: Path) -> None:
    from pagekin.store import KinError

    for path in (tmp_path / "nowhere.kin", tmp_path):
        with pytest.raises(KinError):
            Leaf("nowhere", path)


def test_a_child_is_blamed_for_silence_only_if_it_had_the_time_that_it_usually_takes() -> None:
    unknown = Child("a", "http://a.example/")
    unknown.late(0.3)
    assert unknown.failures == 0
    unknown.late(0.5)
    assert unknown.failures == 1
    quick = Child("b", "http://b.example/", _usual=0.004)
    quick.late(0.09)
    assert quick.failures == 0
    for _ in range(3):
        quick.late(0.12)
    assert quick.failures == 3
    assert quick.pause() > 0
    slow = Child("c", "http://c.example/", _usual=0.04)
    slow.late(0.3)
    assert slow.failures == 0
