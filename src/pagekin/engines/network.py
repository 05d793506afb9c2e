"""From archives to a network: one collection for each leaf, and the file that says who stands above whom.

What was done is kept when the making is stopped, even by a kill: leaves that are whole are not built again.
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
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pagekin import __version__
from pagekin.bags import Strategy
from pagekin.clusters import MOST_PAGES, ClusterSettings
from pagekin.engines.division import Census, count_pages, divide, whole_files
from pagekin.engines.local import build_collection
from pagekin.engines.stages import Progress, Stages
from pagekin.hypertext import DamagedInputError, ReadPlan, WorkerError
from pagekin.labels import ContentLabel, read_label
from pagekin.routers.network import FILE, Network, NetworkError
from pagekin.routers.topology import (
    Hierarchy,
    SiteGroup,
    check_ports,
    cluster_tree,
    directory_tree,
    dns_tree,
    group_hosts,
    make_network,
)
from pagekin.sources import Limits, Unit, plan_units
from pagekin.store import KinError, open_kin
from pagekin.text import unfit_reason

BY = ("dns", "directory", "clusters")
LEAVES, WORK, LOCK, BUILDERS = "leaves", "work", ".lock", ".builders"
PATIENCE = 120.0
"""Seconds to wait for the building processes of a run that was killed: they end by themselves."""
PAGES_PER_CLUSTER = 3
"""A small leaf has no more clusters than a third of its pages."""
_FORMAT = 1


@dataclass(frozen=True)
class NetworkPlan:
    """What `init_network` is to make, and how."""

    by: tuple[str, ...] = ("dns",)
    """dns, directory, clusters: a hierarchy for each."""
    directory: Path | None = None
    """A table of addresses and classes, for the hierarchy `directory`."""
    name: str = ""
    min_pages: int = 3
    clusters: ClusterSettings = field(default_factory=ClusterSettings)
    """How the clusters of each site are made; small sites have fewer of them."""
    host: str = "127.0.0.1"
    port: int = 8700
    one_port: bool = False
    processes: int = 1
    replace: bool = False
    """Replace a network file that is there."""
    base_urls: Mapping[str, str] = field(default_factory=dict)
    base_url: str = ""
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        for one in self.by:
            if one not in BY:
                raise NetworkError(f"--by is one of {', '.join(BY)}; not '{one}'")
        if len(set(self.by)) < len(self.by) or not self.by:
            raise NetworkError("--by names each hierarchy once, and at least one")
        if ("directory" in self.by) != (self.directory is not None):
            raise NetworkError("--by directory and --directory FILE go together")
        if self.min_pages < 1 or self.processes < 1 or not 0 < self.port < 65536:
            raise NetworkError("pages and processes are at least 1, and a port is below 65,536")


@dataclass
class NetworkReport:
    """Facts about a network that was made."""

    network: Network
    pages: dict[str, int]
    """Pages of each site."""
    kept: int = 0
    """Leaves that were whole already."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Leaves that could not be built, and why."""
    skipped: dict[str, int] = field(default_factory=dict)
    """Records of the sources that are no pages, by reason."""
    listed: int = 0
    """Pages that the directory lists."""
    unused: list[str] = field(default_factory=list)
    """Collections in the folder that the network does not name: of an earlier one."""
    seconds: dict[str, float] = field(default_factory=dict)


def init_network(
    sources: Sequence[str], out: Path, plan: NetworkPlan, progress: Progress = lambda _s, _p: None
) -> NetworkReport:
    """Divide the pages of all sources into leaves, build these, and write the network file.

    NetworkError if nothing can be made of it; SourceError and DirectoryError for what cannot be read.
    """
    file = out / FILE
    if file.exists() and not plan.replace:
        raise NetworkError(
            f"{file} exists already. Name another folder, or give --replace: leaves that fit are kept, the file is "
            "written anew."
        )
    units = whole_files(plan_units(sources, dict(plan.base_urls), plan.base_url))
    with _lock_folder(out):
        clock = Stages(progress)
        key = _fingerprint(units, plan.limits)
        state = _State(out, _state_key(key, plan))
        if not state.divided:
            state.census = count_pages(units, plan.min_pages, plan.directory, plan.limits, clock.tell)
        report = NetworkReport(Network("", ()), {}, skipped=dict(state.census.skipped))
        report.listed = sum(sum(counts.values()) for counts in state.census.classes.values())
        groups = _group_leaves(state.census, plan)
        leaves = [_Leaf(group, out, key, plan) for group in groups]
        pages = _build_missing(leaves, units, state, plan, report, clock)
        groups = [replace(group, pages=pages[group.file]) for group in groups if group.file in pages]
        clock.tell("routers", 0.0)
        trees = _make_hierarchies(groups, state.census, out, plan)
        network = make_network(
            plan.name or out.resolve().name, groups, trees, plan.host, plan.port, plan.one_port, LEAVES
        )
        _write(file, network.to_toml().encode("utf-8", "replace"))
        shutil.rmtree(state.work, ignore_errors=True)
        clock.tell("routers", 1.0)
    report.network = Network.load(file)
    of_file = {f"{LEAVES}/{group.file}.kin": group.pages for group in groups}
    report.pages = {node.name: of_file[node.collection.as_posix()] for node in report.network.nodes if node.collection}
    report.unused = sorted(kin.name for kin in (out / LEAVES).glob("*.kin") if f"{LEAVES}/{kin.name}" not in of_file)
    report.seconds = clock.seconds
    return report


def _group_leaves(census: Census, plan: NetworkPlan) -> list[SiteGroup]:
    """Group hosts into leaves; NetworkError if no network can be made of them."""
    groups = group_hosts(census.hosts, plan.min_pages)
    if not groups:
        skipped = ", ".join(f"{count:,} {reason}" for reason, count in census.skipped.most_common())
        raise NetworkError(f"no page was found; a page is HTML with status 200. Skipped: {skipped or 'nothing'}.")
    largest = max(groups, key=lambda group: group.pages)
    if plan.clusters.method != "default" and largest.pages > MOST_PAGES:
        raise NetworkError(
            f"{largest.name} has {largest.pages:,} pages; the method {plan.clusters.method} takes {MOST_PAGES:,} at most. "
            "The default method takes them."
        )
    check_ports(len(groups) + 1, plan.port, plan.one_port)
    if plan.directory is not None and not census.classes:
        raise NetworkError(f"{plan.directory} lists none of the pages: are its addresses spelled like theirs?")
    return groups


def _build_missing(
    leaves: Sequence["_Leaf"], units: Sequence[Unit], state: "_State", plan: NetworkPlan, report: NetworkReport,
    clock: "Stages",
) -> dict[str, int]:  # fmt: skip
    """Build the leaves that are not complete, note in the report how it went, and return the pages of each leaf."""
    pages = {leaf.group.file: count for leaf in leaves if (count := leaf.pages_if_complete()) is not None}
    report.kept = len(pages)
    wanted = [leaf for leaf in leaves if leaf.group.file not in pages]
    if wanted and not (state.divided and all(leaf.archive.exists() for leaf in wanted)):
        home = {host: leaf.archive for leaf in wanted for host in leaf.group.hosts}
        divide(units, home, state.work, plan.limits, clock.tell)
        state.save()
    for leaf, built in _build_all(wanted, state.work.parent, plan.processes, clock.tell):
        if isinstance(built, int):
            pages[leaf.group.file] = built
        else:
            report.left_out[leaf.group.name] = built
    if not pages:
        reasons = "; ".join(f"{name}: {why}" for name, why in list(report.left_out.items())[:3])
        raise NetworkError(f"no leaf could be built. {reasons}")
    return pages


@contextlib.contextmanager
def _lock_folder(out: Path) -> Iterator[None]:
    """Lock the folder against other writers; refuse one that holds other files than a network's."""
    if out.exists() and not out.is_dir():
        raise NetworkError(f"{out} is a file; name a folder to write to.")
    foreign = [one.name for one in out.iterdir()] if out.is_dir() else []
    foreign = sorted(set(foreign) - {FILE, LEAVES, WORK, LOCK, BUILDERS, f"{FILE}.new"})
    if foreign and not (out / LEAVES).is_dir():
        raise NetworkError(f"{out} holds other files, such as {foreign[0]}; name a new or an empty folder.")
    out.mkdir(parents=True, exist_ok=True)
    with (out / LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NetworkError(f"{out} is being written by another process. Wait for it to end, or stop it.") from None
        _await_builders(out)
        yield


def _await_builders(out: Path) -> None:
    """Wait until no process of an earlier run is left that builds a leaf."""
    until = time.monotonic() + PATIENCE
    with (out / BUILDERS).open("a") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > until:
                    raise NetworkError(f"{out}: processes of an earlier run still build there. Stop them.") from None
                time.sleep(0.05)


def _write(file: Path, data: bytes) -> None:
    """Put a file in its place, whole or not at all."""
    fresh = file.with_name(f"{file.name}.new")
    with fresh.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    fresh.replace(file)


def _fingerprint(units: Sequence[Unit], limits: Limits) -> str:
    """Return a digest of what the leaves depend on: sources (by size and time of each file), limits, version."""
    said: list[Any] = [_FORMAT, __version__, repr(limits)]
    for unit in units:
        said += [unit.kind, str(Path(unit.path).resolve()), unit.member, unit.base_url]
        said += (_file_identity(Path(unit.path) / name) for name in unit.files or ("",))
    return _digest(said)


def _state_key(key: str, plan: NetworkPlan) -> str:
    """Return a digest of what counting and dividing depend on."""
    return _digest([key, plan.min_pages, plan.directory and _file_identity(plan.directory)])


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
    """A leaf to build, and the files that belong to it."""

    def __init__(self, group: SiteGroup, out: Path, key: str, plan: NetworkPlan) -> None:
        self.group = group
        self.kin = out / LEAVES / f"{group.file}.kin"
        self.note = out / LEAVES / f"{group.file}.json"
        self.archive = out / WORK / f"{group.file}.warc.gz"
        most = max(1, min(plan.clusters.max_clusters, group.pages // PAGES_PER_CLUSTER))
        self.clusters = replace(plan.clusters, max_clusters=most)
        self.key = _digest([key, group.hosts, asdict(self.clusters)])
        self.limits = plan.limits

    def pages_if_complete(self) -> int | None:
        """Return the number of pages of the leaf's collection if it was built from the same pages, else None."""
        try:
            note = json.loads(self.note.read_bytes())
            kin = open_kin(self.kin)
        except (OSError, ValueError, KinError):
            return None
        if not isinstance(note, dict) or note.get("key") != self.key or unfit_reason(kin) or read_label(kin) is None:
            return None
        return int(kin.facts["pages"])


class _State:
    """The work folder: archives of leaves that are not built yet, and the counts of pages."""

    def __init__(self, out: Path, key: str) -> None:
        self.work = out / WORK
        self.key = key
        self.census = Census()
        self.divided = False
        """The archives of all leaves were written from these sources."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            said = json.loads((self.work / "state.json").read_bytes())
            if said["key"] == key:
                classes = {
                    host: Counter({tuple(path): int(count) for path, count in counts})
                    for host, counts in said["classes"].items()
                }
                hosts = {str(host): int(pages) for host, pages in said["hosts"].items()}
                self.census = Census(hosts, classes, Counter(said["skipped"]))
                self.divided = True

    def save(self) -> None:
        """Note that all archives are there."""
        census = self.census
        classes = {host: [[list(path), count] for path, count in one.items()] for host, one in census.classes.items()}
        said = {"key": self.key, "hosts": census.hosts, "classes": classes, "skipped": census.skipped}
        _write(self.work / "state.json", json.dumps(said).encode())


# -- building -----------------------------------------------------------------------------------------------------------


def _build_all(leaves: Sequence[_Leaf], out: Path, processes: int, tell: Progress) -> Iterator[tuple[_Leaf, int | str]]:
    """Build leaves, the largest first: each with its number of pages, or the reason why there is none."""
    total, done = sum(leaf.group.pages for leaf in leaves) or 1, 0
    for leaf, built in _build_in_processes(
        sorted(leaves, key=lambda one: (-one.group.pages, one.group)), out, processes
    ):
        done += leaf.group.pages
        tell("building", done / total)
        yield leaf, built


def _build_in_processes(leaves: Sequence[_Leaf], out: Path, processes: int) -> Iterator[tuple[_Leaf, int | str]]:
    if processes <= 1 or len(leaves) <= 1:
        for leaf in leaves:
            yield leaf, _build(leaf)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(processes, len(leaves)), context, _begin_building, (out / BUILDERS,))
    try:
        work: dict[Future[int | str], _Leaf] = {pool.submit(_build, leaf): leaf for leaf in leaves}
        for future in as_completed(work):
            yield work[future], future.result()
    except BrokenProcessPool:
        raise WorkerError(
            "A building process ended unexpectedly; if it was killed for lack of memory, use fewer --processes. Leaves "
            "that were built are kept: the same command goes on."
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin_building(busy: Path) -> None:
    """Tell others that this process builds, and let it end when its parent was killed: nobody else would tell it."""
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
    """Build a leaf with clusters, label and search; its number of pages, or why there is nothing to build."""
    leaf.note.unlink(missing_ok=True)
    plan = ReadPlan([str(leaf.archive)], leaf.kin, workers=1, limits=leaf.limits)
    try:
        report = build_collection(plan, Strategy(), clusters=leaf.clusters, text=True)
    except DamagedInputError as error:
        return str(error)
    except KinError as error:
        if not str(error).startswith("there is nothing to index"):
            raise
        return str(error).partition(". ")[0]
    _write(leaf.note, json.dumps({"key": leaf.key}).encode())
    leaf.archive.unlink(missing_ok=True)
    return int(report.facts["pages"])


# -- routers ------------------------------------------------------------------------------------------------------------


def _make_hierarchies(groups: Sequence[SiteGroup], census: Census, out: Path, plan: NetworkPlan) -> list[Hierarchy]:
    makers: dict[str, Callable[[], Hierarchy]] = {
        "dns": lambda: dns_tree(groups),
        "directory": lambda: directory_tree(_class_counts(groups, census)),
        "clusters": lambda: cluster_tree(_read_labels(groups, out)),
    }
    return [makers[one]() for one in plan.by]


def _class_counts(groups: Sequence[SiteGroup], census: Census) -> dict[str, Counter[tuple[str, ...]]]:
    """Count the listed pages of each leaf by their class."""
    return {
        group.file: sum((census.classes.get(host, Counter()) for host in group.hosts), Counter()) for group in groups
    }


def _read_labels(groups: Sequence[SiteGroup], out: Path) -> dict[str, ContentLabel]:
    labels = {group.file: read_label(open_kin(out / LEAVES / f"{group.file}.kin")) for group in groups}
    return {file: label for file, label in labels.items() if label is not None}
