"""The page of the network: who is there, how they are, and where a query goes."""

import json
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
from litestar.testing import TestClient

from tests.routers.webs import wait_for

from .conftest import NETWORK
from .parsed import Parsed, harm

SITES = {name for below in NETWORK.values() for name in below if name not in NETWORK}


def fetched(address: str, accept: str = "application/json") -> Any:
    with urlopen(Request(address, headers={"Accept": accept}), timeout=20) as answer:
        body = answer.read()
    return json.loads(body) if accept == "application/json" else body.decode()


def view_of(site: str, query: str = "") -> Any:
    return fetched(f"{site}network.json" + (f"?{urlencode({'q': query})}" if query else ""))


def _is_settled(view: Any) -> bool:
    """Whether the root knows of all documents below it."""
    documents = sum(node["documents"] for node in view["nodes"] if node["leaf"])
    return bool(view["nodes"][0]["documents"] == documents > 0)


@pytest.mark.parametrize("suffix", ["network", "network.json"])
def test_everyone_below_the_root_stands_in_the_tree_where_the_network_has_it(network_site: str, suffix: str) -> None:
    wait_for(lambda: _is_settled(view_of(network_site)), 60)
    view = fetched(f"{network_site}{suffix}")
    paths = {tuple(node["path"]) for node in view["nodes"]}
    assert paths == {
        ("whole",),
        *(("whole", router) for router in NETWORK["whole"]),
        *(("whole", router, site) for router in NETWORK["whole"] for site in NETWORK[router]),
    }
    assert view["total"] == len(paths) and view["sites"] == len(SITES) and view["down"] == 0 and view["levels"] == 3
    assert _is_settled(view)
    assert all(node["label_bytes"] > 0 and node["up"] for node in view["nodes"])


def test_a_query_is_seen_to_go_where_its_words_are_and_nowhere_else(network_site: str) -> None:
    view = view_of(network_site, "volcano summit")
    went = {node["path"][-1]: node["went"] for node in view["nodes"]}
    assert went["whole"] == went["nature"] == went["mountains"] == "asked"
    found = fetched(f"{network_site}search?{urlencode({'q': 'volcano summit'})}")
    asked = {tuple(one["path"]) for one in found["asked"]}
    skipped = {tuple(one["path"]) for one in found["skipped"]}
    assert skipped, "someone has none of these words"
    for node in view["nodes"][1:]:
        path = tuple(node["path"])
        expected = "asked" if path in asked else "skipped" if path in skipped else "not reached"
        assert node["went"] == expected, path
    assert view["found"] == found["total"] > 0 and view["asked"] == len(asked)


def test_the_page_draws_and_lists_them_with_links_to_their_own_sites(network_site: str) -> None:
    html = fetched(f"{network_site}network?{urlencode({'q': 'volcano'})}", "text/html")
    page, view = Parsed(html), view_of(network_site, "volcano")
    assert harm(html) == []
    classes = [one["class"] for one in page.all("rect")]
    assert len(classes) == len(view["nodes"])
    assert sum("asked" in one for one in classes) == sum(node["went"] == "asked" for node in view["nodes"])
    asked = [node for node in view["nodes"][1:] if node["went"] == "asked"]
    assert asked and all(node["url"] in page.links for node in asked)
    assert len(html) < 100_000


def test_a_query_that_cannot_be_read_is_refused_with_the_reason(network_site: str) -> None:
    with pytest.raises(Exception, match="400"):
        view_of(network_site, '"never closed')


def test_a_site_alone_is_its_own_network(client: TestClient[Any]) -> None:
    view = client.get("/network.json").json()
    assert [node["path"] for node in view["nodes"]] == [["demo"]] and view["sites"] == 1
    page = client.get("/network", headers={"Accept": "text/html"})
    assert "network init" in page.text and harm(page.text) == []
