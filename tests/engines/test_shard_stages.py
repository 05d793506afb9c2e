"""A build by shards gives the bytes of a build in one piece that is cut, whatever its tasks suffer."""

import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pagekin.bags import Strategy, choose_strategy
from pagekin.clusters import ClusterSettings
from pagekin.engines import BuildRecipe, build_here
from pagekin.engines.shard_plan import merge_corpus, run_stages, run_task
from pagekin.engines.shard_stages import ShardWork
from pagekin.hypertext import ReadPlan
from pagekin.store import KinWriter

from .collections import files_of


class ShufflingRunner:
    """Runs tasks in this process: in any order, some again, some after an attempt that died."""

    def __init__(self, work: ShardWork, seed: int) -> None:
        self.work, self.rng = work, random.Random(seed)
        self.stages: list[str] = []

    def run(self, stage: str, numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
        """Run the tasks of a stage."""
        self.stages.append(stage)
        order = list(numbers)
        self.rng.shuffle(order)
        return {number: run_task(self.work, stage, number).result for number in order}


def build_by_shards(plan: ReadPlan, out: Path, shards: int, recipe: BuildRecipe, seed: int = 0) -> ShufflingRunner:
    """Build a collection by shards in this process."""
    with KinWriter(out, "test") as writer:
        work = ShardWork(recipe, shards, str(out), str(writer.resume_folder() / "stages"))
        runner = ShufflingRunner(work, seed)
        merge_corpus(work, plan, 1)
        writer.commit_manifest(run_stages(work, runner).encode("utf-8", "surrogatepass"))
    return runner


def assert_same_bytes(plan: ReadPlan, shards: int, recipe: BuildRecipe, folder: Path) -> None:
    """Build by shards and in one piece, and compare."""
    there, here = folder / "there.kin", folder / "here.kin"
    build_here(replace(plan, out=here), here, shards, recipe)
    build_by_shards(plan, there, shards, recipe)
    mine, expected = files_of(there), files_of(here)
    for number in range(shards):
        differ = {name.split("/")[-1] for name in mine.keys() ^ expected.keys() if f"shard-{number}-" in name}
        assert not differ, (number, sorted(differ))
    assert mine["manifest.json"].decode().splitlines() == expected["manifest.json"].decode().splitlines()
    assert mine == expected


def test_the_demo_web(tmp_path: Path) -> None:
    recipe = BuildRecipe(Strategy(), ClusterSettings(), text=True)
    assert_same_bytes(ReadPlan(["demo"], tmp_path / "x.kin"), 3, recipe, tmp_path)
