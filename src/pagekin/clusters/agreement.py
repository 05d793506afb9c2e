"""How well two ways to put the same pages into groups agree: clusters with a classification, or with other clusters."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class ClusterAgreement:
    """Measures of how well clusters agree with classes."""

    adjusted_rand: float
    """1 if they are the same, 0 as by chance."""
    v_measure: float
    """The harmonic mean of the next two."""
    homogeneity: float
    """1 if a page's cluster tells its class."""
    completeness: float
    """1 if a page's class tells its cluster."""
    purity: float
    """The share of pages in the most common class of their cluster."""
    largest: int
    """Pages in the largest cluster."""
    clusters: int


@dataclass(frozen=True)
class _Counts:
    """Numbers of pages: in each class, in each cluster, and in each class and cluster that share any."""

    both: npt.NDArray[np.int64]
    of_class: npt.NDArray[np.int64]
    of_cluster: npt.NDArray[np.int64]
    cluster: npt.NDArray[np.int64]
    """Of each pair the cluster."""


def _count(classes: Array, clusters: Array) -> _Counts:
    if classes.shape != clusters.shape or classes.ndim != 1:
        raise ValueError(f"labels of the same pages have the same length, not {classes.shape} and {clusters.shape}")
    _names, a, of_class = np.unique(classes, return_inverse=True, return_counts=True)
    _names, b, of_cluster = np.unique(clusters, return_inverse=True, return_counts=True)
    pairs, both = np.unique(a.astype(np.int64) * len(of_cluster) + b, return_counts=True)
    return _Counts(both, of_class, of_cluster, pairs % max(len(of_cluster), 1))


def _pairs(sizes: Array) -> int:
    """Count the pairs of pages in groups of these sizes."""
    return int(np.sum(sizes * (sizes - 1) // 2))


def _entropy(sizes: Array) -> float:
    shares = sizes / sizes.sum()
    return float(-np.sum(shares * np.log(shares)))


def _adjusted_rand(counts: _Counts) -> float:
    same_class, same_cluster, both = _pairs(counts.of_class), _pairs(counts.of_cluster), _pairs(counts.both)
    pages = int(counts.of_class.sum())
    all_pairs = pages * (pages - 1) // 2
    # Whole numbers of any size, so that nothing is lost where both are huge.
    by_chance = same_class * same_cluster
    most = all_pairs * (same_class + same_cluster)
    if most == 2 * by_chance:  # all pages alone, or all together, in both
        return 1.0
    return 2 * (both * all_pairs - by_chance) / (most - 2 * by_chance)


def adjusted_rand_index(classes: Array, clusters: Array) -> float:
    """Return the share of pairs of pages that both join or both separate, corrected for chance (Hubert and Arabie 1985)."""
    return _adjusted_rand(_count(classes, clusters))


def v_measure(classes: Array, clusters: Array) -> tuple[float, float, float]:
    """Return (V, homogeneity, completeness) of clusters by classes (Rosenberg and Hirschberg 2007)."""
    return _v_measure(_count(classes, clusters))


def _v_measure(counts: _Counts) -> tuple[float, float, float]:
    if not len(counts.both):
        return 1.0, 1.0, 1.0
    of_class, of_cluster, both = _entropy(counts.of_class), _entropy(counts.of_cluster), _entropy(counts.both)
    shared = of_class + of_cluster - both
    homogeneity = min(max(shared / of_class, 0.0), 1.0) if of_class else 1.0
    completeness = min(max(shared / of_cluster, 0.0), 1.0) if of_cluster else 1.0
    total = homogeneity + completeness
    return (2 * homogeneity * completeness / total if total else 0.0), homogeneity, completeness


def purity(classes: Array, clusters: Array) -> float:
    """Return the share of pages in the most common class of their cluster; it grows with the number of clusters."""
    return _purity(_count(classes, clusters))


def _purity(counts: _Counts) -> float:
    if not len(counts.both):
        return 1.0
    most = np.zeros(len(counts.of_cluster), np.int64)
    np.maximum.at(most, counts.cluster, counts.both)
    return float(most.sum() / counts.of_class.sum())


def largest_cluster(clusters: Array) -> int:
    """Return the number of pages in the largest cluster."""
    return int(np.unique(clusters, return_counts=True)[1].max(initial=0))


def agreement(classes: Array, clusters: Array) -> ClusterAgreement:
    """Compute all measures, of labels (pages) of any kind."""
    counts = _count(classes, clusters)
    return ClusterAgreement(
        _adjusted_rand(counts), *_v_measure(counts), _purity(counts), int(counts.of_cluster.max(initial=0)),
        len(counts.of_cluster),
    )  # fmt: skip
