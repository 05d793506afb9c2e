"""Choose where shards begin from sums over ranges of addresses; shards have about equal numbers of words.

Work rises from page to page. Each shard but the first begins at the first address before which there is as much work as its
share asks for.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.choosing import ChosenPages
from pagekin.store import Array, Names

PAGE_WORK = 64
"""The work of a page, in words, besides its words."""


class Cut(NamedTuple):
    """A range of a collection's pages and addresses, as they are numbered in the whole."""

    first_page: int
    last_page: int
    """Beyond the last page."""
    first_url: int
    last_url: int
    """Beyond the last address."""


class RangeSize(NamedTuple):
    """The number of pages in a range of addresses, and their work."""

    pages: npt.NDArray[np.int64]
    """()"""
    work: npt.NDArray[np.int64]
    """()"""


class Starts(NamedTuple):
    """Addresses at which shards may begin, sorted."""

    work: npt.NDArray[np.int64]
    """(addresses): the work before each in the whole."""
    pages: npt.NDArray[np.int64]
    """(addresses): the pages before each in the whole."""
    addresses: Names


class ClosedRanges(NamedTuple):
    """Sorted ranges of addresses that no shard may divide."""

    firsts: Names
    lasts: Names

    def hold(self, addresses: Array) -> npt.NDArray[np.bool_]:
        """Mark the addresses at which no shard may begin."""
        firsts, lasts = self.firsts.array(), self.lasts.array()
        if not len(firsts):
            return np.zeros(len(addresses), np.bool_)
        places = np.searchsorted(firsts, addresses) - 1
        return np.asarray((places >= 0) & (addresses <= lasts[np.maximum(places, 0)]), np.bool_)


def close_ranges(pairs: Iterable[tuple[bytes, bytes]]) -> ClosedRanges:
    """Return the closed ranges between pairs of first and last addresses; overlapping ones are joined."""
    joined: list[tuple[bytes, bytes]] = []
    for first, last in sorted(pairs):
        if joined and first <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], last)
        else:
            joined.append((first, last))
    return ClosedRanges(Names.of(first for first, _last in joined), Names.of(last for _first, last in joined))


def measure_chosen(chosen: ChosenPages) -> RangeSize:
    """Return the size of a range, given its chosen pages."""
    pages = chosen.captures.sum(dtype=np.int64)
    return RangeSize(np.asarray(pages), np.asarray(chosen.tokens.sum(dtype=np.int64) + PAGE_WORK * pages))


def sum_sizes(sizes: Iterable[RangeSize]) -> RangeSize:
    """Add up sizes."""
    every = list(sizes)
    return RangeSize(*(np.asarray(sum(int(size[place]) for size in every)) for place in range(2)))


def share_work(whole: RangeSize, shards: int) -> npt.NDArray[np.int64]:
    """Return the least work that comes before each shard, except the first."""
    shares = [max(1, int(whole.work) * number // shards) for number in range(1, shards)]
    return np.array(shares, np.int64)


def find_starts(
    chosen: ChosenPages, before: RangeSize, shares: npt.NDArray[np.int64], closed: ClosedRanges | None = None
) -> Starts:
    """Return the addresses in a range at which shards with these shares may begin, and its first address.

    `before` is the size of all ranges before it, and `closed` says where no shard may begin.
    """
    addresses = chosen.pages.array()
    pages = int(before.pages) + np.cumsum(chosen.captures) - chosen.captures
    words = int(before.work) - PAGE_WORK * int(before.pages) + np.cumsum(chosen.tokens) - chosen.tokens
    work = words + PAGE_WORK * pages
    if closed is not None:
        is_open = ~closed.hold(addresses)
        addresses, pages, work = addresses[is_open], pages[is_open], work[is_open]
    places = np.unique(np.append(0, np.searchsorted(work, shares)))
    places = places[places < len(work)]
    return Starts(work[places], pages[places], Names.of(addresses[places]))


def settle_bounds(starts: Iterable[Starts], shares: npt.NDArray[np.int64]) -> tuple[Starts, npt.NDArray[np.int64]]:
    """Return (where all shards but the first begin, the shares to look for next).

    If these shares are other ones, two shards began at one address: look for them by `find_starts`, and settle again. There are
    fewer starts than shares if there are too few addresses.
    """
    every = list(starts)
    work, pages = (
        np.concatenate([np.zeros(0, np.int64), *(getattr(one, name) for one in every)]) for name in ("work", "pages")
    )
    addresses = [address for one in every for address in one.addresses.strings()]
    order = np.argsort(work, kind="stable")
    chosen: list[int] = []
    wanted: list[int] = []
    last = 0
    for asked in shares.tolist():
        share = max(asked, last + 1)
        wanted.append(share)
        last = share
        place = int(np.searchsorted(work[order], share))
        if place < len(order):
            chosen.append(int(order[place]))
            if share == asked:  # otherwise an earlier start than this one may not have been looked for
                last = int(work[chosen[-1]])
    return Starts(work[chosen], pages[chosen], Names.of(addresses[place] for place in chosen)), np.array(
        wanted, np.int64
    )
