"""The network: the tree of services, their health, and the way of a query with the reasons."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated

from litestar import Response
from litestar.params import QueryParameter
from msgspec import Struct, structs

from pagekin.collection import Answer, SearchRequest, Service, TreeNode, TreeRequest, parse_query, query_words
from pagekin.labels import ContentLabel, plain_text
from pagekin.routers import HttpRequest, service_of
from pagekin.text import ANALYSER, And, Phrase, Query, Word
from pagekin.web.pictures.icicle import bars
from pagekin.web.pictures.neighbourhood import SIZE
from pagekin.web.pictures.treemap import text_width
from pagekin.web.rendering import render, view_route

DEADLINE = 5.0
MOST_SHOWN = 360
"""Nodes on one page: more would be more than anyone reads, and than the page may weigh."""
MOST_LISTED, MOST_OUTLINED = 60, 24
NAMED, MOST_NAMED = 5, 60
"""Names of those passed over for one reason that stand in the open, and that are folded away."""
_LONGEST = 200
"""Characters of an address that is led to."""
_HAIR, _GAP = 2.0, 0.6
"""The widest bar that nobody can point at, and what is left free between two, in units of the picture."""
_WIDE, _ROW = 1100.0, 34.0
_MARGIN, _SIGN = 13.0, 14.0
"""Room in a bar beside its name, and for what became of a query."""
_UNREACHED = re.compile(r"^it cannot be reached(?: \(.*\))?(?:; )?")
"""What a page says itself, before what else is known."""
_COPIED = "leaf", "level", "up", "ready", "documents", "label_bytes", "label_age"
"""What the view of a node takes over from it as it is."""
_LOWEST = 16.0
"""Bars lower than this hold no text."""
Routed = Annotated[str, QueryParameter(name="q", max_length=2000, description="A query to be routed.")]


class QueryOutcome(Struct, frozen=True):
    """The outcome of a query at a service."""

    went: str = ""
    """asked, skipped, failed, or not reached."""
    reason: str = ""
    """Why it was passed over, or gave no answer."""
    seconds: float = 0.0
    results: int = 0


class NodeView(QueryOutcome, frozen=True, kw_only=True):
    """A router or leaf in the tree, and the outcome of the query there."""

    path: tuple[str, ...]
    """Names from the root of this tree down to it."""
    url: str
    leaf: bool
    level: int
    up: bool
    ready: bool = True
    documents: int = 0
    label_bytes: int = 0
    label_age: float | None = None
    error: str = ""
    why: str = ""
    """Why it was asked."""
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0

    @property
    def name(self) -> str:
        """Return the node's own name."""
        return self.path[-1]

    @property
    def depth(self) -> int:
        """Return the depth below the root."""
        return len(self.path) - 1

    @property
    def state(self) -> str:
        """Return the outcome of the query, or the health, in a word or two."""
        if self.went in ("asked", "skipped", "failed"):
            return self.went
        return "down" if not self.up else self.went or "up"

    @property
    def trouble(self) -> str:
        """Return why it gives no answer, unless it simply cannot be reached."""
        return _UNREACHED.sub("", self.reason if self.state == "failed" else self.error)

    @property
    def tall(self) -> float:
        """Return the height of its bar: lower if it was not asked, as colour alone is not enough."""
        return round(self.height * {"skipped": 0.55, "not reached": 0.25}.get(self.state, 1.0), 1)

    @property
    def hairline(self) -> bool:
        """Return whether its bar is too narrow for anyone to point at."""
        return self.width <= _HAIR

    @property
    def legible(self) -> str:
        """Return as much of its name as fits its bar: all, the part that differs from its parent's, or nothing."""
        room = self.width - (_SIGN if self.went else 0.0)
        names = [self.name, self.name.removesuffix(f".{self.path[-2]}")] if self.depth else [self.name]
        fitting = [name for name in names if room_for(name) <= room]
        return fitting[0] if fitting and self.tall > _LOWEST else ""


class PassedOver(Struct, frozen=True, kw_only=True):
    """Services that were not asked, for the same reason."""

    reason: str
    names: tuple[str, ...]
    """Their ways from the root, some of them: those with most documents first."""
    count: int
    documents: int
    below: int
    """Nodes below them, which nobody had to think of."""


class NetworkView(Struct, frozen=True, kw_only=True):
    """The tree of services below this one."""

    query: str
    nodes: tuple[NodeView, ...]
    """Each before those below it."""
    total: int
    """Nodes in all, also those that are not shown."""
    sites: int
    """Those that answered and hold pages."""
    routers: int
    """Those that answered and ask others."""
    down: int
    """Those that gave no answer: what they are, nobody knows."""
    left_out: int
    """Those of which nothing is told, because the tree is too large."""
    levels: int
    width: float
    height: float
    found: int = 0
    """Documents that the query found."""
    asked: int = 0
    failed: int = 0
    """How many of those gave no answer."""
    skipped: int = 0
    passed: tuple[PassedOver, ...] = ()
    """Those that were not asked, by reason, the most telling reason first."""
    seconds: float = 0.0
    partial: tuple[str, ...] = ()
    """Why something may be missing."""
    elsewhere: tuple[str, ...] = ()
    """Of these reasons those that belong to none of the nodes."""

    @property
    def listed(self) -> list[NodeView]:
        """Return the nodes to list: those asked, or without a query those in trouble and at the top."""
        if self.query:
            return [node for node in self.nodes if node.state in ("asked", "failed")][:MOST_LISTED]
        chosen = [node for node in self.nodes if not node.up or not node.depth]
        chosen += [node for node in sorted(self.nodes, key=lambda node: node.depth) if node.up and node.depth]
        return self._in_order(chosen)

    @property
    def outline(self) -> list[NodeView]:
        """Return the nodes of the picture as a list: those asked, and the largest of the others."""
        if not self.query:
            return self._in_order(sorted(self.nodes, key=lambda node: node.depth)[:MOST_OUTLINED])
        chosen = [node for node in self.nodes if node.state in ("asked", "failed", "down")]
        chosen += sorted((node for node in self.nodes if node.state == "skipped"), key=lambda node: -node.documents)
        return self._in_order(chosen)

    @property
    def hairlines(self) -> dict[str, str]:
        """Return the outlines of all hairlines of a state as one path: each by itself, large networks would be heavy pages."""
        outlines: dict[str, str] = {}
        for node in self.nodes:
            if node.hairline:
                width = round(max(node.width - _GAP, 0.4), 2)
                outline = f"M{node.x:g} {node.y:g}h{width:g}v{node.tall:g}h-{width:g}z"
                outlines[node.state] = outlines.get(node.state, "") + outline
        return outlines

    def _in_order(self, nodes: Sequence[NodeView]) -> list[NodeView]:
        chosen = {node.path for node in nodes[:MOST_LISTED]}
        return [node for node in self.nodes if node.path in chosen]


@view_route(["/network", "/network.json"], NetworkView, "The tree of routers, and where a query goes.")
async def network(request: HttpRequest, q: Routed = "") -> Response[bytes]:
    """Return the tree of services, their health, and the way of a query."""
    service = service_of(request.scope).service
    return render(request, "network.html", await network_view(service, q.strip()))


async def network_view(service: Service, query: str) -> NetworkView:
    """Return the view of the tree below a service, with the outcome of a query, if any."""
    parsed = parse_query(query) if query else None
    tree = service.tree(TreeRequest(deadline=DEADLINE))
    if parsed is None:
        root, answer = await tree, None
    else:
        root, answer = await asyncio.gather(
            tree, service.search(SearchRequest(query=query, limit=10, deadline=DEADLINE))
        )
    every = list(_nodes_below(root, ()))
    chosen = every[:MOST_SHOWN]
    drawn = bars([(len(path), node.documents) for path, node in chosen], _WIDE, _ROW)
    went, elsewhere = _ways_of(answer) if answer else ({}, ())
    may = may_hold(parsed) if parsed else ""
    nodes = tuple(
        NodeView(
            path=(*path, plain_text(node.name)), url=node.url if len(node.url) <= _LONGEST else "",
            error=plain_text(node.error), **{name: getattr(node, name) for name in _COPIED},
            why=_why_asked(service, path, node, may) if way.went in ("asked", "failed") else "",
            **bar._asdict(), **structs.asdict(way),
        )
        for (path, node), bar in zip(chosen, drawn, strict=True)
        for way in (went.get((*path, node.name), QueryOutcome("not reached" if answer else "")),)
    )  # fmt: skip
    given = answer or Answer()
    depth = max(len(path) for path, _node in chosen) + 1
    left_out = sum(node.left_out for _path, node in every)
    answering = [node for _path, node in every if node.up]
    return NetworkView(
        query=query,
        nodes=nodes,
        total=len(every) + left_out,
        sites=sum(node.leaf for node in answering),
        routers=sum(not node.leaf for node in answering),
        down=len(every) - len(answering),
        left_out=left_out,
        levels=depth,
        width=_WIDE,
        height=depth * (_ROW + 1),
        found=given.total,
        asked=len(given.asked),
        failed=sum(way.went == "failed" for way in went.values()),
        skipped=len(given.skipped),
        passed=group_passed_over(given, every),
        seconds=given.seconds,
        partial=given.partial,
        elsewhere=elsewhere,
    )


def room_for(name: str) -> float:
    """Return the width of a bar that holds a name in any common font."""
    return _MARGIN + SIZE * text_width(name)


def _nodes_below(node: TreeNode, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], TreeNode]]:
    """Yield (names above it, node) of all nodes, parents first, the largest first."""
    yield path, node
    for child in sorted(node.children, key=lambda child: (-child.documents, child.name)):
        yield from _nodes_below(child, (*path, node.name))


# -- where a query goes ---------------------------------------------------------------------------------------------------


def may_hold(query: Query) -> str:
    """Return in words what a label must promise for its service to be asked."""
    words = [f"{attribute}:{word}" if attribute else word for attribute, word in query_words(query)]
    simple = all(isinstance(part, Word | Phrase) for part in (query.parts if isinstance(query, And) else (query,)))
    if simple and len(words) == 1:
        return f"its summary says it may hold “{words[0]}”"
    if simple and len(words) <= 5:
        return f"its summary says it may hold “{'”, “'.join(words[:-1])}” and “{words[-1]}” together"
    return "its summary says it may hold a match"


def _why_asked(service: Service, path: Sequence[str], node: TreeNode, may: str) -> str:
    """Return why a service was asked; only the health of services further below is known here."""
    if not path:
        return "the query begins here"
    child = service.children.get(node.name) if len(path) == 1 else None
    if not node.ready or (child is not None and child.label is None):
        return "its content is not known yet, so it may hold a match"
    if child is not None and child.label is not None and not _tells_all_words(child.label):
        return "its summary does not list all its words, so it may hold a match"
    return may


def _tells_all_words(label: ContentLabel) -> bool:
    parts = [cluster.filters for cluster in label.clusters]
    return label.analyser == ANALYSER and (bool(label.filters) or (bool(parts) and all(parts)))


def _ways_of(answer: Answer) -> tuple[dict[tuple[str, ...], QueryOutcome], tuple[str, ...]]:
    """Return (the outcome of the query at each service, by path; other reasons why results are missing)."""
    ways: dict[tuple[str, ...], QueryOutcome] = {
        (answer.router,): QueryOutcome("asked", seconds=answer.seconds, results=len(answer.results))
    }
    by_name: dict[str, list[tuple[str, ...]]] = {}
    for one in answer.asked:
        ways[one.path] = QueryOutcome("asked", seconds=one.seconds, results=one.results)
        for name in {"/".join(one.path), "/".join(one.path[-2:])}:
            by_name.setdefault(name, []).append(one.path)
    for skipped in answer.skipped:
        ways[skipped.path] = QueryOutcome("skipped", plain_text(skipped.reason))
    elsewhere = []
    for reason in answer.partial:
        name, _, said = reason.partition(": ")
        for path in by_name.get(name, ()):
            ways[path] = QueryOutcome("failed", plain_text(said))
        if name not in by_name:
            elsewhere.append(reason)
    return ways, tuple(elsewhere)


def group_passed_over(answer: Answer, nodes: Sequence[tuple[tuple[str, ...], TreeNode]]) -> tuple[PassedOver, ...]:
    """Group the services that were not asked by reason, the nearest misses first."""
    documents = Counter({(*path, node.name): node.documents for path, node in nodes})
    below = Counter(path[:length] for path in documents for length in range(1, len(path)))
    groups: dict[str, list[tuple[str, ...]]] = {}
    for one in answer.skipped:
        groups.setdefault(plain_text(one.reason), []).append(one.path)
    passed = []
    for reason, paths in groups.items():
        paths.sort(key=lambda path: (-documents[path], path))
        passed.append(
            PassedOver(
                reason=reason,
                names=tuple(" › ".join(map(plain_text, path[1:])) for path in paths[: NAMED + MOST_NAMED]),
                count=len(paths),
                documents=sum(documents[path] for path in paths),
                below=sum(below[path] for path in paths),
            )
        )
    return tuple(sorted(passed, key=_least_missed))


def _least_missed(passed: PassedOver) -> tuple[int, int, str]:
    """Return a sort key for groups: fewer missing words first, then more documents."""
    missed = passed.reason.count(",") + 1 if passed.reason.startswith("no page holds") else 0
    return missed, -passed.documents, passed.reason
