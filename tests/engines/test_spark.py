"""Builds on a Spark cluster give the bytes of builds on one machine: whatever fails on the way, wherever the files lie."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pagekin.bags import Strategy
from pagekin.cli.app import app, load_verbs
from pagekin.clusters import ClusterSettings
from pagekin.engines import BuildRecipe, BuildReport, ClusterPlan, build_here, build_on_spark
from pagekin.engines.spark import UnreadFilesError
from pagekin.hypertext import ReadPlan
from pagekin.store import Storage, open_kin
from tests.sources.making import html, http, members, warc

from .collections import files_of
from .spark_cluster import SparkCluster

SMALL = 1 << 20
"""Bytes of a task, so that small archives have several."""


def run(*arguments: str | Path) -> str:
    """Run the command in this process, which has a session."""
    load_verbs()
    done = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def build(plan: ReadPlan, out: Path | str, shards: int) -> None:
    """Build on this machine."""
    build_here(plan, out, shards, BuildRecipe(Strategy(), ClusterSettings(), text=True))


def build_there(plan: ReadPlan, cluster: ClusterPlan, **options: Any) -> BuildReport:
    """Build on the cluster."""
    return build_on_spark(plan, cluster, BuildRecipe(Strategy(), ClusterSettings(), text=True), **options)


@pytest.fixture
def archives(tmp_path: Path) -> list[Path]:
    """Three archives whose pages link to each other; one of them ends in the middle of a record."""
    paths = []
    for name in "abc":
        records = [
            warc(f"http://{name}.test/{i}", http(html(i, 300) + b"<a href=http://b.test/%d>stone %d</a> granite mica" % (i, i)))
            for i in range(12)
        ]  # fmt: skip
        packed = b"".join(members(records))
        paths.append(tmp_path / f"{name}.warc.gz")
        paths[-1].write_bytes(packed[:-200] if name == "b" else packed)
    return paths


def test_the_demo_web_with_clusters_of_a_sample_by_the_command(cluster: SparkCluster, tmp_path: Path) -> None:
    """One task clusters the sample, and every shard puts its own pages to the nearest clusters."""
    there, here = tmp_path / "there.kin", tmp_path / "here.kin"
    build = ("build", "demo", "--shards", "3", "--cluster-set", "sample=300")
    said = run(*build, "--engine", "spark", "--master", cluster.master, "--out", there, "--json")
    assert json.loads(said)["pages"] == 968
    run(*build, "--out", here)
    assert [tree["sampled"] for tree in open_kin(there).facts["trees"] if "sampled" in tree] == [300]
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    assert session is not None
    assert session.conf.get("spark.sql.adaptive.enabled") == "true"  # as it was
    assert files_of(there) == files_of(here)


def test_webkb_with_workers_that_are_killed_while_they_read_and_while_they_make_bags(
    cluster: SparkCluster, data: Path, tmp_path: Path
) -> None:
    """Without clusters, which the other tests make: with them, this test would take twice as long."""
    there, here = tmp_path / "there.kin", tmp_path / "here.kin"
    plan, recipe = ReadPlan([str(data / "webkb" / "webkb.warc.gz")], here), BuildRecipe(Strategy(), text=True)
    kill, killed = cluster.kill_workers_at("reading", "bags")
    build_on_spark(plan, ClusterPlan(there, 4, task_bytes=SMALL), recipe, progress=kill)
    assert killed == ["reading", "bags"]
    build_here(plan, here, 4, recipe)
    assert files_of(there) == files_of(here)


def test_a_file_that_cannot_be_read_fails_the_job_or_is_named_and_what_was_read_is_kept(
    cluster: SparkCluster, archives: list[Path], tmp_path: Path
) -> None:
    there, here = tmp_path / "made.kin", tmp_path / "here" / "made.kin"  # the label has this name
    missing = tmp_path / "missing.warc.gz"
    plan = ReadPlan([*map(str, archives), str(missing)], there)
    with pytest.raises(UnreadFilesError, match=r"1 of 4 files .*\n.*missing\.warc\.gz does not exist"):
        build_there(plan, ClusterPlan(there))
    assert len(Storage(str(there / ".resume" / "parts")).names()) == 3
    build(replace(plan, sources=list(map(str, archives))), here, 1)
    # Whoever reads this file again sees other pages, though by size and time it is the same.
    status = archives[0].stat()
    archives[0].write_bytes(bytes(status.st_size))
    os.utime(archives[0], ns=(status.st_atime_ns, status.st_mtime_ns))
    notes: list[str] = []
    report = build_there(plan, ClusterPlan(there, max_failed_files=1), note=notes.append)
    assert notes == [f"left out: {missing} does not exist."]
    assert list(report.failed_files) == [str(missing)]
    assert files_of(there) == files_of(here)
    assert open_kin(there).facts["damaged"] == 1
