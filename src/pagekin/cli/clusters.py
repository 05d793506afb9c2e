"""`pagekin clusters`: browse a collection's clusters."""

from typing import Annotated, Any

import typer

from pagekin.cli.app import USAGE, app, fail, open_corpus, print_json, say, title_line

_PAGES = 10


@app.command()
def clusters(
    collection: Annotated[str, typer.Argument(metavar="SITE.kin")],
    cluster: Annotated[str, typer.Argument(metavar="[CLUSTER]", help="A cluster's number, or a page's address.")] = "",
    hierarchy: Annotated[
        str, typer.Option(metavar="NAME", help="Which tree: clusters, addresses, or directory.")
    ] = "clusters",
    tree: Annotated[bool, typer.Option("--tree", help="Show all that is below, not only the next level.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Browse clusters and other trees."""
    corpus = open_corpus(collection)
    from pagekin.clusters.hierarchy import read_trees

    trees = {one.name: one for one in read_trees(corpus.kin)}
    if not trees:
        fail(f"{collection} has no clusters yet. Make them with: pagekin cluster {collection}")
    if hierarchy not in trees:
        fail(f"there is no tree '{hierarchy}'; there are {', '.join(trees)}", USAGE)
    chosen = trees[hierarchy]
    node = find_node(corpus, chosen, cluster)
    if as_json:
        print_json(node_as_dict(corpus, chosen, node, 99 if tree else 1))
        return
    from pagekin.hypertext.titles import ShortTitles

    titles = ShortTitles(corpus)
    if node or not tree:
        print_node(corpus, chosen, node, titles)
    print_level(chosen, node, 99 if tree else 1, titles)


def find_node(corpus: Any, tree: Any, text: str) -> int:
    """The node that a number or a page's address names; an end with a clear message if there is none."""
    if not text:
        return 0
    if text.isdigit() and text.isascii():
        if len(text) < 10 and int(text) < len(tree):
            return int(text)
        fail(f"there is no cluster {text[:20]}; the last is {len(tree) - 1}", USAGE)
    from pagekin.hypertext.nearest import is_not_in

    number = corpus.url_number(text)
    if number < 0:
        fail(is_not_in(corpus, text))
    homes = [home for page in corpus.pages_of(number)[:1] for home in tree.homes(page)]
    if not homes:
        fail(f"{text} is in no cluster of '{tree.name}'")
    return int(homes[0])


def node_as_dict(corpus: Any, tree: Any, node: int, levels: int) -> dict[str, Any]:
    """A cluster for programs, with its sub-clusters so many levels down."""
    about = tree.described[node]
    return {
        "cluster": node, "name": about.name, "pages": len(tree.pages_of(node)), "terms": list(about.terms),
        "central": [_page(corpus, page) for page in about.central],
        "path": [{"cluster": one, "name": tree.described[one].name} for one in tree.path(node)[:-1]],
        "children": [node_as_dict(corpus, tree, child, levels - 1) for child in tree.children[node]] if levels else [],
    }  # fmt: skip


def _page(corpus: Any, page: int) -> dict[str, str]:
    return {"url": corpus.page_url(page), "title": corpus.titles.text(page)}


def print_node(corpus: Any, tree: Any, node: int, titles: Any) -> None:
    """One cluster for people."""
    about = tree.described[node]
    if node:
        say(" > ".join(f"{one}" + (f" {tree.described[one].name}" if one else "") for one in tree.path(node)))
    say(f"{len(tree.pages_of(node)):,} pages" + (f"; {', '.join(about.terms)}" if about.terms else ""))
    for page in about.central:
        say(f"  {title_line(titles.text(page))}\n    {corpus.page_url(page)}")
    if not tree.children[node]:
        pages = [page for page in tree.pages_of(node).tolist() if page not in about.central]
        for page in pages[:_PAGES]:
            say(f"  {title_line(titles.text(page))}\n    {corpus.page_url(page)}")
        if len(pages) > _PAGES:
            say(f"  and {len(pages) - _PAGES:,} more")
    say()


def print_level(tree: Any, node: int, levels: int, titles: Any, indent: int = 0) -> None:
    """The sub-clusters of a cluster, so many levels down."""
    for child in tree.children[node]:
        print_nodes(tree, [child], titles, indent)
        if levels > 1:
            print_level(tree, child, levels - 1, titles, indent + 1)


def print_nodes(tree: Any, nodes: list[int], titles: Any, indent: int = 0) -> None:
    """Clusters, a line and the most central pages each."""
    for node in nodes:
        about = tree.described[node]
        say(f"{'  ' * indent}{node:>4}  {len(tree.pages_of(node)):>6,} pages  {about.name}")
        if about.central:
            central = "; ".join(title_line(titles.text(page)) for page in about.central[:3])
            say(f"{'  ' * indent}{'':>4}  {'':>6}        {central}")
