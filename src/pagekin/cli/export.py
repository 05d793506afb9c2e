"""`pagekin export`: related pages of every page as small HTML pages; pages and links for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from pagekin import web
from pagekin.cli import export_tables, options
from pagekin.cli.app import USAGE, app, fail, human_bytes, print_json, progress_bar, say, use_file
from pagekin.cli.neighbours import open_undamaged, threads_of
from pagekin.wording import plural


@app.command()
def export(
    collection: options.IndexedCollection,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="A new folder, or an earlier export.")
    ] = None,
    html: Annotated[bool, typer.Option("--html", help="A small HTML page for each page, with an index.")] = False,
    pages: export_tables.Pages = None,
    links: export_tables.Links = None,
    gephi: export_tables.Gephi = None,
    cdxj: export_tables.Cdxj = None,
    wacz: export_tables.Wacz = None,
    archives: export_tables.Archives = None,
    k: options.RelatedCount = 10,
    min_similarity: options.MinSimilarity = None,
    other_sites: options.OtherSites = False,
    captured: options.Captured = False,
    workers: options.CoreThreads = 0,
    as_json: options.SummaryAsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Write pages and links for other programs, or pages to read.

    For other programs: Parquet, CSV, JSON lines, GraphML, GEXF, Gephi, CDXJ and WACZ.
    For links on your own site, use `pagekin site`.
    """
    files = export_tables.ExportFiles(pages, links, gephi, cdxj, wacz, tuple(archives or ()))
    if files:
        if out or html:
            fail(
                "--pages, --links, --gephi, --cdxj and --wacz name their own files; write --html pages with a separate command",
                USAGE,
            )
        export_tables.export_tables(collection, files, as_json, quiet)
        return
    if not html:
        fail(
            "say what to write: --html for pages to read, or --pages, --links, --gephi, --cdxj, --wacz for other programs. "
            "For links on your own site: pagekin site FOLDER",
            USAGE,
        )
    if out is None:
        fail("name the folder to write with --out", USAGE)
    index = open_undamaged(collection)
    plan = web.ExportPlan(out, k, min_similarity, other_sites, captured, threads_of(workers))
    with use_file(out, then=" Nothing was changed."), progress_bar(quiet) as tell:
        done = web.export_site(index, plan, lambda share: tell("exporting", share))
    if as_json:
        print_json(
            {"out": str(out), "pages": done.pages, "related": done.related, "files": done.files, "bytes": done.bytes}
        )
    elif not quiet:
        say(
            f"{out}: {plural(done.related, 'related page')} of {plural(done.pages, 'page')}, "
            f"{plural(done.files, 'file')}, {human_bytes(done.bytes)}"
        )
        say(f"Read it:      {out / 'index.html'}")
