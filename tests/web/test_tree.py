"""Hierarchies as pages: every cluster and every page can be reached, once, and what is told of them is true."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from litestar.testing import TestClient

from pagekin.clusters import ClusterDescription, Tree, document_of, fold_documents
from pagekin.collection import ReloadingCollection, ServiceError
from pagekin.routers import Place
from pagekin.routers.serve import MountedRouters
from pagekin.web import addresses, web_app
from pagekin.web.collection_view import CollectionView
from pagekin.web.pages.tree import CHILDREN, PAGES, ClusterMap, MapLink, tree_view
from pagekin.web.pages.why import link_by_address
from pagekin.web.rendering import templates
from tests.routers.webs import request

from .conftest import EVIL
from .parsed import Parsed, harm

HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def collection(demo: ReloadingCollection) -> CollectionView:
    return CollectionView.of(demo.collection)


def client_of(leaf: ReloadingCollection, path: str = "/") -> TestClient[Any]:
    app: Any = MountedRouters({Place("testserver.local", 80, path): leaf}, web_app())
    return TestClient(app)


@pytest.fixture(scope="module")
def hostile(hostile_collection: Path) -> Iterator[TestClient[Any]]:
    """Pages that mean harm, by a name that does, below a path."""
    with client_of(ReloadingCollection(f"{EVIL}\"'><b>\u202e🌋", hostile_collection), "/deep/down/") as made:
        yield made


def test_every_cluster_and_every_page_can_be_reached_once(collection: CollectionView) -> None:
    for name, tree in collection.trees.items():
        reached, pages = {0}, []
        for node in range(len(tree)):
            first = tree_view(collection, name, node, 1)
            views = [first, *(tree_view(collection, name, node, page) for page in range(2, first.last + 1))]
            children = [branch.node for view in views for branch in view.children]
            assert children == tree.children[node]
            assert first.children_total == len(children)
            assert first.here.pages == len(tree.pages_of(node))
            assert [one.node for one in first.path] == tree.path(node)[:-1]
            own = [page.url for view in views for page in view.pages]
            assert len(own) == len(set(own)) == first.pages_total
            # Central pages of a cluster with others in it are told apart from its own.
            pages += own + [page.url for page in first.central if tree.children[node]]
            reached |= set(children)
        assert reached == set(range(len(tree)))
        assert set(pages) == {collection.corpus.page_url(page) for page in range(len(collection.corpus))}


def test_long_lists_are_divided_and_every_part_is_full(collection: CollectionView) -> None:
    tree = collection.trees["addresses"]
    node = max(range(len(tree)), key=lambda one: int(tree.offsets[one + 1] - tree.offsets[one]))
    first = tree_view(collection, "addresses", node, 1)
    assert first.last == -(-first.pages_total // PAGES) > 1
    assert len(first.pages) == PAGES
    last = tree_view(collection, "addresses", node, first.last)
    assert len(last.pages) == first.pages_total - PAGES * (first.last - 1)
    with pytest.raises(ServiceError, match=f"the last is {first.last}"):
        tree_view(collection, "addresses", node, first.last + 1)


def test_the_most_central_pages_of_a_cluster_come_first(collection: CollectionView) -> None:
    tree = collection.trees["clusters"]
    leaf = next(node for node in range(len(tree)) if not tree.children[node] and len(tree.pages_of(node)) > 5)
    view = tree_view(collection, "clusters", leaf, 1)
    central = [collection.corpus.page_url(page) for page in tree.descriptions[leaf].central]
    assert [page.url for page in view.pages][: len(central)] == central
    assert view.central == ()


def test_the_map_shows_what_is_in_a_cluster_with_its_pages(collection: CollectionView) -> None:
    tree = collection.trees["clusters"]
    view = tree_view(collection, "clusters", 0, 1)
    assert {(one.node, one.pages) for one in view.map.clusters} == {
        (node, len(tree.pages_of(node))) for node in tree.children[0]
    }
    for picture in (view.map.wide, view.map.tall):
        areas = {tile.number: tile.box.width * tile.box.height for tile in picture.tiles}
        for number, one in enumerate(view.map.clusters):
            share = one.pages / sum(other.pages for other in view.map.clusters)
            assert areas[number] == pytest.approx(share * picture.width * picture.height, rel=0.01)


def test_a_map_holds_the_largest_clusters_and_tells_how_many_there_are() -> None:
    links = [MapLink(tree="t", node=node, name=f"n{node}", pages=node % 97) for node in range(500)]
    found = ClusterMap.of_links(links)
    assert found.of == sum(1 for link in links if link.pages)
    assert {one.pages for one in found.clusters} == set(range(91, 97))
    assert ClusterMap.of_links(links[:2]).clusters == ()


def test_clusters_without_a_name_on_the_map_are_listed_below_it() -> None:
    """Every cluster can be read: on its tile, or in the list below, in each size of the map."""
    links = [MapLink(tree="clusters", node=n + 1, name=f"topic{'s' * 9}{n}", pages=900 // (n + 1)) for n in range(20)]
    shown = ClusterMap.of_links(links)
    module: Any = templates().get_template("treemap.html").module
    parts = re.split("only-narrow", str(module.treemap(shown, "Map", addresses)))
    listed = []
    for part, picture in zip(parts, (shown.wide, shown.tall), strict=True):
        empty = {shown.clusters[tile.number].name for tile in picture.tiles if not tile.lines}
        also = part.partition("</svg>")[2]
        assert set(re.findall("<bdi>(.*?)</bdi>", also)) == empty
        assert part.count('class="ring"') == len(picture.tiles) == 20
        listed.append(empty)
    assert len(listed[0]) < len(listed[1]) < 20, "a phone has less room"


def test_a_parent_of_the_same_name_is_told_apart(demo_collection: Path) -> None:
    leaf = ReloadingCollection("demo", demo_collection)
    pages = range(len(leaf.collection.corpus))
    tree = Tree.of_paths(
        "directory", [(page, ("metals", "metals", "lead") if page % 3 else ("metals",)) for page in pages], {}
    )
    leaf.collection.trees["directory"] = tree
    node = next(node for node in range(len(tree)) if len(tree.path(node)) == 4)
    with client_of(leaf) as client:
        page = client.get(f"/tree/directory/{node}", headers=HTML).content.decode()
    crumbs = Parsed(page.partition('class="crumbs"')[2].partition("</nav>")[0].partition(">")[2])
    assert crumbs.text == f"Directory metals ({len(pages)} pages) metals"


def test_a_document_of_several_pages_is_listed_once() -> None:
    described = [
        ClusterDescription("", (), ()),
        ClusterDescription("A report", (), (7,)),
        ClusterDescription("odd", (), ()),
    ]
    documents = Tree("documents", np.array([-1, 0, 0]), np.array([0, 0, 3, 3]), np.array([5, 7, 8]), {}, described)
    covers = document_of(documents, 9)
    assert fold_documents(covers, [1, 5, 2, 8, 7]) == [1, 7, 2]
    assert fold_documents(document_of(None, 4), [3, 1, 3]) == [3, 1]
    assert fold_documents(covers, []) == []


def test_pages_and_json_tell_the_same(client: TestClient[Any]) -> None:
    for path in ("/tree/clusters", "/tree/clusters/1", "/tree/addresses", "/tree/addresses/2"):
        as_json = client.get(f"{path}.json")
        assert as_json.headers["content-type"] == "application/json"
        view = as_json.json()
        assert view == client.get(path, headers={"Accept": "application/json"}).json()
        page = Parsed(client.get(path, headers=HTML).text)
        for branch in view["children"]:
            assert f"/tree/{view['tree']}/{branch['node']}" in page.links
            assert branch["name"] in page.text
        for one in [*view["pages"], *view["central"]]:
            assert one["title"] in page.text
        assert f"{view['here']['pages']:,} pages" in page.text
        assert harm(client.get(path, headers=HTML).content) == []


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/tree/nothing", 404, "there are clusters, addresses"),
        ("/tree/clusters/99999", 404, "there is no cluster 99999"),
        ("/tree/clusters/-1", 404, "by its number"),
        ("/tree/clusters/1e9", 404, "by its number"),
        ("/tree/clusters/٣", 404, "by its number"),
        ("/tree/clusters/" + "9" * 5000, 404, "by its number"),
        (f"/tree/{EVIL.replace('/', '')}", 404, "there is no hierarchy"),
        ("/tree/clusters?page=77", 404, "the last is"),
        ("/tree/clusters?page=0", 400, ""),
        ("/tree/clusters?page=x", 400, ""),
    ],
)
def test_what_does_not_exist_is_told_kindly(client: TestClient[Any], path: str, status: int, said: str) -> None:
    found = client.get(path, headers=HTML)
    assert found.status_code == status
    assert said in unescape(found.text)
    assert harm(found.content) == []
    assert client.get(path).json()["status_code"] == status


def test_hostile_names_do_no_harm_and_links_stay_below_the_path(hostile: TestClient[Any]) -> None:
    seen, todo = (
        set[str](),
        ["/deep/down/", "/deep/down/tree/clusters", "/deep/down/cluster", "/deep/down/tree/addresses"],
    )
    while todo and len(seen) < 40:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        found = hostile.get(path, headers=HTML)
        assert found.status_code == 200, path
        assert harm(found.content) == [], path
        assert len(found.content) <= 100_000
        links = Parsed(found.content).links
        assert all(link.startswith(("/deep/down/", "#")) for link in links), links
        mine = ("/deep/down/tree/", "/deep/down/cluster")
        todo += [link for link in links if link.startswith(mine) and not link.endswith(".json")]
    assert len(seen) > 15


def test_a_page_of_which_only_the_address_is_known_has_a_name() -> None:
    assert link_by_address("http://a.example/x/British_monarchy.htm").title == "British monarchy"
    assert link_by_address("http://a.example/x/caf%C3%A9/").title == "café"
    for plain in (
        "http://a.example/",
        "http://a.example/index.html",
        "http://a.example/2004",
        "http://[",
        "http://a/?/x",
    ):
        assert link_by_address(plain).title == plain
    assert "\u202e" not in link_by_address("http://a.example/%E2%80%AEevil.htm").title


def test_a_router_shows_its_topics_instead(network_site: str) -> None:
    for suffix in ("", ".json"):
        found = request(f"{network_site}tree/clusters{suffix}")
        assert found.status == 303
        assert found.headers["location"].endswith(f"/cluster{suffix}")


def test_many_children_are_spread_over_several_pages(
    collection: CollectionView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pagekin.web.pages.tree.CHILDREN", 5)
    tree = collection.trees["addresses"]
    first = tree_view(collection, "addresses", 0, 1)
    assert CHILDREN > 5 == len(first.children)
    assert first.last == -(-len(tree.children[0]) // 5)


@pytest.mark.parametrize("letters", ["w" * 500, "語" * 40, '"' * 20, "🌋" * 30])
def test_a_wide_hierarchy_of_long_names_stays_a_small_page(demo_collection: Path, letters: str) -> None:
    leaf = ReloadingCollection("demo", demo_collection)
    pages = len(leaf.collection.corpus)
    paths = [(page % pages, (f"{page % 90} {letters}", f"{page % 17} {letters}")) for page in range(3 * pages)]
    tree = Tree.of_paths("directory", paths, {})
    central = [ClusterDescription(one.name, (letters,) * 12, (1, 2, 3, 4, 5)) for one in tree.descriptions]
    leaf.collection.trees["directory"] = replace(tree, descriptions=central)
    with client_of(leaf) as client:
        found = client.get("/tree/directory", headers=HTML)
        assert found.status_code == 200
        assert harm(found.content) == []
        assert len(found.content) <= 100_000
        assert Parsed(found.content).text.count("pages") > CHILDREN
