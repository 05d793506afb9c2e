"""What a router knows: its children's labels, kept fresh, and its own, made of them."""

import asyncio
import random
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import aiohttp
import msgspec

from pagekin import __version__
from pagekin.labels import Added, Budget, ContentLabel, LabelLimits, to_json
from pagekin.labels.fitting import ROUTER_CLUSTERS
from pagekin.labels.merge import Merged, router_label
from pagekin.labels.model import Terms as LabelTerms
from pagekin.labels.model import without_filters
from pagekin.labels.parts import etag, published
from pagekin.net import Guard
from pagekin.routers.children import Child, ChildError
from pagekin.routers.client import Client
from pagekin.routers.messages import ChildHealth, Health, RouterError, Summary
from pagekin.routers.open_leaf import summary_of
from pagekin.routers.refinement import LabelThesaurus
from pagekin.routers.routing import RoutingTable

_LONGEST_MARK = 160
"""Characters of the name in a mark."""
_AT_ONCE = threading.Lock()
"""Labels are made one after another: each takes a whole core."""


@dataclass(frozen=True)
class RouterSettings:
    """How a router works."""

    refresh: float = 60.0
    """Seconds after which children are asked whether their labels changed."""
    patience: float = 2.0
    """Seconds after which a child without a label is tried again."""
    settle: float = 15.0
    """Seconds after the start for which a router waits for all its children before it tells what it knows."""
    label_seconds: float = 30.0
    """Seconds that fetching a label may take."""
    budget: Budget = field(default_factory=lambda: Budget(clusters=ROUTER_CLUSTERS))
    added: tuple[Added, ...] = ()
    child_bytes: int | None = None
    """How much it wants of each child's label, at most; None: all."""
    limits: LabelLimits = field(default_factory=LabelLimits)
    guard: Guard = field(default_factory=Guard)
    cached: float = 3.0
    """Seconds for which the answer to a query is kept; 0: none is."""
    most_cached: int = 256


@dataclass(frozen=True)
class Known:
    """What follows from the children's labels."""

    table: RoutingTable
    merged: Merged
    label: ContentLabel
    parts: Mapping[str, ContentLabel]
    etags: Mapping[str, str]
    label_bytes: int
    own: RoutingTable
    """The router's own sub-clusters, by number."""


class Keeper:
    """A router without its services. All of it lives in one event loop."""

    def __init__(
        self, name: str, children: Mapping[str, str], settings: RouterSettings | None = None, level: int = 1
    ) -> None:
        self.name, self.level = name, level
        self.mark = f"{name[:_LONGEST_MARK]}/{secrets.token_hex(8)}"
        """By which a request that has passed it is known again: another network may have a router of the same name."""
        self.settings = settings or RouterSettings()
        most = self.settings.child_bytes
        self.children = {child: Child(child, url, most) for child, url in children.items()}
        self.error = ""
        self.requests = 0
        self._known: Known | None = None
        self._thesaurus: LabelThesaurus | None = None
        self._session: aiohttp.ClientSession | None = None
        """For labels."""
        self._client: Client | None = None
        """For all other calls."""
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._started = time.monotonic()
        self._made_at: float | None = None
        self._stale = False
        """Whether a label changed since the router's own was made."""

    # -- its life ---------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin to ask children for their labels."""
        from pagekin.net import guarded_connector

        connector = guarded_connector(self.settings.guard, limit=0, keepalive_timeout=75)
        # Each call has its own deadline.
        forever = aiohttp.ClientTimeout(total=None, sock_connect=None)
        self._session = aiohttp.ClientSession(connector=connector, auto_decompress=False, timeout=forever)
        self._client = Client(self.settings.guard)
        self._task = asyncio.create_task(self._stay_fresh(), name=f"labels of {self.name}")

    async def stop(self) -> None:
        """End."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._session:
            await self._session.close()
        if self._client:
            self._client.close()

    async def _stay_fresh(self) -> None:
        """Ask all children on schedule, and those that give no answer more often."""
        due = 0.0
        while True:
            missing = [child for child in self.children.values() if child.missing]
            everyone = time.monotonic() >= due
            try:
                await self.refresh(None if everyone else missing)
            except Exception as error:
                self.error = f"{type(error).__name__}: {error}"[:500]
            if everyone:
                due = time.monotonic() + self.settings.refresh * random.uniform(0.9, 1.1)
            pause = due - time.monotonic()
            if any(child.missing for child in self.children.values()):
                # Those above wait for us at first.
                pause = min(pause, self.settings.patience if self._known else 0.2)
            self._wake.clear()
            try:
                async with asyncio.timeout(max(pause, 0.05)):
                    await self._wake.wait()
                    due = 0.0
            except TimeoutError:
                pass

    async def refresh(self, children: Sequence[Child] | None = None) -> None:
        """Ask children, all if none are named, whether their labels changed; make the router's own anew if one did."""
        chosen = self.children.values() if children is None else children
        asked = await asyncio.gather(*(self._refreshed(child) for child in chosen))
        labels = {name: child.label for name, child in self.children.items() if child.label is not None}
        self._stale |= any(asked)
        if not labels or (self._known is not None and not self._stale):
            return
        whole = len(labels) == len(self.children)
        if self._known is None and not whole and time.monotonic() - self._started < self.settings.settle:
            return
        self._known = await asyncio.to_thread(self._made, labels, whole, self._known)
        self._stale = False
        self._thesaurus = None
        self.renewed()
        self._made_at = time.monotonic()
        self.error = ""

    async def _refreshed(self, child: Child) -> bool:
        if child.pause():
            return False
        if self._session is None:
            raise RouterError("the router has not been started", 503)
        try:
            return await child.refresh(self._session, self.settings.label_seconds, self.settings.limits)
        except ChildError:
            return False

    def _made(self, labels: Mapping[str, ContentLabel], whole: bool, before: Known | None) -> Known:
        """What follows from the labels."""
        with _AT_ONCE:
            found = router_label(self.name, labels, self.settings.budget, self.settings.added)
        # A child that has not told what it holds may hold anything.
        label = found.label if whole else without_filters(found.label)
        missing = len(self.children) - len(labels) + sum(one.waiting for one in labels.values())
        label = msgspec.structs.replace(label, waiting=missing)
        parts = published(before.parts if before else None, label)
        own = {
            str(cluster.number): msgspec.structs.replace(
                label, clusters=(), words=(), terms=LabelTerms(), added=(), filters=cluster.filters
            )
            for cluster in label.clusters
        }
        return Known(
            RoutingTable(labels), found, label, parts, {function: etag(part) for function, part in parts.items()},
            sum(len(to_json(part)) for part in parts.values()), RoutingTable(own),
        )  # fmt: skip

    def _connected(self) -> Client:
        if self._client is None:
            raise RouterError("the router has not been started", 503)
        return self._client

    def _waiting(self) -> str:
        """Why each child has told nothing; what they themselves wait for is theirs to tell."""
        reasons = {
            child.name: "waits, too" if "503" in child.error else child.error or "not asked yet"
            for child in self.children.values()
        }
        return ", ".join(f"{name} ({reason[:200]})" for name, reason in reasons.items())[:500]

    @property
    def _ready(self) -> Known:
        if self._known is None:
            raise RouterError(f"no child of {self.name} has given its label yet: {self._waiting()}", 503)
        return self._known

    # -- what it is -------------------------------------------------------------------------------------------------------

    @property
    def parts(self) -> Mapping[str, ContentLabel]:
        """The parts of its label."""
        return self._ready.parts

    @property
    def etags(self) -> Mapping[str, str]:
        """Their ETags."""
        return self._ready.etags

    @property
    def label(self) -> ContentLabel:
        """Its label."""
        return self._ready.label

    async def summary(self) -> Summary:
        """What it leads to, for people."""
        return summary_of(self.name, False, self._ready.label, tuple(self.children))

    async def health(self) -> Health:
        """How it and its children are."""
        known = self._known
        children = tuple(
            ChildHealth(
                name=child.name, url=child.url, up=child.up, label_age=child.label_age(), error=child.error,
                label_bytes=child.label_bytes, calls=child.calls,
                failures=child.failures,
            )
            for child in self.children.values()
        )  # fmt: skip
        return Health(
            name=self.name, leaf=False, level=self.level, ready=known is not None, version=__version__,
            documents=known.label.num_docs if known else 0, label_bytes=known.label_bytes if known else 0,
            label_age=time.monotonic() - self._made_at if self._made_at else None,
            etags=dict(known.etags) if known else {}, uptime=time.monotonic() - self._started, requests=self.requests,
            children=children, error=self.error, waiting=known.label.waiting if known else len(self.children),
        )  # fmt: skip

    def renewed(self) -> None:
        """Called when something else is known than before."""

    def wake(self) -> None:
        """Refresh at once."""
        self._wake.set()
