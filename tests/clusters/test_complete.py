from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import AgglomerativeClustering

from pagekin import clusters
from pagekin.clusters.complete import Dendrogram, hybrid

Array = npt.NDArray[Any]


def complete_link(similarity: Array, max_clusters: int) -> Dendrogram:
    """The merges of pages, found on a copy of their similarities."""
    return clusters.complete_link(similarity.copy(), max_clusters)


def naive_complete_link(similarity: Array, max_clusters: int) -> list[tuple[list[int], list[int], float]]:
    """(one cluster, the other, their similarity) of each merge: all pairs of clusters are looked at before each."""
    clusters = [[page] for page in range(len(similarity))]
    merges = []
    while len(clusters) > max(max_clusters, 1):
        best: tuple[float, int, int] | None = None
        for i, one in enumerate(clusters):  # in the order of their smallest pages
            for j in range(i + 1, len(clusters)):
                least = min(float(similarity[p, q]) for p in one for q in clusters[j])
                if best is None or least > best[0]:
                    best = (least, i, j)
        assert best is not None
        least, i, j = best
        merges.append((clusters[i], clusters[j], least))
        clusters[i] = sorted(clusters[i] + clusters.pop(j))
    return merges


def children(tree: Dendrogram) -> Array:
    """The nodes that were merged, (merges, 2); nodes are the pages, then, from number `pages` on, the merges."""
    node = np.arange(tree.pages)
    merged = np.empty((len(tree), 2), np.int64)
    for merge, (a, b) in enumerate(tree.pairs.tolist()):
        merged[merge] = node[a], node[b]
        node[a] = tree.pages + merge
    return merged


def members(tree: Dendrogram) -> list[tuple[list[int], list[int], float]]:
    """The merges of a dendrogram as lists of pages."""
    nodes = [[page] for page in range(tree.pages)]
    merges = []
    for (a, b), similarity in zip(children(tree).tolist(), tree.similarity.tolist(), strict=True):
        merges.append((nodes[a], nodes[b], similarity))
        nodes.append(sorted(nodes[a] + nodes[b]))
    return merges


def symmetric(values: Array) -> Array:
    above = np.triu(values, 1).astype(np.float32)
    return above + above.T


@st.composite
def similarities(draw: st.DrawFn) -> Array:
    """Matrices of few different values, zeros most of all, so that almost everything is tied."""
    n = draw(st.integers(0, 12))
    levels = draw(
        st.sampled_from([[0.0], [0.0, 0.5], [0.0, 0.0, 0.25, 1.0], [0.0, 0.1, 0.2, 0.3, 0.4], [-1.0, 0.0, 1.0]])
    )
    values = draw(st.lists(st.sampled_from(levels), min_size=n * n, max_size=n * n))
    return symmetric(np.array(values, np.float32).reshape(n, n))


@settings(max_examples=400, deadline=None)
@given(similarities(), st.integers(1, 5))
@example(np.zeros((0, 0), np.float32), 1)
@example(np.ones((7, 7), np.float32), 1)
def test_always_the_first_of_the_most_similar_pairs_merges(similarity: Array, max_clusters: int) -> None:
    assert members(complete_link(similarity, max_clusters)) == naive_complete_link(similarity, max_clusters)


@pytest.mark.parametrize("seed", range(6))
def test_larger_matrices_with_ties_merge_as_in_the_plain_method(seed: int) -> None:
    rng = np.random.default_rng(seed)
    similarity = symmetric(rng.integers(0, 2 + 3 * seed, (36, 36)))
    assert members(complete_link(similarity, 1)) == naive_complete_link(similarity, 1)


@settings(max_examples=100, deadline=None)
@given(similarities(), st.data())
def test_labels_after_some_merges_are_the_clusters_there(similarity: Array, data: st.DataObject) -> None:
    tree = complete_link(similarity, 1)
    merges = data.draw(st.integers(0, len(tree)))
    clusters = {page: [page] for page in range(len(similarity))}
    for one, other, _similarity in naive_complete_link(similarity, 1)[:merges]:
        clusters[one[0]] = one + clusters.pop(other[0])
    labels = tree.labels(merges)
    for number, first in enumerate(sorted(clusters)):
        assert np.flatnonzero(labels == number).tolist() == sorted(clusters[first])
    assert len(set(labels.tolist())) == len(clusters)


@settings(max_examples=100, deadline=None)
@given(similarities(), st.integers(1, 12))
def test_fewer_clusters_are_the_same_tree_cut_later(similarity: Array, max_clusters: int) -> None:
    whole, part = complete_link(similarity, 1), complete_link(similarity, max_clusters)
    assert len(part) == max(0, len(similarity) - max_clusters)
    assert np.array_equal(part.pairs, whole.pairs[: len(part)])
    assert np.array_equal(part.labels(), whole.labels(len(part)))
    assert np.all(np.diff(whole.similarity) <= 0)


@pytest.mark.parametrize("n", [2, 30, 200])
def test_without_ties_scipy_and_scikit_learn_find_the_same(n: int) -> None:
    rng = np.random.default_rng(n)
    places = rng.permutation(n * n).reshape(n, n)
    similarity = symmetric((1 + places) / (n * n + 1))
    tree = complete_link(similarity, 1)
    distance = 1 - similarity.astype(np.float64)
    np.fill_diagonal(distance, 0)
    theirs = linkage(squareform(distance), "complete")
    assert np.array_equal(np.sort(children(tree), axis=1), np.sort(theirs[:, :2].astype(int), axis=1))
    assert np.allclose(1 - tree.similarity, theirs[:, 2])
    clusters = min(n, 7)
    model = AgglomerativeClustering(clusters, metric="precomputed", linkage="complete").fit(distance)
    ours = tree.labels(n - clusters).tolist()
    assert len(set(zip(ours, model.labels_.tolist(), strict=True))) == clusters == len(set(ours))


def test_the_worst_order_of_ties_for_a_plain_search_is_merged_in_order() -> None:
    last = np.arange(60)
    similarity = symmetric(np.maximum(last[:, None], last[None, :]))
    tree = complete_link(similarity, 1)
    assert members(tree) == naive_complete_link(similarity, 1)
    assert tree.pairs.tolist() == [[0, page] for page in range(59, 0, -1)]


def test_clusters_with_nothing_in_common_merge_last() -> None:
    similarity = symmetric(np.array([[0, 0.5, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0.25], [0, 0, 0, 0]]))
    tree = complete_link(similarity, 1)
    assert tree.similarity.tolist() == [0.5, 0.25, 0.0]
    assert children(tree).tolist() == [[0, 1], [2, 3], [4, 5]]


@given(st.lists(st.tuples(*[st.floats(0, 1, width=32)] * 3), min_size=1, max_size=9))
def test_the_hybrid_of_similarities_takes_the_place_of_the_first(values: list[tuple[float, float, float]]) -> None:
    plain = {"max": max, "min": min, "mean": lambda v: sum(v) / len(v), "product": np.prod}
    for combine, function in plain.items():
        matrices = [np.array(one, np.float32).reshape(-1, 1) for one in zip(*values, strict=True)]
        others = [matrix.copy() for matrix in matrices[1:]]
        assert hybrid(matrices, combine) is matrices[0]
        assert matrices[0][:, 0].tolist() == pytest.approx([float(function(v)) for v in values], rel=1e-5)
        assert all(np.array_equal(*pair) for pair in zip(matrices[1:], others, strict=True))


def test_the_default_hybrid_is_the_papers() -> None:
    assert hybrid([np.float32([[0.25]]), np.float32([[0.5]])]).tolist() == [[0.5]]


def test_clusters_of_a_matrix_are_its_blocks() -> None:
    similarity = np.kron(np.eye(3), np.ones((4, 4))).astype(np.float32)
    assert Counter(complete_link(similarity, 3).labels().tolist()) == {0: 4, 1: 4, 2: 4}
