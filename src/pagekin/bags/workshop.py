"""Bags by many strategies over one corpus: what two strategies share is made once."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pagekin.bags import build
from pagekin.bags.strategy import Strategy
from pagekin.bags.weights import frequency_weights, normalised, scaled_frequencies
from pagekin.bags.words import Vocabulary, make_vocabulary
from pagekin.hypertext import Corpus

Array = npt.NDArray[Any]
Stage = TypeVar("Stage")
_KEPT_STAGES = 8
"""Of each stage, so many are kept at a time: a stage is a few times as large as the words of the collection."""


@dataclass(frozen=True)
class BagSet:
    """The bags of all URLs under one strategy, in memory."""

    urls: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.int64]
    terms: npt.NDArray[np.uint32]
    weights: npt.NDArray[np.float32]
    df: npt.NDArray[np.int64]
    """The number of bags that hold each term."""
    inlinks: npt.NDArray[np.uint32]
    window_words: tuple[float, float]

    @property
    def columns(self) -> int:
        """Return the number of terms that there may be."""
        return len(self.df)

    @property
    def terms_in_use(self) -> int:
        """Return the number of terms that some bag holds."""
        return int(np.count_nonzero(self.df))


class BagWorkshop:
    """Makes bags of one corpus, in a folder for temporary files; keeps stages that the next strategy may need again."""

    def __init__(
        self,
        corpus: Corpus,
        folder: Path,
        threads: int = 1,
        not_citing: Array | None = None,
        without_crumbs: bool = False,
    ) -> None:
        self.corpus, self._folder, self._threads = corpus, folder, threads
        self._citing = build.citing_pages(corpus, not_citing)
        self._without_crumbs = without_crumbs
        self._kept: dict[tuple[Any, ...], tuple[build.Kept, Path]] = {}
        self._raw: dict[tuple[Any, ...], tuple[build.Raw, Path]] = {}
        self._rooms = 0

    def bags(self, strategy: Strategy) -> BagSet:
        """Make the bags of all URLs by a strategy."""
        words_key = (strategy.words, strategy.stemming)
        kept_key = (*words_key, strategy.window, strategy.content.furniture)
        raw_key = (
            *kept_key,
            strategy.content,
            strategy.title,
            strategy.anchors,
            strategy.links,
            strategy.outlinks,
            strategy.weight.distance,
        )
        words = self.vocabulary(strategy)
        kept = self._stage(
            self._kept, kept_key,
            lambda room: build.keep(
                self.corpus, strategy, words, room, lambda _s, _p: None, self._threads, self._without_crumbs
            ),
        )  # fmt: skip
        raw = self._stage(
            self._raw, raw_key,
            lambda room: build.merge(
                self.corpus, strategy, words, kept, self._citing, room, lambda _s, _p: None, self._threads
            ),
        )  # fmt: skip
        terms, counts, _origins = raw.entries()
        factors = frequency_weights(raw.df, len(raw.urls), strategy)
        weights = scaled_frequencies(counts, strategy) * factors[terms]
        return BagSet(
            raw.urls, raw.offsets, terms, normalised(weights, raw.offsets), raw.df, raw.inlinks, (kept.left, kept.right)
        )

    def term_text(self, strategy: Strategy, term: int) -> str:
        """Return a term of a strategy's bags for people: a word, or the address of a citing page, or of a cited one."""
        words = self.vocabulary(strategy).shown
        links = term - len(words)
        if links < 0:
            return self.corpus.word(int(words[term]))
        citing = len(self.corpus) if strategy.links.scale else 0
        return self.corpus.page_url(links) if links < citing else self.corpus.url(links - citing)

    def words(self, strategy: Strategy) -> int:
        """Return how many of a strategy's terms are words; terms from there on are addresses."""
        return len(self.vocabulary(strategy).shown)

    def vocabulary(self, strategy: Strategy) -> Vocabulary:
        """Return the words of a strategy's bags."""
        return make_vocabulary(self.corpus, strategy)

    def _stage(
        self, made: dict[tuple[Any, ...], tuple[Stage, Path]], key: tuple[Any, ...], make: Callable[[Path], Stage]
    ) -> Stage:
        """Return the stage of this key, made now if it is not cached; the least recently used stage is dropped."""
        if key in made:
            made[key] = made.pop(key)
        else:
            room = self._folder / f"stage-{self._rooms}"
            self._rooms += 1
            room.mkdir(parents=True)
            made[key] = (make(room), room)
            if len(made) > _KEPT_STAGES:
                shutil.rmtree(made.pop(next(iter(made)))[1], ignore_errors=True)
        return made[key][0]
