"""From word streams to the words that a strategy keeps, and the window of every anchor."""

from typing import Any, NamedTuple

import numpy as np

from pagekin.hypertext import decode_stream
from pagekin.store import kernel

TITLE = 1
RUNNING = 16 | 32  # alt texts and running text
IN_CRUMBS, LEFT_OUT = -1, -2
"""In place of an anchor's start: the anchor counts for nothing, or as a citation alone."""
ELSEWHERE = -1
"""In place of an anchor's end: another shard adds the words around it, and the link counts besides."""
FURNITURE = 1  # of `LinkUse`
OF_FURNITURE, OF_CRUMBS = 1, 2
"""Why a word is not kept, as bits."""
BREAK, SENTENCE, CRUMBS_START, CRUMBS_END = 4, 5, 9, 10


class Anchors(NamedTuple):
    """The anchors of a batch of pages."""

    offsets: Any  # int64 (pages + 1): where each page's anchors begin
    starts: Any  # int64 (anchors): the first word of each
    lengths: Any  # int64 (anchors): words of each
    uses: Any  # uint8 (anchors): the `LinkUse` of each


class Rules(NamedTuple):
    """Which words are kept, and where windows end."""

    stem_of: Any  # int32 (terms): the bag word of each term, negative if it has none
    ends_window: Any  # bool (kinds of boundaries); a hard break ends a window only where a sentence ended too
    size: int  # kept words on each side of an anchor, at most
    without_crumbs: bool  # whether words of breadcrumbs are not kept, and anchors in them count for nothing


class KeptWords(NamedTuple):
    """The words of some pages that count, and the windows of their anchors."""

    words: Any  # int32: each page's kept words, running words and then the title's
    offsets: Any  # int64 (pages + 1): where each page's words begin, from 0
    titles: Any  # int32 (pages): how many of a page's words, its last, are its title's
    spans: Any  # int32 (anchors, 4): start of window and anchor, end of anchor and window, as places among the words


@kernel
def keep_words(streams, decoded, anchors, rules, kept):
    """Write the words of a batch of pages and the windows of its anchors to `kept`, which has room for all words.

    `streams` is a `StreamBatch`, `decoded` the `DecodedPage` for it. The start of an anchor may be IN_CRUMBS or LEFT_OUT.
    A few ns a word.
    """
    before = np.empty(len(decoded.terms), dtype=np.int32)
    titled_words = np.empty(len(decoded.terms), dtype=np.int32)
    inside = np.zeros(len(decoded.terms), dtype=np.uint8)
    stops = np.empty_like(decoded.boundary_at)
    starts, lengths, uses, spans = anchors.starts, anchors.lengths, anchors.uses, kept.spans
    n = 0
    for p in range(len(kept.titles)):
        length, boundaries = decode_stream(streams, p, decoded)
        boundary, sentence_at = 0, -1
        stop_count = running = titled = 0
        crumbs = False
        inside[: length + 1] = 0
        for a in range(anchors.offsets[p], anchors.offsets[p + 1]):
            if uses[a] == FURNITURE:
                inside[starts[a] : starts[a] + lengths[a]] = OF_FURNITURE
        for at in range(length + 1):
            # Everything that stands before word `at`.
            while boundary < boundaries and decoded.boundary_at[boundary] <= at:
                position, kind = decoded.boundary_at[boundary], decoded.boundary_kind[boundary]
                boundary += 1
                if kind == SENTENCE:
                    sentence_at = position
                elif kind in (CRUMBS_START, CRUMBS_END):
                    crumbs = rules.without_crumbs and kind == CRUMBS_START
                elif rules.ends_window[kind] and (kind != BREAK or sentence_at == position):
                    stops[stop_count] = position
                    stop_count += 1
            before[at] = running
            if crumbs:
                inside[at] |= OF_CRUMBS
            if at == length:
                break
            stem = rules.stem_of[decoded.terms[at]]
            if stem >= 0 and not inside[at]:
                if decoded.attributes[at] & RUNNING:
                    kept.words[n] = stem
                    n += 1
                    running += 1
                elif decoded.attributes[at] & TITLE:
                    titled_words[titled] = stem
                    titled += 1
        kept.words[n : n + titled] = titled_words[:titled]
        n += titled
        kept.offsets[p + 1] = n
        kept.titles[p] = titled
        for a in range(anchors.offsets[p], anchors.offsets[p + 1]):
            start, end = starts[a], starts[a] + lengths[a]
            # The last stop at or before the start, the first at or after the end.
            last = np.searchsorted(stops[:stop_count], start, side="right") - 1
            left = before[stops[last]] if last >= 0 else 0
            first = np.searchsorted(stops[:stop_count], end)
            right = before[stops[first]] if first < stop_count else running
            spans[a, 1], spans[a, 2] = before[start], before[end]
            spans[a, 0] = max(left, spans[a, 1] - rules.size)
            spans[a, 3] = min(right, spans[a, 2] + rules.size)
            if inside[start] & OF_CRUMBS:
                spans[a, 1] = IN_CRUMBS
            elif uses[a]:
                spans[a, 1] = LEFT_OUT
