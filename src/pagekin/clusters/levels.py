"""Sums over the nodes of a tree, one group of siblings at a time, each in one pass over its pages' terms."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pagekin.bags import BagMatrix
from pagekin.clusters.hierarchy import Tree
from pagekin.store import IN_MEMORY, Array, Workspace, batch_ranges

_ENTRIES = 1 << 20
"""Entries of rows that are normalised at a time."""
_SUMMED = 1 << 19
"""Entries of rows that are summed up at a time, over nodes with the same parent: the memory is that of so many sums."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The terms of pages, as rows of a sparse matrix: page p has the entries offsets[p] to offsets[p + 1]."""

    offsets: npt.NDArray[np.int64]
    terms: Array
    """Integers; none twice in a row."""
    weights: npt.NDArray[np.float64]
    count: int
    """Number of terms."""

    @classmethod
    def of_words(cls, bags: BagMatrix, words: int, space: Workspace = IN_MEMORY) -> "Rows":
        """Return the words of pages' bags, with each row normalised to sum 1; in files of `space` if they are large."""
        terms, weights = space.growing(bags.terms.dtype), space.growing(np.float64)
        sizes = np.zeros(len(bags), np.int64)
        for first, last in batch_ranges(bags.offsets, _ENTRIES):
            here = slice(int(bags.offsets[first]), int(bags.offsets[last]))
            is_word = bags.terms[here] < words
            row = np.repeat(np.arange(last - first), np.diff(bags.offsets[first : last + 1]))[is_word]
            some = bags.weights[here][is_word].astype(np.float64)
            some /= np.maximum(np.bincount(row, some, last - first), 1e-30)[row]
            sizes[first:last] = np.bincount(row, minlength=last - first)
            terms.append(bags.terms[here][is_word])
            weights.append(some)
        return cls(np.append(0, np.cumsum(sizes)), terms.finish(), weights.finish(), words)

    def place_among(self, pages: Array, count: int) -> "Rows":
        """Return `count` rows for more pages: row i of these is row pages[i] (ascending) of them, and others are empty."""
        sizes = np.zeros(count, np.int64)
        sizes[pages] = np.diff(self.offsets)
        return replace(self, offsets=np.append(0, np.cumsum(sizes)))

    @cached_property
    def scratch(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return scratch arrays for sums of rows: weights and counts of all terms (zero between uses), and the terms met."""
        return np.zeros(self.count), np.zeros(self.count, np.int64), np.empty(self.count, np.int64)


@dataclass(frozen=True, eq=False)
class PageLinks:
    """Links between pages, by their sources: page p links to targets[starts[p]:starts[p + 1]]."""

    starts: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]

    @classmethod
    def of(cls, links: Array, pages: int) -> "PageLinks":
        """Sort links, (links, 2), each once."""
        links = links[np.lexsort((links[:, 1], links[:, 0]))]
        return cls(np.searchsorted(links[:, 0], np.arange(pages + 1)), links[:, 1].astype(np.int64))

    @cached_property
    def backward(self) -> "PageLinks":
        """Return the links the other way round: which pages link to a page."""
        sources = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return PageLinks.of(np.stack([self.targets, sources], axis=1), len(self.starts) - 1)

    @cached_property
    def scratch(self) -> npt.NDArray[np.int64]:
        """Return a number for each page, -1 between uses."""
        return np.full(len(self.starts) - 1, -1, np.int64)


@dataclass(frozen=True)
class Level:
    """Some nodes of a tree, each with its own pages and those of its descendants."""

    nodes: npt.NDArray[np.int64]
    """Numbers of the nodes, rising."""
    offsets: npt.NDArray[np.int64]
    pages: npt.NDArray[np.int64]
    """Node i of the level holds pages[offsets[i]:offsets[i + 1]], rising."""

    @classmethod
    def of(cls, tree: Tree, nodes: Array) -> "Level":
        """Collect the pages of some nodes."""
        held = [tree.pages_of(node) for node in nodes.tolist()]
        return cls(nodes, np.cumsum([0, *map(len, held)]).astype(np.int64), np.concatenate(held))

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Return the number of pages of each node."""
        return np.diff(self.offsets)

    @property
    def places(self) -> npt.NDArray[np.int64]:
        """Return, for each entry of `pages`, the place of its node in the level."""
        return np.repeat(np.arange(len(self.nodes)), self.sizes)

    def citations(self, links: PageLinks) -> npt.NDArray[np.int64]:
        """Return, for each entry of `pages`, the number of pages of its node that link to it."""
        from pagekin.clusters._kernels import sums as kernels

        cited = np.zeros(len(self.pages), np.int64)
        kernels.count_citations(self.offsets, self.pages, links.starts, links.targets, links.scratch, cited)
        return cited

    def holders(self, rows: Rows, nodes: Array, terms: Array, counts: Array) -> list[npt.NDArray[np.int64]]:
        """Return the pages that hold a term, for each of some nodes (by place, rising), terms, and counts of such pages."""
        from pagekin.clusters._kernels import sums as kernels

        starts = np.cumsum(np.append(0, counts))
        pages = np.empty(int(starts[-1]), np.int64)
        slot = rows.scratch[1]
        kernels.list_holders(self.offsets, self.pages, rows.offsets, rows.terms, nodes, terms, starts, slot, pages)
        return np.split(pages, starts[1:-1]) if len(counts) else []


def tree_levels(tree: Tree) -> Iterator[Level]:
    """Yield the levels of a tree, the root first."""
    depth = np.zeros(len(tree), np.int64)
    for node, parent in enumerate(tree.parent.tolist()):
        depth[node] = depth[parent] + 1 if parent >= 0 else 0
    order = np.argsort(depth, kind="stable")
    bounds = np.searchsorted(depth[order], np.arange(int(depth.max(initial=0)) + 2))
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        yield Level.of(tree, order[first:last])


def sibling_groups(tree: Tree, work: Array | None = None, most: int = _SUMMED) -> Iterator[Level]:
    """Yield the root, and then the children of every node that has some, in depth-first order.

    So whoever compares nodes with their parents has to remember those above alone, not whole levels. If `work` says how much
    there is to do up to each page, children come in several groups, each with about `most` work or of one node.
    """
    waiting = [[0]]
    while waiting:
        nodes = waiting.pop()
        yield Level.of(tree, np.array(nodes, np.int64))
        for node in reversed(nodes):
            waiting += reversed(_divide(tree, tree.children[node], work, most))


def _divide(tree: Tree, nodes: list[int], work: Array | None, most: int) -> list[list[int]]:
    """Divide some nodes into groups with about so much work each."""
    if work is None or not nodes:
        return [nodes] if nodes else []
    of_node = [int(np.sum(work[pages + 1] - work[pages])) for pages in map(tree.pages_of, nodes)]
    return [nodes[first:last] for first, last in batch_ranges(np.cumsum([0, *of_node]), most)]


@dataclass(frozen=True)
class NodeSums:
    """Sums over the pages of one node."""

    size: int
    """Pages of the node."""
    term: Array
    """Terms, rising."""
    pages: npt.NDArray[np.int64]
    """Pages that hold each of them."""

    def pages_of(self, term: Array) -> npt.NDArray[np.int64]:
        """Return how many pages hold each of some terms."""
        if not len(self.term):
            return np.zeros(len(term), np.int64)
        places = np.minimum(np.searchsorted(self.term, term), len(self.term) - 1)
        return np.where(self.term[places] == term, self.pages[places], 0)


class SumsAbove:
    """The sums of nodes with children that are still to come, while the groups of a tree are looked at one after another."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._held: dict[int, NodeSums] = {}

    def parent(self, level: Level) -> NodeSums | None:
        """Return the sums of the parent of a group; None for the root's group."""
        return self._held.get(int(self._tree.parent[level.nodes[0]]))

    def note(self, level: Level, sums: "LevelSums") -> None:
        """Keep the sums of a group's nodes that have children, and forget the parent's with its last child."""
        parent, children = int(self._tree.parent[level.nodes[0]]), self._tree.children
        if parent >= 0 and int(level.nodes[-1]) == children[parent][-1]:
            self._held.pop(parent, None)
        for place, node in enumerate(level.nodes.tolist()):
            if children[node]:
                self._held[node] = sums.of_node(place, int(level.sizes[place]))


@dataclass(frozen=True)
class LevelSums:
    """Sums over the pages of each node of a level, for every pair of a node and a term that occurs."""

    ends: npt.NDArray[np.int64]
    """The pairs of node i end at ends[i]."""
    term: Array
    """The term of each pair, rising within a node."""
    weight: npt.NDArray[np.float64]
    """The summed weight of the pair."""
    pages: npt.NDArray[np.int64]
    """Pages of the node that hold the term."""
    dots: npt.NDArray[np.float64]
    """For each entry of the level's pages, the dot product of the page's row and the sums of its node, …"""
    lengths: npt.NDArray[np.float64]
    """… and the product of their lengths; both empty if they were not asked for."""

    @classmethod
    def of(cls, level: Level, rows: Rows, with_dots: bool = False) -> "LevelSums":
        """Sum up rows over the nodes of a level. Cost: two passes over its pages' entries, a sort of each node's terms."""
        from pagekin.clusters._kernels import sums as kernels

        entries = np.append(0, np.cumsum(rows.offsets[level.pages + 1] - rows.offsets[level.pages]))
        # Room for all pairs that there may be: what is not written to takes no memory.
        room = int(np.minimum(np.diff(entries[level.offsets]), rows.count).sum())
        out = np.empty(room, np.uint32), np.empty(room), np.empty(room, np.int64)
        ends = np.zeros(len(level.nodes), np.int64)
        dots, squares = np.zeros((2, len(level.pages) if with_dots else 0))
        pairs = kernels.sum_nodes(
            level.offsets, level.pages, rows.offsets, rows.terms, rows.weights, rows.scratch, ends, out, dots, squares
        )
        term, weight, pages = out[0][:pairs].copy(), out[1][:pairs].copy(), out[2][:pairs].copy()
        places = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        lengths = np.sqrt(np.bincount(places, weight**2, len(ends)))[level.places] if with_dots else squares
        return cls(ends, term, weight, pages, dots, np.sqrt(squares) * lengths)

    @property
    def place(self) -> npt.NDArray[np.int64]:
        """Return the node of each pair, by its place in the level, rising."""
        return np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))

    def pairs(self, place: int) -> slice:
        """Return the pairs of the node at a place."""
        return slice(int(self.ends[place - 1]) if place else 0, int(self.ends[place]))

    def of_node(self, place: int, size: int) -> NodeSums:
        """Return the sums of one node, given its number of pages."""
        return NodeSums(size, self.term[self.pairs(place)].copy(), self.pages[self.pairs(place)].copy())

    def pages_of(self, place: Array, term: Array) -> npt.NDArray[np.int64]:
        """Return how many pages of a place hold a term, for each of some places and terms."""
        if not len(self.term):
            return np.zeros(len(term), np.int64)
        width = int(max(self.term.max(), term.max(initial=0))) + 1
        keys, wanted = self.place * width + self.term, place * width + term
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[places] == wanted, self.pages[places], 0)
