"""Pages like a page, in one collection: like one of its own, like several together, or like one whose bag has travelled."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags.copies import PLACES
from pagekin.routers.damage import damaged
from pagekin.routers.messages import Bag, RouterError
from pagekin.similarity import Query, RelatedIndex
from pagekin.similarity.related import ENTRIES

Mask = npt.NDArray[np.bool_]
_ENTRIES = 16 * ENTRIES
"""Entries of lists that are read for candidates: many of them are pages that were not read, or do not pass filters."""
_ROUNDING = 1e-3
"""How far from 1 the weights of a bag may sum to."""
_HEAVIEST_WORDS = 24
"""Words of a page that travel with its bag."""


@dataclass(frozen=True)
class Like:
    """A page that is like what was asked about."""

    page: int
    similarity: float
    copies: tuple[str, ...]
    """Other addresses of the same."""


class Likeness:
    """The index of related pages of a collection, as its leaf asks it."""

    def __init__(self, index: RelatedIndex) -> None:
        self.index = index

    def query_of(self, url: str) -> Query:
        """A page of the collection as a query, or a RelatedError if it cannot be asked about."""
        return self.index.query_of([url])

    def query_of_pages(self, pages: Sequence[int]) -> Query:
        """Several pages together as a query, those of them that can be asked about."""
        corpus, bags = self.index.corpus, self.index.bags
        of = corpus.pages.url
        documents = {page: bags.document(int(of[page])) for page in pages}
        known = [page for page, document in documents.items() if document >= 0]
        if not all(_is_bag(bags.bag(documents[page])[1]) for page in known):
            raise damaged(corpus.kin.path, "the weights of a page's words are none")
        return self.index.query_of([corpus.page_url(page) for page in known])

    def like(self, query: Query, most: int, keep: Mask | None = None) -> list[Like]:
        """The pages most like a query, the best first, of those that `keep` tells: near-copies are one."""
        index, own = self.index, np.array(query.documents, np.int64)

        def eligible(documents: npt.NDArray[Any]) -> npt.NDArray[Any]:
            pages = index.bags.pages(documents)
            may: Mask = (pages >= 0) & ~np.isin(documents, own)
            return may & keep[pages] if keep is not None and len(keep) else may

        found = index.rerank_candidates(query, most, index.strategy.signature.alpha, eligible, entries=_ENTRIES)
        heads = index.bags.pages(np.array([group[0] for group in found.groups], np.int64)).tolist()
        return [
            Like(page, similarity, self._copies(group))
            for page, similarity, group in zip(heads, found.similarity, found.groups, strict=True)
        ]

    def _copies(self, group: Sequence[int]) -> tuple[str, ...]:
        """The addresses of a group of near-copies besides the first's own."""
        index = self.index
        aliases = (index.corpus.aliases_of(int(index.bags.urls[one])) for one in group)
        return (*(index.urls[one] for one in group[1:]), *(alias for some in aliases for alias in some))

    # -- bags that travel -------------------------------------------------------------------------------------------------

    def bag(self, url: str) -> Bag:
        """A page's bag, to travel; a RelatedError if it cannot be asked about."""
        index, query = self.index, self.query_of(url)
        heaviest = index.heaviest(query.documents[0], 2 * _HEAVIEST_WORDS)
        words = [word for word, _weight, _origins in heaviest if "://" not in word]
        return Bag(
            strategy=self._strategy,
            hashes=tuple(index.bags.hashes[query.terms].astype(np.int64).tolist()),
            weights=tuple(float(weight) for weight in query.weights),
            sketch=tuple(query.sketch.tolist()),
            signature=tuple(query.signature.tolist()),
            words=tuple(word[:200] for word in words[:_HEAVIEST_WORDS]),
            url=url,
        )

    @property
    def _strategy(self) -> str:
        return self.index.strategy.digest()[:200]

    def query_of_bag(self, bag: Bag) -> Query | None:
        """A bag from elsewhere as a query, or None if it shares no term with this collection."""
        index = self.index
        if bag.strategy != self._strategy:
            raise RouterError("its pages are represented by another strategy, so bags cannot be compared")
        if len(bag.hashes) != len(bag.weights) or len(bag.sketch) != PLACES:
            raise RouterError("the bag's columns have different lengths")
        try:
            hashes = np.array(bag.hashes, np.int64).view(np.uint64)
        except OverflowError:
            raise RouterError("the bag's hashes are no 64-bit numbers") from None
        weights = np.array(bag.weights, np.float64).astype(np.float32)
        if not _is_bag(weights):
            raise RouterError("the bag's weights are no positive numbers that sum to 1")
        if len(np.unique(hashes)) < len(hashes):
            raise RouterError("a term stands twice in the bag")
        terms = index.bags.find(hashes)
        known = terms >= 0
        own = index.corpus.url_number(bag.url) if bag.url else -1
        mine = index.bags.document(own) if own >= 0 else -1
        if not known.any():
            return None
        signature = np.array(bag.signature, np.uint32)
        if len(signature) != index.strategy.signature.m:
            signature = index.maker.sign(hashes, weights)
        return Query(
            terms[known], weights[known], float(weights.sum(dtype=np.float64)), signature,
            (mine,) if mine >= 0 else (), sketch=np.array(bag.sketch, np.uint16), name=bag.url,
        )  # fmt: skip


def _is_bag(weights: npt.NDArray[np.float32]) -> bool:
    """Whether these can be the weights of a bag: signatures of anything else may take forever."""
    return bool(len(weights) and (weights > 0).all() and abs(weights.sum(dtype=np.float64) - 1) < _ROUNDING)
