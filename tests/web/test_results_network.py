"""Results of a network: who was asked, who was passed over, what is missing."""

from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest

from pagekin.collection import ReloadingCollection
from pagekin.routers import Place, Router
from tests.routers.webs import eager, free_ports, get, wait_for

from .browser import Pages
from .finding import HTML, asked_of, results
from .parsed import Parsed, harm, unguarded


@pytest.fixture
def network(network_site: str) -> str:
    """The root of a network that has made its own label."""
    wait_for(lambda: get(network_site, "health").json["ready"])
    return network_site


def test_a_network_answers_with_paths_and_tells_who_was_asked(network: str) -> None:
    view = get(network, "find.json", q="metal OR opera").json
    assert view["total"] > 0
    for one in results(view):
        asked = parse_qs(urlsplit(one["address"]).query)
        assert urlsplit(one["address"]).path == "/whole/page"
        assert asked["url"] == [one["url"]]
        assert asked["path"][0].split("/")[0] == "whole"
        assert len(asked["path"][0].split("/")) == 3, "the top, a router, a leaf"
    told = {one["who"] for one in view["routers"]}
    assert {"nature", "culture", "nature › elements"} <= told
    assert view["routers_total"] == len(view["routers"])
    assert view["picture"] is None
    html = asked_of(network, "find?q=metal+OR+opera").body.decode()
    assert harm(html) + unguarded(html) == []
    page = Parsed(html)
    assert [urljoin(network, one["address"]) for group in view["groups"] for one in group["results"]] == [
        urljoin(network, link) for link in page.linked(data_result="")
    ]
    assert "Who was asked" in page.text
    assert "About " in page.text and "Similar to the first 30 results, but not among them." in page.text
    own = [link for link in page.linked() if link.startswith("/")]
    assert all(link.startswith("/whole/") for link in own)


def test_a_network_tells_why_somebody_was_passed_over(network: str) -> None:
    view = get(network, "find.json", q="saxophone").json
    skipped = {one["who"]: one["reason"] for one in view["skipped"]}
    assert "nature" in skipped
    assert "saxophone" in skipped["nature"]
    few = get(network, "find.json", q="the", ask="1").json
    assert any("promise more" in one["reason"] for one in few["skipped"])


def test_select_and_expand_at_a_router_give_its_children_and_theirs(network: str) -> None:
    chosen = results(get(network, "find.json", q="metal OR opera", mode="select").json)
    assert {one["title"] for one in chosen} == {"nature", "culture"}
    for one in chosen:
        assert one["kind"] == "cluster"
        assert one["url"].endswith(f"/{one['title']}/")
        assert one["label"] == one["url"] + "cluster"
        assert one["inside"]
        assert get(one["label"], "", headers=HTML).status == 200
    below = results(get(network, "find.json", q="metal", mode="expand").json)
    assert {one["title"] for one in below if one["kind"] == "cluster"} >= {"elements"}
    html = asked_of(network, "find?q=metal+OR+opera&mode=select").body.decode()
    assert harm(html) + unguarded(html) == []
    links = Parsed(html).linked()
    assert all(one["url"] in links and one["label"] in links for one in chosen)


def test_a_child_that_is_gone_is_told_on_top(demo_collection: Path) -> None:
    leaf_port, top_port, nobody = free_ports(3)
    leaf, top = f"http://127.0.0.1:{leaf_port}/", f"http://127.0.0.1:{top_port}/"
    router = Router("top", {"demo": leaf, "gone": f"http://127.0.0.1:{nobody}/"}, eager(settle=0.0))
    with Pages([(router, Place.of(top)), (ReloadingCollection("demo", demo_collection), Place.of(leaf))]):
        wait_for(lambda: get(top, "health").json["ready"])
        view = get(top, "find.json", q="river").json
        assert view["total"] > 0
        assert any("gone" in reason for reason in view["partial"])
        page = Parsed(asked_of(top, "find?q=river").body.decode())
        assert "Some results may be missing" in page.text


def test_a_router_that_knows_nobody_says_so() -> None:
    port, nobody = free_ports(2)
    top = f"http://127.0.0.1:{port}/"
    with Pages([(Router("top", {"gone": f"http://127.0.0.1:{nobody}/"}, eager()), Place.of(top))]):
        reply = asked_of(top, "find?q=river")
        assert reply.status == 503
        assert "gone" in Parsed(reply.body.decode()).text
        assert asked_of(top, "find").status == 200
