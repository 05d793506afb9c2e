"""What tasks of a build on Spark do, without a cluster."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pagekin.bags import Strategy
from pagekin.engines import BuildRecipe, build_here
from pagekin.engines.spark_tasks import Job, WrongVersionError, plan_files, read_groups
from pagekin.hypertext import ReadPlan
from pagekin.sources import plan as planning
from pagekin.store import Storage
from tests.sources.making import members, some_records

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from spark_speed import ReadingMeter


def run(task: Callable[[Job, Iterator[Any]], Iterator[Any]], job: Job, rows: list[dict[str, Any]]) -> list[Any]:
    """Run a task over rows."""
    return [row for batch in task(job, iter([pa.RecordBatch.from_pylist(rows)])) for row in batch.to_pylist()]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    plan = ReadPlan([], tmp_path / "site.kin", parser="strict")
    out = str(tmp_path / "site.kin")
    return Job(plan, BuildRecipe(Strategy()), 1, out, f"{out}/.resume", 8_000, 0, 1, "1")


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
    first = run(read_groups, job, groups)
    names = Storage(job.folder).names()
    again = run(read_groups, replace(job, number="2"), groups)
    assert first == again
    assert Storage(job.folder).names() == names
    assert len([name for name in names if name.startswith("read/")]) == len(groups) - 1
    assert first[-1]["error"] == groups[-1]["error"]


def test_a_place_that_cannot_be_written_to_is_not_taken_for_a_source_that_cannot_be_read(
    job: Job, rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    groups = run(plan_files, job, rows)
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(Exception, match="cannot be used"):
        run(read_groups, replace(job, folder=str(tmp_path / "file" / "parts")), groups)


def test_workers_with_another_version_are_refused(job: Job, rows: list[dict[str, Any]]) -> None:
    with pytest.raises(WrongVersionError, match=r"the driver has 0\.0\.1"):
        run(plan_files, replace(job, version="0.0.1"), rows)


def test_the_benchmark_finds_the_parts_of_the_local_engine(tmp_path: Path) -> None:
    out = tmp_path / "made.kin"
    meter = ReadingMeter(out, [])
    build_here(ReadPlan(["demo"], out), out, 2, BuildRecipe(Strategy()), lambda stage, _share: meter.look(stage))
    assert meter.parts > 100_000
