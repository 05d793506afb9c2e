"""The elements that the lexer knows, their numbers and what they do."""

import numpy as np

from pagekin.hypertext._kernels import slots as s
from pagekin.hypertext.model import BREAKING, CELLS, HEADINGS, ITEMS, KEYWORD_TAGS, LISTS, PARAGRAPHS, Boundary

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

_SPECIAL = set(  # the WHATWG category
    "address applet article aside blockquote button caption center dd details dir div dl dt fieldset figcaption figure "
    "footer form header hgroup h1 h2 h3 h4 h5 h6 li listing main marquee menu nav noframes object ol p plaintext pre "
    "search section summary table td th ul xmp".split()
)
_SCOPE = set("applet caption table td th marquee object noframes".split())
_ELEMENTS = {
    SPECIAL: _SPECIAL,
    # What bounds the search for an open element: the default scope, and that of buttons, list items and so on.
    SCOPE: _SCOPE,
    BUTTON_SCOPE: _SCOPE | {"button"},
    LIST_SCOPE: _SCOPE | {"ul", "ol"},
    TABLE_SCOPE: {"table", "noframes"},
    ITEM_SCOPE: _SPECIAL - {"address", "div", "p"},
    CLOSES_P: set(
        "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer header hgroup "
        "main menu nav ol p search section summary ul h1 h2 h3 h4 h5 h6 pre listing form plaintext xmp hr li dd dt".split()
    ),
    BREAKS: BREAKING,  # ends a word
    PUSHED: _SPECIAL | {"a", "b", "em", "strong", "dfn", "svg", "legend", "dialog"},  # is kept on the stack
    HEADING: HEADINGS,
    ITEM: ITEMS,
    DESCRIPTION: {"dt", "dd"},  # end each other
    CELL: {"td", "th", "caption"},
    ROW: {"tr", "tbody", "thead", "tfoot"},
    # After these a frameset is ignored.
    NO_FRAMESET: set(
        "body pre listing li dd dt button applet marquee object table area br embed img image keygen wbr input hr "
        "textarea xmp iframe select svg math".split()
    ),
    MARKER: set("td th caption applet object marquee noframes".split()),  # formatting opened inside does not leave it
    WANTS: set("a area img image input meta link base frame iframe html".split()),  # its attributes are looked at
    # Ends an open <svg>.
    BREAKOUT: set(
        "b body br center dd div dl dt em h1 h2 h3 h4 h5 h6 hr img li listing menu meta ol p pre strong table ul".split()
    ),
    FORMATTING: {"a", "b", "em", "strong"},
    RARE: set("script style template iframe noembed frame html base link hr body option optgroup".split()),
    HEARD: {"frame", "noframes", "script", "style"},  # acted on even inside a frameset
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
