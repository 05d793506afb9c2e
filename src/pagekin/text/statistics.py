"""Statistics that scores need, of a collection or of all collections of a network."""

import itertools
import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from pagekin.text.analysis import ANALYSER, form_of
from pagekin.text.query import Query, QueryError, Word, wanted_words
from pagekin.text.scoring import K1, MOSTLY, OPENING, ROW, TITLE, Rows

_Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]
_TIMES = 64.0
"""An upper bound of a word's contribution to a score, in units of its inverse frequency; generous, for other versions."""
_RAREST = math.log(2.0**55)
"""The inverse frequency of the rarest word of the largest collection."""


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """Counts that scores use: of one collection, or summed over many."""

    analyser: str
    pages: _Count
    words: _Count
    """The number of words on all pages."""
    df: dict[str, _Count]
    """How many pages have each form of the query: under an attribute as `title:lock`, anywhere as `lock`."""

    @staticmethod
    def sum(parts: Iterable["Stats"]) -> "Stats":
        """Add up the statistics of several collections; raise a QueryError if they do not count the same forms."""
        every = list(parts)
        if not every or any(part.analyser != every[0].analyser or set(part.df) != set(every[0].df) for part in every):
            raise QueryError("statistics can only be added up if all are for the same query and of the same analyser")
        return Stats(
            analyser=every[0].analyser,
            pages=sum(part.pages for part in every),
            words=sum(part.words for part in every),
            df={key: sum(part.df[key] for part in every) for key in every[0].df},
        )


def _check_stats(query: Query, stats: Stats) -> None:
    """Raise a QueryError unless the statistics have everything that scores of the query need."""
    if stats.analyser != ANALYSER:
        raise QueryError(
            f"the statistics were made by the analyser '{stats.analyser}', but this collection uses '{ANALYSER}'"
        )
    for pair in asked_forms(query):
        if form_key(*pair) not in stats.df:
            raise QueryError(f"the statistics lack '{form_key(*pair)}'; ask for them with the same query")


def inverse_frequency(stats: Stats, key: str) -> float:
    """Return the inverse frequency of a form: higher for rarer forms."""
    return rarity_among(stats.pages, stats.df[key])


def rarity_among(pages: int, df: int) -> float:
    """Return the inverse frequency of a form that `df` of so many pages have."""
    df = min(df, pages)
    return math.log(1.0 + (pages - df + 0.5) / (df + 0.5))


def mean_length(pages: int, words: int) -> float:
    """Return the mean length of pages in words, by which lengths are compared; never 0."""
    return words / max(pages, 1) or 1.0


def form_key(attribute: str | None, form: str) -> str:
    """Return a form's name in statistics: `title:lock`, or `lock` for any attribute."""
    return f"{attribute}:{form}" if attribute else form


@lru_cache(4096)
def asked_forms(query: Query) -> tuple[tuple[str | None, str], ...]:
    """Return the distinct (attribute, form) pairs that a query looks for, in the order of their keys."""
    pairs = {(part.attribute, form_of(word)) for part in wanted_words(query) for word in part.words}
    return tuple(sorted(pairs, key=lambda pair: form_key(*pair)))


def largest_score(query: Query, stats: Stats | None = None) -> float:
    """Return an upper bound of all scores with these statistics; without them, with any."""
    keys = [form_key(*pair) for pair in asked_forms(query)]
    if stats is None:
        return 1.0 + _TIMES * _RAREST * len(keys)
    return 1.0 + _TIMES * sum(inverse_frequency(stats, key) if key in stats.df else _RAREST for key in keys)


class QueryWeights(NamedTuple):
    """A query with its weights from statistics: the same for every collection that uses these."""

    rarity: npt.NDArray[np.float64]
    """The inverse frequency of each of `asked_forms`."""
    mean: float
    """The mean length of pages in words."""
    least_named: float
    """The sum of inverse frequencies that a page's title and links must exceed to count as named like the query."""
    rows: Rows
    """The neighbouring words of a question."""

    def largest_scores(self, held: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        """Return upper bounds of the scores of pages that hold only the words `held` of a question.

        `held` has a row per place that pages stand at, a column per form.
        """
        named = held @ self.rarity
        everything = max(float(self.rarity.sum()), 1e-300)
        rows = (held[:, self.rows.first] & held[:, self.rows.second]) @ self.rows.weight
        most = (K1 + 1.0) * named + TITLE * named * (named / everything) ** 6 + ROW * rows
        words = held.sum(axis=1)
        most = most + np.where((words == held.shape[1]) & (words > 1), OPENING * everything, 0.0)
        first = (words == held.shape[1]) | ((words >= held.shape[1] - 1) & (named > self.least_named))
        return np.asarray(np.where(first, 1.0 + most, most / (1.0 + most)) * (1.0 + 1e-9))


class _Same(NamedTuple):
    """Statistics as a cache key, by identity: the same object is passed to hundreds of collections in turn."""

    stats: Stats

    def __hash__(self) -> int:
        return id(self.stats)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.stats is other.stats


def weigh_query(query: Query, stats: Stats) -> QueryWeights:
    """Return the weights of a query from statistics; raise a QueryError if they belong to another query."""
    return _weigh_query(query, _Same(stats))


@lru_cache(64)
def _weigh_query(query: Query, same: _Same) -> QueryWeights:
    stats, forms = same.stats, [form_key(*pair) for pair in asked_forms(query)]
    _check_stats(query, stats)
    rarity = {form: inverse_frequency(stats, form) for form in forms}
    values = np.array(list(rarity.values()), np.float64)
    words = [form_of(part.word) if isinstance(part, Word) else "" for part in getattr(query, "parts", ())]
    pairs = [pair for pair in itertools.pairwise(words) if all(word in rarity for word in pair)]
    places = np.array([[forms.index(word) for word in pair] for pair in pairs], np.int64).reshape(len(pairs), 2)
    rows = Rows(
        places[:, 0].copy(), places[:, 1].copy(), np.array([sum(rarity[word] for word in pair) for pair in pairs])
    )
    least = MOSTLY * float(values.sum()) * (1.0 + 1e-9)
    return QueryWeights(values, mean_length(stats.pages, stats.words), least, rows)
