"""Collect a part of a corpus: the pages that one worker read, sorted and written to files.

Parts use their own numbers for words and URLs, in sorted order; `merge` brings them together.
"""

import fnmatch
import hashlib
import json
import re
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

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
from pagekin.hypertext.pdf import PdfError, pdf_to_html
from pagekin.hypertext.regions import keep_content
from pagekin.hypertext.resolver import Resolver
from pagekin.hypertext.urls import canonical_url
from pagekin.sources import (
    DAMAGE_REASONS,
    PDF_TYPE,
    Gone,
    Item,
    Limits,
    Page,
    Redirect,
    Revisit,
    Skip,
    media_type,
)
from pagekin.store import Array, RaggedBytes, pack_strings

SNIPPET_BYTES = 200
_PADDING = bytes(AHEAD)
_BATCH_BYTES = 2 << 20
EXAMPLES = 20
"""How many damaged records are named."""
_BLOB_BUFFER = 1 << 20
_LANGUAGE_BYTES = 1_200

ANCHOR = np.dtype([("target", "<u4"), ("start", "<u4"), ("length", "<u4"), ("flags", "u1")])
PIECES = {"tokens": 4, "marks": 2, "anchors": ANCHOR.itemsize, "text": 1, "title": 1, "snippet": 1}
"""What the blob of a page consists of, in this order, and how many bytes each item takes."""
PAGE_ROW = np.dtype([
    ("url", "<u4"), ("date", "<i8"), ("digest", "<u8"), ("html_bytes", "<u4"), ("language", "<u2"), ("flags", "u1"),
    ("canonical", "<i4"), ("archive", "<u4"), ("offset", "<u8"), ("length", "<u8"),
    *((piece, "<u4") for piece in PIECES), ("blob", "<u8"),
])  # fmt: skip
"""What a part says of each page: the sizes of the pieces of its blob among it, and where in the part that begins."""


PART_FORM = hashlib.blake2b(repr([PAGE_ROW.descr, ANCHOR.descr, PIECES]).encode(), digest_size=6).hexdigest()
"""A digest of the form of parts: those of another form cannot be merged with them."""


def blob_sizes(rows: Array, until: str = "") -> Array:
    """Return the number of bytes in the pages' blobs, or in their pieces before `until`."""
    sizes = np.zeros(rows.shape, dtype=np.int64)
    for piece, item_bytes in PIECES.items():
        if piece == until:
            break
        sizes += rows[piece].astype(np.int64) * item_bytes
    return sizes


class Reader(Protocol):
    """A reader of pages: the fast lexer or the strict one."""

    def lex(self, pages: list[bytes]) -> LexedBatch:
        """Read pages of valid UTF-8."""

    def word_strings(self) -> list[bytes]:
        """Return all words so far, by number."""

    def href_strings(self) -> RaggedBytes:
        """Return all link addresses so far, by number."""


# Plain numbers: a flag's own arithmetic takes a microsecond each.
_CUT_BYTES, _REPLACED, _NOINDEX = int(PageFlag.CUT_BYTES), int(PageFlag.REPLACED), int(PageFlag.NOINDEX)
OBEYED = ("noindex", "x-robots-tag")
"""Requests of pages not to be indexed that a reading may obey: in a meta element, in the header. Also the reasons of skips."""
CUTS = {
    _CUT_BYTES: "page_bytes",
    int(PageFlag.CUT_TOKENS): "tokens",
    int(PageFlag.CUT_ANCHORS): "anchors",
    int(PageFlag.DEEP): "nesting",
}
_ANY_CUT = sum(CUTS)


class _WaitingPage(NamedTuple):
    """A page in the queue for the next batch."""

    item: Page
    url: str
    html: bytes
    """What is read of the page, as UTF-8."""
    replaced: bool
    """Whether some bytes were no characters."""


class PartBuilder:
    """A collector of pages, which writes them as one part."""

    def __init__(
        self, reader: Reader, limits: Limits, exclude: Iterable[str] = (), content: Sequence[str] = (),
        obey: Sequence[str] = (),
    ) -> None:  # fmt: skip
        """Start a part without pages whose address matches a pattern of `exclude`; `content` as in `keep_content`.

        What pages ask for that is among `obey`, of `OBEYED`, is done: they are left out, as if they were gone since then.
        """
        self.reader = reader
        self.limits = limits
        self._excluded = re.compile("|".join(map(fnmatch.translate, exclude)) or r"(?!)")
        self._content, self._obey = content, obey
        self.resolver = Resolver()
        self.tokens = 0
        self.sources: set[str] = set()
        """The names of the sources of what was taken."""
        self.skipped: Counter[str] = Counter()
        self._damaged: list[str] = []
        self._html_records = 0
        self._cut: Counter[str] = Counter()
        self._waiting: list[_WaitingPage] = []
        self._waiting_bytes = 0
        self._hrefs = reader.href_strings()
        self._rows = [np.zeros(0, dtype=PAGE_ROW)]
        self._words = [np.zeros(0, dtype=np.int32)]
        self._anchors = [np.zeros(0, dtype=ANCHOR)]
        self._code: list[tuple[bytes, bytes]] = []
        """Of each page the pieces of its blob before the anchors but for the words, and those after them."""
        self._languages: dict[str, int] = {"": 0}
        self._archives: dict[str, int] = {"": 0}
        self._redirects: list[tuple[int, int, int]] = []
        self._revisits: list[tuple[int, int, int]] = []
        self._gone: list[tuple[int, int, int]] = []
        self._compressor = zstandard.ZstdCompressor(level=3)

    def take(self, item: Item) -> None:
        """Add an item of a source."""
        if isinstance(item, Skip):
            self._skip(item)
            return
        url = self._url(item.url)
        if url is None:
            self._skip(Skip("bad url", url=item.url, html=isinstance(item, Page)))
            return
        if isinstance(item, Redirect):
            target = self._url(item.target, url)
            if target is not None and target != url:
                self._redirects.append((self.resolver.number(url), self.resolver.number(target), item.date))
        elif isinstance(item, Revisit):
            original = self._url(item.original)
            if original is not None:
                self._revisits.append((self.resolver.number(url), self.resolver.number(original), item.date))
        elif isinstance(item, Gone):
            number = self.resolver.number(url)
            self._gone.append((number, number, item.date))
        elif self._excluded.match(url):
            self._skip(Skip("excluded", url=url, html=True))
        elif item.noindex and OBEYED[1] in self._obey:
            self._skip(Skip(OBEYED[1], url=url, html=True))
            number = self.resolver.number(url)
            self._gone.append((number, number, item.date))
        else:
            try:
                html, replaced = self._as_utf8(item)
            except PdfError as error:
                self._skip(Skip("unreadable pdf", url=url, detail=str(error), html=True))
                return
            self._html_records += 1
            self._waiting.append(_WaitingPage(item, url, keep_content(html, self._content), replaced))
            self._waiting_bytes += len(self._waiting[-1].html)
            if self._waiting_bytes >= _BATCH_BYTES:
                self.flush()

    def _as_utf8(self, page: Page) -> tuple[bytes, bool]:
        """Return (a page as HTML in UTF-8, whether some bytes were not characters); PdfError for a PDF without text."""
        if media_type(page.content_type) == PDF_TYPE:
            return pdf_to_html(page.html, self.limits.pdf_pages, self.limits.page_bytes), False
        return to_utf8(page.html, page.content_type)

    def _skip(self, item: Skip) -> None:
        """Count a skipped record."""
        self.skipped[item.reason] += 1
        self._html_records += item.html
        if item.reason in DAMAGE_REASONS:
            # The first in alphabetical order, so that they do not depend on who met them first.
            insort(self._damaged, str(item))
            del self._damaged[EXAMPLES:]

    def _url(self, url: str, base: str | None = None) -> str | None:
        """Return the canonical URL of an address, unless it is too long: every link of a page may repeat it."""
        return canonical_url(url, base) if len(url) <= self.limits.url_bytes else None

    def _link_url(self, number: int, base: str) -> str | None:
        """Return the URL of a link address by its number; None if there is none, or it is not of a page."""
        return canonical_url(self._hrefs.text(number), base) if number >= 0 else None

    def flush(self) -> None:
        """Read the waiting pages."""
        if not self._waiting:
            return
        batch = self.reader.lex([page.html for page in self._waiting])
        self._hrefs = self.reader.href_strings()
        self._words.append((batch.words & 0xFFFFFFFF).astype(np.int32))
        self.tokens += len(batch.words)
        self.resolver.dropped += int(batch.rows[:, slots.R_DROPPED].clip(0).sum())
        base_hrefs = batch.rows[:, slots.R_BASE].tolist()
        bases = [
            self._link_url(href, page.url) or page.url for page, href in zip(self._waiting, base_hrefs, strict=True)
        ]
        lexed = zip(self._waiting, batch.rows.tolist(), _code_streams(batch), strict=True)
        rows = np.array([self._add_page(*one) for one in lexed], dtype=PAGE_ROW)
        rows["url"] = self.resolver.numbers([page.url for page in self._waiting])
        rows["canonical"] = self._number_aliases(bases, batch.rows[:, slots.R_CANONICAL].tolist())
        rows["tokens"] = np.diff(batch.rows[:, slots.R_TOKENS], prepend=0)
        rows["anchors"] = self._resolve(batch, bases)
        self._rows.append(rows)
        self._waiting, self._waiting_bytes = [], 0

    def _resolve(self, batch: LexedBatch, bases: list[str]) -> Array:
        """Resolve the anchors of a batch, keep those that lead to pages; return the number of anchors per page."""
        ends = batch.rows[:, slots.R_ANCHORS]
        pages = np.repeat(np.arange(len(bases)), np.diff(ends, prepend=0))
        lexed = batch.anchors
        urls = [page.url for page in self._waiting]
        targets = self.resolver.resolve(self._hrefs, lexed[:, slots.A_HREF], pages, urls, bases)
        kept = targets >= 0
        anchors = np.empty(int(np.count_nonzero(kept)), dtype=ANCHOR)
        anchors["target"] = targets[kept]
        anchors["start"] = lexed[kept, slots.A_START]
        anchors["length"] = np.maximum(lexed[kept, slots.A_END] - lexed[kept, slots.A_START], 0)
        anchors["flags"] = lexed[kept, slots.A_FLAGS]
        self._anchors.append(anchors)
        return np.diff(np.concatenate([[0], np.cumsum(kept)])[ends], prepend=0)

    def _number_aliases(self, bases: list[str], hrefs: list[int]) -> npt.NDArray[np.int64]:
        """Return the number of the address that each waiting page says is its own; -1 where it names no other."""
        named = (self._link_url(href, base) for href, base in zip(hrefs, bases, strict=True))
        aliases = [
            "" if url is None or url == page.url else url for page, url in zip(self._waiting, named, strict=True)
        ]
        numbers = np.full(len(aliases), -1, np.int64)
        numbers[[url != "" for url in aliases]] = self.resolver.numbers([url for url in aliases if url])
        return numbers

    def _add_page(self, page: _WaitingPage, row: list[int], coded: tuple[bytes, bytes, bytes]) -> Any:
        """Store the pieces of a page's blob; return its `PAGE_ROW`, without fields that are set batch by batch."""
        marks, text, starts = coded
        frame = self._compressor.compress(len(text).to_bytes(4, "little") + text + starts)
        written = text[max(0, row[slots.R_TITLE0]) : max(0, row[slots.R_TITLE1])].decode("utf-8", "replace")
        body = max(0, row[slots.R_BODY])
        title, snippet = " ".join(written.split()).encode(), _snippet(text, body)
        self._code.append((marks, frame + title + snippet))
        flags = row[slots.R_FLAGS] | _CUT_BYTES * page.item.cut | _REPLACED * page.replaced
        if flags & _ANY_CUT:
            self._cut.update(name for flag, name in CUTS.items() if flags & flag)
        language = ""
        if row[slots.R_LANG0] >= 0:
            language = declared_language(page.html[row[slots.R_LANG0] : row[slots.R_LANG1]].decode("utf-8", "replace"))
        if not language:
            language = detected_language(text[body : body + _LANGUAGE_BYTES].decode("utf-8", "replace"))
        # The declared type is part of what was captured: it may decide how the same bytes read.
        archive, offset, length = page.item.place
        hashed = hashlib.blake2b(page.item.html, digest_size=8, person=_shorten_type(page.item.content_type))
        return (
            0, page.item.date, int.from_bytes(hashed.digest(), "little"), min(len(page.item.html), 0xFFFFFFFF),
            self._languages.setdefault(language, len(self._languages)), flags & 255,
            -1, self._archives.setdefault(archive, len(self._archives)), offset * (length > 0), length,
            0, len(marks) // 2, 0, len(frame), len(title), len(snippet), 0,
        )  # fmt: skip

    def _drop_noindex(self) -> None:
        """Drop the pages with a noindex meta element, which is known only after reading them."""
        rows = np.concatenate(self._rows)
        stays = (rows["flags"] & _NOINDEX) == 0
        for row in rows[~stays]:
            self._skip(Skip(OBEYED[0]))
            self._gone.append((int(row["url"]), int(row["url"]), int(row["date"])))
        self._words = [np.concatenate(self._words)[np.repeat(stays, rows["tokens"])]]
        self._anchors = [np.concatenate(self._anchors)[np.repeat(stays, rows["anchors"])]]
        self._code = [coded for coded, stay in zip(self._code, stays.tolist(), strict=True) if stay]
        self._rows = [rows[stays]]

    def write(self, folder: Path) -> None:
        """Write the part's files into a new `folder`."""
        self.flush()
        if OBEYED[0] in self._obey:
            self._drop_noindex()
        folder.mkdir()
        words, word_map = _sort_strings(*pack_strings([*_fold_words(self.reader.word_strings()), _PADDING]))
        urls, url_map = _sort_strings(*self.resolver.urls())
        tokens = word_map[np.concatenate(self._words)]
        anchors = np.concatenate(self._anchors)
        anchors["target"] = url_map[anchors["target"]]
        rows = np.concatenate(self._rows)
        rows["url"] = url_map[rows["url"]]
        has_alias = rows["canonical"] >= 0
        rows["canonical"][has_alias] = url_map[rows["canonical"][has_alias]]
        tokens_of = np.split(tokens, np.cumsum(rows["tokens"], dtype=np.int64))
        anchors_of = np.split(anchors, np.cumsum(rows["anchors"], dtype=np.int64))
        order = np.lexsort((rows["digest"], -rows["date"], rows["url"]))
        with (folder / "blobs").open("wb", buffering=_BLOB_BUFFER) as file:
            for i in order.tolist():
                marks, texts = self._code[i]
                file.write(tokens_of[i].tobytes() + marks + anchors_of[i].tobytes() + texts)
        rows = rows[order]
        rows["blob"] = np.cumsum(blob_sizes(rows)) - blob_sizes(rows)
        others = {}
        for name, triples in (("redirects", self._redirects), ("revisits", self._revisits), ("gone", self._gone)):
            others[name] = np.array(triples, dtype=np.int64).reshape(-1, 3)
            others[name][:, :2] = url_map[others[name][:, :2]]
        counts = {
            "words": np.bincount(tokens, minlength=len(words[1]) - 1),
            "urls": np.bincount(anchors["target"], minlength=len(urls[1]) - 1),
        }
        write_tables(folder, rows, {"words": words, "urls": urls}, counts, others)
        about = {
            "sources": sorted(self.sources),
            "skipped": self.skipped,
            "cut": self._cut,
            "damaged_examples": self._damaged,
            "html_records": self._html_records,
            "pages": len(rows),
            "languages": list(self._languages),
            "archives": list(self._archives),
            "dropped_links": self.resolver.dropped,
            "longest_page": int(rows["tokens"].max(initial=0)),
            "longest_anchor": int(anchors["length"].max(initial=0)),
        }
        (folder / "about.json").write_text(json.dumps(about))


def write_tables(
    folder: Path, rows: Array, strings: Mapping[str, tuple[Array, Array]], counts: Mapping[str, Array],
    others: Mapping[str, Array],
) -> None:  # fmt: skip
    """Write the tables of a part: pages, words and addresses with their counts, and other records."""
    np.save(folder / "pages.npy", rows)
    for name, (data, offsets) in strings.items():
        # Not by tofile, whose error on a full disk does not say so. Merging reads ahead.
        (folder / f"{name}.bytes").write_bytes(data.tobytes() + _PADDING)
        (folder / f"{name}.offsets").write_bytes(offsets.data)
        np.save(folder / f"{name[:-1]}_counts.npy", counts[name].astype(np.uint64))
    for name, table in others.items():
        np.save(folder / f"{name}.npy", table)


def _code_streams(batch: LexedBatch) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield (marks: all gaps, then all kinds; text; word offsets) of each page, in stored form."""
    text = batch.text.tobytes()
    starts, _, start_ends = _code(batch.words, 32, batch.rows[:, slots.R_TOKENS], with_kinds=False)
    gaps, kinds, mark_ends = _code(batch.events, 8, batch.rows[:, slots.R_EVENTS], with_kinds=True)
    text_ends = [0, *batch.rows[:, slots.R_TEXT].tolist()]
    for page in range(len(batch.rows)):
        marks = slice(mark_ends[page], mark_ends[page + 1])
        yield (
            gaps[marks] + kinds[marks],
            text[text_ends[page] : text_ends[page + 1]],
            starts[start_ends[page] : start_ends[page + 1]],
        )


def _code(values: Array, shift: int, ends: Array, with_kinds: bool) -> tuple[bytes, bytes, list[int]]:
    """Return (gaps, kinds, the end of each page in them, from 0) of the positions in `values` (see `code_gaps`)."""
    room = len(values) + len(values) // 4 + 256
    page_ends = np.empty(len(ends), dtype=np.int64)
    while True:
        gaps, kinds = np.empty(room, dtype=np.uint8), np.empty(room * with_kinds, dtype=np.uint8)
        size = code_gaps(values, shift, np.ascontiguousarray(ends), gaps, kinds, page_ends)
        if size <= room:
            return gaps[:size].tobytes(), kinds[:size].tobytes(), [0, *page_ends.tolist()]
        room = 2 * size


@lru_cache(maxsize=64)
def _shorten_type(content_type: str) -> bytes:
    """Return a Content-Type in sixteen bytes, for the personalisation of a hash."""
    return hashlib.blake2b(content_type.encode("utf-8", "replace"), digest_size=16).digest()


def _fold_words(words: Iterable[bytes]) -> list[bytes]:
    """Return words without differences of case; those of ASCII letters have none any more."""
    return [
        word if word.isascii() else fold_case(word.decode("utf-8", "replace")).encode("utf-8", "replace")
        for word in words
    ]


def _sort_strings(data: Array, bounds: Array) -> tuple[tuple[Array, Array], Array]:
    """Return ((the distinct strings, sorted, as data and offsets), the place of each input string among them).

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
