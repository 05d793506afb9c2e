"""`pagekin export`: related pages of every page as static files."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from pagekin import web
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, fail, human_bytes, print_json, progress_bar, say, use_file
from pagekin.cli.neighbours import open_undamaged, threads_of


@app.command()
def export(
    collection: options.IndexedCollection,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="A new folder, or an earlier export.")],
    related_json: Annotated[
        bool, typer.Option("--related-json", help="A JSON file for each page, and a script that shows it on your site.")
    ] = False,
    html: Annotated[bool, typer.Option("--html", help="A small HTML page for each page, with an index.")] = False,
    k: options.RelatedCount = 10,
    min_similarity: options.MinSimilarity = None,
    other_sites: options.OtherSites = False,
    captured: options.Captured = False,
    workers: options.CoreThreads = 0,
    as_json: options.SummaryAsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Write related pages as static files. For every page, for a site without a server of its own."""
    if not (related_json or html):
        fail("say what to write: --related-json for a script on your site, --html for pages to read, or both", USAGE)
    index = open_undamaged(collection)
    plan = web.ExportPlan(out, related_json, html, k, min_similarity, other_sites, captured, threads_of(workers))
    with use_file(out, then=" Nothing was changed."), progress_bar(quiet) as tell:
        done = web.export_site(index, plan, lambda share: tell("exporting", share))
    if as_json:
        print_json(
            {"out": str(out), "pages": done.pages, "related": done.related, "files": done.files, "bytes": done.bytes}
        )
    elif not quiet:
        say(
            f"{out}: {done.related:,} related pages of {done.pages:,} pages, {done.files:,} files, {human_bytes(done.bytes)}"
        )
        if html:
            say(f"Read it:      {out / 'index.html'}")
        if related_json:
            say(
                f"See it live:  python -m http.server -d {quote(str(out))}   and then http://localhost:8000/example.html"
            )
