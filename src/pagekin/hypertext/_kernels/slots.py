"""Name the places in the lexer's arrays, and group the arrays.

The pieces of the lexer share few, wide arrays: every array that a compiled function takes costs time at each call. One
state vector holds the scalars, the stack of open elements, the list of formatting elements, the values of the current
tag's attributes and the elements' properties.
"""

from typing import Any, NamedTuple

from pagekin.hypertext import batch

# The kernels read all their places from here.
A_HREF, A_START, A_END, A_FLAGS = batch.A_HREF, batch.A_START, batch.A_END, batch.A_FLAGS
R_TOKENS, R_EVENTS, R_ANCHORS, R_TEXT = batch.R_TOKENS, batch.R_EVENTS, batch.R_ANCHORS, batch.R_TEXT
R_TITLE0, R_TITLE1, R_LANG0, R_LANG1 = batch.R_TITLE0, batch.R_TITLE1, batch.R_LANG0, batch.R_LANG1
R_BASE, R_CANONICAL, R_FLAGS, R_BODY = batch.R_BASE, batch.R_CANONICAL, batch.R_FLAGS, batch.R_BODY
R_DROPPED, ROW_SIZE = batch.R_DROPPED, batch.ROW_SIZE

NESTING_MOST = 4_000
FORMATTING_MOST = 256

(
    # How full the arrays are, where the page's share of each begins, and the limits.
    NTOK, NTXT, NEV, NAN, NTERMS, NHREFS, TOK0, TXT0, EV0, AN0, ORIGIN, MAX_TOKENS, MAX_ANCHORS, MAX_URL, MAX_WORD,
    MAX_EVENTS, MAX_TERMS, MAX_HREFS, TERM_SHIFT, HREF_SHIFT, NESTING, FULL,
    # What is read: where it ends, how (DATA and so on), the element whose text it is; and the same of what is around it.
    LIM, MODE, RAW_TAG, OUTER_POS, OUTER_LIM, OUTER_MODE,
    # The word in the making, its length or 0, its digest or 0 if not known yet; the last character of a run of pairs.
    IN_WORD, LENGTH, DIGEST, FULL_WORD, WORD_AT, WORD_ATTR, PAIR, PAIR_AT, PAIR_ATTR, PAIRS,
    # What stands before the next word: white space, a line's end, the end of a sentence; and the words' attributes.
    SPACE, LINE, AFTER_STOP, ATTR, OVERRIDE, LAST_ATTR,
    # The tree: open elements that count, depth of stack and formatting list, whether formatting is to be reopened.
    HEADINGS, ADDRESSES, KEYWORDS, PARAGRAPHS, TABLES, SVG, SP, NF, PENDING, CRUMB_SP, CRUMB_SPANS, FRAMESET,
    FRAMESET_OK, MUTE, SAVED_TXT, AREA,
    # What is said about the page as a whole.
    BODY, TITLE0, TITLE1, LANG0, LANG1, BASE, CANONICAL, FLAGS, DROPPED, LAST,
) = range(70)  # fmt: skip
FULL_TERMS, FULL_HREFS = 1, 2  # bits of FULL: there is no room for another word or address
# From LAST on: the position of the last boundary of each kind.
FOUND = LAST + 16
# Attributes that are looked at: each takes two places, the start and the end of its value (-1: absent).
HREF, SRC, ALT, REL, NAME, CONTENT, HTTP_EQUIV, LANG, TYPE = range(FOUND, FOUND + 18, 2)
CRUMBS = FOUND + 18
BITS = CRUMBS + 1
STACK = BITS + 256  # per open element: its number, its entry of the formatting list or -1
# Per entry: its element or MARK, its depth on the stack or -1, its anchor or -1.
FORMATTING = STACK + 2 * NESTING_MOST
STATE_SIZE = FORMATTING + 3 * FORMATTING_MOST

DATA, RCDATA, RAW, VALUE, CDATA = range(5)
"""How bytes are read: as markup, as text with references, as text alone, as an attribute's value, as a CDATA section."""


class Tables(NamedTuple):
    """What the lexer looks up; `hypertext.tables` makes it."""

    lower: Any
    """uint8 (256): the lower-case form of ASCII letters and digits; 0 for all other bytes."""
    class_index: Any
    """uint16 (0x1100): the block of 256 characters' classes, by the character's number >> 8."""
    class_blocks: Any
    """uint8 (256 × blocks): the classes (`model.CharClass`) of each block's characters."""
    tags: Any
    """int64 (2 × TAG_PLACES): digest and number of each element, by digest; digest 0 is empty."""
    references: Any
    """int64 (32 + 3 × REFERENCES): see `references.reference`."""


class Strings(NamedTuple):
    """A table of byte strings, numbered in order of arrival; see `intern`."""

    slots: Any
    """uint64 (2 × entries)"""
    bounds: Any
    """int64 (strings + 1): where each string starts, and where the last ends."""
    arena: Any
    """uint8: the strings, one after another."""


class Output(NamedTuple):
    """What the lexer writes; `batch.LexedBatch` says what the values mean."""

    words: Any
    """int64 (words)"""
    events: Any
    """int64 (events)"""
    anchors: Any
    """int64 (4 × anchors)"""
    text: Any
    """uint8 (bytes)"""
    rows: Any
    """int64 (ROW_SIZE × pages)"""


class Lexing(NamedTuple):
    """All arrays of the lexer, borrowed."""

    html: Any
    """uint8: the pages' bytes, and 64 more that may be read."""
    state: Any
    """int64 (STATE_SIZE)"""
    tables: Tables
    terms: Strings
    hrefs: Strings
    out: Output


TAG_PLACES = 512
