"""A collection as pages show it: links to pages and clusters, cached while the collection is open."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from msgspec import Struct

from pagekin.clusters import Tree, fold_documents
from pagekin.collection import Collection, Service, ServiceError
from pagekin.hypertext import Corpus
from pagekin.labels import ContentLabel, plain_text
from pagekin.routers import LeafService
from pagekin.similarity import RelatedIndex
from pagekin.store import KinError
from pagekin.web.rendering import host

T = TypeVar("T")
_MOST_LINKS = 20_000
"""The most links to pages that are kept; one of our pages names some seventy others."""


class PageLink(Struct, frozen=True, kw_only=True):
    """A link to a page."""

    url: str
    title: str
    site: str = ""
    date: int = 0
    """Seconds since 1970; 0 if it is not known."""
    captured: bool = True
    """Whether the page itself was read; otherwise it is known by the links to it."""


class ClusterLink(Struct, frozen=True, kw_only=True):
    """A link to a cluster."""

    tree: str
    node: int
    name: str
    pages: int


def targets_of(corpus: Corpus, page: int) -> set[int]:
    """Return the addresses that a page links to, including itself if it does."""
    anchors = corpus.anchors_out(page)
    return set(corpus.anchors.target[anchors.start : anchors.stop].tolist())


class CollectionView:
    """Cached data of an open collection for pages; there is one per open collection."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self.corpus = collection.corpus
        self.name = collection.name
        self.page_link = lru_cache(_MOST_LINKS)(self._page_link)

    @classmethod
    def of(cls, collection: Collection) -> "CollectionView":
        """Return the view of an open collection."""
        return collection.companion(cls)

    def view_of(self, url: str) -> "CollectionView":
        """Return the view of the part that holds the page at an address: the delta, if it has a newer one."""
        base = CollectionView.of(self.collection.base)
        delta, corpus = base.collection.delta, base.corpus
        if delta is None or corpus.pages_of(corpus.url_number(url)):
            return base
        number = delta.corpus.url_number(url)
        is_here = number >= 0 and (delta.corpus.pages_of(number) or not corpus.knows(corpus.url_number(url)))
        return CollectionView.of(delta) if is_here else base

    def links_among(self, urls: Sequence[str]) -> list[tuple[int, int]]:
        """Return which of some pages link to which others, as places among them, across all parts."""
        places: dict[CollectionView, dict[int, int]] = {}
        links = []
        for place, url in enumerate(urls):
            there = self.view_of(url)
            if there not in places:
                places[there] = {there.corpus.url_number(other): at for at, other in enumerate(urls)}
            for page in there.corpus.pages_of(there.corpus.url_number(url))[:1]:
                targets = places[there].keys() & targets_of(there.corpus, page)
                links += sorted((place, places[there][target]) for target in targets)
        return [(source, target) for source, target in links if source != target]

    @cached_property
    def related(self) -> RelatedIndex | None:
        """Return the index of related pages; None if the collection has none."""
        try:
            return self.collection.related_pages.index
        except KinError:
            return None

    @property
    def label(self) -> ContentLabel:
        """Return the content label."""
        return self.collection.label

    @property
    def trees(self) -> dict[str, Tree]:
        """Return the hierarchies by name."""
        return self.collection.trees

    def tree(self, name: str) -> Tree:
        """Return a hierarchy, or raise a ServiceError that says which there are."""
        if name == "clusters" and name not in self.trees:
            folder = self.collection.path.name
            raise ServiceError(f"{folder} has no clusters yet. Make them with: pagekin cluster {folder}", 404)
        if name not in self.trees:
            raise ServiceError(f"there is no hierarchy '{name[:100]}'; there are {', '.join(self.trees)}", 404)
        return self.trees[name]

    def fold_documents(self, pages: Iterable[int]) -> list[int]:
        """Return single pages and covers of documents, in the order of their first pages."""
        return fold_documents(self.collection.documents, pages)

    @cached_property
    def sites(self) -> list[tuple[str, int]]:
        """Return (host, number of pages), the largest first."""
        counts = Counter(host(self.corpus.page_url(page)) for page in range(len(self.corpus)))
        return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))

    @property
    def languages(self) -> list[tuple[str, int]]:
        """Return (language, number of pages), the most frequent first."""
        return sorted(self.corpus.facts["languages"].items(), key=lambda pair: (-pair[1], pair[0]))

    # -- links to pages and clusters --------------------------------------------------------------------------------------

    def page_at(self, url: str) -> int:
        """Return the page at an address; -1 if none was read there."""
        return next(iter(self.corpus.pages_of(self.corpus.url_number(url))[:1]), -1)

    def _page_link(self, page: int) -> PageLink:
        """Return a link to a page that was read."""
        url = self.corpus.page_url(page)
        title = plain_text(self.collection.titles.text(page)) or url
        return PageLink(url=url, title=title, site=host(url), date=int(self.corpus.pages.date[page]))

    def link(self, number: int) -> PageLink:
        """Return a link to an address by number, named by its link texts if it was not read."""
        pages = self.corpus.pages_of(number)
        if pages:
            return self.page_link(pages[0])
        url = self.corpus.url(number)
        document = self.related.documents.at(self.corpus.urls[number]) if self.related else -1
        title = plain_text(self.related.title(document)) if self.related and document >= 0 else ""
        return PageLink(url=url, title=title or url, site=host(url), captured=False)

    def link_to(self, url: str) -> PageLink:
        """Return a link to an address, by its title if the collection knows it."""
        there = self.view_of(url)
        if (number := there.corpus.url_number(url)) >= 0:
            return there.link(number)
        return PageLink(url=url, title=plain_text(url), site=host(url), captured=False)

    def page_links(self, pages: Iterable[int]) -> list[PageLink]:
        """Return links to pages that were read."""
        return [self.page_link(int(page)) for page in pages]

    def cluster_link(self, tree: Tree, node: int) -> ClusterLink:
        """Return a link to a node of a hierarchy."""
        about = tree.descriptions[node] if tree.descriptions else None
        name = plain_text(about.name) if about and about.name else ("All pages" if not node else f"{tree.name} {node}")
        return ClusterLink(tree=tree.name, node=node, name=name, pages=len(tree.pages_of(node)))


async def in_collection(service: Service, make: Callable[..., T], *given: Any) -> T:
    """Run a function on a leaf's collection in the collection's thread; return its result."""
    return await service.run(lambda collection: make(CollectionView.of(collection), *given))


def warm_pages(leaf: LeafService) -> None:
    """Load what the first visitor would have to wait for."""
    for part in leaf.whole.parts:
        _warm(part)


def _warm(collection: Collection) -> None:
    view = CollectionView.of(collection)
    view.sites  # noqa: B018  # counted when first asked for, and kept
    if view.related is not None and len(view.related):
        view.related.related(view.related.urls[0], 1)
