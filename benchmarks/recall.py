"""What the defaults of the search cost and find: recall against entries read, bytes and time.

    python benchmarks/recall.py COLLECTION.kin [--queries 500]

Signatures of m values are made anew from the collection's bags for each m. A query reads its shortest lists while they
hold no more than so many entries together, and compares the `depth` documents found most often exactly. Recall is the
share of the exact top k that is found; a document as similar as the k-th is as good as it. Beside it stands the 2002
paper's answer, by signatures alone from all lists (Figure 11), which compares nothing exactly. What the code does by
default is in bold type.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from growth import row
from pagekin.bags import Strategy
from pagekin.similarity import LIST_ENTRIES, Query, RelatedIndex, SignatureIndex, make_index
from pagekin.similarity.related import DEPTH
from pagekin.store import KinWriter

Array = npt.NDArray[Any]
SIZES = (80, 128, 192, 256, 320)
DEPTHS = (100, 200, 400, 800)
BUDGETS = (2_000, 4_000, 8_000, 16_000)
"""Entries that are read at most; reading all lists is shown, too."""
DEFAULT_M = Strategy().signature.m


@dataclass(frozen=True)
class Question:
    """One query with what is right: so many documents, the least similar of them so similar."""

    document: int
    query: Query
    count: int
    least: float

    def right(self, similarity: Array) -> int:
        """How many right documents are among those that have these exact similarities."""
        return min(int(np.count_nonzero(similarity >= self.least)), self.count)


@dataclass(frozen=True)
class Outcome:
    """What one setting finds, and the milliseconds and entries that it takes."""

    recall: float
    milliseconds: float
    entries: float

    def __str__(self) -> str:
        return f"{self.recall:.2%} {self.milliseconds:.2f} ms"


def ask_all(index: RelatedIndex, count: int, k: int, seed: int) -> list[Question]:
    """Random documents as queries, each compared with every other one."""
    chosen = np.random.default_rng(seed).choice(len(index), min(count, len(index)), replace=False)
    everyone = np.arange(len(index), dtype=np.int64)
    questions = []
    for document in chosen.tolist():
        query = index.query_of([index.urls[document]])
        similarity = np.sort(index.similarities(query, everyone[everyone != document]))[::-1]
        best = similarity[:k]
        if len(best):
            questions.append(Question(document, query, len(best), float(best[-1])))
    return questions


@contextmanager
def indexed(index: RelatedIndex, m: int, folder: Path) -> Iterator[tuple[SignatureIndex, int]]:
    """(H and I of m values, their bytes), made from the collection's bags."""
    strategy = replace(index.strategy, signature=replace(index.strategy.signature, m=m))
    with KinWriter(folder / f"{m}.kin", "recall benchmark") as writer:
        make_index(index.corpus.kin, strategy, writer)
        made = writer.view({})
        yield SignatureIndex(made, m), sum(array.nbytes for array in made.arrays.values())


def outcome(questions: list[Question], ask: Callable[[Question], tuple[Array, int, float]]) -> Outcome:
    """The recall, median time and mean entries of `ask`, which gives similarities, entries and seconds."""
    right, entries, spent = 0, 0, []
    for question in questions:
        similarity, read, seconds = ask(question)
        right += question.right(similarity)
        entries += read
        spent.append(seconds)
    total = sum(question.count for question in questions)
    return Outcome(right / max(total, 1), float(np.median(spent)) * 1e3, entries / len(questions))


def compared(index: RelatedIndex, lists: SignatureIndex, depth: int, entries: int, k: int) -> Callable[..., Any]:
    """A way to ask: candidates from the lists, compared exactly."""

    def ask(question: Question) -> tuple[Array, int, float]:
        started = time.perf_counter()
        found = lists.candidates(
            lists.rows[question.document], depth, entries, lambda docs: np.asarray(docs != question.document)
        )
        similarity = np.sort(index.similarities(question.query, found.docs))[::-1]
        return similarity[:k], found.entries_read, time.perf_counter() - started

    return ask


def estimated(index: RelatedIndex, lists: SignatureIndex, k: int) -> Callable[..., Any]:
    """The paper's way to ask: signatures alone."""

    def ask(question: Question) -> tuple[Array, int, float]:
        started = time.perf_counter()
        found = lists.similar(lists.rows[question.document], k, 0.0, lambda docs: np.asarray(docs != question.document))
        spent = time.perf_counter() - started
        similarity = np.sort(index.similarities(question.query, found.docs))[::-1]
        return similarity, found.entries_read, spent

    return ask


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    index = RelatedIndex.open(options.collection)
    k = options.k
    started = time.perf_counter()
    questions = ask_all(index, options.queries, k, options.seed)
    spent = (time.perf_counter() - started) / len(questions)
    least = np.percentile([question.least for question in questions], [10, 50, 90])
    print(
        f"{len(index.corpus):,} pages, {len(index):,} addresses; {len(questions)} queries, {spent * 1e3:.0f} ms each to "
        f"compare with all. The similarity of the {k}th: {least[1]:.3f} (median), {least[0]:.3f} to {least[2]:.3f} "
        "for four in five."
    )
    print(f"Each cell: recall of the exact top {k}, median time.\n")
    depths = sorted({*DEPTHS, DEPTH})
    row("m", "bytes per address", "entries at most", "read, mean", *(f"depth {depth}" for depth in depths), "paper")
    row(*["---:"] * (len(depths) + 5))
    with tempfile.TemporaryDirectory() as folder:
        for m in sorted({*SIZES, DEFAULT_M}):
            with indexed(index, m, Path(folder)) as (lists, size):
                paper = outcome(questions, estimated(index, lists, k))
                for budget in [*sorted({*BUDGETS, LIST_ENTRIES}), 0]:
                    cells = []
                    read = 0.0
                    for depth in depths:
                        got = outcome(questions, compared(index, lists, depth, budget or 1 << 40, k))
                        is_default = (m, depth, budget) == (DEFAULT_M, DEPTH, LIST_ENTRIES)
                        cells.append(f"**{got}**" if is_default else str(got))
                        read = got.entries
                    most = f"{budget:,}" if budget else "all"
                    row(m, f"{size / len(index):,.0f}", most, f"{read:,.0f}", *cells, "" if budget else paper)


if __name__ == "__main__":
    main()
