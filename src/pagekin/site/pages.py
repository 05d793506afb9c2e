"""The pages of a site: which file is which page of the collection, their titles, and links between them."""

import os
import posixpath
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from urllib.parse import quote, unquote, urljoin

import msgspec
import numpy as np

from pagekin.bags import LINK_WORDS, LISTED_WORDS, LinkColumns, is_of_links
from pagekin.hypertext import AnchorKind, Corpus, ShortTitles, canonical_url, drop_number, repeated_ends
from pagekin.similarity import RankingOptions, RelatedIndex, all_neighbours
from pagekin.site.settings import SiteError, SiteSettings
from pagekin.site.survey import Survey
from pagekin.sources import file_url
from pagekin.store import Progress

_LONGEST_TITLE = 200
_LINES, _SENTENCE, _PARAGRAPH = 60, 6, 60
"""Lines of a text among which the first sentence is looked for, words that it has at least, and characters of a line else."""
_NO_TITLES = ("", "<no title>")
"""What pages have for a title that have none; Sphinx says so."""
_SPARE = 10
"""Related pages that are asked for besides, in place of those that are not to be shown."""
_SAFE = "/!$&'()*+,;=@~-._"


class RelatedLink(msgspec.Struct, frozen=True):
    """A related page of a page."""

    path: str
    title: str
    similarity: float
    """0 for a page that the settings pin."""


class SitePages:
    """The pages of a site, by the paths of their files."""

    def __init__(self, folder: Path, survey: Survey, corpus: Corpus) -> None:
        self.survey, self.corpus = survey, corpus
        self.page_of: dict[str, int] = {}
        """The page of each file; several files may be one page by `rel=canonical`."""
        self.file_of: dict[int, str] = {}
        """The file of each page: the one at its own address, if there is one."""
        self.stubs: set[str] = set()
        """Files that only lead to another page."""
        leading = pages_that_lead_on(corpus)
        for path in survey.files:
            url = canonical_url(file_url(survey.base_url, path))
            number = corpus.urls.find(url.encode()) if url else -1
            pages = corpus.pages_of(corpus.home(number)) if number >= 0 else []
            if not pages or (folder / path).is_symlink():
                continue
            if pages[0] in leading:
                self.stubs.add(path)
                continue
            self.page_of[path] = pages[0]
            if pages[0] not in self.file_of or corpus.home(number) == number:
                self.file_of[pages[0]] = path
        self._titles = ShortTitles(corpus)
        self._ends: dict[str, str] = {}

    @cached_property
    def order(self) -> list[int]:
        """Return all pages that have a file, by number."""
        return sorted(self.file_of)

    def title(self, page: int) -> str:
        """Return a page's title without its number and what its site or section repeats, or the name of its file."""
        title = drop_number(self.numbered_title(page))
        if len(title) > _LONGEST_TITLE:
            title = f"{title[:_LONGEST_TITLE].rpartition(' ')[0] or title[:_LONGEST_TITLE]} …"
        return self.file_of[page] or self.survey.base_url if title in _NO_TITLES else title

    def numbered_title(self, page: int) -> str:
        """Return a page's title without what its site or section repeats, with the number that it may have in its book."""
        title = self._short_title(page)
        return title.removesuffix(self._end_of(self.file_of[page].partition("/")[0])).strip() or title

    def has_title(self, page: int) -> bool:
        """Return whether a page has a title; pages without one are seldom meant to be read alone."""
        return self._short_title(page) not in _NO_TITLES

    def _short_title(self, page: int) -> str:
        return " ".join(self._titles.text(page).split())

    def _end_of(self, part: str) -> str:
        """Return the suffix of the titles in a top-level folder: a site may consist of several books."""
        if part not in self._ends:
            pages = [page for page in self.order if self.file_of[page].startswith(f"{part}/")]
            self._ends[part] = repeated_ends(map(self._short_title, pages))[1]
        return self._ends[part]

    def snippet(self, page: int, size: int) -> str:
        """Return the start of a page's first sentence-like line; else of a long line, or of the text."""
        text = self.corpus.text_bytes(page)[0].decode("utf-8", "replace").replace("¶", " ")
        title = self.title(page).casefold()
        lines = [" ".join(line.split()) for line in text.splitlines()[1 : _LINES + 1]]
        lines = [
            line for line in lines if line.casefold() != title
        ]  # the heading says what stands above the text anyway
        long = (line for line in lines if len(line) >= _PARAGRAPH)
        shown = next(filter(_is_prose, lines), None) or next(long, " ".join(lines))
        return shown if len(shown) <= size else f"{shown[:size].rpartition(' ')[0] or shown[:size]} …"

    def name(self, path: str) -> str:
        """Return the path that links use for a file: its folder, if the site's own links do so."""
        head, tail = posixpath.split(path)
        if self.survey.folder_links and tail == "index.html":
            return f"{head}/" if head else ""
        return path

    def address(self, path: str) -> str:
        """Return the address of a file, relative to the root."""
        return quote_path(self.name(path))

    @property
    def home(self) -> str:
        """Return the address of the first page, relative to the root."""
        return self.address("index.html")

    @property
    def home_page(self) -> int:
        """Return the first page, or -1 for a site without one."""
        return next((self.page_of[path] for path in ("index.html", "index.htm", "") if path in self.page_of), -1)

    def lists_only(self, page: int) -> bool:
        """Return whether a page only leads to others: most of its words are in links, or many on the site's first page."""
        share = LISTED_WORDS if page == self.home_page else LINK_WORDS
        return self.corpus.pages.anchors[page] < self.corpus.pages.anchors[page + 1] and is_of_links(
            self.corpus, page, share
        )

    def link(self, source: str, target: str, base: str = "") -> str:
        """Return the relative address from one file to another, respecting the first one's `<base>`."""
        here = self._folder_of(source, base)
        name = self.name(target)
        if not name:
            return quote_path(posixpath.relpath(".", here or ".") + "/")
        path = posixpath.relpath(name, here or ".")
        return quote_path(path + "/" if name.endswith("/") else path)

    def _folder_of(self, source: str, base: str) -> str:
        """Return the folder that relative addresses on a page refer to; raise a SiteError if it is outside the site."""
        if base:
            root = self.survey.base_url
            absolute = urljoin(file_url(root, source), base)
            if not absolute.startswith(root):
                raise SiteError(f"its <base> points outside the site: {base[:200]}")
            return posixpath.dirname(unquote(absolute[len(root) :]))
        return posixpath.dirname(source)


def _is_prose(line: str) -> bool:
    """Return whether a line reads like a sentence: several words, mostly in lower case."""
    words = line.split()
    return len(words) >= _SENTENCE and 2 * sum(word.strip(".,;:()").islower() for word in words) > len(words)


def pages_that_lead_on(corpus: Corpus) -> set[int]:
    """Return the pages that redirect browsers to another page at once."""
    leading = np.flatnonzero(np.asarray(corpus.anchors.flags) >> 1 == AnchorKind.REFRESH)
    pages = [corpus.page_of_anchor(anchor) for anchor in leading.tolist()]
    targets = corpus.anchors.target[leading].tolist()
    return {page for page, target in zip(pages, targets, strict=True) if corpus.home(target) != corpus.pages.url[page]}


def quote_path(path: str) -> str:
    """Return a path as a relative address, safe if its first part has a colon, as a scheme does."""
    quoted = quote(os.fsencode(path), safe=_SAFE)
    return f"./{quoted}" if quoted.startswith("/") or not quoted else quoted


def related_lists(
    pages: SitePages, index: RelatedIndex, settings: SiteSettings, threads: int, progress: Progress
) -> dict[int, list[RelatedLink]]:
    """Return the related pages of each page: pinned ones first, then the most similar that have a file.

    Pages that only list others have none but pinned ones.
    """
    pins, hidden = _named_pages(pages, settings.pins, "pins"), _named_pages(pages, settings.hide, "hide")
    documents = index.documents.of_pages(np.array(pages.order, np.int64))
    lists_only = LinkColumns.of(pages.corpus.kin).lists
    page_of = {int(document): page for document, page in zip(documents, pages.order, strict=True) if document >= 0}
    asked = np.array(sorted(page_of), np.int64)
    options = RankingOptions(k=max(1, settings.count + _SPARE), captured_only=True)
    lists: dict[int, list[RelatedLink]] = {}
    for done, (document, ranked) in enumerate(all_neighbours(index, asked, options, threads), 1):
        page = page_of[document]
        near = [
            (page_of[one.document], one.similarity)
            for one in ranked.related
            if one.document in page_of and one.similarity >= settings.min_similarity
        ]
        near = [(other, similarity) for other, similarity in near if pages.has_title(other)]
        if lists_only[document] or pages.lists_only(page):
            near = []  # it is a table of contents itself
        lists[page] = _choose(
            pages, page, pins.get(page, []), hidden.get(page, []) + hidden.get(-1, []), near, settings
        )
        progress("relating", done / len(asked))
    for page in pages.order:
        if page not in lists:
            lists[page] = _choose(pages, page, pins.get(page, []), [], [], settings)
    return lists


def count_links(pages: SitePages, index: RelatedIndex) -> dict[int, int]:
    """Return how many other pages link to each page."""
    citing = index.documents.inlinks
    documents = index.documents.of_pages(np.array(pages.order, np.int64)).tolist()
    return {page: int(citing[one]) if one >= 0 else 0 for page, one in zip(pages.order, documents, strict=True)}


def _choose(
    pages: SitePages, page: int, pinned: Sequence[int], hidden: Iterable[int], near: Iterable[tuple[int, float]],
    settings: SiteSettings,
) -> list[RelatedLink]:  # fmt: skip
    """Return the related pages to display for a page; of several with the same title, only the first."""
    left_out = {page, *hidden}
    chosen: list[RelatedLink] = []
    titles = {pages.numbered_title(page)}
    for other, similarity in [*((one, 0.0) for one in pinned), *near]:
        title = pages.numbered_title(other)
        if other in left_out or (similarity and title in titles):
            continue
        left_out.add(other)
        titles.add(title)
        chosen.append(RelatedLink(pages.file_of[other], pages.title(other), round(similarity, 4)))
    return chosen[: max(settings.count, len(pinned))]


def _named_pages(pages: SitePages, table: dict[str, list[str]], name: str) -> dict[int, list[int]]:
    """Return a table of paths as page numbers, -1 for "*"; raise a SiteError for a path that is not a page."""

    def find(path: str) -> int:
        for candidate in (path, f"{path.rstrip('/')}/index.html".lstrip("/"), f"{path.rstrip('/')}/".lstrip("/")):
            if candidate in pages.page_of:
                return pages.page_of[candidate]
        raise SiteError(
            f"{name}: '{path}' is not a page of the site, or is excluded. Write paths such as library/json.html"
        )

    return {(-1 if path == "*" else find(path)): [find(other) for other in others] for path, others in table.items()}
