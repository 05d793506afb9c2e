"""Precomputed answers for all pages (the other variant of section 6), and groups of near-duplicates."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pagekin.bags import NEAR_COPY, CopyIndex, common_words
from pagekin.similarity.answers import RankedDocuments
from pagekin.similarity.options import RankingOptions
from pagekin.similarity.related import RelatedIndex
from pagekin.store import Array, map_in_order

_BATCH = 64


def all_neighbours(
    index: RelatedIndex, documents: Array, options: RankingOptions, threads: int = 1
) -> Iterator[tuple[int, RankedDocuments]]:
    """Yield each document with its related documents, ranked as by `RelatedIndex.answer`."""
    readers = [index.reopen(compiled=True) for _ in range(threads)]

    def batch(asked: Array) -> list[RankedDocuments]:
        mine = readers.pop()
        ranked = [mine.rank(mine.query_of_documents((document,)), options) for document in asked.tolist()]
        readers.append(mine)
        return ranked

    parts = [(documents[i : i + _BATCH],) for i in range(0, len(documents), _BATCH)]
    for (asked,), rankings in map_in_order(threads, batch, parts):
        yield from zip(asked.tolist(), rankings, strict=True)


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
    documents = np.flatnonzero(index.are_captured(np.arange(len(index))))
    inlinks = index.documents.inlinks.astype(np.int64)
    documents = documents[np.lexsort((documents, -inlinks[documents]))]
    sketches = index.documents.sketches(documents)
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
    pairs = []
    for first, members in groups.items():
        if members:
            places = np.array([first, *members])
            common = common_words(sketches[places], sketches[first])
            pairs.append(CopyGroup(tuple(documents[places].tolist()), tuple(common.tolist())))
    return sorted(pairs, key=lambda group: (-len(group.documents), group.documents))
