"""Collections and networks for Python: one object that asks every question, also inside a running event loop.

This is a façade above the rooms: each method makes a request, asks the service, and returns its answer.
"""

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from pagekin.collection import (
    Answer,
    ClusterTable,
    Day,
    Hit,
    Item,
    Links,
    Neighbours,
    PageTable,
    ServiceError,
    as_items,
    make_filters,
    messages,
)
from pagekin.hypertext import in_shards_error
from pagekin.labels import ContentLabel
from pagekin.routers import BlockingService, open_service
from pagekin.similarity import RankingOptions
from pagekin.sources import RecordCopier
from pagekin.store import core_count

if TYPE_CHECKING:
    from pagekin.clusters import Directory
    from pagekin.collection import Collection
    from pagekin.engines import BuildReport, UpdateReport
    from pagekin.evaluation import Evaluation, GivenStrategies, Tuning
    from pagekin.similarity import Wish

Hits = Answer | Iterable[Hit | Item]
"""Results so far: an answer, or some of its hits."""
PathName = str | os.PathLike[str]
_DEADLINE = 5.0


class PageKeywords(TypedDict, total=False):
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
        self, query: str, limit: int = 10, first: int = 0, *, page: int = 1, ask: int = 0,
        routing: messages.Routing = "filters", **narrowing: Unpack[PageKeywords],
    ) -> Answer:  # fmt: skip
        """Return documents that match a query: a `page` of `limit` hits each, after passing over the `first` best ones.

        A network asks all children that may hold a match, or the `ask` most promising, judged by `routing`.
        """
        first += (page - 1) * limit
        request = messages.SearchRequest(
            query=query, limit=limit, first=first, ask=ask, routing=routing, **_filters_and_deadline(narrowing)
        )
        return self._blocking.ask(self._service.search, request)

    def select(
        self,
        query: str,
        items: Hits | None = None,
        *,
        limit: int = 100,
        first: int = 0,
        **narrowing: Unpack[PageKeywords],
    ) -> Answer:
        """Return the clusters and documents of the results so far that match; at first the children that do."""
        request = messages.SelectRequest(
            query=query, items=_current_set(items), limit=limit, first=first, **_filters_and_deadline(narrowing)
        )
        return self._blocking.ask(self._service.select, request)

    def expand(
        self, query: str, items: Hits | None = None, *, limit: int = 100, first: int = 0, each: int = 0,
        **narrowing: Unpack[PageKeywords],
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
        **narrowing: Unpack[PageKeywords],
    ) -> Answer:  # fmt: skip
        """Return documents like the best hits of a query, or like the results so far; filters are for these documents."""
        request = messages.SuggestRequest(
            query=query, items=as_items(items), limit=limit, preset=preset, **_filters_and_deadline(narrowing)
        )
        return self._blocking.ask(self._service.suggest, request)

    def refine(
        self, query: str, limit: int = 8, *, preset: messages.Preset = "default", deadline: float = _DEADLINE,
        **earlier: Any,
    ) -> messages.Refinements:  # fmt: skip
        """Return collocated, broader and narrower terms, `limit` of each at most."""
        limit = take_earlier("refine", earlier, {"count": "limit"}).get("limit", limit)
        request = messages.RefineRequest(query=query, count=limit, preset=preset, deadline=deadline)
        return self._blocking.ask(self._service.refine, request)

    # -- pages ----------------------------------------------------------------------------------------------------------

    def related(
        self, url: str | Sequence[str] = (), limit: int = 10, *, html: str | bytes | None = None,
        min_similarity: float | None = None, other_sites: bool = False, same_site: bool = False, captured: bool = False,
        wish: "Wish" = "", exact: bool = False, estimate: bool = False, unfold: bool = False, explain: bool = False,
        ask: int = 4, deadline: float = _DEADLINE, site: str = "", since: Day = "", until: Day = "", language: str = "",
        **earlier: Any,
    ) -> Answer:  # fmt: skip
        """Return the pages most similar to a page, or to several together, the best first; `k` is another name of `limit`.

        The options are those of `pagekin related`. A page is named by its address or what one remembers of it. With `html` a
        collection is asked about a page that need not be in it; `url` is then its address, for relative links.
        """
        urls = [url] if isinstance(url, str) else list(url)
        if not urls and html is None:
            raise ServiceError("no page was named")
        if (exact and estimate) or (other_sites and same_site):
            raise ServiceError("exact and estimate exclude each other, as do other_sites and same_site")
        options = messages.RelatedOptions(**{
            "k": limit, "min_similarity": min_similarity, "captured_only": captured, "wish": wish, "fold": not unfold,
            "sites": "other" if other_sites else "same" if same_site else "all",
            "method": "exact" if exact else "estimate" if estimate else "reranked", "explain": explain,
            "filters": make_filters(site=site, since=since, until=until, language=language),
            **take_earlier("related", earlier, _EARLIER_RELATED),
        })  # fmt: skip
        request = messages.RelatedRequest(
            url=urls[0] if urls else "", also=tuple(urls[1:]), html=_as_text(html), ask=ask, options=options,
            deadline=deadline,
        )  # fmt: skip
        return self._blocking.ask(self._service.related, request)

    def page(self, url: str, inlinks: int = 100, *, deadline: float = _DEADLINE) -> dict[str, Any]:
        """Return what was understood of a page, as `pagekin page --json` prints it, with so many links to it at most."""
        request = messages.DescribeRequest(url=url, inlinks=inlinks, deadline=deadline)
        return self._blocking.ask(self._service.describe, request).page

    # -- tables and graphs of a collection ------------------------------------------------------------------------------

    def pages(self, archives: Sequence[str | Path] = ()) -> PageTable:
        """Return all pages as a table; with the archives that they were read from, or folders of these, also their digests."""
        return PageTable(self._collection, RecordCopier(archives) if archives else None)

    def clusters(self, hierarchy: str = "clusters") -> ClusterTable:
        """Return the clusters, or another hierarchy of the collection: addresses, directory, documents."""
        trees = self._collection.whole.trees
        if hierarchy not in trees:
            raise ServiceError(f"{self.target} has no tree '{hierarchy}'; it has {', '.join(trees) or 'none'}")
        return ClusterTable(self._collection, trees[hierarchy])

    def links(self) -> Links:
        """Return all links on the pages, with their texts and the words around them; also as a graph."""
        return Links(self._collection)

    def neighbours(
        self, limit: int = 10, *, min_similarity: float | None = None, unfold: bool = False, workers: int = 0
    ) -> Neighbours:
        """Return the pages most related to each page, `limit` at most; also as a graph. They are found when first used."""
        options = RankingOptions(k=limit, min_similarity=min_similarity, fold=not unfold)
        return Neighbours(self._collection.related_pages.index, options, workers or core_count())

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

    # -- updates --------------------------------------------------------------------------------------------------------

    def update(
        self, *sources: PathName, remove: Iterable[str] = (), remove_sites: Iterable[str] = (), **options: Any
    ) -> "UpdateReport":
        """Take new sources into a collection that was built as updatable, and leave pages and sites out of it for good.

        The next question is answered from the new state. Options are those of `pagekin.engines.update_collection`.
        """
        from pagekin.engines import update_collection
        from pagekin.hypertext import OptOuts

        opt_outs = OptOuts.parse(remove, remove_sites)
        report = update_collection(
            self._folder, [os.fspath(source) for source in sources], opt_outs=opt_outs, **options
        )
        self._service.look_again()
        return report

    def compact(self, **options: Any) -> "BuildReport":
        """Make a collection anew from what it keeps. Options are those of `pagekin.engines.compact_collection`."""
        from pagekin.engines import compact_collection

        report = compact_collection(self._folder, **options)
        self._service.look_again()
        return report

    @property
    def _folder(self) -> Path:
        return self._collection.corpus.kin.path

    # -- the laboratory -------------------------------------------------------------------------------------------------

    def evaluate(
        self, directory: PathName, strategies: "GivenStrategies | None" = None, *, depth: int = 3,
        mode: str = "lenient", classes: str = "primary", loose: bool = False, **options: Any,
    ) -> "Evaluation":  # fmt: skip
        """Judge strategies by a directory; without any, the collection's own beside the presets.

        Strategies are a TOML file with a table for each, or a mapping from names to strategies or to tables of settings.
        Other options are those of `pagekin.evaluation.evaluate_strategies`.
        """
        from pagekin.evaluation import as_strategies, evaluate_strategies, own_strategies

        corpus = self._collection.corpus
        judged = own_strategies(corpus) if strategies is None else as_strategies(strategies)
        tree = self._directory(directory, depth, mode, classes, loose)
        return evaluate_strategies(corpus, tree, judged, **options)

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
            raise ServiceError(f"{self.target} is asked over HTTP; this needs a collection's folder")
        return collection


_EARLIER_RELATED = {
    "k": "k", "captured_only": "captured_only", "sites": "sites", "method": "method", "fold": "fold",
}  # fmt: skip
"""Names that options of `related` had before, or have as well, and the fields of RelatedOptions that they are."""
_NO_WARNING = {"k"}


def take_earlier(method: str, given: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return options that were given by earlier names, by what they are called now; warn of them."""
    for name in given:
        if name not in names:
            raise TypeError(f"{method}() got an unexpected keyword argument '{name}'")
        if name not in _NO_WARNING:
            warnings.warn(
                f"{method}({name}=) is an earlier name; docs/python.md has the present ones", DeprecationWarning, 3
            )
    return {names[name]: value for name, value in given.items()}


def _current_set(items: Hits | None) -> tuple[Item, ...] | None:
    return None if items is None else as_items(items)


def _filters_and_deadline(narrowing: PageKeywords) -> dict[str, Any]:
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
