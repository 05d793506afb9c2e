"""Run the stages of a sharded build in order, on any engine that can run the tasks of a stage."""

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from pagekin.engines import corpus_stages, shard_clusters, shard_finish, shard_stages
from pagekin.engines.job_folder import JobFolder, TaskRecord, piece_bytes
from pagekin.engines.shard_stages import ShardWork, Task
from pagekin.engines.shards import require_count
from pagekin.hypertext import ReadPlan, reading_settings
from pagekin.store import (
    MANIFEST,
    NO_LIMIT,
    MemoryBudget,
    MissingFileError,
    Storage,
    pack_record,
    temporary_folder,
)
from pagekin.text import have_stemmers

TASKS: Mapping[str, Callable[[Task], dict[str, Any]]] = {
    "hosts": corpus_stages.list_hosts,
    "limits": corpus_stages.limit_hosts,
    "cap": corpus_stages.cap_hosts,
    "list": corpus_stages.list_parts,
    "ranges": corpus_stages.choose_ranges,
    "spread": corpus_stages.spread_captures,
    "captures": corpus_stages.join_captures,
    "choose": corpus_stages.choose_pages,
    "chosen": corpus_stages.conclude_choice,
    "pick": shard_clusters.pick,
    "whole": shard_clusters.merge_whole,
    "starts": corpus_stages.find_starts,
    "bounds": corpus_stages.settle_bounds,
    "move": corpus_stages.move_chosen,
    "divide": corpus_stages.divide_parts,
    "links": corpus_stages.list_links,
    "names": corpus_stages.find_names,
    "corpus": corpus_stages.merge_corpus,
    "count": corpus_stages.count_names,
    "merge": corpus_stages.describe_corpus,
    "ask": shard_stages.ask,
    "answer": shard_stages.answer,
    "judge": shard_stages.judge,
    "tally": shard_stages.tally,
    "keep": shard_stages.keep,
    "compare": shard_stages.compare_links,
    "windows": shard_stages.sum_windows,
    "bags": shard_stages.make_bags,
    "sum": shard_stages.sum_range,
    "figures": shard_stages.figure,
    "name_links": shard_stages.name_links,
    "number_links": shard_stages.number_links,
    "collect_links": shard_stages.collect_links,
    "uses": shard_finish.count_uses,
    "languages": shard_finish.find_languages,
    "same": shard_finish.unite_forms,
    "call": shard_finish.call_pages,
    "show": shard_finish.show_forms,
    "clusters": shard_clusters.make_clusters,
    "finish": shard_finish.finish_shard,
    "manifest": shard_finish.write_manifest,
}
"""What the tasks of each stage do. The rounds of a stage have a number behind a dot."""
CORPUS_STAGES = ("hosts", "limits", "cap", "list", "ranges", "spread", "captures", "choose", "chosen", "starts", "bounds",
                 "move", "divide", "links", "names", "corpus", "count", "merge")  # fmt: skip
"""The stages from parts to the corpora of shards."""
_JUDGED = "judged"
"""Where the judgement of a shard is found, whichever round it came of."""


class StageRunner(Protocol):
    """An engine that runs tasks."""

    def run(self, stage: str, numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
        """Run the tasks of a stage with `run_task`, in any order; return their results when all are done."""

    def start(self, stage: str, numbers: Iterable[int]) -> Callable[[], object]:
        """Run the tasks of a stage in the background; return a function that waits for them."""


def note_parts(work: ShardWork, plan: ReadPlan, sources: Sequence[str], addresses: Sequence[str], units: int) -> None:
    """Record the parts of a collection, by address, and how they were read, as the input of all stages."""
    said = {
        "settings": reading_settings(plan, sources), "all_captures": plan.all_captures, "strict": plan.strict,
        "units": units,
    }  # fmt: skip
    shared = [pack_record(names) for names in corpus_stages.share_parts(addresses, work.shards)]
    with temporary_folder("parts") as folder:
        JobFolder(work.folder).write(["parts"], 0, said, {"parts": shared}, None, {}, folder)


def run_task(
    work: ShardWork,
    stage: str,
    number: int,
    threads: int = 1,
    memory: MemoryBudget = NO_LIMIT,
    room: Path | None = None,
) -> TaskRecord:
    """Run one task of a stage, unless it was done before; return its result.

    It works in a folder of its own inside `room`, or on the temporary disk.
    """
    job = JobFolder(work.folder)
    if (done := job.find(stage, number)) and _is_in_place(work, stage, done):
        return done
    began = time.process_time()
    with contextlib.ExitStack() as files:
        own = Path(files.enter_context(TemporaryDirectory(dir=room))) if room else None
        task = Task(work, stage, number, own or files.enter_context(temporary_folder("stage")), files, threads, memory)
        result = TASKS[stage.partition(".")[0]](task)
        stages = [stage, _JUDGED] if result.get("judged") else [stage]
        sent = sum(piece_bytes(piece) for pieces in task.sent.values() for piece in pieces)
        seconds = time.process_time() - began
        kept = sum(file.stat().st_size for file in task.kept.iterdir()) if task.kept else 0
        costs = {"seconds": seconds, "received": task.received, "sent": sent, "kept": kept, "rows": task.rows}
        job.write(stages, number, result, task.sent, task.kept, costs, task.room)
    return job.record(stage, number)


def _is_in_place(work: ShardWork, stage: str, record: TaskRecord) -> bool:
    """Return whether a task's files outside the job folder still exist: writers remove files that no manifest names."""
    if stage != "finish":
        return True
    try:
        Storage(work.place or work.out).read(f"{record.result['entry']['folder']}/{MANIFEST}")
    except MissingFileError:
        return False
    return True


def run_stages(work: ShardWork, engine: StageRunner) -> str:
    """Run all stages after `note_parts`, or after the corpora; return the manifest, whose files are in place."""
    require_count(work.shards)
    shards, job = range(work.shards), JobFolder(work.folder)
    beside = []
    if not job.find("merge", 0):
        _merge_corpora(work, engine)
    if work.recipe.clusters:
        beside.append(engine.start("clusters", [0]))
    engine.run("ask", shards)
    engine.run("answer", shards)
    if work.recipe.text:
        if have_stemmers(job.record("merge", 0).result["facts"]["language_codes"]):
            engine.run("uses", shards)
            engine.run("languages", shards)
            engine.run("same", [0])
        engine.run("call", shards)
        engine.run("show", shards)
    waiting, number = list(shards), 0
    while waiting:
        judged = engine.run(f"judge.{number}", waiting)
        if waiting := [shard for shard in waiting if not judged[shard]["judged"]]:
            engine.run(f"tally.{number}", shards)
        number += 1
    for stage in ("keep", "compare", "windows", "bags", "sum"):
        engine.run(stage, shards)
    engine.run("figures", [0])
    for stage in ("name_links", "number_links", "collect_links"):
        engine.run(stage, shards)
    for wait in beside:
        wait()
    engine.run("finish", shards)
    return str(engine.run("manifest", [0])[0]["manifest"])


def _merge_corpora(work: ShardWork, engine: StageRunner) -> None:
    """Run the stages from parts to the corpora of shards."""
    shards = range(work.shards)
    if corpus_stages.host_limit(JobFolder(work.folder).record("parts", 0).result):
        for stage in ("hosts", "limits", "cap"):
            engine.run(stage, shards)
    engine.run("list", shards)
    divided = engine.run("ranges", [0])[0]
    ranges, is_sample = range(len(divided["ranges"]) + 1), divided["sample_limit"] is not None
    if is_sample:
        engine.run("pick", shards)
    wait: Callable[[], object] = engine.start("whole", [0]) if work.recipe.clusters else lambda: None
    if len(ranges) > 1:
        engine.run("spread", shards)
    engine.run("captures", ranges)
    _run_rounds("choose", ranges, engine)
    engine.run("chosen", ranges)
    if not is_sample:
        wait()  # no shard may begin inside of a document
    number, done = 0, False
    while not done:
        engine.run(f"starts.{number}", ranges)
        done = engine.run(f"bounds.{number}", [0])[0]["done"]
        number += 1
    engine.run("move", ranges)
    engine.run("divide", shards)
    engine.run("links", shards)
    _run_rounds("names", shards, engine)
    engine.run("corpus", shards)
    engine.run("count", shards)
    wait()
    engine.run("merge", [0])


def _run_rounds(stage: str, numbers: Iterable[int], engine: StageRunner) -> None:
    """Run the rounds of a stage until its tasks are done, all in the same round."""
    number, done = 0, False
    while not done:
        done = all(one["done"] for one in engine.run(f"{stage}.{number}", numbers).values())
        number += 1
