"""Maps of clusters: areas are true, nothing overlaps, the box is filled, and text stays on its tile."""

import math
import re
from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pagekin.web import addresses
from pagekin.web.pages.tree import ClusterMap
from pagekin.web.pictures.treemap import Box, MapLink, cut_text, squarify, text_width, tiles, wrap_text
from pagekin.web.rendering import templates

SIZES = st.lists(st.integers(0, 5_000) | st.floats(0.01, 1e6), max_size=40)
SIDES = st.floats(10, 2_000)
NAMES = st.text(max_size=60) | st.sampled_from(["w" * 10_000, "🌋 " * 40, "\u202eabc", "<script>", "a, b, c", ""])


def part_of(name: str, pages: int, group: int = -1, titles: tuple[str, ...] = ()) -> MapLink:
    """A cluster to be drawn."""
    return MapLink(tree="", node=0, name=name, pages=pages, group=group, titles=titles)


def oracle(sizes: list[float], box: Box) -> list[Box]:
    """The paper's recursion, word for word, for sizes that fall and fill the box."""

    def worst(row: list[float], side: float) -> float:
        total = sum(row)
        return max(max(side**2 * one / total**2, total**2 / (side**2 * one)) for one in row)

    if not sizes:
        return []
    side, count = min(box.width, box.height), 1
    while count < len(sizes) and worst(sizes[: count + 1], side) <= worst(sizes[:count], side) * (1 + 1e-12):
        count += 1
    row, at, made = sizes[:count], 0.0, []
    depth = sum(row) / side
    for one in row:
        long = one / depth
        made.append(
            Box(box.x, box.y + at, depth, long) if box.width >= box.height else Box(box.x + at, box.y, long, depth)
        )
        at += long
    rest = (
        Box(box.x + depth, box.y, box.width - depth, box.height)
        if box.width >= box.height
        else Box(box.x, box.y + depth, box.width, box.height - depth)
    )
    return made + oracle(sizes[count:], rest)


@given(SIZES, SIDES, SIDES)
def test_areas_are_proportional_and_the_box_is_filled_without_overlaps(
    sizes: list[float], width: float, height: float
) -> None:
    whole = Box(3.0, 5.0, width, height)
    boxes = squarify(sizes, whole)
    assert len(boxes) == len(sizes)
    total = sum(sizes)
    drawn = [box for box, size in zip(boxes, sizes, strict=True) if size]
    for box, size in zip(boxes, sizes, strict=True):
        expected = size / total * width * height if total else 0.0
        assert math.isclose(box.width * box.height, expected, rel_tol=1e-6, abs_tol=1e-9)
    for box in drawn:
        assert box.x >= whole.x - 1e-6 and box.y >= whole.y - 1e-6
        assert box.x + box.width <= whole.x + width + 1e-6
        assert box.y + box.height <= whole.y + height + 1e-6
    for one, other in combinations(drawn, 2):
        across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
        down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
        assert min(across, down) < 1e-6


@given(st.lists(st.integers(1, 500), min_size=1, max_size=20), SIDES, SIDES)
def test_tiles_lie_where_the_papers_algorithm_puts_them(sizes: list[int], width: float, height: float) -> None:
    falling = sorted(map(float, sizes), reverse=True)
    scale = width * height / sum(falling)
    whole = Box(0.0, 0.0, width, height)
    worst = [max(box.width / box.height, box.height / box.width) for box in squarify(falling, whole)]
    expected = [max(b.width / b.height, b.height / b.width) for b in oracle([one * scale for one in falling], whole)]
    # Where two ways are equally good, rounding decides; the shapes are what counts.
    assert max(worst) <= max(expected) * 1.0001 or sum(worst) <= sum(expected) * 1.0001


def test_the_example_of_the_paper() -> None:
    boxes = squarify([6, 6, 4, 3, 2, 2, 1], Box(0, 0, 6, 4))
    expected = [
        (0, 0, 3, 2), (0, 2, 3, 2), (3, 0, 12 / 7, 7 / 3), (3 + 12 / 7, 0, 9 / 7, 7 / 3), (3, 7 / 3, 6 / 5, 5 / 3),
        (4.2, 7 / 3, 6 / 5, 5 / 3), (5.4, 7 / 3, 3 / 5, 5 / 3),
    ]  # fmt: skip
    for box, (x, y, width, height) in zip(boxes, expected, strict=True):
        assert all(
            math.isclose(a, b, abs_tol=1e-9)
            for a, b in zip((box.x, box.y, box.width, box.height), (x, y, width, height), strict=True)
        )


@given(st.lists(st.tuples(NAMES, st.integers(0, 3_000), st.integers(-1, 4)), max_size=30))
def test_text_stays_on_its_tile_and_groups_are_rectangles(given_parts: list[tuple[str, int, int]]) -> None:
    parts = tuple(part_of(name, pages, group, (name, "Some title")) for name, pages, group in given_parts)
    made = tiles(parts, 360, 500)
    assert sorted(tile.number for tile in made) == [place for place, part in enumerate(parts) if part.pages]
    for tile in made:
        box, part = tile.box, parts[tile.number]
        for line in tile.lines:
            assert text_width(line.text) * tile.size <= box.width
            assert box.y < line.y <= box.y + box.height
        for line in tile.small:
            assert text_width(line.text) * 12.5 <= box.width
            assert box.y < line.y <= box.y + box.height
        told = " ".join(line.text for line in tile.lines)
        if not told.endswith("…"):
            assert not told or told.split() == part.name.split()
        # What stands on a tile says something: a whole word, or a good part of a long one.
        if told:
            first = told.removesuffix("…").split()[0]
            assert first.rstrip(",;:") == part.name.split()[0].rstrip(",;:") or text_width(first) >= 4.5
        ring = tile.ring
        assert ring.width >= 0 and ring.height >= 0
        assert box.x <= ring.x <= ring.x + ring.width <= box.x + box.width + 0.1
        assert box.y <= ring.y <= ring.y + ring.height <= box.y + box.height + 0.1
    for group in {part.group for part in parts if part.group >= 0 and part.pages}:
        inside = [tile.box for tile in made if parts[tile.number].group == group]
        assert len({tile.colour for tile in made if parts[tile.number].group == group}) == 1
        width = max(box.x + box.width for box in inside) - min(box.x for box in inside)
        height = max(box.y + box.height for box in inside) - min(box.y for box in inside)
        pages = sum(part.pages for part in parts if part.group == group)
        share = pages / sum(part.pages for part in parts) * 360 * 500
        assert math.isclose(width * height, share, rel_tol=0.02, abs_tol=60)


@given(NAMES, st.floats(0, 60), st.integers(0, 5))
def test_wrapped_text_is_a_beginning_that_fits(text: str, width: float, most: int) -> None:
    lines = wrap_text(text, width, most)
    assert len(lines) <= most
    assert all(line and text_width(line) <= width for line in lines)
    told = "".join("".join(lines).split())
    whole = "".join(text[:400].split())
    assert whole.startswith(told.removesuffix("…"))
    assert told.endswith("…") or told == whole or not lines or text.endswith("…") or len(text) > 400 or most == 0


def test_a_tile_too_small_for_a_word_has_no_text() -> None:
    names = ("nepenthes, pitcher", "oak, beech", "語語語語語語語語", "misunderstandings")
    assert [_lines(name, 56, 60) for name in names] == [[], ["oak,", "beech"], [], []]
    assert _lines("nepenthes, pitcher", 100, 30) == ["nepenthes…"]
    assert _lines("misunderstandings", 80, 30) == ["misunde…"]
    assert _lines("語語語語語語語語", 90, 30) == ["語語語語語…"]


def _lines(name: str, width: float, height: float) -> list[str]:
    (tile,) = tiles((part_of(name, 1),), width, height)
    return [line.text for line in tile.lines]


def test_a_name_is_never_cut_without_a_sign() -> None:
    assert cut_text("mountains and rivers", 8).endswith("…")
    assert cut_text("mountains", 1.0) == ""
    assert wrap_text("oak, beech, ash, elm", 7, 1) == ["oak, beech…"]
    assert wrap_text("oak, beech", 100, 3) == ["oak, beech"]


def test_a_name_is_told_with_its_pages_and_titles_where_there_is_room() -> None:
    (tile,) = tiles((part_of("birds of prey", 1234, -1, ("Osprey", "Kite")),), 600, 400)
    assert [line.text for line in tile.lines] == ["birds of prey"]
    assert [line.text for line in tile.small] == ["1,234 pages", "Osprey", "Kite"]
    (alone, tiny) = tiles((part_of("birds", 9_999), part_of("owls", 1)), 300, 60)
    assert alone.lines and not tiny.lines and not tiny.small


@given(
    st.lists(st.integers(1, 3_000), min_size=2, max_size=40), st.sampled_from(["a, b", "incomprehensibilities", "x"])
)
def test_no_tile_is_blank_and_what_has_no_name_on_it_has_one_below(sizes: list[int], name: str) -> None:
    links = [
        MapLink(tree="clusters", node=node, name=f"{name} {node}", pages=size) for node, size in enumerate(sizes, 1)
    ]
    drawn = ClusterMap.of_links(links, 40)
    for picture in (drawn.wide, drawn.tall):
        shown = {tile.number for tile in picture.tiles}
        assert sorted([*shown, *picture.left_out]) == list(range(len(sizes)))
        assert {tile.number for tile in picture.tiles if not tile.lines} == set(picture.numbered)
        assert picture.unnamed == [*picture.numbered, *picture.left_out]
        for tile in picture.tiles:
            assert tile.lines or min(tile.box.width, tile.box.height) >= 18, "there is room for a number"
        left = [drawn.clusters[place].pages for place in picture.left_out]
        assert not left or max(left) <= min(drawn.clusters[place].pages for place in shown), "the smallest are left out"


def test_a_number_on_a_tile_is_that_of_the_name_below() -> None:
    links = [
        MapLink(tree="clusters", node=n, name=f"topic{n}", pages=p) for n, p in enumerate([2_000, 900, 9, 4, 1], 1)
    ]
    drawn = ClusterMap.of_links(links).tall
    assert drawn.numbered or drawn.left_out
    macros: Any = templates().get_template("treemap.html").module
    html = str(macros.drawn(drawn, ClusterMap.of_links(links).clusters, "Map", False, addresses))
    below = re.findall(r'<li>(?:<span class="n" aria-hidden="true">(\d+)</span> )?<a href="/tree/clusters/(\d+)"', html)
    on_map = re.findall(r'<a href="/tree/clusters/(\d+)"[^\n]*\n?[^\n]*?<text class="n"[^>]*>(\d+)<', html)
    assert {node: number for number, node in below if number} == dict(on_map)
    assert len(below) == len(drawn.unnamed)
