"""`Whole`: a collection in one piece, or all its shards, searched and asked for related pages as one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt

from pagekin.bags import SKETCH_PLACES, fold_copies, is_shard, is_telling
from pagekin.clusters import DOCUMENTS_TREE, Tree, join_shard_trees, join_trees
from pagekin.collection import messages
from pagekin.collection.messages import Hit, ServiceError
from pagekin.collection.queries import parse_query
from pagekin.collection.ranking import MOST_COPIES, RankedPage, Ranking, rank_pages
from pagekin.collection.related import RelatedPages
from pagekin.collection.understanding import KnownWords, ask_best
from pagekin.hypertext import HostTitles, ShortTitles, guess_url, unknown_url_message
from pagekin.labels import plain_text
from pagekin.similarity import Query as RelatedQuery
from pagekin.similarity import RelatedError, RelatedIndex, Result
from pagekin.store import KinError, Numbering
from pagekin.text import Hits, Originals, Query, Stats

if TYPE_CHECKING:
    from pagekin.collection.collection import Collection

Mask = npt.NDArray[np.bool_]
LONGEST = 2_000
"""The most characters of a title, a snippet or a quoted text in a hit."""


@dataclass(frozen=True)
class WholeHits:
    """The parts of an answer: hits, each with the path of its shard, and the other fields."""

    hits: Sequence[Hit]
    facts: dict[str, Any] = field(default_factory=dict)
    totals: tuple[int, ...] = ()
    """How many documents match in each shard, where that was counted."""


class Whole:
    """The pages of one open collection, or of the shards of one in their order, as one.

    Scores go by counts of the whole; hits are merged, deepened and folded as those of one collection. Pages have their numbers in
    the whole. In messages `name` stands for `path`, if that is hidden.
    """

    def __init__(
        self, parts: Sequence["Collection"], name: str, path: Path, compiled: bool, hide_path: bool = True
    ) -> None:
        self.parts = tuple(parts)
        self.name, self.path, self._compiled, self._hide_path = name, path, compiled, hide_path
        self.pages = Numbering(len(part.corpus) for part in parts)
        self.words = KnownWords(self.parts)
        self.has_delta = any(part.corpus.hidden is not None for part in parts)
        if len(self.parts) > 1:
            hosts = HostTitles([part.corpus for part in self.parts])
            for part in self.parts:
                part.titles = ShortTitles(part.corpus, hosts)

    # -- search ---------------------------------------------------------------------------------------------------------

    def search(self, request: messages.SearchRequest) -> WholeHits:
        """Return matching documents, copies folded; if few hold all words of a question, also those that hold some."""
        keep = [part.keep(request.filters) for part in self.parts]
        # Whoever brings statistics for the words of a query asks for these words alone.
        match: messages.Match = "all" if request.stats and request.match == "best" else request.match
        if request.raw and match != "best":  # as routers ask, hundreds of collections at a time
            best, totals = self._find(
                parse_query(request.query, match), request.limit, request.stats, keep, request.above
            )
            return self._raw_hits(best, "", totals)
        totals = ()

        def find(query: Query, depth: int) -> Hits:
            nonlocal totals
            hits, totals = self._find(query, depth, request.stats, keep, request.above if request.raw else 0.0)
            return hits

        def rank(query: Query) -> Ranking:
            return rank_pages(partial(find, query), self._fold, request.first, request.first + request.limit)

        if request.raw:
            best, _query, note = ask_best(
                self.words, request.query, match, lambda query: find(query, request.limit), lambda hits: hits.total
            )
            return self._raw_hits(best, note, totals)
        ranking, query, note = ask_best(self.words, request.query, match, rank, lambda ranking: ranking.total)
        hits = [self.ranked_hit(ranked, query) for ranked in ranking.pages]
        facts = {"total": ranking.total, "more": ranking.more, "distinct": ranking.distinct, "note": note}
        return WholeHits(hits, facts, totals)

    def _find(
        self, query: Query, depth: int, stats: Stats | None, keep: Sequence[Mask | None], above: float
    ) -> tuple[Hits, tuple[int, ...]]:
        """Return the best documents of all shards, and each shard's total; document frequencies are summed first."""
        if len(self.parts) == 1:
            part = self.parts[0]
            hits = part.text.search(query, depth, stats=stats, keep=keep[0], documents=part.documents, above=above)
            return hits, (hits.total,)
        if stats is None:
            stats = Stats.sum(part.text.stats_of(query) for part in self.parts)
        every = [
            part.text.search(query, depth, stats=stats, keep=mask, documents=part.documents, above=above)
            for part, mask in zip(self.parts, keep, strict=True)
        ]
        totals = tuple(hits.total for hits in every)
        merged = [
            (-score, first + page)
            for hits, first in zip(every, self.pages.bounds, strict=False)
            for page, score in zip(hits.pages, hits.scores, strict=True)
        ]
        if self.has_delta:  # whose pages stand after all others; ties go by address
            merged.sort(key=lambda one: (one[0], self.page_url(one[1])))
        else:
            merged.sort()
        best = merged[:depth]
        return Hits(sum(totals), [page for _score, page in best], [-score for score, _page in best]), totals

    def _fold(self, pages: Sequence[int]) -> list[int]:
        """Return the place of each page's head; captures of one address and near-copies share a head."""
        if not pages:
            return []
        places = [self.pages.place(page) for page in pages]
        names = [(part, int(self.parts[part].corpus.pages.url[own])) for part, own in places]
        return fold_copies(self.sketches(pages), names)

    # -- its pages ------------------------------------------------------------------------------------------------------

    def pages_of(self, items: Iterable[messages.Item]) -> list[int]:
        """Return the pages of those items that are documents of the whole."""
        chosen = list(items)
        pages = []
        for item in chosen:
            for part, first in zip(self.parts, self.pages.bounds, strict=False):
                pages += [first + page for page in part.pages_of([item])]
        return list(dict.fromkeys(pages))

    def same_documents(self, pages: Sequence[int]) -> set[int]:
        """Return all pages of the documents to which some pages belong."""
        documents: set[int] = set()
        for part, _places, own in self.pages.split(np.array(pages, np.int64)) if pages else ():
            of = self.parts[part].documents
            documents |= set((self.pages.bounds[part] + np.flatnonzero(np.isin(of, of[own]))).tolist())
        return documents

    def cluster_of(self, pages: Sequence[int]) -> npt.NDArray[np.int64]:
        """Return the sub-cluster of each page, by its number in the label; 0 for none."""
        return self.pages.gather([part.cluster_of for part in self.parts], np.array(pages, np.int64))

    def pages_in_clusters(self, marked: Mask) -> npt.NDArray[np.int64]:
        """Return the pages, none of them hidden, of the sub-clusters that are marked by their numbers."""
        pages = []
        for part, first in zip(self.parts, self.pages.bounds, strict=False):
            of = part.cluster_of
            inside = (of < len(marked)) & marked[np.minimum(of, len(marked) - 1)]
            pages.append(first + np.flatnonzero(inside if part.corpus.hidden is None else inside & ~part.corpus.hidden))
        return np.concatenate(pages)

    def matching_pages(self, query: Query) -> Mask:
        """Mark the pages whose document matches."""
        return np.concatenate([part.text.matching_pages(query, part.documents) for part in self.parts])

    def keep(self, filters: messages.Filters) -> Mask | None:
        """Return which pages of the whole pass filters; None if all do."""
        masks = [part.keep(filters) for part in self.parts]
        known = [mask for mask in masks if mask is not None]
        return np.concatenate(known) if known else None

    def find(self, query: Query, depth: int, filters: messages.Filters) -> Hits:
        """Return the best documents that match and pass filters, by their pages."""
        return self._find(query, depth, None, [part.keep(filters) for part in self.parts], 0.0)[0]

    def sketches(self, pages: Sequence[int]) -> npt.NDArray[np.uint16]:
        """Return the sketches of some pages, one per row."""
        sketches = np.empty((len(pages), SKETCH_PLACES), np.uint16)
        for part, at, own in self.pages.split(np.array(pages, np.int64)) if pages else ():
            sketches[at] = self.parts[part].sketches(own.tolist())
        return sketches

    def opening_hit(self, page: int, score: float) -> Hit:
        """Return a page as a hit with its beginning."""
        part, own = self.pages.place(page)
        return self.parts[part].hit(own, score, self.parts[part].opening(own))

    def _raw_hits(self, hits: Hits, note: str, totals: tuple[int, ...]) -> WholeHits:
        """Return hits with only the fields that a router needs."""
        raw = list(map(self._raw_hit, hits.pages, hits.scores))
        return WholeHits(raw, {"total": hits.total, "more": hits.total > len(raw), "note": note}, totals)

    def _raw_hit(self, page: int, score: float) -> Hit:
        part, own = self.pages.place(page)
        return msgspec.structs.replace(self.parts[part].raw_hit(own), score=score)

    @cached_property
    def _originals(self) -> Originals:
        return Originals([part.corpus for part in self.parts])

    def ranked_hit(self, ranked: RankedPage, query: Query) -> Hit:
        """Return a page of a ranking as a hit, by the address of the original where mirrors are folded with it."""
        pages = {self.page_url(page): page for page in (*ranked.copies, ranked.page)}
        urls = list(dict.fromkeys(self.page_url(page) for page in (ranked.page, *ranked.copies)))
        best = self._originals.best(urls) if len(urls) > 1 else urls[0]
        copies = tuple(url for url in urls if url != best)[:MOST_COPIES]
        part, own = self.pages.place(pages[best])
        shard = self.parts[part]
        return shard.hit(own, ranked.score, *shard.snippet(own, query), copies=copies)

    def page_url(self, page: int) -> str:
        """Return the address of a page."""
        part, own = self.pages.place(page)
        return self.parts[part].corpus.page_url(own)

    def title(self, page: int) -> str:
        """Return the title of a page without the part that its whole host shares."""
        part, own = self.pages.place(page)
        return self.parts[part].titles.text(own)

    def alive_pages(self) -> list[int]:
        """Return all pages that are not hidden, in the order of their addresses."""
        if not self.has_delta:
            return list(range(len(self.pages)))
        hidden = np.concatenate([
            np.zeros(len(part.corpus), np.bool_) if part.corpus.hidden is None else part.corpus.hidden
            for part in self.parts
        ])  # fmt: skip
        return sorted(np.flatnonzero(~hidden).tolist(), key=self.page_url)

    @cached_property
    def trees(self) -> dict[str, Tree]:
        """Return the hierarchies by name: of all shards, or of a collection in one piece with the pages of its delta."""
        first, *others = self.parts
        trees = dict(first.trees)
        if is_shard(first.corpus.kin):
            return {name: self._join_shards(name) for name in dict.fromkeys(chain(*(one.trees for one in self.parts)))}
        for part, begin in zip(others, self.pages.bounds[1:], strict=False):
            trees |= {name: join_trees(trees[name], tree, begin) for name, tree in part.trees.items() if name in trees}
        return trees

    def _join_shards(self, name: str) -> Tree:
        """Return a hierarchy of the shards that have it."""
        parts = [
            (part.trees[name], begin)
            for part, begin in zip(self.parts, self.pages.bounds, strict=False)
            if name in part.trees
        ]
        return join_shard_trees([tree for tree, _ in parts], [begin for _, begin in parts], name == DOCUMENTS_TREE)

    # -- related pages --------------------------------------------------------------------------------------------------

    @cached_property
    def related_pages(self) -> RelatedPages:
        """Return the index of related pages; raise a KinError if there is none."""
        return RelatedPages(RelatedIndex([part.corpus for part in self.parts], self._compiled, self.path))

    def related(self, request: messages.RelatedRequest) -> WholeHits:
        """Return the pages that are most similar to a page."""
        related, options = self._related_pages(), request.options
        keep = self.keep(options.filters)
        try:
            query = self._related_query(related, request)
            if query is None:
                return WholeHits((), {"strategy": related.index.strategy.name})
            apart = request.bag is not None and not (request.bag.epoch and request.bag.epoch == related.epoch)
            answer = related.index.answer(query, options, keep, request.above)
        except RelatedError as error:
            raise ServiceError(self.without_path(str(error)), 404) from None
        subjects = tuple(self._subject(document) for document in query.documents)
        hits = [self._related_hit(result, result.similarity < request.above) for result in answer.results]
        notes = [_explain_alpha(answer.alpha, answer.below_threshold, bool(answer.results))]
        if apart:
            notes.append(explain_epochs(1))
        return WholeHits(hits, {
            "subjects": subjects, "copies": tuple(answer.copies[:MOST_COPIES]), "strategy": related.index.strategy.name,
            "alpha": answer.alpha, "below_threshold": answer.below_threshold, "other_epochs": int(apart),
            "note": " ".join(filter(None, notes)),
        })  # fmt: skip

    def _related_pages(self) -> RelatedPages:
        try:
            return self.related_pages
        except KinError as error:
            raise ServiceError(self.without_path(str(error)), 404) from None

    def _related_query(self, related: RelatedPages, request: messages.RelatedRequest) -> RelatedQuery | None:
        if request.bag is not None:
            return related.query_of_bag(request.bag)
        if request.html:
            return related.index.query_of_html(request.html, request.url)
        return related.index.query_of([request.url, *request.also])

    def _part_of_document(self, document: int) -> "Collection":
        return self.parts[self.related_pages.index.documents.numbering.place(document)[0]]

    def _subject(self, document: int) -> Hit:
        """Return a page that was asked about, by the title that it has as an answer, too."""
        index, part = self.related_pages.index, self._part_of_document(document)
        url = index.urls[document]
        pages = part.corpus.pages_of(part.corpus.url_number(url))
        title = part.titles.text(pages[0]) if pages else index.title(document)
        return Hit(kind="document", url=url, title=plain_text(title)[:LONGEST], path=(part.name,))

    def _related_hit(self, result: Result, bare: bool) -> Hit:
        """Return a related page as a hit, without uninformative words as reasons; a bare hit has only what merging needs."""
        part = self._part_of_document(result.document)
        pages = part.corpus.pages_of(part.corpus.url_number(result.url))
        if bare and pages:
            copies = result.copies[:MOST_COPIES]
            return msgspec.structs.replace(part.raw_hit(pages[0]), score=result.similarity, copies=copies)
        language = part.corpus.language(pages[0]) if pages else ""
        reasons: dict[str, Any] = {
            "error": result.error,
            "terms": tuple(
                msgspec.structs.replace(one, term=one.term[:LONGEST], title=self._title_of_term(one.term))
                for one in result.terms
                if is_telling(one.term, language)
            ),
            "citations": result.citations,
            "signals": result.signals,
        }
        copies = result.copies[:MOST_COPIES]
        if pages:
            return part.hit(pages[0], result.similarity, part.opening(pages[0]), copies=copies, **reasons)
        return Hit(
            kind="document", url=result.url, title=plain_text(result.title)[:LONGEST], score=result.similarity,
            path=(part.name,), copies=copies, captured=False, **reasons,
        )  # fmt: skip

    def _title_of_term(self, term: str) -> str:
        """Return the title if the term is a page; '' for words."""
        return plain_text(self.related_pages.index.display_term(term))[:LONGEST] if "://" in term else ""

    def bag(self, request: messages.RelatedRequest) -> messages.Bag:
        """Return a page's bag, to be compared in other collections."""
        related = self._related_pages()
        try:
            return related.bag(request.url)
        except RelatedError as error:
            raise ServiceError(self.without_path(str(error)), 404) from None

    # -- a page ---------------------------------------------------------------------------------------------------------

    def describe(self, request: messages.DescribeRequest) -> dict[str, Any]:
        """Return what was read from a page."""
        corpora = [part.corpus for part in self.parts]
        home = next((corpus.url(number) for corpus in corpora if (number := corpus.url_number(request.url)) >= 0), "")
        home = home or guess_url(corpora, request.url)
        known = [about for corpus in corpora if home and (about := corpus.describe(home, request.inlinks))]
        if not known:
            raise ServiceError(self.without_path(unknown_url_message(corpora, request.url, self.path)), 404)
        page = max(known, key=lambda about: (about["captured"], len(about["aliases"])))
        page["anchors_in"], page["anchors_in_total"] = (
            list(self._links_in(known))[: request.inlinks],
            sum(about["anchors_in_total"] for about in known),
        )
        if self._only_lists(page["url"]):
            page["flags"] = [*page.get("flags", ()), "only lists"]
        return page

    def _links_in(self, known: Sequence[dict[str, Any]]) -> Iterator[Any]:
        for about in known:
            yield from about["anchors_in"]

    def _only_lists(self, url: str) -> bool:
        """Return whether the index treats a page as a mere list."""
        try:
            return self.related_pages.index.only_lists(url)
        except KinError:
            return False

    def without_path(self, message: str) -> str:
        """Return an error's message for clients, without the collection's path."""
        if not self._hide_path:
            return message
        for part in self.parts:
            message = message.replace(str(part.path), part.name)
        return message.replace(str(self.path), self.name)


def explain_epochs(others: int) -> str:
    """Return a sentence that says that bags of other epochs were compared; '' if there are none."""
    if not others:
        return ""
    names = "One collection" if others == 1 else f"{others:,} collections"
    return f"{names} weighed words by other frequencies than the page's own: similarities there are not exact."


def _explain_alpha(alpha: float, left_out: int, some: bool) -> str:
    """Return a sentence that names the threshold α where it is the reason for few or no related pages."""
    if not left_out:
        return ""
    pages = f"{left_out:,} page{'s' if left_out > 1 else ''}"
    kept = "only pages more similar than that are shown" if some else "no page is more similar than that"
    return f"The threshold α = {alpha:g} leaves out {pages}: {kept}."
