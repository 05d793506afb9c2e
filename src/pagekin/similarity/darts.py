"""Signatures of bags with real weights: darts (after DartMinHash, Christiani 2020).

Darts fall on the plane of (term, weight, rank) as a Poisson process that depends on the term and the seed alone. A bag
holds the darts that lie below its weight of their term; each dart belongs to one of m positions, and the signature's
value at a position is the name of the dart of least rank there. Two bags agree at a position exactly if the least
dart below either weight lies below both: with probability Σ min / Σ max, their weighted Jaccard similarity,
independently for every position.

Because bags sum to 1, some m (ln m + 1.5) darts fall into a bag whatever its size. They are thrown term by term in order
of weight, the gaps between them being exponential, until the bag's weight is passed. If a position stays empty, darts
of the next layer of ranks are thrown, for the empty positions only.

A dart is one 64-bit number made from the term's hash by a counter: its upper 24 bits are the rank, the next 24 the gap,
the lower 16 choose the position. Everything is done in integers and in the four basic operations on doubles (the
logarithm too), so that compiled code and numpy agree to the last bit, on every machine.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
LAYERS = 64
_LN2 = 0.6931471805599453
_TOP = (24 + 1023) * 0.6931471805599453  # a gap has 24 bits, a double's exponent begins at -1023
LOGARITHM = (
    0.4054652872055158, 0.6666665600887427, -0.22224508255021647, 0.09877903506549046, -0.04893241608351673,
    0.026069587276651873, -0.017405023404535314, 0.01000928961639147,
)  # fmt: skip
"""ln(1.5 + y) for |y| <= 1/2 as a polynomial, to 3e-7: gaps need not be nearer to exponential than that."""
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_NAME = np.uint64(0xD6E8FEB86659FD93)
_EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)


def mix64(value: Array) -> npt.NDArray[np.uint64]:
    """A bijection of 64-bit numbers that leaves no pattern (the finaliser of SplitMix64)."""
    z = (value ^ (value >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return np.asarray(z ^ (z >> np.uint64(31)))


def _rounded(value: float) -> float:
    """`value` to 40 binary places, where all mathematical libraries agree."""
    return round(value * 2**40) / 2**40


class Darts:
    """The signature maker `darts`: m values from a seed."""

    name = "darts"

    def __init__(self, m: int, seed: int) -> None:
        self.m = m
        self._seeds = mix64(np.arange(1, LAYERS + 1, dtype=np.uint64) * GOLDEN + np.uint64(seed) * _NAME)
        self._reaches = np.array([_rounded(m * (math.log(m) + 1.5)), *[2.0 * m] * (LAYERS - 1)])

    def sign(self, hashes: Array, weights: Array) -> npt.NDArray[np.uint32]:
        """The signature of one bag, given its terms' hashes and its weights, which sum to 1: numpy alone."""
        best = np.full(self.m, _EMPTY, dtype=np.uint64)
        for layer in range(LAYERS):
            fresh = self._layer(layer, hashes, weights)
            best = np.where(best == _EMPTY, fresh, best)
            if not np.any(best == _EMPTY):
                break
        return self._names(best)

    def _layer(self, layer: int, hashes: Array, weights: Array) -> npt.NDArray[np.uint64]:
        """The least dart of each position in one layer of ranks."""
        least = np.full(self.m, _EMPTY, dtype=np.uint64)
        limit = weights.astype(np.float64) * self._reaches[layer]
        state = hashes ^ self._seeds[layer]
        level = np.zeros(len(hashes))
        with np.errstate(over="ignore"):
            while len(state):
                state = state + GOLDEN
                z = mix64(state)
                gap = ((z >> np.uint64(16)) & np.uint64(0xFFFFFF)).astype(np.float64) + 0.5
                bits = gap.view(np.uint64)
                mantissa = ((bits & np.uint64(0xFFFFFFFFFFFFF)) | np.uint64(0x3FF0000000000000)).view(np.float64)
                log = np.full(len(bits), LOGARITHM[-1])
                for coefficient in LOGARITHM[-2::-1]:
                    log = log * (mantissa - 1.5) + coefficient
                level = level + (_TOP - (bits >> np.uint64(52)).astype(np.float64) * _LN2 - log)
                hit = level <= limit
                state, level, limit, z = state[hit], level[hit], limit[hit], z[hit]
                position = ((z & np.uint64(0xFFFF)) * np.uint64(self.m)) >> np.uint64(16)
                np.minimum.at(least, position, z)
        return least

    def _names(self, best: Array) -> npt.NDArray[np.uint32]:
        """The four bytes by which H knows a dart."""
        with np.errstate(over="ignore"):
            return ((best * _NAME) >> np.uint64(32)).astype(np.uint32)

    def sign_bags(self, terms: Array, weights: Array, offsets: Array, hashes: Array) -> npt.NDArray[np.uint32]:
        """The signatures of many bags as an array (bags, m): compiled, on the calling thread."""
        from pagekin.similarity._kernels.darts import sign_by_darts

        out = np.empty((len(offsets) - 1, self.m), dtype=np.uint32)
        sign_by_darts(terms, weights, offsets, hashes, self._seeds, self._reaches, out)
        return out
