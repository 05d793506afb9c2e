"""A sparse graph of a collection's pages: edges to the most similar pages, and to linked pages."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from pagekin.bags import BagMatrix, BagWorkshop, Strategy, classify_links
from pagekin.clusters.links import link_pairs
from pagekin.hypertext import Corpus
from pagekin.store import (
    IN_MEMORY,
    Array,
    Progress,
    Workspace,
    batch_ranges,
    map_in_order,
    no_progress,
    temporary_folder,
)

_ROWS = 256
"""Rows whose neighbours are searched together."""
_ENTRIES = 1 << 20
"""Entries of bags that are added up at a time."""
NEAREST = 25
"""Pages that each page has as neighbours by its bag."""
WIDEST = 0.1
"""Terms in more than this share of the bags are not looked at; they weigh next to nothing."""
NEIGHBOURS = Strategy().with_settings({"links.scale": 1.0})
"""A page that links to the page is a term of its bag: pages that are listed together are alike."""


@dataclass(frozen=True)
class WeightedGraph:
    """An undirected graph: node i has edges to others[offsets[i]:offsets[i + 1]], rising, and each edge stands twice.

    A node's edge to itself stands once, with the weight of both its ends.
    """

    offsets: npt.NDArray[np.int64]
    others: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sources(self) -> npt.NDArray[np.int64]:
        """Return the source node of each edge, (edges)."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.offsets))

    @classmethod
    def of(cls, nodes: int, sources: Array, targets: Array, weights: Array) -> "WeightedGraph":
        """Make the graph of edges given in both directions; the weights of repeated edges are added up."""
        keys = sources.astype(np.int64) * nodes + targets
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        sums = np.add.reduceat(weights[order].astype(np.float64), starts) if len(starts) else np.zeros(0)
        keys = keys[starts]
        offsets = np.searchsorted(keys, np.arange(nodes + 1, dtype=np.int64) * nodes)
        return cls(offsets.astype(np.int64), keys % max(nodes, 1), sums)

    @classmethod
    def from_one_direction(cls, nodes: int, sources: Array, targets: Array, weights: Array) -> "WeightedGraph":
        """Make the graph of edges given in one direction; none from a node to itself."""
        other = sources != targets
        a, b, w = sources[other], targets[other], weights[other]
        return cls.of(nodes, np.concatenate([a, b]), np.concatenate([b, a]), np.concatenate([w, w]))

    def merge_groups(self, labels: Array, count: int) -> "WeightedGraph":
        """Merge groups of nodes into one node each, with the weights between them and, from a group to itself, inside."""
        return WeightedGraph.of(count, labels[self.sources], labels[self.others], self.weights)

    def parts(self, labels: Array) -> list["WeightedGraph"]:
        """Return the graph of each group of nodes and the edges inside it; groups are numbered from 0."""
        order = np.argsort(labels, kind="stable")
        bounds = np.concatenate([[0], np.cumsum(np.bincount(labels, minlength=1))])
        number = np.empty(len(self), np.int64)
        number[order] = np.arange(len(self))
        kept = labels[self.sources] == labels[self.others]
        grouped = WeightedGraph.of(len(self), number[self.sources[kept]], number[self.others[kept]], self.weights[kept])
        graphs = []
        for first, last in pairwise(bounds.tolist()):
            offsets = grouped.offsets[first : last + 1]
            edges = slice(int(offsets[0]), int(offsets[-1]))
            graphs.append(WeightedGraph(offsets - offsets[0], grouped.others[edges] - first, grouped.weights[edges]))
        return graphs


def neighbour_graph(
    corpus: Corpus, urls: Array, threads: int = 1, progress: Progress = no_progress, workshop: BagWorkshop | None = None
) -> WeightedGraph:
    """Make the graph of captured pages, given by their URL numbers in rising order.

    Links of other pages do not count, unless a workshop is given, which says whose links count.
    """
    if len(urls) < 2:
        return WeightedGraph(np.zeros(len(urls) + 1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    progress("bags", 0.0)
    if workshop:
        matrix, space = workshop.matrix(NEIGHBOURS, urls), workshop.space
    else:
        with temporary_folder("clusters") as folder:
            left_out = np.flatnonzero(~np.isin(np.asarray(corpus.pages.url), urls))
            matrix, space = BagWorkshop(corpus, folder, threads, left_out).matrix(NEIGHBOURS, urls), IN_MEMORY
    near, similarity = nearest_pages(
        matrix, threads, progress=lambda share: progress("neighbours", share), space=space
    )  # fmt: skip
    del matrix
    return join_graphs(near, similarity, *links_between(corpus, urls))


def nearest_pages(
    matrix: BagMatrix, threads: int = 1, nearest: int = NEAREST, widest: float = WIDEST,
    progress: Callable[[float], None] = lambda _share: None, space: Workspace = IN_MEMORY,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:  # fmt: skip
    """Return the nearest other rows by weighted Jaccard, (rows, nearest), -1 where there are no more; and how similar."""
    table = BagTable(matrix, widest, space)
    return table.nearest(matrix, min(nearest, max(len(matrix) - 1, 1)), threads, True, progress)


class BagTable:
    """Bags by term, to find the most similar ones; ignores terms in more than a share `widest` of the bags."""

    def __init__(self, matrix: BagMatrix, widest: float = WIDEST, space: Workspace = IN_MEMORY) -> None:
        from pagekin.clusters._kernels import communities

        counts = np.zeros(matrix.columns, np.int64)
        communities.count_columns(matrix.terms, counts)
        counts[counts > max(widest * len(matrix), 50)] = 0
        ends = np.cumsum(counts)
        held = int(ends[-1]) if len(ends) else 0
        self._columns = communities.Columns(
            space.empty(held, np.int32), space.empty(held, np.float32), ends - counts
        )  # fmt: skip
        communities.fill_columns(matrix.offsets, matrix.terms, matrix.weights, counts, self._columns)
        self._sums = _row_sums(matrix)

    def nearest(
        self, queries: BagMatrix, width: int, threads: int = 1, own: bool = False,
        progress: Callable[[float], None] = lambda _share: None,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:  # fmt: skip
        """Return the `width` nearest bags of each query, -1 where there are no more, and how similar they are.

        With `own` the queries are the bags of the table, none of which is near itself.
        """
        from pagekin.clusters._kernels import communities

        rows = len(queries)
        asked = communities.Queries(queries.offsets, queries.terms, queries.weights, _row_sums(queries), own)
        near, similarity = np.full((rows, width), -1, np.int64), np.zeros((rows, width), np.float32)
        shared = [np.zeros(len(self._sums), np.float32) for _ in range(threads)]

        def part(first: int, last: int) -> None:
            mine = shared.pop()
            communities.nearest_rows(
                first,
                last,
                asked,
                self._columns,
                self._sums,
                mine,
                near[first:last],
                similarity[first:last],
            )
            shared.append(mine)

        parts = [(i, min(i + _ROWS, rows)) for i in range(0, rows, _ROWS)]
        for (_first, last), _nothing in map_in_order(threads, part, parts):
            progress(last / rows)
        return near, similarity


def _row_sums(matrix: BagMatrix) -> npt.NDArray[np.float32]:
    """Return the sum of each row, some thousand rows at a time."""
    sums = np.zeros(len(matrix), np.float32)
    for first, last in batch_ranges(matrix.offsets, _ENTRIES):
        rows = np.repeat(np.arange(last - first), np.diff(matrix.offsets[first : last + 1]))
        weights = matrix.weights[matrix.offsets[first] : matrix.offsets[last]]
        sums[first:last] = np.bincount(rows, weights, last - first)
    return sums


def links_between(corpus: Corpus, urls: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return places of captured pages in `urls`, from and to, (links, 2), each pair once; and the weight of each link.

    A page's links weigh 1 together at most; a page to which many link gives each less. Site furniture and
    pages that only list do not count.
    """
    pairs = link_pairs(corpus, urls, classify_links(corpus, Strategy()))
    pages = np.stack([pairs // len(urls), pairs % len(urls)], axis=1)
    out, into = (np.bincount(pages[:, side], minlength=len(urls)) for side in (0, 1))
    return pages, weigh_links(out[pages[:, 0]], into[pages[:, 1]])


def weigh_links(out: Array, into: Array) -> npt.NDArray[np.float64]:
    """Return the weights of links, given the number of links of their sources and to their targets."""
    return np.asarray(1 / np.sqrt(out * into))


def join_graphs(near: Array, similarity: Array, pages: Array, links: Array) -> WeightedGraph:
    """Join neighbours by bags, whose weights add up to 1 on the average page, and by links into one graph."""
    nodes = len(near)
    held = near >= 0
    sources = np.repeat(np.arange(nodes, dtype=np.int64), near.shape[1])[held.ravel()]
    scaled = similarity / max(float(similarity.sum(dtype=np.float64)) / max(nodes, 1), 1e-9)
    return WeightedGraph.from_one_direction(
        nodes,
        np.concatenate([sources, pages[:, 0]]),
        np.concatenate([near[held], pages[:, 1]]),
        np.concatenate([scaled[held].astype(np.float64), links]),
    )
