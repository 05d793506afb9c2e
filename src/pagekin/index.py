"""Collections and networks for Python: one object that asks every question, also inside a running event loop.

This is a façade above the rooms: each method makes a request, asks the service, and returns its answer.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from pagekin.collection import Answer, Day, Hit, Item, ServiceError, as_items, make_filters, messages
from pagekin.hypertext import in_shards_error
from pagekin.labels import ContentLabel
from pagekin.routers import BlockingService, open_service

if TYPE_CHECKING:
    from pagekin.bags import Strategy
    from pagekin.clusters import Directory
    from pagekin.collection import Collection
    from pagekin.evaluation import Evaluation, Tuning
    from pagekin.similarity import Method, Sites, Wish

Hits = Answer | Iterable[Hit | Item]
"""Results so far: an answer, or some of its hits."""
PathName = str | os.PathLike[str]
_DEADLINE = 5.0


class Narrowing(TypedDict, total=False):
    """Keywords of all questions for pages: which of them may be hits, and how many seconds to wait."""

    site: str
    since: Day
    until: Day
    language: str
    deadline: float


class PageIndex:
    """A collection or a network, open for questions. `pagekin.open` makes it.

    Questions that cannot be answered raise a ServiceError, a QueryError or a KinError, which say why. Ask from one thread at
    a time.
    """

    def __init__(self, target: PathName, *, compiled: bool = False, threads: int = 1) -> None:
        self.target = os.fspath(target)
        self._service = open_service(self.target, compiled, threads)
        self._blocking = BlockingService(self._service)

    def __repr__(self) -> str:
        return f"pagekin.open({self.target!r})"

    def __enter__(self) -> "PageIndex":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what is open."""
        self._blocking.close()

    # -- search ---------------------------------------------------------------------------------------------------------

    def search(
        self, query: str, limit: int = 10, first: int = 0, *, ask: int = 0, routing: messages.Routing = "filters",
        **narrowing: Unpack[Narrowing],
    ) -> Answer:  # fmt: skip
        """Return documents that match a query, after passing over the `first` best ones.

        A network asks all children that may hold a match, or the `ask` most promising, judged by `routing`.
        """
        request = messages.SearchRequest(
            query=query, limit=limit, first=first, ask=ask, routing=routing, **_filters_and_deadline(narrowing)
        )
        return self._blocking.ask(self._service.search, request)

    def select(
        self, query: str, items: Hits | None = None, *, limit: int = 100, first: int = 0, **narrowing: Unpack[Narrowing]
    ) -> Answer:
        """Return the clusters and documents of the results so far that match; at first the children that do."""
        request = messages.SelectRequest(
            query=query, items=_current_set(items), limit=limit, first=first, **_filters_and_deadline(narrowing)
        )
        return self._blocking.ask(self._service.select, request)

    def expand(
        self, query: str, items: Hits | None = None, *, limit: int = 100, first: int = 0, each: int = 0,
        **narrowing: Unpack[Narrowing],
    ) -> Answer:  # fmt: skip
        """Return the matching children of the matching clusters: one step down; of each at most `each` documents."""
        more = _filters_and_deadline(narrowing)
        request = messages.SelectRequest(
            query=query, items=_current_set(items), limit=limit, first=first, each=each, **more
        )
        return self._blocking.ask(self._service.expand, request)

    def show(self, query: str, items: Hits, *, deadline: float = _DEADLINE) -> Answer:
        """Return documents with the piece of their text that shows best what a query found."""
        request = messages.ShowRequest(query=query, items=as_items(items), deadline=deadline)
        return self._blocking.ask(self._service.show, request)

    def suggest(
        self, query: str = "", items: Hits = (), *, limit: int = 10, preset: messages.Preset = "default",
        **narrowing: Unpack[Narrowing],
    ) -> Answer:  # fmt: skip
        """Return documents like the best hits of a query, or like the results so far; filters are for these documents."""
        request = messages.SuggestRequest(
            query=query, items=as_items(items), limit=limit, preset=preset, **_filters_and_deadline(narrowing)
        )
        return self._blocking.ask(self._service.suggest, request)

    def refine(
        self, query: str, count: int = 8, *, preset: messages.Preset = "default", deadline: float = _DEADLINE
    ) -> messages.Refinements:
        """Return collocated, broader and narrower terms, `count` of each at most."""
        request = messages.RefineRequest(query=query, count=count, preset=preset, deadline=deadline)
        return self._blocking.ask(self._service.refine, request)

    # -- pages ----------------------------------------------------------------------------------------------------------

    def related(
        self, url: str | Sequence[str] = (), k: int = 10, *, html: str | bytes | None = None,
        min_similarity: float | None = None, sites: "Sites" = "all", captured_only: bool = False,
        wish: "Wish" = "", method: "Method" = "reranked", fold: bool = True, explain: bool = False, ask: int = 4,
        **narrowing: Unpack[Narrowing],
    ) -> Answer:  # fmt: skip
        """Return the k pages most similar to a page, or to several together, the best first.

        With `html` a collection is asked about a page that need not be in it; `url` is then its address, for relative links.
        The fields of RelatedOptions say what the options do. A network asks the `ask` most promising children.
        """
        urls = [url] if isinstance(url, str) else list(url)
        if not urls and html is None:
            raise ServiceError("no page was named")
        more = _filters_and_deadline(narrowing)
        options = messages.RelatedOptions(
            k=k, min_similarity=min_similarity, sites=sites, captured_only=captured_only, wish=wish, method=method,
            fold=fold, explain=explain, filters=more.pop("filters"),
        )  # fmt: skip
        request = messages.RelatedRequest(
            url=urls[0] if urls else "", also=tuple(urls[1:]), html=_as_text(html), ask=ask, options=options, **more
        )
        return self._blocking.ask(self._service.related, request)

    def page(self, url: str, inlinks: int = 100, *, deadline: float = _DEADLINE) -> dict[str, Any]:
        """Return what was understood of a page, as `pagekin page --json` prints it, with so many links to it at most."""
        request = messages.DescribeRequest(url=url, inlinks=inlinks, deadline=deadline)
        return self._blocking.ask(self._service.describe, request).page

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
        whole = self._service.whole
        return whole.related_pages.index.urls if whole else self._collection.related_pages.index.urls

    def label(self) -> ContentLabel:
        """Return the content label."""
        self._blocking.run(self._service.start())
        return self._service.label

    def summary(self) -> messages.Summary:
        """Return what is here, for people."""
        return self._blocking.run(self._service.summary())

    def health(self) -> messages.Health:
        """Return whether it is ready to answer, and its size; of a network also its children's health."""
        return self._blocking.run(self._service.health())

    def children(self) -> tuple[messages.ChildHealth, ...]:
        """Return the children of a network's root, with their addresses and health; a collection has none."""
        return self.health().children

    def tree(self, *, deadline: float = _DEADLINE) -> messages.TreeNode:
        """Return all services below, and their health."""
        return self._blocking.ask(self._service.tree, messages.TreeRequest(deadline=deadline))

    # -- the laboratory -------------------------------------------------------------------------------------------------

    def evaluate(
        self, directory: PathName, strategies: "Mapping[str, Strategy] | None" = None, *, depth: int = 3,
        mode: str = "lenient", classes: str = "primary", loose: bool = False, **options: Any,
    ) -> "Evaluation":  # fmt: skip
        """Judge strategies by a directory; without any, the collection's own beside the presets.

        Options are those of `pagekin.evaluation.evaluate_strategies`.
        """
        from pagekin.evaluation import evaluate_strategies, own_strategies

        tree, corpus = self._directory(directory, depth, mode, classes, loose), self._collection.corpus
        return evaluate_strategies(corpus, tree, dict(strategies or own_strategies(corpus)), **options)

    def tune(
        self, directory: PathName, *, depth: int = 3, mode: str = "lenient", classes: str = "primary",
        loose: bool = False, **options: Any,
    ) -> "Tuning":  # fmt: skip
        """Search for a strategy that agrees better with a directory. Options are those of `pagekin.evaluation.tune_strategy`."""
        from pagekin.evaluation import tune_strategy

        tree = self._directory(directory, depth, mode, classes, loose)
        return tune_strategy(self._collection.corpus, tree, **options)

    def _directory(self, directory: PathName, *options: Any) -> "Directory":
        from pagekin.clusters import load_directory

        return load_directory(self._collection.corpus, os.fspath(directory), *options)

    @property
    def _collection(self) -> "Collection":
        collection, whole = self._service.collection, self._service.whole
        if collection is None and whole is not None:
            raise in_shards_error(self.target, len(whole.parts))
        if collection is None:
            raise ServiceError(f"{self.target} is asked over HTTP; only a collection's folder can do this")
        return collection


def _current_set(items: Hits | None) -> tuple[Item, ...] | None:
    return None if items is None else as_items(items)


def _filters_and_deadline(narrowing: Narrowing) -> dict[str, Any]:
    """Return the fields of a request that narrow it."""
    filters: dict[str, Any] = dict(narrowing)
    deadline = filters.pop("deadline", _DEADLINE)
    return {"filters": make_filters(**filters), "deadline": deadline}


def _as_text(html: str | bytes | None) -> str:
    """Return a page's text, cut where it is too long; the encoding of bytes is guessed as that of captured pages.

    An empty page becomes a blank, since a request without text is about no such page.
    """
    if html is None:
        return ""
    if isinstance(html, bytes):
        from pagekin.hypertext import decode_page

        html = decode_page(html, "")[0]
    return html[: messages.MOST_HTML] or " "
