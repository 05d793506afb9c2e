"""The full-text index of a collection: which pages a query matches, and in which order.

Words are answered from postings, memory-mapped arrays of (page, attributes, count) per form, phrases from the places of words
on the pages that hold all of a phrase. Scores are bounded per range of pages, so that of many matches only those are
scored that may be among the first.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Corpus, StreamBatch
from pagekin.store import KinError, RaggedBytes, rank
from pagekin.text import plain
from pagekin.text.fitness import unfit_reason
from pagekin.text.groups import NO_GROUPS, Groups
from pagekin.text.query import Query
from pagekin.text.scoring import (
    ATTRIBUTE_BITS,
    NO_BOUNDS,
    PRESENT,
    Bounds,
    Places,
    Postings,
    Runs,
    Terms,
    corpus_lengths,
)
from pagekin.text.searching import TextSearch
from pagekin.text.statistics import Stats, mean_length, rarity_among, weigh_query

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
T = TypeVar("T")
TEXT_ARRAYS = ("form.", "posting.")
"""Prefixes of the names of the index's arrays."""
_KEPT = 10_000
"""How many forms have their positions cached."""
_NO_RARITY: Array = np.zeros(0)


@dataclass(frozen=True)
class Hits:
    """One section of a ranking."""

    total: int
    """Pages, or documents, that match."""
    pages: list[int]
    """The best first; ties in the order of addresses."""
    scores: list[float]


class Form(NamedTuple):
    """The location of a form's postings."""

    number: int
    """-1 for a form that no page holds."""
    begin: int
    end: int
    row: int
    """Its row of `Bounds`, or -1."""
    pages: int
    """How many pages have it."""
    first: int
    """The start of its positions, in an index that has them."""


def _of_one_type(*columns: Array) -> tuple[Array, ...]:
    """Return columns of numbers with the type of the widest, at least 16 bits.

    Kernels are compiled for each combination of types, which takes ten seconds. Files have the narrowest types, so
    collections of a few pages would each have another combination. Only their columns and the narrower ones of mixed
    widths are copied.
    """
    widest = np.result_type(np.uint16, *(column.dtype for column in columns))
    return tuple(column if column.dtype == widest else _widen(column, widest) for column in columns)


def _widen(column: Array, dtype: np.dtype[Any]) -> Array:
    """Return a copy in another type, read-only as the columns of files are."""
    wide = np.array(column, dtype)
    wide.setflags(write=False)
    return wide


class TextIndex:
    """The full-text index of one collection; several threads may use it at once.

    Pass compiled=False for one-off queries: importing numba costs more than one answer.
    """

    def __init__(self, corpus: Corpus, compiled: bool) -> None:
        self.corpus = corpus
        self.compiled = compiled
        self.forms = RaggedBytes.of(corpus.kin, "form")
        """In UTF-8, by number."""
        self._offsets = corpus.kin["posting.offsets"]
        self._known: dict[str, Form] = {}
        self._rarities: dict[tuple[str | None, str], float] = {}
        self._runs: dict[int, Runs] = {}
        self._grouped: tuple[Array | None, Groups] = None, NO_GROUPS
        """The last documents and their groups, cached: a collection always passes the same ones."""

    @classmethod
    def open(cls, corpus: Corpus, compiled: bool = False) -> "TextIndex":
        """Return the index that is kept with a corpus, or raise a KinError that says what to do."""
        if wrong := unfit_reason(corpus.kin):
            raise KinError(f"{corpus.kin.path} {wrong}. Make it with: pagekin index {corpus.kin.path}")
        return cls(corpus, compiled)

    @classmethod
    def at(cls, path: str | os.PathLike[str], compiled: bool = False) -> "TextIndex":
        """Return the index of the collection at `path`."""
        return cls.open(Corpus.open(path), compiled)

    def __len__(self) -> int:
        return len(self.corpus)

    @cached_property
    def postings(self) -> Postings:
        """Return the entries of all forms, with the lengths of pages and titles."""
        kin = self.corpus.kin
        pages, attributes, counts = (kin[f"posting.{name}"] for name in ("page", "attributes", "count"))
        lengths = corpus_lengths(self.corpus)
        opening_offsets, opening_page = self._openings()
        called_offsets, opening_offsets = _of_one_type(kin["posting.called_offsets"], opening_offsets)
        pages, called_page, opening_page = _of_one_type(pages, kin["posting.called_page"], opening_page)
        called = called_offsets, called_page, kin["posting.called"]
        return Postings(pages, attributes, counts, *lengths, *called, opening_offsets, opening_page)

    def _openings(self) -> tuple[Array, Array]:
        """Return the openings of pages; an index of an earlier version has none."""
        kin = self.corpus.kin
        if "posting.opening_page" not in kin:
            return np.zeros(len(self.forms) + 1, np.uint8), np.zeros(0, np.uint8)
        return kin["posting.opening_offsets"], kin["posting.opening_page"]

    @cached_property
    def bounds(self) -> Bounds:
        """Return upper bounds of what frequent forms add to scores; an index of an earlier version has none."""
        kin = self.corpus.kin
        if "posting.bound_form" not in kin:
            return NO_BOUNDS
        return Bounds(*(kin[f"posting.bound_{name}"] for name in Bounds._fields))

    @cached_property
    def engine(self) -> Any:
        """Return the module of the compiled functions, or of the plain ones."""
        if not self.compiled:
            return plain
        from pagekin.text._kernels import search

        return search

    @cached_property
    def ranking(self) -> Any:
        """Return the module of the compiled functions that rank pages."""
        from pagekin.text._kernels import rank

        return rank

    def look_up(self, form: str) -> "Form":
        """Return the location of a form's entries; cached, since a server is asked for the same words again and again."""
        known = self._known.get(form)
        if known is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            known = self._known[form] = self._find(form)
        return known

    def _find(self, form: str) -> "Form":
        kin, number = self.corpus.kin, self.forms.find(form.encode())
        if number < 0:
            return Form(-1, 0, 0, -1, 0, 0)
        if "form.same" in kin:
            number = int(kin["form.same"][number])
        most = len(kin["posting.page"])  # which only damage exceeds
        begin, end = (min(int(self._offsets[at]), most) for at in (number, number + 1))
        first = int(kin["posting.where_offsets"][number]) if self.has_places else 0
        if "posting.bound_form" in kin:
            row = rank(kin["posting.bound_form"], number)
            if row < len(kin["posting.bound_form"]) and kin["posting.bound_form"][row] == number:
                return Form(number, begin, end, row, int(kin["posting.bound_pages"][row]), first)
        return Form(number, begin, end, -1, int(self.engine.count_pages(self.postings, begin, end, 0)), first)

    def frequency(self, attribute: str | None, form: str) -> int:
        """Return how many pages that are not hidden have a form, under an attribute or any."""
        known, hidden = self.look_up(form), self.corpus.hidden
        if hidden is None and attribute is None:
            return known.pages
        if hidden is None:
            return int(self.engine.count_pages(self.postings, known.begin, known.end, ATTRIBUTE_BITS[attribute]))
        flags = np.zeros(len(self), np.uint8)
        self.engine.mark_pages(self.postings, known.begin, known.end, flags)
        return int(np.count_nonzero((flags & (ATTRIBUTE_BITS[attribute] << 1 or PRESENT) != 0) & ~hidden))

    def rarity(self, pair: tuple[str | None, str]) -> float:
        """Return the inverse frequency of an (attribute, form) pair in this collection; cached as `look_up` is."""
        known = self._rarities.get(pair)
        if known is None:
            if len(self._rarities) >= _KEPT:
                self._rarities.clear()
            known = self._rarities[pair] = rarity_among(self.corpus.alive, self.frequency(*pair))
        return known

    @cached_property
    def words(self) -> int:
        """Return the number of words on all pages that are not hidden."""
        tokens, hidden = self.corpus.pages.tokens, self.corpus.hidden
        return int(tokens[-1]) - (0 if hidden is None else int(np.diff(np.asarray(tokens, np.int64))[hidden].sum()))

    @cached_property
    def mean_length(self) -> float:
        """Return the mean length of pages that are not hidden, in words."""
        return mean_length(self.corpus.alive, self.words)

    def terms(self, pairs: Sequence[tuple[str | None, str]], rarity: Array = _NO_RARITY) -> Terms:
        """Return (attribute, form) pairs in the form that kernels take."""
        return self.terms_and_places(pairs, rarity)[0]

    def terms_and_places(
        self, pairs: Sequence[tuple[str | None, str]], rarity: Array = _NO_RARITY
    ) -> tuple[Terms, Callable[[], Places]]:
        """Return the terms and the positions of their forms, in one array, since a network asks for hundreds per question."""
        number, begin, end, row, _pages, first = self._columns([self.look_up(form) for _attribute, form in pairs])
        bits = [ATTRIBUTE_BITS[attribute] for attribute, _form in pairs]
        if any(bits):
            terms = Terms(begin, end, np.array(bits, np.int64), np.where(bits, -1, number), row, rarity)
        else:
            terms = Terms(begin, end, _no_bits(len(bits)), number, row, rarity)
        return terms, lambda: Places(begin, end, first, self._where)

    @staticmethod
    def _columns(forms: "Sequence[Form]") -> npt.NDArray[np.int64]:
        """Return the fields of forms, a row for each field."""
        flat = np.fromiter(chain.from_iterable(zip(*forms, strict=True)), np.int64)
        return flat.reshape(len(Form._fields), len(forms))

    def parts(self, form: str) -> plain.FormParts:
        """Return what a form adds to the scores of pages, in units of its inverse frequency, for searches outside this class."""
        known = self.look_up(form)
        return plain.parts_of_form(self.postings, known.begin, known.end, 0, known.number, self.mean_length)

    @cached_property
    def has_places(self) -> bool:
        """Return whether the index has the positions of words; one of an earlier version has not."""
        return "posting.where" in self.corpus.kin

    def places_of(self, forms: "list[Form]") -> Places:
        """Return the entries of forms and their positions."""
        _number, begin, end, _row, _pages, first = self._columns(forms)
        return Places(begin, end, first, self._where)

    @cached_property
    def _where(self) -> Array:
        return self.corpus.kin["posting.where"]

    def runs_under(self, bit: int) -> Runs:
        """Return the positions of words under an attribute on all pages; computed for the first phrase that needs them."""
        runs = self._runs.get(bit)
        if runs is None:
            from pagekin.hypertext import runs_under

            ends = np.zeros(len(self), np.int64)
            bounds = np.zeros(runs_under(self.streams, bit, ends, np.zeros(0, np.int64)), np.int64)
            runs_under(self.streams, bit, ends, bounds)
            runs = self._runs[bit] = Runs(ends, bounds)
        return runs

    @cached_property
    def streams(self) -> StreamBatch:
        """Return the stored streams of all pages."""
        return self.corpus.stream_batch()

    def groups(self, documents: Array | None) -> Groups:
        """Return the groups of pages given by `documents`; without any, each page is a group."""
        if documents is None:
            return NO_GROUPS
        if documents is not self._grouped[0]:
            if len(documents) != len(self):
                raise ValueError(f"there are documents of {len(documents):,} pages, and {len(self):,} pages")
            self._grouped = documents, Groups.of(documents)
        return self._grouped[1]

    # -- questions --------------------------------------------------------------------------------------------------

    def count(self, query: Query, keep: Mask | None = None) -> int:
        """Return how many pages match a query."""
        return int(np.count_nonzero(self._unless_damaged(TextSearch(self, query, keep=keep).matches)))

    def matching_pages(self, query: Query, documents: Array) -> Mask:
        """Return whether each page belongs to a document that matches; less work than a search, which ranks them."""
        return self._unless_damaged(TextSearch(self, query, groups=self.groups(documents)).matches)

    def holds(self, form: str) -> bool:
        """Return whether a page that is not hidden has a form."""
        known = self.look_up(form)
        if self.corpus.hidden is None or not known.pages:
            return known.pages > 0
        return not bool(self.corpus.hidden[np.asarray(self.postings.page[known.begin : known.end])].all())

    def stats_of(self, query: Query) -> Stats:
        """Return the statistics of this collection that scores of the query need."""
        return self._unless_damaged(lambda: TextSearch(self, query).stats)

    def search(
        self,
        query: Query,
        limit: int,
        offset: int = 0,
        *,
        stats: Stats | None = None,
        keep: Mask | None = None,
        documents: Array | None = None,
        above: float = 0.0,
    ) -> Hits:
        """Return at most `limit` pages that match a query, the best first, from rank `offset` on.

        `stats` are those of all collections whose answers are to be compared; `keep` tells which pages may match; `documents`
        gives each page's document: its pages are searched as one, and only the best is named (a page with -1 stands for itself).
        Pages that score less than `above` are counted, but not returned.
        """
        if limit < 0 or offset < 0:
            raise ValueError("limit and offset are 0 or more")
        # Outside of what damage may do: statistics of another query are refused.
        weights = weigh_query(query, stats) if stats else None
        asked = TextSearch(self, query, stats, keep, self.groups(documents), weights)
        total, pages, scores = self._unless_damaged(lambda: asked.best(offset + limit))
        last = int(np.count_nonzero(scores >= above)) if above > 0.0 else len(scores)
        return Hits(total, pages[offset:last].tolist(), scores[offset:last].tolist())

    def _unless_damaged(self, answer: Callable[[], T]) -> T:
        """Return the result of a function; turn errors that damaged arrays cause into a KinError."""
        try:
            return answer()
        except (IndexError, ValueError) as error:
            path = self.corpus.kin.path
            raise KinError(f"the full-text index of {path} is damaged: {error}. Run: pagekin check {path}") from error


@lru_cache(64)
def _no_bits(terms: int) -> npt.NDArray[np.int64]:
    """Return the attributes of terms without an attribute, computed once, since most are."""
    return np.zeros(terms, np.int64)
