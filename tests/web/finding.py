"""Results as they are asked for and looked at by tests."""

import asyncio
from typing import Any
from urllib.parse import parse_qs, urlsplit

from pagekin.collection import ReloadingCollection, SearchRequest
from tests.routers.webs import Reply, get

from .parsed import Parsed, harm, unguarded

HTML = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def shown(client: Any, address: str, status: int = 200) -> Parsed:
    """A page as it is read, which does no harm and is not heavy."""
    answer = client.get(address, headers=HTML)
    assert answer.status_code == status, answer.text[:500]
    assert len(answer.content) <= 100_000
    assert harm(answer.text) + unguarded(answer.text) == []
    return Parsed(answer.text)


def data(client: Any, **asked: Any) -> Any:
    """What `/find.json` tells."""
    answer = client.get("/find.json", params=asked)
    assert answer.status_code == 200, answer.text[:500]
    return answer.json()


def results(view: Any) -> list[Any]:
    """All results of a view, in the order of their places."""
    return sorted((one for group in view["groups"] for one in group["results"]), key=lambda one: one["place"])


def follow(client: Any, address: str) -> Any:
    """What is at the address of a link, as data."""
    parts = urlsplit(address)
    assert parts.path == "/find"
    return data(client, **{name: values[0] for name, values in parse_qs(parts.query).items()})


def searched(leaf: ReloadingCollection, query: str, limit: int) -> Any:
    """The answer of the service itself."""
    return asyncio.run(leaf.search(SearchRequest(query=query, limit=limit)))


def every_result(client: Any, query: str) -> list[Any]:
    """The results of all pages."""
    view = data(client, q=query)
    found = results(view)
    while view["next"]:
        view = follow(client, view["next"])
        found += results(view)
    return found


def asked_of(site: str, address: str) -> Reply:
    """A page of a site."""
    return get(site, address, headers=HTML)
