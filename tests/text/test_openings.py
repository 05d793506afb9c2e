"""Pages that say at once what was asked for stand before those that mention it."""

from pathlib import Path

import numpy as np
import pytest

from pagekin.store import KinWriter
from pagekin.text import TextIndex, check_text, form_of, is_outdated, parse_query

from .collections import addresses, searchable
from .oracle import Oracle

FILL = "<p>" + " ".join(f"Row {number} of words about other things, which nobody asked for." for number in range(12))
JOVE = """<title>Jove</title><table><tr><td>Jove was seen by many people of old, who wrote this table. So they said.<td>12 moons
<tr><td>Mass</table><p>Jove is the fifth planet of our Sun, and it is the largest of all that go around it. It is far away."""
PAGES = {
    "http://a.test/1-much": "<title>Planet</title><p>Planets differ. The largest planet is told of here, and again it is.",
    "http://a.test/2-table": JOVE,
    "http://a.test/3-soon": "<title>Moons</title><p>Of the largest planet and what is near it moons are a small part. Yes.",
    "http://a.test/4-late": f"<title>Sun</title><p>The Sun is a star. Indeed.{FILL}<p>The largest planet is cold.",
    "http://a.test/5-else": "<title>Cat</title><p>Nobody ever saw the largest planet by day, as far as people tell. A cat did.",
}


@pytest.fixture(scope="module")
def planets(tmp_path_factory: pytest.TempPathFactory) -> TextIndex:
    return searchable(
        tmp_path_factory.mktemp("planets") / "planets.kin", {url: html + FILL for url, html in PAGES.items()}
    )


def openings(index: TextIndex, word: str) -> list[str]:
    """The pages that say a word at once."""
    form, postings = index.look_up(form_of(word)).number, index.postings
    return addresses(index.corpus, postings.opening_page[slice(*postings.opening_offsets[form : form + 2])].tolist())


def test_an_opening_is_the_paragraph_that_begins_with_the_name_not_a_table_before_it(planets: TextIndex) -> None:
    assert openings(planets, "largest") == ["1-much", "2-table", "3-soon"], "5-else begins with something else"
    assert openings(planets, "table") == []
    assert openings(planets, "jove") == ["2-table"], "a title says what a page is, too"
    assert openings(planets, "row") == [], "only the first paragraph counts"


def test_openings_are_those_that_the_words_of_each_page_tell(planets: TextIndex, demo: TextIndex) -> None:
    for index in (planets, demo):
        oracle, offsets = Oracle(index.corpus), np.asarray(index.postings.opening_offsets, np.int64)
        found: list[set[str]] = [set() for _page in range(len(index))]
        for form, page in zip(
            np.repeat(np.arange(len(index.forms)), np.diff(offsets)).tolist(),
            index.postings.opening_page.tolist(),
            strict=True,
        ):
            found[page].add(index.forms.text(form))
        assert found == [set(forms) for forms in oracle.openings]


@pytest.mark.parametrize(
    "query", ["largest planet", "the largest planet", "title:planet largest", "planet", "largest OR cat"]
)
def test_a_page_that_says_all_at_once_gains_by_it(planets: TextIndex, query: str) -> None:
    found = planets.search(parse_query(query), 9)
    assert list(zip(found.pages, found.scores, strict=True)) == Oracle(planets.corpus).search(parse_query(query))
    fast = TextIndex(planets.corpus, compiled=True).search(parse_query(query), 9)
    assert (fast.pages, fast.scores) == (found.pages, found.scores)


def test_who_says_it_at_once_stands_before_who_mentions_it_late(planets: TextIndex) -> None:
    order = addresses(planets.corpus, planets.search(parse_query("largest planet"), 9).pages)
    assert order.index("2-table") < order.index("4-late")
    assert order.index("3-soon") < order.index("4-late")


def test_an_index_of_an_earlier_version_is_asked_without_openings_and_made_again(
    planets: TextIndex, tmp_path: Path
) -> None:
    index = searchable(tmp_path / "old.kin", PAGES)
    kin = index.corpus.kin
    assert not is_outdated(kin)
    kept = {name: entry for name, entry in kin.manifest["files"].items() if "opening" not in name}
    with KinWriter(kin.path, "test") as writer:
        writer.commit(kin.facts, keep=kept)
    old = TextIndex.at(kin.path)
    assert is_outdated(old.corpus.kin)
    assert not list(check_text(old.corpus.kin))
    assert len(old.search(parse_query("largest planet"), 9).pages) == 5
