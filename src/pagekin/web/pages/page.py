"""The page about a web page: what is known of it, similar pages and why, and its inlinks."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import quote as quote_url
from urllib.parse import unquote, urlencode

from litestar import Response, get
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import Parameter
from msgspec import Struct
from msgspec.structs import replace

from pagekin.collection import Answer, Filters, RelatedOptions, RelatedRequest, ServiceError, similarities_to
from pagekin.hypertext import guess_url, nearest_urls
from pagekin.routers import HttpRequest, ServedService, service_of
from pagekin.similarity import Citations, links_to
from pagekin.web.brief import number_in_full
from pagekin.web.collection_view import ClusterLink, CollectionView, PageLink, in_collection, targets_of
from pagekin.web.languages import language_name
from pagekin.web.pages import why
from pagekin.web.pictures.neighbourhood import Link, Neighbourhood, Node, Role
from pagekin.web.related_options import DEFAULTS, OPTIONS, Options, ask_related, changed_options
from pagekin.web.rendering import redirect, render, tail

LONGEST_URL = 8_000
TERMS, QUOTES = 12, 8
NEIGHBOURS = 5
"""Of each kind that the picture shows."""
_DATES = 12
"""Captures whose dates a page shows."""
_COMPARED = 64
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
        """Return the shortened trail: of neighbouring clusters with the same name, only the last."""
        below = [*(one.name for one in self.clusters[1:]), None]
        return [one for one, name in zip(self.clusters, below, strict=True) if one.name != name]


class Document(Struct, frozen=True, kw_only=True):
    """The composite document that a page belongs to."""

    cluster: ClusterLink
    pages: list[PageLink]
    """Its other pages, some of them if there are many."""


class PageView(Struct, frozen=True, kw_only=True):
    """The facts about a page."""

    page: PageLink
    language: str = ""
    opening: str = ""
    """How its text begins."""
    text: str = ""
    """The first of its plain text."""
    aliases: list[str] = []
    captures: int = 0
    """How many times it was read; 0 if it is known only from links to it."""
    dates: list[int] = []
    """When it was captured, as far as that is known, the newest first; some of many."""
    terms: list[why.Term] = []
    """Its heaviest terms, the heaviest first."""
    linking_pages: int = 0
    """Other pages that link to it."""
    linked_pages: int = 0
    """Other addresses that it links to."""
    quotes: list[why.Quote] = []
    """Some of the links to it."""
    also_linking: list[PageLink] = []
    """Pages of which no link is quoted."""
    trails: list[Trail] = []
    document: Document | None = None
    other: bool = False
    """Whether only pages of other sites were asked for."""
    one_site: bool = False
    """Whether there are no other sites."""
    options: RelatedOptions = DEFAULTS
    """How similar pages were chosen."""
    similar: list[why.Similar] = []
    copies: list[PageLink] = []
    """Near copies of it."""
    more_copies: int = 0
    neighbourhood: Neighbourhood | None = None
    note: str = ""
    """Why there are few or no similar pages, if that is not because none is alike."""


class RoutedView(Struct, frozen=True, kw_only=True):
    """Pages of a network that are similar to a page."""

    url: str
    similar: list[why.Similar]
    partial: list[str]
    """Why something may be missing."""
    asked: int
    """Collections that were asked."""
    options: RelatedOptions = DEFAULTS
    """How similar pages were chosen."""
    note: str = ""
    """Why there are few or no similar pages, if that is not because none is alike."""


class UnknownView(Struct, frozen=True, kw_only=True):
    """An address that is not in the collection."""

    status_code: int
    detail: str
    url: str
    nearest: list[PageLink]
    """Addresses that look like it."""


_EITHER: Any = PageView | RoutedView
Url = Annotated[str, Parameter(description="The address of a page.")]
Path = Annotated[
    str, Parameter(description="Names of services that lead to the page, as results give them, joined by /.")
]


@get(
    ["/page", "/page.json"],
    dependencies=OPTIONS,
    responses={
        200: ResponseSpec(_EITHER, generate_examples=False, description="What is known about a page."),
        404: ResponseSpec(UnknownView, generate_examples=False, description="There is no such address."),
    },
)
async def page(request: HttpRequest, options: Options, url: Url = "", path: Path = "") -> Response[Any]:
    """Return what is known of a page, and similar pages with the reasons."""
    url = check_url(url)
    here = service_of(request.scope)
    if not here.service.leaf:
        return await _page_of_network(request, here, url, options, path)
    view = await view_page(here, url, options)
    if isinstance(view, UnknownView):
        return render(request, "unknown.html", view, 404)
    return render(request, "page.html", view)


def check_url(url: str) -> str:
    """Return a given address, or raise a ServiceError that says what is wrong with it."""
    if not url.strip():
        raise ServiceError("No page was named. Add its address: /page?url=http://…")
    if len(url) > LONGEST_URL:
        raise ServiceError(f"An address of {len(url):,} characters is too long; the limit is {LONGEST_URL:,}.")
    return url.strip()


def resolve_address(collection: CollectionView, url: str) -> str | UnknownView:
    """Return the whole address of a page, given in full, abbreviated or otherwise; or similar addresses."""
    corpus = collection.corpus
    corpora = [part.corpus for part in collection.collection.whole.parts]
    for one in corpora:
        for number in (number_in_full(one, url), one.url_number(url)):
            if one.knows(number):
                return one.url(number)
    if guess := guess_url(corpora, url):
        return guess
    numbers = (corpus.url_number(one) for one in nearest_urls(corpus, url, 5))
    nearest = [collection.link(number) for number in dict.fromkeys(numbers) if number >= 0]
    detail = f"{url[:500]} is not in {collection.name}."
    return UnknownView(status_code=404, detail=detail, url=url, nearest=nearest)


# -- a page of a collection -----------------------------------------------------------------------------------------------


async def view_page(here: ServedService, url: str, options: RelatedOptions = DEFAULTS) -> PageView | UnknownView:
    """Return the view of a leaf's page, or of an unknown address."""
    known = await in_collection(here.service, resolve_address, url)
    if isinstance(known, UnknownView):
        return known
    answer = await ask_related(here, RelatedRequest(url=known, options=options))
    # Where only some pages may be related, near copies are asked for apart: they are shown wherever they are.
    every = replace(options, k=1, sites="all", filters=Filters(), captured_only=False, explain=False)
    some = answer if every == replace(options, k=1, explain=False) else None
    about = some or await ask_related(here, RelatedRequest(url=known, options=every))
    return await in_collection(here.service, _page_view, known, answer, about.copies, options)


def _page_view(
    collection: CollectionView, url: str, answer: Answer, copies: Sequence[str], options: RelatedOptions
) -> PageView:
    """Return the view of an address of a collection, given related pages and near copies."""
    collection = collection.view_of(url)
    corpus = collection.corpus
    number = corpus.url_number(url)
    pages, dates = corpus.pages_of(number), corpus.capture_dates(number)
    facts: dict[str, Any] = {}
    if pages:
        facts = {
            "language": language_name(corpus.language(pages[0])),
            "opening": why.opening_of(collection, pages[0]),
            "text": why.text_of(collection, pages[0]),
            "trails": _trails(collection, pages[0]),
            "document": _document(collection, pages[0]),
        }
    anchors, citing_pages = links_to(corpus, number)
    citing = [int(corpus.pages.url[one]) for one in citing_pages]
    linked = sorted(targets_of(corpus, pages[0]) - {number}) if pages else []
    index = collection.related
    document = index.documents.at(corpus.urls[number]) if index else -1
    comparable = document >= 0
    first_citing = _most_similar(collection, url, citing, comparable)
    first_linked = _most_similar(collection, url, linked, comparable)
    quoted = list(first_citing)[:QUOTES]
    anchor_of = dict(zip(citing, anchors.tolist(), strict=True))
    citations = Citations([corpus])
    similar = why.similar_pages(answer.results, collection.link_to)
    terms: list[why.Term] = []
    if index and comparable:
        heaviest = index.heaviest(document, TERMS)
        terms, similar = why.write_words(collection, [number], why.terms_of(heaviest, collection.link_to), similar)
    return PageView(
        page=collection.link(number),
        aliases=corpus.aliases_of(number)[:_COPIES],
        captures=len(dates),
        dates=_some_dates(dates),
        terms=terms,
        linking_pages=len(citing),
        linked_pages=len(linked),
        quotes=[why.quote(citations.of(anchor_of[one]), collection.link(one)) for one in quoted],
        also_linking=_also_linking(collection, [*first_citing, *citing], quoted),
        other=options.sites == "other",
        one_site=index is None or index.facts["site_rule"] == "none",
        options=options,
        similar=similar,
        copies=[collection.link_to(copy) for copy in copies[:_COPIES]],
        more_copies=max(0, len(copies) - _COPIES),
        neighbourhood=_neighbourhood(collection, number, first_citing, first_linked, similar),
        note=answer.note,
        **facts,
    )


def _some_dates(dates: Sequence[int]) -> list[int]:
    """Return the known dates; of many, an even selection with both ends."""
    dates = [date for date in dates if date]
    if len(dates) <= _DATES:
        return dates
    return [dates[place * (len(dates) - 1) // (_DATES - 1)] for place in range(_DATES)]


def _most_similar(collection: CollectionView, url: str, numbers: Sequence[int], comparable: bool) -> dict[int, float]:
    """Return some addresses, the most similar to a page first, with their similarity; 0 if it is unknown."""
    some = numbers[:: max(1, -(-len(numbers) // _COMPARED))]
    similarity = similarities_to(collection.collection, url, some) if comparable and some else {}
    return similarity | {number: 0.0 for number in some if number not in similarity}


def _also_linking(collection: CollectionView, citing: Sequence[int], quoted: Sequence[int]) -> list[PageLink]:
    """Return linking pages that are not quoted, by title; only the first if there are many."""
    links = [collection.link(number) for number in dict.fromkeys(citing) if number not in quoted][:LINKING]
    return sorted(links, key=lambda link: (link.title.casefold(), link.url))


def _trails(collection: CollectionView, page: int) -> list[Trail]:
    """Return the page's place in each hierarchy, including pages of a delta."""
    trails = []
    part, trees = collection.collection, collection.trees
    if part.base.delta:
        trees, page = part.whole.trees, page + part.whole.pages.bounds[part.whole.parts.index(part)]
    for name, tree in trees.items():
        if name == "documents":
            continue
        for node in tree.homes(page)[:3]:
            root, *below = (collection.cluster_link(tree, one) for one in tree.path(node))
            clusters = [replace(root, name="All pages"), *below]
            trails.append(Trail(tree=name, name=TREES.get(name, name), clusters=clusters))
    return trails


def _document(collection: CollectionView, page: int) -> Document | None:
    """Return the composite document of a page, if it has more pages."""
    tree = collection.trees.get("documents")
    node = next(iter(tree.homes(page)), 0) if tree else 0
    if not tree or not node:
        return None
    others = [other for other in tree.pages_of(node).tolist() if other != page]
    return Document(cluster=collection.cluster_link(tree, node), pages=collection.page_links(others[:_DOCUMENT_PAGES]))


def _neighbourhood(
    collection: CollectionView,
    number: int,
    citing: dict[int, float],
    linked: dict[int, float],
    similar: list[why.Similar],
) -> Neighbourhood | None:
    """Return the page with its inlinks, outlinks and similar pages, and all links between them."""
    urls = collection.corpus.url
    similarities = {one.page.url: one.similarity for one in similar}
    chosen: dict[str, tuple[Role, float]] = {urls(number): ("here", 0.0)}
    sides: tuple[tuple[Role, dict[str, float]], ...] = (
        ("in", {urls(other): similarity for other, similarity in citing.items()}),
        ("out", {urls(other): similarity for other, similarity in linked.items()}),
        ("similar", similarities),
    )
    for role, some in sides:
        fresh = [(other, similarity) for other, similarity in some.items() if other not in chosen]
        chosen |= {other: (role, similarity) for other, similarity in fresh[:NEIGHBOURS]}
    if len(chosen) == 1:
        return None
    links_of = {other: collection.link_to(other) for other in chosen}
    titles = Counter(link.title for link in links_of.values())
    nodes = []
    for other, (role, similarity) in chosen.items():
        link = links_of[other]
        # Of several pages of one title the addresses tell which is which.
        title = link.title if titles[link.title] == 1 or role == "here" else tail(link.url, _TAIL)
        nodes.append(Node(url=link.url, title=title, role=role, similarity=similarity))
    links = [Link(source, target) for source, target in collection.links_among(list(chosen))]
    return Neighbourhood(nodes=nodes, links=links)


# -- a page of a network --------------------------------------------------------------------------------------------------


async def _page_of_network(
    request: HttpRequest, here: ServedService, url: str, options: RelatedOptions, path: str
) -> Response[Any]:
    """Redirect to the child that holds the page, or return similar pages from the whole network."""
    service = here.service
    names = [unquote(name) for name in path.split("/")] if path else []
    if len(names) > 1:
        if names[1] not in service.children:
            raise ServiceError(f"{service.name} knows no router '{names[1][:100]}'", 404)
        rest = "/".join(quote_url(name, safe="") for name in names[1:])
        parameters = {"url": url, **changed_options(options), "path": rest}
        at = service.children[names[1]].url.rstrip("/")
        return redirect(request, f"{at}/page?{urlencode(parameters)}")
    answer = await here.measure("related", service.related(RelatedRequest(url=url[:2000], options=options)))
    view = RoutedView(
        url=url, similar=why.similar_pages(answer.results, why.link_by_address, network=True), partial=list(answer.partial),
        asked=sum(one.leaf for one in answer.asked), options=options, note=answer.note,
    )  # fmt: skip
    return render(request, "page_routed.html", view)
