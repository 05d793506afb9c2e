"""Related pages of one collection: of its own pages, of a page outside it, or of a bag that came from another one."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pagekin.bags import SKETCH_PLACES
from pagekin.collection.damage import damaged_error
from pagekin.collection.messages import Bag, ServiceError
from pagekin.hypertext import host_of, site_of
from pagekin.similarity import Query, RelatedIndex

_ROUNDING = 1e-3
"""How far the sum of a bag's weights may be from 1."""
_HEAVIEST_WORDS = 24
"""How many of a page's words are sent with its bag."""


class RelatedPages:
    """Answers requests from a collection's index of related pages."""

    def __init__(self, index: RelatedIndex) -> None:
        self.index = index

    def query_of_pages(self, pages: Sequence[int]) -> Query:
        """Return several pages as one query, leaving out those without a bag."""
        documents = self.index.documents.of_pages(np.array(pages, np.int64))
        known = documents[documents >= 0].tolist()
        places = map(self.index.documents.place, known)
        if not all(_is_bag(shard.bags.bag(own)[1]) for shard, own in places):
            raise damaged_error(self.index.path, "the weights of a page's words are none")
        return self.index.query_of([self.index.documents.url(document) for document in known])

    def bag(self, url: str) -> Bag:
        """Return a page's bag, for other collections to compare; raise a RelatedError if it has none."""
        index = self.index
        query = index.query_of([url])
        (document,) = query.documents
        part, _own = index.documents.numbering.place(document)
        hashes = index.documents.shards[part].bags.hashes[query.terms[part]]
        heaviest = index.heaviest(document, 2 * _HEAVIEST_WORDS)
        words = [word for word, _weight, _origins in heaviest if "://" not in word]
        return Bag(
            strategy=self._strategy,
            hashes=tuple(hashes.astype(np.int64).tolist()),
            weights=tuple(float(weight) for weight in query.weights),
            sketch=tuple(query.sketch.tolist()),
            signature=tuple(query.signature.tolist()),
            words=tuple(word[:200] for word in words[:_HEAVIEST_WORDS]),
            origins=tuple(query.origins.tolist()),
            counts=tuple(query.counts.tolist()),
            sites=(site_of(host_of(index.urls[document]))[:200],),
            url=url,
            epoch=self.epoch,
        )

    @property
    def epoch(self) -> str:
        """Return the identity of the epoch of the bags' weights."""
        return self.index.documents.shards[0].bags.epoch[:200]

    @cached_property
    def _strategy(self) -> str:
        return self.index.strategy.digest()[:200]

    def query_of_bag(self, bag: Bag) -> Query | None:
        """Return a bag from another collection as a query, or None if it shares no term with this one."""
        index = self.index
        if bag.strategy != self._strategy:
            raise ServiceError("its pages were indexed with another strategy, so bags cannot be compared")
        many = len(bag.hashes)
        optional = {len(bag.origins), len(bag.counts)} - {0, many}
        if len(bag.weights) != many or optional or len(bag.sketch) != SKETCH_PLACES:
            raise ServiceError("the bag's columns have different lengths")
        try:
            hashes = np.array(bag.hashes, np.int64).view(np.uint64)
        except OverflowError:
            raise ServiceError("the bag's hashes are not 64-bit numbers") from None
        weights = np.array(bag.weights, np.float64).astype(np.float32)
        if not _is_bag(weights):
            raise ServiceError("the bag's weights are not positive numbers that sum to 1")
        if len(np.unique(hashes)) < len(hashes):
            raise ServiceError("a term occurs twice in the bag")
        return index.query_of_bag(
            hashes, weights, np.array(bag.origins or (0,) * many, np.uint8), np.array(bag.counts or (0,) * many, np.uint8),
            np.array(bag.sketch, np.uint16), np.array(bag.signature, np.uint32), bag.url, bag.sites,
        )  # fmt: skip


def _is_bag(weights: npt.NDArray[np.float32]) -> bool:
    """Return whether these can be the weights of a bag; signing anything else might never end."""
    return bool(len(weights) and (weights > 0).all() and abs(weights.sum(dtype=np.float64) - 1) < _ROUNDING)
