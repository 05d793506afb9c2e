"""`pagekin cluster`: put a collection's pages into clusters."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin.cli.app import USAGE, app, fail, open_corpus, print_json, progress_bar, say
from pagekin.cli.evaluate import Classes, Depth, Loose, Mode, open_directory

ClustersPreset = Annotated[
    str,
    typer.Option(
        "--clusters-preset",
        metavar="default|hypursuit1996",
        help="How clusters are made: our way, or the paper's complete link.",
    ),
]
ClusterSetting = Annotated[
    list[str] | None,
    typer.Option(
        "--cluster-set",
        metavar="NAME=VALUE",
        help="Change a setting of the clusters, e.g. links.paths=0; repeatable.",
    ),
]


@app.command()
def cluster(
    collection: Annotated[Path, typer.Argument(metavar="SITE.kin")],
    max_clusters: Annotated[
        int | None, typer.Option(min=1, max=10_000, help="How many clusters at most. [default: 30]")
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            "--preset",
            "--clusters-preset",
            metavar="default|hypursuit1996",
            help="The method: ours, or the paper's complete link.",
        ),
    ] = "",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            "--cluster-set",
            metavar="NAME=VALUE",
            help="Change a setting, e.g. links.paths=0; repeatable.",
        ),
    ] = None,
    similarity: Annotated[
        str, typer.Option(metavar="hybrid|terms|links", help="With hypursuit1996: what makes pages similar.")
    ] = "",
    combine: Annotated[
        str, typer.Option(metavar="max|mean|product|min", help="With hypursuit1996: F, which joins terms and links.")
    ] = "",
    evaluate: Annotated[
        bool, typer.Option("--evaluate", help="Say how well methods agree with --directory; change nothing.")
    ] = False,
    directory: Annotated[
        str, typer.Option(metavar="FILE|url-path|breadcrumbs", help="A tree to keep beside, or to compare with.")
    ] = "",
    depth: Depth = 3,
    mode: Mode = "lenient",
    classes: Classes = "primary",
    loose: Loose = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the default method. [default: 1]")] = None,
    workers: Annotated[int, typer.Option(min=0, help="Threads; 0 means one per core.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Put pages into clusters.

    The clusters are kept in the collection, in place of those it has. `--similarity`, `--combine` and the settings
    `links.*` mean the paper's method.
    """
    from pagekin.clusters import ClusterError, compare_methods
    from pagekin.engines import cluster_collection
    from pagekin.hypertext import default_workers
    from pagekin.store import KinError

    if evaluate and not directory:
        fail("--evaluate needs --directory: what the clusters are compared with", USAGE)
    chosen = clusters_of_options(
        preset, settings, max_clusters=max_clusters, similarity=similarity or None, combine=combine or None, seed=seed
    )
    corpus = open_corpus(str(collection))
    tree = open_directory(corpus, directory, depth, mode, classes, loose) if directory else None
    threads = workers or default_workers()
    try:
        if evaluate and tree is not None:
            with progress_bar(as_json) as tell:
                rows = compare_methods(corpus, tree, chosen, tell, threads)
            print_json(rows) if as_json else print_comparison(rows)
            return
        with progress_bar(as_json) as tell:
            trees = cluster_collection(collection, chosen, tree, tell, threads)
    except (ClusterError, KinError) as error:
        fail(str(error))
    if as_json:
        print_json([{"name": one.name, "nodes": len(one), **one.facts} for one in trees])
        return
    from pagekin.cli.clusters import PageView, print_nodes
    from pagekin.hypertext import ShortTitles

    shown = sorted(trees[0].facts["shown"], key=lambda node: (-len(trees[0].pages_of(node)), node))
    documents = next((tree for tree in trees if tree.name == "documents"), None)
    print_nodes(trees[0], shown, ShortTitles(corpus), view=PageView(corpus, documents))
    say(f"\nBrowse them:  pagekin clusters {collection} [CLUSTER] --tree")


def clusters_of_options(preset: str, settings: list[str] | None, **chosen: Any) -> Any:
    """Return the cluster settings of a command line, or end with what is wrong with them."""
    from pagekin.clusters import ClusterError, choose_clusters

    try:
        return choose_clusters(preset, settings or [], **chosen)
    except ClusterError as error:
        fail(str(error), USAGE)


def print_comparison(rows: list[dict[str, Any]]) -> None:
    """Print the agreement as a table."""
    names = [name for name in rows[0] if name not in ("method", "level")]
    width = max(len(row["method"]) for row in rows)
    say(f"{'method':<{width}}  level  " + "  ".join(f"{name.replace('_', ' '):>12}" for name in names))
    for row in rows:
        cells = (f"{row[name]:>12.3f}" if isinstance(row[name], float) else f"{row[name]:>12,}" for name in names)
        say(f"{row['method']:<{width}}  {row['level']:>5}  " + "  ".join(cells))
