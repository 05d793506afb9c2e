"""Resolve links to canonical URLs, many at a time."""

from itertools import islice

import numpy as np
import numpy.typing as npt

from pagekin.hypertext._kernels.links import (
    FIXED,
    KNOWN,
    NO_PAGE,
    ODD,
    URLS,
    enter_cases,
    intern_strings,
    link_kinds,
    resolve_links,
)
from pagekin.hypertext.lexer import StringTable
from pagekin.hypertext.urls import canonical_url
from pagekin.store import pack_strings

_AHEAD = 128  # the kernels read and write so many bytes beyond a URL, at most


class _PackedStrings:
    """Byte strings that only grow in number, in two arrays that the kernels share."""

    def __init__(self) -> None:
        self.count = 0
        self.longest = 0
        self._data = np.zeros(1 << 12, dtype=np.uint8)
        self._bounds = np.zeros(1 << 8, dtype=np.int64)

    def arrays(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        """Return (data, bounds), as the kernels take them."""
        return self._data, self._bounds

    def __getitem__(self, number: int) -> bytes:
        return self._data[self._bounds[number] : self._bounds[number + 1]].tobytes()

    def extend(self, strings: list[bytes]) -> None:
        """Add strings at the end."""
        data, offsets = pack_strings(strings)
        size = int(self._bounds[self.count])
        if size + len(data) > len(self._data):
            self._data = np.resize(self._data, 2 * (size + len(data)))
        if self.count + len(offsets) > len(self._bounds):
            self._bounds = np.resize(self._bounds, 2 * (self.count + len(offsets)))
        self._data[size : size + len(data)] = data
        self._bounds[self.count : self.count + len(offsets)] = offsets + size
        self.count += len(strings)
        self.longest = max(self.longest, int(np.diff(offsets).max(initial=0)))


class Resolver:
    """A resolver of link addresses against the pages they stand on; each distinct case is resolved once."""

    def __init__(self) -> None:
        self._urls = StringTable(1 << 14, 1 << 20)
        self._state = np.zeros(2, dtype=np.int64)
        self._contexts: dict[str, int] = {}
        self._packed_contexts = _PackedStrings()
        self._hrefs = _PackedStrings()
        self._kinds = np.zeros(0, dtype=np.uint8)
        self._known = np.zeros(1 << 15, dtype=np.int64)
        self._odd: dict[int, int] = {}
        self.dropped = 0

    def number(self, url: str) -> int:
        """Return the number of a canonical URL."""
        return self.numbered([url])[0]

    def numbered(self, urls: list[str]) -> list[int]:
        """Return the numbers of canonical URLs."""
        data, bounds = pack_strings([url.encode() for url in urls])
        numbers = np.empty(len(urls), dtype=np.int64)
        done = 0
        while done < len(urls):
            self._make_room(len(data))
            done = intern_strings(data, bounds, done, numbers, self._urls.arrays(), self._state)
        in_order: list[int] = numbers.tolist()
        return in_order

    def urls(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        """Return (data, bounds) of canonical URLs, by number; a last one is only room that the kernels may read."""
        count = int(self._state[URLS])
        self._urls.reserve(count, _AHEAD)
        return self._urls.arena, np.append(self._urls.bounds[: count + 1], self._urls.bounds[count] + _AHEAD)

    def _make_room(self, longest: int) -> None:
        """Make room for one more case and a URL of up to `longest` bytes, at least."""
        if 2 * int(self._state[KNOWN]) >= len(self._known) // 2:
            larger = np.zeros(2 * len(self._known), dtype=np.int64)
            enter_cases(self._known, larger)
            self._known = larger
        count = int(self._state[URLS])
        if count >= len(self._urls.bounds) - 1:
            self._urls.double(count)
        self._urls.reserve(count, longest + _AHEAD)

    def contexts(self, base: str) -> tuple[int, int, int, int, int]:
        """Return the contexts that addresses on a page with this base are resolved in, by what they are relative to."""
        path = base.partition("?")[0]
        scheme, _, rest = path.partition("://")
        origin = f"{scheme}://{rest.partition('/')[0]}/"
        folder = path[: path.rfind("/") + 1]
        for name in (origin, folder, base):
            self._contexts.setdefault(name, len(self._contexts))
        return (0, self._contexts[origin], self._contexts[folder], self._contexts[base], 0)

    def resolve(
        self, hrefs: list[bytes], used: npt.NDArray[np.int64], contexts: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Return the URL number of each used address, -1 where it is no http(s) one.

        `used` holds places in `hrefs`, the list of all addresses so far; `contexts` one row of `contexts()` each.
        """
        self._learn(hrefs)
        cases = contexts[np.arange(len(used)), self._kinds[used]] << 32 | used
        answers = np.empty(len(cases), dtype=np.int64)
        done = 0
        while done < len(cases):
            self._make_room(self._hrefs.longest + self._packed_contexts.longest)
            done = resolve_links(
                cases, done, answers, self._kinds, self._hrefs.arrays(), self._packed_contexts.arrays(), self._known,
                self._urls.arrays(), self._state,
            )  # fmt: skip
        odd = np.flatnonzero(answers == ODD)
        answers[odd] = [self._resolve_odd(hrefs, case) for case in cases[odd].tolist()]
        self.dropped += int(np.count_nonzero(answers == NO_PAGE))
        return answers

    def _learn(self, hrefs: list[bytes]) -> None:
        """Take in the addresses and contexts that are new."""
        before = self._hrefs.count
        self._hrefs.extend(hrefs[before:])
        data, bounds = self._hrefs.arrays()
        fresh = np.empty(len(hrefs) - before, dtype=np.uint8)
        link_kinds(data, bounds[before:], fresh)
        self._kinds = np.concatenate([self._kinds, fresh])
        self._packed_contexts.extend(
            [name.encode() for name in islice(self._contexts, self._packed_contexts.count, None)]
        )

    def _resolve_odd(self, hrefs: list[bytes], case: int) -> int:
        """Return the answer for an address that needs the URL library."""
        answer = self._odd.get(case)
        if answer is None:
            href, context = case & 0xFFFFFFFF, case >> 32
            base = None if self._kinds[href] == FIXED else self._packed_contexts[context].decode()
            url = canonical_url(hrefs[href].decode("utf-8", "replace"), base)
            answer = self._odd[case] = NO_PAGE if url is None else self.number(url)
        return answer
