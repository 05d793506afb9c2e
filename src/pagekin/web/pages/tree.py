"""A hierarchy of the collection's pages: clusters, level by level, down to the pages."""

from collections.abc import Sequence
from typing import Annotated, Any

from litestar import Response
from litestar.params import FromPath, Parameter
from msgspec import Struct, structs

from pagekin.clusters import DOCUMENTS_TREE as DOCUMENTS
from pagekin.clusters import Tree
from pagekin.collection import ServiceError
from pagekin.labels import plain_text
from pagekin.routers import HttpRequest, service_of
from pagekin.web import addresses
from pagekin.web.collection_view import ClusterLink, CollectionView, PageLink, in_collection
from pagekin.web.pictures.treemap import MapLink, Tile, tiles
from pagekin.web.rendering import redirect, render, short, view_route

PAGES, CHILDREN, GRANDCHILDREN = 30, 30, 6
"""How many of each are listed on one page."""
ON_MAP = 30
WIDE, TALL = 1100, 360
"""Widths of maps, for large screens and for phones; their heights grow with what is on them."""
_TITLES_ON_MAP, _TERMS = 4, 6
_FEWEST_SHOWN, MOST_SHOWN = 2, 40
"""Topics on the first page's map."""
_LEAST = 18.0
"""The least side of a tile: a number of two digits fits."""
TITLES = {"clusters": "Topics", "addresses": "Sites and folders", "directory": "Directory", DOCUMENTS: "Long documents"}
"""What hierarchies are called for people."""
ABOUT = {
    "clusters": "Pages on the same subject, by their words and links.",
    "addresses": "Pages by their site and folder.",
    "directory": "Pages in a directory made by people.",
    DOCUMENTS: "Documents that their authors split into several pages.",
}


class Picture(Struct, frozen=True):
    """A drawn map."""

    width: int
    height: int
    tiles: tuple[Tile, ...]
    left_out: tuple[int, ...] = ()
    """The places of clusters whose tiles would be too small for a number."""

    @property
    def numbered(self) -> list[int]:
        """Return the places of clusters whose tiles are too small for a name."""
        return [tile.number for tile in self.tiles if not tile.lines]

    @property
    def unnamed(self) -> list[int]:
        """Return the places of clusters to name below the map: those with a number, then those not on it."""
        return [*self.numbered, *self.left_out]


class ClusterMap(Struct, frozen=True):
    """Clusters as a map, with areas in proportion to their numbers of pages."""

    clusters: tuple[MapLink, ...] = ()
    of: int = 0
    """How many there are; the largest are on the map."""

    @classmethod
    def of_links(cls, links: Sequence[MapLink], most: int = ON_MAP) -> "ClusterMap":
        """Return the map of the largest clusters; an empty one for fewer than two."""
        held = [link for link in links if link.pages]
        largest = sorted(held, key=lambda link: -link.pages)[:most]
        return cls(tuple(largest), len(held)) if len(held) > 1 else cls()

    def draw(self, width: int, height: int) -> Picture:
        """Draw the map in a size, without clusters whose tiles could not hold a number."""
        parts = list(self.clusters)
        out: list[int] = []
        drawn = tiles(tuple(parts), width, height)
        while any(not tile.lines and min(tile.box.width, tile.box.height) < _LEAST for tile in drawn):
            # The smallest come last.
            out.insert(0, len(parts) - 1 - len(out))
            parts[out[0]] = structs.replace(parts[out[0]], pages=0)
            drawn = tiles(tuple(parts), width, height)
        return Picture(width, height, drawn, tuple(out))

    @property
    def wide(self) -> Picture:
        """Return the map for large screens."""
        return self.draw(WIDE, min(240 + 14 * len(self.clusters), 540))

    @property
    def tall(self) -> Picture:
        """Return the map for phones."""
        return self.draw(TALL, min(240 + 18 * len(self.clusters), 760))


class Tab(Struct, frozen=True):
    """A hierarchy to switch to."""

    tree: str
    title: str
    about: str


class ListedPage(PageLink, frozen=True, kw_only=True):
    """A page in a list, or a composite document."""

    pages: int = 1


class Branch(ClusterLink, frozen=True, kw_only=True):
    """A child cluster with its contents."""

    terms: tuple[str, ...] = ()
    """Those that are not in its name already."""
    children: tuple[ClusterLink, ...] = ()
    more: int = 0
    """Clusters in it that are not listed."""


class TreeView(Struct, frozen=True, kw_only=True):
    """A cluster of a hierarchy."""

    tree: str
    title: str
    tabs: tuple[Tab, ...]
    here: ClusterLink
    path: tuple[ClusterLink, ...]
    """From the root to what is above it."""
    terms: tuple[str, ...]
    """What sets it apart from its siblings."""
    label: int
    """Its number among the sub-clusters of the content label; 0 if it is none of them."""
    central: tuple[ListedPage, ...]
    map: ClusterMap
    children: tuple[Branch, ...]
    children_total: int
    shown: int
    """At the root of topics: how many the first page shows; 0 elsewhere."""
    pages: tuple[ListedPage, ...]
    """Pages that are in no cluster below."""
    pages_total: int
    page: int
    last: int


def first_level(tree: Tree) -> list[int]:
    """Return the nodes to show first: the level chosen when the hierarchy was made, or the top level."""
    chosen = [int(node) for node in tree.facts.get("shown", ()) if 0 < int(node) < len(tree)]
    return chosen if _FEWEST_SHOWN <= len(chosen) <= MOST_SHOWN else tree.children[0]


def list_pages(collection: CollectionView, pages: Sequence[int]) -> tuple[ListedPage, ...]:
    """Return pages and documents as list entries."""
    sizes = collection.collection.document_pages
    return tuple(
        ListedPage(**structs.asdict(link), pages=max(int(sizes[page]), 1))
        for page, link in zip(pages, collection.page_links(pages), strict=True)
    )


def map_link(collection: CollectionView, tree: Tree, node: int, group: int = -1) -> MapLink:
    """Return a node as a tile of a map."""
    link = collection.cluster_link(tree, node)
    central = collection.fold_documents(tree.descriptions[node].central) if tree.descriptions else []
    titles = dict.fromkeys(short(collection.page_link(page).title, 60) for page in central)  # each once
    return MapLink(**structs.asdict(link), group=group, titles=tuple(titles)[:_TITLES_ON_MAP])


def _branch(collection: CollectionView, tree: Tree, node: int) -> Branch:
    link = collection.cluster_link(tree, node)
    below = tree.children[node]
    named = link.name.split(", ")
    terms = map(plain_text, tree.descriptions[node].terms if tree.descriptions else ())
    return Branch(
        **structs.asdict(link),
        terms=tuple(term for term in terms if term not in named)[:_TERMS],
        children=tuple(collection.cluster_link(tree, child) for child in below[:GRANDCHILDREN]),
        more=max(len(below) - GRANDCHILDREN, 0),
    )


def _node_link(collection: CollectionView, tree: Tree, node: int) -> ClusterLink:
    """Return a link to a node; the root has the name of the hierarchy."""
    link = collection.cluster_link(tree, node)
    return link if node else structs.replace(link, name=TITLES.get(tree.name, tree.name))


def tree_view(collection: CollectionView, name: str, node: int, page: int) -> TreeView:
    """Return the view of a node of a hierarchy, or raise a ServiceError that says what there is."""
    tree = collection.tree(name)
    if not 0 <= node < len(tree):
        raise ServiceError(f"there is no cluster {node} in '{name}'; the last is {len(tree) - 1}", 404)
    about = tree.descriptions[node] if tree.descriptions else None
    central = collection.fold_documents(about.central) if about else []
    here, *above = (_node_link(collection, tree, one) for one in reversed(tree.path(node)))
    below = tree.children[node]
    # The pages of a document are what is to be seen of it; elsewhere it is one line.
    own = tree.pages[tree.offsets[node] : tree.offsets[node + 1]].tolist()
    if name != DOCUMENTS:
        first = set(central)
        own = [one for one in collection.fold_documents(own) if one not in first]
        own = own if below else [*central, *own]
    last = max(-(-len(own) // PAGES), -(-len(below) // CHILDREN), 1)
    if page > last:
        raise ServiceError(f"there is no page {page} here; the last is {last}", 404)
    where = next((one.number for one in collection.label.clusters if node in one.nodes), 0)
    return TreeView(
        tree=name,
        title=TITLES.get(name, name),
        tabs=tuple(Tab(one, TITLES.get(one, one), ABOUT.get(one, "")) for one in collection.trees),
        here=here,
        path=tuple(reversed(above)),
        terms=tuple(map(plain_text, about.terms)) if about and node else (),
        label=where if name == "clusters" else 0,
        central=list_pages(collection, central) if below else (),
        map=ClusterMap.of_links([map_link(collection, tree, child) for child in below]),
        children=tuple(_branch(collection, tree, child) for child in below[(page - 1) * CHILDREN : page * CHILDREN]),
        children_total=len(below),
        shown=len(first_level(tree)) if name == "clusters" and not node else 0,
        pages=list_pages(collection, own[(page - 1) * PAGES : page * PAGES]),
        pages_total=len(own),
        page=page,
        last=last,
    )


def parse_number(text: str) -> int:
    """Return the number in an address, or raise a ServiceError."""
    text = text.removesuffix(addresses.JSON)
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ServiceError(f"name a cluster by its number, not by '{text[:100]}'", 404)
    return int(text)


@view_route(["/tree/{name:str}", "/tree/{name:str}/{node:str}"], TreeView, "A cluster of a hierarchy.")
async def tree(
    request: HttpRequest,
    name: Annotated[str, Parameter(description="The hierarchy; add .json for JSON.")],
    node: FromPath[str] = "0",
    page: Annotated[int, Parameter(ge=1, le=1_000_000, description="Which page of a long list.")] = 1,
) -> Response[Any]:
    """Return a hierarchy: clusters by topic, addresses, a directory, or composite documents."""
    service = service_of(request.scope).service
    if not service.leaf:
        return redirect(request, addresses.service("cluster"))
    chosen, number = name.removesuffix(addresses.JSON), parse_number(node)
    return render(request, "tree.html", await in_collection(service, tree_view, chosen, number, page))
