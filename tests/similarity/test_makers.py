"""Both makers keep the same promises: agreement estimates Jaccard, on every machine alike, and nothing is left to defaults."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from pagekin.bags import Signature
from pagekin.similarity import make_maker
from pagekin.similarity.darts import LATER, PIECE
from pagekin.similarity.makers import Maker
from pagekin.similarity.paper import P, integer_bag

Array = npt.NDArray[Any]
Bag = tuple[Array, Array]
NAMES = ("darts", "paper")
both = pytest.mark.parametrize("name", NAMES)
UNITS = 1_000
"""Fewer than by default: some tests make many thousand signatures."""
generated = settings(derandomize=True, database=None, deadline=None, max_examples=60)


def maker_of(name: str, m: int = 80, seed: int = 1) -> Maker:
    return make_maker(Signature(maker=name, m=m, seed=seed, units=UNITS))


def bag_of(hashes: npt.ArrayLike, weights: npt.ArrayLike) -> Bag:
    """A bag as it is stored: weights of four bytes that sum to 1, very nearly."""
    scaled = np.asarray(weights, dtype=np.float64)
    return np.asarray(hashes, dtype=np.uint64), (scaled / scaled.sum()).astype(np.float32)


def some_hashes(rng: np.random.Generator, terms: int) -> Array:
    return rng.integers(0, 2**64, terms, dtype=np.uint64)


def random_bag(rng: np.random.Generator, terms: int, unevenness: float) -> Bag:
    """Equal weights at unevenness 0; at 8, a few terms hold all there is and most are next to nothing."""
    return bag_of(some_hashes(rng, terms), np.exp(unevenness * rng.standard_normal(terms)))


bags = some.builds(
    lambda seed, terms, unevenness: random_bag(np.random.default_rng(seed), terms, unevenness),
    some.integers(0, 2**32),
    some.one_of(some.sampled_from([1, 2, 8, 9, 2_000]), some.integers(1, 300)),
    some.sampled_from([0.0, 0.5, 1.5, 3.0, 8.0]),
)


def sign_together(maker: Maker, many: list[Bag]) -> Array:
    """The compiled signatures of bags, their terms numbered through."""
    offsets = np.cumsum([0, *(len(hashes) for hashes, _ in many)])
    hashes = np.concatenate([hashes for hashes, _ in many])
    # Term numbers in no order, as in a collection.
    place = np.random.default_rng(len(hashes)).permutation(len(hashes)).astype(np.uint32)
    table = np.empty_like(hashes)
    table[place] = hashes
    return maker.sign_bags(place, np.concatenate([weights for _, weights in many]), offsets, table)


def jaccard(a: Bag, b: Bag) -> float:
    """Σ min / Σ max, term by term in Python."""
    left = dict(zip(a[0].tolist(), a[1].tolist(), strict=True))
    right = dict(zip(b[0].tolist(), b[1].tolist(), strict=True))
    terms = left.keys() | right.keys()
    least = math.fsum(min(left.get(term, 0), right.get(term, 0)) for term in terms)
    return least / math.fsum(max(left.get(term, 0), right.get(term, 0)) for term in terms)


# -- one signature, two ways ----------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("m", [8, 80, 192])
@generated
@given(many=some.lists(bags, min_size=1, max_size=4))
def test_compiled_and_plain_signatures_are_equal_to_the_last_bit(name: str, m: int, many: list[Bag]) -> None:
    maker = maker_of(name, m)
    rows = sign_together(maker, many)
    assert rows.dtype == np.uint32
    assert rows.shape == (len(many), m)
    for row, (hashes, weights) in zip(rows, many, strict=True):
        plain = maker.sign(hashes, weights)
        assert plain.dtype == np.uint32
        np.testing.assert_array_equal(plain, row)


@both
def test_the_longest_signatures_of_the_shortest_bags_are_equal_too(name: str) -> None:
    rng = np.random.default_rng(2)
    maker = maker_of(name, 4_096)
    many = [random_bag(rng, 1, 0), random_bag(rng, 2, 3), random_bag(rng, 20, 8)]
    for row, bag in zip(sign_together(maker, many), many, strict=True):
        np.testing.assert_array_equal(maker.sign(*bag), row)


@both
@generated
@given(bag=bags, seed=some.integers(0, 2**32))
def test_the_order_of_the_terms_does_not_matter(name: str, bag: Bag, seed: int) -> None:
    hashes, weights = bag
    order = np.random.default_rng(seed).permutation(len(hashes))
    maker = maker_of(name)
    one, other = sign_together(maker, [bag, (hashes[order], weights[order])])
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(maker.sign(hashes[order], weights[order]), one)


@both
def test_weights_of_four_and_of_eight_bytes_give_the_same_signature(name: str) -> None:
    hashes, weights = random_bag(np.random.default_rng(3), 200, 1.5)
    maker = maker_of(name)
    wide = weights.astype(np.float64)
    np.testing.assert_array_equal(maker.sign(hashes, wide), maker.sign(hashes, weights))
    np.testing.assert_array_equal(sign_together(maker, [(hashes, wide)])[0], maker.sign(hashes, weights))


@both
@pytest.mark.parametrize("kind", [np.uint16, np.uint32, np.int64])
def test_numbers_of_any_width_are_taken(name: str, kind: type) -> None:
    hashes, weights = random_bag(np.random.default_rng(12), 100, 1)
    maker = maker_of(name, 8)
    rows = maker.sign_bags(np.arange(100).astype(kind), weights, np.array([0, 40, 100]).astype(kind), hashes)
    np.testing.assert_array_equal(rows[1], maker.sign(hashes[40:], weights[40:]))


@both
def test_no_bags_give_no_signatures(name: str) -> None:
    empty = np.zeros(0, np.uint64)
    rows = maker_of(name).sign_bags(empty.astype(np.uint32), empty.astype(np.float32), np.zeros(1, np.int64), empty)
    assert rows.shape == (0, 80)


@both
def test_a_bag_without_terms_agrees_with_no_other(name: str) -> None:
    rng = np.random.default_rng(4)
    nothing = (np.zeros(0, np.uint64), np.zeros(0, np.float32))
    bag = random_bag(rng, 30, 1)
    maker = maker_of(name)
    rows = sign_together(maker, [nothing, bag])
    np.testing.assert_array_equal(maker.sign(*nothing), rows[0])
    assert not np.any(rows[0] == rows[1])


# -- seeds ----------------------------------------------------------------------------------------------------------------


@both
def test_a_seed_always_gives_the_same_values_and_another_seed_others(name: str) -> None:
    bag = random_bag(np.random.default_rng(5), 100, 1)
    np.testing.assert_array_equal(maker_of(name, seed=7).sign(*bag), maker_of(name, seed=7).sign(*bag))
    rows = np.array([maker_of(name, seed=seed).sign(*bag) for seed in (0, 1, 2, 3, 1_000_000, 2**31 - 1)])
    for i in range(1, len(rows)):
        assert not np.any(rows[:i] == rows[i])


# -- what agreement means -------------------------------------------------------------------------------------------------


def chance_agreements(rows: Array) -> int:
    """In how many positions of how many pairs the signatures of different bags are equal."""
    counts = [np.unique(column, return_counts=True)[1] for column in rows.T]
    return sum(int((count * (count - 1) // 2).sum()) for count in counts)


def allowed(name: str, rows: Array) -> float:
    """More agreements than chance brings: darts have names of 32 bits, the paper's least of 1,000 values some 23."""
    many, m = rows.shape
    expected: float = many * (many - 1) / 2 * m * {"darts": 2.0**-32, "paper": UNITS / (2 * P)}[name]
    return 3 + 3 * expected


@both
def test_disjoint_bags_almost_never_agree(name: str) -> None:
    rng = np.random.default_rng(6)
    many = [
        random_bag(rng, int(rng.integers(1, 200)), unevenness) for unevenness in (0, 0.5, 1.5, 3) for _ in range(50)
    ]
    rows = sign_together(maker_of(name, 192), many)
    assert chance_agreements(rows) < allowed(name, rows)


@both
@pytest.mark.parametrize("m", [8, 80, 192])
def test_no_position_is_left_at_a_default_value(name: str, m: int) -> None:
    """One position in 250 gets no dart of the first layer; if it kept a default, two defaults would agree."""
    hashes = some_hashes(np.random.default_rng(7), 400)
    for seed in range(5):
        rows = sign_together(maker_of(name, m, seed), [bag_of(hashes[i : i + 1], np.ones(1)) for i in range(400)])
        assert chance_agreements(rows) < allowed(name, rows)


def pairs() -> list[tuple[str, Bag, Bag]]:
    """Pairs of bags from all corners: many and few terms, even and uneven, hardly and very similar."""
    rng = np.random.default_rng(8)
    hashes = some_hashes(rng, 600)
    uneven = np.exp(1.5 * rng.standard_normal(600))
    noise = np.exp(0.5 * rng.standard_normal(600))
    return [
        (
            "the same terms, other weights",
            bag_of(hashes[:300], uneven[:300]),
            bag_of(hashes[:300], (uneven * noise)[:300]),
        ),
        ("half the terms shared", bag_of(hashes[:60], noise[:60]), bag_of(hashes[30:90], noise[30:90])),
        ("few terms shared", bag_of(hashes[:100], noise[:100]), bag_of(hashes[95:195], noise[95:195])),
        (
            "a heavy term shared",
            bag_of(hashes[:9], [50, *[1] * 8]),
            bag_of([hashes[0], *hashes[10:40]], [20, *[1] * 30]),
        ),
        ("one term against two", bag_of(hashes[:1], [1]), bag_of(hashes[:2], [0.3, 0.7])),
        ("a short bag within a long one", bag_of(hashes[:5], np.ones(5)), bag_of(hashes, uneven)),
        ("nearly equal", bag_of(hashes[:40], np.ones(40)), bag_of(hashes[:41], np.ones(41))),
    ]


def agreements(name: str, m: int, seeds: int, a: Bag, b: Bag) -> Array:
    """In how many positions two bags agree, by seed."""
    found = []
    for seed in range(seeds):
        one, other = sign_together(maker_of(name, m, seed), [a, b])
        found.append(np.count_nonzero(one == other))
    return np.array(found)


@both
@pytest.mark.parametrize("m", [8, 80, 192])
@pytest.mark.parametrize(("case", "a", "b"), [pytest.param(*pair, id=pair[0]) for pair in pairs()])
def test_agreement_estimates_the_jaccard_coefficient_without_bias(name: str, m: int, case: str, a: Bag, b: Bag) -> None:
    truth = jaccard(*((h, integer_bag(h, w, UNITS)) if name == "paper" else (h, w) for h, w in (a, b)))
    seeds = 40_000 // m
    share = agreements(name, m, seeds, a, b) / m
    deviation = math.sqrt(truth * (1 - truth) / (m * seeds))
    assert abs(share.mean() - truth) < 3.5 * deviation, f"{case}: {share.mean():.4f}, not {truth:.4f}"


@both
def test_the_positions_of_a_signature_are_independent(name: str) -> None:
    """Then the number of agreements is binomial: also its variance is as it should be, and errors can be stated."""
    for _, a, b in pairs():
        truth = jaccard(*((h, integer_bag(h, w, UNITS)) if name == "paper" else (h, w) for h, w in (a, b)))
        found = agreements(name, 80, 600, a, b)
        ratio = np.mean((found - 80 * truth) ** 2) / (80 * truth * (1 - truth))
        assert abs(ratio - 1) < 4 * math.sqrt((2 + 1 / (80 * truth * (1 - truth))) / 600)


@both
def test_equal_bags_agree_everywhere_whatever_else_is_signed_with_them(name: str) -> None:
    rng = np.random.default_rng(9)
    bag = random_bag(rng, 50, 1)
    rows = sign_together(maker_of(name), [random_bag(rng, 500, 1), bag, random_bag(rng, 1, 0), bag])
    np.testing.assert_array_equal(rows[1], rows[3])


# -- by the book ----------------------------------------------------------------------------------------------------------


def mixed(value: int) -> int:
    """The finaliser of SplitMix64, in Python's integers."""
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ value >> 27) * 0x94D049BB133111EB % 2**64
    return value ^ value >> 31


def darts_below(term: int, weight: float, seed: int, reach: float) -> list[int]:
    """The darts of a layer below a weight: one by one, their gaps being logarithms that are added up."""
    level, piece, found = weight * reach, 0, []
    while level > 0:
        counter = term ^ (mixed((seed + piece) % 2**64) if piece else seed)
        height = 0.0
        while True:
            counter = (counter + 0x9E3779B97F4A7C15) % 2**64
            dart = mixed(counter)
            height -= math.log(((dart >> 16) % 2**24 + 0.5) / 2**24)
            if height > min(level, PIECE):
                break
            found.append(dart)
        level -= PIECE
        piece += 1
    return found


@pytest.mark.parametrize("m", [8, 80, 600])
@generated
@given(bag=bags.filter(lambda bag: len(bag[0]) < 50))
def test_a_darts_value_names_the_least_dart_of_its_position(m: int, bag: Bag) -> None:
    maker: Any = maker_of("darts", m, 3)
    terms = list(zip(bag[0].tolist(), bag[1].tolist(), strict=True))
    best: dict[int, int] = {}
    for term, weight in terms:
        for dart in darts_below(term, weight, int(maker.seed), maker.reach):
            j = dart % 2**16 * m >> 16
            best[j] = min(dart, best.get(j, dart))
    for j in set(range(m)) - best.keys():
        layer = 0
        while j not in best:
            layer += 1
            seed = mixed((int(maker.seed) + (layer << 32) + j) % 2**64)
            darts = [dart for term, weight in terms for dart in darts_below(term, weight, seed, LATER)]
            if darts:
                best[j] = min(darts)
    names = [(best[j] * 0xD6E8FEB86659FD93 % 2**64) >> 32 for j in range(m)]
    assert maker.sign(*bag).tolist() == names


def largest_remainder(hashes: list[int], weights: list[float]) -> list[int]:
    """Largest-remainder rounding in fractions, by sorting."""
    total = sum(map(Fraction, weights))
    quotas = [Fraction(weight) * UNITS / total for weight in weights]
    counts = [int(quota) for quota in quotas]
    order = sorted(range(len(quotas)), key=lambda i: (counts[i] - quotas[i], hashes[i]))
    for i in order[: UNITS - sum(counts)]:
        counts[i] += 1
    return counts


@generated
@given(bag=bags)
def test_integer_bags_hold_a_thousand_occurrences_rounded_by_largest_remainders(bag: Bag) -> None:
    hashes, weights = bag
    weights = (
        np.rint(weights * 2.0**30).astype(np.float64) / 2.0**30
    )  # so that the fractions see what integers can hold
    weights[0] += 2.0**-30
    counts = integer_bag(hashes, weights, UNITS)
    assert counts.sum() == UNITS
    assert counts.tolist() == largest_remainder(hashes.tolist(), weights.tolist())


def test_a_bag_of_more_than_a_thousand_equal_terms_keeps_those_with_the_least_hashes() -> None:
    hashes, weights = bag_of(some_hashes(np.random.default_rng(10), 1_500), np.ones(1_500))
    counts = integer_bag(hashes, weights, UNITS)
    assert sorted(hashes[counts == 1].tolist()) == sorted(hashes.tolist())[:UNITS]


def test_many_units_are_signed_alike_by_numpy_and_compiled() -> None:
    rng = np.random.default_rng(13)
    maker = make_maker(Signature(maker="paper", m=16, units=1_000_000))
    hashes = some_hashes(rng, 40)
    many = [bag_of(hashes[i : i + 30], np.exp(rng.standard_normal(30))) for i in (0, 5, 10)]
    offsets = np.array([0, 30, 60, 90])
    terms = np.concatenate([np.arange(i, i + 30, dtype=np.uint32) for i in (0, 5, 10)])
    rows = maker.sign_bags(terms, np.concatenate([weights for _, weights in many]), offsets, hashes)
    np.testing.assert_array_equal(rows, [maker.sign(*bag) for bag in many])


def test_a_paper_value_is_the_least_of_a_linear_function_over_the_elements() -> None:
    maker: Any = maker_of("paper", 20)
    hashes, weights = random_bag(np.random.default_rng(11), 12, 1)
    counts = integer_bag(hashes, weights, UNITS).tolist()
    elements = [
        mixed((term + k * 0x9E3779B97F4A7C15) % 2**64) % P
        for term, count in zip(hashes.tolist(), counts, strict=True)
        for k in range(1, count + 1)
    ]
    expected = [min((a * x + b) % P for x in elements) for a, b in zip(maker.a.tolist(), maker.b.tolist(), strict=True)]
    assert maker.sign(hashes, weights).tolist() == expected
