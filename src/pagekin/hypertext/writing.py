"""Write words as people do: DNA and England, where streams of words know only dna and england."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from pagekin.hypertext.corpus import Corpus
from pagekin.hypertext.model import fold_case

_BEGINS, _INSIDE = 1, 100
"""What a word counts where a sentence or a line begins, since there any word may be written large, and elsewhere."""
_ENDS = b".!?:;\n\r\"'()[]|\xe2\x80\x93\xe2\x80\x94\xe2\x80\xa2\xc2\xb7"


def common_spellings(corpus: Corpus, words: Sequence[str], pages: Iterable[int]) -> list[str]:
    """Return each of some words in the form that it has most often on some pages; as it is, if it stands on none of them."""
    numbers = {number: word for word in words if (number := corpus.term_number(word)) >= 0}
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    if numbers:
        for page in pages:
            _note(corpus, page, numbers, seen)
    # Of forms that are as frequent, the plain one.
    return [max(seen[word], key=lambda form: (seen[word][form], form == word, form), default=word) for word in words]


def _note(corpus: Corpus, page: int, numbers: dict[int, str], seen: defaultdict[str, Counter[str]]) -> None:
    """Note how one page writes words."""
    ids = corpus.words(page)
    places = np.flatnonzero(np.isin(ids, list(numbers)))
    if not len(places):
        return
    text, starts = corpus.text_bytes(page)
    for place in places.tolist():
        word, start = numbers[int(ids[place])], int(starts[place])
        form = text[start : start + 4 * len(word)].decode("utf-8", "ignore")[: len(word)]
        if fold_case(form) == word:
            before = text[max(start - 8, 0) : start].rstrip(b" \t\xc2\xa0")
            begins = not before or before[-1] in _ENDS
            seen[word][form] += _BEGINS if begins else _INSIDE
