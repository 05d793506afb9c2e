"""`pagekin clusters`: browse a collection's clusters."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin import clusters, hypertext, routers
from pagekin import collection as collection_room
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, fail, fill_template, print_json, say, title_line
from pagekin.wording import plural

_PAGES = 10


@app.command("clusters")
def browse_clusters(
    collection: options.Collection,
    cluster: Annotated[str, typer.Argument(metavar="[CLUSTER]", help="A cluster's number, or a page's address.")] = "",
    hierarchy: Annotated[
        str, typer.Option(metavar="TREE", help="Which tree: clusters, addresses, directory, or documents.")
    ] = "clusters",
    tree: Annotated[bool, typer.Option("--tree", help="Show all levels below, not only the next.")] = False,
    documents: Annotated[
        bool,
        typer.Option("--documents", help="Show documents of several pages: all of them, or one with all its pages."),
    ] = False,
    save_names: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="Write the topics' names to a file, which you can edit and give to --names of a build."
        ),
    ] = "",
    as_json: options.AsJson = False,
) -> None:
    """Browse clusters and other trees."""
    whole = open_shards_or_one(Path(collection))
    trees = whole.trees
    if not trees:
        fail(f"{collection} has no clusters yet. Make them with: pagekin cluster {collection}")
    if save_names:
        if routers.is_in_shards(Path(collection)):
            fail("--save-names writes the names of a collection in one piece, and this one is in shards")
        count = save_topic_names(whole.parts[0].corpus, whole.parts[0].trees["clusters"], Path(save_names))
        print_json({"names": count, "file": save_names}) if as_json else say(f"{count:,} names written to {save_names}")
        return
    view = PageView(whole, trees.get(clusters.DOCUMENTS_TREE))
    if documents or hierarchy == clusters.DOCUMENTS_TREE:
        if hierarchy not in ("clusters", clusters.DOCUMENTS_TREE):
            fail(f"--documents shows the tree '{clusters.DOCUMENTS_TREE}'; leave out --hierarchy {hierarchy}", USAGE)
        if view.documents is None and "documents" not in trees["clusters"].facts:
            fail(
                f"{collection} was not searched for documents of several pages. Find them with: pagekin cluster {collection}"
            )
        show_documents(view, cluster, as_json)
        return
    if hierarchy not in trees:
        fail(f"there is no tree '{hierarchy}'; there are {', '.join(trees)}", USAGE)
    chosen, levels = trees[hierarchy], 99 if tree else 1
    node = find_node(whole, chosen, cluster)
    if as_json:
        print_json(node_as_dict(view, chosen, node, levels))
        return
    if node or not tree:
        say(fill_template("cluster", view=view, tree=chosen, node=node, most=_PAGES))
    view.print_lines(chosen, nodes_below(chosen, node, levels))


def open_shards_or_one(path: Path) -> "collection_room.Whole":
    """Open a collection with all its shards, if it has some."""
    if routers.is_in_shards(path):
        return routers.open_whole(path.stem, path, compiled=False, hide_path=False)
    return collection_room.Collection(path.stem, path, compiled=False, hide_path=False).whole


def save_topic_names(corpus: "hypertext.Corpus", tree: "clusters.Tree", file: Path) -> int:
    """Write the names of topics to a file; return how many there are."""
    text = clusters.write_names(tree, corpus)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        fail(f"{file} cannot be written: {error.strerror}")
    return text.count("[[topic]]\n")


class PageView:
    """Shows pages; the pages of a composite document appear once, as the document."""

    def __init__(self, whole: "collection_room.Whole", documents: "clusters.Tree | None") -> None:
        self.whole, self.documents = whole, documents
        self._covers = clusters.document_of(documents, len(whole.pages))

    def fold(self, pages: Iterable[int]) -> list[int]:
        """Return single pages and covers of documents, in the order of their first pages."""
        return clusters.fold_documents(self._covers, pages)

    def _pages(self, page: int) -> int:
        """Return the number of pages of the document that a page covers; 1 if it is alone."""
        return max(int((self._covers == page).sum()), 1)

    def title(self, page: int) -> str:
        """Return a title for people, with the number of pages if it is a document's."""
        pages = self._pages(page)
        return title_line(self.whole.title(page)) + (f" ({pages:,} pages)" if pages > 1 else "")

    def central_titles(self, about: "clusters.ClusterDescription", most: int = 3) -> list[str]:
        """Return the titles of a cluster's most central pages, each once: pages of one title say no more than one of them."""
        return list(dict.fromkeys(self.title(page) for page in self.fold(about.central)))[:most]

    def as_dict(self, page: int) -> dict[str, Any]:
        """Return a page or a document for programs."""
        return {**_page(self.whole, page), "pages": self._pages(page)}

    def print_lines(self, tree: "clusters.Tree", nodes: Iterable[tuple[int, int]]) -> None:
        """Print each (cluster, indent) on a line, and its most central pages on the next."""
        if lines := fill_template("clusters", view=self, tree=tree, nodes=list(nodes)):
            say(lines)


def show_documents(view: PageView, asked: str, as_json: bool) -> None:
    """Print all documents of several pages, the largest first; or all pages of one."""
    whole, documents = view.whole, view.documents
    if documents is None:
        if asked:
            fail("there are no documents of several pages in this collection")
        print_json([]) if as_json else say("No documents of several pages.")
        return
    if asked and (node := find_node(whole, documents, asked)):
        cover, pages = documents.descriptions[node].central[0], documents.pages_of(node).tolist()
        if as_json:
            print_json(_document(whole, documents, node) | {"parts": [_page(whole, page) for page in pages]})
            return
        say(f"{node}  {documents.descriptions[node].name}, {plural(len(pages), 'page')}\n")
        for page in [cover, *(page for page in pages if page != cover)]:
            say(f"  {title_line(whole.title(page))}\n    {whole.page_url(page)}")
        return
    nodes = sorted(documents.children[0], key=lambda node: (-len(documents.pages_of(node)), node))
    if as_json:
        print_json([_document(whole, documents, node) for node in nodes])
        return
    for node in nodes:
        about = documents.descriptions[node]
        say(f"{node:>4}  {len(documents.pages_of(node)):>6,} pages  {title_line(about.name)}")
        say(f"{'':>4}  {'':>6}        {whole.page_url(about.central[0])}")


def _document(whole: "collection_room.Whole", documents: "clusters.Tree", node: int) -> dict[str, Any]:
    about = documents.descriptions[node]
    return {
        "document": node, "title": about.name, "url": whole.page_url(about.central[0]),
        "pages": len(documents.pages_of(node)),
    }  # fmt: skip


def find_node(whole: "collection_room.Whole", tree: "clusters.Tree", text: str) -> int:
    """Return the node that a number or a page's address names; end with a clear message if there is none."""
    if not text:
        return 0
    if text.isdigit() and text.isascii():
        if len(text) < 10 and int(text) < len(tree):
            return int(text)
        fail(f"there is no cluster {text[:20]}; the last is {len(tree) - 1}", USAGE)
    corpora = [part.corpus for part in whole.parts]
    if all(corpus.url_number(text) < 0 for corpus in corpora):
        guess = hypertext.guess_url(corpora, text)
        if not guess:
            fail(hypertext.unknown_url_message(corpora, text))
        text = guess
    asked = collection_room.Item(kind="document", url=text)
    homes = [home for page in whole.pages_of([asked])[:1] for home in tree.homes(page)]
    if not homes and tree.name == clusters.DOCUMENTS_TREE:
        fail(f"{text} is a document of one page")
    if not homes:
        fail(f"{text} is in no cluster of '{tree.name}'")
    return int(homes[0])


def node_as_dict(view: PageView, tree: "clusters.Tree", node: int, levels: int) -> dict[str, Any]:
    """Return a cluster for programs, with its sub-clusters down to a number of levels."""
    about = tree.descriptions[node]
    return {
        "cluster": node, "name": about.name, "pages": len(tree.pages_of(node)), "terms": list(about.terms),
        "central": [view.as_dict(page) for page in view.fold(about.central)],
        "path": [{"cluster": one, "name": tree.descriptions[one].name} for one in tree.path(node)[:-1]],
        "children": [node_as_dict(view, tree, child, levels - 1) for child in tree.children[node]] if levels else [],
    }  # fmt: skip


def _page(whole: "collection_room.Whole", page: int) -> dict[str, str]:
    part, own = whole.pages.place(page)
    return {"url": whole.page_url(page), "title": whole.parts[part].corpus.titles.text(own)}


def nodes_below(tree: "clusters.Tree", node: int, levels: int, indent: int = 0) -> Iterator[tuple[int, int]]:
    """Yield (cluster, depth) of the sub-clusters of a cluster, down to a number of levels."""
    for child in tree.children[node]:
        yield child, indent
        if levels > 1:
            yield from nodes_below(tree, child, levels - 1, indent + 1)
