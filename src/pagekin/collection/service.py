"""`Service`, the interface of everything that answers questions: a collection, a router, or one of them at an address."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pagekin.collection import messages
from pagekin.labels import ContentLabel, join_parts, label_etag, label_to_json

if TYPE_CHECKING:
    from pagekin.collection.collection import Collection
    from pagekin.collection.whole import Whole

T = TypeVar("T")


@dataclass(frozen=True)
class PublishedLabel:
    """A content label as it is published: in parts, by abstraction function."""

    parts: Mapping[str, ContentLabel]

    @cached_property
    def whole(self) -> ContentLabel:
        """Return the parts as one label."""
        return join_parts(self.parts)

    @cached_property
    def etags(self) -> Mapping[str, str]:
        """Return the ETag of each part."""
        return {function: label_etag(part) for function, part in self.parts.items()}

    @cached_property
    def bytes(self) -> int:
        """Return the size of the parts as JSON."""
        return sum(len(label_to_json(part)) for part in self.parts.values())


class KnownChild(Protocol):
    """What a router knows of one of its children."""

    name: str
    url: str
    """The address at which it is served."""
    label: ContentLabel | None
    """None until it has sent one."""


class Service:
    """Anything that answers questions about pages. This class is the only list of questions; every door reads it.

    A service that answers all questions in one way overrides `_ask`, another the questions themselves.
    """

    name: str
    leaf = False
    """Whether it answers from its own pages."""
    local = False
    """Whether it answers entirely within this process, so that `walk` can ask it."""
    above: tuple[tuple[str, str], ...] = ()
    """(name, address) of the routers above it, as far as they are known."""
    children: Mapping[str, KnownChild] = {}
    """What it knows of its children, by name; a leaf has none."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._companions: dict[Any, Any] = {}

    # -- questions ------------------------------------------------------------------------------------------------------

    async def _ask(self, operation: str, request: messages.Request, answer: type[T]) -> T:
        """Return the answer to one of the questions below, by its name."""
        raise NotImplementedError

    async def search(self, request: messages.SearchRequest) -> messages.Answer:
        """Return documents that match a query."""
        return await self._ask("search", request, messages.Answer)

    async def show(self, request: messages.ShowRequest) -> messages.Answer:
        """Return documents with snippets."""
        return await self._ask("show", request, messages.Answer)

    async def select(self, request: messages.SelectRequest) -> messages.Answer:
        """Return the clusters and documents of the current set that match; filters apply only to documents."""
        return await self._ask("select", request, messages.Answer)

    async def expand(self, request: messages.SelectRequest) -> messages.Answer:
        """Return the matching children of the matching clusters of the current set."""
        return await self._ask("expand", request, messages.Answer)

    async def refine(self, request: messages.RefineRequest) -> messages.Refinements:
        """Return collocated, broader and narrower terms."""
        return await self._ask("refine", request, messages.Refinements)

    async def cooccurrences(self, request: messages.CooccurrencesRequest) -> messages.CooccurrenceCounts:
        """Return how many pages of a query are about each word."""
        return await self._ask("cooccurrences", request, messages.CooccurrenceCounts)

    async def suggest(self, request: messages.SuggestRequest) -> messages.Answer:
        """Return documents similar to those of the current set, or to the best hits of a query."""
        return await self._ask("suggest", request, messages.Answer)

    async def related(self, request: messages.RelatedRequest) -> messages.Answer:
        """Return pages similar to a page, or to several pages together."""
        return await self._ask("related", request, messages.Answer)

    async def bag(self, request: messages.RelatedRequest) -> messages.Bag:
        """Return a page's weighted bag, for other collections to compare."""
        return await self._ask("bag", request, messages.Bag)

    async def describe(self, request: messages.DescribeRequest) -> messages.PageDescription:
        """Return what was read from a page."""
        return await self._ask("describe", request, messages.PageDescription)

    async def tree(self, request: messages.TreeRequest) -> messages.TreeNode:
        """Return the services below this one, and their health."""
        return await self._ask("tree", request, messages.TreeNode)

    # -- what it is -----------------------------------------------------------------------------------------------------

    @property
    def label(self) -> ContentLabel:
        """Return its content label; raise a ServiceError if it has none yet."""
        return self.published.whole

    @property
    def published(self) -> PublishedLabel:
        """Return its content label as it is published."""
        raise NotImplementedError

    async def health(self) -> messages.Health:
        """Return the health of the service and its children."""
        raise NotImplementedError

    async def summary(self) -> messages.Summary:
        """Return what is here, for people."""
        label = self.label
        clusters = tuple(
            messages.SummaryCluster(
                number=one.number, name=one.name, documents=one.num_docs, words=one.heaviest, urls=one.urls
            )
            for one in label.clusters
        )
        return messages.Summary(
            name=self.name, leaf=self.leaf, documents=label.num_docs, exact=label.exact, bytes=label.size,
            words=label.heaviest, clusters=clusters, children=tuple(self.children),
        )  # fmt: skip

    # -- work beside questions ------------------------------------------------------------------------------------------

    @property
    def collection(self) -> "Collection | None":
        """Return the open collection that it answers from in this process; None if there is none."""
        return None

    @property
    def whole(self) -> "Whole | None":
        """Return the `Whole` that it answers from in this process; None if there is none."""
        return None

    async def run(self, work: "Callable[[Collection], T]") -> T:
        """Run a function with its open collection in a thread; raise a ServiceError if it has none."""
        raise messages.ServiceError(f"{self.name} holds no pages of its own in this process", 404)

    def companion(self, make: Callable[[Any], T]) -> T:
        """Return data that a higher room keeps with this service; computed when first asked for, and again for each new label."""
        label = self.label
        if make not in self._companions or self._companions[make][0] is not label:
            self._companions[make] = label, make(self)
        kept: T = self._companions[make][1]
        return kept

    async def start(self) -> None:
        """Start the service."""

    async def stop(self) -> None:
        """Stop the service, and close what is open."""

    def shards(self) -> "dict[str, Service]":
        """Return the services of its shards, by name; empty for everything but a collection in shards."""
        return {}

    def look_again(self) -> None:
        """Make the next question check whether the folder behind the service was rebuilt, if there is one."""

    def wake(self) -> bool:
        """Fetch changed labels of the children now; return whether there are children."""
        return False

    def explain_fault(self, error: BaseException) -> str:
        """Return the message of an unexpected error for clients."""
        return f"internal error: {type(error).__name__}"
