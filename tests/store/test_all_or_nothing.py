"""One writer at a time, and whatever happens to it, the old collection or the new one."""

import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pagekin.store import DiskFullError, KinError, KinWriter, open_kin
from pagekin.store.writer import RESUME
from tests.store.kins import NEW, OLD, findings, holds, in_child, kill_at, write


def snapshot(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_kill_9_at_any_step_leaves_the_old_collection_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "a.kin"
    outcomes = []
    for step in range(100):
        write(path, OLD)

        def killed(step: int = step) -> None:
            kill_at(step)
            write(path, NEW)

        view = open_kin(path)
        status = in_child(killed)
        assert all(np.array_equal(view[name], values) for name, values in OLD.items())
        assert holds(path, OLD) or holds(path, NEW), f"step {step}"
        outcomes.append(holds(path, NEW))
        with KinWriter(path, "the next writer"):
            pass
        assert not findings(path), f"step {step}"
        if status == 0:
            break
        assert status == -signal.SIGKILL
    # Killed early the old one stands, killed late the new one, and the change comes once.
    assert outcomes == sorted(outcomes)
    assert outcomes.count(False) > 5
    assert outcomes.count(True) > 2


def test_kill_9_at_any_step_of_the_first_write_leaves_a_place_to_write_to(tmp_path: Path) -> None:
    for step in range(100):
        path = tmp_path / f"{step}.kin"

        def killed(step: int = step, path: Path = path) -> None:
            kill_at(step)
            write(path, NEW)

        status = in_child(killed)
        write(path, OLD)
        assert holds(path, OLD), f"step {step}"
        assert not findings(path), f"step {step}"
        if status == 0:
            break
    assert step > 5


def test_what_a_killed_writer_left_to_go_on_from_stays_until_its_commit_and_goes_after_it(tmp_path: Path) -> None:
    path, left = tmp_path / "a.kin", set[tuple[bool, bool]]()
    for step in range(100):
        write(path, OLD)

        def killed(step: int = step) -> None:
            kill_at(step)
            with KinWriter(path, "test") as writer:
                (writer.resume_folder() / "part").write_text("what was read")
                for name, values in NEW.items():
                    writer.put(name, values)
                writer.commit({})

        status = in_child(killed)
        part, is_new = path / RESUME / "part", holds(path, NEW)
        left.add((part.exists(), is_new))
        was_there = part.exists()
        with KinWriter(path, "the next writer"):
            pass
        assert part.exists() == (was_there and not is_new), f"step {step}"
        shutil.rmtree(path / RESUME, ignore_errors=True)
        if status == 0:
            break
    assert left == {(False, False), (True, False), (True, True), (False, True)}, (
        "killed before and after all that matters"
    )


def test_arrays_that_differ_in_type_alone_never_share_a_file(tmp_path: Path) -> None:
    # Same name and same bytes: if the files had one name, the new one would replace the old before its manifest.
    path = tmp_path / "a.kin"
    write(path, {"x": np.array([1, 0, 2, 0], dtype=np.uint8)})
    first = {file.name for file in path.glob("*.npy")}
    write(path, {"x": np.array([1, 2], dtype=np.uint16)})
    assert not first & {file.name for file in path.glob("*.npy")}


def test_leaving_without_a_commit_leaves_everything_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.kin"
    write(path, OLD)
    before = snapshot(path)
    with KinWriter(path, "test") as writer:
        writer.put("number", NEW["number"])
    assert snapshot(path) == before
    with pytest.raises(RuntimeError, match="by the builder"), KinWriter(path, "test") as writer:
        writer.put("number", NEW["number"])
        raise RuntimeError("by the builder")
    assert snapshot(path) == before


def test_a_new_folder_disappears_again_without_a_commit(tmp_path: Path) -> None:
    with KinWriter(tmp_path / "a.kin", "test") as writer:
        writer.put("number", NEW["number"])
    assert not (tmp_path / "a.kin").exists()


def test_facts_that_cannot_be_stored_leave_the_old_collection(tmp_path: Path) -> None:
    path = tmp_path / "a.kin"
    write(path, OLD)
    before = snapshot(path)
    with pytest.raises(TypeError):
        write(path, NEW, wrong=object())
    assert snapshot(path) == before


def test_a_second_writer_is_told_who_writes_and_since_when(tmp_path: Path) -> None:
    path = tmp_path / "a.kin"
    with KinWriter(path, "pagekin read x.warc"):
        with pytest.raises(KinError) as refused, KinWriter(path, "second"):
            pass
        message = str(refused.value)
        assert f"process {os.getpid()} on " in message
        assert "(pagekin read x.warc) since 20" in message
        assert "Wait for it to end" in message
    write(path, OLD)
    assert holds(path, OLD)


def test_a_refused_writer_disturbs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.kin"
    with KinWriter(path, "first") as writer:
        writer.put("number", OLD["number"])
        for _ in range(2):
            with pytest.raises(KinError, match="being written by process"), KinWriter(path, "second"):
                pass
        writer.commit({})
    assert holds(path, {"number": OLD["number"]})


def test_readers_and_checks_are_not_disturbed_by_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "a.kin"
    write(path, OLD)
    with KinWriter(path, "test") as writer:
        writer.put("number", NEW["number"])
        assert holds(path, OLD)
        assert not findings(path)


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "a.kin"
    write(path, OLD)
    script = (
        "import sys, numpy\n"
        "from pagekin.store import KinWriter\n"
        "with KinWriter(sys.argv[1], 'other') as writer:\n"
        "    writer.put('x', numpy.arange(100))\n"
        "    print('holds it', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout
        assert other.stdout.readline() == b"holds it\n"
        with pytest.raises(KinError, match=f"process {other.pid} on "), KinWriter(path, "test"):
            pass
        other.kill()
        other.wait()
    assert holds(path, OLD)
    assert [finding.where[:6] for finding in findings(path)] == [".work-"]
    write(path, NEW)
    assert holds(path, NEW)
    assert not findings(path)


def test_a_folder_with_other_files_is_never_written_to(tmp_path: Path) -> None:
    for name in ("letter.txt", ".profile", "numbers.npy", "x-0123456789ab.npy"):
        folder = tmp_path / f"with {name}"
        folder.mkdir()
        (folder / name).write_text("precious")
        with pytest.raises(KinError, match="holds other files"), KinWriter(folder, "test"):
            pass
        assert snapshot(folder) == {name: b"precious"}


def test_a_file_is_never_replaced_by_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.kin").write_text("precious")
    with pytest.raises(KinError, match="is a file"), KinWriter(tmp_path / "a.kin", "test"):
        pass
    with pytest.raises(KinError, match="cannot be written"), KinWriter(tmp_path / "a.kin" / "b.kin", "test"):
        pass
    assert (tmp_path / "a.kin").read_text() == "precious"


def test_a_file_that_someone_puts_into_a_collection_survives_commits(tmp_path: Path) -> None:
    path = tmp_path / "a.kin"
    write(path, OLD)
    (path / "numbers.npy").write_text("precious")
    write(path, NEW)
    assert (path / "numbers.npy").read_text() == "precious"
    assert [finding.where for finding in findings(path)] == ["numbers.npy"]


def test_a_full_disk_leaves_the_old_collection_and_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "a.kin"
    write(path, OLD)
    before = snapshot(path)
    with pytest.raises(KinError, match=r"No space left on device.*as it was before"):  # noqa: SIM117
        with KinWriter(path, "test") as writer:
            (writer.work / "big.npy").symlink_to("/dev/full")
            writer.put("fits", NEW["number"])
            writer.put("big", np.arange(100_000))
            writer.commit({})
    assert snapshot(path) == before
    write(path, NEW)
    assert holds(path, NEW)


@pytest.mark.parametrize("most", [0, 100, 200, 2_000, 5_000, 11_000])
def test_files_that_may_not_grow_leave_the_old_collection(tmp_path: Path, most: int) -> None:
    path = tmp_path / "a.kin"
    write(path, OLD)
    before = snapshot(path)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        with pytest.raises(KinError, match="File too large"):
            write(path, {**NEW, "large": np.arange(5_000)})

    assert in_child(limited) == 0
    assert snapshot(path) == before
    assert not findings(path)


def test_a_full_disk_is_told_of_the_collection_and_not_of_the_work_folder_in_it(tmp_path: Path) -> None:
    """Updates make scratch collections in the work folder of the collection; nobody can make room in these."""
    path = tmp_path / "a.kin"
    write(path, OLD)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))
        with pytest.raises(DiskFullError) as wrong, KinWriter(path, "test") as writer:
            write(writer.work / "new.kin", {**NEW, "large": np.arange(5_000)})
        assert str(wrong.value).startswith(f"{path} could not be written: a file in {path} may not grow")
        assert ".work" not in str(wrong.value)

    assert in_child(limited) == 0
    assert holds(path, OLD)
    assert not findings(path)


def test_all_files_are_on_the_disk_before_the_manifest_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kin, synced, before = tmp_path / "a.kin", set[int](), set[int]()
    replace = Path.replace

    def noting_replace(path: Path, target: Path) -> Path:
        if Path(target).name == "manifest.json":
            before.update(synced)
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", lambda file: synced.add(os.fstat(file).st_ino))
    monkeypatch.setattr(Path, "replace", noting_replace)
    with KinWriter(kin, "test") as writer:
        for number in range(20):
            writer.put(f"some.array{number}", np.arange(number, dtype=np.uint32))
        writer.commit({})
    files = [kin, kin / "manifest.json", *kin.glob("*.npy")]
    assert len(files) == 22
    assert {file.stat().st_ino for file in files} <= before
