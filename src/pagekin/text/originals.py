"""Choose the original among several copies of a page."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Corpus

_MOST = 1 << 17
"""How many links to a host are examined; of more, an evenly spread sample."""


class Originals:
    """Distinguishes originals from mirrors by the links to them, in a collection or its shards."""

    def __init__(self, corpora: Sequence[Corpus]) -> None:
        self._corpora = tuple(corpora)
        self._from_outside: dict[str, float] = {}
        """For each host that was asked about, how many links of other hosts lead to it."""

    def best(self, urls: Sequence[str]) -> str:
        """Return the address with the most links; among equals, the one on the host that other hosts link to most.

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
        numbers = [(corpus, corpus.url_number(url)) for corpus in self._corpora]
        known = [len(corpus.anchors_in(number)) for corpus, number in numbers if number >= 0]
        return sum(known) if known else -1

    def _outside(self, url: str) -> float:
        """Return how many links of other hosts lead to the host of an address; 0 for an address that was not read."""
        for corpus in self._corpora:
            number = corpus.url_number(url)
            if number >= 0 and (pages := corpus.pages_of(number)):
                host = corpus.hosts.text(int(corpus.pages.host[pages[0]]))
                if host not in self._from_outside:
                    self._from_outside[host] = self._count(host)
                return self._from_outside[host]
        return 0.0

    def _count(self, host: str) -> float:
        every = [corpus.hosts.find(host.encode()) for corpus in self._corpora]
        numbers = self._numbers(every)
        # One row for each address and shard, by address: link k of all is the one at this place among those of its row.
        spans = [_inlinks(corpus, own) for corpus, own in zip(self._corpora, numbers, strict=True)]
        starts, stops = (np.stack([span[side] for span in spans], axis=1).reshape(-1) for side in (0, 1))
        sizes = stops - starts
        total = int(sizes.sum())
        chosen = np.arange(total) if total <= _MOST else np.linspace(0, total - 1, _MOST).astype(np.int64)
        ends = np.cumsum(sizes)
        row = np.searchsorted(ends, chosen, side="right")
        places = starts[row] + chosen - (ends - sizes)[row]
        outside = 0
        for part, (corpus, own) in enumerate(zip(self._corpora, every, strict=True)):
            anchors = np.asarray(corpus.inlinks.anchors)[places[row % len(self._corpora) == part]]
            sources = np.searchsorted(corpus.pages.anchors, anchors, side="right") - 1
            outside += int(np.count_nonzero(np.asarray(corpus.pages.host)[sources] != own))
        return outside * total / max(len(chosen), 1)

    def _numbers(self, hosts: Sequence[int]) -> list[npt.NDArray[np.int64]]:
        """Return for each shard its numbers of all addresses of a host that were read, -1 for those that it does not know."""
        read = [
            np.unique(np.asarray(corpus.pages.url)[np.asarray(corpus.pages.host) == host]).astype(np.int64)
            for corpus, host in zip(self._corpora, hosts, strict=True)
        ]
        if len(read) == 1:
            return read
        names = [
            name
            for corpus, urls in zip(self._corpora, read, strict=True)
            for name in map(corpus.urls.__getitem__, urls)
        ]
        return [_find_all(corpus, names) for corpus in self._corpora]


def _inlinks(corpus: Corpus, urls: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return where the links to each address begin and end; nowhere for -1."""
    offsets = np.asarray(corpus.inlinks.offsets).astype(np.int64)
    known = np.maximum(urls, 0)
    return offsets[known], np.where(urls >= 0, offsets[known + 1], offsets[known])


def _find_all(corpus: Corpus, names: Sequence[bytes]) -> npt.NDArray[np.int64]:
    """Return the numbers of a host's addresses, ascending, -1 for unknown ones; addresses of a host are adjacent."""
    place_of = {name: place for place, name in enumerate(names)}
    numbers = np.full(len(names), -1, np.int64)
    for scheme in (b"http:", b"https:"):
        some = [name for name in names if name.startswith(scheme)]
        for number in range(corpus.urls.nearest(some[0]), len(corpus.urls)) if some else ():
            name = corpus.urls[number]
            if name > some[-1]:
                break
            if (place := place_of.get(name)) is not None:
                numbers[place] = number
    return numbers
