"""From word streams to the words that a strategy keeps, and the window of every anchor."""

from numba import njit

RARE = 65_535
ATTRIBUTE_EVENT = 64
TITLE = 1
RUNNING = 16 | 32  # alt texts and running text
IN_CRUMBS, LEFT_OUT = -1, -2
"""In place of an anchor's start: the anchor counts for nothing, or as a citation alone."""
OF_FURNITURE, OF_CRUMBS = 1, 2
"""Why a word is not kept, as bits."""
BREAK, SENTENCE, CRUMBS_START, CRUMBS_END = 4, 5, 9, 10


@njit(cache=True, nogil=True)
def keep_words(
    words, rare, gaps, kinds, tokens, rares, marks, anchors, starts, lengths, left_out, stem_of, ends_window, size, out,
    page_ends, titles, spans, before, aside, stops, without_crumbs, inside,
):  # fmt: skip
    """Write each page's kept words to `out`, running words and then the title's; give their number.

    `tokens`, `rares`, `marks`, `anchors` are the offsets of the batch's pages in the other arrays. `ends_window[k]`
    says whether a boundary of kind k ends a window; a hard break does only where a sentence ended too. Page p's words
    end at `page_ends[p]`, and the last `titles[p]` are its title's. `spans[a]` is anchor a's window as places among
    the page's kept running words: window start, anchor start, anchor end, window end. With `without_crumbs`, words of
    breadcrumbs are not kept, and anchors in them have the anchor start IN_CRUMBS; so it is, with LEFT_OUT, for other
    anchors a for which `left_out[a]` holds. `before`, `aside`, `inside` and `stops` have room for one number more than the
    longest page has words, and marks. One pass, a few ns a word.
    """
    n = 0
    for p in range(len(tokens) - 1):
        first = tokens[p]
        length = tokens[p + 1] - first
        mark, position = marks[p], 0
        attributes = 0
        sentence_at = -1
        rank = rares[p]
        stop_count = running = titled = 0
        crumbs = False
        inside[: length + 1] = 0
        for a in range(anchors[p], anchors[p + 1]):
            if left_out[a]:
                inside[starts[a] : starts[a] + lengths[a]] = OF_FURNITURE
        for at in range(length + 1):
            # Everything that stands before word `at`.
            while mark < marks[p + 1] and position + gaps[mark] <= at:
                position += gaps[mark]
                kind = kinds[mark]
                mark += 1
                if kind >= ATTRIBUTE_EVENT:
                    attributes = kind - ATTRIBUTE_EVENT
                elif kind == SENTENCE:
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
            number = int(words[first + at])
            if number == RARE:
                number = int(rare[rank])
                rank += 1
            stem = stem_of[number]
            if stem >= 0 and not inside[at]:
                if attributes & RUNNING:
                    out[n] = stem
                    n += 1
                    running += 1
                elif attributes & TITLE:
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
