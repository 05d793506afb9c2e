"""A collection as a service: opened again when its folder was rebuilt, its work done in threads."""

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
"""Seconds after which it is checked again whether the folder was rebuilt."""


class Source(Protocol[Covariant]):
    """What a service answers from: something open, which may be opened again."""

    @property
    def error(self) -> str:
        """Return what is wrong with it, for those who ask from elsewhere; '' if nothing is."""
        ...

    @property
    def reason(self) -> str:
        """Return the same for those who run it."""
        ...

    @property
    def current(self) -> Covariant:
        """Return what is open now, or what last was; raise a ServiceError if nothing ever could be opened."""
        ...

    def use(self, work: Callable[[Covariant], T]) -> T:
        """Do some work with it in this thread."""
        ...

    def look_again(self) -> None:
        """Let the next question look whether there is something new to open."""
        ...


class FollowedFolder(Generic[Opened]):
    """What is opened from a folder, and again when that was rebuilt: the next question is answered from the new one.

    A `patient` one exists also while its folder cannot be opened: it says so to those who ask, and keeps trying.
    """

    def __init__(self, path: Path, open_folder: Callable[[], Opened], patient: bool = False) -> None:
        self.path, self._open_folder = path, open_folder
        self._manifest = path / MANIFEST
        self.error = self.reason = ""
        self._looked = time.monotonic()
        self._stamp = self._manifest_stamp()
        self._lock = threading.RLock()
        """Held while a question is answered: what is open is not for several threads at once."""
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
        """Return what changes when the folder is rebuilt."""
        try:
            status = self._manifest.stat()
        except OSError:  # opening it says what is wrong
            return 0, 0
        return status.st_mtime_ns, status.st_ino

    def look_again(self) -> None:
        """Let the next question look whether the folder was rebuilt, however short ago that was looked for."""
        self._looked = float("-inf")

    @property
    def current(self) -> Opened:
        """Return what is open now, or what last was; raise a ServiceError if nothing ever could be opened."""
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
        """Do some work with what is open in this thread; again if the folder was rebuilt amid it."""
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
    """The service of a leaf. It follows its folder: when that is rebuilt, the next question is answered from the new one.

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
        """Return what is wrong with the folder, for those who ask from elsewhere."""
        return self.source.error

    @property
    def reason(self) -> str:
        """Return the same for those who run it."""
        return self.source.reason

    def explain_fault(self, error: BaseException) -> str:
        """Return what to say of an unexpected error to those who asked: whether the collection is damaged."""
        return self._check.explain(error)

    @property
    def collection(self) -> Collection:
        """Return the collection as it is now, or as it last was; raise a ServiceError if it never could be opened."""
        return self.source.current

    @property
    def whole(self) -> Whole:
        """Return the same as what is asked in one piece or in shards."""
        return self.collection.whole

    # -- answering ------------------------------------------------------------------------------------------------------

    def use(self, work: Callable[[Collection], T]) -> T:
        """Do some work with the collection in this thread; again if the folder was rebuilt amid it."""
        self.requests += 1
        return self.source.use(work)

    async def _ask(self, operation: str, request: Request, answer: type[T]) -> T:
        found: T = await in_thread(self.use, lambda collection: getattr(collection, operation)(request))
        return found

    async def run(self, work: Callable[[Collection], T]) -> T:
        """Do some work with the collection in a thread, so that others have their turn meanwhile."""
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
        """Return its own node; nobody is below it."""
        return TreeNode.of(await self.health())
