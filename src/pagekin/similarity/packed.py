"""The stored lists of I: packed into bits, so that a value's list is found by reading one bucket.

Each position has a number of *buckets*, a power of two. A value's *key* is its product with an odd number, modulo 2^32, which
spreads values of any kind over all keys; its upper bits name the bucket, the others are its *rest*. A bucket without lists is
empty. Another begins with the number of its lists, 24 bits. Then come, in the order of the keys: for each list a *head*,
which is the rest and the length (7 bits); the widths of all lists; all lists. A list is its first document, in as many bits
as the number of the last document takes, and the gap to each further one, less one. Four gaps are a run, and have as many
bits each as the run's width says (5 bits). A list of 127 documents and more has the length 127 in its head and no widths in
the bucket; in its place stand its length and its first byte, counted from the position's, 40 bits each. It lies behind all
buckets of its position, widths first, so that popular values take no room where others are looked up. Numbers stand with
their lowest bit first in little-endian words of 64 bits; buckets and long lists begin at bytes, positions at words, and a
last word is never part of a list.

`list.words` holds all of it, `list.starts` for each position the first byte of every bucket, counted from the position's, and the
end of the last, `list.positions` the first byte of each position, and the end.

A value that only one document has leads from no document to another. In large collections lists of one are left out but at some
positions (`keeps_single`), where pages from outside still find the document: see `LEAVES_OUT_FROM`.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.store import Array, Kin, KinError, ReadAhead

SCRAMBLE = np.uint32(0x9E3779B1)
"""2^32 divided by the golden ratio, and odd."""
COUNT_BITS, LENGTH_BITS, WIDTH_BITS = 24, 7, 5
LONG = 127
RUN = 4
PLACE_BITS = 40
MOST_DOCUMENTS = 1 << 31
"""A gap has fewer bits than 32."""
_BUCKET_ANSWERS = 256
"""A bucket stands for so many answers, or up to twice as many: some hundred bytes."""
LEAVES_OUT_FROM = 1 << 16
"""Documents of a whole from which on lists of one are left out; the smaller ones are small anyhow, and exact for every page."""
KEEPS_EVERY = 16
"""Of so many positions one keeps lists of one."""


def keys_of(values: Array) -> npt.NDArray[np.uint32]:
    """Return the keys of values."""
    return np.asarray(values, np.uint32) * SCRAMBLE


def bucket_bits(answers: int) -> int:
    """Return how many bits of a key give its bucket, if this many documents may be answers."""
    return max((answers // _BUCKET_ANSWERS).bit_length(), 1)


def document_bits(documents: int) -> int:
    """Return the bit length of the last document's number."""
    return max((documents - 1).bit_length(), 1)


def leaves_out_singles(documents: int) -> bool:
    """Return whether a collection of this many documents leaves out most lists of one."""
    return documents >= LEAVES_OUT_FROM


def keeps_single(position: int) -> bool:
    """Return whether a position always keeps lists of one."""
    return position % KEEPS_EVERY == 0


def pack_lists(
    pairs: npt.NDArray[np.uint64], buckets: int, documents: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Pack the lists of one position, given (key, document) pairs in ascending order; return (words, starts of buckets).

    `buckets` are the bits that name one, `documents` those of a document's number.
    """
    from pagekin.similarity._kernels.lists import measure_lists, write_lists

    counts, runs = np.zeros((2, 1 << buckets), np.int64)
    starts = np.zeros((1 << buckets) + 1, np.int64)
    size = measure_lists(pairs, buckets, documents, counts, runs, starts)
    words = np.zeros((size + 7) // 8, np.uint64)
    write_lists(pairs, buckets, documents, counts, runs, starts, words)
    return words, starts


class FoundLists(NamedTuple):
    """The heads of some lists."""

    lengths: npt.NDArray[np.int64]
    """How many documents each holds; 0 for a value that has none."""
    widths_at: npt.NDArray[np.int64]
    """The bit at which its widths begin."""
    places: npt.NDArray[np.int64]
    """The bit at which its documents begin."""

    def at(self, some: Array | slice) -> "FoundLists":
        """Return some of them."""
        return FoundLists(self.lengths[some], self.widths_at[some], self.places[some])


@dataclass(frozen=True)
class PackedLists:
    """The lists of one collection, or of one shard, memory-mapped.

    Pass `compiled` for many questions: loading the compiler takes longer than one answer.
    """

    words: npt.NDArray[np.uint64]
    starts: Array
    positions: npt.NDArray[np.int64]
    documents: int
    compiled: bool = False
    ahead: ReadAhead = field(default_factory=ReadAhead)

    @classmethod
    def of(cls, kin: Kin, documents: int, compiled: bool = False) -> "PackedLists":
        """Return the lists of an open collection; raise a KinError if they have the format of an earlier version."""
        if "list.docs" in kin and "list.words" not in kin:
            again = f"Index it again: pagekin index {kin.path}"
            if shard := kin.facts.get("shard"):
                again = f"Build it again: pagekin build SOURCE... --shards {shard['of']} --out {kin.path.parent}"
            raise KinError(
                f"{kin.path} was indexed by an earlier Pagekin, which stored lists in another format. {again}"
            )
        words, starts, positions = (np.asarray(kin[name]) for name in ("list.words", "list.starts", "list.positions"))
        return cls(words, starts, positions, documents, compiled)

    @property
    def bucket_bits(self) -> int:
        """Return how many bits of a key give its bucket."""
        return max((len(self.starts) // max(len(self.positions) - 1, 1) - 1).bit_length() - 1, 0)

    @property
    def document_bits(self) -> int:
        """Return the bit length of a document's number."""
        return document_bits(self.documents)

    def find(self, signature: Array) -> FoundLists:
        """Return the lists of a signature's values, position by position."""
        lists = FoundLists(*np.zeros((3, len(signature)), np.int64))
        if self.ahead.is_due():
            self._read_ahead(signature)
        if self.compiled:
            from pagekin.similarity._kernels.lists import find_lists

            find_lists(
                self.words,
                self.starts,
                self.positions,
                np.asarray(signature),
                self.bucket_bits,
                self.document_bits,
                *lists,
            )
            return lists
        rest_bits = 32 - self.bucket_bits
        head_bits = rest_bits + LENGTH_BITS
        keys = keys_of(signature).astype(np.int64)
        base = self.positions[:-1]
        at, end = self._buckets(self._places(signature))
        filled = np.flatnonzero(end > at)
        at, end = at[filled], end[filled]
        counts = self._bits(at, COUNT_BITS)
        if bool(np.any((counts < 1) | (at + COUNT_BITS + counts * head_bits > end))):
            raise IndexError("a bucket holds fewer lists than it says")
        # One row for each list of all these buckets.
        of = np.repeat(np.arange(len(filled)), counts)
        heads = at[of] + COUNT_BITS + _count_up(counts) * head_bits
        length = self._bits(heads + rest_bits, LENGTH_BITS)
        if bool(np.any(length == 0)):
            raise IndexError("a list is empty")
        runs = np.where(length == LONG, 0, _runs_of(length))
        runs_before, bucket_runs = np.cumsum(runs) - runs, np.bincount(of, runs, len(filled)).astype(np.int64)
        widths_at = (at + COUNT_BITS + counts * head_bits)[of] + (
            runs_before - runs_before[_starts(counts)][of]
        ) * WIDTH_BITS
        sizes = np.where(length == LONG, 2 * PLACE_BITS, self.document_bits)
        run_of, run_sizes = self._run_sizes(length, widths_at, runs)[::2]
        sizes = sizes + np.bincount(run_of, run_sizes, len(sizes)).astype(np.int64)
        before = np.cumsum(sizes) - sizes
        data = (
            (at + COUNT_BITS + counts * head_bits + bucket_runs * WIDTH_BITS)[of] + before - before[_starts(counts)][of]
        )
        same = np.flatnonzero(self._bits(heads, rest_bits) == (keys[filled] & ((1 << rest_bits) - 1))[of])
        if bool(np.any(data[same] + sizes[same] > end[of[same]])):
            raise IndexError("a list goes on beyond its bucket")
        mine, length, data = filled[of[same]], length[same], data[same]
        lists.lengths[mine], lists.widths_at[mine], lists.places[mine] = length, widths_at[same], data
        far, data = mine[length == LONG], data[length == LONG]
        lists.lengths[far] = self._bits(data, PLACE_BITS)
        lists.widths_at[far] = (base[far] + self._bits(data + PLACE_BITS, PLACE_BITS)) * 8
        lists.places[far] = lists.widths_at[far] + _runs_of(lists.lengths[far]) * WIDTH_BITS
        return lists

    def _places(self, signature: Array) -> npt.NDArray[np.int64]:
        """Return the place in `starts` of the bucket of each value of a signature."""
        each = (1 << self.bucket_bits) + 1
        return np.arange(len(signature)) * each + (keys_of(signature).astype(np.int64) >> (32 - self.bucket_bits))

    def _buckets(self, places: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the bits at which buckets begin and end, given one place in `starts` for each position."""
        base = self.positions[:-1]
        at, end = ((base + self.starts[places + more].astype(np.int64)) * 8 for more in (0, 1))
        return at, end

    def _read_ahead(self, signature: Array) -> None:
        """Ask the operating system to read the buckets of a signature's values ahead."""
        places = self._places(signature)
        self.ahead.ask([self.starts], places, places + 2)
        at, end = self._buckets(places)
        self.ahead.ask([self.words], at >> 6, (end >> 6) + 2)

    def _run_sizes(self, lengths: Array, widths_at: Array, runs: Array) -> tuple[Array, Array, Array]:
        """Return (list, width, bits) of all runs of some lists, given the number of runs of each."""
        if int(runs.sum()) > len(self.words) * 64:
            raise IndexError("there are no such lists")
        of, number = np.repeat(np.arange(len(runs)), runs), _count_up(runs)
        width = self._bits(widths_at[of] + number * WIDTH_BITS, WIDTH_BITS)
        return of, width, np.minimum(lengths[of] - 1 - number * RUN, RUN) * width

    def read(self, lists: FoundLists) -> npt.NDArray[np.uint32]:
        """Return the documents of some lists, one list after the other."""
        lists = lists.at(lists.lengths > 0)
        total = int(lists.lengths.sum())
        if total > len(self.words) * 64 * self.documents:
            raise IndexError("there are no such lists")
        if self.ahead.is_due():
            most = lists.lengths * self.document_bits  # gaps between documents take fewer bits than documents do
            self.ahead.ask([self.words], lists.widths_at >> 6, (lists.places + most) // 64 + 2)
        if self.compiled:
            from pagekin.similarity._kernels.lists import read_lists

            out = np.empty(total, np.uint32)
            read_lists(self.words, *lists, self.document_bits, self.documents, out)
            return out
        runs = _runs_of(lists.lengths)
        of, width, sizes = self._run_sizes(lists.lengths, lists.widths_at, runs)
        gaps = np.minimum(lists.lengths[of] - 1 - _count_up(runs) * RUN, RUN)
        before = np.append(0, np.cumsum(sizes))
        gaps_at = (lists.places + self.document_bits - before[_starts(runs)])[of] + before[:-1]
        # One row for each gap, and among them the first document of each list.
        widths = np.repeat(width, gaps)
        coded = np.flatnonzero(widths)  # others follow their neighbour at once
        steps = np.ones(len(widths), np.int64)
        steps[coded] += self._bits((np.repeat(gaps_at, gaps) + _count_up(gaps) * widths)[coded], widths[coded])
        first, starts = self._bits(lists.places, self.document_bits), _starts(lists.lengths)
        docs = np.ones(total, np.int64)
        docs[np.setdiff1d(np.arange(total), starts, assume_unique=True)] = steps
        docs[starts] = first
        docs = np.cumsum(docs)
        docs -= np.repeat(docs[starts] - first, lists.lengths)
        if len(docs) and int(docs.max()) >= self.documents:
            raise IndexError("a list names a document that is none")
        return docs.astype(np.uint32)

    def _bits(self, at: Array, width: Array | int) -> npt.NDArray[np.int64]:
        """Return the numbers of given widths at given bits."""
        word, shift = at >> 6, (at & 63).astype(np.uint64)
        if len(word) and (int(word.min()) < 0 or int(word.max()) + 1 >= len(self.words)):
            raise IndexError("a list goes on beyond its end")
        both = (self.words[word] >> shift) | ((self.words[word + 1] << np.uint64(1)) << (np.uint64(63) - shift))
        return np.asarray(both & ((np.uint64(1) << np.asarray(width, np.uint64)) - np.uint64(1))).astype(np.int64)

    def pairs(self, position: int) -> npt.NDArray[np.uint64]:
        """Return all keys and documents of a position, as `pack_lists` takes them; compiled."""
        from pagekin.similarity._kernels.lists import list_heads, read_lists

        each = (1 << self.bucket_bits) + 1
        starts, base = self.starts[position * each : (position + 1) * each], int(self.positions[position])
        begins = starts.astype(np.int64)
        heads = int(self._bits((base + begins[:-1][begins[1:] > begins[:-1]]) * 8, COUNT_BITS).sum())
        if heads > self.documents:
            raise IndexError("there are more lists than documents")
        keys, lists = np.zeros(heads, np.int64), FoundLists(*np.zeros((3, heads), np.int64))
        list_heads(self.words, starts, base, self.bucket_bits, self.document_bits, keys, *lists)
        if int(lists.lengths.max(initial=0)) > self.documents or int(lists.lengths.sum()) > self.documents:
            raise IndexError("there are more documents in lists than there are documents")
        docs = np.empty(int(lists.lengths.sum()), np.uint32)
        read_lists(self.words, *lists, self.document_bits, self.documents, docs)
        return np.repeat(keys.astype(np.uint64) << np.uint64(32), lists.lengths) | docs


def _runs_of(lengths: Array) -> npt.NDArray[np.int64]:
    """Return the number of runs of gaps in lists of some lengths."""
    return np.asarray((lengths - 1 + RUN - 1) // RUN)


def _starts(counts: Array) -> npt.NDArray[np.int64]:
    """Return the start of each group, given their lengths."""
    return np.asarray(np.cumsum(counts) - counts)


def _count_up(counts: Array) -> npt.NDArray[np.int64]:
    """Return 0, 1, 2 ... for each of some groups."""
    return np.arange(int(np.sum(counts))) - np.repeat(_starts(counts), counts)
