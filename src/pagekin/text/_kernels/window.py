"""Find the passage of a page that shows a query's words best."""

import numpy as np

from pagekin.hypertext import decode_starts, decode_stream
from pagekin.store import kernel
from pagekin.text.snippet import BANNER, HEADING, HEADING_SHARE, IN_MENU, IN_TEXT, MENU_SHARE, MENU_WORDS, READ


@kernel
def mark_menus(anchor_starts, anchor_lengths, in_menu):
    """Mark the words of a page that are in a menu, given the starts and lengths of its links.

    It is `pagekin.text.snippet.find_menus` in one walk over links and words.
    """
    words = len(in_menu)
    linked_before = np.zeros(words + 2, np.int64)
    for anchor in range(len(anchor_starts)):
        start = min(np.int64(anchor_starts[anchor]), words)
        linked_before[start + 1] += 1
        linked_before[min(start + np.int64(anchor_lengths[anchor]), words) + 1] -= 1
    inside = upto = 0
    for word in range(words):
        inside += linked_before[word + 1]
        upto += inside > 0
        linked_before[word + 1] = upto
    for word in range(words):
        left, right = max(word - MENU_WORDS, 0), min(word + MENU_WORDS + 1, words)
        share = MENU_SHARE if linked_before[word + 1] > linked_before[word] else HEADING_SHARE
        in_menu[word] = linked_before[right] - linked_before[left] >= share * (right - left)


@kernel
def mark_banner(attributes, in_menu):
    """Mark the words above a page's first heading if few of them are running words; they count like a menu."""
    running = 0
    for word in range(len(attributes)):
        if attributes[word] & HEADING:
            in_menu[:word] |= running <= BANNER
            return
        running += (attributes[word] & READ) != 0


@kernel
def _running_words(streams, decoded, in_menu, coded, text, of_term, forms, starts, shows):
    """Write the start (in characters) and the form of each word that people read; return the number of words.

    A form in a menu is written as its place plus the number of forms; `in_menu` is left with these words alone.
    """
    length, _boundaries = decode_stream(streams, 0, decoded)
    mark_banner(decoded.attributes[:length], in_menu)
    length = min(length, decode_starts(coded, starts))
    count = at_byte = character = 0
    for word in range(length):
        byte = starts[word]
        if byte >= len(text):
            continue
        while at_byte < byte:
            character += (text[at_byte] & 0xC0) != 0x80
            at_byte += 1
        if decoded.attributes[word] & READ:
            # What is written is not before this word, so nothing is lost that is still to be read.
            starts[count] = character
            menu = in_menu[word]
            in_menu[count] = menu
            shows[count] = -1
            term = decoded.terms[word]
            if term < len(of_term):
                form = np.int64(of_term[term])
                for place in range(len(forms)):
                    if forms[place] == form:
                        shows[count] = place + len(forms) * menu
                        break
            count += 1
    return count


@kernel
def _best_stretch(count, starts, shows, forms, reach):
    """Return the (first, last) match of the best stretch.

    By gain, then by the number of words in running text, then by whether it begins there, then by position.
    """
    places = np.empty(count, np.int64)
    found = 0
    for word in range(count):
        if shows[word] >= 0:
            places[found] = word
            found += 1
    in_text, in_menus = np.zeros(forms, np.int64), np.zeros(forms, np.int64)
    best, first, last = -1, -1, -1
    beyond = gain = running = 0
    for begin in range(found):
        while beyond < found and starts[places[beyond]] < starts[places[begin]] + reach:
            gain += _count_form(shows[places[beyond]], forms, in_text, in_menus, 1)
            running += shows[places[beyond]] < forms
            beyond += 1
        begins_in_text = shows[places[begin]] < forms
        score = 2 * (gain * (found + 1) + running) + begins_in_text
        if score > best:
            best, first, last = score, places[begin], places[beyond - 1]
        gain += _count_form(shows[places[begin]], forms, in_text, in_menus, -1)
        running -= begins_in_text
    return first, last


@kernel
def _count_form(shown, forms, in_text, in_menus, change):
    """Count a word that enters (1) or leaves (-1) the stretch; return the change of the gain."""
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
    streams, anchor_starts, anchor_lengths, decoded, coded, text, characters, of_term, forms, width, longest, starts,
    shows,
):  # fmt: skip
    """Return (running words, first, last) of the stretch to show; first is -1 if no running word has one of the forms.

    `streams` is a `StreamBatch` of the page, `decoded` room for it; the page's links start at the words `anchor_starts`.
    `starts` and `shows`, as long as the page has words, take where each running word starts and the place among `forms` of
    its own, or -1. Cost: one walk over the page's words, links, marks and bytes.
    """
    in_menu = np.empty(len(starts), np.bool_)
    mark_menus(anchor_starts, anchor_lengths, in_menu)
    count = _running_words(streams, decoded, in_menu, coded, text, of_term, forms, starts, shows)
    first, last = _best_stretch(count, starts, shows, len(forms), max(width - longest // 2, 1))
    if first < 0:
        return count, -1, -1
    ends = np.empty(count, np.int64)
    for word in range(count):
        beyond = starts[word + 1] if word + 1 < count else characters
        ends[word] = min(beyond, starts[word] + longest)
    spare = max(width - (ends[last] - starts[first]), 0)
    least = first
    while least > 0 and (in_menu[first] or not in_menu[least - 1]):
        least -= 1
    begin = max(least, min(first, np.searchsorted(starts[:count], starts[first] - spare // 3)))
    end = max(last, np.searchsorted(ends, starts[begin] + width, side="right") - 1)
    if end == count - 1:
        begin = max(least, min(begin, np.searchsorted(starts[:count], ends[end] - width)))
    return count, begin, end
