"""A collection in shards as a service: its shards answer as one collection, in this process."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from pagekin import __version__
from pagekin.collection import (
    Answer,
    AskedNode,
    Collection,
    FollowedFolder,
    Hit,
    PublishedLabel,
    ReloadingCollection,
    Request,
    Service,
    ServiceError,
    Whole,
    WholeHits,
    group_hits,
    in_thread,
    messages,
    open_collection_at,
)
from pagekin.hypertext import open_shards
from pagekin.labels import ContentLabel, LabelBudget
from pagekin.routers.knowledge import RouterSettings
from pagekin.routers.place import Place
from pagekin.routers.router import Router
from pagekin.store import open_kin

T = TypeVar("T")
R = TypeVar("R", bound=Request)
_LABELS_STAY = 86_400.0 * 365
"""Seconds between checks for changed labels of shards; those of an open collection never change."""


def shard_name(number: int) -> str:
    """Return the name of a shard as a service."""
    return f"shard-{number}"


def open_whole(name: str, path: Path, compiled: bool = True, hide_path: bool = True, threads: int = 1) -> Whole:
    """Open all shards of a collection; raise a KinError that says why they cannot be opened, or do not belong together."""
    options: dict[str, Any] = {"compiled": compiled, "hide_path": hide_path, "threads": threads}
    shards = open_shards(open_kin(path))
    folders = [shard.path for shard in shards] or [path]
    parts = [open_collection_at(shard_name(number), folder, options) for number, folder in enumerate(folders)]
    return Whole(parts, name, path, compiled, hide_path)


class _Shard:
    """One open shard, from which its service answers."""

    def __init__(self, folder: FollowedFolder[Whole], number: int) -> None:
        self._folder, self._number = folder, number

    @property
    def error(self) -> str:
        return self._folder.error

    @property
    def reason(self) -> str:
        return self._folder.reason

    @property
    def current(self) -> Collection:
        return self._part(self._folder.current)

    def use(self, work: Callable[[Collection], T]) -> T:
        return self._folder.use(lambda whole: work(self._part(whole)))

    def look_again(self) -> None:
        self._folder.look_again()

    def _part(self, whole: Whole) -> Collection:
        if self._number >= len(whole.parts):
            raise ServiceError(f"{whole.name} has {len(whole.parts)} shards now", 404)
        return whole.parts[self._number]


class ShardRouter(Router):
    """A router whose children are the shards of one collection; its label has as many sub-clusters as a collection's.

    Search, related pages, bags and descriptions are those of the whole. All else is answered as by any router.
    """

    def __init__(
        self,
        name: str,
        whole: Whole,
        folder: FollowedFolder[Whole],
        shards: dict[str, Service],
        address: str,
    ) -> None:
        urls = {shard: f"{address}{shard}/" for shard in shards}
        super().__init__(name, urls, RouterSettings(refresh=_LABELS_STAY, budget=LabelBudget()), near=shards)
        self.whole_now, self._folder = whole, folder

    async def know_labels(self) -> None:
        """Ask the shards for their labels, once, if they have any."""
        if self.knowledge.snapshot is None:
            await self.knowledge.refresh()

    async def search(self, request: messages.SearchRequest) -> Answer:
        """Return documents that match, ranked as in one collection."""
        return await self._answer_whole(request, Whole.search)

    async def related(self, request: messages.RelatedRequest) -> Answer:
        """Return pages similar to a page, ranked as in one collection."""
        return await self._answer_whole(request, Whole.related)

    async def bag(self, request: messages.RelatedRequest) -> messages.Bag:
        """Return a page's bag."""
        return await self._of_whole(request, Whole.bag)

    async def describe(self, request: messages.DescribeRequest) -> messages.PageDescription:
        """Return what was read from a page."""
        return messages.PageDescription(router=self.name, page=await self._of_whole(request, Whole.describe))

    async def _of_whole(self, request: R, ask: Callable[[Whole, R], T]) -> T:
        self.requests += 1
        if stopped := self.fan_out.why_stopped(request):
            raise ServiceError(stopped)
        return await in_thread(self._folder.use, lambda whole: ask(whole, request))

    async def _answer_whole(self, request: R, ask: Callable[[Whole, R], WholeHits]) -> Answer:
        if stopped := self._answer_if_stopped(request):
            return stopped
        started = time.perf_counter()
        whole_hits, asked = await in_thread(self._folder.use, partial(self._ask_whole, request, ask))
        hits, subjects = (
            tuple(map(self._place, some)) for some in (whole_hits.hits, whole_hits.facts.get("subjects", ()))
        )
        facts: dict[str, Any] = {"total": len(hits), "distinct": len(hits)} | whole_hits.facts | {"subjects": subjects}
        return Answer(
            query=getattr(request, "query", ""), router=self.name, results=hits, groups=group_hits(hits), asked=asked,
            seconds=time.perf_counter() - started, **facts,
        )  # fmt: skip

    def _ask_whole(
        self, request: R, ask: Callable[[Whole, R], WholeHits], whole: Whole
    ) -> tuple[WholeHits, tuple[AskedNode, ...]]:
        """Return the answer of the `Whole`, with the shards as the services asked, each with its matches."""
        hits = ask(whole, request)
        names = [hit.path[0] for hit in hits.hits]
        totals = hits.totals or (0,) * len(whole.parts)
        return hits, tuple(
            AskedNode(
                path=(self.name, part.name), leaf=True, results=names.count(part.name), mark=part.mark, total=total
            )
            for part, total in zip(whole.parts, totals, strict=True)
        )

    def _place(self, hit: Hit) -> Hit:
        """Return a shard's hit as one of the whole collection; without labels, its topic is the shard's."""
        placed = self.knowledge.reach.targets[hit.path[0]].place(hit)
        return placed if self.knowledge.snapshot else msgspec.structs.replace(placed, cluster_name=hit.cluster_name)


class ShardedCollection(Service):
    """The service of a collection in shards. It follows its folder as `ReloadingCollection` does.

    Its children are the shards, which can be served, too, below its own `address`.
    """

    def __init__(
        self,
        name: str,
        path: Path,
        compiled: bool = True,
        patient: bool = False,
        hide_path: bool = True,
        threads: int = 1,
        address: str = "",
    ) -> None:
        super().__init__(name)
        self.path, self.address = path, address
        opened = partial(open_whole, name, path, compiled, hide_path, threads)
        self.source: FollowedFolder[Whole] = FollowedFolder(path, opened, patient)
        self._routed: ShardRouter | None = None
        self._labels = asyncio.Lock()
        self._started = time.monotonic()

    @property
    def error(self) -> str:
        """Return what is wrong with the folder, for clients."""
        return self.source.error

    @property
    def reason(self) -> str:
        """Return what is wrong with the folder, for operators."""
        return self.source.reason

    @property
    def whole(self) -> Whole:
        """Return the shards as they are now, as one."""
        return self.source.current

    def look_again(self) -> None:
        """Make the next question check for a rebuild."""
        self.source.look_again()

    def shards(self) -> dict[str, Service]:
        """Return the services of the shards, by name."""
        return {
            part.name: ReloadingCollection(part.name, part.path, source=_Shard(self.source, number))
            for number, part in enumerate(self.whole.parts)
        }

    @property
    def _router(self) -> ShardRouter:
        """Return the router of the current shards; a new one after a rebuild."""
        whole = self.whole
        if self._routed is None or self._routed.whole_now is not whole:
            self._routed = ShardRouter(self.name, whole, self.source, self.shards(), self.address)
            self._routed.above = self.above
            self.children = self._routed.children
        return self._routed

    async def _with_labels(self) -> ShardRouter:
        router = self._router
        async with self._labels:
            await router.know_labels()
        return router

    # -- answering ------------------------------------------------------------------------------------------------------

    async def search(self, request: messages.SearchRequest) -> Answer:
        """Return documents that match."""
        return await self._router.search(request)

    async def related(self, request: messages.RelatedRequest) -> Answer:
        """Return pages similar to a page, or to several pages together."""
        return await self._router.related(request)

    async def bag(self, request: messages.RelatedRequest) -> messages.Bag:
        """Return a page's weighted bag."""
        return await self._router.bag(request)

    async def describe(self, request: messages.DescribeRequest) -> messages.PageDescription:
        """Return what was read from a page."""
        return await self._router.describe(request)

    async def show(self, request: messages.ShowRequest) -> Answer:
        """Return documents with snippets."""
        return await self._router.show(request)

    async def _ask(self, operation: str, request: Request, answer: type[T]) -> T:
        """Return the answer of the router to all other questions, most of which need labels."""
        router = await self._with_labels()
        with self._explain_missing_labels():
            response: T = await getattr(router, operation)(request)
        return response

    @contextmanager
    def _explain_missing_labels(self) -> Iterator[None]:
        """Say what to do about shards without labels: a router only knows that they sent none."""
        try:
            yield
        except ServiceError as error:
            if any(part.has_label for part in self.whole.parts):
                raise
            advice = "it was built without clusters. Build it again without --no-clusters"
            raise ServiceError(f"{self.name} has no content label, which this needs: {advice}", error.status) from None

    # -- what it is -----------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Merge the labels of the shards."""
        await self._with_labels()

    @property
    def label(self) -> ContentLabel:
        """Return its content label."""
        with self._explain_missing_labels():
            return self._router.label

    @property
    def published(self) -> PublishedLabel:
        """Return its content label in parts."""
        with self._explain_missing_labels():
            return self._router.published

    async def summary(self) -> messages.Summary:
        """Return what is here, for people."""
        await self._with_labels()
        with self._explain_missing_labels():
            return await super().summary()

    async def health(self) -> messages.Health:
        """Return its health and that of its shards."""
        try:
            router = await self._with_labels()
        except ServiceError as error:
            return messages.Health(
                name=self.name, leaf=False, level=1, ready=False, version=__version__, documents=0, label_bytes=0,
                label_age=None, etags={}, uptime=time.monotonic() - self._started, requests=0, error=str(error)[:2000],
            )  # fmt: skip
        health = await router.health()
        pages = len(self.whole.pages)
        return msgspec.structs.replace(health, documents=health.documents or pages, error=health.error or self.error)


LeafService = ReloadingCollection | ShardedCollection
"""The service of one collection, in one piece or in shards."""


def mount(leaf: LeafService, place: Place) -> list[tuple[Service, Place]]:
    """Return a collection with its place; its shards are served below that, by their names."""
    below = {} if leaf.error else leaf.shards()
    shards = [(shard, Place(place.host, place.port, f"{place.path}{name}/")) for name, shard in below.items()]
    return [(leaf, place), *shards]
