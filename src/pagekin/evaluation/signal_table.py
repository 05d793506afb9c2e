"""Tables of sources with the signals of their candidates, to fit weights on some and judge them on others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pagekin.bags import Signals
from pagekin.evaluation.served import SignalScores, shares
from pagekin.similarity import SIGNALS, score_signals
from pagekin.store import Array

TOP = 10
FOLDS = 5
"""Parts into which classes, or pages, are divided: each is judged by weights that were fitted to the others."""
POOL = 300
"""Weights that are tried, at most."""
_SPREADS = (3.0, 10.0, 30.0)
"""How close to a preset weights are drawn: the sum of the parameters of Dirichlet's distribution."""
_FLOOR = 0.3
"""Added to each of these parameters, so that a signal without weight in a preset may get some."""
_AVERAGED = 20
"""The best of the weights that were tried are averaged, since the very best of them is so by chance, …"""
_CLOSE = 0.01
"""… each by how near it comes to the best: 1 / e of its share for so much nDCG@10 less."""
_STEPS = (0.25, 0.5, 0.75, 1.0)
"""Parts of the way from the preset to this average that are tried."""
_MANY, _NEAR = 60, 0.02
"""The same two for `fit_repeatedly`, which goes all of the way to the average: a wider one errs less."""
REPEATS = 3
"""How often sources are divided anew, since what a fit gains also depends on the division."""
_DISCOUNT = 1 / np.log2(np.arange(2, TOP + 2))
Weights = npt.NDArray[np.float64]
"""Shares of the signals, in the order of SIGNALS."""


class SignalTable:
    """The candidates of some sources with signals and grades, so that weights are judged without new measuring."""

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
        self._rectangles: tuple[Array, Array, Array] | None = None

    def __len__(self) -> int:
        return len(self.sources)

    def add(
        self, scores: SignalScores, source: int, of_class: int, candidates: Array, grades: Array, all_grades: Array
    ) -> None:
        """Measure the candidates of a source; `all_grades` are the grades of all documents."""
        values, worth = scores.measure(source, candidates)
        best = np.sort(all_grades)[::-1][:TOP]
        self.sources.append(source)
        self.classes.append(of_class)
        self.documents.append(candidates)
        self.grades.append(grades)
        self._values.append(values)
        self._worth.append(worth)
        self._ideal.append(float(best @ _DISCOUNT[: len(best)]))
        self._rectangles = None

    def select(self, places: Array) -> "SignalTable":
        """Return the table of some of the sources."""
        part = SignalTable()
        for name in ("sources", "classes", "documents", "grades", "_values", "_worth", "_ideal"):
            setattr(part, name, [getattr(self, name)[place] for place in places.tolist()])
        return part

    def scores(self, place: int, weights: Weights) -> npt.NDArray[np.float64]:
        """Return the scores of a source's candidates, given shares of the signals."""
        return score_signals(self._values[place], weights, self._worth[place])

    def _all(self) -> tuple[Array, Array, Array]:
        """Return (signals, worth, grades) of all sources as arrays, padded with candidates of no worth."""
        if self._rectangles is None:
            width = max([TOP, *map(len, self.documents)])
            signals = np.zeros((len(self), width, len(SIGNALS)), np.float32)
            worth, grades = np.zeros((2, len(self), width), np.float32)
            for place, documents in enumerate(self.documents):
                row = place, slice(len(documents))
                signals[row], worth[row], grades[row] = self._values[place], self._worth[place], self.grades[place]
            self._rectangles = signals, worth, grades
        return self._rectangles

    def ndcg(self, weights: Weights) -> npt.NDArray[np.float64]:
        """Return nDCG@10 of each source, equal to that of `Rankings`, but fast enough for a search.

        Cost: some 10 ms for 400 sources. Scores are in single precision.
        """
        if not len(self):
            return np.zeros(0)
        signals, worth, grades = self._all()
        scores = score_signals(signals, np.asarray(weights, np.float32), worth)
        top = np.argpartition(-scores, TOP - 1, axis=1)[:, :TOP]
        top.sort(axis=1)
        order = np.argsort(-np.take_along_axis(scores, top, 1), axis=1, kind="stable")
        top = np.take_along_axis(top, order, 1)
        gains = np.take_along_axis(grades, top, 1) * (np.take_along_axis(scores, top, 1) > 0)
        return np.asarray(gains @ _DISCOUNT / np.array(self._ideal))


def draw_weights(presets: Sequence[Signals], fixed: Sequence[str], count: int, seed: int) -> list[Weights]:
    """Return `count` weights: the presets, each free signal alone, and random ones around the presets.

    The signals in `fixed` keep their share in the first preset. No page is looked at, so these weights may be tried on pages
    that judge.
    """
    rng = np.random.default_rng(seed)
    free = np.array([name not in fixed for name in SIGNALS])
    first = shares(presets[0])
    room = float(first[free].sum())

    def fill(some: Weights) -> Weights:
        weights = first.copy()
        weights[free] = some[free] * room / some[free].sum()
        return weights

    centres = [one for one in map(shares, presets) if one[free].sum() > 0]
    drawn = [fill(one) for one in centres] + [fill(one) for one in np.eye(len(SIGNALS))[free]]
    while len(drawn) < count:
        centre = centres[rng.integers(len(centres))]
        drawn.append(fill(rng.dirichlet(_SPREADS[rng.integers(len(_SPREADS))] * centre + _FLOOR)))
    return drawn


@dataclass(frozen=True)
class CrossFit:
    """Weights fitted to all sources, and for each part of them, weights fitted to the other parts."""

    weights: Signals
    without: tuple[Signals, ...]
    """By part: the weights that do not know it."""
    tries: int


def _try_weights(
    table: SignalTable, pool: Sequence[npt.NDArray[np.float64]], least: int, more: Callable[[], bool]
) -> npt.NDArray[np.float64]:
    """Return (weights, sources): the nDCG of each source by weights of a pool, as many as there is time for."""
    tried: list[npt.NDArray[np.float64]] = []
    for weights in pool:
        if len(tried) > least and not more():
            break
        tried.append(table.ndcg(weights))
    return np.stack(tried)


def cross_fit(
    table: SignalTable, parts: Array, presets: Sequence[Signals], fixed: Sequence[str] = (), seed: int = 1,
    more: Callable[[], bool] = lambda: True,
) -> CrossFit:  # fmt: skip
    """Fit weights to all sources of a table, and to those outside each of the `parts`.

    The same drawn weights are tried for all. Of the best an average is taken, and from the first preset one goes as far
    towards it as gains most nDCG@10, less one standard error by classes; where nothing gains more than that, the preset stays.
    """
    pool = draw_weights(presets, fixed, POOL, seed)
    ndcg = _try_weights(table, pool, len(presets), more)

    def fit(mask: Array) -> Signals:
        gains = (ndcg[:, mask] - ndcg[0, mask]).mean(axis=1)
        best = np.argsort(-gains, kind="stable")[:_AVERAGED]
        share = np.exp((gains[best] - gains[best[0]]) / _CLOSE)
        goal = np.average(np.stack([pool[place] for place in best]), axis=0, weights=share)
        fitted, sure = pool[0], 0.0
        for step in _STEPS:
            weights = (1 - step) * pool[0] + step * goal
            each = (table.ndcg(weights) - ndcg[0])[mask]
            gain = float(each.mean()) - class_error(each, np.array(table.classes)[mask])
            if gain > sure:
                fitted, sure = weights, gain
        return Signals(*(round(float(one), 4) for one in fitted))

    every = np.ones(len(table), np.bool_)
    names = range(int(parts.max(initial=-1)) + 1)
    without = tuple(fit(parts != name) if np.any(parts != name) else presets[0] for name in names)
    return CrossFit(fit(every), without, len(ndcg))


@dataclass(frozen=True)
class RepeatedFit:
    """Weights fitted to all sources, and for several divisions of these, weights fitted to the other parts."""

    weights: Signals
    without: tuple[tuple[Signals, ...], ...]
    """By division, for each source: weights that know neither it nor the others of its part."""
    parts: npt.NDArray[np.int64]
    """(divisions, sources): the part of each source."""
    tries: int


def fit_repeatedly(
    table: SignalTable, presets: Sequence[Signals], seed: int = 1, more: Callable[[], bool] = lambda: True
) -> RepeatedFit:
    """Fit the weights of all signals to a table's sources, and to those outside each part of several divisions.

    The fit is the average of the best weights that were tried, which are drawn around the presets.
    """
    pool = draw_weights(presets, (), POOL, seed)
    ndcg = _try_weights(table, pool, len(presets), more)

    def fit(mask: Array) -> Signals:
        values = ndcg[:, mask].mean(axis=1)
        best = np.argsort(-values, kind="stable")[:_MANY]
        share = np.exp((values[best] - values[best[0]]) / _NEAR)
        goal = np.average(np.stack([pool[place] for place in best]), axis=0, weights=share)
        return Signals(*(round(float(one), 4) for one in goal))

    parts = np.stack([np.random.default_rng(seed + each).permutation(len(table)) % FOLDS for each in range(REPEATS)])
    without = []
    for division in parts:
        by_part = [fit(division != part) if np.any(division != part) else presets[0] for part in range(FOLDS)]
        without.append(tuple(by_part[part] for part in division.tolist()))
    return RepeatedFit(fit(np.ones(len(table), np.bool_)), tuple(without), parts, len(ndcg))


def class_error(values: Array, classes: Array) -> float:
    """Return the standard error of a mean whose values are correlated within classes."""
    _names, place = np.unique(classes, return_inverse=True)
    return float(np.sqrt(np.sum(np.bincount(place, values - values.mean()) ** 2))) / len(values)
