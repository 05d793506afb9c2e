"""Merge parts to one corpus, in memory that does not grow with it.

Words and URLs of all parts are merged as sorted streams; pages are taken in the order of their URLs and written one
block after another. Nothing here depends on how the pages were divided into parts.
"""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.hypertext._kernels.pages import PART, TOKENS, unpack_pages
from pagekin.hypertext._kernels.strings import AHEAD, gather_strings, merge_strings
from pagekin.hypertext.aliases import choose_pages
from pagekin.hypertext.memory import give_back_memory
from pagekin.hypertext.part import ANCHOR, PAGE_ROW, Tally
from pagekin.hypertext.streams import RARE
from pagekin.hypertext.urls import host_of
from pagekin.store import ArrayFile, KinWriter, RaggedBytes, pack_strings, smallest_uint

Array = npt.NDArray[Any]
_PIECE_STRINGS = 1 << 14
_PIECE_BYTES = 1 << 20
_BLOCK_BYTES = 8 << 20
_INVERT_AT_ONCE = 1 << 20
_SIZES = ("tokens", "marks", "anchors", "text", "title", "snippet", "part")
"""The columns of a page's row that tell how its blob is laid out, as `unpack_pages` takes them."""
_BYTES_EACH = np.array([4, 2, ANCHOR.itemsize, 1, 1, 1], dtype=np.int64)


@dataclass
class Part:
    """A written part, open for merging."""

    folder: Path
    about: dict[str, Any] = field(init=False)
    pages: Array = field(init=False)
    word_ids: Array = field(init=False)
    url_ids: Array = field(init=False)
    blobs: int = field(init=False)

    def __post_init__(self) -> None:
        self.about = json.loads((self.folder / "about.json").read_text())
        self.pages = np.load(self.folder / "pages.npy")
        self.word_ids = np.zeros(self._strings("words"), dtype=np.uint32)
        self.url_ids = np.zeros(self._strings("urls"), dtype=np.uint32)
        self.blobs = os.open(self.folder / "blobs", os.O_RDONLY)

    def _strings(self, name: str) -> int:
        return (self.folder / f"{name}.offsets").stat().st_size // 8 - 1

    def blob(self, row: Any) -> bytes:
        """Return one page's bytes."""
        return os.pread(self.blobs, blob_size(row), int(row["blob"]))


def blob_size(row: Any) -> int:
    """Return the length of a page's blob."""
    return int(
        4 * int(row["tokens"]) + 2 * int(row["marks"]) + ANCHOR.itemsize * int(row["anchors"])
        + int(row["text"]) + int(row["title"]) + int(row["snippet"])
    )  # fmt: skip


def _merge_strings(parts: list[Part], name: str, ids: str) -> Iterator[tuple[Array, Array]]:
    """Yield the distinct strings of all parts in sorted order, in pieces of (data, ends); `ids` become places among them.

    What is given is valid until the next piece. Parts' strings are mapped, not read: the system keeps as many of
    them in memory as it likes.
    """
    kept: list[Array] = []  # what the kernel has the addresses of
    lists = np.zeros((len(parts), 4), dtype=np.int64)
    for number, part in enumerate(parts):
        path = part.folder / f"{name}.bytes"
        os.truncate(path, path.stat().st_size + AHEAD)  # the kernel reads ahead, and no empty file can be mapped
        arrays = [
            np.memmap(path, dtype=np.uint8, mode="r"),
            np.memmap(part.folder / f"{name}.offsets", dtype=np.int64, mode="r"),
            getattr(part, ids),
        ]
        kept += arrays
        lists[number] = [*(array.ctypes.data for array in arrays), len(arrays[1]) - 1]
    heap = np.flatnonzero(lists[:, 3])
    cursors, state = np.zeros(len(parts), dtype=np.int64), np.array([len(heap), 0], dtype=np.int64)
    data, ends = np.zeros(_PIECE_BYTES, dtype=np.uint8), np.zeros(_PIECE_STRINGS, dtype=np.int64)
    while state[0]:
        count = merge_strings(lists, cursors, heap, state, data, ends)
        if count:
            yield data[: ends[count - 1]], ends[:count]
        else:  # one string that is longer than all this
            data = np.zeros(2 * len(data), dtype=np.uint8)
    del kept


class _Strings:
    """Byte strings on their way into two arrays of the collection."""

    def __init__(self, file: ArrayFile) -> None:
        self.file = file
        self.count = 0
        self._ends = [np.zeros(1, dtype=np.int64)]

    def add(self, data: Array, ends: Array) -> None:
        """Append strings that lie in `data` one after another."""
        self._ends.append(ends + self.file.length)
        self.file.append(data)
        self.count += len(ends)

    def strings(self) -> RaggedBytes:
        """Return what was added so far."""
        return RaggedBytes(self.file.mapped(), np.concatenate(self._ends))

    def offsets(self) -> Array:
        """Return the strings' offsets, in the smallest type."""
        return np.concatenate(self._ends).astype(smallest_uint(self.file.length))


def merge_parts(
    folders: list[Path],
    writer: KinWriter,
    all_captures: bool,
    progress: Callable[[float], None] = lambda _share: None,
) -> dict[str, Any]:
    """Write the corpus of all parts to `writer`; return the facts about it."""
    parts = [Part(folder) for folder in folders]
    tally = Tally()
    for part in parts:
        tally.add(part.about)
    try:
        return _merge(parts, tally, writer, all_captures, progress)
    finally:
        for part in parts:
            os.close(part.blobs)


def _merge(
    parts: list[Part], tally: Tally, writer: KinWriter, all_captures: bool, progress: Callable[[float], None]
) -> dict[str, Any]:
    urls = _merge_urls(parts, writer)
    url_count = urls.count
    give_back_memory()
    progress(0.15)

    languages = sorted({language for part in parts for language in part.about["languages"]})
    rows = _all_rows(parts, languages)
    titles = _Titles(parts, rows)
    chosen = choose_pages(rows, _pairs(parts, "redirects"), _pairs(parts, "revisits"), url_count, all_captures, titles)
    tally.skipped.update(chosen.left_out)
    kept = rows[chosen.pages]
    writer.put("alias.url", chosen.alias_url.astype(np.uint32))
    writer.put("alias.target", chosen.alias_target.astype(np.uint32))

    term_count = _merge_words(parts, rows, chosen.pages, writer)
    del rows, titles
    give_back_memory()
    progress(0.35)
    facts = _write_pages(parts, kept, chosen.target_of, urls, writer, lambda share: progress(0.35 + 0.5 * share))
    for part in parts:  # their numbers have done their work
        part.word_ids = part.url_ids = np.zeros(0, dtype=np.uint32)
    give_back_memory()
    links = _invert(kept, url_count, writer)
    progress(1.0)
    page_languages: dict[str, int] = {}
    for number, count in enumerate(np.bincount(kept["language"], minlength=len(languages)).tolist()):
        if count:
            page_languages[languages[number] or "unknown"] = count
    return {
        "pages": len(kept),
        "urls": url_count,
        "words": int(kept["tokens"].sum(dtype=np.int64)),
        "terms": term_count,
        "anchors": int(kept["anchors"].sum(dtype=np.int64)),
        "links": links,
        "hosts": facts["hosts"],
        "aliases": len(chosen.alias_url),
        "html_bytes": int(kept["html_bytes"].sum(dtype=np.int64)),
        "html_records": tally.html_records,
        "skipped": dict(sorted(tally.skipped.items())),
        "damaged": tally.damaged,
        "damaged_examples": tally.examples,
        "cut": dict(sorted(tally.cut.items())),
        "links_not_followed": sum(part.about["dropped_links"] for part in parts),
        "languages": page_languages,
        "language_codes": languages,
        "all_captures": all_captures,
    }


def _merge_urls(parts: list[Part], writer: KinWriter) -> _Strings:
    """Write the table of addresses, sorted; parts' `url_ids` become places in it."""
    urls = _Strings(writer.create("url.bytes", np.uint8))
    for data, ends in _merge_strings(parts, "urls", "url_ids"):
        urls.add(data, ends)
    writer.put("url.offsets", urls.offsets())
    return urls


def _all_rows(parts: list[Part], languages: list[str]) -> Array:
    """Return all pages of all parts, with URL and language numbers that hold across parts, and where to find each."""
    rows = np.zeros(sum(len(part.pages) for part in parts), dtype=[*PAGE_ROW.descr, ("part", "<u4")])
    start = 0
    for number, part in enumerate(parts):
        table = rows[start : start + len(part.pages)]
        start += len(part.pages)
        for name in PAGE_ROW.names or ():
            table[name] = part.pages[name]
        table["part"] = number
        table["url"] = part.url_ids[part.pages["url"]]
        aliased = part.pages["canonical"] >= 0
        table["canonical"][aliased] = part.url_ids[part.pages["canonical"][aliased]]
        local = np.array([languages.index(language) for language in part.about["languages"]], dtype=np.uint16)
        table["language"] = local[part.pages["language"]]
        part.pages = part.pages[:0].copy()  # all that follows goes by the table of all pages
    return rows[np.lexsort((rows["digest"], -rows["date"], rows["url"]))]


class _Titles:
    """Titles of pages, looked up when asked for."""

    def __init__(self, parts: list[Part], rows: Array) -> None:
        self._parts = parts
        self._rows = rows

    def __call__(self, index: int) -> bytes:
        row = self._rows[index]
        end = int(row["blob"]) + blob_size(row) - int(row["snippet"])
        return os.pread(self._parts[row["part"]].blobs, int(row["title"]), end - int(row["title"]))


def _pairs(parts: list[Part], name: str) -> Array:
    """Return all (url, target, date) of a kind, with URL numbers that hold across parts, in a fixed order."""
    tables = []
    for part in parts:
        table = np.load(part.folder / f"{name}.npy")
        table[:, :2] = part.url_ids[table[:, :2]]
        tables.append(table)
    table = np.concatenate(tables) if tables else np.zeros((0, 3), dtype=np.int64)
    return np.unique(table, axis=0)


def _merge_words(parts: list[Part], rows: Array, kept: Array, writer: KinWriter) -> int:
    """Write the term table, ranked by frequency then word; parts' `word_ids` become ranks. Return the number of terms."""
    words, bounds = [np.zeros(0, dtype=np.uint8)], [np.zeros(1, dtype=np.int64)]
    for piece, ends in _merge_strings(parts, "words", "word_ids"):
        words.append(piece.copy())
        bounds.append(ends + bounds[-1][-1])
    data, starts = np.concatenate(words), np.concatenate(bounds)
    count = len(starts) - 1
    del words, bounds
    counts = np.zeros(count, dtype=np.int64)
    for part in parts:
        np.add.at(counts, part.word_ids, np.load(part.folder / "word_counts.npy").astype(np.int64))
    left_out = np.ones(len(rows), dtype=bool)
    left_out[kept] = False
    for row in rows[left_out]:  # words of pages that gave way to others do not count
        part = parts[row["part"]]
        tokens = np.frombuffer(part.blob(row), dtype="<u4", count=int(row["tokens"]))
        np.subtract.at(counts, part.word_ids[tokens], 1)
    order = np.argsort(-counts, kind="stable")
    order = order[: int(np.count_nonzero(counts))]
    rank = np.zeros(count, dtype=np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    for part in parts:
        part.word_ids = rank[part.word_ids]
    terms = _Strings(writer.create("term.bytes", np.uint8))
    for first in range(0, len(order), _PIECE_STRINGS):
        some = order[first : first + _PIECE_STRINGS]
        ends = np.empty(len(some), dtype=np.int64)
        piece = np.empty(int((starts[some + 1] - starts[some]).sum()), dtype=np.uint8)
        gather_strings(data, starts, some, piece, ends)
        terms.add(piece, ends)
    writer.put("term.offsets", terms.offsets())
    writer.put("term.count", counts[order].astype(smallest_uint(int(counts.max(initial=0)))))
    writer.put("term.order", rank[counts > 0])
    return len(order)


def _offsets(counts: Array) -> Array:
    """Return running totals from 0, in the smallest type."""
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets.astype(smallest_uint(int(offsets[-1])))


def _write_pages(
    parts: list[Part],
    kept: Array,
    target_of: Array,
    urls: _Strings,
    writer: KinWriter,
    progress: Callable[[float], None],
) -> dict[str, Any]:
    """Write the pages' streams, anchors, texts and tables."""
    create = writer.create
    words, rare = create("stream.words", np.uint16), create("stream.rare", np.uint32)
    gaps, kinds = create("mark.gap", np.uint8), create("mark.kind", np.uint8)
    longest_page = max((part.about["longest_page"] for part in parts), default=0)
    longest_anchor = max((part.about["longest_anchor"] for part in parts), default=0)
    target = create("anchor.target", smallest_uint(urls.count))
    start = create("anchor.start", smallest_uint(longest_page))
    length = create("anchor.length", smallest_uint(longest_anchor))
    flags = create("anchor.flags", np.uint8)
    texts, titles, snippets = (
        create("text.frames", np.uint8),
        create("title.bytes", np.uint8),
        create("snippet.bytes", np.uint8),
    )
    rare_counts = np.zeros(len(kept), dtype=np.int64)
    maps = np.array(
        [[number for ids in (part.word_ids, part.url_ids) for number in (ids.ctypes.data, len(ids))] for part in parts],
        dtype=np.int64,
    )
    sizes = np.stack([kept[name] for name in _SIZES], axis=1).astype(np.int64)
    blob_ends = np.cumsum(sizes[:, :PART] @ _BYTES_EACH)
    done = 0
    with (writer.work / "targets").open("wb") as targets:
        while done < len(kept):
            before = int(blob_ends[done - 1]) if done else 0
            after = min(len(kept), int(np.searchsorted(blob_ends, before + _BLOCK_BYTES)) + 1)
            some = sizes[done:after]
            block = _read_block(parts, kept[done:after], blob_ends[done:after] - before)
            tokens, marks, links, strings = _unpack(block, some, maps, target_of)
            for file, data in zip((gaps, kinds, texts, titles, snippets), (*marks, *strings), strict=True):
                file.append(data)
            is_rare = tokens >= RARE
            ends = np.cumsum(some[:, TOKENS])
            rare_counts[done:after] = np.diff(np.concatenate([[0], np.cumsum(is_rare)])[ends], prepend=0)
            words.append(np.where(is_rare, RARE, tokens).astype(np.uint16))
            rare.append(tokens[is_rare])
            for file, data in zip((target, start, length, flags), links, strict=True):
                file.append(data)
            targets.write(links[0].data)
            done = after
            progress(done / len(kept))
    for name, counts in (("tokens", kept["tokens"]), ("rare", rare_counts), ("marks", kept["marks"]),
                         ("anchors", kept["anchors"]), ("text", kept["text"])):  # fmt: skip
        writer.put(f"page.{name}", _offsets(counts))
    writer.put("title.offsets", _offsets(kept["title"]))
    writer.put("snippet.offsets", _offsets(kept["snippet"]))
    writer.put("page.url", kept["url"].astype(np.uint32))
    writer.put("page.date", kept["date"].astype(smallest_uint(int(kept["date"].max(initial=0)))))
    writer.put("page.digest", kept["digest"])
    writer.put("page.html_bytes", kept["html_bytes"])
    writer.put("page.language", kept["language"].astype(np.uint16))
    writer.put("page.flags", kept["flags"])
    return {"hosts": _write_hosts(urls, kept, writer)}


def _read_block(parts: list[Part], rows: Array, ends: Array) -> Array:
    """Return the bytes of pages, one after another, and a few to read ahead."""
    block = np.zeros(int(ends[-1]) + AHEAD, dtype=np.uint8)
    view = block.data
    start = 0
    for part, at, end in zip(rows["part"].tolist(), rows["blob"].tolist(), ends.tolist(), strict=True):
        if os.preadv(parts[part].blobs, [view[start:end]], at) != end - start:
            raise OSError(f"{parts[part].folder} was cut short while it was read")
        start = end
    return block


def _unpack(
    block: Array, sizes: Array, maps: Array, target_of: Array
) -> tuple[Array, tuple[Array, ...], tuple[Array, ...], tuple[Array, ...]]:
    """Return (tokens; gaps, kinds; anchors' targets, starts, lengths, flags; texts, titles, snippets) of a block's pages."""
    tokens, marks, anchors, text, title, snippet, _ = sizes.sum(axis=0).tolist()
    arrays = (
        np.empty(tokens, dtype=np.uint32),
        (np.empty(marks, dtype=np.uint8), np.empty(marks, dtype=np.uint8)),
        (*(np.empty(anchors, dtype=np.uint32) for _ in range(3)), np.empty(anchors, dtype=np.uint8)),
        tuple(np.empty(size, dtype=np.uint8) for size in (text, title, snippet)),
    )
    unpack_pages(block, sizes, maps, target_of, *arrays)
    return arrays


def _write_hosts(urls: _Strings, kept: Array, writer: KinWriter) -> int:
    """Write the hosts of pages; return their number."""
    wanted = np.unique(kept["url"])
    number_of: dict[str, int] = {}
    host_of_url = np.zeros(len(wanted), dtype=np.int64)
    strings = urls.strings()
    for place, url in enumerate(wanted.tolist()):
        host_of_url[place] = number_of.setdefault(host_of(strings.text(url)), len(number_of))
    names = sorted(number_of)
    rank = np.zeros(len(names), dtype=np.int64)
    rank[[number_of[name] for name in names]] = np.arange(len(names))
    data, offsets = pack_strings([name.encode() for name in names])
    writer.put("host.bytes", data)
    writer.put("host.offsets", offsets.astype(smallest_uint(int(offsets[-1]))))
    numbers = rank[host_of_url[np.searchsorted(wanted, kept["url"])]] if len(kept) else np.zeros(0, dtype=np.int64)
    writer.put("page.host", numbers.astype(smallest_uint(len(names))))
    return len(names)


def _invert(kept: Array, url_count: int, writer: KinWriter) -> int:
    """Write the anchors of each target; return the number of distinct links between different addresses."""
    path = writer.work / "targets"
    total = path.stat().st_size // 4
    counts = np.zeros(url_count + 1, dtype=np.int64)
    for chunk in _chunks(path):
        counts[:url_count] += np.bincount(chunk, minlength=url_count)[:url_count]
    ends = np.cumsum(counts[:url_count])
    page_ends = np.cumsum(kept["anchors"], dtype=np.int64)
    source_url = kept["url"]
    inverted = writer.create("inlink.anchors", smallest_uint(max(total, 1)))
    low = links = 0
    while low < url_count:
        # As many targets as have about a fixed number of anchors together: memory stays the same for any collection.
        before = int(ends[low - 1]) if low else 0
        high = max(low + 1, int(np.searchsorted(ends, before + _INVERT_AT_ONCE)))
        anchors, to = [], []
        base = 0
        for chunk in _chunks(path):
            inside = np.flatnonzero((chunk >= low) & (chunk < high))
            anchors.append(inside + base)
            to.append(chunk[inside])
            base += len(chunk)
        ids = np.concatenate(anchors) if anchors else np.zeros(0, dtype=np.int64)
        targets = np.concatenate(to) if to else np.zeros(0, dtype=np.uint32)
        order = np.argsort(targets, kind="stable")
        ids, targets = ids[order], targets[order]
        inverted.append(ids)
        sources = source_url[np.searchsorted(page_ends, ids, side="right")] if len(ids) else targets
        fresh = np.ones(len(ids), dtype=bool)
        fresh[1:] = (targets[1:] != targets[:-1]) | (sources[1:] != sources[:-1])
        links += int(np.count_nonzero(fresh & (sources != targets)))
        low = high
    writer.put("inlink.offsets", _offsets(counts[:url_count]))
    path.unlink()
    return links


def _chunks(path: Path) -> Iterator[Array]:
    """Yield a file of four-byte numbers, a piece at a time."""
    with path.open("rb") as file:
        while raw := file.read(4 << 18):
            yield np.frombuffer(raw, dtype=np.uint32)
