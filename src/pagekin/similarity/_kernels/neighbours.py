"""Answer for many documents at once: what `RelatedIndex.answer` gives for each, compiled."""

from typing import Any, NamedTuple

import numpy as np

from pagekin.store import kernel


class Lists(NamedTuple):
    """The signatures H and the lists I, as the index has them."""

    rows: Any  # uint32 (documents, m): the signatures
    docs: Any  # uint32 (entries): the documents of each list
    keys: Any  # uint32 (lists): the value that the documents of a list share, rising for each of the m positions
    starts: Any  # int64 (lists + 1): where each list begins in `docs`
    positions: Any  # int64 (m + 1): where the lists of each position begin


class BagRows(NamedTuple):
    """The bags of all documents, row by row."""

    terms: Any  # uint32 (entries)
    weights: Any  # float32 (entries)
    offsets: Any  # int64 (documents + 1)
    sums: Any  # float64 (documents): each bag's whole weight


class Bounds(NamedTuple):
    """How far to look, and how much to give."""

    depth: int  # documents that are compared, at most
    entries: int  # entries of lists that are read, at most, beyond the shortest list
    alpha: float  # documents as similar as this, or less, are left out


class Scratch(NamedTuple):
    """Room to work in, one for each thread, zero before and after."""

    counts: Any  # int32 (documents)
    table: Any  # float32 (terms)


class Ranked(NamedTuple):
    """The documents above α for each one asked about, the best first."""

    docs: Any  # int64 (asked, depth)
    similarity: Any  # float64 (asked, depth)
    count: Any  # int64 (asked)


@kernel
def _count_agreements(document, lists, entries, counts, touched):
    """Count how often each document agrees in the shortest lists; write those that do to `touched`, return their number."""
    m = lists.rows.shape[1]
    order = np.empty(m, dtype=np.int64)
    place = np.empty(m, dtype=np.int64)
    for j in range(m):
        first, last = lists.positions[j], lists.positions[j + 1]
        at = first + np.searchsorted(lists.keys[first:last], lists.rows[document, j])
        has_list = at < last and lists.keys[at] == lists.rows[document, j]
        place[j] = at
        length = lists.starts[at + 1] - lists.starts[at] if has_list else 0
        order[j] = length * m + j
    order.sort()
    read = 0
    n = 0
    for i in range(m):
        length = order[i] // m
        read += length
        if i > 0 and read > entries:
            break
        start = lists.starts[place[order[i] % m]]
        for e in range(start, start + length):
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
def rank_neighbours(asked, lists, bags, bounds, scratch, out):
    """Write the documents related to each document asked about (int64) to `out`, a `Ranked`.

    Cost: the lists' entries and the candidates' terms.
    """
    touched = np.empty(len(scratch.counts), dtype=np.int64)
    chosen = np.empty(bounds.depth, dtype=np.int64)
    for q in range(len(asked)):
        n = _choose(asked[q], lists, bounds, scratch.counts, touched, chosen)
        similarity = _compare(asked[q], chosen[:n], bags, scratch.table)
        order = np.argsort(-similarity, kind="mergesort")
        while n > 0 and similarity[order[n - 1]] <= bounds.alpha:
            n -= 1
        for r in range(n):
            out.docs[q, r] = chosen[order[r]]
            out.similarity[q, r] = similarity[order[r]]
        out.count[q] = n
