"""Write the report of an evaluation: one HTML file with pictures and tables."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pagekin import __version__
from pagekin.bags import Strategy, nmdf_parameters, setting_value, settings_table, toml_value
from pagekin.evaluation.charts import Bar, bar_chart, curve_chart, dot_chart, fill_template
from pagekin.evaluation.compare import MEASURES, Difference, compare_bars, differences_by_rival
from pagekin.evaluation.experiments import Judgement
from pagekin.evaluation.figures import Figure
from pagekin.evaluation.gamma import REGIONS, interval, kendall_tau
from pagekin.store import Array

if TYPE_CHECKING:
    from pagekin.evaluation.evaluate import Evaluation

_RIVALS = 10
"""Strategies closest to the best one that the picture shows."""
_NAMES = {"siblings": "sibling", "cousins": "cousin", "unrelated": "unrelated", "overall": "overall"}
_GAMMAS = [("siblings", "cousins"), ("siblings", "unrelated"), ("cousins", "unrelated")]


def write_report(folder: Path, done: "Evaluation", title: str, figures: Sequence[Figure]) -> Path:
    """Write `index.html` and `strategies.toml`; return the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    by_name = {judgement.name: judgement for judgement in done.judgements}
    toml = strategies_toml(done.strategies)
    facts = {
        "seed": done.seed, "resamples of classes": done.rounds, "ranked sources": len(done.rankings.rows),
        **done.bench.directory.facts, "Pagekin": __version__,
    }  # fmt: skip
    html = fill_template(
        "report.html",
        title=title,
        done=done,
        directory=done.bench.directory,
        regions=REGIONS,
        rivals=_rivals(done),
        figures=[
            _figure(one, {label: by_name[f"{one.number}: {label}"] for label in one.strategies}, done)
            for one in figures
        ],
        nmdf=_nmdf(done),
        inlinks=_inlinks(done.inlinks),
        rows=_rows(done.judgements),
        facts={name: _format_fact(value) for name, value in facts.items()},
        toml=toml,
        **_gamma_agreement(done.comparable),
    )
    page = folder / "index.html"
    page.write_text(html, encoding="utf-8")
    (folder / "strategies.toml").write_text(toml, encoding="utf-8")
    return page


def _format_fact(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_format_fact(item)}" for name, item in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(_format_fact, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


# -- the best strategy against others -----------------------------------------------------------------------------------


def _rivals(done: "Evaluation") -> dict[str, Any]:
    """Return the comparison of the best strategy with all others: a picture of the closest, a table of all."""
    region, by_rival = done.region, differences_by_rival(done.comparisons(), done.region)
    if not by_rival or region is None:
        return {"rows": {}, "chart": ""}
    best = next(iter(by_rival.values()))[0].first
    some = f"the {_RIVALS} closest of {len(by_rival)} others" if len(by_rival) > _RIVALS else "all others"
    if len(by_rival) == 1:
        some = f"“{next(iter(by_rival))}”"
    shown = {
        other: [next((one for one in some if (one.region, one.measure) == (region, name)), None) for name in MEASURES]
        for other, some in list(by_rival.items())[:_RIVALS]
    }
    chart = dot_chart(
        f"How much better “{best}” is than {some}",
        f"difference of {_NAMES[region]} agreement; right of 0: “{best}” is better",
        ["Somers' D, with its paired 95 % interval", "Γ, with its paired 95 % interval"],
        [(other, [_difference_bar(one) for one in both]) for other, both in shown.items()],
    )
    return {"rows": by_rival, "chart": chart, "best": best}


def _difference_bar(one: Difference | None) -> Bar:
    return Bar("", one.difference, one.low, one.high) if one else Bar("", math.nan)


# -- figures ------------------------------------------------------------------------------------------------------------


def _figure(figure: Figure, judged: dict[str, Judgement], done: "Evaluation") -> dict[str, Any]:
    """Return the description of a figure: picture, the paper's result, the result here, the significant steps."""
    region = done.region or "siblings"
    if figure.orthogonality:
        values = {label: (one.orthogonality, _resampled_orthogonality(one, done)) for label, one in judged.items()}
        what, axis = "the share", "share of pairs of one class that share no term"
        bars = [Bar(label, value, *interval(some)) for label, (value, some) in values.items()]
        legend = ["share, with its 95 % interval over classes"]
    else:
        values = {label: (one.agreements[region].gamma, one.resampled[region][0]) for label, one in judged.items()}
        what = f"{_NAMES[region]} Γ"
        axis = f"agreement with the directory ({_NAMES[region]} pairs): 1 always, 0 by chance"
        agreed = {label: one.agreements[region] for label, one in judged.items()}
        bars = [Bar(label, a.gamma, a.low, a.high, a.somers_d, a.tied > 0.5) for label, a in agreed.items()]
        legend = [
            f"{what}, with its 95 % interval over classes", "Somers' D, the same with ties counted as 0",
            "more than half of the pairs are tied: Γ is of few pairs",
        ]  # fmt: skip
    scores = {label: done.scores[one.name] for label, one in judged.items()}
    ranked = compare_bars({n: (one.ndcg10, one.resampled[0]) for n, one in scores.items()}, list(figure.steps))
    steps = [
        (step, figure.steps[step.second, step.first], places)
        for step, places in zip(compare_bars(values, list(figure.steps)), ranked, strict=True)
    ]
    return {
        "number": figure.number,
        "heading": f"Figure {figure.number}: {figure.title}" if figure.number[0].isdigit() else figure.title,
        "paper": figure.paper,
        "orthogonality": figure.orthogonality,
        "chart": bar_chart(figure.title, axis, bars, *legend) if any(math.isfinite(bar.value) for bar in bars) else "",
        "what": what,
        "with_paper": any(figure.steps.values()),
        "steps": steps,
        "widths": [] if figure.orthogonality else _window_widths(judged),
    }


def _resampled_orthogonality(one: Judgement, done: "Evaluation") -> Array:
    """Return the share of pairs of one class with nothing in common, in each resample."""
    same, apart = (done.bench.bootstrap.sums(one.counts.orthogonal[:, place])[1] for place in (0, 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(apart / same)


def _window_widths(judged: dict[str, Judgement]) -> list[str]:
    """Return the mean widths of syntactic windows (section 3.1), beside the paper's."""
    widths = []
    for label, paper in (("syntactic", 3), ("topical", 21)):
        width = judged[label].facts.get("window_words") if label in judged else None
        if width:
            widths.append(f"{label} {width[0]:.1f} left and {width[1]:.1f} right (paper: about {paper} a side)")
    return widths


def _nmdf(done: "Evaluation") -> dict[str, Any] | None:
    """Return the description of Figure 8: the weight by document frequency, above the collection's histogram."""
    strategy = next((one for one in done.strategies.values() if one.weight.frequency == "nmdf"), None)
    if strategy is None or done.frequencies is None:
        return None
    terms, bags = done.frequencies
    mu, sigma = nmdf_parameters(strategy, bags)
    histogram = [(2.0**power, float(count)) for power, count in enumerate(terms.tolist())]
    chart = ""
    if histogram:
        most = 2.0 ** max(len(histogram), 4)
        numbers = [10 ** (step / 40) for step in range(int(40 * math.log10(most)) + 1)]
        curve = [(df, math.exp(-0.5 * ((math.log(df) - mu) / sigma) ** 2)) for df in numbers]
        many = f"terms, by powers of two of that number; at most {max(map(int, terms)):,}"
        chart = curve_chart(
            "Weight of a term by the number of bags that hold it (NMDF)", "bags that hold the term (logarithmic)",
            histogram, curve, (many, "weight, from 0 to 1 (right)"),
        )  # fmt: skip
    return {"mu": mu, "sigma": sigma, "df": math.exp(mu), "chart": chart}


def _inlinks(strategies: list[tuple[str, list[tuple[str, float, float, float]]]]) -> dict[str, Any]:
    """Return the description of strategies by the number of inlinks of the source (footnote 11), in one picture."""
    values = {
        name: {label: Bar("", gamma, low, high) for label, gamma, low, high in groups} for name, groups in strategies
    }
    if not any(math.isfinite(bar.value) for bars in values.values() for bar in bars.values()):
        return {"chart": ""}
    labels = [label for label, *_numbers in strategies[0][1]]
    chart = dot_chart(
        "Agreement by how many pages link to the source", "sibling Γ of the sources, with its 95 % interval over classes",
        list(values), [(label.replace(" (", " links (", 1), [bars[label] for bars in values.values()]) for label in labels],
    )  # fmt: skip
    fixed, topical = values.get("3: window 32", {}), values.get("3: topical", {})
    gaps = {label.partition(" (")[0]: fixed[label].value - bar.value for label, bar in topical.items() if fixed}
    return {"chart": chart, "gaps": gaps}


# -- all strategies -----------------------------------------------------------------------------------------------------


def _rows(judgements: list[Judgement]) -> list[tuple[Judgement, list[str], str]]:
    """Return (judgement, names of equal strategies, mean window widths) of the distinct strategies."""
    equal: dict[int, list[Judgement]] = {}
    for one in judgements:
        equal.setdefault(id(one.counts), []).append(one)
    rows = []
    for first, *others in equal.values():
        width = first.facts.get("window_words") if first.strategy.get("anchors", {}).get("scale") else None
        rows.append((first, [one.name for one in others], f"{width[0]:.1f} / {width[1]:.1f}" if width else ""))
    return rows


def _gamma_agreement(judgements: list[Judgement]) -> dict[str, Any]:
    """Return Kendall's τ between the three Γ (section 5), and where unrelated Γ falls behind (section 2.3)."""
    # A strategy that stands in several figures counts once, and one without pairs to compare not at all.
    once = {id(one.counts): [one.agreements[region].gamma for region in REGIONS] for one in judgements}
    gammas = np.array([row for row in once.values() if all(map(math.isfinite, row))]).reshape(-1, len(REGIONS))
    values = dict(zip(REGIONS, gammas.T, strict=True))
    return {
        "judged": len(gammas),
        "taus": [(a, b, kendall_tau(values[a], values[b])) for a, b in _GAMMAS],
        "low": [one.name for one in judgements if one.agreements["unrelated"].gamma < one.agreements["siblings"].gamma],
    }


def strategies_toml(strategies: dict[str, Strategy]) -> str:
    """Return all strategies as one file for `--strategies`: a table for each, with every setting."""
    parts = []
    for title, strategy in strategies.items():
        values = {name: setting_value(strategy, name) for name, *_rest in settings_table(Strategy)}
        lines = [
            f"{name} = {toml_value(value)}\n" for name, value in values.items() if name != "name" and value is not None
        ]
        parts.append(f"[{toml_value(title)}]\n{''.join(lines)}")
    return "\n".join(parts)
