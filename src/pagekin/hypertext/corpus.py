"""The corpus: what the sources said, read once, as streams of words with anchors and boundaries."""

import os
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import zstandard

from pagekin.hypertext.batch import ATTRIBUTE_EVENT
from pagekin.hypertext.columns import AnchorColumns, InlinkColumns, PageColumns, RecordColumns, TermColumns
from pagekin.hypertext.model import Attribute, Boundary, PageFlag, kind_of_flags
from pagekin.hypertext.streams import StreamBatch, decode_gaps, decode_marks, decode_words
from pagekin.hypertext.urls import canonical_url
from pagekin.sources import NO_PLACE, RecordPlace
from pagekin.store import (
    DELTA,
    SHARDS,
    Kin,
    KinError,
    RaggedBytes,
    batch_ranges,
    chunks,
    open_kin,
    rank,
    read_only,
)

Array = npt.NDArray[Any]
Table = TypeVar("Table")
_FEW_QUESTIONS = 16
"""Questions for aliases of a page that are answered without sorting all aliases."""
WINDOW = 32
_SPARSE = 2
"""A stretch of pages is read as a whole unless it has more than this many times the words that are asked for."""


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


def in_shards_error(path: str | os.PathLike[str], shards: int) -> KinError:
    """Return the error of whatever needs a collection in one piece and is given a folder of shards."""
    return KinError(
        f"{os.fspath(path)} is a collection in {shards} shards, and this needs one in one piece: "
        "build it without --shards. Questions such as search and related can be asked of the shards as one."
    )


def has_delta_error(path: str | os.PathLike[str]) -> KinError:
    """Return the error of whatever needs a collection without a delta, and is given one that was updated."""
    return KinError(
        f"{os.fspath(path)} was updated, and what came and went waits in a delta, which this cannot use. "
        f"Make it one piece: pagekin compact {os.fspath(path)}"
    )


class _Local(threading.local):
    """A decompressor for each thread, made once: it takes longer to make than a page to decompress."""

    def __init__(self) -> None:
        self.decompressor = zstandard.ZstdDecompressor()


_LOCAL = _Local()


class Corpus:
    """A read-only view of a collection's corpus."""

    def __init__(self, kin: Kin) -> None:
        self.kin = kin
        self._term_tables: dict[Hashable, Any] = {}
        self._asked_for_aliases = 0
        self.hidden: npt.NDArray[np.bool_] | None = None
        """Pages that a delta replaces, or that are gone; None if there are none."""
        self._removed: npt.NDArray[np.bool_] | None = None
        self.urls = RaggedBytes.of(kin, "url")
        self.terms = RaggedBytes.of(kin, "term")
        self.titles = RaggedBytes.of(kin, "title")
        self.snippets = RaggedBytes.of(kin, "snippet")
        self.hosts = RaggedBytes.of(kin, "host")
        # Columns, for other rooms.
        self.pages, self.anchors = PageColumns.of(kin), AnchorColumns.of(kin)
        self.inlinks, self.term_table = InlinkColumns.of(kin), TermColumns.of(kin)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "Corpus":
        """Open the corpus of the collection at `path`, which is in one piece."""
        kin = open_kin(path)
        if shards := kin.facts.get(SHARDS):
            raise in_shards_error(path, len(shards))
        if DELTA in kin.facts:
            raise has_delta_error(path)
        return cls(kin)

    def hide(self, pages: Array, removed: Array) -> None:
        """Let some pages be as if they were not here, with their links, and some addresses as if nobody had named them."""
        self.hidden = np.zeros(len(self), np.bool_)
        self.hidden[pages] = True
        self._removed = np.zeros(len(self.urls), np.bool_)
        self._removed[removed] = True

    def knows(self, number: int) -> bool:
        """Return whether an address by its number is one of the collection, and not removed from it."""
        return number >= 0 and (self._removed is None or not self._removed[number])

    @property
    def alive(self) -> int:
        """Return how many pages are not hidden."""
        return len(self) - (0 if self.hidden is None else int(np.count_nonzero(self.hidden)))

    @property
    def facts(self) -> Mapping[str, Any]:
        """Return what reading noted: counts, skipped records, settings."""
        return self.kin.facts

    def __len__(self) -> int:
        return len(self.kin["page.url"])

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
        return self.home(number) if self.knows(number) else -1

    def home(self, number: int) -> int:
        """Return the URL that an alias stands for, or the URL itself if it is no alias."""
        aliases = self.kin["alias.url"]
        place = rank(aliases, number)
        if place < len(aliases) and int(aliases[place]) == number:
            return int(self.kin["alias.target"][place])
        return number

    def aliases(self) -> tuple[Array, Array]:
        """Return (the numbers of all aliases, rising; those of the URLs that they stand for)."""
        return self.kin["alias.url"], self.kin["alias.target"]

    def aliases_of(self, number: int) -> list[str]:
        """Return the other addresses of the page with this URL number.

        The first questions look at all aliases, a piece at a time; whoever asks more often has them sorted once.
        """
        self._asked_for_aliases += 1
        if self._asked_for_aliases > _FEW_QUESTIONS:
            low, high = rank(self._alias_targets, number), rank(self._alias_targets, number + 1)
            places = sorted(self._aliases_by_target[low:high].tolist())
        else:
            pieces = chunks(self.kin["alias.target"])
            places = [start + place for start, piece in pieces for place in np.flatnonzero(piece == number).tolist()]
        return [self.url(int(self.kin["alias.url"][place])) for place in places]

    @cached_property
    def _aliases_by_target(self) -> Array:
        return np.argsort(self.kin["alias.target"], kind="stable")

    @cached_property
    def _alias_targets(self) -> Array:
        return np.asarray(self.kin["alias.target"])[self._aliases_by_target]

    def capture_dates(self, number: int) -> list[int]:
        """Return when an address was captured, the newest first; then 0 for each capture at an unknown time.

        Captures at the same second are one: archives of the same crawl may overlap.
        """
        dates = [int(self.pages.date[page]) for page in self.pages_of(number)]
        return [*dict.fromkeys(date for date in dates if date), *([0] * dates.count(0))]

    def pages_of(self, number: int) -> list[int]:
        """Return the pages captured at a URL, the newest first: none, one, or several if all captures were kept."""
        urls = self.kin["page.url"]
        pages = range(rank(urls, number), rank(urls, number + 1))
        return list(pages) if self.hidden is None else [page for page in pages if not self.hidden[page]]

    def pages_under(self, prefix: str) -> range:
        """Return the pages whose URL begins with a prefix."""
        low, high = (self.urls.nearest(prefix.encode() + end) for end in (b"", b"\xff"))
        return range(rank(self.kin["page.url"], low), rank(self.kin["page.url"], high))

    def page_url(self, page: int) -> str:
        """Return the URL of a page."""
        return self.url(int(self.kin["page.url"][page]))

    @property
    def has_places(self) -> bool:
        """Return whether the collection says where its pages come from: those of earlier versions do not."""
        return "record.archive" in self.kin

    @cached_property
    def _records(self) -> tuple[RecordColumns, RaggedBytes]:
        return RecordColumns.of(self.kin), RaggedBytes.of(self.kin, "archive")

    def place(self, page: int) -> RecordPlace:
        """Return where the record of a page stands; KinError if an earlier version made the collection."""
        records, archives = self._records
        name = archives[int(records.archive[page])].decode("utf-8", "surrogateescape")
        return RecordPlace(name, int(records.offset[page]), int(records.length[page]))

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
        for words in self.terms.blocks():
            yield [word.decode("utf-8", "replace") for word in words]

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

    def stream_some(self, pages: npt.NDArray[np.int64]) -> StreamBatch:
        """Return the stored streams of some pages, copied one after another, for kernels that call `decode_stream`."""
        names = (("stream.words",), ("stream.rare",), ("mark.gap", "mark.kind"))
        arrays: list[Array] = []
        starts: list[npt.NDArray[np.int64]] = []
        first = np.flatnonzero(np.diff(pages, prepend=-2) != 1)  # of each run of neighbours
        last = np.flatnonzero(np.diff(pages, append=-2) != 1)
        for offsets, of in zip(self._offsets, names, strict=True):
            # By slices: a number for each word takes four times the memory of the word, and most of the time.
            runs = list(zip(offsets[pages[first]].tolist(), offsets[pages[last] + 1].tolist(), strict=True))
            for name in of:
                array = self.kin[name]
                arrays.append(read_only(np.concatenate([array[:0], *(array[begin:end] for begin, end in runs)])))
            starts.append(np.cumsum(np.append(0, offsets[pages + 1] - offsets[pages])))
        return StreamBatch(*arrays, *starts)

    def stream_batches(
        self, pages: npt.NDArray[np.int64], words: int
    ) -> Iterator[tuple[npt.NDArray[np.int64], StreamBatch]]:
        """Yield (pages, rising, and their streams) with some pages among them, rising, about so many words at a time.

        Where most pages of a stretch are asked for, all of it is given: that copies nothing.
        """
        tokens = self._offsets[0]
        sizes = np.cumsum(np.append(0, tokens[pages + 1] - tokens[pages]))
        for first, last in batch_ranges(sizes, words):
            some = pages[first:last]
            low, high = int(some[0]), int(some[-1]) + 1
            if tokens[high] - tokens[low] <= _SPARSE * (sizes[last] - sizes[first]):
                yield np.arange(low, high), self.stream_batch(low, high)
            else:
                yield some, self.stream_some(some)

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

    def text_bytes(self, page: int) -> tuple[bytes, npt.NDArray[np.int64]]:
        """Return the page's plain text as UTF-8, and where in it each word starts."""
        text, coded = self.stored_text(page)
        return text, decode_gaps(coded)

    def stored_text(self, page: int) -> tuple[bytes, npt.NDArray[np.uint8]]:
        """Return (the plain text as UTF-8, the gaps between its words' starts, as `decode_starts` reads them)."""
        frame = self.kin["text.frames"][self._slice("text", page)].tobytes()
        raw = _LOCAL.decompressor.decompress(frame, max_output_size=1 << 31)
        size = int.from_bytes(raw[:4], "little")
        return raw[4 : 4 + size], np.frombuffer(raw, dtype=np.uint8, offset=4 + size)

    def stored_words(self, page: int) -> tuple[Array, Array, npt.NDArray[np.uint8], bytes]:
        """Return a page's words as they are stored, for kernels: (words, rare ids, gaps between their starts, plain text)."""
        text, gaps = self.stored_text(page)
        words = self.kin["stream.words"][self._slice("tokens", page)]
        return words, self.kin["stream.rare"][self._slice("rare", page)], gaps, text

    # -- anchors ----------------------------------------------------------------------------------------------------

    def anchors_out(self, page: int) -> range:
        """Return the numbers of the page's anchors."""
        part = self._slice("anchors", page)
        return range(part.start, part.stop)

    def anchors_in(self, url: int) -> npt.NDArray[Any]:
        """Return the numbers of all anchors that lead to a URL."""
        offsets = self.kin["inlink.offsets"]
        anchors = np.asarray(self.kin["inlink.anchors"][int(offsets[url]) : int(offsets[url + 1])])
        if self.hidden is None or not len(anchors):
            return anchors
        pages = np.searchsorted(self.kin["page.anchors"], anchors.astype(np.int64), side="right") - 1
        return anchors[~self.hidden[pages]]

    def page_of_anchor(self, anchor: int) -> int:
        """Return the page on which an anchor stands."""
        return rank(self.kin["page.anchors"], anchor + 1) - 1

    def anchor_text(self, anchor: int) -> str:
        """Return the words of an anchor."""
        page, start = self.page_of_anchor(anchor), int(self.kin["anchor.start"][anchor])
        return " ".join(self._texts(self.words(page)[start : start + int(self.kin["anchor.length"][anchor])]))

    def _texts(self, terms: Array) -> list[str]:
        return [self.word(term) for term in terms.tolist()]

    def view_anchors(self, anchors: Iterable[int]) -> Iterator[dict[str, Any]]:
        """Yield anchors with their words and up to 32 words on each side, in reading order, boundaries ignored.

        Title and meta words are not part of the running text, so they are in no window.
        """
        last_page, words, running = -1, np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.int64)
        for anchor in anchors:
            page = self.page_of_anchor(anchor)
            if page != last_page:
                stream = self.stream(page)
                words, last_page = stream.words, page
                running = np.flatnonzero(stream.attributes & (Attribute.TEXT | Attribute.ALT))
            start, flags = int(self.kin["anchor.start"][anchor]), int(self.kin["anchor.flags"][anchor])
            end = start + int(self.kin["anchor.length"][anchor])
            yield {
                "source": self.page_url(page),
                "target": self.url(int(self.kin["anchor.target"][anchor])),
                "text": " ".join(self._texts(words[start:end])),
                "left": self._texts(words[running[: running.searchsorted(start)][-WINDOW:]]),
                "right": self._texts(words[running[running.searchsorted(end) :][:WINDOW]]),
                "kind": kind_of_flags(flags).name.lower(),
                "nofollow": bool(flags & 1),
            }

    def _provenance(self, page: int) -> dict[str, Any]:
        """Return where a page comes from, by the names of Common Crawl's index; nothing of what is unknown."""
        place = self.place(page) if self.has_places else NO_PLACE
        if not place.archive:
            return {}
        where = {"warc_record_offset": place.offset, "warc_record_length": place.length} if place.length else {}
        return {"warc_filename": place.archive.encode("utf-8", "replace").decode(), **where}

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
            "words": {name.lower(): [] for name in Attribute.__members__},
            "anchors_out": [],
            "anchors_in": list(self.view_anchors(incoming[:inlinks].tolist())),
            "anchors_in_total": len(incoming),
        }
        pages = self.pages_of(number)
        if not pages:
            return about
        page, dates = pages[0], self.capture_dates(number)
        stream = self.stream(page)
        about |= {
            "captured": True,
            "captures": len(dates),
            "capture_dates": dates,
            "title": self.titles.text(page),
            "host": self.hosts.text(int(self.kin["page.host"][page])),
            "date": int(self.kin["page.date"][page]),
            "language": self.language(page),
            "html_bytes": int(self.kin["page.html_bytes"][page]),
            "snippet": self.snippets.text(page),
            **self._provenance(page),
            "flags": [
                name.lower() for name, flag in PageFlag.__members__.items() if self.kin["page.flags"][page] & flag
            ],
            "words": {
                name.lower(): self._texts(stream.words[(stream.attributes & attribute) > 0])
                for name, attribute in Attribute.__members__.items()
            },
            "anchors_out": list(self.view_anchors(self.anchors_out(page))),
            "regions": [
                {"before_word": at, "kind": Boundary(kind).name.lower()}
                for at, kind in zip(stream.boundary_at.tolist(), stream.boundary_kind.tolist(), strict=True)
            ],
        }
        return about
