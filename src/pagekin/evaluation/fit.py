"""Fit the weights of the signals to a site; each class is judged by weights fitted to the other classes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.bags import PRESETS, Signals, Strategy
from pagekin.clusters import Directory, DirectoryError
from pagekin.evaluation.compare import Gain, Verdict, finite_values, judge_change, measure_all
from pagekin.evaluation.evaluate import directory_pages, without_own_pages
from pagekin.evaluation.experiments import Bench, make_bench, with_sources
from pagekin.evaluation.halves import ROUNDS, SOURCES, Clock, draw, fold_sources
from pagekin.evaluation.ranking import draw_rankings, grade_documents
from pagekin.evaluation.served import LEAST_SOURCES, SignalScores, judge_served, shares
from pagekin.evaluation.signal_table import FOLDS, SignalTable, cross_fit
from pagekin.similarity import SIGNALS, RelatedIndex
from pagekin.store import Array, Progress, no_progress

LEARNING_SHARE = 0.4
"""Of the budget, for measuring what to learn from."""
FITTING_SHARE = 0.6
"""Of the budget, after which no further weights are tried."""


_WIDER = 2.2414 / 1.96
"""How much wider an interval of 97.5 % is than one of 95 %, as of a normal distribution."""


@dataclass(frozen=True)
class SignalTuning:
    """Signal weights fitted to a site for a wish, and their results on pages that the fit did not see."""

    wish: str
    strategy: Strategy
    """That of the index."""
    before: Signals
    """What the weights have to be better than: what is served."""
    preset: Signals
    """What Pagekin takes for this wish where nothing is fitted."""
    fitted: Signals
    """Fitted to all pages."""
    by_preset: Verdict
    """What becomes better from the weights before to the preset, …"""
    by_fit: Verdict
    """… from the weights before to fitted ones, which do not know the pages that judge them, …"""
    by_fit_alone: Verdict
    """… and from the preset to these."""
    judged_by: str
    """What decided which pages are right."""
    judged: tuple[int, int]
    """(classes, sources): each is judged by weights that were fitted to other classes."""
    tries: int
    seconds: float
    seed: int
    by_half: Verdict | None = None
    """From the weights before to the middle between them and the goal, if that is judged, too."""
    least_low: float = 0.0
    """At or above this the whole interval of nDCG@10 must lie. For links in running text it is the least effect: pages that
    link to the same pages err together, which an interval by pages does not see."""
    goal_is_strict: bool = False
    """Whether all of the way is asked for as much as half of it: both are chances to be wrong."""

    @property
    def fit_counts(self) -> bool:
        """Return whether fitted weights do better than the preset on unseen pages, significantly or not."""
        return self.by_fit_alone.gains[0].difference > 0

    @property
    def goal(self) -> Signals:
        """Return the weights that are aimed at: the fitted ones if they do better than the preset."""
        return self.fitted if self.fit_counts else self.preset

    @property
    def goes_half(self) -> bool:
        """Return whether the weights stop half-way to the goal: that is significantly better, and the goal itself is not.

        The middle is a second chance, so more is asked of it: its interval of 97.5 % must lie above 0.
        """
        by_goal = self.by_fit if self.fit_counts else self.by_preset
        if self.by_half is None or self._convinces(by_goal, self.goal_is_strict):
            return False
        return self._convinces(self.by_half, strict=True)

    @property
    def chosen(self) -> Signals:
        """Return the chosen weights: the goal, or the middle between it and the weights before."""
        return halfway(self.before, self.goal) if self.goes_half else self.goal

    @property
    def verdict(self) -> Verdict:
        """Return the improvement by the chosen weights."""
        if self.goes_half and self.by_half is not None:
            return self.by_half
        return self.by_fit if self.fit_counts else self.by_preset

    def _convinces(self, verdict: Verdict, strict: bool) -> bool:
        """Return whether nDCG@10 rises significantly, and the share of right pages among the first ten does not fall."""
        gain = verdict.gains[0]
        sure = not strict or gain.difference > _WIDER * (gain.difference - gain.low)
        return verdict.better and sure and gain.low >= self.least_low and not _loses_right_pages(verdict)

    @property
    def improved(self) -> bool:
        """Return whether the chosen weights are significantly better than the served ones."""
        return self.goes_half or self._convinces(self.verdict, self.goal_is_strict)

    @property
    def loses_right_pages(self) -> bool:
        """Return whether weights are refused only because fewer of the first ten pages are right, though in better order."""
        return self.verdict.better and _loses_right_pages(self.verdict)

    @property
    def advice(self) -> Strategy:
        """Return the strategy to index by: with the chosen weights if they are better, else unchanged."""
        if not self.improved:
            return self.strategy
        return replace(self.strategy, name="tuned", wish=self.wish, signals=self.chosen)

    def changes(self) -> list[tuple[str, float, float]]:
        """Return (signal, share before, chosen share), the greatest changes first."""
        rows = zip(SIGNALS, shares(self.before).tolist(), shares(self.chosen).tolist(), strict=True)
        return sorted(
            ((name, old, new) for name, old, new in rows if abs(new - old) > 0.0005),
            key=lambda row: -abs(row[2] - row[1]),
        )

    def as_toml(self, judged_by: str) -> str:
        """Return the recommended strategy as a TOML file, with a note on how it was chosen."""
        what = "Signals as before: nothing better on"
        if self.improved:
            what = f"Signals for {self.wish} {'fitted to' if self.fit_counts else 'as preset, better on'}"
            what = what.replace("Signals", "Signals half-way to those", 1) if self.goes_half else what
        said = "\n".join(f"#   {gain}" for gain in self.verdict.gains)
        return (
            f"# {what} {judged_by}; {self.tries} tries, seed {self.seed}.\n# These weights against those before, on pages that "
            f"the fit did not see (95 % intervals):\n{said}\n{self.advice.as_toml()}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the results as plain values."""
        return {
            "for": self.wish, "improved": self.improved, "conflict": self.verdict.conflict, "judged_by": self.judged_by,
            **{name: dict(zip(SIGNALS, weights.weights(), strict=True)) for name, weights in (
                ("before", self.before), ("preset", self.preset), ("fitted", self.fitted)
            )},
            "chosen": "fitted" if self.fit_counts else "preset", "half": self.goes_half,
            "strategy": self.advice.as_dict(), "tries": self.tries, "seconds": round(self.seconds, 1), "seed": self.seed,
            "held_out": {
                **dict(zip(("classes", "sources"), self.judged, strict=True)),
                "gains": [gain_as_dict(gain) for gain in self.verdict.gains],
                "gains_of_preset": [gain_as_dict(gain) for gain in self.by_preset.gains],
                "gains_of_fit_over_preset": [gain_as_dict(gain) for gain in self.by_fit_alone.gains],
            },
        }  # fmt: skip


def _loses_right_pages(verdict: Verdict) -> bool:
    """Return whether recall@10 falls, which is known of links alone."""
    return any(gain.measure == "recall@10" and round(gain.difference, 6) < 0 for gain in verdict.gains)


def halfway(one: Signals, other: Signals) -> Signals:
    """Return the weights in the middle between two."""
    return Signals(*(round(float(each), 4) for each in (shares(one) + shares(other)) / 2))


def gain_as_dict(gain: Gain) -> dict[str, Any]:
    """Return the effect on a measure as plain values."""
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
    """Fit the weights for pages of the same kind, by a directory; `own_pages` as in `evaluate_strategies`."""
    clock = Clock(budget, now)
    own = directory_pages(index.corpus, own_pages)
    bench = make_bench(without_own_pages(index.corpus, directory, own), seed=seed, rounds=1)
    parts, classes = fold_sources(bench, FOLDS, seed)
    scores = SignalScores(index)
    table, places = _table_of_classes(
        scores, bench, draw(np.arange(len(bench.sources)), seed, 2 * SOURCES), clock, progress
    )
    if len(set(parts[places].tolist())) < 2:
        raise DirectoryError(
            "fitting needs at least two second-level classes with several pages each; the tree has none"
        )
    before, preset = index.strategy.signals, PRESETS["default"].signals_for("kin")
    fit = cross_fit(
        table, parts[places], [preset, before, Signals()], seed=seed, more=lambda: clock.spent < FITTING_SHARE
    )
    held_out = with_sources(bench, places, ROUNDS, seed)

    def more(done: int) -> bool:
        progress("judging", done / len(held_out.sources))
        return clock.spent < 0.9

    named: dict[str, Signals | Sequence[Signals]] = {
        "before": before,
        "preset": preset,
        "fitted": [fit.without[part] for part in parts[places].tolist()],
        "half-way to preset": halfway(before, preset),
        "half-way to fitted": [halfway(before, fit.without[part]) for part in parts[places].tolist()],
    }
    judged, judgements = judge_served(scores, held_out, named, ROUNDS, seed, more)
    rankings = draw_rankings(index.corpus, judged, seed, len(judged.sources))
    was, by_preset, by_fit, *halves = (measure_all(one, rankings.scores(one)) for one in judgements)
    progress("judging", 1.0)
    done = SignalTuning(
        "kin", index.strategy, before, preset, fit.weights, judge_change(was, by_preset), judge_change(was, by_fit),
        judge_change(by_preset, by_fit), f"{Path(directory.name).name}, pages of the same class",
        (classes, len(judged.sources)), fit.tries, clock.seconds, seed,
    )  # fmt: skip
    return replace(done, by_half=judge_change(was, halves[int(done.fit_counts)]))


def _table_of_classes(
    scores: SignalScores, bench: Bench, places: Array, clock: Clock, progress: Progress
) -> tuple[SignalTable, Array]:
    """Measure candidates of sources with siblings, within a share of the budget; return the sources' places."""
    documents = scores.documents(bench.urls)
    row_of = np.full(len(scores.index), -1, np.int64)
    row_of[documents[documents >= 0]] = np.flatnonzero(documents >= 0)
    table, measured = SignalTable(), []
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
        measured.append(place)
    progress("measuring", 1.0)
    return table, np.array(measured, np.int64)
