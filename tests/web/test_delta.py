"""The web pages of a collection with a delta: every page of it is there, whichever part has it, with all its neighbours."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from litestar.testing import TestClient

from pagekin.collection import ReloadingCollection
from pagekin.routers import Place
from pagekin.routers.serve import MountedRouters
from pagekin.web import web_app
from tests.bags.webs import record
from tests.engines.living import archive, build, update

from .views import collection_of, compare_view, page_view

TEA = "http://tea.example"
NEW, CHANGED, OLD = f"{TEA}/7.html", f"{TEA}/1.html", f"{TEA}/3.html"


def tea(number: int, more: str = "") -> bytes:
    text = f"Tea number {number} is brewed from leaves of a plant, with water and a pot: oolong, green, black. {more}"
    link = f"<a href={number % 6 + 1}.html>the next tea</a>"
    return f"<html lang=en><title>Tea {number}</title><p>{text} Leaf{number} {link}.".encode()


@pytest.fixture(scope="module")
def leaf(tmp_path_factory: pytest.TempPathFactory) -> ReloadingCollection:
    """Six pages; one of them has changed since, and a seventh has come."""
    folder = tmp_path_factory.mktemp("delta")
    pages = [record(f"{TEA}/{number}.html", tea(number), "2020-01-01T00:00:00Z") for number in range(1, 7)]
    build([archive(folder, "a.warc", pages)], folder / "tea.kin", whole=True)
    later = [record(CHANGED, tea(1, "Now with milk."), "2020-02-01T00:00:00Z")]
    later.append(record(NEW, tea(7, "It came later, with milk."), "2020-02-01T00:00:00Z"))
    update(folder / "tea.kin", archive(folder, "b.warc", later), way="delta")
    return ReloadingCollection("tea", folder / "tea.kin")


@pytest.fixture(scope="module")
def asked(leaf: ReloadingCollection) -> Iterator[TestClient[Any]]:
    with TestClient(MountedRouters({Place("testserver.local", 80): leaf}, web_app())) as client:
        yield client


def test_every_page_of_the_site_is_there(asked: TestClient[Any]) -> None:
    paths = ["/", "/about", "/find?q=oolong", "/find?q=milk", "/tree/clusters", "/cluster"]
    paths += [f"/page?url={quote(f'{TEA}/{number}.html', safe='')}" for number in range(1, 8)]
    paths.append(f"/compare?url={quote(NEW, safe='')}&url={quote(OLD, safe='')}")
    for path in paths:
        answer = asked.get(path, headers={"Accept": "text/html"})
        assert answer.status_code == 200, (path, answer.text[:300])
    assert "7 pages now" in asked.get("/about", headers={"Accept": "text/html"}).text


@pytest.mark.parametrize("url", [NEW, CHANGED, OLD])
def test_a_page_has_neighbours_of_all_parts_by_their_titles(leaf: ReloadingCollection, url: str) -> None:
    view = page_view(leaf, url)
    assert len(view.similar) >= 4
    assert all(one.page.title.startswith("Tea ") and one.page.captured for one in view.similar)
    assert {one.page.url for one in view.similar} & {NEW, CHANGED} - {url}
    assert view.neighbourhood is not None
    urls = [node.url for node in view.neighbourhood.nodes]
    drawn = {(urls[link.source], urls[link.target]) for link in view.neighbourhood.links}
    assert (CHANGED, f"{TEA}/2.html") in drawn or f"{TEA}/2.html" not in urls or CHANGED not in urls
    assert {trail.clusters[0].pages for trail in view.trails if trail.tree == "clusters"} == {7}


def test_pages_of_both_parts_are_compared(leaf: ReloadingCollection) -> None:
    view = compare_view(leaf, [NEW, OLD])
    assert 0 < view.similarities[0][1] < 1
    assert {"oolong"} <= {term.word for term in view.shared}


def test_links_are_found_from_either_part(leaf: ReloadingCollection) -> None:
    links = collection_of(leaf).links_among([CHANGED, f"{TEA}/2.html", OLD, NEW])
    assert links == [(0, 1), (1, 2), (3, 1)]
