"""Charts are whole SVG, stay inside their frame, and say what they show, whatever the numbers."""

import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from pagekin.evaluation.charts import Bar, bar_chart, curve_chart, dot_chart

NAN = math.nan
SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str, kind: str) -> list[str]:
    """The texts of a class in the picture, in order."""
    return [node.text or "" for node in ElementTree.fromstring(svg).iter(f"{SVG}text") if node.get("class") == kind]


def rects(svg: str) -> list[tuple[float, float]]:
    """Left and right edge of each bar."""
    return [
        (float(node.get("x", "nan")), float(node.get("x", "nan")) + float(node.get("width", "nan")))
        for node in ElementTree.fromstring(svg).iter(f"{SVG}rect")
    ]


def assert_whole(svg: str) -> None:
    root = ElementTree.fromstring(svg)
    width = float(root.get("viewBox", "").split()[2])
    assert texts(svg, "title")
    assert texts(svg, "axis")
    assert root.get("aria-label")
    drawn = re.sub(r'aria-label="[^"]*"', "", svg)
    numbers = re.findall(r' (?:x|y|x1|x2|y1|y2|width|height)="([^"]*)"', drawn)
    assert all(math.isfinite(float(number)) for number in numbers)
    for first, last in rects(svg):
        assert -0.1 <= first <= last <= width + 0.1


def test_bars_are_as_long_as_their_values() -> None:
    svg = bar_chart("Windows", "sibling Γ", [Bar("small", 0.1, 0.05, 0.2), Bar("large", 0.4, 0.3, 0.45)])
    assert_whole(svg)
    small, large = ((last - first) for first, last in rects(svg))
    assert large == pytest.approx(4 * small, abs=0.3)
    assert texts(svg, "label") == ["small", "large"]
    assert texts(svg, "value") == ["0.100", "0.400"]
    assert texts(svg, "axis") == ["sibling Γ"]
    assert svg.count('class="error"') == 2


def test_marks_and_pale_bars_are_explained_in_the_picture() -> None:
    bars = [Bar("sparse", 0.7, 0.6, 0.8, mark=0.1, pale=True), Bar("dense", 0.4, 0.3, 0.5, mark=0.4)]
    svg = bar_chart("t", "a", bars, "Γ", "D", "most pairs are tied")
    assert_whole(svg)
    assert texts(svg, "key") == ["Γ", "D", "most pairs are tied"]
    assert svg.count('class="bar pale"') == 2  # the bar, and the legend's
    assert "tied" not in bar_chart("t", "a", bars[1:], "Γ", "D", "most pairs are tied")


def test_several_series_stand_in_one_picture_with_their_intervals() -> None:
    rows = [("few links", [Bar("", 0.2, 0.1, 0.3), Bar("", NAN)]), ("many", [Bar("", -0.1), Bar("", 0.5, 0.4, 0.6)])]
    svg = dot_chart("Agreement", "sibling Γ", ["windows", "content"], rows)
    assert_whole(svg)
    assert texts(svg, "key") == ["windows", "content"]
    assert texts(svg, "label") == ["few links", "many"]
    assert texts(svg, "value") == ["0.200", "none", "-0.100", "0.500"]
    assert svg.count('class="error') == 2
    assert_whole(dot_chart("t", "a", ["one"], []))


def test_long_labels_are_cut_and_long_titles_broken() -> None:
    svg = bar_chart("word " * 30, "axis " * 30, [Bar("label" * 30, 0.1)])
    assert_whole(svg)
    assert len(texts(svg, "title")) > 2
    assert len(texts(svg, "axis")) > 1
    assert texts(svg, "label")[0].endswith("…")


def test_control_characters_are_shown_as_such() -> None:
    assert texts(bar_chart("t\x1b", "a", [Bar("\x00b\ud800", 0.1)]), "label") == ["�b�"]


def test_a_bar_without_a_value_is_said_to_have_none() -> None:
    svg = bar_chart("t", "a", [Bar("empty", NAN), Bar("half", 0.5, NAN, NAN)])
    assert_whole(svg)
    assert texts(svg, "value") == ["none", "0.500"]
    assert len(rects(svg)) == 1
    assert 'class="error"' not in svg


def test_negative_bars_lie_left_of_the_zero_line_and_need_no_positive_half() -> None:
    svg = bar_chart("t", "a", [Bar("worse", -0.4, -0.5, -0.3)])
    assert_whole(svg)
    ticks = [float(tick) for tick in texts(svg, "tick")]
    assert max(ticks) == 0
    assert min(ticks) <= -0.5
    mixed = bar_chart("t", "a", [Bar("worse", -0.4), Bar("better", 0.2)])
    (_, zero), (start, _) = rects(mixed)
    assert zero == pytest.approx(start, abs=0.2)


@pytest.mark.parametrize("bars", [[], [Bar("one", 0.3)], [Bar("a", 0.0), Bar("b", 0.0)], [Bar("a", NAN)]])
def test_one_bar_none_or_zeros_alone_make_a_chart(bars: list[Bar]) -> None:
    assert_whole(bar_chart("t", "a", bars))


@given(some.lists(some.builds(Bar, some.text(max_size=5), some.floats(-2, 2) | some.just(NAN)), max_size=6))
@settings(derandomize=True, database=None, deadline=None, max_examples=150)
def test_any_values_make_a_chart(bars: list[Bar]) -> None:
    shown = [Bar("".join(c for c in bar.label if c.isprintable()), bar.value) for bar in bars]
    svg = bar_chart("t", "a", shown)
    assert_whole(svg)
    ticks = [float(tick) for tick in texts(svg, "tick")]
    assert 2 <= len(ticks) <= 12
    values = [bar.value for bar in shown if math.isfinite(bar.value)]
    # Labels have six digits, so a tick may be a hair inside the value it stands beyond.
    assert all(min(ticks) - 1e-5 <= value <= max(ticks) + 1e-5 for value in values)


def test_labels_cannot_break_out_of_the_picture() -> None:
    svg = bar_chart("<script>", "\"'&", [Bar("</text><script>alert(1)</script>", 0.1)])
    assert_whole(svg)
    assert "<script" not in svg
    assert texts(svg, "label") == ["</text><script>alert(1)</script>"]


def test_a_curve_stands_over_its_histogram() -> None:
    curve = [(1.0, 0.1), (10.0, 1.0), (100.0, 0.2)]
    svg = curve_chart("NMDF", "bags that hold the term", [(1.0, 50.0), (2.0, 20.0), (64.0, 1.0)], curve)
    assert_whole(svg)
    assert texts(svg, "tick") == ["1", "10", "100"]
    assert len(rects(svg)) == 3
    assert_whole(curve_chart("NMDF", "bags", [], []))
    assert_whole(curve_chart("NMDF", "bags", [(1.0, 1.0)], [(1.0, 1.0)]))
    assert_whole(curve_chart("NMDF", "bags", [(1.0, 0.0)], [(1.0, 1.0)]))
