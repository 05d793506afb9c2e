"""Find the region of a site's pages that holds their own text, for themes that mark it in a way of their own."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from statistics import fmean
from typing import Any, NamedTuple

from turbohtml import Element, Text

_PAGES = 40
"""Pages that are looked at; more would not change the answer, and each costs a walk through its elements."""
_LEAST_PAGES = 4
"""With fewer pages, too little shows which text they share."""
_SHARED = 0.25
"""A piece of text that stands on more than this share of the pages belongs to the theme: menus, notices, footers."""
_ON_MOST = 0.9
"""The share of the pages that must have the region."""
_LEAST_SCORE = 0.5
_UNREAD = ("script", "style", "template", "noscript", "svg")
_BOXES = ("div", "section", "article", "td")
_NAME = re.compile(r"[A-Za-z][\w-]*", re.ASCII)


class _Box(NamedTuple):
    """An element that may hold the content of a page."""

    selectors: list[str]
    depth: int
    first: int
    """The first of the page's pieces of text that stands in it."""
    end: int


class _Outline(NamedTuple):
    """The text of a page, and its boxes."""

    pieces: list[str]
    """The text between tags, in order."""
    boxes: list[_Box]


def find_own_region(trees: Sequence[Any]) -> str:
    """Return a selector of the element that holds most of what is particular to each page and little else, or '' if none does.

    The score of an element on a page is the share of the page's own text that it holds, times the share of its text that is
    the page's own. Of elements with the same score, the innermost is taken.
    """
    outlines = [_outline(body) for tree in trees[:: -(-len(trees) // _PAGES) or 1] for body in tree.select("body")[:1]]
    frequency = Counter(piece for outline in outlines for piece in set(outline.pieces))
    common = max(1.0, _SHARED * len(outlines))
    scores: dict[str, list[tuple[float, int]]] = defaultdict(list)
    judged = 0
    for outline in outlines:
        whole = [0, *accumulate(map(len, outline.pieces))]
        own = [0, *accumulate(len(piece) if frequency[piece] <= common else 0 for piece in outline.pieces)]
        if not own[-1]:
            continue
        judged += 1
        seen = Counter(selector for box in outline.boxes for selector in box.selectors)
        for selectors, depth, first, end in outline.boxes:
            inside = own[end] - own[first]
            score = inside / own[-1] * inside / max(whole[end] - whole[first], 1)
            for selector in selectors:
                if seen[selector] == 1:
                    scores[selector].append((score, depth))
    means = [
        (round(fmean(score for score, _depth in found), 3), fmean(depth for _score, depth in found), selector)
        for selector, found in scores.items()
        if len(found) >= max(_LEAST_PAGES, _ON_MOST * judged)
    ]
    score, _depth, selector = max(means, default=(0.0, 0.0, ""))
    return selector if score >= _LEAST_SCORE else ""


def _outline(body: Any) -> _Outline:
    """Return the text and the boxes of a page; without recursion, because pages may be nested deeply."""
    outline = _Outline([], [])
    open_elements: list[tuple[Any, Iterator[Any], int]] = [(body, iter(body.children), 0)]
    while open_elements:
        element, children, first = open_elements[-1]
        child = next(children, None)
        if child is None:
            open_elements.pop()
            if selectors := _selectors_of(element):
                outline.boxes.append(_Box(selectors, len(open_elements), first, len(outline.pieces)))
        elif isinstance(child, Element):
            if child.tag not in _UNREAD:
                open_elements.append((child, iter(child.children), len(outline.pieces)))
        elif isinstance(child, Text) and (piece := " ".join(str(child.data).split())):
            outline.pieces.append(piece)
    return outline


def _selectors_of(element: Any) -> list[str]:
    """Return simple selectors of a box: by each of its classes, and by its id."""
    if element.tag not in _BOXES:
        return []
    classes = element.attrs.get("class") or ()
    names = {f".{name}" for name in (classes.split() if isinstance(classes, str) else classes) if _NAME.fullmatch(name)}
    if _NAME.fullmatch(name := str(element.attrs.get("id") or "")):
        names.add(f"#{name}")
    return [element.tag + name for name in sorted(names)]
