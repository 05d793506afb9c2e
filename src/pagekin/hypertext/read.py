"""Read sources into a corpus: units go to workers, their parts to one collection."""

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from pagekin import __version__
from pagekin.hypertext.memory import give_back_memory
from pagekin.hypertext.merge import merge_parts
from pagekin.hypertext.part import PartBuilder, Reader
from pagekin.hypertext.workers import NO_CLOCK, Clock, Task, WorkerPool
from pagekin.sources import TOO_SLOW, Item, Limits, Page, Skip, SourceError, Unit, plan_units, read_unit
from pagekin.store import MANIFEST, KinError, KinWriter, Progress, no_progress, read_manifest

PART_TOKENS = 2_000_000
"""A worker writes a part when it has about this many words: it bounds a worker's memory."""
HUGE_PAGE = 3 << 20
"""A page of this many bytes starts a new part: its own need and a part's do not add up."""
PARSERS = ("fast", "strict")
_SHOWN_SOURCES = 5


class DamagedInputError(SourceError):
    """Damaged input under `strict`."""


@dataclass
class ReadPlan:
    """What to read and how."""

    sources: list[str]
    out: Path
    parser: str = "fast"
    workers: int = 1
    base_urls: dict[str, str] = field(default_factory=dict)
    base_url: str = ""
    all_captures: bool = False
    strict: bool = False
    limits: Limits = field(default_factory=Limits)
    units: tuple[Unit, ...] = ()
    """Read these units of the sources, and not all that there are."""
    replace: bool = False
    """Write to `out` also if it holds a collection of other sources."""


@dataclass
class ReadReport:
    """How a read went."""

    facts: dict[str, Any]
    start_up: float = 0.0
    reading: float = 0.0
    merging: float = 0.0


def read_sources(plan: ReadPlan, progress: Progress = no_progress) -> ReadReport:
    """Read all sources into the collection `plan.out`, all or nothing."""
    with KinWriter(plan.out, "pagekin read") as writer:
        report = read_sources_into(writer, plan, progress)
        started = time.perf_counter()
        writer.commit(report.facts)
        report.merging += time.perf_counter() - started
    return report


def read_sources_into(writer: KinWriter, plan: ReadPlan, progress: Progress = no_progress) -> ReadReport:
    """Write the corpus of all sources by `writer`, which commits it; return the report, with the facts to commit."""
    if plan.parser not in PARSERS:
        raise ValueError(f"unknown parser {plan.parser}")
    whole: set[str] = set()
    units = list(plan.units) or plan_units(plan.sources, plan.base_urls, plan.base_url)
    if not plan.replace:
        _refuse_other_sources(writer.path, units)
    while True:
        parts_folder = writer.work / "parts"
        parts_folder.mkdir()
        report = ReadReport({})
        # The demo web is our own: no page of it takes long.
        run = _read_here if plan.workers <= 1 or all(unit.kind == "demo" for unit in units) else _read_in_processes
        folders, stops = run(plan, units, parts_folder, report, progress)
        wrong = _misplaced(units, stops)
        if not wrong:
            break
        # A record start that was none: it lay inside another record. Read that file in one piece.
        whole |= wrong
        units = _unsplit(units, whole)
        shutil.rmtree(parts_folder)
    started = time.perf_counter()
    facts = merge_parts(folders, writer, plan.all_captures, lambda share: progress("merging", share))
    facts |= {
        "parser": plan.parser,
        "limits": asdict(plan.limits),
        "sources": sorted({unit.where for unit in units}),
        "pagekin": __version__,
        "seeds": {},  # nothing in reading is left to chance; later stages note theirs here
    }
    if plan.strict and facts["damaged"]:
        examples = "\n  ".join(facts["damaged_examples"])
        raise DamagedInputError(f"{facts['damaged']:,} damaged records, and --strict was given:\n  {examples}")
    if facts["damaged"] and not facts["html_records"]:
        examples = "\n  ".join(facts["damaged_examples"])
        raise DamagedInputError(f"No page could be read:\n  {examples}")
    shutil.rmtree(parts_folder)
    report.facts = facts
    report.merging = time.perf_counter() - started
    return report


def _refuse_other_sources(path: Path, units: list[Unit]) -> None:
    """Refuse to replace a collection with pages of a source that is not read now: it would lose them."""
    if not (path / MANIFEST).exists():
        return
    stated = read_manifest(path)["facts"].get("sources")
    held = [str(name) for name in stated] if isinstance(stated, list) else ["(not known)"]
    names = {unit.where for unit in units} | {Path(unit.path).name for unit in units}
    # A file of a WACZ is called NAME.wacz:FILE; a newer WACZ of that name may hold other files.
    others = [name for name in held if name not in names and name.partition(":")[0] not in names]
    if others:
        shown = ", ".join(others[:_SHOWN_SOURCES]) + (", ..." if len(others) > _SHOWN_SOURCES else "")
        raise KinError(
            f"{path} holds a collection of other sources: {shown}. It is left as it was. "
            "Name another place with --out, or give --replace to write over it."
        )


def _misplaced(units: list[Unit], stops: dict[int, int]) -> set[str]:
    """Return the files with a unit that did not stop where the next one began."""
    return {
        unit.path
        for i, unit in enumerate(units[:-1])
        if unit.kind == "warc" and units[i + 1].path == unit.path and stops.get(i) != units[i + 1].start
    }


def _unsplit(units: list[Unit], whole: set[str]) -> list[Unit]:
    """Return the units with each file of `whole` in one piece."""
    ends = {unit.path: unit.end for unit in units}
    return [
        Unit(unit.kind, unit.path, 0, ends[unit.path]) if unit.path in whole else unit
        for unit in units
        if unit.path not in whole or unit.start == 0
    ]


def make_reader(parser: str, limits: Limits) -> Reader:
    """Return a reader of pages: 'fast' or 'strict'."""
    if parser == "strict":
        from pagekin.hypertext.strict import StrictLexer

        return StrictLexer(limits)
    from pagekin.hypertext.lexer import Lexer

    return Lexer(limits)


def warm_up(parser: str, limits: Limits) -> None:
    """Load what reading needs; the first time, compile it."""
    builder = PartBuilder(make_reader(parser, limits), limits)
    builder.take(Page("http://warm.example/", b"<title>warm</title><p><a href=up>up</a>"))
    builder.flush()


class _PartWriter:
    """One worker's parts: pages are added unit by unit, and written when there are enough."""

    def __init__(
        self,
        plan: ReadPlan,
        folder: Path,
        name: str,
        clock: Clock = NO_CLOCK,
        tell: Callable[[Path, dict[int, int]], None] = lambda _path, _items: None,
    ) -> None:
        self.plan = plan
        self.folder = folder
        self.name = name
        self.written: list[Path] = []
        self._clock, self._tell = clock, tell
        self._items: dict[int, int] = {}
        """How many items of each unit are in parts, once the next one is written."""
        self._builder = self._fresh()

    def _fresh(self) -> PartBuilder:
        return PartBuilder(make_reader(self.plan.parser, self.plan.limits), self.plan.limits)

    def read(self, task: Task) -> tuple[int, int]:
        """Read one unit, or what is missing of it; return (where it stopped, if its source can tell, how many items it has)."""
        stop, number = -1, 0
        if task.careful:
            self._flush()
        source = read_unit(task.unit, self.plan.limits)
        while True:
            self._clock.start(number, taking=False)
            item = self._too_slow(task, "") if number == task.until else next(source, None)
            if item is None:
                break
            if isinstance(item, int):
                stop = item
                continue
            if number >= task.first:
                self._take(task, number, item)
            number += 1
            if number == task.until + 1:
                stop = task.unit.end
                break
        self._clock.stop()
        return stop, number

    def _take(self, task: Task, number: int, item: Item) -> None:
        """Add an item of a unit to the part."""
        if isinstance(item, Page) and len(item.html) >= HUGE_PAGE and self._builder.tokens >= PART_TOKENS // 8:
            self.finish()
        self._clock.start(number, taking=True)
        self._builder.take(self._too_slow(task, item.url) if number in task.refused else item)
        if task.careful:
            self._builder.flush()
        self._items[task.place] = number + 1
        if self._builder.tokens >= PART_TOKENS:
            self.finish()

    def _too_slow(self, task: Task, url: str) -> Skip:
        """Return the skip of a page that took too long, or of the rest of a unit."""
        seconds = f"more than {self.plan.limits.page_seconds:g} s of processor time"
        what = f"{seconds} to read it" if url else f"{seconds} to get the next record; nothing after it was read"
        return Skip(TOO_SLOW, task.unit.where, url=url, detail=what, html=bool(url))

    def _flush(self) -> None:
        """Read the pages that wait."""
        self._clock.start(-1, taking=False)
        self._builder.flush()
        self._clock.stop()

    def finish(self) -> None:
        """Write the pages so far as a part."""
        self._flush()
        path = self.folder / f"{self.name}-{len(self.written)}"
        self._builder.write(path)
        self.written.append(path)
        self._tell(path, self._items)
        self._items = {}
        del self._builder
        give_back_memory()
        self._builder = self._fresh()


def _read_here(
    plan: ReadPlan, units: list[Unit], folder: Path, report: ReadReport, progress: Progress
) -> tuple[list[Path], dict[int, int]]:
    """Read all units in this process."""
    started = time.perf_counter()
    progress("starting", 0.0)
    warm_up(plan.parser, plan.limits)
    report.start_up = time.perf_counter() - started
    started = time.perf_counter()
    writer = _PartWriter(plan, folder, "0")
    total = sum(unit.weight for unit in units) or 1
    done = 0
    stops: dict[int, int] = {}
    for i, unit in enumerate(units):
        stops[i], _items = writer.read(Task(i, unit))
        done += unit.weight
        progress("reading", done / total)
    writer.finish()
    report.reading = time.perf_counter() - started
    return writer.written, stops


def _work(plan: ReadPlan, folder: Path, connection: Connection, clock: Clock, name: str) -> None:
    """Read what the parent process sends, in a process of its own; `WorkerPool` knows the messages."""
    warm_up(plan.parser, plan.limits)
    writer = _PartWriter(plan, folder, name, clock, lambda path, items: connection.send(("part", path, items)))
    connection.send(("ready",))
    while (task := connection.recv()) is not None:
        if isinstance(task, Task):
            connection.send(("done", task.place, *writer.read(task)))
        else:
            writer.finish()
            connection.send(("finished",))


def _read_in_processes(
    plan: ReadPlan, units: list[Unit], folder: Path, report: ReadReport, progress: Progress
) -> tuple[list[Path], dict[int, int]]:
    """Read the units in several processes, the largest first; raise WorkerError if one of them failed or died."""
    started = time.perf_counter()
    progress("starting", 0.0)
    pool = WorkerPool(min(plan.workers, len(units)), plan.limits.page_seconds, _work, (plan, folder))
    try:
        pool.wait_until_ready()
        report.start_up = time.perf_counter() - started
        started = time.perf_counter()
        by_weight = sorted(range(len(units)), key=lambda place: -units[place].weight)
        total, done = sum(unit.weight for unit in units) or 1, 0
        for place in pool.read([units[place] for place in by_weight]):
            done += units[by_weight[place]].weight
            progress("reading", done / total)
        report.reading = time.perf_counter() - started
        return sorted(pool.parts), {by_weight[place]: stop for place, stop in pool.stops.items()}
    finally:
        pool.close()


def default_workers() -> int:
    """Return as many workers as this process may use cores."""
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
