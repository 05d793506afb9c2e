"""Find forms that stand for the same word, by stems in the words' own language.

Forms are made without knowing a language, so that a word of a question has one form at every door: the Porter stem of what may be
English, else the word itself. In a collection with pages in other languages, forms of words that have the same stem in the
language in which they mostly stand are one: *Haus* and *Häuser* on German pages.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Corpus
from pagekin.store import Array, batch_ranges

STEMMERS: Mapping[str, str] = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "es": "spanish",
    "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian",
    "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
"""Snowball's stemmers by language; English words have their Porter stems already."""
_MOSTLY = 0.5
"""A word is of a language if more than this share of its uses is on pages in it."""
_SHORTEST = 3
"""Letters of a word, and of its stem, at least: shorter ones have no endings to take off."""
_BATCH_WORDS = 1 << 20


def have_stemmers(codes: Iterable[str]) -> bool:
    """Return whether one of some languages, given by code, has a stemmer."""
    return any(_language(code) in STEMMERS for code in codes)


def _language(code: str) -> str:
    return code.lower().replace("_", "-").partition("-")[0]


def language_uses(corpus: Corpus) -> Iterator[tuple[str, npt.NDArray[np.int64]]]:
    """Yield (language, the count of each term on its pages) for the languages that have a stemmer.

    Cost: a pass over the words of the pages in these languages.
    """
    codes: Sequence[str] = corpus.facts["language_codes"]
    of_page = np.asarray(corpus.pages.language)
    by_stemmer: defaultdict[str, list[int]] = defaultdict(list)
    for number, code in enumerate(codes):
        if _language(code) in STEMMERS:
            by_stemmer[_language(code)].append(number)
    for language, numbers in sorted(by_stemmer.items()):
        pages = np.flatnonzero(np.isin(of_page, numbers))
        uses = np.zeros(len(corpus.terms), np.int64)
        sizes = np.cumsum(np.append(0, np.diff(np.asarray(corpus.pages.tokens, np.int64))[pages]))
        for first, last in batch_ranges(sizes, _BATCH_WORDS) if len(pages) else ():
            words = np.concatenate([corpus.words(page) for page in pages[first:last].tolist()])
            np.add.at(uses, words, 1)
        yield language, uses


def are_of_language(uses: Array, totals: Array) -> npt.NDArray[np.bool_]:
    """Mark the words of a language, given their counts on its pages and on all pages."""
    return np.asarray(uses > _MOSTLY * totals)


def word_languages(corpus: Corpus) -> Iterator[tuple[str, npt.NDArray[np.int64]]]:
    """Yield (language, terms that mostly occur on its pages, ascending) for the languages that have a stemmer."""
    totals = np.asarray(corpus.term_table.count).astype(np.int64)
    for language, uses in language_uses(corpus):
        yield language, np.flatnonzero(are_of_language(uses, totals))


def same_forms(corpus: Corpus, form_of_term: Array, forms: int) -> npt.NDArray[np.uint32] | None:
    """Return for each form the least form that stands for the same word; None if each form stands for itself."""
    if not have_stemmers(corpus.facts["language_codes"]):
        return None
    same = np.arange(forms, dtype=np.uint32)

    def find(form: int) -> int:
        while same[form] != form:
            form = int(same[form])
        return form

    for language, terms in word_languages(corpus):
        first: dict[str, int] = {}
        for term, stem in _stems(corpus, language, terms):
            form = find(int(form_of_term[term]))
            other = find(first.setdefault(stem, form))
            same[max(form, other)] = min(form, other)
    for form in range(forms):  # a form is joined to lesser ones alone, so theirs are known already
        same[form] = same[same[form]]
    return same if np.any(same != np.arange(forms)) else None


def _stems(corpus: Corpus, language: str, terms: Array) -> Iterator[tuple[int, str]]:
    """Yield (term, its stem in a language) of words that may have endings."""
    words = [corpus.word(term) for term in terms.tolist()]
    return ((int(terms[place]), stem) for place, stem in stem_words(language, words))


def stem_words(language: str, words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield (the place of a word, its stem in a language) of those words that may have endings."""
    if not words:
        return
    import Stemmer

    stems = Stemmer.Stemmer(STEMMERS[language]).stemWords(words)
    for place, (word, stem) in enumerate(zip(words, stems, strict=True)):
        if len(word) >= _SHORTEST and len(stem) >= _SHORTEST and word.isalpha():
            yield place, stem
