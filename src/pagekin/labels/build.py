"""The content label of a collection, from its clusters and within budgets: the abstraction functions of a leaf."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags.words import Vocabulary
from pagekin.clusters import Tree
from pagekin.clusters.complete import complete_link
from pagekin.clusters.terms import (
    ATTRIBUTES,
    TermCounts,
    count_terms,
    term_similarity,
    term_words,
    weigh_terms,
)  # fmt: skip
from pagekin.hypertext import Corpus
from pagekin.labels.membership import Filter, attribute_keys
from pagekin.labels.model import (
    VERSION,
    Added,
    ContentLabel,
    LabelError,
    Lost,
    SubCluster,
    Term,
    is_plain,
    is_word,
    pack_terms,
    to_json,
)  # fmt: skip

Array = npt.NDArray[Any]
MAX_TERMS, MAX_CLUSTERS, MAX_BYTES = 500, 30, 4_000_000
"""Terms of a sub-cluster, and sub-clusters, as in the paper; bytes of the JSON form, filters and all."""
_SHOWN = (10, 3, 0)
"""Addresses and heaviest words of a sub-cluster: as many as the bytes allow."""


@dataclass(frozen=True)
class _Group:
    """The documents of a sub-cluster, or all, with everything that could be said of them."""

    name: str
    nodes: tuple[int, ...]
    central: tuple[int, ...]
    pages: npt.NDArray[np.int64]
    terms: npt.NDArray[np.int64]
    """Different terms, rising: word * 6 + attribute."""
    tf: npt.NDArray[np.int64]
    df: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    """Sums of w_ki (equation 8) over the documents."""
    order: npt.NDArray[np.int64]
    """The places of the terms, the heaviest first."""


@dataclass(frozen=True)
class _Room:
    """How much of each group goes into a label."""

    terms: int
    shown: int
    whole_filter: bool
    cluster_filters: bool


class _Leaf:
    """A collection's terms, counted and weighed once, and labels of different sizes made from them."""

    def __init__(self, corpus: Corpus, tree: Tree, threads: int) -> None:
        self.corpus, self.tree = corpus, tree
        self.words: Vocabulary = term_words(corpus)
        self.counted = count_terms(corpus, self.words, threads)
        self.weights = weigh_terms(self.counted).weights
        self.sizes = np.asarray(corpus.kin["page.html_bytes"]).astype(np.int64)
        self.texts: dict[int, str] = {}
        self.whole = self.group("", (0,), (), np.arange(len(corpus)))
        # Pages that hold a word, under the attribute under which most do.
        self.held_by = np.ones(len(self.words.shown), np.int64)
        np.maximum.at(self.held_by, self.whole.terms // len(ATTRIBUTES), self.whole.df)

    def group(self, name: str, nodes: tuple[int, ...], central: tuple[int, ...], pages: Array) -> _Group:
        """The group of these pages."""
        starts, ends = self.counted.offsets[pages], self.counted.offsets[pages + 1]
        lengths = ends - starts
        rows = np.repeat(ends - np.cumsum(lengths), lengths) + np.arange(int(lengths.sum()))
        terms, place = np.unique(self.counted.terms[rows], return_inverse=True)
        tf = np.bincount(place, self.counted.counts[rows], len(terms)).astype(np.int64)
        weights: npt.NDArray[np.float64] = np.asarray(
            np.bincount(place, self.weights[rows].astype(np.float64), len(terms)), np.float64
        )
        df = np.bincount(place, minlength=len(terms))
        return _Group(name, nodes, central, pages, terms, tf, df, weights, np.lexsort((terms, -weights)))

    def groups(self, max_clusters: int) -> tuple[list[_Group], int]:
        """(the sub-clusters, the largest first; how many clusters were merged into others).

        They are the collection's clusters, as many as were asked for. If these are too many, each counts as one
        document with summed tf, and complete link on terms merges them, as routers do with their children's.
        """
        nodes = chosen_nodes(self.tree)
        found = [self._of_nodes((node,)) for node in nodes]
        lost = max(0, len(found) - max_clusters)
        if lost:
            offsets = np.cumsum([0, *(len(one.terms) for one in found)])
            terms, counts = (np.concatenate([getattr(one, name) for one in found]) for name in ("terms", "tf"))
            documents = TermCounts(offsets, terms, np.minimum(counts, 2**31 - 1).astype(np.int32), self.counted.width)
            labels = complete_link(term_similarity(weigh_terms(documents)), max_clusters).labels()
            parts = (np.flatnonzero(labels == label).tolist() for label in range(max_clusters))
            found = [self._of_nodes(tuple(nodes[place] for place in part)) for part in parts]
        return sorted(found, key=lambda one: (-len(one.pages), one.nodes)), lost

    def _of_nodes(self, nodes: tuple[int, ...]) -> _Group:
        by_size = sorted(nodes, key=lambda node: (-len(self.tree.pages_of(node)), node))
        described = [self.tree.described[node] for node in by_size if self.tree.described]
        # Of merged clusters the largest give the name and the central pages, in turn.
        name = "; ".join(dict.fromkeys(one.name for one in described[:3] if one.name))
        central = [one.central[turn] for turn in range(10) for one in described if turn < len(one.central)]
        pages = np.unique(np.concatenate([self.tree.pages_of(node) for node in nodes]))
        return self.group(name, nodes, tuple(dict.fromkeys(central)), pages)

    def filter(self, group: _Group) -> Filter:
        """The filter over all terms of a group: each word, and each word under another attribute than text."""
        words, attributes = np.divmod(group.terms, len(ATTRIBUTES))
        hashes = self.words.hashes[words]
        return Filter.of(np.concatenate([hashes, attribute_keys(hashes, attributes)]))

    def shown(self, word: int) -> str:
        """A word in its most common form, as Figure 5 shows terms."""
        if word not in self.texts:
            self.texts[word] = self.corpus.word(int(self.words.shown[word]))
        return self.texts[word]

    def terms(self, group: _Group, most: int) -> list[Term]:
        """The heaviest terms of a group."""
        order = group.order[:most]
        found = []
        for term, tf, df in zip(*(column[order].tolist() for column in (group.terms, group.tf, group.df)), strict=True):
            word, attribute = divmod(term, len(ATTRIBUTES))
            if is_word(text := self.shown(word)) and len(text) <= 500:
                found.append(Term(ATTRIBUTES[attribute], text, tf, df))
        return found

    def heaviest(self, group: _Group, most: int) -> tuple[str, ...]:
        """The heaviest words of a group for people, whatever their attributes.

        In a sub-cluster, words that most pages of the collection hold weigh little: site furniture would come first.
        """
        words, place = np.unique(group.terms // len(ATTRIBUTES), return_inverse=True)
        weights = np.bincount(place, group.weights, len(words))
        if group is not self.whole:
            weights = weights * np.log((len(self.corpus) + 1) / self.held_by[words])
        order = np.lexsort((words, -weights))[:most]
        texts = (self.shown(word) for word in words[order].tolist())
        return tuple(text for text in texts if is_word(text) and len(text) <= 500)

    def urls(self, group: _Group, most: int) -> tuple[str, ...]:
        """Addresses of a group, those of central pages first."""
        found: dict[str, None] = {}
        for page in [*group.central, *group.pages[:most].tolist()]:
            url = self.corpus.page_url(page)
            if len(found) < most and len(url) <= 8000 and is_word(url):
                found[url] = None
        return tuple(found)


def leaf_label(
    corpus: Corpus,
    tree: Tree,
    max_terms: int = MAX_TERMS,
    max_clusters: int = MAX_CLUSTERS,
    max_bytes: int = MAX_BYTES,
    added: Iterable[Added] = (),
    threads: int = 1,
) -> ContentLabel:
    """The label of a collection by its tree of clusters; `lost` says what the budgets left out.

    `max_terms` is for each sub-cluster and for the whole, `max_bytes` for all of the JSON form. Filters take at most
    half of the bytes: those of the sub-clusters give way first, then the whole's. Terms share what is left, the heaviest
    stay longest; if that is too little, addresses go, and at last clusters are merged.
    """
    if max_terms < 0 or max_clusters < 1 or max_bytes < 1:
        raise LabelError("a label has at least 1 sub-cluster and 1 byte, and no less than 0 terms")
    leaf = _Leaf(corpus, tree, threads)
    extra = tuple(sorted(set(added)))
    while True:
        groups, lost = leaf.groups(max_clusters)
        if label := _fitted(leaf, groups, lost, max_terms, max_bytes, extra):
            return label
        if len(groups) <= 1:
            bare = len(to_json(_made(leaf, groups, lost, _Room(0, 0, False, False), extra, [])))
            raise LabelError(f"{max_bytes:,} bytes are too few for a label of this collection: {bare:,} is the least")
        max_clusters = len(groups) // 2


def chosen_nodes(tree: Tree) -> list[int]:
    """The clusters of the level that was asked for, which hold every page once; of other trees the root's children."""
    return list(tree.facts.get("shown") or tree.children[0] or [0])


def _fitted(
    leaf: _Leaf, groups: Sequence[_Group], lost: int, max_terms: int, max_bytes: int, added: tuple[Added, ...]
) -> ContentLabel | None:
    """The fullest label of these groups within the budgets, if there is one."""
    filters = [leaf.filter(group) for group in (leaf.whole, *groups)]
    sizes = [(len(one.bits) + 2) // 3 * 4 for one in filters]
    rooms = [
        _Room(0, shown, whole, clusters)
        for whole, clusters, size in ((True, True, sum(sizes)), (True, False, sizes[0]), (False, False, 0))
        for shown in _SHOWN
        if 2 * size <= max_bytes
    ]
    for room in rooms:
        label = _made(leaf, groups, lost, room, added, filters)
        # Addresses leave a quarter to the terms, or they are fewer.
        if len(to_json(label)) > (max_bytes * 3 // 4 if room.shown else max_bytes):
            continue
        # `low` terms are known to fit, `high` are not.
        low, high = 0, max_terms + 1
        trial = max_terms
        while high - low > 1:
            made = _made(leaf, groups, lost, replace(room, terms=trial), added, filters)
            if len(to_json(made)) <= max_bytes:
                label, low = made, trial
            else:
                high = trial
            trial = (low + high) // 2
        return label
    return None


def _made(
    leaf: _Leaf, groups: Sequence[_Group], lost: int, room: _Room, added: tuple[Added, ...], filters: list[Filter]
) -> ContentLabel:
    """The label of these groups with so much of each."""
    words, packed = pack_terms(leaf.terms(group, room.terms) for group in (leaf.whole, *groups))
    clusters = tuple(
        SubCluster(
            number, _line(group.name), len(group.pages), int(leaf.sizes[group.pages].sum()), len(group.terms),
            group.nodes, leaf.urls(group, room.shown), leaf.heaviest(group, room.shown), packed[number],
            (filters[number],) if room.cluster_filters else (),
        )
        for number, group in enumerate(groups, 1)
    )  # fmt: skip
    dropped = sum(len(group.terms) - len(packed[number].steps) for number, group in enumerate(groups, 1))
    without = (0 if room.whole_filter else 1) + (0 if room.cluster_filters else len(groups))
    return ContentLabel(
        VERSION, _line(leaf.corpus.kin.path.stem), len(leaf.corpus), int(leaf.sizes.sum()), len(leaf.whole.terms), True,
        Lost(dropped, lost, without), leaf.heaviest(leaf.whole, room.shown), added, words, packed[0],
        (filters[0],) if room.whole_filter else (), clusters,
    )  # fmt: skip


def _line(text: str) -> str:
    """A name that a label may carry."""
    return "".join(character for character in text if is_plain(character))[:200]
