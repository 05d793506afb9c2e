"""Counts of the sites, languages and years of the documents that match a query: what filters can be set to."""

from collections import Counter
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
    """Values that filters can be set to, each with the number of documents that match before filters, the highest first."""

    sites: list[tuple[str, int]]
    languages: list[tuple[str, int]]
    years: list[tuple[str, int]]
    days: int
    """How many different days the pages are from."""


def count_facets(collection: "Collection", query: str) -> Facets:
    """Count the sites, languages and years of all documents that match a query: each once for every value of its pages.

    A filter shows as many, except where only pages of several values match a query together.
    """
    asked = effective_query(collection, query)[0]
    sites, languages, years = Counter[str](), Counter[str](), Counter[str]()
    days: set[int] = set()
    for part in collection.whole.parts:
        corpus = part.corpus
        pages = np.flatnonzero(part.text.matching_pages(asked, part.documents))
        documents = np.asarray(part.documents)[pages].astype(np.int64)
        dates = np.asarray(corpus.pages.date)[pages].astype(np.int64)
        dated, dates = documents[dates > 0], dates[dates > 0]
        of_years = dates.astype("datetime64[s]").astype("datetime64[Y]").astype(np.int64) + 1970
        days |= set((dates // _DAY).tolist())
        sites += _count_values(np.asarray(corpus.pages.host)[pages], documents, corpus.hosts.text)
        codes = corpus.facts["language_codes"]
        languages += _count_values(np.asarray(corpus.pages.language)[pages], documents, codes.__getitem__)
        years += _count_values(of_years, dated, lambda year: f"{year:0>4}")
    return Facets(_rank(sites), _rank(languages), _rank(years), len(days))


def _rank(counts: Counter[str]) -> list[tuple[str, int]]:
    """Return (value, count), the most frequent first."""
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def _count_values(
    values: npt.NDArray[Any], documents: npt.NDArray[np.int64], name: Callable[[int], str]
) -> Counter[str]:
    """Count the documents with each value by the value's name, without values that have none."""
    pairs = np.unique(np.stack([values.astype(np.int64), documents]), axis=1)
    different, counts = np.unique(pairs[0], return_counts=True)
    named = ((name(value), count) for value, count in zip(different.tolist(), counts.tolist(), strict=True))
    return Counter({one: count for one, count in named if one})
