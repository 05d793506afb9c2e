"""Bags of pages as messages between collections."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pagekin.bags import EMPTY_PLACE, SKETCH_PLACES
from pagekin.collection import Bag, ServiceError

_MOST_TERMS = 20_000


def mean_bag(bags: Sequence[Bag]) -> Bag:
    """Return the mean of several pages' bags, without a signature: collections that compare it compute that."""
    if len({bag.strategy for bag in bags}) > 1:
        raise ServiceError("these pages were indexed with different strategies, so they cannot be compared together")
    hashes, place = np.unique(np.concatenate([np.array(bag.hashes, np.int64) for bag in bags]), return_inverse=True)
    weights = np.bincount(place, np.concatenate([np.array(bag.weights) for bag in bags]), len(hashes)) / len(bags)
    origins = np.zeros(len(hashes), np.uint8)
    np.bitwise_or.at(origins, place, np.concatenate([_column(bag, bag.origins) for bag in bags]))
    counts = np.rint(
        np.bincount(place, np.concatenate([_column(bag, bag.counts) for bag in bags]), len(hashes)) / len(bags)
    )
    if len(hashes) > _MOST_TERMS:
        heaviest = np.sort(np.argsort(-weights, kind="stable")[:_MOST_TERMS])
        hashes, weights = hashes[heaviest], weights[heaviest] / weights[heaviest].sum()
        origins, counts = origins[heaviest], counts[heaviest]
    sites = dict.fromkeys(site for bag in bags for site in bag.sites)
    words = dict.fromkeys(word for bag in bags for word in bag.words)
    epochs = {bag.epoch for bag in bags}
    return Bag(
        strategy=bags[0].strategy, hashes=tuple(hashes.tolist()), weights=tuple(weights.tolist()),
        sketch=(EMPTY_PLACE,) * SKETCH_PLACES, words=tuple(words)[:100],
        origins=tuple(origins.tolist()), counts=tuple(counts.astype(int).tolist()), sites=tuple(sites)[:100],
        epoch=epochs.pop() if len(epochs) == 1 else "",
    )  # fmt: skip


def _column(bag: Bag, column: tuple[int, ...]) -> npt.NDArray[np.uint8]:
    """Return a bag's values for each term; zeros if it has none."""
    return np.array(column if len(column) == len(bag.hashes) else (0,) * len(bag.hashes), np.uint8)
