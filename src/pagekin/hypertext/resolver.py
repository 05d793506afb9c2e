"""Resolve links to canonical URLs, many at a time."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.hypertext._kernels.resolving import (
    CASES,
    FIXED,
    FOLDER,
    NEVER,
    NO_PAGE,
    NOT_PLAIN,
    ORIGIN,
    URLS,
    WHOLE,
    byte_classes,
    enter_cases,
    move_cases,
    number_urls,
    resolve_links,
)
from pagekin.hypertext._kernels.strings import AHEAD
from pagekin.hypertext.string_table import StringTable
from pagekin.hypertext.urls import canonical_url
from pagekin.store import PROCESS_KEY, Array, RaggedBytes, pack_strings, read_only

# "http:page.html" is relative to a page of the same scheme; mail, scripts and the like are no pages.
_KIND = re.compile(
    rb"(https?://)|((?!https?:)[a-z][a-z0-9+.-]*+:)|(\Z|[?#\\\0-\x20]|/[/\\]|https?:)|(/)", re.IGNORECASE
)
_KINDS = (FOLDER, FIXED, NEVER, WHOLE, ORIGIN)
"""What the groups of the pattern stand for."""
_ROOMY = 16
"""Bytes of the arena that kernels may read after the last URL."""


class Resolver:
    """Resolves link addresses against the pages they stand on, each distinct case once."""

    def __init__(self) -> None:
        self._urls = StringTable(1 << 14, 1 << 20, PROCESS_KEY)
        self._cases = np.zeros(2 << 14, np.int64)
        self._state = np.zeros(2, np.int64)
        self._contexts: dict[str, int] = {}
        self._context_names: list[str] = []
        self._classes = byte_classes()
        self._secret = PROCESS_KEY[3:].view(np.uint64)[0]
        self.dropped = 0

    @property
    def cases(self) -> int:
        """Return the number of distinct cases so far; each takes some dozens of bytes, and the URL that it leads to."""
        return int(self._state[CASES])

    def number(self, url: str) -> int:
        """Return the number of a canonical URL."""
        return int(self.numbers([url])[0])

    def numbers(self, urls: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return the numbers of canonical URLs."""
        data, bounds = pack_strings([*map(str.encode, urls), bytes(AHEAD)])
        self._make_room(len(urls), len(data))
        numbers = np.empty(len(urls), np.int64)
        number_urls(data.copy(), bounds[1:-1].copy(), self._urls.arrays(), self._state, PROCESS_KEY, numbers)
        return numbers

    def urls(self) -> tuple[Array, Array]:
        """Return (data, bounds) of all canonical URLs, by number, and of one more that kernels may read."""
        known = self._urls.bounds[: int(self._state[URLS]) + 1]
        bounds = np.append(known, known[-1] + AHEAD)
        self._urls.arena[bounds[-2] : bounds[-1]] = 0
        return read_only(self._urls.arena[: bounds[-1]]), bounds

    def contexts(self, bases: list[str]) -> npt.NDArray[np.int64]:
        """Return (bases, 5): for each base, the contexts in which kinds of relative addresses are resolved."""
        contexts = np.zeros((len(bases), 5), dtype=np.int64)
        for row, base in zip(contexts, bases, strict=True):
            folder = _folder(base)
            scheme, _, host, _ = folder.split("/", 3)
            for kind, name in ((FOLDER, folder), (WHOLE, base), (ORIGIN, f"{scheme}//{host}/")):
                row[kind] = self._contexts.setdefault(name, len(self._contexts))
                if row[kind] == len(self._context_names):
                    self._context_names.append(name)
        return contexts

    def resolve(
        self, hrefs: RaggedBytes, used: Array, pages: Array, urls: list[str], bases: list[str]
    ) -> npt.NDArray[np.int64]:
        """Return the URL number of each used address; -1 if it is not http(s).

        `used` holds places in `hrefs`, which are all addresses so far; `pages` the places of the pages on which they stand in
        `urls`, canonical URLs, and in `bases`, to which their links are relative.
        """
        own = np.where([base == url for base, url in zip(bases, urls, strict=True)], self.numbers(urls), NOT_PLAIN)
        contexts = self.contexts(bases)
        folders = list(map(_folder, bases))
        roots = [_root(folder) for folder in folders]
        packed = pack_strings(list(map(str.encode, folders)))
        table = np.require(hrefs.data, np.uint8, ("C", "W")), np.require(hrefs.offsets, np.int64, ("C", "W"))
        inputs = (
            np.ascontiguousarray(used, np.int64), np.ascontiguousarray(pages, np.int64), own, contexts,
            (packed[0].copy(), packed[1]), np.array(roots, np.int64), self._classes, table,
        )  # fmt: skip
        numbers = np.empty(len(used), np.int64)
        longest = int(np.diff(packed[1]).max(initial=0) + np.diff(table[1]).max(initial=0))
        self._resolve(inputs, longest, numbers)
        rest = np.flatnonzero(numbers == NOT_PLAIN)
        if len(rest):
            self._parse(hrefs, inputs[0][rest], contexts[inputs[1][rest]])
            again = numbers[rest]
            self._resolve((inputs[0][rest], inputs[1][rest], *inputs[2:]), longest, again)
            numbers[rest] = again
        self.dropped += int(np.count_nonzero(numbers == NO_PAGE))
        return numbers

    def _resolve(self, inputs: tuple[Any, ...], longest: int, numbers: npt.NDArray[np.int64]) -> None:
        """Resolve plain addresses and those that are known, with more room as often as it is needed."""
        done = 0
        while True:
            done = resolve_links(done, *inputs, self._cases, self._urls.arrays(), self._state, PROCESS_KEY, numbers)
            if done == len(numbers):
                return
            self._make_room(1, longest)

    def _make_room(self, count: int, size: int) -> None:
        """Make room for so many more cases, URLs and bytes of these."""
        known = int(self._state[URLS])
        while 4 * (known + count) > len(self._urls.slots):
            self._urls.double(known)
        self._urls.reserve(known, size + _ROOMY)
        if 4 * (self.cases + count) > len(self._cases):
            larger = np.zeros(4 << (self.cases + count).bit_length(), np.int64)
            move_cases(self._cases, larger, self._secret)
            self._cases = larger

    def _parse(self, hrefs: RaggedBytes, used: Array, contexts: Array) -> None:
        """Enter the cases of some addresses, given the contexts of their pages, by a URL parser."""
        cases: dict[int, str | None] = {}
        for href, row in zip(used.tolist(), contexts.tolist(), strict=True):
            kind = _kind(hrefs[href])
            case = row[kind] << 32 | href
            if case not in cases:
                base = None if kind == FIXED else self._context_names[row[kind]]
                cases[case] = canonical_url(hrefs.text(href), base)
        numbers = np.full(len(cases), NO_PAGE, np.int64)
        urls = list(cases.values())
        numbers[[url is not None for url in urls]] = self.numbers([url for url in urls if url is not None])
        self._make_room(len(cases), 0)
        enter_cases(np.array(list(cases), np.int64), numbers, self._cases, self._state, self._secret)


def _kind(href: bytes) -> int:
    """Return what a link address is relative to."""
    match = _KIND.match(href)
    return _KINDS[match.lastindex or 0] if match else FOLDER


def _folder(base: str) -> str:
    """Return the folder of a page's address, with its last slash."""
    path = base.partition("?")[0]
    return path[: path.rfind("/") + 1]


def _root(folder: str) -> int:
    """Return the length of a folder's origin with its slash."""
    return folder.index("/", len("https://")) + 1
