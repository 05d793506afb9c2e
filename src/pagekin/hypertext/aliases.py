"""Choose which captures become pages, and which addresses are aliases of one.

Every address has at most one next address: of a canonical address, a redirect and a revisit the first that there is; of several
of a kind the latest, and of those with one date the one with the least target. Following next addresses ends at an address
without one, or in a cycle, which ends at its least address. So nothing depends on the order in which records were read.

Addresses are numbers in their order, or the addresses themselves as bytes. `choose_pages` has all of them in one part. Where
records are divided by address, each part calls `settle_pages`, asks the parts of revisited addresses for their pages, calls
`lead_on`, follows the chains (see `chains`), sends its claims to the parts of the addresses that they want, where
`judge_claims` decides, takes back what concerns its own addresses, and follows the chains again.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.chains import Leads, find_ends, find_places, follow
from pagekin.store import Array

_SHARED_CANONICAL = 16
"""More pages than this, of different titles, with one canonical address: a template's mistake, not aliases."""


@dataclass(frozen=True)
class Choice:
    """The captures that become pages, and the addresses that are aliases of them."""

    pages: Array
    """Places of the chosen captures among the rows, in the order of their URLs."""
    target_of: Array
    """For every URL number, the URL that links to it count for."""
    alias_url: Array
    alias_target: Array
    left_out: Counter[str]


class Moves(NamedTuple):
    """Dated records of one kind, in any order: each says that an address leads to another."""

    sources: Array
    targets: Array
    dates: npt.NDArray[np.int64]

    def some(self, which: Array) -> "Moves":
        """Return the records selected by a mask or by numbers."""
        return Moves(*(column[which] for column in self))


class Records(NamedTuple):
    """Redirects, revisits and missing pages: a row of (url, target, date) each."""

    redirects: Array
    revisits: Array
    gone: Array
    """Answers that there is no such page; the target is the URL itself."""


class SettledRecords(NamedTuple):
    """The records of some addresses, without those that a later answer cancels."""

    pages: Array
    """Addresses, rising, whose page is there."""
    redirects: Moves
    """Redirects of addresses without a page."""
    revisits: Moves
    """Revisits of other addresses, by addresses without a page."""


class Verdict(NamedTuple):
    """The decision on claims that some addresses are canonical."""

    claimants: Leads
    """Pages that name them, each with the address that it is an alias of, or itself."""
    wanted: Leads
    """Those of the addresses that have no page, each with the page that stands for it."""
    not_believed: int
    """Claims that are a template's mistake."""


def settle_pages(addresses: Array, dates: Array, redirects: Moves, revisits: Moves, gone: Moves) -> SettledRecords:
    """Decide which addresses have a page, given the newest capture of each and their redirects, revisits and 404s.

    An answer that there is no such page undoes all that the address was before. A redirect and a revisit count for addresses
    without a page.
    """
    every = np.unique(np.concatenate([addresses, redirects.sources, revisits.sources, gone.sources]))
    gone_at, seen_at = np.full((2, len(every)), -1, dtype=np.int64)
    np.maximum.at(gone_at, np.searchsorted(every, gone.sources), gone.dates)
    redirects, revisits = (
        moves.some(_is_later(moves.dates, gone_at[np.searchsorted(every, moves.sources)]))
        for moves in (redirects, revisits)
    )
    places = np.searchsorted(every, addresses)
    seen_at[places] = dates
    np.maximum.at(seen_at, np.searchsorted(every, revisits.sources), revisits.dates)  # the page was there, as before
    pages = every[np.sort(places[_is_later(seen_at, gone_at)[places]])]
    redirects, revisits = (moves.some(~find_places(pages, moves.sources)[1]) for moves in (redirects, revisits))
    return SettledRecords(pages, redirects, revisits.some(revisits.sources != revisits.targets))


def lead_on(settled: SettledRecords, is_page: npt.NDArray[np.bool_]) -> Leads:
    """Return the targets of addresses without a page; `is_page` marks the revisits whose target has a page."""
    redirects, revisits = _latest(settled.redirects), _latest(settled.revisits.some(is_page))
    return override(revisits, redirects)


def _latest(moves: Moves) -> Leads:
    """Return the target of each address's latest move; of several on the same date, the smallest target."""
    ordered = moves.some(np.lexsort((moves.targets, -moves.dates, moves.sources)))
    sources, first = np.unique(ordered.sources, return_index=True)
    return Leads(sources, ordered.targets[first])


def override(leads: Leads, others: Leads) -> Leads:
    """Return `leads` with those of `others` in place of equal sources; drop leads from an address to itself."""
    stays = ~find_places(others.sources, leads.sources)[1]
    sources, targets = (np.concatenate([mine[stays], theirs]) for mine, theirs in zip(leads, others, strict=True))
    order = np.argsort(sources, kind="stable")
    order = order[sources[order] != targets[order]]
    return Leads(sources[order], targets[order])


def judge_claims(
    claimants: Array, wanted: Array, is_page: npt.NDArray[np.bool_], title: Callable[[Any], bytes]
) -> Verdict:
    """Decide which claims to a canonical address are believed.

    The page of each of the `claimants` wants to be an alias of the address in `wanted`, to which the one that it names leads.
    `is_page` marks those that have a page; `title` returns the title of a claimant's page.
    """
    order = np.lexsort((claimants, wanted))
    order = order[claimants[order] != wanted[order]]
    claimants, wanted, is_page = claimants[order], wanted[order], is_page[order]
    _addresses, starts, group, sizes = np.unique(wanted, return_index=True, return_inverse=True, return_counts=True)
    believed = np.ones(len(starts), dtype=np.bool_)
    for one in np.flatnonzero(sizes > _SHARED_CANONICAL).tolist():
        naming = claimants[starts[one] : starts[one] + sizes[one]]
        believed[one] = len({title(address) for address in naming.tolist()}) <= sizes[one] // 2
    counts = believed[group]
    home = np.where(is_page, wanted, claimants[starts[group]] if len(starts) else wanted)
    by_claimant = np.argsort(claimants[counts], kind="stable")
    first = starts[believed & ~is_page[starts]] if len(starts) else starts
    return Verdict(
        Leads(claimants[counts][by_claimant], home[counts][by_claimant]),
        Leads(wanted[first], home[first]),
        int(sizes[~believed].sum()),
    )


def choose_pages(
    rows: Array, others: Records, url_count: int, all_captures: bool, title: Callable[[Any], bytes]
) -> Choice:
    """Choose the pages and aliases among `rows`, which are sorted by URL, newest first.

    The newest capture of a URL is its page. A page that names another captured page as its canonical address is an
    alias of it; if that address was not captured, it becomes an alias of the page, or of the least of the pages that name it.
    A redirect makes its source an alias of its target unless the source was captured as a page itself; a revisit of another
    address likewise. An answer that there is no such page undoes all that the address was before.
    """
    urls, newest = np.unique(rows["url"].astype(np.int64), return_index=True)
    settled = settle_pages(urls, rows["date"][newest], *(Moves(*table.T) for table in others))
    leads = lead_on(settled, find_places(settled.pages, settled.revisits.targets)[1])
    newest = newest[np.searchsorted(urls, settled.pages)]
    row_of = dict(zip(settled.pages.tolist(), newest.tolist(), strict=True))
    claiming = rows[newest][rows["canonical"][newest] >= 0]
    wanted = follow(find_ends(leads), claiming["canonical"].astype(np.int64))
    verdict = judge_claims(
        claiming["url"].astype(np.int64),
        wanted,
        find_places(settled.pages, wanted)[1],
        lambda url: title(rows[row_of[url]]),
    )
    ends = find_ends(override(override(leads, verdict.wanted), verdict.claimants))
    renamed = ends.targets != ends.sources
    alias_url, alias_target = ends.sources[renamed], ends.targets[renamed]
    target_of = np.arange(url_count, dtype=np.uint32)
    target_of[alias_url] = alias_target
    still = find_places(settled.pages, rows["url"].astype(np.int64))[1]
    chosen = np.full(len(rows), all_captures)
    chosen[newest] = True
    chosen &= still
    gave_way = np.isin(rows["url"], alias_url)
    left_out: Counter[str] = Counter()
    left_out["gone"] = int(np.count_nonzero(~still))
    left_out["older capture"] = int(np.count_nonzero(~chosen & still))
    left_out["canonical elsewhere"] = int(np.count_nonzero(gave_way & chosen))
    left_out["canonical not believed"] = verdict.not_believed
    chosen &= ~gave_way
    return Choice(np.flatnonzero(chosen), target_of, alias_url, alias_target, +left_out)


def _is_later(seen_at: Array, gone_at: Array) -> npt.NDArray[np.bool_]:
    """Mark what was seen no earlier than it was gone, or has no date (0)."""
    return np.asarray((seen_at >= gone_at) | (seen_at == 0))
