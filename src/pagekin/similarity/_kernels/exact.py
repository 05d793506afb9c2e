"""Compute the overlap of one bag with many."""

from pagekin.similarity._kernels.slots import fill_slots, find_slot
from pagekin.store import kernel


@kernel
def overlaps(query_terms, query_weights, slots, vocabulary, terms, weights, offsets, documents, shared, sums):
    """Write Σ min(query, bag) and Σ bag of each document's bag. Cost: the documents' terms, two reads each.

    `slots` (int32, a power of two, several times the query's terms) is written; `vocabulary` is the number of all terms.
    IndexError for what a damaged collection might hold.
    """
    fill_slots(query_terms, slots)
    for place in range(len(documents)):
        both = 0.0
        total = 0.0
        document = documents[place]
        if document < 0 or document + 1 >= len(offsets) or offsets[document + 1] > len(terms):
            raise IndexError("there is no such document")
        for i in range(offsets[document], offsets[document + 1]):
            if terms[i] >= vocabulary:
                raise IndexError("there is no such term")
            weight = weights[i]
            total += weight
            own = find_slot(slots, query_terms, terms[i])
            if own >= 0:
                here = query_weights[own]
                both += here if here < weight else weight
        shared[place] = both
        sums[place] = total
