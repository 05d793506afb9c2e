"""Read tags, and act on them: what each element does to words, boundaries and anchors."""

from pagekin.hypertext._kernels import markup as m
from pagekin.hypertext._kernels import slots as s
from pagekin.hypertext._kernels import tags as t
from pagekin.hypertext._kernels import tree, wide
from pagekin.hypertext._kernels.addresses import add_anchor, add_href, start_anchor
from pagekin.hypertext._kernels.attributes import read_attributes, refresh_target
from pagekin.hypertext._kernels.intern import find_name
from pagekin.hypertext._kernels.words import add_word, read_character
from pagekin.store import kernel

_TITLE, _KEYWORD, _ALT = 1, 4, 16
_FRAME, _IFRAME, _REFRESH = 2, 3, 4
_CRUMBS_START, _CRUMBS_END = 9, 10
_NOINDEX, _NOFOLLOW = 1, 2
_IS_KEYWORDS, _IS_REFRESH = 1, 2


@kernel(inline=True)
def read_markup(pos, lx):
    """Read what begins at html[pos] == '<'; return where reading goes on."""
    html, st = lx.html, lx.state
    if st[s.MODE] != s.DATA:
        if ends_raw_text(pos, lx):
            st[s.MODE] = s.DATA
            return pos
        return read_character(pos, lx)
    kind = m.kind_of_markup(html, pos, st[s.LIM])
    if kind == m.NO_TAG:
        return read_character(pos, lx)
    if kind != m.SKIPPED:
        return read_tag(kind, pos, lx)
    if html[pos + 1] == 33 and st[s.SVG] > 0 and pos + 9 <= st[s.LIM] and html[pos + 2] == 91:
        # A CDATA section of foreign content is text as it stands.
        end = m.after_cdata(html, pos + 9, st[s.LIM])
        return enter_value(pos + 9, max(pos + 9, end - 3), s.CDATA, end, st)
    return m.after_comment(html, pos, st[s.LIM])


@kernel
def ends_raw_text(pos, lx):
    """Return whether raw text, such as a title, ends at html[pos] == '<'."""
    html, st = lx.html, lx.state
    if st[s.MODE] > s.RAW or html[pos + 1] != 47:
        return False
    tag, after = name_tag(pos + 2, st[s.LIM], lx)
    return tag == st[s.RAW_TAG] and tag != t.PLAINTEXT and after < st[s.LIM]


@kernel
def enter_value(start, end, mode, after, st):
    """Read html[start:end] next, as `mode` says, and then go on at `after`; return `start`."""
    st[s.OUTER_POS], st[s.OUTER_LIM], st[s.OUTER_MODE] = after, st[s.LIM], st[s.MODE]
    st[s.LIM], st[s.MODE] = end, mode
    return start


@kernel(inline=True)
def name_tag(pos, end, lx):
    """Return (the number of the element whose name begins at html[pos], where the name ends)."""
    html = lx.html
    count, low, high = wide.word_run(html, pos)
    after = pos + count
    if m.ends_name(html[after]) and count > 0:
        return find_name(count, low, high, lx.tables.tags), after
    # No element that is known has such a name.
    while after < end and not m.ends_name(html[after]):
        after += 1
    return 0, after


@kernel(inline=True)
def read_tag(kind, pos, lx):
    """Read the tag at html[pos] and act on it; return where reading goes on."""
    html, st = lx.html, lx.state
    lim = st[s.LIM]
    tag, after = name_tag(pos + kind, lim, lx)
    bits = st[s.BITS + tag]
    is_start = kind == m.START
    wants = is_start and (bits & t.WANTS) != 0
    if not wants and after < lim and html[after] == 62:
        st[s.CRUMBS] = 0
        after += 1
    else:
        after = read_attributes(html, after, lim, wants, lx.tables.attributes, st)
    if tag == t.A and after >= 0 and st[s.IN_WORD] | st[s.PAIR] != 0:
        add_word(lx)
        st[s.SPACE] = s.BETWEEN_WORDS
    if (
        (bits & t.BREAKS and tag != t.A)
        or after < 0
        or (is_start and st[s.CRUMBS] != 0)
        or (not is_start and tag == t.SPAN and st[s.CRUMB_SPANS] == 1)
        or (is_start and tag == t.META and read_meta(html, st) == _IS_KEYWORDS)
    ):
        st[s.SPACE] = 1
        if st[s.IN_WORD] | st[s.PAIR] != 0:
            add_word(lx)
    if after < 0:
        return lim  # the input ends inside a tag: it is no tag
    if st[s.MUTE] == 0:
        st[s.SAVED_TXT] = st[s.NTXT]  # where the text ends if this tag, in whatever way, mutes the page
    if not is_start:
        end_tag(tag, bits, lx)
        return after
    if st[s.MUTE] != 0 and not bits & t.HEARD:
        return after
    return start_tag(tag, bits, after, lx)


@kernel
def end_tag(tag, bits, lx):
    """Act on an end tag."""
    st, ev = lx.state, lx.out.events
    ntok = st[s.NTOK]
    # A tag that does not end words may stand inside one, which then belongs to what ends here, too.
    with_word = ntok + 1 if st[s.IN_WORD] != 0 else ntok
    if bits & (t.PUSHED | t.ROW):
        if st[s.MUTE] != 0:
            return
        if bits & t.FORMATTING:
            tree.end_formatting(tag, False, with_word, st, lx.out.anchors, ev)
        else:
            tree.close_block(tag, ntok, st, lx.out.anchors, ev)
    elif tag == t.TITLE:
        if st[s.OVERRIDE] == _TITLE:
            st[s.LINE] = 1
            if st[s.TITLE1] < 0:
                st[s.TITLE1] = st[s.NTXT] - st[s.TXT0]
        st[s.OVERRIDE] = 0
    elif tag == t.BR or bits & t.ITEM:
        tree.border(st[s.END_BORDER + tag], ntok, st, ev)
    elif tag == t.SPAN and st[s.CRUMB_SPANS] > 0:
        st[s.CRUMB_SPANS] -= 1
        if st[s.CRUMB_SPANS] == 0:
            tree.border(_CRUMBS_END, with_word, st, ev)


@kernel
def start_tag(tag, bits, pos, lx):
    """Act on a start tag that ends before `pos`; return where reading goes on."""
    st, an, ev = lx.state, lx.out.anchors, lx.out.events
    ntok = st[s.NTOK]
    if bits & t.NO_FRAMESET:
        st[s.FRAMESET_OK] = 0
    if st[s.SVG] > 0 and bits & t.BREAKOUT:
        tree.pop_to(tree.find(t.SVG, 0, 0, st), ntok, st, an, ev)
    crumbs = st[s.CRUMBS] != 0 and st[s.CRUMB_SP] < 0 and st[s.CRUMB_SPANS] == 0
    if bits & t.RARE:
        return start_rare(tag, pos, lx)
    if bits & t.PUSHED and not bits & t.FORMATTING:
        start_block(tag, pos, crumbs, lx)
    elif tag == t.A:
        start_anchor(tag, lx)
    elif bits & t.FORMATTING:
        tree.add_formatting(tag, -1, st)
    elif tag == t.SPAN:
        if crumbs:
            tree.border(_CRUMBS_START, ntok, st, ev)
            st[s.CRUMB_SPANS] = 1
        elif st[s.CRUMB_SPANS] > 0:
            st[s.CRUMB_SPANS] += 1
    elif tag == t.BR:
        tree.border(st[s.START_BORDER + tag], ntok, st, ev)
    elif tag == t.IMG or tag == t.IMAGE or tag == t.AREA or tag == t.INPUT:
        return start_image(tag, pos, lx)
    elif tag == t.META:
        return start_meta(pos, lx)
    elif tag == t.TITLE:
        start_title(st)
    elif tag == t.TEXTAREA:
        st[s.MODE], st[s.RAW_TAG] = s.RCDATA, tag
    elif tag == t.FRAMESET:
        if st[s.FRAMESET_OK] != 0 and st[s.FRAMESET] == 0 and st[s.IN_WORD] | st[s.PAIR] == 0:
            st[s.FRAMESET] = 1
            st[s.MUTE] = 1
    elif st[s.TABLES] > 0 and bits & t.ROW:
        tree.pop_to(tree.find_cell(st), ntok, st, an, ev)
        tree.border(st[s.START_BORDER + tag], ntok, st, ev)
    return pos


@kernel
def start_block(tag, pos, crumbs, lx):
    """Act on the start tag, before html[pos], of an element that is kept on the stack and is no formatting element."""
    st, ev = lx.state, lx.out.events
    if tag == t.SVG and lx.html[pos - 2] == 47:
        return
    if tag == t.NOFRAMES and st[s.MUTE] != 0:
        st[s.MUTE] = 0
        st[s.NTXT] = st[s.SAVED_TXT]
    tree.open_block(tag, st[s.NTOK], st, lx.out.anchors, ev)
    if crumbs and st[s.SP] > 0 and st[s.STACK + st[s.SP] - 1] == tag:
        tree.border(_CRUMBS_START, st[s.NTOK], st, ev)
        st[s.CRUMB_SP] = st[s.SP] - 1
    if tag == t.XMP or tag == t.PLAINTEXT:
        st[s.MODE], st[s.RAW_TAG] = s.RAW, tag


@kernel
def start_image(tag, pos, lx):
    """Act on <img>, <area> and <input>, whose alternative text is read next; return where reading goes on."""
    html, st = lx.html, lx.state
    number = -1
    if tag == t.AREA:
        number = start_anchor(tag, lx)
    elif tag == t.INPUT and not (st[s.TYPE] >= 0 and m.same_word(html, st[s.TYPE], st[s.TYPE + 1], b"image")):
        return pos
    if st[s.ALT] < 0 or st[s.ALT + 1] <= st[s.ALT]:
        return pos
    st[s.OVERRIDE] = _ALT
    st[s.AREA] = number
    return enter_value(st[s.ALT], st[s.ALT + 1], s.VALUE, pos, st)


@kernel
def start_meta(pos, lx):
    """Act on <meta>: read its keywords next, or follow its refresh; return where reading goes on."""
    html, st = lx.html, lx.state
    what = read_meta(html, st)
    if what == _IS_KEYWORDS:
        st[s.OVERRIDE] = _KEYWORD
        return enter_value(st[s.CONTENT], st[s.CONTENT + 1], s.VALUE, pos, st)
    if what == _IS_REFRESH:
        i, j = refresh_target(html, st[s.CONTENT], st[s.CONTENT + 1])
        if i >= 0:
            add_anchor(i, j, _REFRESH, lx)
    return pos


@kernel
def start_title(st):
    """Act on <title>: the page's, or a drawing's."""
    if st[s.SVG] > 0:
        st[s.OVERRIDE] = _ALT
        return
    st[s.LINE] = 1
    st[s.OVERRIDE] = _TITLE
    if st[s.TITLE0] < 0:
        st[s.TITLE0] = st[s.NTXT] - st[s.TXT0]
    st[s.MODE], st[s.RAW_TAG] = s.RCDATA, t.TITLE


@kernel
def read_meta(html, st):
    """Return what a <meta> is, _IS_KEYWORDS or _IS_REFRESH, or 0; note what it asks of robots."""
    c0, c1 = st[s.CONTENT], st[s.CONTENT + 1]
    if c0 < 0:
        return 0
    if st[s.NAME] >= 0:
        n0, n1 = m.strip(html, st[s.NAME], st[s.NAME + 1])
        if m.same_word(html, n0, n1, b"keywords"):
            return _IS_KEYWORDS
        if m.same_word(html, n0, n1, b"robots"):
            none = m.holds(html, c0, c1, b"none")
            if none or m.holds(html, c0, c1, b"noindex"):
                st[s.FLAGS] |= _NOINDEX
            if none or m.holds(html, c0, c1, b"nofollow"):
                st[s.FLAGS] |= _NOFOLLOW
            return 0
    if st[s.HTTP_EQUIV] >= 0:
        e0, e1 = m.strip(html, st[s.HTTP_EQUIV], st[s.HTTP_EQUIV + 1])
        if m.same_word(html, e0, e1, b"refresh"):
            return _IS_REFRESH
    return 0


@kernel
def start_rare(tag, pos, lx):
    """Act on a start tag that few pages have many of; return where reading goes on."""
    html, st, ev = lx.html, lx.state, lx.out.events
    lim = st[s.LIM]
    if tag == t.SCRIPT:
        return m.script_end(html, pos, lim)
    if tag == t.STYLE:
        return m.raw_end(html, pos, lim, b"style")
    if tag == t.TEMPLATE:
        return m.template_end(html, pos, lim)
    if tag == t.NOEMBED:
        return m.raw_end(html, pos, lim, b"noembed")
    if tag == t.IFRAME:
        if st[s.SRC] >= 0:
            add_anchor(st[s.SRC], st[s.SRC + 1], _IFRAME, lx)
        return m.raw_end(html, pos, lim, b"iframe")
    if tag == t.FRAME:
        if st[s.FRAMESET] != 0 and st[s.SRC] >= 0:
            add_anchor(st[s.SRC], st[s.SRC + 1], _FRAME, lx)
    elif tag == t.HTML:
        if st[s.LANG] >= 0 and st[s.LANG0] < 0:
            st[s.LANG0] = st[s.LANG] - st[s.ORIGIN]
            st[s.LANG1] = st[s.LANG + 1] - st[s.ORIGIN]
    elif tag == t.BASE:
        if st[s.HREF] >= 0 and st[s.BASE] < 0:
            st[s.BASE] = add_href(st[s.HREF], st[s.HREF + 1], lx)
    elif tag == t.LINK:
        if (
            st[s.CANONICAL] < 0
            and st[s.HREF + 1] > st[s.HREF] >= 0
            and st[s.REL] >= 0
            and m.has_word(html, st[s.REL], st[s.REL + 1], b"canonical")
        ):
            st[s.CANONICAL] = add_href(st[s.HREF], st[s.HREF + 1], lx)
    else:  # <hr>, <body>, <option> and <optgroup>
        if st[s.BITS + tag] & t.CLOSES_P:
            tree.pop_to(tree.find_p(st), st[s.NTOK], st, lx.out.anchors, ev)
        tree.border(st[s.START_BORDER + tag], st[s.NTOK], st, ev)
    return pos
