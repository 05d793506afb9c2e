"""The tree of routers below one: asked of all of them, each of which tells how it is and asks its own children."""

import asyncio
from collections.abc import Mapping

import msgspec

from pagekin.routers.children import Child, ChildError, RefusedError
from pagekin.routers.client import Client
from pagekin.routers.messages import TreeNode, TreeRequest
from pagekin.routers.open_leaf import plain

_NODE_BYTES = 2_000
"""Of a node, at most, on the average."""


async def tree_below(
    own: TreeNode, children: Mapping[str, Child], client: Client, request: TreeRequest, deadline: float
) -> TreeNode:
    """The node of a router with the trees of its children; `request` goes on to them.

    Those that give none stand there with the reason, and with what is known of them.
    """
    shown = list(children.values())[: request.limit - 1]
    onward = msgspec.structs.replace(request, limit=max(request.limit - len(shown), 1))
    below = await asyncio.gather(*(_child_tree(child, client, onward, deadline) for child in shown))
    whole = msgspec.structs.replace(own, children=tuple(below), left_out=len(children) - len(shown))
    return _within(whole, request.limit)


async def _child_tree(child: Child, client: Client, request: TreeRequest, deadline: float) -> TreeNode:
    try:
        found, size = await child.call(client, "tree", request, TreeNode, deadline)
        if size > _NODE_BYTES * (request.limit + 1):
            raise RefusedError(f"its tree has {size:,} bytes, too many for {request.limit:,} nodes")
    except ChildError as error:
        label = child.label
        return TreeNode(
            name=child.name, url=child.url, leaf=False, up=isinstance(error, RefusedError), ready=label is not None,
            documents=label.num_docs if label else 0, label_bytes=child.label_bytes, label_age=child.label_age(),
            error=plain(str(error))[:2000],
        )  # fmt: skip
    return msgspec.structs.replace(_clean(found, request.hops), name=child.name, url=child.url, up=True)


def _clean(node: TreeNode, depth: int) -> TreeNode:
    """A node from elsewhere without what could drive a terminal or lead astray, and no deeper than a request goes."""
    web = node.url.startswith(("http://", "https://")) and plain(node.url) == node.url
    return msgspec.structs.replace(
        node, name=plain(node.name), url=node.url if web else "", error=plain(node.error),
        children=tuple(_clean(child, depth - 1) for child in node.children) if depth > 0 else (),
        left_out=node.left_out if depth > 0 else min(node.left_out + len(node.children), 2**53),
    )  # fmt: skip


def _within(node: TreeNode, limit: int) -> TreeNode:
    """The tree with at most `limit` nodes; if it has more, small branches stay whole and large ones share what is left."""
    branches = node.children[: limit - 1]
    sizes = [_size(branch) for branch in branches]
    left, cut = limit - 1, list(branches)
    for done, place in enumerate(sorted(range(len(branches)), key=lambda place: sizes[place])):
        share = min(sizes[place], left // (len(branches) - done))
        left -= share
        if share < sizes[place]:
            cut[place] = _within(branches[place], share)
    left_out = min(node.left_out + len(node.children) - len(branches), 2**53)
    return msgspec.structs.replace(node, children=tuple(cut), left_out=left_out)


def _size(node: TreeNode) -> int:
    """How many nodes a tree has."""
    return 1 + sum(map(_size, node.children))
