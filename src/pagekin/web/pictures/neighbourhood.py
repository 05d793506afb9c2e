"""Draw a page among its neighbours: pages that link to it, that it links to, and similar ones.

Two drawings of the same: on a wide screen the page stands in the middle, with links to it on the left, its links on the
right and similar pages below; on a narrow one all stand in a column, with arcs beside them.
"""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from pagekin.web.pictures.treemap import Box, wrap_text

Role = Literal["here", "in", "out", "similar"]
SIZE = 13.0
"""Of letters."""
MOST_FAR = 36
"""Links between neighbours that are drawn."""
_ROLE_NAMES = {"here": "this page", "in": "links here", "out": "linked from here", "similar": "similar"}


class Node(Struct, frozen=True, kw_only=True):
    """A page of the neighbourhood."""

    url: str
    title: str
    role: Role
    similarity: float = 0.0
    """To the page in the middle; 0 if it is not known."""

    @property
    def about(self) -> str:
        """Return the page's title and its relation to the page in the middle."""
        similarity = f", {self.similarity:.0%} alike".replace("%", " %") if self.similarity else ""
        return f"{self.title[:200]}: {_ROLE_NAMES[self.role]}{similarity}"


class Link(Struct, frozen=True):
    """A link between two pages, by their places among the nodes."""

    source: int
    target: int


Words = tuple[float, float, float, list[str]]
"""Words to be placed: x and y of the first line, the height of a line, the lines."""


class PlacedNode(Struct, frozen=True, kw_only=True):
    """A node at its position."""

    node: Node
    x: float
    y: float
    """Of its dot."""
    box: Box
    """What it takes: dot and words; where one can touch it."""
    lines: list[tuple[float, float, str]]
    """(x, y, text) of its words."""
    anchor: str
    """start, middle or end."""


class Line(Struct, frozen=True, kw_only=True):
    """A line between two nodes."""

    path: str
    kind: str
    """near: from or to the page in the middle; far: between others; like: similar, but not linked."""
    starts: bool
    """Whether it has an arrow head where it starts."""
    ends: bool


class Drawing(Struct, frozen=True, kw_only=True):
    """All shapes of a picture."""

    width: float
    height: float
    nodes: list[PlacedNode]
    lines: list[Line]
    captions: list[tuple[float, float, str, str]]
    """(x, y, anchor, text) over each group."""


def _lines_of(title: str, width: float, most: int) -> list[str]:
    """Return as much of a title as fits on some lines of a width; an ellipsis if nothing fits."""
    return wrap_text(title, width / SIZE, most) or ["…"]


# -- wide -----------------------------------------------------------------------------------------------------------------

_WIDE, _ROW, _SIDE, _PILL = 760.0, 36.0, 216.0, 152.0
_CAPTION = 18.0
_DOT, _TOUCH, _BEND = 5.0, 26.0, 30.0


_ROLES: tuple[Role, ...] = ("in", "out", "similar")
_SIDES: tuple[tuple[Role, str], ...] = (("in", "Link here"), ("out", "Linked from here"))


def _place(node: Node, x: float, y: float, box: Box, words: Words, anchor: str = "middle") -> PlacedNode:
    """Place a node whose text begins at a point, line below line."""
    left, top, step, lines = words
    placed = [(left, top + step * number, line) for number, line in enumerate(lines)]
    return PlacedNode(node=node, x=x, y=y, box=box, lines=placed, anchor=anchor)


def _middle(node: Node, y: float) -> PlacedNode:
    lines = _lines_of(node.title, _PILL - 20, 2)
    x, high = _WIDE / 2, 20.0 + 16 * len(lines)
    box = Box(x - _PILL / 2, y - high / 2, _PILL, high)
    return _place(node, x, y, box, (x, y - 8 * (len(lines) - 1) + 4.5, 16, lines))


def _beside(node: Node, left: bool, y: float) -> PlacedNode:
    x, edge = (_SIDE + 14, _SIDE) if left else (_WIDE - _SIDE - 14, _WIDE - _SIDE)
    box = Box(0 if left else x - 12, y - _TOUCH / 2, _SIDE + 26, _TOUCH)
    lines = _lines_of(node.title, _SIDE - 4, 1)
    return _place(node, x, y, box, (edge, y + 4.5, 0, lines), "end" if left else "start")


def _below(node: Node, x: float, y: float, width: float) -> PlacedNode:
    lines = _lines_of(node.title, width, 2)
    box = Box(x - width / 2, y - 12, width, 12 + 22 + 15 * (len(lines) - 1) + 6.0)
    return _place(node, x, y, box, (x, y + 22, 15, lines))


def _chord(one: PlacedNode, other: PlacedNode, far: bool) -> str:
    """Return a line between two nodes that avoids their text, which stands outside."""
    row = other.y if other.node.role == "similar" else 0.0
    if not far and row:
        start = one.x + (other.x - one.x) * 0.18, one.box.y + one.box.height + 4
        bend = start[0] + (other.x - start[0]) * 0.35, row - _BEND
        return f"M{_at(*start)}Q{_at(*bend)} {_at(*_dot_edge(other, *bend))}"
    if not far:
        return f"M{_at(*_edge(one, other))}L{_at(*_dot_edge(other, one.x, one.y))}"
    centre = _WIDE / 2
    if row and one.node.role != "similar":
        x = one.x + (16 if one.x < centre else -16)
        start, end = _dot_edge(one, x, one.y), _dot_edge(other, x, row - 14)
        return f"M{_at(*start)}C{_at(x, row - _BEND)} {_at(x, row - 14)} {_at(*end)}"
    x, y = (one.x + other.x) / 2, (one.y + other.y) / 2
    if row:
        y -= _BEND
    elif one.node.role == other.node.role:
        x += (centre - x) * 0.45
    else:
        y += 46
    # The heads point along the curve's ends.
    return f"M{_at(*_dot_edge(one, x, y))}Q{_at(x, y)} {_at(*_dot_edge(other, x, y))}"


def _edge(one: PlacedNode, other: PlacedNode) -> tuple[float, float]:
    """Return the point where a line to another node leaves the page in the middle."""
    dx, dy = other.x - one.x, other.y - one.y
    across = min((one.box.width / 2 + 4) / max(abs(dx), 1e-9), (one.box.height / 2 + 4) / max(abs(dy), 1e-9))
    return one.x + dx * across, one.y + dy * across


def _dot_edge(one: PlacedNode, x: float, y: float) -> tuple[float, float]:
    """Return the point on the border of a node's dot that faces another point."""
    dx, dy = x - one.x, y - one.y
    length = max((dx * dx + dy * dy) ** 0.5, 1e-9)
    return one.x + dx / length * (_DOT + 3), one.y + dy / length * (_DOT + 3)


# -- narrow ---------------------------------------------------------------------------------------------------------------

_NARROW_WIDE, _LANE, _STEP = 356.0, 78.0, 34.0


def _arc(one: PlacedNode, other: PlacedNode, far: bool) -> str:
    """Return an arc beside the column; links that do not involve the middle page stay closer to it."""
    apart = abs(one.y - other.y)
    out = min(_LANE - 16, (10 if far else 18) + apart * (0.11 if far else 0.16))
    start, end = (one.x - _DOT - 3, one.y), (other.x - _DOT - 3, other.y)
    return f"M{_at(*start)}C{_at(start[0] - out, start[1])} {_at(end[0] - out, end[1])} {_at(*end)}"


# -- both -----------------------------------------------------------------------------------------------------------------


def _lines(
    links: list[Link], nodes: list[PlacedNode], drawn: Callable[[PlacedNode, PlacedNode, bool], str]
) -> list[Line]:
    """Return a line per pair of linked pages, in either direction, and to similar pages without a link."""
    pairs: dict[tuple[int, int], set[int]] = {}
    for link in links:
        pairs.setdefault((min(link.source, link.target), max(link.source, link.target)), set()).add(link.source)
    lines = [
        Line(
            path=drawn(nodes[one], nodes[other], one != 0), kind="near" if one == 0 else "far",
            starts=other in sources, ends=one in sources,
        )
        for (one, other), sources in sorted(pairs.items())
    ]  # fmt: skip
    like = [
        Line(path=drawn(nodes[0], placed, False), kind="like", starts=False, ends=False)
        for place, placed in enumerate(nodes)
        if placed.node.role == "similar" and (0, place) not in pairs
    ]
    far = [line for line in lines if line.kind == "far"]
    return far[:MOST_FAR] + like + [line for line in lines if line.kind == "near"]


def _at(x: float, y: float) -> str:
    return f"{x:.1f} {y:.1f}"


class Neighbourhood(Struct, frozen=True, kw_only=True):
    """Pages and all links between them; the first is in the middle."""

    nodes: list[Node]
    links: list[Link]

    def wide(self) -> Drawing:
        """Draw the page in the middle, with its neighbours around it."""
        sides = {role: [place for place, node in enumerate(self.nodes) if node.role == role] for role in _ROLES}
        rows = max(len(sides["in"]), len(sides["out"]), 2)
        height = _CAPTION + _ROW * rows + 8
        middle = _CAPTION + 8 + _ROW * rows / 2
        placed: dict[int, PlacedNode] = {0: _middle(self.nodes[0], middle)}
        captions = []
        for role, text in _SIDES:
            left = role == "in"
            top = middle - _ROW * len(sides[role]) / 2
            for row, place in enumerate(sides[role]):
                placed[place] = _beside(self.nodes[place], left, top + _ROW * (row + 0.5))
            if sides[role]:
                captions.append((_SIDE if left else _WIDE - _SIDE, top - 4, "end" if left else "start", text))
        if sides["similar"]:
            below = height + 44
            column = _WIDE / len(sides["similar"])
            for number, place in enumerate(sides["similar"]):
                placed[place] = _below(self.nodes[place], column * (number + 0.5), below, min(column, 190.0) - 8)
            bottom = max(line[1] for place in sides["similar"] for line in placed[place].lines)
            captions.append((_WIDE / 2, bottom + 26, "middle", "Similar pages"))
            height = bottom + 34
        nodes = [placed[place] for place in range(len(self.nodes))]
        return Drawing(
            width=_WIDE, height=height, nodes=nodes, lines=_lines(self.links, nodes, _chord), captions=captions
        )

    def narrow(self) -> Drawing:
        """Draw all pages in a column, with arcs on its left."""
        order = (("Link here", "in"), ("This page", "here"), ("Linked from here", "out"), ("Similar pages", "similar"))
        placed: dict[int, PlacedNode] = {}
        captions = []
        y = 0.0
        for text, role in order:
            places = [place for place, node in enumerate(self.nodes) if node.role == role]
            if not places:
                continue
            y += 22
            captions.append((_LANE + 14, y - 4, "start", text))
            for place in places:
                node = self.nodes[place]
                box = Box(_LANE - 12, y + (_STEP - _TOUCH) / 2, _NARROW_WIDE - _LANE + 12, _TOUCH)
                lines = _lines_of(node.title, _NARROW_WIDE - _LANE - 20, 1)
                words = _LANE + 14, y + _STEP / 2 + 4.5, 0, lines
                placed[place] = _place(node, _LANE, y + _STEP / 2, box, words, "start")
                y += _STEP
        nodes = [placed[place] for place in range(len(self.nodes))]
        return Drawing(
            width=_NARROW_WIDE, height=y + 6, nodes=nodes, lines=_lines(self.links, nodes, _arc), captions=captions
        )
