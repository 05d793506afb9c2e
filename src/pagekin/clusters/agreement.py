"""Measure how well two groupings of the same pages agree, such as clusters and a classification."""

from dataclasses import dataclass

import numpy as np

from pagekin.store import Array


@dataclass(frozen=True)
class ClusterAgreement:
    """Measures of how well clusters agree with classes."""

    adjusted_rand: float
    """1 if they are the same, 0 as by chance (Hubert and Arabie 1985)."""
    v_measure: float
    """The harmonic mean of the next two (Rosenberg and Hirschberg 2007)."""
    homogeneity: float
    """1 if a page's cluster determines its class."""
    completeness: float
    """1 if a page's class determines its cluster."""
    purity: float
    """The share of pages in the most common class of their cluster; it grows with the number of clusters."""
    largest: int
    """Pages in the largest cluster."""
    clusters: int


def measure_agreement(classes: Array, clusters: Array) -> ClusterAgreement:
    """Compute all measures, of labels (pages) of any kind."""
    if classes.shape != clusters.shape or classes.ndim != 1:
        raise ValueError(f"labels of the same pages have the same length, not {classes.shape} and {clusters.shape}")
    if not len(classes):
        return ClusterAgreement(1.0, 1.0, 1.0, 1.0, 1.0, 0, 0)
    _names, a, of_class = np.unique(classes, return_inverse=True, return_counts=True)
    _names, b, of_cluster = np.unique(clusters, return_inverse=True, return_counts=True)
    pairs, both = np.unique(a.astype(np.int64) * len(of_cluster) + b, return_counts=True)
    shared = _entropy(of_class) + _entropy(of_cluster) - _entropy(both)
    homogeneity, completeness = (
        min(max(shared / entropy, 0.0), 1.0) if entropy else 1.0 for entropy in map(_entropy, (of_class, of_cluster))
    )
    total = homogeneity + completeness
    most = np.zeros(len(of_cluster), np.int64)
    np.maximum.at(most, pairs % len(of_cluster), both)
    return ClusterAgreement(
        _adjusted_rand(of_class, of_cluster, both), 2 * homogeneity * completeness / total if total else 0.0,
        homogeneity, completeness, float(most.sum() / len(classes)), int(of_cluster.max()), len(of_cluster),
    )  # fmt: skip


def _entropy(sizes: Array) -> float:
    shares = sizes / sizes.sum()
    return float(-np.sum(shares * np.log(shares)))


def _adjusted_rand(of_class: Array, of_cluster: Array, both: Array) -> float:
    """Return the share of pairs of pages that both join or both separate, corrected for chance."""
    # Whole numbers of any size, so that nothing is lost where they are huge.
    same_class, same_cluster, same_both = (
        int(np.sum(sizes * (sizes - 1) // 2)) for sizes in (of_class, of_cluster, both)
    )
    pages = int(both.sum())
    all_pairs = pages * (pages - 1) // 2
    by_chance = same_class * same_cluster
    most = all_pairs * (same_class + same_cluster)
    if most == 2 * by_chance:  # all pages alone, or all together, in both
        return 1.0
    return 2 * (same_both * all_pairs - by_chance) / (most - 2 * by_chance)
