"""Read the forms of link texts from word streams."""

from pagekin.hypertext import decode_stream
from pagekin.store import kernel


@kernel
def read_link_texts(streams, decoded, form_of, page, start, length, said):
    """Write the forms of the words on links to `said`, link after link.

    Link i stands on page `page[i]` (rising) of the batch `streams`, has `length[i]` words, and the first is word `start[i]` of
    its page; `decoded` is the `DecodedPage` for the batch. Cost: each page that has links is decoded once.
    """
    at, last, words = 0, -1, 0
    for i in range(len(page)):
        if page[i] != last:
            last = page[i]
            words, _boundaries = decode_stream(streams, last, decoded)
        for word in range(start[i], start[i] + length[i]):
            said[at] = form_of[decoded.terms[word if word < words else 0]]  # but for damage it is less
            at += 1
