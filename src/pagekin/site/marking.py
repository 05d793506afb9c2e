"""Insert a marked block into pages and remove it again, without changing any other byte."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from turbohtml import parse

from pagekin.hypertext import LARGEST_PARSED, find_regions, has_foreign_mark, mark_place, remove_marked
from pagekin.site.pages import RelatedLink
from pagekin.site.settings import SiteError

UNFINISHED = ".pagekin-unfinished"
_BASE = "head base[href]"
_OURS = "[data-pagekin]"
_NO_PLACE = "script, style, template, textarea, select, svg, math, noscript, noframes, pre, p, a, button, [hidden]"
"""Elements that can hold no list of links, or would not show it."""
MakeBlock = Callable[[str], bytes]
"""Given the `<base>` of a page, or '', what is to stand in its marked place."""


class UnfitPageError(Exception):
    """A page that is left unchanged; the message says why."""


class MarkedFile(NamedTuple):
    """A file of a page, after its marked block was put in place."""

    path: str
    reason: str
    """Why the page has no block; '' for one that has."""
    is_written: bool
    """Whether the file had to be written."""


def block_html(links: Sequence[tuple[str, RelatedLink]], heading: str, style: str, script: str, topics: str) -> bytes:
    """Return the content of a marked block, in ASCII and well-formed as XML, without entries that have no address."""
    counts = Counter(link.title for _href, link in links)
    items = "".join(
        f'<li><a href="{_text(href)}">{_text(link.title)}</a>'
        # Of entries with the same title, only their paths say which is which.
        + (f' <small class="pagekin-path">{_text(link.path)}</small>' if counts[link.title] > 1 else "")
        + "</li>"
        for href, link in links
    )
    more = f'<p class="pagekin-more"><a href="{_text(topics)}">All topics</a></p>' if topics else ""
    if items:
        items = (
            f'<nav class="pagekin-related" aria-label="{_text(heading)}"><p class="pagekin-title">{_text(heading)}</p>'
            f"<ul>{items}</ul>{more}</nav>"
        )
    if script:
        items += f'<script src="{_text(script)}" defer="defer"></script>'
    sheet = f'<link rel="stylesheet" href="{_text(style)}"/>'
    return f'<div class="pagekin" data-pagekin="" data-pagefind-ignore="all">{sheet}{items}</div>'.encode("ascii")


def _text(value: str) -> str:
    """Return a text for HTML in any encoding; invalid characters become �."""
    shown = "".join(char if char.isprintable() or char == " " else "\ufffd" for char in value)
    return escape(shown).encode("ascii", "xmlcharrefreplace").decode()


def mark_page(html: bytes, selectors: Iterable[str], make: MakeBlock) -> bytes:
    """Return a page with a marked block at the end of its content; raise an UnfitPageError if no place is safe."""
    if len(html) > LARGEST_PARSED:
        raise UnfitPageError(f"is larger than {LARGEST_PARSED >> 20} MiB")
    _check_encoding(html)
    if has_foreign_mark(html):
        raise UnfitPageError("has Pagekin's marks, but the text between them was changed")
    plain = remove_marked(html)
    regions = find_regions(plain, selectors)
    if regions.frames:
        raise UnfitPageError("consists of frames")
    content = make(_base_of(plain))
    block = mark_place(content)
    elements = len(parse(content.decode("latin-1")).select(f"{_OURS} *"))
    places = [end for _start, end in regions.content[-1:]]
    places.append(regions.body_end if regions.body_end >= 0 else len(plain))
    for place in places:
        marked = plain[:place] + block + plain[place:]
        if _is_shown(marked, elements):
            return marked
    raise UnfitPageError("has no place for a list: it ends inside a script, a tag or a link")


def _is_shown(html: bytes, elements: int) -> bool:
    """Return whether a browser will show the marked block exactly once, with this many elements."""
    ours = parse(html.decode("latin-1"), allow_declarative_shadow_roots=False).select(_OURS)
    if len(ours) != 1 or len(ours[0].select("*")) != elements:
        return False
    return ours[0].closest(_NO_PLACE) is None and ours[0].closest("body") is not None


def _check_encoding(html: bytes) -> None:
    """Refuse encodings that are not supersets of ASCII."""
    if html.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in html[:512]:
        raise UnfitPageError("is in UTF-16, or not text")
    if b"\x1b$" in html or b"\x1b(" in html:
        raise UnfitPageError("is in an encoding with escape sequences")


def _base_of(html: bytes) -> str:
    if b"<base" not in html.lower():
        return ""
    bases = parse(html.decode("latin-1")).select(_BASE)
    return str(bases[0].attrs.get("href") or "").strip() if bases else ""


# -- files --------------------------------------------------------------------------------------------------------------


def replace_file(file: Path, content: bytes) -> None:
    """Replace a file, completely or not at all, keeping its permissions."""
    fresh = file.with_name(f".{file.name}{UNFINISHED}")
    try:
        fresh.write_bytes(content)
        if file.exists():
            shutil.copymode(file, fresh)
        fresh.replace(file)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def mark_files(folder: Path, blocks: Iterable[tuple[str, MakeBlock]], selectors: Iterable[str]) -> Iterator[MarkedFile]:
    """Insert a marked block into each file, and yield each of them.

    A file that has the very place already is not written again. One that must be left alone loses an older place.
    """
    selectors = tuple(selectors)
    for path, make in blocks:
        html = (folder / path).read_bytes()
        try:
            marked, reason = mark_page(html, selectors, make), ""
        except (UnfitPageError, SiteError) as error:
            marked, reason = remove_marked(html), str(error)
        if marked != html:
            replace_file(folder / path, marked)
        yield MarkedFile(path, reason, marked != html)


def unmark_files(folder: Path, paths: Iterable[str]) -> int:
    """Remove the marked blocks from files; return how many files had one."""
    changed = 0
    for path in paths:
        file = folder / path
        if file.is_symlink() or not file.is_file():
            continue
        html = file.read_bytes()
        plain = remove_marked(html)
        if plain != html:
            replace_file(file, plain)
            changed += 1
    return changed


def count_reasons(reasons: Iterable[str]) -> dict[str, int]:
    """Return the number of pages left unchanged for each reason."""
    return dict(Counter(filter(None, reasons)).most_common())
