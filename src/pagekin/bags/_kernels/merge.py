"""Merge the fragments of a URL, its own words and the windows of the links to it, into one bag."""

from typing import Any, NamedTuple

import numpy as np
from numba import int64, uint64

from pagekin.bags._kernels.keep import ELSEWHERE, IN_CRUMBS
from pagekin.store import kernel

FROM_CONTENT, FROM_ANCHORS, FROM_TITLE, FROM_LINKS, FROM_OUTLINKS = 1, 2, 4, 8, 16
DIGIT_BITS = 9
_INSERTED = 24
MOST_COUNTED = 255
"""Counts of a term on its page end here: they are bytes."""


class Batch(NamedTuple):
    """The URLs `first` to `last`, whose bags are merged, and the links to them and from them."""

    first: int
    last: int
    inlinks: Any  # int64 (last - first + 1): offsets in `anchors`
    anchors: Any  # int64: the anchors that lead to each URL, in page order
    targets: (
        Any  # int64: anchor a leads to targets[a - targets_from]; only where outlinks count, for these pages' anchors
    )
    targets_from: int


class Web(NamedTuple):
    """Facts about all URLs, pages and anchors."""

    url_page: Any  # int64 (urls): the newest page of each, or -1
    url_site: Any  # int64 (urls)
    page_url: Any  # int64 (pages)
    page_host: Any  # uint64 (pages): a hash of the host's name
    citing: Any  # bool (pages): whether the page's links count
    page_anchors: Any  # int64 (pages + 1): where each page's anchors begin
    anchor_page: Any  # uint32 (anchors)


class Scales(NamedTuple):
    """The weight of each occurrence of a term under a strategy, in units of 2^-24, and the numbering of terms."""

    content: Any  # int64: the weight of a word that stands after n words of a page
    title: int
    link: int
    outlink: Any  # int64: the weight of a link that stands after n words of a page
    near: Any  # int64: the weight of a window word at distance d from its link; empty if windows do not count
    once: bool  # whether equal links of one host count once
    within_site: bool  # whether links within a site count
    words_end: int  # terms from here on are citing pages
    links_end: int  # terms from here on are linked addresses


class TermOrder(NamedTuple):
    """The order of terms in a bag: by kind (words, citing pages, linked addresses), then by hash."""

    hashes: Any  # uint64 (terms)
    rank: Any  # uint32 (terms): the place of each term
    by_rank: Any  # uint32 (terms): the term at each place


class Scratch(NamedTuple):
    """Scratch memory of one thread."""

    sums: Any  # int64 (terms): zero before and after
    marks: Any  # uint16 (terms): origins | how often the page says the term, 255 at most, << 8; zero before and after
    touched: Any  # uint32 (terms + 1)
    sorting: Any  # uint32 (terms + 1)
    seen: Any  # uint64 (2^k places, more than half of them empty): a hash table, zero before and after
    used: Any  # int64 (as many as a URL has inlinks)
    key: Any  # int64 (4): the secret of this process, which decides the places in `seen`


class Merged(NamedTuple):
    """The bags of a batch, with room for the largest possible number of terms."""

    terms: Any  # uint32 (room)
    sums: Any  # int64 (room)
    origins: Any  # uint8 (room)
    counts: Any  # uint8 (room): how often the page itself says the term, 255 at most
    sizes: Any  # int64 (last - first): terms of each URL's bag
    inlinks: Any  # uint32 (last - first): pages that cite each URL
    repeats: Any  # uint8 (anchors): becomes 1 for links that say what another one said; empty if nobody asks


@kernel
def merge_bags(batch, web, kept, scales, order, scratch, out):
    """Write the bags of a batch of URLs, one after the other; return their number of terms.

    `kept` is the `KeptWords` of all pages, `order` the `TermOrder` of each bag's terms. Cost: one random access per word of page
    and windows, and a few for each term.
    """
    n = 0
    digits = 1
    while len(order.rank) - 1 >= 1 << (DIGIT_BITS * digits):
        digits += 1
    starts = np.empty(1 << DIGIT_BITS, dtype=np.int64)
    for url in range(batch.first, batch.last):
        count = 0
        page = web.url_page[url]
        if page >= 0:
            count = _add_page(page, kept, scales, scratch, count)
            if scales.outlink[0] > 0 and web.citing[page]:
                count = _add_outlinks(url, page, batch, web, kept, scales, scratch, count)
        count, citations = _add_links(url, batch, web, kept, scales, order.hashes, scratch, count, out.repeats)
        for i in range(count):
            scratch.touched[i] = order.rank[scratch.touched[i]]
        ranks = sort_numbers(scratch.touched, scratch.sorting, count, digits, starts)
        for i in range(count):
            term = order.by_rank[ranks[i]]
            out.terms[n + i] = term
            out.sums[n + i] = scratch.sums[term]
            out.origins[n + i] = scratch.marks[term] & 255
            out.counts[n + i] = scratch.marks[term] >> 8
            scratch.sums[term] = 0
            scratch.marks[term] = 0
        n += count
        out.sizes[url - batch.first] = count
        out.inlinks[url - batch.first] = citations
    return n


@kernel
def sort_numbers(numbers, other, count, digits, starts):
    """Return `numbers` or `other`, whichever holds the first `count` numbers in order; both may be overwritten.

    Short ones are inserted one by one, others sorted by one digit after another: some 2 ns a number and digit.
    """
    if count <= _INSERTED:
        for i in range(1, count):
            number = numbers[i]
            at = i
            while at > 0 and numbers[at - 1] > number:
                numbers[at] = numbers[at - 1]
                at -= 1
            numbers[at] = number
        return numbers
    for digit in range(digits):
        shift = np.uint32(digit * DIGIT_BITS)
        mask = np.uint32((1 << DIGIT_BITS) - 1)
        starts[:] = 0
        for i in range(count):
            starts[(numbers[i] >> shift) & mask] += 1
        before = 0
        for value in range(len(starts)):
            many = starts[value]
            starts[value] = before
            before += many
        for i in range(count):
            value = (numbers[i] >> shift) & mask
            other[starts[value]] = numbers[i]
            starts[value] += 1
        numbers, other = other, numbers
    return numbers


@kernel(inline=True)
def _add(term, weight, origin, said, scratch, count):
    """Add a weight to a term of the bag, and `said` (0 or 1) to its count on the page; return the number of terms."""
    marks = int64(scratch.marks[term])
    scratch.touched[count] = term
    count += marks == 0
    scratch.marks[term] = (marks | origin) + ((said & (marks < MOST_COUNTED << 8)) << 8)
    scratch.sums[term] += weight
    return count


@kernel
def _add_page(page, kept, scales, scratch, count):
    """Add a page's own words and those of its title; return how many terms the bag has."""
    begin, end = kept.offsets[page], kept.offsets[page + 1] - kept.titles[page]
    if scales.content[0] > 0:
        for i in range(begin, end):
            count = _add(kept.words[i], scales.content[i - begin], FROM_CONTENT, 1, scratch, count)
    if scales.title > 0:
        for i in range(end, end + kept.titles[page]):
            count = _add(kept.words[i], scales.title, FROM_TITLE, 1, scratch, count)
    return count


@kernel
def _add_outlinks(url, page, batch, web, kept, scales, scratch, count):
    """Add the addresses that a page links to; return how many terms the bag has."""
    for anchor in range(web.page_anchors[page], web.page_anchors[page + 1]):
        target = batch.targets[anchor - batch.targets_from]
        start = kept.spans[anchor, 1]
        if target == url or start < 0 or (not scales.within_site and web.url_site[target] == web.url_site[url]):
            continue
        count = _add(scales.links_end + target, scales.outlink[start], FROM_OUTLINKS, 0, scratch, count)
    return count


@kernel
def _add_links(url, batch, web, kept, scales, hashes, scratch, count, repeats):
    """Add the citing pages and the windows of the links to a URL; return (terms of the bag, pages that cite it).

    Of links with the same words on pages of one host the first in the order of citing address and place counts.
    """
    citations = 0
    before = -1
    in_use = 0
    for k in range(batch.inlinks[url - batch.first], batch.inlinks[url - batch.first + 1]):
        anchor = batch.anchors[k]
        source = web.anchor_page[anchor]
        start = kept.spans[anchor, 1]
        if not web.citing[source] or web.page_url[source] == url or start == IN_CRUMBS:
            continue
        is_new = source != before
        if is_new:
            citations += 1
            before = source
        if start < 0 or (not scales.within_site and web.url_site[web.page_url[source]] == web.url_site[url]):
            continue
        if scales.link > 0 and is_new:
            count = _add(scales.words_end + source, scales.link, FROM_LINKS, 0, scratch, count)
        if len(scales.near) == 0 or kept.spans[anchor, 2] == ELSEWHERE:
            continue
        if scales.once:
            slot = _new_slot(anchor, source, web, kept, hashes, scratch.seen, scratch.key)
            if slot < 0:
                if len(repeats) > 0:
                    repeats[anchor] = 1
                continue
            scratch.used[in_use] = slot
            in_use += 1
        count = _add_window(anchor, kept.offsets[source], kept, scales.near, scratch, count)
    for i in range(in_use):
        scratch.seen[scratch.used[i]] = 0
    return count, citations


@kernel(inline=True)
def _link_key(anchor, place, host, kept, hashes):
    """Return a hash of a host and the words of a link, never 0, which is the same in all processes.

    The link's page is of this host, and its words begin at `place`.
    """
    key = host * uint64(0x9E3779B97F4A7C15)
    for i in range(place + kept.spans[anchor, 1], place + kept.spans[anchor, 2]):
        key = (key ^ hashes[kept.words[i]]) * uint64(0xBF58476D1CE4E5B9)
        key ^= key >> uint64(29)
    return key | uint64(1)


@kernel
def hash_links(anchors, pages, page_host, kept, hashes, keys):
    """Write the key of each link to `keys` (uint64); links of a host with equal keys count once: see `_link_key`.

    `pages` (int64) are those on which the `anchors` (int64) stand, `page_host` (uint64) the hashes of the hosts of all pages.
    """
    for i in range(len(anchors)):
        keys[i] = _link_key(anchors[i], kept.offsets[pages[i]], page_host[pages[i]], kept, hashes)


@kernel
def _new_slot(anchor, source, web, kept, hashes, seen, secret):
    """Return a free slot in `seen` for a link's key, or -1 if an equal link is already there.

    What it is known by is the same in all processes. Where it lies is `secret`: pages cannot choose links that meet in one place.
    """
    mask = uint64(len(seen) - 1)
    key = _link_key(anchor, kept.offsets[source], web.page_host[source], kept, hashes)
    mixed = (key ^ uint64(secret[0])) * uint64(secret[2])
    mixed = (mixed ^ (mixed >> uint64(32))) * uint64(secret[3])
    slot = (mixed >> uint64(24)) & mask
    while seen[slot] != 0 and seen[slot] != key:
        slot = (slot + uint64(1)) & mask
    if seen[slot] == key:
        return -1
    seen[slot] = key
    return slot


@kernel(inline=True)
def _add_window(anchor, place, kept, near, scratch, count):
    """Add the words in and around an anchor of the page whose words begin at `place`; return how many terms the bag has."""
    start, end = kept.spans[anchor, 1], kept.spans[anchor, 2]
    if near[0] > 0:
        for i in range(start, end):
            count = _add(kept.words[place + i], near[0], FROM_ANCHORS, 0, scratch, count)
    for i in range(kept.spans[anchor, 0], start):
        weight = near[start - i]
        if weight > 0:
            count = _add(kept.words[place + i], weight, FROM_ANCHORS, 0, scratch, count)
    for i in range(end, kept.spans[anchor, 3]):
        weight = near[i - end + 1]
        if weight > 0:
            count = _add(kept.words[place + i], weight, FROM_ANCHORS, 0, scratch, count)
    return count
