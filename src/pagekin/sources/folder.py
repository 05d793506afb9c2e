"""Read a folder of HTML files as the document root of a site."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from pagekin.sources.http import PDF_TYPE
from pagekin.sources.items import Item, Page, Redirect, Skip
from pagekin.sources.limits import Limits

HTML_ENDINGS = (".html", ".htm", ".xhtml", ".shtml", ".xht")
_INDEX_NAMES = ("index.html", "index.htm", "index.xhtml")


def list_folder(root: Path) -> list[str]:
    """List what lies below `root` as sorted relative paths: files, and folders that are not entered."""
    paths: list[str] = []

    def add_unreadable(error: OSError) -> None:
        paths.append(Path(error.filename).relative_to(root).as_posix())

    for folder, names, files in os.walk(root, onerror=add_unreadable):
        below = Path(folder).relative_to(root).as_posix()
        prefix = "" if below == "." else f"{below}/"
        paths += (prefix + name for name in files)
        paths += (prefix + name for name in names if Path(folder, name).is_symlink())
    if paths == ["."]:
        raise PermissionError(13, "Permission denied", str(root))
    return sorted(paths)


def file_url(base_url: str, relative: str) -> str:
    """Return the URL of a file below the document root."""
    # Escape only what would change the meaning of the address; the URL parser escapes the rest by its own rules.
    return base_url + quote(os.fsencode(relative), safe="/!$&'()*+,;=:@~-._[]|^ \"<>`{}")


def read_folder(root: Path, files: list[str], base_url: str, limits: Limits) -> Iterator[Item]:
    """Yield the items of `files`, relative to `root`, whose address is `base_url` (ending in a slash)."""
    real_root = root.resolve()
    for relative in files:
        path = root / relative
        url = file_url(base_url, relative)
        try:
            is_pdf = bool(limits.pdf_pages) and path.name.lower().endswith(".pdf")
            if reason := _skip_reason(path, real_root, is_pdf):
                yield Skip(reason, str(path), url=url, detail=path.suffix if reason == "not html" else "")
                continue
            with path.open("rb") as file:
                html = file.read(limits.page_bytes + 1)
        except (OSError, RuntimeError) as error:  # a loop of links is a RuntimeError
            detail = error.strerror if isinstance(error, OSError) else None
            yield Skip("unreadable file", str(path), url=url, detail=detail or "a loop of links")
            continue
        if not html.strip():
            yield Skip("empty page", str(path), url=url, html=True)
            continue
        kind = PDF_TYPE if is_pdf else ""
        yield Page(url, html[: limits.page_bytes], kind, 0, len(html) > limits.page_bytes)
        if _is_index(path):
            # A server answers the folder's address with its index page.
            folder = relative.rpartition("/")[0]
            yield Redirect(file_url(base_url, f"{folder}/" if folder else ""), url)


def _skip_reason(path: Path, real_root: Path, is_pdf: bool) -> str:
    """Return why the file at `path` is not read, or an empty string."""
    if path.is_symlink() and not path.resolve().is_relative_to(real_root):
        return "link out of the folder"
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        # A link that is followed would give each page a second address; other folders here could not be opened.
        return "link to a folder" if path.is_symlink() else "unreadable folder"
    if not is_pdf and not path.name.lower().endswith(HTML_ENDINGS):
        return "not html"
    return "" if stat.S_ISREG(mode) else "not a file"  # opening a pipe would block


def _is_index(path: Path) -> bool:
    """Return whether `path` is the page that a server would show for its folder."""
    name = path.name.lower()
    if name not in _INDEX_NAMES:
        return False
    better = _INDEX_NAMES[: _INDEX_NAMES.index(name)]
    return not any((path.parent / other).exists() for other in better)
