"""The last evaluation: how well similar pages agree with a directory."""

from collections.abc import Callable, Sequence

from litestar import Response, get
from litestar.openapi.datastructures import ResponseSpec
from msgspec import Struct

from pagekin.evaluation.keep import Judged, Kept, Score, command_line, read_kept
from pagekin.labels.model import plain
from pagekin.routers.http import served
from pagekin.routers.leaf import Leaf
from pagekin.web.collection import collection_of
from pagekin.web.shown import Asking, shown

Found = tuple[float, float, float] | None
"""Γ, and its interval from, to; None where nothing was compared."""
BAR = 200.0
"""How long a bar may be."""


class Bar(Struct, frozen=True):
    """A strategy's bar, from 0 to its Γ, with its interval."""

    x: float
    width: float
    low: float
    high: float
    best: bool


class Report(Struct, frozen=True, kw_only=True):
    """One report."""

    kind: str
    """evaluate, or tune."""
    kept: Kept

    @property
    def region(self) -> str:
        """The one that is shown first: all regions together, if these were judged."""
        judged = any(_overall(one) is not None for one in self.kept.strategies)
        return "overall" if judged else self.kept.region

    @property
    def scores(self) -> list[Score | None]:
        """How the strategies did in that region."""
        return [_overall(one) if self.region == "overall" else one.score for one in self.kept.strategies]

    @property
    def bars(self) -> list[Bar | None]:
        """The bars of all strategies, in that region."""
        return bars(self._found)

    @property
    def marks(self) -> list[tuple[bool, bool]]:
        """Of each strategy, whether it is highest by Somers' D, by which strategies are compared, and by the Γ of the bars."""
        by_d = _highest([one.score.somers_d for one in self.kept.strategies])
        return list(zip(by_d, _highest([found[0] if found else None for found in self._found]), strict=True))

    @property
    def others(self) -> list[str]:
        """The strategies with the highest Γ of the bars, where another is first by what strategies are compared by."""
        firsts = [highest for first, highest in self.marks if first]
        if not firsts or any(firsts):
            return []
        return [one.name for one, mark in zip(self.kept.strategies, self.marks, strict=True) if mark[1]]

    @property
    def zero(self) -> float:
        """Where Γ = 0 is."""
        return _scale(self._found)(0.0)

    @property
    def _found(self) -> list[Found]:
        return [_found(one) if one else None for one in self.scores]


class EvaluationView(Struct, frozen=True, kw_only=True):
    """The last reports of a collection."""

    name: str
    leaf: bool
    reports: tuple[Report, ...]
    """The last first."""
    command: str = ""
    """What makes a report, at a collection."""


def _overall(one: Judged) -> Score | None:
    """Over all regions; an earlier version kept only its Γ, and no interval."""
    if one.overall is not None or (gamma := one.gammas.get("overall")) is None:
        return one.overall
    return Score(gamma=gamma, low=None, high=None, somers_d=None, tied=None, pairs=0)


def _highest(values: Sequence[float | None]) -> list[bool]:
    """Which are highest; none where all are the same."""
    known = [value for value in values if value is not None]
    if len(set(known)) < 2:
        return [False] * len(values)
    return [value == max(known) for value in values]


def _found(score: Score) -> Found:
    if score.gamma is None:
        return None
    low, high = score.low, score.high
    return score.gamma, score.gamma if low is None else low, score.gamma if high is None else high


def _scale(scores: Sequence[Found]) -> Callable[[float], float]:
    """Where a value lies on the common scale, which holds 0 and all intervals."""
    values = [0.0, *(value for score in scores if score for value in score)]
    low, high = min(values), max(values)
    return lambda value: round((value - low) / ((high - low) or 1.0) * BAR, 2)


def bars(scores: Sequence[Found]) -> list[Bar | None]:
    """A bar for each score, all on one scale."""
    at = _scale(scores)
    best = max((score[0] for score in scores if score), default=0.0)
    made: list[Bar | None] = []
    for score in scores:
        if score is None:
            made.append(None)
            continue
        gamma, low, high = score
        begin, end = sorted((at(0.0), at(gamma)))
        made.append(Bar(begin, round(end - begin, 2), at(low), at(high), gamma == best))
    return made


@get(
    ["/evaluation", "/evaluation.json"],
    responses={
        200: ResponseSpec(EvaluationView, generate_examples=False, description="The last reports, the last first.")
    },
)
async def evaluation(request: Asking) -> Response[bytes]:
    """The last evaluation, and the last search for a strategy."""
    service = served(request.scope).service
    reports: tuple[Report, ...] = ()
    command = ""
    if isinstance(service, Leaf):
        command = command_line("evaluate", plain(service.path.resolve().name), "directory.tsv")
        kept = read_kept(collection_of(service).corpus.facts)
        reports = tuple(Report(kind=kind, kept=one) for kind, one in kept.items())
    view = EvaluationView(name=plain(service.name), leaf=service.leaf, reports=reports, command=command)
    return shown(request, "evaluation.html", view)
