"""The piece of a page's text that shows best what a query found."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Attribute, CharClass, Corpus, DecodedPage, char_class
from pagekin.store import RaggedBytes
from pagekin.text.analysis import form_of, form_table
from pagekin.text.beginning import running_text
from pagekin.text.query import Phrase, Query, wanted_words
from pagekin.text.questions import IDLE

Array = npt.NDArray[Any]
ELLIPSIS = "…"
_SIGNS = (CharClass.STOP, CharClass.CLOSER, CharClass.FULL_STOP)
_KEPT = 10_000
"""Forms whose numbers are cached: ten results of one query ask for the same few."""
_LONGEST_WORD = 60
"""Characters that are shown of one word."""
MENU_WORDS = 8
"""A word stands in a menu if many of the words around it, so many on each side, stand in links: …"""
MENU_SHARE, HEADING_SHARE = 0.4, 0.6
"""… this share for a word of a link, and for a word of none, as in a menu's headings."""
BANNER = 30
"""Words above a page's first heading are a banner, and count like a menu, if they are no more than these."""
IN_TEXT, IN_MENU = 4, 1
"""What a stretch gains by a word of the query that it shows: in running text, or in menus only."""
READ, HEADING = int(Attribute.TEXT | Attribute.ALT), int(Attribute.HEADER)
"""Attributes of running words, those that people read, neither the title's nor those of meta tags; and of headings."""


class _Window(NamedTuple):
    """The stretch of a page's text that is shown."""

    text: str
    starts: Array
    """The character at which each running word starts; those beyond the end of the stored text are left out."""
    first: int
    """The first running word of the stretch."""
    last: int
    marked: Array
    """Whether each running word belongs to what the query looks for."""


def make_snippet(
    corpus: Corpus, page: int, query: Query, width: int = 200, compiled: bool = False
) -> list[tuple[str, bool]]:
    """Return the best stretch of a page's text, about `width` characters, in pieces of (text, whether it matches).

    A stretch that shows more of the query's words and phrases is better, then one that shows them more often, then the
    first; a word that it shows only in a menu or in the banner above the page's heading counts a quarter. Words such as "the"
    count only where the page shows no others. Running text is shown without a menu or a banner before it. A page whose text
    shows none, because they stand in its title, gives the start of its running text.
    Pass `compiled` for many snippets: each takes less time, but the compiler has to be loaded. Queries with phrases are
    always answered by plain code.
    """
    number, of_term = corpus.term_tables(_number_forms, partial(_number_forms, corpus))
    wanted = wanted_words(query)
    telling = [part for part in wanted if isinstance(part, Phrase) or part.attribute or part.word not in IDLE]
    window = None
    for chosen in filter(None, (telling, wanted)):
        parts = list(dict.fromkeys(tuple(number(form_of(word).encode()) for word in part.words) for part in chosen))
        find = _window_by_kernel if compiled and all(len(forms) == 1 for forms in parts) else _window_by_numpy
        window = window or find(corpus, page, of_term, parts, max(width, 20))
    if window:
        return _pieces(window)
    beginning = running_text(corpus, page, width)
    return [(beginning, False)] if beginning else []


def _number_forms(corpus: Corpus) -> tuple[Callable[[bytes], int], Array]:
    """Return (a function that gives a form's number, or -1; the form of each term), stored or made for the corpus."""
    same: Array | None = None
    if "form.of_term" in corpus.kin:
        names, of_term = RaggedBytes.of(corpus.kin, "form"), corpus.kin["form.of_term"]
        if "form.same" in corpus.kin:
            same = corpus.kin["form.same"]
    else:
        forms = form_table(corpus)
        names, of_term = forms.table, forms.of_term
        same = forms.same

    def number(form: bytes) -> int:
        place = names.find(form)
        return place if place < 0 or same is None else int(same[place])

    return lru_cache(_KEPT)(number), of_term


def _window_by_kernel(
    corpus: Corpus, page: int, of_term: Array, parts: list[tuple[int, ...]], width: int
) -> _Window | None:
    """Return the best stretch for words, each the number of its form, by one compiled walk over the page."""
    from pagekin.text._kernels.window import best_window

    data, coded = corpus.stored_text(page)
    text = data.decode("utf-8", "replace")
    streams = corpus.stream_batch(page, page + 1)
    starts, shows = np.empty((2, len(streams.words)), np.int64)
    count, first, last = best_window(
        streams, *_links_of(corpus, page), DecodedPage.for_longest(streams), coded, np.frombuffer(data, np.uint8), len(text),
        of_term, np.array(parts, np.int64).reshape(-1), width, _LONGEST_WORD, starts, shows,
    )  # fmt: skip
    return _Window(text, starts[:count], first, last, shows[:count] >= 0) if first >= 0 else None


def _window_by_numpy(
    corpus: Corpus, page: int, of_term: Array, parts: list[tuple[int, ...]], width: int
) -> _Window | None:
    """Return the best stretch for words and phrases, each the numbers of its forms."""
    text, starts = _text_of(corpus, page)
    stream = corpus.stream(page)
    running = np.flatnonzero(((stream.attributes & READ) != 0) & (starts < len(text)))
    forms, in_text = of_term[stream.words], np.flatnonzero(stream.attributes & Attribute.TEXT)
    shows = np.array([_mark_part(part, forms, in_text)[running] for part in parts])
    starts, marked = starts[running], np.asarray(shows.any(axis=0))
    if not marked.any():
        return None
    in_menu = find_menus(corpus, page)
    in_menu[: _banner_end(stream.attributes)] = True
    in_menu = in_menu[running]
    first, last = _widen(text, starts, in_menu, *_best_stretch(shows, in_menu, starts, width), width)
    return _Window(text, starts, first, last, marked)


def find_menus(corpus: Corpus, page: int) -> npt.NDArray[np.bool_]:
    """Return whether each word of a page stands in a menu: among words most of which stand in links."""
    first_words, lengths = _links_of(corpus, page)
    words = int(corpus.pages.tokens[page + 1]) - int(corpus.pages.tokens[page])
    starts = np.minimum(np.asarray(first_words, np.int64), words)
    ends = np.minimum(starts + np.asarray(lengths, np.int64), words)
    changes = np.bincount(starts, minlength=words + 1) - np.bincount(ends, minlength=words + 1)
    linked = np.cumsum(changes)[:words] > 0
    upto = np.append(0, np.cumsum(linked))
    places = np.arange(words)
    left, right = np.maximum(places - MENU_WORDS, 0), np.minimum(places + MENU_WORDS + 1, words)
    return np.asarray(upto[right] - upto[left] >= np.where(linked, MENU_SHARE, HEADING_SHARE) * (right - left))


def _banner_end(attributes: Array) -> int:
    """Return the first word of a page's first heading if few running words stand above it; else 0."""
    headings = np.flatnonzero(attributes & HEADING)
    first = int(headings[0]) if len(headings) else 0
    return first if np.count_nonzero(attributes[:first] & READ) <= BANNER else 0


def _links_of(corpus: Corpus, page: int) -> tuple[Array, Array]:
    """Return the word at which each link of a page starts, and how many words it has."""
    anchors = corpus.anchors_out(page)
    return corpus.anchors.start[anchors.start : anchors.stop], corpus.anchors.length[anchors.start : anchors.stop]


def _text_of(corpus: Corpus, page: int) -> tuple[str, Array]:
    """Return a page's text, and the character at which each word starts."""
    data, at = corpus.text_bytes(page)
    text = data.decode("utf-8", "replace")
    if not text.isascii():
        # A character is as far on as its first byte, less the bytes before it that begin none.
        raw = np.frombuffer(data, np.uint8)
        inside = np.flatnonzero((raw & 0xC0) == 0x80)
        at = np.minimum(at - np.searchsorted(inside, at), len(text))
    return text, at


def _mark_part(part: tuple[int, ...], forms: Array, in_text: Array) -> Array:
    """Mark the words of a page, given their forms, that are a query word or in a query phrase; phrases count in the text only."""
    if len(part) == 1:
        return np.asarray(forms == part[0])
    marked = np.zeros(len(forms), np.bool_)
    begins = np.ones(max(len(in_text) - len(part) + 1, 0), np.bool_)
    for shift, form in enumerate(part):
        begins &= forms[in_text][shift : shift + len(begins)] == form
    for shift in range(len(part)):
        marked[in_text[np.flatnonzero(begins) + shift]] = True
    return marked


def _best_stretch(shows: Array, in_menu: Array, starts: Array, width: int) -> tuple[int, int]:
    """Return the first and the last match in the stretch that shows most.

    Of equal ones it is the first that shows them most often in running text, and best begins there.
    """
    places = np.flatnonzero(shows.any(axis=0))
    at = starts[places]
    beyond = np.searchsorted(at, at + max(width - _LONGEST_WORD // 2, 1))
    begin = np.arange(len(places))
    gain = np.zeros(len(places), np.int64)
    for counted, worth in ((shows, IN_MENU), (shows & ~in_menu, IN_TEXT - IN_MENU)):
        shown = np.pad(np.cumsum(counted[:, places], axis=1), ((0, 0), (1, 0)))
        gain += worth * np.count_nonzero(shown[:, beyond] > shown[:, begin], axis=0)
    in_text = np.append(0, np.cumsum(~in_menu[places]))
    often = gain * (len(places) + 1) + in_text[beyond] - in_text[begin]
    best = int(np.argmax(2 * often + ~in_menu[places]))
    return int(places[best]), int(places[beyond[best] - 1])


def _widen(text: str, starts: Array, in_menu: Array, first: int, last: int, width: int) -> tuple[int, int]:
    """Widen the stretch by words before and after it, as many as `width` has room for: a third of it before.

    A stretch that begins in running text does not reach back into a menu, such as breadcrumbs above the text.
    """
    menu = np.flatnonzero(in_menu[:first]) if not in_menu[first] else in_menu[:0]
    least = int(menu[-1]) + 1 if len(menu) else 0
    ends = np.minimum(np.append(starts[1:], len(text)), starts + _LONGEST_WORD)
    spare = max(width - int(ends[last] - starts[first]), 0)
    begin = max(least, min(first, int(np.searchsorted(starts, starts[first] - spare // 3))))
    end = max(last, int(np.searchsorted(ends, starts[begin] + width, side="right")) - 1)
    if end == len(starts) - 1:  # the text ends, so there is room for more before
        begin = max(least, min(begin, int(np.searchsorted(starts, ends[end] - width))))
    return begin, end


def _pieces(window: _Window) -> list[tuple[str, bool]]:
    """Return the text of a stretch, cut where marks begin and end."""
    text, starts, first, last, marked = window
    spans: list[tuple[int, int]] = []
    for place in np.flatnonzero(marked[first : last + 1]) + first:
        begin, end = int(starts[place]), _word_end(text, int(starts[place]))
        if spans and begin <= spans[-1][1]:  # pairs of characters overlap
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((begin, end))
    at, stop = int(starts[first]), _end_of_marks(text, _word_end(text, int(starts[last])))
    pieces = [(f"{ELLIPSIS} ", False)] if first else []
    for begin, end in spans:
        pieces += [(_line(text[at:begin]), False), (_line(text[begin:end]), True)]
        at = end
    pieces.append((_line(text[at:stop]), False))
    if last < len(starts) - 1:
        pieces.append((f" {ELLIPSIS}", False))
    return _join_pieces(pieces)


def _join_pieces(pieces: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Drop empty pieces, and join unmarked neighbours."""
    joined: list[tuple[str, bool]] = []
    for text, mark in pieces:
        if joined and not mark and not joined[-1][1]:
            joined[-1] = (joined[-1][0] + text, False)
        elif text:
            joined.append((text, mark))
    return joined


def _word_end(text: str, start: int) -> int:
    """Return where the word that starts at `start` ends, or where it is cut for its length."""
    at = start
    most = min(len(text), start + _LONGEST_WORD)
    if at < most and char_class(text[at]) is CharClass.PAIR:
        alone = at + 1 == len(text) or char_class(text[at + 1]) is not CharClass.PAIR
        return at + 1 if alone else at + 2
    while at < most and char_class(text[at]) in (CharClass.WORD, CharClass.MARK, CharClass.IGNORED):
        at += 1
    return at


def _end_of_marks(text: str, at: int) -> int:
    """Return the end of the punctuation marks that follow a word before a space, such as a full stop."""
    end = at
    while end < min(len(text), at + 4) and char_class(text[end]) in _SIGNS:
        end += 1
    return end if end == len(text) or text[end].isspace() else at


def _line(text: str) -> str:
    """Replace each run of white space by one space, also at the ends of the text."""
    inner = " ".join(text.split())
    if not inner:
        return " " if text else ""
    return f"{' ' if text[0].isspace() else ''}{inner}{' ' if text[-1].isspace() else ''}"
