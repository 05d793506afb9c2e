"""The network: the tree of routers, how they are, and where a query goes."""

from collections.abc import Iterator
from typing import Annotated

from litestar import Response, get
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import Parameter
from msgspec import Struct

from pagekin.routers.http import served
from pagekin.routers.leaf import Leaf
from pagekin.routers.messages import Answer, SearchRequest, TreeNode, TreeRequest
from pagekin.routers.open_leaf import plain
from pagekin.routers.router import Router
from pagekin.web.pictures.icicle import Branch, bars
from pagekin.web.shown import Asking, shown

DEADLINE = 5.0
MOST_SHOWN = 360
"""Nodes on one page: more would be more than anyone reads, and than the page may weigh."""
MOST_LISTED = 60
_LONGEST = 200
"""Characters of an address that is led to."""
_WIDE, _ROW = 1100.0, 34.0
Query = Annotated[str, Parameter(query="q", max_length=2000, description="A query to be routed.")]


class Way(Struct, frozen=True):
    """What became of a query at a router."""

    went: str = ""
    """asked, skipped, failed, or not reached."""
    reason: str = ""
    seconds: float = 0.0
    results: int = 0


class NodeView(Struct, frozen=True, kw_only=True):
    """A router or a site in the tree."""

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
    went: str = ""
    """What became of the query here; see `Way`."""
    reason: str = ""
    seconds: float = 0.0
    results: int = 0
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0

    @property
    def name(self) -> str:
        """Its own name."""
        return self.path[-1]

    @property
    def depth(self) -> int:
        """How far below the root it is."""
        return len(self.path) - 1

    @property
    def state(self) -> str:
        """How it is, or what became of the query, in a word."""
        return "down" if not self.up else self.went or "up"


class NetworkView(Struct, frozen=True, kw_only=True):
    """The routers below this one."""

    query: str
    nodes: tuple[NodeView, ...]
    """Each before those below it."""
    total: int
    """Nodes in all, also those that are not shown."""
    sites: int
    down: int
    levels: int
    width: float
    height: float
    found: int = 0
    """Documents that the query found."""
    asked: int = 0
    seconds: float = 0.0
    partial: tuple[str, ...] = ()

    @property
    def listed(self) -> list[NodeView]:
        """The nodes that are told of in words: those in trouble and those that were asked, then the topmost."""
        told = [node for node in self.nodes if not node.up or node.went in ("asked", "failed") or not node.depth]
        if not self.query:
            told += [node for node in sorted(self.nodes, key=lambda node: node.depth) if node.up and node.depth]
        chosen = {node.path for node in told[:MOST_LISTED]}
        return [node for node in self.nodes if node.path in chosen]


@get(
    ["/network", "/network.json"],
    responses={200: ResponseSpec(NetworkView, description="The tree of routers, and where a query goes.")},
)
async def network(request: Asking, q: Query = "") -> Response[bytes]:
    """The tree of routers, how they are, and where a query goes."""
    service = served(request.scope).service
    return shown(request, "network.html", await network_view(service, q.strip()))


async def network_view(service: Leaf | Router, query: str) -> NetworkView:
    """The tree below a router, with what became of a query, if there is one."""
    root = await service.tree(TreeRequest(deadline=DEADLINE))
    answer = await service.search(SearchRequest(query=query, limit=10, deadline=DEADLINE)) if query else None
    listed = list(_listed(root, ()))
    shown_nodes = listed[:MOST_SHOWN]
    drawn = bars([Branch(len(path), node.documents) for path, node in shown_nodes], _WIDE, _ROW)
    went = _went(answer) if answer else {}
    nodes = tuple(
        NodeView(
            path=(*path, plain(node.name)), url=node.url if len(node.url) <= _LONGEST else "",
            leaf=node.leaf, level=node.level, up=node.up, ready=node.ready,
            documents=node.documents, label_bytes=node.label_bytes, label_age=node.label_age, error=plain(node.error),
            x=bar.x, y=bar.y, width=bar.width, height=bar.height,
            went=way.went, reason=plain(way.reason), seconds=way.seconds, results=way.results,
        )
        for (path, node), bar in zip(shown_nodes, drawn, strict=True)
        for way in (went.get((*path, node.name), Way("not reached" if answer else "")),)
    )  # fmt: skip
    depth = max(len(path) for path, _node in shown_nodes) + 1
    left_out = sum(node.left_out for _path, node in listed)
    return NetworkView(
        query=query,
        nodes=nodes,
        total=len(listed) + left_out,
        sites=sum(node.leaf for _path, node in listed),
        down=sum(not node.up for _path, node in listed),
        levels=depth,
        width=_WIDE,
        height=depth * (_ROW + 1),
        found=answer.total if answer else 0,
        asked=len(answer.asked) if answer else 0,
        seconds=answer.seconds if answer else 0.0,
        partial=answer.partial if answer else (),
    )


def _listed(node: TreeNode, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], TreeNode]]:
    """(names above it, node) of all nodes, each before those below it, the largest first."""
    yield path, node
    for child in sorted(node.children, key=lambda child: (-child.documents, child.name)):
        yield from _listed(child, (*path, node.name))


def _went(answer: Answer) -> dict[tuple[str, ...], Way]:
    """What became of the query at each router, by its path."""
    found: dict[tuple[str, ...], Way] = {
        (answer.router,): Way("asked", seconds=answer.seconds, results=len(answer.results))
    }
    for one in answer.asked:
        found[one.path] = Way("asked", seconds=one.seconds, results=one.results)
    for skipped in answer.skipped:
        found[skipped.path] = Way("skipped", skipped.reason)
    for reason in answer.partial:
        path, _, said = reason.partition(": ")
        for asked in answer.asked:
            if "/".join(asked.path) == path or "/".join(asked.path[-2:]) == path:
                found[asked.path] = Way("failed", said)
    return found
