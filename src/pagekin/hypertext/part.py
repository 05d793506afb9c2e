"""Collect a part of a corpus: what a worker made of some pages, sorted and written to files of its own.

Parts use their own numbers for words and URLs, in sorted order; `merge` brings them together.
"""

import hashlib
import json
from bisect import insort
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import zstandard

from pagekin.hypertext import batch as slots
from pagekin.hypertext._kernels.gaps import code_gaps
from pagekin.hypertext._kernels.strings import AHEAD, gather_strings, sort_strings
from pagekin.hypertext.batch import LexedBatch
from pagekin.hypertext.charset import to_utf8
from pagekin.hypertext.language import declared_language, detected_language
from pagekin.hypertext.model import PageFlag, fold_case
from pagekin.hypertext.resolver import Resolver
from pagekin.hypertext.urls import canonical_url
from pagekin.sources import DAMAGE_REASONS, Item, Limits, Page, Redirect, Revisit, Skip
from pagekin.store import pack_strings

Array = npt.NDArray[Any]
SNIPPET_BYTES = 200
_PADDING = bytes(AHEAD)
_BATCH_BYTES = 2 << 20
_EXAMPLES = 20
_BLOB_BUFFER = 1 << 20
_LANGUAGE_BYTES = 1_200

PAGE_ROW = np.dtype(
    [
        ("url", "<u4"),
        ("date", "<i8"),
        ("digest", "<u8"),
        ("html_bytes", "<u4"),
        ("language", "<u2"),
        ("flags", "u1"),
        ("canonical", "<i4"),
        ("tokens", "<u4"),
        ("marks", "<u4"),
        ("anchors", "<u4"),
        ("text", "<u4"),
        ("title", "<u4"),
        ("snippet", "<u4"),
        ("blob", "<u8"),
    ]
)
"""What a part says of each page; the counts tell how its blob is laid out."""
ANCHOR = np.dtype([("target", "<u4"), ("start", "<u4"), ("length", "<u4"), ("flags", "u1")])


class Reader(Protocol):
    """A reader of pages: the fast lexer or the strict one."""

    def lex(self, pages: list[bytes]) -> LexedBatch:
        """Read pages of valid UTF-8."""

    def word_strings(self) -> list[bytes]:
        """Return all words so far, by number."""

    def href_strings(self) -> list[bytes]:
        """Return all link addresses so far, by number."""


class Tally:
    """Counts of what was met while reading, other than pages."""

    def __init__(self) -> None:
        self.skipped: Counter[str] = Counter()
        self.examples: list[str] = []
        self.html_records = 0
        self.damaged = 0
        self.cut: Counter[str] = Counter()

    def note(self, item: Skip) -> None:
        """Count a skipped record."""
        self.skipped[item.reason] += 1
        if item.html:
            self.html_records += 1
        if item.reason in DAMAGE_REASONS:
            self.damaged += 1
            # The first in alphabetical order, so that they do not depend on who met them first.
            insort(self.examples, str(item))
            del self.examples[_EXAMPLES:]

    def add(self, other: dict[str, Any]) -> None:
        """Add another tally's `as_dict`."""
        self.skipped.update(other["skipped"])
        self.cut.update(other["cut"])
        self.examples = sorted({*self.examples, *other["examples"]})[:_EXAMPLES]
        self.html_records += other["html_records"]
        self.damaged += other["damaged"]

    def as_dict(self) -> dict[str, Any]:
        """Return the tally as JSON can hold it."""
        return {
            "skipped": dict(self.skipped),
            "examples": self.examples,
            "html_records": self.html_records,
            "damaged": self.damaged,
            "cut": dict(self.cut),
        }


# Plain numbers: a flag's own arithmetic takes a microsecond each.
_CUT_BYTES, _REPLACED = int(PageFlag.CUT_BYTES), int(PageFlag.REPLACED)
_CUTS = {
    _CUT_BYTES: "page_bytes",
    int(PageFlag.CUT_TOKENS): "tokens",
    int(PageFlag.CUT_ANCHORS): "anchors",
    int(PageFlag.DEEP): "nesting",
}
_ANY_CUT = sum(_CUTS)


class PartBuilder:
    """A collector of pages that writes them as one part."""

    def __init__(self, reader: Reader, limits: Limits) -> None:
        self.reader = reader
        self.limits = limits
        self.tally = Tally()
        self.resolver = Resolver()
        self.tokens = 0
        self._waiting: list[tuple[Page, str, bytes, bool]] = []
        self._waiting_bytes = 0
        self._rows: list[tuple[Any, ...]] = []
        self._words: list[Array] = []
        self._anchors: list[Array] = []
        self._marks: list[bytes] = []
        self._texts: list[bytes] = []
        self._titles: list[bytes] = []
        self._snippets: list[bytes] = []
        self._languages: dict[str, int] = {"": 0}
        self._redirects: list[tuple[int, int, int]] = []
        self._revisits: list[tuple[int, int, int]] = []
        self._compressor = zstandard.ZstdCompressor(level=3)

    def take(self, item: Item) -> None:
        """Add one item of a source."""
        if isinstance(item, Skip):
            self.tally.note(item)
            return
        url = self._url(item.url)
        if url is None:
            self.tally.note(Skip("bad url", url=item.url, html=isinstance(item, Page)))
            return
        if isinstance(item, Redirect):
            target = self._url(item.target, url)
            if target is not None and target != url:
                self._redirects.append((self.resolver.number(url), self.resolver.number(target), item.date))
        elif isinstance(item, Revisit):
            original = self._url(item.original)
            if original is not None:
                self._revisits.append((self.resolver.number(url), self.resolver.number(original), item.date))
        else:
            self.tally.html_records += 1
            html, replaced = to_utf8(item.html, item.content_type)
            self._waiting.append((item, url, html, replaced))
            self._waiting_bytes += len(html)
            if self._waiting_bytes >= _BATCH_BYTES:
                self.flush()

    def _url(self, url: str, base: str | None = None) -> str | None:
        """Return the canonical URL of an address that is not too long: all links of a page may repeat its own."""
        return canonical_url(url, base) if len(url) <= self.limits.url_bytes else None

    def flush(self) -> None:
        """Read the pages that wait."""
        if not self._waiting:
            return
        batch = self.reader.lex([html for _, _, html, _ in self._waiting])
        self._words.append((batch.words & 0xFFFFFFFF).astype(np.int32))
        self.tokens += len(batch.words)
        self.resolver.dropped += int(batch.rows[:, slots.R_DROPPED].clip(0).sum())
        base_hrefs = batch.rows[:, slots.R_BASE].tolist()
        bases = [self._base(url, href) for (_, url, _, _), href in zip(self._waiting, base_hrefs, strict=True)]
        self._resolve(batch, bases)
        numbers = self.resolver.numbered([url for _, url, _, _ in self._waiting])
        streams = _CodedStreams(batch)
        previous = [0] * slots.ROW_SIZE
        for number, (row, base) in enumerate(zip(batch.rows.tolist(), bases, strict=True)):
            page, url, html, replaced = self._waiting[number]
            self._add_page(page, url, numbers[number], html, replaced, base, row, previous, streams.of(number))
            previous = row
        self._waiting, self._waiting_bytes = [], 0

    def _base(self, url: str, base_href: int) -> str:
        if base_href < 0:
            return url
        href = self.reader.href_strings()[base_href].decode("utf-8", "replace")
        return canonical_url(href, url) or url

    def _resolve(self, batch: LexedBatch, bases: list[str]) -> None:
        """Resolve the batch's anchors and keep those that lead to a page; their counts replace the lexer's in rows."""
        ends = batch.rows[:, slots.R_ANCHORS].copy()
        counts = np.diff(ends, prepend=0)
        contexts = np.array([self.resolver.contexts(base) for base in bases], dtype=np.int64).reshape(-1, 5)
        lexed = batch.anchors
        targets = self.resolver.resolve(
            self.reader.href_strings(), lexed[:, slots.A_HREF], np.repeat(contexts, counts, axis=0)
        )
        kept = targets >= 0
        anchors = np.empty(int(np.count_nonzero(kept)), dtype=ANCHOR)
        anchors["target"] = targets[kept]
        anchors["start"] = lexed[kept, slots.A_START]
        anchors["length"] = np.maximum(lexed[kept, slots.A_END] - lexed[kept, slots.A_START], 0)
        anchors["flags"] = lexed[kept, slots.A_FLAGS]
        self._anchors.append(anchors)
        batch.rows[:, slots.R_ANCHORS] = np.concatenate([[0], np.cumsum(kept)])[ends]

    def _add_page(
        self,
        page: Page,
        url: str,
        url_number: int,
        html: bytes,
        replaced: bool,
        base: str,
        row: list[int],
        previous: list[int],
        coded: tuple[bytes, bytes, bytes],
    ) -> None:
        marks, text, offsets = coded
        frame = self._compressor.compress(len(text).to_bytes(4, "little") + text + offsets)
        title = text[max(0, row[slots.R_TITLE0]) : max(0, row[slots.R_TITLE1])]
        body = max(0, row[slots.R_BODY])
        flags = row[slots.R_FLAGS] | _CUT_BYTES * page.cut | _REPLACED * replaced
        if flags & _ANY_CUT:
            self.tally.cut.update(name for flag, name in _CUTS.items() if flags & flag)
        language = ""
        if row[slots.R_LANG0] >= 0:
            language = declared_language(html[row[slots.R_LANG0] : row[slots.R_LANG1]].decode("utf-8", "replace"))
        if not language:
            language = detected_language(text[body : body + _LANGUAGE_BYTES].decode("utf-8", "replace"))
        alias = None
        if row[slots.R_CANONICAL] >= 0:
            alias = canonical_url(self.reader.href_strings()[row[slots.R_CANONICAL]].decode("utf-8", "replace"), base)
        self._marks.append(marks)
        self._texts.append(frame)
        self._titles.append(" ".join(title.decode("utf-8", "replace").split()).encode())
        self._snippets.append(_snippet(text, body))
        # The declared type is part of what was captured: it may decide how the same bytes read.
        hashed = hashlib.blake2b(page.html, digest_size=8, person=_short(page.content_type))
        self._rows.append(
            (
                url_number,
                page.date,
                int.from_bytes(hashed.digest(), "little"),
                min(len(page.html), 0xFFFFFFFF),
                self._languages.setdefault(language, len(self._languages)),
                flags & 255,
                self.resolver.number(alias) if alias is not None and alias != url else -1,
                row[slots.R_TOKENS] - previous[slots.R_TOKENS],
                len(marks) // 2,
                row[slots.R_ANCHORS] - previous[slots.R_ANCHORS],
                len(frame),
                len(self._titles[-1]),
                len(self._snippets[-1]),
                0,
            )
        )

    @property
    def empty(self) -> bool:
        """Return whether nothing was added."""
        return not (self._rows or self._waiting or self._redirects or self._revisits)

    def write(self, folder: Path) -> None:
        """Write the part's files into `folder`, which is made."""
        self.flush()
        folder.mkdir()
        words, word_map = _sorted(*pack_strings([*map(_fold_word, self.reader.word_strings()), _PADDING]))
        urls, url_map = _sorted(*self.resolver.urls())
        tokens = word_map[np.concatenate(self._words)] if self._words else np.zeros(0, dtype="<u4")
        anchors = np.concatenate(self._anchors) if self._anchors else np.zeros(0, dtype=ANCHOR)
        anchors["target"] = url_map[anchors["target"]]
        rows = np.array(self._rows, dtype=PAGE_ROW)
        rows["url"] = url_map[rows["url"]]
        has_alias = rows["canonical"] >= 0
        rows["canonical"][has_alias] = url_map[rows["canonical"][has_alias]]
        token_ends = np.cumsum(rows["tokens"], dtype=np.int64)
        anchor_ends = np.cumsum(rows["anchors"], dtype=np.int64)
        order = np.lexsort((rows["digest"], -rows["date"], rows["url"]))
        position = 0
        sizes = rows["tokens"].tolist(), rows["anchors"].tolist()
        starts = (token_ends - rows["tokens"]).tolist(), (anchor_ends - rows["anchors"]).tolist()
        with (folder / "blobs").open("wb", buffering=_BLOB_BUFFER) as file:
            for i in order.tolist():
                rows["blob"][i] = position
                first, link = starts[0][i], starts[1][i]
                blob = b"".join(
                    (
                        tokens[first : first + sizes[0][i]].tobytes(),
                        self._marks[i],
                        anchors[link : link + sizes[1][i]].tobytes(),
                        self._texts[i],
                        self._titles[i],
                        self._snippets[i],
                    )
                )
                file.write(blob)
                position += len(blob)
        np.save(folder / "pages.npy", rows[order])
        np.save(folder / "word_counts.npy", np.bincount(tokens, minlength=len(words[1]) - 1).astype(np.uint64))
        for name, (data, offsets) in (("words", words), ("urls", urls)):
            # Not by tofile, whose error on a full disk does not say so.
            (folder / f"{name}.bytes").write_bytes(data.data)
            (folder / f"{name}.offsets").write_bytes(offsets.data)
        for name, triples in (("redirects", self._redirects), ("revisits", self._revisits)):
            table = np.array(triples, dtype=np.int64).reshape(-1, 3)
            table[:, :2] = url_map[table[:, :2]]
            np.save(folder / f"{name}.npy", table)
        about = {
            **self.tally.as_dict(),
            "languages": list(self._languages),
            "dropped_links": self.resolver.dropped,
            "longest_page": int(rows["tokens"].max(initial=0)),
            "longest_anchor": int(anchors["length"].max(initial=0)),
        }
        (folder / "about.json").write_text(json.dumps(about))


class _CodedStreams:
    """A batch's marks, texts and word offsets in their stored forms, coded for all pages at once."""

    def __init__(self, batch: LexedBatch) -> None:
        rows = batch.rows
        self._text = batch.text.tobytes()
        self._text_ends = [0, *rows[:, slots.R_TEXT].tolist()]
        offsets, _, self._offset_ends = _coded(batch.words, 32, rows[:, slots.R_TOKENS], with_kinds=False)
        gaps, kinds, self._mark_ends = _coded(batch.events, 8, rows[:, slots.R_EVENTS], with_kinds=True)
        self._offsets, self._gaps, self._kinds = offsets.tobytes(), gaps.tobytes(), kinds.tobytes()

    def of(self, page: int) -> tuple[bytes, bytes, bytes]:
        """Return (marks: all gaps, then all kinds; text; word offsets) of one page."""
        marks = slice(self._mark_ends[page], self._mark_ends[page + 1])
        return (
            self._gaps[marks] + self._kinds[marks],
            self._text[self._text_ends[page] : self._text_ends[page + 1]],
            self._offsets[self._offset_ends[page] : self._offset_ends[page + 1]],
        )


def _coded(values: Array, shift: int, ends: Array, with_kinds: bool) -> tuple[Array, Array, list[int]]:
    """Return (gaps, kinds, where each page's end, from 0) of the positions that `values` hold (see `code_gaps`)."""
    room = len(values) + len(values) // 4 + 256
    page_ends = np.empty(len(ends), dtype=np.int64)
    while True:
        gaps, kinds = np.empty(room, dtype=np.uint8), np.empty(room * with_kinds, dtype=np.uint8)
        size = code_gaps(values, shift, np.ascontiguousarray(ends), gaps, kinds, page_ends)
        if size <= room:
            return gaps[:size], kinds[:size], [0, *page_ends.tolist()]
        room = 2 * size


@lru_cache(maxsize=64)
def _short(content_type: str) -> bytes:
    """Return a Content-Type as the sixteen bytes that a hash may be personalised with."""
    return hashlib.blake2b(content_type.encode("utf-8", "replace"), digest_size=16).digest()


def _fold_word(word: bytes) -> bytes:
    return word if word.isascii() else fold_case(word.decode("utf-8", "replace")).encode("utf-8", "replace")


def _sorted(data: Array, bounds: Array) -> tuple[tuple[Array, Array], Array]:
    """Return ((the distinct strings in order as data and offsets), the place of each input string among them).

    The last input string is none: it stands for bytes that the kernels may read ahead.
    """
    count = len(bounds) - 2
    order, places = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.uint32)
    order = order[: sort_strings(data, bounds, order, places)]
    ordered, ends = np.empty(int(bounds[count]), dtype=np.uint8), np.zeros(len(order) + 1, dtype=np.int64)
    gather_strings(data, bounds, order, ordered, ends[1:])
    return (ordered[: ends[-1]], ends), places


def _snippet(text: bytes, start: int) -> bytes:
    """Return the first words of the body, cut at a space."""
    snippet = text[start : start + SNIPPET_BYTES].decode("utf-8", "ignore")
    if len(text) > start + SNIPPET_BYTES:
        snippet = snippet.rpartition(" ")[0] or snippet
    return " ".join(snippet.split()).encode()
