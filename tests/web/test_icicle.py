"""The picture of a tree of routers."""

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as some

from pagekin.web.pictures.icicle import bars
from pagekin.web.pictures.treemap import Box


class Branch(NamedTuple):
    """A node of a tree."""

    depth: int
    size: int


@some.composite
def trees(draw: some.DrawFn) -> list[Branch]:
    """A tree in its order: one root, and no node more than one deeper than the one before it."""
    found, depth = [Branch(0, draw(some.integers(0, 1000)))], 0
    for _ in range(draw(some.integers(0, 40))):
        depth = draw(some.integers(1, depth + 1))
        found.append(Branch(depth, draw(some.integers(0, 1000))))
    return found


def children_of(branches: list[Branch], place: int) -> list[int]:
    """The slow way: those one deeper, until someone is not deeper."""
    found = []
    for other in range(place + 1, len(branches)):
        if branches[other].depth <= branches[place].depth:
            break
        if branches[other].depth == branches[place].depth + 1:
            found.append(other)
    return found


@given(trees())
def test_children_fill_the_width_of_their_parent_in_order_and_by_their_sizes(branches: list[Branch]) -> None:
    drawn = bars(branches, 1000.0, 20.0)
    assert drawn[0] == Box(0.0, 0.0, 1000.0, 20.0)
    for place, bar in enumerate(drawn):
        assert bar.y == branches[place].depth * 21.0
        below = children_of(branches, place)
        if not below:
            continue
        total = sum(max(branches[child].size, 1) for child in below)
        at = bar.x
        for child in below:
            assert abs(drawn[child].x - at) < 0.5
            assert abs(drawn[child].width - bar.width * max(branches[child].size, 1) / total) < 0.5
            at += drawn[child].width
        assert abs(at - (bar.x + bar.width)) < 0.5
