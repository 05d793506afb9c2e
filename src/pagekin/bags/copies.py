"""Copies: pages with the same text, whatever links to them.

Bags hold the words around links, and a mirror has other links than the original. So copies are told by a *sketch* of
the page's own kept words alone: a hash puts each word into one of 64 places, and a place keeps 16 bits of the least
hash in it (one-permutation min-hashing). The share of places in which two sketches agree, of those that either one
fills, estimates the share of words that the pages have in common.
"""

from collections.abc import Callable, Hashable, Sequence

import numpy as np
import numpy.typing as npt

from pagekin.bags.mixing import mix64
from pagekin.store import Array, Kin

SKETCH_PLACES = 64
EMPTY_PLACE = 65_535
NO_SKETCH = np.full(SKETCH_PLACES, EMPTY_PLACE, np.uint16)
"""The sketch of a page without words."""
_FEW = 200
"""Sketches of which all pairs are compared: that costs less than to find out which to compare."""
NEAR_COPY = 0.9
"""Pages of which this share of words is common are near-duplicates, shown as one."""


def sketch(hashes: Array) -> npt.NDArray[np.uint16]:
    """Return the sketch of a page, given the hashes of its words."""
    z = mix64(hashes)
    least = np.full(SKETCH_PLACES, np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(least, (z >> np.uint64(58)).astype(np.int64), z)
    values = np.minimum(least & np.uint64(0xFFFF), np.uint64(EMPTY_PLACE - 1)).astype(np.uint16)
    return np.where(least == np.iinfo(np.uint64).max, np.uint16(EMPTY_PLACE), values)


def are_copies(sketches: Array, one: Array, threshold: float = NEAR_COPY) -> npt.NDArray[np.bool_]:
    """Mark the sketches (rows) that are near-duplicates of one, or of the same row; an empty page has no copies."""
    return common_words(sketches, one) >= threshold


def common_words(sketches: Array, one: Array) -> npt.NDArray[np.float64]:
    """Estimate the share of words that each sketch (row) has in common with one sketch, or with the same row."""
    either = (sketches != EMPTY_PLACE) | (one != EMPTY_PLACE)
    agree = np.add.reduce((sketches == one) & either, axis=1)
    return np.asarray(agree / np.maximum(np.add.reduce(either, axis=1), 1))


def copy_sketches(kin: Kin) -> npt.NDArray[np.uint16]:
    """Return the sketch of each page, (pages, PLACES); raise a KinError if the collection has none."""
    return kin["copy.rows"].reshape(-1, SKETCH_PLACES)


def has_sketches(kin: Kin) -> bool:
    """Return whether a collection holds the sketches by which copies are detected."""
    return "copy.rows" in kin


class CopyIndex:
    """Sketches in ranking order, with their heads: the sketches that are not copies of an earlier head.

    Sketches are cut into bands. Two copies differ in so few places that at least one band that is not empty is the
    same in both, so only heads that share such a band are compared: exact, and seldom more than a few comparisons.
    """

    def __init__(self, sketches: Array, threshold: float = NEAR_COPY, keys: Array | None = None) -> None:
        """Take the sketches (rows, 64 of uint16) to search for copies, and the keys of their bands if known."""
        self.sketches, self.threshold = sketches, threshold
        self._keys = _band_keys(sketches, _band_width(threshold)) if keys is None else keys
        self._heads: list[dict[int, list[int]]] = [{} for _ in range(self._keys.shape[1])]

    def at(self, places: Array) -> "CopyIndex":
        """Return an index of some of the sketches, in this order, with no heads yet."""
        return CopyIndex(self.sketches[places], self.threshold, self._keys[places])

    @property
    def alone(self) -> npt.NDArray[np.bool_]:
        """Mark the sketches that share no band with another, and so cannot have copies."""
        return np.asarray((self._keys < 0).all(axis=1))

    def add_head(self, place: int) -> None:
        """Make this sketch a head, with which later sketches are compared."""
        for heads, key in zip(self._heads, self._keys[place].tolist(), strict=True):
            if key >= 0:
                heads.setdefault(key, []).append(place)

    def heads_like(self, place: int) -> npt.NDArray[np.int64]:
        """Return the places of the heads that this sketch is a copy of, in order."""
        keys = zip(self._heads, self._keys[place].tolist(), strict=True)
        likely = sorted({head for heads, key in keys if key >= 0 for head in heads.get(key, ())})
        if not likely:
            return np.zeros(0, np.int64)
        places = np.array(likely, np.int64)
        return places[are_copies(self.sketches[places], self.sketches[place], self.threshold)]

    def fold_all(self) -> npt.NDArray[np.int64]:
        """Return what `fold` returns, by a compiled kernel, for builds."""
        from pagekin.bags._kernels.copies import fold_sketches

        heads = np.empty(len(self.sketches), np.int64)
        fold_sketches(self.sketches, self._keys, EMPTY_PLACE, self.threshold, heads)
        return heads

    def fold(self, names: Sequence[Hashable] | None = None) -> list[int]:
        """Return the place of each sketch's head, as `fold_copies` does."""
        alone = self.alone.tolist()
        # The head of an equal sketch before it is also the first that this one is a copy of: mirrors have hundreds of equals.
        rows = np.ascontiguousarray(self.sketches).view(f"V{self.sketches.itemsize * SKETCH_PLACES}").ravel().tolist()
        head_of: dict[bytes, int] = {}

        def find_head(place: int, _heads: list[int]) -> int:
            if alone[place]:
                return place
            head = head_of.get(rows[place])
            if head is None:
                head = head_of[rows[place]] = next(iter(self.heads_like(place).tolist()), place)
                if head == place:
                    self.add_head(place)
            return head

        return _heads_of(len(self.sketches), find_head, names)


def fold_copies(sketches: Array, names: Sequence[Hashable] | None = None) -> list[int]:
    """Return, for each sketch of a ranking, the place of its head: the first sketch it copies, or its own place.

    Entries of the same name, such as captures of one address, have the same head whatever their sketches say.
    """
    if len(sketches) > _FEW:
        return CopyIndex(sketches).fold(names)
    earlier = earlier_copies(sketches)

    def find_head(place: int, heads: list[int]) -> int:
        others = earlier[place]
        return next((other for other in others if heads[other] == other), place) if others else place

    return _heads_of(len(sketches), find_head, names)


def _heads_of(count: int, find_head: Callable[[int, list[int]], int], names: Sequence[Hashable] | None) -> list[int]:
    """Return the heads of entries: that of an earlier entry of the same name, or else that by `find_head`."""
    heads: list[int] = []
    of_name: dict[Hashable, int] = {}
    for place in range(count):
        head = of_name.get(names[place], -1) if names is not None else -1
        heads.append(find_head(place, heads) if head < 0 else head)
        if names is not None:
            of_name.setdefault(names[place], heads[place])
    return heads


def earlier_copies(sketches: Array) -> list[list[int]]:
    """Return, for each of a few hundred sketches, the sorted places of earlier sketches that are its copies.

    Copies differ in at most six places, so of any seven runs of four places at least one is the same in both: pairs of which
    that is true are compared. Empty sketches have no copies; in a ranking they may be most.
    """
    filled = np.flatnonzero((sketches != EMPTY_PLACE).any(axis=1))
    rows = np.ascontiguousarray(sketches[filled], np.uint16)
    most_different = int((1 - NEAR_COPY) * SKETCH_PLACES)
    likely, same = np.zeros((len(rows), len(rows)), np.bool_), np.empty((len(rows), len(rows)), np.bool_)
    for run in np.ascontiguousarray(rows.view(np.uint64).T[: most_different + 1]):
        likely |= np.equal(run[:, None], run, out=same)
    later, earlier = np.tril(likely, -1).nonzero()
    copies = are_copies(rows[later], rows[earlier])
    earlier_of: list[list[int]] = [[] for _ in sketches]
    for place, other in zip(filled[later[copies]].tolist(), filled[earlier[copies]].tolist(), strict=True):
        earlier_of[place].append(other)
    return earlier_of


def _band_width(threshold: float) -> int:
    """Return the greatest width of a band: copies differ in a share of 1 - threshold of the filled places."""
    return next(width for width in (16, 8, 4, 2, 1) if width * (1 - threshold) < 1)


def _band_keys(sketches: Array, width: int) -> npt.NDArray[np.int64]:
    """Return a key per sketch and band, equal for equal bands; -1 for a band that is empty or unique."""
    bands = np.asarray(sketches).reshape(len(sketches), SKETCH_PLACES // width, width)
    keys, used = np.empty(bands.shape[:2], np.int64), 0
    for band in range(bands.shape[1]):  # one after another: all hashes together would take several times the memory
        hashes = np.full(len(bands), band, np.uint64)
        for place in range(width):
            hashes = mix64((hashes << np.uint64(16)) ^ bands[:, band, place])
        _, number, times = np.unique(hashes, return_inverse=True, return_counts=True)
        shared = times > 1
        key = np.where(shared, used + np.cumsum(shared) - 1, -1)
        keys[:, band] = np.where((bands[:, band] != EMPTY_PLACE).any(axis=1), key[number], -1)
        used += int(np.count_nonzero(shared))
    return keys
