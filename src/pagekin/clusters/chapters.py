"""Chapters of books whose titles are numbered: "8.2. Accounts" stands in "Chapter 8. Basic configuration"."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from pagekin.hypertext import Corpus, ShortTitles
from pagekin.store import Array

Place = tuple[str, ...]
"""The folder of a book, and the numbers that lead to a page: chapter, section, and so on."""
_MOST = 0.6
"""The share of a topic's pages that stand in one chapter whose title then names it, at least."""
_WHOLE = 0.5
"""The share of a chapter's pages that the topic holds, at least: otherwise it is only a part of the chapter."""
_FEWEST = 3
"""Pages of a topic that stand in a chapter, at least."""
_COUNTED = 2
"""Of the two numbers before and the two after one without a dot, so many begin titles of the same folder, at least."""
_UNIQUE = 0.9
"""The share of a folder's numbers that stand before one title, at least; otherwise they tell nothing."""
PARTS_OF_BOOKS = (
    "chapter|part|appendix|section|lesson|kapitel|teil|anhang|abschnitt|lektion|chapitre|partie|annexe|leçon|capítulo|parte|sección|"
    "apéndice|lección|capitolo|sezione|appendice|lezione|seção|anexo|apêndice|hoofdstuk|deel|bijlage|rozdział|część|dodatek|kapitola|"
    "část|příloha|глава|часть|раздел|приложение|розділ|частина|додаток"
)
"""What parts of books are called in some languages, as alternatives of a regular expression."""
_NUMBERED = re.compile(
    rf"(?P<kind>(?:{PARTS_OF_BOOKS})\s+)?"
    r"(?P<first>\d{1,3}|[A-Z])(?P<more>(?:\.\d{1,3})*)(?P<end>[.:)]|\s+[-–—](?=\s))?\s+(?=\S)",
    re.IGNORECASE,
)


class Chapters:
    """The numbered titles of some pages of a corpus."""

    def __init__(self, corpus: Corpus, titles: ShortTitles, pages: Array) -> None:
        """Read the titles of some pages, once."""
        self._titles = titles
        self._place: dict[int, Place] = {}
        self._behind: dict[int, int] = {}
        bare: dict[int, Place] = {}
        for page in pages.tolist():
            match = _NUMBERED.match(titles.text(page))
            if not match:
                continue
            folder = corpus.page_url(page).partition("?")[0].rpartition("/")[0]
            place = (folder, match["first"].upper(), *match["more"].split(".")[1:])
            self._behind[page] = match.end()
            if match["kind"] or match["end"] or (match["more"] and match["first"].isdigit()):
                self._place[page] = place
            elif match["first"].isdigit():
                bare[page] = place
        # A number with nothing behind it may be part of a title (7 Wonders), unless others of the same folder go on counting.
        known = set(bare.values())
        for page, (folder, number, *_none) in bare.items():
            if sum((folder, str(int(number) + away)) in known for away in (-2, -1, 1, 2)) >= _COUNTED:
                self._place[page] = folder, number
        # Where each chapter counts its sections from 1, a number does not tell which chapter's it is.
        held, places = Counter(place[0] for place in self._place.values()), set(self._place.values())
        distinct = Counter(place[0] for place in places)
        self._heads: dict[Place, int] = {}
        for page, place in self._place.items():
            if distinct[place[0]] >= _UNIQUE * held[place[0]]:
                self._heads.setdefault(place, page)
        self._sizes = Counter(part for page in self._place for part in self._parts(page))

    def _parts(self, page: int) -> Iterable[Place]:
        """Return the chapters and sections that contain a page, including its own."""
        place = self._place.get(page, ())
        return (place[:length] for length in range(2, len(place) + 1))

    def bare_title(self, page: int) -> str:
        """Return a page's title without its number."""
        return self._titles.text(page)[self._behind[page] if page in self._place else 0 :]

    def head(self, pages: Sequence[int]) -> int:
        """Return the first page of the smallest chapter or section that contains most of a topic's pages; -1 for none."""
        counts = Counter(part for page in pages for part in self._parts(page))
        least = max(_FEWEST, _MOST * len(pages))
        likely = [
            part
            for part, times in counts.items()
            if part in self._heads and times >= max(least, _WHOLE * self._sizes[part])
        ]
        return self._heads[max(likely, key=lambda part: (len(part), counts[part]))] if likely else -1
