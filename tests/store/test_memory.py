"""Memory that a build may take: sizes as people write them, arrays that lie in files, items in order of their targets."""

import resource
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.store import NO_LIMIT, MemoryBudget, Workspace, count_targets, invert, is_full, parse_size
from tests.store.kins import in_child


@pytest.mark.parametrize(
    ("text", "size"),
    [("800M", 800 << 20), ("1G", 1 << 30), ("1.5g", 3 << 29), ("2 GiB", 2 << 30), ("64kb", 64 << 10), ("4096", 4096)],
)
def test_sizes_are_written_as_people_do(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "much", "-1G", "0", "1X", "1G2"])
def test_what_is_no_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="a size is written 800M, 1G"):
        parse_size(text)


def test_large_arrays_lie_in_files_without_a_name(tmp_path: Path) -> None:
    room = Workspace(tmp_path, MemoryBudget(1 << 20))
    small, large = room.full(100, 7, np.uint32), room.full((1_000, 50), 7, np.uint16)
    assert list(tmp_path.iterdir()) == []
    assert small.flags.owndata
    assert not large.flags.owndata
    assert large.shape == (1_000, 50)
    large[999, 49] += 1
    assert int(large.sum()) == 350_001
    assert Workspace(tmp_path).full((1_000, 50), 7, np.uint16).flags.owndata
    assert room.empty(0, np.int64).shape == (0,)


@pytest.mark.parametrize("limit", [0, 1 << 10, 1 << 20])
def test_an_array_grows_in_memory_and_goes_on_in_a_file(tmp_path: Path, limit: int) -> None:
    grows, nothing = (Workspace(tmp_path, MemoryBudget(limit)).growing(np.uint16) for _ in range(2))
    for first in range(0, 3_000, 7):
        grows.append(np.arange(first, first + 7)[:: 1 if first % 2 else -1])
        assert grows.length == first + 7
    whole = grows.finish()
    assert whole.dtype == np.uint16
    assert whole.reshape(-1, 7)[:2].tolist() == [[6, 5, 4, 3, 2, 1, 0], [7, 8, 9, 10, 11, 12, 13]]
    assert int(whole.sum()) == sum(range(len(whole)))
    assert whole.flags.owndata == (limit != 1 << 10)
    whole[0] = 9  # it may be changed in place
    assert nothing.finish().tolist() == []
    assert list(tmp_path.iterdir()) == []


def test_an_array_that_the_disk_cannot_hold_is_refused_when_it_is_made(tmp_path: Path) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        with pytest.raises(OSError) as told:
            Workspace(tmp_path, MemoryBudget(1)).empty(100_000, np.uint8)
        assert is_full(told.value)

    assert in_child(limited) == 0


def test_batches_shrink_with_memory_and_never_to_nothing() -> None:
    assert NO_LIMIT.items(1_000, 8) == 1_000
    assert MemoryBudget(1 << 30).items(1_000, 8) == 1_000
    assert MemoryBudget(16_000).items(1_000, 8) == 125
    assert MemoryBudget(1).items(1_000, 8) == 1


@given(st.lists(st.integers(0, 9), max_size=60), st.sampled_from([0, 1, 200, 1_000]))
def test_items_are_put_together_by_their_targets_in_order(targets: list[int], memory: int) -> None:
    values = np.array(targets, dtype=np.uint16)
    counts = count_targets(values, 10)
    assert counts.tolist() == [targets.count(target) for target in range(10)]
    ranges = list(invert(values, counts, MemoryBudget(memory)))
    assert [first for first, _last, _items in ranges] == [0, *(last for _first, last, _items in ranges[:-1])]
    found = [int(item) for _first, _last, items in ranges for item in items]
    assert found == sorted(range(len(targets)), key=lambda item: (targets[item], item))
