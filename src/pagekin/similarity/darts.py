"""Signatures of bags with real weights: darts (after DartMinHash, Christiani 2020).

Darts fall on the plane of (term, weight, rank) as a Poisson process that depends on the term and the seed alone. A bag
holds the darts that lie below its weight of their term; each dart belongs to one of m positions, and the signature's
value at a position is the name of the dart of least rank there. Two bags agree at a position exactly if the least
dart below either weight lies below both: with probability Σ min / Σ max, their weighted Jaccard similarity,
independently for every position.

Because bags sum to 1, some 5.5 m darts fall into a bag whatever its size. They are thrown term by term in order of
weight, the gaps between them being exponential, until the bag's weight is passed. A position that stays empty, one in
250 does, gets darts of higher ranks, thrown for that position alone.

A dart is one 64-bit number made from the term's hash by a counter: its upper 24 bits are the rank, the next 24 the gap,
the lower 16 choose the position. The gap is -ln u for a uniform u, and a dart lies below the weight w if the gaps up to
it sum to no more than w times the number of darts to the unit of weight, its level. No logarithm is taken: e^level
is multiplied by one u after the other for as long as it is no less than 1. As doubles end at e^709, each term's axis
of levels is cut into pieces, on which the darts begin afresh (a Poisson process does not remember). Everything is done
in integers and in the basic operations on doubles, in an order that is part of the definition, so that compiled code
and numpy agree to the last bit, on every machine.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import mix64

Array = npt.NDArray[Any]
LAYERS = 64
"""Layers of ranks that are tried for a position. A bag that sums to 1 misses all of them with a chance of e^-320."""
FIRST = 5.5
"""Darts of the first layer for each position. Fewer leave more positions empty, which cost time for each of the bag's
terms: with bags of 100 to 700 terms the least time is spent at 5 to 6.5, whatever m is."""
LATER = 5.0
"""Darts of a later layer for its one position."""
PIECE = 512.0
"""The length of a piece of a term's axis of levels."""
BLOCK = 8
"""Darts of a term that are thrown together; their u are multiplied in pairs, then fours, then eights."""
POWERS = (
    0.6931472067028329, 0.24022650922289554, 0.05550327226669895, 0.00961805667843204, 0.0013400428177711937,
    0.00015461444724808513,
)  # fmt: skip
"""2^y - 1 for |y| <= 1/2 as a polynomial in y without a constant term, to 3e-9: levels need not be more exact than that."""
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
NAME = np.uint64(0xD6E8FEB86659FD93)
EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
GAP = np.uint64(0x000FFFFFF0000000)
ONE = np.uint64(0x3FF0000000000000)
"""The bits that hold the gap of a dart, shifted by 12, and those of the double 1.0: together a double from 1 to 2."""
LOG2E = 1.4426950408889634
ROUND = 1.5 * 2**52  # a double near this one holds no fraction, and its last bits are an integer


def _mix_one(number: int) -> np.uint64:
    """Return `mix64` of one number."""
    return np.uint64(mix64(np.array([number % 2**64], dtype=np.uint64))[0])


def _exp(level: Array) -> npt.NDArray[np.float64]:
    """Return e^level for levels from 0 to PIECE."""
    power = level * LOG2E
    rounded = power + ROUND
    y = power - (rounded - ROUND)
    value = np.full(len(y), POWERS[-1])
    for coefficient in POWERS[-2::-1]:
        value = value * y + coefficient
    value = value * y + 1.0
    return (value.view(np.uint64) + (rounded.view(np.uint64) << np.uint64(52))).view(np.float64)


class Darts:
    """The signature maker `darts`: m values from a seed."""

    def __init__(self, m: int, seed: int) -> None:
        self.m = m
        self.seed = _mix_one(seed * int(NAME) + int(GOLDEN))
        self.reach = FIRST * m

    def sign(self, hashes: Array, weights: Array) -> npt.NDArray[np.uint32]:
        """Sign one bag, given its terms' hashes and its weights, which sum to 1: numpy alone."""
        with np.errstate(over="ignore"):
            best = _throw(hashes, weights, self.seed, self.reach, self.m)
            for j in np.flatnonzero(best == EMPTY):
                for layer in range(1, LAYERS):
                    higher = _mix_one(int(self.seed) + (layer << 32) + int(j))
                    best[j] = _throw(hashes, weights, higher, LATER, 1)[0]
                    if best[j] != EMPTY:
                        break
            return ((best * NAME) >> np.uint64(32)).astype(np.uint32)  # the four bytes by which H knows a dart

    def sign_bags(self, terms: Array, weights: Array, offsets: Array, hashes: Array) -> npt.NDArray[np.uint32]:
        """Sign many bags, as an array (bags, m): compiled, on the calling thread.

        Bag i has the terms `terms[offsets[i]:offsets[i + 1]]`, numbers of items in `hashes`, and weights likewise.
        """
        from pagekin.similarity._kernels.darts import sign_by_darts

        out = np.empty((len(offsets) - 1, self.m), dtype=np.uint32)
        sign_by_darts(terms, weights, offsets.astype(np.int64), hashes, self.seed, self.reach, out)
        return out


def _throw(hashes: Array, weights: Array, seed: np.uint64, reach: float, positions: int) -> npt.NDArray[np.uint64]:
    """Return the least dart of each position in one layer of ranks, with `reach` darts per unit of weight."""
    least = np.full(positions, EMPTY, dtype=np.uint64)
    level = weights.astype(np.float64) * reach
    states, rests = [hashes ^ seed], [_exp(np.minimum(level, PIECE))]
    piece = 1
    while np.any(level > PIECE):
        hashes, level = hashes[level > PIECE], level[level > PIECE] - PIECE
        states.append(hashes ^ _mix_one(int(seed) + piece))
        rests.append(_exp(np.minimum(level, PIECE)))
        piece += 1
    state, rest = np.concatenate(states), np.concatenate(rests)
    steps = np.arange(1, BLOCK + 1, dtype=np.uint64) * GOLDEN
    while len(state):
        dart = mix64(state[:, None] + steps)
        bits = (dart << np.uint64(12)) & GAP | ONE
        u = bits.view(np.float64) - (1 - 2.0**-25)
        for k in (1, 2, 4):
            for first in range(k, BLOCK, 2 * k):
                u[:, first : first + k] *= u[:, first - 1 : first]
        left = rest[:, None] * u
        hit = left >= 1.0
        dart = dart[hit]
        np.minimum.at(least, ((dart & np.uint64(0xFFFF)) * np.uint64(positions)) >> np.uint64(16), dart)
        state, rest = state[hit[:, -1]] + steps[-1], left[hit[:, -1], -1]
    return least
