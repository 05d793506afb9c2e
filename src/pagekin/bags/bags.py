"""Read bags: the weighted terms of every URL of a collection."""

from collections.abc import Mapping, Sequence
from enum import IntFlag
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags.copies import EMPTY_PLACE, copy_sketches
from pagekin.hypertext import Corpus, PageColumns
from pagekin.store import Array, Kin, ReadAhead, rank

BAG_ARRAYS = ("bag.", "bagterm.", "copy.", "epoch.", "link.")
"""How the names of the arrays begin that `make_bags` writes."""


class Origin(IntFlag):
    """The places that a bag's term comes from."""

    CONTENT = 1
    ANCHORS = 2
    TITLE = 4
    LINKS = 8
    OUTLINKS = 16

    def names(self) -> list[str]:
        """Return the names of the origins, as a strategy spells them."""
        return list(_names(int(self)))


@cache
def _names(flags: int) -> tuple[str, ...]:
    return tuple(str(flag.name).lower() for flag in Origin if flag & flags)


class Bags:
    """The bags of a collection, by document number: documents are the URLs that have a bag, in order."""

    def __init__(self, kin: Kin) -> None:
        self._kin = kin
        self.urls: Array = np.asarray(kin["bag.url"])
        self.offsets: Array = np.asarray(kin["bag.offsets"])
        self.terms: Array = np.asarray(kin["bag.terms"])
        self.weights: Array = np.asarray(kin["bag.weights"])
        self.hashes: Array = np.asarray(kin["bagterm.hash"])

    def __len__(self) -> int:
        return len(self.urls)

    @cached_property
    def flags(self) -> Array:
        """Return the `Origin` flags of all entries."""
        return self._kin["bag.from"]

    @cached_property
    def counts(self) -> Array:
        """Return how often each entry's term occurs in the text and title of the document's own page, at most 255."""
        return self._kin["bag.counts"]

    @cached_property
    def mean_length(self) -> float:
        """Return the mean number of counted words of the documents whose page was read."""
        return int(self._whole["own_words"]) / max(self.own_pages, 1)

    @cached_property
    def inlinks(self) -> Array:
        """Return the number of other pages that link to each document."""
        return self._kin["bag.inlinks"]

    @cached_property
    def sites(self) -> Array:
        """Return the number of each document's site, as `site_numbers` gives it."""
        return self._kin["bag.site"]

    def require_all(self) -> None:
        """Raise a KinError if an earlier version made the bags without some of the arrays."""
        for name in (
            "bag.from",
            "bag.site",
            "bag.inlinks",
            "bag.counts",
            "link.out",
            "copy.rows",
            "bagterm.order",
            "bagterm.pages",
        ):
            self._kin[name]

    @cached_property
    def _page_url(self) -> npt.NDArray[np.uint32]:
        return PageColumns.of(self._kin).url

    def document(self, url: int) -> int:
        """Return the document of a URL number, or -1 if it has no bag."""
        place = rank(self.urls, url)
        return place if place < len(self.urls) and int(self.urls[place]) == url else -1

    def read_ahead(self, ahead: ReadAhead, documents: Array, arrays: Sequence[Array]) -> None:
        """Ask the operating system to read the bag entries of some documents ahead."""
        ahead.ask([self.offsets], documents, documents + 2)
        ahead.ask(arrays, self.offsets[documents], self.offsets[documents + 1])

    def documents(self, urls: Array) -> npt.NDArray[np.int64]:
        """Return the document of each of some URL numbers, -1 for those that have no bag, and for -1."""
        if not len(self.urls):
            return np.full(len(urls), -1)
        known = np.asarray(self.urls).astype(np.int64)
        place = np.minimum(np.searchsorted(known, urls), len(known) - 1)
        return np.where(known[place] == urls, place, -1)

    def span(self, document: int) -> slice:
        """Return the slice of `terms` and `weights` that holds a document's bag."""
        return slice(int(self.offsets[document]), int(self.offsets[document + 1]))

    def bag(self, document: int) -> tuple[Array, Array]:
        """Return (terms, weights) of a document; the weights sum to 1."""
        part = self.span(document)
        return self.terms[part], self.weights[part]

    def origins(self, document: int) -> Array:
        """Return the `Origin` flags of each of the document's terms."""
        return np.asarray(self.flags[self.span(document)])

    def pages(self, documents: Array) -> npt.NDArray[np.int64]:
        """Return the page of each document: its newest capture; -1 if none was read."""
        page_url = self._page_url
        if not len(page_url):
            return np.full(len(documents), -1)
        urls = self.urls[documents].astype(page_url.dtype)
        place = np.minimum(np.searchsorted(page_url, urls), len(page_url) - 1)
        return np.where(page_url[place] == urls, place, -1)

    def sketches(self, documents: Array) -> Array:
        """Return the sketch of each document's page, one per row; an empty one if no page was read."""
        rows = copy_sketches(self._kin)
        pages = self.pages(documents)
        return np.where(pages[:, None] >= 0, rows[pages], np.uint16(EMPTY_PLACE))

    def df(self, terms: Array) -> Array:
        """Return the number of bags that hold each term."""
        return np.asarray(self._kin["bagterm.df"][terms])

    def df_of(self, hashes: Array) -> npt.NDArray[np.int64]:
        """Return the number of bags that hold each term, given its hash; 0 for an unknown term."""
        terms = self.find(hashes)
        counts = np.zeros(len(hashes), np.int64)
        counts[terms >= 0] = self.df(terms[terms >= 0])
        return counts

    @cached_property
    def epoch(self) -> str:
        """Return the identity of the epoch by which the bags were weighted; '' for bags of earlier versions."""
        return str(self._kin.facts["index"].get("epoch", {}).get("identity", ""))

    @cached_property
    def _whole(self) -> Mapping[str, Any]:
        """Return the counts for scoring; for a shard, those of the whole collection."""
        facts: Mapping[str, Any] = self._kin.facts["index"]
        whole: Mapping[str, Any] = facts.get("whole", facts)
        return whole

    @cached_property
    def whole_bags(self) -> int:
        """Return the number of bags; for a shard, in the whole collection."""
        return int(self._whole["bags"])

    @cached_property
    def own_pages(self) -> int:
        """Return the number of documents whose page was read; for a shard, in the whole collection."""
        return int(self._whole["own_pages"])

    @cached_property
    def own_df(self) -> Array:
        """Return the number of documents whose own page contains each term."""
        return self._kin["bagterm.pages"]

    def find(self, hashes: Array) -> npt.NDArray[np.int64]:
        """Return the term with each hash, -1 where no bag holds it."""
        order, wanted = self._kin["bagterm.order"], np.asarray(hashes, self.hashes.dtype)
        if not len(order):
            return np.full(len(wanted), -1, dtype=np.int64)
        # numpy's search by an order would copy all of it, in wider numbers, for every question.
        low, high = np.zeros(len(wanted), np.int64), np.full(len(wanted), len(order) - 1, np.int64)
        for _halving in range(len(order).bit_length()):
            middle = (low + high) // 2
            is_below = self.hashes[order[middle]] < wanted
            low, high = np.where(is_below & (low < high), middle + 1, low), np.where(is_below, high, middle)
        terms = np.asarray(order[low], dtype=np.int64)
        return np.where(self.hashes[terms] == wanted, terms, -1)

    def linked_urls(self, terms: Array) -> Array:
        """Return the URL numbers of terms that stand for citing or linked pages."""
        return np.asarray(self._kin["bagterm.shown"][terms])

    def term_text(self, corpus: Corpus, term: int) -> str:
        """Return a term for display: the most common word behind a stem, or the URL of a citing or cited page."""
        number = int(self._kin["bagterm.shown"][term])
        is_word = term < int(self._kin.facts["index"]["bag_words"])
        return corpus.word(number) if is_word else corpus.url(number)
