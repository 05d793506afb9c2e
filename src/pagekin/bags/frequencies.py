"""Document frequencies: the number of bags that hold each term, in a collection or a part, and their sums."""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags.ranges import cut_sorted
from pagekin.bags.raw import Raw
from pagekin.hypertext import Corpus

LEAST_DF = 2
"""Document frequencies from here on belong to the epoch; a term that it does not name is held by one bag."""


class Frequencies(NamedTuple):
    """The number of bags that hold each term; terms go by kind (word, citing page, linked address), then by hash."""

    hashes: npt.NDArray[np.uint64]
    limits: npt.NDArray[np.int64]
    """(3): where the hashes of each kind end."""
    df: npt.NDArray[np.int64]
    """Bags that hold each term."""
    pages: npt.NDArray[np.int64]
    """Bags whose own page says each term."""
    totals: npt.NDArray[np.int64]
    """(3): bags, bags with a page of their own, counted words of these pages."""

    @property
    def bags(self) -> int:
        """Return the number of bags."""
        return int(self.totals[0])


def count_frequencies(corpus: Corpus, raw: Raw) -> Frequencies:
    """Return the frequencies of the terms in some bags."""
    used = raw.by_rank[raw.df[raw.by_rank] > 0]
    own_pages = np.count_nonzero(np.isin(raw.urls, corpus.pages.url))
    return Frequencies(
        raw.hashes[used],
        np.array([np.count_nonzero(raw.df[:limit]) for limit in raw.limits], np.int64),
        raw.df[used],
        raw.own_df[used],
        np.array([len(raw.urls), own_pages, raw.own_words], np.int64),
    )


def sum_frequencies(parts: Iterable[Frequencies]) -> Frequencies:
    """Add up the frequencies of several parts, whose bags are distinct.

    Sums of some parts may be summed with others, in any order. Cost: sorting the terms of all parts.
    """
    every = list(parts)
    if len(every) == 1:
        return every[0]
    kinds = np.concatenate([np.repeat(np.arange(3), np.diff(part.limits, prepend=0)) for part in every])
    hashes, df, pages = (np.concatenate([part[column] for part in every]) for column in (0, 2, 3))
    totals: npt.NDArray[np.int64] = np.sum([part.totals for part in every], axis=0)
    if not len(hashes):
        return every[0]._replace(totals=totals)
    order = np.lexsort((hashes, kinds))
    hashes, kinds = hashes[order], kinds[order]
    starts = np.flatnonzero(np.append(True, (hashes[1:] != hashes[:-1]) | (kinds[1:] != kinds[:-1])))
    limits = np.searchsorted(kinds[starts], np.arange(3), side="right")
    df, pages = (np.add.reduceat(column[order], starts) for column in (df, pages))
    return Frequencies(hashes[starts], limits, df, pages, totals)


def keep_common(frequencies: Frequencies) -> Frequencies:
    """Return the frequencies without terms of a single bag, which only the shard of that bag needs."""
    common = frequencies.df >= LEAST_DF
    limits = np.append(0, np.cumsum(common))[frequencies.limits]
    df, pages = (column[common] for column in (frequencies.df, frequencies.pages))
    return Frequencies(frequencies.hashes[common], limits, df, pages, frequencies.totals)


def divide_frequencies(frequencies: Frequencies, count: int) -> list[Frequencies]:
    """Divide frequencies into ranges of hashes that can be summed separately; the totals go to the first."""
    cuts = np.stack(
        [
            low + cut_sorted(frequencies.hashes[low:high], count)
            for low, high in pairwise((0, *frequencies.limits.tolist()))
        ]
    )
    parts = []
    for number in range(count):
        pieces = [slice(*pair) for pair in cuts[:, number : number + 2].tolist()]
        columns = (
            np.concatenate([column[piece] for piece in pieces])
            for column in (frequencies.hashes, frequencies.df, frequencies.pages)
        )
        hashes, df, pages = columns
        totals = frequencies.totals if number == 0 else np.zeros_like(frequencies.totals)
        parts.append(Frequencies(hashes, np.cumsum(np.diff(cuts[:, number : number + 2])[:, 0]), df, pages, totals))
    return parts


def select_frequencies(whole: Frequencies, part: Frequencies) -> Frequencies:
    """Return the whole's frequencies of the terms in a part, without the totals."""
    places = [
        low + np.searchsorted(whole.hashes[low:high], part.hashes[first:last])
        for (low, high), (first, last) in zip(
            pairwise((0, *whole.limits.tolist())), pairwise((0, *part.limits.tolist())), strict=True
        )
    ]
    chosen = np.concatenate(places)
    return Frequencies(part.hashes, part.limits, whole.df[chosen], whole.pages[chosen], np.zeros_like(whole.totals))


def find_frequencies(raw: Raw, frequencies: Frequencies) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return (bags that hold each term, bags whose own page contains it), over all bags, for the terms of some.

    A term without a frequency is one that these bags alone hold.
    """
    df, own_df = raw.df.copy(), raw.own_df.copy()
    ends = zip(pairwise((0, *raw.limits)), pairwise((0, *frequencies.limits.tolist())), strict=True)
    for (first, last), (low, high) in ends:
        hashes = frequencies.hashes[low:high]
        if not len(hashes):
            continue
        terms = raw.by_rank[first:last]
        terms = terms[raw.df[terms] > 0]
        place = np.minimum(np.searchsorted(hashes, raw.hashes[terms]), len(hashes) - 1)
        known = hashes[place] == raw.hashes[terms]
        df[terms[known]] = frequencies.df[low:high][place[known]]
        own_df[terms[known]] = frequencies.pages[low:high][place[known]]
    return df, own_df
