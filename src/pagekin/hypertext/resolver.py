"""Resolve links to canonical URLs, many at a time."""

import re

import numpy as np
import numpy.typing as npt

from pagekin.hypertext._kernels.strings import AHEAD
from pagekin.hypertext.urls import canonical_url, join_plain
from pagekin.store import Array, RaggedBytes, pack_strings

FOLDER, FIXED, NEVER, WHOLE, ORIGIN = range(5)
"""What a link address is relative to: its page's folder, nothing, its page's whole address or origin; NEVER leads to no page."""
# "http:page.html" is relative to a page of the same scheme; mail, scripts and the like are no pages.
_KIND = re.compile(rb"(https?://)|((?!https?:)[a-z][a-z0-9+.-]*+:)|(\Z|[?\\\0-\x20]|/[/\\]|https?:)|(/)", re.IGNORECASE)
_NO_PAGE = -1


class Resolver:
    """Resolves link addresses against the pages they stand on, each distinct case once."""

    def __init__(self) -> None:
        self._urls: dict[str, int] = {}
        self._contexts: dict[str, int] = {}
        self._context_names: list[str] = []
        self._kinds = np.zeros(0, dtype=np.uint8)
        self._known: dict[int, int] = {}
        self.dropped = 0

    @property
    def cases(self) -> int:
        """Return the number of distinct cases so far; each takes some hundred bytes."""
        return len(self._known)

    def number(self, url: str) -> int:
        """Return the number of a canonical URL."""
        return self._urls.setdefault(url, len(self._urls))

    def urls(self) -> tuple[Array, Array]:
        """Return (data, bounds) of all canonical URLs, by number; kernels may read past the last one."""
        return pack_strings([*map(str.encode, self._urls), bytes(AHEAD)])

    def contexts(self, bases: list[str]) -> npt.NDArray[np.int64]:
        """Return (bases, 5): for each base, the contexts in which kinds of relative addresses are resolved."""
        contexts = np.zeros((len(bases), 5), dtype=np.int64)
        for row, base in zip(contexts, bases, strict=True):
            path = base.partition("?")[0]
            scheme, _, host, _ = path.split("/", 3)
            for kind, name in ((FOLDER, path[: path.rfind("/") + 1]), (WHOLE, base), (ORIGIN, f"{scheme}//{host}/")):
                row[kind] = self._contexts.setdefault(name, len(self._contexts))
                if row[kind] == len(self._context_names):
                    self._context_names.append(name)
        return contexts

    def resolve(
        self, hrefs: RaggedBytes, used: npt.NDArray[np.int64], contexts: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Return the URL number of each used address; -1 if it is not http(s).

        `used` holds places in `hrefs`, which are all addresses so far; `contexts` one row of `contexts()` each.
        """
        new = RaggedBytes(hrefs.data, hrefs.offsets[len(self._kinds) :])
        kinds = ((match.lastindex if (match := _KIND.match(href)) else FOLDER) for href in new)
        self._kinds = np.append(self._kinds, np.fromiter(kinds, np.uint8, len(new)))
        cases = contexts[np.arange(len(used)), self._kinds[used]] << 32 | used
        distinct, place = np.unique(cases, return_inverse=True)
        answers = np.fromiter((self._answer(hrefs, case) for case in distinct.tolist()), np.int64, len(distinct))[place]
        self.dropped += int(np.count_nonzero(answers == _NO_PAGE))
        return answers

    def _answer(self, hrefs: RaggedBytes, case: int) -> int:
        """Return the URL number for a case: address number | context number << 32."""
        if case not in self._known:
            href, context = case & 0xFFFFFFFF, case >> 32
            url = self._url(hrefs.text(href), int(self._kinds[href]), self._context_names[context])
            self._known[case] = _NO_PAGE if url is None else self.number(url)
        return self._known[case]

    def _url(self, href: str, kind: int, context: str) -> str | None:
        """Return the URL of an address of a kind; nearly all are paths that need no parser, which takes several times as long."""
        if kind == NEVER:
            return None
        if kind == FIXED:
            return canonical_url(href)
        plain = join_plain(context.removesuffix("/") if kind == ORIGIN else context, href) if kind != WHOLE else None
        return plain or canonical_url(href, context)
