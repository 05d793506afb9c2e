"""Compare pages with all others, and count how well that agrees with the pages' places in a directory."""

from typing import Any, NamedTuple

import numpy as np

from pagekin.store import kernel

JACCARD, COSINE = 0, 1
TILE = 128
"""Documents at a time: a thousand common terms of so many fit the second cache, and the sums the first."""
BLOCK = 32
"""Sources at a time: a tile of the common terms is fetched once for all of them."""
_DIGIT = 11
_BUCKETS = 1 << _DIGIT
_LEVEL_BITS = 8


class Matrix(NamedTuple):
    """Documents as a sparse matrix, by rows and by columns: terms with a slot in full, the others as postings."""

    offsets: Any
    """int64 (documents + 1)"""
    terms: Any
    """uint32 (entries)"""
    weights: Any
    """float32 (entries)"""
    slot_of: Any
    """int64 (terms): the slot of a common term, or -1."""
    tiles: Any
    """float32 (tiles, slots, TILE): the columns of common terms; document d is d % TILE of tile d // TILE."""
    post_offsets: Any
    """int64 (terms + 1)"""
    post_docs: Any
    """int32 (postings)"""
    post_weights: Any
    """float32 (postings)"""
    sizes: Any
    """float64 (documents): their sums (Jaccard) or norms (cosine)."""
    metric: int


class Classes(NamedTuple):
    """The places of documents in a directory."""

    offsets: Any
    """int64 (documents + 1): document d is listed in classes[offsets[d]:offsets[d + 1]]; if in none, it takes no part."""
    classes: Any
    """int64"""
    apart: Any
    """int64 (classes, classes): familial distances."""


class Counts(NamedTuple):
    """What is counted for each source: pairs of documents by their familial distances, and the nearest documents."""

    concordant: Any
    """int64 (sources, levels, levels)"""
    discordant: Any
    """int64 (sources, levels, levels)"""
    tied: Any
    """int64 (sources, levels, levels)"""
    orthogonal: Any
    """int64 (sources, 2): documents of the same class, and those of them with similarity 0."""
    nearest: Any
    """int64 (sources, k)"""
    similarity: Any
    """float32 (sources, k): of the nearest."""


@kernel
def _share(one, other, metric):
    """Return what two weights of a term add to a similarity: the smaller one (Jaccard), or their product (cosine)."""
    if metric == JACCARD:
        return np.float64(one if one < other else other)
    return np.float64(one) * np.float64(other)


@kernel
def _add_common(tile, slots, weights, metric, sums):
    """Add to `sums` (TILE) what a tile (terms, TILE) of common terms shares with a source that holds `slots`.

    Documents without the term have weight 0 and get 0. Four terms a pass: the sums are loaded and stored a quarter as often.
    """
    many = len(slots) - len(slots) % 4
    for i in range(0, many, 4):
        a, b, c, d = tile[slots[i]], tile[slots[i + 1]], tile[slots[i + 2]], tile[slots[i + 3]]
        u, v, w, x = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        for k in range(TILE):
            total = sums[k] + _share(a[k], u, metric)
            total += _share(b[k], v, metric)
            total += _share(c[k], w, metric)
            sums[k] = total + _share(d[k], x, metric)
    for i in range(many, len(slots)):
        for k in range(TILE):
            sums[k] += _share(tile[slots[i], k], weights[i], metric)


@kernel
def similarities(sources, matrix, out):
    """Write the similarities of some documents, at most BLOCK, to every document to the rows of `out`.

    All is added up in double precision, in one order for all documents, so equal bags are equally similar. Cost: the
    documents, at vector speed, for each common term of the source, and the postings of its other terms.
    """
    offsets, terms, weights, slot_of = matrix.offsets, matrix.terms, matrix.weights, matrix.slot_of
    tiles, metric = matrix.tiles, matrix.metric
    slots = np.empty((len(sources), tiles.shape[1]), dtype=np.int64)
    common = np.empty((len(sources), tiles.shape[1]), dtype=np.float32)
    counts = np.zeros(len(sources), dtype=np.int64)
    for s in range(len(sources)):
        for i in range(offsets[sources[s]], offsets[sources[s] + 1]):
            if slot_of[terms[i]] >= 0:
                slots[s, counts[s]] = slot_of[terms[i]]
                common[s, counts[s]] = weights[i]
                counts[s] += 1
    sums = np.empty(TILE, dtype=np.float64)
    documents = len(offsets) - 1
    for t in range(len(tiles)):
        first = t * TILE
        here = min(TILE, documents - first)
        for s in range(len(sources)):
            sums[:] = 0.0
            _add_common(tiles[t], slots[s, : counts[s]], common[s, : counts[s]], metric, sums)
            out[s, first : first + here] = sums[:here]
    for s in range(len(sources)):
        _add_rare(sources[s], matrix, out[s])
        size, row = matrix.sizes[sources[s]], out[s]
        for d in range(documents):
            if row[d] > 0:
                if metric == JACCARD:
                    row[d] /= size + matrix.sizes[d] - row[d]
                else:
                    row[d] /= size * matrix.sizes[d]


@kernel
def _add_rare(source, matrix, row):
    """Add to a row what its documents share with the source in terms that have postings."""
    docs, values = matrix.post_docs, matrix.post_weights
    for i in range(matrix.offsets[source], matrix.offsets[source + 1]):
        term, weight = matrix.terms[i], matrix.weights[i]
        for k in range(matrix.post_offsets[term], matrix.post_offsets[term + 1]):
            row[docs[k]] += _share(values[k], weight, matrix.metric)


@kernel
def _sort(keys, room, count):
    """Sort the first `count` of `keys` into `room`, by all but the lowest _LEVEL_BITS bits: radix sort, least digit first."""
    places = np.empty(_BUCKETS, dtype=np.int64)
    for turn in range(3):
        shift = _LEVEL_BITS + turn * _DIGIT
        places[:] = 0
        for i in range(count):
            places[(keys[i] >> shift) & (_BUCKETS - 1)] += 1
        start = 0
        for bucket in range(_BUCKETS):
            start, places[bucket] = start + places[bucket], start
        for i in range(count):
            bucket = (keys[i] >> shift) & (_BUCKETS - 1)
            room[places[bucket]] = keys[i]
            places[bucket] += 1
        keys, room = room, keys


@kernel
def count_pairs(similarity, distance, source, keys, room, concordant, discordant, tied):
    """Add to the counts of pairs of documents by their familial distances i < j: `concordant[i, j]` and so on.

    `similarity` holds similarities in single precision, `distance[d]` document d's distance from the source, -1 if it does not
    take part. A pair is concordant if the nearer document is the more similar one, tied if both are equally similar.
    `keys` and `room` (int64) have room for all documents. Cost: one sort of the similarities that are not 0.
    """
    levels = len(concordant)
    bits = similarity.view(np.uint32)
    here = np.zeros(levels, dtype=np.int64)
    below = np.zeros(levels, dtype=np.int64)
    count = 0
    for d in range(len(similarity)):
        if distance[d] >= 0 and d != source:
            if similarity[d] > 0:
                # The bits of positive numbers are in the numbers' order.
                keys[count] = (np.int64(bits[d]) << _LEVEL_BITS) | distance[d]
                count += 1
            else:
                here[distance[d]] += 1
    _sort(keys, room, count)
    below += here
    for i in range(levels):
        for j in range(i + 1, levels):
            tied[i, j] += here[i] * here[j]
    start = 0
    while start < count:
        here[:] = 0
        last = start
        while last < count and room[last] >> _LEVEL_BITS == room[start] >> _LEVEL_BITS:
            level = room[last] & ((1 << _LEVEL_BITS) - 1)
            for i in range(level):
                discordant[i, level] += below[i]
            for j in range(level + 1, levels):
                concordant[level, j] += below[j]
            here[level] += 1
            last += 1
        if last > start + 1:
            for i in range(levels):
                for j in range(i + 1, levels):
                    tied[i, j] += here[i] * here[j]
        below += here
        start = last


@kernel
def judge(sources, similarity, classes, counts):
    """Judge the documents `sources` (int64): pairs by familial distance, orthogonal documents of a class, the nearest.

    `similarity[s]` holds the similarities of a source to all documents (float32).
    """
    room = np.empty((3, similarity.shape[1]), dtype=np.int64)
    for s in range(len(sources)):
        _judge_one(similarity[s], sources[s], classes, room, s, counts)


@kernel
def _judge_one(similarity, source, classes, room, s, counts):
    """Judge one document, `source`, by its similarities `similarity` to all documents; write to place `s` of the counts.

    `room` (int64, (3, documents)) is to work in.
    """
    apart, distance = classes.apart, room[0]
    depth = counts.concordant.shape[1] - 1
    row = np.full(len(apart), depth)
    for c in range(len(apart)):
        for k in range(classes.offsets[source], classes.offsets[source + 1]):
            row[c] = min(row[c], apart[classes.classes[k], c])
    for d in range(len(similarity)):
        distance[d] = -1
        if classes.offsets[d] < classes.offsets[d + 1]:
            distance[d] = depth
            for k in range(classes.offsets[d], classes.offsets[d + 1]):
                distance[d] = min(distance[d], row[classes.classes[k]])
    concordant, discordant, tied = counts.concordant[s], counts.discordant[s], counts.tied[s]
    count_pairs(similarity, distance, source, room[1], room[2], concordant, discordant, tied)
    for d in range(len(similarity)):
        if distance[d] == 0 and d != source:
            counts.orthogonal[s, 0] += 1
            counts.orthogonal[s, 1] += similarity[d] == 0.0
    _nearest(similarity, distance, source, counts.nearest[s], counts.similarity[s])


@kernel
def _nearest(similarity, distance, source, nearest, nearest_similarity):
    """Write the documents that take part with the greatest similarities, the first of equals first; -1 where none is left."""
    k = len(nearest)
    filled = 0
    nearest[:] = -1
    nearest_similarity[:] = 0.0
    for d in range(len(similarity)):
        if distance[d] < 0 or d == source or similarity[d] <= 0:
            continue
        if filled == k and similarity[d] <= nearest_similarity[k - 1]:
            continue
        place = min(filled, k - 1)
        while place > 0 and nearest_similarity[place - 1] < similarity[d]:
            nearest[place], nearest_similarity[place] = nearest[place - 1], nearest_similarity[place - 1]
            place -= 1
        nearest[place], nearest_similarity[place] = d, similarity[d]
        filled = min(filled + 1, k)
