"""Strategies compared with each other: which is best, and whether a difference is more than chance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt

from pagekin.evaluation.experiments import Difference, Judgement, differences
from pagekin.evaluation.gamma import holm, interval, p_value

Array = npt.NDArray[Any]
CHANCE = 0.05
"""A difference is beyond chance if its probability, corrected for the number of comparisons, is below this."""
_MAIN = ("siblings", "cousins", "unrelated", "overall")
MEASURES = ("somers_d", "gamma")


def main_region(judgements: Sequence[Judgement]) -> str | None:
    """Return the region that strategies are compared by: siblings, or the first that has pairs; None if none has."""
    return next((r for r in _MAIN if any(one.agreements[r].pairs for one in judgements)), None)


@dataclass(frozen=True)
class Comparison:
    """The best strategy compared with another."""

    better: str
    other: str
    difference: Difference

    @property
    def sure(self) -> bool:
        """Return whether the difference is beyond chance."""
        return self.difference.p < CHANCE


def compare_with_best(judgements: Sequence[Judgement], region: str | None) -> list[Comparison]:
    """Compare the strategy with the highest Somers' D in a region with every other, by both measures in all regions.

    All are of one bench. Equal strategies count once; what has no value is left out.
    """
    if region is None:
        return []
    once = list({id(one.counts): one for one in reversed(judgements)}.values())[::-1]
    held = [one for one in once if math.isfinite(one.agreements[region].somers_d)]
    held.sort(key=lambda one: -one.agreements[region].somers_d)
    return [
        Comparison(held[0].name, other, difference)
        for measure in MEASURES
        for other, several in (differences(held[0], held[1:], measure).items() if held else ())
        for difference in several
        if math.isfinite(difference.difference)
    ]


def summarise_comparisons(comparisons: Sequence[Comparison], region: str | None) -> str:
    """Return one line about the best strategy and its closest rival; '' where there is no other."""
    rivals = [one for one in comparisons if (one.difference.region, one.difference.measure) == (region, "somers_d")]
    if not rivals:
        return ""
    first = rivals[0]
    by = f"{first.difference.difference:.3f} [{first.difference.low:.3f}, {first.difference.high:.3f}]"
    by += f" (Somers' D, {region}; 95 %, paired)"
    if first.sure:
        return f"{first.better} is better than {first.other} by {by}."
    others = sum(not one.sure for one in rivals) - 1
    more = f" nor from {others} more" if others else ""
    return (
        f"{first.better} comes first; no difference beyond chance, corrected for {len(comparisons):,} comparisons, from "
        f"{first.other}{more}: {by}."
    )


@dataclass(frozen=True)
class Step:
    """How much higher one bar of a figure is than another."""

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float

    @property
    def sure(self) -> bool:
        """Return whether the difference is beyond chance."""
        return self.p < CHANCE


def compare_bars(bars: dict[str, tuple[float, Array]], pairs: Sequence[tuple[str, str]]) -> list[Step]:
    """Return the differences of pairs of bars, given values and resamples; p values are corrected for their number."""
    differences = []
    for first, second in pairs:
        (a, some_a), (b, some_b) = bars[first], bars[second]
        resampled = some_b - some_a
        differences.append(Step(first, second, b - a, *interval(resampled), p_value(resampled)))
    return [replace(step, p=p) for step, p in zip(differences, holm([step.p for step in differences]), strict=True)]
