"""Characteristic words of clusters, names made from them, and the central pages of each."""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from pagekin.bags import is_telling
from pagekin.clusters.hierarchy import ClusterDescription, Tree
from pagekin.clusters.levels import Level, LevelSums, NodeSums, PageLinks, Rows, SumsAbove, sibling_groups
from pagekin.hypertext import WrittenWords
from pagekin.store import Array

TERMS = 12
CENTRAL = 5
_IN_NAME = 3
_COMMON = 0.12
"""A term names a cluster only if at least this share of its pages hold it."""
_SMOOTH = 0.01
_UNTITLED, _TITLED = 0.1, 0.3
"""The weight of a word that is in no title; the share of titles beyond which more add nothing."""
_WRITTEN = 20
"""How many pages, besides the central ones, show how words are written."""
_SPELT = 1 << 10
"""Nodes, about, for whose words pages are opened at a time, to see how these are written."""
_LINKS = 0.3
"""The weight of links from inside the cluster, relative to terms, in choosing central pages."""


@dataclass(frozen=True)
class PageFacts:
    """The data for descriptions: words, titles and links of all pages, and how words are written."""

    rows: Rows
    """The words of the pages."""
    titles: Rows
    """The words of their titles alone."""
    links: PageLinks
    word: Callable[[int], str]
    """A term as people write it."""
    same: Callable[[str], str]
    """A key that is equal for words that should not be in one name, such as their stem."""
    written: Callable[[Sequence[WrittenWords]], Sequence[Sequence[str]]]
    """Words as some pages write them, for many nodes at a time."""
    language: Callable[[Array], str] = lambda _pages: ""
    """The language of most of some pages, whose stop words are left out."""


def describe(
    tree: Tree, pages: PageFacts, note: Callable[[Level, LevelSums, Array], None] | None = None, unfit: Array | None = None
) -> Tree:  # fmt: skip
    """Return the tree with characteristic terms and central pages for each node, and names if it has none.

    A term is telling if it weighs much in many of a cluster's pages, and fewer of the other pages of its parent hold it;
    words of titles tell more than those of tables. `note` is told the sums of each group of siblings, and how telling they
    are, groups above before those below; pages that are `unfit` are central only where there are no others. Cost: for each
    level of the tree, two passes over the words of the pages and one over their links; memory for the sums of the nodes
    above one at a time.
    """
    descriptions = [ClusterDescription("", (), ())] * len(tree)
    waiting: dict[int, tuple[WrittenWords, tuple[int, ...]]] = {}
    texts: dict[str, str] = {}

    def spell() -> None:
        spelt = pages.written([asked for asked, _central in waiting.values()])
        for (node, (_asked, central)), terms in zip(waiting.items(), spelt, strict=True):
            descriptions[node] = ClusterDescription("", tuple(texts.setdefault(term, term) for term in terms), central)
        waiting.clear()

    above = SumsAbove(tree)
    for level in sibling_groups(tree, pages.rows.offsets):
        sums = LevelSums.of(level, pages.rows, with_dots=True)
        telling = _weigh_terms(level, sums, LevelSums.of(level, pages.titles), above.parent(level))
        above.note(level, sums)
        if note:
            note(level, sums, telling)
        chosen = choose_central(level, sums, pages.links, unfit)
        for place, node in enumerate(level.nodes.tolist()):
            pairs = sums.pairs(place)
            held = level.pages[level.offsets[place] : level.offsets[place + 1]]
            terms = _choose_distinct(
                sums.term[pairs], telling[pairs], pages.word, pages.same, pages.language(held)
            )  # fmt: skip
            shown_by = (*chosen[place], *held[:_WRITTEN].tolist())
            waiting[node] = WrittenWords(tuple(terms), shown_by), chosen[place]
        if len(waiting) >= _SPELT:
            spell()
    spell()
    names = [one.name for one in tree.descriptions] or _choose_names(tree, descriptions)
    named = [replace(one, name=name) for one, name in zip(descriptions, names, strict=True)]
    return replace(tree, descriptions=named)


def _weigh_terms(level: Level, sums: LevelSums, titles: LevelSums, parent: NodeSums | None) -> npt.NDArray[np.float64]:
    """Return how characteristic each term is of each node, compared with the other pages of the parent."""
    place = sums.place
    sizes = np.maximum(level.sizes, 1)[place]
    here = sums.pages / sizes
    telling = sums.weight / sizes * here
    if parent is not None:
        rest = np.maximum(parent.size - level.sizes[place], 1)
        elsewhere = (parent.pages_of(sums.term) - sums.pages) / rest
        telling *= np.log((here + _SMOOTH) / (elsewhere + _SMOOTH))
    in_titles = titles.pages_of(place, sums.term) / sizes
    telling *= _UNTITLED + np.minimum(in_titles / _TITLED, 1.0)
    telling[sums.pages < _COMMON * level.sizes[place]] = 0
    return telling


def _choose_distinct(
    terms: Array, telling: Array, word: Callable[[int], str], same: Callable[[str], str], language: str
) -> list[str]:
    """Return the most characteristic words that mean something to people, none similar to an earlier one."""
    chosen: list[str] = []
    seen: set[str] = set()
    positive = np.flatnonzero(telling > 0)
    order = positive[np.argsort(-telling[positive], kind="stable")]
    by_weight = ((place, word(int(terms[place]))) for place in order.tolist())
    likely = ((place, text) for place, text in by_weight if is_telling(text, language))
    for _place, text in itertools.islice(likely, 4 * TERMS):
        if same(text) not in seen and len(chosen) < TERMS:
            seen.add(same(text))
            chosen.append(text)
    return chosen


def choose_central(
    level: Level, sums: LevelSums, links: PageLinks, unfit: Array | None = None
) -> list[tuple[int, ...]]:
    """Return for each node the pages that are nearest to its mean and most linked to from inside it; `unfit` ones last."""
    cited = np.log1p(level.citations(links))
    most_cited = np.zeros(len(level.nodes))
    places = level.places
    np.maximum.at(most_cited, places, cited)
    linked = cited / np.maximum(most_cited, 1e-30)[places]
    score = (1 - _LINKS) * sums.dots / np.maximum(sums.lengths, 1e-30) + _LINKS * linked
    if unfit is not None:
        score = score - unfit[level.pages]
    order = np.lexsort((level.pages, -score, places))
    return [
        tuple(level.pages[order[first : min(first + CENTRAL, last)]].tolist())
        for first, last in pairwise(level.offsets.tolist())
    ]


def _choose_names(tree: Tree, described: Sequence[ClusterDescription]) -> list[str]:
    """Name nodes by a few terms; siblings with the same name get more terms, and finally a number."""
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
