"""Numbers of a whole that is divided among parts, each of which counts its own things from 0."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

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
        """Yield (part, places of its numbers among `numbers`, these as the part counts them) of each part that has some."""
        if len(self.bounds) == 2:
            yield 0, slice(None), numbers
            return
        if len(numbers) and not (numbers.min() >= 0 and numbers.max() < len(self)):
            raise IndexError(f"there are {len(self):,}, and numbers of others are named")
        if bool(np.all(numbers[1:] >= numbers[:-1])):
            cuts = np.searchsorted(numbers, self._array).tolist()
            spans = ((part, slice(cuts[part], cuts[part + 1])) for part in range(len(cuts) - 1))
            yield from ((part, at, numbers[at] - self.bounds[part]) for part, at in spans if at.stop > at.start)
            return
        of = np.searchsorted(self._array, numbers, side="right") - 1
        for part in np.unique(of).tolist():
            at = np.flatnonzero(of == part)
            yield part, at, numbers[at] - self.bounds[part]

    def gather(self, arrays: Sequence[Array], numbers: Array) -> Array:
        """Return the entry of each number, given the array of each part."""
        if len(arrays) == 1:
            return np.asarray(arrays[0][numbers])
        found = np.empty((len(numbers), *arrays[0].shape[1:]), np.result_type(*arrays))
        for part, places, own in self.split(numbers):
            found[places] = arrays[part][own]
        return found
