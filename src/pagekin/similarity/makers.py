"""The two signature makers behind one interface."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pagekin.bags.strategy import Signature
from pagekin.similarity.darts import Darts
from pagekin.similarity.paper import Paper

Array = npt.NDArray[Any]


class Maker(Protocol):
    """Makes of each bag m values, so that two bags agree in as many positions as their Jaccard similarity says.

    A bag is a set of terms, each given by its 64-bit hash, with weights that sum to 1. Signatures can be compared if
    they come from makers of the same name, m and seed, on whatever machine.
    """

    @property
    def name(self) -> str:
        """What the strategy's `signature.maker` calls it."""

    @property
    def m(self) -> int:
        """Values per signature."""

    def sign(self, hashes: Array, weights: Array) -> npt.NDArray[np.uint32]:
        """The signature of one bag: numpy alone, for programs that must start quickly."""

    def sign_bags(self, terms: Array, weights: Array, offsets: Array, hashes: Array) -> npt.NDArray[np.uint32]:
        """The signatures of many bags as an array (bags, m), equal to `sign` to the last bit: compiled.

        Bag i has the terms `terms[offsets[i]:offsets[i + 1]]`, numbers of items in `hashes`, and weights likewise.
        Works on the calling thread, and lets other threads run.
        """


def make_maker(signature: Signature) -> Maker:
    """The maker that a strategy's settings ask for."""
    makers: dict[str, type[Darts] | type[Paper]] = {maker.name: maker for maker in (Darts, Paper)}
    return makers[signature.maker](signature.m, signature.seed)
