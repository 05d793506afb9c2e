"""The first page: what is in this collection."""

from collections.abc import Iterable, Iterator
from weakref import WeakKeyDictionary

from litestar import Response, get
from litestar.openapi.datastructures import ResponseSpec
from msgspec import Struct

from pagekin.clusters import Tree
from pagekin.labels import ContentLabel
from pagekin.routers.http import served
from pagekin.routers.leaf import Leaf
from pagekin.routers.open_leaf import plain
from pagekin.routers.router import Router
from pagekin.web.collection import ClusterLink, Collection, PageLink, collection_of
from pagekin.web.pages.tree import ClusterMap, MapLink, covers_of, map_link
from pagekin.web.shown import Asking, shown

_SITES, _STARTS, _EXAMPLES = 10, 12, 6
_FEWEST_ON_MAP, _MOST_ON_MAP = 2, 40
_LONGEST_EXAMPLE = 24
_LANGUAGES = dict(
    pair.split("=")
    for pair in (
        "ar=Arabic bg=Bulgarian ca=Catalan cs=Czech cy=Welsh da=Danish de=German el=Greek en=English eo=Esperanto es=Spanish "
        "et=Estonian eu=Basque fa=Persian fi=Finnish fr=French ga=Irish gl=Galician he=Hebrew hi=Hindi hr=Croatian "
        "hu=Hungarian id=Indonesian is=Icelandic it=Italian ja=Japanese ko=Korean la=Latin lt=Lithuanian lv=Latvian "
        "ms=Malay nl=Dutch no=Norwegian nn=Norwegian pl=Polish pt=Portuguese ro=Romanian ru=Russian sk=Slovak sl=Slovenian "
        "sq=Albanian sr=Serbian sv=Swedish sw=Swahili th=Thai tr=Turkish uk=Ukrainian vi=Vietnamese zh=Chinese"
    ).split()
)


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
    """A page to begin with."""

    page: PageLink
    cluster: ClusterLink
    """What it stands for."""


class HomeView(Struct, frozen=True, kw_only=True):
    """What is in a collection, or below a router."""

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
    starts: tuple[Start, ...]
    """None at a router, which does not know what pages are called."""
    waiting: int = 0
    """Collections below that have not told yet what they hold."""


def friendly(name: str) -> str:
    """A collection's name as a person would write it: the_birds is "The birds"."""
    words = " ".join(plain(name).replace("_", " ").replace("-", " ").split())
    return words[:1].upper() + words[1:] if words else "This collection"


def shown_nodes(tree: Tree) -> list[int]:
    """The level of a hierarchy that people see first: the one that was chosen when it was made, or the uppermost."""
    chosen = [int(node) for node in tree.facts.get("shown", ()) if 0 < int(node) < len(tree)]
    return chosen if _FEWEST_ON_MAP <= len(chosen) <= _MOST_ON_MAP else tree.children[0]


def home_of_collection(collection: Collection) -> HomeView:
    """What is in a collection."""
    facts = collection.corpus.facts
    tree = collection.trees["clusters"]
    nodes = sorted(shown_nodes(tree), key=lambda node: (-len(tree.pages_of(node)), node)) or [0]
    links = [map_link(collection, tree, node, group=tree.path(node)[:2][-1]) for node in nodes]
    languages = [(code, count) for code, count in collection.languages if code and code != "unknown"]
    figures = (
        ("page", len(collection.corpus)), ("site", len(collection.sites)), ("topic", len(nodes)),
        ("word", int(facts["words"])), ("link", int(facts["links"])), ("language", len(languages)),
    )  # fmt: skip
    return HomeView(
        name=friendly(collection.name),
        leaf=True,
        pages=len(collection.corpus),
        exact=True,
        figures=tuple((what, count) for what, count in figures if count > 1 or what == "page"),
        languages=tuple((code, _LANGUAGES.get(code, code), count) for code, count in languages),
        map=ClusterMap.of_links(links, _MOST_ON_MAP),
        examples=tuple(_different(tree.described[node].terms for node in nodes)) if tree.described else (),
        sites=_sites(collection),
        sites_total=len(collection.sites),
        starts=tuple(_starts(collection, tree, nodes)),
    )


def _different(several: Iterable[Iterable[str]]) -> Iterator[str]:
    """The most telling word of each cluster, as long as there are examples to find."""
    found: list[str] = []
    for terms in several:
        word = next(
            (
                one
                for one in map(plain, terms)
                if 2 < len(one) <= _LONGEST_EXAMPLE and one.isalpha() and one not in found
            ),
            "",
        )
        if word:
            found.append(word)
            yield word
        if len(found) == _EXAMPLES:
            return


def _sites(collection: Collection) -> tuple[SiteLink, ...]:
    """The largest sites, with their places in the hierarchy of addresses."""
    tree = collection.trees.get("addresses")
    nodes = {plain(tree.described[node].name): node for node in tree.children[0]} if tree else {}
    return tuple(SiteLink(name=name, pages=pages, node=nodes.get(name, 0)) for name, pages in collection.sites[:_SITES])


def _starts(collection: Collection, tree: Tree, nodes: Iterable[int]) -> Iterator[Start]:
    """The most central page of each of the largest clusters; where it can be, of another site each."""
    covers, seen = covers_of(collection), set[str]()
    several, found = len(collection.sites) > 1, 0
    for node in nodes:
        central = covers.once(tree.described[node].central) if tree.described else []
        if not central or found == _STARTS:
            continue
        links = collection.page_links(central)
        link = next((one for one in links if one.site not in seen), links[0]) if several else links[0]
        seen.add(link.site)
        found += 1
        yield Start(page=link, cluster=collection.cluster_link(tree, node))


def home_of_router(router: Router, label: ContentLabel) -> HomeView:
    """What is below a router, as far as its children have told."""
    clusters = sorted(label.clusters, key=lambda one: -one.num_docs)
    links = [MapLink(tree="", node=one.number, name=plain(one.name), pages=one.num_docs) for one in clusters]
    sites = sorted(
        (
            SiteLink(name=plain(name), pages=child.label.num_docs if child.label else 0, url=child.url)
            for name, child in router.children.items()
        ),
        key=lambda one: (-one.pages, one.name),
    )
    figures = (("page", label.num_docs), ("collection", len(sites)), ("topic", len(links)), ("word", label.num_words))
    return HomeView(
        name=plain(router.name),
        leaf=False,
        pages=label.num_docs,
        exact=label.exact,
        figures=tuple((what, count) for what, count in figures if count > 1 or what == "page"),
        languages=(),
        map=ClusterMap.of_links(links, _MOST_ON_MAP),
        examples=tuple(_different(one.heaviest for one in clusters)),
        sites=tuple(sites[: 2 * _SITES]),
        sites_total=len(sites),
        starts=(),  # Labels tell addresses of pages, but no titles, and who knows "images" or "markhill"?
        waiting=label.waiting,
    )


_collections: WeakKeyDictionary[Collection, HomeView] = WeakKeyDictionary()
_routers: WeakKeyDictionary[Router, tuple[ContentLabel, HomeView]] = WeakKeyDictionary()


def home_view(service: Leaf | Router) -> HomeView:
    """What is here; made once for what is open, or known, now."""
    if isinstance(service, Leaf):
        collection = collection_of(service)
        if collection not in _collections:
            _collections[collection] = home_of_collection(collection)
        return _collections[collection]
    label = service.label
    kept = _routers.get(service)
    if kept is None or kept[0] is not label:
        kept = _routers[service] = label, home_of_router(service, label)
    return kept[1]


@get(
    ["/", "/index.json"],
    responses={200: ResponseSpec(HomeView, generate_examples=False, description="What is in this collection.")},
)
async def home(request: Asking) -> Response[bytes]:
    """What is in this collection: topics, sites, pages to begin with."""
    return shown(request, "home.html", home_view(served(request.scope).service))
