"""`pagekin clusters`: browse a collection's clusters."""

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from pagekin.cli.app import USAGE, app, fail, open_corpus, print_json, say, title_line

_PAGES = 10


@app.command()
def clusters(
    collection: Annotated[str, typer.Argument(metavar="SITE.kin")],
    cluster: Annotated[str, typer.Argument(metavar="[CLUSTER]", help="A cluster's number, or a page's address.")] = "",
    hierarchy: Annotated[
        str, typer.Option(metavar="TREE", help="Which tree: clusters, addresses, directory, or documents.")
    ] = "clusters",
    tree: Annotated[bool, typer.Option("--tree", help="Show all that is below, not only the next level.")] = False,
    documents: Annotated[
        bool, typer.Option("--documents", help="Show documents of several pages: all, or one with all its pages.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Browse clusters and other trees."""
    corpus = open_corpus(collection)
    from pagekin.clusters import DOCUMENTS_TREE, read_trees

    trees = {one.name: one for one in read_trees(corpus.kin)}
    if not trees:
        fail(f"{collection} has no clusters yet. Make them with: pagekin cluster {collection}")
    if documents or hierarchy == DOCUMENTS_TREE:
        if hierarchy not in ("clusters", DOCUMENTS_TREE):
            fail(f"--documents shows the tree '{DOCUMENTS_TREE}'; leave out --hierarchy {hierarchy}", USAGE)
        if DOCUMENTS_TREE not in trees and "documents" not in trees["clusters"].facts:
            fail(
                f"{collection} was not searched for documents of several pages. Find them with: pagekin cluster {collection}"
            )
        show_documents(corpus, trees.get(DOCUMENTS_TREE), cluster, as_json)
        return
    if hierarchy not in trees:
        fail(f"there is no tree '{hierarchy}'; there are {', '.join(trees)}", USAGE)
    chosen = trees[hierarchy]
    node = find_node(corpus, chosen, cluster)
    from pagekin.hypertext import ShortTitles

    view = PageView(corpus, trees.get(DOCUMENTS_TREE))
    if as_json:
        print_json(node_as_dict(view, chosen, node, 99 if tree else 1))
        return
    titles = ShortTitles(corpus)
    if node or not tree:
        print_node(view, chosen, node, titles)
    print_level(chosen, node, 99 if tree else 1, titles, view)


class PageView:
    """How pages are shown: those of one document once, as the document."""

    def __init__(self, corpus: Any, documents: Any) -> None:
        from pagekin.clusters import document_of

        self.corpus = corpus
        self._covers = document_of(documents, len(corpus))

    def _pages(self, page: int) -> int:
        """Return the number of pages of the document that a page covers; 1 if it is alone."""
        return max(int((self._covers == page).sum()), 1)

    def fold(self, pages: Iterable[int]) -> list[int]:
        """Return pages that are alone and covers of documents, in the order of their first pages."""
        from pagekin.clusters import fold_documents

        return fold_documents(self._covers, pages)

    def title(self, page: int, titles: Any) -> str:
        """Return a title for people, with the number of pages if it is a document's."""
        pages = self._pages(page)
        return title_line(titles.text(page)) + (f" ({pages:,} pages)" if pages > 1 else "")

    def as_dict(self, page: int) -> dict[str, Any]:
        """Return a page or a document for programs."""
        return {**_page(self.corpus, page), "pages": self._pages(page)}


def show_documents(corpus: Any, documents: Any, asked: str, as_json: bool) -> None:
    """Print all documents of several pages, the largest first; or all pages of one."""
    from pagekin.hypertext import ShortTitles

    if documents is None:
        if asked:
            fail("there are no documents of several pages in this collection")
        print_json([]) if as_json else say("No documents of several pages.")
        return
    if asked and (node := find_node(corpus, documents, asked)):
        cover, pages = documents.descriptions[node].central[0], documents.pages_of(node).tolist()
        if as_json:
            print_json(_document(corpus, documents, node) | {"parts": [_page(corpus, page) for page in pages]})
            return
        say(f"{node}  {documents.descriptions[node].name}, {len(pages):,} pages\n")
        titles = ShortTitles(corpus)
        for page in [cover, *(page for page in pages if page != cover)]:
            say(f"  {title_line(titles.text(page))}\n    {corpus.page_url(page)}")
        return
    nodes = sorted(documents.children[0], key=lambda node: (-len(documents.pages_of(node)), node))
    if as_json:
        print_json([_document(corpus, documents, node) for node in nodes])
        return
    for node in nodes:
        about = documents.descriptions[node]
        say(f"{node:>4}  {len(documents.pages_of(node)):>6,} pages  {title_line(about.name)}")
        say(f"{'':>4}  {'':>6}        {corpus.page_url(about.central[0])}")


def _document(corpus: Any, documents: Any, node: int) -> dict[str, Any]:
    about = documents.descriptions[node]
    return {
        "document": node, "title": about.name, "url": corpus.page_url(about.central[0]),
        "pages": len(documents.pages_of(node)),
    }  # fmt: skip


def find_node(corpus: Any, tree: Any, text: str) -> int:
    """Return the node that a number or a page's address names; end with a clear message if there is none."""
    if not text:
        return 0
    if text.isdigit() and text.isascii():
        if len(text) < 10 and int(text) < len(tree):
            return int(text)
        fail(f"there is no cluster {text[:20]}; the last is {len(tree) - 1}", USAGE)
    from pagekin.hypertext import unknown_url_message

    number = corpus.url_number(text)
    if number < 0:
        fail(unknown_url_message(corpus, text))
    homes = [home for page in corpus.pages_of(number)[:1] for home in tree.homes(page)]
    if not homes and tree.name == "documents":
        fail(f"{text} is a document of its own")
    if not homes:
        fail(f"{text} is in no cluster of '{tree.name}'")
    return int(homes[0])


def node_as_dict(view: PageView, tree: Any, node: int, levels: int) -> dict[str, Any]:
    """Return a cluster for programs, with its sub-clusters so many levels down."""
    about = tree.descriptions[node]
    return {
        "cluster": node, "name": about.name, "pages": len(tree.pages_of(node)), "terms": list(about.terms),
        "central": [view.as_dict(page) for page in view.fold(about.central)],
        "path": [{"cluster": one, "name": tree.descriptions[one].name} for one in tree.path(node)[:-1]],
        "children": [node_as_dict(view, tree, child, levels - 1) for child in tree.children[node]] if levels else [],
    }  # fmt: skip


def _page(corpus: Any, page: int) -> dict[str, str]:
    return {"url": corpus.page_url(page), "title": corpus.titles.text(page)}


def print_node(view: PageView, tree: Any, node: int, titles: Any) -> None:
    """Print one cluster for people."""
    about = tree.descriptions[node]
    if node:
        say(" > ".join(f"{one}" + (f" {tree.descriptions[one].name}" if one else "") for one in tree.path(node)))
    say(f"{len(tree.pages_of(node)):,} pages" + (f"; {', '.join(about.terms)}" if about.terms else ""))
    central = view.fold(about.central)
    for page in central:
        say(f"  {view.title(page, titles)}\n    {view.corpus.page_url(page)}")
    if not tree.children[node]:
        others = [page for page in view.fold(tree.pages_of(node).tolist()) if page not in central]
        for page in others[:_PAGES]:
            say(f"  {view.title(page, titles)}\n    {view.corpus.page_url(page)}")
        if len(others) > _PAGES:
            say(f"  and {len(others) - _PAGES:,} more")
    say()


def print_level(tree: Any, node: int, levels: int, titles: Any, view: PageView, indent: int = 0) -> None:
    """Print the sub-clusters of a cluster, so many levels down."""
    for child in tree.children[node]:
        print_nodes(tree, [child], titles, indent, view)
        if levels > 1:
            print_level(tree, child, levels - 1, titles, view, indent + 1)


def print_nodes(tree: Any, nodes: list[int], titles: Any, indent: int = 0, view: PageView | None = None) -> None:
    """Print clusters, a line and the most central pages each."""
    view = view or PageView(None, None)
    for node in nodes:
        about = tree.descriptions[node]
        say(f"{'  ' * indent}{node:>4}  {len(tree.pages_of(node)):>6,} pages  {about.name}")
        if about.central:
            central = "; ".join(view.title(page, titles) for page in view.fold(about.central)[:3])
            say(f"{'  ' * indent}{'':>4}  {'':>6}        {central}")
