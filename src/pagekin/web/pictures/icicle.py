"""The tree of services as a picture: a row for each level, each above its children, as wide as it has documents."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Branch:
    """A node to be drawn, in the order of the tree: each before those below it."""

    depth: int
    size: int


@dataclass(frozen=True)
class Bar:
    """Where a node stands."""

    x: float
    y: float
    width: float
    height: float


def bars(branches: Sequence[Branch], width: float, row: float, gap: float = 1.0) -> list[Bar]:
    """Return a bar for each node: children share the width of their parent by their sizes, and fill it.

    Everyone has some width, also one that holds nothing: a node counts as if it had at least one document.
    """
    children: list[list[int]] = [[] for _ in branches]
    above: list[int] = []
    for place, branch in enumerate(branches):
        del above[branch.depth :]
        if above:
            children[above[-1]].append(place)
        above.append(place)
    placed = [Bar(0.0, 0.0, width, row)] * len(branches)
    for place, branch in enumerate(branches):  # parents come first
        total = sum(max(branches[child].size, 1) for child in children[place])
        at = placed[place].x
        for child in children[place]:
            wide = placed[place].width * max(branches[child].size, 1) / total
            placed[child] = Bar(at, (branch.depth + 1) * (row + gap), wide, row)
            at += wide
    return [Bar(round(bar.x, 2), round(bar.y, 2), round(bar.width, 2), round(bar.height, 2)) for bar in placed]
