"""Sums over the nodes of a tree: those of a level are the same as those of each node by itself."""

import numpy as np
import pytest

from pagekin.bags import BagMatrix
from pagekin.clusters import Tree, levels
from pagekin.clusters.levels import Level, LevelSums, Rows, tree_levels

PAGES, TERMS = 40, 12


def random_rows(rng: np.random.Generator) -> Rows:
    held = rng.random((PAGES, TERMS)) < 0.3
    pages, terms = np.nonzero(held)
    weights = rng.random(len(pages)).astype(np.float32)
    return Rows.of_words(BagMatrix(np.searchsorted(pages, np.arange(PAGES + 1)), terms, weights, TERMS), TERMS)


def random_tree(rng: np.random.Generator) -> Tree:
    """Return a tree in which some pages stand in several nodes, and some in none below the root."""
    paths = [(page, tuple("abc"[digit] for digit in rng.integers(0, 3, rng.integers(0, 4)))) for page in range(PAGES)]
    paths += [(page, ("a", "c")) for page in range(0, PAGES, 7)]
    return Tree.of_paths("random", paths, {})


@pytest.mark.parametrize("table", [0, 1_000], ids=["sorted", "by a table"])
@pytest.mark.parametrize("seed", range(5))
def test_a_level_has_the_sums_of_each_of_its_nodes(seed: int, table: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "_TABLE", table)
    rng = np.random.default_rng(seed)
    rows, tree = random_rows(rng), random_tree(rng)
    seen: list[int] = []
    for level in tree_levels(tree):
        sums = LevelSums.of(level, rows)
        for place, node in enumerate(level.nodes.tolist()):
            seen.append(node)
            pages = tree.pages_of(node)
            assert level.pages[level.offsets[place] : level.offsets[place + 1]].tolist() == pages.tolist()
            for term in range(TERMS):
                held = [
                    entry
                    for page in pages.tolist()
                    for entry in range(rows.offsets[page], rows.offsets[page + 1])
                    if rows.terms[entry] == term
                ]
                pair = int(sums.find(np.array([place]), np.array([term]))[0])
                assert (pair >= 0) == bool(held)
                assert sums.pages_of(np.array([place]), np.array([term])).tolist() == [len(held)]
                if held:
                    assert sums.weight[pair] == pytest.approx(sum(rows.weights[entry] for entry in held))
    assert sorted(seen) == list(range(len(tree)))


@pytest.mark.parametrize("seed", range(5))
def test_links_inside_a_level_have_both_ends_in_one_node(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng)
    links = np.unique(rng.integers(0, PAGES, (120, 2)), axis=0)
    for level in tree_levels(tree):
        target, source = level.inside(links)
        found = sorted(
            (int(level.places[a]), int(level.pages[b]), int(level.pages[a]))
            for a, b in zip(target.tolist(), source.tolist(), strict=True)
        )
        expected = sorted(
            (place, a, b)
            for place, node in enumerate(level.nodes.tolist())
            for a, b in links.tolist()
            if {a, b} <= set(tree.pages_of(node).tolist())
        )
        assert found == expected


def test_a_level_without_pages_has_no_sums() -> None:
    level = Level(np.array([0]), np.array([0, 0]), np.zeros(0, np.int64))
    sums = LevelSums.of(level, random_rows(np.random.default_rng(1)))
    assert len(sums.term) == 0
    assert sums.pages_of(np.array([0]), np.array([3])).tolist() == [0]
    assert len(level.inside(np.array([[0, 1]]))[0]) == 0
