"""Pages that are searched as one: those of a composite document."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Groups:
    """The documents of several pages; every other page is a group of its own."""

    documents: Array
    """The document of each page as it was given, -1 for none."""
    shared: Mask
    """Whether each page belongs to a document of several pages."""
    members: npt.NDArray[np.int64]
    """The pages for which that holds, document after document."""
    member_of: npt.NDArray[np.int64]
    """The document of each member, numbered from 0."""

    @classmethod
    def of(cls, documents: Array) -> "Groups":
        """Return the groups that the documents of pages make."""
        number = np.asarray(documents).astype(np.int64)
        sizes = np.bincount(number[number >= 0], minlength=1)
        shared = (number >= 0) & (sizes[number] > 1)
        members = np.flatnonzero(shared)
        members = members[np.argsort(number[members], kind="stable")]
        return cls(documents, shared, members, np.unique(number[members], return_inverse=True)[1])

    def spread(self, mask: Mask) -> Mask:
        """Return a mask with all pages of the documents of which it has one."""
        if not len(self.members) or not mask[self.members].any():
            return mask
        matched = np.zeros(int(self.member_of[-1]) + 1, np.bool_)
        matched[self.member_of[mask[self.members]]] = True
        mask = mask.copy()
        mask[self.members] = matched[self.member_of]
        return mask

    def count(self, mask: Mask) -> int:
        """Return how many groups have a page in the mask."""
        some = self.member_of[mask[self.members]]
        return int(np.count_nonzero(mask)) - len(some) + int(np.count_nonzero(np.diff(some))) + bool(len(some))

    def best(self, pages: Array, scores: Array) -> tuple[Array, Array]:
        """Return (pages, scores) with only the best page of each group, the first of equal ones, in the order of pages."""
        places = np.flatnonzero(self.shared[pages])
        if len(places) < 2:
            return pages, scores
        of = self.documents[pages[places]]
        order = np.lexsort((pages[places], -scores[places], of))
        keep = np.ones(len(pages), np.bool_)
        keep[places[order[1:]][of[order][1:] == of[order][:-1]]] = False
        return pages[keep], scores[keep]
