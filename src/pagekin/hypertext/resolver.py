"""Resolve links to canonical URLs, many at a time."""

import numpy as np
import numpy.typing as npt

from pagekin.hypertext._kernels import links
from pagekin.hypertext.lexer import StringTable
from pagekin.hypertext.urls import canonical_url
from pagekin.store import RaggedBytes, pack_strings

_AHEAD = 128  # the kernels read and write so many bytes beyond a URL, at most


class _UrlNumbers:
    """URLs numbered in order of arrival, in a table that the kernels share."""

    def __init__(self) -> None:
        self.table = StringTable(1 << 14, 1 << 20)
        self.state = np.zeros(2, dtype=np.int64)
        self.longest = 0

    def make_room(self, longest: int) -> None:
        """Make room for one more URL, of up to `longest` bytes, at least."""
        count = int(self.state[links.URLS])
        if count >= len(self.table.bounds) - 1:
            self.table.double(count)
        self.table.reserve(count, longest + _AHEAD)

    def number(self, urls: list[str]) -> npt.NDArray[np.int64]:
        """Return the numbers of URLs."""
        data, bounds = pack_strings([url.encode() for url in urls])
        self.longest = max(self.longest, int(np.diff(bounds).max(initial=0)))
        numbers, done = np.empty(len(urls), dtype=np.int64), 0
        while done < len(urls):
            self.make_room(len(data))
            done = links.intern_strings(data, bounds, done, numbers, self.table.arrays(), self.state)
        return numbers


class Resolver:
    """A resolver of link addresses against the pages they stand on; each distinct case is resolved once."""

    def __init__(self) -> None:
        self._urls, self._contexts = _UrlNumbers(), _UrlNumbers()
        self._kinds = np.zeros(0, dtype=np.uint8)
        self._longest_href = 0
        self._known = np.zeros(1 << 15, dtype=np.int64)
        self._odd: dict[int, int] = {}
        self.dropped = 0

    def number(self, url: str) -> int:
        """Return the number of a canonical URL."""
        return int(self.numbers([url])[0])

    def numbers(self, urls: list[str]) -> npt.NDArray[np.int64]:
        """Return the numbers of canonical URLs."""
        return self._urls.number(urls)

    def urls(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        """Return (data, bounds) of canonical URLs, by number; a last one is only room that the kernels may read."""
        count, table = int(self._urls.state[links.URLS]), self._urls.table
        table.reserve(count, _AHEAD)
        return table.arena, np.append(table.bounds[: count + 1], table.bounds[count] + _AHEAD)

    def contexts(self, bases: list[str]) -> npt.NDArray[np.int64]:
        """Return (bases, 5): the contexts that addresses on a page of each base are resolved in, by what they are relative to."""
        names: list[str] = []
        for base in bases:
            path = base.partition("?")[0]
            scheme, _, rest = path.partition("://")
            names += (f"{scheme}://{rest.partition('/')[0]}/", path[: path.rfind("/") + 1], base)
        contexts = np.zeros((len(bases), 5), dtype=np.int64)
        contexts[:, 1:4] = self._contexts.number(names).reshape(-1, 3)
        return contexts

    def resolve(
        self, hrefs: RaggedBytes, used: npt.NDArray[np.int64], contexts: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Return the URL number of each used address, -1 where it is no http(s) one.

        `used` holds places in `hrefs`, which are all addresses so far; `contexts` one row of `contexts()` each.
        """
        self._learn_kinds(hrefs)
        cases = contexts[np.arange(len(used)), self._kinds[used]] << 32 | used
        answers, done = np.empty(len(cases), dtype=np.int64), 0
        names = self._contexts.table
        while done < len(cases):
            self._make_room()
            done = links.resolve_links(
                cases, done, answers, self._kinds, (hrefs.data, hrefs.offsets), (names.arena, names.bounds), self._known,
                self._urls.table.arrays(), self._urls.state,
            )  # fmt: skip
        odd = np.flatnonzero(answers == links.ODD)
        answers[odd] = [self._resolve_odd(hrefs, case) for case in cases[odd].tolist()]
        self.dropped += int(np.count_nonzero(answers == links.NO_PAGE))
        return answers

    def _learn_kinds(self, hrefs: RaggedBytes) -> None:
        """Note what the addresses that are new are relative to."""
        bounds = hrefs.offsets[len(self._kinds) :]
        fresh = np.empty(len(bounds) - 1, dtype=np.uint8)
        links.link_kinds(hrefs.data, bounds, fresh)
        self._kinds = np.concatenate([self._kinds, fresh])
        self._longest_href = max(self._longest_href, int(np.diff(bounds).max(initial=0)))

    def _make_room(self) -> None:
        """Make room for one more case and its URL, at least."""
        if 2 * int(self._urls.state[links.KNOWN]) >= len(self._known) // 2:
            larger = np.zeros(2 * len(self._known), dtype=np.int64)
            links.enter_cases(self._known, larger)
            self._known = larger
        self._urls.make_room(self._longest_href + self._contexts.longest)

    def _resolve_odd(self, hrefs: RaggedBytes, case: int) -> int:
        """Return the answer for an address that needs the URL library."""
        if case not in self._odd:
            href, context = case & 0xFFFFFFFF, case >> 32
            fixed = self._kinds[href] == links.FIXED
            base = None if fixed else self._contexts.table.strings(context + 1, context)[0].decode()
            url = canonical_url(hrefs.text(href), base)
            self._odd[case] = links.NO_PAGE if url is None else self.number(url)
        return self._odd[case]
