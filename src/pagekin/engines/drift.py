"""Measure drift: how much the answers of a collection with a delta differ from those after a rebuild."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from pagekin.bags import strategy_of_index
from pagekin.engines.local import index_collection
from pagekin.engines.update import open_living
from pagekin.hypertext import leave_out, merge_parts
from pagekin.similarity import RankingOptions, RelatedIndex
from pagekin.store import DELTA, NO_LIMIT, KinWriter, MemoryBudget, Progress, no_progress

FIRST = 10
"""Related pages of a question that are compared."""
QUESTIONS = 100
"""Pages that are asked about, unless others are wanted."""


@dataclass(frozen=True)
class Drift:
    """The share of the first ten related pages that stay the same when a collection is rebuilt."""

    questions: int
    """Pages that were asked about."""
    overlap: float
    """The mean share of the first ten that are the same pages; 1 for no drift."""
    same: int
    """Questions whose first ten are the same pages."""
    worst: float
    """The least share of all questions."""


def measure_drift(
    path: Path, questions: int = QUESTIONS, seed: int = 0, threads: int = 1, memory: MemoryBudget = NO_LIMIT,
    progress: Progress = no_progress,
) -> Drift:  # fmt: skip
    """Rebuild a collection in a temporary folder, ask both about some pages, and compare; nothing is stored.

    Cost: merging all kept parts, bags and signatures; no clusters and no search.
    """
    kin, keeping = open_living(path)
    asked = sample_questions(path, questions, seed)
    if DELTA not in kin.facts:
        return Drift(len(asked), 1.0, len(asked), 1.0)
    before = first_related(path, asked)
    with TemporaryDirectory(prefix="pagekin-drift-") as name:
        rebuilt, left = Path(name) / path.name, Path(name) / "left"
        left.mkdir()
        parts = leave_out(keeping.parts, keeping.opt_outs, left) if keeping.opt_outs else list(keeping.parts)
        with KinWriter(rebuilt, "pagekin info", memory) as writer:
            facts = merge_parts(parts, writer, False, lambda share: progress("merging", share))
            writer.commit({**facts, "seeds": {}})
        index_collection(rebuilt, strategy_of_index(kin.facts["index"]), progress, threads, memory=memory)
        return compare_first(before, first_related(rebuilt, asked))


def sample_questions(path: Path, most: int, seed: int = 0) -> list[str]:
    """Return the addresses of some pages; equal collections give equal samples."""
    index = RelatedIndex.open(path)
    documents = np.arange(len(index))
    here = documents[index.are_captured(documents) & ~index.documents.are_hidden(documents)]
    every = sorted(index.urls[document] for document in here.tolist())
    return sorted(random.Random(seed).sample(every, min(most, len(every))))


def first_related(path: Path, urls: Iterable[str]) -> list[frozenset[str]]:
    """Return the first ten related pages of each of some pages."""
    index, options = RelatedIndex.open(path), RankingOptions(k=FIRST)
    return [frozenset(one.url for one in index.answer(index.query_of([url]), options).results) for url in urls]


def compare_first(before: Sequence[frozenset[str]], after: Sequence[frozenset[str]]) -> Drift:
    """Compare the first related pages of the same questions."""
    shares = [
        len(one & other) / max(len(one), len(other)) if one or other else 1.0
        for one, other in zip(before, after, strict=True)
    ]
    if not shares:
        return Drift(0, 1.0, 0, 1.0)
    return Drift(len(shares), sum(shares) / len(shares), shares.count(1.0), min(shares))
