"""Draw the tree of services: a row per level, parents above children, widths in proportion to documents."""

from collections.abc import Sequence

from pagekin.web.pictures.treemap import Box


def bars(branches: Sequence[tuple[int, int]], width: float, row: float, gap: float = 1.0) -> list[Box]:
    """Return a bar per node, given (depth, size) with parents first; children share their parent's width.

    Everyone has some width, also one that holds nothing: a node counts as if it had at least one document.
    """
    children: list[list[int]] = [[] for _ in branches]
    above: list[int] = []
    for place, (depth, _size) in enumerate(branches):
        del above[depth:]
        if above:
            children[above[-1]].append(place)
        above.append(place)
    placed = [Box(0.0, 0.0, width, row)] * len(branches)
    for place, (depth, _size) in enumerate(branches):  # parents come first
        total = sum(max(branches[child][1], 1) for child in children[place])
        at = placed[place].x
        for child in children[place]:
            wide = placed[place].width * max(branches[child][1], 1) / total
            placed[child] = Box(at, (depth + 1) * (row + gap), wide, row)
            at += wide
    return [Box(*(round(value, 2) for value in bar)) for bar in placed]
