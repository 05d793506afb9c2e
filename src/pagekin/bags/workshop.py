"""Bags by many strategies over one corpus: what two strategies share is made once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import build
from pagekin.bags.strategy import Strategy
from pagekin.bags.weights import frequency_weights, normalised, scaled_frequencies
from pagekin.bags.words import Vocabulary, vocabulary
from pagekin.hypertext import Corpus

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class MadeBags:
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
        """How many terms there may be."""
        return len(self.df)

    @property
    def terms_in_use(self) -> int:
        """How many terms some bag holds."""
        return int(np.count_nonzero(self.df))


class Workshop:
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
        self._words: dict[tuple[Any, ...], Vocabulary] = {}
        self._kept: dict[tuple[Any, ...], build.Kept] = {}
        self._raw: dict[tuple[Any, ...], build.Raw] = {}

    def bags(self, strategy: Strategy) -> MadeBags:
        """The bags of all URLs by a strategy."""
        words_key = (strategy.words, strategy.stemming)
        kept_key = (*words_key, strategy.window)
        raw_key = (
            *kept_key,
            strategy.content,
            strategy.title,
            strategy.anchors,
            strategy.links,
            strategy.weight.distance,
        )
        if words_key not in self._words:
            self._words[words_key] = vocabulary(self.corpus, strategy)
        words = self._words[words_key]
        if kept_key not in self._kept:
            self._kept[kept_key] = build.keep(
                self.corpus, strategy, words, self._room("kept", len(self._kept)), lambda _s, _p: None, self._threads,
                self._without_crumbs,
            )  # fmt: skip
        kept = self._kept[kept_key]
        if raw_key not in self._raw:
            self._raw[raw_key] = build.merge(
                self.corpus, strategy, words, kept, self._citing, self._room("raw", len(self._raw)), lambda _s, _p: None,
                self._threads,
            )  # fmt: skip
        raw = self._raw[raw_key]
        terms, counts, _origins = raw.entries()
        factors = frequency_weights(raw.df, len(raw.urls), strategy)
        weights = scaled_frequencies(counts, strategy) * factors[terms]
        return MadeBags(
            raw.urls, raw.offsets, terms, normalised(weights, raw.offsets), raw.df, raw.inlinks, (kept.left, kept.right)
        )

    def _room(self, stage: str, number: int) -> Path:
        folder = self._folder / f"{stage}-{number}"
        folder.mkdir(parents=True)
        return folder
