"""Estimate the costs of a build here: build what is small once, else two samples of the sources, and extrapolate."""

import multiprocessing
import os
import resource
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from pagekin.clusters import ClusterSettings
from pagekin.engines.local import BuildRecipe, build_collection
from pagekin.engines.needs import free_disk, html_bytes, least_memory, require_memory, source_bytes
from pagekin.hypertext import CORPUS_ARRAYS, ReadPlan
from pagekin.sources import HTML_ENDINGS, SourceError, Unit, plan_units
from pagekin.store import Progress, no_progress, temporary_folder

SAMPLES = (3 << 20, 24 << 20)
"""Bytes of the sources that the two samples hold, about."""
_WARM_UP = 24
"""Pages that are built first, so that loading and compiling the code is not measured."""
_FILES = 400
"""Files of a folder that a sample takes at once."""
_KIB = 1 if sys.platform == "darwin" else 1024
"""The unit in which the system tells the memory of a process."""
_FEW, _FAR = 1_000, 10
"""Pages of a sample that are few, and how many times as many are far from them."""
CLUSTER_STAGES = ("neighbours", "clusters", "names")
"""Stages that look at a sample of the pages, however many there are."""
JOINED = 0.1
"""Time in which a page outside of the sample joins a cluster, for that in which the neighbours of one inside are found: 0.07
and 0.1 in the two builds of docs/benchmarks.md with --memory 1G."""
_EVERY = 0.05
"""Seconds between two looks at the memory."""


@dataclass(frozen=True)
class Trial:
    """The measured costs of building a sample."""

    source_bytes: int
    pages: int
    html_bytes: int
    seconds: dict[str, float]
    """By stage."""
    disk: int
    parts: int
    """Bytes of the parts that the corpus is merged from, which are about as large as the corpus."""
    memory: int
    """Of all processes together, at most: anonymous and shared memory, where the system tells these."""


@dataclass(frozen=True)
class BuildCosts:
    """The expected costs of building all sources."""

    pages: int
    html_bytes: int
    seconds: dict[str, float]
    disk: int
    """Bytes of the collection."""
    disk_meanwhile: int
    """Bytes that are written in all until the old files can go: the collection and the parts that it is made of."""
    memory: int
    least_memory: int
    """What `--memory` may be at least."""
    free: int
    """Bytes that are free where the collection is to be; 0 if it is not known where."""
    sample: Trial

    @property
    def total_seconds(self) -> float:
        """Return the seconds of all stages."""
        return sum(self.seconds.values())

    @property
    def was_tried(self) -> bool:
        """Return whether the sample was everything, so that nothing is extrapolated."""
        return self.pages <= self.sample.pages

    @property
    def is_guess(self) -> bool:
        """Return whether too few pages were measured for a reliable estimate."""
        return self.pages > _FAR * self.sample.pages and self.sample.pages < _FEW


def estimate_costs(plan: ReadPlan, recipe: BuildRecipe, progress: Progress = no_progress, pages: int = 0) -> BuildCosts:
    """Build two samples of the sources in a temporary folder, and extrapolate to all sources; build what is small once.

    With `pages` it is carried on to so many pages like these.
    """
    units = plan_units(plan.sources, plan.base_urls, plan.base_url)
    require_memory(plan.memory, html_bytes(units))
    sizes = [source_bytes(unit) for unit in units]
    total = sum(sizes)
    samples = [take_sample(units, sizes, min(wanted, total)) for wanted in SAMPLES]
    # If the large sample is everything, nothing is extrapolated: one build is enough.
    everything = sum(map(source_bytes, samples[-1])) == total and not pages
    if everything or samples[0] == samples[1]:
        samples = samples[-1:]
    trials: list[Trial] = []
    for number, some in enumerate(samples):
        progress("trying", number / len(samples))
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:  # whose memory is measured
            trials.append(pool.submit(_try, replace(plan, units=tuple(some)), recipe).result())
    progress("trying", 1.0)
    small, large = trials[0], trials[-1]
    if not large.pages:
        raise SourceError(
            "the sample of the sources holds no page to estimate the cost from. Name sources with HTML pages."
        )
    sample = recipe.clusters.sample if recipe.clusters else 0
    carried = pages or round(large.pages * max(total / large.source_bytes, 1.0))
    costs = carry_on_trials(small, large, carried, sample)
    if not pages and (files := _html_files(samples[-1])):  # costs go by bytes; how many files there are is known
        costs = replace(costs, pages=round(large.pages * max(_html_files(units) / files, 1.0)))
    memory = min(costs.memory, plan.memory.limit) if plan.memory.limit else costs.memory
    return replace(costs, memory=memory, free=free_disk(plan.out))


def _html_files(units: Sequence[Unit]) -> int:
    """Return the number of HTML files in folders; 0 if there are archives, too, whose pages nobody has counted."""
    if any(unit.kind != "folder" for unit in units):
        return 0
    return sum(name.lower().endswith(HTML_ENDINGS) for unit in units for name in unit.files)


def carry_on_trials(small: Trial, large: Trial, pages: int, sample: int = ClusterSettings.sample) -> BuildCosts:
    """Extrapolate from the costs of two samples to this many pages, of which a sample of so many makes clusters, or all for 0."""
    clustered = min(pages, sample or pages)
    seconds = {
        stage: _carry_on(
            (small.pages, small.seconds.get(stage, 0.0)), (large.pages, spent),
            clustered if stage in CLUSTER_STAGES else pages,
        )
        for stage, spent in large.seconds.items()
    }  # fmt: skip
    if pages > clustered and (neighbours := seconds.get("neighbours", 0.0)):
        seconds["joining"] = JOINED * neighbours / clustered * (pages - clustered)
    html = round(large.html_bytes / large.pages * pages)
    disk = round(_carry_on((small.pages, small.disk), (large.pages, large.disk), pages))
    return BuildCosts(
        pages=pages,
        html_bytes=html,
        seconds=seconds,
        disk=disk,
        disk_meanwhile=disk + round(_carry_on((small.pages, small.parts), (large.pages, large.parts), pages)),
        memory=round(_carry_on((small.pages, small.memory), (large.pages, large.memory), pages)),
        least_memory=least_memory(html),
        free=0,
        sample=large,
    )


def take_sample(units: Sequence[Unit], sizes: Sequence[int], wanted: int) -> list[Unit]:
    """Return units from all over the sources with about this many bytes, or a little more."""
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


def _try(plan: ReadPlan, recipe: BuildRecipe) -> Trial:
    """Build a sample and measure it, after a few made-up pages that load and compile the code."""
    with temporary_folder("plan") as folder:
        here = replace(plan, out=folder / "sample.kin")
        few = replace(plan, out=folder / "warm-up.kin", units=(_write_pages(folder / "pages"),), workers=1, exclude=())
        build_collection(few, recipe)
        with _Watcher(plan.workers) as watcher:
            report = build_collection(here, recipe)
    assert report.read is not None
    return Trial(
        source_bytes=sum(map(source_bytes, plan.units)),
        pages=report.facts["pages"],
        html_bytes=report.facts["html_bytes"],
        seconds={"reading": report.read.reading, "merging": report.read.merging, **report.seconds},
        disk=sum(report.bytes_on_disk.values()),
        parts=sum(size for name, size in report.bytes_on_disk.items() if name.startswith(CORPUS_ARRAYS)),
        memory=watcher.peak,
    )


def _write_pages(folder: Path) -> Unit:
    """Write a few small pages with links to each other; return them as a unit to read."""
    folder.mkdir()
    names = [f"{page}.html" for page in range(_WARM_UP)]
    for page, name in enumerate(names):
        words = " ".join(f"word{page % 4}{step * page % 13}" for step in range(40))
        link = f'<a href="{(page + 1) % _WARM_UP}.html">next word{page % 4}</a>'
        (folder / name).write_text(f"<title>page {page}</title><p>{words} {link}", encoding="utf-8")
    return Unit("folder", str(folder), 0, _WARM_UP, "", "http://localhost/", tuple(names))


class _Watcher:
    """Samples the memory of this process and its children."""

    def __init__(self, workers: int) -> None:
        self.peak = 0
        self._workers = workers
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "_Watcher":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._done.set()
        self._thread.join()
        if not self.peak:  # a system without /proc tells the whole memory of the largest process alone
            own, child = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
            self.peak = _KIB * (own + child * (self._workers if self._workers > 1 else 0))

    def _watch(self) -> None:
        while not self._done.wait(_EVERY):
            children = (child.pid for child in multiprocessing.active_children())
            self.peak = max(self.peak, sum(map(_own_memory, [os.getpid(), *(pid for pid in children if pid)])))


def _own_memory(process: int) -> int:
    """Return the anonymous and shared memory of a process; 0 if unknown."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon:", "RssShmem:")))


def _carry_on(small: tuple[int, float], large: tuple[int, float], pages: int) -> float:
    """Return the value at this many pages on the line through two measured (pages, value) points.

    What did not grow from one to the other, such as the memory of the program itself, is taken not to grow later.
    """
    grown = large[0] - small[0]
    slope = max(large[1] - small[1], 0.0) / grown if grown > 0 else large[1] / max(large[0], 1)
    return large[1] + slope * max(pages - large[0], 0)
