"""Keep the stack of open elements and the list of formatting elements, as far as words and anchors depend on them.

This follows the WHATWG tree construction: implied end tags, scopes, the adoption agency (an element is taken
out from between others instead of being cloned) and reconstruction of formatting. Elements that change
nothing for a word, `<i>` or `<span>` say, are never pushed.
"""

from pagekin.hypertext._kernels import slots as s
from pagekin.hypertext._kernels import tags as t
from pagekin.store import kernel

MARK = -1
_TEXT, _HEADER, _KEYWORD, _ADDRESS = 32, 2, 4, 8
_PARAGRAPH, _CELL, _ITEM, _SENTENCE, _HEADING, _LIST_END, _TABLE_END = 1, 2, 3, 5, 6, 7, 8
_CRUMBS_START, _CRUMBS_END = 9, 10
_DEEP = 32


@kernel
def element(depth, st):
    """Return the open element at `depth` of the stack."""
    return st[s.STACK + 2 * depth]


@kernel
def entry_of(depth, st):
    """Return the formatting entry of the open element at `depth`, or -1."""
    return st[s.STACK + 2 * depth + 1]


@kernel
def element_of(f, st):
    """Return the element of formatting entry `f`, or MARK."""
    return st[s.FORMATTING + 3 * f]


@kernel
def depth_of(f, st):
    """Return where the element of formatting entry `f` is open, or -1."""
    return st[s.FORMATTING + 3 * f + 1]


@kernel
def anchor_of(f, st):
    """Return the anchor that formatting entry `f` makes, or -1."""
    return st[s.FORMATTING + 3 * f + 2]


@kernel
def border(kind, ntok, st, ev):
    """Note a boundary of `kind` before the next word, once."""
    if st[s.MUTE] != 0:
        return
    if kind != _SENTENCE:
        if st[s.AFTER_STOP] != 0:
            st[s.AFTER_STOP] = 0
            border_here(_SENTENCE, ntok, st, ev)
        if kind < _CRUMBS_START:
            st[s.LINE] = 1
    border_here(kind, ntok, st, ev)


@kernel
def border_here(kind, ntok, st, ev):
    """Note a boundary as `border` does, without its side effects."""
    n = st[s.NEV]
    if st[s.LAST + kind] == ntok or n >= st[s.MAX_EVENTS]:
        return
    st[s.LAST + kind] = ntok
    ev[n] = (ntok - st[s.TOK0]) << 8 | kind
    st[s.NEV] = n + 1


@kernel
def set_attributes(st):
    """Recompute the attributes of the words to come."""
    attr = _TEXT
    if st[s.HEADINGS] > 0:
        attr |= _HEADER
    if st[s.KEYWORDS] > 0:
        attr |= _KEYWORD
    if st[s.ADDRESSES] > 0:
        attr |= _ADDRESS
    st[s.ATTR] = attr


@kernel
def count_in(tag, step, st):
    """Count an element that opens (step 1) or closes (step -1)."""
    if st[s.BITS + tag] & t.HEADING:
        st[s.HEADINGS] += step
    elif tag == t.B or tag == t.EM or tag == t.STRONG or tag == t.DFN or tag == t.DT:
        st[s.KEYWORDS] += step
    elif tag == t.ADDRESS:
        st[s.ADDRESSES] += step
    elif tag == t.P:
        st[s.PARAGRAPHS] += step
        return
    elif tag == t.TABLE:
        st[s.TABLES] += step
        return
    elif tag == t.SVG:
        st[s.SVG] += step
        return
    else:
        return
    set_attributes(st)


@kernel
def push(tag, entry, st):
    """Open an element; return False if the nesting limit is reached."""
    sp = st[s.SP]
    if sp >= st[s.NESTING]:
        st[s.FLAGS] |= _DEEP
        return False
    st[s.STACK + 2 * sp] = tag
    st[s.STACK + 2 * sp + 1] = entry
    st[s.SP] = sp + 1
    count_in(tag, 1, st)
    return True


@kernel
def remove_entry(f, st):
    """Take entry `f` off the formatting list, and link the stack to the entries that moved."""
    nf = st[s.NF] - 1
    for i in range(f, nf):
        st[s.FORMATTING + 3 * i] = element_of(i + 1, st)
        st[s.FORMATTING + 3 * i + 1] = depth_of(i + 1, st)
        st[s.FORMATTING + 3 * i + 2] = anchor_of(i + 1, st)
    st[s.NF] = nf
    for i in range(st[s.SP]):
        st[s.STACK + 2 * i + 1] = -1
    for g in range(nf):
        if element_of(g, st) != MARK and depth_of(g, st) >= 0:
            st[s.STACK + 2 * st[s.FORMATTING + 3 * g + 1] + 1] = g


@kernel
def pop_to(depth, ntok, st, an, ev):
    """Close all elements from `depth` on."""
    while st[s.SP] > depth:
        sp = st[s.SP] - 1
        st[s.SP] = sp
        tag = element(sp, st)
        entry = entry_of(sp, st)
        if entry >= 0:
            st[s.FORMATTING + 3 * entry + 1] = -1
            st[s.PENDING] = 1
            if anchor_of(entry, st) >= 0:
                an[4 * anchor_of(entry, st) + s.A_END] = ntok
        count_in(tag, -1, st)
        b = st[s.BITS + tag]
        if b & t.MARKER:
            # Formatting that was opened inside ends here.
            nf = st[s.NF]
            while nf > 0:
                nf -= 1
                if element_of(nf, st) == MARK:
                    break
            st[s.NF] = nf
            st[s.PENDING] = 1
        if b & t.LIST:
            border(_LIST_END, ntok, st, ev)
        elif tag == t.TABLE:
            border(_TABLE_END, ntok, st, ev)
        elif tag == t.TD or tag == t.TH:
            border(_CELL, ntok, st, ev)
        elif b & t.ITEM:
            border(_ITEM, ntok, st, ev)
        elif b & (t.PARAGRAPH | t.HEADING):
            border(_PARAGRAPH, ntok, st, ev)
        if tag == t.NOFRAMES and st[s.FRAMESET] != 0:
            st[s.MUTE] = 1
        if sp == st[s.CRUMB_SP]:
            st[s.CRUMB_SP] = -1
            border(_CRUMBS_END, ntok, st, ev)


@kernel
def find(tag, stop, st):
    """Return the depth of the innermost open `tag` with no element with a bit of `stop` inside it; or -1."""
    i = st[s.SP] - 1
    while i >= 0:
        if element(i, st) == tag:
            return i
        if st[s.BITS + element(i, st)] & stop:
            return -1
        i -= 1
    return -1


@kernel
def find_p(st):
    """Return the depth of an open paragraph in button scope, or -1."""
    if st[s.PARAGRAPHS] == 0:
        return -1
    i = st[s.SP] - 1
    while i >= 0:
        if element(i, st) == t.P:
            return i
        if st[s.BITS + element(i, st)] & t.SCOPE or element(i, st) == t.BUTTON:
            return -1
        i -= 1
    return -1


@kernel
def find_cell(st):
    """Return the depth of the innermost open cell or caption of the current table, or -1."""
    if st[s.TABLES] == 0:
        return -1
    i = st[s.SP] - 1
    while i >= 0 and element(i, st) != t.TABLE and element(i, st) != t.NOFRAMES:
        if element(i, st) == t.TD or element(i, st) == t.TH or element(i, st) == t.CAPTION:
            return i
        i -= 1
    return -1


@kernel
def reconstruct(st):
    """Open again the formatting elements that a block's end closed."""
    st[s.PENDING] = 0
    first = st[s.NF]
    while first > 0 and element_of(first - 1, st) != MARK:
        first -= 1
    for f in range(first, st[s.NF]):
        if depth_of(f, st) < 0 and push(element_of(f, st), f, st):
            st[s.FORMATTING + 3 * f + 1] = st[s.SP] - 1


@kernel
def add_formatting(tag, anchor, st):
    """Open a formatting element: on the stack and on the list. Return False if there is no room."""
    if st[s.PENDING] != 0:
        reconstruct(st)
    nf = st[s.NF]
    if tag != t.A:
        # Noah's Ark: at most three alike since the last marker (attributes are not compared).
        alike = 0
        earliest = -1
        f = nf - 1
        while f >= 0 and element_of(f, st) != MARK:
            if element_of(f, st) == tag:
                alike += 1
                earliest = f
            f -= 1
        if alike >= 3:
            remove_entry(earliest, st)
            nf = st[s.NF]
    if nf >= s.FORMATTING_MOST or not push(tag, nf, st):
        return False
    st[s.FORMATTING + 3 * nf] = tag
    st[s.FORMATTING + 3 * nf + 1] = st[s.SP] - 1
    st[s.FORMATTING + 3 * nf + 2] = anchor
    st[s.NF] = nf + 1
    return True


@kernel
def end_formatting(tag, force, ntok, st, an, ev):
    """Act on the end tag of a formatting element: the adoption agency algorithm, without its clones.

    `force` closes it even out of scope, as a second `<a>` does.
    """
    f = st[s.NF] - 1
    while f >= 0 and element_of(f, st) != tag:
        if element_of(f, st) == MARK:
            return
        f -= 1
    if f < 0:
        return
    depth = depth_of(f, st)
    if depth >= 0:
        block = False
        for i in range(depth + 1, st[s.SP]):
            if st[s.BITS + element(i, st)] & t.SCOPE and not force:
                return
            if st[s.BITS + element(i, st)] & t.SPECIAL:
                block = True
        if block:
            if anchor_of(f, st) >= 0:
                an[4 * anchor_of(f, st) + s.A_END] = ntok
            count_in(tag, -1, st)
            for i in range(depth, st[s.SP] - 1):
                st[s.STACK + 2 * i] = element(i + 1, st)
                st[s.STACK + 2 * i + 1] = st[s.STACK + 2 * (i + 1) + 1]
            st[s.SP] -= 1
            if st[s.CRUMB_SP] > depth:
                st[s.CRUMB_SP] -= 1
            for g in range(st[s.NF]):
                if element_of(g, st) != MARK and depth_of(g, st) > depth:
                    st[s.FORMATTING + 3 * g + 1] -= 1
        else:
            pop_to(depth, ntok, st, an, ev)
    if f == st[s.NF] - 1:
        st[s.NF] = f
    else:
        remove_entry(f, st)


@kernel
def open_block(tag, ntok, st, an, ev):
    """Act on the start tag of an element that is no formatting element and is kept on the stack."""
    b = st[s.BITS + tag]
    if tag == t.LI or tag == t.DD or tag == t.DT:
        i = st[s.SP] - 1
        while i >= 0:
            if element(i, st) == tag or (tag != t.LI and (element(i, st) == t.DD or element(i, st) == t.DT)):
                pop_to(i, ntok, st, an, ev)
                break
            inner = element(i, st)
            if st[s.BITS + inner] & t.SPECIAL and inner != t.ADDRESS and inner != t.DIV and inner != t.P:
                break
            i -= 1
    elif tag == t.TD or tag == t.TH or tag == t.CAPTION:
        if st[s.TABLES] == 0:
            return
        i = find_cell(st)
        if i >= 0:
            pop_to(i, ntok, st, an, ev)
        else:
            # Back to the table: what was opened between cells ends.
            i = st[s.SP] - 1
            while i >= 0 and element(i, st) != t.TABLE:
                i -= 1
            pop_to(i + 1, ntok, st, an, ev)
    elif tag == t.BUTTON:
        i = find(t.BUTTON, t.SCOPE, st)
        if i >= 0:
            pop_to(i, ntok, st, an, ev)
    elif tag == t.TABLE and st[s.TABLES] > 0 and find_cell(st) < 0:
        # A table start inside a table but outside its cells ends that table.
        i = find(t.TABLE, t.MARKER, st)
        if i >= 0:
            pop_to(i, ntok, st, an, ev)
    if b & t.CLOSES_P:
        i = find_p(st)
        if i >= 0:
            pop_to(i, ntok, st, an, ev)
    if b & t.HEADING:
        if st[s.SP] > 0 and st[s.BITS + element(st[s.SP] - 1, st)] & t.HEADING:
            pop_to(st[s.SP] - 1, ntok, st, an, ev)
        border(_HEADING, ntok, st, ev)
    elif tag == t.TD or tag == t.TH:
        border(_CELL, ntok, st, ev)
    elif b & t.ITEM:
        border(_ITEM, ntok, st, ev)
    elif b & t.PARAGRAPH:
        border(_PARAGRAPH, ntok, st, ev)
    if not push(tag, -1, st):
        return
    if b & t.MARKER:
        nf = st[s.NF]
        if nf < s.FORMATTING_MOST:
            st[s.FORMATTING + 3 * nf] = MARK
            st[s.FORMATTING + 3 * nf + 1] = -1
            st[s.FORMATTING + 3 * nf + 2] = -1
            st[s.NF] = nf + 1
        else:
            st[s.SP] -= 1  # no room for its marker: as if it were not there
            count_in(tag, -1, st)


@kernel
def close_block(tag, ntok, st, an, ev):
    """Act on the end tag of an element that is no formatting element."""
    b = st[s.BITS + tag]
    depth = -1
    if tag == t.P:
        depth = find_p(st)
        if depth < 0:
            border(_PARAGRAPH, ntok, st, ev)
    elif b & t.HEADING:
        i = st[s.SP] - 1
        while i >= 0 and not st[s.BITS + element(i, st)] & t.SCOPE:
            if st[s.BITS + element(i, st)] & t.HEADING:
                depth = i
                break
            i -= 1
    elif tag == t.LI:
        i = st[s.SP] - 1
        while i >= 0:
            if element(i, st) == t.LI:
                depth = i
                break
            if st[s.BITS + element(i, st)] & t.SCOPE or element(i, st) == t.UL or element(i, st) == t.OL:
                break
            i -= 1
    elif tag == t.TR or tag == t.TBODY or tag == t.THEAD or tag == t.TFOOT:
        depth = find_cell(st)
    elif tag == t.TD or tag == t.TH or tag == t.CAPTION:
        i = find_cell(st)
        if i >= 0 and element(i, st) == tag:
            depth = i
    elif tag == t.TABLE:
        i = st[s.SP] - 1
        while i >= 0 and element(i, st) != t.TABLE and element(i, st) != t.NOFRAMES:
            i -= 1
        if i >= 0 and element(i, st) == t.TABLE:
            depth = i
    elif tag == t.NOFRAMES:
        depth = find(tag, 0, st)
    elif b & t.SPECIAL:
        i = st[s.SP] - 1
        while i >= 0:
            if element(i, st) == tag:
                depth = i
                break
            if st[s.BITS + element(i, st)] & t.SCOPE:
                break
            i -= 1
    else:
        depth = find(tag, t.SPECIAL, st)
    if depth >= 0:
        pop_to(depth, ntok, st, an, ev)
