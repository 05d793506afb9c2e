"""Refinement at the root against collocation on single documents, which the paper left to be compared.

The preset of 1996 goes by sub-clusters, and is held against P(t|q) on all pages. The default counts on the pages of the most
promising sites, and is held against the same counts on those of all sites.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse

from growth import row
from network_running import Client
from network_sites import Drawn, Sites
from pagekin.clusters import TERM_ATTRIBUTES, Cooccurrences, count_terms, term_words
from pagekin.collection import CooccurrencesRequest, Refinements, RefineRequest, decode_counts
from pagekin.text import analyse

K = 10
FEWEST = 10
"""Pages that must match a query: of fewer, chance decides what goes together."""


class Collocation:
    """Which forms stand on which pages of all sites: what goes with a query, counted exactly."""

    def __init__(self, sites: Sites) -> None:
        self._number: dict[str, int] = {}
        rows, columns, pages = [], [], 0
        for leaf in sites.leaves.values():
            corpus = leaf.corpus
            words = term_words(corpus)
            counted = count_terms(corpus, words)
            shown = analyse([corpus.word(int(term)) for term in words.shown])
            numbers = np.array([self._number.setdefault(form, len(self._number)) for form in shown], np.int64)
            rows.append(pages + np.repeat(np.arange(len(corpus)), np.diff(counted.offsets)))
            columns.append(numbers[counted.terms // len(TERM_ATTRIBUTES)])
            pages += len(corpus)
        row_of, column_of = np.concatenate(rows), np.concatenate(columns)
        shape = (pages, len(self._number))
        held = scipy.sparse.csr_matrix((np.ones(len(row_of), np.int32), (row_of, column_of)), shape)
        held.data[:] = 1
        self._pages, self._columns = held, held.tocsc()
        self._forms = list(self._number)

    def best(self, text: str) -> set[str]:
        """The K forms that go best with a query, by P(t|q); forms as good as the K-th come along."""
        asked = [self._number.get(form, -1) for form in analyse(text.split())]
        if min(asked) < 0:
            return set()
        together = np.ones(self._pages.shape[0], np.bool_)
        for number in asked:
            here = np.zeros_like(together)
            here[self._columns.indices[self._columns.indptr[number] : self._columns.indptr[number + 1]]] = True
            together &= here
        pages = np.flatnonzero(together)
        both = np.asarray(self._pages[pages].sum(axis=0)).ravel().astype(float)
        value: npt.NDArray[np.float64] = both / max(len(pages), 1)
        value[asked] = 0.0
        return self._first(value)

    def _first(self, value: npt.NDArray[np.float64]) -> set[str]:
        least = max(float(np.partition(value, -K)[-K]), 1e-12)
        return {self._forms[at] for at in np.flatnonzero(value >= least).tolist()}


@dataclass(frozen=True)
class Compared:
    """One query, both ways."""

    shares: tuple[float, float, float]
    """Of the K best collocated, broader and narrower terms of single documents, the share that the root gives; NaN if none."""
    known: bool
    seconds: float
    exact_seconds: float


def share(given: Sequence[str], true: set[str]) -> float:
    """The share of some forms that are among those of some words."""
    return min(len(set(analyse(given)) & true), K) / min(K, len(true)) if true else np.nan


async def compare(
    client: Client, root: str, sites: Sites, exact: Collocation, queries: Sequence[Drawn], plain: bool
) -> list[Compared]:
    """Ask the root, and count."""
    preset: Literal["default", "hypursuit1996"] = "hypursuit1996" if plain else "default"
    found = []
    for query in queries:
        request = RefineRequest(query=query.text, count=K, preset=preset, deadline=30.0)
        began = time.perf_counter()
        terms = await client.ask(root, "refine", request, Refinements)
        seconds = time.perf_counter() - began
        began = time.perf_counter()
        if plain:
            shares = share(terms.collocated, exact.best(query.text)), np.nan, np.nan
        else:
            asked = CooccurrencesRequest(query=query.text)
            told = [leaf.cooccurrences(asked) for leaf in sites.leaves.values()]
            best = Cooccurrences.sum_of([decode_counts(one, one.documents) for one in told]).suggest(K)
            shares = (
                share(terms.collocated, set(analyse(best.collocated))), share(terms.broader, set(analyse(best.broader))),
                share(terms.narrower, set(analyse(best.narrower))),
            )  # fmt: skip
        found.append(Compared(shares, terms.known > 0, seconds, time.perf_counter() - began))
    return found


async def report(client: Client, sites: Sites, root: str, count: int, seed: int) -> None:
    """Print the table."""
    began = time.perf_counter()
    exact = Collocation(sites)
    built = time.perf_counter() - began

    def enough(text: str) -> bool:
        return sum(map(len, sites.matching(text).values())) >= FEWEST

    queries = sites.draws(seed, count, False, fits=enough)
    row(
        "preset", "queries", "words known", f"overlap at {K}, collocated", "broader", "narrower", "root p50, ms", "p95",
        "all pages p50, ms", "p95",
    )  # fmt: skip
    row("---", *["---:"] * 9)
    for plain in (False, True):
        some = await compare(client, root, sites, exact, queries, plain)
        ours, theirs = ([getattr(one, name) * 1000 for one in some] for name in ("seconds", "exact_seconds"))
        shares = np.array([one.shares for one in some])
        row(
            "hypursuit1996" if plain else "default", len(some), f"{np.mean([one.known for one in some]):.0%}",
            *("" if np.isnan(column).all() else f"{np.nanmean(column):.2f}" for column in shares.T),
            *(f"{value:.1f}" for value in (*np.percentile(ours, [50, 95]), *np.percentile(theirs, [50, 95]))),
        )  # fmt: skip
    print(
        f"\nFor the preset of 1996 exact counts are held in one matrix of all pages, which took {built:.1f} s to make."
    )
