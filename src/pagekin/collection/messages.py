"""Requests and answers of every service, with their limits: the same through Python, the command line, HTTP and pages.

Fields that an address may carry, too, have their descriptions in their types, from which HTTP describes them.
Services keep no state of anyone who asks: a request carries all that is needed to answer it, the results so far too.
Each hit names the `path` to the leaf that it came from, so that a later request finds it again.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from pagekin.collection.tables import ResultList
from pagekin.errors import PagekinError
from pagekin.similarity import Citation, RankingOptions, Share, SharedTerm, SignalShare
from pagekin.text import Stats

Name = Annotated[str, Meta(max_length=200)]
Line = Annotated[str, Meta(max_length=2_000)]
Query = Annotated[str, Meta(max_length=2_000, description="Words, attributes as in title:lock, phrases, OR, NOT.")]
Url = Annotated[str, Meta(min_length=1, max_length=8_000)]
NamePath = Annotated[tuple[Name, ...], Meta(max_length=32)]
Count = Annotated[int, Meta(ge=0, le=2**53)]
Seconds = Annotated[float, Meta(ge=0, le=1e6)]
LATEST = 253_402_300_799
"""Seconds from 1970 to the end of the year 9999: later ones are no dates."""
Moment = Annotated[int, Meta(ge=0, le=LATEST)]
Limit = Annotated[int, Meta(ge=0, le=10_000, description="The most results.")]
First = Annotated[int, Meta(ge=0, le=10_000, description="How many of the best to pass over: page 2 begins at 10.")]
Routing = Literal["filters", "terms", "all"]
Match = Literal["best", "all", "some"]
"""Which pages match a question: those with all words; with some; or with all, and with some if few have all."""
Preset = Literal["default", "hypursuit1996"]
PresetField = Annotated[Preset, Meta(description="default, or hypursuit1996 for the paper's own way.")]
MOST_HOPS = 16
"""How many routers a request may pass on its way down."""
MOST_HTML = 4_000_000
"""Maximum characters of a page that is sent with a question."""
BEST_HITS = 10
"""How many hits represent a query when similar documents are suggested."""


class ServiceError(PagekinError):
    """A request that cannot be answered. The message says why; `status` is that of HTTP."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Filters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which pages may be hits."""

    site: Annotated[Name, Meta(description="Only pages of this host, or of hosts that end so: cornell.edu.")] = ""
    since: Annotated[Count | None, Meta(description="Only pages from then on: seconds since 1970.")] = None
    until: Annotated[Count | None, Meta(description="Only pages until then: seconds since 1970.")] = None
    language: Annotated[Name, Meta(description="Only pages in this language, such as en.")] = ""


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The fields that every request carries on its way down a network."""

    deadline: Annotated[float, Meta(ge=0.001, le=120, description="Seconds that are left for an answer.")] = 5.0
    hops: Annotated[int, Meta(ge=0, le=MOST_HOPS)] = MOST_HOPS
    """How many more routers the request may pass."""
    visited: NamePath = ()
    """Marks of the routers that it has passed; meeting one of them again means a loop."""


class SearchRequest(Request, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Ask for documents that match a query."""

    query: Query
    first: First = 0
    limit: Limit = 10
    filters: Filters = Filters()
    ask: Annotated[Limit, Meta(description="The most children to ask at each router; 0: all that may match.")] = 0
    routing: Annotated[Routing, Meta(description="Choose children by all words, by terms, or all.")] = "filters"
    """By all words of their pages; by their heaviest terms, as in 1996; or not at all."""
    raw: bool = False
    """Return the best `limit` hits without text and without folding copies: routers merge and fold them."""
    match: Match = "best"
    """Routers ask for "all" and, where too few are found in the whole network, for "some"."""
    stats: Stats | None = None
    """Document frequencies over the whole network that was asked, so that scores can be compared."""
    above: Annotated[float, Meta(ge=0, le=1e9)] = 0.0
    """Raw answers leave out hits below this score, because other services gave enough better ones."""


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of the results so far: a document, or a cluster, which is a router."""

    kind: Literal["document", "cluster"]
    url: Url
    path: NamePath = ()
    cluster: Count = 0


class SelectRequest(Request, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Ask which clusters and documents of the current set match a query; for `expand`, which of their children do."""

    query: Query
    items: Annotated[tuple[Item, ...], Meta(max_length=1_000)] | None = None
    """The current set; None means a router's children or a leaf's sub-clusters."""
    first: First = 0
    limit: Limit = 100
    each: Annotated[Limit, Meta(description="For expand: the most results of each cluster; 0 means all.")] = 0
    match: Match = "best"
    """As in a search."""
    filters: Filters = Filters()
    """Applied to documents only: a router cannot judge its children by filters, so clusters stay."""


class ShowRequest(Request, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Ask for documents as hits of a query, with snippets."""

    query: Query
    items: Annotated[tuple[Item, ...], Meta(max_length=1_000)]


class RefineRequest(Request, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Ask for terms to narrow or widen a query."""

    query: Query
    count: Annotated[int, Meta(ge=1, le=1_000, description="The most terms in each list.")] = 8
    preset: PresetField = "default"
    """From what the pages are about, or as in 1996 from the terms of the label's sub-clusters."""


class CooccurrencesRequest(Request, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Ask how many pages of a query are about each word; routers sum these counts to refine queries."""

    query: Query
    ask: Annotated[int, Meta(ge=1, le=1_000)] = 16
    """How many children to ask at each router, the most promising ones."""


class SuggestRequest(Request, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Ask for documents like those of the current set (the 1996 paper's expansion), or like the best hits of a query."""

    query: Query = ""
    """By default, documents that match it are left out. Without `items`, its best hits are the current set."""
    items: Annotated[tuple[Item, ...], Meta(max_length=1_000)] = ()
    limit: Limit = 10
    filters: Filters = Filters()
    preset: PresetField = "default"
    """Related pages and the nearest of the sub-clusters, or (1996) all documents of the sub-clusters."""


class Bag(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A page's weighted bag as a message: enough to compare it with any collection of the same strategy."""

    strategy: Name
    """The digest of the strategy that made it."""
    hashes: Annotated[tuple[int, ...], Meta(max_length=20_000)]
    """64-bit hashes of its terms, as signed numbers."""
    weights: Annotated[tuple[float, ...], Meta(max_length=20_000)]
    sketch: Annotated[tuple[Annotated[int, Meta(ge=0, le=65_535)], ...], Meta(max_length=64)]
    signature: Annotated[tuple[Annotated[int, Meta(ge=0, le=2**32 - 1)], ...], Meta(max_length=4_096)] = ()
    """Its signature, so that it need not be computed again."""
    words: Annotated[tuple[Name, ...], Meta(max_length=100)] = ()
    """Its heaviest words, by which routers choose the children to ask."""
    origins: Annotated[tuple[Annotated[int, Meta(ge=0, le=255)], ...], Meta(max_length=20_000)] = ()
    """Where each term is from, as flags, for reasons."""
    counts: Annotated[tuple[Annotated[int, Meta(ge=0, le=255)], ...], Meta(max_length=20_000)] = ()
    """How often the page itself has each term."""
    sites: Annotated[tuple[Name, ...], Meta(max_length=100)] = ()
    """The sites of its pages, to tell the same site from others."""
    url: Line = ""
    epoch: Name = ""
    """The identity of the epoch of its weights; '' if it is not known, or differs between several pages."""


class RelatedOptions(RankingOptions, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How related pages are chosen and shown: the same options through every door."""

    filters: Filters = Filters()
    """For the hits; the page that is asked about need not pass them."""


class RelatedRequest(Request, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Ask for pages similar to a page, given by its address, by its bag or, at a leaf, by its HTML."""

    url: Annotated[Line, Meta(description="The address of a page.")] = ""
    also: Annotated[tuple[Line, ...], Meta(max_length=100, description="Further pages to ask about with `url`.")] = ()
    html: Annotated[str, Meta(max_length=MOST_HTML)] = ""
    """A page that need not be in the collection; `url` is then its address, for its relative links."""
    path: NamePath = ()
    bag: Bag | None = None
    ask: Annotated[int, Meta(ge=1, le=1_000, description="The most children to ask at each router.")] = 4
    """Those that hold most of the page's heaviest words."""
    options: RelatedOptions = RelatedOptions()
    above: Share = 0.0
    """Leaves return less similar pages without text, because other services gave enough better ones."""


class DescribeRequest(Request, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Ask what was read from a page."""

    url: Annotated[Url, Meta(description="The address of a page.")]
    path: NamePath = ()
    inlinks: Annotated[Limit, Meta(description="The most anchors that lead to the page.")] = 100


# -- answers ------------------------------------------------------------------------------------------------------------


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One result: a document, or a cluster."""

    kind: Literal["document", "cluster"]
    url: Url
    """The address of a document or a router; of a leaf's sub-cluster the address of its page, at the leaf itself
    relative to the leaf's own."""
    title: Line = ""
    snippet: Line = ""
    marks: Annotated[tuple[tuple[Count, Count], ...], Meta(max_length=100)] = ()
    """The places of query words in the snippet: (start, end)."""
    score: float = 0.0
    """The similarity, of a related page."""
    cluster: Count = 0
    """The sub-cluster of the service that answers; 0 if it is not known."""
    cluster_name: Line = ""
    path: NamePath = ()
    """Names from the service that answers down to the leaf."""
    date: Moment = 0
    language: Name = ""
    pages: Count = 1
    """Pages of the document, or of the cluster."""
    matches: Count = 0
    """Documents of a cluster that match, where they were counted."""
    copies: Annotated[tuple[Url, ...], Meta(max_length=100)] = ()
    """Other addresses of the same, folded under this."""
    sketch: Annotated[str, Meta(max_length=200)] = ""
    """A sketch of its words, by which copies are recognised."""
    captured: bool = True
    """Whether the page itself was read; otherwise it is known only from links."""
    error: Share = 0.0
    """Half the width of the 95 % interval of an estimated similarity; 0 if it is exact."""
    terms: Annotated[tuple[SharedTerm, ...], Meta(max_length=100)] = ()
    citations: Annotated[tuple[Citation, ...], Meta(max_length=20)] = ()
    signals: Annotated[tuple[SignalShare, ...], Meta(max_length=20)] = ()
    """Of a related page: what makes up its score, where reasons were asked for."""

    @property
    def similarity(self) -> float:
        """Return the score under the name that it has for related pages."""
        return self.score


class AskedNode(msgspec.Struct, frozen=True, kw_only=True):
    """A service that was asked on the way to an answer."""

    path: NamePath
    leaf: bool = False
    seconds: Seconds = 0.0
    results: Count = 0
    bytes: Count = 0
    failed: bool = False
    """Whether it gave no answer; then it is not known whether it is a leaf."""
    mark: Name = ""
    """Of a leaf: the collection it answered from, so that a collection asked by two routes counts once."""
    total: Count = 0
    """Of a leaf: documents that match."""


class SkippedNode(msgspec.Struct, frozen=True, kw_only=True):
    """A service that was not asked, and why."""

    path: NamePath
    reason: Line


class HitGroup(msgspec.Struct, frozen=True, kw_only=True):
    """The hits of one sub-cluster."""

    cluster: Count
    name: Line
    results: tuple[Count, ...]
    """Their places in the list of hits."""


class Answer(ResultList[Hit], msgspec.Struct, frozen=True, kw_only=True):
    """Hits, and how they were found: iterate over them, or take them as a table."""

    columns: ClassVar = {
        "rank": "int32", "url": "string", "title": "string", "score": "float64", "snippet": "string", "cluster": "string",
        "date": "moment", "language": "string", "captured": "bool_", "pages": "int64", "copies": "strings",
    }  # fmt: skip

    query: Line = ""
    router: Name = ""
    """The name of the service that answers."""
    leaf: bool = False
    """Whether a leaf answers, which asked nobody else."""
    mark: Name = ""
    """Of a leaf: the identity of the collection it answers from."""
    total: Count = 0
    """How many documents match, each leaf counted once; copies at different leaves count separately."""
    more: bool = False
    """Whether there are further hits behind these."""
    distinct: Count = 0
    """The number of hits up to the last of these, copies folded; the full number if there are no `more`."""
    results: tuple[Hit, ...] = ()
    groups: tuple[HitGroup, ...] = ()
    subjects: tuple[Hit, ...] = ()
    """Of related pages: the pages that were asked about."""
    copies: Annotated[tuple[Url, ...], Meta(max_length=100)] = ()
    """Of related pages: near-copies of the page that was asked about; they are not among the hits."""
    strategy: Name = ""
    """Of related pages: the name of the strategy by which pages are compared."""
    alpha: Share = 0.0
    """Of related pages: hits are more similar than this."""
    below_threshold: Count = 0
    """Of related pages: how many pages the threshold α left out, if there are fewer hits than asked for."""
    other_epochs: Count = 0
    """Of related pages: how many collections have another epoch than the bag that was asked about."""
    note: Line = ""
    """Why there are few or no hits, where that is not simply that nothing matches."""
    asked: tuple[AskedNode, ...] = ()
    skipped: tuple[SkippedNode, ...] = ()
    partial: Annotated[tuple[Line, ...], Meta(max_length=10_000)] = ()
    """Why something may be missing; empty if nothing is."""
    seconds: Seconds = 0.0

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the hits as rows."""
        for rank, hit in enumerate(self.results, 1):
            yield {
                "rank": rank, "url": hit.url, "title": hit.title, "score": hit.score, "snippet": hit.snippet,
                "cluster": hit.cluster_name, "date": datetime.fromtimestamp(hit.date, UTC) if hit.date else None,
                "language": hit.language, "captured": hit.captured, "pages": hit.pages, "copies": list(hit.copies),
            }  # fmt: skip


class Refinements(msgspec.Struct, frozen=True, kw_only=True):
    """Terms to refine a query with."""

    query: Line = ""
    router: Name = ""
    known: Count = 0
    """Pages, or sub-clusters, that hold all that was asked."""
    collocated: tuple[Name, ...] = ()
    broader: tuple[Name, ...] = ()
    narrower: tuple[Name, ...] = ()
    children: Count = 0
    """How many children were asked for counts of their pages; 0 if labels or own pages were used."""
    partial: Annotated[tuple[Line, ...], Meta(max_length=10_000)] = ()
    """Which of them gave no answer, and why."""
    seconds: Seconds = 0.0


MOST_COOCCURRENCES = 300
"""The most words that are counted on the pages of a query."""


class CooccurrenceCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many pages of a query are about each word."""

    pages: Count = 0
    """Pages of the query."""
    documents: Count = 0
    """Pages in all, of those sites that have some of the query."""
    words: Annotated[tuple[Name, ...], Meta(max_length=MOST_COOCCURRENCES)] = ()
    both: Annotated[tuple[Count, ...], Meta(max_length=MOST_COOCCURRENCES)] = ()
    """Pages of the query that are about each word."""
    df: Annotated[tuple[Count, ...], Meta(max_length=MOST_COOCCURRENCES)] = ()
    """Pages that are about it."""
    partial: Annotated[tuple[Line, ...], Meta(max_length=10_000)] = ()


class PageDescription(msgspec.Struct, frozen=True, kw_only=True):
    """What was understood of a page."""

    router: Name = ""
    page: dict[str, Any] = {}
    """Title, words by attribute, anchors out and in with their windows, regions: as `pagekin page --json` prints."""


class SummaryCluster(msgspec.Struct, frozen=True, kw_only=True):
    """A sub-cluster in a summary."""

    number: Count
    name: Line
    documents: Count
    words: tuple[Name, ...]
    urls: tuple[Url, ...]


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What a service holds, for people."""

    name: Line
    leaf: bool
    documents: Count
    exact: bool
    bytes: Count
    words: tuple[Name, ...]
    clusters: tuple[SummaryCluster, ...]
    children: tuple[Name, ...] = ()


class ChildHealth(msgspec.Struct, frozen=True, kw_only=True):
    """What a router knows of a child's health."""

    name: Name
    url: Url
    up: bool
    label_bytes: Count
    label_age: float | None
    """Seconds since its label was last known to be fresh."""
    error: Line = ""
    calls: Count = 0
    failures: Count = 0


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """The health of a service."""

    name: Name
    leaf: bool
    level: Count
    ready: bool
    """Whether it has a label to give."""
    version: Name
    documents: Count
    label_bytes: Count
    label_age: float | None
    etags: dict[str, str]
    uptime: float
    requests: Count
    children: tuple[ChildHealth, ...] = ()
    error: Line = ""
    waiting: Count = 0
    """Routers and leaves below that have not told what they hold."""


MOST_NODES = 5_000
"""Nodes of a tree, at most."""


class TreeRequest(Request, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Ask for the services below one and their health."""

    limit: Annotated[int, Meta(ge=1, le=MOST_NODES)] = MOST_NODES
    """Nodes at most."""


class TreeNode(msgspec.Struct, frozen=True, kw_only=True):
    """A router as its parent knows it, with those below it."""

    name: Name
    url: Annotated[str, Meta(max_length=8_000)] = ""
    """Where it answers; of the router that was asked it is not known."""
    level: Count = 0
    leaf: bool = False
    up: bool = True
    """Whether it answered."""
    ready: bool = False
    """Whether it has a label to give."""
    documents: Count = 0
    label_bytes: Count = 0
    label_age: float | None = None
    """Seconds since its label was made, or, of one that did not answer, was last known to be fresh."""
    error: Line = ""
    left_out: Count = 0
    """Children of it that are not shown, because the tree would be too large."""
    children: tuple["TreeNode", ...] = ()

    @classmethod
    def of(cls, health: Health) -> "TreeNode":
        """Make the node of a service from its health; without children."""
        return cls(
            name=health.name, level=health.level, leaf=health.leaf, ready=health.ready, documents=health.documents,
            label_bytes=health.label_bytes, label_age=health.label_age, error=health.error,
        )  # fmt: skip


def as_items(hits: Iterable[Hit | Item]) -> tuple[Item, ...]:
    """Return hits as the current set of a request."""
    return tuple(Item(hit.kind, hit.url, hit.path, hit.cluster) for hit in hits)


def encode(message: Any) -> bytes:
    """Return a message as JSON, as it travels."""
    return msgspec.json.encode(message)
