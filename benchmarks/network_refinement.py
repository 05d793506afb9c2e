"""Refinement by sub-clusters against collocation on single documents, which the paper left to be compared."""

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
from pagekin.clusters.terms import ATTRIBUTES, count_terms, term_words
from pagekin.routers.messages import RefineRequest, Terms
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
            columns.append(numbers[counted.terms // len(ATTRIBUTES)])
            pages += len(corpus)
        row_of, column_of = np.concatenate(rows), np.concatenate(columns)
        shape = (pages, len(self._number))
        held = scipy.sparse.csr_matrix((np.ones(len(row_of), np.int32), (row_of, column_of)), shape)
        held.data[:] = 1
        self._pages, self._columns = held, held.tocsc()
        self._df = np.diff(self._columns.indptr).astype(float)
        self._forms = list(self._number)

    def best(self, text: str, plain: bool) -> tuple[set[str], set[str]]:
        """(the K forms that go best with a query, the K best of those that are neither broader nor narrower).

        By P(t|q), if not plain times log lift, and then by the router's own rules; forms as good as the K-th come along.
        """
        asked = [self._number.get(form, -1) for form in analyse(text.split())]
        if min(asked) < 0:
            return set(), set()
        together = np.ones(self._pages.shape[0], np.bool_)
        for number in asked:
            here = np.zeros_like(together)
            here[self._columns.indices[self._columns.indptr[number] : self._columns.indptr[number + 1]]] = True
            together &= here
        pages = np.flatnonzero(together)
        both = np.asarray(self._pages[pages].sum(axis=0)).ravel().astype(float)
        value: npt.NDArray[np.float64] = both / max(len(pages), 1)
        value[asked] = 0.0
        if plain:
            return self._first(value), self._first(value)
        lift = value / np.maximum(self._df / self._pages.shape[0], 1e-9)
        broader = (self._df > 1.5 * len(pages)) & (value >= 0.25)
        narrower = (self._df < 0.7 * len(pages)) & (both / np.maximum(self._df, 1) >= 0.25)
        value = value * np.log(np.maximum(lift, 1.0)) * (self._df >= 3)
        return self._first(value), self._first(value * ~(broader | narrower))

    def _first(self, value: npt.NDArray[np.float64]) -> set[str]:
        least = max(float(np.partition(value, -K)[-K]), 1e-12)
        return {self._forms[at] for at in np.flatnonzero(value >= least).tolist()}


@dataclass(frozen=True)
class Compared:
    """One query, both ways."""

    collocated: float
    """The share of the K terms collocated on single documents that the root calls so, too."""
    any_list: float
    """The share of the K best of single documents that stand in any of the three lists."""
    known: bool
    seconds: float
    exact_seconds: float


async def compare(
    client: Client, root: str, exact: Collocation, queries: Sequence[Drawn], plain: bool
) -> list[Compared]:
    """Ask the root, and count."""
    preset: Literal["default", "hypursuit1996"] = "hypursuit1996" if plain else "default"
    found = []
    for query in queries:
        request = RefineRequest(query=query.text, count=K, preset=preset, deadline=30.0)
        began = time.perf_counter()
        terms = await client.ask(root, "refine", request, Terms)
        seconds = time.perf_counter() - began
        began = time.perf_counter()
        best, alike = exact.best(query.text, plain)
        counted = time.perf_counter() - began
        collocated = set(analyse(terms.collocated))
        every = collocated | set(analyse(terms.broader)) | set(analyse(terms.narrower))
        one = Compared(
            len(collocated & alike) / max(min(K, len(alike)), 1), min(len(every & best), K) / max(min(K, len(best)), 1),
            terms.known > 0, seconds, counted,
        )  # fmt: skip
        found.append(one)
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
        "preset",
        "queries",
        "words known",
        f"overlap at {K}",
        f"the {K} best in any list",
        "root p50, ms",
        "p95",
        "exact p50, ms",
        "p95",
    )
    row("---", *["---:"] * 8)
    for plain in (False, True):
        some = await compare(client, root, exact, queries, plain)
        ours, theirs = ([getattr(one, name) * 1000 for one in some] for name in ("seconds", "exact_seconds"))
        row(
            "hypursuit1996" if plain else "default", len(some), f"{np.mean([one.known for one in some]):.0%}",
            f"{np.mean([one.collocated for one in some]):.2f}", f"{np.mean([one.any_list for one in some]):.2f}",
            *(f"{value:.1f}" for value in (*np.percentile(ours, [50, 95]), *np.percentile(theirs, [50, 95]))),
        )  # fmt: skip
    print(f"\nThe exact counts are held in one matrix of all sites' pages, which took {built:.1f} s to make.")
