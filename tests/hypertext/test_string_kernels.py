"""The kernels of parts and merging against their slow, obvious twins."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.hypertext import string_lists
from pagekin.hypertext.part import _PADDING, _code, _sort_strings
from pagekin.store import MemoryBudget, Workspace, pack_strings
from tests.hypertext.coders import encode_gaps

strings = st.lists(st.one_of(st.binary(max_size=3), st.text("ab\0", max_size=30).map(str.encode)), max_size=80)


def unpack(data: Any, ends: Any) -> list[bytes]:
    starts = [0, *ends[:-1].tolist()] if len(ends) else []
    return [data[a:b].tobytes() for a, b in zip(starts, ends.tolist(), strict=True)]


@settings(deadline=None)
@given(strings)
def test_strings_are_sorted_as_python_sorts_them(given_strings: list[bytes]) -> None:
    (data, bounds), places = _sort_strings(*pack_strings([*given_strings, _PADDING]))
    wanted = sorted(set(given_strings))
    assert unpack(data, bounds[1:]) == wanted
    assert places.tolist() == [wanted.index(string) for string in given_strings]


@settings(deadline=None)
@given(
    st.lists(strings, max_size=9), st.sampled_from([(1 << 20, 1 << 14), (64, 3)]), st.sampled_from([2, 3, 64]),
    st.sampled_from([0, 1]),
)  # fmt: skip
def test_sorted_lists_are_merged_as_one_set_in_any_number_of_levels(
    lists: list[list[bytes]], sizes: tuple[int, int], fan_in: int, memory: int
) -> None:
    before = string_lists.PIECE_BYTES, string_lists.PIECE_STRINGS, string_lists.FAN_IN
    string_lists.PIECE_BYTES, string_lists.PIECE_STRINGS = sizes
    string_lists.FAN_IN = fan_in
    try:
        with tempfile.TemporaryDirectory() as name:
            room = Workspace(Path(name), MemoryBudget(memory))
            parts = []
            for number, some in enumerate(lists):
                (data, bounds), _ = _sort_strings(*pack_strings([*some, _PADDING]))
                part = string_lists.StringList(
                    Path(name) / f"{number}.bytes", Path(name) / f"{number}.offsets",
                    room.empty(len(bounds) - 1, np.uint32),
                )  # fmt: skip
                data.tofile(part.data)
                bounds.tofile(part.offsets)
                parts.append(part)
            merged = string_lists.merge_lists(parts, room)
            found = unpack(merged.data, merged.starts[1:])
            everything = np.arange(len(found))[::-1]
            gathered = [
                string
                for data, ends in string_lists.gather_pieces(*merged, everything)
                for string in unpack(data, ends)
            ]
    finally:
        string_lists.PIECE_BYTES, string_lists.PIECE_STRINGS, string_lists.FAN_IN = before
    wanted = sorted({string for some in lists for string in some})
    assert found == wanted
    assert gathered == wanted[::-1]
    for part, some in zip(parts, lists, strict=True):
        assert part.ids.tolist() == [wanted.index(string) for string in sorted(set(some))]


@settings(deadline=None)
@given(st.lists(st.lists(st.tuples(st.integers(0, 3000), st.integers(1, 255)), max_size=20), max_size=5))
def test_gaps_of_many_pages_are_coded_as_one_page_after_another(pages: list[list[tuple[int, int]]]) -> None:
    pages = [sorted(page, key=lambda pair: pair[0]) for page in pages]
    values = np.array([p << 8 | k for page in pages for p, k in page], dtype=np.int64)
    ends = np.cumsum([len(page) for page in pages], dtype=np.int64)
    gaps, kinds, page_ends = _code(values, 8, ends, with_kinds=True)
    for number, page in enumerate(pages):
        coded, last = encode_gaps(np.array([p for p, _ in page], dtype=np.int64))
        wanted = np.zeros(len(coded), dtype=np.uint8)
        wanted[last] = [k for _, k in page]
        mine = slice(page_ends[number], page_ends[number + 1])
        assert list(gaps[mine]) == coded.tolist()
        assert list(kinds[mine]) == wanted.tolist()
