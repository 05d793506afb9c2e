"""The content label for people: a service's description of itself, whole and by sub-cluster."""

from dataclasses import asdict
from typing import Annotated, Any

from litestar import Response
from litestar.params import Parameter
from msgspec import Struct

from pagekin.clusters import TERM_ATTRIBUTES, TermSettings
from pagekin.collection import Service, ServiceError
from pagekin.labels import ContentLabel, LabelTerms, SubCluster, plain_text
from pagekin.routers import HttpRequest, service_of
from pagekin.web.collection_view import ClusterLink, CollectionView, PageLink, in_collection
from pagekin.web.pages.tree import ClusterMap, parse_number
from pagekin.web.pages.why import link_by_address
from pagekin.web.pictures.treemap import MapLink
from pagekin.web.rendering import render, view_route

_TERMS = 50
_WEIGHTS: dict[str, float] = asdict(TermSettings())


class TermRow(Struct, frozen=True, kw_only=True):
    """A word, and its attributes."""

    word: str
    counts: dict[str, tuple[int, int]]
    """By attribute: (how often, in how many documents)."""


class FilterFacts(Struct, frozen=True, kw_only=True):
    """The size of a label's word filter, from which no word can be read."""

    filters: int
    words: int
    bytes: int


class SubClusterLink(ClusterLink, frozen=True, kw_only=True):
    """A sub-cluster of a label."""

    words: tuple[str, ...]


class LabelView(Struct, frozen=True, kw_only=True):
    """A content label, or a sub-cluster of it."""

    router: str
    leaf: bool
    number: int
    """0 for the whole."""
    name: str
    documents: int
    exact: bool
    """False if documents that several children share were counted more than once."""
    bytes: int
    terms_total: int
    words: tuple[str, ...]
    """The heaviest."""
    pages: tuple[PageLink, ...] = ()
    """Central pages."""
    nodes: tuple[ClusterLink, ...] = ()
    """The clusters of the collection that it is made of."""
    attributes: tuple[str, ...]
    terms: tuple[TermRow, ...]
    """The heaviest of those that the label tells."""
    terms_told: int
    filters: FilterFacts
    map: ClusterMap = ClusterMap()
    clusters: tuple[SubClusterLink, ...] = ()
    """Of the whole: its sub-clusters."""
    lost: dict[str, int] = {}
    """The items that the budgets left out."""
    added: tuple[tuple[str, str, str], ...] = ()
    """(attribute, word, by whom) of terms that lead here though no document holds them."""
    waiting: int = 0


def term_rows(label: ContentLabel, terms: LabelTerms) -> tuple[tuple[TermRow, ...], tuple[str, ...]]:
    """Return (the heaviest words of some terms, the attributes that any of them has)."""
    counts: dict[str, dict[str, tuple[int, int]]] = {}
    weights: dict[str, float] = {}
    for attribute, word, tf, df in label.rows(terms):
        counts.setdefault(word, {})[attribute] = tf, df
        weights[word] = weights.get(word, 0.0) + tf * _WEIGHTS[attribute]
    heaviest = sorted(weights, key=lambda word: (-weights[word], word))[:_TERMS]
    used = {attribute for word in heaviest for attribute in counts[word]}
    rows = tuple(TermRow(word=plain_text(word), counts=counts[word]) for word in heaviest)
    return rows, tuple(attribute for attribute in TERM_ATTRIBUTES if attribute in used)


def _describe(service: Service, part: ContentLabel | SubCluster, **more: Any) -> LabelView:
    """Return the view of a label or of a sub-cluster of it."""
    rows, attributes = term_rows(service.label, part.terms)
    return LabelView(
        router=plain_text(service.name),
        leaf=service.leaf,
        documents=part.num_docs,
        exact=service.label.exact,
        bytes=part.size,
        terms_total=part.num_terms,
        words=tuple(map(plain_text, part.heaviest)),
        attributes=attributes,
        terms=rows,
        terms_told=len(part.terms.steps),
        filters=FilterFacts(
            filters=len(part.filters),
            words=sum(one.keys for one in part.filters),
            bytes=sum(len(one.bits) for one in part.filters),
        ),
        **more,
    )


def _own_links(collection: CollectionView, cluster: SubCluster) -> dict[str, Any]:
    """Return links to the pages of a sub-cluster, captured ones first, and to the clusters it consists of."""
    numbers = [collection.corpus.url_number(url) for url in cluster.urls]
    links = [collection.link(number) for number in numbers if number >= 0]
    tree = collection.tree("clusters")
    return {
        "pages": tuple(sorted(links, key=lambda link: not link.captured)),
        "nodes": tuple(collection.cluster_link(tree, node) for node in cluster.nodes if node < len(tree)),
    }


def label_view(service: Service) -> LabelView:
    """Return the view of the whole label."""
    label = service.label
    links = [
        SubClusterLink(
            tree="", node=one.number, name=plain_text(one.name) or f"Topic {one.number}", pages=one.num_docs,
            words=tuple(map(plain_text, one.heaviest)),
        )
        for one in sorted(label.clusters, key=lambda one: (-one.num_docs, one.number))
    ]  # fmt: skip
    tiles = [MapLink(tree="", node=one.node, name=one.name, pages=one.pages, titles=one.words[:4]) for one in links]
    return _describe(
        service,
        label,
        number=0,
        name=plain_text(label.name),
        map=ClusterMap.of_links(tiles),
        clusters=tuple(links),
        lost={"terms": label.lost.terms, "clusters": label.lost.clusters, "filters": label.lost.filters},
        added=tuple((one.attribute, plain_text(one.word), one.by) for one in label.added),
        waiting=label.waiting,
    )


async def cluster_view(service: Service, number: int) -> LabelView:
    """Return the view of a sub-cluster, or raise a ServiceError that says which there are."""
    clusters = service.label.clusters
    cluster = next((one for one in clusters if one.number == number), None)
    if cluster is None:
        raise ServiceError(f"there is no topic {number} here; there are {len(clusters):,}", 404)
    if service.leaf:
        links = await in_collection(service, _own_links, cluster)
    else:
        links = {"pages": tuple(map(link_by_address, cluster.urls))}
    return _describe(service, cluster, number=number, name=plain_text(cluster.name) or f"Topic {number}", **links)


@view_route(["/cluster", "/cluster.json"], LabelView, "The content label.")
async def whole_label(request: HttpRequest) -> Response[bytes]:
    """Return a service's label for people; /label returns it for programs."""
    return render(request, "label.html", label_view(service_of(request.scope).service))


@view_route(["/cluster/{number:str}"], LabelView, "A sub-cluster of the label.")
async def cluster(
    request: HttpRequest,
    number: Annotated[str, Parameter(description="Its number; add .json for JSON.")],
) -> Response[bytes]:
    """Return a sub-cluster of the content label."""
    service = service_of(request.scope).service
    chosen = parse_number(number)
    if not chosen:
        return render(request, "label.html", label_view(service))
    return render(request, "cluster.html", await cluster_view(service, chosen))
