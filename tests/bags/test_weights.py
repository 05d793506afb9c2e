"""Weights by distance, by document frequency and by frequency in the bag (sections 3.3 and 5.2), and their sum."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from pagekin.bags import PRESETS, choose_strategy, nmdf_parameters
from pagekin.bags.weights import (
    UNIT,
    distance_weights,
    frequency_weights,
    lead_weights,
    normalise,
    scaled_frequencies,
    whole_units,
)
from pagekin.hypertext import Corpus
from pagekin.store import batch_ranges, map_in_order

from .webs import make

generated = settings(derandomize=True, database=None, deadline=None, max_examples=100)
frequencies = some.lists(some.integers(1, 10**7), min_size=2, max_size=30).map(lambda found: np.array(sorted(found)))
sums = some.lists(some.floats(0.01, 1e6), min_size=1, max_size=30).map(lambda found: np.array(sorted(found)))


@generated
@given(some.integers(0, 1000))
def test_distance_weights_fall_from_5_to_0_and_stay_there(size: int) -> None:
    weights = distance_weights(choose_strategy(settings=[f"window.size={size}", "weight.distance=log"]))
    assert len(weights) == size + 1
    assert weights[0] == 5
    assert all(far < near for near, far in pairwise(weights[:32]))
    assert not weights[31:].any()
    assert distance_weights(choose_strategy(settings=[f"window.size={size}", "weight.distance=none"])).tolist() == [
        1
    ] * (size + 1)


def test_distance_weights_by_hand() -> None:
    weights = distance_weights(choose_strategy(settings=["weight.distance=log"]))
    assert weights[[0, 1, 3, 7, 15, 31]].tolist() == [5, 4, 3, 2, 1, 0]
    assert weights[30] == pytest.approx(math.log2(32 / 31))
    assert weights[32] == 0  # log2(32/33) would be negative


@pytest.mark.parametrize("frequency", ["log", "sqrt"])
@generated
@given(df=frequencies)
def test_monotone_weights_fall_with_document_frequency(frequency: str, df: np.ndarray) -> None:
    strategy = choose_strategy(settings=[f"weight.frequency={frequency}"])
    weights = frequency_weights(df, 10**7, strategy)
    assert all((b < a) if m < n else (a == b) for (a, b), (m, n) in zip(pairwise(weights), pairwise(df), strict=True))
    assert weights.min() > 0
    assert frequency_weights(np.array([1]), 10**7, strategy).tolist() == [1]


@generated
@given(frequencies, some.floats(0, 16), some.floats(0.5, 5))
def test_nmdf_rises_to_its_centre_and_falls_behind_it(df: np.ndarray, mu: float, sigma: float) -> None:
    weights = frequency_weights(df, 10**7, choose_strategy(settings=[f"weight.mu={mu}", f"weight.sigma={sigma}"]))
    assert weights.max() <= 1
    for (first, second), (low, high) in zip(pairwise(np.log(df)), pairwise(weights), strict=True):
        assert low <= high if second <= mu else True
        assert low >= high if first >= mu else True


def test_nmdf_by_hand() -> None:
    strategy = choose_strategy(settings=["weight.mu=0", "weight.sigma=2"])
    df = np.array([1, math.e**2, math.e**4])
    assert frequency_weights(df, 99, strategy) == pytest.approx([1, math.exp(-1 / 2), math.exp(-2)])
    paper = PRESETS["haveliwala2002"]
    assert nmdf_parameters(paper, 51_469) == pytest.approx((math.log(100), math.log(10)))
    assert frequency_weights(np.array([10, 100, 1000]), 51_469, paper) == pytest.approx(
        [math.exp(-0.5), 1, math.exp(-0.5)]
    )


@generated
@given(some.integers(1, 10**7), some.floats(0, 1))
def test_the_level_of_nmdf_runs_from_terms_of_one_bag_to_those_of_all(bags: int, level: float) -> None:
    strategy = choose_strategy(settings=[f"weight.level={level}", "weight.sigma=2"])
    mu, sigma = nmdf_parameters(strategy, bags)
    assert (math.exp(mu), sigma) == (pytest.approx(bags**level), 2)
    assert nmdf_parameters(choose_strategy(settings=["weight.level=0"]), bags)[0] == 0
    assert nmdf_parameters(choose_strategy(settings=["weight.level=1"]), bags)[0] == pytest.approx(
        math.log(bags), rel=1e-14
    )


def test_of_three_ways_to_say_the_centre_of_nmdf_the_most_exact_counts() -> None:
    level, centre, mu = "weight.level=0.25", "weight.centre=0.5", "weight.mu=3"
    for said, expected in (
        ([level], math.log(10_000) / 4),
        ([level, centre], math.log(5_000)),
        ([level, mu], 3),
        ([level, centre, mu], 3),
    ):
        assert nmdf_parameters(choose_strategy(settings=said), 10_000)[0] == pytest.approx(expected), said


def test_a_collection_of_no_or_one_bag_has_a_centre_too() -> None:
    assert [nmdf_parameters(choose_strategy(), bags)[0] for bags in (0, 1)] == [0, 0]


@generated
@given(some.floats(0.5, 10_000), some.integers(0, 500))
def test_the_lead_of_a_page_counts_most(lead: float, words: int) -> None:
    weights = lead_weights(choose_strategy(settings=[f"content.lead={lead}"]), words)
    assert weights[0] == 1
    assert len(weights) == words + 1
    assert all(0 < far < near for near, far in pairwise(weights))
    assert lead_weights(choose_strategy(settings=["content.lead=0"]), words).tolist() == [1] * (words + 1)


def test_lead_weights_by_hand() -> None:
    weights = lead_weights(choose_strategy(settings=["content.lead=10"]), 90)
    assert weights[[0, 10, 20, 90]] == pytest.approx([1, 1 / 4, 1 / 9, 1 / 100])


@generated
@given(frequencies, some.integers(1, 1000), some.floats(0.001, 1))
def test_nmdf_goes_with_the_share_of_bags_that_hold_a_term(df: np.ndarray, times: int, centre: float) -> None:
    strategy = choose_strategy(settings=[f"weight.centre={centre}"])
    bags = 10**7
    assert frequency_weights(df * times, bags * times, strategy) == pytest.approx(
        frequency_weights(df, bags, strategy), rel=1e-6
    )


def test_without_a_weight_by_frequency_all_terms_are_alike() -> None:
    df = np.array([1, 7, 1000])
    assert frequency_weights(df, 1000, choose_strategy(settings=["weight.frequency=none"])).tolist() == [1, 1, 1]


@pytest.mark.parametrize("scaling", ["raw", "log", "sqrt"])
@generated
@given(counts=sums)
def test_a_term_that_occurs_more_weighs_more(scaling: str, counts: np.ndarray) -> None:
    units = whole_units(counts)
    counts = units * UNIT
    scaled = scaled_frequencies(units, choose_strategy(settings=[f"weight.tf={scaling}"]))
    assert all(low <= high for low, high in pairwise(scaled))
    assert (scaled[counts > 4] <= counts[counts > 4]).all()
    assert scaled.min() > 0


def test_what_occurrences_weigh_is_whole_units_and_none_vanishes() -> None:
    assert whole_units(np.array([0.0, 1.0, 0.2, 5.0, 1e-12])).tolist() == [0, 2**24, round(0.2 * 2**24), 5 * 2**24, 1]


def test_scaled_frequencies_by_hand() -> None:
    counts = whole_units(np.array([0.5, 1, 4, 16]))
    by = {scaling: choose_strategy(settings=[f"weight.tf={scaling}"]) for scaling in ("raw", "log", "sqrt")}
    assert scaled_frequencies(counts, by["raw"]).tolist() == [0.5, 1, 4, 16]
    assert scaled_frequencies(counts, by["log"]).tolist() == [0.5, 1, 3, 5]
    assert scaled_frequencies(counts, by["sqrt"]) == pytest.approx([math.sqrt(0.5), 1, 2, 4])


@generated
@given(some.lists(some.lists(some.floats(1e-6, 1e6), min_size=1, max_size=9), min_size=1, max_size=6))
def test_each_bag_is_divided_by_its_own_sum(bags: list[list[float]]) -> None:
    offsets = np.cumsum([0, *map(len, bags)])
    shares = normalise(np.concatenate(bags), offsets)
    assert shares.dtype == np.float32
    for bag, (start, end) in zip(bags, pairwise(offsets), strict=True):
        assert shares[start:end] == pytest.approx(np.array(bag) / sum(bag), rel=1e-6)


def test_a_bag_whose_weights_vanish_holds_its_terms_alike() -> None:
    weights = np.array([3.0, 1.0, 0.0, 0.0, 0.0, 1e-300, 2.0])
    assert normalise(weights, np.array([0, 2, 4, 6, 7])).tolist() == [0.75, 0.25, 0.5, 0.5, 0.5, 0.5, 1.0]
    assert normalise(np.zeros(0), np.array([0])).tolist() == []


def test_vanished_weights_are_met_in_practice(some_pages: Corpus) -> None:
    made = make(some_pages, choose_strategy(settings=["weight.mu=50", "weight.sigma=0.01"]))
    sizes = np.diff(made.bags.offsets.astype(np.int64))
    assert np.allclose(made.bags.weights, np.repeat(1 / sizes, sizes))


# -- on real bags ---------------------------------------------------------------------------------------------------

STRATEGIES = ["", "anchors.repeat=every links.scale=2 weight.tf=log", "words=all weight.frequency=sqrt content.scale=0"]


@pytest.mark.parametrize("together", STRATEGIES)
def test_the_weights_of_every_bag_sum_to_1(demo: Corpus, together: str) -> None:
    bags = make(demo, choose_strategy(settings=together.split())).bags
    totals = np.add.reduceat(bags.weights.astype(np.float64), bags.offsets[:-1].astype(np.int64))
    assert len(totals) == len(bags) > 900
    assert np.allclose(totals, 1, atol=1e-6)
    assert bags.weights.min() > 0
    assert np.diff(bags.offsets.astype(np.int64)).min() > 0, "no bag is empty"
    assert (np.diff(bags.urls.astype(np.int64)) > 0).all()


PLAIN = (
    "content.scale=0 title.scale=0 outlinks.scale=0 weight.distance=none weight.frequency=none anchors.repeat=every "
)


@pytest.mark.parametrize(
    ("fewer", "more"),
    [
        ("window.size=0", "window.size=1"),
        ("window.size=8", "window.size=32"),
        ("window.kind=syntactic", "window.kind=topical"),
        ("window.kind=syntactic", "window.kind=basic"),
        ("window.kind=topical", "window.kind=basic"),
        ("weight.distance=log", "weight.distance=none"),
        ("anchors.repeat=once", "anchors.repeat=every"),
        ("anchors.within_site=off", "anchors.within_site=on"),
        ("links.scale=0", "links.scale=1"),
        ("outlinks.scale=0", "outlinks.scale=1"),
        ("title.scale=0", "title.scale=1"),
        ("content.scale=0", "content.scale=0.1"),
        ("words=mixed", "words=all"),
        ("stemming=stopstem", "stemming=nostem"),
    ],
)
def test_what_lets_more_in_loses_no_term(some_pages: Corpus, fewer: str, more: str) -> None:
    small, large = (make(some_pages, choose_strategy(settings=[*PLAIN.split(), setting])) for setting in (fewer, more))
    if "mixed" in fewer or "stopstem" in fewer:  # windows count kept words, so content shows it better
        small, large = (
            make(some_pages, choose_strategy(settings=["anchors.scale=0", "weight.frequency=none", setting]))
            for setting in (fewer, more)
        )
    assert [url for url in small.urls() if not small.hashes(url) <= large.hashes(url)] == []
    assert small.facts["bag_entries"] < large.facts["bag_entries"]


# -- the division of work -------------------------------------------------------------------------------------------


@generated
@given(some.lists(some.integers(0, 50), max_size=40), some.integers(1, 120))
def test_ranges_cover_everything_once_and_are_short(shares: list[int], step: int) -> None:
    offsets = np.cumsum([0, *shares])
    parts = batch_ranges(offsets, step)
    assert [place for first, last in parts for place in range(first, last)] == list(range(len(shares)))
    for first, last in parts:
        assert last > first
        assert last == first + 1 or sum(shares[first:last]) <= step
    for (first, middle), (_middle, _last) in pairwise(parts):
        assert sum(shares[first : middle + 1]) > step, "the next one would have fitted"


def test_results_come_in_order_and_few_parts_are_under_way() -> None:
    started: list[int] = []

    def work(number: int, times: int) -> int:
        started.append(number)
        return number * times

    parts = [(number, 10) for number in range(20)]
    for expected, (part, result) in enumerate(map_in_order(2, work, parts)):
        assert part == (expected, 10)
        assert result == expected * 10
        assert max(started) < expected + 3
    assert sorted(started) == list(range(20))
    assert list(map_in_order(2, work, parts[:1])) == [((0, 10), 0)]
    assert list(map_in_order(2, work, [])) == []


def test_an_error_in_a_part_is_not_lost() -> None:
    def work(number: int) -> int:
        if number == 2:
            raise MemoryError
        return number

    done = map_in_order(1, work, [(1,), (2,), (3,)])
    assert next(done) == ((1,), 1)
    with pytest.raises(MemoryError):
        next(done)
