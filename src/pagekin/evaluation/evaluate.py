"""Run a whole evaluation: from a corpus, a directory and strategies to judgements and a report."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from pagekin.bags import BagWorkshop, Strategy
from pagekin.clusters import Directory, DirectoryError
from pagekin.collection import Table
from pagekin.evaluation.cache import Cache, CachedExperiment, cache_folder
from pagekin.evaluation.compare import (
    Difference,
    compare_with_best,
    explain_overall,
    explain_served,
    finite_or_none,
    finite_values,
    main_region,
    summarise_comparisons,
)
from pagekin.evaluation.experiments import (
    Bench,
    Judgement,
    agreement_by_inlinks,
    count_inlinks,
    judge_all,
    keep_documents,
    make_bench,
)  # fmt: skip
from pagekin.evaluation.figures import figures
from pagekin.evaluation.gamma import REGIONS
from pagekin.evaluation.ranking import Rankings, Scores, draw_rankings, write_trec
from pagekin.evaluation.report import write_report
from pagekin.evaluation.served import MOST_PAIRS, SignalScores, judge_served
from pagekin.evaluation.tables import JUDGEMENT_COLUMNS, Differences, judgement_rows, write_csv
from pagekin.hypertext import Corpus
from pagekin.similarity import RelatedIndex
from pagekin.store import Array, Progress, no_progress, temporary_folder
from pagekin.wording import plural

BY_INLINKS = ("3: window 32", "3: topical", "3: content")
"""Strategies whose sources are also told apart by the number of pages that link to them."""

_ROUNDS = 10_000
"""Resamples of classes: a hundred comparisons, corrected for their number, still find what is beyond chance."""
_ROUNDS_BYTES = 100 << 20
"""Memory for them, at most: where there are many classes, there are fewer rounds."""

# -- the directory's own pages ------------------------------------------------------------------------------------------


def directory_pages(corpus: Corpus, prefixes: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the pages of the directory itself: those whose URL begins with one of `prefixes`."""
    own: set[int] = set()
    for prefix in prefixes:
        pages = corpus.pages_under(prefix)
        if not prefix or not pages:
            raise DirectoryError(f"no page of the collection has a URL that begins with '{prefix}'.")
        own.update(pages)
    return np.array(sorted(own), np.int64)


def without_own_pages(corpus: Corpus, directory: Directory, own: Array) -> Directory:
    """Return the directory without its own pages, given by number."""
    if not len(own):
        return directory
    keep = ~np.isin(directory.urls, np.asarray(corpus.pages.url)[own])
    if not keep.any():
        raise DirectoryError("all listed pages are the directory's own; nothing is left to judge.")
    kept = keep_documents(directory, keep)
    counts = {"pages": len(kept.urls), "classes": len(np.unique(kept.members)), "own pages": len(own)}
    if "known only from links" in directory.facts:
        counts["known only from links"] = int(np.count_nonzero(~np.isin(kept.urls, np.asarray(corpus.pages.url))))
    return replace(kept, facts=directory.facts | counts)


@contextmanager
def bag_workshop(corpus: Corpus, directory: Directory, threads: int, own: Array) -> Iterator[BagWorkshop]:
    """Open a workshop whose bags hold nothing from the directory's own pages; its files are removed at the end.

    The directory's own pages cite nothing, and breadcrumbs that are the tree are no text.
    """
    with temporary_folder("evaluation") as folder:
        yield BagWorkshop(corpus, folder, threads, own, directory.name == "breadcrumbs")


# -- the whole ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Evaluation(Table):
    """The results of judging strategies by a directory; as a table, a row for each strategy and region."""

    columns: ClassVar[Mapping[str, str]] = JUDGEMENT_COLUMNS

    bench: Bench
    judgements: list[Judgement]
    strategies: dict[str, Strategy]
    seed: int
    rounds: int
    """Resamples of classes, for intervals."""
    frequencies: tuple[Array, int] | None
    """(terms in 1, 2-3, 4-7, ... bags, the number of bags), under the first strategy with NMDF."""
    inlinks: list[tuple[str, list[tuple[str, float, float, float]]]]
    """Sibling Γ by the number of pages that link to a source, for some strategies (footnote 11)."""
    rankings: Rankings
    scores: dict[str, Scores]
    """nDCG@10 and MAP, by name."""
    cached: int = 0
    """Judgements that an earlier run had made."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Baselines that were not judged, and why."""
    served_wish: str = ""
    """The wish by whose weights the served score was judged; '' if it was not."""
    ndcg10_for_kin: float = float("nan")
    """nDCG@10 of the served score by the weights for kin, on the same sources, if it was judged by others."""

    def __repr__(self) -> str:
        judged = plural(len(self.judgements), "strategy", "strategies")
        tree = f"{plural(len(self.bench.urls), 'page')} of {self.bench.directory.name}"
        return f"<Evaluation of {judged} by {tree}: {self.summary or 'nothing to compare'}>"

    @property
    def region(self) -> str | None:
        """Return the region for comparing strategies."""
        return main_region(self.comparable)

    @property
    def comparable(self) -> list[Judgement]:
        """Return the judgements of the same pages, without those of content on all pages."""
        return [one for one in self.judgements if one.facts["judged"] == self.bench.note]

    def comparisons(self) -> list[Difference]:
        """Compare the best strategy with all others."""
        return compare_with_best(self.comparable, self.region, self.scores)

    @property
    def differences(self) -> Differences:
        """Return the comparisons as a table."""
        return Differences(self.comparisons(), self.summary)

    @property
    def summary(self) -> str:
        """Return the conclusion: whether the best is better beyond chance, and whether measures disagree."""
        return summarise_comparisons(self.comparisons(), self.region)

    @property
    def notes(self) -> list[str]:
        """Return sentences about figures that would surprise a reader."""
        served = f"served ({self.served_wish})" if self.served_wish else ""
        gammas = {one.name: {r: one.agreements[r].gamma for r in REGIONS} for one in self.judgements}
        below = explain_served(served, self.scores, self.ndcg10_for_kin)
        if below and served not in {one.name for one in self.comparable}:
            below += " The row is of fewer sources than the others: a small difference says nothing."
        notes = [below, explain_overall(gammas)]
        return [note for note in notes if note]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield all measures with their intervals, by strategy and region."""
        return judgement_rows(self.judgements, self.scores)

    def _repr_html_(self) -> str:
        """Return the conclusion and the first rows as HTML, which notebooks show."""
        said = "".join(f"<p>{escape(text)}</p>" for text in (self.summary, *self.notes) if text)
        return said + super()._repr_html_()

    def as_dict(self) -> dict[str, Any]:
        """Return the results as plain values."""
        directory = self.bench.directory
        return {
            "directory": {
                "name": directory.name, "depth": directory.depth, "mode": directory.mode, "choice": directory.choice,
                "judged": self.bench.note, "sources": len(self.bench.sources), **directory.facts,
            },
            "seed": self.seed,
            "rounds": self.rounds,
            "ranked_sources": len(self.rankings.rows),
            "cached": self.cached,
            "strategies": [judgement_as_dict(one, self.scores[one.name]) for one in self.judgements],
            "left_out": self.left_out,
            "summary": self.summary,
            "notes": self.notes,
            "difference_is": "first minus second",
            "differences": [one.as_dict() for one in self.comparisons()],
            "by_inlinks": {
                name: [finite_values(dict(zip(("inlinks", "gamma", "low", "high"), group, strict=True))) for group in groups]
                for name, groups in self.inlinks
            },
        }  # fmt: skip

    def write(self, folder: Path, title: str, with_figures: bool) -> Path:
        """Write the report, tables, the strategies, and rankings as TREC files; return the page's path."""
        page = write_report(folder, self, title, figures() if with_figures else [])
        write_csv(folder / "strategies.csv", self)
        write_csv(folder / "differences.csv", self.differences)
        write_trec(folder / "trec", self.rankings, self.comparable)
        return page


def judgement_as_dict(one: Judgement, scores: Scores) -> dict[str, Any]:
    """Return one strategy's results as plain values."""
    return {
        "name": one.name, "strategy": one.strategy, "judged": one.facts["judged"],
        "orthogonality": finite_or_none(one.orthogonality), "ndcg10": finite_or_none(scores.ndcg10),
        "map": finite_or_none(scores.map),
        **{
            f"{name}_{end}": finite_or_none(value)
            for name, ends in zip(("ndcg10", "map"), scores.intervals, strict=True)
            for end, value in zip(("low", "high"), ends, strict=True)
        },
        "seconds": round(one.seconds, 2), **{
            region: {"pairs": one.agreements[region].pairs, **finite_values(asdict(one.agreements[region]))} for region in REGIONS
        },
    }  # fmt: skip


def evaluate_strategies(
    corpus: Corpus, directory: Directory, strategies: dict[str, Strategy], *, linked: bool = False, sample: int = 0,
    seed: int = 1, threads: int = 1, own_pages: Sequence[str] = (), baselines: Sequence[str] = (), cache: bool = True,
    served: RelatedIndex | None = None, wish: str = "", progress: Progress = no_progress,
) -> Evaluation:  # fmt: skip
    """Judge strategies by a directory; remove temporary files at the end in any case.

    `own_pages` are beginnings of the URLs of the directory's own pages, which neither cite nor are judged; `baselines` are the
    names of other tools' similarities to judge beside. With `served`, the score by which this index answers is judged, too, by
    its weights for a wish.
    """
    own = directory_pages(corpus, own_pages)
    directory = without_own_pages(corpus, directory, own)
    rounds = int(min(_ROUNDS, max(1000, _ROUNDS_BYTES // (8 * len(directory.classes)))))
    everything = make_bench(directory, None, sample, seed=seed, rounds=rounds)
    bench = everything
    if linked:
        cited = directory.urls[count_inlinks(corpus, directory.urls, own) > 0]
        bench = make_bench(directory, cited, sample, seed=seed, rounds=rounds)
        bench = replace(bench, note=f"{bench.note}; only pages that another page links to")
    kept = Cache(cache_folder() if cache else None)
    with bag_workshop(corpus, directory, threads, own) as workshop:
        experiment = CachedExperiment(corpus, bench, workshop, threads, kept)
        judgements = judge_all(experiment, strategies, progress)
        left_out: dict[str, str] = {}
        if baselines:
            from pagekin.evaluation.baselines import judge_baselines

            others, left_out = judge_baselines(experiment, baselines, progress, own, seed=seed)
            judgements += others
        rankings = draw_rankings(corpus, bench, seed)
        scores = _scores(rankings, judgements)
        if len(bench.urls) < len(everything.urls):
            # Pages without links have their own words all the same.
            content = {
                f"{n} (all pages)": s for n, s in strategies.items() if not s.anchors.scale and not s.links.scale
            }
            again = judge_all(CachedExperiment(corpus, everything, workshop, threads, kept), content, progress)
            judgements += again
            if again:
                scores |= _scores(draw_rankings(corpus, everything, seed), again)
        served_wish, for_kin = (wish or served.strategy.wish) if served is not None else "", float("nan")
        if served is not None:
            weights = {f"served ({served_wish})": served.strategy.signals_for(wish)}
            if served_wish != "kin":  # shows how much of a low score is due to the wish; the signals are measured once
                weights["served (kin)"] = served.strategy.signals_for("kin")
            ranked, (answers, *kin) = judge_served(
                SignalScores(served), bench, weights,
                rounds, seed, lambda done: done * len(bench.urls) < MOST_PAIRS,
            )  # fmt: skip
            judgements.append(answers)
            drawn = rankings if ranked is bench else draw_rankings(corpus, ranked, seed)
            scores |= _scores(drawn, [answers])
            for_kin = drawn.scores(kin[0]).ndcg10 if kin else for_kin
        nmdf = next((s for s in strategies.values() if s.weight.frequency == "nmdf"), None)
        groups: list[tuple[str, list[tuple[str, float, float, float]]]] = []
        if any(name in strategies for name in BY_INLINKS):
            citing = count_inlinks(corpus, bench.urls[bench.sources], own)
            groups = [
                (one.name, agreement_by_inlinks(one, bench, citing)) for one in judgements if one.name in BY_INLINKS
            ]
        return Evaluation(
            bench, judgements, strategies, seed, rounds, experiment.frequencies(nmdf) if nmdf else None, groups, rankings, scores,
            kept.hits, left_out, served_wish, for_kin,
        )  # fmt: skip


def _scores(rankings: Rankings, judgements: Sequence[Judgement]) -> dict[str, Scores]:
    """Return the scores by name; equal strategies are ranked once."""
    known: dict[int, Scores] = {}
    scores = {}
    for one in judgements:
        if id(one.nearest) not in known:
            known[id(one.nearest)] = rankings.scores(one)
        scores[one.name] = known[id(one.nearest)]
    return scores
