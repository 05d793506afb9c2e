"""A leaf: one collection that answers for itself."""

import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pagekin import __version__
from pagekin.labels import ContentLabel
from pagekin.routers.damage import Suspicion, or_damaged, refuse_damaged
from pagekin.routers.messages import (
    Answer,
    Bag,
    Counts,
    Health,
    RefineRequest,
    RelatedRequest,
    RouterError,
    SearchRequest,
    SelectRequest,
    ShowRequest,
    SuggestRequest,
    Summary,
    Terms,
    TogetherRequest,
    TreeNode,
    TreeRequest,
)
from pagekin.routers.open_leaf import OpenLeaf, summary_of
from pagekin.store import KinError
from pagekin.store.folder import MANIFEST

T = TypeVar("T")
_LOOK_AGAIN = 1.0
"""Seconds after which a leaf looks whether its collection was made anew."""


class Leaf:
    """A leaf router: a collection that answers for itself, opened again when it was made anew.

    One that is `patient` is there also while its collection cannot be opened: it says so, and looks again and again.
    """

    leaf = True
    above: tuple[tuple[str, str], ...] = ()
    """(name, address) of the routers above it, as far as they are known."""

    def __init__(self, name: str, path: Path, compiled: bool = True, patient: bool = False) -> None:
        self.name, self.path, self._compiled = name, path, compiled
        self.requests = 0
        self.error = self.reason = ""
        """What is wrong with its collection, for all who ask, and for those who run it."""
        self._started = self._looked = time.monotonic()
        self._stamp = self._manifest()
        self._suspicion = Suspicion(name, path)
        self._open: OpenLeaf | None = None
        try:
            self._open = self._opened()
        except KinError as error:
            if not patient:
                raise
            self._cannot(error)

    def _opened(self) -> OpenLeaf:
        """The collection as it is on the disk, or a KinError that says why it cannot be opened."""
        refuse_damaged(self.path)
        try:
            return OpenLeaf(self.name, self.path, self._compiled)
        except KinError:
            raise
        except Exception as error:
            raise or_damaged(self.path, error) from error

    def _cannot(self, error: Exception) -> None:
        """Note why the collection cannot be opened; those elsewhere need not know where it lies."""
        self.reason = str(error)
        self.error = self.reason.replace(str(self.path), self.path.name)[:500]

    def suspected(self, error: BaseException) -> str:
        """What those who asked are told of an error that is not their fault."""
        return self._suspicion.told(error)

    def _manifest(self) -> tuple[int, int]:
        """What changes when the collection is made anew."""
        try:
            found = (self.path / MANIFEST).stat()
        except OSError:  # opening it tells what is wrong
            return 0, 0
        return found.st_mtime_ns, found.st_ino

    @property
    def now(self) -> OpenLeaf:
        """The collection as it is now; if it cannot be opened any more, as it was; a RouterError if it never could."""
        if time.monotonic() - self._looked > _LOOK_AGAIN:
            self._look()
        if self._open is None:
            raise RouterError(self.error, 503)
        return self._open

    def _look(self) -> None:
        """Open the collection again if it was made anew."""
        self._looked = time.monotonic()
        try:
            stamp = self._manifest()
            if stamp != self._stamp or self._open is None:
                self._open, self._stamp, self.error = self._opened(), stamp, ""
                self._suspicion = Suspicion(self.name, self.path)
        except (KinError, OSError) as error:
            self._cannot(error)

    @property
    def label(self) -> ContentLabel:
        """Its label."""
        return self.now.label

    @property
    def parts(self) -> Mapping[str, ContentLabel]:
        """The parts of its label."""
        return self.now.parts

    @property
    def etags(self) -> Mapping[str, str]:
        """Their ETags."""
        return self.now.etags

    async def search(self, request: SearchRequest) -> Answer:
        """The documents that match."""
        return await self._answered(lambda now: now.search(request))

    async def show(self, request: ShowRequest) -> Answer:
        """Some documents with a piece of their text."""
        return await self._answered(lambda now: now.show(request))

    async def select(self, request: SelectRequest) -> Answer:
        """Those of the results so far that match."""
        return await self._answered(lambda now: now.select(request))

    async def expand(self, request: SelectRequest) -> Answer:
        """A leaf has nothing below its documents: the same as `select`."""
        return await self._answered(lambda now: now.select(request))

    async def refine(self, request: RefineRequest) -> Terms:
        """Terms that go with a query."""
        return await self._answered(lambda now: now.refine(request))

    async def together(self, request: TogetherRequest) -> Counts:
        """How often words go together with a query on its pages."""
        return await self._answered(lambda now: now.together(request))

    async def suggest(self, request: SuggestRequest) -> Answer:
        """Documents like the results so far."""
        return await self._answered(lambda now: now.suggest(request))

    async def bag(self, request: RelatedRequest) -> Bag:
        """A page's bag, to travel."""
        return await self._answered(lambda now: now.bag(request))

    async def related(self, request: RelatedRequest) -> Answer:
        """The pages of this collection that are most like a page."""
        return await self._answered(lambda now: now.related(request))

    async def _answered(self, service: Callable[[OpenLeaf], Coroutine[Any, Any, T]]) -> T:
        """What the collection answers; asked again if it was made anew before all that was needed had been opened."""
        self.requests += 1
        now = self.now
        try:
            return await service(now)
        except KinError:
            self._look()
            if self._open is None or self._open is now:
                raise
            return await service(self._open)

    async def summary(self) -> Summary:
        """What the collection holds, for people."""
        return summary_of(self.name, True, self.label, ())

    async def health(self) -> Health:
        """How it is."""
        try:
            now = self.now
        except RouterError as error:
            return Health(
                name=self.name, leaf=True, level=0, ready=False, version=__version__, documents=0, label_bytes=0,
                label_age=None, etags={}, uptime=time.monotonic() - self._started, requests=self.requests,
                error=str(error),
            )  # fmt: skip
        found = self._suspicion.found
        return Health(
            name=self.name, leaf=True, level=0, ready=True, version=__version__, documents=now.label.num_docs,
            label_bytes=now.label_bytes, label_age=0.0, etags=now.etags, uptime=time.monotonic() - self._started,
            requests=self.requests, error=self.error or (f"it is damaged: {found}" if found else ""),
        )  # fmt: skip

    async def tree(self, _request: TreeRequest) -> TreeNode:
        """How it is; nobody is below it."""
        return TreeNode.of(await self.health())

    async def start(self) -> None:
        """Nothing has to be fetched."""

    async def stop(self) -> None:
        """Nothing has to be ended."""
