"""Pictures for the report: plain SVG, readable on their own and on a telephone."""

import math
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

_WIDTH, _LEFT, _RIGHT = 440, 14, 54
_ROW, _BAR, _DOT = 46, 15, 14
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LETTERS, _TITLE_LETTERS = 54, 44
"""Letters that fit a line."""


@dataclass(frozen=True)
class Bar:
    """One bar with its interval; nan where there is none."""

    label: str
    value: float
    low: float = float("nan")
    high: float = float("nan")
    mark: float = float("nan")
    """A second value, shown as a mark."""
    pale: bool = False
    """Whether the value is to be trusted less."""


class _Picture:
    """Lines of SVG under a title and a legend."""

    def __init__(self, title: str, legend: list[tuple[str, str]]) -> None:
        """Take the legend as pairs of a sign's class and its meaning."""
        self.parts: list[str] = []
        self._title, self.y = title, 8
        for line in textwrap.wrap(title, _TITLE_LETTERS) or [""]:
            self.y += 18
            self.text(_LEFT, self.y, line, "title")
        for sign, meaning in legend:
            self.y += 19
            self.sign(sign, _LEFT + 6, self.y - 4)
            self.text(_LEFT + 20, self.y, meaning, "key")
        self.y += 14

    def text(self, x: float, y: float, text: str, kind: str, anchor: str = "") -> None:
        end = f' text-anchor="{anchor}"' if anchor else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}"{end}>{_escape(text)}</text>')

    def sign(self, kind: str, x: float, y: float) -> None:
        """Draw a small sign: part of a bar, a line, or a mark."""
        if "bar" in kind or "faint" in kind:
            self.parts.append(f'<path d="M{x - 6:.1f} {y - 5:.1f}h12v10h-12z" class="{kind}"/>')
        elif "curve" in kind:
            self.parts.append(f'<path d="M{x - 7:.1f} {y:.1f}h14" class="{kind}"/>')
        elif "third" in kind:
            self.parts.append(f'<path d="M{x:.1f} {y - 5:.1f}l5 9h-10z" class="{kind}"/>')
        elif "second" in kind:
            self.parts.append(f'<path d="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z" class="{kind}"/>')
        else:
            self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" class="{kind}"/>')

    def value(
        self, bar: Bar, x: Callable[[float], float], y: float, edge: float, mark: tuple[str, float], line: str
    ) -> None:
        """Draw the interval of a value, a mark (its sign, where), and right of them and of `edge` the number."""
        if math.isfinite(bar.low) and math.isfinite(bar.high):
            low, high = x(bar.low), x(bar.high)
            ends = f"M{low:.1f} {y - 4:.1f}v8M{high:.1f} {y - 4:.1f}v8"
            self.parts.append(f'<path d="M{low:.1f} {y:.1f}H{high:.1f}{ends}" class="{line}"/>')
            edge = max(edge, high)
        sign, at = mark
        if math.isfinite(at):
            self.sign(sign, x(at), y)
            edge = max(edge, x(at) + 5)
        self.text(edge + 6, y + 4.5, _number(bar.value), "value")

    def ruler(self, ticks: list[float], x: Callable[[float], float], top: float, bottom: float, axis: str) -> None:
        """Draw the lines and numbers of an axis, and its name below."""
        for tick in ticks:
            zero = " zero" if tick == 0 else ""
            self.parts.append(
                f'<line x1="{x(tick):.1f}" y1="{top:.1f}" x2="{x(tick):.1f}" y2="{bottom:.1f}" class="grid{zero}"/>'
            )
            self.text(x(tick), bottom + 16, f"{tick:g}" if abs(tick) < 1000 else f"{tick:,.0f}", "tick", "middle")
        self.y = round(bottom + 20)
        for line in textwrap.wrap(axis, _LETTERS) or [""]:
            self.y += 18
            self.text((_LEFT + _WIDTH - _RIGHT) / 2, self.y, line, "axis", "middle")

    def svg(self) -> str:
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {self.y + 12}" role="img" '
                f'aria-label="{_escape(self._title)}">',
                *self.parts,
                "</svg>",
            ]
        )


def _scale(shown: list[float]) -> tuple[list[float], Callable[[float], float]]:
    """Return (ticks, function from a value to its place) of an axis that holds 0 and all values."""
    held = [value for value in shown if math.isfinite(value)]
    least, most = min([0.0, *held]), max([0.0, *held])
    if least == most:
        most = 1.0
    ticks = _ticks(least, most)
    least, most = min(least, ticks[0]), max(most, ticks[-1])
    span = most - least
    return ticks, lambda value: _LEFT + (_WIDTH - _LEFT - _RIGHT) * (value - least) / span


def bar_chart(title: str, axis: str, bars: list[Bar], legend: str = "", mark: str = "", pale: str = "") -> str:
    """Draw horizontal bars with error bars under their labels, over a named axis.

    `legend` says what a bar is, `mark` what the second value is, `pale` what a pale bar means.
    """
    ticks, x = _scale([value for bar in bars for value in (bar.value, bar.low, bar.high, bar.mark)])
    keys = [("bar", legend)] if legend else []
    if mark:
        keys.append(("second", mark))
    if pale and any(bar.pale for bar in bars):
        keys.append(("bar pale", pale))
    picture = _Picture(title, keys)
    top = picture.y
    bottom = top + _ROW * len(bars) + 4
    picture.ruler(ticks, x, top, bottom, axis)
    for row, bar in enumerate(bars):
        y = top + _ROW * row + 24
        picture.text(_LEFT, y - 5, _shorten(bar.label), "label")
        edge = x(0.0)
        if math.isfinite(bar.value):
            first, last = sorted((x(0.0), x(bar.value)))
            picture.parts.append(
                f'<rect x="{first:.1f}" y="{y}" width="{max(last - first, 0.5):.1f}" height="{_BAR}" '
                f'class="bar{" pale" if bar.pale else ""}"/>'
            )
            edge = max(edge, last)
        picture.value(bar, x, y + _BAR / 2, edge, ("second", bar.mark), "error")
    return picture.svg()


def dot_chart(title: str, axis: str, series: list[str], rows: list[tuple[str, list[Bar]]]) -> str:
    """Draw values with intervals, for up to three series in each row, over a named axis."""
    kinds = ("first", "second", "third")[: len(series)]
    ticks, x = _scale([value for _label, bars in rows for bar in bars for value in (bar.value, bar.low, bar.high)])
    picture = _Picture(title, list(zip(kinds, series, strict=True)))
    top = picture.y
    height = 30 + _DOT * len(series)
    bottom = top + height * len(rows) + 4
    picture.ruler(ticks, x, top, bottom, axis)
    for row, (label, bars) in enumerate(rows):
        y = top + height * row + 18
        picture.text(_LEFT, y, _shorten(label), "label")
        for kind, bar in zip(kinds, bars, strict=True):
            y += _DOT
            picture.value(bar, x, y, x(0.0), (kind, bar.value), f"error {kind}-line")
    return picture.svg()


def curve_chart(
    title: str, axis: str, histogram: list[tuple[float, float]], curve: list[tuple[float, float]],
    legend: tuple[str, str] = ("", ""),
) -> str:  # fmt: skip
    """Draw a histogram over a logarithmic axis, scaled to its greatest value, and a curve from 0 to 1 above it.

    `legend` says what the bars are, and what the curve is; its values stand at the right side.
    """
    signs = zip(("faint", "curve"), legend, strict=True)
    picture = _Picture(title, [(sign, meaning) for sign, meaning in signs if meaning])
    top, bottom = picture.y, picture.y + 200
    most_x = max([x for x, _ in histogram + curve if x > 0] or [1.0])
    decades = math.log10(max(most_x, 10.0))
    most_count = max([count for _, count in histogram], default=0.0) or 1.0

    def x(value: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * math.log10(max(value, 1.0)) / decades

    def y(share: float) -> float:
        return bottom - (bottom - top) * share

    picture.ruler([10.0**power for power in range(math.floor(decades) + 1)], x, top, bottom, axis)
    rights = [*(left for left, _count in histogram[1:]), most_x]
    for (left, count), right in zip(histogram, rights, strict=False):
        width = max(x(right) - x(left) - 1, 1)
        picture.parts.append(
            f'<rect x="{x(left):.1f}" y="{y(count / most_count):.1f}" width="{width:.1f}" '
            f'height="{bottom - y(count / most_count):.1f}" class="faint"/>'
        )
    if curve:
        line = "L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in curve)
        picture.parts.append(f'<path d="M{line}" class="curve"/>')
    for share in (0.0, 0.5, 1.0):
        picture.text(_WIDTH - _RIGHT + 8, y(share) + 4, f"{share:g}", "side")
    return picture.svg()


def _escape(text: str) -> str:
    """Escape text for XML, and drop the control characters that XML cannot hold."""
    return escape(_NOT_XML.sub("�", text))


def _number(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else "none"


def _shorten(label: str) -> str:
    """Shorten a label to fit a line."""
    return label if len(label) <= _LETTERS else f"{label[: _LETTERS - 1]}…"


def _ticks(least: float, most: float) -> list[float]:
    """Return some four to eight round numbers that cover a range."""
    rough = max((most - least) / 5, 1e-6)
    power = 10 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= rough)
    first = math.floor(least / step + 1e-9)
    last = max(first + 1, math.ceil(most / step - 1e-9))
    return [round(i * step, 10) for i in range(first, last + 1)]
