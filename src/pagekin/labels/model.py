"""The content label: the summary of a collection or a router for the routers above it (hypursuit-1996, Figure 5).

One label holds what the three abstraction functions need: sub-clusters with terms for query refinement, the heaviest
terms and membership filters of the whole for query routing, names, addresses and heaviest words for browsing.
"""

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from pagekin.clusters import TERM_ATTRIBUTES
from pagekin.errors import PagekinError
from pagekin.labels.membership import TermFilter

LABEL_VERSION = 1
LARGEST_COUNT = 2**53 - 1
"""The largest integer that every JSON reader can hold."""
Count = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_COUNT)]
Line = Annotated[str, msgspec.Meta(max_length=1000)]
LONGEST_WORD = 500
Word = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_WORD)]
Url = Annotated[str, msgspec.Meta(min_length=1, max_length=8000)]
_NO_LEAVES = b',"leaves":[]}'
ADDED_BY = ("operator", "thesaurus")


class LabelError(PagekinError):
    """A label cannot be made, or one from another service is refused; the message says why."""


@dataclass(frozen=True)
class LabelLimits:
    """Limits of a label from another service."""

    bytes: int = 32 << 20
    terms: int = 500_000
    """In the whole and all sub-clusters together."""
    clusters: int = 1_000
    urls: int = 100_000
    filters: int = 10_000
    added: int = 10_000


class Term(NamedTuple):
    """A word under an attribute, how often it occurs, and in how many documents."""

    attribute: str
    word: str
    tf: int
    df: int


class LabelTerms(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Terms in columns. A term's number is its word's place in the label's `words` * 6 + its attribute's place."""

    steps: tuple[Count, ...] = ()
    """The first term's number + 1, then the differences, which are never 0: terms are ascending."""
    tf: tuple[Count, ...] = ()
    df: tuple[Count, ...] = ()


class AddedTerm(msgspec.Struct, frozen=True, forbid_unknown_fields=True, order=True):
    """A term that no document needs to hold: the paper's `literature` for a cluster of poems."""

    attribute: str
    word: Word
    by: str
    """operator or thesaurus."""


class LabelLosses(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The items that the budgets left out."""

    terms: Count = 0
    """Of all sub-clusters together; the filters still know them."""
    clusters: Count = 0
    """Sub-clusters that were merged into others."""
    filters: Count = 0
    """How many filters were left out; without a filter the answer is always "maybe"."""


class SubCluster(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A group of documents that belong together."""

    number: Count
    name: Line
    num_docs: Count
    size: Count
    """Bytes of the documents."""
    num_terms: Count
    """Different (attribute, word) pairs."""
    nodes: tuple[Count, ...] = ()
    """The clusters of the collection that it is made of."""
    urls: tuple[Url, ...] = ()
    """Some of the documents, the most central first."""
    heaviest: tuple[Word, ...] = ()
    """Words for people, the heaviest first; words common in the whole label weigh less."""
    terms: LabelTerms = LabelTerms()
    filters: tuple[TermFilter, ...] = ()
    """Filters over the words of the documents; empty if they were left out."""


class LeafCount(msgspec.Struct, frozen=True, forbid_unknown_fields=True, array_like=True, order=True):
    """A leaf that a label sums, named so that no router counts it twice."""

    identity: Annotated[str, msgspec.Meta(max_length=200)]
    """The same wherever and however often the collection is served."""
    documents: Count
    hops: Annotated[int, msgspec.Meta(ge=0, le=32)]
    """Routers between the leaf and the publisher of the label; leaves that are too far away are forgotten."""


class ContentLabel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A summary of documents. `label_to_json` and `label_from_json` convert it."""

    version: int
    analyser: Annotated[str, msgspec.Meta(max_length=100)]
    """The version of the analysis that made the filters' keys; filters of another version are ignored."""
    name: Line
    num_docs: Count
    size: Count
    num_terms: Count
    exact: bool
    """False if the counts are sums over children that may share documents: upper bounds."""
    lost: LabelLosses = LabelLosses()
    heaviest: tuple[Word, ...] = ()
    added: tuple[AddedTerm, ...] = ()
    words: tuple[Word, ...] = ()
    """All words of all terms below, ascending."""
    terms: LabelTerms = LabelTerms()
    """The heaviest of the whole."""
    filters: tuple[TermFilter, ...] = ()
    clusters: tuple[SubCluster, ...] = ()
    num_words: Count = 0
    """The number of all words in all documents, from which scores take the mean length."""
    waiting: Count = 0
    """How many children, here and below, have not sent their labels yet; a newer label will follow soon."""
    leaves: Annotated[tuple[LeafCount, ...], msgspec.Meta(max_length=10_000)] = ()
    """The leaves that a router's label sums, each once; empty in a leaf's own label and in labels of too many leaves."""

    def rows(self, terms: LabelTerms) -> Iterator[Term]:
        """Yield the terms of the whole or of a sub-cluster, one by one: by word, then by attribute."""
        number = -1
        for step, tf, df in zip(terms.steps, terms.tf, terms.df, strict=True):
            number += step
            word, attribute = divmod(number, len(TERM_ATTRIBUTES))
            yield Term(TERM_ATTRIBUTES[attribute], self.words[word], tf, df)


def without_filters(label: ContentLabel) -> ContentLabel:
    """Return the label without its filters, which are noted as lost."""
    parts = _parts(label)
    lost = msgspec.structs.replace(label.lost, filters=label.lost.filters + sum(len(part.filters) for part in parts))
    clusters = tuple(msgspec.structs.replace(cluster, filters=()) for cluster in label.clusters)
    return msgspec.structs.replace(label, lost=lost, filters=(), clusters=clusters)


def pack_terms(groups: Iterable[Iterable[Term]]) -> tuple[tuple[str, ...], list[LabelTerms]]:
    """Return (the words of all groups of terms, sorted; each group in columns)."""
    listed = [list(group) for group in groups]
    words = sorted({term.word for group in listed for term in group})
    place = {word: number for number, word in enumerate(words)}
    attribute = {name: number for number, name in enumerate(TERM_ATTRIBUTES)}
    packed = []
    for group in listed:
        rows = sorted(
            (place[one.word] * len(TERM_ATTRIBUTES) + attribute[one.attribute], one.tf, one.df) for one in group
        )
        numbers = [-1, *(number for number, _tf, _df in rows)]
        steps = tuple(after - before for before, after in pairwise(numbers))
        packed.append(LabelTerms(steps, tuple(tf for _n, tf, _df in rows), tuple(df for _n, _tf, df in rows)))
    return tuple(words), packed


# -- on the wire --------------------------------------------------------------------------------------------------------


class _VersionOnly(msgspec.Struct):
    version: int


def label_to_json(label: ContentLabel) -> bytes:
    """Encode a label as JSON: the same bytes for the same label."""
    raw = msgspec.json.encode(label)
    # A leaf's label names no leaves, and is written as it was before labels could: its ETag stays.
    return raw if label.leaves else raw.removesuffix(_NO_LEAVES) + b"}"


def label_from_json(data: bytes, limits: LabelLimits | None = None) -> ContentLabel:
    """Decode a label from JSON of another node; raise LabelError with the reason if it is refused."""
    limits = limits or LabelLimits()
    if len(data) > limits.bytes:
        raise LabelError(f"the label has {len(data):,} bytes; the limit is {limits.bytes:,}")
    try:
        version = msgspec.json.decode(data, type=_VersionOnly).version
        if version != LABEL_VERSION:
            raise LabelError(f"the label has version {str(version)[:20]}; this Pagekin reads version {LABEL_VERSION}")
        label = msgspec.json.decode(data, type=ContentLabel)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise LabelError(f"this is not a content label: {error}") from None
    check_label(label, limits)
    return label


def check_label(label: ContentLabel, limits: LabelLimits | None = None) -> None:
    """Refuse, with a LabelError, a label that is over the limits or contradicts itself."""
    limits = limits or LabelLimits()
    _check_amounts(label, limits)
    for text in (label.analyser, label.name, *(cluster.name for cluster in label.clusters)):
        if not is_plain(text):
            raise LabelError(f"the name {text[:40]!r} holds a control character")
    heaviest = (word for part in _parts(label) for word in part.heaviest)
    for word in (*label.words, *heaviest, *(one.word for one in label.added)):
        if not word or not is_word(word):
            raise LabelError(f"the term {word[:40]!r} is empty, or holds a space or a control character")
    if any(a >= b for a, b in pairwise(label.words)):
        raise LabelError("the words are unsorted, or one occurs twice")
    used = np.zeros(len(label.words), np.bool_)
    _check_part(label, label, "the whole", used)
    for number, cluster in enumerate(label.clusters, 1):
        where = f"cluster {number}"
        if cluster.number != number:
            raise LabelError(f"{where} is numbered {cluster.number}")
        for name in ("num_docs", "size", "num_terms"):
            if getattr(cluster, name) > getattr(label, name):
                raise LabelError(f"{where}: {name.replace('_', '-')} is larger than that of the whole label")
        _check_part(label, cluster, where, used)
        _check_urls(cluster, where)
    if not used.all():
        raise LabelError(f"the word {label.words[int(used.argmin())][:40]!r} belongs to no term")
    for one in label.added:
        if one.attribute not in TERM_ATTRIBUTES or one.by not in ADDED_BY:
            raise LabelError(f"the added term {one.word[:40]!r} has an unknown attribute or origin")
    if any(a >= b for a, b in pairwise(label.added)):
        raise LabelError("the added terms are unsorted, or one occurs twice")


def _parts(label: ContentLabel) -> "list[ContentLabel | SubCluster]":
    return [label, *label.clusters]


def _check_amounts(label: ContentLabel, limits: LabelLimits) -> None:
    parts = _parts(label)
    for what, amount, most in (
        ("terms", sum(len(part.terms.steps) for part in parts), limits.terms),
        ("words", len(label.words), limits.terms),
        ("sub-clusters", len(label.clusters), limits.clusters),
        ("addresses", sum(len(cluster.urls) for cluster in label.clusters), limits.urls),
        ("filters", sum(len(part.filters) for part in parts), limits.filters),
        ("added terms", len(label.added), limits.added),
        ("bytes of filters", sum(len(one.bits) for part in parts for one in part.filters), limits.bytes),
    ):
        if amount > most:
            raise LabelError(f"the label has {amount:,} {what}; the limit is {most:,}")


def _check_part(
    label: ContentLabel, part: "ContentLabel | SubCluster", where: str, used: npt.NDArray[np.bool_]
) -> None:
    """Refuse invalid terms and filters of a part; mark the words that the terms use."""
    terms = part.terms
    if not len(terms.steps) == len(terms.tf) == len(terms.df):
        raise LabelError(f"{where}: the columns of terms have different lengths")
    if len(terms.steps) > part.num_terms:
        raise LabelError(f"{where}: {len(terms.steps):,} terms are given, but num-terms is {part.num_terms:,}")
    if terms.steps:
        steps, tf, df = (np.array(column, np.int64) for column in (terms.steps, terms.tf, terms.df))
        if int(steps.min()) < 1:
            raise LabelError(f"{where}: the terms are unsorted, or one occurs twice")
        # No step is larger than the number of terms there can be, so the sum stays small enough for 64 bits.
        most = len(label.words) * len(TERM_ATTRIBUTES)
        if int(steps.max()) > most or int(steps.sum()) > most:
            raise LabelError(f"{where}: a term is numbered beyond the words")
        if int(df.min()) < 1 or bool((tf < df).any()):
            raise LabelError(f"{where}: a term's df is 0, or more than its tf")
        if int(df.max()) > part.num_docs:
            raise LabelError(f"{where}: a term's df is {int(df.max()):,}, but num-docs is {part.num_docs:,}")
        used[(np.cumsum(steps) - 1) // len(TERM_ATTRIBUTES)] = True
    for one in part.filters:
        if fault := one.fault():
            raise LabelError(f"{where}: {fault}")


def _check_urls(cluster: SubCluster, where: str) -> None:
    if len(cluster.urls) > cluster.num_docs:
        raise LabelError(f"{where}: {len(cluster.urls):,} addresses are given, but num-docs is {cluster.num_docs:,}")
    if len(set(cluster.urls)) < len(cluster.urls):
        raise LabelError(f"{where}: an address occurs twice")
    for url in cluster.urls:
        if not url.startswith(("http://", "https://")) or not is_word(url):
            raise LabelError(f"{where}: {url[:60]!r} is not an http(s) address")


def is_plain(text: str) -> bool:
    """Return whether a text has no control characters, direction marks or unprintable characters.

    These are the categories Cc, Cf, Cs, Zl and Zp.
    """
    return text.isprintable() or not any(map(_unsafe, text))


def plain_text(text: str) -> str:
    """Replace control characters and direction marks by spaces."""
    return text if is_plain(text) else "".join(c if is_plain(c) else " " for c in text)


def is_word(text: str) -> bool:
    """Return whether a text is plain and without spaces."""
    return is_plain(text) and not any(map(str.isspace, text))


def is_label_word(text: str) -> bool:
    """Return whether a label may hold a text as a word."""
    return is_word(text) and len(text) <= LONGEST_WORD


def _unsafe(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
