"""The words of a service, for completing queries and for spelling suggestions."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from pagekin.collection import Collection, Service, ServiceError, corpus_words
from pagekin.hypertext import fold_case
from pagekin.labels import ContentLabel
from pagekin.text import NearWords, tokens

_COMMON = 100_000
"""The most words, the commonest, among which those that are spelt alike are looked for."""
_HIGHEST = "\U0010ffff"
_MOST_PAGES, _LONGEST_TITLE = 50_000, 60
"""Larger collections offer no titles, and no collection longer ones."""


class CorpusWords:
    """The words of a collection as on its pages, by frequency; cached with the collection."""

    def __init__(self, collection: Collection) -> None:
        self._collection, self._corpus = collection, collection.corpus
        self._order = self._corpus.term_table.order

    def with_prefix(self, prefix: str, most: int) -> list[tuple[str, int]]:
        """Return (word, count) of the words with a prefix, the most frequent first."""
        # No byte of UTF-8 is 255, so the second key lies behind all words with the prefix.
        first, last = (
            bisect_left(self._order, key, key=lambda term: self._corpus.terms[int(term)])
            for key in (prefix.encode(), prefix.encode() + b"\xff")
        )
        terms = np.asarray(self._order[first:last])
        if len(terms) > most:
            terms = np.partition(terms, most - 1)[:most]
        counts = self._corpus.term_table.count
        return [(self._corpus.word(term), int(counts[term])) for term in np.sort(terms).tolist()]

    @cached_property
    def near(self) -> NearWords:
        """Return the most common words, as candidates for other spellings."""
        return self._collection.companion(corpus_words)

    @cached_property
    def _titles(self) -> list[str]:
        """Return the sorted words of short titles; none for a collection that is too large."""
        if len(self._corpus) > _MOST_PAGES:
            return []
        titles = (" ".join(tokens(self._collection.titles.text(page))) for page in range(len(self._corpus)))
        return sorted({title for title in titles if " " in title and len(title) <= _LONGEST_TITLE})

    def titles_with_prefix(self, text: str, most: int) -> list[str]:
        """Return titles that begin with a text, the shortest first."""
        prefix = fold_case(text)
        near = self._titles[bisect_left(self._titles, prefix) : bisect_left(self._titles, prefix + _HIGHEST)]
        return sorted((title for title in near if title != prefix), key=lambda title: (len(title), title))[:most]


class LabelWords:
    """The words of a label, with their counts over all sub-clusters."""

    def __init__(self, label: ContentLabel) -> None:
        counts: Counter[str] = Counter()
        for part in label.clusters or (label,):
            for term in label.rows(part.terms):
                counts[term.word] += term.tf
        self._words: Sequence[str] = sorted(counts)
        self._counts = np.array([counts[word] for word in self._words], np.int64)

    def with_prefix(self, prefix: str, most: int) -> list[tuple[str, int]]:
        """Return (word, count) of the words with a prefix, the most frequent first."""
        first, last = bisect_left(self._words, prefix), bisect_left(self._words, prefix + _HIGHEST)
        best = np.argsort(-self._counts[first:last], kind="stable")[:most] + first
        return [(self._words[place], int(self._counts[place])) for place in best.tolist()]

    @cached_property
    def near(self) -> NearWords:
        """Return the most common words, as candidates for other spellings."""
        order = np.argsort(-self._counts, kind="stable")
        return NearWords([self._words[place] for place in order[:_COMMON].tolist()])

    def titles_with_prefix(self, _text: str, _most: int) -> list[str]:
        """Return nothing: a label has no titles."""
        return []


Vocabulary = CorpusWords | LabelWords


def vocabulary_of(service: Service, collection: Collection | None) -> Vocabulary:
    """Return the words of an open collection, or of a router's label; raise a ServiceError if there are none yet."""
    if collection is not None:
        return collection.companion(CorpusWords)
    return service.companion(_words_of_label)


def _words_of_label(service: Service) -> LabelWords:
    return LabelWords(service.label)


def words_near(service: Service, collection: Collection | None, word: str, most: int) -> list[str]:
    """Return the words that are spelt most like a (folded) one; of equally similar ones, the most common first."""
    try:
        return vocabulary_of(service, collection).near.near(word, most)
    except ServiceError:
        return []
