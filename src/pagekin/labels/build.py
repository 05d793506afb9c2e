"""The content label of a collection, from its clusters and within budgets: the abstraction functions of a leaf."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pagekin.bags import BagMatrix, Vocabulary, word_hash
from pagekin.clusters import (
    TERM_ATTRIBUTES,
    TermSettings,
    Tree,
    complete_link,
    count_terms,
    document_of,
    term_similarity,
    term_words,
    weigh_terms,
)
from pagekin.hypertext import Corpus
from pagekin.labels import fitting
from pagekin.labels.membership import TermFilter, TermKeys, attribute_keys
from pagekin.labels.model import AddedTerm, ContentLabel, LabelLosses, is_label_word, is_word
from pagekin.store import Array, row_entries
from pagekin.text import form_table

FIRST_TERMS = FREQUENT_TERMS = 500
"""Terms of a page that a label takes note of, as in the paper: the first, and the most frequent after them."""


@dataclass(frozen=True)
class _PageTerms:
    """The pages of a sub-cluster, or of the whole collection, and their terms."""

    nodes: tuple[int, ...]
    pages: npt.NDArray[np.int64]
    terms: npt.NDArray[np.int64]
    """Different terms that were taken note of, rising: word * 6 + attribute."""
    tf: npt.NDArray[np.int64]
    df: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    """Sums of w_ki (equation 8) over the documents."""


class LeafTerms:
    """A collection's terms, counted and weighed once, from which labels of any size are made."""

    def __init__(self, corpus: Corpus, tree: Tree, threads: int, documents: Tree | None = None) -> None:
        self.corpus, self.tree = corpus, tree
        self.documents = document_of(documents, len(corpus))
        self.words: Vocabulary = term_words(corpus)
        self.all = count_terms(corpus, self.words, threads)
        self.noted = select_terms(corpus, self.words, self.all)
        self.factors = TermSettings(**tree.facts.get("terms", {}))
        self.weights = weigh_terms(self.noted, self.factors).weights
        self.search_words = search_words(corpus)
        self.searched = count_terms(corpus, self.search_words, threads)
        self.sizes = np.asarray(corpus.pages.html_bytes).astype(np.int64)
        self.texts: dict[int, str] = {}
        self.whole = self.pages_of((0,), np.arange(len(corpus)))
        # Pages that hold a word, under the attribute under which most do.
        self.held_by = np.ones(len(self.words.shown), np.int64)
        np.maximum.at(self.held_by, self.whole.terms // len(TERM_ATTRIBUTES), self.whole.df)

    def pages_of(self, nodes: tuple[int, ...], pages: Array) -> _PageTerms:
        """Return the selected terms of some pages, summed."""
        rows = row_entries(self.noted.offsets, pages)
        terms, place = np.unique(self.noted.terms[rows], return_inverse=True)
        tf = np.bincount(place, self.noted.weights[rows], len(terms)).astype(np.int64)
        weights = np.bincount(place, self.weights[rows], len(terms)).astype(np.float64)
        return _PageTerms(nodes, pages, terms, tf, np.bincount(place, minlength=len(terms)), weights)

    def clusters(self, most: int) -> tuple[list[_PageTerms], int]:
        """Return (the sub-clusters, the largest first; how many clusters were merged into others).

        They are the collection's clusters, as many as were asked for. If these are too many, each counts as one
        document with summed tf, and complete link on terms merges them, as routers do with their children's.
        """
        nodes = chosen_nodes(self.tree)
        clusters = [self._of_nodes((node,)) for node in nodes]
        merged = max(0, len(clusters) - most)
        if merged:
            offsets = np.cumsum([0, *(len(one.terms) for one in clusters)])
            terms, counts = (np.concatenate([getattr(one, name) for one in clusters]) for name in ("terms", "tf"))
            parts = merge_documents(offsets, terms, counts, self.noted.columns, most, self.factors)
            clusters = [self._of_nodes(tuple(nodes[place] for place in part)) for part in parts]
        return sorted(clusters, key=lambda one: (-len(one.pages), one.nodes)), merged

    def _of_nodes(self, nodes: tuple[int, ...]) -> _PageTerms:
        return self.pages_of(nodes, np.unique(np.concatenate([self.tree.pages_of(node) for node in nodes])))

    def label(self, budget: fitting.LabelBudget, added: Iterable[AddedTerm] = ()) -> ContentLabel:
        """Make the label within a budget."""
        whole = self.group(self.whole, budget.terms)
        extra = tuple(sorted(set(added)))
        num_words = int(self.corpus.pages.tokens[-1])

        def make_draft(most: int) -> fitting.Draft:
            clusters, merged = self.clusters(most)
            groups = [self.group(cluster, budget.terms) for cluster in clusters]
            return fitting.Draft(
                self.corpus.kin.path.stem, True, whole, groups, LabelLosses(0, merged, 0), extra, num_words
            )

        return fitting.label_within(budget, make_draft)

    def keys_of(self, label: ContentLabel) -> list[TermKeys]:
        """Return the filter keys of the whole, and of each sub-cluster of a label made here."""
        return [self._keys(self.whole), *(self._keys(self._of_nodes(cluster.nodes)) for cluster in label.clusters)]

    def _keys(self, cluster: _PageTerms) -> TermKeys:
        """Return the filter keys of some pages: each word, and each word under an attribute other than text."""
        # A document is searched as one, so all its words belong wherever one of its pages is.
        pages = np.flatnonzero(np.isin(self.documents, self.documents[cluster.pages]))
        terms = np.unique(self.searched.terms[row_entries(self.searched.offsets, pages)])
        words, attributes = np.divmod(terms, len(TERM_ATTRIBUTES))
        hashes = self.search_words.hashes[words]
        return np.unique(np.concatenate([hashes, attribute_keys(hashes, attributes)]))

    def group(self, cluster: _PageTerms, most: int) -> fitting.Group:
        """Collect what a label may say about some pages, with at most `most` terms."""
        by_size = sorted(cluster.nodes, key=lambda node: (-len(self.tree.pages_of(node)), node))
        described = [self.tree.descriptions[node] for node in by_size if self.tree.descriptions]
        # Of merged clusters the largest give the name and the central pages, in turn.
        name = "; ".join(dict.fromkeys(one.name for one in described[:3] if one.name))
        central = fitting.in_turn(one.central for one in described)
        terms = fitting.heaviest_terms(cluster.terms, cluster.tf, cluster.df, cluster.weights, most, self._common_form)
        num_terms = len(np.unique(self.all.terms[row_entries(self.all.offsets, cluster.pages)]))
        return fitting.Group(
            name, len(cluster.pages), int(self.sizes[cluster.pages].sum()), num_terms, num_terms, terms,
            self._heaviest(cluster), self._urls(central, cluster.pages), (TermFilter.of(self._keys(cluster)),), cluster.nodes,
        )  # fmt: skip

    def _common_form(self, word: int) -> str:
        """Return a word in its most common form, as Figure 5 shows terms."""
        if word not in self.texts:
            self.texts[word] = self.corpus.word(int(self.words.shown[word]))
        return self.texts[word]

    def _heaviest(self, pages: _PageTerms) -> tuple[str, ...]:
        """Return the heaviest words to show people, whatever their attributes.

        In a sub-cluster, words that most pages of the collection hold weigh little: site furniture would come first.
        """
        words, place = np.unique(pages.terms // len(TERM_ATTRIBUTES), return_inverse=True)
        weights = np.bincount(place, pages.weights, len(words))
        if pages is not self.whole:
            weights = weights * np.log((len(self.corpus) + 1) / self.held_by[words])
        order = np.lexsort((words, -weights))[: fitting.SHOWN]
        texts = (self._common_form(word) for word in words[order].tolist())
        return tuple(filter(is_label_word, texts))

    def _urls(self, central: list[int], pages: Array) -> tuple[str, ...]:
        """Return some addresses, those of central pages first."""
        urls: dict[str, None] = {}
        for page in [*central, *pages[: fitting.SHOWN].tolist()]:
            url = self.corpus.page_url(page)
            if len(urls) < fitting.SHOWN and len(url) <= 8000 and is_word(url):
                urls[url] = None
        return tuple(urls)


def search_words(corpus: Corpus) -> Vocabulary:
    """Return all words of a collection in the forms that full-text search uses."""
    forms = form_table(corpus)
    numbers = np.arange(len(forms.names), dtype=np.uint32)
    hashes = np.fromiter(map(word_hash, forms.names), np.uint64, len(forms.names))
    return Vocabulary(forms.of_term.astype(np.int32), numbers, hashes)


def select_terms(corpus: Corpus, words: Vocabulary, counted: BagMatrix) -> BagMatrix:
    """Select the terms of each page that count for a label: the first 500, and the 500 most frequent of the rest."""
    kept = np.ones(len(counted.terms), np.bool_)
    for page in np.flatnonzero(np.diff(counted.offsets) > FIRST_TERMS + FREQUENT_TERMS).tolist():
        row = slice(int(counted.offsets[page]), int(counted.offsets[page + 1]))
        kept[row] = _selected_mask(first_places(corpus, words, page), counted.terms[row], counted.weights[row])
    ends = np.append(0, np.cumsum(kept))[counted.offsets]
    return BagMatrix(ends, counted.terms[kept], counted.weights[kept], counted.columns)


def first_places(corpus: Corpus, words: Vocabulary, page: int) -> npt.NDArray[np.int64]:
    """Return where each distinct term of a page first occurs, in the order of the terms' numbers."""
    stream = corpus.stream(page)
    stems = words.stem_of[stream.words].astype(np.int64)
    flags = np.where(stream.attributes & 1, 1, stream.attributes)
    at = [np.flatnonzero((flags >> bit & 1).astype(np.bool_) & (stems >= 0)) for bit in range(len(TERM_ATTRIBUTES))]
    terms = np.concatenate([stems[places] * len(TERM_ATTRIBUTES) + bit for bit, places in enumerate(at)])
    places = np.concatenate(at)
    order = np.lexsort((places, terms))
    is_first = np.append(True, np.diff(terms[order]) > 0)
    first: npt.NDArray[np.int64] = places[order][is_first]
    return first


def _selected_mask(first: Array, terms: Array, counts: Array) -> npt.NDArray[np.bool_]:
    order = np.lexsort((terms, first))
    later = order[FIRST_TERMS:]
    frequent = later[np.lexsort((terms[later], first[later], -counts[later]))][:FREQUENT_TERMS]
    kept = np.zeros(len(terms), np.bool_)
    kept[order[:FIRST_TERMS]] = True
    kept[frequent] = True
    return kept


def merge_documents(
    offsets: Array, terms: Array, tf: Array, width: int, most: int, factors: TermSettings | None = None
) -> list[list[int]]:
    """Group documents by complete link on their terms, given as rows of terms with their tf.

    Terms weigh by equation 8 times the square of log N / df among these documents: each of them has hundreds of terms, and
    by those that all share, the large ones would merge into one.
    """
    counted = BagMatrix(offsets, terms, tf, width)
    weights, documents = weigh_terms(counted, factors).weights.astype(np.float64), len(counted)
    df = np.bincount(terms, minlength=width)
    weights *= np.log((documents + 1) / df[terms]) ** 2
    lengths = np.sqrt(np.bincount(counted.rows, weights**2, documents))
    weights /= np.maximum(lengths, 1e-30)[counted.rows]
    similarity = term_similarity(replace(counted, weights=weights.astype(np.float32)))
    labels = complete_link(similarity, most).labels()
    return [np.flatnonzero(labels == label).tolist() for label in range(int(labels.max(initial=-1)) + 1)]


def leaf_label(
    corpus: Corpus, tree: Tree, budget: fitting.LabelBudget | None = None, added: Iterable[AddedTerm] = (), threads: int = 1,
    documents: Tree | None = None,
) -> ContentLabel:  # fmt: skip
    """Make the label of a collection from its tree of clusters; `lost` says what the budget left out."""
    return LeafTerms(corpus, tree, threads, documents).label(budget or fitting.LabelBudget(), added)


def chosen_nodes(tree: Tree) -> list[int]:
    """Return the clusters of the level chosen when the tree was made; of other trees, the root's children."""
    return list(tree.facts.get("shown") or tree.children[0] or [0])
