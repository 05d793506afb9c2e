"""Search for better bags on one half of the classes, with a seed, and judge the result on the other half."""

import random
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.bags import PRESETS, BagWorkshop, Strategy, StrategyError, setting_value, settings_table
from pagekin.clusters import Directory, DirectoryError
from pagekin.evaluation.compare import Difference, Verdict, differences, judge_change, measure_all
from pagekin.evaluation.evaluate import (
    bag_workshop,
    directory_pages,
    judgement_as_dict,
    without_own_pages,
)
from pagekin.evaluation.experiments import Bench, Experiment, Judgement, judge_all, make_bench, with_sources
from pagekin.evaluation.fit import gain_as_dict
from pagekin.evaluation.halves import ROUNDS, Clock, draw, split_sources
from pagekin.evaluation.ranking import Scores, draw_rankings
from pagekin.hypertext import Corpus
from pagekin.store import Progress, no_progress

PARTS = ("siblings", "cousins", "unrelated")
SEARCH_SOURCES = 800
"""Sources that a try is judged on, and the winner in the other half, at most; finalists are judged on all for training."""
FINALISTS = 5
_SHAKEN = 3

AXES: dict[str, list[Any]] = tomllib.loads((Path(__file__).parent / "tables" / "axes.toml").read_text(encoding="utf-8"))
"""What is searched: the settings and their values, rising where they are numbers."""


@dataclass(frozen=True)
class Tuning:
    """The result of a search for a better strategy."""

    choice: Strategy
    best_preset: str
    verdict: Verdict
    """What each measure says of the choice against the better preset, on classes that the search did not see."""
    judgements: list[Judgement]
    """The choice and the presets, on the held-out half."""
    scores: list[Scores]
    compared: list[Difference]
    """The choice against each preset, by region, on the held-out half."""
    tries: int
    seconds: float
    training: tuple[int, int]
    """(second-level classes, sources) of the training half."""
    held_out: tuple[int, int]
    seed: int

    @property
    def improved(self) -> bool:
        """Return whether the choice is significantly better than the better preset, and by enough to matter."""
        return self.verdict.better

    @property
    def advice(self) -> Strategy:
        """Return the strategy to use: the choice, or the better preset if the choice is no better."""
        return self.choice if self.improved else PRESETS[self.best_preset]

    def changes(self) -> list[tuple[str, Any, Any]]:
        """Return (setting, the better preset's value, the chosen value) where they differ."""
        before = PRESETS[self.best_preset]
        changes = [
            (name, setting_value(before, name), setting_value(self.choice, name))
            for name, *_rest in settings_table(Strategy)
        ]
        return [(name, old, new) for name, old, new in changes if old != new]

    def as_toml(self, judged_by: str) -> str:
        """Return the recommended strategy as a TOML file, with a note on how it was chosen."""
        what = (
            f"Tuned on {judged_by}"
            if self.improved
            else f"The preset '{self.best_preset}': no better one was found on {judged_by}"
        )
        return (
            f"# {what}: {self.tries} tries, seed {self.seed}.\n"
            f"# On classes that the search did not see, the best of them against '{self.best_preset}' (95 % intervals):\n"
            + "".join(f"#   {gain}\n" for gain in self.verdict.gains)
            + self.advice.as_toml()
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the results as plain values."""
        return {
            "improved": self.improved, "best_preset": self.best_preset, "strategy": self.advice.as_dict(),
            "gains": [gain_as_dict(gain) for gain in self.verdict.gains], "conflict": self.verdict.conflict,
            "tuned": self.choice.as_dict(), "tries": self.tries, "seconds": round(self.seconds, 1), "seed": self.seed,
            "training": dict(zip(("classes", "sources"), self.training, strict=True)),
            "held_out": {
                **dict(zip(("classes", "sources"), self.held_out, strict=True)),
                "strategies": [judgement_as_dict(*pair) for pair in zip(self.judgements, self.scores, strict=True)],
                "differences": [one.as_dict() for one in self.compared],
            },
        }  # fmt: skip


def _mean(values: list[float]) -> float:
    """Return the mean of the values that are numbers; less than any of them if there are none."""
    held = [value for value in values if np.isfinite(value)]
    return float(np.mean(held)) if held else float("-inf")


def tune_strategy(
    corpus: Corpus, directory: Directory, *, own_pages: Sequence[str] = (), budget: float = 60.0, tries: int = 0,
    seed: int = 1, threads: int = 1, now: Callable[[], float] = time.perf_counter, progress: Progress = no_progress,
) -> Tuning:  # fmt: skip
    """Search for `budget` seconds, including judging, or for exactly `tries` tries, and judge the best strategy.

    `own_pages` are as in `evaluate_strategies`; `now` is the clock.
    """
    clock = Clock(budget, now)
    own = directory_pages(corpus, own_pages)
    bench = make_bench(without_own_pages(corpus, directory, own), seed=seed, rounds=1)
    in_training, training_classes, other_classes = split_sources(bench, seed)
    train, other = np.flatnonzero(in_training), np.flatnonzero(~in_training)
    if not len(train) or not len(other):
        raise DirectoryError(
            "tuning needs at least two second-level classes, one to learn from and one to judge by; the tree has one"
        )
    other = np.sort(draw(other, seed, SEARCH_SOURCES))
    some = train
    if len(train) > SEARCH_SOURCES:
        some = np.sort(np.random.default_rng(seed).choice(train, SEARCH_SOURCES, replace=False))
    with bag_workshop(corpus, bench.directory, threads, own) as workshop:
        search = Search(corpus, with_sources(bench, some, 1, seed), workshop, threads, seed, now)
        # What is still to be done after the search: the winner and the presets are judged by the other half.
        judged_at_the_end = (len(PRESETS) + 1) * max(1.0, len(other) / len(some))
        for _nothing in search.run():
            reserve = (judged_at_the_end + 1) * search.seconds_per_try  # and one more try
            spent = search.tries / tries if tries else (clock.seconds + reserve) / budget
            progress("searching", min(1.0, spent))
            if spent >= 1 and search.tries >= len(PRESETS):
                break
        progress("searching", 1.0)
        judge_again = Search(corpus, with_sources(bench, train, 1, seed), workshop, threads, seed, now)
        affordable = FINALISTS
        if len(some) == len(train):
            judge_again = search  # all of the half was judged by already
        elif not tries:
            cost = search.seconds_per_try * len(train) / len(some)
            affordable = int((clock.left - judged_at_the_end * search.seconds_per_try) / max(cost, 1e-9)) - len(PRESETS)
        if affordable < 2:
            judge_again = search
        elif judge_again is not search:
            finalists = search.best(min(FINALISTS, affordable))
            for done, strategy in enumerate([*finalists, *PRESETS.values()]):
                progress("finalists", done / (len(finalists) + len(PRESETS)))
                judge_again.score(strategy)
        progress("finalists", 1.0)
        choice = judge_again.best(1)[0]
        best_preset = max(PRESETS, key=lambda name: judge_again.score(PRESETS[name]))
        held_out = with_sources(bench, other, ROUNDS, seed)
        experiment = Experiment(corpus, held_out, workshop, threads)
        rankings = draw_rankings(corpus, held_out, seed)
        judgements = judge_all(experiment, {"tuned": choice, **PRESETS}, progress)
    scores = [rankings.scores(one) for one in judgements]
    measured = {one.name: measure_all(one, ranked) for one, ranked in zip(judgements, scores, strict=True)}
    return Tuning(
        replace(choice, name="tuned"), best_preset, judge_change(measured[best_preset], measured["tuned"]), judgements,
        scores, differences(judgements[0], judgements[1:]), search.tries, clock.seconds, (training_classes, len(train)),
        (other_classes, len(other)), seed,
    )  # fmt: skip


class Search:
    """A walk through the settings: each in turn to the best neighbouring value; when stuck, a few at random."""

    def __init__(
        self, corpus: Corpus, bench: Bench, workshop: BagWorkshop, threads: int, seed: int, now: Callable[[], float]
    ) -> None:
        self._experiment = Experiment(corpus, bench, workshop, threads)
        self._rankings = draw_rankings(corpus, bench, seed)
        self._random = random.Random(seed)
        self._scores: dict[str, tuple[float, Strategy]] = {}
        self._now = now
        self._seconds: list[float] = []

    @property
    def tries(self) -> int:
        """Return the number of distinct strategies judged."""
        return len(self._scores)

    @property
    def seconds_per_try(self) -> float:
        """Return the median seconds of a try, without the first, which makes the shared stages."""
        return float(np.median(self._seconds[1:] or self._seconds or [0.0]))

    def score(self, strategy: Strategy) -> float:
        """Score a strategy: half nDCG@10, for the first places, half the mean Somers' D of three regions, for all."""
        key = strategy.digest()
        if key not in self._scores:
            started = self._now()
            judgement = self._experiment.judge(strategy.name, strategy)
            whole = _mean([judgement.agreements[region].somers_d for region in PARTS])
            self._scores[key] = _mean([whole, self._rankings.scores(judgement).ndcg10]), strategy
            self._seconds.append(self._now() - started)
        return self._scores[key][0]

    def best(self, count: int) -> list[Strategy]:
        """Return the best strategies so far; of equals, the earlier first."""
        ranked = sorted(self._scores.values(), key=lambda pair: -pair[0])
        return [strategy for _score, strategy in ranked[:count]]

    def run(self) -> Iterator[None]:
        """Judge one strategy after another, without end, yielding after each."""
        for strategy in PRESETS.values():
            self.score(strategy)
            yield
        here = self.best(1)[0]
        stuck = 0
        while True:
            names = list(AXES)
            if stuck:
                self._random.shuffle(names)
            moved = False
            for name in names:
                ahead = self._neighbours(here, name)
                while ahead:
                    candidate = ahead.pop(0)
                    known = self.tries
                    better = self.score(candidate) > self.score(here)
                    if self.tries > known:
                        yield
                    if better:
                        here, moved = candidate, True
                        ahead = self._neighbours(here, name)
            if not moved:
                stuck += 1
                here = self._shake(self.best(1)[0])
                self.score(here)
                yield

    def _neighbours(self, strategy: Strategy, name: str) -> list[Strategy]:
        """Return the strategies with the next lower and higher value of a number, or with every other choice.

        What was judged already costs nothing again, so that a walk in one direction goes on.
        """
        values = AXES[name]
        now = setting_value(strategy, name)
        if isinstance(values[-1], str):
            wanted = [value for value in values if value != now]
        else:
            wanted = [
                max((v for v in values if v < now), default=None),
                min((v for v in values if v > now), default=None),
            ]
        return [
            neighbour
            for value in wanted
            if value is not None and (neighbour := _change_settings(strategy, {name: value}))
        ]

    def _shake(self, strategy: Strategy) -> Strategy:
        """Return the strategy with a few random settings."""
        while True:
            names = self._random.sample(list(AXES), _SHAKEN)
            shaken = _change_settings(strategy, {name: self._random.choice(AXES[name]) for name in names})
            if shaken and shaken.digest() not in self._scores:
                return shaken


def _change_settings(strategy: Strategy, settings: dict[str, Any]) -> Strategy | None:
    try:
        return strategy.with_settings(settings)
    except StrategyError:  # nothing would be left in the bags
        return None
