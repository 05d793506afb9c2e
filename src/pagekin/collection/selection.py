"""`select` and `expand` at a leaf, as in the 1996 paper: its children are sub-clusters, whose children are documents."""

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pagekin.bags import fold_copies
from pagekin.collection.messages import Answer, Hit, Item, SelectRequest
from pagekin.collection.ranking import RankedPage, groups_of
from pagekin.collection.understanding import ask_best
from pagekin.labels import plain_text
from pagekin.text import Query

if TYPE_CHECKING:
    from pagekin.collection.collection import Collection

_CLUSTER = re.compile(r"(?:.*/)?cluster/(\d{1,9})")


@dataclass
class _Matches:
    """The matching documents of one sub-cluster, the best first."""

    pages: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)


def cluster_address(number: int) -> str:
    """Return the address of a leaf's sub-cluster, relative to the leaf's; 0 is for documents in no sub-cluster."""
    return f"cluster/{number}"


def cluster_number(url: str) -> int:
    """Return the number of the sub-cluster that an address names; -1 if it names none."""
    match = _CLUSTER.fullmatch(url)
    return int(match[1]) if match else -1


def select(collection: "Collection", request: SelectRequest) -> Answer:
    """Return the matching sub-clusters and documents of the current set; without one, of all sub-clusters."""
    started = time.perf_counter()
    clusters, documents, query, note = _matches(collection, request)
    hits = [_cluster_hit(collection, number, mine) for number, mine in clusters.items()]
    hits += _document_hits(collection, query, documents, request.first + request.limit)
    return _window(collection, request, hits, started, note)


def expand(collection: "Collection", request: SelectRequest) -> Answer:
    """Return the matching documents of the sub-clusters that `select` returns, and its documents."""
    started = time.perf_counter()
    clusters, documents, query, note = _matches(collection, request)
    last = request.first + request.limit
    hits: list[Hit] = []
    total = len(documents.pages)
    for mine in clusters.values():
        total += len(mine.pages)
        if len(hits) <= last:
            most = min(request.each or last + 1, last + 1 - len(hits))
            hits += _document_hits(collection, query, mine, most)
    hits += _document_hits(collection, query, documents, max(last + 1 - len(hits), 0))
    return _window(collection, request, hits, started, note, total)


def _window(
    collection: "Collection", request: SelectRequest, hits: Sequence[Hit], started: float, note: str,
    total: int | None = None,
) -> Answer:  # fmt: skip
    last = request.first + request.limit
    return collection.answer(
        request, hits[request.first : last], started, total=len(hits) if total is None else total,
        more=len(hits) > last, distinct=min(len(hits), last), note=note,
    )  # fmt: skip


def _matches(collection: "Collection", request: SelectRequest) -> tuple[dict[int, _Matches], _Matches, Query, str]:
    """Return the matching documents of each sub-cluster of the current set, and those that are in the set themselves.

    Then follow what they match, and a note. Sub-clusters stand in the order of their best documents.
    """
    whole = collection.whole
    matches, query, note = ask_best(
        whole.words, request.query, request.match,
        lambda query: whole.find(query, len(whole.pages), request.filters), lambda hits: hits.total,
    )  # fmt: skip
    homes = whole.cluster_of(matches.pages).tolist() if matches.pages else []
    chosen, pages = _current_set(collection, request.items)
    clusters: dict[int, _Matches] = {}
    documents = _Matches()
    for page, score, home in zip(matches.pages, matches.scores, homes, strict=True):
        mine = None
        if page in pages:
            mine = documents
        elif chosen is None or home in chosen:
            mine = clusters.setdefault(home, _Matches())
        if mine is not None:
            mine.pages.append(page)
            mine.scores.append(score)
    return clusters, documents, query, note


def _current_set(collection: "Collection", items: Iterable[Item] | None) -> tuple[set[int] | None, set[int]]:
    """Return the sub-clusters of the current set (None for all), and all pages of its documents."""
    if items is None:
        return None, set()
    chosen = list(items)
    clusters = {number for item in chosen if item.kind == "cluster" and (number := cluster_number(item.url)) >= 0}
    return clusters, collection.whole.same_documents(collection.whole.pages_of(chosen))


def _document_hits(collection: "Collection", query: Query, mine: _Matches, most: int) -> list[Hit]:
    """Return the best documents, copies folded, with snippets."""
    if not mine.pages or not most:
        return []
    heads = fold_copies(collection.whole.sketches(mine.pages), mine.pages)
    return [
        collection.whole.ranked_hit(
            RankedPage(mine.pages[head], mine.scores[head], tuple(mine.pages[copy] for copy in copies)), query
        )
        for head, *copies in groups_of(heads)[:most]
    ]


def _cluster_hit(collection: "Collection", number: int, mine: _Matches) -> Hit:
    """Return a sub-cluster as a hit, scored by its best document."""
    cluster = collection.label.clusters[number - 1] if number else None
    name = plain_text(cluster.name) if cluster else "In no topic"
    return Hit(
        kind="cluster", url=cluster_address(number), title=name, score=mine.scores[0], cluster=number, cluster_name=name,
        snippet=", ".join(map(plain_text, cluster.heaviest))[:2000] if cluster else "", path=(collection.name,),
        pages=cluster.num_docs if cluster else len(mine.pages), matches=len(mine.pages),
    )  # fmt: skip
