"""A collection, open for the questions that a leaf is asked."""

import base64
import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from pagekin.bags.copies import EMPTY, PLACES, copy_sketches, has_sketches
from pagekin.clusters import Tree, read_trees
from pagekin.clusters.documents import document_of
from pagekin.clusters.thesaurus import PageThesaurus, Together
from pagekin.hypertext import Corpus
from pagekin.hypertext.titles import ShortTitles
from pagekin.labels import ContentLabel, to_json
from pagekin.labels.keep import read_parts, written_etag
from pagekin.labels.model import plain
from pagekin.labels.parts import etag, joined
from pagekin.routers.damage import damaged
from pagekin.routers.likeness import Likeness
from pagekin.routers.messages import (
    Answer,
    Bag,
    Counts,
    Filters,
    Found,
    Item,
    RefineRequest,
    RelatedRequest,
    RouterError,
    SearchRequest,
    SelectRequest,
    ShowRequest,
    SuggestRequest,
    Summary,
    SummaryCluster,
    Terms,
    TogetherRequest,
)
from pagekin.routers.results import grouped, merged
from pagekin.routers.routing import asked_words, parsed
from pagekin.routers.together import counts_of
from pagekin.similarity import RelatedError, RelatedIndex
from pagekin.store import KinError
from pagekin.text import Originals, Query, TextIndex, keep_pages, snippet

Array = npt.NDArray[Any]
Marks = tuple[tuple[int, int], ...]
_LOOKED_AT = 4
"""How many times as many results as are wanted are looked at, since some are copies."""
_NO_SKETCH = np.full(PLACES, EMPTY, "<u2").tobytes()
_ROW = len(_NO_SKETCH)
_SUGGESTED_BY_LIKENESS = 5
"""Results whose related pages are suggested besides those of their sub-clusters."""
_MATCHING = 200
"""Pages that stand for a query of which no page is about all, at most."""


class OpenLeaf:
    """A collection as it is now, open for questions. Not for several threads at once.

    Who asks once does it without what is `compiled`: to load the compiler takes longer than one answer.
    """

    def __init__(self, name: str, path: Path, compiled: bool = True) -> None:
        self.name, self.path, self._compiled = name, path, compiled
        self.corpus = Corpus.open(path)
        parts = read_parts(self.corpus.kin)
        said = self.corpus.facts.get("label", {}).get("etags", {})
        if parts is None and not said:
            raise KinError(f"{path} has no content label yet. Make it with: pagekin cluster {path}")
        self.etags = {function: etag(part) for function, part in (parts or {}).items()}
        if parts is None or (
            said and said != {function: written_etag(self.corpus.kin, function) for function in parts}
        ):
            raise damaged(path, "its content label is not the one that the manifest tells of")
        self.parts: Mapping[str, ContentLabel] = parts
        self.label_bytes = sum(len(to_json(part)) for part in parts.values())
        self.label = joined(parts)
        self.mark = hashlib.blake2b("".join(sorted(self.etags.values())).encode(), digest_size=8).hexdigest()
        """The same wherever and however often the collection is served, and of another one another."""
        self.text = TextIndex.open(self.corpus, compiled)

    @cached_property
    def related_index(self) -> RelatedIndex:
        """Opened when it is first needed."""
        return RelatedIndex(self.corpus, self._compiled)

    @cached_property
    def trees(self) -> dict[str, Tree]:
        """The hierarchies, by their names."""
        return {tree.name: tree for tree in read_trees(self.corpus.kin)}

    @cached_property
    def cluster_of(self) -> npt.NDArray[np.int64]:
        """The sub-cluster of each page, by its number in the label; 0 for none."""
        found = np.zeros(len(self.corpus), np.int64)
        tree = self.trees.get("clusters")
        for cluster in self.label.clusters if tree else ():
            for node in cluster.nodes:
                if tree and node < len(tree):
                    found[tree.pages_of(node)] = cluster.number
        return found

    @cached_property
    def documents(self) -> npt.NDArray[np.int64]:
        """The composite document of each page."""
        return document_of(self.trees.get("documents"), len(self.corpus))

    @cached_property
    def document_pages(self) -> npt.NDArray[np.int64]:
        """How many pages each document has."""
        return np.bincount(self.documents)

    @cached_property
    def titles(self) -> ShortTitles:
        """Titles without what all of them share."""
        return ShortTitles(self.corpus)

    @cached_property
    def _originals(self) -> Originals:
        """What tells originals from mirrors."""
        return Originals(self.corpus)

    @cached_property
    def thesaurus(self) -> PageThesaurus:
        """What refines queries."""
        return PageThesaurus.of(self.corpus)

    # -- results --------------------------------------------------------------------------------------------------------

    def found(self, page: int, score: float, text: str = "", marks: Marks = (), **more: Any) -> Found:
        """A page as a result."""
        cluster = int(self.cluster_of[page])
        return Found(
            kind="document", url=self.corpus.page_url(page), title=plain(self.titles.text(page))[:2000], snippet=text[:2000],
            marks=marks, score=float(score), cluster=cluster, cluster_name=self.cluster_name(cluster), path=(self.name,),
            date=int(self.corpus.pages.date[page]), language=self.corpus.language(page), sketch=self._sketch(page), **more,
        )  # fmt: skip

    def snippet(self, page: int, query: Query) -> tuple[str, Marks]:
        """(the piece of a page that shows best what a query found, where the matches stand in it)."""
        return _marked(snippet(self.corpus, page, query, compiled=self._compiled))

    def opening(self, page: int) -> str:
        """How a page begins."""
        return plain(self.corpus.snippets.text(page))

    def cluster_name(self, number: int) -> str:
        """The name of a sub-cluster of the label."""
        return self.label.clusters[number - 1].name if number else ""

    @cached_property
    def _sketches(self) -> memoryview | None:
        """The sketches of all pages as bytes, if there are any."""
        if not has_sketches(self.corpus.kin):
            return None
        return np.ascontiguousarray(copy_sketches(self.corpus.kin), "<u2").reshape(-1).view(np.uint8).data

    def _sketch(self, page: int) -> str:
        if self._sketches is None:
            return ""
        row = self._sketches[page * _ROW : (page + 1) * _ROW].tobytes()
        return "" if row == _NO_SKETCH else base64.b64encode(row).decode()

    def _answer(self, query: str, total: int, results: Iterable[Found], started: float) -> Answer:
        found = tuple(results)
        return Answer(
            query=query, router=self.name, leaf=True, mark=self.mark, total=total, results=found, groups=grouped(found),
            seconds=time.perf_counter() - started,
        )  # fmt: skip

    def passing(self, filters: Filters) -> npt.NDArray[np.bool_] | None:
        """The pages that filters leave; None if they leave all."""
        if filters == Filters():
            return None
        return keep_pages(
            self.corpus,
            site=filters.site or None,
            since=filters.since,
            until=filters.until,
            language=filters.language or None,
        )

    # -- services -------------------------------------------------------------------------------------------------------

    async def search(self, request: SearchRequest) -> Answer:
        """The documents that match."""
        started = time.perf_counter()
        query = parsed(request.query)
        # Where the query begins copies are folded, so more have to be looked at.
        most = _LOOKED_AT * request.limit if request.snippets else request.limit
        hits = self.text.search(
            query, most, stats=request.stats, keep=self.passing(request.filters), documents=self.documents
        )
        results = [self._hit(page, score) for page, score in zip(hits.pages, hits.scores, strict=True)]
        if request.snippets:
            of = dict(zip((one.url for one in results), hits.pages, strict=True))
            kept = map(self.by_its_original, merged(results, request.limit))
            results = [self._whole(one, of[one.url], query) for one in kept]
        return self._answer(request.query, hits.total, results, started)

    def _hit(self, page: int, score: float) -> Found:
        """What is needed of a result to tell whether it remains among those of other leaves."""
        return Found(
            kind="document", url=self.corpus.page_url(page), score=float(score), cluster=int(self.cluster_of[page]),
            path=(self.name,), pages=int(self.document_pages[self.documents[page]]), sketch=self._sketch(page),
        )  # fmt: skip

    def by_its_original(self, hit: Found) -> Found:
        """A result with copies by the address of the original: others link to it, and seldom to mirrors."""
        if not hit.copies:
            return hit
        every = (hit.url, *hit.copies)
        best = self._originals.best(every)
        return msgspec.structs.replace(hit, url=best, copies=tuple(url for url in every if url != best))

    def _whole(self, hit: Found, page: int, query: Query) -> Found:
        """All of a result."""
        return self.found(page, hit.score, *self.snippet(page, query), pages=hit.pages, copies=hit.copies)

    async def show(self, request: ShowRequest) -> Answer:
        """Some documents with the piece of their text that shows best what a query found."""
        started = time.perf_counter()
        query = parsed(request.query)
        pages = self._pages(request.items)
        results = (self.found(page, 0.0, *self.snippet(page, query)) for page in pages)
        return self._answer(request.query, len(pages), results, started)

    async def select(self, request: SelectRequest) -> Answer:
        """Those of the results so far that match; without any, the documents that do: they are a leaf's children."""
        if request.items is None:
            return await self.search(
                SearchRequest(
                    query=request.query, limit=request.limit, filters=request.filters, deadline=request.deadline,
                    hops=request.hops,
                )
            )  # fmt: skip
        started = time.perf_counter()
        query = parsed(request.query)
        pages = self._pages(request.items)
        may = self.passing(request.filters)
        keep = np.zeros(len(self.corpus), np.bool_)
        keep[pages] = True if may is None else may[pages]
        hits = self.text.search(query, request.limit, keep=keep)
        results = (
            self.found(page, score, *self.snippet(page, query))
            for page, score in zip(hits.pages, hits.scores, strict=True)
        )
        return self._answer(request.query, hits.total, results, started)

    def _pages(self, items: Iterable[Item]) -> list[int]:
        """The pages of those items that are documents of this collection."""
        numbers = (self.corpus.url_number(item.url) for item in items if item.kind == "document")
        return list(
            dict.fromkeys(page for number in numbers if number >= 0 for page in self.corpus.pages_of(number)[:1])
        )

    async def refine(self, request: RefineRequest) -> Terms:
        """Terms that go with a query, from what pages are about; as in 1996, from sub-clusters."""
        started = time.perf_counter()
        query = parsed(request.query)
        if request.preset == "hypursuit1996":
            from pagekin.routers.refinement import LabelThesaurus

            found = LabelThesaurus({self.name: self.label}).suggest(asked_words(query), request.count, plain=True)
        else:
            found = self._together(query).suggest(request.count)
            if not found.pages and (known := self._about(query)[0]):  # at least of those words that pages are about
                found = self.thesaurus.suggest(known, request.count)
        return Terms(
            query=request.query, router=self.name, known=found.pages, collocated=found.collocated, broader=found.broader,
            narrower=found.narrower, seconds=time.perf_counter() - started,
        )  # fmt: skip

    async def together(self, request: TogetherRequest) -> Counts:
        """How often words go together with a query on its pages."""
        return counts_of(self._together(parsed(request.query)))

    def _about(self, query: Query) -> tuple[list[int], bool]:
        """(the words of a query that pages are about, whether these are all)."""
        numbers = [self.thesaurus.find(word) for _attribute, word in asked_words(query)]
        known = [number for number in numbers if number >= 0]
        return known, len(known) == len(numbers)

    def _together(self, query: Query) -> Together:
        """What the pages about a query are about besides; if no page is about all of it, those that match it best."""
        known, all_known = self._about(query)
        pages = self.thesaurus.pages(known) if known and all_known else np.zeros(0, np.int64)
        if not len(pages):
            pages = np.array(self.text.search(query, _MATCHING, documents=self.documents).pages, np.int64)
        return self.thesaurus.together(pages, known)

    async def suggest(self, request: SuggestRequest) -> Answer:
        """Documents like the results so far: of the same sub-clusters, nearest the middle first, and related pages."""
        started = time.perf_counter()
        given, keep = self._pages(request.items), self.passing(request.filters)
        scores = dict(self._related_pages(given[:_SUGGESTED_BY_LIKENESS], request.limit, keep))
        counts = np.bincount(self.cluster_of[given], minlength=len(self.label.clusters) + 1) if given else np.zeros(1)
        for cluster in self.label.clusters:
            share = counts[cluster.number] / len(given) if given else 0.0
            for place, url in enumerate(cluster.urls if share else ()):
                number = self.corpus.url_number(url)
                for page in self.corpus.pages_of(number)[:1] if number >= 0 else ():
                    # Central pages come in their order, below what is like a result itself.
                    scores[page] = scores.get(page, 0.0) + 0.1 * share / (1 + place)
        may = (
            set(scores).difference(given) if keep is None else {page for page in scores if keep[page]}.difference(given)
        )
        order = sorted(may, key=lambda page: (-scores[page], page))
        results = (self.found(page, scores[page], self.opening(page)) for page in order[: request.limit])
        return self._answer("", len(order), results, started)

    def _related_pages(
        self, pages: list[int], most: int, keep: npt.NDArray[np.bool_] | None
    ) -> list[tuple[int, float]]:
        """(page, similarity) of the pages that are most like some pages together, of those that may be results."""
        if not most:
            return []
        try:
            likeness = self.likeness
        except KinError:  # there is no index of related pages
            return []
        try:
            found = likeness.like(likeness.query_of_pages(pages), most, keep)
        except RelatedError:
            return []
        return [(one.page, one.similarity) for one in found]

    # -- related pages across the network ---------------------------------------------------------------------------------

    @property
    def likeness(self) -> Likeness:
        """What tells pages that are like a page; a KinError if the collection has no index of related pages."""
        return Likeness(self.related_index)

    @contextmanager
    def _asked_about(self) -> Iterator[Likeness]:
        """What tells pages like a page, for those who ask from elsewhere, who need not know where the collection lies."""
        try:
            likeness = self.likeness
        except KinError:
            raise RouterError(f"{self.name} has no index of related pages", 404) from None
        try:
            yield likeness
        except RelatedError as error:
            raise RouterError(str(error).replace(str(self.path), self.name), 404) from None

    async def bag(self, request: RelatedRequest) -> Bag:
        """A page's bag, to travel."""
        with self._asked_about() as likeness:
            return likeness.bag(request.url)

    async def related(self, request: RelatedRequest) -> Answer:
        """The pages of this collection that are most like a page."""
        started = time.perf_counter()
        keep = self.passing(request.filters)
        with self._asked_about() as likeness:
            query = likeness.query_of(request.url) if request.bag is None else likeness.query_of_bag(request.bag)
            found = likeness.like(query, request.limit, keep) if query is not None else []
        results = [
            self.found(one.page, one.similarity, self.opening(one.page), copies=one.copies[:100]) for one in found
        ]
        return self._answer("", len(results), results, started)


def summary_of(name: str, leaf: bool, label: ContentLabel, children: tuple[str, ...]) -> Summary:
    """A label for people."""
    clusters = tuple(
        SummaryCluster(number=one.number, name=one.name, documents=one.num_docs, words=one.heaviest, urls=one.urls)
        for one in label.clusters
    )
    return Summary(
        name=name, leaf=leaf, documents=label.num_docs, exact=label.exact, bytes=label.size, words=label.heaviest,
        clusters=clusters, children=children,
    )  # fmt: skip


def _marked(pieces: Iterable[tuple[str, bool]]) -> tuple[str, Marks]:
    """(a snippet's text, where its matches stand)."""
    text, marks = "", []
    for piece, match in pieces:
        shown = plain(piece)
        if match:
            marks.append((len(text), len(text) + len(shown)))
        text += shown
    return text, tuple(marks[:100])
