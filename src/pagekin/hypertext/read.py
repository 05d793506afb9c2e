"""Read sources into a corpus: workers read units into parts, which are merged into one collection."""

import contextlib
import gc
import secrets
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from pagekin import __version__
from pagekin.hypertext.journal import Journal, is_whole, reading_key, sign_part
from pagekin.hypertext.keeping import PartsToMerge, is_renewable, keep_parts, refuse_other_sources, source_key
from pagekin.hypertext.merge import merge_parts
from pagekin.hypertext.opt_outs import NO_OPT_OUTS, OptOuts
from pagekin.hypertext.part import PartBuilder, Reader
from pagekin.hypertext.pdf import require_pdf_reader
from pagekin.hypertext.workers import NO_CLOCK, Clock, Task, WorkerPool
from pagekin.sources import HTML_ENDINGS, TOO_SLOW, Item, Limits, Page, Skip, SourceError, Unit, plan_units, read_unit
from pagekin.store import (
    NO_LIMIT,
    KinWriter,
    MemoryBudget,
    Progress,
    compile_missing,
    core_count,
    give_back_memory,
    no_progress,
    use_memory_tightly,
)

PART_TOKENS = 2_000_000
"""A worker writes a part when it has about this many words, …"""
PART_LINKS = 250_000
"""… or so many different link addresses: both bound a worker's memory."""
PART_SECONDS = 10.0
"""A worker writes a part at the end of a unit if the last one is so old: it bounds what is lost if the build is stopped."""
HUGE_PAGE = 3 << 20
"""A page of this many bytes starts a new part: its own need and a part's do not add up."""
WORKER_BYTES, PAGE_BYTES = 100 << 20, 20
"""What a process takes that reads small pages, and for each byte of a large one besides."""
PARSERS = ("fast", "strict")
_LITTLE = 4 << 20
"""Bytes of HTML that are read in a fraction of a second."""
_RARELY = 100_000
"""New objects until a worker looks for reference cycles."""

Note = Callable[[str], None]
"""A function that is told what people should know."""


def no_note(_text: str) -> None:
    """Ignore a note."""


class DamagedInputError(SourceError):
    """Damaged input while `strict` is on."""


@dataclass(frozen=True)
class UnitsRead:
    """The parts that a process made of neighbouring units, and how far they go."""

    parts: tuple[tuple[Path, dict[int, int]], ...]
    """Each part, and how many items of units, by their places among these, are in parts once it is written."""
    ends: tuple[tuple[int, int], ...]
    """Of each unit: where it stopped, if its source can tell, and how many items it has."""


@dataclass
class ReadPlan:
    """The sources to read, and how to read them."""

    sources: list[str]
    out: Path
    parser: str = "fast"
    workers: int = 1
    base_urls: dict[str, str] = field(default_factory=dict)
    base_url: str = ""
    all_captures: bool = False
    strict: bool = False
    limits: Limits = field(default_factory=Limits)
    exclude: tuple[str, ...] = ()
    """Leave out pages whose canonical address matches one of these patterns: `*/genindex*`, as `fnmatch` has them."""
    content: tuple[str, ...] = ()
    """Take words and links from what the first of these CSS selectors finds that a page has: see `keep_content`."""
    obey: tuple[str, ...] = ()
    """Leave out pages that ask not to be indexed, by these ways of `OBEYED`."""
    max_per_host: int = 0
    """Keep at most so many captured addresses of each host, those with the least hashes; 0 means all."""
    units: tuple[Unit, ...] = ()
    """Read these units of the sources, and not all that there are."""
    replace: bool = False
    """Write to `out` also if it holds a collection of other sources."""
    memory: MemoryBudget = NO_LIMIT
    """What all processes may take together; fewer of them read where it is short."""
    read_elsewhere: tuple[UnitsRead, ...] = ()
    """What other machines have read of `units`, in their order, so that it is only merged here."""
    keep: bool | None = None
    """Keep what is read, so that the collection can be updated; None means as it was so far."""
    adds: bool = False
    """Add the sources to what the collection keeps, and make it anew from all of that."""
    opt_outs: OptOuts = NO_OPT_OUTS
    """Leave these addresses and hosts out, with those that the collection leaves out so far."""
    expire_before: int = 0
    """Leave out pages that were last seen before this time, in seconds since 1970."""
    read_already: bool = False
    """Whether this very run has read the sources before, so that nobody need be told that it goes on."""
    recipe: Mapping[str, Any] = field(default_factory=dict)
    """What is to be kept beside the parts for the stages after reading."""
    small_here: bool = False
    """Read a small folder in this process: another takes longer to start than to read it."""

    @property
    def reading_processes(self) -> int:
        """Return how many processes read: as many as asked for, as far as memory allows."""
        if not self.memory.limit:
            return self.workers
        each = WORKER_BYTES + PAGE_BYTES * self.limits.page_bytes
        return max(1, min(self.workers, (self.memory.limit - WORKER_BYTES) // each))


@dataclass
class ReadReport:
    """The result of reading."""

    facts: dict[str, Any]
    units: int = 0
    """The pieces that the sources were cut into."""
    units_before: int = 0
    """Those of them that an earlier run had read, which was stopped."""
    parts: int = 0
    """The parts that the corpus was merged from."""
    parts_rewritten: int = 0
    """Those of them that were written again without what is left out."""
    start_up: float = 0.0
    reading: float = 0.0
    merging: float = 0.0


def read_sources(plan: ReadPlan, progress: Progress = no_progress, note: Note = no_note) -> ReadReport:
    """Read all sources into the collection `plan.out`, all or nothing; tell `note` if an earlier run is resumed."""
    with KinWriter(plan.out, "pagekin read", plan.memory) as writer:
        report = read_sources_into(writer, plan, progress, note)
        started = time.perf_counter()
        writer.commit(report.facts)
        report.merging += time.perf_counter() - started
    return report


def read_sources_into(
    writer: KinWriter, plan: ReadPlan, progress: Progress = no_progress, note: Note = no_note
) -> ReadReport:
    """Write the corpus of all sources with `writer`, which the caller commits; return the report with the facts.

    What a run that was stopped has read of the same sources by the same settings is not read again; `note` is told so.
    Addresses that the collection so far leaves out are left out of the new one, too.
    """
    report = ReadReport({})
    merged = gather_parts(writer, plan, report, progress, note)
    started = time.perf_counter()
    facts = merge_parts(merged.parts, writer, plan.all_captures, lambda share: progress("merging", share))
    report.facts = describe_reading(plan, merged.sources, facts)
    report.merging += time.perf_counter() - started
    return report


def gather_parts(
    writer: KinWriter, plan: ReadPlan, report: ReadReport, progress: Progress = no_progress, note: Note = no_note
) -> PartsToMerge:
    """Read the sources of a plan; return the parts to merge, which the writer keeps if the plan says so."""
    units, parts = read_parts(writer, plan, report, progress, note)
    started = time.perf_counter()
    merged = keep_parts(
        writer, units, parts, keep=plan.keep, adds=plan.adds, opt_outs=plan.opt_outs, expire_before=plan.expire_before,
        recipe=plan.recipe, max_per_host=plan.max_per_host,
    )  # fmt: skip
    report.parts, report.parts_rewritten = len(merged.parts), merged.rewritten
    report.merging = time.perf_counter() - started
    return merged


def reading_settings(plan: ReadPlan, sources: Sequence[str]) -> dict[str, Any]:
    """Return the facts about the settings of reading, equal in a collection and its shards."""
    return {
        "parser": plan.parser,
        "limits": asdict(plan.limits),
        "exclude": sorted(set(plan.exclude)),
        "content": list(plan.content),
        **({"obey": sorted(set(plan.obey))} if plan.obey else {}),
        **({"max_per_host": plan.max_per_host} if plan.max_per_host else {}),
        "sources": list(sources),
        "pagekin": __version__,
    }


def describe_reading(plan: ReadPlan, sources: Sequence[str], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts about a corpus and its reading; refuse damaged input if the plan says so."""
    refuse_damage(facts, plan.strict)
    # Nothing in reading is left to chance; later stages note their seeds here.
    return {**facts, **reading_settings(plan, sources), "seeds": {}}


def refuse_damage(facts: Mapping[str, Any], strict: bool) -> None:
    """Raise an error if no page could be read or, with `strict`, if any input is damaged."""
    examples = "\n  ".join(facts["damaged_examples"])
    if strict and facts["damaged"]:
        raise DamagedInputError(f"{facts['damaged']:,} damaged records; leave out --strict to skip them:\n  {examples}")
    if facts["damaged"] and not facts["html_records"]:
        raise DamagedInputError(f"No page could be read. Check that the files are complete:\n  {examples}")


def read_parts(
    writer: KinWriter, plan: ReadPlan, report: ReadReport, progress: Progress = no_progress, note: Note = no_note
) -> tuple[list[Unit], list[Path]]:
    """Read the sources of a plan into parts, which stay until the writer commits; return (units, parts)."""
    if plan.parser not in PARSERS:
        raise ValueError(f"there is no parser '{plan.parser}'; choose fast or strict")
    if plan.limits.pdf_pages:
        require_pdf_reader()
    units = list(plan.units) or plan_units(plan.sources, plan.base_urls, plan.base_url)
    if not plan.replace:
        refuse_other_sources(writer.path, units)
    key = units_key(plan, units)
    folder = writer.resume_folder()
    with Journal(folder, key) as journal:
        units = _unsplit(units, journal.whole)
        report.units, report.units_before = len(units), sum(map(journal.is_read, range(len(units))))
        if journal.parts and not plan.read_already:
            note(f"continuing: {report.units_before:,} of {report.units:,} pieces were already read")
        _note_read_elsewhere(plan, journal)
        _read(plan, units, journal, folder, report, progress)
        while wrong := misplaced_files(units, journal.stops):
            # A record start that was none: it lay inside another record. Read that file in one piece.
            journal.restart(journal.whole | wrong)
            units = _unsplit(units, journal.whole)
            _read(plan, units, journal, folder, report, progress)
        parts = sorted(journal.parts)
    return units, parts


def units_key(plan: ReadPlan, units: Sequence[Unit]) -> str:
    """Return a digest of units, settings and the code that reads; parts with the same key are equal."""
    return reading_key(
        units, [plan.parser, asdict(plan.limits), sorted(set(plan.exclude)), plan.content, sorted(set(plan.obey))]
    )


def _note_read_elsewhere(plan: ReadPlan, journal: Journal) -> None:
    """Note in the journal what other machines read."""
    first = 0
    for read in plan.read_elsewhere:
        for part, items in read.parts:
            if not is_whole(part):
                raise DamagedInputError(f"{part} has changed since it was written. Build again.")
            journal.note_part(part, {first + place: count for place, count in items.items()})
        for place, end in enumerate(read.ends):
            journal.note_end(first + place, *end)
        first += len(read.ends)


def misplaced_files(units: list[Unit], stops: dict[int, int]) -> set[str]:
    """Return the files in which a unit did not stop where the next unit begins."""
    return {
        unit.path
        for i, (unit, after) in enumerate(pairwise(units))
        if unit.kind == "warc" and (after.path, after.start) == (unit.path, unit.end) and stops.get(i) != unit.end
    }


def _unsplit(units: list[Unit], whole: set[str]) -> list[Unit]:
    """Return the units, with each file of `whole` in one unit."""
    ends = {unit.path: unit.end for unit in units}
    return [
        Unit(unit.kind, unit.path, 0, ends[unit.path]) if unit.path in whole else unit
        for unit in units
        if unit.path not in whole or unit.start == 0
    ]


def make_reader(parser: str, limits: Limits, batch_bytes: int | None = None) -> Reader:
    """Return a 'fast' or 'strict' reader of pages, for batches of about this many bytes if given."""
    if parser == "strict":
        from pagekin.hypertext.strict import StrictLexer

        return StrictLexer(limits)
    from pagekin.hypertext.lexer import Lexer

    return Lexer(limits) if batch_bytes is None else Lexer(limits, batch_bytes)


def warm_up(parser: str, limits: Limits) -> None:
    """Load what reading needs; compile it the first time."""
    builder = PartBuilder(make_reader(parser, limits, 1 << 16), limits)
    builder.take(Page("http://warm.example/", b"<title>warm</title><p><a href=up>up</a>"))
    builder.flush()


class _PartWriter:
    """Writes one worker's parts: adds pages unit by unit, and starts a new part when there are enough."""

    def __init__(
        self,
        plan: ReadPlan,
        folder: Path,
        name: str,
        tell: Callable[[Path, dict[int, int]], None],
        clock: Clock = NO_CLOCK,
    ) -> None:
        self.plan = plan
        self.folder = folder
        self.name = name
        self._written = 0
        self._since = time.monotonic()
        self._clock, self._tell = clock, tell
        self._items: dict[int, int] = {}
        """How many items of each unit are in parts, once the next one is written."""
        self._source = ""
        self._begun: PartBuilder | None = None

    @property
    def _builder(self) -> PartBuilder:
        """Return the current part; it takes memory from the first page on."""
        if self._begun is None:
            plan = self.plan
            reader = make_reader(plan.parser, plan.limits)
            self._begun = PartBuilder(reader, plan.limits, plan.exclude, plan.content, plan.obey)
        return self._begun

    def read(self, task: Task) -> tuple[int, int]:
        """Read a unit or the rest of it; return (the offset where it stopped, if known; its number of items)."""
        stop, number = -1, 0
        self._begin_source(source_key(task.unit))
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
        if time.monotonic() - self._since >= PART_SECONDS:
            self.finish()
        return stop, number

    def _begin_source(self, source: str) -> None:
        """Begin a source; begin a new part if this source or the last one may be replaced later."""
        others = self._builder.sources - {source}
        if others and any(map(is_renewable, {source, *others})):
            self.finish()
        self._source = source

    def _take(self, task: Task, number: int, item: Item) -> None:
        """Add an item to the part."""
        if isinstance(item, Page) and len(item.html) >= HUGE_PAGE and self._builder.tokens >= PART_TOKENS // 8:
            self.finish()
        self._clock.start(number, taking=True)
        self._builder.sources.add(self._source)
        self._builder.take(self._too_slow(task, item.url) if number in task.refused else item)
        if task.careful:
            self._builder.flush()
        self._items[task.place] = number + 1
        if self._builder.tokens >= PART_TOKENS or self._builder.resolver.cases >= PART_LINKS:
            self.finish()

    def _too_slow(self, task: Task, url: str) -> Skip:
        """Return the skip for a page, or the rest of a unit, that took too long."""
        seconds = f"more than {self.plan.limits.page_seconds:g} s of processor time"
        what = f"{seconds} to read it" if url else f"{seconds} to get the next record; nothing after it was read"
        return Skip(TOO_SLOW, task.unit.where, url=url, detail=what, html=bool(url))

    def _flush(self) -> None:
        """Read the waiting pages."""
        self._clock.start(-1, taking=False)
        self._builder.flush()
        self._clock.stop()

    def finish(self) -> None:
        """Write the pages so far as a part."""
        self._flush()
        path = self.folder / f"{self.name}-{self._written}"
        self._builder.write(path)
        sign_part(path)
        self._written += 1
        self._since = time.monotonic()
        self._tell(path, self._items)
        self._items = {}
        self._begun = None
        give_back_memory()


def _read(
    plan: ReadPlan, units: list[Unit], journal: Journal, folder: Path, report: ReadReport, progress: Progress
) -> None:
    """Read all units that are not yet in written parts."""
    tasks = [Task(place, unit, journal.items(place)) for place, unit in enumerate(units) if not journal.is_read(place)]
    if not tasks:
        return
    total = sum(unit.weight for unit in units)
    done = total - sum(task.unit.weight for task in tasks)
    here = plan.reading_processes <= 1 or _takes_little(units, plan.small_here and not plan.limits.pdf_pages)
    read = _read_here if here else _read_in_processes
    started = time.perf_counter()
    progress("starting", 0.0)
    with contextlib.closing(read(plan, tasks, journal, folder)) as places:  # workers end whatever happens here
        for place in places:
            if place < 0:
                report.start_up = time.perf_counter() - started
                started = time.perf_counter()
            else:
                done += units[place].weight
            progress("reading", done / total)
    report.reading = time.perf_counter() - started


def _takes_little(units: list[Unit], folders: bool) -> bool:
    """Return whether every page is quick to read: those of the demo web and of small plain files."""
    if all(unit.kind == "demo" for unit in units):
        return True
    if not folders or [unit.kind for unit in units] != ["folder"]:
        return False
    names = [file for file in units[0].files if file.lower().endswith(HTML_ENDINGS)]
    with contextlib.suppress(OSError):
        return sum((Path(units[0].path) / name).stat().st_size for name in names) <= _LITTLE
    return False


def _read_here(plan: ReadPlan, tasks: list[Task], journal: Journal, folder: Path) -> Generator[int, None, None]:
    """Read units in this process; yield -1 at the start, then the place of each finished unit."""
    warm_up(plan.parser, plan.limits)
    yield -1
    writer = _PartWriter(plan, folder, f"{journal.run}-0", journal.note_part)
    for task in tasks:
        journal.note_end(task.place, *writer.read(task))
        yield task.place
    writer.finish()


def read_units(plan: ReadPlan, units: Sequence[Unit], folder: Path) -> UnitsRead:
    """Read units into parts in a folder, in this process, for a merge elsewhere.

    Parts of any number of readings are kept together, so their names are long enough never to meet.
    """
    parts: list[tuple[Path, dict[int, int]]] = []
    warm_up(plan.parser, plan.limits)
    writer = _PartWriter(
        plan, folder, f"{secrets.token_hex(16)}-0", lambda path, items: parts.append((path, dict(items)))
    )
    ends = [writer.read(Task(place, unit)) for place, unit in enumerate(units)]
    writer.finish()
    return UnitsRead(tuple(parts), tuple(ends))


def _work(plan: ReadPlan, folder: Path, run: str, connection: Connection, clock: Clock, name: str) -> None:
    """Read the tasks that the parent process sends (see `WorkerPool` for the messages)."""
    use_memory_tightly()
    warm_up(plan.parser, plan.limits)
    gc.freeze()  # pages leave no reference cycles, and looking for some takes longer the more was read
    gc.set_threshold(_RARELY)
    writer = _PartWriter(
        plan, folder, f"{run}-{name}", lambda path, items: connection.send(("part", path, items)), clock
    )
    connection.send(("ready",))
    while (task := connection.recv()) is not None:
        if isinstance(task, Task):
            connection.send(("done", task.place, *writer.read(task)))
        else:
            writer.finish()
            connection.send(("finished",))


def _read_in_processes(plan: ReadPlan, tasks: list[Task], journal: Journal, folder: Path) -> Generator[int, None, None]:
    """Read units in several processes, the largest first; raise a WorkerError if one fails."""
    count = min(plan.reading_processes, len(tasks))
    compile_missing()  # here, where somebody may watch, and not in each process
    pool = WorkerPool(count, plan.limits.page_seconds, _work, (plan, folder, journal.run), journal)
    try:
        pool.wait_until_ready()
        yield -1
        yield from pool.read(sorted(tasks, key=lambda task: -task.unit.weight))
    finally:
        pool.close()


def default_workers() -> int:
    """Return the number of cores that this process may use."""
    return core_count()
