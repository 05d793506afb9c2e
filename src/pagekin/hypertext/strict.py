"""The strict reader: walks the tree that the WHATWG algorithm builds, in plain Python.

It is slow and obvious, and shares no code with the fast lexer beyond the definitions in `model`, so that each can
vouch for the other.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from turbohtml import Comment, Element, Namespace, ProcessingInstruction, parse, parse_fragment

from pagekin.hypertext import batch as slots
from pagekin.hypertext.batch import ATTRIBUTE_EVENT, LexedBatch
from pagekin.hypertext.model import (
    BREAKING,
    CELLS,
    HEADINGS,
    HIDDEN,
    ITEMS,
    KEYWORD_TAGS,
    LISTS,
    PARAGRAPHS,
    SEQUENCE_WORDS,
    Anchor,
    AnchorKind,
    Attribute,
    Boundary,
    CharClass,
    PageFlag,
    ReadPage,
    char_class,
    fold_case,
)
from pagekin.sources import Limits
from pagekin.store import RaggedBytes, pack_strings

_REFRESH = re.compile(r"""^\s*[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?(?:'([^']*)'?|"([^"]*)"?|(.*))""", re.I | re.S)
_NOFRAMES = re.compile(r"<noframes(?=[\s/>])", re.I)
_PLAIN = Attribute.TEXT
_AROUND = dict.fromkeys(PARAGRAPHS, Boundary.PARAGRAPH) | dict.fromkeys(ITEMS, Boundary.ITEM)
_AROUND |= dict.fromkeys(CELLS, Boundary.CELL)
_BORDER_BEFORE = {**_AROUND, **dict.fromkeys(HEADINGS, Boundary.HEADING), "br": Boundary.BREAK}
_BORDER_AFTER = {
    **dict.fromkeys(HEADINGS, Boundary.PARAGRAPH), **_AROUND, "table": Boundary.TABLE_END,
    **dict.fromkeys(LISTS, Boundary.LIST_END),
}  # fmt: skip
"""The borders that elements make where they begin and where they end; those that come later count."""
_AHEAD = 128  # bytes that kernels may read beyond the last link address


def read_strictly(html: str, limits: Limits) -> ReadPage:
    """Read `html` as a page, by the WHATWG tree-construction rules."""
    reader = _StrictReader(limits)
    reader.walk(parse(html, positions=True, allow_declarative_shadow_roots=False).children)
    return reader.finish()


class _StrictReader:
    """The state of one walk: the stream so far, and the unfinished word."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.page = ReadPage()
        self._word: list[str] = []
        self._word_at = 0
        self._word_attributes = 0
        self._pair = ""
        self._pair_at = 0
        self._pair_attributes = 0
        self._pairs = 0
        self._after_stop = False
        self._text: list[str] = []
        self._text_bytes = 0
        self._space = False
        self._between_words = False
        self._line = False
        self._anchors: dict[tuple[int, int, int], int] = {}
        self._fragment = 0
        self._in_crumbs = False
        self._crumbs_position: tuple[object, ...] = ()
        self._title_done = False
        self._title_text: list[str] | None = None
        self._body_seen = False

    # -- the tree ---------------------------------------------------------------------------------------------------

    def walk(self, nodes: Sequence[Any], attributes: int = int(_PLAIN)) -> None:
        """Visit all of `nodes` and below in document order, without recursion: pages may nest 100,000 deep."""
        context = (attributes, False)
        pending = [(node, context, False) for node in reversed(nodes)]
        while pending:
            node, context, leaving = pending.pop()
            if leaving:
                self._leave(node)
            elif isinstance(node, Element):
                inner = self._enter(node, context)
                if inner is not None:
                    pending.append((node, context, True))
                    pending.extend((n, inner, False) for n in reversed(node.children))
            elif isinstance(node, Comment | ProcessingInstruction):
                continue
            elif (data := getattr(node, "data", None)) is not None and node.parent is not None:
                self._feed(data, context[0])

    def _enter(self, node: Element, context: tuple[int, bool]) -> tuple[int, bool] | None:
        """Handle a start tag; return the context inside, or None if the content is not text."""
        attributes, in_svg = context
        in_text = bool(attributes & Attribute.TEXT)  # a drawing's title may hold markup, but its words are ALT alone
        tag = node.tag.lower()
        foreign = node.namespace is not Namespace.HTML
        if tag == "a":
            self._break_at_link()
        elif tag in BREAKING:
            self._break()
        if tag in HIDDEN and tag != "iframe":
            return None
        if not foreign:
            self._note_head(node, tag)
        if tag == "noframes" and not foreign:
            self._reread(node, attributes)
            return None
        if tag in _BORDER_BEFORE:
            self._border(_BORDER_BEFORE[tag])
        if tag in HEADINGS:
            attributes |= Attribute.HEADER * in_text
        elif tag in KEYWORD_TAGS:
            attributes |= Attribute.KEYWORD * in_text
        elif tag == "address":
            attributes |= Attribute.ADDRESS * in_text
        elif tag == "title":
            attributes = int(Attribute.ALT if foreign or in_svg else Attribute.TITLE)
            if attributes == Attribute.TITLE:
                self._line = True
                if not self._title_done:
                    self._title_text = []
                    self.page.title_start = self._text_bytes
        if _is_crumbs(node) and not self._in_crumbs:
            self._in_crumbs = True
            self._break()
            self._border(Boundary.CRUMBS_START)
            self._crumbs_position = (node.source_line, node.source_col, tag)
        self._links(node, tag)
        if tag == "iframe":
            return None
        return attributes, in_svg or tag == "svg"

    def _leave(self, node: Element) -> None:
        """Handle the end of an element."""
        tag = node.tag.lower()
        if tag == "a":
            self._break_at_link()
            key = self._key(node)
            if key in self._anchors:
                anchor = self.page.anchors[self._anchors[key]]
                anchor.end = max(anchor.end, len(self.page.words))
        elif tag in BREAKING:
            self._break()
        if tag in _BORDER_AFTER:
            self._border(_BORDER_AFTER[tag])
        elif tag == "title" and node.namespace is Namespace.HTML:
            self._line = True
            self._end_title()
        if self._in_crumbs and self._crumbs_position == (node.source_line, node.source_col, tag):
            self._in_crumbs = False
            self._break()
            self._border(Boundary.CRUMBS_END)

    def _reread(self, node: Element, attributes: int) -> None:
        """Read noframes content as markup: browsers that know frames parse it as raw text."""
        raw = "".join(getattr(child, "data", "") or "" for child in node.children)
        # One inside another would be read again at each level: <object> does to words what <noframes> does.
        raw = _NOFRAMES.sub("<object", raw)
        self._fragment += 1
        self.walk(parse_fragment(raw).children, attributes)
        self._flush()

    # -- what tags say ----------------------------------------------------------------------------------------------

    def _note_head(self, node: Element, tag: str) -> None:
        attrs, page = node.attrs, self.page
        if tag == "html":
            page.language = _text(attrs.get("lang")) or _text(attrs.get("xml:lang"))
        elif tag == "base" and page.base is None and "href" in attrs:
            page.base = self._address(_text(attrs["href"]))
        elif tag == "link" and page.canonical is None:
            if "canonical" in _text(attrs.get("rel")).lower().split() and attrs.get("href"):
                page.canonical = self._address(_text(attrs["href"]))
        elif tag == "meta":
            name = _text(attrs.get("name")).strip().lower()
            content = _text(attrs.get("content"))
            if name == "keywords":
                self._break()
                self._feed(content, Attribute.KEYWORD)
                self._break()
            elif name == "robots":
                words = content.lower()
                if "noindex" in words or "none" in words:
                    page.flags |= PageFlag.NOINDEX
                if "nofollow" in words or "none" in words:
                    page.flags |= PageFlag.NOFOLLOW
            elif _text(attrs.get("http-equiv")).strip().lower() == "refresh":
                match = _REFRESH.match(content)
                address = next((g for g in match.groups() if g is not None), "") if match else ""
                if address.strip() and not address.strip().isdigit():
                    self._anchor(address, AnchorKind.REFRESH)

    def _links(self, node: Element, tag: str) -> None:
        if node.namespace is not Namespace.HTML and tag != "a":
            return
        attrs = node.attrs
        if tag in ("a", "area") and "href" in attrs:
            rel = _text(attrs.get("rel")).lower().split()
            href = _text(attrs["href"])
            if tag == "area":
                index = self._anchor(href, AnchorKind.AREA, rel)
                self._alt(attrs.get("alt"))
                if index >= 0:
                    self.page.anchors[index].end = len(self.page.words)
                return
            key = self._key(node)
            if key not in self._anchors:
                index = self._anchor(href, AnchorKind.A, rel)
                if index >= 0:
                    self._anchors[key] = index
            else:
                anchor = self.page.anchors[self._anchors[key]]
                anchor.start = min(anchor.start, len(self.page.words))
        elif tag in ("frame", "iframe") and "src" in attrs:
            self._anchor(_text(attrs["src"]), AnchorKind.FRAME if tag == "frame" else AnchorKind.IFRAME)
        elif tag in ("img", "area") or (tag == "input" and _text(attrs.get("type")).lower() == "image"):
            self._alt(attrs.get("alt"))

    def _key(self, node: Element) -> tuple[int, int, int]:
        """Return the position of an element's source tag: misnested markup makes several elements of one tag."""
        return self._fragment, node.source_line or 0, node.source_col or 0

    def _anchor(self, href: str, kind: AnchorKind, rel: Sequence[str] = ()) -> int:
        """Add an anchor that starts here; return its number, or -1 if it cannot be kept."""
        address = self._address(href)
        if address is None:
            self.page.dropped_links += 1
            return -1
        if len(self.page.anchors) >= self.limits.anchors:
            self.page.flags |= PageFlag.CUT_ANCHORS
            return -1
        here = len(self.page.words)
        self.page.anchors.append(
            Anchor(address, here, here, kind, "nofollow" in rel, not SEQUENCE_WORDS.isdisjoint(rel))
        )
        return len(self.page.anchors) - 1

    def _address(self, href: str) -> str | None:
        """Return the address in an attribute, stripped and without fragment; None if it is too long."""
        address = href.strip("\t\n\f\r \x00\x0b").partition("#")[0]
        return None if len(address.encode("utf-8", "replace")) > self.limits.url_bytes else address

    def _alt(self, alt: object) -> None:
        self._break()
        if alt:
            self._feed(_text(alt), Attribute.ALT)
            self._break()

    # -- the stream -------------------------------------------------------------------------------------------------

    def _feed(self, data: str, attributes: int) -> None:
        """Take characters into words, pairs, sentence ends and the plain text."""
        for char in data:
            kind = char_class(char)
            if kind is CharClass.IGNORED:
                continue
            if kind is CharClass.SPACE:
                self._flush()
                self._space = True
                if self._after_stop:
                    self._border(Boundary.SENTENCE)
                    self._after_stop = False
                if self._title_text is not None:
                    self._title_text.append(" ")
                continue
            if kind in (CharClass.WORD, CharClass.PAIR) or (kind is CharClass.MARK and self._word):
                self._after_stop = False
            if kind is CharClass.WORD or (kind is CharClass.MARK and self._word):
                if not self._word:
                    self._flush()
                    self._word_at = self._room(before_word=True)
                    self._word_attributes = attributes
                self._word.append(char)
            elif kind is CharClass.PAIR:
                if self._word:
                    self._flush()
                at = self._room()
                if self._pair:
                    self._emit(self._pair + char, self._pair_at, self._pair_attributes)
                    self._pairs += 1
                self._pair, self._pair_at, self._pair_attributes = char, at, attributes
            else:
                self._flush()
                self._room(before_word=kind is CharClass.MARK)
                if kind is CharClass.STOP:
                    self._after_stop = True
                elif kind is CharClass.FULL_STOP:
                    self._border(Boundary.SENTENCE)
                elif kind is not CharClass.CLOSER:
                    self._after_stop = False
            self._put(char)
            if self._title_text is not None:
                self._title_text.append(char)

    def _room(self, before_word: bool = False) -> int:
        """Write the pending white space of the plain text; return the offset after it."""
        if self._text:
            if self._line:
                self._put("\n")
            elif self._space or (self._between_words and before_word):
                self._put(" ")
        self._line = self._space = self._between_words = False
        return self._text_bytes

    def _put(self, char: str) -> None:
        self._text.append(char)
        self._text_bytes += len(char.encode("utf-8", "replace"))

    def _flush(self) -> None:
        """End the unfinished word or run of pairs."""
        if self._word:
            word = "".join(self._word)
            self._word = []
            self._emit(word, self._word_at, self._word_attributes)
        if self._pair:
            if not self._pairs:
                self._emit(self._pair, self._pair_at, self._pair_attributes)
            self._pair, self._pairs = "", 0

    def _break(self) -> None:
        """End the word at a tag that words cannot span."""
        self._flush()
        self._space = True

    def _break_at_link(self) -> None:
        """End the word where a link begins or ends; a space is due only if another word follows at once."""
        if self._word or self._pair:
            self._flush()
            self._between_words = True

    def _emit(self, word: str, at: int, attributes: int) -> None:
        page = self.page
        if len(page.words) >= self.limits.tokens:
            page.flags |= PageFlag.CUT_TOKENS
            return
        raw = word.encode("utf-8", "replace")
        if len(raw) > self.limits.word_bytes:
            word = raw[: self.limits.word_bytes].decode("utf-8", "ignore")
        page.words.append(fold_case(word))
        page.attributes.append(attributes)
        page.offsets.append(at)
        if attributes & Attribute.TEXT and not self._body_seen:
            self._body_seen = True
            page.body_start = at

    def _border(self, kind: Boundary) -> None:
        """Note a boundary before the next word, only once."""
        self._flush()
        if kind is not Boundary.SENTENCE:
            if self._after_stop:
                self._after_stop = False
                self._border(Boundary.SENTENCE)
            if kind not in (Boundary.CRUMBS_START, Boundary.CRUMBS_END):
                self._line = True
        here = (len(self.page.words), int(kind))
        for earlier in reversed(self.page.boundaries):
            if earlier[0] != here[0]:
                break
            if earlier == here:
                return
        self.page.boundaries.append(here)

    def _end_title(self) -> None:
        if self._title_text is not None:
            self.page.title = " ".join("".join(self._title_text).split())
            self.page.title_end = self._text_bytes
            self._title_text, self._title_done = None, True

    def finish(self) -> ReadPage:
        """Return the page after the walk."""
        self._flush()
        if self._in_crumbs:
            self._border(Boundary.CRUMBS_END)
        self._end_title()
        self.page.text = "".join(self._text)
        return self.page


def _text(value: object) -> str:
    """Return an attribute's value as text; some are given as lists of words, some have none."""
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return value if isinstance(value, str) else ""


def _is_crumbs(node: Element) -> bool:
    marks = (("class", "breadcrumb"), ("aria-label", "breadcrumb"), ("itemtype", "breadcrumblist"))
    return any(mark in _text(node.attrs.get(name)).lower() for name, mark in marks)


class StrictLexer:
    """The strict reader with the interface of the fast lexer: pages in, arrays out."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._words: dict[bytes, int] = {}
        self._hrefs: dict[bytes, int] = {}

    def word_strings(self) -> list[bytes]:
        """Return all words so far, by number."""
        return list(self._words)

    def href_strings(self) -> RaggedBytes:
        """Return all link addresses so far, by number, padded because kernels may read past the last."""
        data, bounds = pack_strings([*self._hrefs, bytes(_AHEAD)])
        return RaggedBytes(data.copy(), bounds[:-1])

    def lex(self, pages: list[bytes]) -> LexedBatch:
        """Read pages of valid UTF-8."""
        rows = np.full((len(pages), slots.ROW_SIZE), -1, dtype=np.int64)
        words: list[int] = []
        events: list[int] = []
        anchors: list[tuple[int, int, int, int]] = []
        text: list[bytes] = []
        size = 0
        for row, html in zip(rows, pages, strict=True):
            decoded = html.decode("utf-8", "replace")
            page = read_strictly(decoded, self.limits)
            for word, at in zip(page.words, page.offsets, strict=True):
                words.append(self._number(self._words, word) | at << 32)
            changes = [
                (i, ATTRIBUTE_EVENT | attribute)
                for i, attribute in enumerate(page.attributes)
                if i == 0 or attribute != page.attributes[i - 1]
            ]
            events += [kind | at << 8 for at, kind in sorted([*page.boundaries, *changes], key=lambda mark: mark[0])]
            anchors += [
                (self._number(self._hrefs, anchor.href), anchor.start, anchor.end, anchor.flags)
                for anchor in page.anchors
            ]
            text.append(page.text.encode("utf-8", "replace"))
            # The title and the language are given by their places, as the fast lexer gives them.
            row[slots.R_TITLE0], row[slots.R_TITLE1] = page.title_start, page.title_end
            row[slots.R_LANG0], row[slots.R_LANG1] = _place(html, page.language)
            for slot, href in ((slots.R_BASE, page.base), (slots.R_CANONICAL, page.canonical)):
                if href is not None:
                    row[slot] = self._number(self._hrefs, href)
            row[slots.R_FLAGS] = page.flags
            row[slots.R_BODY] = page.body_start
            row[slots.R_DROPPED] = page.dropped_links
            size += len(text[-1])
            row[slots.R_TOKENS], row[slots.R_EVENTS] = len(words), len(events)
            row[slots.R_ANCHORS], row[slots.R_TEXT] = len(anchors), size
        return LexedBatch(
            rows,
            np.array(words, dtype=np.int64),
            np.array(events, dtype=np.int64),
            np.array(anchors, dtype=np.int64).reshape(-1, 4),
            np.frombuffer(b"".join(text), dtype=np.uint8),
        )

    @staticmethod
    def _number(table: dict[bytes, int], string: str) -> int:
        return table.setdefault(string.encode("utf-8", "replace"), len(table))


def _place(html: bytes, value: str) -> tuple[int, int]:
    """Return where an attribute's value stands in the page, or (-1, -1)."""
    raw = value.encode("utf-8", "replace")
    at = html.find(raw) if raw else -1
    return (at, at + len(raw)) if at >= 0 else (-1, -1)
