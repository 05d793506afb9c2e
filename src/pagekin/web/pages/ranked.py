"""The documents of a collection that match, the best first, copies folded: as many as a page far behind needs.

The same list as of `routers.results.merged`, but made of page numbers: page 50 of the results folds two thousand.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags.copies import EMPTY, PLACES, are_copies, copy_sketches, has_sketches
from pagekin.routers.messages import Found
from pagekin.routers.results import SEEN
from pagekin.text import Hits, Query
from pagekin.web.collection import Collection

Array = npt.NDArray[Any]
_BANDS = 8
"""Copies differ in 6 of 64 places at most, so they share a band of eight places."""
_MOST_SEARCHED = 10_000
"""Documents among which copies are looked for at most."""
_MOST_COPIES = 100
"""Addresses of copies that a result may carry."""


@dataclass(frozen=True)
class Ranked:
    """A stretch of the documents that match."""

    total: int
    """All that match, copies counted."""
    before: int
    """Documents up to the end of this stretch, copies folded."""
    found: list[Found]
    """The stretch, each with the addresses of its copies."""


def ranked(collection: Collection, search: Callable[[int], Hits], first: int, last: int) -> Ranked:
    """The documents from place `first` up to `last`, of those that `search`, asked for the best so many, gives.

    Copies are looked for among some times as many as are needed, and when most of those are copies, among more.
    """
    looked = SEEN * last
    hits = search(looked)
    kept = folded(collection, hits.pages)
    while len(kept) < last and looked < min(hits.total, _MOST_SEARCHED):
        looked = min(SEEN * looked, _MOST_SEARCHED)
        hits = search(looked)
        kept = folded(collection, hits.pages)
    found = [
        _found(collection, hits.pages[at], hits.scores[at], [hits.pages[copy] for copy in copies])
        for at, copies in list(kept.items())[first:last]
    ]
    return Ranked(hits.total, min(len(kept), last), found)


def folded(collection: Collection, pages: list[int]) -> dict[int, list[int]]:
    """The places in a list of pages that remain, each with the places of its copies: the first of copies remains.

    Pages with the same address, captured at several times, are copies.
    """
    if not pages:
        return {}
    rows = _sketches(collection, pages)
    keys = _keys(rows)
    urls = np.asarray(collection.corpus.pages.url)[pages].tolist()
    likely = set(np.flatnonzero(_sharing(keys) & (rows != EMPTY).any(axis=1)).tolist())
    kept: dict[int, list[int]] = {}
    of_url: dict[int, int] = {}
    seen = _Seen(rows, keys)
    for place, url in enumerate(urls):
        at = of_url.get(url, -1)
        if at < 0 and place in likely:
            at = seen.first_copy(place)
        if at < 0:
            kept[place] = []
            if place in likely:
                seen.add(place)
        else:
            kept[at].append(place)
        of_url.setdefault(url, place if at < 0 else at)
    return kept


def _sketches(collection: Collection, pages: list[int]) -> Array:
    """What copies are told by; pages without any, or of a collection without, are empty."""
    kin = collection.corpus.kin
    if not has_sketches(kin):
        return np.full((len(pages), PLACES), EMPTY, np.uint16)
    return copy_sketches(kin)[pages]


def _keys(rows: Array) -> npt.NDArray[np.uint64]:
    """A number for each band of each row; equal bands have equal ones, others seldom."""
    halves = np.ascontiguousarray(rows).view(np.uint64).reshape(len(rows), _BANDS, PLACES // (4 * _BANDS))
    keys = np.zeros((len(rows), _BANDS), np.uint64)
    for part in range(halves.shape[2]):
        keys = (keys ^ halves[:, :, part]) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    return keys


def _sharing(keys: Array) -> npt.NDArray[np.bool_]:
    """Whether each row shares a band with another; only then can it have copies."""
    shares = np.zeros(len(keys), np.bool_)
    for band in keys.T:
        order = np.argsort(band, kind="stable")
        same = band[order][1:] == band[order][:-1]
        shares[order[1:][same]] = shares[order[:-1][same]] = True
    return shares


class _Seen:
    """Rows in which copies of another are looked for."""

    def __init__(self, rows: Array, keys: Array) -> None:
        self._rows, self._keys = rows, keys
        self._bands: list[dict[int, list[int]]] = [{} for _ in range(_BANDS)]

    def add(self, place: int) -> None:
        """Look for copies of this one, too."""
        for bands, key in zip(self._bands, self._keys[place].tolist(), strict=True):
            bands.setdefault(key, []).append(place)

    def first_copy(self, place: int) -> int:
        """The first of the rows so far whose copy this is, or -1."""
        likely = {
            other
            for bands, key in zip(self._bands, self._keys[place].tolist(), strict=True)
            for other in bands.get(key, ())
        }
        if not likely:
            return -1
        others = np.array(sorted(likely))
        alike = np.flatnonzero(are_copies(self._rows[others], self._rows[place]))
        return int(others[alike[0]]) if len(alike) else -1


def _found(collection: Collection, page: int, score: float, copies: list[int]) -> Found:
    """A document with its copies' addresses."""
    leaf, own = collection.leaf, collection.corpus.page_url(page)
    others = dict.fromkeys(collection.corpus.page_url(copy) for copy in copies)
    others.pop(own, None)
    return Found(
        kind="document", url=own, score=float(score), cluster=int(leaf.cluster_of[page]), path=(leaf.name,),
        pages=int(leaf.document_pages[leaf.documents[page]]), copies=tuple(others)[:_MOST_COPIES],
    )  # fmt: skip


class Matching:
    """The documents of a collection that match a query, whatever the filters."""

    def __init__(self, collection: Collection, query: Query) -> None:
        leaf = collection.leaf
        self._corpus = collection.corpus
        self._there = leaf.text.found(query, leaf.documents)

    @cached_property
    def _sketches(self) -> npt.NDArray[np.uint16]:
        """By which copies of them are told."""
        return self._rows(self._there)

    def _rows(self, pages: npt.NDArray[np.bool_] | list[int]) -> npt.NDArray[np.uint16]:
        kin = self._corpus.kin
        return copy_sketches(kin)[pages] if has_sketches(kin) else np.zeros((0, PLACES), "u2")

    def without(self, results: Iterable[Found]) -> Iterator[Found]:
        """Those of some results that neither match nor are copies of what does."""
        for one in results:
            page = self._corpus.pages_of(self._corpus.url_number(one.url))[0]
            if self._there[page]:
                continue
            if not any(are_copies(self._sketches, row).any() for row in self._rows([page])):
                yield one
