"""Suggest known addresses that look like an unknown one."""

import difflib
import os
from collections.abc import Iterable, Sequence

from pagekin.hypertext.corpus import Corpus
from pagekin.hypertext.urls import canonical_url
from pagekin.store import rank

_SEARCHED = 256 << 20
_ENOUGH = 64


def nearest_urls(corpus: Corpus, url: str, count: int = 3) -> list[str]:
    """Return known addresses that look like `url`: neighbours in sorted order, the same path elsewhere, the same last name."""
    wanted = _full_address(url)
    candidates: set[str] = set(_with_name(corpus, wanted.rstrip("/").rpartition("/")[2]))
    rest = wanted.partition("://")[2] or wanted
    for scheme in ("http://", "https://"):
        for spelling in (rest, rest.removeprefix("www."), "www." + rest, rest.rstrip("/"), rest + "/"):
            place = corpus.urls.nearest((scheme + spelling).encode("utf-8", "replace"))
            candidates |= {corpus.url(i) for i in range(max(0, place - 3), min(len(corpus.urls), place + 4))}
    return _closest(url, candidates, count)


def _full_address(url: str) -> str:
    return canonical_url(url) or canonical_url(f"http://{url}") or url


def _closest(url: str, candidates: Iterable[str], count: int = 3) -> list[str]:
    """Return those of some addresses that are spelt most like one."""
    folded: dict[str, list[str]] = {}
    for candidate in sorted(set(candidates)):
        folded.setdefault(candidate.lower(), []).append(candidate)
    close = difflib.get_close_matches(_full_address(url).lower(), folded, count, 0.5)
    return [candidate for name in close for candidate in folded[name]][:count]


def _with_name(corpus: Corpus, name: str) -> list[str]:
    """Return some addresses that hold `name`, in capitals or not; a very large table is searched in part."""
    if len(name) < 3:
        return []
    table = corpus.urls.data[:_SEARCHED].tobytes().lower()
    needle = name.lower().encode("utf-8", "replace")
    found: list[str] = []
    at = table.find(needle)
    while at >= 0 and len(found) < _ENOUGH:
        number = rank(corpus.urls.offsets, at + 1) - 1
        found.append(corpus.url(number))
        at = table.find(needle, int(corpus.urls.offsets[number + 1]))
    return found


def unknown_url_message(corpora: Sequence[Corpus], url: str, path: str | os.PathLike[str] = "") -> str:
    """Return a sentence that says that `url` is unknown to a collection, in shards at `path`, with what may have been meant."""
    likely = [name for corpus in corpora for name in nearest_urls(corpus, url)]
    near = _closest(url, likely) if len(corpora) > 1 else likely
    hint = "\n  ".join(["Did you mean", *near]) if near else "The collection holds no address like it."
    return f"{url} is not in {os.fspath(path or corpora[0].kin.path)}. {hint}"
