"""A reading that was stopped goes on: the same bytes as without the stop, and nothing is read twice."""

import gzip
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pagekin.hypertext import DamagedInputError, ReadPlan, ReadReport, part, read_sources
from pagekin.hypertext import read as reading
from pagekin.sources import Limits, Unit, plan_units
from pagekin.sources import plan as planning
from pagekin.store import DiskFullError, KinError, KinWriter, Progress, check_files, no_progress, open_kin
from tests.sources.making import html, http, members, some_records, warc
from tests.store.kins import in_child, kill_at


def files_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.name != ".lock"}


def read_noting(plan: ReadPlan, progress: Progress = no_progress) -> tuple[ReadReport, list[str]]:
    """Read, and return the report and what was noted for people."""
    notes: list[str] = []
    return read_sources(plan, progress, notes.append), notes


def killing(when: Callable[[str, float], bool]) -> Progress:
    """Return a progress that kills this process as kill -9 does."""

    def tell(stage: str, share: float) -> None:
        if when(stage, share):
            os.kill(os.getpid(), signal.SIGKILL)

    return tell


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReadPlan:
    """A plan of fourteen units of two or three pages each, whose parts hold two pages."""
    monkeypatch.setattr(planning, "UNIT_BYTES", 5_000)
    monkeypatch.setattr(part, "_BATCH_BYTES", 1_000)
    monkeypatch.setattr(reading, "PART_TOKENS", 5)
    sources = []
    for name in "ab":
        records = [
            warc(f"http://{name}.test/{i}", http(html(i) + b"<a href=/%d>next</a>" % (i + 1))) for i in range(20)
        ]
        (tmp_path / f"{name}.warc.gz").write_bytes(b"".join(members(records)))
        sources.append(str(tmp_path / f"{name}.warc.gz"))
    assert len(plan_units(sources, {})) == 14
    return ReadPlan(sources, tmp_path / "site.kin", parser="strict")


@pytest.fixture
def undisturbed(plan: ReadPlan, tmp_path: Path) -> dict[str, bytes]:
    """The files of the collection that the plan gives."""
    read_sources(replace(plan, out=tmp_path / "undisturbed.kin"))
    return files_of(tmp_path / "undisturbed.kin")


@pytest.fixture
def units_read(monkeypatch: pytest.MonkeyPatch) -> list[Unit]:
    """The units that were read in this process."""
    units: list[Unit] = []
    read_unit = reading.read_unit

    def count(unit: Unit, limits: Limits) -> object:
        units.append(unit)
        return read_unit(unit, limits)

    monkeypatch.setattr(reading, "read_unit", count)
    return units


def stop_half_way(plan: ReadPlan) -> None:
    """Kill a reading in the middle."""
    assert in_child(lambda: read_noting(plan, killing(lambda _stage, share: share >= 0.5))) == -signal.SIGKILL


# -- kill -9 -------------------------------------------------------------------------------------------------------------


def test_a_killed_reading_goes_on_with_what_is_missing(
    plan: ReadPlan, undisturbed: dict[str, bytes], units_read: list[Unit]
) -> None:
    stop_half_way(plan)
    units_read.clear()
    report, notes = read_noting(plan)
    assert notes == [f"continuing: {report.units_before} of 14 pieces were already read"]
    assert 4 <= report.units_before <= 8
    assert len(units_read) == 14 - report.units_before
    assert files_of(plan.out) == undisturbed
    assert list(check_files(plan.out)) == []


def test_killed_at_any_step_and_again_it_comes_to_the_same_end(plan: ReadPlan, undisturbed: dict[str, bytes]) -> None:
    most = 0
    for step in range(0, 1_000, 131):

        def killed(step: int = step) -> None:
            kill_at(step)
            read_sources(plan)

        first = in_child(killed)
        in_child(killed)
        report, notes = read_noting(plan)
        assert files_of(plan.out) == undisturbed, f"step {step}"
        assert notes or not report.units_before
        most = max(most, report.units_before)
        shutil.rmtree(plan.out)
        if first == 0:
            break
    assert step > 100
    assert most == 14


def test_pages_are_not_read_again_if_a_later_stage_was_killed(
    plan: ReadPlan, undisturbed: dict[str, bytes], units_read: list[Unit]
) -> None:
    for share in (0.0, 1.0):
        killed = killing(lambda stage, now, share=share: stage == "merging" and now >= share)  # type: ignore[misc]
        assert in_child(lambda killed=killed: read_noting(plan, killed)) == -signal.SIGKILL  # type: ignore[misc]
    units_read.clear()
    report, notes = read_noting(plan)
    assert notes == ["continuing: 14 of 14 pieces were already read"]
    assert (report.units_before, units_read) == (14, [])
    assert files_of(plan.out) == undisturbed


def test_a_unit_that_was_read_in_part_is_read_from_there(
    plan: ReadPlan, undisturbed: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "UNIT_BYTES", 6 << 20)  # one unit for each file

    def killed() -> None:
        kill_at(100)
        read_sources(plan)

    assert in_child(killed) == -signal.SIGKILL
    before = [path.name for path in (plan.out / ".resume").iterdir() if path.is_dir()]
    _report, notes = read_noting(plan)
    assert notes == ["continuing: 0 of 2 pieces were already read"]
    assert len(before) > 3
    assert files_of(plan.out) == undisturbed


def test_files_that_are_read_in_one_piece_stay_so(plan: ReadPlan, units_read: list[Unit], tmp_path: Path) -> None:
    inner = b"".join(members(some_records(3)))
    http_head = "Content-Type: application/gzip"
    first, last = members([warc(f"http://c.test/{i}", http(html(i))) for i in range(2)])
    # Stored, not compressed: the inner archive's records stand in the outer file as they are.
    packed = gzip.compress(warc("http://c.test/x.warc.gz", http(inner * 5, http_head)), compresslevel=0)
    source = tmp_path / "c.warc.gz"
    source.write_bytes(first + packed + last)
    once = replace(plan, sources=[str(source)])
    assert len(plan_units(once.sources, {})) > 1
    read_sources(replace(once, out=tmp_path / "undisturbed.kin"))
    killed = killing(lambda stage, _share: stage == "merging")
    assert in_child(lambda: read_noting(once, killed)) == -signal.SIGKILL
    units_read.clear()
    _report, notes = read_noting(once)
    assert notes == ["continuing: 1 of 1 pieces were already read"]
    assert units_read == []
    assert files_of(once.out) == files_of(tmp_path / "undisturbed.kin")


# -- Ctrl-C, and errors --------------------------------------------------------------------------------------------------


def interrupt(_stage: str, share: float) -> None:
    if share >= 0.5:
        raise KeyboardInterrupt


def test_after_ctrl_c_it_goes_on_and_the_old_collection_is_as_it_was(
    plan: ReadPlan, undisturbed: dict[str, bytes]
) -> None:
    read_sources(replace(plan, limits=Limits(tokens=100)))
    before = files_of(plan.out)
    with pytest.raises(KeyboardInterrupt):
        read_sources(plan, interrupt)
    kept = plan.out / ".resume"
    assert {name: data for name, data in files_of_whole(plan.out).items() if name in before} == before
    journal = [json.loads(line) for line in (kept / "journal").read_text().splitlines()]
    assert {path.name for path in kept.iterdir()} == {"journal"} | {line["part"] for line in journal if "part" in line}
    assert [finding.leftover for finding in check_files(plan.out)] == [True]
    # Writers that make another part of the collection leave it alone.
    with KinWriter(plan.out, "test") as writer:
        writer.commit(open_kin(plan.out).facts, open_kin(plan.out).manifest["files"])
    report, _notes = read_noting(plan)
    assert report.units_before >= 4
    assert files_of(plan.out) == undisturbed


def files_of_whole(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def test_readings_that_are_refused_leave_what_was_kept(
    plan: ReadPlan, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    (tmp_path / "old.warc.gz").write_bytes(b"".join(members(some_records(2))))
    read_sources(replace(plan, sources=[str(tmp_path / "old.warc.gz")]))
    with pytest.raises(KeyboardInterrupt):
        read_sources(replace(plan, replace=True), interrupt)
    kept = {path: path.read_bytes() for path in (plan.out / ".resume").rglob("*") if path.is_file()}
    with pytest.raises(KinError, match=r"holds a collection of other sources: old\.warc\.gz"):
        read_sources(plan)
    with KinWriter(plan.out, "the first"), pytest.raises(KinError, match="is being written by"):
        read_sources(replace(plan, replace=True, limits=Limits(tokens=100)))
    assert {path: path.read_bytes() for path in (plan.out / ".resume").rglob("*") if path.is_file()} == kept
    report, _notes = read_noting(replace(plan, replace=True))
    assert report.units_before >= 4
    assert files_of(plan.out) == undisturbed


def test_a_first_reading_that_kept_nothing_leaves_no_folder(plan: ReadPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt):
        read_sources(plan, interrupt)
    assert plan.out.exists()
    # Other settings: what was kept is thrown away, and the first unit has no part yet.
    monkeypatch.setattr(reading, "PART_TOKENS", 1 << 20)
    with pytest.raises(KeyboardInterrupt):
        read_sources(replace(plan, limits=Limits(tokens=100)), interrupt)
    assert not plan.out.exists()


def test_input_that_is_refused_leaves_nothing_to_go_on_from(plan: ReadPlan) -> None:
    source = Path(plan.sources[0])
    source.write_bytes(source.read_bytes()[:-100])
    with pytest.raises(DamagedInputError):
        read_sources(replace(plan, strict=True))
    assert not plan.out.exists()


def test_a_full_disk_keeps_what_was_read(plan: ReadPlan, tmp_path: Path, units_read: list[Unit]) -> None:
    # Text that does not get smaller by compression: its part is too large.
    large = warc("http://z.test/", http(html(1, 400_000)))
    (tmp_path / "z.warc.gz").write_bytes(b"".join(members([large])))
    more = replace(plan, sources=[*plan.sources, str(tmp_path / "z.warc.gz")], limits=Limits(word_bytes=250))

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        with pytest.raises(DiskFullError, match=r"run the command again\. It continues from what was read"):
            read_sources(more)

    assert in_child(limited) == 0
    report, _notes = read_noting(more)
    assert report.units_before == 14
    assert len(units_read) == 1
    read_sources(replace(more, out=tmp_path / "undisturbed.kin"))
    assert files_of(more.out) == files_of(tmp_path / "undisturbed.kin")


# -- what does not match -------------------------------------------------------------------------------------------------


def touch(plan: ReadPlan) -> ReadPlan:
    os.utime(plan.sources[0], ns=(1, 1))
    return plan


def grow(plan: ReadPlan) -> ReadPlan:
    with Path(plan.sources[1]).open("ab") as file:
        file.write(b"".join(members([warc("http://b.test/new", http(b"<p>new"))])))
    return plan


@pytest.mark.parametrize(
    "change",
    [
        lambda plan: replace(plan, limits=Limits(tokens=100)),
        lambda plan: replace(plan, parser="fast"),
        lambda plan: replace(plan, exclude=("*/7",)),
        lambda plan: replace(plan, content=("main",)),
        lambda plan: replace(plan, sources=plan.sources[:1]),
        touch,
        grow,
    ],
    ids=["limits", "parser", "exclude", "content", "sources", "time", "size"],
)
def test_other_settings_or_sources_begin_anew(
    plan: ReadPlan, change: Callable[[ReadPlan], ReadPlan], units_read: list[Unit], tmp_path: Path
) -> None:
    stop_half_way(plan)
    other = change(plan)
    report, notes = read_noting(other)
    assert (notes, report.units_before) == ([], 0)
    assert len(units_read) == report.units
    read_sources(replace(other, out=tmp_path / "undisturbed.kin"))
    assert files_of(other.out) == files_of(tmp_path / "undisturbed.kin")


def garble_journal(kept: Path) -> None:
    lines = (kept / "journal").read_bytes().splitlines(keepends=True)
    (kept / "journal").write_bytes(b"".join([*lines[:3], b"\0" * 40 + b"\n", *lines[3:]]))


def cut_part(kept: Path) -> None:
    blobs = min(kept.glob("*/blobs"))
    os.truncate(blobs, blobs.stat().st_size - 1)


def change_part(kept: Path) -> None:
    blobs = min(kept.glob("*/blobs"))
    data = bytearray(blobs.read_bytes())
    data[len(data) // 2] ^= 1
    blobs.write_bytes(data)


def lose_part(kept: Path) -> None:
    shutil.rmtree(min(path for path in kept.iterdir() if path.is_dir()))


def lead_elsewhere(kept: Path) -> None:
    text = (kept / "journal").read_text()
    first = min(path for path in kept.iterdir() if path.is_dir())
    shutil.copytree(first, kept.parent.parent / "elsewhere-0")
    (kept / "journal").write_text(text.replace(first.name, "../../elsewhere-0"))


@pytest.mark.parametrize(
    "harm", [garble_journal, cut_part, change_part, lose_part, lead_elsewhere, lambda kept: shutil.rmtree(kept)]
)
def test_a_damaged_journal_is_thrown_away_with_its_parts(
    plan: ReadPlan, harm: Callable[[Path], None], undisturbed: dict[str, bytes], units_read: list[Unit]
) -> None:
    stop_half_way(plan)
    harm(plan.out / ".resume")
    units_read.clear()
    _report, notes = read_noting(plan)
    assert notes == []
    assert len(units_read) == 14
    assert files_of(plan.out) == undisturbed


def test_the_last_line_of_a_journal_may_be_cut(plan: ReadPlan, undisturbed: dict[str, bytes]) -> None:
    stop_half_way(plan)
    journal = plan.out / ".resume" / "journal"
    journal.write_bytes(journal.read_bytes()[:-3])
    stop_half_way(plan)
    report, _notes = read_noting(plan)
    assert report.units_before >= 3
    assert files_of(plan.out) == undisturbed


# -- in processes, by the command ----------------------------------------------------------------------------------------

HEARS_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
"""What the shell lets run in the background does not, and neither would its children."""
COMMAND = [sys.executable, "-c", f"{HEARS_CTRL_C}; from pagekin.cli import main; main()"]


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_the_command_goes_on_after_kill_9_and_ctrl_c(stop: signal.Signals, tmp_path: Path) -> None:
    words = " ".join(f"word{i % 50_000}" for i in range(200_000))  # so large that each page has a part of its own
    for number in range(4):
        page = warc(f"http://{number}.test/", http(f"<p>{number} {words}".encode()))
        (tmp_path / f"{number:02}.warc.gz").write_bytes(b"".join(members([page])))
    sources = sorted(map(str, tmp_path.glob("*.warc.gz")))
    out = tmp_path / "site.kin"
    command = [*COMMAND, "read", *sources, "--workers", "2", "--out", str(out)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        journal, deadline = out / ".resume" / "journal", time.monotonic() + 120
        while not (journal.exists() and b'"part"' in journal.read_bytes()) and time.monotonic() < deadline:
            time.sleep(0.002)
        process.send_signal(stop)
        _out, said = process.communicate()
    assert process.returncode == (-signal.SIGKILL if stop == signal.SIGKILL else 130)
    assert stop == signal.SIGKILL or "what was read is kept. Run the same command again to continue" in said
    assert not (out / "manifest.json").exists()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    before, of = (int(word) for word in done.stderr.split() if word.isdigit())
    assert "continuing: " in done.stderr
    assert (before > 0, of) == (True, 4)
    read_sources(ReadPlan(sources, tmp_path / "undisturbed.kin", workers=2))
    assert files_of(out) == files_of(tmp_path / "undisturbed.kin")
