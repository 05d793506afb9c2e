"""Names that people would write: phrases that many of a topic's pages show and few others do, as the pages write them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise

import numpy as np
import numpy.typing as npt

from pagekin.bags import STOP_WORDS
from pagekin.clusters.hierarchy import ClusterDescription, Tree
from pagekin.clusters.levels import Level, LevelSums, NodeSums
from pagekin.clusters.shown import ShownPhrases
from pagekin.hypertext import fold_case
from pagekin.store import Array
from pagekin.text import tokens

_COVERAGE, _PRECISION, _CONTRAST = 1.0, 0.8, 1.0
"""Powers of the share of a topic's pages that show a phrase, of its pages' share in the topic, and of how much it sets apart."""
_TITLED = 0.35
"""How much more a phrase is worth that is all of a page's title: somebody wrote a page about it."""
_SITE_WORD = 0.3
"""What a word is worth that is part of a site's name."""
_TELLING, _LEAST_TELLING = 0.5, 0.02
"""The power of how telling a phrase's words are, and what a word counts that tells nothing."""
_ALONE = 0.7
_NESTED = 0.1
"""What a phrase is worth that never stands alone, such as "united"."""
_SMOOTH = 0.01
_LEAST_SHARE = 0.1
"""A phrase names a topic only if at least this share of its pages show it."""
_CANDIDATES = 30
"""Phrases of a node that are looked at."""
TERMS = 12
NOTICES = "Moved or missing pages"
"""The name of a topic of servers' notices."""
_NOTICES = 0.9
"""A topic has that name if more than this share of its pages are notices; if nothing else names it, more than half."""
_IN_NAME = 3
_COVERED = 0.7
"""A group of topics is named by them if the best phrase for it is shown by less than this share of its pages."""
_LONGER = 0.85
"""A longer phrase is taken for one that is part of it if this share of the pages that show the one show the other."""
_PART = 0.1
"""The least share of a node's pages that a part has whose name goes into the node's."""
_ENOUGH = 0.4
"""A name needs no further phrase if those it has are shown by this share of the pages."""
_TOGETHER = 0.05
"""The share of pages that show all phrases of a name, at least: who searches for the name shall find some."""
_WORTH = 0.3
"""A further phrase is as good as this share of the first, at least."""


def rank_phrases(
    level: Level, sums: LevelSums, shown: ShownPhrases, telling: "StemWeights", parent: NodeSums | None
) -> npt.NDArray[np.float64]:
    """Return how well each pair of a node and a phrase names the node, beside the other pages of the parent."""
    place = sums.place
    sizes = np.maximum(level.sizes, 1)[place]
    here = sums.pages / sizes
    score = (sums.weight / sizes) ** _COVERAGE
    everywhere = shown.weight_of[sums.term]
    if parent is not None:
        rest = np.maximum(parent.size - level.sizes[place], 1)
        held = parent.pages_of(sums.term)
        elsewhere = (held - sums.pages) / rest
        contrast = np.log((here + _SMOOTH) / (elsewhere + _SMOOTH)) / np.log(1 / _SMOOTH)
        precision = np.sqrt(sums.weight / (everywhere + 1) * sums.pages / (held + 1))
        score *= np.maximum(contrast, 0) ** _CONTRAST * precision**_PRECISION
    score[sums.pages < np.maximum(2, _LEAST_SHARE * level.sizes[place])] = 0
    # Most phrases are shown by too few pages, so the rest is worked out for the others alone.
    may = np.flatnonzero(score > 0)
    place, term, best = place[may], sums.term[may], score[may]
    best *= _NESTED + (1 - _NESTED) * shown.alone[term] ** _ALONE
    best *= 1 + _TITLED * shown.titled[term]
    best[shown.of_sites[term]] *= _SITE_WORD
    words = telling.of_phrases(place, shown.stems[term])
    best *= np.maximum(words, shown.in_crumbs[term]) ** _TELLING
    score[may] = best
    return score


@dataclass(frozen=True)
class StemWeights:
    """How telling the words of each node of a level are, from 0 to 1, by their stems."""

    keys: npt.NDArray[np.int64]
    """Place of the node times the number of stems, plus the stem; rising."""
    weights: npt.NDArray[np.float64]
    stems: int

    @classmethod
    def of(cls, sums: LevelSums, telling: Array, stem_of: Array, stems: int) -> "StemWeights":
        """Take the best of the words of a stem; `stem_of` gives the stem of each word."""
        stem, place = stem_of[sums.term], sums.place
        known = (stem >= 0) & (telling > 0)  # a word that tells nothing counts as one that is not there
        keys, pair_of = np.unique(place[known] * stems + stem[known], return_inverse=True)
        weights = np.zeros(len(keys))
        np.maximum.at(weights, pair_of, telling[known])
        best = np.zeros(len(sums.ends))
        np.maximum.at(best, keys // stems, weights)
        return cls(keys, weights / np.maximum(best, 1e-30)[keys // stems], stems)

    def of_phrases(self, place: Array, stems: Array) -> npt.NDArray[np.float64]:
        """Return the geometric mean over the stems of phrases (rows, filled up with -1) at some places."""
        total, count = np.zeros(len(place)), np.zeros(len(place))
        for column in stems.T:
            wanted = place * self.stems + column
            found = np.minimum(np.searchsorted(self.keys, wanted), max(len(self.keys) - 1, 0))
            weight = np.where(self.keys[found] == wanted, self.weights[found], 0.0) if len(self.keys) else 0.0
            total += np.where(column >= 0, np.log(np.maximum(weight, _LEAST_TELLING)), 0.0)
            count += column >= 0
        return np.exp(total / np.maximum(count, 1))


@dataclass(frozen=True)
class Candidate:
    """A phrase that may name a node."""

    form: str
    score: float
    pages: npt.NDArray[np.int64]
    """Pages of the node that show it."""


class CandidateSearch:
    """The search for phrases that may name the nodes of a tree, one group of siblings after the other."""

    def __init__(self, tree: Tree, shown: ShownPhrases) -> None:
        self._tree, self._shown = tree, shown
        self._above: dict[int, NodeSums] = {}
        self._found: list[tuple[Array, Array, list[npt.NDArray[np.int64]]]] = [
            (np.zeros(0, np.int64), np.zeros(0), [])
        ] * len(tree)
        """Phrases of each node, how well they name it, and the pages that show them."""

    def note(self, level: Level, words: LevelSums, telling: Array) -> None:
        """Rank the phrases of a group of siblings, given the sums of their words and how telling these are."""
        shown, rows = self._shown, self._shown.rows
        weights = StemWeights.of(words, telling, shown.stem_of_word, len(shown.vocabulary.shown))
        sums = LevelSums.of(level, rows)
        score = rank_phrases(
            level, sums, shown, weights, self._above.pop(int(self._tree.parent[level.nodes[0]]), None)
        )  # fmt: skip
        for number, node in enumerate(level.nodes.tolist()):
            if self._tree.children[node]:
                self._above[node] = sums.of_node(number, int(level.sizes[number]))
        may = np.flatnonzero(score > 0)
        place = sums.place[may]
        order = np.lexsort((sums.term[may], -score[may], place))
        bounds = np.searchsorted(place, np.arange(len(level.nodes) + 1))
        chosen = order[np.arange(len(order)) - bounds[place[order]] < _CANDIDATES]
        place, pair = place[chosen], may[chosen]
        held = level.holders(rows, place, sums.term[pair], sums.pages[pair])
        for number, (first, last) in enumerate(
            pairwise(np.searchsorted(place, np.arange(len(level.nodes) + 1)).tolist())
        ):
            some = pair[first:last]
            self._found[int(level.nodes[number])] = sums.term[some], score[some], held[first:last]

    def candidates(self) -> list[list["Candidate"]]:
        """Return the phrases that may name each node, the best first, as pages write them."""
        phrases = np.unique(np.concatenate([np.zeros(0, np.int64), *(found[0] for found in self._found)]))
        forms = self._shown.forms(phrases.astype(np.int64).tolist())
        return [
            [
                Candidate(form, float(score), held)
                for phrase, score, held in zip(*found, strict=True)
                if (form := forms.get(int(phrase)))
            ]
            for found in self._found
        ]


def name_tree(
    tree: Tree, shown: ShownPhrases, found: Sequence[Sequence[Candidate]], kept: Mapping[int, str] | None = None
) -> list[ClusterDescription]:
    """Return descriptions with names for all nodes, and the phrases that tell most about each before its telling words.

    `found` are the candidates of each node. The tree has descriptions already, with names of words for nodes that no phrase
    fits. `kept` are names that some nodes have in any case. No node has the name of a sibling or of a node above it; a group
    that no phrase covers is named by its topics.
    """
    kept = kept or {}
    sizes = [len(tree.pages_of(node)) for node in range(len(tree))]
    names = [""] * len(tree)
    descriptions = list(tree.descriptions)
    groups = {node for one in tree.facts.get("shown", ()) for node in tree.path(one)[:-1]}
    notices = np.array([int(np.count_nonzero(shown.notices[tree.pages_of(node)])) for node in range(len(tree))])
    for siblings in [[0], *tree.children]:
        if not siblings:
            continue
        above = [names[node] for node in tree.path(siblings[0])[:-1] if node]
        taken = {fold_case(name) for name in (*above, *(kept[node] for node in siblings if node in kept))}
        for node in siblings:
            free = [one for one in found[node] if fold_case(one.form) not in taken]
            limit = _NOTICES if free else 0.5
            name = kept.get(node) or (NOTICES if notices[node] > limit * sizes[node] else "")
            if not name and node in groups:
                name = _name_by_parts(free, sizes, found, tree.children[node], node)
            name = name or ", ".join(one.form for one in choose_phrases(free, sizes[node]))
            if node not in kept:
                name = _set_apart(name or descriptions[node].name, taken)
            names[node] = name
            taken.add(fold_case(name))
            phrases = [one.form for one in distinct(found[node])]
            seen = {word for form in phrases for word in tokens(form)} | shown.site_words
            terms = [*phrases, *(word for word in descriptions[node].terms if fold_case(word) not in seen)][:TERMS]
            descriptions[node] = replace(descriptions[node], name=name, terms=tuple(terms))
    return descriptions


def _set_apart(name: str, taken: set[str]) -> str:
    """Return a name with a number if it is taken."""
    numbered = (f"{name} ({number})" for number in count(2))
    return name if fold_case(name) not in taken else next(one for one in numbered if fold_case(one) not in taken)


def _name_by_parts(
    free: Sequence[Candidate],
    sizes: Sequence[int],
    found: Sequence[Sequence[Candidate]],
    parts: Sequence[int],
    node: int,
) -> str:
    """Return the names of the largest parts of a group of topics if no phrase covers the group; '' if one does."""
    if len(parts) < 2 or (free and len(free[0].pages) >= _COVERED * sizes[node]):
        return ""
    forms: list[str] = []
    for part in parts:
        form = next((one.form for one in found[part] if not any(_overlap(one.form, other) for other in forms)), "")
        if form and sizes[part] >= _PART * sizes[node]:
            forms.append(form)
    return ", ".join(forms[:_IN_NAME])


def distinct(found: Sequence[Candidate]) -> Iterator[Candidate]:
    """Yield candidates that are no part of an earlier one."""
    seen: set[frozenset[str]] = set()
    for one in found:
        key = frozenset(tokens(one.form))
        if not any(key <= other or other <= key for other in seen):
            seen.add(key)
            yield one


def choose_phrases(found: Sequence[Candidate], size: int) -> list[Candidate]:
    """Return the phrases of a name: the best, and others if it covers few pages: they cover more, and go with it on some."""
    chosen = list(found[:1])
    covered = both = chosen[0].pages if chosen else np.zeros(0, np.int64)
    while chosen and len(chosen) < _IN_NAME and len(covered) < _ENOUGH * size:
        best, most = None, _WORTH * chosen[0].score
        for one in found:
            together = np.intersect1d(one.pages, both, assume_unique=True)
            worth = one.score * (1 - len(np.intersect1d(one.pages, covered, assume_unique=True)) / len(one.pages))
            if (
                worth > most
                and len(together) >= max(_TOGETHER * size, 3)
                and not any(_overlap(one.form, other.form) for other in chosen)
            ):
                best, most = one, worth
        if best is None:
            break
        chosen.append(best)
        covered = np.union1d(covered, best.pages)
        both = np.intersect1d(both, best.pages, assume_unique=True)
    return [_lengthen(one, found) for one in chosen]


def _lengthen(short: Candidate, found: Sequence[Candidate]) -> Candidate:
    """Return the best longer phrase that most pages show which show a phrase: Georgia Institute of Technology."""
    inside = f" {fold_case(short.form)} "
    longer = (one for one in found if inside in f" {fold_case(one.form)} " and len(one.form) > len(short.form))
    return next((one for one in longer if len(one.pages) >= _LONGER * len(short.pages)), short)


def _overlap(one: str, other: str) -> bool:
    """Return whether two phrases share a word, or the beginning of a long one."""
    a, b = ({word[:5] for word in tokens(text) if word not in STOP_WORDS} for text in (one, other))
    return bool(a & b)
