"""Complete-link clustering: Pagekin against scikit-learn and scipy, on the same similarities in the same run.

    python benchmarks/complete_link.py [COLLECTION.kin...] [--pages 2000 5000] [--clusters 30]

Similarities are those of a collection's terms, or random ones without ties for each number of pages. The peers get
distances, 1 - similarity, in double precision (scipy's condensed), as they want them; making these is not counted.
All make the whole tree, and what they make is compared: without ties it must be the same. Peers break ties by their own
rules; only Pagekin's merges are then still those of the plain method, in order.

For collections, the similarity of terms is measured as well, against the product of scipy's sparse matrices.
Times are processor time on one thread, so neither other programs nor more threads count. Memory is what the process
had at most beyond what it had before.
"""

import argparse
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import psutil
import scipy.sparse
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import AgglomerativeClustering

from pagekin.bags import BagMatrix
from pagekin.clusters import complete_link, term_similarity, term_vectors
from pagekin.hypertext import Corpus

Array = npt.NDArray[Any]


def measured(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """(what it gives, processor seconds, MB that it needed at most)."""
    process = psutil.Process()
    before, most, done = process.memory_info().rss, [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.01):
            most[0] = max(most[0], process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    started = time.process_time()
    try:
        found = work()
        seconds = time.process_time() - started
        most[0] = max(most[0], process.memory_info().rss)
    finally:
        done.set()
        watcher.join()
    return found, seconds, max(0, most[0] - before) / 1e6


def random_similarity(pages: int) -> npt.NDArray[np.float32]:
    """A symmetric matrix of different numbers below 1 in random order: the last ones there are in single precision."""
    pairs = np.random.default_rng(pages).permutation(pages * (pages - 1) // 2).astype(np.uint32)
    last = np.float32(1).view(np.uint32) - np.uint32(1)
    found: npt.NDArray[np.float32] = squareform((last - pairs).view(np.float32)).astype(np.float32, copy=False)
    return found


def compare_clusters(name: str, similarity: npt.NDArray[np.float32], clusters: int) -> None:
    """Print the times of all, and whether they agree."""
    distance = 1 - similarity.astype(np.float64)
    np.fill_diagonal(distance, 0)
    condensed = squareform(distance, checks=False)
    ties = len(condensed) - len(np.unique(condensed))
    ours, seconds, memory = measured(lambda: complete_link(similarity.copy(), 1))
    print(f"{name}: {len(similarity):,} pages, {ties / max(len(condensed), 1):.1%} of the pairs tied with another")
    print(f"  {'Pagekin':<14}{seconds:8.2f} s {memory:8.0f} MB   with a copy of the matrix")
    theirs, by_scipy, memory = measured(lambda: linkage(condensed, "complete"))
    same = np.allclose(1 - ours.similarity, theirs[:, 2], atol=1e-6)
    print(f"  {'scipy':<14}{by_scipy:8.2f} s {memory:8.0f} MB {by_scipy / seconds:6.1f}x   the same heights: {same}")
    model = AgglomerativeClustering(clusters, metric="precomputed", linkage="complete", compute_full_tree=True)
    fitted, by_sklearn, memory = measured(lambda: model.fit(distance))
    labels = ours.labels(max(0, len(similarity) - clusters)).tolist()
    same = len(set(zip(labels, fitted.labels_.tolist(), strict=True))) == clusters
    print(
        f"  {'scikit-learn':<14}{by_sklearn:8.2f} s {memory:8.0f} MB {by_sklearn / seconds:6.1f}x   "
        f"the same {clusters} clusters: {same}"
    )


def compare_similarity(name: str, vectors: BagMatrix) -> npt.NDArray[np.float32]:
    """Print the times for the similarity of terms; give it."""
    ours, seconds, memory = measured(lambda: term_similarity(vectors))
    print(f"{name}: similarity of {len(vectors):,} pages by {len(vectors.terms):,} terms")
    print(f"  {'Pagekin':<14}{seconds:8.2f} s {memory:8.0f} MB")
    sparse = scipy.sparse.csr_matrix((vectors.weights, vectors.terms, vectors.offsets), (len(vectors), vectors.columns))
    theirs, by_scipy, memory = measured(lambda: (sparse @ sparse.T).toarray())
    apart = float(np.abs(ours - theirs).max(initial=0))
    print(f"  {'scipy':<14}{by_scipy:8.2f} s {memory:8.0f} MB {by_scipy / seconds:6.1f}x   at most {apart:.0e} apart")
    found: npt.NDArray[np.float32] = ours
    return found


def main() -> None:
    """Compare on each collection, then on random similarities."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", type=Path, nargs="*", help="collections that have been read")
    parser.add_argument("--pages", type=int, nargs="*", default=[2000, 5000], help="sizes of random matrices")
    parser.add_argument("--clusters", type=int, default=30)
    asked = parser.parse_args()
    complete_link(random_similarity(3), 1)  # compiles
    for path in asked.collections:
        vectors = term_vectors(Corpus.open(path))
        few = BagMatrix(vectors.offsets[:3], vectors.terms, vectors.weights, vectors.columns)
        term_similarity(few)
        compare_clusters(path.stem, compare_similarity(path.stem, vectors), asked.clusters)
    for pages in asked.pages:
        compare_clusters("random", random_similarity(pages), asked.clusters)


if __name__ == "__main__":
    main()
