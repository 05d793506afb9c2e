"""What the pages of a delta are about: as its base says of pages that it has, too, and found anew for the others."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pagekin.clusters.thesaurus import PageTopics
from pagekin.hypertext import Corpus
from pagekin.store import RaggedBytes, join_strings, row_entries

if TYPE_CHECKING:
    from pagekin.bags import BagWorkshop


def topics_over_delta(
    corpus: Corpus, base: PageTopics, page_before: npt.NDArray[np.int64], workshop: "BagWorkshop", threads: int = 1
) -> PageTopics:
    """Return what the pages of a delta are about, given the base's page that each of them was, or -1 for new and changed ones.

    Whether a word may be suggested, the base says of its words. Cost: for the new and changed pages, a pass over the
    delta's words for phrases, and one over the base's different words.
    """
    fresh = np.flatnonzero(page_before < 0)
    own = PageTopics.of(corpus, threads, base.offered is not None, workshop, fresh)
    copied = page_before[page_before >= 0]
    base_offsets = np.asarray(base.offsets).astype(np.int64)
    terms = np.asarray(base.terms)[row_entries(base_offsets, copied)].astype(np.int64)
    # The base's words come first, those that only new pages have after them.
    number_of = {word: number for number, word in enumerate(base.words)}
    own_number = np.array([number_of.get(word, -1) for word in own.words], np.int64)
    unknown = np.flatnonzero(own_number < 0)
    own_number[unknown] = len(base.words) + np.arange(len(unknown))
    every = np.concatenate([terms, own_number[np.asarray(own.terms, np.int64)]])
    used, every = np.unique(every, return_inverse=True)
    old = used[used < len(base.words)]
    new = unknown[used[len(old) :] - len(base.words)]
    words = join_strings([base.words.select(old), own.words.select(new)])
    offered = None
    if base.offered is not None and own.offered is not None:
        offered = np.concatenate([base.offered[old], own.offered[new]])
    sizes = np.empty(len(page_before), np.int64)
    sizes[page_before >= 0] = np.diff(base_offsets)[copied]
    sizes[fresh] = np.diff(own.offsets)
    # Copied pages stand before the others in `every`, and each page takes its own place in the delta.
    order = np.argsort(np.argsort(page_before < 0, kind="stable"), kind="stable")
    starts = np.append(0, np.cumsum(np.concatenate([sizes[page_before >= 0], sizes[fresh]])))
    ordered = every[row_entries(starts, order)]
    return PageTopics(np.append(0, np.cumsum(sizes)), ordered.astype(np.uint32), RaggedBytes(*words), offered)
