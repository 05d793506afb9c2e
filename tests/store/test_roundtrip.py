"""What is written is what is read, to the byte."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.store import Kin, KinError, KinWriter, RaggedBytes, open_kin, pack_strings, smallest_uint
from pagekin.store.folder import manifest_digest
from tests.store.kins import NEW, OLD, findings, holds, write


@pytest.mark.parametrize("length", [0, 1, 1_000])
@pytest.mark.parametrize("dtype", ["u1", "<u2", "<i4", "<i8", "<u8", "<f4", "<f8", "?", "S3"])
def test_arrays_of_any_type_and_length_come_back(tmp_path: Path, dtype: str, length: int) -> None:
    values = np.arange(length).astype(dtype)
    write(tmp_path / "a.kin", {"x": values})
    array = open_kin(tmp_path / "a.kin")["x"]
    assert array.dtype == values.dtype
    assert np.array_equal(array, values)
    assert not array.flags.writeable
    assert not findings(tmp_path / "a.kin")


def test_an_array_that_grows_is_the_pieces_in_order(tmp_path: Path) -> None:
    with KinWriter(tmp_path / "a.kin", "test") as writer:
        growing = writer.create("x", np.uint16)
        growing.append(np.array([1, 2], dtype=np.int64))
        growing.append(np.array([3, 4], dtype=np.uint8))
        growing.append(np.array([9, 8, 7, 6, 5], dtype=">u2")[::2])
        growing.append(np.zeros(0, dtype=np.uint16))
        writer.commit({})
    assert open_kin(tmp_path / "a.kin")["x"].tolist() == [1, 2, 3, 4, 9, 7, 5]


def test_values_that_do_not_fit_are_refused_rather_than_wrapped(tmp_path: Path) -> None:
    with KinWriter(tmp_path / "a.kin", "test") as writer:
        small = writer.create("x", np.uint8)
        for values in (np.array([256]), np.array([-1]), np.array([0.5]), np.zeros((2, 2), dtype=np.uint8)):
            with pytest.raises(ValueError, match="appended to x"):
                small.append(values)


@pytest.mark.parametrize("name", ["", "a/b", "../a", "a b", "a-b"])
def test_names_that_are_no_file_names_are_refused(tmp_path: Path, name: str) -> None:
    with KinWriter(tmp_path / "a.kin", "test") as writer, pytest.raises(ValueError, match="no name"):
        writer.create(name, np.uint8)


def test_arrays_that_would_need_pickle_are_refused(tmp_path: Path) -> None:
    with KinWriter(tmp_path / "a.kin", "test") as writer, pytest.raises(ValueError, match="cannot be stored"):
        writer.put("x", np.array([None, "x"], dtype=object))


def test_an_array_is_made_only_once(tmp_path: Path) -> None:
    with KinWriter(tmp_path / "a.kin", "test") as writer:
        writer.put("x", np.arange(3))
        with pytest.raises(ValueError, match="made twice"):
            writer.create("x", np.uint8)


def test_facts_come_back_and_sizes_are_known(tmp_path: Path) -> None:
    write(tmp_path / "a.kin", OLD, pages=3, skipped={"not html": 2}, title="Käse \udce9", by_number={1: "x"})
    kin = open_kin(tmp_path / "a.kin")
    assert kin.facts == {
        "pages": 3,
        "skipped": {"not html": 2},
        "title": "Käse \udce9",
        "by_number": {"1": "x"},
    }
    assert kin.bytes_on_disk == {"number": 4_128, "empty": 128, "text.bytes": 144}
    assert not findings(tmp_path / "a.kin")


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    for name, order in (("a.kin", list(OLD)), ("b.kin", list(reversed(OLD)))):
        write(tmp_path / name, {key: OLD[key] for key in order}, pages=1, b=2)
    first, second = (
        {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("a.kin", "b.kin")
    )
    assert first == second


def test_a_commit_replaces_the_collection_and_removes_the_old_files(tmp_path: Path) -> None:
    write(tmp_path / "a.kin", OLD)
    write(tmp_path / "a.kin", NEW)
    assert holds(tmp_path / "a.kin", NEW)
    assert not findings(tmp_path / "a.kin")
    assert len(list((tmp_path / "a.kin").glob("*.npy"))) == len(NEW)


def test_a_commit_can_keep_old_arrays(tmp_path: Path) -> None:
    write(tmp_path / "a.kin", OLD)
    old = open_kin(tmp_path / "a.kin").manifest["files"]
    with KinWriter(tmp_path / "a.kin", "test") as writer:
        writer.put("other", NEW["other"])
        writer.commit({}, keep={"number": old["number"]})
    assert holds(tmp_path / "a.kin", {"number": OLD["number"], "other": NEW["other"]})
    assert not findings(tmp_path / "a.kin")


def test_a_view_opened_before_a_commit_stays_valid(tmp_path: Path) -> None:
    write(tmp_path / "a.kin", OLD, age="old")
    before = open_kin(tmp_path / "a.kin")
    write(tmp_path / "a.kin", NEW, age="new")
    assert all(np.array_equal(before[name], values) for name, values in OLD.items())
    assert before.facts["age"] == "old"
    assert open_kin(tmp_path / "a.kin").facts["age"] == "new"


def test_folders_that_an_earlier_version_kept_are_ignored_until_the_next_commit_removes_them(tmp_path: Path) -> None:
    path = tmp_path / "a.kin"
    write(path, OLD)
    folder = path / "index-0123456789ab.files"
    folder.mkdir()
    (folder / "meta.json").write_bytes(b"{}")
    manifest = json.loads((path / "manifest.json").read_text())
    del manifest["checksum"]
    manifest["folders"] = {"index": {"folder": folder.name, "files": {"meta.json": {"bytes": 2, "checksum": "0"}}}}
    manifest["checksum"] = manifest_digest(manifest)
    (path / "manifest.json").write_text(json.dumps(manifest))
    assert holds(path, OLD)
    assert not findings(path)
    with KinWriter(path, "a writer that commits nothing"):
        pass
    assert folder.exists()
    with KinWriter(path, "test") as writer:
        writer.commit({}, keep=open_kin(path).manifest["files"])
    assert not folder.exists()
    assert "folders" not in open_kin(path).manifest
    assert holds(path, OLD)
    assert not findings(path)


def test_an_array_of_another_step_is_missed_with_what_to_do(tmp_path: Path) -> None:
    write(tmp_path / "a.kin", OLD)
    kin = open_kin(tmp_path / "a.kin")
    assert "number" in kin
    assert "bags" not in kin
    with pytest.raises(KinError, match=r"holds no 'bags'.*Make it again: pagekin build"):
        kin["bags"]


@given(st.lists(st.binary(max_size=12)))
def test_strings_come_back_and_are_found(strings: list[bytes]) -> None:
    ordered = sorted(set(strings))
    data, offsets = pack_strings(ordered)
    table = RaggedBytes.of(Kin(Path(), {}, {"s.bytes": data, "s.offsets": offsets}), "s")
    assert list(table) == ordered
    assert [table.find(string) for string in ordered] == list(range(len(ordered)))
    for absent in (b"\xff" * 13, b"absent in all of them"):
        assert table.find(absent) == -1
        assert table.nearest(absent) == sum(string < absent for string in ordered)


@given(st.lists(st.binary(max_size=5), unique=True, min_size=1))
def test_unsorted_strings_are_found_through_their_order(strings: list[bytes]) -> None:
    data, offsets = pack_strings(strings)
    table = RaggedBytes(data, offsets)
    order = np.array(sorted(range(len(strings)), key=strings.__getitem__))
    assert [table.find(string, order) for string in strings] == list(range(len(strings)))
    assert table.find(b"\xff" * 6, order) == -1


def test_there_is_no_string_before_the_first_or_after_the_last() -> None:
    table = RaggedBytes(*pack_strings([b"a", b"bc"]))
    for index in (-1, 2):
        with pytest.raises(IndexError):
            table[index]
    assert RaggedBytes(*pack_strings([b"\xff\xc3\xa9"])).text(0) == "\ufffd\u00e9"


@pytest.mark.parametrize(
    ("largest", "bits"), [(0, 8), (255, 8), (256, 16), (65_535, 16), (65_536, 32), (2**32 - 1, 32), (2**32, 64)]
)
def test_the_smallest_type_that_holds_a_number_is_chosen(largest: int, bits: int) -> None:
    assert smallest_uint(largest) == np.dtype(f"u{bits // 8}")
