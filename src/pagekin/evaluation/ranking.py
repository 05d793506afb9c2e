"""Judge rankings as search engines are judged: nDCG@10 and MAP, by familial distance, and TREC files."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from pagekin.evaluation.experiments import NEAREST, Bench, Judgement
from pagekin.evaluation.gamma import ClassBootstrap, interval
from pagekin.hypertext import Corpus
from pagekin.store import Array

SOURCES = 500
"""Sources whose rankings are judged, at most: drawn, since a few hundred tell strategies apart."""
_MOST_GRADES = 2_000_000
"""Graded documents over all sources, at most: where classes are huge, fewer sources are taken."""


@dataclass(frozen=True)
class Scores:
    """Mean scores over the sources."""

    ndcg10: float
    map: float
    resampled: tuple[Array, Array]
    """Both in each resample of the sources' classes, the same resamples for all strategies."""

    @property
    def intervals(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the 95 % intervals of nDCG@10 and of MAP."""
        return interval(self.resampled[0]), interval(self.resampled[1])


class Nearest(NamedTuple):
    """The nearest documents of each source (-1 after the last) with their similarities: (sources, places)."""

    nearest: npt.NDArray[np.int64]
    nearest_similarity: npt.NDArray[np.float32]


@dataclass(frozen=True)
class Rankings:
    """Random sources of a bench, and the grade of each document for each of them.

    A document's grade is the depth of the tree less its familial distance: in a tree of three levels 3 for the same
    class, 2 for a sibling class, 1 for cousins. Grades of 0 are left out. For MAP only the same class is relevant, so
    sources are drawn from the pages that are not alone in their class.
    """

    names: dict[int, str]
    """Addresses of the documents without white space, by row."""
    places: npt.NDArray[np.int64]
    """Which of the bench's sources were drawn."""
    rows: npt.NDArray[np.int64]
    """Their rows."""
    grades: dict[str, dict[str, int]]
    evaluator: Any
    sources: int
    """How many sources the bench has."""
    bootstrap: ClassBootstrap

    def run(self, one: "Judgement | Nearest") -> dict[str, dict[str, float]]:
        """Return, for each source that has any, the nearest documents with their similarities."""
        names = self.names
        return {
            names[row]: {names[d]: s for d, s in zip(near, similar, strict=True) if d >= 0}
            for row, near, similar in zip(
                self.rows.tolist(),
                one.nearest[self.places].tolist(),
                one.nearest_similarity[self.places].tolist(),
                strict=True,
            )
            if near[0] >= 0
        }

    def scores(self, one: "Judgement | Nearest") -> Scores:
        """Return nDCG@10 and MAP of a strategy; ties are broken as in trec_eval, the last address first."""
        nothing = np.full(len(self.bootstrap), np.nan)
        if self.evaluator is None:
            return Scores(float("nan"), float("nan"), (nothing, nothing))
        place_of = {self.names[row]: place for row, place in zip(self.rows.tolist(), self.places.tolist(), strict=True)}
        drawn, values = np.zeros(self.sources), np.zeros((2, self.sources))  # a source without an answer keeps its 0
        drawn[self.places] = 1
        for score in self.evaluator.iter_calc(self.run(one)):
            values[int(str(score.measure).startswith("AP")), place_of[score.query_id]] = score.value
        count, counts = self.bootstrap.sums(drawn)
        with np.errstate(invalid="ignore", divide="ignore"):
            (ndcg, ndcgs), (ap, aps) = (
                (total / count, some / counts) for total, some in map(self.bootstrap.sums, values)
            )
        return Scores(ndcg, ap, (ndcgs, aps))

    @property
    def note(self) -> str:
        """Return a sentence on how the sources were drawn."""
        return (
            f"nDCG@10 and MAP rank the {NEAREST} nearest pages of {len(self.rows):,} drawn sources that are not alone in "
            "their class; for MAP, pages of the same class are relevant"
        )


def measures(depth: int) -> list[Any]:
    """Return nDCG@10 and MAP (only the highest grade is relevant) as `ir_measures` objects."""
    from ir_measures import AP, nDCG

    return [nDCG @ 10, AP(rel=depth)]


def draw_rankings(corpus: Corpus, bench: Bench, seed: int = 1, most: int = SOURCES) -> Rankings:
    """Draw random sources, and grade the documents for each."""
    depth = bench.directory.depth
    names = {row: document_id(corpus.url(int(url))) for row, url in enumerate(bench.urls.tolist())}
    places: list[int] = []
    rows: list[int] = []
    grades: dict[str, dict[str, int]] = {}
    graded = 0
    for place in np.random.default_rng(seed).permutation(len(bench.sources)).tolist():
        if len(places) == most or graded > _MOST_GRADES:
            break
        row = int(bench.sources[place])
        grade = grade_documents(bench, row)
        if not np.any(grade == depth):
            continue
        related = np.flatnonzero(grade > 0)
        grades[names[row]] = {names[d]: g for d, g in zip(related.tolist(), grade[related].tolist(), strict=True)}
        graded += len(related)
        places.append(place)
        rows.append(row)
    order = np.argsort(places)
    drawn = np.array(places, np.int64)[order], np.array(rows, np.int64)[order]
    return make_rankings(names, *drawn, grades, depth, len(bench.sources), bench.bootstrap)


def make_rankings(
    names: dict[int, str], places: Array, rows: Array, grades: dict[str, dict[str, int]], depth: int, sources: int,
    bootstrap: ClassBootstrap,
) -> Rankings:  # fmt: skip
    """Make rankings of some sources from the grades of documents, of which `depth` is the highest."""
    evaluator = None
    if len(places):
        import ir_measures

        evaluator = ir_measures.evaluator(measures(depth), grades)
    return Rankings(names, places, rows, grades, evaluator, sources, bootstrap)


def grade_documents(bench: Bench, row: int) -> npt.NDArray[np.int64]:
    """Return the grade of every document for a source: the depth minus the smallest familial distance."""
    own = bench.classes[bench.class_offsets[row] : bench.class_offsets[row + 1]]
    nearest = bench.apart[own].min(axis=0)
    grade = bench.directory.depth - np.minimum.reduceat(nearest[bench.classes], bench.class_offsets[:-1])
    grade[row] = 0
    return np.asarray(grade, np.int64)


def document_id(url: str) -> str:
    """Return an address without white space, which separates columns in TREC files."""
    return re.sub(r"\s", lambda match: quote(match[0]), url)


def write_trec(folder: Path, rankings: Rankings, judgements: list[Judgement]) -> None:
    """Write `qrels.txt`, and a file `NAME.run` for each distinct strategy, for trec_eval."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "qrels.txt").open("w", encoding="utf-8") as file:
        for source, graded in rankings.grades.items():
            file.writelines(f"{source} 0 {document} {grade}\n" for document, grade in graded.items())
    taken: set[str] = set()
    # Nine digits tell similarities in single precision apart.
    written: set[int] = set()
    for one in judgements:
        if id(one.nearest) in written:  # equal strategies share their arrays; the first is written
            continue
        written.add(id(one.nearest))
        name = slug(one.name, taken)
        with (folder / f"{name}.run").open("w", encoding="utf-8") as file:
            for source, near in rankings.run(one).items():
                file.writelines(
                    f"{source} Q0 {document} {rank} {similarity:.9g} {name}\n"
                    for rank, (document, similarity) in enumerate(near.items(), 1)
                )


def slug(name: str, taken: set[str]) -> str:
    """Return an unused file name of small letters, digits and hyphens, and mark it as used."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80] or "strategy"
    file_name, number = plain, 2
    while file_name in taken:
        file_name, number = f"{plain}-{number}", number + 1
    taken.add(file_name)
    return file_name
