"""The pages and the clusters of a collection as tables."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from urllib.parse import urlsplit

from pagekin.clusters import Tree
from pagekin.collection.messages import LATEST
from pagekin.collection.tables import Table
from pagekin.hypertext import host_of
from pagekin.sources import NO_PLACE, CopyError, RecordCopier, RecordPlace

if TYPE_CHECKING:
    from pagekin.collection.collection import Collection


def surt_key(url: str) -> str:
    """Return the sort key of an address in archives: `com,example)/path?query`, in lower case, without scheme and `www.`."""
    parts = urlsplit(url.lower())
    host = (parts.hostname or "").rstrip(".")
    labels = host.split(".")
    if labels[0].startswith("www") and labels[0][3:].isdigit() | (labels[0] == "www") and len(labels) > 1:
        labels = labels[1:]
    numeric = all(label.isdigit() for label in labels)
    name = host if numeric or ":" in host else ",".join(reversed(labels))
    port = f":{parts.port}" if parts.port else ""
    path = parts.path.rstrip("/") or "/"
    query = f"?{'&'.join(sorted(parts.query.split('&')))}" if parts.query else ""
    return f"{name}{port}){path}{query}"


def name_times(dates: Sequence[int]) -> list[str]:
    """Return the days of captures as text, with the time where several are of one day."""
    moments = [datetime.fromtimestamp(date, UTC) if 0 < date <= LATEST else None for date in dates]
    days = Counter(moment.date() for moment in moments if moment)
    forms = [("%Y-%m-%d %H:%M:%S" if days[moment.date()] > 1 else "%Y-%m-%d") if moment else "" for moment in moments]
    return [moment.strftime(form) if moment else "unknown date" for moment, form in zip(moments, forms, strict=True)]


class PageTable(Table):
    """All pages of a collection as a table, with the column names of Common Crawl's index."""

    columns: ClassVar = {
        "url": "string", "url_surtkey": "string", "url_host_name": "string", "fetch_time": "moment",
        "content_digest": "string", "content_languages": "string", "title": "string", "html_bytes": "int64",
        "cluster": "string", "inlinks": "int64",
        "warc_filename": "string", "warc_record_offset": "int64", "warc_record_length": "int64",
    }  # fmt: skip

    def __init__(self, collection: "Collection", copier: RecordCopier | None = None) -> None:
        """Make a table; `copier` reads the digests, which a collection does not store, from the pages' records."""
        self._collection, self._copier = collection, copier

        self._whole = collection.whole
        self._pages = self._whole.alive_pages()

    def __len__(self) -> int:
        return len(self._pages)

    def __iter__(self) -> Iterator[str]:
        """Yield the addresses of pages."""
        return map(self._whole.page_url, self._pages)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield pages as rows, in the order of their addresses."""
        collection, whole = self._collection, self._whole
        corpora = [part.corpus for part in whole.parts]
        for number, url in zip(self._pages, self, strict=True):
            part, page = whole.pages.place(number)
            corpus = corpora[part]
            cluster = int(whole.parts[part].cluster_of[page]) if collection.has_label else 0
            date = int(corpus.pages.date[page])
            place = corpus.place(page) if corpus.has_places else NO_PLACE
            yield {
                "url": url,
                "url_surtkey": surt_key(url),
                "url_host_name": host_of(url).partition(":")[0],
                "fetch_time": datetime.fromtimestamp(date, UTC) if date else None,
                "content_digest": self._digest(place, url) or None,
                "content_languages": corpus.language(page) or None,
                "title": corpus.titles.text(page),
                "html_bytes": int(corpus.pages.html_bytes[page]),
                "cluster": collection.cluster_name(cluster) or None,
                "inlinks": sum(len(one.anchors_in(home)) for one in corpora if (home := one.url_number(url)) >= 0),
                "warc_filename": place.archive.encode("utf-8", "replace").decode() or None,
                "warc_record_offset": place.offset if place.length else None,
                "warc_record_length": place.length or None,
            }

    def _digest(self, place: RecordPlace, url: str) -> str:
        """Return the payload digest in a page's record; a SHA-1 without its name, as in Common Crawl."""
        if self._copier is None:
            return ""
        try:
            return self._copier.digest(place, url).removeprefix("sha1:")
        except CopyError:
            return ""


class Cluster(NamedTuple):
    """A cluster of pages."""

    cluster: int
    parent: int
    level: int
    name: str
    pages: int
    terms: tuple[str, ...]
    """What sets it apart from its siblings, the most telling first."""
    central: tuple[str, ...]
    """Addresses of pages in its middle."""


class ClusterTable(Table):
    """A hierarchy of clusters, parents before their children."""

    columns: ClassVar = {
        "cluster": "int32", "parent": "int32", "level": "int32", "name": "string", "pages": "int64", "terms": "strings",
        "central": "strings",
    }  # fmt: skip

    def __init__(self, collection: "Collection", tree: Tree) -> None:
        self._whole, self._tree = collection.whole, tree

    def __len__(self) -> int:
        return len(self._tree)

    def __iter__(self) -> Iterator[Cluster]:
        return (self[node] for node in range(len(self)))

    def __getitem__(self, node: int) -> Cluster:
        tree, about = self._tree, self._tree.descriptions[node]
        central = tuple(self._whole.page_url(page) for page in about.central)
        level, size = len(tree.path(node)) - 1, len(tree.pages_of(node))
        return Cluster(node, int(tree.parent[node]), level, about.name, size, tuple(about.terms), central)

    def urls(self, cluster: int) -> list[str]:
        """Return the addresses of all pages of a cluster, with those of its sub-clusters."""
        return [self._whole.page_url(page) for page in self._tree.pages_of(cluster).tolist()]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield clusters as rows."""
        return (cluster._asdict() for cluster in self)
