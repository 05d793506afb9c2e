"""`pagekin crawl`: a site to a web archive."""

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin.cli.app import USAGE, a_number, app, fail, human_bytes, print_json, progress_bar, say

_INTERRUPTED = 130
_OUT_NAME = re.compile(r".\.warc(\.gz)?$", re.IGNORECASE)
_CONTACT = re.compile(r"[\x21-\x27\x2a-\x7e]{3,200}")  # no spaces, no parentheses: it goes into a header's comment


@app.command()
def crawl(
    root: Annotated[str, typer.Argument(metavar="URL", help="The page to begin with.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="SITE.warc.gz", help="The web archive to write, or to go on with.")
    ],
    pages: Annotated[int, typer.Option(min=1, help="Pages to keep, in all.")] = 100,
    depth: Annotated[int, typer.Option(min=0, help="Links to follow from the root.")] = 20,
    delay: Annotated[
        float, typer.Option(min=0, callback=a_number, help="Seconds between two requests to a host.")
    ] = 1.0,
    scope: Annotated[
        str,
        typer.Option(metavar="host|site|prefix", help="The root's host, its registrable domain, or below its folder."),
    ] = "host",
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="REGEX", help="Ask only for addresses in which this is found; repeatable."),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="REGEX", help="Do not ask for addresses in which this is found.")
    ] = None,
    contact: Annotated[
        str, typer.Option(metavar="MAIL|URL", help="Who runs the robot, for the owners of the site.")
    ] = "",
    allow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RANGE", help="Addresses that are not public: loopback, private, 10.1.0.0/16 ...; repeatable."
        ),
    ] = None,
    resolve: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST:PORT:ADDRESS", help="The address of a host, instead of what its name says; repeatable."
        ),
    ] = None,
    keep_others: Annotated[bool, typer.Option("--keep-others", help="Keep also what is no HTML.")] = False,
    limit: Annotated[
        list[str] | None, typer.Option(metavar="NAME=NUMBER", help="Change another limit, e.g. page_seconds=60.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no summary.")] = False,
) -> None:
    """Visit a site and write its pages to a web archive.

    The robot obeys robots.txt, goes breadth-first and asks a host for one page at a time. A crawl that was stopped, even
    by a kill, goes on when the same command is given again.
    """
    from pagekin.sources.robot import CrawlError
    from pagekin.sources.robot import crawl as run

    plan = make_plan(
        root, out, scope, include or [], exclude or [], contact, allow or [], resolve or [], keep_others,
        [f"pages={pages}", f"depth={depth}", f"delay={delay}", *(limit or [])],
    )  # fmt: skip
    try:
        with progress_bar(quiet or as_json) as tell:
            report = run(plan, tell)
    except CrawlError as error:
        fail(str(error))
    if as_json:
        print_json(report.as_json())
    elif not quiet and report.pages:
        print_summary(report, plan)
    if report.stopped == "interrupted":
        say(f"pagekin: stopped; the same command goes on from here ({plan.state.name} knows how far it got).", err=True)
        raise typer.Exit(_INTERRUPTED)
    if not report.pages:
        hint = "; if that is meant, allow it: --allow loopback, --allow private or a range" if _private(report) else ""
        fail(f"{plan.root} brought no page: {report.root}{hint}.")


def make_plan(
    root: str, out: Path, scope: str, include: list[str], exclude: list[str], contact: str, allow: list[str],
    resolve: list[str], keep_others: bool, limits: list[str],
) -> Any:  # fmt: skip
    """The plan that options describe, or an end that says what is wrong with them."""
    from pagekin.net import Guard, parse_allowed, parse_names
    from pagekin.sources.robot import SCOPES, CrawlPlan, parse_crawl_limits
    from pagekin.sources.robot.addresses import clean_url, has_credentials

    address = clean_url(root)
    if address is None:
        fail(f"'{root}' is no http(s) address: write for example https://docs.example/", USAGE)
    if has_credentials(address):
        fail("the address carries a name or password; the robot visits what anyone may see", USAGE)
    if not _OUT_NAME.search(out.name):
        fail(f"--out: '{out}' must end in .warc.gz or .warc", USAGE)
    if scope not in SCOPES:
        fail(f"--scope is one of {', '.join(SCOPES)}, not '{scope}'", USAGE)
    for name, patterns in (("include", include), ("exclude", exclude)):
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                fail(f"--{name}: '{pattern}' is no regular expression: {error}", USAGE)
    if contact and not _CONTACT.fullmatch(contact):
        fail("--contact: write a mail address or a URL, without spaces", USAGE)
    option = "allow"
    try:
        guard = Guard(parse_allowed(allow))
        option = "resolve"
        names = parse_names(resolve)
        option = "limit"
        checked = parse_crawl_limits(limits)
    except ValueError as error:
        fail(f"--{option}: {error}", USAGE)
    return CrawlPlan(
        address, out, scope, tuple(include), tuple(exclude), contact, keep_others, guard, names, checked
    )  # fmt: skip


def _private(report: Any) -> bool:
    """Whether the root's address is one that could be allowed."""
    return " is a" in report.root and "never allowed" not in report.root


def print_summary(report: Any, plan: Any) -> None:
    """What a crawl brought, for people."""
    again = " (resumed)" if report.resumed else ""
    say(f"{plan.out}: {report.pages:,} pages{again}, {report.requests:,} requests, {human_bytes(report.bytes)}, "
        f"{report.seconds:.1f} s")  # fmt: skip
    for title, counts in (("asked for, but no page", report.not_kept), ("not asked for", report.not_asked)):
        if counts:
            say(f"{title}: " + ", ".join(f"{count:,} {reason}" for reason, count in counts.items()))
    if report.cut:
        say("cut short: " + ", ".join(f"{count:,} pages ({reason})" for reason, count in report.cut.items()))
    if report.left:
        why = f"limit {report.stopped}" if hasattr(plan.limits, report.stopped) else report.stopped
        say(f"not finished ({why}): {report.left:,} addresses wait in {plan.state.name}; "
            "the same command goes on, with a higher limit if one was reached")  # fmt: skip
