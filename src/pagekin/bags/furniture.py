"""Site furniture: links that much of a site carries on every page, such as home, index and help."""

import numpy as np
import numpy.typing as npt

from pagekin.bags.links import citing_pages, link_batches
from pagekin.bags.strategy import Strategy
from pagekin.hypertext import Corpus
from pagekin.store import Array

FEWEST = 4
"""Pages of a host that must link to a page before the page can be furniture, however small the host."""


def find_furniture(corpus: Corpus, strategy: Strategy) -> npt.NDArray[np.bool_]:
    """Return which anchors are furniture: they lead to a page of their host that a large share of the host's pages link to.

    The share is `content.furniture`. Of several captures of a URL the newest counts. Cost: one pass over the anchors in
    the order of their targets.
    """
    furniture = np.zeros(int(corpus.pages.anchors[-1]), dtype=np.bool_)
    if strategy.content.furniture >= 1 or not len(corpus):
        return furniture
    page_url, page_host = (np.asarray(column, dtype=np.int64) for column in (corpus.pages.url, corpus.pages.host))
    newest = citing_pages(corpus)
    host_of = np.full(len(corpus.urls), -1, dtype=np.int64)
    host_of[page_url] = page_host
    enough = np.maximum(FEWEST, strategy.content.furniture * np.bincount(page_host[newest], minlength=1))
    for links in link_batches(corpus):
        inside = page_host[links.pages] == host_of[links.targets]
        linking = links.count_pages(inside & newest[links.pages] & (page_url[links.pages] != links.targets))
        host = host_of[links.first : links.last]
        common = (host >= 0) & (linking >= enough[np.maximum(host, 0)])
        furniture[links.anchors[inside & common[links.targets - links.first]]] = True
    return furniture


def words_in_furniture(corpus: Corpus, page: int, anchors: Array) -> npt.NDArray[np.bool_]:
    """Return which words of a page stand in links that are furniture, given as `find_furniture` gives them."""
    found = np.zeros(len(corpus.stream(page).words), dtype=np.bool_)
    for anchor in corpus.anchors_out(page):
        if anchors[anchor]:
            start = int(corpus.anchors.start[anchor])
            found[start : start + int(corpus.anchors.length[anchor])] = True
    return found
