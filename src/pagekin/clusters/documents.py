"""Composite documents: several pages that are one document (hypursuit-1996, Figure 1).

A document has a *cover*, a page that links to the others, which link back and lie in its folder or below. Mutual links are
common, so there has to be more. Either the cover lists pages in an order in which each is linked with the next, and only
with the next: sections, chapters. Or all pages but the cover are known to the document alone, and have a name in their
titles that the rest of the site has not: "CS 302 Section 4: Grading". Then every page to which only the document links, and
which links back, belongs to it too: figures, notes, authors.

Pages stay alone where in doubt, and where others link to them much: those of an encyclopaedia or a reference.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pagekin.clusters.hierarchy import ClusterDescription, Tree
from pagekin.hypertext import Corpus, ShortTitles, host_of
from pagekin.store import IN_MEMORY, Array, Workspace

DOCUMENTS_TREE = "documents"
"""The name of their tree."""
FEWEST_PAGES, MOST_PAGES = 3, 64
"""Maximum pages of a document. A longer one is a book, whose chapters are documents if they have several pages."""
_RUN = 3
"""Pages in a row that a cover lists and that are linked each with the next."""
_KNOWN_OUTSIDE = 0.5
"""Links to the inner pages from outside, at most, for each link from inside."""
_CROSS_LINKS = 2.0
"""Links to other inner pages, at most, of the average inner page of a document that has no order."""
_NEAR = 3
"""Mutual links from the cover and the core within which pages are judged together."""
_NAMED = 0.5
"""The least share of inner pages whose titles hold the document's name."""
_GENERAL = frozenset(
    "a an and at by contents de for from home homepage in index info information main my of on or page pages s site table "
    "the to untitled web welcome with".split()
)
"""Words of titles that name no document."""
_CODE = re.compile(r"\w_\w|\w\(\)|[^\W\d]\w+(?:::|\.)[^\W\d]\w+")
"""A name as in programs: titles of references are full of them."""
_WORD = re.compile(r"\w+")
_NODES_AT_A_TIME = 1 << 14
"""How many nodes have their links compared at a time, which bounds the memory."""


@dataclass(frozen=True)
class Document:
    """One document of several pages."""

    cover: int
    pages: tuple[int, ...]
    """All pages, with the cover and older captures, rising."""
    title: str
    """The cover's, without what its host repeats."""


def find_documents(corpus: Corpus, space: Workspace = IN_MEMORY) -> list[Document]:
    """Find the composite documents of a corpus, by their covers' addresses; no page is in two of them.

    Large arrays are put into `space`.

    Of documents that share pages the larger one stays, then the one whose cover is linked with more of it, or has the
    shorter address. Cost: a few steps for each link, and for each page that may be a cover those of at most 64 pages.
    """
    search = _Search(corpus, space)
    may_cover = sorted(node for node, others in search.mutual.items() if len(others) >= FEWEST_PAGES - 1)
    candidates = [(group, cover) for cover in may_cover if (group := search.document(cover))]
    candidates.sort(key=lambda one: (-len(one[0]), -search.width(one[1], one[0]), len(search.url(one[1])), one[1]))
    taken: set[int] = set()
    kept: list[Document] = []
    for group, cover in candidates:
        if taken.isdisjoint(group):
            taken |= group
            kept.append(search.make(cover, group))
    return sorted(kept, key=lambda one: one.cover)


def document_tree(corpus: Corpus, space: Workspace = IN_MEMORY) -> Tree:
    """Return the composite documents as a tree: a node each below the root, named by its title, its cover the central page.

    Pages that are documents of their own are not in it.
    """
    documents = find_documents(corpus, space)
    sizes = [0, 0, *(len(one.pages) for one in documents)]
    return Tree(
        DOCUMENTS_TREE,
        np.array([-1] + [0] * len(documents), np.int32),
        np.cumsum(sizes, dtype=np.int64),
        np.array([page for one in documents for page in one.pages], np.int64),
        {"documents": len(documents), "pages": sum(sizes), "most_pages": MOST_PAGES},
        [ClusterDescription("", (), ()), *(ClusterDescription(one.title, (), (one.cover,)) for one in documents)],
    )


def document_of(tree: Tree | None, pages: int) -> npt.NDArray[np.int64]:
    """Return the cover of each page's document, (pages); a single page is its own cover, as is every page without a tree."""
    covers = np.arange(pages, dtype=np.int64)
    if tree is not None:
        for node in tree.children[0]:
            inside = tree.pages_of(node)
            covers[inside] = (*tree.descriptions[node].central, *inside, -1)[0]
    return covers


def fold_documents(covers: Array, pages: Iterable[int]) -> list[int]:
    """Return single pages and covers of documents, given `document_of`, in the order of their first pages."""
    return list(dict.fromkeys(covers[list(pages)].tolist()))


class _Search:
    """The search for documents among the pages of a corpus, as nodes of their graph."""

    def __init__(self, corpus: Corpus, space: Workspace) -> None:
        from pagekin.clusters.links import page_graph  # which questions do not need

        self.corpus = corpus
        self.graph = page_graph(corpus, space)
        # Pages share the texts of their folders and hosts, of which there are fewer.
        texts: dict[str, str] = {}
        self.folders: list[str] = []
        self.hosts: list[str] = []
        self._nodes_of_host: dict[str, array[int]] = {}
        for node in range(len(self.graph)):
            url = self.url(node)
            folder, host = url.partition("?")[0].rpartition("/")[0], host_of(url)
            self.folders.append(texts.setdefault(folder, folder))
            self.hosts.append(texts.setdefault(host, host))
            self._nodes_of_host.setdefault(self.hosts[-1], array("q")).append(node)
        self.titles = ShortTitles(corpus)
        self.mutual = self._find_mutual()
        # Whether others know a page shows for most pages by the first that links to it; only pages with links are asked for.
        self.first_into = array("q", np.append(self.graph.in_sources, -1)[self.graph.in_offsets[:-1]].astype(np.int64))
        self.known = array("q", np.diff(self.graph.in_offsets))
        self._holders: tuple[str, dict[str, set[int]]] = ("", {})

    def url(self, node: int) -> str:
        """Return the address of a node."""
        return self.corpus.url(int(self.graph.urls[node]))

    def _find_mutual(self) -> dict[int, set[int]]:
        """Return, for each node, the nodes in nearby folders that are linked with it in both directions."""
        above = {folder: folder.rpartition("/")[0] for folder in set(self.folders)}
        mutual: dict[int, set[int]] = {}
        for node, other in self._linked_both_ways():
            is_beside = above[self.folders[node]] == above[self.folders[other]]
            if is_beside or self._below(node, other) or self._below(other, node):
                mutual.setdefault(node, set()).add(other)
        return mutual

    def _linked_both_ways(self) -> Iterator[tuple[int, int]]:
        """Yield each (node, other) of two nodes that link to each other, the nodes in order, some thousand at a time."""
        graph, count = self.graph, len(self.graph)
        for first in range(0, count, _NODES_AT_A_TIME):
            last = min(first + _NODES_AT_A_TIME, count)
            out, back = (
                np.repeat(np.arange(first, last), np.diff(offsets[first : last + 1])) * count
                + others[offsets[first] : offsets[last]].astype(np.int64)
                for offsets, others in ((graph.out_offsets, graph.out_targets), (graph.in_offsets, graph.in_sources))
            )
            both = np.intersect1d(out, back, assume_unique=True)
            yield from zip((both // count).tolist(), (both % count).tolist(), strict=True)

    def _below(self, cover: int, node: int) -> bool:
        """Return whether a node is in the cover's folder or below it."""
        folder, above = self.folders[node], self.folders[cover]
        return folder.startswith(above) and (len(folder) == len(above) or folder[len(above)] == "/")

    def _out(self, node: int) -> list[int]:
        targets = self.graph.out_targets[self.graph.out_offsets[node] : self.graph.out_offsets[node + 1]]
        return list(targets.tolist())

    def _into(self, node: int) -> list[int]:
        sources = self.graph.in_sources[self.graph.in_offsets[node] : self.graph.in_offsets[node + 1]]
        return list(sources.tolist())

    def _is_linked(self, node: int, other: int) -> bool:
        """Return whether there is a link between two nodes, either way."""
        return other in self.mutual.get(node, ()) or other in self._out(node) or node in self._out(other)

    def document(self, cover: int) -> set[int]:
        """Return the nodes of the document with this cover; none if there is no such document."""
        core = [node for run in self._runs(self._listed_nodes(cover)) for node in run]
        if core:
            group = self._grow(cover, core)
            if self._is_sound(cover, group) and self._is_little_known(cover, group):
                return group
        if not self._may_have_a_name(cover):
            return set()
        group = self._grow(cover, [])
        return group if self._is_sound(cover, group) and self._has_a_name(cover, group) else set()

    def _is_sound(self, cover: int, group: set[int]) -> bool:
        """Return whether a document is plausible, by its size, cover and titles."""
        if not FEWEST_PAGES <= len(group) <= MOST_PAGES:
            return False
        return not self._has_another_cover(cover, group) and not self._is_reference(cover, group)

    def width(self, node: int, group: set[int]) -> int:
        """Count the pages of a document with which a node is linked both ways."""
        return len(self.mutual.get(node, set()) & group)

    def _count_outside(self, node: int, group: set[int]) -> int:
        """Count the pages outside a document that link to a node."""
        return sum(other not in group for other in self._into(node))

    def _has_another_cover(self, cover: int, group: set[int]) -> bool:
        """Return whether an inner page is linked with more of the document, and with all of it or known as well outside.

        A section links to the one before, to the contents and to the next, which makes it look like a cover of these.
        """
        width, outside = self.width(cover, group), self._count_outside(cover, group)
        wider = [node for node in group - {cover} if self.width(node, group) > width]
        return any(
            self.width(node, group) == len(group) - 1 or self._count_outside(node, group) >= outside for node in wider
        )

    def _listed_nodes(self, cover: int) -> list[int]:
        """Return the nodes that are linked with a cover both ways, in the order of its links."""
        offsets = self.corpus.pages.anchors
        page = int(self.graph.pages[cover])
        targets = np.asarray(self.corpus.anchors.target[int(offsets[page]) : int(offsets[page + 1])], np.int64)
        places = np.minimum(np.searchsorted(self.graph.urls, targets), len(self.graph) - 1)
        nodes = places[self.graph.urls[places] == targets].tolist()
        return [node for node in dict.fromkeys(nodes) if node in self.mutual[cover] and self._below(cover, node)]

    def _runs(self, listed: Sequence[int]) -> Iterator[list[int]]:
        """Yield the runs of a list in which each node is linked both ways with the next, and rarely with the one after it."""
        run: list[int] = []
        for node in [*listed, -1]:
            if run and node not in self.mutual.get(run[-1], ()):
                if len(run) >= _RUN and self._is_order(run):
                    yield run
                run = []
            run.append(node)

    def _is_order(self, run: Sequence[int]) -> bool:
        """Return whether nodes form a sequence, rather than all being linked with all."""
        allowed = (len(run) - 3) // 2  # fewer than half of them
        for node, other in zip(run, run[2:], strict=False):
            allowed -= self._is_linked(node, other)
            if allowed < 0:
                return False
        return True

    def _grow(self, cover: int, core: Sequence[int]) -> set[int]:
        """Add to a cover and the core of its document all nodes to which only they link and which link back.

        It stops growing when it is larger than a document may be.
        """
        group = self._start(cover, core)
        todo = sorted(group)
        while todo and len(group) <= MOST_PAGES:
            for node in self._out(todo.pop()):
                if (
                    self.first_into[node] in group
                    and node not in group
                    and self._below(cover, node)
                    and all(other in group for other in self._into(node))
                    and not group.isdisjoint(self._out(node))
                ):
                    group.add(node)
                    todo.append(node)
        return group

    def _start(self, cover: int, core: Sequence[int]) -> set[int]:
        """Add to a cover and its core the nearby pages that nothing else links to."""
        fixed = {cover, *core}
        group = edge = fixed
        # Section and figure link to each other, so neither can be judged without the other. What more pages than a document
        # has link to, cannot be known to the document alone.
        for _ in range(_NEAR):
            near = set().union(*(self.mutual[one] for one in edge)) - group
            edge = {node for node in near if self.known[node] <= MOST_PAGES and self._below(cover, node)}
            if len(group) + len(edge) > MOST_PAGES:
                break
            group = group | edge
        while known := {node for node in group - fixed if any(other not in group for other in self._into(node))}:
            group = group - known
        return group

    def _is_little_known(self, cover: int, group: set[int]) -> bool:
        """Return whether few links from outside lead to the inner pages."""
        inner = group - {cover}
        outside = sum(self._count_outside(node, group) for node in inner)
        return outside <= _KNOWN_OUTSIDE * (sum(self.known[node] for node in inner) - outside)

    def _is_reference(self, cover: int, group: set[int]) -> bool:
        """Return whether the inner pages are entries about parts of programs, each to be looked up on its own."""
        inner = group - {cover}
        return 2 * sum(bool(_CODE.search(self._title(node))) for node in inner) > len(inner)

    def _title(self, node: int) -> str:
        return self.titles.text(int(self.graph.pages[node]))

    def _words(self, node: int) -> set[str]:
        return set(_WORD.findall(self._title(node).casefold())) - _GENERAL

    def _may_have_a_name(self, cover: int) -> bool:
        """Return whether two pages linked with a cover hold a word of its title. A site's front page covers the site."""
        if self.folders[cover].count("/") < 3:
            return False
        of_host = self._holders_in(self.hosts[cover])
        return any(len(of_host[word] & self.mutual[cover]) > 1 for word in self._words(cover))

    def _has_a_name(self, cover: int, group: set[int]) -> bool:
        """Return whether words of the cover's title stand in those of most inner pages, and not elsewhere on a larger site.

        Pages that are linked with each other in all ways are a site, not a document.
        """
        inner = group - {cover}
        widths = [self.width(node, group) for node in inner]
        # The cover stands out by its links, or at least by being known where some inner pages have fewer.
        rival = max(widths) if not self._count_outside(cover, group) else min(widths)
        if rival >= self.width(cover, group):
            return False
        if sum(len(inner.intersection(self._out(node))) for node in inner) > _CROSS_LINKS * len(inner):
            return False
        title, titles = self._words(cover), [self._words(node) for node in inner]
        enough = max(2, _NAMED * len(inner))
        name = [word for word in title if sum(word in held for held in titles) >= enough]
        # Of two inner pages, the cover may be the page between them: then it has as much of its own as they have.
        if not name or (len(inner) < _RUN and 2 * len(name) <= len(title)):
            return False
        of_host = self._holders_in(self.hosts[cover])
        everywhere = set.intersection(*(of_host[word] for word in name))
        return 2 * len(everywhere & group) > len(everywhere) and 2 * len(group) <= len(of_host[""])

    def _holders_in(self, host: str) -> dict[str, set[int]]:
        """Return the nodes of a host that hold each word of a title; all of them hold the word ''.

        They are kept until another host is asked for: covers come in the order of their addresses.
        """
        if self._holders[0] != host:
            held: dict[str, set[int]] = {}
            for node in self._nodes_of_host[host]:
                for word in ("", *self._words(node)):
                    held.setdefault(word, set()).add(node)
            self._holders = host, held
        return self._holders[1]

    def make(self, cover: int, group: set[int]) -> Document:
        """Make the document of these nodes; a node stands for all captures of its address."""
        pages = (page for node in group for page in self.corpus.pages_of(int(self.graph.urls[node])))
        return Document(int(self.graph.pages[cover]), tuple(sorted(pages)), self._title(cover) or self.url(cover))
