"""The picture of a page among its neighbours: nothing overlaps, nothing leaves the picture, arrows say what links where."""

import re
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.web.pictures.neighbourhood import (
    MOST_FAR,
    SIZE,
    Drawing,
    Link,
    Neighbourhood,
    Node,
    PlacedNode,
    Role,
)
from pagekin.web.pictures.treemap import Box, text_width

ROLES: tuple[Role, ...] = ("in", "out", "similar")
TITLES = st.text(max_size=300) | st.sampled_from(
    ["Isaac Newton", "W" * 400, "語" * 90, "🌋" * 50, "ii ll", "", "a b " * 60, "é́́́" * 40]
)


@st.composite
def neighbourhoods(draw: st.DrawFn) -> Neighbourhood:
    nodes = [Node(url="http://a.example/", title=draw(TITLES), role="here")]
    for role in ROLES:
        for number in range(draw(st.integers(0, 6))):
            url = f"http://a.example/{role}{number}"
            nodes.append(Node(url=url, title=draw(TITLES), role=role, similarity=draw(st.floats(0, 1))))
    places = st.integers(0, len(nodes) - 1)
    pairs = draw(st.sets(st.tuples(places, places).filter(lambda pair: pair[0] != pair[1]), max_size=80))
    return Neighbourhood(nodes=nodes, links=[Link(*pair) for pair in sorted(pairs)])


def full() -> Neighbourhood:
    """As many as a page shows, with long names, all linked with all."""
    roles: list[Role] = ["here", *(role for role in ROLES for _ in range(5))]
    nodes = [
        Node(url=f"http://a.example/{number}", title="A rather long title of a page " * 3, role=role)
        for number, role in enumerate(roles)
    ]
    return Neighbourhood(nodes=nodes, links=[Link(a, b) for a, b in combinations(range(len(nodes)), 2)])


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes share more than a border."""
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def words_box(placed: PlacedNode, line: tuple[float, float, str]) -> Box:
    """Where a line of a node's words stands."""
    x, y, text = line
    width = SIZE * text_width(text)
    left = {"start": x, "middle": x - width / 2, "end": x - width}[placed.anchor]
    return Box(left, y - 10, width, 13)


def drawings(around: Neighbourhood) -> list[Drawing]:
    return [around.wide(), around.narrow()]


@given(neighbourhoods())
def test_nodes_neither_overlap_nor_leave_the_picture(around: Neighbourhood) -> None:
    for drawing in drawings(around):
        assert [placed.node for placed in drawing.nodes] == around.nodes
        for one, other in combinations(drawing.nodes, 2):
            assert not overlap(one.box, other.box), (one.node, other.node)
        for placed in drawing.nodes:
            box = placed.box
            assert box.x >= 0 and box.x + box.width <= drawing.width
            assert box.y >= 0 and box.y + box.height <= drawing.height
            assert box.height >= 24, "a finger can hit it"
            assert box.x <= placed.x <= box.x + box.width and box.y <= placed.y <= box.y + box.height
            for line in placed.lines:
                words = words_box(placed, line)
                assert words.x >= box.x - 0.01 and words.x + words.width <= box.x + box.width + 0.01


@given(neighbourhoods())
def test_captions_cover_no_words(around: Neighbourhood) -> None:
    for drawing in drawings(around):
        for x, y, anchor, text in drawing.captions:
            width = SIZE * text_width(text)
            left = {"start": x, "middle": x - width / 2, "end": x - width}[anchor]
            caption = Box(left, y - 9, width, 11)
            assert y <= drawing.height
            for placed in drawing.nodes:
                assert not any(overlap(caption, words_box(placed, line)) for line in placed.lines), text


@given(neighbourhoods())
def test_each_linked_pair_is_one_line_with_heads_where_links_lead(around: Neighbourhood) -> None:
    links = {(link.source, link.target) for link in around.links}
    pairs = {(min(pair), max(pair)) for pair in links}
    near = sorted(((b, a) in links, (a, b) in links) for a, b in pairs if a == 0)
    far = [((b, a) in links, (a, b) in links) for a, b in sorted(pairs) if a != 0]
    alike = [p for p, node in enumerate(around.nodes) if node.role == "similar" and (0, p) not in pairs]
    for drawing in drawings(around):
        lines = {kind: [line for line in drawing.lines if line.kind == kind] for kind in ("near", "far", "like")}
        assert sorted((line.starts, line.ends) for line in lines["near"]) == near
        assert [(line.starts, line.ends) for line in lines["far"]] == far[:MOST_FAR]
        assert len(lines["like"]) == len(alike)
        assert not any(line.starts or line.ends for line in lines["like"])


@given(neighbourhoods())
def test_the_same_is_drawn_alike(around: Neighbourhood) -> None:
    again = Neighbourhood(nodes=list(around.nodes), links=list(around.links))
    assert drawings(around) == drawings(again)


def points(path: str, steps: int = 60) -> list[tuple[float, float]]:
    """Places along a line: a straight one, or a curve of Bézier's."""
    numbers = [float(number) for number in re.findall(r"-?\d+\.\d+", path)]
    corners = list(zip(numbers[::2], numbers[1::2], strict=True))
    found = []
    for step in range(steps + 1):
        level, t = corners, step / steps
        while len(level) > 1:
            level = [(a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t) for a, b in pairwise(level)]
        found.append(level[0])
    return found


@pytest.mark.parametrize("form", ["wide", "narrow"])
def test_no_line_crosses_words_or_leaves_the_picture(form: str) -> None:
    around = full()
    for shown in (around, Neighbourhood(nodes=around.nodes, links=[])):
        drawing: Drawing = getattr(shown, form)()
        outside = [placed for placed in drawing.nodes if placed.node.role != "here"]
        boxes = [words_box(placed, line) for placed in outside for line in placed.lines]
        for line in drawing.lines:
            for x, y in points(line.path):
                assert 0 <= x <= drawing.width and 0 <= y <= drawing.height, line.path
                for box in boxes:
                    inside = box.x < x < box.x + box.width and box.y < y < box.y + box.height
                    assert not inside, (line, box)


def test_all_of_a_title_that_fits_is_shown() -> None:
    nodes = [
        Node(url="http://a.example/", title="History of the Netherlands", role="here"),
        Node(url="http://a.example/1", title="Isaac Newton", role="in"),
        Node(url="http://a.example/2", title="one two three four five six seven eight nine ten", role="out"),
    ]
    drawing = Neighbourhood(nodes=nodes, links=[]).wide()
    here, whole, cut = ([text for _x, _y, text in placed.lines] for placed in drawing.nodes)
    assert here == ["History of the", "Netherlands"]
    assert whole == ["Isaac Newton"]
    assert len(cut) == 1 and cut[0].startswith("one two three") and cut[0].endswith("…")


def test_what_a_page_has_to_do_with_the_one_in_the_middle_is_told() -> None:
    assert (
        Node(url="http://a.example/", title="Newton", role="in", similarity=0.234).about
        == "Newton: links here, 23 % alike"
    )
    assert Node(url="http://a.example/", title="Newton", role="out").about == "Newton: linked from here"
