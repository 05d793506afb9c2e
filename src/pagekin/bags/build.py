"""Make bags: kept words and windows from the streams, merged by URL, weighted and normalised (section 6.1)."""

from collections.abc import Sequence
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags.copies import SKETCH_PLACES
from pagekin.bags.epoch import epoch_part, join_epoch_parts, put_uses, write_epoch
from pagekin.bags.frequencies import count_frequencies, sum_frequencies
from pagekin.bags.graph import write_links
from pagekin.bags.inlinks import Inlinks, gather_inlinks
from pagekin.bags.judging import judge_links
from pagekin.bags.link_pairs import collect_links, count_outlinks, find_links, number_links
from pagekin.bags.links import citing_pages
from pagekin.bags.raw import Raw, temporary_array
from pagekin.bags.strategy import Strategy
from pagekin.bags.visits import Visits
from pagekin.bags.weighing import weigh
from pagekin.bags.weights import DYNAMIC_SIZE, lead_weights, near_weights, title_weight, whole_units
from pagekin.bags.words import Vocabulary, link_hash, make_vocabulary, outlink_hash
from pagekin.hypertext import Boundary, Corpus, DecodedPage
from pagekin.store import (
    NO_LIMIT,
    PROCESS_KEY,
    Array,
    KinWriter,
    MemoryBudget,
    Progress,
    Workspace,
    batch_ranges,
    map_in_order,
    no_progress,
    rising_order,
)

if TYPE_CHECKING:
    from pagekin.bags._kernels.keep import KeptWords, Rules
    from pagekin.bags._kernels.merge import Merged, Scales, Scratch, TermOrder

_TOPICAL_ENDS = (Boundary.HEADING, Boundary.LIST_END, Boundary.TABLE_END)
WINDOW_ENDS: dict[str, tuple[Boundary, ...]] = {
    "basic": (),
    "syntactic": (Boundary.PARAGRAPH, Boundary.CELL, Boundary.ITEM, Boundary.BREAK, *_TOPICAL_ENDS),
    "topical": _TOPICAL_ENDS,
}
"""What ends a window of each kind; headings and the ends of lists and tables are borders of paragraphs too."""
NOT_ASKED = np.zeros(0, np.uint8)
"""In place of an array for links that repeat others: nobody wants to know."""
_NONE_LOST = np.zeros(0, np.int64)
BATCH_WORDS = 1 << 21
BATCH_WORK = 1 << 22
_WORD_BYTES, _ENTRY_BYTES, _SPAN_BYTES = 32, 16, 64
"""Bytes that are taken by a word while windows are made, by a place in a bag while bags are merged, by a link with its window."""


def make_bags(
    corpus: Corpus,
    strategy: Strategy,
    writer: KinWriter,
    progress: Progress = no_progress,
    not_citing: Array | None = None,
    threads: int = 1,
) -> dict[str, Any]:
    """Write the bags of all URLs with a page or an inlink, and the links between them; return the facts about them.

    Links on the pages numbered in `not_citing` are left out.
    """
    progress("words", 0.0)
    words = make_vocabulary(corpus, strategy, lambda share: progress("words", share))
    with TemporaryDirectory(dir=writer.work) as folder:
        progress("windows", 0.0)
        room = Workspace(Path(folder), writer.memory)
        judged = judge_links(corpus, strategy, room, threads)
        kept, window_sums = keep(
            corpus, strategy, words, judged.uses, room.folder, progress, threads, memory=writer.memory
        )
        write_sketches(kept, words, writer)
        progress("bags", 0.0)
        citing = citing_pages(corpus, not_citing)
        repeats = room.full(len(judged.uses), 0, np.uint8)
        raw = merge(corpus, strategy, words, kept, citing, room, progress, threads, repeats=repeats)
        frequencies = sum_frequencies([count_frequencies(corpus, raw)])
        facts = weigh(corpus, strategy, words, raw, frequencies, writer, progress)
        into = number_links(corpus, raw.urls, find_links(corpus, strategy, judged.uses, citing, raw.urls, room=room))
        out = collect_links([into], "sources")
        into = collect_links([count_outlinks(out)], "targets")
        facts |= write_links(corpus, judged.uses, raw.urls, into, out, writer)
        put_uses(writer, judged.uses, repeats)
        part = epoch_part(corpus, judged.common, judged.navigation, judged.listing)
        facts["epoch"] = write_epoch(corpus, strategy, frequencies, join_epoch_parts([part]), writer)
    facts["window_words"] = round_windows(window_sums)
    facts["not_citing"] = 0 if not_citing is None else len(not_citing)
    return facts


def keep(
    corpus: Corpus, strategy: Strategy, words: Vocabulary, uses: Array, folder: Path, progress: Progress, threads: int,
    without_crumbs: bool = False, memory: MemoryBudget = NO_LIMIT,
) -> tuple["KeptWords", npt.NDArray[np.int64]]:  # fmt: skip
    """Keep the words of every page and the window of every anchor; `without_crumbs` drops words of breadcrumbs.

    Links that say nothing of their target, by the `uses` of all anchors, are left out, furniture with its words, in windows
    too. Return also how many kept words stand to the left and to the right of all anchors that count, and how many anchors these
    are (section 3.1): shards add that up.
    """
    from pagekin.bags._kernels.keep import Anchors, KeptWords, keep_words

    page_anchors = np.asarray(corpus.pages.anchors, dtype=np.int64)
    rules = window_rules(strategy, words, without_crumbs)
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
    window_sums = np.zeros(3, np.int64)
    with (
        temporary_array(folder / "kept.words", np.int32) as all_words,
        temporary_array(folder / "kept.spans", np.int32) as all_spans,
    ):
        parts = batch_ranges(corpus.pages.tokens, memory.items(BATCH_WORDS, _WORD_BYTES))
        for (first, last), kept in map_in_order(threads, batch, parts):
            counts = np.repeat(citing[first:last], np.diff(page_anchors[first : last + 1]))
            spans = kept.spans[(kept.spans[:, 1] >= 0) & counts]
            sides = spans[:, 1] - spans[:, 0], spans[:, 3] - spans[:, 2]
            window_sums += [*(int(side.sum(dtype=np.int64)) for side in sides), len(spans)]
            offsets[first + 1 : last + 1] = kept.offsets[1:] + all_words.length
            titles[first:last] = kept.titles
            all_words.append(kept.words[: kept.offsets[-1]])
            all_spans.append(kept.spans.reshape(-1))
            progress("windows", last / len(corpus))
        kept = KeptWords(all_words.mapped(), offsets, titles, all_spans.mapped().reshape(-1, 4))
    return kept, window_sums


def window_rules(strategy: Strategy, words: Vocabulary, without_crumbs: bool = False) -> "Rules":
    """Return the words that a strategy keeps, and the boundaries at which windows end."""
    from pagekin.bags._kernels.keep import Rules

    window = strategy.window
    ends = np.zeros(64, dtype=np.bool_)
    ends[list(WINDOW_ENDS[window.kind])] = True
    size = window.size if window.kind == "basic" else min(window.size, DYNAMIC_SIZE)
    return Rules(words.stem_of, ends, size, without_crumbs)


def mean_windows(sums: Array) -> tuple[float, float]:
    """Return the mean number of kept words left and right of an anchor, from the sums of `keep` over all shards."""
    left, right, count = sums.tolist()
    return left / max(count, 1), right / max(count, 1)


def round_windows(sums: Array) -> dict[str, float]:
    """Return the means of `mean_windows` as they are stored in the facts of an index."""
    left, right = mean_windows(sums)
    return {"left": round(left, 2), "right": round(right, 2)}


def write_sketches(kept: "KeptWords", words: Vocabulary, writer: KinWriter) -> None:
    """Write every page's sketch as `copy.rows`."""
    from pagekin.bags._kernels.sketch import sketch_pages

    stored = writer.create("copy.rows", np.uint16)
    for first, last in batch_ranges(kept.offsets, BATCH_WORDS):
        rows = np.empty((last - first, SKETCH_PLACES), dtype=np.uint16)
        sketch_pages(kept, words.hashes, first, last, rows)
        stored.append(rows.reshape(-1))


def term_limits(corpus: Corpus, strategy: Strategy, words: Vocabulary, visitors: int = 0) -> tuple[int, int, int]:
    """Return the ends of the ranges of term numbers: words, citing pages (visiting ones last), linked addresses."""
    words_end = len(words.shown)
    links_end = words_end + (len(corpus) + visitors if strategy.links.scale else 0)
    return words_end, links_end, links_end + (len(corpus.urls) if strategy.outlinks.scale else 0)


def hash_terms(
    corpus: Corpus, strategy: Strategy, words: Vocabulary, visitors: Sequence[bytes] = (), known: Array | None = None
) -> npt.NDArray[np.uint64]:
    """Return the hashes of all terms: words, citing pages, linked addresses; 0 for an address that is not a term.

    `known` are the hashes of all addresses as linked ones, 0 for those that have to be made.
    """
    words_end, links_end, end = term_limits(corpus, strategy, words, len(visitors))
    hashes = np.zeros(end, dtype=np.uint64)
    hashes[:words_end] = words.hashes
    if links_end > words_end:
        citing = chain((corpus.urls[int(url)] for url in corpus.pages.url), visitors)
        hashes[words_end:links_end] = np.fromiter(map(link_hash, citing), np.uint64, links_end - words_end)
    if end > links_end:
        linked = np.flatnonzero(np.diff(np.asarray(corpus.inlinks.offsets, dtype=np.int64)))
        if known is not None:
            hashes[links_end + linked] = known[linked]
            linked = linked[known[linked] == 0]
        link_hashes = (outlink_hash(corpus.urls[int(url)]) for url in linked)
        hashes[links_end + linked] = np.fromiter(link_hashes, np.uint64, len(linked))
    return hashes


def order_terms(hashes: npt.NDArray[np.uint64], limits: tuple[int, int, int]) -> "TermOrder":
    """Return the order of terms in bags, given their hashes and the ends of the kinds of terms."""
    from pagekin.bags._kernels.merge import TermOrder

    by_rank = np.empty(len(hashes), dtype=np.uint32)
    for first, last in pairwise((0, *limits)):
        by_rank[first:last] = first + rising_order(hashes[first:last])
    rank = np.empty_like(by_rank)
    rank[by_rank] = np.arange(len(by_rank), dtype=np.uint32)
    return TermOrder(hashes, rank, by_rank)


def _scales(strategy: Strategy, limits: tuple[int, int, int], most_words: int) -> "Scales":
    """Return the weights of occurrences on pages of up to `most_words` kept words, and the numbering of terms."""
    from pagekin.bags._kernels.merge import Scales

    lead = lead_weights(strategy, most_words)
    return Scales(
        content=whole_units(lead * strategy.content.scale),
        title=int(whole_units(title_weight(strategy))),
        link=int(whole_units(strategy.links.scale)),
        outlink=whole_units(lead * strategy.outlinks.scale),
        near=near_weights(strategy),
        once=strategy.anchors.repeat == "once",
        within_site=bool(strategy.anchors.within_site),
        words_end=limits[0],
        links_end=limits[1],
    )


def _most_entries(links: Inlinks, memory: MemoryBudget) -> npt.NDArray[np.int64]:
    """Return an upper bound of each bag's number of terms: the words and links of its page and its inlinks' windows."""
    web, kept = links.web, links.kept
    most = np.zeros(len(web.url_page), dtype=np.int64)
    has_page = web.url_page >= 0
    pages = len(web.page_anchors) - 1
    most[has_page] = (np.diff(kept.offsets[: pages + 1]) + np.diff(web.page_anchors))[web.url_page[has_page]]
    for first, last in batch_ranges(np.cumsum(np.append(0, links.counts)), memory.items(BATCH_WORK, _SPAN_BYTES)):
        offsets, anchors = links.to(first, last)
        spans = kept.spans[anchors]
        sums = np.cumsum(np.append(0, spans[:, 3] - spans[:, 0] + 1))
        most[first:last] += np.diff(sums[offsets])
    return most


def _add_sums(
    merged: "Merged", urls: npt.NDArray[np.int64], terms: npt.NDArray[np.uint32], sums: npt.NDArray[np.int64], order: "TermOrder"
) -> "Merged":  # fmt: skip
    """Add windows that were summed up elsewhere, by URL and term, to the bags of a batch. Cost: one sort."""
    from pagekin.bags._kernels.merge import FROM_ANCHORS

    if not len(urls):
        return merged
    own, count = np.repeat(np.arange(len(merged.sizes)), merged.sizes), len(urls)
    url, term = np.append(own, urls), np.append(merged.terms, terms)
    place = np.lexsort((order.rank[term], url))
    url, term = url[place], term[place]
    first = np.flatnonzero(np.append(True, (np.diff(url) != 0) | (term[1:] != term[:-1])))
    origins = np.append(merged.origins, np.full(count, FROM_ANCHORS, np.uint8))[place]
    return merged._replace(
        terms=term[first],
        sums=np.add.reduceat(np.append(merged.sums, sums)[place], first),
        origins=np.bitwise_or.reduceat(origins, first),
        counts=np.maximum.reduceat(np.append(merged.counts, np.zeros(count, np.uint8))[place], first),
        sizes=np.bincount(url[first], minlength=len(merged.sizes)),
    )


def _make_scratch(terms: int, most_links: int) -> "Scratch":
    """Return a thread's scratch memory for bags of this many terms, from this many links to an address."""
    from pagekin.bags._kernels.merge import Scratch

    return Scratch(
        sums=np.zeros(terms, dtype=np.int64),
        marks=np.zeros(terms, dtype=np.uint16),
        touched=np.empty(terms + 1, dtype=np.uint32),
        sorting=np.empty(terms + 1, dtype=np.uint32),
        seen=np.zeros(1 << (2 * most_links).bit_length(), dtype=np.uint64),
        used=np.empty(most_links + 1, dtype=np.int64),
        key=PROCESS_KEY,
    )


class MergeScope(NamedTuple):
    """Which bags of a corpus to merge, and what is known of the pages elsewhere; by default, the corpus is all there is."""

    visits: Visits | None = None
    """Links to addresses of this shard on pages of all others."""
    own: range | None = None
    """URLs whose bags belong to this shard."""
    lost: npt.NDArray[np.int64] = _NONE_LOST
    """Anchors of this shard whose windows other shards count: see `lost_anchors`."""
    wanted: Array | None = None
    """Marks the URLs whose bags are made; None for all."""
    known: Array | None = None
    """Hashes of addresses as `hash_terms` takes them."""


_WHOLE_CORPUS = MergeScope()


def merge(
    corpus: Corpus, strategy: Strategy, words: Vocabulary, kept: "KeptWords", citing: Array, room: Workspace,
    progress: Progress, threads: int, scope: MergeScope = _WHOLE_CORPUS, repeats: npt.NDArray[np.uint8] = NOT_ASKED,
) -> Raw:  # fmt: skip
    """Merge the fragments of each URL into one bag; the inverted anchors of the corpus are sorted by URL already.

    In `repeats`, if it has a place for every anchor, links are marked that do not count because another one said the same.
    """
    from pagekin.bags._kernels.merge import Batch, Merged, merge_bags

    folder, memory = room.folder, room.memory
    inlinks = gather_inlinks(corpus, strategy, words, kept, citing, scope.visits, room, scope.wanted, scope.lost)
    limits = term_limits(corpus, strategy, words, len(inlinks.visitors))
    terms = limits[-1]
    hashes = hash_terms(corpus, strategy, words, inlinks.visitors, scope.known)
    order = order_terms(hashes, limits)
    web = inlinks.web
    scales = _scales(strategy, limits, int(np.max(np.diff(kept.offsets), initial=0)))
    most_links = int(np.max(inlinks.counts, initial=1))
    most_entries = _most_entries(inlinks, memory)
    page_url = np.asarray(corpus.pages.url, dtype=np.int64)
    scratch = [_make_scratch(terms, most_links) for _ in range(threads)]

    def batch(first: int, last: int) -> Merged:
        targets = slice(*web.page_anchors[np.searchsorted(page_url, [first, last])].tolist())
        offsets, anchors = inlinks.to(first, last)
        links = Batch(
            first=first,
            last=last,
            inlinks=offsets,
            anchors=anchors,
            targets=np.array(corpus.anchors.target[targets] if strategy.outlinks.scale else [], dtype=np.int64),
            targets_from=targets.start,
        )
        most = int(np.minimum(most_entries[first:last], terms).sum())
        out = Merged(
            terms=np.empty(most, np.uint32),
            sums=np.empty(most, np.int64),
            origins=np.empty(most, np.uint8),
            counts=np.empty(most, np.uint8),
            sizes=np.empty(last - first, np.int64),
            inlinks=np.empty(last - first, np.uint32),
            repeats=repeats,
        )
        room_to_work = scratch.pop()
        n = merge_bags(links, web, inlinks.kept, scales, order, room_to_work, out)
        scratch.append(room_to_work)
        merged = out._replace(terms=out.terms[:n], sums=out.sums[:n], origins=out.origins[:n], counts=out.counts[:n])
        return _add_sums(merged, *inlinks.sums_to(first, last), order)

    df, own_df = np.zeros(terms, dtype=np.int64), np.zeros(terms, dtype=np.int64)
    sizes, citations = np.zeros(len(corpus.urls), np.int64), np.zeros(len(corpus.urls), np.uint32)
    mine = range(len(corpus.urls)) if scope.own is None else scope.own
    most_entries = most_entries + np.diff(inlinks.sum_offsets)
    work = np.cumsum(np.append(0, most_entries[mine.start : mine.stop] + 8))
    ranges = batch_ranges(work, memory.items(BATCH_WORK, _ENTRY_BYTES))
    parts = ((mine.start + first, mine.start + last) for first, last in ranges)
    own_words = 0
    with (
        temporary_array(folder / "raw.terms", np.uint32) as all_terms,
        temporary_array(folder / "raw.sums", np.int64) as all_sums,
        temporary_array(folder / "raw.origins", np.uint8) as all_origins,
        temporary_array(folder / "raw.counts", np.uint8) as all_counts,
    ):
        for (first, last), part in map_in_order(threads, batch, parts):
            # Not bincount: its array of all terms, made for each batch, costs more than the batch where terms are many.
            np.add.at(df, part.terms, 1)
            np.add.at(own_df, part.terms[part.counts > 0], 1)
            all_terms.append(part.terms)
            all_sums.append(part.sums)
            all_origins.append(part.origins)
            all_counts.append(part.counts)
            own_words += int(part.counts.sum(dtype=np.int64))
            sizes[first:last], citations[first:last] = part.sizes, part.inlinks + inlinks.more_citations[first:last]
            progress("bags", last / len(corpus.urls))
        entries = all_terms.mapped(), all_sums.mapped(), all_origins.mapped(), all_counts.mapped()
    urls = np.flatnonzero(sizes)
    offsets = np.cumsum(np.append(0, sizes[urls]))
    return Raw(
        urls.astype(np.uint32), offsets, citations[urls], df, own_df, *entries, hashes, order.by_rank, limits,
        web.page_url, own_words,
    )  # fmt: skip
