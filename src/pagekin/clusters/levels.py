"""Sums over the nodes of a tree, level by level: a level is one pass over what pages hold, however many nodes it has."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pagekin.bags import BagMatrix
from pagekin.clusters.hierarchy import Tree
from pagekin.store import Array, row_entries

_TABLE = 8
"""A table of keys is made if it has no more than so many places for each key."""


@dataclass(frozen=True)
class Rows:
    """What pages hold, as rows of a sparse matrix: page p has the entries offsets[p] to offsets[p + 1]."""

    offsets: npt.NDArray[np.int64]
    terms: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    count: int
    """Number of terms."""

    @classmethod
    def of_words(cls, bags: BagMatrix, words: int) -> "Rows":
        """Return the bags of pages, words alone, each row divided by its sum."""
        is_word = bags.terms < words
        page, weights = bags.rows[is_word], bags.weights[is_word].astype(np.float64)
        weights = weights / np.maximum(np.bincount(page, weights, len(bags)), 1e-30)[page]
        return cls(np.searchsorted(page, np.arange(len(bags) + 1)), bags.terms[is_word], weights, words)


@dataclass(frozen=True)
class Level:
    """The nodes at one depth of a tree, and the pages that each of them holds, with those further down."""

    nodes: npt.NDArray[np.int64]
    """Numbers of the nodes, rising."""
    offsets: npt.NDArray[np.int64]
    pages: npt.NDArray[np.int64]
    """Node i of the level holds pages[offsets[i]:offsets[i + 1]], rising."""

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Return how many pages each node holds."""
        return np.diff(self.offsets)

    @property
    def places(self) -> npt.NDArray[np.int64]:
        """Return for each entry of `pages` the place of its node in the level."""
        return np.repeat(np.arange(len(self.nodes)), self.sizes)

    def inside(self, links: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the links (sorted by source) with both ends in one node: (place in `pages` of the target, of the source).

        A page that several nodes hold has its links in each of them.
        """
        starts = np.searchsorted(links[:, 0], np.append(self.pages, 0))
        ends = np.searchsorted(links[:, 0], self.pages, side="right")
        counts = ends - starts[:-1]
        source = np.repeat(np.arange(len(self.pages)), counts)
        link = np.repeat(ends - np.cumsum(counts), counts) + np.arange(int(counts.sum()))
        width = int(max(self.pages.max(initial=0), links.max(initial=0))) + 1
        keys = self.places * width + self.pages
        wanted = self.places[source] * width + links[link, 1]
        target = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        found = keys[target] == wanted if len(keys) else np.zeros(0, np.bool_)
        return target[found], source[found]


def tree_levels(tree: Tree) -> Iterator[Level]:
    """Yield the levels of a tree, the root first."""
    depth = np.zeros(len(tree), np.int64)
    for node, parent in enumerate(tree.parent.tolist()):
        depth[node] = depth[parent] + 1 if parent >= 0 else 0
    order = np.argsort(depth, kind="stable")
    bounds = np.searchsorted(depth[order], np.arange(int(depth.max(initial=0)) + 2))
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        nodes = order[first:last]
        held = [tree.pages_of(node) for node in nodes.tolist()]
        offsets = np.cumsum([0, *map(len, held)])
        yield Level(nodes, offsets.astype(np.int64), np.concatenate(held))


def _number_distinct(keys: npt.NDArray[np.int64], limit: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the distinct keys, all below `limit`, rising, and the place of each key among them.

    By a table of all keys that there may be where it is not much longer than the keys: several times as fast as sorting.
    """
    if limit > _TABLE * len(keys):
        distinct, place = np.unique(keys, return_inverse=True)
        return distinct, place
    number = np.zeros(limit, np.int64)
    number[keys] = 1
    distinct = np.flatnonzero(number)
    number[distinct] = np.arange(len(distinct))
    return distinct, number[keys]


@dataclass(frozen=True)
class LevelSums:
    """What the pages of each node of a level hold, term by term; pairs of a node and a term that no page holds are left out."""

    place: npt.NDArray[np.int64]
    """The node of each pair, by its place in the level, rising."""
    term: npt.NDArray[np.int64]
    """The term of each pair, rising within a node."""
    weight: npt.NDArray[np.float64]
    """The summed weight of the pair."""
    pages: npt.NDArray[np.int64]
    """Pages of the node that hold the term."""
    entries: npt.NDArray[np.int64]
    """Places in the rows of what was summed, page after page as the level has them."""
    pair_of: npt.NDArray[np.int64]
    """The pair that each of `entries` belongs to."""
    terms: int

    @classmethod
    def of(cls, level: Level, rows: Rows) -> "LevelSums":
        """Sum up rows over the nodes of a level. Cost: a sort of the entries of its pages, at most."""
        entries = row_entries(rows.offsets, level.pages)
        sizes = rows.offsets[level.pages + 1] - rows.offsets[level.pages]
        keys = np.repeat(level.places, sizes) * rows.count + rows.terms[entries]
        pairs, pair_of = _number_distinct(keys, len(level.nodes) * rows.count)
        # Pages are added up in their order, so the sums do not depend on the level's other nodes.
        weight = np.bincount(pair_of, rows.weights[entries], len(pairs)).astype(np.float64)
        pages = np.bincount(pair_of, minlength=len(pairs)).astype(np.int64)
        width = max(rows.count, 1)
        return cls(pairs // width, pairs % width, weight, pages, entries, pair_of, width)

    def find(self, place: Array, term: Array) -> npt.NDArray[np.int64]:
        """Return the pair of each of some places and terms, -1 where no page holds the term."""
        if not len(self.term):
            return np.full(len(term), -1, np.int64)
        keys, wanted = self.place * self.terms + self.term, place * self.terms + term
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[found] == wanted, found, -1)

    def pages_of(self, place: Array, term: Array) -> npt.NDArray[np.int64]:
        """Return how many pages of a place hold a term, for each of some places and terms."""
        pair = self.find(place, term)
        return np.where(pair >= 0, self.pages[pair], 0) if len(self.pages) else np.zeros(len(pair), np.int64)
