"""Builds of made-up webs on a Spark cluster of this machine, beside the local engine: time, what is copied, the driver's memory.

    python benchmarks/spark_speed.py [--pages 10000 40000] [--shards 4] --folder FOLDER

The cluster has two workers of one core each. The local engine has two processes. Each build has a driver of its own, whose
memory is measured: that of Python, and that of Java. Stages are compared by the processor's time of their tasks, reading by
that of the processes that read, with their start. Shuffled bytes are those that tasks of a stage send to others; those of
reading are the parts. Kept bytes are the arrays that tasks leave for later tasks of the same shard. What a billion pages take
is carried on from these in proportion, which is too much for the stages of the sample of which clusters are made.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.engines.collections import files_of
from tests.engines.spark_cluster import SETTINGS, SparkCluster

from meter import processes, processor_seconds
from pagekin.bags import Strategy
from pagekin.clusters import ClusterSettings
from pagekin.engines import BuildRecipe, BuildReport, ClusterPlan, build_here, build_on_spark, local_shards
from pagekin.engines.shard_plan import CORPUS_STAGES
from pagekin.hypertext import ReadPlan
from pagekin.store import RESUME
from web_generator import MadeWeb, WebFigures

READING = ("starting", "planning", "reading", "building")
"""Stages that end with all parts in their place: on a cluster, a task called building lists them."""

OF_SAMPLE = ("whole", "clusters")
"""Stages whose time does not grow with the pages, once these are more than the sample."""


def folder_bytes(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def most_memory(process: int) -> float:
    """Return the most MB that a process has had in memory; getrusage would count its parent, too, from which it was forked."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def meter_local_stages() -> dict[str, float]:
    """Note the processor's seconds of each stage of the local engine from now on."""
    seconds: dict[str, float] = {}

    def metered(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            started = time.process_time()
            done = function(*given, **named)
            stage = name or str(given[1]).partition(".")[0].replace("_", " ")
            seconds[stage] = seconds.get(stage, 0.0) + time.process_time() - started
            return done

        return run

    for function, name in (("run_task", ""), ("merge_in_shards", "corpora"), ("merge_sample", "whole")):
        setattr(local_shards, function, metered(name, getattr(local_shards, function)))
    return seconds


def join_corpus_stages(costs: dict[str, float]) -> dict[str, float]:
    """Add up the stages of a cluster that the local engine makes as one."""
    joined = {"corpora": sum(costs.get(stage, 0.0) for stage in CORPUS_STAGES)}
    return {**joined, **{stage: cost for stage, cost in costs.items() if stage not in CORPUS_STAGES}}


def handed_bytes(folder: Path, cost: str) -> dict[str, float]:
    """Return the bytes that the tasks of each stage handed on, `sent` or `kept`, by the records that they left below a folder."""
    handed: dict[str, float] = {}
    for file in folder.rglob("*.json"):
        stage, record = file.parent.name.partition(".")[0].replace("_", " "), json.loads(file.read_bytes())
        # A record of `judged` is one of `judge`, too.
        if file.stem.isdigit() and stage != "judged" and "costs" in record:
            handed[stage] = handed.get(stage, 0.0) + record["costs"].get(cost, 0.0)
    return handed


def seconds_of_tasks(workers: Iterable[int]) -> float:
    """Return the processor's seconds of all Python processes that workers started for tasks, and of those that they started."""
    daemons = set()
    for process in (one for worker in workers for one in processes(worker)):
        with contextlib.suppress(OSError):
            if b"pyspark.daemon" in Path(f"/proc/{process}/cmdline").read_bytes():
                daemons.add(process)
    started_by_others = {child for process in daemons for child in processes(process)[1:]}
    return sum(map(processor_seconds, daemons - started_by_others))


class ReadingMeter:
    """Notes the bytes of parts and the processor's seconds of reading when the first stage begins that takes parts."""

    def __init__(self, out: Path, workers: Sequence[int]) -> None:
        self._out, self._workers = out, workers
        self._before = self._processor_seconds()
        self.parts, self.seconds = 0, 0.0

    def _processor_seconds(self) -> float:
        """Return the processor's seconds of tasks so far, or of this process and its own where there are no workers."""
        return seconds_of_tasks(self._workers) if self._workers else processor_seconds(os.getpid())

    def look(self, stage: str) -> None:
        """Look at a stage that a build reports."""
        if not self.parts and stage not in READING:
            self.parts = folder_bytes(self._out / RESUME)
            self.seconds = self._processor_seconds() - self._before


def build(archive: Path, out: Path, shards: int, master: str, workers: Sequence[int]) -> dict[str, Any]:
    """Build here, or on a cluster with the processes of some workers; what that took."""
    started = time.perf_counter()
    handed: dict[str, dict[str, float]] = {"sent": {}, "kept": {}}
    plan = ReadPlan([str(archive)], out, workers=2, replace=True)
    meter = ReadingMeter(out, workers)

    def look(stage: str, _share: float) -> None:
        meter.look(stage)
        if stage == "manifest":  # the last stage
            for cost, of_stages in handed.items():
                of_stages.update(join_corpus_stages(handed_bytes(out / RESUME, cost)))

    report: BuildReport
    local_seconds = meter_local_stages()
    if master:
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(master)
        for name, value in SETTINGS.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        report = build_on_spark(
            plan, ClusterPlan(out, shards), BuildRecipe(Strategy(), ClusterSettings(), text=True), look
        )
        java = int(session.sparkContext._jvm.java.lang.ProcessHandle.current().pid())
        heap = most_memory(java)
        session.stop()
    else:
        report, heap = build_here(plan, out, shards, BuildRecipe(Strategy(), ClusterSettings(), text=True), look), 0.0
    assert report.read is not None
    stages = join_corpus_stages(report.seconds) if master else local_seconds
    return {
        "pages": report.facts["pages"], "seconds": time.perf_counter() - started, "reading": report.read.reading,
        "stages": {"reading": meter.seconds, **stages}, "sent": {"reading": meter.parts, **handed["sent"]},
        "kept": handed["kept"], "parts": meter.parts, "python_mb": most_memory(os.getpid()), "java_mb": heap,
    }  # fmt: skip


def print_stages(
    here: dict[str, float], there: dict[str, float], sent: dict[str, float], kept: dict[str, float], pages: int
) -> None:
    """Print a table of the stages: processor seconds here and on Spark, and what follows from them for each page."""
    print(
        "| stage | processor s: local | Spark | pages/s of a core: local | Spark | shuffled bytes/page | kept bytes/page "
        "| processor hours for 10^9 pages: local | Spark |"
    )
    print(f"|---{'|---:' * 8}|")
    stages = list(dict.fromkeys([*there, *here]))
    rows = {**{stage: [stage] for stage in stages}, "all": stages}
    rows["all but those of the sample"] = [stage for stage in stages if stage not in OF_SAMPLE]
    for name, some in rows.items():

        def of_stages(costs: dict[str, float], some: Sequence[str] = some) -> float:
            return sum(costs.get(stage, 0.0) for stage in some)

        times = [of_stages(here), of_stages(there)]
        rates = [f"{pages / one:,.0f}" if one else "" for one in times]
        hours = [f"{one / pages * 1e9 / 3600:,.0f}" for one in times]
        moved = [f"{of_stages(costs) / pages:,.0f}" for costs in (sent, kept)]
        print(f"| {' | '.join([name, *(f'{one:.2f}' for one in times), *rates, *moved, *hours])} |", flush=True)


def main() -> None:
    """Run all builds, and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, nargs="+", default=[10_000, 40_000])
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--one", nargs=3, metavar=("ARCHIVE", "OUT", "MASTER"), help=argparse.SUPPRESS)
    parser.add_argument("--workers", type=int, nargs="*", default=[], help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        archive, out, master = chosen.one
        print(json.dumps(build(Path(archive), Path(out), chosen.shards, master, chosen.workers)))
        return
    chosen.folder.mkdir(parents=True, exist_ok=True)
    with SparkCluster(chosen.folder / "spark", start_session=False) as cluster:
        print("engine    pages  seconds  reading s  bytes of parts/page  driver: Python MB  Java MB")
        for pages in chosen.pages:
            archive = chosen.folder / f"web-{pages}.warc"
            with archive.open("wb") as file:
                file.writelines(MadeWeb(3 * pages, WebFigures()).records())
            stages = []
            for engine, master in (("local", ""), ("spark", cluster.master)):
                out = chosen.folder / f"{engine}-{pages}.kin"
                command = [sys.executable, __file__, "--folder", str(chosen.folder), "--shards", str(chosen.shards)]
                command += ["--one", str(archive), str(out), master]
                command += ["--workers", *map(str, cluster.worker_processes() if master else ())]
                done = subprocess.run(
                    command, capture_output=True, text=True, check=True,
                    env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
                )  # fmt: skip
                took = json.loads(done.stdout.splitlines()[-1])
                stages.append(took["stages"])
                print(
                    f"{engine:<8}{took['pages']:>7,}{took['seconds']:>9.1f}{took['reading']:>11.1f}"
                    f"{took['parts'] / took['pages']:>21,.0f}{took['python_mb']:>19,.0f}{took['java_mb']:>9,.0f}"
                )
            made = [files_of(chosen.folder / f"{engine}-{pages}.kin") for engine in ("local", "spark")]
            print("the same bytes" if made[0] == made[1] else "OTHER BYTES")
            print_stages(stages[0], stages[1], took["sent"], took["kept"], took["pages"])


if __name__ == "__main__":
    main()
