"""Work in bounded batches on a few threads, with results in order; compiled kernels release the GIL."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np

from pagekin.store.arrays import Array

Progress = Callable[[str, float], None]
"""A function that is told the stage of some work and the share of it that is done."""


def no_progress(_stage: str, _share: float) -> None:
    """Report no progress."""


def core_count() -> int:
    """Return the number of cores that this process may use."""
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def map_in_order(
    threads: int, work: Callable[..., Any], parts: Iterable[tuple[Any, ...]]
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield each part and its result of `work`, in order; one more part than threads is in progress.

    A single part is worked on here: for little work, starting a thread takes as long.
    """
    rest = iter(parts)
    begin = list(islice(rest, 2))
    if len(begin) == 1:
        yield begin[0], work(*begin[0])
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: list[tuple[tuple[Any, ...], Future[Any]]] = []
        for part in chain(begin, rest):
            waiting.append((part, pool.submit(work, *part)))
            if len(waiting) > threads:
                done, future = waiting.pop(0)
                yield done, future.result()
        for done, future in waiting:
            yield done, future.result()


def batch_ranges(offsets: Array, step: int) -> list[tuple[int, int]]:
    """Return ranges of neighbours whose shares, as given by `offsets`, add up to about `step`."""
    cuts = [0]
    while cuts[-1] < len(offsets) - 1:
        end = int(np.searchsorted(offsets, int(offsets[cuts[-1]]) + step, side="right")) - 1
        cuts.append(min(max(end, cuts[-1] + 1), len(offsets) - 1))
    return list(pairwise(cuts))
