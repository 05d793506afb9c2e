"""From groups of documents to a label within budgets: the same for leaves and for routers above them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pagekin.labels.membership import TermFilter
from pagekin.labels.model import (
    LABEL_VERSION,
    AddedTerm,
    ContentLabel,
    LabelError,
    LabelLosses,
    SubCluster,
    Term,
    is_plain,
    label_to_json,
    pack_terms,
)
from pagekin.text import ANALYSER

MAX_LABEL_TERMS, MAX_LABEL_BYTES = 500, 4_000_000
"""Terms of a sub-cluster, as in the paper; bytes of the JSON form, filters and all."""
LEAF_CLUSTERS, ROUTER_CLUSTERS = 30, 50
"""Sub-clusters, as in the paper."""
SHOWN = 10
"""Addresses and heaviest words of a sub-cluster, at most."""
_SHOWN = (SHOWN, 3, 0)


@dataclass(frozen=True)
class LabelBudget:
    """How large a label may be: `terms` per sub-cluster and for the whole, `bytes` for the JSON form."""

    terms: int = MAX_LABEL_TERMS
    clusters: int = LEAF_CLUSTERS
    bytes: int = MAX_LABEL_BYTES

    def __post_init__(self) -> None:
        if self.terms < 0 or self.clusters < 1 or self.bytes < 1:
            raise LabelError("a label has at least 1 sub-cluster and 1 byte, and no less than 0 terms")


@dataclass(frozen=True)
class Group:
    """A group of documents, with everything that a label could say about it."""

    name: str
    num_docs: int
    size: int
    num_terms: int
    known: int
    """Terms there would be without a budget."""
    terms: Sequence[Term]
    """As many as the budget of terms allows, the heaviest first."""
    heaviest: tuple[str, ...]
    urls: tuple[str, ...]
    filters: tuple[TermFilter, ...]
    """Each document's terms are all in one of them; none if they are not known."""
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Draft:
    """A label before it is cut to size."""

    name: str
    exact: bool
    whole: Group
    groups: Sequence[Group]
    lost: LabelLosses
    """What is lost already."""
    added: tuple[AddedTerm, ...]
    words: int
    """Words on all documents together."""


@dataclass(frozen=True)
class _Amounts:
    """How much of each group goes into a label."""

    terms: int
    shown: int
    whole_filter: bool
    cluster_filters: bool


def label_within(budget: LabelBudget, make_draft: Callable[[int], Draft]) -> ContentLabel:
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
            bare = len(label_to_json(_make_label(draft, _Amounts(0, 0, False, False))))
            raise LabelError(
                f"{budget.bytes:,} bytes are too few for a label of this collection: {bare:,} is the least"
            )
        clusters = len(draft.groups) // 2


def _fit_draft(draft: Draft, budget: LabelBudget) -> ContentLabel | None:
    """Return the fullest label of a draft within the budget, or None if even the barest is too large."""
    whole = _filter_size([draft.whole])
    every = whole + _filter_size(draft.groups)
    choices = [
        _Amounts(0, shown, with_whole, with_clusters)
        for with_whole, with_clusters, size in ((True, True, every), (True, False, whole), (False, False, 0))
        for shown in _SHOWN
        if 2 * size <= budget.bytes
    ]
    for amounts in choices:
        label = _make_label(draft, amounts)
        # Addresses leave a quarter to the terms, or they are fewer.
        if len(label_to_json(label)) > (budget.bytes * 3 // 4 if amounts.shown else budget.bytes):
            continue
        # `low` terms are known to fit, `high` are not.
        low, high = 0, budget.terms + 1
        trial = budget.terms
        while high - low > 1:
            fuller = _make_label(draft, replace(amounts, terms=trial))
            if len(label_to_json(fuller)) <= budget.bytes:
                label, low = fuller, trial
            else:
                high = trial
            trial = (low + high) // 2
        return label
    return None


def _filter_size(groups: Sequence[Group]) -> int:
    """Return the bytes that filters take as base64."""
    return sum((len(one.bits) + 2) // 3 * 4 for group in groups for one in group.filters)


def _make_label(draft: Draft, amounts: _Amounts) -> ContentLabel:
    """Make the label of a draft with the given amounts of each group."""
    words, packed = pack_terms(group.terms[: amounts.terms] for group in (draft.whole, *draft.groups))
    clusters = tuple(
        SubCluster(
            number, plain_line(group.name), group.num_docs, group.size, group.num_terms, group.nodes,
            group.urls[: amounts.shown], group.heaviest[: amounts.shown], packed[number],
            group.filters if amounts.cluster_filters else (),
        )
        for number, group in enumerate(draft.groups, 1)
    )  # fmt: skip
    dropped = sum(group.known - len(packed[number].steps) for number, group in enumerate(draft.groups, 1))
    without = 0 if amounts.whole_filter else len(draft.whole.filters)
    without += 0 if amounts.cluster_filters else sum(len(group.filters) for group in draft.groups)
    lost = LabelLosses(draft.lost.terms + dropped, draft.lost.clusters, draft.lost.filters + without)
    whole = draft.whole
    return ContentLabel(
        LABEL_VERSION, ANALYSER, plain_line(draft.name), whole.num_docs, whole.size, whole.num_terms, draft.exact, lost,
        whole.heaviest[: amounts.shown], draft.added, words, packed[0], whole.filters if amounts.whole_filter else (), clusters,
        draft.words,
    )  # fmt: skip


def plain_line(text: str) -> str:
    """Return a name without control characters, at most 200 characters long."""
    return "".join(character for character in text if is_plain(character))[:200]
