"""Pages that are searched as one: those of a composite document."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.store import Array

Mask = npt.NDArray[np.bool_]


class Groups(NamedTuple):
    """The documents of several pages; every other page is a group of its own. Kernels take it, too."""

    of_page: npt.NDArray[np.int64]
    """(pages) the number of the page's document, -1 for a page that stands for itself; empty if all do."""
    begin: npt.NDArray[np.int64]
    """(documents + 1) where the pages of each document begin in `members`."""
    members: npt.NDArray[np.int64]
    """The pages of these documents, rising within each."""
    documents: int
    """How many documents these are."""

    @classmethod
    def of(cls, documents: Array) -> "Groups":
        """Return the groups of pages by document; a page with -1 is a group of its own."""
        number = np.asarray(documents).astype(np.int64)
        sizes = np.bincount(number[number >= 0], minlength=1)
        shared = np.flatnonzero((number >= 0) & (sizes[number] > 1))
        if not len(shared):
            return NO_GROUPS
        several, places, counts = np.unique(number[shared], return_inverse=True, return_counts=True)
        of_page = np.full(len(number), -1, np.int64)
        of_page[shared] = places
        begin = np.concatenate([[0], np.cumsum(counts)])
        return cls(of_page, begin, shared[np.argsort(places, kind="stable")], len(several))

    def spread(self, mask: Mask) -> Mask:
        """Extend a mask to all pages of every document that has a page in it."""
        matched = self._documents_in(mask)
        if not matched.any():
            return mask
        mask = mask.copy()
        mask[self.members] = matched[self.of_page[self.members]]
        return mask

    def count(self, mask: Mask) -> int:
        """Return the number of groups with a page in the mask."""
        single = np.count_nonzero(mask) - np.count_nonzero(mask[self.members])
        return int(single + np.count_nonzero(self._documents_in(mask)))

    def _documents_in(self, mask: Mask) -> Mask:
        """Return whether each document has a page in the mask."""
        matched = np.zeros(self.documents, np.bool_)
        matched[self.of_page[self.members[mask[self.members]]]] = True
        return matched


NO_GROUPS = Groups(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64), 0)
"""Each page stands for itself."""
