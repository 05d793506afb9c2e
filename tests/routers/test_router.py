"""A router's other services: select and expand step by step, suggest, related, refine, show, summary, health."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pagekin.collection import LabelThesaurus, parse_query
from pagekin.hypertext import Corpus
from pagekin.labels import (
    ABSTRACTION_FUNCTIONS,
    LeafCount,
    join_parts,
    label_from_json,
    leaf_identity,
    read_label,
    router_label,
)
from pagekin.routers import Place, Router
from pagekin.routers.routing import RoutingTable
from pagekin.similarity import RelatedIndex
from pagekin.text import TextIndex

from .webs import Running, Web, ask, eager, free_ports, get, post, searched_in, urls_of, wait_for

QUERY = "oxygen OR violin"


def items_of(answer: Any) -> list[dict[str, Any]]:
    return [{key: one[key] for key in ("kind", "url", "path", "cluster")} for one in answer["results"]]


def table_of(web: Web, name: str) -> RoutingTable:
    return RoutingTable({child: label_from_json(get(web.urls[child], "label").body) for child in web.children[name]})


# -- select and expand ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", [QUERY, "bird NOT page", '"atomic number"', "title:harbour", "nowherefound"])
def test_select_judges_children_by_their_labels_and_asks_nobody(web: Web, query: str) -> None:
    for name in web.children:
        before = {child: get(web.urls[child], "health").json["requests"] for child in web.children[name]}
        answer = ask(web.urls[name], "select", query=query)
        verdict = table_of(web, name).judge(parse_query(query))
        assert {one["title"] for one in answer["results"]} == set(verdict.ask)
        assert {one["path"][-1]: one["reason"] for one in answer["skipped"]} == verdict.skipped
        scores = table_of(web, name).cori(parse_query(query))
        order = [(-scores[one["title"]], one["url"]) for one in answer["results"]]
        assert order == sorted(order)
        for one in answer["results"]:
            assert one["kind"] == "cluster"
            assert one["url"] == web.urls[one["title"]]
            assert one["path"] == [name, one["title"]]
            assert one["pages"] > 0 and one["snippet"]
        assert answer["asked"] == []
        assert before == {child: get(web.urls[child], "health").json["requests"] for child in web.children[name]}


def test_select_of_results_so_far_keeps_children_that_match_and_documents_of_matching_sub_clusters(web: Web) -> None:
    every = [{"kind": "cluster", "url": web.urls[child]} for child in web.children["root"]]
    kept = ask(web.urls["root"], "select", query="violin", items=every)
    assert {one["title"] for one in kept["results"]} == {
        child for child in table_of(web, "root").judge(parse_query("violin")).ask
    }
    none = ask(web.urls["root"], "select", query="violin", items=[])
    assert none["results"] == []
    documents = items_of(web.search("root", QUERY))
    label = label_from_json(get(web.urls["root"], "label").body)
    may = ask(web.urls["root"], "select", query="violin", items=documents)["results"]
    kept_urls = {one["url"] for one in may}
    assert kept_urls < {one["url"] for one in documents}
    violins = {one["url"] for one in web.search("root", "violin")["results"]}
    assert violins <= kept_urls, "no document that matches is taken out"
    assert len(label.clusters) > 5


def test_expanding_step_by_step_comes_to_what_search_finds(web: Web) -> None:
    """Children, their children, and so on to documents: one hop a step. Copies are told at the step that folds them."""
    answer, met = ask(web.urls["root"], "select", query=QUERY), set()
    for _step in range(5):
        if all(one["kind"] == "document" for one in answer["results"]):
            break
        depth = {
            len(one["path"]) + ("/cluster/" in one["url"]) for one in answer["results"] if one["kind"] == "cluster"
        }
        answer = ask(web.urls["root"], "expand", query=QUERY, items=items_of(answer), limit=1000, deadline=30.0)
        assert answer["partial"] == []
        met |= {url for one in answer["results"] if one["kind"] == "document" for url in (one["url"], *one["copies"])}
        for one in answer["results"]:
            assert one["path"][0] == "root"
            assert all(below in web.children[above] for above, below in pairwise(one["path"]))
            deeper = len(one["path"]) + ("/cluster/" in one["url"])
            assert one["kind"] == "document" or min(depth) < deeper <= max(depth) + 1
    assert all(one["kind"] == "document" for one in answer["results"])
    assert met == urls_of(web.search("root", QUERY))


def test_expand_asks_only_children_that_match_and_keeps_documents(web: Web) -> None:
    answer = ask(web.urls["root"], "expand", query="violin")
    may = set(table_of(web, "root").judge(parse_query("violin")).ask)
    assert {one["path"][1] for one in answer["asked"]} == may
    for one in answer["results"]:
        assert one["path"][1] in may
    document = web.search("root", "violin", limit=1)["results"][0]
    kept = ask(web.urls["root"], "expand", query="violin", items=items_of({"results": [document]}))
    assert [one["url"] for one in kept["results"]] == [document["url"]]
    assert kept["asked"] == []


def test_items_that_nobody_knows_lead_nowhere(web: Web) -> None:
    strange = [
        {"kind": "cluster", "url": "http://127.0.0.1:1/", "path": ["root", "ghost", "x"]},
        {"kind": "cluster", "url": "http://169.254.169.254/", "path": []},
        {"kind": "document", "url": "http://ghost.example/", "path": ["other", "ghost"]},
    ]
    assert post(web.urls["root"], "select", query=QUERY, items=strange).status == 200
    expanded = ask(web.urls["root"], "expand", query=QUERY, items=strange)
    assert expanded["asked"] == [] and expanded["partial"] == []
    assert ask(web.urls["root"], "suggest", items=strange)["results"] == []
    assert ask(web.urls["root"], "show", query=QUERY, items=strange)["results"] == []


# -- the others -----------------------------------------------------------------------------------------------------------


def test_suggest_gives_likes_of_the_results_so_far_but_never_these(web: Web) -> None:
    for query in ("oxygen", "violin", "bird", "everest"):
        first = web.search("root", query, limit=5)
        more = ask(web.urls["root"], "suggest", items=items_of(first), limit=30)
        assert more["results"] and more["partial"] == []
        assert not {one["url"] for one in more["results"]} & {one["url"] for one in first["results"]}
        came_from = {one["path"][-1] for one in first["results"]}
        assert {one["path"][-1] for one in more["results"]} <= came_from
        urls = [one["url"] for one in more["results"]]
        assert len(set(urls)) == len(urls)
    assert ask(web.urls["root"], "suggest", items=[])["results"] == []


def test_related_pages_come_from_everywhere_in_the_order_of_their_likeness(
    web: Web, collections: dict[str, Path]
) -> None:
    url = "http://mountains.example/k2.html"
    answer = ask(web.urls["root"], "related", url=url, options={"k": 20}, ask=1000)
    assert answer["partial"] == []
    urls = [one["url"] for one in answer["results"]]
    assert url not in urls and len(set(urls)) == len(urls)
    scores = [one["score"] for one in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    own = RelatedIndex(Corpus.open(collections["mountains"])).related(url, 5, captured_only=True)
    # A mirror that is a little nearer, by what its own pages say, stands for the page.
    score = {page: one["score"] for one in answer["results"] for page in (one["url"], *one["copies"])}
    for one in own:
        assert one.similarity - 1e-6 <= score[one.url] <= one.similarity + 1e-3
    assert sum(score[one.url] == pytest.approx(one.similarity, abs=1e-6) for one in own) >= 3
    told = {one["path"][-1] for one in (*answer["asked"], *answer["skipped"])}
    assert told >= set(web.children["root"])
    by_path = ask(
        web.urls["root"], "related", url=url, path=["root", "nature", "mountains"], options={"k": 20}, ask=1000
    )
    assert [one["url"] for one in by_path["results"]] == urls
    assert get(web.urls["root"], "related", url=url, k=5).json["results"]
    few = ask(web.urls["root"], "related", url=url, ask=1)
    assert sum(len(one["path"]) == 2 for one in few["asked"]) == 1


def test_a_bag_comes_from_the_leaf_on_the_path_or_from_whoever_has_the_page(web: Web) -> None:
    url = "http://elements.example/oxygen.html"
    here = ask(web.urls["elements"], "bag", url=url)
    assert ask(web.urls["root"], "bag", url=url) == here
    assert ask(web.urls["root"], "bag", url=url, path=["root", "nature", "elements"]) == here
    missing = post(web.urls["root"], "bag", url="http://nowhere.example/")
    assert missing.status == 404 and "nowhere.example" in missing.json["detail"]


def test_refine_as_in_1996_is_the_thesaurus_of_the_childrens_labels(web: Web) -> None:
    for name in web.children:
        labels = {child: label_from_json(get(web.urls[child], "label").body) for child in web.children[name]}
        thesaurus = LabelThesaurus(labels)
        for query, pairs in (("metal", [(None, "metal")]), ("title:bird NOT page", [("title", "bird")])):
            found = ask(web.urls[name], "refine", query=query, count=6, preset="hypursuit1996")
            true = thesaurus.suggest(pairs, 6, plain=True)
            assert found["known"] == true.pages
            for kind in ("collocated", "broader", "narrower"):
                assert tuple(found[kind]) == getattr(true, kind)


def test_show_gives_pieces_of_text_from_the_leaves_on_the_paths(web: Web, collections: dict[str, Path]) -> None:
    first = web.search("root", QUERY, limit=8)
    answer = ask(web.urls["root"], "show", query=QUERY, items=items_of(first))
    assert answer["partial"] == []
    assert {one["url"] for one in answer["results"]} == {one["url"] for one in first["results"]}
    with_text = {one["url"]: one["snippet"] for one in web.search("root", QUERY, limit=8, raw=False)["results"]}
    for one in answer["results"]:
        assert one["snippet"] and with_text.get(one["url"], one["snippet"]) == one["snippet"]


def test_the_label_of_a_router_is_made_of_its_childrens_and_its_parts_join_to_it(web: Web) -> None:
    for name, children in web.children.items():
        label = label_from_json(get(web.urls[name], "label").body)
        below = {child: label_from_json(get(web.urls[child], "label").body) for child in children}
        for child in below.keys() & set(web.leaves):
            tags = get(web.urls[child], "health").json["etags"]
            own = LeafCount(leaf_identity(tags), below[child].num_docs, 0)
            below[child] = msgspec.structs.replace(below[child], leaves=(own,))
        made = router_label(name, below).label
        assert label == made
        parts = {part: label_from_json(get(web.urls[name], "label", part=part).body) for part in ABSTRACTION_FUNCTIONS}
        assert join_parts(parts) == label


def test_a_leafs_label_is_what_its_collection_publishes(web: Web, collections: dict[str, Path]) -> None:
    for name, path in collections.items():
        assert label_from_json(get(web.urls[name], "label").body) == read_label(Corpus.open(path).kin)


def test_summary_tells_people_what_is_there(web: Web) -> None:
    for name in web.urls:
        summary, label = get(web.urls[name], "summary").json, label_from_json(get(web.urls[name], "label").body)
        assert (summary["name"], summary["leaf"]) == (name, name not in web.children)
        assert summary["documents"] == label.num_docs
        assert [one["name"] for one in summary["clusters"]] == [one.name for one in label.clusters]
        assert tuple(summary["children"]) == web.children.get(name, ())
        assert tuple(summary["words"]) == label.heaviest


def test_health_tells_how_children_are(web: Web) -> None:
    for name in web.urls:
        health = get(web.urls[name], "health").json
        assert (health["name"], health["leaf"], health["ready"]) == (name, name not in web.children, True)
        assert set(health["etags"]) == set(ABSTRACTION_FUNCTIONS)
        assert [one["name"] for one in health["children"]] == list(web.children.get(name, ()))
        for child in health["children"]:
            assert child["up"] and child["error"] == "" and child["url"] == web.urls[child["name"]]
            assert child["label_bytes"] > 0 and child["label_age"] >= 0


def test_a_document_that_no_label_led_to_is_not_there(web: Web, collections: dict[str, Path]) -> None:
    """The whole network holds what its leaves hold: count by the indexes themselves."""
    for query in ("herring", "gold", "wing OR string"):
        expected = set().union(*(searched_in(TextIndex.at(path), query) for path in collections.values()))
        assert len(expected) > 3
        found = urls_of(web.search("root", query))
        trees = {url for url in expected | found if "trees.example" in url}  # its best page depends on statistics
        assert expected - trees == found - trees


def test_a_parent_that_asks_for_less_of_labels_gets_less_and_groups_by_what_it_got(web: Web) -> None:
    children = {child: web.urls[child] for child in web.children["nature"]}
    place = Place("127.0.0.1", free_ports(1)[0])
    narrow = Router("narrow", children, eager(child_bytes=12_000), 2)
    at = f"http://127.0.0.1:{place.port}/"
    with Running([(narrow, place)]):
        wait_for(lambda: (health := get(at, "health").json)["ready"] and all(one["up"] for one in health["children"]))
        got = {one["name"]: one["label_bytes"] for one in get(at, "health").json["children"]}
        full = {one["name"]: one["label_bytes"] for one in get(web.urls["nature"], "health").json["children"]}
        assert all(got[child] < full[child] for child in got)
        asked = web.search("nature", "oxygen OR mountain OR bird")
        answer = ask(at, "search", query="oxygen OR mountain OR bird", limit=10_000, raw=True, deadline=60.0)
        assert urls_of(answer) == urls_of(asked)
        # A sub-cluster of a child stays together, whatever it was merged with.
        homes: dict[tuple[str, int], set[int]] = {}
        each = [web.search(child, "oxygen OR mountain OR bird") for child in children]
        own = {one["url"]: one["cluster"] for found in each for one in found["results"]}
        for one in answer["results"]:
            homes.setdefault((one["path"][1], own.get(one["url"], -1)), set()).add(one["cluster"])
        assert all(len(found) == 1 and found != {0} for found in homes.values()), homes
        assert len({number for found in homes.values() for number in found}) > 1
    whole, cut = (get(web.urls["elements"], "label", **more) for more in ({}, {"max_bytes": 12_000}))
    assert len(cut.body) <= 12_000 < len(whole.body)
    assert cut.headers["etag"] != whole.headers["etag"]
    again = get(web.urls["elements"], "label", {"If-None-Match": cut.headers["etag"]}, max_bytes=12_000)
    assert again.status == 304
    assert get(web.urls["elements"], "label", max_bytes=10).status == 400
