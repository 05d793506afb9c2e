"""Finding documents by signature: Figure 11's answer from as few and as short lists as it takes."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pagekin.store import Array, Kin

Eligible = Callable[[Array], Array]
"""Given documents, a mask of those that may be answers."""

# Chosen by timing: an entry of a list costs about 2 ns to read and count, a row of H about 100 ns.
_FIRST_ENTRIES = 1_024
_CHEAP_ENTRIES = 1 << 15
_FURTHER = 2
_VERIFIED = 512
_DENSE = 40


@dataclass(frozen=True)
class MatchedDocuments:
    """Documents and the number of positions (of those that were read) at which each agrees with the query."""

    docs: npt.NDArray[np.int64]
    matches: npt.NDArray[np.int64]
    entries_read: int
    rows_read: int


def matches_above(alpha: float, m: int) -> int:
    """Return the least number of agreeing positions that is more than α·m."""
    return math.floor(alpha * m + 1e-9) + 1


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

    def arrays(self) -> tuple[Array, Array, Array, Array, Array]:
        """Return (rows, documents of the lists, keys, starts, positions), for kernels."""
        return (
            np.array(self.rows), np.array(self._docs), np.array(self._keys), self._starts.astype(np.int64),
            self._positions.astype(np.int64),
        )  # fmt: skip

    def spans(self, signature: Array) -> tuple[Array, Array]:
        """Return where the list of each of the signature's values begins and ends: all positions are searched in step."""
        if not len(self._keys):  # no document may be an answer
            return np.zeros(self.m, np.int64), np.zeros(self.m, np.int64)
        first, end = self._positions[:-1], self._positions[1:]
        before = first - 1  # the last key known to be less
        step = 1 << max(int(np.max(end - first, initial=1)).bit_length() - 1, 0)
        while step:
            probe = before + step
            less = (self._keys.take(probe, mode="clip") < signature) & (probe < end)
            before = np.where(less, probe, before)
            step >>= 1
        place = before + 1
        present = (place < end) & (self._keys.take(place, mode="clip") == signature)
        starts = self._starts.take(place, mode="clip").astype(np.int64)
        return starts, np.where(present, self._starts.take(place + 1, mode="clip"), starts).astype(np.int64)

    def _read(self, starts: Array, ends: Array, at_least: int = 1) -> tuple[Array, Array]:
        """Return (documents in order, how often each) of those that stand in some lists often enough."""
        pieces = [self._docs[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True) if b > a]
        if not pieces:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        entries = np.concatenate(pieces)
        if len(self) < _DENSE * len(entries):
            counts = np.bincount(entries, minlength=len(self))
            docs = np.flatnonzero(counts >= at_least)
            return docs, counts[docs]
        entries.sort()
        last = np.flatnonzero(np.append(entries[1:] != entries[:-1], True))
        counts = np.diff(last, prepend=-1)
        often = counts >= at_least
        return entries[last[often]].astype(np.int64), counts[often]

    def matches(self, signature: Array, docs: Array) -> npt.NDArray[np.int64]:
        """Count the positions at which each document agrees with the signature, from H."""
        return np.asarray(np.add.reduce(self.rows[docs] == signature, axis=1, dtype=np.int64))

    def similar(self, signature: Array, k: int | None, alpha: float, eligible: Eligible) -> MatchedDocuments:
        """Return Figure 11's answer for α, or its first k: the same documents, counts and order, the best first.

        A document that agrees in T positions stands in at least one of any m - T + 1 lists, and in at least r + 1 of any
        m - T + 1 + r. So the shortest lists are read, and documents that can reach T are looked up in H. For the best k,
        T is found from below first: the k-th best of some documents is never above the k-th best of all.
        """
        starts, ends = self.spans(signature)
        order = np.argsort(ends - starts, kind="stable")
        starts, ends = starts[order], ends[order]
        read = np.cumsum(ends - starts)
        needed = max(matches_above(alpha, self.m), 1)
        rows_read = 0
        if k and read[-1] > _FIRST_ENTRIES:
            first = max(int(np.searchsorted(read, _FIRST_ENTRIES, side="right")), 1)
            docs, counts = self._read(starts[:first], ends[:first])
            docs, counts = _take_highest(docs, counts, 4 * k + 64)
            docs = docs[eligible(docs)]
            rows_read += len(docs)
            if len(docs) >= k:
                needed = max(needed, int(np.partition(self.matches(signature, docs), len(docs) - k)[len(docs) - k]))
        if needed > self.m:
            return MatchedDocuments(np.zeros(0, np.int64), np.zeros(0, np.int64), 0, rows_read)
        base = self.m - needed + 1
        # More lists than must be are read as long as they are short: each spares the rows of documents seen less often.
        worth = max(_CHEAP_ENTRIES, _FURTHER * int(read[base - 1]))
        lists = max(base, int(np.searchsorted(read, worth, side="right")))
        docs, counts = self._read(starts[:lists], ends[:lists], lists - base + 1)
        may = eligible(docs)
        docs, counts = docs[may], counts[may]
        if lists < self.m:
            docs, counts, looked_up = self._verify(signature, docs, counts + (self.m - lists), k)
            rows_read += looked_up
        enough = counts >= needed
        docs, counts = docs[enough], counts[enough]
        order = np.lexsort((docs, -counts))[:k]
        return MatchedDocuments(docs[order], counts[order], int(read[lists - 1]), rows_read)

    def _verify(self, signature: Array, docs: Array, most: Array, k: int | None) -> tuple[Array, Array, int]:
        """Return (documents, their matches, how many were looked up), without those that cannot be among the best k.

        `most` is what each document can reach at the most.
        """
        if not k or len(docs) <= _VERIFIED:
            return docs, self.matches(signature, docs), len(docs)
        order = np.lexsort((docs, -most))
        docs, most = docs[order], most[order]
        counts = np.zeros(len(docs), np.int64)
        done, best = 0, np.zeros(0, np.int64)
        while done < len(docs):
            if len(best) == k and (most[done] < best[0] or best[0] == self.m):
                break  # of documents that agree everywhere the first ones in order have been seen
            part = slice(done, done + _VERIFIED)
            counts[part] = self.matches(signature, docs[part])
            best = np.sort(np.concatenate([best, counts[part]]))[-k:]
            done = min(done + _VERIFIED, len(docs))
        return docs[:done], counts[:done], done

    def candidates(self, signature: Array, depth: int, entries: int, eligible: Eligible) -> MatchedDocuments:
        """Return the `depth` documents that agree with the signature most often in its shortest lists, in no order.

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
        docs, counts = _take_highest(docs[may], counts[may], depth)
        return MatchedDocuments(docs, counts, int(read[count - 1]), 0)


def _take_highest(docs: Array, counts: Array, n: int) -> tuple[Array, Array]:
    """Return the n documents with the highest counts, in no order; of equals the first."""
    if len(docs) <= n:
        return docs, counts
    least = np.partition(counts, len(counts) - n)[len(counts) - n]
    sure, ties = np.flatnonzero(counts > least), np.flatnonzero(counts == least)
    chosen = np.concatenate([sure, ties[: n - len(sure)]])
    return docs[chosen], counts[chosen]
