"""Claims: which of the equal links in several shards counts, where links of one host with the same words count once.

Most hosts lie in one shard, which knows all links of their pages. A host that a border between shards cuts may link to an address
with the same words from several shards. These exchange claims, two hashes for each address and text, and the first shard wins:
shards are ranges of addresses, so its link is the first in the order of citing addresses. Windows themselves do not travel.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags.furniture import hash_names, host_hashes
from pagekin.bags.links import anchor_pages
from pagekin.bags.mixing import mix64
from pagekin.bags.ranges import ranges_of
from pagekin.bags.strategy import Strategy
from pagekin.bags.weights import near_weights
from pagekin.bags.words import Vocabulary
from pagekin.hypertext import Corpus, sites_of_urls
from pagekin.store import Array, batch_ranges

if TYPE_CHECKING:
    from pagekin.bags._kernels.keep import KeptWords

BATCH_ANCHORS = 1 << 18
"""Anchors of pages whose links are hashed at a time."""


class Claims(NamedTuple):
    """Addresses that some links lead to, each with each text of a host once."""

    targets: npt.NDArray[np.uint64]
    """The hash of each address."""
    keys: npt.NDArray[np.uint64]
    """The hash of host and link text, as in `Visits`."""

    def take(self, rows: Array) -> "Claims":
        """Return some of the claims, in an order."""
        return Claims(self.targets[rows], self.keys[rows])

    def mark(self, targets: Array, keys: Array) -> npt.NDArray[np.bool_]:
        """Mark the links, by the hashes of their targets and keys, that are among these claims. Cost: a sort of both."""
        if not len(self.keys):
            return np.zeros(len(keys), np.bool_)
        every = join_claims([self, Claims(targets, keys)])
        is_known = np.arange(len(every.keys)) < len(self.keys)
        order, first = _group(every)
        group = np.cumsum(first) - 1
        has_claim = np.zeros(int(group[-1]) + 1, np.bool_)
        has_claim[group[is_known[order]]] = True
        marks = np.empty(len(order), np.bool_)
        marks[order] = has_claim[group]
        return marks[len(self.keys) :]


NO_CLAIMS = Claims(np.zeros(0, np.uint64), np.zeros(0, np.uint64))


def claim_links(
    corpus: Corpus, strategy: Strategy, words: Vocabulary, kept: "KeptWords", citing: Array, cut_hosts: Array
) -> Claims:
    """Return the claims of a shard: the links that count on its pages of hosts that have pages in other shards, too."""
    parts = [_distinct(links.claims) for links in _hashed_links(corpus, strategy, words, kept, citing, cut_hosts)]
    return _distinct(join_claims(parts))


def divide_claims(claims: Claims, count: int) -> list[Claims]:
    """Divide claims into this many ranges of hashes, which hold about as many, whatever address most links lead to."""
    ranges = ranges_of(mix64(claims.targets ^ mix64(claims.keys)), count)
    return [claims.take(ranges == number) for number in range(count)]


def find_lost(parts: Sequence[Claims]) -> list[Claims]:
    """Return the claims of each shard that a shard before it has, too, given those of all shards in their order."""
    order, first = _group(join_claims(parts))
    lost = np.zeros(len(order), np.bool_)
    lost[order] = ~first
    ends = accumulate((len(part.keys) for part in parts), initial=0)
    return [part.take(lost[low:high]) for part, (low, high) in zip(parts, pairwise(ends), strict=True)]


def lost_anchors(
    corpus: Corpus, strategy: Strategy, words: Vocabulary, kept: "KeptWords", citing: Array, cut_hosts: Array, lost: Claims
) -> npt.NDArray[np.int64]:  # fmt: skip
    """Return the anchors of a shard whose windows do not count, because a shard before it has a link that says the same."""
    if not len(lost.keys):
        return np.zeros(0, np.int64)
    every = _hashed_links(corpus, strategy, words, kept, citing, cut_hosts)
    return np.concatenate(
        [np.zeros(0, np.int64), *(links.anchors[lost.mark(*links.claims)] for links in every)]
    )  # fmt: skip


class _HashedLinks(NamedTuple):
    """Links of a batch of pages."""

    anchors: npt.NDArray[np.int64]
    claims: Claims


def _hashed_links(
    corpus: Corpus, strategy: Strategy, words: Vocabulary, kept: "KeptWords", citing: Array, cut_hosts: Array
) -> Iterator[_HashedLinks]:
    """Yield the links whose windows count on pages of some hosts, with what they claim."""
    from pagekin.bags._kernels.merge import hash_links

    if strategy.anchors.repeat != "once" or not len(near_weights(strategy)) or not len(cut_hosts):
        return
    hosts = host_hashes(corpus)[corpus.pages.host]
    counts = np.asarray(citing & np.isin(hosts, cut_hosts))
    bounds, page_of = np.asarray(corpus.pages.anchors, dtype=np.int64), anchor_pages(corpus)
    page_url, url_hashes = np.asarray(corpus.pages.url, dtype=np.int64), hash_names(corpus.urls)
    sites = None if strategy.anchors.within_site else sites_of_urls(corpus.urls)[0]
    for first, last in batch_ranges(bounds, BATCH_ANCHORS):
        part = slice(int(bounds[first]), int(bounds[last]))
        targets, pages = np.asarray(corpus.anchors.target[part], dtype=np.int64), page_of[part].astype(np.int64)
        says = counts[pages] & (kept.spans[part, 1] >= 0) & (page_url[pages] != targets)
        if sites is not None:
            says &= sites[targets] != sites[page_url[pages]]
        some = np.flatnonzero(says)
        anchors, keys = part.start + some, np.empty(len(some), np.uint64)
        hash_links(anchors, pages[some], hosts, kept, words.hashes, keys)
        yield _HashedLinks(anchors, Claims(url_hashes[targets[some]], keys))


def join_claims(parts: Sequence[Claims]) -> Claims:
    """Return the claims of several parts, one part after another."""
    return Claims(*(np.concatenate([none, *some]) for none, *some in zip(NO_CLAIMS, *parts, strict=True)))


def _group(claims: Claims) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return (an order in which equal claims follow one another, as they came; a mark for the first of each in it)."""
    order = np.lexsort((claims.targets, claims.keys))
    first = np.ones(len(order), np.bool_)
    first[1:] = (np.diff(claims.targets[order]) != 0) | (np.diff(claims.keys[order]) != 0)
    return order, first


def _distinct(claims: Claims) -> Claims:
    """Return claims, each once, in order."""
    order, first = _group(claims)
    return claims.take(order[first])
