"""What rounding does to the signatures of the 2002 paper: bias, intervals that hold, and time, by number of units.

    python benchmarks/paper_units.py COLLECTION.kin [--sources 1000]

The collection has to be indexed by `haveliwala2002`. Each source page is paired with three that its signature says are near
and three at random. *Zero*: terms that get no unit. *Bias*: mean of the similarity of rounded bags less that of real ones,
overall and in the worst band of similarities. *Worst*: the greatest difference of any pair. *Held*: 95 % intervals around
estimates that hold the real similarity, over five seeds.
"""

import argparse
import time
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.similarity import RelatedIndex
from pagekin.similarity.paper import Paper, integer_bag
from pagekin.similarity.related import margin

Array = npt.NDArray[Any]
UNITS = (1_000, 4_000, 16_000, 32_000, 64_000)
BANDS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 1.1)
SEEDS = range(101, 106)
FEWEST_TERMS = 20


class Sample:
    """Some bags of a collection with their terms, and pairs of them."""

    def __init__(self, index: RelatedIndex, sources: int) -> None:
        rng = np.random.default_rng(1)
        long = np.flatnonzero(np.diff(np.asarray(index.bags.offsets, dtype=np.int64)) >= FEWEST_TERMS)
        pairs = []
        for source in rng.choice(long, min(sources, len(long)), replace=False).tolist():
            agree = np.count_nonzero(index.index.rows == index.index.rows[source], axis=1)
            agree[source] = -1
            near = np.argpartition(agree, -5)[-3:]
            pairs += [(source, other) for other in [*near.tolist(), *rng.choice(long, 3).tolist()] if other != source]
        documents, places = np.unique(np.array(pairs), return_inverse=True)
        self.pairs: Array = places.reshape(-1, 2)
        bags = [index.bags.bag(document) for document in documents.tolist()]
        self.offsets: Array = np.cumsum([0, *(len(terms) for terms, _weights in bags)])
        self.terms: Array = np.concatenate([terms for terms, _weights in bags])
        self.weights: Array = np.concatenate([weights for _terms, weights in bags])
        self.hashes: Array = np.array(index.bags.hashes)

    def spans(self) -> list[slice]:
        """Return where each bag's entries are."""
        return [slice(first, last) for first, last in pairwise(self.offsets.tolist())]

    def rounded(self, units: int) -> Array:
        """Return the units of each entry."""
        counts = [integer_bag(self.hashes[self.terms[span]], self.weights[span], units) for span in self.spans()]
        return np.concatenate(counts)

    def similarities(self, weights: Array) -> Array:
        """Return Σ min / Σ max of each pair, the entries having these weights."""
        weights = weights.astype(np.float64)
        spans, table = self.spans(), np.zeros(len(self.hashes))
        sums = np.add.reduceat(weights, self.offsets[:-1])
        out = np.empty(len(self.pairs))
        for place, (first, second) in enumerate(self.pairs.tolist()):
            table[self.terms[spans[first]]] = weights[spans[first]]
            shared = float(np.minimum(table[self.terms[spans[second]]], weights[spans[second]]).sum())
            table[self.terms[spans[first]]] = 0
            out[place] = shared / (sums[first] + sums[second] - shared)
        return out

    def estimates(self, maker: Paper) -> Array:
        """Return the share of positions at which the signatures of each pair agree."""
        rows = maker.sign_bags(self.terms, self.weights, self.offsets, self.hashes)
        return np.asarray(np.mean(rows[self.pairs[:, 0]] == rows[self.pairs[:, 1]], axis=1))


def main() -> None:
    """Print a table by number of units."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--sources", type=int, default=1_000)
    options = parser.parse_args()
    index = RelatedIndex.open(options.collection)
    sample = Sample(index, options.sources)
    real = sample.similarities(sample.weights)
    m = index.strategy.signature.m
    bands = [(real >= low) & (real < high) for low, high in pairwise(BANDS)]
    bags = len(sample.offsets) - 1
    print(f"{len(real):,} pairs of {bags:,} bags, {len(sample.terms) / bags:,.0f} terms each, m = {m}")
    print(f"{'units':>8}{'zero':>8}{'bias':>10}{'in a band':>11}{'worst':>8}{'held':>8}{'µs a bag':>10}")
    sample.estimates(Paper(8, 1, 100))  # compiles
    for units in UNITS:
        counts = sample.rounded(units)
        errors = sample.similarities(counts) - real
        band = max((errors[one].mean() for one in bands if one.any()), key=abs)
        started = time.process_time()
        estimates = [sample.estimates(Paper(m, seed, units)) for seed in SEEDS]
        seconds = (time.process_time() - started) / len(SEEDS)
        held = [np.mean(np.abs(row - real) <= [margin(estimate, m) for estimate in row.tolist()]) for row in estimates]
        print(
            f"{units:>8,}{np.mean(counts == 0):>8.1%}{errors.mean():>+10.5f}{band:>+11.5f}{np.abs(errors).max():>8.4f}"
            f"{np.mean(held):>8.1%}{seconds / bags * 1e6:>10.0f}"
        )


if __name__ == "__main__":
    main()
