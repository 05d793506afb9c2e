"""Related pages: `RelatedIndex` is an open collection that answers which pages are related to which, and why."""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import Bags, Origin, Strategy, StrategyError, fold_copies, strategy_of_index
from pagekin.hypertext import (
    Corpus,
    in_shards_error,
    open_corpora,
)
from pagekin.similarity.answers import Answer, Query, RankedDocuments, RelatedDocument, RelatedError, Result
from pagekin.similarity.documents import Documents, IndexShard, UrlList
from pagekin.similarity.explain import Citations, shared_terms
from pagekin.similarity.lists import Eligible, SignatureIndex
from pagekin.similarity.options import RankingOptions, SignalShare
from pagekin.similarity.queries import QueryMaker
from pagekin.similarity.signals import SIGNALS, QuerySignals, SignalReader
from pagekin.store import Array, KinError

Fold = Callable[[Array], Sequence[int]]
"""Given ranked documents, the place of the head of the query, at place 0, and of each: itself, or whose copy it is."""
DEPTH = 400
"""Candidates that are compared exactly. With ENTRIES chosen by measuring recall, bytes and time: see docs/benchmarks.md."""
LIST_ENTRIES = 32_000
"""Entries of the lists that are read for candidates, at most."""
_FILTERED = 16
_DEEPER = 8
_Z = 1.96
_DEFAULTS = RankingOptions()


def first_depth(k: int) -> int:
    """Return how many documents to look at first for k groups of near-duplicates."""
    return 4 * k + 50


class RelatedIndex:
    """An open collection with an index, in one piece or in shards. Use one per thread.

    Documents have their numbers in the whole. Pass `compiled` for many questions: see `ExactSimilarity`.
    """

    def __init__(
        self, corpora: Corpus | Sequence[Corpus], compiled: bool = False, path: str | os.PathLike[str] = ""
    ) -> None:
        """Take a corpus, or those of the shards of the collection at `path`, in their order."""
        self.corpora = (corpora,) if isinstance(corpora, Corpus) else tuple(corpora)
        self.path = Path(path or self.corpora[0].kin.path)
        self._compiled = compiled
        self.strategy: Strategy = _one_strategy(self.corpora)
        self.facts = self.corpora[0].facts["index"]
        self.documents = Documents.of(self.corpora)
        self.index = SignatureIndex(
            [corpus.kin for corpus in self.corpora], self.strategy.signature.m, compiled, self.documents.replaced
        )
        for shard in self.documents.shards:
            shard.bags.require_all()  # an index of an earlier Pagekin is refused here, not amid an answer

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "RelatedIndex":
        """Open the index of the collection at `path`."""
        return cls(open_corpora(path), path=path)

    def reopen(self, compiled: bool) -> "RelatedIndex":
        """Open this index again, for another thread."""
        return RelatedIndex(self.corpora, compiled, self.path)

    @property
    def corpus(self) -> Corpus:
        """Return the corpus of a collection in one piece."""
        return self._single_shard.corpus

    @property
    def bags(self) -> Bags:
        """Return the bags of a collection in one piece."""
        return self._single_shard.bags

    @property
    def _single_shard(self) -> IndexShard:
        if len(self.corpora) > 1:
            raise in_shards_error(self.path, len(self.corpora))
        return self.documents.shards[0]

    def with_bags(self, bags: Bags) -> "RelatedIndex":
        """Return the index of a collection in one piece with other bags of the same shape."""
        other = RelatedIndex(self.corpora, self._compiled, self.path)
        other.documents = Documents([IndexShard(self.corpus, bags)])
        return other

    @property
    def urls(self) -> UrlList:
        """Return all URLs that can be asked about."""
        return UrlList(self.documents)

    def __len__(self) -> int:
        return len(self.documents)

    # -- questions --------------------------------------------------------------------------------------------------

    def document(self, url: str) -> int:
        """Return the document of a URL in any spelling; raise RelatedError if it cannot be asked about."""
        return self._queries.document(url)

    def query_of(self, urls: Sequence[str]) -> Query:
        """Make a query of one or several pages of the collection: the mean of their bags."""
        return self._queries.of_pages(urls)

    def query_of_documents(self, documents: tuple[int, ...]) -> Query:
        """Make a query of one or several documents."""
        return self._queries.of_documents(documents)

    def query_of_html(self, html: bytes | str, url: str = "") -> Query:
        """Make a query of a page outside the collection, by its own words and links: see `QueryMaker`."""
        return self._queries.of_html(html, url)

    @cached_property
    def _queries(self) -> QueryMaker:
        return QueryMaker(self.documents, self.index, self.strategy, self.path)

    def query_of_bag(self, *bag: Any) -> Query | None:
        """Make a query of a bag from elsewhere, or None if it shares no term with the collection: see `QueryMaker`."""
        return self._queries.of_bag(*bag)

    def related(self, url: str | Sequence[str], k: int = 10, **options: Any) -> list[Result]:
        """Return the k pages most similar to a page (or to the mean of several), best first; `answer` has more detail."""
        query = self.query_of([url] if isinstance(url, str) else list(url))
        return self.answer(query, RankingOptions(k=k, **options)).results

    def answer(
        self,
        query: Query,
        options: RankingOptions = _DEFAULTS,
        keep: npt.NDArray[np.bool_] | None = None,
        above: float = 0.0,
    ) -> Answer:
        """Return the documents most similar to a query; with `keep`, only those whose captured page it marks.

        By default the documents that agree with it in most of its shortest lists are compared exactly. Those that are less
        similar than `above` have no titles.
        """
        ranked = self.rank(query, options, keep)
        citations = self.citations(query) if options.explain else None
        results = [self._result(query, one, options.method == "estimate", citations, above) for one in ranked.related]
        if options.explain and options.method != "estimate":
            results = _with_signals(results, ranked, self.signals(query, options.wish))
        copies = [self.documents.url(copy) for copy in ranked.copies]
        return Answer(results, copies, self._alpha(options), ranked.below_threshold)

    def _alpha(self, options: RankingOptions) -> float:
        """Return the score above which documents are answers."""
        return self.strategy.signature.alpha if options.min_similarity is None else options.min_similarity

    def rank(
        self, query: Query, options: RankingOptions = _DEFAULTS, keep: npt.NDArray[np.bool_] | None = None
    ) -> RankedDocuments:
        """Rank the documents related to a query, as `answer` does, but return only their numbers."""
        k, alpha, fold = options.k, self._alpha(options), partial(self._fold, query) if options.fold else None
        eligible = self._eligible(query, options, keep)
        if options.method == "estimate":
            return self._rank_by_estimate(query, k, alpha, eligible, fold)
        signals = self.signals(query, options.wish)
        if options.method == "exact":
            documents = np.flatnonzero(self.documents.inlinks >= self.strategy.signature.min_inlinks)
            return self.group(*self.rerank(signals, documents[eligible(documents)]), alpha, k, fold)
        # Where many documents are no answers, more have to be met to find as many that are.
        some = options.sites != "all" or options.captured_only or keep is not None
        entries = _FILTERED * LIST_ENTRIES if some else LIST_ENTRIES
        return self.rerank_candidates(query, signals, k, alpha, eligible, fold, entries)

    def citations(self, query: Query) -> Citations:
        """Return links that explain answers to a query; those of pages similar to both query and answer come first."""

        def closeness(pages: Array, answer: str) -> Array:
            documents = self.documents.of_pages(pages)
            known = documents >= 0
            rows = self.index.rows_of(np.maximum(documents, 0))
            like = np.count_nonzero(rows == query.signature, axis=1) + 1.0
            if (document := self.documents.at(answer.encode())) >= 0:
                like *= np.count_nonzero(rows == self.index.rows_of(np.array([document])), axis=1) + 1.0
            return np.where(known, like, 0.0)

        def counting(pages: Array, url: str) -> Array:
            document = self.documents.at(url.encode())
            if document < 0:
                return np.ones(len(pages), np.bool_)
            return np.isin(self.documents.of_pages(pages), self._signal_reader.links.into(document))

        return Citations(self.corpora, map(self.documents.url, query.documents), closeness, counting)

    def rerank_candidates(
        self, query: Query, signals: QuerySignals, k: int, alpha: float, eligible: Eligible, fold: Fold | None,
        entries: int = LIST_ENTRIES,
    ) -> RankedDocuments:  # fmt: skip
        """Rank the best candidates by their signals; take more candidates if near-duplicates fill all places."""
        linked = signals.candidates()
        linked = linked[eligible(linked) & (self.documents.inlinks_of(linked) >= self.strategy.signature.min_inlinks)]
        depth = max(DEPTH, first_depth(k) if fold else k)
        while True:
            documents = self.index.candidates(query.signature, depth, entries, eligible).docs
            documents, similarity = self.rerank(signals, np.union1d(documents, linked))
            ranked = self.group(documents, similarity, alpha, k, fold)
            if not fold or len(ranked.related) == k or np.count_nonzero(similarity > alpha) < depth:
                return ranked
            depth, entries = _DEEPER * depth, _DEEPER * entries

    def _rank_by_estimate(
        self, query: Query, k: int, alpha: float, eligible: Eligible, fold: Fold | None
    ) -> RankedDocuments:
        """Rank documents by estimated similarity, as in Figure 11; take more if near-duplicates fill all places."""
        wanted = first_depth(k) if fold else k
        while True:
            matched = self.index.similar(query.signature, wanted, alpha, eligible)
            ranked = self.group(matched.docs, matched.matches / self.index.m, 0.0, k, fold)
            if len(ranked.related) < k and alpha > 0 and len(matched.docs) < wanted:
                agreeing = len(self.index.similar(query.signature, None, 0.0, eligible).docs)
                ranked = replace(ranked, below_threshold=agreeing - len(matched.docs))
            if not fold or len(ranked.related) == k or len(matched.docs) < wanted:
                return ranked
            wanted *= _DEEPER

    def group(self, documents: Array, similarity: Array, alpha: float, k: int, fold: Fold | None) -> RankedDocuments:
        """Group the ranked documents above α into at most k groups of near-duplicates, or return each separately.

        Near-duplicates of the query, which has the place 0, are in no group.
        """
        above = int(np.count_nonzero(similarity > alpha))
        seen = min(first_depth(k) if fold else k, above)
        while True:
            some = documents[:seen]
            heads = fold(some) if fold else range(seen + 1)
            groups: dict[int, list[int]] = {}
            for place, document in enumerate(some.tolist(), 1):
                if heads[place] in groups or (heads[place] == place and len(groups) < k):
                    groups.setdefault(heads[place], []).append(document)
            if len(groups) == k or seen == above:
                break
            seen = min(4 * seen, above)
        related = [
            RelatedDocument(group[0], float(similarity[head - 1]), tuple(group[1:])) for head, group in groups.items()
        ]
        copies = [document for document, head in zip(some.tolist(), heads[1:], strict=True) if head == 0]
        return RankedDocuments(related, copies, len(documents) - above if len(groups) < k else 0)

    def _fold(self, query: Query, documents: Array) -> list[int]:
        return fold_copies(np.concatenate((query.sketch[None], self.documents.sketches(documents))))

    @cached_property
    def _signal_reader(self) -> SignalReader:
        return SignalReader([shard.bags for shard in self.documents.shards], self.documents.links(), self._compiled)

    def signals(self, query: Query, wish: str = "") -> QuerySignals:
        """Return the signals between a query and documents, with the strategy's weights for a wish."""
        return QuerySignals(self._signal_reader, query, self.strategy.signals_for(wish))

    def similarities(self, query: Query, documents: Array) -> npt.NDArray[np.float64]:
        """Return the weighted Jaccard similarity of each document's bag, regardless of other signals."""
        return self._signal_reader.jaccard(query, documents)

    def rerank(self, signals: QuerySignals, documents: Array, alpha: float = 0.0) -> tuple[Array, Array]:
        """Return the documents above α with their score, the best first, ties by address."""
        similarity = signals.scores(documents)
        above = similarity > alpha
        documents, similarity = documents[above], similarity[above]
        order = np.lexsort((self.documents.sort_keys(documents), -similarity))
        return documents[order], similarity[order]

    # -- which documents may be answers ------------------------------------------------------------------------------

    def _eligible(self, query: Query, options: RankingOptions, keep: npt.NDArray[np.bool_] | None = None) -> Eligible:
        if options.sites not in ("all", "other", "same"):
            raise RelatedError(f"sites is one of: all, other, same; not {options.sites!r}")
        of_own_sites = self._of_own_sites(query) if options.sites != "all" else None

        def eligible(documents: Array) -> Array:
            may = ~self.documents.are_hidden(documents)
            for document in query.documents:
                may &= documents != document
            if of_own_sites is not None:
                may &= of_own_sites(documents) == (options.sites == "same")
            if options.captured_only:
                may &= self.are_captured(documents)
            if keep is not None and len(keep):
                pages = self.documents.pages(documents)
                may &= (pages >= 0) & keep[pages]
            return may

        return eligible

    def _of_own_sites(self, query: Query) -> Eligible:
        """Return a function that marks the documents of the query's own sites."""
        if query.sites:
            return lambda documents: self.documents.are_of_sites(documents, query.sites)
        if self.facts["site_rule"] == "none":
            raise RelatedError(
                f"{self.path} holds pages of one host only, so there are no other sites; leave out --other-sites and --same-site."
            )
        if not query.documents:
            raise RelatedError(
                "the site of a page outside the collection is not known; tell its address by --url, or leave out "
                "--other-sites and --same-site."
            )
        own_sites = np.unique(self.documents.sites(np.array(query.documents)))
        return lambda documents: np.isin(self.documents.sites(documents), own_sites)

    def are_captured(self, documents: Array) -> npt.NDArray[np.bool_]:
        """Return whether each document's own page was read."""
        return np.asarray(self.documents.pages(documents) >= 0)

    def only_lists(self, url: str) -> bool:
        """Return whether a URL's page is a mere list, whose links do not count."""
        document = self.documents.find(url)[1]
        return document >= 0 and bool(self._signal_reader.worth(np.array([document]))[0] < 1)

    # -- results for people ------------------------------------------------------------------------------------------

    def display_term(self, term: str) -> str:
        """Return a term for display: a word, or the title of a page if it has one."""
        if "://" not in term:
            return term
        document = self.documents.find(term)[1]
        return (self.title(document) if document >= 0 else "") or term

    def title(self, document: int) -> str:
        """Return the page's title, or the text that most links to it have."""
        return self.documents.title(document)

    def _result(
        self, query: Query, one: RelatedDocument, estimated: bool, citations: Citations | None, above: float
    ) -> Result:
        url, *copies = (self.documents.url(document) for document in (one.document, *one.copies))
        aliases = [alias for document in (one.document, *one.copies) for alias in self.documents.aliases(document)]
        terms = shared_terms(self.documents, query, one.document) if citations else ()
        return Result(
            url=url,
            title=self.title(one.document) if one.similarity >= above else "",
            similarity=one.similarity,
            error=margin(one.similarity, self.index.m) if estimated else 0.0,
            captured=self.documents.is_captured(one.document),
            document=one.document,
            copies=(*copies, *aliases),
            terms=terms,
            citations=citations.best_for(url, [shared.term for shared in terms]) if citations else (),
        )

    def heaviest(self, document: int, count: int) -> list[tuple[str, float, list[str]]]:
        """Return (term for display, weight, origins) of a bag's heaviest terms (Figure 14)."""
        shard, own = self.documents.place(document)
        terms, weights = shard.bags.bag(own)
        origins = shard.bags.origins(own)
        order = np.lexsort((terms, -weights))[:count]
        return [
            (shard.bags.term_text(shard.corpus, int(terms[i])), float(weights[i]), Origin(int(origins[i])).names())
            for i in order.tolist()
        ]


def _one_strategy(corpora: Sequence[Corpus]) -> Strategy:
    """Return the common strategy of some corpora; raise a KinError, with advice, if there is none."""
    every = []
    for corpus in corpora:
        path, facts = corpus.kin.path, corpus.facts.get("index")
        if not facts:
            raise KinError(f"{path} has been read but not indexed. Make the index with: pagekin index {path}")
        try:
            every.append(strategy_of_index(facts))
        except StrategyError as error:
            raise KinError(
                f"{path} was indexed by a strategy that this Pagekin does not know ({error}). "
                f"Index it again: pagekin index {path}"
            ) from None
        if every[-1].digest() != facts.get("digest"):
            raise KinError(
                f"{path} was indexed by an earlier Pagekin, whose strategies had other settings. "
                f"Index it again: pagekin index {path}"
            )
    return every[0]


def _with_signals(results: list[Result], ranked: RankedDocuments, signals: QuerySignals) -> list[Result]:
    """Add to each result the contributions of its signals, the largest first."""
    documents = np.array([one.document for one in ranked.related], np.int64)
    values = signals.values(documents)
    return [
        replace(result, signals=tuple(
            SignalShare(SIGNALS[i], round(float(row[i]), 7), round(float(share[i]), 7))
            for i in np.argsort(-share, kind="stable").tolist()
            if share[i] > 0
        ))
        for result, row, share in zip(results, values, signals.shares(documents, values), strict=True)
    ]  # fmt: skip


def margin(estimate: float, m: int) -> float:
    """Return half the width of the 95 % (Wilson) interval of a similarity estimated from m positions."""
    spread = _Z * math.sqrt(estimate * (1 - estimate) / m + _Z * _Z / (4 * m * m))
    return spread / (1 + _Z * _Z / m)
