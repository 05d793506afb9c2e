"""Merge parts into one corpus, in memory that does not grow with it.

Words and URLs of all parts are merged as sorted streams; pages are taken in the order of their URLs and written one
block after another. Nothing here depends on how the pages were divided into parts.
"""

import contextlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.aliases import Records, choose_pages
from pagekin.hypertext.part import ANCHOR, PAGE_ROW, PIECES, blob_sizes
from pagekin.hypertext.part_records import sum_abouts
from pagekin.hypertext.streams import RARE
from pagekin.hypertext.string_lists import StringList, Strings, gather_pieces, merge_lists
from pagekin.hypertext.urls import host_of
from pagekin.sources import DAMAGE_REASONS
from pagekin.store import (
    Array,
    KinWriter,
    RaggedBytes,
    Workspace,
    batch_ranges,
    chunks,
    count_targets,
    give_back_memory,
    invert,
    pack_strings,
    smallest_uint,
)

_BLOCK_BYTES = 8 << 20
_OPEN_BLOBS = 64
"""Parts whose blobs are open at a time."""


class Parts:
    """All written parts: their facts, and their blob files, a few of which are open."""

    def __init__(self, folders: list[Path], files: contextlib.ExitStack) -> None:
        self.folders = folders
        self.abouts: list[dict[str, Any]] = [json.loads((folder / "about.json").read_text()) for folder in folders]
        self.archives: list[str] = sorted({archive for about in self.abouts for archive in about["archives"]})
        """The archives of all parts; the rows of `all_rows` name theirs by its place here."""
        self._open: dict[int, IO[bytes]] = {}
        files.callback(self._close, 0)

    def __len__(self) -> int:
        return len(self.folders)

    def _close(self, most: int) -> None:
        """Close all but the `most` recently used blob files."""
        while len(self._open) > most:
            self._open.pop(next(iter(self._open))).close()

    def read(self, part: int, size: int, start: int) -> bytes:
        """Return bytes of the blobs of a part."""
        blobs = self._open.pop(part, None)
        if blobs is None:
            self._close(_OPEN_BLOBS - 1)
            blobs = (self.folders[part] / "blobs").open("rb")
        self._open[part] = blobs  # the last one used stands last
        data = os.pread(blobs.fileno(), size, start)
        if len(data) < size:
            raise OSError(f"{self.folders[part]} was cut short while it was read")
        return data

    def piece(self, row: Any, name: str) -> bytes:
        """Return one of the pieces of a page's blob."""
        return self.read(int(row["part"]), int(row[name]) * PIECES[name], int(row["blob"]) + int(blob_sizes(row, name)))

    def load(self, part: int, name: str) -> Array:
        """Return an array of a part."""
        return np.asarray(np.load(self.folders[part] / f"{name}.npy"))


class Ids:
    """The numbers in the collection of all parts' words or URLs, part after part."""

    def __init__(self, parts: Parts, name: str, room: Workspace) -> None:
        sizes = [(folder / f"{name}.offsets").stat().st_size // 8 - 1 for folder in parts.folders]
        self._starts = np.cumsum([0, *sizes])
        self._ids = room.empty(int(self._starts[-1]), np.uint32)
        self._parts, self._name, self._room = parts, name, room

    def merge(self) -> Strings:
        """Return the distinct strings of all parts, sorted; the ids become places among them."""
        lists = [
            StringList(folder / f"{self._name}.bytes", folder / f"{self._name}.offsets", self.of_part(part))
            for part, folder in enumerate(self._parts.folders)
        ]
        return merge_lists(lists, self._room)

    def of_part(self, part: int) -> Array:
        """Return the numbers of a part's strings."""
        return self._ids[self._starts[part] : self._starts[part + 1]]

    def renumber(self, number: Array) -> None:
        """Replace the numbers by new ones."""
        for part in range(len(self._parts)):
            self.of_part(part)[:] = number[self.of_part(part)]

    def add_up(self, name: str, count: int) -> Array:
        """Return the sum of the parts' counts for each of `count` numbers."""
        counts = np.zeros(count, dtype=np.int64)
        for part in range(len(self._parts)):
            np.add.at(counts, self.of_part(part), self._parts.load(part, name).astype(np.int64))
        return counts

    def of(self, numbers: Array, part: Array, count: Array) -> Array:
        """Return the collection's ids of some pages' numbers: each page has `count` of them, numbered by its part."""
        return np.asarray(self._ids[numbers + np.repeat(self._starts[part], count)])


def put_strings(writer: KinWriter, name: str, pieces: Iterable[tuple[Array, Array]]) -> int:
    """Write byte strings, given in pieces of (data, ends), as two arrays; return the number of strings."""
    file = writer.create(f"{name}.bytes", np.uint8)
    count = 0
    with TemporaryFile(dir=writer.work) as ends:  # which type they need is known at the end
        for data, piece_ends in pieces:
            ends.write((piece_ends + file.length).data)
            file.append(data)
            count += len(piece_ends)
        ends.seek(0)
        offsets = writer.create(f"{name}.offsets", smallest_uint(file.length))
        offsets.append(np.zeros(1, offsets.dtype))
        while block := ends.read(_BLOCK_BYTES // 8 * 8):
            offsets.append(np.frombuffer(block, np.int64).astype(offsets.dtype))
    return count


def merge_parts(
    folders: list[Path], writer: KinWriter, all_captures: bool, progress: Callable[[float], None]
) -> dict[str, Any]:
    """Write the corpus of all parts with `writer`; return the facts about it."""
    with contextlib.ExitStack() as files:
        return _merge(Parts(folders, files), writer, all_captures, progress)


class Selection(NamedTuple):
    """The choice of captures and addresses from all parts."""

    rows: Array
    """All captures, by address, the newest first."""
    left_out: npt.NDArray[np.bool_]
    """(captures): those that become no pages."""
    number: npt.NDArray[np.int64]
    """(addresses of all parts): the number that each has in the corpus; -1 for those that it does not know."""
    link_number: npt.NDArray[np.int64]
    """(addresses of all parts): the number of the address that links to each count for."""
    alias_url: Array
    alias_target: Array
    """Aliases by their numbers in the corpus, rising, and what each stands for."""
    latest: int
    """The date of the newest page of the whole."""
    skipped: Counter[str]
    """Why captures are left out."""


def _merge(parts: Parts, writer: KinWriter, all_captures: bool, progress: Callable[[float], None]) -> dict[str, Any]:
    about = sum_abouts(parts.abouts)
    with TemporaryDirectory(dir=writer.work) as folder:
        room = Workspace(Path(folder), writer.memory)
        url_ids = Ids(parts, "urls", room)
        addresses = url_ids.merge()
        give_back_memory()
        progress(0.15)
        url_count = len(addresses.starts) - 1
        facts = write_corpus(
            parts, url_ids, addresses, lambda: _select(parts, url_ids, url_count, about["languages"], all_captures),
            about, room, writer, progress,
        )  # fmt: skip
    skipped = Counter(about["skipped"]) + Counter(facts["skipped"])
    return facts | count_records(about, skipped) | {"language_codes": about["languages"], "all_captures": all_captures}


def count_records(about: Mapping[str, Any], skipped: Mapping[str, int]) -> dict[str, Any]:
    """Return the facts that count what was read, given the sums over parts and all skips."""
    return {
        "html_records": about["html_records"],
        "skipped": dict(sorted(skipped.items())),
        "damaged": sum(count for reason, count in about["skipped"].items() if reason in DAMAGE_REASONS),
        "damaged_examples": about["damaged_examples"],
        "cut": dict(sorted(about["cut"].items())),
        "links_not_followed": about["dropped_links"],
    }


def write_corpus(
    parts: Parts, url_ids: Ids, addresses: Strings, select: Callable[[], Selection], whole: Mapping[str, Any],
    room: Workspace, writer: KinWriter, progress: Callable[[float], None],
) -> dict[str, Any]:  # fmt: skip
    """Write the corpus of a selection; return the facts that count its contents.

    `select` makes the selection, which is given up piece by piece. `whole` is the sum of what all parts of the collection say of
    themselves, from which arrays have their types: a shard is made of some of them. The numbers that `url_ids` has become those
    of the corpus.
    """
    rows, left_out, number, link_number, alias_url, alias_target, latest, skipped = select()
    url_count = put_strings(writer, "url", gather_pieces(*addresses, np.flatnonzero(number >= 0)))
    writer.put("alias.url", alias_url.astype(np.uint32))
    writer.put("alias.target", alias_target.astype(np.uint32))
    kept = rows[~left_out]
    kept["url"] = number[kept["url"]]
    url_ids.renumber(link_number)
    del addresses, number, link_number
    word_ids = Ids(parts, "words", room)
    term_count = _merge_words(parts, word_ids, rows, left_out, writer)
    del rows
    give_back_memory()
    progress(0.35)
    types = {
        "anchor.target": smallest_uint(url_count), "anchor.start": smallest_uint(whole["longest_page"]),
        "anchor.length": smallest_uint(whole["longest_anchor"]), "page.date": smallest_uint(latest),
    }  # fmt: skip
    targets = _write_pages(parts, word_ids, url_ids, kept, types, writer, lambda share: progress(0.35 + 0.5 * share))
    hosts = put_hosts(kept["url"], writer)
    _write_records(kept, parts.archives, writer)
    del word_ids, url_ids
    give_back_memory()
    links = invert_anchors(targets, kept["anchors"], kept["url"], url_count, writer)
    progress(1.0)
    pages_in = np.bincount(kept["language"], minlength=len(whole["languages"])).tolist()
    return {
        "pages": len(kept),
        "urls": url_count,
        "words": int(kept["tokens"].sum(dtype=np.int64)),
        "terms": term_count,
        "anchors": int(kept["anchors"].sum(dtype=np.int64)),
        "links": links,
        "hosts": hosts,
        "aliases": len(alias_url),
        "html_bytes": int(kept["html_bytes"].sum(dtype=np.int64)),
        "skipped": dict(skipped),
        "languages": {
            code or "unknown": count for code, count in zip(whole["languages"], pages_in, strict=True) if count
        },
    }


def all_rows(parts: Parts, url_ids: Ids, languages: list[str]) -> Array:
    """Return all pages of all parts, numbered across parts, and where each is stored."""
    rows = np.zeros(sum(about["pages"] for about in parts.abouts), dtype=[*PAGE_ROW.descr, ("part", "<u4")])
    start = 0
    for part, about in enumerate(parts.abouts):
        pages, ids = parts.load(part, "pages"), url_ids.of_part(part)
        table = rows[start : start + len(pages)]
        start += len(pages)
        for name in PAGE_ROW.names or ():
            table[name] = pages[name]
        table["part"] = part
        table["url"] = ids[pages["url"]]
        aliased = pages["canonical"] >= 0
        table["canonical"][aliased] = ids[pages["canonical"][aliased]]
        local = np.array([languages.index(language) for language in about["languages"]], dtype=np.uint16)
        table["language"] = local[pages["language"]]
        table["archive"] = np.searchsorted(parts.archives, about["archives"])[pages["archive"]]
    # One capture may stand in several archives, or several times in one: the first record is taken.
    return rows[np.lexsort((rows["offset"], rows["archive"], rows["digest"], -rows["date"], rows["url"]))]


def _pairs(parts: Parts, url_ids: Ids, name: str) -> Array:
    """Return all (url, target, date) rows of a kind of `Records`, numbered across parts, in a fixed order."""
    tables = [np.zeros((0, 3), dtype=np.int64)]
    for part in range(len(parts)):
        table = parts.load(part, name)
        table[:, :2] = url_ids.of_part(part)[table[:, :2]]
        tables.append(table)
    return np.unique(np.concatenate(tables), axis=0)


def count_links(parts: Parts, url_ids: Ids, rows: Array, left_out: Array, url_count: int) -> Array:
    """Return how many links of kept captures lead to each address."""
    counts = url_ids.add_up("url_counts", url_count)
    for row in rows[left_out]:
        anchors = np.frombuffer(parts.piece(row, "anchors"), dtype=ANCHOR)
        np.subtract.at(counts, url_ids.of_part(row["part"])[anchors["target"]], 1)
    return counts


def _select(parts: Parts, url_ids: Ids, url_count: int, languages: list[str], all_captures: bool) -> Selection:
    """Return the selection of one corpus from all parts.

    It needs the addresses of its pages, what these link to, and the other names of both. What was named by captures alone that
    gave way to others, or by redirects to nowhere, is forgotten.
    """
    rows = all_rows(parts, url_ids, languages)
    others = Records(*(_pairs(parts, url_ids, name) for name in Records._fields))
    chosen = choose_pages(rows, others, url_count, all_captures, lambda row: parts.piece(row, "title"))
    left_out = np.ones(len(rows), dtype=bool)
    left_out[chosen.pages] = False
    needed = count_links(parts, url_ids, rows, left_out, len(chosen.target_of)) > 0
    needed[chosen.target_of[needed]] = True
    needed[rows["url"][~left_out]] = True
    needed[chosen.alias_url] |= needed[chosen.alias_target]
    number = np.where(needed, np.cumsum(needed) - 1, -1)
    aliased = needed[chosen.alias_url]
    return Selection(
        rows, left_out, number, number[chosen.target_of], number[chosen.alias_url[aliased]],
        number[chosen.alias_target[aliased]], int(rows["date"][~left_out].max(initial=0)), chosen.left_out,
    )  # fmt: skip


def _merge_words(parts: Parts, word_ids: Ids, rows: Array, left_out: Array, writer: KinWriter) -> int:
    """Write the terms, the most frequent first, then by word; `word_ids` become ranks. Return the number of terms."""
    words = word_ids.merge()
    counts = word_ids.add_up("word_counts", len(words.starts) - 1)
    for row in rows[left_out]:  # words of pages that gave way to others do not count
        tokens = np.frombuffer(parts.piece(row, "tokens"), dtype="<u4")
        np.subtract.at(counts, word_ids.of_part(row["part"])[tokens], 1)
    order = np.argsort(-counts, kind="stable")
    order = order[: int(np.count_nonzero(counts))]
    rank = np.zeros(len(counts), dtype=np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    word_ids.renumber(rank)
    writer.put("term.count", counts[order].astype(smallest_uint(int(counts.max(initial=0)))))
    writer.put("term.order", rank[counts > 0])
    return put_strings(writer, "term", gather_pieces(*words, order))


def _offsets(counts: Array) -> Array:
    """Return running totals from 0, in the smallest integer type."""
    offsets = np.cumsum(np.append(0, counts))
    return offsets.astype(smallest_uint(int(offsets[-1])))


def _write_pages(
    parts: Parts, word_ids: Ids, url_ids: Ids, kept: Array, types: Mapping[str, npt.DTypeLike], writer: KinWriter,
    progress: Callable[[float], None],
) -> Array:  # fmt: skip
    """Write the pages' streams, anchors, texts and tables; return the targets of all anchors, memory-mapped."""
    own_types: dict[str, npt.DTypeLike] = {
        "stream.words": np.uint16, "stream.rare": np.uint32, "mark.gap": np.uint8, "mark.kind": np.uint8,
        **{name: types[name] for name in ("anchor.target", "anchor.start", "anchor.length")}, "anchor.flags": np.uint8,
        "text.frames": np.uint8, "title.bytes": np.uint8, "snippet.bytes": np.uint8,
    }  # fmt: skip
    files = {name: writer.create(name, dtype) for name, dtype in own_types.items()}
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
            "anchor.target": url_ids.of(anchors["target"], rows["part"], rows["anchors"]),
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
    writer.put("page.date", kept["date"].astype(types["page.date"]))
    for name in ("url", "digest", "html_bytes", "language", "flags"):
        writer.put(f"page.{name}", kept[name])
    return files["anchor.target"].mapped()


def _read_pieces(parts: Parts, rows: Array) -> list[Array]:
    """Return the pieces of pages' blobs, grouped by kind: words, gaps and kinds of marks, anchors, strings."""
    sizes = {piece: rows[piece].astype(np.int64) * item_bytes for piece, item_bytes in PIECES.items()}
    half = sizes["marks"] // 2
    cuts = np.cumsum(np.stack([sizes["tokens"], half, half, *list(sizes.values())[2:]], axis=1), axis=1).tolist()
    pieces = []
    for part, at, ends in zip(rows["part"].tolist(), rows["blob"].tolist(), cuts, strict=True):
        blob = parts.read(part, ends[-1], at)
        pieces.append([blob[start:end] for start, end in pairwise([0, *ends])])
    return [np.frombuffer(b"".join(kind), dtype=np.uint8) for kind in zip(*pieces, strict=True)]


def put_hosts(page_urls: Array, writer: KinWriter) -> int:
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


def _write_records(kept: Array, archives: list[str], writer: KinWriter) -> None:
    """Write where the pages' records stand, and the names of the archives that hold them."""
    used, of_page = np.unique(kept["archive"], return_inverse=True)
    data, offsets = pack_strings([archives[number].encode("utf-8", "surrogateescape") for number in used.tolist()])
    put_strings(writer, "archive", [(data, offsets[1:])])
    writer.put("record.archive", of_page.astype(smallest_uint(len(used))))
    for name in ("offset", "length"):
        writer.put(f"record.{name}", kept[name].astype(smallest_uint(int(kept[name].max(initial=0)))))


def invert_anchors(targets: Array, anchors_of_page: Array, page_urls: Array, url_count: int, writer: KinWriter) -> int:
    """Write the anchors of each target; return the number of distinct links between different addresses.

    `anchors_of_page` says how many of the `targets`, in page order, are those of each page.
    """
    counts = count_targets(targets, url_count)
    page_ends = np.cumsum(anchors_of_page, dtype=np.int64)
    inverted = writer.create("inlink.anchors", smallest_uint(max(len(targets), 1)))
    links = 0
    before = -1, -1  # the target and the source of the last anchor
    for first, last, anchors in invert(targets, counts, writer.memory):
        ends = np.cumsum(counts[first:last])
        inverted.append(anchors)
        for start, chunk in chunks(anchors):
            linked = first + np.searchsorted(ends, np.arange(start, start + len(chunk)), side="right")
            sources = page_urls[np.searchsorted(page_ends, chunk, side="right")]
            fresh = np.append(before != (linked[0], sources[0]), (np.diff(linked) != 0) | (sources[1:] != sources[:-1]))
            links += int(np.count_nonzero(fresh & (sources != linked)))
            before = int(linked[-1]), int(sources[-1])
    writer.put("inlink.offsets", _offsets(counts))
    return links
