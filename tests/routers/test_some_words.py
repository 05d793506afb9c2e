"""Questions that few pages of a network answer whole: sites merge as one collection of all their pages would."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pagekin.collection import Collection, ReloadingCollection, SearchRequest, parse_query
from pagekin.routers import Place, Router
from pagekin.routers.routing import RoutingTable
from pagekin.text import asked_forms, form_of, weigh_query
from tests.bags.webs import record

from .webs import Running, ask, build_leaf, eager, free_ports, get, wait_for

FILLER = "Some words about many other things that nobody has asked for yet."
SITES = {
    "one": {
        "1": ("Walls", "The quince grows by the harbour, far from any lantern."),
        "2": ("Boats", "A harbour of boats."),
        "3": ("Nets", "Nets dry at the harbour."),
    },
    "two": {
        "1": ("Jam", "Quince jam, quince paste and quince cheese."),
        "2": ("Lamps", "A lantern and another lantern."),
        "3": ("Harbour", "It has a wall."),
    },
    "three": {"1": ("Birds", "An owl."), "2": ("Voles", "A vole."), "3": ("Barns", "A barn.")},
}


def pages_of(name: str) -> list[bytes]:
    return [
        record(f"http://{name}.test/{page}", f"<title>{title}</title><p>{text} {FILLER}")
        for page, (title, text) in SITES[name].items()
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """All pages in one collection."""
    records = [page for name in SITES for page in pages_of(name)]
    return Collection("whole", build_leaf(tmp_path_factory.mktemp("whole") / "whole.kin", records))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a router above a leaf and a router with two leaves."""
    folder: Path = tmp_path_factory.mktemp("some")
    ports = dict(zip(("root", "middle", *SITES), free_ports(2 + len(SITES)), strict=True))
    urls = {name: f"http://127.0.0.1:{port}/" for name, port in ports.items()}
    leaves = [ReloadingCollection(name, build_leaf(folder / f"{name}.kin", pages_of(name))) for name in SITES]
    routers = [
        Router("middle", {name: urls[name] for name in ("two", "three")}, eager()),
        Router("root", {name: urls[name] for name in ("one", "middle")}, eager(), level=2),
    ]
    with Running([(service, Place("127.0.0.1", ports[service.name])) for service in (*leaves, *routers)]):
        wait_for(lambda: get(urls["root"], "health").json["documents"] == sum(map(len, SITES.values())))
        yield urls["root"]


@pytest.fixture(scope="module")
def near(tmp_path_factory: pytest.TempPathFactory) -> Router:
    """A router whose sites are asked directly, and so one after another."""
    folder: Path = tmp_path_factory.mktemp("near")
    leaves = {name: ReloadingCollection(name, build_leaf(folder / f"{name}.kin", pages_of(name))) for name in SITES}
    router = Router("near", dict.fromkeys(SITES, "http://127.0.0.1:1/"), eager(), near=leaves)

    async def known() -> None:
        await router.start()
        while (await router.health()).documents < sum(map(len, SITES.values())):
            await asyncio.sleep(0.01)
        await router.stop()

    asyncio.run(known())
    return router


@pytest.mark.parametrize("limit", [1, 2, 5])
@pytest.mark.parametrize(
    "question", ["quince harbour words", "quince lantern harbour", "lantern owl", "quince owl wall"]
)
def test_sites_that_cannot_have_better_pages_are_spared(
    near: Router, monkeypatch: pytest.MonkeyPatch, question: str, limit: int
) -> None:
    request = SearchRequest(query=question, limit=limit)
    near.answers.clear()
    spared = asyncio.run(near.search(request))
    monkeypatch.setattr(RoutingTable, "largest_scores", lambda *_asked: {})
    near.answers.clear()
    asked = asyncio.run(near.search(request))
    assert [(hit.url, hit.score) for hit in spared.results] == [(hit.url, hit.score) for hit in asked.results]
    assert spared.total <= asked.total
    assert len(spared.asked) <= len(asked.asked)
    if (question, limit) == ("quince harbour words", 1):
        assert "others have better pages" in {node.reason for node in spared.skipped}


@pytest.mark.parametrize("raw", [False, True])
def test_who_wants_no_hits_is_told_how_many_there_are(near: Router, whole: Collection, raw: bool) -> None:
    for question in ("quince harbour words", "quince owl wall", "harbour"):
        for match in ("all", "some"):
            request = SearchRequest(query=question, limit=0, raw=raw, match=match)
            near.answers.clear()
            answer = asyncio.run(near.search(request))
            expected = whole.search(request)
            assert (answer.total, answer.results, answer.more) == (expected.total, (), expected.more)


def test_no_page_scores_above_the_bound_of_the_words_that_its_site_holds(whole: Collection) -> None:
    corpus = whole.corpus
    for question in ("quince harbour lantern", "owl quince", "harbour wall boats"):
        query = parse_query(question, "some")
        stats = whole.text.stats_of(query)
        forms = [form for _attribute, form in asked_forms(query)]
        hits = whole.text.search(query, 100)
        pages = [{form_of(corpus.word(int(term))) for term in corpus.stream(page).words} for page in hits.pages]
        held = np.array([[form in page for form in forms] for page in pages])
        assert held.any(axis=1).all()
        assert (weigh_query(query, stats).largest_scores(held) >= hits.scores).all()


def found(answer: Any) -> list[str]:
    return [hit["url"] for hit in answer["results"]]


@pytest.mark.parametrize(
    "question",
    ["quince harbour", "what is a quince lantern harbour?", "lantern owl", "harbour zugzwang", "quinse harbour"],
)
def test_a_network_answers_as_one_collection_of_all_pages(root: str, whole: Collection, question: str) -> None:
    answer = ask(root, "search", query=question)
    expected = whole.search(SearchRequest(query=question))
    assert found(answer) == [hit.url for hit in expected.results]
    assert answer["total"] == expected.total
    assert answer["note"] == expected.note
    assert "some of them" in answer["note"]


def test_a_page_with_all_words_comes_before_those_with_some(root: str) -> None:
    answer = ask(root, "search", query="quince harbour")
    assert found(answer)[0] == "http://one.test/1"
    assert set(found(answer)[1:]) == {
        "http://one.test/2",
        "http://one.test/3",
        "http://two.test/1",
        "http://two.test/3",
    }
    assert [hit["score"] >= 1 for hit in answer["results"]] == [True, *4 * [False]]
    assert {hit["path"][-1] for hit in answer["results"]} == {"one", "two"}
    assert all(hit["snippet"] for hit in answer["results"])


def test_nothing_is_lost_where_no_child_has_all_words(root: str) -> None:
    answer = ask(root, "search", query="owl quince")
    assert set(found(answer)) == {"http://three.test/1", "http://one.test/1", "http://two.test/1"}
    assert ask(root, "search", query="owl AND quince")["total"] == 0
    assert ask(root, "search", query='"owl" quince')["total"] == 0


def test_a_word_that_nobody_has_is_spelt_otherwise(root: str) -> None:
    answer = ask(root, "search", query="lantren")
    assert "http://two.test/2" in found(answer)
    assert answer["query"] == "lantren"
    assert answer["note"] == "No page has \u201clantren\u201d; searched for \u201clantern\u201d."


@pytest.mark.parametrize("operation", ["select", "expand"])
def test_clusters_that_hold_some_words_are_selected_where_none_holds_all(root: str, operation: str) -> None:
    answer = ask(root, operation, query="owl zugzwang")
    assert answer["total"] > 0
    assert all("middle" in hit["path"] for hit in answer["results"])
