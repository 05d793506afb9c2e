"""Merge sorted lists of byte strings, a few lists at a time, so that few files are open."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext._kernels.strings import AHEAD, gather_strings, merge_strings
from pagekin.store import Array, Workspace

FAN_IN = 64
"""Lists that are merged at a time; each takes two open files."""
PIECE_STRINGS = 1 << 14
PIECE_BYTES = 1 << 20


class StringList(NamedTuple):
    """A sorted list of distinct strings in files."""

    data: Path
    """The strings end to end. If AHEAD bytes do not follow them, they are added: the kernel reads ahead."""
    offsets: Path
    """Where each string begins in `data`, and where the last one ends; int64."""
    ids: Array
    """(strings), uint32: becomes the place of each string among the distinct strings of all lists."""


class Strings(NamedTuple):
    """Byte strings, mapped from files: string i is data[starts[i]:starts[i + 1]]."""

    data: Array
    starts: npt.NDArray[np.int64]


def gather_pieces(data: Array, starts: Array, order: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the strings that `order` names, in pieces of (data, ends)."""
    for first in range(0, len(order), PIECE_STRINGS):
        some = order[first : first + PIECE_STRINGS]
        ends = np.empty(len(some), dtype=np.int64)
        piece = np.empty(int((starts[some + 1] - starts[some]).sum()), dtype=np.uint8)
        gather_strings(data, starts, some, piece, ends)
        yield piece, ends


def merge_lists(lists: list[StringList], room: Workspace) -> Strings:
    """Return the distinct strings of all lists in sorted order; the lists' `ids` are set.

    Lists are mapped, not read: the system keeps as much of them in memory as it likes.
    """
    merged = _merge_in_groups(lists, room)
    os.truncate(merged.data, merged.data.stat().st_size + AHEAD)  # no empty file can be mapped
    return Strings(np.memmap(merged.data, np.uint8, "r"), np.memmap(merged.offsets, np.int64, "r"))


def _merge_in_groups(lists: list[StringList], room: Workspace) -> StringList:
    """Return one list with the strings of all; if there are many lists, merge groups of them first."""
    if len(lists) <= FAN_IN:
        return _merge_few(lists, room)
    groups = [lists[first : first + FAN_IN] for first in range(0, len(lists), FAN_IN)]
    merged = [_merge_few(group, room) for group in groups]
    whole = _merge_in_groups(merged, room)
    for group, one in zip(groups, merged, strict=True):
        for part in group:
            part.ids[:] = one.ids[part.ids]
        one.data.unlink()
        one.offsets.unlink()
    return whole


def _merge_few(lists: list[StringList], room: Workspace) -> StringList:
    """Return one list, in files of the workspace, with the strings of some; their `ids` become places in it."""
    folder = Path(tempfile.mkdtemp(prefix="strings-", dir=room.folder))
    count = size = 0
    with (folder / "bytes").open("wb") as data, (folder / "offsets").open("wb") as offsets:
        offsets.write(np.zeros(1, np.int64).data)
        for piece, ends in _merge_pieces(lists):
            data.write(piece.data)
            offsets.write((ends + size).data)
            count, size = count + len(ends), size + len(piece)
    return StringList(folder / "bytes", folder / "offsets", room.empty(count, np.uint32))


def _merge_pieces(lists: list[StringList]) -> Iterator[tuple[Array, Array]]:
    """Yield the distinct strings of lists, sorted, in pieces of (data, ends) valid until the next; set each `ids`."""
    kept: list[Array] = []  # what the kernel has the addresses of
    table = np.zeros((len(lists), 4), dtype=np.int64)
    for number, one in enumerate(lists):
        offsets = np.memmap(one.offsets, dtype=np.int64, mode="r")
        if one.data.stat().st_size < (size := int(offsets[-1]) + AHEAD):
            os.truncate(one.data, size)
        arrays: list[Array] = [np.memmap(one.data, dtype=np.uint8, mode="r"), offsets, one.ids]
        kept += arrays
        table[number] = [*(array.ctypes.data for array in arrays), len(one.ids)]
    heap = np.flatnonzero(table[:, 3])
    cursors, state = np.zeros(len(lists), dtype=np.int64), np.array([len(heap), 0], dtype=np.int64)
    data, ends = np.zeros(PIECE_BYTES, dtype=np.uint8), np.zeros(PIECE_STRINGS, dtype=np.int64)
    while state[0]:
        count = merge_strings(table, cursors, heap, state, data, ends)
        if count:
            yield data[: ends[count - 1]], ends[:count]
        else:  # one string that is longer than all this
            data = np.zeros(2 * len(data), dtype=np.uint8)
    del kept
