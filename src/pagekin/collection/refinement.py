"""Terms to refine a query with, from the sub-clusters of labels, which represent their pages (hypursuit1996)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pagekin.clusters import Suggestions, is_count, is_furniture
from pagekin.labels import ContentLabel
from pagekin.store import Array
from pagekin.text import Query, analyse, asked_forms, form_of, tokens

Mask = npt.NDArray[np.bool_]
_ENOUGH = 5
"""A term is suggested if this many documents match the query with it, or half of those that match without it."""
_INSIDE = 0.5
"""The share of a narrower term's documents that match the query, at least."""
_BROADER = 1.5
"""How many times as many documents as the query a broader term matches, at least."""
_LOOKED_AT = 3
"""How many times more suggestions are examined than wanted, since some are useless."""
_FEWEST = 3
"""Documents that must hold a word before it is suggested."""


class LabelThesaurus:
    """The words of all sub-clusters of some labels."""

    def __init__(self, labels: Mapping[str, ContentLabel]) -> None:
        numbers: dict[str, int] = {}
        seen: defaultdict[int, Counter[str]] = defaultdict(Counter)
        sizes: list[int] = []
        cells: list[tuple[int, int, int, int]] = []
        for label in labels.values():
            forms = dict(zip(label.words, analyse(label.words), strict=True))
            for cluster in label.clusters:
                tf: Counter[int] = Counter()
                df: dict[int, int] = {}
                for term in label.rows(cluster.terms):
                    word = numbers.setdefault(forms[term.word], len(numbers))
                    seen[word][term.word] += term.tf
                    tf[word] += term.tf
                    df[word] = max(df.get(word, 0), term.df)
                cells += [(len(sizes), word, tf[word], df[word]) for word in tf]
                sizes.append(cluster.num_docs)
        self._number = numbers
        self._shown = [min(seen[n], key=lambda word: (-seen[n][word], word)) for n in range(len(numbers))]
        self._sizes = np.array(sizes, np.float64)
        table = np.array(cells, np.int64).reshape(-1, 4)
        self._cluster, self._word = table[:, 0], table[:, 1]
        self._tf, self._df = table[:, 2].astype(np.float64), table[:, 3].astype(np.float64)

    def suggest(self, pairs: Sequence[tuple[str | None, str]], count: int, plain: bool = False) -> Suggestions:
        """Suggest terms that refine a query, given its words; `plain` as in 1996."""
        numbers = [self._number.get(form, -1) for form in analyse([word for _attribute, word in pairs])]
        words = list(dict.fromkeys(word for word in numbers if word >= 0))
        # The share of each sub-cluster's documents that hold all words, if they stand there independently of one another.
        share = np.ones(len(self._sizes))
        for word in words:
            held = np.zeros(len(self._sizes))
            here = self._word == word
            held[self._cluster[here]] = self._df[here] / np.maximum(self._sizes[self._cluster[here]], 1)
            share *= held
        holding = share > 0
        if not words or not holding.any():
            return Suggestions(0, (), (), ())
        known = int(np.count_nonzero(holding))
        return self._plain(words, holding, known, count) if plain else self._default(words, share, known, count)

    def _plain(self, words: list[int], holding: Array, known: int, count: int) -> Suggestions:
        """Suggest terms by Σ df_c(t) / Σ n_c over the sub-clusters that hold all words.

        Broader and narrower terms are found by the method of Forsyth and Rada.
        """
        inside = holding[self._cluster]
        summed = np.bincount(self._word[inside], self._df[inside], len(self._shown))
        cooccurring = summed / max(float(self._sizes[holding].sum()), 1.0)
        cooccurring[words] = 0
        children = np.setdiff1d(np.flatnonzero(np.isin(self._parents, words)), words)
        total = np.bincount(self._word, self._tf, len(self._shown))
        narrower = children[np.argsort(-total[children], kind="stable")[:count]]
        broader = list(dict.fromkeys(self._parents[words].tolist()))
        return Suggestions(
            known,
            self._best(cooccurring > 0, cooccurring, count),
            self._names([word for word in broader if word >= 0 and word not in words][:count]),
            self._names(narrower.tolist()),
        )

    def _default(self, words: list[int], share: Array, known: int, count: int) -> Suggestions:
        """Suggest terms that are characteristic of the words' sub-clusters: P(t | question) times the log of the lift."""
        both = np.bincount(self._word, self._df * share[self._cluster], len(self._shown))
        df = np.bincount(self._word, self._df, len(self._shown))
        question = float((share * self._sizes).sum())
        in_question = both / max(question, 1e-9)
        lift = in_question / np.maximum(df / max(float(self._sizes.sum()), 1.0), 1e-9)
        may = (df >= _FEWEST) & (lift > 1)
        may[words] = False
        value = in_question * np.log(np.maximum(lift, 1.0))
        # Most of what the word stands with, and more common; or mostly where the question is, and rarer.
        broader = may & (df > 1.5 * question) & (in_question >= 0.25)
        narrower = may & (df < 0.7 * question) & (both / np.maximum(df, 1) >= 0.25)
        return Suggestions(
            known,
            self._best(may & ~broader & ~narrower, value, count),
            self._best(broader, value, count),
            self._best(narrower, both * lift, count),
        )

    @cached_property
    def _parents(self) -> npt.NDArray[np.int64]:
        """Return the broader term of each low term, -1 for others.

        Of the terms in more than one sub-cluster and at most half of them, the third that is in most is high; a low term's
        parent is the high term whose tf is distributed most alike.
        """
        parents = np.full(len(self._shown), -1, np.int64)
        spread = np.bincount(self._word, minlength=len(self._shown))
        kept = np.flatnonzero((spread > 1) & (spread <= len(self._sizes) / 2))
        order = kept[np.argsort(-spread[kept], kind="stable")]
        high, low = order[: -(-len(order) // 3)], order[-(-len(order) // 3) :]
        if not len(high):
            return parents
        towards = self._distributions(high)
        for first in range(0, len(low), 512):
            some = low[first : first + 512]
            parents[some] = high[np.argmax(self._distributions(some) @ towards.T, axis=1)]
        return parents

    def _distributions(self, words: Array) -> npt.NDArray[np.float32]:
        """Return (words, sub-clusters): the tf of each word as a vector of length 1."""
        place = np.full(len(self._shown), -1, np.int64)
        place[words] = np.arange(len(words))
        here = place[self._word] >= 0
        dense = np.zeros((len(words), len(self._sizes)), np.float32)
        dense[place[self._word[here]], self._cluster[here]] = self._tf[here]
        lengths = np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), 1e-30)
        return np.asarray(dense / lengths, np.float32)

    def _best(self, may: Array, value: Array, count: int) -> tuple[str, ...]:
        order = np.argsort(-np.where(may, value, -1.0), kind="stable")[:count]
        return self._names([word for word in order.tolist() if may[word]])

    def _names(self, words: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._shown[word] for word in words)


class AddedTerms:
    """How a term that is added to a query changes its matching documents."""

    def __init__(self, matching: Mask, mask_of: Callable[[str], Mask]) -> None:
        """Take the documents that match the query, and a function that gives those that match a term."""
        self._matching, self._mask_of = matching, mask_of
        self._most = int(np.count_nonzero(matching))
        self._counts: dict[str, tuple[int, int]] = {}

    def _count(self, term: str) -> tuple[int, int]:
        """Return how many documents match the query and the term, and the term alone."""
        if term not in self._counts:
            mask = self._mask_of(term)
            self._counts[term] = int(np.count_nonzero(mask & self._matching)), int(np.count_nonzero(mask))
        return self._counts[term]

    def is_useful(self, term: str) -> bool:
        """Return whether enough documents are left with the term, and fewer than without."""
        return min(_ENOUGH, (self._most + 1) // 2) <= self._count(term)[0] < max(self._most, 2)

    def is_broader(self, term: str) -> bool:
        """Return whether the term is useful and more documents match it than the query."""
        return self.is_useful(term) and self._count(term)[1] > _BROADER * self._most

    def is_narrower(self, term: str) -> bool:
        """Return whether the term is useful and matches fewer documents than the query, most of them among the query's own."""
        both, alone = self._count(term)
        return self.is_useful(term) and alone < self._most and both >= _INSIDE * alone


def without_own_words(
    suggest: Callable[[int], Suggestions], query: Query, count: int, added: AddedTerms | None = None,
    more: Sequence[str] = (),
) -> Suggestions:  # fmt: skip
    """Return at most `count` suggestions of each kind, no two of them forms of one word or of a query word.

    With `added`, each is of use as its kind; then narrower terms are also looked for among `more`.
    """
    seen = {form for _attribute, form in asked_forms(query)}
    suggestions = suggest(_LOOKED_AT * count + len(seen))
    lists: dict[str, tuple[str, ...]] = {}
    fits = {"narrower": added.is_narrower, "broader": added.is_broader, "collocated": added.is_useful} if added else {}
    # What turns out to be no broader goes with the query all the same, so that is asked last.
    others = {"narrower": more, "broader": (), "collocated": suggestions.broader if added else ()}
    for kind in ("narrower", "broader", "collocated"):
        is_fit = fits.get(kind, lambda _term: True)
        kept: list[str] = []
        for word in [*getattr(suggestions, kind), *others[kind]]:
            forms = {form_of(one) for one in tokens(word)}
            key = forms if len(forms) == 1 else {word}
            if forms <= seen or key <= seen or is_furniture(word) or is_count(word):
                continue
            if len(kept) < count and is_fit(word):
                kept.append(word)
                seen |= key
        lists[kind] = tuple(kept)
    return Suggestions(suggestions.pages, lists["collocated"], lists["broader"], lists["narrower"])
