"""Unpack pages of parts: from one block of many pages' bytes to the arrays of a corpus."""

import numpy as np

from pagekin.hypertext._kernels.borrow import array_at, borrow, load
from pagekin.store import kernel

TOKENS, MARKS, ANCHORS, TEXT, TITLE, SNIPPET, PART = range(7)
"""What `sizes` says of a page: the sizes of what its bytes hold, in this order, and the part it is of."""
_ANCHOR_BYTES = 13


@kernel
def _copy(source, start, count, target, at):
    """Copy source[start : start + count] to target[at:]; return where the copy ends."""
    for i in range(count):
        target[at + i] = source[start + i]
    return at + count


@kernel
def unpack_pages(block, sizes, maps, target_of, tokens, marks, anchors, strings):
    """Write the pages of `block`, which lie in it one after another, to arrays that have just the room for them.

    `maps` (parts, 4) holds the addresses and the lengths of each part's word and URL numbers (uint32); a link counts for
    `target_of` its URL. `tokens` gets numbers of words, `marks` (gaps, kinds), `anchors` (targets, starts, lengths,
    flags), `strings` (texts, titles, snippets). O(bytes); the block's last eight bytes are only read.
    """
    block = borrow(block)
    gaps, kinds = marks
    targets, starts, lengths, flags = anchors
    texts, titles, snippets = strings
    low = np.uint64(0xFFFFFFFF)
    at = token = gap = kind = anchor = text = title = snippet = 0
    for page in range(len(sizes)):
        part = sizes[page, PART]
        word_ids = array_at(maps[part, 0], maps[part, 1], np.uint32)
        url_ids = array_at(maps[part, 2], maps[part, 3], np.uint32)
        for _ in range(sizes[page, TOKENS]):
            tokens[token] = word_ids[np.int64(load(block, at) & low)]
            token += 1
            at += 4
        gap = _copy(block, at, sizes[page, MARKS], gaps, gap)
        at += sizes[page, MARKS]
        kind = _copy(block, at, sizes[page, MARKS], kinds, kind)
        at += sizes[page, MARKS]
        for _ in range(sizes[page, ANCHORS]):
            targets[anchor] = target_of[url_ids[np.int64(load(block, at) & low)]]
            starts[anchor] = load(block, at + 4) & low
            lengths[anchor] = load(block, at + 8) & low
            flags[anchor] = block[at + 12]
            anchor += 1
            at += _ANCHOR_BYTES
        text = _copy(block, at, sizes[page, TEXT], texts, text)
        at += sizes[page, TEXT]
        title = _copy(block, at, sizes[page, TITLE], titles, title)
        at += sizes[page, TITLE]
        snippet = _copy(block, at, sizes[page, SNIPPET], snippets, snippet)
        at += sizes[page, SNIPPET]
