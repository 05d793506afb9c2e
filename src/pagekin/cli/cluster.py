"""`pagekin cluster`: put a collection's pages into clusters."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin import clusters, engines, hypertext, store
from pagekin import collection as collection_room
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, check_option, fail, fill_template, print_json, progress_bar, say
from pagekin.cli.clusters import PageView
from pagekin.cli.evaluate import open_directory


@app.command()
def cluster(
    collection: Annotated[Path, typer.Argument(metavar="SITE.kin")],
    max_clusters: Annotated[
        int | None, typer.Option(min=1, max=10_000, help="Maximum number of clusters. [default: 30]")
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            "--preset",
            "--clusters-preset",
            metavar="default|hypursuit1996",
            help="The method: Pagekin's default, or the complete link of the 1996 paper.",
        ),
    ] = "",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", "--cluster-set", metavar="NAME=VALUE", help="Change a setting, e.g. links.paths=0; repeatable."
        ),
    ] = None,
    similarity: Annotated[
        str, typer.Option(metavar="hybrid|terms|links", help="With hypursuit1996: what makes pages similar.")
    ] = "",
    combine: Annotated[
        str,
        typer.Option(
            metavar="max|mean|product|min",
            help="With hypursuit1996: F, which combines the two similarities.",
        ),
    ] = "",
    evaluate: Annotated[
        bool, typer.Option("--evaluate", help="Measure how well the methods agree with --directory; store nothing.")
    ] = False,
    directory: Annotated[
        str, typer.Option(metavar="FILE|url-path|breadcrumbs", help="A tree to store as well, or to compare with.")
    ] = "",
    depth: options.Depth = 3,
    mode: options.Mode = "lenient",
    classes: options.Classes = "primary",
    loose: options.Loose = False,
    names: options.KeptNames = "",
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the default method. [default: 1]")] = None,
    workers: options.Threads = 0,
    memory: options.Memory = None,
    as_json: options.AsJson = False,
) -> None:
    """Put pages into clusters.

    The clusters are stored in the collection and replace earlier ones. `--similarity`, `--combine` and the settings
    `links.*` mean the paper's method.
    """
    if evaluate and not directory:
        fail("--evaluate compares clusters with a directory; give --directory", USAGE)
    chosen = clusters_of_options(
        preset, settings, max_clusters=max_clusters, similarity=similarity or None, combine=combine or None, seed=seed
    )
    kept = names_of_option(names)
    corpus = hypertext.Corpus.open(collection)
    tree = open_directory(corpus, directory, depth, mode, classes, loose) if directory else None
    threads = workers or hypertext.default_workers()
    if evaluate and tree is not None:
        with progress_bar(as_json) as tell:
            rows = clusters.compare_methods(corpus, tree, chosen, tell, threads)
        print_json(rows) if as_json else say(fill_template("comparison", rows=rows))
        return
    with progress_bar(as_json) as tell:
        trees = engines.cluster_collection(collection, chosen, tree, tell, threads, kept, memory or store.NO_LIMIT)
    if as_json:
        print_json([{"name": one.name, "nodes": len(one), **one.facts} for one in trees])
        return
    first = trees[0]
    whole = collection_room.Collection(Path(collection).stem, Path(collection), compiled=False, hide_path=False).whole
    view = PageView(whole, next((tree for tree in trees if tree.name == clusters.DOCUMENTS_TREE), None))
    shown = sorted(first.facts["shown"], key=lambda node: (-len(first.pages_of(node)), node))
    view.print_lines(first, ((node, 0) for node in shown))
    say(f"\nBrowse them:  pagekin clusters {collection} [CLUSTER] --tree")


def clusters_of_options(preset: str, settings: list[str] | None, **chosen: Any) -> "clusters.ClusterSettings":
    """Return the cluster settings of a command line, or end with a message if they are invalid."""
    with check_option():
        return clusters.choose_clusters(preset, settings or [], **chosen)


def names_of_option(file: str) -> "clusters.KeptNames":
    """Return the names in a file; none without a file. End with a message if it is invalid."""
    with check_option():
        return clusters.KeptNames.load(Path(file)) if file else clusters.NO_NAMES
