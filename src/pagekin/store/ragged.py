"""Many short byte strings in two arrays."""

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from pagekin.store.arrays import Array, row_entries
from pagekin.store.folder import Kin

_AT_ONCE = 1 << 16
_SEARCH_STEPS = 100
"""Strings that are looked at in the time of one search."""


class RaggedBytes:
    """Byte strings by id: string i is data[offsets[i]:offsets[i + 1]]."""

    def __init__(self, data: Array, offsets: Array) -> None:
        self.data = data
        self.offsets = offsets
        # Numbers and bytes without a NumPy scalar around each: looking for a string takes less than half the time.
        self._bytes, self._at = data.data, np.require(offsets, requirements="A").data

    @classmethod
    def of(cls, kin: Kin, name: str) -> "RaggedBytes":
        """Return the strings stored as `name.bytes` and `name.offsets`."""
        return cls(kin[f"{name}.bytes"], kin[f"{name}.offsets"])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> bytes:
        if index < 0:
            raise IndexError(f"there is no string {index}")
        return bytes(self._bytes[self._at[index] : self._at[index + 1]])

    def blocks(self) -> Iterator[list[bytes]]:
        """Yield all strings, in lists of neighbours: memory for some of them, not for all."""
        for first in range(0, len(self), _AT_ONCE):
            bounds = self.offsets[first : first + _AT_ONCE + 1].astype(np.int64)
            block = self.data[bounds[0] : bounds[-1]].tobytes()
            yield [block[begin:end] for begin, end in pairwise((bounds - bounds[0]).tolist())]

    def __iter__(self) -> Iterator[bytes]:
        return chain.from_iterable(self.blocks())

    def text(self, index: int) -> str:
        """Return string `index` as text."""
        return self[index].decode("utf-8", "replace")

    def take(self, places: Array) -> tuple[Array, Array]:
        """Return (data, offsets) of some of the strings, in an order."""
        places, bounds = np.asarray(places, np.int64), np.asarray(self.offsets, np.int64)
        offsets = np.append(0, np.cumsum(bounds[places + 1] - bounds[places]))
        return np.asarray(self.data)[row_entries(bounds, places)], offsets

    def find(self, key: bytes, order: Array | None = None) -> int:
        """Return the id of `key`, or -1; O(log n). The strings are sorted, or `order` lists their ids so."""
        at = self.nearest(key, order)
        if at == len(self):
            return -1
        place = at if order is None else int(order[at])
        return place if self[place] == key else -1

    def find_all(self, keys: Sequence[bytes], order: Array | None = None) -> npt.NDArray[np.int64]:
        """Return the ids of many keys, -1 for those that are not there. The strings are sorted, or `order` lists their ids so.

        Cost: a search for each key or, where they are many, one pass over all strings.
        """
        if len(keys) * _SEARCH_STEPS < len(self):
            return np.fromiter((self.find(key, order) for key in keys), np.int64, len(keys))
        place = dict.fromkeys(keys, -1)
        for number, string in enumerate(self):
            if string in place:
                place[string] = number
        return np.fromiter(map(place.__getitem__, keys), np.int64, len(keys))

    def nearest(self, key: bytes, order: Array | None = None) -> int:
        """Return where `key` would stand among the strings, which are sorted, or whose ids `order` lists so."""
        data, at = self._bytes, self._at
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            place = middle if order is None else int(order[middle])
            if bytes(data[at[place] : at[place + 1]]) < key:
                low = middle + 1
            else:
                high = middle
        return low


def pack_strings(strings: list[bytes]) -> tuple[Array, Array]:
    """Return (data, offsets) of `strings`: the arrays that RaggedBytes reads."""
    lengths = np.fromiter((len(s) for s in strings), dtype=np.int64, count=len(strings))
    offsets = np.zeros(len(strings) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return np.frombuffer(b"".join(strings), dtype=np.uint8), offsets


def union_strings(tables: Sequence[RaggedBytes]) -> tuple[RaggedBytes, list[npt.NDArray[np.int64]]]:
    """Return (the different strings of some tables in the order of their bytes, the place of each table's strings in it)."""
    names = sorted(set(chain.from_iterable(tables)))
    places = {name: place for place, name in enumerate(names)}
    found = [np.fromiter(map(places.__getitem__, table), np.int64, len(table)) for table in tables]
    return RaggedBytes(*pack_strings(names)), found
