"""The Cocitation algorithm of Dean and Henzinger, "Finding related pages in the World Wide Web" (1999), section 2.2."""

import numpy as np

from pagekin.hypertext import Corpus
from pagekin.store import Array

PARENTS = 2000
"""B: parents that are asked, at most."""
AROUND = 8
"""BF: children of a parent that count, half of them on each side of the link."""
LEAST = 15
"""With fewer pages that are cocited twice, a folder of the address is asked instead."""


class Cocitation:
    """Degrees of cocitation: the numbers of pages that link to both of two pages, near the same place.

    `children[offsets[p]:offsets[p + 1]]` are the URLs that page p links to, each once, in order of the links. `urls`
    are the documents, sorted.
    """

    def __init__(self, corpus: Corpus, urls: Array, offsets: Array, children: Array, seed: int = 1) -> None:
        self._corpus, self._urls, self._offsets, self._children, self._seed = corpus, urls, offsets, children, seed
        self._by_child = np.argsort(children, kind="stable")
        self._sorted = children[self._by_child]
        self._known: dict[int, tuple[Array, Array]] = {}

    def siblings(self, url: int) -> tuple[Array, Array]:
        """Return (URL numbers, degrees of cocitation) of the siblings of a URL.

        Siblings are what up to B parents link to: of a parent with more than BF + 1 children those of the BF/2 links
        before and after. The degree is the number of parents of which both are such children. The paper may mean all
        common parents; on a school encyclopaedia that makes no difference to the agreement.
        """
        if url not in self._known:
            places = self._by_child[slice(*np.searchsorted(self._sorted, [url, url + 1]).tolist())]
            if len(places) > PARENTS:
                places = np.random.default_rng((self._seed, url)).choice(places, PARENTS, replace=False)
            parents = np.searchsorted(self._offsets, places, side="right") - 1
            first, last = self._offsets[parents][:, None], self._offsets[parents + 1][:, None]
            steps = np.arange(-AROUND, AROUND + 1)
            near = places[:, None] + steps
            kept = (near >= first) & (near < last) & (steps != 0)
            kept &= (np.abs(steps) <= AROUND // 2) | (last - first <= AROUND + 1)
            siblings, degrees = np.unique(self._children[near[kept]], return_counts=True)
            self._known[url] = siblings, degrees
        return self._known[url]

    def cocited_pages(self, url: int) -> tuple[Array, Array]:
        """Return (URL numbers, degrees) of pages cocited with a URL, or with a parent folder if these are too few.

        A folder that is no known URL is passed over, and so is one without siblings: no answer would be worse.
        """
        answer = self.siblings(url)
        name = self._corpus.url(url)
        while np.count_nonzero(answer[1] >= 2) < LEAST:
            above = parent_url(name)
            if above is None:
                break
            name = above
            for spelling in (name, name + "/"):
                number = self._corpus.url_number(spelling)
                if number >= 0 and len(self.siblings(number)[0]):
                    answer = self.siblings(number)
                    break
        return answer

    def __call__(self, sources: Array) -> Array:
        """Return the degrees of cocitation of some documents with all documents."""
        rows = np.zeros((len(sources), len(self._urls)), np.float32)
        for row, source in zip(rows, sources.tolist(), strict=True):
            cocited, degrees = self.cocited_pages(int(self._urls[source]))
            place = np.minimum(np.searchsorted(self._urls, cocited), len(self._urls) - 1)
            held = self._urls[place] == cocited
            row[place[held]] = degrees[held]
        return rows


def parent_url(url: str) -> str | None:
    """Return a URL without the last element of its path; None if it has no path."""
    scheme, _, rest = url.partition("://")
    host, _, path = rest.split("?")[0].rstrip("/").partition("/")
    return f"{scheme}://{host}/{path}".rpartition("/")[0] if path else None
