"""The results of an evaluation as tables, for pandas, Arrow, CSV files and notebooks."""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from html import escape
from pathlib import Path
from typing import Any, ClassVar, overload

from pagekin.collection import Table
from pagekin.evaluation.compare import Difference
from pagekin.evaluation.experiments import Judgement
from pagekin.evaluation.gamma import REGIONS, Agreement
from pagekin.evaluation.ranking import Scores

JUDGEMENT_COLUMNS = {
    "name": "string", "region": "string",
    **{item.name: "int64" if item.name == "pairs" else "float64" for item in fields(Agreement)},
    **dict.fromkeys(
        ("orthogonality", "ndcg10", "map", "seconds", "ndcg10_low", "ndcg10_high", "map_low", "map_high"), "float64"
    ),
}  # fmt: skip
"""A row for each strategy and region; what is not of a region is the same in all rows of its strategy."""


def judgement_rows(judgements: Sequence[Judgement], scores: Mapping[str, Scores]) -> Iterator[dict[str, Any]]:
    """Yield each strategy's measures in each region, with their 95 % intervals."""
    for one in judgements:
        ranked = scores[one.name]
        (ndcg_low, ndcg_high), (map_low, map_high) = ranked.intervals
        whole = {
            "orthogonality": one.orthogonality, "ndcg10": ranked.ndcg10, "map": ranked.map,
            "seconds": round(one.seconds, 2), "ndcg10_low": ndcg_low, "ndcg10_high": ndcg_high, "map_low": map_low,
            "map_high": map_high,
        }  # fmt: skip
        for region in REGIONS:
            yield _without_nan({"name": one.name, "region": region, **asdict(one.agreements[region]), **whole})


class Differences(Table, Sequence[Difference]):
    """The best strategy compared with every other, by every measure and region."""

    columns: ClassVar[Mapping[str, str]] = {
        "first": "string", "second": "string", "measure": "string", "region": "string", "difference": "float64",
        "low": "float64", "high": "float64", "p": "float64", "beyond_chance": "bool_", "verdict": "string",
    }  # fmt: skip

    def __init__(self, compared: Sequence[Difference], summary: str) -> None:
        self._compared, self.summary = tuple(compared), summary

    def __len__(self) -> int:
        return len(self._compared)

    @overload
    def __getitem__(self, place: int) -> Difference: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Difference]: ...
    def __getitem__(self, place: int | slice) -> Difference | Sequence[Difference]:
        """Return one difference, or some."""
        return self._compared[place]

    def __repr__(self) -> str:
        return f"<{len(self)} differences: {self.summary or 'nothing to compare'}>"

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each difference, which is the value of the first strategy minus that of the second."""
        for one in self._compared:
            values = _without_nan({**asdict(one), "beyond_chance": one.sure, "verdict": one.verdict})
            yield {name: values[name] for name in self.columns}

    def _repr_html_(self) -> str:
        """Return the conclusion and the first rows as HTML."""
        return f"<p>{escape(self.summary)}</p>{super()._repr_html_()}"


def _without_nan(row: dict[str, Any]) -> dict[str, Any]:
    """Return values in full precision, where `finite_values` rounds for JSON, with None for nan."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()
    }


def write_csv(file: Path, table: Table) -> None:
    """Write the rows of a table as CSV; a value that could not be measured is left empty."""
    with file.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, list(table.columns))
        writer.writeheader()
        writer.writerows(table.rows())
