"""Rankings by a strategy as search engines are judged: nDCG@10 and MAP, by familial distance, and TREC files."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from pagekin.evaluation.experiments import NEAREST, Bench, Judgement
from pagekin.hypertext import Corpus

SOURCES = 500
"""Sources whose rankings are judged, at most: drawn, since a few hundred tell strategies apart."""
_MOST_GRADES = 2_000_000
"""Graded documents over all sources, at most: where classes are huge, fewer sources are taken."""


class Scores(NamedTuple):
    """Means over the sources."""

    ndcg10: float
    map: float


@dataclass(frozen=True)
class Rankings:
    """Sources drawn from a bench, and how related each document is to each of them.

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

    def run(self, one: Judgement) -> dict[str, dict[str, float]]:
        """Return for each source that has any, the nearest documents with their similarities."""
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

    def scores(self, one: Judgement) -> Scores:
        """Return nDCG@10 and MAP of a strategy; of equally similar documents, trec_eval takes the last address first."""
        if self.evaluator is None:
            return Scores(float("nan"), float("nan"))
        values = {str(measure): float(value) for measure, value in self.evaluator.calc_aggregate(self.run(one)).items()}
        return Scores(values["nDCG@10"], next(value for measure, value in values.items() if measure.startswith("AP")))

    @property
    def note(self) -> str:
        """Return a sentence on how the sources were drawn."""
        return (
            f"nDCG@10 and MAP rank the {NEAREST} nearest pages of {len(self.rows):,} drawn sources that are not alone in "
            "their class; for MAP, pages of the same class are relevant"
        )


def measures(depth: int) -> list[Any]:
    """Return nDCG@10, and MAP for which only the highest grade is relevant, as `ir_measures` objects."""
    from ir_measures import AP, nDCG

    return [nDCG @ 10, AP(rel=depth)]


def draw_rankings(corpus: Corpus, bench: Bench, seed: int = 1, most: int = SOURCES) -> Rankings:
    """Draw sources by a seed, and grade the documents for each."""
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
        grade = depth - _distances(bench, row)
        grade[row] = 0
        if not np.any(grade == depth):
            continue
        related = np.flatnonzero(grade > 0)
        grades[names[row]] = {names[d]: g for d, g in zip(related.tolist(), grade[related].tolist(), strict=True)}
        graded += len(related)
        places.append(place)
        rows.append(row)
    order = np.argsort(places)
    evaluator = None
    if places:
        import ir_measures

        evaluator = ir_measures.evaluator(measures(depth), grades)
    return Rankings(names, np.array(places, np.int64)[order], np.array(rows, np.int64)[order], grades, evaluator)


def _distances(bench: Bench, row: int) -> npt.NDArray[np.int64]:
    """Return the familial distance of every document from one: the smallest over their classes."""
    own = bench.classes[bench.class_offsets[row] : bench.class_offsets[row + 1]]
    nearest = bench.apart[own].min(axis=0)
    return np.minimum.reduceat(nearest[bench.classes], bench.class_offsets[:-1])


def document_id(url: str) -> str:
    """Return an address without white space, which separates columns in TREC files."""
    return re.sub(r"\s", lambda found: quote(found[0]), url)


def write_trec(folder: Path, rankings: Rankings, judgements: list[Judgement]) -> None:
    """Write `qrels.txt`, and a file `NAME.run` for each different strategy, as trec_eval reads them."""
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
    """Return a file name of small letters, digits and hyphens that is not taken yet, and mark it as taken."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80] or "strategy"
    file_name, number = plain, 2
    while file_name in taken:
        file_name, number = f"{plain}-{number}", number + 1
    taken.add(file_name)
    return file_name
