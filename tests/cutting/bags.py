"""Cut bags: write the documents of a range of addresses as the bags of a shard, with the weights of the whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import Bags, LinkColumns
from pagekin.bags.copies import SKETCH_PLACES, copy_sketches
from pagekin.hypertext import Cut, PageColumns
from pagekin.store import Array, Kin, KinWriter, batch_ranges, smallest_uint

from .corpus import CutNumbers

_STEP = 1 << 22
_WHOLE = ("bags", "own_pages", "own_words")
"""Facts of the whole that similarities in a shard go by."""
_SHARED_FACTS = ("digest", "nmdf", "not_citing", "site_rule", "strategy", "window_words")


@dataclass(frozen=True)
class BagCut:
    """The documents of a cut, and the terms in their bags."""

    first: int
    last: int
    """The documents from `first` up to, and without, `last`, as they are numbered in the whole."""
    terms: npt.NDArray[np.int64]
    """The numbers of their terms in the whole, rising."""
    words: npt.NDArray[np.int64]
    """The corpus's terms by which those of them that are words are shown."""
    urls: npt.NDArray[np.int64]
    """The addresses that the others are."""
    links: int
    """How many of these are citing pages; the others are linked addresses."""


def find_bag_cut(kin: Kin, cut: Cut) -> BagCut:
    """Return the documents of a cut, and the terms in their bags."""
    bags, facts = Bags(kin), kin.facts["index"]
    first, last = np.searchsorted(bags.urls, [cut.first_url, cut.last_url]).tolist()
    entries = slice(int(bags.offsets[first]), int(bags.offsets[last]))
    held = np.zeros(len(bags.hashes), dtype=np.bool_)
    for start in range(entries.start, entries.stop, _STEP):
        held[bags.terms[start : min(start + _STEP, entries.stop)]] = True
    terms = np.flatnonzero(held)
    words_end = np.searchsorted(terms, facts["bag_words"])
    links_end = np.searchsorted(terms, facts["bag_words"] + facts["bag_links"])
    shown = np.asarray(kin["bagterm.shown"], dtype=np.int64)[terms]
    return BagCut(first, last, terms, shown[:words_end], shown[words_end:], int(links_end - words_end))


def cut_bags(kin: Kin, cut: Cut, bag_cut: BagCut, numbers: CutNumbers, writer: KinWriter) -> dict[str, Any]:
    """Write the bags and links of a cut's documents; return the facts about them.

    Document frequencies, inlinks, sites and weights of links are those of the whole, and so are the numbers of documents in
    links: a shard is compared with its fellows.
    """
    bags, facts = Bags(kin), kin.facts["index"]
    first, last = bag_cut.first, bag_cut.last
    documents = slice(first, last)
    urls = np.asarray(bags.urls[documents], dtype=np.int64)
    offsets = np.asarray(bags.offsets[first : last + 1], dtype=np.int64)
    entries = slice(int(offsets[0]), int(offsets[-1]))
    number = np.zeros(len(bags.hashes), dtype=np.uint32)
    number[bag_cut.terms] = np.arange(len(bag_cut.terms), dtype=np.uint32)
    files = {name: writer.create(f"bag.{name}", kin[f"bag.{name}"].dtype) for name in ("weights", "from", "counts")}
    terms = writer.create("bag.terms", np.uint32)
    own_words = 0
    for start, stop in batch_ranges(np.arange(entries.start, entries.stop + 1), _STEP):
        part = slice(entries.start + start, entries.start + stop)
        terms.append(number[bags.terms[part]])
        for name, file in files.items():
            file.append(np.asarray(kin[f"bag.{name}"][part]))
        own_words += int(bags.counts[part].sum(dtype=np.int64))
    writer.put("bag.url", numbers.urls[urls].astype(np.uint32))
    writer.put("bag.offsets", (offsets - entries.start).astype(smallest_uint(entries.stop - entries.start)))
    for name in ("inlinks", "site"):
        writer.put(f"bag.{name}", np.asarray(kin[f"bag.{name}"][documents]))
    hashes = np.asarray(bags.hashes)[bag_cut.terms]
    writer.put("bagterm.hash", hashes)
    writer.put("bagterm.order", np.argsort(hashes, kind="stable").astype(np.uint32))
    for name in ("df", "pages"):
        writer.put(f"bagterm.{name}", np.asarray(kin[f"bagterm.{name}"])[bag_cut.terms])
    shown = np.concatenate([numbers.terms[bag_cut.words], numbers.urls[bag_cut.urls]])
    writer.put("bagterm.shown", shown.astype(np.uint32))
    pages = np.asarray(PageColumns.of(kin).url[cut.first_page : cut.last_page], dtype=np.int64)
    sketches = copy_sketches(kin)[cut.first_page : cut.last_page]
    writer.put("copy.rows", np.asarray(sketches).reshape(-1, SKETCH_PLACES).reshape(-1))
    return {
        **{name: facts[name] for name in _SHARED_FACTS if name in facts},
        **_cut_links(kin, documents, writer),
        "bags": last - first,
        "bag_entries": entries.stop - entries.start,
        "bag_words": len(bag_cut.words),
        "bag_links": bag_cut.links,
        "bag_outlinks": len(bag_cut.urls) - bag_cut.links,
        "own_words": own_words,
        "own_pages": int(np.count_nonzero(np.isin(urls, pages))),
        "without_words": int(np.count_nonzero(~np.isin(pages, urls))),
        "epoch": _cut_epoch(kin, facts, numbers.urls, writer),
        "whole": {name: facts[name] for name in _WHOLE},
    }


def _cut_links(kin: Kin, documents: slice, writer: KinWriter) -> dict[str, int]:
    columns = LinkColumns.of(kin)
    counts = {}
    for direction, ends in (("in", "into"), ("out", "out")):
        offsets = np.asarray(kin[f"link.{direction}_offsets"][documents.start : documents.stop + 1], dtype=np.int64)
        part = slice(int(offsets[0]), int(offsets[-1]))
        counts[ends] = part.stop - part.start
        writer.put(f"link.{direction}_offsets", (offsets - part.start).astype(smallest_uint(counts[ends])))
        writer.put(f"link.{ends}", np.asarray(kin[f"link.{ends}"][part]))
        writer.put(f"link.{direction}_weight", np.asarray(kin[f"link.{direction}_weight"][documents]))
    lists = np.asarray(columns.lists[documents])
    writer.put("link.lists", lists)
    return {"document_links": counts["out"], "links_into": counts["into"], "listing_pages": int(lists.sum())}


def _cut_epoch(kin: Kin, facts: Mapping[str, Any], urls: Array, writer: KinWriter) -> dict[str, Any]:
    """Write a shard's part of the whole's epoch; return its identity and the arrays' lengths."""
    lengths = {}
    for name in ("factor", "furniture", "navigation", "lists"):
        values = np.asarray(kin[f"epoch.{name}"])
        if name in ("furniture", "lists"):
            known = urls[values.astype(np.int64)]
            values = known[known >= 0].astype(np.uint32)
        writer.put(f"epoch.{name}", values)
        lengths[name] = len(values)
    return {"identity": facts["epoch"]["identity"], **lengths}
