"""One page: what is known of it, which pages are like it and why, and who links to it."""

from collections import Counter
from typing import Annotated, Any
from urllib.parse import quote, unquote, urlencode

import numpy as np
import numpy.typing as npt
from litestar import Response, get
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import Parameter
from litestar.response import Redirect
from msgspec import Struct
from msgspec.structs import replace

from pagekin.hypertext.nearest import nearest_urls
from pagekin.routers.http import Served, served
from pagekin.routers.messages import Found, RelatedRequest, RouterError
from pagekin.routers.router import Router
from pagekin.similarity import Query, RelatedError, RelatedIndex
from pagekin.similarity.explain import Citations, links_to
from pagekin.web.brief import number_in_full
from pagekin.web.collection import ClusterLink, Collection, PageLink, collection_of
from pagekin.web.languages import language_name
from pagekin.web.pages.why import (
    Quote,
    Similar,
    Term,
    as_written,
    links_from,
    opening,
    quoted,
    similar_pages,
    targets_of,
    terms_of,
    text_of,
)
from pagekin.web.pictures.neighbourhood import Link, Neighbourhood, Node, Role
from pagekin.web.shown import Asking, shown, tail, wants_json

Array = npt.NDArray[Any]
LONGEST_URL = 8_000
SIMILAR, TERMS, QUOTES = 10, 12, 8
NEIGHBOURS = 5
"""Of each kind that the picture shows."""
_LOOKED_AT = 64
"""Linked pages, of many, among which the most similar are chosen."""
LINKING = 100
"""Other linking pages that are named without a quotation."""
_TAIL = 26
"""Characters of the end of an address that stands for a title."""
_DOCUMENT_PAGES, _COPIES = 20, 20
"""Pages of the same document, and near copies, that are named."""
TREES = {"clusters": "Topic", "addresses": "Address"}
"""Names of hierarchies for people; others are shown as they are called."""


class Trail(Struct, frozen=True, kw_only=True):
    """A page's place in a hierarchy."""

    tree: str
    name: str
    clusters: list[ClusterLink]
    """From the whole collection to the cluster that holds the page."""

    @property
    def crumbs(self) -> list[ClusterLink]:
        """The same in short: of clusters of one name in a row, the last."""
        below = [*(one.name for one in self.clusters[1:]), None]
        return [one for one, name in zip(self.clusters, below, strict=True) if one.name != name]


class Document(Struct, frozen=True, kw_only=True):
    """The document over several pages of which a page is a part."""

    cluster: ClusterLink
    pages: list[PageLink]
    """Its other pages, some of them if there are many."""


class PageView(Struct, frozen=True, kw_only=True):
    """What is known of a page."""

    page: PageLink
    language: str = ""
    opening: str = ""
    """How its text begins."""
    text: str = ""
    """The first of its plain text."""
    aliases: list[str] = []
    captures: int = 0
    """How many times it was read; 0 if it is known only by links to it."""
    terms: list[Term] = []
    """What it is known by, the heaviest first."""
    linking_pages: int = 0
    """Other pages that link to it."""
    linked_pages: int = 0
    """Other addresses that it links to."""
    quotes: list[Quote] = []
    """Some of the links to it."""
    also_linking: list[PageLink] = []
    """Pages of which no link is quoted."""
    trails: list[Trail] = []
    document: Document | None = None
    other: bool = False
    """Whether only pages of other sites were asked for."""
    one_site: bool = False
    """Whether there are no other sites."""
    similar: list[Similar] = []
    copies: list[PageLink] = []
    """Near copies of it."""
    more_copies: int = 0
    neighbourhood: Neighbourhood | None = None
    note: str = ""
    """Why there are no similar pages, if that is not because none is alike."""


class RoutedView(Struct, frozen=True, kw_only=True):
    """Pages of a network that are like a page."""

    url: str
    similar: list[Found]
    partial: list[str]
    """Why something may be missing."""
    asked: int
    """Collections that were asked."""


class UnknownView(Struct, frozen=True, kw_only=True):
    """An address that is not there."""

    status_code: int
    detail: str
    url: str
    nearest: list[PageLink]
    """Addresses that look like it."""


_SHOWN: Any = PageView | RoutedView
Url = Annotated[str, Parameter(description="The address of a page.")]
Other = Annotated[bool, Parameter(description="Only pages of other sites.")]
Path = Annotated[
    str, Parameter(description="Names of routers that lead to the page, as results tell them, joined by /.")
]


@get(
    ["/page", "/page.json"],
    responses={
        200: ResponseSpec(_SHOWN, generate_examples=False, description="What is known of a page."),
        404: ResponseSpec(UnknownView, generate_examples=False, description="There is no such address."),
    },
)
async def page(request: Asking, url: Url = "", other: Other = False, path: Path = "") -> Response[Any]:
    """Show what is known of a page, pages that are like it and why."""
    url = checked_url(url)
    here = served(request.scope)
    if isinstance(here.service, Router):
        return await _routed(request, here, url, other, path)
    collection = collection_of(here.service)
    number = number_of(collection, url)
    if number < 0:
        return unknown(request, collection, url)
    return shown(request, "page.html", page_view(collection, number, other=other))


def checked_url(url: str) -> str:
    """An address as it was given, or an error that says what is wrong."""
    if not url.strip():
        raise RouterError("Which page? Its address belongs here: /page?url=http://…")
    if len(url) > LONGEST_URL:
        raise RouterError(f"An address of {len(url):,} characters is too long: {LONGEST_URL:,} are the most.")
    return url.strip()


def number_of(collection: Collection, url: str) -> int:
    """The number of an address, also if it was given without http:// or abbreviated; -1 if it is unknown."""
    if (number := number_in_full(collection.corpus, url)) >= 0:
        return number
    spellings = (url,) if "://" in url else (url, f"http://{url}", f"https://{url}")
    return next((found for one in spellings if (found := collection.corpus.url_number(one)) >= 0), -1)


def unknown(request: Asking, collection: Collection, url: str) -> Response[bytes]:
    """The answer to an address that is not there: with those that look like it."""
    found = (collection.corpus.url_number(one) for one in nearest_urls(collection.corpus, url, 5))
    nearest = [collection.link(number) for number in dict.fromkeys(found) if number >= 0]
    detail = f"{url[:500]} is not in {collection.name}."
    return shown(request, "unknown.html", UnknownView(status_code=404, detail=detail, url=url, nearest=nearest), 404)


# -- a page of a collection -----------------------------------------------------------------------------------------------


def page_view(collection: Collection, number: int, *, other: bool = False) -> PageView:
    """All that is shown of an address of a collection."""
    corpus, index = collection.corpus, collection.related
    pages = corpus.pages_of(number)
    facts: dict[str, Any] = {}
    if pages:
        code = corpus.language(pages[0])
        facts = {
            "language": language_name(code),
            "opening": opening(collection, pages[0]),
            "text": text_of(collection, pages[0]),
            "trails": _trails(collection, pages[0]),
            "document": _document(collection, pages[0]),
        }
    citations = Citations(corpus)
    query, note = _query(collection, index, number)
    anchors, citing = links_to(corpus, number)
    linked = links_from(corpus, pages[0]) if pages else np.zeros(0, np.int64)
    order, likeness = _most_similar(collection, query, np.asarray(corpus.pages.url)[citing])
    if index and query:
        facts |= _alike(collection, index, query, other)
        terms = terms_of(collection, index, query.documents[0], TERMS)
        facts["terms"], facts["similar"] = as_written(collection, [number], terms, facts["similar"])
    onward = _most_similar(collection, query, linked)
    return PageView(
        page=collection.link(number),
        aliases=corpus.aliases_of(number)[:_COPIES],
        captures=len(pages),
        linking_pages=len(anchors),
        linked_pages=len(linked),
        quotes=[quoted(collection, citations.of(int(anchors[place]))) for place in order[:QUOTES]],
        also_linking=_also_linking(collection, citing, order),
        other=other,
        one_site=_one_site(index),
        neighbourhood=_neighbourhood(
            collection,
            number,
            [(int(corpus.pages.url[citing[place]]), likeness.get(place, 0.0)) for place in order],
            [(int(linked[place]), onward[1].get(place, 0.0)) for place in onward[0]],
            facts.get("similar", []),
        ),
        note=note,
        **facts,
    )


def _query(collection: Collection, index: RelatedIndex | None, number: int) -> tuple[Query | None, str]:
    """(the query that an address makes, why there is none)."""
    if index is None:
        return None, "Similar pages have not been looked for in this collection: `pagekin index` does that."
    try:
        return index.query_of([collection.corpus.url(number)]), ""
    except RelatedError:
        return None, "There is nothing to compare it by: neither the page nor a link to it has a word that counts."


def _one_site(index: RelatedIndex | None) -> bool:
    return index is None or index.facts["site_rule"] == "none"


def _alike(collection: Collection, index: RelatedIndex, query: Query, other: bool) -> dict[str, Any]:
    """Similar pages and near copies."""
    other = other and not _one_site(index)
    answer = index.answer(query, SIMILAR, sites="other" if other else "all")
    copies = index.answer(query, 1).copies if other else answer.copies
    return {
        "similar": similar_pages(collection, index, query, answer.results),
        "copies": [collection.link(collection.corpus.url_number(url)) for url in copies[:_COPIES]],
        "more_copies": max(0, len(copies) - _COPIES),
    }


def _most_similar(collection: Collection, query: Query | None, numbers: Array) -> tuple[list[int], dict[int, float]]:
    """(the places of some addresses, the most similar to a query first; the similarity of those that can be compared)."""
    some = list(range(0, len(numbers), max(1, -(-len(numbers) // _LOOKED_AT))))
    index = collection.related
    if not index or not query:
        return some, {}
    place_of = {index.bags.document(int(numbers[place])): place for place in some}
    place_of.pop(-1, None)
    if not place_of:
        return some, {}
    documents, similarity = index.rerank(query, np.array(list(place_of), np.int64), -1.0)
    likeness = {
        place_of[document]: value for document, value in zip(documents.tolist(), similarity.tolist(), strict=True)
    }
    return [*likeness, *(place for place in some if place not in likeness)], likeness


def _also_linking(collection: Collection, citing: Array, order: list[int]) -> list[PageLink]:
    """Pages whose links are not quoted, by their titles; some of them if there are many."""
    seen = set(order)
    rest = [*order[QUOTES:], *(place for place in range(len(citing)) if place not in seen)]
    links = collection.page_links(citing[rest[:LINKING]])
    return sorted(links, key=lambda link: (link.title.casefold(), link.url))


def _trails(collection: Collection, page: int) -> list[Trail]:
    """The page's place in each hierarchy."""
    found = []
    for name, tree in collection.trees.items():
        if name == "documents":
            continue
        for node in tree.homes(page)[:3]:
            root, *below = (collection.cluster_link(tree, one) for one in tree.path(node))
            clusters = [replace(root, name="All pages"), *below]
            found.append(Trail(tree=name, name=TREES.get(name, name), clusters=clusters))
    return found


def _document(collection: Collection, page: int) -> Document | None:
    """The document to which a page belongs, if that has more pages."""
    tree = collection.trees.get("documents")
    node = next(iter(tree.homes(page)), 0) if tree else 0
    if not tree or not node:
        return None
    others = [other for other in tree.pages_of(node).tolist() if other != page]
    return Document(cluster=collection.cluster_link(tree, node), pages=collection.page_links(others[:_DOCUMENT_PAGES]))


def _neighbourhood(
    collection: Collection,
    number: int,
    citing: list[tuple[int, float]],
    linked: list[tuple[int, float]],
    similar: list[Similar],
) -> Neighbourhood | None:
    """The page, those that link to it, those that it links to and those that are like it, with all links between them."""
    corpus = collection.corpus
    alike = [(corpus.url_number(one.page.url), one.similarity) for one in similar]
    chosen: dict[int, tuple[Role, float]] = {number: ("here", 0.0)}
    sides: tuple[tuple[Role, list[tuple[int, float]]], ...] = (("in", citing), ("out", linked), ("similar", alike))
    for role, some in sides:
        fresh = [one for one in some if one[0] not in chosen]
        chosen |= {found: (role, likeness) for found, likeness in fresh[:NEIGHBOURS]}
    if len(chosen) == 1:
        return None
    links_of = {found: collection.link(found) for found in chosen}
    titles = Counter(link.title for link in links_of.values())
    nodes = []
    for found, (role, likeness) in chosen.items():
        link = links_of[found]
        # Of several pages of one title the addresses tell which is which.
        title = link.title if titles[link.title] == 1 or role == "here" else tail(link.url, _TAIL)
        nodes.append(Node(url=link.url, title=title, role=role, similarity=likeness))
    place_of = {found: place for place, found in enumerate(chosen)}
    links = [
        Link(place_of[found], place_of[target])
        for found in chosen
        for one in corpus.pages_of(found)[:1]
        for target in sorted(place_of.keys() & targets_of(corpus, one) - {found})
    ]
    return Neighbourhood(nodes=nodes, links=links)


# -- a page of a network --------------------------------------------------------------------------------------------------


async def _routed(request: Asking, here: Served, url: str, other: bool, path: str) -> Response[Any]:
    """At a router: on to the child that leads to the page, or pages of the whole network that are like it."""
    router = here.service
    assert isinstance(router, Router)
    names = [unquote(name) for name in path.split("/")] if path else []
    if len(names) > 1:
        if names[1] not in router.children:
            raise RouterError(f"{router.name} knows no router '{names[1][:100]}'", 404)
        rest = "/".join(quote(name, safe="") for name in names[1:])
        asked = {"url": url, **({"other": 1} if other else {}), "path": rest}
        page = "page.json" if wants_json(request) else "page"
        return Redirect(f"{router.children[names[1]].url.rstrip('/')}/{page}?{urlencode(asked)}", status_code=303)
    answer = await here.timed("related", router.related(RelatedRequest(url=url[:2000], limit=SIMILAR)))
    view = RoutedView(
        url=url, similar=list(answer.results), partial=list(answer.partial), asked=sum(one.leaf for one in answer.asked)
    )
    return shown(request, "page_routed.html", view)
