"""The report of an evaluation: one HTML file with pictures and tables, and the same numbers as CSV."""

import csv
import math
from dataclasses import dataclass, fields
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from pagekin import __version__
from pagekin.evaluation.charts import Bar, bar_chart, curve_chart
from pagekin.evaluation.experiments import Bench, Judgement
from pagekin.evaluation.figures import Figure
from pagekin.evaluation.gamma import REGIONS, Agreement, kendall_tau

_STYLE = """
:root {
  color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --soft: #5b6470; --line: #d9dee4; --bar: #4878a8;
  --accent: #b4532a
}
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --paper: #15181c; --soft: #9aa4b0; --line: #333a42; --bar: #6b9fd4; --accent: #e08a5c }
}
body {
  font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem
}
h1 { font-size: 1.8rem } h2 { font-size: 1.25rem; margin-top: 2.5rem } p.soft, td.soft, figcaption { color: var(--soft) }
table { border-collapse: collapse; width: 100%; font-size: .875rem; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: .25rem .5rem; border-bottom: 1px solid var(--line) }
th:first-child, td:first-child { text-align: left }
.wide { overflow-x: auto } figure { margin: 1rem 0; overflow-x: auto } svg { width: 100%; min-width: 34rem; height: auto }
svg text { fill: var(--ink); font: 13px system-ui, sans-serif } svg .title { font-weight: 600; font-size: 15px }
svg .tick, svg .axis { fill: var(--soft) } svg .grid { stroke: var(--line) } svg .bar { fill: var(--bar) }
svg .faint { fill: var(--line) }
svg .error { stroke: var(--ink); fill: none; stroke-width: 1.5 } svg .curve { stroke: var(--accent); fill: none; stroke-width: 2 }
"""


@dataclass(frozen=True)
class Report:
    """All that is told."""

    title: str
    bench: Bench
    judgements: list[Judgement]
    figures: list[Figure]
    facts: dict[str, Any]
    nmdf: tuple[float, float, Any] | None = None
    """μ, σ and the numbers of bags that hold each term, for the curve of Figure 8."""
    inlinks: list[tuple[str, list[tuple[str, float, float, float]]]] | None = None
    """By strategy: (number of inlinks, Γ, low, high), for footnote 11."""


def write_report(folder: Path, report: Report) -> Path:
    """Write `index.html` and `strategies.csv`; give the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    by_name = {judgement.name: judgement for judgement in report.judgements}
    parts = [_head(report)]
    for figure in report.figures:
        judged = [
            (label, by_name[key])
            for label, key in ((label, f"{figure.number}: {label}") for label in figure.strategies)
        ]
        parts.append(f"<h2>Figure {escape(figure.number)}: {escape(figure.title)}</h2>" if figure.number[0].isdigit()
                     else f"<h2>{escape(figure.title)}</h2>")  # fmt: skip
        if figure.orthogonality:
            bars = [Bar(label, judgement.orthogonality) for label, judgement in judged]
            parts.append(_figure(bar_chart(figure.title, "share of pairs of one class that share no term", bars)))
        else:
            bars = [_bar(label, judgement, "siblings") for label, judgement in judged]
            parts.append(_figure(bar_chart(figure.title, "sibling Γ, with the 95 % interval over classes", bars)))
        if figure.paper:
            parts.append(f"<p class=soft>The paper found: {escape(figure.paper)}. {escape(_found(judged, figure))}</p>")
    if report.nmdf:
        parts.append(_nmdf(*report.nmdf))
    for name, groups in report.inlinks or []:
        bars = [Bar(label, value, low, high) for label, value, low, high in groups]
        parts.append(f"<h2>By number of inlinks: {escape(name)}</h2>")
        parts.append(_figure(bar_chart(name, "sibling Γ of sources, by how many pages link to them", bars)))
    here = [one for one in report.judgements if one.facts.get("judged") == report.bench.note]
    parts += [_table(report), _agreement(here), _settings(report)]
    page = folder / "index.html"
    page.write_text("\n".join(parts) + "\n</body></html>\n", encoding="utf-8")
    _write_csv(folder / "strategies.csv", report.judgements)
    return page


def _head(report: Report) -> str:
    directory = report.bench.directory
    facts = directory.facts
    return (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>{escape(report.title)}</title><style>{_STYLE}</style></head><body><h1>{escape(report.title)}</h1>"
        f"<p>{facts['pages']:,} pages in {facts['classes']:,} classes, depth {directory.depth}, {directory.mode}, "
        f"{'the deepest class of each page' if directory.choice == 'primary' else 'all classes of each page'}. Judged: "
        f"{escape(report.bench.note)}. Intervals resample classes.</p>"
        "<p class=soft>Γ tells how often, of two documents at different distances from a source in the directory, the "
        "nearer one is the more similar one: 1 is always, 0 as often as not. Documents that are equally similar are not "
        "compared by Γ; Somers' D counts them as undecided.</p>"
    )


def _figure(svg: str) -> str:
    return f"<figure>{svg}</figure>"


def _bar(label: str, judgement: Judgement, region: str) -> Bar:
    agreement = judgement.agreements[region]
    return Bar(label, agreement.gamma, agreement.low, agreement.high)


def _found(judged: list[tuple[str, Judgement]], figure: Figure) -> str:
    """What we found, in words: the order, with what has no value last."""
    pairs = [
        (label, one.orthogonality if figure.orthogonality else one.agreements["siblings"].gamma)
        for label, one in judged
    ]
    pairs.sort(key=lambda pair: pair[1] if math.isfinite(pair[1]) else math.inf)
    return "Here, in rising order: " + ", ".join(f"{label} {_number(value)}" for label, value in pairs) + "."


def _nmdf(mu: float, sigma: float, df: Any) -> str:
    """Figure 8: the weight over the number of bags that hold a term, above the collection's histogram of it."""
    counts = np.asarray(df)
    counts = counts[counts > 0]
    edges = [2.0**power for power in range(int(np.log2(counts.max(initial=1))) + 1)]
    histogram = [(edge, float(np.count_nonzero((counts >= edge) & (counts < 2 * edge)))) for edge in edges]
    points = [10 ** (step / 40) for step in range(int(40 * math.log10(max(edges[-1] * 2, 10))) + 1)]
    curve = [(x, math.exp(-0.5 * ((math.log(x) - mu) / sigma) ** 2)) for x in points]
    chart = curve_chart(
        "NMDF weight (line) over the terms' document frequencies (bars)", "bags that hold the term", histogram, curve
    )
    return (
        f"<h2>Figure 8: NMDF</h2>{_figure(chart)}<p class=soft>μ = {mu:.2f} (df {math.exp(mu):,.0f}), σ = {sigma:.2f}. "
        "The paper gives neither.</p>"
    )


def _table(report: Report) -> str:
    head = "".join(f"<th>{region} Γ<th>D" for region in REGIONS)
    rows = []
    for one in report.judgements:
        cells = "".join(
            f"<td>{_number(a.gamma)}<td>{_number(a.somers_d)}" for a in (one.agreements[region] for region in REGIONS)
        )
        width = one.facts.get("window_words")
        shown = f"{width[0]:.1f} / {width[1]:.1f}" if width else ""
        rows.append(
            f"<tr><td>{escape(one.name)}{cells}<td>{one.agreements['siblings'].pairs:,}"
            f"<td>{_number(one.agreements['siblings'].tied)}"
            f"<td>{_number(one.orthogonality)}<td>{shown}<td>{one.seconds:.1f}"
        )
    return (
        f"<h2>All strategies</h2><div class=wide><table><tr><th>strategy{head}<th>sibling pairs<th>tied<th>orthogonal"
        f"<th>window words<th>seconds{''.join(rows)}</table></div>"
    )


def _number(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else "–"


def _agreement(judgements: list[Judgement]) -> str:
    """Kendall's τ between the three Γ (section 5), and a warning where unrelated Γ lags (section 2.3)."""
    # A strategy that stands in several figures counts once, and one without pairs to compare not at all.
    once = {id(one.counts): [one.agreements[region].gamma for region in REGIONS] for one in judgements}
    gammas = np.array([row for row in once.values() if all(map(math.isfinite, row))]).reshape(-1, len(REGIONS))
    values = dict(zip(REGIONS, gammas.T, strict=True))
    pairs = [("siblings", "cousins"), ("siblings", "unrelated"), ("cousins", "unrelated")]
    said = ", ".join(f"{a} and {b} {_number(kendall_tau(values[a], values[b]))}" for a, b in pairs)
    low = [one.name for one in judgements if one.agreements["unrelated"].gamma < one.agreements["siblings"].gamma]
    warning = f"<p>Unrelated Γ is below sibling Γ for {escape(', '.join(low))}: features too sparse?</p>" if low else ""
    return f"<h2>Do the three Γ agree?</h2><p>Kendall's τ over the strategies: {said}.</p>{warning}"


def _settings(report: Report) -> str:
    rows = "".join(f"<tr><td>{escape(str(name))}<td>{escape(str(value))}" for name, value in report.facts.items())
    missed = report.bench.directory.facts
    listed = "".join(f"<tr><td>{escape(str(name))}<td>{escape(str(value))}" for name, value in missed.items())
    return f"<h2>Settings</h2><table>{rows}{listed}<tr><td>Pagekin<td>{__version__}</table>"


def _write_csv(file: Path, judgements: list[Judgement]) -> None:
    measures = [field.name for field in fields(Agreement)]
    with file.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(["name", "region", *measures, "orthogonality", "seconds"])
        for one in judgements:
            for region in REGIONS:
                numbers = [getattr(one.agreements[region], measure) for measure in measures]
                writer.writerow([one.name, region, *numbers, one.orthogonality, round(one.seconds, 2)])
