"""`select` and `expand` at a router: its children are clusters, judged by their labels."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from pagekin.collection import Answer, Hit, Item, Request, check_filters, group_hits, may_pass, messages, parse_query
from pagekin.labels import plain_text
from pagekin.routers.child import Child
from pagekin.routers.knowledge import Snapshot
from pagekin.routers.reach import Reach, Target


def items_by_target(
    items: Iterable[Item], target_on: Callable[[Sequence[str]], Target | None]
) -> dict[Target, tuple[Item, ...]]:
    """Return items by the target that leads to them, with their paths from there on."""
    by_target: dict[Target, list[Item]] = {}
    for item in items:
        if target := target_on(item.path):
            onward = msgspec.structs.replace(item, path=item.path[len(target.path) - 1 :])
            by_target.setdefault(target, []).append(onward)
    return {target: tuple(mine) for target, mine in by_target.items()}


def select_known(name: str, children: Mapping[str, Child], known: Snapshot, request: messages.SelectRequest) -> Answer:
    """Return the clusters and documents of the current set that may match, by labels alone.

    At first the set is the router's children. Labels say nothing of what filters ask for, so children stay; of documents
    the address tells the site. What lies deeper than the children stays, as only those below can judge it.
    """
    started = time.perf_counter()
    query = parse_query(request.query, request.match)
    check_filters(request.filters)
    verdict, scores = known.table.judge(query), known.table.cori(query)
    passed_over = dict(verdict.skipped)
    chosen = [*verdict.ask, *(child for child in children if child not in known.table.labels)]
    others: list[Item] = []
    if request.items is not None:
        by_url = {child.url: child.name for child in children.values()}
        named = {by_url[item.url] for item in request.items if item.kind == "cluster" and item.url in by_url}
        chosen = [child for child in chosen if child in named]
        passed_over = {child: reason for child, reason in passed_over.items() if child in named}
        may = set(known.own.judge(query).ask)
        others = [
            item
            for item in request.items
            if (item.kind == "cluster" and item.url not in by_url)
            or (
                item.kind == "document"
                and (not item.cluster or str(item.cluster) in may)
                and may_pass(item.url, request.filters)
            )
        ]
    hits = [_child_hit(name, children[child], scores.get(child, 0.0)) for child in chosen]
    hits.sort(key=lambda hit: (-hit.score, hit.url))
    hits += [Hit(kind=item.kind, url=item.url, path=item.path, cluster=item.cluster) for item in others]
    last = request.first + request.limit
    skipped = tuple(messages.SkippedNode(path=(name, child), reason=reason) for child, reason in passed_over.items())
    window = tuple(hits[request.first : last])
    return Answer(
        query=request.query, router=name, total=len(hits), results=window, groups=group_hits(window), skipped=skipped,
        more=len(hits) > last, distinct=min(len(hits), last), seconds=time.perf_counter() - started,
    )  # fmt: skip


def expand_requests(
    selected: Answer, reach: Reach, onward: messages.SelectRequest
) -> tuple[dict[Target, Request], dict[Target, Request], list[Hit]]:
    """Return the requests that `expand` makes: children for their matching children, others for those of deeper clusters.

    The documents of the set, which have no children, come third.
    """
    whole: dict[Target, Request] = {}
    deeper: list[Item] = []
    documents: list[Hit] = []
    by_url = {target.child.url: target for target in map(reach.targets.__getitem__, reach.children)}
    for hit in selected.results:
        if hit.kind == "document":
            documents.append(hit)
        elif hit.url in by_url:
            limit = min(onward.each or onward.limit, onward.limit)
            whole[by_url[hit.url]] = msgspec.structs.replace(onward, items=None, limit=limit)
        else:
            deeper.append(Item(hit.kind, hit.url, hit.path, hit.cluster))
    below: dict[Target, Request] = {
        child: msgspec.structs.replace(onward, items=mine)
        for child, mine in items_by_target(deeper, reach.child_on_path).items()
    }
    return whole, below, documents


def _child_hit(router: str, child: Child, score: float) -> Hit:
    """Return a child as a hit."""
    label = child.label
    return Hit(
        kind="cluster", url=child.url, title=child.name, snippet=plain_text(", ".join(label.heaviest) if label else "")[:2000],
        score=score, path=(router, child.name), pages=label.num_docs if label else 0,
    )  # fmt: skip
