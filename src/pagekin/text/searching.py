"""One query being answered: which pages match, and which of them come first."""

import itertools
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import DecodedPage
from pagekin.store import Array
from pagekin.text import plain
from pagekin.text.analysis import ANALYSER, form_of
from pagekin.text.groups import NO_GROUPS, Groups
from pagekin.text.query import And, Not, Or, Phrase, Query, Some, Word
from pagekin.text.scoring import ATTRIBUTE_BITS, PRESENT, ROW, TEXT_BIT, TITLE_BIT, Places, RankOptions, Terms
from pagekin.text.statistics import QueryWeights, Stats, asked_forms, form_key, inverse_frequency, weigh_query

if TYPE_CHECKING:
    from pagekin.text.index import Form, TextIndex

Mask = npt.NDArray[np.bool_]
_MOST_PLAIN = 5_000
"""Pages that are searched for a phrase without compiled code; for more, loading it pays."""
_ALL_PAGES: Mask = np.zeros(0, np.bool_)
"""An empty mask: every page may match."""


class TextSearch:
    """One query being answered, with the data of its words so far."""

    def __init__(
        self,
        index: "TextIndex",
        query: Query,
        stats: Stats | None = None,
        keep: Mask | None = None,
        groups: Groups = NO_GROUPS,
        weights: QueryWeights | None = None,
    ) -> None:
        """Begin to answer a query; pass `weights` if the weights of the query by `stats` are known already."""
        self._index, self._query, self._stats, self._groups = index, query, stats, groups
        self._weighed = weights
        self._looked_up: tuple[Terms, Callable[[], Places]] | None = None
        self._flags: dict[str, npt.NDArray[np.uint8]] = {}
        if keep is not None and keep.shape != (len(index),):
            raise ValueError(f"the mask is for {len(keep):,} pages, and there are {len(index):,}")
        hidden = index.corpus.hidden
        if hidden is not None:
            keep = ~hidden if keep is None else keep & ~hidden
        self._keep = keep

    # -- which pages match ------------------------------------------------------------------------------------------

    def matches(self) -> Mask:
        """Mark the pages that match and pass the filter; with groups, all pages of a matching group that pass it."""
        keep = self._keep
        among = None if keep is None else self._groups.spread(keep)
        mask = self._matches(self._query, among)
        return mask if keep is None else mask & keep

    def _matches(self, query: Query, among: Mask | None) -> Mask:
        """Return a mask that is right where `among` is set: phrases are not looked for elsewhere."""
        if isinstance(query, And):
            return self._all(query.parts, among)
        if isinstance(query, Or | Some):
            masks = [self._matches(part, among) for part in query.parts]
            return np.asarray(np.logical_or.reduce(masks))
        if isinstance(query, Not):
            return ~self._matches(query.part, among)
        if isinstance(query, Word):
            mask = _under(self._marks(form_of(query.word)), query.attribute)
        else:
            mask = self._phrase(query, among)
        return self._groups.spread(mask)

    def _all(self, parts: tuple[Query, ...], among: Mask | None) -> Mask:
        """Return the pages of `among` that all parts match."""
        words = [(part.attribute, form_of(part.word)) for part in parts if isinstance(part, Word)]
        if self._index.compiled and len(words) > 1:
            index, mask = self._index, np.zeros(len(self._index), np.bool_)
            mask[index.engine.pages_with_all(index.postings, index.terms(words), self._groups)[0]] = True
            among = mask if among is None else among & mask
            parts = tuple(part for part in parts if not isinstance(part, Word))
        # Phrases last: they are looked for only on pages that match all else.
        for part in sorted(parts, key=_has_phrase):
            mask = self._matches(part, among)
            among = mask if among is None else among & mask
        assert among is not None
        return among

    def _marks(self, form: str) -> npt.NDArray[np.uint8]:
        """Return for each page whether it has a form, and under which attributes; see `mark_pages`."""
        flags = self._flags.get(form)
        if flags is None:
            index = self._index
            flags = self._flags[form] = np.zeros(len(index), np.uint8)
            known = index.look_up(form)
            index.engine.mark_pages(index.postings, known.begin, known.end, flags)
        return flags

    def _phrase(self, query: Phrase, among: Mask | None) -> Mask:
        """Return the pages of `among` with a phrase under an attribute, or in the title or the text."""
        forms = [form_of(word) for word in query.words]
        held = self._marks(forms[0])
        for form in forms[1:]:
            held = held & self._marks(form)
        mask = np.zeros(len(held), np.bool_)
        known = [self._index.look_up(form) for form in forms]
        for attribute in [query.attribute] if query.attribute else ["title", "text"]:
            may = _under(held, attribute)
            if among is not None:
                may &= among
            candidates = int(np.count_nonzero(may))
            if candidates:
                self._mark_phrase(known, ATTRIBUTE_BITS[attribute], candidates, may, mask)
        return mask

    def _mark_phrase(self, known: "list[Form]", bit: int, candidates: int, may: Mask, mask: Mask) -> None:
        """Set `mask` for those pages of `may` that have forms in a row under an attribute."""
        index = self._index
        of_term, forms = index.corpus.kin["form.of_term"], np.array([form.number for form in known], np.int64)
        if not index.compiled and candidates <= _MOST_PLAIN:
            plain.mark_phrase(index.corpus, of_term, forms, bit, may, mask)
            return
        from pagekin.text._kernels import search

        if index.has_places:
            search.mark_phrase(index.postings, index.places_of(known), index.runs_under(bit), may, mask)
        else:
            room = DecodedPage.for_longest(index.streams)
            search.mark_phrase_by_streams(index.streams, room, of_term, forms, bit, may, mask)

    # -- in which order ---------------------------------------------------------------------------------------------

    @cached_property
    def stats(self) -> Stats:
        """Return the statistics for scores: the given ones, or the collection's own."""
        if self._stats:
            return self._stats
        index = self._index
        df = {form_key(*pair): index.frequency(*pair) for pair in asked_forms(self._query)}
        return Stats(analyser=ANALYSER, pages=index.corpus.alive, words=index.words, df=df)

    # A cached property takes a lock when it is made, and these are made for every leaf of a network.
    @property
    def _weights(self) -> QueryWeights:
        if self._weighed is None:
            self._weighed = weigh_query(self._query, self.stats)
        return self._weighed

    @property
    def _mean(self) -> float:
        return self._index.mean_length if self._weighed is None and self._stats is None else self._weights.mean

    @property
    def _terms(self) -> Terms:
        return self._terms_and_places[0]

    @property
    def _terms_and_places(self) -> tuple[Terms, Callable[[], Places]]:
        if self._looked_up is None:
            index, pairs = self._index, asked_forms(self._query)
            # The collection's own weights are known by form; gathering them as statistics would take longer than most answers.
            own = self._weighed is None and self._stats is None
            rarity = np.array([index.rarity(pair) for pair in pairs]) if own else self._weights.rarity
            self._looked_up = index.terms_and_places(pairs, rarity)
        return self._looked_up

    def best(self, most: int) -> tuple[int, Array, Array]:
        """Return (how many match, at most `most` pages, their scores), the best first; ties in the order of pages."""
        index, query = self._index, self._query
        if index.compiled and not isinstance(query, Some):
            return self._rank(query, most)
        if isinstance(query, Some):
            total, pages, scores = self._best_of_some(query)
        else:
            mask = self.matches()
            total, (pages, scores) = self._groups.count(mask), self._score(mask.nonzero()[0])
        order = _first_places(scores, most)
        return total, pages[order], scores[order]

    def _rank(self, query: Query, most: int) -> tuple[int, Array, Array]:
        """Do the same in compiled code, which scores only pages that may be among the best."""
        index = self._index
        if _is_words(query):
            keep = _ALL_PAGES if self._keep is None else self._keep
            options = RankOptions(not isinstance(query, Or), self._mean, most, keep)
            ranked = index.ranking.rank_words(index.postings, self._terms, index.bounds, self._groups, options)
        else:
            mask, options = self.matches(), RankOptions(False, self._mean, most, _ALL_PAGES)
            ranked = index.ranking.rank_marked(index.postings, self._terms, index.bounds, self._groups, options, mask)
        total, pages, scores = ranked
        return total, pages, scores

    def _best_of_some(self, query: Some) -> tuple[int, Array, Array]:
        """Return (how many match, pages, their scores).

        Scores are 1 and more for pages that hold all parts, or are called most of them, and less for others.
        """
        if self._index.compiled and self._index.has_places and _is_some_words(query):
            return self._rank_some()
        mask = self.matches()
        pages = mask.nonzero()[0]
        scores = self._index.engine.score_pages(pages, self._index.postings, self._terms, self._mean)
        scores = scores + ROW * self._in_a_row(query, mask)[pages]
        first = (self._matches(And(query.parts), mask) | self._is_called())[pages]
        scores = np.where(first, 1.0 + scores, scores / (1.0 + scores))
        return self._groups.count(mask), *self._index.engine.best_of_groups(pages, scores, self._groups)

    def _rank_some(self) -> tuple[int, Array, Array]:
        """Do the same for words without phrases, in compiled code."""
        from pagekin.text._kernels.some import rank_some

        index, weights = self._index, self._weights
        terms, places = self._terms_and_places
        ranked: tuple[int, Array, Array] = rank_some(
            index.postings, terms, places(), weights.rows, (index.runs_under(TITLE_BIT), index.runs_under(TEXT_BIT)),
            self._groups, weights.mean, weights.least_named, _ALL_PAGES if self._keep is None else self._keep,
        )  # fmt: skip
        return ranked

    def _in_a_row(self, query: Some, among: Mask) -> npt.NDArray[np.float64]:
        """Return for each page the summed inverse frequencies of neighbouring question words that are adjacent on it."""
        rows = np.zeros(len(self._index))
        for first, second in itertools.pairwise(query.parts):
            if isinstance(first, Word) and isinstance(second, Word):
                weight = sum(inverse_frequency(self.stats, form_of(word.word)) for word in (first, second))
                rows[self._phrase(Phrase(None, (first.word, second.word)), among)] += weight
        return rows

    def _is_called(self) -> Mask:
        """Return the pages whose titles or links have all words but one, and enough by inverse frequency."""
        index, named, words = self._index, np.zeros(len(self._index)), np.zeros(len(self._index), np.int64)
        for (_attribute, form), rarity in zip(asked_forms(self._query), self._terms.rarity.tolist(), strict=True):
            mask, number = _under(self._marks(form), "title"), index.look_up(form).number
            if number >= 0:
                called = slice(*index.postings.called_offsets[number : number + 2].tolist())
                mask[index.postings.called_page[called]] = True
            named[mask] += rarity
            words[mask] += 1
        return np.asarray((words >= len(self._terms.rarity) - 1) & (named > self._weights.least_named))

    def _score(self, pages: Array) -> tuple[Array, Array]:
        """Return (pages, scores) with only the best page of each group, given pages in ascending order."""
        engine = self._index.engine
        scores = engine.score_pages(pages, self._index.postings, self._terms, self._mean)
        best: tuple[Array, Array] = engine.best_of_groups(pages, scores, self._groups)
        return best


def _under(flags: npt.NDArray[np.uint8], attribute: str | None) -> Mask:
    """Return the pages whose flags, as `mark_pages` sets them, have an attribute, or any."""
    if attribute is None:
        return (flags & np.uint8(PRESENT)).view(np.bool_)
    return np.asarray(flags & np.uint8(ATTRIBUTE_BITS[attribute] << 1) != 0)


def _is_words(query: Query) -> bool:
    """Return whether a query is a word, or words joined by AND or by OR, and nothing else."""
    return isinstance(query, Word) or (
        isinstance(query, And | Or) and all(isinstance(part, Word) for part in query.parts)
    )


@lru_cache(64)
def _is_some_words(query: Some) -> bool:
    """Return whether a query asks for some of several words, wherever they stand."""
    return all(isinstance(part, Word) and not part.attribute for part in query.parts)


def _has_phrase(query: Query) -> bool:
    if isinstance(query, And | Or | Some):
        return any(map(_has_phrase, query.parts))
    return _has_phrase(query.part) if isinstance(query, Not) else isinstance(query, Phrase)


def _first_places(scores: Array, count: int) -> npt.NDArray[np.int64]:
    """Return the positions of the `count` highest scores, the highest first; ties in order."""
    if not 0 < 4 * count < len(scores):
        return (-scores).argsort(kind="stable")[:count]
    least = np.partition(scores, len(scores) - count)[len(scores) - count]
    among = np.flatnonzero(scores >= least)
    return among[np.argsort(-scores[among], kind="stable")][:count]
