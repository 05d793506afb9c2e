"""Strategies compared with each other: which is best, and whether a difference is more than chance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pagekin.evaluation.experiments import Judgement
from pagekin.evaluation.gamma import REGIONS, holm, interval, p_value
from pagekin.store import Array

CHANCE = 0.05
"""A difference is beyond chance if its probability, corrected for the number of comparisons, is below this."""
_MAIN = ("siblings", "cousins", "unrelated", "overall")
MEASURES = ("somers_d", "gamma")


@dataclass(frozen=True)
class Difference:
    """How much better one strategy is than another by one measure in one region, or one bar of a figure than another."""

    better: str
    other: str
    region: str
    measure: str
    difference: float
    low: float
    high: float
    """The paired 95 % interval."""
    p: float
    """Of a difference as far from 0 by chance, corrected for the number of comparisons (Holm)."""

    @property
    def sure(self) -> bool:
        """Return whether the difference is beyond chance."""
        return self.p < CHANCE


def _correct(differences: list[Difference]) -> list[Difference]:
    """Correct p values for the number of comparisons."""
    corrected = holm([one.p for one in differences])
    return [replace(one, p=p) for one, p in zip(differences, corrected, strict=True)]


def differences(better: Judgement, others: list[Judgement], measure: str = "somers_d") -> list[Difference]:
    """Return how much `better` is better than each other strategy in each region."""
    place = 0 if measure == "gamma" else 1
    compared = []
    for other in others:
        for region in REGIONS:
            values = better.resampled[region][place] - other.resampled[region][place]
            by = getattr(better.agreements[region], measure) - getattr(other.agreements[region], measure)
            compared.append(
                Difference(better.name, other.name, region, measure, by, *interval(values), p_value(values))
            )
    return _correct(compared)


def main_region(judgements: Sequence[Judgement]) -> str | None:
    """Return the region that strategies are compared by: siblings, or the first that has pairs; None if none has."""
    return next((r for r in _MAIN if any(one.agreements[r].pairs for one in judgements)), None)


def compare_with_best(judgements: Sequence[Judgement], region: str | None) -> list[Difference]:
    """Compare the strategy with the highest Somers' D in a region with every other, by both measures in all regions.

    All are of one bench. Equal strategies count once; what has no value is left out.
    """
    if region is None:
        return []
    once = list({id(one.counts): one for one in reversed(judgements)}.values())[::-1]
    held = [one for one in once if math.isfinite(one.agreements[region].somers_d)]
    held.sort(key=lambda one: -one.agreements[region].somers_d)
    return [
        difference
        for measure in MEASURES
        for difference in (differences(held[0], held[1:], measure) if held else ())
        if math.isfinite(difference.difference)
    ]


def summarise_comparisons(comparisons: Sequence[Difference], region: str | None) -> str:
    """Return one line about the best strategy and its closest rival; '' where there is no other."""
    rivals = [one for one in comparisons if (one.region, one.measure) == (region, "somers_d")]
    if not rivals:
        return ""
    first = rivals[0]
    by = f"{first.difference:.3f} [{first.low:.3f}, {first.high:.3f}] (Somers' D, {region}; 95 %, paired)"
    if first.sure:
        return f"{first.better} is better than {first.other} by {by}."
    others = sum(not one.sure for one in rivals) - 1
    more = f" nor from {others} more" if others else ""
    return (
        f"{first.better} comes first; no difference beyond chance, corrected for {len(comparisons):,} comparisons, from "
        f"{first.other}{more}: {by}."
    )


def compare_bars(bars: dict[str, tuple[float, Array]], pairs: Sequence[tuple[str, str]]) -> list[Difference]:
    """Return how much higher the second bar of each pair is than the first, given values and resamples."""
    steps = []
    for first, second in pairs:
        (a, some_a), (b, some_b) = bars[first], bars[second]
        resampled = some_b - some_a
        steps.append(Difference(second, first, "", "", b - a, *interval(resampled), p_value(resampled)))
    return _correct(steps)
