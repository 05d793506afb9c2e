"""Site furniture: links that much of a site carries on every page, such as home, index and help."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags.strategy import Strategy
from pagekin.hypertext import Corpus

Array = npt.NDArray[Any]
FEWEST = 4
"""Pages of a host that must link to a page before the page can be furniture, however small the host."""
_STEP = 1 << 22


def find_furniture(corpus: Corpus, strategy: Strategy) -> npt.NDArray[np.bool_]:
    """Return which anchors are furniture: they lead to a page of their host that a large share of the host's pages link to.

    The share is `content.furniture`. Of several captures of a URL the newest counts. Cost: one pass over the anchors in
    the order of their targets.
    """
    offsets = np.asarray(corpus.inlinks.offsets, dtype=np.int64)
    first_anchor = np.asarray(corpus.pages.anchors, dtype=np.int64)
    found = np.zeros(int(first_anchor[-1]), dtype=np.bool_)
    if strategy.content.furniture >= 1 or not len(corpus):
        return found
    page_url, page_host = (np.asarray(one, dtype=np.int64) for one in (corpus.pages.url, corpus.pages.host))
    newest = np.ones(len(page_url), dtype=np.bool_)
    newest[1:] = page_url[1:] != page_url[:-1]
    host_of = np.full(len(corpus.urls), -1, dtype=np.int64)
    host_of[page_url] = page_host
    enough = np.maximum(FEWEST, strategy.content.furniture * np.bincount(page_host[newest], minlength=1))
    anchor_page = np.repeat(np.arange(len(page_url)), np.diff(first_anchor))
    url = 0
    while url < len(offsets) - 1:
        last = max(url + 1, int(np.searchsorted(offsets, offsets[url] + _STEP, side="right")) - 1)
        anchors = np.asarray(corpus.inlinks.anchors[offsets[url] : offsets[last]], dtype=np.int64)
        targets = np.repeat(np.arange(url, last), np.diff(offsets[url : last + 1]))
        pages = anchor_page[anchors]
        inside = page_host[pages] == host_of[targets]
        counts = inside & newest[pages] & (page_url[pages] != targets)
        # Anchors to one target are in page order: a page that links twice stands twice in a row.
        places = np.flatnonzero(counts)
        again = np.zeros(len(places), dtype=np.bool_)
        again[1:] = (pages[places][1:] == pages[places][:-1]) & (targets[places][1:] == targets[places][:-1])
        linking = np.bincount(targets[places][~again] - url, minlength=last - url)
        host = host_of[url:last]
        common = (host >= 0) & (linking >= enough[np.maximum(host, 0)])
        found[anchors[inside & common[targets - url]]] = True
        url = last
    return found


def words_in_furniture(corpus: Corpus, page: int, anchors: Array) -> npt.NDArray[np.bool_]:
    """Return which words of a page stand in links that are furniture, given as `find_furniture` gives them."""
    found = np.zeros(len(corpus.stream(page).words), dtype=np.bool_)
    for anchor in corpus.anchors_out(page):
        if anchors[anchor]:
            start = int(corpus.anchors.start[anchor])
            found[start : start + int(corpus.anchors.length[anchor])] = True
    return found
