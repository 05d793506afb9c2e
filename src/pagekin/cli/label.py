"""`pagekin label`: the content label of a collection."""

import sys
from typing import Annotated, Any

import typer

from pagekin.cli.app import USAGE, app, fail, human_bytes, open_corpus, say, title_line

FORMATS = ("summary", "json", "sexpr")


@app.command()
def label(
    collection: Annotated[str, typer.Argument(metavar="SITE.kin")],
    form: Annotated[
        str,
        typer.Option("--format", metavar="FORM", help="summary, for people; json; sexpr, as the 1996 paper has it."),
    ] = "summary",
    max_terms: Annotated[
        int, typer.Option(min=0, max=100_000, help="Terms of each sub-cluster, at most; the heaviest stay.")
    ] = 500,
    max_clusters: Annotated[int, typer.Option(min=1, max=1000, help="Sub-clusters, at most; others are merged.")] = 30,
    max_bytes: Annotated[
        int, typer.Option(min=1, max=32_000_000, help="Size of the label as JSON, at most.")
    ] = 4_000_000,
) -> None:
    """Summarise a collection as its content label."""
    if form not in FORMATS:
        fail(f"--format is one of {', '.join(FORMATS)}; not '{form}'", USAGE)
    corpus = open_corpus(collection)
    from pagekin.clusters import read_trees
    from pagekin.labels import LabelError, to_json
    from pagekin.labels.build import leaf_label
    from pagekin.labels.sexpr import to_sexpr

    trees = {one.name: one for one in read_trees(corpus.kin)}
    if "clusters" not in trees:
        fail(f"{collection} has no clusters yet. Make them with: pagekin cluster {collection}")
    try:
        made = leaf_label(corpus, trees["clusters"], max_terms, max_clusters, max_bytes)
    except LabelError as error:
        fail(str(error))
    if form == "summary":
        print_summary(corpus, made, len(to_json(made)))
        return
    # A label's form is exact, whatever the terminal: programs read it.
    data = to_json(made) + b"\n" if form == "json" else to_sexpr(made).encode()
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def print_summary(corpus: Any, made: Any, size: int) -> None:
    """A label for people."""
    say(f"{made.name}: {made.num_docs:,} pages, {human_bytes(made.size)}, {made.num_terms:,} terms")
    say(f"  {', '.join(made.heaviest)}")
    for cluster in made.clusters:
        about = f"{cluster.num_docs:,} pages, {human_bytes(cluster.size)}, {cluster.num_terms:,} terms"
        say(f"\n{cluster.number:>4}  {cluster.name or '(no name)'}: {about}")
        if cluster.heaviest:
            say(f"      {', '.join(cluster.heaviest)}")
        for url in cluster.urls[:3]:
            pages = corpus.pages_of(corpus.url_number(url))
            say(f"      {title_line(corpus.titles.text(pages[0])) if pages else ''}\n        {url}")
    lost = made.lost
    say(
        f"\nThe label has {human_bytes(size)} as JSON. Left out: {lost.terms:,} terms of sub-clusters, which the filters still"
    )
    say(f"know; {lost.clusters:,} sub-clusters, merged into others; {lost.filters:,} filters.")
