"""The facts of the demo web, as its TOML files hold them."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from importlib import resources
from typing import Annotated, Literal, TypeVar

from msgspec import Meta, Struct, convert

PEOPLE_HOME = "http://people.example/"

T = TypeVar("T")
Words = Annotated[str, Meta(min_length=1)]
Look = Literal["modern", "soup", "xhtml", "based", "framed", "windows"]
"""A style of HTML; the template of this name holds the frame of such a page."""


class Text(Struct):
    """A text with [[links]]; blank lines part its paragraphs."""

    text: Words

    @property
    def paragraphs(self) -> list[str]:
        """Return the paragraphs, each on one line."""
        return [" ".join(block.split()) for block in self.text.strip().split("\n\n")]


class FactPage(Text):
    """A page about one real thing: facts and a short text."""

    slug: Words
    name: Words
    topic: Words
    facts: Annotated[dict[str, str], Meta(min_length=1)]


class Site(Struct):
    """A site of the demo web; its key is the name of its fact file."""

    key: str
    host: Words
    title: Words
    about: Words
    style: Literal["prose", "table", "list"]
    """How its pages show their facts."""
    directory: Annotated[str, Meta(pattern="^[^/]+/[^/]+$")]
    pages: list[FactPage]
    look: Look = "modern"
    owner: str = ""

    @property
    def root(self) -> str:
        """Return the address of the home page."""
        return f"http://{self.host}/"

    @property
    def topics(self) -> dict[str, list[FactPage]]:
        """Return the pages by topic, in the order of the file."""
        return group(self.pages, "topic")

    @property
    def level(self) -> str:
        """Return the first level of the directory."""
        return self.directory.partition("/")[0]

    @property
    def category(self) -> str:
        """Return the second level of the directory."""
        return self.directory.partition("/")[2]

    def page_url(self, page: FactPage) -> str:
        """Return the address of a page."""
        return f"{self.root}{page.slug}.html"

    def topic_url(self, topic: str) -> str:
        """Return the address of a topic's hub page."""
        return f"{self.root}topics/{url_slug(topic)}.html"


class Section(Struct):
    """A list of links on a personal home page."""

    heading: Words
    items: list[str]


class Person(Text, kw_only=True):
    """An invented person with a personal home page."""

    user: Words
    name: Words
    topic: Words
    title: Words
    look: Look = "modern"
    lang: str = "en"
    section: list[Section] = []

    @property
    def url(self) -> str:
        """Return the address of the home page."""
        return f"{PEOPLE_HOME}~{self.user}/"

    @property
    def texts(self) -> list[str]:
        """Return the paragraphs and the items of the lists."""
        return [*self.paragraphs, *(item for section in self.section for item in section.items)]


class AtticPage(Text):
    """An old page that hardly any page links to."""

    slug: Words
    title: Words


class Print(Struct):
    """A print version of a page: the same page with another closing sentence."""

    page: Words
    closing: Words


class Facts(Struct):
    """The contents of all fact files."""

    sites: list[Site]
    people: list[Person]
    attic: list[AtticPage]
    prints: list[Print]

    @property
    def rings(self) -> dict[str, list[Person]]:
        """Return people by topic: each topic is a webring."""
        return group(self.people, "topic")


def load_facts() -> Facts:
    """Read all fact files, in order of file name."""
    files = sorted((resources.files(__package__) / "facts").iterdir(), key=lambda file: file.name)
    data = {file.name.removesuffix(".toml"): tomllib.loads(file.read_text(encoding="utf-8")) for file in files}
    people, attic, prints = (data.pop(name) for name in ("people", "attic", "prints"))
    sites = [{**table["site"], "key": key, "pages": table["page"]} for key, table in data.items()]
    every = {"sites": sites, "people": people["person"], "attic": attic["page"], "prints": prints["print"]}
    return convert(every, Facts)


def group(items: Iterable[T], name: str) -> dict[str, list[T]]:
    """Group items by one of their fields, in order of appearance."""
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(getattr(item, name), []).append(item)
    return groups


def url_slug(words: str) -> str:
    """Return words as an address spells them: 'Noble Gases' gives 'noble-gases'."""
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode("ascii").lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
