"""Many short byte strings in two arrays."""

from collections.abc import Iterator

import numpy as np

from pagekin.store.arrays import Array
from pagekin.store.folder import Kin


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

    def __iter__(self) -> Iterator[bytes]:
        return (self[i] for i in range(len(self)))

    def text(self, index: int) -> str:
        """Return string `index` as text."""
        return self[index].decode("utf-8", "replace")

    def find(self, key: bytes, order: Array | None = None) -> int:
        """Return the id of `key`, or -1; O(log n). The strings are sorted, or `order` lists their ids so."""
        data, at = self._bytes, self._at
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            place = middle if order is None else int(order[middle])
            if bytes(data[at[place] : at[place + 1]]) < key:
                low = middle + 1
            else:
                high = middle
        if low == len(self):
            return -1
        place = low if order is None else int(order[low])
        return place if self[place] == key else -1

    def nearest(self, key: bytes) -> int:
        """Return where `key` would stand among the (sorted) strings."""
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self[middle] < key:
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
