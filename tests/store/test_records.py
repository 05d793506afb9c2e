"""Records that travel: what is unpacked is what was packed, and nothing else is taken for it."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from pagekin.store import (
    Names,
    RaggedBytes,
    join_names,
    pack_record,
    pack_strings,
    union_strings,
    unpack_record,
)


class Some(NamedTuple):
    numbers: Any
    table: Any


class Other(NamedTuple):
    numbers: Any
    names: Any


@pytest.mark.parametrize("length", [0, 1, 1_000])
def test_a_record_comes_back_as_it_was(length: int) -> None:
    record = Some(np.arange(length, dtype=np.uint64), np.ones((length, 4), np.int32))
    again = unpack_record(Some, pack_record(record))
    for mine, theirs in zip(again, record, strict=True):
        assert (mine.dtype, mine.shape, mine.tobytes()) == (theirs.dtype, theirs.shape, theirs.tobytes())


def test_bytes_of_another_kind_and_cut_ones_are_refused() -> None:
    data = pack_record(Some(np.arange(3), np.arange(4)))
    with pytest.raises(ValueError, match="no record of the kind Other"):
        unpack_record(Other, data)
    with pytest.raises(ValueError, match="followed by more"):
        unpack_record(Some, data + b"!")
    with pytest.raises(ValueError):
        unpack_record(Some, data[:-1])


def test_no_objects_travel() -> None:
    with pytest.raises(ValueError):
        pack_record(Some(np.array([{}], object), np.arange(1)))


def test_strings_of_several_tables_are_joined_in_order() -> None:
    tables = [RaggedBytes(*pack_strings(names)) for names in ([b"b", b"a"], [], [b"c", b"b", b""])]
    names, places = union_strings(tables)
    assert list(names) == [b"", b"a", b"b", b"c"]
    assert [one.tolist() for one in places] == [[2, 1], [], [3, 2, 0]]


class Nested(NamedTuple):
    names: Names
    numbers: Any


def test_a_record_may_hold_another() -> None:
    record = Nested(Names.of([b"b", b"", b"aa"]), np.arange(3))
    again = unpack_record(Nested, pack_record(record))
    assert again.names.strings() == [b"b", b"", b"aa"]
    assert again.names.array().tolist() == [b"b", b"", b"aa"]
    assert again.numbers.tolist() == [0, 1, 2]


def test_names_are_joined_in_order() -> None:
    joined = join_names([Names.of([b"b", b"d"]), Names.of([]), Names.of([b"a", b"b"])])
    assert joined.strings() == [b"a", b"b", b"d"]
