"""Questions about related pages, and their answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from pagekin.bags import Bags
from pagekin.errors import PagekinError
from pagekin.hypertext import Corpus
from pagekin.similarity.options import Citation, SharedTerm, SignalShare

Array = npt.NDArray[Any]


class RelatedError(PagekinError):
    """A question that cannot be answered; the message says why and what to do."""


@dataclass(frozen=True)
class Query:
    """A bag to compare with, and the documents that are not to be answers."""

    terms: Array
    """The bag's terms that the collection knows."""
    weights: Array
    total: float
    """The sum of all the bag's weights, unknown terms' too."""
    signature: npt.NDArray[np.uint32]
    documents: tuple[int, ...]
    origins: Array
    """`Origin` flags of `terms`."""
    sketch: Array
    """Of the page's own words; empty where several pages or none are meant."""
    counts: Array
    """How often the page says each of `terms`."""
    unknown_counts: Array
    """How often it says each term that the collection does not know."""
    sites: tuple[str, ...] = ()
    """Of a bag from elsewhere: the names of its pages' sites."""


@dataclass(frozen=True)
class Result:
    """One related page."""

    url: str
    title: str
    similarity: float
    error: float
    """Half the width of the 95 % interval of an estimate; 0 when the similarity is exact."""
    captured: bool
    """Whether the page itself was read; otherwise it is known by the links to it."""
    copies: tuple[str, ...] = ()
    """Near-duplicates and aliases, folded under this result."""
    terms: tuple[SharedTerm, ...] = ()
    citations: tuple[Citation, ...] = ()
    signals: tuple[SignalShare, ...] = ()
    """What makes up the similarity, the most first; where reasons were asked for."""


@dataclass(frozen=True)
class Answer:
    """Related pages, and how they were found."""

    results: list[Result]
    copies: list[str]
    """Near-duplicates of the page that was asked about."""
    alpha: float
    """Results have a similarity above this: the strategy's α, or what the question asked for."""
    below_threshold: int
    """Pages that were compared, have some similarity and were left out by α, if fewer results than asked for remain."""


@dataclass(frozen=True)
class RelatedDocument:
    """A related document, and the near-duplicates that are folded under it."""

    document: int
    similarity: float
    copies: tuple[int, ...] = ()


@dataclass(frozen=True)
class RankedDocuments:
    """The documents related to a query, the best first."""

    related: list[RelatedDocument]
    copies: list[int]
    """Near-duplicates of the query."""
    below_threshold: int = 0
    """Documents with some similarity that α left out, where there are fewer groups than asked for."""


class UrlList(Sequence[str]):
    """The URLs of all documents, read on demand."""

    def __init__(self, corpus: Corpus, bags: Bags) -> None:
        self._corpus, self._bags = corpus, bags

    def __len__(self) -> int:
        return len(self._bags)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(f"there are {len(self):,} URLs, none numbered {place}")
        return self._corpus.url(int(self._bags.urls[place]))

    def __contains__(self, url: object) -> bool:
        return isinstance(url, str) and self._bags.document(self._corpus.url_number(url)) >= 0
