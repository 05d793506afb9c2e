"""How evenly the tasks of a build by shards are loaded: the largest task of each stage beside the median one.

    python benchmarks/shard_skew.py [--pages 6000] [--shards 8] [--even] --folder FOLDER

The web has one address to which a tenth of all links lead, each with words of its own, and one host with half of all pages; with
`--even`, neither. Tasks run in this process, one after another, by the functions that Spark runs. Seconds are the processor's;
bytes are those that a task receives from others and sends to them.
"""

import argparse
import contextlib
import json
import statistics
import sys
from collections.abc import Callable, Iterable
from itertools import chain, cycle
from pathlib import Path
from typing import Any

from pagekin.bags import Strategy
from pagekin.engines import BuildRecipe
from pagekin.engines.shard_plan import note_parts, run_stages, run_task
from pagekin.engines.shard_stages import ShardWork
from pagekin.hypertext import ReadPlan, read_units
from pagekin.sources import plan_units
from web_generator import MadeWeb, WebFigures


class MeteredRunner:
    """Runs tasks one after another, and notes what each takes."""

    def __init__(self, work: ShardWork) -> None:
        self.work = work
        self.costs: dict[str, dict[int, dict[str, float]]] = {}

    def run(self, stage: str, numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
        """Run the tasks of a stage; the rounds of a stage count as one."""
        results = {}
        noted = self.costs.setdefault(stage.partition(".")[0], {})
        for number in numbers:
            left = run_task(self.work, stage, number)
            mine = noted.setdefault(number, dict.fromkeys(left.costs, 0.0))
            for name, cost in left.costs.items():
                mine[name] += cost
            results[number] = left.result
        print(stage, file=sys.stderr)
        return results

    def start(self, stage: str, numbers: Iterable[int]) -> Callable[[], object]:
        """Run the tasks of a stage at once."""
        done = self.run(stage, numbers)
        return lambda: done


def read_one(plan: ReadPlan, archive: Path, folder: Path) -> list[Path]:
    """Read an archive into parts."""
    return [part for part, _items in read_units(plan, plan_units([str(archive)], {}), folder).parts]


def main() -> None:
    """Make a web, build it by shards, and print the largest and the median task of each stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=6_000)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--even", action="store_true")
    parser.add_argument("--folder", type=Path, required=True)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    out, archives = (
        chosen.folder / "made.kin",
        [chosen.folder / f"web-{number}.warc" for number in range(2 * chosen.shards)],
    )
    figures = WebFigures() if chosen.even else WebFigures(largest_host=0.5, hub=0.1)
    with contextlib.ExitStack() as files:
        writers = cycle([files.enter_context(archive.open("wb")) for archive in archives])
        for writer, record in zip(writers, MadeWeb(3 * chosen.pages, figures).records(), strict=False):
            writer.write(record)
    work = ShardWork(BuildRecipe(Strategy(), None, text=True), chosen.shards, str(out), str(chosen.folder / "stages"))
    # A large archive gives a part for each unit; these are too small for that, and are read one by one.
    plan = ReadPlan([], out)
    parts = [read_one(plan, archive, chosen.folder) for archive in archives]
    note_parts(work, plan, list(map(str, archives)), list(map(str, chain.from_iterable(parts))), len(archives))
    runner = MeteredRunner(work)
    facts = json.loads(run_stages(work, runner))["facts"]
    print(f"{facts['pages']:,} pages, {facts['anchors']:,} links, {chosen.shards} shards")
    print("stage             seconds: largest  median  ratio   MB: largest  median  ratio")
    for stage, tasks in runner.costs.items():
        if len(tasks) > 1:
            seconds = [cost["seconds"] for cost in tasks.values()]
            moved = [(cost["received"] + cost["sent"]) / 1e6 for cost in tasks.values()]
            shown = [
                f"{max(some):>15.2f}{statistics.median(some):>8.2f}{max(some) / max(statistics.median(some), 1e-9):>7.2f}"
                for some in (seconds, moved)
            ]
            print(f"{stage:<18}{'  '.join(shown)}")


if __name__ == "__main__":
    main()
