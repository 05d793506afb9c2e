"""Make bags by many strategies over one corpus, sharing the stages that strategies have in common."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from pagekin.bags import build
from pagekin.bags.judging import judge_links
from pagekin.bags.links import citing_pages
from pagekin.bags.raw import Raw, keep_terms
from pagekin.bags.strategy import Strategy
from pagekin.bags.weights import frequency_weights, normalise, scaled_frequencies
from pagekin.bags.words import Vocabulary, make_vocabulary
from pagekin.hypertext import Corpus
from pagekin.store import NO_LIMIT, Array, MemoryBudget, Workspace, batch_ranges, no_progress, row_entries

Stage = TypeVar("Stage")
_KEPT_STAGES = 16
"""Stages that are kept at a time, each a few times as large as the words of the collection."""
_ENTRY_BYTES = 100
"""Bytes that an entry of a bag takes while it is weighed."""


@dataclass(frozen=True)
class BagMatrix:
    """Terms of documents with their weights or counts; row i is terms[offsets[i]:offsets[i + 1]]."""

    offsets: npt.NDArray[np.int64]
    terms: Array
    """Unsigned or signed integers."""
    weights: Array
    columns: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """Return the row of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


@dataclass(frozen=True)
class BagSet:
    """The bags of all URLs under one strategy, in memory."""

    urls: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.int64]
    terms: npt.NDArray[np.uint32]
    weights: npt.NDArray[np.float32]
    sums: npt.NDArray[np.int64]
    """The weights of each term's occurrences in a bag, added up, as multiples of 2^-24."""
    df: npt.NDArray[np.int64]
    """The number of bags that hold each term."""
    inlinks: npt.NDArray[np.uint32]
    window_words: tuple[float, float]

    @property
    def terms_in_use(self) -> int:
        """Return the number of terms that some bag holds."""
        return int(np.count_nonzero(self.df))

    def matrix(self, urls: Array) -> BagMatrix:
        """Return the bags of some URLs as matrix rows; a URL without a bag has an empty row."""
        place = np.minimum(np.searchsorted(self.urls, urls), max(len(self.urls) - 1, 0))
        has = self.urls[place] == urls if len(self.urls) else np.zeros(len(urls), np.bool_)
        starts = np.where(has, self.offsets[place], 0)
        sizes = np.where(has, self.offsets[np.minimum(place + 1, len(self.offsets) - 1)] - starts, 0)
        offsets = np.cumsum(np.append(0, sizes))
        index = np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1])
        return BagMatrix(offsets, self.terms[index].astype(np.int64), self.weights[index], len(self.df))


class BagWorkshop:
    """Makes bags of one corpus, in a folder for temporary files, and caches stages for the next strategy."""

    def __init__(
        self,
        corpus: Corpus,
        folder: Path,
        threads: int = 1,
        not_citing: Array | None = None,
        without_crumbs: bool = False,
        memory: MemoryBudget = NO_LIMIT,
    ) -> None:
        self.corpus, self._folder, self._threads = corpus, folder, threads
        self.citing = citing_pages(corpus, not_citing)
        self.without_crumbs = without_crumbs
        self.memory = memory
        self._stages: dict[tuple[Any, ...], tuple[Any, Path]] = {}
        self._rooms = 0

    @property
    def space(self) -> Workspace:
        """Return where large arrays may be put: files there have no names, and go with their arrays."""
        self._folder.mkdir(parents=True, exist_ok=True)
        return Workspace(self._folder, self.memory)

    def bags(self, strategy: Strategy) -> BagSet:
        """Make the bags of all URLs by a strategy."""
        raw, window_words = self._merge(strategy)
        factors = frequency_weights(raw.df, len(raw.urls), strategy)
        weights = scaled_frequencies(raw.sums, strategy) * factors[raw.terms]
        return BagSet(
            raw.urls,
            raw.offsets,
            raw.terms,
            normalise(weights, raw.offsets),
            raw.sums,
            raw.df,
            raw.inlinks,
            window_words,
        )

    def factors(self, strategy: Strategy) -> npt.NDArray[np.float64]:
        """Return the weights of all terms by the number of bags that hold them."""
        raw, _window_words = self._merge(strategy)
        return frequency_weights(raw.df, len(raw.urls), strategy)

    def matrix(
        self, strategy: Strategy, urls: Array, words_alone: bool = False, factors: Array | None = None
    ) -> BagMatrix:
        """Return the bags of some URLs as matrix rows, with memory for these rows only, or as files where they are many.

        A URL without a bag has an empty row; with `words_alone` terms that are no words are left out after weighing. Terms weigh
        by their `factors`, or by how many bags of this corpus hold them.
        """
        raw, _window_words = self._merge(strategy)
        factors = self.factors(strategy) if factors is None else factors
        limit = self.words(strategy) if words_alone else len(raw.df)
        place = np.minimum(np.searchsorted(raw.urls, urls), max(len(raw.urls) - 1, 0))
        rows = np.flatnonzero(raw.urls[place] == urls) if len(raw.urls) else np.zeros(0, np.int64)
        place = place[rows]
        ends = np.cumsum(np.append(0, np.diff(raw.offsets)[place]))
        sizes = np.zeros(len(urls), np.int64)
        room, done = self.space, 0
        terms, weights = room.empty(int(ends[-1]), np.uint32), room.empty(int(ends[-1]), np.float32)
        batches = batch_ranges(ends, self.memory.items(build.BATCH_WORK, _ENTRY_BYTES)) if len(rows) else ()
        for first, last in batches:
            entries = row_entries(raw.offsets, place[first:last])
            own_terms = raw.terms[entries]
            sums = scaled_frequencies(raw.sums[entries], strategy) * factors[own_terms]
            weighed = normalise(sums, ends[first : last + 1] - ends[first])
            kept = own_terms < limit
            of_row = np.repeat(np.arange(last - first), np.diff(ends[first : last + 1]))
            sizes[rows[first:last]] = np.bincount(of_row[kept], minlength=last - first)
            fresh = slice(done, done + int(np.count_nonzero(kept)))
            terms[fresh], weights[fresh] = own_terms[kept], weighed[kept]
            done = fresh.stop
        offsets = np.cumsum(np.append(0, sizes))
        return BagMatrix(offsets, terms[:done], weights[:done], limit)

    def _merge(self, strategy: Strategy) -> tuple[Raw, tuple[float, float]]:
        """Return (the merged bags of a strategy before weighting, the mean widths of its windows)."""
        words = self.vocabulary(strategy)
        links_key = (strategy.content.furniture, strategy.anchors.listing)
        uses = self._stage(
            links_key, lambda room: judge_links(self.corpus, strategy, Workspace(room, self.memory)).uses
        )
        kept_key = (strategy.words, strategy.stemming, strategy.window, *links_key)
        kept, window_sums = self._stage(
            kept_key,
            lambda room: build.keep(
                self.corpus, strategy, words, uses, room, no_progress, self._threads, self.without_crumbs, self.memory
            ),
        )
        window_words = build.mean_windows(window_sums)
        origins = strategy.content, strategy.title, strategy.anchors, strategy.weight.distance
        key = (*kept_key, *origins, strategy.links, strategy.outlinks)
        wider = self._wider_stage(key)
        if wider is not None:
            return self._stage(key, lambda room: self._without_addresses(wider, strategy, room)), window_words

        def merge(room: Path) -> Raw:
            space = Workspace(room, self.memory)
            return build.merge(self.corpus, strategy, words, kept, self.citing, space, no_progress, self._threads)

        return self._stage(key, merge), window_words

    def _wider_stage(self, key: tuple[Any, ...]) -> Raw | None:
        """Return cached merged bags with the same key and more kinds of address terms; None if there are none."""
        if key in self._stages:
            return None
        for other, (stage, _room) in self._stages.items():
            same_words = len(other) == len(key) and other[:-2] == key[:-2]
            if same_words and all(
                mine == theirs or not mine.scale for mine, theirs in zip(key[-2:], other[-2:], strict=True)
            ):
                return cast(Raw, stage)
        return None

    def _without_addresses(self, raw: Raw, strategy: Strategy, room: Path) -> Raw:
        """Return merged bags without the address terms that a strategy does not use, renumbered."""
        _words_end, links_end, end = build.term_limits(self.corpus, strategy, self.vocabulary(strategy))
        kept = np.zeros(len(raw.df), np.bool_)
        kept[:links_end] = True
        # Addresses that are linked to stand last, behind citing pages if there are any.
        kept[len(kept) - (end - links_end) :] = True
        return keep_terms(raw, kept, room, self.memory)

    def term_text(self, strategy: Strategy, term: int) -> str:
        """Return a term for display: a word, or the address of a citing or cited page."""
        words = self.vocabulary(strategy)
        words_end, links_end, _end = build.term_limits(self.corpus, strategy, words)
        if term < words_end:
            return self.corpus.word(int(words.shown[term]))
        return self.corpus.page_url(term - words_end) if term < links_end else self.corpus.url(term - links_end)

    def words(self, strategy: Strategy) -> int:
        """Return the number of word terms in a strategy; higher term numbers are addresses."""
        return len(self.vocabulary(strategy).shown)

    def vocabulary(self, strategy: Strategy) -> Vocabulary:
        """Return the words of a strategy's bags."""
        return make_vocabulary(self.corpus, strategy)

    def _stage(self, key: tuple[Any, ...], make: Callable[[Path], Stage]) -> Stage:
        """Return the stage with this key from the cache, or make it; the least recently used one is dropped."""
        if key not in self._stages:
            room = self._folder / f"stage-{self._rooms}"
            self._rooms += 1
            room.mkdir(parents=True)
            self._stages[key] = (make(room), room)
        self._stages[key] = self._stages.pop(key)
        if len(self._stages) > _KEPT_STAGES:
            shutil.rmtree(self._stages.pop(next(iter(self._stages)))[1], ignore_errors=True)
        return cast(Stage, self._stages[key][0])
