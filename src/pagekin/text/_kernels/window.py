"""The piece of a page that shows best what a query looks for."""

import numpy as np

from pagekin.hypertext import decode_starts, decode_stream
from pagekin.store import kernel
from pagekin.text.snippet import IN_MENU, IN_TEXT


@kernel
def _running_words(streams, decoded, in_menu, coded, text, read, of_term, forms, starts, shows):
    """Write where the words that people read start, in characters, and which form each shows; return how many there are.

    A form in a menu is written as its place plus the number of forms.
    """
    length, _boundaries = decode_stream(streams, 0, decoded)
    length = min(length, decode_starts(coded, starts))
    count = at_byte = character = 0
    for word in range(length):
        byte = starts[word]
        if byte >= len(text):
            continue
        while at_byte < byte:
            character += (text[at_byte] & 0xC0) != 0x80
            at_byte += 1
        if decoded.attributes[word] & read:
            starts[count] = character  # which is not before this word, so nothing is lost that is still to be read
            shows[count] = -1
            term = decoded.terms[word]
            if term < len(of_term):
                form = np.int64(of_term[term])
                for place in range(len(forms)):
                    if forms[place] == form:
                        shows[count] = place + len(forms) * in_menu[word]
                        break
            count += 1
    return count


@kernel
def _best_stretch(count, starts, shows, forms, reach):
    """Return (first, last) match in the stretch that gains most by its forms, then shows most words, then comes first."""
    places = np.empty(count, np.int64)
    found = 0
    for word in range(count):
        if shows[word] >= 0:
            places[found] = word
            found += 1
    in_text, in_menus = np.zeros(forms, np.int64), np.zeros(forms, np.int64)
    best, first, last = -1, -1, -1
    beyond = gain = 0
    for begin in range(found):
        while beyond < found and starts[places[beyond]] < starts[places[begin]] + reach:
            gain += _count_form(shows[places[beyond]], forms, in_text, in_menus, 1)
            beyond += 1
        score = gain * (found + 1) + beyond - begin
        if score > best:
            best, first, last = score, places[begin], places[beyond - 1]
        gain += _count_form(shows[places[begin]], forms, in_text, in_menus, -1)
    return first, last


@kernel
def _count_form(shown, forms, in_text, in_menus, change):
    """Count a word that enters (1) or leaves (-1) the stretch; return by how much the gain changes."""
    form = shown % forms
    before = IN_TEXT if in_text[form] > 0 else IN_MENU if in_menus[form] > 0 else 0
    if shown < forms:
        in_text[form] += change
    else:
        in_menus[form] += change
    after = IN_TEXT if in_text[form] > 0 else IN_MENU if in_menus[form] > 0 else 0
    return after - before


@kernel
def best_window(
    streams, decoded, in_menu, coded, text, characters, read, of_term, forms, width, longest, starts, shows
):
    """Return (running words, first, last) of the stretch to be shown; first is -1 if no running word has one of the forms.

    `streams` is a `StreamBatch` of the page, `decoded` room for it; `in_menu` marks words of the page. `starts` and `shows`, as
    long as the page has words, take where each running word starts and the place among `forms` of its own, or -1. Cost: one walk
    over the page's words, marks and bytes.
    """
    count = _running_words(streams, decoded, in_menu, coded, text, read, of_term, forms, starts, shows)
    first, last = _best_stretch(count, starts, shows, len(forms), max(width - longest // 2, 1))
    if first < 0:
        return count, -1, -1
    ends = np.empty(count, np.int64)
    for word in range(count):
        beyond = starts[word + 1] if word + 1 < count else characters
        ends[word] = min(beyond, starts[word] + longest)
    spare = max(width - (ends[last] - starts[first]), 0)
    begin = min(first, np.searchsorted(starts[:count], starts[first] - spare // 3))
    end = max(last, np.searchsorted(ends, starts[begin] + width, side="right") - 1)
    if end == count - 1:
        begin = min(begin, np.searchsorted(starts[:count], ends[end] - width))
    return count, begin, end
