"""Links between documents, whether these are those of one collection or of the shards of one."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pagekin.bags import LinkColumns
from pagekin.store import Array, Numbering


class DocumentLinks:
    """Links of the documents of a collection, or of shards that follow each other, by their numbers here.

    Shards name documents by their numbers in the whole; `first` is that of the first document here, and `whole` the number of
    documents of the whole. Links to documents that are not here, as of a shard opened alone, are passed over.
    """

    def __init__(self, columns: Sequence[LinkColumns], first: int = 0, whole: int = 0) -> None:
        self._columns = tuple(columns)
        self._numbering = Numbering(len(one.lists) for one in columns)
        self._first, self._most = first, max(whole, len(self._numbering))
        self._all_here = self._most == len(self._numbering)

    def out(self, document: int) -> npt.NDArray[np.int64]:
        """Return the documents that a document links to."""
        part, own = self._numbering.place(document)
        columns = self._columns[part]
        return self._here(columns.out[int(columns.out_offsets[own]) : int(columns.out_offsets[own + 1])])

    def into(self, document: int) -> npt.NDArray[np.int64]:
        """Return the documents that link to a document."""
        part, own = self._numbering.place(document)
        columns = self._columns[part]
        return self._here(columns.into[int(columns.in_offsets[own]) : int(columns.in_offsets[own + 1])])

    def _here(self, documents: Array) -> npt.NDArray[np.int64]:
        numbers = np.asarray(documents, np.int64)
        if self._all_here:
            return numbers
        numbers = numbers - self._first
        return numbers[(numbers >= 0) & (numbers < len(self._numbering))]

    def out_degrees(self, documents: Array) -> npt.NDArray[np.int64]:
        """Return how many documents each of some links to, here or not."""
        return self._degrees([columns.out_offsets for columns in self._columns], documents)

    def in_degrees(self, documents: Array) -> npt.NDArray[np.int64]:
        """Return how many documents, here or not, link to each of some."""
        return self._degrees([columns.in_offsets for columns in self._columns], documents)

    def _degrees(self, offsets: Sequence[Array], documents: Array) -> npt.NDArray[np.int64]:
        """Return how many links documents have; raise IndexError for what a damaged collection might hold."""
        degrees = np.empty(len(documents), np.int64)
        for part, places, own in self._numbering.split(documents):
            of = offsets[part]
            degrees[places] = np.asarray(of[own + 1], np.int64) - np.asarray(of[own], np.int64)
        if bool(np.any((degrees < 0) | (degrees > self._most))):
            raise IndexError("there are no such links")
        return degrees

    def out_weights(self, documents: Array) -> Array:
        """Return the weights of all that each document links to, added up."""
        return self._numbering.gather([columns.out_weight for columns in self._columns], documents)

    def in_weights(self, documents: Array) -> Array:
        """Return the weights of all that link to each document, added up."""
        return self._numbering.gather([columns.in_weight for columns in self._columns], documents)

    def only_list(self, documents: Array) -> npt.NDArray[np.bool_]:
        """Mark the documents whose pages only list others."""
        return self._numbering.gather([columns.lists for columns in self._columns], documents) > 0
