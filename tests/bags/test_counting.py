"""Different values of each key, counted in one piece or a range of keys at a time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pagekin.bags.counting import count_distinct
from pagekin.store import MemoryBudget

PAIRS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), max_size=80)


@given(PAIRS, st.sampled_from([0, 1, 5_000, 20_000]))
def test_keys_have_as_many_values_as_a_set_holds(pairs: list[tuple[int, int]], memory: int) -> None:
    keys, values = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    counts, places = count_distinct(keys, values, MemoryBudget(memory))
    assert keys[places].tolist() == sorted(set(keys.tolist()))
    assert counts.tolist() == [len({value for key, value in pairs if key == one}) for one in keys[places].tolist()]
    assert (counts.tolist(), places.tolist()) == tuple(column.tolist() for column in count_distinct(keys, values))
