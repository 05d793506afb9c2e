"""How long clusters take after reading: the 1996 paper's method beside scikit-learn's complete linkage, and the default.

    python benchmarks/cluster_speed.py COLLECTION.kin... [--clusters 30] [--threads 2]

`hypursuit1996` is similarities by links and by terms, F = max, and complete link. scikit-learn's agglomerative
clustering gets the same similarities as distances in double precision, as it wants them; making those is not
counted. Each runs in a process of its own, whose greatest memory is told. Collections of more than 12,000 pages get the
default alone.
"""

import argparse
import multiprocessing
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.clusters import MOST_PAGES, ClusterSettings, cluster_pages, complete_link
from pagekin.clusters.make import page_similarity
from pagekin.hypertext import Corpus


def by_paper(path: Path, clusters: int, threads: int) -> dict[str, float]:
    """Seconds for similarities and for complete link."""
    corpus = Corpus.open(path)
    started = time.perf_counter()
    similarity, _pages = page_similarity(corpus, ClusterSettings("hypursuit1996"), threads=threads)
    made = time.perf_counter()
    complete_link(similarity, clusters)
    return {"similarities": made - started, "complete link": time.perf_counter() - made}


def by_scikit_learn(path: Path, clusters: int, threads: int) -> dict[str, float]:
    """Seconds for the same complete link."""
    from sklearn.cluster import AgglomerativeClustering

    similarity, _pages = page_similarity(Corpus.open(path), ClusterSettings("hypursuit1996"), threads=threads)
    distance = 1 - similarity.astype(np.float64)
    np.fill_diagonal(distance, 0)
    started = time.perf_counter()
    AgglomerativeClustering(clusters, metric="precomputed", linkage="complete", compute_full_tree=True).fit(distance)
    return {"complete link": time.perf_counter() - started}


def by_default(path: Path, clusters: int, threads: int) -> dict[str, float]:
    """Seconds for the default."""
    corpus = Corpus.open(path)
    started = time.perf_counter()
    cluster_pages(corpus, clusters, 1, threads)
    return {"communities": time.perf_counter() - started}


METHODS = {"hypursuit1996": by_paper, "scikit-learn": by_scikit_learn, "default": by_default}


def measured(queue: Any, method: str, path: Path, clusters: int, threads: int) -> None:
    """Put the seconds and the greatest memory of a method into a queue."""
    seconds = METHODS[method](path, clusters, threads)
    queue.put((seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6))


def main() -> None:
    """Print a row for each collection and method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", type=Path, nargs="+")
    parser.add_argument("--clusters", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    print("| collection | pages | method | seconds | of it | greatest memory, GB |")
    print("| --- | ---: | --- | ---: | --- | ---: |")
    for path in asked.collections:
        pages = len(Corpus.open(path))
        for method in METHODS if pages <= MOST_PAGES else ("default",):
            queue = context.Queue()
            process = context.Process(target=measured, args=(queue, method, path, asked.clusters, asked.threads))
            process.start()
            seconds, memory = queue.get()
            process.join()
            parts = ", ".join(f"{name} {value:.1f}" for name, value in seconds.items())
            total = sum(seconds.values())
            print(f"| {path.stem} | {pages:,} | {method} | {total:.1f} | {parts} | {memory:.2f} |", flush=True)


if __name__ == "__main__":
    main()
