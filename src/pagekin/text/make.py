"""Making the full-text index of a corpus: forms, postings, and tantivy's folder for phrases."""

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import WORD_ARRAYS, Attribute, Corpus, check_corpus
from pagekin.store import KinError, KinWriter, batch_ranges, map_in_order, open_kin, pack_strings, smallest_uint
from pagekin.text.analysis import ANALYSER, Forms, form_table
from pagekin.text.index import FOLDER, TEXT_ARRAYS
from pagekin.text.query import ATTRIBUTES

Array = npt.NDArray[Any]
Progress = Callable[[str, float], None]
_BATCH_WORDS = 1 << 20
_ENTRIES_AT_ONCE = 1 << 24
_HEAP = 48_000_000
"""Bytes that tantivy may fill, per thread, before it writes a segment."""
_REPORT = 64


def make_text(
    writer: KinWriter, corpus: Corpus, progress: Progress = lambda _s, _p: None, threads: int = 0
) -> dict[str, Any]:
    """Write the full-text index of a corpus; the facts to add to the manifest."""
    from pagekin.hypertext import default_workers

    threads = min(threads or default_workers(), default_workers())
    forms = form_table(corpus, lambda share: progress("forms", share))
    data, offsets = pack_strings([name.encode() for name in forms.names])
    writer.put("form.bytes", data)
    writer.put("form.offsets", offsets.astype(smallest_uint(int(offsets[-1]))))
    writer.put("form.of_term", forms.of_term)
    entries = _make_postings(writer, corpus, forms, progress, threads)
    _make_phrases(writer.create_folder(FOLDER), corpus, forms, progress, threads)
    facts = {
        "analyser": ANALYSER,
        "pages": len(corpus),
        "forms": len(forms.names),
        "postings": entries,
        "corpus": {name: _checksum(np.asarray(corpus.kin[name])) for name in WORD_ARRAYS},
    }
    return {"text": facts}


def add_text_index(path: Path, progress: Progress = lambda _s, _p: None, threads: int = 0) -> dict[str, Any]:
    """Add the full-text index to a collection, in place of the one that it may have; its facts. No page is read again."""
    open_kin(path)  # a folder that is no collection is refused, not made
    with KinWriter(path, "pagekin text") as writer:
        corpus = Corpus.open(path)
        kin = corpus.kin
        # Compiled code does not look where it reads, so damage would end it without a word.
        if damage := next(check_corpus(kin), None):
            raise KinError(f"{path} is damaged: {damage.where} {damage.what}. Run: pagekin check {path}")
        facts = make_text(writer, corpus, progress, threads)
        kept = {name: entry for name, entry in kin.manifest["files"].items() if not name.startswith(TEXT_ARRAYS)}
        writer.commit({**kin.facts, **facts}, keep=kept)
    return facts


def _checksum(values: Array) -> str:
    """The checksum that the manifest will hold for an array."""
    return hashlib.blake2b(values.view(np.uint8).data, digest_size=16).hexdigest()


# -- postings -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Spill:
    """Counted forms in the order of pages, in temporary files."""

    folder: Path
    pages: list[tuple[int, int, Array]]
    """Per batch: its first page, how many entries it has, and where the entries of each page end."""

    def batches(self) -> Iterator[tuple[Array, Array, Array, Array]]:
        """(forms, attributes, counts, pages) of each batch."""
        with (
            (self.folder / "forms").open("rb") as forms,
            (self.folder / "attributes").open("rb") as attributes,
            (self.folder / "counts").open("rb") as counts,
        ):
            for first, entries, ends in self.pages:
                yield (
                    np.frombuffer(forms.read(4 * entries), np.uint32),
                    np.frombuffer(attributes.read(entries), np.uint8),
                    np.frombuffer(counts.read(entries), np.uint8),
                    np.repeat(np.arange(first, first + len(ends)), np.diff(ends, prepend=0)),
                )


def _make_postings(writer: KinWriter, corpus: Corpus, forms: Forms, progress: Progress, threads: int) -> int:
    """Write the postings, form after form, and give their number. Memory is bounded: they are sorted a range at a time."""
    from pagekin.text._kernels.postings import place

    with tempfile.TemporaryDirectory(prefix="postings-", dir=writer.work) as name:
        found = _Spill(Path(name), [])
        sizes = _count(found, corpus, forms, progress, threads)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        total = int(offsets[-1])
        page_kind = smallest_uint(max(len(corpus) - 1, 0))
        stored = (
            writer.create("posting.page", page_kind),
            writer.create("posting.attributes", np.uint8),
            writer.create("posting.count", np.uint8),
        )
        put: Any = place
        for first, last in batch_ranges(offsets, _ENTRIES_AT_ONCE) if total else []:
            begin = offsets[first:last] - offsets[first]
            room = int(offsets[last] - offsets[first])
            made = (np.empty(room, page_kind), np.empty(room, np.uint8), np.empty(room, np.uint8))
            for entries in found.batches():
                put(*entries, first, last, begin, *made)
            for file, values in zip(stored, made, strict=True):
                file.append(values)
            progress("postings", 0.5 + 0.5 * int(offsets[last]) / total)
    writer.put("posting.offsets", offsets.astype(smallest_uint(total)))
    return total


def _count(into: _Spill, corpus: Corpus, forms: Forms, progress: Progress, threads: int) -> npt.NDArray[np.int64]:
    """Count the forms of all pages into temporary files; how many entries each form has."""
    from pagekin.text._kernels.postings import count_forms

    kin = corpus.kin
    count: Any = count_forms
    tokens, rares, marks = (np.asarray(kin[f"page.{name}"], np.int64) for name in ("tokens", "rare", "marks"))

    def part(first: int, last: int) -> tuple[Array, Array, Array, Array]:
        here = slice(first, last + 1)
        room = int(tokens[last] - tokens[first])
        made = (np.empty(room, np.uint32), np.empty(room, np.uint8), np.empty(room, np.uint8))
        ends = np.zeros(last - first, np.int64)
        n = count(
            np.asarray(kin["stream.words"][tokens[first] : tokens[last]]),
            np.array(kin["stream.rare"][rares[first] : rares[last]], np.uint32),
            np.asarray(kin["mark.gap"][marks[first] : marks[last]]),
            np.asarray(kin["mark.kind"][marks[first] : marks[last]]),
            tokens[here] - tokens[first], rares[here] - rares[first], marks[here] - marks[first],
            forms.of_term, *made, ends,
        )  # fmt: skip
        return made[0][:n], made[1][:n], made[2][:n], ends

    sizes = np.zeros(len(forms.names), np.int64)
    with (
        (into.folder / "forms").open("wb") as form_file,
        (into.folder / "attributes").open("wb") as attribute_file,
        (into.folder / "counts").open("wb") as count_file,
    ):
        for (first, last), (numbers, attributes, counts, ends) in map_in_order(
            threads, part, batch_ranges(tokens, _BATCH_WORDS)
        ):
            sizes += np.bincount(numbers, minlength=len(sizes))
            form_file.write(numbers.data)
            attribute_file.write(attributes.data)
            count_file.write(counts.data)
            into.pages.append((first, len(numbers), ends))
            progress("postings", 0.5 * last / len(corpus))
    return sizes


# -- phrases ------------------------------------------------------------------------------------------------------------


def _make_phrases(folder: Path, corpus: Corpus, forms: Forms, progress: Progress, threads: int) -> None:
    """Write tantivy's index: one document per page, the forms under each attribute in their order."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    for name in ATTRIBUTES:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="position")
    builder.add_unsigned_field("page", fast=True)
    names = np.array(forms.names, dtype=object)[forms.of_term] if forms.names else np.zeros(0, object)
    try:
        index = tantivy.Index(builder.build(), path=str(folder))
        helpers = max(threads - 1, 1)  # this thread is as busy as any of them
        writer = index.writer(heap_size=_HEAP * helpers, num_threads=helpers)
        for page in range(len(corpus)):
            document = tantivy.Document()
            document.add_unsigned("page", page)
            for name, text in _fields(corpus, page, names):
                document.add_text(name, text)
            writer.add_document(document)
            if page % _REPORT == 0:
                progress("phrases", page / len(corpus))
        writer.commit()
        writer.wait_merging_threads()
    except ValueError as error:
        number = re.search(r"os error (\d+)", str(error))
        if number:  # as Python tells of it, so that the writer answers a full disk as always
            raise OSError(int(number[1]), os.strerror(int(number[1]))) from error
        raise KinError(f"the full-text index could not be written: {error}.") from error
    for lock in folder.glob("*.lock"):
        lock.unlink()
    progress("phrases", 1.0)


def _fields(corpus: Corpus, page: int, names: Array) -> Iterator[tuple[str, str]]:
    """The forms of a page under each attribute, with spaces between them."""
    stream = corpus.stream(page)
    words = names[stream.words]
    present = int(np.bitwise_or.reduce(stream.attributes, initial=0))
    for name in ATTRIBUTES:
        if present & Attribute[name.upper()]:
            under = (stream.attributes & Attribute[name.upper()]) != 0
            yield name, " ".join(words[under].tolist())


text_collection = add_text_index  # old name
