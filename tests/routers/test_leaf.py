"""A leaf: what one collection answers for itself, also when it is made anew meanwhile."""

import asyncio
import shutil
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from pagekin.clusters import read_trees
from pagekin.hypertext.read import ReadPlan, read_sources
from pagekin.labels.keep import read_label
from pagekin.labels.model import plain
from pagekin.routers import leaf as leaf_module
from pagekin.routers.leaf import Leaf
from pagekin.routers.messages import (
    Bag,
    Filters,
    Item,
    RefineRequest,
    RelatedRequest,
    RouterError,
    SearchRequest,
    SelectRequest,
    ShowRequest,
    SuggestRequest,
)  # fmt: skip
from pagekin.routers.open_leaf import OpenLeaf
from pagekin.routers.router import Router
from pagekin.routers.serve import Place
from pagekin.similarity import RelatedIndex
from pagekin.store import KinError
from pagekin.text import QueryError, TextIndex, parse, text_collection
from tests.bags.webs import record

from .webs import Running, ask, build_leaf, eager, free_ports, get, request, urls_of, wait_for

URL = "http://elements.example/oxygen.html"


def now(answer: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(answer)


@pytest.fixture(scope="module")
def elements(collections: dict[str, Path]) -> Leaf:
    return Leaf("elements", collections["elements"])


@pytest.fixture(scope="module")
def index(collections: dict[str, Path]) -> TextIndex:
    return TextIndex.at(collections["elements"])


@pytest.mark.parametrize("query", ["oxygen", "gas NOT oxygen", 'title:oxygen OR "atomic number"', "nowherefound"])
def test_search_is_the_full_text_index(elements: Leaf, index: TextIndex, query: str) -> None:
    hits = index.search(parse(query), 1000)
    answer = now(elements.search(SearchRequest(query=query, limit=1000)))
    assert answer.leaf and answer.router == "elements"
    assert [one.url for one in answer.results] == [index.corpus.page_url(page) for page in hits.pages]
    assert [one.score for one in answer.results] == hits.scores
    assert answer.total == hits.total
    few = now(elements.search(SearchRequest(query=query, limit=2)))
    assert few.results == answer.results[:2] and few.total == answer.total
    assert now(elements.search(SearchRequest(query=query, limit=0))).results == ()


def test_a_result_carries_the_sub_cluster_of_its_page(elements: Leaf, index: TextIndex) -> None:
    label = read_label(index.corpus.kin)
    assert label
    tree = next(tree for tree in read_trees(index.corpus.kin) if tree.name == "clusters")
    answer = now(elements.search(SearchRequest(query="element OR gas OR page", limit=1000)))
    assert len(answer.results) > 15
    for one in answer.results:
        cluster = label.clusters[one.cluster - 1]
        assert one.cluster_name == cluster.name
        pages = {index.corpus.page_url(int(page)) for node in cluster.nodes for page in tree.pages_of(node)}
        assert one.url in pages


def test_show_gives_the_pages_that_are_here_and_their_text(elements: Leaf) -> None:
    items = (
        Item("document", URL), Item("document", "http://elsewhere.example/"), Item("cluster", URL),
        Item("document", URL), Item("document", "\x00 no address"),
    )  # fmt: skip
    answer = now(elements.show(ShowRequest(query="oxygen gas", items=items)))
    (one,) = answer.results
    assert one.url == URL
    assert {one.snippet[start:end].lower() for start, end in one.marks} <= {"oxygen", "gas", "gases"}
    assert one.marks


def test_select_keeps_those_of_the_results_so_far_that_match(elements: Leaf, index: TextIndex) -> None:
    every = [one.url for one in now(elements.search(SearchRequest(query="element", limit=100))).results]
    items = tuple(Item("document", url) for url in [*every[:10], "http://elsewhere.example/"])
    kept = now(elements.select(SelectRequest(query="oxygen", items=items)))
    oxygen = {index.corpus.page_url(page) for page in index.search(parse("oxygen"), 100).pages}
    assert {one.url for one in kept.results} == oxygen & set(every[:10])
    assert now(elements.select(SelectRequest(query="oxygen", items=()))).results == ()
    same = now(elements.expand(SelectRequest(query="oxygen", items=items)))
    assert same.results == kept.results
    assert {one.url for one in now(elements.select(SelectRequest(query="oxygen"))).results} == oxygen


def test_refine_gives_terms_but_not_those_of_the_query(elements: Leaf) -> None:
    for preset in ("default", "hypursuit1996"):
        found = now(elements.refine(RefineRequest(query="metal NOT gold", count=5, preset=preset)))
        shown = (*found.collocated, *found.broader, *found.narrower)
        assert found.known and shown
        assert "metal" not in shown and "metals" not in shown
        assert max(map(len, (found.collocated, found.broader, found.narrower))) <= 5
        nothing = now(elements.refine(RefineRequest(query="nowherefound", preset=preset)))
        assert (nothing.known, nothing.collocated) == (0, ())


def test_suggest_never_gives_back_what_was_given(elements: Leaf, index: TextIndex) -> None:
    every = [index.corpus.page_url(page) for page in range(len(index))]
    for given in ([URL], every[:5], every[3:20], every, []):
        answer = now(elements.suggest(SuggestRequest(items=tuple(Item("document", url) for url in given), limit=50)))
        urls = [one.url for one in answer.results]
        assert not set(urls) & set(given)
        assert len(set(urls)) == len(urls)
        assert bool(urls) == (0 < len(given) < len(every))
    like = RelatedIndex(index.corpus).related(URL, 3, captured_only=True)
    best = [one.url for one in now(elements.suggest(SuggestRequest(items=(Item("document", URL),)))).results]
    assert {one.url for one in like} <= set(best)


def test_a_bag_that_travelled_finds_what_the_page_itself_finds(elements: Leaf, index: TextIndex) -> None:
    bag = now(elements.bag(RelatedRequest(url=URL)))
    assert bag.url == URL and "oxygen" in bag.words
    found = now(elements.related(RelatedRequest(bag=bag, limit=8)))
    true = RelatedIndex(index.corpus).related(URL, 8, captured_only=True)
    assert [one.url for one in found.results] == [one.url for one in true]
    assert [one.score for one in found.results] == pytest.approx([one.similarity for one in true], abs=1e-6)
    by_url = now(elements.related(RelatedRequest(url=URL, limit=8)))
    assert by_url.results == found.results


@pytest.mark.parametrize(
    "wrong",
    [
        {"strategy": "another"}, {"weights": ()}, {"weights": (1.0,)}, {"sketch": (1, 2)}, {"hashes": ()},
        {"weights": "huge"}, {"weights": "tiny"}, {"weights": "negative"}, {"hashes": "twice"}, {"hashes": "beyond"},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_bag_is_refused_at_once(elements: Leaf, wrong: dict[str, Any]) -> None:
    """Throwing darts at weights of 1e38 would never end."""
    bag = now(elements.bag(RelatedRequest(url=URL)))
    many = len(bag.hashes)
    values = {
        "huge": (1e38,) * many,
        "tiny": (1e-45,) * many,
        "negative": (-1.0, 2.0 - sum(bag.weights[2:]), *bag.weights[2:]),
    }
    changes = {
        key: values.get(value, value) if isinstance(value, str) and key == "weights" else value
        for key, value in wrong.items()
    }
    if wrong == {"hashes": "twice"}:
        changes = {"hashes": (bag.hashes[0], bag.hashes[0], *bag.hashes[2:])}
    if wrong == {"hashes": "beyond"}:
        changes = {"hashes": (2**63, *bag.hashes[1:])}
    with pytest.raises(RouterError) as refused:
        now(elements.related(RelatedRequest(bag=msgspec.structs.replace(bag, **changes))))
    assert refused.value.status == 400


def test_a_page_that_is_not_here_is_told_without_telling_where_the_collection_lies(elements: Leaf) -> None:
    for url in ("http://nowhere.example/", "", "\x00", "javascript:x"):
        with pytest.raises(RouterError) as unknown:
            now(elements.bag(RelatedRequest(url=url)))
        assert unknown.value.status == 404
        assert str(elements.path) not in str(unknown.value)


def test_bad_filters_and_queries_are_the_callers_fault(elements: Leaf) -> None:
    for asked in (
        SearchRequest(query="("), SearchRequest(query=""), SearchRequest(query="NOT x"),
        SearchRequest(query="x", filters=Filters(language="?")), SearchRequest(query="x", filters=Filters(site="a b")),
    ):  # fmt: skip
        with pytest.raises(QueryError):
            now(elements.search(asked))


def test_plain_text_has_no_control_characters() -> None:
    assert plain("a\x1b[1m\u202eb\nc") == "a [1m b c"
    assert plain("Größe, 日本") == "Größe, 日本"


def test_a_collection_that_cannot_be_served_says_what_to_do(tmp_path: Path) -> None:
    bare = tmp_path / "bare.kin"
    archive = tmp_path / "bare.warc"
    archive.write_bytes(record("http://bare.example/", "<title>x</title><p>bare words"))
    read_sources(ReadPlan([str(archive)], bare))
    with pytest.raises(KinError, match="pagekin cluster"):
        Leaf("bare", bare)
    with pytest.raises(KinError):
        Leaf("missing", tmp_path / "missing.kin")
    (tmp_path / "empty").mkdir()
    with pytest.raises(KinError):
        Leaf("empty", tmp_path / "empty")


def test_without_an_index_of_related_pages_the_rest_still_answers(tmp_path: Path) -> None:
    from pagekin.clusters import ClusterSettings
    from pagekin.engines import cluster_collection

    archive, path = tmp_path / "some.warc", tmp_path / "some.kin"
    archive.write_bytes(b"".join(record(f"http://some.example/{n}", f"<p>pebble number{n} beach") for n in range(4)))
    read_sources(ReadPlan([str(archive)], path))
    text_collection(path)
    cluster_collection(path, ClusterSettings(max_clusters=2))
    leaf = Leaf("some", path)
    assert now(leaf.search(SearchRequest(query="pebble"))).total == 4
    assert now(leaf.suggest(SuggestRequest(items=(Item("document", "http://some.example/1"),)))).leaf
    bag = Bag("x", (1,), (1.0,), (1,) * 64)
    for asked in (leaf.bag(RelatedRequest(url="http://some.example/1")), leaf.related(RelatedRequest(bag=bag))):
        with pytest.raises(RouterError, match="no index of related pages") as missing:
            now(asked)
        assert missing.value.status == 404


# -- made anew while it is served -----------------------------------------------------------------------------------------


def sea(word: str, count: int = 6) -> list[bytes]:
    return [
        record(f"http://sea.example/{word}{n}", f"<title>{word} {n}</title><p>{word} sand dune {word}{n}x")
        for n in range(count)
    ]


def test_a_rebuilt_collection_gives_new_answers_new_etags_and_a_new_label_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaf_module, "_LOOK_AGAIN", 0.05)
    path = build_leaf(tmp_path / "sea.kin", sea("gull"), 2)
    one, two = free_ports(2)
    url, top = f"http://127.0.0.1:{one}/", f"http://127.0.0.1:{two}/"
    router = Router("top", {"sea": url}, eager())
    with Running([(Leaf("sea", path), Place("127.0.0.1", one)), (router, Place("127.0.0.1", two))]):
        wait_for(lambda: get(top, "health").json["ready"])
        before = get(url, "health").json["etags"]
        old = get(url, "label", part="routing").headers["etag"]
        assert ask(top, "search", query="gull")["total"] == 6
        assert ask(top, "search", query="tern")["skipped"][0]["reason"] == "no page holds tern"
        build_leaf(path, sea("tern", 9), 3)
        wait_for(lambda: ask(url, "search", query="tern")["total"] == 9)
        assert ask(url, "search", query="gull")["total"] == 0
        after = get(url, "health").json["etags"]
        assert all(before[function] != after[function] for function in before)
        fresh = request(f"{url}label?part=routing", headers={"If-None-Match": old})
        assert fresh.status == 200 and fresh.headers["etag"] != old
        above = get(top, "label").headers["etag"]
        assert request(top + "refresh", "POST").status == 202
        wait_for(lambda: get(top, "label").headers["etag"] != above)
        found = ask(top, "search", query="tern")
        assert len(urls_of(found)) == 9 and found["partial"] == []
        assert ask(top, "search", query="gull")["skipped"][0]["path"] == ["top", "sea"]
        assert get(top, "health").json["documents"] == 9


def test_a_phrase_right_after_a_rebuild_is_answered_by_the_new_collection(tmp_path: Path) -> None:
    """What phrases need is opened at the first of them, and may be gone by then."""
    path = build_leaf(tmp_path / "sea.kin", sea("gull"), 2)
    leaf = Leaf("sea", path)
    assert now(leaf.search(SearchRequest(query="gull"))).total == 6
    build_leaf(path, sea("tern", 4), 2)
    leaf._looked = time.monotonic() + 60
    assert now(leaf.search(SearchRequest(query='"sand dune"'))).total == 4
    assert now(leaf.search(SearchRequest(query="gull"))).total == 0


def test_a_collection_that_vanishes_answers_as_it_was_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaf_module, "_LOOK_AGAIN", 0.0)
    path = build_leaf(tmp_path / "sea.kin", sea("gull"), 2)
    leaf = Leaf("sea", path)
    path.rename(tmp_path / "away.kin")
    assert now(leaf.search(SearchRequest(query="gull", snippets=False))).total == 6
    assert now(leaf.health()).error
    shutil.copytree(tmp_path / "away.kin", path)
    assert now(leaf.search(SearchRequest(query="gull"))).total == 6
    assert now(leaf.health()).error == ""


def test_opening_takes_the_collection_as_it_is(collections: dict[str, Path]) -> None:
    opened = OpenLeaf("elements", collections["elements"])
    assert set(opened.etags) == {"refinement", "routing", "browsing"}
    assert opened.label_bytes > 1000
    assert np.all(opened.cluster_of > 0), "every page is in a sub-cluster"


def test_of_copies_the_one_is_shown_to_which_most_links_lead(tmp_path: Path) -> None:
    text = " ".join(f"harbour{number}" for number in range(60))
    pages = [
        record(f"http://{host}.example/x", f"<title>Harbours</title><p>{text}") for host in ("amirror", "original")
    ]
    pages += [
        record(
            f"http://other{number}.example/",
            f"<title>Links {number}</title><p>words{number} of my own <a href='http://original.example/x'>harbours</a>",
        )
        for number in range(3)
    ]
    leaf = Leaf("harbours", build_leaf(tmp_path / "harbours.kin", pages))
    [found] = now(leaf.search(SearchRequest(query="harbour7"))).results
    assert (found.url, found.copies) == ("http://original.example/x", ("http://amirror.example/x",))
    assert found.snippet and found.title == "Harbours"
