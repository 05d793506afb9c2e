"""`pagekin crawl`: visit a site and write a web archive."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin import net, sources
from pagekin.cli import options
from pagekin.cli.app import (
    INTERRUPTED,
    USAGE,
    app,
    check_choice,
    check_option,
    fail,
    fill_template,
    print_json,
    progress_bar,
    say,
)

_OUT_NAME = re.compile(r".\.warc(\.gz)?$", re.IGNORECASE)
_CONTACT = re.compile(r"[\x21-\x27\x2a-\x7e]{3,200}")  # no spaces, no parentheses: it goes into a header's comment


@app.command()
def crawl(
    root: Annotated[str, typer.Argument(metavar="URL", help="The page to start from.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="SITE.warc.gz", help="The web archive to write or to resume.")
    ],
    seeds: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE|URL",
            help="Also begin with these addresses: a list, a sitemap, an index of sitemaps or a robots.txt; repeatable.",
        ),
    ] = None,
    pages: Annotated[int, typer.Option(min=1, help="Number of pages to keep, over all runs.")] = 100,
    depth: Annotated[int, typer.Option(min=0, help="How many links deep to go from the root.")] = 20,
    delay: Annotated[
        float, typer.Option(min=0, callback=options.refuse_nan, help="Seconds between two requests to the same host.")
    ] = 1.0,
    scope: Annotated[
        str,
        typer.Option(
            metavar="host|site|prefix", help="Stay on the root's host, in its registrable domain, or below its folder."
        ),
    ] = "host",
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="REGEX", help="Fetch only addresses that contain a match; repeatable."),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="REGEX", help="Do not fetch addresses that contain a match; repeatable.")
    ] = None,
    contact: Annotated[str, typer.Option(metavar="MAIL|URL", help="How the owners of the site can reach you.")] = "",
    allow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RANGE", help="Allow addresses that are not public: loopback, private, 10.1.0.0/16 ...; repeatable."
        ),
    ] = None,
    resolve: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST:PORT:ADDRESS",
            help="Connect to this address instead of looking up the host's name; repeatable.",
        ),
    ] = None,
    keep_others: Annotated[bool, typer.Option("--keep-others", help="Also keep files that are not HTML.")] = False,
    limit: Annotated[
        list[str] | None,
        typer.Option("--set-limit", metavar="NAME=NUMBER", help="Change a limit, e.g. page_seconds=60; repeatable."),
    ] = None,
    as_json: options.SummaryAsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Visit a site and write its pages to a web archive.

    The robot obeys robots.txt, walks breadth-first and asks each host for one page at a time. Run the same command again
    to resume a crawl that was stopped, even by a kill.
    """
    address = check_address(root)
    if not _OUT_NAME.search(out.name):
        fail(f"--out: '{out}' must end in .warc.gz or .warc", USAGE)
    check_choice("--scope", scope, sources.SCOPES)
    for name, patterns in (("include", include or []), ("exclude", exclude or [])):
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                fail(f"--{name}: '{pattern}' is not a regular expression: {error}", USAGE)
    guard = check_visitor(contact, allow)
    with check_option("--resolve"):
        names = net.parse_names(resolve or [])
    with check_option("--set-limit"):
        limits = sources.parse_limits(
            sources.CrawlLimits, [f"pages={pages}", f"depth={depth}", f"delay={delay}", *(limit or [])]
        )
    plan = sources.CrawlPlan(
        address, out, scope, tuple(include or ()), tuple(exclude or ()), contact, keep_others, guard, names, limits,
    )  # fmt: skip
    plan = replace(plan, seeds=_read_seeds(plan, seeds or []))
    with progress_bar(quiet or as_json) as on_progress:
        report = sources.crawl(plan, on_progress)
    if as_json:
        print_json(report.as_json())
    elif not quiet and report.pages:
        say(fill_template("crawl", report=report, plan=plan))
    refuse_failed(plan, report)


def check_address(written: str) -> str:
    """Return the address that a crawl begins with, or end with what is wrong about it."""
    address = sources.clean_url(written)
    if address is None:
        fail(f"'{written}' is not an http(s) address; write for example https://docs.example/", USAGE)
    if sources.has_credentials(address):
        fail("the address contains a user name or password; the robot visits only public pages: leave it out", USAGE)
    return address


def check_visitor(contact: str, allow: list[str] | None) -> "net.Guard":
    """Return which addresses the robot may visit; end where an option is wrong."""
    if contact and not _CONTACT.fullmatch(contact):
        fail("--contact: write a mail address or a URL, without spaces", USAGE)
    with check_option("--allow"):
        return net.Guard(net.parse_allowed(allow or []))


def refuse_failed(plan: "sources.CrawlPlan", report: "sources.CrawlReport") -> None:
    """End with a message if a crawl was interrupted, or gave no page."""
    if report.stopped == "interrupted":
        say(f"pagekin: stopped; run the same command to resume (the state is in {plan.state_file.name}).", err=True)
        raise typer.Exit(INTERRUPTED)
    if not report.pages:
        hint = "; to crawl it anyway, use --allow loopback, --allow private or a range" if _may_allow(report) else ""
        fail(f"{plan.root} gave no page: {report.root}{hint}.")


def _read_seeds(plan: "sources.CrawlPlan", seeds: list[str]) -> tuple[str, ...]:
    """Return the addresses that files and sitemaps of the web name; say how many lines are none."""
    urls: dict[str, None] = {}
    for seed in seeds:
        is_address = seed.lower().startswith(("http://", "https://"))
        addresses = sources.fetch_seeds(plan, seed) if is_address else sources.read_seeds(Path(seed))
        urls.update(dict.fromkeys(addresses.urls))
        if addresses.refused:
            say(f"pagekin: {seed}: left out {len(addresses.refused):,}, such as {addresses.refused[0][:200]}", err=True)
    return tuple(urls)


def _may_allow(report: Any) -> bool:
    """Return whether the root was refused because of its address, and --allow would help."""
    return " is a" in report.root and "never allowed" not in report.root
