"""Results: the same as the services give, grouped, refined by clicks, and harmless whatever pages hold."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from itertools import combinations, pairwise
from math import hypot
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.bags.copies import PLACES, are_copies
from pagekin.hypertext import Corpus
from pagekin.routers.leaf import Leaf
from pagekin.routers.messages import RefineRequest, SearchRequest
from pagekin.text import And, Or, Phrase, Word, parse
from pagekin.text.analysis import form_of
from pagekin.text.query import Not, Query
from pagekin.web.pages.results import A_PAGE, BEST_OF_GROUP, GROUPS_A_PAGE
from pagekin.web.pictures.group import group_layout, links_among, ordered
from pagekin.web.queries import any_of, narrowed, parts_of, widened
from tests.bags.webs import record
from tests.routers.webs import Reply, build_leaf, get, searched_in

from .browser import leaf_site
from .conftest import EVIL

HTML = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
OWN = re.compile(r"/([\w./-]+/)?(static/.*|opensearch\.xml|[\w./-]*\.json.*)")


class Elements(HTMLParser):
    """All elements of a page with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text += data

    def links(self, **having: str) -> list[str]:
        """The addresses of links with some attributes."""
        return [
            of["href"]
            for tag, of in self.found
            if tag == "a" and all(of.get(name.replace("_", "-")) == value for name, value in having.items())
        ]


def harm_in(html: str) -> list[str]:
    """What could run, or load something, besides our own script and stylesheet."""
    found = []
    for tag, of in Elements(html).found:
        if tag in ("script", "link") and not OWN.fullmatch(of.get("src") or of["href"]):
            found.append(f"{tag} {of}")
        if tag in ("iframe", "object", "embed", "img", "style", "base", "template"):
            found.append(tag)
        found += [f"{tag} {name}" for name in of if name.startswith("on") or name == "style"]
        address = of.get("href", of.get("action", of.get("xlink:href", "")))
        if address and not re.match(r"https?://|/(?!/)|#", address):
            found.append(f"{tag} {address}")
        if address.startswith("http") and "noopener noreferrer" not in of.get("rel", ""):
            found.append(f"{tag} leads away: {address}")
    return found


def shown(client: Any, address: str, status: int = 200) -> Elements:
    answer = client.get(address, headers=HTML)
    assert answer.status_code == status, answer.text[:500]
    assert len(answer.content) <= 100_000
    assert harm_in(answer.text) == []
    return Elements(answer.text)


def data(client: Any, **asked: Any) -> Any:
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


def searched(leaf: Leaf, query: str, limit: int) -> Any:
    return asyncio.run(leaf.search(SearchRequest(query=query, limit=limit)))


# -- a search -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["river", "mountain OR planet", '"solar system"', "title:oxygen", "music NOT opera"])
def test_results_are_those_of_the_service(client: Any, demo: Leaf, query: str) -> None:
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
    assert page.links(data_result="") == [one["address"] for group in view["groups"] for one in group["results"]]
    live = page.links(data_live="")
    for links in ("words", "along", "wider", "narrower"):
        assert view[links]
        assert {one["address"] for one in view[links]} <= set(live)
    away = set(page.links(rel="noopener noreferrer nofollow"))
    assert away == {one["url"] for one in results(view)}
    for one in (*results(view), *view["similar"]):
        assert one["title"] in page.text
    assert sum(tag == "mark" for tag, _of in page.found) == sum(len(one["marks"]) for one in results(view))
    assert next(tag for tag, _of in page.found if re.fullmatch(r"h\d", tag)) == "h1"


def test_json_comes_by_the_accept_header_too(client: Any) -> None:
    by_header = client.get("/find?q=river", headers={"accept": "application/json"})
    assert by_header.headers["content-type"].startswith("application/json")
    assert results(by_header.json()) == results(data(client, q="river"))


def test_pages_of_results_give_every_document_once(client: Any, demo: Leaf) -> None:
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
    assert not page.links(data_result="")


def test_copies_are_folded_and_can_be_seen(client: Any) -> None:
    folded = [one for one in results(data(client, q="oxygen OR everest OR river")) if one["copies"]]
    assert folded
    page = shown(client, "/find?q=oxygen+OR+everest+OR+river")
    for one in folded:
        assert {copy["address"] for copy in one["copies"]} <= set(page.links())
    assert "and 1 copy" in page.text or re.search(r"and \d+ copies", page.text)


@pytest.mark.parametrize("query", ["volcano", "gold", "opera"])
def test_similar_documents_match_on_no_page_and_are_no_copies(client: Any, demo: Leaf, query: str) -> None:
    matching = every_result(client, query)
    there = {url for one in matching for url in (one["url"], *(copy["text"] for copy in one["copies"]))}
    view, now = data(client, q=query), demo.now
    assert view["similar"]
    assert "Not among the results" in shown(client, f"/find?q={query}").text
    sketches = np.asarray(now.corpus.kin["copy.rows"]).reshape(-1, PLACES)
    pages = {url: now.corpus.pages_of(now.corpus.url_number(url))[0] for url in there}
    for one in view["similar"]:
        page = now.corpus.pages_of(now.corpus.url_number(one["url"]))[0]
        assert not re.search(rf"\b{query}(e?s)?\b", now.corpus.text(page)[0].lower())
        assert one["url"] not in there
        assert not are_copies(sketches[list(pages.values())], sketches[page]).any()


def test_where_all_that_is_similar_matches_none_is_offered(client: Any) -> None:
    everything = data(client, q="the OR of OR a OR e OR http OR km OR home")
    assert everything["total"] > 500 and everything["similar"] == []
    assert "Similar documents" not in shown(client, "/find?q=the+OR+of+OR+a+OR+e+OR+http+OR+km+OR+home").text


# -- what is told of it ---------------------------------------------------------------------------------------------------


def every_result(client: Any, query: str) -> list[Any]:
    """The results of all pages."""
    view = data(client, q=query)
    found = results(view)
    while view["next"]:
        view = follow(client, view["next"])
        found += results(view)
    return found


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
    with leaf_site(Leaf("copies", build_leaf(tmp_path / "copies.kin", [*many, lone]))) as site:
        view = get(site, "find.json", q="tidewrack").json
        assert view["total"] == 71
        assert len(results(view)) == view["different"] == 2
        assert "http://copies.example/lone" in {one["url"] for one in results(view)}
        text = Elements(asked_of(site, "find?q=tidewrack").body.decode()).text
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


# -- other words ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query", ["volcano", "volcanoes", "title:mountains", '"solar system"', "rivers OR planet", "Volcano"]
)
def test_other_words_are_no_forms_of_those_that_stand_there(client: Any, query: str) -> None:
    stems = {form_of(word.lower()) for word in re.findall(r"\w+", query.replace("title:", "").replace(" OR ", " "))}
    view = data(client, q=query)
    offered = [link["text"] for name in ("along", "wider", "narrower") for link in view[name]]
    assert offered
    assert not stems & {form_of(word) for word in offered}


def test_there_would_be_forms_of_the_word_itself_among_other_words(demo: Leaf) -> None:
    terms = asyncio.run(demo.refine(RefineRequest(query="volcano", count=8)))
    assert "volcanoes" in (*terms.collocated, *terms.broader, *terms.narrower)


@pytest.mark.parametrize("query", ["river", "mountain", "music OR opera"])
def test_other_words_narrow_and_widen(client: Any, query: str) -> None:
    view = data(client, q=query)
    for term in (*view["along"], *view["narrower"]):
        refined = follow(client, term["address"])
        assert refined["total"] <= view["total"]
        assert any(word["text"] == term["text"] for word in refined["words"])
    for term in view["wider"]:
        assert follow(client, term["address"])["total"] >= view["total"]


def test_a_word_is_taken_away_by_its_cross(client: Any) -> None:
    view = data(client, q='river title:nile NOT "yellow river"')
    without = {word["text"]: follow(client, word["address"])["asked"]["q"] for word in view["words"]}
    assert without == {
        "river": 'title:nile NOT "yellow river"',
        "title:nile": 'river NOT "yellow river"',
        'NOT "yellow river"': "river title:nile",
    }


WORDS = st.sampled_from(["river", "rivers", "lock", "queue", "km³", "café", "c", "title"])
ATOMS = st.builds(Word, st.sampled_from([None, None, "title"]), st.sampled_from(["river", "lock", "queue", "bird"]))
PHRASES = st.builds(Phrase, st.none(), st.just(("solar", "system")))
SIMPLE = st.one_of(ATOMS, PHRASES)
QUERIES: st.SearchStrategy[Query] = st.one_of(
    SIMPLE,
    st.lists(SIMPLE, min_size=2, max_size=3).map(lambda parts: Or(tuple(parts))),
    st.lists(SIMPLE, min_size=2, max_size=3).map(lambda parts: And(tuple(parts))),
    st.tuples(SIMPLE, SIMPLE).map(lambda pair: And((pair[0], Not(pair[1])))),
    st.tuples(SIMPLE, SIMPLE, SIMPLE).map(lambda some: And((some[0], Or(some[1:])))),
)


def holds(query: Query, words: set[str]) -> bool:
    """Whether a page with some words, all in its title, is found; each is its own stem here."""
    if isinstance(query, And):
        return all(holds(part, words) for part in query.parts)
    if isinstance(query, Or):
        return any(holds(part, words) for part in query.parts)
    if isinstance(query, Not):
        return not holds(query.part, words)
    return set((query.word,) if isinstance(query, Word) else query.words) <= words


PAGES = [
    set(some)
    for count in range(6)
    for some in combinations(("river", "lock", "queue", "bird", "solar", "system"), count)
]


@given(QUERIES, st.sampled_from(["river", "lock", "queue", "bird"]))
def test_a_changed_query_finds_what_it_should(query: Query, word: str) -> None:
    text = str(query)
    less, more = parse(narrowed(text, query, word)), parse(widened(text, query, word))
    taken_away = any(part == Word(None, word) for part in (query.parts if isinstance(query, And | Or) else (query,)))
    for page in PAGES:
        if not taken_away:
            assert holds(less, page) == (holds(query, page) and word in page)
            assert holds(more, page) == (holds(query, page) or word in page)
    for _part, rest in parts_of(query):
        assert all(holds(parse(rest), page) or not holds(query, page) for page in PAGES)
    if some := any_of(query):
        assert all(holds(parse(some), page) or not holds(query, page) for page in PAGES)


@given(QUERIES, WORDS)
def test_a_word_that_was_added_is_taken_away_again(query: Query, word: str) -> None:
    text = str(query)
    added = narrowed(text, query, word)
    if len(added) > len(text) and parse(added) != query:
        again = narrowed(added, parse(added), word)
        assert parse(again) == parse(text)


def test_a_query_that_has_no_room_for_more_stays_as_it_is() -> None:
    full = " ".join(f"word{number}" for number in range(32))
    assert narrowed(full, parse(full), "more") == full
    assert widened(full, parse(full), "more") == full


# -- filters, and what cannot be asked ------------------------------------------------------------------------------------


def test_filters_narrow_and_are_taken_away_by_their_crosses(client: Any, demo: Leaf) -> None:
    every, some = data(client, q="mountain"), data(client, q="mountain", site="mirror.example", language="en")
    assert 0 < some["total"] < every["total"]
    assert {one["site"] for one in results(some)} == {"mirror.example"}
    taken = [follow(client, link["address"])["asked"] for link in some["active"]]
    assert [(asked["site"], asked["language"]) for asked in taken] == [("", "en"), ("mirror.example", "")]
    page = shown(client, "/find?q=mountain&site=mirror.example")
    assert {of["value"] for tag, of in page.found if tag == "option" and "selected" in of} == {"mirror.example"}
    sites = Counter(urlsplit(demo.now.corpus.page_url(number)).netloc for number in range(len(demo.now.corpus)))
    assert every["choices"]["sites"] == sorted(sites, key=lambda name: (-sites[name], name))


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site whose pages are of four years and two languages."""
    from tests.routers.conftest import various

    with leaf_site(Leaf("various", build_leaf(tmp_path_factory.mktemp("dated") / "various.kin", various()))) as url:
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


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ("q=%22open", "has no partner"),
        ("q=NOT+river", "NOT only takes pages away"),
        ("q=colour:red", "there is no attribute 'colour:'"),
        ("q=river&since=yesterday", "'yesterday' is no day; write it as 1996-12-31"),
        ("q=river&until=2020-13-01", "'2020-13-01' is no day"),
        ("q=river&since=2020-01-02&until=2020-01-01", "ends before it begins"),
        ("q=river&language=klingon!", "is no code of a language"),
        ("q=river&site=" + "s" * 201, "longer than 200"),
        ("q=river&mode=guess", "there are search, select, expand"),
        ("q=river&page=0", "pages 1 to"),
        ("q=river&page=99999", "pages 1 to"),
        ("q=river&page=two", "page is wrong"),
        ("q=river&ask=-1", "ask 1 to"),
        ("q=" + "a+" * 600, "1,000 is the most"),
        ("q=" + "a" * 2100, "q is wrong"),
    ],
)
def test_what_cannot_be_asked_is_answered_with_the_reason(client: Any, asked: str, reason: str) -> None:
    page = shown(client, f"/find?{asked}", 400)
    assert reason.lower() in page.text.lower()
    assert page.links(), "there are ways to go on"
    as_data = client.get(f"/find.json?{asked}")
    assert as_data.status_code == 400
    assert reason.lower() in as_data.json()["problem"].lower()


def test_without_a_query_there_are_examples_that_find_something(client: Any) -> None:
    view, page = client.get("/find.json").json(), shown(client, "/find")
    assert len(view["examples"]) >= 4
    for example in view["examples"]:
        assert example["address"] in page.links()
        assert follow(client, example["address"])["total"] > 0, example


def test_nothing_found_offers_any_of_the_words(client: Any) -> None:
    page = shown(client, "/find?q=river+qwertzuiop")
    assert "Nothing found" in page.text
    some = next(link for link in page.links(data_live="") if "OR" in link)
    assert follow(client, some)["total"] > 0


# -- select and expand ------------------------------------------------------------------------------------------------------


def homes(leaf: Leaf, query: str) -> dict[int, list[tuple[float, str]]]:
    """(score, address) of matching documents by sub-cluster, the best first: by the full-text index and the hierarchy itself."""
    now = leaf.now
    tree = now.trees["clusters"]
    found: dict[int, list[tuple[float, str]]] = {}
    for url, score in searched_in(now.text, query).items():
        page = now.corpus.pages_of(now.corpus.url_number(url))[0]
        (number,) = (one.number for one in now.label.clusters if any(page in tree.pages_of(node) for node in one.nodes))
        found.setdefault(number, []).append((score, url))
    return {number: sorted(some, key=lambda pair: (-pair[0], pair[1])) for number, some in found.items()}


@pytest.mark.parametrize("query", ["river", "mountain OR metal", "zinc", "qwertzuiop"])
def test_select_counts_the_matching_documents_of_each_group(client: Any, demo: Leaf, query: str) -> None:
    expected = homes(demo, query)
    view = data(client, q=query, mode="select")
    found = results(view)
    while view["next"]:
        view = follow(client, view["next"])
        found += results(view)
    names = {one.name: one.number for one in demo.label.clusters}
    assert {names[one["title"]]: one["matches"] for one in found} == {n: len(some) for n, some in expected.items()}
    assert view["total"] == len(expected)
    assert view["documents"] == sum(map(len, expected.values()))
    assert [one["matches"] for one in found] == sorted((one["matches"] for one in found), reverse=True)
    page = shown(client, f"/find?q={query.replace(' ', '+')}&mode=select")
    assert {one["label"] for one in found[:A_PAGE]} <= set(page.links())


def test_expand_shows_the_best_of_each_group(client: Any, demo: Leaf) -> None:
    expected = homes(demo, "mountain")
    order = sorted(expected, key=lambda number: (-expected[number][0][0], expected[number][0][1]))
    view = data(client, q="mountain", mode="expand")
    assert view["total"] == len(expected)
    assert [group["cluster"] for group in view["groups"]] == order[:GROUPS_A_PAGE]
    for group in view["groups"]:
        mine = [url for _score, url in expected[group["cluster"]]]
        assert group["matches"] == len(mine)
        best = [one["url"] for one in group["results"]]
        assert 1 <= len(best) <= BEST_OF_GROUP
        assert best[0] == mine[0]
        assert best == [url for url in mine if url in best], "in the order of scores"
        # Whatever was passed over on the way is a copy of something that is shown.
        copies = {copy["text"] for one in group["results"] for copy in one["copies"]}
        assert set(mine[: mine.index(best[-1]) + 1]) <= {*best, *copies}
    after = follow(client, view["next"])
    assert [group["cluster"] for group in after["groups"]] == order[GROUPS_A_PAGE : 2 * GROUPS_A_PAGE]
    assert results(after)[0]["place"] > results(view)[-1]["place"]


# -- the picture ------------------------------------------------------------------------------------------------------------


def test_the_picture_shows_the_group_with_most_results(client: Any, demo: Leaf) -> None:
    view = data(client, q="mountain")
    most = max(len(group["results"]) for group in view["groups"])
    (group,) = (one for one in view["groups"] if one["cluster"] == view["picture"]["cluster"])
    assert len(group["results"]) == most
    places = {dot["place"]: dot for dot in view["picture"]["dots"] if dot["place"]}
    assert {place: dot["address"] for place, dot in places.items()} == {
        one["place"]: one["address"] for one in group["results"]
    }
    corpus = demo.now.corpus
    urls = [parse_qs(urlsplit(dot["address"]).query)["url"][0] for dot in view["picture"]["dots"]]
    assert {tuple(pair) for pair in view["picture"]["links"]} == linked(corpus, urls)
    page = shown(client, "/find?q=mountain")
    drawn = [of for tag, of in page.found if tag == "path" and of.get("class") == "link"]
    assert len(drawn) == len(view["picture"]["links"])


def linked(corpus: Corpus, urls: list[str]) -> set[tuple[int, int]]:
    """Which of some addresses are joined by a link, by what pages say of themselves."""
    targets = {url: {anchor["target"] for anchor in (corpus.describe(url) or {})["anchors_out"]} for url in urls}
    return {
        (a, b)
        for a, b in combinations(range(len(urls)), 2)
        if urls[b] in targets[urls[a]] or urls[a] in targets[urls[b]]
    }


def test_dots_lie_apart_and_within_the_picture(demo: Leaf) -> None:
    corpus = demo.now.corpus
    for count in (0, 1, 2, 3, 20, 45):
        layout = group_layout(corpus, {page: page + 1 for page in range(min(count, 10))}, range(count))
        assert len(layout.dots) == min(count, 20)
        for dot in layout.dots:
            assert dot.r <= dot.x <= layout.size - dot.r
            assert dot.r <= dot.y <= layout.size - dot.r
        for a, b in combinations(layout.dots, 2):
            assert hypot(a.x - b.x, a.y - b.y) > a.r + b.r
        assert len(layout.lines) == len(layout.links)


def test_what_is_linked_lies_side_by_side() -> None:
    chain = [4, 1, 6, 0, 5, 2, 3]
    order = ordered(7, sorted((min(a, b), max(a, b)) for a, b in pairwise(chain)))
    assert order in (chain, chain[::-1])
    assert sorted(ordered(9, [(0, 8), (2, 3)])) == list(range(9))


def test_links_of_pages_that_link_to_themselves_or_nowhere(demo: Leaf) -> None:
    assert all(a < b for a, b in links_among(demo.now.corpus, [5, 3, 9, 1]))
    assert links_among(demo.now.corpus, [7]) == []


# -- pages that mean harm -----------------------------------------------------------------------------------------------------


def asked_of(site: str, address: str) -> Reply:
    return get(site, address, headers=HTML)


@pytest.mark.parametrize("mode", ["search", "select", "expand"])
@pytest.mark.parametrize(
    "query", ["volcano", "script", EVIL, "\"'><b>", "\u202ereversed", "🌋", "x" * 900, "{{7*7}} alert"]
)
def test_nothing_that_pages_hold_runs(hostile_site: str, query: str, mode: str) -> None:
    reply = get(hostile_site, "find", headers=HTML, q=query, mode=mode)
    html = reply.body.decode()
    assert reply.status in (200, 400)
    assert harm_in(html) == []
    assert len(reply.body) <= 100_000
    assert "49" not in re.findall(r"<h1>.*?</h1>", html)[0], "templates do not run what they show"
    if query in ("volcano", "script"):
        assert len(get(hostile_site, "find.json", q=query, mode=mode).json["groups"]) > 0
        text = Elements(html).text
        assert not re.search("[\u202a-\u202e\u2066-\u2069\u200f]", text), "nothing turns lines around"


# -- at a router --------------------------------------------------------------------------------------------------------------


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
