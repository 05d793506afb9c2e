"""How a page writes some words: which of their letters are large."""

import numpy as np

from pagekin.hypertext.streams import LONG, RARE
from pagekin.store import kernel

LONGEST = 64
"""Letters of a word whose capitals are told, at most: one bit each."""
BEGINS, INSIDE = 1, 100
"""What a word counts where a sentence or a line begins, since there any word may be written large, and elsewhere."""
_BACK = 8
"""Bytes before a word that are looked at."""


@kernel
def note_spellings(words, rare, gaps, text, slot, letters, ends, found):
    """Write (slot, capitals, count) of the forms in which a page writes some words; return (forms, other places).

    `words`, `rare` and `gaps` are the page's stream and the coded starts of its words in `text`. Terms with a `slot` of 0 or
    more are looked at; row s of `letters` (uint8) is the word of slot s in ASCII, filled up with zeros, or empty. `ends` (256)
    has 1 for bytes after which a sentence begins, and 2 for those between words. `found` is (slots, capitals, counts) for forms,
    and places of words that are not written in ASCII, which are left to others. Cost: one pass over the words.
    """
    slots, capitals, counts, elsewhere = found
    n, others, start, gap, rares = 0, 0, 0, 0, 0
    for at in range(len(words)):
        start += gaps[gap]
        while gaps[gap] == LONG:
            gap += 1
            start += gaps[gap]
        gap += 1
        term = np.int64(words[at])
        if words[at] == RARE:
            term = np.int64(rare[rares])
            rares += 1
        mine = slot[term]
        if mine < 0:
            continue
        length, large, same_word = 0, np.uint64(0), True
        while length < letters.shape[1] and letters[mine, length]:
            length += 1
        plain = length > 0 and start + length <= len(text)
        for i in range(length if plain else 0):
            byte = text[start + i]
            if byte >= 128:
                plain = False
            if 65 <= byte <= 90:
                large |= np.uint64(1) << np.uint64(i)
                byte += 32
            if byte != letters[mine, i]:
                same_word = False
        if plain and not same_word:
            continue
        if not plain:
            elsewhere[others] = at
            others += 1
            continue
        before = start - 1
        while before >= max(start - _BACK, 0) and ends[text[before]] == 2:
            before -= 1
        value = BEGINS if before < max(start - _BACK, 0) or ends[text[before]] == 1 else INSIDE
        same = 0
        while same < n and not (slots[same] == mine and capitals[same] == large):
            same += 1
        if same == n:
            if n == len(slots):
                elsewhere[others] = at
                others += 1
                continue
            slots[n], capitals[n], counts[n] = mine, large, 0
            n += 1
        counts[same] += value
    return n, others
