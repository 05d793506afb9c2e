"""Carry clusters over to a slightly changed collection: known pages keep their clusters, new ones join the nearest.

The clusters keep their names, their terms and their places among each other. When many pages have come, changed or gone since
the clusters were made, they are to be made anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pagekin.bags import BagWorkshop
from pagekin.clusters.describe import CENTRAL
from pagekin.clusters.documents import document_tree
from pagekin.clusters.hierarchy import ClusterDescription, Tree, name_paths
from pagekin.clusters.make import address_tree
from pagekin.clusters.sampling import SampledPages, join_others, least_addresses
from pagekin.hypertext import Corpus, match_pages
from pagekin.store import Array, Progress, no_progress

MOST_MOVED = 0.1
"""The largest share of pages that may be added, changed or removed before clusters are made again."""


@dataclass(frozen=True)
class FollowedTrees:
    """The trees of a changed collection, or the reason why they must be made again."""

    trees: list[Tree]
    joined: int = 0
    """Pages that joined clusters."""
    reason: str = ""


def follow_trees(
    corpus: Corpus, before: Corpus, trees: Sequence[Tree], workshop: BagWorkshop, sample: int,
    progress: Progress = no_progress, threads: int = 1,
) -> FollowedTrees:  # fmt: skip
    """Return the trees of the collection `before` with the pages of a corpus.

    Pages with the same address and HTML as before stay in their clusters. Every other page joins one, as those outside of a
    sample do; no more than `sample` of the pages that stay are looked at. Cost: for the bags of these pages.
    """
    named = {tree.name: tree for tree in trees}
    clusters = named.get("clusters")
    if clusters is None:
        return FollowedTrees([], reason="there were none")
    if corpus.facts["all_captures"]:
        return FollowedTrees([], reason="every capture is a page by itself")
    page_before = match_pages([before], [corpus])
    stays = (page_before >= 0) & (np.asarray(before.pages.digest)[page_before] == np.asarray(corpus.pages.digest))
    fresh, gone = int(np.count_nonzero(~stays)), len(before) - len(np.unique(page_before[page_before >= 0]))
    moved = int(clusters.facts.get("moved", 0)) + fresh + gone
    if moved > MOST_MOVED * len(corpus):
        return FollowedTrees([], reason=f"{moved:,} pages have come, changed or gone since they were made")
    homes = np.where(stays, _homes(clusters, len(before))[page_before], -1)
    homes = _join(corpus, clusters, homes, workshop, sample, progress, threads)
    page_now = np.full(len(before), -1, np.int64)
    page_now[page_before[page_before >= 0]] = np.flatnonzero(page_before >= 0)
    documents = document_tree(corpus, workshop.space)
    facts = {**clusters.facts, "documents": len(documents) - 1, "moved": moved}
    whole = replace(_with_pages(clusters, homes, page_now), facts=facts)
    if any(len(clusters.pages_of(node)) and not len(whole.pages_of(node)) for node in range(len(whole))):
        return FollowedTrees([], reason="one of them has lost all its pages")
    followed = [whole, _described_by(address_tree(corpus), named.get("addresses"), page_now)]
    if directory := named.get("directory"):
        followed.append(_with_same_pages(directory, page_now))
    return FollowedTrees(followed + ([documents] if len(documents) > 1 else []), fresh)


def join_clusters(
    corpus: Corpus, base: Corpus, trees: Sequence[Tree], workshop: BagWorkshop, threads: int = 1
) -> list[Tree]:
    """Return the trees of a base with the pages of a delta; pages that the base also has keep their places.

    Other pages join the cluster with which they are connected most among the delta's pages, or else the largest one. All nodes
    stay, also those without pages.
    """
    page_before = match_some(base, corpus)
    page_now = np.full(len(base), -1, np.int64)
    page_now[page_before[page_before >= 0]] = np.flatnonzero(page_before >= 0)
    joined = []
    for tree in trees:
        if tree.name == "clusters":
            homes = np.where(page_before >= 0, _homes(tree, len(base))[page_before], -1)
            if (homes >= 0).any():
                homes = _join(corpus, tree, homes, workshop, 0, no_progress, threads)
            joined.append(_with_pages(tree, np.where(homes >= 0, homes, _largest(tree)), page_now))
        elif tree.name == "addresses":
            joined.append(_described_by(address_tree(corpus), tree, page_now))
        else:
            joined.append(_with_same_pages(tree, page_now))
    return joined


def describe_sample(corpus: Corpus, clusters: Tree, workshop: BagWorkshop) -> SampledPages:
    """Describe the pages of a sample for `join_shard`, given their clusters."""
    return SampledPages.of(corpus, _homes(clusters, len(corpus)), workshop)


def join_shard(
    corpus: Corpus, sample: SampledPages, trees: Sequence[Tree], workshop: BagWorkshop, threads: int = 1
) -> list[Tree]:
    """Return the trees of a sample with the pages of a shard: sampled pages keep their places, others join the nearest cluster.

    Folders are described as the sample's are; composite documents are those of the shard. All clusters stay, also those without
    pages. Cost: for the bags of the shard, and for each page the columns of its words in the sample, which are bounded.
    """
    named = {tree.name: tree for tree in trees}
    clusters, urls = named["clusters"], sample.find_in(corpus)
    page_now = np.full(int(sample.pages.max(initial=-1)) + 1, -1, np.int64)
    for page, url in zip(sample.pages.tolist(), urls.tolist(), strict=True):
        page_now[page] = (corpus.pages_of(url) or [-1])[0] if url >= 0 else -1
    levels = [ancestors[sample.homes] for ancestors in _ancestors(clusters)]
    homes = sample.join(corpus, levels, workshop, threads)
    documents = document_tree(corpus, workshop.space)
    facts = {**clusters.facts, "documents": len(documents) - 1}
    whole = _with_pages(
        replace(clusters, facts=facts), np.where(homes >= 0, homes, _largest(clusters)), page_now
    )  # fmt: skip
    joined = [whole, _described_by(address_tree(corpus), named.get("addresses"), page_now)]
    return joined + ([documents] if len(documents) > 1 else [])


def _largest(tree: Tree) -> int:
    """Return the node that holds most pages itself."""
    return int(np.argmax(np.diff(tree.offsets)))


def match_some(base: Corpus, corpus: Corpus) -> npt.NDArray[np.int64]:
    """Return, for each page of a small corpus, the base's page at the same address, or -1."""
    urls = base.urls.find_all(corpus.urls.select(np.asarray(corpus.pages.url)))
    page_url = np.asarray(base.pages.url).astype(np.int64)
    place = np.minimum(np.searchsorted(page_url, urls), max(len(page_url) - 1, 0))
    return np.where(page_url[place] == urls, place, -1) if len(page_url) else np.full(len(urls), -1, np.int64)


def _homes(tree: Tree, pages: int) -> npt.NDArray[np.int64]:
    """Return the node that holds each page."""
    homes = np.zeros(pages, np.int64)
    homes[tree.pages] = np.repeat(np.arange(len(tree)), np.diff(tree.offsets))
    return homes


def _join(
    corpus: Corpus, tree: Tree, homes: npt.NDArray[np.int64], workshop: BagWorkshop, sample: int, progress: Progress, threads: int
) -> npt.NDArray[np.int64]:  # fmt: skip
    """Return the nodes of all pages, given the nodes of the pages that stay, and -1 for others."""
    urls, first, place = np.unique(
        np.asarray(corpus.pages.url).astype(np.int64), return_index=True, return_inverse=True
    )
    home = homes[first]
    stays, others = np.flatnonzero(home >= 0), np.flatnonzero(home < 0)
    if len(others):
        if 0 < sample < len(stays):
            stays = stays[least_addresses(corpus, urls[stays], sample)]
        some = np.union1d(stays, others)
        levels = [ancestors[home[stays]] for ancestors in _ancestors(tree)]
        joined = join_others(
            corpus, urls[some], np.searchsorted(some, stays), levels, workshop, threads, progress
        )  # fmt: skip
        home[others] = joined[-1][np.searchsorted(some, others)]
    return np.asarray(home[place])


def _ancestors(tree: Tree) -> list[npt.NDArray[np.int64]]:
    """Return, for each level of a tree below the root, the node on that level that contains each node, or is it."""
    paths = [tree.path(node) for node in range(len(tree))]
    deepest = max(map(len, paths))
    return [
        np.array([path[min(level, len(path) - 1)] for path in paths]) for level in range(min(1, deepest - 1), deepest)
    ]


def _with_pages(tree: Tree, homes: Array, page_now: Array) -> Tree:
    """Return a tree with pages assigned to its nodes by `homes`."""
    order = np.argsort(homes, kind="stable")
    offsets = np.searchsorted(homes[order], np.arange(len(tree) + 1)).astype(np.int64)
    return _renew_central(replace(tree, pages=order, offsets=offsets), tree.descriptions, page_now)


def _with_same_pages(tree: Tree, page_now: Array) -> Tree:
    """Return a tree with only the pages that still exist."""
    there = tree.keep_pages(page_now >= 0)
    return _renew_central(replace(there, pages=page_now[there.pages]), tree.descriptions, page_now)


def _described_by(tree: Tree, before: Tree | None, page_now: Array) -> Tree:
    """Return a tree of paths with the descriptions of the nodes that had the same paths before."""
    known = dict(zip(name_paths(before), before.descriptions, strict=True)) if before else {}
    bare = [ClusterDescription(one.name, (), ()) for one in tree.descriptions]
    return _renew_central(
        tree, [known.get(path, one) for path, one in zip(name_paths(tree), bare, strict=True)], page_now
    )


def _renew_central(tree: Tree, descriptions: Sequence[ClusterDescription], page_now: Array) -> Tree:
    """Return a tree with its old descriptions; central pages that are gone are replaced by first pages."""
    described = []
    for node, one in enumerate(descriptions):
        central = tuple(int(page_now[page]) for page in one.central if page_now[page] >= 0)
        described.append(replace(one, central=central or tuple(tree.pages_of(node)[:CENTRAL].tolist())))
    return replace(tree, descriptions=described)
