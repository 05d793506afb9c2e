"""One evaluation from beginning to end: a corpus, a directory, strategies; judgements and a report."""

import shutil
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import (
    PRESETS,
    BagWorkshop,
    Strategy,
    StrategyError,
    nmdf_parameters,
    strategy_from_dict,
    strategy_of_index,
)
from pagekin.clusters import Directory, DirectoryError
from pagekin.evaluation.cache import Cache, CachedExperiment, cache_folder
from pagekin.evaluation.compare import Comparison, against_the_best, main_region
from pagekin.evaluation.experiments import (
    Bench,
    Judgement,
    by_inlinks,
    inlinks,
    make_bench,
    run_all,
)
from pagekin.evaluation.figures import figures
from pagekin.evaluation.gamma import REGIONS
from pagekin.evaluation.ranking import Rankings, Scores, draw_rankings, write_trec
from pagekin.evaluation.report import Report, write_report
from pagekin.hypertext import Corpus
from pagekin.store import rank

Array = npt.NDArray[Any]
Progress = Callable[[str, float], None]
BY_INLINKS = ("3: window 32", "3: topical", "3: content")
"""Strategies whose sources are also told apart by the number of pages that link to them."""

_ROUNDS = 10_000
"""Resamples of classes: a hundred comparisons, corrected for their number, still find what is beyond chance."""
_ROUNDS_BYTES = 100 << 20
"""Memory for them, at most: where there are many classes, there are fewer rounds."""


def own_strategies(corpus: Corpus) -> dict[str, Strategy]:
    """The presets, and the strategy that the collection is indexed by."""
    found = dict(PRESETS)
    index = corpus.facts.get("index")
    if index:
        strategy = strategy_of_index(index)
        if strategy.digest() not in {known.digest() for known in found.values()}:
            found[f"{strategy.name} (the index's)"] = strategy
    return found


def figure_strategies() -> dict[str, Strategy]:
    """The strategies of all figures, named by figure and bar."""
    return {
        f"{figure.number}: {label}": strategy for figure in figures() for label, strategy in figure.strategies.items()
    }


def read_strategies(file: Path) -> dict[str, Strategy]:
    """The strategies in a TOML file: a table for each, under its name."""
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise StrategyError(f"{file} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StrategyError(f"{file} is no TOML file: {error}") from None
    found: dict[str, Strategy] = {}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise StrategyError(f"{file}: '{name}' is no table; write each strategy under a heading [NAME]")
        try:
            found[name] = strategy_from_dict({**table, "name": name})
        except StrategyError as error:
            raise StrategyError(f"{file}, [{name}]: {error}") from None
    if not found:
        raise StrategyError(f"{file} holds no strategy; write each under a heading [NAME]")
    return found


# -- the directory's own pages ------------------------------------------------------------------------------------------


def directory_pages(corpus: Corpus, prefixes: Sequence[str]) -> npt.NDArray[np.int64]:
    """The pages that belong to the directory itself: those whose URL begins with one of `prefixes`."""
    urls = corpus.pages.url
    found = np.zeros(len(urls), np.bool_)
    for prefix in prefixes:
        low, high = (corpus.urls.nearest(prefix.encode() + end) for end in (b"", b"\xff"))
        first, last = rank(urls, low), rank(urls, high)
        if not prefix or first == last:
            raise DirectoryError(f"no page of the collection has a URL that begins with '{prefix}'.")
        found[first:last] = True
    return np.flatnonzero(found)


def without_own_pages(corpus: Corpus, directory: Directory, own: Array) -> Directory:
    """The directory without pages of its own, given by number: nobody asks what is related to those."""
    if not len(own):
        return directory
    keep = ~np.isin(directory.urls, np.asarray(corpus.pages.url)[own])
    if not keep.any():
        raise DirectoryError("all listed pages are the directory's own; nothing is left to judge.")
    sizes = np.diff(directory.offsets)
    members = directory.members[np.repeat(keep, sizes)]
    facts = {
        **directory.facts, "pages": int(np.count_nonzero(keep)), "classes": len(np.unique(members)),
        "own pages": len(own),
    }  # fmt: skip
    offsets = np.concatenate([[0], np.cumsum(sizes[keep])])
    return replace(directory, urls=directory.urls[keep], offsets=offsets, members=members, facts=facts)


def workshop_for(corpus: Corpus, directory: Directory, folder: Path, threads: int, own: Array) -> BagWorkshop:
    """Makes bags that the directory may judge: its own pages cite nothing, and breadcrumbs that are the tree are no text."""
    return BagWorkshop(corpus, folder, threads, **_bag_options(directory, own))


def _bag_options(directory: Directory, own: Array) -> dict[str, Any]:
    return {"not_citing": own if len(own) else None, "without_crumbs": directory.name == "breadcrumbs"}


def _citations(corpus: Corpus, urls: Array, own: Array) -> npt.NDArray[np.int64]:
    """How many other pages, but for the directory's own, link to each of the URLs."""
    found = inlinks(corpus, urls)
    page_url = np.asarray(corpus.pages.url)
    citing: dict[int, list[Array]] = {}
    for page in own.tolist():
        first, last = (int(corpus.pages.anchors[page + i]) for i in (0, 1))
        citing.setdefault(int(page_url[page]), []).append(np.asarray(corpus.anchors.target[first:last]))
    for url, targets in citing.items():
        found -= np.isin(urls, np.concatenate(targets)) & (urls != url)
    return found


# -- the whole ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Evaluation:
    """What came out."""

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

    @property
    def region(self) -> str | None:
        """The region that strategies are compared by."""
        return main_region(self.alike)

    @property
    def alike(self) -> list[Judgement]:
        """The judgements of the same pages: those of content on all pages are not compared with others."""
        return [one for one in self.judgements if one.facts["judged"] == self.bench.note]

    def comparisons(self) -> list[Comparison]:
        """The best strategy against all others."""
        return against_the_best(self.alike, self.region)

    def as_dict(self) -> dict[str, Any]:
        """Everything for programs."""
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
            "differences": [
                {
                    "better": one.better, "other": one.other, "region": one.found.region, "measure": one.found.measure,
                    **{name: finite(getattr(one.found, name)) for name in ("difference", "low", "high", "p")},
                }
                for one in self.comparisons()
            ],
            "by_inlinks": {
                name: [{"inlinks": group, "gamma": finite(g), "low": finite(low), "high": finite(high)}
                       for group, g, low, high in groups]
                for name, groups in self.inlinks
            },
        }  # fmt: skip

    def write(self, folder: Path, title: str, with_figures: bool) -> Path:
        """Write the report, the strategies, and rankings as TREC files; give the page's path."""
        nmdf = next((s for s in self.strategies.values() if s.weight.frequency == "nmdf"), None)
        curve = None
        if nmdf and self.frequencies:
            terms, bags = self.frequencies
            curve = (*nmdf_parameters(nmdf, bags), terms)
        page = write_report(
            folder,
            Report(
                title, self.bench, self.judgements, self.alike, self.region, figures() if with_figures else [],
                {"seed": self.seed, "resamples of classes": self.rounds,
                 "ranked sources": len(self.rankings.rows)},
                self.strategies, self.scores, self.rankings.note, self.comparisons(), curve, self.inlinks, self.left_out,
            ),
        )  # fmt: skip
        write_trec(folder / "trec", self.rankings, self.alike)
        return page


def judgement_as_dict(one: Judgement, scores: Scores) -> dict[str, Any]:
    """One strategy's results for programs."""
    return {
        "name": one.name, "strategy": one.strategy, "judged": one.facts["judged"],
        "orthogonality": finite(one.orthogonality), "ndcg10": finite(scores.ndcg10), "map": finite(scores.map),
        "seconds": round(one.seconds, 2), **{region: _agreement(one.agreements[region]) for region in REGIONS},
    }  # fmt: skip


def finite(value: float) -> float | None:
    """A number for JSON, which has no nan."""
    return round(value, 6) if np.isfinite(value) else None


def _agreement(agreement: Any) -> dict[str, Any]:
    names = ("gamma", "low", "high", "somers_d", "somers_low", "somers_high", "tied")
    return {"pairs": agreement.pairs, **{name: finite(getattr(agreement, name)) for name in names}}


def evaluate_strategies(
    corpus: Corpus, directory: Directory, strategies: dict[str, Strategy], *, linked: bool = False, sample: int = 0,
    seed: int = 1, threads: int = 1, own_pages: Sequence[str] = (), baselines: Sequence[str] = (), cache: bool = True,
    progress: Progress = lambda _s, _p: None,
) -> Evaluation:  # fmt: skip
    """Judge strategies by a directory. Temporary files are removed at the end, whatever happens.

    `own_pages` are beginnings of the URLs of the directory's own pages, which neither cite nor are judged; `baselines` are the
    names of other tools' similarities to judge beside.
    """
    own = directory_pages(corpus, own_pages)
    directory = without_own_pages(corpus, directory, own)
    rounds = int(min(_ROUNDS, max(1000, _ROUNDS_BYTES // (8 * len(directory.classes)))))
    everything = make_bench(directory, None, sample, seed=seed, rounds=rounds)
    bench = everything
    if linked:
        cited = directory.urls[_citations(corpus, directory.urls, own) > 0]
        bench = make_bench(directory, cited, sample, seed=seed, rounds=rounds)
        bench = replace(bench, note=f"{bench.note}; only pages that another page links to")
    kept = Cache(cache_folder() if cache else None)
    folder = Path(tempfile.mkdtemp(prefix="pagekin-evaluate-"))
    try:
        workshop = workshop_for(corpus, directory, folder, threads, own)
        options = _bag_options(directory, own)
        begun = 0.0

        def tell(stage: str, share: float) -> None:
            nonlocal begun
            begun = share
            progress(stage, share)

        def bagged() -> None:
            progress("judging", begun + 0.5 / len(strategies))

        experiment = CachedExperiment(corpus, bench, workshop, threads, kept, options, bagged)
        judgements = run_all(experiment, strategies, tell)
        left_out: dict[str, str] = {}
        if baselines:
            from pagekin.evaluation.baselines import judge_baselines

            others, left_out = judge_baselines(
                experiment, baselines, progress, seed=seed, not_citing=options["not_citing"]
            )
            judgements += others
        rankings = draw_rankings(corpus, bench, seed)
        scores = _scores(rankings, judgements)
        if len(bench.urls) < len(everything.urls):
            # Pages without links have their own words all the same.
            content = {
                f"{n} (all pages)": s for n, s in strategies.items() if not s.anchors.scale and not s.links.scale
            }
            again = run_all(CachedExperiment(corpus, everything, workshop, threads, kept, options), content, progress)
            judgements += again
            if again:
                scores |= _scores(draw_rankings(corpus, everything, seed), again)
        nmdf = next((s for s in strategies.values() if s.weight.frequency == "nmdf"), None)
        groups: list[tuple[str, list[tuple[str, float, float, float]]]] = []
        if any(name in strategies for name in BY_INLINKS):
            citing = _citations(corpus, bench.urls[bench.sources], own)
            groups = [(one.name, by_inlinks(one, bench, citing)) for one in judgements if one.name in BY_INLINKS]
        return Evaluation(
            bench, judgements, strategies, seed, rounds, experiment.frequencies(nmdf) if nmdf else None, groups, rankings, scores,
            kept.hits, left_out,
        )  # fmt: skip
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _scores(rankings: Rankings, judgements: Sequence[Judgement]) -> dict[str, Scores]:
    """By name; equal strategies are ranked once."""
    known: dict[int, Scores] = {}
    found = {}
    for one in judgements:
        if id(one.nearest) not in known:
            known[id(one.nearest)] = rankings.scores(one)
        found[one.name] = known[id(one.nearest)]
    return found
