"""Build the collections of a network's sites: divide the sources into one archive per site, and build each.

Progress is kept when the build is stopped, even by a kill: collections that are complete are not built again.
"""

import contextlib
import fcntl
import hashlib
import json
import multiprocessing
import os
import shutil
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from pagekin import __version__
from pagekin.bags import Strategy
from pagekin.clusters import ClusterSettings
from pagekin.engines.division import Census, count_pages, divide, whole_files
from pagekin.engines.local import BuildRecipe, Stages, build_collection
from pagekin.errors import PagekinError
from pagekin.hypertext import DamagedInputError, ReadPlan, WorkerError
from pagekin.labels import read_label
from pagekin.sources import Limits, Unit
from pagekin.store import KinError, Progress, fresh_file, no_progress, open_kin
from pagekin.text import unfit_reason

LEAVES, WORK, STATE, LOCK, BUILDERS = "leaves", "work", "state.msgpack", ".lock", ".builders"
PATIENCE = 120.0
"""Seconds to wait for the building processes of a run that was killed: they end by themselves."""
PAGES_PER_CLUSTER = 3
"""A small leaf has no more clusters than a third of its pages."""
_FORMAT = 1


class LeavesError(PagekinError):
    """Leaves that cannot be built; the message says why and what to do."""


@dataclass(frozen=True)
class LeafSite:
    """The hosts whose pages make one leaf."""

    name: str
    file: str
    """The name of the collection's folder, without the ending."""
    hosts: tuple[str, ...]
    pages: int


@dataclass(frozen=True)
class LeafPlan:
    """The settings for building leaves."""

    min_pages: int = 3
    """Hosts with fewer pages share a leaf."""
    directory: Path | None = None
    """A table of addresses and classes, by which listed pages are counted."""
    clusters: ClusterSettings = field(default_factory=ClusterSettings)
    """How the clusters of each leaf are made; small leaves have fewer of them."""
    processes: int = 1
    limits: Limits = field(default_factory=Limits)


@dataclass
class BuiltLeaves:
    """The result of building leaves."""

    pages: dict[str, int]
    """Pages of each leaf's collection, by `LeafSite.file`."""
    kept: int
    """Leaves that were complete already."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Leaves that could not be built, by name, and why."""


class LeafBuilder:
    """Builds the leaves of sources in a folder that `lock_folder` has locked."""

    def __init__(self, units: Iterable[Unit], out: Path, plan: LeafPlan, progress: Progress = no_progress) -> None:
        self._units, self._out, self._plan = whole_files(units), out, plan
        self.clock = Stages(progress)
        self._work = out / WORK
        self._key = _fingerprint(self._units, plan.limits)
        self._state_key = _digest([self._key, plan.min_pages, plan.directory and _file_identity(plan.directory)])
        self._divided = False
        """Whether the archives of all leaves were written from these sources."""
        self.census = Census()
        """The pages of each host, and the listed ones by class."""
        with contextlib.suppress(OSError, msgspec.DecodeError):
            key, census = msgspec.msgpack.decode((self._work / STATE).read_bytes(), type=tuple[str, Census])
            if key == self._state_key:
                self.census, self._divided = census, True
        if not self._divided:
            self.census = count_pages(self._units, plan.min_pages, plan.directory, plan.limits, self.clock.tell)

    def build(self, sites: Iterable[LeafSite]) -> BuiltLeaves:
        """Build the collections that are not complete; raise a LeavesError if there is none in the end."""
        leaves = [_Leaf(site, self._out, self._key, self._plan) for site in sites]
        pages = {leaf.site.file: count for leaf in leaves if (count := leaf.pages_if_complete()) is not None}
        built = BuiltLeaves(pages, len(pages))
        by_size = sorted(leaves, key=lambda leaf: -leaf.site.pages)
        wanted = [leaf for leaf in by_size if leaf.site.file not in pages]
        if wanted and not (self._divided and all(leaf.archive.exists() for leaf in wanted)):
            home = {host: leaf.archive for leaf in wanted for host in leaf.site.hosts}
            divide(self._units, home, self._work, self._plan.limits, self.clock.tell)
            with fresh_file(self._work / STATE, durable=True) as file:
                file.write(msgspec.msgpack.encode((self._state_key, self.census)))
        total, done = sum(leaf.site.pages for leaf in wanted) or 1, 0
        for leaf, result in _build_all(wanted, self._out, self._plan.processes):
            done += leaf.site.pages
            self.clock.tell("building", done / total)
            if isinstance(result, int):
                pages[leaf.site.file] = result
            else:
                built.left_out[leaf.site.name] = result
        if not pages:
            reasons = "; ".join(f"{name}: {why}" for name, why in list(built.left_out.items())[:3])
            raise LeavesError(f"no leaf could be built. {reasons}")
        return built

    def finish(self) -> None:
        """Remove the work folder; everything is in the collections."""
        shutil.rmtree(self._work, ignore_errors=True)


@contextlib.contextmanager
def lock_folder(out: Path, own: Iterable[str] = ()) -> Iterator[None]:
    """Lock a folder against other writers; raise a LeavesError if it holds files other than leaves and `own`."""
    if out.exists() and not out.is_dir():
        raise LeavesError(f"{out} is a file; name a folder to write to.")
    foreign = [one.name for one in out.iterdir()] if out.is_dir() else []
    foreign = sorted(set(foreign) - {LEAVES, WORK, LOCK, BUILDERS, *own})
    if foreign and not (out / LEAVES).is_dir():
        raise LeavesError(f"{out} holds other files, such as {foreign[0]}; name a new or an empty folder.")
    out.mkdir(parents=True, exist_ok=True)
    with (out / LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LeavesError(f"{out} is being written by another process. Wait for it to end, or stop it.") from None
        _await_builders(out)
        yield


def _await_builders(out: Path) -> None:
    """Wait until no process of an earlier run still builds a leaf."""
    until = time.monotonic() + PATIENCE
    with (out / BUILDERS).open("a") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > until:
                    raise LeavesError(f"{out}: processes of an earlier run still build there. Stop them.") from None
                time.sleep(0.05)


def _fingerprint(units: Sequence[Unit], limits: Limits) -> str:
    """Return a digest of what the leaves depend on: sources (size and time of each file), limits, version."""
    said: list[Any] = [_FORMAT, __version__, repr(limits)]
    for unit in units:
        said += [unit.kind, str(Path(unit.path).resolve()), unit.member, unit.base_url]
        said += (_file_identity(Path(unit.path) / name) for name in unit.files or ("",))
    return _digest(said)


def _file_identity(file: Path) -> list[Any]:
    try:
        status = file.stat()
    except OSError:
        return [str(file)]
    return [str(file.resolve()), status.st_size, status.st_mtime_ns]


def _digest(said: Any) -> str:
    return hashlib.blake2b(json.dumps(said).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


# -- what is there already ---------------------------------------------------------------------------------------------


class _Leaf:
    """A leaf to build, and its files."""

    def __init__(self, site: LeafSite, out: Path, key: str, plan: LeafPlan) -> None:
        self.site = site
        self.kin = out / LEAVES / f"{site.file}.kin"
        self.note = out / LEAVES / f"{site.file}.json"
        self.archive = out / WORK / f"{site.file}.warc.gz"
        most = max(1, min(plan.clusters.max_clusters, site.pages // PAGES_PER_CLUSTER))
        self.clusters = replace(plan.clusters, max_clusters=most)
        self.key = _digest([key, site.hosts, asdict(self.clusters)])
        self.limits = plan.limits

    def pages_if_complete(self) -> int | None:
        """Return the number of pages if the leaf was built from the same pages before, else None."""
        try:
            note = json.loads(self.note.read_bytes())
            kin = open_kin(self.kin)
        except (OSError, ValueError, KinError):
            return None
        if not isinstance(note, dict) or note.get("key") != self.key or unfit_reason(kin) or read_label(kin) is None:
            return None
        return int(kin.facts["pages"])


# -- building -----------------------------------------------------------------------------------------------------------


def _build_all(leaves: Sequence[_Leaf], out: Path, processes: int) -> Iterator[tuple[_Leaf, int | str]]:
    """Build leaves in some processes, or in this one; yield each with its number of pages or the reason for none."""
    if processes <= 1 or len(leaves) <= 1:
        yield from ((leaf, _build(leaf)) for leaf in leaves)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(processes, len(leaves)), context, _begin_building, (out / BUILDERS,))
    try:
        work: dict[Future[int | str], _Leaf] = {pool.submit(_build, leaf): leaf for leaf in leaves}
        for future in as_completed(work):
            yield work[future], future.result()
    except BrokenProcessPool:
        raise WorkerError(
            "A building process ended unexpectedly; if it was killed for lack of memory, use fewer --workers. Finished "
            "leaves are kept: run the same command again to continue."
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin_building(busy: Path) -> None:
    """Mark this process as a builder, and end it when its parent is killed."""
    held = busy.open("a")
    fcntl.flock(held, fcntl.LOCK_SH)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)
        held.close()

    threading.Thread(target=watch, daemon=True).start()


def _build(leaf: _Leaf) -> int | str:
    """Build a leaf with clusters, label and search; return its number of pages, or why there is nothing to build."""
    leaf.note.unlink(missing_ok=True)
    plan = ReadPlan([str(leaf.archive)], leaf.kin, workers=1, limits=leaf.limits, replace=True)
    try:
        report = build_collection(plan, BuildRecipe(Strategy(), leaf.clusters, text=True))
    except DamagedInputError as error:
        return str(error)
    except KinError as error:
        if not str(error).startswith("there is nothing to index"):
            raise
        return str(error).partition(". ")[0]
    with fresh_file(leaf.note, durable=True) as file:
        file.write(json.dumps({"key": leaf.key}).encode())
    leaf.archive.unlink(missing_ok=True)
    return int(report.facts["pages"])
