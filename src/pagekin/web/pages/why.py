"""Why pages are alike, for people: the terms that they share, and links with the words around them."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from pagekin.bags.bags import Origin
from pagekin.hypertext import Corpus
from pagekin.labels.model import plain
from pagekin.similarity import RelatedIndex
from pagekin.similarity.explain import Citation, Citations, SharedTerm, cut, shared_terms, tidy
from pagekin.similarity.related import Query, Result
from pagekin.web.collection import Collection, PageLink

Array = npt.NDArray[Any]
Kind = Literal["word", "linked from", "links to"]
TERMS, QUOTES = 8, 2
"""Shared terms and citing pages that are shown of a similar page."""
OPENING = 300
"""Characters of a page's beginning."""
_SENTENCE = re.compile(r"[.!?…:。]")
_LINE = 80
"""Characters from which on a line is taken for running text."""
_READ = 50_000
"""Characters in which that is looked for."""
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
    quotes: list[Quote] = []

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
        return {"text": plain(term), "kind": "word"}
    number = collection.corpus.url_number(term)
    title = collection.link(number).title if number >= 0 else plain(term)
    return {"text": title, "kind": "linked from" if "links" in origins else "links to", "url": term}


def similar_pages(
    collection: Collection, index: RelatedIndex, query: Query, results: Iterable[Result]
) -> list[Similar]:
    """Related pages, each with what it shares with the query and who links to it."""
    citations = Citations(collection.corpus, (int(index.bags.urls[document]) for document in query.documents))
    return [_similar(collection, index, query, one, citations) for one in results]


def _similar(
    collection: Collection, index: RelatedIndex, query: Query, result: Result, citations: Citations
) -> Similar:
    number = collection.corpus.url_number(result.url)
    mine = query.terms, query.weights, query.origins
    document = index.bags.document(number)
    shared = shared_terms(collection.corpus, index.bags, mine, query.total, document, TERMS)
    cited = citations.telling(number, [term.term for term in shared], QUOTES)
    return Similar(
        page=collection.link(number),
        similarity=result.similarity,
        error=result.error,
        copies=list(result.copies[:_COPIES]),
        more_copies=max(0, len(result.copies) - _COPIES),
        terms=[_shared(collection, term) for term in shared],
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
    return set(corpus.kin["anchor.target"][found.start : found.stop].tolist())


def links_from(corpus: Corpus, page: int) -> Array:
    """The addresses that a page links to, in the order of their numbers, without itself."""
    return np.array(sorted(targets_of(corpus, page) - {int(corpus.kin["page.url"][page])}), np.int64)


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
