"""The addresses that texts can link to, and the resolution of [[links]] in texts."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pagekin.sources.demo.facts import FactError, FactPage, Facts, Site

PEOPLE_HOST = "people.example"
ATTIC_HOST = "archive.example"
GUIDES = "Guides and Indexes"
PERSONAL = "Society/Personal Pages"

_LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]]+))?\]\]")
_SENTENCE_END = re.compile(r"(?:(?<=[\w)\]\"']{3}[.!?])|(?<=\s[a-z]{2}[.!?]))\s+(?=[^\sa-z])")


@dataclass(frozen=True)
class Target:
    """A page that a text can link to; `path` is its path in the directory, of three levels."""

    ref: str
    url: str
    name: str
    path: str


@dataclass(frozen=True)
class Link:
    """A link in running text."""

    target: Target
    words: str


Inline = list[str | Link]


def url_slug(words: str) -> str:
    """Return words as an address spells them: 'Noble Gases' gives 'noble-gases'."""
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode("ascii").lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def page_url(site: Site, page: FactPage) -> str:
    """Return the address of a fact page."""
    return f"http://{site.host}/{page.slug}.html"


def topic_url(site: Site, topic: str) -> str:
    """Return the address of a topic's hub page."""
    return f"http://{site.host}/topics/{url_slug(topic)}.html"


def split_sentences(paragraph: str) -> list[str]:
    """Split a paragraph into sentences; a period after a short word, as in 'St. Helens', does not end one."""
    return _SENTENCE_END.split(paragraph)


class LinkMap:
    """All targets by reference ('elements:carbon'), and the number of links to each."""

    def __init__(self, facts: Facts) -> None:
        """Collect the targets and resolve every link once; FactError names the dangling ones."""
        self.targets: dict[str, Target] = {}
        for page in _list_targets(facts):
            self.targets[page.ref] = page
        for old in facts.attic:
            like = self.targets.get(old.like)
            if like is None:
                raise FactError(f"attic.toml, page '{old.slug}': like '{old.like}' is not a page")
            url = f"http://{ATTIC_HOST}/attic/{old.slug}.html"
            ref = f"attic:{old.slug}"
            self.targets[ref] = Target(ref, url, old.title, like.path)
        problems: list[str] = []
        self.inlinks: Counter[str] = Counter()
        for where, key, text in _list_texts(facts):
            for link, _ in _LINK.findall(text):
                target = self._find(link, key)
                if target is None:
                    problems.append(f"{where}: dangling link [[{link}]]")
                else:
                    self.inlinks[target.ref] += 1
            if "[[" in _LINK.sub("", text) or "]]" in _LINK.sub("", text):
                problems.append(f"{where}: a [[link]] that is not closed or nested")
        if problems:
            raise FactError("\n".join(problems))

    def _find(self, link: str, key: str) -> Target | None:
        """Return the target of a link in a text of site `key`, or None."""
        ref = link.strip() if ":" in link else f"{key}:{link.strip()}"
        return self.targets.get(ref)

    def resolve(self, text: str, key: str) -> Inline:
        """Split a text of site `key` into words and links."""
        pieces: Inline = []
        end = 0
        for match in _LINK.finditer(text):
            target = self._find(match[1], key)
            if target is None:
                raise FactError(f"dangling link [[{match[1]}]] in a text of '{key}'")
            if match.start() > end:
                pieces.append(text[end : match.start()])
            pieces.append(Link(target, match[2] or target.name))
            end = match.end()
        if end < len(text):
            pieces.append(text[end:])
        return pieces

    def plain_text(self, text: str, key: str) -> str:
        """Return a text with its links replaced by their words."""
        return "".join(p if isinstance(p, str) else p.words for p in self.resolve(text, key))

    def first_words(self, page: FactPage, key: str, most: int = 16) -> str:
        """Return the first words of a page's text, to follow a link to it."""
        words = self.plain_text(split_sentences(page.paragraphs[0])[0], key).split()
        return " ".join(words) if len(words) <= most else " ".join(words[:most]).rstrip(",;:") + " ..."

    def most_linked(self, site: Site, pages: list[FactPage], most: int) -> list[FactPage]:
        """Return the pages with the most links to them, ties in file order."""
        return sorted(pages, key=lambda page: -self.inlinks[f"{site.key}:{page.slug}"])[:most]


def _list_targets(facts: Facts) -> Iterator[Target]:
    """List the pages of the sites and of the people."""
    for site in facts.sites:
        yield Target(f"{site.key}:home", f"http://{site.host}/", site.title, f"/{site.directory}/{GUIDES}")
        for page in site.pages:
            path = f"/{site.directory}/{page.topic}"
            yield Target(f"{site.key}:{page.slug}", page_url(site, page), page.name, path)
    for person in facts.people:
        path = f"/{PERSONAL}/{person.topic}"
        yield Target(f"people:{person.user}", f"http://{PEOPLE_HOST}/~{person.user}/", person.name, path)


def _list_texts(facts: Facts) -> Iterator[tuple[str, str, str]]:
    """List every text that may hold links: its place for messages, the site's key, the text."""
    for site in facts.sites:
        for page in site.pages:
            yield f"{site.key}.toml, page '{page.slug}'", site.key, "\n".join(page.paragraphs)
    for person in facts.people:
        items = [item for _, entries in person.sections for item in entries]
        yield f"people.toml, page '{person.user}'", "people", "\n".join([*person.paragraphs, *items])
    for old in facts.attic:
        yield f"attic.toml, page '{old.slug}'", "attic", "\n".join(old.paragraphs)
    for item in facts.prints:
        yield f"prints.toml, page '{item.page}'", item.page.partition(":")[0], item.closing
