"""The words of links: what is compared to find navigation and alphabetical indexes."""

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
def read_link_texts(streams, decoded, anchors, hashes, texts, first_words):
    """Write a hash of each anchor's words (uint64) and its first word (int64); 0 and -1 where it has none.

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
