"""Guess which address a text means, and suggest known addresses that look like an unknown one."""

import difflib
import os
from collections.abc import Iterable, Iterator, Sequence

from pagekin.hypertext.corpus import Corpus
from pagekin.hypertext.titles import ShortTitles
from pagekin.hypertext.urls import canonical_url
from pagekin.store import RaggedBytes, rank

_SEARCHED = 256 << 20
_ENOUGH = 64
_WITH_HALF = 2_000
"""How many addresses are compared that contain the first or the second half of a misspelt name."""
_MANY = 10_000
"""How many addresses or titles are looked at for one that is meant."""
_SHOWN = 5
"""Addresses that are named where a text may mean any of several."""
_LEAST_LIKENESS = 0.5
"""The share of letters in the same order that an address has in common with a suggested one, as difflib counts it."""
_LESS_LIKENESS = 0.2
"""How much less than the most similar address the others may have in common."""
_SHORTEST_PATH = 3
"""Letters of a path or a title that can mean an address."""


def nearest_urls(corpus: Corpus, url: str, count: int = 3) -> list[str]:
    """Return known addresses that look like `url`: neighbours in sorted order, others with nearly its last part."""
    wanted = _full_address(url)
    name = wanted.rstrip("/").rpartition("/")[2]
    candidates: set[str] = set(_with_name(corpus, name, _ENOUGH))
    if not candidates:
        # One of its halves is spelt right if there is one mistake in it.
        stem = name.rpartition(".")[0] or name
        candidates.update(
            *(_with_name(corpus, half, _WITH_HALF) for half in (stem[: len(stem) // 2], stem[len(stem) // 2 :]))
        )
    rest = wanted.partition("://")[2] or wanted
    for scheme in ("http://", "https://"):
        for spelling in (rest, rest.removeprefix("www."), "www." + rest, rest.rstrip("/"), rest + "/"):
            place = corpus.urls.nearest((scheme + spelling).encode("utf-8", "replace"))
            near = range(max(0, place - 3), min(len(corpus.urls), place + 4))
            candidates |= {corpus.url(i) for i in near if corpus.knows(i)}
    return _closest(url, candidates, count)


def _full_address(url: str) -> str:
    return canonical_url(url) or canonical_url(f"http://{url}") or url


def _closest(url: str, candidates: Iterable[str], count: int = 3) -> list[str]:
    """Return the candidates that are spelt most like an address, apart from scheme and `www.`, which nearly all share.

    A text without a scheme may be the end of an address, so it is compared with as many of the last parts, too.
    """
    wanted, parts = _bare(_full_address(url)), 0 if "://" in url else url.strip("/").count("/") + 1
    likeness: dict[str, float] = {}
    for candidate in set(candidates):
        bare = _bare(candidate)
        likeness[candidate] = difflib.SequenceMatcher(None, bare, wanted).ratio()
        if parts:
            end = "/".join(bare.rstrip("/").split("/")[1:][-parts:])
            likeness[candidate] = max(
                likeness[candidate], difflib.SequenceMatcher(None, end, url.lower().strip("/")).ratio()
            )
    least = max(_LEAST_LIKENESS, max(likeness.values(), default=0.0) - _LESS_LIKENESS)
    close = [candidate for candidate, ratio in likeness.items() if ratio >= least]
    return sorted(close, key=lambda candidate: (-likeness[candidate], candidate))[:count]


def _bare(url: str) -> str:
    """Return an address in lower case without its scheme and `www.`."""
    rest = url.lower().partition("://")[2] or url.lower()
    return rest.removeprefix("www.")


def guess_url(corpora: Sequence[Corpus], text: str) -> str:
    """Return the address that a text most likely means; '' if none or several are likely.

    It may lack the scheme, or have another; lack `www.`, the last slash or `index.html`, or have them; be the end of an
    address (`library/json.html`); or be a page's title. Of several, the only page that was read is meant.
    """
    candidates = _candidate_urls(corpora, text)
    return candidates[0] if len(candidates) == 1 else ""


def _candidate_urls(corpora: Sequence[Corpus], text: str) -> list[str]:
    """Return the addresses that a text may mean, by the first reading that yields any; captured ones, if any."""
    text = text.strip()
    for find in (_other_spellings, _ending_in, _with_title):
        candidates: dict[str, bool] = {}
        for address, captured in (one for corpus in corpora for one in find(corpus, text)):
            # A page of one shard may be linked from others.
            candidates[address] = candidates.get(address, False) or captured
        if candidates:
            return [address for address, captured in candidates.items() if captured] or list(candidates)
    return []


def _other_spellings(corpus: Corpus, text: str) -> Iterator[tuple[str, bool]]:
    """Yield (address, was captured) where scheme, `www.`, last slash or `index.html` is the only difference."""
    if (name := canonical_url(text if "://" in text else f"http://{text}")) is None:
        return
    rest = name.partition("://")[2]
    host, _slash, path = rest.partition("/")
    bare = path.removesuffix("index.html").rstrip("/")
    for scheme in ("https://", "http://"):
        for start in (host, host.removeprefix("www."), f"www.{host}"):
            for end in (path, bare, f"{bare}/", f"{bare}/index.html".lstrip("/")):
                yield from _resolve_number(
                    corpus, corpus.urls.find(f"{scheme}{start}/{end}".encode("utf-8", "replace"))
                )


def _resolve_number(corpus: Corpus, number: int) -> Iterator[tuple[str, bool]]:
    """Yield (address, was captured) for a number, aliases resolved; nothing for -1."""
    if corpus.knows(number):
        home = corpus.home(number)
        yield corpus.url(home), bool(corpus.pages_of(home))


def _ending_in(corpus: Corpus, text: str) -> Iterator[tuple[str, bool]]:
    """Yield (address, was captured) of the addresses that end in a path."""
    path = text.lstrip("./")
    if "://" in text or len(path) < _SHORTEST_PATH:
        return
    end = f"/{path}".encode("utf-8", "replace").lower()
    ends = (end, end + b"index.html") if path.endswith("/") else (end,)
    for number in _strings_with(corpus.urls, end, _MANY):
        if corpus.urls[number].lower().endswith(ends):
            yield from _resolve_number(corpus, number)


def _with_title(corpus: Corpus, text: str) -> Iterator[tuple[str, bool]]:
    """Yield (address, True) of the pages with this title, whole or without what their host repeats."""
    if len(text) < _SHORTEST_PATH:
        return
    titles, asked = ShortTitles(corpus), text.casefold()
    for page in _strings_with(corpus.titles, text.encode("utf-8", "replace"), _MANY):
        if corpus.hidden is not None and corpus.hidden[page]:
            continue
        if asked in (corpus.titles.text(page).strip().casefold(), titles.text(page).casefold()):
            yield corpus.page_url(page), True


def _with_name(corpus: Corpus, name: str, most: int) -> list[str]:
    """Return some addresses that contain `name`, ignoring case."""
    if len(name) < 3:
        return []
    numbers = _strings_with(corpus.urls, name.encode("utf-8", "replace"), most)
    return [corpus.url(number) for number in numbers if corpus.knows(number)]


def _strings_with(strings: RaggedBytes, needle: bytes, most: int) -> Iterator[int]:
    """Yield the numbers of some strings that contain a needle, ignoring case; a huge table is searched in part."""
    table, needle = strings.data[:_SEARCHED].tobytes().lower(), needle.lower()
    at = table.find(needle)
    while at >= 0 and most:
        number, most = rank(strings.offsets, at + 1) - 1, most - 1
        yield number
        at = table.find(needle, int(strings.offsets[number + 1]))


def unknown_url_message(corpora: Sequence[Corpus], url: str, path: str | os.PathLike[str] = "") -> str:
    """Return a message that says that a collection does not know `url`, with suggestions.

    If it may be any of several pages, these are what the sentence names.
    """
    where = os.fspath(path or corpora[0].kin.path)
    if len(candidates := _candidate_urls(corpora, url)) > 1:
        more = [f"... and {len(candidates) - _SHOWN:,} more"] if len(candidates) > _SHOWN else []
        first = f"{url} may be any of {len(candidates):,} addresses in {where}. Name one of them:"
        return "\n  ".join([first, *sorted(candidates, key=lambda one: (len(one), one))[:_SHOWN], *more])
    likely = [name for corpus in corpora for name in nearest_urls(corpus, url)]
    near = _closest(url, likely) if len(corpora) > 1 else likely
    hint = "\n  ".join(["Did you mean", *near]) if near else "The collection holds no address like it."
    return f"{url} is not in {where}. {hint}"
