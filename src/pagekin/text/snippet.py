"""The piece of a page's text that shows best what a query found."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Attribute, CharClass, Corpus, DecodedPage, char_class
from pagekin.store import RaggedBytes
from pagekin.text.analysis import analyse, form_of
from pagekin.text.query import Query, Word, wanted_words

Array = npt.NDArray[Any]
ELLIPSIS = "…"
_SIGNS = (CharClass.STOP, CharClass.CLOSER, CharClass.FULL_STOP)
_KEPT = 10_000
"""Forms whose numbers are kept."""
_LONGEST_WORD = 60
"""Characters that are shown of one word."""


@dataclass(frozen=True)
class _Page:
    """A page's plain text and its words."""

    corpus: Corpus
    number: int

    @cached_property
    def text(self) -> str:
        return self._read[0]

    @cached_property
    def _read(self) -> tuple[str, Array]:
        """Return the text, and the character at which each word starts."""
        data, at = self.corpus.text_bytes(self.number)
        text = data.decode("utf-8", "replace")
        if not text.isascii():
            # A character is as far on as its first byte, less the bytes before it that begin none.
            raw = np.frombuffer(data, np.uint8)
            inside = np.flatnonzero((raw & 0xC0) == 0x80)
            at = np.minimum(at - np.searchsorted(inside, at), len(text))
        return text, at

    @cached_property
    def starts(self) -> Array:
        return self._read[1]

    @cached_property
    def _stream(self) -> Any:
        return self.corpus.stream(self.number)

    @cached_property
    def running(self) -> Array:
        """Return the places of the words that people read.

        These are not the title's, nor those of meta tags, nor any beyond the end of the stored text.
        """
        read = (self._stream.attributes & (Attribute.TEXT | Attribute.ALT)) != 0
        return np.flatnonzero(read & (self.starts < len(self.text)))

    def places(self, form: str) -> Array:
        """Return whether each word has a form."""
        return np.asarray(self._forms[1] == self._forms[0].get(form, -1))

    @cached_property
    def _forms(self) -> tuple["_Numbers", Array]:
        """Return (the numbers of forms, the number of each word's form)."""
        kin, words = self.corpus.kin, self._stream.words
        if "form.of_term" in kin:
            return _stored(self.corpus), kin["form.of_term"][words].astype(np.int64)
        terms, place = np.unique(words, return_inverse=True)
        forms = analyse([self.corpus.word(int(term)) for term in terms])
        table = {form: number for number, form in enumerate(dict.fromkeys(forms))}
        return _Numbers(None, table), np.array([table[form] for form in forms], np.int64)[place]

    @cached_property
    def text_places(self) -> Array:
        """Return the places of the words of the text, in which phrases are looked for."""
        return np.flatnonzero(self._stream.attributes & Attribute.TEXT)


@dataclass(frozen=True)
class _Numbers:
    """Forms by name: from the collection's table, or from one that was made for the page."""

    stored: RaggedBytes | None
    made: dict[str, int] = field(default_factory=dict)

    def get(self, form: str, otherwise: int) -> int:
        """Return the number of a form, or `otherwise` if it is unknown."""
        if self.stored is not None and form not in self.made:
            if len(self.made) > _KEPT:
                self.made.clear()
            self.made[form] = self.stored.find(form.encode())
        return self.made.get(form, otherwise)


def _stored(corpus: Corpus) -> _Numbers:
    """Return the forms of a collection, cached: ten results of one query ask for the same few."""
    return corpus.term_tables(_Numbers, lambda: _Numbers(RaggedBytes.of(corpus.kin, "form")))


def make_snippet(
    corpus: Corpus, page: int, query: Query, width: int = 200, compiled: bool = False
) -> list[tuple[str, bool]]:
    """Return the best stretch of a page's text, about `width` characters, in pieces of (text, whether it matches).

    A stretch that shows more of the query's words and phrases is better, then one that shows them more often, then the
    first. A page whose text shows none, because they stand in its title, gives the start of its text.
    Pass `compiled` for many snippets: each takes less time, but the compiler has to be loaded. Queries with phrases are
    always answered by plain code.
    """
    width = max(width, 20)
    parts = wanted_words(query)
    if compiled and "form.of_term" in corpus.kin and all(isinstance(part, Word) for part in parts):
        return _by_kernel(corpus, page, [form_of(part.word) for part in parts if isinstance(part, Word)], width)
    here = _Page(corpus, page)
    found = _match_places(here, query)
    marked = np.asarray(found.any(axis=0))
    places = np.flatnonzero(marked)
    if not len(places):
        return _opening(corpus, page)
    first, last = _best_window(here, found, places, width)
    first, last = _widened(here, first, last, width)
    return _pieces(here.text, here.starts[here.running], first, last, marked)


def _opening(corpus: Corpus, page: int) -> list[tuple[str, bool]]:
    """Return the start of a page's text."""
    stored = corpus.snippets.text(page)
    return [(stored, False)] if stored else []


def _by_kernel(corpus: Corpus, page: int, forms: list[str], width: int) -> list[tuple[str, bool]]:
    """Make the snippet of a query without phrases, by one compiled walk over the page."""
    from pagekin.text._kernels.window import best_window

    numbers = _stored(corpus)
    data, coded = corpus.stored_text(page)
    text = data.decode("utf-8", "replace")
    streams = corpus.stream_batch(page, page + 1)
    starts, shows = np.empty((2, len(streams.words)), np.int64)
    count, first, last = best_window(
        streams, DecodedPage.for_longest(streams), coded, np.frombuffer(data, np.uint8), len(text),
        int(Attribute.TEXT | Attribute.ALT), corpus.kin["form.of_term"],
        np.array([numbers.get(form, -1) for form in dict.fromkeys(forms)], np.int64), width, _LONGEST_WORD, starts, shows,
    )  # fmt: skip
    if first < 0:
        return _opening(corpus, page)
    return _pieces(text, starts[:count], first, last, shows[:count] >= 0)


def _match_places(page: _Page, query: Query) -> Array:
    """Return (words and phrases of the query, running words): which word shows which of them."""
    rows: dict[tuple[str, ...], Array] = {}
    for part in wanted_words(query):
        if isinstance(part, Word):
            rows[(form_of(part.word),)] = page.places(form_of(part.word))[page.running]
        else:
            forms = tuple(map(form_of, part.words))
            rows[forms] = _phrase_places(page, forms)[page.running]
    return np.array(list(rows.values()), np.bool_).reshape(len(rows), len(page.running))


def _phrase_places(page: _Page, forms: tuple[str, ...]) -> Array:
    """Return whether each word is part of a phrase."""
    marked = np.zeros(len(page.starts), np.bool_)
    text = page.text_places
    many = len(text) - len(forms) + 1
    if many > 0:
        begins = np.ones(many, np.bool_)
        for shift, form in enumerate(forms):
            begins &= page.places(form)[text][shift : shift + many]
        for shift in range(len(forms)):
            marked[text[np.flatnonzero(begins) + shift]] = True
    return marked


def _best_window(page: _Page, found: Array, places: Array, width: int) -> tuple[int, int]:
    """Return the first and the last place of what was found in the stretch that shows most."""
    starts = page.starts[page.running[places]]
    beyond = np.searchsorted(starts, starts + max(width - _LONGEST_WORD // 2, 1))
    begin = np.arange(len(places))
    shown = np.concatenate([np.zeros((len(found), 1), np.int64), np.cumsum(found[:, places], axis=1)], axis=1)
    distinct = np.count_nonzero(shown[:, beyond] > shown[:, begin], axis=0)
    best = int(np.argmax(distinct * (len(places) + 1) + (beyond - begin)))
    return int(places[best]), int(places[beyond[best] - 1])


def _widened(page: _Page, first: int, last: int, width: int) -> tuple[int, int]:
    """Widen the stretch by words before and after it, as many as `width` has room for: a third of it before."""
    starts = page.starts[page.running]
    ends = np.append(starts[1:], len(page.text))
    ends = np.minimum(ends, starts + _LONGEST_WORD)
    spare = max(width - int(ends[last] - starts[first]), 0)
    begin = min(first, int(np.searchsorted(starts, starts[first] - spare // 3)))
    end = max(last, int(np.searchsorted(ends, starts[begin] + width, side="right")) - 1)
    if end == len(starts) - 1:  # the text ends, so there is room for more before
        begin = min(begin, int(np.searchsorted(starts, ends[end] - width)))
    return begin, end


def _pieces(text: str, starts: Array, first: int, last: int, marked: Array) -> list[tuple[str, bool]]:
    """Return the text from one running word to another, cut where marks begin and end."""
    spans: list[tuple[int, int]] = []
    for place in np.flatnonzero(marked[first : last + 1]) + first:
        begin, end = int(starts[place]), _word_end(text, int(starts[place]))
        if spans and begin <= spans[-1][1]:  # pairs of characters overlap
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((begin, end))
    at, stop = int(starts[first]), _closing(text, _word_end(text, int(starts[last])))
    found = [(f"{ELLIPSIS} ", False)] if first else []
    for begin, end in spans:
        found += [(_line(text[at:begin]), False), (_line(text[begin:end]), True)]
        at = end
    found.append((_line(text[at:stop]), False))
    if last < len(starts) - 1:
        found.append((f" {ELLIPSIS}", False))
    return _joined(found)


def _joined(pieces: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Drop empty pieces, and join unmarked neighbours."""
    made: list[tuple[str, bool]] = []
    for text, mark in pieces:
        if made and not mark and not made[-1][1]:
            made[-1] = (made[-1][0] + text, False)
        elif text:
            made.append((text, mark))
    return made


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


def _closing(text: str, at: int) -> int:
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
