"""A collection as the pages show it: what every page needs, made once and kept as long as the collection is open."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from msgspec import Struct

from pagekin.clusters import Tree
from pagekin.hypertext.nearest import is_not_in
from pagekin.labels.model import plain
from pagekin.routers.leaf import Leaf
from pagekin.routers.messages import RouterError
from pagekin.routers.open_leaf import OpenLeaf
from pagekin.routers.router import Router
from pagekin.similarity import RelatedIndex
from pagekin.store import KinError
from pagekin.web.shown import host

_MOST_KEPT = 20_000
"""Pages whose names are kept: a page of ours names some seventy others."""


class PageLink(Struct, frozen=True, kw_only=True):
    """A page as others name it."""

    url: str
    title: str
    site: str = ""
    date: int = 0
    """Seconds since 1970; 0 if it is not known."""
    captured: bool = True
    """Whether the page itself was read; otherwise it is known by the links to it."""


class ClusterLink(Struct, frozen=True, kw_only=True):
    """A cluster as others name it."""

    tree: str
    node: int
    name: str
    pages: int


class Collection:
    """An open collection, for pages."""

    def __init__(self, leaf: OpenLeaf) -> None:
        self.leaf = leaf
        self.corpus = leaf.corpus
        self.name = leaf.name
        self._links: dict[int, PageLink] = {}

    @cached_property
    def related(self) -> RelatedIndex | None:
        """The index of related pages, if there is one."""
        try:
            return self.leaf.related_index
        except KinError:
            return None

    @property
    def trees(self) -> dict[str, Tree]:
        """The hierarchies by name."""
        return self.leaf.trees

    def tree(self, name: str) -> Tree:
        """A hierarchy, or an error that says which there are."""
        if name not in self.trees:
            raise RouterError(f"there is no hierarchy '{name[:100]}'; there are {', '.join(self.trees)}", 404)
        return self.trees[name]

    @cached_property
    def sites(self) -> list[tuple[str, int]]:
        """(host, pages), the largest first."""
        found: dict[str, int] = {}
        for page in range(len(self.corpus)):
            name = host(self.corpus.page_url(page))
            found[name] = found.get(name, 0) + 1
        return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))

    @property
    def languages(self) -> list[tuple[str, int]]:
        """(language, pages), the most frequent first."""
        return sorted(self.corpus.facts["languages"].items(), key=lambda pair: (-pair[1], pair[0]))

    # -- pages ------------------------------------------------------------------------------------------------------------

    def number_of(self, url: str) -> int:
        """The number of an address, or an error with the nearest that there is."""
        number = self.corpus.url_number(url)
        if number < 0:
            raise RouterError(is_not_in(self.corpus, url).replace(str(self.leaf.path), self.name), 404)
        return number

    def page_link(self, page: int) -> PageLink:
        """A page that was read."""
        if page not in self._links:
            if len(self._links) >= _MOST_KEPT:
                self._links.clear()
            self._links[page] = self._page_link(page)
        return self._links[page]

    def _page_link(self, page: int) -> PageLink:
        url = self.corpus.page_url(page)
        title = plain(self.leaf.titles.text(page)) or url
        return PageLink(url=url, title=title, site=host(url), date=int(self.corpus.pages.date[page]))

    def link(self, number: int) -> PageLink:
        """Any address, by its number: by what links to it say if it was not read."""
        pages = self.corpus.pages_of(number)
        if pages:
            return self.page_link(pages[0])
        url = self.corpus.url(number)
        document = self.related.bags.document(number) if self.related else -1
        title = plain(self.related.title(document)) if self.related and document >= 0 else ""
        return PageLink(url=url, title=title or url, site=host(url), captured=False)

    def page_links(self, pages: Iterable[int]) -> list[PageLink]:
        """Pages that were read."""
        return [self.page_link(int(page)) for page in pages]

    def cluster_link(self, tree: Tree, node: int) -> ClusterLink:
        """A node of a hierarchy."""
        about = tree.descriptions[node] if tree.descriptions else None
        name = plain(about.name) if about and about.name else ("All pages" if not node else f"{tree.name} {node}")
        return ClusterLink(tree=tree.name, node=node, name=name, pages=len(tree.pages_of(node)))

    def inlinks(self, pages: Sequence[int]) -> np.ndarray[Any, Any]:
        """How many anchors lead to each of some pages."""
        of = self.corpus.pages.url
        return np.array([len(self.corpus.anchors_in(int(of[page]))) for page in pages], np.int64)


def warm(leaf: Leaf) -> None:
    """Open what the first visitor would have to wait for."""
    collection = collection_of(leaf)
    collection.sites  # noqa: B018  # made when it is first asked for, and kept
    if collection.related is not None and len(collection.related):
        collection.related.related(collection.related.urls[0], 1)


_open: WeakKeyDictionary[OpenLeaf, Collection] = WeakKeyDictionary()


def collection_of(service: Leaf | Router) -> Collection:
    """The collection of a leaf as it is now; a RouterError for a router, which has none."""
    if not isinstance(service, Leaf):
        raise RouterError(f"{service.name} is a router: it holds no pages of its own", 404)
    now = service.now
    if now not in _open:
        _open[now] = Collection(now)
    return _open[now]
