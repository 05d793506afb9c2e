"""Link similarity of all pairs of a collection's pages, against the plain way: search again without the other page.

The plain way lets SciPy search the graph from each page of a pair with the other one taken out, on a sample of pairs; its
time for all pairs is in proportion. Of the sample, both ways' similarities are compared.

    python benchmarks/link_similarity.py COLLECTION.kin... [--threads 2] [--levels 4] [--pairs 40]

Times are processor time of all threads, so that other programs do not count, and seconds passed beside it.
"""

import argparse
import resource
import time
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from pagekin.clusters import LinkSettings, link_similarity, page_graph
from pagekin.clusters.links import Graph
from pagekin.hypertext import Corpus

Array = npt.NDArray[Any]


def steps_without(links: Any, start: int, other: int) -> Array:
    """Steps from `start` to all pages on paths that avoid `other`."""
    kept = np.ones(links.shape[0], dtype=bool)
    kept[other] = False
    steps = np.full(len(kept), np.inf)
    place = start - (other < start)
    steps[kept] = dijkstra(links[kept][:, kept], indices=place, unweighted=True)
    return steps


def plainly(links: Any, i: int, j: int, levels: int) -> float:
    """S^dsc of two pages (eq. 4), divided by the union; S^anc if the links are reversed."""
    one, two = steps_without(links, i, j), steps_without(links, j, i)
    level, total = np.minimum(one, two), 0.0
    level[[i, j]] = np.inf
    for at in range(1, levels + 1):
        here = level == at
        if here.any():
            total += float((2.0 ** -(one[here] + two[here])).sum()) / int(here.sum())
    return total


def main() -> None:
    """Print a few lines for each collection."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="+")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--levels", type=int, default=4)
    parser.add_argument("--pairs", type=int, default=40)
    options = parser.parse_args()
    three = np.arange(3)
    link_similarity(Graph.of(three, (three + 1) % 3, three, three))  # compiles
    for path in options.collections:
        graph = page_graph(Corpus.open(path))
        count = len(graph)
        print(f"{path}: {count:,} pages, {len(graph.out_targets):,} links, {options.levels} levels")
        begun, passed = time.process_time(), time.perf_counter()
        found = link_similarity(graph, LinkSettings(1.0, 1.0, 0.0, levels=options.levels), options.threads)
        ours, passed = time.process_time() - begun, time.perf_counter() - passed
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"  ours   {ours:12,.1f} s; {passed:,.1f} s passed with {options.threads} threads, {peak:.2f} GiB at most"
        )

        ones = np.ones(len(graph.out_targets), dtype=np.int8)
        ahead = csr_array((ones, graph.out_targets, graph.out_offsets), shape=(count, count))
        back = csr_array((ones, graph.in_sources, graph.in_offsets), shape=(count, count))
        chosen = np.random.default_rng(1).choice(count, (options.pairs, 2))
        chosen = chosen[chosen[:, 0] != chosen[:, 1]].tolist()
        begun = time.process_time()
        plain = [plainly(ahead, i, j, options.levels) + plainly(back, i, j, options.levels) for i, j in chosen]
        peer = (time.process_time() - begun) / len(chosen) * count * (count - 1) / 2
        print(f"  plainly{peer:12,.1f} s, from {len(chosen)} pairs: ours is {peer / ours:,.0f} times as fast")
        apart = max(abs(float(found[i, j]) - wanted) for (i, j), wanted in zip(chosen, plain, strict=True))
        print(f"  greatest difference on these pairs: {apart:.1e}")


if __name__ == "__main__":
    main()
