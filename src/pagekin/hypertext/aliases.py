"""Choose which captures become pages, and which addresses are aliases of one."""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pagekin.store import Array

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
    rows: Array, redirects: Array, revisits: Array, url_count: int, all_captures: bool, title: Callable[[Any], bytes]
) -> Choice:
    """Choose among `rows` (sorted by URL, newest first).

    The newest capture of a URL is its page. A page that names another captured page as its canonical address is an
    alias of it; if that address was not captured, it becomes an alias of the page. A redirect makes its source an
    alias of its target unless the source was captured as a page itself; a revisit of another address likewise.
    """
    urls, newest = np.unique(rows["url"], return_index=True)
    page_of = np.full(url_count, -1, dtype=np.int64)
    page_of[urls] = newest
    alias: dict[int, int] = {}
    alias.update(
        (url, target) for url, target, _ in revisits.tolist() if url != target and page_of[url] < 0 <= page_of[target]
    )
    by_date = redirects[np.lexsort((redirects[:, 1], redirects[:, 2]))]
    alias.update((url, target) for url, target, _ in by_date.tolist() if page_of[url] < 0)  # the latest wins
    not_believed = _follow_canonicals(rows, page_of, alias, title)
    target_of = np.arange(url_count, dtype=np.uint32)
    for url in alias:
        target_of[url] = _end_of(url, alias)
    renamed = np.array(sorted(u for u in alias if target_of[u] != u), dtype=np.int64)
    chosen = np.full(len(rows), all_captures)
    chosen[newest] = True
    gone = np.isin(rows["url"], renamed)
    left_out: Counter[str] = Counter()
    left_out["older capture"] = int(np.count_nonzero(~chosen))
    left_out["canonical elsewhere"] = int(np.count_nonzero(gone & chosen))
    left_out["canonical not believed"] = not_believed
    chosen &= ~gone
    return Choice(np.flatnonzero(chosen), target_of, renamed, target_of[renamed].astype(np.int64), +left_out)


def _follow_canonicals(rows: Array, page_of: Array, alias: dict[int, int], title: Callable[[Any], bytes]) -> int:
    """Add the canonical addresses that pages name to `alias`; return how many are not believed."""
    not_believed = 0
    claims: dict[int, list[int]] = defaultdict(list)
    pages = rows[page_of[page_of >= 0]]
    claiming = pages[pages["canonical"] >= 0]
    for url, wanted in zip(claiming["url"].tolist(), claiming["canonical"].tolist(), strict=True):
        if wanted != url:
            claims[_end_of(wanted, alias)].append(url)
    for wanted in sorted(claims):
        claimants = sorted(claims[wanted])
        titles = {title(rows[page_of[url]]) for url in claimants} if len(claimants) > _SHARED_CANONICAL else ()
        if len(titles) > len(claimants) // 2:
            not_believed += len(claimants)
            continue
        home = wanted
        if page_of[wanted] < 0:
            home = claimants[0]
            if _end_of(home, alias) != home:
                continue
            alias[wanted] = home
        for url in claimants:
            if url != home and _end_of(home, alias) != url:
                alias[url] = home
    return not_believed


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
