"""The last evaluation: how well similar pages agree with a directory."""

from collections.abc import Sequence

from litestar import Response
from msgspec import Struct

from pagekin.collection import (
    Collection,
    JudgedStrategy,
    StoredEvaluation,
    StrategyDifference,
    StrategyScore,
    command_to_repeat,
    read_evaluations,
)
from pagekin.labels import plain_text
from pagekin.routers import HttpRequest, service_of
from pagekin.web.rendering import render, view_route

GammaInterval = tuple[float, float, float] | None
"""Γ, and its interval from, to; None where nothing was compared."""
BAR = 200.0
"""How long a bar may be."""


class Bar(Struct, frozen=True):
    """A strategy's bar from 0 to its Γ, with its interval."""

    x: float
    width: float
    low: float
    high: float
    zero: float
    """Where Γ = 0 is."""


class Report(Struct, frozen=True, kw_only=True):
    """The report of an evaluation or a tuning."""

    kind: str
    """evaluate, or tune."""
    kept: StoredEvaluation

    @property
    def region(self) -> str:
        """Return the region to show first: all regions, if these were judged."""
        judged = any(_overall(one) is not None for one in self.kept.strategies)
        return "overall" if judged else self.kept.region

    @property
    def scores(self) -> list[StrategyScore | None]:
        """Return the scores of the strategies in that region."""
        return [_overall(one) if self.region == "overall" else one.score for one in self.kept.strategies]

    @property
    def bars(self) -> list[Bar | None]:
        """Return the bars of all strategies in that region."""
        return bars(self._intervals)

    @property
    def marks(self) -> list[tuple[bool, bool]]:
        """Return, per strategy, whether it is the best by Somers' D (which decides) and by the bars' Γ."""
        by_d = _highest([one.score.somers_d for one in self.kept.strategies])
        return list(zip(by_d, _highest([one[0] if one else None for one in self._intervals]), strict=True))

    @property
    def others(self) -> list[str]:
        """Return the strategies with the highest Γ, if another is the best by Somers' D."""
        firsts = [highest for first, highest in self.marks if first]
        if not firsts or any(firsts):
            return []
        return [one.name for one, mark in zip(self.kept.strategies, self.marks, strict=True) if mark[1]]

    @property
    def rivals(self) -> dict[str, list[StrategyDifference]]:
        """Return the differences by the strategy that the best one is compared with."""
        by_rival: dict[str, list[StrategyDifference]] = {}
        for one in self.kept.differences:
            by_rival.setdefault(one.second, []).append(one)
        return by_rival

    @property
    def _intervals(self) -> list[GammaInterval]:
        return [_interval(one) if one else None for one in self.scores]


class EvaluationView(Struct, frozen=True, kw_only=True):
    """The last reports of a collection."""

    name: str
    leaf: bool
    reports: tuple[Report, ...]
    """The last first."""
    command: str = ""
    """What makes a report, at a collection."""


def _overall(one: JudgedStrategy) -> StrategyScore | None:
    """Return the score over all regions; earlier versions stored only Γ, without an interval."""
    if one.overall is not None or (gamma := one.gammas.get("overall")) is None:
        return one.overall
    return StrategyScore(gamma=gamma, low=None, high=None, somers_d=None, tied=None, pairs=0)


def _highest(values: Sequence[float | None]) -> list[bool]:
    """Mark the highest values; none if all are equal."""
    known = [value for value in values if value is not None]
    if len(set(known)) < 2:
        return [False] * len(values)
    return [value == max(known) for value in values]


def _interval(score: StrategyScore) -> GammaInterval:
    if score.gamma is None:
        return None
    low, high = score.low, score.high
    return score.gamma, score.gamma if low is None else low, score.gamma if high is None else high


def bars(scores: Sequence[GammaInterval]) -> list[Bar | None]:
    """Return a bar per score, all on one scale that holds 0 and all intervals."""
    values = [0.0, *(value for score in scores if score for value in score)]
    least, span = min(values), (max(values) - min(values)) or 1.0
    drawn: list[Bar | None] = []
    for score in scores:
        if score is None:
            drawn.append(None)
            continue
        zero, gamma, low, high = (round((value - least) / span * BAR, 2) for value in (0.0, *score))
        begin, end = sorted((zero, gamma))
        drawn.append(Bar(begin, round(end - begin, 2), low, high, zero))
    return drawn


@view_route(["/evaluation", "/evaluation.json"], EvaluationView, "The last reports, newest first.")
async def evaluation(request: HttpRequest) -> Response[bytes]:
    """Return the last evaluation, and the last tuning."""
    service = service_of(request.scope).service
    reports: tuple[Report, ...] = ()
    command = ""
    if service.leaf:
        command, reports = await service.run(_reports)
    view = EvaluationView(name=plain_text(service.name), leaf=service.leaf, reports=reports, command=command)
    return render(request, "evaluation.html", view)


def _reports(collection: Collection) -> tuple[str, tuple[Report, ...]]:
    """Return the command that makes a report, and the existing reports."""
    command = command_to_repeat("evaluate", plain_text(collection.path.resolve().name), "directory.tsv")
    kept = read_evaluations(collection.corpus.facts)
    return command, tuple(Report(kind=kind, kept=one) for kind, one in kept.items())
