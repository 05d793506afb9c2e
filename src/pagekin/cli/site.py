"""`pagekin site`: add related pages and search to a documentation site, in its folder or at an address."""

from pathlib import Path
from typing import Annotated

import typer

from pagekin import site as sites
from pagekin import sources
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, check_option, fail, fill_template, print_json, progress_bar, say
from pagekin.cli.crawl import check_address, check_visitor, refuse_failed
from pagekin.cli.read import note_of

_PAGES, _DELAY = 500, 1.0


@app.command()
def site(
    target: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER|URL",
            help="The folder that the site generator wrote, e.g. public/; or the site's address, if you have no folder.",
        ),
    ],
    base_url: Annotated[
        str, typer.Option(metavar="URL", help="The address of the folder's root, if the pages do not contain it.")
    ] = "",
    content: options.Content = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GLOB",
            help="Neither read nor change pages with these paths, e.g. 'drafts/*', 'genindex*'; repeatable.",
        ),
    ] = None,
    count: Annotated[
        int | None, typer.Option("-k", "--limit", min=0, max=100, help="Related pages per page (default 5).")
    ] = None,
    settings: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml", help=f"Pins, exclusions and more (default ./{sites.SETTINGS_FILE}, if it exists)."
        ),
    ] = None,
    collection: Annotated[
        Path | None,
        typer.Option(
            metavar="SITE.kin", help="Keep the collection here (default: a cache folder; for a URL, beside --out)."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="For a URL: the folder to write (default pagekin-HOST)."),
    ] = None,
    pages: Annotated[
        int | None, typer.Option(min=1, help=f"For a URL: the number of pages to visit (default {_PAGES}).")
    ] = None,
    delay: Annotated[
        float | None,
        typer.Option(
            min=0, callback=options.refuse_nan, help=f"For a URL: seconds between two requests (default {_DELAY:g})."
        ),
    ] = None,
    contact: Annotated[
        str, typer.Option(metavar="MAIL|URL", help="For a URL: how the owners of the site can reach you.")
    ] = "",
    allow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RANGE", help="For a URL: allow addresses that are not public: loopback, private ...; repeatable."
        ),
    ] = None,
    undo: Annotated[
        bool, typer.Option("--undo", help="Remove everything that Pagekin wrote, and restore every page.")
    ] = False,
    workers: options.Workers = 0,
    as_json: options.SummaryAsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Write related pages and search into a site's folder.

    Each page gets plain links to its related pages; the folder gets a search box, topics, llms.txt and the data as JSON.
    It works on any web server, also below a path. Run it after each build of the site.

    With a URL, a robot visits the site politely, and everything is written into a new folder, with a script that shows the
    lists: copy the folder to the site, and add the three lines that the command prints to its pages.
    """
    is_address = target.lower().startswith(("http://", "https://"))
    file = settings or Path(sites.SETTINGS_FILE)
    chosen = sites.read_settings(file) if settings or file.is_file() else sites.SiteSettings()
    chosen = sites.settings_from(
        chosen,
        base_url=base_url or None,
        content=content or None,
        count=count,
        exclude=[*chosen.exclude, *(exclude or ())],
    )
    if is_address:
        if undo or base_url:
            fail(
                "--undo and --base-url need a site's folder; for a URL, everything is in a separate folder that you can delete",
                USAGE,
            )
        address = check_address(target)
        guard = check_visitor(contact, allow)
        folder = out or Path(f"pagekin-{sources.host_of(address).partition(':')[0].strip('[]')}")
        with check_option("--delay"):
            wanted = [f"pages={pages or _PAGES}", f"delay={_DELAY if delay is None else delay}"]
            limits = sources.parse_limits(sources.CrawlLimits, wanted)
        archive = folder.with_name(f"{folder.name}.warc.gz")
        visit = sources.CrawlPlan(address, archive, "prefix", contact=contact, guard=guard, limits=limits)
        _publish_address(
            visit, sites.ArchivePlan(archive, address, folder, chosen, collection, workers), as_json, quiet
        )
        return
    if out or pages or delay is not None or contact or allow:
        fail(
            "--out, --pages, --delay, --contact and --allow need the http(s) address of a site to visit",
            USAGE,
        )
    plan = sites.SitePlan(Path(target), chosen, collection, workers)
    if undo:
        if content or exclude or base_url or count is not None:
            fail("--undo removes everything that was written; leave out the other options", USAGE)
        _undo(plan, as_json, quiet)
    else:
        _publish_folder(plan, as_json, quiet)


def _undo(plan: "sites.SitePlan", as_json: bool, quiet: bool) -> None:
    undone = sites.undo_site(plan)
    if as_json:
        print_json({"folder": str(plan.folder), "changed": undone.pages, "files": undone.files})
    elif not quiet:
        kept = f"; {plan.collection} is kept" if plan.collection and plan.collection.exists() else ""
        if not any(undone):
            say(f"{plan.folder}: nothing to undo, Pagekin has written nothing here{kept}")
            return
        rest = kept or "; nothing that Pagekin wrote is left"
        say(f"{plan.folder}: {undone.pages:,} {'page is' if undone.pages == 1 else 'pages are'} as before{rest}")


def _publish_folder(plan: "sites.SitePlan", as_json: bool, quiet: bool) -> None:
    with progress_bar(quiet or as_json) as tell:
        report = sites.publish_site(plan, tell, note_of(quiet))
    if as_json:
        survey = report.survey
        print_json(
            {
                "folder": str(plan.folder), "collection": str(plan.kin), "generator": survey.generator,
                "base_url": survey.base_url if survey.address_from else "", "address_from": survey.address_from,
                "content": survey.content, "pages": report.pages, "marked": report.marked, "linked": report.linked,
                "links": report.links, "files": report.files, "bytes": report.bytes, "skipped": report.skipped,
                "left_alone": report.left_alone, "changed": report.changed,
            }
        )  # fmt: skip
    elif not quiet:
        say(fill_template("site", report=report, folder=plan.folder, collection=plan.kin))


def _publish_address(visit: "sources.CrawlPlan", plan: "sites.ArchivePlan", as_json: bool, quiet: bool) -> None:
    """Crawl a site, or resume the crawl, and write the files to publish on it."""
    sites.check_out(plan)
    with progress_bar(quiet or as_json) as tell:
        crawled = sources.crawl(visit, tell)
    refuse_failed(visit, crawled)
    with progress_bar(quiet or as_json) as tell:
        report = sites.publish_archive(plan, tell, note_of(quiet))
    if as_json:
        survey = report.survey
        print_json(
            {
                "folder": str(plan.out), "collection": str(plan.kin), "archive": str(plan.archive),
                "base_url": survey.base_url, "generator": survey.generator, "content": survey.content,
                "pages": report.pages, "elsewhere": report.elsewhere, "links": report.links, "files": report.files,
                "bytes": report.bytes, "crawl": crawled.as_json(),
            }
        )  # fmt: skip
    elif not quiet:
        say(fill_template("site_address", report=report, plan=plan, crawled=crawled, limit=visit.limits.pages))
