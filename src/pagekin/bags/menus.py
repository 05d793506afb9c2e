"""Find the links that a whole host or one section of it repeats on page after page, with the same words and the same target.

What three fifths of a host's pages have is furniture of the host. What three fifths of a folder's pages have may be either of two
things. A menu, as in a sidebar, leads from page to page of the folder: its neighbours in a list would seem to be related, and
pages with little text would seem to be copies. But the path to the section's first page, the class that all pages of a package
extend, or a type that they all name, say what the section is about. So the links that a folder repeats are a menu only if
together they lead to much of the folder. And they are of a template if other folders repeat the same words for their own pages,
as "User's guide" and "Release notes" in the manual of each of many programs.
"""

from collections.abc import Generator

import numpy as np
import numpy.typing as npt

from pagekin.bags.counting import count_distinct
from pagekin.bags.furniture import HostLinks, menu_keys
from pagekin.bags.site import Site
from pagekin.bags.tallies import Tally, make_tally, sum_tallies
from pagekin.store import Array, distinct, is_among

REPEATED_SHARE, FEWEST_PAGES = 0.6, 6
"""The share of the pages of a host or a folder, and the least number of them, that repeat a link."""
MENU_REACH, FEWEST_REACHED = 0.5, 6
"""The share of its folder's pages, and the least number of them, to which a menu leads, …"""
MANY_REACHED = 20
"""… unless it leads to so many pages, wherever they are."""
MANY_MEANT = 4
"""Pages to which the same words lead in the repeated links of a host's folders, if these are the words of a template."""
_FOLDER, _REPEATED, _REACHED, _REACHED_INSIDE, _MEANT = range(64, 69)
"""Kinds of counts: pages of a folder; pages that have a link; targets of a folder's repeated links, those in the folder itself;
targets of these links by host and words."""


def find_menus(
    links: HostLinks, site: Site, hosts: Array, host_pages: Array, counts: npt.NDArray[np.bool_], share: float
) -> Generator[Tally, Tally, tuple[npt.NDArray[np.bool_], npt.NDArray[np.uint64]]]:
    """Return (a mask of the links that their host repeats or that are in their folder's menu, the sorted hashes of these).

    `counts` marks the links to examine, `host_pages` is the number of pages of each host, over all shards. `share` is what
    `content.furniture` calls a large share of pages; less than three fifths is no matter here.
    """
    share = max(REPEATED_SHARE, share)
    of_host, of_folder = site.host_hash[site.page_host], site.page_folder
    folders = yield make_tally(_FOLDER, of_folder[np.flatnonzero(site.newest & is_among(site.page_host, hosts))])
    said = links.texts != 0
    some = np.flatnonzero(counts & said & site.newest[links.pages])
    pages = links.pages[some]
    on_host, in_folder = (menu_keys(links, owner, site.url_hash) for owner in (of_host, of_folder))
    host_having, first = count_distinct(on_host[some], pages, links.memory)
    host_keys, host_sizes = on_host[some[first]], host_pages[site.page_host[pages[first]]]
    folder_having, first = count_distinct(in_folder[some], pages, links.memory)
    folder_keys, folder_sizes = in_folder[some[first]], folders.sums(_FOLDER, of_folder[pages[first]])
    tallies = make_tally(_REPEATED, host_keys, host_having), make_tally(_REPEATED, folder_keys, folder_having)
    total = yield sum_tallies(tallies)
    of_hosts, of_folders = (
        keys[total.sums(_REPEATED, keys) >= np.maximum(FEWEST_PAGES, share * sizes)]
        for keys, sizes in ((host_keys, host_sizes), (folder_keys, folder_sizes))
    )
    found = is_among(on_host, of_hosts) & said

    some = some[is_among(in_folder[some], of_folders) & ~found[some]]
    pages, targets = links.pages[some], links.targets[some]
    folder, words, target = of_folder[pages], links.texts[some] ^ of_host[pages], site.url_hash[targets]
    inside = site.url_folder[targets] == folder
    total = yield sum_tallies([
        make_tally(_REACHED, folder, 1, target), make_tally(_REACHED_INSIDE, folder[inside], 1, target[inside]),
        make_tally(_MEANT, words, 1, target),
    ])  # fmt: skip
    enough = np.maximum(FEWEST_REACHED, MENU_REACH * folders.sums(_FOLDER, folder))
    in_menu = (total.variety(_REACHED_INSIDE, folder) >= enough) | (total.variety(_REACHED, folder) >= MANY_REACHED)
    in_menu |= total.variety(_MEANT, words) >= MANY_MEANT
    menus = distinct(in_folder[some[in_menu]])
    return found | (is_among(in_folder, menus) & said), distinct(np.concatenate([of_hosts, menus]))
