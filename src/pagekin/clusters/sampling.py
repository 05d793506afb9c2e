"""Clusters of large collections: made of a sample of the pages, to which every other page is joined.

The sample are the pages whose addresses have the least hashes, so it does not depend on the order of reading or on how a
collection is divided. Every other page goes to the cluster with which it is connected most, by the same measure by which
clusters are made: the sampled pages that are most like it by their bags, and its links from and to sampled pages.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pagekin.bags import BagWorkshop, Strategy, classify_links
from pagekin.clusters.links import link_pairs
from pagekin.clusters.neighbour_graph import NEIGHBOURS, BagTable, weigh_links
from pagekin.hypertext import Corpus
from pagekin.store import Array, Progress, chunks

Labels = npt.NDArray[np.int64]
NAMED_PAGES = 30_000
"""Pages that names and suggested phrases are taken from, unless a setting says otherwise."""
_NEAREST = 8
"""Pages of the sample that each other page has as neighbours by its bag."""
_WIDEST = 0.02
"""Terms in more than this share of the sampled bags are not looked at."""
_MOST_LINKED = 4
"""For this many pages of the sample, one much-linked page is added."""
_PART = 1 << 15
"""Pages that are joined at a time: the memory for their bags is the same whatever the collection."""


def least_addresses(corpus: Corpus, urls: Array, most: int) -> npt.NDArray[np.int64]:
    """Return the places, rising, of those `most` of some URLs, given by their numbers, whose addresses have the least hashes."""
    digests = (hashlib.blake2b(corpus.url(url).encode(), digest_size=8).digest() for url in urls.tolist())
    hashes = np.fromiter((int.from_bytes(digest, "big") for digest in digests), np.uint64, len(urls))
    return np.sort(np.argsort(hashes, kind="stable")[:most])


def pages_to_name(corpus: Corpus, sample: int) -> npt.NDArray[np.int64]:
    """Return the pages, rising, that names and central pages are taken from: all, or of more than `sample` a choice.

    These are the pages whose addresses have the least hashes, as for clusters, and a quarter as many to which most links lead:
    a topic's best known pages are among them.
    """
    page_url = np.asarray(corpus.pages.url).astype(np.int64)
    if not 0 < sample < len(page_url):
        return np.arange(len(page_url))
    linked = np.diff(np.asarray(corpus.inlinks.offsets)).astype(np.int64)[page_url]
    most = np.argsort(-linked, kind="stable")[: sample // _MOST_LINKED]
    return np.union1d(least_addresses(corpus, page_url, sample), most)


def join_others(
    corpus: Corpus, urls: Array, sample: Array, levels: Sequence[Labels], workshop: BagWorkshop, threads: int,
    progress: Progress,
) -> list[Labels]:  # fmt: skip
    """Return the labels of all pages, given those of the sample, which are the places `sample` in `urls`, on each level.

    Cost: for each page the columns of its terms in the sample, which are bounded, and a sort of all pages' connections.
    """
    others = np.setdiff1d(np.arange(len(urls)), sample, assume_unique=True)
    edges = [_links_to_sample(corpus, urls, sample, others)]
    table = BagTable(workshop.matrix(NEIGHBOURS, urls[sample]), _WIDEST)
    for first in range(0, len(others), _PART):
        some = others[first : first + _PART]
        near, similarity = table.nearest(workshop.matrix(NEIGHBOURS, urls[some]), _NEAREST, threads)
        held = near >= 0
        page = np.repeat(np.arange(first, first + len(some)), _NEAREST)[held.ravel()]
        edges.append((page, near[held], similarity[held].astype(np.float64)))
        progress("joining", (first + len(some)) / len(others))
    by_bags = max(float(sum(part[2].sum() for part in edges[1:])) / max(len(others), 1), 1e-9)
    page, sampled, weight = (np.concatenate(column) for column in zip(*edges, strict=True))
    weight[len(edges[0][0]) :] /= by_bags  # they add up to 1 on the average page, as in the graph of the sample
    return _join_by_votes(len(urls), sample, others, levels, (page, sampled, weight))


def _links_to_sample(corpus: Corpus, urls: Array, sample: Array, others: Array) -> tuple[Array, Array, Array]:
    """Return the links between other pages and those of the sample: (place in others, place in the sample, weight)."""
    pairs = link_pairs(corpus, urls, classify_links(corpus, Strategy()))
    out, into = np.zeros(len(urls), np.int64), np.zeros(len(urls), np.int64)
    for _start, chunk in chunks(pairs):
        sources, targets = np.divmod(chunk, len(urls))
        np.add.at(out, sources, 1)
        np.add.at(into, targets, 1)
    in_sample, in_others = np.full(len(urls), -1, np.int64), np.full(len(urls), -1, np.int64)
    in_sample[sample], in_others[others] = np.arange(len(sample)), np.arange(len(others))
    nothing = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    forth, back = [nothing], [nothing]
    for _start, chunk in chunks(pairs):
        sources, targets = np.divmod(chunk, len(urls))
        weights = weigh_links(out[sources], into[targets])
        for found, page, sampled in ((forth, sources, targets), (back, targets, sources)):
            kept = (in_others[page] >= 0) & (in_sample[sampled] >= 0)
            found.append((in_others[page[kept]], in_sample[sampled[kept]], weights[kept]))
    page, sampled, weight = (np.concatenate(column) for column in zip(*forth, *back, strict=True))
    return page, sampled, weight


def _join_by_votes(
    count: int, sample: Array, others: Array, levels: Sequence[Labels], edges: tuple[Array, Array, Array]
) -> list[Labels]:
    """Put each page, level by level, to the cluster to which its edges weigh most, inside that of the level before.

    `edges` are (place in others, place in the sample, weight). A page without any goes where the page before it is, by its
    address, or the first page after it.
    """
    page, sampled, weight = edges
    # Pages without edges follow the nearest page before them that has a cluster.
    known = np.zeros(count, np.bool_)
    known[sample] = True
    known[others[page]] = True
    follow = np.maximum.accumulate(np.where(known, np.arange(count), -1))
    follow[follow < 0] = int(np.argmax(known))
    joined = []
    for labels in levels:
        votes, vote_of = np.unique(page * (int(labels.max()) + 1) + labels[sampled], return_inverse=True)
        weights = np.bincount(vote_of, weight, len(votes))
        voter, choice = np.divmod(votes, int(labels.max()) + 1)
        order = np.lexsort((choice, -weights, voter))
        first = np.flatnonzero(np.diff(voter[order], prepend=-1))
        best = np.full(len(others), -1, np.int64)
        best[voter[order[first]]] = choice[order[first]]
        whole = np.full(count, -1, np.int64)
        whole[sample], whole[others] = labels, best
        joined.append(whole[follow])
        inside = labels[sampled] == best[page]
        page, sampled, weight = page[inside], sampled[inside], weight[inside]
    return joined
