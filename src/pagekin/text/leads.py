"""Leads: the paragraph in which a page begins to say what it is, "Jupiter is the largest planet"."""

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Corpus, DecodedPage
from pagekin.store import batch_ranges
from pagekin.text.analysis import Forms
from pagekin.text.questions import IDLE

_BATCH_WORDS = 1 << 20


def read_leads(corpus: Corpus, forms: Forms) -> npt.NDArray[np.int64]:
    """Return form * pages + page of the words in the leads of all pages, without those that say nothing.

    A lead is the first paragraph of the text near whose beginning a word of the title stands.
    """
    from pagekin.text._kernels.leads import LONGEST, find_leads

    idle = np.zeros(len(corpus.terms), np.bool_)
    numbers = [corpus.term_number(word) for word in sorted(IDLE)]
    idle[[number for number in numbers if number >= 0]] = True
    found = [np.zeros(0, np.int64)]
    for first, last in batch_ranges(corpus.pages.tokens, _BATCH_WORDS):
        streams = corpus.stream_batch(first, last)
        pages, said = np.empty((2, LONGEST * (last - first)), np.int64)
        count = find_leads(streams, DecodedPage.for_longest(streams), forms.of_term, idle, pages, said)
        found.append(np.unique(said[:count] * max(len(corpus), 1) + pages[:count] + first))
    return np.concatenate(found)
