"""The stack of open elements and the list of active formatting elements, as far as words and anchors depend on them.

This follows the WHATWG tree construction: implied end tags, scopes, the adoption agency (an element is taken out from
between others instead of being cloned) and reconstruction of formatting. Elements that change nothing for a word,
`<i>` or `<span>` say, are never pushed.
"""

from numba import njit

from pagekin.hypertext._kernels import slots as s
from pagekin.hypertext._kernels import tags as t

FORMATTING = 256  # entries of the formatting list, markers included
MARK = -1
_TEXT, _HEADER, _KEYWORD, _ADDRESS = 32, 2, 4, 8
_PARAGRAPH, _CELL, _ITEM, _SENTENCE, _HEADING, _LIST_END, _TABLE_END = 1, 2, 3, 5, 6, 7, 8
_CRUMBS_START, _CRUMBS_END = 9, 10
_DEEP = 32


@njit(cache=True)
def border(kind, ntok, st, ev_pos, ev_kind):
    """Note a boundary of `kind` before the next word, once."""
    if st[s.MUTE] != 0:
        return
    if kind != _SENTENCE:
        if st[s.AFTER_STOP] != 0:
            st[s.AFTER_STOP] = 0
            border_here(_SENTENCE, ntok, st, ev_pos, ev_kind)
        if kind < _CRUMBS_START:
            st[s.LINE] = 1
    border_here(kind, ntok, st, ev_pos, ev_kind)


@njit(cache=True)
def border_here(kind, ntok, st, ev_pos, ev_kind):
    """`border` without its side effects."""
    if st[s.LAST + kind] == ntok or st[s.NEV] >= len(ev_pos):
        return
    st[s.LAST + kind] = ntok
    ev_pos[st[s.NEV]] = ntok - st[s.TOK0]
    ev_kind[st[s.NEV]] = kind
    st[s.NEV] += 1


@njit(cache=True)
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


@njit(cache=True)
def count_in(tag, step, st, bits):
    """Count an element that opens (step 1) or closes (step -1)."""
    if bits[tag] & t.HEADING:
        st[s.HEADINGS] += step
    elif tag == t.B or tag == t.EM or tag == t.STRONG or tag == t.DFN or tag == t.DT:
        st[s.KEYWORDS] += step
    elif tag == t.ADDRESS:
        st[s.ADDRESSES] += step
    elif tag == t.SVG:
        st[s.SVG] += step
        return
    else:
        return
    set_attributes(st)


@njit(cache=True)
def push(tag, entry, st, stack, links, bits):
    """Open an element; False if the nesting limit is reached."""
    sp = st[s.SP]
    if sp >= len(stack):
        st[s.FLAGS] |= _DEEP
        return False
    stack[sp] = tag
    links[sp] = entry
    st[s.SP] = sp + 1
    count_in(tag, 1, st, bits)
    return True


@njit(cache=True)
def remove_entry(f, st, links, formatting):
    """Take entry `f` off the formatting list, and link the stack to the entries that moved."""
    nf = st[s.NF] - 1
    for i in range(f, nf):
        formatting[i, 0] = formatting[i + 1, 0]
        formatting[i, 1] = formatting[i + 1, 1]
        formatting[i, 2] = formatting[i + 1, 2]
    st[s.NF] = nf
    for i in range(st[s.SP]):
        links[i] = -1
    for g in range(nf):
        if formatting[g, 0] != MARK and formatting[g, 1] >= 0:
            links[formatting[g, 1]] = g


@njit(cache=True)
def pop_to(depth, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind):
    """Close all elements from `depth` on."""
    while st[s.SP] > depth:
        sp = st[s.SP] - 1
        st[s.SP] = sp
        tag = stack[sp]
        entry = links[sp]
        if entry >= 0:
            formatting[entry, 1] = -1
            st[s.PENDING] = 1
            if formatting[entry, 2] >= 0:
                an_end[formatting[entry, 2]] = ntok
        count_in(tag, -1, st, bits)
        b = bits[tag]
        if b & t.MARKER:
            # Formatting that was opened inside ends here.
            nf = st[s.NF]
            while nf > 0:
                nf -= 1
                if formatting[nf, 0] == MARK:
                    break
            st[s.NF] = nf
            st[s.PENDING] = 1
        if b & t.LIST:
            border(_LIST_END, ntok, st, ev_pos, ev_kind)
        elif tag == t.TABLE:
            border(_TABLE_END, ntok, st, ev_pos, ev_kind)
        elif tag == t.TD or tag == t.TH:
            border(_CELL, ntok, st, ev_pos, ev_kind)
        elif b & t.ITEM:
            border(_ITEM, ntok, st, ev_pos, ev_kind)
        elif b & (t.PARAGRAPH | t.HEADING):
            border(_PARAGRAPH, ntok, st, ev_pos, ev_kind)
        if tag == t.NOFRAMES and st[s.FRAMESET] != 0:
            st[s.MUTE] = 1
        if sp == st[s.CRUMB_SP]:
            st[s.CRUMB_SP] = -1
            border(_CRUMBS_END, ntok, st, ev_pos, ev_kind)


@njit(cache=True)
def find(tag, stop, st, stack, bits):
    """The depth of the innermost open `tag` that no element with a bit of `stop` encloses from inside; or -1."""
    i = st[s.SP] - 1
    while i >= 0:
        if stack[i] == tag:
            return i
        if bits[stack[i]] & stop:
            return -1
        i -= 1
    return -1


@njit(cache=True)
def find_p(st, stack, bits):
    """The depth of an open paragraph in button scope, or -1."""
    i = st[s.SP] - 1
    while i >= 0:
        if stack[i] == t.P:
            return i
        if bits[stack[i]] & t.SCOPE or stack[i] == t.BUTTON:
            return -1
        i -= 1
    return -1


@njit(cache=True)
def find_cell(st, stack):
    """The depth of the innermost open cell or caption of the current table, or -1."""
    i = st[s.SP] - 1
    while i >= 0 and stack[i] != t.TABLE and stack[i] != t.NOFRAMES:
        if stack[i] == t.TD or stack[i] == t.TH or stack[i] == t.CAPTION:
            return i
        i -= 1
    return -1


@njit(cache=True)
def reconstruct(st, stack, links, formatting, bits):
    """Open again the formatting elements that a block's end closed."""
    st[s.PENDING] = 0
    first = st[s.NF]
    while first > 0 and formatting[first - 1, 0] != MARK:
        first -= 1
    for f in range(first, st[s.NF]):
        if formatting[f, 1] < 0 and push(formatting[f, 0], f, st, stack, links, bits):
            formatting[f, 1] = st[s.SP] - 1


@njit(cache=True)
def add_formatting(tag, anchor, st, stack, links, formatting, bits):
    """Open a formatting element: on the stack and on the list. False if there is no room."""
    if st[s.PENDING] != 0:
        reconstruct(st, stack, links, formatting, bits)
    nf = st[s.NF]
    if tag != t.A:
        # Noah's Ark: at most three alike since the last marker (attributes are not compared).
        alike = 0
        earliest = -1
        f = nf - 1
        while f >= 0 and formatting[f, 0] != MARK:
            if formatting[f, 0] == tag:
                alike += 1
                earliest = f
            f -= 1
        if alike >= 3:
            remove_entry(earliest, st, links, formatting)
            nf = st[s.NF]
    if nf >= FORMATTING or not push(tag, nf, st, stack, links, bits):
        return False
    formatting[nf, 0] = tag
    formatting[nf, 1] = st[s.SP] - 1
    formatting[nf, 2] = anchor
    st[s.NF] = nf + 1
    return True


@njit(cache=True)
def end_formatting(tag, force, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind):
    """The end tag of a formatting element: the adoption agency algorithm, without its clones.

    `force` closes it even out of scope, as a second `<a>` does.
    """
    f = st[s.NF] - 1
    while f >= 0 and formatting[f, 0] != tag:
        if formatting[f, 0] == MARK:
            return
        f -= 1
    if f < 0:
        return
    depth = formatting[f, 1]
    if depth >= 0:
        block = False
        for i in range(depth + 1, st[s.SP]):
            if bits[stack[i]] & t.SCOPE and not force:
                return
            if bits[stack[i]] & t.SPECIAL:
                block = True
        if block:
            if formatting[f, 2] >= 0:
                an_end[formatting[f, 2]] = ntok
            count_in(tag, -1, st, bits)
            for i in range(depth, st[s.SP] - 1):
                stack[i] = stack[i + 1]
                links[i] = links[i + 1]
            st[s.SP] -= 1
            if st[s.CRUMB_SP] > depth:
                st[s.CRUMB_SP] -= 1
            for g in range(st[s.NF]):
                if formatting[g, 0] != MARK and formatting[g, 1] > depth:
                    formatting[g, 1] -= 1
        else:
            pop_to(depth, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind)
    if f == st[s.NF] - 1:
        st[s.NF] = f
    else:
        remove_entry(f, st, links, formatting)


@njit(cache=True)
def open_block(tag, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind):
    """The start tag of an element that is no formatting element and is kept on the stack."""
    b = bits[tag]
    if tag == t.LI or tag == t.DD or tag == t.DT:
        i = st[s.SP] - 1
        while i >= 0:
            if stack[i] == tag or (tag != t.LI and (stack[i] == t.DD or stack[i] == t.DT)):
                pop_to(i, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind)
                break
            if bits[stack[i]] & t.SPECIAL and stack[i] != t.ADDRESS and stack[i] != t.DIV and stack[i] != t.P:
                break
            i -= 1
    elif tag == t.TD or tag == t.TH or tag == t.CAPTION:
        if find(t.TABLE, 0, st, stack, bits) < 0:
            return
        i = find_cell(st, stack)
        if i >= 0:
            pop_to(i, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind)
        else:
            # Back to the table: what was opened between cells ends.
            i = st[s.SP] - 1
            while i >= 0 and stack[i] != t.TABLE:
                i -= 1
            pop_to(i + 1, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind)
    elif tag == t.BUTTON:
        i = find(t.BUTTON, t.SCOPE, st, stack, bits)
        if i >= 0:
            pop_to(i, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind)
    elif tag == t.TABLE and find_cell(st, stack) < 0:
        # A table start inside a table but outside its cells ends that table.
        i = find(t.TABLE, t.MARKER, st, stack, bits)
        if i >= 0:
            pop_to(i, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind)
    if b & t.CLOSES_P:
        i = find_p(st, stack, bits)
        if i >= 0:
            pop_to(i, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind)
    if b & t.HEADING:
        if st[s.SP] > 0 and bits[stack[st[s.SP] - 1]] & t.HEADING:
            pop_to(st[s.SP] - 1, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind)
        border(_HEADING, ntok, st, ev_pos, ev_kind)
    elif tag == t.TD or tag == t.TH:
        border(_CELL, ntok, st, ev_pos, ev_kind)
    elif b & t.ITEM:
        border(_ITEM, ntok, st, ev_pos, ev_kind)
    elif b & t.PARAGRAPH:
        border(_PARAGRAPH, ntok, st, ev_pos, ev_kind)
    if not push(tag, -1, st, stack, links, bits):
        return
    if b & t.MARKER:
        nf = st[s.NF]
        if nf < FORMATTING:
            formatting[nf, 0] = MARK
            formatting[nf, 1] = -1
            formatting[nf, 2] = -1
            st[s.NF] = nf + 1
        else:
            st[s.SP] -= 1  # no room for its marker: as if it were not there
            count_in(tag, -1, st, bits)


@njit(cache=True)
def close_block(tag, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind):
    """The end tag of an element that is no formatting element."""
    b = bits[tag]
    depth = -1
    if tag == t.P:
        depth = find_p(st, stack, bits)
        if depth < 0:
            border(_PARAGRAPH, ntok, st, ev_pos, ev_kind)
    elif b & t.HEADING:
        i = st[s.SP] - 1
        while i >= 0 and not bits[stack[i]] & t.SCOPE:
            if bits[stack[i]] & t.HEADING:
                depth = i
                break
            i -= 1
    elif tag == t.LI:
        i = st[s.SP] - 1
        while i >= 0:
            if stack[i] == t.LI:
                depth = i
                break
            if bits[stack[i]] & t.SCOPE or stack[i] == t.UL or stack[i] == t.OL:
                break
            i -= 1
    elif tag == t.TR or tag == t.TBODY or tag == t.THEAD or tag == t.TFOOT:
        depth = find_cell(st, stack)
    elif tag == t.TD or tag == t.TH or tag == t.CAPTION:
        i = find_cell(st, stack)
        if i >= 0 and stack[i] == tag:
            depth = i
    elif tag == t.TABLE:
        i = st[s.SP] - 1
        while i >= 0 and stack[i] != t.TABLE and stack[i] != t.NOFRAMES:
            i -= 1
        if i >= 0 and stack[i] == t.TABLE:
            depth = i
    elif tag == t.NOFRAMES:
        depth = find(tag, 0, st, stack, bits)
    elif b & t.SPECIAL:
        i = st[s.SP] - 1
        while i >= 0:
            if stack[i] == tag:
                depth = i
                break
            if bits[stack[i]] & t.SCOPE:
                break
            i -= 1
    else:
        depth = find(tag, t.SPECIAL, st, stack, bits)
    if depth >= 0:
        pop_to(depth, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind)
