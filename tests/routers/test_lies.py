"""Children that lie and attack, by their labels and by what they answer: nobody else is harmed by it."""

import asyncio
import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import zstandard

from pagekin.labels import ContentLabel, TermFilter, label_parts
from pagekin.routers import Place, Router
from pagekin.routers.child import Child
from pagekin.text import TextIndex, largest_score, parse_query

from .bad_children import NOBODY, QUERY, Parts, above, blamed, found, hang, searched
from .fakes import Call, Fake, reply, says, tells
from .questions import drawn
from .webs import DEADLINE, Running, Web, ask, eager, free_ports, get, urls_of, wait_for

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
    "is not there": (reply(b'{"detail": "gone"}', "404 Not Hit"), "404: gone"),
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
    nothing = (TermFilter.of(np.array([1], np.uint64)),)
    lie = msgspec.structs.replace(
        label, filters=nothing,
        clusters=tuple(msgspec.structs.replace(one, filters=nothing) for one in label.clusters),
    )  # fmt: skip
    with Fake(tells({"results": [found("http://denied.example/")]}), label_parts(lie)) as bad, above(
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
    with Fake(tells({"results": []}), label_parts(mad)) as bad, above(web, {"bad": bad.url}) as (url, _router):
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


@contextmanager
def two_above(web: Web, bad: Fake) -> Iterator[str]:
    """A router above a router above two good leaves and a bad one."""
    with above(web, {"bad": bad.url}, name="mid") as (mid, _router):
        (port,) = free_ports(1)
        with Running([(Router("top", {"mid": mid}, eager()), Place("127.0.0.1", port))]):
            top = f"http://127.0.0.1:{port}/"
            wait_for(lambda: get(top, "health").json["ready"])
            yield top


FLOODS: dict[str, Any] = {
    "reasons": {"partial": ["x" * 100] * 10_000},
    "long reasons": {"partial": ["\N{SNOWMAN}" * 2000] * 150},
    "routers asked": {"asked": [{"path": ["bad", *"n" * 9], "results": 2**53, "bytes": 2**53}] * 9_000},
    "long names": {"asked": [{"path": ["bad", *["n" * 200] * 31]}] * 300},
    "routers skipped": {"skipped": [{"path": ["bad", *"n" * 9], "reason": "r" * 50}] * 9_000},
    "copies": {"results": [found(f"http://lie.example/{n}", copies=[f"http://c/{n}/" + "c" * 7_000] * 100) for n in range(3)]},
    "texts": {"results": [found(f"http://lie.example/{n}", title='"' * 2000, snippet="\\" * 2000, score=0.1) for n in range(99)]},
    "addresses": {"results": [found(f"http://lie.example/{n}/" + "a" * 7_000, score=0.01) for n in range(300)]},
}  # fmt: skip


@pytest.mark.parametrize("flood", FLOODS)
def test_lies_of_one_child_do_not_make_the_answer_of_its_parent_nonsense(
    web: Web, living: set[str], parts: Parts, flood: str
) -> None:
    """Whatever passes a router's checks must pass those of the router above, also when it is added up."""
    most = 2**53
    lies = {"total": most, "results": [found("http://lie.example/", date=253_402_300_799, pages=most)]} | FLOODS[flood]
    with Fake(tells(lies), parts) as bad, two_above(web, bad) as top:
        for limit in (300, 1000):
            answer = ask(top, "search", query=QUERY, limit=limit, raw=True, deadline=30.0)
            assert living <= urls_of(answer)
            assert any("lie.example" in one["url"] for one in answer["results"]), "it is no lie too large"
            assert answer["total"] <= most
            assert not any(reason.startswith("top/mid: ") for reason in answer["partial"]), answer["partial"][0]


@pytest.mark.parametrize("lie", ["bytes", "objects", "values", "groups"])
def test_an_answer_that_is_too_large_costs_its_own_child_alone(
    web: Web, living: set[str], parts: Parts, lie: str
) -> None:
    lies = {
        "bytes": {"results": [found("http://lie.example/", copies=["http://c/" + "c" * 7_900] * 100)] * 10},
        "objects": {"asked": [{"path": []}] * 50_000},
        "values": {"groups": [{"cluster": 1, "name": "", "results": [1] * 500_000}]},
        "groups": {"groups": [{"cluster": 1, "name": "", "results": []}] * 10**6},
    }[lie]
    with Fake(tells(lies), parts) as bad, two_above(web, bad) as top:
        answer = ask(top, "search", query=QUERY, limit=1000, raw=True, deadline=30.0)
        assert urls_of(answer) == living
        assert blamed(answer, "mid/bad", "larger than" if lie in ("bytes", "groups") else "it holds some 5")


def test_a_child_cannot_put_words_under_the_results_of_another(web: Web, parts: Parts) -> None:
    victim = web.search("birds", QUERY, limit=1)["results"][0]["url"]

    async def behave(call: Call, writer: asyncio.StreamWriter) -> None:
        if call.path == "/show":
            forged = [found(victim, snippet="FORGED"), found("http://own.example/", snippet="own words")]
        else:
            forged = [found("http://own.example/")]
        writer.write(reply(json.dumps({"results": forged}).encode()))

    with Fake(behave, parts) as bad, above(web, {"bad": bad.url}) as (url, _router):
        shown = {one["url"]: one["snippet"] for one in searched(url, raw=False)["results"]}
        assert shown["http://own.example/"] == "own words"
        assert shown[victim] and "FORGED" not in json.dumps(shown)


# -- who says more than it can know ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", [1e300, 1e9, 1e5])
def test_scores_that_no_page_can_have_are_refused(web: Web, parts: Parts, living: set[str], score: float) -> None:
    lies = {"results": [found("http://top.example/", score=score), found("http://low.example/", score=0.1)], "total": 2}
    with Fake(tells(lies), parts) as bad, above(web, {"bad": bad.url}) as (url, _router):
        answer = searched(url)
        assert urls_of(answer) == living | {"http://low.example/"}
        assert blamed(answer, reason="1 results are left out, as no page can have their scores")
        item = {"kind": "document", "url": "http://x.example/", "path": ["root", "bad"]}
        like = ask(url, "suggest", items=[item], deadline=DEADLINE)
        assert [one["url"] for one in like["results"]] == ["http://low.example/"]


@pytest.mark.parametrize("score", ["1e999", "NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_is_no_score(web: Web, parts: Parts, living: set[str], score: str) -> None:
    raw = b'{"results":[{"kind":"document","url":"http://top.example/","score":%b}],"total":1}' % score.encode()
    with Fake(says(reply(raw)), parts) as bad, above(web, {"bad": bad.url}) as (url, _router):
        answer = searched(url)
        assert urls_of(answer) == living
        assert blamed(answer, reason="its answer cannot be understood")


def test_no_page_has_a_score_above_the_largest(collections: dict[str, Path]) -> None:
    for name in ("birds", "elements", "various"):
        index = TextIndex.at(collections[name])
        for query in drawn([index.corpus], 60, seed=5):
            asked = parse_query(query)
            hits = index.search(asked, len(index))
            most = largest_score(asked, index.stats_of(asked))
            assert max(hits.scores, default=0.0) < most / 2 < most <= largest_score(asked)


def test_an_address_that_two_tell_of_is_that_of_the_site_it_stands_on(web: Web, parts: Parts) -> None:
    own = web.search("birds", QUERY)["results"][0]["url"]
    host = own.split("/")[2]
    forged = found(own, score=30.0, title="forged")
    with Fake(tells({"results": [forged], "total": 1}), parts) as bad:
        children = {host: web.urls["birds"], "bad": bad.url}
        (port,) = free_ports(1)
        router = Router("root", children, eager(settle=0.3))
        with Running([(router, Place("127.0.0.1", port))]):
            url = f"http://127.0.0.1:{port}/"
            wait_for(lambda: get(url, "health").json["ready"])
            answer = searched(url, raw=False)
        (one,) = [one for one in answer["results"] if one["url"] == own]
        assert one["path"][1] == host
        assert one["title"] not in ("", "forged")
        assert one["score"] < 30.0


def test_whose_an_address_is() -> None:
    names = {
        "edu": 4, "cornell.edu": 12, "cs.cornell.edu": 15, "host cs.cornell.edu": 15, "other hosts of cornell.edu": 12,
        "cs.cornell.edu:8080": 15, "ornell.edu": 0, "library": 0, "": 0,
    }  # fmt: skip
    for name, nearness in names.items():
        assert Child(name, "http://127.0.0.1/", NOBODY).nearness("http://cs.cornell.edu:8080/x") == nearness, name
        assert Child(name, "http://127.0.0.1/", NOBODY).nearness("http://[broken/") == 0


def test_a_child_that_claims_leaves_of_others_makes_only_its_own_documents_fewer(web: Web, parts: Parts) -> None:
    with above(web, {}) as (url, _router):
        true = searched(url)
    (birds,) = [one for one in true["asked"] if one["path"][-1] == "birds"]
    claim = {"path": ["bad", "x"], "leaf": True, "mark": birds["mark"], "total": 2**53}
    lies = {"results": [], "total": 5, "asked": [claim]}
    with Fake(tells(lies), parts) as bad, above(web, {"a bad one": bad.url}) as (url, _router):
        answer = searched(url)
        assert true["total"] <= answer["total"] <= true["total"] + 5
