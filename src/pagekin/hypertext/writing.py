"""Spell words as people do: DNA and England, where word streams only have dna and england."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.corpus import Corpus
from pagekin.hypertext.model import fold_case

_BEGINS, _INSIDE = 1, 100
"""What a word counts where a sentence or a line begins, since there any word may be written large, and elsewhere."""
_BETWEEN = b" \t\xc2\xa0"
_MOST_FORMS = 1024
"""Forms of words that are noted on a page at once; others are noted one by one."""
_ENDS = b".!?:;\n\r\"'()[]|\xe2\x80\x93\xe2\x80\x94\xe2\x80\xa2\xc2\xb7"


def common_spellings(corpus: Corpus, words: Sequence[str], pages: Iterable[int]) -> list[str]:
    """Return the most frequent spelling of each word on some pages; the word itself if it is on none of them."""
    numbers = {number: word for word in words if (number := corpus.term_number(word)) >= 0}
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    if numbers:
        for page in pages:
            _note(corpus, page, numbers, seen)
    return _choose_forms(words, seen)


def _choose_forms(words: Sequence[str], seen: defaultdict[str, Counter[str]]) -> list[str]:
    # Of forms that are as frequent, the plain one.
    return [max(seen[word], key=lambda form: (seen[word][form], form == word, form), default=word) for word in words]


class WrittenWords(NamedTuple):
    """Some words, and the pages that show how they are spelt; a page listed twice counts twice."""

    words: tuple[str, ...]
    pages: tuple[int, ...]


def common_spellings_of_many(corpus: Corpus, asked: Sequence[WrittenWords]) -> list[list[str]]:
    """Do what `common_spellings` does for many lists, opening each page once; needs numba, so for builds."""
    speller = _Speller(corpus)
    by_page: defaultdict[int, list[int]] = defaultdict(list)
    numbers = [speller.numbers(one.words) for one in asked]
    for place, one in enumerate(asked):
        for page in one.pages if numbers[place] else ():
            by_page[page].append(place)
    seen: list[defaultdict[str, Counter[str]]] = [defaultdict(Counter) for _ in asked]
    for page in sorted(by_page):
        places = by_page[page]
        forms = speller.forms({number for place in places for number in numbers[place]}, page)
        for place in places:
            mine = seen[place]
            for number in numbers[place].keys() & forms.keys():
                of_word = mine[numbers[place][number]]
                for form, count in forms[number]:
                    of_word[form] += count
    return [_choose_forms(one.words, of_words) for one, of_words in zip(asked, seen, strict=True)]


class _Speller:
    """Looks up how pages spell words, with a compiled kernel for ASCII words."""

    def __init__(self, corpus: Corpus) -> None:
        from pagekin.hypertext._kernels import spelling

        self._corpus, self._kernels = corpus, spelling
        self._known: dict[str, int] = {}
        self._slot = np.full(len(corpus.terms), -1, np.int32)
        self._ends = np.zeros(256, np.uint8)
        self._ends[list(_ENDS)] = 1
        self._ends[list(_BETWEEN)] = 2  # also of those that end a sentence: they are stripped first
        self._found = np.empty(_MOST_FORMS, np.int64), np.empty(_MOST_FORMS, np.uint64), np.empty(_MOST_FORMS, np.int64)

    def numbers(self, words: Iterable[str]) -> dict[int, str]:
        """Return the numbers of the known words among some."""
        for word in words:
            if word not in self._known:
                self._known[word] = self._corpus.term_number(word)
        return {self._known[word]: word for word in words if self._known[word] >= 0}

    def forms(self, numbers: Iterable[int], page: int) -> dict[int, list[tuple[str, int]]]:
        """Return the spellings of some words on a page, with their counts."""
        terms = sorted(numbers)
        words = [self._corpus.word(term) for term in terms]
        letters = np.zeros((len(words), self._kernels.LONGEST), np.uint8)
        for row, word in enumerate(words):
            if word.isascii() and len(word) <= letters.shape[1]:
                letters[row, : len(word)] = bytearray(word.encode())
        stream, rare, gaps, text = self._corpus.stored_words(page)
        self._slot[terms] = np.arange(len(terms))
        elsewhere = np.empty(len(stream), np.int64)
        count, others = self._kernels.note_spellings(
            stream,
            rare,
            gaps,
            np.frombuffer(text, np.uint8),
            self._slot,
            letters,
            self._ends,
            (*self._found, elsewhere),
        )
        self._slot[terms] = -1
        spellings: dict[int, list[tuple[str, int]]] = {}
        for slot, capitals, value in zip(*(column[:count].tolist() for column in self._found), strict=True):
            spellings.setdefault(terms[slot], []).append((_with_capitals(words[slot], capitals), value))
        if others:
            seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
            named = dict(zip(terms, words, strict=True))
            _note_places(self._corpus, page, elsewhere[:others], named, seen)
            for term, word in named.items():
                spellings.setdefault(term, []).extend(seen[word].items()) if seen[word] else None
        return spellings


def _with_capitals(word: str, capitals: int) -> str:
    """Return an ASCII word with the letters in upper case whose bits are set."""
    if not capitals:
        return word
    return "".join(letter.upper() if capitals >> place & 1 else letter for place, letter in enumerate(word))


def _note(corpus: Corpus, page: int, numbers: dict[int, str], seen: defaultdict[str, Counter[str]]) -> None:
    """Note how a page spells words."""
    places = np.flatnonzero(np.isin(corpus.words(page), list(numbers)))
    if len(places):
        _note_places(corpus, page, places, numbers, seen)


def _note_places(
    corpus: Corpus, page: int, places: npt.NDArray[Any], numbers: dict[int, str], seen: defaultdict[str, Counter[str]]
) -> None:
    """Note how a page spells the words at some places."""
    ids = corpus.words(page)
    text, starts = corpus.text_bytes(page)
    for place in places.tolist():
        word, start = numbers[int(ids[place])], int(starts[place])
        form = text[start : start + 4 * len(word)].decode("utf-8", "ignore")[: len(word)]
        if fold_case(form) == word:
            before = text[max(start - 8, 0) : start].rstrip(_BETWEEN)
            begins = not before or before[-1] in _ENDS
            seen[word][form] += _BEGINS if begins else _INSIDE
