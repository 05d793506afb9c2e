"""Trees of pages: made from levels and paths, kept in a collection, found damaged."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from pagekin.clusters import ClusterDescription, Tree, check_trees, join_shard_trees, put_trees, read_trees
from pagekin.store import KinWriter, open_kin

generated = settings(derandomize=True, database=None, deadline=None, max_examples=60)


@some.composite
def nested(draw: some.DrawFn) -> list[np.ndarray]:
    """Labels of pages on up to three levels, each of which divides the one before."""
    pages = draw(some.integers(1, 12))
    levels = []
    before = np.zeros(pages, np.int64)
    for _ in range(draw(some.integers(1, 3))):
        fresh = np.array(draw(some.lists(some.integers(0, 2), min_size=pages, max_size=pages)))
        before = np.unique(np.stack([before, fresh]), axis=1, return_inverse=True)[1].reshape(-1)
        levels.append(before)
    return levels


@generated
@given(nested(), some.integers(0, 2))
def test_every_group_of_every_level_is_a_node(levels: list[np.ndarray], chosen: int) -> None:
    chosen = min(chosen, len(levels) - 1)
    tree = Tree.of_levels("clusters", levels, {}, chosen)
    shown = {tuple(tree.pages_of(node).tolist()) for node in tree.facts["shown"]}
    assert shown == {tuple(np.flatnonzero(levels[chosen] == one).tolist()) for one in np.unique(levels[chosen])}
    nodes = {tuple(tree.pages_of(node).tolist()) for node in range(len(tree))}
    groups = {tuple(np.flatnonzero(labels == one).tolist()) for labels in levels for one in np.unique(labels)}
    assert nodes == groups | {tuple(range(len(levels[0])))}
    assert len(nodes) == len(tree)  # none twice
    for node in range(1, len(tree)):
        assert tree.parent[node] < node
        assert set(tree.pages_of(node)) < set(tree.pages_of(int(tree.parent[node])))
    for page in range(len(levels[0])):
        (home,) = tree.homes(page)
        assert not tree.children[home]
        assert tree.path(home)[0] == 0


def slow_levels(levels: list[np.ndarray]) -> tuple[list[int], list[int]]:
    """Return the parent of each node and the node of each page, dividing one node after the other."""
    parents, node_of = [-1], np.zeros(len(levels[0]), np.int64)
    for labels in levels:
        divided = node_of.copy()
        for node in np.unique(node_of).tolist():
            inside = np.flatnonzero(node_of == node)
            parts = [inside[labels[inside] == label] for label in np.unique(labels[inside])]
            for part in sorted(parts, key=lambda part: (-len(part), int(part[0]))) if len(parts) > 1 else ():
                divided[part] = len(parents)
                parents.append(node)
        node_of = divided
    return parents, node_of.tolist()


@generated
@given(nested())
def test_nodes_are_numbered_as_if_they_were_divided_one_by_one(levels: list[np.ndarray]) -> None:
    tree = Tree.of_levels("clusters", levels, {})
    parents, homes = slow_levels(levels)
    assert tree.parent.tolist() == parents
    assert [tree.homes(page) for page in range(len(homes))] == [[home] for home in homes]


def test_larger_clusters_come_first() -> None:
    tree = Tree.of_levels("clusters", [np.array([0, 1, 1, 2, 2, 1])], {})
    assert [tree.pages_of(node).tolist() for node in tree.children[0]] == [[1, 2, 5], [3, 4], [0]]


def test_paths_share_pages() -> None:
    tree = Tree.of_paths("directory", [(0, ("a", "b")), (0, ("c",)), (2, ("a",)), (1, ("a", "b"))], {"depth": 2})
    names = {one.name: node for node, one in enumerate(tree.descriptions)}
    assert tree.pages_of(names["a"]).tolist() == [0, 1, 2]
    assert tree.pages_of(names["b"]).tolist() == [0, 1]
    assert tree.pages_of(names["c"]).tolist() == [0]
    assert sorted(tree.homes(0)) == sorted([names["b"], names["c"]])
    assert tree.parent[names["b"]] == names["a"]


def kept(folder: Path, trees: list[Tree], **changed: np.ndarray) -> Path:
    with KinWriter(folder / "web.kin", "test") as writer:
        writer.put("page.url", np.arange(6, dtype=np.uint8))
        writer.commit(put_trees(writer, trees))
    kin = open_kin(folder / "web.kin")
    if changed:
        with KinWriter(folder / "web.kin", "test") as writer:
            for name, values in changed.items():
                writer.put(f"tree.{name}", values)
            files = {name: entry for name, entry in kin.manifest["files"].items() if name[5:] not in changed}
            writer.commit(kin.facts, keep=files)
    return folder / "web.kin"


TREES = [
    Tree.of_levels("clusters", [np.array([0, 0, 1, 1, 2, 2])], {"method": "default"}),
    Tree.of_paths("addresses", [(page, ("host", str(page % 2))) for page in range(6)], {}),
]


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    named = Tree(
        "clusters", TREES[0].parent, TREES[0].offsets, TREES[0].pages, TREES[0].facts,
        [ClusterDescription(f"name {n}\nline", ("one", "zwei", "三"), (n, n + 1)) for n in range(4)],
    )  # fmt: skip
    kin = open_kin(kept(tmp_path, [named, TREES[1]]))
    assert list(check_trees(kin)) == []
    first, second = read_trees(kin)
    assert (first.name, dict(first.facts), second.name) == (
        "clusters",
        {"method": "default", "shown": [1, 2, 3]},
        "addresses",
    )
    for one, other in ((first, named), (second, TREES[1])):
        assert np.array_equal(one.parent, other.parent)
        assert np.array_equal(one.offsets, other.offsets)
        assert np.array_equal(one.pages, other.pages)
    assert first.descriptions[2] == ClusterDescription("name 2 line", ("one", "zwei", "三"), (2, 3))
    assert [one.name for one in second.descriptions] == ["", "host", "0", "1"]


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("parent", np.array([-1, 0, 0, 5, -1, 0, 1, 1], np.int32), "has a node before its parent in the tree clusters"),
        ("parent", np.array([-1, 0, 0, 0, 0, 0, 1, 1], np.int32), "has no root for the tree addresses"),
        ("parent", np.array([-1], np.int32), "has 1 entries where 8 belong"),
        ("pages", np.array([0, 1, 2, 3, 4, 9, 0, 2, 4, 1, 3, 5], np.uint8), "beyond the last, 5"),
        ("pages", np.array([0], np.uint8), "does not run from 0 to 1"),
    ],
)
def test_damage_is_found(tmp_path: Path, name: str, values: np.ndarray, said: str) -> None:
    findings = list(check_trees(open_kin(kept(tmp_path, TREES, **{name: values}))))
    assert any(said in finding.what for finding in findings), findings


def test_a_collection_without_trees_is_whole(tmp_path: Path) -> None:
    with KinWriter(tmp_path / "web.kin", "test") as writer:
        writer.commit({})
    kin = open_kin(tmp_path / "web.kin")
    assert read_trees(kin) == []
    assert list(check_trees(kin)) == []


# -- shards --------------------------------------------------------------------------------------------------------------


def outline(tree: Tree) -> list[tuple[int, str, list[int], tuple[int, ...]]]:
    """The parent, name, pages and central pages of each node."""
    return [
        (int(tree.parent[node]), about.name, tree.pages_of(node).tolist(), about.central)
        for node, about in enumerate(tree.descriptions)
    ]


@generated
@given(nested(), some.lists(some.integers(0, 12), max_size=3))
def test_a_tree_that_was_cut_is_joined_again(levels: list[np.ndarray], cuts: list[int]) -> None:
    pages = len(levels[0])
    tree = Tree.of_levels("clusters", levels, {})
    # Nodes may share a name: they are told apart by their place.
    central = [tuple(sorted(tree.pages_of(node)[:3].tolist())) for node in range(len(tree))]
    described = [ClusterDescription("ab"[node % 2], ("term",), of) for node, of in enumerate(central)]
    tree = Tree(tree.name, tree.parent, tree.offsets, tree.pages, {}, described)
    bounds = [0, *sorted(min(cut, pages) for cut in cuts), pages]
    parts = [tree.cut(first, last) for first, last in pairwise(bounds)]
    assert outline(join_shard_trees(parts, bounds[:-1])) == outline(tree)


def by_names(tree: Tree) -> dict[tuple[str, ...], list[int]]:
    """The pages of each node, by the names on the way to it."""
    names = [about.name for about in tree.descriptions]
    return {tuple(names[step] for step in tree.path(node)): tree.pages_of(node).tolist() for node in range(len(tree))}


def test_addresses_of_shards_meet_by_their_names() -> None:
    one = Tree.of_paths("addresses", [(0, ("a.example", "x")), (1, ("b.example",))], {})
    other = Tree.of_paths("addresses", [(0, ("b.example", "y")), (1, ("c.example",))], {})
    paths = [(0, ("a.example", "x")), (1, ("b.example",)), (2, ("b.example", "y")), (3, ("c.example",))]
    joined, whole = join_shard_trees([one, other], [0, 2]), Tree.of_paths("addresses", paths, {})
    assert by_names(joined) == by_names(whole)


def test_documents_that_two_shards_found_are_two_even_if_they_have_one_name() -> None:
    manual = Tree(
        "documents", np.array([-1, 0], np.int32), np.array([0, 0, 2]), np.array([0, 1]), {},
        [ClusterDescription("", (), ()), ClusterDescription("Manual", (), (0,))],
    )  # fmt: skip
    joined = join_shard_trees([manual, manual], [0, 10], apart=True)
    assert outline(joined)[1:] == [(0, "Manual", [0, 1], (0,)), (0, "Manual", [10, 11], (10,))]
