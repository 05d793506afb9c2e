"""Results: the same as the services give, with true counts, and harmless whatever pages hold."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pagekin.bags import SKETCH_PLACES, are_copies
from pagekin.collection import ReloadingCollection
from pagekin.web.pages.results import A_PAGE
from tests.bags.webs import record
from tests.routers.webs import build_leaf, get

from .browser import leaf_site
from .conftest import EVIL
from .finding import HTML, asked_of, data, every_result, follow, results, searched, shown
from .parsed import Parsed, harm, unguarded

# -- a search -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["river", "mountain OR planet", '"solar system"', "title:oxygen", "music NOT opera"])
def test_results_are_those_of_the_service(client: Any, demo: ReloadingCollection, query: str) -> None:
    told, view = searched(demo, query, A_PAGE), data(client, q=query)
    assert view["total"] == told.total > 0
    found = results(view)
    assert [one["place"] for one in found] == list(range(1, len(told.results) + 1))
    for one, original in zip(found, told.results, strict=True):
        assert (one["url"], one["title"], one["snippet"]) == (original.url, original.title, original.snippet)
        assert [tuple(mark) for mark in one["marks"]] == list(original.marks)
        assert [copy["text"] for copy in one["copies"]] == list(original.copies)
        assert one["pages"] == original.pages
    groups = {one["url"]: group["name"] for group in view["groups"] for one in group["results"]}
    assert groups == {one.url: one.cluster_name or "In no group" for one in told.results}


def test_the_page_shows_what_the_data_says(client: Any) -> None:
    view, page = data(client, q="river water"), shown(client, "/find?q=river+water")
    assert page.linked(data_result="") == [one["address"] for group in view["groups"] for one in group["results"]]
    live = page.linked(data_live="")
    for links in ("words", "along", "wider", "narrower"):
        assert view[links]
        assert {one["address"] for one in view[links]} <= set(live)
    assert page.linked(rel="noopener noreferrer nofollow") == [], "names of the demo web lead nowhere"
    for one in (*results(view), *view["similar"]):
        assert one["title"] in page.text
    assert sum(tag == "mark" for tag, _of in page.tags) == sum(len(one["marks"]) for one in results(view))
    assert next(tag for tag, _of in page.tags if re.fullmatch(r"h\d", tag)) == "h1"


def test_json_comes_by_the_accept_header_too(client: Any) -> None:
    by_header = client.get("/find?q=river", headers={"accept": "application/json"})
    assert by_header.headers["content-type"].startswith("application/json")
    assert results(by_header.json()) == results(data(client, q="river"))


def test_pages_of_results_give_every_document_once(client: Any, demo: ReloadingCollection) -> None:
    view, found = data(client, q="planet"), []
    while True:
        found += [one["url"] for one in results(view)]
        if not view["next"]:
            break
        before, view = view["asked"]["page"], follow(client, view["next"])
        assert view["asked"]["page"] == before + 1
        assert follow(client, view["previous"])["asked"]["page"] == before
    assert len(found) > 2 * A_PAGE
    assert found == [one.url for one in searched(demo, "planet", 1000).results]


def test_a_page_beyond_the_last_says_so(client: Any) -> None:
    page = shown(client, "/find?q=planet&page=50")
    assert "no results on this page" in page.text
    assert not page.linked(data_result="")


def test_copies_are_folded_and_can_be_seen(client: Any) -> None:
    folded = [one for one in results(data(client, q="oxygen OR everest OR river")) if one["copies"]]
    assert folded
    page = shown(client, "/find?q=oxygen+OR+everest+OR+river")
    for one in folded:
        assert {copy["address"] for copy in one["copies"]} <= set(page.linked())
    assert "and 1 copy" in page.text or re.search(r"and \d+ copies", page.text)


@pytest.mark.parametrize("query", ["volcano", "gold", "opera", "the OR of OR home"])
def test_similar_documents_are_none_of_the_first_results_and_no_copies(
    client: Any, demo: ReloadingCollection, query: str
) -> None:
    first = every_result(client, query)[:20]
    there = {url for one in first for url in (one["url"], *(copy["text"] for copy in one["copies"]))}
    view, now = data(client, q=query), demo.collection
    assert view["similar"]
    assert "Similar to the first 30 results" in shown(client, f"/find?q={query.replace(' ', '+')}").text
    sketches = np.asarray(now.corpus.kin["copy.rows"]).reshape(-1, SKETCH_PLACES)
    pages = {url: now.corpus.pages_of(now.corpus.url_number(url))[0] for url in there}
    for one in view["similar"]:
        page = now.corpus.pages_of(now.corpus.url_number(one["url"]))[0]
        assert one["url"] not in there
        assert not are_copies(sketches[list(pages.values())], sketches[page]).any()


# -- what is told of it ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["volcano", "title:oxygen", "ramen", "oxygen NOT the"])
def test_documents_are_counted_as_they_are_shown(client: Any, query: str) -> None:
    view = data(client, q=query)
    while view["next"]:
        assert view["different"] == 0, "not yet known"
        view = follow(client, view["next"])
    found = every_result(client, query)
    assert view["different"] == len(found)
    copies = sum(len(one["copies"]) for one in found)
    assert view["total"] == len(found) + copies
    text = shown(client, f"/find?q={query.replace(' ', '+')}&page={view['asked']['page']}").text
    assert ("counting copies" in text) == (copies > 0)
    if copies:
        of = "it" if len(found) == 1 else "them"
        assert re.search(rf"That is all: {len(found)} different documents?, and {copies} cop(y|ies) of {of}\.", text)


def test_more_copies_than_are_looked_at_hide_nothing(tmp_path: Path) -> None:
    said = "the tidewrack gathers where currents meet and crabs feed among bladders of weed until storms carry it off"
    many = [
        record(f"http://copies.example/{number}", f"<title>Copy</title><p>tidewrack {said}") for number in range(70)
    ]
    other = "<title>Other</title><p>glaciers grind valleys slowly while snow feeds them, and tidewrack is unknown up there; "
    lone = record("http://copies.example/lone", other + "moraines, crevasses and seracs tell of their motion. " * 9)
    with leaf_site(ReloadingCollection("copies", build_leaf(tmp_path / "copies.kin", [*many, lone]))) as site:
        view = get(site, "find.json", q="tidewrack").json
        assert view["total"] == 71
        assert len(results(view)) == view["different"] == 2
        assert "http://copies.example/lone" in {one["url"] for one in results(view)}
        text = Parsed(asked_of(site, "find?q=tidewrack").body.decode()).text
        assert "71 documents, counting copies" in text
        assert "That is all: 2 different documents, and 69 copies of them." in text


def test_the_last_page_that_can_be_asked_for_is_not_the_end(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagekin.web.pages.results.LAST_PAGE", 2)
    text = shown(client, "/find?q=planet&page=2").text
    assert "These are the first 20." in text
    assert "That is all" not in text


@pytest.mark.parametrize(
    "address", ["/find?q=volcano", "/find?q=volcano&page=2", "/find?q=volcano&mode=expand", "/find?q=river"]
)
def test_places_run_down_the_page_and_the_picture_has_the_same(client: Any, address: str) -> None:
    html = client.get(address, headers=HTML).text
    view = follow(client, address)
    places = [int(place) for place in re.findall(r'class="place" aria-hidden="true">(\d+)<', html)]
    first = results(view)[0]["place"]
    assert places == list(range(first, first + view["shown"]))
    order = [one["address"] for group in view["groups"] for one in group["results"]]
    dots = {dot["address"]: first + order.index(dot["address"]) for dot in view["picture"]["dots"] if dot["place"]}
    drawn = re.findall(r'<a href="([^"]+)" aria-label="Result (\d+): .*?<text [^>]*>(\d+)</text>', html)
    assert dots and {unescape(at): (int(told), int(seen)) for at, told, seen in drawn} == {
        at: (place, place) for at, place in dots.items()
    }


# -- pages that mean harm -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["search", "select", "expand"])
@pytest.mark.parametrize(
    "query", ["volcano", "script", EVIL, "\"'><b>", "\u202ereversed", "🌋", "x" * 900, "{{7*7}} alert"]
)
def test_nothing_that_pages_hold_runs(hostile_site: str, query: str, mode: str) -> None:
    reply = get(hostile_site, "find", headers=HTML, q=query, mode=mode)
    html = reply.body.decode()
    assert reply.status in (200, 400)
    assert harm(html) + unguarded(html) == []
    assert len(reply.body) <= 100_000
    assert "49" not in re.findall(r"<h1>.*?</h1>", html)[0], "templates do not run what they show"
    if query in ("volcano", "script"):
        assert len(get(hostile_site, "find.json", q=query, mode=mode).json["groups"]) > 0
        text = Parsed(html).text
        assert not re.search("[\u202a-\u202e\u2066-\u2069\u200f]", text), "nothing turns lines around"


# -- for programs -------------------------------------------------------------------------------------------------------------


def test_programs_are_told_what_they_get(client: Any) -> None:
    schema = client.get("/schema/openapi.json").json()
    for path in ("/find", "/find.json"):
        told = schema["paths"][path]["get"]
        assert {one["name"] for one in told["parameters"]} >= {
            "q", "mode", "site", "since", "until", "language", "page", "ask",
        }  # fmt: skip
    reference = schema["paths"]["/find.json"]["get"]["responses"]["200"]["content"]["application/json"]["schema"][
        "$ref"
    ]
    described = schema["components"]["schemas"][reference.rpartition("/")[2]]
    assert set(described["properties"]) == set(data(client, q="river"))
