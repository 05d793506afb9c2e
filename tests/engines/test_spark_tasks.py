"""What tasks of a build on Spark do, without a cluster."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pagekin.bags import Strategy
from pagekin.engines import BuildRecipe, build_here
from pagekin.engines.corpus_stages import fetch_part
from pagekin.engines.job_folder import JobFolder
from pagekin.engines.spark_tasks import (
    HiddenFolderError,
    Job,
    WrongVersionError,
    announced,
    build_from_parts,
    list_parts,
    plan_files,
    read_groups,
)
from pagekin.hypertext import ReadPlan
from pagekin.sources import plan as planning
from pagekin.store import Storage
from tests.sources.making import members, some_records

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from spark_speed import ReadingMeter, handed_bytes, print_stages


def run(task: Callable[[Job, Iterator[Any]], Iterator[Any]], job: Job, rows: list[dict[str, Any]]) -> list[Any]:
    """Run a task over rows."""
    return [row for batch in task(job, iter([pa.RecordBatch.from_pylist(rows)])) for row in batch.to_pylist()]


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    plan = ReadPlan([], tmp_path / "site.kin", parser="strict")
    out = str(tmp_path / "site.kin")
    made = Job(plan, BuildRecipe(Strategy()), 1, out, f"{out}/.resume", 8_000, 0, 1, "1")
    with announced(made):
        yield made


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """An archive of several units, and a file that is not there."""
    monkeypatch.setattr(planning, "UNIT_BYTES", 3_000)
    (tmp_path / "made.warc.gz").write_bytes(b"".join(members(some_records(12))))
    names = ["made.warc.gz", "none.warc.gz"]
    return [{"place": place, "source": str(tmp_path / name), "units": ""} for place, name in enumerate(names)]


def test_units_are_put_into_groups_that_go_to_tasks_of_their_own(job: Job, rows: list[dict[str, Any]]) -> None:
    *groups, missing = run(plan_files, job, rows)
    assert len(groups) > 2
    assert [group["id"] for group in groups] == list(range(len(groups)))
    assert len({group["spread"] for group in groups}) == len(groups)
    assert missing["error"].endswith("none.warc.gz does not exist.")
    assert missing["id"] > groups[-1]["id"]


def test_a_group_is_read_once_whoever_asks_and_a_record_names_its_parts(job: Job, rows: list[dict[str, Any]]) -> None:
    groups = run(plan_files, job, rows)
    first, later = run(read_groups, job, groups), replace(job, number="2")
    names = Storage(job.folder).names()
    with announced(later):
        again = run(read_groups, later, groups)
    assert first == again
    assert Storage(job.folder).names() == names
    assert len([name for name in names if name.startswith("read/")]) == len(groups) - 1
    assert first[-1]["error"] == groups[-1]["error"]


def test_parts_of_a_million_groups_have_different_names(job: Job, rows: list[dict[str, Any]]) -> None:
    """Parts of all groups lie in one folder, so that with 32 random bits some of 100,000 groups would overwrite others."""
    run(read_groups, job, run(plan_files, job, rows))
    parts = [name for name in Storage(job.folder).names() if name.startswith("parts/")]
    assert all(re.fullmatch(r"parts/[0-9a-f]{32}-[0-9-]+\.tar", name) for name in parts)
    assert len(parts) > 2


def test_a_file_that_was_cut_in_a_wrong_place_is_read_again_and_others_are_not(
    job: Job, rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "none.warc.gz").write_bytes((tmp_path / "made.warc.gz").read_bytes())
    records = [row["record"] for row in run(read_groups, job, run(plan_files, job, rows))]
    right = list_parts(job, records)
    assert (right.sources, len(right.addresses)) == ({"made.warc.gz", "none.warc.gz"}, len(records))
    first = json.loads(records[0])
    first["ends"][-1][0] -= 1  # where its last unit stopped
    listed = list_parts(job, [json.dumps(first), *records[1:]])
    half = len(records) // 2
    assert listed.addresses[1:] == right.addresses[half:]
    assert listed.units == 1 + right.units // 2
    about = json.loads((fetch_part(listed.addresses[0], tmp_path) / "about.json").read_text())
    assert about["pages"] == 12


@pytest.mark.parametrize("task", [plan_files, read_groups, build_from_parts])
def test_a_worker_that_does_not_see_the_folder_of_the_driver_is_refused(
    job: Job, rows: list[dict[str, Any]], task: Callable[[Job, Iterator[Any]], Iterator[Any]], tmp_path: Path
) -> None:
    with pytest.raises(HiddenFolderError, match="all machines see"):
        run(task, replace(job, folder=str(tmp_path / "elsewhere")), rows)
    assert not (tmp_path / "elsewhere").exists()


def test_a_place_that_cannot_be_written_to_is_not_taken_for_a_source_that_cannot_be_read(
    job: Job, rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    groups, parts = run(plan_files, job, rows), Path(job.folder) / "parts"
    parts.write_text("no folder")
    with pytest.raises(Exception, match="cannot be used"):
        run(read_groups, job, groups)


def test_workers_with_another_version_are_refused(job: Job, rows: list[dict[str, Any]]) -> None:
    with pytest.raises(WrongVersionError, match=r"the driver has 0\.0\.1"):
        run(plan_files, replace(job, version="0.0.1"), rows)


def test_the_benchmark_finds_the_parts_of_the_local_engine(tmp_path: Path) -> None:
    out = tmp_path / "made.kin"
    meter = ReadingMeter(out, [])
    build_here(ReadPlan(["demo"], out), out, 2, BuildRecipe(Strategy()), lambda stage, _share: meter.look(stage))
    assert meter.parts > 100_000


def test_the_benchmark_says_what_stages_take_for_a_page_and_for_a_billion(capsys: pytest.CaptureFixture[str]) -> None:
    here = {"reading": 1.0, "keep": 2.0, "clusters": 10.0}
    there = {"reading": 1.5, "compare": 0.5, "keep": 4.0, "clusters": 10.0}
    print_stages(here, there, {"reading": 8_000, "keep": 1_000}, {"keep": 5_000}, 1_000)
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in capsys.readouterr().out.splitlines()]
    assert {len(row) for row in rows} == {9}
    assert {row[0]: row[1:] for row in rows[2:]} == {
        "reading": ["1.00", "1.50", "1,000", "667", "8", "0", "278", "417"],
        "compare": ["0.00", "0.50", "", "2,000", "0", "0", "0", "139"],
        "keep": ["2.00", "4.00", "500", "250", "1", "5", "556", "1,111"],
        "clusters": ["10.00", "10.00", "100", "100", "0", "0", "2,778", "2,778"],
        "all": ["13.00", "16.00", "77", "62", "9", "5", "3,611", "4,444"],
        "all but those of the sample": ["3.00", "6.00", "333", "167", "9", "5", "833", "1,667"],
    }


def test_the_benchmark_adds_up_what_the_tasks_of_a_stage_hand_on(tmp_path: Path) -> None:
    for stages, number in ((["keep"], 0), (["keep"], 1), (["judge.0", "judged"], 0), (["judge.1", "judged"], 1)):
        costs = {"sent": 10.0 + number, "kept": 3.0}
        JobFolder(str(tmp_path)).write(stages, number, {}, {}, None, costs, tmp_path)
    assert handed_bytes(tmp_path, "sent") == {"keep": 21.0, "judge": 21.0}
    assert handed_bytes(tmp_path, "kept") == {"keep": 6.0, "judge": 6.0}
