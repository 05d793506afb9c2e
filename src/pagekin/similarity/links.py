"""Links between documents, whether these are those of one collection or of the shards of one."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from pagekin.bags import NOWHERE, LinkColumns, ReplacedColumns
from pagekin.store import Array, Numbering, row_entries

_KEY_BITS = 32
"""Between the sort keys of two documents of a base there is room for all documents of a delta."""
_NOT_KNOWN = -1
"""The sort key of a new document that nobody has compared with others yet."""


class ReplacedDocuments:
    """What the delta of a collection replaces in its base: documents by their numbers in the whole."""

    def __init__(
        self, columns: ReplacedColumns, documents: int, own: int, count_before: Callable[[int], int]
    ) -> None:  # fmt: skip
        """Take what a delta with its `own` documents says of a base with so many `documents`.

        `count_before` returns how many documents of the base have an address before that of a document of the delta.
        """
        self.hidden = np.zeros(documents, np.bool_)
        self.hidden[columns.document] = True
        self._by = np.arange(documents)
        self._by[columns.document] = columns.by
        self._count_before = count_before
        self._keys = np.full(documents + own, _NOT_KNOWN)
        self._keys[:documents] = np.arange(1, documents + 1) << _KEY_BITS
        stands = np.asarray(columns.by) != NOWHERE
        self._keys[columns.by[stands]] = self._keys[columns.document[stands]]
        self._out = np.asarray(columns.citing), np.asarray(columns.out_weight)
        self._in = np.asarray(columns.cited), np.asarray(columns.in_weight)

    def current_numbers(self, documents: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the numbers that documents have now, without those that are gone."""
        in_base = documents < len(self._by)
        numbers = documents.copy()
        numbers[in_base] = self._by[documents[in_base]]
        return np.asarray(numbers[numbers != NOWHERE])

    def are_hidden(self, documents: Array) -> npt.NDArray[np.bool_]:
        """Mark the documents that are in the collection no more, or have another number."""
        marked = np.zeros(len(documents), np.bool_)
        in_base = documents < len(self.hidden)
        marked[in_base] = self.hidden[documents[in_base]]
        return marked

    def sort_keys(self, documents: Array) -> npt.NDArray[np.int64]:
        """Return numbers that order documents by their addresses, as their own numbers do in a collection in one piece."""
        for document in np.unique(documents[self._keys[documents] == _NOT_KNOWN]).tolist():
            self._keys[document] = (self._count_before(document) << _KEY_BITS) + document - len(self._by) + 1
        return self._keys[documents]

    def out_weights(self, documents: Array, weights: Array) -> Array:
        """Return the sums of the weights that documents link to, given these sums in the base."""
        return _override(documents, weights, *self._out)

    def in_weights(self, documents: Array, weights: Array) -> Array:
        """Return the sums of the weights that link to documents, given these sums in the base."""
        return _override(documents, weights, *self._in)


def _override(documents: Array, weights: Array, others: Array, their_weights: Array) -> Array:
    """Return the weights of documents; those of `others` are replaced by `their_weights`."""
    if not len(others):
        return weights
    place = np.minimum(np.searchsorted(others, documents), len(others) - 1)
    return np.where(others[place] == documents, their_weights[place], weights)


class DocumentLinks:
    """Links of the documents of a collection, or of shards that follow each other, by their numbers here.

    Shards name documents by their numbers in the whole; `first` is that of the first document here, and `whole` the number of
    documents of the whole. Links to documents that are not here, as of a shard opened alone, are passed over. Where the last part
    is a delta, `replaced` are the documents of the first that are others now.
    """

    def __init__(
        self,
        columns: Sequence[LinkColumns],
        first: int = 0,
        whole: int = 0,
        replaced: "ReplacedDocuments | None" = None,
    ) -> None:
        self._columns, self._replaced = tuple(columns), replaced
        self._numbering = Numbering(len(one.lists) for one in columns)
        self._first, self._most = first, max(whole, len(self._numbering))
        self._all_here = self._most == len(self._numbering)

    def out(self, document: int) -> npt.NDArray[np.int64]:
        """Return the documents that a document links to."""
        part, own = self._numbering.place(document)
        columns = self._columns[part]
        return self._numbers_here(columns.out[int(columns.out_offsets[own]) : int(columns.out_offsets[own + 1])])

    def into(self, document: int) -> npt.NDArray[np.int64]:
        """Return the documents that link to a document."""
        part, own = self._numbering.place(document)
        columns = self._columns[part]
        return self._numbers_here(columns.into[int(columns.in_offsets[own]) : int(columns.in_offsets[own + 1])])

    def all_out(self, documents: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return (the documents that each of some documents links to, one after the other; how many each links to)."""
        return self._reach(documents, [(columns.out_offsets, columns.out) for columns in self._columns], self.out)

    def all_into(self, documents: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return (the documents that link to each of some documents, one after the other; how many link to each)."""
        return self._reach(documents, [(columns.in_offsets, columns.into) for columns in self._columns], self.into)

    def _reach(
        self, documents: Array, columns: Sequence[tuple[Array, Array]], of_one: Callable[[int], Array]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the linked documents of several documents and their numbers, given the (offsets, entries) of each part."""
        if self._replaced or not self._all_here:  # then some links lead elsewhere, or nowhere
            pieces = [of_one(document) for document in documents.tolist()]
            reached = np.concatenate([np.zeros(0, np.int64), *pieces])
            return reached, np.array([len(piece) for piece in pieces], np.int64)
        sizes = self._degrees([offsets for offsets, _entries in columns], documents)
        if len(columns) == 1:
            offsets, entries = columns[0]
            return np.asarray(entries[row_entries(offsets, documents)], np.int64), sizes
        bounds, reached = np.append(0, np.cumsum(sizes)), np.empty(int(sizes.sum()), np.int64)
        rows = np.arange(len(documents))
        for part, places, own in self._numbering.split(documents):
            offsets, entries = columns[part]
            reached[row_entries(bounds, rows[places])] = entries[row_entries(offsets, own)]
        return reached, sizes

    def _numbers_here(self, documents: Array) -> npt.NDArray[np.int64]:
        numbers = np.asarray(documents, np.int64)
        if self._replaced:
            return self._replaced.current_numbers(numbers)
        if self._all_here:
            return numbers
        numbers = numbers - self._first
        return numbers[(numbers >= 0) & (numbers < len(self._numbering))]

    def out_degrees(self, documents: Array) -> npt.NDArray[np.int64]:
        """Return the number of documents that each of some documents links to, in any shard."""
        return self._degrees([columns.out_offsets for columns in self._columns], documents)

    def in_degrees(self, documents: Array) -> npt.NDArray[np.int64]:
        """Return the number of documents, in any shard, that link to each of some documents."""
        return self._degrees([columns.in_offsets for columns in self._columns], documents)

    def _degrees(self, offsets: Sequence[Array], documents: Array) -> npt.NDArray[np.int64]:
        """Return the number of links of documents; raise an IndexError if a damaged collection has invalid numbers."""
        degrees = np.empty(len(documents), np.int64)
        for part, places, own in self._numbering.split(documents):
            of = offsets[part]
            degrees[places] = np.asarray(of[own + 1], np.int64) - np.asarray(of[own], np.int64)
        if bool(np.any((degrees < 0) | (degrees > self._most))):
            raise IndexError("there are no such links")
        return degrees

    def out_weights(self, documents: Array) -> Array:
        """Return the sum of the weights of all documents that each document links to."""
        weights = self._numbering.gather([columns.out_weight for columns in self._columns], documents)
        return self._replaced.out_weights(documents, weights) if self._replaced else weights

    def in_weights(self, documents: Array) -> Array:
        """Return the sum of the weights of all documents that link to each document."""
        weights = self._numbering.gather([columns.in_weight for columns in self._columns], documents)
        return self._replaced.in_weights(documents, weights) if self._replaced else weights

    def in_order(self, documents: Array, values: Array) -> npt.NDArray[np.int64]:
        """Return the places of some rising documents in the order of their values; equal ones by their addresses."""
        if self._replaced:
            return np.lexsort((self._replaced.sort_keys(documents), values))
        return np.argsort(values, kind="stable")

    def only_list(self, documents: Array) -> npt.NDArray[np.bool_]:
        """Mark the documents whose pages only list others."""
        return self._numbering.gather([columns.lists for columns in self._columns], documents) > 0
