"""Collections and networks for Python: one object that asks every question, also inside a running event loop.

This is a façade above the rooms: each method makes a request, asks the service, and returns its answer.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from pagekin.collection import (
    MOST_HTML,
    Answer,
    ChildHealth,
    DescribeRequest,
    Filters,
    Health,
    Hit,
    Item,
    PageDescription,
    Preset,
    Refinements,
    RefineRequest,
    RelatedOptions,
    RelatedRequest,
    Routing,
    SearchRequest,
    SelectRequest,
    ServiceError,
    ShowRequest,
    SuggestRequest,
    Summary,
    TreeNode,
    TreeRequest,
    as_items,
)
from pagekin.labels import ContentLabel
from pagekin.routers import BlockingService, open_service
from pagekin.text import QueryError

if TYPE_CHECKING:
    from pagekin.bags import Strategy
    from pagekin.collection import Collection
    from pagekin.evaluation import Evaluation, Tuning

Day = str | date | int | None
"""A day as '1996-12-31' or a date; a moment as a datetime, or in seconds since 1970."""
Hits = Answer | Iterable[Hit | Item]
"""Results so far: an answer, or some of its hits."""
_DEADLINE = 5.0
_DAY = 86_400


class PageIndex:
    """A collection or a network, open for questions. `pagekin.open` makes it.

    Questions that cannot be answered raise a ServiceError, a QueryError or a KinError, which say why. Ask from one thread at
    a time.
    """

    def __init__(self, target: str | os.PathLike[str], *, compiled: bool = False, threads: int = 1) -> None:
        self._service = open_service(os.fspath(target), compiled, threads)
        self._blocking = BlockingService(self._service)
        self.target = os.fspath(target)

    def __repr__(self) -> str:
        return f"pagekin.open({self.target!r})"

    def __enter__(self) -> "PageIndex":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close what is open."""
        self._blocking.close()

    # -- search ---------------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        limit: int = 10,
        first: int = 0,
        *,
        site: str = "",
        since: Day = None,
        until: Day = None,
        language: str = "",
        ask: int = 0,
        routing: Routing = "filters",
        deadline: float = _DEADLINE,
    ) -> Answer:
        """Return documents that match a query, after passing over the `first` best ones.

        A network asks all children that may hold a match, or the `ask` most promising, judged by `routing`.
        """
        request = SearchRequest(
            query=query, limit=limit, first=first, filters=make_filters(site, since, until, language), ask=ask,
            routing=routing, deadline=deadline,
        )  # fmt: skip
        answer: Answer = self._blocking.ask("search", request)
        return answer

    def select(
        self,
        query: str,
        items: Hits | None = None,
        *,
        limit: int = 100,
        first: int = 0,
        site: str = "",
        since: Day = None,
        until: Day = None,
        language: str = "",
        deadline: float = _DEADLINE,
    ) -> Answer:
        """Return the clusters and documents of the results so far that match; at first the children that do."""
        request = SelectRequest(
            query=query, items=None if items is None else as_items(items), limit=limit, first=first, deadline=deadline,
            filters=make_filters(site, since, until, language),
        )  # fmt: skip
        answer: Answer = self._blocking.ask("select", request)
        return answer

    def expand(
        self,
        query: str,
        items: Hits | None = None,
        *,
        limit: int = 100,
        first: int = 0,
        each: int = 0,
        site: str = "",
        since: Day = None,
        until: Day = None,
        language: str = "",
        deadline: float = _DEADLINE,
    ) -> Answer:
        """Return the matching children of the matching clusters: one step down; of each at most `each` documents."""
        request = SelectRequest(
            query=query, items=None if items is None else as_items(items), limit=limit, first=first, each=each, deadline=deadline,
            filters=make_filters(site, since, until, language),
        )  # fmt: skip
        answer: Answer = self._blocking.ask("expand", request)
        return answer

    def show(self, query: str, items: Hits, *, deadline: float = _DEADLINE) -> Answer:
        """Return documents with the piece of their text that shows best what a query found."""
        request = ShowRequest(query=query, items=as_items(items), deadline=deadline)
        answer: Answer = self._blocking.ask("show", request)
        return answer

    def suggest(
        self,
        query: str = "",
        items: Hits = (),
        *,
        limit: int = 10,
        preset: Preset = "default",
        site: str = "",
        since: Day = None,
        until: Day = None,
        language: str = "",
        deadline: float = _DEADLINE,
    ) -> Answer:
        """Return documents like the best hits of a query, or like the results so far; filters are for these documents."""
        request = SuggestRequest(
            query=query, items=as_items(items), limit=limit, preset=preset, deadline=deadline,
            filters=make_filters(site, since, until, language),
        )  # fmt: skip
        answer: Answer = self._blocking.ask("suggest", request)
        return answer

    def refine(
        self, query: str, count: int = 8, *, preset: Preset = "default", deadline: float = _DEADLINE
    ) -> Refinements:
        """Return collocated, broader and narrower terms, `count` of each at most."""
        request = RefineRequest(query=query, count=count, preset=preset, deadline=deadline)
        terms: Refinements = self._blocking.ask("refine", request)
        return terms

    # -- pages ----------------------------------------------------------------------------------------------------------

    def related(
        self,
        url: str | Sequence[str] = (),
        k: int = 10,
        *,
        html: str | bytes | None = None,
        min_similarity: float | None = None,
        sites: Literal["all", "same", "other"] = "all",
        captured_only: bool = False,
        site: str = "",
        since: Day = None,
        until: Day = None,
        language: str = "",
        method: Literal["reranked", "exact", "estimate"] = "reranked",
        fold: bool = True,
        explain: bool = False,
        ask: int = 4,
        deadline: float = _DEADLINE,
    ) -> Answer:
        """Return the k pages most similar to a page, or to several together, the best first.

        With `html` a collection is asked about a page that need not be in it; `url` is then its address, for relative links.
        The fields of RelatedOptions say what the options do. A network asks the `ask` most promising children.
        """
        urls = [url] if isinstance(url, str) else list(url)
        if not urls and html is None:
            raise ServiceError("no page was named")
        options = RelatedOptions(
            k=k, min_similarity=min_similarity, sites=sites, captured_only=captured_only, method=method, fold=fold,
            explain=explain, filters=make_filters(site, since, until, language),
        )  # fmt: skip
        request = RelatedRequest(
            url=urls[0] if urls else "", also=tuple(urls[1:]), html=_as_text(html), ask=ask, deadline=deadline,
            options=options,
        )  # fmt: skip
        answer: Answer = self._blocking.ask("related", request)
        return answer

    def page(self, url: str, inlinks: int = 100, *, deadline: float = _DEADLINE) -> dict[str, Any]:
        """Return what was understood of a page, as `pagekin page --json` prints it, with so many links to it at most."""
        request = DescribeRequest(url=url, inlinks=inlinks, deadline=deadline)
        described: PageDescription = self._blocking.ask("describe", request)
        return described.page

    # -- the whole ------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of pages."""
        return self.health().documents

    def __bool__(self) -> bool:
        """Return True, however few pages there are: it is open."""
        return True

    @property
    def urls(self) -> Sequence[str]:
        """Return the addresses that a collection can be asked about; a network does not list them."""
        return self._collection.related_pages.index.urls

    def label(self) -> ContentLabel:
        """Return the content label."""
        self._blocking.run(self._service.start())
        return self._service.label

    def summary(self) -> Summary:
        """Return what is here, for people."""
        return self._blocking.run(self._service.summary())

    def health(self) -> Health:
        """Return whether it is ready to answer, and its size; of a network also its children's health."""
        return self._blocking.run(self._service.health())

    def children(self) -> tuple[ChildHealth, ...]:
        """Return the children of a network's root, with their addresses and health; a collection has none."""
        return self.health().children

    def tree(self, *, deadline: float = _DEADLINE) -> TreeNode:
        """Return all services below, and their health."""
        node: TreeNode = self._blocking.ask("tree", TreeRequest(deadline=deadline))
        return node

    # -- the laboratory -------------------------------------------------------------------------------------------------

    def evaluate(
        self,
        directory: str | os.PathLike[str],
        strategies: "Mapping[str, Strategy] | None" = None,
        *,
        depth: int = 3,
        mode: str = "lenient",
        classes: str = "primary",
        loose: bool = False,
        **options: Any,
    ) -> "Evaluation":
        """Judge strategies by a directory; without any, the collection's own beside the presets.

        Options are those of `pagekin.evaluation.evaluate_strategies`.
        """
        from pagekin.clusters import load_directory
        from pagekin.evaluation import evaluate_strategies, own_strategies

        corpus = self._collection.corpus
        tree = load_directory(corpus, os.fspath(directory), depth, mode, classes, loose)
        return evaluate_strategies(corpus, tree, dict(strategies or own_strategies(corpus)), **options)

    def tune(
        self,
        directory: str | os.PathLike[str],
        *,
        depth: int = 3,
        mode: str = "lenient",
        classes: str = "primary",
        loose: bool = False,
        **options: Any,
    ) -> "Tuning":
        """Search for a strategy that agrees better with a directory. Options are those of `pagekin.evaluation.tune_strategy`."""
        from pagekin.clusters import load_directory
        from pagekin.evaluation import tune_strategy

        corpus = self._collection.corpus
        return tune_strategy(
            corpus, load_directory(corpus, os.fspath(directory), depth, mode, classes, loose), **options
        )

    @property
    def _collection(self) -> "Collection":
        collection = self._service.collection
        if collection is None:
            raise ServiceError(f"{self.target} is asked over HTTP; only a collection's folder can do this")
        return collection


def make_filters(site: str = "", since: Day = None, until: Day = None, language: str = "") -> Filters:
    """Return filters; of a day, `since` means its first second and `until` its last."""
    return Filters(site, _seconds(since), _seconds(until, _DAY - 1), language)


def _seconds(day: Day, more: int = 0) -> int | None:
    """Return seconds since 1970, `more` if a whole day is named; days before 1970 count as its first second."""
    if day is None or day == "":
        return None
    if isinstance(day, int):
        return day
    if isinstance(day, datetime):
        return max(0, int(day.timestamp()))
    try:
        named = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC) if isinstance(day, str) else day
    except ValueError:
        raise QueryError(f"'{day}' is no day; write it as 1996-12-31") from None
    return max(0, int(datetime(named.year, named.month, named.day, tzinfo=UTC).timestamp()) + more)


def _as_text(html: str | bytes | None) -> str:
    """Return a page's text, cut where it is too long; the encoding of bytes is guessed as that of captured pages.

    An empty page becomes a blank, since a request without text is about no such page.
    """
    if html is None:
        return ""
    if isinstance(html, bytes):
        from pagekin.hypertext import decode_page

        html = decode_page(html, "")[0]
    return html[:MOST_HTML] or " "
