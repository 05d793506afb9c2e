"""Widen a corpus with addresses and words that its own pages do not name, such as those of links from other shards."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.corpus import Corpus
from pagekin.hypertext.merge import put_strings
from pagekin.store import Array, KinWriter, RaggedBytes, join_strings, pack_strings, read_only, smallest_uint

_STEP = 1 << 22


def widen_corpus(
    corpus: Corpus, addresses: Iterable[bytes], words: Iterable[bytes], writer: KinWriter
) -> dict[str, Any]:
    """Write the arrays that change when a corpus gets more addresses and words; return the facts about it.

    Terms keep their numbers, and new ones follow in the order of their bytes: no page says them. Addresses are numbered anew.
    """
    addresses, words = _put_in_order(addresses), _put_in_order(words)
    new_urls = addresses.select(np.flatnonzero(corpus.urls.find_all(addresses) < 0))
    before = corpus.urls.nearest_all(new_urls)
    old = np.arange(len(corpus.urls))
    number = old + np.searchsorted(before, old, side="right")
    order = np.insert(old, before, len(old) + np.arange(len(new_urls)))
    data, offsets = RaggedBytes(*join_strings([corpus.urls, new_urls])).take(order)
    put_strings(writer, "url", [(data, offsets[1:])])
    for name in ("alias.url", "alias.target", "page.url"):
        writer.put(name, number[np.asarray(corpus.kin[name], dtype=np.int64)].astype(np.uint32))
    targets = writer.create("anchor.target", smallest_uint(len(order)))
    for start in range(0, len(corpus.anchors.target), _STEP):
        targets.append(number[corpus.anchors.target[start : start + _STEP]])
    inlinks: Array = np.zeros(len(order) + 1, np.int64)
    inlinks[number + 1] = np.diff(np.asarray(corpus.inlinks.offsets, dtype=np.int64))
    writer.put("inlink.offsets", np.cumsum(inlinks).astype(corpus.inlinks.offsets.dtype))
    return {**corpus.facts, "urls": len(order), "terms": _put_terms(corpus, words, writer)}


def _put_in_order(strings: Iterable[bytes]) -> RaggedBytes:
    """Return a table of the different strings of some, in the order of their bytes."""
    table = strings if isinstance(strings, RaggedBytes) else RaggedBytes(*pack_strings(list(strings)))
    return number_strings(table)[0]


def number_strings(table: RaggedBytes) -> tuple[RaggedBytes, npt.NDArray[np.int64]]:
    """Return (the different strings of a table in the order of their bytes, the place of each of its strings among them)."""
    from pagekin.hypertext._kernels.strings import AHEAD, sort_strings

    order, places = np.empty(len(table), np.int64), np.empty(len(table), np.uint32)
    data = read_only(np.append(table.data, np.zeros(AHEAD, np.uint8)))
    count = sort_strings(data, np.array(table.offsets, np.int64), order, places)
    return table.select(order[:count]), places.astype(np.int64)


def _put_terms(corpus: Corpus, words: RaggedBytes, writer: KinWriter) -> int:
    """Write the terms of a corpus and those of some words that are none, which follow; return how many there are."""
    by_name = np.asarray(corpus.term_table.order, np.int64)
    fresh = words.select(np.flatnonzero(corpus.terms.find_all(words, by_name) < 0))
    data, offsets = join_strings([corpus.terms, fresh])
    put_strings(writer, "term", [(data, offsets[1:])])
    counts = np.asarray(corpus.term_table.count)
    writer.put("term.count", np.append(counts, np.zeros(len(fresh), counts.dtype)))
    places = corpus.terms.nearest_all(fresh, by_name)
    writer.put("term.order", np.insert(by_name, places, len(by_name) + np.arange(len(fresh))).astype(np.uint32))
    return len(by_name) + len(fresh)
