"""Bags of chosen URLs as the rows of a sparse matrix."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags.workshop import BagSet

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class BagMatrix:
    """Weighted terms of documents, by row: row i is terms[offsets[i]:offsets[i + 1]] with their weights."""

    offsets: npt.NDArray[np.int64]
    terms: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float32]
    columns: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """Return the row of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


def bag_matrix(bags: BagSet, urls: Array) -> BagMatrix:
    """Return the bags of some URLs as the rows of a matrix; a URL without a bag has an empty row."""
    place = np.minimum(np.searchsorted(bags.urls, urls), max(len(bags.urls) - 1, 0))
    has = bags.urls[place] == urls if len(bags.urls) else np.zeros(len(urls), np.bool_)
    starts = np.where(has, bags.offsets[place], 0)
    sizes = np.where(has, bags.offsets[np.minimum(place + 1, len(bags.offsets) - 1)] - starts, 0)
    offsets = np.zeros(len(urls) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    index = np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1])
    terms = bags.terms[index].astype(np.int64)
    return BagMatrix(offsets, terms, bags.weights[index], bags.columns)
