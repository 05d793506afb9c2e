"""Store the last evaluation and the last tuning in the collection that they judged."""

import time
from collections.abc import Sequence

import msgspec

from pagekin import __version__
from pagekin.clusters import Directory
from pagekin.collection import (
    EVALUATION_FACT,
    JudgedStrategy,
    SearchSummary,
    StoredEvaluation,
    StrategyDifference,
    StrategyScore,
)
from pagekin.evaluation.compare import Difference, differences_by_rival, finite_or_none
from pagekin.evaluation.evaluate import Evaluation
from pagekin.evaluation.experiments import Judgement
from pagekin.evaluation.gamma import REGIONS, Agreement
from pagekin.evaluation.ranking import Scores
from pagekin.evaluation.tune import Tuning
from pagekin.hypertext import CORPUS_ARRAYS
from pagekin.store import Kin, KinError, KinWriter, open_kin

MOST = 80
"""Strategies that are kept; the manifest is read whenever a collection is opened."""
_RIVALS = 20
"""Other strategies that the best one is compared with in what is kept, at most."""
_LONGEST = 200


def summarise_evaluation(done: Evaluation, directory: str, command: str) -> StoredEvaluation:
    """Return the summary of an evaluation by a directory of this name."""
    judgements = [(one, done.scores[one.name]) for one in done.judgements]
    region = done.region or "overall"
    tree = done.bench.directory
    evaluation = _make_summary(tree, directory, command, done.bench.note, region, done.summary, judgements)
    by_rival = list(differences_by_rival(done.comparisons(), done.region).values())[:_RIVALS]
    return msgspec.structs.replace(
        evaluation, notes=tuple(note[:1000] for note in done.notes),
        differences=tuple(_summarise_difference(one) for some in by_rival for one in some),
    )  # fmt: skip


def summarise_tuning(done: Tuning, by: Directory, directory: str, command: str) -> StoredEvaluation:
    """Return the summary of a search for a better strategy."""
    first = done.verdict.gains[0]
    summary = (
        f"The tuned strategy is better than '{done.best_preset}' ({first})."
        if done.improved
        else f"Nothing better than '{done.best_preset}' was found beyond chance ({first})."
    )
    summary = f"{summary} {done.verdict.conflict}".strip()
    difference, low, high = (finite_or_none(value) or 0.0 for value in (first.difference, first.low, first.high))
    judged = f"{done.held_out[1]:,} pages of {done.held_out[0]:,} classes that the search did not see"
    evaluation = _make_summary(
        by, directory, command, judged, "siblings", summary, list(zip(done.judgements, done.scores, strict=True))
    )
    changes = tuple((name, str(old)[:_LONGEST], str(new)[:_LONGEST]) for name, old, new in done.changes())
    search = SearchSummary(
        tries=done.tries, improved=done.improved, best_preset=done.best_preset, advantage=(difference, low, high),
        changes=changes,
    )  # fmt: skip
    return msgspec.structs.replace(evaluation, search=search)


def _make_summary(
    tree: Directory, directory: str, command: str, judged: str, region: str, summary: str,
    judgements: Sequence[tuple[Judgement, Scores]],
) -> StoredEvaluation:  # fmt: skip
    return StoredEvaluation(
        date=int(time.time()),
        pagekin=__version__,
        command=command[:1000],
        directory=directory[:_LONGEST],
        depth=tree.depth,
        mode=tree.mode,
        classes_of_a_page=tree.choice,
        pages=int(tree.facts["pages"]),
        classes=int(tree.facts["classes"]),
        judged=judged[:1000],
        region=region,
        summary=summary[:1000],
        strategies=tuple(_summarise_judgement(one, scores, region) for one, scores in judgements[:MOST]),
        left_out=max(len(judgements) - MOST, 0),
        not_read=int(tree.facts.get("known only from links", 0)),
    )


def _summarise_judgement(one: Judgement, scores: Scores, region: str) -> JudgedStrategy:
    return JudgedStrategy(
        name=one.name[:_LONGEST],
        judged=str(one.facts.get("judged", ""))[:_LONGEST],
        score=_score(one.agreements[region]),
        overall=_score(one.agreements["overall"]),
        gammas={name: finite_or_none(one.agreements[name].gamma) for name in REGIONS},
        orthogonality=finite_or_none(one.orthogonality),
        ndcg10=finite_or_none(scores.ndcg10),
        map=finite_or_none(scores.map),
        regions={name: _score(one.agreements[name]) for name in REGIONS},
        ndcg10_interval=_ends(scores.intervals[0]),
        map_interval=_ends(scores.intervals[1]),
    )


def _summarise_difference(one: Difference) -> StrategyDifference:
    return StrategyDifference(
        first=one.first[:_LONGEST],
        second=one.second[:_LONGEST],
        measure=one.by,
        difference=finite_or_none(one.difference) or 0.0,
        low=finite_or_none(one.low),
        high=finite_or_none(one.high),
        beyond_chance=one.sure,
        verdict=one.verdict[: 2 * _LONGEST],
    )


def _score(agreement: Agreement) -> StrategyScore:
    names = ("gamma", "low", "high", "somers_d", "somers_low", "somers_high", "tied")
    return StrategyScore(
        pairs=int(agreement.pairs), **{name: finite_or_none(getattr(agreement, name)) for name in names}
    )


def _ends(interval: tuple[float, float]) -> tuple[float | None, float | None]:
    return finite_or_none(interval[0]), finite_or_none(interval[1])


def store_evaluation(judged: Kin, kind: str, evaluation: StoredEvaluation) -> None:
    """Store the summary of an evaluation (`evaluate` or `tune`) in its collection; raise a KinError on failure.

    One writer at a time: beside a build nothing is kept, and neither if other pages were read in the meantime.
    """
    with KinWriter(judged.path, f"pagekin {kind}") as writer:
        now = open_kin(judged.path)
        if _count_read(now) != _count_read(judged):
            raise KinError(f"{judged.path} was read again in the meantime; judge it again")
        before = now.facts.get(EVALUATION_FACT)
        reports = {**(before if isinstance(before, dict) else {}), kind: msgspec.to_builtins(evaluation)}
        writer.commit({**now.facts, EVALUATION_FACT: reports}, keep=now.manifest["files"])


def _count_read(kin: Kin) -> dict[str, str]:
    """Return the checksums of the corpus's arrays, which change when other pages are read."""
    files = kin.manifest["files"]
    return {name: entry["checksum"] for name, entry in files.items() if name.startswith(CORPUS_ARRAYS)}
