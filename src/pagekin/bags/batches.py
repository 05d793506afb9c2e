"""Work in bounded batches on a few threads, with results in order: compiled kernels let go of the interpreter."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def in_order(pool: ThreadPoolExecutor, jobs: Iterator[Callable[[], Any]], ahead: int) -> Iterator[Any]:
    """The jobs' results in the jobs' order, with at most `ahead` of them under way."""
    waiting: list[Future[Any]] = []
    for job in jobs:
        waiting.append(pool.submit(job))
        if len(waiting) >= ahead:
            yield waiting.pop(0).result()
    for future in waiting:
        yield future.result()


def ranges(offsets: Array, step: int) -> list[tuple[int, int]]:
    """Ranges of neighbours whose shares, as given by `offsets`, add up to about `step`."""
    cuts = [0]
    while cuts[-1] < len(offsets) - 1:
        end = int(np.searchsorted(offsets, int(offsets[cuts[-1]]) + step, side="right")) - 1
        cuts.append(min(max(end, cuts[-1] + 1), len(offsets) - 1))
    return list(zip(cuts[:-1], cuts[1:], strict=True))
