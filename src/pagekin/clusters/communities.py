"""The default clusters: communities of the graph of neighbouring pages that many runs of the Leiden method agree on."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pagekin.bags import BagWorkshop
from pagekin.clusters.links import connected_parts
from pagekin.clusters.neighbour_graph import WeightedGraph, neighbour_graph
from pagekin.clusters.sampling import join_others, least_addresses
from pagekin.clusters.shown import mirrored_pages
from pagekin.hypertext import Corpus
from pagekin.store import Array, Progress, map_in_order, no_progress, temporary_folder

Labels = npt.NDArray[np.int64]
_PASSES = 50
"""A safety limit: the Leiden method normally stops after some ten rounds."""
_LOWEST = -6.0
"""The power of two at which the search for a resolution starts: a few communities."""
_STEPS = 9
_TOP = 8
"""Maximum number of clusters on the overview level."""
_LARGEST = 1 / 3
"""The largest share of the pages in one group of that level."""
_PARTS = 12
"""Maximum number of parts of one cluster on the next level."""
_PART = 0.02
"""The least share of a cluster's pages that a part of it has."""
_DEEPEST = 4
"""Levels below the clusters."""


@dataclass(frozen=True)
class CommunitySettings:
    """Settings of the default method."""

    resolution: float = 1.5
    """Of modularity, at most: the larger, the more clusters. It is lowered until `max_clusters` are enough."""
    runs: int = 10
    """Runs of the Leiden method, in different orders, whose agreement decides."""
    dust: float = 0.003
    """Clusters with a smaller share of the pages join another one."""
    fewest: int = 3
    """Clusters with fewer pages join another one, however small the collection."""
    giant: float = 0.3
    """Clusters with a larger share of the pages are split, if they have separable parts."""
    leaf: int = 50
    """Clusters of no more pages have no parts on the next level."""


DEFAULTS = CommunitySettings()


@dataclass(frozen=True)
class Clusters:
    """The clusters of a collection's pages, on several levels."""

    levels: tuple[Labels, ...]
    """(pages) each: the cluster of every page, from few clusters to many; a cluster is whole in one of the level before.

    On each level clusters are numbered from 0, the largest first.
    """
    chosen: int
    """The level with at most as many clusters as were asked for."""
    sampled: int = 0
    """The pages from which the clusters were made, if not from all."""

    @property
    def labels(self) -> Labels:
        """Return the cluster of each page on the level that was asked for."""
        return self.levels[self.chosen]


def cluster_pages(
    corpus: Corpus, max_clusters: int = 30, seed: int = 1, threads: int = 1, progress: Progress = no_progress,
    sample: int = 0, workshop: BagWorkshop | None = None,
) -> Clusters:  # fmt: skip
    """Put all pages into clusters, older captures with the newest of their URL; the number of threads changes nothing.

    A copy of the same title stands where its original stands, or a mirror would have clusters of its own.

    If there are more than `sample` addresses (and it is not 0), so many of them make the clusters, and the others join these.
    """
    urls, place = _clustered_urls(corpus, threads)
    with contextlib.ExitStack() as files:
        workshop = workshop or BagWorkshop(corpus, files.enter_context(temporary_folder("clusters")), threads)
        sampled = least_addresses(corpus, urls, sample) if 0 < sample < len(urls) else np.arange(len(urls))
        graph = neighbour_graph(corpus, urls[sampled], threads, progress, workshop)
        clusters = cluster_graph(graph, max_clusters, seed, DEFAULTS, threads, progress)
        levels: Sequence[Labels] = clusters.levels
        if len(sampled) < len(urls):
            levels = join_others(corpus, urls, sampled, levels, workshop, threads, progress)
    return Clusters(
        tuple(number_by_size(level[place]) for level in levels),
        clusters.chosen,
        len(sampled) if len(sampled) < len(urls) else 0,
    )


def _clustered_urls(corpus: Corpus, threads: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return (the URLs of pages that are not copies, ascending; for each page the place of the one that it follows)."""
    page_url = np.asarray(corpus.pages.url).astype(np.int64)
    urls, newest, place = np.unique(page_url, return_index=True, return_inverse=True)
    original = place[mirrored_pages(corpus, threads)[newest]]
    while np.any(original[original] != original):
        original = original[original]
    kept, of_url = np.unique(original, return_inverse=True)
    return urls[kept], of_url[place]


def cluster_graph(
    graph: WeightedGraph, max_clusters: int = 30, seed: int = 1, settings: CommunitySettings = DEFAULTS, threads: int = 1,
    progress: Progress = no_progress,
) -> Clusters:  # fmt: skip
    """Put the nodes of a graph into clusters; nodes without edges join those before or after them."""
    if max_clusters < 1:
        raise ValueError(f"pages cannot be put into {max_clusters} clusters: ask for at least 1")
    progress("clusters", 0.0)
    middle = _group_nodes(graph, max_clusters, seed, settings, threads)
    levels = [middle]
    above = _group_level(graph, middle, seed)
    progress("clusters", 0.6)
    for _depth in range(_DEEPEST):
        below = _split_level(graph, levels[-1], seed, settings, threads)
        if below.max(initial=0) == levels[-1].max(initial=0):
            break
        levels.append(below)
    progress("clusters", 1.0)
    return Clusters((*above, *levels), len(above))


# -- the Leiden method --------------------------------------------------------------------------------------------------


def leiden(graph: WeightedGraph, resolution: float = 1.0, seed: int = 1) -> Labels:
    """Find communities of high modularity, each connected; the same for the same seed."""
    from pagekin.clusters._kernels import communities as kernels

    rng = np.random.default_rng(seed)
    place = labels = np.arange(len(graph), dtype=np.int64)
    strength = np.bincount(graph.sources, graph.weights, len(graph))
    total = float(strength.sum())
    if total <= 0:
        return place
    labels = labels.copy()
    for _pass in range(_PASSES):
        edges = (graph.offsets, graph.others, graph.weights, strength, total, resolution)
        kernels.move_nodes(*edges, rng.permutation(len(graph)), labels)
        labels = number_by_first(labels)
        if labels.max() == len(graph) - 1:
            break
        parts = np.empty(len(graph), np.int64)
        kernels.refine(*edges, rng.permutation(len(graph)), labels, parts)
        parts = number_by_first(parts)
        count = int(parts.max()) + 1
        if count == len(graph):  # nothing is well enough connected: what is connected at all is merged
            inside = labels[graph.sources] == labels[graph.others]
            parts = connected_parts(len(graph), graph.sources[inside], graph.others[inside])
            count = int(parts.max()) + 1
        strength = np.bincount(parts, strength, count)
        graph = graph.merge_groups(parts, count)
        moved = np.empty(count, np.int64)
        moved[parts] = labels
        labels, place = moved, parts[place]
    return number_by_first(labels[place])


def number_by_first(labels: Labels) -> Labels:
    """Give labels numbers from 0 in the order in which they first occur."""
    return _renumber(labels, lambda first, _sizes: np.argsort(first))


def number_by_size(labels: Labels) -> Labels:
    """Give labels numbers from 0, those of most pages first; ties in order of occurrence."""
    return _renumber(labels, lambda first, sizes: np.lexsort((first, -sizes)))


def _renumber(labels: Labels, order: Callable[[Array, Array], Array]) -> Labels:
    _names, first, place, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    number = np.empty(len(first), np.int64)
    number[order(first, sizes)] = np.arange(len(first))
    renumbered: Labels = number[place]
    return renumbered


def weaken_disputed(graph: WeightedGraph, resolution: float, seed: int, runs: int, threads: int = 1) -> WeightedGraph:
    """Weaken each edge by the square of the share of runs that put both its ends into one community."""
    agreements = np.zeros(len(graph.weights), np.int64)
    sources = graph.sources
    seeds = [(seed * runs + run,) for run in range(runs)]
    for _seed, labels in map_in_order(threads, lambda number: leiden(graph, resolution, number), seeds):
        agreements += labels[sources] == labels[graph.others]
    return WeightedGraph(graph.offsets, graph.others, graph.weights * (agreements / runs) ** 2)


def _fit_resolution(graph: WeightedGraph, resolution: float, most: int, least: int, seed: int) -> tuple[float, Labels]:
    """Return (resolution, communities) at this or the largest lower resolution with few enough of `least` nodes or more."""

    def enough(labels: Labels) -> bool:
        return int(np.count_nonzero(np.bincount(labels) >= least)) <= most

    labels = leiden(graph, resolution, seed)
    if enough(labels):
        return resolution, labels
    low, high = _LOWEST, float(np.log2(resolution))
    fitting: tuple[float, Labels] | None = None
    for _step in range(_STEPS):
        middle = (low + high) / 2
        labels = leiden(graph, 2**middle, seed)
        if enough(labels):
            low, fitting = middle, (2**middle, labels)
        else:
            high = middle
    return fitting or (2**low, leiden(graph, 2**low, seed))


# -- from communities to clusters ---------------------------------------------------------------------------------------


def _group_nodes(graph: WeightedGraph, most: int, seed: int, settings: CommunitySettings, threads: int) -> Labels:
    """Return at most this many clusters, by size, without very small or very large ones if possible."""
    nodes = len(graph)
    if nodes == 0:
        return np.zeros(0, np.int64)
    least = max(settings.fewest, round(settings.dust * nodes))
    resolution, _labels = _fit_resolution(graph, settings.resolution, most, least, seed)
    steady = weaken_disputed(graph, resolution, seed, settings.runs, threads)
    _resolution, labels = _fit_resolution(steady, resolution, most, least, seed)
    labels = join_dust(graph, labels, least)
    giant = max(settings.giant, 2 / most) * nodes
    labels = _reduce_clusters(graph, labels, most, giant)
    return number_by_size(_split_giants(graph, labels, most, least, giant, seed))


def join_dust(graph: WeightedGraph, labels: Labels, least: int) -> Labels:
    """Join clusters of fewer than `least` nodes to the cluster that they are most connected with.

    Connections are counted in proportion to the root of the other's size, so that large ones do not take all. Small ones
    with none join the cluster of the node before them, or after: pages are in the order of their addresses. A small one
    takes one other at a time, or a row of them would all become one.
    """
    while True:
        labels = number_by_first(labels)
        sizes = np.bincount(labels)
        if len(sizes) == 1 or sizes.min() >= least:
            return labels
        best = _choose_partners(graph, labels)
        home = np.arange(len(sizes))
        may_take = np.where(sizes < least, 1, len(sizes))

        def root(cluster: int, home: Labels = home) -> int:
            while home[cluster] != cluster:
                cluster = int(home[cluster])
            return cluster

        for cluster in np.argsort(sizes, kind="stable").tolist():
            mine, other = root(cluster), root(int(best[cluster]))
            if sizes[mine] < least and mine != other and may_take[other]:
                home[mine] = other
                sizes[other] += sizes[mine]
                may_take[other] -= 1
        labels = np.array([root(cluster) for cluster in range(len(home))], np.int64)[labels]


def _choose_partners(graph: WeightedGraph, labels: Labels) -> Labels:
    """Return for each of two or more clusters the cluster to join."""
    count = int(labels.max()) + 1
    merged = graph.merge_groups(labels, count)
    sources, others = merged.sources, merged.others
    strength = np.bincount(sources, merged.weights, count)
    between = sources != others
    sources, others = sources[between], others[between]
    value = merged.weights[between] / np.sqrt(strength[others])
    # A cluster's first node has one of another cluster before it; only that of the first cluster has none.
    first = np.unique(labels, return_index=True)[1]
    partners = labels[first - 1]
    partners[0] = labels[int(np.argmax(labels != 0))]
    order = np.lexsort((others, -value, sources))
    starts = np.unique(sources[order], return_index=True)[1]
    partners[sources[order][starts]] = others[order][starts]
    return partners


def _reduce_clusters(graph: WeightedGraph, labels: Labels, most: int, largest: float) -> Labels:
    """Join the smallest cluster to another, if possible one that stays small enough, until this many are left."""
    labels = number_by_first(labels)
    while labels.max() + 1 > most:
        sizes = np.bincount(labels)
        smallest = int(np.argmin(sizes))
        other = int(_choose_partners(graph, labels)[smallest])
        if sizes[smallest] + sizes[other] > largest:
            second = int(np.argsort(sizes, kind="stable")[1])
            other = second if sizes[smallest] + sizes[second] <= largest else other
        labels = number_by_first(np.where(labels == smallest, other, labels))
    return labels


def _split_giants(graph: WeightedGraph, labels: Labels, most: int, least: int, giant: float, seed: int) -> Labels:
    """Split clusters of more than `giant` nodes, while that helps and the graph divides them."""
    whole: set[int] = set()
    """First nodes of clusters that cannot be split."""
    for _split in range(most):
        labels = number_by_first(labels)
        sizes = np.bincount(labels)
        first = np.unique(labels, return_index=True)[1]
        giants = [c for c in np.flatnonzero(sizes > giant).tolist() if int(first[c]) not in whole]
        if not giants:
            break
        cluster = max(giants, key=lambda c: int(sizes[c]))
        nodes = np.flatnonzero(labels == cluster)
        part = graph.parts(labels)[cluster]
        split = join_dust(part, leiden(part, 1.0, seed), least)
        if split.max() == 0:
            whole.add(int(nodes[0]))
            continue
        tried = labels.copy()
        tried[nodes] = labels.max() + 1 + split
        tried = _reduce_clusters(graph, tried, most, giant)
        if np.bincount(tried).max() >= sizes.max() and np.sum(np.bincount(tried) > giant) >= np.sum(sizes > giant):
            whole.add(int(nodes[0]))
            continue
        labels = tried
    return number_by_first(labels)


# -- levels -------------------------------------------------------------------------------------------------------------


def _group_level(graph: WeightedGraph, labels: Labels, seed: int) -> tuple[Labels, ...]:
    """Return a level of a few groups of clusters, if there are many clusters and the graph groups them."""
    count = int(labels.max(initial=0)) + 1
    if count <= _TOP:
        return ()
    merged = graph.merge_groups(labels, count)
    _resolution, groups = _fit_resolution(merged, 2.0, _TOP, 1, seed)
    groups = _split_groups(merged, _reduce_clusters(merged, groups, _TOP, count), np.bincount(labels), seed)
    return () if groups.max() in (0, count - 1) else (number_by_size(groups[labels]),)


def _split_groups(merged: WeightedGraph, groups: Labels, sizes: Labels, seed: int) -> Labels:
    """Split groups of clusters that hold more than a third of the pages, each as little as is enough; `sizes` of the clusters."""
    most = _LARGEST * sizes.sum()
    for group in np.flatnonzero(np.bincount(groups, sizes) > most).tolist():
        inside = np.flatnonzero(groups == group)
        part = merged.parts(groups)[group]
        split = np.arange(len(inside))
        for step in range(4 * _STEPS):
            tried = leiden(part, 2.0 ** (_LOWEST + step / 4), seed)
            if np.bincount(tried, sizes[inside]).max() <= most:
                split = tried
                break
        # The first part keeps the group's number, so that groups stay numbered from 0.
        groups = groups.copy()
        groups[inside] = np.where(split == 0, group, groups.max() + split)
    return groups


def _split_level(graph: WeightedGraph, labels: Labels, seed: int, settings: CommunitySettings, threads: int) -> Labels:
    """Split clusters into parts; small or indivisible clusters stay as they are."""
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=1))
    finer = np.zeros(len(labels), np.int64)
    count = 0
    parts = graph.parts(labels)

    def split(cluster: int) -> Labels:
        part = parts[cluster]
        if len(part) <= settings.leaf:
            return np.zeros(len(part), np.int64)
        least = max(settings.fewest, round(_PART * len(part)))
        _resolution, groups = _fit_resolution(part, 1.0, _PARTS, least, seed)
        return _reduce_clusters(part, join_dust(part, groups, least), _PARTS, len(part))

    for (cluster,), groups in map_in_order(threads, split, [(c,) for c in range(len(parts))]):
        nodes = order[ends[cluster] - len(groups) : ends[cluster]]
        finer[nodes] = count + groups
        count += int(groups.max(initial=0)) + 1
    return number_by_size(finer)
