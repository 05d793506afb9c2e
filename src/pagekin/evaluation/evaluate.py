"""One evaluation from beginning to end: a corpus, a directory, strategies; judgements and a report."""

import shutil
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.bags import PRESETS, Strategy, StrategyError, from_dict
from pagekin.bags.weights import nmdf_parameters
from pagekin.bags.workshop import Workshop
from pagekin.evaluation.directory import Directory
from pagekin.evaluation.experiments import (
    Bench,
    Experiment,
    Judgement,
    by_inlinks,
    inlinks,
    linked_pages,
    make_bench,
    run_all,
)
from pagekin.evaluation.figures import figures
from pagekin.evaluation.gamma import REGIONS
from pagekin.evaluation.report import Report, write_report
from pagekin.hypertext import Corpus

Progress = Callable[[str, float], None]
BY_INLINKS = ("3: window 32", "3: topical", "3: content")
"""Strategies whose sources are also told apart by the number of pages that link to them."""


def own_strategies(corpus: Corpus) -> dict[str, Strategy]:
    """The presets, and the strategy that the collection is indexed by."""
    found = dict(PRESETS)
    index = corpus.facts.get("index")
    if index:
        strategy = from_dict(index["strategy"])
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
            found[name] = from_dict({**table, "name": name})
        except StrategyError as error:
            raise StrategyError(f"{file}, [{name}]: {error}") from None
    if not found:
        raise StrategyError(f"{file} holds no strategy; write each under a heading [NAME]")
    return found


@dataclass(frozen=True)
class Evaluation:
    """What came out."""

    bench: Bench
    judgements: list[Judgement]
    strategies: dict[str, Strategy]
    seed: int
    df: Any
    """The numbers of bags that hold each term, under the first strategy with NMDF."""
    bags: int
    inlinks: list[tuple[str, list[tuple[str, float, float, float]]]]
    """Sibling Γ by the number of pages that link to a source, for some strategies (footnote 11)."""

    def as_dict(self) -> dict[str, Any]:
        """Everything for programs."""
        directory = self.bench.directory
        return {
            "directory": {
                "name": directory.name, "depth": directory.depth, "mode": directory.mode, "choice": directory.choice,
                "judged": self.bench.note, "sources": len(self.bench.sources), **directory.facts,
            },
            "seed": self.seed,
            "strategies": [
                {
                    "name": one.name, "strategy": one.strategy, "judged": one.facts["judged"],
                    "orthogonality": _finite(one.orthogonality),
                    "seconds": round(one.seconds, 2), **{region: _agreement(one.agreements[region]) for region in REGIONS},
                }
                for one in self.judgements
            ],
            "by_inlinks": {
                name: [{"inlinks": group, "gamma": _finite(g), "low": _finite(low), "high": _finite(high)}
                       for group, g, low, high in groups]
                for name, groups in self.inlinks
            },
        }  # fmt: skip

    def write(self, folder: Path, title: str, with_figures: bool) -> Path:
        """Write the report; give the page's path."""
        nmdf = next((s for s in self.strategies.values() if s.weight.frequency == "nmdf"), None)
        curve = (*nmdf_parameters(nmdf, self.bags), self.df) if nmdf and self.df is not None else None
        return write_report(
            folder,
            Report(title, self.bench, self.judgements, figures() if with_figures else [], {"seed": self.seed}, curve,
                   self.inlinks),
        )  # fmt: skip


def _finite(value: float) -> float | None:
    return round(value, 6) if np.isfinite(value) else None


def _agreement(agreement: Any) -> dict[str, Any]:
    names = ("gamma", "low", "high", "somers_d", "somers_low", "somers_high", "tied")
    return {"pairs": agreement.pairs, **{name: _finite(getattr(agreement, name)) for name in names}}


def evaluate_strategies(
    corpus: Corpus, directory: Directory, strategies: dict[str, Strategy], *, linked: bool = False, sample: int = 0,
    seed: int = 1, threads: int = 1, progress: Progress = lambda _s, _p: None,
) -> Evaluation:  # fmt: skip
    """Judge strategies by a directory. Temporary files are removed at the end, whatever happens."""
    everything = make_bench(directory, None, sample, seed=seed)
    bench = everything
    if linked:
        bench = make_bench(directory, linked_pages(corpus, directory.urls), sample, seed=seed)
        bench = replace(bench, note=f"{bench.note}; only pages that another page links to")
    folder = Path(tempfile.mkdtemp(prefix="pagekin-evaluate-"))
    try:
        workshop = Workshop(corpus, folder, threads, without_crumbs=directory.name == "breadcrumbs")
        judgements = run_all(Experiment(corpus, bench, workshop, threads), strategies, progress)
        if len(bench.urls) < len(everything.urls):
            # Pages without links have their own words all the same.
            content = {
                f"{n} (all pages)": s for n, s in strategies.items() if not s.anchors.scale and not s.links.scale
            }
            judgements += run_all(Experiment(corpus, everything, workshop, threads), content, progress)
        nmdf = next((s for s in strategies.values() if s.weight.frequency == "nmdf"), None)
        made = workshop.bags(nmdf) if nmdf else None
        groups: list[tuple[str, list[tuple[str, float, float, float]]]] = []
        if any(name in strategies for name in BY_INLINKS):
            citing = inlinks(corpus, bench.urls[bench.sources])
            groups = [(one.name, by_inlinks(one, bench, citing)) for one in judgements if one.name in BY_INLINKS]
        return Evaluation(
            bench, judgements, strategies, seed, None if made is None else made.df, 0 if made is None else len(made.urls),
            groups,
        )  # fmt: skip
    finally:
        shutil.rmtree(folder, ignore_errors=True)
