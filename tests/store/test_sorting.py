"""Sorting in kernels: as Python sorts, and at most n log n comparisons in any order."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.hostile import order_against_quicksort
from hypothesis import given, settings
from hypothesis import strategies as st

import pagekin
from pagekin.store import sort_by_keys, sort_numbers

numbers = st.lists(st.integers(0, 300), max_size=200)


@settings(deadline=None)
@given(numbers)
def test_numbers_are_sorted_as_python_sorts_them(given_numbers: list[int]) -> None:
    values = np.array(given_numbers, dtype=np.int64)
    sort_numbers(values)
    assert values.tolist() == sorted(given_numbers)


@settings(deadline=None)
@given(numbers)
def test_what_stands_beside_keys_moves_with_them_and_equal_keys_keep_their_order(given_keys: list[int]) -> None:
    keys, order = np.array(given_keys, dtype=np.uint64), np.arange(len(given_keys))
    sort_by_keys(keys, order)
    assert keys.tolist() == sorted(given_keys)
    assert order.tolist() == sorted(range(len(given_keys)), key=given_keys.__getitem__)


class Counted:
    """A number that counts how often numbers are compared."""

    comparisons = 0

    def __init__(self, value: int) -> None:
        self.value = value

    def __lt__(self, other: "Counted") -> bool:
        Counted.comparisons += 1
        return self.value < other.value

    def __le__(self, other: "Counted") -> bool:
        Counted.comparisons += 1
        return self.value <= other.value


COUNT = 2_000
ORDERS: dict[str, list[int]] = {
    "against the median of three": order_against_quicksort(COUNT),
    "rising": list(range(COUNT)),
    "falling": list(range(COUNT, 0, -1)),
    "all equal": [1] * COUNT,
    "organ pipes": [min(i, COUNT - i) for i in range(COUNT)],
    "by chance": np.random.default_rng(1).permutation(COUNT).tolist(),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("sort", [sort_numbers, sort_by_keys])
def test_no_order_takes_more_than_n_log_n_comparisons(order: str, sort: Any) -> None:
    values = np.array([Counted(value) for value in ORDERS[order]], dtype=object)
    Counted.comparisons = 0
    sort.py_func(*[values, np.arange(COUNT)][: 1 if sort is sort_numbers else 2])
    assert [value.value for value in values] == sorted(ORDERS[order])
    # Runs of sixteen by insertion take up to 120 comparisons each; the rest is merged.
    assert Counted.comparisons <= COUNT * 7.5 + COUNT * np.ceil(np.log2(COUNT / 16))


def test_no_kernel_uses_a_sort_that_an_order_can_make_quadratic() -> None:
    root = Path(pagekin.__file__).parent
    quadratic = re.compile(r"np\.(sort|argsort|partition|argpartition|median|unique)\((?!.*mergesort)|\.sort\(\)")
    users = [str(file) for file in root.glob("*/_kernels/*.py") if quadratic.search(file.read_text())]
    assert users == []
