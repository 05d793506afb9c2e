"""`pagekin cluster`: put a collection's pages into clusters."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin.cli.app import USAGE, app, fail, open_corpus, print_json, progress_bar, say
from pagekin.cli.evaluate import Classes, Depth, Loose, Mode, open_directory


@app.command()
def cluster(
    collection: Annotated[Path, typer.Argument(metavar="SITE.kin")],
    max_clusters: Annotated[int, typer.Option(min=1, max=10_000, help="How many clusters at most.")] = 30,
    preset: Annotated[
        str, typer.Option(metavar="default|hypursuit1996", help="The method: ours, or the paper's complete link.")
    ] = "",
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
    seed: Annotated[int, typer.Option(min=0, help="Seed of the default method.")] = 1,
    workers: Annotated[int, typer.Option(min=0, help="Threads; 0 means one per core.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Put pages into clusters.

    The clusters are kept in the collection, in place of those it has. `--similarity` and `--combine` mean the paper's
    method.
    """
    from pagekin.clusters.make import ClusterError, ClusterPlan, compare_methods
    from pagekin.engines import cluster_collection
    from pagekin.hypertext.read import default_workers
    from pagekin.store import KinError

    if evaluate and not directory:
        fail("--evaluate needs --directory: what the clusters are compared with", USAGE)
    method = preset or ("hypursuit1996" if similarity or combine else "default")
    if method == "default" and (similarity or combine):
        fail("--similarity and --combine belong to --preset hypursuit1996", USAGE)
    corpus = open_corpus(str(collection))
    tree = open_directory(corpus, directory, depth, mode, classes, loose) if directory else None
    try:
        plan = ClusterPlan(
            method, max_clusters, similarity or "hybrid", combine or "max", seed, workers or default_workers()
        )
    except ClusterError as error:
        fail(str(error), USAGE)
    try:
        if evaluate and tree is not None:
            with progress_bar(as_json) as tell:
                rows = compare_methods(corpus, tree, plan, tell)
            print_json(rows) if as_json else print_compared(rows)
            return
        with progress_bar(as_json) as tell:
            trees = cluster_collection(collection, plan, tree, tell)
    except (ClusterError, KinError) as error:
        fail(str(error))
    if as_json:
        print_json([{"name": one.name, "nodes": len(one), **one.facts} for one in trees])
        return
    from pagekin.cli.clusters import Shown, print_nodes
    from pagekin.hypertext.titles import ShortTitles

    shown = sorted(trees[0].facts["shown"], key=lambda node: (-len(trees[0].pages_of(node)), node))
    documents = next((tree for tree in trees if tree.name == "documents"), None)
    print_nodes(trees[0], shown, ShortTitles(corpus), shown=Shown(corpus, documents))
    say(f"\nBrowse them:  pagekin clusters {collection} [CLUSTER] --tree")


def print_compared(rows: list[dict[str, Any]]) -> None:
    """The agreement as a table."""
    names = [name for name in rows[0] if name not in ("method", "level")]
    width = max(len(row["method"]) for row in rows)
    say(f"{'method':<{width}}  level  " + "  ".join(f"{name.replace('_', ' '):>12}" for name in names))
    for row in rows:
        cells = (f"{row[name]:>12.3f}" if isinstance(row[name], float) else f"{row[name]:>12,}" for name in names)
        say(f"{row['method']:<{width}}  {row['level']:>5}  " + "  ".join(cells))
