"""Names for clusters that people understand, and the pages in the middle of each."""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pagekin.bags import BagMatrix, is_telling
from pagekin.clusters.hierarchy import ClusterDescription, Tree
from pagekin.store import Array, row_entries

TERMS = 12
CENTRAL = 5
_IN_NAME = 3
_COMMON = 0.12
"""A term names a cluster only if at least this share of its pages hold it."""
_SMOOTH = 0.01
_UNTITLED, _TITLED = 0.1, 0.3
"""What a word tells that stands in no title; the share of titles from which on more of them add nothing."""
_KEPT_SUMS = 8
"""Nodes whose sums are kept: those of parents are asked for by each child."""
_WRITTEN = 20
"""Pages, besides the central ones, that tell how words are written."""
_LINKS = 0.3
"""How much links from inside the cluster count for a page's being central, beside its terms."""


class Rows:
    """The bags of pages as rows of a sparse matrix: words alone, each row divided by its sum."""

    def __init__(self, bags: BagMatrix, words: int) -> None:
        is_word = bags.terms < words
        page, weights = bags.rows[is_word], bags.weights[is_word].astype(np.float64)
        self.terms, self.words = bags.terms[is_word], words
        self.weights = weights / np.maximum(np.bincount(page, weights, len(bags)), 1e-30)[page]
        self.offsets = np.searchsorted(page, np.arange(len(bags) + 1))

    def sums(self, pages: Array) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Return (summed weights, number of pages that hold it) of each word over some pages."""
        places = row_entries(self.offsets, pages)
        terms = self.terms[places]
        sums = np.bincount(terms, self.weights[places], self.words)
        return sums.astype(np.float64), np.bincount(terms, minlength=self.words).astype(np.int64)

    def cosines(self, pages: Array, centre: Array) -> npt.NDArray[np.float64]:
        """Return the cosine of each of some pages with a vector of all words."""
        places = row_entries(self.offsets, pages)
        number = np.repeat(np.arange(len(pages)), self.offsets[pages + 1] - self.offsets[pages])
        dot = np.bincount(number, self.weights[places] * centre[self.terms[places]], len(pages))
        size = np.sqrt(np.bincount(number, self.weights[places] ** 2, len(pages)))
        length = float(np.sqrt(np.sum(centre**2)))
        return dot / np.maximum(size * length, 1e-30)


def describe(
    tree: Tree, rows: Rows, word: Callable[[int], str], same: Callable[[str], str], links: Array,
    titles: Rows, written: Callable[[Sequence[str], Array], Sequence[str]], language: Callable[[Array], str] = lambda _pages: "",
) -> Tree:  # fmt: skip
    """Return the tree with telling terms and central pages for each node, and names if it has none.

    `word` gives a term as people write it, `same` what is equal for words that should not both stand in a name (their
    stem, say), `links` (links, 2) the links between pages, each once. A term is telling if it weighs much in many of a
    cluster's pages, and fewer of the other pages of its parent hold it; words of titles tell more than those of tables.
    `titles` are the words of the pages' titles alone; `written` gives words as some pages write them, `language` the
    language of most of some pages, whose stop words are left out.
    """
    descriptions: list[ClusterDescription] = []
    sums = lru_cache(_KEPT_SUMS)(lambda node: rows.sums(tree.pages_of(node)))
    # An only child holds what its parent does.
    same_pages = list(range(len(tree)))
    for node, parent in enumerate(tree.parent.tolist()):
        if parent >= 0 and len(tree.pages_of(parent)) == len(tree.pages_of(node)):
            same_pages[node] = same_pages[parent]
    for node in range(len(tree)):
        pages = tree.pages_of(node)
        own, holding = sums(same_pages[node])
        here = holding / max(len(pages), 1)
        telling = own / max(len(pages), 1) * here
        if tree.parent[node] >= 0:
            above = tree.pages_of(int(tree.parent[node]))
            elsewhere = (sums(same_pages[tree.parent[node]])[1] - holding) / max(len(above) - len(pages), 1)
            telling *= np.log((here + _SMOOTH) / (elsewhere + _SMOOTH))
        in_titles = titles.sums(pages)[1] / max(len(pages), 1)
        telling *= _UNTITLED + np.minimum(in_titles / _TITLED, 1.0)
        telling[holding < _COMMON * len(pages)] = 0
        central = _choose_central(pages, own, rows, links)
        terms = written(
            _choose_distinct(telling, word, same, language(pages)),
            np.array([*central, *pages[:_WRITTEN].tolist()], np.int64),
        )
        descriptions.append(ClusterDescription("", tuple(terms), central))
    names = [one.name for one in tree.descriptions] or _choose_names(tree, descriptions)
    named = [replace(one, name=name) for one, name in zip(descriptions, names, strict=True)]
    return replace(tree, descriptions=named)


def _choose_distinct(
    telling: Array, word: Callable[[int], str], same: Callable[[str], str], language: str
) -> list[str]:
    """Return the most telling words that tell people something, none of them similar to an earlier one."""
    terms: list[str] = []
    seen: set[str] = set()
    likely = (term for term in np.argsort(-telling, kind="stable").tolist() if is_telling(word(term), language))
    for term in itertools.islice(likely, 4 * TERMS):
        text = word(term)
        if telling[term] <= 0 or len(terms) == TERMS:
            break
        if same(text) not in seen:
            seen.add(same(text))
            terms.append(text)
    return terms


def _choose_central(pages: Array, centre: Array, rows: Rows, links: Array) -> tuple[int, ...]:
    """Return the pages that are nearest to the cluster's mean and most linked to from inside it."""
    if not len(pages):
        return ()
    inside = np.zeros(len(rows.offsets) - 1, np.bool_)
    inside[pages] = True
    both = inside[links[:, 0]] & inside[links[:, 1]]
    cited = np.log1p(np.bincount(links[both, 1], minlength=len(inside))[pages])
    linked = cited / max(float(cited.max()), 1e-30)
    score = (1 - _LINKS) * rows.cosines(pages, centre) + _LINKS * linked
    return tuple(int(page) for page in pages[np.lexsort((pages, -score))[:CENTRAL]])


def _choose_names(tree: Tree, described: Sequence[ClusterDescription]) -> list[str]:
    """Name nodes by a few terms; siblings with the same name get more of them, and at last a number."""
    names = [""] * len(described)
    for children in [[0], *tree.children]:
        taken: Counter[str] = Counter()
        for node in children:
            terms = described[node].terms
            name = next(
                (n for n in (", ".join(terms[:k]) for k in range(_IN_NAME, len(terms) + 1)) if n not in taken),
                ", ".join(terms[:_IN_NAME]),
            )
            taken[name] += 1
            if not name or taken[name] > 1:
                name = f"{name or 'other pages'} ({taken[name]})" if taken[name] > 1 else "other pages"
            names[node] = name
    return names
