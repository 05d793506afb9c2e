"""A router: it knows its children's labels, and asks those children that may hold what is asked for."""

import asyncio
import time
from collections.abc import Mapping, Sequence

import msgspec

from pagekin.clusters.thesaurus import Together
from pagekin.labels.model import plain
from pagekin.routers.asking import Asking, Told
from pagekin.routers.children import ChildError
from pagekin.routers.hot import Hot
from pagekin.routers.keeper import RouterSettings
from pagekin.routers.messages import (
    Answer,
    Bag,
    Counts,
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
    TogetherRequest,
    Travel,
    TreeNode,
    TreeRequest,
    encode,
)
from pagekin.routers.refinement import LabelThesaurus
from pagekin.routers.results import SEEN, grouped
from pagekin.routers.routing import asked_words, check_filters, may_pass, parsed
from pagekin.routers.together import counts_of, together_below
from pagekin.routers.tree import tree_below

_FOR_TEXTS_SHARE, _FOR_TEXTS = 0.15, 0.75
"""The share of the time that is kept to ask for texts, and how many seconds are enough."""
_MOST_SHOWN = 1_000
"""Results that come with a piece of their text."""
_LEAST_SHARE = 0.3
"""The share of a page's heaviest words that a child must hold together to be asked for related pages."""


class Router(Asking):
    """A router: it asks those children that may hold what is asked for, and brings their answers together."""

    leaf = False
    above: tuple[tuple[str, str], ...] = ()
    """(name, address) of the routers above it, as far as they are known."""

    def __init__(
        self, name: str, children: Mapping[str, str], settings: RouterSettings | None = None, level: int = 1
    ) -> None:
        super().__init__(name, children, settings, level)
        self._found: Hot[Answer] = Hot(self.settings.cached, self.settings.most_cached)
        self._refined: Hot[Terms] = Hot(self.settings.cached, self.settings.most_cached)

    def renewed(self) -> None:
        """Forget answers that were given by what was known before."""
        self._found.clear()
        self._refined.clear()

    def _answer(
        self, query: str, told: Told, results: Sequence[Found], started: float, total: int | None = None
    ) -> Answer:
        """Results with how they were found; in total as many as they are, unless it is told."""
        return Answer(
            query=query, router=self.name, total=len(results) if total is None else total, results=tuple(results),
            groups=grouped(results), asked=tuple(told.asked), skipped=tuple(told.skipped), partial=tuple(told.partial),
            seconds=time.perf_counter() - started,
        )  # fmt: skip

    # -- services ---------------------------------------------------------------------------------------------------------

    async def search(self, request: SearchRequest) -> Answer:
        """All documents below that match: recursively, from those children that may hold one."""
        self.requests += 1
        key = encode(msgspec.structs.replace(request, deadline=1.0))
        if kept := self._found.get(key):
            return kept
        answer = await self._search(request)
        if not answer.partial:
            self._found.put(key, answer)
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
        # Texts are asked for afterwards, also if somebody has let us wait.
        soon = deadline - min(_FOR_TEXTS_SHARE * request.deadline, _FOR_TEXTS) if request.snippets else deadline
        told = await self._ask("search", requests, soon, SEEN * request.limit)
        told.skipped += [Skipped(path=(self.name, name), reason=reason) for name, reason in verdict.skipped.items()]
        # Copies are folded once, where the query began.
        results = await self._merged(told.results, request.limit, copies=request.snippets)
        if request.snippets and results:
            shown = await self._shown(request, results[:_MOST_SHOWN], deadline)
            told.missing(shown.partial)
            text = {(one.path[:2], one.url): one for one in shown.results}
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
        return self._answer(request.query, told, results, started, told.total)

    async def show(self, request: ShowRequest) -> Answer:
        """Some documents with a piece of their text, from the leaves on their paths."""
        self.requests += 1
        deadline = time.monotonic() + request.deadline
        if stopped := self._check_way(request):
            return Answer(query=request.query, router=self.name, partial=(stopped,))
        told = await self._shown(request, request.items, deadline)
        return Answer(
            query=request.query, router=self.name, total=told.total, results=tuple(told.results), asked=tuple(told.asked),
            partial=tuple(told.partial),
        )  # fmt: skip

    async def _shown(
        self, request: SearchRequest | ShowRequest, items: Sequence[Found | Item], deadline: float
    ) -> Told:
        """Documents with a piece of their text, from the children that lead to them."""
        asked: dict[str, list[Item]] = {}
        for one in items:
            if len(one.path) > 1 and one.path[1] in self.children:
                asked.setdefault(one.path[1], []).append(Item(one.kind, one.url, one.path[1:]))
        onward = self._further(ShowRequest(query=request.query, items=(), hops=request.hops, visited=request.visited))
        requests = {child: msgspec.structs.replace(onward, items=tuple(some)) for child, some in asked.items()}
        return await self._ask("show", requests, deadline)

    async def select(self, request: SelectRequest) -> Answer:
        """Those of the results so far, at first the children, that may match by their labels; nobody is asked.

        Labels tell nothing that filters ask for, so children stay; of documents a router knows the site alone.
        """
        self.requests += 1
        started = time.perf_counter()
        query = parsed(request.query)
        check_filters(request.filters)
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
                if item.kind == "document"
                and (not item.cluster or str(item.cluster) in may)
                and may_pass(item.url, request.filters)
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
        told = await self._ask("select", requests, deadline)
        onward = {child: self._further(request, items=tuple(items)) for child, items in deeper.items()}
        told = told.and_also(await self._ask("expand", onward, deadline))
        told.skipped = [*selected.skipped, *told.skipped]
        results = await self._merged([*kept, *told.results], request.limit)
        return self._answer(request.query, told, results, started)

    async def refine(self, request: RefineRequest) -> Terms:
        """Terms that go with a query on the pages below; as in 1996, in the sub-clusters of the children's labels.

        Labels tell it, too, if nobody below does.
        """
        self.requests += 1
        key = encode(msgspec.structs.replace(request, deadline=1.0))
        if kept := self._refined.get(key):
            return kept
        started, deadline = time.perf_counter(), time.monotonic() + request.deadline
        query = parsed(request.query)
        as_in_1996 = request.preset == "hypursuit1996"
        asked, together = 0, None
        partial: tuple[str, ...] = ()
        if not as_in_1996 and not self._check_way(request):
            onward = TogetherRequest(query=request.query, hops=request.hops, visited=request.visited)
            asked, together, partial = await self._together(onward, deadline)
        if together and len(partial) < max(asked, 1):
            found = together.suggest(request.count)
        else:
            if self._thesaurus is None:
                self._thesaurus = LabelThesaurus(self._ready.table.labels)
            found = self._thesaurus.suggest(asked_words(query), request.count, as_in_1996)
        terms = Terms(
            query=request.query, router=self.name, known=found.pages, collocated=found.collocated, broader=found.broader,
            narrower=found.narrower, children=asked, partial=partial, seconds=time.perf_counter() - started,
        )  # fmt: skip
        if not partial:
            self._refined.put(key, terms)
        return terms

    async def together(self, request: TogetherRequest) -> Counts:
        """How often words go together with a query on the pages of those children that promise most."""
        self.requests += 1
        deadline = time.monotonic() + request.deadline
        if stopped := self._check_way(request):
            return Counts(partial=(stopped,))
        _asked, found, partial = await self._together(request, deadline)
        return counts_of(found, partial)

    async def _together(self, request: TogetherRequest, deadline: float) -> tuple[int, Together, tuple[str, ...]]:
        """(how many children were asked, their counts, what is missing)."""
        names = self._ready.table.judge(parsed(request.query), ask=request.ask).ask
        found, partial = await together_below(self.children, names, self._connected(), self._further(request), deadline)
        return len(names), found, partial

    async def suggest(self, request: SuggestRequest) -> Answer:
        """Documents like the results so far, from the children that they came from."""
        self.requests += 1
        started, deadline = time.perf_counter(), time.monotonic() + request.deadline
        check_filters(request.filters)
        if stopped := self._check_way(request):
            return Answer(router=self.name, partial=(stopped,))
        items: dict[str, list[Item]] = {}
        for item in request.items:
            if len(item.path) > 1 and item.path[1] in self.children:
                items.setdefault(item.path[1], []).append(msgspec.structs.replace(item, path=item.path[1:]))
        requests = {name: self._further(request, items=tuple(some)) for name, some in items.items()}
        told = await self._ask("suggest", requests, deadline)
        given = {item.url for item in request.items}
        others = (one for one in told.results if one.url not in given)
        results = await self._merged(others, request.limit, not request.visited)
        return self._answer("", told, results, started, told.total)

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
        check_filters(request.filters)
        if stopped := self._check_way(request):
            return Answer(router=self.name, partial=(stopped,))
        bag = request.bag or await self.bag(request)
        held = self._ready.table.words_held(bag.words) if bag.words else dict.fromkeys(self.children, 0)
        enough = max(1, round(_LEAST_SHARE * len(bag.words)))
        order = sorted((name for name in held if held[name] >= enough or not bag.words), key=lambda n: (-held[n], n))
        chosen = order[: request.ask] + [name for name in self.children if name not in held]
        onward = self._further(request, bag=bag, path=())
        told = await self._ask("related", dict.fromkeys(chosen, onward), deadline)
        told.skipped += [
            Skipped(
                path=(self.name, name), reason=f"it holds {held[name]} of the page's {len(bag.words)} heaviest words"
            )
            for name in held
            if name not in chosen
        ]
        others = (one for one in told.results if one.url != bag.url)
        results = await self._merged(others, request.limit, not request.visited)
        return self._answer("", told, results, started, told.total)

    async def tree(self, request: TreeRequest) -> TreeNode:
        """All routers and leaves below, and how they are."""
        self.requests += 1
        deadline = time.monotonic() + request.deadline
        own = TreeNode.of(await self.health())
        if stopped := self._check_way(request):
            return msgspec.structs.replace(own, error=stopped[:2000])
        return await tree_below(own, self.children, self._connected(), self._further(request), deadline)
