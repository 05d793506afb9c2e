"""Shorten titles by what a whole host repeats in them: "std::any", not "std::any - cppreference.com"."""

import re
from collections import Counter
from collections.abc import Iterable

from pagekin.hypertext.corpus import Corpus
from pagekin.hypertext.urls import host_of

FEWEST = 5
"""Pages of a host that must say the same before it is taken for the host's, not the page's."""
SHARE = 0.5
_BORDER = re.compile(r"\s+[-–—|·»:]+\s+|\s*[|»]\s*|:\s+")


def repeated_ends(titles: Iterable[str]) -> tuple[str, str]:
    """Return (beginning, end) that at least half of the titles of a host have, with their separators; '' if there is none."""
    begin: Counter[str] = Counter()
    end: Counter[str] = Counter()
    count = 0
    for title in titles:
        count += 1
        borders = list(_BORDER.finditer(title))
        if borders:
            begin[title[: borders[0].end()]] += 1
            end[title[borders[-1].start() :]] += 1

    def most(found: Counter[str]) -> str:
        text, times = found.most_common(1)[0] if found else ("", 0)
        return text if times >= max(FEWEST, SHARE * count) else ""

    return most(begin), most(end)


class ShortTitles:
    """The titles of a collection's pages, shortened; worked out for each host when it is first asked about."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        by_host: dict[str, list[int]] = {}
        for page in range(len(corpus)):
            by_host.setdefault(host_of(corpus.page_url(page)), []).append(page)
        self._ends = {
            host: repeated_ends(corpus.titles.text(page) for page in pages) for host, pages in by_host.items()
        }

    def text(self, page: int) -> str:
        """Return a page's title without the beginning and the end that its host repeats, unless nothing would be left."""
        title = self._corpus.titles.text(page)
        begin, end = self._ends[host_of(self._corpus.page_url(page))]
        short = title.removesuffix(end)
        return short.removeprefix(begin).strip() or short.strip() or title
