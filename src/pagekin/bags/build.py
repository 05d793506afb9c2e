"""Making bags: kept words and windows from the streams, fragments merged by URL, weights, normalisation (section 6.1)."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags.copies import SKETCH_PLACES
from pagekin.bags.furniture import find_furniture
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
)
from pagekin.bags.words import Vocabulary, link_hash, make_vocabulary, outlink_hash
from pagekin.hypertext import Boundary, Corpus, DecodedPage, sites_of_urls
from pagekin.store import KinWriter, batch_ranges, map_in_order, smallest_uint

Array = npt.NDArray[Any]
Progress = Callable[[str, float], None]

SYNTACTIC_ENDS = (
    Boundary.PARAGRAPH, Boundary.CELL, Boundary.ITEM, Boundary.BREAK, Boundary.HEADING, Boundary.LIST_END,
    Boundary.TABLE_END,
)  # fmt: skip
"""Borders of paragraphs, cells and items; headings and the ends of lists and tables are borders of paragraphs too."""
TOPICAL_ENDS = (Boundary.HEADING, Boundary.LIST_END, Boundary.TABLE_END)
DYNAMIC_SIZE = 32
"""Syntactic and topical windows end here at the latest."""
BATCH_WORDS = 1 << 21
BATCH_WORK = 1 << 22


@dataclass
class Kept:
    """What is left of the pages under a strategy, in temporary files."""

    words: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    titles: npt.NDArray[np.int32]
    spans: npt.NDArray[np.int32]
    left: float
    right: float


def make_bags(
    corpus: Corpus,
    strategy: Strategy,
    writer: KinWriter,
    progress: Progress = lambda _stage, _share: None,
    not_citing: Array | None = None,
    threads: int = 1,
) -> dict[str, Any]:
    """Write the `bag.*` and `bagterm.*` arrays of all URLs with a page or a link to them; return facts about them.

    Links on the pages numbered in `not_citing` are left out.
    """
    progress("words", 0.0)
    words = make_vocabulary(corpus, strategy, lambda share: progress("words", share))
    citing = citing_pages(corpus, not_citing)
    progress("windows", 0.0)
    kept = keep(corpus, strategy, words, writer.work, progress, threads)
    _sketch(kept, words, writer)
    progress("bags", 0.0)
    raw = merge(corpus, strategy, words, kept, citing, writer.work, progress, threads)
    facts = _weigh(corpus, strategy, words, raw, writer, progress)
    facts["window_words"] = {"left": round(kept.left, 2), "right": round(kept.right, 2)}
    facts["not_citing"] = 0 if not_citing is None else len(not_citing)
    for name in _TEMPORARY:
        (writer.work / name).unlink(missing_ok=True)
    return facts


_TEMPORARY = ("kept.words", "kept.spans", "raw.terms", "raw.weights", "raw.origins")


def citing_pages(corpus: Corpus, not_citing: Array | None) -> npt.NDArray[np.bool_]:
    """Mark the pages whose links count: the newest capture of each URL, without the pages in `not_citing`."""
    urls = np.asarray(corpus.pages.url)
    citing = np.ones(len(urls), dtype=np.bool_)
    citing[1:] = urls[1:] != urls[:-1]
    if not_citing is not None:
        citing[not_citing] = False
    return citing


def _temporary(path: Path, dtype: Any, shape: tuple[int, ...]) -> Array:
    """Make a writable array in a temporary file, which the system may move out of memory."""
    if 0 in shape:
        return np.zeros(shape, dtype)
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    with path.open("wb") as file:
        # Room is taken before it is mapped: a write to a map on a full disk would kill the process.
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
    return np.memmap(path, dtype, "r+", shape=shape).view(np.ndarray)


def keep(
    corpus: Corpus, strategy: Strategy, words: Vocabulary, folder: Path, progress: Progress, threads: int,
    without_crumbs: bool = False,
) -> Kept:  # fmt: skip
    """Keep the words of every page and the window of every anchor; `without_crumbs` drops words of breadcrumbs.

    Links that are the site's furniture are left out with their words, in windows too.
    """
    from pagekin.bags._kernels.keep import keep_words

    anchors = np.asarray(corpus.pages.anchors, dtype=np.int64)
    pages = len(corpus)
    kind = strategy.window.kind
    ends = np.zeros(64, dtype=np.bool_)
    ends[[int(b) for b in {"basic": (), "syntactic": SYNTACTIC_ENDS, "topical": TOPICAL_ENDS}[kind]]] = True
    size = strategy.window.size if kind == "basic" else min(strategy.window.size, DYNAMIC_SIZE)
    left_out = find_furniture(corpus, strategy)
    spans = _temporary(folder / "kept.spans", np.int32, (int(anchors[-1]), 4))
    offsets = np.zeros(pages + 1, dtype=np.int64)
    titles = np.zeros(pages, dtype=np.int32)

    def batch(first: int, last: int) -> Array:
        streams = corpus.stream_batch(first, last)
        decoded = DecodedPage.for_longest(streams)
        longest = len(decoded.terms)
        a = slice(int(anchors[first]), int(anchors[last]))
        out = np.empty(len(streams.words), dtype=np.int32)
        page_ends = np.empty(last - first, dtype=np.int64)
        n = keep_words(
            streams, decoded, anchors[first : last + 1] - anchors[first],
            np.array(corpus.anchors.start[a], dtype=np.int64), np.array(corpus.anchors.length[a], dtype=np.int64),
            left_out[a], words.stem_of, ends, size, out, page_ends, titles[first:last], spans[a],
            np.empty(longest, dtype=np.int32), np.empty(longest, dtype=np.int32), np.empty_like(decoded.boundary_at),
            without_crumbs, np.zeros(longest, dtype=np.uint8),
        )  # fmt: skip
        offsets[first + 1 : last + 1] = page_ends
        return out[:n]

    parts = batch_ranges(corpus.pages.tokens, BATCH_WORDS)
    total = 0
    with (folder / "kept.words").open("wb") as file:
        for (first, last), kept in map_in_order(threads, batch, parts):
            offsets[first + 1 : last + 1] += total
            total += len(kept)
            file.write(kept.data)
            progress("windows", last / pages)
    kept_words: Array = np.zeros(0, dtype=np.int32)
    if total:
        kept_words = np.memmap(folder / "kept.words", np.int32, "r+", shape=(total,)).view(np.ndarray)
    return Kept(
        kept_words,
        offsets,
        titles,
        spans,
        *_mean_widths(spans, np.repeat(citing_pages(corpus, None), np.diff(anchors))),
    )


def _sketch(kept: Kept, words: Vocabulary, writer: KinWriter) -> None:
    """Write every page's sketch as `copy.rows`."""
    from pagekin.bags._kernels.sketch import sketch_pages

    stored = writer.create("copy.rows", np.uint16)
    for first, last in batch_ranges(kept.offsets, BATCH_WORDS):
        rows = np.empty((last - first, SKETCH_PLACES), dtype=np.uint16)
        sketch_pages(kept.words, kept.offsets, kept.titles, words.hashes, first, last, rows)
        stored.append(rows.reshape(-1))


def _mean_widths(spans: Array, counts: Array) -> tuple[float, float]:
    """Return the mean number of kept words to the left and to the right of an anchor that counts (section 3.1)."""
    left = right = count = 0
    for start in range(0, len(spans), 1 << 20):
        part = spans[start : start + (1 << 20)]
        part = part[(part[:, 1] >= 0) & counts[start : start + len(part)]]
        count += len(part)
        left += int(np.sum(part[:, 1] - part[:, 0], dtype=np.int64))
        right += int(np.sum(part[:, 3] - part[:, 2], dtype=np.int64))
    return left / max(count, 1), right / max(count, 1)


@dataclass
class Raw:
    """Merged bags before weighting: summed occurrence weights, in temporary files."""

    urls: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.int64]
    inlinks: npt.NDArray[np.uint32]
    df: npt.NDArray[np.int64]
    folder: Path

    def entries(self) -> tuple[Array, Array, Array]:
        """Return (terms, summed occurrence weights, origins) of all bags."""
        total = int(self.offsets[-1])

        def stored(name: str, kind: Any) -> Array:
            if not total:
                return np.zeros(0, kind)
            return np.memmap(self.folder / f"raw.{name}", kind, "r", shape=(total,)).view(np.ndarray)

        return stored("terms", np.uint32), stored("weights", np.float32), stored("origins", np.uint8)


def _web(corpus: Corpus, strategy: Strategy, citing: Array) -> Any:
    """Return what the merging kernel has to know of all URLs, pages and anchors."""
    from pagekin.bags._kernels.merge import Web

    page_url = np.asarray(corpus.pages.url, dtype=np.int64)
    page_anchors = np.asarray(corpus.pages.anchors, dtype=np.int64)
    url_site = np.zeros(len(corpus.urls), dtype=np.int64)
    if not strategy.anchors.within_site:
        url_site = sites_of_urls(corpus.urls)[0].astype(np.int64)
    return Web(
        url_site=url_site,
        page_url=page_url,
        page_host=np.asarray(corpus.pages.host, dtype=np.int64),
        page_site=url_site[page_url],
        citing=citing,
        page_anchors=page_anchors,
        anchor_page=np.repeat(np.arange(len(corpus), dtype=np.uint32), np.diff(page_anchors)),
    )


def merge(
    corpus: Corpus, strategy: Strategy, words: Vocabulary, kept: Kept, citing: Array, folder: Path,
    progress: Progress, threads: int,
) -> Raw:  # fmt: skip
    """Merge the fragments of each URL into one bag; the corpus's inverted anchors are already sorted by URL."""
    from pagekin.bags._kernels import merge as kernels

    urls, pages, stems = len(corpus.urls), len(corpus), len(words.shown)
    inlinks = np.asarray(corpus.inlinks.offsets, dtype=np.int64)
    page_url = np.asarray(corpus.pages.url, dtype=np.int64)
    page_of_url = np.full(urls, -1, dtype=np.int64)
    page_of_url[page_url[::-1]] = np.arange(pages - 1, -1, -1)  # the first of several captures, the newest, wins
    web = _web(corpus, strategy, citing)
    outlinks = np.diff(web.page_anchors)
    near = distance_weights(strategy) if strategy.anchors.scale else np.zeros(0)
    if strategy.window.kind != "basic":
        near = near[: DYNAMIC_SIZE + 1]
    scales = kernels.Scales(
        content=float(strategy.content.scale),
        title=float(title_weight(strategy)),
        link=float(strategy.links.scale),
        outlink=float(strategy.outlinks.scale),
        lead=lead_weights(strategy, int(np.max(np.diff(kept.offsets), initial=0))),
        near=near * strategy.anchors.scale,
        once=strategy.anchors.repeat == "once",
        within_site=bool(strategy.anchors.within_site),
        stems=stems,
        links_end=stems + (pages if strategy.links.scale else 0),
    )
    kept_words = kernels.KeptWords(kept.words, kept.offsets, kept.titles, kept.spans)
    terms = scales.links_end + (urls if strategy.outlinks.scale else 0)
    most = int(np.max(np.diff(inlinks), initial=1))
    table = 1 << (2 * most).bit_length()

    # What a URL costs: the words and links of its page, and the words of its links' windows.
    cost = np.zeros(urls + 1, dtype=np.int64)
    has_page = page_of_url >= 0
    cost[1:][has_page] = np.diff(kept.offsets)[page_of_url[has_page]]
    if strategy.outlinks.scale:
        cost[1:][has_page] += outlinks[page_of_url[has_page]]
    cost[1:] += np.diff(inlinks) * (2 * strategy.window.size + 4) + 8
    np.cumsum(cost, out=cost)
    parts = batch_ranges(cost, BATCH_WORK)
    scratch = [
        kernels.Scratch(
            weights=np.zeros(terms),
            origins=np.zeros(terms, dtype=np.uint8),
            touched=np.empty(terms, dtype=np.int64),
            seen=np.zeros(table, dtype=np.uint64),
            used=np.empty(most + 1, dtype=np.int64),
        )
        for _ in range(threads)
    ]

    def batch(first: int, last: int) -> list[tuple[Array, Array, Array, Array, Array]]:
        room = scratch.pop()
        capacity = min(int(cost[last] - cost[first]), 2 * BATCH_WORK)
        pieces = []
        while first < last:
            own = web.page_anchors[np.searchsorted(page_url, [first, last])]
            some = kernels.Batch(
                first=first,
                last=last,
                pages=page_of_url[first:last],
                inlinks=inlinks[first : last + 1] - inlinks[first],
                anchors=np.array(corpus.inlinks.anchors[inlinks[first] : inlinks[last]], dtype=np.int64),
                targets=np.array(
                    corpus.anchors.target[own[0] : own[1]] if strategy.outlinks.scale else [], dtype=np.int64
                ),
                targets_from=int(own[0]),
            )
            out = kernels.Merged(
                terms=np.empty(capacity, np.int64),
                weights=np.empty(capacity, np.float32),
                origins=np.empty(capacity, np.uint8),
                ends=np.zeros(last - first, np.int64),
                inlinks=np.zeros(last - first, np.uint32),
            )
            done, n = kernels.merge_bags(some, web, kept_words, scales, room, out)
            if done == first:
                capacity *= 2  # one bag alone needs more
                continue
            of_terms, of_urls = slice(n), slice(done - first)
            pieces.append(
                (
                    out.terms[of_terms],
                    out.weights[of_terms],
                    out.origins[of_terms],
                    out.ends[of_urls],
                    out.inlinks[of_urls],
                )
            )
            first = done
        scratch.append(room)
        return pieces

    df = np.zeros(terms, dtype=np.int64)
    sizes, citations_of = [], []
    with (
        (folder / "raw.terms").open("wb") as terms_file,
        (folder / "raw.weights").open("wb") as weights_file,
        (folder / "raw.origins").open("wb") as origins_file,
    ):
        for (_first, last), pieces in map_in_order(threads, batch, parts):
            for numbers, weights, origins, ends, citations in pieces:
                df += np.bincount(numbers, minlength=terms)
                terms_file.write(numbers.astype(np.uint32).data)
                weights_file.write(weights.data)
                origins_file.write(origins.data)
                sizes.append(np.diff(ends, prepend=0))
                citations_of.append(citations)
            progress("bags", last / urls)
    size = np.concatenate([np.zeros(0, np.int64), *sizes])
    has_bag = size > 0
    offsets = np.zeros(int(np.count_nonzero(has_bag)) + 1, dtype=np.int64)
    np.cumsum(size[has_bag], out=offsets[1:])
    inlink_counts = np.concatenate([np.zeros(0, np.uint32), *citations_of])[has_bag]
    return Raw(np.flatnonzero(has_bag).astype(np.uint32), offsets, inlink_counts, df, folder)


def _weigh(
    corpus: Corpus, strategy: Strategy, words: Vocabulary, raw: Raw, writer: KinWriter, progress: Progress
) -> dict[str, Any]:
    """Write weights by frequency, normalised to sum 1; terms that no bag holds get no number."""
    bags, total = len(raw.urls), int(raw.offsets[-1])
    in_use = raw.df > 0
    number = np.cumsum(in_use) - 1
    factors = frequency_weights(raw.df, bags, strategy)
    stems = len(words.shown)
    stored = {
        "terms": writer.create("bag.terms", np.uint32),
        "weights": writer.create("bag.weights", np.float32),
        "from": writer.create("bag.from", np.uint8),
    }
    all_terms, all_weights, all_origins = raw.entries()
    for first, last in batch_ranges(raw.offsets, BATCH_WORK) if bags else []:
        part = slice(int(raw.offsets[first]), int(raw.offsets[last]))
        terms = all_terms[part]
        weights = scaled_frequencies(all_weights[part], strategy) * factors[terms]
        stored["terms"].append(number[terms].astype(np.uint32))
        stored["weights"].append(normalised(weights, raw.offsets[first : last + 1] - part.start))
        stored["from"].append(all_origins[part])
        progress("weighing", last / bags)
    used = np.flatnonzero(in_use)
    page_url = np.asarray(corpus.pages.url)
    links_end = stems + (len(page_url) if strategy.links.scale else 0)
    of_words = used[used < stems]
    citing = page_url[used[(used >= stems) & (used < links_end)] - stems]
    cited = (used[used >= links_end] - links_end).astype(np.uint32)
    addresses = [
        *(link_hash(corpus.urls[u]) for u in citing.tolist()),
        *(outlink_hash(corpus.urls[u]) for u in cited.tolist()),
    ]
    hashes = np.concatenate([words.hashes[of_words], np.array(addresses, dtype=np.uint64)])
    writer.put("bag.url", raw.urls)
    writer.put("bag.offsets", raw.offsets.astype(smallest_uint(total)))
    writer.put("bag.inlinks", raw.inlinks.astype(smallest_uint(int(raw.inlinks.max(initial=0)))))
    sites, site_rule = site_numbers(corpus, raw.urls)
    writer.put("bag.site", sites.astype(smallest_uint(int(sites.max(initial=0)))))
    writer.put("bagterm.hash", hashes)
    writer.put("bagterm.order", np.argsort(hashes, kind="stable").astype(np.uint32))
    writer.put("bagterm.df", raw.df[in_use].astype(np.uint32))
    writer.put("bagterm.shown", np.concatenate([words.shown[of_words], citing.astype(np.uint32), cited]))
    facts: dict[str, Any] = {
        "bags": bags,
        "bag_entries": total,
        "bag_words": len(of_words),
        "bag_links": len(citing),
        "bag_outlinks": len(cited),
        "without_words": int(np.count_nonzero(~np.isin(page_url, raw.urls))),
        "site_rule": site_rule,
    }
    if strategy.weight.frequency == "nmdf":
        mu, sigma = nmdf_parameters(strategy, bags)
        facts["nmdf"] = {"mu": mu, "sigma": sigma}
    return facts
