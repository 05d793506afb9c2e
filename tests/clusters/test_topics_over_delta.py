"""What pages of a delta are about: old pages as in the base, new ones as if all of the delta were looked at."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pagekin.bags import BagWorkshop
from pagekin.clusters import PageTopics, match_some, topics_over_delta
from pagekin.hypertext import Corpus
from tests.bags.webs import read_web

STONES = ("granite", "slate", "marble", "chalk")
OLD = {
    f"http://site.example/{stone}/{number}": f"<title>Old {stone} walls</title><p>Hardness {f'{stone} of {stone}s ' * 3} {number}"
    for stone in STONES
    for number in range(6)
}
PLACES = (
    "tundra moor heath fell bog taiga",
    "barn loft attic beam roof tower",
    "lake reed shore marsh pond weir",
    "dune",
)
NEW = {
    f"http://site.example/birds/{number}": f"<title>Snowy owls</title><p>Hardness {'owl and slate owls ' * 3} {place}"
    for number, place in enumerate(PLACES)
}


def words_of(topics: PageTopics) -> list[list[str]]:
    """Return the words and phrases that each page is about, those that may be suggested with a star."""
    offered = np.ones(len(topics.words), np.bool_) if topics.offered is None else topics.offered
    shown = [
        ("*" if is_offered else "") + word.decode() for word, is_offered in zip(topics.words, offered, strict=True)
    ]
    return [[shown[term] for term in topics.terms[a:b].tolist()] for a, b in pairwise(topics.offsets.tolist())]


def without_stars(words: list[str]) -> list[str]:
    return [word.removeprefix("*") for word in words]


@pytest.fixture(scope="module")
def base() -> Corpus:
    return read_web(OLD)


@pytest.mark.parametrize("phrases", [True, False])
@pytest.mark.parametrize(("old", "new"), [(5, 4), (5, 0), (0, 4)])
def test_old_pages_are_copied_and_new_ones_found_anew(
    base: Corpus, old: int, new: int, phrases: bool, tmp_path: Path
) -> None:
    delta = read_web(dict([*list(OLD.items())[:old], *list(NEW.items())[:new]]))
    before = match_some(base, delta)
    assert np.count_nonzero(before >= 0) == old and np.count_nonzero(before < 0) == new
    known, alone = PageTopics.of(base, phrases=phrases), PageTopics.of(delta, phrases=phrases)
    made = topics_over_delta(delta, known, before, BagWorkshop(delta, tmp_path))
    in_base, anew, found = words_of(known), words_of(alone), words_of(made)
    assert len(set(made.words)) == len(made.words) == len(np.unique(made.terms))
    for page, place in enumerate(before.tolist()):
        if place >= 0:
            assert found[page] == in_base[place]
        else:
            assert without_stars(found[page]) == without_stars(anew[page])
    if new:
        assert any("owl" in words for words in map(without_stars, found))
        assert phrases == any("snowy owls" in words for words in map(without_stars, found))


def test_the_base_says_whether_its_words_are_offered(base: Corpus, tmp_path: Path) -> None:
    """The template says hardness once on every page; of one new page alone that is not known."""
    delta = read_web(dict([*list(OLD.items())[:1], *list(NEW.items())[:1]]))
    known = PageTopics.of(base, phrases=True)
    made = topics_over_delta(delta, known, match_some(base, delta), BagWorkshop(delta, tmp_path))
    alone = read_web(dict(list(NEW.items())[:1]))
    assert "*hardness" in words_of(PageTopics.of(alone, phrases=True))[0]
    owls, granite = words_of(made)  # in the order of their addresses
    assert "hardness" in granite and "hardness" in owls
    assert "*granite" in granite and {"*slate", "*owl"} <= set(owls)
