"""`suggest` at a leaf: documents similar to those of the current set, which HyPursuit calls expansion."""

import time
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pagekin.bags import fold_copies
from pagekin.collection import messages
from pagekin.collection.messages import Answer, ServiceError, as_items
from pagekin.collection.queries import parse_query
from pagekin.similarity import RelatedError
from pagekin.store import KinError

if TYPE_CHECKING:
    from pagekin.collection.collection import Collection

_SUBJECTS = 5
"""How many documents of the set are used to find related pages."""
_AS_GOOD = 0.5
"""Hits with at least this share of the best score represent the query; others only mention it."""
_SEEN = 30
"""How many hits of the query are not suggested: people see them on the first pages of results."""
_CENTRAL = 0.1
"""The score of the most central page of a sub-cluster: lower than that of pages similar to a document of the set."""


def suggest(collection: "Collection", request: messages.SuggestRequest) -> Answer:
    """Return documents similar to those of the current set.

    In 1996: all documents of the sub-clusters that hold some of the set, those with most of it first. By default the
    central pages of these sub-clusters, and the pages that are most related to the first of the set, but none of the
    first hits of the query.
    """
    started = time.perf_counter()
    whole = collection.whole
    given, keep = _current_set(collection, request), whole.keep(request.filters)
    if request.query and request.preset == "default":
        others = np.ones(whole.pages.bounds[-1], np.bool_)
        others[whole.find(parse_query(request.query), _SEEN, messages.Filters()).pages] = False
        keep = others if keep is None else keep & others
    scores = _all_of_clusters(collection, given) if request.preset == "hypursuit1996" else {}
    if request.preset == "default":
        scores = _find_related(collection, given[:_SUBJECTS], request.limit, keep)
        for page, score in _central(collection, given).items():
            scores[page] = scores.get(page, 0.0) + score
    for page in given:
        scores.pop(page, None)
    order = sorted((page for page in scores if keep is None or keep[page]), key=lambda page: (-scores[page], page))
    if request.preset == "default":
        order = _without_copies(collection, given, order)
    hits = (whole.opening_hit(page, scores[page]) for page in order[: request.limit])
    return collection.answer(request, hits, started, total=len(order), more=len(order) > request.limit)


def _current_set(collection: "Collection", request: messages.SuggestRequest) -> list[int]:
    """Return the pages of the current set: those that are named, or the best hits of the query."""
    if request.items or not request.query:
        return collection.whole.pages_of(request.items)
    hits = collection.search(messages.SearchRequest(query=request.query, limit=messages.BEST_HITS)).results
    if not hits:
        raise nothing_to_suggest_by(collection.name, request.query)
    if request.preset == "default":
        hits = tuple(hit for hit in hits if hit.score >= _AS_GOOD * hits[0].score)
    return collection.whole.pages_of(as_items(hits))


def nothing_to_suggest_by(name: str, query: str) -> ServiceError:
    """Return the error of a query that has no hits."""
    return ServiceError(f"nothing in {name} matches '{query}', so there is nothing to suggest by", 404)


def _without_copies(collection: "Collection", given: list[int], order: list[int]) -> list[int]:
    """Return pages in order, without copies of given pages and of pages before them."""
    pages = [*given, *order]
    heads = fold_copies(collection.whole.sketches(pages), pages) if pages else []
    return [page for place, page in enumerate(pages) if heads[place] == place and place >= len(given)]


def _shares(collection: "Collection", given: list[int]) -> npt.NDArray[np.float64]:
    """Return the share of the given pages in each sub-cluster, by its number."""
    counts = np.bincount(collection.whole.cluster_of(given), minlength=1).astype(np.float64) if given else np.zeros(1)
    counts[0] = 0.0
    return counts / max(len(given), 1)


def _all_of_clusters(collection: "Collection", given: list[int]) -> dict[int, float]:
    """Return all pages of the sub-clusters that hold given pages, with scores: the share of these in a page's sub-cluster."""
    shares = _shares(collection, given)
    inside = collection.whole.pages_in_clusters(shares > 0).tolist()
    return dict(zip(inside, shares[collection.whole.cluster_of(inside)].tolist(), strict=True))


def _central(collection: "Collection", given: list[int]) -> dict[int, float]:
    """Return the central pages of the sub-clusters that hold given pages, the nearest to the middle highest."""
    scores: dict[int, float] = {}
    shares = _shares(collection, given)
    for number in np.flatnonzero(shares).tolist():
        for place, url in enumerate(collection.label.clusters[number - 1].urls):
            for page in collection.whole.pages_of([messages.Item(kind="document", url=url)]):
                scores[page] = _CENTRAL * float(shares[number]) / (1 + place)
    return scores


def _find_related(
    collection: "Collection", pages: list[int], most: int, keep: npt.NDArray[np.bool_] | None
) -> dict[int, float]:
    """Return the captured pages that are most related to some pages together; none without an index of them."""
    if not most or not pages:
        return {}
    try:
        related = collection.related_pages
    except KinError:
        return {}
    try:
        query = related.query_of_pages(pages)
    except RelatedError:
        return {}
    related_pages = related.index.rank(query, messages.RelatedOptions(k=most, captured_only=True), keep).related
    captured = related.index.documents.pages(np.array([one.document for one in related_pages], np.int64))
    return dict(zip(captured.tolist(), (one.similarity for one in related_pages), strict=True))
