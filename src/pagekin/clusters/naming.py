"""Phrases that may name a topic: those that many of its pages show and few others do, as the pages write them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from pagekin.clusters.hierarchy import Tree
from pagekin.clusters.levels import Level, LevelSums, NodeSums, PageLinks, SumsAbove
from pagekin.clusters.shown import ShownPhrases
from pagekin.clusters.unspaced import has_unspaced, is_unspaced
from pagekin.hypertext import fold_case
from pagekin.store import Array

_COVERAGE, _PRECISION, _CONTRAST = 1.0, 0.8, 1.0
"""Powers of the share of a topic's pages that show a phrase, of its pages' share in the topic, and of how much it sets apart."""
_TITLED = 0.35
"""How much more a phrase is worth that is all of a page's title: somebody wrote a page about it."""
_SITE_WORD = 0.3
"""The weight of a word that is part of a site's name."""
_TELLING, _LEAST_TELLING = 0.5, 0.02
"""The exponent of the weight of a phrase's words, and the weight of an uninformative word."""
_ALONE = 0.7
_NESTED = 0.1
"""The weight of a phrase that never occurs on its own, such as "united"."""
_CRUMBS = 1.5
"""The bonus of a phrase that is always in breadcrumbs, where authors name classes."""
_CONTENTS = 4.0
"""How much more one is worth that is the title of a page which links to all of the topic: its contents page."""
_SMOOTH = 0.01
_LEAST_SHARE = 0.1
"""A phrase names a topic only if at least this share of its pages show it."""
_OTHER_SCRIPT = 0.3
"""The weight of a phrase in another script than the titles of most pages."""
_TITLES = 50
"""Titles that are looked at for that, about."""
_CANDIDATES = 30
"""Phrases of a node that are looked at."""


def rank_phrases(
    level: Level, sums: LevelSums, shown: ShownPhrases, telling: "StemWeights", parent: NodeSums | None
) -> npt.NDArray[np.float64]:
    """Return how well each phrase names each node, compared with the other pages of the parent."""
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
    best *= (1 + _TITLED * shown.is_title[term]) * (1 + _CRUMBS * shown.in_crumbs[term])
    best[shown.of_sites[term]] *= _SITE_WORD
    words = telling.of_phrases(place, shown.stems[term])
    best *= np.maximum(words, shown.in_crumbs[term]) ** _TELLING
    score[may] = best
    return score


@dataclass(frozen=True)
class StemWeights:
    """How characteristic the words of each node of a level are, from 0 to 1, by stem."""

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
            places = np.minimum(np.searchsorted(self.keys, wanted), max(len(self.keys) - 1, 0))
            weight = np.where(self.keys[places] == wanted, self.weights[places], 0.0) if len(self.keys) else 0.0
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
    everywhere: int = 0
    """How many pages of the collection do."""


class CandidateSearch:
    """The search for phrases that may name the nodes of a tree, one group of siblings after the other."""

    def __init__(self, tree: Tree, shown: ShownPhrases, links: PageLinks) -> None:
        self._tree, self._shown, self._links = tree, shown, links
        self._above, self._rows = SumsAbove(tree), shown.rows
        self._found: list[tuple[Array, Array, list[npt.NDArray[np.int64]]]] = [
            (np.zeros(0, np.int64), np.zeros(0), [])
        ] * len(tree)
        """Phrases of each node, how well they name it, and the pages that show them."""

    def note(self, level: Level, words: LevelSums, telling: Array) -> None:
        """Rank the phrases of a group of siblings, given the sums of their words and how characteristic these are."""
        shown, rows = self._shown, self._rows
        weights = StemWeights.of(words, telling, shown.stem_of_word, len(shown.vocabulary.shown))
        sums = LevelSums.of(level, rows)
        score = rank_phrases(level, sums, shown, weights, self._above.parent(level))
        self._above.note(level, sums)
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
            pages = level.pages[level.offsets[number] : level.offsets[number + 1]]
            terms = sums.term[pair[first:last]]
            worth = score[pair[first:last]] * (1 + _CONTENTS * self._contents(terms, pages))
            order = np.argsort(-worth, kind="stable")
            self._found[int(level.nodes[number])] = terms[order], worth[order], [held[first + one] for one in order]

    def _contents(self, phrases: Array, pages: Array) -> npt.NDArray[np.float64]:
        """Return, for each phrase, the share of some pages that a page with this title links to; 0 without such a page."""
        scores, links = np.zeros(len(phrases)), self._links
        for place, phrase in enumerate(phrases.tolist()):
            for page in np.intersect1d(self._shown.pages_titled(phrase), pages, assume_unique=True).tolist():
                targets = links.targets[links.starts[page] : links.starts[page + 1]]
                inside = np.searchsorted(pages, targets, side="right") - np.searchsorted(pages, targets)
                scores[place] = max(scores[place], int(inside.sum()) / len(pages))
        return scores

    def candidates(self) -> list[list["Candidate"]]:
        """Return the phrases that may name each node, the best first, as pages write them."""
        phrases = np.unique(np.concatenate([np.zeros(0, np.int64), *(columns[0] for columns in self._found)]))
        forms = self._shown.forms(phrases.astype(np.int64).tolist())
        found = [
            _merge(
                Candidate(form, float(score), held, int(self._shown.df[int(phrase)]))
                for phrase, score, held in zip(*columns, strict=True)
                if (form := forms.get(int(phrase)))
            )
            for columns in self._found
        ]
        return [self._in_own_script(node, candidates) for node, candidates in enumerate(found)]

    def _in_own_script(self, node: int, candidates: list[Candidate]) -> list[Candidate]:
        """Return candidates with phrases in another script behind where titles are in a script without spaces.

        They keep their places if such titles have them, too.
        """
        if not any(is_unspaced(one.form) for one in candidates):
            return candidates
        titles, pages = self._shown.corpus.titles, self._tree.pages_of(node)
        some = [titles.text(page) for page in pages[:: max(len(pages) // _TITLES, 1)].tolist()]
        own = [fold_case(title) for title in some if has_unspaced(title)]
        if 2 * len(own) < len(some):
            return candidates

        def weighed(one: Candidate) -> Candidate:
            inside = has_unspaced(one.form) or sum(fold_case(one.form) in title for title in own) >= 2
            return one if inside else replace(one, score=_OTHER_SCRIPT * one.score)

        return sorted(map(weighed, candidates), key=lambda one: -one.score)


def _merge(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return candidates with those of the same form as one: several phrases of pairs of characters are parts of one word."""
    merged: dict[str, Candidate] = {}
    for one in candidates:
        known = merged.get(one.form)
        pages = np.union1d(known.pages, one.pages) if known else one.pages
        merged[one.form] = replace(
            known or one, pages=pages, everywhere=max(one.everywhere, known.everywhere if known else 0)
        )
    return list(merged.values())
