"""Operations on large arrays: the same as numpy's, faster."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from pagekin.store import distinct, is_among

NUMBERS = some.lists(some.integers(0, 40), max_size=60)


@given(NUMBERS)
def test_different_values_are_those_of_numpy(values: list[int]) -> None:
    array = np.array(values, np.int64)
    assert distinct(array).tolist() == np.unique(array).tolist()


@given(NUMBERS, NUMBERS)
@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_values_among_others_are_those_of_numpy(kind: type, values: list[int], others: list[int]) -> None:
    a, b = np.array(values, kind), np.array(others, kind)
    assert is_among(a, b).tolist() == np.isin(a, b).tolist()
