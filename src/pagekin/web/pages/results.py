"""Results of a query, and how to go on from them: other words, filters, similar documents, a look at the group."""

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import Annotated, Any

import msgspec
from litestar import Response, get
from litestar.exceptions import ValidationException
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import Parameter

from pagekin.labels.model import plain
from pagekin.routers.http import Served, served
from pagekin.routers.leaf import Leaf
from pagekin.routers.messages import (
    Answer,
    Found,
    Group,
    Item,
    RefineRequest,
    SearchRequest,
    SelectRequest,
    ShowRequest,
    SuggestRequest,
)
from pagekin.routers.results import SEEN, grouped, merged
from pagekin.routers.router import Router
from pagekin.routers.routing import parsed
from pagekin.text import Query, QueryError
from pagekin.web import addresses as to
from pagekin.web.collection import Collection, collection_of
from pagekin.web.pages.going_on import TERMS, GoingOn, examples
from pagekin.web.pages.ranked import Matching, ranked
from pagekin.web.pages.result_views import (
    Link,
    Picture,
    PictureDot,
    Result,
    ResultGroup,
    ResultsView,
    Told,
)
from pagekin.web.pictures.group import group_layout
from pagekin.web.queries import any_of, forms_of, narrowed, parts_of, widened
from pagekin.web.question import LAST_PAGE, MODES, Question
from pagekin.web.shown import Asking, host, shown

A_PAGE, GROUPS_A_PAGE, BEST_OF_GROUP = 10, 5, 3
SIMILAR, LIKE = 6, 5
"""Similar documents that are shown, and to how many of the results."""
_LOOKED_AT = 8
"""How many times as many similar documents are looked at in a collection, since most of them match."""
MOST_TOLD = 50
"""Rows of who was asked, and of who was not."""
_NOTES = {
    "search": "Search: all that match, the best first",
    "select": "Select: where the matches are, and how many there are",
    "expand": "Expand: what is found in each place, the best first",
}
"""The ways to look by the names that programs use, and that the papers use."""


Text = Annotated[str, Parameter(max_length=2000)]


def _refused(request: Asking, error: ValidationException) -> Response[bytes]:
    """The page of questions with what is wrong with this one."""
    wrong: Any = error.extra or [{}]
    reason = f"{wrong[0].get('key', 'something')} is wrong: {wrong[0].get('message', error.detail)}"
    return _told(request, Question(q=str(request.query_params.get("q", ""))[:2000]), reason)


def _told(request: Asking, asked: Question, reason: str) -> Response[bytes]:
    service = served(request.scope).service
    reason = reason[:1].upper() + reason[1:]
    view = ResultsView(asked=asked, problem=reason, examples=examples(service))
    return shown(request, "results.html", view, 400)


@get(
    ["/find", "/find.json"],
    responses={200: ResponseSpec(ResultsView, generate_examples=False, description="Results, and ways to go on.")},
    exception_handlers={ValidationException: _refused},
)
async def find(
    request: Asking, q: Text = "", mode: Text = "", site: Text = "", since: Text = "", until: Text = "",
    language: Text = "", page: Annotated[int, Parameter(description="From 1.")] = 1,
    ask: Annotated[int, Parameter(description="Children to ask at most, the most promising; 0: all.")] = 0,
) -> Response[bytes]:  # fmt: skip
    """Results of a query, grouped, with terms to refine it, filters and similar documents."""
    here = served(request.scope)
    asked = Question(
        q=plain(" ".join(q.split())), mode=mode or "search", site=site, since=since, until=until, language=language,
        page=page, ask=ask,
    )  # fmt: skip
    try:
        asked.check()
        if not asked.q:
            view = ResultsView(asked=asked, examples=examples(here.service))
        else:
            view = await _Asking(here, asked).view()
    except QueryError as error:
        return _told(request, asked, str(error))
    return shown(request, "results.html", view)


# -- what is known before anything is asked -------------------------------------------------------------------------------


# -- a question that is being answered ------------------------------------------------------------------------------------


class _Asking:
    """A question on its way to a view."""

    def __init__(self, here: Served, asked: Question) -> None:
        self.here, self.asked = here, asked
        self.service = here.service
        self.collection = collection_of(self.service) if isinstance(self.service, Leaf) else None
        self.query: Query = parsed(asked.q)
        self._on = GoingOn(self.service, self.collection, asked, self.query)
        self.first = A_PAGE * (asked.page - 1)
        self._found: Sequence[Found] = ()
        """The results that are shown."""

    @cached_property
    def _main(self) -> str:
        """The language of most pages; of a network, of most results."""
        if self.collection:
            return self.collection.languages[0][0] if self.collection.languages else ""
        return max((one.language for one in self._found), key=[one.language for one in self._found].count, default="")

    async def view(self) -> ResultsView:
        """All that the page shows."""
        asked = self.asked
        if self.collection and asked.mode == "select":
            found = self._selected(self.collection)
        elif self.collection and asked.mode == "expand":
            found = await self._expanded(self.collection)
        elif asked.mode == "search":
            found = await self._searched()
        else:
            found = await self._asked_below()
        documents = [one for one in self._found if one.kind == "document"]
        asked_for = forms_of(self.query)
        request = RefineRequest(query=asked.q, count=TERMS + len(asked_for))
        terms = await self.here.timed("refine", self.service.refine(request))
        forms = self._on.written([*terms.collocated, *terms.broader, *terms.narrower], documents)
        return msgspec.structs.replace(
            found,
            modes=[Link(text=name, about=about, address=asked.address(mode=mode), on=mode == asked.mode, note=_NOTES[mode])
                   for mode, (name, about) in _modes(self.service.leaf).items()],
            words=[Link(text=part, address=asked.address(q=rest)) for part, rest in parts_of(self.query)],
            any_of=asked.address(q=some) if (some := any_of(self.query)) else "",
            active=self._on.active(),
            meant=self._on.meant() if not found.total and asked.page == 1 else [],
            choices=self._on.choices(self._found),
            filtered=bool(self.collection) or asked.mode == "search",
            along=self._on.terms(terms.collocated if found.total else (), narrowed, asked_for, forms),
            wider=self._on.terms(terms.broader, widened, asked_for, forms),
            narrower=self._on.terms(terms.narrower if found.total else (), narrowed, asked_for, forms),
            similar=await self._similar(documents),
            whole=self.service.leaf,
            picture=self._picture(found.groups) if self.collection and documents else None,
            previous=asked.address(page=asked.page - 1) if asked.page > 1 else "",
            next=asked.address(page=asked.page + 1) if found.next and asked.page < LAST_PAGE else "",
        )  # fmt: skip

    # -- the ways to look -------------------------------------------------------------------------------------------------

    async def _searched(self) -> ResultsView:
        """Documents that match: one more than is shown, to know whether there are more."""
        if self.collection:
            return await self.here.timed("search", self._ranked(self.collection))
        asked, wanted = self.asked, self.first + A_PAGE + 1
        request = SearchRequest(query=asked.q, limit=wanted, filters=asked.filters(), ask=asked.ask)
        answer = await self.here.timed("search", self.service.search(request))
        here = answer.results[self.first : self.first + A_PAGE]
        view = self._answered(answer, here, len(answer.results) == wanted)
        return view if view.next or not here else msgspec.structs.replace(view, different=len(answer.results))

    async def _ranked(self, collection: Collection) -> ResultsView:
        """The same of a collection: only what is shown needs a name and a piece of its text, also on later pages."""
        started, leaf = time.perf_counter(), collection.leaf
        keep = collection.leaf.passing(self.asked.filters())
        found = ranked(
            collection, lambda most: leaf.text.search(self.query, most, keep=keep, documents=leaf.documents),
            self.first, self.first + A_PAGE + 1,
        )  # fmt: skip
        seconds = time.perf_counter() - started
        here = await self._with_text(collection, found.found[:A_PAGE])
        answer = Answer(query=self.asked.q, router=leaf.name, leaf=True, total=found.total, seconds=seconds)
        view = self._answered(answer, here, len(found.found) > A_PAGE)
        return view if view.next or not here else msgspec.structs.replace(view, different=found.before)

    async def _with_text(self, collection: Collection, results: Sequence[Found]) -> list[Found]:
        """Documents of a leaf, originals before their copies, with the pieces of text that show best what was found."""
        if not results:
            return []
        originals = [collection.leaf.by_its_original(one) for one in results]
        request = ShowRequest(query=self.asked.q, items=_items(originals))
        text = {one.url: one for one in (await self.service.show(request)).results}
        return [
            msgspec.structs.replace(text[one.url], score=one.score, pages=one.pages, copies=one.copies)
            for one in originals
        ]

    async def _asked_below(self) -> ResultsView:
        """The children of a router that may match, or what matches one step below them."""
        request = SelectRequest(query=self.asked.q, limit=self.first + A_PAGE + 1, filters=self.asked.filters())
        answer = await self.here.timed(self.asked.mode, getattr(self.service, self.asked.mode)(request))
        here = answer.results[self.first : self.first + A_PAGE]
        return self._answered(answer, here, len(answer.results) > self.first + A_PAGE)

    def _answered(self, answer: Answer, here: Sequence[Found], more: bool) -> ResultsView:
        """An answer of a service as a view."""
        self._found = here
        asked_to = sum(one.leaf for one in answer.asked) or len(answer.asked)
        fewer = None
        if not self.service.leaf and self.asked.mode == "search":
            if self.asked.ask:
                fewer = Link(text="Ask all that may know something", address=self.asked.address(ask=0))
            elif asked_to > 3:
                fewer = Link(text="Ask only the 3 most promising", address=self.asked.address(ask=3))
        return ResultsView(
            asked=self.asked,
            total=answer.total,
            shown=len(here),
            groups=[self._group(group, here) for group in grouped(here)],
            partial=[plain(reason) for reason in answer.partial[:MOST_TOLD]],
            reasons=len(answer.partial),
            missing=len({reason.partition(": ")[0] for reason in answer.partial}),
            routers=[Told(who=_way(one.path), leaf=one.leaf, seconds=round(one.seconds, 4), results=one.results)
                     for one in answer.asked[:MOST_TOLD]],
            skipped=[Told(who=_way(one.path), reason=plain(one.reason)) for one in answer.skipped[:MOST_TOLD]],
            routers_total=len(answer.asked),
            skipped_total=len(answer.skipped),
            fewer=fewer,
            next="more" if more else "",
            seconds=round(answer.seconds, 4),
        )  # fmt: skip

    def _matching(self, collection: Collection) -> tuple[list[int], list[int], list[float]]:
        """(the best page of each document that matches, the best first; the sub-cluster of each; their scores)."""
        leaf = collection.leaf
        keep = collection.leaf.passing(self.asked.filters())
        hits = leaf.text.search(self.query, len(collection.corpus), keep=keep, documents=leaf.documents)
        return hits.pages, leaf.cluster_of[hits.pages].tolist() if hits.pages else [], hits.scores

    def _pages_of_document(self, collection: Collection, page: int) -> int:
        return int(collection.leaf.document_pages[collection.leaf.documents[page]])

    def _selected(self, collection: Collection) -> ResultsView:
        """The sub-clusters of a leaf that hold matching documents, those with most first."""
        _pages, homes, _scores = self._matching(collection)
        counts = sorted(Counter(homes).items(), key=lambda pair: (-pair[1], pair[0]))
        here = [
            self._own_cluster(collection, number, count, place)
            for place, (number, count) in enumerate(counts, 1)
        ][self.first : self.first + A_PAGE]  # fmt: skip
        groups = [ResultGroup(cluster=0, name="Topics with matches", address="", results=here)] if here else []
        return ResultsView(
            asked=self.asked, total=len(counts), documents=len(homes), shown=len(here), groups=groups,
            next="more" if len(counts) > self.first + A_PAGE else "",
        )  # fmt: skip

    def _own_cluster(self, collection: Collection, number: int, matches: int, place: int) -> Result:
        """A sub-cluster of a leaf as a result."""
        if not number:
            return Result(kind="cluster", place=place, title="In no topic", url="", address="", matches=matches)
        cluster = collection.leaf.label.clusters[number - 1]
        return Result(
            kind="cluster", place=place, title=plain(cluster.name), url="", matches=matches, pages=cluster.num_docs,
            address=self._topic(number), label=to.cluster(number),
            snippet=", ".join(map(plain, cluster.heaviest)),
        )  # fmt: skip

    async def _expanded(self, collection: Collection) -> ResultsView:
        """Each sub-cluster of a leaf that holds matching documents with the best of these."""
        pages, homes, scores = self._matching(collection)
        counts = Counter(homes)
        order = list(dict.fromkeys(homes))
        first = GROUPS_A_PAGE * (self.asked.page - 1)
        self.first = BEST_OF_GROUP * first
        best: dict[int, list[Found]] = {number: [] for number in order[first : first + GROUPS_A_PAGE]}
        for page, number, score in zip(pages, homes, scores, strict=True):
            if number in best and len(best[number]) < SEEN * BEST_OF_GROUP:
                best[number].append(collection.leaf.found(page, score, pages=self._pages_of_document(collection, page)))
        chosen = [one for mine in best.values() for one in merged(mine, BEST_OF_GROUP)]
        self._found = await self._with_text(collection, chosen)
        groups = [
            msgspec.structs.replace(group, matches=counts[group.cluster])
            for group in (self._group(one, self._found) for one in grouped(self._found))
        ]
        return ResultsView(
            asked=self.asked, total=len(order), documents=len(homes), shown=len(self._found), groups=groups,
            next="more" if len(order) > first + GROUPS_A_PAGE else "",
        )  # fmt: skip

    # -- results for people -----------------------------------------------------------------------------------------------

    def _group(self, group: Group, found: Sequence[Found]) -> ResultGroup:
        results = [self._result(found[place], self.first + place + 1) for place in group.results]
        sites = all(one.kind == "cluster" for one in results)
        name = plain(group.name) or ("Sites that may hold matches" if sites else "In no topic")
        return ResultGroup(cluster=group.cluster, name=name, address=self._topic(group.cluster), results=results)

    def _topic(self, cluster: int) -> str:
        """Where a sub-cluster can be browsed; its page of the content label where it is no one node of the hierarchy."""
        if not cluster:
            return ""
        nodes: Sequence[int] = ()
        if self.collection and "clusters" in self.collection.trees:
            nodes = self.collection.leaf.label.clusters[cluster - 1].nodes
        return to.tree("clusters", nodes[0]) if len(nodes) == 1 else to.cluster(cluster)

    def _result(self, found: Found, place: int) -> Result:
        path = found.path[1:] and found.path
        if found.kind == "cluster":
            at = found.url.rstrip("/")
            return Result(
                kind="cluster", place=place, title=plain(found.title) or found.url, url=found.url, address=found.url,
                snippet=found.snippet, pages=found.pages, site=" › ".join(map(plain, found.path[1:])),
                label=f"{at}/cluster", inside=self._inside(found),
            )  # fmt: skip
        return Result(
            kind="document", place=place, title=found.title or found.url, url=found.url,
            address=to.page(found.url, path=path), site=host(found.url), snippet=found.snippet, marks=found.marks,
            date=found.date, language=found.language if found.language != self._main else "", pages=found.pages,
            copies=[Link(text=url, address=to.page(url, path=path)) for url in found.copies],
        )  # fmt: skip

    def _inside(self, found: Found) -> list[tuple[str, int]]:
        """What a child says of itself."""
        child = self.service.children.get(found.path[-1]) if isinstance(self.service, Router) else None
        if child is None or child.label is None or child.url != found.url:
            return []
        largest = sorted(child.label.clusters, key=lambda one: (-one.num_docs, one.number))
        return [(plain(one.name), one.num_docs) for one in largest[:TERMS]]

    async def _similar(self, documents: Sequence[Found]) -> list[Result]:
        """Documents like the best of those that were found: of a collection none that match, of a network none of these."""
        if not documents:
            return []
        limit = SIMILAR * (_LOOKED_AT if self.collection else 2)
        request = SuggestRequest(items=_items(documents[:LIKE]), limit=limit)
        answer = await self.here.timed("suggest", self.service.suggest(request))
        there = {url for one in documents for url in (one.url, *one.copies)}
        others: Iterable[Found] = (one for one in answer.results if one.url not in there)
        if self.collection:
            others = islice(Matching(self.collection, self.query).without(others), 2 * SIMILAR)
        return [self._result(one, 0) for one in merged(others, SIMILAR)]

    def _picture(self, groups: Sequence[ResultGroup]) -> Picture | None:
        """The group of the first result that is in one."""
        known = [group for group in groups if group.cluster]
        if not known or not self.collection:
            return None
        group = min(known, key=lambda one: one.results[0].place)
        corpus = self.collection.corpus
        places = {page: one.place for one in group.results for page in corpus.pages_of(corpus.url_number(one.url))[:1]}
        urls = self.collection.leaf.label.clusters[group.cluster - 1].urls
        central = [page for url in urls for page in corpus.pages_of(corpus.url_number(url))[:1]]
        layout = group_layout(corpus, places, central)
        links = [self.collection.page_link(dot.page) for dot in layout.dots]
        dots = [
            PictureDot(place=dot.place, title=link.title, address=to.page(link.url), x=dot.x, y=dot.y, r=dot.r)
            for dot, link in zip(layout.dots, links, strict=True)
        ]
        return Picture(
            cluster=group.cluster, name=group.name, address=group.address, size=layout.size, dots=dots,
            links=layout.links, lines=layout.lines,
        )  # fmt: skip


def _modes(leaf: bool) -> dict[str, tuple[str, str]]:
    if leaf:
        return MODES
    return MODES | {"select": ("Sites", "that may hold matches"), "expand": ("By site", "a look into each")}


def _items(results: Iterable[Found]) -> tuple[Item, ...]:
    return tuple(Item(one.kind, one.url, one.path, one.cluster) for one in results)


def _way(path: Sequence[str]) -> str:
    """The names of routers on a path, without the first, who asks."""
    return " › ".join(map(plain, path[1:])) or plain("".join(path))
