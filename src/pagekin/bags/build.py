"""Making bags: kept words and windows from the streams, fragments merged by URL, weights, normalisation (section 6.1)."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags.copies import SKETCH_PLACES
from pagekin.bags.epoch import write_epoch
from pagekin.bags.furniture import host_hashes, judge_links
from pagekin.bags.graph import write_links
from pagekin.bags.links import anchor_pages, citing_pages
from pagekin.bags.sites import site_numbers
from pagekin.bags.strategy import Strategy
from pagekin.bags.weights import (
    distance_weights,
    frequency_weights,
    lead_weights,
    nmdf_parameters,
    normalised,
    scaled_frequencies,
    title_weight,
    whole_units,
)
from pagekin.bags.words import Vocabulary, link_hash, make_vocabulary, outlink_hash
from pagekin.hypertext import Boundary, Corpus, DecodedPage, sites_of_urls
from pagekin.store import (
    PROCESS_KEY,
    Array,
    ArrayFile,
    KinWriter,
    Progress,
    Workspace,
    batch_ranges,
    map_in_order,
    no_progress,
    smallest_uint,
)

if TYPE_CHECKING:
    from pagekin.bags._kernels.keep import KeptWords
    from pagekin.bags._kernels.merge import Scales, TermOrder, Web

_TOPICAL_ENDS = (Boundary.HEADING, Boundary.LIST_END, Boundary.TABLE_END)
WINDOW_ENDS: dict[str, tuple[Boundary, ...]] = {
    "basic": (),
    "syntactic": (Boundary.PARAGRAPH, Boundary.CELL, Boundary.ITEM, Boundary.BREAK, *_TOPICAL_ENDS),
    "topical": _TOPICAL_ENDS,
}
"""What ends a window of each kind; headings and the ends of lists and tables are borders of paragraphs too."""
DYNAMIC_SIZE = 32
"""Syntactic and topical windows end here at the latest."""
BATCH_WORDS = 1 << 21
BATCH_WORK = 1 << 22
_WORD_BYTES, _ENTRY_BYTES, _SPAN_BYTES = 32, 16, 64
"""Bytes that are taken by a word while windows are made, by a place in a bag while bags are merged, by a link with its window."""
BATCH_ENTRIES = 1 << 17
"""Entries that are weighed at a time: they stay in the processor's cache."""


class Raw(NamedTuple):
    """Merged bags before weighting: summed occurrence weights in units of 2^-24, in temporary files."""

    urls: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.int64]
    inlinks: npt.NDArray[np.uint32]
    df: npt.NDArray[np.int64]
    own_df: npt.NDArray[np.int64]
    """The number of bags whose own page says each term."""
    terms: npt.NDArray[np.uint32]
    sums: npt.NDArray[np.int64]
    origins: npt.NDArray[np.uint8]
    counts: npt.NDArray[np.uint8]
    hashes: npt.NDArray[np.uint64]
    """The hashes of all terms."""
    by_rank: npt.NDArray[np.uint32]
    """All terms in the order in which bags hold them: by kind, then by hash."""


def make_bags(
    corpus: Corpus,
    strategy: Strategy,
    writer: KinWriter,
    progress: Progress = no_progress,
    not_citing: Array | None = None,
    threads: int = 1,
) -> dict[str, Any]:
    """Write the bags of all URLs with a page or a link to them, and the links between these; return facts about them.

    Links on the pages numbered in `not_citing` are left out.
    """
    progress("words", 0.0)
    words = make_vocabulary(corpus, strategy, lambda share: progress("words", share))
    with TemporaryDirectory(dir=writer.work) as folder:
        room = Workspace(Path(folder), writer.memory)
        progress("windows", 0.0)
        judged = judge_links(corpus, strategy, room)
        kept, window_words = keep(corpus, strategy, words, judged.uses, room, progress, threads)
        _sketch(kept, words, writer)
        progress("bags", 0.0)
        citing = citing_pages(corpus, not_citing)
        raw = merge(corpus, strategy, words, kept, citing, room, progress, threads)
        facts = _weigh(corpus, strategy, words, raw, writer, progress)
        facts |= write_links(corpus, strategy, judged.uses, citing, raw.urls, writer, room)
        facts["epoch"] = write_epoch(corpus, strategy, judged, facts, writer)
    left, right = window_words
    facts["window_words"] = {"left": round(left, 2), "right": round(right, 2)}
    facts["not_citing"] = 0 if not_citing is None else len(not_citing)
    return facts


@contextmanager
def _temporary(path: Path, dtype: npt.DTypeLike) -> Iterator[ArrayFile]:
    """Open an array that is appended to and then mapped, so that the system may move it out of memory."""
    file = ArrayFile(path, dtype)
    try:
        yield file
    finally:
        file.abandon()


def keep(
    corpus: Corpus, strategy: Strategy, words: Vocabulary, uses: Array, room: Workspace, progress: Progress,
    threads: int, without_crumbs: bool = False,
) -> tuple["KeptWords", tuple[float, float]]:  # fmt: skip
    """Keep the words of every page and the window of every anchor; `without_crumbs` drops words of breadcrumbs.

    Links that say nothing of their target, by the `uses` of all anchors, are left out, furniture with its words, in windows
    too. Return also the mean number of kept words to the left and to the right of an anchor that counts (section 3.1).
    """
    from pagekin.bags._kernels.keep import Anchors, KeptWords, Rules, keep_words

    page_anchors = np.asarray(corpus.pages.anchors, dtype=np.int64)
    window = strategy.window
    ends = np.zeros(64, dtype=np.bool_)
    ends[list(WINDOW_ENDS[window.kind])] = True
    size = window.size if window.kind == "basic" else min(window.size, DYNAMIC_SIZE)
    rules = Rules(words.stem_of, ends, size, without_crumbs)
    citing = citing_pages(corpus)

    def batch(first: int, last: int) -> KeptWords:
        streams = corpus.stream_batch(first, last)
        part = slice(int(page_anchors[first]), int(page_anchors[last]))
        anchors = Anchors(
            offsets=page_anchors[first : last + 1] - part.start,
            starts=np.array(corpus.anchors.start[part], dtype=np.int64),
            lengths=np.array(corpus.anchors.length[part], dtype=np.int64),
            uses=uses[part],
        )
        kept = KeptWords(
            words=np.empty(len(streams.words), dtype=np.int32),
            offsets=np.zeros(last - first + 1, dtype=np.int64),
            titles=np.empty(last - first, dtype=np.int32),
            spans=np.empty((part.stop - part.start, 4), dtype=np.int32),
        )
        keep_words(streams, DecodedPage.for_longest(streams), anchors, rules, kept)
        return kept

    offsets = np.zeros(len(corpus) + 1, dtype=np.int64)
    titles = np.zeros(len(corpus), dtype=np.int32)
    left = right = count = 0
    with (
        _temporary(room.folder / "kept.words", np.int32) as all_words,
        _temporary(room.folder / "kept.spans", np.int32) as all_spans,
    ):
        parts = batch_ranges(corpus.pages.tokens, room.memory.items(BATCH_WORDS, _WORD_BYTES))
        for (first, last), kept in map_in_order(threads, batch, parts):
            counts = np.repeat(citing[first:last], np.diff(page_anchors[first : last + 1]))
            spans = kept.spans[(kept.spans[:, 1] >= 0) & counts]
            left += int(np.sum(spans[:, 1] - spans[:, 0], dtype=np.int64))
            right += int(np.sum(spans[:, 3] - spans[:, 2], dtype=np.int64))
            count += len(spans)
            offsets[first + 1 : last + 1] = kept.offsets[1:] + all_words.length
            titles[first:last] = kept.titles
            all_words.append(kept.words[: kept.offsets[-1]])
            all_spans.append(kept.spans.reshape(-1))
            progress("windows", last / len(corpus))
        kept = KeptWords(all_words.mapped(), offsets, titles, all_spans.mapped().reshape(-1, 4))
    return kept, (left / max(count, 1), right / max(count, 1))


def _sketch(kept: "KeptWords", words: Vocabulary, writer: KinWriter) -> None:
    """Write every page's sketch as `copy.rows`."""
    from pagekin.bags._kernels.sketch import sketch_pages

    stored = writer.create("copy.rows", np.uint16)
    for first, last in batch_ranges(kept.offsets, BATCH_WORDS):
        rows = np.empty((last - first, SKETCH_PLACES), dtype=np.uint16)
        sketch_pages(kept, words.hashes, first, last, rows)
        stored.append(rows.reshape(-1))


def term_limits(corpus: Corpus, strategy: Strategy, words: Vocabulary) -> tuple[int, int, int]:
    """Return where the numbers of terms end that are words, citing pages, and linked addresses."""
    words_end = len(words.shown)
    links_end = words_end + (len(corpus) if strategy.links.scale else 0)
    return words_end, links_end, links_end + (len(corpus.urls) if strategy.outlinks.scale else 0)


def hash_terms(corpus: Corpus, strategy: Strategy, words: Vocabulary) -> npt.NDArray[np.uint64]:
    """Return the hashes of all terms: words, then citing pages, then linked addresses; 0 for an address that is no term."""
    words_end, links_end, end = term_limits(corpus, strategy, words)
    hashes = np.zeros(end, dtype=np.uint64)
    hashes[:words_end] = words.hashes
    if links_end > words_end:
        urls = (int(url) for url in corpus.pages.url)
        hashes[words_end:links_end] = np.fromiter((link_hash(corpus.urls[url]) for url in urls), np.uint64, len(corpus))
    if end > links_end:
        linked = np.flatnonzero(np.diff(np.asarray(corpus.inlinks.offsets, dtype=np.int64)))
        made = (outlink_hash(corpus.urls[int(url)]) for url in linked)
        hashes[links_end + linked] = np.fromiter(made, np.uint64, len(linked))
    return hashes


def order_terms(hashes: npt.NDArray[np.uint64], limits: tuple[int, int, int]) -> "TermOrder":
    """Return the order of terms in bags, given the hashes of all terms and where the kinds of terms end."""
    from pagekin.bags._kernels.merge import TermOrder

    by_rank = np.empty(len(hashes), dtype=np.uint32)
    for first, last in pairwise((0, *limits)):
        by_rank[first:last] = first + np.argsort(hashes[first:last], kind="stable")
    rank = np.empty_like(by_rank)
    rank[by_rank] = np.arange(len(by_rank), dtype=np.uint32)
    return TermOrder(hashes, rank, by_rank)


def _web(corpus: Corpus, strategy: Strategy, citing: Array, room: Workspace) -> "Web":
    """Return what the merging kernel has to know of all URLs, pages and anchors."""
    from pagekin.bags._kernels.merge import Web

    page_url = np.asarray(corpus.pages.url, dtype=np.int64)
    url_page = np.full(len(corpus.urls), -1, dtype=np.int64)
    url_page[page_url[::-1]] = np.arange(len(corpus))[::-1]  # the first of several captures, the newest, wins
    url_site = np.zeros(len(corpus.urls), dtype=np.int64)
    if not strategy.anchors.within_site:
        url_site = sites_of_urls(corpus.urls)[0].astype(np.int64)
    return Web(
        url_page=url_page,
        url_site=url_site,
        page_url=page_url,
        page_host=host_hashes(corpus)[corpus.pages.host],
        citing=citing,
        page_anchors=np.asarray(corpus.pages.anchors, dtype=np.int64),
        anchor_page=anchor_pages(corpus, room),
    )


def _scales(strategy: Strategy, limits: tuple[int, int, int], most_words: int) -> "Scales":
    """Return what occurrences weigh on pages of at most `most_words` kept words, and how terms are numbered."""
    from pagekin.bags._kernels.merge import Scales

    near = whole_units(distance_weights(strategy) * strategy.anchors.scale)
    if strategy.window.kind != "basic":
        near = near[: DYNAMIC_SIZE + 1]
    lead = lead_weights(strategy, most_words)
    return Scales(
        content=whole_units(lead * strategy.content.scale),
        title=int(whole_units(title_weight(strategy))),
        link=int(whole_units(strategy.links.scale)),
        outlink=whole_units(lead * strategy.outlinks.scale),
        near=near if strategy.anchors.scale else near[:0],
        once=strategy.anchors.repeat == "once",
        within_site=bool(strategy.anchors.within_site),
        words_end=limits[0],
        links_end=limits[1],
    )


def _most_entries(corpus: Corpus, kept: "KeptWords", web: "Web", room: Workspace) -> npt.NDArray[np.int64]:
    """Return how many terms each URL's bag may have: the words and links of its page, and those of its links' windows."""
    most = np.zeros(len(corpus.urls), dtype=np.int64)
    has_page = web.url_page >= 0
    most[has_page] = (np.diff(kept.offsets) + np.diff(web.page_anchors))[web.url_page[has_page]]
    offsets = np.asarray(corpus.inlinks.offsets, dtype=np.int64)
    for first, last in batch_ranges(offsets, room.memory.items(BATCH_WORK, _SPAN_BYTES)):
        spans = kept.spans[corpus.inlinks.anchors[offsets[first] : offsets[last]]]
        sums = np.cumsum(np.append(0, spans[:, 3] - spans[:, 0] + 1))
        most[first:last] += np.diff(sums[offsets[first : last + 1] - offsets[first]])
    return most


def merge(
    corpus: Corpus, strategy: Strategy, words: Vocabulary, kept: "KeptWords", citing: Array, room: Workspace,
    progress: Progress, threads: int,
) -> Raw:  # fmt: skip
    """Merge the fragments of each URL into one bag; the corpus's inverted anchors are already sorted by URL."""
    from pagekin.bags._kernels.merge import Batch, Merged, Scratch, merge_bags

    limits = term_limits(corpus, strategy, words)
    terms = limits[-1]
    hashes = hash_terms(corpus, strategy, words)
    order = order_terms(hashes, limits)
    web = _web(corpus, strategy, citing, room)
    scales = _scales(strategy, limits, int(np.max(np.diff(kept.offsets), initial=0)))
    inlinks = np.asarray(corpus.inlinks.offsets, dtype=np.int64)
    most_links = int(np.max(np.diff(inlinks), initial=1))
    most_entries = _most_entries(corpus, kept, web, room)
    scratch = [
        Scratch(
            sums=np.zeros(terms, dtype=np.int64),
            marks=np.zeros(terms, dtype=np.uint16),
            touched=np.empty(terms + 1, dtype=np.uint32),
            sorting=np.empty(terms + 1, dtype=np.uint32),
            seen=np.zeros(1 << (2 * most_links).bit_length(), dtype=np.uint64),
            used=np.empty(most_links + 1, dtype=np.int64),
            key=PROCESS_KEY,
        )
        for _ in range(threads)
    ]

    def batch(first: int, last: int) -> Merged:
        targets = slice(*web.page_anchors[np.searchsorted(web.page_url, [first, last])].tolist())
        links = Batch(
            first=first,
            last=last,
            inlinks=inlinks[first : last + 1] - inlinks[first],
            anchors=np.array(corpus.inlinks.anchors[inlinks[first] : inlinks[last]], dtype=np.int64),
            targets=np.array(corpus.anchors.target[targets] if strategy.outlinks.scale else [], dtype=np.int64),
            targets_from=targets.start,
        )
        size = int(np.minimum(most_entries[first:last], terms).sum())
        out = Merged(
            terms=np.empty(size, np.uint32),
            sums=np.empty(size, np.int64),
            origins=np.empty(size, np.uint8),
            counts=np.empty(size, np.uint8),
            sizes=np.empty(last - first, np.int64),
            inlinks=np.empty(last - first, np.uint32),
        )
        mine = scratch.pop()
        n = merge_bags(links, web, kept, scales, order, mine, out)
        scratch.append(mine)
        return out._replace(terms=out.terms[:n], sums=out.sums[:n], origins=out.origins[:n], counts=out.counts[:n])

    df, own_df = np.zeros(terms, dtype=np.int64), np.zeros(terms, dtype=np.int64)
    sizes, citations = np.zeros(len(corpus.urls), np.int64), np.zeros(len(corpus.urls), np.uint32)
    parts = batch_ranges(np.cumsum(np.append(0, most_entries + 8)), room.memory.items(BATCH_WORK, _ENTRY_BYTES))
    with (
        _temporary(room.folder / "raw.terms", np.uint32) as all_terms,
        _temporary(room.folder / "raw.sums", np.int64) as all_sums,
        _temporary(room.folder / "raw.origins", np.uint8) as all_origins,
        _temporary(room.folder / "raw.counts", np.uint8) as all_counts,
    ):
        for (first, last), part in map_in_order(threads, batch, parts):
            np.add.at(df, part.terms, 1)
            np.add.at(own_df, part.terms[part.counts > 0], 1)
            all_terms.append(part.terms)
            all_sums.append(part.sums)
            all_origins.append(part.origins)
            all_counts.append(part.counts)
            sizes[first:last], citations[first:last] = part.sizes, part.inlinks
            progress("bags", last / len(corpus.urls))
        entries = all_terms.mapped(), all_sums.mapped(), all_origins.mapped(), all_counts.mapped()
    urls = np.flatnonzero(sizes)
    offsets = np.cumsum(np.append(0, sizes[urls]))
    return Raw(urls.astype(np.uint32), offsets, citations[urls], df, own_df, *entries, hashes, order.by_rank)


def keep_terms(raw: Raw, kept: Array, room: Workspace) -> Raw:
    """Return merged bags with those terms alone that `kept` marks, numbered anew; bags without any of them are left out."""
    number = np.cumsum(kept) - 1
    sizes = np.zeros(len(raw.urls), np.int64)
    with (
        _temporary(room.folder / "raw.terms", np.uint32) as all_terms,
        _temporary(room.folder / "raw.sums", np.int64) as all_sums,
        _temporary(room.folder / "raw.origins", np.uint8) as all_origins,
        _temporary(room.folder / "raw.counts", np.uint8) as all_counts,
    ):
        for first, last in batch_ranges(raw.offsets, BATCH_WORK):
            part = slice(int(raw.offsets[first]), int(raw.offsets[last]))
            stays = kept[raw.terms[part]]
            ends = np.append(0, np.cumsum(stays))
            sizes[first:last] = np.diff(ends[raw.offsets[first : last + 1] - part.start])
            all_terms.append(number[raw.terms[part][stays]].astype(np.uint32))
            all_sums.append(raw.sums[part][stays])
            all_origins.append(raw.origins[part][stays])
            all_counts.append(raw.counts[part][stays])
        entries = all_terms.mapped(), all_sums.mapped(), all_origins.mapped(), all_counts.mapped()
    bags = np.flatnonzero(sizes)
    offsets = np.cumsum(np.append(0, sizes[bags]))
    by_rank = number[raw.by_rank[kept[raw.by_rank]]].astype(np.uint32)
    return Raw(
        raw.urls[bags], offsets, raw.inlinks[bags], raw.df[kept], raw.own_df[kept], *entries, raw.hashes[kept], by_rank
    )


def _weigh(
    corpus: Corpus, strategy: Strategy, words: Vocabulary, raw: Raw, writer: KinWriter, progress: Progress
) -> dict[str, Any]:
    """Write weights by frequency, normalised to sum 1; terms are numbered as bags hold them, unused ones not at all."""
    bags, total = len(raw.urls), int(raw.offsets[-1])
    used = raw.by_rank[raw.df[raw.by_rank] > 0]
    number = np.zeros(len(raw.df), dtype=np.uint32)
    number[used] = np.arange(len(used), dtype=np.uint32)
    factors = frequency_weights(raw.df, bags, strategy)
    stored_terms = writer.create("bag.terms", np.uint32)
    stored_weights = writer.create("bag.weights", np.float32)
    stored_origins = writer.create("bag.from", np.uint8)
    stored_counts = writer.create("bag.counts", np.uint8)
    own_words = 0
    for first, last in batch_ranges(raw.offsets, min(BATCH_WORK, BATCH_ENTRIES)):
        part = slice(int(raw.offsets[first]), int(raw.offsets[last]))
        terms = raw.terms[part]
        weights = scaled_frequencies(raw.sums[part], strategy) * factors[terms]
        stored_terms.append(number[terms])
        stored_weights.append(normalised(weights, raw.offsets[first : last + 1] - part.start))
        stored_origins.append(raw.origins[part])
        stored_counts.append(raw.counts[part])
        own_words += int(raw.counts[part].sum(dtype=np.int64))
        progress("weighing", last / bags)
    page_url = np.asarray(corpus.pages.url)
    words_end, links_end, end = term_limits(corpus, strategy, words)
    of_words, of_links, of_outlinks = (
        used[(used >= low) & (used < high)] for low, high in pairwise((0, words_end, links_end, end))
    )
    citing, cited = page_url[of_links - words_end].astype(np.uint32), (of_outlinks - links_end).astype(np.uint32)
    hashes = raw.hashes[used]
    writer.put("bag.url", raw.urls)
    writer.put("bag.offsets", raw.offsets.astype(smallest_uint(total)))
    writer.put("bag.inlinks", raw.inlinks.astype(smallest_uint(int(raw.inlinks.max(initial=0)))))
    sites, site_rule = site_numbers(corpus, raw.urls)
    writer.put("bag.site", sites.astype(smallest_uint(int(sites.max(initial=0)))))
    writer.put("bagterm.hash", hashes)
    writer.put("bagterm.order", np.argsort(hashes, kind="stable").astype(np.uint32))
    writer.put("bagterm.df", raw.df[used].astype(np.uint32))
    writer.put("bagterm.pages", raw.own_df[used].astype(np.uint32))
    writer.put("bagterm.shown", np.concatenate([words.shown[of_words], citing, cited]))
    facts: dict[str, Any] = {
        "bags": bags,
        "bag_entries": total,
        "bag_words": len(of_words),
        "bag_links": len(citing),
        "bag_outlinks": len(cited),
        "own_words": own_words,
        "own_pages": int(np.count_nonzero(np.isin(raw.urls, page_url))),
        "without_words": int(np.count_nonzero(~np.isin(page_url, raw.urls))),
        "site_rule": site_rule,
    }
    if strategy.weight.frequency == "nmdf":
        mu, sigma = nmdf_parameters(strategy, bags)
        facts["nmdf"] = {"mu": mu, "sigma": sigma}
    return facts
