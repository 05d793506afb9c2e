"""The settings of a site: options, and the file `pagekin-site.toml` with pins and exclusions."""

import hashlib
import os
import re
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from pagekin.errors import PagekinError

SETTINGS_FILE = "pagekin-site.toml"
OUR_FOLDER = "pagekin"
"""The folder inside a site that holds what Pagekin writes besides the marked places."""
_Paths = dict[str, list[str]]


class SiteError(PagekinError):
    """A site that cannot be published; the message says why and what to do."""


class SiteSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """The settings that `pagekin-site.toml` may hold."""

    base_url: str = ""
    """The address of the folder's root."""
    content: list[str] = []
    """CSS selectors of a page's content; the first that a page has counts."""
    exclude: list[str] = []
    """Pages to leave alone, by patterns of their paths."""
    count: Annotated[int, Meta(ge=0, le=100)] = 5
    """Related pages per page."""
    min_similarity: Annotated[float, Meta(ge=0, le=1)] = 0.06
    """The similarity below which a page is not shown as related."""
    heading: str = "Related pages"
    search: bool = True
    """Whether to write the search box and its files."""
    topics: bool = True
    """Whether to write a page of topics."""
    llms: bool = True
    """Whether to write `llms.txt`."""
    pins: _Paths = {}
    """Pages that come first among the related ones of a page, by paths."""
    hide: _Paths = {}
    """Pages that are never shown as related to a page, by paths; "*" stands for every page."""


@dataclass(frozen=True)
class SitePlan:
    """A folder, and the settings for publishing it."""

    folder: Path
    settings: SiteSettings = field(default_factory=SiteSettings)
    collection: Path | None = None
    """Where to keep the collection; None means a folder for caches."""
    workers: int = 0
    """Processes and threads; 0 means one per core."""

    @property
    def kin(self) -> Path:
        """Return the path of the collection, never inside the site, which is published."""
        if self.collection is None:
            name = hashlib.blake2b(os.fsencode(self.folder.resolve()), digest_size=6).hexdigest()
            return _cache_folder() / f"{self.folder.resolve().name}-{name}.kin"
        if self.collection.resolve().is_relative_to(self.folder.resolve()):
            raise SiteError(f"{self.collection} is inside {self.folder} and would be published. Name another place.")
        return self.collection


def _cache_folder() -> Path:
    """Return the folder for the collections of sites: the user's cache, or the temporary folder."""
    if named := os.environ.get("XDG_CACHE_HOME"):
        base = Path(named)
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or tempfile.gettempdir())
    else:
        try:
            base = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
        except RuntimeError:
            base = Path(tempfile.gettempdir())
    folder = base / "pagekin" / "sites"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.gettempdir()) / "pagekin-sites"
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def settings_from(settings: SiteSettings | None, **changes: Any) -> SiteSettings:
    """Return settings with changes; None leaves a setting as it is."""
    known = {name: value for name, value in changes.items() if value is not None}
    try:
        changed = msgspec.structs.replace(settings or SiteSettings(), **known)
        return msgspec.convert(msgspec.to_builtins(changed), SiteSettings)
    except msgspec.ValidationError as error:
        raise SiteError(f"settings of the site: {_explain(error)}.") from None


def read_settings(file: Path) -> SiteSettings:
    """Read a settings file, or raise a SiteError that says what is wrong with it."""
    try:
        with file.open("rb") as stream:
            return msgspec.convert(tomllib.load(stream), SiteSettings)
    except OSError as error:
        raise SiteError(f"{file} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SiteError(f"{file} is not TOML: {error}.") from None
    except msgspec.ValidationError as error:
        raise SiteError(f"{file}: {_explain(error)}. docs/sites.md lists the settings.") from None


_KINDS = {
    "array": 'a list in brackets, ["…", "…"]', "object": 'a table of lines, "a.html" = ["b.html"]',
    "str": "a text in quotes", "int": "a whole number", "float": "a number", "bool": "true or false",
}  # fmt: skip


def _explain(error: msgspec.ValidationError) -> str:
    """Return what is wrong with a setting, in plain words and with its name."""
    text, _, place = str(error).partition(" - at `$.")
    name = re.split(r"[\[.`]", place)[0]
    if match := re.fullmatch(r"Object contains unknown field `(.+)`", text):
        return f"there is no setting '{match[1]}'"
    if match := re.fullmatch(r"Expected `(\w+)`, got `\w+`", text):
        entry = "each entry of " if "[" in place else ""
        return f"{entry}'{name}' must be {_KINDS.get(match[1], match[1])}"
    if match := re.fullmatch(r"Expected `\w+` (.+)", text):
        return f"'{name}' must be {match[1]}"
    return str(error)
