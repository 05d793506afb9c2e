"""Words that are misspelt: those that may have been meant are offered, and lead to something."""

import math
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.collection import ReloadingCollection
from pagekin.text import NearWords, distances
from pagekin.web.queries import exchange_word
from pagekin.web.vocabulary import words_near
from tests.bags.webs import record
from tests.routers.webs import build_leaf, get

from .browser import leaf_site
from .finding import asked_of, data, follow, shown
from .parsed import harm

LETTERS = st.text("abcé", min_size=1, max_size=7)


def distance(one: str, other: str) -> int:
    """The same by its definition: letters put in, taken out, changed, or exchanged with the next."""
    table = [[max(row, at) for at in range(len(other) + 1)] for row in range(len(one) + 1)]
    for row in range(1, len(one) + 1):
        for at in range(1, len(other) + 1):
            table[row][at] = min(
                table[row - 1][at] + 1,
                table[row][at - 1] + 1,
                table[row - 1][at - 1] + (one[row - 1] != other[at - 1]),
            )
            if row > 1 and at > 1 and one[row - 1] == other[at - 2] and one[row - 2] == other[at - 1]:
                table[row][at] = min(table[row][at], table[row - 2][at - 2] + 1)
    return table[-1][-1]


@given(LETTERS, st.lists(LETTERS, min_size=1, max_size=8))
def test_distances_are_those_of_the_definition(asked: str, words: list[str]) -> None:
    same = [word for word in words if len(word) == len(words[0])]
    rows = np.array([[ord(letter) for letter in word] for word in same], np.uint32)
    found = distances(np.array(list(map(ord, asked)), np.uint32), rows)
    assert found.tolist() == [distance(asked, word) for word in same]


@given(
    st.lists(st.text("abc", min_size=1, max_size=8), unique=True, max_size=30), st.text("abc", min_size=3, max_size=8)
)
def test_near_words_are_near_of_the_same_letters_and_common(words: list[str], asked: str) -> None:
    reach = 1 if len(asked) <= 4 else 2
    costs = []
    for place, word in enumerate(words):
        letters = sum(abs(asked.count(letter) - word.count(letter)) for letter in "abc")
        if len(word) > 2 and 0 < distance(asked, word) <= reach:
            costs.append((distance(asked, word) + letters / 2 + math.log10(1 + place), place))
    assert NearWords(words).near(asked, 5) == [words[place] for _cost, place in sorted(costs)][:5]


@pytest.mark.parametrize("word", ["", "ab", "x" * 25, "🌋", "w" * 10_000])
def test_nothing_is_near_to_what_is_no_word(demo: ReloadingCollection, word: str) -> None:
    assert words_near(demo, demo.collection, word, 5) == []


@pytest.mark.parametrize(("typed", "meant"), [("vulcano", "volcano"), ("Mountian", "mountain"), ("oxigen", "oxygen")])
def test_a_question_is_asked_with_the_word_that_was_meant_and_the_page_says_so(
    client: Any, typed: str, meant: str
) -> None:
    view = data(client, q=typed)
    assert view["total"] == data(client, q=meant)["total"] > 0
    assert view["note"] == f"No page has \u201c{typed.lower()}\u201d; searched for \u201c{meant}\u201d."
    assert view["note"] in shown(client, f"/find?q={typed}").text


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("vulcano AND the", "volcano AND the"), ('"Mountian"', '"mountain"'), ("title:oxigen", "title:oxygen")],
)
def test_what_was_meant_is_offered_and_finds_something(client: Any, typed: str, meant: str) -> None:
    view = data(client, q=typed)
    assert view["total"] == 0
    assert meant in [one["text"] for one in view["meant"]]
    for one in view["meant"]:
        assert follow(client, one["address"])["total"] > 0
    page = shown(client, f"/find?{urlencode({'q': typed})}")
    assert "Did you mean" in page.text
    assert {one["address"] for one in view["meant"]} <= set(page.links)


def test_the_words_beside_it_stay_and_tell_which_was_meant(client: Any) -> None:
    view = data(client, q="title:iceland vulcano NOT zzz")
    texts = [one["text"] for one in view["meant"]]
    assert texts and all(text.startswith("title:iceland ") and text.endswith(" NOT zzz") for text in texts)
    totals = [follow(client, one["address"])["total"] for one in view["meant"]]
    assert all(totals) and totals == sorted(totals, reverse=True)


def test_where_something_is_found_nothing_else_is_meant(client: Any) -> None:
    assert data(client, q="volcano")["meant"] == []
    assert "Did you mean" not in shown(client, "/find?q=volcano").text
    # Both are words that pages use, though none has both.
    assert data(client, q="title:oxygen title:piano")["meant"] == []


def test_nothing_is_added_to_a_query_that_finds_nothing(client: Any) -> None:
    view = data(client, q="vulcano AND mountain")
    assert view["total"] == 0 and view["along"] == view["narrower"] == []


def test_a_word_is_exchanged_however_it_was_typed() -> None:
    assert (
        exchange_word('title:VulcanO "vulcano x" vulcanos', "vulcano", "volcano")
        == 'title:volcano "volcano x" vulcanos'
    )
    assert exchange_word("a.b", "a", "\\1") == "\\1.b"


def test_hostile_words_are_offered_without_harm(tmp_path: Path) -> None:
    pages = [record("http://h.example/", "<title>x</title><p>onerrors scripting &lt;script&gt; javascript")]
    with leaf_site(ReloadingCollection("hostile", build_leaf(tmp_path / "h.kin", pages))) as site:
        view = get(site, "find.json", q='"onerrorz"').json
        assert [one["text"] for one in view["meant"]] == ['"onerrors"']
        assert harm(asked_of(site, 'find?q=onerrorz+"><script>x').body) == []
