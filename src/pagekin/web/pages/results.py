"""The page of results of a query, with next steps: other words, filters, similar documents, a picture of the topic."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from litestar import Response
from litestar.exceptions import ValidationException
from litestar.params import Parameter

from pagekin.collection import (
    Answer,
    Hit,
    Refinements,
    RefineRequest,
    SearchRequest,
    SelectRequest,
    SuggestRequest,
    as_items,
    cluster_number,
    parse_query,
)
from pagekin.labels import plain_text
from pagekin.routers import HttpRequest, ServedService, service_of
from pagekin.text import QueryError
from pagekin.web import addresses as to
from pagekin.web.collection_view import CollectionView, in_collection
from pagekin.web.pages.next_steps import TERMS, NextSteps, example_queries, word_examples
from pagekin.web.pages.result_views import AskedService, Link, Result, ResultGroup, ResultsView
from pagekin.web.pictures.group import Picture, draw_group
from pagekin.web.queries import any_of, narrow, parts_of, widen
from pagekin.web.question import LAST_PAGE, MODES, MOST_OF_EACH, NETWORK_MODES, Question
from pagekin.web.rendering import host, render, view_route

A_PAGE, GROUPS_A_PAGE, BEST_OF_GROUP = 10, 5, 3
SIMILAR = 6
"""The most similar documents that are shown beside results."""
MOST_ROWS = 50
"""The most rows of services that were asked, and of those that were not."""
_FEW_SERVICES = 3
Text = Annotated[str, Parameter(max_length=2000)]


def _answer_wrong_parameter(request: HttpRequest, error: ValidationException) -> Response[bytes]:
    wrong: Any = error.extra or [{}]
    reason = f"{wrong[0].get('key', 'something')} is wrong: {wrong[0].get('message', error.detail)}"
    question = Question(q=str(request.query_params.get("q", ""))[:2000])
    return _render_problem(request, question, reason, word_examples(service_of(request.scope).service))


def _render_problem(request: HttpRequest, question: Question, reason: str, examples: list[Link]) -> Response[bytes]:
    """Return the search page with a message that says what is wrong with the question."""
    view = ResultsView(asked=question, problem=reason[:1].upper() + reason[1:], examples=examples)
    return render(request, "results.html", view, 400)


@view_route(
    ["/find", "/find.json"], ResultsView, "Results, and ways to refine them.",
    exception_handlers={ValidationException: _answer_wrong_parameter},
)  # fmt: skip
async def find(
    request: HttpRequest, q: Text = "", mode: Text = "", site: Text = "", since: Text = "", until: Text = "",
    language: Text = "", page: Annotated[int, Parameter(description="From 1.")] = 1,
    ask: Annotated[int, Parameter(description="Maximum number of children to ask, the most promising first; 0: all.")] = 0,
    each: Annotated[int, Parameter(description="By topic: maximum number of results of each; 0: the default.")] = 0,
    preset: Annotated[str, Parameter(max_length=200, description="How terms are chosen: default or hypursuit1996.")] = "",
) -> Response[bytes]:  # fmt: skip
    """Return the results of a query, grouped, with refining terms, filters and similar documents."""
    here = service_of(request.scope)
    question = Question(
        q=plain_text(" ".join(q.split())), mode=mode or "search", site=site, since=since, until=until, language=language,
        page=page, ask=ask, each=each, preset=preset,
    )  # fmt: skip
    try:
        question.check()
        if not question.q:
            view = ResultsView(asked=question, examples=await example_queries(here.service))
        else:
            view = await _ResultsPage(here, question).view()
    except QueryError as error:
        return _render_problem(request, question, str(error), await example_queries(here.service))
    return render(request, "results.html", view)


@dataclass(frozen=True)
class _Group:
    """Hits under one heading."""

    name: str
    places: Sequence[int]
    cluster: int = 0
    url: str = ""
    """Of the service that the hits are from, if it is that."""
    matches: int = 0


@dataclass(frozen=True)
class _Window:
    """One page of hits from the services."""

    answer: Answer
    groups: Sequence[_Group]
    total: int
    more: bool
    first: int
    """How many results stand on the pages before."""
    documents: int = 0
    different: int = 0


class _ResultsPage:
    """A question, and the steps that turn it into a view."""

    def __init__(self, here: ServedService, question: Question) -> None:
        self.here, self.question, self.service = here, question, here.service
        self.query = parse_query(question.q)

    async def view(self) -> ResultsView:
        """Ask the service for everything on the page, and return the view."""
        ways = {"search": self._search, "select": self._select, "expand": self._expand}
        window = await ways[self.question.mode]()
        preset: Any = self.question.preset or "default"
        refine = RefineRequest(query=self.question.q, count=TERMS, preset=preset)
        terms = await self.here.measure("refine", self.service.refine(refine))
        similar = await self._similar([hit for hit in window.answer.results if hit.kind == "document"])
        if not self.service.leaf:
            return self._view(None, window, terms, similar)
        return await in_collection(self.service, self._view, window, terms, similar)

    # -- what services answer ---------------------------------------------------------------------------------------------

    async def _search(self) -> _Window:
        """Return one page of matching documents."""
        question, first = self.question, A_PAGE * (self.question.page - 1)
        answer = await self.here.measure(
            "search",
            self.service.search(
                SearchRequest(query=question.q, first=first, limit=A_PAGE, filters=question.filters(), ask=question.ask)
            ),
        )
        groups = [_Group(group.name, group.results, group.cluster) for group in answer.groups]
        different = answer.distinct if answer.results and not answer.more else 0
        return _Window(answer, groups, answer.total, answer.more, first, different=different)

    async def _select(self) -> _Window:
        """Return one page of matching topics or children."""
        first = A_PAGE * (self.question.page - 1)
        answer = await self._select_window(first, A_PAGE)
        name = "Topics with matches" if self.service.leaf else "Sites that may hold matches"
        groups = [_Group(name, range(len(answer.results)))] if answer.results else []
        return _Window(answer, groups, answer.total, answer.more, first, await self._count_documents())

    async def _expand(self) -> _Window:
        """Return one page of topics or children, with the best documents of each."""
        question = self.question
        each = question.each or BEST_OF_GROUP
        first = GROUPS_A_PAGE * (question.page - 1)
        chosen = await self._select_window(first, GROUPS_A_PAGE)
        answer = chosen
        if chosen.results:
            request = SelectRequest(
                query=question.q, items=as_items(chosen.results), limit=GROUPS_A_PAGE * MOST_OF_EACH, each=each,
                filters=question.filters(),
            )  # fmt: skip
            answer = await self.here.measure("expand", self.service.expand(request))
            answer = msgspec.structs.replace(answer, skipped=(*chosen.skipped, *answer.skipped))
        places: dict[Any, list[int]] = {}
        for place, hit in enumerate(answer.results):
            places.setdefault(self._home(hit), []).append(place)
        groups = [
            _Group(cluster.title, mine, cluster.cluster, "" if self.service.leaf else cluster.url, cluster.matches)
            for cluster in chosen.results
            if (mine := places.get(self._home(cluster)))
        ]
        return _Window(answer, groups, chosen.total, chosen.more, each * first, await self._count_documents())

    async def _select_window(self, first: int, limit: int) -> Answer:
        request = SelectRequest(query=self.question.q, first=first, limit=limit, filters=self.question.filters())
        return await self.here.measure("select", self.service.select(request))

    async def _count_documents(self) -> int:
        """Return the number of matching documents in all topics; 0 for a network, which would have to ask everyone."""
        if not self.service.leaf:
            return 0
        request = SearchRequest(query=self.question.q, limit=0, filters=self.question.filters())
        return (await self.service.search(request)).total

    def _home(self, hit: Hit) -> tuple[tuple[str, ...], int]:
        """Return the child that a hit belongs to: a leaf's sub-cluster, or a router's child."""
        return hit.path[:2], hit.cluster if self.service.leaf else 0

    async def _similar(self, documents: Sequence[Hit]) -> Sequence[Hit]:
        """Return documents that are similar to the hits and do not match."""
        if not documents:
            return ()
        request = SuggestRequest(query=self.question.q, limit=SIMILAR)
        return (await self.here.measure("suggest", self.service.suggest(request))).results

    # -- what the page shows ----------------------------------------------------------------------------------------------

    def _view(
        self, collection: CollectionView | None, window: _Window, terms: Refinements, similar: Sequence[Hit]
    ) -> ResultsView:
        """Return the view; for a leaf, in the thread of its collection."""
        question, answer, hits = self.question, window.answer, window.answer.results
        steps = NextSteps(self.service, collection, question, self.query)
        shown = _HitViews(self, collection, hits)
        groups = [shown.group(group, window) for group in window.groups]
        forms = steps.written_forms([*terms.collocated, *terms.broader, *terms.narrower], hits)
        return ResultsView(
            asked=question,
            note=plain_text(answer.note),
            total=window.total,
            different=window.different,
            documents=window.documents,
            shown=len(hits),
            groups=groups,
            whole=self.service.leaf,
            partial=[plain_text(reason) for reason in answer.partial[:MOST_ROWS]],
            reasons=len(answer.partial),
            missing=len({reason.partition(": ")[0] for reason in answer.partial}),
            routers=[AskedService(who=_way(one.path), leaf=one.leaf, seconds=round(one.seconds, 4), results=one.results)
                     for one in answer.asked[:MOST_ROWS]],
            skipped=[AskedService(who=_way(one.path), reason=plain_text(one.reason)) for one in answer.skipped[:MOST_ROWS]],
            routers_total=len(answer.asked),
            skipped_total=len(answer.skipped),
            fewer=self._ask_fewer(answer),
            seconds=round(answer.seconds, 4),
            modes=[Link(text=name, about=about, address=question.address(mode=mode), on=mode == question.mode, note=note)
                   for mode, (name, about, note) in (MODES if self.service.leaf else NETWORK_MODES).items()],
            words=[Link(text=part, address=question.address(q=rest)) for part, rest in parts_of(self.query)],
            any_of=question.address(q=some) if (some := any_of(self.query)) else "",
            active=steps.active_filters(),
            meant=steps.other_spellings() if not window.total and question.page == 1 else [],
            choices=steps.filter_choices(hits),
            filtered=self.service.leaf or question.mode == "search",
            along=steps.term_links(terms.collocated if window.total else (), narrow, forms),
            wider=steps.term_links(terms.broader, widen, forms),
            narrower=steps.term_links(terms.narrower if window.total else (), narrow, forms),
            similar=[shown.result(hit, 0) for hit in similar],
            picture=_draw_topic(collection, groups) if collection else None,
            previous=question.address(page=question.page - 1) if question.page > 1 else "",
            next=question.address(page=question.page + 1) if window.more and question.page < LAST_PAGE else "",
        )  # fmt: skip

    def _ask_fewer(self, answer: Answer) -> Link | None:
        """Return a link that asks fewer services the same question, or all of them again."""
        if self.service.leaf or self.question.mode != "search":
            return None
        if self.question.ask:
            return Link(text="Ask all that may hold a match", address=self.question.address(ask=0))
        if (sum(one.leaf for one in answer.asked) or len(answer.asked)) > _FEW_SERVICES:
            return Link(text="Ask only the 3 most promising", address=self.question.address(ask=_FEW_SERVICES))
        return None


class _HitViews:
    """Converts hits to results for display."""

    def __init__(self, page: _ResultsPage, collection: CollectionView | None, hits: Sequence[Hit]) -> None:
        self._children, self._collection = page.service.children, collection
        codes = [hit.language for hit in hits]
        if collection:
            self._main = collection.languages[0][0] if collection.languages else ""
        else:
            self._main = max(codes, key=codes.count, default="")
        """The language of most pages, or of most hits: it need not be named."""

    def group(self, group: _Group, window: _Window) -> ResultGroup:
        """Return a group of hits under its heading."""
        results = [self.result(window.answer.results[place], window.first + place + 1) for place in group.places]
        return ResultGroup(
            cluster=group.cluster, name=plain_text(group.name) or "In no topic", results=results, matches=group.matches,
            address=group.url or self._topic(group.cluster),
        )  # fmt: skip

    def result(self, hit: Hit, place: int) -> Result:
        """Return the result for a hit at a rank."""
        if hit.kind == "cluster":
            return self._cluster(hit, place)
        path = hit.path[1:] and hit.path
        return Result(
            kind="document", place=place, title=hit.title or hit.url, url=hit.url, address=to.page(hit.url, path=path),
            site=host(hit.url), snippet=hit.snippet, marks=hit.marks, date=hit.date,
            language=hit.language if hit.language != self._main else "", pages=hit.pages,
            copies=[Link(text=url, address=to.page(url, path=path)) for url in hit.copies],
        )  # fmt: skip

    def _cluster(self, hit: Hit, place: int) -> Result:
        """Return the result for a sub-cluster of the collection, a router's child, or a leaf's sub-cluster below it."""
        where: dict[str, Any] = {"url": "", "address": self._topic(hit.cluster)}
        if self._collection:
            label = to.cluster(hit.cluster) if hit.cluster else ""
        else:
            label = at if cluster_number(at := hit.url.rstrip("/")) >= 0 else f"{at}/cluster"
            where = {"url": hit.url, "address": hit.url, "site": _way(hit.path), "inside": self._inside(hit)}
        return Result(
            kind="cluster", place=place, title=plain_text(hit.title) or hit.url, label=label, snippet=hit.snippet,
            pages=hit.pages, matches=hit.matches, **where,
        )  # fmt: skip

    def _inside(self, hit: Hit) -> list[tuple[str, int]]:
        """Return the largest sub-clusters of a child, by its label."""
        child = self._children.get(hit.path[-1])
        if child is None or child.label is None or child.url != hit.url:
            return []
        largest = sorted(child.label.clusters, key=lambda one: (-one.num_docs, one.number))
        return [(plain_text(one.name), one.num_docs) for one in largest[:TERMS]]

    def _topic(self, cluster: int) -> str:
        """Return where a sub-cluster can be browsed: in the hierarchy if it is a node there, else in the label."""
        if not cluster:
            return ""
        nodes: Sequence[int] = ()
        if self._collection and "clusters" in self._collection.trees:
            nodes = self._collection.label.clusters[cluster - 1].nodes
        return to.tree("clusters", nodes[0]) if len(nodes) == 1 else to.cluster(cluster)


def _draw_topic(collection: CollectionView, groups: Sequence[ResultGroup]) -> Picture | None:
    """Return a picture of the topic of the first result that has one."""
    known = [group for group in groups if group.cluster and group.results[0].kind == "document"]
    if not known:
        return None
    group = min(known, key=lambda one: one.results[0].place)
    pages = {one.url: one.place for one in group.results}
    urls = collection.label.clusters[group.cluster - 1].urls
    central = [url for url in urls if collection.view_of(url).page_at(url) >= 0]
    return draw_group(collection, pages, central, cluster=group.cluster, name=group.name, address=group.address)


def _way(path: Sequence[str]) -> str:
    """Return the names of services on a path, without the first, which asked."""
    return " › ".join(map(plain_text, path[1:])) or plain_text("".join(path))
