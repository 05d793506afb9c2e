"""The words of links: what is compared to find navigation and alphabetical indexes."""

from numba import uint64

from pagekin.hypertext import decode_stream
from pagekin.store import kernel


@kernel
def read_link_texts(streams, decoded, anchors, texts, first_words):
    """Write a hash of each anchor's words (uint64) and its first word (int64); 0 and -1 where it has none.

    `streams` is a `StreamBatch`, `decoded` the `DecodedPage` for it, `anchors` the `Anchors` of the batch. A few ns a word.
    """
    for p in range(len(anchors.offsets) - 1):
        decode_stream(streams, p, decoded)
        for a in range(anchors.offsets[p], anchors.offsets[p + 1]):
            start, end = anchors.starts[a], anchors.starts[a] + anchors.lengths[a]
            key = uint64(0)
            for i in range(start, end):
                key = (key ^ uint64(decoded.terms[i] + 1)) * uint64(0x9E3779B97F4A7C15)
                key ^= key >> uint64(29)
            texts[a] = key
            first_words[a] = decoded.terms[start] if end > start else -1
