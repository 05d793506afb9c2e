"""The label of a router, from the labels of its children alone (hypursuit-1996, "Abstraction functions").

Each sub-cluster of a child counts as one document with summed tf; complete link on their terms makes the router's own.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from pagekin.bags import BagMatrix, bag_forms, preset_strategy
from pagekin.clusters import TERM_ATTRIBUTES, TERM_PRESET, weigh_terms
from pagekin.hypertext import host_of
from pagekin.labels import fitting
from pagekin.labels.build import merge_documents
from pagekin.labels.membership import TermFilter
from pagekin.labels.model import (
    LARGEST_COUNT,
    AddedTerm,
    ContentLabel,
    LabelError,
    LabelLosses,
    LabelTerms,
    LeafCount,
    SubCluster,
    label_to_json,
    without_filters,
)
from pagekin.store import Array, row_entries
from pagekin.text import ANALYSER

_NAMED = 3
"""Words in the name of a sub-cluster that was merged."""
_COMMON = 0.05
"""The least share of a merged sub-cluster's pages that must hold a word for it to be in the name."""
_SMOOTH = 0.01
MOST_HOPS = 16
"""The greatest number of routers between a leaf and a router that counts it."""
MOST_LEAVES = 10_000
"""Maximum number of leaves that a label names; a label of more leaves names none."""


@dataclass(frozen=True)
class MergedLabel:
    """A router's label, and which of its sub-clusters contain those of its children."""

    label: ContentLabel
    homes: Mapping[str, Mapping[int, int]]
    """For each child: number of its sub-cluster -> number of the router's; used to group results."""
    shares: Mapping[str, float]
    """The share of each child's documents that no other child counts."""


class _Words:
    """The words of all children with common numbers; forms of one stem are one word, as in a collection."""

    def __init__(self, labels: Iterable[ContentLabel]) -> None:
        self._words = sorted({word for label in labels for word in label.words})
        forms = bag_forms(self._words, preset_strategy(TERM_PRESET))
        # A label from elsewhere may hold words that we leave out; they stand for themselves.
        stems = [form or word for word, form in zip(self._words, forms, strict=True)]
        numbers = {stem: number for number, stem in enumerate(sorted(set(stems)))}
        self._number = {word: number for number, word in enumerate(self._words)}
        self.stem_of = np.array([numbers[stem] for stem in stems], np.int64)
        self._seen = np.zeros(len(self._words))
        self.width = len(numbers) * len(TERM_ATTRIBUTES)

    def numbers(self, label: ContentLabel) -> npt.NDArray[np.int64]:
        """Return the numbers of a label's words."""
        return np.array([self._number[word] for word in label.words], np.int64)

    def rows(self, numbers: Array, terms: LabelTerms) -> tuple[Array, Array, Array]:
        """Return (terms, tf, df) of some terms of a label, given the numbers of its words; a term may come twice."""
        places, attributes = np.divmod(np.cumsum(np.array(terms.steps, np.int64)) - 1, len(TERM_ATTRIBUTES))
        words = numbers[places]
        tf = np.array(terms.tf, np.float64)
        np.add.at(self._seen, words, tf)
        return self.stem_of[words] * len(TERM_ATTRIBUTES) + attributes, tf, np.array(terms.df, np.float64)

    def common_forms(self) -> list[str]:
        """Return each stem's most frequent form."""
        order = np.lexsort((np.arange(len(self._words)), -self._seen, self.stem_of))
        first = order[np.append(True, np.diff(self.stem_of[order]) > 0)] if len(order) else order
        return [self._words[word] for word in first.tolist()]


@dataclass(frozen=True)
class _Rows:
    """Terms of several documents as rows of a sparse matrix, ascending, with weights (equations 6 to 8)."""

    offsets: Array
    terms: Array
    tf: Array
    df: Array
    weights: Array

    @classmethod
    def of(cls, rows: Sequence[tuple[Array, Array, Array]], width: int) -> "_Rows":
        """Make the rows of documents; the counts of a term that comes twice in a document are added."""
        nothing = (np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
        document = np.repeat(np.arange(len(rows)), [len(row[0]) for row in rows])
        terms, tf, df = (np.concatenate([nothing[column], *(row[column] for row in rows)]) for column in range(3))
        keys, place = np.unique(document * max(width, 1) + terms, return_inverse=True)
        tf, df = (_whole(np.bincount(place, values, len(keys))) for values in (tf, df))
        offsets = np.searchsorted(keys, np.arange(len(rows) + 1) * max(width, 1))
        terms = keys % max(width, 1)
        weights = weigh_terms(BagMatrix(offsets, terms, tf, width)).weights.astype(np.float64)
        return cls(offsets, terms, tf, df, weights)

    def sum_rows(self, documents: Sequence[int]) -> tuple[Array, Array, Array, Array]:
        """Return (terms, tf, df, weights) of some documents taken as one."""
        rows = row_entries(self.offsets, np.asarray(documents))
        terms, place = np.unique(self.terms[rows], return_inverse=True)
        tf, df = (_whole(np.bincount(place, values[rows], len(terms))) for values in (self.tf, self.df))
        # Rounded, so that sums in another order make no other choice.
        return terms, tf, df, np.round(np.bincount(place, self.weights[rows], len(terms)), 9)


def _whole(sums: Array) -> npt.NDArray[np.int64]:
    """Return sums as whole numbers that JSON can hold."""
    return np.minimum(sums, float(LARGEST_COUNT)).astype(np.int64)


@dataclass(frozen=True)
class _Document:
    """A child's sub-cluster; a child without any counts as one, numbered 0."""

    child: str
    number: int
    part: SubCluster | ContentLabel


class _Router:
    """The contents of the children's labels, combined once."""

    def __init__(self, children: Mapping[str, ContentLabel]) -> None:
        # By name, so that the order in which children come does not matter.
        self.children = dict(sorted(children.items()))
        words = _Words(self.children.values())
        self.width = words.width
        self.documents: list[_Document] = []
        rows, wholes = [], []
        for child, label in self.children.items():
            numbers = words.numbers(label)
            parts: list[tuple[int, SubCluster | ContentLabel]] = [(one.number, one) for one in label.clusters]
            parts = parts or [(0, label)]
            self.documents += (_Document(child, number, part) for number, part in parts)
            inside = [words.rows(numbers, part.terms) for _number, part in parts]
            rows += inside
            wholes.append(_larger(words.rows(numbers, label.terms), inside, words.width))
        self.rows, self._whole = _Rows.of(rows, words.width), _Rows.of(wholes, words.width)
        self._shown = words.common_forms()
        self._num_docs = sum(document.part.num_docs for document in self.documents)
        self._held = np.zeros(self.width // len(TERM_ATTRIBUTES))
        """A lower bound of the pages with each word; labels give counts of their heaviest terms."""
        for one in range(len(self.documents)):
            terms, _tf, df, _weights = self.rows.sum_rows([one])
            distinct, place = np.unique(terms // len(TERM_ATTRIBUTES), return_inverse=True)
            self._held[distinct] += _most(place, df, len(distinct))

    def parts(self, most: int) -> list[list[int]]:
        """Group the documents into at most `most` groups, the largest first."""
        parts = [[place] for place in range(len(self.documents))]
        if len(parts) > most:
            parts = merge_documents(self.rows.offsets, self.rows.terms, self.rows.tf, self.width, most)
        return sorted(parts, key=lambda part: (-sum(self.documents[one].part.num_docs for one in part), part))

    def group(self, part: Sequence[int], most: int) -> fitting.Group:
        """Make the group of some documents, with everything that the label may include."""
        documents = sorted((self.documents[one].part for one in part), key=lambda one: -one.num_docs)
        terms, tf, df, weights = self.rows.sum_rows(part)
        telling = self._telling_words(terms, df, weights, sum(one.num_docs for one in documents))
        name = documents[0].name if len(documents) == 1 else _name_of_group(documents, telling)
        urls = tuple(fitting.in_turn(one.urls for one in documents if isinstance(one, SubCluster))[: fitting.SHOWN])
        heaviest = fitting.heaviest_terms(terms, tf, df, weights, most, self._shown.__getitem__)
        return fitting.Group(name, *_sums(documents), len(terms), heaviest, telling, urls, _filters(documents))

    def whole(self, most: int) -> fitting.Group:
        """Make the group of all children, each taken as one document."""
        labels = list(self.children.values())
        terms, tf, df, weights = self._whole.sum_rows(range(len(labels)))
        # Sub-clusters that share documents may add up to more than their whole.
        counted = _sums([one.part for one in self.documents])
        documents, size, num_terms = map(max, _sums(labels), counted)
        heaviest = fitting.heaviest_terms(terms, tf, df, weights, most, self._shown.__getitem__)
        words = self._heaviest(terms, weights)
        return fitting.Group("", documents, size, num_terms, len(terms), heaviest, words, (), _filters(labels))

    def _heaviest(self, terms: Array, weights: Array) -> tuple[str, ...]:
        """Return the heaviest words, whatever their attributes."""
        words, place = np.unique(terms // len(TERM_ATTRIBUTES), return_inverse=True)
        return self._first(words, np.bincount(place, weights, len(words)))

    def _telling_words(self, terms: Array, df: Array, weights: Array, documents: int) -> tuple[str, ...]:
        """Return words that describe a group to people: those of many of its pages and few others; then the heaviest.

        A word that weighs much on a few pages, somebody's name, tells nothing of the many pages of a router's group.
        """
        words, place = np.unique(terms // len(TERM_ATTRIBUTES), return_inverse=True)
        held = _most(place, df, len(words))
        here = np.minimum(held / max(documents, 1), 1)
        elsewhere = np.minimum((self._held[words] - held) / max(self._num_docs - documents, 1), 1)
        telling = np.where(here < _COMMON, 0, here * np.log((here + _SMOOTH) / (elsewhere + _SMOOTH)))
        chosen = self._first(words[telling > 0], telling[telling > 0])
        return tuple(dict.fromkeys((*chosen, *self._heaviest(terms, weights))))[: fitting.SHOWN]

    def _first(self, words: Array, values: Array) -> tuple[str, ...]:
        """Return the words of the largest values."""
        return tuple(
            self._shown[word] for word in words[np.lexsort((words, -np.round(values, 9)))[: fitting.SHOWN]].tolist()
        )


def _name_of_group(documents: Sequence[SubCluster | ContentLabel], telling: Sequence[str]) -> str:
    """Name a group by its telling words, written as in the names of its parts; words of sites' names only for want of others."""
    hosts = {host_of(url) for one in documents if isinstance(one, SubCluster) for url in one.urls}
    of_sites = {word for host in hosts for word in re.split(r"[^\w]+", host.casefold())}
    forms = {word.casefold(): word for one in reversed(documents) for word in re.findall(r"\w+", one.name)}
    chosen = [word for word in telling if word.casefold() not in of_sites] or telling
    return ", ".join(forms.get(word.casefold(), word[:1].upper() + word[1:]) for word in chosen[:_NAMED])


def _most(place: Array, counts: Array, length: int) -> npt.NDArray[np.float64]:
    """Return the largest of the counts at each place."""
    most = np.zeros(length)
    np.maximum.at(most, place, counts)
    return most


def _larger(
    whole: tuple[Array, Array, Array], inside: Sequence[tuple[Array, Array, Array]], width: int
) -> tuple[Array, Array, Array]:
    """Return (terms, tf, df) of a child; each count is the larger of its whole label's and its sub-clusters'.

    The whole may lack terms of the sub-clusters, and the other way round.
    """
    terms, tf, df = (np.concatenate(column) for column in zip(*inside, strict=True))
    rows = _Rows.of([whole, (terms, tf, df)], width)
    terms, place = np.unique(rows.terms, return_inverse=True)
    return terms, _most(place, rows.tf, len(terms)), _most(place, rows.df, len(terms))


def _sums(parts: Sequence[SubCluster | ContentLabel]) -> tuple[int, int, int]:
    """Return (documents, bytes, terms) summed over all parts: upper bounds, since parts may share some."""
    documents, size, terms = (
        min(sum(getattr(one, name) for one in parts), LARGEST_COUNT) for name in ("num_docs", "size", "num_terms")
    )
    return documents, size, terms


def _filters(parts: Sequence[SubCluster | ContentLabel]) -> tuple[TermFilter, ...]:
    """Return the filters of all parts side by side, none twice; none at all if a part has none."""
    if not all(one.filters for one in parts):
        return ()
    filters = {(one.keys, one.bits): one for part in parts for one in part.filters}
    return tuple(filters[key] for key in sorted(filters))


def _share_documents(labels: Sequence[ContentLabel]) -> bool:
    """Return whether children may hold the same documents.

    Filters show it, since those of different leaves differ.
    """
    if not all(label.filters for label in labels):
        return len(labels) > 1
    seen = [{(one.keys, one.bits) for one in label.filters} for label in labels]
    return len(set().union(*seen)) < sum(map(len, seen))


def router_label(
    name: str,
    children: Mapping[str, ContentLabel],
    budget: fitting.LabelBudget | None = None,
    added: Iterable[AddedTerm] = (),
) -> MergedLabel:
    """Make the label of a router with these children by name; their order does not matter."""
    budget = budget or fitting.LabelBudget(clusters=fitting.ROUTER_CLUSTERS)
    if not children:
        raise LabelError(f"{name} has no child with a label, so it has no label either")
    usable = {
        child: label if label.analyser == ANALYSER else without_filters(label) for child, label in children.items()
    }
    leaves, shares = share_leaves(usable)
    router = _Router({child: _scale(usable[child], share) for child, share in shares.items() if share})
    labels = list(router.children.values())
    whole = router.whole(budget.terms)
    extra = tuple(sorted({*added, *(one for label in labels for one in label.added)}))
    exact = all(label.exact for label in labels) and not _share_documents(labels)
    terms, clusters, filters = (
        min(sum(getattr(label.lost, field) for label in labels), LARGEST_COUNT // 2)
        for field in ("terms", "clusters", "filters")
    )
    words = min(sum(label.num_words for label in labels), LARGEST_COUNT)
    chosen: list[list[int]] = []

    def make_draft(most: int) -> fitting.Draft:
        chosen[:] = router.parts(most)
        groups = [router.group(part, budget.terms) for part in chosen]
        lost = LabelLosses(terms, clusters + len(router.documents) - len(chosen), filters)
        return fitting.Draft(name, exact, whole, groups, lost, extra, words)

    label = msgspec.structs.replace(fitting.label_within(budget, make_draft), leaves=leaves)
    if leaves and min(shares.values()) < 1:
        label = msgspec.structs.replace(label, num_docs=min(sum(leaf.documents for leaf in leaves), LARGEST_COUNT))
    homes: dict[str, dict[int, int]] = {child: {} for child in children}
    for number, part in enumerate(chosen, 1):
        for one in part:
            homes[router.documents[one].child][router.documents[one].number] = number
    return MergedLabel(label, homes, shares)


def share_leaves(children: Mapping[str, ContentLabel]) -> tuple[tuple[LeafCount, ...], dict[str, float]]:
    """Return the leaves that a router with these children sums, each once, and the share of each child that counts.

    A leaf that several children name counts for the one that is nearest to it. So where networks stand below each other,
    what comes back by way of another router adds nothing, and a leaf that is gone is forgotten: each time that it comes
    around it is one hop farther away, until it is too far. A child that names no leaves counts wholly.
    """
    nearest: dict[str, tuple[int, str]] = {}
    for child, label in sorted(children.items()):
        for leaf in label.leaves:
            way = leaf.hops, child
            nearest[leaf.identity] = min(way, nearest.get(leaf.identity, way))
    shares: dict[str, float] = {}
    leaves: list[LeafCount] = []
    for child, label in children.items():
        near = [leaf for leaf in label.leaves if leaf.hops < MOST_HOPS]
        own = [leaf for leaf in near if nearest[leaf.identity] == (leaf.hops, child)]
        leaves += (LeafCount(leaf.identity, leaf.documents, leaf.hops + 1) for leaf in own)
        every = sum(leaf.documents for leaf in label.leaves)
        counted = sum(leaf.documents for leaf in own)
        shares[child] = counted / every if every else float(len(own) == len(label.leaves))
    if not any(shares.values()):
        return (), dict.fromkeys(children, 1.0)
    return tuple(sorted(leaves)) if len(leaves) <= MOST_LEAVES else (), shares


def _scale(label: ContentLabel, share: float) -> ContentLabel:
    """Return a label that counts only a share of its documents, because another child counts the others."""
    if share == 1:
        return label

    def scale(part: SubCluster | ContentLabel) -> dict[str, Any]:
        documents = max(round(share * part.num_docs), 1)
        df = tuple(min(max(round(share * df), 1), documents) for df in part.terms.df)
        tf = tuple(max(round(share * times), held) for times, held in zip(part.terms.tf, df, strict=True))
        terms = msgspec.structs.replace(part.terms, tf=tf, df=df)
        return {"num_docs": documents, "size": round(share * part.size), "terms": terms}

    clusters = tuple(
        msgspec.structs.replace(cluster, **(fields := scale(cluster)), urls=cluster.urls[: fields["num_docs"]])
        for cluster in label.clusters
    )
    return msgspec.structs.replace(
        label, **scale(label), clusters=clusters, num_words=round(share * label.num_words), exact=False
    )


def cut_label(label: ContentLabel, budget: fitting.LabelBudget) -> ContentLabel:
    """Cut a label to a smaller budget, from the label alone: one parent may ask for less than others do.

    The `nodes` of a sub-cluster are the numbers of those sub-clusters of the label that are in it.
    """
    room = budget
    while True:
        merged = router_label(label.name, {label.name: label}, room)
        inside: dict[int, list[int]] = {}
        for number, home in merged.homes[label.name].items():
            inside.setdefault(home, []).append(number)
        clusters = tuple(
            msgspec.structs.replace(cluster, nodes=tuple(sorted(inside[cluster.number])))
            for cluster in merged.label.clusters
        )
        cut = msgspec.structs.replace(merged.label, clusters=clusters, waiting=label.waiting, leaves=label.leaves)
        # What is told besides takes some bytes, too.
        over = len(label_to_json(cut)) - budget.bytes
        if over <= 0:
            return cut
        room = replace(room, bytes=room.bytes - over)
