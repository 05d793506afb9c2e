"""A leaf: what one collection answers for itself, also when it is made anew meanwhile."""

import asyncio
import shutil
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from pagekin.clusters import read_trees
from pagekin.collection import (  # fmt: skip
    Bag,
    Filters,
    Item,
    RefineRequest,
    RelatedOptions,
    RelatedRequest,
    ReloadingCollection,
    SearchRequest,
    SelectRequest,
    ServiceError,
    ShowRequest,
    SuggestRequest,
)
from pagekin.collection import Collection as OpenCollection
from pagekin.collection import reloading as leaf_module
from pagekin.hypertext import ReadPlan, read_sources
from pagekin.labels import plain_text, read_label
from pagekin.routers import Place, Router
from pagekin.similarity import RelatedIndex
from pagekin.store import KinError
from pagekin.text import QueryError, TextIndex, parse_query
from tests.bags.webs import record
from tests.engines.living import archive, build, update
from tests.routers.webs import Running, ask, build_leaf, eager, free_ports, get, request, urls_of, wait_for
from tests.text.collections import add_text_index

URL = "http://elements.example/oxygen.html"


def now(answer: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(answer)


@pytest.fixture(scope="module")
def elements(collections: dict[str, Path]) -> ReloadingCollection:
    return ReloadingCollection("elements", collections["elements"])


@pytest.fixture(scope="module")
def index(collections: dict[str, Path]) -> TextIndex:
    return TextIndex.at(collections["elements"])


@pytest.mark.parametrize("query", ["oxygen", "gas NOT oxygen", 'title:oxygen OR "atomic number"', "nowherefound"])
def test_search_is_the_full_text_index(elements: ReloadingCollection, index: TextIndex, query: str) -> None:
    hits = index.search(parse_query(query), 1000)
    answer = now(elements.search(SearchRequest(query=query, limit=1000)))
    assert answer.leaf and answer.router == "elements"
    assert [one.url for one in answer.results] == [index.corpus.page_url(page) for page in hits.pages]
    assert [one.score for one in answer.results] == hits.scores
    assert answer.total == hits.total
    few = now(elements.search(SearchRequest(query=query, limit=2)))
    assert few.results == answer.results[:2] and few.total == answer.total
    assert now(elements.search(SearchRequest(query=query, limit=0))).results == ()


def test_a_result_carries_the_sub_cluster_of_its_page(elements: ReloadingCollection, index: TextIndex) -> None:
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


def test_show_gives_the_pages_that_are_here_and_their_text(elements: ReloadingCollection) -> None:
    items = (
        Item("document", URL), Item("document", "http://elsewhere.example/"), Item("cluster", URL),
        Item("document", URL), Item("document", "\x00 no address"),
    )  # fmt: skip
    answer = now(elements.show(ShowRequest(query="oxygen gas", items=items)))
    (one,) = answer.results
    assert one.url == URL
    assert {one.snippet[start:end].lower() for start, end in one.marks} <= {"oxygen", "gas", "gases"}
    assert one.marks


def test_select_keeps_those_of_the_results_so_far_that_match(elements: ReloadingCollection, index: TextIndex) -> None:
    every = [one.url for one in now(elements.search(SearchRequest(query="element", limit=100))).results]
    items = tuple(Item("document", url) for url in [*every[:10], "http://elsewhere.example/"])
    kept = now(elements.select(SelectRequest(query="oxygen", items=items)))
    oxygen = {index.corpus.page_url(page) for page in index.search(parse_query("oxygen"), 100).pages}
    assert {one.url for one in kept.results} == oxygen & set(every[:10])
    assert now(elements.select(SelectRequest(query="oxygen", items=()))).results == ()
    same = now(elements.expand(SelectRequest(query="oxygen", items=items)))
    assert same.results == kept.results


def test_a_leafs_children_are_its_sub_clusters_and_theirs_the_documents(
    elements: ReloadingCollection, index: TextIndex
) -> None:
    oxygen = {index.corpus.page_url(page) for page in index.search(parse_query("oxygen"), 100).pages}
    clusters = now(elements.select(SelectRequest(query="oxygen"))).results
    assert {one.kind for one in clusters} == {"cluster"} and sum(one.matches for one in clusters) == len(oxygen)
    below = now(elements.expand(SelectRequest(query="oxygen")))
    assert {one.kind for one in below.results} == {"document"} and below.total == len(oxygen)
    assert {url for one in below.results for url in (one.url, *one.copies)} == oxygen
    assert [one.cluster for one in clusters] == list(dict.fromkeys(one.cluster for one in below.results))
    first = Item("cluster", clusters[0].url)
    inside = now(elements.expand(SelectRequest(query="oxygen", items=(first,)))).results
    assert inside == tuple(one for one in below.results if one.cluster == clusters[0].cluster)
    assert now(elements.select(SelectRequest(query="oxygen", items=(first,)))).results == clusters[:1]
    best = now(elements.expand(SelectRequest(query="oxygen", each=1))).results
    assert [one.cluster for one in best] == [one.cluster for one in clusters]
    second = now(elements.expand(SelectRequest(query="oxygen", first=1, limit=2)))
    assert second.results == below.results[1:3] and second.more == (len(below.results) > 3)


def test_refine_gives_terms_but_not_those_of_the_query(elements: ReloadingCollection) -> None:
    for preset in ("default", "hypursuit1996"):
        found = now(elements.refine(RefineRequest(query="metal NOT gold", count=5, preset=preset)))
        shown = (*found.collocated, *found.broader, *found.narrower)
        assert found.known and shown
        assert "metal" not in shown and "metals" not in shown
        assert max(map(len, (found.collocated, found.broader, found.narrower))) <= 5
        nothing = now(elements.refine(RefineRequest(query="nowherefound", preset=preset)))
        assert (nothing.known, nothing.collocated) == (0, ())


def test_suggest_never_gives_back_what_was_given(elements: ReloadingCollection, index: TextIndex) -> None:
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


def test_a_bag_that_travelled_finds_what_the_page_itself_finds(elements: ReloadingCollection, index: TextIndex) -> None:
    bag = now(elements.bag(RelatedRequest(url=URL)))
    assert bag.url == URL and "oxygen" in bag.words
    found = now(elements.related(RelatedRequest(bag=bag, options=RelatedOptions(k=8, captured_only=True))))
    true = RelatedIndex(index.corpus).related(URL, 8, captured_only=True)
    assert [one.url for one in found.results] == [one.url for one in true]
    assert [one.score for one in found.results] == pytest.approx([one.similarity for one in true], abs=1e-6)
    by_url = now(elements.related(RelatedRequest(url=URL, options=RelatedOptions(k=8, captured_only=True))))
    assert by_url.results == found.results


@pytest.mark.parametrize(
    "wrong",
    [
        {"strategy": "another"}, {"weights": ()}, {"weights": (1.0,)}, {"sketch": (1, 2)}, {"hashes": ()},
        {"weights": "huge"}, {"weights": "tiny"}, {"weights": "negative"}, {"hashes": "twice"}, {"hashes": "beyond"},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_bag_is_refused_at_once(elements: ReloadingCollection, wrong: dict[str, Any]) -> None:
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
    with pytest.raises(ServiceError) as refused:
        now(elements.related(RelatedRequest(bag=msgspec.structs.replace(bag, **changes))))
    assert refused.value.status == 400


def test_a_page_that_is_not_here_is_told_without_telling_where_the_collection_lies(
    elements: ReloadingCollection,
) -> None:
    for url in ("http://nowhere.example/", "", "\x00", "javascript:x"):
        with pytest.raises(ServiceError) as unknown:
            now(elements.bag(RelatedRequest(url=url)))
        assert unknown.value.status == 404
        assert str(elements.path) not in str(unknown.value)


def test_bad_filters_and_queries_are_the_callers_fault(elements: ReloadingCollection) -> None:
    for asked in (
        SearchRequest(query="("), SearchRequest(query=""), SearchRequest(query="NOT x"),
        SearchRequest(query="x", filters=Filters(language="?")), SearchRequest(query="x", filters=Filters(site="a b")),
    ):  # fmt: skip
        with pytest.raises(QueryError):
            now(elements.search(asked))


def test_plain_text_has_no_control_characters() -> None:
    assert plain_text("a\x1b[1m\u202eb\nc") == "a [1m b c"
    assert plain_text("Größe, 日本") == "Größe, 日本"


def test_a_collection_that_cannot_be_served_says_what_to_do(tmp_path: Path) -> None:
    bare = tmp_path / "bare.kin"
    archive = tmp_path / "bare.warc"
    archive.write_bytes(record("http://bare.example/", "<title>x</title><p>bare words"))
    read_sources(ReadPlan([str(archive)], bare))
    leaf = ReloadingCollection("bare", bare)
    with pytest.raises(KinError, match="pagekin index"):
        now(leaf.search(SearchRequest(query="bare")))
    with pytest.raises(KinError, match="pagekin cluster"):
        _ = leaf.label
    assert not now(leaf.health()).ready
    with pytest.raises(KinError):
        ReloadingCollection("missing", tmp_path / "missing.kin")
    (tmp_path / "empty").mkdir()
    with pytest.raises(KinError):
        ReloadingCollection("empty", tmp_path / "empty")


def test_without_an_index_of_related_pages_the_rest_still_answers(tmp_path: Path) -> None:
    from pagekin.clusters import ClusterSettings
    from pagekin.engines import cluster_collection

    archive, path = tmp_path / "some.warc", tmp_path / "some.kin"
    archive.write_bytes(b"".join(record(f"http://some.example/{n}", f"<p>pebble number{n} beach") for n in range(4)))
    read_sources(ReadPlan([str(archive)], path))
    add_text_index(path)
    cluster_collection(path, ClusterSettings(max_clusters=2))
    leaf = ReloadingCollection("some", path)
    assert now(leaf.search(SearchRequest(query="pebble"))).total == 4
    assert now(leaf.suggest(SuggestRequest(items=(Item("document", "http://some.example/1"),)))).leaf
    bag = Bag("x", (1,), (1.0,), (1,) * 64)
    for asked in (leaf.bag(RelatedRequest(url="http://some.example/1")), leaf.related(RelatedRequest(bag=bag))):
        with pytest.raises(ServiceError, match="not indexed") as missing:
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
    with Running([(ReloadingCollection("sea", path), Place("127.0.0.1", one)), (router, Place("127.0.0.1", two))]):
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


@pytest.mark.parametrize("way", ["merge", "delta"])
def test_a_leaf_that_is_updated_while_it_serves_answers_from_the_new_pages_and_never_from_removed_ones(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert leaf_module._LOOK_AGAIN <= 1, "an update is seen within two seconds"
    monkeypatch.setattr(leaf_module, "_LOOK_AGAIN", 0.05)
    archives = [archive(tmp_path, f"{word}.warc", sea(word)) for word in ("gull", "tern")]
    build(archives[:1], tmp_path / "sea.kin", whole=True)
    [port, top] = free_ports(2)
    url, router = f"http://127.0.0.1:{port}/", Router("top", {"sea": f"http://127.0.0.1:{port}/"}, eager())
    leaf = ReloadingCollection("sea", tmp_path / "sea.kin")
    with Running([(leaf, Place("127.0.0.1", port)), (router, Place("127.0.0.1", top))]):
        above = f"http://127.0.0.1:{top}/"
        wait_for(lambda: get(above, "health").json["ready"])
        assert ask(url, "search", query="sand")["total"] == 6
        assert ask(above, "search", query="tern")["skipped"][0]["reason"] == "no page holds tern"
        update(tmp_path / "sea.kin", archives[1], way=way)
        wait_for(lambda: ask(url, "search", query="tern")["total"] == 6)
        assert request(above + "refresh", "POST").status == 202
        wait_for(lambda: len(urls_of(ask(above, "search", query="tern"))) == 6)
        gone = "http://sea.example/gull3"
        assert update(tmp_path / "sea.kin", remove=[gone], way=way).way == way
        wait_for(lambda: gone not in urls_of(ask(url, "search", query="sand", limit=20)))
        assert ask(url, "search", query="sand")["total"] == 11
        assert ask(url, "search", query="gull3x", match="all")["total"] == 0
        assert gone not in urls_of(ask(url, "related", url="http://sea.example/gull2"))
        assert request(above + "refresh", "POST").status == 202
        wait_for(lambda: len(urls_of(ask(above, "search", query="sand", limit=20))) == 11)
        assert request(f"{url}related?url={gone}").status == 404


def test_a_collection_that_vanishes_answers_as_it_was_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaf_module, "_LOOK_AGAIN", 0.0)
    path = build_leaf(tmp_path / "sea.kin", sea("gull"), 2)
    leaf = ReloadingCollection("sea", path)
    path.rename(tmp_path / "away.kin")
    assert now(leaf.search(SearchRequest(query="gull", raw=True))).total == 6
    assert now(leaf.health()).error
    shutil.copytree(tmp_path / "away.kin", path)
    assert now(leaf.search(SearchRequest(query="gull"))).total == 6
    assert now(leaf.health()).error == ""


def test_opening_takes_the_collection_as_it_is(collections: dict[str, Path]) -> None:
    opened = OpenCollection("elements", collections["elements"])
    assert set(opened.published.etags) == {"refinement", "routing", "browsing"}
    assert opened.published.bytes > 1000
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
    leaf = ReloadingCollection("harbours", build_leaf(tmp_path / "harbours.kin", pages))
    [found] = now(leaf.search(SearchRequest(query="harbour7"))).results
    assert (found.url, found.copies) == ("http://original.example/x", ("http://amirror.example/x",))
    assert found.snippet and found.title == "Harbours"
