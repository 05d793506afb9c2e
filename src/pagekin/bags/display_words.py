"""Choose the word to display for each bag word: the most common of its forms, in a collection or all its shards."""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags.ranges import cut_sorted
from pagekin.bags.words import Vocabulary
from pagekin.hypertext import Corpus
from pagekin.store import Array, RaggedBytes, pack_strings


class WordCounts(NamedTuple):
    """Words with their counts, sorted by the hash of their bag word, then by bytes."""

    hashes: npt.NDArray[np.uint64]
    words: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]


class DisplayWords(NamedTuple):
    """The word to display for each bag word, sorted by the bag words' hashes."""

    hashes: npt.NDArray[np.uint64]
    words: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]


def count_words(corpus: Corpus, words: Vocabulary) -> WordCounts:
    """Count the occurrences in a corpus of the words behind each bag word."""
    counts = np.asarray(corpus.term_table.count).astype(np.int64)
    by_bytes = np.asarray(corpus.term_table.order, np.int64)
    said = by_bytes[(words.stem_of[by_bytes] >= 0) & (counts[by_bytes] > 0)]
    hashes = words.hashes[words.stem_of[said]]
    order = np.argsort(hashes, kind="stable")
    names = pack_strings([corpus.terms[term] for term in said[order].tolist()])
    return WordCounts(hashes[order], *names, counts[said[order]])


def divide_words(counted: WordCounts, count: int) -> list[WordCounts]:
    """Divide counts into this many ranges of hashes."""
    cuts = cut_sorted(counted.hashes, count).tolist()
    parts = []
    for low, high in pairwise(cuts):
        begin, end = counted.offsets[[low, high]].tolist()
        offsets = counted.offsets[low : high + 1] - begin
        parts.append(WordCounts(counted.hashes[low:high], counted.words[begin:end], offsets, counted.counts[low:high]))
    return parts


def choose_display_words(parts: Iterable[WordCounts]) -> dict[int, bytes]:
    """Return the most common word behind each hash over all shards; of equally common ones, the least by bytes."""
    sums: dict[tuple[int, bytes], int] = {}
    for part in parts:
        names = RaggedBytes(part.words, part.offsets)
        for key, count in zip(zip(part.hashes.tolist(), names, strict=True), part.counts.tolist(), strict=True):
            sums[key] = sums.get(key, 0) + count
    best: dict[int, tuple[int, bytes]] = {}
    for (number, word), count in sums.items():
        if number not in best or (-count, word) < best[number]:
            best[number] = -count, word
    return {number: word for number, (_count, word) in best.items()}


def select_display_words(shown: dict[int, bytes], hashes: Array) -> DisplayWords:
    """Return the display words of some bag words, given by sorted hashes."""
    return DisplayWords(hashes, *pack_strings([shown[number] for number in hashes.tolist()]))
