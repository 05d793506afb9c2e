"""Parts as records in memory: read, written, and divided by ranges of addresses.

A part is what one process made of some pages (see `part`), so it fits into memory. A part that was divided is several parts:
each page, redirect, revisit and answer that a page is gone goes with its address, and what links to it stays where the link is.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.aliases import Records
from pagekin.hypertext.journal import sign_part
from pagekin.hypertext.part import ANCHOR, CUTS, EXAMPLES, PAGE_ROW, blob_sizes, write_tables
from pagekin.store import Array, Names, RaggedBytes

_COUNTERS = ("skipped", "cut")
_SUMS = ("html_records", "pages", "dropped_links")
_NAMES = ("languages", "archives")
_LARGEST = ("longest_page", "longest_anchor")


class Part(NamedTuple):
    """The files of a part, in memory."""

    about: npt.NDArray[np.uint8]
    """What it says of itself, as JSON."""
    pages: Array
    """(pages): a `PAGE_ROW` each, by address, the newest first."""
    blobs: npt.NDArray[np.uint8]
    words: Names
    urls: Names
    word_counts: npt.NDArray[np.uint64]
    """(words): how often its pages say each."""
    url_counts: npt.NDArray[np.uint64]
    """(addresses): how many of its links lead to each."""
    others: Records

    def facts(self) -> dict[str, Any]:
        """Return the facts of the part."""
        facts: dict[str, Any] = json.loads(self.about.tobytes())
        return facts

    def with_facts(self, facts: Mapping[str, Any]) -> "Part":
        """Return the part with other facts."""
        return self._replace(about=np.frombuffer(json.dumps(facts).encode(), np.uint8))


def read_part(folder: Path) -> Part:
    """Read a part from its files."""

    def strings(name: str) -> Names:
        offsets = np.fromfile(folder / f"{name}.offsets", np.int64)
        return Names(np.fromfile(folder / f"{name}.bytes", np.uint8)[: offsets[-1]], offsets)

    return Part(
        np.fromfile(folder / "about.json", np.uint8), np.load(folder / "pages.npy"),
        map_file(folder / "blobs", np.uint8), strings("words"), strings("urls"),
        np.load(folder / "word_counts.npy"), np.load(folder / "url_counts.npy"),
        Records(*(np.load(folder / f"{name}.npy") for name in Records._fields)),
    )  # fmt: skip


def map_file(file: Path, dtype: npt.DTypeLike) -> Array:
    """Return the numbers in a file, memory-mapped: often only a few of them are read."""
    return np.memmap(file, dtype, "r").view(np.ndarray) if file.stat().st_size else np.zeros(0, dtype)


def write_part(part: Part, folder: Path) -> Path:
    """Write the files of a part into a new folder; return the folder."""
    folder.mkdir()
    (folder / "blobs").write_bytes(part.blobs.data)
    strings = {name: (some.data, some.offsets) for name, some in (("words", part.words), ("urls", part.urls))}
    counts = {"words": part.word_counts, "urls": part.url_counts}
    write_tables(folder, part.pages, strings, counts, part.others._asdict())
    (folder / "about.json").write_bytes(part.about.data)
    sign_part(folder)
    return folder


def names_part(addresses: Names, about: Mapping[str, Any]) -> Part:
    """Return a part that holds no pages, only the given sorted addresses."""
    part = Part(
        np.zeros(0, np.uint8), np.zeros(0, PAGE_ROW), np.zeros(0, np.uint8), Names.of([]), addresses,
        np.zeros(0, np.uint64), np.zeros(len(addresses.offsets) - 1, np.uint64),
        Records(*(np.zeros((0, 3), np.int64) for _ in Records._fields)),
    )  # fmt: skip
    return part.with_facts({**about, "pages": 0})


def take_records(part: Part, pages: Array, others: Records, unlinked: npt.NDArray[np.bool_] | None = None) -> Part:
    """Return a part with some records of another, without links to the addresses that `unlinked` marks.

    Words and addresses are numbered anew, those that nothing names are forgotten. Facts that are not counted from the pages
    that are left stay as they were.
    """
    rows = pages.copy()
    blobs = _read_blobs(part.blobs, rows)
    if unlinked is not None:
        blobs = [blob._replace(anchors=blob.anchors[~unlinked[blob.anchors["target"]]]) for blob in blobs]
        rows["anchors"] = [len(blob.anchors) for blob in blobs]
    tokens = np.concatenate([np.zeros(0, "<u4"), *(blob.tokens for blob in blobs)])
    counts = np.bincount(tokens, minlength=len(part.words.offsets) - 1)
    words = np.flatnonzero(counts)
    word_counts, tokens = counts[words], (np.cumsum(counts > 0) - 1)[tokens]
    anchors = np.concatenate([np.zeros(0, ANCHOR), *(blob.anchors for blob in blobs)])
    claims = rows["canonical"] >= 0
    named = (anchors["target"], rows["url"], rows["canonical"][claims], *(table[:, :2].ravel() for table in others))
    urls = np.unique(np.concatenate([places.astype(np.int64) for places in named]))
    anchors["target"] = np.searchsorted(urls, anchors["target"])
    rows["url"] = np.searchsorted(urls, rows["url"])
    rows["canonical"][claims] = np.searchsorted(urls, rows["canonical"][claims])
    others = Records(*(np.column_stack([np.searchsorted(urls, table[:, :2]), table[:, 2]]) for table in others))
    tokens_of = np.split(tokens.astype("<u4"), np.cumsum(rows["tokens"], dtype=np.int64))
    anchors_of = np.split(anchors, np.cumsum(rows["anchors"], dtype=np.int64))
    pieces = (
        (own_tokens.tobytes(), blob.marks, own_anchors.tobytes(), blob.texts)
        for own_tokens, own_anchors, blob in zip(tokens_of, anchors_of, blobs, strict=False)
    )
    facts = _count_pages(part.facts(), rows, anchors)
    rows["blob"] = np.cumsum(blob_sizes(rows)) - blob_sizes(rows)
    taken = Part(
        part.about, rows, np.frombuffer(b"".join(chain.from_iterable(pieces)), np.uint8), _choose(part.words, words),
        _choose(part.urls, urls), word_counts.astype(np.uint64),
        np.bincount(anchors["target"], minlength=len(urls)).astype(np.uint64), others,
    )  # fmt: skip
    return taken.with_facts(facts)


def divide_part(part: Part, first_addresses: Sequence[bytes]) -> list[Part]:
    """Divide a part by address; `first_addresses` are the first addresses of all ranges after the first.

    What a part counts besides its pages, such as skipped records, goes with the first range.
    """
    table = RaggedBytes(*part.urls)
    bounds = [0, *map(table.nearest, first_addresses), len(table)]
    divided = []
    for number, (low, high) in enumerate(pairwise(bounds)):

        def own(places: Array, low: int = low, high: int = high) -> npt.NDArray[np.bool_]:
            return np.asarray((places >= low) & (places < high))

        others = Records(*(table[own(table[:, 0])] for table in part.others))
        taken = take_records(part, part.pages[own(part.pages["url"])], others)
        if number:
            none = {"skipped": {}, "html_records": 0, "dropped_links": 0, "damaged_examples": []}
            taken = taken.with_facts(taken.facts() | none)
        divided.append(taken)
    return divided


def sum_abouts(abouts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up the facts of parts: sums, maxima, all languages and archives, the first damaged records.

    The result is of the same kind, so sums can be added up again, in any order.
    """
    every = list(abouts)
    return {
        **{name: dict(sum((Counter(about[name]) for about in every), Counter[str]())) for name in _COUNTERS},
        **{name: sum(about[name] for about in every) for name in _SUMS},
        **{name: max((about[name] for about in every), default=0) for name in _LARGEST},
        **{name: sorted({one for about in every for one in about[name]}) for name in _NAMES},
        "damaged_examples": sorted({example for about in every for example in about["damaged_examples"]})[:EXAMPLES],
    }


class _Blob(NamedTuple):
    """A page's blob in four pieces; `texts` is everything after the anchors."""

    tokens: Array
    marks: bytes
    anchors: Array
    texts: bytes


def _read_blobs(blobs: npt.NDArray[np.uint8], rows: Array) -> list[_Blob]:
    """Return the blobs of some pages."""
    begins = rows["blob"].astype(np.int64)
    cuts = [*(begins + blob_sizes(rows, piece) for piece in ("tokens", "marks", "anchors", "text"))]
    pieces = []
    for tokens, marks, anchors, text, end in np.column_stack([*cuts, begins + blob_sizes(rows)]).tolist():
        data = blobs[tokens:end].tobytes()
        marks, anchors, text = marks - tokens, anchors - tokens, text - tokens
        pieces.append(
            _Blob(
                np.frombuffer(data[:marks], "<u4"), data[marks:anchors],
                np.frombuffer(data[anchors:text], ANCHOR), data[text:],
            )
        )  # fmt: skip
    return pieces


def _choose(names: Names, places: Array) -> Names:
    """Return the strings at the given places."""
    return Names(*RaggedBytes(*names).take(places))


def _count_pages(about: dict[str, Any], rows: Array, anchors: Array) -> dict[str, Any]:
    """Return the facts of a part when only these pages are left; languages and archives are renumbered."""
    spoken, archives = (sorted({0, *rows[name].tolist()}) for name in ("language", "archive"))  # 0, '', is always there
    rows["language"] = np.searchsorted(spoken, rows["language"])
    rows["archive"] = np.searchsorted(archives, rows["archive"])
    cut = {name: int(np.count_nonzero(rows["flags"] & flag)) for flag, name in CUTS.items()}
    return about | {
        "cut": +Counter(cut),
        "pages": len(rows),
        "languages": [about["languages"][place] for place in spoken],
        "archives": [about["archives"][place] for place in archives],
        "longest_page": int(rows["tokens"].max(initial=0)),
        "longest_anchor": int(anchors["length"].max(initial=0)),
    }
