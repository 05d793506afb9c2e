"""The lists of signatures: bytes for each address and position, time and pages of disk of a question, unpacked and packed.

    python benchmarks/list_sizes.py COLLECTION.kin [--questions 300]

The peer is the plainest form: four bytes for each document, and for each list its value and where it begins, found by binary
search. It holds the same lists. Time is that of finding the lists of a page's signature and reading the shortest, 16,000
documents at most: processor time, warm, the median; both are compiled. Pages are the different pages of 4,096 bytes that this
touches.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from growth import row
from pagekin.bags import choose_strategy
from pagekin.similarity import LIST_ENTRIES, make_index, packed
from pagekin.similarity.packed import FoundLists, PackedLists
from pagekin.store import Kin, KinWriter, open_kin

Numbers = npt.NDArray[np.int64]
_PAGE = 4_096
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


def shortest(lengths: Numbers) -> Numbers:
    """Return the positions of the shortest lists that hold no more documents together than a question reads."""
    order = np.argsort(lengths, kind="stable")
    return order[: max(int(np.searchsorted(np.cumsum(lengths[order]), LIST_ENTRIES, side="right")), 1)]


@dataclass
class PlainLists:
    """The same lists unpacked."""

    docs: list[npt.NDArray[np.uint32]] = field(default_factory=list)
    keys: list[npt.NDArray[np.uint32]] = field(default_factory=list)
    starts: list[npt.NDArray[np.uint32]] = field(default_factory=list)

    def add(self, pairs: npt.NDArray[np.uint64]) -> None:
        """Add the lists of a position."""
        keys = (pairs >> _HALF).astype(np.uint32)
        first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else np.zeros(0, np.int64)
        self.docs.append((pairs & _LOW).astype(np.uint32))
        self.keys.append(keys[first])
        self.starts.append(np.append(first, len(keys)).astype(np.uint32))

    @property
    def size(self) -> int:
        """Return the bytes of all lists."""
        return sum(array.nbytes for arrays in (self.docs, self.keys, self.starts) for array in arrays)

    def pages(self, keys: npt.NDArray[np.uint32]) -> int:
        """Return how many pages finding and reading the lists of a signature's keys touches."""
        spans = self._find(keys)
        pages = sum(2 + int(np.log2(max(own.nbytes / _PAGE, 1))) for own in self.keys)
        for j in shortest(spans[:, 1] - spans[:, 0]).tolist():
            first, last = spans[j].tolist()
            pages += (4 * last - 1) // _PAGE - 4 * first // _PAGE + 1 if last > first else 0
        return pages

    def read(self, keys: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """Return the documents of the shortest lists of a signature's keys."""
        spans = self._find(keys)
        chosen = shortest(spans[:, 1] - spans[:, 0])
        first = self._joined[3][chosen]
        pieces = zip((first + spans[chosen, 0]).tolist(), (first + spans[chosen, 1]).tolist(), strict=True)
        return np.concatenate([self._joined[0][a:b] for a, b in pieces])

    @cached_property
    def _joined(self) -> tuple[Any, ...]:
        """Return (documents, keys, starts, where documents begin, where keys begin) of all positions, one after the other."""
        begins = [np.cumsum([0, *map(len, arrays)])[:-1] for arrays in (self.docs, self.keys)]
        ends = np.cumsum([len(keys) for keys in self.keys])
        joined = [np.concatenate(arrays) for arrays in (self.docs, self.keys, self.starts)]
        return (*joined, begins[0], np.append(begins[1], ends[-1]))

    def _find(self, keys: npt.NDArray[np.uint32]) -> Numbers:
        """Return where the list of each key begins and ends."""
        spans = np.zeros((len(keys), 2), np.int64)
        _docs, every, starts, _first, positions = self._joined
        find_spans(every, starts, positions, keys, spans)
        return spans


@numba.njit
def find_spans(every: Any, starts: Any, positions: Any, keys: Any, spans: Any) -> None:
    """Write where the list of each key begins and ends, by binary search."""
    for j in range(len(keys)):
        low, high = positions[j], positions[j + 1]
        while low < high:
            middle = (low + high) // 2
            if every[middle] < keys[j]:
                low = middle + 1
            else:
                high = middle
        if low < positions[j + 1] and every[low] == keys[j]:
            spans[j, 0], spans[j, 1] = starts[low + j], starts[low + j + 1]


def pages_of(lists: PackedLists, signature: npt.NDArray[np.uint32], found: FoundLists) -> int:
    """Return how many pages finding and reading lists touches."""
    keys = packed.keys_of(signature).astype(np.int64)
    place = np.arange(len(keys)) * ((1 << lists.bucket_bits) + 1) + (keys >> (32 - lists.bucket_bits))
    size = lists.starts.itemsize
    starts = {(page, "starts") for more in (0, 1) for page in ((place + more) * size // _PAGE).tolist()}
    begin, end = (lists.positions[:-1] + lists.starts[place + more].astype(np.int64) for more in (0, 1))
    ends = found.places // 8 + 2 * found.lengths
    spans = [*zip(begin.tolist(), end.tolist(), strict=True)]
    spans += [
        (int(found.widths_at[j]) // 8, int(ends[j])) for j in shortest(found.lengths).tolist() if found.lengths[j] > 126
    ]
    return len(starts | {(page, "") for a, b in spans for page in range(a // _PAGE, max(b - 1, a) // _PAGE + 1)})


def median_time(ask: Callable[[int], object], asked: list[int]) -> float:
    """Return the median processor time of some questions, in microseconds."""
    seconds = []
    for document in asked:
        started = time.process_time_ns()
        ask(document)
        seconds.append(time.process_time_ns() - started)
    return float(np.median(seconds)) / 1_000


def measure(name: str, kin: Kin, folder: Path, leaves_out_from: int, inlinks: int, questions: int, wanted: str) -> None:
    """Print the rows of one choice of what is listed: packed, and unpacked beside it."""
    packed.LEAVES_OUT_FROM = leaves_out_from
    strategy = choose_strategy(settings=[f"signature.min_inlinks={inlinks}"])
    m = strategy.signature.m
    with KinWriter(folder / f"{leaves_out_from}-{inlinks}.kin", "benchmark") as writer:
        facts = make_index(kin, strategy, writer)
        writer.commit({"index": facts})
    made = open_kin(folder / f"{leaves_out_from}-{inlinks}.kin")
    rows = made["signature.rows"].reshape(-1, m)
    lists, plain = PackedLists.of(made, len(rows), compiled=True), PlainLists()
    for j in range(m):
        plain.add(lists.pairs(j))
    asked = np.random.default_rng(7).integers(0, len(rows), questions).tolist()

    def ask(document: int) -> None:
        found = lists.find(rows[document])
        lists.read(found.at(shortest(found.lengths)))

    keys = [packed.keys_of(rows[document]) for document in asked]
    each = dict(zip(asked, keys, strict=True))
    median_time(ask, asked[:10])
    plain.read(keys[0])
    packed_pages = [pages_of(lists, rows[document], lists.find(rows[document])) for document in asked]
    plain_pages = [plain.pages(own) for own in keys]
    size = sum(made.bytes_on_disk[array] for array in made.arrays if array.startswith("list."))
    cells = len(rows) * m
    share = f"{facts['answers']:,}"
    row(
        name,
        "unpacked",
        share,
        f"{plain.size / cells:.2f}",
        "",
        f"{median_time(lambda one: plain.read(each[one]), asked):,.0f}",
        f"{np.mean(plain_pages):,.0f}",
    )
    row(
        name,
        "packed",
        share,
        f"{size / cells:.2f}",
        wanted,
        f"{median_time(ask, asked):,.0f}",
        f"{np.mean(packed_pages):,.0f}",
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", type=Path)
    parser.add_argument("--questions", type=int, default=300)
    options = parser.parse_args()
    kin = open_kin(options.collection)
    row(
        "lists",
        "form",
        "addresses in them",
        "bytes per address and position",
        "wanted",
        "µs per question",
        "pages per question",
    )
    row("---", "---", *["---:"] * 5)
    with tempfile.TemporaryDirectory(dir=options.collection.parent) as folder:
        every = (
            ("all", 1 << 60, 0, ""),
            ("without lists of one", 1, 0, "2.0"),
            ("without lists of one, more than three inlinks", 1, 4, "0.83"),
        )
        for name, leaves_out_from, inlinks, wanted in every:
            measure(name, kin, Path(folder), leaves_out_from, inlinks, options.questions, wanted)


if __name__ == "__main__":
    main()
