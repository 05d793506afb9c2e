"""Name the places in the lexer's arrays, and group the arrays.

The pieces of the lexer share few, wide arrays: every array that a compiled function takes costs time at each call. One
state vector holds the scalars, the stack of open elements, the list of formatting elements, the values of the current
tag's attributes and the elements' properties.
"""

from typing import Any, NamedTuple

NESTING_MOST = 4_000
FORMATTING_MOST = 256
ELEMENTS_MOST = 128
NAME_PLACES = 512

(
    # The secret key of digests (see `intern`), how full the tables are, and the limits.
    KEY, KEY_1, KEY_2, KEY_3,
    NTERMS, NHREFS, MAX_TOKENS, MAX_ANCHORS, MAX_URL, MAX_WORD, MAX_EVENTS, MAX_TERMS, MAX_HREFS, TERM_SHIFT, HREF_SHIFT,
    NESTING, FULL,
    # Where the page's bytes and its share of each array begin.
    ORIGIN, TOK0, EV0, AN0, TXT0,
    # The page's row (`batch.R_TOKENS` and so on): how full the arrays are, and what is said about it as a whole.
    NTOK, NEV, NAN, NTXT, TITLE0, TITLE1, LANG0, LANG1, BASE, CANONICAL, FLAGS, BODY, DROPPED,
    # What is read: where it ends, how (DATA and so on), the element whose text it is; and the same of what is around it.
    LIM, MODE, RAW_TAG, OUTER_POS, OUTER_LIM, OUTER_MODE,
    # The word in the making, its length or 0, its digest or 0 if not known yet; the last character of a run of pairs.
    IN_WORD, LENGTH, DIGEST, FULL_WORD, WORD_AT, WORD_ATTR, PAIR, PAIR_AT, PAIR_ATTR, PAIRS,
    # What stands before the next word: white space, a line's end, the end of a sentence; and the words' attributes.
    SPACE, LINE, AFTER_STOP, ATTR, OVERRIDE, LAST_ATTR,
    # The tree: open elements that count, depth of stack and formatting list, whether formatting is to be reopened.
    HEADINGS, ADDRESSES, KEYWORDS, PARAGRAPHS, TABLES, SVG, OTHERS, SP, NF, PENDING, CRUMB_SP, CRUMB_SPANS, FRAMESET,
    FRAMESET_OK, MUTE, SAVED_TXT, AREA, LAST,
) = range(75)  # fmt: skip
BETWEEN_WORDS = 2  # in SPACE: a link begins or ends here, so a space is written only if a word follows
FULL_TERMS, FULL_HREFS = 1, 2  # bits of FULL: there is no room for another word or address
# From LAST on: the position of the last boundary of each kind.
FOUND = LAST + 16
# Attributes that are looked at: each takes two places, the start and the end of its value (-1: absent).
HREF, SRC, ALT, REL, NAME, CONTENT, HTTP_EQUIV, LANG, TYPE = range(FOUND, FOUND + 18, 2)
CRUMBS = FOUND + 18
IN_CLASS, IN_ITEMTYPE = 1, 2  # in place of an attribute's places: its value may name breadcrumbs
ATTRIBUTES = {
    **{"href": HREF, "src": SRC, "alt": ALT, "rel": REL, "name": NAME, "content": CONTENT, "http-equiv": HTTP_EQUIV},
    **{
        "lang": LANG,
        "xml:lang": LANG,
        "type": TYPE,
        "class": IN_CLASS,
        "aria-label": IN_CLASS,
        "itemtype": IN_ITEMTYPE,
    },
}
# Per element: what it does (`tags`), the place that counts it while it is open, the boundaries where it starts and ends.
BITS, COUNTER, START_BORDER, END_BORDER = range(CRUMBS + 1, CRUMBS + 1 + 4 * ELEMENTS_MOST, ELEMENTS_MOST)
# Per open element: its number, its entry of the formatting list or -1.
STACK = END_BORDER + ELEMENTS_MOST
ENTRY = STACK + NESTING_MOST
# Per entry: its element or MARK, its depth on the stack or -1, its anchor or -1.
F_TAG = ENTRY + NESTING_MOST
F_DEPTH = F_TAG + FORMATTING_MOST
F_ANCHOR = F_DEPTH + FORMATTING_MOST
STATE_SIZE = F_ANCHOR + FORMATTING_MOST

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
    """int64 (2 × NAME_PLACES): digest and number of each element, by digest; digest 0 is empty."""
    attributes: Any
    """int64 (2 × NAME_PLACES): the same of attributes: digest of the name, and where the state keeps its value."""
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
