"""Groups that hold results: which, the best of each, and the picture of one."""

from itertools import combinations, pairwise
from math import hypot
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from pagekin.collection import ReloadingCollection
from pagekin.hypertext import Corpus
from pagekin.web.collection_view import CollectionView
from pagekin.web.pages.results import A_PAGE, BEST_OF_GROUP, GROUPS_A_PAGE
from pagekin.web.pictures.group import draw_group, join_pages, order_circle
from tests.routers.webs import searched_in

from .finding import data, follow, results, shown

# -- select and expand ------------------------------------------------------------------------------------------------------


def homes(leaf: ReloadingCollection, query: str) -> dict[int, list[tuple[float, str]]]:
    """(score, address) of matching documents by sub-cluster, the best first: by the full-text index and the hierarchy itself."""
    now = leaf.collection
    tree = now.trees["clusters"]
    found: dict[int, list[tuple[float, str]]] = {}
    for url, score in searched_in(now.text, query).items():
        page = now.corpus.pages_of(now.corpus.url_number(url))[0]
        (number,) = (one.number for one in now.label.clusters if any(page in tree.pages_of(node) for node in one.nodes))
        found.setdefault(number, []).append((score, url))
    return {number: sorted(some, key=lambda pair: (-pair[0], pair[1])) for number, some in found.items()}


@pytest.mark.parametrize("query", ["river", "mountain OR metal", "zinc", "qwertzuiop"])
def test_select_counts_the_matching_documents_of_each_group(client: Any, demo: ReloadingCollection, query: str) -> None:
    expected = homes(demo, query)
    view = data(client, q=query, mode="select")
    found = results(view)
    while view["next"]:
        view = follow(client, view["next"])
        found += results(view)
    names = {one.name: one.number for one in demo.label.clusters}
    assert {names[one["title"]]: one["matches"] for one in found} == {n: len(some) for n, some in expected.items()}
    assert view["total"] == len(expected)
    assert view["documents"] == sum(map(len, expected.values()))
    order = sorted(expected, key=lambda number: (-expected[number][0][0], expected[number][0][1]))
    assert [names[one["title"]] for one in found] == order, "by their best documents"
    page = shown(client, f"/find?q={query.replace(' ', '+')}&mode=select")
    assert {one["label"] for one in found[:A_PAGE]} <= set(page.linked())


def test_expand_shows_the_best_of_each_group(client: Any, demo: ReloadingCollection) -> None:
    expected = homes(demo, "mountain")
    order = sorted(expected, key=lambda number: (-expected[number][0][0], expected[number][0][1]))
    view = data(client, q="mountain", mode="expand")
    assert view["total"] == len(expected)
    assert [group["cluster"] for group in view["groups"]] == order[:GROUPS_A_PAGE]
    for group in view["groups"]:
        mine = [url for _score, url in expected[group["cluster"]]]
        assert group["matches"] == len(mine)
        best = [one["url"] for one in group["results"]]
        assert 1 <= len(best) <= BEST_OF_GROUP
        assert best[0] == mine[0]
        assert best == [url for url in mine if url in best], "in the order of scores"
        # Whatever was passed over on the way is a copy of something that is shown.
        copies = {copy["text"] for one in group["results"] for copy in one["copies"]}
        assert set(mine[: mine.index(best[-1]) + 1]) <= {*best, *copies}
    after = follow(client, view["next"])
    assert [group["cluster"] for group in after["groups"]] == order[GROUPS_A_PAGE : 2 * GROUPS_A_PAGE]
    assert results(after)[0]["place"] > results(view)[-1]["place"]


def test_as_many_of_each_group_are_shown_as_are_asked_for(client: Any) -> None:
    for each in (1, 2, 12):
        view = data(client, q="mountain", mode="expand", each=each)
        assert all(len(group["results"]) <= each for group in view["groups"])
        assert max(len(group["results"]) for group in view["groups"]) == each
    assert client.get("/find", params={"q": "mountain", "mode": "expand", "each": 21}).status_code == 400


# -- the picture ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["mountain", "river", "oxygen", "piano OR volcano"])
def test_the_picture_shows_the_group_of_the_first_result(client: Any, query: str) -> None:
    view = data(client, q=query)
    first = next(group for group in view["groups"] if results(view)[0] in group["results"])
    assert view["picture"]["cluster"] == first["cluster"]
    assert view["picture"]["dots"][0]["place"] == 1


def test_it_is_another_than_the_group_with_most_results(client: Any) -> None:
    view = data(client, q="ice")
    most = max(view["groups"], key=lambda group: len(group["results"]))
    assert view["picture"]["cluster"] != most["cluster"], "or this query shows no difference any more"


def test_headings_lead_to_the_topic_and_similar_to_what_is_similar(client: Any, demo: ReloadingCollection) -> None:
    view = data(client, q="mountain")
    clusters = {one.number: one for one in demo.label.clusters}
    page = shown(client, "/find?q=mountain")
    for group in view["groups"]:
        nodes = clusters[group["cluster"]].nodes
        expected = f"/tree/clusters/{nodes[0]}" if len(nodes) == 1 else f"/cluster/{group['cluster']}"
        assert group["address"] == expected and expected in page.links
        assert client.get(expected).status_code == 200
    similar = [one["href"] for one in page.all("a") if one.get("aria-label", "").startswith("Similar to ")]
    assert similar == [f"{one['address']}#similar" for group in view["groups"] for one in group["results"]]
    assert any(of.get("id") == "similar" for _tag, of in shown(client, similar[0].partition("#")[0]).tags)


def test_the_picture_links_its_dots_and_draws_their_links(client: Any, demo: ReloadingCollection) -> None:
    view = data(client, q="mountain")
    (group,) = (one for one in view["groups"] if one["cluster"] == view["picture"]["cluster"])
    places = {dot["place"]: dot for dot in view["picture"]["dots"] if dot["place"]}
    assert {place: dot["address"] for place, dot in places.items()} == {
        one["place"]: one["address"] for one in group["results"]
    }
    corpus = demo.collection.corpus
    urls = [parse_qs(urlsplit(dot["address"]).query)["url"][0] for dot in view["picture"]["dots"]]
    assert {tuple(pair) for pair in view["picture"]["links"]} == linked(corpus, urls)
    page = shown(client, "/find?q=mountain")
    drawn = [of for tag, of in page.tags if tag == "path" and of.get("class") == "link"]
    assert len(drawn) == len(view["picture"]["links"])


def linked(corpus: Corpus, urls: list[str]) -> set[tuple[int, int]]:
    """Which of some addresses are joined by a link, by what pages say of themselves."""
    targets = {url: {anchor["target"] for anchor in (corpus.describe(url) or {})["anchors_out"]} for url in urls}
    return {
        (a, b)
        for a, b in combinations(range(len(urls)), 2)
        if urls[b] in targets[urls[a]] or urls[a] in targets[urls[b]]
    }


def test_dots_lie_apart_and_within_the_picture(demo: ReloadingCollection) -> None:
    view, topic = CollectionView.of(demo.collection), {"cluster": 1, "name": "", "address": ""}
    urls = [view.corpus.page_url(page) for page in range(45)]
    for count in (0, 1, 2, 3, 20, 45):
        layout = draw_group(view, {urls[page]: page + 1 for page in range(min(count, 10))}, urls[:count], **topic)
        assert len(layout.dots) == min(count, 20)
        for dot in layout.dots:
            assert dot.r <= dot.x <= layout.size - dot.r
            assert dot.r <= dot.y <= layout.size - dot.r
        for a, b in combinations(layout.dots, 2):
            assert hypot(a.x - b.x, a.y - b.y) > a.r + b.r
        assert len(layout.lines) == len(layout.links)


def test_what_is_linked_lies_side_by_side() -> None:
    chain = [4, 1, 6, 0, 5, 2, 3]
    order = order_circle(7, sorted((min(a, b), max(a, b)) for a, b in pairwise(chain)))
    assert order in (chain, chain[::-1])
    assert sorted(order_circle(9, [(0, 8), (2, 3)])) == list(range(9))


def test_links_of_pages_that_link_to_themselves_or_nowhere(demo: ReloadingCollection) -> None:
    view = CollectionView.of(demo.collection)
    urls = [view.corpus.page_url(page) for page in (5, 3, 9, 1)]
    assert all(a < b for a, b in join_pages(view, urls))
    assert join_pages(view, urls[:1]) == []
