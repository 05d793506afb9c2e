"""Shorten titles by what a whole host repeats in them: "std::any", not "std::any - cppreference.com".

Where most pages of a host have the same title, as the chapters of some books do, their first headings are the titles.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from pagekin.hypertext.corpus import Corpus
from pagekin.hypertext.model import Attribute

FEWEST = 5
"""Pages of a host that must say the same before it is taken for the host's, not the page's."""
SHARE = 0.5
_BORDER = re.compile(r"\s+[-–—|·»:]+\s+|\s*[|»]\s*|:\s+")
_PART = 0.05
"""The share of a host's pages that may be a manual within it, if their titles end with its name and version."""
_MANUAL = re.compile(r"\b(?:documentation|manual|docs|wiki)\W*$|\d\.\d", re.IGNORECASE)
_VERSION = re.compile(r"\S*\d\.\d\S*")
_PARENTHESES = re.compile(r"\s+\([^()]{3,}\)$")
_NUMBER = re.compile(r"\d+(?:\.\d+)*\.\s+(?=\S)")
"""The number of a chapter or section. Its last point tells it from the version in "3.11 release notes"."""


def repeated_ends(titles: Iterable[str]) -> tuple[str, str]:
    """Return (prefix, suffix), with separators, that at least half of a host's titles share; '' for none.

    A suffix that fewer share counts if it names a manual: " — Twisted 22.4.0 documentation" beside a reference without it.
    """
    begin: Counter[str] = Counter()
    end: Counter[str] = Counter()
    count = 0
    for title in titles:
        count += 1
        borders = list(_BORDER.finditer(title))
        if borders:
            begin[title[: borders[0].end()]] += 1
            end[title[borders[-1].start() :]] += 1
        if last := _PARENTHESES.search(title):
            end[title[last.start() :]] += 1

    def most(counts: Counter[str]) -> str:
        """Return the longest text that enough titles share: " — Manual (2.2)" rather than " (2.2)"."""
        enough = [text for text, times in counts.items() if times >= max(FEWEST, SHARE * count)]
        return max(enough, key=lambda text: (len(text), text), default="")

    manuals = {
        text: times for text, times in end.items() if times >= max(4 * FEWEST, _PART * count) and _MANUAL.search(text)
    }
    return most(begin), most(end) or max(manuals, key=lambda text: (manuals[text], text), default="")


def book_names(titles: Iterable[str]) -> frozenset[str]:
    """Return the beginnings of titles, with separators, that name a book of several on a host, and its version.

    "Apache Tomcat 10 Configuration Reference (10.1.60) - " beside "Apache Tribes (10.1.60) - ". Two pages
    are enough if a larger book has the same version.
    """
    begin = Counter(title[: border.end()] for title in titles for border in _BORDER.finditer(title))
    versions = {text: version[0] for text in begin if (version := _VERSION.search(text))}
    known = {version for text, version in versions.items() if begin[text] >= FEWEST}
    return frozenset(text for text, version in versions.items() if version in known and begin[text] >= 2)


def book_name(title: str, books: frozenset[str]) -> str:
    """Return the longest beginning of a title that is among those of books; '' if there is none."""
    begin = (title[: border.end()] for border in _BORDER.finditer(title))
    return max((text for text in begin if text in books), key=len, default="")


def repeated_title(titles: Sequence[str]) -> str:
    """Return the title that at least half of a host's pages have; '' for none."""
    title, times = max(Counter(titles).items(), key=lambda one: (one[1], one[0]), default=("", 0))
    return title if times >= max(FEWEST, SHARE * len(titles)) else ""


def first_heading(corpus: Corpus, page: int) -> str:
    """Return the text of a page's first heading; '' if it has none. Cost: the page's text is decompressed."""
    headings = np.flatnonzero(corpus.stream(page).attributes & Attribute.HEADER)
    if not len(headings):
        return ""
    text, starts = corpus.text_bytes(page)
    place = int(starts[headings[0]])
    line = text[text.rfind(b"\n", 0, place) + 1 :].partition(b"\n")[0].decode("utf-8", "replace")
    return " ".join(line.removesuffix("¶").split())


def drop_number(title: str) -> str:
    """Return a title without the number of its chapter: "What Now?" for "13. What Now?"."""
    number = _NUMBER.match(title)
    return title[number.end() :] if number else title


class Repeated(NamedTuple):
    """What a host repeats in its titles, with separators; '' for nothing."""

    prefix: str
    suffix: str
    whole: str
    """A title that most of its pages have."""
    books: frozenset[str]
    """Beginnings that name one of its books."""

    def shorten(self, title: str) -> str:
        """Return a title without what the host repeats, unless nothing would be left."""
        short = title.removesuffix(self.suffix)
        bare = short.removeprefix(self.prefix)
        bare = bare.removeprefix(book_name(bare, self.books))
        return bare.strip() or short.strip() or title


class HostTitles:
    """What each host repeats in its titles, in a collection or all its shards.

    Worked out for each host when it is first asked about.
    """

    def __init__(self, corpora: Sequence[Corpus]) -> None:
        self._corpora = tuple(corpora)
        self._repeated: dict[bytes, Repeated] = {}

    def repeated(self, host: bytes) -> Repeated:
        """Return what a host repeats."""
        if host not in self._repeated:
            titles = list(self._titles(host))
            self._repeated[host] = Repeated(*repeated_ends(titles), repeated_title(titles), book_names(titles))
        return self._repeated[host]

    def _titles(self, host: bytes) -> Iterator[str]:
        for corpus in self._corpora:
            number = corpus.hosts.find(host)
            pages = np.flatnonzero(np.asarray(corpus.pages.host) == number) if number >= 0 else ()
            yield from (corpus.titles.text(int(page)) for page in pages)


class ShortTitles:
    """The titles of a corpus's pages without what their host repeats; for a shard, in all shards.

    A title that most pages of the host have says nothing of a page, so its first heading takes its place.
    """

    def __init__(self, corpus: Corpus, hosts: HostTitles | None = None) -> None:
        self._corpus, self._hosts = corpus, hosts or HostTitles([corpus])

    def text(self, page: int) -> str:
        """Return a page's title without its host's repeated prefix and suffix, unless nothing would be left."""
        title = self._corpus.titles.text(page)
        repeated = self._hosts.repeated(self._corpus.hosts[int(self._corpus.pages.host[page])])
        if title and title == repeated.whole:
            return first_heading(self._corpus, page) or title
        return repeated.shorten(title)
