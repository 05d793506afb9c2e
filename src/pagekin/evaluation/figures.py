"""The strategies behind the paper's figures 3 to 7 and 9, and the other comparisons it mentions."""

import tomllib
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from pagekin.bags import PRESETS, Strategy

HIGHER, LOWER, EQUAL, UNSAID = "higher", "lower", "about equal", ""
_NOT_COMPARED = "-"


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


def figures() -> list[Figure]:
    """Return all figures, and one of the presets."""
    tables = tomllib.loads((Path(__file__).parent / "tables" / "figures.toml").read_text(encoding="utf-8"))
    presets = Figure("presets", "The presets", "", dict(PRESETS), steps=dict.fromkeys(pairwise(PRESETS), UNSAID))
    return [*(_make_figure(tables["bases"], **table) for table in tables["figures"]), presets]


def _make_figure(
    bases: dict[str, dict[str, Any]], bars: dict[str, dict[str, Any]], steps: list[str], **about: Any
) -> Figure:
    """Make a figure from its table."""
    strategies = {}
    for label, bar in bars.items():
        settings = {"name": label, **bases[bar.pop("base")], **bar}
        strategies[label] = PRESETS["haveliwala2002"].with_settings(settings)
    compared = zip(pairwise(bars), steps, strict=True)
    return Figure(
        strategies=strategies, steps={pair: said for pair, said in compared if said != _NOT_COMPARED}, **about
    )
