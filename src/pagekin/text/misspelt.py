"""Find words of a vocabulary that differ by a letter or two from a typed word."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from pagekin.store import Array

_LONGEST = 24
"""Maximum letters of words that are compared."""
_SHORT = 4
"""Longest word in which only one letter may differ, since two make almost any short word near; in longer words two may."""
_FAR = 99


class NearWords:
    """Words, the most common first, in which to find similar spellings."""

    def __init__(self, words: Iterable[str]) -> None:
        self._by_length: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
        for place, word in enumerate(words):
            if 2 < len(word) <= _LONGEST and word.isalpha():
                self._by_length[len(word)].append((place, word))
        self._letters = {
            length: _letters([word for _place, word in some], length) for length, some in self._by_length.items()
        }

    def near(self, word: str, most: int) -> list[str]:
        """Return the most likely corrections of a word: near, with the same letters, and common; not the word itself."""
        reach = 1 if len(word) <= _SHORT else 2
        if not 2 < len(word) <= _LONGEST:
            return []
        asked = _letters([word], len(word))[0]
        candidates: list[tuple[float, int, str]] = []
        for length in range(len(word) - reach, len(word) + reach + 1):
            if length in self._letters:
                far = distances(asked, self._letters[length])
                near = np.flatnonzero((far > 0) & (far <= reach)).tolist()
                for at in near:
                    place, other = self._by_length[length][at]
                    letters = (Counter(word) - Counter(other)) + (Counter(other) - Counter(word))
                    # A letter less is worth as much as being ten times as common.
                    cost = int(far[at]) + letters.total() / 2 + math.log10(1 + place)
                    candidates.append((cost, place, other))
        return [one for _cost, _place, one in sorted(candidates)[:most]]


def _letters(words: list[str], length: int) -> Array:
    """Return words of one length as rows of numbers."""
    return np.frombuffer("".join(words).encode("utf-32-le"), np.uint32).reshape(len(words), length)


def distances(asked: Array, words: Array) -> Array:
    """Return the edit distance of each word to what was typed (insert, delete, change, exchange neighbours).

    All words are one row of the table further at a time: it takes as many steps as the table of one word has cells.
    """
    count, length = words.shape
    before = np.full((length + 1, count), _FAR, np.int8)
    last = np.repeat(np.arange(length + 1, dtype=np.int8)[:, None], count, axis=1)
    by_place = np.ascontiguousarray(words.T)
    for row, letter in enumerate(asked.tolist()):
        now = np.empty_like(last)
        now[0] = row + 1
        for at in range(length):
            cell = np.minimum(last[at] + (by_place[at] != letter), np.minimum(last[at + 1], now[at]) + 1)
            if row and at:
                turned = (by_place[at - 1] == letter) & (by_place[at] == asked[row - 1])
                cell = np.where(turned, np.minimum(cell, before[at - 1] + 1), cell)
            now[at + 1] = cell
        before, last = last, now
    return last[length]
