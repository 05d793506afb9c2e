"""How evenly the tasks of a build by shards are loaded: the largest task of each stage beside the median one.

    python benchmarks/shard_skew.py [--pages 6000] [--inlinks 150000] [--words 300] [--shards 8] [--sample 3000] [--even]
                                    --folder FOLDER

The web has one address with about so many `--inlinks`, each with words of its own, on all of its pages, and one host with half of
all pages; with `--even`, neither. Pages have some `--words` besides those of links: few make many inlinks cheap. Clusters
are made of a `--sample` of the pages; with 0, there are none. Tasks run in this process, one after another, by the functions that
Spark runs. What one task of a stage would pay for all is done before: a small build loads what a process loads once, and garbage
of earlier tasks is collected. Seconds are the processor's; bytes and rows are those that a task takes from others and from
storage, and sends. Rows of a record are those of its longest column, bytes of strings aside.
"""

import argparse
import contextlib
import gc
import json
import math
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, cycle
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.bags import Strategy
from pagekin.clusters import ClusterSettings
from pagekin.engines import BuildRecipe
from pagekin.engines.shard_plan import note_parts, run_stages, run_task
from pagekin.engines.shard_stages import ShardWork
from pagekin.hypertext import Corpus, ReadPlan, read_units
from pagekin.sources import plan_units
from web_generator import MadeWeb, WebFigures

WARM_PAGES = 400


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
            gc.collect()  # else some task pays for the garbage of those before
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


def skewed_figures(pages: int, inlinks: int) -> WebFigures:
    """Return the figures of a web with a large host, in which about so many links lead to one address."""
    plain = WebFigures()
    others = plain.links * math.exp(plain.links_spread**2 / 2)  # the mean of a log-normal number with this median
    every = others + inlinks / pages
    return replace(plain, largest_host=0.5, links=plain.links * every / others, hub=1 - others / every)


def most_inlinks(out: Path, facts: dict[str, Any]) -> int:
    """Return the most links that lead to one address, of all shards."""
    corpora = [Corpus.open(out / entry["folder"]) for entry in facts["shards"]]
    counts: Counter[bytes] = Counter()
    for corpus in corpora:
        links = np.diff(np.asarray(corpus.inlinks.offsets, np.int64))
        counts[corpus.urls[int(np.argmax(links))]] += int(links.max())
    return counts.most_common(1)[0][1]


def show(name: str, tasks: Sequence[Mapping[str, float]]) -> str:
    """Return the largest and the median task of a stage, and their ratio, for each cost, as a row of a table."""
    cells = []
    for costs in (
        [cost["seconds"] for cost in tasks],
        [(cost["received"] + cost["sent"]) / 1e6 for cost in tasks],
        [cost["rows"] / 1e3 for cost in tasks],
    ):
        middle = statistics.median(costs)
        cells += [f"{max(costs):,.2f}", f"{middle:,.2f}", f"{max(costs) / max(middle, 1e-9):.2f}"]
    return f"| {name.replace('_', ' ')} | {' | '.join(cells)} |"


def build(
    folder: Path, pages: int, figures: WebFigures, shards: int, sample: int
) -> tuple[MeteredRunner, dict[str, Any]]:
    """Make a web in a folder, and build it by shards; return what ran the tasks, and the facts about the collection."""
    folder.mkdir(parents=True, exist_ok=True)
    out, archives = folder / "made.kin", [folder / f"web-{number}.warc" for number in range(2 * shards)]
    with contextlib.ExitStack() as files:
        writers = cycle([files.enter_context(archive.open("wb")) for archive in archives])
        for writer, record in zip(writers, MadeWeb(3 * pages, figures).records(), strict=False):
            writer.write(record)
    recipe = BuildRecipe(Strategy(), ClusterSettings(sample=sample) if sample else None, text=True)
    work = ShardWork(recipe, shards, str(out), str(folder / "stages"))
    # A large archive gives a part for each unit; these are too small for that, and are read one by one.
    plan = ReadPlan([], out)
    parts = [read_one(plan, archive, folder) for archive in archives]
    note_parts(work, plan, list(map(str, archives)), list(map(str, chain.from_iterable(parts))), len(archives))
    runner = MeteredRunner(work)
    return runner, json.loads(run_stages(work, runner))["facts"]


def main() -> None:
    """Make a web, build it by shards, and print the largest and the median task of each stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=6_000)
    parser.add_argument("--inlinks", type=int, default=150_000)
    parser.add_argument("--words", type=float, default=WebFigures().words)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--sample", type=int, default=3_000)
    parser.add_argument("--even", action="store_true")
    parser.add_argument("--folder", type=Path, required=True)
    chosen = parser.parse_args()
    figures = WebFigures() if chosen.even else skewed_figures(chosen.pages, chosen.inlinks)
    figures = replace(figures, words=chosen.words)
    build(chosen.folder / "small", WARM_PAGES, WebFigures(), chosen.shards, WARM_PAGES // 2 if chosen.sample else 0)
    runner, facts = build(chosen.folder, chosen.pages, figures, chosen.shards, chosen.sample)
    print(f"{facts['pages']:,} pages, {facts['anchors']:,} links, {chosen.shards} shards")
    print(f"most links to an address: {most_inlinks(Path(runner.work.out), facts):,}")
    print(
        "| stage | largest, processor s | median | ratio | largest, MB | median | ratio | largest, 1,000 rows | median | ratio |"
    )
    print(f"|---{'|---:' * 9}|")
    for stage, tasks in runner.costs.items():
        if len(tasks) > 1:
            print(show(stage, list(tasks.values())))
    for stage, tasks in runner.costs.items():
        if len(tasks) == 1:
            (cost,) = tasks.values()
            print(f"one task: {stage}, {cost['seconds']:.2f} s, {(cost['received'] + cost['sent']) / 1e6:,.2f} MB")


if __name__ == "__main__":
    main()
