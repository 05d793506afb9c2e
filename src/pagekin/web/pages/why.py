"""Explain why pages are similar: the terms they share, and links with the words around them."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from pagekin.collection import Hit
from pagekin.hypertext import common_spellings
from pagekin.labels import plain_text
from pagekin.similarity import Citation, cut_text, tidy_text
from pagekin.text import form_of, running_text
from pagekin.web.collection_view import CollectionView, PageLink
from pagekin.web.rendering import host

LinkTo = Callable[[str], PageLink]
"""Gives the link to the page at an address."""
Kind = Literal["word", "linked from", "links to"]
TERMS, QUOTES = 8, 2
"""Shared terms and citing pages that are shown of a similar page."""
OPENING = 300
"""Characters of a page's beginning."""
TEXT = 3_000
"""Characters of a page's text that can be read here."""
_ENDLESS = re.compile(r"(\S{100})\S+")
"""Words that nobody reads to their end."""
_REASONS = 3
"""Words that say why in a line."""
_FEWEST = 3
"""Similar pages from which on it says something that most of them share a word."""
_PAGES_READ = 5
"""Pages that show how words are written: what is shared stands on the first of them, or in links to it."""
_COPIES = 20
"""Copies of a similar page that are named."""


class TermName(Struct, frozen=True, kw_only=True):
    """A term for display: a word, or a citing or linked page."""

    text: str
    """The word as people write it, or the page's title."""
    word: str = ""
    """The word as it is searched for."""
    kind: Kind
    url: str = ""
    """The page's address."""


class Term(TermName, frozen=True, kw_only=True):
    """A term of a page."""

    weight: float
    """Its part of the page's bag."""
    origins: list[str]
    """Where from: content, anchors, title, links, outlinks."""


class SharedTerm(TermName, frozen=True, kw_only=True):
    """A term that two pages share."""

    share: float
    """Its part of all that is shared."""
    contribution: float
    """What it adds to the similarity."""
    origins: list[str]
    """Where the similar page has it from."""
    asked_origins: list[str]
    """Where the page that was asked about has it from."""


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
    """A similar page, and why."""

    page: PageLink
    similarity: float
    error: float = 0.0
    """Half the width of the 95 % interval of an estimate; 0 when the similarity is exact."""
    copies: list[str] = []
    """Near copies and other addresses, folded under it."""
    more_copies: int = 0
    """Those that are not named."""
    terms: list[SharedTerm] = []
    reasons: list[SharedTerm] = []
    """Words in which it is like what was asked about and most of the list is not, if there are such."""
    quotes: list[Quote] = []
    signals: list[str] = []
    """What makes up its similarity, the most first, each with its part."""
    path: tuple[str, ...] = ()
    """In a network: names of services that lead to it."""


def link_by_address(url: str) -> PageLink:
    """Return a link to a page of which only the address is known, named by its last part."""
    path = url.partition("://")[2].partition("?")[0].partition("/")[2]
    last = unquote(path.rstrip("/").rpartition("/")[2]).rpartition(".")
    name = " ".join(plain_text(last[0] or last[2]).replace("_", " ").split())
    says_something = name and not name.isdigit() and name.lower() not in ("index", "default", "home")
    return PageLink(url=url, title=name if says_something else url, site=host(url))


def describe_term(term: str, origins: Sequence[str], link_to: LinkTo) -> dict[str, Any]:
    """Return a term for display; for the address of a page, the page's title."""
    if "://" not in term:
        return {"text": plain_text(term), "word": term, "kind": "word"}
    return {"text": link_to(term).title, "kind": "linked from" if "links" in origins else "links to", "url": term}


def terms_of(terms: Iterable[tuple[str, float, list[str]]], link_to: LinkTo) -> list[Term]:
    """Return (term, weight, origins) of a bag, for display."""
    return [
        Term(**describe_term(term, origins, link_to), weight=weight, origins=origins) for term, weight, origins in terms
    ]


def similar_pages(hits: Iterable[Hit], link_to: LinkTo, network: bool = False) -> list[Similar]:
    """Return a service's related pages with their reasons; in a `network`, with the way to each."""
    return choose_reasons([_similar_page(hit, link_to, network) for hit in hits])


def _similar_page(hit: Hit, link_to: LinkTo, network: bool) -> Similar:
    terms = [
        SharedTerm(
            **describe_term(term.term, term.origins, link_to),
            share=term.share,
            contribution=term.contribution,
            origins=list(term.origins),
            asked_origins=list(term.query_origins),
        )
        for term in hit.terms
    ]
    title = plain_text(hit.title) or hit.url
    return Similar(
        page=PageLink(url=hit.url, title=title, site=host(hit.url), date=hit.date, captured=hit.captured),
        similarity=hit.similarity,
        error=hit.error,
        copies=list(hit.copies[:_COPIES]),
        more_copies=max(0, len(hit.copies) - _COPIES),
        terms=terms[:TERMS],
        reasons=[term for term in terms if term.kind == "word"],
        quotes=[quote(one, link_to(one.source)) for one in hit.citations[:QUOTES]],
        signals=[signal.describe(hit.similarity) for signal in hit.signals],
        path=hit.path if network else (),
    )


def choose_reasons(similar: Sequence[Similar]) -> list[Similar]:
    """Return similar pages with the most specific shared words, each in one form.

    A word that most of them share says little, since a template may have it, unless it is in a title.
    """
    counts = Counter(term.word for one in similar for term in one.reasons)
    common = {word for word, count in counts.items() if len(similar) >= _FEWEST and 2 * count > len(similar)}

    def says_much(term: SharedTerm) -> bool:
        return term.word not in common or "title" in (*term.origins, *term.asked_origins)

    def choose(terms: Sequence[SharedTerm]) -> list[SharedTerm]:
        forms: dict[str, SharedTerm] = {}
        for term in list(filter(says_much, terms)) or terms:
            forms.setdefault(form_of(term.word), term)
        return list(forms.values())[:_REASONS]

    return [replace(one, reasons=choose(one.reasons)) for one in similar]


def write_words(
    collection: CollectionView, subjects: Iterable[int], terms: list[Term], similar: list[Similar]
) -> tuple[list[Term], list[Similar]]:
    """Return the similar pages with words spelt as on these pages and their subjects."""
    corpus = collection.corpus
    numbers = [*subjects, *(corpus.url_number(one.page.url) for one in similar)]
    pages = [page for number in numbers for page in corpus.pages_of(number)[:1]][:_PAGES_READ]
    every: list[Term | SharedTerm] = [*terms, *(term for one in similar for term in (*one.terms, *one.reasons))]
    words = list(dict.fromkeys(term.word for term in every if term.kind == "word"))
    forms = dict(zip(words, map(plain_text, common_spellings(corpus, words, pages)), strict=True))

    def rewrite(some: list[SharedTerm]) -> list[SharedTerm]:
        return [replace(term, text=forms.get(term.word, term.text)) for term in some]

    return [replace(term, text=forms.get(term.word, term.text)) for term in terms], [
        replace(one, terms=rewrite(one.terms), reasons=rewrite(one.reasons)) for one in similar
    ]


# -- links, with the words around them ------------------------------------------------------------------------------------


def quote(citation: Citation, page: PageLink) -> Quote:
    """Return a citation on a page, for display."""
    return Quote(
        page=page,
        before=plain_text(citation.left),
        text=plain_text(citation.text),
        after=plain_text(citation.right),
        both=citation.cites_both,
    )


def opening_of(collection: CollectionView, page: int) -> str:
    """Return the start of a page's running text; if all lines are short, as in menus, as it was stored."""
    return plain_text(cut_text(tidy_text(running_text(collection.corpus, page, 2 * OPENING)), OPENING))


def text_of(collection: CollectionView, page: int) -> str:
    """Return the start of a page's plain text, line by line, without the title."""
    text = collection.corpus.text_bytes(page)[0][: 4 * TEXT].decode("utf-8", "ignore")[:TEXT]
    tidy = (plain_text(tidy_text(_ENDLESS.sub(r"\1…", line))).strip() for line in text.split("\n"))
    lines = [line for line in tidy if line]
    return "\n".join(lines[1:] if lines[:1] == [collection.page_link(page).title] else lines)
