"""Join all pages of a small corpus with some of a large one, which are copied as they are: no part is read for them."""

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.corpus import Corpus
from pagekin.hypertext.merge import invert_anchors, put_hosts, put_strings
from pagekin.hypertext.streams import RARE, decode_words
from pagekin.hypertext.widening import number_strings
from pagekin.store import (
    Array,
    KinWriter,
    RaggedBytes,
    is_among,
    join_strings,
    pack_strings,
    row_entries,
    smallest_uint,
)

_ROWS = {
    "mark.gap": "page.marks", "mark.kind": "page.marks", "text.frames": "page.text", "title.bytes": "title.offsets",
    "snippet.bytes": "snippet.offsets", "anchor.start": "page.anchors", "anchor.length": "page.anchors",
    "anchor.flags": "page.anchors",
}  # fmt: skip
"""Arrays with several entries a page that are copied, each with the array that says where those of a page begin."""
_COLUMNS = ("page.date", "page.digest", "page.html_bytes", "page.flags", "record.offset", "record.length")
"""Arrays with one entry a page that are copied."""


class _Side:
    """One of the two corpora, and the pages that are taken from it."""

    def __init__(self, corpus: Corpus, pages: npt.NDArray[np.int64]) -> None:
        self.corpus, self.pages = corpus, pages

    def rows(self, name: str, bounds: str) -> list[Array]:
        """Return the entries of an array for each page, given the array that says where those of a page begin."""
        array, at = self.corpus.kin[name], np.asarray(self.corpus.kin[bounds], np.int64)
        begins, ends = at[self.pages].tolist(), at[self.pages + 1].tolist()
        return [array[begin:end] for begin, end in zip(begins, ends, strict=True)]

    def join_entries(self, name: str, bounds: str) -> Array:
        """Return the entries of an array for all pages, one after another."""
        return np.concatenate([self.corpus.kin[name][:0], *self.rows(name, bounds)])

    def sizes(self, bounds: str) -> npt.NDArray[np.int64]:
        """Return how many entries each page has."""
        at = np.asarray(self.corpus.kin[bounds], np.int64)
        return np.asarray(at[self.pages + 1] - at[self.pages])

    def column(self, name: str) -> Array:
        """Return the entry of an array for each page."""
        return np.asarray(self.corpus.kin[name])[self.pages]

    @cached_property
    def urls(self) -> npt.NDArray[np.int64]:
        """Return the address of each page."""
        return self.column("page.url").astype(np.int64)

    @cached_property
    def targets(self) -> npt.NDArray[np.int64]:
        """Return the addresses that the pages' links lead to."""
        return self.join_entries("anchor.target", "page.anchors").astype(np.int64)

    @cached_property
    def tokens(self) -> npt.NDArray[np.int64]:
        """Return the terms of all words."""
        return decode_words(
            self.join_entries("stream.words", "page.tokens"), self.join_entries("stream.rare", "page.rare")
        ).astype(np.int64)

    @cached_property
    def terms(self) -> npt.NDArray[np.int64]:
        """Return the terms that the pages say, rising."""
        return np.flatnonzero(np.bincount(self.tokens, minlength=len(self.corpus.terms)))


def join_corpora(
    own: Corpus, base: Corpus, pages: npt.NDArray[np.int64], decided: Collection[bytes], addresses: RaggedBytes,
    words: Array, writer: KinWriter,
) -> dict[str, Any]:  # fmt: skip
    """Write the corpus of all pages of a small corpus, and some, rising, of a large one; return the facts about it.

    No address has a page of both. Links of the small one to other names of pages in the large one lead to these pages, but for
    names that are `decided`: of these the small one knows what they stand for. It gets more `addresses`, and `words`: terms of
    the large one, by their numbers there, which no page says. Cost: the pages that are written, a search for each address and
    word of the small corpus, and a pass over the order of the large one's terms.
    """
    sides = _Side(own, np.arange(len(own))), _Side(base, pages)
    numbers = _join_addresses(sides, decided, addresses, writer)
    page_url = np.concatenate([numbers.own[sides[0].urls], numbers.base[sides[1].urls]])
    order = np.argsort(page_url, kind="stable")
    targets = np.concatenate([numbers.leads[sides[0].targets], numbers.base[sides[1].targets]])
    links = np.concatenate([side.sizes("page.anchors") for side in sides])
    writer.put("page.url", page_url[order].astype(np.uint32))
    kept = _in_order(targets, links, order).astype(smallest_uint(numbers.count))
    writer.put("anchor.target", kept)
    terms = _join_words(sides, words, order, writer)
    for name, bounds in _ROWS.items():
        rows = [row for side in sides for row in side.rows(name, bounds)]
        nothing = np.zeros(0, np.promote_types(*(side.corpus.kin[name].dtype for side in sides)))
        writer.put(name, np.concatenate([nothing, *(rows[place] for place in order.tolist())]))
    for bounds in dict.fromkeys(["page.tokens", *_ROWS.values()]):
        _put_offsets(np.concatenate([side.sizes(bounds) for side in sides])[order], bounds, writer)
    for name in _COLUMNS:
        writer.put(name, np.concatenate([side.column(name) for side in sides])[order])
    languages = _join_names([side.corpus.facts["language_codes"] for side in sides])
    spoken = _renumber([side.column("page.language") for side in sides], languages[1], order)
    writer.put("page.language", spoken.astype(np.uint16))
    archives = _join_names([list(RaggedBytes.of(side.corpus.kin, "archive")) for side in sides])
    data, offsets = pack_strings(archives[0])
    put_strings(writer, "archive", [(data, offsets[1:])])
    from_archive = _renumber([side.column("record.archive") for side in sides], archives[1], order)
    writer.put("record.archive", from_archive.astype(smallest_uint(len(archives[0]))))
    hosts = put_hosts(page_url[order], writer)
    counts = np.bincount(spoken, minlength=len(languages[0])).tolist()
    return {
        **own.facts, "pages": len(order), "urls": numbers.count, "words": sum(len(side.tokens) for side in sides), "terms": terms,
        "anchors": len(targets), "hosts": hosts, "aliases": numbers.aliases, "language_codes": languages[0],
        "links": invert_anchors(kept, links[order], page_url[order], numbers.count, writer),
        "html_bytes": sum(int(side.column("page.html_bytes").sum(dtype=np.int64)) for side in sides),
        "languages": {code or "unknown": count for code, count in zip(languages[0], counts, strict=True) if count},
    }  # fmt: skip


class _Addresses:
    """The numbers that addresses of two corpora have in the one that is made of them."""

    def __init__(self, own: Array, leads: Array, base: Array, count: int, aliases: int) -> None:
        self.own, self.base, self.count, self.aliases = own, base, count, aliases
        self.leads = leads
        """Of each address of the small corpus, where links to it lead."""


def _join_addresses(
    sides: tuple[_Side, _Side], decided: Collection[bytes], more: RaggedBytes, writer: KinWriter
) -> _Addresses:
    """Write the addresses and aliases of the joined corpus; return their numbers."""
    own, base = (side.corpus for side in sides)
    own_alias, own_home, alias, home = (
        np.asarray(one).astype(np.int64) for corpus in (own, base) for one in corpus.aliases()
    )
    in_base = base.urls.find_all(own.urls)
    known = own.urls.find_all(sorted(decided))
    in_base[known[known >= 0]] = -1
    in_base[own_alias] = -1
    place = np.minimum(np.searchsorted(alias, in_base), max(len(alias) - 1, 0))
    renamed = np.flatnonzero(alias[place] == in_base) if len(alias) else np.zeros(0, np.int64)
    new_homes = home[place[renamed]] if len(alias) else renamed
    # As in every corpus, with the other names of its pages and of what these link to.
    used = np.unique(np.concatenate([sides[1].urls, sides[1].targets, new_homes, in_base[in_base >= 0]]))
    named = np.flatnonzero(is_among(home, used))
    used = np.union1d(used, alias[named])
    names, places = number_strings(RaggedBytes(*join_strings([own.urls, base.urls.select(used), more])))
    put_strings(writer, "url", [(names.data, names.offsets[1:])])
    number_own = places[: len(own.urls)]
    number_base = np.full(len(base.urls), -1, np.int64)
    number_base[used] = places[len(own.urls) : len(own.urls) + len(used)]
    leads = number_own.copy()
    leads[renamed] = number_base[new_homes]
    other_names, first = np.unique(
        np.concatenate([number_own[own_alias], number_own[renamed], number_base[alias[named]]]), return_index=True
    )
    stands_for = np.concatenate([number_own[own_home], number_base[new_homes], number_base[home[named]]])[first]
    writer.put("alias.url", other_names.astype(np.uint32))
    writer.put("alias.target", stands_for.astype(np.uint32))
    return _Addresses(number_own, leads, number_base, len(names), len(other_names))


def _join_words(sides: tuple[_Side, _Side], more: Array, order: Array, writer: KinWriter) -> int:
    """Write the terms of the joined corpus, the most frequent first, and its pages' words; return the number of terms."""
    names, numbers = _number_words(sides, more)
    counts = np.zeros(len(names), np.int64)
    for side, number in zip(sides, numbers, strict=True):
        counts[number[side.terms]] += np.bincount(side.tokens, minlength=len(number))[side.terms]
    by_rank = np.argsort(-counts, kind="stable")
    rank = np.empty(len(names), np.uint32)
    rank[by_rank] = np.arange(len(names), dtype=np.uint32)
    data, offsets = names.take(by_rank)
    put_strings(writer, "term", [(data, offsets[1:])])
    writer.put("term.count", counts[by_rank].astype(smallest_uint(int(counts.max(initial=0)))))
    writer.put("term.order", rank)
    tokens = np.concatenate([rank[number[side.tokens]] for side, number in zip(sides, numbers, strict=True)])
    sizes = np.concatenate([side.sizes("page.tokens") for side in sides])
    tokens = _in_order(tokens, sizes, order)
    is_rare = tokens >= RARE
    writer.put("stream.words", np.where(is_rare, RARE, tokens).astype(np.uint16))
    writer.put("stream.rare", tokens[is_rare])
    page = np.repeat(np.arange(len(order)), sizes[order])
    _put_offsets(np.bincount(page[is_rare], minlength=len(order)), "page.rare", writer)
    return len(names)


def _number_words(sides: tuple[_Side, _Side], more: Array) -> tuple[RaggedBytes, list[npt.NDArray[np.int64]]]:
    """Return (the words of the joined corpus in the order of their bytes; of both corpora, each term's place among them).

    Both corpora know the order of their terms, so that no word is compared but those of the small one.
    """
    own, base = (side.corpus for side in sides)
    of_base, of_own = _by_name(base, sides[1].terms, more), _by_name(own, sides[0].terms)
    known, said = base.terms.select(of_base), own.terms.select(of_own)
    places = known.find_all(said)
    fresh = np.flatnonzero(places < 0)
    others = said.select(fresh)
    # The words that only the small corpus has are numbered after the others, until all are put in order.
    places[fresh] = len(known) + np.arange(len(fresh))
    order = np.insert(np.arange(len(known)), known.nearest_all(others), len(known) + np.arange(len(fresh)))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    numbers = [np.zeros(len(corpus.terms), np.int64) for corpus in (own, base)]
    numbers[0][of_own], numbers[1][of_base] = rank[places], rank[: len(known)]
    return RaggedBytes(*join_strings([known, others])).select(order), numbers


def _by_name(corpus: Corpus, *tables: Array) -> npt.NDArray[np.int64]:
    """Return the different ones of some terms of a corpus, in the order of their bytes."""
    is_asked = np.zeros(len(corpus.terms), np.bool_)
    for terms in tables:
        is_asked[terms] = True
    every = np.asarray(corpus.term_table.order)
    return every[is_asked[every]].astype(np.int64)


def _in_order(values: Array, sizes: Array, order: Array) -> Array:
    """Return the entries of all pages in an order of the pages, given how many entries each has."""
    return np.asarray(values[row_entries(np.append(0, np.cumsum(sizes)), order)])


def _put_offsets(sizes: Array, name: str, writer: KinWriter) -> None:
    offsets = np.append(0, np.cumsum(sizes))
    writer.put(name, offsets.astype(smallest_uint(int(offsets[-1]))))


def _join_names(lists: Sequence[Sequence[Any]]) -> tuple[list[Any], list[npt.NDArray[np.int64]]]:
    """Return (the different names of some lists in order, the places of each list's names among them)."""
    names = sorted({name for some in lists for name in some})
    place = {name: number for number, name in enumerate(names)}
    return names, [np.array([place[name] for name in some], np.int64) for some in lists]


def _renumber(columns: Sequence[Array], places: Sequence[Array], order: Array) -> npt.NDArray[np.int64]:
    """Return columns of two corpora as one, in the order of pages, by the places that their values have in both."""
    return np.concatenate([place[column] for column, place in zip(columns, places, strict=True)])[order]
