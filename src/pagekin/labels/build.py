"""The content label of a collection, from its clusters and within budgets: the abstraction functions of a leaf."""

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import Vocabulary, word_hash
from pagekin.clusters import (
    TERM_ATTRIBUTES,
    TermCounts,
    TermSettings,
    TermVectors,
    Tree,
    complete_link,
    count_terms,
    document_of,
    term_similarity,
    term_words,
    weigh_terms,
)
from pagekin.hypertext import Corpus
from pagekin.labels.fitting import SHOWN, Draft, Group, LabelBudget, label_within
from pagekin.labels.membership import TermFilter, TermKeys, attribute_keys
from pagekin.labels.model import AddedTerm, ContentLabel, LabelLosses, Term, is_word
from pagekin.text import form_table

Array = npt.NDArray[Any]
FIRST_TERMS = FREQUENT_TERMS = 500
"""Terms of a page that a label takes note of, as in the paper: the first, and the most frequent after them."""


@dataclass(frozen=True)
class _Pages:
    """The documents of a sub-cluster, or all, and their terms."""

    nodes: tuple[int, ...]
    pages: npt.NDArray[np.int64]
    terms: npt.NDArray[np.int64]
    """Different terms that were taken note of, rising: word * 6 + attribute."""
    tf: npt.NDArray[np.int64]
    df: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    """Sums of w_ki (equation 8) over the documents."""


class Leaf:
    """A collection's terms, counted and weighed once, and labels of different sizes made from them."""

    def __init__(self, corpus: Corpus, tree: Tree, threads: int, documents: Tree | None = None) -> None:
        self.corpus, self.tree = corpus, tree
        self.documents = document_of(documents, len(corpus))
        self.words: Vocabulary = term_words(corpus)
        self.all = count_terms(corpus, self.words, threads)
        self.noted = noted_terms(corpus, self.words, self.all)
        self.factors = TermSettings(**tree.facts.get("terms", {}))
        self.weights = aligned_weights(self.noted, self.factors)
        self.search_words = search_words(corpus)
        self.searched = count_terms(corpus, self.search_words, threads)
        self.sizes = np.asarray(corpus.pages.html_bytes).astype(np.int64)
        self.texts: dict[int, str] = {}
        self.whole = self.pages_of((0,), np.arange(len(corpus)))
        # Pages that hold a word, under the attribute under which most do.
        self.held_by = np.ones(len(self.words.shown), np.int64)
        np.maximum.at(self.held_by, self.whole.terms // len(TERM_ATTRIBUTES), self.whole.df)

    def pages_of(self, nodes: tuple[int, ...], pages: Array) -> _Pages:
        """These pages' terms."""
        rows = _rows(self.noted, pages)
        terms, place = np.unique(self.noted.terms[rows], return_inverse=True)
        tf = np.bincount(place, self.noted.counts[rows], len(terms)).astype(np.int64)
        weights: npt.NDArray[np.float64] = np.asarray(
            np.bincount(place, self.weights[rows].astype(np.float64), len(terms)), np.float64
        )
        return _Pages(nodes, pages, terms, tf, np.bincount(place, minlength=len(terms)), weights)

    def clusters(self, most: int) -> tuple[list[_Pages], int]:
        """(the sub-clusters, the largest first; how many clusters were merged into others).

        They are the collection's clusters, as many as were asked for. If these are too many, each counts as one
        document with summed tf, and complete link on terms merges them, as routers do with their children's.
        """
        nodes = chosen_nodes(self.tree)
        found = [self._of_nodes((node,)) for node in nodes]
        merged = max(0, len(found) - most)
        if merged:
            offsets = np.cumsum([0, *(len(one.terms) for one in found)])
            terms, counts = (np.concatenate([getattr(one, name) for one in found]) for name in ("terms", "tf"))
            parts = merge_documents(offsets, terms, counts, self.noted.width, most, self.factors)
            found = [self._of_nodes(tuple(nodes[place] for place in part)) for part in parts]
        return sorted(found, key=lambda one: (-len(one.pages), one.nodes)), merged

    def _of_nodes(self, nodes: tuple[int, ...]) -> _Pages:
        return self.pages_of(nodes, np.unique(np.concatenate([self.tree.pages_of(node) for node in nodes])))

    def label(self, budget: LabelBudget, added: Iterable[AddedTerm] = ()) -> ContentLabel:
        """The label within a budget."""
        whole = self.group(self.whole, budget.terms)
        extra = tuple(sorted(set(added)))
        num_words = int(self.corpus.pages.tokens[-1])

        def drafted(most: int) -> Draft:
            clusters, merged = self.clusters(most)
            groups = [self.group(found, budget.terms) for found in clusters]
            return Draft(self.corpus.kin.path.stem, True, whole, groups, LabelLosses(0, merged, 0), extra, num_words)

        return label_within(budget, drafted)

    def keys_of(self, label: ContentLabel) -> list[TermKeys]:
        """The keys of all terms of the whole, and of each sub-cluster of a label that was made here."""
        return [self._keys(self.whole), *(self._keys(self._of_nodes(cluster.nodes)) for cluster in label.clusters)]

    def _keys(self, found: _Pages) -> TermKeys:
        """The keys of all terms of some pages: each word, and each word under another attribute than text."""
        # A document is searched as one, so all its words belong wherever one of its pages is.
        pages = np.flatnonzero(np.isin(self.documents, self.documents[found.pages]))
        words, attributes = np.divmod(np.unique(self.searched.terms[_rows(self.searched, pages)]), len(TERM_ATTRIBUTES))
        hashes = self.search_words.hashes[words]
        return np.unique(np.concatenate([hashes, attribute_keys(hashes, attributes)]))

    def group(self, found: _Pages, most: int) -> Group:
        """What a label may say of some pages, with so many terms at most."""
        by_size = sorted(found.nodes, key=lambda node: (-len(self.tree.pages_of(node)), node))
        described = [self.tree.descriptions[node] for node in by_size if self.tree.descriptions]
        # Of merged clusters the largest give the name and the central pages, in turn.
        name = "; ".join(dict.fromkeys(one.name for one in described[:3] if one.name))
        central = [one.central[turn] for turn in range(10) for one in described if turn < len(one.central)]
        num_terms = len(np.unique(self.all.terms[_rows(self.all, found.pages)]))
        return Group(
            name, len(found.pages), int(self.sizes[found.pages].sum()), num_terms, num_terms, self._terms(found, most),
            self._heaviest(found), self._urls(central, found.pages), (TermFilter.of(self._keys(found)),), found.nodes,
        )  # fmt: skip

    def _shown(self, word: int) -> str:
        """A word in its most common form, as Figure 5 shows terms."""
        if word not in self.texts:
            self.texts[word] = self.corpus.word(int(self.words.shown[word]))
        return self.texts[word]

    def _terms(self, pages: _Pages, most: int) -> list[Term]:
        """The heaviest terms."""
        order = np.lexsort((pages.terms, -pages.weights))[:most]
        found = []
        for term, tf, df in zip(*(column[order].tolist() for column in (pages.terms, pages.tf, pages.df)), strict=True):
            word, attribute = divmod(term, len(TERM_ATTRIBUTES))
            if is_word(text := self._shown(word)) and len(text) <= 500:
                found.append(Term(TERM_ATTRIBUTES[attribute], text, tf, df))
        return found

    def _heaviest(self, pages: _Pages) -> tuple[str, ...]:
        """The heaviest words for people, whatever their attributes.

        In a sub-cluster, words that most pages of the collection hold weigh little: site furniture would come first.
        """
        words, place = np.unique(pages.terms // len(TERM_ATTRIBUTES), return_inverse=True)
        weights = np.bincount(place, pages.weights, len(words))
        if pages is not self.whole:
            weights = weights * np.log((len(self.corpus) + 1) / self.held_by[words])
        order = np.lexsort((words, -weights))[:SHOWN]
        texts = (self._shown(word) for word in words[order].tolist())
        return tuple(text for text in texts if is_word(text) and len(text) <= 500)

    def _urls(self, central: list[int], pages: Array) -> tuple[str, ...]:
        """Some addresses, those of central pages first."""
        found: dict[str, None] = {}
        for page in [*central, *pages[:SHOWN].tolist()]:
            url = self.corpus.page_url(page)
            if len(found) < SHOWN and len(url) <= 8000 and is_word(url):
                found[url] = None
        return tuple(found)


def search_words(corpus: Corpus) -> Vocabulary:
    """All words of a collection as the full-text search knows them."""
    forms = form_table(corpus)
    numbers = np.arange(len(forms.names), dtype=np.uint32)
    hashes = np.fromiter(map(word_hash, forms.names), np.uint64, len(forms.names))
    return Vocabulary(forms.of_term.astype(np.int32), numbers, hashes)


def noted_terms(corpus: Corpus, words: Vocabulary, counted: TermCounts) -> TermCounts:
    """The terms of each page that a label takes note of: the first 500, and the 500 most frequent after them."""
    kept = np.ones(len(counted.terms), np.bool_)
    for page in np.flatnonzero(np.diff(counted.offsets) > FIRST_TERMS + FREQUENT_TERMS).tolist():
        row = slice(int(counted.offsets[page]), int(counted.offsets[page + 1]))
        kept[row] = _noted(first_places(corpus, words, page), counted.terms[row], counted.counts[row])
    ends = np.append(0, np.cumsum(kept))[counted.offsets]
    return TermCounts(ends, counted.terms[kept], counted.counts[kept], counted.width)


def first_places(corpus: Corpus, words: Vocabulary, page: int) -> npt.NDArray[np.int64]:
    """For each different term of a page, as they rise, the place of the word where it stands first."""
    stream = corpus.stream(page)
    stems = words.stem_of[stream.words].astype(np.int64)
    flags = np.where(stream.attributes & 1, 1, stream.attributes)
    at = [np.flatnonzero((flags >> bit & 1).astype(np.bool_) & (stems >= 0)) for bit in range(len(TERM_ATTRIBUTES))]
    terms = np.concatenate([stems[places] * len(TERM_ATTRIBUTES) + bit for bit, places in enumerate(at)])
    places = np.concatenate(at)
    order = np.lexsort((places, terms))
    is_first = np.append(True, np.diff(terms[order]) > 0)
    found: npt.NDArray[np.int64] = places[order][is_first]
    return found


def _noted(first: Array, terms: Array, counts: Array) -> npt.NDArray[np.bool_]:
    order = np.lexsort((terms, first))
    later = order[FIRST_TERMS:]
    frequent = later[np.lexsort((terms[later], first[later], -counts[later]))][:FREQUENT_TERMS]
    kept = np.zeros(len(terms), np.bool_)
    kept[order[:FIRST_TERMS]] = True
    kept[frequent] = True
    return kept


def aligned_weights(counted: TermCounts, factors: TermSettings | None) -> npt.NDArray[np.float32]:
    """Return the weight of every counted term by equation 8: 0 under attributes that are left out."""
    weighed = weigh_terms(counted, factors).weights
    if len(weighed) == len(counted.terms):
        return weighed
    weights = np.zeros(len(counted.terms), np.float32)
    weights[np.array(astuple(factors or TermSettings()))[counted.terms % len(TERM_ATTRIBUTES)] > 0] = weighed
    return weights


def merge_documents(
    offsets: Array, terms: Array, tf: Array, width: int, most: int, factors: TermSettings | None = None
) -> list[list[int]]:
    """Group documents, given as rows of terms with their tf, by complete link on their terms.

    Terms weigh by equation 8 times the square of log N / df among these documents: each of them has hundreds of terms, and
    by those that all share, the large ones would merge into one.
    """
    counts = np.minimum(tf, 2**31 - 1).astype(np.int32)
    weights = aligned_weights(TermCounts(offsets, terms, counts, width), factors).astype(np.float64)
    documents = len(offsets) - 1
    df = np.bincount(terms, minlength=width)
    weights *= np.log((documents + 1) / df[terms]) ** 2
    document = np.repeat(np.arange(documents), np.diff(offsets))
    lengths = np.sqrt(np.bincount(document, weights**2, documents))
    weights /= np.maximum(lengths, 1e-30)[document]
    similarity = term_similarity(TermVectors(offsets, terms, weights.astype(np.float32), width))
    labels = complete_link(similarity, most, overwrite=True).labels()
    return [np.flatnonzero(labels == label).tolist() for label in range(int(labels.max(initial=-1)) + 1)]


def _rows(counted: TermCounts, pages: Array) -> Array:
    """The places of these pages' terms."""
    starts, ends = counted.offsets[pages], counted.offsets[pages + 1]
    lengths = ends - starts
    return np.repeat(ends - np.cumsum(lengths), lengths) + np.arange(int(lengths.sum()))


def leaf_label(
    corpus: Corpus, tree: Tree, budget: LabelBudget | None = None, added: Iterable[AddedTerm] = (), threads: int = 1,
    documents: Tree | None = None,
) -> ContentLabel:  # fmt: skip
    """The label of a collection by its tree of clusters; `lost` says what the budgets left out."""
    return Leaf(corpus, tree, threads, documents).label(budget or LabelBudget(), added)


def chosen_nodes(tree: Tree) -> list[int]:
    """The clusters of the level that was asked for, which hold every page once; of other trees the root's children."""
    return list(tree.facts.get("shown") or tree.children[0] or [0])
