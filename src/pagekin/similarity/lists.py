"""Find documents by signature: the answer of Figure 11, from as few and as short lists as possible."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pagekin.similarity.links import ReplacedDocuments
from pagekin.similarity.packed import FoundLists, PackedLists, leaves_out_singles
from pagekin.store import Array, Kin, Numbering

Eligible = Callable[[Array], Array]
"""Given documents, a mask of those that may be answers."""

# Chosen by timing: an entry of a list costs about 2 ns to read and count, a row of H about 100 ns.
_FIRST_ENTRIES = 1_024
_CHEAP_ENTRIES = 1 << 15
_FURTHER = 2
_VERIFIED = 512
_DENSE = 16
_HIDDEN_MARGIN = 2.0
"""By how much more than the share of hidden documents more lists are looked at, as these are spread unevenly."""


@dataclass(frozen=True)
class MatchedDocuments:
    """Documents, and at how many of the positions that were read each agrees with the query."""

    docs: npt.NDArray[np.int64]
    matches: npt.NDArray[np.int64]
    entries_read: int
    rows_read: int


def matches_above(alpha: float, m: int) -> int:
    """Return the least number of agreeing positions that is more than α·m."""
    return math.floor(alpha * m + 1e-9) + 1


class SignatureShard:
    """H and I of one collection, or of one shard, memory-mapped."""

    def __init__(self, kin: Kin, m: int, compiled: bool = False) -> None:
        self.rows: Array = np.asarray(kin["signature.rows"]).reshape(-1, m)
        self.lists = PackedLists.of(kin, len(self.rows), compiled)

    def read(self, lists: FoundLists, at_least: int) -> tuple[Array, Array]:
        """Return (documents in order, counts) of the documents that occur often enough in some lists."""
        return _count(self.lists.read(lists), len(self.rows), at_least)


def _count(entries: Array, documents: int, at_least: int = 1) -> tuple[Array, Array]:
    """Return (documents in order, counts) of those of so many documents that occur often enough among some entries."""
    if not len(entries):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if documents < _DENSE * len(entries):
        counts = np.bincount(entries, minlength=documents)
        docs = np.flatnonzero(counts >= at_least)
        return docs, counts[docs]
    entries.sort()
    last = np.flatnonzero(np.append(entries[1:] != entries[:-1], True))
    counts = np.diff(last, prepend=-1)
    often = counts >= at_least
    return entries[last[often]].astype(np.int64), counts[often]


class ShortestLists:
    """The lists of one signature, ordered by their total length in all shards, the shortest first.

    Where lists of one are left out, a list that is not there counts as one, so that as many others are read as if it were.
    """

    def __init__(
        self, shards: Sequence[SignatureShard], firsts: Sequence[int], signature: Array, documents: int
    ) -> None:
        """Take the shards, their first documents, a signature, and how many documents the whole has."""
        self._shards, self._firsts = shards, firsts
        spans = [shard.lists.find(signature) for shard in shards]
        lengths = sum((lists.lengths for lists in spans), np.zeros(len(signature), np.int64))
        self._order = np.argsort(lengths, kind="stable")
        self._found = [lists.at(self._order) for lists in spans]
        self._least = int(leaves_out_singles(documents))
        self.entries: Array = np.cumsum(np.maximum(lengths[self._order], self._least))
        """How many documents the first one, two, three ... lists hold."""

    def up_to(self, entries: int) -> int:
        """Return how many of the first lists hold at most this many documents together."""
        return int(np.searchsorted(self.entries, entries, side="right"))

    def read(self, lists: int, at_least: int = 1) -> tuple[Array, Array]:
        """Return (documents in order, counts) of the documents that occur often enough in the first lists."""
        every = [
            shard.read(spans.at(slice(lists)), at_least) for shard, spans in zip(self._shards, self._found, strict=True)
        ]
        if len(every) == 1:
            return every[0]
        docs = [docs + first for (docs, _counts), first in zip(every, self._firsts, strict=True)]
        return np.concatenate(docs), np.concatenate([counts for _docs, counts in every])

    def read_without(self, hidden: npt.NDArray[np.bool_], entries: int) -> tuple[Array, Array, int]:
        """Return (documents in order, counts, entries) of the lists of a base and its delta without `hidden` documents.

        These are the lists that one collection of all other documents would read: the shortest ones without what is hidden. So
        some more are looked at, as many as there are more documents.
        """
        more = 1.0 + _HIDDEN_MARGIN * np.count_nonzero(hidden) / max(len(hidden), 1)
        some = slice(max(self.up_to(int(more * entries)), 1))
        found = [spans.at(some) for spans in self._found]
        every = [shard.lists.read(spans) for shard, spans in zip(self._shards, found, strict=True)]
        lists = [np.repeat(np.arange(len(spans.lengths)), spans.lengths) for spans in found]
        stays = ~hidden[every[0]]
        every[0], lists[0] = every[0][stays], lists[0][stays]
        lengths = np.bincount(np.concatenate(lists), minlength=len(found[0].lengths))
        order = np.lexsort((self._order[some], lengths))
        held = np.cumsum(np.maximum(lengths[order], self._least))
        count = max(int(np.searchsorted(held, entries, side="right")), 1)
        is_read = np.zeros(len(order), np.bool_)
        is_read[order[:count]] = True
        counted = [
            _count(documents[is_read[of]], len(shard.rows))
            for documents, of, shard in zip(every, lists, self._shards, strict=True)
        ]
        docs = [docs + first for (docs, _counts), first in zip(counted, self._firsts, strict=True)]
        return np.concatenate(docs), np.concatenate([counts for _docs, counts in counted]), int(held[count - 1])


class SignatureIndex:
    """H and I of a collection or of its shards; documents are numbered across the whole.

    Pass `compiled` for many questions: loading the compiler takes longer than one answer. `replaced` are the documents of a base
    that its delta, the last shard, replaces.
    """

    def __init__(
        self, kins: Kin | Sequence[Kin], m: int, compiled: bool = False, replaced: ReplacedDocuments | None = None
    ) -> None:  # fmt: skip
        self.m = m
        self._shards = [SignatureShard(kin, m, compiled) for kin in ([kins] if isinstance(kins, Kin) else kins)]
        self._numbering = Numbering(len(shard.rows) for shard in self._shards)
        self._replaced = replaced

    def __len__(self) -> int:
        return len(self._numbering)

    @property
    def rows(self) -> Array:
        """Return H of a collection in one piece, (documents, m)."""
        (shard,) = self._shards
        return shard.rows

    def rows_of(self, docs: Array) -> Array:
        """Return the signatures of some documents, one per row."""
        return self._numbering.gather([shard.rows for shard in self._shards], docs)

    def _lists(self, signature: Array) -> ShortestLists:
        documents = len(self) - (int(np.count_nonzero(self._replaced.hidden)) if self._replaced else 0)
        return ShortestLists(self._shards, self._numbering.bounds[:-1], signature, documents)

    def _sort_keys(self, docs: Array) -> Array:
        """Return numbers that order documents by their addresses."""
        return self._replaced.sort_keys(docs) if self._replaced else docs

    def matches(self, signature: Array, docs: Array) -> npt.NDArray[np.int64]:
        """Count the positions at which each document agrees with the signature, from H."""
        return np.asarray(np.add.reduce(self.rows_of(docs) == signature, axis=1, dtype=np.int64))

    def similar(self, signature: Array, k: int | None, alpha: float, eligible: Eligible) -> MatchedDocuments:
        """Return the answer of Figure 11 for α, or its first k: the same documents, counts and order.

        A document that agrees in T positions stands in at least one of any m - T + 1 lists, and in at least r + 1 of any
        m - T + 1 + r. So the shortest lists are read, and documents that can reach T are looked up in H. For the best k,
        T is found from below first: the k-th best of some documents is never above the k-th best of all.
        """
        lists = self._lists(signature)
        needed = max(matches_above(alpha, self.m), 1)
        rows_read = 0
        if k and lists.entries[-1] > _FIRST_ENTRIES:
            docs, counts = lists.read(max(lists.up_to(_FIRST_ENTRIES), 1))
            docs, counts = _take_highest(docs, counts, 4 * k + 64)
            docs = docs[eligible(docs)]
            rows_read += len(docs)
            if len(docs) >= k:
                needed = max(needed, int(np.partition(self.matches(signature, docs), len(docs) - k)[len(docs) - k]))
        if needed > self.m:
            return MatchedDocuments(np.zeros(0, np.int64), np.zeros(0, np.int64), 0, rows_read)
        base = self.m - needed + 1
        # More lists than must be are read as long as they are short: each spares the rows of documents seen less often.
        count = max(base, lists.up_to(max(_CHEAP_ENTRIES, _FURTHER * int(lists.entries[base - 1]))))
        docs, counts = lists.read(count, count - base + 1)
        may = eligible(docs)
        docs, counts = docs[may], counts[may]
        if count < self.m:
            docs, counts, looked_up = self._verify(signature, docs, counts + (self.m - count), k)
            rows_read += looked_up
        enough = counts >= needed
        docs, counts = docs[enough], counts[enough]
        order = np.lexsort((self._sort_keys(docs), -counts))[:k]
        return MatchedDocuments(docs[order], counts[order], int(lists.entries[count - 1]), rows_read)

    def _verify(self, signature: Array, docs: Array, most: Array, k: int | None) -> tuple[Array, Array, int]:
        """Return (documents, their matches, the number looked up), without documents that cannot be among the best k.

        `most` is what each document can reach at the most.
        """
        if not k or len(docs) <= _VERIFIED:
            return docs, self.matches(signature, docs), len(docs)
        order = np.lexsort((self._sort_keys(docs), -most))
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
        lists = self._lists(signature)
        if self._replaced:
            docs, counts, read = lists.read_without(self._replaced.hidden, entries)
        else:
            count = max(lists.up_to(entries), 1)
            (docs, counts), read = lists.read(count), int(lists.entries[count - 1])
        may = eligible(docs)
        docs, counts = _take_highest(docs[may], counts[may], depth, self._sort_keys if self._replaced else None)
        return MatchedDocuments(docs, counts, read, 0)


def _take_highest(
    docs: Array, counts: Array, n: int, sort_keys: Callable[[Array], Array] | None = None
) -> tuple[Array, Array]:
    """Return the n documents with the highest counts, unordered; ties go to the first, in the order of `sort_keys` if given."""
    if len(docs) <= n:
        return docs, counts
    # There are few different counts: the least that is taken is found by how many have which.
    below_most = int(np.searchsorted(np.cumsum(np.bincount(counts)[::-1]), n))
    least = int(counts.max()) - below_most
    sure, ties = np.flatnonzero(counts > least), np.flatnonzero(counts == least)
    if sort_keys:
        ties = ties[np.argsort(sort_keys(docs[ties]), kind="stable")]
    chosen = np.concatenate([sure, ties[: n - len(sure)]])
    return docs[chosen], counts[chosen]
