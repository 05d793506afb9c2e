"""Analyse a text into searchable forms: the same words as in the corpus, stemmed."""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import CharClass, Corpus, char_class, fold_case
from pagekin.sources import Limits
from pagekin.store import Array, Kin, RaggedBytes, distinct, join_strings, pack_strings, union_strings
from pagekin.text.languages import same_forms

ANALYSER = "porter-2"
"""The version of the forms: an index with others cannot be asked."""
_LETTERS = {CharClass.WORD: "w", CharClass.MARK: "m", CharClass.PAIR: "p"}
_RUNS = re.compile("w[wm]*|p+")
"""Words, in a text in which a letter stands for the class of each character."""
_SHORT = 2
"""Letters of words that are their own form: an s at their end is no plural, so that *is* is not *I*."""
IRREGULAR = dict(
    pair.split("/")
    for pair in (
        "mice/mouse men/man women/woman children/child feet/foot teeth/tooth geese/goose oxen/ox lice/louse "
        "wolves/wolf leaves/leaf knives/knife wives/wife halves/half shelves/shelf thieves/thief loaves/loaf "
        "calves/calf elves/elf hooves/hoof scarves/scarf dwarves/dwarf fungi/fungus cacti/cactus nuclei/nucleus "
        "stimuli/stimulus larvae/larva vertebrae/vertebra algae/alga phenomena/phenomenon criteria/criterion "
        "bacteria/bacterium indices/index matrices/matrix vertices/vertex"
    ).split()
)
"""Plurals that no rule makes."""
_here = threading.local()


def _stemmer() -> Any:
    """Return this thread's stemmer, since stemmers are not thread-safe."""
    if not hasattr(_here, "stemmer"):
        import Stemmer

        _here.stemmer = Stemmer.Stemmer("porter")
    return _here.stemmer


def analyse(words: Sequence[str]) -> list[str]:
    """Return the form of each (folded) word: its Porter stem, or itself if it is short or not of ASCII characters."""
    stems: list[str] = _stemmer().stemWords([IRREGULAR.get(word, word) for word in words])
    return [
        stem if len(word) > _SHORT and word.isascii() and stem else word
        for word, stem in zip(words, stems, strict=True)
    ]


@lru_cache(maxsize=1 << 12)
def form_of(word: str) -> str:
    """Return the form of one (folded) word."""
    return analyse([word])[0]


def tokens(text: str) -> list[str]:
    """Return the folded words of a plain text, divided as the corpus divides pages."""
    kinds = [char_class(char) for char in text]
    kept = "".join(char for char, kind in zip(text, kinds, strict=True) if kind is not CharClass.IGNORED)
    letters = "".join(_LETTERS.get(kind, " ") for kind in kinds if kind is not CharClass.IGNORED)
    words: list[str] = []
    for run in _RUNS.finditer(letters):
        if letters[run.start()] == "p" and len(run[0]) > 1:  # in scripts without spaces every two neighbours are a word
            words += (kept[at : at + 2] for at in range(run.start(), run.end() - 1))
        else:
            words.append(kept[run.start() : run.end()])
    return [fold_case(_cut(word)) for word in words]


def _cut(word: str) -> str:
    """Cut a word to the maximum length of words."""
    return word.encode("utf-8", "replace")[: Limits().word_bytes].decode("utf-8", "ignore")


@dataclass(frozen=True)
class Forms:
    """The forms of a corpus's terms."""

    table: RaggedBytes
    """The forms, in the order of their bytes."""
    of_term: npt.NDArray[np.uint32]
    """The form of each term; of forms that stand for the same word, the least."""
    same: npt.NDArray[np.uint32] | None = None
    """For each form the least that stands for the same word, by stems of other languages; None if each stands for itself."""

    def __len__(self) -> int:
        return len(self.table)

    def names(self) -> Iterator[str]:
        """Yield all forms as text; slow, so call it outside loops."""
        return (name.decode() for name in self.table)


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
    of_term = ranks[of_term] if term else of_term
    return _join_same(corpus, RaggedBytes(*pack_strings([name.encode() for name in names])), of_term)


def _join_same(corpus: Corpus, table: RaggedBytes, of_term: npt.NDArray[np.uint32]) -> Forms:
    """Return forms with those merged that stand for the same word, by the stems of other languages."""
    same = same_forms(corpus, of_term, len(table))
    return Forms(table, of_term if same is None else same[of_term], same)


def learn_forms(corpus: Corpus, known: Kin, places: Array) -> Forms:
    """Make the forms of a corpus's terms from an indexed collection, given each term's place in it, or -1.

    From now on `form_table` returns them for this corpus. Cost: the words that the collection does not know; all, if it has forms
    of other languages that stand for the same word, as it does not say what these were made of.
    """
    if "form.same" in known or not len(known["form.of_term"]):
        return form_table(corpus)
    return corpus.term_tables("text", lambda: _learn_forms(corpus, known, places))


def _learn_forms(corpus: Corpus, known: Kin, places: Array) -> Forms:
    table = RaggedBytes.of(known, "form")
    is_known = places >= 0
    of_term = np.zeros(len(places), np.int64)
    of_term[is_known] = np.asarray(known["form.of_term"])[places[is_known]]
    others = np.flatnonzero(~is_known)
    forms = [form.encode() for form in analyse([corpus.word(term) for term in others.tolist()])]
    fresh, which = union_strings([RaggedBytes(*pack_strings(forms))])
    numbers = table.find_all(fresh)
    # Forms that the collection does not have are numbered after its own, until all are put in order.
    number = np.where(numbers >= 0, numbers, len(table) + np.arange(len(fresh)))
    of_term[others] = number[which[0]]
    used = distinct(of_term)
    new = used[used >= len(table)] - len(table)
    before = table.select(used[: len(used) - len(new)])
    both = RaggedBytes(*join_strings([before, fresh.select(new)]))
    order = np.insert(np.arange(len(before)), before.nearest_all(fresh)[new], len(before) + np.arange(len(new)))
    rank = np.empty(len(used), np.uint32)
    rank[order] = np.arange(len(used), dtype=np.uint32)
    return _join_same(corpus, both.select(order), rank[np.searchsorted(used, of_term)])
