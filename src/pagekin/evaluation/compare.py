"""Compare strategies: which is best, and whether a difference is significant."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pagekin.evaluation.experiments import Judgement
from pagekin.evaluation.gamma import REGIONS, holm, interval, p_value
from pagekin.evaluation.ranking import Scores
from pagekin.store import Array
from pagekin.wording import format_measure, plural

CHANCE = 0.05
"""A difference is beyond chance if its probability, corrected for the number of comparisons, is below this."""
LEAST_EFFECT = 0.005
"""A gain in nDCG@10 below this is not called better: no reader would notice it."""
_MAIN = ("siblings", "cousins", "unrelated", "overall")
MEASURES = ("somers_d", "gamma")
RANKED = ("ndcg10", "map")
MEASURE_NAMES = {"somers_d": "Somers' D", "gamma": "Γ", "ndcg10": "nDCG@10", "map": "MAP"}
"""As people write them."""


@dataclass(frozen=True)
class Difference:
    """The difference between two strategies by one measure in one region, or between two bars of a figure.

    In a comparison with the best, `first` is the best by the measure that decides; another measure may see it differently.
    """

    first: str
    second: str
    region: str
    """Empty for measures of a whole ranking."""
    measure: str
    difference: float
    """The value of the first minus that of the second."""
    low: float
    high: float
    """The paired 95 % interval."""
    p: float
    """Of a difference as far from 0 by chance, corrected for the number of comparisons (Holm)."""

    @property
    def sure(self) -> bool:
        """Return whether the difference is significant."""
        return self.p < CHANCE

    @property
    def verdict(self) -> str:
        """Return which of the two is better by this measure, or that it may be chance."""
        if not self.sure:
            return "may be chance"
        return f"{self.first if self.difference > 0 else self.second} is better"

    @property
    def by(self) -> str:
        """Return the name of the measure, with its region."""
        name = MEASURE_NAMES.get(self.measure, self.measure)
        return f"{name}, {self.region}" if self.region else name

    @property
    def range(self) -> str:
        """Return the interval for people."""
        return f"{format_measure(self.low, '+')} to {format_measure(self.high, '+')}"

    def as_dict(self) -> dict[str, Any]:
        """Return the difference as plain values, with None for nan."""
        values = finite_values(asdict(self))
        return {**values, "beyond_chance": self.sure, "verdict": self.verdict}


def finite_or_none(value: float) -> float | None:
    """Return a number for JSON, with None for nan."""
    return round(value, 6) if math.isfinite(value) else None


def finite_values(values: dict[str, Any]) -> dict[str, Any]:
    """Return values for JSON, with None for nan."""
    return {name: finite_or_none(value) if isinstance(value, float) else value for name, value in values.items()}


def _correct(differences: list[Difference]) -> list[Difference]:
    """Correct p values for the number of comparisons."""
    corrected = holm([one.p for one in differences])
    return [replace(one, p=p) for one, p in zip(differences, corrected, strict=True)]


def differences(first: Judgement, others: list[Judgement], measure: str = "somers_d") -> list[Difference]:
    """Return the differences between `first` and each other strategy, in each region."""
    place = 0 if measure == "gamma" else 1
    compared = []
    for other in others:
        for region in REGIONS:
            values = first.resampled[region][place] - other.resampled[region][place]
            by = getattr(first.agreements[region], measure) - getattr(other.agreements[region], measure)
            compared.append(Difference(first.name, other.name, region, measure, by, *interval(values), p_value(values)))
    return _correct(compared)


def main_region(judgements: Sequence[Judgement]) -> str | None:
    """Return the region for comparing strategies: siblings, or the first that has pairs; None if none has."""
    return next((r for r in _MAIN if any(one.agreements[r].pairs for one in judgements)), None)


def compare_with_best(
    judgements: Sequence[Judgement], region: str | None, scores: Mapping[str, Scores]
) -> list[Difference]:
    """Compare the strategy with the highest Somers' D in a region with all others, by all measures and regions.

    All are of one bench. Equal strategies count once; what has no value is left out.
    """
    if region is None:
        return []
    once = list({id(one.counts): one for one in reversed(judgements)}.values())[::-1]
    held = [one for one in once if math.isfinite(one.agreements[region].somers_d)]
    held.sort(key=lambda one: -one.agreements[region].somers_d)
    if not held:
        return []
    compared = [one for measure in MEASURES for one in differences(held[0], held[1:], measure)]
    compared += [one for measure in RANKED for one in _ranked_differences(held, measure, scores)]
    return [one for one in compared if math.isfinite(one.difference)]


def _ranked_differences(held: Sequence[Judgement], measure: str, scores: Mapping[str, Scores]) -> list[Difference]:
    """Return the differences of the first strategy from each other, by nDCG@10 or MAP."""
    place = RANKED.index(measure)
    first = scores[held[0].name]
    compared = []
    for other in held[1:]:
        values = first.resampled[place] - scores[other.name].resampled[place]
        by = getattr(first, measure) - getattr(scores[other.name], measure)
        compared.append(Difference(held[0].name, other.name, "", measure, by, *interval(values), p_value(values)))
    return _correct(compared)


def differences_by_rival(comparisons: Sequence[Difference], region: str | None) -> dict[str, list[Difference]]:
    """Return the differences to show by the other strategy, the closest first.

    With a single other strategy these are all; with several those in one region and of rankings, so that they fit a row.
    """
    by_rival: dict[str, list[Difference]] = {}
    for one in comparisons:
        by_rival.setdefault(one.second, []).append(one)
    if len(by_rival) == 1:
        return by_rival
    return {name: [one for one in some if one.region in (region, "")] for name, some in by_rival.items()}


def summarise_comparisons(comparisons: Sequence[Difference], region: str | None) -> str:
    """Return the conclusion: whether the best strategy is better beyond chance, and whether measures disagree.

    It is '' if there is nothing to compare.
    """
    rivals = [one for one in comparisons if (one.region, one.measure) == (region, "somers_d")]
    if not rivals:
        return ""
    closest = rivals[0]
    by = f"{format_measure(closest.difference)} {_brackets(closest.low, closest.high)}"
    contrary = f"{_beyond_chance(comparisons, closest.second, -1)}{_contrary(comparisons)}"
    if closest.sure:
        return (
            f"{closest.first} is better than {closest.second}, beyond chance, by {by} (Somers' D, {region}; 95 %, paired)."
            f"{contrary}"
        )
    corrected = sum(one.measure == "somers_d" for one in comparisons)
    sure = [one for one in comparisons if one.sure and one.measure != "gamma"]
    if len(rivals) == 1 and sure and all(one.difference <= -LEAST_EFFECT for one in sure):
        # What decides the order may be chance, and all that is sure says the opposite: that is the answer.
        return (
            f"{closest.second} is better than {closest.first}, beyond chance, by {_listing(map(_reversed, sure))}. Only by "
            f"Somers' D {region}, which orders strategies, {closest.first} comes first, and that may be chance: {by} (95 %, "
            f"paired; corrected for {plural(corrected, 'comparison')})."
        )
    others = sum(not one.sure for one in rivals) - 1
    more = f" nor from {others} more" if others else ""
    return (
        f"{closest.first} comes first; by Somers' D {region} no difference beyond chance, corrected for "
        f"{plural(corrected, 'comparison')} (regions and strategies), from {closest.second}{more}: {by} (95 %, paired)."
        f"{_beyond_chance(comparisons, closest.second, 1)}{contrary}"
    )


def _brackets(low: float, high: float) -> str:
    return f"[{format_measure(low)}, {format_measure(high)}]"


def _beyond_chance(comparisons: Sequence[Difference], rival: str, sign: int) -> str:
    """Return a sentence if the first strategy is significantly better (worse, if `sign` is -1) than a rival, else ''.

    Γ is left out, because it says of a region what Somers' D says; worse rankings are what `_contrary` tells of.
    """
    measures = ("somers_d", *RANKED) if sign > 0 else ("somers_d",)
    named = [
        one
        for one in comparisons
        if one.measure in measures and one.second == rival and one.sure and sign * one.difference > 0
    ]
    how = "better" if sign > 0 else "worse"
    return f" It is {how}, beyond chance, by {_listing(named)}." if named else ""


def _reversed(one: Difference) -> Difference:
    """Return a difference as seen from the second strategy."""
    return replace(one, first=one.second, second=one.first, difference=-one.difference, low=-one.high, high=-one.low)


def _listing(differences: Iterable[Difference]) -> str:
    """Return differences as a list in a sentence: the measure of each, its value and interval."""
    named = [
        f"{one.by.replace(', ', ' ')} ({format_measure(one.difference)} {_brackets(one.low, one.high)})"
        for one in differences
    ]
    return f"{', '.join(named[:-1])}{' and ' * bool(named[1:])}{named[-1]}"


def _contrary(comparisons: Sequence[Difference]) -> str:
    """Return a sentence if the first strategy ranks significantly worse than another, else ''."""
    worse = [one for one in comparisons if one.measure == "ndcg10" and one.sure and one.difference <= -LEAST_EFFECT]
    if not worse:
        return ""
    most = min(worse, key=lambda one: one.difference)
    others = f", and {len(worse) - 1} more {'is' if len(worse) == 2 else 'are'}" if worse[1:] else ""
    return (
        f" The measures disagree: by nDCG@10 {most.second} is better than {most.first}, beyond chance, by "
        f"{format_measure(-most.difference)} {_brackets(-most.high, -most.low)}{others}. nDCG@10 tells of the first ten "
        "places, which readers see; Somers' D of the whole order."
    )


def explain_served(served: str, scores: Mapping[str, Scores], for_kin: float) -> str:
    """Return a sentence if the served score is below bags by nDCG@10, with what weights for kin reach; else ''.

    `for_kin` is nDCG@10 of the same sources by weights for kin, nan if it was not measured.
    """
    others = {name: one.ndcg10 for name, one in scores.items() if name != served and math.isfinite(one.ndcg10)}
    best = max(others, key=others.__getitem__, default="")
    if served not in scores or not best or not scores[served].ndcg10 < others[best] or not math.isfinite(for_kin):
        return ""
    own, kin = format_measure(scores[served].ndcg10), format_measure(for_kin)
    below = f"{served} is below {best} (nDCG@10 {own} against {format_measure(others[best])})"
    if for_kin <= scores[served].ndcg10:
        return f"{below}; with the weights for kin (--for kin) it is not better, {kin}."
    return (
        f"{below}, and reaches {kin} with the weights for kin (--for kin): the served weights also look for see-also pages, "
        "which a directory does not know."
    )


def explain_overall(gammas: Mapping[str, Mapping[str, float]]) -> str:
    """Return a sentence if Γ is negative overall but positive in every region, given Γ by strategy and region; else ''."""
    below = []
    for name, by_region in gammas.items():
        regions = [by_region[region] for region in REGIONS[1:] if math.isfinite(by_region[region])]
        if by_region["overall"] < 0 and regions and min(regions) > 0:
            below.append(name)
    if not below:
        return ""
    return (
        f"Γ of {', '.join(below)} is below 0 overall but above 0 in each region: the regions compare a page's own class with "
        "other classes, overall also compares these others with each other, such as siblings with unrelated pages."
    )


def compare_bars(bars: dict[str, tuple[float, Array]], pairs: Sequence[tuple[str, str]]) -> list[Difference]:
    """Return the differences between the bars of each pair, given values and resamples."""
    steps = []
    for first, second in pairs:
        (a, some_a), (b, some_b) = bars[first], bars[second]
        resampled = some_b - some_a
        steps.append(Difference(second, first, "", "", b - a, *interval(resampled), p_value(resampled)))
    return _correct(steps)


# -- better or not ------------------------------------------------------------------------------------------------------

Measured = dict[str, tuple[float, Array]]
"""By the name of a measure: its value, and that of each resample; the measure that decides first."""


def measure_all(judgement: Judgement, scores: Scores) -> Measured:
    """Return all measures of a judgement: of the first places, and of the whole order."""
    overall, (gammas, somers) = judgement.agreements["overall"], judgement.resampled["overall"]
    return {
        "nDCG@10": (scores.ndcg10, scores.resampled[0]), "MAP": (scores.map, scores.resampled[1]),
        "Γ": (overall.gamma, gammas), "Somers' D": (overall.somers_d, somers),
    }  # fmt: skip


@dataclass(frozen=True)
class Gain:
    """The effect of a change on one measure."""

    measure: str
    before: float
    after: float
    low: float
    high: float
    """The paired 95 % interval of the difference."""

    @property
    def difference(self) -> float:
        """Return the increase of the measure."""
        return self.after - self.before

    @property
    def direction(self) -> int:
        """Return 1 for a significant increase, -1 for a significant decrease, 0 if neither, or too small to matter."""
        if not abs(self.difference) >= LEAST_EFFECT:
            return 0
        return int(self.low > 0) - int(self.high < 0)

    def __str__(self) -> str:
        ends = f"{format_measure(self.low, '+')}, {format_measure(self.high, '+')}"
        return f"{self.measure} {format_measure(self.difference, '+')} [{ends}]"


@dataclass(frozen=True)
class Verdict:
    """The decision whether a change is an improvement: the first measure decides, others may contradict it."""

    gains: tuple[Gain, ...]

    @property
    def better(self) -> bool:
        """Return whether the deciding measure increases significantly, and by enough to matter."""
        return self.gains[0].direction > 0

    @property
    def conflict(self) -> str:
        """Return a sentence if measures contradict each other, else ''."""
        first, *others = self.gains
        rising = [one for one in self.gains if one.direction > 0]
        falling = [one for one in self.gains if one.direction < 0]
        if rising and falling:
            what = f"{_list(rising)} rises, but {_list(falling)} falls" if len(rising) == len(falling) == 1 else (
                f"rising: {_list(rising)}; falling: {_list(falling)}"
            )  # fmt: skip
        elif not first.direction and (moved := [one for one in others if one.direction]):
            what = f"{first.measure} sees no difference, {_list(moved)}"
        else:
            return ""
        return f"The measures disagree: {what}. {first.measure} decides: readers see the first places."


def _list(gains: Sequence[Gain]) -> str:
    return ", ".join(map(str, gains))


def judge_change(before: Measured, after: Measured) -> Verdict:
    """Compare two strategies, judged by the same resamples, measure by measure."""
    return Verdict(
        tuple(
            Gain(name, before[name][0], after[name][0], *interval(after[name][1] - before[name][1])) for name in after
        )
    )
