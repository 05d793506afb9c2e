"""Build on a Spark cluster, with the same bytes as on one machine.

Three stages run as one Spark job: files are cut into units, groups of units are read into parts, and one task makes the
collection of all parts. If it is to be in shards, that task only lists the parts, and all that follows is a Spark job for each
stage, with a task for each shard. The driver plans, watches and puts the manifest in its place; no page and no part passes
through it.
"""

import contextlib
import json
import os
import secrets
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pagekin import __version__
from pagekin.engines import spark_tasks
from pagekin.engines.local import BuildRecipe, BuildReport, Stages, check_strategy
from pagekin.engines.shard_plan import CORPUS_STAGES, run_stages
from pagekin.engines.shard_stages import ShardWork
from pagekin.engines.spark_tasks import BUILT, FILES, GROUPS, READS, Job, pack_units
from pagekin.engines.targets import prepare_target
from pagekin.errors import PagekinError
from pagekin.hypertext import Note, ReadPlan, ReadReport, no_note
from pagekin.sources import SourceError, Unit, expand_lists, plan_units
from pagekin.store import Progress, is_remote, no_progress, parse_manifest

STAGES = ("starting", "planning", "reading", "building")
_LOOK_EVERY = 0.5
"""Seconds between two looks at how far Spark is."""
_LINES = 3
"""Lines of an error of Spark that are shown."""


class SparkError(PagekinError):
    """A failed cluster job; the message says why, `detail` holds the whole output of Spark."""

    fault = "ours"

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


class UnreadFilesError(SourceError):
    """More unreadable files than allowed; what was read of the others is kept."""

    may_pass = True


@dataclass(frozen=True)
class ClusterPlan:
    """Where and how a cluster builds."""

    out: Path | str
    """The collection: a folder that all workers see under this path, or an address in an object store."""
    shards: int = 1
    master: str = ""
    """The address of the cluster; where it is empty, what spark-submit says."""
    max_failed_files: int = 0
    """How many files may be left out because they cannot be read."""
    task_bytes: int = 48 << 20
    """Bytes of an archive that one task reads."""


def build_on_spark(
    plan: ReadPlan,
    cluster: ClusterPlan,
    recipe: BuildRecipe,
    progress: Progress = no_progress,
    note: Note = no_note,
) -> BuildReport:
    """Build a collection on a cluster in one commit, with the bytes of `build_shards` or `build_collection`.

    A job that failed or was stopped leaves the parts that were read, and the same call goes on from them.
    """
    check_strategy(recipe.strategy)
    files = _list_files(plan)
    units = [Unit("", source) for _place, source, _units in files]
    stages = Stages(progress)
    with _session(cluster.master) as session, prepare_target(cluster.out, plan.replace, units) as target:
        attempts = int(session.conf.get("spark.task.maxFailures", "4"))
        if session.sparkContext.master.startswith("local"):
            attempts = 1
        job = Job(
            replace(plan, out=Path("made.kin"), sources=[], base_urls={}, base_url=""), recipe, cluster.shards,
            target.out, target.folder, cluster.task_bytes, cluster.max_failed_files, attempts,
            number=secrets.token_hex(8),
        )  # fmt: skip
        # Stages keep the tasks that they are given: one for each group, and one for all that follows.
        with _setting(session, "spark.sql.adaptive.enabled", "false"), spark_tasks.announced(job):
            result = _run(session, job, files, stages.tell)
        if "error" in result:
            raise (UnreadFilesError if result["unread"] else SourceError)(result["error"])
        manifest = bytes(result["manifest"].encode("utf-8", "surrogatepass"))
        target.commit(manifest)
    facts = parse_manifest(manifest, target.out)["facts"]
    for error in result["failed"].values():
        note(f"left out: {error}")
    took = stages.seconds
    starting, reading = took.get("starting", 0.0) + took.get("planning", 0.0), took.get("reading", 0.0)
    read = ReadReport(facts, result["units"], start_up=starting, reading=reading, merging=result["merging"])
    return BuildReport(facts, read, result["seconds"], result["bytes_on_disk"], failed_files=result["failed"])


def _list_files(plan: ReadPlan) -> list[tuple[int, str, str]]:
    """Return rows of `FILES`: archives, which tasks split, and the planned units of folders and the demo web."""
    archives: list[str] = []
    folders: list[str] = []
    for source in expand_lists(plan.sources):
        is_archive = is_remote(source) or (Path(source).suffix and not Path(source).is_dir())
        (archives if is_archive else folders).append(source)
    others = plan_units(folders, plan.base_urls, plan.base_url)
    rows = [(source if is_remote(source) else str(Path(source).absolute()), "") for source in archives]
    for unit in others:
        here = unit if unit.kind == "demo" else replace(unit, path=str(Path(unit.path).absolute()))
        rows.append((here.path, pack_units([here])))
    return [(place, *row) for place, row in enumerate(rows)]


@contextlib.contextmanager
def _session(master: str) -> Iterator[Any]:
    """Yield the running session, or start one and stop it afterwards."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise SparkError("--engine spark needs pyspark: pip install 'pyspark>=4.1,<5' 'pandas<3' pyarrow") from None
    from py4j.protocol import Py4JError

    # Workers run the same Python unless something else is said: a packed environment has a path of its own there.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    running = SparkSession.getActiveSession()
    builder = SparkSession.builder.appName("pagekin build").config("spark.ui.showConsoleProgress", "false")
    if master:
        builder = builder.master(master)
    try:
        session = running or builder.getOrCreate()
    except (PySparkException, Py4JError, OSError) as error:
        raise SparkError(
            f"Spark did not start: {_short(error)} It needs Java 17 or newer, and a cluster that answers"
            f"{f' at {master}' if master else ''}.",
            str(error),
        ) from error
    try:
        yield session
    except (PySparkException, Py4JError) as error:
        raise SparkError(
            f"The Spark job failed: {_short(error)} What was read is kept; run the same command again to continue.",
            str(error),
        ) from error
    finally:
        if not running:
            session.stop()


@contextlib.contextmanager
def _setting(session: Any, name: str, value: str) -> Iterator[None]:
    """Change a setting for a while: the session may be one that goes on afterwards."""
    before = session.conf.get(name)
    session.conf.set(name, value)
    try:
        yield
    finally:
        with contextlib.suppress(Exception):  # Spark may have ended, and why it did is what counts
            session.conf.set(name, before)


def _short(error: Exception) -> str:
    """Return the most informative lines of a Spark error: the last of a Python trace, or the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    ends = [number for number, line in enumerate(lines) if line.startswith("Traceback")]
    if ends:
        own = [line for line in lines[ends[-1] :] if not line.startswith(("File ", "at ", "^", "Traceback"))]
        lines = [line for line in own if "Error" in line] or lines
    text = " ".join(lines[:_LINES])
    return text if text.endswith(".") else f"{text}."


def _run(session: Any, job: Job, files: Sequence[tuple[int, str, str]], progress: Progress) -> dict[str, Any]:
    """Run all stages; return the result of the last."""
    slots = session.sparkContext.defaultParallelism
    planned = session.createDataFrame(files, FILES).repartition(max(1, min(len(files), 4 * slots)))
    groups = planned.mapInArrow(lambda batches: spark_tasks.plan_files(job, batches), GROUPS)
    spread = groups.repartitionById(max(4 * slots, 2 * len(files)), groups["spread"])
    reads = spread.mapInArrow(lambda batches: spark_tasks.read_groups(job, batches), READS)
    reports = reads.repartition(1).mapInArrow(lambda batches: spark_tasks.build_from_parts(job, batches), BUILT)
    with _watch(session.sparkContext, progress, STAGES, f"pagekin-{job.number}"):
        (row,) = reports.collect()
    result: dict[str, Any] = json.loads(row["result"])
    if "stages" not in result:
        return result
    work = ShardWork(job.recipe, job.shards, job.out, result["stages"])
    runner = _SparkRunner(session, work, progress)
    try:
        return {
            **result,
            "manifest": run_stages(work, runner),
            "seconds": runner.seconds,
            "merging": sum(runner.seconds.get(stage, 0.0) for stage in CORPUS_STAGES),
            "bytes_on_disk": runner.sizes,
        }
    except StageError as error:
        return {"unread": False, "error": str(error)}
    finally:
        runner.end()


class StageError(Exception):
    """A stage that would fail again; the message says why."""


class _SparkRunner:
    """Runs each stage as a Spark job."""

    def __init__(self, session: Any, work: ShardWork, progress: Progress) -> None:
        self._session, self._work, self._progress = session, work, progress
        self._threads = ThreadPoolExecutor()
        self._beside: dict[str, Future[object]] = {}
        """What runs beside other stages, by the names of job groups."""
        self.seconds: dict[str, float] = {}
        """Processor seconds of each stage."""
        self.sizes: dict[str, int] = {}
        """Bytes of the arrays of all shards."""

    def run(self, stage: str, numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
        """Run the tasks of a stage; return their results."""
        return self._run(stage, list(numbers), f"pagekin-{secrets.token_hex(8)}", self._progress)

    def start(self, stage: str, numbers: Iterable[int]) -> Callable[[], object]:
        """Run the tasks of a stage in the background; return a function that waits for them."""
        group = f"pagekin-{secrets.token_hex(8)}"
        self._beside[group] = self._threads.submit(self._run, stage, list(numbers), group, no_progress)
        return self._beside[group].result

    def _run(self, stage: str, numbers: list[int], group: str, progress: Progress) -> dict[int, dict[str, Any]]:
        work, version = self._work, __version__
        places = self._session.range(0, len(numbers), 1, len(numbers))
        rows = places.mapInArrow(lambda batches: spark_tasks.run_stage(work, version, stage, numbers, batches), BUILT)
        name = stage.partition(".")[0].replace("_", " ")
        with _watch(self._session.sparkContext, progress, (name,), group):
            said = {int(row["number"]): json.loads(row["result"]) for row in rows.collect()}
        for one in said.values():
            if "error" in one:
                raise StageError(one["error"])
            self.seconds[name] = self.seconds.get(name, 0.0) + one["costs"]["seconds"]
            for array, size in one["result"].get("bytes", {}).items():
                self.sizes[array] = self.sizes.get(array, 0) + size
        return {number: one["result"] for number, one in said.items()}

    def end(self) -> None:
        """Stop the background jobs."""
        for group, future in self._beside.items():
            if not future.done():
                self._session.sparkContext.cancelJobGroup(group)
        self._threads.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _watch(context: Any, progress: Progress, names: Sequence[str], group: str) -> Iterator[None]:
    """Report the progress of a Spark job's stages; cancel them on an interrupt."""
    ended = threading.Event()
    context.setJobGroup(group, "pagekin build", interruptOnCancel=True)

    def watch() -> None:
        tracker = context.statusTracker()
        while not ended.wait(_LOOK_EVERY):
            for job in tracker.getJobIdsForGroup(group):
                info = tracker.getJobInfo(job)
                stages = sorted(info.stageIds) if info else []
                for name, stage in zip(names, stages, strict=False):
                    if (said := tracker.getStageInfo(stage)) and said.numActiveTasks:
                        progress(name, said.numCompletedTasks / max(said.numTasks, 1))

    progress(names[0], 0.0)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except BaseException:
        context.cancelJobGroup(group)
        raise
    finally:
        ended.set()
        watcher.join()
