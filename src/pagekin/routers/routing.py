"""Which children may hold a match, judged by their labels alone."""

import math
import operator
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np
import numpy.typing as npt

from pagekin.bags import bag_forms, preset_strategy
from pagekin.clusters import TERM_ATTRIBUTES, TERM_PRESET
from pagekin.collection import query_words
from pagekin.labels import (
    LARGEST_COUNT,
    ContentLabel,
    FilterBank,
    LabelTerms,
    TermKeys,
    probes_of,
    term_key,
    without_filters,
)
from pagekin.text import (
    ANALYSER,
    And,
    Not,
    Or,
    Query,
    Some,
    Stats,
    analyse,
    asked_forms,
    form_key,
    form_of,
    weigh_query,
)

Mask = npt.NDArray[np.bool_]
NOT_TOGETHER = "no group of its pages holds all words"
"""Why a child was skipped that may hold each word, but not together."""
_CORI_SMOOTH, _CORI_LENGTH, _CORI_LEAST = 50.0, 150.0, 0.4


def matching(query: Query, holds: Callable[[str | None, str], Mask], everything: Mask) -> Mask:
    """Mark the groups of documents that may hold a match of a query.

    `holds` marks the groups that may hold a word under an attribute. NOT takes no group out: a group that holds a word
    holds documents without it, too.
    """
    if isinstance(query, Not):
        return everything
    if isinstance(query, And | Or | Some):
        parts = [matching(part, holds, everything) for part in query.parts]
        return reduce(operator.and_ if isinstance(query, And) else operator.or_, parts)
    return reduce(operator.and_, [holds(query.attribute, word) for word in query.words])


Pairs = tuple[tuple[str | None, str], ...]
"""The words of a query, each with its attribute."""


@lru_cache(4096)
def _query_probes(query: Query) -> tuple[Pairs, TermKeys]:
    """Return (the words that a query asks for, their keys in filters).

    Cached, since the same query is asked at many routers.
    """
    pairs = tuple(query_words(query))
    # By the word: the stem of a stem is another.
    return pairs, probes_of(np.array([term_key(word, attribute or "text") for attribute, word in pairs], np.uint64))


@dataclass(frozen=True)
class Verdict:
    """The children to ask, and why the others are skipped."""

    ask: tuple[str, ...]
    """Names, the most promising first if they were ranked."""
    skipped: Mapping[str, str]


class RoutingTable:
    """The labels of a router's children, laid out to be queried together."""

    def __init__(self, labels: Mapping[str, ContentLabel], counts: "Mapping[str, LabelCounts] | None" = None) -> None:
        """Take labels by name, and their counts as far as they are known from another table."""
        self.labels = {
            name: label if label.analyser == ANALYSER else without_filters(label) for name, label in labels.items()
        }
        self.names = list(self.labels)
        filters, owner = [], []
        for place, label in enumerate(self.labels.values()):
            parts = [cluster.filters for cluster in label.clusters]
            # Sub-clusters tell which words stand together; where one has no filter, the whole's is all there is.
            mine = [one for part in parts for one in part] if parts and all(parts) else list(label.filters)
            filters += mine
            owner += [place] * len(mine)
        whole = [(place, one) for place, label in enumerate(self.labels.values()) for one in label.filters]
        children, self._groups = len(self.names), len(filters)
        self._bank = FilterBank(filters + [one for _place, one in whole])
        """The filters of groups of pages, and after them those of wholes."""
        self._owner = np.array(owner + [children + place for place, _one in whole], np.int64)
        """The child of each; of those of wholes, as many more as there are children."""
        with_filters = np.bincount(self._owner, minlength=2 * children) > 0
        self._without_filters, self._blind = ~with_filters, ~with_filters[:children]
        self._everything = np.ones(len(self._owner), np.bool_)
        self._with_filters = np.flatnonzero(with_filters[:children])
        self._first = np.searchsorted(self._owner, self._with_filters)
        """Where the filters of each child that has some begin."""
        self._added = [
            {(one.attribute, analyse([one.word])[0]) for one in label.added} for label in self.labels.values()
        ]
        known = counts or {}
        self.counts = {name: known.get(name) or LabelCounts(label) for name, label in self.labels.items()}
        self._counts = list(self.counts.values())
        self._last: tuple[Pairs, Mask] | None = None
        """The words of the last query, and which filter may hold which."""
        self._last_df: tuple[Pairs, list[list[int | None]]] | None = None
        """The same words, and their document frequency at each child, if its label has it."""

    def judge(self, query: Query, routing: str = "filters", ask: int = 0) -> Verdict:
        """Choose the children that may hold a match; if `ask` is not 0, at most that many, the most promising."""
        reasons: dict[str, str] = {}
        if routing == "terms":
            reasons = self._by_terms(query)
        elif routing == "filters":
            reasons = self._by_filters(query)
        chosen = [name for name in self.names if name not in reasons]
        if ask and len(chosen) > ask:
            scores = self.cori(query)
            chosen.sort(key=lambda name: (-scores[name], name))
            for name in chosen[ask:]:
                reasons[name] = f"{ask} others promise more"
            chosen = chosen[:ask]
        return Verdict(tuple(chosen), reasons)

    def _by_filters(self, query: Query) -> dict[str, str]:
        """Return the children whose filters rule a match out, and why."""
        pairs, held = self._find_holders(query)
        column = {pair: held[:, place] for place, pair in enumerate(pairs)}
        added = {pair: self._has_added(*pair) for pair in pairs} if any(self._added) else {}
        for pair, here in added.items():
            column[pair] = column[pair] | here[self._owner % len(here)]
        children = len(self.names)
        may_hold = self._without_filters.copy()
        may_hold[self._owner[matching(query, lambda attribute, word: column[attribute, word], self._everything)]] = True
        # A document's words are all in one filter of the whole, too, which errs about other words than sub-clusters' do.
        out = (~(may_hold[:children] & may_hold[children:])).nonzero()[0]
        if not len(out):
            return {}
        somewhere = self._somewhere(held)
        for place, pair in enumerate(pairs if added else ()):
            somewhere[:, place] |= added[pair]
        reasons: dict[tuple[bool, ...], str] = {}
        skipped = {}
        for place, row in zip(out.tolist(), somewhere[out].tolist(), strict=True):
            there = tuple(row)
            if there not in reasons:
                missing = [form_key(*pair) for pair, held_here in zip(pairs, there, strict=True) if not held_here]
                reasons[there] = f"no page holds {', '.join(missing[:5])}" if missing else NOT_TOGETHER
            skipped[self.names[place]] = reasons[there]
        return skipped

    def _find_holders(self, query: Query) -> tuple[Pairs, Mask]:
        """Return (the words of a query, which filter may hold which), cached: one question asks for it several times."""
        pairs, probes = _query_probes(query)
        last = self._last
        if last is None or last[0] != pairs:
            self._last = last = pairs, self._bank.may_hold_probed(probes)
        return last

    def _document_frequencies(self, pairs: Pairs) -> list[list[int | None]]:
        """Return each word's document frequency at each child, None if the label lacks it; cached."""
        last = self._last_df
        if last is None or last[0] != pairs:
            forms = [(attribute, form_of(word)) for attribute, word in pairs]
            df = [
                [
                    counts.anywhere.get(form) if attribute is None else counts.df(attribute, form)
                    for counts in self._counts
                ]
                for attribute, form in forms
            ]
            self._last_df = last = pairs, df
        return last[1]

    def _somewhere(self, held: Mask) -> Mask:
        """Mark (children, words): which child may hold which word in some group of its pages, by its filters."""
        somewhere = np.zeros((len(self.names), held.shape[1]), np.bool_)
        if len(self._first):
            somewhere[self._with_filters] = np.logical_or.reduceat(held[: self._groups], self._first, axis=0)
        return somewhere

    def _has_added(self, attribute: str | None, word: str) -> Mask:
        """Mark the children that have a word added to their label."""
        form = analyse([word])[0]
        any_of = [attribute] if attribute not in (None, "text") else TERM_ATTRIBUTES
        return np.array([any((one, form) in added for one in any_of) for added in self._added], np.bool_)

    def _by_terms(self, query: Query) -> dict[str, str]:
        """Return the children whose labels lack the terms of a query, as in 1996, and why they are skipped."""

        def holds(attribute: str | None, word: str) -> Mask:
            form = analyse([word])[0]
            asked = attribute if attribute != "text" else None
            listed = np.array([one.df(asked, form) is not None for one in self._counts], np.bool_)
            return np.asarray(listed | self._has_added(attribute, word), np.bool_)

        may = matching(query, holds, np.ones(len(self.names), np.bool_))
        return {self.names[place]: "not among its heaviest terms" for place in np.flatnonzero(~may).tolist()}

    def cori(self, query: Query) -> dict[str, float]:
        """Score how promising each child is, by CORI: by terms that are frequent in it and that few others have."""
        pairs, held = self._find_holders(query)
        may = self._somewhere(held) | self._blind[:, None]
        df = np.zeros(may.shape)
        forms = analyse([word for _attribute, word in pairs])
        for place, counts in enumerate(self._counts):
            for column, (pair, form) in enumerate(zip(pairs, forms, strict=True)):
                known = counts.df(pair[0], form)
                df[place, column] = may[place, column] if known is None else known
        sizes = np.array([label.num_terms for label in self.labels.values()], float)
        in_child = df / (df + _CORI_SMOOTH + _CORI_LENGTH * (sizes / max(sizes.mean(), 1.0))[:, None])
        children = len(self.names)
        spread = np.maximum((df > 0).sum(axis=0), 0.5)
        rare = np.log((children + 0.5) / spread) / math.log(children + 1.0)
        belief = _CORI_LEAST + (1 - _CORI_LEAST) * in_child * np.maximum(rare, 0.0)
        means = belief.mean(axis=1) if len(pairs) else np.zeros(children)
        return dict(zip(self.names, means.tolist(), strict=True))

    def largest_scores(self, query: Query, stats: Stats) -> dict[str, float]:
        """Return an upper bound of the scores at each child, by the words of a question that it may hold.

        Empty for a query that is not for pages with some of its words: of others, the children that are asked hold all.
        """
        if not isinstance(query, Some):
            return {}
        pairs, by_filter = self._find_holders(query)
        if any(attribute for attribute, _word in pairs):
            return {}
        forms = [form for _attribute, form in asked_forms(query)]
        held = np.zeros((self._groups, len(forms)), np.bool_)
        for place, (attribute, word) in enumerate(pairs):
            column = held[:, forms.index(form_of(word))]
            column |= by_filter[: self._groups, place]
            if any(self._added):
                column |= self._has_added(attribute, word)[self._owner[: self._groups]]
        largest = np.full(len(self.names), math.inf)
        if len(self._first):
            # The words of a page stand in one group of its site's pages.
            scores = weigh_query(query, stats).largest_scores(held)
            largest[self._with_filters] = np.maximum.reduceat(scores, self._first)
        return dict(zip(self.names, largest.tolist(), strict=True))

    def fewest_pages(self, names: Iterable[str], query: Query) -> int:
        """Return a lower bound of the pages of some children with some word of a query, from their labels."""
        left = set(names)
        if not left:
            return 0
        frequencies = zip(*self._document_frequencies(_query_probes(query)[0]), strict=True)
        return sum(
            max(df or 0 for df in each) for name, each in zip(self.names, frequencies, strict=False) if name in left
        )

    def words_held(self, words: Sequence[str]) -> dict[str, int]:
        """Return how many of some words each child may hold together, in one group of its pages."""
        keys = np.array([term_key(word) for word in words], np.uint64)
        counts = self._bank.may_hold(keys)[: self._groups].sum(axis=1)
        most = np.zeros(len(self.names), np.int64)
        np.maximum.at(most, self._owner[: self._groups], counts)
        most[self._blind] = len(words)
        return dict(zip(self.names, most.tolist(), strict=True))

    def may_hold(self, word: str) -> bool:
        """Return whether some child may hold a word."""
        held = self._bank.may_hold(np.array([term_key(word)], np.uint64))
        return bool(held.any() or self._blind.any() or self._has_added(None, word).any())

    def stats(self, query: Query) -> Stats:
        """Sum the document frequencies of the query's forms over the children, from their labels.

        Of a term that a label left out, the df is taken to be that of the rarest term it kept; of a stop word, of which
        labels know nothing, that of every page.
        """
        pages = min(sum(label.num_docs for label in self.labels.values()), LARGEST_COUNT)
        df = {}
        pairs, held = self._find_holders(query)
        may = self._somewhere(held) | self._blind[:, None]
        for (attribute, word), maybe, known in zip(
            pairs, may.T.tolist(), self._document_frequencies(pairs), strict=True
        ):
            key = form_key(attribute, form_of(word))
            if _is_stopped(word):
                df[key] = pages
                continue
            df[key] = sum(
                (counts.least if there else 0) if exact is None else exact
                for counts, exact, there in zip(self._counts, known, maybe, strict=True)
            )
        words = min(sum(label.num_words for label in self.labels.values()), LARGEST_COUNT)
        return Stats(analyser=ANALYSER, pages=pages, words=words, df={key: min(n, pages) for key, n in df.items()})


class LabelCounts:
    """Document frequencies of the terms in a label."""

    def __init__(self, label: ContentLabel) -> None:
        self._words: dict[str, list[int]] = {}
        forms = analyse(label.words)
        for word, form in enumerate(forms):
            self._words.setdefault(form, []).append(word)
        whole, inside = _numbers(label.terms), [_numbers(cluster.terms) for cluster in label.clusters]
        df = np.array(label.terms.df, np.int64)
        # Sub-clusters share no documents, so theirs add up.
        summed, place = np.unique(np.concatenate([np.zeros(0, np.int64), *inside]), return_inverse=True)
        parts = np.bincount(
            place, np.concatenate([np.zeros(0), *(cluster.terms.df for cluster in label.clusters)]), len(summed)
        )
        self._terms = np.union1d(whole, summed)
        self._df = np.zeros(len(self._terms), np.int64)
        self._df[np.searchsorted(self._terms, summed)] = parts.astype(np.int64)
        places = np.searchsorted(self._terms, whole)
        self._df[places] = np.maximum(self._df[places], df)
        # Numbers without a NumPy scalar around each.
        self._numbers, self._counts = self._terms.data, self._df.data
        self.anywhere = self._sum_up(forms)
        """Forms -> a lower bound of the documents with them under any attribute; computed once, as every question needs it."""
        self.least = int(df.min(initial=2**53)) if len(df) else 1

    def _sum_up(self, forms: Sequence[str]) -> dict[str, int]:
        """Return each form's highest document frequency in the label under any attribute."""
        most = np.full(len(forms), -1, np.int64)
        np.maximum.at(most, self._terms // len(TERM_ATTRIBUTES), self._df)
        sums: dict[str, int] = {}
        for form, df in zip(forms, most.tolist(), strict=True):
            if df >= 0:
                sums[form] = max(df, sums.get(form, 0))
        return sums

    def df(self, attribute: str | None, form: str) -> int | None:
        """Return the document frequency of a form under an attribute, or None if the label lacks it.

        Under any attribute it is at least the largest of those under one.
        """
        if attribute is None:
            return self.anywhere.get(form)
        count, kind = -1, TERM_ATTRIBUTES.index(attribute)
        for word in self._words.get(form, ()):
            number = word * len(TERM_ATTRIBUTES) + kind
            place = bisect_left(self._numbers, number)
            if place < len(self._numbers) and self._numbers[place] == number:
                count = max(count, self._counts[place])
        return count if count >= 0 else None


@lru_cache(4096)
def _is_stopped(word: str) -> bool:
    """Return whether a word is a stop word, which labels do not contain."""
    return word.isalpha() and not bag_forms([word], preset_strategy(TERM_PRESET))[0]


def _numbers(terms: LabelTerms) -> npt.NDArray[np.int64]:
    return np.cumsum(np.array(terms.steps, np.int64)) - 1
