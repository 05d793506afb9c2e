"""Different values of each key, counted in one piece or a range of keys at a time."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.bags.counting import count_distinct
from pagekin.store import MemoryBudget

PAIRS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), max_size=80)


@given(PAIRS, st.sampled_from([0, 1, 5_000, 20_000]))
def test_keys_have_as_many_values_as_a_set_holds(pairs: list[tuple[int, int]], memory: int) -> None:
    for order in (
        pairs,
        sorted(pairs),
        sorted(pairs, key=lambda pair: pair[1]),
    ):  # kernels take columns that never fall
        check(order, memory)


@pytest.mark.parametrize("size", [2_000, 40_000])
def test_many_keys_are_counted_as_few_are(size: int) -> None:
    """So that the table of keys grows, with zero and the largest number among them."""
    draw = np.random.default_rng(size)
    keys = draw.integers(0, size, 2 * size).astype(np.uint64) * np.uint64(2**64 // size)
    keys[::7] = np.uint64(2**64 - 1)
    values = np.sort(draw.integers(0, 40, 2 * size))
    pairs = set(zip(keys.tolist(), values.tolist(), strict=True))
    expected = Counter(key for key, _value in pairs)
    counts, places = count_distinct(keys, values)
    assert dict(zip(keys[places].tolist(), counts.tolist(), strict=True)) == expected
    assert np.all(np.diff(keys[places].astype(object)) > 0)


def check(pairs: list[tuple[int, int]], memory: int) -> None:
    keys, values = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    counts, places = count_distinct(keys, values, MemoryBudget(memory))
    assert keys[places].tolist() == sorted(set(keys.tolist()))
    assert places.tolist() == [keys.tolist().index(key) for key in keys[places].tolist()]
    assert counts.tolist() == [len({value for key, value in pairs if key == one}) for one in keys[places].tolist()]
    assert (counts.tolist(), places.tolist()) == tuple(column.tolist() for column in count_distinct(keys, values))
