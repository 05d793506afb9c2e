"""A collection as a service, which works in threads and reopens its folder after a rebuild."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from pagekin import __version__
from pagekin.collection.collection import Collection
from pagekin.collection.damage import DamageCheck, explain_damage, refuse_damaged
from pagekin.collection.messages import Health, Request, ServiceError, TreeNode, TreeRequest
from pagekin.collection.service import PublishedLabel, Service
from pagekin.collection.walking import in_thread
from pagekin.collection.whole import Whole
from pagekin.store import MANIFEST, KinError

T = TypeVar("T")
Opened = TypeVar("Opened")
Covariant = TypeVar("Covariant", covariant=True)
_LOOK_AGAIN = 1.0
"""Seconds between two checks whether the folder was rebuilt."""


class Source(Protocol[Covariant]):
    """What a service answers from: an open collection that can be reopened."""

    @property
    def error(self) -> str:
        """Return what is wrong with it, for clients; '' if nothing is."""
        ...

    @property
    def reason(self) -> str:
        """Return what is wrong with it, for operators."""
        ...

    @property
    def current(self) -> Covariant:
        """Return the open collection, or the last one; raise a ServiceError if none could ever be opened."""
        ...

    def use(self, work: Callable[[Covariant], T]) -> T:
        """Run a function with it in this thread."""
        ...

    def look_again(self) -> None:
        """Make the next question check for a rebuild."""
        ...


class FollowedFolder(Generic[Opened]):
    """Opens a folder, and reopens it after a rebuild, so that the next question sees the new state.

    A `patient` one exists also while its folder cannot be opened: it says so to those who ask, and keeps trying.
    """

    def __init__(self, path: Path, open_folder: Callable[[], Opened], patient: bool = False) -> None:
        self.path, self._open_folder = path, open_folder
        self._manifest = path / MANIFEST
        self.error = self.reason = ""
        self._looked = time.monotonic()
        self._stamp = self._manifest_stamp()
        self._lock = threading.RLock()
        """Held while a question is answered, because an open collection serves one thread at a time."""
        self._current: Opened | None = None
        try:
            self._current = open_folder()
        except KinError as error:
            if not patient:
                raise
            self._note_failure(error)

    def _note_failure(self, error: Exception) -> None:
        self.reason = str(error)
        self.error = self.reason.replace(str(self.path), self.path.name)[:500]

    def _manifest_stamp(self) -> tuple[int, int]:
        """Return a value that changes when the folder is rebuilt."""
        try:
            status = self._manifest.stat()
        except OSError:  # opening it says what is wrong
            return 0, 0
        return status.st_mtime_ns, status.st_ino

    def look_again(self) -> None:
        """Make the next question check for a rebuild, even if the last check was recent."""
        self._looked = float("-inf")

    @property
    def current(self) -> Opened:
        """Return the open collection, or the last one; raise a ServiceError if none could ever be opened."""
        if time.monotonic() - self._looked > _LOOK_AGAIN:
            self._reload()
        if self._current is None:
            raise ServiceError(self.error, 503)
        return self._current

    def _reload(self) -> None:
        """Open the folder again if it was rebuilt."""
        with self._lock:
            self._looked = time.monotonic()
            try:
                stamp = self._manifest_stamp()
                if stamp != self._stamp or self._current is None:
                    self._current, self._stamp, self.error = self._open_folder(), stamp, ""
            except (KinError, OSError) as error:
                self._note_failure(error)

    def use(self, work: Callable[[Opened], T]) -> T:
        """Run a function with the open collection in this thread; run it again if the folder was rebuilt meanwhile."""
        with self._lock:
            current = self.current
            try:
                return work(current)
            except KinError:
                self._reload()
                if self._current is None or self._current is current:
                    raise
                return work(self._current)


def open_collection_at(name: str, path: Path, options: dict[str, Any]) -> Collection:
    """Open a collection in one piece, or raise a KinError that says why it cannot be opened."""
    refuse_damaged(path)
    try:
        collection = Collection(name, path, **options)
        if collection.has_label:
            collection.published  # noqa: B018  # a damaged label is refused now, not amid an answer
    except KinError:
        raise
    except Exception as error:
        raise explain_damage(path, error) from error
    return collection


class ReloadingCollection(Service):
    """The service of a leaf. After a rebuild of its folder, the next question is answered from the new state.

    A `patient` one exists also while its folder cannot be opened. One of the shards of a collection is given its `source`.
    """

    leaf = local = True

    def __init__(
        self,
        name: str,
        path: Path,
        compiled: bool = True,
        patient: bool = False,
        hide_path: bool = True,
        threads: int = 1,
        source: Source[Collection] | None = None,
    ) -> None:
        super().__init__(name)
        self.path = path
        options = {"compiled": compiled, "hide_path": hide_path, "threads": threads}
        self.requests = 0
        self._started = time.monotonic()
        self._check = DamageCheck(name, path)
        self.source: Source[Collection] = source or FollowedFolder(
            path, lambda: self._open(name, path, options), patient
        )

    def _open(self, name: str, path: Path, options: dict[str, Any]) -> Collection:
        opened = open_collection_at(name, path, options)
        self._check = DamageCheck(name, path)  # what an earlier one found is over
        return opened

    @property
    def error(self) -> str:
        """Return what is wrong with the folder, for clients."""
        return self.source.error

    @property
    def reason(self) -> str:
        """Return what is wrong with it, for operators."""
        return self.source.reason

    def look_again(self) -> None:
        """Make the next question check for a rebuild."""
        self.source.look_again()

    def explain_fault(self, error: BaseException) -> str:
        """Return the message of an unexpected error for clients: whether the collection is damaged."""
        return self._check.explain(error)

    @property
    def collection(self) -> Collection:
        """Return the collection in its current or last state; raise a ServiceError if it could never be opened."""
        return self.source.current

    @property
    def whole(self) -> Whole:
        """Return the collection as a `Whole`, the interface shared with collections in shards."""
        return self.collection.whole

    # -- answering ------------------------------------------------------------------------------------------------------

    def use(self, work: Callable[[Collection], T]) -> T:
        """Run a function with the collection in this thread; run it again if the folder was rebuilt meanwhile."""
        self.requests += 1
        return self.source.use(work)

    async def _ask(self, operation: str, request: Request, answer: type[T]) -> T:
        response: T = await in_thread(self.use, lambda collection: getattr(collection, operation)(request))
        return response

    async def run(self, work: Callable[[Collection], T]) -> T:
        """Run a function with the collection in a thread, without blocking the event loop."""
        return await in_thread(self.use, work)

    # -- what it is -----------------------------------------------------------------------------------------------------

    @property
    def published(self) -> PublishedLabel:
        """Return its content label."""
        return self.collection.published

    async def health(self) -> Health:
        """Return the health of the collection."""
        facts: dict[str, Any] = {"documents": 0, "label_bytes": 0, "label_age": None, "etags": {}}
        ready, error = False, self.error
        try:
            now = self.collection
            facts["documents"] = sum(part.corpus.alive for part in now.whole.parts)
            if now.has_label:
                ready = True
                label = now.published
                facts = {
                    "documents": label.whole.num_docs, "label_bytes": label.bytes, "label_age": 0.0, "etags": label.etags,
                }  # fmt: skip
            error = error or (f"it is damaged: {self._check.damage}" if self._check.damage else "")
        except (ServiceError, KinError) as reason:
            error = str(reason).replace(str(self.path), self.path.name)
        return Health(
            name=self.name, leaf=True, level=0, ready=ready, version=__version__, uptime=time.monotonic() - self._started,
            requests=self.requests, error=error[:2000], **facts,
        )  # fmt: skip

    async def tree(self, _request: TreeRequest) -> TreeNode:
        """Return its own node, which has no children."""
        return TreeNode.of(await self.health())
