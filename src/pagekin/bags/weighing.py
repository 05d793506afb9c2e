"""Weight merged bags by document frequency, and write them (sections 3.3 and 5.2)."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags.frequencies import Frequencies, find_frequencies
from pagekin.bags.raw import Raw
from pagekin.bags.sites import site_numbers
from pagekin.bags.strategy import Strategy
from pagekin.bags.weights import frequency_weights, nmdf_parameters, normalise, scaled_frequencies
from pagekin.bags.words import Vocabulary
from pagekin.hypertext import Corpus
from pagekin.store import Array, KinWriter, Progress, batch_ranges, rising_order, smallest_uint

BATCH_ENTRIES = 1 << 17
"""Entries that are weighed at a time: they stay in the processor's cache."""


class Presentation(NamedTuple):
    """The document numbers and display words of a shard's bags, equal to those in the whole."""

    urls: npt.NDArray[np.int64]
    """The number of each address in the corpus that is stored with the bags."""
    words: npt.NDArray[np.int64]
    """For each bag word the term, of that corpus, that shows it: the most common one of the whole."""
    sites: Array
    """The site of each document, in the type that the whole takes."""
    site_rule: str
    most_inlinks: int
    """The greatest number of pages of the whole that link to a document."""
    factors: Array | None = None
    """The weight factor of a term by the number of bags that hold it, where an epoch has it; of greater numbers it is made."""


def weigh(
    corpus: Corpus, strategy: Strategy, words: Vocabulary, raw: Raw, frequencies: Frequencies, writer: KinWriter,
    progress: Progress, shown: Presentation | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Write weighted bags, given the document frequencies of the whole collection; return the facts about them.

    Weights are normalised to sum 1. Terms are numbered as bags hold them, unused ones not at all. Without a presentation the
    corpus is the one that is stored, and a whole.
    """
    bags, total = len(raw.urls), int(raw.offsets[-1])
    used = raw.by_rank[raw.df[raw.by_rank] > 0]
    number = np.zeros(len(raw.df), dtype=np.uint32)
    number[used] = np.arange(len(used), dtype=np.uint32)
    df, own_df = find_frequencies(raw, frequencies)
    factors = _factors(df, frequencies.bags, strategy, shown)
    stored_terms = writer.create("bag.terms", np.uint32)
    stored_weights = writer.create("bag.weights", np.float32)
    stored_origins = writer.create("bag.from", np.uint8)
    stored_counts = writer.create("bag.counts", np.uint8)
    for first, last in batch_ranges(raw.offsets, BATCH_ENTRIES):
        part = slice(int(raw.offsets[first]), int(raw.offsets[last]))
        terms = raw.terms[part]
        weights = scaled_frequencies(raw.sums[part], strategy) * factors[terms]
        stored_terms.append(number[terms])
        stored_weights.append(normalise(weights, raw.offsets[first : last + 1] - part.start))
        stored_origins.append(raw.origins[part])
        stored_counts.append(raw.counts[part])
        progress("weighing", last / bags)
    page_url = np.asarray(corpus.pages.url)
    words_end, links_end, end = map(int, raw.limits)
    of_words, of_links, of_outlinks = (
        used[(used >= low) & (used < high)] for low, high in pairwise((0, words_end, links_end, end))
    )
    citing, cited = raw.citing[of_links - words_end].astype(np.uint32), (of_outlinks - links_end).astype(np.uint32)
    hashes = raw.hashes[used]
    shown = shown or _present(corpus, words, raw)
    writer.put("bag.url", shown.urls[raw.urls].astype(np.uint32))
    writer.put("bag.offsets", raw.offsets.astype(smallest_uint(total)))
    writer.put("bag.inlinks", raw.inlinks.astype(smallest_uint(shown.most_inlinks)))
    writer.put("bag.site", shown.sites)
    writer.put("bagterm.hash", hashes)
    writer.put("bagterm.order", rising_order(hashes).astype(np.uint32))
    writer.put("bagterm.df", df[used].astype(np.uint32))
    writer.put("bagterm.pages", own_df[used].astype(np.uint32))
    writer.put(
        "bagterm.shown",
        np.concatenate([shown.words[of_words], shown.urls[citing], shown.urls[cited]]).astype(np.uint32),
    )
    facts: dict[str, Any] = {
        "bags": bags,
        "bag_entries": total,
        "bag_words": len(of_words),
        "bag_links": len(citing),
        "bag_outlinks": len(cited),
        "own_words": int(raw.own_words),
        "own_pages": int(np.count_nonzero(np.isin(raw.urls, page_url))),
        "without_words": int(np.count_nonzero(~np.isin(page_url, raw.urls))),
        "site_rule": shown.site_rule,
    }
    if strategy.weight.frequency == "nmdf":
        mu, sigma = nmdf_parameters(strategy, frequencies.bags)
        facts["nmdf"] = {"mu": mu, "sigma": sigma}
    return facts


def _factors(df: Array, bags: int, strategy: Strategy, shown: Presentation | None) -> npt.NDArray[np.float64]:
    """Return the weight factor of each term by the number of bags that hold it."""
    if shown and shown.factors is not None and int(df.max(initial=0)) < len(shown.factors):
        return np.asarray(shown.factors[df])
    return frequency_weights(df, bags, strategy)


def _present(corpus: Corpus, words: Vocabulary, raw: Raw) -> Presentation:
    """Return the document numbers and display words of a collection in one piece."""
    sites, site_rule = site_numbers(corpus, raw.urls)
    return Presentation(
        np.arange(len(corpus.urls)), words.shown.astype(np.int64), sites.astype(smallest_uint(int(sites.max(initial=0)))),
        site_rule, int(raw.inlinks.max(initial=0)),
    )  # fmt: skip
