"""Cut a corpus: write the pages of a range of addresses as a corpus of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Corpus, Cut
from pagekin.hypertext.merge import invert_anchors, put_strings
from pagekin.hypertext.streams import RARE, decode_words
from pagekin.hypertext.string_lists import gather_pieces
from pagekin.store import Array, KinWriter, batch_ranges, smallest_uint

_STEP = 1 << 22
_SHARED_FACTS = (
    "all_captures", "content", "exclude", "language_codes", "limits", "max_per_host", "obey", "pagekin", "parser", "sources"
)  # fmt: skip
"""Facts that a cut shares with the whole; others are counts, and its own."""


@dataclass(frozen=True)
class CutNumbers:
    """The numbers in a cut of the whole's addresses and terms; -1 for those that the cut does not know."""

    urls: npt.NDArray[np.int64]
    terms: npt.NDArray[np.int64]


def cut_pages(corpus: Corpus, count: int, may_cut: Callable[[int], bool] = lambda _page: True) -> list[Cut]:
    """Divide a corpus into this many cuts of about equal numbers of words, only at pages where `may_cut` allows it.

    Captures of one address stay together. There are fewer cuts than asked for if there are too few such places.
    """
    urls = np.asarray(corpus.pages.url, dtype=np.int64)
    work = np.asarray(corpus.pages.tokens, dtype=np.int64) + 64 * np.arange(len(urls) + 1)
    bounds = [0]
    for number in range(1, count):
        page = int(np.searchsorted(work, work[-1] * number // count))
        while page < len(urls) and (page <= bounds[-1] or urls[page] == urls[page - 1] or not may_cut(page)):
            page += 1
        if page < len(urls):
            bounds.append(page)
    first_urls = [0, *urls[bounds[1:]].tolist()]
    return [
        Cut(*pages, *addresses)
        for pages, addresses in zip(
            zip(bounds, [*bounds[1:], len(urls)], strict=True),
            zip(first_urls, [*first_urls[1:], len(corpus.urls)], strict=True),
            strict=True,
        )
    ]


def cut_corpus(
    corpus: Corpus, cut: Cut, writer: KinWriter, more_urls: Array, more_terms: Array
) -> tuple[dict[str, Any], CutNumbers]:
    """Write the pages of a cut as a corpus of its own; return (facts about it, its numbering).

    It knows all addresses of its range, those that its pages link to, the other names of its own, and `more_urls`; all terms of
    its pages, and `more_terms`. Links count that stand on its own pages.
    """
    numbers = CutNumbers(_number_urls(corpus, cut, more_urls), _write_terms(corpus, cut, more_terms, writer))
    known = np.flatnonzero(numbers.urls >= 0)
    url_count = put_strings(writer, "url", gather_pieces(corpus.urls.data, _starts(corpus.urls.offsets), known))
    aliases = _write_aliases(corpus, numbers, writer)
    _write_streams(corpus, cut, numbers.terms, writer)
    anchors, links = _write_anchors(corpus, cut, numbers.urls, url_count, writer)
    hosts = _write_page_columns(corpus, cut, numbers.urls, writer)
    pages = slice(cut.first_page, cut.last_page)
    in_language = np.bincount(corpus.pages.language[pages], minlength=len(corpus.facts["language_codes"])).tolist()
    return {
        **{name: corpus.facts[name] for name in _SHARED_FACTS if name in corpus.facts},
        "pages": cut.last_page - cut.first_page,
        "urls": url_count,
        "words": int(corpus.pages.tokens[cut.last_page]) - int(corpus.pages.tokens[cut.first_page]),
        "terms": int(np.count_nonzero(numbers.terms >= 0)),
        "anchors": anchors,
        "links": links,
        "hosts": hosts,
        "aliases": aliases,
        "html_bytes": int(corpus.pages.html_bytes[pages].sum(dtype=np.int64)),
        "html_records": cut.last_page - cut.first_page,
        "skipped": {},
        "damaged": 0,
        "damaged_examples": [],
        "cut": {},
        "links_not_followed": 0,
        "languages": {
            code or "unknown": count
            for code, count in zip(corpus.facts["language_codes"], in_language, strict=True)
            if count
        },
    }, numbers


def _starts(offsets: Array) -> npt.NDArray[np.int64]:
    return np.asarray(offsets, dtype=np.int64)


def _page_slice(offsets: Array, cut: Cut) -> slice:
    """Return the slice of an array that belongs to the pages of a cut, given each page's `offsets`."""
    return slice(int(offsets[cut.first_page]), int(offsets[cut.last_page]))


def _number_urls(corpus: Corpus, cut: Cut, more: Array) -> npt.NDArray[np.int64]:
    known = np.zeros(len(corpus.urls), dtype=np.bool_)
    known[cut.first_url : cut.last_url] = True
    known[more] = True
    part = _page_slice(corpus.pages.anchors, cut)
    for start in range(part.start, part.stop, _STEP):
        known[corpus.anchors.target[start : min(start + _STEP, part.stop)]] = True
    names, homes = (np.asarray(urls, dtype=np.int64) for urls in corpus.aliases())
    of_own = (homes >= cut.first_url) & (homes < cut.last_url)
    known[names[of_own]] = True
    known[homes[known[names]]] = True
    return np.where(known, np.cumsum(known) - 1, -1)


def _write_aliases(corpus: Corpus, numbers: CutNumbers, writer: KinWriter) -> int:
    names, homes = (numbers.urls[np.asarray(urls, dtype=np.int64)] for urls in corpus.aliases())
    kept = (names >= 0) & (homes >= 0)
    writer.put("alias.url", names[kept].astype(np.uint32))
    writer.put("alias.target", homes[kept].astype(np.uint32))
    return int(np.count_nonzero(kept))


def _read_words(corpus: Corpus, first: int, last: int) -> npt.NDArray[np.uint32]:
    """Return the terms of the pages `first` to `last`, one page after another."""
    streams = corpus.stream_batch(first, last)
    return decode_words(np.asarray(streams.words), np.asarray(streams.rare))


def _batches(corpus: Corpus, cut: Cut) -> list[tuple[int, int]]:
    tokens = np.asarray(corpus.pages.tokens[cut.first_page : cut.last_page + 1], dtype=np.int64)
    return [(cut.first_page + first, cut.first_page + last) for first, last in batch_ranges(tokens, _STEP)]


def _write_terms(corpus: Corpus, cut: Cut, more: Array, writer: KinWriter) -> npt.NDArray[np.int64]:
    """Write the terms of a cut, the most frequent first, then by word; return their numbers."""
    counts = np.zeros(len(corpus.terms), dtype=np.int64)
    for first, last in _batches(corpus, cut):
        counts += np.bincount(_read_words(corpus, first, last), minlength=len(counts))
    known = counts > 0
    known[more] = True
    by_word = np.asarray(corpus.term_table.order, dtype=np.int64)
    by_word = by_word[known[by_word]]
    ranked = by_word[np.argsort(-counts[by_word], kind="stable")]
    number = np.full(len(counts), -1, dtype=np.int64)
    number[ranked] = np.arange(len(ranked))
    writer.put("term.count", counts[ranked].astype(smallest_uint(int(counts.max(initial=0)))))
    writer.put("term.order", number[by_word].astype(np.uint32))
    put_strings(writer, "term", gather_pieces(corpus.terms.data, _starts(corpus.terms.offsets), ranked))
    return number


def _write_streams(corpus: Corpus, cut: Cut, terms: Array, writer: KinWriter) -> None:
    words, rare = writer.create("stream.words", np.uint16), writer.create("stream.rare", np.uint32)
    tokens = np.asarray(corpus.pages.tokens, dtype=np.int64)
    rare_counts = [np.zeros(1, dtype=np.int64)]
    for first, last in _batches(corpus, cut):
        numbers = terms[_read_words(corpus, first, last)].astype(np.uint32)
        is_rare = numbers >= RARE
        words.append(np.where(is_rare, RARE, numbers).astype(np.uint16))
        rare.append(numbers[is_rare])
        ends = np.append(0, np.cumsum(is_rare))
        rare_counts.append(np.diff(ends[tokens[first : last + 1] - tokens[first]]))
    offsets = np.cumsum(np.concatenate(rare_counts))
    writer.put("page.rare", offsets.astype(smallest_uint(int(offsets[-1]))))


def _write_anchors(corpus: Corpus, cut: Cut, urls: Array, url_count: int, writer: KinWriter) -> tuple[int, int]:
    """Write the anchors of a cut by page and by target; return (the number of anchors, the number of links)."""
    part = _page_slice(corpus.pages.anchors, cut)
    kin = corpus.kin
    targets = writer.create("anchor.target", smallest_uint(url_count))
    for start in range(part.start, part.stop, _STEP):
        targets.append(urls[corpus.anchors.target[start : min(start + _STEP, part.stop)]])
    for name in ("start", "length", "flags"):
        writer.put(f"anchor.{name}", np.asarray(kin[f"anchor.{name}"][part]))
    bounds = np.asarray(corpus.pages.anchors[cut.first_page : cut.last_page + 1], dtype=np.int64)
    page_urls = urls[np.asarray(corpus.pages.url[cut.first_page : cut.last_page], dtype=np.int64)]
    links = invert_anchors(targets.mapped(), np.diff(bounds), page_urls, url_count, writer)
    return part.stop - part.start, links


_DIVIDED = {
    "page.tokens": (), "page.marks": ("mark.gap", "mark.kind"), "page.anchors": (), "page.text": ("text.frames",),
    "title.offsets": ("title.bytes",), "snippet.offsets": ("snippet.bytes",),
}  # fmt: skip
"""What divides arrays among pages, and the arrays that are copied by it."""


def _write_page_columns(corpus: Corpus, cut: Cut, urls: Array, writer: KinWriter) -> int:
    """Write the remaining columns of pages; return the number of hosts."""
    kin, pages = corpus.kin, slice(cut.first_page, cut.last_page)
    for name, arrays in _DIVIDED.items():
        offsets = np.asarray(kin[name][cut.first_page : cut.last_page + 1], dtype=np.int64)
        part = slice(int(offsets[0]), int(offsets[-1]))
        writer.put(name, (offsets - part.start).astype(smallest_uint(part.stop - part.start)))
        for array in arrays:
            file = writer.create(array, kin[array].dtype)
            for start in range(part.start, part.stop, _STEP):
                file.append(np.asarray(kin[array][start : min(start + _STEP, part.stop)]))
    for name in ("date", "digest", "html_bytes", "language", "flags"):
        writer.put(f"page.{name}", np.asarray(kin[f"page.{name}"][pages]))
    writer.put("page.url", urls[np.asarray(corpus.pages.url[pages], dtype=np.int64)].astype(np.uint32))
    if corpus.has_places:
        _write_records(corpus, pages, writer)
    hosts, of_page = np.unique(np.asarray(corpus.pages.host[pages]), return_inverse=True)
    writer.put("page.host", of_page.astype(smallest_uint(len(hosts))))
    return put_strings(writer, "host", gather_pieces(corpus.hosts.data, _starts(corpus.hosts.offsets), hosts))


def _write_records(corpus: Corpus, pages: slice, writer: KinWriter) -> None:
    """Write where the pages' records stand, and the names of the archives that hold them."""
    kin = corpus.kin
    used, of_page = np.unique(np.asarray(kin["record.archive"][pages]), return_inverse=True)
    put_strings(writer, "archive", gather_pieces(kin["archive.bytes"], _starts(kin["archive.offsets"]), used))
    writer.put("record.archive", of_page.astype(smallest_uint(len(used))))
    for name in ("record.offset", "record.length"):
        values = np.asarray(kin[name][pages])
        writer.put(name, values.astype(smallest_uint(int(values.max(initial=0)))))
