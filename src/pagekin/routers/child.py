"""A child as its router knows it: its label, its past answers, and whether to wait before asking it again."""

import asyncio
import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

import msgspec

from pagekin.collection import PublishedLabel, Request
from pagekin.labels import ContentLabel, LabelError, LabelLimits, LeafCount, leaf_identity
from pagekin.routers.connection import (
    ChildError,
    Connection,
    DirectConnection,
    EncodedRequest,
    NotReadyError,
    RefusedError,
)

if TYPE_CHECKING:
    from pagekin.routers.knowledge import Knowledge

T = TypeVar("T")
_FAILURES = 3
"""Failures in a row after which a child is not asked for a while."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0
_FAIR, _LEAST_FAIR, _SLOWER = 0.5, 0.1, 10
"""Seconds without an answer that count as a failure of the child; less, if that is ten times its usual time."""
_MARGIN, KEPT = 0.25, 0.3
"""The share of the remaining time that a router keeps for itself, and the maximum in seconds."""


@dataclass
class Child:
    """One child, and what is known of it."""

    name: str
    url: str
    connection: Connection
    max_bytes: int | None = None
    """The maximum size of its label; None: no limit."""
    published: PublishedLabel = field(default_factory=lambda: PublishedLabel({}))
    """Its label as it came."""
    label: ContentLabel | None = None
    """Its complete label, naming the leaf if the child is one; None until it has sent one."""
    fresh_at: float | None = None
    """When its label was last known to be fresh, by the monotonic clock."""
    error: str = ""
    calls: int = 0
    failures: int = 0
    _in_a_row: int = 0
    _usual: float | None = None
    """Seconds that it takes to answer."""
    _ill: bool = False
    """Whether it was reached when it failed to answer; a label from it does not repair that."""
    _closed_until: float = 0.0
    _hosts: frozenset[str] = frozenset()
    """The hosts of pages that its label names."""

    @property
    def up(self) -> bool:
        """Return whether the last call was answered."""
        return self.calls > self.failures and not self.error

    @property
    def local(self) -> bool:
        """Return whether it is in this process with all that is below it."""
        return isinstance(self.connection, DirectConnection) and self.connection.service.local

    @property
    def knowledge(self) -> "Knowledge | None":
        """Return what it knows of its own children if it is a router in this process with all that is below it."""
        if not isinstance(self.connection, DirectConnection) or not self.local:
            return None
        return getattr(self.connection.service, "knowledge", None)

    def cluster_number(self, cluster: int) -> int:
        """Return the number of one of its sub-clusters in the label held here; a cut label has other numbers."""
        if self.max_bytes is None or self.label is None:
            return cluster
        return next((one.number for one in self.label.clusters if cluster in one.nodes), 0)

    def nearness(self, url: str) -> int:
        """Return how strongly an address belongs to this child; 0 without evidence.

        1 if its label names pages of the host, more if its name is the host or a domain of it, the longer the more: names
        are given by whoever runs the router, labels by the child.
        """
        host = _host(url)
        named = self.name.removeprefix("host ").removeprefix("other hosts of ").partition(":")[0].lower()
        if named and (host == named or host.endswith(f".{named}")):
            return 1 + len(named)
        return int(host in self._hosts)

    @property
    def wants_label(self) -> bool:
        """Return whether to fetch its label again soon: it is missing or incomplete, or the child cannot be reached."""
        return self.label is None or bool(self.error) or self.label.waiting > 0

    def pause(self) -> float:
        """Return how many seconds to wait before asking the child again, after too many failures."""
        return max(0.0, self._closed_until - time.monotonic())

    def note_success(self) -> None:
        """Note an answer."""
        self.error, self._in_a_row, self._closed_until, self._ill = "", 0, 0.0, False

    def note_failure(self, reason: str, ill: bool = False) -> None:
        """Record a failure; after several in a row, wait longer and longer before the next try."""
        self.error, self._ill = reason, ill
        self.failures += 1
        self._in_a_row += 1
        if self._in_a_row >= _FAILURES:
            pause = min(_FIRST_PAUSE * 2 ** (self._in_a_row - _FAILURES), _LONGEST_PAUSE)
            self._closed_until = time.monotonic() + pause * random.uniform(0.8, 1.2)

    def note_late(self, left: float) -> str:
        """Record that no answer came in time; return the reason."""
        usual = self._usual if self._usual is not None else _FAIR
        if left < min(_FAIR, max(_LEAST_FAIR, _SLOWER * usual)):  # an impatient caller is not its fault
            return f"no answer within {left:.2g} s"
        self.note_failure(f"no answer within {left:.1f} s", ill=True)
        return self.error

    # -- calls ----------------------------------------------------------------------------------------------------------

    async def call(self, operation: str, request: Request, answer: type[T], deadline: float) -> tuple[T, int]:
        """Return the child's answer and its bytes, or raise a ChildError; `deadline` is the router's own."""
        left = time_for_children(deadline)
        try:
            async with asyncio.timeout(left):
                return await self.ask(operation, EncodedRequest(with_deadline(request, left)), answer)
        except TimeoutError:
            raise ChildError(self.note_late(left)) from None

    async def ask(self, operation: str, outgoing: EncodedRequest, answer: type[T]) -> tuple[T, int]:
        """Return the child's answer and its bytes, or raise a ChildError; the caller cancels calls that take too long."""
        if pause := self.pause():
            raise ChildError(f"{self.error or 'it failed'}; it is tried again in {pause:.1f} s")
        self.calls += 1
        began = time.monotonic()
        try:
            response = await self.connection.ask(operation, outgoing, answer)
        except RefusedError:
            self.note_success()
            raise
        except ChildError as error:
            self.note_failure(str(error), ill=error.reached)
            raise
        self.note_success()
        took = time.monotonic() - began
        self._usual = took if self._usual is None else 0.9 * self._usual + 0.1 * took
        return response

    # -- its label ------------------------------------------------------------------------------------------------------

    async def refresh(self, seconds: float, limits: LabelLimits) -> bool:
        """Fetch the parts of its label that changed; return whether any did. Raise a ChildError if it cannot be had."""
        self.calls += 1
        try:
            async with asyncio.timeout(seconds):
                changed = await self.connection.changed_parts(self.published.etags, self.max_bytes, limits)
            if changed or self.label is None:
                published = PublishedLabel({**self.published.parts, **changed})
                self.label = await asyncio.to_thread(_whole_label, published)
                self.published = published
                self._hosts = frozenset(_host(url) for cluster in self.label.clusters for url in cluster.urls)
        except TimeoutError:
            self.note_failure(f"no label within {seconds:.0f} s")
        except NotReadyError as error:
            self.error = str(error)
        except ChildError as error:
            self.note_failure(str(error))
        except LabelError as error:
            self.note_failure(f"its label was refused: {error}")
        except KeyError as error:
            self.note_failure(f"it gave no part {error} of its label")
        else:
            self.fresh_at = time.monotonic()
            if not self._ill:
                self.note_success()
            return bool(changed)
        raise ChildError(self.error)

    def label_age(self) -> float | None:
        """Return the seconds since its label was last known to be fresh."""
        return None if self.fresh_at is None else time.monotonic() - self.fresh_at


def _whole_label(published: PublishedLabel) -> ContentLabel:
    """Return a child's label joined from its parts; runs in a thread, since it takes a while."""
    _ = published.bytes
    own = LeafCount(leaf_identity(published.etags), published.whole.num_docs, 0)
    # A leaf's label does not name the leaf, so that the same collection has the same label wherever it is served.
    return msgspec.structs.replace(published.whole, leaves=published.whole.leaves or (own,))


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def time_for_children(deadline: float) -> float:
    """Return the seconds that children have, given when the router has to be done; it keeps some for itself."""
    left = deadline - time.monotonic()
    left -= min(_MARGIN * left, KEPT)
    if left <= 0.001:
        raise ChildError("no time was left to ask it")
    return left


def with_deadline(request: Request, left: float) -> Request:
    """Return a request with the time that is left for an answer."""
    return msgspec.structs.replace(request, deadline=min(max(left, 0.001), 120.0))
