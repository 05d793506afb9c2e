"""A router: it knows its children's labels, and asks those children that may hold what is asked for."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from pagekin.routers.children import ChildError, body_of, time_for_children
from pagekin.routers.keeper import Keeper, RouterSettings
from pagekin.routers.messages import (
    Answer,
    Asked,
    Bag,
    Found,
    Item,
    RefineRequest,
    RelatedRequest,
    RouterError,
    SearchRequest,
    SelectRequest,
    ShowRequest,
    Skipped,
    SuggestRequest,
    Terms,
    Travel,
    TreeNode,
    TreeRequest,
    encode,
)
from pagekin.routers.open_leaf import plain
from pagekin.routers.refinement import LabelThesaurus
from pagekin.routers.results import SEEN, by_score, grouped, merged
from pagekin.routers.routing import asked_words, check_filters, parsed
from pagekin.routers.tree import tree_below

R = TypeVar("R", bound=Travel)
_MOST = 2**53
"""Whatever is counted is at most so much on its way."""
_MOST_TOLD = 5_000
"""Routers asked, routers skipped, and reasons, of which one child may tell."""
_MOST_SHOWN = 1_000
"""Results that come with a piece of their text."""
_LEAST_SHARE = 0.3
"""The share of a page's heaviest words that a child must hold together to be asked for related pages."""


class Router(Keeper):
    """A router: it asks those children that may hold what is asked for, and brings their answers together."""

    leaf = False
    above: tuple[tuple[str, str], ...] = ()
    """(name, address) of the routers above it, as far as they are known."""

    def __init__(
        self, name: str, children: Mapping[str, str], settings: RouterSettings | None = None, level: int = 1
    ) -> None:
        super().__init__(name, children, settings, level)
        self._cache: OrderedDict[bytes, tuple[float, Answer]] = OrderedDict()

    def renewed(self) -> None:
        """Forget answers that were given by what was known before."""
        self._cache.clear()

    # -- asking children --------------------------------------------------------------------------------------------------

    def _check_way(self, request: Travel) -> str:
        """Why a request goes no further, or ''."""
        if self.name in request.visited:
            return f"{self.name}: a loop, {' > '.join((*request.visited, self.name))}"
        if request.hops == 0:
            return f"{self.name}: too many routers on the way, {' > '.join(request.visited)}"
        return ""

    def _further(self, request: R, **changes: Any) -> R:
        """The request as it goes on to children."""
        return msgspec.structs.replace(
            request, hops=request.hops - 1, visited=(*request.visited, self.name)[-32:], **changes
        )

    async def _ask(
        self, operation: str, requests: Mapping[str, Travel], deadline: float, most: int | None = None
    ) -> tuple[list[Found], list[Asked], list[Skipped], list[str], int]:
        """(results, who was asked, who was skipped, what is missing, total) of several children at once.

        With `most` only the best results are given, the best first.
        """
        results: list[tuple[str, Found]] = []
        asked: list[Asked] = []
        skipped: list[Skipped] = []
        partial: list[str] = []
        total = 0

        for name, answer, seconds, size, error in await self._called(operation, requests, deadline):
            if answer is None:
                partial.append(f"{self.name}/{name}: {error}"[:2000])
                asked.append(Asked(path=(self.name, name), seconds=seconds))
                continue
            limit = getattr(requests[name], "limit", 10_000)
            mine = [(name, found) for found in answer.results[:limit] if _is_address(found.url)]
            if len(mine) < len(answer.results):
                without = len(answer.results) - len(mine)
                partial.append(f"{self.name}/{name}: {without:,} results are left out, as no web addresses or too many")
            results += mine
            total = min(total + answer.total, _MOST)
            asked.append(
                Asked(path=(self.name, name), leaf=answer.leaf, seconds=seconds, results=len(mine), bytes=size)
            )
            asked += [
                Asked(
                    path=self._under(name, below.path), leaf=below.leaf, seconds=below.seconds, results=below.results,
                    bytes=below.bytes,
                )
                for below in answer.asked[:_MOST_TOLD]
            ]  # fmt: skip
            skipped += [
                Skipped(path=self._under(name, below.path), reason=_plain_reason(below.reason))
                for below in answer.skipped[:_MOST_TOLD]
            ]
            partial += (plain(reason) for reason in answer.partial[:_MOST_TOLD])
        if most is not None:
            results = sorted(results, key=lambda pair: by_score(pair[1]))[:most]
        return [self._placed(*pair) for pair in results], asked, skipped, partial[: 2 * _MOST_TOLD], total

    async def _called(
        self, operation: str, requests: Mapping[str, Travel], deadline: float
    ) -> list[tuple[str, Answer | None, float, int, str]]:
        """(name, answer, seconds, bytes, what went wrong) of each child; one timer for all, as hundreds would cost too much."""
        if not requests:
            return []
        began = time.perf_counter()
        try:
            left = time_for_children(deadline)
        except ChildError as error:
            return [(name, None, 0.0, 0, str(error)) for name in requests]
        bodies: dict[int, bytes] = {}

        async def one(name: str, request: Travel) -> tuple[str, Answer | None, float, int, str]:
            body = bodies.get(id(request)) or bodies.setdefault(id(request), body_of(request, left))
            try:
                answer, size = await self.children[name].answered(self._connected(), operation, body, Answer)
            except ChildError as error:
                return name, None, time.perf_counter() - began, 0, str(error)
            return name, answer, time.perf_counter() - began, size, ""

        tasks = {asyncio.create_task(one(name, request)): name for name, request in requests.items()}
        try:
            await asyncio.wait(tasks, timeout=left)
        finally:
            for task in tasks:
                task.cancel()
        return [
            task.result()
            if task.done() and not task.cancelled()
            else (name, None, left, 0, self.children[name].late(left))
            for task, name in tasks.items()
        ]

    def _under(self, child: str, path: tuple[str, ...]) -> tuple[str, ...]:
        return (self.name, child, *_plain_path(path)[1:])[:32]

    def _placed(self, child: str, found: Found) -> Found:
        """A child's result as one of this router's: its path, and the sub-cluster to which it belongs here."""
        known = self._known
        number = known.merged.homes.get(child, {}).get(self.children[child].numbered(found.cluster), 0) if known else 0
        return msgspec.structs.replace(
            found,
            path=self._under(child, found.path),
            cluster=number,
            cluster_name=known.label.clusters[number - 1].name if known and number else "",
            title=plain(found.title),
            snippet=plain(found.snippet),
            marks=tuple(mark for mark in found.marks if mark[0] <= mark[1] <= len(found.snippet)),
            language=plain(found.language),
            copies=tuple(filter(_is_address, found.copies)),
        )

    # -- services ---------------------------------------------------------------------------------------------------------

    async def search(self, request: SearchRequest) -> Answer:
        """All documents below that match: recursively, from those children that may hold one."""
        self.requests += 1
        key = encode(msgspec.structs.replace(request, deadline=1.0))
        if (kept := self._cache.get(key)) and kept[0] > time.monotonic():
            return kept[1]
        answer = await self._search(request)
        if self.settings.cached and not answer.partial:
            self._cache[key] = time.monotonic() + self.settings.cached, answer
            while len(self._cache) > self.settings.most_cached:
                self._cache.popitem(last=False)
        return answer

    async def _search(self, request: SearchRequest) -> Answer:
        started, deadline = time.perf_counter(), time.monotonic() + request.deadline
        query = parsed(request.query)
        check_filters(request.filters)
        if stopped := self._check_way(request):
            return Answer(query=request.query, router=self.name, partial=(stopped,))
        known = self._ready
        verdict = known.table.judge(query, request.routing, request.ask)
        unknown = [name for name in self.children if name not in known.table.labels]
        onward = self._further(request, stats=request.stats or known.table.stats(query), snippets=False)
        requests = dict.fromkeys((*verdict.ask, *unknown), onward)
        found, asked, skipped, partial, total = await self._ask("search", requests, deadline, SEEN * request.limit)
        skipped += [Skipped(path=(self.name, name), reason=reason) for name, reason in verdict.skipped.items()]
        # Copies are folded once, where the query began.
        results = merged(found, request.limit, copies=request.snippets)
        if request.snippets and results:
            shown, _asked, _skipped, missing, _total = await self._shown(request, results[:_MOST_SHOWN], deadline)
            partial = (partial + missing)[: 2 * _MOST_TOLD]
            text = {(one.path[:2], one.url): one for one in shown}
            results = [
                msgspec.structs.replace(
                    one,
                    title=there.title,
                    snippet=there.snippet,
                    marks=there.marks,
                    date=there.date,
                    language=there.language,
                )
                if (there := text.get((one.path[:2], one.url)))
                else one
                for one in results
            ]
        return Answer(
            query=request.query, router=self.name, total=total, results=tuple(results), groups=grouped(results),
            asked=tuple(asked), skipped=tuple(skipped), partial=tuple(partial), seconds=time.perf_counter() - started,
        )  # fmt: skip

    async def show(self, request: ShowRequest) -> Answer:
        """Some documents with a piece of their text, from the leaves on their paths."""
        self.requests += 1
        deadline = time.monotonic() + request.deadline
        if stopped := self._check_way(request):
            return Answer(query=request.query, router=self.name, partial=(stopped,))
        results, asked, _skipped, partial, total = await self._shown(request, request.items, deadline)
        return Answer(
            query=request.query, router=self.name, total=total, results=tuple(results), asked=tuple(asked),
            partial=tuple(partial),
        )  # fmt: skip

    async def _shown(
        self, request: SearchRequest | ShowRequest, items: Sequence[Found | Item], deadline: float
    ) -> tuple[list[Found], list[Asked], list[Skipped], list[str], int]:
        """Documents with a piece of their text, from the children that lead to them."""
        asked: dict[str, list[Item]] = {}
        for one in items:
            if len(one.path) > 1 and one.path[1] in self.children:
                asked.setdefault(one.path[1], []).append(Item(one.kind, one.url, one.path[1:]))
        onward = self._further(ShowRequest(query=request.query, items=(), hops=request.hops, visited=request.visited))
        requests = {child: msgspec.structs.replace(onward, items=tuple(some)) for child, some in asked.items()}
        return await self._ask("show", requests, deadline)

    async def select(self, request: SelectRequest) -> Answer:
        """Those of the results so far, at first the children, that may match by their labels; nobody is asked."""
        self.requests += 1
        started = time.perf_counter()
        query = parsed(request.query)
        known = self._ready
        verdict = known.table.judge(query)
        scores = known.table.cori(query)
        skipped = [Skipped(path=(self.name, name), reason=reason) for name, reason in verdict.skipped.items()]
        by_url = {child.url: name for name, child in self.children.items()}
        if request.items is None:
            clusters, documents = list(verdict.ask), []
        else:
            asked = {by_url.get(item.url, "") for item in request.items if item.kind == "cluster"}
            clusters = [name for name in verdict.ask if name in asked]
            skipped = [one for one in skipped if one.path[-1] in asked]
            may = set(known.own.judge(query).ask)
            documents = [
                item
                for item in request.items
                if item.kind == "document" and (not item.cluster or str(item.cluster) in may)
            ]
            strange = [item for item in request.items if item.kind == "cluster" and item.url not in by_url]
            documents += strange
        clusters += [name for name in self.children if name not in known.table.labels and request.items is None]
        results = [self._as_cluster(name, scores.get(name, 0.0)) for name in clusters]
        results.sort(key=lambda one: (-one.score, one.url))
        results += [Found(kind=item.kind, url=item.url, path=item.path, cluster=item.cluster) for item in documents]
        return Answer(
            query=request.query, router=self.name, total=len(results), results=tuple(results[: request.limit]),
            groups=grouped(results[: request.limit]), skipped=tuple(skipped), seconds=time.perf_counter() - started,
        )  # fmt: skip

    def _as_cluster(self, name: str, score: float) -> Found:
        """A child as a result."""
        label = self.children[name].label
        words = ", ".join(label.heaviest) if label else ""
        return Found(
            kind="cluster", url=self.children[name].url, title=name, snippet=plain(words)[:2000], score=score,
            path=(self.name, name), pages=label.num_docs if label else 0,
        )  # fmt: skip

    async def expand(self, request: SelectRequest) -> Answer:
        """The children of those results so far that match, as far as they match: one hop down."""
        self.requests += 1
        started, deadline = time.perf_counter(), time.monotonic() + request.deadline
        if stopped := self._check_way(request):
            return Answer(query=request.query, router=self.name, partial=(stopped,))
        selected = await self.select(request)
        requests: dict[str, Travel] = {}
        kept: list[Found] = []
        deeper: dict[str, list[Item]] = {}
        for one in selected.results:
            child = one.path[1] if len(one.path) > 1 else ""
            if one.kind == "cluster" and len(one.path) == 2 and child in self.children:
                requests[child] = self._further(request, items=None)
            elif one.kind == "cluster" and child in self.children:
                deeper.setdefault(child, []).append(Item(one.kind, one.url, one.path[1:], one.cluster))
            elif one.kind == "document":
                kept.append(one)
        found, asked, skipped, partial, _total = await self._ask("select", requests, deadline)
        onward = {child: self._further(request, items=tuple(items)) for child, items in deeper.items()}
        below = await self._ask("expand", onward, deadline)
        found, asked, skipped, partial = found + below[0], asked + below[1], skipped + below[2], partial + below[3]
        results = merged([*kept, *found], request.limit)
        return Answer(
            query=request.query, router=self.name, total=len(results), results=tuple(results), groups=grouped(results),
            asked=tuple(asked), skipped=(*selected.skipped, *skipped), partial=tuple(partial),
            seconds=time.perf_counter() - started,
        )  # fmt: skip

    async def refine(self, request: RefineRequest) -> Terms:
        """Terms that go with a query, from the sub-clusters of the children's labels."""
        self.requests += 1
        started = time.perf_counter()
        pairs = asked_words(parsed(request.query))
        if self._thesaurus is None:
            self._thesaurus = LabelThesaurus(self._ready.table.labels)
        found = self._thesaurus.suggest(pairs, request.count, request.preset == "hypursuit1996")
        return Terms(
            query=request.query, router=self.name, known=found.pages, collocated=found.collocated, broader=found.broader,
            narrower=found.narrower, seconds=time.perf_counter() - started,
        )  # fmt: skip

    async def suggest(self, request: SuggestRequest) -> Answer:
        """Documents like the results so far, from the children that they came from."""
        self.requests += 1
        started, deadline = time.perf_counter(), time.monotonic() + request.deadline
        if stopped := self._check_way(request):
            return Answer(router=self.name, partial=(stopped,))
        items: dict[str, list[Item]] = {}
        for item in request.items:
            if len(item.path) > 1 and item.path[1] in self.children:
                items.setdefault(item.path[1], []).append(msgspec.structs.replace(item, path=item.path[1:]))
        requests = {name: self._further(request, items=tuple(some)) for name, some in items.items()}
        found, asked, skipped, partial, total = await self._ask("suggest", requests, deadline)
        given = {item.url for item in request.items}
        results = merged([one for one in found if one.url not in given], request.limit, not request.visited)
        return Answer(
            router=self.name, total=total, results=tuple(results), groups=grouped(results), asked=tuple(asked),
            skipped=tuple(skipped), partial=tuple(partial), seconds=time.perf_counter() - started,
        )  # fmt: skip

    async def bag(self, request: RelatedRequest) -> Bag:
        """The bag of a page below: from the leaf on its path, or from whoever has it."""
        self.requests += 1
        deadline = time.monotonic() + request.deadline
        if stopped := self._check_way(request):
            raise RouterError(stopped)
        on_path = len(request.path) > 1 and request.path[1] in self.children
        names = [request.path[1]] if on_path else list(self.children)
        onward = self._further(request, path=request.path[1:] if on_path else ())

        async def one(name: str) -> Bag | None:
            try:
                return (await self.children[name].call(self._connected(), "bag", onward, Bag, deadline))[0]
            except ChildError:
                return None

        for found in await asyncio.gather(*map(one, names)):
            if found is not None:
                return found
        raise RouterError(f"no router below knows the page {request.url}", 404)

    async def related(self, request: RelatedRequest) -> Answer:
        """Pages like a page, from the children whose labels hold its heaviest words."""
        self.requests += 1
        started, deadline = time.perf_counter(), time.monotonic() + request.deadline
        if stopped := self._check_way(request):
            return Answer(router=self.name, partial=(stopped,))
        bag = request.bag or await self.bag(request)
        held = self._ready.table.words_held(bag.words) if bag.words else dict.fromkeys(self.children, 0)
        enough = max(1, round(_LEAST_SHARE * len(bag.words)))
        order = sorted((name for name in held if held[name] >= enough or not bag.words), key=lambda n: (-held[n], n))
        chosen = order[: request.ask] + [name for name in self.children if name not in held]
        onward = self._further(request, bag=bag, path=())
        found, asked, skipped, partial, total = await self._ask("related", dict.fromkeys(chosen, onward), deadline)
        skipped += [
            Skipped(
                path=(self.name, name), reason=f"it holds {held[name]} of the page's {len(bag.words)} heaviest words"
            )
            for name in held
            if name not in chosen
        ]
        results = merged([one for one in found if one.url != bag.url], request.limit, not request.visited)
        return Answer(
            router=self.name, total=total, results=tuple(results), groups=grouped(results), asked=tuple(asked),
            skipped=tuple(skipped), partial=tuple(partial), seconds=time.perf_counter() - started,
        )  # fmt: skip

    async def tree(self, request: TreeRequest) -> TreeNode:
        """All routers and leaves below, and how they are."""
        self.requests += 1
        deadline = time.monotonic() + request.deadline
        own = TreeNode.of(await self.health())
        if stopped := self._check_way(request):
            return msgspec.structs.replace(own, error=stopped[:2000])
        return await tree_below(own, self.children, self._connected(), self._further(request), deadline)


@lru_cache(4096)
def _plain_path(path: tuple[str, ...]) -> tuple[str, ...]:
    """A path whose names are plain; each query meets the same again."""
    return tuple(map(plain, path))


@lru_cache(4096)
def _plain_reason(reason: str) -> str:
    return plain(reason)


def _is_address(url: str) -> bool:
    """Whether an address is one of the web, and does nothing to a terminal."""
    return url.startswith(("http://", "https://")) and plain(url) == url
