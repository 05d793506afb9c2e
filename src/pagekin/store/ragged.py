"""Many short byte strings in two arrays."""

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from pagekin.store.arrays import Array, read_only, row_entries
from pagekin.store.folder import Kin

_AT_ONCE = 1 << 16
_MANY = 1 << 10
"""Strings from which a compiled kernel takes them."""
_SEARCH_STEPS = 100
"""Strings that are looked at in the time of one search."""
_FEW_KEYS = 256
"""Keys that are looked for without loading compiled code; that takes longer from some dozens on."""


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
        """Yield all strings, in lists of bounded size."""
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
        if len(places) < _MANY:
            return np.asarray(self.data)[row_entries(bounds, places)], offsets
        from pagekin.store._kernels.strings import take_strings

        data = np.empty(offsets[-1], np.uint8)
        take_strings(*self._for_kernels(), places, data)
        return data, offsets

    def select(self, places: Array) -> "RaggedBytes":
        """Return a table of some of the strings, in an order."""
        return RaggedBytes(*self.take(places))

    def find(self, key: bytes, order: Array | None = None) -> int:
        """Return the id of `key`, or -1; O(log n). The strings are sorted, or `order` lists their ids in sorted order."""
        at = self.nearest(key, order)
        if at == len(self):
            return -1
        place = at if order is None else int(order[at])
        return place if self[place] == key else -1

    def find_all(
        self, keys: "Sequence[bytes] | RaggedBytes", order: Array | None = None, key_order: Array | None = None
    ) -> npt.NDArray[np.int64]:
        """Return the ids of many keys, or -1. The strings are sorted, or `order` lists their ids in sorted order.

        Keys that come in order, or that `key_order` lists so, are looked for faster. Cost: a search for each key, compiled where
        they are many.
        """
        if len(keys) < _FEW_KEYS and len(keys) * _SEARCH_STEPS < len(self):
            return np.fromiter((self.find(key, order) for key in keys), np.int64, len(keys))
        places, equal = self._search(keys, order, key_order)
        if order is not None and len(self):
            places = np.asarray(order, np.int64)[np.minimum(places, len(self) - 1)]
        return np.where(equal, places, -1)

    def nearest_all(self, keys: "Sequence[bytes] | RaggedBytes", order: Array | None = None) -> npt.NDArray[np.int64]:
        """Return the insertion places of many keys. The strings are sorted, or `order` lists their ids in sorted order."""
        return self._search(keys, order, None)[0]

    def _search(
        self, keys: "Sequence[bytes] | RaggedBytes", order: Array | None, key_order: Array | None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Return (the insertion place of each key, whether it is there)."""
        from pagekin.store._kernels.strings import find_strings

        table = keys if isinstance(keys, RaggedBytes) else RaggedBytes(*pack_strings(list(keys)))
        places, equal = np.empty(len(table), np.int64), np.empty(len(table), np.bool_)
        nothing = np.zeros(0, np.int64)
        find_strings(
            *self._for_kernels(), nothing if order is None else np.asarray(order, np.int64),
            *table._for_kernels(), nothing if key_order is None else np.asarray(key_order, np.int64), places, equal,
        )  # fmt: skip
        return places, equal

    def _for_kernels(self) -> tuple[Array, Array]:
        """Return bytes and offsets in the types that kernels are compiled for."""
        return read_only(self.data.view()), np.array(self.offsets, np.int64)

    def nearest(self, key: bytes, order: Array | None = None) -> int:
        """Return the insertion place of `key`. The strings are sorted, or `order` lists their ids in sorted order."""
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
    lengths = np.fromiter(map(len, strings), dtype=np.int64, count=len(strings))
    offsets = np.zeros(len(strings) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return np.frombuffer(b"".join(strings), dtype=np.uint8), offsets


def join_strings(tables: Sequence[RaggedBytes]) -> tuple[Array, Array]:
    """Return (data, offsets) of the strings of some tables, one table after another."""
    sizes = [np.diff(np.asarray(table.offsets, np.int64)) for table in tables]
    return np.concatenate([table.data for table in tables]), np.append(0, np.cumsum(np.concatenate(sizes)))


def union_strings(tables: Sequence[RaggedBytes]) -> tuple[RaggedBytes, list[npt.NDArray[np.int64]]]:
    """Return (the sorted distinct strings of some tables, the place of each table's strings among them)."""
    names = sorted(set(chain.from_iterable(tables)))
    places = {name: place for place, name in enumerate(names)}
    numbers = [np.fromiter(map(places.__getitem__, table), np.int64, len(table)) for table in tables]
    return RaggedBytes(*pack_strings(names)), numbers
