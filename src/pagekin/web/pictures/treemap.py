"""Draw maps of clusters: a box divided into nearly square tiles, with areas in proportion to pages.

After Bruls, Huizing and van Wijk, "Squarified Treemaps" (2000): tiles are laid in rows along the shorter side of what is left,
and a row ends where one more tile would make its worst one longer.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from pagekin.web.collection_view import ClusterLink

COLOURS = 8
"""Classes f1 to f8 of the stylesheet."""
_PADDING = 7.0
_LINE = 1.2
"""The height of a line, for each unit of its letters' size."""
_SIZES = (22.0, 18.0, 15.0, 13.0, 11.5)
"""Sizes of letters, the largest that fits is taken."""
_SMALL, _MOST_TITLES = 12.5, 5
"""Of the lines below a name; the stylesheet has the same size."""
_TELLING = 4.5
"""How much of a word says something though the rest of it is missing, as a width: seven letters, or four ideographs."""
_INSET = 4.0
_LONGEST = 400
"""Letters of a name that are looked at."""
_NARROW, _BROAD = frozenset("iljtfrI.,:;!|'`()[]{}- "), frozenset("mwMW@%&—…")


class Box(NamedTuple):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float


class Line(NamedTuple):
    """A line of text on a tile."""

    text: str
    y: float


@dataclass(frozen=True)
class Tile:
    """A cluster on the map."""

    number: int
    """Its place in what was given."""
    box: Box
    colour: int
    size: float
    """Of its letters."""
    lines: tuple[Line, ...]
    """As much of its name as there is room for; nothing if that would say nothing."""
    small: tuple[Line, ...]
    """How many pages it has, and titles of some, where there is room."""

    @property
    def ring(self) -> Box:
        """Return the outline for keyboard focus, inside the tile, where no neighbour hides it."""
        inset = min(_INSET, self.box.width / 2, self.box.height / 2)
        x, y, width, height = self.box
        return _round_box(Box(x + inset, y + inset, width - 2 * inset, height - 2 * inset))


class MapLink(ClusterLink, frozen=True, kw_only=True):
    """A cluster on a map."""

    group: int = -1
    """Clusters of the same group belong together, lie together and have one colour; -1: it stands alone."""
    titles: tuple[str, ...] = ()
    """Of pages in the middle of it."""


def _round_box(box: Box) -> Box:
    return Box(*(round(value, 1) for value in box))


def squarify(sizes: Sequence[float], box: Box) -> list[Box]:
    """Divide a box into boxes of areas in proportion to the sizes; sizes of 0 get nothing."""
    boxes = [Box(box.x, box.y, 0.0, 0.0)] * len(sizes)
    order = sorted((place for place, size in enumerate(sizes) if size > 0), key=lambda place: -sizes[place])
    left = box
    while order:
        # Areas are scaled anew for what is left, so that rounding does not add up.
        scale = left.width * left.height / sum(sizes[place] for place in order)
        row = _row([sizes[place] * scale for place in order], min(left.width, left.height))
        places, order = order[: len(row)], order[len(row) :]
        share = 1.0 if not order else sum(row) / (left.width * left.height)
        boxes_of_row, left = _lay_row(row, left, share)
        for place, one in zip(places, boxes_of_row, strict=True):
            boxes[place] = one
    return boxes


def _row(areas: Sequence[float], side: float) -> list[float]:
    """Return the first areas, as many as look best in one row along a side."""
    row: list[float] = []
    for area in areas:
        if row and _worst([*row, area], side) > _worst(row, side):
            break
        row.append(area)
    return row


def _worst(row: Sequence[float], side: float) -> float:
    """Return the greatest ratio of length to width in a row of tiles."""
    depth = sum(row) / max(side, 1e-9)
    return max(max(depth * depth / area, area / (depth * depth)) for area in row)


def _lay_row(row: Sequence[float], box: Box, share: float) -> tuple[list[Box], Box]:
    """Return (the tiles of a row along the shorter side of a box, the rest of the box)."""
    flat = box.width >= box.height
    side, depth = (box.height, box.width * share) if flat else (box.width, box.height * share)
    total, at = sum(row), 0.0
    boxes_of_row = []
    for area in row:
        start, length = at * side / total, area * side / total
        boxes_of_row.append(
            Box(box.x, box.y + start, depth, length) if flat else Box(box.x + start, box.y, length, depth)
        )
        at += area
    if flat:
        return boxes_of_row, Box(box.x + depth, box.y, box.width - depth, box.height)
    return boxes_of_row, Box(box.x, box.y + depth, box.width, box.height - depth)


@lru_cache(maxsize=512)
def tiles(parts: tuple[MapLink, ...], width: float, height: float) -> tuple[Tile, ...]:
    """Return the map of some clusters; groups are boxes that are divided again."""
    groups: dict[int, list[int]] = {}
    for place, part in enumerate(parts):
        if part.pages > 0:
            groups.setdefault(part.group if part.group >= 0 else -1 - place, []).append(place)
    whole = Box(0.0, 0.0, width, height)
    boxes = squarify([sum(parts[place].pages for place in group) for group in groups.values()], whole)
    drawn = []
    for colour, (group, box) in enumerate(zip(groups.values(), boxes, strict=True)):
        inside = squarify([parts[place].pages for place in group], box)
        drawn += [
            _tile(place, parts[place], one, colour % COLOURS + 1) for place, one in zip(group, inside, strict=True)
        ]
    return tuple(sorted(drawn, key=lambda tile: tile.number))


def _tile(number: int, part: MapLink, box: Box, colour: int) -> Tile:
    """Return a tile with its name in the largest letters that fit, or with as much as fits."""
    wide, high = box.width - 2 * _PADDING, box.height - 2 * _PADDING
    for size in _SIZES:
        most = int(high // (size * _LINE))
        lines = wrap_text(part.name, wide / size, most)
        if " ".join(lines).split() == part.name.split():
            break
    lines = lines if _says_enough(part.name, lines) else []
    y = box.y + _PADDING + size * 0.85
    name_lines = tuple(Line(text, round(y + place * size * _LINE, 1)) for place, text in enumerate(lines))
    below = y + (len(lines) - 1) * size * _LINE + 1.5 * _SMALL
    room = int((box.y + box.height - _PADDING - below) // (_SMALL * _LINE)) + 1 if lines else 0
    return Tile(number, _round_box(box), colour, size, name_lines, tuple(_small(part, wide / _SMALL, room, below)))


def _says_enough(name: str, lines: Sequence[str]) -> bool:
    """Return whether some lines hold the first word of a name, or enough of it."""
    first = " ".join(lines).removesuffix("…").split()[:1]
    return bool(first) and (name.split()[0].rstrip(",;:") == first[0].rstrip(",;:") or text_width(first[0]) >= _TELLING)


def _small(part: MapLink, width: float, room: int, y: float) -> Iterator[Line]:
    """Yield the lines below a name."""
    count = f"{part.pages:,} {'page' if part.pages == 1 else 'pages'}"
    if text_width(count) > width:
        return
    titles = [
        cut_text(title, width) if text_width(title[:_LONGEST]) > width else title
        for title in part.titles[:_MOST_TITLES]
    ]
    for place, text in enumerate([count, *filter(None, titles)][:room]):
        yield Line(text, round(y + place * _SMALL * _LINE, 1))


# -- text ---------------------------------------------------------------------------------------------------------------


def text_width(text: str) -> float:
    """Return the approximate width of a text in units of its font size, rather too wide than too narrow."""
    return sum(map(_width, text))


@lru_cache(maxsize=4096)
def _width(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF" or ord(character) > 0xFFFF:
        return 1.25 if ord(character) > 0xFFFF else 1.1
    letter = unicodedata.normalize("NFD", character)[0]
    if letter in _NARROW:
        return 0.4
    if letter in _BROAD or not letter.isascii():
        return 1.0
    return 0.75 if letter.isupper() else 0.63


def wrap_text(text: str, width: float, most: int) -> list[str]:
    """Break a text into at most this many lines of at most `width`, cut if needed; return none if nothing fits."""
    lines: list[str] = []
    words = (text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…").split()
    while words and len(lines) < most:
        line = words.pop(0)
        while words and text_width(f"{line} {words[0]}") <= width:
            line += f" {words.pop(0)}"
        if text_width(line) <= width and (not words or len(lines) < most - 1):
            lines.append(line)
            continue
        # A part of a word says little: then the line before tells that there is more.
        line = cut_text(line, width) or (cut_text(f"{lines.pop()}…", width) if lines else "")
        return [*lines, line] if line else []
    return lines


def cut_text(text: str, width: float) -> str:
    """Return the start of a text that fits with an ellipsis; '' if fewer than three letters would be left."""
    used, kept = text_width("…"), ""
    for character in text.rstrip(" …"):
        used += _width(character)
        if used > width:
            break
        kept += character
    kept = kept.rstrip(" ,;:")
    return f"{kept}…" if len(kept) >= 3 else ""
