"""The elements that the lexer knows, their numbers and what they do."""

import numpy as np

from pagekin.hypertext._kernels import slots as s
from pagekin.hypertext.model import (
    BREAKING,
    CELLS,
    ELEMENTS,
    HEADINGS,
    ITEMS,
    KEYWORD_TAGS,
    LISTS,
    PARAGRAPHS,
    Boundary,
)

NAMES = tuple(
    "? a b em strong dfn p div span li dt dd ul ol dl menu dir table td th tr tbody thead tfoot caption h1 h2 h3 h4 h5 h6 "
    "address article aside blockquote center details dialog fieldset figcaption figure footer form header hgroup hr "
    "legend listing main nav plaintext pre search section summary xmp button object applet marquee noframes svg math "
    "script style template iframe noembed title textarea noscript frameset frame body html head base link meta br img "
    "image input area option optgroup select sup desc text tspan foreignobject embed keygen wbr audio video canvas".split()
)
NUMBER = {name: number for number, name in enumerate(NAMES)}

A, P, SPAN, LI, TABLE, TR = (NUMBER[n] for n in "a p span li table tr".split())
PLAINTEXT, XMP, BUTTON, NOFRAMES, SVG = (NUMBER[n] for n in "plaintext xmp button noframes svg".split())
SCRIPT, STYLE, TEMPLATE, IFRAME, NOEMBED = (NUMBER[n] for n in "script style template iframe noembed".split())
TITLE, TEXTAREA, FRAMESET, FRAME, HTML = (NUMBER[n] for n in "title textarea frameset frame html".split())
BASE, LINK, META, BR, IMG, IMAGE = (NUMBER[n] for n in "base link meta br img image".split())
INPUT, AREA = (NUMBER[n] for n in "input area".split())

# What an element does, as bits; `_ELEMENTS` says which elements have them.
(
    SPECIAL, SCOPE, BUTTON_SCOPE, LIST_SCOPE, TABLE_SCOPE, ITEM_SCOPE, CLOSES_P, BREAKS, PUSHED, HEADING, ITEM, DESCRIPTION,
    CELL, ROW, NO_FRAMESET, MARKER, WANTS, BREAKOUT, FORMATTING, RARE, HEARD,
) = (1 << i for i in range(21))  # fmt: skip

_ELEMENTS = {
    SPECIAL: ELEMENTS["special"],
    SCOPE: ELEMENTS["scope"],
    TABLE_SCOPE: ELEMENTS["table_scope"],
    CLOSES_P: ELEMENTS["closes_p"],
    DESCRIPTION: ELEMENTS["descriptions"],
    CELL: ELEMENTS["table_cells"],
    ROW: ELEMENTS["rows"],
    NO_FRAMESET: ELEMENTS["no_frameset"],
    MARKER: ELEMENTS["markers"],
    WANTS: ELEMENTS["wanted"],
    BREAKOUT: ELEMENTS["breakouts"],
    FORMATTING: ELEMENTS["formatting"],
    RARE: ELEMENTS["rare"],
    HEARD: ELEMENTS["heard"],
    # The scopes of buttons, list items and so on.
    BUTTON_SCOPE: ELEMENTS["scope"] | {"button"},
    LIST_SCOPE: ELEMENTS["scope"] | {"ul", "ol"},
    ITEM_SCOPE: ELEMENTS["special"] - {"address", "div", "p"},
    BREAKS: BREAKING,
    PUSHED: ELEMENTS["special"] | ELEMENTS["pushed"],
    HEADING: HEADINGS,
    ITEM: ITEMS,
}
_COUNTERS = {
    **dict.fromkeys(HEADINGS, s.HEADINGS),
    **dict.fromkeys(KEYWORD_TAGS, s.KEYWORDS),
    "address": s.ADDRESSES,
    "p": s.PARAGRAPHS,
    "table": s.TABLES,
    "svg": s.SVG,
}
_BORDERS = {
    **dict.fromkeys(PARAGRAPHS, Boundary.PARAGRAPH),
    **dict.fromkeys(ITEMS, Boundary.ITEM),
    **dict.fromkeys(CELLS, Boundary.CELL),
    "br": Boundary.BREAK,
}
_START_BORDERS = _BORDERS | dict.fromkeys(HEADINGS, Boundary.HEADING)
_END_BORDERS = (
    _BORDERS
    | dict.fromkeys(HEADINGS, Boundary.PARAGRAPH)
    | dict.fromkeys(LISTS, Boundary.LIST_END)
    | {"table": Boundary.TABLE_END}
)

PROPERTIES = np.zeros((4, s.ELEMENTS_MOST), dtype=np.int64)
"""The rows from `slots.BITS` on: an element's bits, its counter, and its boundaries."""
for _number, _name in enumerate(NAMES):
    PROPERTIES[:, _number] = (
        sum(bit for bit, names in _ELEMENTS.items() if _name in names),
        _COUNTERS.get(_name, s.OTHERS),
        _START_BORDERS.get(_name, 0),
        _END_BORDERS.get(_name, 0),
    )
