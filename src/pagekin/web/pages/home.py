"""The first page: what is in this collection."""

import time
from collections.abc import Container, Iterable, Iterator
from itertools import islice
from typing import Annotated, Any
from urllib.parse import urlencode

import msgspec
from litestar import Response, get
from litestar.params import Parameter
from litestar.response import Redirect
from msgspec import Struct

from pagekin.clusters import Tree
from pagekin.collection import Collection, Item, Service, ShowRequest
from pagekin.hypertext import fold_case
from pagekin.labels import ContentLabel, SubCluster, plain_text
from pagekin.routers import HttpRequest, service_of
from pagekin.web import addresses as to
from pagekin.web.collection_view import ClusterLink, CollectionView, PageLink
from pagekin.web.languages import language_name
from pagekin.web.pages.tree import MOST_SHOWN, ClusterMap, first_level, map_link
from pagekin.web.pictures.treemap import MapLink
from pagekin.web.readable import readable
from pagekin.web.rendering import host, render, view_route

_SITES, _STARTS, _EXAMPLES = 10, 12, 6
_LONGEST_EXAMPLE = 24
_PATIENCE, _ASK_AGAIN = 0.5, 60.0
"""Seconds that leaves have to tell what pages are called, and after which those that did not are asked again."""


class SiteLink(Struct, frozen=True, kw_only=True):
    """A site, or a collection below a router."""

    name: str
    pages: int
    """0 if it is not known."""
    node: int = 0
    """Its cluster in the hierarchy of addresses; 0 if it has none."""
    url: str = ""
    """Where it is served, if it is below a router."""


class Start(Struct, frozen=True, kw_only=True):
    """A page to start browsing from."""

    page: PageLink
    cluster: ClusterLink
    """What it stands for."""
    way: str = ""
    """Where it stands, if its name is only the end of its address."""
    path: tuple[str, ...] = ()
    """Names of the routers that lead to it, if all are known."""


class HomeView(Struct, frozen=True, kw_only=True):
    """The contents of a collection, or of all below a router."""

    name: str
    leaf: bool
    pages: int
    exact: bool
    """False if pages that several collections share were counted more than once."""
    figures: tuple[tuple[str, int], ...]
    """(what, how many)."""
    languages: tuple[tuple[str, str, int], ...]
    """(code, name, pages), the most frequent first."""
    map: ClusterMap
    examples: tuple[str, ...]
    """Words to search for."""
    sites: tuple[SiteLink, ...]
    sites_total: int
    collections: int
    """Collections that are searched: those below a router, however deep, as far as their labels tell."""
    starts: tuple[Start, ...]
    """At a router, which knows addresses alone, those whose titles could be asked for or whose addresses can be read."""
    above: int = 0
    """Topics at the top of the hierarchy, of which those on the map are parts."""
    like: PageLink | None = None
    """A page of which one may ask what is like it."""
    waiting: int = 0
    """Collections below that have not told yet what they hold."""


def readable_name(name: str) -> str:
    """Return a collection's name as a person would write it: the_birds gives "The birds"."""
    words = " ".join(plain_text(name).replace("_", " ").replace("-", " ").split())
    return words[:1].upper() + words[1:] if words else "This collection"


def home_of_collection(opened: Collection) -> HomeView:
    """Return the contents of a collection, computed once while it is open."""
    collection = CollectionView.of(opened)
    facts = collection.corpus.facts
    tree = collection.tree("clusters")
    nodes = sorted(first_level(tree), key=lambda node: (-len(tree.pages_of(node)), node)) or [0]
    links = [map_link(collection, tree, node, group=tree.path(node)[:2][-1]) for node in nodes]
    languages = [(code, count) for code, count in collection.languages if code and code != "unknown"]
    figures = (
        ("page", len(collection.corpus)), ("site", len(collection.sites)), ("topic", len(nodes)),
        ("word", int(facts["words"])), ("link", int(facts["links"])), ("language", len(languages)),
    )  # fmt: skip
    return HomeView(
        name=readable_name(collection.name),
        leaf=True,
        pages=len(collection.corpus),
        exact=True,
        figures=tuple((what, count) for what, count in figures if count > 1 or what == "page"),
        languages=tuple((code, language_name(code), count) for code, count in languages),
        map=ClusterMap.of_links(links, MOST_SHOWN),
        examples=_example_words(tree.descriptions[node].terms for node in nodes) if tree.descriptions else (),
        sites=_sites(collection),
        sites_total=len(collection.sites),
        collections=1,
        starts=(starts := tuple(islice(_starts(collection, tree, nodes), _STARTS))),
        above=len(tree.children[0]),
        like=_short_named(one.page for one in starts) if collection.related else None,
    )


def _example_words(several: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Return the most characteristic word of each cluster, enough for examples."""
    words: list[str] = []
    for terms in several:
        fitting = (one for one in map(plain_text, terms) if 2 < len(one) <= _LONGEST_EXAMPLE and one.isalpha())
        words += next(([one] for one in fitting if one not in words), [])
    return tuple(words[:_EXAMPLES])


def _short_named(pages: Iterable[PageLink]) -> PageLink | None:
    """Return the first page whose title is short enough for a question, if there is one."""
    return next((one for one in pages if one.title != one.url and len(one.title) <= _LONGEST_EXAMPLE), None)


def _sites(collection: CollectionView) -> tuple[SiteLink, ...]:
    """Return the largest sites, with their places in the hierarchy of addresses."""
    tree = collection.trees.get("addresses")
    nodes = {plain_text(tree.descriptions[node].name): node for node in tree.children[0]} if tree else {}
    return tuple(SiteLink(name=name, pages=pages, node=nodes.get(name, 0)) for name, pages in collection.sites[:_SITES])


def _starts(collection: CollectionView, tree: Tree, nodes: Iterable[int]) -> Iterator[Start]:
    """Yield the most central page of each of the largest clusters, preferably each of another site."""
    seen = set[str]()
    for node in nodes:
        central = collection.fold_documents(tree.descriptions[node].central) if tree.descriptions else []
        if links := collection.page_links(central):
            link = next((one for one in links if one.site not in seen), links[0])
            seen.add(link.site)
            yield Start(page=link, cluster=collection.cluster_link(tree, node))


def home_of_router(router: Service, label: ContentLabel) -> HomeView:
    """Return the contents below a router, from the labels it has."""
    clusters = sorted(label.clusters, key=lambda one: -one.num_docs)
    links = [MapLink(tree="", node=one.number, name=plain_text(one.name), pages=one.num_docs) for one in clusters]
    sites = sorted(
        (
            SiteLink(name=plain_text(name), pages=child.label.num_docs if child.label else 0, url=child.url)
            for name, child in router.children.items()
        ),
        key=lambda one: (-one.pages, one.name),
    )
    collections = len(label.leaves) or len(sites)
    figures = (("page", label.num_docs), ("collection", collections), ("topic", len(links)), ("word", label.num_words))
    return HomeView(
        name=plain_text(router.name),
        leaf=False,
        pages=label.num_docs,
        exact=label.exact,
        figures=tuple((what, count) for what, count in figures if count > 1 or what == "page"),
        languages=(),
        map=ClusterMap.of_links(links, MOST_SHOWN),
        examples=_example_words(one.heaviest for one in clusters),
        sites=tuple(sites[: 2 * _SITES]),
        sites_total=len(sites),
        collections=collections,
        starts=tuple(islice(_readable_starts(clusters, frozenset(label.words)), _STARTS)),
        waiting=label.waiting,
    )


def _readable_starts(clusters: Iterable[SubCluster], known: Container[str]) -> Iterator[Start]:
    """Yield a central page with a readable address of each of the largest clusters, preferably of different sites."""
    sites: set[str] = set()
    names: set[str] = set()
    for cluster in clusters:
        pages = [(url, *readable(url, known)) for url in cluster.urls]
        # One word alone may be "submit": it has to be what the cluster is about.
        good = [
            (url, name, way)
            for url, name, way in pages
            if name and fold_case(name) not in names and (" " in name or not way or fold_case(name) in cluster.heaviest)
        ]
        if not good:
            continue
        # Several words tell more than one, and that more than the name of a host.
        url, name, way = max(good, key=lambda one: (host(one[0]) not in sites, (" " in one[1]) + (one[2] != "")))
        sites.add(host(url))
        names.add(fold_case(name))
        yield Start(page=PageLink(url=url, title=name, site=host(url)), way=way, cluster=_link_to(cluster))


def _link_to(cluster: SubCluster) -> ClusterLink:
    return ClusterLink(tree="", node=cluster.number, name=plain_text(cluster.name), pages=cluster.num_docs)


async def _ask_for_starts(router: Service, label: ContentLabel) -> tuple[Start, ...]:
    """Return the most central page of each of the largest clusters, with the title that its leaf gives in time.

    Only children whose own labels name a page can be asked for it, and of these only leaves know what it is called.
    """
    wanted: dict[str, tuple[SubCluster, str]] = {}
    sites: set[str] = set()
    for cluster in sorted(label.clusters, key=lambda one: -one.num_docs)[:_STARTS]:
        ways = [(url, child) for url in cluster.urls if (child := child_naming(router, url))]
        if ways:
            url, child = next((one for one in ways if host(one[0]) not in sites), ways[0])
            sites.add(host(url))
            wanted[url] = cluster, child
    words = [word for cluster, _child in wanted.values() for word in cluster.heaviest[:1] if word.isalpha()]
    if not words:
        return ()
    items = tuple(Item("document", url, (router.name, child)) for url, (_cluster, child) in wanted.items())
    answer = await router.show(ShowRequest(query=" OR ".join(words), items=items, deadline=_PATIENCE))
    titles = {one.url: one for one in answer.results if one.title.strip()}
    return tuple(
        Start(
            page=PageLink(url=url, title=plain_text(titles[url].title), site=host(url)), cluster=_link_to(cluster),
            path=(router.name, child),
        )
        for url, (cluster, child) in wanted.items()
        if url in titles
    )  # fmt: skip


def child_naming(router: Service, url: str) -> str:
    """Return the child of a router whose label names a page; '' if there is none."""
    return next(
        (
            name
            for name, child in router.children.items()
            if child.label and any(url in cluster.urls for cluster in child.label.clusters)
        ),
        "",
    )


class RouterHome:
    """The first page of a router, computed once per label."""

    def __init__(self, router: Service) -> None:
        self._router, self._label = router, router.label
        self._view = home_of_router(router, self._label)
        self._asked = -_ASK_AGAIN
        """When it was last asked what pages are called."""

    async def view(self) -> HomeView:
        """Return the view with page titles, which are asked for once, and again while some are missing."""
        view, now = self._view, time.monotonic()
        whole = sum(bool(one.path) for one in view.starts) == min(len(self._label.clusters), _STARTS)
        if whole or now - self._asked < _ASK_AGAIN:
            return view
        self._asked = now
        starts = await _ask_for_starts(self._router, self._label)
        nodes = {one.cluster.node for one in starts}
        titles = {fold_case(one.page.title) for one in starts}
        others = (
            one
            for one in view.starts
            if one.cluster.node not in nodes and not one.path and fold_case(one.page.title) not in titles
        )
        if starts:
            self._view = msgspec.structs.replace(view, starts=(*starts, *others)[:_STARTS])
        return self._view


async def home_view(service: Service) -> HomeView:
    """Return the first page, computed once for the open collection or the current label."""
    if service.leaf:
        return await service.run(lambda collection: collection.companion(home_of_collection))
    return await service.companion(RouterHome).view()


@view_route(["/", "/index.json"], HomeView, "What is in this collection.")
async def home(request: HttpRequest) -> Response[bytes]:
    """Return what is in this collection: topics, sites, pages to begin with."""
    return render(request, "home.html", await home_view(service_of(request.scope).service))


@get("/start", include_in_schema=False)
async def start(request: HttpRequest, url: Annotated[str, Parameter(max_length=2000)] = "") -> Response[Any]:
    """Redirect to a page that labels name; at a router, through the child whose label names it."""
    service = service_of(request.scope).service
    if child := child_naming(service, url):
        at = service.children[child].url.rstrip("/")
        return Redirect(f"{at}/start?{urlencode({'url': url})}", status_code=303)
    return Redirect(to.page(url), status_code=303)
