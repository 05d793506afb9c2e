"""The services that a router asks: its children, or the leaves below child routers in the same process.

A router in the same process knows the labels of its own children, so whoever stands above it can judge these at once, ask the
leaves themselves, and merge once: no request passes the routers between.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from pagekin.collection import AskedNode, Hit, SkippedNode
from pagekin.labels import ContentLabel
from pagekin.routers.child import Child
from pagekin.routers.routing import NOT_TOGETHER, LabelCounts, RoutingTable
from pagekin.routers.trust import MOST_ON_PATH

if TYPE_CHECKING:
    from pagekin.routers.knowledge import Knowledge, Snapshot

Path = tuple[str, ...]
"""Names from the router that asks, its own first, down to a service."""
_LEAST_SHARE = 0.3
"""The share of a page's heaviest words that a child must hold together to be asked for related pages."""
CANNOT_REACH = "others have better pages"
"""Why a target with too few words of a question was skipped."""


class Target:
    """A service that a router asks, and the conversion of its hits to the router's view."""

    def __init__(self, path: Path, child: Child, snapshot: "Snapshot | None", inner: "Target | None") -> None:
        """Take the path from the router, the child of the router that leads there, and the same seen from that child."""
        self.path = path
        self.name = "/".join(path[1:])
        self.child: Child = inner.child if inner else child
        """The service as its direct router knows it."""
        self.way: tuple[Child, ...] = (child, *(inner.way if inner else ()))
        """The services on the path, each as the one above it knows it."""
        self.local = child.local
        self._inner = inner
        self._homes = snapshot.merged.homes.get(path[1], {}) if snapshot else {}
        self._clusters = snapshot.label.clusters if snapshot else ()
        self._cluster_of: dict[int, int] = {}

    def _cluster(self, number: int) -> int:
        """Return the router's sub-cluster that one of the target's went into; 0 for none."""
        cluster = self._cluster_of.get(number)
        if cluster is None:
            below = self._inner._cluster(number) if self._inner else number
            cluster = self._cluster_of[number] = self._homes.get(self.way[0].cluster_number(below), 0)
        return cluster

    def place(self, hit: Hit) -> Hit:
        """Return a hit of the target as one of the router's: its path, its address, its sub-cluster here."""
        number = self._cluster(hit.cluster)
        relative = hit.kind != "document" and "://" not in hit.url
        return msgspec.structs.replace(
            hit,
            url=f"{self.child.url.rstrip('/')}/{hit.url}" if relative else hit.url,
            path=(*self.path, *hit.path[1:])[:MOST_ON_PATH],
            cluster=number,
            cluster_name=self._clusters[number - 1].name if number else "",
        )


class Reach:
    """The services that a router can ask, from what it and the routers below it in this process know now."""

    def __init__(self, knowledge: "Knowledge") -> None:
        self.snapshot = snapshot = knowledge.snapshot
        self._knowledge, self._name = knowledge, knowledge.name
        self._made_of: list[tuple[Knowledge, Snapshot | None]] = [(knowledge, snapshot)]
        self.children: list[str] = list(knowledge.children)
        """The names of the children."""
        self.ends: list[str] = []
        """The names of the end targets: leaves, and services in other processes."""
        self.targets: dict[str, Target] = {}
        """Children and ends by name; that of an end below a child begins with the child's."""
        self._labels: dict[str, ContentLabel] = {}
        self._counts: dict[str, LabelCounts] = {}
        self._inner: dict[str, Reach] = {}
        """The reach of each child that is looked through."""
        self.routers: set[Path] = set()
        """The paths of all routers that are looked through."""
        for name, child in knowledge.children.items():
            self.targets[name] = Target((self._name, name), child, snapshot, None)
        for name, child in knowledge.children.items():
            below = child.knowledge
            if below is not None and below.snapshot is None:
                self._made_of.append((below, None))
            elif below is not None and self._is_free(name, below.reach):
                self._look_through(name, child, below.reach)
                continue
            self.ends.append(name)
            if snapshot and name in snapshot.table.labels:
                self._labels[name] = snapshot.table.labels[name]
                self._counts[name] = snapshot.table.counts[name]

    def _is_free(self, name: str, inner: "Reach") -> bool:
        """Return whether the names below a child are unique."""
        return all(f"{name}/{end}" not in self.targets for end in inner.ends)

    def _look_through(self, name: str, child: Child, inner: "Reach") -> None:
        self._inner[name] = inner
        self.routers |= {(self._name, name), *((self._name, *path) for path in inner.routers)}
        self._made_of += inner._made_of
        for end in inner.ends:
            below, own = inner.targets[end], f"{name}/{end}"
            self.targets[own] = Target((self._name, *below.path), child, self.snapshot, below)
            self.ends.append(own)
            if end in inner._labels:
                self._labels[own], self._counts[own] = inner._labels[end], inner._counts[end]

    @property
    def is_fresh(self) -> bool:
        """Return whether it is still current: no router that it was made from has changed since."""
        for knowledge, snapshot in self._made_of:  # noqa: SIM110 - asked for with every question, and a generator takes longer
            if knowledge.snapshot is not snapshot:
                return False
        return True

    @cached_property
    def table(self) -> RoutingTable:
        """Return the labels of the ends that have sent one."""
        return RoutingTable(self._labels, self._counts)

    def child_on_path(self, path: Sequence[str]) -> Target | None:
        """Return the child on a path of names from this router down, or None if there is none."""
        return self.targets.get(path[1]) if len(path) > 1 else None

    def end_on_path(self, path: Sequence[str]) -> Target | None:
        """Return the end on a path of names from this router down, or else the child, or None if there is neither."""
        if len(path) > 1 and path[1] in self._inner:
            below = self._inner[path[1]].end_on_path(path[1:])
            if below:
                return self.targets.get(f"{path[1]}/{below.name}")
        return self.child_on_path(path)

    def likeliest(self, words: Sequence[str], most: int) -> tuple[list[str], list[SkippedNode]]:
        """Return the ends below these children, `most` at each router, that hold most of some words, and who is skipped."""
        table = self._knowledge.ready.table
        held = table.words_held(words) if words else dict.fromkeys(table.names, 0)
        enough = max(1, round(_LEAST_SHARE * len(words)))
        order = sorted((name for name in held if held[name] >= enough or not words), key=lambda n: (-held[n], n))
        chosen = order[:most] + [name for name in self.children if name not in held]
        ends: list[str] = []
        skipped: list[SkippedNode] = []
        for name in chosen:
            if name not in self._inner:
                ends.append(name)
                continue
            below, passed = self._inner[name].likeliest(words, most)
            ends += (f"{name}/{end}" for end in below)
            skipped += (SkippedNode(path=(self._name, *one.path), reason=one.reason) for one in passed)
        skipped += (
            SkippedNode(path=(self._name, name), reason=f"it holds {count} of the page's {len(words)} heaviest words")
            for name, count in held.items()
            if name not in chosen
        )
        return ends, skipped

    # -- what is told of the way ----------------------------------------------------------------------------------------

    def passed_over(self, reasons: Mapping[str, str]) -> list[SkippedNode]:
        """Return the skipped services, given the reasons by name; if everything below a router was skipped, return the router."""
        _all, passed = _passed_over(reasons, self._below)
        return [SkippedNode(path=path, reason=reason) for path, reason in passed]

    @cached_property
    def _below(self) -> "list[_Below]":
        """Return the children, each with its name, its path, and the services below it if the router bypasses it."""
        return self._list_below("", (self._name,))

    def _list_below(self, prefix: str, way: Path) -> "list[_Below]":
        return [
            _Below(
                prefix + name,
                (*way, name),
                self._inner[name]._list_below(f"{prefix}{name}/", (*way, name)) if name in self._inner else None,
            )
            for name in self.children
        ]

    def with_routers(self, asked: Sequence[AskedNode]) -> list[AskedNode]:
        """Return the services that were asked, each preceded by the routers that were bypassed to reach it."""
        known = {node.path for node in asked}
        looked_through = self.routers - known
        nodes: list[AskedNode | Path] = []
        seconds: dict[Path, float] = {}
        results: dict[Path, int] = {}
        for node in asked:
            way = node.path
            for length in range(2, len(way)) if way[:2] in self.routers else ():
                path = way[:length]
                if path not in looked_through:
                    continue
                if path not in seconds:
                    seconds[path], results[path] = 0.0, 0
                    nodes.append(path)
                seconds[path] += node.seconds
                results[path] += node.results
            nodes.append(node)
        return [
            AskedNode(path=one, seconds=seconds[one], results=results[one]) if isinstance(one, tuple) else one
            for one in nodes
        ]


class _Below(NamedTuple):
    """A service below a router."""

    name: str
    path: Path
    inner: "list[_Below] | None"
    """What is below it, if it is looked through."""


def _passed_over(reasons: Mapping[str, str], services: list[_Below]) -> tuple[bool, list[tuple[Path, str]]]:
    """Return (whether all services were skipped, the path and the reason of each skipped one)."""
    passed: list[tuple[Path, str]] = []
    everyone = True
    for name, path, inner in services:
        if (reason := reasons.get(name)) is not None:
            passed.append((path, reason))
            continue
        all_below, below = _passed_over(reasons, inner) if inner is not None else (False, [])
        passed += [(path, _common_reason({why for _path, why in below}))] if all_below else below
        everyone &= all_below
    return everyone, passed


def _common_reason(reasons: set[str]) -> str:
    """Return why all services below a router were skipped."""
    if len(reasons) == 1:
        return next(iter(reasons))
    return CANNOT_REACH if CANNOT_REACH in reasons else NOT_TOGETHER
