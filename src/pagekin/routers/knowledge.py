"""What a router knows: its children's labels, kept fresh, and its own label, made from them."""

import asyncio
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from pagekin.collection import LabelThesaurus, PublishedLabel, ServiceError, respell
from pagekin.labels import (
    ROUTER_CLUSTERS,
    AddedTerm,
    ContentLabel,
    LabelBudget,
    LabelLimits,
    LabelTerms,
    MergedLabel,
    parts_to_publish,
    router_label,
    without_filters,
)
from pagekin.net import Guard
from pagekin.routers.child import Child
from pagekin.routers.connection import ChildError
from pagekin.routers.reach import Reach
from pagekin.routers.routing import RoutingTable
from pagekin.text import NearWords

_ONE_AT_A_TIME = threading.Lock()
"""Labels are made one at a time, because each takes a whole core."""


@dataclass(frozen=True)
class RouterSettings:
    """The settings of a router."""

    refresh: float = 60.0
    """Seconds between two checks for changed labels."""
    patience: float = 2.0
    """Seconds after which a child without a label is tried again."""
    settle: float = 15.0
    """Seconds after the start for which a router waits for all its children before it publishes a label."""
    label_seconds: float = 30.0
    """Seconds that fetching a label may take."""
    budget: LabelBudget = field(default_factory=lambda: LabelBudget(clusters=ROUTER_CLUSTERS))
    added: tuple[AddedTerm, ...] = ()
    child_bytes: int | None = None
    """Maximum bytes of each child's label; None: no limit."""
    limits: LabelLimits = field(default_factory=LabelLimits)
    guard: Guard = field(default_factory=Guard)
    cached: float = 3.0
    """Seconds for which the answer to a query is cached; 0: not at all."""
    most_cached: int = 256


@dataclass(frozen=True)
class Snapshot:
    """What a router computed from its children's labels at one time."""

    table: RoutingTable
    merged: MergedLabel
    label: ContentLabel
    published: PublishedLabel
    own: RoutingTable
    """The router's own sub-clusters, by number."""
    made_at: float
    """By the monotonic clock."""

    @cached_property
    def thesaurus(self) -> LabelThesaurus:
        """Return what refines queries by labels alone."""
        return LabelThesaurus(self.table.labels)

    @cached_property
    def near_words(self) -> NearWords:
        """Return the words of the label, the most common first, as candidates for respelling."""
        counts: Counter[str] = Counter()
        for part in self.label.clusters or (self.label,):
            for term in self.label.rows(part.terms):
                counts[term.word] += term.tf
        return NearWords(sorted(counts, key=lambda word: (-counts[word], word)))

    def respell(self, query: str) -> tuple[str, dict[str, str]]:
        """Return (the question with unknown words respelt, the unknown words with their replacements)."""
        return respell(query, self.table.may_hold, lambda: self.near_words)


class Knowledge:
    """The labels of a router's children, refreshed on schedule, and the snapshot made of them.

    It lives in one event loop. `renewed` is called after each new snapshot.
    """

    def __init__(
        self, name: str, children: Mapping[str, Child], settings: RouterSettings, renewed: Callable[[], None]
    ) -> None:
        self.name, self.children, self.settings = name, children, settings
        self.error = ""
        self.snapshot: Snapshot | None = None
        self._reach: Reach | None = None
        self._renewed = renewed
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._started = time.monotonic()
        self._stale = False
        """Whether a label changed since the last snapshot."""

    @property
    def ready(self) -> Snapshot:
        """Return the last snapshot; if there is none, raise a ServiceError that names the missing children."""
        if self.snapshot is None:
            raise ServiceError(f"no child of {self.name} has sent its label yet: {self._waiting_for()}", 503)
        return self.snapshot

    @property
    def reach(self) -> Reach:
        """Return the services that the router can ask now."""
        if self._reach is None or not self._reach.is_fresh:
            self._reach = Reach(self)
        return self._reach

    def _waiting_for(self) -> str:
        """Return why each child has sent no label; what children themselves wait for is not repeated."""
        reasons = {
            child.name: "waits, too" if "503" in child.error else child.error or "not asked yet"
            for child in self.children.values()
        }
        return ", ".join(f"{name} ({reason[:200]})" for name, reason in reasons.items())[:500]

    def start(self) -> None:
        """Start fetching the children's labels."""
        self._task = asyncio.create_task(self._stay_fresh(), name=f"labels of {self.name}")

    async def stop(self) -> None:
        """End."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def wake(self) -> None:
        """Refresh at once."""
        self._wake.set()

    async def _stay_fresh(self) -> None:
        """Fetch the labels of all children on schedule, and retry failing ones more often."""
        due = 0.0
        while True:
            missing = [child for child in self.children.values() if child.wants_label]
            everyone = time.monotonic() >= due
            try:
                await self.refresh(None if everyone else missing)
            except Exception as error:
                self.error = f"{type(error).__name__}: {error}"[:500]
            if everyone:
                due = time.monotonic() + self.settings.refresh * random.uniform(0.9, 1.1)
            pause = due - time.monotonic()
            if any(child.wants_label for child in self.children.values()):
                # Those above wait for us at first.
                pause = min(pause, self.settings.patience if self.snapshot else 0.2)
            self._wake.clear()
            try:
                async with asyncio.timeout(max(pause, 0.05)):
                    await self._wake.wait()
                    due = 0.0
            except TimeoutError:
                pass

    async def refresh(self, children: Sequence[Child] | None = None) -> None:
        """Fetch changed labels of the named children, or of all; make a new snapshot if one changed."""
        chosen = self.children.values() if children is None else children
        changed = await asyncio.gather(*(self._refresh_child(child) for child in chosen))
        labels = {name: child.label for name, child in self.children.items() if child.label is not None}
        self._stale |= any(changed)
        if not labels or (self.snapshot is not None and not self._stale):
            return
        whole = len(labels) == len(self.children)
        if self.snapshot is None and not whole and time.monotonic() - self._started < self.settings.settle:
            return
        self.snapshot = await asyncio.to_thread(self._make_snapshot, labels, whole, self.snapshot)
        self._stale = False
        self._renewed()
        self.error = ""

    async def _refresh_child(self, child: Child) -> bool:
        if child.pause():
            return False
        try:
            return await child.refresh(self.settings.label_seconds, self.settings.limits)
        except ChildError:
            return False

    def _make_snapshot(self, labels: Mapping[str, ContentLabel], whole: bool, before: Snapshot | None) -> Snapshot:
        with _ONE_AT_A_TIME:
            merged = router_label(self.name, labels, self.settings.budget, self.settings.added)
        # A child that has not given its label may hold anything.
        label = merged.label if whole else without_filters(merged.label)
        missing = len(self.children) - len(labels)
        # What a child waits for that also leads back here is counted where it is nearer.
        missing += sum(one.waiting for child, one in labels.items() if merged.shares[child] == 1)
        label = msgspec.structs.replace(label, waiting=missing)
        parts = parts_to_publish(before.published.parts if before else None, label)
        own = {
            str(cluster.number): msgspec.structs.replace(
                label, clusters=(), words=(), terms=LabelTerms(), added=(), filters=cluster.filters
            )
            for cluster in label.clusters
        }
        published = PublishedLabel(parts)
        _ = published.etags, published.bytes  # made here, in a thread
        return Snapshot(RoutingTable(labels), merged, label, published, RoutingTable(own), time.monotonic())
