"""The answers for all pages, precomputed (the other variant of section 6), and groups of near-duplicates."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import NEAR_COPY, CopyIndex, common_words, copy_sketches
from pagekin.similarity.related import DEPTH, LIST_ENTRIES, RelatedIndex, first_depth
from pagekin.store import map_in_order

Array = npt.NDArray[Any]
_BATCH = 1_024


@dataclass(frozen=True)
class Neighbour:
    """A related document with its near-duplicates."""

    document: int
    similarity: float
    copies: tuple[int, ...]


@dataclass(frozen=True)
class Neighbours:
    """The related documents of one document, as `RelatedIndex.answer` ranks them."""

    document: int
    related: list[Neighbour]
    copies: tuple[int, ...]


def all_neighbours(
    index: RelatedIndex, documents: Array, k: int, fold: bool = True, alpha: float | None = None, threads: int = 1
) -> Iterator[Neighbours]:
    """Answer for each document, in order: the same as one by one, many times faster."""
    from pagekin.similarity._kernels import neighbours as kernels

    bags = index.bags
    offsets = bags.offsets.astype(np.int64)
    terms, weights = np.array(bags.terms), np.array(bags.weights)
    rows = kernels.BagRows(terms, weights, offsets, np.add.reduceat(weights, offsets[:-1], dtype=np.float64))
    lists = kernels.Lists(*index.index.arrays())
    copies = kernels.Copies(
        bags.pages(np.arange(len(index))), np.array(copy_sketches(index.corpus.kin)), NEAR_COPY if fold else 0.0
    )
    wanted = first_depth(k) if fold else k
    depth = max(DEPTH, wanted)
    above = index.strategy.signature.alpha if alpha is None else alpha
    bounds = kernels.Bounds(depth, LIST_ENTRIES, float(above), k, wanted)
    scratch = [
        kernels.Scratch(np.zeros(len(index), np.int32), np.zeros(len(bags.hashes), np.float32)) for _ in range(threads)
    ]

    def batch(asked: Array) -> Any:
        mine = scratch.pop()
        shape = (len(asked), depth if fold else k)
        out = kernels.Ranked(
            docs=np.zeros(shape, np.int64),
            similarity=np.zeros(shape),
            group=np.full(shape, -1, np.int64),
            count=np.zeros(len(asked), np.int64),
        )
        kernels.neighbours(asked, lists, rows, copies, bounds, mine, out)
        scratch.append(mine)
        return out

    parts = [(documents[i : i + _BATCH].astype(np.int64),) for i in range(0, len(documents), _BATCH)]
    for (asked,), (docs, similarity, group, count) in map_in_order(threads, batch, parts):
        for q, document in enumerate(asked.tolist()):
            n = int(count[q])
            if fold and n == depth and int(group[q].max()) < k - 1:
                yield _deeper(index, document, k, above)
            else:
                yield _answer(document, docs[q, :n].tolist(), similarity[q, :n].tolist(), group[q, :n].tolist())


def _deeper(index: RelatedIndex, document: int, k: int, alpha: float) -> Neighbours:
    """Answer for a document with so many near-duplicates around it that more candidates are needed."""
    query = index.query_of([index.urls[document]])
    found = index.rerank_candidates(query, k, alpha, lambda documents: documents != document)
    related = [
        Neighbour(group[0], similarity, tuple(group[1:]))
        for group, similarity in zip(found.groups, found.similarity, strict=True)
    ]
    return Neighbours(document, related, tuple(found.copies))


def _answer(document: int, docs: list[int], similarity: list[float], group: list[int]) -> Neighbours:
    heads: dict[int, int] = {}
    copies: dict[int, list[int]] = {}
    for place, number in enumerate(group):
        if number >= 0 and number not in heads:
            heads[number] = place
        elif number >= 0 or number == -2:
            copies.setdefault(number, []).append(docs[place])
    related = [
        Neighbour(docs[place], similarity[place], tuple(copies.get(number, ()))) for number, place in heads.items()
    ]
    return Neighbours(document, related, tuple(copies.get(-2, ())))


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
