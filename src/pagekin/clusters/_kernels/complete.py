"""Cluster by complete link, from a matrix of similarities."""

import numpy as np

from pagekin.store import kernel


@kernel
def complete_link(similarity, pairs, merged):
    """Merge clusters until one is left, in any order; callers sort the merges by (-similarity, pair).

    `similarity` (n, n) is symmetric and is overwritten: row and column a belong to the cluster whose smallest page is a.
    The clusters of a merge are written to `pairs` (n - 1, 2), smaller page first, and their similarity to `merged`.

    This follows chains of nearest neighbours. Pairs of clusters are ordered by (-similarity, smaller page, larger page),
    without ties, and a merged cluster never comes before both its parts in the order of a third's neighbours. So two
    that are each other's nearest stay so until they merge, merges may be done in any order that finds such pairs, and
    sorted they are the merges of the method that always takes the first of all pairs. Cost: n² steps, whatever the ties.
    """
    n = len(similarity)
    active = np.arange(n)
    count = n
    chain = np.empty(n, dtype=np.int64)
    length = 0
    for m in range(n - 1):
        if length == 0:
            chain[0], length = active[0], 1
        while True:
            top = chain[length - 1]
            row = similarity[top]
            # The first of the most similar: for one cluster, the order of pairs is that of the others' pages.
            near = active[1] if active[0] == top else active[0]
            best = row[near]
            for place in range(1, count):
                k = active[place]
                if row[k] > best and k != top:
                    near, best = k, row[k]
            if length > 1 and near == chain[length - 2]:
                break
            chain[length] = near
            length += 1
        length -= 2
        a, b = min(top, near), max(top, near)
        pairs[m, 0], pairs[m, 1] = a, b
        merged[m] = best
        row, other = similarity[a], similarity[b]
        left = 0
        for place in range(count):
            k = active[place]
            if k == b:
                continue
            active[left] = k
            left += 1
            if other[k] < row[k] and k != a:
                row[k] = other[k]
                similarity[k, a] = other[k]
        count = left
