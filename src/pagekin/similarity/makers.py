"""The two signature makers.

A maker turns each bag into m values, so that two bags agree in a share of positions that estimates their Jaccard
similarity. A bag is a set of terms, each given by its 64-bit hash, with weights that sum to 1. `sign` signs one bag with
numpy alone, for programs that must start quickly; `sign_bags` signs many, compiled, and equals it to the last bit.
Signatures can be compared if they come from makers of the same kind, m and seed, on whatever machine.
"""

from pagekin.bags import Signature
from pagekin.similarity.darts import Darts
from pagekin.similarity.paper import Paper

Maker = Darts | Paper


def make_maker(signature: Signature) -> Maker:
    """Return the maker that a strategy's settings ask for."""
    if signature.maker == "paper":
        return Paper(signature.m, signature.seed, signature.units)
    return Darts(signature.m, signature.seed)
