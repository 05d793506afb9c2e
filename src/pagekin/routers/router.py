"""A router: a service whose children are services. It asks those that may hold a match, and merges the answers."""

import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from pagekin import __version__
from pagekin.clusters import Cooccurrences
from pagekin.collection import (
    Answer,
    Hit,
    PublishedLabel,
    Request,
    Service,
    ServiceError,
    as_items,
    check_filters,
    decode_counts,
    encode,
    encode_counts,
    explain_epochs,
    group_hits,
    in_thread,
    messages,
    nothing_to_suggest_by,
    parse_query,
    query_words,
    relaxed_query,
    without_own_words,
)
from pagekin.labels import ContentLabel, plain_text
from pagekin.net import HttpClient
from pagekin.routers.child import Child
from pagekin.routers.connection import DirectConnection, HttpConnection
from pagekin.routers.fanout import FanOut
from pagekin.routers.knowledge import Knowledge, RouterSettings
from pagekin.routers.merging import MergedAnswer, merge_answers
from pagekin.routers.ranking import MOST_LOOKED_AT, fold_beside_others, rank_related, rank_targets
from pagekin.routers.reach import CANNOT_REACH, Target
from pagekin.routers.selection import expand_requests, items_by_target, select_known
from pagekin.routers.travelling_bags import mean_bag
from pagekin.routers.tree import tree_below
from pagekin.routers.ttl_cache import TtlCache
from pagekin.text import describe_match, read_question

T = TypeVar("T")
R = TypeVar("R", bound=Request)
A = TypeVar("A", Answer, messages.Refinements)
AskedWords = TypeVar("AskedWords", messages.SearchRequest, messages.SelectRequest)
_LONGEST_MARK = 160
"""Characters of the name in a mark."""
_FOR_TEXTS_SHARE, _FOR_TEXTS = 0.15, 0.75
"""The share of the time reserved for fetching texts, and the maximum in seconds."""


class Router(Service):
    """A service whose children are services: in the same process they are asked directly, others over HTTP.

    What it knows of its children is `knowledge`, whom it asks `knowledge.reach`, and how it asks several at once `fan_out`.
    """

    def __init__(
        self,
        name: str,
        children: Mapping[str, str],
        settings: RouterSettings | None = None,
        level: int = 1,
        near: Mapping[str, Service] | None = None,
    ) -> None:
        """Take children as name -> address; those of `near`, by name, run in this process and are asked directly."""
        super().__init__(name)
        self.level = level
        self.settings = settings or RouterSettings()
        self.mark = f"{name[:_LONGEST_MARK]}/{secrets.token_hex(8)}"
        """Recognises requests that have passed it; another network may have a router of the same name."""
        self.requests = 0
        self._client = HttpClient(self.settings.guard)
        direct = near or {}
        self.children: dict[str, Child] = {
            child: Child(
                child, url,
                DirectConnection(direct[child]) if child in direct else HttpConnection(self._client, url),
                self.settings.child_bytes,
            )
            for child, url in children.items()
        }  # fmt: skip
        self.local = all(child.local for child in self.children.values())
        self.answers: TtlCache[Any] = TtlCache(self.settings.cached, self.settings.most_cached)
        """Answers to `search` and `refine`."""
        self.knowledge = Knowledge(name, self.children, self.settings, self.answers.clear)
        self.fan_out = FanOut(name, self.mark)
        self._started = time.monotonic()

    # -- what it is -----------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start fetching the children's labels."""
        self.knowledge.start()

    async def stop(self) -> None:
        """End, and close the connections."""
        await self.knowledge.stop()
        await self._client.close()

    def wake(self) -> bool:
        """Fetch changed labels of the children now."""
        self.knowledge.wake()
        return True

    @property
    def label(self) -> ContentLabel:
        """Return its content label."""
        return self.knowledge.ready.label

    @property
    def published(self) -> PublishedLabel:
        """Return its content label in parts."""
        return self.knowledge.ready.published

    async def health(self) -> messages.Health:
        """Return its health and that of its children."""
        known = self.knowledge.snapshot
        children = tuple(
            messages.ChildHealth(
                name=child.name, url=child.url, up=child.up, label_age=child.label_age(), error=child.error[:2000],
                label_bytes=child.published.bytes, calls=child.calls, failures=child.failures,
            )
            for child in self.children.values()
        )  # fmt: skip
        return messages.Health(
            name=self.name, leaf=False, level=self.level, ready=known is not None, version=__version__,
            documents=known.label.num_docs if known else 0, label_bytes=known.published.bytes if known else 0,
            label_age=time.monotonic() - known.made_at if known else None,
            etags=dict(known.published.etags) if known else {}, uptime=time.monotonic() - self._started, requests=self.requests,
            children=children, error=self.knowledge.error, waiting=known.label.waiting if known else len(self.children),
        )  # fmt: skip

    async def tree(self, request: messages.TreeRequest) -> messages.TreeNode:
        """Return all services below it and their health."""
        self.requests += 1
        deadline = time.monotonic() + request.deadline
        own = messages.TreeNode.of(await self.health())
        if stopped := self.fan_out.why_stopped(request):
            return msgspec.structs.replace(own, error=stopped[:2000])
        return await tree_below(own, self.children, self.fan_out.onward(request), deadline)

    # -- asking and answering -------------------------------------------------------------------------------------------

    async def _ask_all(self, operation: str, requests: Mapping[Target, Request], deadline: float) -> MergedAnswer:
        """Ask several services and merge what they answer."""
        return await merge_answers(await self.fan_out.ask(operation, requests, Answer, deadline))

    def _answer(self, query: str, merged: MergedAnswer, hits: Sequence[Hit], started: float, **more: Any) -> Answer:
        """Return hits and how they were found as an answer; `total` defaults to the number of hits."""
        facts: dict[str, Any] = {"total": len(hits), "distinct": len(hits)} | more
        return Answer(
            query=query, router=self.name, results=tuple(hits), groups=group_hits(hits),
            asked=tuple(self.knowledge.reach.with_routers(merged.asked)), skipped=tuple(merged.skipped),
            partial=tuple(merged.partial), seconds=time.perf_counter() - started, **facts,
        )  # fmt: skip

    def _answer_if_stopped(self, request: Request) -> Answer | None:
        """Return the answer to a request that stops here, or None; count the request."""
        self.requests += 1
        if stopped := self.fan_out.why_stopped(request):
            return Answer(query=getattr(request, "query", ""), router=self.name, partial=(stopped,))
        return None

    async def _answer_from_cache(self, request: R, answer: Callable[[R], Awaitable[A]]) -> A:
        """Return the answer to a request, from the cache if it was just given and complete."""
        key = encode(msgspec.structs.replace(request, deadline=1.0))
        cached: A | None = self.answers.get(key)
        if cached is not None:
            self.requests += 1
            return cached
        given = await answer(request)
        if not given.partial:
            self.answers.put(key, given)
        return given

    # -- search ---------------------------------------------------------------------------------------------------------

    async def search(self, request: messages.SearchRequest) -> Answer:
        """Return documents that match, from all leaves below that may hold one."""
        return await self._answer_from_cache(request, self._search)

    async def _search(self, request: messages.SearchRequest) -> Answer:
        if stopped := self._answer_if_stopped(request):
            return stopped
        started, deadline = time.perf_counter(), time.monotonic() + request.deadline
        asked, spellings = await self._respell(request)
        question = read_question(asked.query)
        check_filters(request.filters)
        merged, hits = await self._rank(asked, deadline)
        whole, note = merged.total, ""
        if relaxed_query(question, request.match, whole):
            asked = msgspec.structs.replace(asked, match="some")
            merged, hits = await self._rank(asked, deadline)
        if request.match == "best":
            note = describe_match(question, whole, merged.total, spellings)
        merged.skipped += self.knowledge.reach.passed_over(merged.passed_over)
        last = request.first + request.limit
        chosen = hits[request.first : last]
        more = len(hits) > last or bool(merged.more or merged.spared) or (not last and merged.total > 0)
        if chosen and not request.raw:
            chosen = await self._with_texts(asked, merged, chosen, deadline)
        return self._answer(
            request.query,
            merged,
            chosen,
            started,
            total=merged.total,
            more=more,
            distinct=min(len(hits), last),
            note=note,
        )

    async def _respell(self, request: AskedWords) -> tuple[AskedWords, Mapping[str, str]]:
        """Return (a request for all words of a question, respelt if unknown; the respelt words).

        A request of another router is passed on as it is.
        """
        if request.match != "best":
            return request, {}
        known = self.knowledge.ready
        text = request.query
        spellings: Mapping[str, str] = {}
        words = {word for part in read_question(text).parts for word in part.words}
        if not all(map(known.table.may_hold, words)):
            text, spellings = await in_thread(known.respell, text)
        return msgspec.structs.replace(request, query=text, match="all"), spellings

    async def _rank(self, request: messages.SearchRequest, deadline: float) -> tuple[MergedAnswer, list[Hit]]:
        """Return the merged ranking of those below that may hold a match of all words, or of some."""
        known, reach, query = self.knowledge.ready, self.knowledge.reach, parse_query(request.query, request.match)
        # Who wants only the most promising children of each router asked, or goes by heaviest terms, does not look through them.
        step_by_step = request.ask or request.routing == "terms"
        table, names = (known.table, reach.children) if step_by_step else (reach.table, reach.ends)
        verdict = table.judge(query, request.routing, request.ask)
        unknown = (name for name in names if name not in table.labels)
        targets = [reach.targets[name] for name in (*verdict.ask, *unknown)]
        # Where the query began, texts are asked for afterwards, also if somebody has kept us waiting.
        kept = 0.0 if request.raw else min(_FOR_TEXTS_SHARE * request.deadline, _FOR_TEXTS)
        last = request.first + request.limit
        stats = request.stats or known.table.stats(query)
        onward = self.fan_out.onward(request, stats=stats, raw=True, first=0)
        # Who wants no hits wants to know how many there are: everybody is asked, and nobody looks for hits behind copies.
        bounds = table.largest_scores(query, stats) if last else {}
        fold = not request.raw and last > 0
        merged, hits = await rank_targets(self.fan_out, targets, onward, last, fold, deadline - kept, bounds)
        spared = [target.name for target in merged.spared]
        merged.total += table.fewest_pages(spared, query)
        merged.passed_over = {**verdict.skipped, **dict.fromkeys(spared, CANNOT_REACH)}
        return merged, hits

    async def _with_texts(
        self, request: messages.SearchRequest, merged: MergedAnswer, hits: list[Hit], deadline: float
    ) -> list[Hit]:
        """Return hits with title and text, asked of the children that lead to them."""
        shown = await self._show(request, hits, deadline)
        merged.note_missing(shown.partial)
        texts = {(hit.path[:2], hit.url): hit for hit in shown.hits}
        fields = ("title", "snippet", "marks", "date", "language")
        return [
            msgspec.structs.replace(hit, **{name: getattr(text, name) for name in fields})
            if (text := texts.get((hit.path[:2], hit.url)))
            else hit
            for hit in hits
        ]

    async def show(self, request: messages.ShowRequest) -> Answer:
        """Return documents with snippets, from the leaves on their paths."""
        if stopped := self._answer_if_stopped(request):
            return stopped
        started = time.perf_counter()
        merged = await self._show(request, request.items, time.monotonic() + request.deadline)
        return self._answer(request.query, merged, merged.hits, started, total=merged.total)

    async def _show(
        self,
        request: messages.SearchRequest | messages.ShowRequest,
        items: Sequence[Hit | messages.Item],
        deadline: float,
    ) -> MergedAnswer:
        onward = self.fan_out.onward(
            messages.ShowRequest(query=request.query, items=(), hops=request.hops, visited=request.visited)
        )
        requests = {
            target: msgspec.structs.replace(onward, items=mine)
            for target, mine in items_by_target(as_items(items), self.knowledge.reach.end_on_path).items()
        }
        return await self._ask_all("show", requests, deadline)

    # -- select and expand ----------------------------------------------------------------------------------------------

    async def select(self, request: messages.SelectRequest) -> Answer:
        """Return the clusters and documents of the current set that may match by their labels; nobody is asked."""
        self.requests += 1
        return msgspec.structs.replace((await self._select(request))[1], query=request.query)

    async def _select(self, request: messages.SelectRequest) -> tuple[messages.SelectRequest, Answer]:
        """Return (the request with unknown words respelt, what may match): all words, or some if nothing may match all."""
        asked, _spellings = await self._respell(request)
        selected = select_known(self.name, self.children, self.knowledge.ready, asked)
        if not selected.total and relaxed_query(read_question(asked.query), request.match, 0):
            asked = msgspec.structs.replace(asked, match="some")
            selected = select_known(self.name, self.children, self.knowledge.ready, asked)
        return asked, selected

    async def expand(self, request: messages.SelectRequest) -> Answer:
        """Return the matching children of the clusters that `select` returns, one hop down, and its documents."""
        if stopped := self._answer_if_stopped(request):
            return stopped
        started, deadline = time.perf_counter(), time.monotonic() + request.deadline
        asked, selected = await self._select(msgspec.structs.replace(request, first=0, limit=MOST_LOOKED_AT))
        onward = self.fan_out.onward(asked, limit=min(request.first + request.limit + 1, MOST_LOOKED_AT))
        whole, deeper, documents = expand_requests(selected, self.knowledge.reach, onward)
        merged = await self._ask_all("select", whole, deadline)
        merged.extend(await self._ask_all("expand", deeper, deadline))
        merged.skipped = [*selected.skipped, *merged.skipped]
        hits = await fold_beside_others([*documents, *merged.hits])
        if not hits and asked.match == "all" and relaxed_query(read_question(asked.query), request.match, 0):
            return await self.expand(msgspec.structs.replace(request, query=asked.query, match="some"))
        last = request.first + request.limit
        return self._answer(
            request.query, merged, hits[request.first : last], started, total=max(merged.total, len(hits)),
            more=len(hits) > last, distinct=min(len(hits), last),
        )  # fmt: skip

    # -- refinement -----------------------------------------------------------------------------------------------------

    async def refine(self, request: messages.RefineRequest) -> messages.Refinements:
        """Return terms related to a query, from the pages below or (1996) from the sub-clusters of the children's labels.

        Labels are used by default, too, if nobody below answers.
        """
        return await self._answer_from_cache(request, self._refine)

    async def _refine(self, request: messages.RefineRequest) -> messages.Refinements:
        self.requests += 1
        started, deadline = time.perf_counter(), time.monotonic() + request.deadline
        query = parse_query(request.query)
        as_in_1996 = request.preset == "hypursuit1996"
        asked, counts = 0, None
        partial: tuple[str, ...] = ()
        if not as_in_1996 and not self.fan_out.why_stopped(request):
            onward = messages.CooccurrencesRequest(query=request.query, hops=request.hops, visited=request.visited)
            asked, counts, partial = await self._count_below(onward, deadline)
        if counts and len(partial) < max(asked, 1):
            terms = without_own_words(counts.suggest, query, request.count)
        else:
            thesaurus = self.knowledge.ready.thesaurus
            terms = await in_thread(thesaurus.suggest, query_words(query), request.count, as_in_1996)
        return messages.Refinements(
            query=request.query, router=self.name, known=terms.pages, collocated=terms.collocated, broader=terms.broader,
            narrower=terms.narrower, children=asked, partial=partial, seconds=time.perf_counter() - started,
        )  # fmt: skip

    async def cooccurrences(self, request: messages.CooccurrencesRequest) -> messages.CooccurrenceCounts:
        """Return how many pages of a query are about each word, summed over the most promising children."""
        self.requests += 1
        if stopped := self.fan_out.why_stopped(request):
            return messages.CooccurrenceCounts(partial=(stopped,))
        _asked, counts, partial = await self._count_below(request, time.monotonic() + request.deadline)
        return encode_counts(counts, partial)

    async def _count_below(
        self, request: messages.CooccurrencesRequest, deadline: float
    ) -> tuple[int, Cooccurrences, tuple[str, ...]]:
        """Return how many children were asked for counts, the sum of these, and what is missing."""
        names = self.knowledge.ready.table.judge(parse_query(request.query), ask=request.ask).ask
        targets = map(self.knowledge.reach.targets.__getitem__, names)
        requests: dict[Target, Request] = dict.fromkeys(targets, self.fan_out.onward(request))
        counts, partial = [], []
        for child in await self.fan_out.ask("cooccurrences", requests, messages.CooccurrenceCounts, deadline):
            if child.answer is None:
                partial.append(f"{child.target.name}: {child.error}"[:2000])
                continue
            label = child.target.child.label
            counts.append(decode_counts(child.answer, label.num_docs if label else child.answer.documents))
            partial += (f"{child.target.name}/{plain_text(reason)}"[:2000] for reason in child.answer.partial[:1000])
        return len(names), Cooccurrences.sum_of(counts), tuple(partial[:10_000])

    # -- suggestions and related pages ----------------------------------------------------------------------------------

    async def suggest(self, request: messages.SuggestRequest) -> Answer:
        """Return documents similar to those of the current set, from the services that these came from."""
        if stopped := self._answer_if_stopped(request):
            return stopped
        started, deadline = time.perf_counter(), time.monotonic() + request.deadline
        check_filters(request.filters)
        items = request.items or await self._best_hits(request)
        onward = self.fan_out.onward(request, items=())
        requests: dict[Target, Request] = {
            target: msgspec.structs.replace(onward, items=mine)
            for target, mine in items_by_target(items, self.knowledge.reach.end_on_path).items()
        }
        merged = await self._ask_all("suggest", requests, deadline)
        given = {item.url for item in items}
        others = [hit for hit in merged.hits if hit.url not in given]
        hits = await fold_beside_others(others, request.limit, not request.visited)
        return self._answer(
            "", merged, hits, started, total=merged.total, more=bool(merged.more) or len(others) > len(hits)
        )

    async def _best_hits(self, request: messages.SuggestRequest) -> tuple[messages.Item, ...]:
        """Return the hits that represent a query when similar documents are suggested."""
        if not request.query:
            return ()
        asked = messages.SearchRequest(
            query=request.query,
            limit=messages.BEST_HITS,
            deadline=request.deadline,
            hops=request.hops,
            visited=request.visited,
        )
        if not (hits := (await self.search(asked)).results):
            raise nothing_to_suggest_by(self.name, request.query)
        return as_items(hits)

    async def bag(self, request: messages.RelatedRequest) -> messages.Bag:
        """Return the bag of a page below, from the leaf on its path or any other that has it."""
        return await self._first_of("bag", request, request.url, messages.Bag)

    async def describe(self, request: messages.DescribeRequest) -> messages.PageDescription:
        """Return what was read from a page below."""
        return await self._first_of("describe", request, request.url, messages.PageDescription)

    async def _first_of(
        self, operation: str, request: messages.RelatedRequest | messages.DescribeRequest, url: str, answer: type[T]
    ) -> T:
        """Return the first answer of the child on a page's path, or of any child that has one."""
        self.requests += 1
        deadline = time.monotonic() + request.deadline
        if stopped := self.fan_out.why_stopped(request):
            raise ServiceError(stopped)
        reach = self.knowledge.reach
        if on_path := reach.end_on_path(request.path):
            groups = [[on_path]]
        else:
            ends = list(map(reach.targets.__getitem__, reach.ends))
            near = [target for target in ends if target.child.nearness(url)]
            # Those whose own the address seems to be are asked first: most pages are found without asking everybody.
            groups = [near, [target for target in ends if target not in near]]
        onward = self.fan_out.onward(request, path=request.path[len(on_path.path) - 1 :] if on_path else ())
        for targets in groups:
            for one in await self.fan_out.ask(operation, dict.fromkeys(targets, onward), answer, deadline):
                if one.answer is not None:
                    return one.answer
        raise ServiceError(f"no router below knows the page {url}", 404)

    async def related(self, request: messages.RelatedRequest) -> Answer:
        """Return pages similar to a page, from the children whose labels hold its heaviest words."""
        if stopped := self._answer_if_stopped(request):
            return stopped
        started, deadline = time.perf_counter(), time.monotonic() + request.deadline
        options = request.options
        check_filters(options.filters)
        if request.html:
            raise ServiceError(f"{self.name} is a router; only a collection can compare a page's HTML")
        bag = request.bag or await self._bag_of(request)
        reach = self.knowledge.reach
        names, skipped = reach.likeliest(bag.words, request.ask)
        onward = self.fan_out.onward(request, bag=bag, path=(), also=())
        asked_about = {bag.url, request.url, *request.also}
        targets, fold = [reach.targets[name] for name in names], options.fold and not request.visited
        merged, hits = await rank_related(self.fan_out, targets, onward, asked_about, fold, deadline)
        merged.skipped += skipped
        subjects = {hit.url: hit for hit in merged.subjects if hit.url in asked_about}
        return self._answer(
            "", merged, hits, started, total=merged.total, subjects=tuple(subjects.values()), strategy=merged.strategy,
            alpha=merged.alpha, other_epochs=merged.other_epochs,
            note=merged.notes[0] if merged.notes and not hits else explain_epochs(merged.other_epochs),
        )  # fmt: skip

    async def _bag_of(self, request: messages.RelatedRequest) -> messages.Bag:
        """Return the bag of the page that is asked about, or the mean of several pages' bags."""
        if not request.also:
            return await self.bag(request)
        urls = dict.fromkeys((request.url, *request.also))
        bags = [
            await self.bag(
                msgspec.structs.replace(request, url=url, also=(), path=request.path if url == request.url else ())
            )
            for url in urls
        ]
        return mean_bag(bags)
