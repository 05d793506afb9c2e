"""From word streams to the words that a strategy keeps, and the window of every anchor."""

from pagekin.hypertext import decode_stream
from pagekin.store import kernel

TITLE = 1
RUNNING = 16 | 32  # alt texts and running text
IN_CRUMBS, LEFT_OUT = -1, -2
"""In place of an anchor's start: the anchor counts for nothing, or as a citation alone."""
OF_FURNITURE, OF_CRUMBS = 1, 2
"""Why a word is not kept, as bits."""
BREAK, SENTENCE, CRUMBS_START, CRUMBS_END = 4, 5, 9, 10


@kernel
def keep_words(
    streams, decoded, anchors, starts, lengths, left_out, stem_of, ends_window, size, out,
    page_ends, titles, spans, before, aside, stops, without_crumbs, inside,
):  # fmt: skip
    """Write each page's kept words to `out`, running words and then the title's; return their number.

    `streams` is a `StreamBatch`, `decoded` the `DecodedPage` for it; `anchors` are the offsets of its pages in the arrays of
    anchors. `ends_window[k]` says whether a boundary of kind k ends a window; a hard break does only where a sentence ended too.
    Page p's words end at `page_ends[p]`, and the last `titles[p]` are its title's. `spans[a]` is anchor a's window as places
    among the page's kept running words: window start, anchor start, anchor end, window end. With `without_crumbs`, words of
    breadcrumbs are not kept, and anchors in them have the anchor start IN_CRUMBS; so it is, with LEFT_OUT, for other
    anchors a for which `left_out[a]` holds. `before`, `aside`, `inside` and `stops` have room for one number more than the
    longest page has words, and marks. A few ns a word.
    """
    n = 0
    for p in range(len(page_ends)):
        length, boundaries = decode_stream(streams, p, decoded)
        boundary, sentence_at = 0, -1
        stop_count = running = titled = 0
        crumbs = False
        inside[: length + 1] = 0
        for a in range(anchors[p], anchors[p + 1]):
            if left_out[a]:
                inside[starts[a] : starts[a] + lengths[a]] = OF_FURNITURE
        for at in range(length + 1):
            # Everything that stands before word `at`.
            while boundary < boundaries and decoded.boundary_at[boundary] <= at:
                position, kind = decoded.boundary_at[boundary], decoded.boundary_kind[boundary]
                boundary += 1
                if kind == SENTENCE:
                    sentence_at = position
                elif kind in (CRUMBS_START, CRUMBS_END):
                    crumbs = without_crumbs and kind == CRUMBS_START
                elif ends_window[kind] and (kind != BREAK or sentence_at == position):
                    stops[stop_count] = position
                    stop_count += 1
            before[at] = running
            if crumbs:
                inside[at] |= OF_CRUMBS
            if at == length:
                break
            stem = stem_of[decoded.terms[at]]
            if stem >= 0 and not inside[at]:
                if decoded.attributes[at] & RUNNING:
                    out[n] = stem
                    n += 1
                    running += 1
                elif decoded.attributes[at] & TITLE:
                    aside[titled] = stem
                    titled += 1
        for i in range(titled):
            out[n + i] = aside[i]
        n += titled
        page_ends[p] = n
        titles[p] = titled
        for a in range(anchors[p], anchors[p + 1]):
            start, end = starts[a], starts[a] + lengths[a]
            # The last stop at or before the start, the first at or after the end.
            low, high = 0, stop_count
            while low < high:
                middle = (low + high) // 2
                if stops[middle] <= start:
                    low = middle + 1
                else:
                    high = middle
            left = before[stops[low - 1]] if low > 0 else 0
            low, high = 0, stop_count
            while low < high:
                middle = (low + high) // 2
                if stops[middle] < end:
                    low = middle + 1
                else:
                    high = middle
            right = before[stops[low]] if low < stop_count else running
            spans[a, 1], spans[a, 2] = before[start], before[end]
            spans[a, 0] = max(left, spans[a, 1] - size)
            spans[a, 3] = min(right, spans[a, 2] + size)
            if inside[start] & OF_CRUMBS:
                spans[a, 1] = IN_CRUMBS
            elif left_out[a]:
                spans[a, 1] = LEFT_OUT
    return n
