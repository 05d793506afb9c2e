"""Complete-link clusters of pages by their similarities, and the hybrid of several (hypursuit-1996, equation 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.store import Array

Similarity = npt.NDArray[np.float32]
_ROWS = 512
"""Rows and columns of a matrix that are looked at together."""
_STEPS: dict[str, Any] = {"max": np.maximum, "mean": np.add, "product": np.multiply, "min": np.minimum}
"""How F of equation 1 takes in one more similarity."""


def hybrid(matrices: Sequence[Similarity], combine: str = "max") -> Similarity:
    """Return S^hybrid: the first of the matrices (pages, pages), overwritten with F of all of them."""
    whole = matrices[0]
    for other in matrices[1:]:
        _STEPS[combine](whole, other, out=whole)
    if combine == "mean":
        whole /= np.float32(len(matrices))
    return whole


@dataclass(frozen=True)
class Dendrogram:
    """The merges that made clusters of pages, in order. A cluster is known by its smallest page."""

    pages: int
    pairs: npt.NDArray[np.int64]
    """(merges, 2): the clusters that were merged, the one with the smaller page first; it gives its name to both."""
    similarity: npt.NDArray[np.float32]
    """(merges): how similar the two were; never more than in the merge before."""

    def __len__(self) -> int:
        return len(self.pairs)

    def labels(self, merges: int | None = None) -> npt.NDArray[np.int64]:
        """Return the cluster of each page after so many merges, or all; clusters are numbered by their smallest pages."""
        if merges is None:
            merges = len(self)
        if not 0 <= merges <= len(self):
            raise ValueError(f"the dendrogram cannot be cut after {merges:,} merges: it has {len(self):,}")
        home = np.arange(self.pages)
        home[self.pairs[:merges, 1]] = self.pairs[:merges, 0]
        number, clusters = [0] * self.pages, 0
        # A page's home comes before it, so it has its number by then.
        for page, first in enumerate(home.tolist()):
            if first == page:
                number[page], clusters = clusters, clusters + 1
            else:
                number[page] = number[first]
        return np.array(number, np.int64)


def complete_link(similarity: Similarity, max_clusters: int = 30, overwrite: bool = False) -> Dendrogram:
    """Merge pages by the complete link method until `max_clusters` clusters are left; return the merges.

    In each step the two most similar clusters merge, where clusters are as similar as their least similar pages, also if
    that is 0. Of equally similar pairs the first merges, as clusters are ordered by their smallest pages.
    `similarity` (pages, pages) is symmetric; its diagonal does not matter. A copy is worked on unless `overwrite` allows
    to spoil it.
    """
    from pagekin.clusters._kernels import complete as kernels

    if max_clusters < 1:
        raise ValueError(f"pages cannot be put into {max_clusters} clusters: 1 is the least")
    _check(similarity)
    pages = len(similarity)
    merges = max(0, pages - 1)
    pairs, merged = np.empty((merges, 2), np.int64), np.empty(merges, np.float32)
    work = np.require(similarity, np.float32, ["C", "W"])
    if not overwrite and np.shares_memory(work, similarity):
        work = work.copy()
    kernels.complete_link(work, pairs, merged)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -merged))[: max(0, pages - max_clusters)]
    return Dendrogram(pages, pairs[order], merged[order])


def _check(similarity: Array) -> None:
    """Refuse what is no symmetric matrix of numbers."""
    if similarity.ndim != 2 or similarity.shape[0] != similarity.shape[1]:
        raise ValueError(
            f"similarities of all pairs of pages make a square matrix, not one of shape {similarity.shape}"
        )
    for top in range(0, len(similarity), _ROWS):
        for left in range(top, len(similarity), _ROWS):
            block = similarity[top : top + _ROWS, left : left + _ROWS]
            turned = similarity[left : left + _ROWS, top : top + _ROWS].T
            if not np.isfinite(block).all():
                raise ValueError("some similarities are no finite numbers")
            if not np.array_equal(block, turned):
                d, e = np.argwhere(block != turned)[0].tolist()
                raise ValueError(
                    f"the similarities are not symmetric: pages {top + d} and {left + e} have {block[d, e]} and {turned[d, e]}"
                )
