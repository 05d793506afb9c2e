"""The similarity of pages by their links: paths, common ancestors, common descendants (hypursuit-1996, eq. 2-5)."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import citing_pages
from pagekin.clusters.settings import LinkSettings
from pagekin.hypertext import Corpus
from pagekin.store import (
    IN_MEMORY,
    Array,
    Progress,
    Workspace,
    batch_ranges,
    chunks,
    count_targets,
    distinct,
    invert,
    map_in_order,
    no_progress,
)

TILE = 8
"""Pages whose pairs are counted together: the bits of the other page are fetched once for all of them."""
ANCHORS = 1 << 20
"""Anchors that are looked at together."""
ROWS = 64
"""Pages whose paths are searched together."""
SMALL = 512
"""Parts of the web with fewer pages are compared together with others: a set of so many pages is one vector of bits."""
SEARCH = 0.4
"""The share of the time that the search for paths takes, more or less."""
ROWS_BELOW = 1.0
"""Paths are followed one by one if that is estimated to take less than this share of the time to count bits."""
NEAR = 1024
"""Pages with at most so many others near them are compared by lists, if that is less work than by bits."""


@dataclass(frozen=True)
class Graph:
    """Links between captured pages, each once, none from a page to itself.

    Node i is the newest capture, page `pages[i]`, of the URL `urls[i]`; URLs rise.
    """

    urls: npt.NDArray[np.int64]
    pages: npt.NDArray[np.int64]
    out_offsets: npt.NDArray[np.int64]
    """Node i links to out_targets[out_offsets[i]:out_offsets[i + 1]], in rising order."""
    out_targets: npt.NDArray[np.int32]
    in_offsets: npt.NDArray[np.int64]
    """Node i is linked from in_sources[in_offsets[i]:in_offsets[i + 1]], in rising order."""
    in_sources: npt.NDArray[np.int32]

    @classmethod
    def of(cls, sources: Array, targets: Array, urls: Array, pages: Array) -> "Graph":
        """Make the graph of links from nodes `sources` to nodes `targets`, however often each is given."""
        other = sources != targets
        return cls.of_pairs(distinct(sources[other].astype(np.int64) * len(urls) + targets[other]), urls, pages)

    @classmethod
    def of_pairs(cls, pairs: Array, urls: Array, pages: Array, space: Workspace = IN_MEMORY) -> "Graph":
        """Make the graph from sorted, distinct links, each encoded as source * number of nodes + target."""
        count = len(urls)
        out_offsets = np.searchsorted(pairs, np.arange(count + 1, dtype=np.int64) * count).astype(np.int64)
        targets, in_sources = space.empty(len(pairs), np.int32), space.empty(len(pairs), np.int32)
        for start, chunk in chunks(pairs):
            targets[start : start + len(chunk)] = chunk % count
        counts = count_targets(targets, count)
        in_offsets = np.cumsum(np.append(0, counts))
        for first, last, links in invert(targets, counts, space.memory):
            in_sources[in_offsets[first] : in_offsets[last]] = pairs[links] // count
        return cls(urls.astype(np.int64), pages.astype(np.int64), out_offsets, targets, in_offsets, in_sources)

    def __len__(self) -> int:
        return len(self.urls)

    def subgraph(self, nodes: Array) -> "Graph":
        """Return the graph of some nodes, given in rising order, and the links between them."""
        place = np.full(len(self), -1, dtype=np.int64)
        place[nodes] = np.arange(len(nodes))
        sources = place[np.repeat(np.arange(len(self)), np.diff(self.out_offsets))]
        targets = place[self.out_targets]
        held = (sources >= 0) & (targets >= 0)
        return Graph.of(sources[held], targets[held], self.urls[nodes], self.pages[nodes])


def page_graph(corpus: Corpus, space: Workspace = IN_MEMORY) -> Graph:
    """Return the links between the captured pages of a corpus, each URL by its newest capture."""
    urls, pages = np.unique(np.asarray(corpus.pages.url), return_index=True)  # the newest capture comes first
    return Graph.of_pairs(link_pairs(corpus, urls, None, space), urls, pages, space)


def link_pairs(
    corpus: Corpus, urls: Array, uses: Array | None = None, space: Workspace = IN_MEMORY
) -> npt.NDArray[np.int64]:
    """Return the distinct links between captured pages, given by sorted URLs; sorted, and without links to itself.

    A link is the place of its source in `urls` times their number plus that of its target. Links on older captures do not count,
    nor those that `uses`, if it is given, does not mark with 0. Memory: for the result, unless `space` has it in a file, and for
    some million anchors.
    """
    place = np.full(len(corpus.urls), -1, np.int64)
    place[urls] = np.arange(len(urls))
    of_page = np.where(citing_pages(corpus), place[np.asarray(corpus.pages.url)], -1)
    bounds = np.asarray(corpus.pages.anchors, dtype=np.int64)
    pairs = space.growing(np.int64)
    for first, last in batch_ranges(bounds, ANCHORS):
        here = slice(int(bounds[first]), int(bounds[last]))
        sources = np.repeat(of_page[first:last], np.diff(bounds[first : last + 1]))
        targets = place[corpus.anchors.target[here]]
        kept = (sources >= 0) & (targets >= 0) & (sources != targets)
        if uses is not None:
            kept &= uses[here] == 0
        pairs.append(distinct(sources[kept] * len(urls) + targets[kept]))  # later batches have later sources
    return pairs.finish()


def link_similarity(
    graph: Graph, settings: LinkSettings | None = None, threads: int = 1, progress: Progress = no_progress
) -> npt.NDArray[np.float32]:
    """Compute S^links (eq. 5) of all pairs of nodes: a symmetric matrix with zeros on its diagonal.

    A document is a common ancestor if it has a path to each page that avoids the other one, and those are the paths that
    count. Exact but for rounding to single precision, for what is beyond `settings.levels`, and for paths of more than
    32 links: without them, each of the three terms is too small by at most 2^-32. The number of threads does not change a
    bit of it.
    """
    settings = settings or LinkSettings()
    parts = _parts(graph)
    if len(parts) == 1:
        return _similarity(graph, settings, threads, partial(progress, "links"))
    # Pages of different parts have nothing in common, and small parts have short sets.
    out = np.zeros((len(graph), len(graph)), dtype=np.float32)
    ends = np.cumsum([0, *(len(nodes) ** 2 for nodes in parts)])
    for nodes, (first, last) in zip(parts, pairwise(ends / max(ends[-1], 1)), strict=True):
        report = _part_progress(first, last, partial(progress, "links"))
        out[np.ix_(nodes, nodes)] = _similarity(graph.subgraph(nodes), settings, threads, report)
    return out


def _part_progress(first: float, last: float, progress: Callable[[float], None]) -> Callable[[float], None]:
    """Return a function that reports the progress of the part of the work from `first` to `last` of the whole."""
    return lambda share: progress(first * (1 - share) + last * share)


def _parts(graph: Graph) -> list[Array]:
    """Divide the nodes into parts without links between them; very small parts are combined."""
    sources = np.repeat(np.arange(len(graph)), np.diff(graph.out_offsets))
    labels = connected_parts(len(graph), sources, graph.out_targets)
    sizes = np.bincount(labels)
    batches = np.cumsum(np.where(sizes < SMALL, sizes, 0)) // SMALL
    groups = np.where(sizes < SMALL, batches, len(graph) + np.arange(len(sizes)))[labels]
    order = np.argsort(groups, kind="stable")
    return [part for part in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1) if len(part)]


def connected_parts(count: int, sources: Array, targets: Array) -> npt.NDArray[np.int64]:
    """Return the connected part of each node, given links between nodes; parts are numbered by their first nodes."""
    first = np.arange(count, dtype=np.int64)
    while True:
        # Each takes the smallest number around it, and the one that stands there, until none changes.
        near = first.copy()
        np.minimum.at(near, sources, first[targets])
        np.minimum.at(near, targets, first[sources])
        near = near[near]
        if np.array_equal(near, first):
            return np.unique(first, return_inverse=True)[1]
        first = near


def _similarity(graph: Graph, settings: LinkSettings, threads: int, progress: Callable[[float], None]) -> Array:
    out = np.zeros((len(graph), len(graph)), dtype=np.float32)
    backward, forward = (graph.in_offsets, graph.in_sources), (graph.out_offsets, graph.out_targets)
    both = [((*backward, *forward), settings.ancestors), ((*forward, *backward), settings.descendants)]
    sides = [side for side in both if side[1] > 0] or both[:1]
    for number, (links, weight) in enumerate(sides):
        report = _part_progress(number / len(sides), (number + 1) / len(sides), progress)
        side = _Side(len(graph), settings, threads, report)
        side.search(links, weight > 0)
        if number == 0 and settings.paths > 0:
            side.add_paths(settings.paths, out)  # in both directions
        if weight > 0:
            side.add_common(weight, out)
        if number == len(sides) - 1:
            side.fold(out)
        side.progress(1.0)
        del side  # before the next one asks for as much memory
    return out


class _Side:
    """Paths to all pages and what they have in common; "ancestors" are descendants if the links are given reversed."""

    steps: Array
    """steps[i, x]: from x to i; 255 if there is no path."""
    detours: tuple[Array, ...]
    """As `paths.survey` lists them: what changes in the ancestors of a target if a blocker is avoided."""

    def __init__(self, count: int, settings: LinkSettings, threads: int, progress: Callable[[float], None]) -> None:
        from pagekin.clusters._kernels import links, paths

        self.count, self.threads, self.progress = count, threads, progress
        self.kernels, self.paths = links, paths
        self.by_union = settings.normalise == "union"
        self.far = min(paths.FAR, max(count - 1, 1))
        self.levels = min(settings.levels or self.far, self.far)

    def _run(self, work: Callable[[int, int], Any], step: int = ROWS) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """Yield ((first page, end), the result of the work) for batches of all pages."""
        ranges = [(first, min(first + step, self.count)) for first in range(0, self.count, step)]
        return map_in_order(self.threads, work, ranges)

    def _run_all(self, work: Callable[[int, int], None]) -> None:
        for _ in self._run(work):
            pass

    def search(self, links: tuple[Array, ...], with_changes: bool) -> None:
        """Find all shortest paths, and those that become longer if a page is avoided."""
        # The union on a level is known from near pages; which of them are common, only from all paths.
        reach = self.far if self.by_union else self.count
        levels = self.levels if with_changes else 0
        self.steps = np.empty((self.count, self.count), dtype=np.uint8)

        def survey(a: int, b: int) -> tuple[Array, ...]:
            self.steps[a:b], *rest = self.paths.survey(a, b, self.paths.Links(*links), levels, reach, self.far)
            return tuple(rest)

        parts = []
        for (a, b), (counts, *rest) in self._run(survey):
            parts.append((np.repeat(np.arange(a, b, dtype=np.int32), counts), *rest))
            self.progress(SEARCH * b / self.count)
        self.detours = tuple(np.concatenate(column) for column in zip(*parts, strict=True))

    def _changes(self, first: Array, second: Array) -> Any:
        """Return the detours' Changes, listed for the pages `first` of their pairs."""
        _targets, _blockers, at, changes, lost = self.detours
        order = np.argsort(first, kind="stable")
        offsets = np.searchsorted(first[order], np.arange(self.count + 1))
        return self.kernels.Changes(offsets, second[order], at[order], changes[order], lost[order])

    def add_paths(self, weight: float, out: Array) -> None:
        """Add each direction's term of weight * S^spl (eq. 2) at its place in `out`."""
        self._run_all(lambda a, b: self.kernels.direct_paths(a, b, self.steps, self.far, weight, out))

    def fold(self, out: Array) -> None:
        """Add the values at (i, j) and (j, i)."""
        self._run_all(lambda a, b: self.kernels.fold(a, b, out))

    def add_common(self, weight: float, out: Array) -> None:
        """Add weight * S^anc (eq. 3) to `out`, one part of it at (i, j), the rest at (j, i)."""
        totals = np.zeros((self.count, self.levels + 2), dtype=np.int64)
        nearest = np.zeros((self.count, min(NEAR, self.count)), dtype=np.int32)
        self._run_all(lambda a, b: self.kernels.list_nearest(a, b, self.steps, self.levels, totals, nearest))
        tops, reached, near = np.zeros((3, self.count), dtype=np.int64)
        for a in range(0, self.count, ROWS):
            part = self.steps[a : a + ROWS]
            there = (part > 0) & (part < self.paths.NONE)
            tops[a : a + ROWS] = np.where(there, part, 0).max(axis=1)
            reached += there.sum(axis=0)
            near += (there & (part <= self.levels)).sum(axis=0)
        terms = self.levels * (2 * tops.mean() - self.levels + 1) / 2
        by_pairs = self.count**2 / 2 * max(terms, 1) * (self.count / 512)
        by_rows = 1.5 * float(near @ reached) + self.count**2
        if self.by_union and by_rows < ROWS_BELOW * by_pairs:
            self._by_rows(reached, totals, weight, out)
        else:
            self._by_pairs(tops, totals, nearest, weight, out)

    def _by_rows(self, reached: Array, totals: Array, weight: float, out: Array) -> None:
        """Follow the paths from the pages near each page: for webs with few paths."""
        starts = np.concatenate([[0], np.cumsum(reached)])
        paths = self.kernels.Reached(starts, np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1], dtype=np.uint8))
        self._run_all(lambda a, b: self.kernels.list_reached(a, b, self.steps, paths))
        targets, blockers, *_changes = self.detours
        avoided = self._changes(blockers, targets)

        def add(a: int, b: int) -> None:
            self.kernels.halves_of_ancestors(
                a, b, self.steps, totals, paths, avoided, self.levels, self.far, weight, out
            )

        for (_, b), _made in self._run(add):
            self.progress(SEARCH + (1 - SEARCH) * b / self.count)

    def _by_pairs(self, tops: Array, totals: Array, nearest: Array, weight: float, out: Array) -> None:
        """Count the common ancestors of each pair: for webs in which most pages have a path to most others."""
        bits = _aligned_words(self.count, int(tops.max()), -(-self.count // 512) * 8)
        self._run_all(lambda a, b: self.kernels.spread(a, b, self.steps, bits))
        targets, blockers, *_changes = self.detours
        avoided = self._changes(np.minimum(targets, blockers), np.maximum(targets, blockers))
        known = self.kernels.Ancestors(self.steps, bits, tops, totals, nearest)

        def add(a: int, b: int) -> None:
            self.kernels.common_ancestors(a, b, known, avoided, self.levels, self.far, self.by_union, weight, out)

        for (_, b), _made in self._run(add, TILE):
            self.progress(SEARCH + (1 - SEARCH) * (1 - (1 - b / self.count) ** 2))


def _aligned_words(*shape: int) -> Array:
    """Return an array of zeros aligned to a cache line, which makes counting bits a third faster."""
    count = math.prod(shape)
    words = np.zeros(count + 8, dtype=np.uint64)
    first = -words.ctypes.data // 8 % 8
    return words[first : first + count].reshape(shape)
