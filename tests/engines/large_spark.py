"""Larger builds on a Spark cluster, beside the local engine: `make test-spark`.

Speculation is on, processes that run tasks are killed twice, and sources and target lie in an object store.
"""

import os
import signal
import sys
import tarfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pagekin.bags import Strategy
from pagekin.clusters import ClusterSettings
from pagekin.engines import BuildRecipe, ClusterPlan, build_here, build_on_spark
from pagekin.hypertext import ReadPlan
from pagekin.store import Progress, Storage, fetch

from .collections import files_of
from .spark_cluster import SparkCluster, require_java

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from meter import processes
from web_generator import MadeWeb, WebFigures

SPECULATION = {
    "spark.speculation": "true", "spark.speculation.interval": "100ms", "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.3", "spark.speculation.minTaskRuntime": "1s",
}  # fmt: skip
PAGES = int(os.environ.get("PAGEKIN_SPARK_PAGES", "60000"))
"""Pages of the made-up web; fewer for a quick look."""


@pytest.fixture(scope="module")
def cluster(bucket: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    require_java()
    with SparkCluster(tmp_path_factory.mktemp("spark"), SPECULATION) as running:
        yield running


def kill_tasks(cluster: SparkCluster) -> int:
    """Kill the processes in which tasks of the workers run; return how many there were."""
    killed = 0
    for worker in cluster.worker_processes():
        for process in processes(worker):
            with suppress(OSError):
                if b"pyspark.daemon" in Path(f"/proc/{process}/cmdline").read_bytes():
                    os.kill(process, signal.SIGKILL)
                    killed += 1
    return killed


def killing_twice(cluster: SparkCluster) -> tuple[Progress, list[int]]:
    """Return a progress that kills the processes of tasks while they read, twice, and how many it killed each time."""
    killed: list[int] = []

    def tell(stage: str, share: float) -> None:
        if stage == "reading" and len(killed) < 2 and share > 0:
            killed.append(kill_tasks(cluster))

    return tell, killed


def test_the_school_encyclopaedia(cluster: SparkCluster, data: Path, tmp_path: Path) -> None:
    with tarfile.open(data / "schoolwiki2007.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    (site,) = tmp_path.rglob("site")
    plan = ReadPlan([str(site)], tmp_path / "here.kin", base_url="http://schools.example/")
    tell, killed = killing_twice(cluster)
    build_on_spark(
        plan, ClusterPlan(tmp_path / "there.kin", 4), BuildRecipe(Strategy(), ClusterSettings(), text=True), tell
    )
    assert len(killed) == 2
    build_here(plan, tmp_path / "here.kin", 4, BuildRecipe(Strategy(), ClusterSettings(), text=True))
    assert files_of(tmp_path / "there.kin") == files_of(tmp_path / "here.kin")


def test_a_large_made_up_web_from_store_to_store(cluster: SparkCluster, bucket: str, tmp_path: Path) -> None:
    """A few of its pages get most of the links, and its largest host has many times the pages of others."""
    archive = tmp_path / "web.warc"
    with archive.open("wb") as file:
        file.writelines(MadeWeb(3 * PAGES, WebFigures(popular=0.9)).records())
    Storage(bucket).upload(archive, "large/web.warc")
    plan = ReadPlan([f"{bucket}/large/web.warc"], tmp_path / "here.kin")
    out = f"{bucket}/large/web.kin"
    tell, killed = killing_twice(cluster)
    build_on_spark(plan, ClusterPlan(out, 3), BuildRecipe(Strategy(), ClusterSettings(), text=True), tell)
    assert len(killed) == 2
    fetch(out, tmp_path / "there.kin")
    plan = ReadPlan([str(archive)], tmp_path / "here.kin")
    build_here(plan, tmp_path / "here.kin", 3, BuildRecipe(Strategy(), ClusterSettings(), text=True))
    assert files_of(tmp_path / "there.kin") == files_of(tmp_path / "here.kin")
