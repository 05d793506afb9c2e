"""Addresses: one canonical form per URL, and links resolved to it, many at a time.

The canonical form is what the WHATWG URL parser serialises, without the fragment: scheme and host in lower case,
default ports gone, dot segments resolved, forbidden characters percent-encoded. Nothing else is changed: `http` and
`https`, `/a` and `/a/`, `?a=1&b=2` and `?b=2&a=1` stay different addresses.
"""

import re

import ada_url
import numpy as np
import numpy.typing as npt

_PLAIN = re.compile(rb"[A-Za-z0-9_\-.~/]+")
_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9+.\-]*:")
_ABSOLUTE = re.compile(rb"https?://", re.IGNORECASE)
_KINDS = _FIXED, _ORIGIN, _FOLDER, _WHOLE, _NEVER = range(5)


def canonical(url: str, base: str | None = None) -> str | None:
    """The canonical form of `url` (resolved against `base`), or None if it is no http(s) address."""
    try:
        joined: str = ada_url.join_url(base, url) if base else ada_url.normalize_url(url)
    except ValueError:
        return None
    if not joined.startswith(("http://", "https://")):
        return None
    return joined.partition("#")[0]


def host_of(url: str) -> str:
    """The host of a canonical URL, with its port if it is not the scheme's own."""
    authority = url.split("/", 3)[2]
    return authority.rpartition("@")[2]


def _kind(href: bytes) -> int:
    """What a link address is relative to."""
    if _SCHEME.match(href):
        if _ABSOLUTE.match(href):
            return _FIXED
        # "http:page.html" is relative to a page of the same scheme; mail, scripts and the like are no pages.
        return _WHOLE if href[:5].lower() in (b"http:", b"https") else _NEVER
    if href.startswith(b"/") and not href.startswith((b"//", b"/\\")):
        return _ORIGIN
    if not href or href[:1] in b"?/\\" or href[:1].isspace():
        return _WHOLE
    return _FOLDER


def _is_plain(href: bytes) -> bool:
    """Whether a relative address is resolved by just writing it after its folder: nothing to escape, no dot segments."""
    return bool(_PLAIN.fullmatch(href)) and b"./" not in href and b"//" not in href and href[-1:] != b"."


class Resolver:
    """Resolves link addresses against the pages they stand on, each distinct case once."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        """Canonical URLs to the numbers that `resolve` answers with, in order of arrival."""
        self._contexts: dict[str, int] = {}
        self._context_names: list[str] = []
        self._known: dict[int, int] = {}
        self._kinds = np.zeros(0, dtype=np.uint8)
        self.dropped = 0

    def number(self, url: str) -> int:
        """The number of a canonical URL."""
        return self.numbers.setdefault(url, len(self.numbers))

    def _context(self, name: str) -> int:
        number = self._contexts.setdefault(name, len(self._context_names))
        if number == len(self._context_names):
            self._context_names.append(name)
        return number

    def contexts(self, base: str) -> tuple[int, int, int, int, int]:
        """The contexts that addresses on a page with this base are resolved in, by `_kind`."""
        path = base.partition("?")[0]
        scheme, _, rest = path.partition("://")
        origin = f"{scheme}://{rest.partition('/')[0]}/"
        folder = path[: path.rfind("/") + 1]
        return (0, self._context(origin), self._context(folder), self._context(base), 0)

    def resolve(
        self, hrefs: list[bytes], used: npt.NDArray[np.int64], contexts: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """The URL number of each used address, -1 where it is no http(s) one.

        `used` holds places in `hrefs`, the list of all addresses so far; `contexts` one row of `contexts()` each.
        """
        if len(hrefs) > len(self._kinds):
            fresh = np.fromiter(map(_kind, hrefs[len(self._kinds) :]), dtype=np.uint8)
            self._kinds = np.concatenate([self._kinds, fresh])
        kinds = self._kinds[used]
        case = contexts[np.arange(len(used)), kinds] << 32 | used
        distinct, where = np.unique(case, return_inverse=True)
        answers = np.empty(len(distinct), dtype=np.int64)
        known = self._known
        for i, one in enumerate(distinct.tolist()):
            answer = known.get(one)
            if answer is None:
                href = hrefs[one & 0xFFFFFFFF]
                answer = self._resolve_one(href, int(self._kinds[one & 0xFFFFFFFF]), one >> 32)
                known[one] = answer
            answers[i] = answer
        found = answers[where]
        self.dropped += int(np.count_nonzero(found < 0))
        return found

    def _resolve_one(self, href: bytes, kind: int, context: int) -> int:
        if kind == _NEVER:
            return -1
        base = None if kind == _FIXED else self._context_names[context]
        if kind == _FOLDER and base and _is_plain(href):
            return self.number(base + href.decode("ascii"))
        url = canonical(href.decode("utf-8", "replace"), base)
        return -1 if url is None else self.number(url)
