"""Read sources into a corpus: units go to workers, their parts to one collection."""

import multiprocessing
import os
import shutil
import time
import traceback
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pagekin import __version__
from pagekin.errors import PagekinError
from pagekin.hypertext.memory import give_back_memory
from pagekin.hypertext.merge import merge_parts
from pagekin.hypertext.part import PartBuilder, Reader
from pagekin.sources import Limits, Page, SourceError, Unit, plan_units, read_unit
from pagekin.store import KinWriter, Progress, no_progress

PART_TOKENS = 2_000_000
"""A worker writes a part when it has about this many words: it bounds a worker's memory."""
HUGE_PAGE = 3 << 20
"""A page of this many bytes starts a new part: its own need and a part's do not add up."""
PARSERS = ("fast", "strict")


class WorkerError(PagekinError):
    """A worker process that failed; the message is for the user, `detail` for a bug report."""

    fault = "ours"

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


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
    while True:
        parts_folder = writer.work / "parts"
        parts_folder.mkdir()
        report = ReadReport({})
        run = _read_here if plan.workers <= 1 or len(units) <= 1 else _read_in_processes
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

    def __init__(self, plan: ReadPlan, folder: Path, name: str) -> None:
        self.plan = plan
        self.folder = folder
        self.name = name
        self.written: list[Path] = []
        self._builder = self._fresh()

    def _fresh(self) -> PartBuilder:
        return PartBuilder(make_reader(self.plan.parser, self.plan.limits), self.plan.limits)

    def read(self, unit: Unit) -> int:
        """Read one unit; return where it stopped, if its source can tell."""
        stop = -1
        for item in read_unit(unit, self.plan.limits):
            if isinstance(item, int):
                stop = item
                continue
            if isinstance(item, Page) and len(item.html) >= HUGE_PAGE and self._builder.tokens >= PART_TOKENS // 8:
                self.finish()
            self._builder.take(item)
            if self._builder.tokens >= PART_TOKENS:
                self.finish()
        return stop

    def finish(self) -> None:
        """Write the pages so far as a part."""
        path = self.folder / f"{self.name}-{len(self.written)}"
        self._builder.write(path)
        self.written.append(path)
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
        stops[i] = writer.read(unit)
        done += unit.weight
        progress("reading", done / total)
    writer.finish()
    report.reading = time.perf_counter() - started
    return writer.written, stops


_shared: dict[str, Any] = {}
"""What the tasks of a worker process share."""


def _begin_worker(plan: ReadPlan, folder: Path, meeting: Any) -> None:
    _shared.update(plan=plan, folder=folder, meeting=meeting)


def _warm_worker() -> None:
    """Make a worker process ready. It waits for the others first, so that each process takes one of these tasks."""
    _shared["meeting"].wait()
    plan = _shared["plan"]
    warm_up(plan.parser, plan.limits)
    _shared["writer"] = _PartWriter(plan, _shared["folder"], str(os.getpid()))


def _read_in_worker(unit: Unit) -> int:
    stop: int = _shared["writer"].read(unit)
    return stop


def _finish_worker() -> list[Path]:
    """Write what a worker process has read; return all its parts. Each process takes one of these tasks, too."""
    _shared["meeting"].wait()
    writer: _PartWriter = _shared["writer"]
    writer.finish()
    return writer.written


def _read_in_processes(
    plan: ReadPlan, units: list[Unit], folder: Path, report: ReadReport, progress: Progress
) -> tuple[list[Path], dict[int, int]]:
    """Read the units in several processes, the largest first; raise WorkerError if one of them failed or died."""
    started = time.perf_counter()
    progress("starting", 0.0)
    context = multiprocessing.get_context("spawn")
    count = min(plan.workers, len(units))
    pool = ProcessPoolExecutor(count, context, _begin_worker, (plan, folder, context.Barrier(count)))
    try:
        for ready in [pool.submit(_warm_worker) for _ in range(count)]:
            ready.result()
        report.start_up = time.perf_counter() - started
        started = time.perf_counter()
        total, done = sum(unit.weight for unit in units) or 1, 0
        stops: dict[int, int] = {}
        by_weight = sorted(range(len(units)), key=lambda place: -units[place].weight)
        reads = {pool.submit(_read_in_worker, units[place]): place for place in by_weight}
        for read in as_completed(reads):
            place = reads[read]
            stops[place] = read.result()
            done += units[place].weight
            progress("reading", done / total)
        finishes = [pool.submit(_finish_worker) for _ in range(count)]
        paths = sorted(path for finish in finishes for path in finish.result())
        report.reading = time.perf_counter() - started
        return paths, stops
    except BrokenProcessPool:
        raise WorkerError(
            "A reading process ended unexpectedly; if it was killed for lack of memory, use fewer --workers. "
            "Nothing was written."
        ) from None
    except OSError as error:
        raise WorkerError(f"Reading failed: {error.strerror or error}: {error.filename or folder}") from error
    except Exception as error:
        detail = "".join(traceback.format_exception(error))
        raise WorkerError(f"Reading failed: {type(error).__name__}: {error}", detail) from error
    finally:
        pool.shutdown(cancel_futures=True)


def default_workers() -> int:
    """Return as many workers as this process may use cores."""
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
