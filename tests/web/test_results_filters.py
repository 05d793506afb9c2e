"""Filters of results, and questions that cannot be asked."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from pagekin.collection import ReloadingCollection
from pagekin.text import parse_query
from tests.bags.webs import record
from tests.clusters.test_documents import Web, sections
from tests.routers.webs import build_leaf, get

from .browser import leaf_site
from .finding import data, follow, results, shown
from .parsed import Parsed


def test_filters_narrow_and_are_taken_away_by_their_crosses(client: Any, demo: ReloadingCollection) -> None:
    every, some = data(client, q="mountain"), data(client, q="mountain", site="mirror.example", language="en")
    assert 0 < some["total"] < every["total"]
    assert {one["site"] for one in results(some)} == {"mirror.example"}
    taken = [follow(client, link["address"])["asked"] for link in some["active"]]
    assert [(asked["site"], asked["language"]) for asked in taken] == [("", "en"), ("mirror.example", "")]
    page = shown(client, "/find?q=mountain&site=mirror.example")
    assert {of["value"] for tag, of in page.tags if tag == "option" and "selected" in of} == {"mirror.example"}
    assert [one["value"] for one in every["choices"]["sites"]] == [one["value"] for one in some["choices"]["sites"]]


@pytest.mark.parametrize("query", ["mountain", "oxygen", "title:volcano", "qwertzuiop"])
def test_only_sites_that_hold_matches_can_be_chosen(client: Any, demo: ReloadingCollection, query: str) -> None:
    corpus, documents = demo.collection.corpus, demo.collection.documents
    found = demo.collection.text.matching_pages(parse_query(query), documents).nonzero()[0].tolist()
    held = {(urlsplit(corpus.page_url(page)).netloc, int(documents[page])) for page in found}
    sites = Counter(site for site, _document in held)
    view = data(client, q=query)
    assert {one["value"]: one["count"] for one in view["choices"]["sites"]} == sites
    assert [one["count"] for one in view["choices"]["sites"]] == sorted(sites.values(), reverse=True)
    for one in view["choices"]["sites"]:
        assert data(client, q=query, site=one["value"])["total"] == one["count"]
    if len(sites) > 1:
        options = [of["value"] for tag, of in shown(client, f"/find?q={query}").tags if tag == "option"]
        assert options[: len(sites) + 1] == ["", *(one["value"] for one in view["choices"]["sites"])]


def test_filters_count_documents_and_not_their_pages(tmp_path: Path) -> None:
    """A manual of a cover and five sections is one document, and so the filters say."""
    manual = Web().manual("m/index.html", *sections(5)).link("home.html", "m/index.html")
    others = [
        record(f"http://two.example/{number}", f"<title>Shore {number}</title><p>words shore{number}")
        for number in range(3)
    ]
    collection = ReloadingCollection("tides", build_leaf(tmp_path / "tides.kin", [*manual.records(), *others]))
    with leaf_site(collection) as url:
        every = get(url, "find.json", q="words").json
        counts = {one["value"]: one["count"] for one in every["choices"]["sites"]}
        assert counts == {site: get(url, "find.json", q="words", site=site).json["total"] for site in counts}
        assert sum(counts.values()) == every["total"] < len(collection.collection.corpus)


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site whose pages are of four years and two languages."""
    from tests.routers.conftest import various

    with leaf_site(
        ReloadingCollection("various", build_leaf(tmp_path_factory.mktemp("dated") / "various.kin", various()))
    ) as url:
        yield url


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, {0, 1, 2, 3, 4, 5, 6, 7}),
        ({"since": "2013-06-01"}, {3, 4, 5, 6, 7}),
        ({"until": "2013-06-01"}, {0, 1, 2, 3}),
        ({"until": "2013-05-31"}, {0, 1, 2}),
        ({"since": "2012-01-01", "until": "2015-01-01"}, {2, 3, 4}),
        ({"language": "de"}, {1, 3, 5, 7}),
        ({"site": "one.various.example", "language": "en"}, {0, 2}),
    ],
)
def test_days_and_languages(dated: str, asked: dict[str, str], found: set[int]) -> None:
    view = get(dated, "find.json", q="tidewrack", **asked).json
    assert {int(one["url"].rpartition("/")[2]) for one in results(view)} == found
    # As many pages are German, which comes first by its code: the others' language is told.
    assert all(one["language"] == ("" if int(one["url"][-1]) % 2 else "en") for one in results(view))
    assert view["choices"]["dates"]


def test_years_and_languages_that_occur_are_offered(dated: str) -> None:
    view = get(dated, "find.json", q="tidewrack").json
    days = [datetime.fromtimestamp(one["date"], UTC) for one in results(view) if one["date"]]
    years = Counter(str(day.year) for day in days)
    offered = view["choices"]["years"]
    assert {one["text"]: int(one["about"]) for one in offered} == years and len(years) > 1
    for one in offered:
        chosen = get(dated, one["address"].replace("/find?", "find.json?").lstrip("/")).json
        assert {datetime.fromtimestamp(each["date"], UTC).year for each in results(chosen)} == {int(one["text"])}
        again = next(year for year in chosen["choices"]["years"] if year["on"])
        assert (again["text"], "since" in again["address"]) == (one["text"], False), "a second click takes it away"
    assert {one["value"]: (one["name"], one["count"]) for one in view["choices"]["languages"]} == {
        "de": ("German", 4),
        "en": ("English", 4),
    }
    page = Parsed(get(dated, "find", q="tidewrack", headers={"accept": "text/html"}).body)
    assert ("option", "German (4)") in page.texts


def test_nothing_is_offered_where_there_is_no_choice(client: Any) -> None:
    view = data(client, q="title:krakatoa site", site="")
    assert view["choices"]["years"] == []
    assert len({one["value"] for one in view["choices"]["languages"]}) <= 1
    assert "Language" not in [
        text for tag, text in shown(client, "/find?q=title:krakatoa+site").texts if tag == "label"
    ]


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ("q=%22open", "has no partner"),
        ("q=NOT+river", "NOT only takes pages away"),
        ("q=colour:red", "there is no attribute 'colour:'"),
        ("q=river&since=yesterday", "'yesterday' is not a day; write it as 1996-12-31"),
        ("q=river&until=2020-13-01", "'2020-13-01' is not a day"),
        ("q=river&since=2020-01-02&until=2020-01-01", "is later than"),
        ("q=river&language=klingon!", "is not a language code"),
        ("q=river&site=" + "s" * 201, "longer than 200"),
        ("q=river&mode=guess", "there are search, select, expand"),
        ("q=river&page=0", "pages 1 to"),
        ("q=river&page=99999", "pages 1 to"),
        ("q=river&page=two", "page is wrong"),
        ("q=river&ask=-1", "ask= takes 1 to"),
        ("q=" + "a+" * 600, "1,000 is the most"),
        ("q=" + "a" * 2100, "q is wrong"),
    ],
)
def test_what_cannot_be_asked_is_answered_with_the_reason(client: Any, asked: str, reason: str) -> None:
    page = shown(client, f"/find?{asked}", 400)
    assert reason.lower() in page.text.lower()
    assert page.linked(), "there are ways to go on"
    as_data = client.get(f"/find.json?{asked}")
    assert as_data.status_code == 400
    assert reason.lower() in as_data.json()["problem"].lower()


def test_without_a_query_there_are_examples_that_find_something(client: Any) -> None:
    view, page = client.get("/find.json").json(), shown(client, "/find")
    assert len(view["examples"]) >= 4
    for example in view["examples"]:
        assert example["address"] in page.linked()
        assert follow(client, example["address"])["total"] > 0, example


def test_nothing_found_offers_any_of_the_words(client: Any) -> None:
    page = shown(client, "/find?q=river+AND+qwertzuiop")
    assert "Nothing found" in page.text
    some = next(link for link in page.linked(data_live="") if "OR" in link)
    assert follow(client, some)["total"] > 0
