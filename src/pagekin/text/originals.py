"""Which of several copies of a page is the original."""

from collections.abc import Sequence

import numpy as np

from pagekin.hypertext import Corpus

_MOST = 1 << 17
"""Links to a host that are looked at; of more, so many spread evenly."""


class Originals:
    """Tells originals from mirrors by who links to them."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._from_outside: dict[int, float] = {}
        """For each host that was asked about, how many links of other hosts lead to it."""

    def best(self, urls: Sequence[str]) -> str:
        """Return the address to which most links lead; of equals, the one on the host that other hosts link to most.

        Pages of a mirror link to each other as those of the original do, but others link to the original. The first
        remains if nothing tells them apart.
        """
        links = {url: self._links(url) for url in urls}
        most = max(links.values())
        likely = [url for url in links if links[url] == most]
        if len(likely) == 1:
            return likely[0]
        return max(likely, key=self._outside)

    def _links(self, url: str) -> int:
        number = self._corpus.url_number(url)
        return len(self._corpus.anchors_in(number)) if number >= 0 else -1

    def _outside(self, url: str) -> float:
        """Return how many links of other hosts lead to the host of an address; 0 for an address that was not read."""
        pages = self._corpus.pages_of(self._corpus.url_number(url))
        if not pages:
            return 0.0
        host = int(self._corpus.pages.host[pages[0]])
        if host not in self._from_outside:
            self._from_outside[host] = self._count(host)
        return self._from_outside[host]

    def _count(self, host: int) -> float:
        corpus = self._corpus
        hosts, offsets = np.asarray(corpus.pages.host), np.asarray(corpus.inlinks.offsets).astype(np.int64)
        urls = np.unique(np.asarray(corpus.pages.url)[hosts == host]).astype(np.int64)
        sizes = offsets[urls + 1] - offsets[urls]
        total = int(sizes.sum())
        # Link k of all is the one at this place among those of its page.
        chosen = np.arange(total) if total <= _MOST else np.linspace(0, total - 1, _MOST).astype(np.int64)
        ends = np.cumsum(sizes)
        page = np.searchsorted(ends, chosen, side="right")
        anchors = np.asarray(corpus.inlinks.anchors)[offsets[urls[page]] + chosen - (ends - sizes)[page]]
        sources = np.searchsorted(corpus.pages.anchors, anchors, side="right") - 1
        outside = int(np.count_nonzero(hosts[sources] != host))
        return outside * total / max(len(chosen), 1)
