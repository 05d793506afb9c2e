"""Judge the served score of related pages, by signals, for sources and documents of a bench."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from pagekin.bags import LinkColumns, Signals
from pagekin.evaluation.experiments import Bench, Judgement, count_pairs, make_judgement, with_sources
from pagekin.similarity import (
    DEPTH,
    LIST_ENTRIES,
    SIGNALS,
    DocumentLinks,
    QuerySignals,
    RelatedIndex,
    SignalReader,
    score_signals,
)
from pagekin.store import Array

EVERY = Signals(*[1.0] * len(SIGNALS))
"""Weights that leave no signal out."""
LEAST_SOURCES = 20
"""Sources that are judged however long it takes."""
MOST_PAIRS = 1_000_000
"""Pairs of a source and a document whose signals `evaluate` measures, at most."""


def shares(weights: Signals) -> npt.NDArray[np.float64]:
    """Return the weights of the signals as shares of their sum."""
    each = np.array(weights.weights())
    return np.asarray(each / each.sum())


class SignalScores:
    """Measures the signals between documents of an indexed collection, optionally with other `links`."""

    def __init__(self, index: RelatedIndex, links: LinkColumns | None = None) -> None:
        self.index = index
        self._reader = SignalReader(
            [index.bags], DocumentLinks([links]) if links else index.documents.links(), compiled=True
        )

    def documents(self, urls: Array) -> npt.NDArray[np.int64]:
        """Return the documents of URL numbers, -1 for URLs without a bag."""
        known = np.asarray(self.index.bags.urls, np.int64)
        places = np.minimum(np.searchsorted(known, urls), len(known) - 1)
        return np.where(known[places] == urls, places, -1)

    def candidates(self, document: int) -> npt.NDArray[np.int64]:
        """Return the candidates for the pages related to a document, as a query would choose them."""
        query = self.index.query_of_documents((document,))
        near = self.index.index.candidates(query.signature, DEPTH, LIST_ENTRIES, lambda some: some != document).docs
        linked = QuerySignals(self._reader, query, EVERY).candidates()
        return np.asarray(np.union1d(near, linked[linked != document]), np.int64)

    def measure(self, document: int, others: Array) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return (all signals between a document and others, the worth of each of these)."""
        query = self.index.query_of_documents((document,))
        return QuerySignals(self._reader, query, EVERY).values(others), self._reader.worth(others)


def judge_served(
    scores: SignalScores, bench: Bench, named: Mapping[str, Signals | Sequence[Signals]], rounds: int, seed: int,
    more: Callable[[int], bool] = lambda done: True,
) -> tuple[Bench, list[Judgement]]:  # fmt: skip
    """Judge the score by each of the weights for every source, while `more`, given the finished sources, allows it.

    A sequence of weights has those of each source of the bench.
    Return the judgements with the bench they are of, whose sources are those that were judged.
    """
    started = time.perf_counter()
    documents = scores.documents(bench.urls)
    known = np.flatnonzero(documents >= 0)
    rows: list[list[npt.NDArray[np.float32]]] = [[] for _weights in named]
    order = np.random.default_rng(seed).permutation(len(bench.sources))
    chosen: list[int] = []
    for place in order.tolist():
        if len(chosen) >= LEAST_SOURCES and not more(len(chosen)):
            break
        chosen.append(place)
        row = int(bench.sources[place])
        similar = np.zeros((len(named), len(documents)), np.float32)
        if documents[row] >= 0:
            values, worth = scores.measure(int(documents[row]), documents[known])
            similar[:, known] = [
                score_signals(values, shares(each if isinstance(each, Signals) else each[place]), worth)
                for each in named.values()
            ]
        for kept, one in zip(rows, similar, strict=True):
            kept.append(one)
    in_order = np.argsort(chosen)
    if len(chosen) < len(bench.sources):
        note = f"{bench.note}; {len(chosen):,} of {len(bench.sources):,} sources, drawn"
        bench = replace(with_sources(bench, np.sort(chosen), rounds, seed), note=note)
    place_of = np.full(len(bench.urls), -1, np.int64)
    place_of[bench.sources] = in_order

    def similarities(kept: Sequence[npt.NDArray[np.float32]], sources: Array) -> Array:
        return np.stack([kept[place] for place in place_of[sources].tolist()])

    facts = {"judged": bench.note, "without_bag": len(documents) - len(known)}
    judgements = [
        make_judgement(
            bench, name, {"signals": dict(zip(SIGNALS, each.weights(), strict=True))} if isinstance(each, Signals) else {},
            count_pairs(bench, bench.sources, partial(similarities, kept)), facts, started,
        )
        for (name, each), kept in zip(named.items(), rows, strict=True)
    ]  # fmt: skip
    return bench, judgements
