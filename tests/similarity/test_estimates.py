"""How far estimated similarities are from exact ones, on real articles: no bias, and no more noise than chance has."""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest

from pagekin.bags import Bags, Signature
from pagekin.bags.strategy import HAVELIWALA2002
from pagekin.similarity import RelatedIndex, make_maker
from pagekin.similarity.paper import integer_bag
from pagekin.similarity.related import margin

from .webs import Array

PAGES = 800
PAIRS = 5_000
SEEDS = range(1, 13)


@dataclass(frozen=True)
class Sample:
    """Some bags with the hashes of the terms they hold, and pairs of them as (first, second, kind of pair)."""

    terms: Array
    weights: Array
    offsets: Array
    hashes: Array
    pairs: dict[str, tuple[Array, Array]]
    signed: dict[Signature, Array] = field(default_factory=dict)

    def sign(self, signature: Signature) -> Array:
        """Return the signatures of all bags, which the tests of both kinds of pairs share."""
        if signature not in self.signed:
            maker = make_maker(signature)
            self.signed[signature] = maker.sign_bags(self.terms, self.weights, self.offsets, self.hashes)
        return self.signed[signature]

    def jaccard(self, weights: Array, kind: str) -> Array:
        """Σ min / Σ max of the bags of each pair, the terms having these weights."""
        firsts, seconds = self.pairs[kind]
        found = np.empty(len(firsts))
        table = np.zeros(len(self.hashes))
        weights = weights.astype(np.float64)
        sums = np.add.reduceat(weights, self.offsets[:-1])
        spans = [slice(a, b) for a, b in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True)]
        for first in np.unique(firsts).tolist():
            here = np.flatnonzero(firsts == first)
            table[self.terms[spans[first]]] = weights[spans[first]]
            for pair in here.tolist():
                span = spans[int(seconds[pair])]
                found[pair] = np.minimum(table[self.terms[span]], weights[span]).sum()
            table[self.terms[spans[first]]] = 0
        return found / (sums[firsts] + sums[seconds] - found)

    def estimates(self, signature: Signature, kind: str) -> Array:
        """The share of positions in which the signatures of each pair agree."""
        rows = self.sign(signature)
        firsts, seconds = self.pairs[kind]
        return np.count_nonzero(rows[firsts] == rows[seconds], axis=1) / signature.m


def bags_alone(bags: Bags, documents: Array) -> tuple[Array, Array, Array, Array]:
    """(terms, weights, offsets, hashes) of some bags, their terms numbered anew."""
    parts = [bags.bag(int(document)) for document in documents]
    offsets = np.cumsum([0, *(len(terms) for terms, _ in parts)])
    used, terms = np.unique(np.concatenate([terms for terms, _ in parts]), return_inverse=True)
    return terms.astype(np.uint32), np.concatenate([weights for _, weights in parts]), offsets, bags.hashes[used]


def nearest(rows: Array, count: int) -> Array:
    """For each row the `count` others that agree with it most often."""
    agree = np.zeros((len(rows), len(rows)), dtype=np.uint8)
    for column in rows.T:
        agree += column[:, None] == column
    np.fill_diagonal(agree, 0)
    return np.argpartition(agree, -count, axis=1)[:, -count:]


@pytest.fixture(scope="module")
def sample(school: RelatedIndex) -> Sample:
    """800 articles; 5,000 random pairs of them, and 5,000 pairs of near ones.

    Near ones are found by signatures of a seed that no test uses: those that find a pair overestimate it.
    """
    rng = np.random.default_rng(1)
    documents = np.sort(rng.choice(len(school), PAGES, replace=False))
    arrays = bags_alone(school.bags, documents)
    rows = make_maker(Signature(m=96, seed=999)).sign_bags(*arrays)
    each = -(-PAIRS // PAGES)
    related = np.stack([np.repeat(np.arange(PAGES), each), nearest(rows, each).reshape(-1)])
    related = related[:, rng.permutation(related.shape[1])[:PAIRS]]
    random = np.stack([rng.integers(0, PAGES, PAIRS), rng.integers(1, PAGES, PAIRS)])
    random[1] = (random[0] + random[1]) % PAGES  # never the page itself
    return Sample(*arrays, {"random": (random[0], random[1]), "related": (related[0], related[1])})


def assert_no_bias(errors: Array, most: float) -> None:
    """The mean error is small, or not to be told from none: `errors` has one row per seed."""
    of_seeds = errors.mean(axis=1)
    bias, deviation = abs(of_seeds.mean()), of_seeds.std(ddof=1) / np.sqrt(len(of_seeds))
    assert bias <= max(most, 3 * deviation), f"bias {bias:.5f}, standard error {deviation:.5f}"


@pytest.mark.parametrize(("kind", "most"), [("random", 0.001), ("related", 0.005)])
def test_darts_estimate_the_similarity_of_bags_without_bias_and_with_little_noise(
    sample: Sample, kind: str, most: float
) -> None:
    exact = sample.jaccard(sample.weights, kind)
    signatures = [Signature(seed=seed) for seed in SEEDS]
    errors = np.array([sample.estimates(signature, kind) - exact for signature in signatures])
    assert_no_bias(errors, most)
    noise, least = np.sqrt(np.mean(errors**2)), np.sqrt(np.mean(exact * (1 - exact) / signatures[0].m))
    assert noise <= 1.1 * least, f"root mean square error {noise:.5f}, by chance alone {least:.5f}"


def held(estimates: Array, real: Array, m: int) -> float:
    """Return the share of estimates whose 95 % interval holds the real similarity."""
    margins = np.array([margin(matches / m, m) for matches in range(m + 1)])
    return float(np.mean(np.abs(estimates - real) <= margins[np.rint(estimates * m).astype(np.int64)]))


@pytest.mark.parametrize("kind", ["random", "related"])
def test_the_papers_signatures_estimate_the_similarity_of_bags_of_integers(sample: Sample, kind: str) -> None:
    counts = np.concatenate(
        [
            integer_bag(sample.hashes[sample.terms[a:b]], sample.weights[a:b], HAVELIWALA2002.signature.units)
            for a, b in zip(sample.offsets[:-1].tolist(), sample.offsets[1:].tolist(), strict=True)
        ]
    )
    exact = sample.jaccard(counts, kind)
    m = HAVELIWALA2002.signature.m
    errors = np.array([sample.estimates(Signature(maker="paper", m=m, seed=seed), kind) - exact for seed in SEEDS[:10]])
    assert abs(errors.mean()) <= 0.005
    # What rounding does to the similarity itself: next to nothing, whatever the similarity.
    real = sample.jaccard(sample.weights, kind)
    assert np.max(np.abs(exact - real)) <= 0.005
    for least, most in pairwise((0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 1.1)):
        band = (real >= least) & (real < most)
        assert not band.any() or abs(np.mean((exact - real)[band])) < 0.002
    # So the stated intervals hold as often as those around the agreements that chance alone would bring.
    by_chance = np.random.default_rng(2).binomial(m, real, (5, len(real))) / m
    share, wanted = held(errors[:5] + exact, real, m), held(by_chance, real, m)
    assert wanted > 0.93
    assert abs(share - wanted) < 0.005


def test_related_pairs_are_related_and_random_ones_are_not(sample: Sample) -> None:
    random, related = (sample.jaccard(sample.weights, kind) for kind in ("random", "related"))
    assert np.median(related) > 2 * np.median(random)
