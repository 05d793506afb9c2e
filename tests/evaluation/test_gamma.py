"""Γ, Somers' D, orthogonality and the nearest documents are what looking at every pair gives."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from pagekin.evaluation import REGIONS, experiments
from pagekin.evaluation._kernels import judge as kernels
from pagekin.evaluation.compare import differences
from pagekin.evaluation.experiments import NEAREST, make_judgement
from pagekin.evaluation.gamma import ClassBootstrap, PairCounts, gamma, holm, interval, kendall_tau, p_value, somers_d

from .benches import bench_of, count_matrix, matrix_of
from .oracle import count

generated = settings(derandomize=True, database=None, deadline=None, max_examples=120)
TERMS = 12
# Multiples of 1/8: sums are exact in any order, so the oracle sees the same ties.
WEIGHTS = some.integers(1, 8).map(lambda eighths: eighths / 8)


@some.composite
def cases(draw: some.DrawFn) -> tuple[int, list[list[tuple[str, ...]]], list[dict[int, float]], int]:
    """(depth, classes of each document, bags, how rare a common term may be)."""
    depth = draw(some.integers(2, 4))
    paths = some.tuples(*[some.sampled_from("ab-")] * depth)
    listed = draw(some.lists(some.lists(paths, min_size=1, max_size=3, unique=True), min_size=1, max_size=14))
    bags = some.dictionaries(some.integers(0, TERMS - 1), WEIGHTS, max_size=6)
    return depth, listed, [draw(bags) for _ in listed], draw(some.sampled_from([0, 1, 2, 8, 1000]))


@pytest.mark.parametrize("metric", ["jaccard", "cosine"])
@given(case=cases())
@generated
def test_the_counts_are_those_of_all_pairs(metric: str, case: tuple[int, Any, Any, int]) -> None:
    depth, listed, bags, common = case
    bench = bench_of(listed, depth)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiments, "_COMMON", common)  # 0: all terms by list; 1000: all by full column
        counts, nearest, similarity = count_matrix(bench, matrix_of(bags, TERMS), metric, threads=2)
    for source in range(len(bags)):
        truth = count(source, bags, listed, metric)
        for array, expected in (
            (counts.concordant, truth.concordant),
            (counts.discordant, truth.discordant),
            (counts.tied, truth.tied),
        ):
            assert {pair: n for pair, n in np.ndenumerate(array[source]) if n} == expected
        assert counts.orthogonal[source].tolist() == [truth.same_class, truth.orthogonal]
        held = nearest[source] >= 0
        assert held.sum() == len(truth.ranking)
        assert nearest[source][held].tolist() == [document for _near, document in truth.ranking]
        assert similarity[source][held].tolist() == [near for near, _document in truth.ranking]


def test_only_the_nearest_hundred_are_kept_and_the_first_of_equals_come_first() -> None:
    rng = np.random.default_rng(5)
    listed = [[("a", "b")]] * 300
    bags = [dict.fromkeys(rng.choice(TERMS, 4, replace=False).tolist(), 0.25) for _ in listed]
    _counts, nearest, similarity = count_matrix(bench_of(listed, 2), matrix_of(bags, TERMS), "jaccard", threads=1)
    for source in (0, 17, 299):
        ranking = count(source, bags, listed, "jaccard").ranking[:NEAREST]
        assert list(zip(similarity[source].tolist(), nearest[source].tolist(), strict=True)) == ranking


def test_many_documents_are_counted_as_one_by_one_across_tiles_and_blocks() -> None:
    """More documents than fit a tile, more sources than a block, real weights."""
    rng = np.random.default_rng(3)
    documents = kernels.TILE + 90
    listed = [[tuple(rng.choice(list("abc"), 3).tolist())] for _ in range(documents)]
    bags = [
        {int(t): float(np.float32(w)) for t, w in zip(rng.choice(60, 9, replace=False), rng.random(9), strict=True)}
        for _ in range(documents)
    ]
    bench, matrix = bench_of(listed, 3), matrix_of(bags, 60)
    found = [count_matrix(bench, matrix, "jaccard", threads=threads)[0] for threads in (1, 2)]
    assert np.array_equal(found[0].concordant, found[1].concordant)
    for source in (0, kernels.BLOCK, documents - 1):
        truth = count(source, bags, listed, "jaccard")
        assert {pair: n for pair, n in np.ndenumerate(found[0].concordant[source]) if n} == truth.concordant
        assert {pair: n for pair, n in np.ndenumerate(found[0].discordant[source]) if n} == truth.discordant


def test_common_terms_that_do_not_fit_the_memory_are_counted_by_list(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    listed = [[tuple(rng.choice(list("abc"), 3).tolist())] for _ in range(40)]
    bags = [dict.fromkeys(rng.choice(TERMS, 5, replace=False).tolist(), 0.2) for _ in listed]
    bench, matrix = bench_of(listed, 3), matrix_of(bags, TERMS)
    whole = count_matrix(bench, matrix, "jaccard", 1)
    for room in (0, 3 * 40 * 4):
        monkeypatch.setattr(experiments, "_FULL_BYTES", room)
        part = count_matrix(bench, matrix, "jaccard", 1)
        assert np.array_equal(part[0].concordant, whole[0].concordant)
        assert np.array_equal(part[0].tied, whole[0].tied)


def test_a_document_in_no_class_takes_no_part() -> None:
    found = np.array([0.0, 0.5, 0.2, 0.9], np.float32)
    distance = np.array([0, 1, 0, -1])
    concordant, discordant, tied = (np.zeros((3, 3), np.int64) for _ in range(3))
    kernels.count_pairs(found, distance, 0, np.empty(4, np.int64), np.empty(4, np.int64), concordant, discordant, tied)
    assert discordant[0, 1] == 1
    assert concordant.sum() == tied.sum() == 0


@given(
    some.lists(some.tuples(some.floats(0, 1, width=32), some.integers(-1, 3)), min_size=1, max_size=40),
    some.booleans(),
)
@example([(1.0000001192092896, 0), (1.0, 1), (1e-45, 2), (0.0, 3)], False)
@generated
def test_pairs_of_any_similarities_are_counted(documents: list[tuple[float, int]], rounded: bool) -> None:
    near = [round(value, 1) if rounded else value for value, _level in documents]
    levels = [level for _value, level in documents]
    found, distance = np.array(near, np.float32), np.array(levels)
    made = [np.zeros((4, 4), np.int64) for _ in range(3)]
    room = np.empty(len(near), np.int64)
    kernels.count_pairs(found, distance, 0, room, room.copy(), *made)
    expected = np.zeros((3, 4, 4), np.int64)
    for x, y in itertools.permutations(range(1, len(near)), 2):
        if 0 <= levels[x] < levels[y]:
            a, b = found[x], found[y]
            expected[0 if a > b else 1 if a < b else 2, levels[x], levels[y]] += 1
    assert np.array_equal(np.array(made), expected)


@pytest.mark.parametrize("levels", [3, 4, 5])
def test_regions_compare_the_same_class_with_siblings_cousins_and_the_unrelated(levels: int) -> None:
    rng = np.random.default_rng(levels)
    c, d, t = (np.triu(rng.integers(0, 9, (2, levels, levels)), 1) for _ in range(3))
    counts = PairCounts(c, d, t, np.zeros((2, 2), np.int64))
    assert [part.tolist() for part in counts.region("siblings")] == [part[:, 0, 1].tolist() for part in (c, d, t)]
    assert [part.tolist() for part in counts.region("unrelated")] == [part[:, 0, -1].tolist() for part in (c, d, t)]
    assert [part.tolist() for part in counts.region("cousins")] == [part[:, 0, 2].tolist() for part in (c, d, t)]
    assert [part.tolist() for part in counts.region("overall")] == [[int(x.sum()) for x in part] for part in (c, d, t)]


def test_gamma_leaves_ties_out_and_somers_d_scores_them_0() -> None:
    assert gamma(np.array(3), np.array(1)) == 0.5
    assert somers_d(np.array(3), np.array(1), np.array(4)) == 0.25
    assert np.isnan(gamma(np.array(0), np.array(0)))
    assert np.isnan(somers_d(np.array(0), np.array(0), np.array(0)))
    assert somers_d(np.array(0), np.array(0), np.array(7)) == 0


# -- intervals ----------------------------------------------------------------------------------------------------------


def counts_of(concordant: list[int], discordant: list[int], tied: list[int] | None = None) -> PairCounts:
    """Sources with pairs of siblings only."""
    arrays = [np.zeros((len(concordant), 4, 4), np.int64) for _ in range(3)]
    for array, values in zip(arrays, (concordant, discordant, tied or [0] * len(concordant)), strict=True):
        array[:, 0, 1] = values
    return PairCounts(*arrays, np.zeros((len(concordant), 2), np.int64))


def test_counts_are_pooled_over_sources_and_not_averaged() -> None:
    found, _gammas, _somers = ClassBootstrap(np.array([0, 1])).agreement(
        counts_of([90, 0], [10, 5], [0, 5]), "siblings"
    )
    assert found.gamma == pytest.approx((90 - 15) / 105)
    assert found.somers_d == pytest.approx((90 - 15) / 110)
    assert (found.pairs, found.tied) == (105, pytest.approx(5 / 110))


def test_sources_of_one_class_are_resampled_together() -> None:
    """Two classes that contradict each other: with whole classes drawn, Γ is 1, 0 or -1 and nothing between."""
    counts = counts_of([10] * 50 + [0] * 50, [0] * 50 + [10] * 50)
    found, gammas, _somers = ClassBootstrap(np.repeat([7, 3], 50)).agreement(counts, "siblings")
    assert set(np.unique(gammas)) == {-1.0, 0.0, 1.0}
    assert (found.gamma, found.low, found.high) == (0.0, -1.0, 1.0)


def test_one_class_alone_has_an_interval_of_no_width() -> None:
    found, _gammas, _somers = ClassBootstrap(np.zeros(5)).agreement(counts_of([4] * 5, [1] * 5), "siblings")
    assert found.gamma == found.low == found.high == pytest.approx(0.6)


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(11)
    covered = 0
    for _trial in range(200):
        right = rng.binomial(20, rng.beta(6, 4, 40))  # each class has its own share of right pairs, 0.6 on the mean
        found, _g, _s = ClassBootstrap(np.arange(40), 300).agreement(
            counts_of(right.tolist(), (20 - right).tolist()), "siblings"
        )
        covered += found.low <= 0.2 <= found.high
    assert 0.88 <= covered / 200 <= 0.99


def test_a_seed_gives_the_same_intervals_again_and_another_seed_others() -> None:
    rng = np.random.default_rng(1)
    counts = counts_of(rng.integers(0, 9, 30).tolist(), rng.integers(0, 9, 30).tolist())
    first, again, other = (
        ClassBootstrap(np.arange(30) // 2, 200, seed).agreement(counts, "siblings")[0] for seed in (1, 1, 2)
    )
    assert first == again
    assert (first.gamma, first.pairs) == (other.gamma, other.pairs)
    assert (first.low, first.high) != (other.low, other.high)


def test_nothing_to_compare_gives_nan_and_not_an_error() -> None:
    for classes in (np.zeros(0, np.int64), np.arange(3)):
        counts = counts_of([0] * len(classes), [0] * len(classes))
        found, _gammas, _somers = ClassBootstrap(classes, 20).agreement(counts, "overall")
        assert all(math.isnan(x) for x in (found.gamma, found.low, found.high, found.somers_d, found.tied))
        assert found.pairs == 0


def test_an_interval_leaves_out_resamples_without_a_value() -> None:
    assert interval(np.array([math.nan, 1.0, 1.0, math.inf])) == (1.0, 1.0)
    assert all(map(math.isnan, interval(np.array([math.nan]))))
    low, high = interval(np.arange(1001.0))
    assert (low, high) == pytest.approx((25.0, 975.0))


def test_a_p_value_is_small_when_no_resample_crosses_0() -> None:
    assert p_value(np.ones(999)) == pytest.approx(2 / 1000)
    assert p_value(-np.ones(999)) == pytest.approx(2 / 1000)
    assert p_value(np.zeros(10)) == 1.0
    assert p_value(np.array([1.0] * 90 + [-1.0] * 9)) == pytest.approx(2 * 10 / 100)
    assert p_value(np.array([math.nan])) == 1.0


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(some.lists(some.floats(0, 1), max_size=8))
@generated
def test_holm_makes_no_p_value_smaller_and_keeps_their_order(p_values: list[float]) -> None:
    corrected = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, corrected, strict=True))
    ranked = sorted(range(len(p_values)), key=lambda i: p_values[i])
    assert [corrected[i] for i in ranked] == sorted(corrected)


@given(some.lists(some.tuples(some.integers(0, 4), some.integers(0, 4)), min_size=2, max_size=12))
@generated
def test_kendalls_tau_is_that_of_all_pairs(points: list[tuple[int, int]]) -> None:
    agree = one = two = 0
    for (a, b), (c, d) in itertools.combinations(points, 2):
        agree += (a - c) * (b - d) > 0
        agree -= (a - c) * (b - d) < 0
        one += a != c
        two += b != d
    found = kendall_tau(*(np.array(values, np.float64) for values in zip(*points, strict=True)))
    assert math.isnan(found) if not one * two else found == pytest.approx(agree / math.sqrt(one * two))


def test_differences_are_paired_and_corrected_together() -> None:
    """Two strategies that differ by as much in every class: each alone is uncertain, the difference is not."""
    rng = np.random.default_rng(2)
    classes = [("a", "b", str(i % 10)) for i in range(60)]
    bench = bench_of([[path] for path in classes], 3, rounds=200)
    good = [{int(path[2]): 0.5, 20 + int(rng.integers(8)): 0.5} for path in classes]
    poor = [{30: 0.9, 20 + int(rng.integers(8)): 0.1} for _ in classes]
    judged = [
        make_judgement(bench, name, {}, count_matrix(bench, matrix_of(bags, 40), "jaccard", 1), {}, 0.0)
        for name, bags in (("good", good), ("poor", poor), ("good again", good))
    ]
    found = differences(judged[0], judged[1:])
    assert {one.second for one in found} == {"poor", "good again"}
    better = {one.region: one for one in found if one.second == "poor"}
    assert set(better) == set(REGIONS)
    siblings = better["siblings"]
    assert siblings.low <= siblings.difference <= siblings.high
    assert siblings.low > 0
    assert siblings.difference == pytest.approx(
        judged[0].agreements["siblings"].somers_d - judged[1].agreements["siblings"].somers_d
    )
    equal = {one.region: one for one in found if one.second == "good again"}["siblings"]
    assert (equal.difference, equal.low, equal.high, equal.p) == (0.0, 0.0, 0.0, 1.0)
    resampled = [judged[i].resampled["siblings"][1] for i in (0, 1)]
    assert siblings.p >= p_value(resampled[0] - resampled[1])
