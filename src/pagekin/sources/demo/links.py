"""The addresses that texts can link to, and the resolution of [[links]] in texts."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pagekin.sources.demo.facts import FactPage, Facts, Site

_LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]]+))?\]\]")
_SENTENCE_END = re.compile(r"(?:(?<=[\w)\]\"']{3}[.!?])|(?<=\s[a-z]{2}[.!?]))\s+(?=[^\sa-z])")


@dataclass(frozen=True)
class Target:
    """A page that a text can link to."""

    url: str
    name: str


@dataclass(frozen=True)
class Link:
    """A link in running text."""

    target: Target
    words: str


def split_sentences(paragraph: str) -> list[str]:
    """Split a paragraph into sentences; a period after a short word, as in 'St. Helens', does not end one."""
    return _SENTENCE_END.split(paragraph)


class LinkMap:
    """All targets by reference ('elements:carbon'), and the number of links to each address."""

    def __init__(self, facts: Facts) -> None:
        """Collect the targets and count the links to each."""
        self.targets = dict(_list_targets(facts))
        self.inlinks = Counter(
            link.target.url for key, texts in _list_texts(facts) for text in texts for link in self.links_of(text, key)
        )

    def resolve(self, text: str, key: str) -> Iterator[str | Link]:
        """Split a text of site `key` into words and links."""
        pieces = _LINK.split(text)
        yield pieces[0]
        for ref, words, after in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
            target = self.targets[ref if ":" in ref else f"{key}:{ref}"]
            yield Link(target, words or target.name)
            yield after

    def links_of(self, text: str, key: str) -> Iterator[Link]:
        """Return the links in a text of site `key`."""
        return (piece for piece in self.resolve(text, key) if isinstance(piece, Link))

    def first_words(self, page: FactPage, key: str, most: int = 16) -> str:
        """Return the first words of a page's text, to follow a link to it."""
        pieces = self.resolve(split_sentences(page.paragraphs[0])[0], key)
        words = "".join(piece if isinstance(piece, str) else piece.words for piece in pieces).split()
        return " ".join(words) if len(words) <= most else " ".join(words[:most]).rstrip(",;:") + " ..."

    def most_linked(self, site: Site, pages: list[FactPage], most: int) -> list[FactPage]:
        """Return the pages with the most links to them, ties in file order."""
        return sorted(pages, key=lambda page: -self.inlinks[site.page_url(page)])[:most]

    def links_elsewhere(self, site: Site, pages: list[FactPage]) -> dict[Target, FactPage]:
        """Return the pages of other sites that some pages link to, each with the first page that does."""
        mentions: dict[Target, FactPage] = {}
        for page in pages:
            for link in (link for text in page.paragraphs for link in self.links_of(text, site.key)):
                if not link.target.url.startswith(site.root):
                    mentions.setdefault(link.target, page)
        return mentions


def _list_targets(facts: Facts) -> Iterator[tuple[str, Target]]:
    """List the pages of the sites, of the people and of the attic by reference."""
    for site in facts.sites:
        yield f"{site.key}:home", Target(site.root, site.title)
        for page in site.pages:
            yield f"{site.key}:{page.slug}", Target(site.page_url(page), page.name)
    for person in facts.people:
        yield f"people:{person.user}", Target(person.url, person.name)
    for old in facts.attic:
        yield f"attic:{old.slug}", Target(f"http://archive.example/attic/{old.slug}.html", old.title)


def _list_texts(facts: Facts) -> Iterator[tuple[str, list[str]]]:
    """List what may hold links: the site's key, the texts."""
    yield from ((site.key, page.paragraphs) for site in facts.sites for page in site.pages)
    yield from (("people", person.texts) for person in facts.people)
    yield from (("attic", old.paragraphs) for old in facts.attic)
    yield from ((item.page.partition(":")[0], [item.closing]) for item in facts.prints)
