"""`pagekin duplicates`: mirrors and near-duplicates."""

from typing import Annotated

import typer

from pagekin import similarity
from pagekin.cli import options
from pagekin.cli.app import app, fill_template, print_json, progress_bar, say


@app.command()
def duplicates(
    collection: options.IndexedCollection,
    common: Annotated[
        float,
        typer.Option(
            min=0.5,
            max=1,
            callback=options.refuse_nan,
            help="Near-duplicates have this share of their words in common.",
        ),
    ] = 0.9,
    limit: Annotated[int, typer.Option("-k", "--limit", min=1, help="Maximum number of groups.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, all groups.")] = False,
) -> None:
    """Show pages with the same text: mirrors and other copies."""
    index = similarity.RelatedIndex.open(collection)
    with progress_bar(as_json) as tell:
        groups = similarity.near_duplicates(index, common, lambda share: tell("comparing", share))
    pages = sum(len(group.documents) for group in groups)
    if as_json:
        print_json({
            "common": common, "pages": pages,
            "groups": [
                [{"url": index.urls[document], "common": round(share, 4)}
                 for document, share in zip(group.documents, group.common, strict=True)]
                for group in groups
            ],
        })  # fmt: skip
        return
    say(fill_template("duplicates", index=index, groups=groups, pages=pages, common=common, limit=limit))
