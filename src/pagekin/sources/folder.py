"""A folder of HTML files as the document root of a site."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from pagekin.sources.items import Item, Page, Redirect, Skipped
from pagekin.sources.limits import Limits

HTML_ENDINGS = (".html", ".htm", ".xhtml", ".shtml", ".xht")
_INDEX_NAMES = frozenset({"index.html", "index.htm", "index.xhtml"})


def list_folder(root: Path) -> list[str]:
    """The files below `root` as paths relative to it, in sorted order; links that leave it or loop are not followed."""
    found: list[str] = []
    real_root = root.resolve()
    for folder, names, files in os.walk(root, followlinks=False):
        names.sort()
        for name in files:
            path = Path(folder, name)
            if path.is_symlink() and not path.resolve().is_relative_to(real_root):
                continue
            found.append(path.relative_to(root).as_posix())
    return sorted(found)


def file_url(base_url: str, relative: str) -> str:
    """The URL of a file below the document root."""
    # Only what would change the address's meaning is escaped here; the URL parser escapes the rest by its own rules.
    return base_url + quote(os.fsencode(relative), safe="/!$&'()*+,;=:@~-._[]|^ \"<>`{}")


def read_folder(root: Path, files: list[str], base_url: str, limits: Limits) -> Iterator[Item]:
    """The items of `files`, relative to `root`, whose root has the address `base_url` (ending in a slash)."""
    for relative in files:
        path = root / relative
        url = file_url(base_url, relative)
        if not relative.lower().endswith(HTML_ENDINGS):
            yield Skipped("not html", str(path), url=url, detail=path.suffix)
            continue
        try:
            with path.open("rb") as file:
                html = file.read(limits.page_bytes + 1)
        except OSError as error:
            yield Skipped("unreadable file", str(path), url=url, detail=error.strerror or str(error))
            continue
        if not html.strip():
            yield Skipped("empty page", str(path), url=url)
            continue
        yield Page(url, html[: limits.page_bytes], "", 0, len(html) > limits.page_bytes)
        folder, _, name = relative.rpartition("/")
        if name.lower() in _INDEX_NAMES:
            # A server answers the folder's address with its index page.
            yield Redirect(file_url(base_url, f"{folder}/" if folder else ""), url)
