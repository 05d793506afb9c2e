"""What a build will cost here: two samples of the sources are built, and what they take is carried on to the whole."""

import multiprocessing
import resource
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from pagekin.bags import Strategy
from pagekin.clusters import ClusterSettings
from pagekin.engines.local import build_collection
from pagekin.hypertext import CORPUS_ARRAYS, ReadPlan
from pagekin.sources import SourceError, Unit, plan_units
from pagekin.store import Progress, no_progress, temporary_folder

SAMPLES = (3 << 20, 24 << 20)
"""Bytes of the sources that the two samples hold, about."""
_FILES = 400
"""Files of a folder that a sample takes at once."""
_KIB = 1 if sys.platform == "darwin" else 1024
"""The unit in which the system tells the memory of a process."""


@dataclass(frozen=True)
class Trial:
    """What the build of a sample took."""

    source_bytes: int
    pages: int
    html_bytes: int
    seconds: dict[str, float]
    """By stage."""
    disk: int
    parts: int
    """Bytes of the parts that the corpus is merged from, which are about as large as the corpus."""
    memory: int
    """Of all processes, at most."""


@dataclass(frozen=True)
class BuildCosts:
    """What the build of all sources is expected to take."""

    pages: int
    html_bytes: int
    seconds: dict[str, float]
    disk: int
    """Bytes of the collection."""
    disk_meanwhile: int
    """Bytes that are written in all until the old files can go: the collection and the parts that it is made of."""
    memory: int
    free: int
    """Bytes that are free where the collection is to be."""
    sample: Trial

    @property
    def total_seconds(self) -> float:
        """Return the time of all stages."""
        return sum(self.seconds.values())


def estimate_costs(
    plan: ReadPlan,
    strategy: Strategy,
    clusters: ClusterSettings | None,
    text: bool,
    progress: Progress = no_progress,
) -> BuildCosts:
    """Build two samples of the sources in a temporary folder, and carry on what they took to all of the sources."""
    units = plan_units(plan.sources, plan.base_urls, plan.base_url)
    sizes = [_source_bytes(unit) for unit in units]
    total = sum(sizes)
    trials = []
    for number, wanted in enumerate(SAMPLES):
        progress("trying", number / len(SAMPLES))
        some = take_sample(units, sizes, min(wanted, total))
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:  # whose memory is measured
            trials.append(pool.submit(_try, replace(plan, units=tuple(some)), strategy, clusters, text).result())
    progress("trying", 1.0)
    small, large = trials
    if not large.pages:
        raise SourceError("the sample of the sources holds no page, so nothing can be said of their cost.")
    pages = round(large.pages * max(total / large.source_bytes, 1.0))
    out = plan.out if plan.out.exists() else plan.out.absolute().parent
    disk = round(_carry_on((small.pages, small.disk), (large.pages, large.disk), pages))
    return BuildCosts(
        pages=pages,
        html_bytes=round(large.html_bytes / large.pages * pages),
        seconds={
            stage: _carry_on((small.pages, small.seconds.get(stage, 0.0)), (large.pages, seconds), pages)
            for stage, seconds in large.seconds.items()
        },
        disk=disk,
        disk_meanwhile=disk + round(_carry_on((small.pages, small.parts), (large.pages, large.parts), pages)),
        memory=round(_carry_on((small.pages, small.memory), (large.pages, large.memory), pages)),
        free=shutil.disk_usage(next(one for one in (out, *out.parents) if one.exists())).free,
        sample=large,
    )


def take_sample(units: Sequence[Unit], sizes: Sequence[int], wanted: int) -> list[Unit]:
    """Return units from all over the sources that hold so many bytes, or a little more."""
    chosen: list[Unit] = []
    held, step = 0, 1
    while step < len(units):
        step *= 2
    # Every other one, then those between: whatever is first, all parts of the sources are seen.
    order = [place for width in _halvings(step) for place in range(width // 2, len(units), width)]
    for place in dict.fromkeys([0, *order]):
        unit, size = units[place], sizes[place]
        if unit.files and len(unit.files) > _FILES:
            size = size * _FILES // len(unit.files)
            unit = replace(unit, files=unit.files[:_FILES], end=unit.start + _FILES)
        chosen.append(unit)
        held += size
        if held >= wanted:
            break
    return chosen


def _halvings(step: int) -> list[int]:
    widths = []
    while step > 1:
        widths.append(step)
        step //= 2
    return [*widths, 1]


def _source_bytes(unit: Unit) -> int:
    """Return the bytes of a unit in its source."""
    if unit.kind == "folder":
        return sum((Path(unit.path) / name).stat().st_size for name in unit.files) or 1
    return max(unit.end - unit.start, 1)


def _try(plan: ReadPlan, strategy: Strategy, clusters: ClusterSettings | None, text: bool) -> Trial:
    """Build a sample, once to load and compile what that needs and once to measure it."""
    with temporary_folder("plan") as folder:
        here = replace(plan, out=folder / "sample.kin")
        build_collection(replace(here, units=plan.units[:1], workers=1), strategy, clusters=clusters, text=text)
        report = build_collection(here, strategy, clusters=clusters, text=text)
    assert report.read is not None
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # the largest of them
    return Trial(
        source_bytes=sum(_source_bytes(unit) for unit in plan.units),
        pages=report.facts["pages"],
        html_bytes=report.facts["html_bytes"],
        seconds={"reading": report.read.reading, "merging": report.read.merging, **report.seconds},
        disk=sum(report.bytes_on_disk.values()),
        parts=sum(size for name, size in report.bytes_on_disk.items() if name.startswith(CORPUS_ARRAYS)),
        memory=_KIB * (own + child * (plan.workers if plan.workers > 1 else 0)),
    )


def _carry_on(small: tuple[int, float], large: tuple[int, float], pages: int) -> float:
    """Return the value at so many pages, on the line through two measured points of (pages, value).

    What did not grow from one to the other, such as the memory of the program itself, is taken not to grow later.
    """
    grown = large[0] - small[0]
    slope = max(large[1] - small[1], 0.0) / grown if grown > 0 else large[1] / max(large[0], 1)
    return large[1] + slope * max(pages - large[0], 0)
