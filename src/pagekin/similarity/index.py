"""Write the index: every bag's signature (H) and, per position, the documents in order of their value (I)."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import Bags, Strategy
from pagekin.errors import PagekinError
from pagekin.similarity.makers import Maker, make_maker
from pagekin.similarity.packed import (
    MOST_DOCUMENTS,
    bucket_bits,
    document_bits,
    keeps_single,
    keys_of,
    leaves_out_singles,
    pack_lists,
)
from pagekin.store import Array, Kin, KinWriter, Progress, batch_ranges, map_in_order, no_progress

_BATCH_ENTRIES = 1 << 20
_ENTRY_BYTES = 24
"""Bytes that an entry of a bag, and its share of the signatures, takes while it is signed."""
_BATCH_POSITIONS = 16
_DOCUMENT_BYTES = 32
"""Bytes that a document takes in the lists of one position while these are made."""
_LIST_BYTES = 16
"""More than a document ever takes in the stored lists of one position."""
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
Pairs = npt.NDArray[np.uint64]
"""Keys of values in the upper half, documents in the lower, rising."""


def make_index(
    kin: Kin, strategy: Strategy, writer: KinWriter, progress: Progress = no_progress, threads: int = 1,
    of_shard: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Write the `signature.rows` and `list.*` arrays for the bags of `kin`; return the facts about them.

    `signature.rows` is the paper's H: m values for each document in order. `list.*` is I: for each position the documents of
    each value, as `pagekin.similarity.packed` describes. A shard keeps all lists: documents of others may have its values.
    """
    maker = make_maker(strategy.signature)
    progress("signing", 0.0)
    rows = _sign(kin, maker, writer, progress, threads)
    leaves_out = leaves_out_singles(len(rows)) and not of_shard
    may = Bags(kin).inlinks >= strategy.signature.min_inlinks
    return _invert(rows, may, leaves_out, writer, progress, threads)


def _invert(
    rows: Array, may: Array, leaves_out: bool, writer: KinWriter, progress: Progress, threads: int
) -> dict[str, Any]:
    """Write the lists of signatures; with `leaves_out` most lists of one are left out."""

    def invert(first: int, last: int) -> list[Pairs]:
        columns = np.ascontiguousarray(rows[:, first:last].T)
        return [sort_pairs(column, may, leaves_out and not keeps_single(j)) for j, column in enumerate(columns, first)]

    return _write_lists(rows.shape, may, invert, leaves_out, writer, progress, threads)


def _write_lists(
    shape: tuple[int, ...], may: Array, invert: Callable[[int, int], list[Pairs]], leaves_out: bool, writer: KinWriter,
    progress: Progress, threads: int,
) -> dict[str, Any]:  # fmt: skip
    """Write the lists of all m positions; `invert` returns the pairs of some positions at a time."""
    documents, m = shape
    if documents >= MOST_DOCUMENTS:
        raise PagekinError(
            f"{documents:,} addresses are too many for one index, which holds {MOST_DOCUMENTS - 1:,} at most. "
            "Divide the collection: pagekin build SOURCE... --shards 8"
        )
    answers = int(np.count_nonzero(may))
    buckets, number_bits = bucket_bits(answers), document_bits(documents)
    words = writer.create("list.words", np.uint64)
    starts = writer.create("list.starts", np.uint32 if answers * _LIST_BYTES < 1 << 32 else np.uint64)
    positions, listed, lists = [0], 0, 0
    progress("lists", 0.0)
    step = writer.memory.items(_BATCH_POSITIONS, _DOCUMENT_BYTES * max(documents, 1))
    blocks = [(j, min(j + step, m)) for j in range(0, m, step)]

    def pack(first: int, last: int) -> list[tuple[Array, Array, int, int]]:
        return [
            (*pack_lists(pairs, buckets, number_bits), len(pairs), count_lists(pairs)) for pairs in invert(first, last)
        ]

    for _block, packed in map_in_order(threads, pack, blocks):
        for own_words, own_starts, entries, own_lists in packed:
            starts.append(own_starts)
            words.append(own_words)
            positions.append(8 * words.length)
            listed, lists = listed + entries, lists + own_lists
        progress("lists", (len(positions) - 1) / m)
    words.append(np.zeros(1, np.uint64))
    writer.put("list.positions", np.array(positions, dtype=np.int64))
    return {
        "answers": answers, "lists": lists, "listed": listed, "list_words": words.length, "singles_left_out": leaves_out
    }  # fmt: skip


def sort_pairs(column: Array, may: Array, leaves_out: bool) -> Pairs:
    """Return the pairs of one position, given each document's value and whether it may be an answer.

    With `leaves_out` those are left out whose value no other document has, be that an answer or not.
    """
    if leaves_out:
        pairs = keys_of(column).astype(np.uint64) << _HALF | np.arange(len(column), dtype=np.uint64)
        pairs.sort()
        return np.asarray(pairs[are_shared(pairs) & may[pairs & _LOW]])
    answers = np.flatnonzero(may).astype(np.uint64)
    pairs = keys_of(column[answers]).astype(np.uint64) << _HALF | answers
    pairs.sort()
    return pairs


def are_shared(pairs: Pairs) -> npt.NDArray[np.bool_]:
    """Mark the pairs whose key occurs in another pair."""
    same = (pairs[1:] >> _HALF) == (pairs[:-1] >> _HALF)
    return np.append(same, False) | np.append(False, same) if len(pairs) else np.zeros(0, np.bool_)


def count_lists(pairs: Pairs) -> int:
    """Return how many different keys pairs have."""
    return int(np.count_nonzero((pairs[1:] >> _HALF) != (pairs[:-1] >> _HALF))) + 1 if len(pairs) else 0


def _sign(kin: Kin, maker: Maker, writer: KinWriter, progress: Progress, threads: int) -> Array:
    """Sign every bag, write the signatures as `signature.rows` and return them, (documents, m)."""
    bags = Bags(kin)
    offsets = np.asarray(bags.offsets, dtype=np.int64)
    hashes = np.array(bags.hashes)
    stored = writer.create("signature.rows", np.uint32)

    def sign(first: int, last: int) -> Array:
        part = slice(int(offsets[first]), int(offsets[last]))
        return maker.sign_bags(
            np.array(bags.terms[part]), np.array(bags.weights[part]),
            offsets[first : last + 1] - part.start, hashes,
        )  # fmt: skip

    entries = writer.memory.items(_BATCH_ENTRIES, _ENTRY_BYTES)
    for (_first, last), rows in map_in_order(threads, sign, batch_ranges(offsets, entries)):
        stored.append(rows.reshape(-1))
        progress("signing", last / (len(offsets) - 1))
    return stored.mapped().reshape(-1, maker.m)
