"""The content label for people: what a collection or a router tells others of itself, whole and of each sub-cluster."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

from litestar import Response, get
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import Parameter
from msgspec import Struct

from pagekin.clusters import TermSettings
from pagekin.clusters.terms import ATTRIBUTES
from pagekin.labels import ContentLabel
from pagekin.labels.membership import Filter
from pagekin.labels.model import Terms, plain
from pagekin.routers.http import served
from pagekin.routers.leaf import Leaf
from pagekin.routers.messages import RouterError
from pagekin.routers.router import Router
from pagekin.web.collection import ClusterLink, PageLink, collection_of
from pagekin.web.pages.tree import ClusterMap, MapLink, linked, number_of
from pagekin.web.shown import Asking, shown

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


def term_rows(label: ContentLabel, terms: Terms, most: int = _TERMS) -> tuple[tuple[TermRow, ...], tuple[str, ...]]:
    """(the heaviest words of some terms, the attributes under which any of them stands)."""
    counts: dict[str, dict[str, tuple[int, int]]] = {}
    weights: dict[str, float] = {}
    for attribute, word, tf, df in label.rows(terms):
        counts.setdefault(word, {})[attribute] = tf, df
        weights[word] = weights.get(word, 0.0) + tf * _WEIGHTS[attribute]
    heaviest = sorted(weights, key=lambda word: (-weights[word], word))[:most]
    used = {attribute for word in heaviest for attribute in counts[word]}
    rows = tuple(TermRow(word=plain(word), counts=counts[word]) for word in heaviest)
    return rows, tuple(attribute for attribute in ATTRIBUTES if attribute in used)


def _filter_facts(filters: Sequence[Filter]) -> FilterFacts:
    return FilterFacts(
        filters=len(filters), words=sum(one.keys for one in filters), bytes=sum(len(one.bits) for one in filters)
    )


def _pages(service: Leaf | Router, urls: Sequence[str]) -> tuple[PageLink, ...]:
    """Pages by their addresses; a leaf knows their titles, and which of them were read: these come first."""
    if not isinstance(service, Leaf):
        return tuple(map(linked, urls))
    collection = collection_of(service)
    numbers = [collection.corpus.url_number(url) for url in urls]
    links = [collection.link(number) for number in numbers if number >= 0]
    return tuple(sorted(links, key=lambda link: not link.captured))


def label_view(service: Leaf | Router) -> LabelView:
    """The whole label."""
    label = service.label
    rows, attributes = term_rows(label, label.terms)
    clusters = sorted(label.clusters, key=lambda one: (-one.num_docs, one.number))
    links = [
        SubClusterLink(
            tree="", node=one.number, name=plain(one.name) or f"Topic {one.number}", pages=one.num_docs,
            words=tuple(map(plain, one.heaviest)),
        )
        for one in clusters
    ]  # fmt: skip
    return LabelView(
        router=plain(service.name),
        leaf=service.leaf,
        number=0,
        name=plain(label.name),
        documents=label.num_docs,
        exact=label.exact,
        bytes=label.size,
        terms_total=label.num_terms,
        words=tuple(map(plain, label.heaviest)),
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
        added=tuple((one.attribute, plain(one.word), one.by) for one in label.added),
        waiting=label.waiting,
    )


def cluster_view(service: Leaf | Router, number: int) -> LabelView:
    """A sub-cluster of the label, or an error that says which there are."""
    label = service.label
    found = next((one for one in label.clusters if one.number == number), None)
    if found is None:
        raise RouterError(f"there is no topic {number} here; there are {len(label.clusters):,}", 404)
    rows, attributes = term_rows(label, found.terms)
    nodes: tuple[ClusterLink, ...] = ()
    if isinstance(service, Leaf):
        collection = collection_of(service)
        tree = collection.trees["clusters"]
        nodes = tuple(collection.cluster_link(tree, node) for node in found.nodes if node < len(tree))
    return LabelView(
        router=plain(service.name),
        leaf=service.leaf,
        number=number,
        name=plain(found.name) or f"Topic {number}",
        documents=found.num_docs,
        exact=label.exact,
        bytes=found.size,
        terms_total=found.num_terms,
        words=tuple(map(plain, found.heaviest)),
        pages=_pages(service, found.urls),
        nodes=nodes,
        attributes=attributes,
        terms=rows,
        terms_told=len(found.terms.steps),
        filters=_filter_facts(found.filters),
    )


@get(
    ["/cluster", "/cluster.json"],
    responses={200: ResponseSpec(LabelView, generate_examples=False, description="The content label.")},
)
async def whole_label(request: Asking) -> Response[bytes]:
    """What a collection or a router tells others of itself, for people; /label gives it to programs."""
    return shown(request, "label.html", label_view(served(request.scope).service))


@get(
    "/cluster/{number:str}",
    responses={200: ResponseSpec(LabelView, generate_examples=False, description="A sub-cluster of the label.")},
)
async def cluster(
    request: Asking,
    number: Annotated[str, Parameter(description="Its number; with .json behind the address, as JSON.")],
) -> Response[bytes]:
    """A sub-cluster of the content label."""
    service = served(request.scope).service
    chosen = number_of(number)
    return (
        shown(request, "cluster.html", cluster_view(service, chosen))
        if chosen
        else shown(request, "label.html", label_view(service))
    )
