"""Finding documents by signature: Figure 11's answer from as few and as short lists as it takes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.similarity.figure11 import matches_above
from pagekin.store import Kin

Array = npt.NDArray[Any]
Eligible = Callable[[Array], Array]
"""Given documents, a mask of those that may be answers."""

_FIRST_ENTRIES = 4_096
_SMALL = 1 << 14
_VERIFIED = 256


@dataclass(frozen=True)
class Found:
    """Documents and the number of positions at which each agrees with the query, the best first."""

    docs: npt.NDArray[np.int64]
    matches: npt.NDArray[np.int64]
    entries_read: int
    rows_read: int


class SignatureIndex:
    """H and I of a collection, memory-mapped."""

    def __init__(self, kin: Kin, m: int) -> None:
        self.m = m
        self.rows: Array = np.asarray(kin["signature.rows"]).reshape(-1, m)
        self._docs = np.asarray(kin["list.docs"])
        self._keys = np.asarray(kin["list.keys"])
        self._starts = np.asarray(kin["list.starts"])
        self._positions = np.asarray(kin["list.positions"])

    def __len__(self) -> int:
        return len(self.rows)

    def spans(self, signature: Array) -> tuple[Array, Array]:
        """Where the list of each of the signature's values begins and ends: all positions searched in step."""
        low, high = self._positions[:-1].copy(), self._positions[1:].copy()
        end = high.copy()
        for _ in range(int(np.max(high - low, initial=1)).bit_length()):
            middle = (low + high) >> 1
            less = self._keys[np.minimum(middle, len(self._keys) - 1)] < signature
            open_ended = low < high
            low = np.where(less & open_ended, middle + 1, low)
            high = np.where(~less & open_ended, middle, high)
        found = low < end
        found[found] = self._keys[low[found]] == signature[found]
        place = np.where(found, low, 0)
        starts = self._starts[place].astype(np.int64)
        return starts, np.where(found, self._starts[place + found], starts).astype(np.int64)

    def _read(self, starts: Array, ends: Array) -> tuple[Array, Array]:
        """(documents, how often each) in some lists."""
        pieces = [self._docs[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        if not pieces:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        entries = np.concatenate(pieces)
        if len(entries) > len(self) >> 2:
            counts = np.bincount(entries, minlength=len(self))
            docs = np.flatnonzero(counts)
            return docs, counts[docs]
        entries.sort()
        last = np.flatnonzero(np.append(entries[1:] != entries[:-1], True))
        if not len(entries):
            last = last[:0]
        return entries[last].astype(np.int64), np.diff(last, prepend=-1)

    def matches(self, signature: Array, docs: Array) -> npt.NDArray[np.int64]:
        """At how many positions each document agrees with the signature, from H."""
        return np.count_nonzero(self.rows[docs] == signature, axis=1)

    def similar(self, signature: Array, k: int | None, alpha: float, eligible: Eligible) -> Found:
        """What Figure 11 gives for α, or the first k of it: the same documents, counts and order.

        A document that agrees in T positions stands in at least one of any m - T + 1 lists, and in at least r + 1 of
        any m - T + 1 + r. So the shortest lists are read, as many as pay; documents that can reach T are then looked up in H.
        For the best k, T is first found from below: the k-th best among some documents is never above the k-th best of all.
        """
        starts, ends = self.spans(signature)
        order = np.argsort(ends - starts, kind="stable")
        starts, ends = starts[order], ends[order]
        read = np.cumsum(ends - starts)
        needed = matches_above(alpha, self.m)
        rows_read = 0
        if read[-1] <= _SMALL:
            docs, counts = self._read(starts, ends)
            return self._best(docs, counts, k, needed, eligible, int(read[-1]), 0)
        if k is not None:
            first = max(int(np.searchsorted(read, _FIRST_ENTRIES, side="right")), 1)
            docs, counts = self._read(starts[:first], ends[:first])
            likely = np.lexsort((docs, -counts))[: 4 * k + 64]
            docs = docs[likely]
            docs = docs[eligible(docs)]
            exact = np.sort(self.matches(signature, docs))
            rows_read += len(docs)
            if len(exact) >= k:
                needed = max(needed, int(exact[-k]))
        base = self.m - needed + 1
        if base <= 0:
            return Found(np.zeros(0, np.int64), np.zeros(0, np.int64), 0, rows_read)
        docs, counts = self._read(starts[:base], ends[:base])
        # Reading r longer lists costs their length, and spares the rows of those that are in r or fewer so far.
        reaching = np.cumsum(np.bincount(np.minimum(counts, self.m), minlength=self.m + 1)[::-1])[::-1]
        extra = np.arange(self.m - base + 1)
        cost = read[base - 1 :] - read[base - 1] + 16 * reaching[np.minimum(extra + 1, self.m)]
        more = int(np.argmin(cost))
        if more:
            docs, counts = self._read(starts[: base + more], ends[: base + more])
        can = counts > more
        docs, counts = docs[can], counts[can]
        may = eligible(docs)
        docs, counts = docs[may], counts[may]
        most = counts + (self.m - base - more)
        order = np.lexsort((docs, -most))
        docs, most = docs[order], most[order]
        exact_docs, exact_counts = [], []
        best = np.zeros(0, np.int64)
        for start in range(0, len(docs), _VERIFIED):
            if k is not None and len(best) >= k and most[start] < best[-k]:
                break
            if k is not None and len(best) >= k and most[start] == best[-k] == self.m:
                break  # only documents that agree everywhere are left, and they come in order
            part = docs[start : start + _VERIFIED]
            found = self.matches(signature, part)
            rows_read += len(part)
            exact_docs.append(part)
            exact_counts.append(found)
            best = np.sort(np.concatenate([best, found]))
            if k is not None:
                best = best[-k:]
        if not exact_docs:
            return Found(np.zeros(0, np.int64), np.zeros(0, np.int64), int(read[base + more - 1]), rows_read)
        everyone: Eligible = lambda some: np.ones(len(some), np.bool_)  # noqa: E731
        return self._best(
            np.concatenate(exact_docs), np.concatenate(exact_counts), k, needed, everyone, int(read[base + more - 1]), rows_read
        )

    def _best(
        self, docs: Array, counts: Array, k: int | None, needed: int, eligible: Eligible, entries: int, rows: int
    ) -> Found:
        enough = counts >= needed
        docs, counts = docs[enough], counts[enough]
        may = eligible(docs)
        docs, counts = docs[may], counts[may]
        order = np.lexsort((docs, -counts))[:k]
        return Found(docs[order].astype(np.int64), counts[order].astype(np.int64), entries, rows)

    def candidates(self, signature: Array, depth: int, entries: int, eligible: Eligible) -> Found:
        """The `depth` documents that agree with the signature most often in its shortest lists.

        Lists are read, the shortest first, while they hold no more than `entries` documents together; long lists cost
        most and tell least.
        """
        starts, ends = self.spans(signature)
        lengths = ends - starts
        order = np.argsort(lengths, kind="stable")
        read = np.cumsum(lengths[order])
        count = max(int(np.searchsorted(read, entries, side="right")), 1)
        order = order[:count]
        docs, counts = self._read(starts[order], ends[order])
        may = eligible(docs)
        docs, counts = docs[may], counts[may]
        if len(docs) > depth:
            least = np.partition(counts, len(counts) - depth)[len(counts) - depth]
            sure, ties = np.flatnonzero(counts > least), np.flatnonzero(counts == least)
            chosen = np.concatenate([sure, ties[: depth - len(sure)]])
            docs, counts = docs[chosen], counts[chosen]
        return Found(docs, counts, int(read[count - 1]), 0)
