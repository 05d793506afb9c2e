"""Signals: several measures of the similarity of two pages. A weighted mean of them ranks related pages.

Each signal lies between 0 and 1 and depends on the two pages and the collection alone, never on the other candidates. So a
score means the same in every answer, and services that divide a collection among them agree with one that holds it whole.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pagekin.bags import Bags, Origin, Signals, link_shares, link_weights
from pagekin.similarity.answers import Query
from pagekin.similarity.exact import ExactSimilarity, filter_for, slots_for
from pagekin.similarity.links import DocumentLinks
from pagekin.store import Array, Numbering, ReadAhead, batch_ranges, is_among

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
_MOST_COUNTED = 1 << 16
"""Numbers of pages for which the rarity of a term is looked up; for terms that more pages say it is worked out each time."""


def inverse_frequency(pages: Array, of: int) -> npt.NDArray[np.float64]:
    """Return the inverse document frequency of terms on this many of all pages; positive even for a term on every page."""
    return np.asarray(1.0 + np.log((1.0 + of) / (1.0 + pages)))


class LinkedDocuments:
    """The documents near a query by links, with their link signals.

    `sources` are the documents asked about; `targets` those that a page outside the collection links to.
    """

    def __init__(self, links: DocumentLinks, sources: Sequence[int], targets: Array) -> None:
        self._links = links
        nothing = np.zeros(0, np.int64)
        self._out = np.unique(np.concatenate([nothing, *map(links.out, sources), targets]))
        self._into = np.unique(np.concatenate([nothing, *map(links.into, sources)]))
        self._cited_together = _meet(links, self._into, links.out_degrees, links.all_out)
        self._linking_together = _meet(links, self._out, links.in_degrees, links.all_into)
        self._in_weight = float(links.in_weights(np.array(sources, np.int64)).sum())
        self._out_weight = float(link_weights(links.in_degrees(self._out)).sum())

    def candidates(self) -> npt.NDArray[np.int64]:
        """Return the nearest documents by each kind of links."""
        links = self._links
        out = self._out[links.in_order(self._out, links.in_degrees(self._out))]
        into = self._into[links.in_order(self._into, links.out_degrees(self._into))]
        nearest = [_nearest(links, *self._near_cited), _nearest(links, *self._near_linking)]
        return np.unique(np.concatenate([out[:LINKED_CANDIDATES], into[:LINKED_CANDIDATES], *nearest]))

    @cached_property
    def _near_cited(self) -> tuple[Array, Array]:
        documents, both = self._cited_together
        return documents, _as_share(both, self._in_weight, self._links.in_weights(documents))

    @cached_property
    def _near_linking(self) -> tuple[Array, Array]:
        documents, both = self._linking_together
        return documents, _as_share(both, self._out_weight, self._links.out_weights(documents))

    def values(self, documents: Array) -> npt.NDArray[np.float64]:
        """Return (links, cocitation, coupling) of each document."""
        out, into = is_among(documents, self._out), is_among(documents, self._into)
        links = np.zeros((2, len(documents)))
        links[0, out] = _tie(len(self._out), self._links.in_degrees(documents[out]))
        links[1, into] = _tie(len(self._into), self._links.out_degrees(documents[into]))
        cited, linking = _look_up(*self._near_cited, documents), _look_up(*self._near_linking, documents)
        return np.stack([(links[0] + links[1]) / 2, cited, linking], axis=1)


def _nearest(links: DocumentLinks, documents: Array, values: Array) -> Array:
    """Return the documents with the highest values, the highest first; of equal ones the first."""
    if len(documents) > LINKED_CANDIDATES:
        least = np.partition(values, len(values) - LINKED_CANDIDATES)[len(values) - LINKED_CANDIDATES]
        documents, values = documents[values >= least], values[values >= least]
    return documents[links.in_order(documents, -values)][:LINKED_CANDIDATES]


def _meet(
    links: DocumentLinks, through: Array, degrees_of: Callable[[Array], Array],
    reached_from: Callable[[Array], tuple[Array, Array]],
) -> tuple[Array, Array]:  # fmt: skip
    """Return (documents, weights) reached through some documents, each of which divides a weight of 1 among its targets."""
    degrees = degrees_of(through)
    order = links.in_order(through, degrees)
    order = order[: max(int(np.searchsorted(np.cumsum(degrees[order]), LINK_ENTRIES, side="right")), 1)]
    reached, sizes = reached_from(through[order])
    weights = np.repeat(link_shares(degrees[order]), sizes)
    documents, place = np.unique(reached, return_inverse=True)
    return documents, np.bincount(place, weights, len(documents))


def _tie(mine: int, theirs: Array) -> npt.NDArray[np.float64]:
    """Return the weight of a link, given the number of links of its source and to its target."""
    return np.asarray(1.0 / np.sqrt(max(mine, 1) * np.maximum(theirs, 1.0)))


def _as_share(both: Array, mine: float, theirs: Array) -> npt.NDArray[np.float64]:
    """Return the weight of common links as a share of both pages' links (a cosine, smoothed for pages with few links)."""
    if not (np.isfinite(mine) and mine >= 0 and bool(np.all(np.isfinite(theirs) & (theirs >= 0)))):
        raise IndexError("the weights of links are none")  # of a damaged collection
    return np.minimum(both / np.sqrt((mine + FEW_LINKS) * (theirs + FEW_LINKS)), 1.0)


def _look_up(known: Array, values: Array, documents: Array) -> npt.NDArray[np.float64]:
    """Return the value of each document, or 0."""
    if not len(known):
        return np.zeros(len(documents))
    place = np.minimum(np.searchsorted(known, documents), len(known) - 1)
    return np.where(known[place] == documents, values[place], 0.0)


class BagReader:
    """Compares a query's words with the bags of one collection, or of one shard. One object serves one query at a time.

    Pass `compiled` for many queries: see `ExactSimilarity`.
    """

    def __init__(self, bags: Bags, compiled: bool = False) -> None:
        self._bags, self._compiled = bags, compiled
        self.exact = ExactSimilarity(bags, compiled)
        self._ahead = ReadAhead()

    def idf(self, terms: Array) -> npt.NDArray[np.float32]:
        """Return the inverse document frequency of some terms."""
        return inverse_frequency(self._bags.own_df[terms], self._bags.own_pages).astype(np.float32)

    @cached_property
    def _idf_of_count(self) -> npt.NDArray[np.float32]:
        """Return a table of inverse document frequencies by count, for the counts of nearly all terms."""
        most = min(self._bags.own_pages + 1, _MOST_COUNTED)
        return inverse_frequency(np.arange(most), self._bags.own_pages).astype(np.float32)

    @cached_property
    def _table(self) -> npt.NDArray[np.float32]:
        """Return a table over all terms for the values of a query; zero before and after each use."""
        return np.zeros((len(self._bags.hashes), 4), np.float32)

    def compare(
        self, terms: Array, weights: Array, total: float, rows: Array, documents: Array
    ) -> npt.NDArray[np.float64]:
        """Return (Jaccard similarity, cosine, containment, title) of each document to a query.

        The query is given by its terms, their weights, the sum of these with unknown terms' and their `query_values`.
        """
        if not self._compiled:
            similarity = self.exact.jaccard(terms, weights, total, documents)
            return np.column_stack([similarity, self._compare_words(terms, rows, documents)])
        self._read_ahead(documents)
        values = self._run_kernel(terms, weights, rows, documents)
        values[:, 0] /= total + values[:, 4] - values[:, 0]
        np.minimum(values[:, 1:4], 1.0, out=values[:, 1:4])
        return values[:, :4]

    def _read_ahead(self, documents: Array) -> None:
        """Ask the operating system for all that comparing documents reads, if it may not be in memory."""
        if self._ahead.is_due():
            bags = self._bags
            bags.read_ahead(self._ahead, documents, [bags.terms, bags.weights, bags.counts, bags.flags])
            self._ahead.ask([bags.own_df], 0, len(bags.own_df))

    def _run_kernel(self, terms: Array, weights: Array, rows: Array, documents: Array) -> npt.NDArray[np.float64]:
        from pagekin.similarity._kernels.signals import BagPlaces, Entries, QueryRows, compare_bags

        bags = self._bags
        entries = Entries(
            bags.terms, bags.weights, np.asarray(bags.counts), np.asarray(bags.flags), bags.offsets,
            np.asarray(bags.own_df), max(bags.mean_length, 1.0),
        )  # fmt: skip
        query = QueryRows(
            np.array(terms, np.uint32), np.array(weights, np.float32), np.array(rows, np.float32), slots_for(terms),
            filter_for(terms), self._idf_of_count, bags.own_pages,
        )  # fmt: skip
        sizes = bags.offsets[documents + 1].astype(np.int64) - bags.offsets[documents].astype(np.int64)
        longest = min(int(sizes.max(initial=0)), len(bags.hashes))  # in a damaged collection it might be anything
        places = BagPlaces(*np.empty((2, longest + 1), np.uint32))
        out = np.empty((len(documents), 5))
        compare_bags(query, entries, _TF, K1, B, documents.astype(np.int64), places, out)
        return out

    def _compare_words(self, terms: Array, rows: Array, documents: Array) -> npt.NDArray[np.float64]:
        """Return (cosine, containment, title) of each document, with numpy."""
        out = np.zeros((len(documents), 3))
        self._read_ahead(documents)
        self._table[terms] = rows
        try:
            starts, ends = (self._bags.offsets[documents + more].astype(np.int64) for more in (0, 1))
            sizes = ends - starts
            for first, last in batch_ranges(np.cumsum(np.append(0, sizes)), _BLOCK):
                out[first:last] = self._compare_block(documents[first:last], sizes[first:last])
        finally:
            self._table[terms] = 0
        return np.minimum(out, 1.0)

    def _compare_block(self, documents: Array, sizes: Array) -> npt.NDArray[np.float64]:
        """Compare some documents with numpy; gives the same sums as the kernel."""
        bags, starts = self._bags, np.cumsum(np.append(0, sizes))[:-1]
        entries = np.repeat(bags.offsets[documents].astype(np.int64) - starts, sizes) + np.arange(int(sizes.sum()))
        terms, weights, counts = bags.terms[entries], bags.weights[entries], bags.counts[entries].astype(np.int64)
        own, idf = self._table[terms].astype(np.float64), self.idf(terms).astype(np.float64)

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


class SignalReader:
    """Measures the signals between a query and documents of a collection or its shards, numbered across the whole.

    One object serves one query at a time.
    """

    def __init__(self, bags: Sequence[Bags], links: DocumentLinks, compiled: bool = False) -> None:
        self.links = links
        self._numbering = Numbering(map(len, bags))
        self._readers = [BagReader(one, compiled) for one in bags]
        self._own_pages, self._mean_length = bags[0].own_pages, max(bags[0].mean_length, 1.0)

    def worth(self, documents: Array) -> npt.NDArray[np.float64]:
        """Return the factor of each document's score: less than 1 for mere lists."""
        return np.where(self.links.only_list(documents), LIST_WORTH, 1.0)

    def query_values(self, query: Query) -> npt.NDArray[np.float32]:
        """Return the table's row for each term of a query: (share of its heaviest weight, TF-IDF, BM25, title)."""
        counts = query.counts.astype(np.int64)
        idf = np.zeros(len(counts))
        for reader, terms in zip(self._readers, query.terms, strict=True):
            known = terms >= 0
            idf[known] = reader.idf(terms[known])
        unknown = query.unknown_counts.astype(np.int64)
        rare = float(inverse_frequency(np.zeros(1), self._own_pages)[0])
        tfidf = _TF[counts] * idf
        norm = np.sqrt(np.sum(tfidf**2) + np.sum((_TF[unknown] * rare) ** 2))
        length = int(counts.sum() + unknown.sum())
        saturation = K1 * (1 - B + B * length / self._mean_length)
        asked, asked_unknown = tfidf * idf, _TF[unknown] * rare**2
        own = np.sum(asked * counts / (counts + saturation)) + np.sum(asked_unknown * unknown / (unknown + saturation))
        titled = np.where((query.origins & Origin.TITLE) != 0, idf, 0.0)
        rows = np.zeros((len(counts), 4), np.float32)
        is_word = (query.origins & (Origin.CONTENT | Origin.TITLE | Origin.ANCHORS)) != 0
        rows[:, _HEAVY] = np.where(is_word, query.weights, 0.0) / max(float(query.weights.max(initial=0)), 1e-30)
        if norm > 0:
            rows[:, _COSINE] = tfidf / norm
            rows[:, _CONTAINED] = asked / own
        if titled.any():
            rows[:, _TITLED] = titled / titled.sum()
        return rows

    def jaccard(self, query: Query, documents: Array) -> npt.NDArray[np.float64]:
        """Return the weighted Jaccard similarity of each document's bag to the query's."""
        similarities = np.zeros(len(documents))
        for part, places, own in self._numbering.split(documents):
            terms, known = query.terms_in(part)
            similarities[places] = self._readers[part].exact.jaccard(terms, query.weights[known], query.total, own)
        return similarities

    def compare(self, query: Query, rows: Array, documents: Array) -> npt.NDArray[np.float64]:
        """Return (Jaccard similarity, cosine, containment, title) of each document, given a query's `query_values`."""
        compared = np.zeros((len(documents), 4))
        for part, places, own in self._numbering.split(documents):
            terms, known = query.terms_in(part)
            compared[places] = self._readers[part].compare(terms, query.weights[known], query.total, rows[known], own)
        return compared


def score_signals(values: Array, weights: Array, worth: Array) -> npt.NDArray[np.float64]:
    """Return the scores of documents with these signals, by weights that sum to 1: see `QuerySignals.scores`."""
    return np.asarray(np.round((np.sqrt(values) @ weights) ** 2 * worth, 7))


class QuerySignals:
    """The signals between one query and documents, and the weights that make a score of them."""

    def __init__(self, reader: SignalReader, query: Query, weights: Signals) -> None:
        self._reader, self._query = reader, query
        each = np.array(weights.weights())
        self.weights: npt.NDArray[np.float64] = each / each.sum()

    @cached_property
    def _links(self) -> LinkedDocuments:
        return LinkedDocuments(self._reader.links, self._query.documents, self._query.targets)

    @cached_property
    def _rows(self) -> npt.NDArray[np.float32]:
        return self._reader.query_values(self._query)

    def candidates(self) -> npt.NDArray[np.int64]:
        """Return documents that are near by links, if links count."""
        return self._links.candidates() if self.weights[_LINKS].any() else np.zeros(0, np.int64)

    def values(self, documents: Array) -> npt.NDArray[np.float64]:
        """Return the signals of each document, a column for each of SIGNALS; signals without weight stay 0."""
        query, signals = self._query, np.zeros((len(documents), len(SIGNALS)))
        if self.weights[_WORDS].any():
            signals[:, : _WORDS.stop] = self._reader.compare(query, self._rows, documents)
        elif self.weights[0] > 0:
            signals[:, 0] = self._reader.jaccard(query, documents)
        if self.weights[_LINKS].any():
            signals[:, _LINKS] = self._links.values(documents)
        return signals * (self.weights > 0)

    def scores(self, documents: Array) -> npt.NDArray[np.float64]:
        """Return the score of each document, rounded to seven places, so that the order of summation does not matter.

        The score is the weighted power mean of the signals with the exponent 1/2: by roots, being a little near in several
        ways counts more than being very near in one. Of one signal alone it is the signal itself. Pages that only list others
        are near many and seldom meant: they count half.
        """
        return score_signals(self.values(documents), self.weights, self._reader.worth(documents))

    def shares(self, documents: Array, values: Array) -> npt.NDArray[np.float64]:
        """Return the contribution of each signal to the scores of documents with these values; a row sums to the score."""
        roots = np.sqrt(values) * self.weights
        return np.asarray(roots * roots.sum(axis=1, keepdims=True) * self._reader.worth(documents)[:, None])
