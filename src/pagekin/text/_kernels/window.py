"""The piece of a page that shows best what a query found, compiled."""

import numpy as np
from numba import njit

_RARE, _LONG, _ATTRIBUTE_EVENT = 65_535, 255, 64


@njit(cache=True, nogil=True)
def _first_at_least(values, count, value):
    """The first of some rising values that is not smaller."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _running_words(words, rare, gaps, kinds, coded, text, read, of_term, forms, starts, shows):
    """Write where the words that people read start, in characters, and which form each shows; give how many there are."""
    count = 0
    next_rare = next_mark = 0
    mark_at = 0
    attribute = 0
    coded_at = 0
    byte = at_byte = character = 0
    for word in range(len(words)):
        # Attributes change at marks; a mark of kind 0 only makes a long gap longer.
        while next_mark < len(gaps) and mark_at + gaps[next_mark] <= word:
            mark_at += gaps[next_mark]
            if kinds[next_mark] >= _ATTRIBUTE_EVENT:
                attribute = kinds[next_mark] - _ATTRIBUTE_EVENT
            next_mark += 1
        while coded_at < len(coded) and coded[coded_at] == _LONG:
            byte += _LONG
            coded_at += 1
        if coded_at == len(coded):
            break
        byte += coded[coded_at]
        coded_at += 1
        term = np.int64(words[word])
        if term == _RARE:
            if next_rare == len(rare):
                break
            term = np.int64(rare[next_rare])
            next_rare += 1
        if byte >= len(text):
            continue
        while at_byte < byte:
            character += (text[at_byte] & 0xC0) != 0x80
            at_byte += 1
        if attribute & read:
            starts[count] = character
            shows[count] = -1
            if term < len(of_term):
                form = np.int64(of_term[term])
                for place in range(len(forms)):
                    if forms[place] == form:
                        shows[count] = place
                        break
            count += 1
    return count


@njit(cache=True, nogil=True)
def _best_stretch(count, starts, shows, forms, reach):
    """(first, last) of what was found in the stretch that shows most forms, then most words, then comes first."""
    places = np.empty(count, np.int64)
    found = 0
    for word in range(count):
        if shows[word] >= 0:
            places[found] = word
            found += 1
    shown = np.zeros(forms, np.int64)
    best, first, last = -1, -1, -1
    beyond = distinct = 0
    for begin in range(found):
        while beyond < found and starts[places[beyond]] < starts[places[begin]] + reach:
            distinct += shown[shows[places[beyond]]] == 0
            shown[shows[places[beyond]]] += 1
            beyond += 1
        score = distinct * (found + 1) + beyond - begin
        if score > best:
            best, first, last = score, places[begin], places[beyond - 1]
        shown[shows[places[begin]]] -= 1
        distinct -= shown[shows[places[begin]]] == 0
    return first, last


@njit(cache=True, nogil=True)
def best_window(words, rare, gaps, kinds, coded, text, characters, read, of_term, forms, width, longest, starts, shows):
    """(running words, first, last) of the stretch to be shown; first is -1 if no running word has one of the forms.

    `starts` and `shows`, as long as the page has words, take where each running word starts and the place among `forms` of
    its own, or -1. Cost: one walk over the page's words, marks and bytes.
    """
    count = _running_words(words, rare, gaps, kinds, coded, text, read, of_term, forms, starts, shows)
    first, last = _best_stretch(count, starts, shows, len(forms), max(width - longest // 2, 1))
    if first < 0:
        return count, -1, -1
    ends = np.empty(count, np.int64)
    for word in range(count):
        beyond = starts[word + 1] if word + 1 < count else characters
        ends[word] = min(beyond, starts[word] + longest)
    spare = max(width - (ends[last] - starts[first]), 0)
    begin = min(first, _first_at_least(starts, count, starts[first] - spare // 3))
    end = max(last, _first_at_least(ends, count, starts[begin] + width + 1) - 1)
    if end == count - 1:
        begin = min(begin, _first_at_least(starts, count, ends[end] - width))
    return count, begin, end
