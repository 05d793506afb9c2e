"""Other words: they narrow and widen a query, and what was added can be taken away again."""

import asyncio
import re
from itertools import combinations
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.collection import CooccurrencesRequest, RefineRequest, ReloadingCollection
from pagekin.text import And, Not, Or, Phrase, Query, Word, form_of, parse_query
from pagekin.web.pages.next_steps import TERMS
from pagekin.web.queries import any_of, narrow, parts_of, widen

from .finding import data, follow, results


@pytest.mark.parametrize(
    "query", ["volcano", "volcanoes", "title:river", '"south america"', "rivers OR planet", "Volcano"]
)
def test_other_words_are_no_forms_of_those_that_stand_there(client: Any, query: str) -> None:
    stems = {form_of(word.lower()) for word in re.findall(r"\w+", query.replace("title:", "").replace(" OR ", " "))}
    view = data(client, q=query)
    offered = [link["text"] for name in ("along", "wider", "narrower") for link in view[name]]
    assert offered
    assert not stems & {form_of(word.lower()) for word in offered}


def test_there_would_be_forms_of_the_word_itself_among_other_words(demo: ReloadingCollection) -> None:
    """Otherwise a service that leaves none out would not be seen."""
    counts = asyncio.run(demo.cooccurrences(CooccurrencesRequest(query="volcano")))
    assert "volcanoes" in counts.words


@pytest.mark.parametrize("query", ["river", "mountain", "music OR opera"])
def test_other_words_narrow_and_widen(client: Any, query: str) -> None:
    view = data(client, q=query)
    for term in (*view["along"], *view["narrower"]):
        refined = follow(client, term["address"])
        assert refined["total"] <= view["total"]
        assert any(word["text"].strip('"') == term["text"].lower() for word in refined["words"])
    for term in view["wider"]:
        assert follow(client, term["address"])["total"] >= view["total"]


def test_other_words_are_written_as_the_results_write_them(client: Any, demo: ReloadingCollection) -> None:
    view, corpus = data(client, q="river"), demo.collection.corpus
    pages = [corpus.pages_of(corpus.url_number(one["url"]))[0] for one in results(view)]
    text = " ".join(corpus.text_bytes(page)[0].decode() for page in pages)
    offered = [link for name in ("along", "wider", "narrower") for link in view[name]]
    large = [link for link in offered if link["text"] != link["text"].lower()]
    assert large, "or no name is among them any more"
    for link in large:
        assert link["text"] in text
        query = parse_qs(urlsplit(link["address"]).query)["q"][0]
        assert link["text"].lower() in query and link["text"] not in query, "it searches the same"


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
    less, more = parse_query(narrow(text, query, word)), parse_query(widen(text, query, word))
    taken_away = any(part == Word(None, word) for part in (query.parts if isinstance(query, And | Or) else (query,)))
    for page in PAGES:
        if not taken_away:
            assert holds(less, page) == (holds(query, page) and word in page)
            assert holds(more, page) == (holds(query, page) or word in page)
    for _part, rest in parts_of(query):
        assert all(holds(parse_query(rest), page) or not holds(query, page) for page in PAGES)
    if some := any_of(query):
        assert all(holds(parse_query(some), page) or not holds(query, page) for page in PAGES)


@given(QUERIES, WORDS)
def test_a_word_that_was_added_is_taken_away_again(query: Query, word: str) -> None:
    text = str(query)
    added = narrow(text, query, word)
    if len(added) > len(text) and parse_query(added) != query:
        again = narrow(added, parse_query(added), word)
        assert parse_query(again) == parse_query(text)


def test_a_query_that_has_no_room_for_more_stays_as_it_is() -> None:
    full = " ".join(f"word{number}" for number in range(32))
    assert narrow(full, parse_query(full), "more") == full
    assert widen(full, parse_query(full), "more") == full


def test_terms_can_be_those_of_1996(client: Any, demo: ReloadingCollection) -> None:
    terms = asyncio.run(demo.refine(RefineRequest(query="whale", preset="hypursuit1996", count=TERMS)))
    view = data(client, q="whale", preset="hypursuit1996")
    offered = [one["text"].casefold() for one in view["along"]]
    assert offered and set(offered) <= {word.casefold() for word in terms.collocated} | {"whales", "whale"}
    assert all("preset=hypursuit1996" in one["address"] for one in view["along"])
    assert client.get("/find", params={"q": "whale", "preset": "1997"}).status_code == 400
