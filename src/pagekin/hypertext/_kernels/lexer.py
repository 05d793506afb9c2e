"""Read pages in one pass over their bytes, to words, attributes, boundaries and anchors."""

from pagekin.hypertext import batch as b
from pagekin.hypertext._kernels import markup as m
from pagekin.hypertext._kernels import slots as s
from pagekin.hypertext._kernels import tree
from pagekin.hypertext._kernels.borrow import borrow
from pagekin.hypertext._kernels.elements import read_markup
from pagekin.hypertext._kernels.intern import slot_shift
from pagekin.hypertext._kernels.words import add_word, read_character, read_letters
from pagekin.store import kernel

_TEXT, _CRUMBS_END = 32, 10


@kernel
def lex_pages(html, starts, ends, first, tables, terms, hrefs, state, out):
    """Read pages `first`.. of the batch until all are read or room runs short; return the number of the next page.

    A page's bytes are html[starts[i]:ends[i]], valid UTF-8; 64 bytes after the last page may be read. `tables`, `terms`
    and `hrefs`, `state` and `out` are those of `slots`; `starts` and `ends` are int64 (pages). If the terms or hrefs have
    no room for a page's new strings, state[FULL] says so, and the page is to be read again. About 3 ns a byte of
    documentation HTML.
    """
    state[s.MAX_TERMS], state[s.TERM_SHIFT] = len(terms.slots) // 4, slot_shift(len(terms.slots))
    state[s.MAX_HREFS], state[s.HREF_SHIFT] = len(hrefs.slots) // 4, slot_shift(len(hrefs.slots))
    state[s.MAX_EVENTS] = len(out.events)
    state[s.FULL] = 0
    lx = s.Lexing(
        borrow(html),
        borrow(state),
        s.Tables(
            borrow(tables.lower),
            borrow(tables.class_index),
            borrow(tables.class_blocks),
            borrow(tables.tags),
            borrow(tables.attributes),
            borrow(tables.references),
        ),
        s.Strings(borrow(terms.slots), borrow(terms.bounds), borrow(terms.arena)),
        s.Strings(borrow(hrefs.slots), borrow(hrefs.bounds), borrow(hrefs.arena)),
        s.Output(borrow(out.words), borrow(out.events), borrow(out.anchors), borrow(out.text), borrow(out.rows)),
    )
    for page in range(first, len(starts)):
        size = ends[page] - starts[page]
        if (
            state[s.NTOK] + min(size // 2, state[s.MAX_TOKENS]) + 8 > len(out.words)
            or state[s.NTXT] + 2 * size + 64 > len(out.text)
            or state[s.NAN] + min(size // 6, state[s.MAX_ANCHORS]) + 8 > len(out.anchors) // 4
            or terms.bounds[state[s.NTERMS]] + 2 * size + 512 > len(terms.arena)
            or hrefs.bounds[state[s.NHREFS]] + 2 * size + state[s.MAX_URL] + 64 > len(hrefs.arena)
        ):
            return page
        start_page(starts[page], ends[page], lx.state)
        read_page(lx)
        if state[s.FULL] != 0:
            # To be read again with larger tables; it gives the same numbers to its words then.
            for i in range(4):
                state[s.NTOK + i] = state[s.TOK0 + i]
            return page
        finish_page(page, lx)
    return len(starts)


@kernel
def start_page(start, end, st):
    """Forget the page before, and begin the one at html[start:end]."""
    st[s.TOK0], st[s.EV0], st[s.AN0], st[s.TXT0] = st[s.NTOK], st[s.NEV], st[s.NAN], st[s.NTXT]
    for i in range(s.FLAGS, s.LAST):
        st[i] = 0
    for i in range(s.TITLE0, s.FLAGS):
        st[i] = -1
    for i in range(s.LAST, s.FOUND):
        st[i] = -1
    st[s.BODY] = st[s.CRUMB_SP] = st[s.AREA] = -1
    st[s.ORIGIN], st[s.LIM], st[s.MODE] = start, end, s.DATA
    st[s.ATTR] = _TEXT
    st[s.FRAMESET_OK] = 1
    st[s.SAVED_TXT] = st[s.NTXT]


@kernel
def read_page(lx):
    """Read one page to its end."""
    html, st, lower = lx.html, lx.state, lx.tables.lower
    pos = st[s.ORIGIN]
    while True:
        if pos >= st[s.LIM]:
            if st[s.IN_WORD] != 0 or st[s.PAIR] != 0:
                add_word(lx)
            if st[s.MODE] != s.VALUE and st[s.MODE] != s.CDATA:
                return
            pos = leave_value(lx)
            continue
        c = html[pos]
        if lower[c] != 0:
            pos = read_letters(pos, lx)
        elif c <= 32 and st[s.IN_WORD] | st[s.PAIR] | st[s.AFTER_STOP] == 0 and m.is_space(c):
            st[s.SPACE] = 1
            pos = m.after_spaces(html, pos + 1, st[s.LIM])
        elif c == 60:
            pos = read_markup(pos, lx)
        else:
            pos = read_character(pos, lx)


@kernel
def leave_value(lx):
    """Go back from the end of an attribute's value, or a CDATA section, to the markup around it; return where reading goes on."""
    st = lx.state
    st[s.LIM], st[s.MODE] = st[s.OUTER_LIM], st[s.OUTER_MODE]
    st[s.OVERRIDE] = 0
    st[s.SPACE] = 1
    if st[s.AREA] >= 0:
        lx.out.anchors[4 * st[s.AREA] + b.A_END] = st[s.NTOK]
        st[s.AREA] = -1
    return st[s.OUTER_POS]


@kernel
def finish_page(page, lx):
    """Close what the page left open, and write its row."""
    st, an = lx.state, lx.out.anchors
    if st[s.MUTE] != 0:
        st[s.NTXT] = st[s.SAVED_TXT]
    ntok, tok0 = st[s.NTOK], st[s.TOK0]
    tree.pop_to(0, ntok, st, an, lx.out.events)
    if st[s.CRUMB_SPANS] > 0:
        tree.border(_CRUMBS_END, ntok, st, lx.out.events)
    if st[s.TITLE0] >= 0 and st[s.TITLE1] < 0:
        st[s.TITLE1] = st[s.NTXT] - st[s.TXT0]
    for i in range(st[s.AN0], st[s.NAN]):
        an[4 * i + b.A_START] -= tok0
        an[4 * i + b.A_END] = min(an[4 * i + b.A_END], ntok) - tok0
    for i in range(b.ROW_SIZE):
        lx.out.rows[page * b.ROW_SIZE + i] = st[s.NTOK + i]
