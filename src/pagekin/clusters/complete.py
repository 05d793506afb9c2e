"""Complete-link clusters of pages by their similarities, and the hybrid of several (hypursuit-1996, equation 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.clusters.links import connected_parts

Similarity = npt.NDArray[np.float32]
_STEPS: dict[str, Any] = {"max": np.maximum, "mean": np.add, "product": np.multiply, "min": np.minimum}
"""How F of equation 1 takes in one more similarity."""


def hybrid(matrices: Sequence[Similarity], combine: str = "max") -> Similarity:
    """Return S^hybrid: F of all matrices (pages, pages), written over the first of them."""
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
        """Return the cluster of each page after this many merges (default: all), numbered by smallest page."""
        return connected_parts(self.pages, *self.pairs[:merges].T)


def complete_link(similarity: Similarity, max_clusters: int) -> Dendrogram:
    """Merge pages by the complete link method until `max_clusters` clusters are left; return the merges.

    In each step the two most similar clusters merge, where clusters are as similar as their least similar pages, also if
    that is 0. Of equally similar pairs the first merges, as clusters are ordered by their smallest pages.
    `similarity` (pages, pages) is symmetric, and spoilt by the work; its diagonal does not matter.
    """
    from pagekin.clusters._kernels import complete as kernels

    pages = len(similarity)
    merges = max(0, pages - 1)
    pairs, merged = np.empty((merges, 2), np.int64), np.empty(merges, np.float32)
    kernels.complete_link(similarity, pairs, merged)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -merged))[: max(0, pages - max_clusters)]
    return Dendrogram(pages, pairs[order], merged[order])
