"""Sums over the nodes of a tree: those of a group are the same as those of each node by itself."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from pagekin.bags import BagMatrix
from pagekin.clusters import Tree
from pagekin.clusters.levels import Level, LevelSums, PageLinks, Rows, SumsAbove, sibling_groups, tree_levels

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


def few_at_a_time(tree: Tree) -> Iterator[Level]:
    return sibling_groups(tree, np.arange(PAGES + 1), 12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("parts", [tree_levels, sibling_groups, few_at_a_time])
def test_groups_of_nodes_have_the_sums_of_each_of_their_nodes(
    seed: int, parts: Callable[[Tree], Iterator[Level]]
) -> None:
    rng = np.random.default_rng(seed)
    rows, tree = random_rows(rng), random_tree(rng)
    seen: list[int] = []
    for level in parts(tree):
        sums = LevelSums.of(level, rows, with_dots=True)
        for place, node in enumerate(level.nodes.tolist()):
            seen.append(node)
            pages = tree.pages_of(node)
            alone = sums.of_node(place, len(pages))
            total = np.zeros(TERMS)
            for page in pages.tolist():
                held = slice(*rows.offsets[page : page + 2].tolist())
                total[rows.terms[held]] += rows.weights[held]
            assert level.pages[level.offsets[place] : level.offsets[place + 1]].tolist() == pages.tolist()
            assert alone.term.tolist() == np.flatnonzero(total).tolist()
            assert sums.weight[sums.pairs(place)].tolist() == total[total > 0].tolist()  # to the last bit
            for term in range(TERMS):
                held_by = sum(
                    term in rows.terms[rows.offsets[page] : rows.offsets[page + 1]] for page in pages.tolist()
                )
                assert sums.pages_of(np.array([place]), np.array([term])).tolist() == [held_by]
                assert alone.pages_of(np.array([term])).tolist() == [held_by]
            for entry in range(level.offsets[place], level.offsets[place + 1]):
                held = slice(*rows.offsets[level.pages[entry] : level.pages[entry] + 2].tolist())
                assert sums.dots[entry] == pytest.approx(rows.weights[held] @ total[rows.terms[held]])
                lengths = np.linalg.norm(rows.weights[held]) * np.linalg.norm(total)
                assert sums.lengths[entry] == pytest.approx(lengths)
    assert sorted(seen) == list(range(len(tree)))


@pytest.mark.parametrize("seed", range(5))
def test_groups_of_siblings_come_after_their_parents_and_one_branch_at_a_time(seed: int) -> None:
    tree = random_tree(np.random.default_rng(seed))
    waiting: set[int] = set()
    for level in sibling_groups(tree):
        parents = {int(tree.parent[node]) for node in level.nodes.tolist()}
        assert len(parents) == 1
        waiting -= parents
        waiting |= {node for node in level.nodes.tolist() if tree.children[node]}
        # What is still to be divided are siblings of this group and of those above it.
        assert {int(tree.parent[node]) for node in waiting} <= {*tree.path(int(level.nodes[0])), -1}


@pytest.mark.parametrize("seed", range(5))
def test_small_groups_find_their_parents_sums_which_are_forgotten_after_the_last_child(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, tree = random_rows(rng), random_tree(rng)
    above = SumsAbove(tree)
    largest = 0
    for level in few_at_a_time(tree):
        parent = above.parent(level)
        number = int(tree.parent[level.nodes[0]])
        assert (parent.size if parent else -1) == (len(tree.pages_of(number)) if number >= 0 else -1)
        above.note(level, LevelSums.of(level, rows))
        largest = max(largest, len(level.pages))
    assert above.parent(Level(np.array([1]), np.zeros(2, np.int64), np.zeros(0, np.int64))) is None
    assert largest == PAGES  # of the root, which cannot be divided


@pytest.mark.parametrize("seed", range(5))
def test_citations_are_links_from_inside_a_node(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng)
    links = rng.permutation(np.unique(rng.integers(0, PAGES, (120, 2)), axis=0))
    for level in sibling_groups(tree):
        expected = [
            sum(b == page and a in set(tree.pages_of(node).tolist()) for a, b in links.tolist())
            for node in level.nodes.tolist()
            for page in tree.pages_of(node).tolist()
        ]
        assert level.citations(PageLinks.of(links, PAGES)).tolist() == expected


@pytest.mark.parametrize("seed", range(5))
def test_holders_are_the_pages_of_a_node_that_hold_a_term(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, tree = random_rows(rng), random_tree(rng)
    for level in sibling_groups(tree):
        sums = LevelSums.of(level, rows)
        pairs = np.flatnonzero(rng.random(len(sums.term)) < 0.5)
        held = level.holders(rows, sums.place[pairs], sums.term[pairs], sums.pages[pairs])
        for pair, pages in zip(pairs.tolist(), held, strict=True):
            inside = tree.pages_of(int(level.nodes[sums.place[pair]])).tolist()
            assert pages.tolist() == [
                page for page in inside if sums.term[pair] in rows.terms[rows.offsets[page] : rows.offsets[page + 1]]
            ]
        assert not rows.scratch[1].any()


def test_a_level_without_pages_has_no_sums() -> None:
    level = Level(np.array([0]), np.array([0, 0]), np.zeros(0, np.int64))
    sums = LevelSums.of(level, random_rows(np.random.default_rng(1)))
    assert len(sums.term) == 0
    assert sums.pages_of(np.array([0]), np.array([3])).tolist() == [0]
    assert len(level.citations(PageLinks.of(np.array([[0, 1]]), PAGES))) == 0
