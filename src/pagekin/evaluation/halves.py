"""Split sources for training and testing, and keep to a budget of time."""

import random
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pagekin.evaluation.experiments import Bench
from pagekin.store import Array

SOURCES = 400
"""Pages whose related pages are looked at in each half when weights are fitted, at most."""
ROUNDS = 1000
"""Resamples of the classes that judge."""


def split_sources(bench: Bench, seed: int) -> tuple[npt.NDArray[np.bool_], int, int]:
    """Return (a mask of training sources, training classes, test classes), split by second-level class."""
    second = [bench.directory.classes[number][:2] for number in bench.primary[bench.sources].tolist()]
    names = sorted(set(second))
    random.Random(seed).shuffle(names)
    training = set(names[: (len(names) + 1) // 2])
    return np.array([name in training for name in second], np.bool_), len(training), len(names) - len(training)


def fold_sources(bench: Bench, folds: int, seed: int) -> tuple[npt.NDArray[np.int64], int]:
    """Return (the part of each source, the number of divided classes): second-level ones, or deeper if there is one.

    No class is in two parts. There are at most `folds` parts, and fewer where there are fewer classes.
    """
    paths = [bench.directory.classes[number] for number in bench.primary[bench.sources].tolist()]
    for level in range(2, max(bench.directory.depth, 2) + 1):
        if len(names := sorted({path[:level] for path in paths})) > 1:
            break
    random.Random(seed).shuffle(names)
    part = {name: place % folds for place, name in enumerate(names)}
    return np.array([part[path[:level]] for path in paths], np.int64), len(names)


def draw(places: Array, seed: int, most: int = SOURCES) -> npt.NDArray[np.int64]:
    """Return at most this many of the places, in a random order given by the seed."""
    return np.asarray(np.random.default_rng(seed).permutation(places)[:most], np.int64)


class Clock:
    """The elapsed time as a share of a budget in seconds."""

    def __init__(self, budget: float, now: Callable[[], float] = time.perf_counter) -> None:
        self._budget, self._now, self._started = budget, now, now()

    @property
    def seconds(self) -> float:
        """Return the seconds since the start."""
        return self._now() - self._started

    @property
    def left(self) -> float:
        """Return the remaining seconds of the budget; negative once it is spent."""
        return self._budget - self.seconds

    @property
    def spent(self) -> float:
        """Return the spent share of the budget."""
        return self.seconds / self._budget
