"""Clusters of large collections: cluster a sample of the pages, and let every other page join.

The sample are the pages whose addresses have the least hashes, so it does not depend on the order of reading or on how a
collection is divided. Every other page goes to the cluster with which it is connected most, by the same measure by which
clusters are made: the sampled pages that are most like it by their bags, and its links from and to sampled pages.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags import BagMatrix, BagWorkshop, Strategy, classify_links
from pagekin.clusters.links import link_pairs
from pagekin.clusters.neighbour_graph import NEIGHBOURS, BagTable, weigh_links
from pagekin.hypertext import Corpus
from pagekin.store import Array, Progress, RaggedBytes, Workspace, chunks, no_progress

Labels = npt.NDArray[np.int64]
NAMED_PAGES = 30_000
"""Pages that names and suggested phrases are taken from, unless a setting says otherwise."""
_NEAREST = 8
"""Pages of the sample that each other page has as neighbours by its bag."""
_WIDEST = 0.02
"""Terms in more than this share of the sampled bags are not looked at."""
_MOST_LINKED = 4
"""For this many pages of the sample, one much-linked page is added."""
_WORDS = Strategy().with_settings({"outlinks.scale": 0})
"""The bags by which pages are compared with a sample that lies elsewhere: words, which are the same everywhere."""
_PART = 1 << 15
"""Pages that are joined at a time: the memory for their bags is the same whatever the collection."""


def least_addresses(corpus: Corpus, urls: Array, most: int) -> npt.NDArray[np.int64]:
    """Return the places, ascending, of the `most` URLs (given by number) whose addresses have the least hashes."""
    hashes = hash_addresses([corpus.url(url).encode() for url in urls.tolist()])
    return np.sort(np.argsort(hashes, kind="stable")[:most])


def hash_addresses(addresses: Sequence[bytes]) -> npt.NDArray[np.uint64]:
    """Return the hashes of some addresses; the least ones form the sample."""
    digests = (hashlib.blake2b(address, digest_size=8).digest() for address in addresses)
    return np.fromiter((int.from_bytes(digest, "big") for digest in digests), np.uint64, len(addresses))


class LeastHashes(NamedTuple):
    """The least hashes of some addresses, rising: as many as a sample has, and one more."""

    hashes: npt.NDArray[np.uint64]


def least_hashes(parts: Iterable[npt.NDArray[np.uint64]], sample: int) -> LeastHashes:
    """Return the least hashes, for a sample of this size."""
    return LeastHashes(np.unique(np.concatenate([np.zeros(0, np.uint64), *parts]))[: sample + 1])


def sample_limit(least: LeastHashes, sample: int) -> int | None:
    """Return the largest hash in a sample of all addresses; None if all of them are in it."""
    return int(least.hashes[sample - 1]) if len(least.hashes) > sample else None


def pages_to_name(corpus: Corpus, sample: int) -> npt.NDArray[np.int64]:
    """Return the pages, ascending, that names and central pages come from: all, or a choice if there are more than `sample`.

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
    """Return the labels of all pages on each level, given those of the sample, at the places `sample` in `urls`.

    Cost: for each page the columns of its terms in the sample, which are bounded, and a sort of its connections.
    """
    others = np.setdiff1d(np.arange(len(urls)), sample, assume_unique=True)
    links = _links_to_sample(corpus, urls, sample, others, workshop.space)
    table = BagTable(workshop.matrix(NEIGHBOURS, urls[sample]), _WIDEST, workshop.space)
    near = _find_nearest(
        table, lambda some: workshop.matrix(NEIGHBOURS, urls[some]), others, threads, workshop.space, progress
    )  # fmt: skip
    del table
    return _join_by_votes(len(urls), sample, others, levels, _edge_batches(links, near, len(others)))


Edges = tuple[Array, Array, Array]
"""(places in others, places in the sample, weights)"""


class _Nearest(NamedTuple):
    """The sampled pages with the most similar bags, of each other page."""

    sampled: Array
    """int32 (others * _NEAREST): places in the sample, -1 where there are no more."""
    similarity: Array
    """float32 (others * _NEAREST)"""
    mean: float
    """What the similarities of a page add up to on average."""


def _find_nearest(
    table: BagTable, bags_of: Callable[[Array], BagMatrix], others: Array, threads: int, space: Workspace, progress: Progress
) -> _Nearest:  # fmt: skip
    """Find the sampled pages with the most similar bags of each other page, some thousand pages at a time."""
    sampled, similarity, total = space.growing(np.int32), space.growing(np.float32), 0.0
    for first in range(0, len(others), _PART):
        some = others[first : first + _PART]
        near, similar = table.nearest(bags_of(some), _NEAREST, threads)
        total += float(similar[near >= 0].astype(np.float64).sum())
        sampled.append(near.ravel())
        similarity.append(similar.ravel())
        progress("joining", (first + len(some)) / len(others))
    return _Nearest(sampled.finish(), similarity.finish(), max(total / max(len(others), 1), 1e-9))


def _edge_batches(links: Iterable[Edges], near: _Nearest, others: int) -> Iterator[tuple[int, int, Edges]]:
    """Yield (first, last, edges) for batches of other pages: links, given by rising pages, and the nearest bags."""
    links = list(links)
    for first in range(0, others, _PART):
        last = min(first + _PART, others)
        sampled = near.sampled[_NEAREST * first : _NEAREST * last].astype(np.int64)
        held = sampled >= 0
        # Weights by bags add up to 1 on the average page, as in the graph of the sample.
        weights = near.similarity[_NEAREST * first : _NEAREST * last][held].astype(np.float64) / near.mean
        edges = [(np.repeat(np.arange(first, last), _NEAREST)[held], sampled[held], weights)]
        cuts = [slice(*np.searchsorted(page, [first, last]).tolist()) for page, _sampled, _weight in links]
        linked = [
            (page[cut].astype(np.int64), place[cut].astype(np.int64), weight[cut])
            for (page, place, weight), cut in zip(links, cuts, strict=True)
        ]
        page, place, weight = (np.concatenate(column) for column in zip(*linked, *edges, strict=True))
        yield first, last, (page, place, weight)


# -- a sample by itself -------------------------------------------------------------------------------------------------


class SampledPages(NamedTuple):
    """The sampled pages as shards need them, to find where their own pages belong."""

    names: npt.NDArray[np.uint8]
    """The addresses of the pages, in order, …"""
    name_offsets: npt.NDArray[np.int64]
    """… and where each begins."""
    pages: npt.NDArray[np.int64]
    """(addresses): the newest page of each, as numbered in the sample."""
    homes: npt.NDArray[np.int64]
    """(addresses): the node of the clusters that holds it."""
    hashes: npt.NDArray[np.uint64]
    """(words): the hashes of the words of their bags, rising."""
    factors: npt.NDArray[np.float64]
    """(words): what each weighs by its frequency in the sample."""
    offsets: npt.NDArray[np.int64]
    """(addresses + 1): where the bag of each begins."""
    terms: npt.NDArray[np.uint32]
    """Places among the words."""
    weights: npt.NDArray[np.float32]

    @classmethod
    def of(cls, corpus: Corpus, homes: Array, workshop: BagWorkshop) -> "SampledPages":
        """Describe the pages of a sample, given the node that holds each."""
        urls, pages = np.unique(np.asarray(corpus.pages.url).astype(np.int64), return_index=True)
        words = workshop.vocabulary(_WORDS)
        order = np.argsort(words.hashes)
        factors = workshop.factors(_WORDS)[: len(order)]
        bags = workshop.matrix(_WORDS, urls, words_alone=True)
        place = np.empty(len(order), np.uint32)
        place[order] = np.arange(len(order))
        terms = workshop.space.growing(np.uint32)
        for _start, chunk in chunks(bags.terms):
            terms.append(place[chunk])
        return cls(
            *corpus.urls.take(urls), pages, homes[pages], words.hashes[order], factors[order], bags.offsets,
            terms.finish(), bags.weights,
        )  # fmt: skip

    def copy(self, space: Workspace) -> "SampledPages":
        """Return a copy that kernels take: arrays of a collection are read-only."""
        columns = [(space.growing(column.dtype), column) for column in self]
        for copied, column in columns:
            copied.append(column)
        return SampledPages(*(copied.finish() for copied, _column in columns))

    def find_in(self, corpus: Corpus) -> npt.NDArray[np.int64]:
        """Return the number of each sampled address in a corpus, -1 for those that it does not know."""
        return corpus.urls.find_all(RaggedBytes(self.names, self.name_offsets))

    def join(
        self, corpus: Corpus, levels: Sequence[Labels], workshop: BagWorkshop, threads: int
    ) -> npt.NDArray[np.int64]:
        """Return the labels of a corpus's pages on the last of some levels, given those of the sample on each; -1 if unknown.

        Pages join by their words the sampled pages wherever these are, and by links those in their own corpus.
        """
        urls, place = np.unique(np.asarray(corpus.pages.url).astype(np.int64), return_inverse=True)
        number = np.full(len(corpus.urls), -1, np.int64)
        here = self.find_in(corpus)
        number[here[here >= 0]] = np.flatnonzero(here >= 0)
        own, others = np.flatnonzero(number[urls] >= 0), np.flatnonzero(number[urls] < 0)
        links = [
            (page, number[urls][own][sampled], weight)
            for page, sampled, weight in _links_to_sample(corpus, urls, own, others, workshop.space)
        ]
        table = BagTable(BagMatrix(self.offsets, self.terms, self.weights, len(self.hashes)), _WIDEST, workshop.space)
        column, factors = self._columns(workshop)

        def bags_of(some: Array) -> BagMatrix:
            bags = workshop.matrix(_WORDS, urls[some], words_alone=True, factors=factors)
            known = column[bags.terms] >= 0
            offsets = np.append(0, np.cumsum(known))[bags.offsets]
            terms = column[bags.terms[known]].astype(np.uint32)
            return BagMatrix(offsets, terms, bags.weights[known], len(self.hashes))

        near = _find_nearest(table, bags_of, others, threads, workshop.space, no_progress)
        del table
        edges = _edge_batches(links, near, len(others))
        joined = _join_by_votes(len(urls), own, others, levels, edges, number[urls][own])
        return np.asarray(joined[-1][place])

    def _columns(self, workshop: BagWorkshop) -> tuple[Array, Array]:
        """Return (the sample's number of each word of a workshop, -1 if it has none; the weights of all terms there)."""
        hashes = workshop.vocabulary(_WORDS).hashes
        column = np.minimum(np.searchsorted(self.hashes, hashes), max(len(self.hashes) - 1, 0))
        known = self.hashes[column] == hashes if len(self.hashes) else np.zeros(len(hashes), np.bool_)
        factors = np.zeros(len(workshop.factors(_WORDS)))
        factors[: len(hashes)][known] = self.factors[column[known]]
        return np.where(known, column, -1), factors


def _links_to_sample(
    corpus: Corpus, urls: Array, sample: Array, others: Array, space: Workspace
) -> tuple[Edges, Edges]:
    """Return the links from other pages to those of the sample, and those back: both by rising other pages."""
    pairs = link_pairs(corpus, urls, classify_links(corpus, Strategy()), space)
    out, into = np.zeros(len(urls), np.int64), np.zeros(len(urls), np.int64)
    for _start, chunk in chunks(pairs):
        sources, targets = np.divmod(chunk, len(urls))
        np.add.at(out, sources, 1)
        np.add.at(into, targets, 1)
    in_sample, in_others = np.full(len(urls), -1, np.int32), np.full(len(urls), -1, np.int32)
    in_sample[sample], in_others[others] = np.arange(len(sample)), np.arange(len(others))
    forth, back = ([space.growing(kind) for kind in (np.int32, np.int32, np.float64)] for _ in range(2))
    for _start, chunk in chunks(pairs):
        sources, targets = np.divmod(chunk, len(urls))
        weights = weigh_links(out[sources], into[targets])
        for edges, page, sampled in ((forth, sources, targets), (back, targets, sources)):
            kept = (in_others[page] >= 0) & (in_sample[sampled] >= 0)
            columns: tuple[Array, ...] = in_others[page[kept]], in_sample[sampled[kept]], weights[kept]
            for edge, values in zip(edges, columns, strict=True):
                edge.append(values)
    by_source, by_target = ([column.finish() for column in edges] for edges in (forth, back))
    order = np.argsort(by_target[0], kind="stable")
    return (by_source[0], by_source[1], by_source[2]), (by_target[0][order], by_target[1][order], by_target[2][order])


def _join_by_votes(
    count: int, sample: Array, others: Array, levels: Sequence[Labels], batches: Iterable[tuple[int, int, Edges]],
    numbers: Array | None = None,
) -> list[Labels]:  # fmt: skip
    """Assign each page, level by level, to the cluster with the greatest edge weight, within that of the previous level.

    `batches` are (first, last, edges) of other pages. A page without edges goes where the page before it is, by its address, or
    the first page after it. If not all of the sample is here, `numbers` are the places in it of the pages that are.
    """
    best: list[Array] = [np.full(len(others), -1, np.int32) for _ in levels]
    for first, last, edges in batches:
        for all_choices, choices in zip(best, _vote(first, last, levels, edges), strict=True):
            all_choices[first:last] = choices
    # Pages without edges follow the nearest page before them that has a cluster.
    known = np.zeros(count, np.bool_)
    known[sample] = True
    known[others] = best[0] >= 0
    follow = np.maximum.accumulate(np.where(known, np.arange(count), -1))
    follow[follow < 0] = int(np.argmax(known))
    joined = []
    for labels, choices in zip(levels, best, strict=True):
        whole = np.full(count, -1, np.int64)
        whole[sample], whole[others] = labels if numbers is None else labels[numbers], choices
        joined.append(whole[follow])
    return joined


def _vote(first: int, last: int, levels: Sequence[Labels], edges: Edges) -> Iterator[Labels]:
    """Yield, level by level, the cluster that each of the other pages from `first` to `last` joins; -1 if it has no edge."""
    page, sampled, weight = edges
    for labels in levels:
        votes, vote_of = np.unique(page * (int(labels.max()) + 1) + labels[sampled], return_inverse=True)
        weights = np.bincount(vote_of, weight, len(votes))
        voter, choice = np.divmod(votes, int(labels.max()) + 1)
        order = np.lexsort((choice, -weights, voter))
        begins = np.flatnonzero(np.diff(voter[order], prepend=-1))
        best = np.full(last - first, -1, np.int64)
        best[voter[order[begins]] - first] = choice[order[begins]]
        yield best
        inside = labels[sampled] == best[page - first]
        page, sampled, weight = page[inside], sampled[inside], weight[inside]
