"""Counts of the sites, languages and years of the documents that match a query: what filters can be set to."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pagekin.collection.understanding import effective_query

if TYPE_CHECKING:
    from pagekin.collection.collection import Collection

_DAY = 86_400


@dataclass(frozen=True)
class Facets:
    """(value, pages) of all matching pages, the most frequent first, whatever the filters."""

    sites: list[tuple[str, int]]
    languages: list[tuple[str, int]]
    years: list[tuple[str, int]]
    days: int
    """How many different days the pages are from."""


def count_facets(collection: "Collection", query: str) -> Facets:
    """Count the sites, languages and years of the pages of all documents that match a query."""
    corpus = collection.corpus
    matches = collection.text.matching_pages(effective_query(collection, query)[0], collection.documents)
    dates = np.asarray(corpus.pages.date)[matches].astype(np.int64)
    dates = dates[dates > 0]
    years = dates.astype("datetime64[s]").astype("datetime64[Y]").astype(np.int64) + 1970
    return Facets(
        _count_values(np.asarray(corpus.pages.host)[matches], corpus.hosts.text),
        _count_values(np.asarray(corpus.pages.language)[matches], corpus.facts["language_codes"].__getitem__),
        _count_values(years, lambda year: f"{year:0>4}"),
        len(np.unique(dates // _DAY)),
    )


def _count_values(values: npt.NDArray[Any], name: Callable[[int], str]) -> list[tuple[str, int]]:
    """Return (name, how often) of each value, the most frequent first, without those that have no name."""
    different, counts = np.unique(values, return_counts=True)
    named = [(name(value), count) for value, count in zip(different.tolist(), counts.tolist(), strict=True)]
    return sorted((one for one in named if one[0]), key=lambda one: (-one[1], one[0]))
