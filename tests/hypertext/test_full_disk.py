"""A full disk: which one it is, what to do, and the old collection as it was."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from pagekin.hypertext import ReadPlan, read_sources
from pagekin.sources import Limits, plan_units, read_unit
from pagekin.store import DiskFullError, KinWriter, on_temporary_disk, temporary_folder
from tests.sources.making import members, some_records
from tests.store.kins import in_child


def archive(path: Path, count: int = 100) -> Path:
    path.write_bytes(b"".join(members(some_records(count))))
    return path


def wacz(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("archive/a.warc", b"".join(some_records(1_000)))
    return path


def snapshot(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.name != ".lock"}


def test_a_full_disk_of_the_collection_is_named(tmp_path: Path) -> None:
    out = tmp_path / "a.kin"
    with pytest.raises(DiskFullError, match=rf"the disk at {out} is full \(No space left on device\)"):  # noqa: SIM117
        with KinWriter(out, "test"), Path("/dev/full").open("wb") as file:
            file.write(bytes(100_000))


def test_a_full_temporary_disk_is_named_and_not_the_collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "small"))
    (tmp_path / "small").mkdir()
    wanted = rf"^the disk at {tmp_path / 'small'} is full .*TMPDIR.*as they were before"
    with pytest.raises(DiskFullError, match=wanted) as told:  # noqa: SIM117
        with KinWriter(tmp_path / "a.kin", "test"), temporary_folder("test") as folder:
            (folder / "big").symlink_to("/dev/full")
            with (folder / "big").open("wb") as file:
                file.write(bytes(100_000))
    assert "a.kin" not in str(told.value)
    assert list((tmp_path / "small").iterdir()) == []


def test_other_errors_on_the_temporary_disk_are_left_as_they_are() -> None:
    with pytest.raises(FileNotFoundError), on_temporary_disk() as folder:
        (folder / "no such file").read_bytes()


def test_a_wacz_that_does_not_fit_on_the_temporary_disk_is_not_called_damaged(tmp_path: Path) -> None:
    (unit,) = plan_units([str(wacz(tmp_path / "a.wacz"))], {})

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        with pytest.raises(DiskFullError, match=rf"a file in {tempfile.gettempdir()} may not grow any further"):
            list(read_unit(unit, Limits()))

    assert in_child(limited) == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_no_room_for_parts_is_told_of_the_collection_which_is_as_it_was(tmp_path: Path, workers: int) -> None:
    out = tmp_path / "a.kin"
    read_sources(ReadPlan([str(archive(tmp_path / "old.warc.gz", 3))], out, "strict"))
    before = snapshot(out)
    source = archive(tmp_path / "new.warc.gz")

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        with pytest.raises(DiskFullError, match=rf"^{out} could not be written: a file in {out} may not grow"):
            read_sources(ReadPlan([str(source)], out, "strict", workers, replace=True))

    assert in_child(limited) == 0
    assert snapshot(out) == before


# -- a disk that is really full, where we may mount one -----------------------------------------------------------------


def on_small_disk(disk: Path, *arguments: object, temporary: bool) -> subprocess.CompletedProcess[str]:
    """Run a command that sees a disk of 100 kB at `disk`, for its temporary files or for its collection."""
    mount = f'mount -t tmpfs -o size=100k none {disk} && exec "$@"'
    return subprocess.run(
        ["unshare", "-m", "sh", "-c", mount, "sh", sys.executable, "-m", "pagekin", *map(str, arguments)],
        env={**os.environ, "TMPDIR": str(disk) if temporary else tempfile.gettempdir()},
        capture_output=True,
        text=True,
        check=False,
    )


may_mount = pytest.mark.skipif(
    shutil.which("unshare") is None
    or subprocess.run(
        ["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=100k none /mnt"], capture_output=True, check=False
    ).returncode
    != 0,
    reason="this user may not mount a small disk",
)


@may_mount
@pytest.mark.parametrize("workers", [1, 2])
def test_the_command_says_which_disk_is_full_and_whose_fault_it_is_not(tmp_path: Path, workers: int) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    options = ("--parser", "strict", "--workers", workers)
    source = archive(tmp_path / "new.warc.gz")
    done = on_small_disk(disk, "read", source, "--out", disk / "a.kin", *options, temporary=False)
    assert done.returncode == 3, done.stderr
    assert f"the disk at {disk / 'a.kin'} is full (No space left on device)" in done.stderr
    out = tmp_path / "b.kin"
    packed = wacz(tmp_path / "a.wacz")
    done = on_small_disk(disk, "read", packed, "--out", out, *options, temporary=True)
    assert done.returncode == 3, done.stderr
    assert f"the disk at {disk} is full (No space left on device)" in done.stderr
    assert str(out) not in done.stderr
    assert not out.exists()
    assert "a bug in Pagekin" not in done.stderr
