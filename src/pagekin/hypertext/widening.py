"""Widen a corpus with addresses and words that its own pages do not name, such as those of links from other shards."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from pagekin.hypertext.corpus import Corpus
from pagekin.hypertext.merge import put_strings
from pagekin.store import Array, KinWriter, pack_strings, smallest_uint

_STEP = 1 << 22


def widen_corpus(
    corpus: Corpus, addresses: Iterable[bytes], words: Iterable[bytes], writer: KinWriter
) -> dict[str, Any]:
    """Write the arrays that change when a corpus gets more addresses and words; return the facts about it.

    Terms keep their numbers, and new ones follow in the order of their bytes: no page says them. Addresses are numbered anew.
    """
    named, said = sorted(set(addresses)), sorted(set(words))
    new_urls = [
        address for address, place in zip(named, corpus.urls.find_all(named).tolist(), strict=True) if place < 0
    ]
    found = corpus.terms.find_all(said, corpus.kin["term.order"]).tolist()
    new_terms = [word for word, place in zip(said, found, strict=True) if place < 0]
    before = np.fromiter(map(corpus.urls.nearest, new_urls), np.int64, len(new_urls))
    old = np.arange(len(corpus.urls))
    number = old + np.searchsorted(before, old, side="right")
    urls = sorted([*corpus.urls, *new_urls])
    data, offsets = pack_strings(urls)
    put_strings(writer, "url", [(data, offsets[1:])])
    for name in ("alias.url", "alias.target", "page.url"):
        writer.put(name, number[np.asarray(corpus.kin[name], dtype=np.int64)].astype(np.uint32))
    targets = writer.create("anchor.target", smallest_uint(len(urls)))
    for start in range(0, len(corpus.anchors.target), _STEP):
        targets.append(number[corpus.anchors.target[start : start + _STEP]])
    inlinks: Array = np.zeros(len(urls) + 1, np.int64)
    inlinks[number + 1] = np.diff(np.asarray(corpus.inlinks.offsets, dtype=np.int64))
    writer.put("inlink.offsets", np.cumsum(inlinks).astype(corpus.inlinks.offsets.dtype))
    terms = [*corpus.terms, *new_terms]
    data, offsets = pack_strings(terms)
    put_strings(writer, "term", [(data, offsets[1:])])
    counts = np.asarray(corpus.term_table.count)
    writer.put("term.count", np.append(counts, np.zeros(len(new_terms), counts.dtype)))
    writer.put("term.order", np.array(sorted(range(len(terms)), key=terms.__getitem__), np.uint32))
    return {**corpus.facts, "urls": len(urls), "terms": len(terms)}
