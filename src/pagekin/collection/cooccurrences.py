"""Counts of words on the pages of a query: as messages between services, checked on arrival."""

from collections.abc import Iterable

import numpy as np

from pagekin.clusters import Cooccurrences
from pagekin.collection.messages import MOST_COOCCURRENCES, CooccurrenceCounts
from pagekin.labels import plain_text


def encode_counts(counts: Cooccurrences, partial: Iterable[str] = ()) -> CooccurrenceCounts:
    """Return counts as a message: the first 300 words."""
    first = counts.first(MOST_COOCCURRENCES)
    both, df = (tuple(int(number) for number in column.tolist()) for column in (first.both, first.df))
    return CooccurrenceCounts(
        pages=first.pages, documents=first.documents, words=first.words, both=both, df=df, partial=tuple(partial)
    )


def decode_counts(message: CooccurrenceCounts, documents: int) -> Cooccurrences:
    """Return the counts of a message, each bounded by the `documents` of its sender, so that no sender can exaggerate."""
    length = min(len(message.words), len(message.both), len(message.df))
    documents = min(message.documents, documents)
    pages = min(message.pages, documents)
    df = np.minimum(np.array(message.df[:length], np.float64), documents)
    both = np.minimum(np.minimum(np.array(message.both[:length], np.float64), df), pages)
    return Cooccurrences(pages, documents, tuple(plain_text(word) for word in message.words[:length]), both, df)
