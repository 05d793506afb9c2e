"""The report of an evaluation: one HTML file with pictures and tables, and the same numbers as CSV."""

import csv
import json
import math
from dataclasses import dataclass, field, fields
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from pagekin import __version__
from pagekin.bags import Strategy
from pagekin.evaluation.compare import Comparison
from pagekin.evaluation.experiments import Bench, Judgement
from pagekin.evaluation.figures import Figure
from pagekin.evaluation.gamma import REGIONS, Agreement, kendall_tau
from pagekin.evaluation.ranking import Scores
from pagekin.evaluation.sections import (
    differences_section,
    figure_section,
    format_number,
    inlinks_section,
    nmdf_section,
)

_STYLE = """
:root {
  color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --soft: #5b6470; --line: #d9dee4; --bar: #4878a8;
  --pale: #b3cbe2; --second: #b4532a; --third: #3d7a52; --sure: #2c6b43
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6e9ed; --paper: #15181c; --soft: #9aa4b0; --line: #39414a; --bar: #5b8fc4; --pale: #34506d;
    --second: #f0a074; --third: #7cc698; --sure: #8fd3a8
  }
}
body {
  font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 72rem; margin: 2rem auto;
  padding: 0 1rem
}
h1 { font-size: 1.8rem; line-height: 1.2; overflow-wrap: anywhere } h2 { font-size: 1.25rem; margin: 0 0 .5rem }
section { margin-top: 2.5rem; padding-top: 1.5rem; border-top: 1px solid var(--line) }
p { margin: .5rem 0; max-width: 45rem } .soft, figcaption { color: var(--soft) } .lead { font-size: 1.1rem }
.pair { display: grid; grid-template-columns: minmax(0, 29rem) minmax(0, 1fr); gap: 1rem 2rem; align-items: start }
@media (max-width: 56rem) { .pair { grid-template-columns: minmax(0, 1fr) } }
table { border-collapse: separate; border-spacing: 0; font-size: .875rem; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: .25rem .5rem; border-bottom: 1px solid var(--line); vertical-align: top }
th { color: var(--soft); font-weight: 600; line-height: 1.25; vertical-align: bottom } td { white-space: nowrap }
th:first-child, td:first-child, td.said, th.said { text-align: left; white-space: normal }
.wide { overflow-x: auto } .wide th:first-child, .wide td:first-child {
  position: sticky; left: 0; background: var(--paper); min-width: 8rem; overflow-wrap: anywhere
}
table.all { font-size: .8125rem } table.all th, table.all td { padding: .25rem .35rem }
table.all td:first-child { min-width: 11rem }
td.sure { color: var(--sure); font-weight: 600 } td.chance { color: var(--soft) }
td.against { color: var(--second); font-weight: 600 }
figure { margin: 0 } svg { display: block; width: 100%; max-width: 30rem; height: auto }
svg text { fill: var(--ink); font: 13px system-ui, sans-serif } svg .title { font-weight: 600; font-size: 15px }
svg .label, svg .value { paint-order: stroke; stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round }
svg .value { font-variant-numeric: tabular-nums } svg .tick, svg .axis, svg .key, svg .side { fill: var(--soft) }
svg .side { fill: var(--second) }
svg .grid { stroke: var(--line) } svg .zero { stroke: var(--soft) } svg .bar, svg .first { fill: var(--bar) }
svg .pale { fill: var(--pale) } svg .faint { fill: var(--pale) }
svg .second { fill: var(--second); stroke: var(--paper) } svg .third { fill: var(--third) }
svg .error { stroke: var(--ink); fill: none; stroke-width: 1.5 } svg .curve { stroke: var(--second); fill: none; stroke-width: 2 }
svg .first-line { stroke: var(--bar) } svg .second-line { stroke: var(--second) } svg .third-line { stroke: var(--third) }
details { margin: .75rem 0 } summary { cursor: pointer } pre { overflow-x: auto; font-size: .8rem; line-height: 1.4 }
"""


@dataclass(frozen=True)
class Report:
    """Everything that the report shows."""

    title: str
    bench: Bench
    judgements: list[Judgement]
    comparable: list[Judgement]
    """Those of the bench's pages, which are compared with each other."""
    region: str | None
    """The region that pictures show: siblings where there are any."""
    figures: list[Figure]
    facts: dict[str, Any]
    strategies: dict[str, Strategy]
    scores: dict[str, Scores]
    ranked: str
    """How nDCG@10 and MAP were found."""
    comparisons: list[Comparison]
    nmdf: tuple[float, float, Any] | None = None
    """μ, σ and the numbers of terms in 1, 2-3, 4-7, ... bags, for the curve of Figure 8."""
    inlinks: list[tuple[str, list[tuple[str, float, float, float]]]] = field(default_factory=list)
    """By strategy: (number of inlinks, Γ, low, high), for footnote 11."""
    left_out: dict[str, str] = field(default_factory=dict)


def write_report(folder: Path, report: Report) -> Path:
    """Write `index.html`, `strategies.csv` and `strategies.toml`; return the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    by_name = {judgement.name: judgement for judgement in report.judgements}
    parts = [_head(report), differences_section(report.comparisons, report.region)]
    for figure in report.figures:
        judged = {label: by_name[f"{figure.number}: {label}"] for label in figure.strategies}
        parts.append(figure_section(figure, judged, report.bench, report.region))
        if figure.number == "7" and report.nmdf:
            parts.append(nmdf_section(*report.nmdf))
    if not report.figures and report.nmdf:
        parts.append(nmdf_section(*report.nmdf))
    parts += [inlinks_section(report.inlinks), _table(report), _agreement(report), _settings(report)]
    page = folder / "index.html"
    page.write_text("\n".join(parts) + "\n</body></html>\n", encoding="utf-8")
    _write_csv(folder / "strategies.csv", report)
    (folder / "strategies.toml").write_text(strategies_toml(report.strategies), encoding="utf-8")
    return page


def _head(report: Report) -> str:
    directory, facts = report.bench.directory, report.bench.directory.facts
    return (
        "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>{escape(report.title)}</title><style>{_STYLE}</style></head><body><h1>{escape(report.title)}</h1>"
        f"<p>{facts['pages']:,} pages in {facts['classes']:,} classes, depth {directory.depth}, {directory.mode}, "
        f"{'the deepest class of each page' if directory.choice == 'primary' else 'all classes of each page'}. Judged: "
        f"{escape(report.bench.note)}. Intervals resample classes.</p>"
        "<p class=soft>Γ tells how often, of two documents at different distances from a source in the directory, the "
        "nearer one is the more similar one: 1 is always, 0 as often as not. Documents that are equally similar are not "
        "compared by Γ; Somers' D counts them as undecided, so a strategy that leaves most pages with nothing in common "
        f"can have a high Γ and a low D. {escape(report.ranked)}.</p>"
    )


def _table(report: Report) -> str:
    head = "".join(f"<th>{region} Γ<th>D" for region in REGIONS)
    names: dict[int, list[str]] = {}
    for one in report.judgements:
        names.setdefault(id(one.counts), []).append(one.name)
    rows = []
    for one in report.judgements:
        name, *equal = names[id(one.counts)]
        if name != one.name:
            continue
        cells = "".join(
            f"<td>{format_number(a.gamma)}<td>{format_number(a.somers_d)}"
            for a in (one.agreements[region] for region in REGIONS)
        )
        width = one.facts.get("window_words") if one.strategy.get("anchors", {}).get("scale") else None
        shown = f"{width[0]:.1f} / {width[1]:.1f}" if width else ""
        scores = report.scores[one.name]
        region = one.agreements[report.region or "siblings"]
        also = f"<br><span class=soft>= {escape(', '.join(equal))}</span>" if equal else ""
        rows.append(
            f"<tr><td>{escape(name)}{also}{cells}<td>{format_number(scores.ndcg10)}<td>{format_number(scores.map)}<td>{region.pairs:,}"
            f"<td>{format_number(region.tied)}<td>{format_number(one.orthogonality)}<td>{shown}<td>{one.seconds:.1f}"
        )
    missing = "".join(f"<p>{escape(reason)}.</p>" for reason in report.left_out.values())
    return (
        f"<section><h2>All strategies</h2><div class=wide><table class=all><tr><th>strategy{head}<th>nDCG @10<th>MAP"
        f"<th>{report.region or 'sibling'} pairs<th>tied<th>ortho&shy;gonal<th>window words, left / right<th>seconds"
        f"{''.join(rows)}</table></div>{missing}</section>"
    )


def _agreement(report: Report) -> str:
    """Show Kendall's τ between the three Γ (section 5), and warn where unrelated Γ lags (section 2.3)."""
    # A strategy that stands in several figures counts once, and one without pairs to compare not at all.
    once = {id(one.counts): [one.agreements[region].gamma for region in REGIONS] for one in report.comparable}
    gammas = np.array([row for row in once.values() if all(map(math.isfinite, row))]).reshape(-1, len(REGIONS))
    values = dict(zip(REGIONS, gammas.T, strict=True))
    pairs = [("siblings", "cousins"), ("siblings", "unrelated"), ("cousins", "unrelated")]
    taus = ", ".join(f"{a} and {b} {format_number(kendall_tau(values[a], values[b]))}" for a, b in pairs)
    text = (
        f"Kendall's τ over {len(gammas)} different strategies: {taus}. The paper found that all three order strategies "
        "alike."
    )
    if len(gammas) < 3:
        text = f"Kendall's τ says nothing of fewer than three strategies; here are {len(gammas)} with pairs in all regions."
    low = [
        one.name for one in report.comparable if one.agreements["unrelated"].gamma < one.agreements["siblings"].gamma
    ]
    warning = f"<p>Unrelated Γ is below sibling Γ for {escape(', '.join(low))}: features too sparse?</p>" if low else ""
    return f"<section><h2>Do the three Γ agree?</h2><p>{text}</p>{warning}</section>"


def _settings(report: Report) -> str:
    facts = {**report.facts, **report.bench.directory.facts, "Pagekin": __version__}
    rows = "".join(
        f"<tr><td>{escape(str(name))}<td class=said>{escape(_format_fact(value))}" for name, value in facts.items()
    )
    return (
        f"<section><h2>Settings</h2><table>{rows}</table><details><summary>All strategies with all their settings, as "
        f"--strategies reads them</summary><pre>{escape(strategies_toml(report.strategies))}</pre></details></section>"
    )


def _format_fact(value: Any) -> str:
    """Format a fact for people."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_format_fact(item)}" for name, item in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(_format_fact, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def strategies_toml(strategies: dict[str, Strategy]) -> str:
    """Write all strategies as one file that `--strategies` reads: a table for each, with every setting."""
    parts = []
    for name, strategy in strategies.items():
        lines = [f"[{_toml(name)}]"]
        for key, value in strategy.as_dict().items():
            if isinstance(value, dict):
                lines += [f"{key}.{inner} = {_toml(item)}" for inner, item in value.items()]
            elif key != "name":
                lines.append(f"{key} = {_toml(value)}")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _toml(value: Any) -> str:
    """Write a plain value as TOML: as JSON does, but with DEL escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _write_csv(file: Path, report: Report) -> None:
    measures = [item.name for item in fields(Agreement)]
    with file.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(["name", "region", *measures, "orthogonality", "ndcg10", "map", "seconds"])
        for one in report.judgements:
            for region in REGIONS:
                numbers = [getattr(one.agreements[region], measure) for measure in measures]
                rest = [one.orthogonality, *report.scores[one.name], round(one.seconds, 2)]
                writer.writerow([one.name, region, *numbers, *rest])
