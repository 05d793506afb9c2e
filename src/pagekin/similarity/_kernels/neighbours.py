"""Answer for many documents at once: what `RelatedIndex.answer` gives for each, compiled."""

from typing import Any, NamedTuple

import numpy as np

from pagekin.store import kernel


class Lists(NamedTuple):
    """The signatures H and the lists I, as the index has them."""

    rows: Any
    """uint32 (documents, m): the signatures."""
    docs: Any
    """uint32 (entries): the documents of each list."""
    keys: Any
    """uint32 (lists): the value that the documents of a list share, rising for each of the m positions."""
    starts: Any
    """int64 (lists + 1): where each list begins in `docs`."""
    positions: Any
    """int64 (m + 1): where the lists of each position begin."""


class BagRows(NamedTuple):
    """The bags of all documents, row by row."""

    terms: Any
    """uint32 (entries)"""
    weights: Any
    """float32 (entries)"""
    offsets: Any
    """int64 (documents + 1)"""
    sums: Any
    """float64 (documents): each bag's whole weight."""


class Copies(NamedTuple):
    """What tells near-duplicates."""

    pages: Any
    """int64 (documents): the page of each document, or -1."""
    sketches: Any
    """uint16 (pages, places)"""
    threshold: float
    """Pages whose sketches agree in this share are near-duplicates; with 0 none are."""


class Bounds(NamedTuple):
    """How far to look, and how much to give."""

    depth: int
    """Documents that are compared, at most."""
    entries: int
    """Entries of lists that are read, at most, beyond the shortest list."""
    alpha: float
    """Documents as similar as this, or less, are left out."""
    k: int
    """Groups to give."""
    first_seen: int
    """Documents that are folded at first; four times as many each time that they make fewer than k groups."""


class Scratch(NamedTuple):
    """Room to work in, one for each thread, zero before and after."""

    counts: Any
    """int32 (documents)"""
    table: Any
    """float32 (terms)"""


class Ranked(NamedTuple):
    """The ranked documents that were looked at for each one asked about, and the group that each is in."""

    docs: Any
    """int64 (asked, width)"""
    similarity: Any
    """float64 (asked, width)"""
    group: Any
    """int64 (asked, width): from 0 in order; -1 none (after the k-th group), -2 a near-duplicate of the document itself."""
    count: Any
    """int64 (asked)"""


@kernel
def _find(keys, low, high, value):
    """Return the place of a value among keys[low:high], or -1."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < value:
            low = middle + 1
        else:
            high = middle
    if low < end and keys[low] == value:
        return low
    return -1


@kernel
def _count_agreements(document, lists, entries, counts, touched):
    """Count how often each document agrees in the shortest lists; write those that do to `touched`, return their number."""
    m = lists.rows.shape[1]
    order = np.empty(m, dtype=np.int64)
    place = np.empty(m, dtype=np.int64)
    for j in range(m):
        at = _find(lists.keys, lists.positions[j], lists.positions[j + 1], lists.rows[document, j])
        place[j] = at
        length = lists.starts[at + 1] - lists.starts[at] if at >= 0 else 0
        order[j] = length * m + j
    order.sort()
    read = 0
    n = 0
    for i in range(m):
        length = order[i] // m
        read += length
        if i > 0 and read > entries:
            break
        at = place[order[i] % m]
        if at < 0:
            continue
        for e in range(lists.starts[at], lists.starts[at + 1]):
            other = lists.docs[e]
            if counts[other] == 0:
                touched[n] = other
                n += 1
            counts[other] += 1
    return n


@kernel
def _choose(document, lists, bounds, counts, touched, chosen):
    """Write to `chosen`, in order, the documents that agree most often in the shortest lists; return their number.

    `counts` is zero for all documents before and after.
    """
    m, depth = lists.rows.shape[1], bounds.depth
    n = _count_agreements(document, lists, bounds.entries, counts, touched)
    histogram = np.zeros(m + 1, dtype=np.int64)
    for i in range(n):
        if touched[i] != document:
            histogram[counts[touched[i]]] += 1
    least, above = m, 0
    while least > 0 and above + histogram[least] <= depth:
        above += histogram[least]
        least -= 1
    count = 0
    for i in range(n):
        if touched[i] != document and counts[touched[i]] > least:
            chosen[count] = touched[i]
            count += 1
    if least > 0 and count < depth:
        ties = np.empty(histogram[least], dtype=np.int64)
        t = 0
        for i in range(n):
            if touched[i] != document and counts[touched[i]] == least:
                ties[t] = touched[i]
                t += 1
        ties.sort()
        for i in range(depth - count):
            chosen[count + i] = ties[i]
        count = depth
    for i in range(n):
        counts[touched[i]] = 0
    chosen[:count].sort()
    return count


@kernel
def _are_copies(copies, document, other):
    """Return whether two documents are near-duplicates: both are pages, and their sketches agree."""
    if copies.threshold == 0 or copies.pages[document] < 0 or copies.pages[other] < 0:
        return False
    mine, others = copies.sketches[copies.pages[document]], copies.sketches[copies.pages[other]]
    agree = either = 0
    for j in range(len(mine)):
        if mine[j] != 65_535 or others[j] != 65_535:
            either += 1
            agree += mine[j] == others[j]
    return agree >= max(copies.threshold * either, 1)


@kernel
def _compare(document, chosen, bags, table):
    """Return the weighted Jaccard similarities of a document to those chosen, to seven digits.

    `table` is zero before and after.
    """
    offsets, terms, weights = bags.offsets, bags.terms, bags.weights
    total = 0.0
    for i in range(offsets[document], offsets[document + 1]):
        table[terms[i]] = weights[i]
        total += weights[i]
    similarity = np.empty(len(chosen))
    for c in range(len(chosen)):
        shared = 0.0
        other = chosen[c]
        for i in range(offsets[other], offsets[other + 1]):
            shared += min(table[terms[i]], weights[i])
        similarity[c] = np.rint(shared / (total + bags.sums[other] - shared) * 1e7) / 1e7
    for i in range(offsets[document], offsets[document + 1]):
        table[terms[i]] = 0.0
    return similarity


@kernel
def _fold(document, docs, groups, copies, k):
    """Write the group that each of the ranked `docs` is in; return how many groups there are, at most k."""
    for r in range(len(docs)):
        groups[r] = -2 if _are_copies(copies, document, docs[r]) else -1
    count = 0
    for r in range(len(docs)):
        if count == k:
            break
        if groups[r] == -1:
            groups[r] = count
            for s in range(r + 1, len(docs)):
                if groups[s] == -1 and _are_copies(copies, docs[r], docs[s]):
                    groups[s] = count
            count += 1
    return count


@kernel
def neighbours(asked, lists, bags, copies, bounds, scratch, out):
    """Write the ranked documents that were looked at for each document asked about (int64), and the group of each.

    Cost: the lists' entries and the candidates' terms.
    """
    touched = np.empty(len(scratch.counts), dtype=np.int64)
    chosen = np.empty(max(bounds.depth, 1), dtype=np.int64)
    width = out.docs.shape[1]
    for q in range(len(asked)):
        document = asked[q]
        n = _choose(document, lists, bounds, scratch.counts, touched, chosen)
        similarity = _compare(document, chosen[:n], bags, scratch.table)
        order = np.argsort(-similarity, kind="mergesort")
        while n > 0 and similarity[order[n - 1]] <= bounds.alpha:
            n -= 1
        for r in range(min(n, width)):
            out.docs[q, r] = chosen[order[r]]
            out.similarity[q, r] = similarity[order[r]]
        seen = bounds.first_seen
        while True:
            count = min(seen, n, width)
            groups = _fold(document, out.docs[q, :count], out.group[q, :count], copies, bounds.k)
            if groups == bounds.k or seen >= n or copies.threshold == 0 or count == width:
                break
            seen *= 4
        out.count[q] = count
