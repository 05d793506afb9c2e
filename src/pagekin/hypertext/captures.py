"""Captures: dated addresses of pages and other records, without their words, which can be divided by address.

Which captures become pages, and which addresses are aliases, is decided from these alone (see `choosing`).
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.aliases import Moves, Records
from pagekin.hypertext.part import blob_sizes
from pagekin.hypertext.part_records import Part
from pagekin.store import Array, Names, RaggedBytes, union_strings

CAPTURE = np.dtype(
    [("url", "<i8"), ("date", "<i8"), ("digest", "<u8"), ("tokens", "<i8"), ("canonical", "<i8"), ("title", "<i8")]
)
"""A captured page: addresses are places among the names; `canonical` is -1 for none; `title` a hash, for claims."""


class Captures(NamedTuple):
    """Captured pages and other records of some addresses, in any order."""

    names: Names
    """The addresses that they name, in order."""
    pages: Array
    """(pages): a `CAPTURE` each."""
    others: Records

    def moves(self, addresses: Array) -> list[Moves]:
        """Return (redirects, revisits, missing pages); `addresses` are the names as an array."""
        return [Moves(addresses[table[:, 0]], addresses[table[:, 1]], table[:, 2]) for table in self.others]


def list_captures(part: Part) -> Captures:
    """Return the captures in a part."""
    rows = part.pages
    pages = np.zeros(len(rows), CAPTURE)
    for name in ("url", "date", "digest", "tokens", "canonical"):
        pages[name] = rows[name]
    begins = rows["blob"].astype(np.int64) + blob_sizes(rows, "title")
    for place in np.flatnonzero(rows["canonical"] >= 0).tolist():
        title = part.blobs[begins[place] : begins[place] + int(rows["title"][place])].tobytes()
        hashed = hashlib.blake2b(title, digest_size=8).digest()
        pages["title"][place] = int.from_bytes(hashed, "little", signed=True)
    return _take(RaggedBytes(*part.urls), pages, part.others)


def divide_captures(captures: Captures, first_addresses: Sequence[bytes]) -> list[Captures]:
    """Divide captures by address; `first_addresses` are the first addresses of all ranges after the first."""
    names = RaggedBytes(*captures.names)
    bounds = [0, *map(names.nearest, first_addresses), len(names)]

    def own(places: Array, low: int, high: int) -> npt.NDArray[np.bool_]:
        return np.asarray((places >= low) & (places < high))

    return [
        _take(
            names,
            captures.pages[own(captures.pages["url"], low, high)],
            Records(*(table[own(table[:, 0], low, high)] for table in captures.others)),
        )
        for low, high in pairwise(bounds)
    ]


def join_captures(parts: Iterable[Captures]) -> Captures:
    """Join captures, in any order."""
    every = list(parts)
    names, places = union_strings([RaggedBytes(*one.names) for one in every])
    pages = [np.zeros(0, CAPTURE)]
    others: list[list[Array]] = [[np.zeros((0, 3), np.int64)] for _ in Records._fields]
    for one, place in zip(every, places, strict=True):
        pages.append(_renumber(one.pages, place.__getitem__))
        for tables, table in zip(others, one.others, strict=True):
            tables.append(np.column_stack([place[table[:, :2]], table[:, 2]]))
    joined = np.concatenate(pages)
    order = np.lexsort((joined["digest"], -joined["date"], joined["url"]))
    records = Records(*(np.unique(np.concatenate(tables), axis=0) for tables in others))
    return Captures(Names(names.data, names.offsets), joined[order], records)


def _take(names: RaggedBytes, pages: Array, others: Records) -> Captures:
    """Return some captures, with only the names that they use."""
    claims = pages["canonical"][pages["canonical"] >= 0]
    used = np.unique(np.concatenate([pages["url"], claims, *(table[:, :2].ravel() for table in others)]))
    tables = Records(*(np.column_stack([np.searchsorted(used, table[:, :2]), table[:, 2]]) for table in others))
    pages = _renumber(pages, lambda places: np.searchsorted(used, places))
    return Captures(Names.of(names[name] for name in used.tolist()), pages, tables)


def _renumber(pages: Array, find: Callable[[Array], Array]) -> Array:
    """Return pages with their address numbers replaced."""
    pages = pages.copy()
    pages["url"] = find(pages["url"])
    claims = pages["canonical"] >= 0
    pages["canonical"][claims] = find(pages["canonical"][claims])
    return pages
