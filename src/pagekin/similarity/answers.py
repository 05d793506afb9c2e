"""Questions about related pages, and their answers."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.errors import PagekinError
from pagekin.similarity.options import Citation, SharedTerm, SignalShare

Array = npt.NDArray[Any]


class RelatedError(PagekinError):
    """A question that cannot be answered; the message says why and what to do."""


@dataclass(frozen=True)
class Query:
    """A bag to compare with, and the documents to exclude from the answer."""

    terms: tuple[Array, ...]
    """The bag's terms that the collection knows: for each shard its numbers of them, -1 for terms that it does not hold."""
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
    targets: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    """Of a page outside the collection: the documents that it links to."""
    sites: tuple[str, ...] = ()
    """Of a bag from elsewhere: the names of its pages' sites."""

    def terms_in(self, shard: int) -> tuple[Array, Array | slice]:
        """Return (a shard's numbers of the terms it holds, the places of these terms in the query)."""
        terms = self.terms[shard]
        if len(self.terms) == 1:  # then it knows all
            return terms, slice(None)
        known = terms >= 0
        return terms[known], known


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
    document: int = -1
    """Its number in the whole."""
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
