"""The two signature makers behind one interface."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pagekin.bags import Signature
from pagekin.similarity.darts import Darts
from pagekin.similarity.paper import Paper

Array = npt.NDArray[Any]


class Maker(Protocol):
    """Turns each bag into m values, so that two bags agree in a share of positions that estimates their Jaccard similarity.

    A bag is a set of terms, each given by its 64-bit hash, with weights that sum to 1. Signatures can be compared if
    they come from makers of the same name, m and seed, on whatever machine.
    """

    @property
    def name(self) -> str:
        """Return what the strategy's `signature.maker` calls it."""

    @property
    def m(self) -> int:
        """Return the number of values per signature."""

    def sign(self, hashes: Array, weights: Array) -> npt.NDArray[np.uint32]:
        """Sign one bag: numpy alone, for programs that must start quickly."""

    def sign_bags(self, terms: Array, weights: Array, offsets: Array, hashes: Array) -> npt.NDArray[np.uint32]:
        """Sign many bags, as an array (bags, m) that equals `sign` to the last bit: compiled.

        Bag i has the terms `terms[offsets[i]:offsets[i + 1]]`, numbers of items in `hashes`, and weights likewise.
        Works on the calling thread, and lets other threads run.
        """


def make_maker(signature: Signature) -> Maker:
    """Return the maker that a strategy's settings ask for."""
    if signature.maker == Paper.name:
        return Paper(signature.m, signature.seed, signature.units)
    return Darts(signature.m, signature.seed)
