"""Signals: how near two pages are, measured in several ways. A weighted mean of them orders related pages.

Each signal lies between 0 and 1 and depends on the two pages and the collection alone, never on the other candidates. So a
score means the same in every answer, and services that divide a collection among them agree with one that holds it whole.
"""

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pagekin.bags import Bags, LinkColumns, Origin, Signals, link_shares, link_weights
from pagekin.similarity.answers import Query
from pagekin.similarity.exact import ExactSimilarity
from pagekin.store import Array, batch_ranges

SIGNALS = tuple(one.name for one in fields(Signals))
"""The names of the signals, in the order in which their values stand."""
_WORDS = slice(SIGNALS.index("tfidf"), SIGNALS.index("title") + 1)
_LINKS = slice(SIGNALS.index("links"), SIGNALS.index("coupling") + 1)
K1, B = 1.2, 0.75
"""BM25's usual parameters."""
FEW_LINKS = 0.25
"""Added to the weight of all links of a page, so that pages with one or two links are not taken for the same by them."""
LINKED_CANDIDATES = 64
"""Candidates by each of: links from the page, links to it, pages that cite both, pages that both cite."""
LINK_ENTRIES = 16_000
"""Links of citing or cited pages that are read, at most; pages with few links first."""
LIST_WORTH = 0.5
"""What the score of a page counts that only lists others."""
_TF = np.concatenate([[0.0], 1.0 + np.log(np.arange(1, 256))])
"""The weight of a term's count on a page: the usual logarithm of TF-IDF."""
_HEAVY, _COSINE, _CONTAINED, _TITLED = range(4)
_BLOCK = 1 << 20


def inverse_frequency(pages: Array, of: int) -> npt.NDArray[np.float64]:
    """Return how rare terms are that so many pages say, of all pages; a term that all say still counts a little."""
    return np.asarray(1.0 + np.log((1.0 + of) / (1.0 + pages)))


class LinkedDocuments:
    """The documents that are near a query by links, with what each signal of links says of them.

    `sources` are the documents asked about; `targets` those that a page outside the collection links to.
    """

    def __init__(self, links: LinkColumns, sources: Sequence[int], targets: Array | None = None) -> None:
        self._links = links
        out = [_span(links.out_offsets, links.out, one) for one in sources]
        into = [_span(links.in_offsets, links.into, one) for one in sources]
        self._out = np.unique(np.concatenate([*out, np.zeros(0, np.int64), *([] if targets is None else [targets])]))
        self._into = np.unique(np.concatenate([*into, np.zeros(0, np.int64)]))
        self._cited_together = self._meet(self._into, links.out_offsets, links.out)
        self._linking_together = self._meet(self._out, links.in_offsets, links.into)
        own = np.array(sources, np.int64)
        self._in_weight = float(links.in_weight[own].sum())
        self._out_weight = float(link_weights(_degrees(links.in_offsets, self._out)).sum())

    def _meet(self, through: Array, offsets: Array, ends: Array) -> tuple[Array, Array]:
        """Return (documents, weights) reached from the documents `through`, of which each divides 1 among all that it reaches."""
        degrees = _degrees(offsets, through)
        order = np.argsort(degrees, kind="stable")
        order = order[: max(int(np.searchsorted(np.cumsum(degrees[order]), LINK_ENTRIES, side="right")), 1)]
        pieces = [_span(offsets, ends, int(one)) for one in through[order].tolist()]
        if not pieces:
            return np.zeros(0, np.int64), np.zeros(0)
        weights = np.repeat(link_shares(degrees[order]), [len(piece) for piece in pieces])
        documents, place = np.unique(np.concatenate(pieces), return_inverse=True)
        return documents, np.bincount(place, weights, len(documents))

    def candidates(self) -> npt.NDArray[np.int64]:
        """Return the nearest documents by each kind of links."""
        out = self._out[np.argsort(_degrees(self._links.in_offsets, self._out), kind="stable")]
        into = self._into[np.argsort(_degrees(self._links.out_offsets, self._into), kind="stable")]
        cited, linking = self._near_cited(), self._near_linking()
        nearest = [
            documents[np.argsort(-values, kind="stable")][:LINKED_CANDIDATES] for documents, values in (cited, linking)
        ]
        return np.unique(np.concatenate([out[:LINKED_CANDIDATES], into[:LINKED_CANDIDATES], *nearest]))

    def _near_cited(self) -> tuple[Array, Array]:
        documents, both = self._cited_together
        return documents, _as_share(both, self._in_weight, self._links.in_weight[documents])

    def _near_linking(self) -> tuple[Array, Array]:
        documents, both = self._linking_together
        return documents, _as_share(both, self._out_weight, self._links.out_weight[documents])

    def values(self, documents: Array) -> npt.NDArray[np.float64]:
        """Return (links, cocitation, coupling) of each document."""
        out = np.isin(documents, self._out) * _tie(len(self._out), _degrees(self._links.in_offsets, documents))
        into = np.isin(documents, self._into) * _tie(len(self._into), _degrees(self._links.out_offsets, documents))
        return np.stack(
            [(out + into) / 2, _look_up(*self._near_cited(), documents), _look_up(*self._near_linking(), documents)],
            axis=1,
        )


def _span(offsets: Array, ends: Array, document: int) -> npt.NDArray[np.int64]:
    return np.asarray(ends[int(offsets[document]) : int(offsets[document + 1])], np.int64)


def _degrees(offsets: Array, documents: Array) -> npt.NDArray[np.int64]:
    """Return how many links documents have; raise IndexError for what a damaged collection might hold."""
    degrees = np.asarray(offsets[documents + 1], np.int64) - np.asarray(offsets[documents], np.int64)
    if bool(np.any((degrees < 0) | (degrees >= len(offsets)))):
        raise IndexError("there are no such links")
    return degrees


def _tie(mine: int, theirs: Array) -> npt.NDArray[np.float64]:
    """Return what a link says that is one of so many of its source, and one of so many to its target."""
    return np.asarray(1.0 / np.sqrt(max(mine, 1) * np.maximum(theirs, 1.0)))


def _as_share(both: Array, mine: float, theirs: Array) -> npt.NDArray[np.float64]:
    """Return the weight of common links as a share of both pages' links (a cosine, smoothed for pages with few links)."""
    if not (np.isfinite(mine) and mine >= 0 and bool(np.all(np.isfinite(theirs) & (theirs >= 0)))):
        raise IndexError("the weights of links are none")  # of a damaged collection
    return np.minimum(both / np.sqrt((mine + FEW_LINKS) * (theirs + FEW_LINKS)), 1.0)


def _look_up(known: Array, values: Array, documents: Array) -> npt.NDArray[np.float64]:
    """Return the value of each document, 0 where it has none."""
    if not len(known):
        return np.zeros(len(documents))
    place = np.minimum(np.searchsorted(known, documents), len(known) - 1)
    return np.where(known[place] == documents, values[place], 0.0)


class SignalReader:
    """Measures the signals between a query and documents of an open collection. One object serves one query at a time.

    Pass `compiled` for many queries: see `ExactSimilarity`.
    """

    def __init__(self, bags: Bags, links: LinkColumns, compiled: bool = False) -> None:
        self._bags, self._links, self._compiled = bags, links, compiled
        self.exact = ExactSimilarity(bags, compiled)

    @cached_property
    def _idf(self) -> npt.NDArray[np.float32]:
        """Return how rare each term is."""
        return inverse_frequency(self._bags.own_df, self._bags.own_pages).astype(np.float32)

    @cached_property
    def _table(self) -> npt.NDArray[np.float32]:
        """Return a table over all terms for the values of a query; zero before and after each use."""
        return np.zeros((len(self._bags.hashes), 4), np.float32)

    def worth(self, documents: Array) -> npt.NDArray[np.float64]:
        """Return what a score of each document counts: less than 1 for pages that only list others."""
        return np.where(self._links.lists[documents] > 0, LIST_WORTH, 1.0)

    def links_of(self, query: Query) -> LinkedDocuments:
        """Return what is near a query by links."""
        targets = None
        if not query.documents:
            urls = self._bags.linked_urls(query.terms[(query.origins & Origin.OUTLINKS) != 0])
            targets = np.array([one for url in urls.tolist() if (one := self._bags.document(url)) >= 0], np.int64)
        return LinkedDocuments(self._links, query.documents, targets)

    def _query_values(self, query: Query) -> npt.NDArray[np.float32]:
        """Return the table's row for each term of a query: (share of its heaviest weight, TF-IDF, BM25, title)."""
        counts = query.counts.astype(np.int64)
        idf = self._idf[query.terms].astype(np.float64)
        unknown = query.unknown_counts.astype(np.int64)
        rare = float(inverse_frequency(np.zeros(1), self._bags.own_pages)[0])
        tfidf = _TF[counts] * idf
        norm = np.sqrt(np.sum(tfidf**2) + np.sum((_TF[unknown] * rare) ** 2))
        length = int(counts.sum() + unknown.sum())
        saturation = K1 * (1 - B + B * length / max(self._bags.mean_length, 1.0))
        asked, asked_unknown = tfidf * idf, _TF[unknown] * rare**2
        own = np.sum(asked * counts / (counts + saturation)) + np.sum(asked_unknown * unknown / (unknown + saturation))
        titled = np.where((query.origins & Origin.TITLE) != 0, idf, 0.0)
        rows = np.zeros((len(query.terms), 4), np.float32)
        is_word = (query.origins & (Origin.CONTENT | Origin.TITLE | Origin.ANCHORS)) != 0
        rows[:, _HEAVY] = np.where(is_word, query.weights, 0.0) / max(float(query.weights.max(initial=0)), 1e-30)
        if norm > 0:
            rows[:, _COSINE] = tfidf / norm
            rows[:, _CONTAINED] = asked / own
        if titled.any():
            rows[:, _TITLED] = titled / titled.sum()
        return rows

    def compare_words(self, query: Query, documents: Array) -> npt.NDArray[np.float64]:
        """Return (cosine, containment, title) of each document."""
        out = np.zeros((len(documents), 3))
        self._table[query.terms] = self._query_values(query)
        try:
            if self._compiled:
                self._run_kernel(documents, out)
            else:
                sizes = np.diff(self._bags.offsets.astype(np.int64))[documents]
                for first, last in batch_ranges(np.cumsum(np.append(0, sizes)), _BLOCK):
                    out[first:last] = self._compare_block(documents[first:last], sizes[first:last])
        finally:
            self._table[query.terms] = 0
        return np.minimum(out, 1.0)

    def _run_kernel(self, documents: Array, out: npt.NDArray[np.float64]) -> None:
        from pagekin.similarity._kernels.signals import Entries, compare_words

        bags = self._bags
        entries = Entries(
            bags.terms, bags.weights, np.asarray(bags.counts), np.asarray(bags.flags), bags.offsets, self._idf,
            max(bags.mean_length, 1.0),
        )  # fmt: skip
        compare_words(self._table, entries, _TF, K1, B, documents.astype(np.int64), out)

    def _compare_block(self, documents: Array, sizes: Array) -> npt.NDArray[np.float64]:
        """Compare some documents by numpy: the same sums as the kernel's."""
        bags, starts = self._bags, np.cumsum(np.append(0, sizes))[:-1]
        entries = np.repeat(bags.offsets[documents].astype(np.int64) - starts, sizes) + np.arange(int(sizes.sum()))
        terms, weights, counts = bags.terms[entries], bags.weights[entries], bags.counts[entries].astype(np.int64)
        own, idf = self._table[terms].astype(np.float64), self._idf[terms].astype(np.float64)

        def add(values: Array) -> npt.NDArray[np.float64]:
            return np.asarray(np.add.reduceat(values, starts))

        value = _TF[counts] * idf
        length = np.repeat(add(counts), sizes)
        saturation = K1 * (1 - B + B * length / max(bags.mean_length, 1.0))
        titled = np.where((bags.flags[entries] & Origin.TITLE) != 0, idf, 0.0)
        with np.errstate(invalid="ignore"):
            theirs = np.nan_to_num(add(titled * own[:, _HEAVY]) / add(titled))
            cosine = np.nan_to_num(add(own[:, _COSINE] * value) / np.sqrt(add(value**2)))
        contained = add(own[:, _CONTAINED] * counts / (counts + saturation))
        ours = add(own[:, _TITLED] * weights) / np.maximum.reduceat(weights, starts)
        return np.stack([cosine, contained, (theirs + ours) / 2], axis=1)


def score_signals(values: Array, weights: Array, worth: Array) -> npt.NDArray[np.float64]:
    """Return the scores that documents with these signals have by weights that add up to 1: see `QuerySignals.scores`."""
    return np.asarray(np.round((np.sqrt(values) @ weights) ** 2 * worth, 7))


class QuerySignals:
    """The signals between one query and documents, and the weights that make a score of them."""

    def __init__(self, reader: SignalReader, query: Query, weights: Signals) -> None:
        self._reader, self._query = reader, query
        each = np.array(weights.weights())
        self.weights: npt.NDArray[np.float64] = each / each.sum()

    @cached_property
    def _links(self) -> LinkedDocuments:
        return self._reader.links_of(self._query)

    def candidates(self) -> npt.NDArray[np.int64]:
        """Return documents that are near by links, if links count."""
        return self._links.candidates() if self.weights[_LINKS].any() else np.zeros(0, np.int64)

    def values(self, documents: Array) -> npt.NDArray[np.float64]:
        """Return the signals of each document, one column for each of SIGNALS; those without weight are left at 0."""
        query, found = self._query, np.zeros((len(documents), len(SIGNALS)))
        if self.weights[0] > 0:
            found[:, 0] = self._reader.exact.jaccard(query.terms, query.weights, query.total, documents)
        if self.weights[_WORDS].any():
            found[:, _WORDS] = self._reader.compare_words(query, documents)
        if self.weights[_LINKS].any():
            found[:, _LINKS] = self._links.values(documents)
        return found * (self.weights > 0)

    def scores(self, documents: Array) -> npt.NDArray[np.float64]:
        """Return the score of each document, to seven places, so that sums in another order rank alike.

        The score is the weighted power mean of the signals with the exponent 1/2: by roots, being a little near in several
        ways counts more than being very near in one. Of one signal alone it is the signal itself. Pages that only list others
        are near many and seldom meant: they count half.
        """
        return score_signals(self.values(documents), self.weights, self._reader.worth(documents))

    def shares(self, documents: Array, values: Array) -> npt.NDArray[np.float64]:
        """Return what each signal contributes to the scores of documents with these values; a row sums to the score."""
        roots = np.sqrt(values) * self.weights
        return np.asarray(roots * roots.sum(axis=1, keepdims=True) * self._reader.worth(documents)[:, None])
