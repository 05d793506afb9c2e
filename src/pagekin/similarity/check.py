"""Proving that an index hangs together: with the corpus, with itself, and with its strategy."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from pagekin.bags import Strategy, StrategyError, from_dict
from pagekin.bags.bags import Bags, Origin
from pagekin.bags.batches import ranges
from pagekin.bags.copies import PLACES
from pagekin.bags.furniture import furniture, in_furniture
from pagekin.bags.page import page_sketch
from pagekin.bags.words import bag_forms, link_hash, outlink_hash, word_hash
from pagekin.hypertext import Corpus
from pagekin.similarity.makers import Maker, make_maker
from pagekin.similarity.sites import site_numbers
from pagekin.store import Finding, Kin

ARRAYS = ("bag.", "bagterm.", "copy.", "signature.", "list.")
"""How the names of the arrays begin that an index consists of."""
_STEP = 1 << 22
_OWN = int(Origin.CONTENT | Origin.TITLE | Origin.OUTLINKS)
_OF_WORDS = int(Origin.CONTENT | Origin.TITLE | Origin.ANCHORS)
_MADE_AGAIN = 32
_TERMS_MADE_AGAIN = 2_048


def check_index(kin: Kin) -> Iterator[Finding]:
    """Every length, reference, sum or signature that does not fit; nothing if there is no index.

    Expects a whole corpus. What is costly to make, signatures, sketches and hashes, is made again for some.
    """
    facts = kin.facts.get("index")
    if facts is None:
        if any(name.startswith(ARRAYS) for name in kin.arrays):
            yield Finding("manifest.json", "names arrays of an index, but not the strategy that made them")
        return
    try:
        strategy = from_dict(facts["strategy"])
    except (StrategyError, KeyError) as error:
        yield Finding("manifest.json", f"has an index of an unknown strategy: {error}")
        return
    if strategy.digest() != facts["digest"]:
        yield Finding("manifest.json", "has an index whose strategy is not the one it was made by (digest differs)")
    wrong = list(_check_shapes(kin, strategy.signature.m))
    yield from wrong
    if wrong:
        return
    corpus = Corpus(kin)
    yield from _check_bags(kin)
    yield from _check_inlinks(kin)
    yield from _check_origins(kin)
    yield from _check_terms(corpus, strategy)
    yield from _check_lists(kin, strategy)
    yield from _check_signatures(kin, make_maker(strategy.signature))
    yield from _check_copies(corpus, strategy)
    sites, rule = site_numbers(corpus, np.asarray(kin["bag.url"]))
    if rule != facts["site_rule"] or not np.array_equal(sites, kin["bag.site"]):
        yield Finding("bag.site", "does not number the documents' sites")


def _check_shapes(kin: Kin, m: int) -> Iterator[Finding]:
    facts = kin.facts["index"]
    bags, entries = facts["bags"], facts["bag_entries"]
    terms = facts["bag_words"] + facts["bag_links"] + facts.get("bag_outlinks", 0)
    for name, length in (
        ("bag.url", bags), ("bag.offsets", bags + 1), ("bag.inlinks", bags), ("bag.site", bags), ("bag.terms", entries),
        ("bag.weights", entries), ("bag.from", entries), ("bagterm.hash", terms), ("bagterm.order", terms),
        ("bagterm.df", terms), ("bagterm.shown", terms), ("signature.rows", bags * m),
        ("list.docs", facts["answers"] * m), ("list.keys", facts["lists"]), ("list.starts", facts["lists"] + 1),
        ("list.positions", m + 1),
        ("copy.rows", len(kin["page.url"]) * PLACES),
    ):  # fmt: skip
        if name not in kin:
            yield Finding(name, "is missing from the index")
        elif len(kin[name]) != length:
            yield Finding(name, f"has {len(kin[name]):,} entries where {length:,} belong")
    for name, end in (
        ("bag.offsets", entries), ("list.starts", facts["answers"] * m), ("list.positions", facts["lists"])
    ):  # fmt: skip
        if name in kin and len(kin[name]) and (int(kin[name][0]) != 0 or int(kin[name][-1]) != end):
            yield Finding(name, f"does not run from 0 to {end:,}")
    for name in ("bag.url", "bag.offsets", "list.starts"):
        if name in kin and bool(np.any(kin[name][1:] <= kin[name][:-1])):
            yield Finding(name, "does not rise everywhere")
    if "list.positions" in kin and bool(np.any(kin["list.positions"][1:] < kin["list.positions"][:-1])):
        yield Finding("list.positions", "falls somewhere; it only rises")
    for name, most in (
        ("bag.url", len(kin["url.offsets"]) - 1), ("bag.terms", terms), ("bagterm.order", terms), ("list.docs", bags)
    ):  # fmt: skip
        if name in kin and any(
            bool(np.any(kin[name][start : start + _STEP] >= most)) for start in range(0, len(kin[name]), _STEP)
        ):
            yield Finding(name, f"refers to a number beyond the last, {most - 1:,}")


def _check_bags(kin: Kin) -> Iterator[Finding]:
    offsets = kin["bag.offsets"].astype(np.int64)
    sums = np.add.reduceat(kin["bag.weights"], offsets[:-1], dtype=np.float64) if len(offsets) > 1 else np.ones(0)
    if bool(np.any(~(np.abs(sums - 1) < 1e-4))):
        yield Finding("bag.weights", "has bags whose weights do not sum to 1")
    df = np.bincount(kin["bag.terms"], minlength=len(kin["bagterm.df"]))
    if not np.array_equal(df, kin["bagterm.df"]):
        yield Finding("bagterm.df", "does not count the bags that hold a term")
    hashes = kin["bagterm.hash"][kin["bagterm.order"]]
    if bool(np.any(hashes[1:] <= hashes[:-1])):
        yield Finding("bagterm.order", "does not put the hashes in order")


def _check_inlinks(kin: Kin) -> Iterator[Finding]:
    """The pages that link to each document, counted again; how many of them were not to count is all that is known."""
    page_url = np.asarray(kin["page.url"], dtype=np.int64)
    offsets = np.asarray(kin["inlink.offsets"], dtype=np.int64)
    first_anchors = np.asarray(kin["page.anchors"], dtype=np.int64)
    newest = np.ones(len(page_url), dtype=np.bool_)
    newest[1:] = page_url[1:] != page_url[:-1]
    counted = np.zeros(len(offsets) - 1, dtype=np.int64)
    for first, last in ranges(offsets, _STEP):
        anchors = np.asarray(kin["inlink.anchors"][offsets[first] : offsets[last]], dtype=np.int64)
        pages = np.searchsorted(first_anchors, anchors, side="right") - 1
        urls = np.repeat(np.arange(first, last), np.diff(offsets[first : last + 1]))
        counts = newest[pages] & (page_url[pages] != urls)
        pairs = np.unique(urls[counts] * len(page_url) + pages[counts])
        counted[first:last] = np.bincount(pairs // len(page_url) - first, minlength=last - first)
    counted = counted[kin["bag.url"]]
    stored = kin["bag.inlinks"]
    if bool(np.any(stored > counted if kin.facts["index"]["not_citing"] else stored != counted)):
        yield Finding("bag.inlinks", "does not count the pages that link to a document")


def _check_origins(kin: Kin) -> Iterator[Finding]:
    """Own words and links come from read pages, words of links from pages that are linked to; addresses are links."""
    offsets = np.asarray(kin["bag.offsets"], dtype=np.int64)
    impossible = np.where(Bags(kin).pages(np.arange(len(offsets) - 1)) >= 0, 0, _OWN)
    impossible |= np.where(np.asarray(kin["bag.inlinks"]) > 0, 0, Origin.ANCHORS | Origin.LINKS)
    words = kin.facts["index"]["bag_words"]
    outlinks = words + kin.facts["index"]["bag_links"]
    for first, last in ranges(offsets, _STEP):
        part = slice(int(offsets[first]), int(offsets[last]))
        origins, terms = kin["bag.from"][part], kin["bag.terms"][part]
        never = np.repeat(impossible[first:last], np.diff(offsets[first : last + 1]))
        only = np.where(terms < words, _OF_WORDS, np.where(terms < outlinks, Origin.LINKS, Origin.OUTLINKS))
        if bool(np.any((origins == 0) | ((origins & never) != 0) | ((origins & ~only) != 0))):
            yield Finding("bag.from", "says that a bag has a term from where it cannot have it")
            return


def _check_terms(corpus: Corpus, strategy: Strategy) -> Iterator[Finding]:
    """Some terms, spread over all, hashed again."""
    kin = corpus.kin
    hashes, shown, words = kin["bagterm.hash"], kin["bagterm.shown"], kin.facts["index"]["bag_words"]
    outlinks = words + kin.facts["index"]["bag_links"]
    if bool(np.any(shown[:words] >= len(corpus.terms))) or bool(np.any(shown[words:] >= len(corpus.urls))):
        yield Finding("bagterm.shown", "refers to a word or an address beyond the last")
        return
    some = _spread(len(hashes), _TERMS_MADE_AGAIN)
    forms = bag_forms([corpus.word(int(shown[term])) for term in some[some < words].tolist()], strategy)
    addresses = [
        (link_hash if term < outlinks else outlink_hash)(corpus.urls[int(shown[term])])
        for term in some[some >= words].tolist()
    ]
    again = [*map(word_hash, forms), *addresses]
    if not np.array_equal(hashes[some], np.array(again, dtype=np.uint64)):
        yield Finding("bagterm.hash", "does not hash the words and addresses that bagterm.shown names")


def _check_lists(kin: Kin, strategy: Strategy) -> Iterator[Finding]:
    """Every list of I holds, in order, the documents whose value in H is the list's key and that may be answers."""
    m = strategy.signature.m
    rows = kin["signature.rows"].reshape(-1, m)
    may = np.asarray(kin["bag.inlinks"]) >= strategy.signature.min_inlinks
    starts, positions = kin["list.starts"].astype(np.int64), kin["list.positions"].astype(np.int64)
    each = kin.facts["index"]["answers"]
    for j in range(m):
        part = slice(int(positions[j]), int(positions[j + 1]))
        docs = kin["list.docs"][j * each : (j + 1) * each]
        values = np.repeat(kin["list.keys"][part], np.diff(starts[part.start : part.stop + 1]))
        if len(values) != len(docs) or not np.array_equal(rows[docs, j], values):
            yield Finding("list.docs", f"does not invert the signatures at position {j}")
            return
        pairs = values.astype(np.uint64) << np.uint64(32) | docs
        if bool(np.any(pairs[1:] <= pairs[:-1])) or not bool(np.all(may[docs])):
            yield Finding("list.docs", f"does not hold every answer once and in order at position {j}")
            return


def _check_signatures(kin: Kin, maker: Maker) -> Iterator[Finding]:
    """Some bags, spread over all, signed again."""
    bags, rows = Bags(kin), kin["signature.rows"].reshape(-1, maker.m)
    for document in _spread(len(bags), _MADE_AGAIN).tolist():
        terms, weights = bags.bag(document)
        if not np.array_equal(maker.sign(bags.hashes[terms], weights), rows[document]):
            yield Finding("signature.rows", f"does not sign the bag of document {document:,}")
            return


def _check_copies(corpus: Corpus, strategy: Strategy) -> Iterator[Finding]:
    """Some pages, spread over all, sketched again."""
    rows = corpus.kin["copy.rows"].reshape(-1, PLACES)
    left_out = furniture(corpus, strategy)
    for page in _spread(len(corpus), _MADE_AGAIN).tolist():
        stream = corpus.stream(page)
        own = ~in_furniture(corpus, page, left_out)
        words = [corpus.word(int(word)) for word in stream.words[own]]
        if not np.array_equal(page_sketch(words, stream.attributes[own].tolist(), strategy), rows[page]):
            yield Finding("copy.rows", f"does not sketch the words of page {page:,}")
            return


def _spread(count: int, some: int) -> npt.NDArray[np.int64]:
    """Some of `count` numbers, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, some).astype(np.int64)) if count else np.zeros(0, np.int64)
