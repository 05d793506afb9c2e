"""Hierarchies of a collection's pages, and how they are stored; a collection may have several over the same pages."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.store import Array, Kin, KinWriter, distinct, pack_strings, smallest_uint

TREE_ARRAYS = "tree."
"""The prefix of the arrays' names."""


@dataclass(frozen=True)
class ClusterDescription:
    """A cluster for people."""

    name: str
    terms: tuple[str, ...]
    """Terms that distinguish it from its siblings, the most characteristic first."""
    central: tuple[int, ...]
    """Pages in its middle, by terms and links."""


@dataclass(frozen=True)
class Tree:
    """One hierarchy. Node 0 is the root; a parent's number is smaller than its children's."""

    name: str
    parent: npt.NDArray[np.int32]
    """-1 for the root."""
    offsets: npt.NDArray[np.int64]
    pages: npt.NDArray[np.int64]
    """Node n itself holds pages[offsets[n]:offsets[n + 1]]; with several parents a page stands in several nodes."""
    facts: Mapping[str, Any]
    descriptions: Sequence[ClusterDescription] = ()

    def __len__(self) -> int:
        return len(self.parent)

    @cached_property
    def children(self) -> list[list[int]]:
        """Return the children of each node, ascending."""
        children: list[list[int]] = [[] for _ in range(len(self))]
        for node, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                children[parent].append(node)
        return children

    @cached_property
    def _below(self) -> list[Array]:
        """Return all pages of each node, including those of its descendants, ascending."""
        below: list[list[Array]] = [[self.pages[self.offsets[n] : self.offsets[n + 1]]] for n in range(len(self))]
        pages_of_node: list[Array] = [np.zeros(0, np.int64)] * len(self)
        for node in range(len(self) - 1, -1, -1):
            # np.unique does the same, but loads numpy.ma: a tenth of the time that a question takes on the command line.
            pages = np.sort(np.concatenate(below[node]))
            pages_of_node[node] = pages[np.diff(pages, prepend=-1) > 0]
            if self.parent[node] >= 0:
                below[int(self.parent[node])].append(pages_of_node[node])
        return pages_of_node

    def pages_of(self, node: int) -> npt.NDArray[np.int64]:
        """Return all pages of a node, ascending."""
        return self._below[node]

    def keep_pages(self, kept: Array) -> "Tree":
        """Return the same nodes with some of the pages, given a mark for each page."""
        held = kept[self.pages]
        return replace(self, pages=self.pages[held], offsets=np.append(0, np.cumsum(held))[self.offsets])

    def without_central(self, hidden: Array) -> "Tree":
        """Return the same tree described without central pages that are marked."""
        described = [
            replace(one, central=tuple(page for page in one.central if not hidden[page])) for one in self.descriptions
        ]
        return replace(self, descriptions=described)

    def path(self, node: int) -> list[int]:
        """Return the nodes from the root to a node."""
        nodes = [node]
        while self.parent[nodes[0]] >= 0:
            nodes.insert(0, int(self.parent[nodes[0]]))
        return nodes

    def homes(self, page: int) -> list[int]:
        """Return the nodes that hold a page themselves."""
        places = np.flatnonzero(self.pages == page)
        return [int(node) for node in np.searchsorted(self.offsets, places, side="right") - 1]

    def cut(self, first: int, last: int) -> "Tree":
        """Return the tree with only the pages `first` to `last`, numbered from `first`; all nodes stay."""
        kept = (self.pages >= first) & (self.pages < last)
        offsets = np.append(0, np.cumsum(kept))[self.offsets]
        descriptions = [
            ClusterDescription(one.name, one.terms, tuple(page - first for page in one.central if first <= page < last))
            for one in self.descriptions
        ]
        return Tree(self.name, self.parent, offsets, self.pages[kept] - first, self.facts, descriptions)

    @classmethod
    def of_levels(cls, name: str, levels: Sequence[Array], facts: Mapping[str, Any], chosen: int = 0) -> "Tree":
        """Make a tree from labels of all pages, the coarsest level first; each level divides the previous one.

        Children stand in the order of their size, the largest first, then of their first page. A node that is not
        divided at a level has no child there. The fact `shown` names the nodes of the chosen level, which hold every page
        once. Cost: a sort of the pages for each level.
        """
        shown: list[int] = []
        parents = [-1]
        node_of = np.zeros(len(levels[0]), np.int64)
        for level, labels in enumerate(levels):
            width = int(np.max(labels, initial=0)) + 1
            parts, first, part_of, sizes = np.unique(
                node_of * width + labels, return_index=True, return_inverse=True, return_counts=True
            )
            node = parts // width
            divided = np.flatnonzero(np.bincount(node, minlength=1)[node] > 1)
            divided = divided[np.lexsort((first[divided], -sizes[divided], node[divided]))]
            number = node.copy()
            number[divided] = len(parents) + np.arange(len(divided))
            parents += node[divided].tolist()
            node_of = number[part_of]
            if level == chosen:
                shown = np.unique(node_of).tolist()
        order = np.argsort(node_of, kind="stable")
        offsets = np.searchsorted(node_of[order], np.arange(len(parents) + 1))
        return cls(name, np.array(parents, np.int32), offsets.astype(np.int64), order, {**facts, "shown": shown})

    @classmethod
    def of_paths(cls, name: str, paths: Iterable[tuple[int, tuple[str, ...]]], facts: Mapping[str, Any]) -> "Tree":
        """Make a tree from (page, path) pairs: every prefix of a path is a node, named by its last part.

        Memory: for the different paths, and two numbers for each pair.
        """
        known: dict[tuple[str, ...], int] = {}
        nodes, pages = array("q"), array("q")
        for page, path in paths:
            if path not in known:
                for length in range(len(path) + 1):
                    known.setdefault(path[:length], len(known))
            nodes.append(known[path])
            pages.append(page)
        order = sorted(known, key=lambda path: (len(path), path))
        number = np.empty(len(known), np.int64)
        number[[known[path] for path in order]] = np.arange(len(known))
        width = max(pages, default=0) + 1
        held = distinct(number[np.frombuffer(nodes, np.int64)] * width + np.frombuffer(pages, np.int64))
        parent = [-1 if not path else int(number[known[path[:-1]]]) for path in order]
        offsets = np.searchsorted(held, np.arange(len(known) + 1) * width)
        descriptions = [ClusterDescription(path[-1] if path else "", (), ()) for path in order]
        return cls(
            name, np.array(parent, np.int32), offsets.astype(np.int64), held % width, dict(facts), descriptions,
        )  # fmt: skip


# -- in a collection ----------------------------------------------------------------------------------------------------


def put_trees(writer: KinWriter, trees: Sequence[Tree]) -> dict[str, Any]:
    """Write hierarchies, at least one; return the facts for the manifest."""
    descriptions = [
        one for tree in trees for one in (tree.descriptions or [ClusterDescription("", (), ())] * len(tree))
    ]
    # A name and its terms, one line each: neither holds a line end.
    lines = ["\n".join(" ".join(text.split()) for text in (one.name, *one.terms)).encode() for one in descriptions]
    words, words_offsets = pack_strings(lines)
    writer.put("tree.parent", np.concatenate([tree.parent for tree in trees]))
    for name, values in (
        ("offsets", np.append(0, np.cumsum(np.concatenate([np.diff(tree.offsets) for tree in trees])))),
        ("pages", np.concatenate([tree.pages for tree in trees])),
        ("words", words),
        ("words_offsets", words_offsets),
        ("central", np.array([page for one in descriptions for page in one.central], np.int64)),
        ("central_offsets", np.cumsum([0, *(len(one.central) for one in descriptions)])),
    ):
        writer.put(f"tree.{name}", values.astype(smallest_uint(int(values.max(initial=0)))))
    firsts = np.cumsum([0, *(len(tree) for tree in trees[:-1])]).tolist()
    facts = [
        {"name": tree.name, "first": first, "nodes": len(tree), **tree.facts}
        for tree, first in zip(trees, firsts, strict=True)
    ]
    return {"trees": facts}


def read_trees(kin: Kin) -> list[Tree]:
    """Read the hierarchies of a collection."""
    trees: list[Tree] = []
    if not kin.facts.get("trees"):
        return trees
    # Once, not for each node: looking up an array takes longer than reading a name.
    words, centres = kin["tree.words"], kin["tree.central"]
    for fact in kin.facts["trees"]:
        first, last = int(fact["first"]), int(fact["first"]) + int(fact["nodes"])
        offsets, bounds, counts = (
            np.asarray(kin[f"tree.{name}"][first : last + 1], dtype=np.int64)
            for name in ("offsets", "words_offsets", "central_offsets")
        )
        pages = np.asarray(kin["tree.pages"][offsets[0] : offsets[-1]], dtype=np.int64)
        descriptions = []
        for node in range(last - first):
            name, *terms = words[bounds[node] : bounds[node + 1]].tobytes().decode().split("\n")
            central = centres[counts[node] : counts[node + 1]]
            descriptions.append(ClusterDescription(name, tuple(terms), tuple(central.tolist())))
        facts = {name: value for name, value in fact.items() if name not in ("name", "first", "nodes")}
        parent = np.asarray(kin["tree.parent"][first:last])
        trees.append(Tree(fact["name"], parent, offsets - offsets[0], pages, facts, descriptions))
    return trees


def join_trees(base: Tree, delta: Tree, first: int) -> Tree:
    """Return a hierarchy of a base and that of its delta as one; the delta's pages are numbered from `first` on.

    Nodes of the base have their numbers. The delta has the same ones, or those of the same paths of names, and others follow.
    """
    place = _places_of(delta, base)
    parents, described = base.parent.tolist(), list(base.descriptions)
    held = [[base.pages[base.offsets[node] : base.offsets[node + 1]]] for node in range(len(base))]
    for node, at in enumerate(place):
        own, about = delta.pages[delta.offsets[node] : delta.offsets[node + 1]], delta.descriptions[node]
        central = tuple(first + page for page in about.central)
        if at == len(parents):
            parents.append(place[int(delta.parent[node])])
            described.append(replace(about, central=central))
            held.append([])
        elif not described[at].central:
            described[at] = replace(described[at], central=central)
        held[at].append(first + own)
    pages = [np.concatenate([np.zeros(0, np.int64), *some]) for some in held]
    offsets = np.cumsum([0, *map(len, pages)])
    parent = np.array(parents, base.parent.dtype)
    return Tree(base.name, parent, offsets, np.concatenate(pages), base.facts, described)


def join_shard_trees(trees: Sequence[Tree], firsts: Sequence[int], apart: bool = False) -> Tree:
    """Return the parts that shards hold of a hierarchy as one; each part's pages are numbered from one of `firsts` on.

    Either the shards have the same nodes, or nodes of the same path of names are one; with `apart` a node is of one shard alone.
    The most central pages of a node stand in the order of their shards.
    """
    base = trees[0]
    same = all(_have_same_nodes(tree, base) for tree in trees)
    if apart and same:
        described_in = np.array([[bool(about.central) for about in tree.descriptions[1:]] for tree in trees])
        same = bool(np.all(described_in.sum(axis=0) <= 1))
    parents: list[int] = []
    described: list[ClusterDescription] = []
    held: list[list[Array]] = []
    known: dict[object, int] = {}
    for shard, (tree, first) in enumerate(zip(trees, firsts, strict=True)):
        paths = None if same else name_paths(tree)
        place: list[int] = []
        for node, about in enumerate(tree.descriptions):
            key: object = node if paths is None else (shard, node) if apart and node else paths[node]
            central = tuple(first + page for page in about.central)
            place.append(known.setdefault(key, len(known)))
            if place[node] == len(parents):
                parents.append(place[int(tree.parent[node])] if node else -1)
                described.append(replace(about, central=central))
                held.append([np.zeros(0, np.int64)])
            else:
                before = described[place[node]]
                described[place[node]] = replace(before, central=before.central + central)
            held[place[node]].append(first + tree.pages[tree.offsets[node] : tree.offsets[node + 1]])
    pages = [np.concatenate(some) for some in held]
    offsets = np.cumsum([0, *map(len, pages)])
    return Tree(base.name, np.array(parents, np.int32), offsets, np.concatenate(pages), base.facts, described)


def _have_same_nodes(one: Tree, other: Tree) -> bool:
    """Return whether two trees have nodes of the same names in the same places."""
    same_places = np.array_equal(one.parent, other.parent)
    return same_places and [about.name for about in one.descriptions] == [about.name for about in other.descriptions]


def _places_of(delta: Tree, base: Tree) -> list[int]:
    """Return the number of each node of a delta's tree in the joined tree; new nodes follow the base's."""
    if np.array_equal(delta.parent, base.parent):
        return list(range(len(delta)))
    known = {path: node for node, path in enumerate(name_paths(base))}
    return [known.setdefault(path, len(known)) for path in name_paths(delta)]


def name_paths(tree: Tree) -> list[tuple[str, ...]]:
    """Return the names from the root to each node."""
    return [tuple(tree.descriptions[one].name for one in tree.path(node)) for node in range(len(tree))]
