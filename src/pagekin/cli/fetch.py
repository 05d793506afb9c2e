"""`pagekin fetch`: a collection from a shared disk or an object store."""

from pathlib import Path
from typing import Annotated

import typer

from pagekin import store
from pagekin.cli import options
from pagekin.cli.app import app, progress_bar, say


@app.command()
def fetch(
    address: Annotated[
        str, typer.Argument(metavar="s3://…|FOLDER", help="A collection in an object store or elsewhere.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="SITE.kin", help="Where to copy it to.")],
    shard: Annotated[int | None, typer.Option(min=0, metavar="N", help="Copy only this shard; the first is 0.")] = None,
    quiet: options.Quiet = False,
) -> None:
    """Copy a collection, or one of its shards, to this machine.

    Every file is checked. An existing copy is replaced in one commit, or stays as it was.
    """
    with progress_bar(quiet) as tell:
        store.fetch(address, out, shard, tell)
    if not quiet:
        say(f"{out}: {store.open_kin(out).facts['pages']:,} pages. Ask it: pagekin related {out} URL")
