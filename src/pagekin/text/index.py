"""The full-text index of a collection: which pages a query finds, and in which order.

Words are found in postings of our own, memory-mapped arrays of (page, attributes, count) per form; phrases by tantivy,
which keeps positions. Scores need how often a word stands where on a page, which tantivy does not tell.
"""

import math
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt

from pagekin.hypertext import WORD_ARRAYS, Attribute, Corpus, page_count
from pagekin.store import Kin, KinError, RaggedBytes
from pagekin.text.analysis import ANALYSER, form_of
from pagekin.text.query import ATTRIBUTES, And, Not, Or, Query, QueryError, Word, wanted_words

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Pages = npt.NDArray[np.int64]
FOLDER = "fulltext"
"""The name of tantivy's folder in the collection."""
TEXT_ARRAYS = ("form.", "posting.")
"""How the names of the arrays begin that the index consists of."""
K1, B = 1.2, 0.75
HEADER = 2
"""What a word in a header counts; any other of the page, but for those of the title, counts 1."""
TITLE = 12.0
"""What the title can add to a score at most, for each word and in its inverse frequency."""
SHORT, LONG = 10.0, 80.0
"""Bytes by which the length of titles counts: in one of LONG - SHORT bytes a word adds half of that."""
_BITS = {name: int(Attribute[name.upper()]) for name in ATTRIBUTES}
_WEIGHTS = np.array([0 if a & Attribute.TITLE else HEADER if a & Attribute.HEADER else 1 for a in range(64)], np.int64)
_Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """What scores need to know of a collection, or of many together."""

    analyser: str
    pages: _Count
    words: _Count
    """Words on all pages together."""
    df: dict[str, _Count]
    """On how many pages each form that was asked for stands: under an attribute as `title:lock`, anywhere as `lock`."""

    @staticmethod
    def sum(parts: Iterable["Stats"]) -> "Stats":
        """The statistics of several collections together; QueryError if they do not count the same forms."""
        every = list(parts)
        if not every or any(part.analyser != every[0].analyser or set(part.df) != set(every[0].df) for part in every):
            raise QueryError("statistics can only be added up if all are for the same query and of the same analyser")
        return Stats(
            analyser=every[0].analyser,
            pages=sum(part.pages for part in every),
            words=sum(part.words for part in every),
            df={key: sum(part.df[key] for part in every) for key in every[0].df},
        )


@dataclass(frozen=True)
class Hits:
    """One stretch of an answer."""

    total: int
    """Pages, or documents, that were found."""
    pages: list[int]
    """The best first; of equal ones the first in the order of addresses."""
    scores: list[float]


class _Posting:
    """The pages of one word, and how much it counts on each."""

    def __init__(self, rows: Array, attributes: Array, counts: Array) -> None:
        self.rows, self._attributes, self._counts = rows, attributes, counts
        """The pages, rising, a row for each kind of place where the word stands on one."""

    @cached_property
    def summed(self) -> tuple[Pages, Pages]:
        """(the pages, each once, how much the word counts there outside of titles)."""
        return _added_up(self.rows, _WEIGHTS[self._attributes] * self._counts)

    @cached_property
    def titled(self) -> tuple[Pages, Pages]:
        """(the pages in whose titles the word stands, how often)."""
        here = (self._attributes & Attribute.TITLE) != 0
        return _added_up(self.rows[here], self._counts[here])


def _added_up(rows: Array, counts: Array) -> tuple[Pages, Pages]:
    """(rows, each once, the sums of their counts)."""
    new = np.ones(len(rows), np.bool_)
    np.not_equal(rows[1:], rows[:-1], out=new[1:])
    starts = new.nonzero()[0]
    sums = np.add.reduceat(counts, starts, dtype=np.int64) if len(starts) else counts.astype(np.int64)
    return rows[starts].astype(np.int64), sums


@dataclass(frozen=True)
class _Groups:
    """Pages that are searched as one: of a document, or a page for itself."""

    documents: Array
    of: npt.NDArray[np.int64]
    """The group of each page."""
    count: int


class TextIndex:
    """The full-text index of one collection; many threads may ask it at once."""

    def __init__(self, corpus: Corpus, tantivy: tuple[Any, Any] | None) -> None:
        kin = corpus.kin
        self.corpus = corpus
        self._tantivy = tantivy
        self._forms = RaggedBytes.of(kin, "form")
        self._offsets = kin["posting.offsets"]
        self._pages, self._attributes, self._counts = (kin[f"posting.{n}"] for n in ("page", "attributes", "count"))
        self._tokens, self._titles = corpus.pages.tokens, corpus.titles.offsets
        self._number = len(corpus)
        self._grouped: _Groups | None = None
        """The groups of the documents that were asked for last: a leaf asks for the same always."""

    @classmethod
    def open(cls, corpus: Corpus, lazily: bool = False) -> "TextIndex":
        """The index that is kept with a corpus, or a KinError that says what to do.

        With `lazily` what is needed for phrases is opened at the first of them, which fails if the collection was made anew
        in between: tantivy keeps a thread for each index that is open, too many for hundreds of collections.
        """
        if wrong := unfit_reason(corpus.kin):
            raise KinError(f"{corpus.kin.path} {wrong}. Make it with: pagekin index {corpus.kin.path}")
        return cls(corpus, None if lazily else _open_tantivy(corpus.kin))

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> "TextIndex":
        """The index of the collection at `path`, also if a writer replaces it just now."""
        for _attempt in range(5):
            corpus = Corpus.open(path)
            try:
                return cls.open(corpus)
            except KinError:
                if Corpus.open(path).kin.manifest == corpus.kin.manifest:
                    raise
        return cls.open(Corpus.open(path))

    def __len__(self) -> int:
        return self._number

    @property
    def documents(self) -> int:
        """Documents in tantivy's folder: one per page, if it is whole."""
        return int(self._phrases[0].num_docs)

    @property
    def _phrases(self) -> tuple[Any, Any]:
        """The (searcher, schema) of tantivy."""
        if self._tantivy is None:
            self._tantivy = _open_tantivy(self.corpus.kin)
        return self._tantivy

    # -- which pages ------------------------------------------------------------------------------------------------

    def _posting(self, attribute: str | None, form: str) -> _Posting:
        number = self._forms.find(form.encode())
        here = slice(int(self._offsets[number]), int(self._offsets[number + 1])) if number >= 0 else slice(0)
        rows, attributes, counts = self._pages[here], self._attributes[here], self._counts[here]
        if attribute:
            under = (attributes & _BITS[attribute]) != 0
            rows, attributes, counts = rows[under], attributes[under], counts[under]
        return _Posting(rows, attributes, counts)

    def _phrase(self, attribute: str | None, forms: Sequence[str]) -> Mask:
        """The pages with forms in a row under an attribute, or in the title or the text."""
        from tantivy import Query as Tantivy

        found = np.zeros(len(self), np.bool_)
        searcher, schema = self._phrases
        for field in [attribute] if attribute else ["title", "text"]:
            with _or_damaged(self.corpus.kin):
                asked = Tantivy.phrase_query(schema, field, list(forms))
                # By the page number, so that its value stands in the answer and no document has to be fetched.
                hits = searcher.search(asked, limit=max(len(self), 1), count=False, order_by_field="page").hits
                found[[page for page, _address in hits]] = True
        return found

    def _matches(self, query: Query, known: dict[str, _Posting], groups: _Groups | None) -> Mask:
        """The pages that a query finds; with `groups`, the groups that it finds."""
        if isinstance(query, And | Or):
            join = np.logical_and if isinstance(query, And) else np.logical_or
            found = self._matches(query.parts[0], known, groups)
            for part in query.parts[1:]:
                join(found, self._matches(part, known, groups), out=found)
            return found
        if isinstance(query, Not):
            return ~self._matches(query.part, known, groups)
        if isinstance(query, Word):
            rows = self._known(query.attribute, form_of(query.word), known).rows
        else:
            forms = [form_of(word) for word in query.words]
            there = all(self._forms.find(form.encode()) >= 0 for form in forms)
            rows = np.flatnonzero(self._phrase(query.attribute, forms)) if there else np.zeros(0, np.int64)
        found = np.zeros(len(self) if groups is None else groups.count, np.bool_)
        found[rows if groups is None else groups.of[rows]] = True
        return found

    def _groups(self, documents: Array) -> _Groups:
        """The groups that documents make; a page with -1 is one for itself."""
        kept = self._grouped
        if kept is None or kept.documents is not documents:
            of = np.asarray(documents).astype(np.int64)
            alone = np.flatnonzero(of < 0)
            most = int(of.max(initial=-1)) + 1
            of[alone] = np.arange(most, most + len(alone))
            kept = self._grouped = _Groups(documents, of, most + len(alone))
        return kept

    def _known(self, attribute: str | None, form: str, known: dict[str, _Posting]) -> _Posting:
        key = form_key(attribute, form)
        if key not in known:
            known[key] = self._posting(attribute, form)
        return known[key]

    def count(self, query: Query, keep: Mask | None = None) -> int:
        """How many pages a query finds."""
        return int(np.count_nonzero(self._kept(query, keep, {})))

    def found(self, query: Query, documents: Array) -> Mask:
        """All pages of the documents that a query finds; less work than a search, which puts them in order."""
        return self._kept(query, None, {}, self._groups(documents))

    def _kept(self, query: Query, keep: Mask | None, known: dict[str, _Posting], groups: _Groups | None = None) -> Mask:
        """The pages that a query finds, of those that may be found; with `groups`, all pages of those that it finds."""
        found = self._matches(query, known, groups)
        if groups is not None:
            found = found[groups.of]
        if keep is not None:
            if keep.shape != found.shape:
                raise ValueError(f"the mask is for {len(keep):,} pages, and there are {len(found):,}")
            found &= keep
        return found

    # -- in which order ---------------------------------------------------------------------------------------------

    def stats_of(self, query: Query) -> Stats:
        """What scores of the query need to know of this collection."""
        return self._stats(query, {})

    def _stats(self, query: Query, known: dict[str, _Posting]) -> Stats:
        df = {
            form_key(attribute, form): len(self._known(attribute, form, known).summed[0])
            for attribute, form in asked_forms(query)
        }
        return Stats(analyser=ANALYSER, pages=len(self), words=int(self._tokens[-1]), df=df)

    def search(
        self,
        query: Query,
        limit: int,
        offset: int = 0,
        *,
        stats: Stats | None = None,
        keep: Mask | None = None,
        documents: Array | None = None,
    ) -> Hits:
        """The pages that a query finds from place `offset` on, at most `limit`, the best first.

        `stats` are those of all collections whose answers are to be compared; `keep` tells which pages may be found;
        `documents` gives each page's document: its pages are searched as one, and only the best is named (a page with -1
        stands for itself).
        """
        if limit < 0 or offset < 0:
            raise ValueError("limit and offset are 0 or more")
        if documents is not None and len(documents) != len(self):
            raise ValueError(f"there are documents of {len(documents):,} pages, and {len(self):,} pages")
        known: dict[str, _Posting] = {}
        groups = self._groups(documents) if documents is not None else None
        pages = self._kept(query, keep, known, groups).nonzero()[0]
        asked = _checked_stats(query, stats) if stats else self._stats(query, known)
        if not len(pages):
            return Hits(0, [], [])
        scores = self._scores(query, asked, known)[pages]
        if groups is not None:
            pages, scores = _best_of_groups(pages, scores, groups.of[pages])
        order = _first_places(scores, offset + limit)[offset:]
        return Hits(len(pages), pages[order].tolist(), scores[order].tolist())

    def _scores(self, query: Query, stats: Stats, known: dict[str, _Posting]) -> npt.NDArray[np.float64]:
        """The score of every page: sums over the distinct words that are looked for, always in one order."""
        total, by_title, named = np.zeros((3, len(self)))
        mean = stats.words / max(stats.pages, 1) or 1.0
        all_named = 0.0
        for attribute, form in asked_forms(query):
            rarity = inverse_frequency(stats, form_key(attribute, form))
            posting = self._known(attribute, form, known)
            pages, weights = posting.summed
            tf = weights.astype(np.float64)
            words = (self._tokens[pages + 1] - self._tokens[pages]).astype(np.float64)
            length = K1 * (1.0 - B + B * (words / mean))
            total[pages] += rarity * (tf * (K1 + 1.0) / (tf + length))
            pages, times = posting.titled
            size = (self._titles[pages + 1] - self._titles[pages]).astype(np.float64)
            by_title[pages] += rarity * (TITLE * times / (times + (size + SHORT) / LONG))
            named[pages] += rarity
            all_named += rarity
        pages = named.nonzero()[0]
        share = np.square(named[pages] / all_named)
        total[pages] += by_title[pages] * (share * share * share)
        return total


def _checked_stats(query: Query, stats: Stats) -> Stats:
    """The statistics, if they tell what scores of the query need; else a QueryError."""
    if stats.analyser != ANALYSER:
        raise QueryError(f"the statistics are of the analyser '{stats.analyser}', and this collection has '{ANALYSER}'")
    for pair in asked_forms(query):
        if form_key(*pair) not in stats.df:
            raise QueryError(f"the statistics say nothing of '{form_key(*pair)}'; ask for them with the same query")
    return stats


def inverse_frequency(stats: Stats, key: str) -> float:
    """How much a form tells: the rarer, the more."""
    df = min(stats.df[key], stats.pages)
    return math.log(1.0 + (stats.pages - df + 0.5) / (df + 0.5))


def form_key(attribute: str | None, form: str) -> str:
    """A form in statistics: `title:lock`, or `lock` for any attribute."""
    return f"{attribute}:{form}" if attribute else form


@lru_cache(4096)
def asked_forms(query: Query) -> tuple[tuple[str | None, str], ...]:
    """The distinct (attribute, form) pairs that a query looks for, in the order of their keys."""
    found = set()
    for part in wanted_words(query):
        words = (part.word,) if isinstance(part, Word) else part.words
        found |= {(part.attribute, form_of(word)) for word in words}
    return tuple(sorted(found, key=lambda pair: form_key(*pair)))


def _first_places(scores: Array, count: int) -> npt.NDArray[np.int64]:
    """The places of the `count` highest scores, the highest first, of equal ones the first."""
    if count <= 0:
        return np.zeros(0, np.int64)
    among = np.arange(len(scores))
    if 4 * count < len(scores):
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        among = np.flatnonzero(scores >= least)
    return among[np.argsort(-scores[among], kind="stable")][:count]


def _best_of_groups(pages: Array, scores: Array, groups: Array) -> tuple[Array, Array]:
    """(the best page of each group, its score), in the order of pages; the first of equal ones."""
    shared = np.flatnonzero(np.bincount(groups)[groups] > 1)
    order = shared[np.lexsort((pages[shared], -scores[shared], groups[shared]))]
    keep = np.ones(len(pages), np.bool_)
    keep[order[1:][groups[order][1:] == groups[order][:-1]]] = False
    return pages[keep], scores[keep]


# -- the index in the collection ------------------------------------------------------------------------------------


def unfit_reason(kin: Kin) -> str:
    """Why the collection's text index cannot be asked, or an empty string; O(1)."""
    facts = kin.facts.get("text")
    if not facts or not kin.has_folder(FOLDER) or "posting.offsets" not in kin:
        return "has no full-text index"
    if facts.get("analyser") != ANALYSER:
        return f"has a full-text index of the analyser '{facts.get('analyser')}', and this Pagekin asks by '{ANALYSER}'"
    files = kin.manifest["files"]
    if facts.get("pages") != page_count(kin) or any(
        facts.get("corpus", {}).get(name) != files[name]["checksum"] for name in WORD_ARRAYS if name in files
    ):
        return "has a full-text index that was made of other pages"
    return ""


def _open_tantivy(kin: Kin) -> tuple[Any, Any]:
    """(searcher, schema) of the collection's tantivy folder, whose files it holds from here on."""
    import tantivy

    folder = kin.folder(FOLDER)
    # tantivy writes a lock file where it reads, and a collection may be read-only: so it reads a folder of links.
    with _or_damaged(kin), _passing_folder() as name:
        files = [folder.resolve(strict=True) / file for file in kin.manifest["folders"][FOLDER]["files"]]
        for file in files:
            (Path(name) / file.name).symlink_to(file)
        index = tantivy.Index.open(name)
        index.config_reader("manual")
        found = index.searcher(), index.schema
        for file in files:
            # It takes a file of positions that a writer has just removed for an empty one, and tells only at a phrase.
            file.stat()
        return found


@contextmanager
def _passing_folder() -> Iterator[str]:
    """A temporary folder in which tantivy may still make a lock file while it is being removed: a thread of its own reloads."""
    name = tempfile.mkdtemp(prefix="pagekin-text-")
    try:
        yield name
    finally:
        for _attempt in range(100):
            shutil.rmtree(name, ignore_errors=True)
            if not Path(name).exists():
                break


@contextmanager
def _or_damaged(kin: Kin) -> Iterator[None]:
    """Turn what tantivy raises, also its panics, into a KinError: it meets a damaged file now and then only at a question."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, OSError | ValueError | IndexError) and type(error).__name__ != "PanicException":
            raise
        raise KinError(f"{kin.folder(FOLDER)} cannot be read: {error}. Run: pagekin check {kin.path}") from error


ARRAYS = TEXT_ARRAYS  # old name
