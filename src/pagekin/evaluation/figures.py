"""The strategies behind the paper's figures 3 to 7 and 9, and the other comparisons it mentions."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from pagekin.bags import PRESETS, Strategy

_PAPER = PRESETS["haveliwala2002"]
"""Where all figures start: what the paper does not vary is as in the preset, whatever the default becomes."""
_WINDOWS = {"content.scale": 0, "weight.frequency": "none", "weight.distance": "none"}
_CONTENT = {**_WINDOWS, "content.scale": 1, "anchors.scale": 0}
_LINKS = {**_WINDOWS, "title.scale": 0, "anchors.scale": 0, "links.scale": 1}
_NMDF = {"weight.frequency": "nmdf"}


@dataclass(frozen=True)
class Figure:
    """One figure of the paper: the strategies in the order of its bars, and what the paper reports."""

    number: str
    title: str
    paper: str
    strategies: dict[str, Strategy]
    orthogonality: bool = False
    steps: dict[tuple[str, str], str] = field(default_factory=dict)
    """Bars that are compared two by two, and whether the paper has the second one HIGHER, LOWER or EQUAL, or does not say."""


HIGHER, LOWER, EQUAL, UNSAID = "higher", "lower", "about equal", ""


def _steps(bars: Iterable[str], *said: str) -> dict[tuple[str, str], str]:
    """Pair each bar with the next, and with what the paper says of the next one."""
    return dict(zip(pairwise(bars), said, strict=True))


def _make_strategy(name: str, settings: dict[str, object]) -> Strategy:
    return _PAPER.with_settings({"name": name, **settings})


def figures() -> list[Figure]:
    """Return all figures, with base settings as far as the text states them: windows of 32, stems; 3 and 4 unweighted."""
    sizes = {
        f"window {size}": _make_strategy(f"window {size}", {**_WINDOWS, "window.size": size})
        for size in (0, 4, 8, 16, 32)
    }
    kinds = {kind: _make_strategy(kind, {**_WINDOWS, "window.kind": kind}) for kind in ("syntactic", "topical")}
    distance = {**_WINDOWS, "weight.distance": "log"}
    metrics = {
        "windows": _WINDOWS, "both weights": {**distance, **_NMDF}, "content": _CONTENT,
        "windows + content": {**distance, "content.scale": 1},
    }  # fmt: skip
    plain = {"links": _make_strategy("links", _LINKS), "content": _make_strategy("content", _CONTENT)}
    represented = {**sizes, **kinds, **plain}
    return [
        Figure(
            "3", "What a page is represented by",
            "larger fixed windows are always better; topical windows nearly as good while shorter; links worst",
            represented,
            steps=_steps(represented, *[HIGHER] * 4, LOWER, HIGHER, LOWER, HIGHER),
        ),
        Figure(
            "4", "Pairs of one class with nothing in common",
            "small windows, links and content leave most pairs of a class orthogonal; larger windows do not",
            represented, orthogonality=True,
            steps=_steps(represented, *[LOWER] * 4, HIGHER, LOWER, HIGHER, UNSAID),
        ),
        Figure(
            "5", "Bags of several kinds of terms",
            "content added to windows helps; link ids added to both do harm",
            {
                "windows + links": _make_strategy("windows + links", {**distance, "links.scale": 1}),
                "windows": _make_strategy("windows, distance", distance),
                "windows + content": _make_strategy("windows + content", {**distance, "content.scale": 1}),
                "all three": _make_strategy("all three", {**distance, "content.scale": 1, "links.scale": 1}),
            },
            steps=_steps(("windows + links", "windows", "windows + content", "all three"), HIGHER, HIGHER, LOWER),
        ),
        Figure(
            "6", "Distance and frequency weights",
            "each helps, and both together help most",
            {
                "none": _make_strategy("no weights", _WINDOWS),
                "distance": _make_strategy("windows, distance", distance),
                "frequency": _make_strategy("frequency", {**_WINDOWS, **_NMDF}),
                "both": _make_strategy("distance and frequency", {**distance, **_NMDF}),
            },
            steps=_steps(("none", "distance", "frequency", "both"), HIGHER, UNSAID, HIGHER),
        ),
        Figure(
            "7", "Kinds of frequency weights",
            "none, log, sqrt, NMDF, in rising order",
            {
                "none": _make_strategy("windows, distance", distance),
                "log": _make_strategy("log", {**distance, "weight.frequency": "log"}),
                "sqrt": _make_strategy("sqrt", {**distance, "weight.frequency": "sqrt"}),
                "NMDF": _make_strategy("distance and frequency", {**distance, **_NMDF}),
            },
            steps=_steps(("none", "log", "sqrt", "NMDF"), HIGHER, HIGHER, HIGHER),
        ),
        Figure(
            "9", "Stemming",
            "nostem, stopstem, stem, in rising order; the last step is small",
            {name: _make_strategy(name, {**distance, "stemming": name}) for name in ("nostem", "stopstem", "stem")},
            steps=_steps(("nostem", "stopstem", "stem"), HIGHER, HIGHER),
        ),
        Figure(
            "note 6", "Jaccard and cosine",
            "both metrics give comparable results",
            {
                f"{label}, {metric}": _make_strategy(f"{label}, {metric}", {**settings, "metric": metric})
                for label, settings in metrics.items()
                for metric in ("jaccard", "cosine")
            },
            steps={(f"{label}, jaccard", f"{label}, cosine"): EQUAL for label in metrics},
        ),
        Figure("presets", "The presets", "", dict(PRESETS), steps=dict.fromkeys(pairwise(PRESETS), UNSAID)),
    ]  # fmt: skip
