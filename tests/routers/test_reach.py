"""A router looks through the routers of its own process: it asks the leaves below them, and tells the way."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from pagekin.collection import (
    Answer,
    RelatedOptions,
    RelatedRequest,
    ReloadingCollection,
    SearchRequest,
    Service,
    ShowRequest,
    as_items,
)
from pagekin.routers import Router
from pagekin.routers.ranking import BestSoFar
from tests.bags.webs import record

from .webs import build_leaf, eager

NOWHERE = "http://127.0.0.1:1/"
PATIENT = 60.0
"""Seconds for an answer: the first question may have to wait for the compiler."""
PLANTS = ("quince", "medlar", "sorrel", "tansy", "lovage", "borage")


def pages_of(name: str, first: int = 0) -> list[bytes]:
    """Six pages about plants, which share words with those of all other sites."""
    return [
        record(
            f"http://{name}.test/{page}",
            f"<title>{name} {plant}</title><p>{plant} of {name}, {' '.join(PLANTS[:page])}",
        )
        for page, plant in enumerate(PLANTS, first)
    ]


@pytest.fixture(scope="module")
def leaves(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("leaves")
    return {name: build_leaf(folder / f"{name}.kin", pages_of(name)) for name in ("north", "south", "east", "west")}


def opened(name: str, children: Mapping[str, Service], *others: str) -> Router:
    """A router above services of this process, and others that cannot be reached."""
    return Router(name, dict.fromkeys((*children, *others), NOWHERE), eager(), near=children)


async def learn(*routers: Router) -> None:
    """Let routers, the lowest first, ask their children for labels once."""
    for router in routers:
        await router.knowledge.refresh()


def make_tree(leaves: dict[str, Path]) -> tuple[Router, Router, Router]:
    """A root above a leaf and a router, which is above a leaf and a router with two leaves."""
    sites = {name: ReloadingCollection(name, path) for name, path in leaves.items()}
    low = opened("low", {name: sites[name] for name in ("north", "south")})
    middle = opened("middle", {"low": low, "east": sites["east"]})
    root = opened("root", {"middle": middle, "west": sites["west"]})
    asyncio.run(learn(low, middle, root))
    return low, middle, root


def asked(answer: Answer) -> set[str]:
    return {"/".join(node.path) for node in answer.asked}


def skipped(answer: Answer) -> dict[str, str]:
    return {"/".join(node.path): node.reason for node in answer.skipped}


def test_leaves_are_asked_directly_and_the_routers_on_the_way_are_told(leaves: dict[str, Path]) -> None:
    low, middle, root = make_tree(leaves)
    answer = asyncio.run(root.search(SearchRequest(deadline=PATIENT, query="medlar of", limit=30)))
    ways = {"root/west", "root/middle", "root/middle/east", "root/middle/low"}
    ways |= {"root/middle/low/north", "root/middle/low/south"}
    assert asked(answer) == ways
    assert not answer.skipped and not answer.partial
    assert low.requests == middle.requests == 0
    assert {hit.path for hit in answer.results} == {tuple(way.split("/")) for way in ways if way.count("/") != 1} - {
        ("root", "middle", "low")
    } | {("root", "west")}
    names = {number.number: number.name for number in root.label.clusters}
    assert {hit.cluster_name for hit in answer.results} <= {*names.values(), ""}
    shown = asyncio.run(root.show(ShowRequest(deadline=PATIENT, query="medlar", items=as_items(answer.results))))
    assert {hit.url for hit in shown.results} == {hit.url for hit in answer.results}


def test_a_router_stands_for_all_leaves_below_it_that_are_passed_over(leaves: dict[str, Path]) -> None:
    _low, _middle, root = make_tree(leaves)
    answer = asyncio.run(root.search(SearchRequest(deadline=PATIENT, query="west quince", match="all")))
    assert asked(answer) == {"root/west"}
    assert skipped(answer) == {"root/middle": "no page holds west"}
    answer = asyncio.run(root.search(SearchRequest(deadline=PATIENT, query="south OR north", match="all")))
    assert asked(answer) == {"root/middle", "root/middle/low", "root/middle/low/north", "root/middle/low/south"}
    assert skipped(answer) == {
        "root/west": "no page holds south, north",
        "root/middle/east": "no page holds south, north",
    }


def test_the_same_documents_are_found_step_by_step(leaves: dict[str, Path]) -> None:
    _low, _middle, root = make_tree(leaves)
    for query in ("quince", "sorrel tansy", "north OR east", "lovage absent"):
        through, stepwise = (
            asyncio.run(root.search(SearchRequest(deadline=PATIENT, query=query, limit=12, ask=ask)))
            for ask in (0, 1_000)
        )
        assert [(hit.url, hit.score, hit.path) for hit in through] == [
            (hit.url, hit.score, hit.path) for hit in stepwise
        ], query


def test_what_a_router_below_has_learned_since_counts_at_once(leaves: dict[str, Path], tmp_path: Path) -> None:
    site = ReloadingCollection("site", build_leaf(tmp_path / "site.kin", pages_of("site")))
    late = ReloadingCollection("late", leaves["west"])
    low = opened("low", {"site": site, "late": late})
    root = opened("root", {"low": low})
    low.children["late"].note_failure("not yet there")
    asyncio.run(learn(low, root))
    before = root.knowledge.reach
    assert root.knowledge.reach is before
    assert {target.name for target in before.targets.values()} == {"low", "low/site", "low/late"}
    asyncio.run(learn(low))
    assert root.knowledge.reach is before, "nothing new was learned"
    low.knowledge._stale = True
    asyncio.run(learn(low))
    assert root.knowledge.reach is not before


def test_children_whose_names_look_like_ways_are_not_confused(leaves: dict[str, Path]) -> None:
    low = opened("low", {"north": ReloadingCollection("north", leaves["north"])})
    root = opened("root", {"low": low, "low/north": ReloadingCollection("low/north", leaves["south"])})
    asyncio.run(learn(low, root))
    answer = asyncio.run(root.search(SearchRequest(deadline=PATIENT, query="quince", limit=20)))
    assert {hit.path for hit in answer.results} == {("root", "low", "north"), ("root", "low/north")}
    assert {hit.url.split("/")[2] for hit in answer.results} == {"north.test", "south.test"}


def test_a_router_below_that_knows_nothing_yet_is_asked_itself(leaves: dict[str, Path]) -> None:
    low = opened("low", {"north": ReloadingCollection("north", leaves["north"])})
    root = opened("root", {"low": low, "west": ReloadingCollection("west", leaves["west"])})
    root.settings = eager()
    asyncio.run(learn(root))
    assert root.knowledge.reach.ends == ["low", "west"]
    asyncio.run(learn(low))
    assert root.knowledge.reach.ends == ["low/north", "west"]


@pytest.mark.parametrize("k", [1, 3, 10])
def test_pages_whose_texts_are_left_out_below_are_no_results(
    leaves: dict[str, Path], monkeypatch: pytest.MonkeyPatch, k: int
) -> None:
    _low, _middle, root = make_tree(leaves)
    for url in ("http://north.test/3", "http://west.test/1"):
        request = RelatedRequest(deadline=PATIENT, url=url, ask=100, options=RelatedOptions(k=k))
        fewer = asyncio.run(root.related(request))
        with monkeypatch.context() as patch:
            patch.setattr(BestSoFar, "above", 0.0)
            every = asyncio.run(root.related(request))
        assert fewer.results == every.results
        assert (fewer.total, len(fewer.results)) == (every.total, k)


def test_an_address_belongs_to_the_router_that_is_named_after_its_domain(tmp_path: Path) -> None:
    """Two sites know a page only by links to it; each router on the way says whose it is."""
    link = '<a href="http://far.here.test/">quince garden by the sea</a>'
    own = [
        record(f"http://a.here.test/{page}", f"<title>Quince</title><p>medlar tansy rain {link} wind")
        for page in range(4)
    ]
    other = [record(f"http://b.there.test/{page}", f"<title>Quince</title><p>medlar tansy {link}") for page in range(4)]
    sites = {
        "one": ReloadingCollection("one", build_leaf(tmp_path / "one.kin", own)),
        "two": ReloadingCollection("two", build_leaf(tmp_path / "two.kin", other)),
    }
    here, there = opened("here.test", {"one": sites["one"]}), opened("there.test", {"two": sites["two"]})
    root = opened("root", {"there.test": there, "here.test": here})
    asyncio.run(learn(here, there, root))
    request = RelatedRequest(deadline=PATIENT, url="http://b.there.test/1", options=RelatedOptions(fold=False))
    answer = asyncio.run(root.related(request))
    (found,) = (hit for hit in answer.results if hit.url == "http://far.here.test/")
    alone = asyncio.run(there.related(request))
    assert found.score < max(hit.score for hit in alone.results if hit.url == found.url), "others may score more"
    assert found.path == ("root", "here.test", "one")
    assert {node.path for node in answer.asked if node.leaf} == {
        ("root", "here.test", "one"),
        ("root", "there.test", "two"),
    }
