"""Find the regions of a page: its content, what its site excludes from search, and blocks that Pagekin wrote.

Regions are spans of bytes. A page is parsed as if each byte were a character, so that spans hold in every encoding that has ASCII
at its places; markup is ASCII in all of these.
"""

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from turbohtml import SelectorSyntaxError, parse

Span = tuple[int, int]
BODY_MARK, IGNORE_MARK = "[data-pagefind-body]", "[data-pagefind-ignore]"
"""What sites mark for Pagefind: the content, and what is left out of searches."""
LARGEST_PARSED = 4 << 20
"""Bytes of a page up to which it is parsed for its regions: its tree takes many times its size. A larger one is read whole."""
_OPEN, _CLOSE = "<!--pagekin {}-->", b"<!--/pagekin-->"
_OPENING = re.compile(rb"<!--pagekin ([0-9a-f]{16})-->")
_ANY_MARK = re.compile(rb"<!--/?pagekin\b")
_BOM = b"\xef\xbb\xbf"
_HEAD = "head > title, head > meta, head > link, head > base"


# -- places that Pagekin wrote ------------------------------------------------------------------------------------------


def mark_place(content: bytes) -> bytes:
    """Return content as a marked block of a page, with a digest, so that no other text is taken for ours."""
    return _OPEN.format(_digest(content)).encode() + content + _CLOSE


def marked_places(html: bytes) -> list[Span]:
    """Return the marked blocks of a page that are unchanged since Pagekin wrote them; one pass over the page."""
    places, at = [], 0
    while (close := html.find(_CLOSE, at)) >= 0:
        opening = _OPENING.match(html, max(html.rfind(b"<!--pagekin ", at, close), 0))
        at = close + len(_CLOSE)
        if opening and opening.end() <= close and opening[1].decode() == _digest(html[opening.end() : close]):
            places.append((opening.start(), at))
    return places


def remove_marked(html: bytes) -> bytes:
    """Return a page without its marked blocks."""
    return without(html, marked_places(html))


def has_foreign_mark(html: bytes) -> bool:
    """Return whether a page has something like a mark of ours that we did not write."""
    return bool(_ANY_MARK.search(remove_marked(html)))


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()


# -- content ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Regions:
    """The regions of a page."""

    content: tuple[Span, ...]
    """What the first selector that finds something finds, without the tags themselves; none if no selector does."""
    ignored: tuple[Span, ...]
    """What the site leaves out of searches, with its tags."""
    head: tuple[Span, ...]
    """What tells about the page: its title, address, description and language."""
    body_end: int
    """Where the end tag of the body stands; -1 if there is none."""
    frames: bool
    """Whether frames take the place of a body."""


def check_selector(selector: str) -> None:
    """Raise a ValueError if a text is not a CSS selector."""
    try:
        parse("").select(selector)
    except SelectorSyntaxError as error:
        raise ValueError(f"'{selector}' is not a CSS selector ({error}), such as main or div.body") from None


def find_regions(html: bytes, selectors: Iterable[str]) -> Regions:
    """Return the regions of a page; its content is the first match of the first of `selectors` that has one."""
    skipped = len(_BOM) if html.startswith(_BOM) else 0
    text = html[skipped:].decode("latin-1")
    place = _Places(text, skipped)
    tree = parse(text, source_locations=True, allow_declarative_shadow_roots=False)
    bodies = tree.select("body")
    body_end = place.end(bodies[0]) if bodies else -1
    last = body_end if body_end >= 0 else len(html)
    content: list[Span] = []
    for selector in selectors:
        content = [inner for node in tree.select(selector) if (inner := place.inside(node, last))]
        if content:
            break
    ignored = [outer for node in tree.select(IGNORE_MARK) if (outer := place.outside(node, last))]
    head = [outer for node in tree.select(_HEAD) if (outer := place.outside(node, -1))]
    head += [tag for node in tree.select("html") if (tag := place.start(node))]
    return Regions(_union(content), _union(ignored), _union(head), body_end, bool(tree.select("frameset")))


def keep_content(html: bytes, selectors: Sequence[str] = ()) -> bytes:
    """Return a page with only its head and content, without ignored regions.

    Without selectors, or where none finds anything, the content is what the site marked as such, or all. Places that Pagekin
    wrote are always left out.
    """
    html = remove_marked(html)
    if len(html) > LARGEST_PARSED or not (selectors or b"data-pagefind-" in html):
        return html
    regions = find_regions(html, selectors or (BODY_MARK,))
    if not regions.content:
        return without(html, regions.ignored)
    pieces = [_cut(html, span, regions.ignored) for span in regions.content]
    return b"".join([*(html[start:end] for start, end in regions.head), b"<body>", *pieces])


def without(html: bytes, spans: Iterable[Span]) -> bytes:
    """Return a page without some spans, which are sorted and do not overlap."""
    return _cut(html, (0, len(html)), spans)


def _cut(html: bytes, span: Span, holes: Iterable[Span]) -> bytes:
    """Return a span of a page without some holes, which are sorted and do not overlap."""
    pieces, (at, end) = [], span
    for low, high in holes:
        if high <= at or low >= end:
            continue
        pieces.append(html[at : max(at, low)])
        at = max(at, high)
    return b"".join([*pieces, html[at:end]])


def _union(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in order, overlapping ones joined."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return tuple(joined)


class _Places:
    """Finds where the elements of a tree stand in the bytes of their page."""

    def __init__(self, text: str, skipped: int) -> None:
        """Take the parsed text, and the number of bytes before it in the page."""
        # The parser counts \r\n as one character.
        self._pairs = [match.start() - number for number, match in enumerate(re.finditer("\r\n", text))]
        self._skipped = skipped

    def _byte(self, offset: int) -> int:
        return offset + bisect_left(self._pairs, offset) + self._skipped

    def start(self, node: Any) -> Span | None:
        """Return the position of an element's start tag; None if the parser added the element."""
        where = node.source_location
        return (
            None
            if where is None
            else (self._byte(where.start_tag.start_offset), self._byte(where.start_tag.end_offset))
        )

    def end(self, node: Any) -> int:
        """Return the position of an element's end tag; -1 if there is none."""
        where = node.source_location
        return -1 if where is None or where.end_tag is None else self._byte(where.end_tag.start_offset)

    def inside(self, node: Any, last: int) -> Span | None:
        """Return the span between an element's tags, up to `last` if it is never closed."""
        start, end = self.start(node), self.end(node)
        return (start[1], end if end >= 0 else max(last, start[1])) if start else None

    def outside(self, node: Any, last: int) -> Span | None:
        """Return the span of an element with its tags; if it is never closed, up to `last`, or only the start tag."""
        start, where = self.start(node), node.source_location
        if start is None:
            return None
        if where.end_tag is not None:
            return start[0], self._byte(where.end_tag.end_offset)
        return start[0], start[1] if last < 0 or node.tag in _VOID else max(last, start[1])


_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
