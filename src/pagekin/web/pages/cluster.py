"""The content label for people: what a service says of itself to others, whole and of each sub-cluster."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

from litestar import Response, get
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import Parameter
from msgspec import Struct

from pagekin.clusters import TERM_ATTRIBUTES, TermSettings
from pagekin.collection import Service, ServiceError
from pagekin.labels import ContentLabel, LabelTerms, TermFilter, plain_text
from pagekin.routers import HttpRequest, served
from pagekin.web.collection_view import ClusterLink, CollectionView, PageLink
from pagekin.web.pages.tree import ClusterMap, MapLink, parse_number
from pagekin.web.pages.why import link_by_address
from pagekin.web.rendering import render

_TERMS = 50
_WEIGHTS: dict[str, float] = asdict(TermSettings())


class TermRow(Struct, frozen=True, kw_only=True):
    """A word, and where it stands."""

    word: str
    counts: dict[str, tuple[int, int]]
    """By attribute: (how often, in how many documents)."""


class FilterFacts(Struct, frozen=True, kw_only=True):
    """Which words there are, in a form from which nobody can read them."""

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
    pages: tuple[PageLink, ...]
    """Central pages."""
    nodes: tuple[ClusterLink, ...]
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
    """What the budgets left out."""
    added: tuple[tuple[str, str, str], ...] = ()
    """(attribute, word, by whom) of terms that lead here though no document holds them."""
    waiting: int = 0


def term_rows(
    label: ContentLabel, terms: LabelTerms, most: int = _TERMS
) -> tuple[tuple[TermRow, ...], tuple[str, ...]]:
    """Return (the heaviest words of some terms, the attributes under which any of them stands)."""
    counts: dict[str, dict[str, tuple[int, int]]] = {}
    weights: dict[str, float] = {}
    for attribute, word, tf, df in label.rows(terms):
        counts.setdefault(word, {})[attribute] = tf, df
        weights[word] = weights.get(word, 0.0) + tf * _WEIGHTS[attribute]
    heaviest = sorted(weights, key=lambda word: (-weights[word], word))[:most]
    used = {attribute for word in heaviest for attribute in counts[word]}
    rows = tuple(TermRow(word=plain_text(word), counts=counts[word]) for word in heaviest)
    return rows, tuple(attribute for attribute in TERM_ATTRIBUTES if attribute in used)


def _filter_facts(filters: Sequence[TermFilter]) -> FilterFacts:
    return FilterFacts(
        filters=len(filters), words=sum(one.keys for one in filters), bytes=sum(len(one.bits) for one in filters)
    )


def _own_pages(collection: CollectionView, urls: Sequence[str]) -> tuple[PageLink, ...]:
    """Return links to pages of a collection, those that were read first."""
    numbers = [collection.corpus.url_number(url) for url in urls]
    links = [collection.link(number) for number in numbers if number >= 0]
    return tuple(sorted(links, key=lambda link: not link.captured))


def _own_nodes(collection: CollectionView, nodes: Sequence[int]) -> tuple[ClusterLink, ...]:
    """Return links to the clusters of a collection that a sub-cluster is made of."""
    tree = collection.tree("clusters")
    return tuple(collection.cluster_link(tree, node) for node in nodes if node < len(tree))


def label_view(service: Service) -> LabelView:
    """Return the view of the whole label."""
    label = service.label
    rows, attributes = term_rows(label, label.terms)
    clusters = sorted(label.clusters, key=lambda one: (-one.num_docs, one.number))
    links = [
        SubClusterLink(
            tree="", node=one.number, name=plain_text(one.name) or f"Topic {one.number}", pages=one.num_docs,
            words=tuple(map(plain_text, one.heaviest)),
        )
        for one in clusters
    ]  # fmt: skip
    return LabelView(
        router=plain_text(service.name),
        leaf=service.leaf,
        number=0,
        name=plain_text(label.name),
        documents=label.num_docs,
        exact=label.exact,
        bytes=label.size,
        terms_total=label.num_terms,
        words=tuple(map(plain_text, label.heaviest)),
        pages=(),
        nodes=(),
        attributes=attributes,
        terms=rows,
        terms_told=len(label.terms.steps),
        filters=_filter_facts(label.filters),
        map=ClusterMap.of_links(
            [MapLink(tree="", node=one.node, name=one.name, pages=one.pages, titles=one.words[:4]) for one in links]
        ),
        clusters=tuple(links),
        lost={"terms": label.lost.terms, "clusters": label.lost.clusters, "filters": label.lost.filters},
        added=tuple((one.attribute, plain_text(one.word), one.by) for one in label.added),
        waiting=label.waiting,
    )


async def cluster_view(service: Service, number: int) -> LabelView:
    """Return the view of a sub-cluster of the label, or raise a ServiceError that says which there are."""
    label = service.label
    cluster = next((one for one in label.clusters if one.number == number), None)
    if cluster is None:
        raise ServiceError(f"there is no topic {number} here; there are {len(label.clusters):,}", 404)
    rows, attributes = term_rows(label, cluster.terms)
    pages, nodes = tuple(map(link_by_address, cluster.urls)), tuple[ClusterLink, ...]()
    if service.leaf:
        pages = await service.run(lambda collection: _own_pages(CollectionView.of(collection), cluster.urls))
        nodes = await service.run(lambda collection: _own_nodes(CollectionView.of(collection), cluster.nodes))
    return LabelView(
        router=plain_text(service.name),
        leaf=service.leaf,
        number=number,
        name=plain_text(cluster.name) or f"Topic {number}",
        documents=cluster.num_docs,
        exact=label.exact,
        bytes=cluster.size,
        terms_total=cluster.num_terms,
        words=tuple(map(plain_text, cluster.heaviest)),
        pages=pages,
        nodes=nodes,
        attributes=attributes,
        terms=rows,
        terms_told=len(cluster.terms.steps),
        filters=_filter_facts(cluster.filters),
    )


@get(
    ["/cluster", "/cluster.json"],
    responses={200: ResponseSpec(LabelView, generate_examples=False, description="The content label.")},
)
async def whole_label(request: HttpRequest) -> Response[bytes]:
    """Return what a service says of itself to others, for people; /label gives it to programs."""
    return render(request, "label.html", label_view(served(request.scope).service))


@get(
    "/cluster/{number:str}",
    responses={200: ResponseSpec(LabelView, generate_examples=False, description="A sub-cluster of the label.")},
)
async def cluster(
    request: HttpRequest,
    number: Annotated[str, Parameter(description="Its number; with .json behind the address, as JSON.")],
) -> Response[bytes]:
    """Return a sub-cluster of the content label."""
    service = served(request.scope).service
    chosen = parse_number(number)
    if not chosen:
        return render(request, "label.html", label_view(service))
    return render(request, "cluster.html", await cluster_view(service, chosen))
