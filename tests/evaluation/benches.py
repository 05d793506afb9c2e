"""Small trees and bags to judge, made without a collection."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pagekin.bags import BagMatrix
from pagekin.clusters import Directory
from pagekin.evaluation import Bench, make_bench
from pagekin.evaluation.experiments import Counted, count_inlinks, count_pairs, matrix_similarities, with_sources
from pagekin.hypertext import Corpus

Path = tuple[str, ...]


def tree_of(listed: Sequence[Sequence[Path]], depth: int) -> Directory:
    """The directory of documents 0, 1, ... in these classes."""
    classes = tuple(sorted({path for paths in listed for path in paths}))
    members = [classes.index(path) for paths in listed for path in paths]
    offsets = np.cumsum([0, *map(len, listed)])
    return Directory(
        "made", depth, "lenient", "all", classes, np.arange(len(listed)), offsets, np.array(members, np.int64),
        {"pages": len(listed), "classes": len(classes)},
    )  # fmt: skip


def bench_of(listed: Sequence[Sequence[Path]], depth: int, rounds: int = 50) -> Bench:
    """A bench of all these documents."""
    return make_bench(tree_of(listed, depth), rounds=rounds)


def linked_pages(corpus: Corpus, urls: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Those URLs that at least one other page links to: all that the paper judges."""
    return np.asarray(urls[count_inlinks(corpus, urls) > 0], np.int64)


def draw_sources(bench: Bench, count: int, rounds: int) -> Bench:
    """The bench with so many of its sources, drawn."""
    drawn = np.random.default_rng(1).choice(len(bench.sources), count, replace=False)
    return with_sources(bench, np.sort(drawn), rounds, 1)


def matrix_of(bags: Sequence[Mapping[int, float]], columns: int) -> BagMatrix:
    """Bags as the rows of a matrix."""
    return BagMatrix(
        np.cumsum([0, *map(len, bags)]).astype(np.int64),
        np.array([term for bag in bags for term in sorted(bag)], np.int64),
        np.array([bag[term] for bag in bags for term in sorted(bag)], np.float32),
        columns,
    )


def count_matrix(bench: Bench, matrix: BagMatrix, metric: str, threads: int = 1) -> Counted:
    """What is counted for all sources of a bench, by the similarities of a matrix's rows."""
    return count_pairs(bench, bench.sources, matrix_similarities(matrix, metric), threads)
