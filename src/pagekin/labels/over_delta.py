"""The label of a collection with a delta: the base's label, without hidden pages and with new ones.

Terms of the base's label are counted anew from the pages that came, changed or went. A word that only the delta has is in
a filter of the delta, beside that of the base: whoever asks for it is not sent away. Cost: for the delta and what it hides.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from pagekin.bags import BagMatrix, Vocabulary, bag_forms, preset_strategy
from pagekin.clusters import TERM_ATTRIBUTES, TERM_PRESET, TermSettings, Tree, term_batches, weigh_terms
from pagekin.hypertext import Corpus
from pagekin.labels import fitting
from pagekin.labels.build import SearchedTerms, mark_unnoted
from pagekin.labels.keep import read_label, write_label
from pagekin.labels.membership import FilterBank, TermFilter, TermKeys
from pagekin.labels.model import ContentLabel, SubCluster, Term, is_word, pack_terms
from pagekin.labels.parts import label_parts
from pagekin.store import Array, KinWriter, row_entries

_WIDTH = len(TERM_ATTRIBUTES)


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
        """Return the pages of some clusters, including hidden ones, ascending."""
        tree = self.tree("clusters")
        held = [tree.pages_of(node) for node in nodes] if tree else []
        return np.unique(np.concatenate([np.zeros(0, np.int64), *held]))


class _Counts(NamedTuple):
    """Counts of terms on some pages, and of the pages that hold them."""

    terms: npt.NDArray[np.int64]
    """Different terms, rising: the number of a stem * 6 + attribute."""
    tf: npt.NDArray[np.int64]
    df: npt.NDArray[np.int64]

    def in_numbers(self, numbers: npt.NDArray[np.int64]) -> "_Counts":
        """Return the same counts by other, equally ordered numbers of the stems; those with the number -1 are left out."""
        words, attributes = np.divmod(self.terms, _WIDTH)
        is_kept = numbers[words] >= 0
        terms = numbers[words] * _WIDTH + attributes
        return _Counts(terms[is_kept], self.tf[is_kept], self.df[is_kept])


class _CountedPages:
    """The terms of the pages that differ, as a label counts them."""

    def __init__(self, pages: PagesOf, threads: int) -> None:
        corpus = pages.corpus
        self.pages = pages.differ
        terms = _different_terms(corpus, self.pages)
        texts = [corpus.word(term) for term in terms.tolist()]
        stems = _stems(texts)
        self.stems = sorted(set(filter(None, stems)))
        # Terms are ranked by frequency: the first of a stem is its most common form.
        self.shown = {stem: text for stem, text in zip(reversed(stems), reversed(texts), strict=True) if stem}
        number = {stem: place for place, stem in enumerate(self.stems)}
        stem_of = np.full(len(corpus.terms), -1, np.int32)
        stem_of[terms] = [number.get(stem, -1) for stem in stems]
        count = len(self.stems)
        words = Vocabulary(stem_of, np.zeros(count, np.uint32), np.zeros(count, np.uint64))
        sizes, held, times = [np.zeros(1, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
        for first, batch in term_batches(corpus, words, threads, self.pages):
            streams = corpus.stream_some(self.pages[first : first + len(batch)])
            noted = mark_unnoted(streams, words, batch)
            used = np.flatnonzero(noted.weights > 0)
            sizes.append(np.bincount(noted.rows[used], minlength=len(noted)))
            held.append(noted.terms[used])
            times.append(noted.weights[used])
        self._offsets = np.cumsum(np.concatenate(sizes))
        self._terms, self._times = np.concatenate(held), np.concatenate(times).astype(np.int64)

    def counts(self, pages: Array) -> _Counts:
        """Count the terms of some pages; pages that did not change count nothing."""
        entries = row_entries(self._offsets, np.flatnonzero(np.isin(self.pages, pages)))
        return _add_up(self._terms[entries], self._times[entries], np.ones(len(entries), np.int64))


def _add_up(terms: Array, tf: Array, df: Array) -> _Counts:
    """Return the counts of each different term, added up."""
    different, place = np.unique(terms, return_inverse=True)
    sums = (np.bincount(place, column, len(different)).astype(np.int64) for column in (tf, df))
    return _Counts(different.astype(np.int64), *sums)


def _stems(words: Sequence[str]) -> list[str]:
    """Return the stems that identify the terms of a label; '' for words that it leaves out."""
    return list(bag_forms(words, preset_strategy(TERM_PRESET)))


def _different_terms(corpus: Corpus, pages: Array) -> npt.NDArray[np.int64]:
    is_used = np.zeros(len(corpus.terms), np.bool_)
    for page in pages.tolist():
        is_used[corpus.words(page)] = True
    return np.flatnonzero(is_used)


class _FilterKeys:
    """The keys of the filters of a delta."""

    def __init__(self, delta: PagesOf, visiting: Sequence[bytes], threads: int) -> None:
        self.delta, self._searched = delta, SearchedTerms(delta.corpus, threads, delta.tree("documents"))
        self._visiting = self._keys_of(visiting)

    def keys(self, nodes: tuple[int, ...] | None) -> TermKeys:
        """Return the filter keys of all pages of some clusters, or of the delta."""
        pages = np.arange(len(self.delta.corpus)) if nodes is None else self.delta.pages_in(nodes)
        if not len(pages):
            return np.zeros(0, np.uint64)
        return np.union1d(self._searched.keys(pages), self._visiting)

    def _keys_of(self, words: Sequence[bytes]) -> TermKeys:
        """Return the keys of words that links of the base call the delta's pages."""
        corpus, forms = self.delta.corpus, self._searched.words
        terms = corpus.terms.find_all(words, np.asarray(corpus.term_table.order))
        places = forms.stem_of[terms[terms >= 0]]
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
    change = _Change(published, base, delta, visiting, threads)
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

    def __init__(
        self, label: ContentLabel, base: PagesOf, delta: PagesOf, visiting: Sequence[bytes], threads: int
    ) -> None:  # fmt: skip
        self.label, self.base, self.delta = label, base, delta
        self._came, self._went = _CountedPages(delta, threads), _CountedPages(base, threads)
        self._keys = _FilterKeys(delta, visiting, threads)
        tree = base.tree("clusters")
        self._factors = TermSettings(**tree.facts.get("terms", {})) if tree else TermSettings()
        heaviest = [word for cluster in label.clusters for word in cluster.heaviest]
        words = list(dict.fromkeys([*label.words, *label.heaviest, *heaviest]))
        stem_of = {word: stem or word for word, stem in zip(words, _stems(words), strict=True)}
        # In order, so that terms by their numbers come as terms by their stems.
        self._stems = sorted({*stem_of.values(), *self._came.stems})
        number = {stem: place for place, stem in enumerate(self._stems)}
        self._number_of = {word: number[stem] for word, stem in stem_of.items()}
        self._label_numbers = np.array([self._number_of[word] for word in label.words], np.int64)
        self._came_numbers, self._went_numbers = (
            np.array([number.get(stem, -1) for stem in some.stems], np.int64) for some in (self._came, self._went)
        )
        fresh = [self._came.shown[stem].encode() for stem in self._came.stems]
        places = base.corpus.terms.find_all(fresh, np.asarray(base.corpus.term_table.order))
        self._is_unknown = np.zeros(len(self._stems), np.bool_)
        self._is_unknown[self._came_numbers] = places < 0

    def part(
        self, old: ContentLabel | SubCluster, nodes: tuple[int, ...] | None
    ) -> tuple[dict[str, Any], list[Term]]:  # fmt: skip
        """Return (the fields, the terms) of the updated whole label, or of one of its sub-clusters."""
        if nodes is None:
            held = [np.arange(len(one.corpus)) for one in (self.base, self.delta)]
        else:
            held = [one.pages_in(nodes) for one in (self.base, self.delta)]
        came = self._came.counts(held[1]).in_numbers(self._came_numbers)
        went = self._went.counts(held[0]).in_numbers(self._went_numbers)
        alive = [pages[one.stay[pages]] for pages, one in zip(held, (self.base, self.delta), strict=True)]
        left = self._update_counts(old, came, went)
        rows = self._rows(old, left)
        size = sum(
            int(np.asarray(one.corpus.pages.html_bytes)[pages].astype(np.int64).sum())
            for one, pages in zip((self.base, self.delta), alive, strict=True)
        )
        unknown = int(np.count_nonzero(self._is_unknown[came.terms // _WIDTH]))
        # A word that describes a part stays if it is still on one of its pages, as far as is known.
        lost = set((went.terms // _WIDTH).tolist()) - set((left.terms // _WIDTH).tolist())
        fields = {
            "num_docs": sum(map(len, alive)), "size": size, "num_terms": max(old.num_terms + unknown, len(rows)),
            "heaviest": tuple(word for word in old.heaviest if self._number_of[word] not in lost),
            "filters": self._filters(old, nodes),
            "urls": self._urls(old, alive[1]) if isinstance(old, SubCluster) else (),
        }  # fmt: skip
        return fields, rows

    def _terms_of(self, old: ContentLabel | SubCluster) -> tuple[Array, Array]:
        """Return (places of words in the label, attributes) of a part's terms, as published."""
        words, attributes = np.divmod(np.cumsum(old.terms.steps, dtype=np.int64) - 1, _WIDTH)
        return words, attributes

    def _update_counts(self, old: ContentLabel | SubCluster, came: _Counts, went: _Counts) -> _Counts:
        """Return the terms that a part has now."""
        words, attributes = self._terms_of(old)
        terms, tf, df = _add_up(
            np.concatenate([self._label_numbers[words] * _WIDTH + attributes, came.terms]),
            np.concatenate([np.array(old.terms.tf, np.int64), came.tf]),
            np.concatenate([np.array(old.terms.df, np.int64), came.df]),
        )
        _both, here, there = np.intersect1d(terms, went.terms, assume_unique=True, return_indices=True)
        df[here] -= went.df[there]
        tf[here] = np.maximum(tf[here] - went.tf[there], df[here])
        left = df > 0
        return _Counts(terms[left], tf[left], df[left])

    def _rows(self, old: ContentLabel | SubCluster, left: _Counts) -> list[Term]:
        """Return the terms of a part, as many as a label may have; they are shown as the label showed them."""
        words = self._terms_of(old)[0].tolist()
        texts = {self._number_of[word]: word for word in (self.label.words[place] for place in reversed(words))}
        matrix = BagMatrix(np.array([0, len(left.terms)]), left.terms, left.tf, len(self._stems) * _WIDTH)
        weights = weigh_terms(matrix, self._factors).weights.astype(np.float64)
        most = fitting.LabelBudget().terms

        def text_of(number: int) -> str:
            return texts.get(number) or self._came.shown[self._stems[number]]

        return fitting.heaviest_terms(left.terms, left.tf, left.df, weights, most, text_of)

    def _filters(
        self, old: ContentLabel | SubCluster, nodes: tuple[int, ...] | None
    ) -> tuple[TermFilter, ...]:  # fmt: skip
        """Return the filters of a part: those of the base, and one of the delta if these lack some of its words."""
        if not old.filters:
            return ()  # which were left out, so that nobody is sent away
        keys = self._keys.keys(nodes)
        held = FilterBank(old.filters).may_hold(keys).all(axis=1) if len(keys) else np.ones(1, np.bool_)
        return old.filters if held.any() else (*old.filters, TermFilter.of(keys))

    def _urls(self, old: SubCluster, pages: Array) -> tuple[str, ...]:
        """Return some addresses of a part: its old ones that still exist, then new ones."""
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
