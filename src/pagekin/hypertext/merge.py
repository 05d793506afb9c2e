"""Parts to one corpus, in memory that does not grow with it.

Words and URLs of all parts are merged as sorted streams; pages are taken in the order of their URLs and written one
block after another. Nothing here depends on how the pages were divided into parts.
"""

import heapq
import json
import os
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.aliases import choose_pages
from pagekin.hypertext.memory import give_back_memory
from pagekin.hypertext.part import ANCHOR, PAGE_ROW, Tally
from pagekin.hypertext.streams import RARE
from pagekin.hypertext.urls import host_of
from pagekin.store import ArrayFile, KinWriter, smallest_uint
from pagekin.store.ragged import pack

Array = npt.NDArray[Any]
_CHUNK = 1_024
_BLOCK_BYTES = 8 << 20
_INVERT_AT_ONCE = 1 << 20


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
        """One page's bytes."""
        return os.pread(self.blobs, blob_size(row), int(row["blob"]))


def blob_size(row: Any) -> int:
    """How long a page's blob is."""
    return int(
        4 * int(row["tokens"]) + 2 * int(row["marks"]) + ANCHOR.itemsize * int(row["anchors"])
        + int(row["text"]) + int(row["title"]) + int(row["snippet"])
    )  # fmt: skip


def _stream(part: Part, number: int, name: str) -> Iterator[tuple[bytes, int, int]]:
    """The sorted strings of a part, with its number and theirs, a few at a time from the disk."""
    with (
        (part.folder / f"{name}.bytes").open("rb") as data,
        (part.folder / f"{name}.offsets").open("rb") as bounds,
    ):
        local = 0
        while len(raw := bounds.read(8 * _CHUNK)) > 0:
            starts = np.frombuffer(raw, dtype=np.int64).tolist()
            following = bounds.read(8)
            bounds.seek(-len(following), 1)
            if following:
                starts.append(int.from_bytes(following, "little"))
            chunk = data.read(starts[-1] - starts[0])
            for a, b in pairwise(starts):
                yield chunk[a - starts[0] : b - starts[0]], number, local
                local += 1


def _merge_strings(parts: list[Part], name: str, ids: str, take: Callable[[bytes, list[tuple[int, int]]], None]) -> int:
    """Number the distinct strings of all parts in sorted order, telling `take` each with where it stands."""
    count = -1
    previous: bytes | None = None
    where: list[tuple[int, int]] = []
    maps = [getattr(part, ids) for part in parts]
    for string, number, local in heapq.merge(*(_stream(part, i, name) for i, part in enumerate(parts))):
        if string != previous:
            if previous is not None:
                take(previous, where)
            previous, where = string, []
            count += 1
        maps[number][local] = count
        where.append((number, local))
    if previous is not None:
        take(previous, where)
    return count + 1


class _Strings:
    """Byte strings on their way into two arrays of the collection."""

    def __init__(self, file: ArrayFile) -> None:
        self.file = file
        self.ends = [np.zeros(1, dtype=np.int64)]
        self._waiting: list[bytes] = []
        self._size = 0

    def add(self, string: bytes) -> None:
        """Append one string."""
        self._waiting.append(string)
        if len(self._waiting) >= 1 << 14:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        data, offsets = pack(self._waiting)
        self.file.append(data)
        self.ends.append(offsets[1:] + self._size)
        self._size += len(data)
        self._waiting = []

    def offsets(self) -> Array:
        """The strings' offsets, in the smallest type."""
        self.flush()
        return np.concatenate(self.ends).astype(smallest_uint(self._size))


def merge_parts(
    folders: list[Path],
    writer: KinWriter,
    all_captures: bool,
    progress: Callable[[float], None] = lambda _share: None,
) -> dict[str, Any]:
    """Write the corpus of all parts to `writer`; what is to be known about it."""
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
    url_count = _merge_urls(parts, writer)
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
    facts = _write_pages(parts, kept, chosen.target_of, url_count, writer, lambda share: progress(0.35 + 0.5 * share))
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


def _merge_urls(parts: list[Part], writer: KinWriter) -> int:
    """Write the table of addresses, sorted; parts' `url_ids` become places in it. The number of addresses."""
    urls = _Strings(writer.create("url.bytes", np.uint8))
    count = _merge_strings(parts, "urls", "url_ids", lambda url, _where: urls.add(url))
    writer.put("url.offsets", urls.offsets())
    return count


def _all_rows(parts: list[Part], languages: list[str]) -> Array:
    """All pages of all parts, with URL and language numbers that hold across parts, and where to find each."""
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
    """All (url, target, date) of a kind, with URL numbers that hold across parts, in a fixed order."""
    tables = []
    for part in parts:
        table = np.load(part.folder / f"{name}.npy")
        table[:, :2] = part.url_ids[table[:, :2]]
        tables.append(table)
    table = np.concatenate(tables) if tables else np.zeros((0, 3), dtype=np.int64)
    return np.unique(table, axis=0)


def _merge_words(parts: list[Part], rows: Array, kept: Array, writer: KinWriter) -> int:
    """Write the term table, ranked by frequency then word; parts' `word_ids` become ranks. The number of terms."""
    lexical = writer.work / "words.lexical"
    bounds = array("q", [0])
    with lexical.open("wb") as file:

        def take(word: bytes, _where: list[tuple[int, int]]) -> None:
            file.write(word)
            bounds.append(bounds[-1] + len(word))

        count = _merge_strings(parts, "words", "word_ids", take)
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
    data = lexical.read_bytes()
    terms = _Strings(writer.create("term.bytes", np.uint8))
    for start in range(0, len(order), _CHUNK):
        for lexical_id in order[start : start + _CHUNK].tolist():
            terms.add(data[bounds[lexical_id] : bounds[lexical_id + 1]])
    writer.put("term.offsets", terms.offsets())
    writer.put("term.count", counts[order].astype(smallest_uint(int(counts.max(initial=0)))))
    writer.put("term.order", rank[counts > 0])
    lexical.unlink()
    return len(order)


def _offsets(counts: Array) -> Array:
    """Running totals from 0, in the smallest type."""
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets.astype(smallest_uint(int(offsets[-1])))


def _write_pages(
    parts: list[Part],
    kept: Array,
    target_of: Array,
    url_count: int,
    writer: KinWriter,
    progress: Callable[[float], None],
) -> dict[str, Any]:
    """Write the pages' streams, anchors, texts and tables."""
    create = writer.create
    words, rare = create("stream.words", np.uint16), create("stream.rare", np.uint32)
    gaps, kinds = create("mark.gap", np.uint8), create("mark.kind", np.uint8)
    longest_page = max((part.about["longest_page"] for part in parts), default=0)
    longest_anchor = max((part.about["longest_anchor"] for part in parts), default=0)
    target = create("anchor.target", smallest_uint(url_count))
    start = create("anchor.start", smallest_uint(longest_page))
    length = create("anchor.length", smallest_uint(longest_anchor))
    flags = create("anchor.flags", np.uint8)
    texts, titles, snippets = (
        create("text.frames", np.uint8),
        create("title.bytes", np.uint8),
        create("snippet.bytes", np.uint8),
    )
    rare_counts = np.zeros(len(kept), dtype=np.int64)
    names = kept.dtype.names or ()
    done = 0
    with (writer.work / "targets").open("wb") as targets:
        while done < len(kept):
            block: list[bytes] = []
            size = 0
            while done + len(block) < len(kept) and size < _BLOCK_BYTES:
                row = kept[done + len(block)]
                block.append(parts[row["part"]].blob(row))
                size += len(block[-1])
            ids, anchors = [], []
            pieces: dict[ArrayFile, list[bytes]] = {file: [] for file in (gaps, kinds, texts, titles, snippets)}
            for row, blob in zip(kept[done : done + len(block)].tolist(), block, strict=True):
                at = dict(zip(names, row, strict=True))
                part = parts[at["part"]]
                ids.append(part.word_ids[np.frombuffer(blob, dtype="<u4", count=at["tokens"])])
                position = 4 * at["tokens"]
                for file, length_of in ((gaps, "marks"), (kinds, "marks")):
                    pieces[file].append(blob[position : position + at[length_of]])
                    position += at[length_of]
                links = np.frombuffer(blob, dtype=ANCHOR, count=at["anchors"], offset=position).copy()
                links["target"] = target_of[part.url_ids[links["target"]]]
                anchors.append(links)
                position += ANCHOR.itemsize * at["anchors"]
                for file, length_of in ((texts, "text"), (titles, "title"), (snippets, "snippet")):
                    pieces[file].append(blob[position : position + at[length_of]])
                    position += at[length_of]
            for file, waiting in pieces.items():
                file.append(b"".join(waiting))
            tokens = np.concatenate(ids)
            is_rare = tokens >= RARE
            ends = np.cumsum(kept["tokens"][done : done + len(block)], dtype=np.int64)
            rare_counts[done : done + len(block)] = np.diff(np.concatenate([[0], np.cumsum(is_rare)])[ends], prepend=0)
            words.append(np.where(is_rare, RARE, tokens).astype(np.uint16))
            rare.append(tokens[is_rare])
            links = np.concatenate(anchors)
            target.append(links["target"])
            start.append(links["start"])
            length.append(links["length"])
            flags.append(links["flags"])
            targets.write(links["target"].astype(np.uint32).tobytes())
            done += len(block)
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
    return {"hosts": _write_hosts(parts, kept, writer)}


def _write_hosts(parts: list[Part], kept: Array, writer: KinWriter) -> int:
    """Write the hosts of pages; their number."""
    wanted = np.unique(kept["url"])
    found: dict[str, int] = {}
    host_of_url = np.zeros(len(wanted), dtype=np.int64)
    for number, part in enumerate(parts):
        place = np.searchsorted(wanted, part.url_ids)
        ours = np.append(wanted, 0)[place] == part.url_ids if len(wanted) else np.zeros(len(place), dtype=bool)
        for string, _, local in _stream(part, number, "urls"):
            if ours[local]:
                host = host_of(string.decode("utf-8", "replace"))
                host_of_url[place[local]] = found.setdefault(host, len(found))
    names = sorted(found)
    rank = np.zeros(len(names), dtype=np.int64)
    rank[[found[name] for name in names]] = np.arange(len(names))
    data, offsets = pack([name.encode() for name in names])
    writer.put("host.bytes", data)
    writer.put("host.offsets", offsets.astype(smallest_uint(int(offsets[-1]))))
    numbers = rank[host_of_url[np.searchsorted(wanted, kept["url"])]] if len(kept) else np.zeros(0, dtype=np.int64)
    writer.put("page.host", numbers.astype(smallest_uint(len(names))))
    return len(names)


def _invert(kept: Array, url_count: int, writer: KinWriter) -> int:
    """Write the anchors of each target; the number of distinct links between different addresses."""
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
    """A file of four-byte numbers, a piece at a time."""
    with path.open("rb") as file:
        while raw := file.read(4 << 18):
            yield np.frombuffer(raw, dtype=np.uint32)
