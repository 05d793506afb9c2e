"""The decoder of stored word streams, for the kernels of all rooms; `Corpus.stream` is its numpy twin for one page."""

from pagekin.hypertext.batch import ATTRIBUTE_EVENT
from pagekin.hypertext.streams import LONG, RARE
from pagekin.store import kernel


@kernel
def decode_words(streams, page, terms):
    """Write the term of each word of a page to `terms` (int64 or uint32, at least as long as the page); return their number.

    `streams` is a `StreamBatch`, `page` a page's place in it. A page with fewer rare terms than its words announce, which only
    damage brings about, has the term RARE in their places. Cost: one pass over the words.
    """
    first, rank = streams.tokens[page], streams.rares[page]
    length = streams.tokens[page + 1] - first
    last = streams.rares[page + 1]
    if rank == last:
        for at in range(length):
            terms[at] = streams.words[first + at]
        return length
    for at in range(length):
        term = streams.words[first + at]
        if term == RARE and rank < last:
            terms[at] = streams.rare[rank]
            rank += 1
        else:
            terms[at] = term
    return length


@kernel
def runs_under(streams, bit, ends, bounds):
    """Write where the runs of words under the attribute `bit` begin and end, page after page; return how many numbers that are.

    Page p's numbers, two for each run, end at `ends[p]`. Call it with `bounds` of no length to learn how long it has to be.
    Cost: one pass over the marks.
    """
    n = 0
    for page in range(len(ends)):
        length = streams.tokens[page + 1] - streams.tokens[page]
        position, inside = 0, False
        for mark in range(streams.marks[page], streams.marks[page + 1]):
            position += streams.gaps[mark]
            kind = streams.kinds[mark]
            if kind >= ATTRIBUTE_EVENT and ((kind & bit) != 0) != inside:
                inside = not inside
                if n < len(bounds):
                    bounds[n] = min(position, length)
                n += 1
        if inside:
            if n < len(bounds):
                bounds[n] = length
            n += 1
        ends[page] = n
    return n


@kernel
def decode_stream(streams, page, decoded):
    """Write a page's words, attributes and boundaries to `decoded`; return how many words and boundaries there are.

    `decoded` is a `DecodedPage` with room for the longest page of the batch. Boundaries keep the order in which they are
    stored. Cost: one pass over the words and one over the marks.
    """
    length = decode_words(streams, page, decoded.terms)
    begun, position, attributes, boundaries = 0, 0, 0, 0
    for mark in range(streams.marks[page], streams.marks[page + 1]):
        position += streams.gaps[mark]
        kind = streams.kinds[mark]
        if kind >= ATTRIBUTE_EVENT:
            while begun < min(position, length):
                decoded.attributes[begun] = attributes
                begun += 1
            attributes = kind - ATTRIBUTE_EVENT
        elif kind:  # a mark of kind 0 only makes a long gap longer
            decoded.boundary_at[boundaries] = position
            decoded.boundary_kind[boundaries] = kind
            boundaries += 1
    while begun < length:
        decoded.attributes[begun] = attributes
        begun += 1
    return length, boundaries


@kernel
def decode_starts(coded, starts):
    """Write the byte at which each word of a page's text starts; return how many there are. Cost: one pass over `coded`."""
    count, position = 0, 0
    for at in range(len(coded)):
        position += coded[at]
        if coded[at] != LONG:
            if count == len(starts):
                break
            starts[count] = position
            count += 1
    return count
