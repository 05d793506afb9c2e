"""Check that bags fit the corpus, each other and their strategy."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from pagekin.bags.bags import Bags, Origin
from pagekin.bags.copies import SKETCH_PLACES, copy_sketches
from pagekin.bags.epoch import check_epoch, epoch_lengths, is_delta, is_shard, uses_by_epoch
from pagekin.bags.furniture import words_in_furniture
from pagekin.bags.judging import classify_links
from pagekin.bags.links import citing_pages, link_batches
from pagekin.bags.page import page_sketch
from pagekin.bags.sites import site_numbers
from pagekin.bags.strategy import Strategy
from pagekin.bags.words import bag_forms, link_hash, outlink_hash, word_hash
from pagekin.hypertext import Corpus
from pagekin.store import Array, Finding, Kin, batch_ranges, check_shapes

_STEP = 1 << 22
_OWN = int(Origin.CONTENT | Origin.TITLE | Origin.OUTLINKS)
_OF_WORDS = int(Origin.CONTENT | Origin.TITLE | Origin.ANCHORS)
_PAGES_MADE_AGAIN = 32
_TERMS_MADE_AGAIN = 2_048


def check_bag_shapes(kin: Kin) -> Iterator[Finding]:
    """Yield a message for every wrong length, order or reference in the bags' arrays."""
    facts, corpus = kin.facts["index"], Corpus(kin)
    bags, entries = facts["bags"], facts["bag_entries"]
    terms = facts["bag_words"] + facts["bag_links"] + facts.get("bag_outlinks", 0)
    by_bag = {"bag.url": bags, "bag.offsets": bags + 1, "bag.inlinks": bags, "bag.site": bags}
    by_entry = dict.fromkeys(("bag.terms", "bag.weights", "bag.from", "bag.counts"), entries)
    by_term = dict.fromkeys(("bagterm.hash", "bagterm.order", "bagterm.df", "bagterm.pages", "bagterm.shown"), terms)
    yield from check_shapes(
        kin,
        "index",
        lengths={**by_bag, **by_entry, **by_term, **epoch_lengths(facts), "copy.rows": len(corpus) * SKETCH_PLACES},
        ends={"bag.offsets": entries},
        rising=("bag.url", "bag.offsets"),
        limits={"bag.url": len(corpus.urls), "bag.terms": terms, "bagterm.order": terms},
    )


def check_bags(kin: Kin, strategy: Strategy) -> Iterator[Finding]:
    """Yield a message for every wrong sum, count, origin, hash or sketch; the arrays must have the right shapes.

    What is costly, sketches and hashes, is computed again for some of them.
    """
    corpus = Corpus(kin)
    yield from _check_weights(kin)
    yield from _check_inlinks(corpus)
    yield from _check_origins(kin)
    yield from _check_terms(corpus, strategy)
    yield from _check_copies(corpus, strategy)
    yield from check_epoch(kin)
    sites, rule = site_numbers(corpus, kin["bag.url"])
    if not is_shard(kin) and (rule != kin.facts["index"]["site_rule"] or not np.array_equal(sites, kin["bag.site"])):
        yield Finding("bag.site", "does not number the documents' sites")


def _check_weights(kin: Kin) -> Iterator[Finding]:
    """Check that weights sum to 1, and that terms are sorted and their counts right."""
    offsets = kin["bag.offsets"].astype(np.int64)
    sums = np.add.reduceat(kin["bag.weights"], offsets[:-1], dtype=np.float64) if len(offsets) > 1 else np.ones(0)
    if bool(np.any(~(np.abs(sums - 1) < 1e-4))):
        yield Finding("bag.weights", "has bags whose weights do not sum to 1")
    df, own_df = _count_own_terms(kin)
    of_base = is_delta(kin)  # terms are counted as in its base, of which it replaces a part
    if not of_base and not _counts_all(kin, "bagterm.df", df):
        yield Finding("bagterm.df", "does not count the bags that hold a term")
    if not of_base and not _counts_all(kin, "bagterm.pages", own_df):
        yield Finding("bagterm.pages", "does not count the pages that say a term")
    hashes = kin["bagterm.hash"][kin["bagterm.order"]]
    if bool(np.any(hashes[1:] <= hashes[:-1])):
        yield Finding("bagterm.order", "does not put the hashes in order")


def check_frequencies(shards: Sequence[Kin]) -> Iterator[Finding]:
    """Yield a message if the shards' document frequencies are not those of the whole collection."""
    if not shards:
        return
    hashes, own, stated = (
        np.concatenate(column)
        for column in zip(
            *((kin["bagterm.hash"], _count_own_terms(kin)[0], kin["bagterm.df"]) for kin in shards), strict=True
        )
    )
    _terms, place = np.unique(hashes, return_inverse=True)
    if not np.array_equal(np.bincount(place, own)[place], stated):
        yield Finding("bagterm.df", "does not count the bags of all shards that hold a term")


def _count_own_terms(kin: Kin) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return, for each term, (the number of bags that hold it, the number of own pages that contain it)."""
    terms = len(kin["bagterm.df"])
    said = kin["bag.terms"][kin["bag.counts"] > 0]
    return np.bincount(kin["bag.terms"], minlength=terms), np.bincount(said, minlength=terms)


def _counts_all(kin: Kin, name: str, own: Array) -> bool:
    """Return whether a column of counts is right; for a shard, whether it is at least the shard's own count."""
    return bool(np.all(kin[name] >= own)) if is_shard(kin) else np.array_equal(own, kin[name])


def _check_inlinks(corpus: Corpus) -> Iterator[Finding]:
    """Count the pages that link to each document again; of links that do not count, only the number is known."""
    kin = corpus.kin
    page_url = np.asarray(corpus.pages.url, dtype=np.int64)
    newest = citing_pages(corpus)
    counted = np.zeros(len(corpus.urls), dtype=np.int64)
    for links in link_batches(corpus):
        counts = newest[links.pages] & (page_url[links.pages] != links.targets)
        counted[links.first : links.last] = links.count_pages(counts)
    counted = counted[kin["bag.url"]]
    stored = kin["bag.inlinks"]
    left_out = bool(kin.facts["index"]["not_citing"])
    if is_shard(kin):  # pages of other shards link to its documents, too
        wrong = not left_out and bool(np.any(stored < counted))
    else:
        wrong = bool(np.any(stored > counted if left_out else stored != counted))
    if wrong:
        yield Finding("bag.inlinks", "does not count the pages that link to a document")


def _check_origins(kin: Kin) -> Iterator[Finding]:
    """Check origins: own words and links need a read page, link words need inlinks, addresses need links."""
    offsets = np.asarray(kin["bag.offsets"], dtype=np.int64)
    impossible = np.where(Bags(kin).pages(np.arange(len(offsets) - 1)) >= 0, 0, _OWN)
    impossible |= np.where(np.asarray(kin["bag.inlinks"]) > 0, 0, Origin.ANCHORS | Origin.LINKS)
    words = kin.facts["index"]["bag_words"]
    outlinks = words + kin.facts["index"]["bag_links"]
    for first, last in batch_ranges(offsets, _STEP):
        part = slice(int(offsets[first]), int(offsets[last]))
        origins, terms = kin["bag.from"][part], kin["bag.terms"][part]
        never = np.repeat(impossible[first:last], np.diff(offsets[first : last + 1]))
        only = np.where(terms < words, _OF_WORDS, np.where(terms < outlinks, Origin.LINKS, Origin.OUTLINKS))
        if bool(np.any((origins == 0) | ((origins & never) != 0) | ((origins & ~only) != 0))):
            yield Finding("bag.from", "says that a bag has a term from where it cannot have it")
            return
        if bool(np.any((kin["bag.counts"][part] > 0) != ((origins & (Origin.CONTENT | Origin.TITLE)) != 0))):
            yield Finding("bag.counts", "does not count just the terms that a page itself says")
            return


def _check_terms(corpus: Corpus, strategy: Strategy) -> Iterator[Finding]:
    """Hash some terms again."""
    kin = corpus.kin
    hashes, shown, words = kin["bagterm.hash"], kin["bagterm.shown"], kin.facts["index"]["bag_words"]
    outlinks = words + kin.facts["index"]["bag_links"]
    if bool(np.any(shown[:words] >= len(corpus.terms))) or bool(np.any(shown[words:] >= len(corpus.urls))):
        yield Finding("bagterm.shown", "refers to a word or an address beyond the last")
        return
    some = spread_sample(len(hashes), _TERMS_MADE_AGAIN)
    forms = bag_forms([corpus.word(int(shown[term])) for term in some[some < words].tolist()], strategy)
    addresses = [
        (link_hash if term < outlinks else outlink_hash)(corpus.urls[int(shown[term])])
        for term in some[some >= words].tolist()
    ]
    again = [*map(word_hash, forms), *addresses]
    if not np.array_equal(hashes[some], np.array(again, dtype=np.uint64)):
        yield Finding("bagterm.hash", "does not hash the words and addresses that bagterm.shown names")


def _check_copies(corpus: Corpus, strategy: Strategy) -> Iterator[Finding]:
    """Sketch some pages again."""
    rows = copy_sketches(corpus.kin)
    uses = uses_by_epoch(corpus.kin) if is_shard(corpus.kin) else classify_links(corpus, strategy)
    for page in spread_sample(len(corpus), _PAGES_MADE_AGAIN).tolist():
        stream = corpus.stream(page)
        own = ~words_in_furniture(corpus, page, uses)
        words = [corpus.word(int(word)) for word in stream.words[own]]
        if not np.array_equal(page_sketch(words, stream.attributes[own].tolist(), strategy), rows[page]):
            yield Finding("copy.rows", f"does not sketch the words of page {page:,}")
            return


def spread_sample(count: int, some: int) -> npt.NDArray[np.int64]:
    """Return about `some` of the numbers below `count`, evenly spaced, including the first and the last."""
    return np.unique(np.linspace(0, count - 1, some).astype(np.int64)) if count else np.zeros(0, np.int64)
