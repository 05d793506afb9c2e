"""Writing the index: every bag's signature (H) and, per position, the documents in order of their value (I)."""

from typing import Any

import numpy as np

from pagekin.bags import Bags, Strategy
from pagekin.similarity.makers import Maker, make_maker
from pagekin.store import Array, Kin, KinWriter, Progress, batch_ranges, map_in_order, no_progress, smallest_uint

_BATCH_ENTRIES = 1 << 20
_ENTRY_BYTES = 24
"""Bytes that an entry of a bag, and its share of the signatures, takes while it is signed."""
_BATCH_POSITIONS = 16
_DOCUMENT_BYTES = 24
"""Bytes that a document takes in the lists of one position while these are made."""


def make_index(
    kin: Kin, strategy: Strategy, writer: KinWriter, progress: Progress = no_progress, threads: int = 1
) -> dict[str, Any]:
    """Write the `signature.rows` and `list.*` arrays for the bags of `kin`; give the facts about them.

    `signature.rows` is the paper's H: m values for each document in order. `list.docs` is I: for each position the
    documents in order of their value there; `list.keys` are the distinct values of all positions in order,
    `list.starts` where each one's documents begin, `list.positions` where each position's keys begin.
    """
    maker = make_maker(strategy.signature)
    progress("signing", 0.0)
    rows = _sign(kin, maker, writer, progress, threads)
    return _write_lists(rows, Bags(kin).inlinks, strategy, writer, progress, threads)


def cut_index(
    kin: Kin, first: int, last: int, strategy: Strategy, writer: KinWriter, threads: int = 1
) -> dict[str, Any]:
    """Write the signatures of the documents `first` to `last` of a collection, and lists of them; give the facts."""
    rows = np.asarray(kin["signature.rows"]).reshape(-1, make_maker(strategy.signature).m)[first:last]
    stored = writer.create("signature.rows", np.uint32)
    for start, stop in batch_ranges(np.arange(len(rows) + 1) * rows.shape[1], _BATCH_ENTRIES):
        stored.append(np.asarray(rows[start:stop]).reshape(-1))
    return _write_lists(rows, Bags(kin).inlinks[first:last], strategy, writer, no_progress, threads)


def _write_lists(
    rows: Array, inlinks: Array, strategy: Strategy, writer: KinWriter, progress: Progress, threads: int
) -> dict[str, Any]:
    m = rows.shape[1]
    answers = np.flatnonzero(inlinks >= strategy.signature.min_inlinks).astype(np.uint64)
    docs = writer.create("list.docs", np.uint32)
    keys = writer.create("list.keys", np.uint32)
    starts = writer.create("list.starts", smallest_uint(len(answers) * m))
    positions = [0]
    progress("lists", 0.0)
    step = writer.memory.items(_BATCH_POSITIONS, _DOCUMENT_BYTES * max(len(answers), 1))
    blocks = [(j, min(j + step, m)) for j in range(0, m, step)]
    for _block, lists in map_in_order(threads, lambda first, last: _lists(rows, answers, first, last), blocks):
        for ordered, values, begins in lists:
            starts.append(begins + docs.length)
            docs.append(ordered)
            keys.append(values)
            positions.append(keys.length)
        progress("lists", (len(positions) - 1) / m)
    starts.append(np.array([docs.length], dtype=np.int64))
    writer.put("list.positions", np.array(positions, dtype=np.int64))
    return {"answers": len(answers), "lists": positions[-1]}


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


def _lists(rows: Array, answers: Array, first: int, last: int) -> list[tuple[Array, Array, Array]]:
    """Return (documents by value, distinct values, where each value's documents begin) of some positions."""
    lists = []
    for column in np.ascontiguousarray(rows[:, first:last].T):
        pairs = column[answers].astype(np.uint64) << np.uint64(32) | answers
        pairs.sort()
        values = (pairs >> np.uint64(32)).astype(np.uint32)
        fresh = np.ones(len(values), dtype=np.bool_)
        fresh[1:] = values[1:] != values[:-1]
        documents = (pairs & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        lists.append((documents, values[fresh], np.flatnonzero(fresh)))
    return lists
