"""The one protocol of everything that answers questions about pages."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pagekin.collection.messages import (
    Answer,
    Bag,
    CooccurrenceCounts,
    CooccurrencesRequest,
    DescribeRequest,
    Health,
    PageDescription,
    Refinements,
    RefineRequest,
    RelatedRequest,
    Request,
    SearchRequest,
    SelectRequest,
    ShowRequest,
    SuggestRequest,
    Summary,
    TreeNode,
    TreeRequest,
)
from pagekin.labels import ContentLabel

if TYPE_CHECKING:
    from pagekin.collection.collection import Collection

T = TypeVar("T")


class KnownChild(Protocol):
    """What a router knows of one of its children."""

    @property
    def name(self) -> str:
        """Return its name."""
        ...

    @property
    def url(self) -> str:
        """Return the address at which it is served."""
        ...

    @property
    def label(self) -> ContentLabel | None:
        """Return its content label; None until it has given one."""
        ...


class Service(Protocol):
    """Whatever answers questions about pages: a collection, a router, or one of them at an address."""

    name: str
    above: tuple[tuple[str, str], ...]
    """(name, address) of the routers above it, as far as they are known."""

    @property
    def leaf(self) -> bool:
        """Return whether it answers from pages of its own."""
        ...

    @property
    def collection(self) -> "Collection | None":
        """Return the open collection in this process that it answers from; None for all others."""
        ...

    @property
    def children(self) -> Mapping[str, KnownChild]:
        """Return what it knows of its children, by name; a leaf has none."""
        ...

    @property
    def label(self) -> ContentLabel:
        """Return its content label; raise a ServiceError if it has none yet."""
        ...

    @property
    def parts(self) -> Mapping[str, ContentLabel]:
        """Return the parts of its label, by abstraction function."""
        ...

    @property
    def etags(self) -> Mapping[str, str]:
        """Return the ETags of these parts."""
        ...

    async def search(self, request: SearchRequest) -> Answer:
        """Return documents that match a query."""
        ...

    async def select(self, request: SelectRequest) -> Answer:
        """Return the clusters and documents of the current set that match."""
        ...

    async def expand(self, request: SelectRequest) -> Answer:
        """Return the matching children of the matching clusters of the current set."""
        ...

    async def show(self, request: ShowRequest) -> Answer:
        """Return documents with a piece of their text."""
        ...

    async def suggest(self, request: SuggestRequest) -> Answer:
        """Return documents like those of the current set."""
        ...

    async def refine(self, request: RefineRequest) -> Refinements:
        """Return terms to narrow or widen a query."""
        ...

    async def cooccurrences(self, request: CooccurrencesRequest) -> CooccurrenceCounts:
        """Return how many pages of a query are about each word."""
        ...

    async def related(self, request: RelatedRequest) -> Answer:
        """Return pages like a page."""
        ...

    async def bag(self, request: RelatedRequest) -> Bag:
        """Return a page's bag, to be compared elsewhere."""
        ...

    async def describe(self, request: DescribeRequest) -> PageDescription:
        """Return what was understood of a page."""
        ...

    async def run(self, work: "Callable[[Collection], T]") -> T:
        """Do some work with its open collection in a thread; raise a ServiceError if it answers from none."""
        ...

    def companion(self, make: Callable[[Any], T]) -> T:
        """Return what a room above keeps with this service; made when first asked for."""
        ...

    async def summary(self) -> Summary:
        """Return what is here, for people."""
        ...

    async def health(self) -> Health:
        """Return the health of the service and its children."""
        ...

    async def tree(self, request: TreeRequest) -> TreeNode:
        """Return the services below this one and their health."""
        ...

    async def start(self) -> None:
        """Begin to work."""
        ...

    async def stop(self) -> None:
        """End, and close what is open."""
        ...

    def wake(self) -> bool:
        """Ask the children at once whether their labels changed; return whether there are any."""
        ...

    def explain_fault(self, error: BaseException) -> str:
        """Return what to say of an unexpected error to those who asked."""
        ...


Operation = str
"""The name of a question: search, select, expand and so on, as in a Service."""


async def ask(service: Service, operation: Operation, request: Request) -> Any:
    """Ask a service by the name of an operation."""
    return await getattr(service, operation)(request)
