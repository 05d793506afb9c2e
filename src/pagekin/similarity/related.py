"""Related pages: `RelatedIndex` is an open collection that answers which pages are related to which, and why."""

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import (
    Bags,
    Origin,
    Strategy,
    StrategyError,
    fold_copies,
    strategy_of_index,
)
from pagekin.hypertext import Corpus, ReadPage, canonical_url, host_of, site_of, sites_of_urls, unknown_url_message
from pagekin.similarity.answers import Answer, GroupedDocuments, Query, RelatedError, Result, UrlList
from pagekin.similarity.exact import ExactSimilarity
from pagekin.similarity.explain import Citation, Citations, SharedTerm, shared_terms
from pagekin.similarity.lists import Eligible, SignatureIndex
from pagekin.similarity.makers import make_maker
from pagekin.store import KinError, open_kin

Array = npt.NDArray[Any]
DEPTH = 400
"""Candidates that are compared exactly. With ENTRIES chosen by measuring recall, bytes and time: see docs/benchmarks.md."""
LIST_ENTRIES = 16_000
"""Entries of the lists that are read for candidates, at most."""
_FILTERED = 16
_DEEPER = 8
_Z = 1.96


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
        self._exact: ExactSimilarity | None = None

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
        if len(documents) == 1:
            terms, weights = self.bags.bag(documents[0])
            origins = self.bags.origins(documents[0])
            signature = self.index.rows[documents[0]]
        else:
            terms, weights, origins = self._mean(documents)
            signature = self.maker.sign(self.bags.hashes[terms], weights)
        total = float(np.sum(weights, dtype=np.float64))
        query = Query(terms, weights, total, signature, documents, origins, name=" ".join(urls))
        if len(documents) == 1:
            query = replace(query, sketch=self.bags.sketches(np.array(documents))[0])
        return query

    def _mean(self, documents: tuple[int, ...]) -> tuple[Array, Array, Array]:
        """Return (terms, weights, origins) of the mean of several bags."""
        parts = [self.bags.bag(document) for document in documents]
        terms, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
        weights = np.bincount(place, np.concatenate([part[1] for part in parts]), len(terms)) / len(documents)
        origins = np.zeros(len(terms), np.uint8)
        np.bitwise_or.at(origins, place, np.concatenate([self.bags.origins(document) for document in documents]))
        return terms, weights.astype(np.float32), origins

    def query_of_html(self, html: bytes | str, name: str = "the page", url: str = "") -> Query:
        """Make a query of a page outside the collection, by its own words and links.

        The encoding of bytes is guessed. Without the page's address `url` only links that name their target in full count.
        """
        from pagekin.bags import page_bag, page_sketch
        from pagekin.hypertext import decode_page, read_strictly
        from pagekin.sources import Limits

        page = read_strictly(html if isinstance(html, str) else decode_page(html, "")[0], Limits())
        links = self._targets(page, url) if self.strategy.outlinks.scale else []
        hashes, weights, origins = page_bag(page.words, page.attributes, self.strategy, self.bags, links)
        if not len(hashes):
            raise RelatedError(f"{name} has no word that counts, so nothing can be related to it.")
        terms = self.bags.find(hashes)
        known = terms >= 0
        if not known.any():
            raise RelatedError(f"{name} shares no word with the {len(self):,} pages of {self.corpus.kin.path}.")
        signature = self.maker.sign(hashes, weights)
        total = float(np.sum(weights, dtype=np.float64))
        own = page_sketch(page.words, page.attributes, self.strategy)
        return Query(terms[known], weights[known], total, signature, (), origins[known], own, name)

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

    def related(
        self,
        url: str | Sequence[str],
        k: int = 10,
        *,
        min_similarity: float | None = None,
        exact: bool = False,
        estimate: bool = False,
        explain: bool = False,
        sites: str = "all",
        fold: bool = True,
        captured_only: bool = False,
    ) -> list[Result]:
        """Return the k pages most similar to a page (or to the mean of several), best first; `answer` tells more."""
        query = self.query_of([url] if isinstance(url, str) else list(url))
        return self.answer(
            query, k, min_similarity=min_similarity, exact=exact, estimate=estimate, explain=explain, sites=sites,
            fold=fold, captured_only=captured_only,
        ).results  # fmt: skip

    def answer(
        self,
        query: Query,
        k: int = 10,
        *,
        min_similarity: float | None = None,
        exact: bool = False,
        estimate: bool = False,
        explain: bool = False,
        sites: str = "all",
        fold: bool = True,
        captured_only: bool = False,
        keep: npt.NDArray[np.bool_] | None = None,
    ) -> Answer:
        """Return the k documents most similar to a query; with `keep`, of those whose captured page it marks.

        By default the documents that agree with it in most of its shortest lists are compared exactly; with `exact` all
        documents are; with `estimate` the answer is Figure 11's, by signatures alone.
        """
        alpha = self.strategy.signature.alpha if min_similarity is None else min_similarity
        eligible = self._eligible(query, sites, captured_only, keep)
        if estimate:
            grouped = self._rank_by_estimate(query, k, alpha, eligible, fold)
        elif exact:
            documents = np.flatnonzero(self.bags.inlinks >= self.strategy.signature.min_inlinks)
            grouped = self._group(query, *self.rerank(query, documents[eligible(documents)]), alpha, k, fold)
        else:
            # Where many documents are no answers, more have to be met to find as many that are.
            entries = (
                LIST_ENTRIES if sites == "all" and not captured_only and keep is None else _FILTERED * LIST_ENTRIES
            )
            grouped = self.rerank_candidates(query, k, alpha, eligible, fold, entries)
        citations = self.citations(query) if explain else None
        results = [
            self._result(query, group, similarity, estimate, citations)
            for group, similarity in zip(grouped.groups, grouped.similarity, strict=True)
        ]
        copies = [self._url(document) for document in grouped.copies]
        return Answer(results, copies, exact, estimate, alpha, grouped.below_threshold)

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
        self, query: Query, k: int, alpha: float, eligible: Eligible, fold: bool = True, entries: int = LIST_ENTRIES
    ) -> GroupedDocuments:
        """Rank the likeliest documents by exact similarity; take more candidates where near-duplicates fill all places."""
        depth = max(DEPTH, first_depth(k) if fold else k)
        while True:
            documents = self.index.candidates(query.signature, depth, entries, eligible).docs
            documents, similarity = self.rerank(query, documents)
            grouped = self._group(query, documents, similarity, alpha, k, fold)
            if not fold or len(grouped.groups) == k or np.count_nonzero(similarity > alpha) < depth:
                return grouped
            depth, entries = _DEEPER * depth, _DEEPER * entries

    def _rank_by_estimate(self, query: Query, k: int, alpha: float, eligible: Eligible, fold: bool) -> GroupedDocuments:
        """Rank documents by estimated similarity, as Figure 11 does; take more where near-duplicates fill all places."""
        wanted = first_depth(k) if fold else k
        while True:
            matched = self.index.similar(query.signature, wanted, alpha, eligible)
            grouped = self._group(query, matched.docs, matched.matches / self.index.m, 0.0, k, fold)
            if len(grouped.groups) < k and alpha > 0 and len(matched.docs) < wanted:
                agreeing = len(self.index.similar(query.signature, None, 0.0, eligible).docs)
                grouped = replace(grouped, below_threshold=agreeing - len(matched.docs))
            if not fold or len(grouped.groups) == k or len(matched.docs) < wanted:
                return grouped
            wanted *= _DEEPER

    def _group(
        self, query: Query, documents: Array, similarity: Array, alpha: float, k: int, fold: bool
    ) -> GroupedDocuments:
        """Divide the ranked documents above α into k groups of near-duplicates, or give each by itself."""
        above = int(np.count_nonzero(similarity > alpha))
        below = len(documents) - above
        documents, similarity = documents[:above], similarity[:above]
        if fold:
            groups, copies = self._fold(query, documents, k)
        else:
            groups, copies = [[d] for d in documents[:k].tolist()], []
        values = dict(zip(documents.tolist(), similarity.tolist(), strict=True))
        return GroupedDocuments(groups, [values[group[0]] for group in groups], copies, below if len(groups) < k else 0)

    def rerank(self, query: Query, documents: Array, alpha: float = 0.0) -> tuple[Array, Array]:
        """Return the documents above α with their exact similarity, the best first, ties by document."""
        if self._exact is None:
            self._exact = ExactSimilarity(self.bags, self._compiled)
        similarity = self._exact.jaccard(query.terms, query.weights, query.total, documents)
        # To seven places, so that sums in another order make no other ranking.
        similarity = np.round(similarity, 7)
        above = similarity > alpha
        documents, similarity = documents[above], similarity[above]
        order = np.lexsort((documents, -similarity))
        return documents[order], similarity[order]

    # -- which documents may be answers ------------------------------------------------------------------------------

    @cached_property
    def _url_sites(self) -> tuple[Array, list[str]]:
        """Return the site number of each URL, and the names of the sites: for bags from elsewhere."""
        return sites_of_urls(self.corpus.urls)

    def _eligible(
        self, query: Query, sites: str, captured_only: bool, keep: npt.NDArray[np.bool_] | None = None
    ) -> Eligible:
        if sites not in ("all", "other", "same"):
            raise RelatedError(f"sites is one of: all, other, same; not {sites!r}")
        out = np.array(sorted(query.documents), dtype=np.int64)
        kin = self.corpus.kin
        own_sites: Array = np.zeros(0, np.int64)
        site: Array = own_sites
        if sites != "all" and query.sites:
            names = self._url_sites[1]
            site = self._url_sites[0][self.bags.urls]
            own_sites = np.array([names.index(name) for name in query.sites if name in names], np.int64)
        elif sites != "all":
            if self.facts["site_rule"] == "none":
                raise RelatedError(
                    f"{kin.path} holds pages of one host only, so there are no other sites to ask for or to leave out."
                )
            if not query.documents:
                raise RelatedError("which sites are other ones is not known for a page outside the collection.")
            site = self.bags.sites
            own_sites = np.unique(site[out])

        def eligible(documents: Array) -> Array:
            may = ~np.isin(documents, out) if len(out) != 1 else documents != out[0]
            if sites == "other":
                may &= ~np.isin(site[documents], own_sites)
            elif sites == "same":
                may &= np.isin(site[documents], own_sites)
            if captured_only:
                may &= self.captured(documents)
            if keep is not None and len(keep):
                pages = self.bags.pages(documents)
                may &= (pages >= 0) & keep[pages]
            return np.asarray(may)

        return eligible

    def captured(self, documents: Array) -> npt.NDArray[np.bool_]:
        """Return whether each document's own page was read."""
        return np.asarray(self.bags.pages(documents) >= 0)

    # -- near-duplicates ---------------------------------------------------------------------------------------------

    def _fold(self, query: Query, documents: Array, k: int) -> tuple[list[list[int]], list[int]]:
        """Return (at most k groups of documents, the best first in each; near-duplicates of the query)."""
        seen = first_depth(k)
        while True:
            some = documents[:seen]
            heads = fold_copies(np.concatenate((query.sketch[None], self.bags.sketches(some))))
            copies: list[int] = [document for document, head in zip(some.tolist(), heads[1:], strict=True) if not head]
            groups: dict[int, list[int]] = {}
            for place, head in enumerate(heads[1:], 1):
                if head in groups or (head == place and len(groups) < k):
                    groups.setdefault(head, []).append(int(some[place - 1]))
            if len(groups) == k or seen >= len(documents):
                return list(groups.values()), copies
            seen *= 4

    # -- results for people ------------------------------------------------------------------------------------------

    def _url(self, document: int) -> str:
        return self.corpus.url(int(self.bags.urls[document]))

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
        said: dict[str, int] = {}
        for anchor in self.corpus.anchors_in(number)[:8].tolist():
            text = self.corpus.anchor_text(anchor)
            if text:
                said[text] = said.get(text, 0) + 1
        return max(said, key=lambda text: said[text]) if said else ""

    def _result(
        self, query: Query, group: list[int], similarity: float, estimated: bool, citations: Citations | None
    ) -> Result:
        document = group[0]
        number = int(self.bags.urls[document])
        copies = [self._url(other) for other in group[1:]]
        copies += [alias for one in group for alias in self.corpus.aliases_of(int(self.bags.urls[one]))]
        terms: tuple[SharedTerm, ...] = ()
        cited: tuple[Citation, ...] = ()
        if citations:
            terms = shared_terms(
                self.corpus, self.bags, (query.terms, query.weights, query.origins), query.total, document
            )
            cited = citations.best_for(number, [shared.term for shared in terms])
        return Result(
            self._url(document),
            self.title(document),
            similarity,
            margin(similarity, self.index.m) if estimated else 0.0,
            bool(self.corpus.pages_of(number)),
            tuple(copies),
            terms,
            cited,
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


def margin(estimate: float, m: int) -> float:
    """Return half the width of the 95 % (Wilson) interval of a similarity estimated from m positions."""
    spread = _Z * math.sqrt(estimate * (1 - estimate) / m + _Z * _Z / (4 * m * m))
    return spread / (1 + _Z * _Z / m)
