"""The page about a page of a network: a router leads on to the leaf, or shows similar pages of all."""

from typing import Any
from urllib.parse import urlencode

from tests.routers.webs import get, wait_for

from .fruit import (
    GONE,
)
from .parsed import harmless


def first_found(site: str) -> Any:
    """A page of the network, as soon as its root knows what is below."""
    return wait_for(lambda: get(site, "search", q="oxygen").json.get("results"))[0]


HTML = {"Accept": "text/html,application/xhtml+xml"}


def test_a_router_leads_on_to_the_leaf(network_site: str) -> None:
    found = first_found(network_site)
    url, trail = found["url"], "/".join(found["path"])
    at = network_site
    for name in found["path"][1:]:
        answer = get(at, "page", url=url, path=trail, other=1, headers=HTML)
        assert answer.status == 303
        target = answer.headers["location"]
        assert target.startswith(network_site.replace("/whole/", f"/{name}/") + "page?")
        assert urlencode({"url": url}) in target and "sites=other" in target
        at, trail = target.partition("page?")[0], trail.partition("/")[2]
    final = get(at, "page.json", url=url, path=trail)
    assert final.status == 200 and final.json["page"]["url"] == url


def test_a_router_leads_nowhere_else(network_site: str) -> None:
    for path in ("whole/evil", "whole/http%3A%2F%2Fevil.example", "whole/..", "whole//", "whole/elements"):
        answer = get(network_site, "page", url="http://a.example/", path=path)
        assert answer.status == 404 and "knows no router" in answer.json["detail"], path


def test_a_router_shows_similar_pages_of_the_whole_network(network_site: str) -> None:
    url = first_found(network_site)["url"]
    told = get(network_site, "page.json", url=url).json
    related = get(network_site, "related", url=url).json
    assert [(one["page"]["url"], one["similarity"], one["path"]) for one in told["similar"]] == [
        (one["url"], one["score"], one["path"]) for one in related["results"]
    ]
    assert told["similar"] and all(one["terms"] and one["reasons"] for one in told["similar"]), "with reasons"
    assert told["partial"] == related["partial"]
    seen = harmless(get(network_site, "page", url=url, headers=HTML).body.decode())
    for one in related["results"]:
        assert f"/whole/page?{urlencode({'url': one['url'], 'path': '/'.join(one['path'])})}" in seen.links
    missing = get(network_site, "page", url=f"{GONE}/", headers=HTML)
    assert missing.status == 404 and b"no router below knows the page" in missing.body
