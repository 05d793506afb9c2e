"""Merge parts to one corpus, in memory that does not grow with it.

Words and URLs of all parts are merged as sorted streams; pages are taken in the order of their URLs and written one
block after another. Nothing here depends on how the pages were divided into parts.
"""

import contextlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from pagekin.hypertext._kernels.strings import AHEAD, gather_strings, merge_strings
from pagekin.hypertext.aliases import Choice, Records, choose_pages
from pagekin.hypertext.memory import give_back_memory
from pagekin.hypertext.part import ANCHOR, EXAMPLES, PAGE_ROW, PIECES, blob_sizes
from pagekin.hypertext.streams import RARE
from pagekin.hypertext.urls import host_of
from pagekin.sources import DAMAGE_REASONS
from pagekin.store import Array, ArrayFile, KinWriter, RaggedBytes, batch_ranges, pack_strings, smallest_uint

_PIECE_STRINGS = 1 << 14
_PIECE_BYTES = 1 << 20
_BLOCK_BYTES = 8 << 20
_INVERT_AT_ONCE = 1 << 20
_CHUNK = 1 << 18


class Part:
    """A written part, open for merging."""

    def __init__(self, folder: Path, blobs: IO[bytes]) -> None:
        self.folder = folder
        self.blobs = blobs
        self.about: dict[str, Any] = json.loads((folder / "about.json").read_text())
        self.pages: Array = np.load(folder / "pages.npy")
        self.word_ids, self.url_ids = (
            np.zeros((folder / f"{name}.offsets").stat().st_size // 8 - 1, dtype=np.uint32)
            for name in ("words", "urls")
        )

    def read(self, size: int, start: int) -> bytes:
        """Return bytes of the blobs."""
        data = os.pread(self.blobs.fileno(), size, start)
        if len(data) < size:
            raise OSError(f"{self.folder} was cut short while it was read")
        return data


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


def put_strings(writer: KinWriter, name: str, pieces: Iterable[tuple[Array, Array]]) -> int:
    """Write byte strings, given in pieces of (data, ends), as two arrays of the collection; return how many there are."""
    file = writer.create(f"{name}.bytes", np.uint8)
    ends = [np.zeros(1, dtype=np.int64)]
    for data, piece_ends in pieces:
        ends.append(piece_ends + file.length)
        file.append(data)
    offsets = np.concatenate(ends)
    writer.put(f"{name}.offsets", offsets.astype(smallest_uint(file.length)))
    return len(offsets) - 1


def merge_parts(
    folders: list[Path], writer: KinWriter, all_captures: bool, progress: Callable[[float], None]
) -> dict[str, Any]:
    """Write the corpus of all parts to `writer`; return the facts about it."""
    with contextlib.ExitStack() as files:
        parts = [Part(folder, files.enter_context((folder / "blobs").open("rb"))) for folder in folders]
        return _merge(parts, writer, all_captures, progress)


def _merge(
    parts: list[Part], writer: KinWriter, all_captures: bool, progress: Callable[[float], None]
) -> dict[str, Any]:
    abouts = [part.about for part in parts]
    languages = sorted({language for about in abouts for language in about["languages"]})
    with TemporaryDirectory(dir=writer.work) as folder:
        addresses, starts = _merge_urls(parts, Path(folder))
        give_back_memory()
        progress(0.15)
        rows = _all_rows(parts, languages)

        def title(row: Any) -> bytes:
            part: Part = parts[row["part"]]
            return part.read(int(row["title"]), int(row["blob"]) + int(blob_sizes(row, until="title")))

        others = Records(*(_pairs(parts, name) for name in Records._fields))
        chosen = choose_pages(rows, others, len(starts) - 1, all_captures, title)
        left_out = np.ones(len(rows), dtype=bool)
        left_out[chosen.pages] = False
        number = _number_urls(parts, rows, left_out, chosen)
        named = np.flatnonzero(number >= 0)
        url_count = put_strings(writer, "url", gather_pieces(addresses, starts, named))
        del addresses
    aliased = number[chosen.alias_url] >= 0
    writer.put("alias.url", number[chosen.alias_url[aliased]].astype(np.uint32))
    writer.put("alias.target", number[chosen.alias_target[aliased]].astype(np.uint32))
    target_of = number[chosen.target_of[named]].astype(np.uint32)
    kept = rows[chosen.pages]
    kept["url"] = number[kept["url"]]
    for part in parts:
        part.url_ids = number[part.url_ids].astype(np.uint32)  # a number that none has where it is used no more

    term_count = _merge_words(parts, rows, left_out, writer)
    del rows
    give_back_memory()
    progress(0.35)
    targets = _write_pages(parts, kept, target_of, writer, lambda share: progress(0.35 + 0.5 * share))
    hosts = _write_hosts(kept["url"], writer)
    for part in parts:  # their numbers have done their work
        part.word_ids = part.url_ids = np.zeros(0, dtype=np.uint32)
    give_back_memory()
    links = invert_anchors(targets, kept["anchors"], kept["url"], url_count, writer)
    progress(1.0)
    skipped, cut = (sum((Counter(about[name]) for about in abouts), Counter[str]()) for name in ("skipped", "cut"))
    examples = sorted({example for about in abouts for example in about["damaged_examples"]})
    pages_in = np.bincount(kept["language"], minlength=len(languages)).tolist()
    return {
        "pages": len(kept),
        "urls": url_count,
        "words": int(kept["tokens"].sum(dtype=np.int64)),
        "terms": term_count,
        "anchors": int(kept["anchors"].sum(dtype=np.int64)),
        "links": links,
        "hosts": hosts,
        "aliases": int(np.count_nonzero(aliased)),
        "html_bytes": int(kept["html_bytes"].sum(dtype=np.int64)),
        "html_records": sum(about["html_records"] for about in abouts),
        "skipped": dict(sorted((skipped + chosen.left_out).items())),
        "damaged": sum(count for reason, count in skipped.items() if reason in DAMAGE_REASONS),
        "damaged_examples": examples[:EXAMPLES],
        "cut": dict(sorted(cut.items())),
        "links_not_followed": sum(about["dropped_links"] for about in abouts),
        "languages": {code or "unknown": count for code, count in zip(languages, pages_in, strict=True) if count},
        "language_codes": languages,
        "all_captures": all_captures,
    }


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


def _pairs(parts: list[Part], name: str) -> Array:
    """Return all (url, target, date) of a kind of `Records`, with URL numbers that hold across parts, in a fixed order."""
    tables = [np.zeros((0, 3), dtype=np.int64)]
    for part in parts:
        table = np.load(part.folder / f"{name}.npy")
        table[:, :2] = part.url_ids[table[:, :2]]
        tables.append(table)
    return np.unique(np.concatenate(tables), axis=0)


def _merge_urls(parts: list[Part], folder: Path) -> tuple[Array, Array]:
    """Return (bytes, offsets) of the distinct addresses of all parts in sorted order, the bytes mapped from a temporary file."""
    file = ArrayFile(folder / "urls", np.uint8)
    bounds = [np.zeros(1, dtype=np.int64)]
    try:
        for data, ends in _merge_strings(parts, "urls", "url_ids"):
            bounds.append(ends + file.length)
            file.append(data)
        return file.mapped(), np.concatenate(bounds)
    finally:
        file.abandon()


def _number_urls(parts: list[Part], rows: Array, left_out: Array, chosen: Choice) -> Array:
    """Return the number that each address has in the collection, -1 for one that it does not need.

    It needs its pages, what these link to, and the other names of both. What was named by captures alone that gave way to
    others, or by redirects to nowhere, is forgotten.
    """
    counts = np.zeros(len(chosen.target_of), dtype=np.int64)
    for part in parts:
        np.add.at(counts, part.url_ids, np.load(part.folder / "url_counts.npy").astype(np.int64))
    for row in rows[left_out]:
        part = parts[row["part"]]
        size = int(row["anchors"]) * ANCHOR.itemsize
        anchors = part.read(size, int(row["blob"]) + int(blob_sizes(row, until="anchors")))
        np.subtract.at(counts, part.url_ids[np.frombuffer(anchors, dtype=ANCHOR)["target"]], 1)
    needed = counts > 0
    needed[chosen.target_of[needed]] = True
    needed[rows["url"][~left_out]] = True
    needed[chosen.alias_url] |= needed[chosen.alias_target]
    return np.where(needed, np.cumsum(needed) - 1, -1)


def _merge_words(parts: list[Part], rows: Array, left_out: Array, writer: KinWriter) -> int:
    """Write the term table, ranked by frequency then word; parts' `word_ids` become ranks. Return the number of terms."""
    words, bounds = [np.zeros(0, dtype=np.uint8)], [np.zeros(1, dtype=np.int64)]
    for piece, ends in _merge_strings(parts, "words", "word_ids"):
        words.append(piece.copy())
        bounds.append(ends + bounds[-1][-1])
    data, starts = np.concatenate(words), np.concatenate(bounds)
    del words, bounds
    counts = np.zeros(len(starts) - 1, dtype=np.int64)
    for part in parts:
        np.add.at(counts, part.word_ids, np.load(part.folder / "word_counts.npy").astype(np.int64))
    for row in rows[left_out]:  # words of pages that gave way to others do not count
        part = parts[row["part"]]
        tokens = np.frombuffer(part.read(4 * int(row["tokens"]), int(row["blob"])), dtype="<u4")
        np.subtract.at(counts, part.word_ids[tokens], 1)
    order = np.argsort(-counts, kind="stable")
    order = order[: int(np.count_nonzero(counts))]
    rank = np.zeros(len(counts), dtype=np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    for part in parts:
        part.word_ids = rank[part.word_ids]
    writer.put("term.count", counts[order].astype(smallest_uint(int(counts.max(initial=0)))))
    writer.put("term.order", rank[counts > 0])
    return put_strings(writer, "term", gather_pieces(data, starts, order))


def gather_pieces(data: Array, starts: Array, order: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the strings that `order` names, in pieces of (data, ends)."""
    for first in range(0, len(order), _PIECE_STRINGS):
        some = order[first : first + _PIECE_STRINGS]
        ends = np.empty(len(some), dtype=np.int64)
        piece = np.empty(int((starts[some + 1] - starts[some]).sum()), dtype=np.uint8)
        gather_strings(data, starts, some, piece, ends)
        yield piece, ends


def _offsets(counts: Array) -> Array:
    """Return running totals from 0, in the smallest type."""
    offsets = np.cumsum(np.append(0, counts))
    return offsets.astype(smallest_uint(int(offsets[-1])))


def _write_pages(
    parts: list[Part], kept: Array, target_of: Array, writer: KinWriter, progress: Callable[[float], None]
) -> Array:
    """Write the pages' streams, anchors, texts and tables; return the targets of all anchors, memory-mapped."""
    longest = {name: max((part.about[f"longest_{name}"] for part in parts), default=0) for name in ("page", "anchor")}
    types: dict[str, npt.DTypeLike] = {
        "stream.words": np.uint16, "stream.rare": np.uint32, "mark.gap": np.uint8, "mark.kind": np.uint8,
        "anchor.target": smallest_uint(len(target_of)), "anchor.start": smallest_uint(longest["page"]),
        "anchor.length": smallest_uint(longest["anchor"]), "anchor.flags": np.uint8,
        "text.frames": np.uint8, "title.bytes": np.uint8, "snippet.bytes": np.uint8,
    }  # fmt: skip
    files = {name: writer.create(name, dtype) for name, dtype in types.items()}
    word_ids, url_ids = (_AllIds([getattr(part, ids) for part in parts]) for ids in ("word_ids", "url_ids"))
    rare_counts = [np.zeros(0, dtype=np.int64)]
    for first, last in batch_ranges(np.cumsum(np.append(0, blob_sizes(kept))), _BLOCK_BYTES):
        rows = kept[first:last]
        words, gaps, kinds, spans, texts, titles, snippets = _read_pieces(parts, rows)
        tokens = word_ids.of(words.view("<u4"), rows["part"], rows["tokens"])
        anchors = spans.view(ANCHOR)
        is_rare = tokens >= RARE
        arrays = {
            "stream.words": np.where(is_rare, RARE, tokens).astype(np.uint16), "stream.rare": tokens[is_rare],
            "mark.gap": gaps, "mark.kind": kinds, "text.frames": texts, "title.bytes": titles, "snippet.bytes": snippets,
            "anchor.target": target_of[url_ids.of(anchors["target"], rows["part"], rows["anchors"])],
            **{f"anchor.{name}": anchors[name] for name in ("start", "length", "flags")},
        }  # fmt: skip
        for name, data in arrays.items():
            files[name].append(data)
        rare_counts.append(np.bincount(np.repeat(np.arange(len(rows)), rows["tokens"])[is_rare], minlength=len(rows)))
        progress(last / len(kept))
    for name in ("tokens", "marks", "anchors", "text"):
        writer.put(f"page.{name}", _offsets(kept[name]))
    writer.put("page.rare", _offsets(np.concatenate(rare_counts)))
    for name in ("title", "snippet"):
        writer.put(f"{name}.offsets", _offsets(kept[name]))
    writer.put("page.date", kept["date"].astype(smallest_uint(int(kept["date"].max(initial=0)))))
    for name in ("url", "digest", "html_bytes", "language", "flags"):
        writer.put(f"page.{name}", kept[name])
    return files["anchor.target"].mapped()


class _AllIds:
    """The numbers that all parts' words or URLs have in the collection, one part after another."""

    def __init__(self, ids: list[Array]) -> None:
        self._ids = np.concatenate([np.zeros(0, dtype=np.uint32), *ids])
        self._starts = np.cumsum([0, *map(len, ids)])

    def of(self, numbers: Array, part: Array, count: Array) -> Array:
        """Return the ids of pages' numbers: a page has `count` of them, as its part numbers them."""
        return np.asarray(self._ids[numbers + np.repeat(self._starts[part], count)])


def _read_pieces(parts: list[Part], rows: Array) -> list[Array]:
    """Return the pieces of pages' blobs, those of one kind together: words, gaps and kinds of marks, anchors, strings."""
    sizes = {piece: rows[piece].astype(np.int64) * item_bytes for piece, item_bytes in PIECES.items()}
    half = sizes["marks"] // 2
    cuts = np.cumsum(np.stack([sizes["tokens"], half, half, *list(sizes.values())[2:]], axis=1), axis=1).tolist()
    pieces = []
    for part, at, ends in zip(rows["part"].tolist(), rows["blob"].tolist(), cuts, strict=True):
        blob = parts[part].read(ends[-1], at)
        pieces.append([blob[start:end] for start, end in pairwise([0, *ends])])
    return [np.frombuffer(b"".join(kind), dtype=np.uint8) for kind in zip(*pieces, strict=True)]


def _write_hosts(page_urls: Array, writer: KinWriter) -> int:
    """Write the hosts of pages; return their number."""
    urls, places = np.unique(page_urls, return_inverse=True)
    strings = RaggedBytes.of(writer.view({}), "url")
    numbers: dict[str, int] = {}
    host_of_url = np.array(
        [numbers.setdefault(host_of(strings.text(url)), len(numbers)) for url in urls.tolist()], dtype=np.int64
    )
    names = sorted(numbers)
    rank = np.argsort([numbers[name] for name in names])
    data, offsets = pack_strings([name.encode() for name in names])
    writer.put("page.host", rank[host_of_url[places]].astype(smallest_uint(len(names))))
    return put_strings(writer, "host", [(data, offsets[1:])])


def invert_anchors(targets: Array, anchors_of_page: Array, page_urls: Array, url_count: int, writer: KinWriter) -> int:
    """Write the anchors of each target; return the number of distinct links between different addresses.

    `anchors_of_page` says how many of the `targets`, in page order, are those of each page.
    """
    counts = np.zeros(url_count, dtype=np.int64)
    for _, chunk in _chunks(targets):
        counts += np.bincount(chunk, minlength=url_count)
    ends = np.cumsum(counts)
    page_ends = np.cumsum(anchors_of_page, dtype=np.int64)
    inverted = writer.create("inlink.anchors", smallest_uint(max(len(targets), 1)))
    low = links = 0
    while low < url_count:
        # As many targets as have about a fixed number of anchors together: memory stays the same for any collection.
        before = int(ends[low - 1]) if low else 0
        high = max(low + 1, int(np.searchsorted(ends, before + _INVERT_AT_ONCE)))
        anchors, to = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=targets.dtype)]
        for start, chunk in _chunks(targets):
            inside = np.flatnonzero((chunk >= low) & (chunk < high))
            anchors.append(inside + start)
            to.append(chunk[inside])
        ids, ordered = np.concatenate(anchors), np.concatenate(to)
        order = np.argsort(ordered, kind="stable")
        ids, ordered = ids[order], ordered[order]
        inverted.append(ids)
        sources = page_urls[np.searchsorted(page_ends, ids, side="right")]
        fresh = np.ones(len(ids), dtype=bool)
        fresh[1:] = (ordered[1:] != ordered[:-1]) | (sources[1:] != sources[:-1])
        links += int(np.count_nonzero(fresh & (sources != ordered)))
        low = high
    writer.put("inlink.offsets", _offsets(counts))
    return links


def _chunks(values: Array) -> Iterator[tuple[int, Array]]:
    """Yield (its place, a piece) of a memory-mapped array, a piece at a time."""
    for start in range(0, len(values), _CHUNK):
        yield start, values[start : start + _CHUNK]
