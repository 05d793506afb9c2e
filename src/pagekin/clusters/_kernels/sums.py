"""Sum the terms of the pages of each node of a tree, in one pass over the entries of its pages."""

import numpy as np

from pagekin.bags import mix_number
from pagekin.store import kernel, sort_numbers


@kernel
def sum_nodes(bounds, pages, offsets, terms, weights, scratch, ends, out, dots, squares):
    """Write the terms of each node, ascending, with summed weights and numbers of pages; return their number.

    Node i holds pages[bounds[i]:bounds[i + 1]], page p the entries offsets[p] to offsets[p + 1] of `terms` and `weights`.
    `scratch` is (sums float64, counts int64, seen int64), each as long as there are terms, the first two zero and left so.
    The terms of node i end at `ends[i]` of `out`, (terms uint32, weights float64, pages int64). Unless `dots` (float64) is
    empty, it gets for each entry of `pages` the dot product of the page's weights and its node's, and `squares` the sum of
    the squares of its weights. Cost: two passes over the entries, and a sort of each node's terms.
    """
    sums, counts, seen = scratch
    out_terms, out_weights, out_pages = out
    n = 0
    for node in range(len(bounds) - 1):
        touched = 0
        for i in range(bounds[node], bounds[node + 1]):
            for entry in range(offsets[pages[i]], offsets[pages[i] + 1]):
                term = np.int64(terms[entry])
                if counts[term] == 0:
                    seen[touched] = term
                    touched += 1
                counts[term] += 1
                sums[term] += weights[entry]
        if len(dots):
            for i in range(bounds[node], bounds[node + 1]):
                dot, square = 0.0, 0.0
                for entry in range(offsets[pages[i]], offsets[pages[i] + 1]):
                    weight = weights[entry]
                    dot += weight * sums[terms[entry]]
                    square += weight * weight
                dots[i], squares[i] = dot, square
        ordered = seen[:touched]
        sort_numbers(ordered)
        for i in range(touched):
            term = ordered[i]
            out_terms[n], out_weights[n], out_pages[n] = term, sums[term], counts[term]
            sums[term], counts[term] = 0.0, 0
            n += 1
        ends[node] = n
    return n


@kernel
def count_citations(bounds, pages, starts, targets, place, cited):
    """Write, for each entry of `pages`, the number of pages of its node that link to it.

    Node i holds pages[bounds[i]:bounds[i + 1]], page p links to targets[starts[p]:starts[p + 1]]. `place` (int64, one for each
    page of the collection) is -1 and is left so. Cost: the links of the pages.
    """
    for node in range(len(bounds) - 1):
        for i in range(bounds[node], bounds[node + 1]):
            place[pages[i]] = i
            cited[i] = 0
        for i in range(bounds[node], bounds[node + 1]):
            for link in range(starts[pages[i]], starts[pages[i] + 1]):
                if place[targets[link]] >= 0:
                    cited[place[targets[link]]] += 1
        for i in range(bounds[node], bounds[node + 1]):
            place[pages[i]] = -1


@kernel
def list_holders(bounds, pages, offsets, terms, nodes, wanted, starts, slot, holders):
    """Write to `holders`, from starts[j] on, the pages of node nodes[j] that hold the term wanted[j], rising.

    `nodes` rise. `slot` (int64, one for each term) is 0 and is left so. Cost: the entries of the pages of these nodes.
    """
    first = 0
    while first < len(nodes):
        last = first
        while last < len(nodes) and nodes[last] == nodes[first]:
            slot[wanted[last]] = starts[last] + 1
            last += 1
        for i in range(bounds[nodes[first]], bounds[nodes[first] + 1]):
            for entry in range(offsets[pages[i]], offsets[pages[i] + 1]):
                at = slot[terms[entry]]
                if at:
                    holders[at - 1] = pages[i]
                    slot[terms[entry]] = at + 1
        for j in range(first, last):
            slot[wanted[j]] = 0
        first = last


@kernel
def least_hashes(offsets, words, hashes, least):
    """Write each row's sketch: the least mixed hash of its words in each of 64 places, chosen by the first six bits."""
    for row in range(len(offsets) - 1):
        for entry in range(offsets[row], offsets[row + 1]):
            mixed = mix_number(hashes[words[entry]])
            place = mixed >> np.uint64(58)
            if mixed < least[row, place]:
                least[row, place] = mixed


@kernel
def heaviest_terms(offsets, terms, weights, most, out):
    """Write the `most` heaviest terms of each row, ties by number; return how many were written.

    `weights` are float32 and not negative, so that their bits rise with them. Cost: a sort of each row.
    """
    n = 0
    bits = weights.view(np.uint32)
    for row in range(len(offsets) - 1):
        size = offsets[row + 1] - offsets[row]
        keys = np.empty(size, np.uint64)
        for i in range(size):
            entry = offsets[row] + i
            keys[i] = np.uint64(0xFFFFFFFF - bits[entry]) << np.uint64(32) | np.uint64(terms[entry])
        sort_numbers(keys)
        for i in range(min(size, most)):
            out[n] = keys[i] & np.uint64(0xFFFFFFFF)
            n += 1
    return n
