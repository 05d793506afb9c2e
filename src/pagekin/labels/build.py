"""Make the content label of a collection from its clusters, within budgets: the abstraction functions of a leaf."""

import contextlib
import shutil
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import numpy.typing as npt

from pagekin.bags import BagMatrix, Vocabulary, word_hash
from pagekin.clusters import (
    TERM_ATTRIBUTES,
    TermSettings,
    Tree,
    complete_link,
    document_of,
    term_batches,
    term_similarity,
    term_words,
    weigh_terms,
)
from pagekin.hypertext import Corpus, DecodedPage, StreamBatch
from pagekin.labels import fitting
from pagekin.labels.membership import TermFilter, TermKeys, attribute_keys
from pagekin.labels.model import AddedTerm, ContentLabel, LabelLosses, is_label_word, is_word
from pagekin.store import IN_MEMORY, Array, ArrayFile, Workspace, on_temporary_disk, row_entries, smallest_uint
from pagekin.text import form_table

FIRST_TERMS = FREQUENT_TERMS = 500
"""How many terms of a page a label uses, as in the paper: the first ones, and the most frequent of the rest."""


@dataclass(frozen=True)
class _PageTerms:
    """The pages of a sub-cluster, or of the whole collection, and their terms."""

    nodes: tuple[int, ...]
    pages: npt.NDArray[np.int64]
    terms: npt.NDArray[np.int64]
    """The distinct terms used, ascending: word * 6 + attribute."""
    tf: npt.NDArray[np.int64]
    df: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    """Sums of w_ki (equation 8) over the documents."""
    known: int
    """How many distinct terms the pages have, used or not."""


@dataclass(frozen=True)
class _TermFile:
    """The terms of all pages, in memory-mapped files; page p has entries offsets[p] to offsets[p + 1]."""

    offsets: npt.NDArray[np.int64]
    terms: Array
    counts: Array
    """Empty if not needed; negative for terms that a label does not use."""
    weights: Array
    columns: int

    @classmethod
    def of(
        cls, corpus: Corpus, words: Vocabulary, folder: Path, threads: int, factors: TermSettings | None = None
    ) -> "_TermFile":
        """Count the terms of all pages; with `factors` also select and weight those that a label uses."""
        columns = len(words.shown) * len(TERM_ATTRIBUTES)
        sizes = [np.zeros(1, np.int64)]
        kinds = {"terms": smallest_uint(columns), "counts": np.dtype(np.int32), "weights": np.dtype(np.float32)}
        files = {name: ArrayFile(folder / name, kind) for name, kind in kinds.items()}
        try:
            for first, batch in term_batches(corpus, words, threads):
                sizes.append(np.diff(batch.offsets))
                files["terms"].append(batch.terms.astype(files["terms"].dtype))
                if factors is not None:
                    streams = corpus.stream_batch(first, first + len(batch))
                    noted = mark_unnoted(streams, words, batch)
                    files["counts"].append(noted.weights)
                    files["weights"].append(weigh_terms(noted, factors).weights)
            terms, counts, weights = (file.mapped() for file in files.values())
        finally:
            for file in files.values():
                file.abandon()
        return cls(np.cumsum(np.concatenate(sizes)), terms, counts, weights, columns)


class SearchedTerms:
    """The words of a collection's pages in the forms that full-text search uses, for the keys of filters.

    Cost: a pass over all words, kept on disk; then for some pages one over their words.
    """

    def __init__(
        self, corpus: Corpus, threads: int, documents: Tree | None = None, space: Workspace = IN_MEMORY
    ) -> None:
        self.words = search_words(corpus)
        self._documents = document_of(documents, len(corpus))
        self._same = form_table(corpus).same
        with _own_folder(self, space) as folder:
            self._held = _TermFile.of(corpus, self.words, folder, threads)
        self._met, self._seen = np.zeros(self._held.columns, np.bool_), np.empty(self._held.columns, np.int64)

    def keys(self, of_pages: Array) -> TermKeys:
        """Return the filter keys of some pages, and of all others that are of one document with them."""
        from pagekin.labels._kernels import leaf as kernels

        # A document is searched as one, so all its words belong wherever one of its pages is.
        held = np.zeros(len(self._documents), np.bool_)
        held[self._documents[of_pages]] = True
        pages = np.flatnonzero(held[self._documents])
        count = kernels.list_terms(pages, self._held.offsets, self._held.terms, self._met, self._seen)
        terms = np.sort(self._seen[:count])
        self._met[terms] = False
        words, attributes = np.divmod(terms, len(TERM_ATTRIBUTES))
        if self._same_words is not None:
            starts, members = self._same_words
            attributes = np.repeat(attributes, np.diff(starts)[words])
            words = members[row_entries(starts, words)]
        hashes = self.words.hashes[words]
        return np.unique(np.concatenate([hashes, attribute_keys(hashes, attributes)]))

    @cached_property
    def _same_words(self) -> tuple[Array, Array] | None:
        """Return, for each word, the words whose forms also find it: those with the same stem in another language."""
        if self._same is None:
            return None
        members = np.argsort(self._same, kind="stable")
        return np.searchsorted(self._same[members], np.arange(len(self._same) + 1)), members


@contextlib.contextmanager
def _own_folder(owner: object, space: Workspace) -> Iterator[Path]:
    """Yield a temporary folder that is removed with its owner: where a build works, or on the temporary disk."""
    with contextlib.ExitStack() as files:
        place = files.enter_context(on_temporary_disk()) if space is IN_MEMORY else space.folder
        folder = Path(mkdtemp(prefix="pagekin-label-", dir=place))
        weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
        yield folder


class LeafTerms:
    """A collection's terms, counted and weighted once, from which labels of any size are made.

    Cost: two passes over all words; then for each cluster one over the terms of its pages. Memory for a few numbers of each term.
    """

    def __init__(
        self, corpus: Corpus, tree: Tree, threads: int, documents: Tree | None = None, space: Workspace = IN_MEMORY
    ) -> None:
        self.corpus, self.tree, self._space = corpus, tree, space
        self.words: Vocabulary = term_words(corpus)
        self.factors = TermSettings(**tree.facts.get("terms", {}))
        self.searched = SearchedTerms(corpus, threads, documents, space)
        with _own_folder(self, space) as folder:
            self.all = _TermFile.of(corpus, self.words, folder, threads, self.factors)
        columns = self.all.columns
        self._sums = np.zeros(columns, np.int64), np.zeros(columns, np.int64), np.zeros(columns)
        self._met, self._seen = np.zeros(columns, np.bool_), np.empty(columns, np.int64)
        self.sizes = np.asarray(corpus.pages.html_bytes).astype(np.int64)
        self.texts: dict[int, str] = {}
        self.whole = self.pages_of((0,), np.arange(len(corpus)))
        # Pages that hold a word, under the attribute under which most do.
        self.held_by = np.ones(len(self.words.shown), np.int64)
        np.maximum.at(self.held_by, self.whole.terms // len(TERM_ATTRIBUTES), self.whole.df)

    def pages_of(self, nodes: tuple[int, ...], pages: Array) -> _PageTerms:
        """Return the selected terms of some pages, summed."""
        from pagekin.labels._kernels import leaf as kernels

        held = self.all
        count = kernels.sum_terms(
            pages, held.offsets, held.terms, held.counts, held.weights, self._sums, self._met, self._seen
        )
        every = np.sort(self._seen[:count])
        terms = every[self._sums[1][every] > 0]
        tf, df, weights = self._sums[0][terms], self._sums[1][terms], self._sums[2][terms]
        self._met[every] = False
        for column in self._sums:
            column[terms] = 0
        return _PageTerms(nodes, pages, terms, tf, df, weights, count)

    def clusters(self, most: int) -> tuple[list[tuple[int, ...]], int]:
        """Return (the nodes of the sub-clusters, the largest first; how many clusters were merged into others).

        They are the collection's clusters, as many as were asked for; of a shard, those that have pages there. If these are too
        many, each counts as one document with summed tf, and complete link on terms merges them, as routers do with their
        children's.
        """
        nodes = [node for node in chosen_nodes(self.tree) if len(self.tree.pages_of(node))]
        merged = max(0, len(nodes) - most)
        parts: list[tuple[int, ...]] = [(node,) for node in nodes]
        if merged:
            sizes, terms, counts = [0], self._space.growing(np.int64), self._space.growing(np.int64)
            for node in nodes:
                cluster = self._of_nodes((node,))
                sizes.append(len(cluster.terms))
                terms.append(cluster.terms)
                counts.append(cluster.tf)
            groups = merge_documents(
                np.cumsum(sizes), terms.finish(), counts.finish(), self.all.columns, most, self.factors
            )
            parts = [tuple(nodes[place] for place in group) for group in groups]
        return sorted(parts, key=lambda nodes: (-len(self._pages_below(nodes)), nodes)), merged

    def _pages_below(self, nodes: tuple[int, ...]) -> npt.NDArray[np.int64]:
        """Return the pages of some nodes, rising."""
        return np.unique(np.concatenate([self.tree.pages_of(node) for node in nodes]))

    def _of_nodes(self, nodes: tuple[int, ...]) -> _PageTerms:
        return self.pages_of(nodes, self._pages_below(nodes))

    def label(self, budget: fitting.LabelBudget, added: Iterable[AddedTerm] = ()) -> ContentLabel:
        """Make the label within a budget."""
        whole = self.group(self.whole, budget.terms)
        extra = tuple(sorted(set(added)))
        num_words = int(self.corpus.pages.tokens[-1])

        def make_draft(most: int) -> fitting.Draft:
            clusters, merged = self.clusters(most)
            groups = [self.group(self._of_nodes(nodes), budget.terms) for nodes in clusters]
            return fitting.Draft(
                self.corpus.kin.path.stem, True, whole, groups, LabelLosses(0, merged, 0), extra, num_words
            )

        return fitting.label_within(budget, make_draft)

    def keys_of(self, label: ContentLabel) -> Iterator[TermKeys]:
        """Yield the filter keys of the whole, and of each sub-cluster of a label made here."""
        yield self.searched.keys(self.whole.pages)
        for cluster in label.clusters:
            yield self.searched.keys(self._pages_below(cluster.nodes))

    def group(self, cluster: _PageTerms, most: int) -> fitting.Group:
        """Collect the content of a label about some pages, with at most `most` terms."""
        by_size = sorted(cluster.nodes, key=lambda node: (-len(self.tree.pages_of(node)), node))
        described = [self.tree.descriptions[node] for node in by_size if self.tree.descriptions]
        # Of merged clusters the largest give the name and the central pages, in turn.
        name = "; ".join(dict.fromkeys(one.name for one in described[:3] if one.name))
        central = fitting.in_turn(one.central for one in described)
        held = TermFilter.of(self.searched.keys(cluster.pages))
        terms = fitting.heaviest_terms(cluster.terms, cluster.tf, cluster.df, cluster.weights, most, self.common_form)
        return fitting.Group(
            name, len(cluster.pages), int(self.sizes[cluster.pages].sum()), cluster.known, cluster.known, terms,
            self._heaviest(cluster), self._urls(central, cluster.pages), (held,), cluster.nodes,
        )  # fmt: skip

    def common_form(self, word: int) -> str:
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
        texts = (self.common_form(word) for word in words[order].tolist())
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
    numbers = np.arange(len(forms), dtype=np.uint32)
    hashes = np.fromiter(map(word_hash, forms.names()), np.uint64, len(forms))
    return Vocabulary(forms.of_term.astype(np.int32), numbers, hashes)


def mark_unnoted(streams: StreamBatch, words: Vocabulary, counted: BagMatrix) -> BagMatrix:
    """Return the counted terms of some pages, with negative counts for terms that a label does not use.

    It takes note of the first 500 terms of each page, and of the 500 most frequent of the rest.
    """
    from pagekin.labels._kernels import leaf as kernels

    if np.max(np.diff(counted.offsets), initial=0) <= FIRST_TERMS + FREQUENT_TERMS:
        return counted
    counts = counted.weights.copy()
    kernels.mark_unnoted(
        streams, DecodedPage.for_longest(streams), words.stem_of, len(TERM_ATTRIBUTES), FIRST_TERMS, FREQUENT_TERMS,
        counted.offsets, counted.terms, counts,
    )  # fmt: skip
    return replace(counted, weights=counts)


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
    """Return the clusters of the level chosen when the tree was made; in other trees, the root's children."""
    return list(tree.facts.get("shown") or tree.children[0] or [0])
