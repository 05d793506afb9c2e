"""The first page: what it tells of a collection is true, and everything on it leads somewhere."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import pytest
from litestar.testing import TestClient

from pagekin.collection import ReloadingCollection
from pagekin.routers import Place
from pagekin.routers.serve import MountedRouters
from pagekin.web import web_app
from pagekin.web.pages.home import home_view, readable_name
from pagekin.web.pages.tree import first_level
from tests.bags.webs import record
from tests.routers.webs import build_leaf, request, wait_for

from .parsed import Parsed, harm

HTML = {"Accept": "text/html"}


@pytest.fixture
def network(network_site: str) -> str:
    """The address of a router that knows its children."""
    wait_for(lambda: request(f"{network_site}health").json["ready"])
    return network_site


def test_the_numbers_are_those_of_the_collection(demo: ReloadingCollection) -> None:
    view = asyncio.run(home_view(demo))
    corpus = demo.collection.corpus
    urls = [corpus.page_url(page) for page in range(len(corpus))]
    hosts = Counter(urlsplit(url).netloc for url in urls)
    words = sum(len(corpus.words(page)) for page in range(len(corpus)))
    told = dict(view.figures)
    assert told["page"] == view.pages == len(urls)
    assert told["site"] == view.sites_total == len(hosts)
    assert told["word"] == words
    assert [(site.name, site.pages) for site in view.sites] == sorted(
        hosts.items(), key=lambda pair: (-pair[1], pair[0])
    )[:10]
    tree = demo.collection.trees["addresses"]
    for site in view.sites:
        assert {urlsplit(urls[page]).netloc for page in tree.pages_of(site.node)} == {site.name}
    assert view.languages[0][:2] == ("en", "English")


def test_the_map_holds_every_page_once_and_its_groups_are_clusters(demo: ReloadingCollection) -> None:
    view, tree = asyncio.run(home_view(demo)), demo.collection.trees["clusters"]
    nodes = [one.node for one in view.map.clusters]
    assert sorted(nodes) == sorted(first_level(tree))
    pages = sorted(page for node in nodes for page in tree.pages_of(node).tolist())
    assert pages == list(range(len(demo.collection.corpus)))
    for one in view.map.clusters:
        assert one.pages == len(tree.pages_of(one.node))
        assert one.group in tree.path(one.node)[:2]
        titles = {demo.collection.titles.text(page) for page in tree.descriptions[one.node].central}
        assert one.titles and set(one.titles) <= titles


def test_starting_pages_stand_for_different_clusters_and_lie_in_them(demo: ReloadingCollection) -> None:
    view, corpus, tree = asyncio.run(home_view(demo)), demo.collection.corpus, demo.collection.trees["clusters"]
    assert len({one.cluster.node for one in view.starts}) == len(view.starts) > 4
    assert len({one.page.site for one in view.starts}) > 4
    for one in view.starts:
        (page,) = corpus.pages_of(corpus.url_number(one.page.url))
        assert page in tree.pages_of(one.cluster.node)


def test_it_says_what_it_is_for_with_a_page_to_try(client: TestClient[Any], demo: ReloadingCollection) -> None:
    view = client.get("/index.json").json()
    page = Parsed(client.get("/", headers=HTML).content)
    assert "Pick any page: see which pages are like it, and why." in page.text
    assert f"For example: {view['like']['title']}" in page.text
    assert view["like"] in [one["page"] for one in view["starts"]]
    at = f"/page?url={quote(view['like']['url'], safe='')}#similar"
    assert at in page.links
    assert client.get(at.replace("/page", "/page.json").partition("#")[0]).json()["similar"]


def test_why_there_are_more_topics_here_than_at_the_top_is_told_once(
    client: TestClient[Any], demo: ReloadingCollection
) -> None:
    tree = demo.collection.trees["clusters"]
    top, here = len(tree.children[0]), len(first_level(tree))
    assert top != here, "or the demo web shows no difference any more"
    home, root = (Parsed(client.get(at, headers=HTML).content).text for at in ("/", "/tree/clusters"))
    assert f"from {top} wide topics down to narrow ones; this map shows the {here} between" in home
    assert f"shows them divided further, into {here} topics" in root


def test_a_collection_alone_has_no_network_in_its_menu(
    client: TestClient[Any], network: str, demo: ReloadingCollection
) -> None:
    def menu(html: bytes) -> list[str]:
        page = Parsed(html)
        return [text for tag, text in page.texts if tag == "a"][:8]

    assert "Network" not in menu(client.get("/", headers=HTML).content)
    assert "Network" in menu(request(network, headers=HTML).body)
    part = ReloadingCollection("part", demo.collection.path)
    part.above = (("top", "http://top.example/"),)
    app: Any = MountedRouters({Place("testserver.local", 80): part}, web_app())
    with TestClient(app) as asked:
        assert "Network" in menu(asked.get("/", headers=HTML).content)


def test_people_read_of_topics_not_of_clusters_or_groups(client: TestClient[Any]) -> None:
    for at in (
        "/",
        "/tree/clusters",
        "/tree/clusters/1",
        "/cluster",
        "/cluster/1",
        "/find?q=river",
        "/find?q=river&mode=select",
    ):
        text = Parsed(client.get(at, headers=HTML).content).text.lower()
        assert not {"cluster", "clusters", "group", "groups"} & set(text.split()), at


def test_examples_find_something(client: TestClient[Any]) -> None:
    examples = client.get("/index.json").json()["examples"]
    assert len(set(examples)) == len(examples) == 6
    for word in examples:
        assert client.get("/search", params={"q": word}).json()["total"] > 0


def test_the_page_shows_what_the_json_tells_and_links_to_all_of_it(client: TestClient[Any]) -> None:
    view = client.get("/index.json").json()
    assert view == client.get("/", headers={"Accept": "application/json"}).json()
    html = client.get("/", headers=HTML)
    page = Parsed(html.content)
    assert harm(html.content) == []
    assert len(html.content) <= 100_000
    assert ("bdi", view["name"]) in page.texts
    for one in view["map"]["clusters"]:
        assert page.links.count(f"/tree/clusters/{one['node']}") >= 2  # once for large screens, once for phones
    assert len(page.all("svg")) == 3  # with the one in the header
    assert [one for one in page.all("svg") if "data-zoom" in one] == [page.all("svg")[1]]
    for site in view["sites"]:
        assert f"/tree/addresses/{site['node']}" in page.links
    for start in view["starts"]:
        assert start["page"]["title"] in page.text
    for link in page.links:
        assert link.startswith(("/", "#"))
        if link.startswith(("/tree", "/cluster", "/about")):
            assert client.get(link, headers=HTML).status_code == 200, link


def test_every_tile_is_named_for_those_who_do_not_see_it(client: TestClient[Any]) -> None:
    view = client.get("/index.json").json()
    page = Parsed(client.get("/", headers=HTML).content)
    named = Counter(one["aria-label"] for one in page.all("a") if "aria-label" in one)
    for one in view["map"]["clusters"]:
        assert named[f"{one['name']}: {one['pages']:,} pages"] == 2


def test_links_of_a_collection_below_a_path_begin_with_it(demo_collection: Path) -> None:
    app: Any = MountedRouters(
        {Place("testserver.local", 80, "/some/where/"): ReloadingCollection("demo", demo_collection)}, web_app()
    )
    with TestClient(app) as client:
        page = Parsed(client.get("/some/where/", headers=HTML).content)
        assert all(link.startswith(("/some/where/", "#")) for link in page.links)
        assert len(page.links) > 40


def test_a_collection_of_a_single_page_has_a_first_page_too(tmp_path: Path) -> None:
    path = build_leaf(
        tmp_path / "one.kin", [record("http://one.example/", "<title>Only</title><p>quiet harbour words")]
    )
    leaf = ReloadingCollection("one", path)
    view = asyncio.run(home_view(leaf))
    assert view.map.clusters == () and view.pages == 1
    app: Any = MountedRouters({Place("testserver.local", 80): leaf}, web_app())
    with TestClient(app) as client:
        for address in ("/", "/tree/clusters", "/tree/addresses", "/cluster", "/cluster/1", "/evaluation", "/about"):
            found = client.get(address, headers=HTML)
            assert found.status_code == 200, address
            assert harm(found.content) == [], address
        assert "1 page from one.example" in Parsed(client.get("/", headers=HTML).content).text


def test_a_tile_of_the_map_tells_a_title_once(tmp_path: Path) -> None:
    words = {"stones": "granite slate basalt quarry marble", "birds": "wren feather wing beak nest"}
    records = [
        record(
            f"http://a.example/{topic}/{n}",
            f"<title>About {topic}</title><p>{some} {some.split()[n % 5]} number{topic}{n} "
            f"<a href='/{topic}/{(n + 1) % 12}'>more of {topic}</a>",
        )
        for topic, some in words.items()
        for n in range(12)
    ]
    tiles = asyncio.run(home_view(ReloadingCollection("a", build_leaf(tmp_path / "a.kin", records)))).map.clusters
    assert sorted(tile.titles for tile in tiles) == [("About birds",), ("About stones",)]


def test_a_collection_made_anew_is_told_anew(tmp_path: Path) -> None:
    records = [record(f"http://a.example/{n}", f"<title>Page {n}</title><p>word{n} harbour herring") for n in range(4)]
    leaf = ReloadingCollection("a", build_leaf(tmp_path / "a.kin", records[:3]))
    assert asyncio.run(home_view(leaf)).pages == 3
    assert asyncio.run(home_view(leaf)) is asyncio.run(home_view(leaf))
    build_leaf(tmp_path / "a.kin", records)
    leaf.source.look_again()
    assert asyncio.run(home_view(leaf)).pages == 4


@pytest.mark.parametrize(
    ("name", "said"),
    [("the_birds", "The birds"), ("cs-cornell", "Cs cornell"), ("", "This collection"), ("\u202ex", "X"), ("É", "É")],
)
def test_names_are_written_as_people_write_them(name: str, said: str) -> None:
    assert readable_name(name) == said


def test_a_router_tells_what_is_below_it(network: str) -> None:
    view = request(f"{network}index.json").json
    summary = request(f"{network}summary").json
    assert not view["leaf"]
    assert view["pages"] == summary["documents"]
    assert {site["name"] for site in view["sites"]} == set(summary["children"]) == {"nature", "culture"}
    assert sum(site["pages"] for site in view["sites"]) == view["pages"]
    assert {(one["node"], one["name"], one["pages"]) for one in view["map"]["clusters"]} <= {
        (one["number"], one["name"], one["documents"]) for one in summary["clusters"]
    }
    found = request(network, headers=HTML)
    assert harm(found.body) == []
    page = Parsed(found.body)
    central = {url for one in summary["clusters"] for url in one["urls"]}
    assert view["starts"] and "Good places" in page.text
    for start in view["starts"]:
        assert start["page"]["url"] in central and start["page"]["title"] in page.text
        at = f"{network}start?url={quote(start['page']['url'], safe='')}"
        for _step in range(3):  # through two routers to the leaf that has it, and to the page there
            told = request(at, headers=HTML)
            assert told.status == 303
            at = urljoin(at, told.headers["location"])
        shown = request(at, headers=HTML)
        assert shown.status == 200
        assert start["page"]["url"] in Parsed(shown.body).text
    lost = request(f"{network}start?url=http%3A%2F%2Fnowhere.example%2F", headers=HTML)
    assert lost.headers["location"] == "/whole/page?url=http%3A%2F%2Fnowhere.example%2F"
    assert view["name"] == summary["name"] and "Search 4 collections as one" in page.text
    for site in view["sites"]:
        assert site["url"] in page.links
        assert request(site["url"], headers=HTML).status == 200
    for one in view["map"]["clusters"]:
        path = urlsplit(network).path.rstrip("/")
        assert f"{path}/cluster/{one['node']}" in page.links


def test_a_router_names_pages_by_the_titles_that_its_leaves_tell(network: str) -> None:
    nature = network.replace("/whole/", "/nature/")
    view = request(f"{nature}index.json").json
    assert view["starts"]
    page = Parsed(request(nature, headers=HTML).body)
    for start in view["starts"]:
        name, leaf = start["path"]
        assert (name, start["way"]) == ("nature", "")
        told = request(f"{nature.replace('/nature/', f'/{leaf}/')}page.json?url={quote(start['page']['url'], safe='')}")
        assert told.json["page"]["title"] == start["page"]["title"]
        at = next(link for link in page.links if quote(start["page"]["url"], safe="") in link)
        shown = request(urljoin(nature, at), headers=HTML)
        assert (shown.status, f"/{leaf}/page?" in shown.headers["location"]) == (303, True)
