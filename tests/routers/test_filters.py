"""Filters of every service, against what is left of the unfiltered answer when it is filtered by hand."""

import asyncio
import itertools
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from pagekin.cli.app import USAGE, app, load_verbs
from pagekin.collection import Filters, ReloadingCollection, SearchRequest, SelectRequest, may_pass
from tests.bags.webs import record

from .webs import Web, ask, build_leaf, get, post, served

load_verbs()
THEMES = ("harbour", "orchard", "foundry")
HOSTS = {
    "north": ("www.quay.example", "maps.quay.example", "field.example"),
    "south": ("quay.example:8080", "notquay.example", "old.field.example"),
}
TREE = {"top": ("mid", "south"), "mid": ("north",)}


@dataclass(frozen=True)
class Made:
    """A page as it was made: what filters ask for is known without asking anyone."""

    host: str
    day: str
    language: str


def _day(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())


def _pages(seed: int, hosts: tuple[str, ...]) -> dict[str, tuple[Made, bytes]]:
    """Pages of three themes on some hosts, of several years, in two languages; no two are copies."""
    chance = random.Random(seed)
    found = {}
    for number, (host, theme) in enumerate(itertools.product(hosts * 4, THEMES)):
        code, day = chance.choice(("en", "de")), f"20{chance.randrange(10, 20)}-06-01"
        own = [f"own{seed}x{number}x{place}" for place in range(8)]
        words = [f"{theme}{chance.randrange(40)}" for _ in range(30)] + own
        html = f"<html lang={code}><title>{theme} {number}</title><p>{theme} common {' '.join(words)}"
        url = f"http://{host}/{number}"
        found[url] = Made(host, day, code), record(url, html, date=f"{day}T00:00:00Z")
    return found


PAGES = {leaf: _pages(seed, hosts) for seed, (leaf, hosts) in enumerate(HOSTS.items())}
MADE = {url: made for pages in PAGES.values() for url, (made, _record) in pages.items()}
ASKED: dict[str, dict[str, Any]] = {
    "a site": {"site": "quay.example"},
    "a host": {"site": "maps.quay.example"},
    "a port": {"site": "quay.example:8080"},
    "since": {"since": _day("2014-06-01")},
    "until": {"until": _day("2014-06-01")},
    "a year": {"since": _day("2015-01-01"), "until": _day("2016-12-31")},
    "a language": {"language": "de"},
    "all together": {"site": "field.example", "since": _day("2012-01-01"), "language": "en"},
    "nothing": {"site": "nowhere.example"},
}


def passes(url: str, asked: dict[str, Any]) -> bool:
    """Whether a page passes filters, by how it was made."""
    made = MADE[url]
    site, host = asked.get("site", ""), made.host
    if site and not site.partition(":")[2]:
        host = host.partition(":")[0]
    of_site = not site or host == site or host.endswith("." + site)
    in_time = asked.get("since", 0) <= _day(made.day) <= asked.get("until", 2**53)
    return of_site and in_time and asked.get("language", made.language) == made.language


@pytest.fixture(scope="module")
def leaves(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("filtered")
    return {
        leaf: build_leaf(folder / f"{leaf}.kin", (raw for _made, raw in pages.values()))
        for leaf, pages in PAGES.items()
    }


@pytest.fixture(scope="module")
def quays(leaves: dict[str, Path]) -> Iterator[Web]:
    """Two leaves, one of them below a router of its own."""
    with served(leaves, TREE) as found:
        yield found


@pytest.fixture(params=["top", "mid", "north", "south"])
def at(quays: Web, request: pytest.FixtureRequest) -> str:
    """Routers and leaves."""
    return quays.urls[request.param]


def documents(answer: Any) -> list[tuple[str, float]]:
    """(address, score) of the documents in an answer, which must be whole and without copies."""
    assert answer["partial"] == []
    assert not any(one["copies"] for one in answer["results"])
    return [(one["url"], round(one["score"], 6)) for one in answer["results"] if one["kind"] == "document"]


def clusters(answer: Any) -> list[str]:
    return [one["url"] for one in answer["results"] if one["kind"] == "cluster"]


def items_of(answer: Any) -> list[dict[str, Any]]:
    return [{key: one[key] for key in ("kind", "url", "path", "cluster")} for one in answer["results"]]


def by_hand(answer: Any, asked: dict[str, Any]) -> list[tuple[str, float]]:
    return [pair for pair in documents(answer) if passes(pair[0], asked)]


def test_the_filters_of_the_tests_tell_pages_apart() -> None:
    for name, asked in ASKED.items():
        passed = sum(passes(url, asked) for url in MADE)
        assert (passed == 0) if name == "nothing" else 0 < passed < len(MADE), name


@pytest.mark.parametrize("name", ASKED)
def test_search_and_expand_give_what_is_left(at: str, name: str) -> None:
    """At a leaf `expand` gives documents, and filters act on its sub-clusters; a router's children stay."""
    asked = ASKED[name]
    for operation in ("search", "select", "expand"):
        whole = ask(at, operation, query="common", limit=1000, deadline=60.0)
        some = ask(at, operation, query="common", limit=1000, deadline=60.0, filters=asked)
        # Filters may change which sub-cluster is the best, and so the order of documents by sub-cluster.
        order = sorted if operation == "expand" else list
        assert order(documents(some)) == order(by_hand(whole, asked)), operation
        own = {
            one["url"]
            for one in ask(at, "select", query="common", limit=1000)["results"]
            if "cluster/" not in one["url"]
        }
        assert own & set(clusters(some)) == own & set(clusters(whole)), (
            "a router does not judge its children by filters"
        )
        few = ask(at, operation, query="common", limit=3, deadline=60.0, filters=asked)
        expected = [one["url"] for one in some["results"]][:3]
        assert [one["url"] for one in few["results"]] == expected
    assert documents(ask(at, "search", query="common", limit=1000, deadline=60.0)), "there is something to filter"


@pytest.mark.parametrize("name", ASKED)
def test_a_walk_down_gives_what_is_left(quays: Web, name: str) -> None:
    """From the root to the documents of all leaves, as a person walks."""
    asked, at = ASKED[name], quays.urls["top"]

    def walked(**more: Any) -> set[str]:
        step = ask(at, "select", query="harbour", limit=1000, **more)
        for _step in range(4):
            step = ask(at, "expand", query="harbour", limit=1000, deadline=60.0, items=items_of(step), **more)
            assert step["partial"] == []
        return {url for url, _score in documents(step)}

    whole = walked()
    assert whole == {url for url in MADE if THEMES[int(url.rpartition("/")[2]) % len(THEMES)] == "harbour"}
    assert walked(filters=asked) == {url for url in whole if passes(url, asked)}


@pytest.mark.parametrize("name", ASKED)
def test_select_among_results_so_far_gives_what_is_left(quays: Web, name: str) -> None:
    asked = ASKED[name]
    for leaf, url in ((leaf, quays.urls[leaf]) for leaf in PAGES):
        items = [{"kind": "document", "url": page} for page in PAGES[leaf]]
        whole = ask(url, "select", query="orchard OR foundry", items=items, limit=1000)
        some = ask(url, "select", query="orchard OR foundry", items=items, limit=1000, filters=asked)
        assert documents(some) == by_hand(whole, asked)
        assert documents(whole)
    found = ask(quays.urls["top"], "search", query="common", limit=1000)
    children = ask(quays.urls["top"], "select", query="common")
    some = ask(
        quays.urls["top"], "select", query="common", limit=1000, filters=asked,
        items=items_of(found) + items_of(children),
    )  # fmt: skip
    site = {key: value for key, value in asked.items() if key == "site"}
    assert [url for url, _score in documents(some)] == [
        url for url in [one["url"] for one in found["results"]] if passes(url, site)
    ]
    assert sorted(clusters(some)) == sorted(clusters(children))


@pytest.mark.parametrize("name", ASKED)
def test_suggestions_are_what_is_left(at: str, name: str) -> None:
    asked = ASKED[name]
    items = items_of(ask(at, "search", query="harbour", limit=4, deadline=60.0))
    whole = ask(at, "suggest", items=items, limit=10_000, deadline=60.0)
    some = ask(at, "suggest", items=items, limit=10_000, deadline=60.0, filters=asked)
    assert len(documents(whole)) > 5
    assert documents(some) == by_hand(whole, asked)
    assert some["total"] == len(documents(some))


@pytest.mark.parametrize("name", ASKED)
def test_related_pages_are_what_is_left(at: str, name: str) -> None:
    """Whether the page that is asked about passes or not."""
    asked = ASKED[name]
    for one in ask(at, "search", query="orchard", limit=3, deadline=60.0)["results"]:
        whole = ask(at, "related", url=one["url"], options={"k": 100}, deadline=60.0)
        some = ask(at, "related", url=one["url"], options={"k": 100, "filters": asked}, deadline=60.0)
        assert len(documents(whole)) > 5
        assert documents(some) == by_hand(whole, asked)
        few = ask(at, "related", url=one["url"], options={"k": 2, "filters": asked}, deadline=60.0)
        assert documents(few) == documents(some)[:2]


@pytest.mark.parametrize("operation", ["search", "select", "expand", "suggest", "related"])
def test_filters_that_cannot_be_are_the_callers_fault(at: str, operation: str) -> None:
    url = next(iter(MADE))
    more: dict[str, Any] = {
        "suggest": {"items": [{"kind": "document", "url": url}]}, "related": {"url": url},
    }.get(operation, {"query": "common"})  # fmt: skip
    for wrong in (
        {"language": "??"}, {"site": "a b"}, {"since": -1}, {"until": "now"}, {"colour": "red"}, 5, {"site": "x" * 300},
    ):  # fmt: skip
        given = {"options": {"filters": wrong}} if operation == "related" else {"filters": wrong}
        reply = post(at, operation, **given, **more)
        assert reply.status == 400 and reply.json["detail"], (operation, wrong)


@pytest.mark.parametrize("name", ["a site", "all together"])
def test_an_address_says_the_same(at: str, name: str) -> None:
    url = ask(at, "search", query="common", limit=1, deadline=60.0)["results"][0]["url"]
    for operation, got, posted in (
        ("search", {"q": "common"}, {"query": "common"}), ("select", {"q": "common"}, {"query": "common"}),
        ("expand", {"q": "common"}, {"query": "common"}), ("related", {"url": url}, {"url": url}),
    ):  # fmt: skip
        by_address = get(at, operation, **got, **ASKED[name])
        assert by_address.status == 200
        filters = {"filters": ASKED[name]}
        given = {"options": filters} if operation == "related" else filters
        assert by_address.json["results"] == ask(at, operation, **posted, **given)["results"]


def test_commands_take_the_same_filters(leaves: dict[str, Path], quays: Web) -> None:
    def ran(*arguments: str) -> Any:
        result = CliRunner().invoke(app, [*arguments, "--json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.output)

    flags = ["--site", "field.example", "--since", "2012-01-01", "--until", "2018-12-31", "--language", "en"]
    asked = {"site": "field.example", "since": _day("2012-01-01"), "until": _day("2019-01-01") - 1, "language": "en"}
    for target in (str(leaves["north"]), quays.urls["north"], quays.urls["top"]):
        for verb in ("search", "select", "expand", "suggest"):
            whole, some = (ran(verb, target, "common", "-k", "1000", *more) for more in ([], flags))
            assert documents(some) == by_hand(whole, asked), (verb, target)
            wrong = CliRunner().invoke(app, [verb, target, "common", "--since", "yesterday"])
            assert wrong.exit_code == USAGE and "write it as 1996-12-31" in wrong.output


hosts = st.from_regex(r"[a-c]{1,2}(\.[a-c]{1,2}){0,2}(:80[89])?", fullmatch=True)


@given(hosts, hosts)
def test_a_router_judges_a_site_as_leaves_do(host: str, site: str) -> None:
    from pagekin.text import is_of_site, site_name

    url = f"http://{host}/x"
    assert may_pass(url, Filters(site=site)) == is_of_site(urlsplit(url).netloc, site_name(site))


def test_what_is_no_address_is_of_no_site() -> None:
    for url in ("", "x", "javascript:alert(1)", "http://", "http://[", "file:///a.example/"):
        assert not may_pass(url, Filters(site="a.example"))
        assert may_pass(url, Filters(language="en")), "an address tells no language"


def test_without_filters_nothing_changes(leaves: dict[str, Path]) -> None:
    leaf = ReloadingCollection("north", leaves["north"])

    async def both() -> tuple[Any, Any]:
        return await leaf.expand(SelectRequest(query="common")), await leaf.search(
            SearchRequest(query="common", limit=100)
        )

    expanded, found = asyncio.run(both())
    assert {one.url for one in expanded.results} == {one.url for one in found.results}
    assert len(found.results) == len(PAGES["north"])
