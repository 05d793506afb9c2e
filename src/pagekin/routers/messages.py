"""What travels between routers and those who ask them: requests and answers, with their limits.

Routers keep no state of anyone who asks: a request carries all that is needed to answer it, the results so far too.
Each result tells the `path` to the leaf that it came from, by the names of routers, so that a later request finds it again.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from pagekin.text import Stats

Name = Annotated[str, Meta(max_length=200)]
Line = Annotated[str, Meta(max_length=2_000)]
Url = Annotated[str, Meta(min_length=1, max_length=8_000)]
Path = Annotated[tuple[Name, ...], Meta(max_length=32)]
Count = Annotated[int, Meta(ge=0, le=2**53)]
Seconds = Annotated[float, Meta(ge=0, le=1e6)]
Moment = Annotated[int, Meta(ge=0, le=253_402_300_799)]
"""Seconds from 1970 to the end of the year 9999, at most: later ones are no dates."""
Limit = Annotated[int, Meta(ge=0, le=10_000)]
Routing = Literal["filters", "terms", "all"]
MOST_HOPS = 16
"""Routers below one another that a request may pass."""


class RouterError(Exception):
    """A request that cannot be answered; the message says why, `status` whose fault it is, as in HTTP."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Filters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which pages may be results."""

    site: Name = ""
    """A host, or the end of one: cornell.edu takes cs.cornell.edu, too."""
    since: Count | None = None
    """Seconds since 1970."""
    until: Count | None = None
    language: Name = ""


class Travel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What every request carries on its way down."""

    deadline: Annotated[float, Meta(ge=0.001, le=120)] = 5.0
    """Seconds that are left for an answer."""
    hops: Annotated[int, Meta(ge=0, le=MOST_HOPS)] = MOST_HOPS
    """How many routers below may still be asked through one another."""
    visited: Path = ()
    """Marks of the routers that it has passed, which begin with their names: one of them again is a loop."""


class SearchRequest(Travel, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which documents match a query."""

    query: Line
    limit: Limit = 10
    filters: Filters = Filters()
    ask: Annotated[int, Meta(ge=0, le=10_000)] = 0
    """Children to ask at most, the most promising; 0 means all that may hold a match."""
    routing: Routing = "filters"
    """By what a child is judged: all its words, its heaviest terms as in 1996, or not at all."""
    snippets: bool = True
    """Whether results come with title and text; routers ask for these once they know which results remain."""
    stats: Stats | None = None
    """Document frequencies over the whole network that was asked, so that scores can be compared."""


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of the results so far: a document, or a cluster, which is a router."""

    kind: Literal["document", "cluster"]
    url: Url
    path: Path = ()
    cluster: Count = 0


class SelectRequest(Travel, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which of the results so far match a query, and for `expand` which of their children do."""

    query: Line
    items: Annotated[tuple[Item, ...], Meta(max_length=1_000)] | None = None
    """The results so far; none: the router's children."""
    limit: Limit = 100
    filters: Filters = Filters()
    """For documents at their leaves. A router cannot judge its children by them, so clusters stay whatever is asked."""


class ShowRequest(Travel, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Documents as results of a query, with a piece of their text."""

    query: Line
    items: Annotated[tuple[Item, ...], Meta(max_length=1_000)]


class RefineRequest(Travel, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Terms to narrow or to widen a query."""

    query: Line
    count: Annotated[int, Meta(ge=1, le=100)] = 8
    preset: Literal["default", "hypursuit1996"] = "default"


class TogetherRequest(Travel, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How often words go together with a query, on pages: what routers refine queries by."""

    query: Line
    ask: Annotated[int, Meta(ge=1, le=1_000)] = 16
    """Children to ask at each router, the most promising."""


class SuggestRequest(Travel, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Documents like the results so far, that did not match themselves."""

    items: Annotated[tuple[Item, ...], Meta(max_length=1_000)]
    limit: Limit = 10
    filters: Filters = Filters()


class Bag(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A page's weighted bag on its way: enough to compare it with any collection of the same strategy."""

    strategy: Name
    """The digest of the strategy that made it."""
    hashes: Annotated[tuple[int, ...], Meta(max_length=20_000)]
    """64-bit hashes of its terms, as signed numbers."""
    weights: Annotated[tuple[float, ...], Meta(max_length=20_000)]
    sketch: Annotated[tuple[Annotated[int, Meta(ge=0, le=65_535)], ...], Meta(max_length=64)]
    signature: Annotated[tuple[Annotated[int, Meta(ge=0, le=2**32 - 1)], ...], Meta(max_length=4_096)] = ()
    """By the strategy's own signatures, so that nobody has to sign it again."""
    words: Annotated[tuple[Name, ...], Meta(max_length=100)] = ()
    """Its heaviest words: by these the children to ask are chosen."""
    url: Line = ""


class RelatedRequest(Travel, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Pages like a page: one of the network, by its address and path, or any, by its bag."""

    url: Line = ""
    path: Path = ()
    bag: Bag | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    ask: Annotated[int, Meta(ge=1, le=1_000)] = 4
    """Children to ask at each router, those that hold most of the page's heaviest words."""
    filters: Filters = Filters()
    """For the answers; the page that is asked about need not pass them."""


# -- answers ------------------------------------------------------------------------------------------------------------


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A result."""

    kind: Literal["document", "cluster"]
    url: Url
    title: Line = ""
    snippet: Line = ""
    marks: Annotated[tuple[tuple[Count, Count], ...], Meta(max_length=100)] = ()
    """Where in the snippet the words that were asked for stand: from, to."""
    score: float = 0.0
    cluster: Count = 0
    """The sub-cluster of the router that answers; 0 if it is not known."""
    cluster_name: Line = ""
    path: Path = ()
    """Names of the routers from the one that answers down to the leaf."""
    date: Moment = 0
    language: Name = ""
    pages: Count = 1
    """Pages of the document, or of the cluster."""
    copies: Annotated[tuple[Url, ...], Meta(max_length=100)] = ()
    """Other addresses of the same, folded under this."""
    sketch: Annotated[str, Meta(max_length=200)] = ""
    """Of its words, so that copies can be told."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A router that was asked."""

    path: Path
    leaf: bool = False
    seconds: Seconds = 0.0
    results: Count = 0
    bytes: Count = 0
    failed: bool = False
    """Whether it gave no answer; then it is not known whether it is a leaf."""
    mark: Name = ""
    """Of a leaf: which collection it answered from, so that one that is asked by two ways counts once."""
    total: Count = 0
    """Of a leaf: documents that match."""


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """A router that was not asked."""

    path: Path
    reason: Line


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Results of one sub-cluster."""

    cluster: Count
    name: Line
    results: tuple[Count, ...]
    """Their places in the list of results."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """Results, and how they were found."""

    query: Line = ""
    router: Name = ""
    leaf: bool = False
    """Whether a leaf answers, which asked nobody else."""
    mark: Name = ""
    """Of a leaf: which collection it answers from."""
    total: Count = 0
    """Documents that match, a leaf that was asked by several ways once; copies that only their leaves tell apart count each."""
    results: tuple[Found, ...] = ()
    groups: tuple[Group, ...] = ()
    asked: tuple[Asked, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    partial: Annotated[tuple[Line, ...], Meta(max_length=10_000)] = ()
    """Why something may be missing; nothing is if there is none."""
    seconds: Seconds = 0.0


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """Terms to refine a query with."""

    query: Line = ""
    router: Name = ""
    known: Count = 0
    """Pages, or sub-clusters, that hold all that was asked."""
    collocated: tuple[Name, ...] = ()
    broader: tuple[Name, ...] = ()
    narrower: tuple[Name, ...] = ()
    children: Count = 0
    """Children that were asked how words go together on their pages; none: labels tell it, or own pages."""
    partial: Annotated[tuple[Line, ...], Meta(max_length=10_000)] = ()
    """Which of them gave no answer, and why."""
    seconds: Seconds = 0.0


MOST_TOGETHER = 300
"""Words that are counted together with a query, at most."""


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """How often words go together with a query, on pages."""

    pages: Count = 0
    """Pages of the query."""
    documents: Count = 0
    """Pages in all, of those sites that have some of the query."""
    words: Annotated[tuple[Name, ...], Meta(max_length=MOST_TOGETHER)] = ()
    both: Annotated[tuple[Count, ...], Meta(max_length=MOST_TOGETHER)] = ()
    """Pages of the query that are about each word."""
    df: Annotated[tuple[Count, ...], Meta(max_length=MOST_TOGETHER)] = ()
    """Pages that are about it."""
    partial: Annotated[tuple[Line, ...], Meta(max_length=10_000)] = ()


class SummaryCluster(msgspec.Struct, frozen=True, kw_only=True):
    """A sub-cluster for people."""

    number: Count
    name: Line
    documents: Count
    words: tuple[Name, ...]
    urls: tuple[Url, ...]


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What a router holds, for people."""

    name: Line
    leaf: bool
    documents: Count
    exact: bool
    bytes: Count
    words: tuple[Name, ...]
    clusters: tuple[SummaryCluster, ...]
    children: tuple[Name, ...] = ()


class ChildHealth(msgspec.Struct, frozen=True, kw_only=True):
    """What a router knows of a child."""

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
    """How a router is."""

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


class TreeRequest(Travel, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which routers there are below one, and how they are."""

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
        """A router, or a leaf, that tells how it is: a node without children."""
        return cls(
            name=health.name, level=health.level, leaf=health.leaf, ready=health.ready, documents=health.documents,
            label_bytes=health.label_bytes, label_age=health.label_age, error=health.error,
        )  # fmt: skip


def encode(message: Any) -> bytes:
    """A message on the wire."""
    return msgspec.json.encode(message)
