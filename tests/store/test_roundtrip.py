"""What is written is what is read, to the byte."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.store import Kin, KinError, KinWriter, RaggedBytes, open_kin, pack_strings, smallest_uint
from pagekin.store.folder import manifest_digest
from tests.store.kins import NEW, NEW_FOLDERS, OLD, OLD_FOLDERS, findings, holds, write


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
        growing.append(b"\x03\x00\x04\x00")
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
        with pytest.raises(ValueError, match="no whole number"):
            writer.create("y", np.uint32).append(b"abc")


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


def test_folders_of_plain_files_come_back(tmp_path: Path) -> None:
    path = tmp_path / "a.kin"
    write(path, OLD, OLD_FOLDERS)
    kin = open_kin(path)
    assert holds(path, OLD, OLD_FOLDERS)
    assert not findings(path)
    assert kin.has_folder("index")
    assert kin.bytes_on_disk["index"] == sum(map(len, OLD_FOLDERS["index"].values()))
    assert not kin.has_folder("more")
    with pytest.raises(KinError, match=r"holds no 'more'.*Make it again: pagekin build"):
        kin.folder("more")
    write(path, NEW, NEW_FOLDERS)
    assert holds(path, NEW, NEW_FOLDERS)
    assert not findings(path)
    assert len(list(path.glob("*.files"))) == len(NEW_FOLDERS)
    write(path, NEW)
    assert holds(path, NEW)
    assert not list(path.glob("*.files"))


def test_a_commit_that_keeps_arrays_keeps_folders_but_for_the_dropped_and_the_new(tmp_path: Path) -> None:
    path = tmp_path / "a.kin"
    write(path, OLD, {"one": {"a": b"1"}, "two": {"b": b"2"}, "three": {"c": b"3"}})
    with KinWriter(path, "test") as writer:
        (writer.create_folder("two") / "b").write_bytes(b"new")
        writer.commit({}, keep=open_kin(path).manifest["files"], drop=["three"])
    assert holds(path, OLD, {"one": {"a": b"1"}, "two": {"b": b"new"}})
    assert not findings(path)


def test_a_folder_of_the_same_content_heals_a_damaged_one(tmp_path: Path) -> None:
    path = tmp_path / "a.kin"
    write(path, OLD, OLD_FOLDERS)
    (open_kin(path).folder("index") / "meta.json").write_bytes(b"[]")
    write(path, OLD, OLD_FOLDERS)
    assert holds(path, OLD, OLD_FOLDERS)
    write(path, OLD, OLD_FOLDERS)
    assert holds(path, OLD, OLD_FOLDERS)
    assert not findings(path)


def test_a_reader_holds_the_files_that_it_opened(tmp_path: Path) -> None:
    path = tmp_path / "a.kin"
    write(path, OLD, OLD_FOLDERS)
    with (open_kin(path).folder("index") / "a.idx").open("rb") as opened:
        write(path, NEW, NEW_FOLDERS)
        assert opened.read() == OLD_FOLDERS["index"]["a.idx"]


@pytest.mark.parametrize("name", ["", "a/b", "../a", "a b", "number"])
def test_names_that_are_no_folder_names_are_refused(tmp_path: Path, name: str) -> None:
    with KinWriter(tmp_path / "a.kin", "test") as writer:
        writer.put("number", OLD["number"])
        with pytest.raises(ValueError, match=r"no name|made twice"):
            writer.create_folder(name)


@pytest.mark.parametrize("kind", ["folder", "link", "dead link"])
def test_a_folder_holds_plain_files_only(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.kin"
    write(path, OLD, OLD_FOLDERS)
    with pytest.raises(ValueError, match="is no plain file"), KinWriter(path, "test") as writer:
        inside = writer.create_folder("index") / "inside"
        if kind == "folder":
            inside.mkdir()
        else:
            inside.symlink_to("/etc/hostname" if kind == "link" else "/nowhere")
        writer.commit({})
    assert holds(path, OLD, OLD_FOLDERS)
    assert not findings(path)


def test_collections_of_before_folders_are_read_and_written(tmp_path: Path) -> None:
    # Without folders the manifest is what it always was, so an older Pagekin reads it.
    path = tmp_path / "a.kin"
    write(path, OLD)
    assert "folders" not in open_kin(path).manifest
    with KinWriter(path, "test") as writer:
        (writer.create_folder("index") / "x").write_bytes(b"x")
        writer.commit({}, keep=open_kin(path).manifest["files"])
    assert holds(path, OLD, {"index": {"x": b"x"}})


def test_a_manifest_that_an_older_writer_made_leaves_no_folder_behind(tmp_path: Path) -> None:
    # An older Pagekin knows nothing of folders: its manifest names none, and it removes none.
    path = tmp_path / "a.kin"
    write(path, OLD, OLD_FOLDERS)
    folder = open_kin(path).folder("index")
    manifest = json.loads((path / "manifest.json").read_text())
    del manifest["folders"], manifest["checksum"]
    manifest["checksum"] = manifest_digest(manifest)
    (path / "manifest.json").write_text(json.dumps(manifest))
    assert [(finding.where, finding.leftover) for finding in findings(path)] == [(folder.name, True)]
    with KinWriter(path, "the next writer"):
        pass
    assert not folder.exists()
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
