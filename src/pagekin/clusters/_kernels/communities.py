"""Find the nearest pages by their bags, and communities of a graph by the Leiden method (Traag, Waltman, van Eck 2019)."""

from typing import Any, NamedTuple

import numpy as np

from pagekin.store import kernel


class Queries(NamedTuple):
    """Bags whose nearest rows are wanted: bag i is entries offsets[i] to offsets[i + 1]."""

    offsets: Any
    """int64 (bags + 1)"""
    terms: Any
    """uint32 (entries): the column of each."""
    weights: Any
    """float32 (entries)"""
    sums: Any
    """float32 (bags): the sum of each bag's weights."""
    own: bool
    """Whether bag i is row i, which is not near itself."""


class Columns(NamedTuple):
    """Bags by their terms: the bags of term t end at ends[t], and begin where those of the term before end."""

    rows: Any
    """int32 (entries): the bag of each entry, rising in a column."""
    weights: Any
    """float32 (entries)"""
    ends: Any
    """int64 (terms)"""


@kernel
def count_columns(terms, counts):
    """Add to `counts` (int64, one for each term) how many entries each term has."""
    for i in range(len(terms)):
        counts[terms[i]] += 1


@kernel
def fill_columns(offsets, terms, weights, counts, columns):
    """Write the entries of bags, given as rows, by columns; terms whose `counts` is 0 are left out.

    `columns` (Columns) has room for the others; its `ends` are where each column begins, and become where it ends.
    """
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], offsets[row + 1]):
            if counts[terms[i]]:
                place = columns.ends[terms[i]]
                columns.rows[place], columns.weights[place] = row, weights[i]
                columns.ends[terms[i]] += 1


@kernel
def nearest_rows(first, last, queries, columns, sums, shared, nearest, similarity):
    """Write the rows most similar to each of the queries first..last - 1, by weighted Jaccard, nearest first.

    `columns` are the bags of the rows by terms (Columns), `sums` (float32, rows) their weights. `shared` (float32, rows) is
    zero and is left so. Of equally similar rows the first one counts. `nearest` (int64, last - first, k) has -1 where there
    are no more, `similarity` (float32) is as large. Cost: the lengths of all columns of a query's terms.
    """
    k = nearest.shape[1]
    touched = np.empty(len(sums), np.int64)
    for row in range(first, last):
        n = 0
        for i in range(queries.offsets[row], queries.offsets[row + 1]):
            mine, term = queries.weights[i], np.int64(queries.terms[i])
            for j in range(columns.ends[term - 1] if term else 0, columns.ends[term]):
                other = columns.rows[j]
                if shared[other] == 0:
                    touched[n] = other
                    n += 1
                shared[other] += min(mine, columns.weights[j])
        best, score = nearest[row - first], similarity[row - first]
        size = 0
        for t in range(n):
            other = touched[t]
            common = shared[other]
            shared[other] = 0
            if (queries.own and other == row) or common <= 0:
                continue
            value = common / (queries.sums[row] + sums[other] - common)
            if size == k and (value < score[k - 1] or (value == score[k - 1] and other > best[k - 1])):
                continue
            at = size if size < k else k - 1
            size = min(size + 1, k)
            while at > 0 and (score[at - 1] < value or (score[at - 1] == value and best[at - 1] > other)):
                score[at], best[at] = score[at - 1], best[at - 1]
                at -= 1
            score[at], best[at] = value, other


@kernel
def move_nodes(offsets, others, weights, strength, total, resolution, order, labels):
    """Move nodes, in `order`, to the neighbouring community that adds most to the modularity, until none gains.

    A node is looked at again when a neighbour leaves its community. `labels` are below the number of nodes and are
    changed; of equally good communities the node's own, then the smallest counts. Return how many moves were made.
    Cost: a few times the number of edges.
    """
    n = len(strength)
    inside = np.zeros(n)
    size = np.zeros(n, np.int64)
    for v in range(n):
        inside[labels[v]] += strength[v]
        size[labels[v]] += 1
    free = np.empty(n, np.int64)
    spare = 0
    for c in range(n):
        if size[c] == 0:
            free[spare] = c
            spare += 1
    waiting = order.copy()
    queued = np.ones(n, np.bool_)
    head, length, moves = 0, n, 0
    to = np.zeros(n)
    near = np.empty(n, np.int64)
    while length > 0 and moves < 100 * n:
        v = waiting[head]
        head = (head + 1) % n
        length -= 1
        queued[v] = False
        own = labels[v]
        m = 0
        for i in range(offsets[v], offsets[v + 1]):
            if others[i] != v:
                c = labels[others[i]]
                if to[c] == 0:
                    near[m] = c
                    m += 1
                to[c] += weights[i]
        inside[own] -= strength[v]
        price = resolution * strength[v] / total
        best, most = own, to[own] - price * inside[own]
        # What is gained by less than rounding may lose is no gain: moves would go round in circles.
        least = 1e-12 * strength[v]
        for j in range(m):
            c = near[j]
            gain = to[c] - price * inside[c]
            if gain > most + least or (best != own and c < best and gain >= most):
                best, most = c, gain
        if most < -least and spare > 0 and size[own] > 1:
            spare -= 1
            best = free[spare]
        for j in range(m):
            to[near[j]] = 0
        inside[best] += strength[v]
        if best != own:
            moves += 1
            labels[v] = best
            size[best] += 1
            size[own] -= 1
            if size[own] == 0:
                free[spare] = own
                spare += 1
            for i in range(offsets[v], offsets[v + 1]):
                w = others[i]
                if labels[w] != best and not queued[w]:
                    queued[w] = True
                    waiting[(head + length) % n] = w
                    length += 1
    return moves


@kernel
def refine(offsets, others, weights, strength, total, resolution, order, labels, refined):
    """Split the communities `labels` into connected parts, to be merged in the next round; write them to `refined`.

    Nodes begin alone; in `order`, one that is still alone and well connected to its community joins the part of it that
    gains most, if that part is well connected too. Cost: the number of edges.
    """
    n = len(strength)
    whole = np.zeros(n)
    inside = strength.copy()
    size = np.ones(n, np.int64)
    cut = np.zeros(n)
    for v in range(n):
        refined[v] = v
        whole[labels[v]] += strength[v]
        for i in range(offsets[v], offsets[v + 1]):
            if others[i] != v and labels[others[i]] == labels[v]:
                cut[v] += weights[i]
    to = np.zeros(n)
    near = np.empty(n, np.int64)
    for at in range(n):
        v = order[at]
        community = labels[v]
        if size[refined[v]] != 1:
            continue
        price = resolution * strength[v] / total
        if cut[refined[v]] < price * (whole[community] - strength[v]):
            continue
        m = 0
        for i in range(offsets[v], offsets[v + 1]):
            w = others[i]
            if w != v and labels[w] == community:
                c = refined[w]
                if to[c] == 0:
                    near[m] = c
                    m += 1
                to[c] += weights[i]
        best, most = -1, 0.0
        for j in range(m):
            c = near[j]
            gain = to[c] - price * inside[c]
            well = cut[c] >= resolution * inside[c] / total * (whole[community] - inside[c])
            if well and (gain > most or (gain == most and best >= 0 and c < best)):
                best, most = c, gain
        if best >= 0:
            old = refined[v]
            cut[best] += cut[old] - 2 * to[best]
            inside[best] += strength[v]
            size[best] += 1
            size[old] = 0
            refined[v] = best
        for j in range(m):
            to[near[j]] = 0
