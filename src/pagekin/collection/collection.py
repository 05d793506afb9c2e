"""One open `.kin` folder that answers every question about its pages."""

import time
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pagekin.bags import EMPTY_PLACE, SKETCH_PLACES, copy_sketches, has_sketches
from pagekin.clusters import Cooccurrences, PageThesaurus, Tree, document_of, read_trees
from pagekin.collection import messages, selection, suggestion
from pagekin.collection.cooccurrences import encode_counts
from pagekin.collection.damage import damaged_error
from pagekin.collection.messages import Answer, Hit
from pagekin.collection.queries import parse_query, query_words
from pagekin.collection.ranking import encode_sketch, group_hits
from pagekin.collection.refinement import AddedTerms, LabelThesaurus, without_own_words
from pagekin.collection.related import RelatedPages
from pagekin.collection.service import PublishedLabel
from pagekin.collection.whole import LONGEST, Whole, WholeHits
from pagekin.hypertext import Corpus, ShortTitles, in_shards_error, open_with_delta
from pagekin.labels import ContentLabel, leaf_identity, plain_text, read_label_parts, stored_etag
from pagekin.store import SHARDS, Kin, KinError, open_kin
from pagekin.text import Query, TextIndex, keep_pages, make_snippet, running_text, tokens, unfit_reason

T = TypeVar("T")
R = TypeVar("R", bound=messages.Request)
Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Marks = tuple[tuple[int, int], ...]
_KEPT = 10_000
"""How many pages have their hits cached, in the form that routers need."""
_MORE_TERMS = 80
"""How many words of the pages about a query are considered as narrower terms, at most."""
_MATCHING = 200
"""How many matching pages represent a query if no page is about all its words, at most."""
_FEWEST_MATCHING, _AS_GOOD = 5, 0.5
"""Of these the first few, and those with at least this share of the best score."""


class Collection:
    """One open `.kin` folder. Pages are numbers inside; requests and answers name them by address.

    Not for several threads at once: `ReloadingCollection` sees to that. Pass compiled=False for one-off questions:
    importing numba costs more than one answer. With `hide_path` its name stands for its path in messages, as for those who
    ask from elsewhere. `threads` are those that make what an older collection does not keep.
    """

    def __init__(self, name: str, path: Path, compiled: bool = True, hide_path: bool = True, threads: int = 1) -> None:
        self.name, self.path, self._compiled = name, path, compiled
        self._hide_path, self._threads = hide_path, threads
        kin = open_kin(path)
        if shards := kin.facts.get(SHARDS):
            raise in_shards_error(path, len(shards))
        self.corpus, delta = open_with_delta(kin)
        self.delta = None if delta is None else DeltaPart(self, delta)
        """The delta: what was updated since the collection was last built as a whole."""
        self._companions: dict[Any, Any] = {}
        self._raw_hits: dict[int, Hit] = {}

    def companion(self, make: "Callable[[Collection], T]") -> T:
        """Return data that a higher room keeps with this open collection; computed when first asked for."""
        if make not in self._companions:
            self._companions[make] = make(self)
        companion: T = self._companions[make]
        return companion

    # -- what it holds --------------------------------------------------------------------------------------------------

    @cached_property
    def published(self) -> PublishedLabel:
        """Return the content label; raise a KinError if there is none or it is damaged."""
        parts = read_label_parts(self._label_kin)
        published = self._label_kin.facts.get("label", {}).get("etags", {})
        if parts is None and not published:
            raise KinError(f"{self.path} has no content label yet. Make it with: pagekin cluster {self.path}")
        if parts is None or (
            published and published != {function: stored_etag(self._label_kin, function) for function in parts}
        ):
            raise damaged_error(self.path, "its content label is not the one that the manifest names")
        return PublishedLabel(parts)

    @property
    def has_label(self) -> bool:
        """Return whether there is a content label; without one there are no sub-clusters."""
        return (
            bool(self._label_kin.facts.get("label", {}).get("etags")) or read_label_parts(self._label_kin) is not None
        )

    @property
    def _label_kin(self) -> Kin:
        """Return the folder that holds the label: the delta's, which covers the whole collection, or else the collection's."""
        return self.delta.corpus.kin if self.delta and "label" in self.delta.corpus.facts else self.corpus.kin

    @property
    def label(self) -> ContentLabel:
        """Return the whole content label."""
        return self.published.whole

    @cached_property
    def mark(self) -> str:
        """Return the identity of the collection: the same wherever and however often it is served."""
        whole = {"": str(self.corpus.kin.manifest.get("checksum"))}
        return leaf_identity(self.published.etags if self.has_label else whole)

    @cached_property
    def text(self) -> TextIndex:
        """Return the full-text index."""
        return TextIndex.open(self.corpus, self._compiled)

    @property
    def base(self) -> "Collection":
        """Return the collection that a delta belongs to: itself, if it is none."""
        return self

    @cached_property
    def whole(self) -> Whole:
        """Return the collection as a `Whole`, the interface shared by collections in one piece and in shards."""
        parts = [self, self.delta] if self.delta else [self]
        return Whole(parts, self.name, self.path, self._compiled, self._hide_path)

    @property
    def related_pages(self) -> RelatedPages:
        """Return the index of related pages; raise a KinError if there is none."""
        return self.whole.related_pages

    @cached_property
    def trees(self) -> dict[str, Tree]:
        """Return the hierarchies by name."""
        trees = read_trees(self.corpus.kin)
        if self.corpus.hidden is not None:
            trees = [tree.keep_pages(~self.corpus.hidden).without_central(self.corpus.hidden) for tree in trees]
        return {tree.name: tree for tree in trees}

    @cached_property
    def cluster_of(self) -> npt.NDArray[np.int64]:
        """Return the sub-cluster of each page, by its number in the label; 0 for none."""
        numbers = np.zeros(len(self.corpus), np.int64)
        tree = self.trees.get("clusters")
        for cluster in self.published.parts["browsing"].clusters if tree and self.has_label else ():
            for node in cluster.nodes:
                if tree and node < len(tree):
                    numbers[tree.pages_of(node)] = cluster.number
        return numbers

    @cached_property
    def documents(self) -> npt.NDArray[np.int64]:
        """Return the composite document of each page."""
        return document_of(self.trees.get("documents"), len(self.corpus))

    @cached_property
    def document_pages(self) -> npt.NDArray[np.int64]:
        """Return the number of pages of each document."""
        return np.bincount(self.documents, minlength=len(self.corpus))

    @cached_property
    def titles(self) -> ShortTitles:
        """Return titles without the part that all of them share."""
        return ShortTitles(self.corpus)

    @cached_property
    def thesaurus(self) -> PageThesaurus:
        """Return the words that each page is about, by which queries are refined."""
        return PageThesaurus.of(self.corpus, self._threads)

    @cached_property
    def _label_thesaurus(self) -> LabelThesaurus:
        return LabelThesaurus({self.name: self.label})

    @cached_property
    def _sketches(self) -> npt.NDArray[np.uint16]:
        """Return the sketches of all pages (rows of 64); no rows if the collection has none."""
        kin = self.corpus.kin
        return copy_sketches(kin) if has_sketches(kin) else np.zeros((0, SKETCH_PLACES), np.uint16)

    def sketches(self, pages: Sequence[int] | Mask) -> npt.NDArray[np.uint16]:
        """Return the sketches of some pages; empty rows if the collection has none."""
        if len(self._sketches):
            return self._sketches[pages]
        count = int(np.count_nonzero(pages)) if isinstance(pages, np.ndarray) else len(pages)
        return np.full((count, SKETCH_PLACES), EMPTY_PLACE, np.uint16)

    def keep(self, filters: messages.Filters) -> Mask | None:
        """Return which pages pass filters; None if all do."""
        if filters == messages.Filters():
            return None
        return keep_pages(
            self.corpus,
            site=filters.site or None,
            since=filters.since,
            until=filters.until,
            language=filters.language or None,
        )

    def cluster_name(self, number: int) -> str:
        """Return the name of a sub-cluster of the label."""
        return self.published.parts["browsing"].clusters[number - 1].name if number else ""

    def pages_of(self, items: Iterable[messages.Item]) -> list[int]:
        """Return the pages of those items that are documents of this collection."""
        numbers = (self.corpus.url_number(item.url) for item in items if item.kind == "document")
        return list(
            dict.fromkeys(page for number in numbers if number >= 0 for page in self.corpus.pages_of(number)[:1])
        )

    # -- hits -----------------------------------------------------------------------------------------------------------

    def hit(self, page: int, score: float, text: str = "", marks: Marks = (), **more: Any) -> Hit:
        """Return a page as a hit."""
        cluster = int(self.cluster_of[page])
        return Hit(
            kind="document", url=self.corpus.page_url(page), title=plain_text(self.titles.text(page))[:LONGEST],
            snippet=text[:LONGEST], marks=marks, score=float(score), cluster=cluster,
            cluster_name=self.cluster_name(cluster), path=(self.name,), date=int(self.corpus.pages.date[page]),
            language=self.corpus.language(page), pages=int(self.document_pages[self.documents[page]]),
            sketch=self._sketch(page), **more,
        )  # fmt: skip

    def raw_hit(self, page: int) -> Hit:
        """Return the fields of a hit that a router needs for merging; cached, since common words find the same pages."""
        hit = self._raw_hits.get(page)
        if hit is None:
            if len(self._raw_hits) >= _KEPT:
                self._raw_hits.clear()
            hit = self._raw_hits[page] = Hit(
                kind="document", url=self.corpus.page_url(page), cluster=int(self.cluster_of[page]), path=(self.name,),
                pages=int(self.document_pages[self.documents[page]]), sketch=self._sketch(page),
            )  # fmt: skip
        return hit

    def snippet(self, page: int, query: Query) -> tuple[str, Marks]:
        """Return the passage of a page that matches a query best, and the places of the matches in it."""
        return _join_snippet(make_snippet(self.corpus, page, query, compiled=self._compiled))

    def opening(self, page: int) -> str:
        """Return where a page's running text begins."""
        return plain_text(running_text(self.corpus, page))

    def _sketch(self, page: int) -> str:
        return encode_sketch(self._sketches[page].tobytes()) if len(self._sketches) else ""

    def answer(self, request: Any, hits: Iterable[Hit], started: float, **more: Any) -> Answer:
        """Return hits as an answer; `total` defaults to their number."""
        results = tuple(hits)
        facts: dict[str, Any] = {"total": len(results), "distinct": len(results)} | more
        # A router puts the hits of all leaves into groups itself.
        groups = () if getattr(request, "raw", False) else group_hits(results)
        return Answer(
            query=getattr(request, "query", ""), router=self.name, leaf=True, mark=self.mark, results=results,
            groups=groups, seconds=time.perf_counter() - started, **facts,
        )  # fmt: skip

    # -- questions ------------------------------------------------------------------------------------------------------

    def search(self, request: messages.SearchRequest) -> Answer:
        """Return matching documents, copies folded; if few hold all words of a question, also those that hold some."""
        return self._answer_hits(request, self.whole.search)

    def _answer_hits(self, request: R, ask: Callable[[R], WholeHits]) -> Answer:
        started = time.perf_counter()
        answer = ask(request)
        return self.answer(request, answer.hits, started, **answer.facts)

    def show(self, request: messages.ShowRequest) -> Answer:
        """Return documents with the passages that match a query best."""
        started = time.perf_counter()
        query, whole = parse_query(request.query), self.whole
        places = (whole.pages.place(page) for page in whole.pages_of(request.items))
        held = ((whole.parts[part], page) for part, page in places)
        hits = (part.hit(page, 0.0, *part.snippet(page, query)) for part, page in held)
        return self.answer(request, hits, started)

    select, expand = selection.select, selection.expand
    suggest = suggestion.suggest

    def refine(self, request: messages.RefineRequest) -> messages.Refinements:
        """Return terms related to a query, from what pages are about or (1996) from the label's sub-clusters."""
        started = time.perf_counter()
        query = parse_query(request.query)
        if request.preset == "hypursuit1996":
            terms = self._label_thesaurus.suggest(query_words(query), request.count, plain=True)
        else:
            added, counts = self._added_terms(query), self._cooccurrences(query)
            more = (*counts.first(_MORE_TERMS).words, *self._words_of_best(query)) if added else ()
            terms = without_own_words(counts.suggest, query, request.count, added, more)
            if not terms.pages and (some := self._about_some(query)) is not None:
                terms = without_own_words(some.suggest, query, request.count, added)
        return messages.Refinements(
            query=request.query, router=self.name, known=terms.pages, collocated=terms.collocated, broader=terms.broader,
            narrower=terms.narrower, seconds=time.perf_counter() - started,
        )  # fmt: skip

    def cooccurrences(self, request: messages.CooccurrencesRequest) -> messages.CooccurrenceCounts:
        """Return how many pages of a query are about each word."""
        return encode_counts(self._cooccurrences(parse_query(request.query)))

    def _words_of_best(self, query: Query) -> tuple[str, ...]:
        """Return the words that the page which matches a query best is about."""
        best = self.whole.find(query, 1, messages.Filters()).pages
        if not best:
            return ()
        part, page = self.whole.pages.place(best[0])
        return self.whole.parts[part].thesaurus.words_of(page)

    def _added_terms(self, query: Query) -> AddedTerms | None:
        """Return a judge of whether a term is useful with a query; None if words cannot be searched."""
        if any(unfit_reason(part.corpus.kin) for part in self.whole.parts):
            return None
        return AddedTerms(
            self.whole.matching_pages(query),
            lambda term: self.whole.matching_pages(parse_query(" ".join(tokens(term)))),
        )

    def known_words(self, query: Query) -> tuple[list[int], bool]:
        """Return the query words, or the phrase of them, that pages are about, and whether these are all of the query."""
        words = query_words(query)
        phrase = self.thesaurus.find_phrase([word for attribute, word in words if not attribute])
        if phrase >= 0 and not any(attribute for attribute, _word in words):
            return [phrase], True
        return self.thesaurus.known_terms([word for _attribute, word in words])

    def _cooccurrences(self, query: Query) -> Cooccurrences:
        """Count the words of the pages about a query; if no page is about all of it, of the best matches."""
        parts = self.whole.parts
        known = [part.known_words(query) for part in parts]
        pages = [
            part.thesaurus.pages(words) if words and all_known else np.zeros(0, np.int64)
            for part, (words, all_known) in zip(parts, known, strict=True)
        ]
        if not any(map(len, pages)):
            hits = self.whole.find(query, _MATCHING, messages.Filters())
            best = [
                page
                for place, (page, score) in enumerate(zip(hits.pages, hits.scores, strict=True))
                if place < _FEWEST_MATCHING or score >= _AS_GOOD * hits.scores[0]
            ]
            for part, _places, own in self.whole.pages.split(np.array(best, np.int64)) if best else ():
                pages[part] = own
        return _sum_counts(
            part.thesaurus.cooccurrences(some, words)
            for part, some, (words, _all_known) in zip(parts, pages, known, strict=True)
        )

    def _about_some(self, query: Query) -> Cooccurrences | None:
        """Count the words of pages about part of the query, leaving out words that no page is about; None without such pages."""
        known = [(part.thesaurus, words) for part in self.whole.parts if (words := part.known_words(query)[0])]
        return _sum_counts(words.cooccurrences(words.pages(some), some) for words, some in known) if known else None

    def related(self, request: messages.RelatedRequest) -> Answer:
        """Return the pages of this collection that are most similar to a page."""
        return self._answer_hits(request, self.whole.related)

    def bag(self, request: messages.RelatedRequest) -> messages.Bag:
        """Return a page's bag, to be compared in other collections."""
        return self.whole.bag(request)

    def describe(self, request: messages.DescribeRequest) -> messages.PageDescription:
        """Return what was read from a page."""
        return messages.PageDescription(router=self.name, page=self.whole.describe(request))


class DeltaPart(Collection):
    """The delta of a collection, as a part of its `Whole`: it uses the name, topics and label of the collection."""

    def __init__(self, base: Collection, corpus: Corpus) -> None:
        self.name, self.path, self._compiled = base.name, base.path, base._compiled
        self._hide_path, self._threads = base._hide_path, base._threads
        self.corpus, self.delta, self._base = corpus, None, base
        self._companions = {}
        self._raw_hits = {}

    @property
    def base(self) -> Collection:
        """Return the collection whose delta it is."""
        return self._base

    @property
    def whole(self) -> Whole:
        """Return the whole that it is a part of."""
        return self._base.whole

    @property
    def published(self) -> PublishedLabel:
        """Return the label of the whole collection, which numbers the topics."""
        return self._base.published

    @property
    def has_label(self) -> bool:
        """Return whether the whole has a label."""
        return self._base.has_label

    @property
    def mark(self) -> str:
        """Return the identity of the whole."""
        return self._base.mark


def _sum_counts(counts: Iterable[Cooccurrences]) -> Cooccurrences:
    """Return the counts of a collection and of its delta as one."""
    several = list(counts)
    return several[0] if len(several) == 1 else Cooccurrences.sum_of(several)


def _join_snippet(pieces: Iterable[tuple[str, bool]]) -> tuple[str, Marks]:
    """Return a snippet's text and the places of the matches in it."""
    text, marks = "", []
    for piece, match in pieces:
        clean = plain_text(piece)
        if match:
            marks.append((len(text), len(text) + len(clean)))
        text += clean
    return text, tuple(marks[:100])
