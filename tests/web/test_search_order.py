"""Pages of results, put together, are the whole list: in the order of scores, copies folded, originals shown."""

import asyncio
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.bags.copies import EMPTY, PLACES, are_copies
from pagekin.routers.leaf import Leaf
from pagekin.routers.messages import SearchRequest
from pagekin.routers.results import merged
from pagekin.text import Hits, parse
from pagekin.web.collection import Collection, collection_of
from pagekin.web.pages import ranked as ranked_pages
from pagekin.web.pages.ranked import folded, ranked
from pagekin.web.question import LAST_PAGE

from .finding import data, results


def whole_list(leaf: Leaf, query: str, limit: int) -> list[tuple[str, tuple[str, ...]]]:
    """(address, copies) of all documents that match, by the service and its own way to fold copies."""
    request = SearchRequest(query=query, limit=limit, snippets=False)
    every = asyncio.run(leaf.search(request)).results
    return [(one.url, one.copies) for one in map(leaf.now.by_its_original, merged(every, limit, seen=limit))]


@pytest.mark.parametrize("query", ["the", "volcano", "mountain alps", "river OR bird"])
def test_all_pages_of_results_are_the_whole_list(client: Any, demo: Leaf, query: str) -> None:
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


# -- copies ---------------------------------------------------------------------------------------------------------------


def slowly_folded(rows: Any, urls: list[int]) -> dict[int, list[int]]:
    """Each place is compared with all before it that remain."""
    kept: dict[int, list[int]] = {}
    home: dict[int, int] = {}
    for place, url in enumerate(urls):
        at = home.get(url, -1)
        if at < 0 and (rows[place] != EMPTY).any():
            with_words = [other for other in kept if (rows[other] != EMPTY).any()]
            at = next((other for other in with_words if are_copies(rows[[other]], rows[place])[0]), -1)
        home.setdefault(url, place if at < 0 else at)
        if at < 0:
            kept[place] = []
        else:
            kept[at].append(place)
    return kept


class Sketched:
    """A collection of sketches and addresses alone."""

    def __init__(self, rows: Any, urls: list[int]) -> None:
        self.corpus = self
        self.kin = {"copy.rows": rows.reshape(-1), "page.url": np.array(urls)}


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_copies_are_folded_as_by_comparing_all_with_all(seed: int) -> None:
    chance = random.Random(seed)
    some = np.random.default_rng(seed)
    rows: list[Any] = []
    for _ in range(chance.choice([0, 1, 2, 30, 60])):
        if rows and chance.random() < 0.6:
            row = chance.choice(rows).copy()
            places = some.choice(PLACES, chance.choice([0, 1, 4, 6, 7, 12]), replace=False)
            row[places] = some.integers(0, EMPTY + 1, len(places))
        else:
            row = some.integers(0, EMPTY, PLACES).astype(np.uint16)
            row[some.random(PLACES) < chance.choice([0, 0.5, 0.95, 1.0])] = EMPTY
        rows.append(row.astype(np.uint16))
    urls = [chance.choice([place, max(place - 1, 0)]) for place in range(len(rows))]
    table = np.array(rows, np.uint16).reshape(-1, PLACES)
    pages = chance.sample(range(len(rows)), len(rows))
    expected = slowly_folded(table[pages], [urls[page] for page in pages])
    collection: Any = Sketched(table, urls)
    assert folded(collection, pages) == expected
    assert list(folded(collection, pages)) == list(expected)


def test_when_nearly_all_are_copies_more_are_looked_at(demo: Leaf, monkeypatch: pytest.MonkeyPatch) -> None:
    collection: Collection = collection_of(demo)
    pages = demo.now.text.search(parse("the"), 900).pages
    asked: list[int] = []

    def search(most: int) -> Hits:
        asked.append(most)
        return Hits(len(pages), pages[:most], [1.0] * len(pages[:most]))

    def all_but_last(_collection: Any, some: list[int]) -> dict[int, list[int]]:
        return {0: list(range(1, min(len(some), 897)))} | {place: [] for place in range(897, len(some))}

    monkeypatch.setattr(ranked_pages, "folded", all_but_last)
    found = ranked(collection, search, 0, 4)
    assert asked == [16, 64, 256, 1024]
    assert [one.url for one in found.found] == [collection.corpus.page_url(pages[at]) for at in (0, 897, 898, 899)]
    assert (found.total, found.before, len(found.found[0].copies)) == (900, 4, 100)
    asked.clear()
    assert ranked(collection, search, 4, 8).found == []
    assert asked[-1] == 2048, "and when all were looked at, no further"
