"""The order of the stages of a build by shards, for any engine that can run the tasks of a stage and wait for them."""

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from pagekin.clusters import document_tree
from pagekin.engines import shard_finish, shard_stages
from pagekin.engines.job_folder import JobFolder, TaskRecord
from pagekin.engines.local import require_pages
from pagekin.engines.shard_stages import ShardWork, Task
from pagekin.engines.shards import WHOLE, plan_cuts
from pagekin.hypertext import Corpus, ReadPlan, read_sources_into
from pagekin.store import KinWriter, temporary_folder

TASKS: Mapping[str, Callable[[Task], dict[str, Any]]] = {
    "cut": shard_stages.cut_shard,
    "answer": shard_stages.answer,
    "judge": shard_stages.judge,
    "tally": shard_stages.tally,
    "keep": shard_stages.keep,
    "bags": shard_stages.make_bags,
    "sum": shard_stages.sum_range,
    "figures": shard_stages.figure,
    "name_links": shard_stages.name_links,
    "number_links": shard_stages.number_links,
    "collect_links": shard_stages.collect_links,
    "link_texts": shard_finish.find_link_texts,
    "clusters": shard_finish.make_clusters,
    "finish": shard_finish.finish_shard,
    "manifest": shard_finish.write_manifest,
}
"""What the tasks of each stage do. The rounds of a stage have a number behind a dot."""
_JUDGED = "judged"
"""Where the judgement of a shard is found, whichever round it came of."""


class StageRunner(Protocol):
    """An engine that runs tasks."""

    def run(self, stage: str, numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
        """Run the tasks of a stage by `run_task`, in any order; return their results when all of them are done."""

    def start(self, stage: str, numbers: Iterable[int]) -> Callable[[], object]:
        """Run the tasks of a stage beside those that follow; return a function that waits for them."""


def merge_corpus(work: ShardWork, plan: ReadPlan, threads: int) -> None:
    """Read or merge the corpus of the whole, and decide where it is cut: the task that comes first, and stands alone."""
    job = JobFolder(work.folder)
    if job.find("merge", 0):
        return
    began = time.process_time()
    with temporary_folder("merge") as folder:
        made = folder / WHOLE
        with KinWriter(made, "pagekin build", plan.memory) as writer:
            plan = replace(plan, out=made, replace=True, workers=threads, recipe=work.recipe.to_keep())
            read = read_sources_into(writer, plan)
            corpus = Corpus(writer.view(read.facts))
            require_pages(corpus, work.out)
            trees = [document_tree(corpus)] if work.recipe.clusters else []
            cuts = plan_cuts(corpus, trees, work.shards)
            bounds = [corpus.urls[cut.first_url].decode("latin-1") for cut in cuts[1:]]
            writer.commit(read.facts)
        result = {
            "cuts": cuts, "bounds": bounds, "facts": read.facts, "units": read.units, "merging": read.merging,
        }  # fmt: skip
        costs = {"seconds": time.process_time() - began, "received": 0, "sent": 0}
        job.write(["merge"], 0, result, {}, made, costs, folder)


def run_task(work: ShardWork, stage: str, number: int, threads: int = 1) -> TaskRecord:
    """Run one task of a stage, unless it was done before; return what it left."""
    job = JobFolder(work.folder)
    if done := job.find(stage, number):
        return done
    began = time.process_time()
    with contextlib.ExitStack() as files:
        room = files.enter_context(temporary_folder("stage"))
        task = Task(work, stage, number, room, files, threads)
        result = TASKS[stage.partition(".")[0]](task)
        stages = [stage, _JUDGED] if result.get("judged") else [stage]
        sent = sum(len(piece) for pieces in task.sent.values() for piece in pieces)
        costs = {"seconds": time.process_time() - began, "received": task.received, "sent": sent}
        job.write(stages, number, result, task.sent, task.kept, costs, room)
    return job.record(stage, number)


def run_stages(work: ShardWork, engine: StageRunner) -> str:
    """Run all stages after `merge_corpus`; return the manifest, whose files are all in their place."""
    shards = range(work.shards)
    wanted = {"link_texts": work.recipe.text, "clusters": work.recipe.clusters is not None}
    beside = [engine.start(stage, [0]) for stage, is_wanted in wanted.items() if is_wanted]
    engine.run("cut", shards)
    engine.run("answer", shards)
    waiting, number = list(shards), 0
    while waiting:
        judged = engine.run(f"judge.{number}", waiting)
        if waiting := [shard for shard in waiting if not judged[shard]["judged"]]:
            engine.run(f"tally.{number}", shards)
        number += 1
    for stage in ("keep", "bags", "sum"):
        engine.run(stage, shards)
    engine.run("figures", [0])
    for stage in ("name_links", "number_links", "collect_links"):
        engine.run(stage, shards)
    for wait in beside:
        wait()
    engine.run("finish", shards)
    return str(engine.run("manifest", [0])[0]["manifest"])
