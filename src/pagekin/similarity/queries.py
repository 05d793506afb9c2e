"""Queries for related pages: from pages of a collection, from a page outside it, or from a bag of another collection."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pagekin.bags import NO_SKETCH, Origin, Strategy
from pagekin.hypertext import ReadPage, canonical_url, guess_url, host_of, site_of, unknown_url_message
from pagekin.similarity.answers import Query, RelatedError
from pagekin.similarity.documents import Documents
from pagekin.similarity.lists import SignatureIndex
from pagekin.similarity.makers import make_maker
from pagekin.store import Array


class QueryMaker:
    """Makes queries for the documents of the collection at a path."""

    def __init__(self, documents: Documents, index: SignatureIndex, strategy: Strategy, path: Path) -> None:
        self._documents, self._index, self._strategy, self._path = documents, index, strategy, path
        self._maker = make_maker(strategy.signature)

    def document(self, url: str) -> int:
        """Return the document that a URL in any spelling, or a text, means; raise a RelatedError if it has no bag."""
        known, document = self._documents.find(url)
        if not known and (guess := guess_url(self._documents.corpora, url)):
            known, document = self._documents.find(guess)
        if not known:
            raise RelatedError(unknown_url_message(self._documents.corpora, url, self._path))
        if document < 0:
            raise RelatedError(
                f"{url} is in {self._path}, but cannot be compared: neither it nor a link to it has a word that counts."
            )
        return document

    def of_pages(self, urls: Sequence[str]) -> Query:
        """Make a query of one or several pages of the collection: the mean of their bags."""
        documents = tuple(dict.fromkeys(self.document(url) for url in urls))
        if not documents:
            raise RelatedError("no page was named")
        return self.of_documents(documents)

    def of_documents(self, documents: tuple[int, ...]) -> Query:
        """Make a query of one or several documents."""
        if len(documents) == 1:
            part, own = self._documents.numbering.place(documents[0])
            bags = self._documents.shards[part].bags
            terms, weights = bags.bag(own)
            origins, counts = bags.origins(own), bags.counts[bags.span(own)]
            known = self._documents.terms_of(bags.hashes[terms], part, terms)
            one = np.array(documents)
            signature, sketch = self._index.rows_of(one)[0], self._documents.sketches(one)[0]
        else:
            hashes, weights, origins, counts = self._mean(documents)
            known = self._documents.terms_of(hashes)
            signature, sketch = self._maker.sign(hashes, weights), NO_SKETCH
        total = float(np.sum(weights, dtype=np.float64))
        return Query(known, weights, total, signature, documents, origins, sketch, counts, np.zeros(0, np.uint8))

    def _mean(self, documents: tuple[int, ...]) -> tuple[Array, Array, Array, Array]:
        """Return (hashes, weights, origins, counts) of the mean of several bags."""
        columns = [self._columns(document) for document in documents]
        every_hash, every_weight, every_origin, every_count = map(np.concatenate, zip(*columns, strict=True))
        hashes, place = np.unique(every_hash, return_inverse=True)
        weights = np.bincount(place, every_weight, len(hashes)) / len(documents)
        origins = np.zeros(len(hashes), np.uint8)
        np.bitwise_or.at(origins, place, every_origin)
        mean = np.rint(np.bincount(place, every_count, len(hashes)) / len(documents))
        return hashes, weights.astype(np.float32), origins, mean.astype(np.uint8)

    def _columns(self, document: int) -> tuple[Array, Array, Array, Array]:
        """Return (hashes, weights, origins, counts) of a document's bag."""
        shard, own = self._documents.place(document)
        terms, weights = shard.bags.bag(own)
        return shard.bags.hashes[terms], weights, shard.bags.origins(own), shard.bags.counts[shard.bags.span(own)]

    def of_html(self, html: bytes | str, url: str = "") -> Query:
        """Make a query of a page outside the collection, by its own words and links.

        The encoding of bytes is guessed. Without the page's address `url` only links that name their target in full count.
        """
        from pagekin.bags import page_bag, page_sketch
        from pagekin.hypertext import decode_page, read_strictly
        from pagekin.sources import Limits

        page = read_strictly(html if isinstance(html, str) else decode_page(html, "")[0], Limits())
        links = self._targets(page, url) if self._strategy.outlinks.scale else []
        documents = self._documents
        hashes, weights, origins, counts = page_bag(
            page.words, page.attributes, self._strategy, documents.df, documents.shards[0].bags.whole_bags, links
        )
        if not len(hashes):
            raise RelatedError("the page has no word that counts, so nothing can be related to it.")
        sketch = page_sketch(page.words, page.attributes, self._strategy)
        own = canonical_url(url) if url else None
        sites = (site_of(host_of(own)),) if own else ()
        query = self.of_bag(hashes, weights, origins, counts, sketch, sites=sites)
        if query is None:
            raise RelatedError(f"the page shares no word with the {len(self._documents):,} pages of {self._path}.")
        return query

    def of_bag(
        self, hashes: Array, weights: Array, origins: Array, counts: Array, sketch: Array,
        signature: npt.NDArray[np.uint32] | None = None, url: str = "", sites: tuple[str, ...] = (),
    ) -> Query | None:  # fmt: skip
        """Make a query of another collection's bag; None if it shares no term with this one.

        `url` is the page's address, which may be one of the collection's; `sites` are the names of its sites.
        """
        terms = self._documents.terms_of(hashes)
        known = np.logical_or.reduce([own >= 0 for own in terms])
        if not known.any():
            return None
        if signature is None or len(signature) != self._index.m:
            signature = self._maker.sign(hashes, weights)
        own = self._documents.find(url)[1] if url else -1
        outside = (origins & Origin.OUTLINKS) != 0 if own < 0 else np.zeros(len(hashes), np.bool_)
        return Query(
            tuple(own_terms[known] for own_terms in terms), weights[known], float(np.sum(weights, dtype=np.float64)),
            signature, (own,) if own >= 0 else (), origins[known], sketch, counts[known], counts[~known],
            self._documents.linked_documents([own_terms[outside] for own_terms in terms]), sites,
        )  # fmt: skip

    def _targets(self, page: ReadPage, url: str) -> list[tuple[str, int]]:
        """Return (address, words before it) of the links that count on a page outside the collection."""
        own = canonical_url(url) if url else None
        base = (canonical_url(page.base, own) if page.base else None) or own
        site = site_of(host_of(own)) if own and not self._strategy.anchors.within_site else None
        targets = []
        for anchor in page.anchors:
            target = canonical_url(anchor.href, base)
            if target is None or target == own or (site is not None and site_of(host_of(target)) == site):
                continue
            targets.append((self._home_of(target), anchor.start))
        return targets

    def _home_of(self, address: str) -> str:
        """Return the address that a canonical address stands for, if it is an alias."""
        for corpus, number in self._documents.numbers_of(address.encode()):
            if (home := corpus.home(number)) != number:
                return corpus.url(home)
        return address
