import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.metrics.cluster import contingency_matrix

from pagekin.clusters import measure_agreement

LABELS = st.lists(st.tuples(st.integers(-2, 4), st.integers(0, 4)), min_size=1, max_size=40)


@given(LABELS)
def test_the_measures_are_those_of_scikit_learn(labels: list[tuple[int, int]]) -> None:
    classes, clusters = np.array(labels).T
    found = measure_agreement(classes, clusters)
    assert found.adjusted_rand == pytest.approx(metrics.adjusted_rand_score(classes, clusters))
    h, c, v = metrics.homogeneity_completeness_v_measure(classes, clusters)
    assert (found.v_measure, found.homogeneity, found.completeness) == pytest.approx((v, h, c), abs=1e-7)
    table = contingency_matrix(classes, clusters)
    assert found.purity == pytest.approx(table.max(axis=0).sum() / table.sum())
    assert (found.largest, found.clusters) == (table.sum(axis=0).max(), len(set(clusters.tolist())))


@given(LABELS)
def test_names_of_groups_do_not_matter(labels: list[tuple[int, int]]) -> None:
    classes, clusters = np.array(labels).T
    named = np.array(["zyxwvut"[c] for c in clusters.tolist()])
    there, here = measure_agreement(classes, named), measure_agreement(classes, clusters)
    assert there.adjusted_rand == here.adjusted_rand
    assert there.v_measure == pytest.approx(here.v_measure)
    assert there.purity == here.purity


def test_many_pages_in_few_groups_do_not_overflow() -> None:
    classes = np.arange(400_000) % 2
    assert measure_agreement(classes, classes).adjusted_rand == 1.0
    assert measure_agreement(classes, np.arange(400_000) % 4 // 2).adjusted_rand == pytest.approx(0.0, abs=1e-4)


def test_no_pages_agree() -> None:
    nothing = np.zeros(0, np.int64)
    found = measure_agreement(nothing, nothing)
    assert (found.adjusted_rand, found.v_measure, found.purity, found.largest, found.clusters) == (1.0, 1.0, 1.0, 0, 0)


def test_labels_of_different_pages_are_refused() -> None:
    with pytest.raises(ValueError, match="same length"):
        measure_agreement(np.zeros(3), np.zeros(4))
