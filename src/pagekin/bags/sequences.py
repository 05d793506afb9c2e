"""Find the links that lead along a sequence of pages: to the next one and the one before, as in a book.

Such neighbours say where a page stands, not what it is about. The links often have the title of the page that they lead to as
their words, so that they are not known by these; but their place in a template has a label: the words before the link (Next
topic), or its own first word (Next: Installation). A label is one of a sequence if

- enough pages have a link with it, one each, and every one leads to another page;
- most of the pages that it leads to have it, too, so that the links make chains;
- most of them have a link back, with another label. (Links that lead back with the same label make pairs: an opposite, a twin.)

So it is known in any language. "Author", "Up" and "Inherits" lead many pages to the same one; a label in running text has several
links a page, or none that lead back. Links whose `rel` says next or previous need no such proof.
"""

from collections.abc import Generator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags.counting import count_distinct
from pagekin.bags.furniture import LABELS, SEQUENCE_LABEL, HostLinks, are_labelled
from pagekin.bags.mixing import mix64
from pagekin.bags.site import Site
from pagekin.bags.tallies import Tally, make_tally, sum_tallies
from pagekin.store import Array, distinct, is_among

FEWEST_LABELLED = 40
"""Pages that must have a label, however small the host: a shorter chain may be a ring of people who name each other."""
PER_PAGE = 1.25
"""Links with a label that a page has on average, at most; …"""
APART = 0.8
"""… the share of them that lead to a page of its own, at least; …"""
ON_CHAINS = 0.8
"""… the share that lead to a page with the same label; …"""
LED_BACK = 0.6
"""… and the share that lead to a page with a link back."""
_LINKING, _LABELLED, _PAIRS, _TARGETS, _BACK, _SAME_BACK, _ON_CHAIN = range(32, 39)
"""Kinds of counts: pages that link to two others, pages with a label, links with it, their targets; links from one page to
another, and with which label; pages that have a label or are linked to by it."""
_IS, _ASKED = 0, 1
"""Values of the last three: what there is, and what is asked for."""


def find_sequences(
    links: HostLinks, site: Site, hosts: Array, known: npt.NDArray[np.bool_], share: float
) -> Generator[Tally, Tally, tuple[npt.NDArray[np.bool_], npt.NDArray[np.uint64]]]:
    """Return (a mask of the links along sequences, the sorted hashes of their hosts and labels).

    `known` marks links that are furniture anyway: what stands before them is no label, but they may be the way back. `share` is
    that of a host's pages with links to two others that is enough.
    """
    inside = (site.url_host[links.targets] == site.page_host[links.pages]) & site.newest[links.pages]
    some = np.flatnonzero(inside & (site.page_url[links.pages] != links.targets))
    of_host = site.host_hash[site.page_host[links.pages]]
    linked, first = count_distinct(links.pages[some], links.targets[some], links.memory)
    total = yield make_tally(_LINKING, of_host[some[first[linked >= 2]]])
    enough = np.zeros(len(site.host_hash))
    enough[hosts] = np.maximum(FEWEST_LABELLED, share * total.sums(_LINKING, site.host_hash[hosts]))

    by_rel = links.labels[:, -1] != 0
    known = known | by_rel
    rows = _all_labels(links, some[~known[some]], of_host)
    having, first = count_distinct(rows.labels, links.pages[rows.places], links.memory)
    labels, of_labels = rows.labels[first], site.page_host[links.pages[rows.places[first]]]
    total = yield make_tally(_LABELLED, labels, having)
    having = total.sums(_LABELLED, labels)
    repeated = having >= enough[of_labels]
    labels, having = labels[repeated], having[repeated]
    rows = _distinct_links(rows.take(is_among(rows.labels, labels)), links)

    total = yield sum_tallies(
        [
            make_tally(_PAIRS, rows.labels),
            make_tally(_TARGETS, rows.labels, 1, site.url_hash[links.targets[rows.places]]),
        ]
    )
    pairs, targets = total.sums(_PAIRS, labels), total.variety(_TARGETS, labels)
    labels = labels[(pairs <= PER_PAGE * having) & (targets >= APART * pairs)]
    rows = rows.take(is_among(rows.labels, labels))
    labels = yield from _find_chains(links, site, rows, some[known[some]], labels)
    sequences = distinct(np.concatenate([labels, SEQUENCE_LABEL ^ of_host[by_rel]]))
    return are_labelled(links.labels, of_host, sequences), sequences


class _Rows(NamedTuple):
    """Links with a label; a link with several labels has several rows."""

    places: npt.NDArray[np.int64]
    """The place of each among all links."""
    labels: npt.NDArray[np.uint64]
    """A hash of its host and of one of its labels."""

    def take(self, which: Array) -> "_Rows":
        return _Rows(self.places[which], self.labels[which])


def _all_labels(links: HostLinks, some: npt.NDArray[np.int64], of_host: Array) -> _Rows:
    """Return some links with all their labels but that of `rel`."""
    places = np.repeat(some, LABELS - 1)
    labels = links.labels[some, :-1].ravel()
    has_label = labels != 0
    places, labels = places[has_label], labels[has_label]
    return _Rows(places, labels ^ of_host[places])


def _distinct_links(rows: _Rows, links: HostLinks) -> _Rows:
    """Return one row for each label, page and target."""
    order = np.lexsort((links.targets[rows.places], links.pages[rows.places], rows.labels))
    rows = rows.take(order)
    columns = rows.labels, links.pages[rows.places], links.targets[rows.places]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return rows.take(is_new)


def _find_chains(
    links: HostLinks, site: Site, rows: _Rows, known: npt.NDArray[np.int64], labels: npt.NDArray[np.uint64]
) -> Generator[Tally, Tally, npt.NDArray[np.uint64]]:
    """Return the labels whose targets also have the label, and link back with another label."""

    def ends(places: Array) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        return site.url_hash[site.page_url[links.pages[places]]], site.url_hash[links.targets[places]]

    def step(source: Array, target: Array) -> npt.NDArray[np.uint64]:
        return mix64(mix64(source) + target)

    source, target = ends(rows.places)
    label = mix64(rows.labels)
    there, back = step(source, target), step(target, source)
    total = yield sum_tallies([
        make_tally(_BACK, np.concatenate([there, step(*ends(known))]), 1, _IS), make_tally(_BACK, back, 1, _ASKED),
        make_tally(_SAME_BACK, there ^ label, 1, _IS), make_tally(_SAME_BACK, back ^ label, 1, _ASKED),
        make_tally(_ON_CHAIN, mix64(source ^ label), 1, _IS), make_tally(_ON_CHAIN, mix64(target ^ label), 1, _ASKED),
    ])  # fmt: skip
    led_back = (total.variety(_BACK, back) == 2) & (total.variety(_SAME_BACK, back ^ label) < 2)
    on_chain = total.variety(_ON_CHAIN, mix64(target ^ label)) == 2
    total = yield sum_tallies([
        make_tally(_PAIRS, rows.labels), make_tally(_BACK, rows.labels[led_back]),
        make_tally(_ON_CHAIN, rows.labels[on_chain]),
    ])  # fmt: skip
    pairs, back_of, chained = (total.sums(kind, labels) for kind in (_PAIRS, _BACK, _ON_CHAIN))
    return labels[(back_of >= LED_BACK * pairs) & (chained >= ON_CHAINS * pairs)]
