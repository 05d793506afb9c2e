"""Clusters against human classifications: the paper's methods (Table 1, as numbers) and Pagekin's default.

    python benchmarks/clusters.py school.kin,directory.tsv,1 school.kin,directory.tsv,1-2 \
        webkb.kin,webkb.tsv,1,other webkb.kin,webkb.tsv,2-2,misc manual.kin,url-path,1 [--clusters 30] [--drops 3]

Each argument is a collection, its classification, the levels that make a class, and classes that are not judged. The
classification is a TSV (address, path), of which a page's deepest listing counts, or `url-path`: the folders of an
address below those that nine in ten pages share; folders with fewer than five pages are not judged. All pages are clustered,
also those that are not judged.

`terms`, `links` and `max` are complete link by the similarities of equations 6-9, 2-5 and 1; `links, no paths` has W_s = 0.
`spread` is the lowest and the highest ARI of the clusters of all pages and of those made anew without 2 % of them;
`stable` is the mean adjusted Rand index between the clusters of all pages and those made anew without 2 % of them: of
link similarities and bags too, but for document frequencies. Seconds are those of the clusters of all pages after
reading, with two threads; of the paper's methods they include the similarities.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from pagekin.clusters import (
    LinkSettings,
    complete_link,
    link_similarity,
    load_directory,
    measure_agreement,
    page_graph,
    term_similarity,
    term_vectors,
)
from pagekin.clusters.communities import cluster_graph
from pagekin.clusters.complete import hybrid
from pagekin.clusters.links import Graph
from pagekin.clusters.neighbour_graph import neighbour_graph
from pagekin.hypertext import Corpus

Array = npt.NDArray[Any]
Method = Callable[[Array], Array]
"""From places of pages, rising, to their clusters."""
THREADS = 2
LEFT_OUT = 0.02
FEWEST = 5
SHARED = 0.9


@dataclass(frozen=True)
class Question:
    """A collection and what judges its clusters."""

    collection: Path
    source: str
    first: int
    last: int
    without: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> "Question":
        """The question of an argument."""
        collection, source, levels, *without = text.split(",")
        first, _dash, last = levels.rpartition("-")
        return cls(Path(collection), source, int(first or 1), int(last), tuple(without))

    def classes(self, corpus: Corpus, urls: Array) -> Array:
        """The class of each page, '' for those that are not judged."""
        if self.source == "url-path":
            paths = folders([corpus.url(url) for url in urls.tolist()])
        else:
            directory = load_directory(corpus, self.source, self.last)
            path_of = dict(
                zip(directory.urls.tolist(), directory.members[directory.offsets[:-1]].tolist(), strict=True)
            )
            paths = [list(directory.classes[path_of[url]]) if url in path_of else [] for url in urls.tolist()]
        names = ["/".join(path[self.first - 1 : self.last]) for path in paths]
        sizes = Counter(names)
        few = FEWEST if self.source == "url-path" else 1
        return np.array(["" if name in self.without or sizes[name] < few else name for name in names])


def folders(urls: list[str]) -> list[list[str]]:
    """The folders of each address, without those that most share; none for the pages outside of them."""
    paths = [urlsplit(url).path.split("/")[1:-1] for url in urls]
    while True:
        (top, count), *_others = Counter(tuple(path[:1]) for path in paths).most_common(1)
        if not top or count <= SHARED * len(paths):
            return paths
        paths = [path[1:] if path[:1] == list(top) else [] for path in paths]


def methods(corpus: Corpus, graph: Graph, clusters: int) -> dict[str, Method]:
    """All ways to make clusters."""

    def terms(kept: Array) -> npt.NDArray[np.float32]:
        pages = graph.pages[kept]
        # Terms are weighed page by page: leaving pages out changes nothing for the others.
        found = term_similarity(term_vectors(corpus, threads=THREADS), THREADS)
        return np.ascontiguousarray(found[np.ix_(pages, pages)])

    def links(kept: Array, paths: float = 1 / 3) -> npt.NDArray[np.float32]:
        return link_similarity(graph.subgraph(kept), LinkSettings(paths=paths), THREADS)

    def linked(similarity: npt.NDArray[np.float32]) -> Array:
        return complete_link(similarity, clusters).labels()

    def default(kept: Array) -> Array:
        return cluster_graph(
            neighbour_graph(corpus, graph.urls[kept], threads=THREADS), clusters, threads=THREADS
        ).labels

    return {
        "terms": lambda kept: linked(terms(kept)),
        "links": lambda kept: linked(links(kept)),
        "links, no paths": lambda kept: linked(links(kept, 0.0)),
        "max": lambda kept: linked(hybrid([terms(kept), links(kept)])),
        "default": default,
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="+", type=Question.parse, metavar="COLLECTION,SOURCE,LEVELS[,WITHOUT...]")
    parser.add_argument("--clusters", type=int, default=30)
    parser.add_argument("--drops", type=int, default=3)
    parser.add_argument("--only", nargs="*", help="methods")
    args = parser.parse_args()
    print(
        "| collection | judged | classes | method | ARI | spread | V | purity | clusters | largest | stable | seconds |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    collections: dict[Path, list[Question]] = {}
    for question in args.questions:
        collections.setdefault(question.collection, []).append(question)
    for path, questions in collections.items():
        corpus = Corpus.open(path)
        graph = page_graph(corpus)
        everything = np.arange(len(graph))
        classes = [question.classes(corpus, graph.urls) for question in questions]
        for name, method in methods(corpus, graph, args.clusters).items():
            if args.only and name not in args.only:
                continue
            started = time.perf_counter()
            labels = method(everything)
            seconds = time.perf_counter() - started
            again: list[tuple[Array, Array]] = []
            for drop in range(args.drops):
                kept = np.flatnonzero(np.random.default_rng(drop).random(len(graph)) >= LEFT_OUT)
                again.append((kept, method(kept)))
            stable = [measure_agreement(labels[kept], made).adjusted_rand for kept, made in again]
            for question, names in zip(questions, classes, strict=True):
                judged = names != ""
                found = measure_agreement(names[judged], labels[judged])
                spread = [found.adjusted_rand]
                spread += [
                    measure_agreement(names[kept][judged[kept]], made[judged[kept]]).adjusted_rand
                    for kept, made in again
                ]
                levels = f"{question.first}-{question.last}"
                print(
                    f"| {path.stem} {levels} | {judged.sum():,} | {len(np.unique(names[judged]))} | {name} "
                    f"| {found.adjusted_rand:.3f} | {min(spread):.3f}-{max(spread):.3f} "
                    f"| {found.v_measure:.3f} | {found.purity:.3f} "
                    f"| {len(np.unique(labels))} | {np.bincount(labels).max() / len(labels):.0%} "
                    f"| {np.mean(stable) if stable else np.nan:.2f} | {seconds:.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
