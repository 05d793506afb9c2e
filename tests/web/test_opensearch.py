"""Search from the browser's own field: the description, and words while one types."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from litestar.testing import TestClient

from pagekin.collection import ReloadingCollection
from pagekin.hypertext import fold_case
from pagekin.routers import Place
from pagekin.routers.serve import MountedRouters
from pagekin.text import form_of, tokens
from pagekin.web import web_app
from pagekin.web.pages.opensearch import MOST, _best_form
from pagekin.web.pages.opensearch import completions as complete
from pagekin.web.vocabulary import CorpusWords, LabelWords
from tests.routers.webs import get, wait_for

from .conftest import EVIL


def completions(demo: ReloadingCollection, q: str) -> list[str]:
    return asyncio.run(complete(demo, q))


SPACE = "{http://a9.com/-/spec/opensearch/1.1/}"


def described(answer: Any) -> ElementTree.Element:
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/opensearchdescription+xml")
    return ElementTree.fromstring(answer.content)


def templates(description: ElementTree.Element) -> dict[str, str]:
    return {one.attrib["type"]: one.attrib["template"] for one in description.iter(f"{SPACE}Url")}


def test_the_description_leads_back_to_the_host_that_was_asked(client: Any) -> None:
    found = described(client.get("/opensearch.xml", headers={"host": "kin.example:8080"}))
    assert found.tag == f"{SPACE}OpenSearchDescription"
    addresses = templates(found)
    assert set(addresses) == {
        "text/html", "application/json", "application/x-suggestions+json", "application/opensearchdescription+xml",
    }  # fmt: skip
    for kind, template in addresses.items():
        parts = urlsplit(template)
        assert (parts.scheme, parts.netloc) == ("http", "kin.example:8080")
        answer = client.get(template.replace("http://kin.example:8080", "").replace("{searchTerms}", "river"))
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind) or kind == "text/html"
    assert found.findtext(f"{SPACE}ShortName") == "demo"


@pytest.mark.parametrize(
    "host", ['evil"><x', "a b", "evil.example/path", "user@evil.example", "", "x:99999999", "<script>"]
)
def test_a_host_that_is_none_is_refused_or_gives_way_to_the_servers_own(client: Any, host: str) -> None:
    answer = client.get("/opensearch.xml", headers={"host": host})
    if answer.status_code == 400:
        assert "host" in answer.json()["detail"]
        return
    assert {urlsplit(template).netloc for template in templates(described(answer)).values()} == {"testserver.local:80"}


def test_names_fit_and_are_escaped_below_a_path(demo_collection: Path) -> None:
    name = f'{EVIL} & "quoted" \u202e' + "long" * 20
    app: Any = MountedRouters(
        {Place("testserver.local", 80, "/some/where/"): ReloadingCollection(name, demo_collection)}, web_app()
    )
    with TestClient(app) as client:
        found = described(client.get("/some/where/opensearch.xml"))
        assert 0 < len(found.findtext(f"{SPACE}ShortName", "")) <= 16
        assert len(found.findtext(f"{SPACE}LongName", "")) <= 48
        assert not list(found.iter("script"))
        for template in templates(found).values():
            assert urlsplit(template).path.startswith("/some/where/")
            asked = urlsplit(template)._replace(scheme="", netloc="").geturl().replace("{searchTerms}", "river")
            assert client.get(asked).status_code == 200


def test_words_come_as_browsers_want_them(client: Any) -> None:
    answer = client.get("/complete", params={"q": "title:river mou"})
    assert answer.headers["content-type"].startswith("application/x-suggestions+json")
    asked, words = json.loads(answer.content)
    assert asked == "title:river mou"
    assert words
    assert all(word.startswith("title:river mou") for word in words)
    assert client.get("/complete", params={"q": "a" * 3000}).status_code == 400


def beginning(counted: Counter[str], begun: str) -> list[str]:
    """Words that begin so, the most frequent first: by looking at all of them."""
    return sorted((word for word in counted if word.startswith(begun)), key=lambda word: (-counted[word], word))


def stems_of(counted: Counter[str], begun: str) -> list[str]:
    """The stems of words that go on from this, those with the most frequent word first."""
    return list(dict.fromkeys(form_of(word) for word in beginning(counted, begun) if word != begun))


@pytest.fixture(scope="module")
def counted(demo: ReloadingCollection) -> Counter[str]:
    """How often each word stands in the demo web."""
    corpus = demo.collection.corpus
    return Counter({corpus.word(term): int(corpus.kin["term.count"][term]) for term in range(len(corpus.terms))})


@pytest.mark.parametrize("begun", ["s", "mou", "river", "Moun", "zzzzz", "é", "par", "19", "everes"])
def test_each_stem_comes_once_before_any_comes_twice(
    demo: ReloadingCollection, counted: Counter[str], begun: str
) -> None:
    found = [word.removeprefix("some ") for word in completions(demo, f"some {begun}")]
    every, stems = beginning(counted, fold_case(begun)), stems_of(counted, fold_case(begun))[:MOST]
    assert set(found) <= set(every)
    assert len(found) == len(set(found)) == min(MOST, len(every))
    most = {form: max(counted[word] for word in every if form_of(word) == form and word != begun) for form in stems}
    offered = [form_of(word) for word in found[: len(stems)]]
    assert len(set(offered)) == len(offered)
    assert [most[form] for form in offered] == list(most.values()), (
        "the most frequent stem first; equal ones may change places"
    )
    rest = [counted[word] for word in found[len(stems) :]]
    assert rest == sorted(rest, reverse=True)


@pytest.mark.parametrize(("begun", "word"), [("volc", "volcano"), ("rive", "river"), ("mountai", "mountain")])
def test_the_short_form_is_offered_where_a_longer_one_is_more_frequent(
    demo: ReloadingCollection, counted: Counter[str], begun: str, word: str
) -> None:
    assert max(counted[f"{word}s"], counted[f"{word}es"]) > counted[word]
    assert completions(demo, begun)[0] == word
    further = completions(demo, word)
    assert further[0] in (f"{word}s", f"{word}es"), "what stands there already is no news"


def test_a_short_form_that_is_hardly_written_is_not_offered_first() -> None:
    assert _best_form({"planets": 100, "planet": 20, "planeted": 90}) == "planet"
    assert _best_form({"planets": 100, "planet": 19, "planeted": 90}) == "planets"


def test_titles_that_begin_so_are_offered_last_and_find_their_pages(demo: ReloadingCollection, client: Any) -> None:
    corpus = demo.collection.corpus
    titles = {" ".join(tokens(demo.collection.titles.text(page))) for page in range(len(corpus))}
    for begun in ("mount", "mount k", "Mount Ke", "volcanoes o"):
        expected = sorted(
            (title for title in titles if title.startswith(fold_case(begun)) and " " in title and len(title) <= 60),
            key=lambda title: (len(title), title),
        )
        offered = completions(demo, begun)
        assert len(offered) <= MOST and len(set(offered)) == len(offered)
        assert expected and set(expected[:3]) <= set(offered)
        for title in expected[:3]:
            assert client.get("/find.json", params={"q": title}).json()["total"] > 0
    assert completions(demo, "title:mount k") == [f"title:mount {word}" for word in completions_of(demo, "k")]


def completions_of(demo: ReloadingCollection, begun: str) -> list[str]:
    """Completions of a word that follows another, and so of no title."""
    return [one.removeprefix("zzz ") for one in completions(demo, f"zzz {begun}")]


@pytest.mark.parametrize("text", ["", " ", "river ", 'river "', "(", "river:", "🌋", "\x00", "\u202e", "-"])
def test_where_no_word_has_begun_there_is_none(demo: ReloadingCollection, text: str) -> None:
    assert completions(demo, text) == []


@given(st.text(max_size=12), st.sampled_from(["", "m", "Ri", "É"]))
def test_whatever_was_typed_before_the_last_word_stays(demo: ReloadingCollection, before: str, begun: str) -> None:
    found = completions(demo, f"{before} {begun}")
    assert len(found) <= MOST
    assert bool(found) == bool(begun)
    for one in found:
        assert one.startswith(f"{before} ")
        assert one[len(before) + 1 :].startswith(fold_case(begun))


@given(st.sampled_from("abcdeméz1"), st.integers(1, 30))
def test_the_table_is_all_words_by_frequency(
    demo: ReloadingCollection, counted: Counter[str], begun: str, most: int
) -> None:
    found = CorpusWords(demo.collection).with_prefix(begun, most)
    every = sorted((counted[word] for word in counted if word.startswith(begun)), reverse=True)
    assert [count for _word, count in found] == every[:most]
    assert all(word.startswith(begun) and counted[word] == count for word, count in found)


def test_a_router_completes_from_labels(network_site: str, demo: ReloadingCollection) -> None:
    wait_for(lambda: get(network_site, "health").json["ready"])
    asked, words = get(network_site, "complete", q="instr").json
    assert asked == "instr"
    assert "instrument" in words or "instruments" in words
    counted: Counter[str] = Counter()
    for cluster in demo.label.clusters:
        for term in demo.label.rows(cluster.terms):
            counted[term.word] += term.tf
    for begun in ("s", "mou", "z", "none-such"):
        every = sorted((word for word in counted if word.startswith(begun)), key=lambda word: (-counted[word], word))
        assert LabelWords(demo.label).with_prefix(begun, 12) == [(word, counted[word]) for word in every[:12]]
