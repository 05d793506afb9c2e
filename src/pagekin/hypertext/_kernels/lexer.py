"""The lexer: one pass over the bytes of a page, to words, attributes, boundaries and anchors."""

import numpy as np
from numba import njit

from pagekin.hypertext._kernels import markup as m
from pagekin.hypertext._kernels import slots as s
from pagekin.hypertext._kernels import tags as t
from pagekin.hypertext._kernels import tree
from pagekin.hypertext._kernels.intern import OFFSET_BASIS, PRIME, intern

_OTHER, _SPACE, _WORD, _MARK, _PAIR, _STOP, _CLOSER, _IGNORED, _FULL_STOP = range(9)
_DATA, _RCDATA, _RAW, _VALUE = range(4)
_TITLE, _KEYWORD, _ALT, _TEXT = 1, 4, 16, 32
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
def emit(word, length, digest, at, attr, ntok, st, slots, digests, offsets, arena, tok, tok_at, ev_pos, ev_kind):
    """Add a word to the stream; the number of words."""
    if length == 0 or st[s.MUTE] != 0:
        return ntok
    if ntok - st[s.TOK0] >= st[s.MAX_TOKENS]:
        st[s.FLAGS] |= _CUT_TOKENS
        return ntok
    number, count = intern(word, length, digest, slots, digests, offsets, arena, st[s.NTERMS])
    st[s.NTERMS] = count
    if attr & _TEXT and st[s.BODY] < 0:
        st[s.BODY] = at - st[s.TXT0]
        if ntok > st[s.TOK0]:
            tree.border_here(_PARAGRAPH, ntok, st, ev_pos, ev_kind)
        st[s.FRAMESET_OK] = 0
    if attr != st[s.LAST_ATTR] and st[s.NEV] < len(ev_pos):
        st[s.LAST_ATTR] = attr
        ev_pos[st[s.NEV]] = ntok - st[s.TOK0]
        ev_kind[st[s.NEV]] = _ATTRIBUTE_EVENT | attr
        st[s.NEV] += 1
    tok[ntok] = number
    tok_at[ntok] = at - st[s.TXT0]
    return ntok + 1


@njit(cache=True)
def digest_of(data, length):
    """FNV-1a of data[:length]."""
    digest = OFFSET_BASIS
    for i in range(length):
        digest = (digest ^ np.uint64(data[i])) * PRIME
    return digest


@njit(cache=True)
def add_anchor(buf, start, end, kind, ntok, st, scratch, hslots, hdigests, hoffsets, harena, ref_digests, ref_codes,
               c1_codes, an_href, an_start, an_end, an_flags):  # fmt: skip
    """A new anchor for the address in buf[start:end], starting at the next word; its number, or -1."""
    if st[s.MUTE] != 0 and kind != 4:
        return -1
    length = m.address(buf, start, end, st[s.MAX_URL], scratch, ref_digests, ref_codes, c1_codes)
    if length < 0:
        st[s.DROPPED] += 1
        return -1
    number = st[s.NAN]
    if number - st[s.AN0] >= st[s.MAX_ANCHORS]:
        st[s.FLAGS] |= _CUT_ANCHORS
        return -1
    href, count = intern(scratch, length, digest_of(scratch, length), hslots, hdigests, hoffsets, harena, st[s.NHREFS])
    st[s.NHREFS] = count
    an_href[number] = href
    an_start[number] = ntok
    an_end[number] = ntok
    an_flags[number] = kind << 1
    st[s.NAN] = number + 1
    return number


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
    st[s.TOK0], st[s.EV0], st[s.AN0], st[s.TXT0] = ntok, st[s.NEV], st[s.NAN], ntxt
    for i in (s.OVERRIDE, s.LAST_ATTR, s.HEADINGS, s.ADDRESSES, s.KEYWORDS, s.SP, s.NF, s.PENDING, s.LINE,
              s.AFTER_STOP, s.FLAGS, s.DROPPED, s.CRUMB_SPANS, s.FRAMESET, s.MUTE, s.SVG):  # fmt: skip
        st[i] = 0
    for i in (s.BODY, s.TITLE0, s.TITLE1, s.LANG0, s.LANG1, s.BASE, s.CANONICAL, s.CRUMB_SP, s.AREA):
        st[i] = -1
    st[s.ATTR] = _TEXT
    st[s.FRAMESET_OK] = 1
    st[s.SAVED_TXT] = ntxt
    for i in range(s.LAST, s.STATE_SIZE):
        st[i] = -1


@njit(cache=True)
def meta_tag(buf, found, ntok, st):
    """What a <meta> says: 1 = its content is keywords, 2 = it is a refresh, 0 = neither."""
    c0, c1 = found[s.CONTENT], found[s.CONTENT + 1]
    if c0 < 0:
        return 0
    n0, n1 = found[s.NAME], found[s.NAME + 1]
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
    e0, e1 = found[s.HTTP_EQUIV], found[s.HTTP_EQUIV + 1]
    if e0 >= 0:
        while e0 < e1 and m.is_space(buf[e0]):
            e0 += 1
        while e1 > e0 and m.is_space(buf[e1 - 1]):
            e1 -= 1
        if m.same_word(buf, e0, e1, _W_REFRESH):
            return 2
    return 0


@njit(cache=True)
def lex_pages(
    buf, starts, ends, first, tables, terms, hrefs, st, out, rows, stack, links, formatting, found, word, scratch, room
):
    """Read pages `first`.. of the batch until all are read or room runs short; the number of the next page.

    A page's bytes are buf[starts[i]:ends[i]], valid UTF-8. `tables` = (lower, class_index, class_blocks, tag_digests,
    tag_numbers, bits, ref_digests, ref_codes, c1_codes); `terms` and `hrefs` = (slots, digests, offsets, arena);
    `out` = (tok, tok_at, ev_pos, ev_kind, an_href, an_start, an_end, an_flags, txt); `rows` gets one row per page.
    About 4 ns a byte.
    """
    (lower, class_index, class_blocks, tag_digests, tag_numbers, bits, ref_digests, ref_codes, c1_codes) = tables
    slots, digests, offsets, arena = terms
    hslots, hdigests, hoffsets, harena = hrefs
    tok, tok_at, ev_pos, ev_kind, an_href, an_start, an_end, an_flags, txt = out
    ntok, ntxt = room[0], room[1]
    tag_mask = np.uint64(len(tag_digests) - 1)
    max_word = st[s.MAX_WORD]
    for page in range(first, len(starts)):
        size = ends[page] - starts[page]
        need_tokens = min(size // 2 + 8, st[s.MAX_TOKENS] + 8)
        need_anchors = min(size // 6 + 8, st[s.MAX_ANCHORS] + 8)
        if (
            ntok + need_tokens > len(tok)
            or ntxt + 2 * size + 64 > len(txt)
            or st[s.NEV] + min(size + 64, 3 * need_tokens) > len(ev_pos)
            or st[s.NAN] + need_anchors > len(an_href)
            or st[s.NTERMS] + need_tokens + 2 > len(slots) // 2
            or st[s.NTERMS] + need_tokens + 2 > len(digests)
            or offsets[st[s.NTERMS]] + 2 * size + 256 > len(arena)
            or st[s.NHREFS] + need_anchors + 4 > len(hslots) // 2
            or st[s.NHREFS] + need_anchors + 4 > len(hdigests)
            or hoffsets[st[s.NHREFS]] + 2 * size + 256 > len(harena)
        ):
            room[0], room[1] = ntok, ntxt
            return page
        start_page(st, ntok, ntxt)
        pos = starts[page]
        lim = ends[page]
        if size >= 3 and buf[pos] == 0xEF and buf[pos + 1] == 0xBB and buf[pos + 2] == 0xBF:
            pos += 3
        mode = _DATA
        raw_name = _N_TITLE
        outer_pos, outer_lim, outer_mode = pos, lim, _DATA
        digest = OFFSET_BASIS
        length = 0  # of the word in the making
        full = False  # it reached the longest length
        in_word = False
        word_at, word_attr = ntxt, 0
        pair_code, pair_at, pair_attr, pairs = 0, ntxt, 0, 0
        space = False
        while True:
            if pos >= lim:
                if in_word:
                    ntok = emit(word, length, digest, word_at, word_attr, ntok, st, slots, digests, offsets, arena, tok,
                                tok_at, ev_pos, ev_kind)  # fmt: skip
                    in_word = False
                    length = 0
                if pair_code != 0:
                    if pairs == 0:
                        length = m.encode(pair_code, word, 0)
                        ntok = emit(word, length, digest_of(word, length), pair_at, pair_attr, ntok, st, slots, digests,
                                    offsets, arena, tok, tok_at, ev_pos, ev_kind)  # fmt: skip
                        length = 0
                    pair_code = 0
                if mode != _VALUE:
                    break
                # The end of an attribute's value: back to the markup around it.
                pos, lim, mode = outer_pos, outer_lim, outer_mode
                st[s.OVERRIDE] = 0
                space = True
                if st[s.AREA] >= 0:
                    an_end[st[s.AREA]] = ntok
                    st[s.AREA] = -1
                continue
            c = buf[pos]
            low = lower[c]
            if low != 0:
                # Letters and digits of ASCII: the common case, in a loop of its own.
                if not in_word:
                    if pair_code != 0:
                        if pairs == 0:
                            length = m.encode(pair_code, word, 0)
                            ntok = emit(word, length, digest_of(word, length), pair_at, pair_attr, ntok, st, slots,
                                        digests, offsets, arena, tok, tok_at, ev_pos, ev_kind)  # fmt: skip
                        pair_code = 0
                    in_word = True
                    full = False
                    length = 0
                    digest = OFFSET_BASIS
                    if st[s.PENDING] != 0:
                        tree.reconstruct(st, stack, links, formatting, bits)
                    if space or st[s.LINE] != 0:
                        if ntxt > st[s.TXT0]:
                            txt[ntxt] = 10 if st[s.LINE] != 0 else 32
                            ntxt += 1
                        space = False
                        st[s.LINE] = 0
                    word_at = ntxt
                    word_attr = st[s.OVERRIDE] if st[s.OVERRIDE] != 0 else st[s.ATTR]
                st[s.AFTER_STOP] = 0
                while True:
                    if length < max_word and not full:
                        word[length] = low
                        length += 1
                        digest = (digest ^ np.uint64(low)) * PRIME
                    else:
                        full = True
                    txt[ntxt] = c
                    ntxt += 1
                    pos += 1
                    if pos >= lim:
                        break
                    c = buf[pos]
                    low = lower[c]
                    if low == 0:
                        break
                continue
            second = 0
            code = np.int64(c)
            if c == 60:
                if mode == _DATA:
                    kind = 0  # 1 start tag, 2 end tag, 3 to be skipped whole
                    n = np.uint8(0)
                    if pos + 1 < lim:
                        n = buf[pos + 1]
                        if 97 <= n <= 122 or 65 <= n <= 90:
                            kind = 1
                        elif n == 33 or n == 63:
                            kind = 3
                        elif n == 47 and pos + 2 < lim:
                            n = buf[pos + 2]
                            kind = 2 if 97 <= n <= 122 or 65 <= n <= 90 else 3
                    if kind == 3:
                        if n == 33 and st[s.SVG] > 0 and pos + 9 <= lim and buf[pos + 2] == 91:
                            # A CDATA section: text, up to "]]>".
                            outer_pos = pos + 9
                            while outer_pos + 2 < lim and not (
                                buf[outer_pos] == 93 and buf[outer_pos + 1] == 93 and buf[outer_pos + 2] == 62
                            ):
                                outer_pos += 1
                            pos = min(outer_pos + 3, lim)
                            continue
                        pos = m.after_comment(buf, pos, lim)
                        continue
                    if kind != 0:
                        i = pos + kind
                        name_digest = OFFSET_BASIS
                        while i < lim:
                            n = buf[i]
                            if n == 62 or n == 47 or m.is_space(n):
                                break
                            name_digest = (name_digest ^ np.uint64(m.lower(n))) * PRIME
                            i += 1
                        place = name_digest & tag_mask
                        tag = 0
                        while tag_digests[place] != 0:
                            if tag_digests[place] == name_digest:
                                tag = tag_numbers[place]
                                break
                            place = (place + np.uint64(1)) & tag_mask
                        b = bits[tag]
                        after = m.read_attributes(buf, i, lim, kind == 1 and (b & t.WANTS) != 0, found)
                        if b & t.BREAKS or after < 0:
                            if in_word:
                                ntok = emit(word, length, digest, word_at, word_attr, ntok, st, slots, digests, offsets,
                                            arena, tok, tok_at, ev_pos, ev_kind)  # fmt: skip
                                in_word = False
                                length = 0
                            if pair_code != 0:
                                if pairs == 0:
                                    length = m.encode(pair_code, word, 0)
                                    ntok = emit(word, length, digest_of(word, length), pair_at, pair_attr, ntok, st,
                                                slots, digests, offsets, arena, tok, tok_at, ev_pos, ev_kind)  # fmt: skip
                                    length = 0
                                pair_code = 0
                            space = True
                        if after < 0:
                            pos = lim  # the input ends inside a tag: it is no tag
                            continue
                        pos = after
                        if kind == 2:
                            # ---------------------------------------------------------------- end tags
                            if b & t.PUSHED or tag == t.TR or tag == t.TBODY or tag == t.THEAD or tag == t.TFOOT:
                                if st[s.MUTE] != 0:
                                    continue
                                if tag == t.A or tag == t.B or tag == t.EM or tag == t.STRONG:
                                    # `</b>` may stand inside a word, which then belongs to an anchor that ends too.
                                    here = ntok + 1 if in_word else ntok
                                    tree.end_formatting(tag, False, here, st, stack, links, formatting, bits, an_end,
                                                        ev_pos, ev_kind)  # fmt: skip
                                else:
                                    tree.close_block(tag, ntok, st, stack, links, formatting, bits, an_end, ev_pos,
                                                     ev_kind)  # fmt: skip
                                    if tag == t.NOFRAMES and st[s.MUTE] != 0:
                                        st[s.SAVED_TXT] = ntxt
                            elif tag == t.TITLE:
                                if st[s.OVERRIDE] == _TITLE:
                                    st[s.LINE] = 1
                                    if st[s.TITLE1] < 0:
                                        st[s.TITLE1] = ntxt - st[s.TXT0]
                                st[s.OVERRIDE] = 0
                            elif tag == t.BR:
                                tree.border(_BREAK, ntok, st, ev_pos, ev_kind)
                            elif b & t.ITEM:
                                tree.border(_ITEM, ntok, st, ev_pos, ev_kind)
                            elif tag == t.SPAN and st[s.CRUMB_SPANS] > 0:
                                st[s.CRUMB_SPANS] -= 1
                                if st[s.CRUMB_SPANS] == 0:
                                    if in_word:
                                        ntok = emit(word, length, digest, word_at, word_attr, ntok, st, slots, digests,
                                                    offsets, arena, tok, tok_at, ev_pos, ev_kind)  # fmt: skip
                                        in_word = False
                                    tree.border(_CRUMBS_END, ntok, st, ev_pos, ev_kind)
                            continue
                        # -------------------------------------------------------------------- start tags
                        if st[s.MUTE] != 0 and tag != t.FRAME and tag != t.NOFRAMES and tag != t.SCRIPT and tag != t.STYLE:
                            continue
                        if b & t.NO_FRAMESET:
                            st[s.FRAMESET_OK] = 0
                        if st[s.SVG] > 0 and b & t.BREAKOUT:
                            i = tree.find(t.SVG, 0, st, stack, bits)
                            tree.pop_to(i, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind)
                        if found[s.CRUMBS] != 0 and st[s.CRUMB_SP] < 0 and st[s.CRUMB_SPANS] == 0:
                            if b & t.PUSHED and tag != t.A and tag != t.B and tag != t.EM and tag != t.STRONG:
                                tree.open_block(tag, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind)
                                tree.border(_CRUMBS_START, ntok, st, ev_pos, ev_kind)
                                st[s.CRUMB_SP] = st[s.SP] - 1
                                continue
                            if tag == t.SPAN:
                                if in_word:
                                    ntok = emit(word, length, digest, word_at, word_attr, ntok, st, slots, digests,
                                                offsets, arena, tok, tok_at, ev_pos, ev_kind)  # fmt: skip
                                    in_word = False
                                tree.border(_CRUMBS_START, ntok, st, ev_pos, ev_kind)
                                st[s.CRUMB_SPANS] = 1
                                continue
                        if tag == t.SPAN:
                            if st[s.CRUMB_SPANS] > 0:
                                st[s.CRUMB_SPANS] += 1
                        elif tag == t.A:
                            tree.end_formatting(tag, True, ntok, st, stack, links, formatting, bits, an_end, ev_pos,
                                                ev_kind)  # fmt: skip
                            number = -1
                            if found[s.HREF] >= 0:
                                number = add_anchor(buf, found[s.HREF], found[s.HREF + 1], 0, ntok, st, scratch, hslots,
                                                    hdigests, hoffsets, harena, ref_digests, ref_codes, c1_codes,
                                                    an_href, an_start, an_end, an_flags)  # fmt: skip
                                if number >= 0 and found[s.REL] >= 0 and has_word(
                                    buf, found[s.REL], found[s.REL + 1], _W_NOFOLLOW
                                ):
                                    an_flags[number] |= 1
                            tree.add_formatting(tag, number, st, stack, links, formatting, bits)
                        elif tag == t.B or tag == t.EM or tag == t.STRONG:
                            tree.add_formatting(tag, -1, st, stack, links, formatting, bits)
                        elif tag == t.BR:
                            tree.border(_BREAK, ntok, st, ev_pos, ev_kind)
                        elif tag == t.IMG or tag == t.IMAGE or tag == t.AREA or tag == t.INPUT:
                            st[s.AREA] = -1
                            if tag == t.AREA and found[s.HREF] >= 0:
                                number = add_anchor(buf, found[s.HREF], found[s.HREF + 1], 1, ntok, st, scratch, hslots,
                                                    hdigests, hoffsets, harena, ref_digests, ref_codes, c1_codes,
                                                    an_href, an_start, an_end, an_flags)  # fmt: skip
                                st[s.AREA] = number
                                if number >= 0 and found[s.REL] >= 0 and has_word(
                                    buf, found[s.REL], found[s.REL + 1], _W_NOFOLLOW
                                ):
                                    an_flags[number] |= 1
                            if tag == t.INPUT and not (
                                found[s.TYPE] >= 0 and m.same_word(buf, found[s.TYPE], found[s.TYPE + 1], _W_IMAGE)
                            ):
                                continue
                            if found[s.ALT] >= 0 and found[s.ALT + 1] > found[s.ALT]:
                                outer_pos, outer_lim, outer_mode = pos, lim, mode
                                pos, lim, mode = found[s.ALT], found[s.ALT + 1], _VALUE
                                st[s.OVERRIDE] = _ALT
                            else:
                                st[s.AREA] = -1
                        elif tag == t.META:
                            what = meta_tag(buf, found, ntok, st)
                            if what == 1:
                                if in_word:
                                    ntok = emit(word, length, digest, word_at, word_attr, ntok, st, slots, digests,
                                                offsets, arena, tok, tok_at, ev_pos, ev_kind)  # fmt: skip
                                    in_word = False
                                space = True
                                outer_pos, outer_lim, outer_mode = pos, lim, mode
                                pos, lim, mode = found[s.CONTENT], found[s.CONTENT + 1], _VALUE
                                st[s.OVERRIDE] = _KEYWORD
                            elif what == 2:
                                i, j = m.refresh_target(buf, found[s.CONTENT], found[s.CONTENT + 1])
                                if i >= 0:
                                    add_anchor(buf, i, j, 4, ntok, st, scratch, hslots, hdigests, hoffsets, harena,
                                               ref_digests, ref_codes, c1_codes, an_href, an_start, an_end,
                                               an_flags)  # fmt: skip
                        elif tag == t.TITLE:
                            if st[s.SVG] > 0:
                                st[s.OVERRIDE] = _ALT
                            else:
                                st[s.LINE] = 1
                                st[s.OVERRIDE] = _TITLE
                                if st[s.TITLE0] < 0:
                                    st[s.TITLE0] = ntxt - st[s.TXT0]
                                mode, raw_name = _RCDATA, _N_TITLE
                        elif tag == t.SCRIPT:
                            pos = m.script_end(buf, pos, lim, _N_SCRIPT)
                        elif tag == t.STYLE:
                            pos = m.raw_end(buf, pos, lim, _N_STYLE)
                        elif tag == t.TEMPLATE:
                            pos = m.template_end(buf, pos, lim, _N_TEMPLATE, _N_SCRIPT, _N_STYLE)
                        elif tag == t.IFRAME or tag == t.NOEMBED:
                            if tag == t.IFRAME and found[s.SRC] >= 0:
                                add_anchor(buf, found[s.SRC], found[s.SRC + 1], 3, ntok, st, scratch, hslots, hdigests,
                                           hoffsets, harena, ref_digests, ref_codes, c1_codes, an_href, an_start,
                                           an_end, an_flags)  # fmt: skip
                            pos = m.raw_end(buf, pos, lim, _N_IFRAME if tag == t.IFRAME else _N_NOEMBED)
                        elif tag == t.TEXTAREA:
                            mode, raw_name = _RCDATA, _N_TEXTAREA
                        elif tag == t.FRAMESET:
                            if st[s.FRAMESET_OK] != 0 and st[s.FRAMESET] == 0:
                                st[s.FRAMESET] = 1
                                st[s.MUTE] = 1
                                st[s.SAVED_TXT] = ntxt
                        elif tag == t.FRAME:
                            if st[s.FRAMESET] != 0 and found[s.SRC] >= 0:
                                st[s.MUTE] = 0
                                add_anchor(buf, found[s.SRC], found[s.SRC + 1], 2, ntok, st, scratch, hslots, hdigests,
                                           hoffsets, harena, ref_digests, ref_codes, c1_codes, an_href, an_start,
                                           an_end, an_flags)  # fmt: skip
                                st[s.MUTE] = 1
                        elif tag == t.NOFRAMES:
                            if st[s.MUTE] != 0:
                                st[s.MUTE] = 0
                                ntxt = st[s.SAVED_TXT]
                                space = True
                            tree.open_block(tag, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind)
                        elif tag == t.HTML:
                            if found[s.LANG] >= 0 and st[s.LANG0] < 0:
                                st[s.LANG0] = found[s.LANG] - starts[page]
                                st[s.LANG1] = found[s.LANG + 1] - starts[page]
                        elif tag == t.BASE or tag == t.LINK:
                            slot = s.BASE if tag == t.BASE else s.CANONICAL
                            if (
                                found[s.HREF] >= 0
                                and st[slot] < 0
                                and (
                                    tag == t.BASE
                                    or (
                                        found[s.REL] >= 0
                                        and found[s.HREF + 1] > found[s.HREF]
                                        and has_word(buf, found[s.REL], found[s.REL + 1], _W_CANONICAL)
                                    )
                                )
                            ):
                                number = m.address(buf, found[s.HREF], found[s.HREF + 1], st[s.MAX_URL], scratch,
                                                   ref_digests, ref_codes, c1_codes)  # fmt: skip
                                if number >= 0:
                                    st[slot], st[s.NHREFS] = intern(
                                        scratch, number, digest_of(scratch, number), hslots, hdigests, hoffsets, harena,
                                        st[s.NHREFS],
                                    )  # fmt: skip
                        elif tag == t.TR or tag == t.TBODY or tag == t.THEAD or tag == t.TFOOT:
                            if tree.find(t.TABLE, 0, st, stack, bits) >= 0:
                                i = tree.find_cell(st, stack)
                                if i >= 0:
                                    tree.pop_to(i, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind)
                                if tag == t.TR:
                                    tree.border(_CELL, ntok, st, ev_pos, ev_kind)
                        elif tag == t.HR:
                            i = tree.find_p(st, stack, bits)
                            if i >= 0:
                                tree.pop_to(i, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind)
                            tree.border(_PARAGRAPH, ntok, st, ev_pos, ev_kind)
                        elif tag == t.BODY:
                            tree.border(_PARAGRAPH, ntok, st, ev_pos, ev_kind)
                        elif tag == t.OPTION or tag == t.OPTGROUP:
                            tree.border(_ITEM, ntok, st, ev_pos, ev_kind)
                        elif b & t.PUSHED:
                            if tag == t.SVG and pos >= 2 and buf[pos - 2] == 47:
                                continue
                            tree.open_block(tag, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind)
                            if tag == t.XMP:
                                mode, raw_name = _RAW, _N_XMP
                            elif tag == t.PLAINTEXT:
                                mode, raw_name = _RAW, _W_CANONICAL  # a name that ends it not: nothing does
                        continue
                elif mode != _VALUE and m.ends_raw(buf, pos, lim, raw_name) and len(raw_name) != 9:
                    mode = _DATA
                    continue
                pos += 1
            elif c == 38 and mode != _RAW:
                code, second, after = m.reference(buf, pos, lim, mode == _VALUE, ref_digests, ref_codes, c1_codes)
                if code < 0:
                    code = 38
                pos = after
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
            # ------------------------------------------------------------------------------------ one character
            while True:
                kind = class_of(code, class_index, class_blocks)
                if kind == _WORD or (kind == _MARK and in_word):
                    if not in_word:
                        if pair_code != 0:
                            if pairs == 0:
                                length = m.encode(pair_code, word, 0)
                                ntok = emit(word, length, digest_of(word, length), pair_at, pair_attr, ntok, st, slots,
                                            digests, offsets, arena, tok, tok_at, ev_pos, ev_kind)  # fmt: skip
                            pair_code = 0
                        in_word = True
                        full = False
                        length = 0
                        digest = OFFSET_BASIS
                        if st[s.PENDING] != 0:
                            tree.reconstruct(st, stack, links, formatting, bits)
                        if space or st[s.LINE] != 0:
                            if ntxt > st[s.TXT0]:
                                txt[ntxt] = 10 if st[s.LINE] != 0 else 32
                                ntxt += 1
                            space = False
                            st[s.LINE] = 0
                        word_at = ntxt
                        word_attr = st[s.OVERRIDE] if st[s.OVERRIDE] != 0 else st[s.ATTR]
                    st[s.AFTER_STOP] = 0
                    if code < 128:
                        code = np.int64(lower[code])
                    n_bytes = m.encode(code, txt, ntxt)
                    if length + n_bytes <= max_word and not full:
                        for i in range(n_bytes):
                            word[length] = txt[ntxt + i]
                            digest = (digest ^ np.uint64(word[length])) * PRIME
                            length += 1
                    else:
                        full = True
                    ntxt += n_bytes
                elif kind != _IGNORED:
                    if in_word:
                        ntok = emit(word, length, digest, word_at, word_attr, ntok, st, slots, digests, offsets, arena, tok,
                                    tok_at, ev_pos, ev_kind)  # fmt: skip
                        in_word = False
                        length = 0
                    if kind == _PAIR:
                        st[s.AFTER_STOP] = 0
                        if st[s.PENDING] != 0:
                            tree.reconstruct(st, stack, links, formatting, bits)
                    elif pair_code != 0:
                        if pairs == 0:
                            length = m.encode(pair_code, word, 0)
                            ntok = emit(word, length, digest_of(word, length), pair_at, pair_attr, ntok, st, slots,
                                        digests, offsets, arena, tok, tok_at, ev_pos, ev_kind)  # fmt: skip
                            length = 0
                        pair_code = 0
                    if kind == _SPACE:
                        space = True
                        if st[s.AFTER_STOP] != 0:
                            st[s.AFTER_STOP] = 0
                            tree.border(_SENTENCE, ntok, st, ev_pos, ev_kind)
                    else:
                        if space or st[s.LINE] != 0:
                            if ntxt > st[s.TXT0]:
                                txt[ntxt] = 10 if st[s.LINE] != 0 else 32
                                ntxt += 1
                            space = False
                            st[s.LINE] = 0
                        if kind == _PAIR:
                            attr = st[s.OVERRIDE] if st[s.OVERRIDE] != 0 else st[s.ATTR]
                            if pair_code != 0:
                                length = m.encode(pair_code, word, 0)
                                length += m.encode(code, word, length)
                                ntok = emit(word, length, digest_of(word, length), pair_at, pair_attr, ntok, st, slots,
                                            digests, offsets, arena, tok, tok_at, ev_pos, ev_kind)  # fmt: skip
                                length = 0
                                pairs += 1
                            else:
                                pairs = 0
                            pair_code, pair_at, pair_attr = code, ntxt, attr
                        elif kind == _STOP:
                            st[s.AFTER_STOP] = 1
                        elif kind == _FULL_STOP:
                            tree.border(_SENTENCE, ntok, st, ev_pos, ev_kind)
                        elif kind != _CLOSER:
                            st[s.AFTER_STOP] = 0
                        ntxt += m.encode(code, txt, ntxt)
                if second == 0:
                    break
                code, second = second, 0
        # ------------------------------------------------------------------------------------------ the page's end
        tree.pop_to(0, ntok, st, stack, links, formatting, bits, an_end, ev_pos, ev_kind)
        if st[s.CRUMB_SPANS] > 0:
            tree.border(_CRUMBS_END, ntok, st, ev_pos, ev_kind)
        if st[s.MUTE] != 0:
            ntxt = st[s.SAVED_TXT]
        if st[s.TITLE0] >= 0 and st[s.TITLE1] < 0:
            st[s.TITLE1] = ntxt - st[s.TXT0]
        for i in range(st[s.AN0], st[s.NAN]):
            an_start[i] -= st[s.TOK0]
            an_end[i] = min(an_end[i], ntok) - st[s.TOK0]
        rows[page, s.R_TOKENS] = ntok
        rows[page, s.R_EVENTS] = st[s.NEV]
        rows[page, s.R_ANCHORS] = st[s.NAN]
        rows[page, s.R_TEXT] = ntxt
        rows[page, s.R_TITLE0] = st[s.TITLE0]
        rows[page, s.R_TITLE1] = st[s.TITLE1]
        rows[page, s.R_LANG0] = st[s.LANG0]
        rows[page, s.R_LANG1] = st[s.LANG1]
        rows[page, s.R_BASE] = st[s.BASE]
        rows[page, s.R_CANONICAL] = st[s.CANONICAL]
        rows[page, s.R_FLAGS] = st[s.FLAGS]
        rows[page, s.R_BODY] = st[s.BODY]
        rows[page, s.R_DROPPED] = st[s.DROPPED]
    room[0], room[1] = ntok, ntxt
    return len(starts)
