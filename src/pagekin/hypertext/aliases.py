"""Choose which captures become pages, and which addresses are aliases of one.

Every address has at most one next address: of a canonical address, a redirect and a revisit the first that there is; of several
of a kind the latest, and of those with one date the one with the least target. Following next addresses ends at an address
without one, or in a cycle, which ends at its least address. So nothing depends on the order in which records were read.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

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


class Records(NamedTuple):
    """What was captured besides pages: (url, target, date) each."""

    redirects: Array
    revisits: Array
    gone: Array
    """Answers that there is no such page; the target is the URL itself."""


def choose_pages(
    rows: Array, others: Records, url_count: int, all_captures: bool, title: Callable[[Any], bytes]
) -> Choice:
    """Choose among `rows` (sorted by URL, newest first).

    The newest capture of a URL is its page. A page that names another captured page as its canonical address is an
    alias of it; if that address was not captured, it becomes an alias of the page, or of the least of the pages that name it.
    A redirect makes its source an alias of its target unless the source was captured as a page itself; a revisit of another
    address likewise. An answer that there is no such page undoes all that the address was before.
    """
    urls, newest = np.unique(rows["url"], return_index=True)
    gone_at = np.full(url_count, -1, dtype=np.int64)
    np.maximum.at(gone_at, others.gone[:, 0], others.gone[:, 2])
    redirects, revisits = (
        pairs[_is_later(pairs[:, 2], gone_at[pairs[:, 0]])] for pairs in (others.redirects, others.revisits)
    )
    seen_at = np.full(url_count, -1, dtype=np.int64)
    seen_at[urls] = rows["date"][newest]
    np.maximum.at(seen_at, revisits[:, 0], revisits[:, 2])  # the page was there, as before
    is_there = _is_later(seen_at, gone_at)
    newest, urls, still = newest[is_there[urls]], urls[is_there[urls]], is_there[rows["url"]]
    page_of = np.full(url_count, -1, dtype=np.int64)
    page_of[urls] = newest
    next_of = np.arange(url_count)
    copies = (revisits[:, 0] != revisits[:, 1]) & (page_of[revisits[:, 1]] >= 0)
    for pairs in (revisits[copies], redirects):  # in this order: a redirect counts for more
        _set_next(next_of, pairs[page_of[pairs[:, 0]] < 0])
    not_believed = _follow_canonicals(rows, page_of, next_of, title)
    target_of = chain_ends(next_of)
    renamed = np.flatnonzero(target_of != np.arange(url_count))
    chosen = np.full(len(rows), all_captures)
    chosen[newest] = True
    chosen &= still
    gave_way = np.isin(rows["url"], renamed)
    left_out: Counter[str] = Counter()
    left_out["gone"] = int(np.count_nonzero(~still))
    left_out["older capture"] = int(np.count_nonzero(~chosen & still))
    left_out["canonical elsewhere"] = int(np.count_nonzero(gave_way & chosen))
    left_out["canonical not believed"] = not_believed
    chosen &= ~gave_way
    return Choice(np.flatnonzero(chosen), target_of.astype(np.uint32), renamed, target_of[renamed], +left_out)


def _is_later(seen_at: Array, gone_at: Array) -> npt.NDArray[np.bool_]:
    """Return what was seen no earlier than it was gone; nothing is newer than what has no date, which is 0."""
    return np.asarray((seen_at >= gone_at) | (seen_at == 0))


def _set_next(next_of: Array, pairs: Array) -> None:
    """Let each address lead where the latest of its (url, target, date) does, of equal dates that with the least target."""
    by_date = pairs[np.lexsort((-pairs[:, 1], pairs[:, 2]))]
    next_of[by_date[:, 0]] = by_date[:, 1]  # of several the last one stays


def _follow_canonicals(rows: Array, page_of: Array, next_of: Array, title: Callable[[Any], bytes]) -> int:
    """Let pages lead to the canonical addresses that they name; return how many of them are not believed."""
    pages = rows[page_of[page_of >= 0]]
    claiming = pages[pages["canonical"] >= 0]
    claimants, wanted = claiming["url"].astype(np.int64), chain_ends(next_of)[claiming["canonical"]]
    elsewhere = claimants != wanted
    by_wanted = np.lexsort((claimants[elsewhere], wanted[elsewhere]))
    claimants, wanted = claimants[elsewhere][by_wanted], wanted[elsewhere][by_wanted]
    _addresses, starts, group, sizes = np.unique(wanted, return_index=True, return_inverse=True, return_counts=True)
    believed = np.ones(len(starts), dtype=np.bool_)
    for one in np.flatnonzero(sizes > _SHARED_CANONICAL).tolist():
        naming = claimants[starts[one] : starts[one] + sizes[one]]
        believed[one] = len({title(rows[page_of[url]]) for url in naming.tolist()}) <= sizes[one] // 2
    home = np.where(page_of[wanted] >= 0, wanted, claimants[starts[group]] if len(starts) else wanted)
    counts = believed[group]
    next_of[wanted[counts]] = np.where(page_of[wanted] >= 0, next_of[wanted], home)[counts]
    next_of[claimants[counts]] = home[counts]
    return int(sizes[~believed].sum())


def chain_ends(next_of: Array) -> npt.NDArray[np.int64]:
    """Return where the chain of next addresses from each address ends: one that is its own next, or the least of a cycle.

    Cost: log2(addresses that lead somewhere) steps over these.
    """
    ends = np.arange(len(next_of))
    leading = np.flatnonzero(next_of != ends)
    nodes = np.unique(np.concatenate([leading, next_of[leading]]))
    jump = np.searchsorted(nodes, next_of[nodes])
    least = np.arange(len(nodes))
    for _ in range(len(nodes).bit_length()):  # after k rounds a jump is 2^k steps, and `least` the least node on them
        least = np.minimum(least, least[jump])
        jump = jump[jump]
    ends[nodes] = nodes[least[jump]]  # after that many steps a chain is in its cycle, and stays there
    return ends
