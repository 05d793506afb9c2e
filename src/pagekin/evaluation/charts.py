"""Draw the report's pictures as plain SVG, readable alone and on a phone; the templates hold what is drawn."""

import math
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from pagekin.wording import format_measure, plural

if TYPE_CHECKING:
    import jinja2

_WIDTH, _LEFT, _RIGHT = 440, 14, 54
_ROW, _DOT, _CURVE = 46, 14, 200
"""Heights: of a bar with its label, of a dot, of a curve."""
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LETTERS, _TITLE_LETTERS = 54, 44
"""Letters that fit a line."""


@dataclass(frozen=True)
class Bar:
    """A bar with its interval; nan if it has none."""

    label: str
    value: float
    low: float = float("nan")
    high: float = float("nan")
    mark: float = float("nan")
    """A second value, shown as a mark."""
    pale: bool = False
    """Whether the value is to be trusted less."""


@cache
def _templates() -> "jinja2.Environment":
    """Return the templates of the report and its pictures, with autoescaping."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pagekin.evaluation", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    environment.tests["finite"] = math.isfinite
    environment.filters["plural"] = plural
    environment.filters["measure"] = lambda value, sign="": format_measure(value, sign) if math.isfinite(value) else "–"
    # Control characters cannot stand in XML.
    environment.filters["legible"] = lambda text: _NOT_XML.sub("�", text)
    environment.filters["shorten"] = lambda text: text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"
    return environment


def fill_template(template: str, **context: Any) -> str:
    """Render the report, or one of its pictures, from its template."""
    return _templates().get_template(template).render(context)


def _draw(
    template: str, title: str, axis: str, legend: list[tuple[str, str]], height: float, ticks: list[float],
    x: Callable[[float], float], **more: Any,
) -> str:  # fmt: skip
    """Draw a chart of a given height from its template, with a title, a legend and a named axis.

    The legend has pairs of a sign's class and its meaning; `x` gives the place of a value.
    """
    titles, axes = textwrap.wrap(title, _TITLE_LETTERS) or [""], textwrap.wrap(axis, _LETTERS) or [""]
    top = 22 + 18 * len(titles) + 19 * len(legend)
    return fill_template(
        template, title=title, titles=titles, axes=axes, legend=legend, ticks=ticks, x=x, top=top, bottom=top + height,
        left=_LEFT, right=_WIDTH - _RIGHT, width=_WIDTH, **more,
    )  # fmt: skip


def _scale(shown: list[float]) -> tuple[list[float], Callable[[float], float]]:
    """Return (ticks, a function from a value to its position) of an axis that holds 0 and all values."""
    held = [value for value in shown if math.isfinite(value)]
    least, most = min([0.0, *held]), max([0.0, *held])
    if least == most:
        most = 1.0
    ticks = _ticks(least, most)
    least, most = min(least, ticks[0]), max(most, ticks[-1])
    span = most - least
    return ticks, lambda value: _LEFT + (_WIDTH - _LEFT - _RIGHT) * (value - least) / span


def bar_chart(title: str, axis: str, bars: list[Bar], legend: str = "", mark: str = "", pale: str = "") -> str:
    """Draw horizontal bars with error bars below their labels, on a named axis.

    `legend` says what a bar is, `mark` what the second value is, `pale` what a pale bar means.
    """
    scale = _scale([value for bar in bars for value in (bar.value, bar.low, bar.high, bar.mark)])
    pale = pale if any(bar.pale for bar in bars) else ""
    keys = [(sign, meaning) for sign, meaning in (("bar", legend), ("second", mark), ("bar pale", pale)) if meaning]
    return _draw("bar_chart.svg", title, axis, keys, _ROW * len(bars) + 4, *scale, bars=bars, row=_ROW)


def dot_chart(title: str, axis: str, series: list[str], rows: list[tuple[str, list[Bar]]]) -> str:
    """Draw values with intervals, for up to three series per row, on a named axis."""
    kinds = ("first", "second", "third")[: len(series)]
    scale = _scale([value for _label, bars in rows for bar in bars for value in (bar.value, bar.low, bar.high)])
    row = 30 + _DOT * len(series)
    keys = list(zip(kinds, series, strict=True))
    height = row * len(rows) + 4
    return _draw("dot_chart.svg", title, axis, keys, height, *scale, rows=rows, row=row, dot=_DOT, kinds=kinds)


def curve_chart(
    title: str, axis: str, histogram: list[tuple[float, float]], curve: list[tuple[float, float]],
    legend: tuple[str, str] = ("", ""),
) -> str:  # fmt: skip
    """Draw a histogram on a logarithmic axis, scaled to its maximum, and a curve from 0 to 1 above it.

    `legend` says what the bars are, and what the curve is; its values stand at the right side.
    """
    keys = [(sign, meaning) for sign, meaning in zip(("faint", "curve"), legend, strict=True) if meaning]
    most_x = max([x for x, _ in histogram + curve if x > 0] or [1.0])
    decades = math.log10(max(most_x, 10.0))
    most_count = max([count for _, count in histogram], default=0.0) or 1.0
    rights = [*(left for left, _count in histogram[1:]), most_x]
    bars = [(left, right, count / most_count) for (left, count), right in zip(histogram, rights, strict=False)]
    ticks = [10.0**power for power in range(math.floor(decades) + 1)]

    def x(value: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * math.log10(max(value, 1.0)) / decades

    return _draw("curve_chart.svg", title, axis, keys, _CURVE, ticks, x, bars=bars, curve=curve, tall=_CURVE)


def _ticks(least: float, most: float) -> list[float]:
    """Return about four to eight round numbers that cover a range."""
    rough = max((most - least) / 5, 1e-6)
    power = 10 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= rough)
    first = math.floor(least / step + 1e-9)
    last = max(first + 1, math.ceil(most / step - 1e-9))
    return [round(i * step, 10) for i in range(first, last + 1)]
