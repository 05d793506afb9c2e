"""Damage of a collection is found, and answered with what to do."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from pagekin.store import KinError, KinWriter, check_files, open_kin
from pagekin.store.folder import FORMAT
from tests.store.kins import OLD, findings, write


@pytest.fixture
def kin(tmp_path: Path) -> Path:
    write(tmp_path / "a.kin", OLD, pages=3)
    return tmp_path / "a.kin"


def file_of(kin: Path, name: str) -> Path:
    return kin / str(open_kin(kin).manifest["files"][name]["file"])


def change_manifest(kin: Path, **changes: object) -> None:
    manifest = json.loads((kin / "manifest.json").read_text())
    (kin / "manifest.json").write_text(json.dumps({**manifest, **changes}))


def test_a_whole_collection_has_no_findings_and_reports_its_progress(kin: Path) -> None:
    seen: list[int] = []
    assert not list(check_files(kin, seen.append))
    assert sum(seen) == sum(values.nbytes for values in OLD.values())


@pytest.mark.parametrize("name", ["empty", "text.bytes"])
def test_a_flipped_bit_anywhere_in_a_file_is_found(kin: Path, name: str) -> None:
    file = file_of(kin, name)
    whole = file.read_bytes()
    for position in range(len(whole)):
        changed = bytearray(whole)
        changed[position] ^= 0x04
        file.write_bytes(changed)
        assert [finding.where for finding in findings(kin)] == [file.name], f"byte {position}"


def test_a_flipped_byte_in_a_large_file_is_found(tmp_path: Path) -> None:
    write(tmp_path / "b.kin", {"x": np.arange(700_000)})
    file = file_of(tmp_path / "b.kin", "x")
    with file.open("r+b") as stream:
        stream.seek(-1, 2)
        stream.write(b"\x55")
    assert [finding.what for finding in findings(tmp_path / "b.kin")] == [
        "has changed since it was written (checksum differs)"
    ]


@pytest.mark.parametrize("kept", [0, 5, 127, 128, 143])
def test_a_cut_file_is_found_and_not_opened(kin: Path, kept: int) -> None:
    file = file_of(kin, "text.bytes")
    file.write_bytes(file.read_bytes()[:kept])
    assert [(finding.where, finding.what) for finding in findings(kin)] == [
        (file.name, f"has {kept:,} bytes where the manifest says 144")
    ]
    with pytest.raises(KinError, match=r"is damaged.*Run: pagekin check"):
        open_kin(kin)


def test_a_file_that_grew_is_found(kin: Path) -> None:
    file = file_of(kin, "number")
    file.write_bytes(file.read_bytes() + b"x")
    assert [finding.where for finding in findings(kin)] == [file.name]


def test_a_missing_file_is_found_and_named(kin: Path) -> None:
    file = file_of(kin, "number")
    file.unlink()
    assert [(finding.where, finding.what) for finding in findings(kin)] == [
        (file.name, "cannot be read: No such file or directory")
    ]
    with pytest.raises(KinError, match=f"lacks {file.name}.*Run: pagekin check"):
        open_kin(kin)


def test_files_that_changed_places_are_found(kin: Path) -> None:
    write(kin, {"a": np.arange(9), "b": np.arange(9) + 1.0})
    first, second = file_of(kin, "a"), file_of(kin, "b")
    spare = kin.parent / "spare"
    shutil.move(first, spare)
    shutil.move(second, first)
    shutil.move(spare, second)
    assert {finding.where for finding in findings(kin)} == {first.name, second.name}
    with pytest.raises(KinError, match="not the array that the manifest describes"):
        open_kin(kin)


def test_stray_files_and_folders_are_found(kin: Path) -> None:
    (kin / "x-0123456789ab.npy").write_text("left by a build")
    (kin / "x-0123456789ab.files").mkdir()
    (kin / ".work-abc").mkdir()
    (kin / "notes.txt").write_text("left by someone")
    assert [finding.where for finding in findings(kin)] == [
        ".work-abc",
        "notes.txt",
        "x-0123456789ab.files",
        "x-0123456789ab.npy",
    ]


def test_a_changed_manifest_is_found(kin: Path) -> None:
    change_manifest(kin, facts={"pages": 4})
    assert open_kin(kin).facts["pages"] == 4
    assert [(finding.where, finding.what) for finding in findings(kin)] == [
        ("manifest.json", "has changed since it was written (checksum differs)")
    ]


def entry(**changes: object) -> dict[str, object]:
    good = {"file": "x.npy", "dtype": "|u1", "shape": [1], "bytes": 129, "checksum": "0"}
    return {"x": {**good, **changes}}


WRONG_FILES: list[dict[str, object]] = [
    {"x": {}},
    {"x": 1},
    entry(file="../outside.npy"),
    entry(file="/etc/passwd"),
    entry(shape="1"),
    entry(shape=[-1]),
    entry(shape=[1, 1]),
    entry(bytes="129"),
    entry(checksum=None),
]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"files": {}, "facts": {}}',
        b'{"format": "new", "files": {}, "facts": {}}',
        b'{"format": 0, "files": {}, "facts": {}}',
        b'{"format": 1, "files": [], "facts": {}}',
        b'{"format": 1, "files": {}}',
        b"[" * 100_000,
        *(json.dumps({"format": 1, "facts": {}, "files": files}).encode() for files in WRONG_FILES),
    ],
)
def test_a_damaged_manifest_is_refused_and_found(kin: Path, content: bytes) -> None:
    (kin / "manifest.json").write_bytes(content)
    with pytest.raises(KinError, match=r"manifest\.json is damaged"):
        open_kin(kin)
    assert [finding.where for finding in findings(kin)] == ["manifest.json"]
    with pytest.raises(KinError, match="is damaged"), KinWriter(kin, "test"):
        pass
    assert (kin / "manifest.json").read_bytes() == content


@pytest.mark.parametrize("changes", [{}, {"files": "all in one file now", "facts": None}])
def test_a_newer_format_is_refused_with_what_to_do(kin: Path, changes: dict[str, object]) -> None:
    change_manifest(kin, format=FORMAT + 1, **changes)
    before = {file.name: file.read_bytes() for file in kin.iterdir()}
    with pytest.raises(KinError, match=rf"has format {FORMAT + 1}.*Upgrade Pagekin"):
        open_kin(kin)
    with pytest.raises(KinError, match="Upgrade Pagekin"), KinWriter(kin, "test"):
        pass
    assert {file.name: file.read_bytes() for file in kin.iterdir()} == before


def test_what_is_no_collection_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    for name, message in [
        ("nowhere", r"does not exist\. Make it with: pagekin build"),
        ("folder", "is not a finished Pagekin collection"),
        ("file", "is a file; a Pagekin collection is a folder"),
    ]:
        with pytest.raises(KinError, match=message):
            open_kin(tmp_path / name)
        assert [finding.where for finding in findings(tmp_path / name)] == ["manifest.json"]


def test_pickled_objects_are_never_loaded(kin: Path) -> None:
    file = file_of(kin, "number")
    with file.open("wb") as stream:
        np.save(stream, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(KinError, match="is damaged"):
        open_kin(kin)
