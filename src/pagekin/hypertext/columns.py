"""The corpus's arrays as typed columns: what other rooms read of pages, anchors, links, terms and word streams.

Arrays of numbers are as narrow as their largest value allows (uint8 to uint64), unless a type is named here.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from pagekin.store import Columns, Kin

Array = npt.NDArray[Any]

CORPUS_ARRAYS = (
    "alias.", "anchor.", "host.", "inlink.", "mark.", "page.", "snippet.", "stream.", "term.", "text.", "title.", "url.",
)  # fmt: skip
"""How the names of the corpus's arrays begin; not of those that say where pages come from, on which no answer depends."""
RECORD_ARRAYS = ("archive.", "record.")
"""How the names of the arrays begin that say where pages come from."""
READABLE_TEXT = ("page.text", "snippet.bytes", "snippet.offsets", "text.frames")
"""Those of them that hold pages' text for people to read."""

WORD_ARRAYS = ("page.tokens", "stream.words", "mark.kind", "term.bytes")
"""Those of them whose checksums tell the words of one corpus from those of another."""


@dataclass(frozen=True)
class PageColumns(Columns):
    """One entry per page; pages are ordered by URL number, captures of one URL by date, the newest first."""

    prefix: ClassVar[str] = "page"

    url: npt.NDArray[np.uint32]
    """URL numbers, rising."""
    date: Array
    """Seconds since 1970, 0 if unknown."""
    digest: npt.NDArray[np.uint64]
    """Of the HTML, by which a changed page is told."""
    language: npt.NDArray[np.uint16]
    """Places in the fact `language_codes`."""
    host: Array
    """Host numbers, places in `Corpus.hosts`."""
    html_bytes: npt.NDArray[np.uint32]
    anchors: Array
    """(pages + 1): the anchors of page p are anchors[p] to anchors[p + 1]."""
    tokens: Array
    """(pages + 1): places in the words of all pages."""


@dataclass(frozen=True)
class RecordColumns(Columns):
    """One entry per page: where its record stands. Collections of earlier versions have none."""

    prefix: ClassVar[str] = "record"

    archive: Array
    """Places in `Corpus.archives`."""
    offset: Array
    length: Array
    """0 where the record cannot be read by itself, and `offset` means nothing."""


@dataclass(frozen=True)
class AnchorColumns(Columns):
    """One entry per anchor, in the order of the pages that they stand on."""

    prefix: ClassVar[str] = "anchor"

    target: Array
    """URL numbers."""
    start: Array
    """The first word of the anchor's text, counted from the page's first."""
    length: Array
    """Words of the anchor's text."""
    flags: Array
    """The `AnchorFlag`s, and twice the `AnchorKind`."""


@dataclass(frozen=True)
class InlinkColumns(Columns):
    """The anchors that lead to each URL."""

    prefix: ClassVar[str] = "inlink"

    offsets: Array
    """(URLs + 1): places in `anchors`."""
    anchors: Array
    """Anchor numbers, by the URL that they lead to."""


@dataclass(frozen=True)
class TermColumns(Columns):
    """One entry per term; the words themselves are `Corpus.terms`."""

    prefix: ClassVar[str] = "term"

    count: Array
    """How often the term occurs in the collection."""
    order: npt.NDArray[np.uint32]
    """Term numbers in the order of their UTF-8 bytes."""


def page_count(kin: Kin) -> int:
    """Return how many pages a collection holds."""
    return len(kin["page.url"])


@dataclass(frozen=True)
class HiddenColumns(Columns):
    """What a delta hides of its base, by the base's numbers."""

    prefix: ClassVar[str] = "hidden"

    page: npt.NDArray[np.uint32]
    """Pages, rising, that the delta replaces, or that are gone."""
    address: npt.NDArray[np.uint32]
    """Addresses, rising, that are left out for good: as if nobody had named them."""
