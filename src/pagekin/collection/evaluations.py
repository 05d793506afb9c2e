"""The last evaluation of a collection and the last search for a better strategy, as the collection keeps them."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

import msgspec
from msgspec import Struct

from pagekin.clusters import OWN_DIRECTORIES

EVALUATION_FACT = "evaluation"
"""Where the manifest's facts hold them."""


class StrategyScore(Struct, frozen=True, kw_only=True):
    """How well a strategy agrees with the directory; None where nothing could be compared."""

    gamma: float | None
    low: float | None
    high: float | None
    somers_d: float | None
    tied: float | None
    pairs: int
    somers_low: float | None = None
    somers_high: float | None = None
    """The 95 % interval of Somers' D; None if an earlier version judged it."""


class JudgedStrategy(Struct, frozen=True, kw_only=True):
    """A strategy and its scores."""

    name: str
    judged: str
    """Which pages."""
    score: StrategyScore
    """In the region that strategies are compared by."""
    overall: StrategyScore | None = None
    """Over all regions; None if an earlier version judged it."""
    gammas: dict[str, float | None]
    """Γ in every region."""
    orthogonality: float | None
    ndcg10: float | None
    map: float | None
    regions: dict[str, StrategyScore] = {}
    """The scores in every region; none if an earlier version judged it."""
    ndcg10_interval: tuple[float | None, float | None] = (None, None)
    map_interval: tuple[float | None, float | None] = (None, None)


class StrategyDifference(Struct, frozen=True, kw_only=True):
    """How far a measure of the best strategy is above that of another, with its paired 95 % interval."""

    first: str
    second: str
    measure: str
    """The name of the measure, and its region if it has one."""
    difference: float
    """First minus second."""
    low: float | None
    high: float | None
    beyond_chance: bool
    verdict: str
    """Which of the two is better by this measure, or that it may be chance."""


class SearchSummary(Struct, frozen=True, kw_only=True):
    """How a search for a better strategy went."""

    tries: int
    improved: bool
    """Whether the strategy that was found is better than the presets beyond chance, on pages that the search did not see."""
    best_preset: str
    advantage: tuple[float, float, float]
    """By how much: the difference of nDCG@10, from, to."""
    changes: tuple[tuple[str, str, str], ...]
    """(setting, the preset's, the new one)."""


class StoredEvaluation(Struct, frozen=True, kw_only=True):
    """The summary of an evaluation that is stored in the collection."""

    date: int
    """Seconds since 1970."""
    pagekin: str
    command: str
    directory: str
    depth: int
    mode: str
    classes_of_a_page: str
    pages: int
    classes: int
    judged: str
    region: str
    """The one that strategies are compared by."""
    summary: str
    strategies: tuple[JudgedStrategy, ...]
    left_out: int = 0
    """Strategies that were judged, but are not kept."""
    search: SearchSummary | None = None
    notes: tuple[str, ...] = ()
    """Sentences about figures that would surprise a reader."""
    differences: tuple[StrategyDifference, ...] = ()
    """The best strategy compared with the closest others: with a single one in every region, else in the main one."""
    not_read: int = 0
    """How many of the pages are known only from links."""


def read_evaluations(facts: Mapping[str, Any]) -> dict[str, StoredEvaluation]:
    """Return the evaluations stored in a collection by kind, the latest first; unreadable ones are left out."""
    evaluations = {}
    reports = facts.get(EVALUATION_FACT)
    for kind, report in reports.items() if isinstance(reports, dict) else ():
        try:
            evaluations[str(kind)] = msgspec.convert(report, StoredEvaluation)
        except msgspec.ValidationError:  # another version's
            continue
    return dict(sorted(evaluations.items(), key=lambda pair: (-pair[1].date, pair[0])))


def command_to_repeat(verb: str, collection: str, directory: str, *options: str) -> str:
    """Return a command line that others can run: files by their names alone."""
    named = directory if directory in OWN_DIRECTORIES else Path(directory).name
    return " ".join(["pagekin", verb, quote(Path(collection).name), "--directory", quote(named), *options])
