"""The links of a collection and the related pages of all its pages: as rows, as sparse matrices, and as graphs."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from pagekin.collection.tables import Table, require_package
from pagekin.hypertext import has_delta_error
from pagekin.similarity import RankingOptions, RelatedIndex, all_neighbours
from pagekin.store import Array

if TYPE_CHECKING:
    from pagekin.collection.collection import Collection


class Graph(Table):
    """Addresses, and edges between them."""

    weight: ClassVar[str] = "weight"
    """The meaning of an edge's weight."""

    @property
    def urls(self) -> Sequence[str]:
        """Return the addresses that are nodes: node i is the i-th row and column of the matrix."""
        raise NotImplementedError

    def edges(self) -> tuple[Array, Array, Array]:
        """Return (sources, targets, weights) of all edges, by the numbers of nodes; no two have the same ends."""
        raise NotImplementedError

    def titles(self) -> dict[int, str]:
        """Return the titles of the nodes that were read."""
        raise NotImplementedError

    def topics(self) -> dict[int, str]:
        """Return the names of the nodes' topics, as far as they are known."""
        return {}

    def to_scipy(self) -> Any:
        """Return the weights as a sparse matrix of scipy (CSR), in which row i and column i are `urls[i]`."""
        sparse = require_package("scipy.sparse", "to_scipy")
        sources, targets, weights = self.edges()
        size = len(self.urls)
        return sparse.csr_array((weights, (sources, targets)), shape=(size, size))

    def to_networkx(self) -> Any:
        """Return a graph of networkx whose nodes are addresses with titles and topics."""
        graph = require_package("networkx", "to_networkx").DiGraph()
        urls, titles, topics = self.urls, self.titles(), self.topics()
        sources, targets, weights = (column.tolist() for column in self.edges())
        for node in sorted({*sources, *targets, *titles}):
            graph.add_node(urls[node], title=titles.get(node, ""), topic=topics.get(node, ""), captured=node in titles)
        graph.add_weighted_edges_from(
            (urls[source], urls[target], weight)
            for source, target, weight in zip(sources, targets, weights, strict=True)
        )
        return graph


class Link(NamedTuple):
    """A link from a page of a collection, with the words around it."""

    source: str
    target: str
    text: str
    left: str
    right: str
    kind: str
    nofollow: bool
    date: int


class Links(Graph):
    """All links on the pages of a collection: each row is a link, each edge a pair of addresses."""

    columns: ClassVar = {
        "crawl_date": "string", "src": "string", "dest": "string", "anchor": "string", "left": "string",
        "right": "string", "kind": "string", "nofollow": "bool_",
    }  # fmt: skip
    weight: ClassVar[str] = "links"

    def __init__(self, collection: "Collection") -> None:
        if collection.delta:
            raise has_delta_error(collection.path)
        self._collection, self._corpus = collection, collection.corpus

    def __len__(self) -> int:
        return len(self._corpus.anchors.target)

    def __iter__(self) -> Iterator[Link]:
        """Yield the links in the order of their pages."""
        corpus = self._corpus
        for page in range(len(corpus)):
            date = int(corpus.pages.date[page])
            for anchor in corpus.view_anchors(corpus.anchors_out(page)):
                left, right = " ".join(anchor["left"]), " ".join(anchor["right"])
                yield Link(
                    anchor["source"],
                    anchor["target"],
                    anchor["text"],
                    left,
                    right,
                    anchor["kind"],
                    anchor["nofollow"],
                    date,
                )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield links with the column names of the Archives Unleashed `webgraph`, and the words on both sides."""
        for link in self:
            day = datetime.fromtimestamp(link.date, UTC).strftime("%Y%m%d") if link.date else ""
            yield {
                "crawl_date": day, "src": link.source, "dest": link.target, "anchor": link.text, "left": link.left,
                "right": link.right, "kind": link.kind, "nofollow": link.nofollow,
            }  # fmt: skip

    @cached_property
    def urls(self) -> list[str]:
        """Return all addresses: of pages, and of their links' targets."""
        return [self._corpus.url(number) for number in range(len(self._corpus.urls))]

    def edges(self) -> tuple[Array, Array, Array]:
        """Return (sources, targets, how many links lead from one to the other)."""
        pages, anchors = self._corpus.pages, self._corpus.anchors
        sources = np.repeat(np.asarray(pages.url, np.int64), np.diff(np.asarray(pages.anchors, np.int64)).tolist())
        targets = np.asarray(anchors.target, np.int64)
        size = len(self._corpus.urls)
        pairs, counts = np.unique(sources * size + targets, return_counts=True)
        return pairs // max(size, 1), pairs % max(size, 1), counts

    def titles(self) -> dict[int, str]:
        """Return the titles of pages by their addresses' numbers."""
        numbers = self._corpus.pages.url.tolist()
        return {number: self._corpus.titles.text(page) for page, number in enumerate(numbers)}

    def topics(self) -> dict[int, str]:
        """Return the names of the pages' topics by their addresses' numbers; none without clusters."""
        if not self._collection.has_label:
            return {}
        clusters = self._collection.cluster_of.tolist()
        names = {cluster: self._collection.cluster_name(cluster) for cluster in set(clusters)}
        return {
            number: names[cluster] for number, cluster in zip(self._corpus.pages.url.tolist(), clusters, strict=True)
        }


class Neighbour(NamedTuple):
    """A page, and one that is related to it."""

    url: str
    rank: int
    related: str
    similarity: float


class Neighbours(Graph):
    """The pages most related to each page of a collection."""

    columns: ClassVar = {"url": "string", "rank": "int32", "related": "string", "similarity": "float64"}
    weight: ClassVar[str] = "similarity"

    def __init__(self, index: RelatedIndex, options: RankingOptions, threads: int = 1) -> None:
        self._index, self._options, self._threads = index, options, threads

    @cached_property
    def _neighbours(self) -> list[tuple[int, list[tuple[int, float]]]]:
        index = self._index
        documents = np.arange(len(index))
        documents = documents[index.are_captured(documents)]
        answers = all_neighbours(index, documents, self._options, self._threads)
        return [
            (document, [(one.document, float(one.similarity)) for one in answer.related])
            for document, answer in answers
        ]

    def __len__(self) -> int:
        return sum(len(related) for _document, related in self._neighbours)

    def __iter__(self) -> Iterator[Neighbour]:
        """Yield pairs, the nearest of each page first."""
        urls = self.urls
        for document, related in self._neighbours:
            for rank, (other, similarity) in enumerate(related, 1):
                yield Neighbour(urls[document], rank, urls[other], similarity)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield pairs as rows."""
        return (pair._asdict() for pair in self)

    @property
    def urls(self) -> Sequence[str]:
        """Return the addresses that can be asked about."""
        return self._index.urls

    def edges(self) -> tuple[Array, Array, Array]:
        """Return (pages, pages related to them, similarities)."""
        edges = [(document, *pair) for document, related in self._neighbours for pair in related]
        sources, targets, weights = zip(*edges, strict=True) if edges else ((), (), ())
        return np.array(sources, np.int64), np.array(targets, np.int64), np.array(weights, np.float64)

    def titles(self) -> dict[int, str]:
        """Return the titles of the pages."""
        return {document: self._index.title(document) for document, _related in self._neighbours}
