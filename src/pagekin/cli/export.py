"""`pagekin export`: related pages of every page as static files."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from pagekin.cli.app import USAGE, app, fail, human_bytes, open_index, print_json, progress_bar, refuse_nan, say


@app.command()
def export(
    collection: Annotated[str, typer.Argument(metavar="SITE.kin", help="An indexed collection.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="A new folder, or an earlier export.")],
    related_json: Annotated[
        bool, typer.Option("--related-json", help="A JSON file for each page, and a script that shows it on your site.")
    ] = False,
    html: Annotated[bool, typer.Option("--html", help="A small HTML page for each page, with an index.")] = False,
    k: Annotated[int, typer.Option("-k", min=1, max=1_000, help="Related pages per page.")] = 10,
    min_similarity: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, callback=refuse_nan, help="Only pages more similar than this (default: as indexed)."
        ),
    ] = None,
    other_sites: Annotated[
        bool, typer.Option("--other-sites", help="Only pages of other sites (registrable domains).")
    ] = False,
    captured: Annotated[
        bool, typer.Option("--captured", help="Only pages that were read, not merely linked to.")
    ] = False,
    workers: Annotated[
        int, typer.Option(min=0, help="Threads, no more than there are cores; 0 means one per core.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no summary.")] = False,
) -> None:
    """Write related pages as static files. For every page, for a site without a server of its own."""
    if not (related_json or html):
        fail("say what to write: --related-json for a script on your site, --html for pages to read, or both", USAGE)
    index = open_index(collection)
    from pagekin.hypertext import default_workers
    from pagekin.similarity import RelatedError, check_index
    from pagekin.web import ExportError, ExportPlan, export_site

    # Compiled code does not look where it reads, so a damaged index would end it without a word.
    if damage := next(check_index(index.corpus.kin), None):
        fail(f"{collection} is damaged: {damage.where} {damage.what}. Index it again: pagekin index {collection}")
    cores = default_workers()
    plan = ExportPlan(out, related_json, html, k, min_similarity, other_sites, captured, min(workers or cores, cores))
    try:
        with progress_bar(quiet) as tell:
            done = export_site(index, plan, lambda share: tell("exporting", share))
    except (ExportError, RelatedError) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{out} cannot be written: {error.strerror}. Nothing was changed.")
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
