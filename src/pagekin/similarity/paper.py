"""Signatures as in section 6.2 of the 2002 paper: integer multiplicities, and the least of ax + b mod p.

A bag is scaled to C = 1,000 occurrences. The k-th occurrence of a term is an element of its own, so that the Jaccard
coefficient of two sets of elements is that of the two bags. An element is a number x modulo the prime p, mixed from
the term's hash and k: consecutive numbers would be biased under linear functions. Each position has a linear function
modulo p, and its value is the function's least value on the bag's elements.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags.words import mix64
from pagekin.similarity.darts import GOLDEN

Array = npt.NDArray[Any]
C = 1_000
P = 2**32 - 5
"""The largest prime below 2^32, so that a value fills the four bytes it has in H."""
_UNIT = float(2**40)
_NOTHING = np.uint64(2**32 - 1)  # the value of a bag without terms, which no element has
_SEED = np.uint64(0xD1342543DE82EF95)


def integer_bag(hashes: Array, weights: Array) -> npt.NDArray[np.int64]:
    """How often each term occurs in the bag scaled to C occurrences, by largest-remainder rounding.

    Of equal remainders the one with the least term hash is rounded up. Reckoned in integers (a weight is a multiple of
    2^-40): a sum of doubles would depend on the order of the terms.
    """
    parts = np.rint(weights.astype(np.float64) * _UNIT).astype(np.int64)
    total = int(parts.sum())
    if total == 0:
        return np.zeros(len(parts), dtype=np.int64)
    counts, remainders = np.divmod(parts * C, total)
    counts[np.lexsort((hashes, -remainders))[: C - int(counts.sum())]] += 1
    return np.asarray(counts)


class Paper:
    """The signature maker `paper`: m values from a seed."""

    name = "paper"

    def __init__(self, m: int, seed: int) -> None:
        self.m = m
        with np.errstate(over="ignore"):
            drawn = mix64(np.arange(1, 2 * m + 1, dtype=np.uint64) * GOLDEN + np.uint64(seed) * _SEED)
        self.a = drawn[:m] % np.uint64(P - 1) + np.uint64(1)
        self.b = drawn[m:] % np.uint64(P)

    def sign(self, hashes: Array, weights: Array) -> npt.NDArray[np.uint32]:
        """The signature of one bag, given its terms' hashes and its weights, which sum to 1: numpy alone."""
        counts = integer_bag(hashes, weights)
        before = np.repeat(np.cumsum(counts) - counts, counts)
        with np.errstate(over="ignore"):
            k = (np.arange(len(before)) - before + 1).astype(np.uint64)
            elements = mix64(np.repeat(hashes, counts) + k * GOLDEN) % np.uint64(P)
        values = (self.a[:, None] * elements + self.b[:, None]) % np.uint64(P)  # no overflow: a, x and b are below p
        return np.asarray(values.min(axis=1, initial=_NOTHING).astype(np.uint32))

    def sign_bags(self, terms: Array, weights: Array, offsets: Array, hashes: Array) -> npt.NDArray[np.uint32]:
        """The signatures of many bags as an array (bags, m): compiled, on the calling thread."""
        from pagekin.similarity._kernels.paper import sign_as_in_the_paper

        out = np.empty((len(offsets) - 1, self.m), dtype=np.uint32)
        sign_as_in_the_paper(terms, weights, offsets.astype(np.int64), hashes, self.a, self.b, out)
        return out
