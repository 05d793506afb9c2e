"""Numbers of a whole that is divided into parts, each with its own numbers from 0."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from pagekin.store.arrays import Array

Places = slice | Array


class Numbering:
    """The numbers of a whole: part p has those from bounds[p] up to bounds[p + 1]."""

    def __init__(self, sizes: Iterable[int]) -> None:
        self.bounds: list[int] = [0]
        for size in sizes:
            self.bounds.append(self.bounds[-1] + size)
        self._array = np.array(self.bounds, np.int64)

    def __len__(self) -> int:
        return self.bounds[-1]

    def place(self, number: int) -> tuple[int, int]:
        """Return (the part that has a number, its number there); raise IndexError if there is none."""
        if not 0 <= number < len(self):
            raise IndexError(f"there are {len(self):,}, none numbered {number}")
        part = bisect_right(self.bounds, number) - 1
        return part, number - self.bounds[part]

    def split(self, numbers: Array) -> Iterator[tuple[int, Places, Array]]:
        """Yield (part, places in `numbers`, the part's own numbers) for each part that has some of them."""
        if len(self.bounds) == 2:
            yield 0, slice(None), numbers
            return
        if not len(numbers):
            return
        in_order = bool((numbers[1:] >= numbers[:-1]).all())
        least, most = (numbers[0], numbers[-1]) if in_order else (numbers.min(), numbers.max())
        if least < 0 or most >= len(self):
            raise IndexError(f"there are {len(self):,}, and numbers of others are named")
        if in_order:
            cuts = numbers.searchsorted(self._array).tolist()
            for part, (first, last) in enumerate(pairwise(cuts)):
                if last > first:
                    yield part, slice(first, last), numbers[first:last] - self.bounds[part]
            return
        of = self._array.searchsorted(numbers, side="right") - 1
        for part in np.unique(of).tolist():
            at = np.flatnonzero(of == part)
            yield part, at, numbers[at] - self.bounds[part]

    def gather(self, arrays: Sequence[Array], numbers: Array) -> Array:
        """Return the entry of each number, given the array of each part."""
        if len(arrays) == 1:
            return np.asarray(arrays[0][numbers])
        gathered = np.empty((len(numbers), *arrays[0].shape[1:]), np.result_type(*arrays))
        for part, places, own in self.split(numbers):
            gathered[places] = arrays[part][own]
        return gathered
