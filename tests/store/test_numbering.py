"""Numbers of a whole that is divided among parts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from pagekin.store import Numbering


@given(
    sizes=some.lists(some.integers(0, 5), min_size=1, max_size=6), seed=some.integers(0, 99), in_order=some.booleans()
)
def test_each_number_is_found_in_the_part_that_has_it(sizes: list[int], seed: int, in_order: bool) -> None:
    numbering = Numbering(sizes)
    parts = [np.arange(size) + 100 * part for part, size in enumerate(sizes)]
    whole = np.concatenate(parts)
    assert len(numbering) == len(whole)
    numbers = np.random.default_rng(seed).integers(0, max(len(whole), 1), 8 if len(whole) else 0)
    numbers = np.sort(numbers) if in_order else numbers
    assert numbering.gather(parts, numbers).tolist() == whole[numbers].tolist()
    for number in numbers.tolist():
        part, own = numbering.place(number)
        assert parts[part][own] == whole[number]
    found = [one for part, _places, own in numbering.split(numbers) for one in parts[part][own].tolist()]
    assert sorted(found) == sorted(whole[numbers].tolist())


@pytest.mark.parametrize("number", [-1, 5])
def test_a_number_that_no_part_has_is_refused(number: int) -> None:
    numbering = Numbering([2, 3])
    with pytest.raises(IndexError):
        numbering.place(number)
    for numbers in ([0, 4, number], [number, 0, 4]):
        with pytest.raises(IndexError):
            list(numbering.split(np.array(numbers)))
