"""Draw a sub-cluster: its central pages and results on a circle, and the links among them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from pagekin.web import addresses
from pagekin.web.collection_view import CollectionView

SIZE = 300
"""Width and height of the picture."""
_RADIUS, _RESULT, _OTHER = 130.0, 14.0, 7.0
_BEND = 0.35
"""How far from the middle, as a share, lines pass that join neighbours' opposites."""


class PictureDot(Struct, frozen=True, kw_only=True):
    """A page in the picture of a topic."""

    place: int
    """Its place among the results; 0 for a page that is none."""
    title: str
    address: str
    x: float
    y: float
    r: float


class Picture(Struct, frozen=True, kw_only=True):
    """A topic as dots and lines."""

    cluster: int
    name: str
    address: str
    size: int
    dots: list[PictureDot]
    links: list[tuple[int, int]]
    """Which dots are joined by a link, either way."""
    lines: list[str]
    """The same as paths."""


def join_pages(collection: CollectionView, urls: Sequence[str]) -> list[tuple[int, int]]:
    """Return which of some pages are linked, as pairs of places among them, the smaller first."""
    return sorted({(min(link), max(link)) for link in collection.links_among(urls)})


def order_circle(count: int, links: Sequence[tuple[int, int]]) -> list[int]:
    """Return positions on a circle that bring linked pages together, by the second eigenvector of the Laplacian."""
    if count < 3 or not links:
        return list(range(count))
    graph = np.full((count, count), 1e-3)
    for a, b in links:
        graph[a, b] = graph[b, a] = 1.0
    np.fill_diagonal(graph, 0.0)
    _values, vectors = np.linalg.eigh(np.diag(graph.sum(axis=0)) - graph)
    second: npt.NDArray[np.float64] = np.round(vectors[:, 1], 9)
    # An eigenvector is one up to its sign: the first page that is off the middle tells which is meant.
    if second[np.flatnonzero(second)[:1]].sum() < 0:
        second = -second
    return sorted(range(count), key=lambda place: (float(second[place]), place))


def draw_group(
    collection: CollectionView, results: Mapping[str, int], central: Iterable[str], most: int = 20, **topic: Any
) -> Picture:
    """Draw a `topic`; `results` maps addresses to ranks among the results, `central` are its central pages."""
    pages = list(dict.fromkeys([*results, *central]))[:most]
    links = join_pages(collection, pages)
    turns = {place: turn for turn, place in enumerate(order_circle(len(pages), links))}
    dots = []
    for place, link in enumerate(map(collection.link_to, pages)):
        angle = 2 * np.pi * turns[place] / len(pages) - np.pi / 2
        number = results.get(pages[place], 0)
        dots.append(
            PictureDot(
                place=number, title=link.title, address=addresses.page(link.url), r=_RESULT if number else _OTHER,
                x=round(SIZE / 2 + _RADIUS * float(np.cos(angle)), 1),
                y=round(SIZE / 2 + _RADIUS * float(np.sin(angle)), 1),
            )
        )  # fmt: skip
    return Picture(size=SIZE, dots=dots, links=links, lines=[_line(dots[a], dots[b]) for a, b in links], **topic)


def _line(a: PictureDot, b: PictureDot) -> str:
    """Return a line that bends towards the centre, so that it passes no dot."""
    x, y = (SIZE / 2 + (1 - _BEND) * ((p + q) / 2 - SIZE / 2) for p, q in ((a.x, b.x), (a.y, b.y)))
    return f"M{a.x} {a.y}Q{x:.1f} {y:.1f} {b.x} {b.y}"
