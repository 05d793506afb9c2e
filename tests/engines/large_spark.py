"""Larger builds on a Spark cluster, beside the local engine: `make test-spark`.

Speculation is on, a task fails twice because its process is killed, and sources and target of the made-up web lie in an
object store. Spark's own log of events shows that the same task failed twice.
"""

import json
import os
import signal
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from pagekin.bags import Strategy
from pagekin.clusters import ClusterSettings
from pagekin.engines import BuildRecipe, ClusterPlan, build_here, build_on_spark
from pagekin.hypertext import ReadPlan
from pagekin.store import Progress, Storage, fetch, open_kin

from .collections import files_of
from .spark_cluster import SparkCluster, require_java

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from meter import processes
from shard_skew import skewed_figures
from web_generator import MadeWeb

SPECULATION = {
    "spark.speculation": "true", "spark.speculation.interval": "100ms", "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.3", "spark.speculation.minTaskRuntime": "1s",
    "spark.task.maxFailures": "12",  # two attempts of a task may run, and all are killed
}  # fmt: skip
LOGGING = {
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
}
KILLS, BETWEEN_LOOKS = 6, 0.05
"""How often processes of tasks are killed, and how many seconds apart such are looked for."""
PAGES = int(os.environ.get("PAGEKIN_SPARK_PAGES", "60000"))
"""Pages of the made-up web; fewer for a quick look."""
DOCUMENTATION = os.environ.get("PAGEKIN_DOCS", "")
"""The archive `docs-60k.warc.gz` that benchmarks/doc_collections.py makes, or a smaller one of them."""


@pytest.fixture(scope="module")
def cluster(bucket: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    require_java()
    folder = tmp_path_factory.mktemp("spark")
    (folder / "events").mkdir()
    settings = {**SPECULATION, **LOGGING, "spark.eventLog.dir": (folder / "events").as_uri()}
    with SparkCluster(folder, settings) as running:
        yield running
    print(f"attempts by speculation: {sum(event['Task Info']['Speculative'] for event in ended_attempts(folder))}")


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


def ended_attempts(folder: Path) -> list[dict[str, Any]]:
    """Return what Spark noted when attempts of tasks ended, below the folder of a cluster."""
    whole = (
        log.read_text().rpartition("\n")[0] for log in (folder / "events").iterdir()
    )  # Spark may be writing a line
    lines = chain.from_iterable(text.splitlines() for text in whole)
    events: Iterator[dict[str, Any]] = (json.loads(line) for line in lines if "SparkListenerTaskEnd" in line)
    return [event for event in events if event["Event"] == "SparkListenerTaskEnd"]


def most_failures(cluster: SparkCluster, since: int) -> int:
    """Return how often the task failed that failed most, of the attempts that ended since there were so many."""
    failed = (event for event in ended_attempts(cluster.folder)[since:] if event["Task Info"]["Failed"])
    return max(Counter((event["Stage ID"], event["Task Info"]["Index"]) for event in failed).values(), default=0)


@contextmanager
def failing_twice(cluster: SparkCluster, at: str) -> Iterator[Progress]:
    """Yield a progress that lets the last tasks of a stage fail again and again; one must have failed twice in the end.

    As long as there are others, a failed task may wait for its second attempt until no more processes are killed. Progress is
    told when tasks end, and so not between two failures: a thread kills.
    """
    reached, over = Event(), Event()
    before = len(ended_attempts(cluster.folder))

    def kill_last_tasks() -> None:
        reached.wait()
        killed = 0
        while killed < KILLS and not over.is_set():
            killed += kill_tasks(cluster) > 0
            over.wait(BETWEEN_LOOKS)

    def tell(stage: str, share: float) -> None:
        if stage == at and share >= 0.6:
            reached.set()
        elif reached.is_set():
            over.set()

    killer = Thread(target=kill_last_tasks)
    killer.start()
    try:
        yield tell
    finally:
        over.set()
        reached.set()
        killer.join()
    assert most_failures(cluster, before) >= 2


def sampled_pages(collection: Path) -> list[int]:
    """Return how many pages each tree of a collection was made of, where that is a sample."""
    return [tree["sampled"] for tree in open_kin(collection).facts["trees"] if "sampled" in tree]


def test_the_school_encyclopaedia(cluster: SparkCluster, data: Path, tmp_path: Path) -> None:
    with tarfile.open(data / "schoolwiki2007.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    (site,) = tmp_path.rglob("site")
    plan = ReadPlan([str(site)], tmp_path / "here.kin", base_url="http://schools.example/")
    with failing_twice(cluster, "reading") as tell:
        build_on_spark(
            plan, ClusterPlan(tmp_path / "there.kin", 4), BuildRecipe(Strategy(), ClusterSettings(), text=True), tell
        )
    build_here(plan, tmp_path / "here.kin", 4, BuildRecipe(Strategy(), ClusterSettings(), text=True))
    assert files_of(tmp_path / "there.kin") == files_of(tmp_path / "here.kin")


def test_documentation_pages_with_clusters_of_a_sample(cluster: SparkCluster, tmp_path: Path) -> None:
    if not DOCUMENTATION:
        pytest.skip("no documentation pages: PAGEKIN_DOCS names no archive of benchmarks/doc_collections.py")
    recipe = BuildRecipe(Strategy(), ClusterSettings(sample=5_000), text=True)
    plan, there, here = ReadPlan([DOCUMENTATION], tmp_path / "here.kin"), tmp_path / "there.kin", tmp_path / "here.kin"
    with failing_twice(cluster, "finish") as tell:
        build_on_spark(plan, ClusterPlan(there, 4), recipe, tell)
    build_here(plan, here, 4, recipe)
    assert files_of(there) == files_of(here)
    assert sampled_pages(there) == [5_000]


def test_a_skewed_web_from_store_to_store(cluster: SparkCluster, bucket: str, tmp_path: Path) -> None:
    """One host has half of all pages, one address many times the links of others, and clusters are made of a sample."""
    archive, out, there, here = (
        tmp_path / "web.warc",
        f"{bucket}/large/web.kin",
        tmp_path / "there.kin",
        tmp_path / "here.kin",
    )
    with archive.open("wb") as file:
        file.writelines(MadeWeb(3 * PAGES, skewed_figures(PAGES, 5 * PAGES)).records())
    Storage(bucket).upload(archive, "large/web.warc")
    recipe = BuildRecipe(Strategy(), ClusterSettings(sample=PAGES // 6), text=True)
    spread = ClusterPlan(out, 3, task_bytes=8 << 20)
    with failing_twice(cluster, "finish") as tell:
        build_on_spark(ReadPlan([f"{bucket}/large/web.warc"], here), spread, recipe, tell)
    fetch(out, there)
    build_here(ReadPlan([str(archive)], here), here, 3, recipe)
    assert files_of(there) == files_of(here)
    assert sampled_pages(there) == [PAGES // 6]
