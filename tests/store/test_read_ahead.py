"""Places of mapped arrays are asked for together, each page once, and only while questions wait for the disk."""

import mmap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.similarity import RankingOptions, RelatedIndex
from pagekin.store import ReadAhead, read_ahead

PAGE = mmap.PAGESIZE


class NotingMap(mmap.mmap):
    """A mapped file that notes what it is asked for."""

    asked: list[tuple[int, int]]

    def madvise(self, option: int, start: int = 0, length: int | None = None) -> None:
        assert option == mmap.MADV_WILLNEED
        assert start % PAGE == 0
        super().madvise(option, start, length or 0)
        self.asked.append((start // PAGE, (start + (length or 0)) // PAGE))


@given(st.lists(st.tuples(st.integers(0, 40_000), st.integers(0, 9_000)), max_size=12), st.integers(0, 200))
def test_every_page_of_the_stretches_is_asked_for_once_and_no_other(spans: list[tuple[int, int]], at: int) -> None:
    size = 12 * PAGE
    mapping = NotingMap(-1, size)
    mapping.asked = []
    begins, lengths = np.array(spans, np.int64).reshape(-1, 2).T
    read_ahead._ask(mapping, at, begins, begins + lengths)
    wanted = {
        page
        for begin, length in spans
        for page in range((at + begin) // PAGE, -(-min(at + begin + length, size) // PAGE))
    }
    pages = [page for first, last in mapping.asked for page in range(first, last)]
    assert sorted(pages) == sorted(wanted)


def test_the_bytes_of_a_mapped_array_and_of_its_slices_are_found(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(bytes(128) + np.arange(5_000, dtype=np.uint32).tobytes())
    array = np.memmap(file, np.uint32, "r", 128, (5_000,)).view(np.ndarray)
    for some, at in ((array, 128), (array[700:], 128 + 2_800), (array[100:].reshape(-1, 4)[1:], 128 + 416)):
        place = read_ahead._find_mapping(some)
        assert place is not None
        assert place[0][place[1] : place[1] + 4] == some.reshape(-1)[:1].tobytes()
        assert place[1] == at
    assert read_ahead._find_mapping(np.arange(9)) is None


def test_the_first_questions_ask_and_later_ones_after_one_that_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = 100
    monkeypatch.setattr(read_ahead, "_read_faults", lambda: faults)
    ahead = ReadAhead()
    assert [ahead.is_due() for _ in range(40)] == [True] * 32 + [False] * 8
    faults += 8
    assert not ahead.is_due()
    faults += 9
    assert [ahead.is_due() for _ in range(40)] == [True] * 32 + [False] * 8


def test_a_question_asks_for_its_lists_and_the_bags_of_its_candidates(
    demo_kin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = RelatedIndex.open(demo_kin)
    asked: list[int] = []
    monkeypatch.setattr(ReadAhead, "ask", lambda _self, arrays, _firsts, _lasts: asked.extend(map(id, arrays)))
    index.answer(index.query_of([index.urls[7]]), RankingOptions())
    bags, lists = index.bags, index.index._shards[0].lists
    wanted = (lists.starts, lists.words, bags.offsets, bags.terms, bags.weights, bags.counts, bags.flags, bags.own_df)
    assert {id(array) for array in wanted} <= set(asked)
