"""The label of a router, from the labels of its children alone (hypursuit-1996, "Abstraction functions").

Each sub-cluster of a child counts as one document with summed tf; complete link on their terms makes the router's own.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pagekin.bags import preset
from pagekin.bags.words import bag_forms
from pagekin.clusters.terms import ATTRIBUTES, WORDS
from pagekin.labels.build import merge_documents
from pagekin.labels.fitting import ROUTER_CLUSTERS, SHOWN, Budget, Draft, Group, label_within
from pagekin.labels.membership import Filter
from pagekin.labels.model import LARGEST, Added, ContentLabel, LabelError, Lost, SubCluster, Term, without_filters
from pagekin.text.analysis import ANALYSER


@dataclass(frozen=True)
class Merged:
    """A router's label, and where its children's sub-clusters went."""

    label: ContentLabel
    homes: Mapping[str, Mapping[int, int]]
    """For each child the number of its sub-cluster -> the number of the router's. Results are grouped through it."""


@dataclass(frozen=True)
class _Document:
    """A child's sub-cluster, or a whole child."""

    child: str
    part: SubCluster | ContentLabel
    number: int
    terms: dict[int, tuple[int, int]]
    """Term -> tf, df."""


class _Terms:
    """Terms of all children under one numbering: forms of one stem are one term, as in a collection."""

    def __init__(self, labels: Iterable[ContentLabel]) -> None:
        words = sorted({word for label in labels for word in label.words})
        forms = bag_forms(words, preset(WORDS))
        # A label from elsewhere may hold words that we leave out; they stand for themselves.
        self._stem = {word: form or word for word, form in zip(words, forms, strict=True)}
        self._number = {stem: number for number, stem in enumerate(sorted(set(self._stem.values())))}
        self._seen: defaultdict[int, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.width = len(self._number) * len(ATTRIBUTES)

    def rows(self, label: ContentLabel, part: SubCluster | ContentLabel) -> dict[int, tuple[int, int]]:
        """The terms of a part of a label: term -> tf, df."""
        found: dict[int, tuple[int, int]] = {}
        for attribute, word, tf, df in label.rows(part.terms):
            number = self._number[self._stem[word]]
            self._seen[number][word] += tf
            _add(found, number * len(ATTRIBUTES) + ATTRIBUTES.index(attribute), tf, df)
        return found

    def shown(self, term: int) -> str:
        """The most frequent form of a term's word."""
        seen = self._seen[term // len(ATTRIBUTES)]
        return min(seen, key=lambda word: (-seen[word], word))


def _add(rows: dict[int, tuple[int, int]], term: int, tf: int, df: int) -> None:
    before = rows.get(term, (0, 0))
    rows[term] = min(before[0] + tf, LARGEST), min(before[1] + df, LARGEST)


def _summed(rows: Iterable[dict[int, tuple[int, int]]]) -> dict[int, tuple[int, int]]:
    found: dict[int, tuple[int, int]] = {}
    for one in rows:
        for term, (tf, df) in one.items():
            _add(found, term, tf, df)
    return found


class _Router:
    """What the children tell, brought together once."""

    def __init__(self, children: Mapping[str, ContentLabel]) -> None:
        # By name, so that the order in which children come does not matter.
        self.children = dict(sorted(children.items()))
        self.terms = _Terms(self.children.values())
        self.documents = [
            _Document(child, part, number, self.terms.rows(label, part))
            for child, label in self.children.items()
            for number, part in _parts(label)
        ]
        self.weights = _weights([one.terms for one in self.documents], self.terms.width)

    def parts(self, most: int) -> list[list[int]]:
        """Which documents go together, the largest group first."""
        if len(self.documents) <= most:
            found = [[place] for place in range(len(self.documents))]
        else:
            rows = [sorted(one.terms) for one in self.documents]
            offsets = np.cumsum([0, *map(len, rows)])
            tf = [one.terms[term][0] for one, row in zip(self.documents, rows, strict=True) for term in row]
            terms = np.array([term for row in rows for term in row], np.int64)
            found = merge_documents(offsets, terms, np.array(tf, np.int64), self.terms.width, most)
        return sorted(found, key=lambda part: (-sum(self.documents[one].part.num_docs for one in part), part))

    def group(self, part: Sequence[int], most: int, others: Mapping[int, int]) -> Group:
        """What the label may say of some documents; `others` tells in how many groups each word is."""
        documents = sorted((self.documents[one] for one in part), key=lambda one: -one.part.num_docs)
        rows = _summed(one.terms for one in documents)
        weights: defaultdict[int, float] = defaultdict(float)
        for one in part:
            for term, weight in self.weights[one].items():
                weights[term] += weight
        parts = [one.part for one in documents]
        names = dict.fromkeys(one.name for one in parts[:3] if one.name)
        return Group(
            "; ".join(names), *_sums(parts), len(rows), self._terms(rows, weights, most),
            self._heaviest(weights, others), _in_turn([one.urls for one in parts if isinstance(one, SubCluster)]),
            _filters(parts),
        )  # fmt: skip

    def whole(self, most: int) -> Group:
        """All children together, each as one document."""
        labels = list(self.children.values())
        told = [self.terms.rows(label, label) for label in labels]
        inside = [_summed(one.terms for one in self.documents if one.child == child) for child in self.children]
        # What a child tells of its whole may lack terms of its sub-clusters, and the other way round.
        rows = [_larger(first, second) for first, second in zip(told, inside, strict=True)]
        weights: defaultdict[int, float] = defaultdict(float)
        for row in _weights(rows, self.terms.width):
            for term, weight in row.items():
                weights[term] += weight
        summed = _summed(rows)
        # Sub-clusters that share documents may add up to more than their whole.
        counted = _sums([one.part for one in self.documents])
        documents, size, num_terms = map(max, _sums(labels), counted)
        return Group(
            "", documents, size, num_terms, len(summed), self._terms(summed, weights, most), self._heaviest(weights, {}), (),
            _filters(labels),
        )  # fmt: skip

    def _terms(self, rows: Mapping[int, tuple[int, int]], weights: Mapping[int, float], most: int) -> list[Term]:
        order = sorted(rows, key=lambda term: (-round(weights[term], 9), term))[:most]
        return [Term(ATTRIBUTES[term % len(ATTRIBUTES)], self.terms.shown(term), *rows[term]) for term in order]

    def _heaviest(self, weights: Mapping[int, float], others: Mapping[int, int]) -> tuple[str, ...]:
        """Words for people; those that other groups hold, too, weigh less."""
        found: defaultdict[int, float] = defaultdict(float)
        for term, weight in weights.items():
            word = term // len(ATTRIBUTES)
            found[word] += weight / others.get(word, 1)
        order = sorted(found, key=lambda word: (-round(found[word], 9), word))[:SHOWN]
        return tuple(self.terms.shown(word * len(ATTRIBUTES)) for word in order)


def _parts(label: ContentLabel) -> list[tuple[int, SubCluster | ContentLabel]]:
    """The numbered sub-clusters of a child; a child without is one of its own, numbered 0."""
    return [(one.number, one) for one in label.clusters] or [(0, label)]


def _sums(parts: Sequence[SubCluster | ContentLabel]) -> tuple[int, int, int]:
    """(documents, bytes, terms) of all, at most."""
    documents, size, terms = (
        min(sum(getattr(one, name) for one in parts), LARGEST) for name in ("num_docs", "size", "num_terms")
    )
    return documents, size, terms


def _larger(a: dict[int, tuple[int, int]], b: dict[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
    return {term: max(a.get(term, (0, 0)), b.get(term, (0, 0))) for term in sorted({*a, *b})}


def _weights(rows: Sequence[dict[int, tuple[int, int]]], width: int) -> list[dict[int, float]]:
    """w_ki of the terms of each document (equations 6 to 8)."""
    from pagekin.clusters.terms import TermCounts, weigh_terms

    ordered = [sorted(row) for row in rows]
    offsets = np.cumsum([0, *map(len, ordered)])
    terms = np.array([term for row in ordered for term in row], np.int64)
    tf = np.array([one[term][0] for one, row in zip(rows, ordered, strict=True) for term in row], np.int64)
    made = weigh_terms(TermCounts(offsets, terms, np.minimum(tf, 2**31 - 1).astype(np.int32), width))
    found = []
    for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        found.append(dict(zip(terms[start:end].tolist(), made.weights[start:end].tolist(), strict=True)))
    return found


def _in_turn(lists: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The first of each list, then the second of each, and so on."""
    longest = max(map(len, lists), default=0)
    found = dict.fromkeys(one[turn] for turn in range(longest) for one in lists if turn < len(one))
    return tuple(found)[:SHOWN]


def _filters(parts: Sequence[SubCluster | ContentLabel]) -> tuple[Filter, ...]:
    """The filters of all parts side by side, none twice; none if a part has none."""
    if not all(one.filters for one in parts):
        return ()
    found = {(one.keys, one.bits): one for part in parts for one in part.filters}
    return tuple(found[key] for key in sorted(found))


def _share_documents(labels: Sequence[ContentLabel]) -> bool:
    """Whether children may hold the same documents: filters tell, since those of different leaves differ."""
    if not all(label.filters for label in labels):
        return len(labels) > 1
    seen = [{(one.keys, one.bits) for one in label.filters} for label in labels]
    return len(set().union(*seen)) < sum(map(len, seen))


def router_label(
    name: str, children: Mapping[str, ContentLabel], budget: Budget | None = None, added: Iterable[Added] = ()
) -> Merged:
    """The label of a router with these children by name; their order does not matter."""
    budget = budget or Budget(clusters=ROUTER_CLUSTERS)
    if not children:
        raise LabelError(f"{name} has no child with a label, so there is nothing to tell")
    told = {child: label if label.analyser == ANALYSER else without_filters(label) for child, label in children.items()}
    router = _Router(told)
    labels = list(router.children.values())
    whole = router.whole(budget.terms)
    extra = tuple(sorted({*added, *(one for label in labels for one in label.added)}))
    exact = all(label.exact for label in labels) and not _share_documents(labels)
    before = [
        min(sum(getattr(label.lost, field) for label in labels), LARGEST // 2)
        for field in ("terms", "clusters", "filters")
    ]
    words = min(sum(label.num_words for label in labels), LARGEST)
    chosen: list[list[int]] = []

    def drafted(most: int) -> Draft:
        chosen[:] = router.parts(most)
        held: defaultdict[int, int] = defaultdict(int)
        for part in chosen:
            for word in {term // len(ATTRIBUTES) for one in part for term in router.documents[one].terms}:
                held[word] += 1
        groups = [router.group(part, budget.terms, held) for part in chosen]
        lost = Lost(before[0], before[1] + len(router.documents) - len(chosen), before[2])
        return Draft(name, exact, whole, groups, lost, extra, words)

    label = label_within(budget, drafted)
    homes: dict[str, dict[int, int]] = {child: {} for child in router.children}
    for number, part in enumerate(chosen, 1):
        for one in part:
            homes[router.documents[one].child][router.documents[one].number] = number
    return Merged(label, homes)
