"""Related pages: `RelatedIndex` is an open collection that answers which pages are related to which, and why."""

import math
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import NO_SKETCH, Bags, LinkColumns, Origin, Strategy, StrategyError, fold_copies, strategy_of_index
from pagekin.hypertext import Corpus, ReadPage, canonical_url, host_of, site_of, sites_of_urls, unknown_url_message
from pagekin.similarity.answers import Answer, Query, RankedDocuments, RelatedDocument, RelatedError, Result, UrlList
from pagekin.similarity.explain import Citations, shared_terms
from pagekin.similarity.lists import Eligible, SignatureIndex
from pagekin.similarity.makers import make_maker
from pagekin.similarity.options import RankingOptions, SignalShare
from pagekin.similarity.signals import SIGNALS, QuerySignals, SignalReader
from pagekin.store import Array, KinError, open_kin

Fold = Callable[[Array], Sequence[int]]
"""Given ranked documents, the place of the head of the query, at place 0, and of each: itself, or whose copy it is."""
DEPTH = 400
"""Candidates that are compared exactly. With ENTRIES chosen by measuring recall, bytes and time: see docs/benchmarks.md."""
LIST_ENTRIES = 16_000
"""Entries of the lists that are read for candidates, at most."""
_FILTERED = 16
_DEEPER = 8
_Z = 1.96
_DEFAULTS = RankingOptions()


def first_depth(k: int) -> int:
    """Return how many documents to look at first for k groups of near-duplicates."""
    return 4 * k + 50


class RelatedIndex:
    """An open collection with an index. Use one per thread.

    Pass `compiled` for many questions: see `ExactSimilarity`.
    """

    def __init__(self, corpus: Corpus, compiled: bool = False) -> None:
        self.corpus = corpus
        self._compiled = compiled
        facts = corpus.facts.get("index")
        path = corpus.kin.path
        if not facts:
            raise KinError(f"{path} has been read but not indexed. Make the index with: pagekin index {path}")
        try:
            self.strategy: Strategy = strategy_of_index(facts)
        except StrategyError as error:
            raise KinError(
                f"{path} was indexed by a strategy that this Pagekin does not know ({error}). "
                f"Index it again: pagekin index {path}"
            ) from None
        if self.strategy.digest() != facts.get("digest"):
            raise KinError(
                f"{path} was indexed by an earlier Pagekin, whose strategies had other settings. "
                f"Index it again: pagekin index {path}"
            )
        self.facts = facts
        self.bags = Bags(corpus.kin)
        self.index = SignatureIndex(corpus.kin, self.strategy.signature.m)
        self.maker = make_maker(self.strategy.signature)
        self.bags.require_all()  # an index of an earlier Pagekin is refused here, not amid an answer

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "RelatedIndex":
        """Open the index of the collection at `path`."""
        return cls(Corpus(open_kin(path)))

    @property
    def urls(self) -> UrlList:
        """Return all URLs that can be asked about."""
        return UrlList(self.corpus, self.bags)

    def __len__(self) -> int:
        return len(self.bags)

    # -- questions --------------------------------------------------------------------------------------------------

    def document(self, url: str) -> int:
        """Return the document of a URL in any spelling; raise RelatedError if it cannot be asked about."""
        number = self.corpus.url_number(url)
        if number < 0:
            raise RelatedError(unknown_url_message(self.corpus, url))
        document = self.bags.document(number)
        if document < 0:
            raise RelatedError(
                f"{url} is in {self.corpus.kin.path}, but there is nothing to compare it by: neither it nor a link to it "
                "has a word that counts."
            )
        return document

    def query_of(self, urls: Sequence[str]) -> Query:
        """Make a query of one or several pages of the collection: the mean of their bags."""
        documents = tuple(dict.fromkeys(self.document(url) for url in urls))
        if not documents:
            raise RelatedError("no page was named")
        return self.query_of_documents(documents)

    def query_of_documents(self, documents: tuple[int, ...]) -> Query:
        """Make a query of one or several documents."""
        if len(documents) == 1:
            terms, weights = self.bags.bag(documents[0])
            origins = self.bags.origins(documents[0])
            counts = self.bags.counts[self.bags.span(documents[0])]
            signature, sketch = self.index.rows[documents[0]], self.bags.sketches(np.array(documents))[0]
        else:
            terms, weights, origins, counts = self._mean(documents)
            signature, sketch = self.maker.sign(self.bags.hashes[terms], weights), NO_SKETCH
        total = float(np.sum(weights, dtype=np.float64))
        return Query(terms, weights, total, signature, documents, origins, sketch, counts, np.zeros(0, np.uint8))

    def _mean(self, documents: tuple[int, ...]) -> tuple[Array, Array, Array, Array]:
        """Return (terms, weights, origins, counts) of the mean of several bags."""
        parts = [self.bags.bag(document) for document in documents]
        terms, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
        weights = np.bincount(place, np.concatenate([part[1] for part in parts]), len(terms)) / len(documents)
        origins = np.zeros(len(terms), np.uint8)
        np.bitwise_or.at(origins, place, np.concatenate([self.bags.origins(document) for document in documents]))
        counts = np.concatenate([self.bags.counts[self.bags.span(document)] for document in documents])
        mean = np.rint(np.bincount(place, counts, len(terms)) / len(documents))
        return terms, weights.astype(np.float32), origins, mean.astype(np.uint8)

    def query_of_html(self, html: bytes | str, url: str = "") -> Query:
        """Make a query of a page outside the collection, by its own words and links.

        The encoding of bytes is guessed. Without the page's address `url` only links that name their target in full count.
        """
        from pagekin.bags import page_bag, page_sketch
        from pagekin.hypertext import decode_page, read_strictly
        from pagekin.sources import Limits

        page = read_strictly(html if isinstance(html, str) else decode_page(html, "")[0], Limits())
        links = self._targets(page, url) if self.strategy.outlinks.scale else []
        hashes, weights, origins, counts = page_bag(page.words, page.attributes, self.strategy, self.bags, links)
        if not len(hashes):
            raise RelatedError("the page has no word that counts, so nothing can be related to it.")
        terms = self.bags.find(hashes)
        known = terms >= 0
        if not known.any():
            raise RelatedError(f"the page shares no word with the {len(self):,} pages of {self.corpus.kin.path}.")
        signature = self.maker.sign(hashes, weights)
        total = float(np.sum(weights, dtype=np.float64))
        own = page_sketch(page.words, page.attributes, self.strategy)
        return Query(
            terms[known], weights[known], total, signature, (), origins[known], own, counts[known], counts[~known]
        )

    def _targets(self, page: ReadPage, url: str) -> list[tuple[str, int]]:
        """Return (address, words before it) of the links that count on a page outside the collection."""
        own = canonical_url(url) if url else None
        base = (canonical_url(page.base, own) if page.base else None) or own
        site = site_of(host_of(own)) if own and not self.strategy.anchors.within_site else None
        targets = []
        for anchor in page.anchors:
            target = canonical_url(anchor.href, base)
            if target is None or target == own or (site is not None and site_of(host_of(target)) == site):
                continue
            known = self.corpus.url_number(target)
            targets.append((self.corpus.url(known) if known >= 0 else target, anchor.start))
        return targets

    def related(self, url: str | Sequence[str], k: int = 10, **options: Any) -> list[Result]:
        """Return the k pages most similar to a page (or to the mean of several), best first; `answer` tells more."""
        query = self.query_of([url] if isinstance(url, str) else list(url))
        return self.answer(query, RankingOptions(k=k, **options)).results

    def answer(
        self,
        query: Query,
        options: RankingOptions = _DEFAULTS,
        keep: npt.NDArray[np.bool_] | None = None,
        above: float = 0.0,
    ) -> Answer:
        """Return the documents most similar to a query; with `keep`, of those whose captured page it marks.

        By default the documents that agree with it in most of its shortest lists are compared exactly. Those that are less
        similar than `above` have no titles.
        """
        ranked = self.rank(query, options, keep)
        citations = self.citations(query) if options.explain else None
        results = [self._result(query, one, options.method == "estimate", citations, above) for one in ranked.related]
        if options.explain and options.method != "estimate":
            results = _with_signals(results, ranked, self.signals(query, options.wish))
        copies = [self.urls[copy] for copy in ranked.copies]
        return Answer(results, copies, self._alpha(options), ranked.below_threshold)

    def _alpha(self, options: RankingOptions) -> float:
        """Return the score above which documents are answers."""
        return self.strategy.signature.alpha if options.min_similarity is None else options.min_similarity

    def rank(
        self, query: Query, options: RankingOptions = _DEFAULTS, keep: npt.NDArray[np.bool_] | None = None
    ) -> RankedDocuments:
        """Rank the documents related to a query: what `answer` tells, by their numbers alone."""
        k, alpha, fold = options.k, self._alpha(options), partial(self._fold, query) if options.fold else None
        eligible = self._eligible(query, options, keep)
        if options.method == "estimate":
            return self._rank_by_estimate(query, k, alpha, eligible, fold)
        signals = self.signals(query, options.wish)
        if options.method == "exact":
            documents = np.flatnonzero(self.bags.inlinks >= self.strategy.signature.min_inlinks)
            return self.group(*self.rerank(signals, documents[eligible(documents)]), alpha, k, fold)
        # Where many documents are no answers, more have to be met to find as many that are.
        some = options.sites != "all" or options.captured_only or keep is not None
        entries = _FILTERED * LIST_ENTRIES if some else LIST_ENTRIES
        return self.rerank_candidates(query, signals, k, alpha, eligible, fold, entries)

    def citations(self, query: Query) -> Citations:
        """Return links that explain answers to a query: first those of pages similar to both query and answer."""

        def closeness(urls: Array, answer: int) -> Array:
            places = np.minimum(np.searchsorted(self.bags.urls, urls), len(self.bags) - 1)
            known = np.asarray(self.bags.urls[places]).astype(np.int64) == urls
            rows = np.asarray(self.index.rows[places])
            like = np.count_nonzero(rows == query.signature, axis=1) + 1.0
            if (document := self.bags.document(answer)) >= 0:
                like *= np.count_nonzero(rows == self.index.rows[document], axis=1) + 1.0
            return np.where(known, like, 0.0)

        return Citations(self.corpus, (int(self.bags.urls[document]) for document in query.documents), closeness)

    def rerank_candidates(
        self, query: Query, signals: QuerySignals, k: int, alpha: float, eligible: Eligible, fold: Fold | None,
        entries: int = LIST_ENTRIES,
    ) -> RankedDocuments:  # fmt: skip
        """Rank the likeliest documents by their signals; take more candidates where near-duplicates fill all places."""
        linked = signals.candidates()
        linked = linked[eligible(linked) & (self.bags.inlinks[linked] >= self.strategy.signature.min_inlinks)]
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
        """Rank documents by estimated similarity, as Figure 11 does; take more where near-duplicates fill all places."""
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
        """Divide the ranked documents above α into at most k groups of near-duplicates, or give each by itself.

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
        return fold_copies(np.concatenate((query.sketch[None], self.bags.sketches(documents))))

    @cached_property
    def _signal_reader(self) -> SignalReader:
        return SignalReader(self.bags, LinkColumns.of(self.corpus.kin), self._compiled)

    def signals(self, query: Query, wish: str = "") -> QuerySignals:
        """Return the signals between a query and documents, weighed as the strategy does for a wish."""
        return QuerySignals(self._signal_reader, query, self.strategy.signals_for(wish))

    def similarities(self, query: Query, documents: Array) -> npt.NDArray[np.float64]:
        """Return the weighted Jaccard similarity of each document's bag, whatever other signals say."""
        return self._signal_reader.exact.jaccard(query.terms, query.weights, query.total, documents)

    def rerank(self, signals: QuerySignals, documents: Array, alpha: float = 0.0) -> tuple[Array, Array]:
        """Return the documents above α with their score, the best first, ties by document."""
        similarity = signals.scores(documents)
        above = similarity > alpha
        documents, similarity = documents[above], similarity[above]
        order = np.lexsort((documents, -similarity))
        return documents[order], similarity[order]

    # -- which documents may be answers ------------------------------------------------------------------------------

    @cached_property
    def _url_sites(self) -> tuple[Array, list[str]]:
        """Return the site number of each URL, and the names of the sites: for bags from elsewhere."""
        return sites_of_urls(self.corpus.urls)

    def _eligible(self, query: Query, options: RankingOptions, keep: npt.NDArray[np.bool_] | None = None) -> Eligible:
        sites = options.sites
        if sites not in ("all", "other", "same"):
            raise RelatedError(f"sites is one of: all, other, same; not {sites!r}")
        own_sites: Array = np.zeros(0, np.int64)
        site: Array = own_sites
        if sites != "all" and query.sites:
            site, names = self._url_sites[0][self.bags.urls], self._url_sites[1]
            own_sites = np.array([names.index(name) for name in query.sites if name in names], np.int64)
        elif sites != "all":
            if self.facts["site_rule"] == "none":
                raise RelatedError(
                    f"{self.corpus.kin.path} holds pages of one host only, so there are no other sites to ask for or to "
                    "leave out."
                )
            if not query.documents:
                raise RelatedError("which sites are other ones is not known for a page outside the collection.")
            site = self.bags.sites
            own_sites = np.unique(site[list(query.documents)])

        def eligible(documents: Array) -> Array:
            may = np.ones(len(documents), np.bool_)
            for document in query.documents:
                may &= documents != document
            if sites != "all":
                may &= np.isin(site[documents], own_sites, invert=sites == "other")
            if options.captured_only:
                may &= self.captured(documents)
            if keep is not None and len(keep):
                pages = self.bags.pages(documents)
                may &= (pages >= 0) & keep[pages]
            return may

        return eligible

    def captured(self, documents: Array) -> npt.NDArray[np.bool_]:
        """Return whether each document's own page was read."""
        return np.asarray(self.bags.pages(documents) >= 0)

    def only_lists(self, url: str) -> bool:
        """Return whether a URL's page only lists others, so that its links do not count."""
        document = self.bags.document(self.corpus.url_number(url))
        return document >= 0 and bool(self._signal_reader.worth(np.array([document]))[0] < 1)

    # -- results for people ------------------------------------------------------------------------------------------

    def display_term(self, term: str) -> str:
        """Return a term for people: for an address its page's title, if it has one."""
        if "://" not in term:
            return term
        document = self.bags.document(self.corpus.url_number(term))
        return (self.title(document) if document >= 0 else "") or term

    def title(self, document: int) -> str:
        """Return the page's title, or the text that most links to it have."""
        number = int(self.bags.urls[document])
        pages = self.corpus.pages_of(number)
        if pages:
            return self.corpus.titles.text(pages[0])
        texts = map(self.corpus.anchor_text, self.corpus.anchors_in(number)[:8].tolist())
        common = Counter(filter(None, texts)).most_common(1)
        return common[0][0] if common else ""

    def _result(
        self, query: Query, one: RelatedDocument, estimated: bool, citations: Citations | None, above: float
    ) -> Result:
        numbers = [int(self.bags.urls[document]) for document in (one.document, *one.copies)]
        aliases = [alias for number in numbers for alias in self.corpus.aliases_of(number)]
        terms = shared_terms(self.corpus, self.bags, query, one.document) if citations else ()
        return Result(
            url=self.corpus.url(numbers[0]),
            title=self.title(one.document) if one.similarity >= above else "",
            similarity=one.similarity,
            error=margin(one.similarity, self.index.m) if estimated else 0.0,
            captured=bool(self.corpus.pages_of(numbers[0])),
            copies=(*map(self.corpus.url, numbers[1:]), *aliases),
            terms=terms,
            citations=citations.best_for(numbers[0], [shared.term for shared in terms]) if citations else (),
        )

    def heaviest(self, document: int, count: int) -> list[tuple[str, float, list[str]]]:
        """Return (term for people, weight, where from) of a bag's heaviest terms (Figure 14)."""
        terms, weights = self.bags.bag(document)
        origins = self.bags.origins(document)
        order = np.lexsort((terms, -weights))[:count]
        return [
            (self.bags.term_text(self.corpus, int(terms[i])), float(weights[i]), Origin(int(origins[i])).names())
            for i in order.tolist()
        ]


def _with_signals(results: list[Result], ranked: RankedDocuments, signals: QuerySignals) -> list[Result]:
    """Add to each result what its signals contribute to its score, the most first."""
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
