"""The 2002 paper's job, from rates that are measured here: 45 million pages, 75 million addresses, no full text.

    python benchmarks/paper_job.py SOURCE SOURCE [--workers 2]

SOURCE is an archive or a folder of HTML; two with pages of different sizes are built by the preset `haveliwala2002`, without
text and clusters, and the processor time of each stage is fitted as so much for each page and so much for each megabyte of
HTML. The paper's repository had 100 GB compressed (Figure 12); web pages are compressed to a fourth to a sixth, so the job has
400 to 600 GB of HTML. The range of the estimate is that of these sizes and of three fits: by pages and megabytes, by pages
alone, by megabytes alone. Volumes are those of the builds, carried on in the same way. What memory and disks of that size would
cost besides is not in it: the job is carried on from builds that fit into memory.
"""

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from growth import PAPER_BYTES, row
from meter import Meter
from pagekin.bags import choose_strategy
from pagekin.engines import BuildRecipe, build_collection
from pagekin.hypertext import ReadPlan

PAGES, COMPRESSED = 45e6, 100e9
RATIOS = (4.0, 6.0)
CORES, WANTED_HOURS = 2, 6.0
PAPER_HOURS = {"bag fragments": 24, "merging": 8, "signatures": 22}


@dataclass(frozen=True)
class Measured:
    """What one build took."""

    pages: int
    megabytes: float
    seconds: dict[str, float]
    """Processor time of each stage."""
    written: dict[str, int]
    """Bytes on disk of each group of arrays."""


def measure(source: Path, workers: int) -> Measured:
    """Build a source, and say what it took."""
    with tempfile.TemporaryDirectory() as scratch, Meter() as meter:
        plan = ReadPlan([str(source)], Path(scratch) / "job.kin", workers=workers)
        report = build_collection(plan, BuildRecipe(choose_strategy("haveliwala2002")), meter.tell)
    groups: dict[str, int] = {}
    for name, size in report.bytes_on_disk.items():
        group = {"signature": "H", "list": "I", "bag": "bags", "bagterm": "bags"}.get(name.partition(".")[0], "corpus")
        groups[group] = groups.get(group, 0) + size
    seconds = {stage: spent.cpu for stage, spent in meter.stages.items() if stage != "starting"}
    return Measured(report.facts["pages"], report.facts["html_bytes"] / 1e6, seconds, groups)


def carry_on(values: Sequence[float], builds: Sequence[Measured], megabytes: float) -> list[float]:
    """What a figure of the builds becomes for the paper's pages, by each of three fits."""
    sizes = np.array([[one.pages, one.megabytes] for one in builds], float)
    fit = np.linalg.lstsq(sizes, np.array(values), rcond=None)[0]
    both = float(np.array([PAGES, megabytes]) @ fit) if np.all(fit >= 0) else float("nan")
    by_pages = PAGES * float(np.sum(values) / np.sum(sizes[:, 0]))
    by_megabytes = megabytes * float(np.sum(values) / np.sum(sizes[:, 1]))
    return [one for one in (both, by_pages, by_megabytes) if np.isfinite(one)]


def spread(values: Sequence[float], builds: Sequence[Measured]) -> tuple[float, float]:
    """The least and the greatest of all estimates."""
    every = [one for ratio in RATIOS for one in carry_on(values, builds, COMPRESSED * ratio / 1e6)]
    return min(every), max(every)


def main() -> None:
    """Print what was measured, and what it makes of the paper's job."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=Path)
    parser.add_argument("--workers", type=int, default=CORES)
    options = parser.parse_args()
    builds = [measure(source, options.workers) for source in options.sources]
    names = [f"{one.pages:,} pages, {one.megabytes:,.0f} MB" for one in builds]
    row("stage", *(f"{name}: processor seconds" for name in names), "the paper's job: hours on two cores")
    row("---", *["---:"] * (len(builds) + 1))
    least = most = 0.0
    for stage in builds[0].seconds:
        values = [one.seconds.get(stage, 0.0) for one in builds]
        low, high = (seconds / 3600 / CORES for seconds in spread(values, builds))
        least, most = least + low, most + high
        row(stage, *(f"{value:.1f}" for value in values), f"{low:.1f} to {high:.1f}")
    missed = "" if most <= WANTED_HOURS else ", **missed**" if least > WANTED_HOURS else ", **not certain**"
    row("all", *(f"{sum(one.seconds.values()):.1f}" for one in builds), f"{least:.1f} to {most:.1f}")
    hours = " + ".join(map(str, PAPER_HOURS.values()))
    print(
        f"\nWanted: at most {WANTED_HOURS:g} hours{missed}. The paper: {hours} hours on three and one machines of 2001.\n"
    )
    row("volume", *(f"{name}: MB" for name in names), "the paper's job: GB", "the paper: GB")
    row("---", *["---:"] * (len(builds) + 2))
    paper = {"H": PAPER_BYTES["H (signatures)"], "I": PAPER_BYTES["I (lists)"], "bags": PAPER_BYTES["bags"]}
    for group in builds[0].written:
        written = [float(one.written.get(group, 0)) for one in builds]
        low, high = (size / 1e9 for size in spread(written, builds))
        row(
            group,
            *(f"{size / 1e6:,.0f}" for size in written),
            f"{low:,.0f} to {high:,.0f}",
            f"{paper.get(group, 0) / 1e9:,.0f}",
        )


if __name__ == "__main__":
    main()
