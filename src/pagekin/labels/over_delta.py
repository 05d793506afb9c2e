"""The label of a collection with a delta: the base's label, without hidden pages and with new ones.

Terms of the base's label are counted anew from the pages that came, changed or went. A word that only the delta has is in
a filter of the delta, beside that of the base: whoever asks for it is not sent away. Cost: for the delta and what it hides.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from pagekin.bags import BagMatrix, Vocabulary, bag_forms, preset_strategy
from pagekin.clusters import TERM_ATTRIBUTES, TERM_PRESET, TermSettings, Tree, count_terms_in, weigh_terms
from pagekin.hypertext import Corpus
from pagekin.labels import fitting
from pagekin.labels.build import LeafTerms, mark_unnoted
from pagekin.labels.keep import read_label, write_label
from pagekin.labels.membership import FilterBank, TermFilter, TermKeys
from pagekin.labels.model import ContentLabel, SubCluster, Term, is_word, pack_terms
from pagekin.labels.parts import label_parts
from pagekin.store import Array, KinWriter, row_entries

Key = tuple[str, int]
"""A stem and the place of an attribute."""


class PagesOf(NamedTuple):
    """The pages of a base, or of its delta, that the other one does not have with the same HTML."""

    corpus: Corpus
    trees: Sequence[Tree]
    """Its hierarchies; all nodes of the base's clusters are in the delta's."""
    differ: npt.NDArray[np.int64]
    """Pages that were added, changed or removed, ascending."""
    stay: npt.NDArray[np.bool_]
    """Marks of the pages that are not hidden."""

    def tree(self, name: str) -> Tree | None:
        """Return a hierarchy by its name."""
        return next((tree for tree in self.trees if tree.name == name), None)

    def pages_in(self, nodes: Sequence[int]) -> npt.NDArray[np.int64]:
        """Return the pages of some clusters, also hidden ones, rising."""
        tree = self.tree("clusters")
        held = [tree.pages_of(node) for node in nodes] if tree else []
        return np.unique(np.concatenate([np.zeros(0, np.int64), *held]))


class _Counts(NamedTuple):
    """How often terms occur on some pages, and on how many of these."""

    tf: dict[Key, int]
    df: dict[Key, int]


class _Went:
    """The terms of removed pages of a base, as its label counted them."""

    def __init__(self, base: PagesOf) -> None:
        self.pages = base.differ
        terms = _different_terms(base.corpus, base.differ)
        stems = _stems([base.corpus.word(term) for term in terms.tolist()])
        names = sorted(set(filter(None, stems)))
        number = {stem: place for place, stem in enumerate(names)}
        stem_of = np.full(len(base.corpus.terms), -1, np.int32)
        stem_of[terms] = [number.get(stem, -1) for stem in stems]
        words = Vocabulary(stem_of, np.zeros(len(names), np.uint32), np.zeros(len(names), np.uint64))
        self.stems = names
        streams = base.corpus.stream_some(self.pages)
        self.counted = mark_unnoted(streams, words, count_terms_in(streams, words))

    def counts(self, pages: Array) -> _Counts:
        """Return the counts of the removed pages among these."""
        rows = np.flatnonzero(np.isin(self.pages, pages))
        entries = row_entries(self.counted.offsets, rows)
        times = self.counted.weights[entries].astype(np.int64)
        terms, place = np.unique(self.counted.terms[entries][times > 0], return_inverse=True)
        tf, df = np.bincount(place, times[times > 0], len(terms)), np.bincount(place, minlength=len(terms))
        return _as_counts(terms, tf, df, self.stems)


def _as_counts(terms: Array, tf: Array, df: Array, stems: Sequence[str] | Mapping[int, str]) -> _Counts:
    """Return counts by stems; those of two words with one stem are added."""
    counts = _Counts({}, {})
    for term, times, pages in zip(terms.tolist(), tf.astype(np.int64).tolist(), df.tolist(), strict=True):
        word, attribute = divmod(term, len(TERM_ATTRIBUTES))
        key = stems[word], attribute
        counts.tf[key] = counts.tf.get(key, 0) + times
        counts.df[key] = counts.df.get(key, 0) + pages
    return counts


def _stems(words: Sequence[str]) -> list[str]:
    """Return the stems that identify the terms of a label; '' for words that it leaves out."""
    return list(bag_forms(words, preset_strategy(TERM_PRESET)))


def _different_terms(corpus: Corpus, pages: Array) -> npt.NDArray[np.int64]:
    every = [np.unique(corpus.words(page)).astype(np.int64) for page in pages.tolist()]
    return np.unique(np.concatenate([np.zeros(0, np.int64), *every]))


class _Came:
    """The terms of pages of a delta, and the keys of its filters."""

    def __init__(self, delta: PagesOf, visiting: Sequence[bytes], threads: int) -> None:
        tree = delta.tree("clusters")
        assert tree is not None
        self.delta, self.leaf = delta, LeafTerms(delta.corpus, tree, threads, delta.tree("documents"))
        self.shown: dict[str, str] = {}
        self._stems: dict[int, str] = {}
        self._visiting = self._keys_of(visiting)

    def counts(self, pages: Array) -> _Counts:
        """Return the counts of the new or changed pages among these."""
        held = self.leaf.pages_of((-1,), np.intersect1d(pages, self.delta.differ))
        self._learn(np.unique(held.terms // len(TERM_ATTRIBUTES)).tolist())
        return _as_counts(held.terms, held.tf, held.df, self._stems)

    def _learn(self, words: list[int]) -> None:
        new = [word for word in words if word not in self._stems]
        texts = [self.leaf.common_form(word) for word in new]
        for word, text, stem in zip(new, texts, _stems(texts), strict=True):
            self._stems[word] = stem or text
            self.shown.setdefault(stem or text, text)

    def keys(self, nodes: tuple[int, ...] | None) -> TermKeys:
        """Return the filter keys of all pages of some clusters, or of the delta."""
        pages = np.arange(len(self.delta.corpus)) if nodes is None else self.delta.pages_in(nodes)
        if not len(pages):
            return np.zeros(0, np.uint64)
        return np.union1d(self.leaf.list_keys(pages), self._visiting)

    def _keys_of(self, words: Sequence[bytes]) -> TermKeys:
        """Return the keys of words that links of the base call the delta's pages."""
        corpus, forms = self.delta.corpus, self.leaf.search_words
        terms = [corpus.terms.find(word, corpus.term_table.order) for word in words]
        places = forms.stem_of[[term for term in terms if term >= 0]]
        return np.unique(forms.hashes[places[places >= 0]])


def put_label_over_delta(
    writer: KinWriter, base: PagesOf, delta: PagesOf, visiting: Sequence[bytes] = (), threads: int = 1
) -> dict[str, Any]:
    """Write the label of a base and its delta with the delta; return the facts about it, none if the base has no label."""
    published = read_label(base.corpus.kin)
    if published is None:
        return {}
    label = label_over_delta(published, base, delta, visiting, threads)
    return write_label(writer, label, label_parts(label))


def label_over_delta(
    published: ContentLabel, base: PagesOf, delta: PagesOf, visiting: Sequence[bytes] = (), threads: int = 1
) -> ContentLabel:
    """Return the label of a base and its delta as one, given the base's: the same sub-clusters with the same names.

    `visiting` are words by which links on the base's pages call pages of the delta: these are found by them, too.
    """
    change = _Change(published, base, delta, _Came(delta, visiting, threads), _Went(base))
    whole, rows = change.part(published, None)
    clusters, of_clusters = [], []
    for one in published.clusters:
        fields, mine = change.part(one, one.nodes)
        clusters.append(msgspec.structs.replace(one, **fields))
        of_clusters.append(mine)
    words, packed = pack_terms([rows, *of_clusters])
    whole["num_terms"] = max([whole["num_terms"], *(one.num_terms for one in clusters)])
    del whole["urls"]
    return msgspec.structs.replace(
        published, **whole, words=words, terms=packed[0], num_words=_words_on(base) + _words_on(delta),
        clusters=tuple(msgspec.structs.replace(one, terms=own) for one, own in zip(clusters, packed[1:], strict=True)),
    )  # fmt: skip


def _words_on(pages: PagesOf) -> int:
    return int(np.diff(np.asarray(pages.corpus.pages.tokens, np.int64))[pages.stay].sum())


class _Change:
    """The parts of a label that changed."""

    def __init__(self, label: ContentLabel, base: PagesOf, delta: PagesOf, came: _Came, went: _Went) -> None:
        self.label, self.base, self.delta, self.came, self.went = label, base, delta, came, went
        self._stem_of = dict(zip(label.words, _stems(label.words), strict=True))
        tree = base.tree("clusters")
        self._factors = TermSettings(**tree.facts.get("terms", {})) if tree else TermSettings()
        self._is_unknown: dict[str, bool] = {}

    def part(
        self, old: ContentLabel | SubCluster, nodes: tuple[int, ...] | None
    ) -> tuple[dict[str, Any], list[Term]]:  # fmt: skip
        """Return the fields of the whole, or of a sub-cluster, as they are now, and its terms."""
        if nodes is None:
            held = [np.arange(len(one.corpus)) for one in (self.base, self.delta)]
        else:
            held = [one.pages_in(nodes) for one in (self.base, self.delta)]
        came, went = self.came.counts(held[1]), self.went.counts(held[0])
        alive = [pages[one.stay[pages]] for pages, one in zip(held, (self.base, self.delta), strict=True)]
        rows, shown = self._rows(old, came, went)
        size = sum(
            int(np.asarray(one.corpus.pages.html_bytes)[pages].astype(np.int64).sum())
            for one, pages in zip((self.base, self.delta), alive, strict=True)
        )
        unknown = self._count_unknown([stem for stem, _attribute in came.df])
        fields = {
            "num_docs": sum(map(len, alive)), "size": size, "num_terms": max(old.num_terms + unknown, len(rows)),
            "heaviest": tuple(word for word in old.heaviest if self._stays(word, shown, came, went)),
            "filters": self._filters(old, nodes),
            "urls": self._urls(old, alive[1]) if isinstance(old, SubCluster) else (),
        }  # fmt: skip
        return fields, rows

    def _count_unknown(self, stems: Sequence[str]) -> int:
        """Return how many of the stems of new pages stand for words that the base does not have."""
        if fresh := [stem for stem in dict.fromkeys(stems) if stem not in self._is_unknown]:
            corpus = self.base.corpus
            words = [self.came.shown[stem].encode() for stem in fresh]
            places = corpus.terms.find_all(words, np.asarray(corpus.term_table.order))
            self._is_unknown |= zip(fresh, (places < 0).tolist(), strict=True)
        return sum(self._is_unknown[stem] for stem in stems)

    def _rows(
        self, old: ContentLabel | SubCluster, came: _Counts, went: _Counts
    ) -> tuple[list[Term], dict[str, str]]:  # fmt: skip
        """Return the terms that a part has now, as many as a label may have, and the words of their stems."""
        shown: dict[str, str] = {}
        tf, df = dict(came.tf), dict(came.df)
        for term in self.label.rows(old.terms):
            key = self._stem_of[term.word] or term.word, TERM_ATTRIBUTES.index(term.attribute)
            shown.setdefault(key[0], term.word)
            tf[key] = tf.get(key, 0) + term.tf
            df[key] = df.get(key, 0) + term.df
        for key, pages in went.df.items():
            if key in df:
                df[key] -= pages
                tf[key] = max(tf[key] - went.tf[key], df[key])
        left = sorted(key for key, pages in df.items() if pages > 0)
        shown |= {stem: self.came.shown[stem] for stem, _attribute in left if stem not in shown}
        stems = sorted({stem for stem, _attribute in left})
        place = {stem: number for number, stem in enumerate(stems)}
        width = len(TERM_ATTRIBUTES)
        terms = np.array([place[stem] * width + attribute for stem, attribute in left], np.int64)
        times, pages_with = (np.array([column[key] for key in left], np.int64) for column in (tf, df))
        matrix = BagMatrix(np.array([0, len(left)]), terms, times, len(stems) * width)
        weights = weigh_terms(matrix, self._factors).weights.astype(np.float64)
        most = fitting.LabelBudget().terms
        rows = fitting.heaviest_terms(terms, times, pages_with, weights, most, lambda word: shown[stems[word]])
        return rows, {stem: shown[stem] for stem in stems}

    def _stays(self, word: str, shown: Mapping[str, str], came: _Counts, went: _Counts) -> bool:
        """Return whether a word that describes a part is still on one of its pages, as far as that is known."""
        stem = self._stem_of.get(word) or (_stems([word])[0] or word)
        return stem in shown or not any((stem, attribute) in went.df for attribute in range(len(TERM_ATTRIBUTES)))

    def _filters(
        self, old: ContentLabel | SubCluster, nodes: tuple[int, ...] | None
    ) -> tuple[TermFilter, ...]:  # fmt: skip
        """Return the filters of a part: those of the base, and one of the delta if these lack some of its words."""
        if not old.filters:
            return ()  # which were left out, so that nobody is sent away
        keys = self.came.keys(nodes)
        held = FilterBank(old.filters).may_hold(keys).all(axis=1) if len(keys) else np.ones(1, np.bool_)
        return old.filters if held.any() else (*old.filters, TermFilter.of(keys))

    def _urls(self, old: SubCluster, pages: Array) -> tuple[str, ...]:
        """Return some addresses of a part: those that it named and that are still there, then new ones."""
        urls: dict[str, None] = {}
        for url in old.urls:
            if any(
                bool(one.stay[page])
                for one in (self.base, self.delta)
                if (number := one.corpus.url_number(url)) >= 0
                for page in one.corpus.pages_of(number)[:1]
            ):
                urls[url] = None
        fresh = (self.delta.corpus.page_url(page) for page in np.intersect1d(pages, self.delta.differ)[: fitting.SHOWN])
        for url in fresh:
            if len(urls) < fitting.SHOWN and len(url) <= 8000 and is_word(url):
                urls[url] = None
        return tuple(urls)
