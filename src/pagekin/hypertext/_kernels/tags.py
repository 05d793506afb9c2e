"""The elements that the lexer knows, their numbers and what they do."""

from pagekin.hypertext.model import BREAKING, HEADINGS, ITEMS, LISTS, PARAGRAPHS

NAMES = tuple(
    "? a b em strong dfn p div span li dt dd ul ol dl menu dir table td th tr tbody thead tfoot caption h1 h2 h3 h4 h5 h6 "
    "address article aside blockquote center details dialog fieldset figcaption figure footer form header hgroup hr "
    "legend listing main nav plaintext pre search section summary xmp button object applet marquee noframes svg math "
    "script style template iframe noembed title textarea noscript frameset frame body html head base link meta br img "
    "image input area option optgroup select sup desc text tspan foreignobject embed keygen wbr audio video canvas".split()
)
NUMBER = {name: number for number, name in enumerate(NAMES)}

(A, B, EM, STRONG, DFN, P, DIV, SPAN, LI, DT, DD, UL, OL) = (NUMBER[n] for n in NAMES[1:14])
TABLE, TD, TH, TR = (NUMBER[n] for n in ("table", "td", "th", "tr"))
TBODY, THEAD, TFOOT, CAPTION = (NUMBER[n] for n in ("tbody", "thead", "tfoot", "caption"))
ADDRESS, FORM, HR, PLAINTEXT, XMP, BUTTON = (NUMBER[n] for n in ("address", "form", "hr", "plaintext", "xmp", "button"))
NOFRAMES, SVG, MATH, SCRIPT, STYLE = (NUMBER[n] for n in ("noframes", "svg", "math", "script", "style"))
TEMPLATE, IFRAME, NOEMBED, TITLE = (NUMBER[n] for n in ("template", "iframe", "noembed", "title"))
TEXTAREA, FRAMESET, FRAME, BODY, HTML = (NUMBER[n] for n in ("textarea", "frameset", "frame", "body", "html"))
BASE, LINK, META, BR, IMG, IMAGE = (NUMBER[n] for n in ("base", "link", "meta", "br", "img", "image"))
INPUT, AREA, OPTION, OPTGROUP = (NUMBER[n] for n in ("input", "area", "option", "optgroup"))

# What an element does, as bits.
SPECIAL = 1  # the WHATWG "special" category
SCOPE = 2  # bounds the default scope
CLOSES_P = 4
BREAKS = 8  # ends a word
PUSHED = 16  # is kept on the stack of open elements
PARAGRAPH = 32
LIST = 64
HEADING = 128
NO_FRAMESET = 256  # after it a frameset is ignored
MARKER = 512  # formatting opened inside does not leave it
WANTS = 1024  # its attributes are looked at
BREAKOUT = 2048  # ends an open <svg>
ITEM = 4096
FORMATTING = 8192
RARE = 16384  # handled by `start_rare`
HEARD = 32768  # acted on even inside a frameset

_SPECIAL = frozenset(
    "address applet article aside blockquote button caption center dd details dir div dl dt fieldset figcaption figure "
    "footer form header hgroup h1 h2 h3 h4 h5 h6 li listing main marquee menu nav noframes object ol p plaintext pre "
    "search section summary table td th ul xmp".split()
)
_SCOPE = frozenset("applet caption table td th marquee object noframes".split())
_CLOSES_P = frozenset(
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer header hgroup "
    "main menu nav ol p search section summary ul h1 h2 h3 h4 h5 h6 pre listing form plaintext xmp hr li dd dt".split()
)
_NO_FRAMESET = frozenset(
    "body pre listing li dd dt button applet marquee object table area br embed img image keygen wbr input hr textarea "
    "xmp iframe select svg math".split()
)
_MARKER = frozenset("td th caption applet object marquee noframes".split())
_WANTS = frozenset("a area img image input meta link base frame iframe html".split())
_BREAKOUT = frozenset(
    "b body br center dd div dl dt em h1 h2 h3 h4 h5 h6 hr img li listing menu meta ol p pre strong table ul".split()
)
_RARE = frozenset("script style template iframe noembed frame html base link hr body option optgroup".split())
_PUSHED = (_SPECIAL - {"hr"}) | {"a", "b", "em", "strong", "dfn", "svg", "legend", "dialog"}


def _bits(name: str) -> int:
    """Return what the element of that name does, as bits."""
    return (
        SPECIAL * (name in _SPECIAL)
        | SCOPE * (name in _SCOPE)
        | CLOSES_P * (name in _CLOSES_P)
        | BREAKS * (name in BREAKING)
        | PUSHED * (name in _PUSHED)
        | PARAGRAPH * (name in PARAGRAPHS and name != "body")
        | LIST * (name in LISTS)
        | HEADING * (name in HEADINGS)
        | NO_FRAMESET * (name in _NO_FRAMESET)
        | MARKER * (name in _MARKER)
        | WANTS * (name in _WANTS)
        | BREAKOUT * (name in _BREAKOUT)
        | ITEM * (name in ITEMS)
        | FORMATTING * (name in ("a", "b", "em", "strong"))
        | RARE * (name in _RARE)
        | HEARD * (name in ("frame", "noframes", "script", "style"))
    )


BITS = tuple(_bits(name) for name in NAMES)
