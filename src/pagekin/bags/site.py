"""Facts about all pages and addresses that judging links needs."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags.furniture import folder_hashes, hash_names, host_hashes
from pagekin.bags.links import citing_pages
from pagekin.hypertext import Corpus, host_of
from pagekin.store import Array


class Site(NamedTuple):
    """Facts about all pages and addresses."""

    page_url: npt.NDArray[np.int64]
    page_host: npt.NDArray[np.int64]
    url_host: npt.NDArray[np.int64]
    """The host of each address that has a page, here or in another shard; -1 for others."""
    url_hash: npt.NDArray[np.uint64]
    newest: npt.NDArray[np.bool_]
    """Whether each page is the newest capture of its address."""
    url_folder: npt.NDArray[np.uint64]
    """A hash of the folder of each address that has a page, here or in another shard; 0 for others."""
    host_pages: npt.NDArray[np.int64]
    """How many pages each host has here."""
    host_hash: npt.NDArray[np.uint64]

    @property
    def page_folder(self) -> npt.NDArray[np.uint64]:
        """Return a hash of the folder of each page."""
        return self.url_folder[self.page_url]

    @classmethod
    def of(cls, corpus: Corpus, captured: Array | None = None) -> "Site":
        """Return the facts of a corpus; for a shard, `captured` marks the addresses that have a page in any shard."""
        page_url, page_host = (np.asarray(column, dtype=np.int64) for column in (corpus.pages.url, corpus.pages.host))
        url_host = np.full(len(corpus.urls), -1, dtype=np.int64)
        url_host[page_url] = page_host
        if captured is not None:
            for url in np.flatnonzero(captured & (url_host < 0)).tolist():
                url_host[url] = corpus.hosts.find(host_of(corpus.url(url)).encode())
        has_page = np.flatnonzero(url_host >= 0)
        url_folder = np.zeros(len(corpus.urls), np.uint64)
        url_folder[has_page] = folder_hashes(corpus, has_page)
        newest = citing_pages(corpus)
        host_pages = np.bincount(page_host[newest], minlength=len(corpus.hosts))
        return cls(
            page_url, page_host, url_host, hash_names(corpus.urls), newest, url_folder, host_pages,
            host_hashes(corpus),
        )  # fmt: skip
