"""A whole network over HTTP against its leaves: what is found, who is asked, in which order, how it is grouped."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pagekin.collection import parse_query
from pagekin.labels import ContentLabel, label_from_json, router_label
from pagekin.routers.routing import RoutingTable
from pagekin.text import Stats, TextIndex

from .questions import drawn
from .webs import Web, ask, get, post, searched_in, served, urls_of

QUESTIONS = 160


@pytest.fixture(scope="module")
def indexes(collections: dict[str, Path]) -> dict[str, TextIndex]:
    return {name: TextIndex.at(path) for name, path in collections.items()}


@pytest.fixture(scope="module")
def questions(indexes: dict[str, TextIndex]) -> list[str]:
    return list(drawn([index.corpus for index in indexes.values()], QUESTIONS, seed=11))


def label_of(web: Web, name: str) -> ContentLabel:
    return label_from_json(get(web.urls[name], "label").body)


@pytest.fixture(scope="module")
def table(web: Web) -> RoutingTable:
    """What the root knows, from its children's labels."""
    return RoutingTable({child: label_of(web, child) for child in web.children["root"]})


def stats_of(table: RoutingTable, query: str) -> Stats:
    return table.stats(parse_query(query))


@pytest.fixture(scope="module")
def answers(web: Web, questions: list[str], table: RoutingTable) -> list[tuple[str, Any, dict[str, Any]]]:
    """(query, what the root answers, what each leaf answers with the same statistics)."""

    def one(query: str) -> tuple[str, Any, dict[str, Any]]:
        stats = msgspec.to_builtins(stats_of(table, query))
        return query, web.search("root", query), {leaf: web.search(leaf, query, stats=stats) for leaf in web.leaves}

    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(one, questions))


def test_the_root_finds_exactly_what_its_leaves_find(answers: list[tuple[str, Any, dict[str, Any]]]) -> None:
    found = 0
    for query, whole, leaves in answers:
        assert whole["partial"] == [], query
        expected = set().union(*(urls_of(one) for one in leaves.values()))
        assert expected or "NOT" in query, f"{query} was drawn from a page"
        assert urls_of(whole) == expected, query
        found += len(expected)
    assert found > 5 * len(answers)


def test_whoever_is_skipped_holds_no_match(web: Web, answers: list[tuple[str, Any, dict[str, Any]]]) -> None:
    skipped = 0
    for query, whole, leaves in answers:
        met = {one["path"][-1] for one in whole["asked"]} | {one["path"][-1] for one in whole["skipped"]}
        assert met >= set(web.children["root"])
        for one in whole["skipped"]:
            for leaf in web.below(one["path"][-1]):
                assert not leaves[leaf]["results"], (query, one)
                skipped += 1
        asked = {one["path"][-1] for one in whole["asked"] if one["leaf"]}
        told = {leaf for one in whole["skipped"] for leaf in web.below(one["path"][-1])}
        assert asked | told == set(web.leaves), query
    assert skipped > 2 * len(answers)


def test_scores_are_those_of_the_full_text_index_with_the_networks_statistics(
    answers: list[tuple[str, Any, dict[str, Any]]], indexes: dict[str, TextIndex], table: RoutingTable
) -> None:
    for query, whole, _leaves in answers:
        stats = stats_of(table, query)

        scores = {
            leaf: searched_in(indexes[leaf], query, stats) for leaf in {one["path"][-1] for one in whole["results"]}
        }
        for one in whole["results"]:
            assert one["score"] == scores[one["path"][-1]].get(one["url"]), (query, one["url"])
        order = [(-one["score"], one["url"]) for one in whole["results"]]
        assert order == sorted(order)


def test_paths_lead_from_the_root_to_the_leaf(web: Web, answers: list[tuple[str, Any, dict[str, Any]]]) -> None:
    for _query, whole, leaves in answers:
        for one in whole["results"]:
            path = one["path"]
            assert path[0] == "root"
            assert all(below in web.children[above] for above, below in pairwise(path))
            assert one["url"] in urls_of(leaves[path[-1]])


def test_a_page_that_comes_by_two_ways_stands_once(answers: list[tuple[str, Any, dict[str, Any]]]) -> None:
    twice = 0
    for _query, whole, leaves in answers:
        urls = [one["url"] for one in whole["results"]]
        assert len(set(urls)) == len(urls)
        ways = {tuple(one["path"]) for one in whole["asked"] if one["path"][-1] == "birds"}
        twice += bool(leaves["birds"]["results"]) and len(ways) == 2
    assert twice > 10


def test_copies_are_folded_into_the_best_of_them_and_none_is_lost(web: Web, questions: list[str]) -> None:
    """mirror.example has copies of the pages of mountains.example, below another router."""
    copies = 0
    for query in [*questions[:10], "everest", "himalaya", "matterhorn OR eiger", "andes"]:
        apart, whole = web.search("root", query), web.search("root", query, raw=False)
        urls = [one["url"] for one in whole["results"]]
        folded = [url for one in whole["results"] for url in one["copies"]]
        assert len({*urls, *folded}) == len(urls) + len(folded)
        assert {*urls, *folded} == urls_of(apart) == {one["url"] for one in apart["results"]}
        scores = {one["url"]: one["score"] for one in apart["results"]}
        for one in whole["results"]:
            assert all(scores[one["url"]] >= scores[url] for url in one["copies"])
        copies += sum("mirror" in url or "mountains" in url for url in folded)
    assert copies > 10


def test_results_are_grouped_by_the_sub_clusters_to_which_the_label_brought_those_of_the_leaves(
    web: Web, answers: list[tuple[str, Any, dict[str, Any]]]
) -> None:
    """homes, taken hop by hop from the children's own labels."""
    merged = {
        name: router_label(name, {child: label_of(web, child) for child in children})
        for name, children in web.children.items()
    }
    checked = 0
    for _query, whole, leaves in answers[:80]:
        for one in whole["results"]:
            path = one["path"]
            number = next(found for found in leaves[path[-1]]["results"] if found["url"] == one["url"])["cluster"]
            for above, below in zip(path[-2::-1], path[:0:-1], strict=True):
                number = merged[above].homes[below][number]
            assert one["cluster"] == number
            assert one["cluster_name"] == merged["root"].label.clusters[number - 1].name
            checked += 1
        places = [place for group in whole["groups"] for place in group["results"]]
        assert sorted(places) == list(range(len(whole["results"])))
        for group in whole["groups"]:
            inside = {
                (whole["results"][at]["cluster"], whole["results"][at]["cluster_name"]) for at in group["results"]
            }
            assert inside == {(group["cluster"], group["name"])}
    assert checked > 200


def test_a_small_limit_gives_the_first_of_all(web: Web, answers: list[tuple[str, Any, dict[str, Any]]]) -> None:
    for query, whole, _leaves in answers[:30]:
        first = web.search("root", query, limit=3)
        assert len(first["results"]) == min(3, len(whole["results"]))
        assert [one["url"] for one in first["results"]] == [one["url"] for one in whole["results"]][:3]
        assert first["total"] == whole["total"] >= len(whole["results"])


def test_routing_all_asks_everyone_and_finds_the_same(web: Web, answers: list[tuple[str, Any, dict[str, Any]]]) -> None:
    for query, whole, _leaves in answers[:25]:
        every = web.search("root", query, routing="all")
        assert every["skipped"] == []
        assert {one["path"][-1] for one in every["asked"]} == set(web.urls) - {"root"}
        assert urls_of(every) == urls_of(whole)


def test_routing_by_terms_finds_nothing_more_and_loses_some(
    web: Web, answers: list[tuple[str, Any, dict[str, Any]]]
) -> None:
    lost = 0
    for query, whole, _leaves in answers[:60]:
        found = urls_of(web.search("root", query, routing="terms"))
        assert found <= urls_of(whole), query
        lost += found < urls_of(whole)
    assert lost


@pytest.mark.parametrize("most", [1, 2])
def test_ask_bounds_the_calls_of_every_router(
    web: Web, answers: list[tuple[str, Any, dict[str, Any]]], most: int
) -> None:
    fewer = 0
    for query, whole, _leaves in answers[:40]:
        some = web.search("root", query, ask=most)
        for router in web.children:
            calls = [one for one in some["asked"] if one["path"][-2] == router]
            assert len(calls) <= most * max(1, sum(one["path"][-1] == router for one in some["asked"]))
        assert urls_of(some) <= urls_of(whole)
        fewer += len(some["asked"]) < len(whole["asked"])
    assert fewer > 10


def test_not_takes_no_leaf_out_but_its_pages(web: Web) -> None:
    plain = web.search("root", "oxygen")
    without = web.search("root", "oxygen NOT element")
    pages = {one["url"] for one in web.search("root", "oxygen element")["results"]}
    assert urls_of(without) == urls_of(plain) - pages - urls_of(web.search("root", "oxygen element"))
    assert {tuple(one["path"]) for one in without["asked"]} == {tuple(one["path"]) for one in plain["asked"]}


def test_filters_hold_for_the_whole_network(web: Web) -> None:
    every = web.search("root", "tidewrack", raw=False)
    assert len(urls_of(every)) == 8
    assert {one["language"] for one in every["results"]} == {"en", "de"}
    german = web.search("root", "tidewrack", filters={"language": "de"})
    assert {one["url"].rpartition("/")[2] for one in german["results"]} == {"1", "3", "5", "7"}
    one = web.search("root", "tidewrack", filters={"site": "one.various.example"})
    assert {found["url"] for found in one["results"]} == {f"http://one.various.example/{n}" for n in range(4)}
    assert len(urls_of(web.search("root", "tidewrack", filters={"site": "various.example"}))) == 8
    assert urls_of(web.search("root", "tidewrack", filters={"site": "ous.example"})) == set()
    dates = {found["url"]: found["date"] for found in every["results"]}
    since, until = sorted(dates.values())[2], sorted(dates.values())[4]
    some = web.search("root", "tidewrack", filters={"since": since, "until": until})
    assert urls_of(some) == {url for url, date in dates.items() if since <= date <= until}
    assert len(urls_of(some)) == 3


def test_snippets_mark_what_was_asked_for(web: Web, questions: list[str]) -> None:
    marked = 0
    for query in [*questions[:20], "herring", "Heringen tidewrack"]:
        answer = web.search("root", query, raw=False, limit=20)
        assert answer["partial"] == []
        forms = {form for _attribute, form in _forms(query)}
        for one in answer["results"]:
            assert one["snippet"]
            for start, end in one["marks"]:
                words = one["snippet"][start:end]
                assert words and words == words.strip()
                assert _forms(words) and {form for _attribute, form in _forms(words)} <= forms, (query, words)
                marked += 1
    assert marked > 100
    bare = web.search("root", "herring", raw=True)
    assert all(one["snippet"] == "" and one["marks"] == [] for one in bare["results"])


def _forms(text: str) -> list[tuple[str | None, str]]:
    from pagekin.text import asked_forms

    return asked_forms(parse_query(text))


def test_a_composite_document_is_one_result(web: Web, indexes: dict[str, TextIndex]) -> None:
    """trees.example is one document here: its cover lists pages that link to each other alone."""
    pages = indexes["trees"].count(parse_query("tree"))
    assert pages > 5
    found = [one for one in web.search("root", "tree")["results"] if one["path"][-1] == "trees"]
    assert len(found) == 1
    assert found[0]["pages"] == len(indexes["trees"])
    assert web.search("trees", "tree")["total"] == 1


def test_limit_above_what_travels_with_text_still_answers(web: Web) -> None:
    answer = web.search("root", "the OR of OR and OR tidewrack", raw=False)
    assert answer["partial"] == []
    assert len(answer["results"]) > 200
    assert all(one["snippet"] for one in answer["results"][:200])


@pytest.fixture(scope="module")
def on_one_port(collections: dict[str, Path]) -> Iterator[Web]:
    tree = {"top": ("mid", "links"), "mid": ("birds", "elements")}
    chosen = {name: collections[name] for name in ("birds", "elements", "links")}
    with served(chosen, tree, ("127.0.0.9",), paths=True) as found:
        yield found


def test_a_network_on_one_port_with_a_path_for_each_answers_alike(on_one_port: Web) -> None:
    for query in ("oxygen", "bird OR element", "page NOT gold"):
        whole = on_one_port.search("top", query)
        assert whole["partial"] == []
        assert urls_of(whole) == set().union(*(urls_of(on_one_port.search(leaf, query)) for leaf in on_one_port.leaves))
    base = on_one_port.urls["top"].rpartition("/top/")[0]
    reply = get(base, "nobody/health")
    assert (reply.status, reply.json["detail"]) == (404, "no router is here")
    assert get(base, "midst/health").status == 404, "a path that only begins alike is another"
    assert get(base, "mid/health").json["name"] == "mid"


def test_statistics_of_another_analyser_are_refused_where_they_would_be_used(web: Web) -> None:
    stats = {"analyser": "another-9", "pages": 10, "words": 100, "df": {"oxygen": 1}}
    reply = post(web.urls["elements"], "search", query="oxygen", stats=stats)
    assert reply.status == 400 and "analyser" in reply.json["detail"]
    lacking = stats | {"analyser": stats_of(RoutingTable({}), "x").analyser, "df": {}}
    reply = post(web.urls["elements"], "search", query="oxygen", stats=lacking)
    assert reply.status == 400 and "oxygen" in reply.json["detail"]


def test_the_same_question_gets_the_same_answer(web: Web, questions: list[str]) -> None:
    def told(answer: Any) -> str:
        return json.dumps({key: answer[key] for key in ("results", "groups", "total")})

    for query in questions[:8]:
        assert told(web.search("root", query)) == told(web.search("root", query))
        assert told(ask(web.urls["root"], "search", query=query)) == told(get(web.urls["root"], "search", q=query).json)
