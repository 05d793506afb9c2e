"""Write, find and read the lists of I, which `pagekin.similarity.packed` describes."""

import numpy as np

from pagekin.store import kernel

# The same as in `pagekin.similarity.packed`, which says what they mean.
SCRAMBLE = np.uint64(0x9E3779B1)
COUNT_BITS, LENGTH_BITS, WIDTH_BITS = 24, 7, 5
LONG = 127
RUN = 4
PLACE_BITS = 40
LOW = np.uint64(0xFFFFFFFF)


@kernel
def read_bits(words, at, width):
    """Read a number of `width` bits (1 to 63) at bit `at`; `words` (uint64) must have one word more than is used."""
    word, shift = at >> 6, np.uint64(at & 63)
    both = (words[word] >> shift) | ((words[word + 1] << np.uint64(1)) << (np.uint64(63) - shift))
    return np.int64(both & ((np.uint64(1) << np.uint64(width)) - np.uint64(1)))


@kernel
def write_bits(words, at, width, value):
    """Write a number of `width` bits, at most 63, at bit `at` of words that are zero there."""
    word, shift = at >> 6, np.uint64(at & 63)
    words[word] |= np.uint64(value) << shift
    if (at & 63) + width > 64:
        words[word + 1] |= np.uint64(value) >> (np.uint64(64) - shift)


@kernel
def bits_of(number):
    """Return the bit length of a number; 0 for 0."""
    bits = 0
    while number > 0:
        number >>= 1
        bits += 1
    return bits


@kernel
def gap_bits(pairs, first, last):
    """Return the bit length of the largest gap, minus one, before the entries `first` to `last`."""
    most = np.uint64(0)
    for i in range(first, last):
        most |= pairs[i] - pairs[i - 1] - np.uint64(1)
    return bits_of(np.int64(most))


@kernel
def end_of_list(pairs, first):
    """Return where the list that begins at `first` ends."""
    last = first + 1
    while last < len(pairs) and pairs[last] >> np.uint64(32) == pairs[first] >> np.uint64(32):
        last += 1
    return last


@kernel
def runs_of(length):
    """Return the number of runs of gaps in a list of this length."""
    return (length - 1 + RUN - 1) // RUN


@kernel
def list_bits(pairs, first, last, document_bits):
    """Return the bits of a list with its widths."""
    size = document_bits
    for run in range(first + 1, last, RUN):
        end = min(run + RUN, last)
        size += WIDTH_BITS + (end - run) * gap_bits(pairs, run, end)
    return size


@kernel
def measure_lists(pairs, bucket_bits, document_bits, counts, runs, starts):
    """Return the size in bytes of the lists of a position, and write the start of each bucket.

    `pairs` (uint64) are keys in the upper half and documents in the lower, rising. `counts` and `runs` (int64, buckets) are
    zero and get the number of lists of each bucket, and of runs of its short lists; `starts` (int64, buckets + 1), zero as
    well, its first byte, and in the end where long lists begin. Cost: two reads of the pairs.
    """
    rest_bits = 32 - bucket_bits
    long_bits = 0
    first = 0
    while first < len(pairs):
        last = end_of_list(pairs, first)
        bucket = np.int64(pairs[first] >> np.uint64(32 + rest_bits))
        counts[bucket] += 1
        starts[bucket + 1] += rest_bits + LENGTH_BITS
        size = list_bits(pairs, first, last, document_bits)
        if last - first < LONG:
            starts[bucket + 1] += size
            runs[bucket] += runs_of(last - first)
        else:
            starts[bucket + 1] += 2 * PLACE_BITS
            long_bits += (size + 7) & ~7
        first = last
    for bucket in range(len(counts)):
        size = (starts[bucket + 1] + COUNT_BITS + 7) >> 3 if counts[bucket] else 0
        starts[bucket + 1] = starts[bucket] + size
    return starts[len(counts)] + (long_bits >> 3)


@kernel
def write_list(words, widths_at, at, pairs, first, last, document_bits):
    """Write the widths of a list and its documents at two bits, and return where the documents end."""
    write_bits(words, at, document_bits, np.int64(pairs[first] & LOW))
    at += document_bits
    for run in range(first + 1, last, RUN):
        end = min(run + RUN, last)
        width = gap_bits(pairs, run, end)
        write_bits(words, widths_at, WIDTH_BITS, width)
        widths_at += WIDTH_BITS
        if width:
            for i in range(run, end):
                write_bits(words, at, width, np.int64(pairs[i] - pairs[i - 1]) - 1)
                at += width
    return at


@kernel
def write_lists(pairs, bucket_bits, document_bits, counts, runs, starts, words):
    """Write the lists of a position to `words` (uint64, zero), as `measure_lists` has measured them."""
    rest_bits = 32 - bucket_bits
    rest_mask = (np.int64(1) << rest_bits) - 1
    long_at = starts[len(counts)] * 8
    bucket, head, widths_at, at, first = np.int64(-1), np.int64(0), np.int64(0), np.int64(0), 0
    while first < len(pairs):
        last = end_of_list(pairs, first)
        length = last - first
        key = np.int64(pairs[first] >> np.uint64(32))
        if key >> rest_bits != bucket:
            bucket = key >> rest_bits
            write_bits(words, starts[bucket] * 8, COUNT_BITS, counts[bucket])
            head = starts[bucket] * 8 + COUNT_BITS
            widths_at = head + counts[bucket] * (rest_bits + LENGTH_BITS)
            at = widths_at + runs[bucket] * WIDTH_BITS
        write_bits(words, head, rest_bits, key & rest_mask)
        write_bits(words, head + rest_bits, LENGTH_BITS, min(length, LONG))
        head += rest_bits + LENGTH_BITS
        if length < LONG:
            at = write_list(words, widths_at, at, pairs, first, last, document_bits)
            widths_at += runs_of(length) * WIDTH_BITS
        else:
            write_bits(words, at, PLACE_BITS, length)
            write_bits(words, at + PLACE_BITS, PLACE_BITS, long_at >> 3)
            at += 2 * PLACE_BITS
            documents_at = long_at + runs_of(length) * WIDTH_BITS
            long_at = (write_list(words, long_at, documents_at, pairs, first, last, document_bits) + 7) & ~7
        first = last


@kernel
def bucket_places(words, at, end, rest_bits):
    """Return (lists, the start of their widths, the start of their documents) of the bucket between two bits."""
    if at < 0 or at + COUNT_BITS > end or end > (len(words) - 1) * 64:
        raise IndexError("there are no such lists")
    count = read_bits(words, at, COUNT_BITS)
    widths_at = at + COUNT_BITS + count * (rest_bits + LENGTH_BITS)
    if widths_at > end:
        raise IndexError("a bucket holds fewer lists than it says")
    runs = 0
    for i in range(count):
        length = read_bits(words, at + COUNT_BITS + i * (rest_bits + LENGTH_BITS) + rest_bits, LENGTH_BITS)
        if length == 0:
            raise IndexError("a list is empty")
        if length != LONG:
            runs += runs_of(length)
    if widths_at + runs * WIDTH_BITS > end:
        raise IndexError("a bucket holds fewer lists than it says")
    return count, widths_at, widths_at + runs * WIDTH_BITS


@kernel
def size_of(words, length, widths_at, document_bits):
    """Return the size in bits of a short list's documents, or of the reference to a long list."""
    if length == LONG:
        return 2 * PLACE_BITS
    size = document_bits
    for first in range(1, length, RUN):
        size += min(RUN, length - first) * read_bits(words, widths_at, WIDTH_BITS)
        widths_at += WIDTH_BITS
    return size


@kernel
def find_lists(words, starts, positions, signature, bucket_bits, document_bits, lengths, widths_at, places):
    """Find the list of each value of a signature: write its length and the bits where its widths and documents begin.

    The length of a value without a list is 0. `words`, `starts` and `positions` are those of I; `lengths`, `widths_at` and
    `places` are int64 (m). Cost: the heads of m buckets and the widths before the lists. IndexError for what a damaged
    collection might hold: compiled code would read beyond its arrays.
    """
    buckets = np.int64(1) << bucket_bits
    rest_bits = 32 - bucket_bits
    rest_mask = (np.int64(1) << rest_bits) - 1
    m = len(signature)
    if len(positions) != m + 1 or len(starts) != m * (buckets + 1):
        raise IndexError("the lists have other lengths than they say")
    for j in range(m):
        key = np.int64((np.uint64(signature[j]) * SCRAMBLE) & LOW)
        wanted = key & rest_mask
        place = j * (buckets + 1) + (key >> rest_bits)
        base = np.int64(positions[j])
        head, end = (base + np.int64(starts[place])) * 8, (base + np.int64(starts[place + 1])) * 8
        lengths[j] = widths_at[j] = places[j] = 0
        if head == end:
            continue
        count, widths, at = bucket_places(words, head, end, rest_bits)
        head += COUNT_BITS
        for _list in range(count):
            rest = read_bits(words, head, rest_bits)
            if rest > wanted:
                break
            length = read_bits(words, head + rest_bits, LENGTH_BITS)
            size = size_of(words, length, widths, document_bits)
            if at + size > end:
                raise IndexError("a list goes on beyond its bucket")
            if rest == wanted:
                lengths[j], widths_at[j], places[j] = length, widths, at
                if length == LONG:
                    lengths[j] = read_bits(words, at, PLACE_BITS)
                    widths_at[j] = (base + read_bits(words, at + PLACE_BITS, PLACE_BITS)) * 8
                    places[j] = widths_at[j] + runs_of(lengths[j]) * WIDTH_BITS
                break
            at += size
            widths += runs_of(length) * WIDTH_BITS if length != LONG else 0
            head += rest_bits + LENGTH_BITS


@kernel
def list_heads(words, starts, base, bucket_bits, document_bits, keys, lengths, widths_at, places):
    """Write the key, the length and the places of every list of a position, in order of their keys.

    `starts` (buckets + 1) are the position's own, `base` its first byte; the arrays that are written have room for all lists.
    Cost: all heads. IndexError for what a damaged collection might hold.
    """
    rest_bits = 32 - bucket_bits
    found = 0
    for bucket in range(len(starts) - 1):
        head, end = (base + np.int64(starts[bucket])) * 8, (base + np.int64(starts[bucket + 1])) * 8
        if head == end:
            continue
        count, widths, at = bucket_places(words, head, end, rest_bits)
        if found + count > len(keys):
            raise IndexError("a bucket holds other lists than it says")
        head += COUNT_BITS
        for _list in range(count):
            length = read_bits(words, head + rest_bits, LENGTH_BITS)
            size = size_of(words, length, widths, document_bits)
            if at + size > end:
                raise IndexError("a list goes on beyond its bucket")
            keys[found] = (np.int64(bucket) << rest_bits) + read_bits(words, head, rest_bits)
            lengths[found], widths_at[found], places[found] = length, widths, at
            if length == LONG:
                lengths[found] = read_bits(words, at, PLACE_BITS)
                widths_at[found] = (base + read_bits(words, at + PLACE_BITS, PLACE_BITS)) * 8
                places[found] = widths_at[found] + runs_of(lengths[found]) * WIDTH_BITS
            at += size
            widths += runs_of(length) * WIDTH_BITS if length != LONG else 0
            head += rest_bits + LENGTH_BITS
            found += 1


@kernel
def read_lists(words, lengths, widths_at, places, document_bits, documents, out):
    """Write the documents of the lists that `find_lists` found, list after list, to `out` (uint32).

    There are so many `documents`. Cost: their entries, a few shifts each. IndexError for what a damaged collection might hold.
    """
    filled = 0
    bits = (len(words) - 1) * 64
    for i in range(len(lengths)):
        length, widths, at = lengths[i], widths_at[i], places[i]
        if length <= 0:
            continue
        if widths < 0 or at < widths or at + document_bits > bits or filled + length > len(out):
            raise IndexError("there is no such list")
        document = read_bits(words, at, document_bits)
        at += document_bits
        out[filled] = document
        filled += 1
        for first in range(1, length, RUN):
            count = min(RUN, length - first)
            width = read_bits(words, widths, WIDTH_BITS)
            widths += WIDTH_BITS
            if at + count * width > bits:
                raise IndexError("a list goes on beyond its end")
            for _gap in range(count):
                document += 1
                if width:
                    document += read_bits(words, at, width)
                    at += width
                out[filled] = document
                filled += 1
        if document >= documents:
            raise IndexError("a list names a document that is none")
