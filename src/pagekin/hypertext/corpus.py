"""The corpus: what the sources said, read once, as streams of words with anchors and boundaries."""

import os
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import zstandard

from pagekin.hypertext.batch import ATTRIBUTE_EVENT
from pagekin.hypertext.columns import (
    AliasColumns,
    AnchorColumns,
    InlinkColumns,
    MarkColumns,
    PageColumns,
    StreamColumns,
    TermColumns,
)
from pagekin.hypertext.model import AnchorKind, Attribute, Boundary, PageFlag
from pagekin.hypertext.streams import RARE, StreamBatch, decode_gaps, decode_marks, decode_words
from pagekin.hypertext.urls import canonical_url
from pagekin.store import Kin, KinError, RaggedBytes, open_kin, rank

Array = npt.NDArray[Any]
Table = TypeVar("Table")
WINDOW = 32
_TERMS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Stream:
    """One page's words in document order."""

    words: npt.NDArray[np.uint32]
    """Term ids."""
    attributes: npt.NDArray[np.uint8]
    """`Attribute` flags of each word."""
    boundary_at: npt.NDArray[np.int64]
    """Boundary i lies before word boundary_at[i]."""
    boundary_kind: npt.NDArray[np.uint8]


@dataclass(frozen=True)
class AnchorView:
    """One anchor, with up to 32 words on each side of it."""

    source: str
    target: str
    text: list[str]
    left: list[str]
    right: list[str]
    kind: str
    nofollow: bool


@dataclass(frozen=True)
class AnchorWindow:
    """One anchor with the words around it, as term ids."""

    anchor: int
    page: int
    text: npt.NDArray[np.uint32]
    left: npt.NDArray[np.uint32]
    right: npt.NDArray[np.uint32]


class Corpus:
    """A read-only view of a collection's corpus."""

    def __init__(self, kin: Kin) -> None:
        self.kin = kin
        self._term_tables: dict[Hashable, Any] = {}
        self.urls = RaggedBytes.of(kin, "url")
        self.terms = RaggedBytes.of(kin, "term")
        self.titles = RaggedBytes.of(kin, "title")
        self.snippets = RaggedBytes.of(kin, "snippet")
        self.hosts = RaggedBytes.of(kin, "host")

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "Corpus":
        """Open the corpus of the collection at `path`."""
        return cls(open_kin(path))

    @property
    def facts(self) -> Mapping[str, Any]:
        """Return what reading noted: counts, skipped records, settings."""
        return self.kin.facts

    def __len__(self) -> int:
        return len(self.kin["page.url"])

    # -- columns, for other rooms ---------------------------------------------------------------------------------------

    @cached_property
    def pages(self) -> PageColumns:
        """Return numbers about each page."""
        return PageColumns.of(self.kin)

    @cached_property
    def anchors(self) -> AnchorColumns:
        """Return numbers about each anchor."""
        return AnchorColumns.of(self.kin)

    @cached_property
    def inlinks(self) -> InlinkColumns:
        """Return the anchors that lead to each URL."""
        return InlinkColumns.of(self.kin)

    @cached_property
    def aliases(self) -> AliasColumns:
        """Return the addresses that stand for others."""
        return AliasColumns.of(self.kin)

    @cached_property
    def term_table(self) -> TermColumns:
        """Return numbers about each term."""
        return TermColumns.of(self.kin)

    @cached_property
    def streams(self) -> StreamColumns:
        """Return the words of all pages, as stored."""
        return StreamColumns.of(self.kin)

    @cached_property
    def marks(self) -> MarkColumns:
        """Return the changes of attributes and the boundaries of all pages, as stored."""
        return MarkColumns.of(self.kin)

    # -- names ------------------------------------------------------------------------------------------------------

    def url(self, number: int) -> str:
        """Return the URL with this number."""
        return self.urls.text(number)

    def url_number(self, url: str) -> int:
        """Return the number of a URL in any spelling, aliases resolved; -1 if it is unknown."""
        name = canonical_url(url)
        if name is None:
            return -1
        number = self.urls.find(name.encode())
        return self.home(number) if number >= 0 else -1

    def home(self, number: int) -> int:
        """Return the URL that an alias stands for, or the URL itself if it is no alias."""
        aliases = self.kin["alias.url"]
        place = rank(aliases, number)
        if place < len(aliases) and int(aliases[place]) == number:
            return int(self.kin["alias.target"][place])
        return number

    def aliases_of(self, number: int) -> list[str]:
        """Return the other addresses of the page with this URL number."""
        low, high = rank(self._alias_targets, number), rank(self._alias_targets, number + 1)
        return [self.url(int(self.kin["alias.url"][a])) for a in sorted(self._aliases_by_target[low:high].tolist())]

    @cached_property
    def _aliases_by_target(self) -> Array:
        return np.argsort(self.kin["alias.target"], kind="stable")

    @cached_property
    def _alias_targets(self) -> Array:
        return np.asarray(self.kin["alias.target"])[self._aliases_by_target]

    def pages_of(self, number: int) -> list[int]:
        """Return the pages captured at a URL, the newest first: none, one, or several if all captures were kept."""
        urls = self.kin["page.url"]
        return list(range(rank(urls, number), rank(urls, number + 1)))

    def page_url(self, page: int) -> str:
        """Return the URL of a page."""
        return self.url(int(self.kin["page.url"][page]))

    def word(self, term: int) -> str:
        """Return a term as text."""
        return self.terms.text(term)

    def term_number(self, word: str) -> int:
        """Return the number of a (folded) word, or -1."""
        return self.terms.find(word.encode(), self.kin["term.order"])

    def language(self, page: int) -> str:
        """Return the page's language code, '' if it is unknown."""
        codes: list[str] = self.facts["language_codes"]
        return codes[int(self.kin["page.language"][page])]

    def term_blocks(self) -> Iterator[list[str]]:
        """Yield all terms as text, in blocks of neighbours: memory for a block, not for the vocabulary."""
        data, offsets = self.terms.data, self.terms.offsets
        for start in range(0, len(self.terms), _TERMS_AT_ONCE):
            bounds = np.asarray(offsets[start : start + _TERMS_AT_ONCE + 1], dtype=np.int64)
            block = data[bounds[0] : bounds[-1]].tobytes()
            ends = (bounds - bounds[0]).tolist()
            yield [block[begin:end].decode("utf-8", "replace") for begin, end in pairwise(ends)]

    def term_tables(self, key: Hashable, make: Callable[[], Table]) -> Table:
        """Return a table over all terms that another room derives, such as a vocabulary: made once for each key."""
        if key not in self._term_tables:
            self._term_tables[key] = make()
        table: Table = self._term_tables[key]
        return table

    # -- streams ----------------------------------------------------------------------------------------------------

    def _slice(self, name: str, page: int) -> slice:
        offsets = self.kin[f"page.{name}"]
        return slice(int(offsets[page]), int(offsets[page + 1]))

    def words(self, page: int) -> npt.NDArray[np.uint32]:
        """Return the term ids of the page's words in document order."""
        return decode_words(
            self.kin["stream.words"][self._slice("tokens", page)],
            self.kin["stream.rare"][self._slice("rare", page)],
        )

    def stream(self, page: int) -> Stream:
        """Return the page's words with attributes and boundaries."""
        words = self.words(page)
        marks = self._slice("marks", page)
        at, kinds = decode_marks(np.asarray(self.kin["mark.gap"][marks]), np.asarray(self.kin["mark.kind"][marks]))
        change = kinds >= ATTRIBUTE_EVENT
        bounds = np.concatenate(([0], at[change], [len(words)]))
        of = np.concatenate(([0], kinds[change] - ATTRIBUTE_EVENT)).astype(np.uint8)
        attributes = np.repeat(of, np.diff(bounds))
        return Stream(words, attributes, at[~change], kinds[~change])

    def stream_batch(self, first: int = 0, last: int | None = None) -> StreamBatch:
        """Return the stored streams of pages `first` to `last`, or of all, for kernels that call `decode_stream`."""
        tokens, rares, marks = (offsets[first : None if last is None else last + 1] for offsets in self._offsets)
        words, rare, gaps, kinds = (
            self.kin[name][offsets[0] : offsets[-1]]
            for name, offsets in (
                ("stream.words", tokens), ("stream.rare", rares), ("mark.gap", marks), ("mark.kind", marks)
            )
        )  # fmt: skip
        return StreamBatch(words, rare, gaps, kinds, tokens - tokens[0], rares - rares[0], marks - marks[0])

    @cached_property
    def _offsets(self) -> tuple[npt.NDArray[np.int64], ...]:
        """Return where the words, the rare ids and the marks of each page begin.

        Raise KinError if they lead out of their arrays, since kernels do not check bounds.
        """
        every = []
        for name, data in (("page.tokens", "stream.words"), ("page.rare", "stream.rare"), ("page.marks", "mark.gap")):
            offsets = np.asarray(self.kin[name], np.int64)
            if len(offsets) <= len(self) or offsets[-1] > len(self.kin[data]) or np.any(offsets[1:] < offsets[:-1]):
                raise KinError(
                    f"{self.kin.path} is damaged: {name} does not divide {data}. Run: pagekin check {self.kin.path}"
                )
            every.append(offsets)
        return tuple(every)

    def text(self, page: int) -> tuple[str, npt.NDArray[np.int64]]:
        """Return the page's plain text, and where in its UTF-8 form each word starts."""
        data, at = self.text_bytes(page)
        return data.decode("utf-8", "replace"), at

    def text_bytes(self, page: int) -> tuple[bytes, npt.NDArray[np.int64]]:
        """Return the page's plain text as UTF-8, and where in it each word starts."""
        text, coded = self.stored_text(page)
        return text, decode_gaps(coded)

    def stored_text(self, page: int) -> tuple[bytes, npt.NDArray[np.uint8]]:
        """Return (the plain text as UTF-8, the gaps between its words' starts, as `decode_starts` reads them)."""
        frame = self.kin["text.frames"][self._slice("text", page)].tobytes()
        raw = _decompressor().decompress(frame, max_output_size=1 << 31)
        size = int.from_bytes(raw[:4], "little")
        return raw[4 : 4 + size], np.frombuffer(raw, dtype=np.uint8, offset=4 + size)

    # -- anchors ----------------------------------------------------------------------------------------------------

    def anchors_out(self, page: int) -> range:
        """Return the numbers of the page's anchors."""
        part = self._slice("anchors", page)
        return range(part.start, part.stop)

    def anchors_in(self, url: int) -> npt.NDArray[Any]:
        """Return the numbers of all anchors that lead to a URL."""
        offsets = self.kin["inlink.offsets"]
        return np.asarray(self.kin["inlink.anchors"][int(offsets[url]) : int(offsets[url + 1])])

    def page_of_anchor(self, anchor: int) -> int:
        """Return the page on which an anchor stands."""
        return rank(self.kin["page.anchors"], anchor + 1) - 1

    def anchor_text(self, anchor: int) -> str:
        """Return the words of an anchor, without reading the page around it."""
        page = self.page_of_anchor(anchor)
        first = int(self.kin["page.tokens"][page])
        start = first + int(self.kin["anchor.start"][anchor])
        words = self.kin["stream.words"][start : start + int(self.kin["anchor.length"][anchor])]
        rare = self.kin["stream.rare"][:0]
        count = int(np.count_nonzero(words == RARE))
        if count:
            skipped = int(np.count_nonzero(self.kin["stream.words"][first:start] == RARE))
            place = int(self.kin["page.rare"][page]) + skipped
            rare = self.kin["stream.rare"][place : place + count]
        return " ".join(self.word(int(word)) for word in decode_words(words, rare))

    def view_anchors(self, anchors: Iterable[int]) -> Iterator[AnchorView]:
        """Yield anchors with their words and the words around them, in reading order, boundaries ignored.

        Title and meta words are not part of the running text, so they are in no window.
        """
        for window in self.anchor_windows(anchors):
            flags = int(self.kin["anchor.flags"][window.anchor])
            yield AnchorView(
                self.page_url(window.page),
                self.url(int(self.kin["anchor.target"][window.anchor])),
                self._words_of(window.text),
                self._words_of(window.left),
                self._words_of(window.right),
                AnchorKind(flags >> 1).name.lower(),
                bool(flags & 1),
            )

    def _words_of(self, terms: Array) -> list[str]:
        return [self.word(term) for term in terms.tolist()]

    def anchor_windows(self, anchors: Iterable[int]) -> Iterator[AnchorWindow]:
        """Yield the same windows as `view_anchors`, as term ids."""
        last_page, words, running = -1, np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.int64)
        for anchor in anchors:
            page = self.page_of_anchor(anchor)
            if page != last_page:
                stream = self.stream(page)
                words, last_page = stream.words, page
                running = np.flatnonzero(stream.attributes & (Attribute.TEXT | Attribute.ALT))
            start = int(self.kin["anchor.start"][anchor])
            end = start + int(self.kin["anchor.length"][anchor])
            left = running[: running.searchsorted(start)][-WINDOW:]
            right = running[running.searchsorted(end) :][:WINDOW]
            yield AnchorWindow(anchor, page, words[start:end], words[left], words[right])

    # -- a page for people ------------------------------------------------------------------------------------------

    def describe(self, url: str, inlinks: int | None = None) -> dict[str, Any] | None:
        """Describe a page, or an address that is only linked to; return None if it is unknown.

        At most `inlinks` anchors that lead to it are given, or all.
        """
        number = self.url_number(url)
        if number < 0:
            return None
        incoming = self.anchors_in(number)
        about: dict[str, Any] = {
            "url": self.url(number),
            "captured": False,
            "title": "",
            "aliases": self.aliases_of(number),
            "words": {attribute.name.lower(): [] for attribute in Attribute if attribute.name},
            "anchors_out": [],
            "anchors_in": [_anchor(view) for view in self.view_anchors(incoming[:inlinks].tolist())],
            "anchors_in_total": len(incoming),
        }
        pages = self.pages_of(number)
        if not pages:
            return about
        page = pages[0]
        stream = self.stream(page)
        names = [self.word(int(w)) for w in stream.words]
        about |= {
            "captured": True,
            "captures": len(pages),
            "title": self.titles.text(page),
            "host": self.hosts.text(int(self.kin["page.host"][page])),
            "date": int(self.kin["page.date"][page]),
            "language": self.language(page),
            "html_bytes": int(self.kin["page.html_bytes"][page]),
            "snippet": self.snippets.text(page),
            "flags": [flag.name.lower() for flag in PageFlag if int(self.kin["page.flags"][page]) & flag and flag.name],
            "words": {
                attribute.name.lower(): [
                    name for name, held in zip(names, (stream.attributes & attribute).tolist(), strict=True) if held
                ]
                for attribute in Attribute
                if attribute.name
            },
            "anchors_out": [_anchor(view) for view in self.view_anchors(self.anchors_out(page))],
            "regions": [
                {"before_word": at, "kind": Boundary(kind).name.lower()}
                for at, kind in zip(stream.boundary_at.tolist(), stream.boundary_kind.tolist(), strict=True)
            ],
        }
        return about


_LOCAL = threading.local()


def _decompressor() -> zstandard.ZstdDecompressor:
    """Return this thread's decompressor, made once: it takes longer to make than a page to decompress."""
    if not hasattr(_LOCAL, "decompressor"):
        _LOCAL.decompressor = zstandard.ZstdDecompressor()
    found: zstandard.ZstdDecompressor = _LOCAL.decompressor
    return found


def _anchor(view: AnchorView) -> dict[str, Any]:
    return {
        "source": view.source,
        "target": view.target,
        "text": " ".join(view.text),
        "left": view.left,
        "right": view.right,
        "kind": view.kind,
        "nofollow": view.nofollow,
    }
