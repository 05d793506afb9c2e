"""Why pages are alike, for people: the terms that they share, and links with the words around them."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from pagekin.bags.bags import Origin
from pagekin.hypertext import Corpus
from pagekin.hypertext.writing import written
from pagekin.labels.model import plain
from pagekin.similarity import Query, RelatedIndex, Result
from pagekin.similarity.explain import Citation, Citations, SharedTerm, cut, shared_terms, tidy
from pagekin.web.collection import Collection, PageLink

Array = npt.NDArray[Any]
Kind = Literal["word", "linked from", "links to"]
TERMS, QUOTES = 8, 2
"""Shared terms and citing pages that are shown of a similar page."""
OPENING = 300
"""Characters of a page's beginning."""
TEXT = 3_000
"""Characters of a page's text that can be read here."""
_SENTENCE = re.compile(r"[.!?…:。]")
_ENDLESS = re.compile(r"(\S{100})\S+")
"""Words that nobody reads to their end."""
_LINE = 80
"""Characters from which on a line is taken for running text."""
_READ = 50_000
"""Characters in which that is looked for."""
_ALIKE = (0.3, "very alike"), (0.1, "fairly alike"), (-1.0, "somewhat alike")
_REASONS, _LOOKED_AT = 3, 20
"""Words that tell why in a line, and shared terms among which they are looked for."""
_FEWEST = 3
"""Similar pages from which on it tells something that most of them share a word."""
_TEXT_SEEN = 5
"""Pages that are looked at to see how they write words: what is shared stands on the first of them, or in links to it."""
_COPIES = 20
"""Copies of a similar page that are named."""


FROM = {
    "content": "text",
    "title": "title",
    "anchors": "link words",
    "links": "links to it",
    "outlinks": "its links",
}
"""Where a term is from, for people."""


def where_from(origins: Iterable[str]) -> str:
    """Origins in words."""
    return ", ".join(FROM.get(one, one) for one in origins)


def percent(part: float) -> str:
    """A part of a whole: 12 %, but 1.2 %."""
    return f"{part:.0%}".replace("%", " %") if part >= 0.0995 or not part else f"{part:.1%}".replace("%", " %")


class Term(Struct, frozen=True, kw_only=True):
    """Something by which a page is known: a word, or a page that links to it or that it links to."""

    text: str
    """The word as people write it, or the page's title."""
    word: str = ""
    """The word as it is searched for."""
    kind: Kind
    url: str = ""
    """The page's address."""
    weight: float
    """Its part of all that the page is known by."""
    origins: list[str]
    """Where from: content, anchors, title, links, outlinks."""

    @property
    def where(self) -> str:
        """Its origins in words."""
        return where_from(self.origins)


class Shared(Struct, frozen=True, kw_only=True):
    """Something that two pages share."""

    text: str
    word: str = ""
    """The word as it is searched for."""
    kind: Kind
    url: str = ""
    share: float
    """Its part of all that is shared."""
    contribution: float
    """What it adds to the similarity."""
    origins: list[str]
    """Where the similar page has it from."""
    asked_origins: list[str]
    """Where the page that was asked about has it from."""

    @property
    def where(self) -> str:
        """Where the similar page has it from, in words."""
        return where_from(self.origins)

    @property
    def percent(self) -> str:
        """Its share."""
        return percent(self.share)


class Quote(Struct, frozen=True, kw_only=True):
    """A link, with the text around it."""

    page: PageLink
    """On which the link stands."""
    before: str
    text: str
    """The link's own words."""
    after: str
    both: bool = False
    """Whether the page links to the page that was asked about, too."""


class Similar(Struct, frozen=True, kw_only=True):
    """A similar page, and why it is one."""

    page: PageLink
    similarity: float
    error: float = 0.0
    """Half the width of the 95 % interval of an estimate; 0 when the similarity is exact."""
    copies: list[str] = []
    """Near copies and other addresses, folded under it."""
    more_copies: int = 0
    """Those that are not named."""
    terms: list[Shared] = []
    reasons: list[Shared] = []
    """Words in which it is like what was asked about and most of the list is not, if there are such."""
    quotes: list[Quote] = []

    @property
    def linked_by(self) -> PageLink | None:
        """The page that links to both, if one is known."""
        return next((quote.page for quote in self.quotes if quote.both), None)

    @property
    def how_alike(self) -> str:
        """How similar it is, in words."""
        return next(word for least, word in _ALIKE if self.similarity >= least)

    @property
    def percent(self) -> str:
        """How similar it is."""
        return percent(self.similarity)

    @property
    def words(self) -> list[Shared]:
        """The words among what is shared."""
        return [term for term in self.terms if term.kind == "word"]


def terms_of(collection: Collection, index: RelatedIndex, document: int, count: int) -> list[Term]:
    """What weighs most in a page's bag."""
    return [
        Term(**_named(collection, term, origins), weight=weight, origins=origins)
        for term, weight, origins in index.heaviest(document, count)
    ]


def _named(collection: Collection, term: str, origins: Sequence[str]) -> dict[str, Any]:
    """A term as people see it: of the address of a page, the page's title."""
    if "://" not in term:
        return {"text": plain(term), "word": term, "kind": "word"}
    number = collection.corpus.url_number(term)
    title = collection.link(number).title if number >= 0 else plain(term)
    return {"text": title, "kind": "linked from" if "links" in origins else "links to", "url": term}


def similar_pages(
    collection: Collection, index: RelatedIndex, query: Query, results: Iterable[Result]
) -> list[Similar]:
    """Related pages, each with what it shares with the query and who links to it."""
    citations = index.citations(query)
    return telling([_similar(collection, index, query, one, citations) for one in results])


def telling(similar: Sequence[Similar]) -> list[Similar]:
    """Similar pages with the words that tell why of each: a word that most of them share tells little of one."""
    held = Counter(term.word for one in similar for term in one.reasons)
    common = {word for word, count in held.items() if len(similar) >= _FEWEST and 2 * count > len(similar)}
    return [
        replace(one, reasons=([term for term in one.reasons if term.word not in common] or one.reasons)[:_REASONS])
        for one in similar
    ]


def as_written(
    collection: Collection, asked: Iterable[int], terms: list[Term], similar: list[Similar]
) -> tuple[list[Term], list[Similar]]:
    """The same with words as the pages that were asked about, and those that are like them, write them."""
    corpus = collection.corpus
    numbers = [*asked, *(corpus.url_number(one.page.url) for one in similar)]
    pages = [page for number in numbers for page in corpus.pages_of(number)[:1]][:_TEXT_SEEN]
    every: list[Term | Shared] = [*terms, *(term for one in similar for term in (*one.terms, *one.reasons))]
    words = list(dict.fromkeys(term.word for term in every if term.kind == "word"))
    forms = dict(zip(words, map(plain, written(corpus, words, pages)), strict=True))

    def of_shared(some: list[Shared]) -> list[Shared]:
        return [replace(term, text=forms.get(term.word, term.text)) for term in some]

    return [replace(term, text=forms.get(term.word, term.text)) for term in terms], [
        replace(one, terms=of_shared(one.terms), reasons=of_shared(one.reasons)) for one in similar
    ]


def _similar(
    collection: Collection, index: RelatedIndex, query: Query, result: Result, citations: Citations
) -> Similar:
    number = collection.corpus.url_number(result.url)
    mine = query.terms, query.weights, query.origins
    document = index.bags.document(number)
    shared = shared_terms(collection.corpus, index.bags, mine, query.total, document, _LOOKED_AT)
    cited = citations.best_for(number, [term.term for term in shared[:TERMS]], QUOTES)
    terms = [_shared(collection, term) for term in shared]
    return Similar(
        page=collection.link(number),
        similarity=result.similarity,
        error=result.error,
        copies=list(result.copies[:_COPIES]),
        more_copies=max(0, len(result.copies) - _COPIES),
        terms=terms[:TERMS],
        reasons=[term for term in terms if term.kind == "word"],
        quotes=[quoted(collection, one) for one in cited],
    )


def _shared(collection: Collection, term: SharedTerm) -> Shared:
    return Shared(
        **_named(collection, term.term, term.origins),
        share=term.share,
        contribution=term.contribution,
        origins=list(term.origins),
        asked_origins=list(term.query_origins),
    )


def common_terms(collection: Collection, index: RelatedIndex, documents: Sequence[int], count: int) -> list[Term]:
    """What all of some pages hold, each by its least weight in them, the heaviest first."""
    terms, least = index.bags.bag(documents[0])
    origins = index.bags.origins(documents[0])
    for document in documents[1:]:
        theirs, weights = index.bags.bag(document)
        common, mine, other = np.intersect1d(terms, theirs, assume_unique=True, return_indices=True)
        terms, least = common, np.minimum(least[mine], weights[other])
        origins = origins[mine] | index.bags.origins(document)[other]
    found = []
    for place in np.lexsort((terms, -least))[:count].tolist():
        names = Origin(int(origins[place])).names()
        shown = index.bags.shown(collection.corpus, int(terms[place]))
        found.append(Term(**_named(collection, shown, names), weight=float(least[place]), origins=names))
    return found


# -- links, with the words around them ------------------------------------------------------------------------------------


def targets_of(corpus: Corpus, page: int) -> set[int]:
    """The addresses that a page links to, itself too if it does."""
    found = corpus.anchors_out(page)
    return set(corpus.anchors.target[found.start : found.stop].tolist())


def links_from(corpus: Corpus, page: int) -> Array:
    """The addresses that a page links to, in the order of their numbers, without itself."""
    return np.array(sorted(targets_of(corpus, page) - {int(corpus.pages.url[page])}), np.int64)


def quoted(collection: Collection, citation: Citation) -> Quote:
    """A citation for people."""
    return Quote(
        page=collection.page_link(citation.page),
        before=plain(citation.left),
        text=plain(citation.text),
        after=plain(citation.right),
        both=citation.cites_both,
    )


def opening(collection: Collection, page: int) -> str:
    """How a page's running text begins; as it was kept if all its lines are short, as those of menus are."""
    text = collection.corpus.text_bytes(page)[0][: 2 * _READ].decode("utf-8", "ignore")[:_READ]
    at = 0
    for line in text.split("\n"):
        if len(line) >= _LINE and _SENTENCE.search(line):
            return plain(cut(tidy(text[at : at + 2 * OPENING]), OPENING))
        at += len(line) + 1
    return plain(cut(tidy(collection.leaf.opening(page)), OPENING))


def text_of(collection: Collection, page: int) -> str:
    """The beginning of a page's plain text, line by line, without the title."""
    text = collection.corpus.text_bytes(page)[0][: 4 * TEXT].decode("utf-8", "ignore")[:TEXT]
    lines = [line for line in (plain(tidy(_ENDLESS.sub(r"\1…", line))).strip() for line in text.split("\n")) if line]
    return "\n".join(lines[1:] if lines[:1] == [collection.page_link(page).title] else lines)
