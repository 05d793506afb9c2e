"""Compute term weights: distance from the link, document frequency, term frequency (sections 3.3 and 5.2).

All of it by basic operations in a fixed order, so that processors agree to the last bit.
"""

import numpy as np
import numpy.typing as npt

from pagekin.bags.arithmetic import exp, log, log2
from pagekin.bags.strategy import Strategy
from pagekin.store import Array

_VANISHED = 1e-30
DYNAMIC_SIZE = 32
"""Syntactic and topical windows end here at the latest."""
UNIT = 2.0**-24
"""What occurrences weigh is a multiple of this, so that a bag adds them up in integers: the sum is the same in any order."""


def whole_units(weights: Array | float) -> npt.NDArray[np.int64]:
    """Return occurrence weights as multiples of UNIT; a positive weight becomes at least one unit."""
    exact = np.asarray(weights, dtype=np.float64)
    return np.asarray(np.where(exact > 0, np.maximum(np.rint(exact / UNIT), 1.0), 0.0)).astype(np.int64)


def distance_weights(strategy: Strategy) -> npt.NDArray[np.float64]:
    """Return the weights of window words by distance from the link; the link's own words are at 0."""
    distance = np.arange(strategy.window.size + 1, dtype=np.float64)
    if strategy.weight.distance == "none":
        return np.ones_like(distance)
    return np.maximum(0.0, log2(32.0 / (1.0 + distance)))


def near_weights(strategy: Strategy) -> npt.NDArray[np.int64]:
    """Return the weights of window words by distance from the link, in units; nothing if windows do not count."""
    near = whole_units(distance_weights(strategy) * strategy.anchors.scale)
    if strategy.window.kind != "basic":
        near = near[: DYNAMIC_SIZE + 1]
    return near if strategy.anchors.scale else near[:0]


def title_weight(strategy: Strategy) -> float:
    """Return the weight of a title word: with windows, that of a word of a link, at distance 0."""
    return strategy.title.scale * (float(distance_weights(strategy)[0]) if strategy.anchors.scale else 1.0)


def lead_weights(strategy: Strategy, words: int) -> npt.NDArray[np.float64]:
    """Return the weights of words by the number of kept words before them in the running text, up to `words`."""
    before = np.arange(words + 1, dtype=np.float64)
    if not strategy.content.lead:
        return np.ones_like(before)
    depth = 1.0 + before / strategy.content.lead
    return np.asarray(1.0 / (depth * depth))


def nmdf_parameters(strategy: Strategy, bags: int) -> tuple[float, float]:
    """Return (μ, σ) of the log-scale Gaussian (Figure 8) for a collection of this many bags."""
    weight = strategy.weight
    if weight.mu is not None:
        return weight.mu, weight.sigma
    if weight.centre is not None:
        return float(log(max(weight.centre * bags, 1e-9))), weight.sigma
    return weight.level * float(log(max(bags, 1))), weight.sigma


def frequency_weights(df: Array, bags: int, strategy: Strategy) -> npt.NDArray[np.float64]:
    """Return the weight factor of each term by the number of bags that hold it (Figures 7 and 8)."""
    most = int(df.max(initial=0))
    if most + 1 < len(df):  # many terms have the same df
        return np.asarray(_weigh_df(np.arange(most + 1), bags, strategy)[df])
    return _weigh_df(df, bags, strategy)


def _weigh_df(df: Array, bags: int, strategy: Strategy) -> npt.NDArray[np.float64]:
    counts = np.maximum(df.astype(np.float64), 1.0)
    if strategy.weight.frequency == "log":
        return np.asarray(1.0 / (1.0 + log2(counts)))
    if strategy.weight.frequency == "sqrt":
        return np.asarray(1.0 / np.sqrt(counts))
    if strategy.weight.frequency == "nmdf":
        mu, sigma = nmdf_parameters(strategy, bags)
        away = (log(counts) - mu) / sigma
        return np.asarray(exp(-0.5 * (away * away)))
    return np.ones_like(counts)


def scaled_frequencies(sums: Array, strategy: Strategy) -> npt.NDArray[np.float64]:
    """Scale summed occurrence weights, in units, as the strategy says: not at all, by square root, or 1 + log2."""
    counts = sums * UNIT
    if strategy.weight.tf == "sqrt":
        return np.asarray(np.sqrt(counts))
    if strategy.weight.tf == "log":
        return np.asarray(np.where(counts > 1, 1.0 + log2(np.maximum(counts, 1.0)), counts))
    return counts


def normalise(weights: Array, offsets: Array) -> npt.NDArray[np.float32]:
    """Divide each bag's weights by their sum; bag i is weights[offsets[i]:offsets[i + 1]], and no bag is empty.

    Where all weights of a bag vanish (terms far from the centre of nmdf), its terms count alike.
    """
    if len(weights) == 0:
        return np.zeros(0, dtype=np.float32)
    sizes = np.diff(offsets)
    bag_of = np.repeat(np.arange(len(sizes)), sizes)
    sums = np.bincount(bag_of, weights)[bag_of]  # term by term, as they stand in the bag
    shares = np.where(sums > _VANISHED, weights, 1.0) / np.where(sums > _VANISHED, sums, np.repeat(sizes, sizes))
    return shares.astype(np.float32)
