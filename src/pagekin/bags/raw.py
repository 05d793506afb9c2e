"""Merged bags before weighting."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.store import Array, ArrayFile, MemoryBudget, batch_ranges

_BATCH_ENTRIES, _ENTRY_BYTES = 1 << 22, 40
"""Entries that are looked at together, and bytes that each takes meanwhile."""


class Raw(NamedTuple):
    """Merged bags before weighting: sums of occurrence weights in units of 2^-24, in temporary files."""

    urls: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.int64]
    inlinks: npt.NDArray[np.uint32]
    df: npt.NDArray[np.int64]
    own_df: npt.NDArray[np.int64]
    """The number of bags whose own page says each term."""
    terms: npt.NDArray[np.uint32]
    sums: npt.NDArray[np.int64]
    origins: npt.NDArray[np.uint8]
    counts: npt.NDArray[np.uint8]
    hashes: npt.NDArray[np.uint64]
    """The hashes of all terms."""
    by_rank: npt.NDArray[np.uint32]
    """All terms in the order in which bags hold them: by kind, then by hash."""
    limits: tuple[int, int, int]
    """Where the numbers of terms end that are words, citing pages, and linked addresses."""
    citing: npt.NDArray[np.int64]
    """The URLs of the citing pages that are terms."""
    own_words: int
    """Counted words of all pages."""


@contextmanager
def temporary_array(path: Path, dtype: npt.DTypeLike) -> Iterator[ArrayFile]:
    """Open an array on disk that is appended to and then memory-mapped, so that the system may page it out."""
    file = ArrayFile(path, dtype, temporary=True)
    try:
        yield file
    finally:
        file.abandon()


def keep_terms(raw: Raw, kept: Array, folder: Path, memory: MemoryBudget) -> Raw:
    """Return merged bags with only the terms that `kept` marks, renumbered; bags that become empty are dropped."""
    number = np.cumsum(kept) - 1
    sizes = np.zeros(len(raw.urls), np.int64)
    with (
        temporary_array(folder / "raw.terms", np.uint32) as all_terms,
        temporary_array(folder / "raw.sums", np.int64) as all_sums,
        temporary_array(folder / "raw.origins", np.uint8) as all_origins,
        temporary_array(folder / "raw.counts", np.uint8) as all_counts,
    ):
        for first, last in batch_ranges(raw.offsets, memory.items(_BATCH_ENTRIES, _ENTRY_BYTES)):
            part = slice(int(raw.offsets[first]), int(raw.offsets[last]))
            stays = kept[raw.terms[part]]
            ends = np.append(0, np.cumsum(stays))
            sizes[first:last] = np.diff(ends[raw.offsets[first : last + 1] - part.start])
            all_terms.append(number[raw.terms[part][stays]].astype(np.uint32))
            all_sums.append(raw.sums[part][stays])
            all_origins.append(raw.origins[part][stays])
            all_counts.append(raw.counts[part][stays])
        entries = all_terms.mapped(), all_sums.mapped(), all_origins.mapped(), all_counts.mapped()
    bags = np.flatnonzero(sizes)
    offsets = np.cumsum(np.append(0, sizes[bags]))
    by_rank = number[raw.by_rank[kept[raw.by_rank]]].astype(np.uint32)
    words_end, links_end, end = (int(np.count_nonzero(kept[:limit])) for limit in raw.limits)
    citing = raw.citing[kept[raw.limits[0] : raw.limits[1]]]
    return Raw(
        raw.urls[bags], offsets, raw.inlinks[bags], raw.df[kept], raw.own_df[kept], *entries, raw.hashes[kept], by_rank,
        (words_end, links_end, end), citing, raw.own_words,
    )  # fmt: skip
