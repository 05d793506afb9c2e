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
    """A page about one real thing: facts, and a short text with [[links]]."""

    slug: str
    name: str
    topic: str
    facts: Mapping[str, str]
    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Site:
    """A site of the demo web, as its fact file describes it."""

    key: str
    host: str
    title: str
    about: str
    layout: str
    directory: str
    pages: tuple[FactPage, ...]

    def topics(self) -> dict[str, list[FactPage]]:
        """Group the site's pages by topic; topics come in the order of the file."""
        groups: dict[str, list[FactPage]] = {}
        for page in self.pages:
            groups.setdefault(page.topic, []).append(page)
        return groups


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
    """An old page that hardly any page links to; `like` is the page whose directory path it shares."""

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
    """The contents of all fact files."""

    sites: tuple[Site, ...]
    people: tuple[Person, ...]
    attic: tuple[AtticPage, ...]
    prints: tuple[Print, ...]


def load_facts(folder: Traversable | None = None) -> Facts:
    """Read all fact files of a folder (by default the package's own `facts`), in order of file name."""
    if folder is None:
        folder = resources.files(__package__).joinpath("facts")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    data = {name.removesuffix(".toml"): _parse_file(folder.joinpath(name)) for name in names}
    return Facts(
        sites=tuple(_parse_site(key, table) for key, table in data.items() if key not in SPECIAL_FILES),
        people=tuple(_parse_person(item) for item in data.get("people", {}).get("person", [])),
        attic=tuple(_parse_attic_page(item) for item in data.get("attic", {}).get("page", [])),
        prints=tuple(_parse_print(item) for item in data.get("prints", {}).get("print", [])),
    )


def _parse_file(file: Traversable) -> dict[str, Any]:
    """Parse a TOML file; the error names the file."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise FactError(f"{file.name}: {error}") from error


def _get_text(table: Mapping[str, Any], field: str, where: str) -> str:
    """Return a text field that must not be empty."""
    value = table.get(field)
    if not isinstance(value, str) or not value.strip():
        raise FactError(f"{where}: '{field}' is missing or not a text")
    return value.strip()


def _split_paragraphs(text: str) -> tuple[str, ...]:
    """Split a text at blank lines into paragraphs, each on one line."""
    blocks = text.replace("\r", "").split("\n\n")
    return tuple(" ".join(block.split()) for block in blocks if block.strip())


def _check_distinct(names: Iterable[str], where: str) -> None:
    """Raise FactError if a name occurs twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise FactError(f"{where}: '{name}' occurs twice")
        seen.add(name)


def _parse_site(key: str, data: Mapping[str, Any]) -> Site:
    """Make a site of the contents of its file."""
    where = f"{key}.toml"
    head = data.get("site", {})
    if _get_text(head, "key", where) != key:
        raise FactError(f"{where}: the site's key is not the file's name")
    layout = _get_text(head, "style", where)
    if layout not in LAYOUTS:
        raise FactError(f"{where}: style '{layout}' is not one of {', '.join(LAYOUTS)}")
    directory = _get_text(head, "directory", where).strip("/")
    if directory.count("/") != 1:
        raise FactError(f"{where}: directory '{directory}' does not have two levels")
    pages = tuple(_parse_fact_page(item, where) for item in data.get("page", []))
    _check_distinct((page.slug for page in pages), where)
    about = " ".join(_get_text(head, "about", where).split())
    return Site(key, _get_text(head, "host", where), _get_text(head, "title", where), about, layout, directory, pages)


def _parse_fact_page(item: Mapping[str, Any], file: str) -> FactPage:
    """Make a page of a site."""
    where = f"{file}, page '{item.get('slug')}'"
    facts = {str(name): str(value) for name, value in item.get("facts", {}).items()}
    if not facts:
        raise FactError(f"{where}: no facts")
    return FactPage(
        slug=_get_text(item, "slug", where),
        name=_get_text(item, "name", where),
        topic=_get_text(item, "topic", where).replace("/", " "),
        facts=facts,
        paragraphs=_split_paragraphs(_get_text(item, "text", where)),
    )


def _parse_person(item: Mapping[str, Any]) -> Person:
    """Make a person with the sections of their home page."""
    where = f"people.toml, page '{item.get('user')}'"
    sections = tuple(
        (_get_text(section, "heading", where), tuple(str(entry) for entry in section.get("items", [])))
        for section in item.get("section", [])
    )
    return Person(
        user=_get_text(item, "user", where),
        name=_get_text(item, "name", where),
        topic=_get_text(item, "topic", where),
        title=_get_text(item, "title", where),
        look=str(item.get("look", "modern")),
        lang=str(item.get("lang", "en")),
        paragraphs=_split_paragraphs(_get_text(item, "text", where)),
        sections=sections,
    )


def _parse_attic_page(item: Mapping[str, Any]) -> AtticPage:
    """Make a page of the attic."""
    where = f"attic.toml, page '{item.get('slug')}'"
    text = _split_paragraphs(_get_text(item, "text", where))
    return AtticPage(
        _get_text(item, "slug", where), _get_text(item, "title", where), _get_text(item, "like", where), text
    )


def _parse_print(item: Mapping[str, Any]) -> Print:
    """Make a print version."""
    where = f"prints.toml, page '{item.get('page')}'"
    return Print(_get_text(item, "page", where), _get_text(item, "closing", where))
