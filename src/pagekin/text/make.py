"""Make the full-text index of a corpus: forms, postings, and bounds of what frequent forms add to scores."""

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import WORD_ARRAYS, Corpus, DecodedPage
from pagekin.store import KinWriter, batch_ranges, map_in_order, smallest_uint
from pagekin.text.analysis import ANALYSER, Forms, form_table
from pagekin.text.link_texts import LinkTexts, VisitingTexts, put_link_texts
from pagekin.text.openings import put_openings
from pagekin.text.scoring import LONGEST_NARROW, PAGES_OF_RANGE, Bounds, Postings, corpus_lengths

Array = npt.NDArray[Any]
Progress = Callable[[str, float], None]
_BATCH_WORDS = 1 << 20
_ENTRIES_AT_ONCE = 1 << 24
_ENTRY_BYTES = 6
"""Bytes counted per entry: half of its real size, because a single thread sorts them."""
_BOUNDS_AT_ONCE = 1 << 16
"""Bounds that are written together: in a small collection a form has few."""
_FREQUENT = 2
"""Entries per range of pages from which a form has stored bounds; searches read the entries of rarer forms."""


def make_text(
    writer: KinWriter, corpus: Corpus, progress: Progress = lambda _s, _p: None, threads: int = 0,
    link_texts: LinkTexts | VisitingTexts | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Write the full-text index of a corpus; return the facts to add to the manifest.

    What pages are called by links is found in the corpus, unless `link_texts` tells it: links may stand in other shards.
    """
    from pagekin.hypertext import default_workers

    threads = min(threads or default_workers(), default_workers())
    forms = _put_forms(writer, corpus, progress)
    entries = _make_postings(writer, corpus, forms, link_texts, progress, threads)
    return {"text": {**_facts(corpus, forms), "postings": entries}}


def _put_forms(writer: KinWriter, corpus: Corpus, progress: Progress) -> Forms:
    """Write the forms of a corpus's terms, and return them."""
    forms = form_table(corpus, lambda share: progress("forms", share))
    writer.put("form.bytes", forms.table.data)
    writer.put("form.offsets", forms.table.offsets.astype(smallest_uint(int(forms.table.offsets[-1]))))
    writer.put("form.of_term", forms.of_term)
    if forms.same is not None:
        writer.put("form.same", forms.same)
    return forms


def _facts(corpus: Corpus, forms: Forms) -> dict[str, Any]:
    return {
        "analyser": ANALYSER,
        "pages": len(corpus),
        "forms": len(forms),
        "corpus": {name: _checksum(np.asarray(corpus.kin[name])) for name in WORD_ARRAYS},
    }


def _checksum(values: Array) -> str:
    """Return the checksum that the manifest will hold for an array."""
    return hashlib.blake2b(values.view(np.uint8).data, digest_size=16).hexdigest()


# -- postings -----------------------------------------------------------------------------------------------------------


class Entries(NamedTuple):
    """Forms counted on pages, in the order of pages."""

    form: npt.NDArray[np.uint32]
    attributes: npt.NDArray[np.uint8]
    counts: npt.NDArray[np.uint8]
    where: npt.NDArray[np.uint16]
    """Positions of words, as in `Places`."""


class Columns(NamedTuple):
    """The stored columns of some forms' postings, as in `Postings` and `Places`."""

    page: Array
    attributes: Array
    counts: Array
    where: Array


class _Spill:
    """Entries in the order of pages, in a temporary file."""

    def __init__(self, file: IO[bytes], forms: int, lengths: npt.NDArray[np.int32]) -> None:
        self._file, self._lengths = file, lengths
        self._batches: list[tuple[int, Array, list[tuple[np.dtype[Any], int]]]] = []
        """Per batch: its first page, where the entries of each page end, and the types and lengths of its arrays."""
        self.entries = np.zeros(forms, np.int64)
        """How many entries each form has."""
        self.places = np.zeros(forms, np.int64)
        """How many numbers the positions of each form take."""

    def append(self, first: int, batch: Entries, ends: Array) -> None:
        """Add the entries of the pages from `first` on."""
        self._batches.append((first, ends, [(values.dtype, len(values)) for values in batch]))
        np.add.at(self.entries, batch.form, 1)
        wide = self._lengths[self._pages(first, ends)] > LONGEST_NARROW
        np.add.at(self.places, batch.form, np.where(wide, 2, 1) * batch.counts)
        for values in batch:
            self._file.write(values.data)

    @staticmethod
    def _pages(first: int, ends: Array) -> Array:
        """Return the page of each entry."""
        return np.repeat(np.arange(first, first + len(ends)), np.diff(ends, prepend=0))

    def batches(self) -> Iterator[tuple[Entries, Array, Array]]:
        """Yield (entries, the page of each entry, the length of that page) of each batch."""
        self._file.seek(0)
        for first, ends, stored in self._batches:
            pages = self._pages(first, ends)
            entries = Entries(*(np.fromfile(self._file, kind, length) for kind, length in stored))
            yield entries, pages, self._lengths[pages]


def _make_postings(
    writer: KinWriter, corpus: Corpus, forms: Forms, link_texts: LinkTexts | VisitingTexts | None, progress: Progress,
    threads: int,
) -> int:  # fmt: skip
    """Write the postings, form after form; return their number. Memory is bounded: they are sorted a range of forms at a time."""
    from pagekin.text._kernels.postings import place_entries

    kinds: list[Any] = [smallest_uint(max(len(corpus) - 1, 0)), np.uint8, np.uint8, np.uint16]
    names, lengths = ("page", "attributes", "count", "where"), corpus_lengths(corpus)
    files = [writer.create(f"posting.{name}", kind) for name, kind in zip(names, kinds, strict=True)]
    with tempfile.TemporaryFile(prefix="postings-", dir=writer.work) as file:
        spill = _Spill(file, len(forms), lengths[0])
        for first, (entries, ends) in _count(corpus, forms, threads):
            spill.append(first, entries, ends)
            progress("postings", 0.5 * (first + len(ends)) / len(corpus))
        offsets, places = (np.concatenate([[0], np.cumsum(sizes)]) for sizes in (spill.entries, spill.places))
        total = int(offsets[-1])
        at_once = writer.memory.items(_ENTRIES_AT_ONCE, _ENTRY_BYTES)
        for first, last in batch_ranges(offsets, at_once) if total else []:
            begin, where_begin = (starts[first : last + 1] - starts[first] for starts in (offsets, places))
            room = (*[begin[-1]] * 3, where_begin[-1])
            columns = Columns(*(np.empty(length, kind) for length, kind in zip(room, kinds, strict=True)))
            next_entry, next_place = begin.copy(), where_begin.copy()
            for batch in spill.batches():
                place_entries(*batch, first, last, next_entry, next_place, columns)
            for stored, values in zip(files, columns, strict=True):
                stored.append(values)
            progress("postings", 0.5 + 0.5 * int(offsets[last]) / total)
    page, attributes, counts, _where = (stored.mapped() for stored in files)
    called = put_link_texts(writer, corpus, forms, link_texts)
    openings = put_openings(writer, corpus, forms, threads)
    _put_bounds(writer, Postings(page, attributes, counts, *lengths, *called, *openings), offsets)
    writer.put("posting.offsets", offsets.astype(smallest_uint(total)))
    writer.put("posting.where_offsets", places.astype(smallest_uint(int(places[-1]))))
    return total


def _count(corpus: Corpus, forms: Forms, threads: int) -> Iterator[tuple[int, tuple[Entries, Array]]]:
    """Yield, for each batch of pages, its first page, all entries, and the end of each page's entries."""
    from pagekin.text._kernels.postings import count_forms

    def count_batch(first: int, last: int) -> tuple[Entries, Array]:
        streams = corpus.stream_batch(first, last)
        lengths = np.diff(streams.tokens)
        room = [len(streams.words)] * 3 + [len(streams.words) + int(lengths[lengths > LONGEST_NARROW].sum())]
        entries = Entries(*map(np.empty, room, (np.uint32, np.uint8, np.uint8, np.uint16)))
        ends = np.zeros(last - first, np.int64)
        n = count_forms(streams, DecodedPage.for_longest(streams), forms.of_term, *entries, ends)
        return Entries(entries.form[:n], entries.attributes[:n], entries.counts[:n], entries.where), ends

    batches = batch_ranges(corpus.pages.tokens, _BATCH_WORDS)
    for (first, _last), counted in map_in_order(threads, count_batch, batches):
        yield first, counted


def _put_bounds(writer: KinWriter, postings: Postings, offsets: Array) -> None:
    """Write the most that frequent forms can add to scores in each range of pages, given the starts of their entries."""
    from pagekin.text._kernels.postings import bound_form

    ranges = -(-len(postings.words) // PAGES_OF_RANGE)
    kinds = (np.uint8, np.uint16, np.uint8)
    files = [writer.create(f"posting.bound_{name}", kind) for name, kind in zip(Bounds._fields, kinds, strict=True)]
    frequent = np.flatnonzero(np.diff(offsets) >= _FREQUENT * ranges)
    at_once = max(1, _BOUNDS_AT_ONCE // max(ranges, 1))
    pages = []
    for first in range(0, len(frequent), at_once):
        some = frequent[first : first + at_once]
        tables = [np.empty((len(some), ranges), kind) for kind in kinds]
        for begin, end, *rows in zip(offsets[some].tolist(), offsets[some + 1].tolist(), *tables, strict=True):
            pages.append(bound_form(postings, begin, end, *rows))
        for file, table in zip(files, tables, strict=True):
            file.append(table.reshape(-1))
    writer.put("posting.bound_form", frequent.astype(np.uint32))
    writer.put("posting.bound_pages", np.array(pages, np.uint32))
