"""The documents of a collection or of its shards, numbered across the whole collection."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from pagekin.bags import SKETCH_PLACES, Bags, LinkColumns, ReplacedColumns
from pagekin.hypertext import Corpus, canonical_url, site_of_address
from pagekin.similarity.links import DocumentLinks, ReplacedDocuments
from pagekin.store import Array, Numbering

_ANCHORS_READ = 8
"""Links that are read to name a page that was not."""


@dataclass(frozen=True)
class IndexShard:
    """One `.kin` folder with an index: a collection, or a shard of one."""

    corpus: Corpus
    bags: Bags


class Documents:
    """The documents (addresses with a bag) of one collection, or of its consecutive shards."""

    def __init__(self, shards: Sequence[IndexShard]) -> None:
        self.shards = tuple(shards)
        self.corpora = tuple(shard.corpus for shard in shards)
        self.numbering = Numbering(len(shard.bags) for shard in shards)
        self.page_numbering = Numbering(len(shard.corpus) for shard in shards)
        last = shards[-1].corpus.kin
        self.replaced = (
            ReplacedDocuments(ReplacedColumns.of(last), len(shards[0].bags), len(shards[-1].bags), self._count_before)
            if ReplacedColumns.is_in(last) and len(shards) > 1
            else None
        )

    @classmethod
    def of(cls, corpora: Sequence[Corpus]) -> "Documents":
        """Return the documents of some corpora with an index."""
        return cls([IndexShard(corpus, Bags(corpus.kin)) for corpus in corpora])

    def __len__(self) -> int:
        return len(self.numbering)

    def links(self) -> DocumentLinks:
        """Return the links between the documents."""
        facts = self.shards[0].corpus.facts
        first = int(facts.get("shard", {}).get("first_document", 0))
        columns = [LinkColumns.of(shard.corpus.kin) for shard in self.shards]
        return DocumentLinks(columns, first, self.shards[0].bags.whole_bags, self.replaced)

    def place(self, document: int) -> tuple[IndexShard, int]:
        """Return (the shard of a document, its number there)."""
        part, own = self.numbering.place(document)
        return self.shards[part], own

    # -- by address -------------------------------------------------------------------------------------------------

    @cached_property
    def _first_addresses(self) -> list[tuple[bytes, int]]:
        """Return (the address of its first document, number) of each shard that has documents."""
        firsts = zip(self.numbering.bounds, self.numbering.bounds[1:], strict=False)
        return [(self.address(first), part) for part, (first, last) in enumerate(firsts) if last > first]

    def _range_of(self, address: bytes) -> int:
        """Return the shard whose range contains an address."""
        place = bisect_right(self._first_addresses, (address, len(self.shards))) - 1
        return self._first_addresses[max(place, 0)][1] if self._first_addresses else 0

    def at(self, address: bytes) -> int:
        """Return the document of a canonical address, no alias; -1 if it has none."""
        if self.replaced:
            place = self._at(address, len(self.shards) - 1)
            place = self._at(address, 0) if place < 0 else place
            return -1 if self.replaced.are_hidden(np.array([max(place, 0)]))[0] else place
        return self._at(address, self._range_of(address))

    def _at(self, address: bytes, part: int) -> int:
        """Return a shard's document for an address; -1 if there is none."""
        shard = self.shards[part]
        number = shard.corpus.urls.find(address)
        own = shard.bags.document(number) if shard.corpus.knows(number) else -1
        return self.numbering.bounds[part] + own if own >= 0 else -1

    def find(self, url: str) -> tuple[bool, int]:
        """Return (whether a URL in any spelling is known, its document or -1), aliases resolved."""
        name = canonical_url(url)
        if name is None:
            return False, -1
        known, address = False, name.encode()
        likely = 0 if self.replaced else self._range_of(address)
        for part in sorted(range(len(self.shards)), key=lambda part: part != likely):
            corpus = self.shards[part].corpus
            number = corpus.urls.find(address)
            if corpus.knows(number):
                known = True
                if (document := self.at(corpus.urls[corpus.home(number)])) >= 0:
                    return True, document
        return known, -1

    def numbers_of(self, address: bytes) -> list[tuple[Corpus, int]]:
        """Return (corpus, the number of the address in it) for all shards that know an address."""
        numbers = ((shard.corpus, shard.corpus.urls.find(address)) for shard in self.shards)
        return [one for one in numbers if one[1] >= 0]

    # -- what is known of them --------------------------------------------------------------------------------------

    def address(self, document: int) -> bytes:
        """Return the address of a document."""
        shard, own = self.place(document)
        return shard.corpus.urls[int(shard.bags.urls[own])]

    def url(self, document: int) -> str:
        """Return the address of a document as text."""
        shard, own = self.place(document)
        return shard.corpus.url(int(shard.bags.urls[own]))

    def title(self, document: int) -> str:
        """Return the page's title, or the text that most links to it have."""
        shard, own = self.place(document)
        number = int(shard.bags.urls[own])
        if pages := shard.corpus.pages_of(number):
            return shard.corpus.titles.text(pages[0])
        address, texts = shard.corpus.urls[number], list[str]()
        for corpus in (one.corpus for one in self.shards):
            known = number if corpus is shard.corpus else corpus.urls.find(address)
            anchors = corpus.anchors_in(known)[: _ANCHORS_READ - len(texts)].tolist() if known >= 0 else []
            texts += map(corpus.anchor_text, anchors)
            if len(texts) == _ANCHORS_READ:
                break
        common = Counter(filter(None, texts)).most_common(1)
        return common[0][0] if common else ""

    def is_captured(self, document: int) -> bool:
        """Return whether a document's own page was read."""
        shard, own = self.place(document)
        return bool(shard.corpus.pages_of(int(shard.bags.urls[own])))

    def aliases(self, document: int) -> list[str]:
        """Return the other addresses of a document's page."""
        shard, own = self.place(document)
        return shard.corpus.aliases_of(int(shard.bags.urls[own]))

    def bag(self, document: int) -> tuple[Array, Array]:
        """Return (hashes of terms, weights) of a document's bag, by hash."""
        shard, own = self.place(document)
        terms, weights = shard.bags.bag(own)
        hashes = np.asarray(shard.bags.hashes)[terms]
        order = np.argsort(hashes)
        return hashes[order], weights[order]

    def origins(self, document: int) -> Array:
        """Return the `Origin` flags of a document's terms, in the order of `bag`."""
        shard, own = self.place(document)
        hashes = np.asarray(shard.bags.hashes)[shard.bags.bag(own)[0]]
        return shard.bags.origins(own)[np.argsort(hashes)]

    def are_hidden(self, documents: Array) -> npt.NDArray[np.bool_]:
        """Mark the documents that a delta replaced or removed."""
        return self.replaced.are_hidden(documents) if self.replaced else np.zeros(len(documents), np.bool_)

    def sort_keys(self, documents: Array) -> Array:
        """Return numbers that order documents by their addresses; those of a delta stand after all others."""
        return self.replaced.sort_keys(documents) if self.replaced else documents

    def _count_before(self, document: int) -> int:
        """Return how many documents of the base have an address before that of a document of its delta."""
        base = self.shards[0]
        return int(np.searchsorted(base.bags.urls, base.corpus.urls.nearest(self.address(document))))

    def pages(self, documents: Array) -> npt.NDArray[np.int64]:
        """Return the newest page of each document, numbered across the whole; -1 if none was read."""
        pages = np.empty(len(documents), np.int64)
        for part, places, own in self.numbering.split(documents):
            newest = self.shards[part].bags.pages(own)
            pages[places] = np.where(newest >= 0, newest + self.page_numbering.bounds[part], -1)
        return pages

    def of_pages(self, pages: Array) -> npt.NDArray[np.int64]:
        """Return the document of each page of the whole; -1 if it has no bag."""
        documents = np.empty(len(pages), np.int64)
        for part, places, own in self.page_numbering.split(pages):
            shard, first = self.shards[part], self.numbering.bounds[part]
            urls = np.asarray(shard.corpus.pages.url)[own].astype(np.int64)
            known = shard.bags.urls
            at = np.minimum(np.searchsorted(known, urls.astype(known.dtype)), len(known) - 1)
            documents[places] = np.where(np.asarray(known[at]).astype(np.int64) == urls, first + at, -1)
        return documents

    def sketches(self, documents: Array) -> Array:
        """Return the sketch of each document's page, one per row."""
        if len(self.shards) == 1:
            return self.shards[0].bags.sketches(documents)
        sketches = np.empty((len(documents), SKETCH_PLACES), np.uint16)
        for part, places, own in self.numbering.split(documents):
            sketches[places] = self.shards[part].bags.sketches(own)
        return sketches

    @property
    def inlinks(self) -> Array:
        """Return the number of other pages that link to each document."""
        every = [shard.bags.inlinks for shard in self.shards]
        return every[0] if len(every) == 1 else np.concatenate(every)

    def inlinks_of(self, documents: Array) -> Array:
        """Return the number of other pages that link to each of some documents."""
        return self.numbering.gather([shard.bags.inlinks for shard in self.shards], documents)

    def sites(self, documents: Array) -> Array:
        """Return the number of each document's site; shards have those of the whole."""
        return self.numbering.gather([shard.bags.sites for shard in self.shards], documents)

    def are_of_sites(self, documents: Array, names: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Mark the documents of some sites, given by name; reads only the addresses of these documents."""
        marked, wanted = np.zeros(len(documents), np.bool_), set(names)
        for part, places, own in self.numbering.split(documents):
            shard = self.shards[part]
            addresses = (shard.corpus.urls[url] for url in shard.bags.urls[own].tolist())
            marked[places] = [site_of_address(address) in wanted for address in addresses]
        return marked

    # -- their terms ------------------------------------------------------------------------------------------------

    def terms_of(self, hashes: Array, home: int = -1, own: Array | None = None) -> tuple[Array, ...]:
        """Return each shard's numbers of some terms, or -1; in the shard `home`, they are known to be `own`."""
        return tuple(
            own if own is not None and part == home else shard.bags.find(hashes)
            for part, shard in enumerate(self.shards)
        )

    def df(self, hashes: Array) -> npt.NDArray[np.int64]:
        """Return how many bags of the whole hold each term, given by hashes; 0 for a term that none holds."""
        return np.asarray(np.maximum.reduce([shard.bags.df_of(hashes) for shard in self.shards]))

    def linked_documents(self, terms: Sequence[Array]) -> npt.NDArray[np.int64]:
        """Return the documents that link terms stand for, given the terms' numbers in each shard."""
        addresses = {
            shard.corpus.urls[url]
            for shard, own in zip(self.shards, terms, strict=True)
            for url in shard.bags.linked_urls(own[own >= 0]).tolist()
        }
        return np.array(sorted(one for name in addresses if (one := self.at(name)) >= 0), np.int64)


class UrlList(Sequence[str]):
    """The URLs of all documents, read on demand."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def __len__(self) -> int:
        return len(self._documents)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(f"there are {len(self):,} URLs, none numbered {place}")
        return self._documents.url(place % len(self))

    def __contains__(self, url: Any) -> bool:
        return isinstance(url, str) and self._documents.find(url)[1] >= 0
