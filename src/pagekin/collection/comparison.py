"""Pages of one collection compared with each other: how similar each two are, and the terms that all share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pagekin.bags import Origin
from pagekin.similarity import jaccard

if TYPE_CHECKING:
    from pagekin.collection.collection import Collection


@dataclass(frozen=True)
class Comparison:
    """Several pages compared."""

    similarities: list[list[float]]
    """The exact similarity of each two pages; 1 on the diagonal."""
    shared: list[tuple[str, float, list[str]]]
    """(term, its lowest weight in any of the pages, its origin) of the terms in all pages, the heaviest first."""


def compare_pages(collection: "Collection", urls: Sequence[str], count: int) -> Comparison:
    """Compare pages by their addresses, all of which have bags; return at most `count` shared terms."""
    index_documents = collection.related_pages.index.documents
    documents = [index_documents.at(url.encode()) for url in urls]
    every = [index_documents.bag(document) for document in documents]
    similarities = [[1.0] * len(every) for _ in every]
    for one, mine in enumerate(every):
        for other in range(one):
            similarities[one][other] = similarities[other][one] = jaccard(mine, every[other])
    shared = _shared_terms(collection, documents, count) if len(documents) > 1 else []
    return Comparison(similarities, shared)


def _shared_terms(collection: "Collection", documents: Sequence[int], count: int) -> list[tuple[str, float, list[str]]]:
    index_documents = collection.related_pages.index.documents
    first, own = index_documents.place(documents[0])
    hashes, least = index_documents.bag(documents[0])
    numbers = first.bags.bag(own)[0]
    number_of = dict(zip(np.asarray(first.bags.hashes)[numbers].tolist(), numbers.tolist(), strict=True))
    origins = index_documents.origins(documents[0])
    for document in documents[1:]:
        theirs, weights = index_documents.bag(document)
        hashes, mine, other = np.intersect1d(hashes, theirs, assume_unique=True, return_indices=True)
        least, origins = (
            np.minimum(least[mine], weights[other]),
            origins[mine] | index_documents.origins(document)[other],
        )
    terms = [number_of[one] for one in hashes.tolist()]
    return [
        (first.bags.term_text(first.corpus, terms[place]), float(least[place]), Origin(int(origins[place])).names())
        for place in np.lexsort((terms, -least))[:count].tolist()
    ]


def similarities_to(collection: "Collection", url: str, numbers: Sequence[int]) -> dict[int, float]:
    """Return the exact similarity of pages, by the numbers of their addresses, to the page at an address, the highest first.

    Pages without a bag are left out; raise a RelatedError if the page itself has none.
    """
    index = collection.related_pages.index
    number_of = {index.documents.at(collection.corpus.urls[number]): number for number in numbers}
    number_of.pop(-1, None)
    documents, similarity = index.rerank(
        index.signals(index.query_of([url])), np.array(list(number_of), np.int64), -1.0
    )
    return {number_of[document]: value for document, value in zip(documents.tolist(), similarity.tolist(), strict=True)}
