"""Exact similarities keep the promises of section 4's Jaccard coefficient, for one bag or for all at once."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from pagekin.similarity import RelatedIndex, exact, jaccard
from pagekin.similarity.exact import ExactSimilarity

from .webs import Array, bags_of

TERMS = 12
Bag = dict[int, float]
generated = settings(derandomize=True, database=None, deadline=None, max_examples=200)

weights = some.floats(2**-20, 1, width=32)
bags = some.dictionaries(some.integers(0, TERMS - 1), weights, min_size=1)


def arrays(bag: Bag) -> tuple[Array, Array]:
    """A bag as (terms, weights), in the order in which the terms were met."""
    return np.array(list(bag), dtype=np.uint32), np.array(list(bag.values()), dtype=np.float32)


def plain_jaccard(a: Bag, b: Bag) -> float:
    """Σ min / Σ max over all terms."""
    terms = a.keys() | b.keys()
    least = math.fsum(min(a.get(term, 0), b.get(term, 0)) for term in terms)
    return least / math.fsum(max(a.get(term, 0), b.get(term, 0)) for term in terms)


@generated
@given(bags, bags)
def test_jaccard_is_what_its_definition_says(a: Bag, b: Bag) -> None:
    assert jaccard(arrays(a), arrays(b)) == pytest.approx(plain_jaccard(a, b), rel=1e-12)


@generated
@given(a=bags, b=bags)
def test_similarity_is_symmetric_and_lies_between_0_and_1(a: Bag, b: Bag) -> None:
    there, back = jaccard(arrays(a), arrays(b)), jaccard(arrays(b), arrays(a))
    assert there == pytest.approx(back, rel=1e-15)
    assert 0 <= there <= 1 + 1e-15
    assert (there == 0) == (not a.keys() & b.keys())


@generated
@given(bag=bags, order=some.randoms(use_true_random=False))
def test_a_bag_is_wholly_similar_to_itself_in_whatever_order(bag: Bag, order: Random) -> None:
    terms = list(bag)
    order.shuffle(terms)
    shuffled = {term: bag[term] for term in terms}
    assert jaccard(arrays(bag), arrays(shuffled)) == pytest.approx(1, rel=1e-15)


@generated
@given(bags, bags)
def test_only_equal_bags_have_jaccard_1(a: Bag, b: Bag) -> None:
    assert (jaccard(arrays(a), arrays(b)) == 1) == (a == b)


@given(a=bags)
def test_an_empty_bag_is_like_none(a: Bag) -> None:
    assert jaccard(arrays(a), arrays({})) == 0
    assert jaccard(arrays({}), arrays(a)) == 0
    assert jaccard(arrays({}), arrays({})) == 0


@generated
@given(bags, bags, some.integers(0, TERMS - 1), weights, weights)
def test_a_shared_terms_smaller_weight_raises_jaccard_and_its_larger_one_lowers_it(
    a: Bag, b: Bag, term: int, one: float, other: float
) -> None:
    small, large = sorted((one, other))
    before = jaccard(arrays({**a, term: small}), arrays({**b, term: large}))
    raised = jaccard(arrays({**a, term: large}), arrays({**b, term: large}))
    assert raised >= before - 1e-15
    lowered = jaccard(arrays({**a, term: small}), arrays({**b, term: small}))
    assert lowered >= before - 1e-15


@generated
@given(bags, bags, weights)
def test_a_term_of_one_bag_alone_never_raises_a_similarity(a: Bag, b: Bag, weight: float) -> None:
    more = jaccard(arrays({**a, TERMS: weight}), arrays(b))
    assert more <= jaccard(arrays(a), arrays(b)) + 1e-15


@generated
@given(bags, bags, some.sampled_from([0.25, 0.5, 2.0, 64.0]))
def test_jaccard_does_not_depend_on_the_scale_of_both_bags(a: Bag, b: Bag, scale: float) -> None:
    larger = {term: scale * weight for term, weight in a.items()}
    both = {term: scale * weight for term, weight in b.items()}
    assert jaccard(arrays(larger), arrays(both)) == pytest.approx(jaccard(arrays(a), arrays(b)), rel=1e-12)


@pytest.mark.parametrize("block", [1, 7, exact._BLOCK])
@settings(generated, max_examples=60)
@given(many=some.lists(bags, min_size=1, max_size=9), query=bags, seed=some.integers(0, 2**32))
def test_one_to_all_is_one_to_one_for_each_however_it_is_cut_into_blocks(
    block: int, many: list[Bag], query: Bag, seed: int
) -> None:
    stored = bags_of(many, TERMS)
    similarity, compiled = ExactSimilarity(stored), ExactSimilarity(stored, compiled=True)
    terms, its_weights = arrays(query)
    total = float(its_weights.sum(dtype=np.float64))
    everyone = np.arange(len(many))
    expected = np.array([jaccard(arrays(query), stored.bag(document)) for document in everyone.tolist()])
    chosen = np.random.default_rng(seed).integers(0, len(many), len(many))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "_BLOCK", block)
        for documents in (everyone, chosen, everyone[::-1], everyone[1:3], everyone[:0]):
            found = similarity.jaccard(terms, its_weights, total, documents)
            np.testing.assert_allclose(found, expected[documents], rtol=1e-12)
            by_kernel = compiled.jaccard(terms, its_weights, total, documents)
            np.testing.assert_allclose(by_kernel, expected[documents], rtol=1e-12)


@generated
@given(bags, bags, bags)
def test_terms_that_no_bag_of_the_collection_holds_count_by_the_total(a: Bag, b: Bag, unknown: Bag) -> None:
    terms, its_weights = arrays(a)
    extra = arrays({TERMS + term: weight for term, weight in unknown.items()})
    whole = (np.concatenate([terms, extra[0]]), np.concatenate([its_weights, extra[1]]))
    total = float(whole[1].sum(dtype=np.float64))
    found = ExactSimilarity(bags_of([b], TERMS)).jaccard(terms, its_weights, total, np.zeros(1, np.int64))
    assert found[0] == pytest.approx(jaccard(whole, arrays(b)), rel=1e-12)


@pytest.mark.parametrize("compiled", [False, True])
def test_one_query_leaves_nothing_behind_for_the_next_even_if_it_failed(compiled: bool) -> None:
    similarity = ExactSimilarity(bags_of([{0: 0.5, 1: 0.5}, {2: 1.0}], TERMS), compiled)
    terms, its_weights = arrays({0: 0.25, 1: 0.75})
    with pytest.raises(IndexError):
        similarity.jaccard(terms, its_weights, 1.0, np.array([7]))
    assert similarity.jaccard(terms, its_weights, 1.0, np.array([0]))[0] == pytest.approx(0.75 / 1.25)
    other = arrays({2: 1.0})
    np.testing.assert_array_equal(similarity.jaccard(*other, 1.0, np.arange(2)), [0, 1])


def test_real_pages_compared_with_all_give_what_their_words_say(
    demo: RelatedIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact, "_BLOCK", 5_000)
    similarity = ExactSimilarity(demo.bags)
    plain = [dict(zip(*(part.tolist() for part in demo.bags.bag(d)), strict=True)) for d in range(len(demo))]
    for document in range(0, len(demo), 197):
        terms, its_weights = demo.bags.bag(document)
        total = float(its_weights.sum(dtype=np.float64))
        found = similarity.jaccard(terms, its_weights, total, np.arange(len(demo)))
        expected = [plain_jaccard(plain[document], other) for other in plain]
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
        assert found[document] == pytest.approx(1)


def test_a_damaged_bag_is_refused_by_the_kernel_too() -> None:
    stored = bags_of([{0: 0.5, TERMS - 1: 0.5}], TERMS)
    similarity = ExactSimilarity(stored, compiled=True)
    stored.terms = stored.terms + np.uint32(1)
    with pytest.raises(IndexError):
        similarity.jaccard(*arrays({0: 1.0}), 1.0, np.zeros(1, np.int64))
