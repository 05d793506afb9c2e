"""From a text to the forms that are searched: the same words as in the corpus, and their stems."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import CharClass, Corpus, char_class, fold_case
from pagekin.sources import Limits

ANALYSER = "porter-1"
"""The version of the forms: an index with others cannot be asked."""
_here = threading.local()


def _stemmer() -> Any:
    """Return the stemmer of this thread: one must not be used by two at once."""
    if not hasattr(_here, "stemmer"):
        import Stemmer

        _here.stemmer = Stemmer.Stemmer("porter")
    return _here.stemmer


def analyse(words: Sequence[str]) -> list[str]:
    """Return the form of each (folded) word: its Porter stem, or itself unless it is of ASCII characters."""
    made: list[str] = _stemmer().stemWords(list(words))
    return [stem if word.isascii() and stem else word for word, stem in zip(words, made, strict=True)]


@lru_cache(maxsize=1 << 12)
def form_of(word: str) -> str:
    """Return the form of one (folded) word."""
    return analyse([word])[0]


def tokens(text: str) -> list[str]:
    """Return the folded words of a plain text, divided as the corpus divides pages."""
    return [fold_case(_cut(text[start:end])) for start, end in _spans(text)]


def _spans(text: str) -> list[tuple[int, int]]:
    """Return where each word starts and ends; neighbours in scripts without spaces overlap."""
    found: list[tuple[int, int]] = []
    word = pair = -1
    pairs = end = 0

    def flush() -> None:
        nonlocal word, pair, pairs
        if word >= 0:
            found.append((word, end))
        elif pair >= 0 and not pairs:
            found.append((pair, end))
        word, pair, pairs = -1, -1, 0

    for at, char in enumerate(text):
        kind = char_class(char)
        if kind is CharClass.IGNORED:
            continue
        if kind is CharClass.WORD or (kind is CharClass.MARK and word >= 0):
            if word < 0:
                flush()
                word = at
        elif kind is CharClass.PAIR:
            if word >= 0:
                flush()
            if pair >= 0:
                found.append((pair, at + 1))
                pairs += 1
            pair = at
        else:
            flush()
        end = at + 1
    flush()
    return found


def _cut(word: str) -> str:
    """Remove the characters that pages may hold but words do not, and cut a word to the longest that words get."""
    word = "".join(char for char in word if char_class(char) is not CharClass.IGNORED)
    raw = word.encode("utf-8", "replace")
    most = Limits().word_bytes
    return raw[:most].decode("utf-8", "ignore") if len(raw) > most else word


@dataclass(frozen=True)
class Forms:
    """The forms of a corpus's terms."""

    names: list[str]
    """In the order of their bytes."""
    of_term: npt.NDArray[np.uint32]
    """The form of each term."""


def form_table(corpus: Corpus, progress: Callable[[float], None] = lambda _share: None) -> Forms:
    """Return the forms of all terms, made once for an open corpus; memory for the vocabulary, not for the words."""
    return corpus.term_tables("text", lambda: _number_forms(corpus, progress))


def _number_forms(corpus: Corpus, progress: Callable[[float], None]) -> Forms:
    numbers: dict[str, int] = {}
    of_term = np.zeros(len(corpus.terms), dtype=np.uint32)
    term = 0
    for words in corpus.term_blocks():
        of_term[term : term + len(words)] = [numbers.setdefault(form, len(numbers)) for form in analyse(words)]
        term += len(words)
        progress(term / len(of_term))
    names = sorted(numbers, key=str.encode)
    ranks = np.zeros(len(numbers), dtype=np.uint32)
    ranks[[numbers[name] for name in names]] = np.arange(len(names), dtype=np.uint32)
    return Forms(names, ranks[of_term] if term else of_term)
