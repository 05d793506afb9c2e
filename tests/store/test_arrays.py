"""Operations on large arrays: the same as numpy's, faster."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from pagekin.store import distinct, is_among, rising_order

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


@pytest.mark.parametrize("others", [1, 3, 20_000])
@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_many_hashes_are_found_among_others_as_numpy_finds_them(kind: type, others: int) -> None:
    """By compiled code, with zero on either side, and in arrays that may not be written to."""
    draw = np.random.default_rng(others)
    a, b = (draw.integers(0, 2**63, size).astype(kind) for size in (100_000, others))
    b[-1] = 0
    a[:: len(a) // others + 1] = b[: len(a[:: len(a) // others + 1])]
    a.flags.writeable = False
    found = is_among(a, np.append(b, b))
    assert found.tolist() == np.isin(a, b).tolist()
    assert found.any() and not found.all()


@given(some.lists(some.tuples(*[some.integers(0, 9)] * 3), max_size=60), some.integers(0, 2))
def test_rows_are_ordered_as_numpy_orders_them(rows: list[tuple[int, int, int]], scale: int) -> None:
    """Also where columns do not fit into one number together, and where rows are equal."""
    columns = np.array(rows, np.int64).reshape(-1, 3).T << (20 * scale)
    assert rising_order(*columns).tolist() == np.lexsort(columns[::-1]).tolist()
    hashes = columns[0].astype(np.uint64) << np.uint64(8)
    assert rising_order(hashes).tolist() == np.argsort(hashes, kind="stable").tolist()
