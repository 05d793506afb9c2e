"""From groups of documents to a label within budgets: the same for leaves and for routers above them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import TypeVar

import numpy as np

from pagekin.clusters import TERM_ATTRIBUTES
from pagekin.labels import model
from pagekin.labels.membership import TermFilter
from pagekin.store import Array
from pagekin.text import ANALYSER

T = TypeVar("T")
ROUTER_CLUSTERS = 50
"""Sub-clusters of a router's label, as in the paper."""
SHOWN = 10
"""Addresses and heaviest words of a sub-cluster, at most."""
_SHOWN = (SHOWN, 3, 0)


@dataclass(frozen=True)
class LabelBudget:
    """Size limits of a label: `terms` per sub-cluster and for the whole, `bytes` of the JSON form including filters."""

    terms: int = 500  # as in the paper
    clusters: int = 30  # of a leaf, as in the paper
    bytes: int = 4_000_000

    def __post_init__(self) -> None:
        if self.terms < 0 or self.clusters < 1 or self.bytes < 1:
            raise model.LabelError("a label has at least 1 sub-cluster and 1 byte, and no less than 0 terms")


@dataclass(frozen=True)
class Group:
    """A group of documents, with everything that a label could include about it."""

    name: str
    num_docs: int
    size: int
    num_terms: int
    known: int
    """The number of terms without a budget."""
    terms: Sequence[model.Term]
    """As many as the budget of terms allows, the heaviest first."""
    heaviest: tuple[str, ...]
    urls: tuple[str, ...]
    filters: tuple[TermFilter, ...]
    """Filters, one of which holds all terms of each document; empty if not known."""
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Draft:
    """A label before it is cut to size."""

    name: str
    exact: bool
    whole: Group
    groups: Sequence[Group]
    lost: model.LabelLosses
    """What was already lost."""
    added: tuple[model.AddedTerm, ...]
    words: int
    """The number of words in all documents."""


def label_within(budget: LabelBudget, make_draft: Callable[[int], Draft]) -> model.ContentLabel:
    """Make the fullest label within a budget; `make_draft(n)` drafts it with at most n sub-clusters.

    Filters take at most half of the bytes: those of the sub-clusters give way first, then the whole's. Terms share what
    is left, the heaviest stay longest; if that is too little, addresses go, and at last clusters are merged.
    """
    clusters = budget.clusters
    while True:
        draft = make_draft(clusters)
        if label := _fit_draft(draft, budget):
            return label
        if len(draft.groups) <= 1:
            bare = len(model.label_to_json(_make_label(draft, 0, False, False, 0)))
            raise model.LabelError(
                f"{budget.bytes:,} bytes are too few for a label of this collection: {bare:,} is the least"
            )
        clusters = len(draft.groups) // 2


def _fit_draft(draft: Draft, budget: LabelBudget) -> model.ContentLabel | None:
    """Return the fullest label of a draft within the budget, or None if even the barest is too large."""
    whole = _filter_size([draft.whole])
    every = whole + _filter_size(draft.groups)
    choices = [
        (shown, with_whole, with_clusters)
        for with_whole, with_clusters, size in ((True, True, every), (True, False, whole), (False, False, 0))
        for shown in _SHOWN
        if 2 * size <= budget.bytes
    ]
    for shown, with_whole, with_clusters in choices:
        make = partial(_make_label, draft, shown, with_whole, with_clusters)
        label = make(0)
        # Addresses leave a quarter to the terms, or they are fewer.
        if len(model.label_to_json(label)) > (budget.bytes * 3 // 4 if shown else budget.bytes):
            continue
        # `low` terms are known to fit, `high` are not.
        low, high = 0, budget.terms + 1
        trial = budget.terms
        while high - low > 1:
            fuller = make(trial)
            if len(model.label_to_json(fuller)) <= budget.bytes:
                label, low = fuller, trial
            else:
                high = trial
            trial = (low + high) // 2
        return label
    return None


def _filter_size(groups: Sequence[Group]) -> int:
    """Return the bytes that filters take as base64."""
    return sum((len(one.bits) + 2) // 3 * 4 for group in groups for one in group.filters)


def _make_label(draft: Draft, shown: int, with_whole: bool, with_clusters: bool, terms: int) -> model.ContentLabel:
    """Make the label of a draft with given numbers of addresses, words and terms per group, and with these filters."""
    words, packed = model.pack_terms(group.terms[:terms] for group in (draft.whole, *draft.groups))
    clusters = tuple(
        model.SubCluster(
            number, plain_line(group.name), group.num_docs, group.size, group.num_terms, group.nodes,
            group.urls[:shown], group.heaviest[:shown], packed[number],
            group.filters if with_clusters else (),
        )
        for number, group in enumerate(draft.groups, 1)
    )  # fmt: skip
    dropped = sum(group.known - len(packed[number].steps) for number, group in enumerate(draft.groups, 1))
    without = 0 if with_whole else len(draft.whole.filters)
    without += 0 if with_clusters else sum(len(group.filters) for group in draft.groups)
    lost = model.LabelLosses(draft.lost.terms + dropped, draft.lost.clusters, draft.lost.filters + without)
    whole = draft.whole
    return model.ContentLabel(
        model.LABEL_VERSION, ANALYSER, plain_line(draft.name), whole.num_docs, whole.size, whole.num_terms, draft.exact, lost,
        whole.heaviest[:shown], draft.added, words, packed[0], whole.filters if with_whole else (), clusters,
        draft.words,
    )  # fmt: skip


def heaviest_terms(
    terms: Array, tf: Array, df: Array, weights: Array, most: int, text_of: Callable[[int], str]
) -> list[model.Term]:
    """Return the heaviest terms (word * 6 + attribute) that a label may hold; `text` gives a word's text."""
    order = np.lexsort((terms, -weights))[:most]
    heaviest = []
    for term, times, documents in zip(*(column[order].tolist() for column in (terms, tf, df)), strict=True):
        word, attribute = divmod(term, len(TERM_ATTRIBUTES))
        if model.is_label_word(text := text_of(word)):
            heaviest.append(model.Term(TERM_ATTRIBUTES[attribute], text, times, documents))
    return heaviest


def in_turn(lists: Iterable[Iterable[T]]) -> list[T]:
    """Interleave lists without duplicates: the first of each, then the second of each, and so on."""
    return list(dict.fromkeys(one for turn in zip_longest(*lists) for one in turn if one is not None))


def plain_line(text: str) -> str:
    """Return a name without control characters, at most 200 characters long."""
    return "".join(character for character in text if model.is_plain(character))[:200]
