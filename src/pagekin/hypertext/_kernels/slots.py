"""Places in the lexer's arrays.

The kernels share few, wide arrays: every array that a compiled function takes costs time at each call. So one
state vector holds the scalars, the stack of open elements, the list of formatting elements, the values of the
current tag's attributes and the elements' properties.
"""

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
    TOK0, NEV, NAN, AN0, TXT0, ATTR, OVERRIDE, LAST_ATTR, HEADINGS, ADDRESSES, KEYWORDS, SP, NF, PENDING,
    LINE, AFTER_STOP, BODY, TITLE0, TITLE1, LANG0, LANG1, BASE, CANONICAL, FLAGS, DROPPED, CRUMB_SP,
    CRUMB_SPANS, FRAMESET, FRAMESET_OK, MUTE, SAVED_TXT, SVG, AREA, NTERMS, NHREFS, MAX_TOKENS, MAX_ANCHORS,
    MAX_URL, MAX_WORD, MAX_EVENTS, NESTING, PARAGRAPHS, TABLES, HREF_SHIFT, MAX_HREFS, FULL, LAST,
) = range(47)  # fmt: skip
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
