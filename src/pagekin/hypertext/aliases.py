"""Choose which captures become pages, and which addresses are aliases of one."""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
_SHARED_CANONICAL = 16
"""More pages than this, of different titles, with one canonical address: a template's mistake, not aliases."""


@dataclass(frozen=True)
class Choice:
    """The pages of a corpus among all captures."""

    pages: Array
    """Places of the chosen captures among the rows, in the order of their URLs."""
    target_of: Array
    """For every URL number, the URL that links to it count for."""
    alias_url: Array
    alias_target: Array
    left_out: Counter[str]


def choose_pages(
    rows: Array,
    redirects: Array,
    revisits: Array,
    url_count: int,
    all_captures: bool,
    title: Callable[[int], bytes],
) -> Choice:
    """Choose among `rows` (sorted by URL, newest first).

    The newest capture of a URL is its page. A page that names another captured page as its canonical address is an
    alias of it; if that address was not captured, it becomes an alias of the page. A redirect makes its source an
    alias of its target unless the source was captured as a page itself; a revisit of another address likewise.
    """
    left_out: Counter[str] = Counter()
    first = np.ones(len(rows), dtype=bool)
    first[1:] = rows["url"][1:] != rows["url"][:-1]
    newest = np.flatnonzero(first)
    page_of = _Places(rows["url"][newest], newest)
    alias: dict[int, int] = {}
    alias.update(
        (url, target)
        for url, target, _ in revisits.tolist()
        if url != target and url not in page_of and target in page_of
    )
    by_date = redirects[np.lexsort((redirects[:, 1], redirects[:, 2]))]
    alias.update((url, target) for url, target, _ in by_date.tolist() if url not in page_of)  # the latest wins
    _follow_canonicals(rows, page_of, alias, left_out, title)
    target_of = np.arange(url_count, dtype=np.uint32)
    for url in alias:
        target_of[url] = _end_of(url, alias)
    renamed = np.array(sorted(u for u in alias if target_of[u] != u), dtype=np.int64)
    chosen = np.zeros(len(rows), dtype=bool)
    if all_captures:
        chosen[:] = True
    else:
        chosen[newest] = True
        left_out["older capture"] += int(len(rows) - len(newest))
    gone = np.isin(rows["url"], renamed)
    left_out["canonical elsewhere"] += int(np.count_nonzero(gone & chosen))
    chosen &= ~gone
    return Choice(np.flatnonzero(chosen), target_of, renamed, target_of[renamed].astype(np.int64), +left_out)


class _Places:
    """The place of each URL's newest capture among the rows: a dictionary in two arrays."""

    def __init__(self, urls: Array, places: Array) -> None:
        self.urls = urls
        self.places = places

    def __contains__(self, url: int) -> bool:
        place = int(np.searchsorted(self.urls, url))
        return place < len(self.urls) and int(self.urls[place]) == url

    def __getitem__(self, url: int) -> int:
        return int(self.places[np.searchsorted(self.urls, url)])


def _follow_canonicals(
    rows: Array,
    page_of: "_Places",
    alias: dict[int, int],
    left_out: Counter[str],
    title: Callable[[int], bytes],
) -> None:
    claims: dict[int, list[int]] = defaultdict(list)
    claiming = page_of.places[rows["canonical"][page_of.places] >= 0]
    for url, wanted in zip(rows["url"][claiming].tolist(), rows["canonical"][claiming].tolist(), strict=True):
        if wanted != url:
            claims[_end_of(wanted, alias)].append(url)
    for wanted in sorted(claims):
        claimants = sorted(claims[wanted])
        if len(claimants) > _SHARED_CANONICAL and len({title(page_of[url]) for url in claimants}) > len(claimants) // 2:
            left_out["canonical not believed"] += len(claimants)
            continue
        if wanted in page_of:
            home = wanted
        else:
            home = claimants[0]
            if _end_of(home, alias) != home:
                continue
            alias[wanted] = home
        for url in claimants:
            if url != home and _end_of(home, alias) != url:
                alias[url] = home


def _end_of(url: int, alias: dict[int, int]) -> int:
    """Return where a chain of aliases ends; a loop ends where it began."""
    seen = {url}
    at = url
    while at in alias:
        at = alias[at]
        if at in seen:
            return url
        seen.add(at)
    return at
