"""How pages are scored: the constants, and what plain and compiled code know of postings. docs/search.md has the formula."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Attribute, Corpus

Array = npt.NDArray[Any]
K1, B = 1.2, 0.75
HEADER = 2
"""Weight of a word in a header; any other outside of the title has 1."""
TITLE = 12.0
"""What a title can add to a score at most, for each word and in units of its inverse frequency."""
CALLED = 5.0
"""What a word of the links to a page can add at most that its title lacks, in the same units."""
SMOOTH = 2
"""Links that are added to those of a page in the share that say a word: one link is no proof."""
ROW = 0.5
"""What two words of a question in a row add where pages hold some of its words, in units of their inverse frequencies."""
MOSTLY = 0.5
"""Share of a question above which a page is called what was asked for, though it does not hold all of the words."""
OPENING = 1.5
"""What a page gains that says all of several words at once, in its title and its opening, in the same units; …"""
STRONG, LONGEST_NAME = 60, 300
"""… or is called all of them, by links of this strength (a share of 5.5 %) and by a title of no more bytes than that."""
SHORT, LONG = 10.0, 80.0
"""Bytes by which the length of titles counts: in one of LONG - SHORT bytes a word adds half of that."""
TITLE_BIT, HEADER_BIT, TEXT_BIT = int(Attribute.TITLE), int(Attribute.HEADER), int(Attribute.TEXT)
ATTRIBUTE_BITS: dict[str | None, int] = {None: 0} | {
    name.lower(): int(one) for name, one in Attribute.__members__.items()
}
"""By the names of attributes; 0 for any."""
PRESENT = 1
"""A form stands on a page at all; the attributes under which it does are the bits above."""
LONGEST_NARROW = 65_535
"""Words of a page up to which the place of a word takes one number of 16 bits."""
PAGES_OF_RANGE = 64
"""Neighbouring pages that share one bound of their scores."""


class Postings(NamedTuple):
    """The entries of all forms, and what scores need to know of pages."""

    page: Array
    """Of each entry; within a form pages rise."""
    attributes: npt.NDArray[np.uint8]
    counts: npt.NDArray[np.uint8]
    words: npt.NDArray[np.int32]
    """(pages) length in words."""
    titles: npt.NDArray[np.int32]
    """(pages) length of the title in bytes."""
    called_offsets: Array
    """(forms + 1) per form, its share of the two arrays below."""
    called_page: Array
    """Pages to which links lead that say a form; within a form pages rise."""
    called: npt.NDArray[np.uint8]
    """The square root of the share of these links, in 255ths."""
    opening_offsets: Array
    """(forms + 1) per form, its share of the array below."""
    opening_page: Array
    """Pages in whose titles or openings a form stands; within a form pages rise."""


def corpus_lengths(corpus: Corpus) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the lengths of all pages in words and of their titles in bytes."""
    words, titles = (
        np.diff(np.asarray(offsets, np.int64)).astype(np.int32)
        for offsets in (corpus.pages.tokens, corpus.titles.offsets)
    )
    return words, titles


class Terms(NamedTuple):
    """The words that a query looks for, in the order of their keys."""

    begin: npt.NDArray[np.int64]
    """Where the entries of each begin in the postings."""
    end: npt.NDArray[np.int64]
    bit: npt.NDArray[np.int64]
    """The attribute under which it is looked for, 0 for any."""
    form: npt.NDArray[np.int64]
    """The number of its form, by which links call pages; -1 if there is none, or it is looked for under an attribute."""
    row: npt.NDArray[np.int64]
    """Its row of `Bounds`, or -1."""
    rarity: npt.NDArray[np.float64]
    """Its inverse frequency."""


class Bounds(NamedTuple):
    """What frequent forms can add to scores at most: a row per form, an entry per range of pages."""

    weight: npt.NDArray[np.uint8]
    """The largest weight on a page outside of titles; 255 for that and more, 0 if the form stands on no page of the range."""
    words: npt.NDArray[np.uint16]
    """The least length of a page per weight of the form, rounded down; 65,535 for that and more."""
    title: npt.NDArray[np.uint8]
    """The largest share of TITLE that a title adds, in 255ths, rounded up."""


def _no_bounds() -> Bounds:
    """Return bounds of no form, read-only as the columns of files are: kernels are compiled for one kind."""
    columns = np.zeros(0, np.uint8), np.zeros(0, np.uint16), np.zeros(0, np.uint8)
    for column in columns:
        column.setflags(write=False)
    return Bounds(*columns)


NO_BOUNDS = _no_bounds()


class RankOptions(NamedTuple):
    """What is wanted of the pages that hold terms."""

    every: bool
    """Whether a page, or a document, has to hold all terms, or any."""
    mean: float
    """The mean length of pages in words."""
    most: int
    """How many pages are returned at most."""
    keep: npt.NDArray[np.bool_]
    """(pages) which pages may match; empty if all may."""


class Places(NamedTuple):
    """The entries of some forms, and where on their pages each form stands."""

    begin: npt.NDArray[np.int64]
    """Where the entries of each form begin in the postings."""
    end: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    """Where the places of each form's first entry begin in `where`; an entry has as many as its count."""
    where: npt.NDArray[np.uint16]
    """Places of words on their pages; on one longer than LONGEST_NARROW words a place takes two numbers, the high one first."""


class Runs(NamedTuple):
    """Where words under one attribute stand on each page."""

    ends: npt.NDArray[np.int64]
    """(pages) where the page's share of `bounds` ends."""
    bounds: npt.NDArray[np.int64]
    """The first word of a run and the first after it, run after run."""


class Rows(NamedTuple):
    """Neighbouring words of a question, by their places among its terms."""

    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float64]
    """What a page gains on which they stand in a row, in units of ROW."""
