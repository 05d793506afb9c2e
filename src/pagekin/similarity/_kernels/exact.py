"""Compute the overlap of one bag with many."""

from pagekin.store import kernel


@kernel
def overlaps(table, terms, weights, offsets, documents, shared, sums):
    """Write Σ min(table, bag) and Σ bag of each document's bag. Cost: the documents' terms, two reads each.

    IndexError for what a damaged collection might hold: compiled code would read beyond its arrays.
    """
    for place in range(len(documents)):
        both = 0.0
        total = 0.0
        document = documents[place]
        if document < 0 or document + 1 >= len(offsets) or offsets[document + 1] > len(terms):
            raise IndexError("there is no such document")
        for i in range(offsets[document], offsets[document + 1]):
            weight = weights[i]
            if terms[i] >= len(table):
                raise IndexError("there is no such term")
            here = table[terms[i]]
            total += weight
            if here > 0.0:
                both += here if here < weight else weight
        shared[place] = both
        sums[place] = total
