"""Find words that occur almost only in code (def, self, args); they are not subjects, so they are not suggested."""

import re
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pagekin.clusters.sampling import pages_to_name
from pagekin.hypertext import Corpus
from pagekin.store import Array
from pagekin.text import tokens

if TYPE_CHECKING:
    from pagekin.bags import Vocabulary

_SIGNS = re.compile(rb"[=(){}\[\]<>_;#$\\|*%&]|\w[.:]\w|::")
"""What stands between words of code, and seldom between those of a sentence."""
_AROUND = 24
"""Bytes before and behind the beginning of a word that are looked at, …"""
_LENGTH = 6
"""… and so many more behind it, for the word itself."""
_SEVERAL = 2
"""Signs around a word that stands in code, at least: a sentence may be put in brackets."""
_CODE = 0.8
"""The share of a word's places that are in code, at least."""
_TITLED = 0.003
"""The share of the pages which hold a word that have it in their title, from which on it is a subject: asyncio, postscreen."""
_LOOKED_AT = 5000
"""Pages that are looked at, about."""


def stand_in_code(
    corpus: Corpus, words: "Vocabulary", pages: npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.bool_]:
    """Mark the words of a vocabulary that occur almost only in code, and hardly in titles, on all pages or some.

    Cost: a pass over the text of some thousand pages.
    """
    columns = len(words.shown)
    places, in_code, held, titled = np.zeros((4, columns), np.int64)
    looked_at = pages_to_name(corpus, _LOOKED_AT)
    for page in (looked_at if pages is None else np.intersect1d(looked_at, pages)).tolist():
        stems = np.asarray(words.stem_of[corpus.words(page)], np.int64)
        inside = _is_code_at(*corpus.text_bytes(page))[: len(stems)]
        telling = stems >= 0
        np.add.at(places, stems[telling], 1)  # a page costs its own words, however many words there are in all
        np.add.at(in_code, stems[telling & inside], 1)
        held[np.unique(stems[telling])] += 1
        numbers = [number for word in tokens(corpus.titles.text(page)) if (number := corpus.term_number(word)) >= 0]
        in_title = np.unique(np.asarray(words.stem_of[np.array(numbers, np.int64)], np.int64))
        titled[in_title[in_title >= 0]] += 1
    return np.asarray((places > 0) & (in_code >= _CODE * places) & (titled <= _TITLED * held))


def _is_code_at(text: bytes, begins: Array) -> npt.NDArray[np.bool_]:
    """Mark the words of a text, given their first bytes, that have several signs of code around them."""
    signs = np.zeros(len(text) + 1, np.int64)
    signs[[sign.start() + 1 for sign in _SIGNS.finditer(text)]] = 1
    until = np.cumsum(signs)
    first = np.asarray(begins, np.int64)
    before, behind = np.maximum(first - _AROUND, 0), np.minimum(first + _AROUND + _LENGTH, len(text))
    return np.asarray(until[behind] - until[before] >= _SEVERAL)
