"""The words of links, which are compared to find navigation and alphabetical indexes."""

from numba import uint64

from pagekin.bags._kernels.sketch import mix_number
from pagekin.hypertext import decode_stream
from pagekin.store import kernel


@kernel
def hash_strings(data, offsets, hashes):
    """Write a hash (uint64) of each string data[offsets[i]:offsets[i + 1]]: the same in every collection. A ns a byte."""
    for i in range(len(hashes)):
        key = uint64(offsets[i + 1] - offsets[i])
        for at in range(offsets[i], offsets[i + 1]):
            key = (key ^ uint64(data[at])) * uint64(0x9E3779B97F4A7C15)
            key ^= key >> uint64(29)
        hashes[i] = mix_number(key)


@kernel
def read_link_texts(streams, decoded, anchors, hashes, texts, first_words, labels):
    """Write a hash of each anchor's words (uint64) and its first word (int64); 0 and -1 where it has none.

    To `labels` (anchors x 3, uint64) go hashes of what may tell its place in a template: the word before it, the two words
    before it, and the first of its own words if it has several; 0 where there is none.

    `streams` is a `StreamBatch`, `decoded` the `DecodedPage` for it, `anchors` the `Anchors` of the batch, `hashes` (uint64)
    those of all terms. A few ns a word.
    """
    for p in range(len(anchors.offsets) - 1):
        decode_stream(streams, p, decoded)
        for a in range(anchors.offsets[p], anchors.offsets[p + 1]):
            start, end = anchors.starts[a], anchors.starts[a] + anchors.lengths[a]
            key = uint64(0)
            for i in range(start, end):
                key = (key ^ hashes[decoded.terms[i]]) * uint64(0x9E3779B97F4A7C15)
                key ^= key >> uint64(29)
            texts[a] = key | uint64(end > start)
            first_words[a] = decoded.terms[start] if end > start else -1
            labels[a, :] = 0
            if start >= 1:
                before = hashes[decoded.terms[start - 1]]
                labels[a, 0] = mix_number(before + uint64(1))
                if start >= 2:
                    further = hashes[decoded.terms[start - 2]] * uint64(0x9E3779B97F4A7C15)
                    labels[a, 1] = mix_number((before ^ further) + uint64(2))
            if end > start + 1:
                labels[a, 2] = mix_number(hashes[decoded.terms[start]] + uint64(3))
