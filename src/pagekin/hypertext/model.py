"""What a page is read into, and the definitions that every reader of pages follows."""

import tomllib
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from functools import lru_cache
from pathlib import Path


class Attribute(IntFlag):
    """Where a word stands. Body words are TEXT, and HEADER, KEYWORD or ADDRESS besides where they stand in one."""

    TITLE = 1
    HEADER = 2
    KEYWORD = 4
    ADDRESS = 8
    ALT = 16
    TEXT = 32


class Boundary(IntEnum):
    """A border before a word, or the state of the stream from that word on (the papers' window cut-offs)."""

    PARAGRAPH = 1
    CELL = 2
    ITEM = 3
    BREAK = 4
    SENTENCE = 5
    HEADING = 6
    LIST_END = 7
    TABLE_END = 8
    CRUMBS_START = 9
    CRUMBS_END = 10


class AnchorKind(IntEnum):
    """What made the link."""

    A = 0
    AREA = 1
    FRAME = 2
    IFRAME = 3
    REFRESH = 4


class AnchorFlag(IntFlag):
    """What is to be known about a link besides its kind, which stands in the bits 1 to 3."""

    NOFOLLOW = 1
    SEQUENCE = 16  # rel says next or previous


SEQUENCE_WORDS = frozenset({"next", "prev", "previous"})
"""The words of `rel` that make a link one of a sequence of pages."""


def kind_of_flags(flags: int) -> AnchorKind:
    """Return the kind of a link with these flags."""
    return AnchorKind(flags >> 1 & 7)


class PageFlag(IntFlag):
    """What is to be known about a page as a whole."""

    NOINDEX = 1
    NOFOLLOW = 2
    CUT_BYTES = 4
    CUT_TOKENS = 8
    CUT_ANCHORS = 16
    DEEP = 32
    REPLACED = 64  # some bytes were no characters of the page's encoding


@dataclass(slots=True)
class Anchor:
    """One link: the address as written and the span of its words, [start, end) in the page's stream."""

    href: str
    start: int
    end: int
    kind: AnchorKind = AnchorKind.A
    nofollow: bool = False
    in_sequence: bool = False
    """Whether `rel` says that it leads to the next or the previous page."""

    @property
    def flags(self) -> int:
        """Return the flags that are stored of it."""
        return AnchorFlag.NOFOLLOW * self.nofollow | self.kind << 1 | AnchorFlag.SEQUENCE * self.in_sequence


@dataclass(slots=True)
class ReadPage:
    """One page as words in document order, each with its attributes, and what stands between them."""

    words: list[str] = field(default_factory=list)
    attributes: list[int] = field(default_factory=list)
    boundaries: list[tuple[int, int]] = field(default_factory=list)
    anchors: list[Anchor] = field(default_factory=list)
    title: str = ""
    title_start: int = 0
    title_end: int = 0
    language: str = ""
    base: str | None = None
    canonical: str | None = None
    flags: int = 0
    text: str = ""
    offsets: list[int] = field(default_factory=list)
    body_start: int = 0
    dropped_links: int = 0


ELEMENTS = {
    group: frozenset(names.split())
    for group, names in tomllib.loads(Path(__file__).with_name("elements.toml").read_text(encoding="utf-8")).items()
}
"""Groups of elements that act alike."""
HEADINGS, KEYWORD_TAGS, LISTS = ELEMENTS["headings"], ELEMENTS["keywords"], ELEMENTS["lists"]
ITEMS, CELLS, HIDDEN = ELEMENTS["items"], ELEMENTS["cells"], ELEMENTS["hidden"]
PARAGRAPHS = ELEMENTS["paragraphs"] | LISTS
BREAKING = PARAGRAPHS | HEADINGS | ITEMS | CELLS | ELEMENTS["breaking"]

# Scripts written without spaces between words: there, overlapping pairs of characters stand for words.
UNSPACED = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF),  # Thai and Lao; Myanmar; Khmer
    (0x3005, 0x3007), (0x3040, 0x312F), (0x31F0, 0x31FF), (0xFF66, 0xFF9F),  # Hiragana, Katakana, Bopomofo
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF),  # Han
)  # fmt: skip
_UNSPACED_BOUNDS = sorted(bound for low, high in UNSPACED for bound in (low, high + 1))
"""Where these scripts begin and end: a character belongs to one if an odd number of bounds lie at or before it."""


class CharClass(IntEnum):
    """What a character does in a stream of words."""

    OTHER = 0
    SPACE = 1
    WORD = 2
    MARK = 3  # continues a word, opens none
    PAIR = 4
    STOP = 5  # ends a sentence if a space or a border follows
    CLOSER = 6  # may stand between a full stop and the space
    IGNORED = 7  # soft hyphens and joiners: as if they were not there
    FULL_STOP = 8  # ends a sentence by itself


_SPECIAL = {
    **dict.fromkeys(map(ord, ".!?\u2026"), CharClass.STOP),
    **dict.fromkeys(map(ord, "\"')]}\u2019\u201d\u00bb"), CharClass.CLOSER),
    **dict.fromkeys(map(ord, "\u3002\uff01\uff1f\uff61"), CharClass.FULL_STOP),
    **dict.fromkeys((0, 0xAD, 0x200C, 0x200D, 0x2060, 0xFEFF, *range(0xFE00, 0xFE10)), CharClass.IGNORED),
}


def classify(code: int) -> CharClass:
    """Return the class of the character with this code."""
    if code in _SPECIAL:
        return _SPECIAL[code]
    char = chr(code)
    if char.isalnum() or unicodedata.category(char)[0] == "M":
        if bisect_right(_UNSPACED_BOUNDS, code) % 2:
            return CharClass.PAIR
        return CharClass.WORD if char.isalnum() else CharClass.MARK
    return CharClass.SPACE if char.isspace() else CharClass.OTHER


@lru_cache(maxsize=1 << 17)
def char_class(char: str) -> CharClass:
    """Do as `classify` does, and remember."""
    return classify(ord(char))


def fold_case(word: str) -> str:
    """Return the form under which a word is stored: Unicode full case folding of its composed form."""
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", word).casefold())
