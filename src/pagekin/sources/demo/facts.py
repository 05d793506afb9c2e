"""Read the demo web's fact files (TOML) into plain dataclasses."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

LAYOUTS = ("prose", "table", "list")
SPECIAL_FILES = ("people", "attic", "prints")


class FactError(ValueError):
    """A fact file is wrong; the message says which file, which page and what."""


@dataclass(frozen=True)
class FactPage:
    """One real thing: its facts, and a short text with [[links]] in it."""

    slug: str
    name: str
    topic: str
    facts: Mapping[str, str]
    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Site:
    """One site of the demo web, as its fact file describes it."""

    key: str
    host: str
    title: str
    about: str
    layout: str
    directory: str
    pages: tuple[FactPage, ...]

    def topics(self) -> dict[str, list[FactPage]]:
        """The site's pages by topic, topics in the order in which the file first names them."""
        found: dict[str, list[FactPage]] = {}
        for page in self.pages:
            found.setdefault(page.topic, []).append(page)
        return found


@dataclass(frozen=True)
class Person:
    """An invented person with a personal home page."""

    user: str
    name: str
    topic: str
    title: str
    look: str
    lang: str
    paragraphs: tuple[str, ...]
    sections: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class AtticPage:
    """An old page that hardly anybody links to; `like` is the page whose directory path it shares."""

    slug: str
    title: str
    like: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Print:
    """A print version of a page: the same page with another closing sentence."""

    page: str
    closing: str


@dataclass(frozen=True)
class Facts:
    """Everything the fact files say."""

    sites: tuple[Site, ...]
    people: tuple[Person, ...]
    attic: tuple[AtticPage, ...]
    prints: tuple[Print, ...]


def load_facts(folder: Traversable | None = None) -> Facts:
    """Read all fact files of a folder (the package's own `facts` unless told), in order of file name."""
    if folder is None:
        folder = resources.files(__package__).joinpath("facts")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    data = {name.removesuffix(".toml"): _parse(folder.joinpath(name)) for name in names}
    return Facts(
        sites=tuple(_site(key, table) for key, table in data.items() if key not in SPECIAL_FILES),
        people=tuple(_person(item) for item in data.get("people", {}).get("person", [])),
        attic=tuple(_attic_page(item) for item in data.get("attic", {}).get("page", [])),
        prints=tuple(_print(item) for item in data.get("prints", {}).get("print", [])),
    )


def _parse(file: Traversable) -> dict[str, Any]:
    """One TOML file, its name in the error if it does not parse."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise FactError(f"{file.name}: {error}") from error


def _get(table: Mapping[str, Any], field: str, where: str) -> str:
    """A text field that must be there and not be empty."""
    value = table.get(field)
    if not isinstance(value, str) or not value.strip():
        raise FactError(f"{where}: '{field}' is missing or not a text")
    return value.strip()


def _paragraphs(text: str) -> tuple[str, ...]:
    """The paragraphs of a text, which blank lines separate, each on one line."""
    blocks = text.replace("\r", "").split("\n\n")
    return tuple(" ".join(block.split()) for block in blocks if block.strip())


def _distinct(names: Iterable[str], where: str) -> None:
    """Complain about a name that comes twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise FactError(f"{where}: '{name}' comes twice")
        seen.add(name)


def _site(key: str, data: Mapping[str, Any]) -> Site:
    """A site from the contents of its file."""
    where = f"{key}.toml"
    head = data.get("site", {})
    if _get(head, "key", where) != key:
        raise FactError(f"{where}: the site's key is not the file's name")
    layout = _get(head, "style", where)
    if layout not in LAYOUTS:
        raise FactError(f"{where}: style '{layout}' is none of {', '.join(LAYOUTS)}")
    directory = _get(head, "directory", where).strip("/")
    if directory.count("/") != 1:
        raise FactError(f"{where}: directory '{directory}' does not have two levels")
    pages = tuple(_fact_page(item, where) for item in data.get("page", []))
    _distinct((page.slug for page in pages), where)
    about = " ".join(_get(head, "about", where).split())
    return Site(key, _get(head, "host", where), _get(head, "title", where), about, layout, directory, pages)


def _fact_page(item: Mapping[str, Any], file: str) -> FactPage:
    """A page of a site."""
    where = f"{file}, page '{item.get('slug')}'"
    facts = {str(name): str(value) for name, value in item.get("facts", {}).items()}
    if not facts:
        raise FactError(f"{where}: no facts")
    return FactPage(
        slug=_get(item, "slug", where),
        name=_get(item, "name", where),
        topic=_get(item, "topic", where).replace("/", " "),
        facts=facts,
        paragraphs=_paragraphs(_get(item, "text", where)),
    )


def _person(item: Mapping[str, Any]) -> Person:
    """A person with the sections of their home page."""
    where = f"people.toml, page '{item.get('user')}'"
    sections = tuple(
        (_get(section, "heading", where), tuple(str(entry) for entry in section.get("items", [])))
        for section in item.get("section", [])
    )
    return Person(
        user=_get(item, "user", where),
        name=_get(item, "name", where),
        topic=_get(item, "topic", where),
        title=_get(item, "title", where),
        look=str(item.get("look", "modern")),
        lang=str(item.get("lang", "en")),
        paragraphs=_paragraphs(_get(item, "text", where)),
        sections=sections,
    )


def _attic_page(item: Mapping[str, Any]) -> AtticPage:
    """A page of the attic."""
    where = f"attic.toml, page '{item.get('slug')}'"
    text = _paragraphs(_get(item, "text", where))
    return AtticPage(_get(item, "slug", where), _get(item, "title", where), _get(item, "like", where), text)


def _print(item: Mapping[str, Any]) -> Print:
    """A print version."""
    where = f"prints.toml, page '{item.get('page')}'"
    return Print(_get(item, "page", where), _get(item, "closing", where))
