"""Exact similarities of bags: weighted Jaccard (section 4)."""

from functools import cached_property

import numpy as np
import numpy.typing as npt

from pagekin.bags import Bags
from pagekin.store import Array, ReadAhead, batch_ranges

_BLOCK = 1 << 22


def jaccard(a: tuple[Array, Array], b: tuple[Array, Array]) -> float:
    """Return Σ min / Σ max of two bags, each given as (terms, weights)."""
    _, mine, theirs = np.intersect1d(a[0], b[0], assume_unique=True, return_indices=True)
    shared = float(np.sum(np.minimum(a[1][mine], b[1][theirs]), dtype=np.float64))
    both = float(np.sum(a[1], dtype=np.float64)) + float(np.sum(b[1], dtype=np.float64))
    return shared / (both - shared) if both > 0 else 0.0


def slots_for(terms: Array) -> npt.NDArray[np.int32]:
    """Return an empty hash table for the terms of a query, as kernels need it."""
    return np.empty(8 << len(terms).bit_length(), np.int32)


def filter_for(terms: Array) -> npt.NDArray[np.uint64]:
    """Return an empty filter for the terms of a query: about 128 to 256 bits for each, so that few others pass it."""
    return np.empty(2 << len(terms).bit_length(), np.uint64)


class ExactSimilarity:
    """Compares one bag with many; one object serves one query at a time.

    Pass `compiled` for many queries: several times as fast, but loading the compiler takes longer than one answer.
    """

    def __init__(self, bags: Bags, compiled: bool = False) -> None:
        self._bags = bags
        self._compiled = compiled
        self._ahead = ReadAhead()

    @cached_property
    def _table(self) -> npt.NDArray[np.float32]:
        """Return a table over all terms for the weights of a bag; zero before and after each use."""
        return np.zeros(len(self._bags.hashes), dtype=np.float32)

    def jaccard(self, terms: Array, weights: Array, total: float, documents: Array) -> npt.NDArray[np.float64]:
        """Return the Jaccard similarity of a bag to each document; `total` is the sum of its weights, including unknown terms."""
        if self._ahead.is_due():
            self._bags.read_ahead(self._ahead, documents, [self._bags.terms, self._bags.weights])
        if self._compiled:
            return self._overlaps(terms, weights, total, documents)
        similarities = np.zeros(len(documents))
        self._table[terms] = weights
        try:
            starts = self._bags.offsets[documents].astype(np.int64)
            ends = self._bags.offsets[documents + 1].astype(np.int64)
            for first, last in batch_ranges(np.cumsum(np.append(0, ends - starts)), _BLOCK):
                similarities[first:last] = self._block(starts[first:last], ends[first:last], total)
        finally:
            self._table[terms] = 0
        return similarities

    def _overlaps(self, terms: Array, weights: Array, total: float, documents: Array) -> npt.NDArray[np.float64]:
        from pagekin.similarity._kernels.exact import overlaps

        shared, sums = np.empty(len(documents)), np.empty(len(documents))
        bags = self._bags
        overlaps(
            np.array(terms, np.uint32), np.array(weights, np.float32), slots_for(terms), len(bags.hashes), bags.terms,
            bags.weights, bags.offsets, documents.astype(np.int64), shared, sums,
        )  # fmt: skip
        return shared / (total + sums - shared)

    def _block(self, starts: Array, ends: Array, total: float) -> npt.NDArray[np.float64]:
        if len(starts) > 1 and bool(np.all(starts[1:] == ends[:-1])):
            part = slice(int(starts[0]), int(ends[-1]))
            terms, weights = self._bags.terms[part], self._bags.weights[part]
        else:
            spans = list(zip(starts.tolist(), ends.tolist(), strict=True))
            terms = np.concatenate([self._bags.terms[a:b] for a, b in spans])
            weights = np.concatenate([self._bags.weights[a:b] for a, b in spans])
        places = np.zeros(len(starts), dtype=np.int64)
        np.cumsum((ends - starts)[:-1], out=places[1:])
        shared = np.add.reduceat(np.minimum(self._table[terms], weights), places, dtype=np.float64)
        sums = np.add.reduceat(weights, places, dtype=np.float64)
        return np.asarray(shared / (total + sums - shared))
