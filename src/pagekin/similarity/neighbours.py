"""The answers for all pages, precomputed (the other variant of section 6), and groups of near-duplicates."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pagekin.bags import NEAR_COPY, CopyIndex, common_words
from pagekin.similarity.answers import RankedDocuments
from pagekin.similarity.related import DEPTH, LIST_ENTRIES, RelatedIndex, first_depth
from pagekin.store import Array, map_in_order

_BATCH = 1_024


def all_neighbours(
    index: RelatedIndex, documents: Array, k: int, fold: bool = True, alpha: float | None = None, threads: int = 1
) -> Iterator[tuple[int, RankedDocuments]]:
    """Yield each document with the documents related to it, in order: as `RelatedIndex.answer` ranks them, many times faster."""
    from pagekin.similarity._kernels import neighbours as kernels

    bags = index.bags
    offsets = bags.offsets.astype(np.int64)
    terms, weights = np.array(bags.terms), np.array(bags.weights)
    rows = kernels.BagRows(terms, weights, offsets, np.add.reduceat(weights, offsets[:-1], dtype=np.float64))
    lists = kernels.Lists(*index.index.arrays())
    depth = max(DEPTH, first_depth(k) if fold else k)
    above = index.strategy.signature.alpha if alpha is None else alpha
    bounds = kernels.Bounds(depth, LIST_ENTRIES, float(above))
    scratch = [
        kernels.Scratch(np.zeros(len(index), np.int32), np.zeros(len(bags.hashes), np.float32)) for _ in range(threads)
    ]
    copies = CopyIndex(bags.sketches(np.arange(len(index))))
    alone = copies.alone

    def batch(asked: Array) -> Any:
        mine = scratch.pop()
        shape = (len(asked), depth)
        out = kernels.Ranked(np.zeros(shape, np.int64), np.zeros(shape), np.zeros(len(asked), np.int64))
        kernels.rank_neighbours(asked, lists, rows, bounds, mine, out)
        scratch.append(mine)
        return out

    def fold_around(document: int, ranking: Array) -> list[int]:
        return copies.at(np.append(document, ranking)).fold()

    parts = [(documents[i : i + _BATCH].astype(np.int64),) for i in range(0, len(documents), _BATCH)]
    for (asked,), (docs, similarity, count) in map_in_order(threads, batch, parts):
        for document, near, values, n in zip(asked.tolist(), docs, similarity, count.tolist(), strict=True):
            folding = None
            if fold and not (alone[document] and alone[near[: min(k, n)]].all()):
                folding = partial(fold_around, document)
            ranked = index.group(near[:n], values[:n], 0.0, k, folding)
            if folding and n == depth and len(ranked.related) < k:
                # So many near-duplicates are around it that more candidates are needed.
                query = index.query_of([index.urls[document]])
                ranked = index.rerank_candidates(query, k, above, partial(np.not_equal, document), folding)
            yield document, ranked


@dataclass(frozen=True)
class CopyGroup:
    """Near-duplicate pages; the first is the one with the most links to it."""

    documents: tuple[int, ...]
    common: tuple[float, ...]
    """The estimated share of words that each has in common with the first."""


def near_duplicates(
    index: RelatedIndex, threshold: float = NEAR_COPY, progress: Callable[[float], None] = lambda _s: None
) -> list[CopyGroup]:
    """Group the read pages that share enough of their words with their group's first page; large groups first.

    Pages are taken by the number of links to them; each joins the first page that it has most in common with, or begins
    a group.
    """
    documents = np.flatnonzero(index.captured(np.arange(len(index))))
    inlinks = index.bags.inlinks.astype(np.int64)
    documents = documents[np.lexsort((documents, -inlinks[documents]))]
    sketches = index.bags.sketches(documents)
    copies = CopyIndex(sketches, threshold)
    groups: dict[int, list[int]] = {}
    for place in range(len(documents)):
        heads = copies.heads_like(place)
        if len(heads):
            groups[int(heads[np.argmax(common_words(sketches[heads], sketches[place]))])].append(place)
        else:
            groups[place] = []
            copies.add_head(place)
        if place % 1024 == 0:
            progress(place / len(documents))
    found = []
    for first, members in groups.items():
        if members:
            places = np.array([first, *members])
            common = common_words(sketches[places], sketches[first])
            found.append(CopyGroup(tuple(documents[places].tolist()), tuple(common.tolist())))
    return sorted(found, key=lambda group: (-len(group.documents), group.documents))
