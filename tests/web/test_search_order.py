"""Pages of results, put together, are the whole list: in the order of scores, copies folded, originals shown."""

import asyncio
from typing import Any

import pytest

from pagekin.collection import ReloadingCollection, SearchRequest
from pagekin.web.question import LAST_PAGE

from .finding import data, results


def whole_list(leaf: ReloadingCollection, query: str, limit: int) -> list[tuple[str, tuple[str, ...]]]:
    """(address, copies) of all documents that match, by the service."""
    request = SearchRequest(query=query, limit=limit)
    return [(hit.url, hit.copies) for hit in asyncio.run(leaf.search(request)).results]


@pytest.mark.parametrize("query", ["the", "volcano", "mountain alps", "river OR bird"])
def test_all_pages_of_results_are_the_whole_list(client: Any, demo: ReloadingCollection, query: str) -> None:
    expected = whole_list(demo, query, 1_000)
    found = []
    for page in range(1, LAST_PAGE + 1):
        view = data(client, q=query, page=page)
        found += [(one["url"], tuple(copy["text"] for copy in one["copies"])) for one in results(view)]
        if not view["next"]:
            break
    assert found == expected[: 10 * LAST_PAGE]
    assert len({url for url, _copies in found}) == len(found)
    if len(expected) <= 10 * LAST_PAGE:
        assert view["different"] == len(expected)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("everest", "http://mountains.example/mount-everest.html"),
        ("europe", "http://rivers.example/topics/europe.html"),
        ("alps", "http://mountains.example/topics/alps.html"),
        ("amazon", "http://rivers.example/amazon.html"),
        ("nile", "http://rivers.example/nile.html"),
        ("flightless birds", "http://birds.example/topics/flightless-birds.html"),
    ],
)
def test_a_person_finds_first_what_is_called_so(client: Any, query: str, first: str) -> None:
    assert results(data(client, q=query))[0]["url"] == first


def test_no_list_of_links_stands_first_for_a_word(client: Any) -> None:
    for query in ("tree", "bird", "planet", "europe", "music", "river", "mountain", "volcano"):
        found = results(data(client, q=query))
        assert not found[0]["url"].endswith("/a-z.html"), query


def test_an_original_is_shown_and_not_its_mirror(client: Any) -> None:
    seen = [one for query in ("alps", "volcano", "mountain") for one in results(data(client, q=query))]
    mirrored = [one for one in seen if any("//mirror.example/" in copy["text"] for copy in one["copies"])]
    assert mirrored
    assert all(one["url"].startswith("http://mountains.example/") for one in mirrored)
