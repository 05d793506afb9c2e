"""Read the text of a page, and make words of it."""

import numpy as np

from pagekin.hypertext._kernels import slots as s
from pagekin.hypertext._kernels import tree, wide
from pagekin.hypertext._kernels.borrow import store
from pagekin.hypertext._kernels.intern import digest_of, digest_short, extend_digest, head, intern, start_digest
from pagekin.hypertext._kernels.references import encode, reference
from pagekin.store import kernel

_OTHER, _SPACE, _WORD, _MARK, _PAIR, _STOP, _CLOSER, _IGNORED, _FULL_STOP = range(9)  # as in `model.CharClass`
_TEXT = 32
_PARAGRAPH, _SENTENCE = 1, 5
_CUT_TOKENS = 8
_ATTRIBUTE_EVENT = 64


@kernel
def class_of(code, tables):
    """Return the class of a character."""
    if code > 0x10FFFF:
        return _OTHER
    return tables.class_blocks[(np.int64(tables.class_index[code >> 8]) << 8) | (code & 255)]


@kernel(inline=True)
def add_space(before_word, lx):
    """Write the space or line end before the next character, which may begin a word, to the text."""
    st = lx.state
    if st[s.SPACE] | st[s.LINE] != 0:
        is_written = before_word or st[s.LINE] != 0 or st[s.SPACE] != s.BETWEEN_WORDS
        if is_written and st[s.NTXT] > st[s.TXT0]:
            lx.out.text[st[s.NTXT]] = 10 if st[s.LINE] != 0 else 32
            st[s.NTXT] += 1
        st[s.SPACE] = 0
        st[s.LINE] = 0


@kernel(inline=True)
def start_word(lx):
    """Begin a word: it will stand at the end of the arena."""
    st = lx.state
    st[s.IN_WORD] = 1
    st[s.FULL_WORD] = 0
    if st[s.PENDING] != 0:
        tree.reconstruct(st)
    add_space(True, lx)
    st[s.WORD_AT] = st[s.NTXT]
    st[s.WORD_ATTR] = st[s.OVERRIDE] if st[s.OVERRIDE] != 0 else st[s.ATTR]
    st[s.AFTER_STOP] = 0


@kernel
def add_word(lx):
    """End the word in the making, or the run of pairs, and add it to the stream."""
    add_word_inline(lx)


@kernel(inline=True)
def add_word_inline(lx):
    """Do as `add_word` does, without the cost of a call."""
    st = lx.state
    if st[s.IN_WORD] != 0:
        st[s.IN_WORD] = 0
    else:
        if st[s.PAIRS] == 0:
            # A single character stands for itself.
            st[s.LENGTH] = encode(st[s.PAIR], lx.terms.arena, lx.terms.bounds[st[s.NTERMS]])
            st[s.DIGEST] = 0
            st[s.WORD_AT], st[s.WORD_ATTR] = st[s.PAIR_AT], st[s.PAIR_ATTR]
        st[s.PAIR] = 0
    length = st[s.LENGTH]
    if length == 0 or st[s.MUTE] != 0:
        st[s.LENGTH] = 0
        return
    st[s.LENGTH] = 0
    count, ntok = st[s.NTERMS], st[s.NTOK]
    if count == st[s.MAX_TERMS]:
        st[s.FULL] |= s.FULL_TERMS
        return
    if ntok - st[s.TOK0] >= st[s.MAX_TOKENS]:
        st[s.FLAGS] |= _CUT_TOKENS
        return
    slots, bounds, arena = lx.terms
    digest = np.uint64(st[s.DIGEST])
    if digest == 0:
        digest = digest_of(arena, bounds[count], length, st, s.KEY)
    number = intern(length, digest, slots, st[s.TERM_SHIFT], bounds, arena, count)
    if number == count:
        st[s.NTERMS] = count + 1
    if st[s.WORD_ATTR] != st[s.LAST_ATTR]:
        change_attributes(lx)
    lx.out.words[ntok] = number | (st[s.WORD_AT] - st[s.TXT0]) << 32
    st[s.NTOK] = ntok + 1


@kernel
def change_attributes(lx):
    """Note that words have other attributes from the next one on."""
    st, ev = lx.state, lx.out.events
    ntok, attr = st[s.NTOK], st[s.WORD_ATTR]
    if attr & _TEXT and st[s.BODY] < 0:
        st[s.BODY] = st[s.WORD_AT] - st[s.TXT0]
        st[s.FRAMESET_OK] = 0
        if ntok > st[s.TOK0]:
            tree.border_here(_PARAGRAPH, ntok, st, ev)
    if st[s.NEV] < st[s.MAX_EVENTS]:
        st[s.LAST_ATTR] = attr
        ev[st[s.NEV]] = (ntok - st[s.TOK0]) << 8 | _ATTRIBUTE_EVENT | attr
        st[s.NEV] += 1


@kernel(inline=True)
def read_letters(pos, lx):
    """Read ASCII letters and digits from html[pos] on, most often a whole word; return where reading goes on."""
    html, st, text, arena = lx.html, lx.state, lx.out.text, lx.terms.arena
    if st[s.IN_WORD] == 0:
        if st[s.PAIR] != 0:
            add_word(lx)
        start_word(lx)
    lim = st[s.LIM]
    count, low, high = wide.word_run(html, pos)
    count = min(count, lim - pos)
    if st[s.LENGTH] | st[s.FULL_WORD] == 0 and count < 16 and count <= st[s.MAX_WORD]:
        # A word of up to fifteen letters: sixteen bytes are written, and what is too much is written over.
        base, ntxt = lx.terms.bounds[st[s.NTERMS]], st[s.NTXT]
        wide.copy(html, pos, text, ntxt)
        if count <= 8:
            low = head(low, count)
            store(arena, base, low)
            digest = digest_short(low, count, st, s.KEY)
        else:
            high = head(high, count - 8)
            store(arena, base, low)
            store(arena, base + 8, high)
            digest = extend_digest(start_digest(count, st, s.KEY), low, st, s.KEY)
            digest = extend_digest(digest, high, st, s.KEY)
        st[s.DIGEST] = np.int64(digest)
        st[s.LENGTH] = count
        st[s.NTXT] = ntxt + count
        pos += count
    else:
        pos = read_long_word(pos, lx)
    if pos < lim:
        # Most words end at a space; what else of ASCII is neither markup nor a reference ends them, too.
        c = html[pos]
        if c == 32:
            pos += 1
            st[s.SPACE] = 1
        if c != 60 and c != 38 and c < 128 and c != 0:
            add_word_inline(lx)
    return pos


@kernel
def read_long_word(pos, lx):
    """Read letters and digits that may be many, or go on with a word; return where they end."""
    while pos < lx.state[s.LIM] and lx.tables.lower[lx.html[pos]] != 0:
        add_to_word(np.int64(lx.html[pos]), 0, lx)
        pos += 1
    return pos


@kernel(inline=True)
def decode(pos, lx):
    """Return (code, second code or 0, position after) of the character or reference at html[pos]."""
    html, mode = lx.html, lx.state[s.MODE]
    c = html[pos]
    code = np.int64(c)
    if c == 38 and mode != s.RAW and mode != s.CDATA:
        code, second, after = reference(html, pos, lx.state[s.LIM], mode == s.VALUE, lx.tables.references)
        return code if code >= 0 else np.int64(38), second, after
    if c < 0x80:
        return code, np.int64(0), pos + 1
    if c < 0xE0:
        return (code & 31) << 6 | np.int64(html[pos + 1] & 63), np.int64(0), pos + 2
    middle = np.int64(html[pos + 1] & 63) << 6 | np.int64(html[pos + 2] & 63)
    if c < 0xF0:
        return (code & 15) << 12 | middle, np.int64(0), pos + 3
    return (code & 7) << 18 | middle << 6 | np.int64(html[pos + 3] & 63), np.int64(0), pos + 4


@kernel
def read_character(pos, lx):
    """Read the character or reference at html[pos]; return where reading goes on."""
    st = lx.state
    code, second, pos = decode(pos, lx)
    what = class_of(code, lx.tables)
    if what == _IGNORED:
        return pos
    if what == _WORD or (what == _MARK and st[s.IN_WORD] != 0):
        if st[s.PAIR] != 0:
            add_word(lx)
        add_to_word(code, second, lx)
        return pos
    if st[s.IN_WORD] != 0 or (st[s.PAIR] != 0 and what != _PAIR):
        add_word(lx)
    if what == _SPACE:
        st[s.SPACE] = 1
        if st[s.AFTER_STOP] != 0:
            st[s.AFTER_STOP] = 0
            tree.border(_SENTENCE, st[s.NTOK], st, lx.out.events)
        return pos
    if st[s.OVERRIDE] == 0:
        st[s.FRAMESET_OK] = 0  # after any text a frameset is none
    add_space(what == _MARK, lx)  # a mark would seem to belong to the word before
    if what == _PAIR:
        add_to_pairs(code, lx)
    elif what == _STOP:
        st[s.AFTER_STOP] = 1
    elif what == _FULL_STOP:
        tree.border(_SENTENCE, st[s.NTOK], st, lx.out.events)
    elif what != _CLOSER:
        st[s.AFTER_STOP] = 0
    st[s.NTXT] += encode(code, lx.out.text, st[s.NTXT])
    if second != 0:
        st[s.NTXT] += encode(second, lx.out.text, st[s.NTXT])
    return pos


@kernel
def add_to_word(code, second, lx):
    """Add a character, or two that one reference means, to the word in the making."""
    st, text, arena = lx.state, lx.out.text, lx.terms.arena
    if st[s.IN_WORD] == 0:
        start_word(lx)
    ntxt, length = st[s.NTXT], st[s.LENGTH]
    count = encode(code, text, ntxt)
    if second != 0:
        count += encode(second, text, ntxt + count)
    if length + count <= st[s.MAX_WORD] and st[s.FULL_WORD] == 0:
        at = lx.terms.bounds[st[s.NTERMS]] + length
        for i in range(count):
            letter = text[ntxt + i]
            arena[at + i] = letter + np.uint8(32) if 65 <= letter <= 90 else letter
        st[s.LENGTH] = length + count
        st[s.DIGEST] = 0
    else:
        st[s.FULL_WORD] = 1
    st[s.NTXT] = ntxt + count


@kernel
def add_to_pairs(code, lx):
    """Add a character of a script without spaces: with the one before it, it makes a word."""
    st, arena = lx.state, lx.terms.arena
    st[s.AFTER_STOP] = 0
    if st[s.PENDING] != 0:
        tree.reconstruct(st)
    attr = st[s.OVERRIDE] if st[s.OVERRIDE] != 0 else st[s.ATTR]
    if st[s.PAIR] != 0:
        base = lx.terms.bounds[st[s.NTERMS]]
        length = encode(st[s.PAIR], arena, base)
        st[s.LENGTH] = length + encode(code, arena, base + length)
        st[s.DIGEST] = 0
        st[s.WORD_AT], st[s.WORD_ATTR] = st[s.PAIR_AT], st[s.PAIR_ATTR]
        st[s.PAIRS] += 1
        st[s.IN_WORD] = 1
        add_word(lx)
    else:
        st[s.PAIRS] = 0
    st[s.PAIR], st[s.PAIR_AT], st[s.PAIR_ATTR] = code, st[s.NTXT], attr
