"""Names of clusters: what sets them apart, in words that differ between siblings; central pages."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from pagekin.bags import BagMatrix, stem_of_word
from pagekin.clusters import Tree
from pagekin.clusters.describe import PageFacts, describe
from pagekin.clusters.levels import PageLinks, Rows
from pagekin.hypertext import WrittenWords

Writing = Callable[[Sequence[WrittenWords]], Sequence[Sequence[str]]]
WORDS = ["site", "granite", "granites", "slate", "owl", "feather", "http://a.example/"]


def rows_of(pages: list[dict[str, float]], words: int = 6) -> Rows:
    terms = [WORDS.index(word) for page in pages for word in page]
    offsets = np.cumsum([0, *map(len, pages)])
    weights = np.array([w for page in pages for w in page.values()], np.float32)
    return Rows.of_words(BagMatrix(offsets, np.array(terms, np.int64), weights, len(WORDS)), words)


def as_they_are(asked: Sequence[WrittenWords]) -> Sequence[Sequence[str]]:
    return [one.words for one in asked]


def facts(pages: list[dict[str, float]], links: np.ndarray, titles: Rows, written: Writing = as_they_are) -> PageFacts:
    return PageFacts(rows_of(pages), titles, PageLinks.of(links, len(pages)), WORDS.__getitem__, stem_of_word, written)


ALL_TITLES = rows_of([dict.fromkeys(WORDS[:6], 1.0)] * 5)
"""Every page has every word in its title."""


PAGES: list[dict[str, float]] = [
    {"site": 3, "granite": 2, "http://a.example/": 50},
    {"site": 3, "granite": 2, "granites": 2, "slate": 1},
    {"site": 3, "granites": 1, "slate": 1},
    {"site": 3, "owl": 1},
    {"site": 3, "owl": 1, "feather": 1},
]
LINKS = np.array([[0, 1], [2, 1], [1, 2], [3, 4], [0, 4], [1, 4]])


def described(labels: list[int], pages: list[dict[str, float]] = PAGES, links: np.ndarray = LINKS) -> Tree:
    tree = Tree.of_levels("clusters", [np.array(labels)], {})
    return describe(tree, facts(pages, links, ALL_TITLES))


def test_names_hold_what_siblings_do_not() -> None:
    tree = described([0, 0, 0, 1, 1])
    stones, birds = (tree.descriptions[node] for node in tree.children[0])
    assert stones.terms == ("granite", "slate")  # not "site", which all pages hold, nor granites beside granite
    assert birds.name == "owl, feather"
    assert tree.descriptions[0].name.startswith("site")


def test_words_of_titles_tell_more_and_are_written_as_the_pages_write_them() -> None:
    tree = Tree.of_levels("clusters", [np.array([0, 0, 0, 1, 1])], {})
    asked = []

    def large(nodes: Sequence[WrittenWords]) -> list[list[str]]:
        asked.extend(set(node.pages) for node in nodes)
        return [[word.upper() for word in node.words] for node in nodes]

    def named(titles: Rows) -> list[str]:
        made = describe(tree, facts(PAGES, LINKS, titles, large))
        return [made.descriptions[node].name for node in made.children[0]]

    assert named(ALL_TITLES) == ["GRANITE, SLATE", "OWL, FEATHER"]
    titled = rows_of([{"slate": 1}, {"slate": 1}, {"slate": 1}, {"owl": 1}, {}])
    assert named(titled) == ["SLATE, GRANITE", "OWL, FEATHER"]
    assert asked[1:3] == [{0, 1, 2}, {3, 4}]


def test_the_middle_is_what_is_most_alike_and_linked_from_inside() -> None:
    tree = described([0, 0, 0, 1, 1])
    stones, birds = (tree.descriptions[node] for node in tree.children[0])
    assert stones.central[0] == 1  # two links from inside, and all the words
    assert set(stones.central) == {0, 1, 2}
    assert birds.central[0] == 4
    unlinked = described([0, 0, 0, 1, 1], links=np.zeros((0, 2), np.int64))
    assert unlinked.descriptions[unlinked.children[0][0]].central[0] == 1


def test_siblings_are_told_apart_by_name() -> None:
    alike = [{"granite": 1.0}, {"granite": 1.0}, {"granite": 1.0}, {}, {}]
    tree = described([0, 1, 2, 3, 4], alike)
    names = [tree.descriptions[node].name for node in tree.children[0]]
    assert len(set(names)) == 5
    assert all(names)


@pytest.mark.parametrize("pages", [1, 5])
def test_pages_without_words_are_described_all_the_same(pages: int) -> None:
    tree = describe(
        Tree.of_levels("clusters", [np.zeros(pages, np.int64)], {}),
        facts([{}] * pages, np.zeros((0, 2), np.int64), ALL_TITLES),
    )
    assert tree.descriptions[0].name == "other pages"
    assert len(tree.descriptions[0].central) == pages
