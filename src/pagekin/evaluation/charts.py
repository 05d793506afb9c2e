"""Pictures for the report: plain SVG, readable on their own."""

import math
from dataclasses import dataclass
from html import escape

_WIDTH, _ROW, _LEFT, _RIGHT, _TOP = 720, 30, 190, 70, 46


@dataclass(frozen=True)
class Bar:
    """One bar with its interval; nan where there is none."""

    label: str
    value: float
    low: float = float("nan")
    high: float = float("nan")


def bar_chart(title: str, axis: str, bars: list[Bar]) -> str:
    """Horizontal bars with error bars, one a row, over a named axis."""
    shown = [x for bar in bars for x in (bar.value, bar.low, bar.high) if math.isfinite(x)]
    least, most = min([0.0, *shown]), max([0.0, *shown])
    if least == most:
        most = 1.0
    ticks = _ticks(least, most)
    least, most = min(least, ticks[0]), max(most, ticks[-1])
    span = most - least

    def x(value: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (value - least) / span

    height = _TOP + _ROW * len(bars) + 52
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}">',
        f'<text x="{_LEFT}" y="22" class="title">{escape(title)}</text>',
    ]
    bottom = _TOP + _ROW * len(bars) + 6
    for tick in ticks:
        parts.append(f'<line x1="{x(tick):.1f}" y1="{_TOP - 8}" x2="{x(tick):.1f}" y2="{bottom}" class="grid"/>')
        parts.append(f'<text x="{x(tick):.1f}" y="{bottom + 16}" class="tick" text-anchor="middle">{tick:g}</text>')
    parts.append(
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2:.1f}" y="{bottom + 36}" class="axis" text-anchor="middle">{escape(axis)}</text>'
    )
    for row, bar in enumerate(bars):
        y = _TOP + _ROW * row
        middle = y + _ROW / 2 - 3
        parts.append(
            f'<text x="{_LEFT - 10}" y="{middle + 4:.1f}" class="label" text-anchor="end">{escape(bar.label)}</text>'
        )
        if math.isfinite(bar.value):
            first, last = sorted((x(0.0), x(bar.value)))
            parts.append(
                f'<rect x="{first:.1f}" y="{y}" width="{max(last - first, 0.5):.1f}" height="{_ROW - 8}" class="bar"/>'
            )
        edge = x(max(0.0, bar.value)) if math.isfinite(bar.value) else x(0.0)
        if math.isfinite(bar.low) and math.isfinite(bar.high):
            parts.append(
                f'<path d="M{x(bar.low):.1f} {middle:.1f}H{x(bar.high):.1f}M{x(bar.low):.1f} {middle - 4:.1f}v8'
                f'M{x(bar.high):.1f} {middle - 4:.1f}v8" class="error"/>'
            )
            edge = max(edge, x(bar.high))
        value = f"{bar.value:.3f}" if math.isfinite(bar.value) else "none"
        parts.append(f'<text x="{edge + 8:.1f}" y="{middle + 4:.1f}" class="value">{value}</text>')
    parts.append("</svg>")
    return "\n".join(parts)


def curve_chart(title: str, axis: str, histogram: list[tuple[float, float]], curve: list[tuple[float, float]]) -> str:
    """A histogram over a logarithmic axis scaled to its greatest value, and a curve of values from 0 to 1 above it."""
    height, bottom = 300, 244
    most_x = max([x for x, _ in histogram + curve if x > 0] or [1.0])
    top = math.log10(max(most_x, 10.0))
    most_count = max([count for _, count in histogram], default=0.0) or 1.0

    def x(value: float) -> float:
        return 70 + (_WIDTH - 110) * math.log10(max(value, 1.0)) / top

    def y(share: float) -> float:
        return bottom - (bottom - _TOP) * share

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}">',
        f'<text x="70" y="22" class="title">{escape(title)}</text>',
    ]
    for power in range(math.floor(top) + 1):
        parts.append(f'<line x1="{x(10**power):.1f}" y1="{_TOP}" x2="{x(10**power):.1f}" y2="{bottom}" class="grid"/>')
        parts.append(
            f'<text x="{x(10**power):.1f}" y="{bottom + 18}" class="tick" text-anchor="middle">{10**power:,}</text>'
        )
    rights = [*(left for left, _count in histogram[1:]), most_x * 1.3]
    for (left, count), right in zip(histogram, rights, strict=False):
        width = max(x(right) - x(left) - 1, 1)
        parts.append(
            f'<rect x="{x(left):.1f}" y="{y(count / most_count):.1f}" width="{width:.1f}" '
            f'height="{bottom - y(count / most_count):.1f}" class="faint"/>'
        )
    if curve:
        line = "L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in curve)
        parts.append(f'<path d="M{line}" class="curve"/>')
    parts.append(f'<text x="{_WIDTH / 2}" y="{bottom + 42}" class="axis" text-anchor="middle">{escape(axis)}</text>')
    parts.append("</svg>")
    return "\n".join(parts)


def _ticks(least: float, most: float) -> list[float]:
    """Some four to eight round numbers that cover a range."""
    rough = (most - least) / 5 or 1.0
    power = 10 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= rough)
    first, last = math.floor(least / step + 1e-9), math.ceil(most / step - 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]
