"""The answers for many documents at once: what `RelatedIndex.answer` gives for each, compiled."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _candidates(document, rows, docs, keys, starts, positions, depth, entries, counts, touched, chosen):
    """Write to `chosen`, in order, the documents that agree most often in the shortest lists; give their number.

    `counts` is zero for all documents before and after.
    """
    m = rows.shape[1]
    order = np.empty(m, dtype=np.int64)
    place = np.empty(m, dtype=np.int64)
    for j in range(m):
        at = _find(keys, positions[j], positions[j + 1], rows[document, j])
        place[j] = at
        length = starts[at + 1] - starts[at] if at >= 0 else 0
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
        for e in range(starts[at], starts[at + 1]):
            other = docs[e]
            if counts[other] == 0:
                touched[n] = other
                n += 1
            counts[other] += 1
    histogram = np.zeros(m + 1, dtype=np.int64)
    for i in range(n):
        if touched[i] != document:
            histogram[counts[touched[i]]] += 1
    least, above = m, 0
    while least > 0 and above + histogram[least] <= depth:
        above += histogram[least]
        least -= 1
    found = 0
    for i in range(n):
        if touched[i] != document and counts[touched[i]] > least:
            chosen[found] = touched[i]
            found += 1
    if least > 0 and found < depth:
        ties = np.empty(histogram[least], dtype=np.int64)
        t = 0
        for i in range(n):
            if touched[i] != document and counts[touched[i]] == least:
                ties[t] = touched[i]
                t += 1
        ties.sort()
        for i in range(depth - found):
            chosen[found + i] = ties[i]
        found = depth
    for i in range(n):
        counts[touched[i]] = 0
    chosen[:found].sort()
    return found


@njit(cache=True, nogil=True)
def _are_copies(sketches, a, b, threshold):
    agree = either = 0
    for j in range(sketches.shape[1]):
        if sketches[a, j] != 65_535 or sketches[b, j] != 65_535:
            either += 1
            agree += sketches[a, j] == sketches[b, j]
    return agree >= max(threshold * either, 1)


@njit(cache=True, nogil=True)
def neighbours(
    asked, rows, docs, keys, starts, positions, terms, weights, offsets, sums, pages, sketches, depth, entries, alpha, k,
    near_copy, first_seen, counts, table, out_docs, out_similarity, out_group, out_count,
):  # fmt: skip
    """Write for each document asked about the ranked documents that were looked at, and the group of each.

    Groups are numbered from 0 in order; -1 is none (after the k-th group), -2 a near-duplicate of the document itself.
    Pages whose sketches agree in the share `near_copy` are near-duplicates; with 0 none are. `counts` (integers, one a
    document) and `table` (one a term) are zero before and after. Cost: the lists' entries and the candidates' terms.
    """
    touched = np.empty(len(counts), dtype=np.int64)
    chosen = np.empty(max(depth, 1), dtype=np.int64)
    for q in range(len(asked)):
        document = asked[q]
        n = _candidates(document, rows, docs, keys, starts, positions, depth, entries, counts, touched, chosen)
        total = 0.0
        for i in range(offsets[document], offsets[document + 1]):
            table[terms[i]] = weights[i]
            total += weights[i]
        similarity = np.empty(n)
        for c in range(n):
            shared = 0.0
            other = chosen[c]
            for i in range(offsets[other], offsets[other + 1]):
                shared += min(table[terms[i]], weights[i])
            similarity[c] = np.rint(shared / (total + sums[other] - shared) * 1e7) / 1e7
        for i in range(offsets[document], offsets[document + 1]):
            table[terms[i]] = 0.0
        order = np.argsort(-similarity, kind="mergesort")
        while n > 0 and similarity[order[n - 1]] <= alpha:
            n -= 1
        seen = first_seen
        while True:
            shown = min(seen, n, out_docs.shape[1])
            for r in range(shown):
                out_docs[q, r] = chosen[order[r]]
                out_similarity[q, r] = similarity[order[r]]
                out_group[q, r] = -1
                if near_copy > 0 and pages[document] >= 0 and pages[chosen[order[r]]] >= 0:
                    if _are_copies(sketches, pages[document], pages[chosen[order[r]]], near_copy):
                        out_group[q, r] = -2
            groups = 0
            for r in range(shown):
                if groups == k:
                    break
                if out_group[q, r] == -1:
                    out_group[q, r] = groups
                    page = pages[chosen[order[r]]]
                    if near_copy > 0 and page >= 0:
                        for s in range(r + 1, shown):
                            other_page = pages[chosen[order[s]]]
                            if out_group[q, s] == -1 and other_page >= 0:
                                if _are_copies(sketches, page, other_page, near_copy):
                                    out_group[q, s] = groups
                    groups += 1
            if groups == k or seen >= n or near_copy == 0 or shown == out_docs.shape[1]:
                break
            seen *= 4
        out_count[q] = shown
