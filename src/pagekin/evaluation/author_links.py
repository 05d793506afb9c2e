"""Links by which an author recommends a page: in running text, and in see-also lists."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags import LinkUse, stored_uses
from pagekin.hypertext import Boundary, Corpus
from pagekin.store import Array

WORDS_BEFORE = 2
"""Words outside links that stand before a link in its block: the entry of a list begins with its link."""
WORDS_AROUND = 8
"""Words outside links that a block of running text has."""
SEE_ALSO = (
    ("see", "also"), ("siehe", "auch"), ("voir", "aussi"), ("véase", "también"), ("ver", "también"), ("ver", "também"),
    ("vedi", "anche"), ("zie", "ook"), ("se", "även"), ("se", "også"), ("zobacz", "też"), ("zobacz", "także"),
    ("см", "также"), ("viz", "též"), ("related", "topics"), ("related", "pages"), ("related", "articles"),
    ("related", "information"), ("related", "links"),
)  # fmt: skip
"""How see-also lists begin, in the languages in which two words say it."""
_WITHIN = (Boundary.SENTENCE, Boundary.BREAK)
"""Boundaries within a block."""
_LIST = (*_WITHIN, Boundary.PARAGRAPH, Boundary.ITEM, Boundary.CELL)
"""Boundaries within a list under a heading."""
_LONGEST_HEADING = 4
"""Words of a block that only says what follows it."""


class PageLinks(NamedTuple):
    """A page's links in order: where their words begin, and the URL numbers of their targets."""

    starts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]


class PageLists(NamedTuple):
    """The see-also lists of a page."""

    listed: npt.NDArray[np.int64]
    """The distinct URL numbers that they name, …"""
    elsewhere: npt.NDArray[np.int64]
    """… and those that other links lead to that count."""
    words: npt.NDArray[np.int64]
    """The terms of the corpus that are the page's words, in order."""
    inside: npt.NDArray[np.bool_]
    """Which of the words stand in a list."""


def _links(corpus: Corpus, page: int) -> PageLinks:
    anchors = corpus.anchors_out(page)
    part, columns = slice(anchors.start, anchors.stop), corpus.anchors
    return PageLinks(*(np.asarray(one[part], np.int64) for one in (columns.start, columns.length, columns.target)))


def _bounds(at: Array, kinds: Array, within: tuple[Boundary, ...], words: int) -> npt.NDArray[np.int64]:
    """Return the beginnings of blocks and the end of the last; boundaries of some kinds do not end a block."""
    return np.concatenate(([0], np.unique(at[~np.isin(kinds, within)]), [words]))


def running_links(corpus: Corpus, page: int) -> npt.NDArray[np.int64]:
    """Return the distinct URL numbers that a page's running text links to."""
    links = _links(corpus, page)
    if not len(links.starts):
        return np.zeros(0, np.int64)
    stream = corpus.stream(page)
    linked = np.zeros(len(stream.words) + 1, np.int64)
    np.add.at(linked, links.starts, 1)
    np.add.at(linked, links.starts + links.lengths, -1)
    plain = np.append(0, np.cumsum(np.cumsum(linked[:-1]) == 0))
    bounds = _bounds(stream.boundary_at, stream.boundary_kind, _WITHIN, len(stream.words))
    block = np.searchsorted(bounds, links.starts, side="right") - 1
    first, last = bounds[block], bounds[np.minimum(block + 1, len(bounds) - 1)]
    amid = (plain[links.starts] - plain[first] >= WORDS_BEFORE) & (plain[last] - plain[first] >= WORDS_AROUND)
    return np.unique(links.targets[amid & (links.lengths > 0)])


class SeeAlsoReader:
    """Finds the see-also lists of a corpus's pages."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        pairs = [tuple(map(corpus.term_number, words)) for words in SEE_ALSO]
        self._pairs = [pair for pair in pairs if min(pair) >= 0]
        self._uses = stored_uses(corpus.kin)[0] if self._pairs else np.zeros(0, np.uint8)

    def read(self, page: int) -> PageLists | None:
        """Return the see-also lists of a page; None if it has none.

        A list is a block that begins with the words; where these stand alone, as a heading does, all up to the next heading.
        Links that stand on page after page are no part of it.
        """
        links, anchors = _links(self._corpus, page), self._corpus.anchors_out(page)
        if not len(links.starts) or not self._pairs:
            return None
        uses = self._uses[anchors.start : anchors.stop]
        stream = self._corpus.stream(page)
        words, at, kinds = stream.words.astype(np.int64), stream.boundary_at, stream.boundary_kind
        blocks, sections = (_bounds(at, kinds, within, len(words)) for within in (_WITHIN, _LIST))
        held, inside = np.zeros(len(links.starts), np.bool_), np.zeros(len(words), np.bool_)
        for first, second in self._pairs:
            for start in np.flatnonzero((words[:-1] == first) & (words[1:] == second)).tolist():
                if start not in blocks:
                    continue
                end = int(blocks[np.searchsorted(blocks, start, side="right")])
                if end - start <= _LONGEST_HEADING and not np.any((links.starts >= start) & (links.starts < end)):
                    end = int(sections[np.minimum(np.searchsorted(sections, end, side="right"), len(sections) - 1)])
                some = (links.starts >= start) & (links.starts < end) & (uses != LinkUse.FURNITURE)
                if some.any():
                    held |= some
                    inside[start:end] = True
        if not held.any():
            return None
        for link in np.flatnonzero(uses == LinkUse.FURNITURE).tolist():
            inside[links.starts[link] : links.starts[link] + links.lengths[link]] = False
        elsewhere = links.targets[~held & (uses == LinkUse.COUNTS)]
        return PageLists(np.unique(links.targets[held]), np.unique(elsewhere), words, inside)
