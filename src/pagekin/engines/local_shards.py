"""Build in shards on this machine, one shard after another, within the allowed memory.

Parts are merged to the corpora of shards, and then the stages run that a cluster runs too, a task at a time. The sample of which
clusters are made has a corpus of its own, which is removed before the shards are made.
"""

import contextlib
import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pagekin import __version__
from pagekin.engines.corpus_stages import find_cuts
from pagekin.engines.job_folder import JobFolder
from pagekin.engines.local import BuildRecipe, BuildReport, Stages, check_build, require_pages, thread_count
from pagekin.engines.sample import choose_limit, least_of_parts, pick_sample
from pagekin.engines.shard_clusters import merge_sample
from pagekin.engines.shard_plan import run_stages, run_task
from pagekin.engines.shard_stages import ShardWork
from pagekin.engines.shards import WHOLE, require_count, require_division
from pagekin.hypertext import (
    STAGES,
    ClosedRanges,
    Note,
    PartsToMerge,
    ReadPlan,
    ReadReport,
    code_digest,
    describe_reading,
    gather_parts,
    merge_in_shards,
    no_note,
    reading_settings,
    refuse_damage,
    refuse_other_sources,
)
from pagekin.store import SHARDS, KinWriter, Progress, no_progress, pack_record, unpack_record

ROOMS = ("store", "sources", "hypertext", "bags", "similarity", "text", "clusters", "labels", "engines")
"""Rooms whose code decides what stages leave for each other."""
_FINISHED = "finished"
"""The folder of shards that are done, beside what stages leave."""


def build_shards(
    plan: ReadPlan, shards: int, recipe: BuildRecipe, progress: Progress = no_progress, note: Note = no_note
) -> BuildReport:
    """Build a collection in this many shards, in one commit, as `build_collection` does.

    A build that was stopped goes on from the parts that were read, the corpora that were merged and the stages that are done.
    """
    plan = check_build(plan, recipe, note, shards)
    with KinWriter(plan.out, "pagekin build", plan.memory) as writer:
        if not plan.replace:
            refuse_other_sources(writer.path, plan.units)
        return build_shards_into(writer, plan, shards, recipe, progress, note)


def build_shards_into(
    writer: KinWriter, plan: ReadPlan, shards: int, recipe: BuildRecipe, progress: Progress, note: Note
) -> BuildReport:
    """Build a collection in this many shards and commit it with `writer`, which keeps parts if the plan says so."""
    require_count(shards)
    report = ReadReport({})
    merged = gather_parts(writer, replace(plan, recipe=recipe.to_keep()), report, progress, note)
    folder = writer.resume_folder() / f"{STAGES}{_key(plan, shards, recipe, merged)}"
    _remove_other_stages(folder)
    finished = folder / _FINISHED
    finished.mkdir(parents=True, exist_ok=True)
    work = ShardWork(recipe, shards, str(writer.path), str(folder), str(finished))
    runner = _LocalRunner(work, writer, thread_count(plan.workers), Stages(progress))
    started = time.perf_counter()
    _merge(work, plan, merged, writer, runner, progress)
    report.merging += time.perf_counter() - started
    report.facts = JobFolder(work.folder).record("merge", 0).result["facts"]
    facts: dict[str, Any] = json.loads(run_stages(work, runner))["facts"]
    runner.stages.tell("saving", 0.0)
    for entry in facts[SHARDS]:
        writer.adopt(finished / entry["folder"], entry["folder"])
    writer.commit(facts)
    runner.stages.tell("saving", 1.0)
    return BuildReport(facts, report, runner.stages.seconds, runner.sizes)


def _key(plan: ReadPlan, shards: int, recipe: BuildRecipe, merged: PartsToMerge) -> str:
    """Return a digest of the input of all stages: parts, settings, code."""
    read_by = [plan.all_captures, plan.strict, reading_settings(plan, merged.sources)]
    how = [*read_by, recipe.settings(), recipe.to_keep(), shards]
    digest = hashlib.blake2b(digest_size=16)
    digest.update(json.dumps([__version__, code_digest(ROOMS), how], sort_keys=True).encode())
    for part in merged.parts:
        digest.update((part / "sums.json").read_bytes())
    return digest.hexdigest()


def _remove_other_stages(folder: Path) -> None:
    """Remove the results of stages with other input or settings."""
    for other in folder.parent.glob(f"{STAGES}*"):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)


def _merge(
    work: ShardWork, plan: ReadPlan, merged: PartsToMerge, writer: KinWriter, runner: "_LocalRunner", progress: Progress
) -> None:
    """Make the shards' corpora, unless that was done; with clusters, make these first."""
    job = JobFolder(work.folder)
    if work.recipe.clusters and not job.find("clusters", 0):
        _make_clusters(work, plan, merged, writer, runner, progress)
    if job.find("merge", 0):
        return
    closed = None
    if (whole := job.find("whole", 0)) is not None:
        closed = unpack_record(ClosedRanges, job.read(whole, "closed", 0))

    def check(counts: Mapping[str, Any], shards: int) -> None:
        refuse_damage(counts, plan.strict)
        require_pages(counts["pages"], counts["skipped"], work.out)
        require_division(counts["pages"], work.shards, shards)

    shard_corpora = merge_in_shards(
        merged.parts, work.shards, plan.all_captures, writer, lambda share: progress("merging", share),
        reading_settings(plan, merged.sources), closed, check,
    )  # fmt: skip
    for number, (corpus, counts) in enumerate(zip(shard_corpora.folders, shard_corpora.counts, strict=True)):
        job.write(["corpus"], number, counts, {}, corpus, {}, writer.work)
    bounds = [name.decode("latin-1") for name in shard_corpora.starts.addresses.strings()]
    facts = describe_reading(plan, merged.sources, shard_corpora.facts)
    job.write(
        ["merge"],
        0,
        {"cuts": find_cuts(shard_corpora.counts), "bounds": bounds, "facts": facts},
        {},
        None,
        {},
        writer.work,
    )


def _make_clusters(
    work: ShardWork, plan: ReadPlan, merged: PartsToMerge, writer: KinWriter, runner: "_LocalRunner", progress: Progress
) -> None:
    """Make the clusters of a sample, or of all pages, from a temporary corpus; note what no shard may divide."""
    job, folder, settings = JobFolder(work.folder), writer.work / WHOLE, work.recipe.clusters
    assert settings is not None
    if not job.find("whole", 0):
        limit = choose_limit([least_of_parts(merged.parts, settings)], settings)
        with TemporaryDirectory(dir=writer.work) as room, KinWriter(folder, "pagekin build", plan.memory) as own:
            parts: Iterable[Path] = merged.parts
            if limit is not None:
                places = enumerate(merged.parts)
                parts = chain.from_iterable(pick_sample(part, limit, Path(room) / str(place)) for place, part in places)
            closed = merge_sample(
                list(parts), own, limit is not None, plan.all_captures, work.out,
                lambda facts: describe_reading(plan, merged.sources, facts), lambda share: progress("merging", share),
            )  # fmt: skip
        said = {"is_sample": limit is not None}
        job.write(["whole"], 0, said, {"closed": [pack_record(closed)]}, folder, {}, writer.work)
    runner.run("clusters", [0])
    runner.forget("whole", 0)


class _LocalRunner:
    """Runs the tasks of stages one after another, in a writer's folder."""

    def __init__(self, work: ShardWork, writer: KinWriter, threads: int, stages: Stages) -> None:
        self._work, self._writer, self._threads = work, writer, threads
        self.stages = stages
        self.sizes: dict[str, int] = {}
        """Bytes of the arrays of all shards."""

    def run(self, stage: str, numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
        """Run the tasks of a stage; when a shard is finished, remove everything but the shard."""
        order, results = list(numbers), {}
        name = stage.partition(".")[0].replace("_", " ")
        for place, number in enumerate(order):
            self.stages.tell(name, place / len(order))
            results[number] = self._run(stage, number)
        self.stages.tell(name, 1.0)
        return results

    def _run(self, stage: str, number: int) -> dict[str, Any]:
        work, writer = self._work, self._writer
        result = run_task(work, stage, number, self._threads, writer.memory, writer.work).result
        for array, size in result.get("bytes", {}).items():
            self.sizes[array] = self.sizes.get(array, 0) + size
        if stage == "finish":
            for earlier in ("corpus", "judged", "keep", "bags", "collect_links"):
                self.forget(earlier, number)
        return result

    def start(self, stage: str, numbers: Iterable[int]) -> Callable[[], object]:
        """Run the tasks of a stage immediately."""
        done = self.run(stage, numbers)
        return lambda: done

    def forget(self, stage: str, number: int) -> None:
        """Remove the arrays of a task that no other task will read; keep its record."""
        with contextlib.suppress(LookupError):
            kept = JobFolder(self._work.folder).record(stage, number).kin
            shutil.rmtree(kept, ignore_errors=True) if kept else None
