"""Fitting the weights of the signals to a site: on one half of its pages, and judged by the other half."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import PRESETS, Signals, Strategy
from pagekin.clusters import Directory, DirectoryError
from pagekin.evaluation.compare import Gain, Verdict, judge_change, measure_all
from pagekin.evaluation.evaluate import directory_pages, finite_values, without_own_pages
from pagekin.evaluation.experiments import Bench, make_bench, with_sources
from pagekin.evaluation.halves import ROUNDS, Clock, draw, split_sources
from pagekin.evaluation.ranking import draw_rankings, grade_documents
from pagekin.evaluation.served import LEAST_SOURCES, SignalScores, judge_served, shares
from pagekin.similarity import SIGNALS, RelatedIndex, score_signals
from pagekin.store import Array, Progress, no_progress

TOP = 10
_SHARES = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
_LEAST_STEP = 0.0005
"""A step that gains less nDCG@10 is not taken, …"""
_STEP_ERRORS = 1.5
"""… nor one whose gain is less than so many of its standard errors by classes: what one class alone gains is about one."""
_DISCOUNT = 1 / np.log2(np.arange(2, TOP + 2))
LEARNING_SHARE = 0.4
"""Of the budget, for measuring the half to learn from."""
FITTING_SHARE = 0.6
"""Of the budget, after which no further round over the signals begins."""


class SignalTable:
    """The candidates of some sources with their signals and grades, so that weights are judged without measuring again."""

    def __init__(self) -> None:
        self.sources: list[int] = []
        self.classes: list[int] = []
        """What each source is one of several of: sources of one class err together."""
        self.documents: list[npt.NDArray[np.int64]] = []
        """The candidates of each source."""
        self.grades: list[npt.NDArray[np.int64]] = []
        self._values: list[npt.NDArray[np.float64]] = []
        self._worth: list[npt.NDArray[np.float64]] = []
        self._ideal: list[float] = []

    def __len__(self) -> int:
        return len(self.sources)

    def add(
        self, scores: SignalScores, source: int, of_class: int, candidates: Array, grades: Array, all_grades: Array
    ) -> None:
        """Measure the candidates of a source. `all_grades` are those of all documents, candidates or not."""
        values, worth = scores.measure(source, candidates)
        best = np.sort(all_grades)[::-1][:TOP]
        self.sources.append(source)
        self.classes.append(of_class)
        self.documents.append(candidates)
        self.grades.append(grades)
        self._values.append(values)
        self._worth.append(worth)
        self._ideal.append(float(best @ _DISCOUNT[: len(best)]))

    def scores(self, place: int, weights: Array) -> npt.NDArray[np.float64]:
        """Return the scores of the candidates of the source at a place, by shares of the signals."""
        return score_signals(self._values[place], weights, self._worth[place])

    def ndcg(self, weights: Array) -> npt.NDArray[np.float64]:
        """Return nDCG@10 of each source: what `Rankings` gives of the same answers, but quick enough for a search."""
        found = np.zeros(len(self))
        for place, grades in enumerate(self.grades):
            scores = self.scores(place, weights)
            top = np.argsort(-scores, kind="stable")[:TOP]
            found[place] = (grades[top] * (scores[top] > 0)) @ _DISCOUNT[: len(top)] / self._ideal[place]
        return found

    def is_step(self, before: Array, after: Array) -> bool:
        """Return whether nDCG@10 of all sources has risen by more than chance would have it."""
        gains = np.asarray(after) - np.asarray(before)
        gain = float(gains.mean())
        _names, place = np.unique(self.classes, return_inverse=True)
        error = float(np.sqrt(np.sum(np.bincount(place, gains - gain) ** 2))) / len(gains)
        return gain >= max(_LEAST_STEP, _STEP_ERRORS * error)


def fit_weights(
    table: SignalTable, starts: Sequence[Signals], fixed: Sequence[str] = (), more: Callable[[], bool] = lambda: True
) -> tuple[Signals, int]:
    """Return (the weights with the highest nDCG@10 found, how many were tried): one signal after the other gets the best share.

    The share of the signals in `fixed` stays as it is in the better of the `starts`.
    """
    tried = [(table.ndcg(shares(start)), shares(start)) for start in starts]
    best, here = max(tried, key=lambda pair: float(pair[0].mean()))
    free = np.array([name not in fixed for name in SIGNALS])
    room, tries, moved = float(here[free].sum()), len(tried), True
    while moved and more():
        moved = False
        for place in np.flatnonzero(free).tolist():
            others = free & (np.arange(len(SIGNALS)) != place)
            rest = float(here[others].sum())
            found = best, here
            for share in _SHARES:
                if rest <= 0 and share < 1:
                    continue
                weights = here.copy()
                weights[place] = share * room
                weights[others] *= (1 - share) * room / rest if rest > 0 else 0
                tries += 1
                if (each := table.ndcg(weights)).mean() > found[0].mean():
                    found = each, weights
            if table.is_step(best, found[0]):
                (best, here), moved = found, True
    return Signals(*(round(float(one), 3) for one in here)), tries


@dataclass(frozen=True)
class SignalTuning:
    """Weights of the signals that were fitted to a site, and what pages that the fit did not see say of them."""

    wish: str
    strategy: Strategy
    """That of the index."""
    before: Signals
    """What the index does for this wish."""
    fitted: Signals
    verdict: Verdict
    judged_by: str
    """What decided which pages are right."""
    training: tuple[int, int]
    """(classes, sources) of the half that was learnt from."""
    held_out: tuple[int, int]
    tries: int
    seconds: float
    seed: int

    @property
    def improved(self) -> bool:
        """Return whether the fitted weights are better beyond chance."""
        return self.verdict.better

    @property
    def advice(self) -> Strategy:
        """Return the strategy to index by: with the fitted weights where they are better."""
        weights = self.fitted if self.improved else self.before
        name = "tuned" if self.improved else self.strategy.name
        return replace(self.strategy, name=name, wish=self.wish, signals=weights)

    def changes(self) -> list[tuple[str, float, float]]:
        """Return (signal, its share before, its fitted share), those that change most first."""
        rows = zip(SIGNALS, shares(self.before).tolist(), shares(self.fitted).tolist(), strict=True)
        return sorted(
            ((name, old, new) for name, old, new in rows if abs(new - old) > 0.0005),
            key=lambda row: -abs(row[2] - row[1]),
        )

    def as_toml(self, judged_by: str) -> str:
        """Return the strategy to use as a TOML file, with a note on how it was chosen."""
        what = (
            f"Signals for {self.wish} fitted to"
            if self.improved
            else f"Signals for {self.wish} as before: nothing better on"
        )
        said = "\n".join(f"#   {gain}" for gain in self.verdict.gains)
        return (
            f"# {what} {judged_by}; {self.tries} tries, seed {self.seed}.\n# Fitted weights against those before, on pages that "
            f"the fit did not see (95 % intervals):\n{said}\n{self.advice.as_toml()}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return everything for programs."""
        return {
            "for": self.wish, "improved": self.improved, "conflict": self.verdict.conflict, "judged_by": self.judged_by,
            "before": dict(zip(SIGNALS, self.before.weights(), strict=True)),
            "fitted": dict(zip(SIGNALS, self.fitted.weights(), strict=True)),
            "strategy": self.advice.as_dict(), "tries": self.tries, "seconds": round(self.seconds, 1), "seed": self.seed,
            "training": dict(zip(("classes", "sources"), self.training, strict=True)),
            "held_out": {
                **dict(zip(("classes", "sources"), self.held_out, strict=True)),
                "gains": [gain_as_dict(gain) for gain in self.verdict.gains],
            },
        }  # fmt: skip


def gain_as_dict(gain: Gain) -> dict[str, Any]:
    """Return what a measure says for programs."""
    return finite_values(
        {
            "measure": gain.measure, "before": gain.before, "after": gain.after, "difference": gain.difference,
            "low": gain.low, "high": gain.high,
        }
    )  # fmt: skip


# -- for kin: a directory says what is right ----------------------------------------------------------------------------


def tune_kin(
    index: RelatedIndex, directory: Directory, *, own_pages: Sequence[str] = (), budget: float = 60.0, seed: int = 1,
    now: Callable[[], float] = time.perf_counter, progress: Progress = no_progress,
) -> SignalTuning:  # fmt: skip
    """Fit the weights for pages of the same kind, by a directory; `own_pages` are as in `evaluate_strategies`."""
    clock = Clock(budget, now)
    own = directory_pages(index.corpus, own_pages)
    bench = make_bench(without_own_pages(index.corpus, directory, own), seed=seed, rounds=1)
    in_training, training_classes, other_classes = split_sources(bench, seed)
    train, other = np.flatnonzero(in_training), np.flatnonzero(~in_training)
    scores = SignalScores(index)
    table = _table_of_classes(scores, bench, draw(train, seed), clock, progress)
    if not len(table) or not len(other):
        raise DirectoryError(
            "fitting needs at least two second-level classes with several pages each; the tree has none"
        )
    before = index.strategy.signals_for("kin")
    fitted, tries = fit_weights(
        table, [before, PRESETS["default"].signals_for("kin")], more=lambda: clock.spent < FITTING_SHARE
    )
    held_out = with_sources(bench, draw(other, seed), ROUNDS, seed)

    def more(done: int) -> bool:
        progress("judging", done / len(held_out.sources))
        return clock.spent < 0.9

    judged, judgements = judge_served(scores, held_out, {"before": before, "fitted": fitted}, ROUNDS, seed, more)
    rankings = draw_rankings(index.corpus, judged, seed)
    was, now_is = (measure_all(one, rankings.scores(one)) for one in judgements)
    progress("judging", 1.0)
    return SignalTuning(
        "kin", index.strategy, before, fitted, judge_change(was, now_is), f"{Path(directory.name).name}, pages of the same class",
        (training_classes, len(table)), (other_classes, len(judged.sources)), tries, clock.seconds, seed,
    )  # fmt: skip


def _table_of_classes(
    scores: SignalScores, bench: Bench, places: Array, clock: Clock, progress: Progress
) -> SignalTable:
    """Measure the candidates of sources that are not alone in their class, for a share of the budget."""
    documents = scores.documents(bench.urls)
    row_of = np.full(len(scores.index), -1, np.int64)
    row_of[documents[documents >= 0]] = np.flatnonzero(documents >= 0)
    table = SignalTable()
    for done, place in enumerate(places.tolist()):
        progress("measuring", done / len(places))
        if len(table) >= LEAST_SOURCES and clock.spent > LEARNING_SHARE:
            break
        row = int(bench.sources[place])
        grades = grade_documents(bench, row)
        if documents[row] < 0 or not np.any(grades == bench.directory.depth):
            continue
        near = scores.candidates(int(documents[row]))
        near = near[row_of[near] >= 0]
        table.add(scores, int(documents[row]), int(bench.primary[row]), near, grades[row_of[near]], grades)
    progress("measuring", 1.0)
    return table
