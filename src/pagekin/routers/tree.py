"""The tree of services below a router: each child gives its own health and asks its children."""

import asyncio
from collections.abc import Mapping

import msgspec

from pagekin.collection import TreeNode, TreeRequest
from pagekin.labels import plain_text
from pagekin.routers.child import Child
from pagekin.routers.connection import ChildError, RefusedError

_LONGEST = 200
"""Maximum characters of an address or an error in a tree, so that the tree stays small enough for routers above."""


async def tree_below(own: TreeNode, children: Mapping[str, Child], request: TreeRequest, deadline: float) -> TreeNode:
    """Return the node of a router with the trees of its children; `request` goes on to them.

    Children that give none stand there with the reason, and with what is known of them.
    """
    shown = list(children.values())[: request.limit - 1]
    onward = msgspec.structs.replace(request, limit=max(request.limit - len(shown), 1))
    below = await asyncio.gather(*(_child_tree(child, onward, deadline) for child in shown))
    whole = msgspec.structs.replace(own, children=tuple(below), left_out=len(children) - len(shown))
    return _within(whole, request.limit)


async def _child_tree(child: Child, request: TreeRequest, deadline: float) -> TreeNode:
    try:
        tree, _size = await child.call("tree", request, TreeNode, deadline)
    except ChildError as error:
        label = child.label
        return TreeNode(
            name=child.name, url=child.url, leaf=False, up=isinstance(error, RefusedError), ready=label is not None,
            documents=label.num_docs if label else 0, label_bytes=child.published.bytes, label_age=child.label_age(),
            error=plain_text(str(error))[:2000],
        )  # fmt: skip
    return msgspec.structs.replace(_clean(tree, request.hops), name=child.name, url=child.url, up=True)


def _clean(node: TreeNode, depth: int) -> TreeNode:
    """Return a received node without control characters, no deeper than a request goes."""
    url = node.url if len(node.url) <= _LONGEST and node.url.startswith(("http://", "https://")) else ""
    return msgspec.structs.replace(
        node, name=plain_text(node.name), url=url if plain_text(url) == url else "", error=plain_text(node.error)[:_LONGEST],
        children=tuple(_clean(child, depth - 1) for child in node.children) if depth > 0 else (),
        left_out=node.left_out if depth > 0 else min(node.left_out + len(node.children), 2**53),
    )  # fmt: skip


def _within(node: TreeNode, limit: int) -> TreeNode:
    """Return the tree cut to `limit` nodes: small branches stay whole, and large ones share the rest."""
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
    """Return the number of nodes of a tree."""
    return 1 + sum(map(_size, node.children))
