"""Number byte strings in order of arrival, in arrays that kernels share."""

import numpy as np

from pagekin.hypertext._kernels import slots
from pagekin.hypertext._kernels.intern import refill
from pagekin.store import Array, RaggedBytes


class StringTable:
    """Byte strings numbered in order of arrival, in arrays that the kernels share (see `intern`)."""

    def __init__(self, strings: int, size: int, key: Array) -> None:
        self.key = key
        self.slots = np.zeros(4 * strings, dtype=np.uint64)
        self.bounds = np.zeros(strings + 1, dtype=np.int64)
        self.arena = np.zeros(size, dtype=np.uint8)

    def arrays(self) -> slots.Strings:
        """Return the arrays as the kernels take them."""
        return slots.Strings(self.slots, self.bounds, self.arena)

    def double(self, count: int) -> None:
        """Make room for twice as many strings; the table holds `count` now."""
        self.slots = np.zeros(2 * len(self.slots), dtype=np.uint64)
        self.bounds = _grow(self.bounds, 2 * len(self.bounds) - 1)
        refill(self.slots, self.bounds, self.arena, count, self.key)

    def reserve(self, count: int, more: int) -> None:
        """Make room for `more` bytes of strings; the table holds `count` strings now."""
        size = int(self.bounds[count]) + more
        if size > len(self.arena):
            self.arena = _grow(self.arena, max(size, 2 * len(self.arena)))

    def strings(self, count: int) -> RaggedBytes:
        """Return the first `count` strings, by number."""
        return RaggedBytes(self.arena, self.bounds[: count + 1])


def _grow(array: Array, size: int) -> Array:
    """Return a larger copy of `array`; the new end is not initialised."""
    larger = np.empty(size, dtype=array.dtype)
    larger[: len(array)] = array
    return larger
