"""Logarithms and powers by basic operations, beside those of the C library."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from pagekin.bags.arithmetic import exp, log, log2


@given(some.lists(some.floats(2.0**-1000, 2.0**1000), min_size=1, max_size=50))
def test_logarithms_are_those_of_the_library_to_1e_15(values: list[float]) -> None:
    expected = np.array([math.log2(value) for value in values])
    assert np.allclose(log2(np.array(values)), expected, rtol=4e-16, atol=4e-16)
    assert np.allclose(log(np.array(values)), [math.log(value) for value in values], rtol=1e-15, atol=4e-16)


def test_logarithms_of_powers_of_two_are_exact_and_rise() -> None:
    assert log2(2.0 ** np.arange(-1000, 1000)).tolist() == list(range(-1000, 1000))
    counts = np.arange(1, 200_000)
    assert (np.diff(log2(counts)) > 0).all()
    assert log2(8.0).shape == ()


def test_the_logarithm_of_a_number_does_not_depend_on_its_neighbours() -> None:
    values = np.random.default_rng(1).uniform(1, 1e6, 20_000)
    together = log2(values)
    assert all(float(log2(value)) == whole for value, whole in zip(values[:300], together[:300], strict=True))
    assert log2(values[::-1]).tolist() == together[::-1].tolist()


@given(some.lists(some.floats(-745, 700), min_size=1, max_size=50))
def test_powers_are_those_of_the_library(values: list[float]) -> None:
    assert np.allclose(exp(np.array(values)), [math.exp(value) for value in values], rtol=2e-15, atol=1e-320)


def test_powers_far_below_zero_vanish() -> None:
    assert exp(np.array([0.0, -1e6])).tolist() == [1.0, exp(-745.0)]


LOGARITHMS = [4594122106837114124, 4609816855700290921, 4613728154501612070, 4626303455582506887]
POWERS = [4599668092271926257, 4587335893757374639, 4558240526185214421]


def test_known_bits_hold_on_every_processor() -> None:
    values = np.array([1.1, 3.0, 7.5, 1e6 + 0.25])
    assert log2(values).view(np.uint64).tolist() == LOGARITHMS
    assert exp(-values[:3]).view(np.uint64).tolist() == POWERS
