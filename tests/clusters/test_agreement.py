import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.metrics.cluster import contingency_matrix

from pagekin.clusters import adjusted_rand_index
from pagekin.clusters.agreement import agreement, largest_cluster, purity, v_measure

LABELS = st.lists(st.tuples(st.integers(-2, 4), st.integers(0, 4)), min_size=1, max_size=40)


@given(LABELS)
def test_the_measures_are_those_of_scikit_learn(labels: list[tuple[int, int]]) -> None:
    classes, clusters = np.array(labels).T
    assert adjusted_rand_index(classes, clusters) == pytest.approx(metrics.adjusted_rand_score(classes, clusters))
    h, c, v = metrics.homogeneity_completeness_v_measure(classes, clusters)
    assert v_measure(classes, clusters) == pytest.approx((v, h, c), abs=1e-7)
    table = contingency_matrix(classes, clusters)
    assert purity(classes, clusters) == pytest.approx(table.max(axis=0).sum() / table.sum())
    assert largest_cluster(clusters) == table.sum(axis=0).max()


@given(LABELS)
def test_all_measures_at_once_are_the_single_ones(labels: list[tuple[int, int]]) -> None:
    classes, clusters = np.array(labels).T
    found = agreement(classes, clusters)
    assert found.adjusted_rand == adjusted_rand_index(classes, clusters)
    assert (found.v_measure, found.homogeneity, found.completeness) == v_measure(classes, clusters)
    assert (found.purity, found.largest) == (purity(classes, clusters), largest_cluster(clusters))
    assert found.clusters == len(set(clusters.tolist()))


@given(LABELS)
def test_names_of_groups_do_not_matter(labels: list[tuple[int, int]]) -> None:
    classes, clusters = np.array(labels).T
    named = np.array(["zyxwvut"[c] for c in clusters.tolist()])
    there, here = agreement(classes, named), agreement(classes, clusters)
    assert there.adjusted_rand == here.adjusted_rand
    assert there.v_measure == pytest.approx(here.v_measure)
    assert there.purity == here.purity


def test_many_pages_in_few_groups_do_not_overflow() -> None:
    classes = np.arange(400_000) % 2
    assert adjusted_rand_index(classes, classes) == 1.0
    assert adjusted_rand_index(classes, np.arange(400_000) % 4 // 2) == pytest.approx(0.0, abs=1e-4)


def test_no_pages_agree() -> None:
    nothing = np.zeros(0, np.int64)
    found = agreement(nothing, nothing)
    assert (found.adjusted_rand, found.v_measure, found.purity, found.largest, found.clusters) == (1.0, 1.0, 1.0, 0, 0)


def test_labels_of_different_pages_are_refused() -> None:
    with pytest.raises(ValueError, match="same length"):
        agreement(np.zeros(3), np.zeros(4))
