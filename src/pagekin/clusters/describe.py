"""Telling words of clusters, names of a few such words, and the pages in the middle of each."""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pagekin.bags import is_telling
from pagekin.clusters.hierarchy import ClusterDescription, Tree
from pagekin.clusters.levels import Level, LevelSums, Rows, tree_levels
from pagekin.store import Array

TERMS = 12
CENTRAL = 5
_IN_NAME = 3
_COMMON = 0.12
"""A term names a cluster only if at least this share of its pages hold it."""
_SMOOTH = 0.01
_UNTITLED, _TITLED = 0.1, 0.3
"""What a word tells that stands in no title; the share of titles from which on more of them add nothing."""
_WRITTEN = 20
"""Pages, besides the central ones, that tell how words are written."""
_LINKS = 0.3
"""How much links from inside the cluster count for a page's being central, beside its terms."""


def describe(
    tree: Tree, rows: Rows, word: Callable[[int], str], same: Callable[[str], str], links: Array,
    titles: Rows, written: Callable[[Sequence[str], Array], Sequence[str]],
    note: Callable[[LevelSums, Array], None] | None = None, unfit: Array | None = None,
    language: Callable[[Array], str] = lambda _pages: "",
) -> Tree:  # fmt: skip
    """Return the tree with telling terms and central pages for each node, and names if it has none.

    `word` gives a term as people write it, `same` what is equal for words that should not both stand in a name (their
    stem, say), `links` (links, 2) the links between pages, each once. A term is telling if it weighs much in many of a
    cluster's pages, and fewer of the other pages of its parent hold it; words of titles tell more than those of tables.
    `titles` are the words of the pages' titles alone; `written` gives words as some pages write them, `language` the
    language of most of some pages, whose stop words are left out. `note` is told the sums
    of each level and how telling they are; pages that are `unfit` are central only where there are no others. Cost: for each
    level of the tree, a sort of the words of its pages and a pass over their links.
    """
    descriptions = [ClusterDescription("", (), ())] * len(tree)
    links = links[np.lexsort((links[:, 1], links[:, 0]))]
    above: tuple[Level, LevelSums] | None = None
    for level in tree_levels(tree):
        sums = LevelSums.of(level, rows)
        telling = _weigh_terms(tree, level, sums, LevelSums.of(level, titles), above)
        if note:
            note(sums, telling)
        central = choose_central(level, sums, rows, links, unfit)
        for place, node in enumerate(level.nodes.tolist()):
            pairs = slice(*np.searchsorted(sums.place, (place, place + 1)))
            pages = level.pages[level.offsets[place] : level.offsets[place + 1]]
            terms = written(
                _choose_distinct(sums.term[pairs], telling[pairs], word, same, language(pages)),
                np.array([*central[place], *pages[:_WRITTEN].tolist()], np.int64),
            )
            descriptions[node] = ClusterDescription("", tuple(terms), central[place])
        above = level, sums
    names = [one.name for one in tree.descriptions] or _choose_names(tree, descriptions)
    named = [replace(one, name=name) for one, name in zip(descriptions, names, strict=True)]
    return replace(tree, descriptions=named)


def _weigh_terms(
    tree: Tree, level: Level, sums: LevelSums, titles: LevelSums, above: tuple[Level, LevelSums] | None
) -> npt.NDArray[np.float64]:
    """Return how telling each pair of a node and a term is."""
    sizes = np.maximum(level.sizes, 1)[sums.place]
    here = sums.pages / sizes
    telling = sums.weight / sizes * here
    if above is not None:
        upper, of_upper = above
        parent = np.searchsorted(upper.nodes, tree.parent[level.nodes])[sums.place]
        rest = np.maximum(upper.sizes[parent] - level.sizes[sums.place], 1)
        elsewhere = (of_upper.pages_of(parent, sums.term) - sums.pages) / rest
        telling *= np.log((here + _SMOOTH) / (elsewhere + _SMOOTH))
    in_titles = titles.pages_of(sums.place, sums.term) / sizes
    telling *= _UNTITLED + np.minimum(in_titles / _TITLED, 1.0)
    telling[sums.pages < _COMMON * level.sizes[sums.place]] = 0
    return telling


def _choose_distinct(
    terms: Array, telling: Array, word: Callable[[int], str], same: Callable[[str], str], language: str
) -> list[str]:
    """Return the most telling words that tell people something, none of them similar to an earlier one."""
    chosen: list[str] = []
    seen: set[str] = set()
    by_weight = ((place, word(int(terms[place]))) for place in np.argsort(-telling, kind="stable").tolist())
    likely = ((place, text) for place, text in by_weight if is_telling(text, language))
    for place, text in itertools.islice(likely, 4 * TERMS):
        if telling[place] > 0 and same(text) not in seen and len(chosen) < TERMS:
            seen.add(same(text))
            chosen.append(text)
    return chosen


def choose_central(
    level: Level, sums: LevelSums, rows: Rows, links: Array, unfit: Array | None = None
) -> list[tuple[int, ...]]:
    """Return for each node the pages that are nearest to its mean and most linked to from inside it.

    `links` (links, 2) are sorted by source. Pages that are `unfit` come last.
    """
    member = np.repeat(np.arange(len(level.pages)), rows.offsets[level.pages + 1] - rows.offsets[level.pages])
    weights = rows.weights[sums.entries]
    dot = np.bincount(member, weights * sums.weight[sums.pair_of], len(level.pages))
    size = np.sqrt(np.bincount(member, weights**2, len(level.pages)))
    length = np.sqrt(np.bincount(sums.place, sums.weight**2, len(level.nodes)))[level.places]
    cited = np.log1p(np.bincount(level.inside(links)[0], minlength=len(level.pages)))
    most_cited = np.zeros(len(level.nodes))
    np.maximum.at(most_cited, level.places, cited)
    linked = cited / np.maximum(most_cited, 1e-30)[level.places]
    score = (1 - _LINKS) * dot / np.maximum(size * length, 1e-30) + _LINKS * linked
    if unfit is not None:
        score = score - unfit[level.pages]
    order = np.lexsort((level.pages, -score, level.places))
    return [
        tuple(level.pages[order[first : min(first + CENTRAL, last)]].tolist())
        for first, last in zip(level.offsets[:-1].tolist(), level.offsets[1:].tolist(), strict=True)
    ]


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
