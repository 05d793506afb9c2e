"""Which words go into bags, and in which form: per-term tables made from the strategy (sections 3.1 and 3.2)."""

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags.strategy import Strategy
from pagekin.hypertext import CharClass, Corpus, char_class, fold_case
from pagekin.store import Array

STOP_WORDS = frozenset(
    word
    for line in Path(__file__).with_name("stopwords.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
    for word in line.split()
)
"""English words that bags leave out."""
DROPPED = -1


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the (folded) stop words of a language; none for a language without a list."""
    if language == "en":
        return STOP_WORDS
    lines = Path(__file__).with_name("stopwords_by_language.txt").read_text(encoding="utf-8").splitlines()
    lists = dict(line.split(": ", 1) for line in lines if not line.startswith("#"))
    return frozenset(map(fold_case, lists.get(language, "").split()))


def is_telling(word: str, language: str) -> bool:
    """Return whether a (folded) word is informative to people, on a page in a language.

    Stop words of the language do not; nor do words of scripts without spaces, which are two neighbouring characters each.
    """
    return word not in stop_words(language) and not all(char_class(char) is CharClass.PAIR for char in word)


@cache
def _stemmer() -> Any:
    import Stemmer

    # Without its cache: lists of words are all different, and looking them up costs six times as much as stemming.
    return Stemmer.Stemmer("porter", 0)


def _stems(words: Sequence[str]) -> list[str]:
    """Return Porter stems; a word with other than ASCII characters is its own stem: the rules are for English."""
    stems: list[str] = _stemmer().stemWords(list(words))
    return [stem if word.isascii() else word for word, stem in zip(words, stems, strict=True)]


def bag_forms(words: Sequence[str], strategy: Strategy) -> list[str]:
    """Return the bag form of each (folded) word, or '' if bags do not hold it."""
    if strategy.words == "letters":
        words = ["".join(filter(str.isalpha, word)) for word in words]
    elif strategy.words == "mixed":
        words = [word if not word.isdigit() and any(map(str.isalpha, word)) else "" for word in words]
    if strategy.stemming == "nostem":
        return ["" if word in STOP_WORDS else word for word in words]
    stop = _stopped_stems()
    stems = _stems(words)
    if strategy.stemming == "stopstem":
        return ["" if stem in stop else word for word, stem in zip(words, stems, strict=True)]
    return ["" if stem in stop else stem for stem in stems]


@cache
def _stopped_stems() -> frozenset[str]:
    return frozenset(_stems(sorted(STOP_WORDS)))


def stem_of_word(word: str) -> str:
    """Return the Porter stem of a word."""
    return _stems([word])[0]


def word_hash(form: str) -> int:
    """Return the 64-bit hash of a word in its bag form: the same on every machine and in every collection."""
    return int.from_bytes(hashlib.blake2b(b"w" + form.encode(), digest_size=8).digest(), "little")


def link_hash(url: str | bytes) -> int:
    """Return the 64-bit hash of a citing page as a term."""
    return _address_hash(b"l", url)


def outlink_hash(url: str | bytes) -> int:
    """Return the 64-bit hash of a page that is linked to, as a term."""
    return _address_hash(b"o", url)


def host_hash(name: bytes) -> int:
    """Return the 64-bit hash of a host's name."""
    return _address_hash(b"h", name)


def prefix_hash(prefix: str) -> int:
    """Return the 64-bit hash of a prefix of addresses: of the sheets of an index, or of a folder."""
    return _address_hash(b"p", prefix)


def _address_hash(kind: bytes, url: str | bytes) -> int:
    data = url.encode() if isinstance(url, str) else url
    return int.from_bytes(hashlib.blake2b(kind + data, digest_size=8).digest(), "little")


@dataclass(frozen=True)
class Vocabulary:
    """The bag's words of one collection under one strategy."""

    stem_of: npt.NDArray[np.int32]
    """For each term of the corpus its bag word, or DROPPED."""
    shown: npt.NDArray[np.uint32]
    """For each bag word the corpus's most common term that stands behind it (Figure 14, footnote 15)."""
    hashes: npt.NDArray[np.uint64]
    """The hash of each bag word: no other number of it is the same in every collection."""


def make_vocabulary(
    corpus: Corpus, strategy: Strategy, progress: Callable[[float], None] = lambda _s: None
) -> Vocabulary:
    """Return the table of the corpus's terms, made once for an open corpus and all strategies with the same words.

    Bag words are numbered by the frequency of their most common form.
    """
    return corpus.term_tables(_key(strategy), lambda: _number_words(*_hash_terms(corpus, strategy, progress)))


def _key(strategy: Strategy) -> Hashable:
    return "bags", strategy.words, strategy.stemming


def learn_vocabulary(corpus: Corpus, strategy: Strategy, known: Vocabulary, places: Array) -> Vocabulary:
    """Make the table of a corpus's terms from a known vocabulary, given each term's place in it, or -1.

    From now on `make_vocabulary` returns it for this corpus. Cost: the words that the vocabulary does not know, or drops.
    """
    stems = (
        np.where(places >= 0, known.stem_of[places], DROPPED) if len(known.stem_of) else np.full_like(places, DROPPED)
    )
    is_kept = stems >= 0
    hashes = np.zeros(len(places), np.uint64)
    hashes[is_kept] = known.hashes[stems[is_kept]]
    others = np.flatnonzero(~is_kept)
    forms = bag_forms([corpus.word(term) for term in others.tolist()], strategy)
    is_kept[others] = [bool(form) for form in forms]
    hashes[others] = np.fromiter(map(word_hash, forms), np.uint64, len(forms))
    return corpus.term_tables(_key(strategy), lambda: _number_words(hashes, is_kept))


def indexed_vocabulary(corpus: Corpus, strategy: Strategy) -> Vocabulary:
    """Return the words of an indexed collection's bags, from its index if that suffices; without words that no bag holds.

    A bag's words are the terms themselves unless they are stems, or cut to letters. Where the pages' own words are in their
    bags, a word that is in none stands in no window either.
    """
    if strategy.words == "letters" or strategy.stemming not in ("nostem", "stopstem") or not strategy.content.scale:
        return make_vocabulary(corpus, strategy)
    words = int(corpus.facts["index"]["bag_words"])
    shown = np.asarray(corpus.kin["bagterm.shown"][:words])
    stem_of = np.full(len(corpus.terms), DROPPED, np.int32)
    stem_of[shown] = np.arange(words, dtype=np.int32)
    return Vocabulary(stem_of, shown, np.array(corpus.kin["bagterm.hash"][:words]))


def _hash_terms(
    corpus: Corpus, strategy: Strategy, progress: Callable[[float], None]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """Return (the hash of each term's bag form, whether it has one), without keeping the words in memory."""
    hashes = np.zeros(len(corpus.terms), dtype=np.uint64)
    is_kept = np.zeros(len(hashes), dtype=np.bool_)
    term = 0
    for words in corpus.term_blocks():
        forms = bag_forms(words, strategy)
        block = slice(term, term + len(forms))
        is_kept[block] = [bool(form) for form in forms]
        hashes[block] = np.fromiter(map(word_hash, forms), np.uint64, len(forms))
        term = block.stop
        progress(term / len(hashes))
    return hashes, is_kept


def _number_words(hashes: npt.NDArray[np.uint64], is_kept: npt.NDArray[np.bool_]) -> Vocabulary:
    """Return the numbered words, identified by their hashes."""
    kept = np.flatnonzero(is_kept).astype(np.uint32)
    _different, first, form = np.unique(hashes[kept], return_index=True, return_inverse=True)
    # Terms are ranked by frequency: the first of a stem is its most common form, and numbers the stem.
    order = np.argsort(first)
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    stem_of = np.full(len(hashes), DROPPED, dtype=np.int32)
    stem_of[kept] = number[form]
    shown = kept[first[order]]
    return Vocabulary(stem_of, shown, hashes[shown])
