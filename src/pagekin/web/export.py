"""Export the related pages of every page as small HTML pages that need no server.

Below `related/` every page has a file of its own, whose name follows from the page's address by `name_of`.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from pagekin import __version__
from pagekin.errors import PagekinError
from pagekin.similarity import RankingOptions, RelatedIndex, all_neighbours
from pagekin.web.rendering import host, short, static, templates

MARKER = "pagekin-export.json"
"""The file by which a folder is known to be an export, which a later one may replace."""
FOLDER = "related"
FORMAT = 1
_OURS = re.compile(r"related|style\.css|index(-\d+)?\.html|" + re.escape(MARKER))
_LONGEST_PART, _LONGEST_NAME = 120, 400
_LONGEST_TITLE = 200
_INDEX_ROWS = 500
_SEEDS = 0x811C9DC5, 0x9747B28C
Progress = Callable[[float], None]


class ExportError(PagekinError):
    """An export that cannot be made; the message says why and what to do."""


class RelatedLink(Struct, frozen=True):
    """A related page in the file of a page."""

    url: str
    title: str
    similarity: float
    captured: bool
    """Whether the page itself was read; otherwise it is known by the links to it."""
    copies: int
    """Near-duplicates and other names of it, which are not told."""


class PageFile(Struct, frozen=True):
    """The content of a page's file."""

    url: str
    title: str
    copies: int
    related: list[RelatedLink]


class IndexRow(Struct, frozen=True):
    """A page in the index of an export."""

    url: str
    title: str
    file: str
    """Its file below the export's folder, without .html."""


@dataclass(frozen=True)
class ExportPlan:
    """What to export."""

    out: Path
    k: int = 10
    min_similarity: float | None = None
    """None is the index's own."""
    other_sites: bool = False
    captured: bool = False
    threads: int = 1


@dataclass(frozen=True)
class ExportReport:
    """The numbers of files and bytes written."""

    pages: int
    related: int
    files: int
    bytes: int


# -- names of files ---------------------------------------------------------------------------------------------------------


def name_of(url: str) -> str:
    """Return the path of an address's related pages below `related/`, without a file extension.

    The host, then each part of the path, as folders; a query goes with the last part. Of each only small letters, digits,
    - and _ stay, and dots in the host and the last part, but not in the first place; anything else is written ~ and two
    hexadecimal digits, nothing as ~. If that is too long it is ~~ and a hash of the whole. The scheme does not matter.
    """
    _scheme, _, authority, rest = url.split("/", 3)
    path, _, query = rest.partition("?")
    parts = [authority.rpartition("@")[2], *path.split("/")]
    if query:
        parts[-1] += f"?{query}"
    names = [_safe(part, dots=place in (0, len(parts) - 1)) for place, part in enumerate(parts)]
    name = "/".join(names)
    if len(name) > _LONGEST_NAME or max(map(len, names)) > _LONGEST_PART:
        return "~~" + "".join(f"{_hash('/'.join(parts), seed):08x}" for seed in _SEEDS)
    return name


def _safe(part: str, dots: bool) -> str:
    unsafe = r"[^a-z0-9_.-]|^\." if dots else r"[^a-z0-9_-]"
    return re.sub(unsafe, lambda match: f"~{ord(match[0]):02x}", part) or "~"


def _hash(text: str, value: int) -> int:
    """Return the FNV-1a hash of a text, from a start value."""
    for character in text:
        value = (value ^ ord(character)) * 0x01000193 & 0xFFFFFFFF
    return value


def names_of(urls: Iterable[str]) -> dict[str, str]:
    """Return a unique name for each page; on a collision, https comes first and others go below ~2/, ~3/..."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for url in sorted(urls, key=lambda url: (not url.startswith("https:"), url)):
        name, number = name_of(url), 1
        while (f"~{number}/{name}" if number > 1 else name) in taken:
            number += 1
        names[url] = f"~{number}/{name}" if number > 1 else name
        taken.add(names[url])
    return names


# -- the whole export -------------------------------------------------------------------------------------------------------


def export_site(index: RelatedIndex, plan: ExportPlan, progress: Progress = lambda _share: None) -> ExportReport:
    """Write an export, all or nothing."""
    with _replace_folder(plan.out) as folder:
        writer = _Writer(index, plan, folder)
        for done, page in enumerate(writer.pages(), 1):
            writer.write(page)
            progress(done / len(writer.names))
        writer.finish()
        return ExportReport(len(writer.names), writer.related, writer.files, writer.bytes)


class _Writer:
    """Writes the files of an export into a folder."""

    def __init__(self, index: RelatedIndex, plan: ExportPlan, folder: Path) -> None:
        self.index, self.plan, self.folder = index, plan, folder
        self.collection = short(index.corpus.kin.path.name.removesuffix(".kin"), 60)
        self.related = self.files = self.bytes = 0
        corpus = index.corpus
        self.numbers = np.unique(corpus.pages.url).tolist()
        self.urls: dict[int, str] = {number: corpus.url(number) for number in self.numbers}
        self.names = names_of(self.urls.values())
        taken = set(self.names.values())
        self.aliases: dict[str, list[str]] = {}
        for number, url in self.urls.items():
            for alias in corpus.aliases_of(number):
                if (name := name_of(alias)) not in taken:
                    taken.add(name)
                    self.aliases.setdefault(url, []).append(name)
        self.rows: list[IndexRow] = []
        self._folders: set[str] = set()
        self._title = cache(lambda document: short(index.title(document), _LONGEST_TITLE))
        marker = {
            "format": FORMAT, "pagekin": __version__, "collection": self.collection, "pages": len(self.urls),
        }  # fmt: skip
        self.put(MARKER, msgspec.json.encode(marker))

    def pages(self) -> Iterator[PageFile]:
        """Yield the content of each page's file; pages without index words come last."""
        documents = {number: self.index.bags.document(number) for number in self.numbers}
        asked = np.array(sorted(document for document in documents.values() if document >= 0), np.int64)
        plan = self.plan
        if plan.other_sites or plan.captured:
            yield from (self._ask_page(int(document)) for document in asked)
        else:
            neighbours = all_neighbours(
                self.index, asked, RankingOptions(k=plan.k, min_similarity=plan.min_similarity), plan.threads
            )
            for document, ranked in neighbours:
                links = [self._link(near.document, near.similarity, near.copies) for near in ranked.related]
                yield self._page(document, len(ranked.copies), links)
        for number, document in documents.items():
            if document < 0:
                pages = self.index.corpus.pages_of(number)
                title = short(self.index.corpus.titles.text(pages[0]), _LONGEST_TITLE)
                yield PageFile(self.urls[number], title, 0, [])

    def _ask_page(self, document: int) -> PageFile:
        """Return the content of a page's file by a query of its own, for when options restrict the answers."""
        options = RankingOptions(
            k=self.plan.k, min_similarity=self.plan.min_similarity, sites="other" if self.plan.other_sites else "all",
            captured_only=self.plan.captured,
        )  # fmt: skip
        answer = self.index.answer(self.index.query_of([self.index.urls[document]]), options)
        links = [
            RelatedLink(
                one.url, short(one.title, _LONGEST_TITLE), round(one.similarity, 6), one.captured, len(one.copies)
            )
            for one in answer.results
        ]
        return self._page(document, len(answer.copies), links)

    def _page(self, document: int, copies: int, links: list[RelatedLink]) -> PageFile:
        return PageFile(self.index.urls[document], self._title(document), copies, links)

    def _link(self, document: int, similarity: float, copies: tuple[int, ...]) -> RelatedLink:
        corpus = self.index.corpus
        names = [int(self.index.bags.urls[one]) for one in (document, *copies)]
        count = len(copies) + sum(len(corpus.aliases_of(name)) for name in names)
        captured = bool(corpus.pages_of(names[0]))
        return RelatedLink(self.index.urls[document], self._title(document), round(similarity, 6), captured, count)

    def write(self, page: PageFile) -> None:
        """Write the files of one page."""
        own = self.names[page.url]
        for name in (own, *self.aliases.get(page.url, [])):
            self.put(f"{FOLDER}/{name}.html", self._as_html(page, name))
        self.rows.append(IndexRow(page.url, page.title, f"{FOLDER}/{own}"))
        self.related += len(page.related)

    def _as_html(self, page: PageFile, name: str) -> bytes:
        """Return a page's related pages as HTML."""
        up = "../" * (name.count("/") + 1)
        links = [
            (link, f"{up}{FOLDER}/{self.names[link.url]}.html" if link.url in self.names else "", host(link.url))
            for link in page.related
        ]
        return self._render("export_page.html", page=page, links=links, up=up)

    def _render(self, template: str, **context: Any) -> bytes:
        return templates().get_template(template).render(collection=self.collection, **context).encode()

    def finish(self) -> None:
        """Write the index and the stylesheet."""
        self.rows.sort(key=lambda row: row.url)
        self.put("style.css", static("export.css"))
        parts = [self.rows[i : i + _INDEX_ROWS] for i in range(0, len(self.rows), _INDEX_ROWS)] or [[]]
        for number, rows in enumerate(parts, 1):
            name = "index.html" if number == 1 else f"index-{number}.html"
            counts = {"number": number, "count": len(parts), "pages": len(self.rows)}
            self.put(name, self._render("export_index.html", rows=rows, up="", **counts))

    def put(self, name: str, content: bytes) -> None:
        """Write one file."""
        folder = name.rpartition("/")[0]
        if folder not in self._folders:
            (self.folder / folder).mkdir(parents=True, exist_ok=True)
            self._folders.add(folder)
        (self.folder / name).write_bytes(content)
        self.files += 1
        self.bytes += len(content)


# -- the folder -------------------------------------------------------------------------------------------------------------


@contextmanager
def _replace_folder(out: Path) -> Iterator[Path]:
    """Yield a new folder, which replaces `out` at the end unless an error occurs."""
    _check_replaceable(out)
    out = out.absolute()
    out.parent.mkdir(parents=True, exist_ok=True)
    _tidy(out)
    fresh = out.with_name(f".{out.name}.unfinished-{os.getpid()}")
    fresh.mkdir()
    try:
        yield fresh
        old = out.with_name(f"{fresh.name}-old")
        if out.exists():
            out.rename(old)
        try:
            fresh.rename(out)
        except OSError:
            if old.exists():
                old.rename(out)
            raise
        shutil.rmtree(old, ignore_errors=True)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def _check_replaceable(out: Path) -> None:
    """Raise an ExportError unless `out` is absent, empty, or an export without added files."""
    if out.is_symlink():
        raise ExportError(f"{out} is a symbolic link. Name the folder itself.")
    if not out.exists():
        return
    if not out.is_dir():
        raise ExportError(f"{out} is not a folder. Name one that is new, empty, or an earlier export.")
    if out.resolve() == Path.cwd().resolve():
        raise ExportError(f"{out} is the current folder, which cannot be replaced. Name another.")
    there = sorted(path.name for path in out.iterdir())
    if there and MARKER not in there:
        raise ExportError(f"{out} holds files that are not from an export, such as {there[0]}. Name another folder.")
    if foreign := [name for name in there if not _OURS.fullmatch(name)]:
        raise ExportError(
            f"{out} holds {foreign[0]}, which the export did not write and would remove. Move it elsewhere."
        )


def _tidy(out: Path) -> None:
    """Remove leftovers of interrupted exports beside `out`."""
    for left in out.parent.glob(f".{out.name}.unfinished-*"):
        number = left.name.rpartition("unfinished-")[2].removesuffix("-old")
        if number.isdigit() and (left / MARKER).is_file() and not _is_running(int(number)):
            if left.name.endswith("-old") and not out.exists():
                left.rename(out)  # it was killed before the new one had its place
            else:
                shutil.rmtree(left, ignore_errors=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
