"""The parts of a report that have pictures: the paper's figures, the best strategy against others, inlinks."""

import math
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.evaluation.charts import Bar, bar_chart, curve_chart, dot_chart
from pagekin.evaluation.compare import Comparison, Step, compare_bars, summarise_comparisons
from pagekin.evaluation.experiments import Bench, Judgement
from pagekin.evaluation.figures import EQUAL, HIGHER, LOWER, Figure
from pagekin.evaluation.gamma import interval

Array = npt.NDArray[Any]
_RIVALS = 10
"""Strategies closest to the best one that the picture shows."""
_NAMES = {"siblings": "sibling", "cousins": "cousin", "unrelated": "unrelated", "overall": "overall"}


def format_number(value: float) -> str:
    """Format a number with three digits; a dash for nan."""
    return f"{value:.3f}" if math.isfinite(value) else "–"


def _format_signed(value: float) -> str:
    return f"{value:+.3f}" if math.isfinite(value) else "–"


def _section(heading: str, chart: str, text: str) -> str:
    if not chart:
        return f"<section><h2>{escape(heading)}</h2>{text}</section>"
    return (
        f"<section><h2>{escape(heading)}</h2><div class=pair><figure>{chart}</figure><div>{text}</div></div></section>"
    )


# -- figures ------------------------------------------------------------------------------------------------------------


def figure_section(figure: Figure, judged: dict[str, Judgement], bench: Bench, region: str | None) -> str:
    """Show a figure: the picture, what the paper reports, the result here, and which steps are beyond chance."""
    heading = f"Figure {figure.number}: {figure.title}" if figure.number[0].isdigit() else figure.title
    values = _values(figure, judged, bench, region)
    paper = f"<p><b>The paper found:</b> {escape(figure.paper)}.</p>" if figure.paper else ""
    if not any(math.isfinite(value) for value, _resampled in values.values()):
        return _section(heading, "", f"{paper}<p>{escape(_nothing_to_show(figure.orthogonality))}</p>")
    if figure.orthogonality:
        bars = [Bar(label, value, *interval(some)) for label, (value, some) in values.items()]
        chart = bar_chart(
            figure.title, "share of pairs of one class that share no term", bars,
            "share, with its 95 % interval over classes",
        )  # fmt: skip
    else:
        assert region is not None
        bars = []
        for label, one in judged.items():
            agreement = one.agreements[region]
            bars.append(
                Bar(label, agreement.gamma, agreement.low, agreement.high, agreement.somers_d, agreement.tied > 0.5)
            )
        chart = bar_chart(
            figure.title, f"agreement with the directory ({_NAMES[region]} pairs): 1 always, 0 by chance", bars,
            f"{_NAMES[region]} Γ, with its 95 % interval over classes", "Somers' D, the same with ties counted as 0",
            "more than half of the pairs are tied: Γ is of few pairs",
        )  # fmt: skip
    what = "the share" if figure.orthogonality else f"{_NAMES[region or '']} Γ"
    return _section(heading, chart, f"{paper}{_steps_table(figure, values, what)}{_windows(figure, judged)}")


def _nothing_to_show(orthogonality: bool) -> str:
    if orthogonality:
        return "Nothing to show: no class has two of the judged pages."
    return "Nothing to show: no strategy orders two documents that the directory orders too."


def _values(
    figure: Figure, judged: dict[str, Judgement], bench: Bench, region: str | None
) -> dict[str, tuple[float, Array]]:
    """Return the value of each bar, and its resamples."""
    if not figure.orthogonality:
        where = region or "siblings"
        return {label: (one.agreements[where].gamma, one.resampled[where][0]) for label, one in judged.items()}
    values = {}
    for label, one in judged.items():
        _same, same = bench.bootstrap.sums(one.counts.orthogonal[:, 0])
        _apart, apart = bench.bootstrap.sums(one.counts.orthogonal[:, 1])
        with np.errstate(invalid="ignore", divide="ignore"):
            values[label] = one.orthogonality, apart / same
    return values


def _steps_table(figure: Figure, values: dict[str, tuple[float, Array]], what: str) -> str:
    """Show the differences of neighbouring bars, whether they are beyond chance, and what the paper says of them."""
    rows = []
    with_paper = any(figure.steps.values())
    for step in compare_bars(values, list(figure.steps)):
        claim = figure.steps[step.first, step.second]
        kind, verdict = _verdict(step, claim)
        rows.append(
            f"<tr><td>{escape(step.first)} → {escape(step.second)}<td>{_format_signed(step.difference)} "
            f"{_interval(step.low, step.high)}{_sure_cell(step.sure)}"
            + (f"<td>{claim or 'not said'}<td class={kind}>{verdict}" if with_paper else "")
        )
    paper = "<th>in the paper<th>" if with_paper else ""
    head = f"<tr><th>here, {escape(what)}<th>difference, 95 %<th>beyond chance?{paper}"
    return f"<div class=wide><table>{head}{''.join(rows)}</table></div>"


def _verdict(step: Step, claim: str) -> tuple[str, str]:
    """Return (class, words): whether the result here agrees with the paper's."""
    if not claim:
        return "chance", ""
    if not step.sure:
        return ("sure", "agrees") if claim == EQUAL else ("chance", "open")
    rises = step.difference > 0
    return ("sure", "agrees") if claim == (HIGHER if rises else LOWER) else ("against", "differs")


def _sure_cell(sure: bool) -> str:
    """Return a cell that says whether a difference is beyond chance."""
    return "<td class=sure>yes" if sure else "<td class=chance>no"


def _interval(low: float, high: float) -> str:
    return f"[{_format_signed(low)}, {_format_signed(high)}]" if math.isfinite(low) else "–"


def _windows(figure: Figure, judged: dict[str, Judgement]) -> str:
    """Show the mean widths of windows that end where the text does (section 3.1), beside the paper's."""
    widths = []
    for label, paper in (("syntactic", 3), ("topical", 21)):
        width = judged[label].facts.get("window_words") if label in judged and not figure.orthogonality else None
        if width:
            widths.append(f"{label} {width[0]:.1f} left and {width[1]:.1f} right (paper: about {paper} a side)")
    return f"<p>Mean words of a window: {'; '.join(widths)}.</p>" if widths else ""


def nmdf_section(mu: float, sigma: float, terms: Any) -> str:
    """Show Figure 8: the weight by the number of bags that hold a term, above the collection's histogram of it."""
    histogram = [(2.0**power, float(count)) for power, count in enumerate(terms.tolist())]
    most = 2.0 ** max(len(histogram), 4)
    curve = []
    for step in range(int(40 * math.log10(most)) + 1):
        df = 10 ** (step / 40)
        curve.append((df, math.exp(-0.5 * ((math.log(df) - mu) / sigma) ** 2)))
    text = (
        f"<p>μ = {mu:.2f} (df {math.exp(mu):,.0f}), σ = {sigma:.2f}. The paper gives neither.</p>"
        "<p class=soft>Terms in very few bags and terms in very many weigh little.</p>"
    )
    if not histogram:
        return _section("Figure 8: NMDF", "", f"<p>Nothing to show: no bag holds a term.</p>{text}")
    chart = curve_chart(
        "Weight of a term by the number of bags that hold it (NMDF)", "bags that hold the term (logarithmic)",
        histogram, curve,
        (f"terms, by powers of two of that number; at most {max(map(int, terms)):,}", "weight, from 0 to 1 (right)"),
    )  # fmt: skip
    return _section("Figure 8: NMDF", chart, text)


# -- comparisons --------------------------------------------------------------------------------------------------------


def differences_section(comparisons: list[Comparison], region: str | None) -> str:
    """Show the best strategy against all others: a picture of the closest, a table of all."""
    heading = "Which is best, and how sure is that?"
    here = {
        measure: {c.other: c for c in comparisons if (c.difference.region, c.difference.measure) == (region, measure)}
        for measure in ("somers_d", "gamma")
    }
    if not here["somers_d"]:
        return _section(heading, "", "<p>There are no two different strategies with values to compare.</p>")
    best = next(iter(here["somers_d"].values())).better
    rows = []
    table = []
    for other, by_d in here["somers_d"].items():
        by_gamma = here["gamma"].get(other)
        both = [c.difference for c in (by_d, by_gamma) if c is not None]
        bars = [Bar("", f.difference, f.low, f.high) for f in both]
        rows.append((other, [*bars, *[Bar("", math.nan)] * (2 - len(bars))]))
        cells = "".join(f"<td>{_format_signed(f.difference)} {_interval(f.low, f.high)}" for f in both)
        cells += "<td>–" * (2 - len(both))
        table.append(f"<tr><td>{escape(other)}{cells}{_sure_cell(by_d.sure)}")
    shown = f"the {_RIVALS} closest of {len(rows)} others" if len(rows) > _RIVALS else "all others"
    chart = dot_chart(
        f"How much better “{best}” is than {shown}",
        f"difference of {_NAMES[region or '']} agreement; right of 0: “{best}” is better",
        ["Somers' D, with its paired 95 % interval", "Γ, with its paired 95 % interval"],
        rows[:_RIVALS],
    )
    text = (
        f"<p class=lead>{escape(summarise_comparisons(comparisons, region))}</p>"
        "<p class=soft>Beyond chance: the probability of a difference as far from 0, by resampling classes for both "
        "strategies alike and corrected for the number of comparisons (Holm), is below 5 %. So an interval, which is of "
        "one comparison, may leave out 0 all the same.</p>"
    )
    full = (
        f"<details open><summary>{escape(best)} against all {len(rows)} others</summary><div class=wide><table><tr><th>other"
        f"<th>D, 95 %<th>Γ, 95 %<th>D beyond chance?{''.join(table)}</table></div></details>"
    )
    return _section(heading, chart, text + full)


def inlinks_section(strategies: list[tuple[str, list[tuple[str, float, float, float]]]]) -> str:
    """Show strategies by how many pages link to the source (footnote 11), in one picture."""
    if not strategies:
        return ""
    heading = "By number of inlinks"
    values = {
        name: {label: Bar("", gamma, low, high) for label, gamma, low, high in groups} for name, groups in strategies
    }
    labels = [label for label, *_numbers in strategies[0][1]]
    if not any(math.isfinite(bar.value) for bars in values.values() for bar in bars.values()):
        return _section(heading, "", "<p>Nothing to show: there are no sibling pairs.</p>")
    chart = dot_chart(
        "Agreement by how many pages link to the source", "sibling Γ of the sources, with its 95 % interval over classes",
        list(values), [(f"{label.replace(' (', ' links (', 1)}", [bars[label] for bars in values.values()])
                       for label in labels],
    )  # fmt: skip
    text = (
        "<p><b>The paper found</b> (footnote 11): the gap between windows that end where the text says and large fixed "
        "windows was substantially closed for pages with many inlinks.</p>"
    )
    if {"3: window 32", "3: topical"} <= values.keys():
        gaps = [
            f"{label.partition(' (')[0]}: {_format_signed(fixed.value - values['3: topical'][label].value)}"
            for label, fixed in values["3: window 32"].items()
        ]
        text += f"<p><b>Here</b>, window 32 less topical, by links: {escape('; '.join(gaps))}.</p>"
    return _section(heading, chart, text)
