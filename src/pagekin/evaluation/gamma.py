"""Measure how a similarity agrees with a directory: Γ by region, Somers' D, orthogonality, intervals (2.2, 2.3)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pagekin.store import Array

REGIONS = ("overall", "siblings", "cousins", "unrelated")


@dataclass(frozen=True)
class PairCounts:
    """Pairs of documents, counted by their distances i < j from a source: arrays (sources, levels, levels)."""

    concordant: npt.NDArray[np.int64]
    discordant: npt.NDArray[np.int64]
    tied: npt.NDArray[np.int64]
    orthogonal: npt.NDArray[np.int64]
    """(sources, 2): documents of the source's class, and those of them with similarity 0."""

    def restrict_to(self, sources: Array) -> "PairCounts":
        """Return the counts with 0 for sources outside a mask."""
        wide = sources[:, None, None]
        return PairCounts(
            self.concordant * wide, self.discordant * wide, self.tied * wide, self.orthogonal * sources[:, None]
        )

    def region(self, name: str) -> tuple[Array, Array, Array]:
        """Return (concordant, discordant, tied) of each source in a region of the ordering."""
        parts = [self.concordant, self.discordant, self.tied]
        if name == "overall":
            counts = [part.sum(axis=(1, 2)) for part in parts]
        else:
            level = region_level(name, self.concordant.shape[1] - 1)
            counts = [part[:, 0, level] for part in parts]
        return counts[0], counts[1], counts[2]


def region_level(name: str, depth: int) -> int:
    """Return the familial distance that a region compares with documents of the same class.

    In a tree of two levels the cousins are the unrelated ones: nothing but the root is above both.
    """
    return {"siblings": 1, "cousins": min(2, depth), "unrelated": depth}[name]


def gamma(concordant: Array | float, discordant: Array | float) -> Array:
    """Return Γ (definition 3) of counts: (C - D) / (C + D); nan where nothing is compared."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.divide(concordant - discordant, concordant + discordant)


def somers_d(concordant: Array | float, discordant: Array | float, tied: Array | float) -> Array:
    """Return Somers' D: like Γ, but tied pairs count as 0; nan if there are no pairs."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.divide(concordant - discordant, concordant + discordant + tied)


@dataclass(frozen=True)
class Agreement:
    """The agreement of a strategy with a directory in one region, over all sources."""

    gamma: float
    low: float
    high: float
    """The 95 % interval of Γ, by resampling classes."""
    somers_d: float
    somers_low: float
    somers_high: float
    pairs: int
    """Pairs that both orderings order."""
    tied: float
    """The share of pairs of different familial distance that the similarity ties."""


class ClassBootstrap:
    """Resamples of the sources' classes, the same for all strategies, so that differences are paired."""

    def __init__(self, source_class: Array, rounds: int = 1000, seed: int = 1) -> None:
        self.classes, self._of = np.unique(source_class, return_inverse=True)
        count = len(self.classes)
        drawn = np.random.default_rng(seed).integers(0, count, (rounds, count)) if count else np.zeros((rounds, 0), int)
        self._times = np.zeros((rounds, count), dtype=np.float64)
        for row, picks in zip(self._times, drawn, strict=True):
            row += np.bincount(picks, minlength=count)

    def __len__(self) -> int:
        return len(self._times)

    def sums(self, per_source: Array) -> tuple[float, Array]:
        """Return (sum over all sources, sum in each resample)."""
        by_class = np.bincount(self._of, per_source.astype(np.float64), len(self.classes))
        return float(by_class.sum()), self._times @ by_class

    def agreement(self, counts: PairCounts, region: str) -> tuple[Agreement, Array, Array]:
        """Return (agreement in a region, Γ of each resample, Somers' D of each), pooled over sources."""
        c, d, t = counts.region(region)
        (c_all, c_some), (d_all, d_some), (t_all, t_some) = self.sums(c), self.sums(d), self.sums(t)
        gammas, somers = gamma(c_some, d_some), somers_d(c_some, d_some, t_some)
        everything = c_all + d_all + t_all
        return (
            Agreement(
                float(gamma(c_all, d_all)),
                *interval(gammas),
                float(somers_d(c_all, d_all, t_all)),
                *interval(somers),
                int(c_all + d_all),
                t_all / everything if everything else float("nan"),
            ),
            gammas,
            somers,
        )


def interval(resampled: Array) -> tuple[float, float]:
    """Return the 95 % percentile interval of resampled values; (nan, nan) if there are none."""
    held = resampled[np.isfinite(resampled)]
    if not len(held):
        return float("nan"), float("nan")
    low, high = np.quantile(held, [0.025, 0.975])
    return float(low), float(high)


def p_value(differences: Array) -> float:
    """Return the two-sided bootstrap p value of a difference from 0."""
    held = differences[np.isfinite(differences)]
    if not len(held):
        return 1.0
    at_most = (1 + np.count_nonzero(held <= 0)) / (1 + len(held))
    at_least = (1 + np.count_nonzero(held >= 0)) / (1 + len(held))
    return float(min(1.0, 2 * min(at_most, at_least)))


def holm(p_values: list[float]) -> list[float]:
    """Correct the p values of several comparisons by Holm's method."""
    values = np.array(p_values)
    order = np.argsort(values, kind="stable")
    corrected = np.minimum(1.0, np.arange(len(values), 0, -1) * values[order])
    values[order] = np.maximum.accumulate(corrected)
    return [float(value) for value in values]


def kendall_tau(a: Array, b: Array) -> float:
    """Return Kendall's τ-b of two lists of values; nan if either is constant."""
    x, y = np.sign(a[:, None] - a[None, :]), np.sign(b[:, None] - b[None, :])
    above = np.triu_indices(len(a), 1)
    product, ties_a, ties_b = (x * y)[above], x[above] != 0, y[above] != 0
    norm = np.sqrt(np.count_nonzero(ties_a) * np.count_nonzero(ties_b))
    return float(product.sum() / norm) if norm else float("nan")
