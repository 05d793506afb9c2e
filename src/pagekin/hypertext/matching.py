"""Compare the pages of two states of a collection by their addresses."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.corpus import Corpus


class PageChanges(NamedTuple):
    """The numbers of added, changed and removed pages."""

    added: int = 0
    changed: int = 0
    removed: int = 0


def match_pages(before: Sequence[Corpus], after: Sequence[Corpus]) -> npt.NDArray[np.int64]:
    """Return, for each page of a collection, the newest capture of its address in another; -1 if there is none.

    Each is one corpus, or those of its shards in their order; pages have their numbers in the whole. Pages stand in the order
    of their addresses, so one pass over both is enough, and takes no memory for the addresses.
    """
    matches = np.full(sum(map(len, after)), -1, np.int64)
    others = _addresses(before)
    other, number = next(others, (None, -1))
    for address, page in _addresses(after):
        while other is not None and other < address:
            other, number = next(others, (None, -1))
        if other == address:
            matches[page] = number
    return matches


def compare_pages(before: Sequence[Corpus], after: Sequence[Corpus]) -> PageChanges:
    """Count added, changed and removed addresses; of several captures, compare the newest."""
    matches, newest = match_pages(before, after), _newest(after)
    known = newest & (matches >= 0)
    old, new = (np.concatenate([np.asarray(corpus.pages.digest) for corpus in some]) for some in (before, after))
    changed = int(np.count_nonzero(old[matches[known]] != new[known]))
    kept = int(np.count_nonzero(known))
    return PageChanges(int(np.count_nonzero(newest)) - kept, changed, int(np.count_nonzero(_newest(before))) - kept)


def _addresses(corpora: Sequence[Corpus]) -> Iterator[tuple[bytes, int]]:
    """Yield the address and the number of each page."""
    first = 0
    for corpus in corpora:
        yield from ((corpus.urls[url], first + page) for page, url in enumerate(corpus.pages.url.tolist()))
        first += len(corpus)


def _newest(corpora: Sequence[Corpus]) -> npt.NDArray[np.bool_]:
    """Mark the newest capture of each address, which comes first."""
    return np.concatenate(
        [np.diff(np.asarray(corpus.pages.url).astype(np.int64), prepend=-1) > 0 for corpus in corpora]
    )
