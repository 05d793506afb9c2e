"""Keep the stack of open elements and the list of formatting elements, as far as words and anchors depend on them.

This follows the WHATWG tree construction: implied end tags, scopes, the adoption agency (an element is taken
out from between others instead of being cloned) and reconstruction of formatting. Elements that change
nothing for a word, `<i>` or `<span>` say, are never pushed.
"""

from pagekin.hypertext._kernels import slots as s
from pagekin.hypertext._kernels import tags as t
from pagekin.hypertext.batch import A_END
from pagekin.store import kernel

MARK = -1
_TEXT, _HEADER, _KEYWORD, _ADDRESS = 32, 2, 4, 8
_SENTENCE, _CRUMBS_START, _CRUMBS_END = 5, 9, 10
_DEEP = 32


@kernel
def border(kind, ntok, st, ev):
    """Note a boundary of `kind` before the next word, once; none if `kind` is 0."""
    if st[s.MUTE] != 0 or kind == 0:
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
def count_in(tag, step, st):
    """Count an element that opens (step 1) or closes (step -1); words to come have attributes by these counts."""
    st[st[s.COUNTER + tag]] += step
    attr = _TEXT
    if st[s.HEADINGS] > 0:
        attr |= _HEADER
    if st[s.KEYWORDS] > 0:
        attr |= _KEYWORD
    if st[s.ADDRESSES] > 0:
        attr |= _ADDRESS
    st[s.ATTR] = attr


@kernel
def push(tag, entry, st):
    """Open an element; return False if the nesting limit is reached."""
    sp = st[s.SP]
    if sp >= st[s.NESTING]:
        st[s.FLAGS] |= _DEEP
        return False
    st[s.STACK + sp], st[s.ENTRY + sp] = tag, entry
    st[s.SP] = sp + 1
    count_in(tag, 1, st)
    return True


@kernel
def add_entry(tag, depth, anchor, st):
    """Add an entry to the formatting list, for which there must be room."""
    nf = st[s.NF]
    st[s.F_TAG + nf], st[s.F_DEPTH + nf], st[s.F_ANCHOR + nf] = tag, depth, anchor
    st[s.NF] = nf + 1


@kernel
def remove_entry(f, st):
    """Take entry `f` off the formatting list, and link the stack to the entries that moved."""
    nf = st[s.NF] - 1
    for i in range(f, nf):
        st[s.F_TAG + i] = st[s.F_TAG + i + 1]
        st[s.F_DEPTH + i] = st[s.F_DEPTH + i + 1]
        st[s.F_ANCHOR + i] = st[s.F_ANCHOR + i + 1]
    st[s.NF] = nf
    for i in range(st[s.SP]):
        st[s.ENTRY + i] = -1
    for g in range(nf):
        if st[s.F_DEPTH + g] >= 0:
            st[s.ENTRY + st[s.F_DEPTH + g]] = g


@kernel
def pop_to(depth, ntok, st, an, ev):
    """Close all elements from `depth` on; none if it is -1."""
    while st[s.SP] > depth >= 0:
        sp = st[s.SP] - 1
        st[s.SP] = sp
        tag, entry = st[s.STACK + sp], st[s.ENTRY + sp]
        if entry >= 0:
            st[s.F_DEPTH + entry] = -1
            st[s.PENDING] = 1
            if st[s.F_ANCHOR + entry] >= 0:
                an[4 * st[s.F_ANCHOR + entry] + A_END] = ntok
        count_in(tag, -1, st)
        if st[s.BITS + tag] & t.MARKER:
            # Formatting that was opened inside ends here.
            st[s.NF] = max(first_entry(st) - 1, 0)
            st[s.PENDING] = 1
        border(st[s.END_BORDER + tag], ntok, st, ev)
        if tag == t.NOFRAMES and st[s.FRAMESET] != 0:
            st[s.MUTE] = 1
        if sp == st[s.CRUMB_SP]:
            st[s.CRUMB_SP] = -1
            border(_CRUMBS_END, ntok, st, ev)


@kernel
def find(tag, kinds, stop, st):
    """Return the depth of the innermost open `tag` or element of `kinds`, with none of `stop` inside it (bits); or -1."""
    i = st[s.SP] - 1
    while i >= 0 and st[s.STACK + i] != tag and not st[s.BITS + st[s.STACK + i]] & kinds:
        if st[s.BITS + st[s.STACK + i]] & stop:
            return -1
        i -= 1
    return i


@kernel
def find_p(st):
    """Return the depth of an open paragraph in button scope, or -1."""
    return find(t.P, 0, t.BUTTON_SCOPE, st) if st[s.PARAGRAPHS] > 0 else -1


@kernel
def find_cell(st):
    """Return the depth of the innermost open cell or caption of the current table, or -1."""
    return find(-1, t.CELL, t.TABLE_SCOPE, st) if st[s.TABLES] > 0 else -1


@kernel
def first_entry(st):
    """Return the first entry of the formatting list after its last marker."""
    f = st[s.NF]
    while f > 0 and st[s.F_TAG + f - 1] != MARK:
        f -= 1
    return f


@kernel
def reconstruct(st):
    """Open again the formatting elements that a block's end closed."""
    st[s.PENDING] = 0
    for f in range(first_entry(st), st[s.NF]):
        if st[s.F_DEPTH + f] < 0 and push(st[s.F_TAG + f], f, st):
            st[s.F_DEPTH + f] = st[s.SP] - 1


@kernel
def add_formatting(tag, anchor, st):
    """Open a formatting element, on the stack and on the list, if there is room."""
    if st[s.PENDING] != 0:
        reconstruct(st)
    if tag != t.A:
        # Noah's Ark: at most three alike since the last marker (attributes are not compared).
        alike = 0
        earliest = -1
        for f in range(first_entry(st), st[s.NF]):
            if st[s.F_TAG + f] == tag:
                alike += 1
                earliest = f if earliest < 0 else earliest
        if alike >= 3:
            remove_entry(earliest, st)
    if st[s.NF] < s.FORMATTING_MOST and push(tag, st[s.NF], st):
        add_entry(tag, st[s.SP] - 1, anchor, st)


@kernel
def end_formatting(tag, force, ntok, st, an, ev):
    """Act on the end tag of a formatting element: the adoption agency algorithm, without its clones.

    `force` closes it even out of scope, as a second `<a>` does.
    """
    first, f = first_entry(st), st[s.NF] - 1
    while f >= first and st[s.F_TAG + f] != tag:
        f -= 1
    if f < first:
        return
    depth = st[s.F_DEPTH + f]
    if depth >= 0:
        inside = 0
        for i in range(depth + 1, st[s.SP]):
            inside |= st[s.BITS + st[s.STACK + i]]
        if inside & t.SCOPE and not force:
            return
        if inside & t.SPECIAL:
            take_out(depth, f, ntok, st, an)
        else:
            pop_to(depth, ntok, st, an, ev)
    if f == st[s.NF] - 1:
        st[s.NF] = f
    else:
        remove_entry(f, st)


@kernel
def take_out(depth, f, ntok, st, an):
    """Close the element of formatting entry `f`, open at `depth`, and leave those inside it open."""
    if st[s.F_ANCHOR + f] >= 0:
        an[4 * st[s.F_ANCHOR + f] + A_END] = ntok
    count_in(st[s.F_TAG + f], -1, st)
    for i in range(depth, st[s.SP] - 1):
        st[s.STACK + i], st[s.ENTRY + i] = st[s.STACK + i + 1], st[s.ENTRY + i + 1]
    st[s.SP] -= 1
    if st[s.CRUMB_SP] > depth:
        st[s.CRUMB_SP] -= 1
    for g in range(st[s.NF]):
        if st[s.F_DEPTH + g] > depth:
            st[s.F_DEPTH + g] -= 1


@kernel
def open_block(tag, ntok, st, an, ev):
    """Act on the start tag of an element that is no formatting element and is kept on the stack."""
    bits = st[s.BITS + tag]
    if bits & t.ITEM:
        pop_to(find(tag, bits & t.DESCRIPTION, t.ITEM_SCOPE, st), ntok, st, an, ev)
    elif bits & t.CELL:
        if st[s.TABLES] == 0:
            return
        i = find_cell(st)
        # Back to the table, if outside its cells: what was opened between them ends.
        pop_to(i if i >= 0 else find(t.TABLE, 0, 0, st) + 1, ntok, st, an, ev)
    elif tag == t.BUTTON:
        pop_to(find(tag, 0, t.SCOPE, st), ntok, st, an, ev)
    elif tag == t.TABLE and st[s.TABLES] > 0 and find_cell(st) < 0:
        # A table start inside a table but outside its cells ends that table.
        pop_to(find(tag, 0, t.MARKER, st), ntok, st, an, ev)
    if bits & t.CLOSES_P:
        pop_to(find_p(st), ntok, st, an, ev)
    if bits & t.HEADING and st[s.SP] > 0 and st[s.BITS + st[s.STACK + st[s.SP] - 1]] & t.HEADING:
        pop_to(st[s.SP] - 1, ntok, st, an, ev)
    border(st[s.START_BORDER + tag], ntok, st, ev)
    if not push(tag, -1, st) or not bits & t.MARKER:
        return
    if st[s.NF] < s.FORMATTING_MOST:
        add_entry(MARK, -1, -1, st)
    else:
        st[s.SP] -= 1  # no room for its marker: as if it were not there
        count_in(tag, -1, st)


@kernel
def close_block(tag, ntok, st, an, ev):
    """Act on the end tag of an element that is no formatting element, or of a part of a table."""
    bits = st[s.BITS + tag]
    if tag == t.P:
        depth = find_p(st)
        if depth < 0:
            border(st[s.END_BORDER + tag], ntok, st, ev)
    elif tag == t.LI:
        depth = find(tag, 0, t.LIST_SCOPE, st)
    elif bits & t.ROW:
        depth = find_cell(st)
    elif bits & t.CELL:
        depth = find(tag, 0, t.TABLE_SCOPE | t.CELL, st)
    elif tag == t.TABLE:
        depth = find(tag, 0, t.TABLE_SCOPE, st)
    elif tag == t.NOFRAMES:
        depth = find(tag, 0, 0, st)
    elif bits & t.SPECIAL:
        depth = find(tag, bits & t.HEADING, t.SCOPE, st)
    else:
        depth = find(tag, 0, t.SPECIAL, st)
    pop_to(depth, ntok, st, an, ev)
