"""The lexer: one pass over the bytes of a page, to words, attributes, boundaries and anchors."""

import numpy as np
from numba import njit

from pagekin.hypertext._kernels import markup as m
from pagekin.hypertext._kernels import slots as s
from pagekin.hypertext._kernels import tags as t
from pagekin.hypertext._kernels import tree, wide
from pagekin.hypertext._kernels.borrow import borrow
from pagekin.hypertext._kernels.intern import digest_of, head, intern, mix, slot_shift

_OTHER, _SPACE, _WORD, _MARK, _PAIR, _STOP, _CLOSER, _IGNORED, _FULL_STOP = range(9)
_DATA, _RCDATA, _RAW, _VALUE, _CDATA = range(5)
_TITLE, _KEYWORD, _ALT, _TEXT = 1, 4, 16, 32
_A, _AREA, _FRAME, _IFRAME, _REFRESH = range(5)
_NO_TAG, _START, _END, _SKIPPED = range(4)  # the number of characters before the name, too
_PARAGRAPH, _CELL, _ITEM, _BREAK, _SENTENCE, _CRUMBS_START, _CRUMBS_END = 1, 2, 3, 4, 5, 9, 10
_NOINDEX, _NOFOLLOW, _CUT_TOKENS, _CUT_ANCHORS = 1, 2, 8, 16
_ATTRIBUTE_EVENT = 64
_W_KEYWORDS = np.frombuffer(b"keywords", dtype=np.uint8)
_W_ROBOTS = np.frombuffer(b"robots", dtype=np.uint8)
_W_NOINDEX = np.frombuffer(b"noindex", dtype=np.uint8)
_W_NOFOLLOW = np.frombuffer(b"nofollow", dtype=np.uint8)
_W_NONE = np.frombuffer(b"none", dtype=np.uint8)
_W_REFRESH = np.frombuffer(b"refresh", dtype=np.uint8)
_W_CANONICAL = np.frombuffer(b"canonical", dtype=np.uint8)
_W_IMAGE = np.frombuffer(b"image", dtype=np.uint8)
_N_SCRIPT = np.frombuffer(b"script", dtype=np.uint8)
_N_STYLE = np.frombuffer(b"style", dtype=np.uint8)
_N_TEMPLATE = np.frombuffer(b"template", dtype=np.uint8)
_N_TITLE = np.frombuffer(b"title", dtype=np.uint8)
_N_TEXTAREA = np.frombuffer(b"textarea", dtype=np.uint8)
_N_XMP = np.frombuffer(b"xmp", dtype=np.uint8)
_N_IFRAME = np.frombuffer(b"iframe", dtype=np.uint8)
_N_NOEMBED = np.frombuffer(b"noembed", dtype=np.uint8)


@njit(cache=True)
def class_of(code, class_index, class_blocks):
    """The class of a character."""
    if code > 0x10FFFF:
        return _OTHER
    return class_blocks[(np.int64(class_index[code >> 8]) << 8) | (code & 255)]


@njit(cache=True)
def add_anchor(buf, start, end, kind, ntok, st, an, hslots, hbounds, harena, refs):
    """A new anchor for the address in buf[start:end], starting at the next word; its number, or -1."""
    if st[s.MUTE] != 0 and kind != _REFRESH and kind != _FRAME:
        return -1
    href = add_href(buf, start, end, st, hslots, hbounds, harena, refs)
    if href < 0:
        st[s.DROPPED] += 1
        return -1
    number = st[s.NAN]
    if number - st[s.AN0] >= st[s.MAX_ANCHORS]:
        st[s.FLAGS] |= _CUT_ANCHORS
        return -1
    an[4 * number + s.A_HREF] = href
    an[4 * number + s.A_START] = ntok
    an[4 * number + s.A_END] = ntok
    an[4 * number + s.A_FLAGS] = kind << 1
    st[s.NAN] = number + 1
    return number


@njit(cache=True)
def add_href(buf, start, end, st, hslots, hbounds, harena, refs):
    """The number of the address in buf[start:end], or -1 if it is too long."""
    count = st[s.NHREFS]
    if count == st[s.MAX_HREFS]:
        st[s.FULL] |= s.FULL_HREFS
        return np.int64(-1)
    at = hbounds[count]
    length = m.address(buf, start, end, st[s.MAX_URL], harena, at, refs)
    if length < 0:
        return np.int64(-1)
    href = intern(length, digest_of(harena, at, length), hslots, st[s.HREF_SHIFT], hbounds, harena, count)
    if href == count:
        st[s.NHREFS] = count + 1
    return href


@njit(cache=True)
def has_word(buf, start, end, word):
    """Whether the space-separated list buf[start:end] holds `word`."""
    i = start
    while i < end:
        while i < end and m.is_space(buf[i]):
            i += 1
        j = i
        while j < end and not m.is_space(buf[j]):
            j += 1
        if m.same_word(buf, i, j, word):
            return True
        i = j
    return False


@njit(cache=True)
def start_page(st, ntok, ntxt):
    """Forget the page before."""
    st[s.TOK0], st[s.AN0], st[s.TXT0] = ntok, st[s.NAN], ntxt
    for i in (
        s.OVERRIDE, s.LAST_ATTR, s.HEADINGS, s.ADDRESSES, s.KEYWORDS, s.SP, s.NF, s.PENDING, s.LINE,
        s.AFTER_STOP, s.FLAGS, s.DROPPED, s.CRUMB_SPANS, s.FRAMESET, s.MUTE, s.SVG, s.PARAGRAPHS, s.TABLES,
    ):  # fmt: skip
        st[i] = 0
    for i in (s.BODY, s.TITLE0, s.TITLE1, s.LANG0, s.LANG1, s.BASE, s.CANONICAL, s.CRUMB_SP, s.AREA):
        st[i] = -1
    st[s.ATTR] = _TEXT
    st[s.FRAMESET_OK] = 1
    st[s.SAVED_TXT] = ntxt
    for i in range(s.LAST, s.FOUND):
        st[i] = -1


@njit(cache=True)
def meta_tag(buf, st):
    """What a <meta> says: 1 = its content is keywords, 2 = it is a refresh, 0 = neither."""
    c0, c1 = st[s.CONTENT], st[s.CONTENT + 1]
    if c0 < 0:
        return 0
    n0, n1 = st[s.NAME], st[s.NAME + 1]
    if n0 >= 0:
        while n0 < n1 and m.is_space(buf[n0]):
            n0 += 1
        while n1 > n0 and m.is_space(buf[n1 - 1]):
            n1 -= 1
        if m.same_word(buf, n0, n1, _W_KEYWORDS):
            return 1
        if m.same_word(buf, n0, n1, _W_ROBOTS):
            none = m.holds(buf, c0, c1, _W_NONE)
            if none or m.holds(buf, c0, c1, _W_NOINDEX):
                st[s.FLAGS] |= _NOINDEX
            if none or m.holds(buf, c0, c1, _W_NOFOLLOW):
                st[s.FLAGS] |= _NOFOLLOW
            return 0
    e0, e1 = st[s.HTTP_EQUIV], st[s.HTTP_EQUIV + 1]
    if e0 >= 0:
        while e0 < e1 and m.is_space(buf[e0]):
            e0 += 1
        while e1 > e0 and m.is_space(buf[e1 - 1]):
            e1 -= 1
        if m.same_word(buf, e0, e1, _W_REFRESH):
            return 2
    return 0


@njit(cache=True)
def end_tag(tag, bits, ntok, ntxt, in_word, st, an, ev):
    """Act on an end tag."""
    if bits & t.PUSHED or tag == t.TR or tag == t.TBODY or tag == t.THEAD or tag == t.TFOOT:
        if st[s.MUTE] != 0:
            return
        if bits & t.FORMATTING:
            # `</b>` may stand inside a word, which then belongs to an anchor that ends too.
            tree.end_formatting(tag, False, ntok + 1 if in_word else ntok, st, an, ev)
            return
        tree.close_block(tag, ntok, st, an, ev)
    elif tag == t.TITLE:
        if st[s.OVERRIDE] == _TITLE:
            st[s.LINE] = 1
            if st[s.TITLE1] < 0:
                st[s.TITLE1] = ntxt - st[s.TXT0]
        st[s.OVERRIDE] = 0
    elif tag == t.BR:
        tree.border(_BREAK, ntok, st, ev)
    elif bits & t.ITEM:
        tree.border(_ITEM, ntok, st, ev)
    elif tag == t.SPAN and st[s.CRUMB_SPANS] > 0:
        st[s.CRUMB_SPANS] -= 1
        if st[s.CRUMB_SPANS] == 0:
            tree.border(_CRUMBS_END, ntok + 1 if in_word else ntok, st, ev)


@njit(cache=True)
def start_anchor(tag, buf, ntok, st, an, ev, hslots, hbounds, harena, refs):
    """Act on <a> and <area>: the anchor's number, or -1."""
    if tag == t.A:
        tree.end_formatting(tag, True, ntok, st, an, ev)
    number = -1
    if st[s.HREF] >= 0:
        kind = _A if tag == t.A else _AREA
        start, end = st[s.HREF], st[s.HREF + 1]
        number = add_anchor(buf, start, end, kind, ntok, st, an, hslots, hbounds, harena, refs)
        if number >= 0 and st[s.REL] >= 0 and has_word(buf, st[s.REL], st[s.REL + 1], _W_NOFOLLOW):
            an[4 * number + s.A_FLAGS] |= 1
    if tag == t.A:
        tree.add_formatting(tag, number, st)
    return number


@njit(cache=True)
def start_rare(tag, buf, pos, lim, origin, ntok, st, an, ev, hslots, hbounds, harena, refs):
    """Act on a start tag that few pages have many of; where reading goes on."""
    if tag == t.SCRIPT:
        return m.script_end(buf, pos, lim, _N_SCRIPT)
    if tag == t.STYLE:
        return m.raw_end(buf, pos, lim, _N_STYLE)
    if tag == t.TEMPLATE:
        return m.template_end(buf, pos, lim, _N_TEMPLATE, _N_SCRIPT, _N_STYLE)
    if tag == t.IFRAME:
        if st[s.SRC] >= 0:
            add_anchor(buf, st[s.SRC], st[s.SRC + 1], _IFRAME, ntok, st, an, hslots, hbounds, harena, refs)
        return m.raw_end(buf, pos, lim, _N_IFRAME)
    if tag == t.NOEMBED:
        return m.raw_end(buf, pos, lim, _N_NOEMBED)
    if tag == t.FRAME:
        if st[s.FRAMESET] != 0 and st[s.SRC] >= 0:
            add_anchor(buf, st[s.SRC], st[s.SRC + 1], _FRAME, ntok, st, an, hslots, hbounds, harena, refs)
    elif tag == t.HTML:
        if st[s.LANG] >= 0 and st[s.LANG0] < 0:
            st[s.LANG0] = st[s.LANG] - origin
            st[s.LANG1] = st[s.LANG + 1] - origin
    elif tag == t.BASE:
        if st[s.HREF] >= 0 and st[s.BASE] < 0:
            st[s.BASE] = add_href(buf, st[s.HREF], st[s.HREF + 1], st, hslots, hbounds, harena, refs)
    elif tag == t.LINK:
        if (
            st[s.CANONICAL] < 0
            and st[s.HREF + 1] > st[s.HREF] >= 0
            and st[s.REL] >= 0
            and has_word(buf, st[s.REL], st[s.REL + 1], _W_CANONICAL)
        ):
            st[s.CANONICAL] = add_href(buf, st[s.HREF], st[s.HREF + 1], st, hslots, hbounds, harena, refs)
    elif tag == t.HR:
        i = tree.find_p(st)
        if i >= 0:
            tree.pop_to(i, ntok, st, an, ev)
        tree.border(_PARAGRAPH, ntok, st, ev)
    elif tag == t.BODY:
        tree.border(_PARAGRAPH, ntok, st, ev)
    elif tag == t.OPTION or tag == t.OPTGROUP:
        tree.border(_ITEM, ntok, st, ev)
    return pos


@njit(cache=True)
def lex_pages(buf, starts, ends, first, tables, terms, hrefs, st, out, rows, room):
    """Read pages `first`.. of the batch until all are read or room runs short; the number of the next page.

    A page's bytes are buf[starts[i]:ends[i]], valid UTF-8; 64 bytes after the last page may be read. `tables`
    is `tables.Tables`; `terms` and `hrefs` are (slots, bounds, arena) of `intern`; `out` = (words, events,
    anchors, text): a word is number | offset in the text << 32, an event kind | position << 8, an anchor four
    places. `rows` gets ROW_SIZE numbers a page. If the terms or hrefs have no room for a page's new strings,
    st[FULL] says so, and the page is to be read again. About 3 ns a byte of documentation HTML.
    """
    most_tokens, most_events = len(out[0]), len(out[1])
    most_anchors, most_text = len(out[2]) // 4, len(out[3])
    most_terms = len(terms[0]) // 4
    arena_size, harena_size = len(terms[2]), len(hrefs[2])
    tag_mask = np.uint64(len(tables[3]) // 2 - 1)
    shift = slot_shift(len(terms[0]))
    st[s.MAX_HREFS], st[s.HREF_SHIFT] = len(hrefs[0]) // 4, slot_shift(len(hrefs[0]))
    st[s.FULL] = 0
    buf, st, rows = borrow(buf), borrow(st), borrow(rows)
    lower, class_index, class_blocks = borrow(tables[0]), borrow(tables[1]), borrow(tables[2])
    tag_table, refs = borrow(tables[3]), borrow(tables[4])
    slots, bounds, arena = borrow(terms[0]), borrow(terms[1]), borrow(terms[2])
    hslots, hbounds, harena = borrow(hrefs[0]), borrow(hrefs[1]), borrow(hrefs[2])
    tok, ev, an, txt = borrow(out[0]), borrow(out[1]), borrow(out[2]), borrow(out[3])
    ntok, ntxt = room[0], room[1]
    max_word = st[s.MAX_WORD]
    for page in range(first, len(starts)):
        size = ends[page] - starts[page]
        need_tokens = min(size // 2 + 8, st[s.MAX_TOKENS] + 8)
        need_anchors = min(size // 6 + 8, st[s.MAX_ANCHORS] + 8)
        if (
            ntok + need_tokens > most_tokens
            or ntxt + 2 * size + 64 > most_text
            or st[s.NAN] + need_anchors > most_anchors
            or bounds[st[s.NTERMS]] + 2 * size + 512 > arena_size
            or hbounds[st[s.NHREFS]] + 2 * size + st[s.MAX_URL] + 64 > harena_size
        ):
            room[0], room[1] = ntok, ntxt
            return page
        start_page(st, ntok, ntxt)
        st[s.MAX_EVENTS] = most_events
        txt0, tok0, ev0 = ntxt, ntok, st[s.NEV]
        pos = starts[page]
        lim = ends[page]
        mode = _DATA
        raw_tag = 0
        outer_pos, outer_lim, outer_mode = pos, lim, _DATA
        # The word in the making stands at the end of the arena.
        base = bounds[st[s.NTERMS]]
        digest = np.uint64(0)  # of the word, or 0 if it is not known yet
        length = 0
        in_word = False
        full = False  # the word reached the longest length
        flush = False  # the word is to be added to the stream before anything else
        word_at, word_attr = ntxt, 0
        pair_code, pair_at, pair_attr, pairs = np.int64(0), ntxt, 0, 0
        space = False
        tag, bits, kind, after = 0, 0, 0, pos
        have_tag = False  # a tag's name is read already, and waits for the word before it
        while True:
            if flush:
                flush = False
                if in_word:
                    in_word = False
                elif pair_code != 0:
                    # A run of pairs ends; a single character stands for itself.
                    if pairs == 0:
                        length = m.encode(pair_code, arena, base)
                        digest = np.uint64(0)
                        word_at, word_attr = pair_at, pair_attr
                    pair_code = np.int64(0)
                if length > 0 and st[s.MUTE] == 0:
                    count = st[s.NTERMS]
                    if count == most_terms:
                        st[s.FULL] |= s.FULL_TERMS
                    elif ntok - tok0 < st[s.MAX_TOKENS]:
                        if digest == 0:
                            digest = digest_of(arena, base, length)
                        number = intern(length, digest, slots, shift, bounds, arena, count)
                        if number == count:
                            st[s.NTERMS] = count + 1
                            base += length
                        if word_attr != st[s.LAST_ATTR]:
                            if word_attr & _TEXT and st[s.BODY] < 0:
                                st[s.BODY] = word_at - txt0
                                st[s.FRAMESET_OK] = 0
                                if ntok > tok0:
                                    tree.border_here(_PARAGRAPH, ntok, st, ev)
                            if st[s.NEV] < st[s.MAX_EVENTS]:
                                st[s.LAST_ATTR] = word_attr
                                ev[st[s.NEV]] = (ntok - tok0) << 8 | _ATTRIBUTE_EVENT | word_attr
                                st[s.NEV] += 1
                        tok[ntok] = number | (word_at - txt0) << 32
                        ntok += 1
                    else:
                        st[s.FLAGS] |= _CUT_TOKENS
                length = 0
            if pos >= lim:
                if in_word or pair_code != 0:
                    flush = True
                    continue
                if mode != _VALUE and mode != _CDATA:
                    break
                # The end of an attribute's value: back to the markup around it.
                pos, lim, mode = outer_pos, outer_lim, outer_mode
                st[s.OVERRIDE] = 0
                space = True
                if st[s.AREA] >= 0:
                    an[4 * st[s.AREA] + s.A_END] = ntok
                    st[s.AREA] = -1
                continue
            c = buf[pos]
            low = lower[c]
            if low != 0:
                # Letters and digits of ASCII: the common case, in a loop of its own.
                if not in_word:
                    if pair_code != 0:
                        flush = True
                        continue
                    in_word = True
                    full = False
                    if st[s.PENDING] != 0:
                        tree.reconstruct(st)
                    if space or st[s.LINE] != 0:
                        if ntxt > txt0:
                            txt[ntxt] = 10 if st[s.LINE] != 0 else 32
                            ntxt += 1
                        space = False
                        st[s.LINE] = 0
                    word_at = ntxt
                    word_attr = st[s.OVERRIDE] if st[s.OVERRIDE] != 0 else st[s.ATTR]
                    st[s.AFTER_STOP] = 0
                letters, word_low, word_high = wide.word_run(buf, pos)
                n_bytes = min(wide.first_bit(~letters), lim - pos)
                if length == 0 and not full and n_bytes < 16 and n_bytes <= max_word:
                    # A word of up to fifteen letters: sixteen bytes are written, and what is too much is
                    # written over.
                    wide.copy(buf, pos, txt, ntxt)
                    if n_bytes <= 8:
                        word_low = head(word_low, n_bytes)
                        wide.store(arena, base, word_low)
                        digest = mix(np.uint64(0), word_low)
                    else:
                        word_high = head(word_high, n_bytes - 8)
                        wide.store(arena, base, word_low)
                        wide.store(arena, base + 8, word_high)
                        digest = mix(mix(np.uint64(0), word_low), word_high)
                    length = n_bytes
                    ntxt += n_bytes
                    pos += n_bytes
                else:
                    run = pos + 1
                    while run < lim and lower[buf[run]] != 0:
                        run += 1
                    n_bytes = run - pos
                    for i in range(n_bytes):
                        txt[ntxt + i] = buf[pos + i]
                    ntxt += n_bytes
                    if full or length + n_bytes > max_word:
                        n_bytes = 0 if full else max_word - length
                        full = True
                    for i in range(n_bytes):
                        arena[base + length + i] = lower[buf[pos + i]]
                    length += n_bytes
                    digest = np.uint64(0)
                    pos = run
                if pos < lim:
                    # Most words end at a space; what else of ASCII is neither markup nor a reference ends
                    # them, too.
                    c = buf[pos]
                    if c == 32:
                        pos += 1
                        flush = space = True
                    elif c != 60 and c != 38 and c < 128 and c != 0:
                        flush = True
                continue
            if c <= 32 and not in_word and pair_code == 0 and st[s.AFTER_STOP] == 0 and m.is_space(c):
                space = True
                pos = m.after_spaces(buf, pos + 1, lim)
                continue
            char_at = pos
            second = np.int64(0)
            code = np.int64(c)
            if c == 60 and mode == _DATA:
                if not have_tag:
                    kind = _NO_TAG
                    n = buf[pos + 1] if pos + 1 < lim else np.uint8(0)
                    if 97 <= n <= 122 or 65 <= n <= 90:
                        kind = _START
                    elif n == 33 or n == 63:
                        kind = _SKIPPED
                    elif n == 47 and pos + 2 < lim:
                        n = buf[pos + 2]
                        kind = _END if 97 <= n <= 122 or 65 <= n <= 90 else _SKIPPED
                    if kind == _SKIPPED:
                        if n == 33 and st[s.SVG] > 0 and pos + 9 <= lim and buf[pos + 2] == 91:
                            # A CDATA section of foreign content is text as it stands.
                            outer_pos, outer_lim, outer_mode = m.after_cdata(buf, pos + 9, lim), lim, mode
                            pos, lim, mode = pos + 9, max(pos + 9, outer_pos - 3), _CDATA
                        else:
                            pos = m.after_comment(buf, pos, lim)
                        continue
                    if kind != _NO_TAG:
                        after = pos + kind
                        stops, name_low, name_high = wide.tag_run(buf, after)
                        n_bytes = wide.first_bit(stops | np.uint64(1 << 16))
                        after += n_bytes
                        tag = 0
                        if n_bytes < 16:
                            name_digest = mix(np.uint64(0), np.uint64(n_bytes))
                            if n_bytes <= 8:
                                name_digest = mix(name_digest, head(name_low, n_bytes))
                            else:
                                name_digest = mix(mix(name_digest, name_low), head(name_high, n_bytes - 8))
                            place = name_digest & tag_mask
                            wanted = np.int64(name_digest)
                            while tag_table[np.int64(place) * 2] != 0:
                                if tag_table[np.int64(place) * 2] == wanted:
                                    tag = tag_table[np.int64(place) * 2 + 1]
                                    break
                                place = (place + np.uint64(1)) & tag_mask
                        else:
                            while after < lim and not m.ends_name(buf[after]):
                                after += 1
                        bits = st[s.BITS + tag]
                        wants = kind == _START and (bits & t.WANTS) != 0
                        if not wants and after < lim and buf[after] == 62:
                            st[s.CRUMBS] = 0
                            after += 1
                        else:
                            after = m.read_attributes(buf, after, lim, wants, st)
                        if (
                            bits & t.BREAKS
                            or after < 0
                            or (kind == _START and st[s.CRUMBS] != 0)
                            or (kind == _END and tag == t.SPAN and st[s.CRUMB_SPANS] == 1)
                            or (kind == _START and tag == t.META and meta_tag(buf, st) == 1)
                        ):
                            space = True
                            if in_word or pair_code != 0:
                                flush = True
                                have_tag = True
                                continue
                if kind != _NO_TAG:
                    have_tag = False
                    if after < 0:
                        pos = lim  # the input ends inside a tag: it is no tag
                        continue
                    pos = after
                    if st[s.MUTE] == 0:
                        st[s.SAVED_TXT] = ntxt  # where the text ends if this tag, in whatever way, mutes the page
                    if kind == _END:
                        end_tag(tag, bits, ntok, ntxt, in_word, st, an, ev)
                        continue
                    if st[s.MUTE] != 0 and not bits & t.HEARD:
                        continue
                    if bits & t.NO_FRAMESET:
                        st[s.FRAMESET_OK] = 0
                    if st[s.SVG] > 0 and bits & t.BREAKOUT:
                        tree.pop_to(tree.find(t.SVG, 0, st), ntok, st, an, ev)
                    crumbs = st[s.CRUMBS] != 0 and st[s.CRUMB_SP] < 0 and st[s.CRUMB_SPANS] == 0
                    if bits & t.RARE:
                        pos = start_rare(
                            tag, buf, pos, lim, starts[page], ntok, st, an, ev, hslots, hbounds, harena, refs
                        )
                    elif bits & t.PUSHED and not bits & t.FORMATTING:
                        if tag == t.SVG and buf[pos - 2] == 47:
                            continue
                        if tag == t.NOFRAMES and st[s.MUTE] != 0:
                            st[s.MUTE] = 0
                            ntxt = st[s.SAVED_TXT]
                        tree.open_block(tag, ntok, st, an, ev)
                        if crumbs and st[s.SP] > 0 and tree.element(st[s.SP] - 1, st) == tag:
                            tree.border(_CRUMBS_START, ntok, st, ev)
                            st[s.CRUMB_SP] = st[s.SP] - 1
                        if tag == t.XMP or tag == t.PLAINTEXT:
                            mode, raw_tag = _RAW, tag
                    elif tag == t.A:
                        start_anchor(tag, buf, ntok, st, an, ev, hslots, hbounds, harena, refs)
                    elif bits & t.FORMATTING:
                        tree.add_formatting(tag, -1, st)
                    elif tag == t.SPAN:
                        if crumbs:
                            tree.border(_CRUMBS_START, ntok, st, ev)
                            st[s.CRUMB_SPANS] = 1
                        elif st[s.CRUMB_SPANS] > 0:
                            st[s.CRUMB_SPANS] += 1
                    elif tag == t.BR:
                        tree.border(_BREAK, ntok, st, ev)
                    elif tag == t.IMG or tag == t.IMAGE or tag == t.AREA or tag == t.INPUT:
                        number = -1
                        if tag == t.AREA:
                            number = start_anchor(tag, buf, ntok, st, an, ev, hslots, hbounds, harena, refs)
                        elif tag == t.INPUT and not (
                            st[s.TYPE] >= 0 and m.same_word(buf, st[s.TYPE], st[s.TYPE + 1], _W_IMAGE)
                        ):
                            continue
                        if st[s.ALT] >= 0 and st[s.ALT + 1] > st[s.ALT]:
                            outer_pos, outer_lim, outer_mode = pos, lim, mode
                            pos, lim, mode = st[s.ALT], st[s.ALT + 1], _VALUE
                            st[s.OVERRIDE] = _ALT
                            st[s.AREA] = number
                    elif tag == t.META:
                        what = meta_tag(buf, st)
                        if what == 1:
                            outer_pos, outer_lim, outer_mode = pos, lim, mode
                            pos, lim, mode = st[s.CONTENT], st[s.CONTENT + 1], _VALUE
                            st[s.OVERRIDE] = _KEYWORD
                        elif what == 2:
                            i, j = m.refresh_target(buf, st[s.CONTENT], st[s.CONTENT + 1])
                            if i >= 0:
                                add_anchor(buf, i, j, _REFRESH, ntok, st, an, hslots, hbounds, harena, refs)
                    elif tag == t.TITLE:
                        if st[s.SVG] > 0:
                            st[s.OVERRIDE] = _ALT
                        else:
                            st[s.LINE] = 1
                            st[s.OVERRIDE] = _TITLE
                            if st[s.TITLE0] < 0:
                                st[s.TITLE0] = ntxt - txt0
                            mode, raw_tag = _RCDATA, tag
                    elif tag == t.TEXTAREA:
                        mode, raw_tag = _RCDATA, tag
                    elif tag == t.FRAMESET:
                        if st[s.FRAMESET_OK] != 0 and st[s.FRAMESET] == 0 and not in_word and pair_code == 0:
                            st[s.FRAMESET] = 1
                            st[s.MUTE] = 1
                    elif st[s.TABLES] > 0 and t.TR <= tag <= t.TFOOT:  # or <tbody>, <thead>
                        i = tree.find_cell(st)
                        if i >= 0:
                            tree.pop_to(i, ntok, st, an, ev)
                        if tag == t.TR:
                            tree.border(_CELL, ntok, st, ev)
                    continue
                pos += 1
            elif c == 60:
                if (
                    (
                        (raw_tag == t.TITLE and m.ends_raw(buf, pos, lim, _N_TITLE))
                        or (raw_tag == t.TEXTAREA and m.ends_raw(buf, pos, lim, _N_TEXTAREA))
                        or (raw_tag == t.XMP and m.ends_raw(buf, pos, lim, _N_XMP))
                    )
                    and mode != _VALUE
                    and mode != _CDATA
                ):
                    mode = _DATA
                    continue
                pos += 1
            elif c == 38 and mode != _RAW and mode != _CDATA:
                code, second, pos = m.reference(buf, pos, lim, mode == _VALUE, refs)
                if code < 0:
                    code = np.int64(38)
            elif c < 0x80:
                pos += 1
            elif c < 0xE0:
                code = (code & 31) << 6 | np.int64(buf[pos + 1] & 63)
                pos += 2
            elif c < 0xF0:
                code = (code & 15) << 12 | np.int64(buf[pos + 1] & 63) << 6 | np.int64(buf[pos + 2] & 63)
                pos += 3
            else:
                code = (
                    (code & 7) << 18
                    | np.int64(buf[pos + 1] & 63) << 12
                    | np.int64(buf[pos + 2] & 63) << 6
                    | np.int64(buf[pos + 3] & 63)
                )
                pos += 4
            # ---------------------------------------------------------------------------------- one character
            what = class_of(code, class_index, class_blocks)
            if what == _IGNORED:
                continue
            # What the character ends is added first; then the character is looked at again.
            if what == _WORD or (what == _MARK and in_word):
                if pair_code != 0:
                    flush, pos = True, char_at
                    continue
                if not in_word:
                    in_word = True
                    full = False
                    if st[s.PENDING] != 0:
                        tree.reconstruct(st)
                    if space or st[s.LINE] != 0:
                        if ntxt > txt0:
                            txt[ntxt] = 10 if st[s.LINE] != 0 else 32
                            ntxt += 1
                        space = False
                        st[s.LINE] = 0
                    word_at = ntxt
                    word_attr = st[s.OVERRIDE] if st[s.OVERRIDE] != 0 else st[s.ATTR]
                    st[s.AFTER_STOP] = 0
                n_bytes = m.encode(code, txt, ntxt)
                if second != 0:
                    n_bytes += m.encode(second, txt, ntxt + n_bytes)
                if length + n_bytes <= max_word and not full:
                    for i in range(n_bytes):
                        letter = txt[ntxt + i]
                        if 65 <= letter <= 90:
                            letter += np.uint8(32)
                        arena[base + length] = letter
                        length += 1
                    digest = np.uint64(0)
                else:
                    full = True
                ntxt += n_bytes
                continue
            if in_word or (pair_code != 0 and what != _PAIR):
                flush, pos = True, char_at
                continue
            if what == _SPACE:
                space = True
                if st[s.AFTER_STOP] != 0:
                    st[s.AFTER_STOP] = 0
                    tree.border(_SENTENCE, ntok, st, ev)
                continue
            if st[s.OVERRIDE] == 0:
                st[s.FRAMESET_OK] = 0  # after any text a frameset is none
            if space or st[s.LINE] != 0:
                if ntxt > txt0:
                    txt[ntxt] = 10 if st[s.LINE] != 0 else 32
                    ntxt += 1
                space = False
                st[s.LINE] = 0
            if what == _PAIR:
                st[s.AFTER_STOP] = 0
                if st[s.PENDING] != 0:
                    tree.reconstruct(st)
                attr = st[s.OVERRIDE] if st[s.OVERRIDE] != 0 else st[s.ATTR]
                if pair_code != 0:
                    # The pair of the character before and this one is a word; `flush` adds it.
                    length = m.encode(pair_code, arena, base)
                    length += m.encode(code, arena, base + length)
                    digest = np.uint64(0)
                    word_at, word_attr = pair_at, pair_attr
                    pairs += 1
                    flush = in_word = True
                else:
                    pairs = 0
                pair_code, pair_at, pair_attr = code, ntxt, attr
            elif what == _STOP:
                st[s.AFTER_STOP] = 1
            elif what == _FULL_STOP:
                tree.border(_SENTENCE, ntok, st, ev)
            elif what != _CLOSER:
                st[s.AFTER_STOP] = 0
            ntxt += m.encode(code, txt, ntxt)
            if second != 0:
                ntxt += m.encode(second, txt, ntxt)
        # ------------------------------------------------------------------------------------- the page's end
        if st[s.FULL] != 0:
            # To be read again with larger tables; it gives the same numbers to its words then.
            room[0], room[1], st[s.NEV], st[s.NAN] = tok0, txt0, ev0, st[s.AN0]
            return page
        if st[s.MUTE] != 0:
            ntxt = st[s.SAVED_TXT]
        tree.pop_to(0, ntok, st, an, ev)
        if st[s.CRUMB_SPANS] > 0:
            tree.border(_CRUMBS_END, ntok, st, ev)
        if st[s.TITLE0] >= 0 and st[s.TITLE1] < 0:
            st[s.TITLE1] = ntxt - txt0
        for i in range(st[s.AN0], st[s.NAN]):
            an[4 * i + s.A_START] -= tok0
            an[4 * i + s.A_END] = min(an[4 * i + s.A_END], ntok) - tok0
        row = page * s.ROW_SIZE
        rows[row + s.R_TOKENS] = ntok
        rows[row + s.R_EVENTS] = st[s.NEV]
        rows[row + s.R_ANCHORS] = st[s.NAN]
        rows[row + s.R_TEXT] = ntxt
        rows[row + s.R_TITLE0] = st[s.TITLE0]
        rows[row + s.R_TITLE1] = st[s.TITLE1]
        rows[row + s.R_LANG0] = st[s.LANG0]
        rows[row + s.R_LANG1] = st[s.LANG1]
        rows[row + s.R_BASE] = st[s.BASE]
        rows[row + s.R_CANONICAL] = st[s.CANONICAL]
        rows[row + s.R_FLAGS] = st[s.FLAGS]
        rows[row + s.R_BODY] = st[s.BODY]
        rows[row + s.R_DROPPED] = st[s.DROPPED]
    room[0], room[1] = ntok, ntxt
    return len(starts)
