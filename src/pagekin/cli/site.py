"""`pagekin site`: related pages and search for a documentation site, written into its folder."""

from pathlib import Path
from typing import Annotated

import typer

from pagekin import site as sites
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, fail, fill_template, print_json, progress_bar, say
from pagekin.cli.read import note_of


@app.command()
def site(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The site as its generator wrote it: public/.")],
    base_url: Annotated[
        str, typer.Option(metavar="URL", help="The address of the folder's root, if the pages do not tell it.")
    ] = "",
    content: options.Content = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Leave pages alone, by their paths: 'drafts/*', 'genindex*'; repeatable."),
    ] = None,
    count: Annotated[
        int | None, typer.Option("-k", "--limit", min=0, max=100, help="Related pages per page (default 5).")
    ] = None,
    settings: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml", help=f"Pins, exclusions and more (default ./{sites.SETTINGS_FILE}, if it is there)."
        ),
    ] = None,
    collection: Annotated[
        Path | None, typer.Option(metavar="SITE.kin", help="Keep the collection here (default: a folder for caches).")
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take out all that was written, to the last byte.")] = False,
    workers: options.Workers = 0,
    as_json: options.SummaryAsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Write related pages and search into a site's folder.

    Each page has plain links to its related pages in a marked place; a search box, topics, llms.txt and the data as JSON
    stand beside them. It works on any web server, also below a path. Run it after each build of the site.
    """
    file = settings or Path(sites.SETTINGS_FILE)
    chosen = sites.read_settings(file) if settings or file.is_file() else sites.SiteSettings()
    chosen = sites.settings_from(
        chosen,
        base_url=base_url or None,
        content=content or None,
        count=count,
        exclude=[*chosen.exclude, *(exclude or ())],
    )
    plan = sites.SitePlan(folder, chosen, collection, workers)
    if undo:
        if base_url or content or exclude or count is not None:
            fail("--undo takes all out; other options have no use with it", USAGE)
        changed = sites.undo_site(plan)
        if as_json:
            print_json({"folder": str(folder), "changed": changed})
        elif not quiet:
            kept = f"; {collection} is kept" if collection and collection.exists() else "; nothing of Pagekin is left"
            say(f"{folder}: {changed:,} {'page is' if changed == 1 else 'pages are'} as before{kept}")
        return
    with progress_bar(quiet or as_json) as tell:
        report = sites.publish_site(plan, tell, note_of(quiet))
    if as_json:
        survey = report.survey
        print_json(
            {
                "folder": str(folder), "collection": str(plan.kin), "generator": survey.generator,
                "base_url": survey.base_url if survey.address_from else "", "address_from": survey.address_from,
                "content": survey.content, "pages": report.pages, "marked": report.marked, "links": report.links,
                "files": report.files, "bytes": report.bytes, "skipped": report.skipped, "left_alone": report.left_alone,
            }
        )  # fmt: skip
    elif not quiet:
        say(fill_template("site", report=report, folder=folder, collection=plan.kin))
